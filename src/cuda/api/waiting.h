/* waiting.h - calls that may wait, without the GIL, for child processes of the simulator. */
#ifndef PYGPU_CUDA_WAITING_H
#define PYGPU_CUDA_WAITING_H

#include "common/pg.h"
#include "cuda/api/cu_api.h"

typedef struct {
    CuWaiting hook;
    PyThreadState *state;
} CudWaiting;
void cud_waiting_begin(CudWaiting *waiting);
int cud_waiting_end(CudWaiting *waiting); /* returns -1 if a signal handler raised */

#endif
