/* kernel_launch.c - calls a kernel: converts and checks the arguments, sets those that changed and
 * enqueues, all under the kernel's lock. */
#include "opencl/commands/box.h"
#include "opencl/commands/kernel_range.h"
#include "opencl/device.h"
#include "opencl/enqueue.h"
#include "opencl/event.h"
#include "opencl/lifetime/gates.h"
#include "opencl/lifetime/gil_release.h"
#include "opencl/lifetime/usage.h"
#include "opencl/memory.h"
#include "opencl/opencl.h"
#include "opencl/queue.h"
#include "opencl/svm.h"

#define VALUES_ON_STACK 24

/* ---- enqueue --------------------------------------------------------------------------------- */

/* The object that an argument refers to. If values is NULL: that of the argument already set. */
static inline PyObject *held_by(const Kernel *self, const ArgValue *values, cl_uint i) {
    return values != NULL ? values[i].hold : self->slots[i].held;
}

/* Pins what the arguments refer to while the GIL is released, so that a release() by another
 * thread takes effect later. */
static void pin(Kernel *self, const ArgValue *values, int add) {
    for (cl_uint i = 0; i < self->n_args; i++) {
        PyObject *held = held_by(self, values, i);
        if (held == NULL) {
            continue;
        }
        if (kernel_is_memory(self, held)) {
            if (add) {
                ocl_memory_pin((Memory *)held);
            } else {
                ocl_memory_unpin((Memory *)held);
            }
        } else if (ocl_is_svm(self->state, held)) {
            if (add) {
                ocl_svm_pin(held);
            } else {
                ocl_svm_unpin(held);
            }
        }
    }
}

/* Call with the lock held and the arguments set. */
static cl_int enqueue(Kernel *self, Queue *queue, const KernelRange *range, const ArgValue *values,
                      const WaitList *list, cl_event *event) {
    cl_int status = CL_SUCCESS;
    const size_t *local = range->has_local ? range->local : NULL,
                 *offset = range->has_offset ? range->offset : NULL;
    if (PG_UNLIKELY(ocl_queue_may_block(queue))) {
        pin(self, values, 1);
        PyThread_acquire_lock(self->lock, WAIT_LOCK); /* released at once: a waiter holds it only
                                                       * briefly, and needs no GIL to release it */
        CL_NOGIL(status, clEnqueueNDRangeKernel, queue->queue, kernel_handle(self),
                 (cl_uint)range->n, offset, range->global, local, list->n, list->events, event);
        PyThread_release_lock(self->lock);
        pin(self, values, 0);
    } else {
        CL_CALL(status, clEnqueueNDRangeKernel, queue->queue, kernel_handle(self),
                (cl_uint)range->n, offset, range->global, local, list->n, list->events, event);
    }
    return status;
}

static PyObject *raise_enqueue(Kernel *self, Queue *queue, const KernelRange *range,
                               cl_int status) {
    const char *routine = "clEnqueueNDRangeKernel";
    if (status == CL_INVALID_WORK_GROUP_SIZE && range->has_local) {
        size_t most = 0, wanted[3] = {0, 0, 0};
        cl_int asked = CL_SUCCESS;
        CL_CALL(asked, clGetKernelWorkGroupInfo, self->kernel, queue->device->id,
                CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
        CL_CALL(asked, clGetKernelWorkGroupInfo, self->kernel, queue->device->id,
                CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof wanted, wanted, NULL);
        for (int i = 0; i < range->n; i++) {
            if (range->local[i] != 0 && range->global[i] % range->local[i] != 0) {
                return ocl_raise_with(self->state, routine, status,
                                      "kernel '%U': the global size (%zu in dimension %d) is not a "
                                      "multiple of the local size (%zu)",
                                      self->name, range->global[i], i, range->local[i]);
            }
        }
        if (wanted[0] != 0) {
            return ocl_raise_with(self->state, routine, status,
                                  "kernel '%U' was compiled for work-groups of (%zu, %zu, %zu)",
                                  self->name, wanted[0], wanted[1], wanted[2]);
        }
        return ocl_raise_with(
            self->state, routine, status,
            "kernel '%U' runs in work-groups of at most %zu work-items on this device", self->name,
            most);
    }
    return ocl_raise_with(self->state, routine, status, "kernel '%U'", self->name);
}

/* Records that the queue uses an argument's object. Returns -1 with an exception if it was
 * released; 1 if the GIL may have been released, so that the object must be checked again. */
static int prepare_held(Kernel *self, cl_uint i, PyObject *held, Queue *queue) {
    if (kernel_is_memory(self, held)) {
        Memory *memory = (Memory *)held;
        if (memory->mem != NULL && memory->pool == NULL) {
            return 0;
        }
        return kernel_held_alive(self, i, held) < 0 || ocl_memory_prepare(memory, queue) < 0 ? -1
                                                                                             : 1;
    }
    if (ocl_is_svm(self->state, held)) {
        return kernel_held_alive(self, i, held) < 0 || ocl_svm_used(self->state, held, queue) < 0
                   ? -1
                   : 1;
    }
    return 0;
}

/* Checks, with the lock held, that no argument's object was released by another thread while the
 * GIL was released. */
static int check_held(Kernel *self, const ArgValue *values) {
    for (cl_uint i = 0; i < self->n_args; i++) {
        if (kernel_held_alive(self, i, held_by(self, values, i)) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Records that the queue uses the arguments' objects. For pooled memory this may enqueue barriers,
 * so it precedes taking the lock. Returns 1 if the GIL may have been released since the objects
 * were last checked, -1 with an exception. */
static inline int prepare_all(Kernel *self, const ArgValue *values, Queue *queue) {
    int check = 0;
    for (cl_uint i = 0; i < self->n_args; i++) {
        PyObject *held = held_by(self, values, i);
        if (held == NULL) {
            continue;
        }
        Py_INCREF(held); /* another thread may set other arguments in the meantime */
        int prepared = prepare_held(self, i, held, queue);
        Py_DECREF(held);
        if (PG_UNLIKELY(prepared < 0)) {
            return -1;
        }
        check |= prepared;
    }
    return check;
}

/* The outcome of setting the arguments. */
typedef struct {
    const char *routine; /* the call that failed, or NULL */
    cl_uint index;
} SetFailure;

/* Sets the arguments that differ and enqueues; lock held. old receives references to drop after
 * unlocking. tried: see kernel_call(). */
static inline cl_int set_and_enqueue(Kernel *self, Queue *queue, const KernelRange *range,
                                     ArgValue *values, PyObject **old, cl_int tried,
                                     const WaitList *list, cl_event *event, SetFailure *failure) {
    if (PG_UNLIKELY(tried != CL_SUCCESS)) {
        for (cl_uint i = 0; values != NULL && i < self->n_args; i++) {
            old[i] = NULL;
        }
        return tried;
    }
    if (values != NULL) {
        const char *routine = NULL;
        cl_int status =
            kernel_set(self, values, 0, self->n_args, 1, &failure->index, old, &routine);
        if (PG_UNLIKELY(status != CL_SUCCESS)) {
            failure->routine = routine;
            return status;
        }
    }
    return enqueue(self, queue, range, values, list, event);
}

/* Performs a launch. If values is NULL, the arguments stay as they are. tried: see
 * kernel_call(). */
static PyObject *launch(Kernel *self, Queue *queue, const KernelRange *range, PyObject *wait_for,
                        ArgValue *values, PyObject **old, cl_int tried) {
    WaitList list = {0};
    if ((wait_for != NULL || queue->gates != NULL) &&
        ocl_wait_list(self->state, wait_for, "clEnqueueNDRangeKernel", queue, &list) < 0) {
        return NULL;
    }
    int check = prepare_all(self, values, queue);
    if (PG_UNLIKELY(check < 0)) {
        goto fail;
    }
    if (range->empty) {
        return ocl_enqueue_empty(queue, &list);
    }
    cl_event event = NULL;
    cl_int status;
    SetFailure failure = {.routine = NULL};
    int tries = 0, renewals = 0, again;
    if (PG_UNLIKELY(ocl_launch_deferred(queue) < 0)) {
        goto fail;
    }
    do {
        check |= kernel_lock(self);
        if (PG_UNLIKELY(check) && check_held(self, values) < 0) {
            kernel_unlock(self);
            goto fail;
        }
        status = set_and_enqueue(self, queue, range, values, old, tried, &list, &event, &failure);
        tried = CL_SUCCESS;
        int renewed = PG_UNLIKELY(status == CL_INVALID_KERNEL_ARGS) && failure.routine == NULL &&
                      renewals++ == 0 && kernel_renew(self);
        kernel_unlock(self);
        /* Dropping references may run any code, even another launch of this kernel. */
        for (cl_uint i = 0; values != NULL && i < self->n_args; i++) {
            Py_XDECREF(old[i]);
        }
        if (PG_UNLIKELY(failure.routine != NULL)) {
            ocl_wait_list_clear(&list);
            return kernel_raise_set(self, failure.index, failure.routine, status);
        }
        again = status == CL_SUCCESS ? 0 : renewed ? 1 : ocl_retry(self->state, status, &tries);
        check = 1;
    } while (PG_UNLIKELY(again == 1));
    if (again == 0 && status == CL_SUCCESS) {
        return ocl_event_after(queue, event, &list);
    }
    ocl_wait_list_clear(&list);
    return again < 0 ? NULL : raise_enqueue(self, queue, range, status);
fail:
    ocl_wait_list_clear(&list);
    return NULL;
}

/* ---- the call -------------------------------------------------------------------------------- */

static PyObject *wrong_count(Kernel *self, Py_ssize_t given) {
    PyObject *list = PyList_New(0);
    for (cl_uint i = 0; list != NULL && i < self->n_args; i++) {
        PyObject *declaration = self->slots[i].declaration;
        pg_append(&list, declaration != NULL ? Py_NewRef(declaration)
                                             : PyUnicode_FromFormat("arg%u", (unsigned)i));
    }
    PyObject *joined = pg_join(", ", list);
    if (joined != NULL) {
        PyErr_Format(PyExc_TypeError,
                     "kernel '%U' takes %u argument%s (%U) after queue, global size and local "
                     "size; %zd %s given",
                     self->name, (unsigned)self->n_given, self->n_given == 1 ? "" : "s", joined,
                     given, given == 1 ? "was" : "were");
    }
    Py_XDECREF(joined);
    return NULL;
}

typedef struct {
    PyObject *global_offset, *wait_for;
    int g_times_l, allow_empty;
} Options;

static int read_options(Kernel *self, PyObject *const *values, PyObject *kwnames, Options *out) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(kwnames); i++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, i);
        if (PyUnicode_CompareWithASCIIString(name, "wait_for") == 0) {
            out->wait_for = values[i];
        } else if (PyUnicode_CompareWithASCIIString(name, "global_offset") == 0) {
            out->global_offset = values[i];
        } else if (PyUnicode_CompareWithASCIIString(name, "g_times_l") == 0) {
            if ((out->g_times_l = PyObject_IsTrue(values[i])) < 0) {
                return -1;
            }
        } else if (PyUnicode_CompareWithASCIIString(name, "allow_empty_ndrange") == 0) {
            if ((out->allow_empty = PyObject_IsTrue(values[i])) < 0) {
                return -1;
            }
        } else {
            PyErr_Format(PyExc_TypeError,
                         "kernel '%U': unexpected keyword argument '%U'; allowed: global_offset, "
                         "g_times_l, allow_empty_ndrange, wait_for",
                         self->name, name);
            return -1;
        }
    }
    return 0;
}

static Queue *as_queue(Kernel *self, PyObject *obj) {
    Queue *queue = ocl_as_queue(self->state, obj, "kernel call");
    if (queue != NULL && PG_UNLIKELY(queue->context->context != self->context->context)) {
        ocl_reject(self->state, "clEnqueueNDRangeKernel", CL_INVALID_CONTEXT,
                   "kernel '%U' and the queue belong to different contexts", self->name);
        return NULL;
    }
    return queue;
}

/* The arguments of a call during conversion. */
typedef struct {
    ArgValue *values;
    cl_uint done;        /* number converted so far */
    int owns_something;  /* some value may own memory */
    size_t local_memory; /* in bytes */
} Conversion;

/* Returns 0, or -1 with an exception. values[:done] must be cleared in either case. */
static inline int convert_all(Kernel *self, PyObject *const *args, Conversion *to) {
    int failed = 0;
    self->converting++;
    for (; to->done < self->n_args; args++) {
        const ArgSlot *slot = &self->slots[to->done];
        ArgValue *value = &to->values[to->done];
        cl_uint filled = slot->with_offset ? 2 : 1;
        if (PG_UNLIKELY(kernel_convert(self, to->done, *args, value) < 0)) {
            kernel_values_clear(value, filled);
            failed = -1;
            break;
        }
        to->owns_something |= value->owns_hold || value->large != NULL;
        if (value->set == SET_LOCAL &&
            pg_add(to->local_memory, value->size, &to->local_memory) < 0) {
            to->local_memory = SIZE_MAX;
        }
        to->done += filled;
    }
    self->converting--;
    return failed;
}

static int check_local_memory(Kernel *self, Queue *queue, size_t local_memory) {
    cl_ulong most = ocl_device_limits(queue->device)->local_mem_size;
    if (most != 0 && local_memory > most) {
        ocl_reject(self->state, "clEnqueueNDRangeKernel", CL_INVALID_ARG_SIZE,
                   "kernel '%U': %zu bytes of LocalMemory, but this device has %llu", self->name,
                   local_memory, (unsigned long long)most);
        return -1;
    }
    return 0;
}

PyObject *kernel_call(Kernel *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                      cl_int tried) {
    Options options = {NULL, NULL, 0, 0};
    KernelRange range;
    if (kernel_is_made(self, "Kernel") < 0) {
        return NULL;
    }
    if (PG_UNLIKELY(kwnames != NULL) && kernel_has_names(kwnames)) {
        return kernel_call_by_names(self, args, nargs, kwnames, tried);
    }
    if (PG_UNLIKELY(nargs < 3)) {
        return PyErr_Format(
            PyExc_TypeError,
            "kernel '%U': queue, global size and local size (or None) come before its arguments",
            self->name);
    }
    Queue *queue = as_queue(self, args[0]);
    if (queue == NULL) {
        return NULL;
    }
    if (PG_UNLIKELY(nargs - 3 != (Py_ssize_t)self->n_given)) {
        return wrong_count(self, nargs - 3);
    }
    if ((kwnames != NULL && read_options(self, args + nargs, kwnames, &options) < 0) ||
        kernel_read_range(self, queue, args[1], args[2], options.global_offset, options.g_times_l,
                          options.allow_empty, &range) < 0 ||
        (range.empty && kernel_check_empty(self, queue, &range, options.allow_empty) < 0)) {
        return NULL;
    }
    ArgValue local_values[VALUES_ON_STACK];
    PyObject *local_old[VALUES_ON_STACK], **old = local_old, *result = NULL;
    Conversion to = {local_values, 0, 0, 0};
    int many = self->n_args > VALUES_ON_STACK;
    if (PG_UNLIKELY(many)) {
        to.values = PyMem_Malloc(self->n_args * sizeof *to.values);
        old = PyMem_Malloc(self->n_args * sizeof *old);
    }
    if (to.values == NULL || old == NULL) {
        PyErr_NoMemory();
    } else if (convert_all(self, args + 3, &to) == 0 &&
               (to.local_memory == 0 || check_local_memory(self, queue, to.local_memory) == 0)) {
        result = launch(self, queue, &range, options.wait_for, to.values, old, tried);
    }
    if (to.owns_something) {
        kernel_values_clear(to.values, to.done);
    }
    if (many) {
        PyMem_Free(to.values);
        PyMem_Free(old);
    }
    return result;
}

PyObject *kernel_tp_call(PyObject *op, PyObject *args, PyObject *kwargs) {
    Py_ssize_t n = PyTuple_GET_SIZE(args), i = n, at = 0;
    Py_ssize_t n_keywords = kwargs != NULL ? PyDict_GET_SIZE(kwargs) : 0;
    if (n_keywords == 0) {
        return kernel_call((Kernel *)op, PySequence_Fast_ITEMS(args), n, NULL, CL_SUCCESS);
    }
    PyObject **all = PyMem_Malloc((size_t)(n + n_keywords) * sizeof *all),
             *names = PyTuple_New(n_keywords), *result = NULL, *key, *value;
    if (all == NULL || names == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    memcpy(all, PySequence_Fast_ITEMS(args), (size_t)n * sizeof *all);
    for (; PyDict_Next(kwargs, &at, &key, &value); i++) {
        PyTuple_SET_ITEM(names, i - n, Py_NewRef(key));
        all[i] = value; /* the caller's dict keeps it alive */
    }
    result = kernel_call((Kernel *)op, all, n, names, CL_SUCCESS);
done:
    PyMem_Free(all);
    Py_XDECREF(names);
    return result;
}

/* ---- module functions ------------------------------------------------------------------------ */

PG_DOC(enqueue_nd_range_kernel__doc__, "enqueue_nd_range_kernel",
       "queue, kernel, global_work_size, local_work_size, global_work_offset=None, wait_for=None, "
       "g_times_l=False, allow_empty_ndrange=False",
       "(queue: CommandQueue, kernel: Kernel, global_work_size: int | Sequence[int], "
       "local_work_size: int | Sequence[int] | None, "
       "global_work_offset: Sequence[int] | None = None, wait_for: Sequence[Event] | None = None, "
       "g_times_l: bool = False, "
       "allow_empty_ndrange: bool = False) -> Event",
       "Launch a kernel with the arguments set before. Calling the kernel sets and launches in one "
       "step.");
static PyObject *launch_with_set_arguments(Kernel *self, Queue *queue, const KernelRange *range,
                                           PyObject *wait_for) {
    for (cl_uint i = 0; i < self->n_args; i++) {
        if (self->slots[i].set == SET_NOTHING && !self->shared_handle) {
            PyObject *declaration = self->slots[i].declaration;
            return ocl_reject(self->state, "clEnqueueNDRangeKernel", CL_INVALID_KERNEL_ARGS,
                              "arg#%u (1-based) of kernel '%U'%s%V%s was not set",
                              (unsigned)(i + 1), self->name, declaration != NULL ? ", '" : "",
                              declaration, "", declaration != NULL ? "'," : "");
        }
        self->slots[i].by_call = 0; /* the caller set them to stay set */
    }
    return launch(self, queue, range, wait_for, NULL, NULL, CL_SUCCESS);
}

static Kernel *as_kernel(State *state, PyObject *obj, const char *call) {
    if (!PyObject_TypeCheck(obj, state->KernelType)) {
        PyErr_Format(PyExc_TypeError, "%s: kernel must be a Kernel, not %s", call,
                     pg_type_name(obj));
        return NULL;
    }
    return kernel_is_made((Kernel *)obj, call) < 0 ? NULL : (Kernel *)obj;
}

PG_FUNCTION(enqueue_nd_range_kernel, 8)
static PyObject *enqueue_nd_range_kernel_impl(PyObject *module, PyObject *const *a) {
    KernelRange range;
    Kernel *self;
    Queue *queue;
    int g_times_l, allow_empty;
    if ((self = as_kernel(PyModule_GetState(module), a[1], "enqueue_nd_range_kernel")) == NULL ||
        (queue = as_queue(self, a[0])) == NULL || (g_times_l = pg_as_bool(a[6], 0)) < 0 ||
        (allow_empty = pg_as_bool(a[7], 0)) < 0 ||
        kernel_read_range(self, queue, a[2], a[3], a[4], g_times_l, allow_empty, &range) < 0 ||
        kernel_check_empty(self, queue, &range, allow_empty) < 0) {
        return NULL;
    }
    if (PG_UNLIKELY(!Py_IS_TYPE(self, self->state->KernelType))) {
        PyObject *event = kernel_launch_checked(self, a);
        if (event != Py_None) {
            return event;
        }
        Py_DECREF(event);
    }
    return launch_with_set_arguments(self, queue, &range, a[5]);
}

PG_DOC(enqueue_task__doc__, "enqueue_task", "queue, kernel, wait_for=None",
       "(queue: CommandQueue, kernel: Kernel, wait_for: Sequence[Event] | None = None) -> Event",
       "Launch a kernel as one work-item, with the arguments set before.");
PG_FUNCTION(enqueue_task, 3)
static PyObject *enqueue_task_impl(PyObject *module, PyObject *const *a) {
    KernelRange range = {.n = 1, .has_local = 1, .global = {1}, .local = {1}};
    Kernel *self;
    Queue *queue;
    if ((self = as_kernel(PyModule_GetState(module), a[1], "enqueue_task")) == NULL ||
        (queue = as_queue(self, a[0])) == NULL) {
        return NULL;
    }
    if (PG_UNLIKELY(!Py_IS_TYPE(self, self->state->KernelType))) {
        PyObject *one = Py_BuildValue("(i)", 1);
        PyObject *all[8] = {a[0], a[1], one, one, NULL, a[2], NULL, NULL};
        PyObject *event = one != NULL ? kernel_launch_checked(self, all) : NULL;
        Py_XDECREF(one);
        if (event != Py_None) {
            return event;
        }
        Py_DECREF(event);
    }
    return launch_with_set_arguments(self, queue, &range, a[2]);
}

PyMethodDef ocl_kernel_functions[] = {
    {"enqueue_nd_range_kernel", FAST(enqueue_nd_range_kernel), enqueue_nd_range_kernel__doc__},
    {"enqueue_task", FAST(enqueue_task), enqueue_task__doc__},
    {NULL, NULL, 0, NULL},
};
