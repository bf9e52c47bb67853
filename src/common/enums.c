/* enums.c - a driver's enumerations as data from which Python makes classes. */
#include "common/enums.h"

PyObject *pg_enumerations(const PgEnumRow *rows, size_t n) {
    PyObject *list = PyList_New(0), *members = NULL;
    for (size_t i = 0; list != NULL && i < n; i++) {
        const PgEnumRow *row = &rows[i];
        PyObject *made;
        int failed;
        if (row->member == NULL) {
            Py_XSETREF(members, PyDict_New());
            made = members != NULL ? Py_BuildValue("(szOO)", row->cls, row->doc,
                                                   row->flags ? Py_True : Py_False, members)
                                   : NULL;
            failed = made == NULL || PyList_Append(list, made) < 0;
        } else {
            made = PyLong_FromLongLong(row->value);
            failed = made == NULL || PyDict_SetItemString(members, row->member, made) < 0;
        }
        Py_XDECREF(made);
        if (failed) {
            Py_CLEAR(list);
        }
    }
    Py_XDECREF(members);
    return list;
}
