/* cuda_bench.h - what the C programs of the CUDA benchmarks share: the driver loaded at run time, the primary context, a clock. */
#ifndef PYGPU_CUDA_BENCH_H
#define PYGPU_CUDA_BENCH_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cu_api.h"

static struct {
#define CU_FN(since, name, symbol, params) CUresult(*name) params;
#include "cuda.fn"
} cu;

static void fail(const char *what, long code)
{
    fprintf(stderr, "%s (%ld)\n", what, code);
    exit(1);
}

static inline void check(CUresult status, const char *what)
{
    if (status != CUDA_SUCCESS) {
        fail(what, status);
    }
}
#define CHECK(call) check(cu.call, #call)

static double now(void) /* ns */
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

/* Opens the driver and makes the primary context of the first device current. */
static CUdevice start(const char *path)
{
    CUdevice device;
    CUcontext context;
    void *library = dlopen(path, RTLD_NOW);
    if (!library) {
        fail(dlerror(), 0);
    }
#define CU_FN(since, name, symbol, params) *(void **)&cu.name = dlsym(library, symbol);
#include "cuda.fn"
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxPushCurrent(context));
    return device;
}

#endif
