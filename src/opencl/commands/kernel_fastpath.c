/* kernel_fastpath.c - the common launch: plain sizes, and arguments whose types match the kernel's
 * parameters exactly.
 *
 * It inspects everything before it changes anything. If anything needs more than a quick check, it
 * leaves the whole launch to kernel_call(). Argument values are kept as 8-byte words, compared
 * with what the driver already has, and set if they differ. No Python code runs before the command
 * is enqueued. */
#include "opencl/commands/blocking.h"
#include "opencl/device.h"
#include "opencl/event.h"
#include "opencl/lifetime/queue_idle.h"
#include "opencl/objects/kernel.h"
#include "opencl/opencl.h"
#include "opencl/queue.h"

#define MAX_ARGS 24

typedef struct {
    cl_uint n;
    size_t global[3], local[3];
} Sizes;

/* Sizes that are certainly valid: 1 to 3 of them, all within the device's limits, at most 2**32
 * work-items. */
static inline int plain_sizes(const Queue *queue, PyObject *global, PyObject *local, Sizes *out) {
    const DeviceLimits *limits = &queue->device->limits;
    Py_ssize_t n;
    size_t total = 1, group = 1;
    if (!PyTuple_CheckExact(global) || (n = PyTuple_GET_SIZE(global)) < 1 || n > 3 ||
        !limits->queried || n > (Py_ssize_t)limits->max_work_item_dimensions) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        Py_ssize_t size = kernel_small_int(PyTuple_GET_ITEM(global, i));
        if (size < 1 || total > UINT32_MAX) {
            return 0;
        }
        out->global[i] = (size_t)size;
        total *= (size_t)size; /* no overflow: below 2**32 * 2**30 */
    }
    out->n = (cl_uint)n;
    if (total > UINT32_MAX) {
        return 0;
    }
    if (local == Py_None) {
        return 1;
    }
    if (!PyTuple_CheckExact(local) || PyTuple_GET_SIZE(local) != n) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        Py_ssize_t size = kernel_small_int(PyTuple_GET_ITEM(local, i));
        if (size < 1 || (size_t)size > limits->max_work_item_sizes[i]) {
            return 0;
        }
        out->local[i] = (size_t)size;
        group *= (size_t)size;
        if (group > limits->max_work_group_size) {
            return 0;
        }
    }
    return 1;
}

/* Sets the arguments that differ from the driver's, with the lock held; see kernel_set(). old
 * receives references to drop later. */
static inline cl_int set_words(Kernel *self, PyObject *const *args, const cl_long *words,
                               cl_uint *failed, PyObject **old, int *n_old) {
    cl_kernel handle = kernel_handle(self);
    for (cl_uint i = 0; i < self->n_args; i++) {
        ArgSlot *slot = &self->slots[i];
        PyObject *hold = slot->kind == ARG_GLOBAL ? args[i] : NULL;
        if (slot->now.word == words[i] && slot->held == hold && slot->set == SET_VALUE &&
            slot->set_size == slot->size && !self->shared_handle) {
            slot->by_call = 1;
            continue;
        }
        cl_int status = CL_SUCCESS;
        CL_CALL(status, clSetKernelArg, handle, i, slot->size, &words[i]);
        if (PG_UNLIKELY(status != CL_SUCCESS)) { /* the driver's current value is unknown */
            slot->set = SET_NOTHING;
            *failed = i;
            return status;
        }
        if (slot->held != NULL) {
            old[(*n_old)++] = slot->held;
        }
        if (PG_UNLIKELY(self->holds_nothing) && hold != NULL) { /* as in kernel_set() */
            slot->held = NULL;
            slot->set = SET_NOTHING;
            continue;
        }
        slot->held = Py_XNewRef(hold);
        slot->now.word = words[i];
        slot->set = SET_VALUE;
        slot->set_size = slot->size;
        slot->by_call = 1;
    }
    return CL_SUCCESS;
}

/* A cheap test: ocl_queue_may_block() needs to be called only if this is not 0. */
static inline int block_check_needed(const Queue *queue) {
    return ocl_user_events_pending() > 0 || queue->n_marks > 0 ||
           (queue->enqueued - queue->finished >= OCL_MANY_COMMANDS &&
            !(queue->device->platform->quirks & OCL_QUIRK_FAILURES_RACE));
}

PyObject *kernel_vectorcall(PyObject *op, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
    Kernel *self = (Kernel *)op;
    cl_uint n = self->n_args, failed = 0;
    cl_int status = CL_SUCCESS;
    Queue *queue;
    Sizes sizes;
    cl_long words[MAX_ARGS];
    PyObject *old[MAX_ARGS];
    int n_old = 0, set_failed;
    cl_event event = NULL;
    if (PG_UNLIKELY(Py_TYPE(op)->tp_call !=
                    kernel_tp_call)) { /* before Python 3.12 this is called even if a program
                                        * assigned to __call__ */
        return pg_call_by_tuple(Py_TYPE(op)->tp_call, op, args, nargsf, kwnames);
    }
    if (kwnames != NULL || PyVectorcall_NARGS(nargsf) != (Py_ssize_t)n + 3 || n > MAX_ARGS ||
        self->locked || Py_TYPE(args[0]) != self->state->CommandQueueType) {
        goto call;
    }
    queue = (Queue *)args[0];
    if (PG_UNLIKELY(ocl_launch_deferred(queue) < 0)) {
        return NULL;
    }
    if (queue->queue == NULL || queue->finalized ||
        queue->context->context != self->context->context || ocl_user_events_dropped > 0 ||
        block_check_needed(queue) || !plain_sizes(queue, args[1], args[2], &sizes)) {
        goto call;
    }
    for (cl_uint i = 0; i < n; i++) {
        if (!kernel_as_word(self, &self->slots[i], args[i + 3], queue, &words[i])) {
            goto call;
        }
    }
    kernel_lock(self);
    status = set_words(self, args + 3, words, &failed, old, &n_old);
    set_failed = status != CL_SUCCESS;
    if (!set_failed) {
        ocl_queues_busy += queue->enqueued == queue->finished;
        queue->enqueued++;
        CL_CALL(status, clEnqueueNDRangeKernel, queue->queue, kernel_handle(self), sizes.n, NULL,
                sizes.global, args[2] != Py_None ? sizes.local : NULL, 0, NULL, &event);
    }
    kernel_unlock(self);
    while (n_old > 0) { /* may run any code, even another launch of this kernel */
        Py_DECREF(old[--n_old]);
    }
    if (PG_UNLIKELY(set_failed)) {
        return kernel_raise_set(self, failed, "clSetKernelArg", status);
    }
    if (status == CL_SUCCESS) {
        return ocl_event_new(self->state, event, queue->context->context);
    }
call:
    return kernel_call(self, args, PyVectorcall_NARGS(nargsf), kwnames, status);
}
