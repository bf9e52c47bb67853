/* device.h - the devices and their properties. */
#ifndef PYGPU_SIM_DEVICE_H
#define PYGPU_SIM_DEVICE_H

#include "simulator/sim.h"

#define SIM_SHARED_OPTIN           (227 * 1024) /* the most that a block can have */
#define SIM_SHARED_MULTIPROCESSOR  (228 * 1024)
#define SIM_THREADS_MULTIPROCESSOR 2048
#define SIM_BLOCKS_MULTIPROCESSOR  32
#define SIM_TEXTURE_ALIGNMENT      512
#define SIM_PITCH_ALIGNMENT        512

CUresult sim_device_check(CUdevice device);
int sim_device_attribute(CUdevice device, CUdevice_attribute attribute);

#endif
