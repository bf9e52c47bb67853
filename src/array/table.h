/* table.h - the kernels of a backend that operators launch without asking Python. */
#ifndef PYGPU_ARRAY_TABLE_H
#define PYGPU_ARRAY_TABLE_H

#include "arraymod.h"

/* What an operand is, for the key of a kernel: an array of a NumPy type number, or a Python number. */
enum { KIND_INT = 32, KIND_FLOAT = 33, KIND_NONE = 63 };

typedef struct Entry {
    uint32_t key;          /* 0: none */
    PyObject *kernel;
    PyArray_Descr *dtype;  /* of the result */
    int numbers;           /* operands that are numbers */
    /* How many groups: as many as it takes at per_group items each, at most max_groups. */
    Py_ssize_t per_group, max_groups, group_size;
    /* For the number of items that was asked for last. */
    Py_ssize_t n;
    PyObject *n_object, *sizes; /* OpenCL: the global size; CUDA: the grid */
} Entry;

struct Table {
    PyObject_HEAD
    int cuda;
    PyObject *allocate;  /* the pool's */
    PyObject *ordered;   /* the queue, known to run in order, that operators were used with last */
    PyObject *local;     /* OpenCL: local size; CUDA: block */
    size_t used, room;   /* room: a power of two */
    Entry *entries;
};

#define TABLE_KEY(op, a, b) ((uint32_t)(op) << 12 | (uint32_t)(a) << 6 | (uint32_t)(b) | 0x80000000u)

static inline Entry *table_find(const Table *self, uint32_t key) {
    if (self->room == 0) {
        return NULL;
    }
    for (size_t at = key * 2654435761u;; at++) {
        Entry *entry = &self->entries[at & (self->room - 1)];
        if (entry->key == key) {
            return entry;
        }
        if (entry->key == 0) {
            return NULL;
        }
    }
}

/* Launches the kernel for n items; args: an array's memory and offset are put by put_array(). The result: the event, or None; NULL on failure. */
typedef struct {
    PyObject *values[12];
    int n, owned[12];
} Args;

PyObject *table_launch(Table *self, Entry *entry, PyObject *queue, Args *args, Py_ssize_t n);
PyObject *table_allocate(const Table *self, PyObject *allocator, Py_ssize_t nbytes);

#endif
