/* null_opencl.c - puts commands that cost nothing in front of the installed OpenCL library.
 *
 * What is defined here returns at once; every other function is the real library's, which this one is linked to, so that kernels, their
 * argument types and all limits are real. A launch measured through it is the cost of the caller alone. No command is executed.
 *
 * Use: PYGPU_OPENCL_LIBRARY=.../null_opencl.so for pygpu, LD_PRELOAD=.../null_opencl.so for a program that is linked to libOpenCL, and as
 * the library argument of the C programs here. Not thread-safe.
 *
 * Commands hand out one event for each context: a real one, complete from the start. It can be asked and waited for like any other,
 * is never released, and so costs nothing to release.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

#include "cl_api.h"

#define CL_FN(since, result, name, params) result CL_API_CALL name params;
#include "cl.fn"
#undef CL_FN

#define UNUSED __attribute__((unused))
#define WAITING cl_uint n_wait UNUSED, const cl_event *wait UNUSED, cl_event *event

enum { MAX_CONTEXTS = 16 };
static struct {
    cl_context context;
    cl_event event;
} done[MAX_CONTEXTS];
static int n_done;
static cl_command_queue last_queue;
static cl_event last_event;

static cl_event event_of(cl_command_queue queue)
{
    cl_context context = NULL;
    cl_int status = clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    for (int i = 0; i < n_done; i++) {
        if (done[i].context == context) {
            return done[i].event;
        }
    }
    if (status != CL_SUCCESS || n_done == MAX_CONTEXTS) {
        abort();
    }
    cl_event event = clCreateUserEvent(context, &status);
    if (status != CL_SUCCESS || clSetUserEventStatus(event, CL_COMPLETE) != CL_SUCCESS) {
        abort();
    }
    done[n_done].context = context;
    done[n_done++].event = event;
    return event;
}

static inline cl_int command(cl_command_queue queue, cl_event *event)
{
    if (event != NULL) {
        if (queue != last_queue) {
            last_event = event_of(queue);
            last_queue = queue;
        }
        *event = last_event;
    }
    return CL_SUCCESS;
}

cl_int CL_API_CALL clReleaseEvent(cl_event event)
{
    static cl_int(CL_API_CALL *release)(cl_event);
    if (event == last_event) {
        return CL_SUCCESS;
    }
    for (int i = 0; i < n_done; i++) {
        if (done[i].event == event) {
            return CL_SUCCESS;
        }
    }
    if (release == NULL) {
        *(void **)&release = dlsym(dlopen(REAL_LIBRARY, RTLD_LAZY), "clReleaseEvent");
    }
    return release(event);
}

cl_int CL_API_CALL clReleaseCommandQueue(cl_command_queue queue)
{
    static cl_int(CL_API_CALL *release)(cl_command_queue);
    if (queue == last_queue) {
        last_queue = NULL;                               /* the next queue may get this address in another context */
    }
    if (release == NULL) {
        *(void **)&release = dlsym(dlopen(REAL_LIBRARY, RTLD_LAZY), "clReleaseCommandQueue");
    }
    return release(queue);
}

cl_int CL_API_CALL clSetKernelArg(cl_kernel kernel UNUSED, cl_uint index UNUSED, size_t size UNUSED, const void *value UNUSED)
{
    return CL_SUCCESS;
}

cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel UNUSED, cl_uint dims UNUSED, const size_t *offset UNUSED,
                                          const size_t *global UNUSED, const size_t *local UNUSED, WAITING)
{
    return command(queue, event);
}

cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer UNUSED, cl_bool block UNUSED, size_t offset UNUSED,
                                       size_t size UNUSED, void *host UNUSED, WAITING)
{
    return command(queue, event);
}

cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer UNUSED, cl_bool block UNUSED, size_t offset UNUSED,
                                        size_t size UNUSED, const void *host UNUSED, WAITING)
{
    return command(queue, event);
}

cl_int CL_API_CALL clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from UNUSED, cl_mem to UNUSED, size_t from_offset UNUSED,
                                       size_t to_offset UNUSED, size_t size UNUSED, WAITING)
{
    return command(queue, event);
}

cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer UNUSED, const void *pattern UNUSED, size_t pattern_size UNUSED,
                                       size_t offset UNUSED, size_t size UNUSED, WAITING)
{
    return command(queue, event);
}

cl_int CL_API_CALL clFinish(cl_command_queue queue UNUSED) { return CL_SUCCESS; }
