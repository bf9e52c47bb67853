/* profile.c - recording what is given to streams, for pygpu.profile(): each command stands between
 * two events, whose times are read at the end of the profile. */
#include "common/profile.h"
#include "cuda/capture.h"
#include "cuda/cuda.h"

static CuTable real; /* the driver's functions while some are replaced */

/* ---- the clock of a context ------------------------------------------------------------------ */

#define MOST_CONTEXTS 32

/* An event whose moment on the host is known. */
typedef struct {
    CUcontext context;
    CUevent event;
    double at;
} Base;

static Base bases[MOST_CONTEXTS];
static int n_bases;

static void make_base(Base *base, CUcontext context) {
    CUevent event = NULL;
    if (real.cuEventCreate(&event, 0) != CUDA_SUCCESS) {
        return;
    }
    if (real.cuEventRecord(event, NULL) == CUDA_SUCCESS &&
        real.cuEventSynchronize(event) == CUDA_SUCCESS) {
        *base = (Base){context, event, pg_seconds()};
        return;
    }
    (void)real.cuEventDestroy(event);
}

/* The event that times of the current context are counted from; NULL: there is none. */
static CUevent base_of_current(void) {
    CUcontext context = NULL;
    CUevent found = NULL;
    if (real.cuCtxGetCurrent(&context) != CUDA_SUCCESS || context == NULL) {
        return NULL;
    }
    PyThread_acquire_lock(pg_profile_lock, WAIT_LOCK);
    int i = 0;
    while (i < n_bases && bases[i].context != context) {
        i++;
    }
    if (i == n_bases && i < MOST_CONTEXTS) {
        bases[i].event = NULL;
        make_base(&bases[i], context);
        n_bases += bases[i].event != NULL;
    }
    found = i < n_bases ? bases[i].event : NULL;
    PyThread_release_lock(pg_profile_lock);
    return found;
}

/* ---- recording ------------------------------------------------------------------------------- */

static CUevent mark(CUstream stream) {
    CUevent event = NULL;
    if (real.cuEventCreate(&event, 0) != CUDA_SUCCESS) {
        return NULL;
    }
    if (real.cuEventRecord(event, stream) != CUDA_SUCCESS) {
        (void)real.cuEventDestroy(event);
        return NULL;
    }
    return event;
}

static void drop(CUevent event) {
    if (event != NULL) {
        (void)real.cuEventDestroy(event);
    }
}

static void begin(PgRecord *record, CUstream stream) {
    pg_profile_push(record->name[0] != '\0' ? record->name : record->kind);
    record->queue = stream;
    record->thread = PyThread_get_thread_ident();
    if (cud_capturing == 0) { /* else the events would become a part of the graph */
        record->base = base_of_current();
        record->first = record->base != NULL ? mark(stream) : NULL;
    }
    record->begin = pg_seconds();
}

static void end(PgRecord *record, CUresult status) {
    record->end = pg_seconds();
    pg_profile_pop();
    if (status == CUDA_SUCCESS && record->first != NULL) {
        record->last = mark((CUstream)record->queue);
    }
    if (status != CUDA_SUCCESS || cud_capturing > 0 || !pg_profile_add(record)) {
        drop((CUevent)record->first);
        drop((CUevent)record->last);
    }
}

#define RECORD(what, amount, stream, fn, ...)              \
    PgRecord record = {.kind = (what), .bytes = (amount)}; \
    begin(&record, stream);                                \
    CUresult status = real.fn(__VA_ARGS__);                \
    end(&record, status);                                  \
    return status

static const char TO_DEVICE[] = "copy to device", TO_HOST[] = "copy to host",
                  ON_DEVICE[] = "copy on device", FILL[] = "fill";

typedef CUresult(CUDA_CALL_CONVENTION *GetName)(const char **name, CUfunction function);
static GetName get_name; /* since CUDA 12.3; NULL: the driver lacks it */

static void name_kernel(PgRecord *record, CUfunction function) {
    const char *name = NULL;
    if (get_name == NULL || get_name(&name, function) != CUDA_SUCCESS || name == NULL) {
        name = "kernel";
    }
    pg_profile_name(record, name);
}

static CUresult CUDA_CALL_CONVENTION on_cuLaunchKernel(CUfunction function, unsigned gx,
                                                       unsigned gy, unsigned gz, unsigned bx,
                                                       unsigned by, unsigned bz, unsigned shared,
                                                       CUstream stream, void **params,
                                                       void **extra) {
    PgRecord record = {.kind = "kernel", .size = {gx, gy, gz, bx, by, bz}};
    name_kernel(&record, function);
    begin(&record, stream);
    CUresult status =
        real.cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
    end(&record, status);
    return status;
}

static CUresult CUDA_CALL_CONVENTION on_cuLaunchKernelEx(const CUlaunchConfig *config,
                                                         CUfunction function, void **params,
                                                         void **extra) {
    PgRecord record = {.kind = "kernel",
                       .size = {config->gridDimX, config->gridDimY, config->gridDimZ,
                                config->blockDimX, config->blockDimY, config->blockDimZ}};
    name_kernel(&record, function);
    begin(&record, config->hStream);
    CUresult status = real.cuLaunchKernelEx(config, function, params, extra);
    end(&record, status);
    return status;
}

static CUresult CUDA_CALL_CONVENTION on_cuGraphLaunch(CUgraphExec graph, CUstream stream) {
    RECORD("graph", 0, stream, cuGraphLaunch, graph, stream);
}

/* Functions of these types: with a size and without, on a stream and on the default one. */
#define COPY(fn, what, To, From)                                                       \
    static CUresult CUDA_CALL_CONVENTION on_##fn(To to, From from, size_t size) {      \
        RECORD(what, size, NULL, fn, to, from, size);                                  \
    }                                                                                  \
    static CUresult CUDA_CALL_CONVENTION on_##fn##Async(To to, From from, size_t size, \
                                                        CUstream stream) {             \
        RECORD(what, size, stream, fn##Async, to, from, size, stream);                 \
    }
#define BOX(fn, Box, amount)                                                               \
    static CUresult CUDA_CALL_CONVENTION on_##fn(const Box *box) {                         \
        RECORD("copy of a box", amount, NULL, fn, box);                                    \
    }                                                                                      \
    static CUresult CUDA_CALL_CONVENTION on_##fn##Async(const Box *box, CUstream stream) { \
        RECORD("copy of a box", amount, stream, fn##Async, box, stream);                   \
    }
#define SET(fn, Value)                                                                         \
    static CUresult CUDA_CALL_CONVENTION on_##fn(CUdeviceptr to, Value value, size_t n) {      \
        RECORD(FILL, n * sizeof(Value), NULL, fn, to, value, n);                               \
    }                                                                                          \
    static CUresult CUDA_CALL_CONVENTION on_##fn##Async(CUdeviceptr to, Value value, size_t n, \
                                                        CUstream stream) {                     \
        RECORD(FILL, n * sizeof(Value), stream, fn##Async, to, value, n, stream);              \
    }

COPY(cuMemcpyHtoD, TO_DEVICE, CUdeviceptr, const void *)
COPY(cuMemcpyDtoH, TO_HOST, void *, CUdeviceptr)
COPY(cuMemcpyDtoD, ON_DEVICE, CUdeviceptr, CUdeviceptr)
BOX(cuMemcpy2D, CUDA_MEMCPY2D, box->WidthInBytes * box->Height)
BOX(cuMemcpy3D, CUDA_MEMCPY3D, box->WidthInBytes * box->Height * box->Depth)
SET(cuMemsetD8, unsigned char)
SET(cuMemsetD16, unsigned short)
SET(cuMemsetD32, unsigned int)

static CUresult CUDA_CALL_CONVENTION on_cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context,
                                                          CUdeviceptr from, CUcontext from_context,
                                                          size_t size, CUstream stream) {
    RECORD("copy between devices", size, stream, cuMemcpyPeerAsync, to, to_context, from,
           from_context, size, stream);
}

/* ---- begin and end --------------------------------------------------------------------------- */

#define REPLACED(X)      \
    X(cuLaunchKernel)    \
    X(cuLaunchKernelEx)  \
    X(cuGraphLaunch)     \
    X(cuMemcpyHtoD)      \
    X(cuMemcpyHtoDAsync) \
    X(cuMemcpyDtoH)      \
    X(cuMemcpyDtoHAsync) \
    X(cuMemcpyDtoD)      \
    X(cuMemcpyDtoDAsync) \
    X(cuMemcpy2D)        \
    X(cuMemcpy2DAsync)   \
    X(cuMemcpy3D)        \
    X(cuMemcpy3DAsync)   \
    X(cuMemsetD8)        \
    X(cuMemsetD8Async)   \
    X(cuMemsetD16)       \
    X(cuMemsetD16Async)  \
    X(cuMemsetD32)       \
    X(cuMemsetD32Async)  \
    X(cuMemcpyPeerAsync)

static void replace(void) {
    void *found = pg_library_symbol(cud_driver.library, "cuFuncGetName");
    memcpy(&get_name, &found, sizeof get_name);
    cud_when_ready = NULL;
    real = cu;
#define X(fn)            \
    if (cu.fn != NULL) { \
        cu.fn = on_##fn; \
    }
    REPLACED(X)
#undef X
    if (cud_capturing == 0) {
        (void)base_of_current(); /* before anything runs */
    }
}

static void restore(void) {
#define X(fn)               \
    if (cu.fn == on_##fn) { \
        cu.fn = real.fn;    \
    }
    REPLACED(X)
#undef X
}

/* When an event came, as pg_seconds(); -1 if that is not known. */
static double moment(void *event, const Base *base) {
    float ms = 0;
    CUresult status = CUDA_SUCCESS;
    if (event == NULL || base == NULL) {
        return -1;
    }
    CU_CALL(status, cuEventQuery, (CUevent)event);
    if (status == CUDA_ERROR_NOT_READY) {
        CU_NOGIL(status, cuEventSynchronize, (CUevent)event);
    }
    if (status == CUDA_SUCCESS) {
        CU_CALL(status, cuEventElapsedTime, &ms, base->event, (CUevent)event);
    }
    return status == CUDA_SUCCESS ? base->at + 1e-3 * (double)ms : -1;
}

static PyObject *times_of(const PgRecord *record, uint64_t *context) {
    const Base *base = NULL;
    for (int i = 0; i < n_bases; i++) {
        base = bases[i].event == record->base ? &bases[i] : base;
    }
    *context = base != NULL ? (uint64_t)(uintptr_t)base->context : 0;
    double first = moment(record->first, base), last = moment(record->last, base);
    return first >= 0 && last >= first
               ? Py_BuildValue("(dddd)", record->begin, record->begin, first, last)
               : Py_NewRef(Py_None);
}

static void destroy(void *event) {
    CUresult status = CUDA_SUCCESS; /* has nobody to go to */
    if (event != NULL) {
        CU_CALL(status, cuEventDestroy, (CUevent)event);
    }
    (void)status;
}

static void drop_events(PgRecord *record) {
    destroy(record->first);
    destroy(record->last);
}

static PgProfiler profiler = {&cud_driver, &cud_when_ready, replace, restore,
                              times_of,    drop_events,     0};
PG_PROFILE_BEGIN(profiler)

static PyObject *profile_end(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    PyObject *result = pg_profile_end(&profiler);
    for (int i = 0; i < n_bases; i++) {
        destroy(bases[i].event);
    }
    n_bases = 0;
    return result;
}

PyMethodDef cud_profile_functions[] = {
    {"_profile_begin", FAST(profile_begin), profile_begin__doc__},
    {"_profile_end", profile_end, METH_NOARGS, PG_PROFILE_END_DOC},
    {NULL, NULL, 0, NULL},
};
