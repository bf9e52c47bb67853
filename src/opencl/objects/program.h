/* program.h - what the program*.c files share. */
#ifndef PYGPU_PROGRAM_H
#define PYGPU_PROGRAM_H

#include "opencl/context.h"

typedef enum { PROGRAM_FRESH, PROGRAM_FAILED, PROGRAM_COMPILED, PROGRAM_BUILT } ProgramStage;
typedef enum { PROGRAM_UNKNOWN, PROGRAM_SOURCE, PROGRAM_BINARY, PROGRAM_IL } ProgramKind;

typedef struct Program {
    OCL_HEAD
    cl_program program; /* NULL until the driver is needed, so that a cached binary can replace the
                         * source */
    Context *context;
    PyObject *kernels;                 /* dict name -> Kernel: the values of prg.name */
    PyObject *last_name, *last_kernel; /* the attribute looked up last: the name is a reference,
                                        * the kernel is borrowed from kernels */
    PyObject *source;   /* bytes; NULL if made from binaries, IL or built-in kernels */
    PyObject *arg_info; /* dict name -> list of (address, access, type name, type qualifier, name),
                         * or NULL */
    PyObject *options;  /* bytes: of the last successful build, or NULL */
    PyObject *checks;   /* makes its kernels under PYGPU_CHECK=1, or NULL */
    ProgramKind kind;
    ProgramStage stage;
    int cached;              /* the handle holds a binary from the cache instead of the source */
    int pinned;              /* the handle was given away, so it must not change */
    PyThread_type_lock lock; /* held by the thread that is building */
    unsigned long owner;     /* that thread's id, 0: none is building */
    PyObject *dict;
} Program;

PyObject *ocl_program_wrap(State *state, PyTypeObject *type, cl_program handle,
                           int retain); /* type may be NULL */
Program *ocl_as_program(State *state, PyObject *obj, const char *call, const char *name);
/* The handle, made from the source on first use; it does not change afterwards. Waits for a build
 * in another thread. NULL with an exception. */
cl_program ocl_program_handle(Program *self);
/* The same, before a kernel is made; NULL with an exception that says that the program must be
 * built first. */
cl_program ocl_program_built(Program *self, const char *call);

/* program.c */
/* Takes over the handle, also on failure. If NULL, it is made from the source on first use. */
Program *program_new(State *state, PyTypeObject *type, Context *context, cl_program handle,
                     ProgramKind kind);
PyObject *program_all_kernels(PyObject *op, PyObject *ignored);
PyObject *program_kind(PyObject *op, PyObject *ignored);
PyObject *program_dir(PyObject *op, PyObject *ignored);

/* program_build.c */
const char *program_text(PyObject *obj); /* the text of bytes without NUL; NULL with an exception */
PyObject *program_from_binaries(State *state, PyTypeObject *type, Context *context,
                                PyObject *devices, PyObject *binaries);
extern PyMethodDef Program_methods[];

/* program_link.c */
PyObject *program_link(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                       PyObject *kwnames); /* self is ignored */

/* program_info.c */
PyObject *program_kernel_names(
    Program *self); /* list of str; the program must have a handle and be built */
PyObject *program_get_info(PyObject *op, PyObject *param);
PyObject *program_get_build_info(PyObject *op, PyObject *const *args, Py_ssize_t nargs);
PyObject *program_kernel_arguments(PyObject *op, PyObject *ignored);
extern PyGetSetDef Program_getset[];

#endif
