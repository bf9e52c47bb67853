/* primary.c - primary contexts: one per device, shared by all who retain it. */
#include "simulator/device/memory.h"
#include "simulator/driver/context.h"
#include "simulator/driver/device.h"
#include "simulator/driver/driver.h"
#include "simulator/driver/handle.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
    SimContext *context; /* counted; NULL: inactive */
    unsigned retained, flags;
} primaries[SIM_MAX_DEVICES];

CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev) {
    SIM_CALL(cuDevicePrimaryCtxRetain);
    CUresult status = CUDA_SUCCESS;
    SIM_NOT_NULL(pctx);
    SIM_TRY(sim_device_check(dev));
    pthread_mutex_lock(&lock);
    if (primaries[dev].context == NULL) {
        status = sim_context_new(dev, primaries[dev].flags, true, &primaries[dev].context);
    }
    if (status == CUDA_SUCCESS) {
        primaries[dev].retained++;
        *pctx = sim_context_handle(primaries[dev].context);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

/* Takes the context out of the table; the caller destroys it, which waits for its work, without
 * the lock. */
static SimContext *take_out(CUdevice device) {
    SimContext *context = primaries[device].context;
    primaries[device].context = NULL;
    primaries[device].retained = 0;
    return context;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice dev) {
    SIM_CALL(cuDevicePrimaryCtxRelease);
    HELD SimContext *context = NULL;
    SIM_TRY(sim_device_check(dev));
    pthread_mutex_lock(&lock);
    bool active = primaries[dev].context != NULL;
    if (active && --primaries[dev].retained == 0) {
        context = take_out(dev);
    }
    pthread_mutex_unlock(&lock);
    if (!active) {
        return sim_fail(CUDA_ERROR_INVALID_CONTEXT,
                        "the primary context of device %d is not retained", dev);
    }
    return context != NULL ? sim_context_destroy(context) : CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset(CUdevice dev) {
    SIM_CALL(cuDevicePrimaryCtxReset);
    HELD SimContext *context = NULL;
    SIM_TRY(sim_device_check(dev));
    pthread_mutex_lock(&lock);
    context = take_out(dev);
    pthread_mutex_unlock(&lock);
    return context != NULL ? sim_context_destroy(context) : CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active) {
    SIM_CALL(cuDevicePrimaryCtxGetState);
    SIM_NOT_NULL(flags);
    SIM_NOT_NULL(active);
    SIM_TRY(sim_device_check(dev));
    pthread_mutex_lock(&lock);
    *active = primaries[dev].context != NULL;
    *flags = primaries[dev].flags;
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags) {
    SIM_CALL(cuDevicePrimaryCtxSetFlags);
    SIM_TRY(sim_device_check(dev));
    if ((flags & ~0xffu) != 0 || (flags & 7) == 3 || (flags & 7) > 4) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "flags %#x are not context flags", flags);
    }
    pthread_mutex_lock(&lock);
    primaries[dev].flags = flags;
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}
