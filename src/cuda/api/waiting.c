/* waiting.c - makes Ctrl-C work while the simulator waits for a C++ compiler: from time to time it
 * asks whether to stop, and Python's signal handlers run then. A real driver never asks. */
#include "cuda/api/waiting.h"
#include "cuda/cuda.h"
#include "cuda/simulator_hooks.h"

static void (*ask_thread)(const CuWaiting *waiting); /* pygpuSimWaiting */

void cud_waiting_set_hook(void *function) {
    *(void **)(void *)&ask_thread = function;
}

/* The waiting thread calls this without the GIL. */
static int is_interrupted(void *data) {
    CudWaiting *waiting = data;
    PyEval_RestoreThread(waiting->state);
    const int raised = PyErr_CheckSignals() < 0;
    waiting->state = PyEval_SaveThread();
    return raised;
}

void cud_waiting_begin(CudWaiting *waiting) {
    waiting->hook = (CuWaiting){is_interrupted, waiting};
    waiting->state = PyEval_SaveThread();
    if (ask_thread != NULL) {
        ask_thread(&waiting->hook);
    }
}

int cud_waiting_end(CudWaiting *waiting) {
    if (ask_thread != NULL) {
        ask_thread(NULL);
    }
    PyEval_RestoreThread(waiting->state);
    return PyErr_Occurred() != NULL ? -1 : 0;
}
