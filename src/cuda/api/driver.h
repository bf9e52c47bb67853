/* driver.h - the driver's functions, and the calls of them. */
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
    FN_BEFORE_NVRTC = FN_COUNT_DRIVER - 1, /* NVRTC's, for the traps: nvrtc.c has the table */
#define NVRTC_FN(required, name, params) FN_##name,
#define NVRTC_OTHER(required, name, params)
#include "cuda/api/nvrtc.fn"
    FN_COUNT
};

extern CuTable cu; /* NULL where the driver lacks a function, all NULL before the first use */
extern long cud_call_counts[FN_COUNT];
extern PgDriver cud_driver;
extern const PgFunction cud_functions[FN_COUNT]; /* the driver's, then NVRTC's */

/* Makes a call. Nothing but this one call stands between BEGIN and END of a released GIL. */
#define CU_CALL(status, fn, ...)                                                               \
    ((void)((PG_UNLIKELY(pg_trap) && pg_trapped(#fn, &cud_call_counts[FN_##fn], &(status))) || \
            (PG_UNLIKELY(cu.fn == NULL) ? ((status) = PG_STATUS_MISSING, 0)                    \
                                        : ((status) = cu.fn(__VA_ARGS__), 0))))

/* ---- calls that may stand behind others ------------------------------------------------------ */

/* A call keeps the GIL if it takes a microsecond. It takes as long as the device likes when it
 * finds the driver's queue full, or another thread that waits for room in it; and for ever, if what
 * the queue waits for needs the GIL: a Python function that a stream is to call. So the GIL is
 * given up when such a function is pending, and when so much was queued since somebody waited that
 * the queue, which holds 1024 launches, may be full (what other libraries queue is not seen). */
extern long cud_host_calls; /* Python functions that a stream may be about to call: host_call.c */
extern unsigned cud_queued; /* commands since somebody waited */
extern CUcontext cud_idle;  /* nothing was queued in this context since its default stream was seen
                               idle; NULL: in none */
#define CUD_QUEUE_MANY 900
void cud_queue_waited(double seconds); /* that long such a call took: a short one says that the
                                          queue is not full yet */

/* CU_CALL with the GIL held for what may so be held up: _QUEUED if it puts something into a stream,
 * _BESIDE otherwise. Other threads may run meanwhile: what the call uses must be kept, and looked
 * at again after it. */
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

/* Live handles by kind, for the leak tests; changed only with the GIL held. */
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

/* Loads the driver and initializes it if that has not been done; -1 with an exception that lists
 * what was tried. */
int cud_driver_ready(State *state);
extern void (*cud_when_ready)(void); /* called once, when it has been loaded; NULL: nothing */
int cud_driver_version(
    void); /* as cuDriverGetVersion: 12040 is 12.4; 0 before the driver is loaded */
/* The simulator's last words on what went wrong in this thread; "" on a real driver. */
const char *cud_detail(void);

#endif
