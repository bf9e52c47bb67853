/* program.c - Program: the steps of a function of @pygpu.fuse, which operate on registers.
 *
 * A register holds an array or a number: first the arguments, then the results of steps. If a step
 * finds no plan for its operands, it calls a Python function, which performs it and adds the
 * plan. */
#include "array/program.h"

#include "array/fastpath.h"

#define REGISTERS_INLINE 48
#define OPERANDS_MOST    64

/* ---- reading --------------------------------------------------------------------------------- */

static int read_registers(PyObject *obj, int16_t *to, Py_ssize_t n_registers) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(obj); i++) {
        long number = PyLong_AsLong(PyTuple_GET_ITEM(obj, i));
        if (number < 0 || number >= n_registers) {
            if (!PyErr_Occurred()) {
                PyErr_Format(PyExc_ValueError, "FusedProgram: there is no register %ld", number);
            }
            return -1;
        }
        to[i] = (int16_t)number;
    }
    return 0;
}

static int read_dims(PyObject *shape, PyObject *strides, ProgramStep *step) {
    Py_ssize_t n = PyTuple_GET_SIZE(shape);
    if (n > ARRAY_MAX_DIMS || PyTuple_GET_SIZE(strides) != n) {
        PyErr_SetString(PyExc_ValueError, "FusedProgram: shape and strides do not fit");
        return -1;
    }
    step->ndim = (int)n;
    step->dims = PyMem_Malloc((2 * (size_t)n + 1) * sizeof *step->dims);
    if (step->dims == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < 2 * n; i++) {
        PyObject *item = i < n ? PyTuple_GET_ITEM(shape, i) : PyTuple_GET_ITEM(strides, i - n);
        step->dims[i] = PyLong_AsSsize_t(item);
        if (step->dims[i] == -1 && PyErr_Occurred()) {
            return -1;
        }
    }
    return 0;
}

/* (code, in, out, drop, name, extra, function, type, shape, strides, delta) */
static int read_step(PyObject *obj, ProgramStep *step, Py_ssize_t n_registers) {
    PyObject *in, *out, *drop, *name, *function, *type, *shape, *strides;
    if (!PyTuple_Check(obj) ||
        !PyArg_ParseTuple(obj, "iO!O!O!OnOOO!O!n", &step->code, &PyTuple_Type, &in, &PyTuple_Type,
                          &out, &PyTuple_Type, &drop, &name, &step->extra, &function, &type,
                          &PyTuple_Type, &shape, &PyTuple_Type, &strides, &step->delta)) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_TypeError, "FusedProgram: a step is a tuple");
        }
        return -1;
    }
    Py_ssize_t n_in = PyTuple_GET_SIZE(in), n_out = PyTuple_GET_SIZE(out),
               n_drop = PyTuple_GET_SIZE(drop);
    int single = step->code != STEP_PYTHON && step->code != STEP_LAUNCH;
    if (step->code < STEP_RUN || step->code > STEP_PYTHON || n_in > OPERANDS_MOST ||
        (single && n_out != 1) || (step->code == STEP_LAUNCH && n_out != 0) ||
        ((step->code == STEP_VIEW || step->code == STEP_NEW) &&
         (n_in != 1 || !PyArray_DescrCheck(type)))) {
        PyErr_SetString(PyExc_ValueError, "FusedProgram: a step does not fit its code");
        return -1;
    }
    step->n_in = (int)n_in;
    step->n_out = (int)n_out;
    step->n_drop = (int)n_drop;
    step->function = Py_NewRef(function);
    step->type = Py_NewRef(type);
    step->registers = PyMem_Malloc((size_t)(n_in + n_out + n_drop + 1) * sizeof *step->registers);
    if (step->registers == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    step->id = name != Py_None ? arr_id(name, 1) : -1;
    return (name != Py_None && step->id < 0) ||
                   read_registers(in, step->registers, n_registers) < 0 ||
                   read_registers(out, step->registers + n_in, n_registers) < 0 ||
                   read_registers(drop, step->registers + n_in + n_out, n_registers) < 0 ||
                   read_dims(shape, strides, step) < 0
               ? -1
               : 0;
}

PG_DOC(Program_new__doc__, "FusedProgram",
       "n_registers, steps, results, form, constants, watched, shaped, mutates",
       "(n_registers: int, steps: tuple[Any, ...], results: tuple[int, ...], form: Any, constants: "
       "tuple[tuple[int, Any], ...], watched: tuple[Any, ...], shaped: bool, mutates: bool)",
       "The steps of a function. A step is (code, registers that it reads, that it sets, that are "
       "not needed afterwards, name, extra, Python function, dtype or type, shape, strides, "
       "bytes). form: tuples, lists and dicts with None in the place of each result, in order. "
       "watched: (dict, name, value) or (cell, None, value).");
static ArgSpec Program_new_args = PG_ARGSPEC(Program_new__doc__);

static int fill(Program *self, PyObject *const *a, Py_ssize_t n_registers) {
    Py_ssize_t n_steps = PyTuple_GET_SIZE(a[1]), n_results = PyTuple_GET_SIZE(a[2]);
    self->steps = PyMem_Calloc((size_t)n_steps + 1, sizeof *self->steps);
    self->results = PyMem_Malloc((size_t)(n_results + 1) * sizeof *self->results);
    if (self->steps == NULL || self->results == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < n_steps; i++) {
        self->n_steps = (int)i + 1; /* counted now, so that what was read of it is freed */
        if (read_step(PyTuple_GET_ITEM(a[1], i), &self->steps[i], n_registers) < 0) {
            return -1;
        }
    }
    self->n_results = (int)n_results;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(a[4]); i++) {
        PyObject *pair = PyTuple_GET_ITEM(a[4], i);
        int16_t number;
        if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2) {
            PyErr_SetString(PyExc_TypeError, "FusedProgram: constants are pairs");
            return -1;
        }
        PyObject *one = PyTuple_GetSlice(pair, 0, 1);
        int failed = one == NULL || read_registers(one, &number, n_registers) < 0;
        Py_XDECREF(one);
        if (failed) {
            return -1;
        }
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(a[5]); i++) {
        PyObject *item = PyTuple_GET_ITEM(a[5], i);
        if (!PyTuple_Check(item) || PyTuple_GET_SIZE(item) != 3 ||
            !(PyDict_Check(PyTuple_GET_ITEM(item, 0)) || PyCell_Check(PyTuple_GET_ITEM(item, 0)))) {
            PyErr_SetString(PyExc_TypeError,
                            "FusedProgram: watched are (dict or cell, name, value)");
            return -1;
        }
    }
    return read_registers(a[2], self->results, n_registers);
}

static PyObject *Program_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *a[8];
    if (pg_args_tuple(&Program_new_args, args, kwargs, a) < 0) {
        return NULL;
    }
    Py_ssize_t n_registers = PyLong_AsSsize_t(a[0]);
    if (n_registers == -1 && PyErr_Occurred()) {
        return NULL;
    }
    if (n_registers < 0 || n_registers > INT16_MAX || !PyTuple_Check(a[1]) ||
        !PyTuple_Check(a[2]) || !PyTuple_Check(a[4]) || !PyTuple_Check(a[5])) {
        PyErr_SetString(PyExc_ValueError, "FusedProgram: wrong arguments");
        return NULL;
    }
    Program *self = (Program *)PG_NEW(type);
    if (self == NULL) {
        return NULL;
    }
    self->n_registers = (int)n_registers;
    self->form = Py_NewRef(a[3]);
    self->constants = Py_NewRef(a[4]);
    self->watched = Py_NewRef(a[5]);
    self->shaped = (char)(a[6] == Py_True);
    self->mutates = (char)(a[7] == Py_True);
    if (fill(self, a, n_registers) < 0) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static int Program_traverse(PyObject *op, visitproc visit, void *arg) {
    Program *self = (Program *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->form);
    Py_VISIT(self->constants);
    Py_VISIT(self->watched);
    for (int i = 0; i < self->n_steps; i++) {
        Py_VISIT(self->steps[i].function);
    }
    return 0;
}

/* No tp_clear: a call may be running the steps. A cycle is broken where programs are stored. */
static void Program_dealloc(PyObject *op) {
    Program *self = (Program *)op;
    PyObject_GC_UnTrack(op);
    for (int i = 0; i < self->n_steps; i++) {
        Py_XDECREF(self->steps[i].function);
        Py_XDECREF(self->steps[i].type);
        PyMem_Free(self->steps[i].registers);
        PyMem_Free(self->steps[i].dims);
    }
    PyMem_Free(self->steps);
    PyMem_Free(self->results);
    Py_XDECREF(self->form);
    Py_XDECREF(self->constants);
    Py_XDECREF(self->watched);
    pg_object_free(op);
}

/* ---- running --------------------------------------------------------------------------------- */

int program_fresh(const Program *self) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self->watched); i++) {
        PyObject *item = PyTuple_GET_ITEM(self->watched, i), *where = PyTuple_GET_ITEM(item, 0);
        PyObject *value;
        if (PyDict_Check(where)) {
            value = PyDict_GetItemWithError(where, PyTuple_GET_ITEM(item, 1));
            if (value == NULL && PyErr_Occurred()) {
                return -1;
            }
        } else {
            value = PyCell_Get(where);
            Py_XDECREF(value); /* only compared, not used */
        }
        if (value != PyTuple_GET_ITEM(item, 2)) {
            return 0;
        }
    }
    return 1;
}

static PyObject *call_python(const ProgramStep *step, PyObject *const *operands) {
    return PyObject_Vectorcall(step->function, operands, (size_t)step->n_in, NULL);
}

static PyObject *run_operation(const ProgramStep *step, PyObject *const *operands) {
    PyObject *result = NULL;
    int done = step->n_in > CALL_MAX ? 0
               : step->extra == 0
                   ? arr_fast(step->id, operands, step->n_in, NULL, &result)
                   : arr_fast_plan(step->id, step->extra, operands, step->n_in, &result);
    return done > 0 ? result : done < 0 ? NULL : call_python(step, operands);
}

static PyObject *run_launch(const ProgramStep *step, PyObject *const *operands) {
    Key key;
    if (plans_key_of(&key, step->id, operands, step->n_in)) {
        PyObject *done = plans_run((Plans *)key.first->table->plans, &key, operands);
        if (done != Py_None) {
            return done;
        }
        Py_DECREF(done);
    }
    return call_python(step, operands);
}

static PyObject *make_view(const ProgramStep *step, PyObject *operand) {
    if (!arr_is_array(operand)) {
        PyErr_SetString(PyExc_TypeError, "fuse: a step gave no array where it gave one before");
        return NULL;
    }
    GPUArray *array = (GPUArray *)operand;
    return arr_view(array, (PyArray_Descr *)step->type, array->offset + step->delta, step->ndim,
                    step->dims, step->dims + step->ndim);
}

static PyObject *make_new(const ProgramStep *step, PyObject *operand) {
    if (!arr_is_array(operand) || ((GPUArray *)operand)->table == NULL) {
        return call_python(step, &operand);
    }
    GPUArray *like = (GPUArray *)operand;
    Py_ssize_t nbytes = (Py_ssize_t)PyDataType_ELSIZE((PyArray_Descr *)step->type);
    for (int i = 0; i < step->ndim; i++) {
        nbytes *= step->dims[i];
    }
    PyObject *data = table_allocate(like->table, like->backend, like->allocator, nbytes);
    return data != NULL ? arr_new_with_layout(like, (PyArray_Descr *)step->type, data, step->ndim,
                                              step->dims, step->dims + step->ndim)
                        : NULL;
}

/* Returns 1 if done, 0 to run the plain function, -1 with an exception. */
static int run_step(const ProgramStep *step, PyObject **registers, PyObject *args) {
    PyObject *operands[OPERANDS_MOST], *made = NULL;
    for (int i = 0; i < step->n_in; i++) {
        operands[i] = registers[step->registers[i]];
        if (operands[i] == NULL) {
            PyErr_SetString(PyExc_SystemError, "FusedProgram: a register is empty");
            return -1;
        }
    }
    const int16_t *out = step->registers + step->n_in;
    switch (step->code) {
    case STEP_RUN:
        made = run_operation(step, operands);
        break;
    case STEP_LAUNCH:
        made = run_launch(step, operands);
        break;
    case STEP_VIEW:
        made = make_view(step, operands[0]);
        break;
    case STEP_NEW:
        made = make_new(step, operands[0]);
        break;
    case STEP_NUMBER:
        made = PyObject_CallOneArg(step->function, args);
        if (made != NULL && (PyObject *)Py_TYPE(made) != step->type) {
            Py_DECREF(made);
            return 0; /* the result of 2**n is an int or a float, depending on the sign of n */
        }
        break;
    default:
        made = call_python(step, operands);
        break;
    }
    if (made == NULL) {
        return -1;
    }
    if (step->code != STEP_PYTHON) {
        if (step->n_out == 1) {
            Py_XSETREF(registers[out[0]], made);
        } else {
            Py_DECREF(made);
        }
        return 1;
    }
    int fits = PyTuple_CheckExact(made) && PyTuple_GET_SIZE(made) == step->n_out;
    for (int i = 0; fits && i < step->n_out; i++) {
        Py_XSETREF(registers[out[i]], Py_NewRef(PyTuple_GET_ITEM(made, i)));
    }
    Py_DECREF(made);
    if (!fits) {
        PyErr_SetString(PyExc_SystemError,
                        "FusedProgram: a step of Python returned something else");
        return -1;
    }
    return 1;
}

/* The return value of a call, and the index of the next result. */
typedef struct {
    const Program *program;
    PyObject *const *registers;
    int next;
} Collector;

static PyObject *collect(Collector *c, PyObject *form);

static PyObject *collect_tuple(Collector *c, PyObject *form) {
    PyObject *made = PyTuple_New(PyTuple_GET_SIZE(form));
    for (Py_ssize_t i = 0; made != NULL && i < PyTuple_GET_SIZE(form); i++) {
        PyObject *item = collect(c, PyTuple_GET_ITEM(form, i));
        if (item == NULL) {
            Py_CLEAR(made);
        } else {
            PyTuple_SET_ITEM(made, i, item);
        }
    }
    if (made != NULL && !PyTuple_CheckExact(form)) { /* a named tuple */
        Py_SETREF(made, PyObject_Call((PyObject *)Py_TYPE(form), made, NULL));
    }
    return made;
}

static PyObject *collect_list(Collector *c, PyObject *form) {
    PyObject *made = PyList_New(PyList_GET_SIZE(form));
    for (Py_ssize_t i = 0; made != NULL && i < PyList_GET_SIZE(form); i++) {
        PyObject *item = collect(c, PyList_GET_ITEM(form, i));
        if (item == NULL) {
            Py_CLEAR(made);
        } else {
            PyList_SET_ITEM(made, i, item);
        }
    }
    return made;
}

static PyObject *collect_dict(Collector *c, PyObject *form) {
    PyObject *made = PyDict_New(), *key, *value;
    Py_ssize_t i = 0;
    while (made != NULL && PyDict_Next(form, &i, &key, &value)) {
        PyObject *item = collect(c, value);
        if (item == NULL || PyDict_SetItem(made, key, item) < 0) {
            Py_CLEAR(made);
        }
        Py_XDECREF(item);
    }
    return made;
}

/* New: what *form* stands for. Its depth is bounded by Python's stack, which made it. */
static PyObject *collect(Collector *c, PyObject *form) {
    if (PyTuple_Check(form)) {
        return collect_tuple(c, form);
    }
    if (PyList_CheckExact(form)) {
        return collect_list(c, form);
    }
    if (PyDict_CheckExact(form)) {
        return collect_dict(c, form);
    }
    int number = c->next++;
    PyObject *value = number < c->program->n_results ? c->registers[c->program->results[number]]
                                                     : NULL;
    if (value == NULL) {
        PyErr_SetString(PyExc_SystemError, "FusedProgram: a result is missing");
        return NULL;
    }
    return Py_NewRef(value);
}

PyObject *program_run(Program *self, PyObject *args) {
    PyObject *inline_registers[REGISTERS_INLINE], **registers = inline_registers, *result = NULL;
    Py_ssize_t n = self->n_registers, n_args = PyTuple_GET_SIZE(args);
    if (n > REGISTERS_INLINE && (registers = PyMem_Malloc((size_t)n * sizeof *registers)) == NULL) {
        return PyErr_NoMemory();
    }
    memset(registers, 0, (size_t)n * sizeof *registers);
    for (Py_ssize_t i = 0; i < n_args && i < n; i++) {
        registers[i] = Py_NewRef(PyTuple_GET_ITEM(args, i));
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self->constants); i++) {
        PyObject *pair = PyTuple_GET_ITEM(self->constants, i);
        long at = PyLong_AsLong(PyTuple_GET_ITEM(pair, 0)); /* checked when the program was made */
        Py_XSETREF(registers[at], Py_NewRef(PyTuple_GET_ITEM(pair, 1)));
    }
    int state = 1;
    for (int i = 0; i < self->n_steps && state == 1; i++) {
        const ProgramStep *step = &self->steps[i];
        state = run_step(step, registers, args);
        for (int k = 0; k < step->n_drop && state == 1; k++) {
            Py_CLEAR(registers[step->registers[step->n_in + step->n_out + k]]);
        }
    }
    if (state == 1) {
        result = collect(&(Collector){self, registers, 0}, self->form);
    } else if (state == 0) {
        result = Py_NewRef(Py_NotImplemented);
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        Py_XDECREF(registers[i]);
    }
    if (registers != inline_registers) {
        PyMem_Free(registers);
    }
    return result;
}

static const char run_doc[] =
    "run($self, args, /)\n--\n\n(args: tuple[Any, ...], /) -> Any\n\n"
    "The results for these arguments, NotImplemented if the plain function has to compute them.";

static PyObject *Program_run_method(PyObject *op, PyObject *args) {
    if (!PyTuple_Check(args)) {
        PyErr_SetString(PyExc_TypeError, "FusedProgram.run: args must be a tuple");
        return NULL;
    }
    return program_run((Program *)op, args);
}

static const char fresh_doc[] =
    "fresh($self, /)\n--\n\n() -> bool\n\n"
    "Whether the names that the function reads still mean what they meant.";

static PyObject *Program_fresh_method(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    int fresh = program_fresh((Program *)op);
    return fresh < 0 ? NULL : PyBool_FromLong(fresh);
}

static PyMethodDef Program_methods[] = {
    {"run", Program_run_method, METH_O, run_doc},
    {"fresh", Program_fresh_method, METH_NOARGS, fresh_doc},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef Program_members[] = {
    {"shaped", T_BOOL, offsetof(Program, shaped), READONLY,
     "bool: Whether it is for arguments of the shapes and strides that it was made for."},
    {"mutates", T_BOOL, offsetof(Program, mutates), READONLY,
     "bool: Whether it writes to arguments."},
    {"n_steps", T_INT, offsetof(Program, n_steps), READONLY, "int: Number of steps."},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot Program_slots[] = {
    {Py_tp_doc, (void *)Program_new__doc__},
    {Py_tp_new, (void *)Program_new},
    {Py_tp_traverse, (void *)Program_traverse},
    {Py_tp_dealloc, (void *)Program_dealloc},
    {Py_tp_methods, Program_methods},
    {Py_tp_members, Program_members},
    {0, NULL},
};
PG_TYPE(arr, "pygpu._array.FusedProgram", Program, Program,
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE);
