/* report.c - what kernels on CPU devices found wrong, which the calls that wait for them raise. */
#include "common/pg.h"

int pg_watch(PyObject *args, const volatile int32_t **word, PyObject **reporter) {
    PyObject *memory, *given;
    Py_buffer view;
    if (!PyArg_ParseTuple(args, "OO:_watch", &memory, &given) ||
        PyObject_GetBuffer(memory, &view, PyBUF_SIMPLE) < 0) {
        return -1;
    }
    if (view.len < (Py_ssize_t)sizeof **word) {
        PyBuffer_Release(&view);
        PyErr_SetString(PyExc_ValueError, "_watch: memory of at least 4 bytes is needed");
        return -1;
    }
    *word = view.buf;
    PyBuffer_Release(&view); /* the reporter keeps it, or it is there for ever */
    Py_XSETREF(*reporter, Py_NewRef(given));
    return 0;
}
