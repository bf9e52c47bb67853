/* operators.c - the operators of arrays: what is not done here goes to operate() in Python (pygpu/core/operators.py). */
#include "operators.h"

/* operate(name, out or None, a[, b]) */
static PyObject *slow(Op op, PyObject *out, PyObject *a, PyObject *b) {
    if (arr_state->operate == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "pygpu._array is used through pygpu.array and pygpu.cuda.gpuarray, which were not imported");
        return NULL;
    }
    PyObject *args[] = {arr_state->names[op], out != NULL ? out : Py_None, a, b};
    return PyObject_Vectorcall(arr_state->operate, args, b != NULL ? 4 : 3, NULL);
}

static PyObject *binary(Op op, PyObject *a, PyObject *b) { return slow(op, NULL, a, b); }
static PyObject *inplace(Op op, PyObject *a, PyObject *b) { return slow(op, a, a, b); }
static PyObject *unary(Op op, PyObject *a) { return slow(op, NULL, a, NULL); }

#define OPC(name, python)
#define OP1(name, slot) \
    PyObject *arr_##slot(PyObject *a) { return unary(OP_##name, a); }
#define OP2(name, slot)                                                                 \
    PyObject *arr_##slot(PyObject *a, PyObject *b) { return binary(OP_##name, a, b); } \
    PyObject *arr_inplace_##slot(PyObject *a, PyObject *b) { return inplace(OP_##name, a, b); }
#include "ops.def"
#undef OPC
#undef OP1
#undef OP2

PyObject *arr_divmod(PyObject *a, PyObject *b) { return slow(OP_divmod, NULL, a, b); }

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
#include "ops.def"
#undef OP2
#undef OP1
#undef OPC
    };
    return binary(ops[op], a, b);
}
