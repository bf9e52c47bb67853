/* module.h - modules, and the options for loading them. */
#ifndef PYGPU_CUDA_MODULE_H
#define PYGPU_CUDA_MODULE_H

#include "cuda/context.h"

typedef struct {
    CUD_HEAD
    CUmodule handle;
    Context *context;
    PyObject *image;     /* what was loaded, or NULL */
    PyObject *source;    /* SourceModule's source text, for argument types; or NULL */
    PyObject *functions; /* dict: name -> Function */
} Module;

PyObject *cud_module_wrap(State *state, CUmodule handle, Context *context,
                          PyObject *image); /* takes over the handle, also on failure */
/* JIT options with logs; see module_from_buffer. */
#define JIT_LOG_BYTES 32768
#define JIT_MANY      40
typedef struct {
    unsigned int n;
    CUjit_option keys[JIT_MANY];
    void *values[JIT_MANY];
    char *info, *error; /* each of JIT_LOG_BYTES */
} JitOptions;
int jit_options_init(JitOptions *self, State *state, PyObject *options, const char *call);
void jit_options_clear(JitOptions *self);
/* Calls handler(ok, info, error) unless it is None or NULL. */
int jit_options_report(const JitOptions *self, PyObject *handler, int ok);
const char *jit_options_errors(const JitOptions *self);
/* Returns 0 if nothing in the image refers past its end, otherwise -1 with an exception. */
int image_check(State *state, const char *call, const unsigned char *bytes, size_t size);

#endif
