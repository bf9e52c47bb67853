/* repr.h - the tp_repr functions of types whose repr queries the driver. */
#ifndef PYGPU_OPENCL_REPR_H
#define PYGPU_OPENCL_REPR_H

#include "common/pg.h"

PyObject *ocl_memory_repr(PyObject *op);
PyObject *ocl_svm_repr(PyObject *op);
PyObject *ocl_queue_repr(PyObject *op);
PyObject *ocl_event_repr(PyObject *op);
PyObject *ocl_sampler_repr(PyObject *op);
PyObject *ocl_program_repr(PyObject *op);

#endif
