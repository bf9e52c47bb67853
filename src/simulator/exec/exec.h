/* exec.h - shared by the files that run kernels: workers, fibers, jobs.
 *
 * A job is one launch. Workers (workers.c) take its blocks, each one at a time. A block (block.c)
 * starts as a plain loop over its threads on one stack. A thread that must wait keeps its stack,
 * and the loop continues on another one: a fiber (fiber.c). So kernels that never wait have no
 * overhead. A fault (diag.c) leaves the block by jumping to the worker's own stack; nothing is
 * unwound. */
#ifndef PYGPU_SIM_EXEC_H
#define PYGPU_SIM_EXEC_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "simulator/device/module.h"

/* The code of a launch that Ctrl-C has stopped, which is not an error. */
#define SIM_INTERRUPTED ((CUresult)-1)

#define SIM_MOST_PARAMS 512 /* 32 KiB of values, more than CUDA allows */
/* AddressSanitizer takes a call that does not return as the end of the system thread's stack, but
 * fibers have stacks of their own. */
#if defined(__SANITIZE_ADDRESS__)
#define SIM_NORETURN
void __asan_unpoison_memory_region(void const volatile *address, size_t size);
#else
#define SIM_NORETURN _Noreturn
#endif

typedef struct {
    SimTriple thread;
    unsigned linear;
} Identity; /* the beginning of a context */

/* A lane at a warp operation: the operation, its mask, the lane's value, argument and result, and
 * the return address. */
typedef struct {
    int operation;
    unsigned mask;
    SimWord value, argument, result;
    const void *caller;
} Lane;

typedef struct {
    unsigned lanes;           /* that the block has in this warp */
    unsigned waiting;         /* lanes at a warp operation */
    uint16_t fiber[SIM_WARP]; /* the fibers of those lanes */
} Warp;

#define SIM_FAULT_STOPPED (-1) /* used in place of a signal number */

#define SIM_WATCH_SIGNAL SIGURG /* ignored by default, so a late one is harmless */

/* Why a worker must leave its kernel. */
typedef enum { STOP_NONE, STOP_TIMEOUT, STOP_INTERRUPT } Stop;

typedef enum { WHERE_OUTSIDE, WHERE_THREADS, WHERE_BLOCKS, WHERE_RUNTIME } Where;

typedef struct Job Job;

typedef struct Worker {
    SimContext c; /* first member: device code finds it at the start of the region */
    Job *job;
    void *home;       /* the system thread's stack pointer while fibers run */
    unsigned running; /* the running fiber */
    size_t stack_size;
    unsigned stacks; /* fibers that have a stack */
    unsigned in_use; /* 0 .. in_use - 1 are taken in this block, except those in unused */
    unsigned n_unused;
    unsigned head, tail; /* indices of ready, which only grow */
    unsigned yields;     /* since all ready fibers had their turn */
    unsigned steps;      /* how often lanes continued in step while others may have been waiting
                          * for them */
    unsigned at_barrier; /* fibers waiting in barrier */
    const void *barrier_caller; /* where the last of them waits */
    unsigned barrier_thread;
    int reduction, reduction_kind, reduced;
    bool at_grid_barrier;     /* the threads in barrier wait for the other blocks, too */
    unsigned long long count; /* blocks of the current loop */
    volatile int where;       /* a Where, for the signal handler */
    volatile int failed;
    volatile int stop; /* a Stop, set by watch.c */
    char *dynamic; /* the launch's dynamic shared memory: ends before an inaccessible page of the
                    * region */
    SimError *error;
    SimError own_error;
    struct {
        int signal;
        uintptr_t address, pc, stack;
        bool write, known;
    } fault;
    struct Check *check; /* of check.c; NULL: checks are off */
    struct Worker *next; /* in the list of idle regions */
    struct {
        char *text;
        size_t used, room;
        SimTriple block;
    } held;         /* output of the block that runs in loops; runtime.c */
    double started; /* start time of this launch, for watch.c */
    struct Worker *watched_next;
    pthread_t thread, ready_thread;
    uint64_t ready_for; /* the module whose storage this thread has; 0: none */
    uint16_t unused[SIM_MAX_THREADS + 1];
    uint16_t ready[2 * SIM_MAX_THREADS]; /* size: a power of two */
    uint16_t barrier[SIM_MAX_THREADS + 1];
    Warp warps[SIM_MAX_THREADS / SIM_WARP];
    void *param_addresses[SIM_MOST_PARAMS];
    char param_values[SIM_MOST_PARAMS * 64] __attribute__((aligned(64)));
    void *stack[SIM_MAX_THREADS + 1]; /* saved stack pointers of fibers */
    Lane lanes[SIM_MAX_THREADS];      /* by thread */
} Worker;

struct Job {
    const SimKernel *kernel;
    const SimLaunch *launch;
    unsigned long long blocks;
    atomic_ullong next; /* the block to take next */
    unsigned chunk;     /* blocks taken at once */
    atomic_int stop;    /* a block has failed */
    int helpers;        /* workers of the pool on this job, under the pool's lock */
    Job *later;
    pthread_mutex_t lock; /* protects error and the grid's barrier */
    pthread_cond_t grid;
    unsigned grid_arrived, grid_phase, grid_alive;
    SimError error;
};

/* fiber.c */
SIM_HIDDEN Worker *worker_acquire(void);
SIM_HIDDEN void worker_release(Worker *worker);
SIM_HIDDEN CUresult worker_ready(Worker *worker, size_t dynamic);
SIM_HIDDEN void fiber_run(Worker *worker);  /* runs a block's fibers, called on the worker's own
                                             * stack */
SIM_HIDDEN void fiber_next(Worker *worker); /* the running fiber waits; another one continues */
SIM_HIDDEN void fiber_yield(Worker *worker);
SIM_HIDDEN SIM_NORETURN void fiber_leave(
    Worker *worker); /* ends the block: returns to the worker's own stack */
SIM_HIDDEN bool fiber_of(const Worker *worker, uintptr_t stack, unsigned *number, bool *guard);

/* block.c */
SIM_HIDDEN bool block_run(Worker *worker,
                          unsigned long long number); /* false: it failed, and worker->error has the
                                                       * reason */
SIM_HIDDEN bool blocks_run(Worker *worker, unsigned long long first, unsigned long long count);
SIM_HIDDEN void block_main(Worker *worker); /* the main function of a fiber */
SIM_HIDDEN SIM_NORETURN void block_deadlock(Worker *worker);
/* Ends the block of a worker that was told to stop. at: the place, " at kernel.cu:4". */
SIM_HIDDEN SIM_NORETURN void block_stopped(Worker *worker, const char *at);
SIM_HIDDEN SIM_NORETURN void block_fail(Worker *worker, CUresult code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static inline void fiber_ready(Worker *worker, unsigned fiber) {
    worker->ready[worker->tail++ % (2 * SIM_MAX_THREADS)] = (uint16_t)fiber;
}
SIM_HIDDEN extern const SimRuntime sim_runtime;

/* warp.c */
SIM_HIDDEN void warp_begin(Worker *worker);
SIM_HIDDEN void warp_thread_end(Worker *worker,
                                unsigned linear); /* linear: the thread that has ended */
SIM_HIDDEN bool warp_resolve(Worker *worker);
SIM_HIDDEN SimWord warp_operation(SimContext *c, int operation, unsigned mask, SimWord value,
                                  SimWord argument);

/* workers.c */
SIM_HIDDEN void pool_run(Job *job);

/* diag.c */
/* Installs the signal handlers and this thread's signal stack, and unblocks the signals. mask: what
 * the thread blocked. */
SIM_HIDDEN CUresult diag_enter(sigset_t *mask);
SIM_HIDDEN void diag_leave(const sigset_t *mask); /* restores what diag_enter() changed */
SIM_HIDDEN bool diag_region(Worker *worker);      /* registers a region; false: too many */
SIM_HIDDEN void diag_explain(Worker *worker);     /* writes worker->error from worker->fault */
SIM_HIDDEN void diag_address(const Worker *worker, uintptr_t address, char *text,
                             size_t size); /* describes the memory at an address */
SIM_HIDDEN void diag_thread(const Worker *worker, char *text,
                            size_t size); /* "kernel k, block (0,0,0), thread (1,0,0)" */

/* watch.c */
SIM_HIDDEN void watch_begin(Worker *worker); /* this thread now runs a launch */
SIM_HIDDEN void watch_end(Worker *worker);
/* Whether a launch was stopped before it began. */
SIM_HIDDEN bool watch_stops(SimOrigin origin);
/* Keeps the message of a launch that was interrupted. */
SIM_HIDDEN void watch_stopped(const char *text);
/* The code and the message for a worker that was told to stop. */
SIM_HIDDEN CUresult watch_reason(const Worker *worker, char *text, size_t size);

/* check.c: only called if worker->check is set, except check_begin */
SIM_HIDDEN CUresult check_begin(Worker *worker);         /* begins a launch; makes worker->check */
SIM_HIDDEN uintptr_t check_caller(const Worker *worker); /* of the latest access; 0: none */
SIM_HIDDEN void check_block(Worker *worker);
SIM_HIDDEN void check_barrier(Worker *worker);
SIM_HIDDEN void check_warp(Worker *worker, unsigned warp, unsigned lanes);
SIM_HIDDEN void check_event(Worker *worker);
SIM_HIDDEN void runtime_access(SimContext *c, const void *pointer, unsigned long long size,
                               int kind, const void *caller);

/* source_line.c */
/* Writes " at kernel.cu:4", or "". Returns false if the line is a guess. */
SIM_HIDDEN bool source_line_describe(const SimModule *module, uintptr_t pc, char *text,
                                     size_t size);

/* runtime.c: called by device code */
SIM_HIDDEN void runtime_held(
    Worker *worker, bool print); /* prints what a block in loops has written, or discards it */
SIM_HIDDEN int runtime_vprint(SimContext *c, const char *format, __builtin_va_list *values);
SIM_HIDDEN void runtime_assertion(SimContext *c, const char *text, const char *file, unsigned line,
                                  const char *function);
SIM_HIDDEN unsigned long long runtime_nanoseconds(void);
SIM_HIDDEN int runtime_space(SimContext *c, const void *pointer);
/* heap.c: called by device code */
SIM_HIDDEN void *runtime_allocate(SimContext *c, unsigned long long size,
                                  unsigned long long alignment);
SIM_HIDDEN void runtime_release(SimContext *c, void *address);

#endif
