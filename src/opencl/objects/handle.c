/* handle.c - what all objects with a driver handle share: equality, hash, int_ptr, and the parsing
 * of from_int_ptr()'s argument. */
#include "opencl/opencl.h"

#include <errno.h>
#include <stdatomic.h>
#ifdef __linux__
#include <sys/uio.h>
#include <unistd.h>
#endif

/* Objects of drivers that an ICD loader opens begin with a pointer to the driver's table of
 * functions. These are the tables of all platforms, if their devices begin in the same way. */
#define MAX_TABLES 16
static void *tables[MAX_TABLES];
/* The loader's own data, which follows the pointer in objects of drivers whose table begins with
 * this tag (cl_khr_icd 2.0); the loader calls what it finds there. */
#define LOADER_TAG UINT64_C(0x4F50454E434C3331)
static void *loader_data[MAX_TABLES];
static _Atomic int n_noted, n_tables; /* n_tables: 0 if not known, -1 if objects begin otherwise */

/* Handles that were found to be right: a system call for each would cost too much. */
#define N_CHECKED 64
static _Atomic uintptr_t checked[N_CHECKED];

/* Reads the n pointers at an address without a crash if nothing is mapped there. Returns 0, -1 if
 * they cannot be read, 1 if the system does not tell. */
static int read_pointers(const void *address, void **out, size_t n) {
#ifdef __linux__
    const size_t size = n * sizeof *out;
    struct iovec to = {out, size}, from = {(void *)(uintptr_t)address, size};
    ssize_t done = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    return done == (ssize_t)size ? 0 : done >= 0 || errno == EFAULT ? -1 : 1;
#else
    (void)address;
    (void)out;
    (void)n;
    return 1;
#endif
}

/* A driver may have several tables, which begin alike: with clGetPlatformIDs, clGetPlatformInfo,
 * clGetDeviceIDs and clGetDeviceInfo. */
#define N_ALIKE 4

/* Whether it is one of the first n tables, or another one of the same driver. */
static int is_table(const void *table, int n) {
    void *given[N_ALIKE], *known[N_ALIKE];
    for (int i = 0; i < n; i++) {
        if (tables[i] == table) {
            return 1;
        }
    }
    if (read_pointers(table, given, N_ALIKE) != 0 || given[N_ALIKE - 1] == NULL) {
        return 0;
    }
    for (int i = 0; i < n; i++) {
        if (read_pointers(tables[i], known, N_ALIKE) == 0 &&
            memcmp(given, known, sizeof known) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Whether the two words at a handle's address are those of an object of a noted platform. */
static int is_object(void *const words[2], int n) {
    void *tag = NULL;
    if (!is_table(words[0], n)) {
        return 0;
    }
    if (read_pointers(words[0], &tag, 1) != 0 || (uintptr_t)tag != (uintptr_t)LOADER_TAG) {
        return 1;
    }
    for (int i = 0; i < n; i++) {
        if (loader_data[i] == words[1]) {
            return 1;
        }
    }
    return 0;
}

void ocl_note_platforms(const cl_platform_id *ids, cl_uint count) {
    static _Atomic int begun;
    if (count == 0 || count > MAX_TABLES || atomic_exchange(&begun, 1)) {
        return;
    }
    for (cl_uint i = 0; i < count; i++) {
        void *words[2];
        if (read_pointers((const void *)ids[i], words, 2) != 0) {
            return;
        }
        tables[i] = words[0];
        loader_data[i] = words[1];
    }
    atomic_store(&n_noted, (int)count);
}

void ocl_note_device(cl_device_id id) {
    void *words[2];
    int n = atomic_load(&n_noted), known = atomic_load(&n_tables);
    if (n > 0 && known == 0 && read_pointers((const void *)id, words, 2) == 0) {
        atomic_compare_exchange_strong(&n_tables, &known, is_object(words, n) ? n : -1);
    }
}

/* Whether a number may be a handle, as far as can be told without a crash. */
static int may_be_handle(uint64_t value) {
    if (value == 0 || value > UINTPTR_MAX || value % sizeof(void *) != 0) {
        return 0;
    }
    _Atomic uintptr_t *slot = &checked[(value >> 4 ^ value >> 11) % N_CHECKED];
    if (atomic_load(slot) == value) {
        return 1;
    }
    void *words[2];
    int failed = read_pointers((const void *)(uintptr_t)value, words, 2);
    int n = atomic_load(&n_tables);
    if (failed < 0 || (failed == 0 && n > 0 && !is_object(words, n))) {
        return 0;
    }
    atomic_store(slot, (uintptr_t)value);
    return 1;
}

int ocl_as_handle(State *state, PyObject *obj, const char *call, size_t *out) {
    uint64_t value;
    if (pg_as_u64(obj, call, "int_ptr_value", &value) < 0) {
        return -1;
    }
    if (!may_be_handle(value)) {
        ocl_reject(state, call, CL_INVALID_VALUE,
                   "int_ptr_value = %llu is not a handle of an OpenCL driver; pass the int_ptr of "
                   "an object, or a handle that another library gave",
                   (unsigned long long)value);
        return -1;
    }
    *out = (size_t)value;
    return 0;
}

PyObject *ocl_from_int_ptr(PyObject *type, PyObject *const *a, const char *call, OclWrap wrap) {
    State *state = ocl_state_of((PyTypeObject *)type);
    size_t handle;
    int retain;
    if (state == NULL || (retain = pg_as_bool(a[1], 1)) < 0 || ocl_driver_ready(state) < 0 ||
        ocl_as_handle(state, a[0], call, &handle) < 0) {
        return NULL;
    }
    return wrap(state, (PyTypeObject *)type, (void *)handle, retain);
}

Py_hash_t ocl_handle_hash(PyObject *op) {
    OclHandle *self = (OclHandle *)op;
    return Py_HashPointer(self->handle != NULL ? self->handle : (void *)op);
}

PyObject *ocl_handle_int_ptr(PyObject *op, void *Py_UNUSED(closure)) {
    OclHandle *self = (OclHandle *)op;
    if (self->handle == NULL) {
        return ocl_reject(self->state, pg_type_name(op), CL_INVALID_VALUE,
                          "the object was released and has no handle any more");
    }
    return PyLong_FromVoidPtr(self->handle);
}

/* Whether it is an instance of one of our types that compares by handle. Its own class may
 * override the method. */
int ocl_compares_by(PyObject *op, richcmpfunc compare) {
    PyTypeObject *type = Py_TYPE(op);
    while (type != NULL && type->tp_richcompare != compare) {
        type = type->tp_base;
    }
    return type != NULL;
}

PyObject *ocl_handle_compare(PyObject *op, PyObject *other, int how) {
    /* Objects of two kinds may be compared: their handles are addresses of different live objects,
     * so they are never equal. */
    if ((how != Py_EQ && how != Py_NE) || !ocl_compares_by(other, ocl_handle_compare)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    OclHandle *a = (OclHandle *)op, *b = (OclHandle *)other;
    int equal = op == other || (a->handle != NULL && a->handle == b->handle);
    return PyBool_FromLong(equal == (how == Py_EQ));
}
