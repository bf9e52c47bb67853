/* roles.h - Python modules that do the work that runs only once per process or program. */
#ifndef PYGPU_OPENCL_ROLES_H
#define PYGPU_OPENCL_ROLES_H

#include "common/pg.h"

/* Returns the module that plays a role, loaded on first use; a new reference, or NULL with an
 * exception. The Python layers register the modules, so that C does not name them. */
PyObject *ocl_role(const char *role);
extern PyMethodDef ocl_role_functions[];

#endif
