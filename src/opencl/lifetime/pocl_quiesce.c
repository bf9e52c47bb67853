/* pocl_quiesce.c - PoCL's threads held still, so that commands can be failed.
 *
 * When a user event fails, PoCL fails what waits for it, command by command. For a moment such a
 * command has nothing left to wait for and has not failed yet, and nobody has it locked: if the
 * last of the other events that it waits for completes just then, a thread of PoCL's starts the
 * command while it is being taken apart, and the process ends. The same happens if another thread
 * enqueues a command, or decides another user event, in that moment.
 *
 * So no command may end in that moment: each of PoCL's threads gets a native kernel that waits
 * until the failing is over. Those that enqueue or decide in the meantime are kept off by the GIL,
 * which pygpu keeps around such calls on PoCL.
 *
 * The calls here bypass CL_CALL: nobody asked for them, so no fault is injected, and one that fails
 * costs only the
 * protection. */
#include "common/pthread_compat.h"
#include "opencl/context.h"
#include "opencl/lifetime/gil_release.h"
#include "opencl/lifetime/pocl_quiesce.h"
#include "opencl/opencl.h"

#include <stdlib.h>

#define SLICE_MS     20
#define EXIT_SECONDS 2
#define GIVE_UP_SECONDS \
    30 /* how long a thread of PoCL waits for the others, and for the GIL to be had */

typedef struct {
    cl_uint arrived, users; /* under lock; the last user frees it */
    int over;               /* under lock: the threads may go on */
    int begun;              /* under lock: they must not go on before it is over */
    int broken;             /* under lock: one has */
    unsigned long caller;
} Gathering;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static Gathering *current; /* GIL held */

/* The place where the native kernels run: a device with all of PoCL's threads, made anew for
 * another one. GIL held. */
static cl_device_id place;
static cl_context place_context;
static cl_command_queue place_queue;
static cl_uint n_threads;

static void leave(Gathering *self) { /* lock held, and given up */
    int last = --self->users == 0;
    pthread_mutex_unlock(&lock);
    if (last) {
        PyMem_RawFree(self);
    }
}

/* Runs in each of PoCL's threads; or in the caller's, for PoCL's device without threads. */
static void CL_CALLBACK stand(void *arguments) {
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
    leave(self);
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

static int prepare_place(cl_device_id device) {
    if (place == device) {
        return 1;
    }
    if (place_queue != NULL) {
        cl.clReleaseCommandQueue(place_queue);
        cl.clReleaseContext(place_context);
        place_queue = NULL;
    }
    place = NULL;
    cl_int status = CL_SUCCESS;
    n_threads = (cl_uint)device_number(device, CL_DEVICE_MAX_COMPUTE_UNITS);
    if (n_threads == 0 ||
        !(device_number(device, CL_DEVICE_EXECUTION_CAPABILITIES) & CL_EXEC_NATIVE_KERNEL) ||
        !(device_number(device, CL_DEVICE_QUEUE_PROPERTIES) &
          CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)) {
        return 0;
    }
    place_context = cl.clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    if (status != CL_SUCCESS || place_context == NULL) {
        return 0;
    }
    place_queue = cl.clCreateCommandQueue(place_context, device,
                                          CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &status);
    if (status != CL_SUCCESS || place_queue == NULL) {
        cl.clReleaseContext(place_context);
        place_queue = NULL;
        return 0;
    }
    place = device;
    return 1;
}

/* Asks the threads to come; 0 if that could not be done. */
static int call_together(Gathering *self) {
    for (cl_uint i = 0; i < n_threads; i++) {
        void *argument = self;
        pthread_mutex_lock(&lock);
        self->users++;
        pthread_mutex_unlock(&lock);
        if (cl.clEnqueueNativeKernel(place_queue, stand, &argument, sizeof argument, 0, NULL, NULL,
                                     0, NULL, NULL) != CL_SUCCESS) {
            pthread_mutex_lock(&lock);
            self->users--;
            pthread_mutex_unlock(&lock);
            return 0;
        }
    }
    return cl.clFlush(place_queue) == CL_SUCCESS;
}

/* Without the GIL: one slice of waiting until all have come. */
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
    while (current != NULL) { /* another thread's: two at a time would wait for each other */
        if (pg_seconds() > end) {
            return 0;
        }
        Py_BEGIN_ALLOW_THREADS
        pg_sleep_us(100);
        Py_END_ALLOW_THREADS
    }
    Gathering *self = prepare_place(device) ? PyMem_RawCalloc(1, sizeof *self) : NULL;
    if (self == NULL) {
        return 0;
    }
    self->users = 1;
    self->caller = PyThread_get_thread_ident();
    current = self;
    int waiting = call_together(self), result = 0;
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
    leave(self);
}

/* ---- the end of the process ------------------------------------------------------------------ */

/* PoCL compiles a kernel in one of its threads when it first runs, and nobody waits for that at
 * exit: LLVM is taken apart under it. So the threads are called together for ever before that, once
 * they are done with what they are at. */
static cl_device_id last_device; /* GIL held */

void ocl_quiesce_note(Context *context) {
    if (last_device == NULL) {
        last_device = ocl_quiesce_device(context);
    }
}

static double patience = EXIT_SECONDS; /* at the end */

static int stand_for_ever(void) { /* Python is gone. 0: a thread has not come */
    Gathering *self = current == NULL && available() && prepare_place(last_device)
                          ? PyMem_RawCalloc(1, sizeof *self)
                          : NULL;
    if (self == NULL) {
        return 1;
    }
    self->users = 1;
    self->begun = 1; /* nobody is to give up */
    self->caller = PyThread_get_thread_ident();
    double end = pg_seconds() + patience;
    int waiting = call_together(self);
    while (waiting && pg_seconds() < end) {
        await_arrivals(self);
        pthread_mutex_lock(&lock);
        waiting = self->arrived < n_threads;
        pthread_mutex_unlock(&lock);
    }
    return !waiting;
}

#ifdef __GLIBC__
static void at_the_end(int status, void *arg) {
    if (!stand_for_ever()) {
        ocl_leave_at_once(status, arg);
    }
}
#else
static void at_the_end(void) {
    (void)stand_for_ever();
}
#endif

void ocl_quiesce_at_exit(void) {
    if (last_device == NULL) {
        return;
    }
    double end = pg_seconds() + EXIT_SECONDS;
    if (ocl_quiesce_begin(last_device, EXIT_SECONDS, 0) >
        0) { /* what is being compiled is done; the rest of Python's exit may need PoCL */
        ocl_quiesce_end();
    } else if (pg_seconds() >=
               end) { /* a long kernel runs, which is not waited for a second time */
        patience = 0.1;
    }
    /* called before what the driver's libraries have registered up to now */
#ifdef __GLIBC__
    (void)on_exit(at_the_end, NULL);
#else
    (void)atexit(at_the_end);
#endif
}
