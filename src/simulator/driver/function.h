/* function.h - modules of the driver and their functions; options of the JIT compiler. */
#ifndef PYGPU_SIM_FUNCTION_H
#define PYGPU_SIM_FUNCTION_H

#include "simulator/driver/context.h"

typedef struct SimFunction SimFunction;

typedef struct SimDriverModule {
    SimObject object;
    SimModule *module;
    struct SimFunction *functions; /* those created so far, under the context's lock */
} SimDriverModule;

struct SimFunction {
    SimObject object;
    SimKernel *kernel;
    SimDriverModule *module; /* counted reference */
    SimFunction *next;
    int n_params;
    size_t n_bytes; /* size of all arguments in the kernel's parameter space */
    struct {
        size_t offset, size;
    } * params;
};

/* context: the context that it must belong to, or NULL. */
CUresult sim_function_take(SimContext *context, CUfunction handle, SimFunction **out);
CUresult sim_function_of(SimDriverModule *module, SimKernel *kernel, SimFunction **out);
void sim_driver_module_close(SimDriverModule *module); /* closes its functions, which hold
                                                        * references to it */
/* Options of modules and linkers: checked before the work, logs filled after it. */
CUresult sim_jit_check(unsigned int n, const CUjit_option *options, void *const *values);
/* given: the original values, which hold the sizes of the logs; values are overwritten. */
void sim_jit_report(unsigned int n, const CUjit_option *options, void *const *given, void **values,
                    CUresult status);
CUresult sim_read_file(const char *path, void **out,
                       size_t *size); /* allocated by malloc, followed by a zero byte */

#endif
