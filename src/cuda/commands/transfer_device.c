/* transfer_device.c - copies between device memory: memcpy_dtod, and memcpy_peer between
 * contexts. */
#include "cuda/capture.h"
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/memory.h"
#include "cuda/objects/pointer.h"
#include "cuda/stream.h"

typedef struct {
    DevicePointer to, from;
    size_t size;
    CUstream handle;
    Stream *stream;
    Context *context; /* the current context, owned */
} Copy;

/* Parses both ends of a copy of size bytes and checks that they are alive. Returns 1 if there is
 * anything to copy, -1 with an exception. */
static int copy_prepare(State *state, const char *call, PyObject *dest, PyObject *src,
                        PyObject *size, PyObject *stream, Copy *copy) {
    copy->handle = NULL;
    copy->stream = NULL;
    copy->context = NULL;
    copy->to.allocation = copy->from.allocation = NULL;
    if (pg_as_size(size, call, "size", &copy->size) < 0 ||
        (copy->context = cud_context_current(state)) == NULL ||
        cud_device_range(state, dest, call, "dest", copy->size, &copy->to) < 0 ||
        cud_device_range(state, src, call, "src", copy->size, &copy->from) < 0 ||
        (stream != NULL && cud_as_stream(state, stream, call, &copy->handle, &copy->stream) < 0)) {
        return -1;
    }
    if (copy->size == 0) {
        return 0;
    }
    if (copy->to.ptr != copy->from.ptr && copy->to.ptr < copy->from.ptr + copy->size &&
        copy->from.ptr < copy->to.ptr + copy->size) {
        cud_reject(state, call, CUDA_ERROR_INVALID_VALUE, "source and destination overlap");
        return -1;
    }
    Allocation *const ends[] = {copy->to.allocation, copy->from.allocation};
    for (int i = 0; i < 2; i++) {
        if (ends[i] != NULL && cud_allocation_use(ends[i], copy->handle, copy->stream) < 0) {
            return -1;
        }
    }
    for (int i = 0; i < 2; i++) { /* ordering may have released the GIL */
        if (ends[i] != NULL && cud_allocation_alive(ends[i], call) < 0) {
            return -1;
        }
    }
    cud_pin(copy->to.allocation);
    cud_pin(copy->from.allocation);
    return 1;
}

static PyObject *copy_finish(State *state, Copy *copy, int prepared, const char *routine,
                             CUresult status) {
    if (prepared > 0) {
        if (status == CUDA_SUCCESS && PG_UNLIKELY(cud_capturing > 0)) { /* keep both for the
                                                                         * graph */
            Allocation *const ends[] = {copy->to.allocation, copy->from.allocation};
            for (int i = 0; i < 2; i++) {
                if (ends[i] != NULL) {
                    cud_capture_keep(state, copy->handle, copy->stream, (PyObject *)ends[i]);
                }
            }
        }
        cud_unpin(copy->from.allocation);
        cud_unpin(copy->to.allocation);
    }
    cud_device_release(&copy->from);
    cud_device_release(&copy->to);
    Py_XDECREF((PyObject *)copy->context);
    if (prepared < 0) {
        return NULL;
    }
    return status != CUDA_SUCCESS ? cud_raise(state, routine, status) : Py_NewRef(Py_None);
}

PG_DOC(
    memcpy_dtod__doc__, "memcpy_dtod", "dest, src, size",
    "(dest: object, src: object, size: int) -> None",
    "Copy *size* bytes from device memory to device memory, in the order of the default stream.\n\n"
    "Raises ValueError past the end of either, or if they overlap.");
PG_FUNCTION(memcpy_dtod, 3)
static PyObject *memcpy_dtod_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    Copy copy;
    CUresult status = CUDA_SUCCESS;
    int prepared = copy_prepare(state, "memcpy_dtod", a[0], a[1], a[2], NULL, &copy);
    if (prepared > 0) {
        CU_COUNT_QUEUED();
        CU_NOGIL(status, cuMemcpyDtoD, copy.to.ptr, copy.from.ptr, copy.size);
    }
    return copy_finish(state, &copy, prepared, "cuMemcpyDtoD", status);
}

PG_DOC(memcpy_dtod_async__doc__, "memcpy_dtod_async", "dest, src, size, stream=None",
       "(dest: object, src: object, size: int, stream: object = None) -> None",
       "Queue a copy of *size* bytes from device memory to device memory.");
PG_FUNCTION(memcpy_dtod_async, 4)
static PyObject *memcpy_dtod_async_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    Copy copy;
    CUresult status = CUDA_SUCCESS;
    int prepared = copy_prepare(state, "memcpy_dtod_async", a[0], a[1], a[2],
                                a[3] != NULL ? a[3] : Py_None, &copy);
    if (prepared > 0) {
        CU_QUEUED(status, cuMemcpyDtoDAsync, copy.to.ptr, copy.from.ptr, copy.size, copy.handle);
    }
    return copy_finish(state, &copy, prepared, "cuMemcpyDtoDAsync", status);
}

/* The context of one end: the given one, that of the allocation, or the current one. Borrowed. */
static Context *end_context(State *state, const char *call, const char *name, PyObject *given,
                            const DevicePointer *at, Context *current) {
    if (given != NULL && given != Py_None) {
        if (!PyObject_TypeCheck(given, state->ContextType)) {
            cud_reject_type(state, call, "%s must be a Context, not %s", name, pg_type_name(given));
            return NULL;
        }
        return cud_context_check((Context *)given, call) < 0 ? NULL : (Context *)given;
    }
    return at->allocation != NULL ? at->allocation->context : current;
}

/* stream: NULL to wait for the copy. */
static PyObject *peer(State *state, const char *call, PyObject *const *a, PyObject *stream) {
    Copy copy;
    CUresult status = CUDA_SUCCESS;
    int prepared = copy_prepare(state, call, a[0], a[1], a[2], stream, &copy);
    if (prepared > 0) {
        Context *to = end_context(state, call, "dest_context", a[3], &copy.to, copy.context);
        Context *from =
            to != NULL ? end_context(state, call, "src_context", a[4], &copy.from, copy.context)
                       : NULL;
        if (from != NULL) {
            cud_context_open_peer(from, to);
            cud_context_open_peer(to, from);
        }
        if (from == NULL) {
            cud_unpin(copy.from.allocation);
            cud_unpin(copy.to.allocation);
            prepared = -1;
        } else if (stream != NULL) {
            CU_QUEUED(status, cuMemcpyPeerAsync, copy.to.ptr, to->handle, copy.from.ptr,
                      from->handle, copy.size, copy.handle);
        } else {
            CU_COUNT_QUEUED();
            CU_NOGIL(status, cuMemcpyPeer, copy.to.ptr, to->handle, copy.from.ptr, from->handle,
                     copy.size);
        }
    }
    return copy_finish(state, &copy, prepared,
                       stream != NULL ? "cuMemcpyPeerAsync" : "cuMemcpyPeer", status);
}

PG_DOC(
    memcpy_peer__doc__, "memcpy_peer", "dest, src, size, dest_context=None, src_context=None",
    "(dest: object, src: object, size: int, dest_context: Context | None = None, src_context: "
    "Context | None = None) -> None",
    "Copy *size* bytes from memory of one context to memory of another, also on another device.\n\n"
    "dest_context, src_context: by default those of the allocations, or the current one for a "
    "plain address.");
PG_FUNCTION(memcpy_peer, 5)
static PyObject *memcpy_peer_impl(PyObject *module, PyObject *const *a) {
    return peer(PyModule_GetState(module), "memcpy_peer", a, NULL);
}

PG_DOC(memcpy_peer_async__doc__, "memcpy_peer_async",
       "dest, src, size, dest_context=None, src_context=None, stream=None",
       "(dest: object, src: object, size: int, dest_context: Context | None = None, src_context: "
       "Context | None = None, stream: object = None) -> None",
       "Queue what memcpy_peer() does on a stream.");
PG_FUNCTION(memcpy_peer_async, 6)
static PyObject *memcpy_peer_async_impl(PyObject *module, PyObject *const *a) {
    return peer(PyModule_GetState(module), "memcpy_peer_async", a, a[5] != NULL ? a[5] : Py_None);
}

PyMethodDef cud_transfer_device_functions[] = {
    {"memcpy_dtod", FAST(memcpy_dtod), memcpy_dtod__doc__},
    {"memcpy_dtod_async", FAST(memcpy_dtod_async), memcpy_dtod_async__doc__},
    {"memcpy_peer", FAST(memcpy_peer), memcpy_peer__doc__},
    {"memcpy_peer_async", FAST(memcpy_peer_async), memcpy_peer_async__doc__},
    {NULL, NULL, 0, NULL},
};
