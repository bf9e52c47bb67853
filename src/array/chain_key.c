/* chain_key.c - the steps of a chain, the sources of their operands, and the key that identifies
 * the chain. */
#include "array/chain.h"

/* ---- descriptions of arrays ------------------------------------------------------------------ */

static int describe(const GPUArray *array, ArrayDesc *desc) {
    if (array->ndim > CHAIN_DIMS) {
        return 0;
    }
    desc->memory = array->base_data;
    desc->offset = array->offset;
    desc->type = array->dtype->type_num;
    desc->ndim = array->ndim;
    for (int i = 0; i < 2 * array->ndim; i++) {
        desc->dims[i] = array->dims[i];
    }
    return 1;
}

/* Compares a few numbers, for which a call of memcmp() would be slower. */
static inline int same_numbers(const Py_ssize_t *a, const Py_ssize_t *b, int n) {
    Py_ssize_t other = 0;
    for (int i = 0; i < n; i++) {
        other |= a[i] ^ b[i];
    }
    return other == 0;
}

static int same_desc(const ArrayDesc *a, const ArrayDesc *b) {
    return a->offset == b->offset && a->type == b->type && a->ndim == b->ndim &&
           same_numbers(a->dims, b->dims, 2 * a->ndim);
}

static int of_chain_shape(const Chain *chain, const ArrayDesc *desc) {
    return desc->ndim == chain->ndim && same_numbers(desc->dims, chain->shape, desc->ndim);
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

static int put_desc(Chain *chain, const ArrayDesc *desc) {
    int ok = put_word(chain, desc->type | (desc->offset & 31) << 8 | (Py_ssize_t)desc->ndim << 16);
    for (int i = 0; ok && i < 2 * desc->ndim; i++) {
        ok = put_word(chain, desc->dims[i]);
    }
    return ok;
}

/* ---- operands -------------------------------------------------------------------------------- */

/* Whether every kernel can convert the number, whatever its type. The launch of others must not be
 * deferred, so that its error is raised by the call that made the mistake. */
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

/* Whether the kernel can have one more operand. */
static int has_room(const Chain *chain) {
    return chain->now.leaves + chain->now.numbers < CHAIN_OPERANDS;
}

/* Returns an array's source; -1 if the chain cannot have this operand. */
static int find_source(Chain *chain, const ArrayDesc *desc) {
    for (int i = chain->n_steps - 1; i >= 0; i--) {
        const ChainStep *step = &chain->steps[i];
        if (step->out.memory == desc->memory) {
            return same_desc(&step->out, desc) ? FROM_STEP + i : -1;
        }
    }
    for (int i = 0; i < chain->now.leaves; i++) {
        if (chain->leaves[i].memory == desc->memory && same_desc(&chain->leaves[i], desc)) {
            return FROM_LEAF + i;
        }
    }
    if (chain->now.leaves == CHAIN_LEAVES || !has_room(chain)) {
        return -1;
    }
    chain->leaves[chain->now.leaves] = *desc;
    return put_desc(chain, desc) ? FROM_LEAF + chain->now.leaves++ : -1;
}

/* Whether a step may write this output: if the chain uses its memory already, then with the same
 * layout. */
static int check_output(Chain *chain, const ArrayDesc *out) {
    for (int i = 0; i < chain->now.leaves; i++) {
        if (chain->leaves[i].memory == out->memory) {
            chain->now.rewrites = 1;
            if (!same_desc(&chain->leaves[i], out)) {
                return 0;
            }
        }
    }
    for (int i = 0; i < chain->n_steps; i++) {
        if (chain->steps[i].out.memory == out->memory) {
            chain->now.rewrites = 1;
            if (!same_desc(&chain->steps[i].out, out)) {
                return 0;
            }
        }
    }
    return 1;
}

/* Returns the step that computes an operand, or NULL. */
static ChainStep *producer_of(Chain *chain, int source) {
    return source >= FROM_STEP && source < FROM_NUMBER ? &chain->steps[source - FROM_STEP] : NULL;
}

static void count_uses(Chain *chain, const ChainStep *step, int change) {
    for (int i = 0; i < step->n; i++) {
        ChainStep *producer = producer_of(chain, step->sources[i]);
        if (producer != NULL) {
            producer->uses += change;
        }
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

static int begin(Chain *chain, Table *table, PyObject *backend, PyObject *queue,
                 const ArrayDesc *out) {
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

/* Operand i of a step: a number, or (desc not NULL) an array. 0 if it does not fit. */
static int add_operand(Chain *chain, ChainStep *step, int i, PyObject *object,
                       const ArrayDesc *desc) {
    int source;
    step->objects[1 + i] = object;
    if (desc == NULL) {
        if (!has_room(chain)) {
            return 0;
        }
        step->offsets[1 + i] = -1;
        chain->numbers[chain->now.numbers] = object;
        source = FROM_NUMBER + chain->now.numbers++;
    } else {
        step->offsets[1 + i] = desc->offset;
        source = find_source(chain, desc);
    }
    step->sources[i] = (short)source;
    return source >= 0 && put_word(chain, source);
}

/* Fills in the operands' sources and objects. Returns the number of operands; -1 if they do not
 * fit. */
static int read_operands(Chain *chain, ChainStep *step, PyObject *const *operands, int n) {
    for (int i = 0; i < n; i++) {
        ArrayDesc desc;
        int array = arr_is_array(operands[i]);
        if (array ? !describe((GPUArray *)operands[i], &desc) : !safe_number(operands[i])) {
            return -1;
        }
        if (!add_operand(chain, step, i, array ? desc.memory : operands[i], array ? &desc : NULL)) {
            return -1;
        }
    }
    return n;
}

/* Whether the chain has the same step already: that is where a loop's next iteration begins, and
 * so should a chain. */
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

/* chain_append() without taking references. After a failure, the caller restores chain->now. */
static int try_append(Chain *chain, const ChainLaunch *launch, GPUArray *first, GPUArray *out,
                      PyObject *const *operands, int n) {
    ChainStep *step = &chain->steps[chain->n_steps];
    ArrayDesc *desc = &step->out;
    if (chain->n_steps == CHAIN_STEPS || !describe(out, desc)) {
        return 0;
    }
    if (chain->n_steps > 0 && (chain->table != first->table || chain->queue != first->queue ||
                               !of_chain_shape(chain, desc))) {
        return 0;
    }
    if (chain->n_steps == 0 && !begin(chain, first->table, first->backend, first->queue, desc)) {
        return 0;
    }
    step->launch = *launch;
    step->objects[0] = desc->memory;
    step->offsets[0] = desc->offset;
    step->n = n;
    return put_word(chain, launch->op) && read_operands(chain, step, operands, n) == n &&
           put_desc(chain, desc) && check_output(chain, desc) && !repeats(chain, step);
}

/* Takes references to the objects of the new last step. mark: the chain without it. */
static void take_references(Chain *chain, ChainMark mark) {
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
    take_references(chain, mark);
    return 1;
}

int chain_append_copy(Chain *chain, const Chain *from, int i) {
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
        const ArrayDesc *desc = source >= FROM_NUMBER ? NULL
                                : source >= FROM_STEP ? &from->steps[source - FROM_STEP].out
                                                      : &from->leaves[source];
        ok = add_operand(chain, step, k, given->objects[1 + k], desc);
    }
    if (!ok || !put_desc(chain, &given->out)) {
        chain->now = mark;
        return 0;
    }
    take_references(chain, mark);
    return 1;
}

/* Returns the step whose result an array is, or -1. */
static int step_of(const Chain *chain, const ArrayDesc *desc) {
    for (int i = chain->n_steps - 1; i >= 0; i--) {
        const ChainStep *step = &chain->steps[i];
        if (step->out.memory == desc->memory) {
            return same_desc(&step->out, desc) ? i : -1;
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
    ArrayDesc from, *to = &chain->end.out;
    if (chain->n_steps == 0 || chain->end.plan != NULL || chain->now.rewrites ||
        chain->table != first->table || chain->queue != first->queue || plan->n_scratch > 1 ||
        chain_touches(chain, out->base_data) || /* groups would write what others still read */
        !describe(operand, &from) || !describe(out, to)) {
        return 0;
    }
    ChainMark mark = chain->now;
    int source = step_of(chain, &from);
    if (source < 0 || (chain->deferred && plan->n_scratch > 0 && *scratch == NULL) ||
        !put_word(chain, plan->op) || !put_word(chain, source) || !put_desc(chain, to)) {
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

/* Dropping references may run code that adds to chains. So they are dropped last, of what is no
 * longer part of the chain. */

static void release_end(Chain *chain) {
    const ChainEnd end = chain->end;
    chain->end = (ChainEnd){0};
    Py_XDECREF(end.plan);
    Py_XDECREF(end.memory);
    Py_XDECREF(end.scratch);
}

void chain_remove_end(Chain *chain) {
    chain->now = chain->before;
    release_end(chain);
}

static void release_last(Chain *chain) {
    const ChainStep *step = &chain->steps[--chain->n_steps];
    const ChainLaunch launch = step->launch;
    PyObject *objects[CALL_MAX + 1];
    int n = step->n;
    memcpy(objects, step->objects, sizeof objects);
    for (int i = 0; i <= n; i++) {
        Py_XDECREF(objects[i]);
    }
    Py_XDECREF(launch.kernel);
    Py_XDECREF(launch.sizes);
    Py_XDECREF(launch.local);
    Py_XDECREF(launch.numbers);
}

void chain_remove_last(Chain *chain) {
    count_uses(chain, &chain->steps[chain->n_steps - 1], -1);
    chain->now = chain->before;
    release_last(chain);
}

void chain_clear(Chain *chain) {
    while (chain->n_steps > 0) {
        release_last(chain);
    }
    release_end(chain);
    Py_CLEAR(chain->table);
    Py_CLEAR(chain->backend);
    Py_CLEAR(chain->queue);
    Py_CLEAR(chain->event);
    chain->deferred = chain->resumed = 0;
    memset(&chain->now, 0, sizeof chain->now);
}

/* ---- results that are still referenced ------------------------------------------------------- */

static Py_ssize_t count_references(const Chain *chain, const PyObject *memory) {
    Py_ssize_t count = 0;
    for (int i = 0; i < chain->n_steps; i++) {
        for (int k = 0; k <= chain->steps[i].n; k++) {
            count += chain->steps[i].objects[k] == memory;
        }
    }
    return count;
}

/* Whether the program still has a reference to the result of a step. */
static int is_referenced(const Chain *chain, const ChainStep *step) {
    const PyObject *memory = step->out.memory;
    return memory != NULL &&
           Py_REFCNT(memory) > (chain->now.rewrites ? count_references(chain, memory) : step->uses);
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
        if (step->out.memory != NULL && is_referenced(chain, step) &&
            !(chain->now.rewrites && overwritten(chain, i))) {
            live |= 1u << i;
        }
    }
    return live;
}

void chain_sweep(Chain *chain) {
    for (int i = 0; i < chain->n_steps; i++) {
        PyObject *memory = chain->steps[i].out.memory;
        if (memory == NULL || is_referenced(chain, &chain->steps[i])) {
            continue;
        }
        Py_INCREF(memory); /* freed once the chain has no trace of it: that may run code */
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
        Py_DECREF(memory);
    }
}
