/* bench.h - what the C programs share: the driver loaded at run time, the choice of a device, a clock, and questions on stdin.
 *
 * Each program is started as PROGRAM LIBRARY DEVICE [FILE]. With DEVICE "list" it prints one line for each device, "PLATFORM<tab>DEVICE".
 * Otherwise it reads one question a line and prints the answer's numbers on one line, so that benchmarks/common.py can ask it in turns
 * with the Python libraries. DEVICE is "PLATFORM<tab>DEVICE<tab>RANK": loaders may list different platforms, so a device is known by its
 * names, and by its rank (from 0) among those of the same names.
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

static void open_device(cl_platform_id platform)
{
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
    cl_int status;
    context = cl.clCreateContext(properties, 1, &device, NULL, NULL, &status);
    CHECK(status);
    queue = cl.clCreateCommandQueue(context, device, 0, &status);
    CHECK(status);
}

/* Walks over all devices; opens the one WANTED, or prints all if it is "list". */
static void choose_device(const char *wanted)
{
    cl_platform_id platforms[16];
    cl_uint n_platforms = 0;
    const char *rank_text = strrchr(wanted, '\t');
    int list = strcmp(wanted, "list") == 0, rank = rank_text != NULL ? atoi(rank_text + 1) : 0;
    size_t length = rank_text != NULL ? (size_t)(rank_text - wanted) : strlen(wanted);
    CHECK(cl.clGetPlatformIDs(16, platforms, &n_platforms));
    for (cl_uint p = 0; p < n_platforms && p < 16; p++) {
        cl_device_id devices[64];
        cl_uint n_devices = 0;
        (void)cl.clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 64, devices, &n_devices); /* a platform may have none */
        for (cl_uint d = 0; d < n_devices && d < 64; d++) {
            char platform_name[256] = "", device_name[256] = "", name[520];
            CHECK(cl.clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof platform_name, platform_name, NULL));
            CHECK(cl.clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof device_name, device_name, NULL));
            (void)snprintf(name, sizeof name, "%s\t%s", platform_name, device_name);
            if (list) {
                printf("%s\n", name);
            } else if (strlen(name) == length && strncmp(name, wanted, length) == 0 && rank-- == 0) {
                device = devices[d];
                open_device(platforms[p]);
                return;
            }
        }
    }
    if (!list) {
        fail("no such device", n_platforms);
    }
}

/* What main() begins with. */
static void start(int argc, char **argv)
{
    if (argc < 3) {
        fail("usage: PROGRAM LIBRARY DEVICE|list [FILE]", argc);
    }
    load(argv[1]);
    choose_device(argv[2]);
    if (strcmp(argv[2], "list") == 0) {
        exit(0);
    }
}

#endif
