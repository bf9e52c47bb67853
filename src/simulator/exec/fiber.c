/* fiber.c - stacks of waiting threads, and switching between them in user space.
 *
 * A worker's region has the Worker at its start and stacks from its end downwards, with an
 * inaccessible page below each. Stacks are created when first needed, and kept. A switch saves the
 * registers that the calling convention preserves: the compiler does that, since the asm lists all
 * registers as clobbered. Continuing by a jump (not a return) to a saved address keeps the
 * processor's return prediction correct, because every fiber returns to the place that called the
 * switch. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "simulator/exec/exec.h"

#define GUARD        4096u
#define DYNAMIC_ROOM ((size_t)240 << 10) /* SIM_SHARED_MOST, in whole pages */
/* Dynamic shared memory: the end of the first 2 MiB of the region. */
#define DYNAMIC_END ((size_t)2 << 20)
/* Mappings, of the 65530 that Linux allows a process; each guarded stack needs two. */
#define MAX_GUARDED (24u * 1024u)

static pthread_mutex_t regions_lock = PTHREAD_MUTEX_INITIALIZER;
static Worker *regions_idle;
static unsigned guarded_stacks; /* in all regions */

static size_t stack_size = 68u << 10; /* an odd number of pages: see fiber_prepare */

size_t sim_stack_size(void) {
    return __atomic_load_n(&stack_size, __ATOMIC_RELAXED);
}

/* CU_LIMIT_STACK_SIZE. GPUs need little; these stacks also hold the compiler's spills and calls of
 * the C library, hence the minimum. */
CUresult sim_set_stack_size(size_t size) {
    const size_t least = 68u << 10, most = (SIM_STACKS_TOTAL / 1025) & ~(size_t)4095;
    if (size > most)
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "the simulator's stacks hold at most %zu bytes a thread", most);
    __atomic_store_n(&stack_size, size < least ? least : ((size + 4095) & ~(size_t)4095) | 4096,
                     __ATOMIC_RELAXED);
    return CUDA_SUCCESS;
}

/* Saves this fiber's place in *from and continues at to. Only for functions that call others: it
 * pushes, and would overwrite a red zone. */
static inline void switch_stacks(void **from, void *to) {
#if defined(__x86_64__)
    void *a = (void *)from, *b = to;
    __asm__ volatile("pushq %%rbp\n\t"
                     "leaq 1f(%%rip), %%rax\n\t"
                     "pushq %%rax\n\t"
                     "movq %%rsp, (%0)\n\t"
                     "movq %1, %%rsp\n\t"
                     "popq %%rax\n\t"
                     "jmpq *%%rax\n\t"
                     "1: popq %%rbp\n\t"
                     : "+D"(a), "+S"(b)
                     :
                     : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
                       "r15", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
                       "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
                       "xmm15", "mm0", "mm1", "mm2", "mm3", "mm4", "mm5", "mm6", "mm7");
#elif defined(__aarch64__)
    register void *a __asm__("x0") = (void *)from;
    register void *b __asm__("x1") = to;
    __asm__ volatile("stp x29, x30, [sp, #-32]!\n\t"
                     "adr x2, 1f\n\t"
                     "str x2, [sp, #16]\n\t"
                     "mov x3, sp\n\t"
                     "str x3, [x0]\n\t"
                     "mov sp, x1\n\t"
                     "ldr x2, [sp, #16]\n\t"
                     "br x2\n\t"
                     "1: ldp x29, x30, [sp], #32\n\t"
                     : "+r"(a), "+r"(b)
                     :
                     : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
                       "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24",
                       "x25", "x26", "x27", "x28", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6",
                       "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17",
                       "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28",
                       "v29", "v30", "v31", "memory", "cc");
#else
#error "the CUDA simulator has no switch of stacks for this processor"
#endif
}

/* ---- workers --------------------------------------------------------------------------------- */

static Worker *region_new(void) {
    char *raw =
        mmap(NULL, 2 * SIM_REGION, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED)
        return NULL;
    char *region = (char *)(((uintptr_t)raw + SIM_REGION - 1) & ~((uintptr_t)SIM_REGION - 1));
    if (region > raw)
        munmap(raw, (size_t)(region - raw));
    munmap(region + SIM_REGION, (size_t)(raw + SIM_REGION - region));
    const size_t head = (sizeof(Worker) + GUARD - 1) & ~(size_t)(GUARD - 1);
    if (mprotect(region, head, PROT_READ | PROT_WRITE) != 0 ||
        !diag_region((Worker *)(void *)region)) {
        munmap(region, SIM_REGION);
        return NULL;
    }
    Worker *worker = (Worker *)(void *)region;
    worker->c.runtime = &sim_runtime;
    return worker;
}

/* Returns a worker with a region for this thread; NULL if out of memory. */
Worker *worker_acquire(void) {
    pthread_mutex_lock(&regions_lock);
    Worker *worker = regions_idle;
    if (worker != NULL)
        regions_idle = worker->next;
    pthread_mutex_unlock(&regions_lock);
    return worker != NULL ? worker : region_new();
}

void worker_release(Worker *worker) {
    pthread_mutex_lock(&regions_lock);
    worker->next = regions_idle;
    regions_idle = worker;
    pthread_mutex_unlock(&regions_lock);
}

static char *stack_top(const Worker *worker, unsigned number) {
    return (char *)(uintptr_t)worker + SIM_REGION - (size_t)number * worker->stack_size;
}

/* Provides stacks for fibers 0 .. count - 1. */
static CUresult provide_stacks(Worker *worker, unsigned count) {
    const size_t wanted = sim_stack_size();
    if (worker->stack_size != wanted) { /* the limit changed: make all stacks again */
        if (worker->stacks > 0 &&
            mmap((char *)worker + DYNAMIC_END, SIM_REGION - DYNAMIC_END, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        __atomic_sub_fetch(&guarded_stacks, worker->stacks, __ATOMIC_RELAXED);
        worker->stacks = 0;
        worker->stack_size = wanted;
    }
    for (; worker->stacks < count; worker->stacks++) {
        char *top = stack_top(worker, worker->stacks);
        bool guard = __atomic_add_fetch(&guarded_stacks, 1, __ATOMIC_RELAXED) <= MAX_GUARDED / 2;
        if (top - worker->stack_size < (char *)worker + DYNAMIC_END + GUARD ||
            mprotect(top - worker->stack_size + (guard ? GUARD : 0),
                     worker->stack_size - (guard ? GUARD : 0), PROT_READ | PROT_WRITE) != 0) {
            __atomic_sub_fetch(&guarded_stacks, 1, __ATOMIC_RELAXED);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    return CUDA_SUCCESS;
}

/* Provides what every block needs: a stack, and dynamic shared memory that ends where access must
 * end. */
CUresult worker_ready(Worker *worker, size_t dynamic) {
    char *end = (char *)worker + DYNAMIC_END;
    if (worker->dynamic == NULL &&
        mprotect(end - DYNAMIC_ROOM, DYNAMIC_ROOM, PROT_READ | PROT_WRITE) != 0) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    worker->dynamic = end - ((dynamic + 127) & ~(size_t)127);
    return provide_stacks(worker, 1);
}

/* Finds the fiber whose stack contains the address; guard: it is in the page below, or in the
 * first page if there is no guard page. */
bool fiber_of(const Worker *worker, uintptr_t stack, unsigned *number, bool *guard) {
    const uintptr_t end = (uintptr_t)worker + SIM_REGION;
    if (stack >= end || stack < (uintptr_t)worker || worker->stack_size == 0)
        return false;
    *number = (unsigned)((end - 1 - stack) / worker->stack_size);
    *guard = (end - stack) % worker->stack_size > worker->stack_size - GUARD ||
             (end - stack) % worker->stack_size == 0;
    return *number <= worker->stacks;
}

/* ---- fibers ---------------------------------------------------------------------------------- */

static SIM_NORETURN void fiber_main(void) {
    Worker *worker =
        (Worker *)((uintptr_t)__builtin_frame_address(0) & ~((uintptr_t)SIM_REGION - 1));
    block_main(worker);
    worker->unused[worker->n_unused++] = (uint16_t)worker->running;
    if (worker->c.alive == 0)
        fiber_leave(worker);
    fiber_next(worker);
    __builtin_unreachable();
}

/* Makes the fiber start in fiber_main at the first switch to it. The tops of the stacks are
 * shifted against each other, because stacks at equal distances would all use the same few sets of
 * the caches. Sizes are odd numbers of pages for the same reason. */
static void fiber_prepare(Worker *worker, unsigned fiber) {
    char *top = stack_top(worker, fiber) - 64 - fiber / 16 % 15 * 256;
    uintptr_t *at = (uintptr_t *)(void *)((uintptr_t)top & ~(uintptr_t)63);
#if defined(__SANITIZE_ADDRESS__) /* this stack was abandoned in the middle of functions */
    __asan_unpoison_memory_region(stack_top(worker, fiber) - worker->stack_size,
                                  worker->stack_size);
#endif
#if defined(__x86_64__)
    at[-1] = 0; /* the return address of fiber_main: the ABI expects a misaligned stack there */
    at[-2] = (uintptr_t)fiber_main;
    worker->stack[fiber] = at - 2;
#else
    at[-4] = at[-3] = at[-1] = 0;
    at[-2] = (uintptr_t)fiber_main; /* the stack pointer is then at - 4, a multiple of 16 */
    worker->stack[fiber] = at - 4;
#endif
}

static unsigned fresh_fiber(Worker *worker) {
    const unsigned fiber = worker->n_unused > 0 ? worker->unused[--worker->n_unused]
                                                : worker->in_use++;
    if (SIM_UNLIKELY(fiber >= worker->stacks) &&
        provide_stacks(worker, fiber + 1) != CUDA_SUCCESS) {
        block_fail(worker, CUDA_ERROR_OUT_OF_MEMORY, "no memory for the stacks of %u threads",
                   worker->c.threads);
    }
    fiber_prepare(worker, fiber);
    return fiber;
}

/* Switches to another fiber, and returns when something switches back. Keeps the number of the
 * running fiber on this stack meanwhile. */
static inline void switch_to(Worker *worker, unsigned to) {
    const unsigned me = worker->running;
    Identity own;
    __builtin_memcpy(&own, &worker->c, sizeof own);
    worker->running = to;
    switch_stacks(&worker->stack[me], worker->stack[to]);
    worker->running = me;
    __builtin_memcpy(&worker->c, &own, sizeof own);
}

/* Lets another fiber continue: one that is ready, or a new one while threads are left to start. */
void fiber_next(Worker *worker) {
    unsigned to;
    for (;;) {
        if (SIM_LIKELY(worker->head != worker->tail)) {
            to = worker->ready[worker->head++ % (2 * SIM_MAX_THREADS)];
            /* A block's stacks together are larger than the L1 cache: prefetch the one that runs
             * after the next ones. */
            const char *later =
                worker->stack[worker->ready[(worker->head + 2) % (2 * SIM_MAX_THREADS)]];
            __builtin_prefetch(later);
            __builtin_prefetch(later + 64);
            __builtin_prefetch(later + 128);
            __builtin_prefetch(later + 192);
            break;
        }
        if (worker->c.next < worker->c.threads) {
            to = fresh_fiber(worker);
            break;
        }
        if (!warp_resolve(worker))
            block_deadlock(worker);
    }
    if (to != worker->running)
        switch_to(worker, to);
}

/* The running fiber stays ready and lets others run first, above all those not yet started, since
 * it may be waiting for them. If all ready fibers only yield, lets one that is in its warp's
 * operations continue. */
void fiber_yield(Worker *worker) {
    if (worker->c.next < worker->c.threads) {
        const unsigned to = fresh_fiber(worker);
        fiber_ready(worker, worker->running);
        switch_to(worker, to);
        return;
    }
    if (worker->yields++ >= worker->tail - worker->head) {
        worker->yields = 0;
        if (worker->c.waiting > worker->at_barrier)
            (void)warp_resolve(worker);
    }
    if (worker->head != worker->tail) {
        fiber_ready(worker, worker->running);
        fiber_next(worker);
    }
}

/* Runs the block that the context describes, on fiber 0; returns when fiber_leave is called. */
__attribute__((noinline)) void fiber_run(Worker *worker) {
    worker->in_use = 1;
    worker->n_unused = 0;
    worker->head = worker->tail = 0;
    worker->running = 0;
    fiber_prepare(worker, 0);
    char room[256]; /* keeps what the switch pushes apart from what the compiler has put below the
                     * stack pointer */
    __asm__ volatile("" : : "r"(room) : "memory");
    switch_stacks(&worker->home, worker->stack[0]);
    __asm__ volatile("" : : "r"(room) : "memory");
}

void fiber_leave(Worker *worker) {
    void *nowhere;
    switch_stacks(&nowhere, worker->home);
    __builtin_unreachable();
}
