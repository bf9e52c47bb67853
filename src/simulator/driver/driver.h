/* driver.h - the common beginning of the driver's calls.
 *
 * A call begins with SIM_CALL and takes references to the objects of its handles. HELD variables
 * drop these at the end of their block, however it is left. The call then either answers at once
 * or queues a SimWork on a stream. Threads of queue.c run the streams asynchronously. Lock order:
 * context, then memory. While a lock is held, nothing waits and no callback runs. */
#ifndef PYGPU_SIM_DRIVER_H
#define PYGPU_SIM_DRIVER_H

#include "simulator/sim.h"

#include <stdatomic.h>

/* Definitions use the names in the rows, exports the symbols. So a definition that differs from
 * its row does not compile, and a row without a definition does not link (symbols.c). */
#define CU_FN(since, name, symbol, parameters) SIM_EXPORT CUresult name parameters __asm__(symbol);
#include "cuda/api/cuda.fn"

enum {
#define CU_FN(since, name, symbol, parameters) ROW_##name,
#include "cuda/api/cuda.fn"
    ROW_COUNT
};

/* If not zero, why calls of a row fail; a single byte, since each call reads it. */
typedef enum { CLOSED_NOT = 0, CLOSED_HIDDEN, CLOSED_FORKED, CLOSED_BEFORE_INIT } SimClosed;
extern _Atomic unsigned char sim_closed[ROW_COUNT];
extern _Thread_local bool
    sim_in_callback; /* this thread runs a host function or callback, which may not call CUDA */

CUresult sim_refuse(int row); /* the result of a closed row */
void sim_fail_nothing(void);
CUresult sim_fail_with(const SimError *error);

#define SIM_CALL(name)                                                                           \
    do {                                                                                         \
        if (__builtin_expect(!sim_thread_ready(), 0)) {                                          \
            return CUDA_ERROR_OUT_OF_MEMORY;                                                     \
        }                                                                                        \
        sim_fail_nothing();                                                                      \
        if (atomic_load_explicit(&sim_closed[ROW_##name], memory_order_relaxed) != CLOSED_NOT || \
            sim_in_callback) {                                                                   \
            return sim_refuse(ROW_##name);                                                       \
        }                                                                                        \
    } while (0)

#define SIM_NOT_NULL(pointer)                                               \
    do {                                                                    \
        if ((pointer) == NULL) {                                            \
            return sim_fail(CUDA_ERROR_INVALID_VALUE, #pointer " is NULL"); \
        }                                                                   \
    } while (0)

#endif
