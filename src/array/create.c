/* create.c - new arrays: the constructors of both classes, zeros(), full(), empty_like(),
 * to_gpu(), to_device() and similar functions. */
#include "array/fastpath.h"

/* ---- where an array is made ------------------------------------------------------------------ */

typedef struct {
    PyObject *backend, *queue;
    Table *table; /* all are owned references */
} Target;

static void target_clear(Target *target) {
    Py_CLEAR(target->backend);
    Py_CLEAR(target->queue);
    Py_XDECREF((PyObject *)target->table);
    target->table = NULL;
}

static int target_set_table(Target *target, PyObject *table) {
    if (table == NULL || Py_TYPE(table) != arr_state->KernelTableType) {
        Py_XDECREF(table);
        PyErr_Clear();
        target_clear(target);
        return 0;
    }
    target->table = (Table *)table;
    return 1;
}

/* These functions return 1 with *target, 0 if Python must make the array, -1 with an exception. */

/* The last CUDA context asked for, and its backend. Weak references, because the context owns the
 * backend. */
static struct { PyObject *context, *backend; } recent_context;

/* Succeeds if the current context is the same as last time. */
static int cuda_target(Target *target) {
    *target = (Target){NULL, NULL, NULL};
    if (recent_context.context == NULL || arr_cuda.current_context == NULL) {
        return 0;
    }
    PyObject *context = PyObject_CallNoArgs(arr_cuda.current_context);
    if (context == NULL) {
        return -1;
    }
    PyObject *last = arr_weakref_get(recent_context.context);
    int same = last == context &&
               (target->backend = arr_weakref_get(recent_context.backend)) != NULL;
    Py_XDECREF(last);
    Py_DECREF(context);
    if (!same) {
        return 0;
    }
    target->queue = Py_NewRef(Py_None);
    return target_set_table(target, PyObject_GetAttr(target->backend, arr_state->table));
}

int arr_is_current(const PyObject *backend) {
    Target target;
    int state = cuda_target(&target), same = state > 0 && target.backend == backend;
    if (state > 0) {
        target_clear(&target);
    } else if (state < 0) {
        PyErr_Clear(); /* Python will get the same error */
    }
    return same;
}

#define QUEUES 4

/* Queues on which arrays were made, and their backends. Weak references, because a queue's context
 * owns the backend. */
static struct { PyObject *queue, *backend; } recent_queues[QUEUES];
static int next_instance;

static int opencl_target(Target *target, PyObject *queue) {
    *target = (Target){NULL, NULL, NULL};
    for (int i = 0; queue != NULL && i < QUEUES; i++) {
        PyObject *found = arr_weakref_get(recent_queues[i].queue);
        int same = found == queue;
        Py_XDECREF(found);
        if (same) {
            target->backend = arr_weakref_get(recent_queues[i].backend);
            target->queue = Py_NewRef(queue);
            return target_set_table(target,
                                    target->backend != NULL
                                        ? PyObject_GetAttr(target->backend, arr_state->table)
                                        : NULL);
        }
    }
    return 0;
}

static const char cache_backend_doc[] =
    "_cache_backend(queue, backend, /)\n--\n\n(queue: Any, backend: Any, /) -> "
    "None\n\nThe backend of a queue, for arrays made on it next.";

static PyObject *cache_backend(PyObject *Py_UNUSED(module), PyObject *const *args,
                               Py_ssize_t nargs) {
    if (nargs != 2) {
        PyErr_SetString(PyExc_TypeError, "_cache_backend takes two arguments");
        return NULL;
    }
    PyObject *queue = PyWeakref_NewRef(args[0], NULL),
             *backend = queue != NULL ? PyWeakref_NewRef(args[1], NULL) : NULL;
    if (backend == NULL) {
        Py_XDECREF(queue);
        return NULL;
    }
    int i = 0;
    while (i < QUEUES &&
           recent_queues[i].queue != queue) { /* every object has at most one weak reference without
                                               * a callback, so identity can be compared */
        i++;
    }
    if (i == QUEUES) {
        i = next_instance;
        next_instance = (next_instance + 1) % QUEUES;
    }
    PyObject *old_queue = recent_queues[i].queue, *old_backend = recent_queues[i].backend;
    recent_queues[i].queue = queue;
    recent_queues[i].backend = backend;
    Py_XDECREF(old_queue);
    Py_XDECREF(old_backend);
    Py_RETURN_NONE;
}

static const char cache_context_doc[] =
    "_cache_context(context, backend, /)\n--\n\n(context: Any, backend: Any, /) -> None\n\n"
    "The backend of a CUDA context, for arrays made in it next.";

static PyObject *cache_context(PyObject *Py_UNUSED(module), PyObject *const *args,
                               Py_ssize_t nargs) {
    if (nargs != 2) {
        PyErr_SetString(PyExc_TypeError, "_cache_context takes two arguments");
        return NULL;
    }
    PyObject *context = PyWeakref_NewRef(args[0], NULL);
    PyObject *backend = context != NULL ? PyWeakref_NewRef(args[1], NULL) : NULL;
    if (backend == NULL) {
        Py_XDECREF(context);
        return NULL;
    }
    Py_XSETREF(recent_context.context, context);
    Py_XSETREF(recent_context.backend, backend);
    Py_RETURN_NONE;
}

PyMethodDef arr_create_functions[] = {
    {"_cache_backend", (PyCFunction)(void (*)(void))cache_backend, METH_FASTCALL,
     cache_backend_doc},
    {"_cache_context", (PyCFunction)(void (*)(void))cache_context, METH_FASTCALL,
     cache_context_doc},
    {NULL, NULL, 0, NULL},
};

/* ---- what is made ---------------------------------------------------------------------------- */

typedef struct {
    PyArray_Descr *dtype; /* owned */
    int ndim, fortran;
    Py_ssize_t nbytes, shape[ARRAY_MAX_DIMS], strides[ARRAY_MAX_DIMS];
} Form;

/* Computes the rest of a form from dtype, ndim, shape and fortran. Returns 1, or 0 if it is too
 * large. */
static int measure(Form *form) {
    Py_ssize_t step = (Py_ssize_t)PyDataType_ELSIZE(form->dtype),
               most = ((Py_ssize_t)1 << 62) / (step > 0 ? step : 1), size = 1;
    for (int k = 0; k < form->ndim; k++) {
        Py_ssize_t n = form->shape[k];
        if (n < 0 || (n > 0 && (most /= n) == 0)) {
            return 0;
        }
        form->strides[k] = step; /* Fortran order */
        step *= n > 0 ? n : 1;
        size *= n;
    }
    form->nbytes = size * (Py_ssize_t)PyDataType_ELSIZE(form->dtype);
    return 1;
}

static int read_shape(Form *form, PyObject *obj) {
    PyObject *const *items = &obj;
    Py_ssize_t n = 1;
    if (PyTuple_CheckExact(obj) || PyList_CheckExact(obj)) {
        items = PySequence_Fast_ITEMS(obj);
        n = PySequence_Fast_GET_SIZE(obj);
    }
    if (n > ARRAY_MAX_DIMS) {
        return 0;
    }
    for (Py_ssize_t k = 0; k < n; k++) {
        if (!arr_read_int(items[k], &form->shape[k])) {
            return 0;
        }
    }
    form->ndim = (int)n;
    return 1;
}

/* Whether the argument *order* is valid. */
static int read_order(Form *form, PyObject *order) {
    form->fortran = 0;
    if (order == NULL) {
        return 1;
    }
    if (!PyUnicode_CheckExact(order) || PyUnicode_GET_LENGTH(order) != 1) {
        return 0;
    }
    Py_UCS4 letter = PyUnicode_READ_CHAR(order, 0);
    form->fortran = letter == 'F';
    return letter == 'C' || letter == 'F';
}

/* Returns 1, or 0 on failure (nothing is then owned). */
static int read_form(Form *form, PyObject *shape, PyObject *dtype, PyObject *order) {
    form->dtype = NULL;
    if (shape == NULL || !read_shape(form, shape) || !read_order(form, order)) {
        return 0;
    }
    form->dtype = dtype != NULL ? arr_read_dtype(dtype) : PyArray_DescrFromType(NPY_DOUBLE);
    if (form->dtype != NULL && !measure(form)) {
        Py_CLEAR(form->dtype);
    }
    return form->dtype != NULL;
}

/* The form of another array with another dtype; 0 if its axes are in neither C nor Fortran
 * order. */
static int form_like(Form *form, const GPUArray *like, PyArray_Descr *dtype) {
    if (like->flags == 0 && like->ndim > 1) {
        return 0;
    }
    form->ndim = like->ndim;
    form->fortran = like->ndim > 1 && !(like->flags & ARRAY_C);
    memcpy(form->shape, ARRAY_SHAPE(like), (size_t)like->ndim * sizeof *form->shape);
    form->dtype = dtype;
    return measure(form);
}

/* Initializes a header with memory, which it takes over (NULL: an exception is set). Returns 0, or
 * -1 with an exception. self may have been initialized before. */
static int init_with_memory(GPUArray *self, const Target *target, const Form *form,
                            PyObject *allocator, PyObject *data) {
    if (data == NULL) {
        return -1;
    }
    return arr_init_header(self, target->backend, target->table, target->queue, data, allocator,
                           form->dtype, form->ndim, form->shape,
                           form->fortran ? form->strides : NULL);
}

static int init_new(GPUArray *self, const Target *target, const Form *form, PyObject *allocator) {
    return init_with_memory(
        self, target, form, allocator,
        table_allocate(target->table, target->backend, allocator, form->nbytes));
}

static PyObject *make(PyObject *type, const Target *target, const Form *form, PyObject *allocator) {
    GPUArray *self = (GPUArray *)PG_NEW((PyTypeObject *)type);
    if (self == NULL) {
        return NULL;
    }
    self->dims = self->inline_dims;
    Py_INCREF(allocator); /* it may be another array's, and that array get another one meanwhile */
    if (init_new(self, target, form, allocator) < 0) {
        Py_CLEAR(self);
    }
    Py_DECREF(allocator);
    return (PyObject *)self;
}

/* Fills an array with a number; takes over the array. */
static PyObject *filled(PyObject *array, PyObject *value) {
    int state = array != NULL ? arr_fill_number((GPUArray *)array, value) : -1;
    if (state > 0 || array == NULL) {
        return array;
    }
    PyObject *result = state == 0 ? PyObject_CallMethod(array, "fill", "O", value) : NULL;
    Py_DECREF(array);
    return result;
}

static PyObject *filled_with(PyObject *array, long value) {
    PyObject *number = PyLong_FromLong(value), *result = NULL;
    if (number != NULL) {
        result = filled(array, number);
        Py_DECREF(number);
    } else {
        Py_XDECREF(array);
    }
    return result;
}

/* The allocator for a call; PyCUDA's default allocator means the pool here. */
static PyObject *allocator_of(PyObject *given) {
    return given == NULL || given == arr_cuda.default_allocator ? Py_None : given;
}

/* The dtype that numpy.asarray() gives a number. */
static PyObject *dtype_of_number(PyObject *value) {
    int overflow = 0;
    if (PyFloat_CheckExact(value)) {
        return (PyObject *)PyArray_DescrFromType(NPY_DOUBLE);
    }
    if (PyLong_CheckExact(value) &&
        (PyLong_AsLongLongAndOverflow(value, &overflow), overflow == 0)) {
        return (PyObject *)PyArray_DescrFromType(NPY_INT64);
    }
    return NULL;
}

/* ---- CUDA: the current context --------------------------------------------------------------- */

static PyObject *cuda_new(PyObject *shape, PyObject *dtype, PyObject *allocator, PyObject *order) {
    Form form;
    Target target;
    PyObject *array = NULL;
    if (arr_cuda.array_class == NULL || !read_form(&form, shape, dtype, order)) {
        return NULL;
    }
    if (cuda_target(&target) > 0) {
        array = make(arr_cuda.array_class, &target, &form, allocator_of(allocator));
        target_clear(&target);
    }
    Py_DECREF((PyObject *)form.dtype);
    return array;
}

/* Whether the driver knows the memory at *data*, with at least nbytes left; otherwise Python
 * reports what is wrong. */
static int has_room(PyObject *data, Py_ssize_t nbytes) {
    PyObject *number = arr_cuda.address_range != NULL ? PyNumber_Long(data) : NULL;
    PyObject *range = number != NULL ? PyObject_CallOneArg(arr_cuda.address_range, data) : NULL;
    unsigned long long at = 0, start = 0;
    Py_ssize_t size = 0;
    if (range != NULL && PyArg_ParseTuple(range, "Kn", &start, &size)) {
        at = PyLong_AsUnsignedLongLong(number);
    }
    Py_XDECREF(number);
    Py_XDECREF(range);
    if (PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    return range != NULL && at >= start && at - start <= (unsigned long long)size &&
           (unsigned long long)nbytes <= (unsigned long long)size - (at - start);
}

/* self, shape, dtype, allocator, base, gpudata, strides, order, stream */
PyObject *fast_cuda_init(PyObject *const *a, Py_ssize_t Py_UNUSED(n)) {
    GPUArray *self = as_array(a[0]);
    Form form;
    Target target;
    if (self == NULL || !omitted(a[6]) || !omitted(a[8]) || a[2] == NULL ||
        !read_form(&form, a[1], a[2], a[7])) {
        return NULL;
    }
    int state = 0, given = !omitted(a[5]);
    if (!given || (form.nbytes > 0 && has_room(a[5], form.nbytes))) {
        state = cuda_target(&target);
    }
    if (state > 0) {
        PyObject *allocator = allocator_of(a[3]);
        state = (given ? init_with_memory(self, &target, &form, allocator, Py_NewRef(a[5]))
                       : init_new(self, &target, &form, allocator)) < 0
                    ? -1
                    : 1;
        target_clear(&target);
    }
    Py_DECREF((PyObject *)form.dtype);
    if (state > 0 && !omitted(a[4])) {
        state = PyObject_SetAttrString(a[0], "base", a[4]) < 0 ? -1 : 1;
    }
    return state > 0 ? Py_NewRef(Py_None) : NULL;
}

/* shape, dtype, allocator, order */
PyObject *fast_cuda_zeros(PyObject *const *a, Py_ssize_t Py_UNUSED(n)) {
    PyObject *array = cuda_new(a[0], a[1], a[2], a[3]);
    return array != NULL ? filled_with(array, 0) : NULL;
}

PyObject *fast_cuda_ones(PyObject *const *a, Py_ssize_t Py_UNUSED(n)) {
    PyObject *array = cuda_new(a[0], a[1], a[2], a[3]);
    return array != NULL ? filled_with(array, 1) : NULL;
}

/* shape, fill_value, dtype, allocator, order */
PyObject *fast_cuda_full(PyObject *const *a, Py_ssize_t Py_UNUSED(n)) {
    if (a[1] == NULL || (!PyFloat_CheckExact(a[1]) && !PyLong_CheckExact(a[1]))) {
        return NULL;
    }
    PyObject *dtype = omitted(a[2]) ? dtype_of_number(a[1]) : Py_NewRef(a[2]);
    PyObject *array = dtype != NULL ? cuda_new(a[0], dtype, a[3], a[4]) : NULL;
    Py_XDECREF(dtype);
    return array != NULL ? filled(array, a[1]) : NULL;
}

/* other_ary, dtype, order */
PyObject *fast_cuda_empty_like(PyObject *const *a, Py_ssize_t Py_UNUSED(n)) {
    GPUArray *like = as_array(a[0]);
    Form form;
    Target target;
    if (like == NULL || (PyObject *)Py_TYPE(like) != arr_cuda.array_class || a[2] != NULL) {
        return NULL;
    }
    PyArray_Descr *dtype = omitted(a[1]) ? (PyArray_Descr *)Py_NewRef((PyObject *)like->dtype)
                                         : arr_read_dtype(a[1]);
    PyObject *array = NULL;
    if (dtype != NULL && form_like(&form, like, dtype) && cuda_target(&target) > 0) {
        array = make(arr_cuda.array_class, &target, &form, allocator_of(like->allocator));
        target_clear(&target);
    }
    Py_XDECREF((PyObject *)dtype);
    return array;
}

PyObject *fast_cuda_zeros_like(PyObject *const *a, Py_ssize_t n) {
    PyObject *array = fast_cuda_empty_like(a, n);
    return array != NULL ? filled_with(array, 0) : NULL;
}

PyObject *fast_cuda_ones_like(PyObject *const *a, Py_ssize_t n) {
    PyObject *array = fast_cuda_empty_like(a, n);
    return array != NULL ? filled_with(array, 1) : NULL;
}

/* The form of a contiguous host array of a dtype that devices support, if its copy is not so long
 * that Python shows a line of progress. Returns 1, or 0 with nothing owned. */
static int form_of_host(Form *form, PyObject *host) {
    if (host == NULL || !PyArray_CheckExact(host)) {
        return 0;
    }
    PyArrayObject *array = (PyArrayObject *)host;
    form->ndim = PyArray_NDIM(array);
    form->fortran = !PyArray_IS_C_CONTIGUOUS(array);
    if (form->ndim > ARRAY_MAX_DIMS || (form->fortran && !PyArray_IS_F_CONTIGUOUS(array))) {
        return 0;
    }
    form->dtype = arr_read_dtype((PyObject *)PyArray_DESCR(array));
    if (form->dtype == NULL) {
        return 0;
    }
    for (int k = 0; k < form->ndim; k++) {
        form->shape[k] = PyArray_DIM(array, k);
    }
    if (!measure(form) || form->nbytes >= ARR_LONG_COPY) {
        Py_CLEAR(form->dtype);
    }
    return form->dtype != NULL;
}

static PyObject *filled_from(PyObject *array, PyObject *host, int blocking) {
    if (array != NULL && arr_write((GPUArray *)array, host, blocking) < 0) {
        Py_CLEAR(array);
    }
    return array;
}

/* ary, allocator */
PyObject *fast_to_gpu(PyObject *const *a, Py_ssize_t Py_UNUSED(n)) {
    Form form;
    Target target;
    PyObject *array = NULL;
    if (arr_cuda.array_class == NULL || arr_cuda.to_device == NULL || !form_of_host(&form, a[0])) {
        return NULL;
    }
    if (cuda_target(&target) > 0) {
        array =
            filled_from(make(arr_cuda.array_class, &target, &form, allocator_of(a[1])), a[0], 1);
        target_clear(&target);
    }
    Py_DECREF((PyObject *)form.dtype);
    return array;
}

/* ---- OpenCL: a queue ------------------------------------------------------------------------- */

static PyObject *or_none(PyObject *value) {
    return value != NULL ? value : Py_None;
}

static PyObject *opencl_new(PyObject *queue, PyObject *shape, PyObject *dtype, PyObject *order,
                            PyObject *allocator) {
    Form form;
    Target target;
    PyObject *array = NULL;
    if (arr_opencl.array_class == NULL || dtype == NULL || !read_form(&form, shape, dtype, order)) {
        return NULL;
    }
    if (opencl_target(&target, queue) > 0) {
        array = make(arr_opencl.array_class, &target, &form, or_none(allocator));
        target_clear(&target);
    }
    Py_DECREF((PyObject *)form.dtype);
    return array;
}

/* self, cq, shape, dtype, order, allocator, data, offset, strides, events, ... */
PyObject *fast_opencl_init(PyObject *const *a, Py_ssize_t n) {
    GPUArray *self = as_array(a[0]);
    Form form;
    Target target;
    if (self == NULL || a[3] == NULL || !read_form(&form, a[2], a[3], a[4])) {
        return NULL;
    }
    int state = 1;
    for (Py_ssize_t i = 6; i < n; i++) {
        state = state && omitted(a[i]);
    }
    state = state ? opencl_target(&target, a[1]) : 0;
    if (state > 0) {
        state = init_new(self, &target, &form, or_none(a[5])) < 0 ? -1 : 1;
        target_clear(&target);
    }
    Py_DECREF((PyObject *)form.dtype);
    return state > 0 ? Py_NewRef(Py_None) : NULL;
}

/* queue, shape, dtype, order, allocator */
PyObject *fast_opencl_zeros(PyObject *const *a, Py_ssize_t Py_UNUSED(n)) {
    PyObject *array = opencl_new(a[0], a[1], a[2], a[3], a[4]);
    return array != NULL ? filled_with(array, 0) : NULL;
}

PyObject *fast_opencl_ones(PyObject *const *a, Py_ssize_t Py_UNUSED(n)) {
    PyObject *array = opencl_new(a[0], a[1], a[2], a[3], a[4]);
    return array != NULL ? filled_with(array, 1) : NULL;
}

/* queue, shape, fill_value, dtype, order, allocator */
PyObject *fast_opencl_full(PyObject *const *a, Py_ssize_t Py_UNUSED(n)) {
    if (a[2] == NULL || (!PyFloat_CheckExact(a[2]) && !PyLong_CheckExact(a[2]))) {
        return NULL;
    }
    PyObject *dtype = omitted(a[3]) ? dtype_of_number(a[2]) : Py_NewRef(a[3]);
    PyObject *array = dtype != NULL ? opencl_new(a[0], a[1], dtype, a[4], a[5]) : NULL;
    Py_XDECREF(dtype);
    return array != NULL ? filled(array, a[2]) : NULL;
}

/* For the array itself, or a dtype for it, on its own queue and with its own class. */
static PyObject *new_like(GPUArray *like, PyObject *given) {
    Form form;
    if (like == NULL || (PyObject *)Py_TYPE(like) != arr_opencl.array_class ||
        like->queue == Py_None || like->table == NULL) {
        return NULL;
    }
    PyArray_Descr *dtype = omitted(given) ? (PyArray_Descr *)Py_NewRef((PyObject *)like->dtype)
                                          : arr_read_dtype(given);
    PyObject *array = NULL;
    if (dtype != NULL && form_like(&form, like, dtype)) {
        Target target = {Py_NewRef(like->backend), Py_NewRef(like->queue),
                         (Table *)Py_NewRef((PyObject *)like->table)};
        array = make(arr_opencl.array_class, &target, &form, like->allocator);
        target_clear(&target);
    }
    Py_XDECREF((PyObject *)dtype);
    return array;
}

/* ary, queue, allocator, dtype */
PyObject *fast_opencl_empty_like(PyObject *const *a, Py_ssize_t Py_UNUSED(n)) {
    return a[1] == NULL && omitted(a[2]) ? new_like(as_array(a[0]), a[3]) : NULL;
}

/* ary */
PyObject *fast_opencl_zeros_like(PyObject *const *a, Py_ssize_t Py_UNUSED(n)) {
    PyObject *array = new_like(as_array(a[0]), NULL);
    return array != NULL ? filled_with(array, 0) : NULL;
}

/* queue, ary, allocator, async_, array_queue */
PyObject *fast_to_device(PyObject *const *a, Py_ssize_t Py_UNUSED(n)) {
    Form form;
    Target target;
    PyObject *array = NULL;
    int blocking = not_set(a[3]);
    if (arr_opencl.array_class == NULL || a[4] != NULL || (!blocking && a[3] != Py_True) ||
        !form_of_host(&form, a[1])) {
        return NULL;
    }
    if (opencl_target(&target, a[0]) > 0) {
        if (arr_opencl.copy != NULL && target.table->ordered == target.queue) {
            array = make(arr_opencl.array_class, &target, &form, or_none(a[2]));
            if (array != NULL &&
                !arr_can_command(
                    (GPUArray *)array)) { /* shared virtual memory, provided by an allocator */
                PyObject *done = PyObject_CallMethod(array, "set", "OOO", a[1], target.queue,
                                                     blocking ? Py_False : Py_True);
                Py_XDECREF(done);
                if (done == NULL) {
                    Py_CLEAR(array);
                }
            } else {
                array = filled_from(array, a[1], blocking);
            }
        }
        target_clear(&target);
    }
    Py_DECREF((PyObject *)form.dtype);
    return array;
}
