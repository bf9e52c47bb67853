/* hold.c - host memory and other objects that queued work still uses, kept until it is done.
 *
 * After an asynchronous call an event is recorded behind it; objects are let go of when a later call finds their event done. Nothing
 * waits for that: no callback runs on a driver's thread, and no dealloc blocks. */
#include "cuda.h"
#include "graph.h"

typedef struct Hold {
    struct Hold *next;
    Context *context; /* strong; borrowed in the spare ones, which a context takes along when it goes */
    CUevent event;
    PyObject *owner;
} Hold;

/* In the order of the calls; the GIL protects them. */
static Hold *first, **last = &first;
static Hold *spare; /* with events of spare->context that can be recorded again */
static int n_spare;
#define MAX_SPARE 32

static CUresult get_event(Context *context, Hold **out) {
    for (Hold **link = &spare; *link != NULL; link = &(*link)->next) {
        Hold *hold = *link;
        if (hold->context == context) {
            *link = hold->next;
            n_spare--;
            Py_INCREF((PyObject *)context);
            *out = hold;
            return CUDA_SUCCESS;
        }
    }
    Hold *hold = PyMem_Calloc(1, sizeof *hold);
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
static void destroy(Hold *hold) {
    ContextGuard guard;
    CUresult status;
    if (cud_context_enter_free(hold->context, &guard, &status) == 0) {
        CU_BESIDE(status, cuEventDestroy, hold->event);
        cud_context_leave(&guard);
    }
    PyMem_Free(hold);
}

/* The record is off the list: its event is kept for the next one, its owner goes. */
static void finish(Hold *hold) {
    PyObject *owner = hold->owner;
    Context *context = hold->context;
    hold->owner = NULL;
    if (n_spare < MAX_SPARE && context->alive) {
        hold->next = spare;
        spare = hold;
        n_spare++;
    } else {
        destroy(hold);
    }
    Py_XDECREF(owner); /* last: it may run any code */
    Py_DECREF((PyObject *)context);
}

void cud_hold_context_gone(Context *context) {
    for (Hold **link = &spare; *link != NULL;) {
        Hold *hold = *link;
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

static Hold *take_first(void) {
    Hold *hold = first;
    first = hold->next;
    if (first == NULL) {
        last = &first;
    }
    return hold;
}

static int asking; /* a thread asks for the first record's event: nobody else may take it off */

void cud_hold_drain(State *state) {
    (void)state;
    while (first != NULL && !asking && !(pg_trap & PG_TRAP_FORKED)) {
        CUresult status = CUDA_SUCCESS;
        asking = 1;
        CU_BESIDE(status, cuEventQuery, first->event);
        asking = 0;
        if (status == CUDA_ERROR_NOT_READY) {
            return; /* those behind it wait their turn: they are mostly of the same stream */
        }
        finish(take_first()); /* an error means that nothing runs any more */
    }
}

void cud_hold(State *state, Context *context, CUstream handle, Stream *stream, PyObject *owner) {
    if (PG_UNLIKELY(cud_capturing > 0) && cud_capture_keep(state, handle, stream, owner)) {
        return;
    }
    cud_hold_drain(state);
    Hold *hold = NULL;
    CUresult status = get_event(context, &hold);
    if (status == CUDA_SUCCESS) {
        CU_QUEUED(status, cuEventRecord, hold->event, handle);
        if (status != CUDA_SUCCESS) {
            destroy(hold);
            Py_DECREF((PyObject *)context); /* the record's */
        }
    }
    if (status != CUDA_SUCCESS) { /* no event: what would be held is waited for instead */
        status = CUDA_SUCCESS;
        PyObject *kept = Py_NewRef(owner);
        Py_BEGIN_ALLOW_THREADS
        CU_CALL(status, cuStreamSynchronize, handle);
        Py_END_ALLOW_THREADS
        Py_DECREF(kept);
        return;
    }
    hold->owner = Py_NewRef(owner);
    hold->next = NULL;
    *last = hold;
    last = &hold->next;
}

void cud_hold_forget(State *state, Context *context) {
    (void)state;
    Hold *theirs = NULL;
    while (asking) { /* for a moment */
        Py_BEGIN_ALLOW_THREADS
        pg_yield_cpu();
        Py_END_ALLOW_THREADS
    }
    for (Hold **link = &first; *link != NULL;) {
        Hold *hold = *link;
        if (hold->context == context) {
            *link = hold->next;
            hold->next = theirs;
            theirs = hold;
        } else {
            link = &hold->next;
        }
    }
    last = &first;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    while (theirs != NULL) {
        Hold *hold = theirs;
        theirs = hold->next;
        CUresult status = CUDA_SUCCESS;
        Py_BEGIN_ALLOW_THREADS
        CU_CALL(status, cuEventSynchronize, hold->event);
        Py_END_ALLOW_THREADS
        finish(hold);
    }
    cud_hold_context_gone(context);
}
