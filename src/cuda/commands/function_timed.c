/* function_timed.c - prepared_timed_call(): a launch between two events, and the function that
 * returns the time between them. */
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/objects/function.h"

typedef struct {
    CUD_HEAD
    PyObject *start, *end; /* Events */
} CallTime;

static int CallTime_traverse(PyObject *op, visitproc visit, void *arg) {
    CUD_VISIT(op);
    Py_VISIT(((CallTime *)op)->start);
    Py_VISIT(((CallTime *)op)->end);
    return 0;
}

static void CallTime_dealloc(PyObject *op) {
    pg_untrack(op, ((CallTime *)op)->weakrefs);
    Py_XDECREF(((CallTime *)op)->start);
    Py_XDECREF(((CallTime *)op)->end);
    cud_object_free(op);
}

static PyObject *CallTime_call(PyObject *op, PyObject *args, PyObject *kwargs) {
    CallTime *self = (CallTime *)op;
    if (PyTuple_GET_SIZE(args) > 0 || (kwargs != NULL && PyDict_GET_SIZE(kwargs) > 0)) {
        PyErr_SetString(PyExc_TypeError, "the result of prepared_timed_call() takes no arguments");
        return NULL;
    }
    PyObject *done = PyObject_CallMethod(self->end, "synchronize", NULL);
    PyObject *ms = done != NULL ? PyObject_CallMethod(self->end, "time_since", "O", self->start)
                                : NULL;
    double milliseconds = ms != NULL ? PyFloat_AsDouble(ms) : -1.0;
    Py_XDECREF(done);
    Py_XDECREF(ms);
    return PyErr_Occurred() ? NULL : PyFloat_FromDouble(milliseconds * 1e-3);
}

static PyType_Slot CallTime_slots[] = {
    {Py_tp_doc, (void *)"The result of prepared_timed_call(): call it to wait for the kernel and "
                        "get the seconds that it took."},
    {Py_tp_traverse, (void *)CallTime_traverse},
    {Py_tp_dealloc, (void *)CallTime_dealloc},
    {Py_tp_call, (void *)CallTime_call},
    {0, NULL},
};
CUD_TYPE(CallTime, CallTime, Py_TPFLAGS_DISALLOW_INSTANTIATION);

PG_DOC_SHARED(Function_prepared_timed_call__doc__, "prepared_timed_call",
              "$self, grid, block, /, *args, shared_size=0",
              "(grid: int | Sequence[int], block: int | Sequence[int], /, "
              "*args: Any, shared_size: int = 0)"
              " -> CallTime",
              "prepared_call() between two events; call the result to wait and get the seconds "
              "between them.");

PyObject *Function_prepared_timed_call(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                                       PyObject *kwnames) {
    Function *self = (Function *)op;
    CallTime *timed = (CallTime *)PG_NEW(self->state->CallTimeType);
    PyObject *done = NULL;
    ContextGuard guard;
    CUresult status;
    if (timed == NULL) {
        return NULL;
    }
    timed->state = self->state;
    if (cud_context_check(self->context, "cuEventCreate") < 0) {
        Py_DECREF(timed);
        return NULL;
    }
    if (cud_context_enter(self->context, &guard, &status) < 0) {
        Py_DECREF(timed);
        return cud_raise(self->state, "cuCtxPushCurrent", status);
    }
    if ((timed->start = PyObject_CallNoArgs((PyObject *)self->state->EventType)) != NULL &&
        (timed->end = PyObject_CallNoArgs((PyObject *)self->state->EventType)) != NULL &&
        (done = PyObject_CallMethod(timed->start, "record", NULL)) != NULL) {
        Py_CLEAR(done);
        if (function_prepared_launch(self, "prepared_timed_call", 2, args, nargs, kwnames) == 0) {
            done = PyObject_CallMethod(timed->end, "record", NULL);
        }
    }
    cud_context_leave(&guard);
    if (done == NULL) {
        Py_CLEAR(timed);
    }
    Py_XDECREF(done);
    return (PyObject *)timed;
}
