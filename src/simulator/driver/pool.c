/* pool.c - memory pools, and stream-ordered allocation. A pool here only counts: its blocks come
 * from the same place as all others, and a freed block is released when the stream reaches that
 * point. */
#include "simulator/device/memory.h"
#include "simulator/driver/capture.h"
#include "simulator/driver/context.h"
#include "simulator/driver/device.h"
#include "simulator/driver/driver.h"
#include "simulator/driver/handle.h"
#include "simulator/driver/pool.h"
#include "simulator/driver/stream.h"
#include "simulator/driver/work.h"

#include <stdlib.h>
#include <string.h>

enum {
    REUSE_FIRST = 1,
    REUSE_LAST = 3,
    RELEASE_THRESHOLD = 4,
    RESERVED_CURRENT = 5,
    RESERVED_HIGH = 6,
    USED_CURRENT = 7,
    USED_HIGH = 8
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct { SimPool *own, *current; } devices[SIM_MAX_DEVICES]; /* counted; own is permanent */

static SimPool *pool_of(SimPayer *payer) {
    return (SimPool *)(void *)((char *)payer - offsetof(SimPool, payer));
}

static void pool_charge(SimPayer *payer, size_t size) {
    SimPool *pool = sim_object_keep(pool_of(payer));
    uint64_t used = atomic_fetch_add(&pool->used, size) + size,
             high = atomic_load(&pool->used_high);
    while (used > high && !atomic_compare_exchange_weak(&pool->used_high, &high, used)) {
    }
}

static void pool_refund(SimPayer *payer, size_t size) {
    SimPool *pool = pool_of(payer);
    atomic_fetch_sub(&pool->used, size);
    sim_object_drop(pool);
}

static void pool_free(void *op) {
    free(op);
}

static CUresult pool_new(CUdevice device, SimPool **out) {
    SimPool *self = calloc(1, sizeof(*self));
    if (self == NULL) {
        return sim_fail(CUDA_ERROR_OUT_OF_MEMORY, "the machine has no memory left");
    }
    self->device = device;
    self->payer = (SimPayer){.charge = pool_charge, .refund = pool_refund};
    for (int i = 0; i < 3; i++) {
        atomic_store(&self->reuse[i], 1);
    }
    CUresult status = sim_object_open(self, SIM_POOL, NULL, pool_free);
    if (status != CUDA_SUCCESS) {
        free(self);
        return status;
    }
    self->payer.handle = self->object.handle;
    *out = self;
    return CUDA_SUCCESS;
}

/* The default pool of a device (with a reference for the caller), or the one that cuMemAllocAsync
 * uses. */
static CUresult device_pool(CUdevice device, bool current, SimPool **out) {
    CUresult status = CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    if (devices[device].own == NULL) {
        status = pool_new(device, &devices[device].own);
        if (status == CUDA_SUCCESS) {
            devices[device].own->is_default = true;
            devices[device].current = sim_object_keep(devices[device].own);
        }
    }
    *out = status != CUDA_SUCCESS
               ? NULL
               : sim_object_keep(current ? devices[device].current : devices[device].own);
    pthread_mutex_unlock(&lock);
    return status;
}

static CUresult take_pool(CUmemoryPool handle, SimPool **out) {
    *out = sim_object_take((uintptr_t)handle, SIM_POOL);
    return *out != NULL ? CUDA_SUCCESS
                        : sim_fail(CUDA_ERROR_INVALID_HANDLE,
                                   "%p is not a memory pool, or was destroyed", (void *)handle);
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev) {
    SIM_CALL(cuDeviceGetDefaultMemPool);
    SIM_NOT_NULL(pool_out);
    SIM_TRY(sim_device_check(dev));
    SIM_TAKE(SimPool, pool, device_pool(dev, false, &pool));
    *pool_out = (CUmemoryPool)pool->object.handle;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev) {
    SIM_CALL(cuDeviceGetMemPool);
    SIM_NOT_NULL(pool);
    SIM_TRY(sim_device_check(dev));
    SIM_TAKE(SimPool, current, device_pool(dev, true, &current));
    *pool = (CUmemoryPool)current->object.handle;
    return CUDA_SUCCESS;
}

static void set_current(CUdevice device, SimPool *pool) {
    pthread_mutex_lock(&lock);
    SimPool *old = devices[device].current;
    devices[device].current = sim_object_keep(pool);
    pthread_mutex_unlock(&lock);
    sim_object_drop(old);
}

CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool) {
    SIM_CALL(cuDeviceSetMemPool);
    SIM_TRY(sim_device_check(dev));
    SIM_TAKE(SimPool, taken, take_pool(pool, &taken));
    if (taken->device != dev) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "the pool is of device %d, not %d", taken->device,
                        dev);
    }
    SIM_TAKE(SimPool, own, device_pool(dev, false, &own)); /* created at first use */
    set_current(dev, taken);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps) {
    SIM_CALL(cuMemPoolCreate);
    SIM_NOT_NULL(pool);
    SIM_NOT_NULL(poolProps);
    if (poolProps->allocType != 1 || poolProps->location.type != 1) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "a pool of allocation type %d at location type %d; the simulator has "
                        "pinned memory of devices",
                        poolProps->allocType, poolProps->location.type);
    }
    SIM_TRY(sim_device_check(poolProps->location.id));
    if (poolProps->handleTypes != 0) {
        return sim_fail(CUDA_ERROR_NOT_SUPPORTED,
                        "the simulator's memory cannot be shared with other processes");
    }
    SIM_TAKE(SimPool, made, pool_new(poolProps->location.id, &made));
    *pool = (CUmemoryPool)made->object.handle;
    return CUDA_SUCCESS;
}

/* Its blocks stay valid; the pool itself is freed with the last one. */
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
    SIM_CALL(cuMemPoolDestroy);
    SIM_TAKE(SimPool, taken, take_pool(pool, &taken));
    if (taken->is_default) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE,
                        "the default pool of a device cannot be destroyed");
    }
    SIM_TAKE(SimPool, own, device_pool(taken->device, false, &own));
    pthread_mutex_lock(&lock);
    bool current = devices[taken->device].current == taken;
    pthread_mutex_unlock(&lock);
    if (current) {
        set_current(taken->device, own);
    }
    sim_object_close(taken);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep) {
    SIM_CALL(cuMemPoolTrimTo);
    HELD SimPool *taken = NULL;
    (void)minBytesToKeep; /* no memory is cached that could be released */
    return take_pool(pool, &taken);
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value) {
    SIM_CALL(cuMemPoolGetAttribute);
    uint64_t number;
    SIM_NOT_NULL(value);
    SIM_TAKE(SimPool, taken, take_pool(pool, &taken));
    if (attr >= REUSE_FIRST && attr <= REUSE_LAST) {
        int flag = atomic_load(&taken->reuse[attr - REUSE_FIRST]);
        memcpy(value, &flag, sizeof(flag));
        return CUDA_SUCCESS;
    }
    switch (attr) {
    case RELEASE_THRESHOLD:
        number = atomic_load(&taken->threshold);
        break;
    case RESERVED_CURRENT:
    case USED_CURRENT:
        number = atomic_load(&taken->used);
        break;
    case RESERVED_HIGH:
    case USED_HIGH:
        number = atomic_load(&taken->used_high);
        break;
    default:
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a mem_pool_attribute", attr);
    }
    memcpy(value, &number, sizeof(number));
    return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value) {
    SIM_CALL(cuMemPoolSetAttribute);
    SIM_NOT_NULL(value);
    SIM_TAKE(SimPool, taken, take_pool(pool, &taken));
    if (attr >= REUSE_FIRST && attr <= REUSE_LAST) {
        int flag;
        memcpy(&flag, value, sizeof(flag));
        atomic_store(&taken->reuse[attr - REUSE_FIRST], flag != 0);
        return CUDA_SUCCESS;
    }
    uint64_t number;
    memcpy(&number, value, sizeof(number));
    if (attr == RELEASE_THRESHOLD) {
        atomic_store(&taken->threshold, number);
        return CUDA_SUCCESS;
    }
    if ((attr == RESERVED_HIGH || attr == USED_HIGH) &&
        number == 0) { /* resets the high-water mark */
        atomic_store(&taken->used_high, atomic_load(&taken->used));
        return CUDA_SUCCESS;
    }
    return sim_fail(CUDA_ERROR_INVALID_VALUE,
                    "%d is not a mem_pool_attribute that can be set to %llu", attr,
                    (unsigned long long)number);
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count) {
    SIM_CALL(cuMemPoolSetAccess);
    SIM_TAKE(SimPool, taken, take_pool(pool, &taken));
    if (count > 0) {
        SIM_NOT_NULL(map);
    }
    for (size_t i = 0; i < count; i++) {
        if (map[i].location.type != 1 || (map[i].flags != 0 && map[i].flags != 3)) {
            return sim_fail(
                CUDA_ERROR_INVALID_VALUE,
                "map[%zu] is not of a device, or its flags are neither NONE nor READWRITE", i);
        }
        SIM_TRY(sim_device_check(map[i].location.id));
        if (map[i].flags == 0 && map[i].location.id == taken->device) {
            return sim_fail(CUDA_ERROR_INVALID_VALUE,
                            "map[%zu] takes its own memory away from device %d", i, taken->device);
        }
    }
    return CUDA_SUCCESS;
}

/* ---- stream-ordered allocation --------------------------------------------------------------- */

static CUresult alloc(CUdeviceptr *out, size_t size, CUmemoryPool handle, CUstream stream_handle) {
    uintptr_t base;
    SIM_NOT_NULL(out);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimStream, stream, sim_stream_take(context, stream_handle, &stream));
    if (stream->capture != NULL) {
        return sim_capture_invalidate(stream, CUDA_ERROR_NOT_SUPPORTED,
                                      "the simulator's graphs do not allocate memory");
    }
    SIM_TAKE(SimPool, pool,
             handle != NULL ? take_pool(handle, &pool)
                            : device_pool(stream->object.context->device, true, &pool));
    const SimOwner owner = {sim_context_handle(stream->object.context), pool->device};
    CUresult status = sim_memory_alloc_pool(owner, size, &pool->payer, &base);
    if (status == CUDA_ERROR_OUT_OF_MEMORY) { /* wait for pending frees */
        SIM_TRY(sim_context_wait(stream->object.context));
        status = sim_memory_alloc_pool(owner, size, &pool->payer, &base);
    }
    SIM_TRY(status);
    *out = base;
    return CUDA_SUCCESS;
}

CUresult cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream) {
    SIM_CALL(cuMemAllocAsync);
    return alloc(dptr, bytesize, NULL, hStream);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool,
                                 CUstream hStream) {
    SIM_CALL(cuMemAllocFromPoolAsync);
    if (pool == NULL) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "pool is NULL");
    }
    return alloc(dptr, bytesize, pool, hStream);
}

CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) {
    SIM_CALL(cuMemFreeAsync);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TAKE(SimStream, stream, sim_stream_take(context, hStream, &stream));
    if (stream->capture != NULL) {
        return sim_capture_invalidate(stream, CUDA_ERROR_NOT_SUPPORTED,
                                      "the simulator's graphs do not free memory");
    }
    if (dptr == 0) {
        return CUDA_SUCCESS;
    }
    SimWork work = {.kind = WORK_FREE, .free = {.base = (uintptr_t)dptr}};
    SIM_TRY(sim_memory_retire(work.free.base, &work.free.id));
    const unsigned long long id = work.free.id;
    CUresult status = sim_stream_submit(stream, &work, NULL);
    if (status != CUDA_SUCCESS) {
        sim_memory_unretire((uintptr_t)dptr, id);
    }
    return status;
}

/* ---- for the program's own pools of allocations ---------------------------------------------- */

int pygpuSimUse(CUdeviceptr base, size_t size) {
    SimBlockInfo info = {.id = 0};
    if (!sim_checked() || !sim_memory_info((uintptr_t)base, &info)) {
        return sim_checked();
    }
    SimContext *context = sim_object_take((uintptr_t)info.block.context, SIM_CONTEXT);
    bool idle = context != NULL && sim_context_all_idle(context);
    for (int i = 0; i < 500 && context != NULL && !idle; i++) { /* the work may be waiting for the
                                                                 * caller */
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        idle = sim_context_all_idle(context);
    }
    sim_object_drop(context);
    sim_memory_set_used((uintptr_t)base, info.id, size, idle);
    return 1;
}
