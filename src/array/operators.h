/* operators.h - the operator slots, as rows of a type's slot table. */
#ifndef PYGPU_ARRAY_OPERATORS_H
#define PYGPU_ARRAY_OPERATORS_H

#include "array/arraymod.h"

#define OP2(name, slot) PyObject *arr_##slot(PyObject *a, PyObject *b);
#define OP1(name, slot) PyObject *arr_##slot(PyObject *a);
#define OPC(name, python)
#include "array/ops.def"
#undef OP2
#define OP2(name, slot) PyObject *arr_inplace_##slot(PyObject *a, PyObject *b);
#undef OP1
#define OP1(name, slot)
#include "array/ops.def"
#undef OP2
#undef OP1
#undef OPC
PyObject *arr_divmod(PyObject *a, PyObject *b);
PyObject *arr_power(PyObject *a, PyObject *b, PyObject *modulus);
PyObject *arr_inplace_power(PyObject *a, PyObject *b, PyObject *modulus);

#define ARR_BOTH(slot)                                   \
    {Py_nb_##slot, (void *)arr_##slot}, {                \
        Py_nb_inplace_##slot, (void *)arr_inplace_##slot \
    }
#define ARR_OPERATOR_SLOTS                                                                      \
    ARR_BOTH(add), ARR_BOTH(subtract), ARR_BOTH(multiply), ARR_BOTH(true_divide),               \
        ARR_BOTH(floor_divide), ARR_BOTH(remainder), ARR_BOTH(lshift), ARR_BOTH(rshift),        \
        ARR_BOTH(and), ARR_BOTH(or), ARR_BOTH(xor), ARR_BOTH(matrix_multiply), ARR_BOTH(power), \
        {Py_nb_divmod, (void *)arr_divmod}, {Py_nb_negative, (void *)arr_negative},             \
        {Py_nb_positive, (void *)arr_positive}, {Py_nb_absolute, (void *)arr_absolute},         \
        {Py_nb_invert, (void *)arr_invert}, {Py_tp_richcompare, (void *)arr_richcompare}, {     \
        Py_tp_hash, (void *)PyObject_HashNotImplemented                                         \
    }

#endif
