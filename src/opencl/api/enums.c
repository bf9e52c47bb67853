/* enums.c - the constant classes (mem_flags, device_type, ...) as data;
 * pygpu/constants.py makes the classes. */
#include "opencl/opencl.h"

typedef struct {
    const char *cls;
    const char *member; /* NULL: a class begins, doc and bits count */
    const char *doc;
    int bits;
    long long value;
} EnumRow;

static const EnumRow rows[] = {
#define ENUM_CLASS(name, bits, doc)  {#name, NULL, doc, sizeof bits > 1, 0},
#define ENUM(name, member, constant) {#name, #member, NULL, 0, (long long)(constant)},
#include "opencl/api/enums.def"
};

static PyObject *constants(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    PyObject *list = PyList_New(0), *members = NULL;
    for (size_t i = 0; list != NULL && i < sizeof rows / sizeof rows[0]; i++) {
        const EnumRow *row = &rows[i];
        int failed;
        if (row->member == NULL) {
            Py_XSETREF(members, PyDict_New());
            PyObject *entry = members != NULL
                                  ? Py_BuildValue("(szOO)", row->cls, row->doc,
                                                  row->bits ? Py_True : Py_False, members)
                                  : NULL;
            failed = entry == NULL || PyList_Append(list, entry) < 0;
            Py_XDECREF(entry);
        } else {
            PyObject *value = row->value < 0
                                  ? PyLong_FromLongLong(row->value)
                                  : PyLong_FromUnsignedLongLong((unsigned long long)row->value);
            failed = value == NULL || PyDict_SetItemString(members, row->member, value) < 0;
            Py_XDECREF(value);
        }
        if (failed) {
            Py_CLEAR(list);
        }
    }
    Py_XDECREF(members);
    return list;
}

PyMethodDef ocl_enum_functions[] = {
    {"_constants", constants, METH_NOARGS,
     "_constants()\n--\n\n() -> list[tuple[str, str, bool, dict[str, int]]]\n\nName, doc, whether "
     "flags, members."},
    {NULL, NULL, 0, NULL},
};
