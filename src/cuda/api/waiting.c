/* waiting.c - Ctrl-C while the simulator waits for a C++ compiler: it asks now and then whether to
 * stop, and handlers of Python's signals run then. On a real driver nobody asks. */
#include "cuda/api/waiting.h"
#include "cuda/cuda.h"
#include "cuda/simulator_hooks.h"

static void (*ask_thread)(const CuWaiting *waiting); /* pygpuSimWaiting */

void cud_waiting_from(void *function) {
    *(void **)(void *)&ask_thread = function;
}

/* Called without the GIL by the thread that waits. */
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
