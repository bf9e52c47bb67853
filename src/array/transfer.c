/* transfer.c - get(), set(), fill() and copies of contiguous arrays, each as one driver command
 * issued without Python. */
#include "array/fastpath.h"

static PyObject *src_offset_word, *dst_offset_word, *blocking_word, *dst_and_blocking_words,
    *count_and_offset_words; /* keyword names, kept until the process ends */

static int make_words(void) {
    if (dst_and_blocking_words == NULL) {
        src_offset_word = Py_BuildValue("(s)", "src_offset");
        dst_offset_word = Py_BuildValue("(s)", "dst_offset");
        blocking_word = Py_BuildValue("(s)", "is_blocking");
        count_and_offset_words = Py_BuildValue("(ss)", "byte_count", "src_offset");
        dst_and_blocking_words = Py_BuildValue("(ss)", "dst_offset", "is_blocking");
    }
    int failed = src_offset_word == NULL || dst_offset_word == NULL || blocking_word == NULL;
    return failed || count_and_offset_words == NULL || dst_and_blocking_words == NULL ? -1 : 0;
}

int arr_can_command(const GPUArray *self) {
    const Table *table = self->table;
    if (table == NULL || arr_has_foreign_events(self)) {
        return 0;
    }
    if (table->cuda) {
        return arr_cuda.to_device != NULL && (self->queue == Py_None || self->offset == 0) &&
               arr_is_current(self->backend);
    }
    return arr_opencl.copy != NULL && self->queue != Py_None && self->queue == table->ordered &&
           !PyObject_TypeCheck(self->base_data, (PyTypeObject *)arr_opencl.shared_memory);
}

/* ---- commands -------------------------------------------------------------------------------- */

/* The start of a CUDA array: its memory object, whose size is known and whose uses are tracked, or
 * an address inside it. */
static PyObject *start_of(const GPUArray *self) {
    if (self->offset == 0) {
        return Py_NewRef(self->base_data);
    }
    PyObject *start = PyNumber_Long(self->base_data),
             *offset = start != NULL ? PyLong_FromSsize_t(self->offset) : NULL;
    PyObject *address = offset != NULL ? PyNumber_Add(start, offset) : NULL;
    Py_XDECREF(start);
    Py_XDECREF(offset);
    return address;
}

static int done(PyObject *result) {
    Py_XDECREF(result);
    return result != NULL ? 0 : -1;
}

static int event_of(GPUArray *self, PyObject *event) {
    int failed = event == NULL || arr_set_event(self, event) < 0;
    Py_XDECREF(event);
    return failed ? -1 : 0;
}

static int cuda_write(const GPUArray *self, PyObject *host) {
    PyObject *args[] = {start_of(self), host};
    if (args[0] == NULL) {
        return -1;
    }
    int status = done(PyObject_Vectorcall(arr_cuda.to_device, args, 2, NULL));
    Py_DECREF(args[0]);
    return status;
}

static int cuda_read(const GPUArray *self, PyObject *host) {
    PyObject *args[] = {host, start_of(self)};
    if (args[1] == NULL) {
        return -1;
    }
    int status = done(PyObject_Vectorcall(arr_cuda.to_host, args, 2, NULL));
    Py_DECREF(args[1]);
    return status;
}

/* A command with an array's queue and memory among its n positional arguments. They are kept,
 * because the array may get others during a wait. */
static PyObject *command(PyObject *function, PyObject *const *args, size_t n, PyObject *names) {
    for (size_t i = 0; i < n; i++) {
        Py_INCREF(args[i]);
    }
    PyObject *result = PyObject_Vectorcall(function, args, n, names);
    for (size_t i = 0; i < n; i++) {
        Py_DECREF(args[i]);
    }
    return result;
}

static int opencl_write(GPUArray *self, PyObject *host, int blocking) {
    PyObject *offset = self->offset != 0 ? PyLong_FromSsize_t(self->offset) : NULL;
    if (make_words() < 0 || (self->offset != 0 && offset == NULL)) {
        Py_XDECREF(offset);
        return -1;
    }
    PyObject *args[] = {self->queue, self->base_data, host, NULL, NULL}, *names = NULL;
    if (offset != NULL) {
        args[3] = offset;
        args[4] = Py_False;
        names = blocking ? dst_offset_word : dst_and_blocking_words;
    } else if (!blocking) {
        args[3] = Py_False;
        names = blocking_word;
    }
    PyObject *event = command(arr_opencl.copy, args, 3, names);
    Py_XDECREF(offset);
    return event_of(self, event);
}

static int opencl_read(const GPUArray *self, PyObject *host) {
    if (make_words() < 0) {
        return -1;
    }
    PyObject *args[] = {self->queue, host, self->base_data, NULL}, *names = NULL;
    if (self->offset != 0) {
        if ((args[3] = PyLong_FromSsize_t(self->offset)) == NULL) {
            return -1;
        }
        names = src_offset_word;
    }
    int status = done(command(arr_opencl.copy, args, 3, names));
    Py_XDECREF(args[3]);
    return status;
}

int arr_write(GPUArray *self, PyObject *host, int blocking) {
    return self->size == 0 || ARRAY_ITEMSIZE(self) == 0 ? 0
           : self->table->cuda                          ? cuda_write(self, host)
                                                        : opencl_write(self, host, blocking);
}

static int read_into(const GPUArray *self, PyObject *host) {
    return self->size == 0 || ARRAY_ITEMSIZE(self) == 0 ? 0
           : self->table->cuda                          ? cuda_read(self, host)
                                                        : opencl_read(self, host);
}

int arr_copy_items(const GPUArray *self, GPUArray *made, Py_ssize_t nbytes) {
    PyObject *size = PyLong_FromSsize_t(nbytes),
             *start = self->table->cuda ? start_of(self) : PyLong_FromSsize_t(self->offset);
    int status = -1;
    if (size == NULL || start == NULL || make_words() < 0) {
        goto out;
    }
    if (self->table->cuda) {
        PyObject *args[] = {made->base_data, start, size, self->queue};
        status = done(command(arr_cuda.copy, args, 4, NULL));
    } else {
        PyObject *args[] = {self->queue, made->base_data, self->base_data, size, start};
        status = event_of(made, command(arr_opencl.copy, args, 3, count_and_offset_words));
    }
out:
    Py_XDECREF(size);
    Py_XDECREF(start);
    return status;
}

PyObject *arr_copy_memory(const Table *table, PyObject *queue, PyObject *to, PyObject *from,
                          Py_ssize_t nbytes) {
    PyObject *size = PyLong_FromSsize_t(nbytes), *zero = PyLong_FromLong(0), *event = NULL;
    if (size != NULL && zero != NULL && make_words() == 0) {
        PyObject *cuda[] = {to, from, size, queue}, *opencl[] = {queue, to, from, size, zero};
        event = table->cuda ? command(arr_cuda.copy, cuda, 4, NULL)
                            : command(arr_opencl.copy, opencl, 3, count_and_offset_words);
    }
    Py_XDECREF(size);
    Py_XDECREF(zero);
    return event;
}

/* ---- get, set -------------------------------------------------------------------------------- */

/* Whether a blocking copy between the array and a host array is a single command, and one that is
 * too short for a line of progress, which Python shows. */
static int can_copy(const GPUArray *self) {
    return self->flags != 0 && self->size * ARRAY_ITEMSIZE(self) < ARR_LONG_COPY &&
           arr_can_command(self) && (!self->table->cuda || self->queue == Py_None);
}

/* Whether it is a host array with the same dtype, shape and order. */
static int fits(const GPUArray *self, PyObject *host) {
    if (!PyArray_CheckExact(host)) {
        return 0;
    }
    PyArrayObject *array = (PyArrayObject *)host;
    const PyArray_Descr *dtype = PyArray_DESCR(array);
    int number = dtype->type_num;
    int same = dtype == self->dtype ||
               (number == self->dtype->type_num && number <= NPY_CLONGDOUBLE &&
                dtype->byteorder == self->dtype->byteorder);
    return same && PyArray_NDIM(array) == self->ndim &&
           memcmp(PyArray_DIMS(array), ARRAY_SHAPE(self), (size_t)self->ndim * sizeof(npy_intp)) ==
               0 &&
           (self->flags & ARRAY_C ? PyArray_IS_C_CONTIGUOUS(array)
                                  : PyArray_IS_F_CONTIGUOUS(array));
}

static PyObject *get(GPUArray *self, PyObject *given) {
    if (self == NULL || !can_copy(self) ||
        (given != NULL && given != Py_None && !fits(self, given)) ||
        PyDataType_HASSUBARRAY(self->dtype)) {
        return NULL;
    }
    PyObject *host = given;
    if (omitted(given)) {
        Py_INCREF((PyObject *)self->dtype);
        host = PyArray_Empty(self->ndim, ARRAY_SHAPE(self), self->dtype, !(self->flags & ARRAY_C));
    } else {
        Py_INCREF(host);
    }
    if (host != NULL && read_into(self, host) < 0) {
        Py_CLEAR(host);
    }
    return host;
}

static PyObject *set(GPUArray *self, PyObject *host) {
    if (self == NULL || host == NULL || !can_copy(self) || !fits(self, host)) {
        return NULL;
    }
    return arr_write(self, host, 1) < 0 ? NULL : Py_NewRef(Py_None);
}

/* self, ary, pagelocked, async_, stream */
PyObject *fast_cuda_get(PyObject *const *a, Py_ssize_t Py_UNUSED(n)) {
    return not_set(a[2]) && not_set(a[3]) && omitted(a[4]) ? get(as_array(a[0]), a[1]) : NULL;
}

/* self, ary, async_, stream */
PyObject *fast_cuda_set(PyObject *const *a, Py_ssize_t Py_UNUSED(n)) {
    return not_set(a[2]) && omitted(a[3]) ? set(as_array(a[0]), a[1]) : NULL;
}

/* self, queue, ary, async_ */
PyObject *fast_opencl_get(PyObject *const *a, Py_ssize_t Py_UNUSED(n)) {
    GPUArray *self = as_array(a[0]);
    return self != NULL && (omitted(a[1]) || a[1] == self->queue) && not_set(a[3]) ? get(self, a[2])
                                                                                   : NULL;
}

/* self, ary, queue, async_ */
PyObject *fast_opencl_set(PyObject *const *a, Py_ssize_t Py_UNUSED(n)) {
    GPUArray *self = as_array(a[0]);
    return self != NULL && (omitted(a[2]) || a[2] == self->queue) && not_set(a[3]) ? set(self, a[1])
                                                                                   : NULL;
}

/* ---- fill ------------------------------------------------------------------------------------ */

static int is_zero(PyObject *value) {
    if (PyFloat_CheckExact(value)) {
        double number = PyFloat_AS_DOUBLE(value);
        uint64_t bits;
        memcpy(&bits, &number, sizeof bits);
        return bits == 0; /* -0.0 does not qualify */
    }
    int overflow;
    return PyLong_CheckExact(value) && PyLong_AsLongAndOverflow(value, &overflow) == 0 &&
           overflow == 0;
}

/* Sets all bytes to 0. Returns 0, or -1 with an exception. */
static int clear(GPUArray *self) {
    PyObject *nbytes = PyLong_FromSsize_t(self->size * ARRAY_ITEMSIZE(self)),
             *offset = PyLong_FromSsize_t(self->table->cuda ? 0 : self->offset);
    PyObject *start = self->table->cuda ? start_of(self) : NULL;
    int status = -1;
    if (nbytes == NULL || offset == NULL || (self->table->cuda && start == NULL)) {
        goto out;
    }
    if (self->table->cuda) {
        PyObject *args[] = {start, offset /* the byte 0 */, nbytes, self->queue};
        status = done(command(arr_cuda.fill, args, 4, NULL));
    } else {
        PyObject *args[] = {self->queue, self->base_data, arr_opencl.zero_byte, offset, nbytes};
        status = event_of(self, command(arr_opencl.fill, args, 5, NULL));
    }
out:
    Py_XDECREF(nbytes);
    Py_XDECREF(offset);
    Py_XDECREF(start);
    return status;
}

int arr_fill_number(GPUArray *self, PyObject *value) {
    static PyObject *copy_word;
    if ((!PyFloat_CheckExact(value) && !PyLong_CheckExact(value)) ||
        !(self->dtype->type_num <= NPY_CLONGDOUBLE || self->dtype->type_num == NPY_HALF) ||
        self->flags == 0) {
        return 0;
    }
    if (self->size == 0) {
        return 1;
    }
    if (is_zero(value)) {
        return arr_can_command(self) ? (clear(self) < 0 ? -1 : 1) : 0;
    }
    if (copy_word == NULL && (copy_word = PyUnicode_InternFromString("copy")) == NULL) {
        return -1;
    }
    PyObject *result;
    Py_ssize_t id = arr_id(copy_word, 0);
    int state = id >= 0 ? arr_fast(id, &value, 1, self, &result) : 0;
    if (state > 0) {
        Py_DECREF(result);
    }
    return state;
}

/* self, value, queue or stream, wait_for */
PyObject *fast_fill(PyObject *const *a, Py_ssize_t Py_UNUSED(n)) {
    GPUArray *self = as_array(a[0]);
    if (self == NULL || a[1] == NULL || !omitted(a[2]) || !omitted(a[3])) {
        return NULL;
    }
    int state = arr_fill_number(self, a[1]);
    return state > 0 ? Py_NewRef(a[0]) : NULL;
}
