/* transfer.c - copies between host memory and buffers and between buffers: enqueue_copy() and its
 * helpers. */
#include "opencl/api/roles.h"
#include "opencl/commands/blocking.h"
#include "opencl/commands/box.h"
#include "opencl/commands/pieces.h"
#include "opencl/enqueue.h"
#include "opencl/event.h"
#include "opencl/lifetime/completion.h"
#include "opencl/lifetime/gates.h"
#include "opencl/lifetime/queue_idle.h"
#include "opencl/lifetime/usage.h"
#include "opencl/memory.h"
#include "opencl/opencl.h"
#include "opencl/queue.h"
#include "opencl/svm.h"

PyObject *ocl_finish_enqueue(Queue *queue, const char *routine, cl_int status, cl_event event,
                             WaitList *list) {
    if (status != CL_SUCCESS) {
        ocl_wait_list_clear(list);
        return ocl_raise(queue->state, routine, status);
    }
    return ocl_event_after(queue, event, list);
}

static PyObject *finish_host_copy(Queue *queue, const char *routine, cl_int status, cl_event event,
                                  Gates *gates, Py_buffer *view, PyObject *host, int blocking) {
    State *state = queue->state;
    if (status != CL_SUCCESS) {
        PyBuffer_Release(view);
        return ocl_raise(state, routine, status);
    }
    ocl_gates_enqueued(queue, gates);
    if (!blocking) {
        ocl_keepalive_buffer(state, event, view);
        PyObject *result = ocl_nanny_event_new(state, event, queue->context->context, host);
        if (result != NULL) {
            ((Event *)result)->gates = ocl_gates_share(gates);
        }
        return result;
    }
    unsigned number = queue->enqueued;
    if (blocking == OCL_WAIT_HERE &&
        (ocl_wait(state, event, routine, NULL) < 0 || ocl_gates_check(state, gates, routine) < 0)) {
        if (ocl_event_ended(event)) {
            PyBuffer_Release(view);
        } else { /* interrupted, or the driver could not wait: the copy is still running, so its
                  * memory must stay */
            ocl_keepalive_buffer(state, event, view);
        }
        ocl_live[LIVE_EVENT]++;
        ocl_event_release(event);
        return NULL;
    }
    PyBuffer_Release(view);
    if (!(queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)) {
        ocl_queue_done(queue, number); /* earlier commands have completed, too */
    }
    PyObject *made = ocl_nanny_event_new(state, event, queue->context->context, NULL);
    if (made != NULL && pg_report(&state->common) < 0) {
        Py_CLEAR(made);
    }
    return made;
}

PyObject *ocl_finish_host_copy(Queue *queue, const char *routine, cl_int status, cl_event event,
                               WaitList *list, Py_buffer *view, PyObject *host, int blocking) {
    Gates *gates = list->gates;
    list->gates = NULL;
    ocl_wait_list_clear(list);
    PyObject *result = finish_host_copy(queue, routine, status, event, gates, view, host, blocking);
    ocl_gates_release(gates);
    return result;
}

PyObject *ocl_enqueue_empty(Queue *queue, WaitList *list) {
    cl_event event = NULL;
    cl_int status = CL_SUCCESS;
    if (queue->device->version >= 120 && cl.clEnqueueMarkerWithWaitList != NULL) {
        OCL_ENQUEUE(queue, status, clEnqueueMarkerWithWaitList, queue->queue, list->n, list->events,
                    &event);
        return ocl_finish_enqueue(queue, "clEnqueueMarkerWithWaitList", status, event, list);
    }
    if (list->n > 0) {
        CL_CALL(status, clEnqueueWaitForEvents, queue->queue, list->n, list->events);
    }
    if (status == CL_SUCCESS) {
        CL_CALL(status, clEnqueueMarker, queue->queue, &event);
    }
    return ocl_finish_enqueue(queue, "clEnqueueMarker", status, event, list);
}

/* Checks offset + size against the size of a memory object. */
static int check_range(State *state, const char *call, const char *name, size_t offset, size_t size,
                       size_t total) {
    size_t end;
    if (pg_add(offset, size, &end) < 0 || end > total) {
        ocl_reject(state, call, CL_INVALID_VALUE,
                   "%zu bytes at %s %zu end past the %zu bytes of the buffer", size, name, offset,
                   total);
        return -1;
    }
    return 0;
}

/* write: copy to the device. */
static PyObject *host_copy(State *state, const char *call, PyObject *queue_arg,
                           PyObject *memory_arg, PyObject *host, size_t offset, PyObject *wait_for,
                           int blocking, int write) {
    const char *routine = write ? "clEnqueueWriteBuffer" : "clEnqueueReadBuffer";
    Py_buffer view;
    WaitList list;
    Queue *queue = ocl_as_queue(state, queue_arg, call);
    Memory *memory = ocl_queue_buffer(queue, memory_arg, call, "the buffer");
    if (memory == NULL || pg_get_buffer(host, call, "the host array", !write, &view) < 0) {
        return NULL;
    }
    if (ocl_memory_alive(memory, call) < 0 ||
        check_range(state, call, write ? "dst_offset" : "src_offset", offset, (size_t)view.len,
                    memory->size) < 0 ||
        ocl_wait_list(state, wait_for, call, queue, &list) < 0) {
        PyBuffer_Release(&view);
        return NULL;
    }
    if (ocl_memory_alive(memory, call) < 0 ||
        (view.len > 0 && ocl_memory_prepare(memory, queue) < 0)) {
        ocl_wait_list_clear(&list);
        PyBuffer_Release(&view);
        return NULL;
    }
    if (view.len == 0) {
        PyBuffer_Release(&view);
        return ocl_enqueue_empty(queue, &list);
    }
    cl_event event = NULL;
    cl_int status = CL_SUCCESS;
    cl_mem mem = memory->mem;
    ocl_memory_pin(memory);
    blocking = ocl_choose_wait(queue, &list, (size_t)view.len, blocking);
    int tries = 0, again = blocking < 0 ? -1 : 1;
    while (again == 1) {
        status = CL_SUCCESS;
        if (write) {
            OCL_ENQUEUE_COPY(queue, blocking, status, clEnqueueWriteBuffer, queue->queue, mem,
                             OCL_BLOCKS(blocking), offset, (size_t)view.len, view.buf, list.n,
                             list.events, &event);
        } else {
            OCL_ENQUEUE_COPY(queue, blocking, status, clEnqueueReadBuffer, queue->queue, mem,
                             OCL_BLOCKS(blocking), offset, (size_t)view.len, view.buf, list.n,
                             list.events, &event);
        }
        again = status == CL_SUCCESS ? 0 : ocl_retry(state, status, &tries);
    }
    ocl_memory_unpin(memory);
    if (again < 0) {
        ocl_wait_list_clear(&list);
        PyBuffer_Release(&view);
        return NULL;
    }
    return ocl_finish_host_copy(queue, routine, status, event, &list, &view, host, blocking);
}

typedef struct {
    cl_mem from, to;
    size_t from_offset, to_offset;
} BufferCopy;

static cl_int copy_piece(Queue *queue, const void *command, size_t start, size_t size, cl_uint n,
                         const cl_event *events, cl_event *event) {
    const BufferCopy *copy = command;
    cl_int status = CL_SUCCESS;
    OCL_ENQUEUE(queue, status, clEnqueueCopyBuffer, queue->queue, copy->from, copy->to,
                copy->from_offset + start, copy->to_offset + start, size, n, events, event);
    return status;
}

/* How many bytes to copy: byte_count, or as many as both have after their offsets. Returns -1 with
 * an exception. */
static inline int copy_size(const Memory *src, const Memory *dst, const char *call,
                            PyObject *byte_count, const BufferCopy *copy, size_t *size) {
    State *state = src->state;
    if (copy->from_offset > src->size || copy->to_offset > dst->size) {
        ocl_reject(state, call, CL_INVALID_VALUE,
                   "an offset (source %zu of %zu bytes, destination %zu of %zu) is past the end",
                   copy->from_offset, src->size, copy->to_offset, dst->size);
        return -1;
    }
    int all = byte_count == NULL || byte_count == Py_None;
    if (!all && PyLong_Check(byte_count)) { /* PyOpenCL's default is -1 */
        int overflow;
        all = PyLong_AsLongAndOverflow(byte_count, &overflow) == -1 && !overflow;
    }
    if (all) {
        size_t from = src->size - copy->from_offset, to = dst->size - copy->to_offset;
        *size = from < to ? from : to;
        return 0;
    }
    return pg_as_size(byte_count, call, "byte_count", size) < 0 ||
                   check_range(state, call, "src_offset", copy->from_offset, *size, src->size) <
                       0 ||
                   check_range(state, call, "dst_offset", copy->to_offset, *size, dst->size) < 0
               ? -1
               : 0;
}

static inline int overlap(const BufferCopy *copy, size_t size) {
    return copy->from == copy->to && copy->from_offset < copy->to_offset + size &&
           copy->to_offset < copy->from_offset + size && size > 0;
}

static PyObject *buffer_copy(State *state, const char *call, PyObject *queue_arg, PyObject *src_arg,
                             PyObject *dst_arg, PyObject *byte_count, size_t src_offset,
                             size_t dst_offset, PyObject *wait_for) {
    WaitList list;
    Queue *queue = ocl_as_queue(state, queue_arg, call);
    Memory *src = ocl_queue_buffer(queue, src_arg, call, "the source");
    Memory *dst = src != NULL ? ocl_queue_buffer(queue, dst_arg, call, "the destination") : NULL;
    size_t size;
    if (dst == NULL) {
        return NULL;
    }
    BufferCopy copy = {src->mem, dst->mem, src_offset, dst_offset};
    if (copy_size(src, dst, call, byte_count, &copy, &size) < 0) {
        return NULL;
    }
    if (overlap(&copy, size)) {
        return ocl_reject(state, "clEnqueueCopyBuffer", CL_MEM_COPY_OVERLAP,
                          "source and destination are the same buffer and overlap");
    }
    if (ocl_wait_list(state, wait_for, call, queue, &list) < 0) {
        return NULL;
    }
    if (size == 0) {
        return ocl_enqueue_empty(queue, &list);
    }
    if (ocl_memory_alive(src, call) < 0 || ocl_memory_alive(dst, call) < 0 ||
        ocl_memory_prepare(src, queue) < 0 || ocl_memory_prepare(dst, queue) < 0) {
        ocl_wait_list_clear(&list);
        return NULL;
    }
    cl_event event = NULL;
    cl_int status;
    int tries = 0, again;
    copy.from = src->mem;
    copy.to = dst->mem;
    ocl_memory_pin(src);
    ocl_memory_pin(dst);
    do {
        status = ocl_in_pieces(queue, copy_piece, &copy, size, &list, &event);
        if (status != CL_SUCCESS) {
            ocl_piece_release(event);
            event = NULL;
        }
        again = status == CL_SUCCESS ? 0 : ocl_retry(state, status, &tries);
    } while (again == 1);
    ocl_memory_unpin(dst);
    ocl_memory_unpin(src);
    if (again < 0) {
        ocl_wait_list_clear(&list);
        return NULL;
    }
    return ocl_finish_enqueue(queue, "clEnqueueCopyBuffer", status, event, &list);
}

/* ---- module functions ------------------------------------------------------------------------ */

PG_DOC(enqueue_read_buffer__doc__, "_enqueue_read_buffer",
       "queue, mem, hostbuf, src_offset=0, wait_for=None, is_blocking=True",
       "(queue: CommandQueue, mem: MemoryObjectHolder, hostbuf: HostBuffer, src_offset: int = 0, "
       "wait_for: Sequence[Event] | None = None, is_blocking: bool = True) "
       "-> NannyEvent",
       "Copy hostbuf.nbytes bytes from *src_offset* on to the host.");

PG_DOC(enqueue_write_buffer__doc__, "_enqueue_write_buffer",
       "queue, mem, hostbuf, dst_offset=0, wait_for=None, is_blocking=True",
       "(queue: CommandQueue, mem: MemoryObjectHolder, hostbuf: HostBuffer, dst_offset: int = 0, "
       "wait_for: Sequence[Event] | None = None, is_blocking: bool = True) "
       "-> NannyEvent",
       "Copy all of hostbuf to the buffer from *dst_offset* on.");

static PyObject *read_or_write(PyObject *module, PyObject *const *a, const char *offset_name,
                               int write) {
    size_t offset = 0;
    int blocking;
    const char *call = "enqueue_copy"; /* the function that the user called */
    if ((a[3] != NULL && pg_as_size(a[3], call, offset_name, &offset) < 0) ||
        (blocking = pg_as_bool(a[5], 1)) < 0) {
        return NULL;
    }
    return host_copy(PyModule_GetState(module), call, a[0], a[1], a[2], offset, a[4], blocking,
                     write);
}

PG_FUNCTION(enqueue_read_buffer, 6)
static PyObject *enqueue_read_buffer_impl(PyObject *module, PyObject *const *a) {
    return read_or_write(module, a, "src_offset", 0);
}

PG_FUNCTION(enqueue_write_buffer, 6)
static PyObject *enqueue_write_buffer_impl(PyObject *module, PyObject *const *a) {
    return read_or_write(module, a, "dst_offset", 1);
}

PG_DOC(enqueue_copy_buffer__doc__, "_enqueue_copy_buffer",
       "queue, src, dst, byte_count=None, src_offset=0, dst_offset=0, wait_for=None",
       "(queue: CommandQueue, src: MemoryObjectHolder, dst: MemoryObjectHolder, byte_count: int | "
       "None = None, src_offset: int = 0, dst_offset: int = 0, "
       "wait_for: Sequence[Event] | None = None) -> Event",
       "Copy *byte_count* bytes (by default as many as both hold) from one buffer to another.");
PG_FUNCTION(enqueue_copy_buffer, 7)
static PyObject *enqueue_copy_buffer_impl(PyObject *module, PyObject *const *a) {
    size_t src_offset = 0, dst_offset = 0;
    const char *call = "enqueue_copy";
    if ((a[4] != NULL && pg_as_size(a[4], call, "src_offset", &src_offset) < 0) ||
        (a[5] != NULL && pg_as_size(a[5], call, "dst_offset", &dst_offset) < 0)) {
        return NULL;
    }
    return buffer_copy(PyModule_GetState(module), call, a[0], a[1], a[2], a[3], src_offset,
                       dst_offset, a[6]);
}

/* The simple cases of enqueue_copy, with positional arguments and these keywords, are handled
 * here, all others in pygpu/_src/runtime/opencl/transfer.py. */
PG_DOC(enqueue_copy__doc__, "enqueue_copy", "queue, dest, src, **kwargs",
       "(queue: CommandQueue, dest: object, src: object, **kwargs: object) -> Event",
       "Copy from *src* to *dest*; each is a buffer, an image, shared virtual memory or host "
       "memory (one of them not the host).\n\n"
       "Copies to and from the host wait until they are done unless is_blocking=False. Keywords: "
       "wait_for, is_blocking; src_offset,\n"
       "dst_offset, byte_count [bytes] for buffers; buffer_origin, host_origin, region, "
       "buffer_pitches, host_pitches (host and buffer)\n"
       "or src_origin, dst_origin, region, src_pitches, dst_pitches (two buffers) for boxes; "
       "origin, region, pitches for images.\n\n"
       "Raises ValueError past the end of either, TypeError for two host arrays or a keyword that "
       "the pair does not have.");

typedef struct {
    PyObject *wait_for, *blocking, *src_offset, *dst_offset, *byte_count;
} CopyKeywords;

/* Returns 1 if only these keywords were given, 0 if the general path must be taken. */
static int plain_keywords(PyObject *const *values, PyObject *kwnames, CopyKeywords *out) {
    Py_ssize_t n = kwnames != NULL ? PyTuple_GET_SIZE(kwnames) : 0;
    *out = (CopyKeywords){NULL, NULL, NULL, NULL, NULL};
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, i);
        if (PyUnicode_CompareWithASCIIString(name, "is_blocking") == 0) {
            out->blocking = values[i];
        } else if (PyUnicode_CompareWithASCIIString(name, "wait_for") == 0) {
            out->wait_for = values[i];
        } else if (PyUnicode_CompareWithASCIIString(name, "src_offset") == 0) {
            out->src_offset = values[i];
        } else if (PyUnicode_CompareWithASCIIString(name, "dst_offset") == 0) {
            out->dst_offset = values[i];
        } else if (PyUnicode_CompareWithASCIIString(name, "byte_count") == 0) {
            out->byte_count = values[i];
        } else {
            return 0;
        }
    }
    return 1;
}

static int is_buffer(State *state, PyObject *obj) {
    return PyObject_TypeCheck(obj, state->MemoryObjectHolderType) &&
           ((Memory *)obj)->type == CL_MEM_OBJECT_BUFFER;
}

/* ---- boxes and images ------------------------------------------------------------------------ */

/* The values of these keywords in this order, NULL for those not given. Returns 0 if there are
 * others. */
static int keywords_in_order(PyObject *const *values, PyObject *kwnames, const char *const *names,
                             int n, PyObject **out) {
    memset(out, 0, (size_t)n * sizeof *out);
    for (Py_ssize_t k = 0; kwnames != NULL && k < PyTuple_GET_SIZE(kwnames); k++) {
        int i = 0;
        while (i < n &&
               PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, k), names[i]) != 0) {
            i++;
        }
        if (i == n) {
            return 0;
        }
        out[i] = values[k];
    }
    return 1;
}

static inline PyObject *value_or(PyObject *value, PyObject *otherwise) {
    return value != NULL ? value : otherwise;
}

static int is_image(State *state, PyObject *obj) {
    return PyObject_TypeCheck(obj, state->ImageType);
}

/* Whether it is a plain host array. */
static int is_array(State *state, PyObject *obj) {
    return PyArray_Check(obj) && !ocl_is_svm(state, obj);
}

/* Copies images; args: queue, dest, src. Returns NULL without an exception to leave the call,
 * including all errors about keywords, to pygpu/_src/runtime/opencl/transfer.py. */
static PyObject *copy_image(PyObject *module, State *state, PyObject *const *args,
                            PyObject *kwnames) {
    static const char *const two[] = {"src_origin", "dest_origin", "region", "wait_for"};
    static const char *const with_buffer[] = {"origin", "region", "offset", "wait_for"};
    static const char *const with_host[] = {"origin", "region", "is_blocking", "wait_for"};
    PyObject *queue = args[0], *dest = args[1], *src = args[2], *zero = PyLong_FromLong(0), *k[4],
             *result = NULL;
    int to = is_image(state, dest), from = is_image(state, src);
    if (zero == NULL) {
        return NULL;
    }
    if (to && from) {
        if (keywords_in_order(args + 3, kwnames, two, 4, k)) {
            PyObject *all[] = {queue,
                               src,
                               dest,
                               value_or(k[0], zero),
                               value_or(k[1], zero),
                               value_or(k[2], Py_None),
                               value_or(k[3], Py_None)};
            result = ocl_enqueue_copy_image(module, all, 7, NULL);
        }
    } else if (is_buffer(state, to ? src : dest)) {
        if (keywords_in_order(args + 3, kwnames, with_buffer, 4, k)) {
            PyObject *origin = value_or(k[0], zero), *region = value_or(k[1], Py_None),
                     *offset = value_or(k[2], zero);
            PyObject *all[] = {queue,
                               src,
                               dest,
                               to ? offset : origin,
                               to ? origin : region,
                               to ? region : offset,
                               value_or(k[3], Py_None)};
            result = to ? ocl_enqueue_copy_buffer_to_image(module, all, 7, NULL)
                        : ocl_enqueue_copy_image_to_buffer(module, all, 7, NULL);
        }
    } else if (is_array(state, to ? src : dest) &&
               keywords_in_order(args + 3, kwnames, with_host, 4, k)) {
        PyObject *all[] = {queue,
                           to ? dest : src,
                           value_or(k[0], zero),
                           value_or(k[1], Py_None),
                           to ? src : dest,
                           zero,
                           zero,
                           value_or(k[3], Py_None),
                           value_or(k[2], Py_True)};
        result = to ? ocl_enqueue_write_image(module, all, 9, NULL)
                    : ocl_enqueue_read_image(module, all, 9, NULL);
    }
    Py_DECREF(zero);
    return result;
}

/* Copies boxes of buffers, in the same way. */
static PyObject *copy_box(PyObject *module, State *state, PyObject *const *args,
                          PyObject *kwnames) {
    static const char *const two[] = {"src_origin",  "dst_origin",  "region",
                                      "src_pitches", "dst_pitches", "wait_for"};
    static const char *const with_host[] = {"buffer_origin",  "host_origin",  "region",
                                            "buffer_pitches", "host_pitches", "wait_for",
                                            "is_blocking"};
    PyObject *queue = args[0], *dest = args[1], *src = args[2], *k[7];
    int to = is_buffer(state, dest), from = is_buffer(state, src);
    if (to && from) {
        if (keywords_in_order(args + 3, kwnames, two, 6, k) && k[0] != NULL && k[1] != NULL &&
            k[2] != NULL) {
            PyObject *all[] = {queue, src, dest, k[0], k[1], k[2], k[3], k[4], k[5]};
            return ocl_enqueue_copy_buffer_rect(module, all, 9, NULL);
        }
    } else if ((to || from) && is_array(state, to ? src : dest) &&
               keywords_in_order(args + 3, kwnames, with_host, 7, k) && k[0] != NULL &&
               k[1] != NULL && k[2] != NULL) {
        PyObject *all[] = {
            queue, to ? dest : src,        to ? src : dest, k[0], k[1], k[2], k[3], k[4],
            k[5],  value_or(k[6], Py_True)};
        return to ? ocl_enqueue_write_buffer_rect(module, all, 10, NULL)
                  : ocl_enqueue_read_buffer_rect(module, all, 10, NULL);
    }
    return NULL;
}

static PyObject *enqueue_copy(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                              PyObject *kwnames) {
    State *state = PyModule_GetState(module);
    const char *call = "enqueue_copy";
    CopyKeywords k;
    nargs = PyVectorcall_NARGS((size_t)nargs);
    if (nargs == 3 && plain_keywords(args + 3, kwnames, &k)) {
        PyObject *dest = args[1], *src = args[2];
        int to = is_buffer(state, dest), from = is_buffer(state, src), blocking;
        size_t src_offset = 0, dst_offset = 0;
        if ((k.src_offset != NULL && (to || from) &&
             pg_as_size(k.src_offset, call, "src_offset", &src_offset) < 0) ||
            (k.dst_offset != NULL && (to || from) &&
             pg_as_size(k.dst_offset, call, "dst_offset", &dst_offset) < 0)) {
            return NULL;
        }
        if (to && from && k.blocking == NULL) {
            return buffer_copy(state, call, args[0], src, dest, k.byte_count, src_offset,
                               dst_offset, k.wait_for);
        }
        if ((to || from) && k.byte_count == NULL && (to ? k.src_offset : k.dst_offset) == NULL &&
            PyArray_Check(to ? src : dest) && !ocl_is_svm(state, to ? src : dest)) {
            if ((blocking = pg_as_bool(k.blocking, 1)) < 0) {
                return NULL;
            }
            return host_copy(state, call, args[0], to ? dest : src, to ? src : dest,
                             to ? dst_offset : src_offset, k.wait_for, blocking, to);
        }
    }
    if (nargs == 3 && (ocl_is_svm(state, args[1]) || ocl_is_svm(state, args[2]))) {
        static const char *const names[] = {"is_blocking", "wait_for", "byte_count"};
        PyObject *given[3], *other = ocl_is_svm(state, args[1]) ? args[2] : args[1];
        if (!PyObject_TypeCheck(other, state->MemoryObjectHolderType) &&
            keywords_in_order(args + 3, kwnames, names, 3, given)) {
            PyObject *all[] = {args[0], value_or(given[0], Py_True), args[1],
                               args[2], value_or(given[1], Py_None), value_or(given[2], Py_None)};
            return ocl_enqueue_svm_memcpy(module, all, 6, NULL);
        }
    }
    if (nargs == 3 && kwnames != NULL) {
        int image = is_image(state, args[1]) || is_image(state, args[2]);
        PyObject *event = image ? copy_image(module, state, args, kwnames)
                                : copy_box(module, state, args, kwnames);
        if (event != NULL || PyErr_Occurred()) {
            return event;
        }
    }
    PyObject *copy = ocl_role("transfer"),
             *function = copy != NULL ? PyObject_GetAttrString(copy, "enqueue_copy") : NULL;
    PyObject *result =
        function != NULL ? PyObject_Vectorcall(function, args, (size_t)nargs, kwnames) : NULL;
    Py_XDECREF(copy);
    Py_XDECREF(function);
    return result;
}

PyMethodDef ocl_transfer_functions[] = {
    {"_enqueue_read_buffer", FAST(enqueue_read_buffer), enqueue_read_buffer__doc__},
    {"_enqueue_write_buffer", FAST(enqueue_write_buffer), enqueue_write_buffer__doc__},
    {"_enqueue_copy_buffer", FAST(enqueue_copy_buffer), enqueue_copy_buffer__doc__},
    {"enqueue_copy", FAST(enqueue_copy), enqueue_copy__doc__},
    {NULL, NULL, 0, NULL},
};
