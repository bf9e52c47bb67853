/* kernel_checked.c - launches under PYGPU_CHECK=1, which check for out-of-bounds indices; see
 * pygpu/_src/runtime/opencl/checked_kernel.py. */
#include "opencl/objects/kernel.h"
#include "opencl/objects/program.h"
#include "opencl/opencl.h"

PyObject *kernel_launch_checked(Kernel *self, PyObject *const a[8]) {
    if (self->program == NULL || self->program->checks == NULL) {
        Py_RETURN_NONE;
    }
    PyObject *method = PyObject_GetAttrString((PyObject *)self, "_enqueue_checked");
    if (method == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) { /* not the subclass that
                                                                           * checks launches */
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    PyObject *given[8], *event = NULL;
    for (int i = 0; i < 8; i++) {
        given[i] = a[i] != NULL ? a[i] : Py_None;
    }
    if (method != NULL) {
        event = PyObject_CallFunctionObjArgs(method, given[0], given[2], given[3], given[4],
                                             given[5], given[6], given[7], NULL);
    }
    Py_XDECREF(method);
    return event;
}
