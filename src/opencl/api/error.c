/* error.c - raises the driver's status codes as Python exceptions. */
#include "opencl/opencl.h"
#include "opencl/platform.h"

#include <stdarg.h>

#define NVIDIA_FAULT (-9999) /* not in any header */

static const PgStatus status_rows[] = {
#define STATUS(name, number, kind, hint) {CL_##name, #name, #kind, hint},
#include "opencl/api/status.def"
#undef STATUS
    {PG_STATUS_MISSING, "INVALID_OPERATION", "LogicError",
     "the loaded OpenCL library does not have this function; python -m pygpu shows its version"},
    {PG_STATUS_FORKED, "INVALID_OPERATION", "RuntimeError",
     "this process was forked after OpenCL was used, and drivers do not survive that; start it "
     "with "
     "multiprocessing.get_context('spawn') or make OpenCL objects only after the fork"},
    {NVIDIA_FAULT, "UNKNOWN_STATUS (-9999)", "LogicError",
     "NVIDIA's driver returns this after a kernel accessed memory outside of its buffers, or was "
     "stopped by the driver; the context is unusable: create a new one, or restart the process"},
};

static const PgStatus *find_row(cl_int status) {
    return pg_find_status(status_rows, sizeof status_rows / sizeof status_rows[0], (int)status);
}

const char *ocl_status_name(cl_int status) {
    const PgStatus *row = find_row(status);
    return row != NULL && status != NVIDIA_FAULT
               ? row->name
               : "UNKNOWN_STATUS"; /* the callers add the number */
}

/* twin: "ValueError" or "TypeError" if the exception is to be that builtin too, or "". */
static PyObject *raise_error(State *state, const char *routine, cl_int status, const char *twin,
                             PyObject *extra) {
    const PgStatus *row = find_row(status);
    const char *kind = row != NULL     ? row->kind
                       : status <= -30 ? "LogicError"
                       : status < 0    ? "RuntimeError"
                                       : "Error";
    char unknown[40];
    (void)PyOS_snprintf(unknown, sizeof unknown, "UNKNOWN_STATUS (%d)", (int)status);
    cl_int code = status == PG_STATUS_MISSING || status == PG_STATUS_FORKED ? CL_INVALID_OPERATION
                                                                            : status;
    const char *hint = row != NULL && (extra == NULL || status == PG_STATUS_FORKED) ? row->hint
                                                                                    : "";
    if (*twin != '\0') {
        hint = "";
    }
    const PgError error = {kind, twin, routine, (int)code, row != NULL ? row->name : unknown, hint};
    return pg_raise(state->common.make_error, &error, extra);
}

PyObject *ocl_raise(State *state, const char *routine, cl_int status) {
    return raise_error(state, routine, status, "", NULL);
}

#define RAISE_FORMATTED(twin) \
    PG_FORMATTED(extra, raise_error(state, routine, status, twin, extra), NULL)

PyObject *ocl_raise_with(State *state, const char *routine, cl_int status, const char *format,
                         ...) {
    RAISE_FORMATTED("");
}
PyObject *ocl_reject(State *state, const char *routine, cl_int status, const char *format, ...) {
    RAISE_FORMATTED("ValueError");
}
PyObject *ocl_reject_type(State *state, const char *routine, cl_int status, const char *format,
                          ...) {
    RAISE_FORMATTED("TypeError");
}

PyObject *ocl_raise_ended(State *state, const char *routine, cl_int exec) {
    const PgStatus *row = find_row(exec);
    const char *hint = row != NULL && exec == NVIDIA_FAULT ? row->hint : "";
    return ocl_raise_with(state, routine, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
                          "the command ended with %s (%d)%s%s", ocl_status_name(exec), (int)exec,
                          *hint != '\0' ? ": " : "", hint);
}

int ocl_is_out_of_memory(cl_int status) {
    return status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_RESOURCES ||
           status == CL_OUT_OF_HOST_MEMORY;
}

int ocl_retry(State *state, cl_int status, int *tries) {
    if (!ocl_is_out_of_memory(status) || *tries > 0) {
        return 0;
    }
    ++*tries;
    pg_collect(); /* arrays in reference cycles release their buffers */
    ocl_kernels_drop_arguments();
    return ocl_trim_pools(state) < 0 ? -1 : 1;
}

int ocl_need_version(State *state, const char *routine, int version, int needed) {
    if (version >= needed) {
        return 0;
    }
    ocl_raise_with(state, routine, CL_INVALID_OPERATION,
                   "needs OpenCL %d.%d, and this device or platform has %d.%d", needed / 100,
                   needed % 100 / 10, version / 100, version % 100 / 10);
    return -1;
}
