/* peer.c - access to memory of another device. Here every context can always read all memory;
 * these calls record what programs enable and query. */
#include "simulator/driver/context.h"
#include "simulator/driver/driver.h"
#include "simulator/driver/handle.h"

/* The current context and the other one, which must be on another device. */
static CUresult take_both(CUcontext handle, SimContext **context, SimContext **peer) {
    SIM_TRY(sim_context_current(context));
    SIM_TRY(sim_context_take(handle, peer));
    if ((*context)->device == (*peer)->device) {
        return sim_fail(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "both contexts are on device %d",
                        (*peer)->device);
    }
    return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags) {
    SIM_CALL(cuCtxEnablePeerAccess);
    HELD SimContext *peer = NULL;
    if (Flags != 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "flags %#x are not 0", Flags);
    }
    SIM_TAKE(SimContext, context, take_both(peerContext, &context, &peer));
    unsigned long long bit = 1ull << peer->device;
    pthread_mutex_lock(&context->lock);
    bool had = (context->peers & bit) != 0;
    context->peers |= bit;
    pthread_mutex_unlock(&context->lock);
    return had ? sim_fail(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "for device %d", peer->device)
               : CUDA_SUCCESS;
}

CUresult cuCtxDisablePeerAccess(CUcontext peerContext) {
    SIM_CALL(cuCtxDisablePeerAccess);
    HELD SimContext *peer = NULL;
    SIM_TAKE(SimContext, context, take_both(peerContext, &context, &peer));
    unsigned long long bit = 1ull << peer->device;
    pthread_mutex_lock(&context->lock);
    bool had = (context->peers & bit) != 0;
    context->peers &= ~bit;
    pthread_mutex_unlock(&context->lock);
    return had ? CUDA_SUCCESS
               : sim_fail(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "for device %d", peer->device);
}
