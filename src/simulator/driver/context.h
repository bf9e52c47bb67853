/* context.h - contexts: the objects that they own, and the failure that breaks one. */
#ifndef PYGPU_SIM_CONTEXT_H
#define PYGPU_SIM_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>

#include "simulator/driver/handle.h"
#include "simulator/device/memory.h"

typedef struct SimStream SimStream;

struct SimContext {
    SimObject object;
    CUdevice device;
    unsigned flags, api_version;
    unsigned long long id;
    bool primary;
    bool dead; /* being destroyed: accepts no work. Protected by lock, as all below */
    pthread_mutex_t lock;
    SimObject *children;
    SimStream *streams; /* all live ones, closed or not; linked by SimStream.next */
    int n_captured;     /* blocking streams that are being captured */
    SimStream *legacy;  /* the default stream, counted; NULL once the context is destroyed */
    size_t limits[16];
    CUfunc_cache cache_config;
    CUsharedconfig shared_config;
    unsigned long long peers;    /* one bit per device with access enabled */
    SimContext *next, *previous; /* list of all contexts, under a lock in context.c */
    _Atomic int direct;          /* threads that run work themselves: sim_stream_do() */
    _Atomic bool failed;         /* some work failed: error has the reason, queued work is
                                  * skipped */
    _Atomic CUresult sticky;     /* ... and a waiting caller got the error: from now on each call
                                  * returns it */
    SimError error;
};

/* Returns this thread's current context with a reference. Fails if there is none, or if it is
 * destroyed or broken. */
CUresult sim_context_current(SimContext **out);
/* The same for calls that work in a broken context. */
CUresult sim_context_current_any(SimContext **out);
CUresult sim_context_take(CUcontext handle, SimContext **out);
CUresult sim_context_new(CUdevice device, unsigned flags, bool primary, SimContext **out);
/* Waits for the context's work, closes its objects, frees its memory. */
CUresult sim_context_destroy(SimContext *context);
/* The result of a call that waited: the failure of earlier work, if any, which is sticky from then
 * on. */
CUresult sim_context_result(SimContext *context);
/* Records that work failed; only the first failure counts. */
void sim_context_fail(SimContext *context, const SimError *error);
/* Waits for all streams of the context. */
CUresult sim_context_wait(SimContext *context);
/* Waits for the default stream and the streams that it waits for. */
void sim_context_wait_default(SimContext *context);
/* Whether nothing is queued, running or being captured on the default stream and the streams that
 * it waits for. */
bool sim_context_idle(SimContext *context);
bool sim_context_all_idle(SimContext *context); /* the same for all streams, including non-blocking
                                                 * ones */
void sim_contexts_run_deferred(void);           /* in deferred mode, lets all queued work run */

static inline CUcontext sim_context_handle(const SimContext *context) {
    return (CUcontext)context->object.handle;
}

static inline SimOwner sim_context_owner(const SimContext *context) {
    return (SimOwner){sim_context_handle(context), context->device};
}

#endif
