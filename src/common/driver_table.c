/* driver_table.c - loads a driver's library into a function table, and provides the test hooks for
 * it. */
#include "common/driver_table.h"
#include "common/module_state.h"

static void **slots_of(const PgDriver *self) {
    /* Object and function pointers are interchangeable on every system that has dlsym. */
    return (void **)self->table;
}

void *pg_driver_open(const PgDriver *self, PyObject *path) {
    char error[1024] = "";
    const char *name = PyUnicode_AsUTF8(path);
    if (name == NULL) {
        return NULL;
    }
    if (self->library != NULL) {
        return PyErr_Format(PyExc_OSError, "%s is loaded already", self->what);
    }
    if (strlen(name) >= sizeof self->path) {
        PyErr_SetString(PyExc_OSError, "the path is too long");
        return NULL;
    }
    void *opened = NULL;
    Py_BEGIN_ALLOW_THREADS
    opened = pg_library_open(name, 0, error, sizeof error);
    Py_END_ALLOW_THREADS
    if (opened == NULL) {
        PyErr_SetString(PyExc_OSError, error);
        return NULL;
    }
    for (int i = 0; i < self->n_table; i++) {
        const PgFunction *row = &self->functions[i];
        if (row->required && pg_library_symbol(opened, row->symbol) == NULL) {
            pg_library_close(opened);
            return PyErr_Format(PyExc_OSError, "not %s: it has no function %s", self->what,
                                row->name);
        }
    }
    return opened;
}

void pg_driver_take(PgDriver *self, void *opened, PyObject *path, int version) {
    if (self->library != NULL) {
        pg_library_close(opened);
        return;
    }
    for (int i = 0; i < self->n_table; i++) {
        const PgFunction *row = &self->functions[i];
        slots_of(self)[i] = row->since <= version ? pg_library_symbol(opened, row->symbol) : NULL;
    }
    self->library = opened;
    strcpy(self->path, PyUnicode_AsUTF8(path));
}

int pg_driver_find(PgDriver *self, const char *extension, PyObject *loader, const char *function) {
    PyObject *done = NULL;
    PyObject *module = PyImport_ImportModule(extension);
    if (module != NULL && loader != NULL && self->library == NULL) {
        done = PyObject_CallMethod(loader, function, "O", module);
        if (done != NULL && self->library == NULL) {
            PyErr_Format(PyExc_SystemError, "%s() returned without a library", function);
        }
    }
    Py_XDECREF(module);
    Py_XDECREF(loader);
    Py_XDECREF(done);
    return self->library != NULL ? 0 : -1;
}

int pg_driver_unload(PgDriver *self) {
    if (self->ready) {
        PyErr_Format(PyExc_RuntimeError, "%s is in use", self->what);
        return -1;
    }
    if (self->library != NULL) {
        memset(self->table, 0, (size_t)self->n_table * sizeof(void *));
        pg_library_close(self->library);
        self->library = NULL;
        self->path[0] = '\0';
    }
    return 0;
}

/* ---- module methods -------------------------------------------------------------------------- */

static PgDriver *driver_of(PyObject *module) {
    return ((PgState *)PyModule_GetState(module))->driver;
}

static PyObject *loaded_library(PyObject *module, PyObject *Py_UNUSED(ignored)) {
    const PgDriver *self = driver_of(module);
    return self->library != NULL ? PyUnicode_FromString(self->path) : Py_NewRef(Py_None);
}

/* Adds a number to a dict. Returns -1 with an exception. */
static int add_number(PyObject *dict, const char *name, long value) {
    PyObject *number = PyLong_FromLong(value);
    int failed = number == NULL || PyDict_SetItemString(dict, name, number) < 0;
    Py_XDECREF(number);
    return failed ? -1 : 0;
}

static PyObject *functions_and_versions(PyObject *module, PyObject *Py_UNUSED(ignored)) {
    const PgDriver *self = driver_of(module);
    PyObject *versions = PyDict_New();
    for (int i = 0; versions != NULL && i < self->n_functions; i++) {
        if (add_number(versions, self->functions[i].name, self->functions[i].since) < 0) {
            Py_CLEAR(versions);
        }
    }
    return versions;
}

PG_DOC(fault__doc__, "_fault", "name, code, nth=1, times=1",
       "(name: str | None, code: int, nth: int = 1, times: int = 1) -> None",
       "Make the *nth* next call of the driver function *name*, and times - 1 more, return *code* "
       "without being made.\n\nNone ends it. For tests only.");
PG_FUNCTION(fault, 4)
static PyObject *fault_impl(PyObject *module, PyObject *const *a) {
    const PgDriver *self = driver_of(module);
    int64_t code, nth = 1, times = 1;
    if (pg_as_i64(a[1], "_fault", "code", &code) < 0 ||
        (a[2] != NULL && pg_as_i64(a[2], "_fault", "nth", &nth) < 0) ||
        (a[3] != NULL && pg_as_i64(a[3], "_fault", "times", &times) < 0)) {
        return NULL;
    }
    pg_trap &= ~PG_TRAP_FAULT;
    memset(&pg_fault, 0, sizeof pg_fault);
    if (a[0] == Py_None) {
        Py_RETURN_NONE;
    }
    const char *name = PyUnicode_AsUTF8(a[0]);
    for (int i = 0; name != NULL && i < self->n_functions; i++) {
        if (strcmp(name, self->functions[i].name) == 0) {
            pg_fault = (PgFault){.name = self->functions[i].name,
                                 .code = (long)code,
                                 .skip = (long)nth - 1,
                                 .times = (long)times};
            pg_trap |= PG_TRAP_FAULT;
            Py_RETURN_NONE;
        }
    }
    return name != NULL
               ? PyErr_Format(PyExc_ValueError, "_fault: no driver function is called %s", name)
               : NULL;
}

static PyObject *fault_hits(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    return PyLong_FromLong(pg_fault.hits);
}

PyObject *pg_handle_counts(const long *live, const char *const *kinds, int n) {
    PyObject *counts = PyDict_New();
    for (int i = 0; counts != NULL && i < n; i++) {
        if (add_number(counts, kinds[i], live[i]) < 0) {
            Py_CLEAR(counts);
        }
    }
    return counts;
}

PG_DOC(call_counts__doc__, "_call_counts", "reset=False, held=False, stop=False",
       "(reset: bool = False, held: bool = False, stop: bool = False) -> dict[str, int]",
       "Calls made of each driver function since counting was reset; the first reset starts it.\n\n"
       "held: count from this reset on only those made with the GIL held. stop: end counting,\n"
       "because caches are not used meanwhile. For tests only.");
PG_FUNCTION(call_counts, 3)
static PyObject *call_counts_impl(PyObject *module, PyObject *const *a) {
    const PgDriver *self = driver_of(module);
    int reset, held, stop;
    if ((reset = pg_as_bool(a[0], 0)) < 0 || (held = pg_as_bool(a[1], 0)) < 0 ||
        (stop = pg_as_bool(a[2], 0)) < 0) {
        return NULL;
    }
    PyObject *counts = PyDict_New();
    for (int i = 0; counts != NULL && i < self->n_functions; i++) {
        if (self->call_counts[i] != 0 &&
            add_number(counts, self->functions[i].name, self->call_counts[i]) < 0) {
            Py_CLEAR(counts);
        }
    }
    if (reset && counts != NULL) {
        memset(self->call_counts, 0, (size_t)self->n_functions * sizeof *self->call_counts);
        pg_trap = (pg_trap & ~PG_TRAP_HELD) | PG_TRAP_COUNT | (held ? PG_TRAP_HELD : 0);
    }
    if (stop) {
        pg_trap &= ~(PG_TRAP_COUNT | PG_TRAP_HELD);
    }
    return counts;
}

PyMethodDef pg_driver_methods[] = {
    {"_library", loaded_library, METH_NOARGS,
     "_library()\n--\n\n() -> str | None\n\nPath of the loaded library."},
    {"_functions", functions_and_versions, METH_NOARGS,
     "_functions()\n--\n\n() -> dict[str, int]\n\nAll driver functions that pygpu calls, with the "
     "version that introduced them (NVRTC: 0)."},
    {"_fault", FAST(fault), fault__doc__},
    {"_fault_hits", fault_hits, METH_NOARGS,
     "_fault_hits()\n--\n\n() -> int\n\nCalls that the armed fault has failed."},
    {"_call_counts", FAST(call_counts), call_counts__doc__},
    {NULL, NULL, 0, NULL},
};
