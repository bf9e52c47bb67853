/* simulator_hooks.h - functions that only the simulator has; each is NULL on a real driver. */
#ifndef PYGPU_CUDA_SIMULATOR_HOOKS_H
#define PYGPU_CUDA_SIMULATOR_HOOKS_H

void cud_waiting_set_hook(void *function);   /* pygpuSimWaiting */
void cud_wait_set_stop_hook(void *function); /* pygpuSimStop */
void cud_pools_set_use_hook(void *function); /* pygpuSimUse */
int cud_print_from(void *function);          /* pygpuSimReadOutput; returns -1 with an exception */

#endif
