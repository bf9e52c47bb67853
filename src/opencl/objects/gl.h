/* gl.h - sharing with OpenGL. */
#ifndef PYGPU_OPENCL_GL_H
#define PYGPU_OPENCL_GL_H

#include "opencl/device.h"

/* Returns 0 if objects can be shared with OpenGL there, otherwise -1 with an exception that says
 * which extension is missing where. */
int ocl_need_gl_device(State *state, const char *call, Device *device);
int ocl_need_gl_platform(State *state, const char *call, cl_platform_id platform);
/* The first platform with such a device; NULL without an exception if there is none. */
cl_platform_id ocl_first_gl_platform(State *state);

#endif
