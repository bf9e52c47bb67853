/* driver.c - loads the OpenCL library into a table of functions at first use; nothing is linked.
 *
 * pygpu/_src/drivers/opencl_loader.py decides which file to load. This file opens it, looks up its
 * symbols, and provides test hooks. */
#include "common/module_state.h"
#include "opencl/event.h"
#include "opencl/opencl.h"

ClTable cl;
long ocl_call_counts[FN_COUNT];
long ocl_live[LIVE_KINDS];

static const PgFunction functions[FN_COUNT] = {
#define CL_FN(since, ret, name, params) {since, FN_##name == FN_clGetPlatformIDs, #name, #name},
#include "opencl/api/cl.fn"
};

PgDriver ocl_driver = {
    .what = "an OpenCL library",
    .functions = functions,
    .n_functions = FN_COUNT,
    .n_table = FN_COUNT,
    .table = &cl,
    .call_counts = ocl_call_counts,
};

void (*ocl_when_ready)(void);

int ocl_driver_ready(State *state) {
    if (pg_trap & PG_TRAP_FORKED) { /* set only if the parent process had used a driver */
        ocl_raise(state, "OpenCL", PG_STATUS_FORKED);
        return -1;
    }
    if (ocl_driver.ready) {
        return 0;
    }
    if (pg_driver_find(&ocl_driver, "pygpu._opencl",
                       PyImport_ImportModule("pygpu._src.drivers.opencl_loader"),
                       "load_opencl") < 0) {
        return -1;
    }
    pg_trap_watch_fork();
    ocl_driver.ready = 1;
    if (ocl_when_ready != NULL) {
        ocl_when_ready();
    }
    return 0;
}

/* Calls a function that returns an address and no status. The result is also NULL if the driver
 * lacks the function or a trap forbids the call. */
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

static cl_platform_id found_for[FN_COUNT]; /* the platform that supplied an extension's function;
                                            * NULL: the library's own function, or none */

int ocl_extension_ready(cl_platform_id platform, int fn) {
    void **slot = (void **)(void *)&cl + fn;
    if (*slot == NULL && (*slot = ocl_extension_function(platform, functions[fn].name)) != NULL) {
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
PG_FUNCTION(load_library, 2)
static PyObject *load_library_impl(PyObject *Py_UNUSED(module), PyObject *const *a) {
    char error[1024] = "";
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
                        sizeof error); /* on failure, the library's own error is more informative */
    }
    Py_DECREF(preload);
    void *opened = pg_driver_open(&ocl_driver, a[0]);
    if (opened == NULL) {
        return NULL;
    }
    pg_driver_take(&ocl_driver, opened, a[0], INT_MAX);
    Py_RETURN_NONE;
}

static PyObject *unload_library(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    if (pg_driver_unload(&ocl_driver) < 0) {
        return NULL;
    }
    memset(found_for, 0, sizeof found_for);
    Py_RETURN_NONE;
}

static PyObject *platform_count(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    cl_uint n = 0;
    cl_int status = CL_SUCCESS;
    CL_NOGIL(status, clGetPlatformIDs, 0, NULL, &n);
    return PyLong_FromUnsignedLong(
        status == CL_SUCCESS ? n : 0); /* most loaders report "no platform" as an error */
}

static PyObject *ensure_library(PyObject *module, PyObject *Py_UNUSED(ignored)) {
    return ocl_driver_ready(PyModule_GetState(module)) < 0 ? NULL : Py_NewRef(Py_None);
}

/* ---- test hooks ------------------------------------------------------------------------------ */

static PyObject *user_events_pending(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    return PyLong_FromLong(ocl_user_events_pending());
}

static PyObject *handle_counts(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    static const char *const kinds[LIVE_KINDS] = {"device",  "context", "queue", "mem", "sampler",
                                                  "program", "kernel",  "event", "svm"};
    return pg_handle_counts(ocl_live, kinds, LIVE_KINDS);
}

static PyObject *kept_events(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    return PyLong_FromSize_t(ocl_events_kept());
}

PyMethodDef ocl_driver_methods[] = {
    {"_load_library", FAST(load_library), load_library__doc__},
    {"_unload_library", unload_library, METH_NOARGS,
     "_unload_library()\n--\n\n() -> None\n\nClose a library that has not been used yet."},
    {"_platform_count", platform_count, METH_NOARGS,
     "_platform_count()\n--\n\n() -> int\n\nPlatforms of the loaded library."},
    {"_ensure_library", ensure_library, METH_NOARGS,
     "_ensure_library()\n--\n\n() -> None\n\nLoad the driver if that has not been done."},
    {"_user_events_pending", user_events_pending, METH_NOARGS,
     "_user_events_pending()\n--\n\n() -> int\n\nUser events without a status yet."},
    {"_handle_counts", handle_counts, METH_NOARGS,
     "_handle_counts()\n--\n\n() -> dict[str, int]\n\nLive driver handles by kind."},
    {"_kept_events", kept_events, METH_NOARGS,
     "_kept_events()\n--\n\n() -> int\n\nEvents that the program let go and that are kept for the "
     "driver."},
    {NULL, NULL, 0, NULL},
};
