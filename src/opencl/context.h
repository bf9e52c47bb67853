/* context.h - contexts and their properties. */
#ifndef PYGPU_OPENCL_CONTEXT_H
#define PYGPU_OPENCL_CONTEXT_H

#include "opencl/device.h"

typedef struct Context {
    OCL_INSTANCE_HEAD(cl_context, context)
    int version;   /* the lowest version of its devices */
    int shares_gl; /* 1 if it was made with an OpenGL context, 0 if without; -1 if made elsewhere,
                    * so unknown */
    Py_ssize_t n_devices;
    Device **devices;
    PyObject *given; /* tuple of Devices, or NULL. PoCL lists the root device instead of a
                      * sub-device, but needs the sub-device for the context's whole life */
    PyObject *dict;
} Context;

PyObject *ocl_context_wrap(
    State *state, cl_context handle); /* the existing object, or a new one with its own reference */
Context *ocl_as_context(State *state, PyObject *obj, const char *call);

#define OCL_MAX_CONTEXT_PROPERTIES 16
typedef struct {
    cl_context_properties
        list[2 * OCL_MAX_CONTEXT_PROPERTIES + 3]; /* alternating keys and values, then 0; with room
                                                   * for one more pair */
    int n;                                        /* number of pairs */
    cl_platform_id platform;                      /* NULL if none is given */
    int shares_gl;                                /* an OpenGL context or share group is given */
    int may_lack_devices;                         /* an Apple share group determines the devices */
} ContextProperties;

/* [(context_properties.X, value), ...]; NULL or None means no properties. */
int ocl_context_properties(State *state, PyObject *obj, const char *call, ContextProperties *out);
void ocl_context_properties_add(ContextProperties *self, cl_platform_id platform);

#endif
