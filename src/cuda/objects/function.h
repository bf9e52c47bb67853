/* function.h - a kernel, its launch plan, and a launch; shared by the function_*.c files and
 * others that use kernels.
 *
 * A plan belongs to the module and is made once per kernel; all Function objects of the kernel
 * share it. */
#ifndef PYGPU_FUNCTION_H
#define PYGPU_FUNCTION_H

#include "cuda/objects/module.h"
#include "cuda/stream.h"

typedef enum {
    PARAM_UNKNOWN, /* only the size is known */
    PARAM_POINTER,
    PARAM_INTEGER, /* sign selects the range */
    PARAM_BOOL,
    PARAM_FLOAT,   /* 2, 4 or 8 bytes */
    PARAM_BFLOAT,  /* 2 bytes */
    PARAM_COMPLEX, /* 8 or 16 bytes */
    PARAM_STRUCT   /* size in bytes, also for vectors */
} ParamKind;

enum { SIGN_ANY, SIGN_SIGNED, SIGN_UNSIGNED };

typedef enum {
    COPY_NOTHING,
    COPY_ALLOCATION,
    COPY_1,
    COPY_2,
    COPY_4,
    COPY_8,
    COPY_16,
    COPY_GPUDATA
} ParamCopy;

typedef struct {
    PyTypeObject *exact;   /* the type seen last: its values are converted by `copy` without
                            * further checks; borrowed, lives as long as the state */
    uint32_t offset, size; /* in bytes */
    uint8_t copy, kind, sign;
    uint32_t align;        /* in bytes; used only if the driver does not report the offset */
    PgItems items;         /* PARAM_POINTER: what it points to */
    PyObject *declaration; /* "float *a" for messages, or NULL */
} Param;

typedef struct {
    CUfunction handle;
    int ready;      /* 1 once the fields below are known */
    int warm;       /* 1 after the first launch, which may load the kernel's code */
    int n_params;   /* -1 if neither the driver nor the module reports them */
    int n_declared; /* if n_params is -1: the length of params, from the source; unknown sizes are
                     * 0 */
    size_t size;    /* of all parameters, in bytes */
    Param *params;
    unsigned max_threads, device_threads;
    unsigned max_block[3], max_grid[3];
    unsigned shared_static, shared_default,
        shared_most;         /* of a block, in bytes; default: without opting in */
    unsigned shared_allowed; /* dynamic shared memory that the driver currently allows */
    /* The sizes read last, as a cache: an identical tuple of ints need not be read again. */
    PyObject *block_object, *grid_object;
    unsigned block[3], grid[3];
} Plan;

typedef struct Prepared Prepared;

typedef struct {
    CUD_HEAD
    vectorcallfunc vectorcall;
    Plan *plan;
    Module *module;
    Context *context; /* the module's, which keeps it alive */
    PyObject *name;
    Prepared *prepared;
} Function;
int cud_function_add_signature(State *state); /* returns -1 with an exception */

typedef struct {
    unsigned grid[3], block[3], cluster[3];
    unsigned shared;
    int cooperative, clustered;
    CUstream stream;
    Stream *stream_object;
} Launch;

/* Temporary objects that own the arguments' addresses, kept until the launch is done. */
#define KEEP_MANY 12
typedef struct {
    int n;
    PyObject *items[KEEP_MANY];
    PyObject *more; /* list */
} Keep;

#define PARAMS_ON_STACK 1024 /* bytes */

/* PG_DOC for a method whose method table is in another file. */
#define PG_DOC_SHARED(VAR, name, signature, typed, text) \
    const char VAR[] = name "(" signature ")\n--\n\n" typed "\n\n" text

/* function.c */
PyObject *function_new(Module *module, const char *name);

/* parameter_layout.c */
Plan *plan_new(CUfunction handle);
void plan_free(Plan *plan);
int function_make_plan(Function *self);
static inline int function_ready(Function *self) {
    return self->plan->ready ? 0 : function_make_plan(self);
}

/* pack_arguments.c */
PyObject *function_argument_name(
    Function *self, Py_ssize_t i); /* "kernel 'f', parameter #1 (0-based) 'float *a'" */
int function_refuse(Function *self, Py_ssize_t i, const char *format,
                    ...); /* raises TypeError; returns -1 */
int function_refuse_range(Function *self, Py_ssize_t i, PyObject *arg, const char *to);
int function_compare_dtype(Function *self, Py_ssize_t i, Param *param, PyObject *arg,
                           PyArray_Descr *dtype);
/* Returns -1 with an exception if a pointer's memory has a dtype other than the kernel's. */
static inline int function_check_dtype(Function *self, Py_ssize_t i, Param *param, PyObject *arg,
                                       PyArray_Descr *dtype) {
    if (pg_items_right(&param->items, dtype)) {
        return 0;
    }
    return function_compare_dtype(self, i, param, arg, dtype);
}
int function_refuse_items(Function *self, Py_ssize_t i, Param *param, PyObject *arg,
                          PyObject *given);
const char *function_numpy_type(const Param *param); /* the NumPy type that fits, or "" if
                                                      * unknown */
int function_convert(Function *self, Py_ssize_t i, Param *param, PyObject *arg, unsigned char *at,
                     const Launch *launch, Keep *keep);
/* Size and alignment of an argument's natural type, if nothing is known about the parameters. */
int function_natural(Function *self, Py_ssize_t i, PyObject *arg, size_t *size, size_t *align);

/* function_pointer.c */
int function_use_allocation(Function *self, Py_ssize_t i, Param *param, PyObject *arg,
                            unsigned char *at, const Launch *launch);
int function_store_address(Function *self, Py_ssize_t i, const Param *param, PyObject *arg,
                           PyObject *number, unsigned char *at);
/* Passes the result of an attribute or a method of arg as a pointer; takes over the reference. */
int function_use_pointer(Function *self, Py_ssize_t i, Param *param, PyObject *arg,
                         PyObject *pointer, unsigned char *at, const Launch *launch, Keep *keep);
/* Returns 1 if arg has the attribute gpudata or __cuda_array_interface__ and it was used, 0 if
 * not, -1 with an exception. */
int function_use_gpudata(Function *self, Py_ssize_t i, Param *param, PyObject *arg,
                         unsigned char *at, const Launch *launch, Keep *keep);
int function_use_interface(Function *self, Py_ssize_t i, Param *param, PyObject *arg,
                           unsigned char *at, const Launch *launch, Keep *keep);
/* Returns -1 with an exception if the memory of an argument was freed since its conversion,
 * because converting others may run the program's code. */
int function_check_allocations(Function *self, PyObject *const *args, Py_ssize_t nargs,
                               const Keep *keep);
int keep_add(Keep *keep, PyObject *object); /* takes over the reference */
void keep_clear(Keep *keep);

/* function_sizes.c */
int function_read_block(Function *self, PyObject *block, unsigned *out);
int function_read_grid(Function *self, PyObject *grid, unsigned *out);
/* The same, with a cache for the tuple that was read last. */
static inline int function_block(Function *self, PyObject *block, unsigned *out) {
    const Plan *plan = self->plan;
    if (block != plan->block_object) {
        return function_read_block(self, block, out);
    }
    memcpy(out, plan->block, sizeof plan->block);
    return 0;
}
static inline int function_grid(Function *self, PyObject *grid, unsigned *out) {
    const Plan *plan = self->plan;
    if (grid != plan->grid_object) {
        return function_read_grid(self, grid, out);
    }
    memcpy(out, plan->grid, sizeof plan->grid);
    return 0;
}
int function_read_cluster(Function *self, PyObject *cluster, Launch *launch);
int function_read_shared(Function *self, PyObject *shared, unsigned *out);

/* function_launch.c */
PyObject *function_vectorcall(PyObject *op, PyObject *const *args, size_t nargsf,
                              PyObject *kwnames);
/* Launches with packed parameters; args: what the launch uses, to be kept by a graph that captures
 * it. */
int function_submit(Function *self, const Launch *launch, unsigned char *params, size_t size,
                    PyObject *const *args, Py_ssize_t nargs);
int function_read_stream(Function *self, PyObject *stream, Launch *launch);

/* function_prepare.c, function_timed.c */
/* n_leading: the number of arguments before the kernel's: grid, block and, for the asynchronous
 * call, the stream. */
int function_prepared_launch(Function *self, const char *call, int n_leading, PyObject *const *args,
                             Py_ssize_t nargs, PyObject *kwnames);
PyObject *Function_prepare(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *kwnames);
PyObject *Function_prepared_call(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                                 PyObject *kwnames);
PyObject *Function_prepared_async_call(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                                       PyObject *kwnames);
PyObject *Function_prepared_timed_call(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                                       PyObject *kwnames);
PyObject *Function_launch_kernel(PyObject *op, PyObject *const *args, Py_ssize_t nargs);
PyObject *Function_get_arg_format(PyObject *op, void *closure);
void prepared_free(Prepared *prepared);
extern const char Function_prepare__doc__[], Function_prepared_call__doc__[],
    Function_prepared_async_call__doc__[], Function_prepared_timed_call__doc__[];

/* handlers.c */
typedef struct {
    CUD_HEAD
    PyObject *array;
    PyObject *dev_alloc;
} Handler;
PyObject *handler_device_alloc(Handler *self); /* new reference */
int handler_is_plain(State *state, PyObject *handler);
int handler_pre_call(State *state, PyObject *handler, PyObject *stream);
/* Returns 1 if it has a post_call; -1 with an exception. */
int handler_has_post_call(State *state, PyObject *handler);
int handler_post_call(State *state, PyObject *handler, PyObject *stream);

/* occupancy.c */
PyObject *Function_max_active_blocks(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                                     PyObject *kwnames);
PyObject *Function_suggest_block(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                                 PyObject *kwnames);
PyObject *Function_available_shared(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                                    PyObject *kwnames);
PyObject *Function_max_cluster_size(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                                    PyObject *kwnames);
PyObject *Function_max_active_clusters(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                                       PyObject *kwnames);
extern const char Function_max_active_blocks__doc__[], Function_suggest_block__doc__[],
    Function_available_shared__doc__[], Function_max_cluster_size__doc__[],
    Function_max_active_clusters__doc__[];
#define FUNCTION_OCCUPANCY_METHODS                                                                 \
    {"max_active_blocks", FAST(Function_max_active_blocks), Function_max_active_blocks__doc__},    \
        {"suggest_block", FAST(Function_suggest_block), Function_suggest_block__doc__},            \
        {"available_shared", FAST(Function_available_shared), Function_available_shared__doc__},   \
        {"max_cluster_size", FAST(Function_max_cluster_size), Function_max_cluster_size__doc__}, { \
        "max_active_clusters", FAST(Function_max_active_clusters),                                 \
            Function_max_active_clusters__doc__                                                    \
    }

#endif
