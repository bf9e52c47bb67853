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
    int alive;          /* 0 after detach() */
    int leaving;        /* detached, and kept by the driver for its host memory */
    int retained;       /* PRIMARY: owns one retain of the device's primary context */
    long host_memories; /* pieces of memory that the host uses, and that the driver would unmap with
                           the context */
    long pushed;        /* references that the threads' stacks hold to this object */
    PyObject *before_end; /* callable or NULL: closes what libraries have open in the context */
    struct {
        CUcontext handle;
        int by_program; /* opened by enable_peer_access(), not by a copy alone */
    } peers[8];         /* those that were tried; the driver keeps the real books */
    int n_peers;
    Context *next; /* cud_contexts */
};

/* The calling thread's context, a new reference; made and set current if there is none. NULL with
 * an exception. */
Context *cud_context_current(State *state);
/* The same without making one: a new reference, or NULL without an exception if none is current,
 * with one on errors. */
Context *cud_context_peek(State *state);
PyObject *cud_device_wrap(State *state, CUdevice device);
/* The device whose primary context a first use takes: pygpu.cuda.tools.get_default_device() says
 * which. -1 with an exception. */
int cud_device_default(State *state, CUdevice *device);
PyObject *cud_context_wrap_primary(State *state, CUdevice device);
/* Looks which primary contexts another library has reset, and forgets them: their objects are not
 * alive any more. */
void cud_primary_lost(State *state);
/* Takes the current context, of that handle, off the stack if it is one of those. 1 if it was. */
int cud_primary_unstack(CUcontext handle);
Context *cud_context_new(State *state, CUcontext handle, CUdevice device, int kind),
    *cud_context_find(State *state, CUcontext handle);
PyObject *cud_context_make(State *state, CUdevice device,
                           unsigned int flags); /* new, and current */
/* Has copies between the two contexts go directly from device to device where the hardware can do
 * that; else the driver takes them through the host's memory. Raises nothing. */
void cud_context_open_peer(Context *self, Context *peer);
/* Around driver calls that need an object's own context: enter makes it current and returns 0, or
 * -1 if it is dead or the driver refuses (without an exception: for deallocs; *status says why);
 * leave restores. Touch no Python object. */
typedef struct {
    int pushed;
    CUcontext before;
} ContextGuard; /* before: what was current, if pushed */
int cud_context_enter(Context *context, ContextGuard *guard, CUresult *status);
int cud_context_enter_free(
    Context *context, ContextGuard *guard,
    CUresult *status); /* to give something back: also if it is leaving, but not when the
                          interpreter ends, as the driver might wait for a kernel that does not */
void cud_context_leave(ContextGuard *guard);
/* Host memory is about to be made in the context, and is gone again (outside of enter and leave):
 * the last one takes along a context that was detached meanwhile. */
static inline void cud_context_lend(Context *context) {
    context->host_memories++;
}
void cud_context_returned(Context *context);
/* -1 with a LogicError if the context was destroyed. */
int cud_context_check(Context *context, const char *routine);

int cud_wait_context(State *state, const char *routine);

#endif
