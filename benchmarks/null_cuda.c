/* null_cuda.c - a CUDA driver without a device: every call returns at once and nothing is computed.
 *
 * A launch measured through it is the cost of the caller alone. Memory is host memory, so that copies work; kernels' parameters are read
 * from the PTX that is loaded, as a driver would tell them. All functions of cuda.fn are there, most as ones that do nothing.
 *
 * Build: cc -O2 -shared -fPIC -I src -I src/cuda/api benchmarks/null_cuda.c -o null_cuda.so
 * Use: PYGPU_CUDA_LIBRARY=.../null_cuda.so; as libcuda.so.1 in LD_LIBRARY_PATH for programs that are linked to the driver.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cu_api.h"

/* ---- what has to answer something ------------------------------------------------------------------------------------ */

static int context_of_device, stream_of_nobody, event_of_nobody;
static __thread CUcontext current;
static const unsigned long million = 1000000;

CUresult cuDriverGetVersion(int *version) { return *version = 13000, CUDA_SUCCESS; }
#define DID_cuDriverGetVersion ~, 1
CUresult cuGetErrorString(CUresult error, const char **text) { return *text = error ? "an error" : "no error", CUDA_SUCCESS; }
#define DID_cuGetErrorString ~, 1
CUresult cuGetErrorName(CUresult error, const char **text) { return cuGetErrorString(error, text); }
#define DID_cuGetErrorName ~, 1
CUresult cuDeviceGet(CUdevice *device, int ordinal) { return *device = 0, ordinal ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS; }
#define DID_cuDeviceGet ~, 1
CUresult cuDeviceGetCount(int *count) { return *count = 1, CUDA_SUCCESS; }
#define DID_cuDeviceGetCount ~, 1
CUresult cuDeviceGetName(char *name, int size, CUdevice device) { return (void)device, snprintf(name, (size_t)size, "nothing"), CUDA_SUCCESS; }
#define DID_cuDeviceGetName ~, 1
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) { return (void)device, *bytes = 1000 * million, CUDA_SUCCESS; }
#define DID_cuDeviceTotalMem ~, 1
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    (void)device;
    switch (attribute) {
    case 1: case 2: case 3: /* threads of a block */
        return *value = 1024, CUDA_SUCCESS;
    case 4:
        return *value = 64, CUDA_SUCCESS;
    case 5: /* blocks of a grid */
        return *value = 2147483647, CUDA_SUCCESS;
    case 6: case 7:
        return *value = 65535, CUDA_SUCCESS;
    case 8: case 97: /* shared memory */
        return *value = 49152, CUDA_SUCCESS;
    case 10:
        return *value = 32, CUDA_SUCCESS;
    case 75: /* compute capability 9.0 */
        return *value = 9, CUDA_SUCCESS;
    case 76:
        return *value = 0, CUDA_SUCCESS;
    default:
        return *value = 1, CUDA_SUCCESS;
    }
}
#define DID_cuDeviceGetAttribute ~, 1
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) { return (void)device, *context = (CUcontext)&context_of_device, CUDA_SUCCESS; }
#define DID_cuDevicePrimaryCtxRetain ~, 1
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active) { return (void)device, *flags = 0, *active = 1, CUDA_SUCCESS; }
#define DID_cuDevicePrimaryCtxGetState ~, 1
CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device)
{
    (void)flags, (void)device;
    return current = *context = (CUcontext)&context_of_device, CUDA_SUCCESS;
}
#define DID_cuCtxCreate ~, 1
CUresult cuCtxPushCurrent_v2(CUcontext context) { return current = context, CUDA_SUCCESS; }
#define DID_cuCtxPushCurrent ~, 1
CUresult cuCtxSetCurrent(CUcontext context) { return current = context, CUDA_SUCCESS; }
#define DID_cuCtxSetCurrent ~, 1
CUresult cuCtxPopCurrent_v2(CUcontext *context) { return *context = current, CUDA_SUCCESS; }
#define DID_cuCtxPopCurrent ~, 1
CUresult cuCtxGetCurrent(CUcontext *context) { return *context = current, CUDA_SUCCESS; }
#define DID_cuCtxGetCurrent ~, 1
CUresult cuCtxGetDevice(CUdevice *device) { return *device = 0, CUDA_SUCCESS; }
#define DID_cuCtxGetDevice ~, 1
CUresult cuCtxGetApiVersion(CUcontext context, unsigned int *version) { return (void)context, *version = 3020, CUDA_SUCCESS; }
#define DID_cuCtxGetApiVersion ~, 1

/* ---- memory ------------------------------------------------------------------------------------------------------------ */

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t size) { return *pointer = (CUdeviceptr)(uintptr_t)malloc(size), CUDA_SUCCESS; }
#define DID_cuMemAlloc ~, 1
CUresult cuMemFree_v2(CUdeviceptr pointer) { return free((void *)(uintptr_t)pointer), CUDA_SUCCESS; }
#define DID_cuMemFree ~, 1
CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t size, CUstream stream) { return (void)stream, cuMemAlloc_v2(pointer, size); }
#define DID_cuMemAllocAsync ~, 1
CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) { return (void)stream, cuMemFree_v2(pointer); }
#define DID_cuMemFreeAsync ~, 1
CUresult cuMemHostAlloc(void **pointer, size_t size, unsigned int flags) { return (void)flags, *pointer = malloc(size), CUDA_SUCCESS; }
#define DID_cuMemHostAlloc ~, 1
CUresult cuMemFreeHost(void *pointer) { return free(pointer), CUDA_SUCCESS; }
#define DID_cuMemFreeHost ~, 1
CUresult cuMemGetInfo_v2(size_t *available, size_t *total) { return *available = *total = 1000 * million, CUDA_SUCCESS; }
#define DID_cuMemGetInfo ~, 1
CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr pointer) { return *base = pointer, *size = 1000 * million, CUDA_SUCCESS; }
#define DID_cuMemGetAddressRange ~, 1
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size) { return memcpy((void *)(uintptr_t)to, from, size), CUDA_SUCCESS; }
#define DID_cuMemcpyHtoD ~, 1
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size) { return memcpy(to, (const void *)(uintptr_t)from, size), CUDA_SUCCESS; }
#define DID_cuMemcpyDtoH ~, 1

/* ---- streams and events ------------------------------------------------------------------------------------------------ */

CUresult cuStreamCreate(CUstream *stream, unsigned int flags) { return (void)flags, *stream = (CUstream)&stream_of_nobody, CUDA_SUCCESS; }
#define DID_cuStreamCreate ~, 1
CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority) { return (void)priority, cuStreamCreate(stream, flags); }
#define DID_cuStreamCreateWithPriority ~, 1
CUresult cuEventCreate(CUevent *event, unsigned int flags) { return (void)flags, *event = (CUevent)&event_of_nobody, CUDA_SUCCESS; }
#define DID_cuEventCreate ~, 1
CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end) { return (void)start, (void)end, *ms = 0.0f, CUDA_SUCCESS; }
#define DID_cuEventElapsedTime ~, 1

/* ---- modules: the parameters of a kernel are read from its PTX ----------------------------------------------------------- */

typedef struct {
    int n; /* -1: the module is not PTX */
    struct {
        size_t offset, size;
    } params[64];
} Kernel;

static size_t size_of_type(const char *type)
{
    const char *digits = type;
    while (*digits && (*digits < '0' || *digits > '9')) {
        digits++;
    }
    return (size_t)atoi(digits) / 8;
}

/* "[.visible] .entry NAME( .param .u64 [.ptr ...] NAME_param_0, ... )" */
static void read_params(const char *ptx, const char *name, Kernel *kernel)
{
    size_t end = 0;
    char entry[256];
    kernel->n = -1;
    snprintf(entry, sizeof entry, ".entry %s(", name);
    const char *at = strstr(ptx, entry), *close = at ? strchr(at, ')') : NULL;
    if (!close) {
        return;
    }
    kernel->n = 0;
    while ((at = strstr(at, ".param")) && at < close && kernel->n < 64) {
        at += 6;
        size_t align = 0, count = 1;
        const char *type = at + strspn(at, " \t");
        if (!strncmp(type, ".align", 6)) {
            align = (size_t)strtoul(type + 6, (char **)&type, 10);
            type += strspn(type, " \t");
        }
        size_t size = size_of_type(type);
        const char *comma = at + strcspn(at, ",)"), *bracket = memchr(at, '[', (size_t)(comma - at));
        if (bracket) {
            count = (size_t)atoi(bracket + 1);
        }
        align = align ? align : size;
        end = (end + align - 1) / align * align;
        kernel->params[kernel->n].offset = end;
        kernel->params[kernel->n++].size = size * count;
        end += size * count;
    }
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int n, CUjit_option *options, void **values)
{
    (void)n, (void)options, (void)values;
    return *module = (CUmodule)strdup(memcmp(image, "\177ELF", 4) ? image : ""), CUDA_SUCCESS;
}
#define DID_cuModuleLoadDataEx ~, 1
CUresult cuModuleLoadData(CUmodule *module, const void *image) { return cuModuleLoadDataEx(module, image, 0, NULL, NULL); }
#define DID_cuModuleLoadData ~, 1
CUresult cuModuleUnload(CUmodule module) { return free(module), CUDA_SUCCESS; }
#define DID_cuModuleUnload ~, 1
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    Kernel *kernel = calloc(1, sizeof *kernel); /* never given back: programs have few */
    read_params((const char *)module, name, kernel);
    return *function = (CUfunction)kernel, CUDA_SUCCESS;
}
#define DID_cuModuleGetFunction ~, 1
CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size)
{
    const Kernel *kernel = (const Kernel *)function;
    if (kernel->n < 0) {
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (index >= (size_t)kernel->n) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *offset = kernel->params[index].offset;
    if (size) {
        *size = kernel->params[index].size;
    }
    return CUDA_SUCCESS;
}
#define DID_cuFuncGetParamInfo ~, 1
CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    (void)function;
    return *value = attribute == 0 ? 1024 : attribute == 8 ? 49152 : 0, CUDA_SUCCESS;
}
#define DID_cuFuncGetAttribute ~, 1

/* ---- everything else does nothing ---------------------------------------------------------------------------------------- */

/* DID_name is defined where the function is: then the row makes nothing. The others are named by their symbol. */
#define SECOND(a, b, ...) b
#define IS_DONE(...) SECOND(__VA_ARGS__, 0, 0)
#define JOIN(a, b) JOIN_(a, b)
#define JOIN_(a, b) a##b
#define ROW_0(name, symbol, params)                  \
    CUresult null_##name params __asm__(symbol);     \
    CUresult null_##name params { return CUDA_SUCCESS; }
#define ROW_1(name, symbol, params)
#define CU_FN(since, name, symbol, params) JOIN(ROW_, IS_DONE(DID_##name))(name, symbol, params)
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "cuda.fn"
