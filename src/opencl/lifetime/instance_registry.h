/* instance_registry.h - Platforms, Devices, Contexts and CommandQueues by handle, as long as such
 * an object exists; see instance_registry.c. */
#ifndef PYGPU_INSTANCE_REGISTRY_H
#define PYGPU_INSTANCE_REGISTRY_H

#include "opencl/opencl.h"

/* The common head of these objects. */
typedef struct {
    OCL_INSTANCE_HEAD(void *, handle)
} OclInstance;

/* Returns a new reference to the object of a handle, or NULL without an exception. Always NULL
 * while driver calls are trapped, so that tests can count or fail every call. */
PyObject *ocl_find_instance(const State *state, PyTypeObject *type, const void *handle);
/* All objects of a type, a new list; NULL with an exception. */
PyObject *ocl_instances(const State *state, PyTypeObject *type);
void ocl_register_instance(PyObject *op);  /* its dealloc unregisters it */
int ocl_unregister_instance(PyObject *op); /* 1 if it was registered */
void ocl_unregister_all_instances(void);
int ocl_keep_class_methods(PyObject *module,
                           State *state); /* class_method.c; call after the types are made */

#endif
