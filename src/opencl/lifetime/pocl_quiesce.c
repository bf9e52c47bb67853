/* pocl_quiesce.c - stops PoCL's threads while commands are made to fail.
 *
 * When a user event fails, PoCL fails the commands that wait for it one by one. For a moment such
 * a command has nothing left to wait for but has not failed yet, and nobody has it locked. If the
 * last other event that it waits for completes in that moment, a PoCL thread starts the command
 * while it is being destroyed, and the process crashes. The same happens if another thread
 * enqueues a command or sets another user event in that moment.
 *
 * So no command may complete in that moment: each of PoCL's threads gets a native kernel that
 * blocks until the failing is over. Threads that enqueue commands or set events are kept out by
 * the GIL, which pygpu holds around such calls on PoCL.
 *
 * The calls here bypass CL_CALL: the program did not request them, so no fault is injected, and if
 * one fails, only the protection is lost. */
#include "common/pthread_compat.h"
#include "opencl/context.h"
#include "opencl/lifetime/gil_release.h"
#include "opencl/lifetime/pocl_quiesce.h"
#include "opencl/opencl.h"

#include <stdlib.h>

#define SLICE_MS        20
#define EXIT_SECONDS    2
#define GIVE_UP_SECONDS 30 /* how long a PoCL thread waits for the others and the GIL */

typedef struct {
    cl_uint arrived, users; /* under lock; the last user frees the struct */
    int over;               /* under lock: the threads may continue */
    int begun;              /* under lock: all have arrived, so they must wait for over */
    int broken;             /* under lock: one thread gave up waiting */
    unsigned long caller;
} Gathering;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static Gathering *current; /* GIL held */

/* The device, context and queue for the native kernels. The device has all of PoCL's threads; for
 * another device, the three are made anew. GIL held. */
static cl_device_id thread_device;
static cl_context thread_context;
static cl_command_queue thread_queue;
static cl_uint n_threads;

static void release_gathering(Gathering *self) { /* lock held; releases it */
    int last = --self->users == 0;
    pthread_mutex_unlock(&lock);
    if (last) {
        PyMem_RawFree(self);
    }
}

/* Runs in each of PoCL's threads; for PoCL's device without threads, in the caller's. */
static void CL_CALLBACK park_thread(void *arguments) {
    Gathering *self = *(Gathering **)arguments;
    double end = pg_seconds() + GIVE_UP_SECONDS;
    pthread_mutex_lock(&lock);
    self->arrived++;
    pthread_cond_broadcast(&changed);
    while (!self->over && PyThread_get_thread_ident() != self->caller) {
        pg_cond_wait_ms(&changed, &lock, 1000);
        if (!self->over && !self->begun && pg_seconds() > end) {
            self->broken = 1;
            break;
        }
    }
    release_gathering(self);
}

static cl_ulong device_number(cl_device_id device, cl_device_info param) {
    cl_ulong value = 0; /* zeroed: the answer may be shorter */
    return cl.clGetDeviceInfo(device, param, sizeof value, &value, NULL) == CL_SUCCESS ? value : 0;
}

static int available(void) {
    return !(pg_trap & PG_TRAP_FORKED) && cl.clGetDeviceInfo != NULL &&
           cl.clCreateContext != NULL && cl.clCreateCommandQueue != NULL &&
           cl.clEnqueueNativeKernel != NULL && cl.clFlush != NULL && cl.clReleaseContext != NULL &&
           cl.clReleaseCommandQueue != NULL;
}

cl_device_id ocl_quiesce_device(Context *context) {
    if (!available() || !(context->devices[0]->platform->quirks & OCL_QUIRK_FAILURES_RACE)) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < context->n_devices; i++) {
        cl_device_id device = context->devices[i]->id, parent;
        if (!(device_number(device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU)) {
            continue;
        }
        while ((parent = (cl_device_id)(uintptr_t)device_number(device, CL_DEVICE_PARENT_DEVICE)) !=
               NULL) {
            device = parent;
        }
        return device;
    }
    return NULL;
}

static int prepare_queue(cl_device_id device) {
    if (thread_device == device) {
        return 1;
    }
    if (thread_queue != NULL) {
        cl.clReleaseCommandQueue(thread_queue);
        cl.clReleaseContext(thread_context);
        thread_queue = NULL;
    }
    thread_device = NULL;
    cl_int status = CL_SUCCESS;
    n_threads = (cl_uint)device_number(device, CL_DEVICE_MAX_COMPUTE_UNITS);
    if (n_threads == 0 ||
        !(device_number(device, CL_DEVICE_EXECUTION_CAPABILITIES) & CL_EXEC_NATIVE_KERNEL) ||
        !(device_number(device, CL_DEVICE_QUEUE_PROPERTIES) &
          CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)) {
        return 0;
    }
    thread_context = cl.clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    if (status != CL_SUCCESS || thread_context == NULL) {
        return 0;
    }
    thread_queue = cl.clCreateCommandQueue(thread_context, device,
                                           CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &status);
    if (status != CL_SUCCESS || thread_queue == NULL) {
        cl.clReleaseContext(thread_context);
        thread_queue = NULL;
        return 0;
    }
    thread_device = device;
    return 1;
}

/* Sends a native kernel to each thread. Returns 0 on failure. */
static int start_parking(Gathering *self) {
    for (cl_uint i = 0; i < n_threads; i++) {
        void *argument = self;
        pthread_mutex_lock(&lock);
        self->users++;
        pthread_mutex_unlock(&lock);
        if (cl.clEnqueueNativeKernel(thread_queue, park_thread, &argument, sizeof argument, 0, NULL,
                                     NULL, 0, NULL, NULL) != CL_SUCCESS) {
            pthread_mutex_lock(&lock);
            self->users--;
            pthread_mutex_unlock(&lock);
            return 0;
        }
    }
    return cl.clFlush(thread_queue) == CL_SUCCESS;
}

/* Call without the GIL. Waits one time slice for the threads to arrive. */
static void await_arrivals(Gathering *self) {
    pthread_mutex_lock(&lock);
    if (self->arrived < n_threads) {
        pg_cond_wait_ms(&changed, &lock, SLICE_MS);
    }
    pthread_mutex_unlock(&lock);
}

int ocl_quiesce_begin(cl_device_id device, double seconds, int interruptible) {
    double end = pg_seconds() + seconds;
    if (device == NULL || !available()) {
        return 0;
    }
    while (current != NULL) { /* by another thread: two at a time would wait for each other */
        if (pg_seconds() > end) {
            return 0;
        }
        Py_BEGIN_ALLOW_THREADS
        pg_sleep_us(100);
        Py_END_ALLOW_THREADS
    }
    Gathering *self = prepare_queue(device) ? PyMem_RawCalloc(1, sizeof *self) : NULL;
    if (self == NULL) {
        return 0;
    }
    self->users = 1;
    self->caller = PyThread_get_thread_ident();
    current = self;
    int waiting = start_parking(self), result = 0;
    while (waiting) {
        Py_BEGIN_ALLOW_THREADS
        await_arrivals(self);
        Py_END_ALLOW_THREADS
        pthread_mutex_lock(&lock);
        self->begun = self->arrived == n_threads && !self->broken;
        result = self->begun;
        pthread_mutex_unlock(&lock);
        waiting = !result && pg_seconds() < end;
        if (waiting && interruptible && PyErr_CheckSignals() < 0) {
            waiting = 0;
            result = -1;
        }
    }
    if (result != 1) {
        ocl_quiesce_end();
    }
    return result;
}

void ocl_quiesce_end(void) {
    Gathering *self = current;
    current = NULL;
    pthread_mutex_lock(&lock);
    self->over = 1;
    pthread_cond_broadcast(&changed);
    release_gathering(self);
}

/* ---- the end of the process ------------------------------------------------------------------ */

/* PoCL compiles a kernel in one of its threads when the kernel first runs. Nothing waits for that
 * at exit, when LLVM is destroyed under it. So before that, the threads are stopped for good once
 * they have finished their current work. */
static cl_device_id last_device; /* GIL held */

void ocl_quiesce_register(Context *context) {
    if (last_device == NULL) {
        last_device = ocl_quiesce_device(context);
    }
}

static double patience = EXIT_SECONDS; /* of the final stop */

static int park_forever(void) { /* after Python's finalization; returns 0 if a thread has not
                                 * arrived */
    Gathering *self = current == NULL && available() && prepare_queue(last_device)
                          ? PyMem_RawCalloc(1, sizeof *self)
                          : NULL;
    if (self == NULL) {
        return 1;
    }
    self->users = 1;
    self->begun = 1; /* the threads must not give up */
    self->caller = PyThread_get_thread_ident();
    double end = pg_seconds() + patience;
    int waiting = start_parking(self);
    while (waiting && pg_seconds() < end) {
        await_arrivals(self);
        pthread_mutex_lock(&lock);
        waiting = self->arrived < n_threads;
        pthread_mutex_unlock(&lock);
    }
    return !waiting;
}

#ifdef __GLIBC__
static void on_process_exit(int status, void *arg) {
    if (!park_forever()) {
        ocl_exit_immediately(status, arg);
    }
}
#else
static void on_process_exit(void) {
    (void)park_forever();
}
#endif

void ocl_quiesce_at_exit(void) {
    if (last_device == NULL) {
        return;
    }
    double end = pg_seconds() + EXIT_SECONDS;
    if (ocl_quiesce_begin(last_device, EXIT_SECONDS, 0) >
        0) { /* compilations have completed; release the threads, as the rest of Python's exit may
              * need PoCL */
        ocl_quiesce_end();
    } else if (pg_seconds() >= end) { /* a long kernel is running: do not wait for it again */
        patience = 0.1;
    }
    /* runs before the handlers that the driver's libraries have registered so far */
#ifdef __GLIBC__
    (void)on_exit(on_process_exit, NULL);
#else
    (void)atexit(on_process_exit);
#endif
}
