/* stream.c - streams: creation, ordering, submission of work, waiting. */
#include "simulator/driver/capture.h"
#include "simulator/driver/context.h"
#include "simulator/driver/driver.h"
#include "simulator/driver/handle.h"
#include "simulator/driver/stream.h"
#include "simulator/driver/work.h"

#include <stdlib.h>
#include <string.h>

static _Atomic uint64_t last_thread;
static _Thread_local uint64_t this_thread, requests;

uint64_t sim_this_thread(void) {
    if (this_thread == 0) {
        this_thread = atomic_fetch_add(&last_thread, 1) + 1;
    }
    return this_thread;
}

SimOrigin sim_next_origin(void) {
    return (SimOrigin){sim_this_thread(), ++requests};
}

SimOrigin sim_last_origin(void) {
    return (SimOrigin){sim_this_thread(), requests};
}

static void stream_free(void *op) {
    SimStream *self = op;
    SimContext *context = self->object.context;
    pthread_mutex_lock(&context->lock);
    if (self->previous != NULL) {
        self->previous->next = self->next;
    } else if (context->streams == self) {
        context->streams = self->next;
    }
    if (self->next != NULL) {
        self->next->previous = self->previous;
    }
    pthread_mutex_unlock(&context->lock);
    for (int i = 0; i < self->n_after; i++) {
        sim_object_drop(self->after[i].stream);
    }
    free(self->after);
    sim_queue_free(self);
    free(self);
}

CUresult sim_stream_new(SimContext *context, unsigned flags, int priority, SimStream **out) {
    SimStream *self = calloc(1, sizeof(*self));
    if (self == NULL) {
        return sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "the machine has no memory left");
    }
    self->flags = flags;
    self->blocking = (flags & CU_STREAM_NON_BLOCKING) == 0;
    self->priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
    CUresult status = sim_queue_init(self);
    if (status != CUDA_SUCCESS) {
        free(self);
        return status;
    }
    status = sim_object_open(self, SIM_STREAM, context, stream_free);
    if (status != CUDA_SUCCESS) {
        sim_queue_free(self);
        free(self);
        return status;
    }
    pthread_mutex_lock(&context->lock);
    self->next = context->streams;
    if (self->next != NULL) {
        self->next->previous = self;
    }
    context->streams = self;
    pthread_mutex_unlock(&context->lock);
    *out = self;
    return CUDA_SUCCESS;
}

/* This thread's default stream, which handle 2 stands for; created at first use. */
static CUresult take_per_thread(SimContext *context, SimStream **out) {
    uint64_t thread = sim_this_thread();
    *out = NULL;
    pthread_mutex_lock(&context->lock);
    for (SimStream *stream = context->streams; stream != NULL && *out == NULL;
         stream = stream->next) {
        if (stream->thread == thread && sim_object_try_keep(stream)) {
            *out = stream;
        }
    }
    pthread_mutex_unlock(&context->lock);
    if (*out == NULL) {
        SIM_TRY(sim_stream_new(context, 0, 0, out)); /* the table's reference keeps it until the
                                                      * context is destroyed */
        pthread_mutex_lock(&context->lock);
        (*out)->thread = thread;
        pthread_mutex_unlock(&context->lock);
    }
    return CUDA_SUCCESS;
}

CUresult sim_stream_take(SimContext *context, CUstream handle, SimStream **out) {
    if (handle == NULL || handle == CU_STREAM_LEGACY) {
        pthread_mutex_lock(&context->lock);
        *out = context->legacy != NULL ? sim_object_keep(context->legacy) : NULL;
        pthread_mutex_unlock(&context->lock);
        return *out != NULL ? CUDA_SUCCESS
                            : sim_fail(CUDA_ERROR_CONTEXT_IS_DESTROYED,
                                       "the context was destroyed by another thread");
    }
    if (handle == CU_STREAM_PER_THREAD) {
        return take_per_thread(context, out);
    }
    *out = sim_object_take((uintptr_t)handle, SIM_STREAM);
    if (*out == NULL) {
        return sim_fail(CUDA_ERROR_INVALID_HANDLE, "%p is not a stream, or was destroyed",
                        (void *)handle);
    }
    if (atomic_load(&(*out)->object.context->sticky) != CUDA_SUCCESS) {
        return sim_fail_with(&(*out)->object.context->error);
    }
    return CUDA_SUCCESS;
}

/* ---- order ----------------------------------------------------------------------------------- */

typedef struct {
    SimAfter *list;
    int n;
} Afters;

/* Needs the lock of the waiting stream's context. If other has no references left, it has no work
 * left either. */
static CUresult add_after(Afters *afters, SimStream *other, uint64_t sequence) {
    if (sim_stream_done(other, sequence)) {
        return CUDA_SUCCESS;
    }
    SimAfter *list = realloc(afters->list, sizeof(*list) * (size_t)(afters->n + 1));
    if (list == NULL) {
        return sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "the machine has no memory left");
    }
    afters->list = list;
    if (sim_object_try_keep(other)) {
        list[afters->n++] = (SimAfter){other, sequence};
    }
    return CUDA_SUCCESS;
}

CUresult sim_stream_after(SimStream *stream, SimStream *other, uint64_t sequence) {
    Afters afters;
    if (stream == other) {
        return CUDA_SUCCESS;
    }
    pthread_mutex_lock(&stream->object.context->lock);
    afters = (Afters){stream->after, stream->n_after};
    CUresult status = add_after(&afters, other, sequence);
    stream->after = afters.list;
    stream->n_after = afters.n;
    pthread_mutex_unlock(&stream->object.context->lock);
    return status;
}

/* The default stream waits for all blocking streams, and they wait for it. */
static CUresult add_implicit(Afters *afters, SimStream *stream) {
    SimContext *context = stream->object.context;
    if (stream == context->legacy) {
        for (SimStream *other = context->streams; other != NULL; other = other->next) {
            if (other->blocking && other != stream) {
                SIM_TRY(add_after(afters, other, atomic_load(&other->submitted)));
            }
        }
    } else if (stream->blocking && context->legacy != NULL) {
        SIM_TRY(add_after(afters, context->legacy, atomic_load(&context->legacy->submitted)));
    }
    return CUDA_SUCCESS;
}

CUresult sim_stream_submit(SimStream *stream, SimWork *work, uint64_t *sequence) {
    SimContext *context = stream->object.context;
    CUresult status = CUDA_SUCCESS;
    pthread_mutex_lock(&context->lock);
    if (stream->capture != NULL) {
        pthread_mutex_unlock(&context->lock);
        return sim_capture_work(stream, work);
    }
    if (stream == context->legacy && context->n_captured > 0) {
        pthread_mutex_unlock(&context->lock);
        sim_work_clear(work);
        return sim_capture_forbid_stream(stream, "work on the default stream");
    }
    if (context->dead) {
        status = sim_fail(CUDA_ERROR_CONTEXT_IS_DESTROYED,
                          "the context was destroyed by another thread");
    } else {
        Afters afters = {stream->after, stream->n_after};
        status = add_implicit(&afters, stream);
        stream->after = afters.list;
        stream->n_after = afters.n;
        if (status == CUDA_SUCCESS) {
            status = sim_queue_push(stream, work, stream->after, stream->n_after, sequence);
        }
        if (status == CUDA_SUCCESS) {
            stream->after = NULL;
            stream->n_after = 0;
        }
    }
    pthread_mutex_unlock(&context->lock);
    if (status != CUDA_SUCCESS) {
        sim_work_clear(work);
        return status;
    }
    if (!sim_deferred()) {
        sim_queue_start(stream);
        sim_queue_throttle(stream);
    }
    return CUDA_SUCCESS;
}

CUresult sim_stream_do(SimStream *stream, SimWork *work) {
    SimContext *context = stream->object.context;
    pthread_mutex_lock(&context->lock);
    bool idle = sim_stream_done(stream, atomic_load(&stream->submitted)) && stream->n_after == 0;
    pthread_mutex_unlock(&context->lock);
    if (idle && stream->blocking) {
        idle = sim_context_idle(context);
    }
    if (!idle) {
        uint64_t sequence = 0; /* fixed even if another thread begins to capture the stream now */
        SIM_TRY(sim_stream_submit(stream, work, &sequence));
        sim_stream_wait(stream, sequence);
        return sim_context_result(context);
    }
    SimError error = {.code = CUDA_SUCCESS};
    CUresult status = sim_context_result(context);
    if (status == CUDA_SUCCESS) {
        atomic_fetch_add(&context->direct, 1);
        status = sim_work_run(work, context, sim_next_origin(), &error);
        atomic_fetch_sub(&context->direct, 1);
        if (status != CUDA_SUCCESS) {
            error.code = status;
            status = sim_fail_with(&error);
        }
    }
    sim_work_clear(work);
    return status;
}

static bool is_default(CUstream handle) {
    return handle == NULL || handle == CU_STREAM_LEGACY;
}

/* ---- the calls ------------------------------------------------------------------------------- */

static CUresult create(CUstream *phStream, unsigned flags, int priority) {
    HELD SimStream *stream = NULL;
    SIM_NOT_NULL(phStream);
    if ((flags & ~(unsigned)CU_STREAM_NON_BLOCKING) != 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "flags %#x are not stream flags", flags);
    }
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TRY(sim_stream_new(context, flags, priority, &stream));
    *phStream = (CUstream)stream->object.handle;
    return CUDA_SUCCESS;
}

CUresult cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority) {
    SIM_CALL(cuStreamCreateWithPriority);
    return create(phStream, flags, priority);
}

CUresult cuStreamCreate(CUstream *phStream, unsigned int Flags) {
    SIM_CALL(cuStreamCreate);
    return create(phStream, Flags, 0);
}

void sim_stream_close(SimStream *stream) {
    sim_capture_abandon(stream);
    sim_object_close(stream);
}

/* Does not wait: queued work still runs. */
CUresult cuStreamDestroy(CUstream hStream) {
    SIM_CALL(cuStreamDestroy);
    HELD SimStream *stream = NULL;
    if (hStream == NULL || hStream == CU_STREAM_LEGACY || hStream == CU_STREAM_PER_THREAD) {
        return sim_fail(CUDA_ERROR_INVALID_HANDLE, "the default streams cannot be destroyed");
    }
    stream = sim_object_take((uintptr_t)hStream, SIM_STREAM);
    if (stream == NULL) {
        return sim_fail(CUDA_ERROR_INVALID_HANDLE, "%p is not a stream, or was destroyed",
                        (void *)hStream);
    }
    if (sim_deferred()) {
        sim_contexts_run_deferred();
    }
    sim_stream_close(stream);
    return CUDA_SUCCESS;
}

CUresult cuStreamGetPriority(CUstream hStream, int *priority) {
    SIM_CALL(cuStreamGetPriority);
    SIM_NOT_NULL(priority);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimStream, stream, sim_stream_take(context, hStream, &stream));
    *priority = stream->priority;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetFlags(CUstream hStream, unsigned int *flags) {
    SIM_CALL(cuStreamGetFlags);
    SIM_NOT_NULL(flags);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimStream, stream, sim_stream_take(context, hStream, &stream));
    *flags = stream->flags;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream hStream, CUcontext *pctx) {
    SIM_CALL(cuStreamGetCtx);
    SIM_NOT_NULL(pctx);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimStream, stream, sim_stream_take(context, hStream, &stream));
    *pctx = sim_context_handle(stream->object.context);
    return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream hStream) {
    SIM_CALL(cuStreamSynchronize);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimStream, stream, sim_stream_take(context, hStream, &stream));
    SIM_TRY(sim_capture_forbid_stream(stream, "cuStreamSynchronize"));
    sim_stream_wait(stream, atomic_load(&stream->submitted));
    if (is_default(hStream)) { /* it is done when the streams that it waits for are */
        sim_context_wait_default(context);
    }
    return sim_context_result(stream->object.context);
}

CUresult cuStreamQuery(CUstream hStream) {
    SIM_CALL(cuStreamQuery);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimStream, stream, sim_stream_take(context, hStream, &stream));
    SIM_TRY(sim_capture_forbid_stream(stream, "cuStreamQuery"));
    if (!sim_stream_done(stream, atomic_load(&stream->submitted)) ||
        (is_default(hStream) && !sim_context_idle(context))) {
        if (sim_deferred()) { /* or polling would never end */
            sim_contexts_run_deferred();
        }
        return CUDA_ERROR_NOT_READY;
    }
    return sim_context_result(stream->object.context);
}

CUresult cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length,
                                unsigned int flags) {
    SIM_CALL(cuStreamAttachMemAsync);
    SimBlock block;
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimStream, stream, sim_stream_take(context, hStream, &stream));
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST &&
        flags != CU_MEM_ATTACH_SINGLE) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "flags %#x are not a single attach flag", flags);
    }
    if (!sim_memory_find((uintptr_t)dptr, &block) || block.kind != SIM_MANAGED) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%#llx is not managed memory", dptr);
    }
    if (length != 0 && ((uintptr_t)dptr != block.base || length != block.size)) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "length %zu is neither 0 nor that of the whole allocation, %zu", length,
                        block.size);
    }
    if (flags == CU_MEM_ATTACH_SINGLE &&
        (hStream == NULL || hStream == CU_STREAM_LEGACY || hStream == CU_STREAM_PER_THREAD)) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "memory cannot be attached to a default stream alone");
    }
    return sim_stream_submit(stream, &(SimWork){.kind = WORK_EMPTY}, NULL);
}
