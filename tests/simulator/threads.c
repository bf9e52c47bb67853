/* threads.c - the driver's calls from several threads at once, for builds with a sanitizer. Ends with 0 if all is as it should be. */
#include "cuda/api/cu_api.h"

#define CU_FN(since, name, symbol, parameters) CUresult name parameters __asm__(symbol);
#include "cuda/api/cuda.fn"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

extern const char *pygpuSimLastErrorDetail(void);

#define N 1000
static CUcontext context;
static CUfunction add, nop, copy;
static CUevent shared;
static atomic_int calls, failures;

#define OK(call)                                                                                                         \
    do {                                                                                                                 \
        CUresult status_ = (call);                                                                                       \
        if (status_ != CUDA_SUCCESS) {                                                                                   \
            printf("line %d: %s: %d %s\n", __LINE__, #call, status_, pygpuSimLastErrorDetail());                         \
            atomic_fetch_add(&failures, 1);                                                                              \
            return NULL;                                                                                                 \
        }                                                                                                                \
    } while (0)
#define TRUE(condition)                                                                                                  \
    do {                                                                                                                 \
        if (!(condition)) {                                                                                              \
            printf("line %d: not %s\n", __LINE__, #condition);                                                           \
            atomic_fetch_add(&failures, 1);                                                                              \
        }                                                                                                                \
    } while (0)

static void count(void *data) {
    (void)data;
    atomic_fetch_add(&calls, 1);
}

static void *capture_and_launch(CUstream *streams, CUevent event, CUdeviceptr a, CUdeviceptr b) {
    CUgraph graph, clone;
    CUgraphExec ready;
    int n = N;
    void *params[] = {&a, &b, &n};
    OK(cuStreamBeginCapture(streams[0], 2));
    OK(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, streams[0], params, NULL));
    OK(cuEventRecord(event, streams[0]));
    OK(cuStreamWaitEvent(streams[1], event, 0));
    OK(cuMemsetD32Async(b, 0, N, streams[1]));
    OK(cuEventRecord(event, streams[1]));
    OK(cuStreamWaitEvent(streams[0], event, 0));
    OK(cuStreamEndCapture(streams[0], &graph));
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphInstantiateWithFlags(&ready, graph, 0));
    OK(cuGraphLaunch(ready, streams[0]));
    OK(cuGraphExecUpdate(ready, clone, NULL));
    OK(cuGraphLaunch(ready, streams[0]));
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(clone));
    OK(cuGraphExecDestroy(ready));
    return streams;
}

static void *work(void *argument) {
    unsigned seed = (unsigned)(size_t)argument;
    OK(cuCtxSetCurrent(context));
    for (int round = 0; round < 25; round++) {
        CUstream streams[3];
        CUevent events[3];
        CUdeviceptr a, b, c, d;
        float in[N], out[N];
        int n = N, bytes[100] = {round};
        for (int i = 0; i < 3; i++) {
            OK(cuStreamCreate(&streams[i], (unsigned)rand_r(&seed) % 2));
            OK(cuEventCreate(&events[i], 0));
        }
        for (int i = 0; i < N; i++) {
            in[i] = (float)i;
        }
        OK(cuMemAlloc(&a, sizeof(in)));
        OK(cuMemAlloc(&b, sizeof(in)));
        OK(cuMemAlloc(&c, 400));
        void *params[] = {&a, &b, &n}, *copied[] = {bytes, &c};
        OK(cuMemcpyHtoD(a, in, sizeof(in)));
        OK(cuMemcpyHtoDAsync(b, in, sizeof(in), streams[0]));
        OK(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, streams[0], params, NULL));
        OK(cuEventRecord(events[0], streams[0]));
        OK(cuStreamWaitEvent(streams[1], events[0], 0));
        OK(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, streams[1], params, NULL));
        OK(cuEventRecord(events[1], streams[1]));
        OK(cuStreamWaitEvent(streams[2], events[1], 0));
        OK(cuLaunchHostFunc(streams[2], count, NULL));
        OK(cuMemcpyDtoHAsync(out, a, sizeof(out), streams[2]));
        for (int i = 0; i < N; i++) {
            TRUE(out[i] == 3 * in[i]);
        }
        OK(cuLaunchKernel(copy, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_PER_THREAD, copied, NULL));
        OK(cuEventRecord(shared, streams[rand_r(&seed) % 3]));
        (void)cuEventQuery(shared);
        if (round % 4 == 0) { /* not streams in step with the default one, which others use meanwhile */
            CUstream apart[2];
            OK(cuStreamCreate(&apart[0], CU_STREAM_NON_BLOCKING));
            OK(cuStreamCreate(&apart[1], CU_STREAM_NON_BLOCKING));
            if (capture_and_launch(apart, events[2], a, b) == NULL) {
                return NULL;
            }
            OK(cuStreamDestroy(apart[0]));
            OK(cuStreamDestroy(apart[1]));
        }
        OK(cuMemAllocAsync(&d, 8000, streams[0]));
        OK(cuMemsetD8Async(d, 1, 8000, streams[0]));
        OK(cuMemFreeAsync(d, streams[0]));
        OK(cuStreamSynchronize(streams[0]));
        OK(cuMemFree(a));
        OK(cuMemFree(b));
        OK(cuMemFree(c));
        for (int i = 0; i < 3; i++) {
            OK(cuEventDestroy(events[i]));
            OK(cuStreamDestroy(streams[i]));
        }
    }
    return NULL;
}

/* Contexts that come and go with work queued, some of them broken. */
static void *contexts(void *argument) {
    (void)argument;
    for (int i = 0; i < 30; i++) {
        CUcontext own;
        CUmodule module;
        CUfunction function;
        CUdeviceptr a;
        CUstream stream;
        OK(cuCtxCreate(&own, 0, 0));
        OK(cuMemAlloc(&a, 100000));
        OK(cuModuleLoadData(&module, "stub"));
        OK(cuModuleGetFunction(&function, module, i % 3 == 0 ? "fault" : "nop"));
        OK(cuStreamCreate(&stream, 0));
        for (int k = 0; k < 20; k++) {
            OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
        }
        OK(cuMemsetD8Async(a, 1, 100000, stream));
        TRUE(cuCtxSynchronize() == (i % 3 == 0 ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS));
        if (i % 2 == 0) {
            OK(cuModuleUnload(module));
        }
        OK(cuCtxDestroy(own));
    }
    return NULL;
}

/* Handles that are none. */
static void *vandal(void *argument) {
    unsigned seed = 5;
    (void)argument;
    OK(cuCtxSetCurrent(context));
    for (int i = 0; i < 20000; i++) {
        size_t handle = ((size_t)rand_r(&seed) << (rand_r(&seed) % 33)) & ~(size_t)15;
        CUmodule module;
        if (handle != 0) {
            TRUE(cuStreamQuery((CUstream)handle) != CUDA_SUCCESS || handle >> 30 != 0);
            (void)cuGraphLaunch((CUgraphExec)handle, NULL);
            (void)cuFuncGetModule(&module, (CUfunction)handle);
        }
    }
    return NULL;
}

static void *prepare(void) {
    CUmodule module;
    OK(cuInit(0));
    OK(cuCtxCreate(&context, 0, 0));
    OK(cuModuleLoadData(&module, "stub"));
    OK(cuModuleGetFunction(&add, module, "add"));
    OK(cuModuleGetFunction(&nop, module, "nop"));
    OK(cuModuleGetFunction(&copy, module, "copy"));
    OK(cuEventCreate(&shared, 0));
    return module;
}

int main(void) {
    pthread_t threads[6];
    size_t free, total;
    if (prepare() == NULL) {
        return 1;
    }
    for (size_t i = 0; i < 6; i++) {
        pthread_create(&threads[i], NULL, i == 4 ? contexts : i == 5 ? vandal : work, (void *)(i + 1));
    }
    for (int i = 0; i < 6; i++) {
        pthread_join(threads[i], NULL);
    }
    TRUE(cuCtxSynchronize() == CUDA_SUCCESS);
    TRUE(calls == 4 * 25);
    TRUE(cuMemGetInfo(&free, &total) == CUDA_SUCCESS && free == total);
    TRUE(cuCtxDestroy(context) == CUDA_SUCCESS);
    return failures != 0;
}
