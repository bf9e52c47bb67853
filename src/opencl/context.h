/* context.h - contexts and their properties. */
#ifndef PYGPU_OPENCL_CONTEXT_H
#define PYGPU_OPENCL_CONTEXT_H

#include "opencl/device.h"

typedef struct Context {
    OCL_KNOWN_HEAD(cl_context, context)
    int version;   /* the lowest of its devices' */
    int shares_gl; /* 1 if it was made with an OpenGL context, 0 without; -1: elsewhere, so not
                      known */
    Py_ssize_t n_devices;
    Device **devices;
    PyObject *given; /* tuple of Devices, or NULL: PoCL lists the root for a sub-device, and needs
                        the sub-device to the end */
    PyObject *dict;
} Context;

PyObject *ocl_context_wrap(
    State *state,
    cl_context handle); /* the one that there is, else a new one with a reference of its own */
Context *ocl_as_context(State *state, PyObject *obj, const char *call);

#define OCL_MAX_CONTEXT_PROPERTIES 16
typedef struct {
    cl_context_properties list[2 * OCL_MAX_CONTEXT_PROPERTIES +
                               3]; /* keys and values by turns, then 0; room for one more pair */
    int n;                         /* pairs */
    cl_platform_id platform;       /* NULL: none is named */
    int shares_gl;                 /* an OpenGL context or share group is named */
    int may_lack_devices;          /* Apple's share group stands for its devices */
} ContextProperties;

/* [(context_properties.X, value), ...], or NULL or None for none. */
int ocl_context_properties(State *state, PyObject *obj, const char *call, ContextProperties *out);
void ocl_context_properties_add(ContextProperties *self, cl_platform_id platform);

#endif
