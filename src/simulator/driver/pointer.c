/* pointer.c - queries about an address. */
#include "simulator/device/memory.h"
#include "simulator/driver/context.h"
#include "simulator/driver/driver.h"
#include "simulator/driver/handle.h"
#include "simulator/driver/work.h"

#include <string.h>

enum {
    A_CONTEXT = 1,
    A_MEMORY_TYPE = 2,
    A_DEVICE_POINTER = 3,
    A_HOST_POINTER = 4,
    A_P2P_TOKENS = 5,
    A_SYNC_MEMOPS = 6,
    A_BUFFER_ID = 7,
    A_IS_MANAGED = 8,
    A_DEVICE_ORDINAL = 9,
    A_IPC_CAPABLE = 10,
    A_RANGE_START = 11,
    A_RANGE_SIZE = 12,
    A_MAPPED = 13,
    A_HANDLE_TYPES = 14,
    A_RDMA_CAPABLE = 15,
    A_ACCESS_FLAGS = 16,
    A_POOL = 17,
    A_MAPPING_SIZE = 18,
    A_MAPPING_BASE = 19,
    A_BLOCK_ID = 20,
    A_DECOMPRESS = 21
};

/* Writes each answer with its width: booleans are unsigned ints. */
static CUresult write_answer(void *data, CUpointer_attribute attribute, unsigned long long value) {
    unsigned narrow = (unsigned)value;
    switch (attribute) {
    case A_MEMORY_TYPE:
    case A_SYNC_MEMOPS:
    case A_IS_MANAGED:
    case A_DEVICE_ORDINAL:
    case A_IPC_CAPABLE:
    case A_MAPPED:
    case A_RDMA_CAPABLE:
    case A_ACCESS_FLAGS:
    case A_DECOMPRESS:
        memcpy(data, &narrow, sizeof(narrow));
        break;
    default:
        memcpy(data, &value, sizeof(value));
        break;
    }
    return CUDA_SUCCESS;
}

static CUresult check(CUpointer_attribute attribute) {
    if (attribute < 1 || attribute > A_DECOMPRESS) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a pointer_attribute", attribute);
    }
    if (attribute == A_P2P_TOKENS) {
        return sim_fail(CUDA_ERROR_NOT_SUPPORTED, "the simulator has no P2P tokens");
    }
    return CUDA_SUCCESS;
}

static CUresult query(void *data, CUpointer_attribute attribute, uintptr_t address,
                      const SimBlockInfo *info) {
    const SimBlock *block = &info->block;
    bool host = block->kind == SIM_HOST || block->kind == SIM_REGISTERED;
    switch (attribute) {
    case A_CONTEXT:
        return write_answer(data, attribute, (uintptr_t)block->context);
    case A_MEMORY_TYPE:
        return write_answer(data, attribute, host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case A_DEVICE_POINTER:
        return write_answer(data, attribute, address);
    case A_HOST_POINTER:
        if (!host && block->kind != SIM_MANAGED) {
            (void)write_answer(data, attribute, 0);
            return sim_fail(CUDA_ERROR_INVALID_VALUE,
                            "%#zx is device memory, which the host must not touch",
                            (size_t)address);
        }
        return write_answer(data, attribute, address);
    case A_SYNC_MEMOPS:
        return write_answer(data, attribute, info->sync_memops);
    case A_BUFFER_ID:
    case A_BLOCK_ID:
        return write_answer(data, attribute, info->id);
    case A_IS_MANAGED:
        return write_answer(data, attribute, block->kind == SIM_MANAGED);
    case A_DEVICE_ORDINAL:
        return write_answer(data, attribute, (unsigned)info->device);
    case A_RANGE_START:
    case A_MAPPING_BASE:
        return write_answer(data, attribute, block->base);
    case A_RANGE_SIZE:
    case A_MAPPING_SIZE:
        return write_answer(data, attribute, block->size);
    case A_MAPPED:
        return write_answer(data, attribute, 1);
    case A_ACCESS_FLAGS:
        return write_answer(data, attribute, 3);
    case A_POOL:
        return write_answer(data, attribute, info->payer != NULL ? info->payer->handle : 0);
    default: /* IPC, RDMA, handles, decompression: not supported */
        return write_answer(data, attribute, 0);
    }
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr) {
    SIM_CALL(cuPointerGetAttribute);
    SimBlockInfo info;
    SIM_NOT_NULL(data);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    SIM_TRY(check(attribute));
    if (!sim_memory_info((uintptr_t)ptr, &info) || info.retired) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%#llx is neither device memory nor registered",
                        ptr);
    }
    return query(data, attribute, (uintptr_t)ptr, &info);
}

/* For an unknown address, all answers are zero; that is not an error. */
CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes,
                                void **data, CUdeviceptr ptr) {
    SIM_CALL(cuPointerGetAttributes);
    SimBlockInfo info;
    SIM_NOT_NULL(attributes);
    SIM_NOT_NULL(data);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    bool known = sim_memory_info((uintptr_t)ptr, &info) && !info.retired;
    for (unsigned i = 0; i < numAttributes; i++) {
        SIM_NOT_NULL(data[i]);
        SIM_TRY(check(attributes[i]));
        if (!known || query(data[i], attributes[i], (uintptr_t)ptr, &info) != CUDA_SUCCESS) {
            (void)write_answer(data[i], attributes[i],
                               attributes[i] == A_DEVICE_ORDINAL ? (unsigned)CU_DEVICE_INVALID : 0);
        }
    }
    sim_fail_nothing();
    return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr) {
    SIM_CALL(cuPointerSetAttribute);
    unsigned flag;
    SIM_NOT_NULL(value);
    SIM_TAKE(SimContext, context, sim_context_current(&context));
    if (attribute != A_SYNC_MEMOPS) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "only SYNC_MEMOPS can be set, not %d", attribute);
    }
    memcpy(&flag, value, sizeof(flag));
    return sim_memory_set_sync((uintptr_t)ptr, flag != 0);
}
