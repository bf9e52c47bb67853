/* stream.h - streams and their queues: stream.c has the calls, queue.c runs the queued work. */
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
    SimOrigin origin;
    int n_after;
    SimAfter *after; /* runs after these are done */
    SimWork work;
} SimCommand;

struct SimStream {
    SimObject object;
    unsigned flags;
    int priority;
    bool blocking;              /* ordered with the legacy default stream */
    SimStream *next, *previous; /* in its context */
    uint64_t thread;            /* the thread whose per-thread default stream it is; 0: none */
    /* for the writer, under the context's lock */
    SimCommand *tail, *spare; /* finished commands from spare to head are reused */
    int n_after;              /* counts of commands that wait for events or for the next command */
    SimAfter *after;
    _Atomic(SimCapture *) capture; /* counted; NULL: runs as usual */
    SimNodes front;                /* the dependencies of the next captured node */
    _Atomic uint64_t submitted;
    char apart_[64];
    /* for the reader */
    _Atomic(SimCommand *) head; /* the last finished command */
    _Atomic uint64_t completed;
    _Atomic uint64_t allowed; /* deferred mode: the last command that may run */
    _Atomic int running;      /* whether a thread runs it */
    _Atomic int waiters;
    pthread_mutex_t wait_lock;
    pthread_cond_t wait_changed;
};

CUresult sim_stream_new(SimContext *context, unsigned flags, int priority, SimStream **out);
/* Returns a handle's stream with a reference; accepts the special handles 0, 1 and 2. */
CUresult sim_stream_take(SimContext *context, CUstream handle, SimStream **out);
/* Queues work, or adds it to the graph if the stream is captured. Takes over the work's contents,
 * even if it fails. sequence may be NULL. */
CUresult sim_stream_submit(SimStream *stream, SimWork *work, uint64_t *sequence);
/* Makes the next command of stream run after sequence of other. */
CUresult sim_stream_after(SimStream *stream, SimStream *other, uint64_t sequence);
/* Waits until sequence is done. */
void sim_stream_wait(SimStream *stream, uint64_t sequence);
static inline bool sim_stream_done(SimStream *stream, uint64_t sequence) {
    return atomic_load_explicit(&stream->completed, memory_order_acquire) >= sequence;
}
/* Submits work and waits; runs it in this thread if nothing precedes it. */
CUresult sim_stream_do(SimStream *stream, SimWork *work);

/* The origin of this thread's last request for work; the first makes a new one. */
SimOrigin sim_next_origin(void);
SimOrigin sim_last_origin(void);

/* Adds a command to the queue. Needs the context's lock. */
CUresult sim_queue_push(SimStream *stream, SimWork *work, SimAfter *after, int n_after,
                        uint64_t *sequence);
void sim_queue_start(SimStream *stream);
void sim_queue_throttle(SimStream *stream); /* makes a caller who is far ahead wait a little */
void sim_stream_close(SimStream *stream);
CUresult sim_queue_init(SimStream *stream);
void sim_queue_free(SimStream *stream);

#endif
