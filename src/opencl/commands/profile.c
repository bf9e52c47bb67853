/* profile.c - recording the commands that are enqueued, for pygpu.profile().
 *
 * Each command's event is kept until the end of the profile, which reads when it ran from it. Only
 * queues made with PROFILING_ENABLE record times. So a queue made without has, once a profile has
 * seen it, a second handle made with it: the two change places when a profile begins and ends, with
 * all commands done. */
#include "common/profile.h"
#include "opencl/device.h"
#include "opencl/event.h"
#include "opencl/lifetime/instance_registry.h"
#include "opencl/opencl.h"
#include "opencl/queue.h"

static ClTable real; /* the driver's functions while some are replaced */

/* ---- recording ------------------------------------------------------------------------------- */

/* The event of a command that was enqueued, which the caller may not want. */
static void note(PgRecord *record, cl_command_queue queue, cl_int status, cl_event event,
                 int is_own) {
    record->end = pg_seconds();
    record->queue = queue;
    record->thread = PyThread_get_thread_ident();
    if (status != CL_SUCCESS || event == NULL) {
        return;
    }
    if (!is_own && real.clRetainEvent(event) != CL_SUCCESS) {
        event = NULL;
    }
    record->last = event;
    if (!pg_profile_add(record) && event != NULL) {
        real.clReleaseEvent(event);
    }
}

/* Calls *fn* with an event and records it. */
#define RECORD(what, amount, fn, ...)                                             \
    PgRecord record = {.kind = (what), .bytes = (amount), .begin = pg_seconds()}; \
    cl_event own = NULL, *at = event != NULL ? event : &own;                      \
    pg_profile_push(record.kind);                                                 \
    cl_int status = real.fn(queue, __VA_ARGS__, n, list, at);                     \
    pg_profile_pop();                                                             \
    note(&record, queue, status, *at, event == NULL);                             \
    return status
#define WAITS cl_uint n, const cl_event *list, cl_event *event

static size_t volume(const size_t *region) {
    return region[0] * region[1] * region[2];
}

static cl_int CL_API_CALL on_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
                                                    cl_uint dims, const size_t *offset,
                                                    const size_t *global, const size_t *local,
                                                    WAITS) {
    PgRecord record = {.kind = "kernel", .begin = pg_seconds()};
    cl_event own = NULL, *at = event != NULL ? event : &own;
    char name[PG_PROFILE_NAME] = "";
    if (real.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL) !=
        CL_SUCCESS) {
        memcpy(name, "kernel", sizeof "kernel");
    }
    pg_profile_name(&record, name);
    pg_profile_push(name);
    cl_int status =
        real.clEnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, n, list, at);
    pg_profile_pop();
    for (cl_uint i = 0; i < dims && i < 3; i++) {
        size_t size = local != NULL ? local[i] : 0;
        record.size[i] = (unsigned)(size > 0 ? global[i] / size : global[i]);
        record.size[3 + i] = (unsigned)size;
    }
    note(&record, queue, status, *at, event == NULL);
    return status;
}

static cl_int CL_API_CALL on_clEnqueueReadBuffer(cl_command_queue queue, cl_mem mem, cl_bool wait,
                                                 size_t offset, size_t size, void *host, WAITS) {
    RECORD("copy to host", size, clEnqueueReadBuffer, mem, wait, offset, size, host);
}

static cl_int CL_API_CALL on_clEnqueueWriteBuffer(cl_command_queue queue, cl_mem mem, cl_bool wait,
                                                  size_t offset, size_t size, const void *host,
                                                  WAITS) {
    RECORD("copy to device", size, clEnqueueWriteBuffer, mem, wait, offset, size, host);
}

static cl_int CL_API_CALL on_clEnqueueReadBufferRect(cl_command_queue queue, cl_mem mem,
                                                     cl_bool wait, const size_t *from,
                                                     const size_t *to, const size_t *region,
                                                     size_t row, size_t slice, size_t host_row,
                                                     size_t host_slice, void *host, WAITS) {
    RECORD("copy to host", volume(region), clEnqueueReadBufferRect, mem, wait, from, to, region,
           row, slice, host_row, host_slice, host);
}

static cl_int CL_API_CALL on_clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem mem,
                                                      cl_bool wait, const size_t *to,
                                                      const size_t *from, const size_t *region,
                                                      size_t row, size_t slice, size_t host_row,
                                                      size_t host_slice, const void *host, WAITS) {
    RECORD("copy to device", volume(region), clEnqueueWriteBufferRect, mem, wait, to, from, region,
           row, slice, host_row, host_slice, host);
}

static cl_int CL_API_CALL on_clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to,
                                                 size_t start, size_t dst, size_t size, WAITS) {
    RECORD("copy on device", size, clEnqueueCopyBuffer, from, to, start, dst, size);
}

static cl_int CL_API_CALL on_clEnqueueCopyBufferRect(cl_command_queue queue, cl_mem from, cl_mem to,
                                                     const size_t *start, const size_t *dst,
                                                     const size_t *region, size_t row, size_t slice,
                                                     size_t to_row, size_t to_slice, WAITS) {
    RECORD("copy on device", volume(region), clEnqueueCopyBufferRect, from, to, start, dst, region,
           row, slice, to_row, to_slice);
}

static cl_int CL_API_CALL on_clEnqueueFillBuffer(cl_command_queue queue, cl_mem mem,
                                                 const void *pattern, size_t length, size_t offset,
                                                 size_t size, WAITS) {
    RECORD("fill", size, clEnqueueFillBuffer, mem, pattern, length, offset, size);
}

static cl_int CL_API_CALL on_clEnqueueReadImage(cl_command_queue queue, cl_mem mem, cl_bool wait,
                                                const size_t *origin, const size_t *region,
                                                size_t row, size_t slice, void *host, WAITS) {
    RECORD("copy to host", 0, clEnqueueReadImage, mem, wait, origin, region, row, slice, host);
}

static cl_int CL_API_CALL on_clEnqueueWriteImage(cl_command_queue queue, cl_mem mem, cl_bool wait,
                                                 const size_t *origin, const size_t *region,
                                                 size_t row, size_t slice, const void *host,
                                                 WAITS) {
    RECORD("copy to device", 0, clEnqueueWriteImage, mem, wait, origin, region, row, slice, host);
}

static cl_int CL_API_CALL on_clEnqueueFillImage(cl_command_queue queue, cl_mem mem,
                                                const void *color, const size_t *origin,
                                                const size_t *region, WAITS) {
    RECORD("fill", 0, clEnqueueFillImage, mem, color, origin, region);
}

static cl_int CL_API_CALL on_clEnqueueCopyImage(cl_command_queue queue, cl_mem from, cl_mem to,
                                                const size_t *start, const size_t *dst,
                                                const size_t *region, WAITS) {
    RECORD("copy on device", 0, clEnqueueCopyImage, from, to, start, dst, region);
}

static cl_int CL_API_CALL on_clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem from,
                                                        cl_mem to, const size_t *start,
                                                        const size_t *region, size_t dst, WAITS) {
    RECORD("copy on device", 0, clEnqueueCopyImageToBuffer, from, to, start, region, dst);
}

static cl_int CL_API_CALL on_clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem from,
                                                        cl_mem to, size_t start, const size_t *dst,
                                                        const size_t *region, WAITS) {
    RECORD("copy on device", 0, clEnqueueCopyBufferToImage, from, to, start, dst, region);
}

static cl_int CL_API_CALL on_clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem mem,
                                                     void *pointer, WAITS) {
    RECORD("unmap", 0, clEnqueueUnmapMemObject, mem, pointer);
}

static cl_int CL_API_CALL on_clEnqueueSVMMemcpy(cl_command_queue queue, cl_bool wait, void *to,
                                                const void *from, size_t size, WAITS) {
    RECORD("copy on device", size, clEnqueueSVMMemcpy, wait, to, from, size);
}

static cl_int CL_API_CALL on_clEnqueueSVMMemFill(cl_command_queue queue, void *to,
                                                 const void *pattern, size_t length, size_t size,
                                                 WAITS) {
    RECORD("fill", size, clEnqueueSVMMemFill, to, pattern, length, size);
}

static void *CL_API_CALL on_clEnqueueMapBuffer(cl_command_queue queue, cl_mem mem, cl_bool wait,
                                               cl_map_flags flags, size_t offset, size_t size,
                                               WAITS, cl_int *error) {
    PgRecord record = {.kind = "map", .bytes = size, .begin = pg_seconds()};
    cl_event own = NULL, *at = event != NULL ? event : &own;
    cl_int status = CL_SUCCESS;
    void *made =
        real.clEnqueueMapBuffer(queue, mem, wait, flags, offset, size, n, list, at, &status);
    note(&record, queue, status, *at, event == NULL);
    if (error != NULL) {
        *error = status;
    }
    return made;
}

/* ---- begin and end --------------------------------------------------------------------------- */

#define REPLACED(X)               \
    X(clEnqueueNDRangeKernel)     \
    X(clEnqueueReadBuffer)        \
    X(clEnqueueWriteBuffer)       \
    X(clEnqueueReadBufferRect)    \
    X(clEnqueueWriteBufferRect)   \
    X(clEnqueueCopyBuffer)        \
    X(clEnqueueCopyBufferRect)    \
    X(clEnqueueFillBuffer)        \
    X(clEnqueueReadImage)         \
    X(clEnqueueWriteImage)        \
    X(clEnqueueFillImage)         \
    X(clEnqueueCopyImage)         \
    X(clEnqueueCopyImageToBuffer) \
    X(clEnqueueCopyBufferToImage) \
    X(clEnqueueUnmapMemObject)    \
    X(clEnqueueSVMMemcpy)         \
    X(clEnqueueSVMMemFill)        \
    X(clEnqueueMapBuffer)

static void replace(void) {
    ocl_when_ready = NULL;
    ocl_queues_profiled = 1;
    real = cl;
#define X(fn)            \
    if (cl.fn != NULL) { \
        cl.fn = on_##fn; \
    }
    REPLACED(X)
#undef X
}

static void restore(void) {
    ocl_queues_profiled = 0;
#define X(fn)               \
    if (cl.fn == on_##fn) { \
        cl.fn = real.fn;    \
    }
    REPLACED(X)
#undef X
}

/* When a command ran, by the device's clock [s]; None if that is not known. */
static PyObject *times_of(const PgRecord *record, uint64_t *Py_UNUSED(context)) {
    cl_event event = record->last;
    static const cl_profiling_info which[4] = {
        CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT, CL_PROFILING_COMMAND_START,
        CL_PROFILING_COMMAND_END};
    cl_ulong times[4] = {0};
    cl_int status = CL_SUCCESS, exec = CL_QUEUED;
    if (event != NULL) {
        CL_CALL(status, clGetEventInfo, event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof exec,
                &exec, NULL);
    }
    if (status != CL_SUCCESS || exec != CL_COMPLETE) {
        Py_RETURN_NONE;
    }
    for (int i = 0; i < 4 && status == CL_SUCCESS; i++) {
        CL_CALL(status, clGetEventProfilingInfo, event, which[i], sizeof times[i], &times[i], NULL);
    }
    if (status != CL_SUCCESS || times[3] < times[2]) {
        Py_RETURN_NONE;
    }
    return Py_BuildValue("(dddd)", 1e-9 * (double)times[0], 1e-9 * (double)times[1],
                         1e-9 * (double)times[2], 1e-9 * (double)times[3]);
}

static void drop(PgRecord *record) {
    if (record->last != NULL) {
        ocl_live[LIVE_EVENT]++;
        ocl_event_release((cl_event)record->last);
    }
}

static PgProfiler profiler = {&ocl_driver, &ocl_when_ready, replace, restore, times_of, drop, 0};
PG_PROFILE_BEGIN(profiler)

static PyObject *profile_end(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    return pg_profile_end(&profiler);
}

/* ---- queues ---------------------------------------------------------------------------------- */

/* With the handles that records have. */
static PyObject *queues_alive(PyObject *module, PyObject *Py_UNUSED(ignored)) {
    State *state = PyModule_GetState(module);
    PyObject *list = ocl_instances(state, state->CommandQueueType);
    for (Py_ssize_t i = 0; list != NULL && i < PyList_GET_SIZE(list); i++) {
        PyObject *queue = PyList_GET_ITEM(list, i);
        unsigned long long handle = (unsigned long long)(uintptr_t)((Queue *)queue)->queue;
        PyObject *pair = Py_BuildValue("(OK)", queue, handle);
        if (pair == NULL || PyList_SetItem(list, i, pair) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

PG_DOC(profile_queue__doc__, "_profile_queue", "queue, on",
       "(queue: CommandQueue, on: bool) -> bool",
       "Let a queue record times, or not any more, after all its commands. False if it cannot: "
       "others have its handle, or commands wait for user events.");
PG_FUNCTION(profile_queue, 2)
static PyObject *profile_queue_impl(PyObject *module, PyObject *const *a) {
    int on = pg_as_bool(a[1], 0);
    if (on < 0) {
        return NULL;
    }
    Queue *queue = ocl_as_queue(PyModule_GetState(module), a[0], "_profile_queue");
    int done = queue != NULL ? ocl_queue_profile(queue, on) : -1;
    return done < 0 ? NULL : PyBool_FromLong(done);
}

PyMethodDef ocl_profile_functions[] = {
    {"_profile_begin", FAST(profile_begin), profile_begin__doc__},
    {"_profile_end", profile_end, METH_NOARGS, PG_PROFILE_END_DOC},
    {"_queues_alive", queues_alive, METH_NOARGS,
     "_queues_alive()\n--\n\n() -> list[tuple[CommandQueue, int]]\n\nAll queues that there are, "
     "and their handles."},
    {"_profile_queue", FAST(profile_queue), profile_queue__doc__},
    {NULL, NULL, 0, NULL},
};
