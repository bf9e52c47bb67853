/* driver.h - the table of the driver's functions, and the macros that call them. */
#ifndef PYGPU_OPENCL_DRIVER_H
#define PYGPU_OPENCL_DRIVER_H

#include "common/driver_table.h"
#include "opencl/api/cl_api.h"

typedef struct State State;

typedef struct {
#define CL_FN(since, ret, name, params) ret(CL_API_CALL *name) params;
#include "opencl/api/cl.fn"
} ClTable;

enum {
#define CL_FN(since, ret, name, params) FN_##name,
#include "opencl/api/cl.fn"
    FN_COUNT
};

extern ClTable cl; /* NULL where the library lacks a function; all NULL before first use */
extern long ocl_call_counts[FN_COUNT];
extern PgDriver ocl_driver;

/* Makes a call that returns its status. Between BEGIN and END, which release and reacquire the
 * GIL, there is nothing but this one call. */
#define CL_CALL(status, fn, ...)                                                               \
    ((void)((PG_UNLIKELY(pg_trap) && pg_trapped(#fn, &ocl_call_counts[FN_##fn], &(status))) || \
            (PG_UNLIKELY(cl.fn == NULL) ? ((status) = PG_STATUS_MISSING, 0)                    \
                                        : ((status) = cl.fn(__VA_ARGS__), 0))))
/* The same without the GIL. */
#define CL_NOGIL(status, ...)         \
    do {                              \
        Py_BEGIN_ALLOW_THREADS        \
        CL_CALL(status, __VA_ARGS__); \
        Py_END_ALLOW_THREADS          \
    } while (0)
/* Makes a call that returns a handle and whose last argument receives the status. */
#define CL_MAKE(out, status, fn, ...)                                                        \
    ((out) = (PG_UNLIKELY(pg_trap) && pg_trapped(#fn, &ocl_call_counts[FN_##fn], &(status))) \
                 ? NULL                                                                      \
             : PG_UNLIKELY(cl.fn == NULL) ? ((status) = PG_STATUS_MISSING, NULL)             \
                                          : cl.fn(__VA_ARGS__, &(status)))

/* Live handles by kind, for the leak tests. The GIL protects them. */
enum {
    LIVE_DEVICE,
    LIVE_CONTEXT,
    LIVE_QUEUE,
    LIVE_MEM,
    LIVE_SAMPLER,
    LIVE_PROGRAM,
    LIVE_KERNEL,
    LIVE_EVENT,
    LIVE_SVM,
    LIVE_KINDS
};
extern long ocl_live[LIVE_KINDS];

/* Releases a handle in a dealloc. The status is ignored, as there is no caller to report it to.
 * Does nothing in a forked child. */
#define CL_RELEASE(kind, fn, handle)          \
    do {                                      \
        cl_int release_status_ = CL_SUCCESS;  \
        CL_CALL(release_status_, fn, handle); \
        (void)release_status_;                \
        ocl_live[kind]--;                     \
    } while (0)

/* Loads the driver unless it is loaded. Returns -1 with an exception that lists what was tried. */
int ocl_driver_ready(State *state);
extern void (*ocl_when_ready)(void); /* called once, when it has been loaded; NULL: nothing */
/* An extension function of one platform, or NULL. */
void *ocl_extension_function(cl_platform_id platform, const char *name);
/* Whether the table has an extension's function (FN_clX) for a platform; if the library lacks it,
 * the platform is asked. Each platform answers with its own function, so one found that way is
 * valid only for that platform, until another platform's replaces it. */
int ocl_extension_ready(cl_platform_id platform, int fn);
void ocl_extension_forget(int fn);

#endif
