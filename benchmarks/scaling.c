/* scaling.c - what two GPUs exchange in a C program: peer copies of the driver, and NCCL.
 *
 * scaling LIBCUDA LIBNCCL: the libraries to open; "-" for no NCCL.
 * Question: "CASE BYTES TIMES"; answer: ns for one. Cases: peer (cuMemcpyPeerAsync from the first GPU
 * to the second, peer access enabled), sendrecv (the same by NCCL), allreduce (of floats, in place).
 */
#include "cuda_bench.h"

#include <stddef.h>

/* From NCCL's interface; its header is not needed. */
typedef struct ncclComm *ncclComm_t;
enum { NCCL_UINT8 = 1, NCCL_FLOAT32 = 7, NCCL_SUM = 0 };

static struct {
    int (*init_all)(ncclComm_t *comms, int count, const int *devices);
    int (*group_start)(void);
    int (*group_end)(void);
    int (*all_reduce)(const void *, void *, size_t, int type, int op, ncclComm_t, CUstream);
    int (*send)(const void *, size_t, int type, int peer, ncclComm_t, CUstream);
    int (*recv)(void *, size_t, int type, int peer, ncclComm_t, CUstream);
    int (*destroy)(ncclComm_t);
} nccl;

static struct {
    CUcontext context;
    CUstream stream;
    CUdeviceptr memory;
    ncclComm_t comm;
} gpu[2];

static void nccl_check(int status, const char *what)
{
    if (status != 0) {
        fail(what, status);
    }
}
#define NCCL(call) nccl_check(nccl.call, #call)

static void *symbol(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (!found) {
        fail(name, 0);
    }
    return found;
}

static void load_nccl(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    if (!library) {
        fail(dlerror(), 0);
    }
    *(void **)&nccl.init_all = symbol(library, "ncclCommInitAll");
    *(void **)&nccl.group_start = symbol(library, "ncclGroupStart");
    *(void **)&nccl.group_end = symbol(library, "ncclGroupEnd");
    *(void **)&nccl.all_reduce = symbol(library, "ncclAllReduce");
    *(void **)&nccl.send = symbol(library, "ncclSend");
    *(void **)&nccl.recv = symbol(library, "ncclRecv");
    *(void **)&nccl.destroy = symbol(library, "ncclCommDestroy");
    ncclComm_t comms[2];
    const int devices[2] = {0, 1};
    NCCL(init_all(comms, 2, devices));
    gpu[0].comm = comms[0];
    gpu[1].comm = comms[1];
}

/* Queues one; 0 for an unknown case. */
static int run(const char *name, size_t bytes)
{
    if (!strcmp(name, "peer")) {
        CHECK(cuMemcpyPeerAsync(gpu[1].memory, gpu[1].context, gpu[0].memory, gpu[0].context, bytes,
                                gpu[0].stream));
        return 1;
    }
    if (!gpu[0].comm) {
        return 0;
    }
    NCCL(group_start());
    if (!strcmp(name, "sendrecv")) {
        NCCL(send((void *)gpu[0].memory, bytes, NCCL_UINT8, 1, gpu[0].comm, gpu[0].stream));
        NCCL(recv((void *)gpu[1].memory, bytes, NCCL_UINT8, 0, gpu[1].comm, gpu[1].stream));
    } else {
        for (int i = 0; i < 2; i++) {
            void *memory = (void *)gpu[i].memory;
            NCCL(all_reduce(memory, memory, bytes / 4, NCCL_FLOAT32, NCCL_SUM, gpu[i].comm,
                            gpu[i].stream));
        }
    }
    NCCL(group_end());
    return 1;
}

static void wait_for_both(void)
{
    for (int i = 0; i < 2; i++) {
        CHECK(cuCtxSetCurrent(gpu[i].context));
        CHECK(cuStreamSynchronize(gpu[i].stream));
    }
    CHECK(cuCtxSetCurrent(gpu[0].context));
}

static void allocate(size_t bytes)
{
    for (int i = 0; i < 2; i++) {
        CHECK(cuCtxSetCurrent(gpu[i].context));
        if (gpu[i].memory) {
            CHECK(cuMemFree(gpu[i].memory));
        }
        CHECK(cuMemAlloc(&gpu[i].memory, bytes));
        CHECK(cuMemsetD8Async(gpu[i].memory, 0, bytes, gpu[i].stream));
    }
    wait_for_both();
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        return 2;
    }
    start(argv[1]);
    for (int i = 0; i < 2; i++) {
        CUdevice device;
        CHECK(cuDeviceGet(&device, i));
        CHECK(cuDevicePrimaryCtxRetain(&gpu[i].context, device));
        CHECK(cuCtxSetCurrent(gpu[i].context));
        CHECK(cuStreamCreate(&gpu[i].stream, 0));
    }
    for (int i = 0; i < 2; i++) {
        CHECK(cuCtxSetCurrent(gpu[i].context));
        cu.cuCtxEnablePeerAccess(gpu[1 - i].context, 0); /* without it the driver copies another way */
    }
    CHECK(cuCtxSetCurrent(gpu[0].context));
    if (strcmp(argv[2], "-")) {
        load_nccl(argv[2]);
    }
    char name[16];
    size_t bytes, allocated = 0;
    long times;
    while (scanf("%15s %zu %ld", name, &bytes, &times) == 3) {
        if (bytes != allocated) {
            allocate(allocated = bytes);
        }
        if (!run(name, bytes)) { /* the first is not counted */
            puts("- no NCCL");
            fflush(stdout);
            continue;
        }
        wait_for_both();
        double begin = now();
        for (long i = 0; i < times; i++) {
            run(name, bytes);
        }
        wait_for_both();
        printf("%.1f\n", (now() - begin) / (double)times);
        fflush(stdout);
    }
    for (int i = 0; i < 2; i++) {
        if (gpu[i].comm) {
            NCCL(destroy(gpu[i].comm));
        }
    }
    return 0;
}
