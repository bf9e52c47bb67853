/* print.h - what kernels print on the simulator. */
#ifndef PYGPU_CUDA_PRINT_H
#define PYGPU_CUDA_PRINT_H

/* Writes what kernels have printed on the simulator to sys.stdout; call after waiting. Preserves
 * an exception that is set. */
void cud_print(void);

#endif
