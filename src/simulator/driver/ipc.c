/* ipc.c - memory and events of other processes, which are not supported: the simulator's device
 * exists in one process only. */
#include "simulator/device/memory.h"
#include "simulator/driver/context.h"
#include "simulator/driver/driver.h"
#include "simulator/driver/handle.h"

static CUresult refuse(void) {
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    return sim_fail(CUDA_ERROR_NOT_SUPPORTED,
                    "the simulator's memory and events cannot be shared with other processes");
}

CUresult cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr) {
    SIM_CALL(cuIpcGetMemHandle);
    SIM_NOT_NULL(pHandle);
    SIM_TRY(sim_memory_check((uintptr_t)dptr, 1, "dptr"));
    return refuse();
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags) {
    SIM_CALL(cuIpcOpenMemHandle);
    SIM_NOT_NULL(pdptr);
    (void)handle;
    (void)Flags;
    return refuse();
}

CUresult cuIpcCloseMemHandle(CUdeviceptr dptr) {
    SIM_CALL(cuIpcCloseMemHandle);
    (void)dptr;
    return refuse();
}

CUresult cuIpcGetEventHandle(CUipcEventHandle *pHandle, CUevent event) {
    SIM_CALL(cuIpcGetEventHandle);
    SIM_NOT_NULL(pHandle);
    (void)event;
    return refuse();
}

CUresult cuIpcOpenEventHandle(CUevent *phEvent, CUipcEventHandle handle) {
    SIM_CALL(cuIpcOpenEventHandle);
    SIM_NOT_NULL(phEvent);
    (void)handle;
    return refuse();
}
