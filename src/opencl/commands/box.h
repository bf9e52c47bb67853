/* box.h - the functions that copy boxes, images and shared virtual memory; enqueue_copy() calls
 * them directly. */
#ifndef PYGPU_BOX_H
#define PYGPU_BOX_H

#include "opencl/opencl.h"

#define OCL_COPY_FUNCTION(name)                                                     \
    PyObject *ocl_##name(PyObject *module, PyObject *const *args, Py_ssize_t nargs, \
                         PyObject *kwnames)
OCL_COPY_FUNCTION(enqueue_copy_image);
OCL_COPY_FUNCTION(enqueue_copy_image_to_buffer);
OCL_COPY_FUNCTION(enqueue_copy_buffer_to_image);
OCL_COPY_FUNCTION(enqueue_read_image);
OCL_COPY_FUNCTION(enqueue_write_image);
OCL_COPY_FUNCTION(enqueue_read_buffer_rect);
OCL_COPY_FUNCTION(enqueue_write_buffer_rect);
OCL_COPY_FUNCTION(enqueue_copy_buffer_rect);
OCL_COPY_FUNCTION(enqueue_svm_memcpy);

#endif
