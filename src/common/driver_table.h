/* driver_table.h - a driver's library: opened at run time, its functions looked up in a table. */
#ifndef PG_DRIVER_TABLE_H
#define PG_DRIVER_TABLE_H

#include "common/pg.h"

typedef struct {
    int since;                 /* the version that introduced it */
    int required;              /* a library without it is another one */
    const char *name, *symbol; /* in errors and traps; in the library */
} PgFunction;

typedef struct {
    const char *what;            /* "an OpenCL library": for messages */
    const PgFunction *functions; /* rows, in the order of the table */
    int n_functions, n_table;    /* rows; those of them that this library has */
    void *table;                 /* struct of n_table function pointers; NULL: not in the library */
    long *call_counts;           /* by row */
    void *library;               /* NULL: not loaded */
    int ready;                   /* found and initialized: cannot be unloaded */
    char path[4096];
} PgDriver;

/* Opens the library at a path, a str. NULL with an OSError in the linker's own words, or because it
 * lacks a required function. */
void *pg_driver_open(const PgDriver *self, PyObject *path);
/* Makes an opened library the driver's, with the functions that a driver of this version has: a
 * newer one may be there under another meaning. If another thread was first while the GIL was
 * released, its library stays. */
void pg_driver_take(PgDriver *self, void *opened, PyObject *path, int version);
/* Has the loader's function (loader: a new reference, or NULL with an exception) find a library
 * unless one is loaded. It is given the extension, which opens files and tries them. -1 with an
 * exception. */
int pg_driver_find(PgDriver *self, const char *extension, PyObject *loader, const char *function);
/* For _unload_library: -1 with an exception if it is in use. */
int pg_driver_unload(PgDriver *self);

/* Methods of modules whose state begins with a PgState. */
extern PyMethodDef pg_driver_methods[];
/* What _handle_counts() returns: live handles by kind. */
PyObject *pg_handle_counts(const long *live, const char *const *kinds, int n);

#endif
