/* usage.c - which streams may still use a piece of memory, and how a new owner's work is ordered
 * after a former owner's.
 *
 * Pool memory can be handed to the next owner as soon as it is dropped. As long as one stream does
 * all the work, the driver is not called, because a stream runs in order; nor between the default
 * stream and ordinary ones, which the driver orders. Otherwise the new owner's stream waits for an
 * event recorded after the former owner's work.
 *
 * An address that was given away as a number may be used on streams that we do not know of. The
 * default stream, with which ordinary streams are ordered, then stands for all of them. For a
 * stream that is not ours, even the handle may later be invalid, so the whole context is waited
 * for. */
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/lifetime/usage.h"
#include "cuda/memory.h"

#define LOCAL_USES 8

static int UseSet_size(const UseSet *set) {
    return set->first.context == NULL ? 0 : 1 + set->n_more;
}
static StreamUse *UseSet_get(const UseSet *set, int i) {
    return i == 0 ? (StreamUse *)&set->first : &set->more[i - 1];
}

static int is_default(const StreamUse *use) {
    return use->handle == NULL;
}
static int is_foreign(const StreamUse *use) {
    return use->handle != NULL && (use->stream == NULL || !use->stream->owned);
}

static int UseSet_has(const UseSet *set, CUstream handle, const Context *context) {
    for (int i = 0; i < UseSet_size(set); i++) {
        const StreamUse *use = UseSet_get(set, i);
        if (use->handle == handle && (handle != NULL || use->context == context)) {
            return 1;
        }
    }
    return 0;
}

static int UseSet_add(UseSet *set, CUstream handle, Stream *stream, Context *context) {
    StreamUse *use = &set->first;
    if (set->first.context != NULL) {
        StreamUse *more = PyMem_Realloc(set->more, (size_t)(set->n_more + 1) * sizeof *more);
        if (more == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        set->more = more;
        use = &more[set->n_more++];
    }
    use->handle = handle;
    use->stream = (Stream *)Py_XNewRef((PyObject *)stream);
    use->context = (Context *)Py_NewRef((PyObject *)context);
    return 0;
}

static void UseSet_clear(UseSet *set) {
    UseSet old = *set; /* dropping a stream may run code that re-enters this file */
    *set = (UseSet){{NULL, NULL, NULL}, NULL, 0};
    for (int i = 0; i < UseSet_size(&old); i++) {
        StreamUse *use = UseSet_get(&old, i);
        Py_XDECREF((PyObject *)use->stream);
        Py_DECREF((PyObject *)use->context);
    }
    PyMem_Free(old.more);
}

static int UseSet_visit(const UseSet *set, visitproc visit, void *arg) {
    for (int i = 0; i < UseSet_size(set); i++) {
        Py_VISIT((PyObject *)UseSet_get(set, i)->stream);
        Py_VISIT((PyObject *)UseSet_get(set, i)->context);
    }
    return 0;
}

/* Whether the driver orders a stream with its context's default stream by itself. */
static int is_ordinary(CUstream handle) {
    unsigned int flags = 0;
    CUresult status = CUDA_SUCCESS;
    if (handle == NULL) {
        return 1;
    }
    CU_BESIDE(status, cuStreamGetFlags, handle, &flags);
    return status == CUDA_SUCCESS && !(flags & CU_STREAM_NON_BLOCKING);
}

static CUresult ask_capturing(CUstream handle, int *capturing, const char **routine) {
    CUstreamCaptureStatus capture = 0;
    CUresult status = CUDA_SUCCESS;
    if (handle != NULL) {
        *routine = "cuStreamIsCapturing";
        CU_BESIDE(status, cuStreamIsCapturing, handle, &capture);
    }
    *capturing = capture != 0;
    return status;
}

/* Orders later work on handle after the work queued so far on former (in its own context). */
static CUresult order_one(CUstream handle, const StreamUse *former, int host_waits,
                          const char **routine) {
    ContextGuard guard;
    CUresult status;
    CUevent event = NULL;
    if (cud_context_enter(former->context, &guard, &status) < 0) {
        return CUDA_SUCCESS; /* destroyed, together with its work */
    }
    if (is_foreign(former)) {
        *routine = "cuCtxSynchronize";
        CU_NOGIL(status, cuCtxSynchronize);
        cud_context_leave(&guard);
        return status;
    }
    *routine = "cuEventCreate";
    CU_BESIDE(status, cuEventCreate, &event, CU_EVENT_DISABLE_TIMING);
    if (status == CUDA_SUCCESS) {
        *routine = "cuEventRecord";
        CU_QUEUED(status, cuEventRecord, event, former->handle);
    }
    cud_context_leave(&guard);
    if (status == CUDA_SUCCESS && host_waits) {
        *routine = "cuEventSynchronize";
        CU_NOGIL(status, cuEventSynchronize, event);
    } else if (status == CUDA_SUCCESS) {
        *routine = "cuStreamWaitEvent";
        CU_QUEUED(status, cuStreamWaitEvent, handle, event, 0);
    }
    if (event != NULL) {
        CUresult ignored = CUDA_SUCCESS;
        CU_BESIDE(ignored, cuEventDestroy, event);
        (void)ignored;
    }
    return status;
}

/* Whether the driver ensures that by itself. context: of handle. */
static int driver_orders(CUstream handle, const Context *context, const StreamUse *former) {
    if (former->handle == handle && handle != NULL) {
        return handle != CU_STREAM_PER_THREAD; /* that is a different stream in each thread */
    }
    if (former->context != context || is_foreign(former)) {
        return 0;
    }
    return former->handle == handle || (handle == NULL && is_ordinary(former->handle)) ||
           (is_default(former) && is_ordinary(handle));
}

/* The same for all members of a set. */
static CUresult order_after(CUstream handle, const Context *context, const UseSet *set,
                            const char **routine) {
    StreamUse former[LOCAL_USES], *copy = former; /* the set may change while the GIL is released */
    int n = UseSet_size(set), exchanged = 0, captured = -1;
    CUresult status = CUDA_SUCCESS, ignored = CUDA_SUCCESS;
    CUstreamCaptureMode mode = 2; /* relaxed: this permits waiting during a capture */
    if (n > LOCAL_USES && (copy = PyMem_Malloc((size_t)n * sizeof *copy)) == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (int i = 0; i < n; i++) {
        copy[i] = *UseSet_get(set, i);
        Py_XINCREF((PyObject *)copy[i].stream);
        Py_INCREF((PyObject *)copy[i].context);
    }
    for (int i = 0; i < n && status == CUDA_SUCCESS; i++) {
        if (driver_orders(handle, context, &copy[i])) {
            continue;
        }
        if (captured < 0) {
            status = ask_capturing(handle, &captured, routine);
            if (status != CUDA_SUCCESS) {
                break;
            }
            if (captured) { /* a graph cannot depend on work outside it, so the host waits */
                CU_CALL(ignored, cuThreadExchangeStreamCaptureMode, &mode);
                exchanged = ignored == CUDA_SUCCESS;
            }
        }
        status = order_one(handle, &copy[i], captured, routine);
    }
    if (exchanged) {
        CU_CALL(ignored, cuThreadExchangeStreamCaptureMode, &mode);
    }
    for (int i = 0; i < n; i++) {
        Py_XDECREF((PyObject *)copy[i].stream);
        Py_DECREF((PyObject *)copy[i].context);
    }
    if (copy != former) {
        PyMem_Free(copy);
    }
    return status;
}

/* The calling thread's context, because the default stream belongs to that. */
static Context *context_of(State *state, Stream *stream) {
    return stream != NULL ? (Context *)Py_NewRef((PyObject *)stream->context)
                          : cud_context_current(state);
}

int cud_usage_add(State *state, Usage *usage, Context *home, CUstream handle, Stream *stream) {
    if (handle == CU_STREAM_LEGACY) {
        handle = NULL;
    }
    Context *context = context_of(state, stream);
    int result = -1;
    if (context == NULL) {
        return -1;
    }
    if (!UseSet_has(&usage->now, handle, context) || handle == CU_STREAM_PER_THREAD) {
        const char *routine = "";
        CUresult status = order_after(handle, context, &usage->before, &routine);
        if (status == CUDA_SUCCESS && usage->was_exposed && handle != NULL) {
            StreamUse everybody = {NULL, NULL, home};
            int captured;
            status = ask_capturing(handle, &captured, &routine);
            if (status == CUDA_SUCCESS) {
                status = order_one(handle, &everybody, captured, &routine);
            }
        }
        if (status != CUDA_SUCCESS) {
            cud_raise_with(state, routine, status,
                           "the work that last used the memory cannot be waited for");
            goto done;
        }
        if (!UseSet_has(&usage->now, handle, context) &&
            UseSet_add(&usage->now, handle, stream, context) < 0) {
            goto done;
        }
    }
    if (handle != CU_STREAM_PER_THREAD && (handle != NULL || context == home)) {
        usage->latest = handle;
    }
    result = 0;
done:
    Py_DECREF((PyObject *)context);
    return result;
}

int cud_allocation_use_first(Allocation *self, CUstream handle, Stream *stream) {
    cud_pin(self); /* waiting may release the GIL */
    int result = cud_usage_add(self->state, self->usage, self->context, handle, stream);
    cud_unpin(self);
    return result < 0 ? -1 : cud_allocation_alive(self, "use of an allocation");
}

void cud_usage_change_owner(Usage *usage) {
    usage->latest = CUD_NO_STREAM;
    if (usage->now.first.context == NULL) { /* this owner has not used it, as far as we know: the
                                             * streams in before still matter */
        usage->was_exposed |= usage->exposed;
        usage->exposed = 0;
        return;
    }
    usage->was_exposed = usage->exposed;
    usage->exposed = 0;
    UseSet old = usage->before;
    usage->before = usage->now;
    usage->now = (UseSet){{NULL, NULL, NULL}, NULL, 0};
    UseSet_clear(&old);
}

void cud_usage_clear(Usage *usage) {
    UseSet_clear(&usage->now);
    UseSet_clear(&usage->before);
    usage->latest = CUD_NO_STREAM;
    usage->exposed = usage->was_exposed = 0;
}

int cud_usage_visit(Usage *usage, visitproc visit, void *arg) {
    int result = UseSet_visit(&usage->now, visit, arg);
    return result != 0 ? result : UseSet_visit(&usage->before, visit, arg);
}

int cud_usage_expose(State *state, Usage *usage, Context *home) {
    for (int i = 0; i < UseSet_size(&usage->before); i++) {
        const StreamUse *use = UseSet_get(&usage->before, i);
        if (is_default(use) && use->context == home) {
            continue;
        }
        /* Later work on ordinary streams comes after the default stream, and that is ordered after
         * the former owner's work. */
        const char *routine = "";
        ContextGuard guard;
        CUresult status;
        StreamUse behind = {NULL, NULL, home};
        if (cud_context_enter(home, &guard, &status) < 0) {
            break;
        }
        status = order_after(NULL, home, &usage->before, &routine);
        if (status == CUDA_SUCCESS) {
            status =
                order_one(NULL, &behind, 0,
                          &routine); /* work on the default stream for other streams to wait for */
        }
        cud_context_leave(&guard);
        if (status != CUDA_SUCCESS) {
            cud_raise_with(state, routine, status,
                           "the work that last used the memory cannot be waited for");
            return -1;
        }
        break;
    }
    usage->exposed = 1;
    return 0;
}

CUresult cud_usage_join(State *state, Usage *usage, Context *home, CUstream handle,
                        Stream *stream) {
    const char *routine = "";
    (void)state;
    CUresult status =
        order_after(handle, stream != NULL ? stream->context : home, &usage->now, &routine);
    if (status == CUDA_SUCCESS) {
        status =
            order_after(handle, stream != NULL ? stream->context : home, &usage->before, &routine);
    }
    if (status == CUDA_SUCCESS && (usage->exposed || usage->was_exposed) && handle != NULL) {
        StreamUse everybody = {NULL, NULL, home};
        status = order_one(handle, &everybody, 0, &routine);
    }
    return status;
}

int cud_usage_captured(const Usage *usage) {
    for (int i = 0; i < UseSet_size(&usage->before); i++) {
        const StreamUse *use = UseSet_get(&usage->before, i);
        int captured;
        const char *routine;
        if (use->stream != NULL &&
            (ask_capturing(use->handle, &captured, &routine) != CUDA_SUCCESS || captured)) {
            return 1;
        }
    }
    return 0;
}
