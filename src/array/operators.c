/* operators.c - the operators of arrays: what is not done here goes to operate() in Python (pygpu/core/operators.py). */
#include "operators.h"
#include "table.h"

/* operate(name, out or None, a[, b]) */
static PyObject *slow(Op op, PyObject *out, PyObject *a, PyObject *b) {
    if (arr_state->operate == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "pygpu._array is used through pygpu.array and pygpu.cuda.gpuarray, which were not imported");
        return NULL;
    }
    PyObject *args[] = {arr_state->names[op], out != NULL ? out : Py_None, a, b};
    return PyObject_Vectorcall(arr_state->operate, args, b != NULL ? 4 : 3, NULL);
}

/* ---- the fast path: operands without gaps, of one shape, on one queue in order, and a kernel that is known ---------------------- */

/* What an operand is; -1 if it is nothing for the fast path. */
static inline int kind_of(PyObject *op, PyTypeObject *type) {
    if (Py_TYPE(op) == type) {
        int number = ((GPUArray *)op)->dtype->type_num;
        return number < KIND_INT ? number : -1;
    }
    return PyFloat_CheckExact(op) ? KIND_FLOAT : PyLong_CheckExact(op) ? KIND_INT : -1;
}

static inline int usable(const GPUArray *array, const GPUArray *first) {
    return array->table == first->table && array->queue == first->queue && !array->foreign && (array->flags & first->flags & (ARRAY_C | ARRAY_F)) != 0 &&
           array->ndim == first->ndim && memcmp(ARRAY_SHAPE(array), ARRAY_SHAPE(first), (size_t)first->ndim * sizeof(Py_ssize_t)) == 0;
}

/* Items are where kernels can read them: sizes of numbers are powers of two, and in the fast path arrays have no gaps. */
static inline int aligned(const GPUArray *array) { return (array->offset & (ARRAY_ITEMSIZE(array) - 1)) == 0; }

static inline int put(Args *args, PyObject *value, int owned) {
    args->owned[args->n] = owned;
    args->values[args->n++] = value;
    return value != NULL ? 0 : -1;
}

static inline int put_operand(Args *args, PyObject *op, int kind) {
    if (kind >= KIND_INT) {
        return put(args, op, 0);
    }
    GPUArray *array = (GPUArray *)op;
    put(args, array->base_data, 0);
    return put(args, PyLong_FromSsize_t(array->offset), 1);
}

/* 1: done, *result is new; 0: not for the fast path; -1 with an exception. out: NULL for a new array. b may be NULL. */
static int fast(Op op, GPUArray *out, PyObject *a, PyObject *b, PyObject **result) {
    GPUArray *first = arr_is_array(a) ? (GPUArray *)a : (GPUArray *)b;
    Table *table = first->table;
    PyTypeObject *type = Py_TYPE(first);
    if (table == NULL || first->queue != table->ordered || first->foreign || first->flags == 0 || first->size == 0) {
        return 0;
    }
    int kind_a = kind_of(a, type), kind_b = b != NULL ? kind_of(b, type) : KIND_NONE;
    if (kind_a < 0 || kind_b < 0) {
        return 0;
    }
    Entry *entry = table_find(table, TABLE_KEY(op, kind_a, kind_b));
    if (entry == NULL || !aligned(first) || (kind_a < KIND_INT && kind_b < KIND_INT && !(usable((GPUArray *)b, first) && aligned((GPUArray *)b)))) {
        return 0;
    }
    if (out != NULL) {
        const GPUArray *other = (const GPUArray *)b;
        if (out != first || out->dtype->type_num != entry->dtype->type_num ||
            (kind_b < KIND_INT && other != out && other->base_data == out->base_data)) { /* may overlap */
            return 0;
        }
        Py_INCREF((PyObject *)out);
    } else {
        PyObject *data = table_allocate(table, first->allocator, first->size * (Py_ssize_t)PyDataType_ELSIZE(entry->dtype));
        entry = data != NULL ? table_find(table, TABLE_KEY(op, kind_a, kind_b)) : NULL; /* an allocator may have done anything */
        if (entry == NULL) {
            Py_XDECREF(data);
            return data != NULL ? 0 : -1;
        }
        out = (GPUArray *)arr_new_like(first, entry->dtype, data);
        if (out == NULL) {
            return -1;
        }
    }
    Args args = {.n = 0};
    PyObject *event = NULL;
    if (put_operand(&args, (PyObject *)out, 0) == 0 && put_operand(&args, a, kind_a) == 0 && (b == NULL || put_operand(&args, b, kind_b) == 0)) {
        event = table_launch(table, entry, first->queue, &args, first->size);
    }
    for (int i = 0; i < args.n; i++) {
        if (args.owned[i]) {
            Py_XDECREF(args.values[i]);
        }
    }
    if (event == NULL) {
        Py_DECREF((PyObject *)out);
        if ((kind_a >= KIND_INT || kind_b >= KIND_INT) && PyErr_ExceptionMatches(PyExc_OverflowError)) {
            PyErr_Clear(); /* a number that does not fit: NumPy's rules decide */
            return 0;
        }
        return -1;
    }
    int failed = event != Py_None && arr_set_event(out, event) < 0;
    Py_DECREF(event);
    if (failed) {
        Py_DECREF((PyObject *)out);
        return -1;
    }
    *result = (PyObject *)out;
    return 1;
}

static PyObject *operate(Op op, PyObject *out, PyObject *a, PyObject *b) {
    PyObject *result;
    int done = fast(op, (GPUArray *)out, a, b, &result);
    return done > 0 ? result : done < 0 ? NULL : slow(op, out, a, b);
}

static PyObject *binary(Op op, PyObject *a, PyObject *b) { return operate(op, NULL, a, b); }
static PyObject *inplace(Op op, PyObject *a, PyObject *b) { return arr_is_array(a) ? operate(op, a, a, b) : slow(op, a, a, b); }
static PyObject *unary(Op op, PyObject *a) { return operate(op, NULL, a, NULL); }

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
    PyObject *dtype = PyObject_GetAttr((PyObject *)Py_TYPE(a), arr_state->comparison_dtype);
    if (dtype == NULL && !PyErr_ExceptionMatches(PyExc_AttributeError)) {
        return NULL;
    }
    PyErr_Clear();
    int own = dtype != NULL && dtype != Py_None; /* the kernels in the table give bool */
    Py_XDECREF(dtype);
    return own ? slow(ops[op], NULL, a, b) : binary(ops[op], a, b);
}
