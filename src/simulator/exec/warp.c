/* warp.c - operations in which the 32 lanes of a warp meet. Each lane waits with its value, and
 * the last one in the mask computes all results. So lanes need not run in lockstep, and none can
 * overwrite a value that another has not read.
 *
 * Lanes that have returned are not waited for. __activemask has no mask: its lanes wait until
 * nothing else in the block can run, and those at the same call are active together, as on a GPU.
 * A step of code that relies on lockstep (rewrite_step.c) has no mask either: its lanes continue
 * when all are there, or, if some went another way, when nothing else can run. */
#include "simulator/exec/exec.h"

/* of lanes behind others without a barrier, before those continue, too. */
#define MOST_STEPS 10000u

void warp_begin(Worker *worker) {
    const unsigned threads = worker->c.threads;
    worker->steps = 0;
    for (unsigned i = 0; i * SIM_WARP < threads; i++) {
        const unsigned lanes = threads - i * SIM_WARP;
        worker->warps[i].lanes = lanes >= SIM_WARP ? 0xffffffffu : (1u << lanes) - 1;
        worker->warps[i].waiting = 0;
        worker->c.ended[i] = 0;
    }
}

static inline unsigned alive(const Worker *worker, const Warp *warp) {
    return warp->lanes & ~worker->c.ended[warp - worker->warps];
}

static inline Lane *lane_of(Worker *worker, const Warp *warp, unsigned lane) {
    return &worker->lanes[(unsigned)(warp - worker->warps) * SIM_WARP + lane];
}

#define FOR_LANES(lane, set)           \
    for (unsigned rest_ = (set), lane; \
         rest_ != 0 && (lane = (unsigned)__builtin_ctz(rest_), true); rest_ &= rest_ - 1)

static bool less(int operation, SimWord a, SimWord b) {
    switch (operation) {
    case SIM_WARP_MIN:
        return a < b;
    case SIM_WARP_MAX:
        return b < a;
    case SIM_WARP_MIN_SIGNED:
        return (long long)a < (long long)b;
    default:
        return (long long)b < (long long)a;
    }
}

static SimWord lanes_with(Worker *worker, Warp *warp, unsigned set, SimWord value) {
    SimWord lanes = 0;
    FOR_LANES(lane, set) lanes |= (SimWord)(lane_of(worker, warp, lane)->value == value) << lane;
    return lanes;
}

/* Computes the results of all lanes in set, which wait with the same operation. */
static void compute(Worker *worker, Warp *warp, int operation, unsigned set) {
    SimWord all = 0;
    bool first = true, same = true;
    if (operation == SIM_WARP_SYNC)
        return;
    if (operation == SIM_WARP_READ) {
        FOR_LANES(lane, set) {
            Lane *me = lane_of(worker, warp, lane);
            const unsigned from = (unsigned)(me->argument & 31);
            me->result = (set >> from & 1) ? lane_of(worker, warp, from)->value
                                           : 0; /* what GPUs return, and programs rely on */
        }
        return;
    }
    if (operation == SIM_WARP_MATCH_ANY) {
        FOR_LANES(lane, set) {
            Lane *me = lane_of(worker, warp, lane);
            me->result = lanes_with(worker, warp, set, me->value);
        }
        return;
    }
    FOR_LANES(lane, set) {
        const SimWord value = lane_of(worker, warp, lane)->value;
        switch (operation) {
        case SIM_WARP_BALLOT:
            all |= (SimWord)(value != 0) << lane;
            break;
        case SIM_WARP_MATCH_ALL:
            same = same && (first || value == all);
            all = value;
            break;
        case SIM_WARP_ADD:
            all += value;
            break;
        case SIM_WARP_AND:
            all = first ? value : all & value;
            break;
        case SIM_WARP_OR:
            all |= value;
            break;
        case SIM_WARP_XOR:
            all ^= value;
            break;
        default:
            all = first || less(operation, value, all) ? value : all;
            break;
        }
        first = false;
    }
    if (operation == SIM_WARP_MATCH_ALL)
        all = same ? set : 0;
    FOR_LANES(lane, set) lane_of(worker, warp, lane)->result = all;
}

static void wake(Worker *worker, Warp *warp, unsigned set, unsigned but) {
    if (SIM_UNLIKELY(worker->check != NULL) &&
        lane_of(worker, warp, (unsigned)__builtin_ctz(set))->operation != SIM_WARP_STEP) {
        check_warp(worker, (unsigned)(warp - worker->warps), set);
    }
    warp->waiting &= ~set;
    set &= ~but;
    worker->c.waiting -= (unsigned)__builtin_popcount(set);
    FOR_LANES(lane, set) fiber_ready(worker, warp->fiber[lane]);
}

/* Whether all lanes in mask that have not returned wait with this operation and mask. */
static bool complete(Worker *worker, Warp *warp, int operation, unsigned mask) {
    const unsigned need = mask & alive(worker, warp);
    if ((warp->waiting & need) != need)
        return false;
    FOR_LANES(lane, need) {
        const Lane *there = lane_of(worker, warp, lane);
        if (there->mask != mask || there->operation != operation)
            return false;
    }
    return need != 0;
}

/* Whether all lanes have reached the call of this one. */
static bool in_step(Worker *worker, const Warp *warp, const Lane *me) {
    const unsigned need = alive(worker, warp);
    if ((warp->waiting & need) != need)
        return false;
    FOR_LANES(lane, need) {
        const Lane *there = lane_of(worker, warp, lane);
        if (there->operation != SIM_WARP_STEP || there->argument != me->argument)
            return false;
    }
    return true;
}

SimWord warp_operation(SimContext *c, int operation, unsigned mask, SimWord value,
                       SimWord argument) {
    Worker *worker = (Worker *)(void *)c;
    Lane *me = &worker->lanes[c->linear];
    Warp *warp = &worker->warps[c->linear / SIM_WARP];
    const unsigned lane = c->linear % SIM_WARP, bit = 1u << lane;
    me->operation = operation;
    me->mask = mask;
    me->value = value;
    me->argument = argument;
    me->caller = __builtin_return_address(0);
    warp->fiber[lane] = (uint16_t)worker->running;
    if (operation == SIM_WARP_STEP) {
        if (SIM_UNLIKELY(worker->stop)) {
            char at[300];
            source_line_describe(worker->job->kernel->module, (uintptr_t)me->caller - 1, at,
                                 sizeof at);
            block_stopped(worker, at);
        }
        warp->waiting |= bit;
        if (in_step(worker, warp, me) &&
            worker->steps < MOST_STEPS) { /* or others, which it may be waiting for, would never get
                                           * their turn */
            worker->steps++;
            wake(worker, warp, alive(worker, warp), bit);
            return 0;
        }
    } else if (operation != SIM_WARP_ACTIVE) {
        if (SIM_UNLIKELY((mask & bit) == 0)) {
            char at[300];
            source_line_describe(worker->job->kernel->module, (uintptr_t)me->caller - 1, at,
                                 sizeof at);
            block_fail(worker, CUDA_ERROR_LAUNCH_FAILED,
                       "warp operation whose mask 0x%08x does not name the calling lane %u%s", mask,
                       lane, at);
        }
        warp->waiting |= bit;
        if (complete(worker, warp, operation, mask)) {
            const unsigned set = mask & alive(worker, warp);
            compute(worker, warp, operation, set);
            wake(worker, warp, set, bit);
            return me->result;
        }
    } else {
        warp->waiting |= bit;
    }
    c->waiting++;
    fiber_next(worker);
    return me->result;
}

/* A lane has returned: others may have been waiting only for it. */
void warp_thread_end(Worker *worker, unsigned linear) {
    Warp *warp = &worker->warps[linear / SIM_WARP];
    worker->steps = 0;
    FOR_LANES(lane, warp->waiting) {
        const Lane *there = lane_of(worker, warp, lane);
        if ((warp->waiting >> lane & 1) && there->operation != SIM_WARP_ACTIVE &&
            there->operation != SIM_WARP_STEP &&
            complete(worker, warp, there->operation, there->mask)) {
            const unsigned set = there->mask & alive(worker, warp);
            compute(worker, warp, there->operation, set);
            wake(worker, warp, set, 0);
        }
    }
}

/* Lets lanes at steps continue, in each warp those that are furthest behind in the program; all:
 * every one. Returns false if there are none. */
static bool resolve_steps(Worker *worker, bool all) {
    bool any = false;
    for (unsigned i = 0; i * SIM_WARP < worker->c.threads; i++) {
        Warp *warp = &worker->warps[i];
        unsigned set = 0;
        SimWord least = ~(SimWord)0;
        FOR_LANES(lane, warp->waiting) {
            const Lane *there = lane_of(worker, warp, lane);
            if (there->operation != SIM_WARP_STEP || (!all && there->argument > least))
                continue;
            set = all || there->argument == least ? set | 1u << lane : 1u << lane;
            least = there->argument;
        }
        if (set == 0)
            continue;
        wake(worker, warp, set, 0);
        any = true;
    }
    return any;
}

/* Called when nothing else can run: lets lanes at steps continue; if there are none, tells lanes
 * at __activemask who is with them. Returns false if there are none of these either. Lanes may
 * step in a loop that waits for others, so the others get their turn eventually. */
bool warp_resolve(Worker *worker) {
    const bool all = worker->steps++ >= MOST_STEPS;
    bool any = resolve_steps(worker, all);
    if (any && !all)
        return true;
    worker->steps = 0;
    for (unsigned i = 0; i * SIM_WARP < worker->c.threads; i++) {
        Warp *warp = &worker->warps[i];
        unsigned left = 0;
        FOR_LANES(lane, warp->waiting)
        left |= (unsigned)(lane_of(worker, warp, lane)->operation == SIM_WARP_ACTIVE) << lane;
        while (left != 0) {
            const Lane *first = lane_of(worker, warp, (unsigned)__builtin_ctz(left));
            unsigned set = 0;
            FOR_LANES(lane, left) {
                const Lane *there = lane_of(worker, warp, lane);
                if (there->caller == first->caller && there->argument == first->argument &&
                    there->value == first->value)
                    set |= 1u << lane;
            }
            FOR_LANES(lane, set) lane_of(worker, warp, lane)->result = set;
            wake(worker, warp, set, 0);
            left &= ~set;
            any = true;
        }
    }
    return any;
}
