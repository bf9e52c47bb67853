/* revocable_array.c - ndarrays over memory that can be revoked. They are tracked by a weak
 * reference and emptied when the memory goes. */
#include "common/pg.h"

PyArrayObject *pg_revocable_array(PyObject *weak) {
    PyObject *found = NULL;
    if (weak == NULL) {
        return NULL;
    }
#if PY_VERSION_HEX >= 0x030D0000
    if (PyWeakref_GetRef(weak, &found) < 0) {
        PyErr_Clear();
    }
#else
    found = Py_XNewRef(PyWeakref_GetObject(weak));
#endif
    if (found == NULL || !PyArray_Check(found)) {
        PyErr_Clear();
        Py_XDECREF(found);
        return NULL;
    }
    return (PyArrayObject *)found;
}

void pg_revoke_array(PyObject *weak, void *scalar) {
    PyArrayObject *array = pg_revocable_array(weak);
    if (array == NULL) {
        return;
    }
    for (int i = 0; i < PyArray_NDIM(array); i++) {
        PyArray_DIMS(array)[i] = 0;
    }
    if (PyArray_NDIM(array) == 0 && scalar != NULL) {
        ((PyArrayObject_fields *)array)->data = scalar;
    }
    Py_DECREF(array);
}
