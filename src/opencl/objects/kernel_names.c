/* kernel_names.c - calls that pass a kernel's arguments by name: queue, global_size, local_size,
 * arg0, arg1, ...
 *
 * These are the parameters of the functions that PyOpenCL generates for kernels, and programs use
 * their names. */
#include "opencl/objects/kernel.h"
#include "opencl/opencl.h"

static const char *const first_names[] = {"queue", "global_size", "local_size"};
#define N_FIRST ((Py_ssize_t)(sizeof first_names / sizeof *first_names))

/* The position of the argument in the call; -1 if it is not an argument's name. */
static Py_ssize_t index_of(PyObject *name) {
    for (Py_ssize_t i = 0; i < N_FIRST; i++) {
        if (PyUnicode_CompareWithASCIIString(name, first_names[i]) == 0) {
            return i;
        }
    }
    Py_ssize_t length;
    const char *text = PyUnicode_AsUTF8AndSize(name, &length);
    if (text == NULL) {
        PyErr_Clear(); /* unpaired surrogates */
        return -1;
    }
    if (length < 4 || length > 8 || strncmp(text, "arg", 3) != 0 ||
        strspn(text + 3, "0123456789") != (size_t)length - 3 || (text[3] == '0' && length > 4)) {
        return -1;
    }
    return N_FIRST + (Py_ssize_t)strtol(text + 3, NULL, 10);
}

int kernel_has_names(PyObject *kwnames) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(kwnames); i++) {
        if (index_of(PyTuple_GET_ITEM(kwnames, i)) >= 0) {
            return 1;
        }
    }
    return 0;
}

static void missing(Kernel *self, Py_ssize_t index) {
    if (index < N_FIRST) {
        PyErr_Format(PyExc_TypeError, "kernel '%U': the argument '%s' is missing", self->name,
                     first_names[index]);
    } else {
        PyErr_Format(PyExc_TypeError, "kernel '%U': the argument 'arg%zd' is missing", self->name,
                     index - N_FIRST);
    }
}

PyObject *kernel_call_by_names(Kernel *self, PyObject *const *args, Py_ssize_t nargs,
                               PyObject *kwnames, cl_int tried) {
    Py_ssize_t n = N_FIRST + (Py_ssize_t)self->n_given, n_names = PyTuple_GET_SIZE(kwnames),
               n_options = 0;
    PyObject **all = PyMem_Calloc((size_t)(Py_MAX(n, nargs) + n_names), sizeof *all),
             *options = NULL, *result = NULL;
    if (all == NULL) {
        return PyErr_NoMemory();
    }
    if (nargs > n) { /* its error says how many it takes */
        result = kernel_call(self, args, nargs, NULL, tried);
        goto done;
    }
    memcpy(all, args, (size_t)nargs * sizeof *all);
    for (Py_ssize_t i = 0; i < n_names; i++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, i);
        Py_ssize_t index = index_of(name);
        if (index < 0) {
            all[n + n_options++] = args[nargs + i];
        } else if (index >= n) {
            PyErr_Format(PyExc_TypeError,
                         "kernel '%U': unexpected keyword argument '%U'; it takes %u", self->name,
                         name, (unsigned)self->n_given);
            goto done;
        } else if (all[index] != NULL) {
            PyErr_Format(PyExc_TypeError, "kernel '%U': two values for the argument '%U'",
                         self->name, name);
            goto done;
        } else {
            all[index] = args[nargs + i];
        }
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        if (all[i] == NULL) {
            missing(self, i);
            goto done;
        }
    }
    if (n_options > 0) {
        if ((options = PyTuple_New(n_options)) == NULL) {
            goto done;
        }
        for (Py_ssize_t i = 0, k = 0; i < n_names; i++) {
            PyObject *name = PyTuple_GET_ITEM(kwnames, i);
            if (index_of(name) < 0) {
                PyTuple_SET_ITEM(options, k++, Py_NewRef(name));
            }
        }
    }
    result = kernel_call(self, all, n, options, tried); /* the caller keeps the items of all
                                                         * alive */
done:
    PyMem_Free(all);
    Py_XDECREF(options);
    return result;
}
