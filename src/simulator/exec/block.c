/* block.c - the threads of one block: starting them, barriers, deadlocks. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/exec/exec.h"

static inline Worker *worker_of(SimContext *c) {
    return (Worker *)(void *)c; /* the context is the first member */
}

/* ---- barriers -------------------------------------------------------------------------------- */

static void barrier_open(Worker *worker) {
    const unsigned n = worker->at_barrier;
    worker->at_barrier = 0;
    worker->at_grid_barrier = false;
    worker->steps = 0;
    worker->c.waiting -= n;
    for (unsigned i = 0; i < n; i++)
        worker->ready[worker->tail++ % (2 * SIM_MAX_THREADS)] = worker->barrier[i];
    worker->reduced = worker->reduction;
    worker->reduction_kind = -1;
    if (SIM_UNLIKELY(worker->check != NULL))
        check_barrier(worker);
}

static inline void barrier_meet(SimContext *c, const void *caller) {
    Worker *worker = worker_of(c);
    if (worker->at_barrier + 1 == c->alive) {
        barrier_open(worker);
        return;
    }
    worker->barrier[worker->at_barrier++] = (uint16_t)worker->running;
    worker->barrier_caller = caller;
    worker->barrier_thread = c->linear;
    c->waiting++;
    fiber_next(worker);
}

static void runtime_sync(SimContext *c) {
    barrier_meet(c, __builtin_return_address(0));
}

static int runtime_sync_reduce(SimContext *c, int kind, int predicate) {
    Worker *worker = worker_of(c);
    if (worker->reduction_kind != kind) { /* the first to arrive */
        if (worker->at_barrier > 0) {
            block_fail(worker, CUDA_ERROR_LAUNCH_FAILED,
                       "threads of a block meet at different kinds of __syncthreads");
        }
        worker->reduction_kind = kind;
        worker->reduction = kind == SIM_SYNC_AND;
    }
    if (kind == SIM_SYNC_COUNT)
        worker->reduction += predicate != 0;
    else if (kind == SIM_SYNC_AND)
        worker->reduction &= predicate != 0;
    else
        worker->reduction |= predicate != 0;
    barrier_meet(c, __builtin_return_address(0));
    return worker->reduced; /* valid until the next barrier is complete, which needs this thread */
}

static void grid_wait(Job *job) {
    pthread_mutex_lock(&job->lock);
    const unsigned phase = job->grid_phase;
    if (++job->grid_arrived == job->grid_alive) {
        job->grid_arrived = 0;
        job->grid_phase++;
        pthread_cond_broadcast(&job->grid);
    }
    while (job->grid_phase == phase && !atomic_load_explicit(&job->stop, memory_order_relaxed)) {
        pthread_cond_wait(&job->grid, &job->lock);
    }
    pthread_mutex_unlock(&job->lock);
}

/* All other threads of the block have arrived: waits for the other blocks, each of which has its
 * own system thread. */
static void grid_meet(Worker *worker) {
    grid_wait(worker->job);
    if (worker->stop)
        block_stopped(worker, "");
    if (atomic_load(&worker->job->stop))
        block_fail(worker, CUDA_ERROR_LAUNCH_FAILED, "another block failed");
}

static void runtime_thread_end(SimContext *c) {
    Worker *worker = worker_of(c);
    if (worker->at_barrier > 0 && worker->at_barrier == c->alive) {
        if (worker->at_grid_barrier) /* the threads that returned came last */
            grid_meet(worker);
        barrier_open(worker);
    }
    warp_thread_end(worker, c->linear);
}

static void runtime_yield(SimContext *c) {
    Worker *worker = worker_of(c);
    if (SIM_UNLIKELY(worker->stop))
        block_stopped(worker, "");
    fiber_yield(worker);
}

/* Enlarges the frame of a kernel in regions. All its threads request the same size, so nobody uses
 * the frame while it moves. */
static void runtime_frame(SimContext *c, unsigned long long size) {
    void *frame = NULL;
    if (posix_memalign(&frame, 64, (size_t)size) != 0) {
        block_fail(worker_of(c), CUDA_ERROR_OUT_OF_MEMORY,
                   "no memory for the local variables of its threads");
    }
    free(c->frame);
    c->frame = frame;
    c->frame_size = size;
}

/* ---- grids of cooperative launches ----------------------------------------------------------- */

static void runtime_grid_sync(SimContext *c) {
    Worker *worker = worker_of(c);
    if (!c->cooperative) {
        block_fail(worker, CUDA_ERROR_LAUNCH_FAILED,
                   "grid synchronization in a launch that was not cooperative");
    }
    worker->at_grid_barrier = true;
    if (worker->at_barrier + 1 == c->alive)
        grid_meet(worker);
    barrier_meet(c, __builtin_return_address(0));
}

/* ---- failures -------------------------------------------------------------------------------- */

/* Ends the block that this thread runs. The text is prefixed with the kernel and the thread. */
void block_fail(Worker *worker, CUresult code, const char *format, ...) {
    va_list values;
    char who[256];
    worker->where = WHERE_RUNTIME;
    diag_thread(worker, who, sizeof who);
    worker->error->code = code;
    int n = snprintf(worker->error->text, sizeof worker->error->text, "%s: ", who);
    if (n > 0 && (size_t)n < sizeof worker->error->text) {
        va_start(values, format);
        vsnprintf(worker->error->text + n, sizeof worker->error->text - (size_t)n, format, values);
        va_end(values);
    }
    worker->failed = 1;
    fiber_leave(worker);
}

void block_stopped(Worker *worker, const char *at) {
    char reason[100];
    const CUresult code = watch_reason(worker, reason, sizeof reason);
    block_fail(worker, code, "%s%s", reason, at);
}

/* No thread can continue: some wait at a barrier, others at warp operations. */
void block_deadlock(Worker *worker) {
    unsigned lanes = 0, warp_thread = 0;
    const unsigned threads = worker->c.threads;
    for (unsigned i = 0; i < threads; i++) {
        if (worker->warps[i / SIM_WARP].waiting >> i % SIM_WARP & 1) {
            lanes++;
            warp_thread = i;
        }
    }
    char at[300], text[900]; /* at: for both places */
    const SimModule *module = worker->job->kernel->module;
    worker->where = WHERE_RUNTIME;
    int n = snprintf(text, sizeof text, "deadlock:");
    if (worker->at_barrier > 0) {
        source_line_describe(module, (uintptr_t)worker->barrier_caller - 1, at, sizeof at);
        n += snprintf(text + n, sizeof text - (size_t)n,
                      " %u of %u threads wait at __syncthreads%s (number %u is one of them),",
                      worker->at_barrier, threads, at, worker->barrier_thread);
    }
    if (lanes > 0) {
        const Lane *lane = &worker->lanes[warp_thread];
        source_line_describe(module, (uintptr_t)lane->caller - 1, at, sizeof at);
        n += snprintf(text + n, sizeof text - (size_t)n,
                      " %u at a warp operation with mask 0x%08x%s (number %u is one of them),",
                      lanes, lane->mask, at, warp_thread);
    }
    snprintf(text + n, sizeof text - (size_t)n, " %u have returned", threads - worker->c.alive);
    worker->error->code = CUDA_ERROR_LAUNCH_FAILED;
    snprintf(worker->error->text, sizeof worker->error->text, "kernel %s, block (%u,%u,%u): %s",
             sim_kernel_name(worker->job->kernel), worker->c.block.x, worker->c.block.y,
             worker->c.block.z, text);
    worker->failed = 1;
    fiber_leave(worker);
}

static void runtime_fail(SimContext *c, int code, const char *text) {
    char at[300];
    Worker *worker = worker_of(c);
    source_line_describe(worker->job->kernel->module, (uintptr_t)__builtin_return_address(0) - 1,
                         at, sizeof at);
    block_fail(worker, code, "%s%s", text, at);
}

const SimRuntime sim_runtime = {
    .sync = runtime_sync,
    .sync_reduce = runtime_sync_reduce,
    .warp = warp_operation,
    .grid_sync = runtime_grid_sync,
    .thread_end = runtime_thread_end,
    .yield = runtime_yield,
    .vprint = runtime_vprint,
    .assertion = runtime_assertion,
    .fail = runtime_fail,
    .allocate = runtime_allocate,
    .release = runtime_release,
    .nanoseconds = runtime_nanoseconds,
    .frame = runtime_frame,
    .access = runtime_access,
    .space = runtime_space,
};

/* ---- blocks ---------------------------------------------------------------------------------- */

static SimTriple block_at(const SimContext *c, unsigned long long number) {
    const unsigned long long rest = number / c->grid_size.x;
    return (SimTriple){(unsigned)(number % c->grid_size.x), (unsigned)(rest % c->grid_size.y),
                       (unsigned)(rest / c->grid_size.y)};
}

static void block_begin(Worker *worker, unsigned long long number) {
    SimContext *c = &worker->c;
    c->block = block_at(c, number);
    c->thread = c->cursor = (SimTriple){0, 0, 0};
    c->linear = c->next = 0;
    c->alive = c->threads;
    c->waiting = 0;
    worker->at_barrier = 0;
    worker->at_grid_barrier = false;
    worker->reduction_kind = -1;
    worker->failed = 0;
    warp_begin(worker);
    if (SIM_UNLIKELY(worker->check != NULL))
        check_block(worker);
}

/* Runs the threads of a kernel in loops one by one: what `threads` in sim_launch.h does for other
 * kernels. */
static void threads_singly(SimContext *c, const SimEntry *entry) {
    c->alone = 1;
    for (; c->next < c->threads; c->alive--) {
        c->thread = c->cursor;
        c->linear = c->next++;
        if (++c->cursor.x == c->block_size.x) {
            c->cursor.x = 0;
            if (++c->cursor.y == c->block_size.y) {
                c->cursor.y = 0;
                ++c->cursor.z;
            }
        }
        entry->block(c);
    }
}

/* Runs the context's block in loops. */
static void block_in_loops(SimContext *c, const SimEntry *entry) {
    if (entry->regions) {
        entry->block(c);
        return;
    }
    for (c->thread.z = 0; c->thread.z < c->block_size.z; c->thread.z++) {
        entry->block(c);
    }
}

/* Runs this many blocks in loops, from the context's on. */
static void blocks_in_loops(SimContext *c, const SimEntry *entry, unsigned long long count) {
    c->alone = 0;
    while (block_in_loops(c, entry), --count > 0) {
        if (++c->block.x == c->grid_size.x) {
            c->block.x = 0;
            if (++c->block.y == c->grid_size.y) {
                c->block.y = 0;
                ++c->block.z;
            }
        }
    }
    c->alive = 0;
}

/* The main function of a fiber: starts threads until none is left. */
void block_main(Worker *worker) {
    SimContext *c = &worker->c;
    const SimEntry *entry = worker->job->kernel->entry;
    if (SIM_LIKELY(worker->where == WHERE_THREADS)) {
        if (entry->threads != NULL)
            entry->threads(c);
        else
            threads_singly(c, entry);
        if (SIM_UNLIKELY(worker->check != NULL))
            check_event(worker);
    } else {
        blocks_in_loops(c, entry, worker->count);
    }
}

bool block_run(Worker *worker, unsigned long long number) {
    block_begin(worker, number);
    worker->where = WHERE_THREADS;
    fiber_run(worker);
    worker->where = WHERE_OUTSIDE;
    if (SIM_UNLIKELY(worker->failed))
        diag_explain(worker);
    return !worker->failed;
}

/* Runs blocks of a kernel that never waits, as plain loops. After a fault, the failed block runs
 * again thread by thread, to identify the thread. */
bool blocks_run(Worker *worker, unsigned long long first, unsigned long long count) {
    worker->failed = 0;
    worker->c.block = block_at(&worker->c, first);
    worker->count = count;
    worker->where = WHERE_BLOCKS;
    fiber_run(worker);
    worker->where = WHERE_OUTSIDE;
    if (SIM_LIKELY(!worker->failed)) {
        if (SIM_UNLIKELY(worker->held.used > 0))
            runtime_held(worker, true);
        return true;
    }
    const unsigned long long number =
        worker->c.block.x +
        (unsigned long long)worker->job->launch->grid.x *
            (worker->c.block.y +
             (unsigned long long)worker->job->launch->grid.y * worker->c.block.z);
    const SimTriple block = worker->c.block, held = worker->held.block;
    const bool again = worker->fault.signal != SIM_FAULT_STOPPED;
    runtime_held(worker, !again || block.x != held.x || block.y != held.y ||
                             block.z != held.z); /* the failed block prints again */
    if (!again || block_run(worker, number)) {
        worker->failed = 1;
        worker->c.linear = SIM_MAX_THREADS; /* unknown */
        diag_explain(worker);
    }
    return false;
}
