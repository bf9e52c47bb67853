/* function_launch.c - calls a kernel: keywords, sizes, packing the arguments on the C stack,
 * cuLaunchKernel.
 *
 * The GIL is held during the driver's call, which takes a microsecond: if it were released, a busy
 * thread could keep it for milliseconds before every launch. It is released where the call may
 * take long or must wait: for a kernel's first launch, which may load code; while the driver's
 * queue may be full; and while Python functions are pending in a stream, because they need the GIL
 * before the queue can advance. */
#include "cuda/capture.h"
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/keepalive.h"
#include "cuda/memory.h"
#include "cuda/objects/function.h"
#include "cuda/stream.h"

/* ---- the driver's call ----------------------------------------------------------------------- */

/* Touches no Python objects. */
static CUresult call_driver(const Plan *plan, const Launch *launch, void **extra) {
    CUresult status = CUDA_SUCCESS;
    if (PG_UNLIKELY(launch->cooperative || launch->clustered)) {
        CUlaunchAttribute attributes[2];
        memset(attributes, 0, sizeof attributes);
        unsigned n = 0;
        if (launch->cooperative) {
            attributes[n].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
            attributes[n++].value.cooperative = 1;
        }
        if (launch->clustered) {
            attributes[n].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
            attributes[n].value.clusterDim.x = launch->cluster[0];
            attributes[n].value.clusterDim.y = launch->cluster[1];
            attributes[n++].value.clusterDim.z = launch->cluster[2];
        }
        CUlaunchConfig config = {
            launch->grid[0],  launch->grid[1], launch->grid[2], launch->block[0], launch->block[1],
            launch->block[2], launch->shared,  launch->stream,  attributes,       n};
        CU_CALL(status, cuLaunchKernelEx, &config, plan->handle, NULL, extra);
        return status;
    }
    CU_CALL(status, cuLaunchKernel, plan->handle, launch->grid[0], launch->grid[1], launch->grid[2],
            launch->block[0], launch->block[1], launch->block[2], launch->shared, launch->stream,
            NULL, extra);
    return status;
}

static CUresult call_without_gil(Plan *plan, const Launch *launch, void **extra) {
    CUresult status;
    double begin = pg_seconds(), end;
    Py_BEGIN_ALLOW_THREADS
    status = call_driver(plan, launch, extra);
    end = pg_seconds();
    Py_END_ALLOW_THREADS
    plan->warm = 1;
    cud_queue_waited(end - begin);
    return status;
}

/* Used when the thread has no current context, or another one: launches in the function's own
 * context. If the kernel runs on the default stream it is waited for, because later work goes to
 * the other context's default stream, which is not ordered with this one. */
static CUresult call_in_own_context(Function *self, const Launch *launch, void **extra,
                                    CUresult first) {
    ContextGuard guard;
    CUcontext current = NULL;
    CUresult status = first, unused = CUDA_SUCCESS;
    int here = cud_context_follow_default(self->state, self->context);
    Py_BEGIN_ALLOW_THREADS
    CU_CALL(unused, cuCtxGetCurrent, &current);
    if (cud_context_enter(self->context, &guard, &status) == 0) {
        if (guard.pushed || here) {
            status = call_driver(self->plan, launch, extra);
            if (status == CUDA_SUCCESS && unused == CUDA_SUCCESS && current != NULL && !here &&
                launch->stream == NULL) {
                CU_CALL(status, cuStreamSynchronize, NULL);
            }
        } else {
            status = first; /* it was already current, so the cause is something else */
        }
        cud_context_leave(&guard);
    }
    Py_END_ALLOW_THREADS
    return status;
}

static int raise_launch(Function *self, const Launch *launch, CUresult status) {
    State *state = self->state;
    const char *routine = launch->cooperative || launch->clustered ? "cuLaunchKernelEx"
                                                                   : "cuLaunchKernel";
    const unsigned *g = launch->grid, *b = launch->block;
    if (cud_context_check(self->context, routine) < 0) {
        return -1;
    }
    if (status == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE) {
        cud_raise_with(state, routine, status,
                       "kernel '%U': all blocks of a cooperative launch run at once, and (%u, %u, "
                       "%u) of (%u, %u, %u) threads do not fit; see max_active_blocks()",
                       self->name, g[0], g[1], g[2], b[0], b[1], b[2]);
    } else if (status >= 700 && status < 720 && status != CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES) {
        cud_raise(state, routine, status); /* an earlier kernel's error, as the message says */
    } else {
        cud_raise_with(
            state, routine, status,
            "kernel '%U', grid (%u, %u, %u), block (%u, %u, %u), %u bytes of dynamic shared memory",
            self->name, g[0], g[1], g[2], b[0], b[1], b[2], launch->shared);
    }
    return -1;
}

/* If the launch is captured, makes the graph keep what it uses. */
static void keep_for_capture(Function *self, const Launch *launch, PyObject *const *args,
                             Py_ssize_t nargs) {
    PyObject *owners = PyTuple_New(nargs + 1);
    if (owners == NULL) {
        PyErr_Clear();
        cud_capture_keep(self->state, launch->stream, launch->stream_object,
                         (PyObject *)self->module);
        return;
    }
    PyTuple_SET_ITEM(owners, 0, Py_NewRef(self->module));
    for (Py_ssize_t i = 0; i < nargs; i++) {
        PyTuple_SET_ITEM(owners, i + 1, Py_NewRef(args[i]));
    }
    cud_capture_keep(self->state, launch->stream, launch->stream_object, owners);
    Py_DECREF(owners);
}

int function_submit(Function *self, const Launch *launch, unsigned char *params, size_t size,
                    PyObject *const *args, Py_ssize_t nargs) {
    State *state = self->state;
    Plan *plan = self->plan;
    void *packed[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, params, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                      CU_LAUNCH_PARAM_END};
    void **extra = size > 0 ? packed : NULL;
    CUresult status;
    CU_COUNT_QUEUED();
    if (PG_UNLIKELY(cud_queued > CUD_QUEUE_MANY || !plan->warm || cud_host_calls > 0)) {
        status = call_without_gil(plan, launch, extra);
    } else {
        status = call_driver(plan, launch, extra);
    }
    if (PG_UNLIKELY(status == CUDA_ERROR_INVALID_CONTEXT || status == CUDA_ERROR_INVALID_HANDLE ||
                    status == CUDA_ERROR_CONTEXT_IS_DESTROYED)) {
        status = call_in_own_context(self, launch, extra, status);
    }
    if (PG_UNLIKELY(status != CUDA_SUCCESS)) {
        return raise_launch(self, launch, status);
    }
    if (state->last_function != self->name) {
        PyObject *last = state->last_function;
        state->last_function = Py_NewRef(self->name);
        Py_XDECREF(last);
    }
    memcpy(state->last_grid, launch->grid, sizeof launch->grid);
    memcpy(state->last_block, launch->block, sizeof launch->block);
    if (PG_UNLIKELY(cud_capturing > 0)) {
        keep_for_capture(self, launch, args, nargs);
    }
    return 0;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static PyObject *signature_of(Function *self) {
    Plan *plan = self->plan;
    PyObject *list = PyList_New(0);
    for (int i = 0; list != NULL && (i < plan->n_params || i < plan->n_declared); i++) {
        PyObject *declaration = plan->params[i].declaration;
        pg_append(&list, declaration != NULL
                             ? Py_NewRef(declaration)
                             : PyUnicode_FromFormat("%u bytes", (unsigned)plan->params[i].size));
    }
    return pg_join(", ", list);
}

static int wrong_count(Function *self, Py_ssize_t given) {
    PyObject *signature = signature_of(self);
    if (signature != NULL) {
        int n = self->plan->n_params < 0 ? self->plan->n_declared : self->plan->n_params;
        PyErr_Format(PyExc_TypeError, "kernel '%U' takes %d argument%s (%U); %zd %s given",
                     self->name, n, n == 1 ? "" : "s", signature, given,
                     given == 1 ? "was" : "were");
        Py_DECREF(signature);
    }
    return -1;
}

static inline int copy_exact(const Param *param, Context *context, PyObject *arg, unsigned char *at,
                             const Launch *launch) {
    const char *number = (const char *)arg + offsetof(PyIntScalarObject, obval);
    switch (param->copy) {
    case COPY_ALLOCATION: {
        const Allocation *allocation = (const Allocation *)arg;
        memcpy(at, &allocation->ptr, sizeof allocation->ptr);
        return !allocation->freed && allocation->context == context &&
               (allocation->usage == NULL || allocation->usage->latest == launch->stream);
    }
    case COPY_4:
        memcpy(at, number, 4);
        return 1;
    case COPY_8:
        memcpy(at, number, 8);
        return 1;
    case COPY_1:
        memcpy(at, number, 1);
        return 1;
    case COPY_2:
        memcpy(at, number, 2);
        return 1;
    case COPY_16:
        memcpy(at, number, 16);
        return 1;
    default:
        return 0;
    }
}

/* The positions of the parameters are unknown: like PyCUDA, packs them one after the other at
 * their natural alignment. Those whose type the source declares are converted as usual. */
static int pack_natural(Function *self, PyObject *const *args, Py_ssize_t nargs,
                        unsigned char **params, size_t *size, const Launch *launch, Keep *keep) {
    size_t room = PARAMS_ON_STACK, end = 0;
    int n_declared = self->plan->n_declared;
    if (n_declared > 0 && nargs != n_declared) {
        return wrong_count(self, nargs);
    }
    for (Py_ssize_t i = 0; i < nargs; i++) {
        Param param = i < n_declared ? self->plan->params[i] : (Param){.size = 0};
        size_t bytes = param.size, align = param.align;
        if (bytes == 0 && function_natural(self, i, args[i], &bytes, &align) < 0) {
            return -1;
        }
        end = (end + align - 1) / align * align;
        if (bytes > 32764 || end + bytes > 32764) {
            return function_refuse(self, i,
                                   "the arguments have more than the 32764 bytes that a kernel may "
                                   "take; pass arrays by address");
        }
        if (end + bytes > room) {
            unsigned char *grown = PyMem_Calloc(1, 32768);
            if (grown == NULL) {
                PyErr_NoMemory();
                return -1;
            }
            memcpy(grown, *params, end);
            *params = grown;
            room = 32768;
        }
        param.offset = (uint32_t)end;
        param.size = (uint32_t)bytes;
        if (function_convert(self, i, &param, args[i], *params + end, launch, keep) < 0) {
            return -1;
        }
        if (i < n_declared && self->plan->params != NULL) {
            self->plan->params[i].items = param.items; /* what the conversion has remembered about
                                                        * the items */
        }
        end += bytes;
    }
    *size = end;
    return 0;
}

/* ---- In, Out, InOut -------------------------------------------------------------------------- */

static int count_handlers(Function *self, PyObject *const *args, Py_ssize_t nargs) {
    int n = 0;
    for (Py_ssize_t i = 0; i < nargs; i++) {
        n += PyObject_TypeCheck(args[i], self->state->ArgumentHandlerType);
    }
    return n;
}

/* Orders copies made on the default stream before the work of the stream, even of a non-blocking
 * one. */
static int order_copies(Function *self, const Launch *launch) {
    const char *routine;
    if (launch->stream == NULL) {
        return 0;
    }
    CUresult status = cud_order_after(launch->stream, NULL, &routine);
    if (status != CUDA_SUCCESS) {
        cud_raise(self->state, routine, status);
        return -1;
    }
    return 0;
}

static int before_launch(Function *self, PyObject *const *args, Py_ssize_t nargs, PyObject *stream,
                         const Launch *launch, int *n_post) {
    State *state = self->state;
    if (launch->stream_object != NULL && launch->stream_object->capturing) {
        cud_reject(state, "cuLaunchKernel", CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                   "kernel '%U': In, Out and InOut copy and wait, which a graph cannot capture; "
                   "use memcpy_htod_async and memcpy_dtoh_async",
                   self->name);
        return -1;
    }
    for (Py_ssize_t i = 0; i < nargs; i++) {
        if (!PyObject_TypeCheck(args[i], state->ArgumentHandlerType)) {
            continue;
        }
        int post = handler_pre_call(state, args[i], stream) < 0
                       ? -1
                       : handler_has_post_call(state, args[i]);
        if (post < 0) {
            return -1;
        }
        *n_post += post;
    }
    return order_copies(self, launch);
}

static int after_launch(Function *self, PyObject *const *args, Py_ssize_t nargs, PyObject *stream) {
    State *state = self->state;
    for (Py_ssize_t i = 0; i < nargs; i++) {
        if (PyObject_TypeCheck(args[i], state->ArgumentHandlerType)) {
            int post = handler_has_post_call(state, args[i]);
            if (post < 0 || (post && handler_post_call(state, args[i], stream) < 0)) {
                return -1;
            }
        }
    }
    return 0;
}

/* A wait was interrupted. The arguments' allocations are released when the device is done, because
 * freeing them now would wait after all. */
static void release_later(Function *self, const Launch *launch, PyObject *const *args,
                          Py_ssize_t nargs) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *owners = PyTuple_New(nargs);
    for (Py_ssize_t i = 0; owners != NULL && i < nargs; i++) {
        PyTuple_SET_ITEM(owners, i, Py_NewRef(args[i]));
    }
    if (owners != NULL) {
        cud_keepalive(self->state, self->context, launch->stream, launch->stream_object, owners);
        Py_DECREF(owners);
    }
    PyErr_Clear();
    PyErr_Restore(type, value, traceback);
}

/* ---- the call -------------------------------------------------------------------------------- */

enum {
    KEY_block,
    KEY_grid,
    KEY_stream,
    KEY_shared,
    KEY_texrefs,
    KEY_time_kernel,
    KEY_cooperative,
    KEY_cluster,
    KEY_COUNT
};
static PyObject *keys[KEY_COUNT]; /* interned, and kept until the process ends */

static int make_keys(void) {
    static const char *const names[KEY_COUNT] = {
        "block", "grid", "stream", "shared", "texrefs", "time_kernel", "cooperative", "cluster"};
    for (int k = 0; k < KEY_COUNT; k++) {
        if (keys[k] == NULL && (keys[k] = PyUnicode_InternFromString(names[k])) == NULL) {
            return -1;
        }
    }
    return 0;
}

/* Raises PyCUDA's error for unknown keywords, with all of them. */
static int unknown_keywords(PyObject *kwnames) {
    PyObject *unknown = PyList_New(0);
    for (Py_ssize_t i = 0; unknown != NULL && i < PyTuple_GET_SIZE(kwnames); i++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, i);
        int k = 0;
        while (k < KEY_COUNT && PyUnicode_Compare(name, keys[k]) != 0) {
            k++;
        }
        if (k == KEY_COUNT) {
            pg_append(&unknown, Py_NewRef(name));
        }
    }
    PyObject *joined = pg_join(",", unknown);
    if (joined != NULL) {
        PyErr_Format(PyExc_ValueError,
                     "extra keyword arguments: %U; allowed: block, grid, stream, shared, "
                     "texrefs, time_kernel, cooperative and cluster",
                     joined);
    }
    Py_XDECREF(joined);
    return -1;
}

static int read_keywords(PyObject *const *values, PyObject *kwnames, PyObject **options) {
    Py_ssize_t n = PyTuple_GET_SIZE(kwnames);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, i);
        int k = 0;
        while (k < KEY_COUNT && keys[k] != name) {
            k++;
        }
        if (PG_UNLIKELY(k == KEY_COUNT)) { /* the name may not be interned */
            if (make_keys() < 0) {
                return -1;
            }
            for (k = 0; k < KEY_COUNT && PyUnicode_Compare(name, keys[k]) != 0; k++) {
            }
            if (k == KEY_COUNT) {
                return unknown_keywords(kwnames);
            }
        }
        options[k] = values[i];
    }
    return 0;
}

int function_read_stream(Function *self, PyObject *stream, Launch *launch) {
    State *state = self->state;
    if (Py_TYPE(stream) == state->StreamType && ((Stream *)stream)->handle != NULL &&
        ((Stream *)stream)->context == self->context) {
        launch->stream = ((Stream *)stream)->handle;
        launch->stream_object = (Stream *)stream;
        return 0;
    }
    if (cud_as_stream(state, stream, "cuLaunchKernel", &launch->stream, &launch->stream_object) <
        0) {
        return -1;
    }
    if (launch->stream_object != NULL && launch->stream_object->context != NULL &&
        launch->stream_object->context != self->context) {
        cud_reject(state, "cuLaunchKernel", CUDA_ERROR_INVALID_HANDLE,
                   "kernel '%U' and the stream belong to different contexts", self->name);
        return -1;
    }
    return 0;
}

/* Reads texrefs, time_kernel, cooperative, cluster. */
static int read_rare(Function *self, PyObject **options, Launch *launch, int *timed) {
    if (options[KEY_texrefs] != NULL && options[KEY_texrefs] != Py_None) {
        Py_ssize_t n = PyObject_Length(options[KEY_texrefs]);
        if (n != 0) {
            if (n > 0) {
                cud_raise_own(self->state, "cuParamSetTexRef", CUDA_ERROR_NOT_SUPPORTED,
                              "CUDA 12 removed texture references; pass a TextureObject to the "
                              "kernel as a parameter");
            }
            return -1;
        }
    }
    if ((*timed = pg_as_bool(options[KEY_time_kernel], 0)) < 0 ||
        (launch->cooperative = pg_as_bool(options[KEY_cooperative], 0)) < 0) {
        return -1;
    }
    if (*timed && options[KEY_stream] != NULL && options[KEY_stream] != Py_None) {
        PyErr_SetString(PyExc_AssertionError,
                        "Can't time the kernel on an asynchronous invocation");
        return -1;
    }
    return options[KEY_cluster] != NULL && options[KEY_cluster] != Py_None
               ? function_read_cluster(self, options[KEY_cluster], launch)
               : 0;
}

/* A launch with handlers or timing, in the function's own context, as handlers copy there. */
static PyObject *launch_around(Function *self, Launch *launch, unsigned char *params, size_t size,
                               PyObject *const *args, Py_ssize_t nargs, PyObject *stream,
                               int timed) {
    State *state = self->state;
    PyObject *result = NULL;
    double begin = 0.0;
    int n_post = 0;
    if (before_launch(self, args, nargs, stream, launch, &n_post) < 0) {
        return NULL;
    }
    if (timed) {
        if (cud_wait_context(state, "cuCtxSynchronize") < 0) {
            return NULL;
        }
        begin = pg_seconds();
    }
    if (function_submit(self, launch, params, size, args, nargs) < 0) {
        return NULL;
    }
    if (n_post > 0 || timed) {
        int waited = launch->stream == NULL
                         ? cud_wait_context(state, "cuCtxSynchronize")
                         : cud_wait_stream(state, "cuStreamSynchronize", launch->stream);
        if (waited < 0) {
            return NULL;
        }
        result = timed ? PyFloat_FromDouble(pg_seconds() - begin) : Py_NewRef(Py_None);
        if (result != NULL && after_launch(self, args, nargs, stream) < 0) {
            Py_CLEAR(result);
        }
        return result;
    }
    Py_RETURN_NONE;
}

/* Reads everything but the arguments. Returns 0, or -1 with an exception. */
static inline int read_launch(Function *self, PyObject **options, Launch *launch, int *timed) {
    PyObject *block = options[KEY_block], *grid = options[KEY_grid], *stream = options[KEY_stream];
    if (PG_UNLIKELY(block == NULL || block == Py_None)) {
        PyErr_SetString(PyExc_ValueError, "must specify block size: pass block=(x, y, z)");
        return -1;
    }
    if (PG_UNLIKELY(function_ready(self) < 0)) {
        return -1;
    }
    launch->stream = NULL;
    launch->stream_object = NULL;
    launch->shared = 0;
    launch->cooperative = launch->clustered = 0;
    if (function_block(self, block, launch->block) < 0) {
        return -1;
    }
    if (grid == NULL) {
        launch->grid[0] = launch->grid[1] = launch->grid[2] = 1;
    } else if (function_grid(self, grid, launch->grid) < 0) {
        return -1;
    }
    return (stream != NULL && stream != Py_None &&
            function_read_stream(self, stream, launch) < 0) ||
                   (options[KEY_shared] != NULL &&
                    function_read_shared(self, options[KEY_shared], &launch->shared) < 0) ||
                   ((options[KEY_texrefs] != NULL || options[KEY_time_kernel] != NULL ||
                     options[KEY_cooperative] != NULL || options[KEY_cluster] != NULL) &&
                    read_rare(self, options, launch, timed) < 0)
               ? -1
               : 0;
}

/* Makes the function's context current while there are handlers, so that they allocate there. */
typedef struct {
    int entered;
    ContextGuard guard;
} Entered;

static int enter_context(Function *self, Entered *entered) {
    CUresult status = CUDA_SUCCESS;
    if (cud_context_enter(self->context, &entered->guard, &status) < 0) {
        cud_raise(self->state, "cuCtxPushCurrent", status);
        return -1;
    }
    entered->entered = 1;
    return 0;
}

/* Packs arguments whose positions are known. converted: whether objects were asked for their
 * address, which may have run the program's code. Returns 0, or -1 with an exception. */
static inline int pack_known(Function *self, PyObject *const *args, Py_ssize_t nargs,
                             unsigned char *params, const Launch *launch, Keep *keep,
                             Entered *entered, int *converted) {
    for (Py_ssize_t i = 0; i < nargs; i++) {
        Param *param = &self->plan->params[i];
        PyObject *arg = args[i];
        if (Py_TYPE(arg) == param->exact &&
            copy_exact(param, self->context, arg, params + param->offset, launch)) {
            continue;
        }
        if (!entered->entered && PyObject_TypeCheck(arg, self->state->ArgumentHandlerType) &&
            enter_context(self, entered) < 0) {
            return -1;
        }
        *converted |= !PyLong_CheckExact(arg) && !PyFloat_CheckExact(arg);
        if (function_convert(self, i, param, arg, params + param->offset, launch, keep) < 0) {
            return -1;
        }
    }
    return 0;
}

PyObject *function_vectorcall(PyObject *op, PyObject *const *args, size_t nargsf,
                              PyObject *kwnames) {
    Function *self = (Function *)op;
    const Plan *plan = self->plan;
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    PyObject *options[KEY_COUNT] = {NULL}, *result = NULL;
    Launch launch;
    int timed = 0, converted = 0, packed = -1;
    if (PG_UNLIKELY(kwnames != NULL && read_keywords(args + nargs, kwnames, options) < 0) ||
        read_launch(self, options, &launch, &timed) < 0) {
        return NULL;
    }
    union {
        unsigned char bytes[PARAMS_ON_STACK];
        double aligned;
    } local;
    unsigned char *params = local.bytes;
    size_t size = plan->size;
    Keep keep;
    keep.n = 0;
    keep.more = NULL;
    Entered entered = {.entered = 0};
    if (PG_UNLIKELY(plan->n_params < 0)) {
        converted = 1;
        if (count_handlers(self, args, nargs) == 0 || enter_context(self, &entered) == 0) {
            packed = pack_natural(self, args, nargs, &params, &size, &launch, &keep);
        }
    } else if (PG_UNLIKELY(nargs != plan->n_params)) {
        wrong_count(self, nargs);
    } else if (PG_UNLIKELY(size > sizeof local.bytes) && (params = PyMem_Malloc(size)) == NULL) {
        PyErr_NoMemory();
    } else {
        packed = pack_known(self, args, nargs, params, &launch, &keep, &entered, &converted);
    }
    if (packed < 0 || (converted && function_check_allocations(self, args, nargs, &keep) < 0)) {
        goto done;
    }
    if (PG_UNLIKELY(timed || entered.entered)) {
        PyObject *stream = options[KEY_stream] != NULL ? options[KEY_stream] : Py_None;
        result = launch_around(self, &launch, params, size, args, nargs, stream, timed);
        if (result == NULL && !PyErr_ExceptionMatches(PyExc_Exception)) { /* KeyboardInterrupt */
            release_later(self, &launch, args, nargs);
        }
    } else if (function_submit(self, &launch, params, size, args, nargs) == 0) {
        result = Py_NewRef(Py_None);
    }
done:
    if (PG_UNLIKELY(keep.n > 0)) {
        keep_clear(&keep);
    }
    if (PG_UNLIKELY(entered.entered)) {
        cud_context_leave(&entered.guard);
    }
    if (PG_UNLIKELY(params != local.bytes)) {
        PyMem_Free(params);
    }
    return result;
}
