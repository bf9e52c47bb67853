/* cuda_launch.c - what a launch costs a C program that calls the CUDA driver: cuLaunchKernel with an array of parameters.
 *
 * cuda_launch LIBRARY IMAGE: the driver to open and a file with the kernels of cuda_launch.py.
 * Question: "KERNEL LAUNCHES" with KERNEL one of p1, p4, p16, mixed. Answer: ns a launch until all are queued, ns until they are done,
 * launches that the kernel counted, the sum that it saw.
 */
#include "cuda_bench.h"

static void *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        fail(path, 0);
    }
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *bytes = calloc(1, (size_t)size + 1);
    if (fread(bytes, 1, (size_t)size, file) != (size_t)size) {
        fail(path, size);
    }
    fclose(file);
    return bytes;
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
    CUmodule module;
    if (argc != 3) {
        return 2;
    }
    start(argv[1]);
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
