/* pg.h - what every C file of pygpu uses: Python, argument parsing, conversions, libraries, traps
 * on driver calls.
 *
 * Only this file includes Python.h and NumPy's headers. */
#ifndef PG_H
#define PG_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#if PY_VERSION_HEX < 0x030D0000 /* public since then */
#define Py_HashPointer  _Py_HashPointer
#define Py_IsFinalizing _Py_IsFinalizing
#endif

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

/* The body of a function that ends in (..., const char *format, ...): formats the message into
 * *text*, a new str, evaluates *use* with it unless memory ran out, and returns *result*. */
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

/* ---- signatures: docstrings drive the parser ------------------------------------------------- */

/* Defines VAR as a docstring: the text signature for inspect, the typed signature for the stubs,
 * and the text. */
#define PG_DOC(VAR, name, signature, typed, text) \
    static const char VAR[] = name "(" signature ")\n--\n\n" typed "\n\n" text

#define PG_MAX_ARGS 20

typedef struct {
    const char *doc;
    char function[48];               /* for error messages */
    int n, n_required, n_positional; /* arguments after the first n_positional are keyword-only */
    int ready;
    PyObject *names[PG_MAX_ARGS]; /* interned, and kept until the process ends */
} ArgSpec;

#define PG_ARGSPEC(DOC) \
    { .doc = DOC }

/* Fills out[0..n) with borrowed references, NULL for omitted optional arguments. Returns -1 with a
 * TypeError. */
int pg_args(ArgSpec *spec, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
            PyObject **out);
/* The same for tp_new, which gets a tuple and a dict. */
int pg_args_tuple(ArgSpec *spec, PyObject *args, PyObject *kwargs, PyObject **out);

#define FAST(function) (PyCFunction)(void (*)(void)) function, METH_FASTCALL | METH_KEYWORDS

/* Defines the function *name* for FAST(). It parses n arguments by the docstring name__doc__ and
 * calls name_impl(self, a), whose body follows the macro. */
#define PG_FUNCTION(name, n)        PG_PARSED(name, n, static)
#define PG_SHARED_FUNCTION(name, n) PG_PARSED(name, n, ) /* also declared in a header */
#define PG_PARSED(name, n, linkage)                                                       \
    static PyObject *name##_impl(PyObject *self, PyObject *const *a);                     \
    linkage PyObject *name(PyObject *self, PyObject *const *args, Py_ssize_t nargs,       \
                           PyObject *kwnames) {                                           \
        static ArgSpec spec = PG_ARGSPEC(name##__doc__);                                  \
        PyObject *a[n];                                                                   \
        return pg_args(&spec, args, nargs, kwnames, a) < 0 ? NULL : name##_impl(self, a); \
    }

#define PG_NEW(type) ((type)->tp_alloc((type), 0))

/* Defines Name_members for a type with weak references, and for one with a dict too. */
#define PG_WEAKREF_MEMBERS(Name, Struct)                                                \
    static PyMemberDef Name##_members[] = {                                             \
        {"__weaklistoffset__", T_PYSSIZET, offsetof(Struct, weakrefs), READONLY, NULL}, \
        {NULL, 0, 0, 0, NULL},                                                          \
    }
#define PG_DICT_MEMBERS(Name, Struct)                                                   \
    static PyMemberDef Name##_members[] = {                                             \
        {"__weaklistoffset__", T_PYSSIZET, offsetof(Struct, weakrefs), READONLY, NULL}, \
        {"__dictoffset__", T_PYSSIZET, offsetof(Struct, dict), READONLY, NULL},         \
        {NULL, 0, 0, 0, NULL},                                                          \
    }

/* Getters of one field, of a type that has its offset as closure: an object (NULL: None), a pointer
 * or handle as int, a size_t, and an int as bool. PG_FIELD() is the row of a read-only one. */
PyObject *pg_get_object(PyObject *op, void *offset);
PyObject *pg_get_pointer(PyObject *op, void *offset);
PyObject *pg_get_size(PyObject *op, void *offset);
PyObject *pg_get_truth(PyObject *op, void *offset);
#define PG_FIELD(name, kind, Struct, field, doc) \
    { name, pg_get_##kind, NULL, doc, (void *)offsetof(Struct, field) }

/* Slots for what bears the name of a type: its constructor, its support of garbage collection, and
 * its tables. */
#define PG_NEW_SLOTS(Name)                                                 \
    {Py_tp_doc, (void *)Name##__doc__}, {Py_tp_new, (void *)Name##_new}, { \
        Py_tp_init, (void *)Name##_init                                    \
    }
#define PG_GC_SLOTS(Name)                                                             \
    {Py_tp_traverse, (void *)Name##_traverse}, {Py_tp_clear, (void *)Name##_clear}, { \
        Py_tp_dealloc, (void *)Name##_dealloc                                         \
    }
#define PG_TABLE_SLOTS(Name)                                          \
    {Py_tp_methods, Name##_methods}, {Py_tp_getset, Name##_getset}, { \
        Py_tp_members, Name##_members                                 \
    }
/* Defines prefix_Name_spec: the type *path*, a Struct with Name_slots. */
#define PG_TYPE(prefix, path, Name, Struct, type_flags) \
    PyType_Spec prefix##_##Name##_spec = {              \
        .name = path, .basicsize = sizeof(Struct), .slots = Name##_slots, .flags = (type_flags)}

/* The beginning of tp_dealloc of a type with weak references, and the end of that of any heap
 * type. */
static inline void pg_untrack(PyObject *op, PyObject *weakrefs) {
    PyObject_GC_UnTrack(op);
    if (PG_UNLIKELY(weakrefs != NULL)) {
        PyObject_ClearWeakRefs(op);
    }
}

static inline void pg_object_free(PyObject *op) {
    PyTypeObject *type = Py_TYPE(op);
    type->tp_free(op);
    Py_DECREF(type);
}

#define PG_VECTORCALL(prefix)                                                            \
    PyObject *prefix##_vectorcall(PyObject * type, PyObject *const *args, size_t nargsf, \
                                  PyObject *kwnames)
/* Defines Name_construct for tp_new and prefix_vectorcall for tp_vectorcall, both through
 * Name_make(type, arguments). tp_vectorcall has no slot, so the module sets it; subclasses do not
 * inherit it. */
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

/* Passes the arguments of a vectorcall as tuple and dict to a tp_call. */
PyObject *pg_call_by_tuple(ternaryfunc call, PyObject *callable, PyObject *const *args,
                           size_t nargsf, PyObject *kwnames);

/* ---- conversions: errors name the call and the argument -------------------------------------- */

int pg_as_size(PyObject *obj, const char *call, const char *name, size_t *out); /* 0 <= x < 2**63 */
int pg_as_u64(PyObject *obj, const char *call, const char *name,
              uint64_t *out); /* 0 <= x < 2**64 */
int pg_as_i64(PyObject *obj, const char *call, const char *name, int64_t *out);
int pg_as_u32(PyObject *obj, const char *call, const char *name, uint32_t *out);
int pg_as_bool(PyObject *obj, int otherwise); /* NULL yields otherwise; returns -1 on error */
/* Reads at most max non-negative integers from an int or an iterable. Returns how many, or -1 on
 * error. */
int pg_as_sizes(PyObject *obj, const char *call, const char *name, size_t *out, int max);
/* Returns the items of any iterable except str and bytes as a tuple. More than max items are an
 * error, so that an endless iterable is one too. */
PyObject *pg_tuple(PyObject *obj, const char *call, const char *name, const char *of,
                   Py_ssize_t max);
PyObject *pg_tuple_of(const Py_ssize_t *values, int n);
/* Appends an item to a list. Takes over the reference to the item (NULL: making it failed); on
 * failure the list is dropped and set to NULL. */
void pg_append(PyObject **list, PyObject *item);
/* Joins the strings of a list, the reference to which it takes over (NULL: making it failed). */
PyObject *pg_join(const char *separator, PyObject *list);
/* a * b and a + b. Return -1 without an exception on overflow. */
int pg_mul(size_t a, size_t b, size_t *out);
int pg_add(size_t a, size_t b, size_t *out);
/* Gets a contiguous (C or Fortran) host buffer. Refuses object dtypes and, if write is set,
 * read-only memory. */
int pg_get_buffer(PyObject *obj, const char *call, const char *name, int write, Py_buffer *view);
int pg_get_view(PyObject *obj, const char *call, const char *name, int write,
                Py_buffer *view); /* the same, including the shape */
/* Returns -1 with a TypeError if the items of a view are Python objects. The view must include its
 * format. */
int pg_check_items(const Py_buffer *view, const char *call, const char *name);
const char *pg_type_name(PyObject *obj);
/* "<TYPE NAME=VALUE, ...>" for a NULL-terminated list of attributes; without those that raise. */
PyObject *pg_attributes_repr(PyObject *op, const char *const *names);

/* ---- arrays over memory that can be revoked -------------------------------------------------- */

/* Returns a new reference to the array that a weak reference (or NULL) refers to; NULL, without an
 * exception, if it is gone. */
PyArrayObject *pg_revocable_array(PyObject *weak);
/* Empties that array. A 0-d array must keep one item: it then points to *scalar*, memory of its
 * size. */
void pg_revoke_array(PyObject *weak, void *scalar);

/* ---- shared libraries ------------------------------------------------------------------------ */

void *pg_library_open(const char *path, int global, char *error, size_t error_size);
void pg_library_close(void *library);
void *pg_library_symbol(void *library, const char *name);

/* ---- traps: driver calls check pg_trap first ------------------------------------------------- */

/* Nonzero while faults are armed, calls are counted, launches are deferred, or in a forked child:
 * one branch on the hot path serves all of these. */
extern int pg_trap;
#define PG_TRAP_FAULT  1
#define PG_TRAP_COUNT  2
#define PG_TRAP_FORKED 4
#define PG_TRAP_HELD   8 /* count only calls made with the GIL held */
#define PG_TRAP_DEFERRED \
    16 /* launches were deferred; the next call must run them first (deferral.h) */

#define PG_STATUS_MISSING (-90001) /* the library lacks this function */
#define PG_STATUS_FORKED  (-90002) /* called in a forked child */

typedef struct {
    const char *name; /* the function's row; NULL: nothing armed */
    long code;
    long skip, times; /* let skip calls pass, then fail times calls */
    long hits;
} PgFault;

extern PgFault pg_fault;
/* Handles one call: returns 1 if it must not reach the driver, with *status set instead. counts
 * may be NULL. */
int pg_trapped(const char *name, long *count, int *status);
void pg_trap_watch_fork(void);
extern int (*pg_flush)(void); /* launches deferred work; NULL if nothing is ever deferred */
/* Call where a command begins, with the GIL held. Returns 0, or the status of a deferred launch
 * that failed. */
static inline int pg_launch_deferred(void) {
    return PG_UNLIKELY(pg_trap & PG_TRAP_DEFERRED) && pg_flush != NULL ? pg_flush() : 0;
}

/* Collects garbage even if the program has disabled the collector. */
void pg_collect(void);

/* ---- item types of pointer parameters (pointer_items.c) -------------------------------------- */

typedef struct {
    const void *right;  /* the immortal dtype that fitted last, or NULL */
    char kind;          /* 'i' signed, 'u' unsigned, 'f' floating point; 0 if not known for
                         * certain */
    unsigned char size; /* bytes of one number, also within a vector or complex number */
    char warned;        /* the one warning was already given */
    char wrong;         /* CUDA: the last memory was refused because of its dtype */
} PgItems;

int pg_items_take(PgItems *items, PyArray_Descr *dtype);
/* The same for a typestr of the array interfaces, such as "<f4". Anything that is not a typestr
 * fits. */
int pg_items_take_typestr(const PgItems *items, PyObject *typestr);
/* The same for an object with a buffer; plain bytes always fit. Returns 0 or -1 with an exception.
 * *given is NULL, or describes the items if they do not fit. */
int pg_items_take_buffer(const PgItems *items, PyObject *obj, PyObject **given);
/* The error message. given: a dtype or str. raw: how to pass the memory without its dtype, such as
 * ".data or ", or "". */
PyObject *pg_items_message(const PgItems *items, PyObject *arg, PyObject *given, const char *raw);
/* Warns if a program written for the package *peer* is running. Returns 1 if it warned, 0 if no
 * warning is due, -1 with an exception. */
int pg_items_warn(const char *peer, PyObject *message);
static inline int pg_items_unchecked(const PgItems *items) {
    return items->kind == 0 || items->warned;
}
/* The hot path of a launch: 1 if memory of this dtype needs no further check. */
static inline int pg_items_right(const PgItems *items, const PyArray_Descr *dtype) {
    return items->right == dtype || pg_items_unchecked(items);
}

/* ---- errors (error.c) ------------------------------------------------------------------------ */

/* One of a driver's status codes. */
typedef struct {
    int code;
    const char *name;
    const char *kind; /* the class in pygpu.errors */
    const char *hint; /* what the caller can do about it, or "" */
} PgStatus;

/* Returns the row of a code, or NULL. */
const PgStatus *pg_find_status(const PgStatus *rows, size_t n, int code);

typedef struct {
    const char *kind;    /* the class, such as "LogicError" */
    const char *twin;    /* "ValueError" or "TypeError" if the error is to be that builtin too, or
                          * "" */
    const char *routine; /* the call that failed, or whose checks failed */
    int code;
    const char *name; /* the name of the code */
    const char *hint; /* "" if none */
} PgError;
/* make_error: the function of pygpu.errors in the module's state. extra: str or NULL. Returns NULL
 * so that callers can return the result. */
PyObject *pg_raise(PyObject *make_error, const PgError *error, PyObject *extra);

/* A number formatted in hexadecimal: PyErr_Format does not support %llx before Python 3.12. */
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
/* Runs the function in its own thread, with the GIL held and signals blocked. Also works in atexit
 * callbacks, where CPython 3.12 and later refuse _thread.start_new_thread(). Returns -1 with an
 * exception. */
int pg_start_thread(void (*run)(void));
double pg_seconds(void); /* monotonic */
void pg_sleep_us(long us);
void pg_yield_cpu(void);
/* Whether the interpreter is shutting down: atexit callbacks have run, and objects are destroyed
 * in any order. */
static inline int pg_is_ending(void) {
    return Py_IsFinalizing();
}

#endif
