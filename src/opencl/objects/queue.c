/* queue.c - CommandQueue: an in-order or out-of-order queue of commands on one device. */
#include "opencl/api/info.h"
#include "opencl/context.h"
#include "opencl/device.h"
#include "opencl/event.h"
#include "opencl/lifetime/deferred_init.h"
#include "opencl/lifetime/gates.h"
#include "opencl/lifetime/gil_release.h"
#include "opencl/lifetime/instance_registry.h"
#include "opencl/lifetime/queue_idle.h"
#include "opencl/objects/program.h"
#include "opencl/objects/repr.h"
#include "opencl/opencl.h"
#include "opencl/platform.h"
#include "opencl/queue.h"

enum {
#define QUEUE_INFO(attr, KIND, number, PARAM, unit, text) ROW_##attr,
#include "opencl/api/info.def"
    ROW_COUNT
};
static const Info Queue_info[] = {
#define QUEUE_INFO(attr, KIND, number, PARAM, unit, text) {#attr, INFO_##KIND, PARAM},
#include "opencl/api/info.def"
};

static cl_int Queue_query(void *self, cl_uint param, size_t size, void *value, size_t *size_ret) {
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clGetCommandQueueInfo, ((Queue *)self)->queue, param, size, value, size_ret);
    return status;
}

/* An object with its own reference to the handle. */
static PyObject *Queue_twin(State *state, cl_command_queue handle, int retain) {
    cl_int status = CL_SUCCESS;
    if (retain) {
        CL_CALL(status, clRetainCommandQueue, handle);
        if (status != CL_SUCCESS) {
            return ocl_raise(state, "clRetainCommandQueue", status);
        }
    }
    ocl_live[LIVE_QUEUE]++;
    ocl_queues_shared = 1;
    Queue *self = (Queue *)PG_NEW(state->CommandQueueType);
    if (self == NULL) {
        CL_RELEASE(LIVE_QUEUE, clReleaseCommandQueue, handle);
        return NULL;
    }
    self->state = state;
    self->queue = handle;
    self->shared = 1;
    Queue *twin = (Queue *)ocl_find_instance(state, state->CommandQueueType, handle);
    if (twin != NULL) {
        twin->shared = 1;
        self->context = (Context *)Py_NewRef(twin->context);
        self->device = (Device *)Py_NewRef(twin->device);
        self->properties = twin->properties;
        Py_DECREF(twin);
        return (PyObject *)self;
    }
    cl_context context = NULL;
    cl_device_id device = NULL;
    status = Queue_query(self, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    if (status == CL_SUCCESS) {
        status = Queue_query(self, CL_QUEUE_DEVICE, sizeof device, &device, NULL);
    }
    if (status != CL_SUCCESS) {
        ocl_raise(state, "clGetCommandQueueInfo", status);
        goto fail;
    }
    self->context = (Context *)ocl_context_wrap(state, context);
    self->device = self->context != NULL ? (Device *)ocl_device_wrap(state, device, NULL, 0) : NULL;
    if (self->device == NULL) {
        goto fail;
    }
    self->properties = ocl_info_number(self, Queue_query, CL_QUEUE_PROPERTIES);
    ocl_register_instance((PyObject *)self);
    return (PyObject *)self;
fail:
    Py_DECREF(self);
    return NULL;
}

PyObject *ocl_queue_wrap(State *state, cl_command_queue handle) {
    Queue *self = (Queue *)ocl_find_instance(state, state->CommandQueueType, handle);
    if (self != NULL && !self->finalized) {
        return (PyObject *)self;
    }
    Py_XDECREF(self); /* creating the queue with that class would warn */
    return Queue_twin(state, handle, 1);
}

/* Warns if the queue was left as a context manager. */
static int queue_check(Queue *self, const char *call) {
    if (self->queue == NULL) {
        return ocl_refuse_uninitialized(self->state, call, "queue", CL_INVALID_COMMAND_QUEUE);
    }
    if (!self->finalized) {
        return 0;
    }
    PyObject *errors = PyImport_ImportModule("pygpu.errors");
    PyObject *category =
        errors != NULL ? PyObject_GetAttrString(errors, "CommandQueueUsedAfterExit") : NULL;
    int result = category == NULL
                     ? -1
                     : PyErr_WarnFormat(
                           category, 1,
                           "%s: the command queue is used after its 'with' block has finished it",
                           call);
    Py_XDECREF(errors);
    Py_XDECREF(category);
    return result;
}

Queue *ocl_as_queue(State *state, PyObject *obj, const char *call) {
    if (!PyObject_TypeCheck(obj, state->CommandQueueType)) {
        PyErr_Format(PyExc_TypeError, "%s: queue must be a CommandQueue, not %s", call,
                     pg_type_name(obj));
        return NULL;
    }
    Queue *self = (Queue *)obj;
    if (PG_UNLIKELY(self->queue == NULL)) {
        ocl_refuse_uninitialized(state, call, "queue", CL_INVALID_COMMAND_QUEUE);
        return NULL;
    }
    if (PG_UNLIKELY(ocl_user_events_dropped > 0) &&
        (self->device->platform->quirks & OCL_QUIRK_FAILURES_RACE)) {
        ocl_fail_dropped_user_events(); /* otherwise this command would follow those that are about
                                         * to fail, and fail with them */
    }
    if (PG_UNLIKELY(self->finalized) && queue_check(self, call) < 0) {
        return NULL;
    }
    return ocl_launch_deferred(self) < 0 ? NULL : self;
}

int ocl_launch_deferred(Queue *self) {
    cl_int status = pg_launch_deferred();
    if (PG_UNLIKELY(status != CL_SUCCESS)) {
        ocl_raise(self->state, "clEnqueueNDRangeKernel", status);
        return -1;
    }
    return 0;
}

/* ---- recording times ------------------------------------------------------------------------- */

int ocl_queues_profiled;

static cl_command_queue make_other(const Queue *self, cl_int *status) {
    cl_command_queue made = NULL;
    cl_context context = self->context->context;
    cl_device_id device = self->device->id;
    cl_bitfield flags = self->properties | CL_QUEUE_PROFILING_ENABLE;
    cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, flags, 0};
    *status = CL_SUCCESS;
    if (self->device->version >= 200 && self->context->version >= 200 &&
        cl.clCreateCommandQueueWithProperties != NULL) {
        CL_MAKE(made, *status, clCreateCommandQueueWithProperties, context, device, list);
    } else {
        CL_MAKE(made, *status, clCreateCommandQueue, context, device, flags);
    }
    return made;
}

static cl_int finish_handle(cl_command_queue handle) {
    cl_int status = CL_SUCCESS;
    CL_NOGIL(status, clFinish, handle);
    return status;
}

int ocl_queue_profile(Queue *self, int on) {
    cl_command_queue before = self->queue;
    cl_int status;
    int is_on = (self->properties & CL_QUEUE_PROFILING_ENABLE) != 0;
    if (is_on == on) {
        return 1;
    }
    /* Waiting for a user event could be for ever. */
    if (before == NULL || self->finalized || self->shared || ocl_user_events_pending() > 0 ||
        (self->properties & CL_QUEUE_ON_DEVICE) || (!on && self->other == NULL)) {
        return 0;
    }
    if (finish_handle(before) != CL_SUCCESS || self->queue != before || self->shared ||
        (self->other == NULL && (self->other = make_other(self, &status)) == NULL)) {
        return 0;
    }
    ocl_unregister_instance((PyObject *)self);
    ocl_queue_forget_order(self);
    self->queue = self->other;
    self->other = before;
    self->properties ^= CL_QUEUE_PROFILING_ENABLE;
    ocl_register_instance((PyObject *)self);
    (void)finish_handle(before); /* what another thread has given to it meanwhile */
    return 1;
}

int ocl_queues_busy, ocl_queues_shared;
static int queues_lost; /* a queue was dropped that was not known to be idle */

void ocl_queue_done(Queue *self, unsigned number) {
    if (self->enqueued != self->finished && (int)(number - self->finished) > 0) {
        self->finished = number;
        if (number == self->enqueued && --ocl_queues_busy == 0 && !queues_lost) {
            ocl_event_queues_idle();
        }
    }
}

int ocl_queue_may_block(Queue *self) {
    /* With the GIL held, a full queue that waits for a user event could wait forever for the
     * thread that wants to set it. */
    ocl_queues_busy += self->enqueued == self->finished;
    int many = ++self->enqueued - self->finished > OCL_MANY_COMMANDS,
        pending = ocl_user_events_pending() > 0;
    if (PG_UNLIKELY(pending || self->n_marks > 0) &&
        (self->device->platform->quirks & OCL_QUIRK_FAILURE_LOSES_ORDER)) {
        ocl_queue_keep_order(self);
    }
    return (many || pending) && !(self->device->platform->quirks & OCL_QUIRK_FAILURES_RACE);
}

PG_DOC(Queue__doc__, "CommandQueue", "context, device=None, properties=None",
       "(context: Context, device: Device | None = None, properties: int | Sequence[int] | None = "
       "None)",
       "A stream of commands on one device.\n\n"
       "device: by default the context's first. properties: "
       "command_queue_properties.PROFILING_ENABLE, OUT_OF_ORDER_EXEC_MODE_ENABLE\n"
       "added with |, or a list of queue_properties and values (OpenCL 2.0). As a context manager "
       "it finishes at the end of its block.\n\n"
       "Raises LogicError for a device outside the context, or properties that the device lacks.");
static ArgSpec Queue_args = PG_ARGSPEC(Queue__doc__);

#define MAX_PROPERTIES 32

/* NVIDIA's driver accepts and ignores any number as the name of a property. */
static int is_property(cl_queue_properties name) {
    switch (name) {
    case CL_QUEUE_PROPERTIES:
    case CL_QUEUE_SIZE:
    case CL_QUEUE_DEVICE_DEFAULT:
    case CL_QUEUE_PRIORITY_KHR:
    case CL_QUEUE_THROTTLE_KHR:
        return 1;
    default:
        return name >= 0x4000 && name < 0x5000; /* the range that the registry assigns to vendors:
                                                 * the driver must know its own */
    }
}

/* Reads the list of names and values, and its length. */
static int read_list(State *state, PyObject *obj, cl_queue_properties *list, int *n) {
    PyObject *items = pg_tuple(obj, "CommandQueue", "properties", "ints or one int", 1000);
    if (items == NULL) {
        return -1;
    }
    for (*n = 0; *n < PyTuple_GET_SIZE(items) && *n < MAX_PROPERTIES; ++*n) {
        uint64_t value;
        if (pg_as_u64(PyTuple_GET_ITEM(items, *n), "CommandQueue", "each of properties", &value) <
            0) {
            Py_DECREF(items);
            return -1;
        }
        list[*n] = value;
    }
    Py_ssize_t size = PyTuple_GET_SIZE(items);
    Py_DECREF(items);
    if (size > MAX_PROPERTIES) {
        ocl_reject(state, "CommandQueue", CL_INVALID_VALUE,
                   "properties has %zd entries, at most %d are allowed", size, MAX_PROPERTIES);
        return -1;
    }
    if (*n > 0 && *n % 2 == 1 && list[*n - 1] == 0) {
        --*n; /* an explicit terminator */
    }
    if (*n % 2 == 1) {
        ocl_reject(state, "CommandQueue", CL_INVALID_VALUE,
                   "properties must be pairs of a name and a value");
        return -1;
    }
    return 0;
}

/* Reads flags, or a list and its length; the length is -1 for flags. */
static int read_properties(State *state, PyObject *obj, cl_queue_properties *list, int *n,
                           uint64_t *flags) {
    *n = -1;
    if (obj == NULL || obj == Py_None) {
        return 0;
    }
    return PyIndex_Check(obj) ? pg_as_u64(obj, "CommandQueue", "properties", flags)
                              : read_list(state, obj, list, n);
}

static int check_device(State *state, const Context *context, const Device *device) {
    int found = 0;
    for (Py_ssize_t i = 0; i < context->n_devices; i++) {
        found |= context->devices[i]->id == device->id;
    }
    if (!found && !device->owned) { /* OpenCL 2.x and later allow sub-devices of the context's
                                     * devices */
        ocl_reject(state, "CommandQueue", CL_INVALID_DEVICE, "%R is not a device of %R",
                   (PyObject *)device, (PyObject *)context);
        return -1;
    }
    return 0;
}

/* Sets properties from the flags in the list, and checks both. */
static int take_list(Queue *self, const cl_queue_properties *list, int n) {
    for (int i = 0; i < n && list[i] != 0; i += 2) {
        if (list[i] == CL_QUEUE_PROPERTIES) {
            self->properties = list[i + 1];
        } else if (!is_property(list[i])) {
            ocl_reject(self->state, "CommandQueue", CL_INVALID_VALUE,
                       "properties[%d] = %llu is not a member of queue_properties", i,
                       (unsigned long long)list[i]);
            return -1;
        }
    }
    /* PoCL ends the process when such a queue is created. */
    if ((self->properties & CL_QUEUE_ON_DEVICE) &&
        ocl_info_number(self->device, ocl_device_query, CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES) ==
            0) {
        ocl_reject(self->state, "CommandQueue", CL_INVALID_QUEUE_PROPERTIES,
                   "the device does not support on-device queues (ON_DEVICE)");
        return -1;
    }
    return 0;
}

static int refuse_list(State *state, const Context *context, const Device *device) {
    ocl_need_version(state, "clCreateCommandQueueWithProperties",
                     device->version < context->version ? device->version : context->version, 200);
    if (!PyErr_Occurred()) {
        ocl_raise(state, "clCreateCommandQueueWithProperties", PG_STATUS_MISSING);
    }
    return -1;
}

/* list: for OpenCL 2.0 (modern); may be NULL. flags: for older versions. */
static int create(Queue *self, int modern, const cl_queue_properties *list,
                  cl_command_queue_properties flags) {
    cl_context context = self->context->context;
    cl_device_id device = self->device->id;
    cl_int status;
    int tries = 0, again;
    ocl_queue_release_retired();
    do {
        status = CL_SUCCESS;
        Py_BEGIN_ALLOW_THREADS
        if (modern) {
            CL_MAKE(self->queue, status, clCreateCommandQueueWithProperties, context, device, list);
        } else {
            CL_MAKE(self->queue, status, clCreateCommandQueue, context, device, flags);
        }
        Py_END_ALLOW_THREADS
        again = status == CL_SUCCESS ? 0 : ocl_retry(self->state, status, &tries);
    } while (again == 1);
    if (status != CL_SUCCESS || self->queue == NULL) {
        self->queue = NULL;
        if (again >= 0) {
            ocl_raise(self->state,
                      modern ? "clCreateCommandQueueWithProperties" : "clCreateCommandQueue",
                      status != CL_SUCCESS ? status : CL_OUT_OF_RESOURCES);
        }
        return -1;
    }
    ocl_live[LIVE_QUEUE]++;
    return 0;
}

static PyObject *Queue_construct(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *a[3];
    State *state = ocl_state_of(type);
    cl_queue_properties list[MAX_PROPERTIES + 2] = {0};
    uint64_t flags = 0;
    int n_list; /* -1 if flags were given */
    Context *context;
    Device *device = NULL;
    if (state == NULL || pg_args_tuple(&Queue_args, args, kwargs, a) < 0 ||
        (context = ocl_as_context(state, a[0], "CommandQueue")) == NULL) {
        return NULL;
    }
    if (a[1] != NULL && a[1] != Py_None &&
        (device = ocl_as_device(state, a[1], "CommandQueue", "device")) == NULL) {
        return NULL;
    }
    if (read_properties(state, a[2], list, &n_list, &flags) < 0 ||
        (device != NULL && check_device(state, context, device) < 0)) {
        return NULL;
    }
    if (device == NULL) {
        device = context->devices[0];
    }
    Queue *self = (Queue *)PG_NEW(type);
    if (self == NULL) {
        return NULL;
    }
    self->state = state;
    self->context = (Context *)Py_NewRef(context);
    self->device = (Device *)Py_NewRef(device);
    self->properties = flags;
    int modern = device->version >= 200 && context->version >= 200 &&
                 cl.clCreateCommandQueueWithProperties != NULL;
    if (take_list(self, list, n_list) < 0 ||
        (n_list > 0 && !modern && refuse_list(state, context, device) < 0)) {
        goto fail;
    }
    if (n_list < 0 && flags != 0) {
        list[0] = CL_QUEUE_PROPERTIES;
        list[1] = flags;
        n_list = 2;
    }
    if (create(self, modern, n_list > 0 ? list : NULL, flags) < 0) {
        goto fail;
    }
    ocl_register_instance((PyObject *)self);
    if (PG_UNLIKELY(ocl_queues_profiled) && ocl_queue_profile(self, 1) < 0) {
        goto fail;
    }
    return (PyObject *)self;
fail:
    Py_DECREF(self);
    return NULL;
}

OCL_MADE_BY_INIT(Queue, Queue, CommandQueueType, OCL_HAS_CONTEXT)

static int Queue_traverse(PyObject *op, visitproc visit, void *arg) {
    Queue *self = (Queue *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->context);
    Py_VISIT(self->device);
    Py_VISIT(self->dict);
    return 0;
}

static int Queue_clear(PyObject *op) { /* cycles run through user attributes; context and device
                                        * are needed until the end */
    Py_CLEAR(((Queue *)op)->dict);
    return 0;
}

static void Queue_dealloc(PyObject *op) {
    Queue *self = (Queue *)op;
    pg_untrack(op, self->weakrefs);
    ocl_unregister_instance(op);
    ocl_queue_forget_order(self);
    ocl_gates_release(self->gates);
    if (self->enqueued != self->finished) {
        ocl_queues_busy--;
        queues_lost = 1;
    }
    if (self->other != NULL) {
        cl_int status = CL_SUCCESS; /* has nobody to go to */
        CL_CALL(status, clReleaseCommandQueue, self->other);
        (void)status;
    }
    if (self->queue != NULL) {
        ocl_queue_release(self);
    }
    Py_XDECREF(self->device);
    Py_XDECREF(self->context);
    Py_XDECREF(self->dict);
    pg_object_free(op);
}

static PyObject *Queue_get(PyObject *op, void *closure) {
    Queue *self = (Queue *)op;
    const Info *row = &Queue_info[(intptr_t)closure];
    if (self->queue == NULL &&
        ocl_refuse_uninitialized(self->state, row->name, "queue", CL_INVALID_COMMAND_QUEUE) < 0) {
        return NULL;
    }
    switch (row->param) {
    case CL_QUEUE_CONTEXT:
        return Py_NewRef(self->context);
    case CL_QUEUE_DEVICE:
        return Py_NewRef(self->device);
    default:
        return ocl_info(self->state, op, Queue_query, "clGetCommandQueueInfo", row);
    }
}

static PyObject *Queue_get_info(PyObject *op, PyObject *param) {
    Queue *self = (Queue *)op;
    if (self->queue == NULL && ocl_refuse_uninitialized(self->state, "clGetCommandQueueInfo",
                                                        "queue", CL_INVALID_COMMAND_QUEUE) < 0) {
        return NULL;
    }
    return ocl_info_by_param(self->state, op, Queue_query, "clGetCommandQueueInfo", Queue_info,
                             ROW_COUNT, Queue_get, param);
}

/* Whether all of its commands are known to have completed. */
static int Queue_is_idle(const Queue *self) {
    return self->enqueued == self->finished && self->n_marks == 0 && !self->shared;
}

static PyObject *Queue_flush(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Queue *self = (Queue *)op;
    cl_int status = CL_SUCCESS;
    if (queue_check(self, "CommandQueue.flush") < 0 || ocl_launch_deferred(self) < 0) {
        return NULL;
    }
    if (Queue_is_idle(self)) { /* so it does not block */
        CL_CALL(status, clFlush, self->queue);
    } else {
        CL_NOGIL(status, clFlush, self->queue);
    }
    return status == CL_SUCCESS ? Py_NewRef(Py_None) : ocl_raise(self->state, "clFlush", status);
}

int ocl_queue_wait(Queue *self, cl_int *status, int *failed) {
    cl_event event = NULL;
    int result = 0;
    *status = CL_SUCCESS;
    (void)ocl_queue_may_block(self);
    unsigned number = self->enqueued;
    if (self->context->version >= 120 && cl.clEnqueueMarkerWithWaitList != NULL) {
        CL_CALL(*status, clEnqueueMarkerWithWaitList, self->queue, 0, NULL, &event);
    } else {
        CL_CALL(*status, clEnqueueMarker, self->queue, &event);
    }
    if (*status != CL_SUCCESS) {
        return 0;
    }
    ocl_live[LIVE_EVENT]++;
    CL_NOGIL(*status, clFlush, self->queue);
    if (*status == CL_SUCCESS) {
        result = ocl_wait_done(self->state, event, failed);
    }
    if (result == 0 && *status == CL_SUCCESS && !*failed) {
        ocl_queue_done(self, number);
    }
    ocl_event_release(event);
    return result;
}

static PyObject *Queue_finish(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Queue *self = (Queue *)op;
    cl_int status = CL_SUCCESS;
    if (queue_check(self, "CommandQueue.finish") < 0 || ocl_launch_deferred(self) < 0) {
        return NULL;
    }
    unsigned number = self->enqueued;
    if (Queue_is_idle(self) || !pg_is_main_thread()) { /* nothing to wait for, or signals are not
                                                        * handled in this thread: the driver's own
                                                        * wait suffices */
        CL_NOGIL(status, clFinish, self->queue);
    } else {
        int failed;
        do { /* A failed command is not an error of finish(), nor of clFinish. But on PoCL,
              * commands before it may still be running. */
            failed = 0;
            if (ocl_queue_wait(self, &status, &failed) < 0) {
                return NULL;
            }
        } while (failed && status == CL_SUCCESS &&
                 (self->device->platform->quirks & OCL_QUIRK_FAILURE_LOSES_ORDER));
        number++; /* counts the marker */
    }
    if (status != CL_SUCCESS) {
        return ocl_raise(self->state, "clFinish", status);
    }
    ocl_queue_done(self, number);
    return pg_report(&self->state->common) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *Queue_enter(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    return Py_NewRef(op);
}

static PyObject *Queue_exit(PyObject *op, PyObject *Py_UNUSED(args)) {
    PyObject *result = Queue_finish(op, NULL);
    ((Queue *)op)->finalized = 1;
    return result;
}

static PyObject *Queue_finalize(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    ((Queue *)op)->finalized = 1;
    Py_RETURN_NONE;
}

static PyObject *Queue_get_int_ptr(PyObject *op, void *closure) {
    ((Queue *)op)->shared = ocl_queues_shared = 1;
    return ocl_handle_int_ptr(op, closure);
}

static PyObject *Queue_of_handle(State *state, PyTypeObject *Py_UNUSED(type), void *handle,
                                 int retain) {
    return Queue_twin(state, (cl_command_queue)handle, retain);
}

OCL_FROM_INT_PTR(Queue, "CommandQueue", "CommandQueue", "Queue of a cl_command_queue")

static PyObject *Queue_get_cl_version(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    if (queue_check((Queue *)op, "CommandQueue") < 0) {
        return NULL;
    }
    int version = ((Queue *)op)->device->version;
    return Py_BuildValue("(ii)", version / 100, version % 100 / 10);
}

static PyMethodDef Queue_methods[] = {
    OCL_VERSION_METHOD(Queue),
    PG_NO_PICKLE,
    {"finish", Queue_finish, METH_NOARGS,
     "finish($self, /)\n--\n\n() -> None\n\nWait until all commands so far are done. Other threads "
     "run meanwhile; Ctrl-C interrupts."},
    {"flush", Queue_flush, METH_NOARGS,
     "flush($self, /)\n--\n\n() -> None\n\nSubmit all commands so far to the device without "
     "waiting."},
    INFO_METHOD(Queue_get_info, "command_queue_info"),
    {"_finalize", Queue_finalize, METH_NOARGS,
     "_finalize($self, /)\n--\n\n() -> None\n\nMark the queue as finished with: later use warns."},
    {"__enter__", Queue_enter, METH_NOARGS,
     "__enter__($self, /)\n--\n\n() -> CommandQueue\n\nThe queue itself."},
    {"__exit__", Queue_exit, METH_VARARGS,
     "__exit__($self, /, *exc_info)\n--\n\n(*exc_info: object) -> None\n\nfinish(), and warn of "
     "later use."},
    OCL_FROM_INT_PTR_METHOD(Queue),
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef Queue_getset[] = {
#define QUEUE_INFO(attr, KIND, number, PARAM, unit, text) \
    INFO_GETSET(ROW_##attr, #attr, Queue_get, KIND, #PARAM, unit, text)
#include "opencl/api/info.def"
    {"int_ptr", Queue_get_int_ptr, NULL, "int: the cl_command_queue of the driver", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
PG_DICT_MEMBERS(Queue, Queue);
static PyType_Slot CommandQueue_slots[] = {
    PG_NEW_SLOTS(Queue), PG_GC_SLOTS(Queue),    {Py_tp_repr, (void *)ocl_queue_repr},
    OCL_HANDLE_SLOTS,    PG_TABLE_SLOTS(Queue), {0, NULL},
};
OCL_TYPE(CommandQueue, Queue, Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE);
