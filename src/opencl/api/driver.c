/* driver.c - the OpenCL library: loaded at first use into a table of functions; nothing is linked.
 *
 * Which file to load is decided in pygpu/_src/runtime/opencl/loader.py; here it is opened, its
 * symbols looked up, and test hooks offered. */
#include "opencl/event.h"
#include "opencl/opencl.h"

ClTable cl;
long ocl_call_counts[FN_COUNT];
long ocl_live[LIVE_KINDS];

static void *library;
static char library_path[4096];
static int ready; /* 1 after the search in Python ended well */

static const char *const function_names[FN_COUNT] = {
#define CL_FN(since, ret, name, params) #name,
#include "opencl/api/cl.fn"
};

int ocl_driver_loaded(void) {
    return library != NULL;
}
const char *ocl_driver_path(void) {
    return library_path;
}

int ocl_driver_ready(State *state) {
    if (pg_trap & PG_TRAP_FORKED) { /* set only where the parent had used a driver */
        ocl_raise(state, "OpenCL", PG_STATUS_FORKED);
        return -1;
    }
    if (ready) {
        return 0;
    }
    PyObject *loader = PyImport_ImportModule("pygpu._src.runtime.opencl.loader");
    PyObject *done = loader != NULL ? PyObject_CallMethod(loader, "load_opencl", NULL) : NULL;
    Py_XDECREF(loader);
    if (done == NULL) {
        return -1;
    }
    Py_DECREF(done);
    if (library == NULL) {
        PyErr_SetString(PyExc_SystemError,
                        "pygpu._src.runtime.opencl.loader.load_opencl returned without a library");
        return -1;
    }
    pg_trap_watch_fork();
    ready = 1;
    return 0;
}

/* Makes a call that returns an address and no status: NULL also where the driver does not have the
 * function or a trap forbids it. */
#define CL_FIND(out, fn, ...)                                                     \
    do {                                                                          \
        cl_int find_status_ = CL_SUCCESS;                                         \
        int trapped_ = PG_UNLIKELY(pg_trap) &&                                    \
                       pg_trapped(#fn, &ocl_call_counts[FN_##fn], &find_status_); \
        (out) = trapped_ || cl.fn == NULL ? NULL : cl.fn(__VA_ARGS__);            \
    } while (0)

void *ocl_extension_function(cl_platform_id platform, const char *name) {
    void *function;
    if (cl.clGetExtensionFunctionAddressForPlatform != NULL) {
        CL_FIND(function, clGetExtensionFunctionAddressForPlatform, platform, name);
    } else {
        CL_FIND(function, clGetExtensionFunctionAddress, name);
    }
    return function;
}

static cl_platform_id found_for[FN_COUNT]; /* NULL: the library's own function, or none */

int ocl_extension_ready(cl_platform_id platform, int fn) {
    void **slot = (void **)(void *)&cl + fn;
    if (*slot == NULL && (*slot = ocl_extension_function(platform, function_names[fn])) != NULL) {
        found_for[fn] = platform;
    }
    return *slot != NULL && (found_for[fn] == NULL || found_for[fn] == platform);
}

void ocl_extension_forget(int fn) {
    if (found_for[fn] != NULL) {
        ((void **)(void *)&cl)[fn] = NULL;
        found_for[fn] = NULL;
    }
}

PG_DOC(load_library__doc__, "_load_library", "path, preload=()",
       "(path: str, preload: Sequence[str] = ()) -> None",
       "Open the OpenCL library at *path* (after opening *preload* globally) and look its "
       "functions up.\n\n"
       "Raises OSError with the linker's own words.");
static ArgSpec load_library_args = PG_ARGSPEC(load_library__doc__);

static PyObject *load_library(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs,
                              PyObject *kwnames) {
    PyObject *a[2];
    char error[1024] = "";
    if (pg_args(&load_library_args, args, nargs, kwnames, a) < 0) {
        return NULL;
    }
    PyObject *preload = a[1] != NULL ? PySequence_Tuple(a[1]) : PyTuple_New(0);
    if (preload == NULL) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(preload); i++) {
        const char *needed = PyUnicode_AsUTF8(PyTuple_GET_ITEM(preload, i));
        if (needed == NULL) {
            Py_DECREF(preload);
            return NULL;
        }
        pg_library_open(needed, 1, error,
                        sizeof error); /* if it fails, the library's own failure says more */
    }
    Py_DECREF(preload);
    void *opened = pg_library_load(a[0], sizeof library_path,
                                   library != NULL ? "an OpenCL library is loaded already" : NULL);
    if (opened == NULL) {
        return NULL;
    }
    if (pg_library_symbol(opened, "clGetPlatformIDs") == NULL) {
        pg_library_close(opened);
        PyErr_SetString(PyExc_OSError,
                        "not an OpenCL library: it has no function clGetPlatformIDs");
        return NULL;
    }
    /* Object and function pointers may be exchanged on every system that has dlsym. */
    void **slot = (void **)(void *)&cl;
    for (int i = 0; i < FN_COUNT; i++) {
        slot[i] = pg_library_symbol(opened, function_names[i]);
    }
    library = opened;
    strcpy(library_path, PyUnicode_AsUTF8(a[0]));
    Py_RETURN_NONE;
}

static PyObject *unload_library(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    if (ready) {
        PyErr_SetString(PyExc_RuntimeError, "the OpenCL library is in use");
        return NULL;
    }
    if (library != NULL) {
        memset(&cl, 0, sizeof cl);
        memset(found_for, 0, sizeof found_for);
        pg_library_close(library);
        library = NULL;
        library_path[0] = '\0';
    }
    Py_RETURN_NONE;
}

static PyObject *platform_count(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    cl_uint n = 0;
    cl_int status = CL_SUCCESS;
    Py_BEGIN_ALLOW_THREADS
    CL_CALL(status, clGetPlatformIDs, 0, NULL, &n);
    Py_END_ALLOW_THREADS
    return PyLong_FromUnsignedLong(
        status == CL_SUCCESS ? n : 0); /* no platform is an error code in most loaders */
}

static PyObject *loaded_library(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    return library != NULL ? PyUnicode_FromString(library_path) : Py_NewRef(Py_None);
}

static PyObject *ensure_library(PyObject *module, PyObject *Py_UNUSED(ignored)) {
    return ocl_driver_ready(PyModule_GetState(module)) < 0 ? NULL : Py_NewRef(Py_None);
}

/* ---- test hooks ------------------------------------------------------------------------------ */

PG_FAULT_DOC(fault__doc__);
static ArgSpec fault_args = PG_ARGSPEC(fault__doc__);

static const char *name_of_function(int i) {
    return function_names[i];
}

static PyObject *fault(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs,
                       PyObject *kwnames) {
    PyObject *a[4];
    return pg_args(&fault_args, args, nargs, kwnames, a) < 0
               ? NULL
               : pg_fault_arm(a, name_of_function, FN_COUNT);
}

static PyObject *fault_hits(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    return PyLong_FromLong(pg_fault.hits);
}

PG_DOC(call_counts__doc__, "_call_counts", "reset=False", "(reset: bool = False) -> dict[str, int]",
       "Calls made of each driver function since counting was reset; the first reset starts it. "
       "For tests only.");
static ArgSpec call_counts_args = PG_ARGSPEC(call_counts__doc__);

static PyObject *call_counts(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs,
                             PyObject *kwnames) {
    PyObject *a[1];
    int reset;
    if (pg_args(&call_counts_args, args, nargs, kwnames, a) < 0 ||
        (reset = pg_as_bool(a[0], 0)) < 0) {
        return NULL;
    }
    PyObject *counts = pg_counts(ocl_call_counts, name_of_function, FN_COUNT, 0);
    if (reset && counts != NULL) {
        memset(ocl_call_counts, 0, sizeof ocl_call_counts);
        pg_trap |= PG_TRAP_COUNT;
    }
    return counts;
}

static const char *name_of_kind(int i) {
    static const char *const kinds[LIVE_KINDS] = {"device",  "context", "queue", "mem", "sampler",
                                                  "program", "kernel",  "event", "svm"};
    return kinds[i];
}

static PyObject *user_events_pending(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    return PyLong_FromLong(ocl_user_events_pending());
}

static PyObject *handle_counts(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    return pg_counts(ocl_live, name_of_kind, LIVE_KINDS, 1);
}

static PyObject *kept_events(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    return PyLong_FromSize_t(ocl_events_kept());
}

static PyObject *functions(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    PyObject *names = PyList_New(0);
    for (int i = 0; names != NULL && i < FN_COUNT; i++) {
        PyObject *name = PyUnicode_FromString(function_names[i]);
        if (name == NULL || PyList_Append(names, name) < 0) {
            Py_CLEAR(names);
        }
        Py_XDECREF(name);
    }
    return names;
}

static PyObject *set_array_type(PyObject *module, PyObject *type) {
    State *state = PyModule_GetState(module);
    return pg_set_array_type(&state->array_type, type) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *watch(PyObject *module, PyObject *args) {
    State *state = PyModule_GetState(module);
    return pg_watch(args, &state->report, &state->reporter) < 0 ? NULL : Py_NewRef(Py_None);
}

PyMethodDef ocl_driver_methods[] = {
    {"_watch", watch, METH_VARARGS,
     "_watch(memory, reporter, /)\n--\n\n(memory: Any, reporter: Callable[[], None], /) -> None\n\n"
     "Call *reporter*, which may raise, after each wait that finds the first word of *memory* not "
     "to be 0."},
    {"_set_array_type", set_array_type, METH_O,
     "_set_array_type(type, /)\n--\n\n(type: type, /) -> None\n\nThe type of arrays, which kernels "
     "take as they are."},
    {"_load_library", FAST(load_library), load_library__doc__},
    {"_unload_library", unload_library, METH_NOARGS,
     "_unload_library()\n--\n\n() -> None\n\nClose a library that has not been used yet."},
    {"_platform_count", platform_count, METH_NOARGS,
     "_platform_count()\n--\n\n() -> int\n\nPlatforms of the loaded library."},
    {"_library", loaded_library, METH_NOARGS,
     "_library()\n--\n\n() -> str | None\n\nPath of the loaded library."},
    {"_ensure_library", ensure_library, METH_NOARGS,
     "_ensure_library()\n--\n\n() -> None\n\nLoad the driver if that has not been done."},
    {"_fault", FAST(fault), fault__doc__},
    {"_fault_hits", fault_hits, METH_NOARGS,
     "_fault_hits()\n--\n\n() -> int\n\nCalls that the armed fault has failed."},
    {"_call_counts", FAST(call_counts), call_counts__doc__},
    {"_user_events_pending", user_events_pending, METH_NOARGS,
     "_user_events_pending()\n--\n\n() -> int\n\nUser events without a status yet."},
    {"_handle_counts", handle_counts, METH_NOARGS,
     "_handle_counts()\n--\n\n() -> dict[str, int]\n\nLive driver handles by kind."},
    {"_kept_events", kept_events, METH_NOARGS,
     "_kept_events()\n--\n\n() -> int\n\nEvents that the program let go and that are kept for the "
     "driver."},
    {"_functions", functions, METH_NOARGS,
     "_functions()\n--\n\n() -> list[str]\n\nNames of all driver functions that pygpu knows."},
    {NULL, NULL, 0, NULL},
};
