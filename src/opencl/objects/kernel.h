/* kernel.h - a kernel and the plan by which its arguments are converted; shared by the kernel_*.c
 * files. */
#ifndef PYGPU_KERNEL_H
#define PYGPU_KERNEL_H

#include "opencl/context.h"
#include "opencl/lifetime/usage.h"
#include "opencl/memory.h"
#include "opencl/opencl.h"

typedef enum {
    ARG_UNKNOWN, /* nothing is known: objects by what they are, others by their bytes */
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
    ARG_BYTES    /* a struct: size bytes, 0 if not known */
} ArgKind;

typedef enum { SET_NOTHING, SET_VALUE, SET_SVM, SET_LOCAL, SET_NULL } ArgSet;

#define CACHED_BYTES 16

typedef struct {
    /* What each call looks at comes first, in one line of the processor's cache. */
    ArgKind kind;
    ArgSet set;          /* what the driver has now ... */
    PyTypeObject *exact; /* what comes almost always: the type whose value is taken without a
                            question, or NULL */
    PyObject *held;      /* what the driver's argument refers to; strong */
    union {              /* ... if set_size <= CACHED_BYTES */
        unsigned char bytes[CACHED_BYTES];
        cl_long word; /* all of it if set_size <= 8 */
    } now;
    size_t set_size, size;
    int by_call; /* held was given by a call, which sets it anew; set_arg() did not ask to keep
                  * it */
    int is_signed;
    int scalar_size; /* ARG_VECTOR of floats: 4 or 8, so that a complex number fits; else 0 */
    int of_floats, item_size; /* ARG_VECTOR: what it is made of [bytes] */
    int of_three;             /* ARG_VECTOR: float3 and the like, which three numbers fit too */
    int with_offset; /* declared as a VectorArg with offset: the next argument is its offset */
    int is_offset;   /* the offset of the VectorArg before */
    PgItems items;   /* ARG_GLOBAL: what it points to */
    PyObject *declaration; /* str "float *a" for messages */
} ArgSlot;

typedef struct Kernel {
    OCL_HEAD
    cl_kernel kernel;
    vectorcallfunc vectorcall;
    Program *program;
    Context *context;
    PyObject *name;
    cl_uint n_args;
    cl_uint n_given; /* arguments that a caller gives: n_args less the offsets of VectorArgs */
    ArgSlot *slots;
    int converting; /* calls whose arguments are being converted, which may run a program's code:
                       what they are must stay */
    int locked;     /* from setting arguments until enqueued; changed with the GIL held */
    PyThread_type_lock
        lock; /* held besides while the GIL is released in between, for those who find it locked */
    int shared_handle;  /* somebody else may set arguments: what the driver has is never assumed */
    int svm_seen;       /* an argument of the handle that is launched has been SVM */
    cl_kernel renewed;  /* what is set and launched instead of kernel, see kernel_renew(); NULL:
                           kernel itself */
    char holds_nothing; /* _holds_nothing: launched by calls alone, which keep their arguments
                           alive; memory is never held */
    struct Kernel *next, **link; /* all kernels, for ocl_kernels_let_go() */
    PyObject *dict;
} Kernel;

/* A converted argument, ready for the driver. A value of up to 8 bytes lies in value.integer, whose
 * other bytes depend on the value alone, so that integers can be compared. */
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
    void *large; /* PyMem copy of a struct of more than 128 bytes */
} ArgValue;

int ocl_kernel_add_signature(State *state); /* -1 with an exception */
/* Of a subclass whose __init__ has not made it: 0, or -1 with an exception. */
int kernel_is_uninitialized(const Kernel *self, const char *call);
static inline int kernel_is_made(const Kernel *self, const char *call) {
    return PG_UNLIKELY(self->kernel == NULL) ? kernel_is_uninitialized(self, call) : 0;
}

/* kernel_args.c */
int kernel_convert(Kernel *self, cl_uint index, PyObject *arg,
                   ArgValue *out); /* with_offset: fills out[0] and out[1] */
PyObject *kernel_raise_set(Kernel *self, cl_uint index, const char *routine, cl_int status);
int kernel_held_alive(Kernel *self, cl_uint index,
                      PyObject *held); /* -1 with an exception if it was released */
static inline int kernel_is_memory(const Kernel *self, PyObject *held) {
    return Py_TYPE(held) == self->state->BufferType ||
           PyObject_TypeCheck(held, self->state->MemoryObjectHolderType);
}

int kernel_refuse(Kernel *self, cl_uint i, const char *format, ...); /* TypeError; returns -1 */

/* kernel_checked.c */
/* Of a kernel whose launches are checked (PYGPU_CHECK=1), with the arguments of
 * enqueue_nd_range_kernel(): the event, None if the launch is a plain one, NULL with an
 * exception. */
PyObject *kernel_launch_checked(Kernel *self, PyObject *const a[8]);

/* kernel_memory.c */
int kernel_use_memory(Kernel *self, cl_uint i, Memory *memory, ArgValue *out);
/* An array of pygpu or PyOpenCL's kind: its memory, if it starts at the array's first item. */
int kernel_use_array(Kernel *self, cl_uint i, PyObject *arg, ArgValue *out);
int kernel_convert_global(Kernel *self, cl_uint i, PyObject *arg, ArgValue *out);
const char *kernel_memory_kind(const Memory *memory); /* "a buffer" */
int kernel_compare_dtype(Kernel *self, cl_uint i, PyObject *arg, PyArray_Descr *dtype,
                         const char *raw);
/* -1 with an exception if memory has a dtype that is not the kernel's; raw: see
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
 * index. old receives references to drop after unlocking (n entries). by_call: what is held need
 * not be kept for a launch with the arguments as they are. */
cl_int kernel_set(Kernel *self, ArgValue *values, cl_uint first, cl_uint n, int by_call,
                  cl_uint *failed, PyObject **old, const char **routine);
Program *kernel_find_program(cl_program handle); /* of a kernel that there is; borrowed, or NULL */
int kernel_set_arguments(Kernel *self, cl_uint first, PyObject *const *args,
                         cl_uint n); /* of the caller's count */
void kernel_list(Kernel *self), kernel_unlist(Kernel *self),
    kernel_relist(Kernel *self); /* among those of ocl_kernels_let_go(); it lies elsewhere now */
/* Another handle to launch, with the arguments of this one; lock held. 1 if there is one now.
 * NVIDIA's driver (580.159) refuses every launch of a handle in which memory of another kind has
 * taken the place of SVM. Values that are not kept are to be set again. */
int kernel_renew(Kernel *self);
static inline cl_kernel kernel_handle(const Kernel *self) {
    return PG_UNLIKELY(self->renewed != NULL) ? self->renewed : self->kernel;
}
void kernel_wait_for_lock(Kernel *self);
/* 1 if it had to wait: the GIL was released. */
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

/* The value of an int of one digit that is no bool, or -1. */
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

/* The argument as the word that the driver is given, if it is what comes almost always: a buffer
 * for a pointer, which needs no preparation for the queue, or a number of the argument's own type
 * or a plain one of Python that fits. 0: kernel_convert() decides. */
static inline int kernel_as_word(const Kernel *self, const ArgSlot *slot, PyObject *arg,
                                 const Queue *queue, cl_long *word) {
    PyTypeObject *type = Py_TYPE(arg);
    if (slot->kind == ARG_GLOBAL) {
        if (type != slot->exact && (type != self->state->PooledBufferType || slot->exact == NULL)) {
            return 0;
        }
        const Memory *memory = (const Memory *)arg;
        const Usage *usage = memory->pool; /* a block of a pool begins with its usage */
        *word = (cl_long)(intptr_t)memory->mem;
        return memory->mem != NULL && memory->context->context == self->context->context &&
               memory->type == CL_MEM_OBJECT_BUFFER &&
               (usage == NULL || usage->now.latest == queue);
    }
    if (type == slot->exact) { /* NumPy's number follows the object's head; 4 or 8 bytes */
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
    if (slot->kind ==
        ARG_INTEGER) { /* of 4 or 8 bytes: what is small and not negative fits all of these */
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
    if (slot->size == 8) {
        memcpy(word, &number, 8);
        return 1;
    }
    float narrow = (float)number;
    cl_uint bits;
    memcpy(&bits, &narrow, 4);
    *word = bits;
    return !Py_IS_INFINITY(narrow); /* too large a number is an error */
}

/* kernel_fastpath.c: a launch; kernel_launch.c: one that takes more than a look at what came.
 * *tried*: the status of an attempt to enqueue it, with these arguments set, that failed. */
PyObject *kernel_vectorcall(PyObject *op, PyObject *const *args, size_t nargsf, PyObject *kwnames);
PyObject *kernel_tp_call(PyObject *op, PyObject *args, PyObject *kwargs);
PyObject *kernel_call(Kernel *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                      cl_int tried);

/* kernel_names.c: kernel_call() for keywords among which there are arguments, which
 * kernel_has_names() tells */
int kernel_has_names(PyObject *kwnames);
PyObject *kernel_call_by_names(Kernel *self, PyObject *const *args, Py_ssize_t nargs,
                               PyObject *kwnames, cl_int tried);

/* kernel_plan.c */
int kernel_make_plan(Kernel *self);
int kernel_declare(Kernel *self, PyObject *dtypes); /* set_scalar_arg_dtypes */
/* Answer to a query about an argument where the driver has none; NULL without an exception if it is
 * not known either. */
PyObject *kernel_describe_argument(Kernel *self, cl_uint i, cl_uint param);

typedef struct {
    OCL_HEAD
    size_t size;
} LocalMemory;
PG_VECTORCALL(ocl_local_memory);

#endif
