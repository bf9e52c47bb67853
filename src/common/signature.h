/* signature.h - makes inspect.signature() of kernels from the declarations of their parameters. */
#ifndef PYGPU_SIGNATURE_H
#define PYGPU_SIGNATURE_H

#include "common/pg.h"

/* Arguments of a kernel call besides the kernel's parameters: names before them, and keywords after
 * them. */
typedef struct {
    const char *const *before;   /* both lists end with NULL */
    const char *const *keywords; /* "name" is required, "name=" is optional */
} PgCallForm;

/* Makes a new inspect.Signature. declarations: a list of "float *a" or None; None instead of a
 * list means that nothing is known, and NULL with an exception is passed on. */
PyObject *pg_make_signature(const PgCallForm *form, PyObject *declarations);

/* Joins declarations by ", " for reprs: "float *a, int n". None becomes "?". */
PyObject *pg_join_declarations(PyObject *declarations);

/* Gives instances of a type a __signature__ made by the getter. The type itself keeps the
 * signature of its constructor. Returns -1 with an exception. */
int pg_add_signature(PyTypeObject *type, getter make);

#endif
