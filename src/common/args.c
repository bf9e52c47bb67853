/* args.c - parses the arguments of C functions by the signature line of their docstrings. */
#include "common/pg.h"

/* Finds the end of the parameter that starts at p. *name_end is set to the end of its name, before
 * any default. */
static const char *skip_parameter(const char *p, const char **name_end) {
    int depth = 0;
    *name_end = NULL;
    while (*p != '\0' && (depth > 0 || (*p != ',' && *p != ')'))) {
        if (*p == '(' || *p == '[') {
            depth++;
        }
        if (*p == ')' || *p == ']') {
            depth--;
        }
        if (*p == '=' && *name_end == NULL) {
            *name_end = p;
        }
        p++;
    }
    if (*name_end == NULL) {
        *name_end = p;
    }
    return p;
}

/* Parses "name($self, /, a, b=1, *, c=None)\n--". Runs once per function. Returns -1 with an
 * exception. */
static int ArgSpec_prepare(ArgSpec *spec) {
    const char *p = spec->doc, *open = strchr(p, '(');
    size_t length = open != NULL ? (size_t)(open - p) : 0;
    if (open == NULL || length >= sizeof spec->function) {
        PyErr_SetString(PyExc_SystemError, "pygpu: malformed signature");
        return -1;
    }
    memcpy(spec->function, p, length);
    spec->function[length] = '\0';
    spec->n = spec->n_required = 0;
    spec->n_positional = -1;
    p = open + 1;
    while (*p != ')' && *p != '\0') {
        while (*p == ' ' || *p == ',') {
            p++;
        }
        if (*p == ')') {
            break;
        }
        const char *start = p, *end;
        p = skip_parameter(start, &end);
        if (*start == '$' || *start == '/') {
            continue;
        }
        if (*start == '*') {
            spec->n_positional = spec->n;
            continue;
        }
        if (spec->n == PG_MAX_ARGS) {
            PyErr_SetString(PyExc_SystemError, "pygpu: too many parameters in a signature");
            return -1;
        }
        PyObject *name = PyUnicode_FromStringAndSize(start, end - start);
        if (name == NULL) {
            return -1;
        }
        PyUnicode_InternInPlace(&name);
        spec->names[spec->n] = name;
        spec->n++;
        if (*end != '=' && spec->n_positional < 0) {
            spec->n_required = spec->n;
        }
    }
    if (spec->n_positional < 0) {
        spec->n_positional = spec->n;
    }
    spec->ready = 1;
    return 0;
}

static int set_keyword(ArgSpec *spec, PyObject *key, PyObject *value, PyObject **out) {
    int i = 0;
    while (i < spec->n && spec->names[i] != key) {
        i++;
    }
    if (i == spec->n) { /* the name may not be interned */
        for (i = 0; i < spec->n; i++) {
            int equal = PyObject_RichCompareBool(spec->names[i], key, Py_EQ);
            if (equal < 0) {
                return -1;
            }
            if (equal) {
                break;
            }
        }
    }
    if (i == spec->n) {
        PyErr_Format(PyExc_TypeError,
                     PyUnicode_Check(key) ? "%s() got an unexpected keyword argument '%S'"
                                          : "%s(): keywords must be strings, not %R",
                     spec->function, key);
        return -1;
    }
    if (out[i] != NULL) {
        PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%U'", spec->function,
                     key);
        return -1;
    }
    out[i] = value;
    return 0;
}

static int check_required(const ArgSpec *spec, PyObject **out) {
    for (int i = 0; i < spec->n_required; i++) {
        if (out[i] == NULL) {
            PyErr_Format(PyExc_TypeError, "%s() missing required argument '%U' (pos %d)",
                         spec->function, spec->names[i], i + 1);
            return -1;
        }
    }
    return 0;
}

static int set_positional(ArgSpec *spec, PyObject *const *args, Py_ssize_t nargs, PyObject **out) {
    if (!spec->ready && ArgSpec_prepare(spec) < 0) {
        return -1;
    }
    if (nargs > spec->n_positional) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %d positional argument%s (%zd given)",
                     spec->function, spec->n_positional, spec->n_positional == 1 ? "" : "s", nargs);
        return -1;
    }
    for (int i = 0; i < spec->n; i++) {
        out[i] = i < nargs ? args[i] : NULL;
    }
    return 0;
}

int pg_args(ArgSpec *spec, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
            PyObject **out) {
    nargs = PyVectorcall_NARGS((size_t)nargs);
    if (set_positional(spec, args, nargs, out) < 0) {
        return -1;
    }
    Py_ssize_t n_keywords = kwnames != NULL ? PyTuple_GET_SIZE(kwnames) : 0;
    for (Py_ssize_t k = 0; k < n_keywords; k++) {
        if (set_keyword(spec, PyTuple_GET_ITEM(kwnames, k), args[nargs + k], out) < 0) {
            return -1;
        }
    }
    return check_required(spec, out);
}

int pg_args_tuple(ArgSpec *spec, PyObject *args, PyObject *kwargs, PyObject **out) {
    if (set_positional(spec, &PyTuple_GET_ITEM(args, 0), PyTuple_GET_SIZE(args), out) < 0) {
        return -1;
    }
    if (kwargs != NULL) {
        PyObject *key, *value;
        Py_ssize_t at = 0;
        while (PyDict_Next(kwargs, &at, &key, &value)) {
            if (set_keyword(spec, key, value, out) < 0) {
                return -1;
            }
        }
    }
    return check_required(spec, out);
}

PyObject *pg_call_by_tuple(ternaryfunc call, PyObject *callable, PyObject *const *args,
                           size_t nargsf, PyObject *kwnames) {
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf),
               n_keywords = kwnames != NULL ? PyTuple_GET_SIZE(kwnames) : 0;
    PyObject *positional = PyTuple_New(nargs), *keywords = n_keywords > 0 ? PyDict_New() : NULL,
             *result = NULL;
    if (positional == NULL || (n_keywords > 0 && keywords == NULL)) {
        goto done;
    }
    for (Py_ssize_t i = 0; i < nargs; i++) {
        PyTuple_SET_ITEM(positional, i, Py_NewRef(args[i]));
    }
    for (Py_ssize_t k = 0; k < n_keywords; k++) {
        if (PyDict_SetItem(keywords, PyTuple_GET_ITEM(kwnames, k), args[nargs + k]) < 0) {
            goto done;
        }
    }
    result = call(callable, positional, keywords);
done:
    Py_XDECREF(positional);
    Py_XDECREF(keywords);
    return result;
}
