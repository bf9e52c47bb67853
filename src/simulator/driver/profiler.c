/* profiler.c - calls that switch a profiler on and off. There is none, so they have no effect. */
#include "simulator/driver/context.h"
#include "simulator/driver/driver.h"
#include "simulator/driver/handle.h"

CUresult cuProfilerStart(void) {
    SIM_CALL(cuProfilerStart);
    HELD SimContext *context = NULL;
    return sim_context_current(&context);
}

CUresult cuProfilerStop(void) {
    SIM_CALL(cuProfilerStop);
    HELD SimContext *context = NULL;
    return sim_context_current(&context);
}
