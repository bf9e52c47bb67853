/* waiting.h - a call that may wait for child processes of the simulator, without the GIL. */
#ifndef PYGPU_CUDA_WAITING_H
#define PYGPU_CUDA_WAITING_H

#include "common/pg.h"
#include "cuda/api/cu_api.h"

typedef struct {
    CuWaiting hook;
    PyThreadState *state;
} CudWaiting;
void cud_waiting_begin(CudWaiting *waiting);
int cud_waiting_end(CudWaiting *waiting); /* -1 if the handler of a signal has raised */

#endif
