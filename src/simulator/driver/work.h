/* work.h - pieces of work for a stream: kernels, copies, fills, callbacks. */
#ifndef PYGPU_SIM_WORK_H
#define PYGPU_SIM_WORK_H

#include <string.h>

#include "simulator/driver/handle.h"

typedef struct SimContext SimContext;
typedef struct SimFunction SimFunction;
typedef struct SimMark SimMark;
typedef struct SimProgram SimProgram;

/* A box of bytes on both sides. All memory is host memory, so arrays are boxes with a pitch as
 * well. */
typedef struct {
    uintptr_t to, from;
    size_t width, height, depth; /* [bytes], rows, slices */
    size_t to_pitch, to_slice, from_pitch, from_slice;
} SimBox;

typedef enum {
    WORK_EMPTY,
    WORK_KERNEL,
    WORK_COPY,
    WORK_SET,
    WORK_HOST,
    WORK_CALLBACK,
    WORK_RECORD,
    WORK_FREE,
    WORK_PROGRAM
} SimWorkKind;

#define SIM_INLINE_PARAMS 256

typedef struct SimWork {
    SimWorkKind kind;
    union {
        struct {
            SimFunction *function; /* counted */
            SimDim3 grid, block;
            size_t shared, n_bytes;
            bool cooperative;
            unsigned char
                *more; /* the arguments if they need more than the inline bytes, else NULL */
            _Alignas(16) unsigned char params[SIM_INLINE_PARAMS];
        } kernel;
        struct {
            SimBox box;
            SimObject *objects[2]; /* arrays that must stay alive until then, counted, or NULL */
            void *staging;         /* freed afterwards, or NULL */
        } copy;
        struct {
            uintptr_t to;
            size_t pitch, width, height; /* [bytes], elements, rows */
            unsigned value, element;     /* 1, 2 or 4 bytes */
        } set;
        struct {
            CUhostFn call;
            void *data;
        } host;
        struct {
            CUstreamCallback call;
            void *data;
            CUstream stream;
        } callback;
        SimMark *mark; /* counted */
        struct {
            uintptr_t base;
            unsigned long long id; /* of the block */
        } free;
        SimProgram *program; /* an instantiated graph, counted */
    };
} SimWork;

/* Runs the work in this thread. A failure is written into error. */
CUresult sim_work_run(SimWork *work, SimContext *context, SimOrigin origin, SimError *error);
/* Releases what it holds, whether it ran or not. */
void sim_work_clear(SimWork *work);
/* Moves the contents from one to the other. */
static inline void sim_work_move(SimWork *to, const SimWork *from) {
    if (from->kind == WORK_KERNEL) {
        memcpy(to, from,
               offsetof(SimWork, kernel.params) +
                   (from->kernel.more == NULL ? from->kernel.n_bytes : 0));
    } else {
        *to = *from;
    }
}
/* Makes a copy with its own references. */
CUresult sim_work_copy(SimWork *to, const SimWork *from);

/* Copies a box, in this thread. */
void sim_box_copy(const SimBox *box);

#endif
