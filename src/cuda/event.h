/* event.h - events. */
#ifndef PYGPU_CUDA_EVENT_H
#define PYGPU_CUDA_EVENT_H

#include "cuda/context.h"

typedef struct {
    CUD_HEAD
    CUevent handle;
    CUevent spare; /* see Stream's */
    Context *context;
    int owned;
    unsigned int flags;
} Event;

#endif
