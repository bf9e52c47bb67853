/* operators.c - the operators of arrays; what they cannot handle goes to operate() in
 * pygpu/_src/array/operators.py. */
#include "array/operators.h"
#include "array/dispatch.h"

/* The number of axes, and their lengths; -1 for what is not an array. */
static int shape_of(PyObject *op, const Py_ssize_t **shape) {
    if (arr_is_array(op)) {
        *shape = ARRAY_SHAPE((GPUArray *)op);
        return ((GPUArray *)op)->ndim;
    }
    if (PyArray_CheckExact(op)) {
        *shape = PyArray_DIMS((PyArrayObject *)op);
        return PyArray_NDIM((PyArrayObject *)op);
    }
    return -1;
}

/* Refuses shapes that cannot be broadcast. Python would as well, but with its own frames in the
 * traceback of the most frequent mistake. */
static int check_shapes(PyObject *a, PyObject *b) {
    const Py_ssize_t *first = NULL, *second = NULL;
    int na = shape_of(a, &first), nb = shape_of(b, &second);
    for (int i = 1; i <= na && i <= nb; i++) {
        if (first[na - i] == second[nb - i] || first[na - i] == 1 || second[nb - i] == 1) {
            continue;
        }
        PyObject *left = PyObject_GetAttrString(a, "shape");
        PyObject *right = left != NULL ? PyObject_GetAttrString(b, "shape") : NULL;
        if (right != NULL) {
            PyErr_Format(PyExc_ValueError,
                         "operands could not be broadcast together with shapes %S %S", left, right);
        }
        Py_XDECREF(left);
        Py_XDECREF(right);
        return -1;
    }
    return 0;
}

/* Calls operate(name, out or None, a[, b]). */
static PyObject *slow(Op op, PyObject *out, PyObject *a, PyObject *b) {
    if (b != NULL && op != OP_matmul && check_shapes(a, b) < 0) {
        return NULL;
    }
    if (arr_state->operate == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "pygpu._array is used through pygpu.array and "
                                            "pygpu.cuda.gpuarray, which were not imported");
        return NULL;
    }
    PyObject *args[] = {arr_state->names[op], out != NULL ? out : Py_None, a, b};
    PyObject *result = PyObject_Vectorcall(arr_state->operate, args, b != NULL ? 4 : 3, NULL);
    if (PG_UNLIKELY(result == NULL)) {
        arr_hide_frames();
    }
    return result;
}

static PyObject *operate(Op op, PyObject *out, PyObject *a, PyObject *b) {
    PyObject *result, *operands[] = {a, b};
    int done = arr_fast(op, operands, b != NULL ? 2 : 1, (GPUArray *)out, &result);
    return done > 0 ? result : done < 0 ? NULL : slow(op, out, a, b);
}

static PyObject *binary(Op op, PyObject *a, PyObject *b) {
    return operate(op, NULL, a, b);
}

static PyObject *inplace(Op op, PyObject *a, PyObject *b) {
    PyObject *result = arr_is_array(a) ? operate(op, a, a, b) : slow(op, a, a, b);
    if (result == Py_NotImplemented && op == OP_add) {
        /* For a Python subclass of this type, CPython also tries += as that of a sequence and
         * would use whatever it returns as the result: `a += "x"` would set a to NotImplemented. */
        Py_DECREF(result);
        return PyNumber_Add(a, b);
    }
    return result;
}

static PyObject *unary(Op op, PyObject *a) {
    return operate(op, NULL, a, NULL);
}

#define OPC(name, python)
#define OP1(name, slot)                 \
    PyObject *arr_##slot(PyObject *a) { \
        return unary(OP_##name, a);     \
    }
#define OP2(name, slot)                                      \
    PyObject *arr_##slot(PyObject *a, PyObject *b) {         \
        return binary(OP_##name, a, b);                      \
    }                                                        \
    PyObject *arr_inplace_##slot(PyObject *a, PyObject *b) { \
        return inplace(OP_##name, a, b);                     \
    }
#include "array/ops.def"
#undef OPC
#undef OP1
#undef OP2

PyObject *arr_divmod(PyObject *a, PyObject *b) {
    return slow(OP_divmod, NULL, a, b);
}

PyObject *arr_power(PyObject *a, PyObject *b, PyObject *modulus) {
    if (modulus != Py_None) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    return binary(OP_power, a, b);
}

PyObject *arr_inplace_power(PyObject *a, PyObject *b, PyObject *modulus) {
    if (modulus != Py_None) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    return inplace(OP_power, a, b);
}

PyObject *arr_richcompare(PyObject *a, PyObject *b, int op) {
    static const Op ops[] = {
#define OP2(name, slot)
#define OP1(name, slot)
#define OPC(name, python) [python] = OP_##name,
#include "array/ops.def"
#undef OP2
#undef OP1
#undef OPC
    };
    PyObject *dtype = PyObject_GetAttr((PyObject *)Py_TYPE(a), arr_state->comparison_dtype);
    if (dtype == NULL && !PyErr_ExceptionMatches(PyExc_AttributeError)) {
        return NULL;
    }
    PyErr_Clear();
    int has_dtype = dtype != NULL && dtype != Py_None; /* the kernels in the table return bool */
    Py_XDECREF(dtype);
    return has_dtype ? slow(ops[op], NULL, a, b) : binary(ops[op], a, b);
}
