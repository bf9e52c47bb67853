/* watch.c - stops kernels that run too long. One thread, started with the first launch under a
 * limit, checks all running launches and signals the threads of those over the limit. Their signal
 * handler (diag.c) acts when the kernel's own code runs. */
#include <time.h>

#include "simulator/exec/exec.h"

static pthread_mutex_t watch_lock = PTHREAD_MUTEX_INITIALIZER;
static Worker *watched;
static bool watching;

static double now(void) {
    return (double)runtime_nanoseconds() * 1e-9;
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
            if (time - worker->started <= limit)
                continue;
            worker->stop = 1;
            if (worker->job->launch->cooperative) { /* it may wait for other blocks */
                pthread_mutex_lock(&worker->job->lock);
                atomic_store(&worker->job->stop, 1);
                pthread_cond_broadcast(&worker->job->grid);
                pthread_mutex_unlock(&worker->job->lock);
            }
            pthread_kill(worker->thread, SIM_WATCH_SIGNAL);
        }
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
    if (sim_timeout() <= 0)
        return;
    pthread_mutex_lock(&watch_lock);
    if (!watching)
        start();
    worker->started = now();
    worker->watched_next = watched;
    watched = worker;
    pthread_mutex_unlock(&watch_lock);
}

void watch_end(Worker *worker) {
    if (sim_timeout() <= 0)
        return;
    pthread_mutex_lock(&watch_lock);
    for (Worker **link = &watched; *link != NULL; link = &(*link)->watched_next) {
        if (*link == worker) {
            *link = worker->watched_next;
            break;
        }
    }
    pthread_mutex_unlock(&watch_lock);
}
