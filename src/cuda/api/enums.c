/* enums.c - the driver's enumerations as data from which pygpu/_src/drivers/enumerations.py makes
 * the classes. */
#include "cuda/api/enums.h"
#include "common/enums.h"
#include "cuda/cuda.h"

static const PgEnumRow rows[] = {
#define ENUM_CLASS(name, bits, doc)         {#name, NULL, doc, sizeof bits > 1, 0},
#define ENUM(name, member, value, constant) {#name, #member, NULL, 0, value},
#include "cuda/api/enums.def"
};

static PyObject *enumerations(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    return pg_enumerations(rows, sizeof rows / sizeof rows[0]);
}

PyObject *cud_enumeration(const char *name) {
    PyObject *module = PyImport_ImportModule("pygpu._src.drivers.enumerations");
    PyObject *function = module != NULL ? PyCFunction_New(cud_enum_functions, NULL) : NULL;
    PyObject *classes =
        function != NULL ? PyObject_CallMethod(module, "cuda_classes", "O", function) : NULL;
    PyObject *found = classes != NULL ? PyMapping_GetItemString(classes, name) : NULL;
    Py_XDECREF(classes);
    Py_XDECREF(function);
    Py_XDECREF(module);
    return found;
}

PyObject *cud_member(const char *name, long value) {
    PyObject *cls = cud_enumeration(name),
             *values = cls != NULL ? PyObject_GetAttrString(cls, "values") : NULL;
    PyObject *number = values != NULL ? PyLong_FromLong(value) : NULL;
    PyObject *member = number != NULL ? PyObject_GetItem(values, number) : NULL;
    if (member == NULL && number != NULL && PyErr_ExceptionMatches(PyExc_KeyError)) {
        PyErr_Clear();
        member = PyObject_CallOneArg(cls, number);
    }
    Py_XDECREF(number);
    Py_XDECREF(values);
    Py_XDECREF(cls);
    return member;
}

PyObject *cud_attribute(PyObject *op, PyObject *name, PyTypeObject *type, PyObject **names,
                        const char *cls, int *is_member) {
    *is_member = 0;
    PyObject *known = *names != NULL ? PyDict_GetItemWithError(*names, name) : NULL;
    if (known == NULL && PyErr_Occurred()) {
        return NULL;
    }
    PyObject *own = ((CudObject *)op)->dict;
    if (known != NULL && Py_TYPE(op) == type && (own == NULL || PyDict_GET_SIZE(own) == 0)) {
        int changed = PyDict_Contains(type->tp_dict,
                                      name); /* a program may add attributes to the class later */
        if (changed <= 0) {
            *is_member = changed == 0;
            return changed == 0 ? Py_NewRef(known) : NULL;
        }
    }
    PyObject *found = PyObject_GenericGetAttr(op, name);
    if (found != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError) || !PyUnicode_Check(name) ||
        PyUnicode_GET_LENGTH(name) == 0 || PyUnicode_READ_CHAR(name, 0) == '_') {
        return found;
    }
    PyObject *error, *value, *traceback;
    PyErr_Fetch(&error, &value, &traceback);
    PyObject *members = cud_enumeration(cls),
             *upper = members != NULL ? PyObject_CallMethod(name, "upper", NULL) : NULL;
    found = upper != NULL ? PyObject_GetAttr(members, upper) : NULL;
    if (found != NULL && (!PyObject_TypeCheck(found, (PyTypeObject *)members) ||
                          PyUnicode_CompareWithASCIIString(upper, "MAX") == 0)) { /* not a member */
        Py_CLEAR(found);
        PyErr_SetNone(PyExc_AttributeError);
    }
    Py_XDECREF(upper);
    Py_XDECREF(members);
    if (found == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Restore(error, value, traceback); /* the error names the attribute that was looked
                                                 * up */
        return NULL;
    }
    Py_XDECREF(error);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    if (found != NULL && *names == NULL) {
        *names = PyDict_New();
    }
    if (found != NULL && (*names == NULL || PyDict_SetItem(*names, name, found) < 0)) {
        Py_CLEAR(found);
    }
    *is_member = found != NULL;
    return found;
}

PyMethodDef cud_enum_functions[] = {
    {"_enumerations", enumerations, METH_NOARGS,
     "_enumerations()\n--\n\n() -> list[tuple[str, str, bool, dict[str, int]]]\n\nName, doc, "
     "whether flags, members."},
    {NULL, NULL, 0, NULL},
};
