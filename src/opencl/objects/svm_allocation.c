/* svm_allocation.c - SVMAllocation: shared virtual memory of one context, and the capsule that
 * frees it. */
#include "common/track.h"
#include "opencl/context.h"
#include "opencl/enqueue.h"
#include "opencl/event.h"
#include "opencl/lifetime/deferred_init.h"
#include "opencl/lifetime/gil_release.h"
#include "opencl/lifetime/keepalive.h"
#include "opencl/lifetime/usage.h"
#include "opencl/opencl.h"
#include "opencl/queue.h"
#include "opencl/svm.h"

#define MEMORY_NAME "pygpu.svm_memory"

/* The capsule's struct. It may outlive its SVMAllocation, because pending commands keep it. */
typedef struct {
    void *pointer;
    Context *context;
} SvmMemory;

static void free_memory(PyObject *capsule) {
    SvmMemory *memory = PyCapsule_GetPointer(capsule, MEMORY_NAME);
    int status = CL_SUCCESS; /* ignored: there is nobody to report it to, and a trapped call is not
                              * made */
    if (!(PG_UNLIKELY(pg_trap) &&
          pg_trapped("clSVMFree", &ocl_call_counts[FN_clSVMFree], &status)) &&
        cl.clSVMFree != NULL) {
        cl.clSVMFree(memory->context->context, memory->pointer);
    }
    ocl_live[LIVE_SVM]--;
    Py_DECREF(memory->context);
    PyMem_Free(memory);
}

int ocl_svm_memory_visit(PyObject *capsule, visitproc visit, void *arg) {
    if (capsule != NULL && Py_REFCNT(capsule) == 1 && PyCapsule_IsValid(capsule, MEMORY_NAME)) {
        SvmMemory *memory = PyCapsule_GetPointer(capsule, MEMORY_NAME);
        Py_VISIT(memory->context);
    }
    return 0;
}

PyObject *ocl_svm_memory_new(State *state, Context *context, cl_svm_mem_flags flags, size_t size,
                             size_t asked, cl_uint alignment, void **pointer) {
    SvmMemory *memory = PyMem_Calloc(1, sizeof *memory);
    if (memory == NULL) {
        return PyErr_NoMemory();
    }
    int status, tries = 0, again;
    ocl_keepalive_poll();
    size = size > 0 ? size : 1;
    do {
        status = CL_SUCCESS;
        if (!(PG_UNLIKELY(pg_trap) &&
              pg_trapped("clSVMAlloc", &ocl_call_counts[FN_clSVMAlloc], &status))) {
            if (cl.clSVMAlloc == NULL) {
                status = PG_STATUS_MISSING;
            } else {
                Py_BEGIN_ALLOW_THREADS
                memory->pointer = cl.clSVMAlloc(context->context, flags, size, alignment);
                Py_END_ALLOW_THREADS
                status = memory->pointer != NULL
                             ? CL_SUCCESS
                             : CL_MEM_OBJECT_ALLOCATION_FAILURE; /* the driver does not report the
                                                                  * reason */
            }
        }
        again = status == CL_SUCCESS ? 0 : ocl_retry(state, status, &tries);
    } while (again == 1);
    if (status != CL_SUCCESS) {
        PyMem_Free(memory);
        return again < 0 ? NULL
                         : ocl_raise_with(state, "clSVMAlloc", status,
                                          "asked for %zu bytes with alignment %u", asked,
                                          (unsigned)alignment);
    }
    ocl_live[LIVE_SVM]++;
    memory->context = (Context *)Py_NewRef(context);
    PyObject *capsule = PyCapsule_New(memory, MEMORY_NAME, free_memory);
    if (capsule == NULL) {
        cl.clSVMFree(context->context, memory->pointer);
        ocl_live[LIVE_SVM]--;
        Py_DECREF(context);
        PyMem_Free(memory);
        return NULL;
    }
    *pointer = memory->pointer;
    return capsule;
}

PyObject *ocl_svm_allocation_new(State *state, PyTypeObject *type, Context *context, size_t size,
                                 size_t alignment, cl_svm_mem_flags flags, Queue *queue,
                                 PyObject *interface) {
    if (alignment > UINT32_MAX / 2 || (alignment & (alignment - 1)) != 0) {
        return ocl_reject(state, "SVMAllocation", CL_INVALID_VALUE,
                          "alignment must be 0 or a power of two, got %zu", alignment);
    }
    if (queue != NULL && queue->context->context != context->context) {
        return ocl_reject(state, "SVMAllocation", CL_INVALID_CONTEXT,
                          "queue belongs to another context");
    }
    if (ocl_svm_supported(state, context, "SVMAllocation", flags) < 0) {
        return NULL;
    }
    Svm *self = (Svm *)PG_NEW(type);
    if (self == NULL) {
        return NULL;
    }
    self->state = state;
    self->context = (Context *)Py_NewRef(context);
    self->usage = &self->own_usage;
    self->memory =
        ocl_svm_memory_new(state, context, flags, size, size, (cl_uint)alignment, &self->pointer);
    self->size = size;
    self->bound = (Queue *)Py_XNewRef(queue);
    if (self->memory == NULL || (queue != NULL && ocl_usage_add(self->usage, queue) < 0)) {
        Py_DECREF(self);
        return NULL;
    }
    if (interface != NULL) {
        PyObject *data = Py_BuildValue("(NO)", PyLong_FromVoidPtr(self->pointer), Py_False);
        self->interface = data != NULL ? PyDict_Copy(interface) : NULL;
        int failed = self->interface == NULL ||
                     PyDict_SetItemString(self->interface, "data", data) < 0;
        Py_XDECREF(data);
        if (failed) {
            Py_DECREF(self);
            return NULL;
        }
    }
    pg_memory_made((PyObject *)self, size);
    return (PyObject *)self;
}

PG_DOC(SVMAllocation__doc__, "SVMAllocation",
       "context, size, alignment, flags, *, _interface=None, queue=None",
       "(context: Context, size: int, alignment: int, flags: int, *, _interface: dict | None = "
       "None, queue: CommandQueue | None = None)",
       "Shared virtual memory of *size* bytes; 0 is allowed, as for an array without items.\n\n"
       "alignment: bytes, a power of two, or 0 for the driver's choice. flags: svm_mem_flags. "
       "queue: the default of\n"
       "enqueue_release(). Dropped or released, the memory is freed when the commands that use it "
       "are done and the last array over it is gone.\n\n"
       "Raises MemoryError if there is not enough memory, LogicError if no device of the context "
       "has such memory.");
static ArgSpec SVMAllocation_args = PG_ARGSPEC(SVMAllocation__doc__);

static PyObject *SVMAllocation_make(PyTypeObject *type, PyObject *const *a) {
    size_t size, alignment;
    uint64_t flags;
    Context *context;
    Queue *queue = NULL;
    State *state = ocl_state_of(type);
    if (state == NULL || (context = ocl_as_context(state, a[0], "SVMAllocation")) == NULL ||
        pg_as_size(a[1], "SVMAllocation", "size", &size) < 0 ||
        pg_as_size(a[2], "SVMAllocation", "alignment", &alignment) < 0 ||
        pg_as_u64(a[3], "SVMAllocation", "flags", &flags) < 0) {
        return NULL;
    }
    if (a[5] != NULL && a[5] != Py_None &&
        (queue = ocl_as_queue(state, a[5], "SVMAllocation")) == NULL) {
        return NULL;
    }
    PyObject *interface = a[4] != NULL && a[4] != Py_None ? a[4] : NULL;
    if (interface != NULL && !PyDict_Check(interface)) {
        return PyErr_Format(PyExc_TypeError, "SVMAllocation: _interface must be a dict, not %s",
                            pg_type_name(interface));
    }
    return ocl_svm_allocation_new(state, type, context, size, alignment, flags, queue, interface);
}
PG_NEW_BY(SVMAllocation, ocl_svm_allocation, 6)

OCL_MADE_BY_INIT_IF(SVMAllocation, Svm, SVMAllocationType, OCL_HAS_CONTEXT, offsetof(Svm, dict),
                    ocl_svm_moved)

static int alive(Svm *self, const char *call) {
    if (self->pointer == NULL) {
        ocl_reject(self->state, call, CL_INVALID_VALUE, "the %s was released",
                   pg_type_name((PyObject *)self));
        return -1;
    }
    return 0;
}

/* Frees nothing: the memory belongs to the driver, or to the capsule until the event completes. */
static void CL_CALLBACK leave_to_capsule(cl_command_queue queue, cl_uint n, void *pointers[],
                                         void *data) {
    (void)queue;
    (void)n;
    (void)pointers;
    (void)data;
}

PG_DOC(SVMAllocation_enqueue_release__doc__, "enqueue_release",
       "$self, /, queue=None, wait_for=None",
       "(queue: CommandQueue | None = None, wait_for: Sequence[Event] | None = None) -> Event",
       "Release the memory once the earlier commands on *queue*, by default the bound one, are "
       "done. Any later use raises an error.");
PG_FUNCTION(SVMAllocation_enqueue_release, 2)
static PyObject *SVMAllocation_enqueue_release_impl(PyObject *op, PyObject *const *a) {
    Svm *self = (Svm *)op;
    State *state = self->state;
    const char *call = "SVMAllocation.enqueue_release";
    Queue *queue = self->bound;
    WaitList list;
    if (alive(self, call) < 0) {
        return NULL;
    }
    if (a[0] != NULL && a[0] != Py_None && (queue = ocl_as_queue(state, a[0], call)) == NULL) {
        return NULL;
    }
    if (queue == NULL) {
        return ocl_reject(state, call, CL_INVALID_VALUE,
                          "pass a queue: the memory is not bound to one");
    }
    if (queue->context->context != self->context->context) {
        return ocl_reject(state, call, CL_INVALID_CONTEXT, "queue belongs to another context");
    }
    Py_INCREF(queue); /* another thread may unbind the memory in the meantime */
    if (ocl_wait_list(state, a[1], call, queue, &list) < 0) {
        Py_DECREF(queue);
        return NULL;
    }
    if (alive(self, call) < 0 ||
        ocl_usage_add(self->usage, queue) < 0) { /* iterating over wait_for ran foreign code */
        ocl_wait_list_clear(&list);
        Py_DECREF(queue);
        return NULL;
    }
    /* The command only marks the position in the queue. The capsule frees the memory, so nothing
     * leaks if an earlier command fails. */
    cl_event event = NULL;
    cl_int status = CL_SUCCESS;
    void *pointers[1] = {self->pointer};
    self->users++;
    OCL_ENQUEUE(queue, status, clEnqueueSVMFree, queue->queue, 1, pointers, leave_to_capsule, NULL,
                list.n, list.events, &event);
    PyObject *result = ocl_finish_enqueue(queue, "clEnqueueSVMFree", status, event, &list);
    if (status == CL_SUCCESS && self->pointer != NULL) {
        Py_XDECREF(ocl_svm_release(op, NULL)); /* while users > 0 this only marks it */
    }
    Py_DECREF(queue);
    ocl_svm_unpin(op);
    return result;
}

static PyObject *SVMAllocation_bind_to_queue(PyObject *op, PyObject *obj) {
    Svm *self = (Svm *)op;
    const char *call = "SVMAllocation.bind_to_queue";
    Queue *queue = ocl_as_queue(self->state, obj, call);
    if (queue == NULL || alive(self, call) < 0) {
        return NULL;
    }
    if (queue->context->context != self->context->context) {
        return ocl_reject(self->state, call, CL_INVALID_CONTEXT,
                          "queue belongs to another context");
    }
    if (ocl_svm_used(self->state, op, queue) < 0) {
        return NULL;
    }
    Py_XSETREF(self->bound, (Queue *)Py_NewRef(queue));
    Py_RETURN_NONE;
}

static PyObject *SVMAllocation_unbind_from_queue(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Py_CLEAR(((Svm *)op)->bound); /* its commands are still waited for, because the queue stays in
                                   * usage */
    Py_RETURN_NONE;
}

static PyObject *SVMAllocation_get_interface(PyObject *op, void *Py_UNUSED(closure)) {
    Svm *self = (Svm *)op;
    if (alive(self, "SVMAllocation.__array_interface__") < 0) {
        return NULL;
    }
    self->exposed = 1;
    if (self->interface != NULL) {
        return PyDict_Copy(self->interface);
    }
    return Py_BuildValue("{s:i,s:s,s:(n),s:(NO)}", "version", 3, "typestr", "|u1", "shape",
                         (Py_ssize_t)self->size, "data", PyLong_FromVoidPtr(self->pointer),
                         Py_False);
}

#define QUEUE_METHODS                                                                          \
    {"bind_to_queue", SVMAllocation_bind_to_queue, METH_O,                                     \
     "bind_to_queue($self, queue, /)\n--\n\n(queue: CommandQueue, /) -> None\n\nDeclare that " \
     "commands of *queue* use the memory, including those that pygpu does not see."},          \
    {                                                                                          \
        "unbind_from_queue", SVMAllocation_unbind_from_queue, METH_NOARGS,                     \
            "unbind_from_queue($self, /)\n--\n\n() -> None\n\nForget the bound queue. This "   \
            "does not wait; the memory is freed after the commands queued so far."             \
    }

static PyMethodDef SVMAllocation_methods[] = {
    {"release", ocl_svm_release, METH_NOARGS,
     "release($self, /)\n--\n\n() -> None\n\nFree the memory when the commands that use it are "
     "done and all arrays over it are gone. Any later use raises an error."},
    {"enqueue_release", FAST(SVMAllocation_enqueue_release), SVMAllocation_enqueue_release__doc__},
    QUEUE_METHODS,
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef SVMAllocation_getset[] = {
    {"__array_interface__", SVMAllocation_get_interface, NULL,
     "dict: for numpy.asarray, an array of bytes unless svm_empty said otherwise", NULL},
    PG_FIELD("_queue", object, Svm, bound, "CommandQueue | None: the bound queue"),
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot SVMAllocation_slots[] = {
    PG_NEW_SLOTS(SVMAllocation),
    {Py_tp_dealloc, (void *)ocl_svm_dealloc},
    OCL_HANDLE_SLOTS,
    {Py_tp_methods, SVMAllocation_methods},
    {Py_tp_getset, SVMAllocation_getset},
    {0, NULL},
};
OCL_TYPE(SVMAllocation, Svm, Py_TPFLAGS_BASETYPE);

/* ---- PooledSVM: the same, from a pool -------------------------------------------------------- */

static PyMethodDef PooledSVM_methods[] = {
    {"release", ocl_svm_release, METH_NOARGS,
     "release($self, /)\n--\n\n() -> None\n\nReturn the memory to the pool. Any later use raises "
     "an error."},
    {"enqueue_release", ocl_svm_release, METH_NOARGS,
     "enqueue_release($self, /)\n--\n\n() -> None\n\nThe same as release(): the pool orders later "
     "uses after earlier ones."},
    QUEUE_METHODS,
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef PooledSVM_getset[] = {
    PG_FIELD("_queue", object, Svm, bound, "CommandQueue | None: the bound queue"),
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot PooledSVM_slots[] = {
    {Py_tp_doc,
     (void *)"Shared virtual memory of an SVMPool. Dropped or released, it returns to the pool."},
    {Py_tp_dealloc, (void *)ocl_svm_dealloc},
    OCL_HANDLE_SLOTS,
    {Py_tp_methods, PooledSVM_methods},
    {Py_tp_getset, PooledSVM_getset},
    {0, NULL},
};
OCL_TYPE(PooledSVM, Svm, Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION);
