/* keepalive.c - keeps host memory and other objects alive until queued work no longer uses them.
 *
 * An event is recorded after each asynchronous call, and the objects are released when a later
 * call finds it complete. Nothing waits for that: no callback runs on a driver thread, and no
 * dealloc blocks. Recording an event costs a third of a small copy, so small copies on one stream
 * share one: the last record of the list stays open for more of them until it is full, anything
 * else is recorded, or its status is needed. */
#include "cuda/capture.h"
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/keepalive.h"

#define BATCH 16           /* small copies per record */
#define LARGE (256 * 1024) /* bytes: memory of this size is not kept longer than necessary */

typedef struct Keepalive {
    struct Keepalive *next;
    Context *context; /* strong; borrowed in spare records, which are freed with their context */
    CUevent event;
    CUstream stream; /* of an open record */
    enum { OPEN, CLOSING, RECORDED, DONE } stage;
    int calls, n;
    size_t bytes;
    PyObject *owners[BATCH];
} Keepalive;

/* In the order of the calls; protected by the GIL. */
static Keepalive *first, **last = &first;
static Keepalive *open_record; /* the last record, if small copies may still be added */
static int closing;            /* number of records whose event is being recorded */
static unsigned long joined;   /* total number of copies ever added to records */
static Keepalive *spare;       /* spare records with reusable events of spare->context */
static int n_spare;
#define MAX_SPARE 32

static CUresult get_event(Context *context, Keepalive **out) {
    for (Keepalive **link = &spare; *link != NULL; link = &(*link)->next) {
        Keepalive *hold = *link;
        if (hold->context == context) {
            *link = hold->next;
            n_spare--;
            Py_INCREF((PyObject *)context);
            *out = hold;
            return CUDA_SUCCESS;
        }
    }
    Keepalive *hold = PyMem_Calloc(1, sizeof *hold);
    CUresult status = CUDA_SUCCESS;
    if (hold == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    CU_BESIDE(status, cuEventCreate, &hold->event, CU_EVENT_DISABLE_TIMING);
    if (status != CUDA_SUCCESS) {
        PyMem_Free(hold);
        return status;
    }
    hold->context = (Context *)Py_NewRef((PyObject *)context);
    *out = hold;
    return CUDA_SUCCESS;
}

/* Call after unlinking the record; the caller owns its reference to the context. */
static void destroy(Keepalive *hold) {
    CUresult status;
    FREE_IN_CONTEXT(hold->context, status, CU_BESIDE(status, cuEventDestroy, hold->event));
    PyMem_Free(hold);
}

/* Call after unlinking the record: keeps its event for reuse and drops its owners. */
static void finish(Keepalive *hold) {
    PyObject *owners[BATCH];
    int n = hold->n;
    Context *context = hold->context;
    memcpy(owners, hold->owners, (size_t)n * sizeof *owners);
    hold->n = 0;
    if (n_spare < MAX_SPARE && context->alive) {
        hold->next = spare;
        spare = hold;
        n_spare++;
    } else {
        destroy(hold);
    }
    for (int i = 0; i < n; i++) { /* last, because it may run any code */
        Py_DECREF(owners[i]);
    }
    Py_DECREF((PyObject *)context);
}

void cud_keepalive_context_gone(Context *context) {
    for (Keepalive **link = &spare; *link != NULL;) {
        Keepalive *hold = *link;
        if (hold->context == context) {
            *link = hold->next;
            n_spare--;
            destroy(hold);
            link = &spare; /* other threads may have been here in the meantime */
        } else {
            link = &hold->next;
        }
    }
}

static Keepalive *take_first(void) {
    Keepalive *hold = first;
    first = hold->next;
    if (first == NULL) {
        last = &first;
    }
    return hold;
}

static void append(Keepalive *hold, PyObject *owner) {
    hold->owners[0] = Py_NewRef(owner);
    hold->n = 1;
    hold->next = NULL;
    *last = hold;
    last = &hold->next;
}

/* No event marks the end of the work, so this waits for it. */
static void wait_instead(CUstream handle) {
    CUresult status = CUDA_SUCCESS;
    Py_BEGIN_ALLOW_THREADS
    CU_CALL(status, cuStreamSynchronize, handle);
    Py_END_ALLOW_THREADS(void)
    status; /* an error means that nothing is running any more */
}

static void close_record(Keepalive *hold) {
    ContextGuard guard;
    CUresult status;
    if (hold == open_record) {
        open_record = NULL;
    }
    hold->stage = CLOSING; /* so that nobody unlinks it in the meantime */
    closing++;
    if (cud_context_enter(hold->context, &guard, &status) ==
        0) { /* the default stream belongs to the current context */
        CU_QUEUED(status, cuEventRecord, hold->event, hold->stream);
        if (status != CUDA_SUCCESS) {
            wait_instead(hold->stream);
        }
        cud_context_leave(&guard);
    }
    closing--;
    hold->stage = status == CUDA_SUCCESS ? RECORDED : DONE;
}

void cud_keepalive_close(void) {
    while (open_record != NULL) { /* other threads may open another one in the meantime */
        close_record(open_record);
    }
}

static int asking; /* a thread is querying the first record's event: nobody else may unlink it */

void cud_keepalive_drain(State *state) {
    (void)state;
    while (first != NULL && !asking && !(pg_trap & PG_TRAP_FORKED)) {
        CUresult status = CUDA_SUCCESS;
        if (first->stage == OPEN) {
            close_record(first);
            continue;
        }
        if (first->stage == CLOSING) {
            return;
        }
        if (first->stage == RECORDED) {
            asking = 1;
            CU_BESIDE(status, cuEventQuery, first->event);
            asking = 0;
        }
        if (status == CUDA_ERROR_NOT_READY) {
            return; /* later records have to wait their turn: they are mostly of the same stream */
        }
        finish(take_first()); /* an error means that nothing is running any more */
    }
}

unsigned long cud_keepalive_mark(void) {
    return joined;
}

void cud_keepalive_done(State *state, Context *context, CUstream handle, int all,
                        unsigned long mark) {
    if (open_record != NULL && joined == mark && open_record->context == context &&
        (all || open_record->stream == handle)) {
        open_record->stage = DONE;
        open_record = NULL;
    }
    cud_keepalive_drain(state);
}

void cud_keepalive(State *state, Context *context, CUstream handle, Stream *stream,
                   PyObject *owner) {
    if (PG_UNLIKELY(cud_capturing > 0) && cud_capture_keep(state, handle, stream, owner)) {
        return;
    }
    cud_keepalive_close();
    cud_keepalive_drain(state);
    Keepalive *hold = NULL;
    CUresult status = get_event(context, &hold);
    if (status == CUDA_SUCCESS) {
        CU_QUEUED(status, cuEventRecord, hold->event, handle);
        if (status != CUDA_SUCCESS) {
            destroy(hold);
            Py_DECREF((PyObject *)context); /* the record's reference */
        }
    }
    if (status != CUDA_SUCCESS) {
        PyObject *kept = Py_NewRef(owner);
        wait_instead(handle);
        Py_DECREF(kept);
        return;
    }
    hold->stage = RECORDED;
    append(hold, owner);
}

void cud_keepalive_copy(State *state, Context *context, CUstream handle, Stream *stream,
                        PyObject *owner, size_t size) {
    /* A stream known only by its handle may be destroyed without our knowledge, and captures do
     * not see shared records. */
    if (size >= LARGE || cud_capturing > 0 || (stream == NULL ? handle != NULL : !stream->owned)) {
        cud_keepalive(state, context, handle, stream, owner);
        return;
    }
    if (open_record == NULL || open_record->stream != handle || open_record->context != context) {
        cud_keepalive_close();
        cud_keepalive_drain(state);
        Keepalive *hold = NULL;
        if (get_event(context, &hold) != CUDA_SUCCESS) {
            PyObject *kept = Py_NewRef(owner);
            wait_instead(handle);
            Py_DECREF(kept);
            return;
        }
        cud_keepalive_close(); /* it belongs to another thread that ran while this one was without
                                * the GIL */
        hold->stage = OPEN;
        hold->stream = handle;
        hold->calls = 1;
        hold->bytes = size;
        append(hold, owner);
        open_record = hold;
        joined++;
        return;
    }
    joined++;
    if (open_record->owners[open_record->n - 1] != owner) {
        open_record->owners[open_record->n++] = Py_NewRef(owner);
    }
    open_record->calls++;
    open_record->bytes += size;
    if (open_record->calls == BATCH || open_record->bytes >= LARGE) {
        cud_keepalive_close();
    }
}

void cud_keepalive_stream_gone(CUstream handle) {
    while (open_record != NULL && open_record->stream == handle) {
        close_record(open_record);
    }
}

void cud_keepalive_forget(State *state, Context *context) {
    (void)state;
    Keepalive *theirs = NULL;
    cud_keepalive_close();
    while (asking || closing) { /* only briefly */
        Py_BEGIN_ALLOW_THREADS
        pg_yield_cpu();
        Py_END_ALLOW_THREADS
    }
    for (Keepalive **link = &first; *link != NULL;) {
        Keepalive *hold = *link;
        if (hold->context == context) {
            *link = hold->next;
            hold->next = theirs;
            theirs = hold;
            if (hold == open_record) { /* added by another thread in the meantime: the driver's wait
                                        * below covers its stream */
                open_record = NULL;
            }
        } else {
            link = &hold->next;
        }
    }
    last = &first;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    while (theirs != NULL) {
        Keepalive *hold = theirs;
        theirs = hold->next;
        if (hold->stage == RECORDED) {
            CUresult status = CUDA_SUCCESS;
            CU_NOGIL(status, cuEventSynchronize, hold->event);
        } else if (hold->stage == OPEN) {
            wait_instead(hold->stream);
        }
        finish(hold);
    }
    cud_keepalive_context_gone(context);
}
