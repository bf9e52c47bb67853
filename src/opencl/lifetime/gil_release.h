/* gil_release.h - giving up the GIL around driver calls.
 *
 * Intel's CPU runtime takes itself apart when the process ends, and crashes if a daemon thread is
 * still in one of its functions. So the threads inside are counted: exit waits for them, for a
 * while, and lets no daemon thread in again
 * (completion.c). */
#ifndef PYGPU_LEAVE_H
#define PYGPU_LEAVE_H

#include "common/pg.h"

extern int ocl_inside;    /* threads in a driver call without the GIL; changed with the GIL held */
extern int ocl_no_entry;  /* daemon threads are to stay outside */
void ocl_stop_here(void); /* never returns in a daemon thread */
#ifdef __GLIBC__
/* For on_exit(): the end of the process without the handlers that the driver registered before,
 * which would take it apart under a thread that is still in it. */
void ocl_leave_at_once(int status, void *arg);
#endif

#ifndef OCL_NOT_COUNTED
#undef Py_BEGIN_ALLOW_THREADS
#undef Py_END_ALLOW_THREADS
#define Py_BEGIN_ALLOW_THREADS           \
    {                                    \
        if (PG_UNLIKELY(ocl_no_entry)) { \
            ocl_stop_here();             \
        }                                \
        ocl_inside++;                    \
        PyThreadState *_save = PyEval_SaveThread();
#define Py_END_ALLOW_THREADS     \
    PyEval_RestoreThread(_save); \
    ocl_inside--;                \
    }
#endif

#endif
