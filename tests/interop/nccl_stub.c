/* nccl_stub.c - stands in for libnccl.so.2 where the GPUs are pygpu's CPU simulator.
 *
 * One process has all ranks, and device memory is the host's. The calls of a group are done when it
 * ends, after all devices have finished. Enough for nccl4py's calls in tests/interop/test_nccl.py.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, INVALID_ARGUMENT = 4, INVALID_USAGE = 5 };
enum kind { ALL_REDUCE, BROADCAST, ALL_GATHER, REDUCE_SCATTER, SEND, RECV };
enum { MOST_RANKS = 8, MOST_CALLS = 64 };

struct ncclComm {
    int rank, count, device;
};
typedef struct ncclComm *ncclComm_t;

struct call {
    enum kind kind;
    const void *source;
    void *dest;
    size_t count;
    int type, op, other; /* the root, or the rank to send to or receive from */
};

static struct call calls[MOST_RANKS][MOST_CALLS];
static int queued[MOST_RANKS], ranks, depth;

static size_t size_of(int type)
{
    static const size_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8};
    return type >= 0 && type < 9 ? sizes[type] : 0;
}

static void finish_devices(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    int (*retain)(void **, int), (*push)(void *), (*pop)(void **), (*synchronize)(void);
    *(void **)&retain = dlsym(driver, "cuDevicePrimaryCtxRetain");
    *(void **)&push = dlsym(driver, "cuCtxPushCurrent_v2");
    *(void **)&pop = dlsym(driver, "cuCtxPopCurrent_v2");
    *(void **)&synchronize = dlsym(driver, "cuCtxSynchronize");
    for (int device = 0; device < ranks; device++) {
        void *context;
        if (retain(&context, device) == 0 && push(context) == 0) {
            synchronize();
            pop(&context);
        }
    }
}

/* Adds, for the two types that the tests reduce. */
static void add(void *sum, const void *term, size_t count, int type)
{
    for (size_t i = 0; i < count; i++) {
        if (type == 7) {
            ((float *)sum)[i] += ((const float *)term)[i];
        } else if (type == 2) {
            ((int32_t *)sum)[i] += ((const int32_t *)term)[i];
        }
    }
}

/* Sums of *count* items from all ranks, from item *first* on. */
static void *sums(int at, size_t first, size_t count)
{
    int type = calls[0][at].type;
    size_t size = size_of(type);
    char *sum = calloc(count, size);
    for (int rank = 0; rank < ranks; rank++) {
        add(sum, (const char *)calls[rank][at].source + first * size, count, type);
    }
    return sum;
}

/* The call with number *at* of every rank, which is a collective one. */
static int collective(int at)
{
    struct call *first = &calls[0][at];
    size_t bytes = first->count * size_of(first->type);
    void *results[MOST_RANKS];
    for (int rank = 0; rank < ranks; rank++) {
        struct call *call = &calls[rank][at];
        if (queued[rank] <= at || call->kind != first->kind || call->count != first->count) {
            return INVALID_USAGE;
        }
    }
    for (int rank = 0; rank < ranks; rank++) {
        switch (first->kind) {
        case ALL_REDUCE: results[rank] = sums(at, 0, first->count); break;
        case REDUCE_SCATTER:
            results[rank] = sums(at, (size_t)rank * first->count, first->count);
            break;
        default: /* what each gets of everybody */
            results[rank] = malloc(bytes * (size_t)ranks);
            for (int other = 0; other < ranks; other++) {
                int from = first->kind == BROADCAST ? first->other : other;
                memcpy((char *)results[rank] + (size_t)other * bytes, calls[from][at].source, bytes);
            }
        }
    }
    for (int rank = 0; rank < ranks; rank++) {
        size_t times = first->kind == ALL_GATHER ? (size_t)ranks : 1;
        memcpy(calls[rank][at].dest, results[rank], bytes * times);
        free(results[rank]);
    }
    return OK;
}

static int messages(void)
{
    for (int rank = 0; rank < ranks; rank++) {
        for (int i = 0; i < queued[rank]; i++) {
            struct call *send = &calls[rank][i];
            if (send->kind != SEND) {
                continue;
            }
            int j = 0;
            while (j < queued[send->other] && (calls[send->other][j].kind != RECV ||
                                               calls[send->other][j].other != rank)) {
                j++;
            }
            if (j == queued[send->other] || calls[send->other][j].count != send->count) {
                return INVALID_USAGE;
            }
            memmove(calls[send->other][j].dest, send->source, send->count * size_of(send->type));
            calls[send->other][j].other = -1;
        }
    }
    return OK;
}

static int run(void)
{
    int status = OK;
    finish_devices();
    for (int at = 0; at < queued[0] && status == OK; at++) {
        if (calls[0][at].kind < SEND) {
            status = collective(at);
        }
    }
    status = status == OK ? messages() : status;
    memset(queued, 0, sizeof queued);
    return status;
}

int ncclGroupStart(void)
{
    depth++;
    return OK;
}

int ncclGroupEnd(void)
{
    return --depth == 0 ? run() : OK;
}

static int queue(ncclComm_t comm, struct call call)
{
    if (size_of(call.type) == 0 || queued[comm->rank] == MOST_CALLS) {
        return INVALID_ARGUMENT;
    }
    ncclGroupStart();
    calls[comm->rank][queued[comm->rank]++] = call;
    return ncclGroupEnd();
}

int ncclCommInitAll(ncclComm_t *comms, int count, const int *devices)
{
    if (count < 1 || count > MOST_RANKS) {
        return INVALID_ARGUMENT;
    }
    for (int rank = 0; rank < count; rank++) {
        comms[rank] = malloc(sizeof *comms[rank]);
        *comms[rank] = (struct ncclComm){rank, count, devices ? devices[rank] : rank};
    }
    ranks = count;
    return OK;
}

#define ANSWER(name, field)                       \
    int name(const ncclComm_t comm, int *answer) \
    {                                            \
        *answer = comm->field;                   \
        return OK;                               \
    }
ANSWER(ncclCommCount, count)
ANSWER(ncclCommCuDevice, device)
ANSWER(ncclCommUserRank, rank)

int ncclCommDestroy(ncclComm_t comm)
{
    free(comm);
    return OK;
}

int ncclGetVersion(int *version)
{
    *version = 22809;
    return OK;
}

const char *ncclGetErrorString(int status)
{
    return status == INVALID_USAGE ? "invalid usage" : "invalid argument";
}

const char *ncclGetLastError(ncclComm_t comm)
{
    (void)comm;
    return "of the stub";
}

int ncclAllReduce(const void *source, void *dest, size_t count, int type, int op, ncclComm_t comm,
                  void *stream)
{
    (void)stream;
    return queue(comm, (struct call){ALL_REDUCE, source, dest, count, type, op, 0});
}

int ncclBroadcast(const void *source, void *dest, size_t count, int type, int root, ncclComm_t comm,
                  void *stream)
{
    (void)stream;
    return queue(comm, (struct call){BROADCAST, source, dest, count, type, 0, root});
}

int ncclAllGather(const void *source, void *dest, size_t count, int type, ncclComm_t comm,
                  void *stream)
{
    (void)stream;
    return queue(comm, (struct call){ALL_GATHER, source, dest, count, type, 0, 0});
}

int ncclReduceScatter(const void *source, void *dest, size_t count, int type, int op,
                      ncclComm_t comm, void *stream)
{
    (void)stream;
    return queue(comm, (struct call){REDUCE_SCATTER, source, dest, count, type, op, 0});
}

int ncclSend(const void *source, size_t count, int type, int peer, ncclComm_t comm, void *stream)
{
    (void)stream;
    return queue(comm, (struct call){SEND, source, NULL, count, type, 0, peer});
}

int ncclRecv(void *dest, size_t count, int type, int peer, ncclComm_t comm, void *stream)
{
    (void)stream;
    return queue(comm, (struct call){RECV, NULL, dest, count, type, 0, peer});
}
