/* pg.h - what every C file of pygpu shares: Python, argument parsing, conversions, libraries,
 * driver-call traps.
 *
 * This is the only file that includes Python.h and NumPy's
 * headers. */
#ifndef PG_H
#define PG_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#ifndef NPY_NO_DEPRECATED_API
#define NPY_NO_DEPRECATED_API NPY_1_25_API_VERSION
#endif
#define PY_ARRAY_UNIQUE_SYMBOL pg_numpy_api
#ifndef PG_IMPORT_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <numpy/npy_math.h>

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) || defined(__clang__)
#define PG_UNLIKELY(x)           __builtin_expect(!!(x), 0)
#define PG_PRINTF(format, first) __attribute__((format(printf, format, first)))
#else
#define PG_UNLIKELY(x) (x)
#define PG_PRINTF(format, first)
#endif

/* The body of a function that ends in (..., const char *format, ...): makes *text*, a new str of
 * what it was given, evaluates *use* with it unless there is no memory, and returns *result*. */
#define PG_FORMATTED(text, use, result)                        \
    va_list arguments;                                         \
    va_start(arguments, format);                               \
    PyObject *text = PyUnicode_FromFormatV(format, arguments); \
    va_end(arguments);                                         \
    if (text != NULL) {                                        \
        use;                                                   \
        Py_DECREF(text);                                       \
    }                                                          \
    return result

/* ---- signatures: the docstring is the parser's table ----------------------------------------- */

/* Defines VAR as a docstring: the text signature that inspect reads, the typed signature that the
 * stubs read, the text. */
#define PG_DOC(VAR, name, signature, typed, text) \
    static const char VAR[] = name "(" signature ")\n--\n\n" typed "\n\n" text

#define PG_MAX_ARGS 20

typedef struct {
    const char *doc;
    char function[48];               /* for messages */
    int n, n_required, n_positional; /* n_positional: arguments after it are keyword-only */
    int ready;
    PyObject *names[PG_MAX_ARGS]; /* interned, kept for the life of the process */
} ArgSpec;

#define PG_ARGSPEC(DOC) \
    { .doc = DOC }

/* Fills out[0..n) with borrowed references, NULL where an optional argument was left out. -1 with
 * TypeError. */
int pg_args(ArgSpec *spec, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
            PyObject **out);
/* The same for tp_new: a tuple and a dict. */
int pg_args_tuple(ArgSpec *spec, PyObject *args, PyObject *kwargs, PyObject **out);

#define FAST(function) (PyCFunction)(void (*)(void)) function, METH_FASTCALL | METH_KEYWORDS

/* Defines the function *name* for FAST(), by its docstring name__doc__, which names n arguments:
 * it parses them and calls name_impl(self, a), whose body follows. */
#define PG_FUNCTION(name, n)        PG_PARSED(name, n, static)
#define PG_SHARED_FUNCTION(name, n) PG_PARSED(name, n, ) /* declared in a header */
#define PG_PARSED(name, n, linkage)                                                       \
    static PyObject *name##_impl(PyObject *self, PyObject *const *a);                     \
    linkage PyObject *name(PyObject *self, PyObject *const *args, Py_ssize_t nargs,       \
                           PyObject *kwnames) {                                           \
        static ArgSpec spec = PG_ARGSPEC(name##__doc__);                                  \
        PyObject *a[n];                                                                   \
        return pg_args(&spec, args, nargs, kwnames, a) < 0 ? NULL : name##_impl(self, a); \
    }

#define PG_NEW(type) ((type)->tp_alloc((type), 0))

#define PG_VECTORCALL(prefix)                                                            \
    PyObject *prefix##_vectorcall(PyObject * type, PyObject *const *args, size_t nargsf, \
                                  PyObject *kwnames)
/* Name_construct for tp_new and prefix_vectorcall for tp_vectorcall (which has no slot: the module
 * sets it, and subclasses do not inherit it) by Name_make(type, arguments). */
#define PG_NEW_BY(Name, prefix, n_args)                                                        \
    static PyObject *Name##_construct(PyTypeObject *type, PyObject *args, PyObject *kwargs) {  \
        PyObject *a[n_args];                                                                   \
        return pg_args_tuple(&Name##_args, args, kwargs, a) < 0 ? NULL : Name##_make(type, a); \
    }                                                                                          \
    PG_VECTORCALL(prefix) {                                                                    \
        PyObject *a[n_args];                                                                   \
        return pg_args(&Name##_args, args, (Py_ssize_t)nargsf, kwnames, a) < 0                 \
                   ? NULL                                                                      \
                   : Name##_make((PyTypeObject *)type, a);                                     \
    }

/* The arguments of a vectorcall as tuple and dict, for a tp_call. */
PyObject *pg_call_by_tuple(ternaryfunc call, PyObject *callable, PyObject *const *args,
                           size_t nargsf, PyObject *kwnames);

/* ---- conversions: each names the call and the argument in its error -------------------------- */

int pg_as_size(PyObject *obj, const char *call, const char *name, size_t *out); /* 0 <= x < 2**63 */
int pg_as_u64(PyObject *obj, const char *call, const char *name,
              uint64_t *out); /* 0 <= x < 2**64 */
int pg_as_i64(PyObject *obj, const char *call, const char *name, int64_t *out);
int pg_as_u32(PyObject *obj, const char *call, const char *name, uint32_t *out);
int pg_as_bool(PyObject *obj, int otherwise); /* NULL gives otherwise; -1 on error */
/* Reads at most max non-negative integers from an int or an iterable; returns how many, -1 on
 * error. */
int pg_as_sizes(PyObject *obj, const char *call, const char *name, size_t *out, int max);
/* The items of any iterable but str and bytes, at most max of them, so that one without an end is
 * an error too. */
PyObject *pg_tuple(PyObject *obj, const char *call, const char *name, const char *of,
                   Py_ssize_t max);
PyObject *pg_tuple_of(const Py_ssize_t *values, int n);
/* Overflow-safe a * b and a + b; return -1 without an exception if the result does not fit. */
int pg_mul(size_t a, size_t b, size_t *out);
int pg_add(size_t a, size_t b, size_t *out);
/* A contiguous (C or Fortran) host buffer; refuses object dtypes and, if write, read-only
 * memory. */
int pg_get_buffer(PyObject *obj, const char *call, const char *name, int write, Py_buffer *view);
int pg_get_view(PyObject *obj, const char *call, const char *name, int write,
                Py_buffer *view); /* the same with its shape */
/* -1 with a TypeError if the items of a view, whose format was asked for, are Python objects. */
int pg_check_items(const Py_buffer *view, const char *call, const char *name);
const char *pg_type_name(PyObject *obj);

/* ---- arrays over memory that can be taken back ----------------------------------------------- */

/* The array of a weak reference (NULL: there is none), a new reference; NULL, without an exception,
 * if it is gone. */
PyArrayObject *pg_revocable_array(PyObject *weak);
/* Makes that array empty. One without axes keeps an item: *scalar*, memory of its size. */
void pg_revoke_array(PyObject *weak, void *scalar);

/* ---- shared libraries ------------------------------------------------------------------------ */

void *pg_library_open(const char *path, int global, char *error, size_t error_size);
void pg_library_close(void *library);
void *pg_library_symbol(void *library, const char *name);

/* ---- traps: a driver call looks at pg_trap first --------------------------------------------- */

/* Not zero while faults are armed, calls are counted, or in a forked child: one branch on a hot
 * path serves all. */
extern int pg_trap;
#define PG_TRAP_FAULT  1
#define PG_TRAP_COUNT  2
#define PG_TRAP_FORKED 4
#define PG_TRAP_HELD   8 /* of the calls, those made with the GIL held are counted */
#define PG_TRAP_DEFERRED \
    16 /* launches were deferred: they come before the call that finds this (deferral.h) */

#define PG_STATUS_MISSING (-90001) /* the library does not have this function */
#define PG_STATUS_FORKED  (-90002) /* called in a child of fork() */

typedef struct {
    const char *name; /* row of the function list; NULL: none armed */
    long code;
    long skip, times; /* let skip calls through, then fail times calls */
    long hits;
} PgFault;

extern PgFault pg_fault;
/* Decides for one call: 1 if *status was set instead of calling the driver. counts may be NULL. */
int pg_trapped(const char *name, long *count, int *status);
void pg_trap_watch_fork(void);
extern int (*pg_flush)(void); /* launches deferred work; NULL: nothing ever is */
/* Where a command begins, with the GIL held. 0, or the status of what could not be launched. */
static inline int pg_launch_deferred(void) {
    return PG_UNLIKELY(pg_trap & PG_TRAP_DEFERRED) && pg_flush != NULL ? pg_flush() : 0;
}

/* Collects garbage, also where the program has switched that off. */
void pg_collect(void);

/* ---- what a kernel's pointer points to (pointer_items.c) ------------------------------------- */

typedef struct {
    const void *right;  /* the dtype that fitted last, one of those that live for ever; or NULL */
    char kind;          /* 'i' signed, 'u' unsigned, 'f' floating point; 0: not surely known */
    unsigned char size; /* of a number, also of one in a vector or complex number [bytes] */
    char warned;        /* a warning was given, and there is to be one only */
    char wrong;         /* CUDA: the last memory was refused for its dtype */
} PgItems;

int pg_items_fit(const PgItems *items, char kind, size_t size);
int pg_items_take(PgItems *items, PyArray_Descr *dtype);
/* Of a typestr of the array interfaces, "<f4"; what is not one fits. */
int pg_items_take_typestr(const PgItems *items, PyObject *typestr);
/* Of an object with a buffer; plain bytes fit everything. -1 with an exception, else 0, and *given
 * is NULL or, if it does not fit, what its items are. */
int pg_items_take_buffer(const PgItems *items, PyObject *obj, PyObject **given);
/* given: a dtype or str. raw: how the memory is passed without its dtype, ".data or ", or "". */
PyObject *pg_items_message(const PgItems *items, PyObject *arg, PyObject *given, const char *raw);
/* 1: a warning was given, for a program of the package *peer* that pygpu runs; 0: none is due; -1
 * with an exception. */
int pg_items_warn(const char *peer, PyObject *message);
static inline int pg_items_unchecked(const PgItems *items) {
    return items->kind == 0 || items->warned;
}
/* What a launch asks: 1 if memory of this dtype needs no further look. */
static inline int pg_items_right(const PgItems *items, const PyArray_Descr *dtype) {
    return items->right == dtype || pg_items_unchecked(items);
}

/* ---- errors (error.c) ------------------------------------------------------------------------ */

/* A row of a driver's list of status codes. */
typedef struct {
    int code;
    const char *name;
    const char *kind; /* the class of pygpu.errors */
    const char *hint; /* what the caller can do, or "" */
} PgStatus;

/* The row of a code, or NULL. */
const PgStatus *pg_find_status(const PgStatus *rows, size_t n, int code);

typedef struct {
    const char *kind; /* the class: "LogicError" */
    const char *twin; /* "ValueError" or "TypeError" to make it one that is that builtin too, "" */
    const char *routine; /* that failed, or whose checks failed */
    int code;
    const char *name; /* of the code */
    const char *hint; /* "" for none */
} PgError;
/* make_error: the function of pygpu.errors that a module's state has; extra: str, or NULL. NULL, so
 * that callers can return it. */
PyObject *pg_raise(PyObject *make_error, const PgError *error, PyObject *extra);

/* A number in hexadecimal, for the formats of exceptions, in which %llx stands for nothing before
 * Python 3.12. */
typedef struct {
    char text[19];
} PgHex;

static inline PgHex pg_hex(uint64_t number) {
    PgHex hex;
    PyOS_snprintf(hex.text, sizeof hex.text, "0x%llx", (unsigned long long)number);
    return hex;
}

PyObject *pg_refuse_pickle(PyObject *op, PyObject *protocol);
#define PG_NO_PICKLE                                                                    \
    {                                                                                   \
        "__reduce_ex__", pg_refuse_pickle, METH_O,                                      \
            "__reduce_ex__($self, protocol, /)\n--\n\n(protocol: SupportsIndex, /) -> " \
            "NoReturn\n\nRaises TypeError: a handle means nothing elsewhere."           \
    }

/* ---- threads (thread.c) ---------------------------------------------------------------------- */

int pg_is_main_thread(void);
/* Runs the function in a thread of its own, with the GIL and with signals blocked. Also works in
 * atexit callbacks, where CPython 3.12 and later refuse _thread.start_new_thread(). -1 with an
 * exception. */
int pg_start_thread(void (*run)(void));
double pg_seconds(void); /* monotonic */
void pg_sleep_us(long us);
void pg_yield_cpu(void);
/* The interpreter is being taken apart: atexit's functions have run, objects are dropped in any
 * order. */
static inline int pg_is_ending(void) {
#if PY_VERSION_HEX >= 0x030D0000
    return Py_IsFinalizing();
#else
    return _Py_IsFinalizing();
#endif
}

#endif
