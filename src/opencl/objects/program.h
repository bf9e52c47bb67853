/* program.h - what the program*.c files share. */
#ifndef PYGPU_PROGRAM_H
#define PYGPU_PROGRAM_H

#include "opencl/context.h"

typedef enum { PROGRAM_FRESH, PROGRAM_FAILED, PROGRAM_COMPILED, PROGRAM_BUILT } ProgramStage;
typedef enum { PROGRAM_UNKNOWN, PROGRAM_SOURCE, PROGRAM_BINARY, PROGRAM_IL } ProgramKind;

typedef struct Program {
    OCL_HEAD
    cl_program program; /* NULL until the driver is asked, so that a cached binary can stand for the
                           source */
    Context *context;
    PyObject *kernels;                 /* dict name -> Kernel: what prg.name gives */
    PyObject *last_name, *last_kernel; /* the attribute that was asked for last: a reference, and
                                          one borrowed from kernels */
    PyObject *source;   /* bytes, or NULL: made from binaries, IL or built-in kernels */
    PyObject *arg_info; /* dict name -> list of (address, access, type name, type qualifier, name),
                           or NULL */
    PyObject *options;  /* bytes of the last build that succeeded, or NULL */
    PyObject *checks;   /* what makes its kernels under PYGPU_CHECK=1, or NULL */
    ProgramKind kind;
    ProgramStage stage;
    int cached;              /* the handle holds a binary of the cache instead of the source */
    int pinned;              /* somebody has seen the handle: it must stay */
    PyThread_type_lock lock; /* held by the thread that builds */
    unsigned long owner;     /* its identity, 0: nobody builds */
    PyObject *dict;
} Program;

PyObject *ocl_program_wrap(State *state, PyTypeObject *type, cl_program handle,
                           int retain); /* type may be NULL */
Program *ocl_as_program(State *state, PyObject *obj, const char *call, const char *name);
/* The handle, made from the source if nobody has needed it yet; it stays the same from then on.
 * Waits for a build in another thread. NULL with an exception. */
cl_program ocl_program_handle(Program *self);
/* Before a kernel is made: the same, or NULL with an exception that says that the program must be
 * built first. */
cl_program ocl_program_built(Program *self, const char *call);

/* program.c */
/* Takes over the handle, also on failure; NULL: made from the source when needed. */
Program *program_new(State *state, PyTypeObject *type, Context *context, cl_program handle,
                     ProgramKind kind);
PyObject *program_all_kernels(PyObject *op, PyObject *ignored);
PyObject *program_kind(PyObject *op, PyObject *ignored);
PyObject *program_dir(PyObject *op, PyObject *ignored);

/* program_build.c */
const char *program_text(PyObject *obj); /* of bytes without NUL; NULL with an exception */
PyObject *program_from_binaries(State *state, PyTypeObject *type, Context *context,
                                PyObject *devices, PyObject *binaries);
extern PyMethodDef program_methods[];

/* program_link.c */
PyObject *program_link(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                       PyObject *kwnames); /* any self */

/* program_info.c */
PyObject *program_kernel_names(
    Program *self); /* list of str; the program has a handle and is built */
PyObject *program_get_info(PyObject *op, PyObject *param);
PyObject *program_get_build_info(PyObject *op, PyObject *const *args, Py_ssize_t nargs);
PyObject *program_kernel_arguments(PyObject *op, PyObject *ignored);
extern PyGetSetDef program_getset[];

#endif
