/* context.c - contexts: each thread's current one, the objects and memory that they own, and their
 * state after a kernel fails. */
#include "simulator/device/memory.h"
#include "simulator/driver/capture.h"
#include "simulator/driver/context.h"
#include "simulator/driver/device.h"
#include "simulator/driver/driver.h"
#include "simulator/driver/function.h"
#include "simulator/driver/handle.h"
#include "simulator/driver/stream.h"
#include "simulator/driver/work.h"

#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 64

static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static SimContext *all;
static unsigned long long last_id;

static _Thread_local CUcontext stack[MAX_DEPTH];
static _Thread_local int depth;

/* ---- lookup ---------------------------------------------------------------------------------- */

CUresult sim_context_take(CUcontext handle, SimContext **out) {
    *out = handle != NULL ? sim_object_take((uintptr_t)handle, SIM_CONTEXT) : NULL;
    if (*out != NULL) {
        return CUDA_SUCCESS;
    }
    return sim_fail(CUDA_ERROR_INVALID_CONTEXT,
                    handle == NULL ? "the context is NULL"
                                   : "%p is not a context, or was destroyed",
                    (void *)handle);
}

CUresult sim_context_current_any(SimContext **out) {
    *out = NULL;
    if (depth == 0) {
        return sim_fail(CUDA_ERROR_INVALID_CONTEXT, "no context is current in this thread");
    }
    *out = sim_object_take((uintptr_t)stack[depth - 1], SIM_CONTEXT);
    if (*out == NULL) {
        return sim_fail(CUDA_ERROR_CONTEXT_IS_DESTROYED,
                        "this thread's current context was destroyed");
    }
    return CUDA_SUCCESS;
}

CUresult sim_context_current(SimContext **out) {
    SIM_TRY(sim_context_current_any(out));
    if (atomic_load_explicit(&(*out)->sticky, memory_order_acquire) != CUDA_SUCCESS) {
        return sim_fail_with(&(*out)->error); /* the caller's HELD variable drops the reference */
    }
    return CUDA_SUCCESS;
}

/* ---- failures -------------------------------------------------------------------------------- */

void sim_context_fail(SimContext *context, const SimError *error) {
    pthread_mutex_lock(&context->lock);
    if (!atomic_load(&context->failed)) {
        context->error = *error;
        context->error.text[sizeof(context->error.text) - 1] = '\0';
        atomic_store(&context->failed, true);
    }
    pthread_mutex_unlock(&context->lock);
}

CUresult sim_context_result(SimContext *context) {
    sim_output_flush();
    if (!atomic_load_explicit(&context->failed, memory_order_acquire)) {
        return CUDA_SUCCESS;
    }
    atomic_store(&context->sticky, context->error.code);
    return sim_fail_with(&context->error);
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* Finds a stream with pending work and takes a reference; NULL: there is none. only_blocking: only
 * those that the default stream waits for. */
static SimStream *busy_stream(SimContext *context, bool only_blocking) {
    SimStream *busy = NULL;
    pthread_mutex_lock(&context->lock);
    for (SimStream *stream = context->streams; stream != NULL && busy == NULL;
         stream = stream->next) {
        bool counts = stream->blocking || stream == context->legacy || !only_blocking;
        if (counts && !sim_stream_done(stream, atomic_load(&stream->submitted)) &&
            sim_object_try_keep(stream)) {
            busy = stream;
        }
    }
    pthread_mutex_unlock(&context->lock);
    return busy;
}

CUresult sim_context_wait(SimContext *context) {
    SimStream *busy;
    while ((busy = busy_stream(context, false)) != NULL) {
        sim_stream_wait(busy, atomic_load(&busy->submitted));
        sim_object_drop(busy);
    }
    while (atomic_load(&context->direct) > 0) { /* copies, which soon finish */
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
    return sim_context_result(context);
}

void sim_context_wait_default(SimContext *context) {
    SimStream *busy;
    while ((busy = busy_stream(context, true)) != NULL) {
        sim_stream_wait(busy, atomic_load(&busy->submitted));
        sim_object_drop(busy);
    }
}

bool sim_context_idle(SimContext *context) {
    SimStream *busy = busy_stream(context, true);
    sim_object_drop(busy);
    pthread_mutex_lock(&context->lock);
    bool captured = context->n_captured > 0;
    pthread_mutex_unlock(&context->lock);
    return busy == NULL && !captured;
}

bool sim_context_all_idle(SimContext *context) {
    SimStream *busy = busy_stream(context, false);
    sim_object_drop(busy);
    return busy == NULL && sim_context_idle(context);
}

/* Finds a stream whose work is held back, and takes a reference. */
static SimStream *held_back(void) {
    SimStream *found = NULL;
    pthread_mutex_lock(&all_lock);
    for (SimContext *context = all; context != NULL && found == NULL; context = context->next) {
        pthread_mutex_lock(&context->lock);
        for (SimStream *stream = context->streams; stream != NULL && found == NULL;
             stream = stream->next) {
            if (atomic_load(&stream->allowed) < atomic_load(&stream->submitted) &&
                sim_object_try_keep(stream)) {
                found = stream;
            }
        }
        pthread_mutex_unlock(&context->lock);
    }
    pthread_mutex_unlock(&all_lock);
    return found;
}

void sim_contexts_run_deferred(void) {
    SimStream *stream;
    while ((stream = held_back()) != NULL) {
        atomic_store(&stream->allowed, atomic_load(&stream->submitted));
        sim_queue_start(stream);
        sim_object_drop(stream);
    }
}

/* ---- creation and destruction ---------------------------------------------------------------- */

static void context_free(void *op) {
    SimContext *self = op;
    pthread_mutex_lock(&all_lock);
    if (self->previous != NULL) {
        self->previous->next = self->next;
    } else if (all == self) {
        all = self->next;
    }
    if (self->next != NULL) {
        self->next->previous = self->previous;
    }
    pthread_mutex_unlock(&all_lock);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

CUresult sim_context_new(CUdevice device, unsigned flags, bool primary, SimContext **out) {
    SimContext *self = calloc(1, sizeof(*self));
    if (self == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    self->device = device;
    self->flags = flags;
    self->primary = primary;
    self->api_version = 3020; /* the version of contexts made by cuCtxCreate_v2 */
    self->limits[0] = sim_stack_size();
    self->limits[1] = 1024 * 1024; /* the printf buffer */
    self->limits[2] = sim_heap_size();
    self->limits[3] = 2;
    self->limits[4] = 2048;
    pthread_mutex_init(&self->lock, NULL);
    CUresult status = sim_object_open(self, SIM_CONTEXT, NULL, context_free);
    if (status != CUDA_SUCCESS) {
        pthread_mutex_destroy(&self->lock);
        free(self);
        return status;
    }
    pthread_mutex_lock(&all_lock);
    self->id = ++last_id;
    self->next = all;
    if (all != NULL) {
        all->previous = self;
    }
    all = self;
    pthread_mutex_unlock(&all_lock);
    status = sim_stream_new(self, 0, 0, &self->legacy);
    if (status != CUDA_SUCCESS) {
        sim_object_close(self);
        sim_object_drop(self);
        return status;
    }
    *out = self;
    return CUDA_SUCCESS;
}

static SimObject *any_child(SimContext *self) {
    SimObject *child;
    pthread_mutex_lock(&self->lock);
    for (child = self->children; child != NULL; child = child->next) {
        if (sim_object_try_keep(child)) {
            break;
        }
    }
    pthread_mutex_unlock(&self->lock);
    return child;
}

CUresult sim_context_destroy(SimContext *self) {
    if (!sim_object_close(self)) {
        return sim_fail(CUDA_ERROR_INVALID_CONTEXT, "the context was destroyed already");
    }
    pthread_mutex_lock(&self->lock);
    self->dead = true;
    pthread_mutex_unlock(&self->lock);
    (void)sim_context_wait(self);
    SimObject *child;
    while ((child = any_child(self)) != NULL) {
        if (child->type == SIM_MODULE) {
            sim_driver_module_close((SimDriverModule *)child);
        } else if (child->type == SIM_STREAM) {
            sim_stream_close((SimStream *)child);
        } else {
            sim_object_close(child);
        }
        sim_object_drop(child);
    }
    pthread_mutex_lock(&self->lock);
    SimStream *legacy = self->legacy; /* the reference from sim_stream_new */
    self->legacy = NULL;
    pthread_mutex_unlock(&self->lock);
    sim_object_drop(legacy);
    sim_memory_free_context(sim_context_handle(self));
    return CUDA_SUCCESS;
}

#define ALL_FLAGS 0xff

CUresult cuCtxCreate(CUcontext *pctx, unsigned int flags, CUdevice dev) {
    SIM_CALL(cuCtxCreate);
    HELD SimContext *context = NULL;
    SIM_NOT_NULL(pctx);
    SIM_TRY(sim_device_check(dev));
    if ((flags & ~(unsigned)ALL_FLAGS) != 0 || (flags & 7) == 3 || (flags & 7) > 4) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "flags %#x are not context flags", flags);
    }
    if (depth == MAX_DEPTH) {
        return sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "this thread's stack of contexts is full (%d)",
                        MAX_DEPTH);
    }
    SIM_TRY(sim_context_new(dev, flags, false, &context));
    stack[depth++] = *pctx = sim_context_handle(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxDestroy(CUcontext ctx) {
    SIM_CALL(cuCtxDestroy);
    SIM_TAKE(SimContext, context, sim_context_take(ctx, &context));
    if (context->primary) {
        return sim_fail(CUDA_ERROR_INVALID_CONTEXT, "a primary context is released, not destroyed");
    }
    if (depth > 0 && stack[depth - 1] == ctx) {
        depth--;
    }
    return sim_context_destroy(context);
}

CUresult cuCtxPushCurrent(CUcontext ctx) {
    SIM_CALL(cuCtxPushCurrent);
    SIM_TAKE(SimContext, context, sim_context_take(ctx, &context));
    if (depth == MAX_DEPTH) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "this thread's stack of contexts is full (%d)",
                        MAX_DEPTH);
    }
    stack[depth++] = ctx;
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *pctx) {
    SIM_CALL(cuCtxPopCurrent);
    if (depth == 0) {
        return sim_fail(CUDA_ERROR_INVALID_CONTEXT, "no context is current in this thread");
    }
    depth--;
    if (pctx != NULL) {
        *pctx = stack[depth];
    }
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext ctx) {
    SIM_CALL(cuCtxSetCurrent);
    if (ctx == NULL) {
        depth -= depth > 0;
        return CUDA_SUCCESS;
    }
    SIM_TAKE(SimContext, context, sim_context_take(ctx, &context));
    depth += depth == 0;
    stack[depth - 1] = ctx;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *pctx) {
    SIM_CALL(cuCtxGetCurrent);
    SIM_NOT_NULL(pctx);
    *pctx = depth > 0 ? stack[depth - 1] : NULL;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
    SIM_CALL(cuCtxGetDevice);
    SIM_NOT_NULL(device);
    SIM_TAKE(SimContext, context, sim_context_current_any(&context));
    *device = context->device;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned int *flags) {
    SIM_CALL(cuCtxGetFlags);
    SIM_NOT_NULL(flags);
    SIM_TAKE(SimContext, context, sim_context_current_any(&context));
    *flags = context->flags;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext ctx, unsigned long long *ctxId) {
    SIM_CALL(cuCtxGetId);
    SIM_NOT_NULL(ctxId);
    SIM_TAKE(SimContext, context,
             ctx != NULL ? sim_context_take(ctx, &context) : sim_context_current_any(&context));
    *ctxId = context->id;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int *version) {
    SIM_CALL(cuCtxGetApiVersion);
    SIM_NOT_NULL(version);
    SIM_TAKE(SimContext, context,
             ctx != NULL ? sim_context_take(ctx, &context) : sim_context_current_any(&context));
    *version = context->api_version;
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void) {
    SIM_CALL(cuCtxSynchronize);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TRY(sim_capture_forbid(context, "cuCtxSynchronize"));
    return sim_context_wait(context);
}
