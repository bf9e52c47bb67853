/* primary.c - a device's primary context, which all libraries of a process share, and which is
 * made current by default.
 *
 * Any library may reset it (cuDevicePrimaryCtxReset). Objects in it are then invalid, and the next
 * use retains it again. A thread in which it is current notices at the first call that fails. */
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/keepalive.h"

/* The object's context is gone, and so is the object's retain. GIL held. */
static void mark_dead(Context *self) {
    if (self->retained) {
        self->retained = self->alive = 0;
        cud_live[LIVE_CONTEXT]--;
        cud_keepalive_context_gone(
            self); /* frees only the records: their events were destroyed with the context */
    }
}

/* The context after *self* in the list, whose reference is dropped; NULL: begins with the first. A
 * loop over the contexts owns the one that it is at, because during a driver's call other threads
 * may drop it. */
static Context *next_context(Context *self) {
    Context *next = self != NULL ? self->next : cud_contexts;
    Py_XINCREF((PyObject *)next);
    Py_XDECREF((PyObject *)self);
    return next;
}

/* Marks objects of the device's former primary context as dead; handle: the present primary
 * context, NULL if there is none. */
static void mark_others_dead(State *state, CUdevice device, CUcontext handle) {
    for (Context *self = next_context(NULL); self != NULL; self = next_context(self)) {
        if (self->state == state && self->kind == CONTEXT_PRIMARY && self->device == device &&
            self->handle != handle) {
            mark_dead(self);
        }
    }
}

PyObject *cud_context_wrap_primary(State *state, CUdevice device) {
    CUcontext handle = NULL;
    CUresult status = CUDA_SUCCESS;
    unsigned int flags = 0;
    int active = 1;
    CU_NOGIL(status, cuDevicePrimaryCtxGetState, device, &flags, &active);
    if (status == CUDA_SUCCESS &&
        !active) { /* before the next line activates it, possibly at the same address */
        mark_others_dead(state, device, NULL);
    }
    CU_NOGIL(status, cuDevicePrimaryCtxRetain, &handle, device);
    if (status != CUDA_SUCCESS) {
        return cud_raise(state, "cuDevicePrimaryCtxRetain", status);
    }
    mark_others_dead(state, device, handle);
    Context *self = cud_context_find(state, handle);
    if (self != NULL && self->retained) { /* one retain per object */
        Py_INCREF((PyObject *)self); /* before the call, during which other threads may drop it */
        CU_BESIDE(status, cuDevicePrimaryCtxRelease, device);
        return (PyObject *)self;
    }
    self = cud_context_new(state, handle, device, CONTEXT_PRIMARY);
    if (self == NULL) {
        CU_BESIDE(status, cuDevicePrimaryCtxRelease, device);
        return NULL;
    }
    self->retained = 1;
    cud_live[LIVE_CONTEXT]++;
    return (PyObject *)self;
}

void cud_primary_mark_reset(State *state) {
    for (Context *self = next_context(NULL); self != NULL; self = next_context(self)) {
        unsigned int flags = 0;
        int active = 1;
        CUresult status = CUDA_SUCCESS;
        if (self->state == state && self->kind == CONTEXT_PRIMARY && self->alive) {
            CU_BESIDE(status, cuDevicePrimaryCtxGetState, self->device, &flags, &active);
            if (status == CUDA_SUCCESS && !active) {
                mark_dead(self);
            }
        }
    }
}

int cud_primary_pop_reset(CUcontext handle) {
    Context *self = cud_contexts;
    while (self != NULL &&
           !(self->handle == handle && self->kind == CONTEXT_PRIMARY && !self->alive)) {
        self = self->next;
    }
    if (self == NULL) {
        return 0;
    }
    CUcontext popped;
    CUresult status = CUDA_SUCCESS;
    CU_CALL(status, cuCtxPopCurrent, &popped);
    if (status == CUDA_SUCCESS && self->pushed > 0) {
        self->pushed--;
        Py_DECREF((PyObject *)self);
    }
    return status == CUDA_SUCCESS;
}

/* The context that this thread did not choose: it was made current by default. */
static _Thread_local CUcontext by_default;

/* The context used by default, kept until the process ends; borrowed. again: the one kept so far
 * could not be made current. */
static Context *default_context(State *state, int again) {
    Context *kept = (Context *)state->default_context;
    if (kept == NULL || !kept->alive || again) {
        CUdevice device = kept != NULL ? kept->device : 0;
        PyObject *made = kept == NULL && cud_device_default(state, &device) < 0
                             ? NULL
                             : cud_context_wrap_primary(state, device);
        if (made == NULL) {
            return NULL;
        }
        Py_XSETREF(state->default_context, made); /* another thread may have set it in the
                                                   * meantime */
    }
    return (Context *)state->default_context;
}

Context *cud_context_current(State *state) {
    Context *self = cud_context_peek(state);
    if (self != NULL || PyErr_Occurred()) {
        return self;
    }
    CUresult status = CUDA_SUCCESS;
    for (int again = 0; again < 2; again++) {
        self = default_context(state, again);
        if (self == NULL) {
            return NULL;
        }
        Py_INCREF(self);
        CU_CALL(status, cuCtxSetCurrent, self->handle);
        if (status == CUDA_SUCCESS) {
            by_default = self->handle;
            return self;
        }
        Py_DECREF(self);
        if (status != CUDA_ERROR_INVALID_CONTEXT && status != CUDA_ERROR_CONTEXT_IS_DESTROYED) {
            break;
        }
    }
    cud_raise(state, "cuCtxSetCurrent", status);
    return NULL;
}

int cud_context_follow_default(State *state, Context *wanted) {
    CUcontext current = NULL;
    CUresult status = CUDA_SUCCESS;
    CU_CALL(status, cuCtxGetCurrent, &current);
    if (status != CUDA_SUCCESS || current == NULL || current != by_default ||
        current == wanted->handle) {
        return 0;
    }
    const Context *before = cud_context_find(state, current);
    if (before == NULL || before->pushed > 0) {
        return 0;
    }
    if (default_context(state, 0) != wanted) {
        PyErr_Clear();
        return 0;
    }
    /* Later work goes to another default stream, which is not ordered with this one. */
    CU_NOGIL(status, cuStreamSynchronize, NULL);
    if (status == CUDA_SUCCESS) {
        CU_CALL(status, cuCtxSetCurrent, wanted->handle);
    }
    if (status != CUDA_SUCCESS) {
        return 0;
    }
    by_default = wanted->handle;
    return 1;
}

PyObject *cud_context_set_default(PyObject *type, PyObject *context) {
    State *state = cud_state_of((PyTypeObject *)type);
    if (state == NULL) {
        return NULL;
    }
    if (context != Py_None && !PyObject_TypeCheck(context, state->ContextType)) {
        return PyErr_Format(PyExc_TypeError,
                            "Context._set_default: context must be a Context or None, not %s",
                            Py_TYPE(context)->tp_name);
    }
    if (state->default_context != NULL) {
        if (state->former_defaults == NULL && (state->former_defaults = PySet_New(NULL)) == NULL) {
            return NULL;
        }
        if (PySet_Add(state->former_defaults, state->default_context) < 0) {
            return NULL;
        }
    }
    int suits = context != Py_None && ((Context *)context)->kind == CONTEXT_PRIMARY;
    Py_XSETREF(state->default_context, suits ? Py_NewRef(context) : NULL);
    Py_RETURN_NONE;
}
