/* host_array.h - ndarrays over memory that a driver owns. */
#ifndef PG_HOST_ARRAY_H
#define PG_HOST_ARRAY_H

#include "common/pg.h"

#define PG_ARRAY_DIMS 32
typedef struct {
    int n, fortran;
    npy_intp dims[PG_ARRAY_DIMS], strides[PG_ARRAY_DIMS];
    PyArray_Descr *dtype; /* owned */
    size_t size;          /* distance in bytes from the first to the end of the last item */
} PgArrayLayout;

/* Converts obj to a dtype; a TypeError names the call and the argument. Returns 0, or -1 with an
 * exception. */
int pg_as_dtype(PyObject *obj, const char *call, const char *name, PyArray_Descr **out);
/* Reads shape, dtype, order ('C' or 'F') and strides (bytes, NULL or None); checks for overflow.
 * Returns 0, or -1 with an exception. */
int pg_array_layout(const char *call, PyObject *shape, PyObject *dtype, PyObject *order,
                    PyObject *strides, PgArrayLayout *layout);
/* Makes an ndarray at pointer whose base is owner; takes over the layout's dtype. */
PyArrayObject *pg_array_from_layout(PyObject *owner, PgArrayLayout *layout, void *pointer,
                                    int writable);
/* Both steps, for size bytes at pointer. NULL with an exception if the array would exceed them. */
PyArrayObject *pg_array_over(PyObject *owner, const char *call, PyObject *shape, PyObject *dtype,
                             PyObject *order, PyObject *strides, void *pointer, size_t size,
                             int writable);

#endif
