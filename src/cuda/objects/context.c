/* context.c - Context: what allocations, modules and streams of a device live in, and a thread's
 * stack of contexts.
 *
 * The stack is the driver's own, so that other libraries in the process see the same current
 * context. While a context is on a thread's stack through make_context() or push(), the stack owns
 * a reference to its object. */
#include "cuda/api/enums.h"
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/keepalive.h"

Context *cud_contexts;

Context *cud_context_new(State *state, CUcontext handle, CUdevice device, int kind) {
    Context *self = (Context *)PG_NEW(state->ContextType);
    if (self != NULL) {
        self->state = state;
        self->handle = handle;
        self->device = device;
        self->kind = kind;
        self->alive = 1;
        self->next = cud_contexts;
        cud_contexts = self;
    }
    return self;
}

Context *cud_context_find(State *state, CUcontext handle) {
    Context *self = cud_contexts;
    while (self != NULL && !(self->handle == handle && self->alive && self->state == state)) {
        self = self->next;
    }
    return self;
}

/* Needed because the driver may give the handle to another context. */
static void forget_peer(CUcontext handle) {
    for (Context *other = cud_contexts; other != NULL; other = other->next) {
        for (int i = 0; i < other->n_peers; i++) {
            if (other->peers[i].handle == handle) {
                other->peers[i--] = other->peers[--other->n_peers];
            }
        }
    }
}

static void context_destroy(Context *self) {
    CUresult status = CUDA_SUCCESS; /* ignored: there is nobody to report it to */
    self->alive = self->leaving = 0;
    forget_peer(self->handle);
    if (pg_is_ending()) {
        return;
    }
    if (self->kind == CONTEXT_MADE) { /* waits for all work in it */
        cud_live[LIVE_CONTEXT]--;
        CU_NOGIL(status, cuCtxDestroy, self->handle);
    } else if (self->retained) {
        cud_live[LIVE_CONTEXT]--;
        CU_NOGIL(status, cuDevicePrimaryCtxRelease, self->device);
    }
    (void)status;
}

/* Libraries (cuBLAS, ...) have memory in the context, and host objects for it that the driver does
 * not know. They are closed while the context is alive and idle, but not after a kernel has
 * failed, when the context can only be destroyed. in_use: other threads may be using the
 * libraries. */
static void close_libraries(Context *self, int in_use) {
    PyObject *close = self->before_end, *type, *value, *traceback;
    ContextGuard guard;
    CUresult status;
    self->before_end = NULL;
    if (close == NULL || cud_context_enter_free(self, &guard, &status) < 0) {
        Py_XDECREF(close);
        return;
    }
    PyErr_Fetch(&type, &value, &traceback);
    Py_BEGIN_ALLOW_THREADS
    if (self->kind == CONTEXT_MADE) {
        CU_CALL(status, cuCtxSynchronize);
    } else { /* not waiting for the work: this call fails in a broken context */
        size_t free_bytes, total;
        CU_CALL(status, cuMemGetInfo, &free_bytes, &total);
    }
    Py_END_ALLOW_THREADS
    PyObject *result = status == CUDA_SUCCESS
                           ? PyObject_CallOneArg(close, in_use ? Py_True : Py_False)
                           : Py_NewRef(Py_None);
    if (result == NULL) {
        PyErr_WriteUnraisable(close);
    }
    Py_XDECREF(result);
    Py_DECREF(close);
    cud_context_leave(&guard);
    PyErr_Restore(type, value, traceback);
}

/* Runs before the garbage collector destroys the context together with what refers to it. */
static void Context_finalize(PyObject *op) {
    close_libraries((Context *)op, 0);
}

static void Context_dealloc(PyObject *op) {
    Context *self = (Context *)op;
    if (self->before_end != NULL && PyObject_CallFinalizerFromDealloc(op) < 0) {
        return;
    }
    PyObject_GC_UnTrack(op);
    if (self->state != NULL) {
        for (Context **link = &cud_contexts; *link != NULL; link = &(*link)->next) {
            if (*link == self) {
                *link = self->next;
                break;
            }
        }
    }
    if (self->weakrefs != NULL) { /* unlinked first, because code that runs now must not find it in
                                   * the list */
        PyObject_ClearWeakRefs(op);
    }
    Py_CLEAR(self->before_end);
    cud_keepalive_context_gone(self);
    if (self->alive) {
        context_destroy(self);
    }
    cud_object_free(op);
}

static int Context_traverse(PyObject *op, visitproc visit, void *arg) {
    CUD_VISIT(op);
    Py_VISIT(((Context *)op)->before_end);
    return 0;
}

static int Context_clear(PyObject *op) {
    Py_CLEAR(((Context *)op)->before_end);
    return 0;
}

/* Memory and kernels cached for reuse refer to their context, which keeps them: a cycle. A context
 * takes hundreds of megabytes on a GPU, so contexts that a program has dropped are collected
 * before another is made. Only contexts that are on no stack can have been dropped. */
static void collect_dropped(State *state) {
    const Context *idle = cud_contexts;
    while (idle != NULL && !(idle->kind == CONTEXT_MADE && idle->alive && idle->pushed == 0)) {
        idle = idle->next;
    }
    if (idle != NULL) {
        cud_keepalive_drain(state);
        pg_collect();
    }
}

PyObject *cud_context_make(State *state, CUdevice device, unsigned int flags) {
    collect_dropped(state);
    Context *self = cud_context_new(state, NULL, device, CONTEXT_MADE);
    if (self == NULL) {
        return NULL;
    }
    self->alive = 0; /* until it has been created */
    CUresult status = CUDA_SUCCESS;
    int tries = 0, again;
    do {
        CU_NOGIL(status, cuCtxCreate, &self->handle, flags, device);
        again = status != CUDA_SUCCESS ? cud_retry(state, status, &tries) : 0;
    } while (again == 1);
    if (status != CUDA_SUCCESS) {
        Py_DECREF(self);
        return again < 0 ? NULL : cud_raise(state, "cuCtxCreate", status);
    }
    self->alive = 1;
    cud_live[LIVE_CONTEXT]++;
    self->pushed = 1; /* the driver makes a new context current, on top of the thread's stack */
    Py_INCREF(self);
    return (PyObject *)self;
}

/* Makes an object for a context that another library made current; retains it if it is its
 * device's primary context. */
static Context *wrap_foreign(State *state, CUcontext handle) {
    CUdevice device = 0;
    unsigned int flags = 0;
    int active = 0;
    CUresult status = CUDA_SUCCESS;
    CU_CALL(status, cuCtxGetDevice, &device);
    if (status != CUDA_SUCCESS) {
        cud_raise(state, "cuCtxGetDevice", status);
        return NULL;
    }
    CU_BESIDE(status, cuDevicePrimaryCtxGetState, device, &flags, &active);
    if (status == CUDA_SUCCESS && active) {
        Context *primary = (Context *)cud_context_wrap_primary(state, device);
        if (primary == NULL || primary->handle == handle) {
            return primary;
        }
        Py_DECREF(primary);
    }
    return cud_context_new(state, handle, device, CONTEXT_FOREIGN);
}

/* The same, and keeps the object: no stack of ours refers to it, and if it were destroyed, its
 * kernels and array pool would be, too, while the other library goes on using the context. Only
 * the last one per device is kept. */
static Context *wrap_current(State *state, CUcontext handle) {
    Context *self = wrap_foreign(state, handle);
    PyObject *device = self != NULL ? PyLong_FromLong(self->device) : NULL;
    if (state->foreign_contexts == NULL) {
        state->foreign_contexts = PyDict_New();
    }
    if (device == NULL || state->foreign_contexts == NULL ||
        PyDict_SetItem(state->foreign_contexts, device, (PyObject *)self) < 0) {
        Py_CLEAR(self);
    }
    Py_XDECREF(device);
    return self;
}

Context *cud_context_peek(State *state) {
    CUcontext handle = NULL;
    CUresult status = CUDA_SUCCESS;
    if (cud_driver_ready(state) < 0) {
        return NULL;
    }
    CU_CALL(status, cuCtxGetCurrent, &handle);
    if (status != CUDA_SUCCESS) {
        cud_raise(state, "cuCtxGetCurrent", status);
        return NULL;
    }
    if (handle == NULL) {
        return NULL;
    }
    Context *self = cud_context_find(state, handle);
    if (self != NULL) {
        return (Context *)Py_NewRef((PyObject *)self);
    }
    for (self = cud_contexts; self != NULL; self = self->next) {
        if (self->leaving && self->handle == handle) {
            cud_raise_own(state, "cuCtxGetCurrent", CUDA_ERROR_CONTEXT_IS_DESTROYED,
                          "it was detached");
            return NULL;
        }
    }
    if (cud_primary_pop_reset(handle)) { /* another context may be below it */
        return cud_context_peek(state);
    }
    return wrap_current(state, handle);
}

int cud_context_check(Context *context, const char *routine) {
    if (!context->alive) {
        cud_reject(
            context->state, routine, CUDA_ERROR_INVALID_CONTEXT,
            "the object's context is gone: destroyed by detach(), or reset by another library");
        return -1;
    }
    return 0;
}

static int enter(Context *context, ContextGuard *guard, CUresult *status) {
    CUcontext current = NULL;
    *status = CUDA_SUCCESS;
    CU_CALL(*status, cuCtxGetCurrent, &current);
    if (*status == CUDA_SUCCESS && current != context->handle) {
        CU_CALL(*status, cuCtxPushCurrent, context->handle);
        guard->pushed = *status == CUDA_SUCCESS;
        guard->before = current;
    }
    return *status == CUDA_SUCCESS ? 0 : -1;
}

int cud_context_enter(Context *context, ContextGuard *guard, CUresult *status) {
    guard->pushed = 0;
    *status = CUDA_ERROR_INVALID_CONTEXT;
    return context->alive ? enter(context, guard, status) : -1;
}

int cud_context_enter_free(Context *context, ContextGuard *guard, CUresult *status) {
    guard->pushed = 0;
    *status = CUDA_ERROR_INVALID_CONTEXT;
    if (!(context->alive || context->leaving) || pg_is_ending()) {
        return -1;
    }
    if (context->kind == CONTEXT_FOREIGN) { /* its library may have destroyed it: only as the
                                             * current context it certainly exists */
        CUcontext current = NULL;
        *status = CUDA_SUCCESS;
        CU_CALL(*status, cuCtxGetCurrent, &current);
        return *status == CUDA_SUCCESS && current == context->handle ? 0 : -1;
    }
    return enter(context, guard, status);
}

/* If the driver fails here, the thread must not be left in a context that it did not ask for,
 * because its object, and with it the context, may be destroyed. */
void cud_context_leave(ContextGuard *guard) {
    if (guard->pushed) {
        CUcontext popped;
        CUresult status = CUDA_SUCCESS;
        CU_CALL(status, cuCtxPopCurrent, &popped);
        if (status != CUDA_SUCCESS) {
            CU_CALL(status, cuCtxPopCurrent, &popped);
        }
        if (status != CUDA_SUCCESS) {
            CU_CALL(status, cuCtxSetCurrent, guard->before);
        }
        guard->pushed = 0;
    }
}

void cud_context_drop_host_memory(Context *context) {
    if (--context->host_memories == 0 && context->leaving) {
        context_destroy(context);
    }
}

/* The effect of detach() while arrays use host memory of the context, which the driver would
 * unmap. All work is waited for, the context is popped off this thread's stack, and from then on
 * it is used only for freeing memory. */
static void context_leave(Context *self) {
    CUresult status = CUDA_SUCCESS;
    CUcontext current = NULL;
    IN_CONTEXT(self, status, CU_NOGIL(status, cuCtxSynchronize));
    status = CUDA_SUCCESS; /* a kernel may have failed */
    CU_CALL(status, cuCtxGetCurrent, &current);
    while (status == CUDA_SUCCESS && current == self->handle) {
        CU_CALL(status, cuCtxPopCurrent, &current);
        CU_CALL(status, cuCtxGetCurrent, &current);
    }
    if (self->alive) { /* no other thread was faster */
        self->leaving = 1;
        self->alive = 0;
    }
    if (self->leaving && self->host_memories == 0) { /* the memory was freed in the meantime */
        context_destroy(self);
    }
}

/* ---- the stack ------------------------------------------------------------------------------- */

static PyObject *Context_push(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Context *self = (Context *)op;
    if (cud_context_check(self, "cuCtxPushCurrent") < 0) {
        return NULL;
    }
    CUresult status = CUDA_SUCCESS;
    CU_CALL(status, cuCtxPushCurrent, self->handle);
    if (status != CUDA_SUCCESS) {
        return cud_raise(self->state, "cuCtxPushCurrent", status);
    }
    self->pushed++;
    Py_INCREF(self);
    Py_RETURN_NONE;
}

static void unpush(Context *self) {
    if (self != NULL && self->pushed > 0) {
        self->pushed--;
        Py_DECREF(self);
    }
}

static PyObject *Context_pop(PyObject *type, PyObject *Py_UNUSED(ignored)) {
    State *state = cud_state_of((PyTypeObject *)type);
    if (state == NULL || cud_driver_ready(state) < 0) {
        return NULL;
    }
    CUcontext popped = NULL;
    CUresult status = CUDA_SUCCESS;
    CU_CALL(status, cuCtxGetCurrent, &popped);
    if (status == CUDA_SUCCESS && popped == NULL) {
        return cud_raise_own(state, "context::pop", CUDA_ERROR_INVALID_CONTEXT,
                             "cannot pop: no context is current in this thread");
    }
    CU_CALL(status, cuCtxPopCurrent, &popped);
    if (status != CUDA_SUCCESS) {
        return cud_raise(state, "cuCtxPopCurrent", status);
    }
    cud_keepalive_drain(state); /* so that finished work does not keep its context */
    unpush(cud_context_find(state, popped));
    Py_RETURN_NONE;
}

static PyObject *Context_detach(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Context *self = (Context *)op;
    if (!self->alive) {
        return cud_raise_own(self->state, "context::detach", CUDA_ERROR_INVALID_CONTEXT,
                             "the context was already detached");
    }
    if (self->kind != CONTEXT_MADE) { /* others use it too, so it is only popped off this thread's
                                       * stack */
        CUcontext current = NULL;
        CUresult status = CUDA_SUCCESS;
        CU_CALL(status, cuCtxGetCurrent, &current);
        if (status == CUDA_SUCCESS && current == self->handle && self->pushed > 0) {
            CU_CALL(status, cuCtxPopCurrent, &current);
            if (status == CUDA_SUCCESS) {
                unpush(self);
            }
        }
        return status == CUDA_SUCCESS ? Py_NewRef(Py_None)
                                      : cud_raise(self->state, "cuCtxPopCurrent", status);
    }
    close_libraries(self, 1);
    cud_keepalive_forget(self->state, self);
    if (self->host_memories > 0) {
        cud_pools_trim(self);
    }
    if (!self->alive) { /* another thread was faster */
        return cud_raise_own(self->state, "context::detach", CUDA_ERROR_INVALID_CONTEXT,
                             "the context was already detached");
    }
    if (self->host_memories > 0) {
        context_leave(self);
    } else {
        context_destroy(self); /* the driver pops it off this thread's stack, and destroys all that
                                * lives in it */
    }
    long references = self->pushed;
    self->pushed = 0;
    while (references-- > 0) {
        Py_DECREF(self); /* the caller still has one */
    }
    Py_RETURN_NONE;
}

PG_DOC(Context_attach__doc__, "attach", "$type, /, flags=0", "(flags: int = 0) -> Context",
       "The context that is current in this thread. flags is ignored. Raises LogicError if there "
       "is none.");
PG_FUNCTION(Context_attach, 1)
static PyObject *Context_attach_impl(PyObject *type, PyObject *const *Py_UNUSED(a)) {
    State *state = cud_state_of((PyTypeObject *)type);
    if (state == NULL) {
        return NULL;
    }
    Context *self = cud_context_peek(state);
    if (self == NULL && !PyErr_Occurred()) {
        cud_raise_own(state, "context::attach", CUDA_ERROR_INVALID_CONTEXT,
                      "no context is current in this thread");
    }
    return (PyObject *)self;
}

static PyObject *Context_get_current(PyObject *type, PyObject *Py_UNUSED(ignored)) {
    State *state = cud_state_of((PyTypeObject *)type);
    Context *self = state != NULL ? cud_context_peek(state) : NULL;
    return self != NULL ? (PyObject *)self : PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject *Context_get_device(PyObject *type, PyObject *Py_UNUSED(ignored)) {
    State *state = cud_state_of((PyTypeObject *)type);
    Context *self = state != NULL ? cud_context_current(state) : NULL;
    if (self == NULL) {
        return NULL;
    }
    PyObject *device = cud_device_wrap(state, self->device);
    Py_DECREF(self);
    return device;
}

/* ---- settings of the current context --------------------------------------------------------- */

/* Returns the state if a context is current (made current if necessary). */
static State *state_with_context(PyObject *type) {
    State *state = cud_state_of((PyTypeObject *)type);
    Context *current = state != NULL ? cud_context_current(state) : NULL;
    Py_XDECREF(current); /* it stays current whether or not anything refers to the object */
    return current != NULL ? state : NULL;
}

static PyObject *Context_synchronize(PyObject *type, PyObject *Py_UNUSED(ignored)) {
    State *state = cud_state_of((PyTypeObject *)type);
    Context *current = state != NULL ? cud_context_current(state) : NULL;
    unsigned long mark = cud_keepalive_mark();
    if (current == NULL || cud_wait_context(state, "cuCtxSynchronize") < 0) {
        Py_XDECREF((PyObject *)current);
        return NULL;
    }
    cud_keepalive_done(state, current, NULL, 1, mark);
    Py_DECREF((PyObject *)current);
    return pg_report(&state->common) < 0 ? NULL : Py_NewRef(Py_None);
}

PG_DOC(Context_set_limit__doc__, "set_limit", "$type, /, limit, value",
       "(limit: int, value: int) -> None",
       "Set a limit of the current context [bytes, or a count].");
PG_FUNCTION(Context_set_limit, 2)
static PyObject *Context_set_limit_impl(PyObject *type, PyObject *const *a) {
    uint32_t which;
    size_t value;
    State *state;
    if (pg_as_u32(a[0], "Context.set_limit", "limit", &which) < 0 ||
        pg_as_size(a[1], "Context.set_limit", "value", &value) < 0 ||
        (state = state_with_context(type)) == NULL) {
        return NULL;
    }
    CUresult status = CUDA_SUCCESS;
    CU_NOGIL(status, cuCtxSetLimit, (CUlimit)which, value);
    return status == CUDA_SUCCESS ? Py_NewRef(Py_None) : cud_raise(state, "cuCtxSetLimit", status);
}

static PyObject *Context_get_limit(PyObject *type, PyObject *which_object) {
    uint32_t which;
    size_t value = 0;
    State *state;
    if (pg_as_u32(which_object, "Context.get_limit", "limit", &which) < 0 ||
        (state = state_with_context(type)) == NULL) {
        return NULL;
    }
    CUresult status = CUDA_SUCCESS;
    CU_BESIDE(status, cuCtxGetLimit, &value, (CUlimit)which);
    return status == CUDA_SUCCESS ? PyLong_FromSize_t(value)
                                  : cud_raise(state, "cuCtxGetLimit", status);
}

#define CONFIG(get, set, fn, type_of, doc_name, cls)                                   \
    static PyObject *Context_get_##get(PyObject *type, PyObject *Py_UNUSED(ignored)) { \
        type_of value = 0;                                                             \
        State *state = state_with_context(type);                                       \
        if (state == NULL) {                                                           \
            return NULL;                                                               \
        }                                                                              \
        CUresult status = CUDA_SUCCESS;                                                \
        CU_BESIDE(status, cuCtxGet##fn, &value);                                       \
        return status == CUDA_SUCCESS ? cud_member(cls, value)                         \
                                      : cud_raise(state, "cuCtxGet" #fn, status);      \
    }                                                                                  \
    static PyObject *Context_set_##set(PyObject *type, PyObject *value_object) {       \
        uint32_t value;                                                                \
        State *state;                                                                  \
        if (pg_as_u32(value_object, "Context.set_" doc_name, "config", &value) < 0 ||  \
            (state = state_with_context(type)) == NULL) {                              \
            return NULL;                                                               \
        }                                                                              \
        CUresult status = CUDA_SUCCESS;                                                \
        CU_BESIDE(status, cuCtxSet##fn, (type_of)value);                               \
        return status == CUDA_SUCCESS ? Py_NewRef(Py_None)                             \
                                      : cud_raise(state, "cuCtxSet" #fn, status);      \
    }
CONFIG(cache_config, cache_config, CacheConfig, CUfunc_cache, "cache_config", "func_cache")
CONFIG(shared_config, shared_config, SharedMemConfig, CUsharedconfig, "shared_config",
       "shared_config")

static PyObject *Context_get_stream_priority_range(PyObject *type, PyObject *Py_UNUSED(ignored)) {
    int least = 0, greatest = 0;
    State *state = state_with_context(type);
    if (state == NULL) {
        return NULL;
    }
    CUresult status = CUDA_SUCCESS;
    CU_BESIDE(status, cuCtxGetStreamPriorityRange, &least, &greatest);
    return status == CUDA_SUCCESS ? Py_BuildValue("(ii)", least, greatest)
                                  : cud_raise(state, "cuCtxGetStreamPriorityRange", status);
}

static PyObject *Context_get_api_version(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Context *self = (Context *)op;
    unsigned int version = 0;
    if (cud_context_check(self, "cuCtxGetApiVersion") < 0) {
        return NULL;
    }
    CUresult status = CUDA_SUCCESS;
    CU_CALL(status, cuCtxGetApiVersion, self->handle, &version);
    return status == CUDA_SUCCESS ? PyLong_FromUnsignedLong(version)
                                  : cud_raise(self->state, "cuCtxGetApiVersion", status);
}

PG_DOC(Context_enable_peer_access__doc__, "enable_peer_access", "$type, /, peer, flags=0",
       "(peer: Context, flags: int = 0) -> None",
       "Let kernels of the current context use memory of *peer*, a context of another device.");
static Context *as_peer(State *state, PyObject *obj, const char *routine) {
    if (!PyObject_TypeCheck(obj, state->ContextType)) {
        cud_reject_type(state, routine, "peer must be a Context, not %s", pg_type_name(obj));
        return NULL;
    }
    return cud_context_check((Context *)obj, routine) < 0 ? NULL : (Context *)obj;
}

static int find_peer(const Context *self, CUcontext handle) {
    for (int i = 0; i < self->n_peers; i++) {
        if (self->peers[i].handle == handle) {
            return i;
        }
    }
    return -1;
}

/* Returns its index in the list, or -1 if that is full. */
static int add_peer(Context *self, CUcontext handle) {
    int known = find_peer(self, handle);
    if (known < 0 && self->n_peers < (int)(sizeof self->peers / sizeof self->peers[0])) {
        known = self->n_peers++;
        self->peers[known].handle = handle;
        self->peers[known].by_program = 0;
    }
    return known;
}

void cud_context_open_peer(Context *self, Context *peer) {
    if (self->device == peer->device || find_peer(self, peer->handle) >= 0) {
        return;
    }
    int can = 0;
    CUresult status = CUDA_SUCCESS;
    ContextGuard guard;
    CU_CALL(status, cuDeviceCanAccessPeer, &can, self->device, peer->device);
    if (status == CUDA_SUCCESS && can && cud_context_enter(self, &guard, &status) == 0) {
        CU_NOGIL(status, cuCtxEnablePeerAccess, peer->handle, 0);
        cud_context_leave(&guard);
    }
    add_peer(self, peer->handle);
}

PG_FUNCTION(Context_enable_peer_access, 2)
static PyObject *Context_enable_peer_access_impl(PyObject *type, PyObject *const *a) {
    uint32_t flags = 0;
    State *state;
    Context *peer;
    if ((a[1] != NULL && pg_as_u32(a[1], "Context.enable_peer_access", "flags", &flags) < 0) ||
        (state = state_with_context(type)) == NULL ||
        (peer = as_peer(state, a[0], "cuCtxEnablePeerAccess")) == NULL) {
        return NULL;
    }
    CUresult status = CUDA_SUCCESS;
    CU_NOGIL(status, cuCtxEnablePeerAccess, peer->handle, flags);
    Context *self = cud_context_peek(state);
    int known = self != NULL ? add_peer(self, peer->handle) : -1;
    if (status == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED &&
        (known < 0 || !self->peers[known].by_program)) {
        status = CUDA_SUCCESS; /* already enabled by a copy or another library */
    }
    if (known >= 0 && status == CUDA_SUCCESS) {
        self->peers[known].by_program = 1;
    }
    Py_XDECREF((PyObject *)self);
    if (PyErr_Occurred()) {
        return NULL;
    }
    return status == CUDA_SUCCESS ? Py_NewRef(Py_None)
                                  : cud_raise(state, "cuCtxEnablePeerAccess", status);
}

static PyObject *Context_disable_peer_access(PyObject *type, PyObject *peer_object) {
    State *state = state_with_context(type);
    Context *peer = state != NULL ? as_peer(state, peer_object, "cuCtxDisablePeerAccess") : NULL;
    if (peer == NULL) {
        return NULL;
    }
    CUresult status = CUDA_SUCCESS;
    CU_NOGIL(status, cuCtxDisablePeerAccess, peer->handle);
    Context *self = cud_context_peek(state);
    int known = self != NULL ? find_peer(self, peer->handle) : -1;
    if (known >= 0 && status == CUDA_SUCCESS) {
        self->peers[known].by_program = 0;
    }
    Py_XDECREF((PyObject *)self);
    if (PyErr_Occurred()) {
        return NULL;
    }
    return status == CUDA_SUCCESS ? Py_NewRef(Py_None)
                                  : cud_raise(state, "cuCtxDisablePeerAccess", status);
}

/* ---- the object ------------------------------------------------------------------------------ */

static PyObject *Context_get_is_primary(PyObject *op, void *Py_UNUSED(closure)) {
    return PyBool_FromLong(((Context *)op)->kind == CONTEXT_PRIMARY);
}
static PyObject *Context_get_is_alive(PyObject *op, void *Py_UNUSED(closure)) {
    return PyBool_FromLong(((Context *)op)->alive);
}
static Py_hash_t Context_hash(PyObject *op) {
    return Py_HashPointer(((Context *)op)->handle);
}

static PyObject *Context_compare(PyObject *op, PyObject *other, int how) {
    Context *self = (Context *)op, *that = (Context *)other;
    if ((how != Py_EQ && how != Py_NE) || !PyObject_TypeCheck(other, self->state->ContextType)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    int equal = self == that || (self->handle == that->handle && self->alive && that->alive);
    return PyBool_FromLong(equal == (how == Py_EQ));
}

/* One callable per context: the first one set stays. */
static PyObject *Context_before_end(PyObject *op, PyObject *callable) {
    Context *self = (Context *)op;
    if (self->before_end == NULL) {
        self->before_end = Py_NewRef(callable);
    }
    return Py_NewRef(self->before_end);
}

static PyObject *Context_repr(PyObject *op) {
    Context *self = (Context *)op;
    static const char *const kinds[] = {"", "primary, ", "foreign, "};
    return PyUnicode_FromFormat("<pygpu.cuda.Context %son device %d at %p%s>", kinds[self->kind],
                                self->device, (void *)self->handle,
                                self->alive ? "" : ", detached");
}

#define STATIC_NOARGS(name, type, text)                       \
    {                                                         \
#name, Context_##name, METH_NOARGS | METH_CLASS,      \
            #name "($type, /)\n--\n\n() -> " type "\n\n" text \
    }
#define STATIC_O(name, signature, text) \
    { #name, Context_##name, METH_O | METH_CLASS, text }
#define STATIC_FAST(name)                                                       \
    {                                                                           \
#name, (PyCFunction)(void (*)(void))Context_##name,                     \
            METH_FASTCALL | METH_KEYWORDS | METH_CLASS, Context_##name##__doc__ \
    }

static PyMethodDef Context_methods[] = {
    STATIC_FAST(attach),
    {"push", Context_push, METH_NOARGS,
     "push($self, /)\n--\n\n() -> None\n\nMake the context current in this thread, on top of the "
     "previous one."},
    STATIC_NOARGS(
        pop, "None",
        "Remove the current context from this thread's stack; the one below becomes current."),
    {"detach", Context_detach, METH_NOARGS,
     "detach($self, /)\n--\n\n() -> None\n\nDestroy the context and everything in it, except "
     "arrays in its host memory, which stay valid (and keep the driver's context); a primary "
     "context is only removed from this thread's stack."},
    STATIC_NOARGS(get_current, "Context | None",
                  "The context that is current in this thread, None if there is none."),
    STATIC_NOARGS(get_device, "Device", "The device of the current context."),
    STATIC_NOARGS(synchronize, "None",
                  "Wait for all work of the current context. Raises the error of a failed kernel."),
    STATIC_FAST(set_limit),
    STATIC_O(get_limit, ,
             "get_limit($type, limit, /)\n--\n\n(limit: int, /) -> int\n\nA limit of the current "
             "context [bytes, or a count]."),
    STATIC_NOARGS(get_cache_config, "int", "The current context's func_cache."),
    STATIC_O(set_cache_config, ,
             "set_cache_config($type, config, /)\n--\n\n(config: int, /) -> None\n\nSet the "
             "current context's func_cache."),
    STATIC_NOARGS(get_shared_config, "int", "The current context's shared_config."),
    STATIC_O(set_shared_config, ,
             "set_shared_config($type, config, /)\n--\n\n(config: int, /) -> None\n\nSet the "
             "current context's shared_config."),
    STATIC_NOARGS(
        get_stream_priority_range, "tuple[int, int]",
        "The least and the greatest priority of a stream; the greatest is the smaller number."),
    {"get_api_version", Context_get_api_version, METH_NOARGS,
     "get_api_version($self, /)\n--\n\n() -> int\n\nThe version of the context's interface."},
    STATIC_FAST(enable_peer_access),
    STATIC_O(disable_peer_access, ,
             "disable_peer_access($type, peer, /)\n--\n\n(peer: Context, /) -> None\n\nUndo "
             "enable_peer_access."),
    {"_set_default", cud_context_set_default, METH_O | METH_CLASS,
     "_set_default($type, context, /)\n--\n\n(context: Context | None, /) -> None\n\n"
     "Which primary context is made current in threads that have none."},
    {"_before_end", Context_before_end, METH_O,
     "_before_end($self, callable, /)\n--\n\n(callable: Callable[[bool], None], /) -> Any\n\n"
     "Call it before the context is destroyed, with the context current and nothing running; its "
     "argument is whether other threads may use the context. Returns the one that is called: an "
     "earlier call's stays."},
    PG_NO_PICKLE,
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef Context_getset[] = {
    PG_FIELD("handle", pointer, Context, handle, "int: the CUcontext"),
    {"is_primary", Context_get_is_primary, NULL, "bool: whether it is its device's primary context",
     NULL},
    {"is_alive", Context_get_is_alive, NULL, "bool: False after detach() destroyed it", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot Context_slots[] = {
    {Py_tp_doc, (void *)"Owns memory, modules and streams on a device. Created by "
                        "Device.make_context() and retain_primary_context()."},
    PG_GC_SLOTS(Context),
    {Py_tp_finalize, (void *)Context_finalize},
    {Py_tp_repr, (void *)Context_repr},
    {Py_tp_hash, (void *)Context_hash},
    {Py_tp_richcompare, (void *)Context_compare},
    {Py_tp_methods, Context_methods},
    {Py_tp_getset, Context_getset},
    {0, NULL},
};
CUD_TYPE(Context, Context, Py_TPFLAGS_DISALLOW_INSTANTIATION);
