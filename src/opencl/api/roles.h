/* roles.h - Python modules that do what C leaves to Python once a process or a program. */
#ifndef PYGPU_OPENCL_ROLES_H
#define PYGPU_OPENCL_ROLES_H

#include "common/pg.h"

/* The module that plays a role, loaded when it is first asked for; a new reference or NULL with an
 * exception. The layers above say which modules those are: C names none of them. */
PyObject *ocl_role(const char *role);
extern PyMethodDef ocl_role_functions[];

#endif
