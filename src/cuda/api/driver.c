/* driver.c - the CUDA driver: loaded at first use into a table of functions; nothing is linked.
 *
 * Which file to load (libcuda, or the simulator) is decided in pygpu/_src/runtime/cuda/loader.py;
 * here it is opened, its symbols are looked up, and test hooks are offered. */
#include "cuda/cuda.h"
#include "cuda/keepalive.h"
#include "cuda/simulator_hooks.h"

CuTable cu;
long cud_call_counts[FN_COUNT];
long cud_live[LIVE_KINDS];

static void *library;
static char library_path[4096];
static int driver_version;
static int ready;                        /* 1 after cuInit succeeded */
static const char *(*last_detail)(void); /* of the simulator */

static const struct {
    int since;
    const char *name, *symbol;
} functions[FN_COUNT] = {
#define CU_FN(since, name, symbol, params) {since, #name, symbol},
#define CU_OTHER(since, name, symbol, params)
#include "cuda/api/cuda.fn"
#define NVRTC_FN(required, name, params) {0, #name, NULL},
#define NVRTC_OTHER(required, name, params)
#include "cuda/api/nvrtc.fn"
};

int cud_driver_loaded(void) {
    return library != NULL;
}
int cud_driver_version(void) {
    return driver_version;
}
const char *cud_driver_path(void) {
    return library_path;
}
const char *cud_detail(void) {
    return last_detail != NULL ? last_detail() : "";
}

int cud_driver_ready(State *state) {
    if (pg_trap & PG_TRAP_FORKED) { /* set only where the parent had used the driver */
        cud_raise(state, "cuInit", PG_STATUS_FORKED);
        return -1;
    }
    if (ready) {
        return 0;
    }
    if (library == NULL) {
        PyObject *loader = PyImport_ImportModule("pygpu._src.runtime.cuda.loader");
        PyObject *done = loader != NULL ? PyObject_CallMethod(loader, "load_driver", NULL) : NULL;
        Py_XDECREF(loader);
        if (done == NULL) {
            return -1;
        }
        Py_DECREF(done);
        if (library == NULL) {
            PyErr_SetString(
                PyExc_SystemError,
                "pygpu._src.runtime.cuda.loader.load_driver returned without a library");
            return -1;
        }
    }
    CUresult status = CUDA_SUCCESS;
    Py_BEGIN_ALLOW_THREADS
    CU_CALL(status, cuInit, 0);
    Py_END_ALLOW_THREADS
    if (status != CUDA_SUCCESS) {
        cud_raise(state, "cuInit", status);
        return -1;
    }
    pg_trap_watch_fork();
    ready = 1;
    return 0;
}

/* Looks the functions up that a driver of this version has: a newer row may be there under another
 * meaning. */
static void fill_table(void *opened) {
    void **slot = (void **)(void *)&cu; /* object and function pointers may be exchanged on every
                                           system that has dlsym */
    for (int i = 0; i < FN_COUNT_DRIVER; i++) {
        slot[i] = functions[i].since <= driver_version || i == FN_cuDriverGetVersion
                      ? pg_library_symbol(opened, functions[i].symbol)
                      : NULL;
    }
}

PG_DOC(load_library__doc__, "_load_library", "path", "(path: str) -> None",
       "Open the CUDA driver library at *path* and look its functions up.\n\nRaises OSError with "
       "the linker's own words.");

static PyObject *load_library(PyObject *Py_UNUSED(module), PyObject *path_object) {
    void *opened = pg_library_load(path_object, sizeof library_path,
                                   library != NULL ? "a CUDA driver is loaded already" : NULL);
    if (opened == NULL) {
        return NULL;
    }
    CUresult(CUDA_CALL_CONVENTION * get_version)(int *);
    *(void **)(void *)&get_version = pg_library_symbol(opened, "cuDriverGetVersion");
    int version = 0;
    if (get_version == NULL || get_version(&version) != CUDA_SUCCESS || version < 1000) {
        pg_library_close(opened);
        PyErr_SetString(PyExc_OSError,
                        get_version == NULL
                            ? "not a CUDA driver: it has no function cuDriverGetVersion"
                            : "cuDriverGetVersion failed");
        return NULL;
    }
    if (version < 11080) {
        pg_library_close(opened);
        PyErr_Format(PyExc_OSError, "the driver is for CUDA %d.%d, and pygpu needs 11.8 or newer",
                     version / 1000, version % 1000 / 10);
        return NULL;
    }
    driver_version = version;
    fill_table(opened);
    *(void **)(void *)&last_detail = pg_library_symbol(opened, "pygpuSimLastErrorDetail");
    if (cud_print_from(pg_library_symbol(opened, "pygpuSimReadOutput")) < 0) {
        memset(&cu, 0, sizeof cu);
        last_detail = NULL;
        driver_version = 0;
        pg_library_close(opened);
        return NULL;
    }
    cud_waiting_from(pg_library_symbol(opened, "pygpuSimWaiting"));
    cud_pools_tell(pg_library_symbol(opened, "pygpuSimUse"));
    library = opened;
    strcpy(library_path, PyUnicode_AsUTF8(path_object));
    Py_RETURN_NONE;
}

static PyObject *unload_library(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    if (ready) {
        PyErr_SetString(PyExc_RuntimeError, "the CUDA driver is in use");
        return NULL;
    }
    if (library != NULL) {
        memset(&cu, 0, sizeof cu);
        last_detail = NULL;
        driver_version = 0;
        cud_print_from(NULL);
        cud_waiting_from(NULL);
        cud_pools_tell(NULL);
        pg_library_close(library);
        library = NULL;
        library_path[0] = '\0';
    }
    Py_RETURN_NONE;
}

/* For the loader, which does not take a driver without a device: cuInit's status, and the number of
 * devices. */
static PyObject *probe(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    CUresult status = CUDA_SUCCESS;
    int count = 0;
    Py_BEGIN_ALLOW_THREADS
    CU_CALL(status, cuInit, 0);
    Py_END_ALLOW_THREADS
    if (status == CUDA_SUCCESS) {
        CU_CALL(status, cuDeviceGetCount, &count);
    }
    const char *text = NULL,
               *detail = status > 0 ? cud_detail()
                                    : ""; /* such as a setting of the simulator that is none */
    if (status > 0 && cu.cuGetErrorString != NULL) {
        cu.cuGetErrorString(status, &text);
    }
    PyObject *said = PyUnicode_FromFormat(*detail != '\0' ? "%s - %s" : "%s%s",
                                          text != NULL ? text : "", detail);
    return said == NULL ? NULL : Py_BuildValue("(iiN)", (int)status, count, said);
}

static PyObject *loaded_library(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    return library != NULL ? PyUnicode_FromString(library_path) : Py_NewRef(Py_None);
}

static PyObject *is_simulator(PyObject *module, PyObject *Py_UNUSED(ignored)) {
    return cud_driver_ready(PyModule_GetState(module)) < 0 ? NULL
                                                           : PyBool_FromLong(last_detail != NULL);
}

PG_DOC(init__doc__, "init", "flags=0", "(flags: int = 0) -> None",
       "Load the driver and initialize it. Optional: the first call that uses CUDA does it too.\n\n"
       "flags: 0. Raises LogicError if no driver is found; the message says what was tried and "
       "what to install.");
static ArgSpec init_args = PG_ARGSPEC(init__doc__);

static PyObject *init(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames) {
    PyObject *a[1];
    State *state = PyModule_GetState(module);
    uint32_t flags = 0;
    if (pg_args(&init_args, args, nargs, kwnames, a) < 0 ||
        (a[0] != NULL && pg_as_u32(a[0], "init", "flags", &flags) < 0)) {
        return NULL;
    }
    if (flags != 0) {
        return cud_reject(state, "cuInit", CUDA_ERROR_INVALID_VALUE, "flags = %u: it must be 0",
                          flags);
    }
    return cud_driver_ready(state) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *get_driver_version(PyObject *module, PyObject *Py_UNUSED(ignored)) {
    return cud_driver_ready(PyModule_GetState(module)) < 0 ? NULL : PyLong_FromLong(driver_version);
}

/* ---- test hooks ------------------------------------------------------------------------------ */

PG_FAULT_DOC(fault__doc__);
static ArgSpec fault_args = PG_ARGSPEC(fault__doc__);

static const char *name_of_function(int i) {
    return functions[i].name;
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

PG_DOC(call_counts__doc__, "_call_counts", "reset=False, held=False",
       "(reset: bool = False, held: bool = False) -> dict[str, int]",
       "Calls made of each driver function since counting was reset; the first reset starts it.\n\n"
       "held: count from this reset on only those made with the GIL held. For tests only.");
static ArgSpec call_counts_args = PG_ARGSPEC(call_counts__doc__);

static PyObject *call_counts(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs,
                             PyObject *kwnames) {
    PyObject *a[2];
    int reset, held;
    if (pg_args(&call_counts_args, args, nargs, kwnames, a) < 0 ||
        (reset = pg_as_bool(a[0], 0)) < 0 || (held = pg_as_bool(a[1], 0)) < 0) {
        return NULL;
    }
    PyObject *counts = pg_counts(cud_call_counts, name_of_function, FN_COUNT, 0);
    if (reset && counts != NULL) {
        memset(cud_call_counts, 0, sizeof cud_call_counts);
        pg_trap = (pg_trap & ~PG_TRAP_HELD) | PG_TRAP_COUNT | (held ? PG_TRAP_HELD : 0);
    }
    return counts;
}

static const char *name_of_kind(int i) {
    static const char *const kinds[LIVE_KINDS] = {"context", "module", "stream", "event",
                                                  "mem",     "host",   "array",  "texture",
                                                  "graph",   "link",   "pool"};
    return kinds[i];
}

static PyObject *handle_counts(PyObject *module, PyObject *Py_UNUSED(ignored)) {
    cud_keepalive_drain(
        PyModule_GetState(module)); /* what finished work used is let go of by the next call */
    return pg_counts(cud_live, name_of_kind, LIVE_KINDS, 1);
}

static PyObject *function_names(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    PyObject *names = PyList_New(0);
    for (int i = 0; names != NULL && i < FN_COUNT; i++) {
        PyObject *row = Py_BuildValue("(si)", functions[i].name, functions[i].since);
        if (row == NULL || PyList_Append(names, row) < 0) {
            Py_CLEAR(names);
        }
        Py_XDECREF(row);
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

PyMethodDef cud_driver_methods[] = {
    {"_watch", watch, METH_VARARGS,
     "_watch(memory, reporter, /)\n--\n\n(memory: Any, reporter: Callable[[], None], /) -> None\n\n"
     "Call *reporter*, which may raise, after each wait that finds the first word of *memory* not "
     "to be 0."},
    {"_set_array_type", set_array_type, METH_O,
     "_set_array_type(type, /)\n--\n\n(type: type, /) -> None\n\nThe type of arrays, which kernels "
     "take as they are."},
    {"init", FAST(init), init__doc__},
    {"get_driver_version", get_driver_version, METH_NOARGS,
     "get_driver_version()\n--\n\n() -> int\n\nThe newest CUDA version that the driver supports: "
     "12040 is 12.4."},
    {"_load_library", load_library, METH_O, load_library__doc__},
    {"_unload_library", unload_library, METH_NOARGS,
     "_unload_library()\n--\n\n() -> None\n\nClose a library that has not been used yet."},
    {"_probe", probe, METH_NOARGS,
     "_probe()\n--\n\n() -> tuple[int, int, str]\n\nStatus of cuInit, devices, the status in "
     "words."},
    {"_library", loaded_library, METH_NOARGS,
     "_library()\n--\n\n() -> str | None\n\nPath of the loaded driver."},
    {"_is_simulator", is_simulator, METH_NOARGS,
     "_is_simulator()\n--\n\n() -> bool\n\nWhether the CPU stands in for a GPU. Loads the driver."},
    {"_fault", FAST(fault), fault__doc__},
    {"_fault_hits", fault_hits, METH_NOARGS,
     "_fault_hits()\n--\n\n() -> int\n\nCalls that the armed fault has failed."},
    {"_call_counts", FAST(call_counts), call_counts__doc__},
    {"_handle_counts", handle_counts, METH_NOARGS,
     "_handle_counts()\n--\n\n() -> dict[str, int]\n\nLive driver handles by kind."},
    {"_functions", function_names, METH_NOARGS,
     "_functions()\n--\n\n() -> list[tuple[str, int]]\n\nAll functions of the driver, and of "
     "NVRTC, that pygpu calls, with the version that introduced them (NVRTC: 0)."},
    {NULL, NULL, 0, NULL},
};
