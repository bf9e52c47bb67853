/* launch_plan.c - Plans: launches cached by the shapes, strides and dtypes of their operands. */
#include "array/dispatch.h"

#define PLANS_MOST                                                                                \
    2048 /* at this number all are dropped, so that programs with ever new shapes do not fill the \
          * memory */

/* ---- keys ------------------------------------------------------------------------------------ */

/* The data type as a number, for plain numeric dtypes; others are identified by their address. */
static inline int plain(const PyArray_Descr *dtype) {
    return dtype->type_num <= NPY_CDOUBLE || dtype->type_num == NPY_HALF;
}

enum { WORD_ARRAY = 1, WORD_INT, WORD_FLOAT, WORD_BOOL, WORD_SCALAR };

static int key_array(Key *key, const GPUArray *array) {
    if (arr_has_foreign_events(array) || key->words + 2 + 2 * (size_t)array->ndim > PLAN_WORDS) {
        return 0;
    }
    GPUArray *first = key->first;
    if (first == NULL) {
        key->first = (GPUArray *)array;
    } else if (array->queue != first->queue || array->backend != first->backend ||
               Py_TYPE(array) != Py_TYPE(first)) {
        return 0;
    }
    Py_ssize_t *to = key->key + key->words;
    *to++ = WORD_ARRAY | (Py_ssize_t)array->ndim << 8 | (array->offset & 31) << 16 |
            (Py_ssize_t)(plain(array->dtype) ? array->dtype->type_num + 1 : 0) << 24;
    if (!plain(array->dtype)) {
        *to++ = (Py_ssize_t)(intptr_t)array->dtype;
        key->keep[key->n_keep++] = (PyObject *)array->dtype;
    }
    memcpy(to, array->dims, 2 * (size_t)array->ndim * sizeof *to);
    key->words = (size_t)(to - key->key) + 2 * (size_t)array->ndim;
    return 1;
}

static int key_number(Key *key, PyObject *op) {
    Py_ssize_t word = PyFloat_CheckExact(op)  ? WORD_FLOAT
                      : PyLong_CheckExact(op) ? WORD_INT
                      : PyBool_Check(op)      ? WORD_BOOL
                                              : 0;
    if (word == 0) {
        if (!PyArray_IsScalar(op, Number) || (Py_TYPE(op)->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
            return 0;
        }
        /* A type's address: NumPy's own number types live until the process ends. */
        word = WORD_SCALAR | (Py_ssize_t)((uintptr_t)Py_TYPE(op) << 3);
    }
    if (key->words + 1 > PLAN_WORDS) {
        return 0;
    }
    key->key[key->words++] = word;
    return 1;
}

int plan_key(Key *key, Py_ssize_t id, Py_ssize_t extra, PyObject *const *operands, int n) {
    key->first = NULL;
    key->n_keep = 0;
    key->key[0] = id;
    key->key[1] = extra;
    key->words = 3; /* the third word is the backend, so that several backends can share a store */
    for (int i = 0; i < n; i++) {
        if (!(arr_is_array(operands[i]) ? key_array(key, (GPUArray *)operands[i])
                                        : key_number(key, operands[i]))) {
            return 0;
        }
    }
    if (key->first == NULL) {
        return 0;
    }
    key->key[2] = (Py_ssize_t)(intptr_t)key->first->backend;
    return 1;
}

static uint64_t hash_of(const Py_ssize_t *words, size_t n) {
    uint64_t hash = n;
    for (size_t i = 0; i < n; i++) {
        hash = (hash ^ (uint64_t)words[i]) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return hash;
}

/* ---- plans ----------------------------------------------------------------------------------- */

static int Plan_traverse(PyObject *op, visitproc visit, void *arg) {
    Plan *self = (Plan *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->keep);
    for (int i = 0; i < self->n_steps; i++) {
        Py_VISIT(self->steps[i].kernel);
    }
    return 0;
}

/* No tp_clear: a running plan needs its kernels. A cycle through a plan is broken where it is
 * stored. */
static void Plan_dealloc(PyObject *op) {
    Plan *self = (Plan *)op;
    PyObject_GC_UnTrack(op);
    for (int i = 0; i < PLAN_STEPS; i++) {
        Py_XDECREF(self->steps[i].kernel);
        Py_XDECREF(self->steps[i].sizes);
        Py_XDECREF(self->steps[i].local);
        Py_XDECREF(self->steps[i].numbers);
    }
    for (int i = 0; i < PLAN_SCRATCH; i++) {
        Py_XDECREF((PyObject *)self->scratch_dtypes[i]);
    }
    Py_XDECREF(self->keep);
    Py_XDECREF((PyObject *)self->dtype);
    PyMem_Free(self->key);
    PyMem_Free(self->dims);
    pg_object_free(op);
}

static PyType_Slot Plan_slots[] = {
    {Py_tp_doc, (void *)"What is launched for operands of a given layout."},
    {Py_tp_traverse, (void *)Plan_traverse},
    {Py_tp_dealloc, (void *)Plan_dealloc},
    {0, NULL},
};
ARR_TYPE(Plan, Plan,
         Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION);

/* ---- the store ------------------------------------------------------------------------------- */

static PyObject *Plans_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    if (PyTuple_GET_SIZE(args) != 0 || (kwargs != NULL && PyDict_GET_SIZE(kwargs) != 0)) {
        PyErr_SetString(PyExc_TypeError, "Plans() takes no arguments");
        return NULL;
    }
    return PG_NEW(type);
}

static int Plans_traverse(PyObject *op, visitproc visit, void *arg) {
    Plans *self = (Plans *)op;
    Py_VISIT(Py_TYPE(op));
    for (size_t i = 0; i < self->room; i++) {
        Py_VISIT((PyObject *)self->plans[i]);
    }
    return 0;
}

static int Plans_clear(PyObject *op) {
    Plans *self = (Plans *)op;
    Plan **plans = self->plans;
    size_t room = self->room;
    self->plans = NULL;
    self->room = self->used = 0;
    for (size_t i = 0; i < room; i++) {
        Py_XDECREF((PyObject *)plans[i]);
    }
    PyMem_Free(plans);
    return 0;
}

static void Plans_dealloc(PyObject *op) {
    pg_untrack(op, ((Plans *)op)->weakrefs);
    Plans_clear(op);
    pg_object_free(op);
}

static Plan **find_slot(Plan **plans, size_t room, uint64_t hash, const Py_ssize_t *key,
                        size_t words) {
    for (size_t at = (size_t)hash;; at++) {
        Plan *plan = plans[at & (room - 1)];
        if (plan == NULL || (plan->hash == hash && plan->words == words &&
                             memcmp(plan->key, key, words * sizeof *key) == 0)) {
            return &plans[at & (room - 1)];
        }
    }
}

Plan *plans_find(const Plans *self, const Key *key) {
    return self->used == 0 ? NULL
                           : *find_slot(self->plans, self->room, hash_of(key->key, key->words),
                                        key->key, key->words);
}

static int grow(Plans *self) {
    size_t room = self->room != 0 ? 2 * self->room : 32;
    Plan **plans = PyMem_Calloc(room, sizeof *plans);
    if (plans == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < self->room; i++) {
        Plan *plan = self->plans[i];
        if (plan != NULL) {
            *find_slot(plans, room, plan->hash, plan->key, plan->words) = plan;
        }
    }
    PyMem_Free(self->plans);
    self->plans = plans;
    self->room = room;
    return 0;
}

static int store(Plans *self, Plan *plan) {
    if (self->used >= PLANS_MOST) {
        Plans_clear((PyObject *)self);
    }
    if (2 * self->used >= self->room && grow(self) < 0) {
        return -1;
    }
    Plan **at = find_slot(self->plans, self->room, plan->hash, plan->key, plan->words), *old = *at;
    self->used += old == NULL;
    *at = (Plan *)Py_NewRef((PyObject *)plan);
    Py_XDECREF((PyObject *)old);
    return 0;
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* Reads (kernel, sizes, local, operands, numbers, whole). Returns 1 if there is too much of
 * something. */
static int read_step(Step *step, PyObject *obj, Py_ssize_t n_operands, int n_scratch) {
    PyObject *operands, *numbers, *kernel, *sizes, *local;
    if (!PyTuple_Check(obj) ||
        !PyArg_ParseTuple(obj, "OO!O!O!O!p", &kernel, &PyTuple_Type, &sizes, &PyTuple_Type, &local,
                          &PyTuple_Type, &operands, &PyTuple_Type, &numbers, &step->whole)) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(
                PyExc_TypeError,
                "Plans.add: a step is (kernel, sizes, local size, operands, numbers, whole)");
        }
        return -1;
    }
    Py_ssize_t n = PyTuple_GET_SIZE(operands);
    if (n > PLAN_OPERANDS + PLAN_SCRATCH + 2 || 2 * n + PyTuple_GET_SIZE(numbers) > ARGS_MAX) {
        return 1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        long number = PyLong_AsLong(PyTuple_GET_ITEM(operands, i));
        if (number <= PLAN_FIRST_SCRATCH - n_scratch || number >= n_operands) {
            if (!PyErr_Occurred()) {
                PyErr_Format(PyExc_ValueError, "Plans.add: there is no operand %ld", number);
            }
            return -1;
        }
        step->operands[i] = (signed char)number;
    }
    step->n = (int)n;
    step->kernel = Py_NewRef(kernel);
    step->sizes = Py_NewRef(sizes);
    step->local = Py_NewRef(local);
    step->numbers = Py_NewRef(numbers);
    return 0;
}

/* ((dtype, items), ...) */
static int read_scratch(Plan *plan, PyObject *obj) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(obj); i++) {
        PyArray_Descr *dtype;
        Py_ssize_t n;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(obj, i), "O!n", &PyArrayDescr_Type, &dtype, &n)) {
            return -1;
        }
        plan->scratch_dtypes[i] = (PyArray_Descr *)Py_NewRef((PyObject *)dtype);
        plan->scratch[i] = n;
        plan->n_scratch = (int)i + 1;
    }
    return 0;
}

static Plan *new_plan(const Key *key, PyObject *result) {
    Plan *plan = (Plan *)PG_NEW(arr_state->PlanType);
    if (plan == NULL) {
        return NULL;
    }
    plan->words = key->words;
    plan->hash = hash_of(key->key, key->words);
    plan->key = PyMem_Malloc(key->words * sizeof *plan->key);
    plan->keep = PyTuple_New(key->n_keep + 1);
    if (plan->key == NULL || plan->keep == NULL) {
        goto failed;
    }
    memcpy(plan->key, key->key, key->words * sizeof *plan->key);
    for (int i = 0; i < key->n_keep; i++) {
        PyTuple_SET_ITEM(plan->keep, i, Py_NewRef(key->keep[i]));
    }
    PyTuple_SET_ITEM(plan->keep, key->n_keep, Py_NewRef(key->first->backend));
    if (result != Py_None) {
        const GPUArray *like = (GPUArray *)result;
        plan->dims = PyMem_Malloc((2 * (size_t)like->ndim + 1) * sizeof *plan->dims);
        if (plan->dims == NULL) {
            goto failed;
        }
        plan->dtype = (PyArray_Descr *)Py_NewRef((PyObject *)like->dtype);
        plan->ndim = like->ndim;
        memcpy(plan->dims, like->dims, 2 * (size_t)like->ndim * sizeof *plan->dims);
    }
    return plan;
failed:
    Py_DECREF((PyObject *)plan);
    PyErr_NoMemory();
    return NULL;
}

PG_DOC(
    Plans_add__doc__, "add",
    "$self, /, name, extra, operands, out, result, steps, scratch=(), written=(), op=0",
    "(name: Any, extra: int, operands: tuple[Any, ...], out: Any, result: Any, steps: "
    "tuple[Any, ...], scratch: tuple[tuple[np.dtype[Any], int], ...] = (), "
    "written: tuple[int, ...] = (), op: int = 0) -> bool",
    "Cache the launches of a call for operands with these layouts. out: the array passed for the "
    "result, or None; in steps it is the operand after the "
    "others. result: an array with the dtype and layout of a new result, None for none. A "
    "step is (kernel, sizes, local size, operands, "
    "numbers, whole): operand -1 is the new result, -2, -3, ... the scratch arrays, each "
    "(dtype, items); whole: arrays are one argument "
    "each, else memory and offset. written: operands that depend on the last event. op: the "
    "number of the operation for chains, 0 of none. False if such operands cannot be cached.");
static ArgSpec Plans_add_args = PG_ARGSPEC(Plans_add__doc__);

/* The arguments of Plans.add(), in order. */
enum {
    ADD_NAME,
    ADD_EXTRA,
    ADD_OPERANDS,
    ADD_OUT,
    ADD_RESULT,
    ADD_STEPS,
    ADD_SCRATCH,
    ADD_WRITTEN,
    ADD_OP,
    ADD_COUNT
};

static int check_types(PyObject *const *a) {
    if (!PyTuple_Check(a[ADD_OPERANDS]) || !PyTuple_Check(a[ADD_STEPS]) ||
        (a[ADD_OUT] != Py_None && !arr_is_array(a[ADD_OUT])) ||
        (a[ADD_RESULT] != Py_None && !arr_is_array(a[ADD_RESULT])) ||
        (a[ADD_SCRATCH] != NULL &&
         (!PyTuple_Check(a[ADD_SCRATCH]) || PyTuple_GET_SIZE(a[ADD_SCRATCH]) > PLAN_SCRATCH)) ||
        (a[ADD_WRITTEN] != NULL && !PyTuple_Check(a[ADD_WRITTEN])) ||
        PyTuple_GET_SIZE(a[ADD_STEPS]) > PLAN_STEPS) {
        PyErr_SetString(PyExc_TypeError, "Plans.add: operands, steps (at most 2), scratch (at most "
                                         "4) and written must be tuples, out and result "
                                         "arrays or None");
        return -1;
    }
    return 0;
}

/* Marks the operands whose numbers are in a tuple. Returns 0, or -1 with an exception. */
static int read_written(Plan *plan, PyObject *numbers, PyObject *const *operands,
                        Py_ssize_t n_operands) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(numbers); i++) {
        long number = PyLong_AsLong(PyTuple_GET_ITEM(numbers, i));
        if (number < 0 || number >= n_operands || !arr_is_array(operands[number])) {
            if (!PyErr_Occurred()) {
                PyErr_SetString(PyExc_ValueError,
                                "Plans.add: written must be numbers of operands that are arrays");
            }
            return -1;
        }
        plan->written |= 1u << number;
    }
    return 0;
}

/* Reads everything of a plan except its key and result. Returns 1 if there is too much of
 * something, -1 with an exception. */
static int fill_plan(Plan *plan, PyObject *const *a, PyObject *const *operands,
                     Py_ssize_t n_operands) {
    int state = a[ADD_SCRATCH] != NULL ? read_scratch(plan, a[ADD_SCRATCH]) : 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(a[ADD_STEPS]) && state == 0; i++) {
        state = read_step(&plan->steps[i], PyTuple_GET_ITEM(a[ADD_STEPS], i), n_operands,
                          plan->n_scratch);
        plan->n_steps = (int)i + (state == 0);
    }
    if (state == 0 && a[ADD_WRITTEN] != NULL) {
        state = read_written(plan, a[ADD_WRITTEN], operands, n_operands);
    }
    if (a[ADD_OUT] != Py_None) {
        plan->written |= 1u << (n_operands - 1);
    }
    return state;
}

static PyObject *Plans_add(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *kwnames) {
    PyObject *a[ADD_COUNT], *all[PLAN_OPERANDS];
    Key key;
    int64_t extra;
    uint32_t number = 0;
    if (pg_args(&Plans_add_args, args, nargs, kwnames, a) < 0 ||
        pg_as_i64(a[ADD_EXTRA], "Plans.add", "extra", &extra) < 0 || check_types(a) < 0 ||
        (a[ADD_OP] != NULL && pg_as_u32(a[ADD_OP], "Plans.add", "op", &number) < 0)) {
        return NULL;
    }
    int has_out = a[ADD_OUT] != Py_None;
    Py_ssize_t n = PyTuple_GET_SIZE(a[ADD_OPERANDS]), n_all = n + has_out;
    if (n_all > PLAN_OPERANDS) {
        Py_RETURN_FALSE;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        all[i] = PyTuple_GET_ITEM(a[ADD_OPERANDS], i);
    }
    if (has_out) {
        all[n] = a[ADD_OUT];
    }
    Py_ssize_t id = arr_id(a[ADD_NAME], 1);
    if (id < 0) {
        return NULL;
    }
    if (!plan_key(&key, id, plan_extra((Py_ssize_t)extra, has_out), all, (int)n_all)) {
        Py_RETURN_FALSE;
    }
    Plan *plan = new_plan(&key, a[ADD_RESULT]);
    if (plan == NULL) {
        return NULL;
    }
    plan->op = (int)(number & INT32_MAX);
    int state = fill_plan(plan, a, all, n_all);
    if (state == 0) {
        state = store((Plans *)op, plan);
    }
    Py_DECREF((PyObject *)plan);
    return state < 0 ? NULL : PyBool_FromLong(state == 0);
}

/* ---- running --------------------------------------------------------------------------------- */

/* The arrays of steps: the operands, and new arrays. */
typedef struct {
    PyObject *const *operands;
    PyObject *result, *scratch[PLAN_SCRATCH];
} Set;

static PyObject *run_step(const Step *step, const GPUArray *first, const Set *set) {
    Args args;
    args.n = args.n_owned = 0;
    int failed = 0;
    for (int i = 0; i < step->n && !failed; i++) {
        int k = step->operands[i];
        PyObject *operand = k >= 0             ? set->operands[k]
                            : k == PLAN_RESULT ? set->result
                                               : set->scratch[PLAN_FIRST_SCRATCH - k];
        if (step->whole || !arr_is_array(operand)) {
            args_put(&args, operand);
        } else {
            failed = args_array(&args, ((GPUArray *)operand)->base_data,
                                ((GPUArray *)operand)->offset) < 0;
        }
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(step->numbers); i++) {
        args_put(&args, PyTuple_GET_ITEM(step->numbers, i));
    }
    PyObject *event = failed ? NULL
                             : table_launch(first->table, step->kernel, first->queue, step->sizes,
                                            step->local, &args);
    args_clear(&args);
    return event;
}

static PyObject *new_array(GPUArray *first, PyArray_Descr *dtype, int ndim, const Py_ssize_t *shape,
                           const Py_ssize_t *strides) {
    Py_ssize_t nbytes = (Py_ssize_t)PyDataType_ELSIZE(dtype);
    for (int axis = 0; axis < ndim; axis++) {
        nbytes *= shape[axis];
    }
    PyObject *data = table_allocate(first->table, first->backend, first->allocator, nbytes);
    return data != NULL ? arr_new_with_layout(first, dtype, data, ndim, shape, strides) : NULL;
}

/* Returns the event of the last step, or None; NULL on failure. */
static PyObject *run_steps(const Plan *plan, const GPUArray *first, const Set *set) {
    PyObject *event = Py_NewRef(Py_None);
    for (int i = 0; i < plan->n_steps && event != NULL; i++) {
        Py_SETREF(event, run_step(&plan->steps[i], first, set));
    }
    if (event == NULL || event == Py_None) {
        return event;
    }
    int failed = set->result != NULL && arr_set_event((GPUArray *)set->result, event) < 0;
    for (int i = 0; plan->written >> i != 0 && !failed; i++) {
        failed = (plan->written >> i & 1) && arr_set_event((GPUArray *)set->operands[i], event) < 0;
    }
    if (failed) {
        Py_CLEAR(event);
    }
    return event;
}

PyObject *plan_new_result(const Plan *plan, GPUArray *first) {
    return new_array(first, plan->dtype, plan->ndim, plan->dims, plan->dims + plan->ndim);
}

PyObject *plan_run(Plan *plan, GPUArray *first, PyObject *const *operands) {
    PyObject *result = plan->dtype != NULL ? plan_new_result(plan, first) : NULL;
    return plan->dtype != NULL && result == NULL ? NULL
                                                 : plan_run_into(plan, first, operands, result);
}

PyObject *plan_run_into(Plan *plan, GPUArray *first, PyObject *const *operands, PyObject *result) {
    Set set = {.operands = operands, .result = result};
    PyObject *event = NULL;
    int ready = 1;
    for (int i = 0; i < plan->n_scratch && ready; i++) {
        set.scratch[i] = new_array(first, plan->scratch_dtypes[i], 1, &plan->scratch[i], NULL);
        ready = set.scratch[i] != NULL;
    }
    if (ready) {
        event = run_steps(plan, first, &set);
    }
    for (int i = 0; i < PLAN_SCRATCH; i++) {
        Py_XDECREF(set.scratch[i]);
    }
    if (event == NULL) {
        Py_XDECREF(set.result);
        return NULL;
    }
    if (set.result != NULL) {
        Py_DECREF(event);
        return set.result;
    }
    return event;
}

static const char run_doc[] =
    "run($self, name, /, *operands)\n--\n\n(name: Any, /, *operands: Any) -> Any\n\n"
    "Launch the plan cached for operands with these layouts. Returns the new result, or the event "
    "in "
    "a tuple of one if there is none; None if no plan is cached.";

int plans_key_of(Key *key, Py_ssize_t id, PyObject *const *operands, Py_ssize_t n) {
    return id >= 0 && n >= 1 && n <= PLAN_OPERANDS && plan_key(key, id, 0, operands, (int)n) &&
           key->first->table != NULL && table_in_order(key->first->table, key->first->queue);
}

PyObject *plans_run(const Plans *self, const Key *key, PyObject *const *operands) {
    Plan *plan = plans_find(self, key);
    if (plan == NULL) {
        Py_RETURN_NONE;
    }
    Py_INCREF((PyObject *)plan);
    PyObject *result = plan_run(plan, key->first, operands);
    if (result != NULL && plan->dtype == NULL) {
        PyObject *tuple = PyTuple_Pack(1, result);
        Py_DECREF(result);
        result = tuple;
    }
    Py_DECREF((PyObject *)plan);
    return result;
}

static PyObject *Plans_run(PyObject *op, PyObject *const *args, Py_ssize_t nargs) {
    Key key;
    if (nargs < 1 || !plans_key_of(&key, arr_id(args[0], 0), args + 1, nargs - 1)) {
        Py_RETURN_NONE;
    }
    return plans_run((Plans *)op, &key, args + 1);
}

static const char clear_doc[] = "clear($self, /)\n--\n\n() -> None\n\nForget all.";

static PyObject *Plans_forget(PyObject *op, PyObject *Py_UNUSED(args)) {
    Plans_clear(op);
    Py_RETURN_NONE;
}

static Py_ssize_t Plans_length(PyObject *op) {
    return (Py_ssize_t)((Plans *)op)->used;
}

static PyMethodDef Plans_methods[] = {
    {"add", FAST(Plans_add), Plans_add__doc__},
    {"run", (PyCFunction)(void (*)(void))Plans_run, METH_FASTCALL, run_doc},
    {"clear", Plans_forget, METH_NOARGS, clear_doc},
    {NULL, NULL, 0, NULL},
};
PG_WEAKREF_MEMBERS(Plans, Plans);
static PyType_Slot Plans_slots[] = {
    {Py_tp_doc, (void *)"Plans()\n--\n\n()\n\nLaunches, cached by the shapes, strides and "
                        "dtypes of their operands."},
    {Py_tp_new, (void *)Plans_new},
    PG_GC_SLOTS(Plans),
    {Py_tp_methods, Plans_methods},
    {Py_tp_members, Plans_members},
    {Py_sq_length, (void *)Plans_length},
    {0, NULL},
};
ARR_TYPE(Plans, Plans, Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE);
