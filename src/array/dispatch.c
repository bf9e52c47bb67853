/* dispatch.c - operations on arrays by name: known kernels are launched here, everything else is
 * left to Python. */
#include "array/dispatch.h"

#include "array/chain.h"

Py_ssize_t arr_id(PyObject *name, int add) {
    PyObject *id = PyDict_GetItemWithError(arr_state->ids, name);
    if (id != NULL) {
        return PyLong_AsSsize_t(id);
    }
    if (!add || PyErr_Occurred()) {
        if (!add) {
            PyErr_Clear();
        }
        return -1;
    }
    Py_ssize_t number = PyDict_GET_SIZE(arr_state->ids);
    id = PyLong_FromSsize_t(number);
    if (id == NULL || PyDict_SetItem(arr_state->ids, name, id) < 0) {
        Py_XDECREF(id);
        return -1;
    }
    Py_DECREF(id);
    return number;
}

/* ---- contiguous operands of one shape, on one in-order queue --------------------------------- */

/* The type number of a NumPy number that kernels take unchanged, -1 for others. */
static int scalar_type(const PyObject *op) {
    const PyTypeObject *type = Py_TYPE(op);
    return type == &PyFloat32ArrType_Type   ? NPY_FLOAT
           : type == &PyFloat64ArrType_Type ? NPY_DOUBLE
           : type == &PyInt64ArrType_Type   ? NPY_INT64
           : type == &PyInt32ArrType_Type   ? NPY_INT32
           : type == &PyUInt8ArrType_Type   ? NPY_UINT8
           : type == &PyInt16ArrType_Type   ? NPY_INT16
           : type == &PyUInt16ArrType_Type  ? NPY_UINT16
           : type == &PyInt8ArrType_Type    ? NPY_INT8
           : type == &PyUInt32ArrType_Type  ? NPY_UINT32
           : type == &PyUInt64ArrType_Type  ? NPY_UINT64
                                            : -1;
}

/* The kind of an operand; -1 if the table cannot handle it. */
static inline int kind_of(PyObject *op, const PyTypeObject *type) {
    if (Py_TYPE(op) == type) {
        int number = ((GPUArray *)op)->dtype->type_num;
        return number < KIND_INT ? number : -1;
    }
    if (PyFloat_CheckExact(op)) {
        return KIND_FLOAT;
    }
    if (PyLong_CheckExact(op)) {
        return KIND_INT;
    }
    int number = scalar_type(op);
    return number < 0 ? -1 : KIND_SCALAR + number;
}

/* Whether kernels can read the items in place: the sizes of numbers are powers of two, and arrays
 * here are contiguous. */
static inline int aligned(const GPUArray *array) {
    return (array->offset & (ARRAY_ITEMSIZE(array) - 1)) == 0;
}

static inline int same_shape(const GPUArray *a, const GPUArray *b) {
    return a->ndim == b->ndim &&
           memcmp(ARRAY_SHAPE(a), ARRAY_SHAPE(b), (size_t)a->ndim * sizeof(Py_ssize_t)) == 0;
}

static inline int usable(const GPUArray *array, const GPUArray *first) {
    return array->table == first->table && array->queue == first->queue &&
           !arr_has_foreign_events(array) &&
           (array->flags & first->flags & (ARRAY_C | ARRAY_F)) != 0 && same_shape(array, first) &&
           aligned(array);
}

/* Whether writing out may change items of read before they are read. Exactly the same items are
 * safe; any other overlap is not. */
static int may_clash(const GPUArray *out, const GPUArray *read) {
    if (out == read) {
        return 0;
    }
    int shared = out->base_data == read->base_data ||
                 (PyLong_Check(out->base_data) && PyLong_Check(read->base_data));
    return shared && !(out->base_data == read->base_data && out->offset == read->offset &&
                       ARRAY_ITEMSIZE(out) == ARRAY_ITEMSIZE(read) && same_shape(out, read) &&
                       memcmp(ARRAY_STRIDES(out), ARRAY_STRIDES(read),
                              (size_t)out->ndim * sizeof(Py_ssize_t)) == 0);
}

static int clashes(const GPUArray *out, PyObject *const *operands, int n) {
    for (int i = 0; i < n; i++) {
        if (arr_is_array(operands[i]) && may_clash(out, (GPUArray *)operands[i])) {
            return 1;
        }
    }
    return 0;
}

static GPUArray *first_of(PyObject *const *operands, int n) {
    for (int i = 0; i < n; i++) {
        if (arr_is_array(operands[i])) {
            return (GPUArray *)operands[i];
        }
    }
    return NULL;
}

/* Handles the result of launching an entry. Returns as arr_fast(). */
static int finish(GPUArray *out, PyObject *event, int numbers, PyObject **result) {
    if (event == NULL) {
        Py_DECREF((PyObject *)out);
        if (!PyErr_Occurred()) {
            return 0; /* the table changed in the meantime */
        }
        if (numbers && PyErr_ExceptionMatches(PyExc_OverflowError)) {
            PyErr_Clear(); /* a number that does not fit: NumPy's rules decide */
            return 0;
        }
        return -1;
    }
    int failed = event != Py_None && arr_set_event(out, event) < 0;
    Py_DECREF(event);
    if (failed) {
        Py_DECREF((PyObject *)out);
        return -1;
    }
    *result = (PyObject *)out;
    return 1;
}

/* Reads the operands' kinds, for the key. Returns how many are numbers, -1 if the table cannot
 * handle one. The caller has checked first. */
static inline int read_kinds(PyObject *const *operands, int n, const GPUArray *first, int *kinds) {
    const PyTypeObject *type = Py_TYPE(first);
    int numbers = 0;
    for (int i = 0; i < n; i++) {
        kinds[i] = kind_of(operands[i], type);
        if (kinds[i] < 0) {
            return -1;
        }
        if (kinds[i] >= KIND_INT) {
            numbers++;
        } else if (operands[i] == (const PyObject *)first
                       ? !aligned(first)
                       : !usable((GPUArray *)operands[i], first)) {
            return -1;
        }
    }
    return numbers;
}

/* Makes a new array for the result of the entry with this key, in the layout of the first operand.
 * NULL without an exception: the entry is gone. */
static inline GPUArray *new_result(Table *table, uint64_t key, const Entry *entry,
                                   GPUArray *first) {
    PyObject *data = table_allocate(table, first->backend, first->allocator,
                                    first->size * (Py_ssize_t)PyDataType_ELSIZE(entry->dtype));
    if (data == NULL) {
        return NULL;
    }
    entry = table_find(table, key); /* an allocator may have run any code */
    if (entry == NULL) {
        Py_DECREF(data);
        return NULL;
    }
    /* Keep it: making an object may collect garbage. */
    PyArray_Descr *dtype = (PyArray_Descr *)Py_NewRef((PyObject *)entry->dtype);
    GPUArray *made = (GPUArray *)arr_new_like(first, dtype, data);
    Py_DECREF((PyObject *)dtype);
    return made;
}

/* Adds all arguments of an entry's kernel except the number of items. Returns 0, or -1 with an
 * exception. */
static inline int put_operands(Args *args, const GPUArray *out, PyObject *const *operands,
                               const int *kinds, int n) {
    args->n = args->n_owned = 0;
    int failed = args_array(args, out->base_data, out->offset) < 0;
    for (int i = 0; i < n && !failed; i++) {
        if (kinds[i] >= KIND_INT) {
            args_put(args, operands[i]);
        } else {
            failed = args_array(args, ((GPUArray *)operands[i])->base_data,
                                ((GPUArray *)operands[i])->offset) < 0;
        }
    }
    return failed ? -1 : 0;
}

/* Whether the operation of an entry was deferred, so that later ones can be fused with it. */
static int defer_entry(Table *table, uint64_t key, GPUArray *first, GPUArray *out,
                       PyObject *const *operands, int n) {
    const Entry *entry = table_counted(table, key, first->size);
    if (entry == NULL || entry->op == 0) {
        PyErr_Clear(); /* the launch will get the same error */
        return 0;
    }
    ChainLaunch launch = {entry->op, entry->kernel, entry->sizes, table->local, entry->n_object};
    /* Before the chain has its own references, another thread may change the entry. */
    PyObject *held[] = {Py_NewRef(launch.kernel), Py_NewRef(launch.sizes),
                        Py_NewRef(launch.numbers)};
    int deferred = chain_add(&launch, first, out, operands, n);
    for (int i = 0; i < 3; i++) {
        Py_DECREF(held[i]);
    }
    return deferred;
}

/* Returns as arr_fast(). */
static int by_table(Py_ssize_t id, PyObject *const *operands, int n, GPUArray *first, GPUArray *out,
                    PyObject **result) {
    Table *table = first->table;
    int kinds[CALL_MAX], numbers;
    if (n > CALL_MAX || id > ID_MOST || arr_has_foreign_events(first) || first->flags == 0 ||
        first->size == 0 || !table_in_order(table, first->queue) ||
        (numbers = read_kinds(operands, n, first, kinds)) < 0) {
        return 0;
    }
    uint64_t key = table_key((int)id, kinds, n);
    const Entry *entry = table_find(table, key);
    if (entry == NULL) {
        return 0;
    }
    if (out == NULL) {
        out = new_result(table, key, entry, first);
        if (out == NULL) {
            return PyErr_Occurred() ? -1 : 0;
        }
    } else if (Py_TYPE(out) != Py_TYPE(first) || out->dtype->type_num != entry->dtype->type_num ||
               !usable(out, first) || clashes(out, operands, n)) {
        return 0;
    } else {
        Py_INCREF((PyObject *)out);
    }
    if (arr_chain_mode != 0 && defer_entry(table, key, first, out, operands, n)) {
        *result = (PyObject *)out;
        return 1;
    }
    Args args;
    PyObject *event = put_operands(&args, out, operands, kinds, n) < 0
                          ? NULL
                          : table_launch_entry(table, key, first->queue, &args, first->size);
    args_clear(&args);
    chain_launched();
    return finish(out, event, numbers, result);
}

/* ---- layouts seen before --------------------------------------------------------------------- */

/* plan_run() for an operation that can be part of a chain: it may be deferred. */
static PyObject *run_in_chain(Plan *plan, GPUArray *first, PyObject *const *operands, int n,
                              GPUArray *out) {
    PyObject *made = plan->dtype != NULL ? plan_new_result(plan, first) : NULL;
    if (plan->dtype != NULL && made == NULL) {
        return NULL;
    }
    if (plan->op >= CHAIN_REDUCTIONS) {
        if (n == 1 && made != NULL &&
            chain_add_end(plan, first, (GPUArray *)made, (GPUArray *)operands[0])) {
            return made;
        }
        made = plan_run_into(plan, first, operands, made);
        chain_launched();
        return made;
    }
    const Step *step = &plan->steps[0];
    ChainLaunch launch = {plan->op, step->kernel, step->sizes, step->local, step->numbers};
    if (chain_add(&launch, first, made != NULL ? (GPUArray *)made : out, operands, n)) {
        return made != NULL ? made : Py_NewRef(Py_None);
    }
    made = plan_run_into(plan, first, operands, made);
    chain_launched();
    return made;
}

/* The operands, then out if extra says that there is one. Returns as arr_fast(). */
static int by_plan(Py_ssize_t id, Py_ssize_t extra, PyObject *const *operands, int n, GPUArray *out,
                   PyObject **result) {
    PyObject *all[CALL_MAX + 1];
    Key key;
    if (n > CALL_MAX) {
        return 0;
    }
    memcpy(all, operands, (size_t)n * sizeof *all);
    if (out != NULL) {
        all[n] = (PyObject *)out;
    }
    if (!plan_key(&key, id, plan_extra(extra, out != NULL), all, n + (out != NULL))) {
        return 0;
    }
    const Table *table = key.first->table;
    if (table == NULL || !table_in_order(table, key.first->queue)) {
        return 0;
    }
    Plan *plan = plans_find((Plans *)table->plans, &key);
    if (plan == NULL || (out != NULL && clashes(out, operands, n))) {
        return 0;
    }
    Py_INCREF((PyObject *)plan);
    PyObject *made = arr_chain_mode != 0 && plan->op != 0
                         ? run_in_chain(plan, key.first, all, n, out)
                         : plan_run(plan, key.first, all);
    int fresh = plan->dtype != NULL;
    Py_DECREF((PyObject *)plan);
    if (made == NULL) {
        if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
            PyErr_Clear();
            return 0;
        }
        return -1;
    }
    if (!fresh) {
        Py_DECREF(made);
        made = Py_NewRef((PyObject *)out);
    }
    *result = made;
    return 1;
}

int arr_fast(Py_ssize_t id, PyObject *const *operands, int n, GPUArray *out, PyObject **result) {
    GPUArray *first = first_of(operands, n);
    if (first == NULL) {
        first = out;
    }
    if (first == NULL || first->table == NULL) {
        return 0;
    }
    if (PG_UNLIKELY(arr_chain_report_pending | arr_pending)) {
        if (arr_pending) {
            return 0; /* Python has it wait as well */
        }
        if (chain_report() < 0) {
            return -1;
        }
    }
    PyObject *table = Py_NewRef((PyObject *)first->table); /* an allocator may give the array
                                                            * another one */
    int done = by_table(id, operands, n, first, out, result);
    Py_DECREF(table);
    return done != 0 ? done : by_plan(id, 0, operands, n, out, result);
}

int arr_fast_plan(Py_ssize_t id, Py_ssize_t extra, PyObject *const *operands, int n,
                  PyObject **result) {
    return by_plan(id, extra, operands, n, NULL, result);
}

/* ---- Python interface ------------------------------------------------------------------------ */

static const char call_doc[] = "_call(name, /, *operands, out=None)\n--\n\n(name: Any, /, "
                               "*operands: Any, out: Any = None) -> Any\n\n"
                               "Launch an operation by the cache and return its result; "
                               "None if no launch is cached for such operands.";

static PyObject *call(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames) {
    PyObject *out = Py_None, *result;
    if (kwnames != NULL) {
        if (PyTuple_GET_SIZE(kwnames) != 1 ||
            PyUnicode_Compare(PyTuple_GET_ITEM(kwnames, 0), arr_state->out_word) != 0) {
            PyErr_SetString(PyExc_TypeError, "_call: the only keyword is out");
            return NULL;
        }
        out = args[nargs];
    }
    if (nargs < 2 || (out != Py_None && !arr_is_array(out))) {
        Py_RETURN_NONE;
    }
    Py_ssize_t id = arr_id(args[0], 0);
    int done = id < 0 ? 0
                      : arr_fast(id, args + 1, (int)(nargs - 1),
                                 out != Py_None ? (GPUArray *)out : NULL, &result);
    return done > 0 ? result : done < 0 ? NULL : Py_NewRef(Py_None);
}

/* Encodes the axes of a reduction for a key; -1 if that is impossible. */
static Py_ssize_t axes_word(PyObject *axis, PyObject *keepdims) {
    Py_ssize_t word = keepdims == Py_True ? 1 : keepdims == Py_False ? 2 : -1;
    if (word < 0) {
        return -1;
    }
    if (axis == Py_None) {
        return word;
    }
    int many = PyTuple_CheckExact(axis) ? (int)PyTuple_GET_SIZE(axis) : 1;
    if (many < 1 || many > 3) {
        return -1;
    }
    for (int i = 0; i < many; i++) {
        PyObject *item = PyTuple_CheckExact(axis) ? PyTuple_GET_ITEM(axis, i) : axis;
        if (!PyLong_CheckExact(item)) {
            return -1;
        }
        int overflow;
        long number = PyLong_AsLongAndOverflow(item, &overflow); /* it is an int, so only overflow
                                                                  * is possible */
        if (overflow != 0 || number < -ARRAY_MAX_DIMS || number >= ARRAY_MAX_DIMS) {
            return -1;
        }
        word = word << 8 | (number + 2 * ARRAY_MAX_DIMS);
    }
    return word;
}

static const char reduce_doc[] = "_reduce(name, axis, keepdims, /, *arrays)\n--\n\n(name: Any, "
                                 "axis: Any, keepdims: bool, /, *arrays: Any) -> Any\n\n"
                                 "Launch a reduction by the cache and return its result; None "
                                 "if no launch is cached for arrays of these layouts.";

static PyObject *reduce(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs) {
    PyObject *result;
    if (nargs < 4) {
        Py_RETURN_NONE;
    }
    Py_ssize_t id = arr_id(args[0], 0), word = axes_word(args[1], args[2]);
    int done = id < 0 || word < 0 ? 0
                                  : by_plan(id, word, args + 3, (int)(nargs - 3), NULL, &result);
    return done > 0 ? result : done < 0 ? NULL : Py_NewRef(Py_None);
}

static const char axes_doc[] =
    "_axes(axis, keepdims, /)\n--\n\n(axis: Any, keepdims: bool, /) -> int\n\n"
    "The number that Plans.add() takes as *extra* for a reduction over these axes; -1 if it is not "
    "cached.";

static PyObject *axes(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs) {
    if (nargs != 2) {
        PyErr_SetString(PyExc_TypeError, "_axes takes two arguments");
        return NULL;
    }
    return PyLong_FromSsize_t(axes_word(args[0], args[1]));
}

PyMethodDef arr_call_functions[] = {
    {"_call", FAST(call), call_doc},
    {"_reduce", (PyCFunction)(void (*)(void))reduce, METH_FASTCALL, reduce_doc},
    {"_axes", (PyCFunction)(void (*)(void))axes, METH_FASTCALL, axes_doc},
    {NULL, NULL, 0, NULL},
};

const char arr_array_ufunc_doc[] =
    "__array_ufunc__($self, ufunc, method, /, *inputs, **options)\n--\n\n(ufunc: Any, method: str, "
    "/, *inputs: Any, **options: Any) -> Any\n\n"
    "What NumPy's ufuncs ask of an array: the ufunc on the device.";

/* Returns the out of out=(array,), or NULL for anything else. */
static PyObject *single_out(PyObject *out) {
    return PyTuple_CheckExact(out) && PyTuple_GET_SIZE(out) == 1 &&
                   arr_is_array(PyTuple_GET_ITEM(out, 0))
               ? PyTuple_GET_ITEM(out, 0)
               : NULL;
}

PyObject *arr_array_ufunc(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                          PyObject *kwnames) {
    PyObject *slots[8], *out = NULL, *result;
    Py_ssize_t named = kwnames != NULL ? PyTuple_GET_SIZE(kwnames) : 0;
    int simple = nargs > 2 && PyUnicode_Check(args[1]) &&
                 PyUnicode_Compare(args[1], arr_state->call_word) == 0;
    if (simple && named == 1) {
        out = PyUnicode_Compare(PyTuple_GET_ITEM(kwnames, 0), arr_state->out_word) == 0
                  ? single_out(args[nargs])
                  : NULL;
    }
    if (simple && (named == 0 || out != NULL)) {
        Py_ssize_t id = arr_id(args[0], 0);
        int done = id < 0 ? 0 : arr_fast(id, args + 2, (int)(nargs - 2), (GPUArray *)out, &result);
        if (done != 0) {
            return done > 0 ? result : NULL;
        }
    }
    Py_ssize_t total = 1 + nargs + named;
    PyObject **all = total > 8 ? PyMem_Malloc((size_t)total * sizeof *all) : slots;
    if (all == NULL) {
        return PyErr_NoMemory();
    }
    all[0] = self;
    memcpy(all + 1, args, (size_t)(nargs + named) * sizeof *all);
    result = PyObject_VectorcallMethod(arr_state->array_ufunc, all, (size_t)(1 + nargs), kwnames);
    if (PG_UNLIKELY(result == NULL)) {
        arr_hide_frames();
    }
    if (all != slots) {
        PyMem_Free(all);
    }
    return result;
}
