/* stream.h - streams and their queues: stream.c has the calls, queue.c runs what is queued. */
#ifndef PYGPU_SIM_STREAM_H
#define PYGPU_SIM_STREAM_H

#include <pthread.h>
#include <stdatomic.h>

#include "simulator/driver/graph.h"

typedef struct SimCapture SimCapture;
typedef struct SimStream SimStream;

typedef struct {
    SimStream *stream; /* counted */
    uint64_t sequence;
} SimAfter;

typedef struct SimCommand {
    _Atomic(struct SimCommand *) next;
    uint64_t sequence;
    int n_after;
    SimAfter *after; /* runs when these are done */
    SimWork work;
} SimCommand;

struct SimStream {
    SimObject object;
    unsigned flags;
    int priority;
    bool blocking;              /* in step with the legacy default stream */
    SimStream *next, *previous; /* in its context */
    uint64_t thread;            /* of which thread it is the per-thread default, 0: of none */
    /* who submits, under the context's lock */
    SimCommand *tail, *spare; /* commands from spare to head are done and get used again */
    int n_after;              /* waits for events, for the next command */
    SimAfter *after;
    _Atomic(SimCapture *) capture; /* counted; NULL: runs as usual */
    SimNodes front;                /* what the next captured node depends on */
    _Atomic uint64_t submitted;
    char apart_[64];
    /* who runs it */
    _Atomic(SimCommand *) head; /* the last one that is done */
    _Atomic uint64_t completed;
    _Atomic uint64_t allowed; /* deferred mode: the last one that may run */
    _Atomic int running;      /* a thread works on it */
    _Atomic int waiters;
    pthread_mutex_t wait_lock;
    pthread_cond_t wait_changed;
};

CUresult sim_stream_new(SimContext *context, unsigned flags, int priority, SimStream **out);
/* The stream of a handle, of the special ones 0, 1 and 2 too, with a reference. */
CUresult sim_stream_take(SimContext *context, CUstream handle, SimStream **out);
/* Queues work (its contents go over to the queue, also on failure) behind what the stream has, and
 * adds it to the graph if the stream is captured. sequence may be NULL. */
CUresult sim_stream_submit(SimStream *stream, SimWork *work, uint64_t *sequence);
/* The next command of stream runs after sequence of other. */
CUresult sim_stream_after(SimStream *stream, SimStream *other, uint64_t sequence);
/* Returns when sequence is done. */
void sim_stream_wait(SimStream *stream, uint64_t sequence);
static inline bool sim_stream_done(SimStream *stream, uint64_t sequence) {
    return atomic_load_explicit(&stream->completed, memory_order_acquire) >= sequence;
}
/* Submits and waits; runs in this thread if nothing is in the way. */
CUresult sim_stream_do(SimStream *stream, SimWork *work);

/* Under the context's lock: adds a command to the queue. */
CUresult sim_queue_push(SimStream *stream, SimWork *work, SimAfter *after, int n_after,
                        uint64_t *sequence);
void sim_queue_start(SimStream *stream);
void sim_queue_brake(SimStream *stream); /* lets a caller who is far ahead wait a little */
void sim_stream_close(SimStream *stream);
CUresult sim_queue_init(SimStream *stream);
void sim_queue_free(SimStream *stream);

#endif
