/* error.c - raises the CUDA driver's status codes as Python exceptions. */
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/keepalive.h"

#include <stdarg.h>

/* Errors after which every later call in the context fails as well. */
#define UNUSABLE                                                                              \
    "the context is unusable from now on, and often the process: restart it (in a notebook, " \
    "restart the kernel)"

static const PgStatus status_rows[] = {
#define STATUS(NAME, number, kind, hint) {number, #NAME, #kind, hint},
#include "cuda/api/status.def"
    {PG_STATUS_MISSING, "NOT_SUPPORTED", "LogicError", ""},
    {PG_STATUS_FORKED, "NOT_INITIALIZED", "LogicError",
     "CUDA initialized before forking, which the driver does not survive; start the process with "
     "multiprocessing.get_context('spawn') or use CUDA only after the fork"},
};

static const PgStatus *find_row(CUresult status) {
    return pg_find_status(status_rows, sizeof status_rows / sizeof status_rows[0], (int)status);
}

/* The driver's own name for a status, which PyCUDA's users know from its messages. */
static const char *text_of(CUresult status, const PgStatus *row) {
    const char *text = NULL;
    if (status > 0 && cu.cuGetErrorString != NULL && !(pg_trap & PG_TRAP_FORKED) &&
        cu.cuGetErrorString(status, &text) == CUDA_SUCCESS && text != NULL) {
        return text;
    }
    return row != NULL ? row->name : "unknown error";
}

/* Whether a kernel has failed, so that the message should name the last one launched. */
static int is_kernel_fault(CUresult status) {
    return status == CUDA_ERROR_ILLEGAL_ADDRESS || status == CUDA_ERROR_LAUNCH_TIMEOUT ||
           status == CUDA_ERROR_ASSERT ||
           (status >= CUDA_ERROR_HARDWARE_STACK_ERROR && status <= CUDA_ERROR_LAUNCH_FAILED);
}

static PyObject *describe(State *state, const char *routine, CUresult status, PyObject *extra,
                          int own) {
    PyObject *what = extra != NULL ? Py_NewRef(extra) : NULL;
    if (status == PG_STATUS_MISSING && what == NULL) {
        int version = cud_driver_version();
        what = PyUnicode_FromFormat(
            "the driver (CUDA %d.%d) does not have this function; a newer driver may",
            version / 1000, version % 1000 / 10);
    }
    const char *detail = status > 0 && !own ? cud_detail() : ""; /* otherwise it belongs to another
                                                                  * call */
    const char *said = what != NULL ? PyUnicode_AsUTF8(what) : NULL;
    if (*detail != '\0' && !PyErr_Occurred() && (said == NULL || strstr(said, detail) == NULL)) {
        Py_XSETREF(what, what != NULL ? PyUnicode_FromFormat("%U; %s", what, detail)
                                      : PyUnicode_FromString(detail));
    }
    if (*detail != '\0') { /* shown only once: a later error found by our own checks is unrelated
                            * to it, and this call clears it */
        int ignored;
        (void)cu.cuDriverGetVersion(&ignored);
    }
    if (is_kernel_fault(status) && state->last_function != NULL && !PyErr_Occurred()) {
        PyObject *name = Py_NewRef(state->last_function);
        const unsigned int *g = state->last_grid, *b = state->last_block;
        PyObject *launch = PyUnicode_FromFormat(
            "the last kernel launched was %S, grid (%u, %u, %u), block (%u, %u, %u)", name, g[0],
            g[1], g[2], b[0], b[1], b[2]);
        Py_DECREF(name);
        if (launch != NULL && what != NULL) {
            Py_SETREF(what, PyUnicode_FromFormat("%U; %U", what, launch));
            Py_DECREF(launch);
        } else if (launch != NULL) {
            what = launch;
        }
    }
    (void)routine;
    return what;
}

/* twin: "ValueError" or "TypeError" if the exception is to be that builtin too, or "". NULL means
 * "" for an error found by our own checks. */
static PyObject *raise_error(State *state, const char *routine, CUresult status, const char *twin,
                             PyObject *extra) {
    int own = twin == NULL;
    twin = own ? "" : twin;
    const PgStatus *row = find_row(status);
    const char *kind = row != NULL ? row->kind : "LogicError";
    if (status == CUDA_ERROR_CONTEXT_IS_DESTROYED) {
        cud_primary_mark_reset(state); /* so that the next use starts afresh */
    }
    int has_hint = extra == NULL || status == PG_STATUS_FORKED || is_kernel_fault(status);
    const char *hint = row != NULL && has_hint ? row->hint : "";
    PyObject *what = *twin == '\0' ? describe(state, routine, status, extra, own)
                                   : Py_XNewRef(extra);
    if (*twin != '\0') {
        kind = "LogicError";
        hint = "";
    }
    if (PyErr_Occurred()) {
        Py_XDECREF(what);
        return NULL;
    }
    CUresult code = status == PG_STATUS_MISSING  ? CUDA_ERROR_NOT_SUPPORTED
                    : status == PG_STATUS_FORKED ? CUDA_ERROR_NOT_INITIALIZED
                                                 : status;
    const char *text = *twin != '\0' ? text_of(code, find_row(code)) : text_of(status, row);
    const PgError error = {kind, twin, routine, (int)code, text, hint};
    pg_raise(state->common.make_error, &error, what);
    Py_XDECREF(what);
    return NULL;
}

PyObject *cud_raise(State *state, const char *routine, CUresult status) {
    return raise_error(state, routine, status, "", NULL);
}

#define RAISE_FORMATTED(twin) \
    PG_FORMATTED(extra, raise_error(state, routine, status, twin, extra), NULL)

PyObject *cud_raise_with(State *state, const char *routine, CUresult status, const char *format,
                         ...) {
    RAISE_FORMATTED("");
}
PyObject *cud_raise_own(State *state, const char *routine, CUresult status, const char *format,
                        ...) {
    RAISE_FORMATTED(NULL);
}
PyObject *cud_reject(State *state, const char *routine, CUresult status, const char *format, ...) {
    RAISE_FORMATTED("ValueError");
}
PyObject *cud_reject_type(State *state, const char *routine, const char *format, ...) {
    CUresult status = CUDA_ERROR_INVALID_VALUE;
    RAISE_FORMATTED("TypeError");
}

int cud_retry(State *state, CUresult status, int *tries) {
    if (status != CUDA_ERROR_OUT_OF_MEMORY || *tries > 0) {
        return 0;
    }
    ++*tries;
    pg_collect(); /* arrays in reference cycles release their memory */
    cud_keepalive_drain(state);
    cud_pools_trim(NULL);
    return 1;
}
