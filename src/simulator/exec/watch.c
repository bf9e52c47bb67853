/* watch.c - stops kernels that run too long, or that the program has interrupted. For the first,
 * one thread, started with the first launch under a limit, checks all running launches. The threads
 * of launches to be stopped get a signal. Its handler (diag.c) acts when the kernel's own code
 * runs, so the signal is repeated. */
#include <stdio.h>
#include <time.h>

#include "simulator/exec/exec.h"

static pthread_mutex_t watch_lock = PTHREAD_MUTEX_INITIALIZER;
static Worker *watched;
static bool watching;
/* The launches to be stopped: of this thread, up to this number. */
static _Atomic uint64_t last_thread, last_number;
static char stopped[1000]; /* the message of the first one stopped, under watch_lock */

static double now(void) {
    return (double)runtime_nanoseconds() * 1e-9;
}

/* Signals the workers that were told to stop. Needs the lock. */
static void signal_workers(void) {
    for (Worker *worker = watched; worker != NULL; worker = worker->watched_next) {
        if (worker->stop == STOP_NONE)
            continue;
        if (worker->job->launch->cooperative) { /* it may wait for other blocks */
            pthread_mutex_lock(&worker->job->lock);
            atomic_store(&worker->job->stop, 1);
            pthread_cond_broadcast(&worker->job->grid);
            pthread_mutex_unlock(&worker->job->lock);
        }
        pthread_kill(worker->thread, SIM_WATCH_SIGNAL);
    }
}

bool watch_stops(SimOrigin origin) {
    return origin.number <= atomic_load_explicit(&last_number, memory_order_relaxed) &&
           origin.thread == atomic_load_explicit(&last_thread, memory_order_relaxed);
}

void watch_stopped(const char *text) {
    pthread_mutex_lock(&watch_lock);
    if (stopped[0] == 0)
        snprintf(stopped, sizeof stopped, "%s", text);
    pthread_mutex_unlock(&watch_lock);
}

int sim_exec_stop(SimOrigin last, char *text, size_t size) {
    int running = 0;
    pthread_mutex_lock(&watch_lock);
    if (last.thread != last_thread || last.number != last_number)
        stopped[0] = 0;
    last_number = last.number;
    last_thread = last.thread;
    for (Worker *worker = watched; worker != NULL; worker = worker->watched_next) {
        if (watch_stops(worker->job->launch->origin)) {
            worker->stop = STOP_INTERRUPT;
            running++;
        }
    }
    signal_workers();
    snprintf(text, size, "%s", stopped);
    pthread_mutex_unlock(&watch_lock);
    return running;
}

CUresult watch_reason(const Worker *worker, char *text, size_t size) {
    if (worker->stop == STOP_INTERRUPT) {
        snprintf(text, size, "stopped by Ctrl-C");
        return SIM_INTERRUPTED;
    }
    snprintf(text, size, "ran for more than %g s (PYGPU_SIM_TIMEOUT) and was stopped",
             sim_timeout());
    return CUDA_ERROR_LAUNCH_TIMEOUT;
}

static void *watch_main(void *unused) {
    (void)unused;
    const double limit = sim_timeout(), period = limit / 4 < 0.05 ? limit / 4 : 0.05;
    const struct timespec pause = {0,
                                   (long)(period * 1e9) > 1000000 ? (long)(period * 1e9) : 1000000};
    for (;;) {
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&watch_lock);
        const double time = now();
        for (Worker *worker = watched; worker != NULL; worker = worker->watched_next) {
            if (time - worker->started > limit && worker->stop == STOP_NONE)
                worker->stop = STOP_TIMEOUT;
        }
        signal_workers();
        pthread_mutex_unlock(&watch_lock);
    }
    return NULL;
}

static void watch_forked(void) {
    pthread_mutex_init(&watch_lock, NULL);
    watched = NULL;
    watching = false;
}

static void start(void) {
    static bool registered;
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    if (!registered)
        registered = pthread_atfork(NULL, NULL, watch_forked) == 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* other threads handle the process's signals */
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 128u << 10);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    watching = pthread_create(&thread, &attributes, watch_main, NULL) == 0;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void watch_begin(Worker *worker) {
    pthread_mutex_lock(&watch_lock);
    if (!watching && sim_timeout() > 0)
        start();
    worker->started = now();
    worker->watched_next = watched;
    watched = worker;
    pthread_mutex_unlock(&watch_lock);
}

void watch_end(Worker *worker) {
    pthread_mutex_lock(&watch_lock);
    for (Worker **link = &watched; *link != NULL; link = &(*link)->watched_next) {
        if (*link == worker) {
            *link = worker->watched_next;
            break;
        }
    }
    pthread_mutex_unlock(&watch_lock);
}
