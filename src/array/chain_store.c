/* chain_store.c - counts how often each chain occurred, and finds the kernels that Python compiled
 * for frequent ones. */
#include "array/chain.h"

#define PREFIXES_MOST 8192 /* half of the slots */

ChainCounts arr_chain_counts;
uint32_t arr_chain_threshold = 3;

/* ---- prefixes of chains that have a kernel --------------------------------------------------- */

static uint64_t prefixes[2 * PREFIXES_MOST]; /* 0: free */
static size_t n_prefixes;

static uint64_t *find_prefix_slot(uint64_t hash) {
    size_t at = (size_t)hash;
    while (prefixes[at % (2 * PREFIXES_MOST)] != 0 && prefixes[at % (2 * PREFIXES_MOST)] != hash) {
        at++;
    }
    return &prefixes[at % (2 * PREFIXES_MOST)];
}

int chain_prefix_known(uint64_t hash) {
    return n_prefixes != 0 && *find_prefix_slot(hash) == hash;
}

static void prefix_add(uint64_t hash) {
    if (n_prefixes >= PREFIXES_MOST) { /* those in use are counted and added again */
        memset(prefixes, 0, sizeof prefixes);
        n_prefixes = 0;
        chain_forget_counts();
    }
    uint64_t *at = find_prefix_slot(hash);
    n_prefixes += *at == 0;
    *at = hash;
}

/* How often a chain with a kernel was followed by this step. */
static struct {
    uint64_t hash;
    uint32_t times;
} extensions[1024];

void chain_count_extension(uint64_t hash) {
    size_t at = (size_t)(hash >> 20) % (sizeof extensions / sizeof *extensions);
    extensions[at].times = extensions[at].hash == hash ? extensions[at].times + 1 : 1;
    extensions[at].hash = hash;
    if (extensions[at].times == arr_chain_threshold) {
        prefix_add(hash);
    }
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* The key words and the live results, as a key of KernelTable.chains. */
static PyObject *key_of(const Chain *chain, uint32_t live) {
    size_t size = chain->now.words * sizeof *chain->key;
    PyObject *key = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(size + sizeof live));
    if (key != NULL) {
        memcpy(PyBytes_AS_STRING(key), chain->key, size);
        memcpy(PyBytes_AS_STRING(key) + size, &live, sizeof live);
    }
    return key;
}

/* (kernel, sizes, local, results, operands, numbers, join): results are numbers of steps, operands
 * of leaves, or -1 - the number of a number. join: None, or (kernel, sizes, local, numbers) for the
 * parts that a reduction at the end leaves. */
enum {
    FUSED_KERNEL,
    FUSED_SIZES,
    FUSED_LOCAL,
    FUSED_RESULTS,
    FUSED_OPERANDS,
    FUSED_NUMBERS,
    FUSED_JOIN,
    FUSED_COUNT
};

static int put_arguments(Args *args, const Chain *chain, PyObject *made) {
    PyObject *results = PyTuple_GET_ITEM(made, FUSED_RESULTS),
             *operands = PyTuple_GET_ITEM(made, FUSED_OPERANDS),
             *numbers = PyTuple_GET_ITEM(made, FUSED_NUMBERS);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(results); i++) {
        const ArrayDesc *out = &chain->steps[PyLong_AsLong(PyTuple_GET_ITEM(results, i))].out;
        if (args_array(args, out->memory, out->offset) < 0) {
            return -1;
        }
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(operands); i++) {
        long k = PyLong_AsLong(PyTuple_GET_ITEM(operands, i));
        if (k < 0) {
            args_put(args, chain->numbers[-1 - k]);
        } else if (args_array(args, chain->leaves[k].memory, chain->leaves[k].offset) < 0) {
            return -1;
        }
    }
    if (chain->end.plan != NULL && chain_put_end(args, &chain->end) < 0) {
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(numbers); i++) {
        args_put(args, PyTuple_GET_ITEM(numbers, i));
    }
    return 0;
}

PyObject *chain_launch(const Chain *chain, uint32_t live) {
    PyObject *key = key_of(chain, live);
    PyObject *made = key != NULL ? PyDict_GetItemWithError(chain->table->chains, key) : NULL;
    Py_XDECREF(key);
    if (made == NULL || !PyTuple_CheckExact(made)) {
        return NULL;
    }
    int in_parts = PyTuple_GET_ITEM(made, FUSED_JOIN) != Py_None;
    if (in_parts != (chain->end.scratch != NULL)) {
        return NULL;
    }
    Py_INCREF(made);
    Args args;
    args.n = args.n_owned = 0;
    PyObject *event = put_arguments(&args, chain, made) == 0
                          ? table_launch(chain->table, PyTuple_GET_ITEM(made, FUSED_KERNEL),
                                         chain->queue, PyTuple_GET_ITEM(made, FUSED_SIZES),
                                         PyTuple_GET_ITEM(made, FUSED_LOCAL), &args)
                          : NULL;
    args_clear(&args);
    PyObject *join = PyTuple_GET_ITEM(made, FUSED_JOIN);
    if (event != NULL && join != Py_None) {
        Py_SETREF(event, chain_launch_join(chain, join));
    }
    Py_DECREF(made);
    return event;
}

/* How often chains occurred, by hash. A chain that takes another one's slot starts at 1, which
 * hardly delays frequent ones. */
static struct {
    uint64_t hash;
    uint32_t times;
} counts[4096];

void chain_forget_counts(void) {
    memset(counts, 0, sizeof counts);
}

/* Whether the chain has a kernel; its prefixes, cleared since, are added again. */
static int restore_prefixes(const Chain *chain, uint32_t live) {
    PyObject *key = key_of(chain, live);
    PyObject *made = key != NULL ? PyDict_GetItemWithError(chain->table->chains, key) : NULL;
    int known = made != NULL;
    for (int i = 0; i < chain_length(chain) && known; i++) {
        prefix_add(chain->prefixes[i]);
    }
    Py_XDECREF(key);
    PyErr_Clear();
    return known;
}

int chain_count(const Chain *chain, uint32_t live) {
    uint64_t hash = chain->now.hash ^ ((uint64_t)live + 1) * 0x9E3779B97F4A7C15u;
    size_t at = (size_t)(hash >> 32) % (sizeof counts / sizeof *counts);
    counts[at].times = counts[at].hash == hash ? counts[at].times + 1 : 1;
    counts[at].hash = hash;
    if (counts[at].times == arr_chain_threshold) {
        return restore_prefixes(chain, live) ? CHAIN_SEEN : CHAIN_FREQUENT;
    }
    return counts[at].times > arr_chain_threshold ? CHAIN_REPORTED
           : counts[at].times > 1                 ? CHAIN_SEEN
                                                  : CHAIN_NEW;
}

/* ---- for Python ------------------------------------------------------------------------------ */

/* In these functions Py_BuildValue() takes over new references ("N"), and fails if one is NULL. */

/* (type number, offset, shape, strides) */
static PyObject *describe_array(const ArrayDesc *desc) {
    return Py_BuildValue("(inNN)", desc->type, desc->offset & 31,
                         pg_tuple_of(desc->dims, desc->ndim),
                         pg_tuple_of(desc->dims + desc->ndim, desc->ndim));
}

/* (operation, sources, description of the result) */
static PyObject *describe_step(const ChainStep *step) {
    Py_ssize_t sources[CALL_MAX];
    for (int i = 0; i < step->n; i++) {
        sources[i] = step->sources[i];
    }
    return Py_BuildValue("(iNN)", step->launch.op, pg_tuple_of(sources, step->n),
                         describe_array(&step->out));
}

static PyObject *describe_all(const Chain *chain, int steps) {
    int n = steps ? chain->n_steps : chain->now.leaves;
    PyObject *tuple = PyTuple_New(n);
    for (int i = 0; tuple != NULL && i < n; i++) {
        PyObject *item = steps ? describe_step(&chain->steps[i])
                               : describe_array(&chain->leaves[i]);
        if (item == NULL) {
            Py_CLEAR(tuple);
        } else {
            PyTuple_SET_ITEM(tuple, i, item);
        }
    }
    return tuple;
}

/* (operation, step, description of the result), or None */
static PyObject *describe_end(const Chain *chain) {
    const ChainEnd *end = &chain->end;
    if (end->plan == NULL) {
        Py_RETURN_NONE;
    }
    return Py_BuildValue("(iiN)", end->op, end->source, describe_array(&end->out));
}

PyObject *chain_describe(const Chain *chain, uint32_t live) {
    PyObject *key = key_of(chain, live), *shape = pg_tuple_of(chain->shape, chain->ndim),
             *steps = describe_all(chain, 1), *leaves = describe_all(chain, 0),
             *hashes = PyBytes_FromStringAndSize(
                 (const char *)chain->prefixes,
                 chain_length(chain) * (Py_ssize_t)sizeof *chain->prefixes),
             *end = describe_end(chain);
    return Py_BuildValue("(ONNNNINN)", chain->backend, key, shape, steps, leaves,
                         (unsigned int)live, hashes, end);
}

PG_DOC(chain_known__doc__, "_chain_known", "table, key, hashes, made",
       "(table: KernelTable, key: bytes, hashes: bytes, made: tuple[Any, ...]) -> None",
       "Launch (kernel, sizes, local size, results, operands, numbers, join) for the chain of this "
       "key. results: numbers of steps; operands: numbers of leaves, or -1 - the number of a "
       "number. join: None, or (kernel, sizes, local size, numbers), which joins the parts of a "
       "reduction.");
/* Whether all numbers are in a range. */
static int in_range(PyObject *tuple, long low, long high) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
        long number = PyLong_AsLong(PyTuple_GET_ITEM(tuple, i));
        if (number < low || number >= high) {
            return 0;
        }
    }
    return 1;
}

/* Whether Args has room for that many operands, a reduction's result and numbers. */
static int fits(Py_ssize_t operands, Py_ssize_t numbers) {
    return 2 * (operands + 1) <= 64 && 2 * (operands + 1) + numbers <= ARGS_MAX;
}

static int is_join(PyObject *join) {
    return join == Py_None || (PyTuple_CheckExact(join) && PyTuple_GET_SIZE(join) == 4 &&
                               PyTuple_CheckExact(PyTuple_GET_ITEM(join, 1)) &&
                               PyTuple_CheckExact(PyTuple_GET_ITEM(join, 2)) &&
                               PyTuple_CheckExact(PyTuple_GET_ITEM(join, 3)) &&
                               PyTuple_GET_SIZE(PyTuple_GET_ITEM(join, 3)) <= 32);
}

PG_FUNCTION(chain_known, 4)
static PyObject *chain_known_impl(PyObject *Py_UNUSED(module), PyObject *const *a) {
    int ok = Py_TYPE(a[0]) == arr_state->KernelTableType && PyBytes_CheckExact(a[1]) &&
             PyBytes_CheckExact(a[2]) && PyTuple_CheckExact(a[3]) &&
             PyTuple_GET_SIZE(a[3]) == FUSED_COUNT;
    for (int i = FUSED_SIZES; ok && i < FUSED_JOIN; i++) {
        ok = PyTuple_CheckExact(PyTuple_GET_ITEM(a[3], i));
    }
    ok = ok && is_join(PyTuple_GET_ITEM(a[3], FUSED_JOIN));
    ok = ok && in_range(PyTuple_GET_ITEM(a[3], FUSED_RESULTS), 0, CHAIN_STEPS) &&
         in_range(PyTuple_GET_ITEM(a[3], FUSED_OPERANDS), -CHAIN_NUMBERS, CHAIN_LEAVES) &&
         fits(PyTuple_GET_SIZE(PyTuple_GET_ITEM(a[3], FUSED_RESULTS)) +
                  PyTuple_GET_SIZE(PyTuple_GET_ITEM(a[3], FUSED_OPERANDS)),
              PyTuple_GET_SIZE(PyTuple_GET_ITEM(a[3], FUSED_NUMBERS)));
    if (!ok) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_TypeError, "_chain_known: expected a table, a key, hashes and a "
                                             "tuple of seven items");
        }
        return NULL;
    }
    PyObject *chains = ((Table *)a[0])->chains;
    if (PyDict_GET_SIZE(chains) >= CHAINS_MOST) {
        PyDict_Clear(chains); /* those in use are compiled again */
        chain_forget_counts();
    }
    if (PyDict_SetItem(chains, a[1], a[3]) < 0) {
        return NULL;
    }
    for (Py_ssize_t at = 0; at + 8 <= PyBytes_GET_SIZE(a[2]); at += 8) {
        uint64_t hash;
        memcpy(&hash, PyBytes_AS_STRING(a[2]) + at, sizeof hash);
        prefix_add(hash);
    }
    arr_chain_counts.compiled++;
    chain_reset_backoff();
    Py_RETURN_NONE;
}

static PyObject *chain_counts(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    return Py_BuildValue("{sislslslslsl}", "mode", arr_chain_mode, "watched",
                         arr_chain_counts.watched, "deferred", arr_chain_counts.deferred, "fused",
                         arr_chain_counts.fused, "unfused", arr_chain_counts.unfused, "compiled",
                         arr_chain_counts.compiled);
}

PyMethodDef arr_chain_store_functions[] = {
    {"_chain_known", FAST(chain_known), chain_known__doc__},
    {"_chain_counts", chain_counts, METH_NOARGS,
     "_chain_counts()\n--\n\n() -> dict[str, int]\n\n"
     "The mode; the numbers of watched and of deferred operations, of launches of fused kernels "
     "and of single deferred operations, and of compiled fused kernels."},
    {NULL, NULL, 0, NULL},
};
