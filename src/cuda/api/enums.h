/* enums.h - the classes of the driver's constants. */
#ifndef PYGPU_CUDA_ENUMS_H
#define PYGPU_CUDA_ENUMS_H

#include "common/pg.h"

/* The class of that name; its member of this value, or an object of the class if it has none. */
PyObject *cud_enumeration(const char *name);
/* op.name for types whose objects have the members of an enumeration as attributes too, in small or
 * capital letters. names: a dict of those that were asked for before, NULL at first. A new
 * reference to the attribute, or with *is_member to the member. NULL with an exception. */
PyObject *cud_attribute(PyObject *op, PyObject *name, PyTypeObject *type, PyObject **names,
                        const char *cls, int *is_member);
PyObject *cud_member(const char *name, long value);

#endif
