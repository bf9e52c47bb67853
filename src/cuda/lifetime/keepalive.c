/* keepalive.c - host memory and other objects that queued work still uses, kept until it is done.
 *
 * Behind asynchronous calls an event is recorded; objects are let go of when a later call finds
 * their event done. Nothing waits for that: no callback runs on a driver's thread, and no dealloc
 * blocks. An event costs a third of a small copy, so small copies on one stream share one: the last
 * record of the list stays open for more of them until it is full, something else comes, or
 * somebody asks. */
#include "cuda/capture.h"
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/keepalive.h"

#define BATCH 16           /* small copies of a record */
#define LARGE (256 * 1024) /* bytes that are not kept longer than they must be */

typedef struct Keepalive {
    struct Keepalive *next;
    Context
        *context; /* strong; borrowed in the spare ones, which a context takes along when it goes */
    CUevent event;
    CUstream stream; /* of an open record */
    enum { OPEN, CLOSING, RECORDED, DONE } stage;
    int calls, n;
    size_t bytes;
    PyObject *owners[BATCH];
} Keepalive;

/* In the order of the calls; the GIL protects them. */
static Keepalive *first, **last = &first;
static Keepalive *open;      /* the last one, if small copies may still join it */
static int closing;          /* records whose event is being recorded */
static unsigned long joined; /* copies that joined one, ever */
static Keepalive *spare;     /* with events of spare->context that can be recorded again */
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

/* The record is off the list, and its reference to the context is somebody else's. */
static void destroy(Keepalive *hold) {
    ContextGuard guard;
    CUresult status;
    if (cud_context_enter_free(hold->context, &guard, &status) == 0) {
        CU_BESIDE(status, cuEventDestroy, hold->event);
        cud_context_leave(&guard);
    }
    PyMem_Free(hold);
}

/* The record is off the list: its event is kept for the next one, its owners go. */
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
    for (int i = 0; i < n; i++) { /* last: it may run any code */
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
            link = &spare; /* others may have been here meanwhile */
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

/* No event tells when the work is done: it is waited for. */
static void wait_instead(CUstream handle) {
    CUresult status = CUDA_SUCCESS;
    Py_BEGIN_ALLOW_THREADS
    CU_CALL(status, cuStreamSynchronize, handle);
    Py_END_ALLOW_THREADS(void)
    status; /* an error means that nothing runs any more */
}

static void close_record(Keepalive *hold) {
    ContextGuard guard;
    CUresult status;
    if (hold == open) {
        open = NULL;
    }
    hold->stage = CLOSING; /* nobody takes it off the list meanwhile */
    closing++;
    if (cud_context_enter(hold->context, &guard, &status) ==
        0) { /* the default stream is that of the current context */
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
    while (open != NULL) { /* other threads may open one meanwhile */
        close_record(open);
    }
}

static int asking; /* a thread asks for the first record's event: nobody else may take it off */

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
            return; /* those behind it wait their turn: they are mostly of the same stream */
        }
        finish(take_first()); /* an error means that nothing runs any more */
    }
}

unsigned long cud_keepalive_mark(void) {
    return joined;
}

void cud_keepalive_done(State *state, Context *context, CUstream handle, int all,
                        unsigned long mark) {
    if (open != NULL && joined == mark && open->context == context &&
        (all || open->stream == handle)) {
        open->stage = DONE;
        open = NULL;
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
            Py_DECREF((PyObject *)context); /* the record's */
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
    /* A stream that is only known by its handle may go without our being told, and captures know
     * nothing of records. */
    if (size >= LARGE || cud_capturing > 0 || (stream == NULL ? handle != NULL : !stream->owned)) {
        cud_keepalive(state, context, handle, stream, owner);
        return;
    }
    if (open == NULL || open->stream != handle || open->context != context) {
        cud_keepalive_close();
        cud_keepalive_drain(state);
        Keepalive *hold = NULL;
        if (get_event(context, &hold) != CUDA_SUCCESS) {
            PyObject *kept = Py_NewRef(owner);
            wait_instead(handle);
            Py_DECREF(kept);
            return;
        }
        cud_keepalive_close(); /* another thread's, which came while this one was without the GIL */
        hold->stage = OPEN;
        hold->stream = handle;
        hold->calls = 1;
        hold->bytes = size;
        append(hold, owner);
        open = hold;
        joined++;
        return;
    }
    joined++;
    if (open->owners[open->n - 1] != owner) {
        open->owners[open->n++] = Py_NewRef(owner);
    }
    open->calls++;
    open->bytes += size;
    if (open->calls == BATCH || open->bytes >= LARGE) {
        cud_keepalive_close();
    }
}

void cud_keepalive_stream_gone(CUstream handle) {
    while (open != NULL && open->stream == handle) {
        close_record(open);
    }
}

void cud_keepalive_forget(State *state, Context *context) {
    (void)state;
    Keepalive *theirs = NULL;
    cud_keepalive_close();
    while (asking || closing) { /* for a moment */
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
            if (hold == open) { /* of another thread, that came meanwhile: its stream is waited for
                                   below, by the driver */
                open = NULL;
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
            Py_BEGIN_ALLOW_THREADS
            CU_CALL(status, cuEventSynchronize, hold->event);
            Py_END_ALLOW_THREADS
        } else if (hold->stage == OPEN) {
            wait_instead(hold->stream);
        }
        finish(hold);
    }
    cud_keepalive_context_gone(context);
}
