/* roles.c - the table of roles, which pygpu/__init__.py fills on import. */
#include "opencl/api/roles.h"

#include <string.h>

/* Only names, so every interpreter of a process can share them. */
static struct { char role[16], module[64]; } roles[8];

static int copy_name(char *to, size_t size, PyObject *name) {
    Py_ssize_t length;
    const char *text = PyUnicode_AsUTF8AndSize(name, &length);
    if (text == NULL) {
        return -1;
    }
    if (length == 0 || (size_t)length >= size) {
        PyErr_Format(PyExc_ValueError, "_provide: %R must have 1 to %zu letters", name, size - 1);
        return -1;
    }
    memcpy(to, text, (size_t)length + 1);
    return 0;
}

PG_DOC(provide__doc__, "_provide", "role, module", "(role: str, module: str) -> None",
       "Say which module plays a role. At most 8 roles.");
PG_FUNCTION(provide, 2)
static PyObject *provide_impl(PyObject *Py_UNUSED(module), PyObject *const *a) {
    char role[sizeof roles[0].role], module[sizeof roles[0].module];
    if (copy_name(role, sizeof role, a[0]) < 0 || copy_name(module, sizeof module, a[1]) < 0) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        if (roles[i].role[0] == '\0' || strcmp(roles[i].role, role) == 0) {
            memcpy(roles[i].module, module, sizeof module);
            memcpy(roles[i].role, role, sizeof role);
            Py_RETURN_NONE;
        }
    }
    PyErr_SetString(PyExc_ValueError, "_provide: there are 8 roles already");
    return NULL;
}

PyObject *ocl_role(const char *role) {
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        if (strcmp(roles[i].role, role) == 0) {
            return PyImport_ImportModule(roles[i].module);
        }
    }
    PyErr_Format(PyExc_RuntimeError, "no module plays the role %s: import pygpu first", role);
    return NULL;
}

PyMethodDef ocl_role_functions[] = {
    {"_provide", FAST(provide), provide__doc__},
    {NULL, NULL, 0, NULL},
};
