/* program.h - what the program*.c files share. */
#ifndef PYGPU_PROGRAM_H
#define PYGPU_PROGRAM_H

#include "opencl/opencl.h"

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
