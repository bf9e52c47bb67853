/* queue.c - the work of streams, and the threads that do it.
 *
 * A queue has one writer (who holds the context's lock) and one reader. It is a list in which
 * finished commands stay in front and are reused, so that neither side allocates or waits for the
 * other. A stream with pending work has one thread. When the work is done, the thread looks for
 * more for a moment (so that the next launch costs its caller no system call) and then returns to
 * the pool. */
#include "simulator/driver/context.h"
#include "simulator/driver/handle.h"
#include "simulator/driver/stream.h"
#include "simulator/driver/work.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define SPIN_RUNNER 50000u  /* [ns] an idle thread looks for work before it returns to the pool */
#define SPIN_WAITER 20000u  /* [ns] a waiting caller polls before it sleeps */
#define SPIN_ALONE  2000u   /* [ns] both poll without yielding to others */
#define MOST_AHEAD  100000u /* commands of a stream before its caller is slowed down: some 50 MB */

typedef struct Runner {
    pthread_cond_t wake;
    SimStream *stream; /* set by the thread that wakes it, counted */
    struct Runner *next;
} Runner;

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static Runner *idle_runners;
static int n_idle;
#define MAX_IDLE 16 /* further idle threads end */

static inline void cpu_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

CUresult sim_queue_init(SimStream *stream) {
    SimCommand *done = calloc(1, sizeof(*done)); /* the list always has a finished command */
    if (done == NULL) {
        return sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "the machine has no memory left");
    }
    stream->tail = stream->spare = done;
    atomic_store(&stream->head, done);
    atomic_store(&stream->allowed, sim_deferred() ? 0 : UINT64_MAX);
    pthread_mutex_init(&stream->wait_lock, NULL);
    pthread_cond_init(&stream->wait_changed, NULL);
    return CUDA_SUCCESS;
}

void sim_queue_free(SimStream *stream) {
    for (SimCommand *command = stream->spare, *next; command != NULL; command = next) {
        next = atomic_load(&command->next);
        free(command);
    }
    pthread_cond_destroy(&stream->wait_changed);
    pthread_mutex_destroy(&stream->wait_lock);
}

CUresult sim_queue_push(SimStream *stream, SimWork *work, SimAfter *after, int n_after,
                        uint64_t *sequence) {
    SimCommand *command = stream->spare;
    if (command != atomic_load_explicit(&stream->head, memory_order_acquire)) {
        stream->spare = atomic_load_explicit(&command->next, memory_order_relaxed);
    } else if ((command = malloc(sizeof(*command))) == NULL) {
        return sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "the machine has no memory left");
    }
    uint64_t number = atomic_load_explicit(&stream->submitted, memory_order_relaxed) + 1;
    atomic_store_explicit(&command->next, NULL, memory_order_relaxed);
    command->sequence = number;
    command->origin = sim_next_origin();
    command->after = after;
    command->n_after = n_after;
    sim_work_move(&command->work, work);
    atomic_store_explicit(&stream->tail->next, command, memory_order_release);
    stream->tail = command;
    atomic_store(&stream->submitted, number);
    if (sequence != NULL) {
        *sequence = number;
    }
    return CUDA_SUCCESS;
}

/* ---- running --------------------------------------------------------------------------------- */

static SimCommand *next_command(SimStream *stream) {
    SimCommand *head = atomic_load_explicit(&stream->head, memory_order_relaxed);
    SimCommand *next = atomic_load_explicit(&head->next, memory_order_seq_cst);
    return next != NULL && next->sequence <= atomic_load(&stream->allowed) ? next : NULL;
}

static SimCommand *look_for_command(SimStream *stream) {
    SimCommand *command = next_command(stream);
    if (command != NULL || sim_deferred()) {
        return command;
    }
    for (uint64_t start = sim_now(), now = start; command == NULL && now - start < SPIN_RUNNER;
         now = sim_now()) {
        if (now - start > SPIN_ALONE) {
            sched_yield(); /* the thread with the work may be waiting for this core */
        }
        for (int i = 0; i < 16 && command == NULL; i++) {
            cpu_relax();
            command = next_command(stream);
        }
    }
    return command;
}

static void run_command(SimStream *stream, SimCommand *command) {
    SimContext *context = stream->object.context;
    for (int i = 0; i < command->n_after; i++) {
        sim_stream_wait(command->after[i].stream, command->after[i].sequence);
        sim_object_drop(command->after[i].stream);
    }
    free(command->after);
    SimWork *work = &command->work;
    /* After a failure nothing more runs, but memory is freed and callbacks are called. */
    if (!atomic_load(&context->failed) || work->kind == WORK_FREE || work->kind == WORK_CALLBACK) {
        SimError error = {.code = CUDA_SUCCESS};
        CUresult status = sim_work_run(work, context, command->origin, &error);
        if (status != CUDA_SUCCESS) {
            error.code = status;
            sim_context_fail(context, &error);
        }
    }
    sim_work_clear(work);
    atomic_store_explicit(&stream->head, command, memory_order_release);
    atomic_store(&stream->completed, command->sequence);
    if (atomic_load(&stream->waiters) > 0) {
        pthread_mutex_lock(&stream->wait_lock);
        pthread_cond_broadcast(&stream->wait_changed);
        pthread_mutex_unlock(&stream->wait_lock);
    }
}

/* Runs commands until none are left; drops the caller's reference. */
static void run_stream(SimStream *stream) {
    for (;;) {
        SimCommand *command = look_for_command(stream);
        if (command != NULL) {
            run_command(stream, command);
            continue;
        }
        atomic_store(&stream->running, 0);
        int idle = 0;
        /* The writer pushes, then checks running; a thread that stops clears running, then checks
         * the queue. So one of the two sees the other. */
        if (next_command(stream) == NULL ||
            !atomic_compare_exchange_strong(&stream->running, &idle, 1)) {
            break;
        }
    }
    sim_object_drop(stream);
}

static void *runner_main(void *argument) {
    Runner self = {.stream = argument};
    pthread_cond_init(&self.wake, NULL);
    bool more = true;
    while (more) {
        run_stream(self.stream);
        self.stream = NULL;
        pthread_mutex_lock(&pool_lock);
        more = n_idle < MAX_IDLE;
        if (more) {
            self.next = idle_runners;
            idle_runners = &self;
            n_idle++;
            while (self.stream == NULL) {
                pthread_cond_wait(&self.wake, &pool_lock);
            }
        }
        pthread_mutex_unlock(&pool_lock);
    }
    pthread_cond_destroy(&self.wake);
    return NULL;
}

void sim_queue_start(SimStream *stream) {
    int idle = 0;
    if (atomic_load(&stream->running) != 0 ||
        !atomic_compare_exchange_strong(&stream->running, &idle, 1)) {
        return;
    }
    sim_object_keep(stream);
    pthread_mutex_lock(&pool_lock);
    Runner *runner = idle_runners;
    if (runner != NULL) {
        idle_runners = runner->next;
        n_idle--;
        runner->stream = stream;
        pthread_cond_signal(&runner->wake);
    }
    pthread_mutex_unlock(&pool_lock);
    if (runner != NULL) {
        return;
    }
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&thread, &attributes, runner_main, stream) != 0) {
        run_stream(stream); /* the system has no more threads: run it in this one */
    }
    pthread_attr_destroy(&attributes);
}

/* Limits the memory that a caller uses who submits faster than kernels run. Each call waits for a
 * bounded time only, because the queue may be waiting for what the caller does next, or for a lock
 * that it holds. */
void sim_queue_throttle(SimStream *stream) {
    uint64_t ahead = atomic_load_explicit(&stream->submitted, memory_order_relaxed) - MOST_AHEAD;
    for (int i = 0; i < 20 && (int64_t)ahead > 0 && !sim_stream_done(stream, ahead); i++) {
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
}

/* ---- waiting --------------------------------------------------------------------------------- */

void sim_stream_wait(SimStream *stream, uint64_t sequence) {
    if (sim_stream_done(stream, sequence)) {
        return;
    }
    if (sim_deferred()) {
        sim_contexts_run_deferred();
    }
    bool sleep_at_once = (stream->object.context->flags & 4) != 0; /* SCHED_BLOCKING_SYNC */
    for (uint64_t start = sim_now(), now = start; !sleep_at_once && now - start < SPIN_WAITER;
         now = sim_now()) {
        if (now - start > SPIN_ALONE) {
            sched_yield();
        }
        for (int i = 0; i < 16; i++) {
            cpu_relax();
            if (sim_stream_done(stream, sequence)) {
                return;
            }
        }
    }
    pthread_mutex_lock(&stream->wait_lock);
    atomic_fetch_add(&stream->waiters, 1);
    while (atomic_load(&stream->completed) < sequence) {
        pthread_cond_wait(&stream->wait_changed, &stream->wait_lock);
    }
    atomic_fetch_sub(&stream->waiters, 1);
    pthread_mutex_unlock(&stream->wait_lock);
}
