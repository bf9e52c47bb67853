/* image.h - what the image files share: formats, descriptors, extents. */
#ifndef PYGPU_OPENCL_IMAGE_H
#define PYGPU_OPENCL_IMAGE_H

#include "opencl/opencl.h"
#include "opencl/queue.h"

typedef struct {
    PyObject_HEAD
    State *state;
    cl_image_format format;
} ImageFormat;

typedef struct {
    PyObject_HEAD
    State *state;
    cl_mem_object_type type;
    int n_shape; /* 0 if not set */
    size_t shape[3];
    int has_array_size; /* set explicitly; otherwise it follows from the shape */
    size_t array_size;
    size_t pitches[2]; /* row and slice pitch in bytes; 0: no padding */
    cl_uint num_mip_levels, num_samples;
    Memory *buffer; /* NULL: none */
} ImageDescriptor;

/* ---- image_format.c -------------------------------------------------------------------------- */

/* Bytes per pixel; 0 for an unknown format. */
size_t ocl_image_format_size(cl_image_format format);
PyObject *ocl_image_format_new(State *state, cl_image_format format);
/* The formats that the context supports, as PyMem memory. For kinds of images that no device has,
 * the driver is not asked; see type. Returns -1 with an exception. */
int ocl_image_formats(State *state, Context *context, cl_mem_flags flags, cl_mem_object_type type,
                      cl_image_format **out, cl_uint *n);
/* Returns -1 with a LogicError unless a device of the context supports images. */
int ocl_need_images(State *state, const char *call, Context *context);
/* A readable name of a kind of memory object: "2-d image", "array of 1-d images", ... NULL if it
 * is not an image. */
const char *ocl_image_kind(cl_mem_object_type type);

/* ---- image.c --------------------------------------------------------------------------------- */

/* An image as a box of pixels. For an image array, the image index is the last coordinate. */
typedef struct {
    cl_mem_object_type type;
    cl_image_format format;
    int n;          /* number of coordinates */
    size_t size[3]; /* in pixels; 1 from index n on */
    size_t element; /* bytes per pixel, as reported by the driver */
} ImageExtent;

int ocl_image_extent(Memory *self, ImageExtent *extent); /* returns -1 with an exception */
/* Returns a live image of the queue's context, or NULL with an exception; NULL for no queue. */
Memory *ocl_as_image(const Queue *queue, PyObject *obj, const char *call, const char *name);

/* ---- image_copy.c, image_map.c --------------------------------------------------------------- */

/* A region of an image in pixels; for an image array, the last coordinate counts images. */
typedef struct {
    size_t origin[3], region[3];
    int rest; /* the region extends to the end of the image */
} ImageBox;

/* Each is an int or up to three; missing entries are 0 in an origin and 1 in a region. A region of
 * None means the rest of the image. */
int ocl_as_origin(PyObject *obj, const char *call, const char *name, ImageBox *box);
int ocl_as_region(PyObject *obj, const char *call, ImageBox *box);
/* Completes a region of None, and checks that the box lies within the image. */
int ocl_image_check_box(State *state, const char *call, const char *what, const ImageExtent *extent,
                        ImageBox *box);
PyObject *ocl_enqueue_map_image(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                PyObject *kwnames);
extern const char ocl_enqueue_map_image__doc__[];

PG_VECTORCALL(ocl_image_format);

#endif
