/* cuda_launch.c - what a launch costs a C program that calls the CUDA driver: cuLaunchKernel with an array of parameters.
 *
 * cuda_launch LIBRARY IMAGE: the driver to open and a file with the kernels of cuda_launch.py.
 * Question: "KERNEL LAUNCHES" with KERNEL one of p1, p4, p16, mixed. Answer: ns a launch until all are queued, ns until they are done,
 * launches that the kernel counted, the sum that it saw.
 */
#define _GNU_SOURCE
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

static void check(CUresult status, const char *what)
{
    if (status != CUDA_SUCCESS) {
        fprintf(stderr, "%s: %d\n", what, status);
        exit(1);
    }
}
#define CHECK(call) check(cu.call, #call)

static void open_driver(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
#define CU_FN(since, name, symbol, params) *(void **)&cu.name = dlsym(library, symbol);
#include "cuda.fn"
}

static void *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *bytes = calloc(1, (size_t)size + 1);
    if (fread(bytes, 1, (size_t)size, file) != (size_t)size) {
        exit(1);
    }
    fclose(file);
    return bytes;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static CUdeviceptr memory[16];

static void measure(CUfunction function, int n_pointers, int mixed, long launches)
{
    void *params[16];
    int number = 7;
    unsigned result[2] = {0, 0};
    for (int i = 0; i < n_pointers; i++) {
        params[i] = &memory[i];
    }
    if (mixed) {
        params[n_pointers] = &number;
    }
    CHECK(cuMemcpyHtoD(memory[0], result, sizeof result));
    CHECK(cuCtxSynchronize());
    double begin = now();
    for (long i = 0; i < launches; i++) {
        CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    }
    double queued = now();
    CHECK(cuCtxSynchronize());
    double done = now();
    CHECK(cuMemcpyDtoH(result, memory[0], sizeof result));
    printf("%.1f %.1f %u %u\n", (queued - begin) / (double)launches, (done - begin) / (double)launches, result[0], result[1]);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    if (argc != 3) {
        return 2;
    }
    open_driver(argv[1]);
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxPushCurrent(context));
    CHECK(cuModuleLoadData(&module, read_file(argv[2])));
    for (unsigned i = 0; i < 16; i++) {
        unsigned content[2] = {i, 0};
        CHECK(cuMemAlloc(&memory[i], sizeof content));
        CHECK(cuMemcpyHtoD(memory[i], content, sizeof content));
    }
    char name[16];
    long launches;
    while (scanf("%15s %ld", name, &launches) == 2) {
        CUfunction function;
        CHECK(cuModuleGetFunction(&function, module, name));
        int mixed = strcmp(name, "mixed") == 0;
        measure(function, mixed ? 3 : atoi(name + 1), mixed, launches);
    }
    return 0;
}
