/* instance_registry.h - Platforms, Devices, Contexts and CommandQueues by their handle, as long as
 * there is an object of it; see instance_registry.c. */
#ifndef PYGPU_KNOWN_H
#define PYGPU_KNOWN_H

#include "opencl/opencl.h"

/* How these begin. */
typedef struct {
    OCL_KNOWN_HEAD(void *, handle)
} OclInstance;

/* The object of a handle, or NULL without an exception; a new reference. None while driver calls
 * are trapped: who counts or fails them is to see them all. */
PyObject *ocl_find_instance(const State *state, PyTypeObject *type, const void *handle);
/* All objects of a type, a new list; NULL with an exception. */
PyObject *ocl_instances(const State *state, PyTypeObject *type);
void ocl_remember(PyObject *op); /* its dealloc has to forget it */
int ocl_forget(PyObject *op);    /* 1 if it was known */
void ocl_forget_all(void);
int ocl_keep_class_methods(PyObject *module,
                           State *state); /* class_method.c; once the types are made */

#endif
