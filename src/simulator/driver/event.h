/* event.h - recordings of events. */
#ifndef PYGPU_SIM_EVENT_H
#define PYGPU_SIM_EVENT_H

#include <stdatomic.h>

#include "simulator/sim.h"

typedef struct SimStream SimStream;

/* One recording of an event: a position in a stream, and the time at which it was reached. */
typedef struct SimMark {
    _Atomic int references;
    SimStream *stream;     /* counted reference */
    uint64_t sequence;     /* 0 until queued */
    _Atomic uint64_t time; /* [ns]; 0: not reached, or skipped */
} SimMark;
void sim_mark_drop(SimMark *mark);

#endif
