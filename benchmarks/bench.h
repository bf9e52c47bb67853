/* bench.h - what the C programs share: the driver loaded at run time, the choice of a device, a clock, and questions on stdin.
 *
 * Each program is started as PROGRAM LIBRARY DEVICE [FILE]. With DEVICE "list" it prints one line for each device, "PLATFORM<tab>DEVICE".
 * Otherwise it reads one question a line and prints the answer's numbers on one line, so that benchmarks/common.py can ask it in turns
 * with the Python libraries. DEVICE counts over the devices of all platforms.
 */
#ifndef PYGPU_BENCH_H
#define PYGPU_BENCH_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cl_api.h"

static struct {
#define CL_FN(since, result, name, params) result(CL_API_CALL *name) params;
#include "cl.fn"
#undef CL_FN
} cl;

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;

static void fail(const char *what, long code)
{
    fprintf(stderr, "%s (%ld)\n", what, code);
    exit(1);
}

#define CHECK(call)                        \
    do {                                   \
        cl_int status_ = (call);           \
        if (status_ != CL_SUCCESS) {       \
            fail(#call, status_);          \
        }                                  \
    } while (0)

static double read_clock(clockid_t clock) /* ns */
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#define now() read_clock(CLOCK_MONOTONIC)
#define busy() read_clock(CLOCK_THREAD_CPUTIME_ID) /* processor time of the calling thread */

static void load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    if (library == NULL) {
        fail(dlerror(), 0);
    }
#define CL_FN(since, result, name, params) *(void **)&cl.name = dlsym(library, #name);
#include "cl.fn"
#undef CL_FN
}

/* Walks over all devices; opens number WANTED, or prints all if it is negative. */
static void choose_device(int wanted)
{
    cl_platform_id platforms[16];
    cl_uint n_platforms = 0;
    int number = 0;
    CHECK(cl.clGetPlatformIDs(16, platforms, &n_platforms));
    for (cl_uint p = 0; p < n_platforms && p < 16; p++) {
        cl_device_id devices[64];
        cl_uint n_devices = 0;
        (void)cl.clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 64, devices, &n_devices); /* a platform may have none */
        for (cl_uint d = 0; d < n_devices && d < 64; d++, number++) {
            if (wanted < 0) {
                char platform_name[256] = "", device_name[256] = "";
                CHECK(cl.clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof platform_name, platform_name, NULL));
                CHECK(cl.clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof device_name, device_name, NULL));
                printf("%s\t%s\n", platform_name, device_name);
            } else if (number == wanted) {
                cl_int status;
                device = devices[d];
                context = cl.clCreateContext(NULL, 1, &device, NULL, NULL, &status);
                CHECK(status);
                queue = cl.clCreateCommandQueue(context, device, 0, &status);
                CHECK(status);
                return;
            }
        }
    }
    if (wanted >= 0) {
        fail("no device of this number", wanted);
    }
}

/* What main() begins with. */
static void start(int argc, char **argv)
{
    if (argc < 3) {
        fail("usage: PROGRAM LIBRARY DEVICE|list [FILE]", argc);
    }
    load(argv[1]);
    if (strcmp(argv[2], "list") == 0) {
        choose_device(-1);
        exit(0);
    }
    choose_device(atoi(argv[2]));
}

#endif
