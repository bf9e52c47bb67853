/* profiler.c - switching a profiler on and off: there is none, and programs may say so at any
 * time. */
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
