/* track.c - the function that is called for new device memory. */
#include "common/track.h"

PyObject *pg_on_memory;

void pg_report_memory(PyObject *memory, size_t size) {
    PyObject *function = Py_NewRef(pg_on_memory), *number = PyLong_FromSize_t(size);
    PyObject *result = number != NULL ? PyObject_CallFunctionObjArgs(function, memory, number, NULL)
                                      : NULL;
    if (result == NULL) { /* memory is there all the same */
        PyErr_WriteUnraisable(function);
    }
    Py_XDECREF(result);
    Py_XDECREF(number);
    Py_DECREF(function);
}

static PyObject *track(PyObject *Py_UNUSED(module), PyObject *function) {
    if (function != Py_None && !PyCallable_Check(function)) {
        return PyErr_Format(PyExc_TypeError, "_track_memory: a function is needed, not %s",
                            pg_type_name(function));
    }
    Py_XSETREF(pg_on_memory, function != Py_None ? Py_NewRef(function) : NULL);
    Py_RETURN_NONE;
}

PyMethodDef pg_track_functions[] = {
    {"_track_memory", track, METH_O,
     "_track_memory($module, function, /)\n--\n\n(function: Callable[[Any, int], object] | None, "
     "/) "
     "-> None\n\nCall *function* with each new piece of device memory and its size; None: do not."},
    {NULL, NULL, 0, NULL},
};
