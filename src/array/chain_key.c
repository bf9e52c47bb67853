/* chain_key.c - what a chain consists of: steps, where their operands come from, and the words by
 * which chains are told apart. */
#include "array/chain.h"

/* ---- places ---------------------------------------------------------------------------------- */

static int place_of(const GPUArray *array, Place *place) {
    if (array->ndim > CHAIN_DIMS) {
        return 0;
    }
    place->memory = array->base_data;
    place->offset = array->offset;
    place->type = array->dtype->type_num;
    place->ndim = array->ndim;
    for (int i = 0; i < 2 * array->ndim; i++) {
        place->dims[i] = array->dims[i];
    }
    return 1;
}

/* Of a few numbers, for which memcmp() is a call too many. */
static inline int same_numbers(const Py_ssize_t *a, const Py_ssize_t *b, int n) {
    Py_ssize_t other = 0;
    for (int i = 0; i < n; i++) {
        other |= a[i] ^ b[i];
    }
    return other == 0;
}

static int same_place(const Place *a, const Place *b) {
    return a->offset == b->offset && a->type == b->type && a->ndim == b->ndim &&
           same_numbers(a->dims, b->dims, 2 * a->ndim);
}

static int of_chain_shape(const Chain *chain, const Place *place) {
    return place->ndim == chain->ndim && same_numbers(place->dims, chain->shape, place->ndim);
}

/* ---- words ----------------------------------------------------------------------------------- */

static int put_word(Chain *chain, Py_ssize_t word) {
    if (chain->now.words == CHAIN_WORDS) {
        return 0;
    }
    chain->key[chain->now.words++] = word;
    chain->now.hash = (chain->now.hash ^ (uint64_t)word) * 0x9E3779B97F4A7C15u;
    chain->now.hash ^= chain->now.hash >> 29;
    return 1;
}

static int put_place(Chain *chain, const Place *place) {
    int ok =
        put_word(chain, place->type | (place->offset & 31) << 8 | (Py_ssize_t)place->ndim << 16);
    for (int i = 0; ok && i < 2 * place->ndim; i++) {
        ok = put_word(chain, place->dims[i]);
    }
    return ok;
}

/* ---- operands -------------------------------------------------------------------------------- */

/* Numbers that every kernel converts without an error, whatever its type: others are looked at by
 * the launch, whose error is to come where the program made the mistake. */
static int safe_number(PyObject *op) {
    if (PyFloat_CheckExact(op)) {
        double value = PyFloat_AS_DOUBLE(op);
        return value > -3e38 && value < 3e38;
    }
    if (PyLong_CheckExact(op)) {
        int overflow;
        long value = PyLong_AsLongAndOverflow(op, &overflow);
        return overflow == 0 && value >= 0 && value <= 127;
    }
    return PyArray_IsScalar(op, Floating) || PyArray_IsScalar(op, Integer);
}

/* For one more operand of the kernel. */
static int has_room(const Chain *chain) {
    return chain->now.leaves + chain->now.numbers < CHAIN_OPERANDS;
}

/* Where an array comes from, as a source; -1 if the chain cannot take it. */
static int source_of(Chain *chain, const Place *place) {
    for (int i = chain->n_steps - 1; i >= 0; i--) {
        const ChainStep *step = &chain->steps[i];
        if (step->out.memory == place->memory) {
            return same_place(&step->out, place) ? FROM_STEP + i : -1;
        }
    }
    for (int i = 0; i < chain->now.leaves; i++) {
        if (chain->leaves[i].memory == place->memory && same_place(&chain->leaves[i], place)) {
            return FROM_LEAF + i;
        }
    }
    if (chain->now.leaves == CHAIN_LEAVES || !has_room(chain)) {
        return -1;
    }
    chain->leaves[chain->now.leaves] = *place;
    return put_place(chain, place) ? FROM_LEAF + chain->now.leaves++ : -1;
}

/* Writing an output while others are read and written: only items at the same place may be the
 * same memory. */
static int may_write(Chain *chain, const Place *out) {
    for (int i = 0; i < chain->now.leaves; i++) {
        if (chain->leaves[i].memory == out->memory) {
            chain->now.rewrites = 1;
            if (!same_place(&chain->leaves[i], out)) {
                return 0;
            }
        }
    }
    for (int i = 0; i < chain->n_steps; i++) {
        if (chain->steps[i].out.memory == out->memory) {
            chain->now.rewrites = 1;
            if (!same_place(&chain->steps[i].out, out)) {
                return 0;
            }
        }
    }
    return 1;
}

/* The step that an operand is the result of, or NULL. */
static ChainStep *maker_of(Chain *chain, int source) {
    return source >= FROM_STEP && source < FROM_NUMBER ? &chain->steps[source - FROM_STEP] : NULL;
}

static void count_uses(Chain *chain, const ChainStep *step, int change) {
    for (int i = 0; i < step->n; i++) {
        ChainStep *maker = maker_of(chain, step->sources[i]);
        if (maker != NULL) {
            maker->uses += change;
        }
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

static int begin(Chain *chain, Table *table, PyObject *backend, PyObject *queue, const Place *out) {
    chain->table = (Table *)Py_NewRef((PyObject *)table);
    chain->backend = Py_NewRef(backend);
    chain->queue = Py_NewRef(queue);
    chain->ndim = out->ndim;
    memcpy(chain->shape, out->dims, (size_t)out->ndim * sizeof *out->dims);
    chain->now.hash = chain->table->serial;
    int ok = put_word(chain, out->ndim);
    for (int i = 0; ok && i < out->ndim; i++) {
        ok = put_word(chain, out->dims[i]);
    }
    return ok;
}

/* Operand i of a step: a number, or (place not NULL) an array. 0 if it does not fit. */
static int add_operand(Chain *chain, ChainStep *step, int i, PyObject *object, const Place *place) {
    int source;
    step->objects[1 + i] = object;
    if (place == NULL) {
        if (!has_room(chain)) {
            return 0;
        }
        step->offsets[1 + i] = -1;
        chain->numbers[chain->now.numbers] = object;
        source = FROM_NUMBER + chain->now.numbers++;
    } else {
        step->offsets[1 + i] = place->offset;
        source = source_of(chain, place);
    }
    step->sources[i] = (short)source;
    return source >= 0 && put_word(chain, source);
}

/* The operands' sources, and references to them. How many operands; -1: they do not fit. */
static int read_operands(Chain *chain, ChainStep *step, PyObject *const *operands, int n) {
    for (int i = 0; i < n; i++) {
        Place place;
        int array = arr_is_array(operands[i]);
        if (array ? !place_of((GPUArray *)operands[i], &place) : !safe_number(operands[i])) {
            return -1;
        }
        if (!add_operand(chain, step, i, array ? place.memory : operands[i],
                         array ? &place : NULL)) {
            return -1;
        }
    }
    return n;
}

/* Whether the same was computed in this chain before: a loop begins again there, and so does the
 * chain. */
static int repeats(const Chain *chain, const ChainStep *step) {
    for (int i = 0; i < chain->n_steps; i++) {
        const ChainStep *before = &chain->steps[i];
        int same = before->launch.op == step->launch.op && before->n == step->n;
        for (int k = 0; same && k < step->n; k++) {
            same = before->sources[k] == step->sources[k];
        }
        if (same) {
            return 1;
        }
    }
    return 0;
}

/* As chain_append(), before references are taken; a failure leaves counts that the caller puts
 * back. */
static int try_append(Chain *chain, const ChainLaunch *launch, GPUArray *first, GPUArray *out,
                      PyObject *const *operands, int n) {
    ChainStep *step = &chain->steps[chain->n_steps];
    Place *place = &step->out;
    if (chain->n_steps == CHAIN_STEPS || !place_of(out, place)) {
        return 0;
    }
    if (chain->n_steps > 0 && (chain->table != first->table || chain->queue != first->queue ||
                               !of_chain_shape(chain, place))) {
        return 0;
    }
    if (chain->n_steps == 0 && !begin(chain, first->table, first->backend, first->queue, place)) {
        return 0;
    }
    step->launch = *launch;
    step->objects[0] = place->memory;
    step->offsets[0] = place->offset;
    step->n = n;
    return put_word(chain, launch->op) && read_operands(chain, step, operands, n) == n &&
           put_place(chain, place) && may_write(chain, place) && !repeats(chain, step);
}

/* Takes references to what the new last step consists of. mark: the chain without it. */
static void hold_last(Chain *chain, ChainMark mark) {
    chain->before = mark;
    ChainStep *step = &chain->steps[chain->n_steps];
    for (int i = 0; i <= step->n; i++) {
        Py_INCREF(step->objects[i]);
    }
    Py_XINCREF(step->launch.kernel);
    Py_XINCREF(step->launch.sizes);
    Py_XINCREF(step->launch.local);
    Py_XINCREF(step->launch.numbers);
    step->uses = 1;
    count_uses(chain, step, 1);
    chain->prefixes[chain->n_steps++] = chain->now.hash;
}

int chain_append(Chain *chain, const ChainLaunch *launch, GPUArray *first, GPUArray *out,
                 PyObject *const *operands, int n) {
    ChainMark mark = chain->now;
    if (!try_append(chain, launch, first, out, operands, n)) {
        chain->now = mark;
        if (chain->n_steps == 0) {
            chain_clear(chain);
        }
        return 0;
    }
    hold_last(chain, mark);
    return 1;
}

int chain_append_again(Chain *chain, const Chain *from, int i) {
    if (chain->n_steps == CHAIN_STEPS) {
        return 0;
    }
    const ChainStep *given = &from->steps[i];
    ChainStep *step = &chain->steps[chain->n_steps];
    ChainMark mark = chain->now;
    step->launch = given->launch;
    step->out = given->out;
    step->n = given->n;
    step->objects[0] = given->out.memory;
    step->offsets[0] = given->out.offset;
    int ok = (chain->n_steps > 0 ||
              begin(chain, from->table, from->backend, from->queue, &given->out)) &&
             put_word(chain, given->launch.op);
    for (int k = 0; k < given->n && ok; k++) {
        int source = given->sources[k];
        const Place *place = source >= FROM_NUMBER ? NULL
                             : source >= FROM_STEP ? &from->steps[source - FROM_STEP].out
                                                   : &from->leaves[source];
        ok = add_operand(chain, step, k, given->objects[1 + k], place);
    }
    if (!ok || !put_place(chain, &given->out)) {
        chain->now = mark;
        return 0;
    }
    hold_last(chain, mark);
    return 1;
}

/* Which step's result an array is; -1: of none. */
static int step_of(const Chain *chain, const Place *place) {
    for (int i = chain->n_steps - 1; i >= 0; i--) {
        const ChainStep *step = &chain->steps[i];
        if (step->out.memory == place->memory) {
            return same_place(&step->out, place) ? i : -1;
        }
    }
    return -1;
}

int chain_touches(const Chain *chain, const PyObject *memory) {
    for (int i = 0; i < chain->n_steps; i++) {
        const ChainStep *step = &chain->steps[i];
        for (int k = 0; k <= step->n; k++) {
            if (step->objects[k] == memory) {
                return 1;
            }
        }
    }
    return chain->end.plan != NULL && chain->end.memory == memory;
}

int chain_append_end(Chain *chain, Plan *plan, GPUArray *first, GPUArray *out,
                     const GPUArray *operand, PyObject **scratch) {
    Place from, *to = &chain->end.out;
    if (chain->n_steps == 0 || chain->end.plan != NULL || chain->now.rewrites ||
        chain->table != first->table || chain->queue != first->queue || plan->n_scratch > 1 ||
        chain_touches(chain, out->base_data) || /* groups would write what others still read */
        !place_of(operand, &from) || !place_of(out, to)) {
        return 0;
    }
    ChainMark mark = chain->now;
    int source = step_of(chain, &from);
    if (source < 0 || (chain->deferred && plan->n_scratch > 0 && *scratch == NULL) ||
        !put_word(chain, plan->op) || !put_word(chain, source) || !put_place(chain, to)) {
        chain->now = mark;
        return 0;
    }
    chain->before = mark;
    chain->end.plan = (Plan *)Py_NewRef((PyObject *)plan);
    chain->end.memory = Py_NewRef(to->memory);
    chain->end.scratch = *scratch;
    *scratch = NULL;
    chain->end.op = plan->op;
    chain->end.source = source;
    chain->prefixes[chain->n_steps] = chain->now.hash;
    return 1;
}

static void release_end(Chain *chain) {
    Py_CLEAR(chain->end.plan);
    Py_CLEAR(chain->end.memory);
    Py_CLEAR(chain->end.scratch);
}

void chain_remove_end(Chain *chain) {
    release_end(chain);
    chain->now = chain->before;
}

static void release(ChainStep *step) {
    for (int i = 0; i <= step->n; i++) {
        Py_CLEAR(step->objects[i]);
    }
    Py_CLEAR(step->launch.kernel);
    Py_CLEAR(step->launch.sizes);
    Py_CLEAR(step->launch.local);
    Py_CLEAR(step->launch.numbers);
}

void chain_remove_last(Chain *chain) {
    count_uses(chain, &chain->steps[chain->n_steps - 1], -1);
    release(&chain->steps[--chain->n_steps]);
    chain->now = chain->before;
}

void chain_clear(Chain *chain) {
    for (int i = 0; i < chain->n_steps; i++) {
        release(&chain->steps[i]);
    }
    release_end(chain);
    Py_CLEAR(chain->table);
    Py_CLEAR(chain->backend);
    Py_CLEAR(chain->queue);
    Py_CLEAR(chain->event);
    chain->deferred = chain->resumed = chain->n_steps = 0;
    memset(&chain->now, 0, sizeof chain->now);
}

/* ---- who still wants a result ---------------------------------------------------------------- */

static Py_ssize_t held(const Chain *chain, const PyObject *memory) {
    Py_ssize_t count = 0;
    for (int i = 0; i < chain->n_steps; i++) {
        for (int k = 0; k <= chain->steps[i].n; k++) {
            count += chain->steps[i].objects[k] == memory;
        }
    }
    return count;
}

/* Whether the program has the result of a step, too. */
static int wanted(const Chain *chain, const ChainStep *step) {
    const PyObject *memory = step->out.memory;
    return memory != NULL &&
           Py_REFCNT(memory) > (chain->now.rewrites ? held(chain, memory) : step->uses);
}

static int overwritten(const Chain *chain, int at) {
    for (int i = at + 1; i < chain->n_steps; i++) {
        if (chain->steps[i].out.memory == chain->steps[at].out.memory) {
            return 1;
        }
    }
    return 0;
}

uint32_t chain_live(const Chain *chain) {
    uint32_t live = 0;
    for (int i = 0; i < chain->n_steps; i++) {
        const ChainStep *step = &chain->steps[i];
        if (step->out.memory != NULL && wanted(chain, step) &&
            !(chain->now.rewrites && overwritten(chain, i))) {
            live |= 1u << i;
        }
    }
    return live;
}

void chain_sweep(Chain *chain) {
    for (int i = 0; i < chain->n_steps; i++) {
        PyObject *memory = chain->steps[i].out.memory;
        if (memory == NULL || wanted(chain, &chain->steps[i])) {
            continue;
        }
        for (int j = 0; j < chain->now.leaves; j++) {
            if (chain->leaves[j].memory == memory) {
                chain->leaves[j].memory = NULL;
            }
        }
        for (int j = 0; j < chain->n_steps; j++) {
            ChainStep *step = &chain->steps[j];
            if (step->out.memory == memory) {
                step->out.memory = NULL;
            }
            for (int k = 0; k <= step->n; k++) {
                if (step->objects[k] == memory) {
                    Py_CLEAR(step->objects[k]);
                }
            }
        }
    }
}
