/* signature.h - inspect.signature() of kernels, made from the declarations of their parameters. */
#ifndef PYGPU_SIGNATURE_H
#define PYGPU_SIGNATURE_H

#include "common/pg.h"

/* What a kernel's call takes besides its parameters: names before them, and keywords after. */
typedef struct {
    const char *const *before;   /* ends with NULL, as keywords does */
    const char *const *keywords; /* "name" is required, "name=" may be left out */
} PgCallForm;

/* declarations: a list of str "float *a" or None; NULL with an exception is passed on, None means
 * that nothing is known. A new inspect.Signature. */
PyObject *pg_make_signature(const PgCallForm *form, PyObject *declarations);

/* ", "-joined declarations of a list, for reprs: "float *a, int n"; None is "?". */
PyObject *pg_join_declarations(PyObject *declarations);

/* Gives a type's objects __signature__, made by getter, and not the type itself, whose own
 * signature is that of its constructor. -1 with an exception. */
int pg_add_signature(PyTypeObject *type, getter make);

#endif
