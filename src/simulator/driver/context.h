/* context.h - contexts: what belongs to one, and the failure that breaks it. */
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
    bool dead; /* is being destroyed: takes no work. Under lock, as all below */
    pthread_mutex_t lock;
    SimObject *children;
    SimStream *streams; /* all that live, closed or not; linked by SimStream.next */
    int n_captured;     /* streams in step with the default one that are being captured */
    SimStream *legacy;  /* the default stream, counted; NULL once the context is destroyed */
    size_t limits[16];
    CUfunc_cache cache_config;
    CUsharedconfig shared_config;
    unsigned long long peers;    /* one bit for each device that was enabled */
    SimContext *next, *previous; /* all contexts, under a lock of context.c */
    _Atomic int direct;          /* threads that do work themselves: sim_stream_do() */
    _Atomic bool failed;         /* some work failed: error says how, what is queued is skipped */
    _Atomic CUresult sticky;     /* ... and somebody waited and was told: now each call says so */
    SimError error;
};

/* The current context of this thread, with a reference; fails if there is none, if it is destroyed
 * or broken. */
CUresult sim_context_current(SimContext **out);
/* The same where a broken context may still answer. */
CUresult sim_context_current_any(SimContext **out);
CUresult sim_context_take(CUcontext handle, SimContext **out);
CUresult sim_context_new(CUdevice device, unsigned flags, bool primary, SimContext **out);
/* Waits for its work, closes what belongs to it, frees its memory. */
CUresult sim_context_destroy(SimContext *context);
/* What a call that waited returns: the failure of earlier work, if there was one. From then on it
 * sticks. */
CUresult sim_context_settle(SimContext *context);
/* A piece of work failed; the first one counts. */
void sim_context_fail(SimContext *context, const SimError *error);
/* Waits for all streams of the context. */
CUresult sim_context_wait(SimContext *context);
/* Waits for its default stream and those that this waits for. */
void sim_context_wait_default(SimContext *context);
/* Nothing is queued, running or being captured on its default stream and those that this waits
 * for. */
bool sim_context_idle(SimContext *context);
bool sim_context_still(SimContext *context); /* the same, with streams that block nobody */
void sim_contexts_kick(void);                /* deferred mode: what is queued anywhere may run */

static inline CUcontext sim_context_handle(const SimContext *context) {
    return (CUcontext)context->object.handle;
}

static inline SimOwner sim_context_owner(const SimContext *context) {
    return (SimOwner){sim_context_handle(context), context->device};
}

#endif
