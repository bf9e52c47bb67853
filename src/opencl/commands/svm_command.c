/* svm_command.c - commands on shared virtual memory: copy, map, unmap, fill, migrate. */
#include "opencl/commands/box.h"
#include "opencl/commands/pieces.h"
#include "opencl/context.h"
#include "opencl/device.h"
#include "opencl/enqueue.h"
#include "opencl/event.h"
#include "opencl/lifetime/completion.h"
#include "opencl/lifetime/gates.h"
#include "common/host_array.h"
#include "opencl/opencl.h"
#include "opencl/platform.h"
#include "opencl/queue.h"
#include "opencl/svm.h"

/* Memory that a command uses: shared virtual memory or, for copies only, host memory. */
typedef struct {
    PyObject *svm;  /* strong; NULL for read-only host memory */
    Py_buffer view; /* of the host memory */
    void *pointer;
    size_t size;
} Operand;

static void Operand_clear(Operand *self) {
    if (self->svm == NULL && self->view.obj != NULL) {
        PyBuffer_Release(&self->view);
    }
    Py_CLEAR(self->svm);
}

/* obj: an SVMPointer or anything that SVM() accepts; unless write is set, also read-only host
 * memory. */
static int Operand_set(Operand *self, State *state, PyObject *obj, const char *call,
                       const char *name, Queue *queue, int write) {
    *self = (Operand){0};
    if (ocl_is_svm(state, obj)) {
        self->svm = Py_NewRef(obj);
    } else {
        Py_buffer view;
        if (pg_get_buffer(obj, call, name, write, &view) < 0) {
            return -1;
        }
        if (view.readonly && !write) {
            self->view = view;
            self->pointer = view.buf;
            self->size = (size_t)view.len;
            return 0;
        }
        PyBuffer_Release(&view);
        self->svm = PyObject_CallOneArg((PyObject *)state->SVMType, obj);
        if (self->svm == NULL) {
            return -1;
        }
    }
    if (ocl_svm_pointer(state, self->svm, call, name, queue->context->context, &self->pointer,
                        &self->size) < 0) {
        Operand_clear(self);
        return -1;
    }
    return 0;
}

/* Whether it is host memory that no allocation of ours keeps alive. */
static int Operand_is_foreign(const Operand *self) {
    Svm *svm = (Svm *)self->svm;
    return svm == NULL || svm->context == NULL;
}

/* Records the use and pins the memory; Operand_unpin undoes it. The arguments may have changed
 * while foreign code ran. */
static int Operand_pin(Operand *self, State *state, const char *call, const char *name,
                       Queue *queue) {
    if (self->svm == NULL) {
        return 0;
    }
    if (ocl_svm_pointer(state, self->svm, call, name, queue->context->context, &self->pointer,
                        &self->size) < 0 ||
        (!Operand_is_foreign(self) && ocl_svm_used(state, self->svm, queue) < 0)) {
        return -1;
    }
    ocl_svm_pin(self->svm);
    return 0;
}

static void Operand_unpin(Operand *self) {
    if (self->svm != NULL) {
        ocl_svm_unpin(self->svm);
    }
}

/* Keeps host memory alive until the command completes. */
static void Operand_hold(Operand *self, State *state, cl_event event) {
    if (self->svm == NULL) {
        ocl_keepalive_buffer(state, event, &self->view);
        self->view.obj = NULL;
    } else if (Operand_is_foreign(self)) {
        ocl_keepalive_object(state, event, self->svm);
    }
}

/* The queue's device must support what the command needs: shared virtual memory, and for pointers
 * to ordinary host memory system SVM, too. */
static int check_device(Queue *queue, const char *call, const Operand *operand) {
    State *state = queue->state;
    cl_bitfield has = ocl_device_limits(queue->device)->svm_capabilities;
    if (ocl_need_version(state, call, queue->device->version, 200) < 0) {
        return -1;
    }
    if (has == 0) {
        ocl_reject(state, call, CL_INVALID_OPERATION, "%R does not support shared virtual memory",
                   (PyObject *)queue->device);
        return -1;
    }
    if (operand != NULL && Operand_is_foreign(operand) &&
        !(has & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM)) {
        ocl_reject(state, call, CL_INVALID_VALUE,
                   "the memory is not shared: it is the host's own, and %R lacks FINE_GRAIN_SYSTEM",
                   (PyObject *)queue->device);
        return -1;
    }
    return 0;
}

/* Reads byte_count, by default everything, and checks it against total. */
static int as_count(State *state, PyObject *obj, const char *call, const char *name, size_t total,
                    size_t *count) {
    *count = total;
    if (obj == NULL || obj == Py_None) {
        return 0;
    }
    if (pg_as_size(obj, call, name, count) < 0) {
        return -1;
    }
    if (*count > total) {
        ocl_reject(state, call, CL_INVALID_VALUE,
                   "%s = %zu is more than the %zu bytes of the memory", name, *count, total);
        return -1;
    }
    return 0;
}

/* ---- copy ------------------------------------------------------------------------------------ */

PG_DOC(ocl_enqueue_svm_memcpy__doc__, "_enqueue_svm_memcpy",
       "queue, is_blocking, dst, src, wait_for=None, byte_count=None",
       "(queue: CommandQueue, is_blocking: bool, dst: SVMPointer | HostBuffer, src: SVMPointer | "
       "HostBuffer, wait_for: Sequence[Event] | None = None, "
       "byte_count: int | None = None) -> Event",
       "Copy between shared virtual memory and it or host memory. Without byte_count the sizes "
       "must be equal.");
static int check_copy(State *state, const char *call, const Operand *dst, const Operand *src,
                      PyObject *byte_count, size_t *count) {
    if (byte_count == NULL || byte_count == Py_None) {
        if (dst->size != src->size) {
            ocl_reject(state, call, CL_INVALID_VALUE,
                       "the destination has %zu bytes, the source %zu; give byte_count", dst->size,
                       src->size);
            return -1;
        }
        *count = src->size;
    } else if (as_count(state, byte_count, call, "byte_count",
                        dst->size < src->size ? dst->size : src->size, count) < 0) {
        return -1;
    }
    uintptr_t to = (uintptr_t)dst->pointer, from = (uintptr_t)src->pointer;
    if (*count > 0 && to < from + *count && from < to + *count) {
        ocl_reject(state, "clEnqueueSVMMemcpy", CL_MEM_COPY_OVERLAP,
                   "source and destination overlap");
        return -1;
    }
    return 0;
}

typedef struct {
    char *to;
    const char *from;
} SvmCopy;

static cl_int copy_piece(Queue *queue, const void *command, size_t start, size_t size, cl_uint n,
                         const cl_event *events, cl_event *event) {
    const SvmCopy *copy = command;
    cl_int status = CL_SUCCESS;
    OCL_ENQUEUE(queue, status, clEnqueueSVMMemcpy, queue->queue, CL_FALSE, copy->to + start,
                copy->from + start, size, n, events, event);
    return status;
}

static int pin_both(State *state, const char *call, Queue *queue, Operand *dst, Operand *src) {
    if (Operand_pin(dst, state, call, "dst", queue) < 0) {
        return -1;
    }
    if (Operand_pin(src, state, call, "src", queue) < 0) {
        Operand_unpin(dst);
        return -1;
    }
    return 0;
}

/* Waits if blocking, and makes the Event of an enqueued copy. Takes over the list. */
static PyObject *finish_copy(State *state, Queue *queue, cl_event event, WaitList *list,
                             int blocking, Operand *dst, Operand *src) {
    const char *routine = "clEnqueueSVMMemcpy";
    ocl_gates_enqueued(queue, list->gates);
    int failed = blocking && (ocl_wait(state, event, routine, NULL) < 0 ||
                              ocl_gates_check(state, list->gates, routine) < 0);
    if (!blocking ||
        (failed &&
         !ocl_event_ended(event))) { /* the command is still running and needs its memory */
        Operand_hold(dst, state, event);
        Operand_hold(src, state, event);
    }
    if (failed) {
        ocl_wait_list_clear(list);
        ocl_live[LIVE_EVENT]++;
        ocl_event_release(event);
        return NULL;
    }
    return ocl_event_after(queue, event, list);
}

PG_SHARED_FUNCTION(ocl_enqueue_svm_memcpy, 6)
static PyObject *ocl_enqueue_svm_memcpy_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    const char *call = "enqueue_copy", *routine = "clEnqueueSVMMemcpy";
    PyObject *result = NULL;
    Operand dst, src;
    WaitList list;
    size_t count;
    int blocking;
    Queue *queue;
    if ((queue = ocl_as_queue(state, a[0], call)) == NULL ||
        (blocking = PyObject_IsTrue(a[1])) < 0 || check_device(queue, call, NULL) < 0 ||
        Operand_set(&dst, state, a[2], call, "dst", queue, 1) < 0) {
        return NULL;
    }
    if (Operand_set(&src, state, a[3], call, "src", queue, 0) < 0) {
        Operand_clear(&dst);
        return NULL;
    }
    if (check_copy(state, call, &dst, &src, a[5], &count) < 0 ||
        ocl_wait_list(state, a[4], call, queue, &list) < 0) {
        goto done;
    }
    cl_event event = NULL;
    cl_int status = CL_SUCCESS;
    if (count == 0) {
        result = ocl_enqueue_empty(queue, &list);
        goto done;
    }
    if (pin_both(state, call, queue, &dst, &src) < 0) {
        ocl_wait_list_clear(&list);
        goto done;
    }
    SvmCopy copy = {dst.pointer, src.pointer};
    status = ocl_in_pieces(queue, copy_piece, &copy, count, &list, &event);
    Operand_unpin(&src);
    Operand_unpin(&dst);
    if (status != CL_SUCCESS) {
        ocl_wait_list_clear(&list);
        if (event != NULL) { /* some pieces are still running */
            Operand_hold(&dst, state, event);
            Operand_hold(&src, state, event);
            ocl_piece_release(event);
        }
        ocl_raise(state, routine, status);
        goto done;
    }
    result = finish_copy(state, queue, event, &list, blocking, &dst, &src);
done:
    Operand_clear(&src);
    Operand_clear(&dst);
    return result;
}

/* ---- map ------------------------------------------------------------------------------------- */

/* The common start of map, unmap and fill: a queue and shared virtual memory. */
static Queue *queue_and_operand(State *state, PyObject *queue_arg, PyObject *svm_arg,
                                const char *call, const char *name, Operand *operand) {
    Queue *queue = ocl_as_queue(state, queue_arg, call);
    if (queue == NULL || Operand_set(operand, state, svm_arg, call, name, queue, 1) < 0) {
        return NULL;
    }
    if (check_device(queue, call, operand) < 0) {
        Operand_clear(operand);
        return NULL;
    }
    return queue;
}

static cl_int unmap(Queue *queue, void *pointer, const WaitList *list, cl_event *event) {
    cl_int status = CL_SUCCESS;
    OCL_ENQUEUE(queue, status, clEnqueueSVMUnmap, queue->queue, pointer, list != NULL ? list->n : 0,
                list != NULL ? list->events : NULL, event);
    return status;
}

PG_DOC(enqueue_svm_map__doc__, "_enqueue_svm_map",
       "queue, is_blocking, flags, svm, wait_for=None, size=None",
       "(queue: CommandQueue, is_blocking: bool, flags: int, svm: SVMPointer, wait_for: "
       "Sequence[Event] | None = None, size: int | None = None) -> Event",
       "Let the host use the first *size* bytes, by default all, until _enqueue_svm_unmap. "
       "SVMPointer.map is the safe way.");
PG_FUNCTION(enqueue_svm_map, 6)
static PyObject *enqueue_svm_map_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    const char *call = "SVMPointer.map";
    PyObject *result = NULL;
    Operand operand;
    WaitList list;
    uint64_t flags;
    size_t size;
    int blocking;
    Queue *queue;
    if ((blocking = PyObject_IsTrue(a[1])) < 0 || pg_as_u64(a[2], call, "flags", &flags) < 0 ||
        (queue = queue_and_operand(state, a[0], a[3], call, "svm", &operand)) == NULL) {
        return NULL;
    }
    if (flags == 0 ||
        (flags & ~(uint64_t)(CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0 ||
        ((flags & CL_MAP_WRITE_INVALIDATE_REGION) && (flags & (CL_MAP_READ | CL_MAP_WRITE)))) {
        ocl_reject(
            state, call, CL_INVALID_VALUE,
            "flags must be map_flags.READ, WRITE, both, or WRITE_INVALIDATE_REGION alone, not %s",
            pg_hex(flags).text);
        goto done;
    }
    if (as_count(state, a[5], call, "size", operand.size, &size) < 0 ||
        ocl_wait_list(state, a[4], call, queue, &list) < 0) {
        goto done;
    }
    if (size == 0) {
        result = ocl_enqueue_empty(queue, &list);
        goto done;
    }
    if (Operand_pin(&operand, state, call, "svm", queue) < 0) {
        ocl_wait_list_clear(&list);
        goto done;
    }
    cl_event event = NULL;
    cl_int status = CL_SUCCESS;
    ocl_gates_must_run(list.gates); /* it must run, because the unmapping will follow */
    OCL_ENQUEUE(queue, status, clEnqueueSVMMap, queue->queue, CL_FALSE, flags, operand.pointer,
                size, list.n, list.events, &event);
    result = ocl_finish_enqueue(queue, "clEnqueueSVMMap", status, event, &list);
    if (result != NULL && blocking &&
        (ocl_wait(state, event, "clEnqueueSVMMap", NULL) < 0 ||
         ocl_event_check((Event *)result, "clEnqueueSVMMap") < 0)) {
        Py_CLEAR(result);
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        unmap(queue, operand.pointer, NULL, NULL); /* the caller cannot do it */
        PyErr_Restore(type, value, traceback);
    }
    Operand_unpin(&operand);
done:
    Operand_clear(&operand);
    return result;
}

PG_DOC(enqueue_svm_unmap__doc__, "_enqueue_svm_unmap", "queue, svm, wait_for=None",
       "(queue: CommandQueue, svm: SVMPointer, wait_for: Sequence[Event] | None = None) -> Event",
       "End what _enqueue_svm_map began.");
PG_FUNCTION(enqueue_svm_unmap, 3)
static PyObject *enqueue_svm_unmap_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    const char *call = "SVMMap.release";
    PyObject *result = NULL;
    Operand operand;
    WaitList list;
    Queue *queue;
    if ((queue = queue_and_operand(state, a[0], a[1], call, "svm", &operand)) == NULL) {
        return NULL;
    }
    if (ocl_wait_list(state, a[2], call, queue, &list) < 0) {
        goto done;
    }
    if (operand.size == 0) {
        result = ocl_enqueue_empty(queue, &list);
        goto done;
    }
    if (Operand_pin(&operand, state, call, "svm", queue) < 0) {
        ocl_wait_list_clear(&list);
        goto done;
    }
    cl_event event = NULL;
    cl_int status = unmap(queue, operand.pointer, &list, &event);
    Operand_unpin(&operand);
    result = ocl_finish_enqueue(queue, "clEnqueueSVMUnmap", status, event, &list);
done:
    Operand_clear(&operand);
    return result;
}

/* ---- fill, migrate --------------------------------------------------------------------------- */

PG_DOC(enqueue_svm_memfill__doc__, "enqueue_svm_memfill",
       "queue, dest, pattern, byte_count=None, wait_for=None",
       "(queue: CommandQueue, dest: SVMPointer | HostBuffer, pattern: HostBuffer, byte_count: int "
       "| None = None, wait_for: Sequence[Event] | None = None) "
       "-> Event",
       "Repeat *pattern* (1, 2, 4, ..., 128 bytes: bytes or a NumPy scalar) over the first "
       "*byte_count* bytes, by default all.\n\n"
       "byte_count and the address must be multiples of the pattern's size.");
/* How many bytes to fill, and with which pattern; the operand has the address. */
static int check_fill(State *state, const char *call, PyObject *byte_count, const Operand *operand,
                      OclFill *fill) {
    if (ocl_check_pattern(state, call, fill->length) < 0 ||
        as_count(state, byte_count, call, "byte_count", operand->size, &fill->size) < 0) {
        return -1;
    }
    if (fill->size % fill->length != 0 || (uintptr_t)operand->pointer % fill->length != 0) {
        ocl_reject(state, call, CL_INVALID_VALUE,
                   "byte_count %zu and the address %s must be multiples of the pattern's %zu bytes",
                   fill->size, pg_hex((uintptr_t)operand->pointer).text, fill->length);
        return -1;
    }
    return 0;
}

PG_FUNCTION(enqueue_svm_memfill, 5)
static PyObject *enqueue_svm_memfill_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    const char *call = "enqueue_svm_memfill";
    PyObject *result = NULL;
    Operand operand;
    WaitList list;
    Py_buffer pattern;
    Queue *queue;
    if ((queue = queue_and_operand(state, a[0], a[1], call, "dest", &operand)) == NULL) {
        return NULL;
    }
    if (pg_get_buffer(a[2], call, "pattern", 0, &pattern) < 0) {
        Operand_clear(&operand);
        return NULL;
    }
    OclFill fill = {.pattern = pattern.buf, .length = (size_t)pattern.len};
    if (check_fill(state, call, a[3], &operand, &fill) < 0 ||
        ocl_wait_list(state, a[4], call, queue, &list) < 0) {
        goto done;
    }
    if (fill.size == 0) {
        result = ocl_enqueue_empty(queue, &list);
        goto done;
    }
    if (Operand_pin(&operand, state, call, "dest", queue) < 0) {
        ocl_wait_list_clear(&list);
        goto done;
    }
    cl_event event = NULL;
    fill.svm = operand.pointer;
    cl_int status = ocl_enqueue_fill(queue, &fill, &list, &event);
    Operand_unpin(&operand);
    if (event != NULL && Operand_is_foreign(&operand)) {
        Operand_hold(&operand, state, event);
    }
    if (status != CL_SUCCESS) {
        ocl_piece_release(event);
    }
    result = ocl_finish_enqueue(queue, "clEnqueueSVMMemFill", status, event, &list);
done:
    PyBuffer_Release(&pattern); /* safe: the driver has copied it */
    Operand_clear(&operand);
    return result;
}

PG_DOC(enqueue_svm_migrate_mem__doc__, "enqueue_svm_migrate_mem",
       "queue, svms, flags=0, wait_for=None",
       "(queue: CommandQueue, svms: Sequence[SVMPointer | HostBuffer], flags: int = 0, wait_for: "
       "Sequence[Event] | None = None) -> Event",
       "Move shared virtual memory to the queue's device, or to the host "
       "(mem_migration_flags.HOST) (OpenCL 2.1).");
/* The memory to migrate. When zeroed, it has no operands. */
typedef struct {
    PyObject *objects; /* a tuple */
    Operand *operands;
    const void **pointers;
    Py_ssize_t n, n_set, n_pinned;
} Migration;

static void Migration_clear(Migration *self) {
    for (Py_ssize_t i = 0; i < self->n_pinned; i++) {
        Operand_unpin(&self->operands[i]);
    }
    for (Py_ssize_t i = 0; i < self->n_set; i++) {
        Operand_clear(&self->operands[i]);
    }
    PyMem_Free(self->operands);
    PyMem_Free(self->pointers);
    Py_XDECREF(self->objects);
}

/* Returns 0, or -1 with an exception. Must be cleared in either case. */
static int Migration_read(Migration *self, State *state, const char *call, PyObject *svms,
                          Queue *queue) {
    self->objects = pg_tuple(svms, call, "svms", "SVMPointers", 1 << 20);
    if (self->objects == NULL) {
        return -1;
    }
    self->n = PyTuple_GET_SIZE(self->objects);
    self->operands = PyMem_Calloc((size_t)self->n + 1, sizeof *self->operands);
    self->pointers = PyMem_Calloc((size_t)self->n + 1, sizeof *self->pointers);
    if (self->operands == NULL || self->pointers == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    while (self->n_set < self->n) {
        Operand *operand = &self->operands[self->n_set];
        if (Operand_set(operand, state, PyTuple_GET_ITEM(self->objects, self->n_set), call,
                        "each of svms", queue, 1) < 0) {
            return -1;
        }
        self->n_set++;
        if (check_device(queue, call, operand) < 0) {
            return -1;
        }
    }
    return 0;
}

static int Migration_pin(Migration *self, State *state, const char *call, Queue *queue) {
    for (; self->n_pinned < self->n; self->n_pinned++) {
        Operand *operand = &self->operands[self->n_pinned];
        if (Operand_pin(operand, state, call, "each of svms", queue) < 0) {
            return -1;
        }
        self->pointers[self->n_pinned] = operand->pointer;
    }
    return 0;
}

PG_FUNCTION(enqueue_svm_migrate_mem, 4)
static PyObject *enqueue_svm_migrate_mem_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    const char *call = "enqueue_svm_migrate_mem", *routine = "clEnqueueSVMMigrateMem";
    PyObject *result = NULL;
    WaitList list;
    uint64_t flags = 0;
    Queue *queue;
    if ((queue = ocl_as_queue(state, a[0], call)) == NULL ||
        (a[2] != NULL && a[2] != Py_None && pg_as_u64(a[2], call, "flags", &flags) < 0) ||
        check_device(queue, call, NULL) < 0 ||
        ocl_need_version(state, routine, queue->device->version, 210) < 0) {
        return NULL;
    }
    if (flags & ~(uint64_t)(CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED)) {
        return ocl_reject(state, call, CL_INVALID_VALUE,
                          "flags must be mem_migration_flags, not %s", pg_hex(flags).text);
    }
    if (ocl_is_svm(state, a[1])) {
        return PyErr_Format(PyExc_TypeError, "%s: svms must be a sequence of SVMPointers, not %s",
                            call, pg_type_name(a[1]));
    }
    Migration all = {0};
    if (Migration_read(&all, state, call, a[1], queue) < 0 ||
        ocl_wait_list(state, a[3], call, queue, &list) < 0) {
        goto done;
    }
    if (all.n == 0) {
        result = ocl_enqueue_empty(queue, &list);
        goto done;
    }
    if (Migration_pin(&all, state, call, queue) < 0) {
        ocl_wait_list_clear(&list);
        goto done;
    }
    cl_event event = NULL;
    cl_int status = CL_SUCCESS;
    OCL_ENQUEUE(queue, status, clEnqueueSVMMigrateMem, queue->queue, (cl_uint)all.n, all.pointers,
                NULL, flags, list.n, list.events, &event);
    if (status == CL_SUCCESS && (queue->device->platform->quirks & OCL_QUIRK_READS_LISTS_LATE)) {
        ocl_keepalive_array(state, event, all.pointers);
        all.pointers = NULL;
    }
    result = ocl_finish_enqueue(queue, routine, status, event, &list);
done:
    Migration_clear(&all);
    return result;
}

/* ---- NumPy-like allocation ------------------------------------------------------------------- */

PG_DOC(svm_empty__doc__, "_svm_empty",
       "ctx, flags, shape, dtype, order='C', alignment=None, queue=None",
       "(ctx: Context, flags: int, shape: int | Sequence[int], dtype: DTypeLike, order: str = 'C', "
       "alignment: int | None = None, "
       "queue: CommandQueue | None = None) -> numpy.ndarray",
       "An array in shared virtual memory; see pygpu.svm_empty.");
PG_FUNCTION(svm_empty, 7)
static PyObject *svm_empty_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    const char *call = "svm_empty";
    PgArrayLayout layout;
    Context *context;
    uint64_t flags;
    size_t alignment = 0;
    Queue *queue = NULL;
    if ((context = ocl_as_context(state, a[0], call)) == NULL ||
        pg_as_u64(a[1], call, "flags", &flags) < 0 ||
        (a[5] != NULL && a[5] != Py_None && pg_as_size(a[5], call, "alignment", &alignment) < 0) ||
        (a[6] != NULL && a[6] != Py_None && (queue = ocl_as_queue(state, a[6], call)) == NULL) ||
        pg_array_layout(call, a[2], a[3], a[4], NULL, &layout) < 0) {
        return NULL;
    }
    PyObject *owner = ocl_svm_allocation_new(state, state->SVMAllocationType, context, layout.size,
                                             alignment, flags, queue, NULL);
    if (owner == NULL) {
        Py_CLEAR(layout.dtype);
        return NULL;
    }
    ((Svm *)owner)->exposed = 1;
    PyArrayObject *array = pg_array_from_layout(owner, &layout, ((Svm *)owner)->pointer, 1);
    Py_DECREF(owner);
    return (PyObject *)array;
}

PyMethodDef ocl_svm_functions[] = {
    {"_enqueue_svm_memcpy", FAST(ocl_enqueue_svm_memcpy), ocl_enqueue_svm_memcpy__doc__},
    {"_enqueue_svm_map", FAST(enqueue_svm_map), enqueue_svm_map__doc__},
    {"_enqueue_svm_unmap", FAST(enqueue_svm_unmap), enqueue_svm_unmap__doc__},
    {"enqueue_svm_memfill", FAST(enqueue_svm_memfill), enqueue_svm_memfill__doc__},
    {"enqueue_svm_migrate_mem", FAST(enqueue_svm_migrate_mem), enqueue_svm_migrate_mem__doc__},
    {"_svm_empty", FAST(svm_empty), svm_empty__doc__},
    {NULL, NULL, 0, NULL},
};
