/* driver_table.h - opens a driver's library at run time and looks its functions up in a table. */
#ifndef PG_DRIVER_TABLE_H
#define PG_DRIVER_TABLE_H

#include "common/pg.h"

typedef struct {
    int since;                 /* the driver version that introduced it */
    int required;              /* a library without this function is not this driver */
    const char *name, *symbol; /* name: in errors and traps; symbol: in the library */
} PgFunction;

typedef struct {
    const char *what;            /* for messages: "an OpenCL library" */
    const PgFunction *functions; /* one row per function, in the order of the table */
    int n_functions, n_table;    /* all rows; those of this library (CUDA: without NVRTC's) */
    void *table;                 /* struct of n_table pointers; NULL: not in the library */
    long *call_counts;           /* one per row */
    void *library;               /* NULL if not loaded */
    int ready;                   /* found and initialized, so it can no longer be unloaded */
    char path[4096];
} PgDriver;

/* Opens the library at a path, a str. Returns NULL with an OSError that carries the linker's own
 * message or names a missing required function. */
void *pg_driver_open(const PgDriver *self, PyObject *path);
/* Installs an opened library as the driver's, with only the functions that a driver of this
 * version has: a function newer than that may be present with another meaning. If another thread
 * installed one while the GIL was released, that one stays. */
void pg_driver_take(PgDriver *self, void *opened, PyObject *path, int version);
/* Unless a library is loaded, lets the loader's function find one (loader: a new reference, or
 * NULL with an exception). The function receives the extension module, with which it opens and
 * tries files. Returns -1 with an exception. */
int pg_driver_find(PgDriver *self, const char *extension, PyObject *loader, const char *function);
/* For _unload_library(). Returns -1 with an exception if the library is in use. */
int pg_driver_unload(PgDriver *self);

/* Methods for modules whose state begins with a PgState. */
extern PyMethodDef pg_driver_methods[];
/* The result of _handle_counts(): live handles by kind. */
PyObject *pg_handle_counts(const long *live, const char *const *kinds, int n);

#endif
