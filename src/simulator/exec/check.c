/* check.c - PYGPU_SIM_CHECK=1: checks each memory access, and in shared memory also earlier
 * accesses by other threads.
 *
 * Bounds: device code may access allocations, its module's variables, its stack and its shared
 * memory. Any other access (to a host pointer, to the gap between two allocations) ends the kernel
 * before it happens.
 *
 * Shared memory is tracked in granules of 4 bytes: the last write and two readers, each with the
 * thread and the time. Time is the number of barriers that the block has passed, and within a warp
 * the number of warp operations. Two accesses by different threads at the same time, one of them a
 * write, are a race. Exceptions are two atomic accesses, and accesses that atomic operations order
 * (check_order.c). A write that does not change memory does not count. Two readers are needed:
 * with one, a thread's own read would hide another thread's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "simulator/exec/check_order.h"
#include "simulator/exec/exec.h"

typedef struct {
    uint32_t phase;
    uint16_t warp_phase;
    uint16_t who;  /* thread, plus 1024 if atomic; the granule's bytes from bit 11 on */
    uint16_t time; /* of the thread, in check_order.c */
} Access;

typedef struct {
    Access write, read[2];
    uint32_t block;  /* the block in which bytes were written: others hold data from an earlier
                      * block */
    uint8_t written; /* those bytes, as bits */
    uint8_t unused[3];
} Granule;

enum { N_SHARED = SIM_SHARED_MOST / 4 + 64, N_CACHE = 4, N_POINTERS = 32 };

struct Check {
    uint32_t phase, block;
    uint16_t warp_phase[SIM_MAX_THREADS / SIM_WARP];
    uintptr_t shared; /* this thread's static shared memory */
    size_t shared_size;
    uintptr_t pointers[N_POINTERS]; /* variables in it that are not the user's */
    unsigned n_pointers;
    const SimModule *module;
    uint64_t epoch;
    const void *caller; /* return address of the latest access */
    unsigned next;
    SimBlock cache[N_CACHE];
    Order *order;
    bool looks_unset; /* in this block, a vote or similar returned a number that looks like an
                       * uninitialized local */
    struct { /* a write that is a race only if it changes memory: checked at the next event */
        uintptr_t address;
        unsigned size;
        unsigned char before[16];
        char text[600];
    } pending;
    struct { /* a write whose value is checked at the next event: it may be an uninitialized
              * local */
        uintptr_t address;
        unsigned size, linear;
        SimTriple thread;
        const void *caller;
    } last;
    Granule fixed[N_SHARED], dynamic[N_SHARED];
};

CUresult check_begin(Worker *worker) {
    if (worker->check == NULL) {
        void *room = mmap(NULL, sizeof(struct Check), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (room == MAP_FAILED)
            return CUDA_ERROR_OUT_OF_MEMORY;
        worker->check = room;
        worker->check->order = order_new();
        if (worker->check->order == NULL) {
            munmap(room, sizeof(struct Check));
            worker->check = NULL;
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    struct Check *check = worker->check;
    check->module = worker->job->kernel->module;
    check->shared = 0;
    check->epoch = 0;
    check->caller = NULL;
    check->pending.size = check->last.size = 0;
    return CUDA_SUCCESS;
}

/* Uninitialized locals hold a pattern from -ftrivial-auto-var-init: bytes of 0xfe with g++, 0xaa
 * with clang++. One or two such bytes are too likely to be a real number. */
static bool is_pattern(const struct Check *check, uintptr_t address, unsigned size) {
    unsigned least;
    const unsigned char *bytes = (const unsigned char *)address,
                        unset = sim_module_unset(check->module, &least);
    for (unsigned i = 0; i < size; i++) {
        if (bytes[i] != unset)
            return false;
    }
    return size >= (check->looks_unset ? 8 : least);
}

static void resolve_last(Worker *worker) {
    struct Check *check = worker->check;
    const unsigned size = check->last.size;
    check->last.size = 0;
    if (!is_pattern(check, check->last.address, size))
        return;
    char at[200];
    worker->c.thread = check->last.thread;
    worker->c.linear = check->last.linear;
    worker->where = WHERE_RUNTIME;
    source_line_describe(check->module, (uintptr_t)check->last.caller - 1, at, sizeof at);
    block_fail(worker, CUDA_ERROR_LAUNCH_FAILED,
               "the value of a local variable that was never set is written to memory%s", at);
}

static void resolve_pending(Worker *worker) {
    struct Check *check = worker->check;
    const unsigned size = check->pending.size;
    check->pending.size = 0;
    if (size > 0 &&
        memcmp((const void *)check->pending.address, check->pending.before, size) != 0) {
        worker->error->code = CUDA_ERROR_LAUNCH_FAILED;
        memcpy(worker->error->text, check->pending.text, sizeof check->pending.text);
        worker->failed = 1;
        fiber_leave(worker);
    }
}

uintptr_t check_caller(const Worker *worker) {
    return worker->check != NULL && worker->check->caller != NULL
               ? (uintptr_t)worker->check->caller - 1
               : 0;
}

void check_block(Worker *worker) {
    struct Check *check = worker->check;
    check->phase++;
    check->block++;
    memset(check->warp_phase, 0, sizeof check->warp_phase);
    check->looks_unset = false;
    order_block(check->order, worker->c.threads);
}

void check_event(Worker *worker) {
    if (worker->check->last.size > 0)
        resolve_last(worker);
    if (worker->check->pending.size > 0)
        resolve_pending(worker);
}

void check_barrier(Worker *worker) {
    check_event(worker);
    worker->check->phase++;
}

/* lanes: those of the warp that have received the result of an operation */
void check_warp(Worker *worker, unsigned warp, unsigned lanes) {
    struct Check *check = worker->check;
    unsigned least;
    const uint32_t unset = 0x01010101u * sim_module_unset(check->module, &least);
    check->warp_phase[warp]++;
    for (; lanes != 0; lanes &= lanes - 1) {
        const Lane *lane = &worker->lanes[warp * SIM_WARP + (unsigned)__builtin_ctz(lanes)];
        if (lane->operation != SIM_WARP_READ && (uint32_t)lane->result == unset)
            check->looks_unset = true;
    }
}

/* ---- shared memory --------------------------------------------------------------------------- */

static bool conflicts(const struct Check *check, const Access *other, const Access *own) {
    const unsigned thread = own->who & 1023, past = other->who & 1023;
    if (other->phase != check->phase || thread == past || ((other->who & own->who) >> 11) == 0)
        return false;
    if ((other->who & own->who & 1024) != 0)
        return false;
    if (thread / SIM_WARP == past / SIM_WARP && other->warp_phase != own->warp_phase)
        return false;
    return !order_before(check->order, past, other->time, thread);
}

static void name_thread(const Worker *worker, unsigned thread, char *text, size_t size) {
    const SimTriple b = worker->c.block_size;
    snprintf(text, size, "(%u,%u,%u)", thread % b.x, thread / b.x % b.y, thread / b.x / b.y);
}

static void describe_location(const Worker *worker, bool dynamic, size_t *offset, char *text,
                              size_t size) {
    if (dynamic)
        snprintf(text, size, "dynamic shared memory");
    else
        sim_module_shared_name(worker->check->module, offset, text, size);
}

static void race(Worker *worker, const Access *other, bool other_wrote, uintptr_t address,
                 unsigned size, int kind, bool dynamic, size_t offset, const void *caller) {
    struct Check *check = worker->check;
    char who[120], past[40], at[150], where[100]; /* together shorter than text */
    describe_location(worker, dynamic, &offset, where, sizeof where);
    diag_thread(worker, who, sizeof who);
    name_thread(worker, other->who & 1023, past, sizeof past);
    source_line_describe(check->module, (uintptr_t)caller - 1, at, sizeof at);
    const bool write = (kind & SIM_ACCESS_WRITE) != 0;
    char text[sizeof check->pending.text];
    const bool warp = (other->who & 1023) / SIM_WARP == worker->c.linear / SIM_WARP;
    snprintf(text, sizeof text,
             "%s: race on shared memory: %s of %u bytes at offset %zu of %s%s, which thread %s %s, "
             "with no barrier between%s",
             who, write ? "write" : "read", size, offset, where, at, past,
             other_wrote ? "wrote" : "read", warp ? ", nor a __syncwarp" : "");
    if (write && size <= sizeof check->pending.before) { /* a race only if it changes memory */
        memcpy(check->pending.text, text, sizeof text);
        memcpy(check->pending.before, (const void *)address, size);
        check->pending.address = address;
        check->pending.size = size;
        return;
    }
    worker->where = WHERE_RUNTIME;
    worker->error->code = CUDA_ERROR_LAUNCH_FAILED;
    snprintf(worker->error->text, sizeof worker->error->text, "%s", text);
    worker->failed = 1;
    fiber_leave(worker);
}

static void access_shared(Worker *worker, Granule *granules, uintptr_t base, uintptr_t address,
                          size_t size, int kind, bool dynamic, const void *caller) {
    struct Check *check = worker->check;
    const unsigned thread = worker->c.linear;
    Access own = {check->phase, check->warp_phase[thread / SIM_WARP],
                  (uint16_t)(thread | (kind & SIM_ACCESS_ATOMIC ? 1024u : 0u)),
                  (uint16_t)order_time(check->order, thread)};
    const size_t offset = address - base;
    const bool write = (kind & SIM_ACCESS_WRITE) != 0;
    bool reported = false;
    for (size_t at = offset & ~(size_t)3; at < offset + size; at += 4) {
        Granule *g = &granules[at / 4];
        unsigned mask = 15;
        if (at < offset)
            mask &= 15u << (offset - at);
        if (at + 4 > offset + size)
            mask &= 15u >> (at + 4 - offset - size);
        own.who = (uint16_t)((own.who & 2047u) | mask << 11);
        if (g->block != check->block) {
            g->block = check->block;
            g->written = 0;
        }
        if ((!write || (kind & SIM_ACCESS_UPDATE)) && (g->written & mask) != mask) {
            char line_text[250], where[100];
            size_t inside = offset;
            describe_location(worker, dynamic, &inside, where, sizeof where);
            source_line_describe(check->module, (uintptr_t)caller - 1, line_text, sizeof line_text);
            block_fail(worker, CUDA_ERROR_LAUNCH_FAILED,
                       "read of shared memory that no thread of the block has written, at offset "
                       "%zu of %s%s",
                       inside, where, line_text);
        }
        if (!reported) {
            if (conflicts(check, &g->write, &own)) {
                race(worker, &g->write, true, address, (unsigned)size, kind, dynamic, offset,
                     caller);
                reported = true;
            } else if (write) {
                for (unsigned i = 0; i < 2 && !reported; i++) {
                    if (conflicts(check, &g->read[i], &own)) {
                        race(worker, &g->read[i], false, address, (unsigned)size, kind, dynamic,
                             offset, caller);
                        reported = true;
                    }
                }
            }
        }
        if (write) {
            g->written |= (uint8_t)mask;
            if (!reported)
                g->write = own;
        } else if (g->read[0].phase != own.phase || (g->read[0].who & 1023) == thread) {
            g->read[0] = own;
        } else {
            g->read[1] = own;
        }
    }
}

/* ---- all memory ------------------------------------------------------------------------------ */

static void bad_address(Worker *worker, uintptr_t address, size_t size, int kind,
                        const void *caller) {
    char near[400], at[250];
    worker->where = WHERE_RUNTIME;
    diag_address(worker, address, near, sizeof near);
    source_line_describe(worker->check->module, (uintptr_t)caller - 1, at, sizeof at);
    block_fail(worker, CUDA_ERROR_ILLEGAL_ADDRESS, "invalid %s of %zu bytes at address 0x%zx%s: %s",
               kind & SIM_ACCESS_WRITE ? "write" : "read", size, (size_t)address, at, near);
}

static bool in_allocation(struct Check *check, uintptr_t address, size_t size) {
    const uint64_t epoch = sim_memory_epoch();
    if (epoch != check->epoch) {
        memset(check->cache, 0, sizeof check->cache);
        check->epoch = epoch;
    }
    for (unsigned i = 0; i < N_CACHE; i++) {
        const SimBlock *block = &check->cache[i];
        const size_t offset = address - block->base;
        if (offset < block->size)
            return offset < block->used && size <= block->used - offset;
    }
    SimBlock block;
    if (!sim_memory_find(address, &block) || block.freed)
        return false;
    check->cache[check->next++ % N_CACHE] = block;
    const size_t offset = address - block.base;
    return offset < block.used && size <= block.used - offset;
}

static void record_write(Worker *worker, uintptr_t address, unsigned long long size, int kind,
                         const void *caller) {
    struct Check *check = worker->check;
    if (kind != SIM_ACCESS_WRITE || (size != 4 && size != 8))
        return;
    check->last.address = address;
    check->last.size = (unsigned)size;
    check->last.thread = worker->c.thread;
    check->last.linear = worker->c.linear;
    check->last.caller = caller;
}

void runtime_access(SimContext *c, const void *pointer, unsigned long long size, int kind,
                    const void *caller) {
    Worker *worker = (Worker *)(void *)c;
    struct Check *check = worker->check;
    const uintptr_t address = (uintptr_t)pointer;
    if (address - (uintptr_t)worker < sizeof(Worker) || check == NULL)
        return; /* the context itself */
    check->caller = caller;
    check_event(worker);
    if (kind & SIM_ACCESS_FENCE) {
        order_fence(check->order, c->linear);
        return;
    }
    if (kind & SIM_ACCESS_ATOMIC)
        order_atomic(check->order, c->linear, address, (kind & SIM_ACCESS_WRITE) != 0);
    if (!(kind & SIM_ACCESS_UNALIGNED) && (address & (size - 1)) != 0) {
        char at[250];
        worker->where = WHERE_RUNTIME;
        source_line_describe(check->module, (uintptr_t)caller - 1, at, sizeof at);
        block_fail(worker, CUDA_ERROR_MISALIGNED_ADDRESS,
                   "misaligned %s of %llu bytes at address 0x%zx%s",
                   kind & SIM_ACCESS_WRITE ? "write" : "read", size, (size_t)address, at);
    }
    if (address - (uintptr_t)worker < SIM_REGION) {
        if (address - (uintptr_t)worker > ((size_t)4 << 20))
            return; /* a thread's stack */
        const uintptr_t dynamic = (uintptr_t)c->dynamic;
        if (address < dynamic || address + size > dynamic + c->dynamic_size)
            bad_address(worker, address, size, kind, caller);
        access_shared(worker, check->dynamic, dynamic, address, size, kind, true, caller);
        record_write(worker, address, size, kind, caller);
        return;
    }
    if (check->shared == 0) {
        check->shared = sim_module_shared(check->module, &check->shared_size);
        check->n_pointers =
            sim_module_pointers(check->module, c->dynamic, check->pointers, N_POINTERS);
    }
    for (unsigned i = 0; i < check->n_pointers; i++) {
        if (address == check->pointers[i])
            return;
    }
    if (check->shared != 0 && address - check->shared < check->shared_size) {
        if (address + size <= check->shared + check->shared_size)
            access_shared(worker, check->fixed, check->shared, address, size, kind, false, caller);
        record_write(worker, address, size, kind, caller);
        return;
    }
    if (in_allocation(check, address, size) || sim_module_image(check->module, address) ||
        address - (uintptr_t)&sim_runtime < sizeof sim_runtime) {
        record_write(worker, address, size, kind, caller);
        return;
    }
    bad_address(worker, address, size, kind, caller);
}
