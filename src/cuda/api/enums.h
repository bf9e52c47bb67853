/* enums.h - the classes of the driver's constants. */
#ifndef PYGPU_CUDA_ENUMS_H
#define PYGPU_CUDA_ENUMS_H

#include "common/pg.h"

/* Returns the class of that name; or its member of this value, or an instance if there is no such
 * member. */
PyObject *cud_enumeration(const char *name);
/* Implements op.name for types whose objects also have an enumeration's members as attributes, in
 * lower or upper case. names: a dict that caches earlier lookups, NULL at first. Returns a new
 * reference to the attribute, or with *is_member set to the member; NULL with an exception. */
PyObject *cud_attribute(PyObject *op, PyObject *name, PyTypeObject *type, PyObject **names,
                        const char *cls, int *is_member);
PyObject *cud_member(const char *name, long value);

#endif
