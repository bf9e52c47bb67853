/* print.h - what kernels have printed on the simulator. */
#ifndef PYGPU_CUDA_PRINT_H
#define PYGPU_CUDA_PRINT_H

/* What kernels have printed on the simulator goes to sys.stdout: after waiting. Keeps an exception
 * that is set. */
void cud_print(void);

#endif
