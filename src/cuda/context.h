/* context.h - devices and contexts. */
#ifndef PYGPU_CUDA_CONTEXT_H
#define PYGPU_CUDA_CONTEXT_H

#include "cuda/cuda.h"

typedef struct {
    CUD_HEAD
    CUdevice device;
} Device;

enum { CONTEXT_MADE, CONTEXT_PRIMARY, CONTEXT_FOREIGN };

struct Context {
    CUD_HEAD
    CUcontext handle;
    CUdevice device;
    int kind;
    int alive;            /* 0 after detach() */
    int leaving;          /* detached, but the driver keeps it because its host memory is still
                           * used */
    int retained;         /* PRIMARY: this object has retained the device's primary context once */
    long host_memories;   /* number of blocks of host memory in use, which the driver would unmap
                           * with the context */
    long pushed;          /* number of references from the threads' context stacks to this object */
    PyObject *before_end; /* a callable or NULL: closes the libraries' handles in the context */
    struct {
        CUcontext handle;
        int by_program; /* opened by enable_peer_access(), not just for a copy */
    } peers[8];         /* those tried so far; the driver has the authoritative state */
    int n_peers;
    Context *next; /* next in cud_contexts */
};

/* Returns a new reference to the calling thread's context; creates one and makes it current if
 * there is none. NULL with an exception. */
Context *cud_context_current(State *state);
/* Makes sure that there is one. Returns 0, or -1 with an exception. */
static inline int cud_context_ensure(State *state) {
    PyObject *context = (PyObject *)cud_context_current(state);
    Py_XDECREF(context);
    return context != NULL ? 0 : -1;
}
/* Like cud_context_current() without creating one: NULL without an exception if none is current. */
Context *cud_context_peek(State *state);
/* If this thread's context was made current by default, and *wanted* is now the default, makes
 * *wanted* current and returns 1. Otherwise, and if the driver fails, changes nothing. */
int cud_context_follow_default(State *state, Context *wanted);
/* Context._set_default(context): which primary context is current by default; None: that of
 * cud_device_default(). Contexts that are not primary count as None: they may be destroyed. */
PyObject *cud_context_set_default(PyObject *type, PyObject *context);
PyObject *cud_device_wrap(State *state, CUdevice device);
/* The device whose primary context is used by default, as chosen by
 * pygpu.cuda.tools.get_default_device(). Returns -1 with an exception. */
int cud_device_default(State *state, CUdevice *device);
PyObject *cud_context_wrap_primary(State *state, CUdevice device);
/* Finds the primary contexts that another library has reset, and marks their objects as dead. */
void cud_primary_mark_reset(State *state);
/* If the current context has that handle and is one of those, pops it off the stack and returns
 * 1. */
int cud_primary_pop_reset(CUcontext handle);
Context *cud_context_new(State *state, CUcontext handle, CUdevice device, int kind),
    *cud_context_find(State *state, CUcontext handle);
PyObject *cud_context_make(State *state, CUdevice device,
                           unsigned int flags); /* a new context, and current */
/* Enables direct device-to-device copies between the two contexts if the hardware supports them;
 * otherwise the driver copies through host memory. Never raises. */
void cud_context_open_peer(Context *self, Context *peer);
/* Around driver calls that need an object's own context. enter makes it current and returns 0, or
 * -1 if it is dead or the driver refuses (without an exception, for deallocs; *status has the
 * reason). leave restores the previous context. Neither touches Python objects. */
typedef struct {
    int pushed;
    CUcontext before;
} ContextGuard; /* before: the previous context, if pushed */
int cud_context_enter(Context *context, ContextGuard *guard, CUresult *status);
int cud_context_enter_free(
    Context *context, ContextGuard *guard,
    CUresult *status); /* for releasing something: also works while the context is leaving, but not
                        * at interpreter exit, where the driver might wait for a kernel that never
                        * ends */
void cud_context_leave(ContextGuard *guard);
/* Makes a driver call, which sets *status*, in a context that is entered for it; the second, to
 * free something. */
#define IN_CONTEXT(context, status, ...) \
    CUD_ENTERED(cud_context_enter, context, status, __VA_ARGS__)
#define FREE_IN_CONTEXT(context, status, ...) \
    CUD_ENTERED(cud_context_enter_free, context, status, __VA_ARGS__)
#define CUD_ENTERED(enter, context, status, ...)       \
    do {                                               \
        ContextGuard guard_;                           \
        (status) = CUDA_SUCCESS;                       \
        if (enter(context, &guard_, &(status)) == 0) { \
            __VA_ARGS__;                               \
            cud_context_leave(&guard_);                \
        }                                              \
    } while (0)
/* Call before host memory is allocated in the context, and after it was freed (outside of enter
 * and leave): when the last block is freed, a context detached in the meantime is destroyed as
 * well. */
static inline void cud_context_add_host_memory(Context *context) {
    context->host_memories++;
}
void cud_context_drop_host_memory(Context *context);
/* Returns -1 with a LogicError if the context was destroyed. */
int cud_context_check(Context *context, const char *routine);

int cud_wait_context(State *state, const char *routine);

#endif
