/* convert.c - converts Python objects to C integers, sizes and host buffers; its errors name the
 * call and the argument. */
#include "common/pg.h"

const char *pg_type_name(PyObject *obj) {
    const char *name = Py_TYPE(obj)->tp_name, *dot = strrchr(name, '.');
    return dot != NULL ? dot + 1 : name;
}

/* Returns a new reference to an int, or NULL with a TypeError that names the argument. */
static PyObject *as_index(PyObject *obj, const char *call, const char *name) {
    if (PyLong_CheckExact(obj)) {
        return Py_NewRef(obj);
    }
    PyObject *index = PyNumber_Index(obj);
    if (index == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s: %s must be an integer, not %s", call, name,
                     pg_type_name(obj));
    }
    return index;
}

static int out_of_range(const char *call, const char *name, PyObject *value, const char *range) {
    PyErr_Clear();
    PyObject *text = PyObject_Str(value); /* fails for an int with too many digits */
    if (text == NULL) {
        PyErr_Clear();
        PyErr_Format(PyExc_OverflowError, "%s: %s is out of range (%s)", call, name, range);
    } else {
        PyErr_Format(PyExc_OverflowError, "%s: %s = %U is out of range (%s)", call, name, text,
                     range);
        Py_DECREF(text);
    }
    return -1;
}

int pg_as_i64(PyObject *obj, const char *call, const char *name, int64_t *out) {
    PyObject *index = as_index(obj, call, name);
    if (index == NULL) {
        return -1;
    }
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(index, &overflow);
    int result = 0;
    if (overflow != 0) {
        result = out_of_range(call, name, index, "64-bit signed integer");
    }
    Py_DECREF(index);
    *out = value;
    return result;
}

int pg_as_u64(PyObject *obj, const char *call, const char *name, uint64_t *out) {
    PyObject *index = as_index(obj, call, name);
    if (index == NULL) {
        return -1;
    }
    unsigned long long value = PyLong_AsUnsignedLongLong(index);
    int result = 0;
    if (value == (unsigned long long)-1 && PyErr_Occurred()) {
        result = out_of_range(call, name, index, "0 <= value < 2**64");
    }
    Py_DECREF(index);
    *out = value;
    return result;
}

int pg_as_u32(PyObject *obj, const char *call, const char *name, uint32_t *out) {
    PyObject *index = as_index(obj, call, name);
    if (index == NULL) {
        return -1;
    }
    unsigned long long value = PyLong_AsUnsignedLongLong(index);
    int result = 0;
    if ((value == (unsigned long long)-1 && PyErr_Occurred()) || value > UINT32_MAX) {
        result = out_of_range(call, name, index, "0 <= value < 2**32");
    }
    Py_DECREF(index);
    *out = (uint32_t)value;
    return result;
}

int pg_as_size(PyObject *obj, const char *call, const char *name, size_t *out) {
    PyObject *index = as_index(obj, call, name);
    if (index == NULL) {
        return -1;
    }
    Py_ssize_t value = PyLong_AsSsize_t(index);
    int result = 0;
    if (value < 0) {
        if (!PyErr_Occurred()) {
            PyErr_Format(PyExc_ValueError, "%s: %s must not be negative, got %zd", call, name,
                         value);
            result = -1;
        } else {
            result = out_of_range(call, name, index, "0 <= value < 2**63");
        }
    }
    Py_DECREF(index);
    *out = (size_t)value;
    return result;
}

int pg_as_bool(PyObject *obj, int otherwise) {
    return obj == NULL ? otherwise : PyObject_IsTrue(obj);
}

int pg_as_sizes(PyObject *obj, const char *call, const char *name, size_t *out, int max) {
    if (PyLong_Check(obj) || PyArray_IsScalar(obj, Integer)) {
        return pg_as_size(obj, call, name, out) < 0 ? -1 : 1;
    }
    if ((PyList_Check(obj) || PyTuple_Check(obj)) && PySequence_Fast_GET_SIZE(obj) > max) {
        PyErr_Format(PyExc_ValueError, "%s: %s has %zd entries, at most %d are allowed", call, name,
                     PySequence_Fast_GET_SIZE(obj), max);
        return -1;
    }
    PyObject *items = pg_tuple(obj, call, name, "integers", max);
    if (items == NULL) {
        return -1;
    }
    Py_ssize_t n = PyTuple_GET_SIZE(items);
    for (Py_ssize_t i = 0; i < n; i++) {
        if (pg_as_size(PyTuple_GET_ITEM(items, i), call, name, &out[i]) < 0) {
            n = -1;
            break;
        }
    }
    Py_DECREF(items);
    return (int)n;
}

PyObject *pg_tuple(PyObject *obj, const char *call, const char *name, const char *of,
                   Py_ssize_t max) {
    if (PyTuple_CheckExact(obj) && PyTuple_GET_SIZE(obj) <= max) {
        return Py_NewRef(obj);
    }
    if (PyList_CheckExact(obj) && PyList_GET_SIZE(obj) <= max) {
        return PyList_AsTuple(obj);
    }
    PyObject *iterator = PyUnicode_Check(obj) || PyBytes_Check(obj) ? NULL : PyObject_GetIter(obj);
    if (iterator == NULL) {
        if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            PyErr_Format(PyExc_TypeError, "%s: %s must be a sequence of %s, not %s", call, name, of,
                         pg_type_name(obj));
        }
        return NULL;
    }
    PyObject *list = PyList_New(0), *item = NULL;
    while (list != NULL && (item = PyIter_Next(iterator)) != NULL) {
        if (PyList_GET_SIZE(list) == max) {
            PyErr_Format(PyExc_ValueError, "%s: %s has more than %zd entries", call, name, max);
            Py_CLEAR(item);
        }
        pg_append(&list, item);
    }
    Py_DECREF(iterator);
    if (PyErr_Occurred()) { /* raised by the iterator */
        Py_CLEAR(list);
    }
    PyObject *tuple = list != NULL ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return tuple;
}

PyObject *pg_tuple_of(const Py_ssize_t *values, int n) {
    PyObject *tuple = PyTuple_New(n);
    for (int i = 0; tuple != NULL && i < n; i++) {
        PyObject *number = PyLong_FromSsize_t(values[i]);
        if (number == NULL) {
            Py_CLEAR(tuple);
        } else {
            PyTuple_SET_ITEM(tuple, i, number);
        }
    }
    return tuple;
}

void pg_append(PyObject **list, PyObject *item) {
    if (*list == NULL || item == NULL || PyList_Append(*list, item) < 0) {
        Py_CLEAR(*list);
    }
    Py_XDECREF(item);
}

PyObject *pg_join(const char *separator, PyObject *list) {
    PyObject *string = list != NULL ? PyUnicode_FromString(separator) : NULL;
    PyObject *joined = string != NULL ? PyUnicode_Join(string, list) : NULL;
    Py_XDECREF(string);
    Py_XDECREF(list);
    return joined;
}

int pg_mul(size_t a, size_t b, size_t *out) {
    if (b != 0 && a > SIZE_MAX / b) {
        return -1;
    }
    *out = a * b;
    return 0;
}

int pg_add(size_t a, size_t b, size_t *out) {
    if (a > SIZE_MAX - b) {
        return -1;
    }
    *out = a + b;
    return 0;
}

int pg_check_items(const Py_buffer *view, const char *call, const char *name) {
    for (const char *at = view->format; at != NULL && *at != '\0'; at++) {
        if (*at == ':') { /* a field name, up to the next colon */
            at = strchr(at + 1, ':');
            if (at == NULL) {
                break;
            }
        } else if (*at == 'O') {
            PyErr_Format(PyExc_TypeError, "%s: %s holds Python objects, which a device cannot use",
                         call, name);
            return -1;
        }
    }
    return 0;
}

int pg_get_buffer(PyObject *obj, const char *call, const char *name, int write, Py_buffer *view) {
    if (PyArray_CheckExact(obj)) { /* a shortcut: NumPy's buffer protocol would describe the items
                                    * first, which is slower */
        PyArrayObject *array = (PyArrayObject *)obj;
        int flags = PyArray_FLAGS(array),
            may_write = (flags & NPY_ARRAY_WRITEABLE) != 0 &&
                        (unsigned)flags >> 31 == 0; /* only the last, with a warning */
        if ((flags & (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS)) && (may_write || !write) &&
            !PyDataType_REFCHK(PyArray_DESCR(array))) {
            return PyBuffer_FillInfo(view, obj, PyArray_DATA(array), PyArray_NBYTES(array),
                                     !may_write, PyBUF_SIMPLE);
        }
    }
    return pg_get_view(obj, call, name, write, view);
}

int pg_get_view(PyObject *obj, const char *call, const char *name, int write, Py_buffer *view) {
    if (PyArray_Check(obj)) {
        PyArrayObject *array = (PyArrayObject *)obj;
        if (PyDataType_REFCHK(PyArray_DESCR(array))) {
            PyErr_Format(PyExc_TypeError,
                         "%s: %s holds Python objects (dtype %S), which a device cannot use", call,
                         name, (PyObject *)PyArray_DESCR(array));
            return -1;
        }
        if (!PyArray_IS_C_CONTIGUOUS(array) && !PyArray_IS_F_CONTIGUOUS(array)) {
            PyErr_Format(PyExc_ValueError,
                         "%s: %s is not contiguous; pass numpy.ascontiguousarray(...) or copy it",
                         call, name);
            return -1;
        }
        if (write && !PyArray_ISWRITEABLE(array)) {
            PyErr_Format(PyExc_ValueError, "%s: %s is read-only, and the call writes to it", call,
                         name);
            return -1;
        }
    }
    int flags = PyBUF_ANY_CONTIGUOUS | (write ? PyBUF_WRITABLE : 0) |
                (PyArray_Check(obj) ? 0 : PyBUF_FORMAT);
    if (PyObject_GetBuffer(obj, view, flags) == 0) {
        if (pg_check_items(view, call, name) < 0) {
            PyBuffer_Release(view);
            return -1;
        }
        return 0;
    }
    if (PyArray_Check(obj) &&
        (PyErr_ExceptionMatches(PyExc_ValueError) || PyErr_ExceptionMatches(PyExc_BufferError))) {
        /* A dtype without a buffer format (datetime64, for example) still has plain bytes. */
        PyErr_Clear();
        return PyBuffer_FillInfo(view, obj, PyArray_DATA((PyArrayObject *)obj),
                                 PyArray_NBYTES((PyArrayObject *)obj), !write, PyBUF_SIMPLE);
    }
    if (PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError,
                     "%s: %s must be host memory (an ndarray, bytes, bytearray, ...), not %s", call,
                     name, pg_type_name(obj));
    } else if (PyErr_ExceptionMatches(PyExc_BufferError)) {
        PyErr_Clear();
        PyErr_Format(PyExc_BufferError, "%s: %s is not %scontiguous memory", call, name,
                     write ? "writable " : "");
    }
    return -1;
}
