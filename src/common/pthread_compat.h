/* pthread_compat.h - the few POSIX thread functions that pygpu needs; on Windows they are built on
 * the native primitives. */
#ifndef PG_PTHREAD_COMPAT_H
#define PG_PTHREAD_COMPAT_H

#ifdef _WIN32
#include <process.h>
#include <windows.h>

typedef SRWLOCK pthread_mutex_t;
typedef CONDITION_VARIABLE pthread_cond_t;
typedef uintptr_t pthread_t;
typedef int pg_signal_mask;
#define PTHREAD_MUTEX_INITIALIZER SRWLOCK_INIT
#define PTHREAD_COND_INITIALIZER  CONDITION_VARIABLE_INIT
#define pthread_mutex_lock(m)     AcquireSRWLockExclusive(m)
#define pthread_mutex_unlock(m)   ReleaseSRWLockExclusive(m)
#define pthread_cond_wait(c, m)   SleepConditionVariableSRW(c, m, INFINITE, 0)
#define pthread_cond_signal(c)    WakeConditionVariable(c)
#define pthread_cond_broadcast(c) WakeAllConditionVariable(c)
#define pthread_detach(t)         CloseHandle((HANDLE)(t))
#define pg_block_signals(mask)    ((void)(mask))
#define pg_restore_signals(mask)  ((void)(mask))

typedef struct {
    void *(*start)(void *);
    void *argument;
} PgThreadStart;
static inline unsigned __stdcall pg_thread_main(void *op) {
    PgThreadStart start = *(PgThreadStart *)op;
    free(op);
    start.start(start.argument);
    return 0;
}
static inline int pthread_create(pthread_t *thread, void *attributes, void *(*start)(void *),
                                 void *argument) {
    PgThreadStart *record = malloc(sizeof *record);
    (void)attributes;
    if (record == NULL) {
        return -1;
    }
    record->start = start;
    record->argument = argument;
    *thread = _beginthreadex(NULL, 0, pg_thread_main, record, 0, NULL);
    return *thread != 0 ? 0 : -1;
}
/* Waits for at most ms milliseconds. Returns 0 if woken. */
static inline int pg_cond_wait_ms(pthread_cond_t *c, pthread_mutex_t *m, long ms) {
    return SleepConditionVariableSRW(c, m, (DWORD)ms, 0) ? 0 : 1;
}
#else
#include <pthread.h>
#include <signal.h>
#include <time.h>

typedef sigset_t pg_signal_mask;
static inline void pg_block_signals(pg_signal_mask *mask) {
    /* Not faults: blocked ones end the process before faulthandler or the simulator sees them. */
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    sigset_t most;
    sigfillset(&most);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        sigdelset(&most, faults[i]);
    }
    pthread_sigmask(SIG_SETMASK, &most, mask);
}
static inline void pg_restore_signals(pg_signal_mask *mask) {
    pthread_sigmask(SIG_SETMASK, mask, NULL);
}
/* Waits for at most ms milliseconds. Returns 0 if woken. */
static inline int pg_cond_wait_ms(pthread_cond_t *c, pthread_mutex_t *m, long ms) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += ms % 1000 * 1000000;
    until.tv_sec += ms / 1000 + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return pthread_cond_timedwait(c, m, &until);
}
#endif
#endif
