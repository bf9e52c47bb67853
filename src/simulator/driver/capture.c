/* capture.c - records the work submitted to streams as a graph, instead of running it.
 *
 * A capture begins on one stream and spreads to others that wait for an event recorded in it. Its
 * state is protected by the lock of the context, to which all its streams belong. Only the flag
 * that invalidates it may be set from anywhere. */
#include "simulator/driver/capture.h"
#include "simulator/driver/context.h"
#include "simulator/driver/driver.h"
#include "simulator/driver/graph.h"
#include "simulator/driver/handle.h"
#include "simulator/driver/stream.h"
#include "simulator/driver/work.h"

#include <stdlib.h>
#include <string.h>

enum { MODE_GLOBAL = 0, MODE_THREAD_LOCAL = 1, MODE_RELAXED = 2 };
enum { STATUS_NONE = 0, STATUS_ACTIVE = 1, STATUS_INVALIDATED = 2 };

struct SimCapture {
    _Atomic int references;
    CUstreamCaptureMode mode;
    uint64_t thread;
    SimContext *context; /* of its streams; only compared, as recorded positions may outlive it */
    SimStream *origin;   /* not counted: it is among streams while the capture runs */
    SimStream **streams; /* counted references */
    size_t n_streams;
    SimGraph *graph; /* counted reference */
    bool ended;
    _Atomic bool spoilt;
    struct SimCapture *next; /* list of running captures, under running_lock */
};

struct SimCaptured {
    _Atomic int references;
    SimCapture *capture; /* counted reference */
    SimNodes nodes;
};

static pthread_mutex_t running_lock = PTHREAD_MUTEX_INITIALIZER;
static SimCapture *running;
static _Atomic int n_running;
static _Thread_local CUstreamCaptureMode thread_mode = MODE_GLOBAL;

static void capture_drop(SimCapture *capture) {
    if (capture != NULL && atomic_fetch_sub(&capture->references, 1) == 1) {
        sim_object_drop(capture->graph);
        free(capture->streams);
        free(capture);
    }
}

void sim_captured_keep(SimCaptured *captured) {
    if (captured != NULL) {
        atomic_fetch_add(&captured->references, 1);
    }
}

void sim_captured_drop(SimCaptured *captured) {
    if (captured != NULL && atomic_fetch_sub(&captured->references, 1) == 1) {
        capture_drop(captured->capture);
        free(captured->nodes.list);
        free(captured);
    }
}

static CUresult invalidated(void) {
    return sim_fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                    "an earlier call invalidated the capture");
}

/* ---- calls that captures forbid -------------------------------------------------------------- */

CUresult sim_capture_forbid(SimContext *context, const char *what) {
    (void)context; /* captures in other contexts forbid it as well */
    if (atomic_load(&n_running) == 0 || thread_mode == MODE_RELAXED) {
        return CUDA_SUCCESS;
    }
    bool forbidden = false;
    uint64_t thread = sim_this_thread();
    pthread_mutex_lock(&running_lock);
    for (SimCapture *capture = running; capture != NULL; capture = capture->next) {
        if ((capture->thread == thread && capture->mode != MODE_RELAXED) ||
            (thread_mode == MODE_GLOBAL && capture->mode == MODE_GLOBAL)) {
            atomic_store(&capture->spoilt, true);
            forbidden = true;
        }
    }
    pthread_mutex_unlock(&running_lock);
    return forbidden ? sim_fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                                "%s, while a stream is being captured", what)
                     : CUDA_SUCCESS;
}

CUresult sim_capture_forbid_stream(SimStream *stream, const char *what) {
    SimContext *context = stream->object.context;
    bool captured = false, implicit = false;
    if (atomic_load(&n_running) == 0) {
        return CUDA_SUCCESS;
    }
    pthread_mutex_lock(&context->lock);
    SimCapture *own = atomic_load(&stream->capture);
    if (own != NULL) {
        atomic_store(&own->spoilt, true);
        captured = true;
    } else if (stream == context->legacy && context->n_captured > 0) {
        for (SimStream *other = context->streams; other != NULL; other = other->next) {
            SimCapture *capture = atomic_load(&other->capture);
            if (other->blocking && capture != NULL) {
                atomic_store(&capture->spoilt, true);
                implicit = true;
            }
        }
    }
    pthread_mutex_unlock(&context->lock);
    if (captured) {
        return sim_fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "%s: the stream is being captured",
                        what);
    }
    return implicit ? sim_fail(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                               "%s would wait for a stream that is being captured", what)
                    : CUDA_SUCCESS;
}

CUresult sim_capture_invalidate(SimStream *stream, CUresult status, const char *text) {
    pthread_mutex_lock(&stream->object.context->lock);
    SimCapture *capture = atomic_load(&stream->capture);
    if (capture != NULL) {
        atomic_store(&capture->spoilt, true);
    }
    pthread_mutex_unlock(&stream->object.context->lock);
    return sim_fail(status, "%s", text);
}

/* ---- recording ------------------------------------------------------------------------------- */

CUresult sim_capture_work(SimStream *stream, SimWork *work) {
    CUresult status;
    pthread_mutex_lock(&stream->object.context->lock);
    SimCapture *capture = atomic_load(&stream->capture);
    /* Graphs cannot have such work: the call checked the stream just before another thread began
     * the capture. */
    bool late = work->kind == WORK_RECORD || work->kind == WORK_FREE || work->kind == WORK_CALLBACK;
    if (capture != NULL && late) {
        atomic_store(&capture->spoilt, true);
    }
    if (capture == NULL || atomic_load(&capture->spoilt)) {
        pthread_mutex_unlock(&stream->object.context->lock);
        sim_work_clear(work);
        return invalidated();
    }
    SimNode *node;
    status = sim_graph_add(capture->graph, work, &stream->front, &node);
    if (status == CUDA_SUCCESS) {
        SimNode **list = stream->front.n > 0 ? stream->front.list : malloc(sizeof(*list));
        if (list == NULL) {
            status = sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "the machine has no memory left");
        } else {
            list[0] = node;
            stream->front = (SimNodes){list, 1};
        }
    }
    if (status != CUDA_SUCCESS) {
        atomic_store(&capture->spoilt, true);
    }
    pthread_mutex_unlock(&stream->object.context->lock);
    return status;
}

CUresult sim_capture_record(SimStream *stream, SimCaptured **out) {
    CUresult status = CUDA_SUCCESS;
    *out = NULL;
    if (atomic_load(&stream->capture) == NULL) {
        return CUDA_SUCCESS;
    }
    SimCaptured *made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return sim_capture_invalidate(stream, CUDA_ERROR_OUT_OF_MEMORY,
                                      "the machine has no memory left");
    }
    atomic_store(&made->references, 1);
    pthread_mutex_lock(&stream->object.context->lock);
    SimCapture *capture = atomic_load(&stream->capture);
    if (capture == NULL || atomic_load(&capture->spoilt)) {
        status = invalidated();
    } else {
        atomic_fetch_add(&capture->references, 1);
        made->capture = capture;
        status = sim_nodes_merge(&made->nodes, &stream->front);
    }
    pthread_mutex_unlock(&stream->object.context->lock);
    if (status != CUDA_SUCCESS) {
        sim_captured_drop(made);
        return status;
    }
    *out = made;
    return CUDA_SUCCESS;
}

/* Adds the stream to the capture. Needs the context's lock. */
static CUresult take_part(SimCapture *capture, SimStream *stream) {
    SimStream **streams = realloc(capture->streams, (capture->n_streams + 1) * sizeof(*streams));
    if (streams == NULL) {
        return sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "the machine has no memory left");
    }
    capture->streams = streams;
    streams[capture->n_streams++] = sim_object_keep(stream);
    atomic_fetch_add(&capture->references, 1);
    atomic_store(&stream->capture, capture);
    stream->object.context->n_captured += stream->blocking;
    return CUDA_SUCCESS;
}

CUresult sim_capture_join(SimStream *stream, SimCaptured *captured) {
    SimContext *context = stream->object.context;
    SimCapture *capture = captured->capture;
    CUresult status = CUDA_SUCCESS;
    pthread_mutex_lock(&context->lock);
    SimCapture *own = atomic_load(&stream->capture);
    if (capture->context != context || capture->ended) {
        status =
            sim_fail(CUDA_ERROR_CAPTURED_EVENT,
                     "the event was recorded in a capture that is over, or in another context's");
    } else if (atomic_load(&capture->spoilt)) {
        status = invalidated();
    } else if (own != NULL && own != capture) {
        atomic_store(&own->spoilt, true);
        atomic_store(&capture->spoilt, true);
        status = sim_fail(CUDA_ERROR_STREAM_CAPTURE_MERGE,
                          "the event and the stream belong to different captures");
    } else if (stream == context->legacy) {
        atomic_store(&capture->spoilt, true);
        status = sim_fail(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                          "the default stream cannot take part in a capture");
    } else {
        status = own == NULL ? take_part(capture, stream) : CUDA_SUCCESS;
        if (status == CUDA_SUCCESS) {
            status = sim_nodes_merge(&stream->front, &captured->nodes);
        }
    }
    pthread_mutex_unlock(&context->lock);
    return status;
}

/* ---- begin and end --------------------------------------------------------------------------- */

CUresult cuStreamBeginCapture(CUstream hStream, CUstreamCaptureMode mode) {
    SIM_CALL(cuStreamBeginCapture);
    CUresult status;
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimStream, stream, sim_stream_take(context, hStream, &stream));
    if (mode < MODE_GLOBAL || mode > MODE_RELAXED) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a stream_capture_mode", mode);
    }
    if (hStream == NULL || hStream == CU_STREAM_LEGACY) {
        return sim_fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                        "the default stream cannot be captured; make a stream");
    }
    SimCapture *capture = calloc(1, sizeof(*capture));
    if (capture == NULL) {
        return sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "the machine has no memory left");
    }
    atomic_store(&capture->references, 1);
    capture->mode = mode;
    capture->thread = sim_this_thread();
    capture->context = stream->object.context;
    capture->origin = stream;
    status = sim_graph_new(&capture->graph);
    if (status != CUDA_SUCCESS) {
        capture_drop(capture);
        return status;
    }
    SimContext *owner = stream->object.context;
    pthread_mutex_lock(&owner->lock);
    status = atomic_load(&stream->capture) != NULL
                 ? sim_fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is being captured already")
                 : take_part(capture, stream);
    if (status == CUDA_SUCCESS) {
        pthread_mutex_lock(&running_lock);
        capture->next = running;
        running = capture;
        atomic_fetch_add(&n_running, 1);
        pthread_mutex_unlock(&running_lock);
    }
    pthread_mutex_unlock(&owner->lock);
    if (status != CUDA_SUCCESS) {
        sim_object_close(capture->graph);
    }
    capture_drop(capture);
    return status;
}

static void mark(const SimNodes *nodes, bool *reached) {
    for (size_t i = 0; i < nodes->n; i++) {
        reached[nodes->list[i]->index] = true;
    }
}

/* Whether every stream's last nodes precede those of the origin. Needs the context's lock. */
static bool is_joined(const SimCapture *capture) {
    const SimNodes *all = &capture->graph->nodes;
    bool *reached = calloc(all->n + 1, sizeof(*reached)), joined = reached != NULL;
    if (joined) {
        mark(&capture->origin->front, reached);
        for (size_t i = all->n; i-- > 0;) { /* a node comes after all its dependencies */
            if (reached[i]) {
                mark(&all->list[i]->after, reached);
            }
        }
        for (size_t i = 0; i < capture->n_streams; i++) {
            const SimNodes *front = &capture->streams[i]->front;
            for (size_t k = 0; k < front->n; k++) {
                joined = joined && reached[front->list[k]->index];
            }
        }
    }
    free(reached);
    return joined;
}

/* Ends the capture, under the context's lock: the streams run as usual again. The caller drops
 * their references, without the lock. */
static void end_capture(SimCapture *capture) {
    capture->ended = true;
    for (size_t i = 0; i < capture->n_streams; i++) {
        SimStream *stream = capture->streams[i];
        atomic_store(&stream->capture, NULL);
        stream->object.context->n_captured -= stream->blocking;
        free(stream->front.list);
        stream->front = (SimNodes){NULL, 0};
    }
    pthread_mutex_lock(&running_lock);
    for (SimCapture **link = &running; *link != NULL; link = &(*link)->next) {
        if (*link == capture) {
            *link = capture->next;
            atomic_fetch_sub(&n_running, 1);
            break;
        }
    }
    pthread_mutex_unlock(&running_lock);
}

static void drop_streams(SimCapture *capture) {
    size_t n = capture->n_streams;
    SimStream **streams = capture->streams;
    capture->streams = NULL;
    capture->n_streams = 0;
    for (size_t i = 0; i < n; i++) {
        sim_object_drop(streams[i]);
        capture_drop(capture);
    }
    free(streams);
}

void sim_capture_abandon(SimStream *stream) {
    SimContext *context = stream->object.context;
    pthread_mutex_lock(&context->lock);
    SimCapture *capture = atomic_load(&stream->capture);
    bool over = capture != NULL && capture->origin == stream;
    if (capture != NULL) {
        atomic_store(&capture->spoilt, true);
    }
    if (over) {
        atomic_fetch_add(&capture->references, 1);
        end_capture(capture);
    }
    pthread_mutex_unlock(&context->lock);
    if (over) {
        sim_object_close(capture->graph);
        drop_streams(capture);
        capture_drop(capture);
    }
}

CUresult cuStreamEndCapture(CUstream hStream, CUgraph *phGraph) {
    SIM_CALL(cuStreamEndCapture);
    CUresult status = CUDA_SUCCESS;
    SIM_NOT_NULL(phGraph);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimStream, stream, sim_stream_take(context, hStream, &stream));
    *phGraph = NULL;
    SimContext *owner = stream->object.context;
    pthread_mutex_lock(&owner->lock);
    SimCapture *capture = atomic_load(&stream->capture);
    if (capture == NULL) {
        status = sim_fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is not being captured");
    } else if (capture->origin != stream) {
        status = sim_fail(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
                          "the capture was begun on another stream");
    } else if (capture->mode != MODE_RELAXED && capture->thread != sim_this_thread()) {
        status = sim_fail(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
                          "the capture was begun in another thread");
    }
    if (status != CUDA_SUCCESS) {
        pthread_mutex_unlock(&owner->lock);
        return status;
    }
    if (atomic_load(&capture->spoilt)) {
        status = invalidated();
    } else if (!is_joined(capture)) {
        status = sim_fail(
            CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
            "a stream that took part was not waited for by the one where the capture began");
    }
    atomic_fetch_add(&capture->references, 1);
    end_capture(capture);
    pthread_mutex_unlock(&owner->lock);
    if (status == CUDA_SUCCESS) {
        *phGraph = (CUgraph)capture->graph->object.handle;
    } else {
        sim_object_close(capture->graph);
    }
    drop_streams(capture);
    capture_drop(capture);
    return status;
}

CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus) {
    SIM_CALL(cuStreamIsCapturing);
    SIM_NOT_NULL(captureStatus);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimStream, stream, sim_stream_take(context, hStream, &stream));
    pthread_mutex_lock(&stream->object.context->lock);
    SimCapture *capture = atomic_load(&stream->capture);
    *captureStatus = capture == NULL                 ? STATUS_NONE
                     : atomic_load(&capture->spoilt) ? STATUS_INVALIDATED
                                                     : STATUS_ACTIVE;
    pthread_mutex_unlock(&stream->object.context->lock);
    return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
    SIM_CALL(cuThreadExchangeStreamCaptureMode);
    SIM_NOT_NULL(mode);
    if (*mode < MODE_GLOBAL || *mode > MODE_RELAXED) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a stream_capture_mode", *mode);
    }
    CUstreamCaptureMode old = thread_mode;
    thread_mode = *mode;
    *mode = old;
    return CUDA_SUCCESS;
}
