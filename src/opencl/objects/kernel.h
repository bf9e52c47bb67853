/* kernel.h - a kernel and the plan for converting its arguments; shared by the kernel_*.c files. */
#ifndef PYGPU_KERNEL_H
#define PYGPU_KERNEL_H

#include "opencl/context.h"
#include "opencl/lifetime/usage.h"
#include "opencl/memory.h"
#include "opencl/opencl.h"

typedef enum {
    ARG_UNKNOWN, /* unknown: objects are passed by their type, others by their bytes */
    ARG_GLOBAL,  /* __global or __constant pointer */
    ARG_LOCAL,
    ARG_IMAGE,
    ARG_SAMPLER,
    ARG_PIPE,
    ARG_QUEUE,
    ARG_INTEGER, /* size bytes, is_signed */
    ARG_FLOAT,   /* size 2, 4 or 8 */
    ARG_COMPLEX, /* size 8 or 16: two floats or doubles */
    ARG_VECTOR,  /* size bytes */
    ARG_BYTES    /* a struct of size bytes, 0 if unknown */
} ArgKind;

typedef enum { SET_NOTHING, SET_VALUE, SET_SVM, SET_LOCAL, SET_NULL } ArgSet;

#define CACHED_BYTES 16

typedef struct {
    /* The fields that every call reads come first, in one cache line. */
    ArgKind kind;
    ArgSet set;          /* what the driver has now ... */
    PyTypeObject *exact; /* the common type, whose value needs no checks, or NULL */
    PyObject *held;      /* the object that the driver's argument refers to; strong */
    union {              /* ... if set_size <= CACHED_BYTES */
        unsigned char bytes[CACHED_BYTES];
        cl_long word; /* the whole value if set_size <= 8 */
    } now;
    size_t set_size, size;
    int by_call; /* held was passed in a call, and the next call sets it again; set_arg() did not
                  * set it */
    int is_signed;
    int scalar_size; /* ARG_VECTOR of floats: 4 or 8, so that a complex number fits; otherwise 0 */
    int of_floats, item_size; /* ARG_VECTOR: its items, sizes in bytes */
    int of_three;    /* ARG_VECTOR: float3 and similar types, which also accept three numbers */
    int with_offset; /* declared as a VectorArg with an offset, which is the next argument */
    int is_offset;   /* the offset of the preceding VectorArg */
    PgItems items;   /* ARG_GLOBAL: what it points to */
    PyObject *declaration; /* "float *a", for messages */
} ArgSlot;

typedef struct Kernel {
    OCL_HEAD
    cl_kernel kernel;
    vectorcallfunc vectorcall;
    Program *program;
    Context *context;
    PyObject *name;
    cl_uint n_args;
    cl_uint n_given; /* number of arguments in a call: n_args without the offsets of VectorArgs */
    ArgSlot *slots;
    int converting; /* number of calls that are converting arguments, which may run Python code:
                     * the plan must not change */
    int locked;     /* set while arguments are set and the launch is enqueued; protected by the
                     * GIL */
    PyThread_type_lock lock; /* also held while the GIL is released in between, for threads that
                              * find it locked to wait on */
    int shared_handle;       /* others may set arguments: never assume what the driver has */
    int svm_seen;            /* an argument of the launched handle has been SVM */
    cl_kernel renewed;       /* the handle used instead of kernel, see kernel_renew(); NULL: kernel
                              * itself */
    char holds_nothing; /* _holds_nothing: launched only by calls that keep their arguments alive;
                         * no memory is kept */
    struct Kernel *next, **link; /* all kernels, for ocl_kernels_drop_arguments() */
    PyObject *dict;
} Kernel;

/* A converted argument, ready for the driver. A value of up to 8 bytes is in value.integer; the
 * remaining bytes are determined by the value, so that integers can be compared. */
typedef struct {
    ArgSet set;
    size_t size;
    PyObject *hold; /* borrowed from the caller's arguments, or owned if owns_hold */
    int owns_hold;
    void *svm;
    union {
        unsigned char bytes[128];
        cl_mem mem;
        void *handle;
        cl_long integer;
        double number;
        float numbers[2];
        double pair[2];
    } value;
    void *large; /* PyMem copy of a struct larger than 128 bytes */
} ArgValue;

int ocl_kernel_add_signature(State *state); /* -1 with an exception */
/* For a subclass whose __init__ has not initialized it. Returns 0, or -1 with an exception. */
int kernel_is_uninitialized(const Kernel *self, const char *call);
static inline int kernel_is_made(const Kernel *self, const char *call) {
    return PG_UNLIKELY(self->kernel == NULL) ? kernel_is_uninitialized(self, call) : 0;
}

/* kernel_args.c */
int kernel_convert_other(Kernel *self, cl_uint index, PyObject *arg, ArgValue *out);
PyObject *kernel_raise_set(Kernel *self, cl_uint index, const char *routine, cl_int status);
int kernel_held_alive(Kernel *self, cl_uint index,
                      PyObject *held); /* returns -1 with an exception if it was released */
static inline int kernel_is_memory(const Kernel *self, PyObject *held) {
    return Py_TYPE(held) == self->state->BufferType ||
           PyObject_TypeCheck(held, self->state->MemoryObjectHolderType);
}

int kernel_refuse(Kernel *self, cl_uint i, const char *format, ...); /* raises TypeError; returns
                                                                      * -1 */

/* kernel_checked.c */
/* Launches a kernel with checks (PYGPU_CHECK=1), with the arguments of enqueue_nd_range_kernel().
 * Returns the event, None for an ordinary launch, NULL with an exception. */
PyObject *kernel_launch_checked(Kernel *self, PyObject *const a[8]);

/* kernel_memory.c */
int kernel_use_memory(Kernel *self, cl_uint i, Memory *memory, ArgValue *out);
/* An array of pygpu or one like PyOpenCL's: passes its memory if it starts at the array's first
 * item. */
int kernel_use_array(Kernel *self, cl_uint i, PyObject *arg, ArgValue *out);
int kernel_convert_global(Kernel *self, cl_uint i, PyObject *arg, ArgValue *out);
const char *kernel_memory_kind(const Memory *memory); /* "a buffer" */
int kernel_compare_dtype(Kernel *self, cl_uint i, PyObject *arg, PyArray_Descr *dtype,
                         const char *raw);
/* Returns -1 with an exception if the memory's dtype is not the kernel's; raw: see
 * pg_items_message(). */
static inline int kernel_check_dtype(Kernel *self, cl_uint i, PyObject *arg, PyArray_Descr *dtype,
                                     const char *raw) {
    if (pg_items_right(&self->slots[i].items, dtype)) {
        return 0;
    }
    return kernel_compare_dtype(self, i, arg, dtype, raw);
}

/* kernel_set.c */
void kernel_values_clear(ArgValue *values, cl_uint n);
/* Makes the driver's arguments equal to values; lock held. Returns the status; *failed is the
 * index that failed. old receives references to drop after unlocking (n entries). by_call: the
 * objects need not be kept for a later launch with unchanged arguments. */
cl_int kernel_set(Kernel *self, ArgValue *values, cl_uint first, cl_uint n, int by_call,
                  cl_uint *failed, PyObject **old, const char **routine);
Program *kernel_find_program(cl_program handle); /* of an existing kernel; borrowed, or NULL */
int kernel_set_arguments(Kernel *self, cl_uint first, PyObject *const *args,
                         cl_uint n); /* of the number given by the caller */
void kernel_list(Kernel *self), kernel_unlist(Kernel *self),
    kernel_relist(
        Kernel *self); /* relinks it in the list of ocl_kernels_drop_arguments() after a move */
/* Makes another handle to launch, with the same arguments; lock held. Returns 1 on success.
 * NVIDIA's driver (580.159) refuses every launch of a handle in which other memory has replaced
 * SVM. Values that are not remembered must be set again. */
int kernel_renew(Kernel *self);
static inline cl_kernel kernel_handle(const Kernel *self) {
    return PG_UNLIKELY(self->renewed != NULL) ? self->renewed : self->kernel;
}
void kernel_wait_for_lock(Kernel *self);
/* Returns 1 if it had to wait, during which the GIL was released. */
static inline int kernel_lock(Kernel *self) {
    int waited = 0;
    if (PG_UNLIKELY(self->locked)) {
        kernel_wait_for_lock(self);
        waited = 1;
    }
    self->locked = 1;
    return waited;
}
static inline void kernel_unlock(Kernel *self) {
    self->locked = 0;
}

/* The value of a small (single-digit) int that is not a bool, or -1. */
static inline Py_ssize_t kernel_small_int(PyObject *obj) {
    if (!PyLong_CheckExact(obj)) {
        return -1;
    }
#if PY_VERSION_HEX >= 0x030C0000
    return PyUnstable_Long_IsCompact((PyLongObject *)obj)
               ? PyUnstable_Long_CompactValue((PyLongObject *)obj)
               : -1;
#else
    Py_ssize_t size = Py_SIZE(obj);
    return size == 1 ? (Py_ssize_t)((PyLongObject *)obj)->ob_digit[0] : size == 0 ? 0 : -1;
#endif
}

/* Converts a number to the word of a float or double argument. Returns 0 if that float is infinite,
 * which is an error unless the number is. */
static inline int kernel_float_word(size_t size, double number, cl_long *word) {
    if (size == 8) {
        memcpy(word, &number, 8);
        return 1;
    }
    float narrow = (float)number;
    cl_uint bits;
    memcpy(&bits, &narrow, 4);
    *word = bits;
    return !Py_IS_INFINITY(narrow);
}

/* Converts the common arguments to the word that the driver gets: a buffer for a pointer, and a
 * number of the argument's own type or a Python number that fits. queue: if not NULL, buffers that
 * need preparation for it are left alone, too. Returns 0 to leave the argument to
 * kernel_convert_other(). */
static inline int kernel_as_word(const Kernel *self, const ArgSlot *slot, PyObject *arg,
                                 const Queue *queue, cl_long *word) {
    PyTypeObject *type = Py_TYPE(arg);
    if (slot->kind == ARG_GLOBAL) {
        if (type != slot->exact && (type != self->state->PooledBufferType || slot->exact == NULL)) {
            return 0;
        }
        const Memory *memory = (const Memory *)arg;
        const Usage *usage = memory->pool; /* a pool's block begins with its usage */
        *word = (cl_long)(intptr_t)memory->mem;
        return memory->mem != NULL && memory->context->context == self->context->context &&
               memory->type == CL_MEM_OBJECT_BUFFER &&
               (queue == NULL || usage == NULL || usage->now.latest == queue);
    }
    if (type == slot->exact) { /* NumPy stores the number right after the object header; 4 or 8
                                * bytes */
        const char *number = (const char *)arg + offsetof(PyUIntScalarObject, obval);
        if (slot->size == 4) {
            cl_uint narrow;
            memcpy(&narrow, number, 4);
            *word = narrow;
        } else {
            memcpy(word, number, 8);
        }
        return 1;
    }
    if (slot->exact == NULL) {
        return 0;
    }
    if (slot->kind == ARG_INTEGER) { /* 4 or 8 bytes: a small nonnegative number always fits */
        *word = kernel_small_int(arg);
        return *word >= 0;
    }
    double number;
    if (type == &PyFloat_Type) {
        number = PyFloat_AS_DOUBLE(arg);
    } else {
        Py_ssize_t integer = kernel_small_int(arg);
        if (integer < 0) {
            return 0;
        }
        number = (double)integer;
    }
    return kernel_float_word(slot->size, number, word);
}

/* Converts any argument: the common ones as the fast path does, so that there is one conversion of
 * each. with_offset: fills out[0] and out[1]. Returns 0, or -1 with an exception. */
static inline int kernel_convert(Kernel *self, cl_uint i, PyObject *arg, ArgValue *out) {
    const ArgSlot *slot = &self->slots[i];
    out->set = SET_VALUE;
    out->hold = NULL;
    out->owns_hold = 0;
    out->large = NULL;
    if (!kernel_as_word(self, slot, arg, NULL, &out->value.integer)) {
        return kernel_convert_other(self, i, arg, out);
    }
    out->size = slot->size;
    out->hold = slot->kind == ARG_GLOBAL ? arg : NULL;
    return 0;
}

/* kernel_fastpath.c: the fast path; kernel_launch.c: all other launches. *tried*: the status of a
 * failed attempt to enqueue it with these arguments set. */
PyObject *kernel_vectorcall(PyObject *op, PyObject *const *args, size_t nargsf, PyObject *kwnames);
PyObject *kernel_tp_call(PyObject *op, PyObject *args, PyObject *kwargs);
PyObject *kernel_call(Kernel *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                      cl_int tried);

/* kernel_names.c: kernel_call() with arguments among the keywords, as tested by
 * kernel_has_names() */
int kernel_has_names(PyObject *kwnames);
PyObject *kernel_call_by_names(Kernel *self, PyObject *const *args, Py_ssize_t nargs,
                               PyObject *kwnames, cl_int tried);

/* kernel_plan.c */
int kernel_make_plan(Kernel *self);
int kernel_declare(Kernel *self, PyObject *dtypes); /* set_scalar_arg_dtypes */
/* Answers a query about an argument that the driver cannot; NULL without an exception if
 * unknown. */
PyObject *kernel_describe_argument(Kernel *self, cl_uint i, cl_uint param);

typedef struct {
    OCL_HEAD
    size_t size;
} LocalMemory;
PG_VECTORCALL(ocl_local_memory);

#endif
