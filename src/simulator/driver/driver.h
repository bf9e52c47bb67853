/* driver.h - what every call of the driver begins with.
 *
 * A call begins with SIM_CALL, takes references to what its handles stand for (HELD variables give
 * them back at the end of the block, whatever the way out) and either answers at once or queues a
 * SimWork on a stream. Streams run behind the caller on threads of queue.c. Lock order: context,
 * then memory; nothing is waited for and no callback is called while a lock is held. */
#ifndef PYGPU_SIM_DRIVER_H
#define PYGPU_SIM_DRIVER_H

#include "simulator/sim.h"

#include <stdatomic.h>

/* Definitions have the names of the rows, exports their symbols: a definition that differs from its
 * row does not compile, a row without one does not link (symbols.c). */
#define CU_FN(since, name, symbol, parameters) SIM_EXPORT CUresult name parameters __asm__(symbol);
#include "cuda/api/cuda.fn"

enum {
#define CU_FN(since, name, symbol, parameters) ROW_##name,
#include "cuda/api/cuda.fn"
    ROW_COUNT
};

/* Not zero: why calls of a row fail. One byte to read for each call. */
typedef enum { CLOSED_NOT = 0, CLOSED_HIDDEN, CLOSED_FORKED, CLOSED_BEFORE_INIT } SimClosed;
extern _Atomic unsigned char sim_closed[ROW_COUNT];
extern _Thread_local bool
    sim_in_callback; /* a host function or callback runs in this thread: it may not call CUDA */

CUresult sim_refuse(int row); /* the answer of a closed row */
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
