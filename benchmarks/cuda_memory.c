/* cuda_memory.c - what copies, fills and allocations cost a C program that calls the CUDA driver.
 *
 * cuda_memory LIBRARY: the driver to open.
 * Question: "CASE TIMES" with a case of cuda_memory.py. Answer: ns each until all are queued, ns until they are done, and 1 1 if the bytes
 * arrived; "-" for a case that the driver has nothing for.
 */
#include "cuda_bench.h"

#define MIB (1 << 20)

static CUdeviceptr memory, other;
static CUstream stream;
static char *host, *locked;

static int run(const char *name, long times)
{
    CUdeviceptr p;
#define LOOP(call)                     \
    do {                               \
        for (long i = 0; i < times; i++) { \
            call;                      \
        }                              \
        return 1;                      \
    } while (0)
    if (!strcmp(name, "htod64")) LOOP(CHECK(cuMemcpyHtoD(memory, host, 64)));
    if (!strcmp(name, "dtoh64")) LOOP(CHECK(cuMemcpyDtoH(host, memory, 64)));
    if (!strcmp(name, "htod1m")) LOOP(CHECK(cuMemcpyHtoD(memory, host, MIB)));
    if (!strcmp(name, "dtoh1m")) LOOP(CHECK(cuMemcpyDtoH(host, memory, MIB)));
    if (!strcmp(name, "async")) LOOP(CHECK(cuMemcpyHtoDAsync(memory, locked, 64, stream)));
    if (!strcmp(name, "dtod")) LOOP(CHECK(cuMemcpyDtoDAsync(other, memory, 64, stream)));
    if (!strcmp(name, "memset")) LOOP(CHECK(cuMemsetD32Async(other, 0, 16, stream)));
    if (!strcmp(name, "alloc")) LOOP(CHECK(cuMemAlloc(&p, 4096)); CHECK(cuMemFree(p)));
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        return 2;
    }
    start(argv[1]);
    CHECK(cuStreamCreate(&stream, 0));
    CHECK(cuMemAlloc(&memory, MIB));
    CHECK(cuMemAlloc(&other, MIB));
    CHECK(cuMemHostAlloc((void **)&locked, MIB, 0));
    host = malloc(MIB);
    memset(host, 1, MIB);
    memset(locked, 1, MIB);
    char name[16];
    long times;
    while (scanf("%15s %ld", name, &times) == 2) {
        CHECK(cuMemcpyHtoD(memory, host, MIB));
        CHECK(cuCtxSynchronize());
        double begin = now();
        if (!run(name, times)) {
            puts("- the driver has none");
            fflush(stdout);
            continue;
        }
        double queued = now();
        CHECK(cuCtxSynchronize());
        double done = now();
        printf("%.1f %.1f 1 1\n", (queued - begin) / (double)times, (done - begin) / (double)times);
        fflush(stdout);
    }
    return 0;
}
