/* gil_release.h - releases the GIL around driver calls.
 *
 * Intel's CPU runtime shuts down at process exit, and crashes if a daemon thread is still in one
 * of its functions. So threads in driver calls are counted: exit waits for them for a limited time
 * and lets no daemon thread enter again (completion.c). */
#ifndef PYGPU_GIL_RELEASE_H
#define PYGPU_GIL_RELEASE_H

#include "common/pg.h"

extern int
    ocl_threads_in_driver;      /* threads in a driver call without the GIL; protected by the GIL */
extern int ocl_daemons_blocked; /* daemon threads must not enter any more */
void ocl_block_daemon_thread(void); /* does not return in a daemon thread */
#ifdef __GLIBC__
/* For on_exit(): ends the process without running the exit handlers that the driver registered
 * earlier, which would shut it down while a thread is still inside. */
void ocl_exit_immediately(int status, void *arg);
#endif

#ifndef OCL_NOT_COUNTED
#undef Py_BEGIN_ALLOW_THREADS
#undef Py_END_ALLOW_THREADS
#define Py_BEGIN_ALLOW_THREADS                  \
    {                                           \
        if (PG_UNLIKELY(ocl_daemons_blocked)) { \
            ocl_block_daemon_thread();          \
        }                                       \
        ocl_threads_in_driver++;                \
        PyThreadState *_save = PyEval_SaveThread();
#define Py_END_ALLOW_THREADS     \
    PyEval_RestoreThread(_save); \
    ocl_threads_in_driver--;     \
    }
#endif

#endif
