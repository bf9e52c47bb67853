/* gpuarray.c - GPUArray: shape, strides, dtype and memory of a device array; the base class of
 * both backends' arrays. */
#include "array/fastpath.h"

/* ---- arguments ------------------------------------------------------------------------------- */

static int read_tuple(PyObject *obj, const char *name, Py_ssize_t *out) {
    if (!PyTuple_Check(obj)) {
        PyErr_Format(PyExc_TypeError, "GPUArray: %s must be a tuple of ints, not %s", name,
                     Py_TYPE(obj)->tp_name);
        return -1;
    }
    Py_ssize_t n = PyTuple_GET_SIZE(obj);
    if (n > ARRAY_MAX_DIMS) {
        PyErr_Format(PyExc_ValueError, "GPUArray: %zd dimensions are not supported; at most %d are",
                     n, ARRAY_MAX_DIMS);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        out[i] = PyNumber_AsSsize_t(PyTuple_GET_ITEM(obj, i), PyExc_OverflowError);
        if (out[i] == -1 && PyErr_Occurred()) {
            return -1;
        }
    }
    return (int)n;
}

/* Checks that the size of all items in bytes does not overflow. */
static int check_shape(const Py_ssize_t *shape, int n, Py_ssize_t itemsize) {
    Py_ssize_t most = PY_SSIZE_T_MAX / (itemsize > 0 ? itemsize : 1);
    for (int i = 0; i < n; i++) {
        if (shape[i] < 0) {
            PyErr_SetString(PyExc_ValueError, "GPUArray: negative dimensions are not allowed");
            return -1;
        }
        if (shape[i] > 0) {
            most /= shape[i];
        }
    }
    if (most == 0) {
        PyErr_SetString(PyExc_ValueError, "GPUArray: the shape is too large");
        return -1;
    }
    return 0;
}

/* ---- life cycle ------------------------------------------------------------------------------ */

/* The class has no memory of its own; those of the two systems do. */
static int is_of_a_system(PyTypeObject *type) {
    if (type != arr_state->GPUArrayType) {
        return 1;
    }
    PyErr_SetString(PyExc_TypeError,
                    "GPUArray() makes no arrays, because it is the class of those of both CUDA and "
                    "OpenCL; call pygpu.xp.empty(shape, dtype)");
    return 0;
}

static PyObject *GPUArray_new(PyTypeObject *type, PyObject *Py_UNUSED(args),
                              PyObject *Py_UNUSED(kwargs)) {
    if (!is_of_a_system(type)) {
        return NULL;
    }
    GPUArray *self = (GPUArray *)PG_NEW(type);
    if (self != NULL) {
        self->dims = self->inline_dims;
        self->backend = Py_NewRef(arr_values.no_backend != NULL ? arr_values.no_backend : Py_None);
        self->queue = Py_NewRef(Py_None);
        self->base_data = Py_NewRef(Py_None);
        self->allocator = Py_NewRef(Py_None);
        self->dtype = PyArray_DescrFromType(NPY_UINT8);
        self->flags = ARRAY_C | ARRAY_F;
        if (self->dtype == NULL || arr_make_layout_objects(self) < 0 ||
            arr_set_offset(self, 0) < 0) {
            Py_CLEAR(self);
        }
    }
    return (PyObject *)self;
}

PG_DOC(GPUArray_init__doc__, "_init",
       "$self, /, backend, queue, data, offset, shape, strides, dtype, allocator=None",
       "(backend: Any, queue: Any, data: Any, offset: int, shape: tuple[int, ...], strides: "
       "tuple[int, ...] | None, "
       "dtype: np.dtype[Any], allocator: Any = None) -> None",
       "Fill the header. strides in bytes, None for C order; offset in bytes. Nothing is checked "
       "against the memory.");
/* Whether the class has an __init__ of the program's, which C must not bypass. */
static int has_own_init(PyTypeObject *type) {
    static PyObject *word; /* kept until the process ends */
    if ((PyObject *)type == arr_opencl.array_class || (PyObject *)type == arr_cuda.array_class) {
        return 0;
    }
    if (word == NULL && (word = PyUnicode_InternFromString("_own_init")) == NULL) {
        return -1;
    }
    PyObject *answer = PyObject_GetAttr((PyObject *)type, word);
    if (answer == NULL) {
        PyErr_Clear(); /* only the header */
        return 0;
    }
    int own = PyObject_IsTrue(answer);
    Py_DECREF(answer);
    return own;
}

int arr_init_header(GPUArray *self, PyObject *backend, Table *table, PyObject *queue,
                    PyObject *data, PyObject *allocator, PyArray_Descr *dtype, int ndim,
                    const Py_ssize_t *shape, const Py_ssize_t *strides) {
    Py_XSETREF(self->dtype, (PyArray_Descr *)Py_NewRef((PyObject *)dtype));
    if (self->dims != self->inline_dims) {
        PyMem_Free(self->dims);
        self->dims = self->inline_dims;
        self->ndim = 0;
    }
    Py_XSETREF(self->base_data, data);
    if (arr_set_layout(self, ndim, shape, strides) < 0 || arr_set_offset(self, 0) < 0) {
        return -1;
    }
    Py_XSETREF(self->context, Py_XNewRef(table != NULL ? table->context : NULL));
    Py_XSETREF(self->table, (Table *)Py_XNewRef((PyObject *)table));
    Py_XSETREF(self->backend, Py_NewRef(backend));
    Py_XSETREF(self->queue, Py_NewRef(queue));
    Py_XSETREF(self->allocator, Py_NewRef(allocator));
    int own = has_own_init(Py_TYPE(self));
    if (own != 0) {
        Py_CLEAR(self->table); /* without it, Python does everything */
    }
    return own < 0 ? -1 : 0;
}

static int fill(GPUArray *self, PyObject *const *a) {
    Py_ssize_t shape[ARRAY_MAX_DIMS], strides[ARRAY_MAX_DIMS];
    int n = read_tuple(a[4], "shape", shape), m = n;
    if (n < 0 || (a[5] != Py_None && (m = read_tuple(a[5], "strides", strides)) < 0)) {
        return -1;
    }
    if (m != n) {
        PyErr_Format(PyExc_ValueError, "GPUArray: %d strides for %d dimensions", m, n);
        return -1;
    }
    if (!PyArray_DescrCheck(a[6])) {
        PyErr_Format(PyExc_TypeError, "GPUArray: dtype must be a numpy.dtype, not %s",
                     Py_TYPE(a[6])->tp_name);
        return -1;
    }
    Py_ssize_t offset = PyNumber_AsSsize_t(a[3], PyExc_OverflowError);
    if ((offset == -1 && PyErr_Occurred()) ||
        check_shape(shape, n, (Py_ssize_t)PyDataType_ELSIZE((PyArray_Descr *)a[6])) < 0) {
        return -1;
    }
    PyObject *table = (self->backend != a[0] || self->table == NULL) && a[0] != Py_None
                          ? PyObject_GetAttr(a[0], arr_state->table)
                          : Py_XNewRef((PyObject *)self->table);
    if (table == NULL) {
        PyErr_Clear();
    } else if (Py_TYPE(table) != arr_state->KernelTableType) {
        Py_CLEAR(table);
    }
    int status = arr_init_header(self, a[0], (Table *)table, a[1], Py_NewRef(a[2]),
                                 a[7] != NULL ? a[7] : Py_None, (PyArray_Descr *)a[6], n, shape,
                                 a[5] != Py_None ? strides : NULL);
    Py_XDECREF(table);
    return status < 0 || offset == 0 ? status : arr_set_offset(self, offset);
}

PG_FUNCTION(GPUArray_init, 8)
static PyObject *GPUArray_init_impl(PyObject *op, PyObject *const *a) {
    if (fill((GPUArray *)op, a) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static int GPUArray_traverse(PyObject *op, visitproc visit, void *arg) {
    GPUArray *self = (GPUArray *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->backend);
    Py_VISIT((PyObject *)self->table);
    Py_VISIT(self->queue);
    Py_VISIT(self->base_data);
    Py_VISIT(self->allocator);
    Py_VISIT(self->context);
    Py_VISIT(self->events);
    Py_VISIT(self->event);
    return 0;
}

/* A launch may be reading the other members, so they stay until the dealloc. */
static int GPUArray_clear(PyObject *op) {
    GPUArray *self = (GPUArray *)op;
    Py_XSETREF(self->allocator, Py_NewRef(Py_None));
    arr_drop_events(self);
    return 0;
}

static void GPUArray_dealloc(PyObject *op) {
    GPUArray *self = (GPUArray *)op;
    pg_untrack(op, self->weakrefs);
    Py_XDECREF(self->allocator);
    arr_drop_events(self);
    Py_XDECREF(self->base_data);
    Py_XDECREF(self->context);
    Py_XDECREF(self->queue);
    Py_XDECREF(self->backend);
    Py_XDECREF((PyObject *)self->table);
    Py_XDECREF(self->dtype);
    arr_clear_layout(self);
    pg_object_free(op);
}

PyObject *arr_new_with_layout(GPUArray *like, PyArray_Descr *dtype, PyObject *data, int ndim,
                              const Py_ssize_t *shape, const Py_ssize_t *strides) {
    GPUArray *self = (GPUArray *)PG_NEW(Py_TYPE(like));
    if (self == NULL) {
        Py_DECREF(data);
        return NULL;
    }
    self->dims = self->inline_dims;
    self->backend = Py_NewRef(like->backend);
    self->table = (Table *)Py_XNewRef((PyObject *)like->table);
    self->queue = Py_NewRef(like->queue);
    self->base_data = data;
    self->allocator = Py_NewRef(like->allocator);
    self->context = Py_XNewRef(like->context);
    self->dtype = (PyArray_Descr *)Py_NewRef((PyObject *)dtype);
    if (arr_set_layout(self, ndim, shape, strides) < 0 || arr_set_offset(self, 0) < 0) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    return (PyObject *)self;
}

PyObject *arr_new_like(GPUArray *like, PyArray_Descr *dtype, PyObject *data) {
    Py_ssize_t strides[ARRAY_MAX_DIMS], *as_given = NULL;
    if (!(like->flags & ARRAY_C)) { /* Fortran order */
        Py_ssize_t step = (Py_ssize_t)PyDataType_ELSIZE(dtype);
        for (int axis = 0; axis < like->ndim; axis++) {
            strides[axis] = step;
            step *= ARRAY_SHAPE(like)[axis] > 0 ? ARRAY_SHAPE(like)[axis] : 1;
        }
        as_given = strides;
    }
    return arr_new_with_layout(like, dtype, data, like->ndim, ARRAY_SHAPE(like), as_given);
}

/* ---- operations on one must be seen by the other --------------------------------------------- */

PG_DOC(GPUArray_view__doc__, "_view", "$self, /, shape, strides, offset, dtype=None, cls=None",
       "(shape: tuple[int, ...], strides: tuple[int, ...] | None, offset: int, dtype: "
       "np.dtype[Any] | None = None, cls: type | None = None) -> Self",
       "An array over the same memory, with the events of this one. strides in bytes, offset in "
       "bytes from the start of the memory; "
       "nothing is checked.");
PG_FUNCTION(GPUArray_view, 5)
static PyObject *GPUArray_view_impl(PyObject *op, PyObject *const *a) {
    GPUArray *self = (GPUArray *)op;
    PyTypeObject *type = a[4] != NULL && PyType_Check(a[4]) &&
                                 PyType_IsSubtype((PyTypeObject *)a[4], arr_state->GPUArrayType)
                             ? (PyTypeObject *)a[4]
                             : Py_TYPE(op);
    GPUArray *view = (GPUArray *)GPUArray_new(type, NULL, NULL);
    if (view == NULL) {
        return NULL;
    }
    PyObject *dtype = a[3] != NULL && a[3] != Py_None ? a[3] : (PyObject *)self->dtype;
    PyObject *values[8] = {self->backend, self->queue, self->base_data, a[2],
                           a[0],          a[1],        dtype,           self->allocator};
    if (fill(view, values) < 0) {
        Py_DECREF(view);
        return NULL;
    }
    if (arr_share_events(view, self) < 0) { /* what is done through one counts for the other */
        Py_DECREF(view);
        return NULL;
    }
    return (PyObject *)view;
}

static PyObject *GPUArray_set_event(PyObject *op, PyObject *event) {
    return arr_set_event((GPUArray *)op, event) < 0 ? NULL : Py_NewRef(Py_None);
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* The argument for a CUDA kernel that takes the array; if the items do not begin at the start of
 * the memory, the class makes an object for the address. */
static PyObject *GPUArray_get_gpudata(PyObject *op, void *Py_UNUSED(closure)) {
    GPUArray *self = (GPUArray *)op;
    if (self->size == 0) {
        Py_RETURN_NONE;
    }
    return self->offset == 0 ? Py_NewRef(self->base_data)
                             : PyObject_CallMethod(op, "_address_inside", NULL);
}
static PyObject *GPUArray_get_c_contiguous(PyObject *op, void *Py_UNUSED(closure)) {
    return PyBool_FromLong(((GPUArray *)op)->flags & ARRAY_C);
}
static PyObject *GPUArray_get_f_contiguous(PyObject *op, void *Py_UNUSED(closure)) {
    return PyBool_FromLong(((GPUArray *)op)->flags & ARRAY_F);
}

static PyObject *GPUArray_get_flags(PyObject *op, void *Py_UNUSED(closure)) {
    if (arr_values.flags == NULL || !PyTuple_CheckExact(arr_values.flags) ||
        PyTuple_GET_SIZE(arr_values.flags) != 4) {
        PyErr_SetString(PyExc_AttributeError, "flags");
        return NULL;
    }
    return Py_NewRef(
        PyTuple_GET_ITEM(arr_values.flags, ((GPUArray *)op)->flags & (ARRAY_C | ARRAY_F)));
}

static Py_ssize_t GPUArray_length(PyObject *op) {
    GPUArray *self = (GPUArray *)op;
    if (self->ndim == 0) {
        PyErr_SetString(PyExc_TypeError, "len() of unsized object");
        return -1;
    }
    return ARRAY_SHAPE(self)[0];
}

/* The attributes that can be assigned are not members, because Python refuses object.__setattr__(),
 * with which programs cache values in objects, for a type with a tp_setattro of its own. */
static PyObject *attribute(PyObject *value, const char *name) {
    if (value == NULL) {
        PyErr_SetString(PyExc_AttributeError, name);
    }
    return Py_XNewRef(value);
}

static PyObject *GPUArray_get_queue(PyObject *op, void *Py_UNUSED(closure)) {
    return attribute(((GPUArray *)op)->queue, "queue");
}

static int GPUArray_set_queue(PyObject *op, PyObject *value, void *Py_UNUSED(closure)) {
    GPUArray *self = (GPUArray *)op;
    if (value == NULL) {
        value = Py_None;
    }
    if (value != self->queue) {
        arr_mark_foreign(self);
    }
    Py_XSETREF(self->queue, Py_NewRef(value));
    return 0;
}

static PyObject *GPUArray_get_base_data(PyObject *op, void *Py_UNUSED(closure)) {
    return attribute(((GPUArray *)op)->base_data, "base_data");
}

static PyObject *GPUArray_get_offset(PyObject *op, void *Py_UNUSED(closure)) {
    return attribute(((GPUArray *)op)->offset_object, "offset");
}

/* Gives the header other memory, after _set_memory() of the class has checked it. kept: the array's
 * own base_data or offset, a new reference that is taken over; NULL with an exception. */
static int set_memory(PyObject *op, PyObject *kept, PyObject *value, int is_data) {
    PyObject *done = NULL;
    if (kept == NULL) {
        return -1;
    }
    if (value == NULL) {
        PyErr_Format(PyExc_TypeError, "%s cannot be deleted", is_data ? "base_data" : "offset");
    } else {
        done = PyObject_CallMethod(op, "_set_memory", "OO", is_data ? value : kept,
                                   is_data ? kept : value);
    }
    Py_DECREF(kept);
    Py_XDECREF(done);
    return done != NULL ? 0 : -1;
}

static int GPUArray_set_base_data(PyObject *op, PyObject *value, void *Py_UNUSED(closure)) {
    return set_memory(op, GPUArray_get_offset(op, NULL), value, 1);
}

static int GPUArray_set_offset(PyObject *op, PyObject *value, void *Py_UNUSED(closure)) {
    return set_memory(op, GPUArray_get_base_data(op, NULL), value, 0);
}

/* An attribute that describes the layout, which a launch may be reading: it never changes. They are
 * not members, for an assignment to which Python says only "readonly attribute". */
typedef struct {
    const char *name;
    Py_ssize_t place;    /* of the PyObject pointer in a GPUArray */
    const char *instead; /* what a program that assigns it can do */
} Fixed;

#define VIEWS   "reshape(), transpose() and slices return views with another layout"
#define FOLLOWS "it follows from shape and dtype"
static const Fixed fixed_shape = {"shape", offsetof(GPUArray, objects.shape),
                                  "reshape(shape) returns an array of another shape"};
static const Fixed fixed_strides = {"strides", offsetof(GPUArray, objects.strides), VIEWS};
static const Fixed fixed_dtype = {
    "dtype", offsetof(GPUArray, dtype),
    "astype(dtype) converts the items, view(dtype) reads their bytes as another dtype"};
static const Fixed fixed_size = {"size", offsetof(GPUArray, objects.size), FOLLOWS};
static const Fixed fixed_nbytes = {"nbytes", offsetof(GPUArray, objects.nbytes), FOLLOWS};
static const Fixed fixed_itemsize = {"itemsize", offsetof(GPUArray, objects.itemsize), FOLLOWS};
static const Fixed fixed_ndim = {"ndim", 0, FOLLOWS};

static PyObject *GPUArray_get_fixed(PyObject *op, void *closure) {
    const Fixed *fixed = closure;
    return attribute(*(PyObject **)(void *)((char *)op + fixed->place), fixed->name);
}

static PyObject *GPUArray_get_ndim(PyObject *op, void *Py_UNUSED(closure)) {
    return PyLong_FromLong(((GPUArray *)op)->ndim);
}

static int GPUArray_set_fixed(PyObject *op, PyObject *Py_UNUSED(value), void *closure) {
    const Fixed *fixed = closure;
    PyErr_Format(PyExc_AttributeError, "%s of %s objects cannot be assigned: %s", fixed->name,
                 pg_type_name(op), fixed->instead);
    return -1;
}

#define FIXED(name, type_and_doc) \
    { #name, GPUArray_get_fixed, GPUArray_set_fixed, type_and_doc, (void *)&fixed_##name }

static PyGetSetDef GPUArray_getset[] = {
    FIXED(shape, "tuple[int, ...]: Length of each axis."),
    FIXED(strides, "tuple[int, ...]: Distance between neighbours along each axis [bytes]."),
    FIXED(dtype, "np.dtype[Any]: Type of the items."),
    FIXED(size, "int: Number of items."),
    FIXED(nbytes, "int: size * itemsize [bytes]."),
    FIXED(itemsize, "int: Size of an item [bytes]."),
    {"ndim", GPUArray_get_ndim, GPUArray_set_fixed, "int: Number of axes.", (void *)&fixed_ndim},
    {"_gpudata", GPUArray_get_gpudata, NULL,
     "Any: The allocation, or an object with the address of a view that begins later; None for an "
     "array without items.",
     NULL},
    {"_c_contiguous", GPUArray_get_c_contiguous, NULL,
     "bool: Whether items lie in C order without gaps.", NULL},
    {"_f_contiguous", GPUArray_get_f_contiguous, NULL,
     "bool: Whether items lie in Fortran order without gaps.", NULL},
    {"flags", GPUArray_get_flags, NULL, "Any: The memory layout: c_contiguous, f_contiguous, forc.",
     NULL},
    {"base_data", GPUArray_get_base_data, GPUArray_set_base_data,
     "Any: The memory that contains the array, at offset.", NULL},
    {"offset", GPUArray_get_offset, GPUArray_set_offset,
     "int: The position of the first item in base_data [bytes].", NULL},
    {"queue", GPUArray_get_queue, GPUArray_set_queue,
     "Any: CommandQueue or Stream of the array's commands; None is CUDA's default stream.", NULL},
    {"_foreign", arr_get_foreign, arr_set_foreign,
     "bool: Whether events may be of other queues than the array's.", NULL},
    {"events", arr_get_events, arr_set_events,
     "list[Any]: OpenCL events that the contents depend on.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef GPUArray_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(GPUArray, weakrefs), READONLY, NULL},
    {"backend", T_OBJECT_EX, offsetof(GPUArray, backend), READONLY,
     "Any: The backend that runs the array's kernels."},
    {"allocator", T_OBJECT_EX, offsetof(GPUArray, allocator), 0,
     "Any: The allocator of new memory; None is the backend's pool."},
    {"_context", T_OBJECT_EX, offsetof(GPUArray, context), READONLY,
     "Any: The Context of the memory."},
    {NULL, 0, 0, 0, NULL},
};

static const char set_event_doc[] = "_set_event($self, event, /)\n--\n\n(event: Any, /) -> "
                                    "None\n\nMake this the only event; None for none.";

static const char class_getitem_doc[] =
    "__class_getitem__($type, scalar, /)\n--\n\n(scalar: Any, /) -> GenericAlias\n\nThe class in "
    "an annotation: Array[numpy.float32] has items of that type.";

static PyMethodDef GPUArray_methods[] = {
    {"__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS, class_getitem_doc},
    {"_init", FAST(GPUArray_init), GPUArray_init__doc__},
    {"_view", FAST(GPUArray_view), GPUArray_view__doc__},
    {"_set_event", GPUArray_set_event, METH_O, set_event_doc},
    {"__array_ufunc__", FAST(arr_array_ufunc), arr_array_ufunc_doc},
    {NULL, NULL, 0, NULL},
};

static const char GPUArray__doc__[] =
    "GPUArray()\n--\n\n()\n\nAn array on a device: the base of pygpu.array.Array (OpenCL) and "
    "pygpu.cuda.gpuarray.GPUArray (CUDA).\n\n"
    "Create arrays with those classes or their modules' functions, such as to_device() and "
    "zeros().";

#include "array/operators.h"

static PyType_Slot GPUArray_slots[] = {
    {Py_tp_doc, (void *)GPUArray__doc__},
    {Py_tp_new, (void *)GPUArray_new},
    PG_GC_SLOTS(GPUArray),
    {Py_sq_length, (void *)GPUArray_length},
    PG_TABLE_SLOTS(GPUArray),
    ARR_OPERATOR_SLOTS,
    {0, NULL},
};

PyType_Spec arr_GPUArray_spec = {
    .name = "pygpu.GPUArray",
    .basicsize = sizeof(GPUArray),
    .slots = GPUArray_slots,
    /* The type is immutable but its subclasses are not, so that object.__new__ cannot create
     * instances of any of them. */
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
             Py_TPFLAGS_IMMUTABLETYPE,
};
