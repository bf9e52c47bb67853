/* chain_timer.c - the thread that launches a chain which nothing else makes go. */
#include "array/chain.h"
#include "common/pthread_compat.h"

#define IDLE 20 /* so many looks without a chain, and the thread sleeps until it is called */

uint32_t arr_chain_wait_us = 300;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t call = PTHREAD_COND_INITIALIZER;
static volatile int started, asleep;
static volatile unsigned long waiting; /* the chain that began to wait last; 0: none yet */

static void launch_late(unsigned long serial) {
    if (pg_is_ending()) {
        return;
    }
    PyGILState_STATE state = PyGILState_Ensure();
    if (arr_chain_serial == serial) {
        chain_flush_by_timer();
    }
    PyGILState_Release(state);
}

static void *run(void *Py_UNUSED(argument)) {
    unsigned long seen = 0;
    int idle = 0;
    for (;;) {
        pg_sleep_us((long)arr_chain_wait_us);
        unsigned long now = waiting;
        if (now == arr_chain_serial && now == seen) { /* as it was when this was looked at last */
            launch_late(now);
        }
        idle = now == seen ? idle + 1 : 0;
        seen = now;
        if (idle < IDLE) {
            continue;
        }
        pthread_mutex_lock(&lock);
        asleep = 1;
        while (asleep && waiting == seen) {
            pthread_cond_wait(&call, &lock);
        }
        asleep = 0;
        pthread_mutex_unlock(&lock);
        idle = 0;
    }
    return NULL;
}

void chain_timer_start(unsigned long serial) {
    pthread_mutex_lock(&lock);
    waiting = serial;
    if (asleep) {
        asleep = 0;
        pthread_cond_signal(&call);
    }
    pthread_mutex_unlock(&lock);
    if (PG_UNLIKELY(!started)) {
        pthread_t thread;
        pg_signal_mask mask;
        pg_block_signals(&mask);
        if (pthread_create(&thread, NULL, run, NULL) == 0) {
            pthread_detach(thread);
            started = 1;
        }
        pg_restore_signals(&mask);
    }
}
