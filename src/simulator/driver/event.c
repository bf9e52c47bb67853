/* event.c - events: positions in streams, and the times at which they were reached. */
#include "simulator/driver/capture.h"
#include "simulator/driver/context.h"
#include "simulator/driver/driver.h"
#include "simulator/driver/event.h"
#include "simulator/driver/handle.h"
#include "simulator/driver/stream.h"
#include "simulator/driver/work.h"

#include <stdlib.h>

typedef struct {
    SimObject object;
    unsigned flags;
    pthread_mutex_t lock;
    SimMark *mark;         /* the latest recording, counted; NULL: never recorded */
    SimCaptured *captured; /* its position if it was last recorded in a capture, counted; replaces
                            * mark */
} SimEvent;

void sim_mark_drop(SimMark *mark) {
    if (mark != NULL && atomic_fetch_sub(&mark->references, 1) == 1) {
        sim_object_drop(mark->stream);
        free(mark);
    }
}

static void event_free(void *op) {
    SimEvent *self = op;
    sim_mark_drop(self->mark);
    sim_captured_drop(self->captured);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

static CUresult take_event(CUevent handle, SimEvent **out) {
    *out = sim_object_take((uintptr_t)handle, SIM_EVENT);
    if (*out == NULL) {
        return sim_fail(CUDA_ERROR_INVALID_HANDLE, "%p is not an event, or was destroyed",
                        (void *)handle);
    }
    SimContext *context = (*out)->object.context;
    if (atomic_load(&context->sticky) != CUDA_SUCCESS) {
        return sim_fail_with(&context->error);
    }
    return CUDA_SUCCESS;
}

/* The latest recording, with references; both NULL: never recorded. */
static void latest(SimEvent *event, SimMark **mark, SimCaptured **captured) {
    pthread_mutex_lock(&event->lock);
    *mark = event->mark;
    *captured = event->captured;
    if (*mark != NULL) {
        atomic_fetch_add(&(*mark)->references, 1);
    }
    sim_captured_keep(*captured);
    pthread_mutex_unlock(&event->lock);
}

static void set_latest(SimEvent *event, SimMark *mark, SimCaptured *captured) {
    pthread_mutex_lock(&event->lock);
    SimMark *old_mark = event->mark;
    SimCaptured *old_captured = event->captured;
    event->mark = mark;
    event->captured = captured;
    pthread_mutex_unlock(&event->lock);
    sim_mark_drop(old_mark);
    sim_captured_drop(old_captured);
}

CUresult cuEventCreate(CUevent *phEvent, unsigned int Flags) {
    SIM_CALL(cuEventCreate);
    SIM_NOT_NULL(phEvent);
    if ((Flags & ~7u) != 0 ||
        ((Flags & CU_EVENT_INTERPROCESS) != 0 && (Flags & CU_EVENT_DISABLE_TIMING) == 0)) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "flags %#x are not event flags, or INTERPROCESS without DISABLE_TIMING",
                        Flags);
    }
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SimEvent *event = calloc(1, sizeof(*event));
    if (event == NULL) {
        return sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "the machine has no memory left");
    }
    event->flags = Flags;
    pthread_mutex_init(&event->lock, NULL);
    CUresult status = sim_object_open(event, SIM_EVENT, context, event_free);
    if (status != CUDA_SUCCESS) {
        pthread_mutex_destroy(&event->lock);
        free(event);
        return status;
    }
    *phEvent = (CUevent)event->object.handle;
    sim_object_drop(event);
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent hEvent) {
    SIM_CALL(cuEventDestroy);
    HELD SimEvent *event = sim_object_take((uintptr_t)hEvent, SIM_EVENT);
    if (event == NULL || !sim_object_close(event)) {
        return sim_fail(CUDA_ERROR_INVALID_HANDLE, "%p is not an event, or was destroyed",
                        (void *)hEvent);
    }
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent hEvent, CUstream hStream) {
    SIM_CALL(cuEventRecord);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimEvent, event, take_event(hEvent, &event));
    SIM_TAKE(SimStream, stream, sim_stream_take(context, hStream, &stream));
    if (event->object.context != stream->object.context) {
        return sim_fail(CUDA_ERROR_INVALID_HANDLE,
                        "the event and the stream belong to different contexts");
    }
    SimCaptured *captured = NULL;
    SIM_TRY(sim_capture_record(stream, &captured));
    if (captured != NULL) {
        set_latest(event, NULL, captured);
        return CUDA_SUCCESS;
    }
    SimMark *mark = calloc(1, sizeof(*mark));
    if (mark == NULL) {
        return sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "the machine has no memory left");
    }
    atomic_store(&mark->references, 2); /* one for the event, one for the work */
    mark->stream = sim_object_keep(stream);
    CUresult status =
        sim_stream_submit(stream, &(SimWork){.kind = WORK_RECORD, .mark = mark}, &mark->sequence);
    if (status != CUDA_SUCCESS) {
        sim_mark_drop(mark);
        return status;
    }
    set_latest(event, mark, NULL);
    return CUDA_SUCCESS;
}

static CUresult forbid_captured(SimCaptured *captured, const char *what) {
    if (captured == NULL) {
        return CUDA_SUCCESS;
    }
    sim_captured_drop(captured);
    return sim_fail(CUDA_ERROR_CAPTURED_EVENT,
                    "%s: the event was recorded in a stream that is being captured", what);
}

CUresult cuEventQuery(CUevent hEvent) {
    SIM_CALL(cuEventQuery);
    SimMark *mark;
    SimCaptured *captured;
    SIM_TAKE(SimEvent, event, take_event(hEvent, &event));
    latest(event, &mark, &captured);
    SIM_TRY(forbid_captured(captured, "cuEventQuery"));
    if (mark == NULL) {
        return CUDA_SUCCESS;
    }
    bool done = sim_stream_done(mark->stream, mark->sequence);
    sim_mark_drop(mark);
    if (!done) {
        if (sim_deferred()) {
            sim_contexts_run_deferred();
        }
        return CUDA_ERROR_NOT_READY;
    }
    return sim_context_result(event->object.context);
}

CUresult cuEventSynchronize(CUevent hEvent) {
    SIM_CALL(cuEventSynchronize);
    SimMark *mark;
    SimCaptured *captured;
    SIM_TAKE(SimEvent, event, take_event(hEvent, &event));
    latest(event, &mark, &captured);
    SIM_TRY(forbid_captured(captured, "cuEventSynchronize"));
    if (mark == NULL) {
        return CUDA_SUCCESS;
    }
    sim_stream_wait(mark->stream, mark->sequence);
    sim_mark_drop(mark);
    return sim_context_result(event->object.context);
}

/* Returns NOT_READY, or the time of the latest recording [ns]. */
static CUresult time_of(SimEvent *event, const char *which, uint64_t *time) {
    SimMark *mark;
    SimCaptured *captured;
    latest(event, &mark, &captured);
    SIM_TRY(forbid_captured(captured, "cuEventElapsedTime"));
    if ((event->flags & CU_EVENT_DISABLE_TIMING) != 0) {
        sim_mark_drop(mark);
        return sim_fail(CUDA_ERROR_INVALID_HANDLE, "the %s event has DISABLE_TIMING", which);
    }
    if (mark == NULL) {
        return sim_fail(CUDA_ERROR_INVALID_HANDLE, "the %s event was never recorded", which);
    }
    bool done = sim_stream_done(mark->stream, mark->sequence);
    *time = atomic_load(&mark->time);
    sim_mark_drop(mark);
    if (!done) {
        return sim_fail(CUDA_ERROR_NOT_READY, "the %s event was not reached yet", which);
    }
    return sim_context_result(event->object.context);
}

CUresult cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd) {
    SIM_CALL(cuEventElapsedTime);
    uint64_t from, to;
    SIM_NOT_NULL(pMilliseconds);
    SIM_TAKE(SimEvent, start, take_event(hStart, &start));
    SIM_TAKE(SimEvent, end, take_event(hEnd, &end));
    SIM_TRY(time_of(start, "first", &from));
    SIM_TRY(time_of(end, "second", &to));
    *pMilliseconds = (float)((double)(int64_t)(to - from) * 1e-6);
    return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags) {
    SIM_CALL(cuStreamWaitEvent);
    SimMark *mark;
    SimCaptured *captured;
    if ((Flags & ~1u) != 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "flags %#x are not flags of cuStreamWaitEvent",
                        Flags);
    }
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimStream, stream, sim_stream_take(context, hStream, &stream));
    SIM_TAKE(SimEvent, event, take_event(hEvent, &event));
    latest(event, &mark, &captured);
    if (captured != NULL) {
        CUresult status = sim_capture_join(stream, captured);
        sim_captured_drop(captured);
        return status;
    }
    if (stream->capture != NULL) {
        sim_mark_drop(mark);
        return mark == NULL
                   ? CUDA_SUCCESS
                   : sim_capture_invalidate(stream, CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
                                            "a captured stream cannot wait for an event that "
                                            "was recorded outside of the capture");
    }
    if (mark == NULL || sim_stream_done(mark->stream, mark->sequence)) {
        sim_mark_drop(mark);
        return CUDA_SUCCESS;
    }
    CUresult status = sim_stream_after(stream, mark->stream, mark->sequence);
    sim_mark_drop(mark);
    SIM_TRY(status);
    return sim_stream_submit(stream, &(SimWork){.kind = WORK_EMPTY}, NULL);
}
