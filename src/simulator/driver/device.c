/* device.c - devices: each is the machine's processor; PYGPU_SIM_DEVICES says how many there
 * are. */
#include "simulator/driver/device.h"
#include "simulator/driver/driver.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

CUresult sim_device_check(CUdevice device) {
    if (device < 0 || device >= sim_device_count()) {
        return sim_fail(CUDA_ERROR_INVALID_DEVICE, "device %d of %d", device, sim_device_count());
    }
    return CUDA_SUCCESS;
}

/* ---- names ----------------------------------------------------------------------------------- */

static char processor[128] = "";
static pthread_once_t processor_once = PTHREAD_ONCE_INIT;

static void find_processor(void) {
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        char *colon = strchr(line, ':');
        if (colon != NULL && strncmp(line, "model name", 10) == 0) {
            colon += strspn(colon, ": \t");
            colon[strcspn(colon, "\n")] = '\0';
            (void)snprintf(processor, sizeof(processor), "%s", colon);
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    if (processor[0] == '\0') {
#if defined(__aarch64__)
        (void)snprintf(processor, sizeof(processor), "aarch64");
#elif defined(__x86_64__)
        (void)snprintf(processor, sizeof(processor), "x86-64");
#else
        (void)snprintf(processor, sizeof(processor), "unknown processor");
#endif
    }
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    SIM_CALL(cuDeviceGet);
    SIM_NOT_NULL(device);
    SIM_TRY(sim_device_check(ordinal));
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
    SIM_CALL(cuDeviceGetCount);
    SIM_NOT_NULL(count);
    *count = sim_device_count();
    return CUDA_SUCCESS;
}

/* Writes text into a buffer of len bytes, truncated if it is longer. */
static CUresult copy_text(char *buffer, int len, const char *text) {
    SIM_NOT_NULL(buffer);
    if (len <= 0) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "len is %d", len);
    }
    (void)snprintf(buffer, (size_t)len, "%s", text);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int len, CUdevice dev) {
    SIM_CALL(cuDeviceGetName);
    char text[160];
    SIM_TRY(sim_device_check(dev));
    pthread_once(&processor_once, find_processor);
    (void)snprintf(text, sizeof(text), "CPU simulator (%s)", processor);
    return copy_text(name, len, text);
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev) {
    SIM_CALL(cuDeviceGetUuid);
    SIM_NOT_NULL(uuid);
    SIM_TRY(sim_device_check(dev));
    memcpy(uuid->bytes, "pygpu simulator", 16);
    uuid->bytes[15] = (char)dev;
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice dev) {
    SIM_CALL(cuDeviceTotalMem);
    SIM_NOT_NULL(bytes);
    SIM_TRY(sim_device_check(dev));
    *bytes = sim_device_memory();
    return CUDA_SUCCESS;
}

/* The bus number is the device's number plus 1. */
CUresult cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev) {
    SIM_CALL(cuDeviceGetPCIBusId);
    char text[32];
    SIM_TRY(sim_device_check(dev));
    (void)snprintf(text, sizeof(text), "0000:%02X:00.0", (unsigned)dev + 1);
    return copy_text(pciBusId, len, text);
}

CUresult cuDeviceGetByPCIBusId(CUdevice *dev, const char *pciBusId) {
    SIM_CALL(cuDeviceGetByPCIBusId);
    SIM_NOT_NULL(dev);
    SIM_NOT_NULL(pciBusId);
    unsigned domain = 0, bus, device, function = 0;
    char rest;
    if (!((sscanf(pciBusId, "%4x:%2x:%2x.%1x%c", &domain, &bus, &device, &function, &rest) == 4) ||
          (domain = 0, sscanf(pciBusId, "%2x:%2x.%1x%c", &bus, &device, &function, &rest) == 3) ||
          (function = 0, sscanf(pciBusId, "%4x:%2x:%2x%c", &domain, &bus, &device, &rest) == 3))) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "\"%.40s\" is not an address like 0000:01:00.0",
                        pciBusId);
    }
    if (domain != 0 || device != 0 || function != 0 || bus == 0 ||
        bus > (unsigned)sim_device_count()) {
        return sim_fail(CUDA_ERROR_INVALID_DEVICE, "no device at %.40s", pciBusId);
    }
    *dev = (CUdevice)bus - 1;
    return CUDA_SUCCESS;
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* The values of a GPU of compute capability 9.0 where programs compute with them. Attributes up to
 * LAST that are not listed are 0, such as features that the simulator lacks. */
#define LAST 147
/* clang-format off */
static const int attributes[LAST + 1] = {
    /* threads per block, in total and per axis */
    [1] = 1024, [2] = 1024, [3] = 1024, [4] = 64,
    /* blocks per axis */
    [5] = 2147483647, [6] = 65535, [7] = 65535,
    /* shared and constant memory [bytes], warp size, pitch [bytes], registers, texture alignment,
     * concurrent copies */
    [8] = SIM_SHARED_DEFAULT, [9] = 65536, [10] = 32, [11] = 2147483647, [12] = 65536,
    [14] = SIM_TEXTURE_ALIGNMENT, [15] = 1,
    /* integrated, maps host memory */
    [18] = 1, [19] = 1,
    /* textures */
    [21] = 131072, [22] = 131072, [23] = 65536, [24] = 16384, [25] = 16384, [26] = 16384,
    [27] = 32768, [28] = 32768, [29] = 2048,
    /* surfaces, concurrent kernels */
    [30] = SIM_TEXTURE_ALIGNMENT, [31] = 1,
    /* bus width [bits], threads, copy engines, unified addresses */
    [37] = 64, [39] = SIM_THREADS_MULTIPROCESSOR, [40] = 2, [41] = 1,
    /* layered and other textures, surfaces */
    [42] = 32768, [43] = 2048, [44] = 1, [45] = 32768, [46] = 32768, [47] = 8192, [48] = 8192,
    [49] = 32768, [51] = 32, [52] = 32768, [53] = 32768, [54] = 2046, [55] = 32768, [56] = 131072,
    [57] = 65536, [58] = 16384, [59] = 16384, [60] = 16384, [61] = 32768, [62] = 2048,
    [63] = 32768, [64] = 32768, [65] = 2048, [66] = 32768, [67] = 32768, [68] = 2046,
    [69] = 268435456, [70] = 131072, [71] = 65000, [72] = 2097120, [73] = 32768, [74] = 32768,
    [77] = 32768,
    /* stream priorities, L1 cache for global and local memory */
    [78] = 1, [79] = 1, [80] = 1,
    /* per multiprocessor: shared memory [bytes], registers; managed memory */
    [81] = SIM_SHARED_MULTIPROCESSOR, [82] = 65536, [83] = 1,
    /* host atomics, float:double ratio, ... */
    [86] = 1, [87] = 2, [89] = 1, [90] = 1, [91] = 1,
    /* cooperative launch, opt-in shared memory, host_register */
    [95] = 1, [97] = SIM_SHARED_OPTIN, [99] = 1, [101] = 1,
    /* blocks per multiprocessor, reserved shared memory, read-only, pools */
    [106] = SIM_BLOCKS_MULTIPROCESSOR, [111] = 1024, [113] = 1, [115] = 1, [129] = 1, [134] = -1,
};
/* clang-format on */

int sim_device_attribute(CUdevice device, CUdevice_attribute attribute) {
    switch (attribute) {
    case 13:
    case 36: { /* clock rates [kHz]: kernels see a timer in ns */
        return 1000000;
    }
    case 16: /* multiprocessors: each worker runs one block at a time */
        return sim_threads();
    case 33: /* PCI bus */
        return device + 1;
    case 38: {
        long size = sysconf(_SC_LEVEL2_CACHE_SIZE);
        return size > 0 && size < 1 << 30 ? (int)size : 1024 * 1024;
    }
    case 75:
        return sim_architecture() / 10;
    case 76:
        return sim_architecture() % 10;
    case 85: /* board */
        return device;
    default:
        return attribute >= 0 && attribute <= LAST ? attributes[attribute] : 0;
    }
}

CUresult cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev) {
    SIM_CALL(cuDeviceGetAttribute);
    SIM_NOT_NULL(pi);
    SIM_TRY(sim_device_check(dev));
    if (attrib < 1 || attrib > LAST) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a device_attribute", attrib);
    }
    *pi = sim_device_attribute(dev, attrib);
    return CUDA_SUCCESS;
}

/* ---- two devices ----------------------------------------------------------------------------- */

CUresult cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev) {
    SIM_CALL(cuDeviceCanAccessPeer);
    SIM_NOT_NULL(canAccessPeer);
    SIM_TRY(sim_device_check(dev));
    SIM_TRY(sim_device_check(peerDev));
    *canAccessPeer = dev != peerDev;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib, CUdevice srcDevice,
                                 CUdevice dstDevice) {
    SIM_CALL(cuDeviceGetP2PAttribute);
    SIM_NOT_NULL(value);
    SIM_TRY(sim_device_check(srcDevice));
    SIM_TRY(sim_device_check(dstDevice));
    if (srcDevice == dstDevice) {
        return sim_fail(CUDA_ERROR_INVALID_DEVICE, "both devices are %d", srcDevice);
    }
    if (attrib < 1 || attrib > 5) {
        return sim_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a p2p_attribute", attrib);
    }
    *value = attrib >= 2 &&
             attrib <= 4; /* access, native atomics, arrays; performance rank 0 is the best */
    return CUDA_SUCCESS;
}
