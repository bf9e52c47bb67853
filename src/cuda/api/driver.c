/* driver.c - loads the CUDA driver into a table of functions at first use; nothing is linked.
 *
 * pygpu/_src/drivers/cuda_loader.py decides which file to load (libcuda, or the simulator). This
 * file opens it, looks up its symbols, and provides test hooks. */
#include "common/module_state.h"
#include "cuda/cuda.h"
#include "cuda/keepalive.h"
#include "cuda/simulator_hooks.h"

CuTable cu;
long cud_call_counts[FN_COUNT];
long cud_live[LIVE_KINDS];

static int driver_version;
static const char *(*last_detail)(void); /* only the simulator has it */

const PgFunction cud_functions[FN_COUNT] = {
#define CU_FN(since, name, symbol, params) \
    {since, FN_##name == FN_cuDriverGetVersion, #name, symbol},
#define CU_OTHER(since, name, symbol, params)
#include "cuda/api/cuda.fn"
#define NVRTC_FN(required, name, params) {0, required, #name, #name},
#define NVRTC_OTHER(required, name, params)
#include "cuda/api/nvrtc.fn"
};

PgDriver cud_driver = {
    .what = "a CUDA driver",
    .functions = cud_functions,
    .n_functions = FN_COUNT,
    .n_table = FN_COUNT_DRIVER,
    .table = &cu,
    .call_counts = cud_call_counts,
};

int cud_driver_version(void) {
    return driver_version;
}
const char *cud_detail(void) {
    return last_detail != NULL ? last_detail() : "";
}

void (*cud_when_ready)(void);

int cud_driver_ready(State *state) {
    if (pg_trap & PG_TRAP_FORKED) { /* set only if the parent process had used the driver */
        cud_raise(state, "cuInit", PG_STATUS_FORKED);
        return -1;
    }
    if (cud_driver.ready) {
        return 0;
    }
    if (pg_driver_find(&cud_driver, "pygpu._cuda",
                       PyImport_ImportModule("pygpu._src.drivers.cuda_loader"),
                       "load_driver") < 0) {
        return -1;
    }
    CUresult status = CUDA_SUCCESS;
    CU_NOGIL(status, cuInit, 0);
    if (status != CUDA_SUCCESS) {
        cud_raise(state, "cuInit", status);
        return -1;
    }
    pg_trap_watch_fork();
    cud_driver.ready = 1;
    if (cud_when_ready != NULL) {
        cud_when_ready();
    }
    return 0;
}

PG_DOC(load_library__doc__, "_load_library", "path", "(path: str) -> None",
       "Open the CUDA driver library at *path* and look its functions up.\n\nRaises OSError with "
       "the linker's own words.");

/* Checks whether pygpu can use an opened driver; -1 with an exception. */
static int read_version(void *opened, int *version) {
    CUresult(CUDA_CALL_CONVENTION * get_version)(int *);
    *(void **)(void *)&get_version = pg_library_symbol(opened, "cuDriverGetVersion");
    if (get_version(version) != CUDA_SUCCESS || *version < 1000) {
        PyErr_SetString(PyExc_OSError, "cuDriverGetVersion failed");
        return -1;
    }
    if (*version < 11080) {
        PyErr_Format(PyExc_OSError, "the driver is for CUDA %d.%d, but pygpu needs 11.8 or newer",
                     *version / 1000, *version % 1000 / 10);
        return -1;
    }
    return 0;
}

static PyObject *load_library(PyObject *Py_UNUSED(module), PyObject *path) {
    int version = 0;
    void *opened = pg_driver_open(&cud_driver, path);
    if (opened == NULL) {
        return NULL;
    }
    if (read_version(opened, &version) < 0 ||
        cud_print_from(pg_library_symbol(opened, "pygpuSimReadOutput")) < 0) {
        pg_library_close(opened);
        return NULL;
    }
    pg_driver_take(&cud_driver, opened, path, version);
    driver_version = version;
    *(void **)(void *)&last_detail = pg_library_symbol(opened, "pygpuSimLastErrorDetail");
    cud_waiting_set_hook(pg_library_symbol(opened, "pygpuSimWaiting"));
    cud_wait_set_stop_hook(pg_library_symbol(opened, "pygpuSimStop"));
    cud_pools_set_use_hook(pg_library_symbol(opened, "pygpuSimUse"));
    Py_RETURN_NONE;
}

static PyObject *unload_library(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    if (pg_driver_unload(&cud_driver) < 0) {
        return NULL;
    }
    last_detail = NULL;
    driver_version = 0;
    cud_print_from(NULL);
    cud_waiting_set_hook(NULL);
    cud_wait_set_stop_hook(NULL);
    cud_pools_set_use_hook(NULL);
    Py_RETURN_NONE;
}

/* For the loader, which rejects a driver without devices: returns cuInit's status and the number
 * of devices. */
static PyObject *probe(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    CUresult status = CUDA_SUCCESS;
    int count = 0;
    CU_NOGIL(status, cuInit, 0);
    if (status == CUDA_SUCCESS) {
        CU_CALL(status, cuDeviceGetCount, &count);
    }
    const char *text = NULL, *detail = status > 0
                                           ? cud_detail()
                                           : ""; /* such as an invalid setting of the simulator */
    if (status > 0 && cu.cuGetErrorString != NULL) {
        cu.cuGetErrorString(status, &text);
    }
    PyObject *said = PyUnicode_FromFormat(*detail != '\0' ? "%s - %s" : "%s%s",
                                          text != NULL ? text : "", detail);
    return said == NULL ? NULL : Py_BuildValue("(iiN)", (int)status, count, said);
}

static PyObject *is_simulator(PyObject *module, PyObject *Py_UNUSED(ignored)) {
    return cud_driver_ready(PyModule_GetState(module)) < 0 ? NULL
                                                           : PyBool_FromLong(last_detail != NULL);
}

PG_DOC(init__doc__, "init", "flags=0", "(flags: int = 0) -> None",
       "Load the driver and initialize it. Optional: the first call that uses CUDA does it too.\n\n"
       "flags: 0. Raises LogicError if no driver is found; the message says what was tried and "
       "what to install.");
PG_FUNCTION(init, 1)
static PyObject *init_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    uint32_t flags = 0;
    if ((a[0] != NULL && pg_as_u32(a[0], "init", "flags", &flags) < 0)) {
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

static PyObject *handle_counts(PyObject *module, PyObject *Py_UNUSED(ignored)) {
    static const char *const kinds[LIVE_KINDS] = {"context", "module", "stream", "event",
                                                  "mem",     "host",   "array",  "texture",
                                                  "graph",   "link",   "pool"};
    /* Otherwise finished work would keep its resources until the next call. */
    cud_keepalive_drain(PyModule_GetState(module));
    return pg_handle_counts(cud_live, kinds, LIVE_KINDS);
}

PyMethodDef cud_driver_methods[] = {
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
    {"_is_simulator", is_simulator, METH_NOARGS,
     "_is_simulator()\n--\n\n() -> bool\n\nWhether the CPU stands in for a GPU. Loads the driver."},
    {"_handle_counts", handle_counts, METH_NOARGS,
     "_handle_counts()\n--\n\n() -> dict[str, int]\n\nLive driver handles by kind."},
    {NULL, NULL, 0, NULL},
};
