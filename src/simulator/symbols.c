/* symbols.c - the table of exports, cuInit, and the functions that a driver of this version would
 * not have. */
#include "simulator/driver/driver.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name, *symbol;
    int since;
    void *address;
} Row;

/* Names every function, so that one without a definition does not link. */
static const Row table[] = {
#define CU_FN(since, name, symbol, parameters) {#name, symbol, since, (void *)name},
#include "cuda/api/cuda.fn"
};

_Atomic unsigned char sim_closed[ROW_COUNT];
static bool hidden[ROW_COUNT];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool initialized, forked;

/* Whether name is one of the comma-separated names in list. */
static bool list_contains(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list; at != NULL && (at = strstr(at, name)) != NULL; at += length) {
        if ((at == list || at[-1] == ',' || at[-1] == ' ') &&
            (at[length] == '\0' || at[length] == ',' || at[length] == ' ')) {
            return true;
        }
    }
    return false;
}

static void close_all(SimClosed reason) {
    for (int row = 0; row < ROW_COUNT; row++) {
        atomic_store(&sim_closed[row], (unsigned char)(hidden[row] ? CLOSED_HIDDEN : (int)reason));
    }
}

static void after_fork(void) {
    forked = true;
    close_all(initialized ? CLOSED_FORKED : CLOSED_BEFORE_INIT);
}

/* Runs before any call, so that each call needs to check only one byte. */
__attribute__((constructor)) static void start(void) {
    const char *list = getenv("PYGPU_SIM_HIDE");
    int version = sim_driver_version();
    for (int row = 0; row < ROW_COUNT; row++) {
        hidden[row] = table[row].since > version || list_contains(list, table[row].name) ||
                      list_contains(list, table[row].symbol);
    }
    close_all(CLOSED_BEFORE_INIT);
    pthread_atfork(NULL, NULL, after_fork);
}

CUresult sim_refuse(int row) {
    const Row *which = &table[row];
    switch ((SimClosed)atomic_load(&sim_closed[row])) {
    case CLOSED_HIDDEN:
        return sim_fail(
            CUDA_ERROR_NOT_SUPPORTED,
            "%s came with driver %d.%d; this one is %d.%d (PYGPU_SIM_VERSION, PYGPU_SIM_HIDE)",
            which->name, which->since / 1000, which->since % 1000 / 10, sim_driver_version() / 1000,
            sim_driver_version() % 1000 / 10);
    case CLOSED_FORKED:
        return sim_fail(
            CUDA_ERROR_NOT_INITIALIZED,
            "%s in a child of fork(): CUDA does not work there; use the start method 'spawn'",
            which->name);
    case CLOSED_BEFORE_INIT:
        return sim_fail(CUDA_ERROR_NOT_INITIALIZED, "%s before cuInit", which->name);
    case CLOSED_NOT:
        break;
    }
    return sim_fail(CUDA_ERROR_NOT_PERMITTED,
                    "%s inside a host function or callback: those may not call CUDA", which->name);
}

CUresult cuInit(unsigned int Flags) {
    sim_fail_nothing();
    if (Flags != 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "flags %#x are not 0", Flags);
    }
    CUresult status = CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    if (forked && initialized) {
        status = sim_fail(
            CUDA_ERROR_NOT_INITIALIZED,
            "cuInit in a child of fork(): CUDA does not work there; use the start method 'spawn'");
    } else if (sim_settings_wrong() != NULL) {
        status = sim_fail(CUDA_ERROR_INVALID_VALUE, "%s", sim_settings_wrong());
    } else if (sim_device_count() == 0) {
        status = sim_fail(CUDA_ERROR_NO_DEVICE, "PYGPU_SIM_DEVICES is 0");
    } else {
        initialized = true;
        close_all(CLOSED_NOT);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

/* Works before cuInit. */
CUresult cuDriverGetVersion(int *driverVersion) {
    sim_fail_nothing();
    SIM_NOT_NULL(driverVersion);
    *driverVersion = sim_driver_version();
    return CUDA_SUCCESS;
}

/* symbol: that of a row, or the same without _v2 or _v3, which stands for the newest one. */
static const Row *find(const char *symbol) {
    size_t length = strlen(symbol);
    for (int i = 0; i < ROW_COUNT; i++) {
        const char *full = table[i].symbol;
        if (strncmp(full, symbol, length) == 0 &&
            (full[length] == '\0' ||
             (full[length] == '_' && full[length + 1] == 'v' && full[length + 3] == '\0'))) {
            return &table[i];
        }
    }
    return NULL;
}

enum { FOUND = 0, NOT_FOUND = 1, TOO_NEW = 2 };

SIM_EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion,
                                        unsigned long long flags, int *symbolStatus);

CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion,
                             unsigned long long flags, int *symbolStatus) {
    int ignored;
    sim_fail_nothing();
    SIM_NOT_NULL(symbol);
    SIM_NOT_NULL(pfn);
    symbolStatus = symbolStatus != NULL ? symbolStatus : &ignored;
    *pfn = NULL;
    *symbolStatus = NOT_FOUND;
    if ((flags & ~3ull) != 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "flags %#llx are not flags of cuGetProcAddress",
                        flags);
    }
    if ((flags & 2) != 0) {
        return sim_fail(CUDA_ERROR_NOT_SUPPORTED,
                        "the simulator has no functions with a per-thread default stream; pass "
                        "stream 2 instead");
    }
    if (strcmp(symbol, "cuGetProcAddress") == 0 || strcmp(symbol, "cuGetProcAddress_v2") == 0) {
        *pfn = (void *)cuGetProcAddress_v2;
        *symbolStatus = FOUND;
        return CUDA_SUCCESS;
    }
    const Row *row = find(symbol);
    if (row == NULL || hidden[row - table]) {
        return sim_fail(CUDA_ERROR_NOT_FOUND, "this driver has no function %s", symbol);
    }
    if (row->since > 11080 && row->since > cudaVersion) {
        *symbolStatus = TOO_NEW;
        return sim_fail(CUDA_ERROR_NOT_FOUND, "%s came with version %d; %d was asked for", symbol,
                        row->since, cudaVersion);
    }
    *pfn = row->address;
    *symbolStatus = FOUND;
    return CUDA_SUCCESS;
}
