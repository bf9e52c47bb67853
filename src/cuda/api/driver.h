/* driver.h - the table of the driver's functions, and the macros that call them. */
#ifndef PYGPU_CUDA_DRIVER_H
#define PYGPU_CUDA_DRIVER_H

#include "common/driver_table.h"
#include "cuda/api/cu_api.h"

typedef struct State State;

typedef struct {
#define CU_FN(since, name, symbol, params) CUresult(CUDA_CALL_CONVENTION *name) params;
#define CU_OTHER(since, name, symbol, params)
#include "cuda/api/cuda.fn"
} CuTable;

enum {
#define CU_FN(since, name, symbol, params) FN_##name,
#define CU_OTHER(since, name, symbol, params)
#include "cuda/api/cuda.fn"
    FN_COUNT_DRIVER,
    FN_BEFORE_NVRTC = FN_COUNT_DRIVER - 1, /* then NVRTC's functions, for the traps; nvrtc.c has
                                            * their table */
#define NVRTC_FN(required, name, params) FN_##name,
#define NVRTC_OTHER(required, name, params)
#include "cuda/api/nvrtc.fn"
    FN_COUNT
};

extern CuTable cu; /* NULL where the driver lacks a function; all NULL before first use */
extern long cud_call_counts[FN_COUNT];
extern PgDriver cud_driver;
extern const PgFunction cud_functions[FN_COUNT]; /* the driver's functions, then NVRTC's */

/* Makes a call. Between BEGIN and END, which release and reacquire the GIL, there is nothing but
 * this one call. */
#define CU_CALL(status, fn, ...)                                                               \
    ((void)((PG_UNLIKELY(pg_trap) && pg_trapped(#fn, &cud_call_counts[FN_##fn], &(status))) || \
            (PG_UNLIKELY(cu.fn == NULL) ? ((status) = PG_STATUS_MISSING, 0)                    \
                                        : ((status) = cu.fn(__VA_ARGS__), 0))))

/* The same without the GIL. */
#define CU_NOGIL(status, ...)         \
    do {                              \
        Py_BEGIN_ALLOW_THREADS        \
        CU_CALL(status, __VA_ARGS__); \
        Py_END_ALLOW_THREADS          \
    } while (0)

/* ---- calls that may have to wait in the driver ----------------------------------------------- */

/* These calls normally take a microsecond, so they keep the GIL. But a call takes as long as the
 * device needs if it finds the driver's queue full or another thread waiting for space in it, and
 * it never returns if the queue waits for something that needs the GIL: a Python function that a
 * stream is to call. So the GIL is released while such a function is pending, and when so much was
 * queued since the last wait that the queue, which holds 1024 launches, may be full. (Work queued
 * by other libraries is not counted.) */
extern long cud_host_calls; /* number of Python functions that a stream may be about to call:
                             * host_call.c */
extern unsigned cud_queued; /* number of commands since the last wait */
extern CUcontext cud_idle;  /* the context in which nothing was queued since its default stream was
                             * seen idle; NULL: none */
#define CUD_QUEUE_MANY 900
void cud_queue_waited(double seconds); /* reports how long such a call took: a short one shows that
                                        * the queue is not full yet */

/* CU_CALL with the GIL held, for calls that may have to wait like that: _QUEUED if it adds work to
 * a stream, _BESIDE otherwise. Other threads may run meanwhile, so whatever the call uses must be
 * kept alive, and checked again afterwards. */
#define CU_QUEUED(status, fn, ...)          \
    do {                                    \
        CU_COUNT_QUEUED();                  \
        CU_BESIDE(status, fn, __VA_ARGS__); \
    } while (0)
#define CU_COUNT_QUEUED() ((void)(cud_idle = NULL, cud_queued++))
#define CU_BESIDE(status, fn, ...)                                            \
    do {                                                                      \
        if (PG_UNLIKELY(cud_host_calls > 0 || cud_queued > CUD_QUEUE_MANY)) { \
            double begin_##fn = pg_seconds(), end_##fn;                       \
            Py_BEGIN_ALLOW_THREADS                                            \
            CU_CALL(status, fn, __VA_ARGS__);                                 \
            end_##fn = pg_seconds();                                          \
            Py_END_ALLOW_THREADS                                              \
            cud_queue_waited(end_##fn - begin_##fn);                          \
        } else {                                                              \
            CU_CALL(status, fn, __VA_ARGS__);                                 \
        }                                                                     \
    } while (0)

/* Live handles by kind, for the leak tests. The GIL protects them. */
enum {
    LIVE_CONTEXT,
    LIVE_MODULE,
    LIVE_STREAM,
    LIVE_EVENT,
    LIVE_MEM,
    LIVE_HOST,
    LIVE_ARRAY,
    LIVE_TEXTURE,
    LIVE_GRAPH,
    LIVE_LINK,
    LIVE_POOL,
    LIVE_KINDS
};
extern long cud_live[LIVE_KINDS];

/* Loads and initializes the driver if necessary. Returns -1 with an exception that lists what was
 * tried. */
int cud_driver_ready(State *state);
extern void (*cud_when_ready)(void); /* called once, when it has been loaded; NULL: nothing */
int cud_driver_version(
    void); /* as from cuDriverGetVersion: 12040 is 12.4; 0 before the driver is loaded */
/* The simulator's details about the latest failure in this thread; "" on a real driver. */
const char *cud_detail(void);

#endif
