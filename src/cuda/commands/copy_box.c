/* copy_box.c - Memcpy2D, Memcpy3D, Memcpy3DPeer: copies of rectangles and boxes between host
 * memory, device memory and arrays.
 *
 * An object describes a copy and can be called any number of times. It keeps source and
 * destination alive, and each call checks that the box lies inside both. */
#include "cuda/capture.h"
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/host_memory.h"
#include "cuda/keepalive.h"
#include "cuda/memory.h"
#include "cuda/objects/array.h"
#include "cuda/objects/pointer.h"
#include "cuda/stream.h"

enum { BOX_2D, BOX_3D, BOX_PEER };

/* Source or destination. Box.copy has what the driver needs; this records who owns the memory. */
typedef struct {
    PyObject *object; /* ndarray or exporter, allocation, ArrayObject; NULL if only an address is
                       * known */
    Py_buffer view;   /* of an exporter that is not an ndarray; view.obj is NULL if there is none */
    void *host;       /* MEMORY HOST, and UNIFIED over host memory: its start and size */
    size_t room;
    CUdeviceptr base; /* start of the allocation at the time it was set */
    Context *context; /* PEER: from set_*_context() */
} End;

typedef struct {
    CUD_HEAD
    vectorcallfunc call;
    int kind;
    int running;             /* number of calls inside the driver without the GIL: the ends must
                              * not change */
    CUDA_MEMCPY3D_PEER copy; /* this struct has all fields of the others */
    End src, dst;
} Box;

/* ---- life cycle ------------------------------------------------------------------------------ */

static void End_clear(End *end) {
    PyObject *object = end->object;
    Py_buffer view = end->view;
    end->object = NULL;
    end->host = NULL;
    memset(&end->view, 0, sizeof end->view);
    if (view.obj != NULL) {
        PyBuffer_Release(&view);
    }
    Py_XDECREF(object);
}

static PyObject *box_vectorcall(PyObject *op, PyObject *const *args, size_t nargs,
                                PyObject *kwnames);

static PyObject *box_new(PyTypeObject *type, PyObject *args, PyObject *kwargs, int kind) {
    State *state = cud_state_of(type);
    if (state == NULL) {
        return NULL;
    }
    if (!cud_has_init(type, cud_init_nothing) &&
        (PyTuple_GET_SIZE(args) > 0 || (kwargs != NULL && PyDict_GET_SIZE(kwargs) > 0))) {
        return PyErr_Format(PyExc_TypeError, "%s() takes no arguments", type->tp_name);
    }
    Box *self = (Box *)PG_NEW(type);
    if (self != NULL) {
        self->state = state;
        self->call = box_vectorcall;
        self->kind = kind;
    }
    return (PyObject *)self;
}

static int Box_traverse(PyObject *op, visitproc visit, void *arg) {
    Box *self = (Box *)op;
    CUD_VISIT(op);
    Py_VISIT(self->src.object);
    Py_VISIT(self->dst.object);
    Py_VISIT((PyObject *)self->src.context);
    Py_VISIT((PyObject *)self->dst.context);
    return 0; /* no tp_clear, because a call may be running */
}

static void Box_dealloc(PyObject *op) {
    Box *self = (Box *)op;
    pg_untrack(op, self->weakrefs);
    End_clear(&self->src);
    End_clear(&self->dst);
    Py_XDECREF((PyObject *)self->src.context);
    Py_XDECREF((PyObject *)self->dst.context);
    cud_object_free(op);
}

/* ---- ends ------------------------------------------------------------------------------------ */

/* The distance in bytes from data to the end of an array with these strides. */
static size_t bytes_spanned(int n, const Py_ssize_t *shape, const Py_ssize_t *strides,
                            Py_ssize_t itemsize) {
    size_t end = (size_t)itemsize;
    for (int i = 0; i < n; i++) {
        if (shape[i] == 0) {
            return 0;
        }
        if (strides[i] > 0) {
            end += (size_t)(shape[i] - 1) * (size_t)strides[i];
        }
    }
    return end;
}

/* Replaces an end; takes over next. Returns -1 with an exception if a call running without the GIL
 * uses the old one. */
static int End_put(Box *self, End *end, End next, const char *call) {
    if (self->running > 0) {
        End_clear(&next);
        cud_reject(self->state, call, CUDA_ERROR_INVALID_VALUE, "another thread runs the copy");
        return -1;
    }
    End old = *end;
    *end = next;
    end->context = old.context;
    End_clear(&old);
    return 0;
}

/* Sets an end to any strided host memory. */
static int End_set_host(Box *self, End *end, PyObject *obj, const char *call, int write) {
    End next = {.object = NULL};
    if (PyArray_Check(obj)) {
        PyArrayObject *array = (PyArrayObject *)obj;
        if (PyDataType_REFCHK(PyArray_DESCR(array))) {
            PyErr_Format(PyExc_TypeError,
                         "%s: the array holds Python objects (dtype %S), which a device cannot use",
                         call, (PyObject *)PyArray_DESCR(array));
            return -1;
        }
        if (write && !PyArray_ISWRITEABLE(array)) {
            PyErr_Format(PyExc_ValueError, "%s: the array is read-only", call);
            return -1;
        }
        next.host = PyArray_DATA(array);
        next.room = bytes_spanned(PyArray_NDIM(array), PyArray_DIMS(array), PyArray_STRIDES(array),
                                  PyArray_ITEMSIZE(array));
    } else {
        if (PyObject_GetBuffer(obj, &next.view,
                               (write ? PyBUF_STRIDED : PyBUF_STRIDED_RO) | PyBUF_FORMAT) < 0) {
            if (PyErr_ExceptionMatches(PyExc_TypeError)) {
                PyErr_Clear();
                PyErr_Format(PyExc_TypeError,
                             "%s: the argument must be host memory (an ndarray, bytes, bytearray, "
                             "...), not %s",
                             call, pg_type_name(obj));
            }
            return -1;
        }
        if (pg_check_items(&next.view, call, "the argument") < 0) {
            PyBuffer_Release(&next.view);
            return -1;
        }
        next.host = next.view.buf;
        next.room =
            bytes_spanned(next.view.ndim, next.view.shape, next.view.strides, next.view.itemsize);
    }
    next.object = Py_NewRef(obj);
    return End_put(self, end, next, call);
}

static int End_set_device(Box *self, End *end, PyObject *obj, const char *call,
                          CUdeviceptr *address) {
    DevicePointer at;
    State *state = self->state;
    Context *context = cud_context_current(state); /* an address is looked up in this context */
    Py_XDECREF((PyObject *)context);
    if (context == NULL || cud_device_pointer(state, obj, call, "the argument", &at) < 0) {
        return -1;
    }
    if (End_put(self, end,
                (End){.object = (PyObject *)at.allocation, .base = at.ptr, .room = at.size},
                call) < 0) {
        return -1;
    }
    *address = at.ptr;
    return 0;
}

static int End_set_array(Box *self, End *end, PyObject *obj, const char *call, CUarray *handle) {
    ArrayObject *array;
    if (cud_as_array(self->state, obj, call, "the argument", &array) < 0) {
        return -1;
    }
    CUarray given = array->handle;
    if (End_put(self, end, (End){.object = Py_NewRef(obj)}, call) < 0) {
        return -1;
    }
    *handle = given;
    return 0;
}

#define SETTERS(side, Side, write)                                                               \
    static PyObject *Box_set_##side##_host(PyObject *op, PyObject *obj) {                        \
        Box *self = (Box *)op;                                                                   \
        if (End_set_host(self, &self->side, obj, "set_" #side "_host", write) < 0) {             \
            return NULL;                                                                         \
        }                                                                                        \
        self->copy.side##MemoryType = CU_MEMORYTYPE_HOST;                                        \
        self->copy.side##Host = self->side.host;                                                 \
        Py_RETURN_NONE;                                                                          \
    }                                                                                            \
    static PyObject *Box_set_##side##_device(PyObject *op, PyObject *obj) {                      \
        Box *self = (Box *)op;                                                                   \
        if (End_set_device(self, &self->side, obj, "set_" #side "_device",                       \
                           &self->copy.side##Device) < 0) {                                      \
            return NULL;                                                                         \
        }                                                                                        \
        self->copy.side##MemoryType = CU_MEMORYTYPE_DEVICE;                                      \
        Py_RETURN_NONE;                                                                          \
    }                                                                                            \
    static PyObject *Box_set_##side##_array(PyObject *op, PyObject *obj) {                       \
        Box *self = (Box *)op;                                                                   \
        if (End_set_array(self, &self->side, obj, "set_" #side "_array",                         \
                          &self->copy.side##Array) < 0) {                                        \
            return NULL;                                                                         \
        }                                                                                        \
        self->copy.side##MemoryType = CU_MEMORYTYPE_ARRAY;                                       \
        Py_RETURN_NONE;                                                                          \
    }                                                                                            \
    static PyObject *Box_set_##side##_unified(PyObject *op, PyObject *obj) {                     \
        Box *self = (Box *)op;                                                                   \
        int host = PyArray_Check(obj) ||                                                         \
                   (PyObject_CheckBuffer(obj) && !cud_is_allocation(self->state, obj));          \
        if (host ? End_set_host(self, &self->side, obj, "set_" #side "_unified", write)          \
                 : End_set_device(self, &self->side, obj, "set_" #side "_unified",               \
                                  &self->copy.side##Device)) {                                   \
            return NULL;                                                                         \
        }                                                                                        \
        if (host) {                                                                              \
            self->copy.side##Host = self->side.host;                                             \
            self->copy.side##Device = self->side.base = (CUdeviceptr)(uintptr_t)self->side.host; \
        }                                                                                        \
        self->copy.side##MemoryType = CU_MEMORYTYPE_UNIFIED;                                     \
        Py_RETURN_NONE;                                                                          \
    }                                                                                            \
    static PyObject *Box_set_##side##_context(PyObject *op, PyObject *obj) {                     \
        Box *self = (Box *)op;                                                                   \
        if (!PyObject_TypeCheck(obj, self->state->ContextType)) {                                \
            return cud_reject_type(self->state, "set_" #side "_context",                         \
                                   "the argument must be a Context, not %s", pg_type_name(obj)); \
        }                                                                                        \
        Py_XSETREF(self->side.context, (Context *)Py_NewRef(obj));                               \
        Py_RETURN_NONE;                                                                          \
    }
SETTERS(src, Src, 0)
SETTERS(dst, Dst, 1)

/* ---- checks ---------------------------------------------------------------------------------- */

typedef struct {
    const char *side;
    size_t x, y, z, *pitch, *rows;
    CUmemorytype type;
    CUdeviceptr device;
} Corner;

/* The distance in bytes from the start of an end to the end of the box in it; -1 with an
 * exception. */
static int span(Box *self, const char *call, const Corner *at, size_t width, size_t height,
                size_t depth, size_t *out) {
    size_t row, y, slices, bytes, before;
    if (pg_add(at->x, width, &row) < 0 || pg_add(at->y, height, &y) < 0 ||
        pg_add(at->z, depth, &slices) < 0) {
        goto overflow;
    }
    if (y > 1 || slices > 1) {
        if (*at->pitch < row) {
            cud_reject(self->state, call, CUDA_ERROR_INVALID_VALUE,
                       "%s_pitch = %zu is less than the %zu bytes up to the end of a row", at->side,
                       *at->pitch, row);
            return -1;
        }
    } else if (*at->pitch == 0) {
        *at->pitch = row; /* a single row needs no pitch */
    }
    if (slices > 1 && *at->rows < y) {
        cud_reject(self->state, call, CUDA_ERROR_INVALID_VALUE,
                   "%s_height = %zu is less than the %zu rows up to the end of a slice", at->side,
                   *at->rows, y);
        return -1;
    }
    if (*at->rows == 0) {
        *at->rows = y;
    }
    if (pg_mul(slices - 1, *at->rows, &before) < 0 || pg_add(before, y - 1, &before) < 0 ||
        pg_mul(before, *at->pitch, &bytes) < 0 || pg_add(bytes, row, out) < 0) {
        goto overflow;
    }
    return 0;
overflow:
    cud_reject(self->state, call, CUDA_ERROR_INVALID_VALUE, "the box is larger than any memory");
    return -1;
}

static int check_array(Box *self, const char *call, const ArrayObject *array, const Corner *at) {
    const CUDA_MEMCPY3D_PEER *c = &self->copy;
    const CUDA_ARRAY3D_DESCRIPTOR *d = &array->descriptor;
    size_t row = d->Width * cud_format_size(d->Format) * d->NumChannels,
           height = d->Height > 0 ? d->Height : 1, depth = d->Depth > 0 ? d->Depth : 1;
    if (array->freed) {
        cud_reject(self->state, call, CUDA_ERROR_INVALID_HANDLE,
                   "the Array at %s was already freed", at->side);
        return -1;
    }
    if (row > 0 && (at->x > row || c->WidthInBytes > row - at->x || at->y > height ||
                    c->Height > height - at->y || at->z > depth || c->Depth > depth - at->z)) {
        cud_reject(self->state, call, CUDA_ERROR_INVALID_VALUE,
                   "the box of %zu bytes, %zu rows, %zu slices at (%zu, %zu, %zu) ends past "
                   "the %s array of (%zu, %zu, %zu)",
                   c->WidthInBytes, c->Height, c->Depth, at->x, at->y, at->z, at->side, row, height,
                   depth);
        return -1;
    }
    return 0;
}

/* room: the size of the end, if it is the object that was set; otherwise the size found at the
 * address. */
static int check_linear(Box *self, const char *call, Corner *at, int is_known, size_t room) {
    const CUDA_MEMCPY3D_PEER *c = &self->copy;
    size_t bytes;
    if (span(self, call, at, c->WidthInBytes, c->Height, c->Depth, &bytes) < 0) {
        return -1;
    }
    room = is_known ? room : cud_bytes_at(at->device, bytes);
    if (bytes > room) {
        cud_reject(self->state, call, CUDA_ERROR_INVALID_VALUE,
                   "the box ends at byte %zu of the %s, which has %zu", bytes, at->side, room);
        return -1;
    }
    return 0;
}

static int check_end(Box *self, const char *call, const End *end, Corner *at) {
    switch (at->type) {
    case CU_MEMORYTYPE_ARRAY:
        if (end->object == NULL || !PyObject_TypeCheck(end->object, self->state->ArrayType)) {
            break;
        }
        return check_array(self, call, (ArrayObject *)end->object, at);
    case CU_MEMORYTYPE_HOST:
        if (end->host == NULL) {
            break;
        }
        return check_linear(self, call, at, 1, end->room);
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED: {
        if (at->device == 0) {
            break;
        }
        if (end->object != NULL && cud_is_allocation(self->state, end->object) &&
            cud_allocation_alive((Allocation *)end->object, call) < 0) {
            return -1;
        }
        int is_known = (end->object != NULL || end->host != NULL) && at->device == end->base;
        return check_linear(self, call, at, is_known, end->room);
    }
    default:
        break;
    }
    cud_reject(self->state, call, CUDA_ERROR_INVALID_VALUE,
               "%s is not set: call set_%s_host(), set_%s_device() or set_%s_array()", at->side,
               at->side, at->side, at->side);
    return -1;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static Allocation *allocation_of(Box *self, End *end) {
    return end->object != NULL && cud_is_allocation(self->state, end->object)
               ? (Allocation *)end->object
               : NULL;
}

static ArrayObject *array_of(Box *self, End *end) {
    return end->object != NULL && PyObject_TypeCheck(end->object, self->state->ArrayType)
               ? (ArrayObject *)end->object
               : NULL;
}

static void to_2d(const CUDA_MEMCPY3D_PEER *c, CUDA_MEMCPY2D *out) {
    *out = (CUDA_MEMCPY2D){c->srcXInBytes, c->srcY,          c->srcMemoryType, c->srcHost,
                           c->srcDevice,   c->srcArray,      c->srcPitch,      c->dstXInBytes,
                           c->dstY,        c->dstMemoryType, c->dstHost,       c->dstDevice,
                           c->dstArray,    c->dstPitch,      c->WidthInBytes,  c->Height};
}

static CUresult make_call(int kind, const CUDA_MEMCPY3D_PEER *copy, int aligned, int async,
                          CUstream handle) {
    CUresult status = CUDA_SUCCESS;
    CUDA_MEMCPY2D flat;
    CUDA_MEMCPY3D box;
    if (kind == BOX_2D) {
        to_2d(copy, &flat);
        if (async) {
            CU_CALL(status, cuMemcpy2DAsync, &flat, handle);
        } else if (aligned) {
            CU_CALL(status, cuMemcpy2D, &flat);
        } else {
            CU_CALL(status, cuMemcpy2DUnaligned, &flat);
        }
    } else if (kind == BOX_3D) {
        memcpy(&box, copy, sizeof box);
        box.reserved0 = box.reserved1 = NULL;
        if (async) {
            CU_CALL(status, cuMemcpy3DAsync, &box, handle);
        } else {
            CU_CALL(status, cuMemcpy3D, &box);
        }
    } else if (async) {
        CU_CALL(status, cuMemcpy3DPeerAsync, copy, handle);
    } else {
        CU_CALL(status, cuMemcpy3DPeer, copy);
    }
    return status;
}

static const char *const routines[3][3] = {
    {"cuMemcpy2DUnaligned", "cuMemcpy2D", "cuMemcpy2DAsync"},
    {"cuMemcpy3D", "cuMemcpy3D", "cuMemcpy3DAsync"},
    {"cuMemcpy3DPeer", "cuMemcpy3DPeer", "cuMemcpy3DPeerAsync"}};

/* One call: its arguments, and what it found out about both ends, source first. */
typedef struct {
    const char *call, *routine;
    Context *context; /* the current context */
    CUstream handle;
    Stream *stream;
    CUDA_MEMCPY3D_PEER copy;
    Corner corners[2];
    PyObject *objects[2]; /* owned, because the ends may be replaced meanwhile */
    Allocation *allocations[2];
    ArrayObject *arrays[2];
} Run;

/* Finds the contexts of both ends, and records the use of their memory on the stream. */
static int use_ends(Box *self, Run *run, End *const ends[2]) {
    CUcontext *const contexts[] = {&run->copy.srcContext, &run->copy.dstContext};
    for (int i = 0; i < 2; i++) {
        Allocation *allocation = allocation_of(self, ends[i]);
        ArrayObject *array = array_of(self, ends[i]);
        Context *owner = ends[i]->context != NULL ? ends[i]->context
                         : allocation != NULL     ? allocation->context
                         : array != NULL          ? array->context
                                                  : run->context;
        *contexts[i] = owner->handle;
        if (cud_context_check(owner, run->call) < 0 ||
            (allocation != NULL && cud_allocation_use(allocation, run->handle, run->stream) < 0)) {
            return -1;
        }
    }
    return 0;
}

/* Pins the ends. Returns -1 if other threads freed or replaced them during a wait. */
static int pin_ends(Box *self, Run *run, End *const ends[2]) {
    for (int i = 0; i < 2; i++) {
        run->allocations[i] = allocation_of(self, ends[i]);
        run->arrays[i] = array_of(self, ends[i]);
    }
    for (int i = 0; i < 2; i++) {
        if (ends[i]->object != run->objects[i]) {
            cud_reject(self->state, run->call, CUDA_ERROR_INVALID_VALUE,
                       "the copy was changed by another thread while it ran");
            return -1;
        }
        if (run->allocations[i] != NULL &&
            cud_allocation_alive(run->allocations[i], run->call) < 0) {
            return -1;
        }
        if (run->arrays[i] != NULL && run->arrays[i]->freed) {
            cud_reject(self->state, run->call, CUDA_ERROR_INVALID_HANDLE,
                       "the Array at %s was already freed", run->corners[i].side);
            return -1;
        }
    }
    for (int i = 0; i < 2; i++) {
        cud_pin(run->allocations[i]);
        if (run->arrays[i] != NULL) {
            run->arrays[i]->users++;
        }
    }
    return 0;
}

static void unpin_ends(const Run *run) {
    for (int i = 0; i < 2; i++) {
        cud_unpin(run->allocations[i]);
        if (run->arrays[i] != NULL) {
            cud_array_unpin(run->arrays[i]);
        }
    }
}

/* Keeps what the copy uses until the stream is done with it, or as long as a graph may run it. */
static void keep_ends(State *state, const Run *run) {
    for (int i = 0; i < 2; i++) {
        int device = run->allocations[i] != NULL || run->arrays[i] != NULL;
        if (device && PG_UNLIKELY(cud_capturing > 0)) {
            cud_capture_keep(state, run->handle, run->stream, run->objects[i]);
        } else if (run->objects[i] != NULL && !device) {
            PyObject *owner = cud_host_owner(run->objects[i]);
            if (owner == NULL) {
                PyErr_Clear();
                owner = Py_NewRef(run->objects[i]);
            }
            cud_keepalive(state, run->context, run->handle, run->stream, owner);
            Py_DECREF(owner);
        }
    }
}

/* Checks the ends, then copies. */
static PyObject *copy_checked(Box *self, Run *run, int aligned, int async) {
    State *state = self->state;
    CUDA_MEMCPY3D_PEER *c = &run->copy;
    End *const ends[] = {&self->src, &self->dst};
    Corner *from = &run->corners[0], *to = &run->corners[1];
    *from = (Corner){"src",        c->srcXInBytes, c->srcY,          c->srcZ,
                     &c->srcPitch, &c->srcHeight,  c->srcMemoryType, c->srcDevice};
    *to = (Corner){"dst",        c->dstXInBytes, c->dstY,          c->dstZ,
                   &c->dstPitch, &c->dstHeight,  c->dstMemoryType, c->dstDevice};
    if (check_end(self, run->call, ends[0], from) < 0 ||
        check_end(self, run->call, ends[1], to) < 0 || use_ends(self, run, ends) < 0) {
        return NULL;
    }
    int on_device = from->type != CU_MEMORYTYPE_HOST && to->type != CU_MEMORYTYPE_HOST &&
                    from->type != CU_MEMORYTYPE_UNIFIED && to->type != CU_MEMORYTYPE_UNIFIED;
    if (!async && !on_device &&
        cud_wait_before_copy(state, run->routine, SIZE_MAX) <
            0) { /* for copies within a device the driver itself does not wait */
        return NULL;
    }
    if (pin_ends(self, run, ends) < 0) {
        return NULL;
    }
    CUresult status;
    int kind = self->kind;
    CU_COUNT_QUEUED();
    self->running++;
    Py_BEGIN_ALLOW_THREADS
    status = make_call(kind, c, aligned, async, run->handle);
    Py_END_ALLOW_THREADS
    self->running--;
    if (status == CUDA_SUCCESS && async) {
        keep_ends(state, run);
    }
    unpin_ends(run);
    return status == CUDA_SUCCESS ? Py_NewRef(Py_None) : cud_raise(state, run->routine, status);
}

static PyObject *run_copy(Box *self, int aligned, int async, PyObject *stream) {
    static const char *const names[] = {"Memcpy2D", "Memcpy3D", "Memcpy3DPeer"};
    State *state = self->state;
    Run run = {.call = names[self->kind],
               .routine = routines[self->kind][async ? 2 : aligned],
               .context = cud_context_current(state)};
    PyObject *result = NULL;
    if (run.context == NULL) {
        return NULL;
    }
    run.copy = self->copy;
    run.objects[0] = Py_XNewRef(self->src.object);
    run.objects[1] = Py_XNewRef(self->dst.object);
    if (async && cud_as_stream(state, stream, run.call, &run.handle, &run.stream) < 0) {
        goto done;
    }
    if (self->kind == BOX_2D) {
        self->copy.Depth = run.copy.Depth = 1;
        self->copy.srcZ = self->copy.dstZ = run.copy.srcZ = run.copy.dstZ = 0;
    }
    result = run.copy.WidthInBytes == 0 || run.copy.Height == 0 || run.copy.Depth == 0
                 ? Py_NewRef(Py_None)
                 : copy_checked(self, &run, aligned, async);
done:
    Py_XDECREF(run.objects[0]);
    Py_XDECREF(run.objects[1]);
    Py_DECREF((PyObject *)run.context);
    return result;
}

PG_DOC(Memcpy2D_call__doc__, "Memcpy2D", "aligned=None, stream=None",
       "(aligned: bool | Stream | None = None, stream: object = None) -> None", "");
static ArgSpec Memcpy2D_call_args = PG_ARGSPEC(Memcpy2D_call__doc__);
PG_DOC(Memcpy3D_call__doc__, "Memcpy3D", "stream=None", "(stream: object = None) -> None", "");
static ArgSpec Memcpy3D_call_args = PG_ARGSPEC(Memcpy3D_call__doc__);

/* In PyCUDA the first argument may be a bool or a stream. */
static PyObject *box_vectorcall(PyObject *op, PyObject *const *args, size_t nargs,
                                PyObject *kwnames) {
    Box *self = (Box *)op;
    PyObject *a[2] = {NULL, NULL}, *stream;
    int aligned = 0,
        given = (kwnames != NULL ? PyTuple_GET_SIZE(kwnames) : 0) + PyVectorcall_NARGS(nargs) > 0;
    if (pg_args(self->kind == BOX_2D ? &Memcpy2D_call_args : &Memcpy3D_call_args, args,
                (Py_ssize_t)nargs, kwnames, a) < 0) {
        return NULL;
    }
    if (self->kind != BOX_2D) {
        return run_copy(self, 0, given, a[0]);
    }
    stream = a[1];
    if (a[0] != NULL && a[0] != Py_None) {
        if (PyBool_Check(a[0]) || PyLong_Check(a[0]) || PyArray_IsScalar(a[0], Bool)) {
            aligned = PyObject_IsTrue(a[0]);
        } else {
            stream = a[0];
        }
    }
    return aligned < 0 ? NULL : run_copy(self, aligned, stream != NULL, stream);
}

#include "cuda/commands/copy_box_tables.h"
