/* handlers.c - ArgumentHandler, In, Out, InOut: host arrays as kernel arguments, copied to the
 * device before the launch and back after it. */
#include "cuda/cuda.h"
#include "cuda/host_memory.h"
#include "cuda/memory.h"
#include "cuda/objects/function.h"
#include "cuda/objects/pointer.h"
#include "cuda/print.h"

PG_DOC(ArgumentHandler__doc__, "ArgumentHandler", "ary", "(ary: Any)",
       "An argument with methods called before a launch, pre_call(stream), and after it, "
       "post_call(stream), if it exists. The kernel receives the address of get_device_alloc(), "
       "memory of the array's size that is allocated once.");
static ArgSpec ArgumentHandler_args = PG_ARGSPEC(ArgumentHandler__doc__);

static int Handler_init(PyObject *op, PyObject *args, PyObject *kwargs) {
    PyObject *a[1];
    Handler *self = (Handler *)op;
    if (pg_args_tuple(&ArgumentHandler_args, args, kwargs, a) < 0) {
        return -1;
    }
    Py_XSETREF(self->array, Py_NewRef(a[0]));
    Py_CLEAR(self->dev_alloc);
    return 0;
}

static int Handler_traverse(PyObject *op, visitproc visit, void *arg) {
    Handler *self = (Handler *)op;
    CUD_VISIT(op);
    Py_VISIT(self->array);
    Py_VISIT(self->dev_alloc);
    return 0;
}

static int Handler_clear(PyObject *op) {
    Handler *self = (Handler *)op; /* safe: launches with handlers are complete when they return,
                                    * or their memory is freed in stream order */
    Py_CLEAR(self->array);
    Py_CLEAR(self->dev_alloc);
    return 0;
}

static void Handler_dealloc(PyObject *op) {
    pg_untrack(op, ((Handler *)op)->weakrefs);
    Handler_clear(op);
    cud_object_free(op);
}

/* A new reference, because the program's code may set another array at any time. */
static PyObject *array_of(Handler *self) {
    if (self->array == NULL) {
        PyErr_Format(PyExc_TypeError, "%s: __init__ of the base class was not called",
                     Py_TYPE(self)->tp_name);
    }
    return Py_XNewRef(self->array);
}

/* The size in bytes, as mem_alloc_like computes it. */
static int size_of(PyObject *array, size_t *size) {
    if (PyArray_Check(array)) {
        *size = (size_t)PyArray_NBYTES((PyArrayObject *)array);
        return 0;
    }
    Py_buffer view;
    if (PyObject_CheckBuffer(array) && PyObject_GetBuffer(array, &view, PyBUF_STRIDED_RO) == 0) {
        *size = (size_t)view.len;
        PyBuffer_Release(&view);
        return 0;
    }
    PyErr_Clear();
    PyObject *nbytes = PyObject_GetAttrString(array, "nbytes");
    if (nbytes == NULL) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError)) {
            PyErr_Format(
                PyExc_TypeError,
                "could not determine array length of '%S': unsupported array type or not an "
                "array; pass a NumPy array",
                (PyObject *)Py_TYPE(array));
        }
        return -1;
    }
    int result = pg_as_size(nbytes, "get_device_alloc", "nbytes", size);
    Py_DECREF(nbytes);
    return result;
}

static PyObject *Handler_get_device_alloc(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Handler *self = (Handler *)op;
    PyObject *array = array_of(self);
    size_t size;
    if (array == NULL || self->dev_alloc != NULL) {
        PyObject *kept = array != NULL ? Py_NewRef(self->dev_alloc) : NULL;
        Py_XDECREF(array);
        return kept;
    }
    int failed = size_of(array, &size) < 0;
    Py_DECREF(array);
    if (failed) {
        return NULL;
    }
    PyObject *made =
        PyObject_CallMethod(self->state->common.module, "mem_alloc", "n", (Py_ssize_t)size);
    if (made != NULL) {
        Py_XSETREF(self->dev_alloc, Py_NewRef(made));
    }
    return made;
}

/* Whether the method is the one defined here, so that no lookup by name is necessary. */
int handler_is_plain(State *state, PyObject *handler) {
    PyTypeObject *type = Py_TYPE(handler);
    return type == state->InType || type == state->OutType || type == state->InOutType ||
           type == state->ArgumentHandlerType;
}

PyObject *handler_device_alloc(Handler *self) {
    return handler_is_plain(self->state, (PyObject *)self)
               ? Handler_get_device_alloc((PyObject *)self, NULL)
               : PyObject_CallMethod((PyObject *)self, "get_device_alloc", NULL);
}

/* The handler's memory, checked against the n bytes to copy. Both must be released after the
 * copy. */
static int device_range(Handler *self, const char *call, size_t n, DevicePointer *at,
                        PyObject **keep) {
    *keep = handler_device_alloc(self);
    if (*keep == NULL || cud_device_range(self->state, *keep, call, "dev_alloc", n, at) < 0) {
        Py_CLEAR(*keep);
        return -1;
    }
    return 0;
}

static PyObject *copy(PyObject *op, int to_host, const char *call) {
    Handler *self = (Handler *)op;
    const char *routine = to_host ? "cuMemcpyDtoH" : "cuMemcpyHtoD";
    PyObject *array = array_of(self), *keep = NULL;
    DevicePointer at;
    Py_buffer view;
    int failed = array == NULL || pg_get_buffer(array, call, "the array", to_host, &view) < 0;
    Py_XDECREF(array); /* the view keeps it */
    if (failed) {
        return NULL;
    }
    size_t n = (size_t)view.len;
    CUresult status = CUDA_SUCCESS;
    if (device_range(self, call, n, &at, &keep) < 0) {
        PyBuffer_Release(&view);
        return NULL;
    }
    failed = n > 0 && (cud_wait_before_copy(self->state, routine, SIZE_MAX) < 0 || /* this wait can
                                                                                    * be interrupted
                                                                                    * by Ctrl-C */
                       (at.allocation != NULL &&
                        cud_allocation_alive(at.allocation, call) < 0)); /* other threads ran */
    if (n > 0 && !failed) {
        cud_pin(at.allocation);
        Py_BEGIN_ALLOW_THREADS
        if (to_host) {
            CU_CALL(status, cuMemcpyDtoH, view.buf, at.ptr, n);
        } else {
            CU_CALL(status, cuMemcpyHtoD, at.ptr, view.buf, n);
        }
        Py_END_ALLOW_THREADS
        cud_unpin(at.allocation);
    }
    PyBuffer_Release(&view);
    cud_device_release(&at);
    Py_DECREF(keep);
    if (failed) {
        return NULL;
    }
    cud_print();
    return status == CUDA_SUCCESS ? Py_NewRef(Py_None) : cud_raise(self->state, routine, status);
}

/* Checks, before the launch, that a result can be written back. */
static int check_writable(PyObject *handler, const char *call) {
    PyObject *array = array_of((Handler *)handler);
    Py_buffer view;
    int failed = array == NULL || pg_get_buffer(array, call, "the array", 1, &view) < 0;
    if (!failed) {
        PyBuffer_Release(&view);
    }
    Py_XDECREF(array);
    return failed ? -1 : 0;
}

static PyObject *Handler_pre_call(PyObject *Py_UNUSED(op), PyObject *Py_UNUSED(stream)) {
    Py_RETURN_NONE;
}
static PyObject *In_pre_call(PyObject *op, PyObject *Py_UNUSED(stream)) {
    return copy(op, 0, "In");
}
static PyObject *Out_post_call(PyObject *op, PyObject *Py_UNUSED(stream)) {
    return copy(op, 1, "Out");
}

int handler_pre_call(State *state, PyObject *handler, PyObject *stream) {
    PyTypeObject *type = Py_TYPE(handler);
    PyObject *done;
    if (type == state->OutType) {
        return check_writable(handler, "Out");
    }
    if (type == state->InType || type == state->InOutType) {
        if (type == state->InOutType && check_writable(handler, "InOut") < 0) {
            return -1;
        }
        done = copy(handler, 0, type == state->InType ? "In" : "InOut");
    } else {
        done = PyObject_CallMethod(handler, "pre_call", "O", stream);
    }
    Py_XDECREF(done);
    return done != NULL ? 0 : -1;
}

int handler_has_post_call(State *state, PyObject *handler) {
    PyTypeObject *type = Py_TYPE(handler);
    if (type == state->InType || type == state->ArgumentHandlerType) {
        return 0;
    }
    if (type == state->OutType || type == state->InOutType) {
        return 1;
    }
    PyObject *method = PyObject_GetAttrString(handler, "post_call");
    if (method == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
            return -1;
        }
        PyErr_Clear();
    }
    Py_XDECREF(method);
    return method != NULL;
}

int handler_post_call(State *state, PyObject *handler, PyObject *stream) {
    PyTypeObject *type = Py_TYPE(handler);
    PyObject *done = type == state->OutType || type == state->InOutType
                         ? Out_post_call(handler, stream)
                         : PyObject_CallMethod(handler, "post_call", "O", stream);
    Py_XDECREF(done);
    return done != NULL ? 0 : -1;
}

/* ---- types ----------------------------------------------------------------------------------- */

static PyMemberDef Handler_members[] = {
    {"array", T_OBJECT, offsetof(Handler, array), 0, "Any: the host array"},
    {"dev_alloc", T_OBJECT, offsetof(Handler, dev_alloc), 0,
     "Any: the device memory, None before the first launch"},
    {NULL, 0, 0, 0, NULL},
};
static PyMethodDef Handler_methods[] = {
    {"get_device_alloc", Handler_get_device_alloc, METH_NOARGS,
     "get_device_alloc($self, /)\n--\n\n() -> Any\n\nThe device memory whose address the kernel "
     "receives; allocated by the first call."},
    {"pre_call", Handler_pre_call, METH_O,
     "pre_call($self, stream, /)\n--\n\n(stream: Any, /) -> object\n\nCalled before the launch; "
     "does nothing here."},
    {NULL, NULL, 0, NULL},
};
static PyMethodDef In_methods[] = {
    {"pre_call", In_pre_call, METH_O,
     "pre_call($self, stream, /)\n--\n\n(stream: Any, /) -> None\n\nCopy the array to the device "
     "and wait."},
    {NULL, NULL, 0, NULL},
};
static PyMethodDef Out_methods[] = {
    {"post_call", Out_post_call, METH_O,
     "post_call($self, stream, /)\n--\n\n(stream: Any, /) -> None\n\nCopy the device memory to the "
     "array and wait."},
    {NULL, NULL, 0, NULL},
};
static PyMethodDef InOut_methods[] = {
    {"pre_call", In_pre_call, METH_O,
     "pre_call($self, stream, /)\n--\n\n(stream: Any, /) -> None\n\nCopy the array to the device "
     "and wait."},
    {"post_call", Out_post_call, METH_O,
     "post_call($self, stream, /)\n--\n\n(stream: Any, /) -> None\n\nCopy the device memory to the "
     "array and wait."},
    {NULL, NULL, 0, NULL},
};

/* An array's shape and dtype rather than its items. */
static PyObject *Handler_repr(PyObject *op) {
    PyObject *array = Py_XNewRef(((Handler *)op)->array), *repr = NULL;
    if (array == NULL || !PyArray_Check(array)) {
        repr = PyUnicode_FromFormat("<%s of %s>", Py_TYPE(op)->tp_name,
                                    array != NULL ? pg_type_name(array) : "nothing");
    } else {
        PyObject *shape = PyObject_GetAttrString(array, "shape");
        if (shape != NULL) {
            repr = PyUnicode_FromFormat("<%s of an array of %S, %S>", Py_TYPE(op)->tp_name,
                                        (PyObject *)PyArray_DESCR((PyArrayObject *)array), shape);
            Py_DECREF(shape);
        }
    }
    Py_XDECREF(array);
    return repr;
}

#define HANDLER_FLAGS (CUD_FLAGS | Py_TPFLAGS_BASETYPE)
#define GC_SLOTS                                                                        \
    {Py_tp_traverse, (void *)Handler_traverse}, {Py_tp_clear, (void *)Handler_clear}, { \
        Py_tp_dealloc, (void *)Handler_dealloc                                          \
    }

static PyType_Slot ArgumentHandler_slots[] = {
    {Py_tp_doc, (void *)ArgumentHandler__doc__},
    {Py_tp_new, (void *)cud_object_new},
    {Py_tp_init, (void *)Handler_init},
    GC_SLOTS,
    {Py_tp_repr, (void *)Handler_repr},
    {Py_tp_members, Handler_members},
    {Py_tp_methods, Handler_methods},
    {0, NULL},
};
CUD_TYPE(ArgumentHandler, Handler, HANDLER_FLAGS);

#define HANDLER_TYPE(Name, text)                                         \
    static PyType_Slot Name##_slots[] = {                                \
        {Py_tp_doc, (void *)(#Name "(ary)\n--\n\n(ary: Any)\n\n" text)}, \
        GC_SLOTS,                                                        \
        {Py_tp_methods, Name##_methods},                                 \
        {0, NULL}};                                                      \
    CUD_TYPE(Name, Handler, HANDLER_FLAGS)

HANDLER_TYPE(In, "A host array that is copied to the device before the launch.");
HANDLER_TYPE(Out, "A host array to which the device memory is copied after the launch, which waits "
                  "for the kernel.");
HANDLER_TYPE(InOut,
             "A host array that is copied to the device before the launch, and back after it.");
