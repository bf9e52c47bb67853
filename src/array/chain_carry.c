/* chain_carry.c - results that stay deferred after the launch of their chain.
 *
 * A chain ends with a reduction because what follows has another shape, but programs use the
 * reduced values again: e = exp(x - max); e / sum(e). Instead of writing e to memory with the sum,
 * its steps are carried over. An operation that reads e begins a chain with these steps; if the
 * program drops e first, it is never written. Any other command launches them, as it does a chain.
 */
#include "array/chain.h"

#define CARRY_SIZE  (1L << 16) /* items: smaller results are written at once */
#define CARRY_STEPS 8          /* the most that are computed twice */
#define CARRY_MOST  16         /* launches that carried steps outlast */
#define GAIN_MOST   4
#define LOSS        2 /* for steps launched by themselves, which read some array twice */

Chain arr_chain_carried;

static Chain *const carried = &arr_chain_carried;
static uint64_t origin; /* the hash of the chain that they were part of */
static int passed;      /* launches since */

/* Whether carrying steps over has paid, by chain. A chain that takes another one's slot starts at
 * 0. */
static struct {
    uint64_t hash;
    int score;
} scores[512];

static int *score_of(uint64_t hash) {
    size_t at = (size_t)(hash >> 32) % (sizeof scores / sizeof *scores);
    if (scores[at].hash != hash) {
        scores[at].hash = hash;
        scores[at].score = 0;
    }
    return &scores[at].score;
}

static void add_to_score(int change) {
    int *score = score_of(origin);
    *score = *score + change > GAIN_MOST ? GAIN_MOST : *score + change;
}

/* Returns the results, and the steps that they are computed from. */
static uint32_t with_dependencies(const Chain *chain, uint32_t results) {
    for (int i = chain->n_steps - 1; i >= 0; i--) {
        const ChainStep *step = &chain->steps[i];
        for (int k = 0; k < step->n && results >> i & 1; k++) {
            if (step->sources[k] >= FROM_STEP && step->sources[k] < FROM_NUMBER) {
                results |= 1u << (step->sources[k] - FROM_STEP);
            }
        }
    }
    return results;
}

static int count(uint32_t bits) {
    int n = 0;
    for (; bits != 0; bits &= bits - 1) {
        n++;
    }
    return n;
}

static Py_ssize_t size_of(const Chain *chain) {
    Py_ssize_t size = 1;
    for (int i = 0; i < chain->ndim; i++) {
        size *= chain->shape[i];
    }
    return size;
}

uint32_t chain_carry_candidates(const Chain *chain, uint32_t live) {
    if (live == 0 || chain->end.plan == NULL || chain->now.rewrites || !chain->table->cuda ||
        carried->n_steps != 0 || (size_of(chain) < CARRY_SIZE && arr_chain_mode != 2) ||
        count(with_dependencies(chain, live)) > CARRY_STEPS || *score_of(chain->now.hash) < 0) {
        return 0;
    }
    return live;
}

void chain_carry(const Chain *chain, uint32_t results) {
    uint32_t steps = with_dependencies(chain, results);
    for (int i = 0; i < chain->n_steps; i++) {
        if (steps >> i & 1) {
            chain_append_copy(carried, chain, i); /* part of a chain has room where that had it */
        }
    }
    carried->deferred = 1;
    origin = chain->now.hash;
    passed = 0;
}

int chain_is_result(const Chain *chain, const GPUArray *array) {
    for (int i = 0; i < chain->n_steps; i++) {
        if (chain->steps[i].out.memory == array->base_data) {
            return 1;
        }
    }
    return chain->end.plan != NULL && chain->end.memory == array->base_data;
}

int chain_is_carried(PyObject *const *operands, int n) {
    for (int i = 0; i < n; i++) {
        if (arr_is_array(operands[i]) && chain_is_result(carried, (GPUArray *)operands[i])) {
            return 1;
        }
    }
    return 0;
}

/* Whether the chain writes what carried steps read, or reads or writes their results. */
static int conflicts_with_carried(const Chain *chain) {
    for (int i = 0; i < chain->n_steps; i++) {
        const ChainStep *step = &chain->steps[i];
        for (int j = 0; j < carried->n_steps; j++) {
            const ChainStep *waiting = &carried->steps[j];
            for (int k = 0; k <= step->n; k++) {
                if (step->objects[k] != NULL && step->objects[k] == waiting->objects[0]) {
                    return 1;
                }
            }
            for (int k = 1; k <= waiting->n; k++) {
                if (step->objects[0] != NULL && step->objects[0] == waiting->objects[k]) {
                    return 1;
                }
            }
        }
    }
    return chain->end.plan != NULL && chain_touches(carried, chain->end.memory);
}

int chain_must_flush_carried(const Chain *before) {
    if (carried->n_steps == 0) {
        return 0;
    }
    if (chain_live(carried) == 0) {
        add_to_score(1);
        chain_clear(carried);
        return 0;
    }
    if (before != NULL && ++passed < CARRY_MOST && !conflicts_with_carried(before)) {
        return 0;
    }
    add_to_score(-LOSS);
    return 1;
}

void chain_carry_failed(void) {
    add_to_score(-LOSS - 1);
}

void chain_resume(Chain *chain) {
    for (int i = 0; i < carried->n_steps; i++) {
        chain_append_copy(chain, carried, i);
    }
    chain->deferred = chain->resumed = 1;
    add_to_score(1);
    chain_clear(carried);
}
