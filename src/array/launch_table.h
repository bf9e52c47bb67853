/* launch_table.h - the kernels of a backend that operators and functions launch without asking
 * Python. */
#ifndef PYGPU_ARRAY_TABLE_H
#define PYGPU_ARRAY_TABLE_H

#include "array/arraymod.h"

#define CALL_MAX 8 /* operands of a call that may have an entry */

/* What an operand is, for the key of a kernel: an array of a NumPy type number, a Python number, or
 * a NumPy one of a type number. */
enum { KIND_INT = 32, KIND_FLOAT = 33, KIND_SCALAR = 34, KIND_NONE = 63 };

typedef struct Entry {
    uint64_t key; /* 0: none */
    PyObject *kernel;
    PyArray_Descr *dtype; /* of the result */
    int op;               /* which operation, for chains (chain.h); 0: none of them */
    /* How many groups: as many as it takes at per_group items each, at most max_groups. */
    Py_ssize_t per_group, max_groups, group_size;
    /* For the number of items that was asked for last. */
    Py_ssize_t n;
    PyObject *n_object, *sizes; /* OpenCL: the global size; CUDA: the grid */
} Entry;

struct Table {
    PyObject_HEAD
    int cuda;
    PyObject *allocate; /* the pool's */
    PyObject *context;  /* OpenCL: of the arrays; NULL: not told */
    PyObject *ordered;  /* the queue, known to run in order, that operators were used with last */
    PyObject *local;    /* OpenCL: local size; CUDA: block */
    PyObject *plans;    /* a Plans: what is remembered by shapes and strides */
    PyObject *chains;   /* dict: what is known of chains of operations (chain.h) */
    uint64_t serial;    /* no other table has it, or ever will */
    size_t used, room;  /* room: a power of two */
    Entry *entries;
};

#define ID_MOST 60000 /* ids of operations that have entries: what is left of a key */

static inline uint64_t table_key(int id, const int *kinds, int n) {
    uint64_t key = (uint64_t)id + 1;
    for (int i = 0; i < CALL_MAX; i++) {
        key = key << 6 | (uint64_t)(i < n ? kinds[i] : KIND_NONE);
    }
    return key;
}

static inline size_t table_place(uint64_t key) {
    return (size_t)((key * 0x9E3779B97F4A7C15u) >> 32);
}

static inline Entry *table_find(const Table *self, uint64_t key) {
    if (self->room == 0) {
        return NULL;
    }
    for (size_t at = table_place(key);; at++) {
        Entry *entry = &self->entries[at & (self->room - 1)];
        if (entry->key == key) {
            return entry;
        }
        if (entry->key == 0) {
            return NULL;
        }
    }
}

/* Whether commands of this queue may be given one after the other, without events. */
static inline int table_in_order(const Table *self, const PyObject *queue) {
    return self->cuda || queue == self->ordered;
}

#define ARGS_MAX 96

/* The arguments of a kernel; room is left for what a launch of either backend puts around them. */
typedef struct {
    int n, n_owned;
    PyObject *owned[64]; /* memory too: a conversion may run a program's code, which gives an array
                            other memory */
    PyObject *slots[ARGS_MAX + 6]; /* the arguments begin at 3 */
} Args;

/* All return 0, or -1 with an exception. */
int args_array(Args *args, PyObject *memory, Py_ssize_t offset);
static inline void args_put(Args *args, PyObject *value) {
    args->slots[3 + args->n++] = value;
}
void args_clear(Args *args);

/* Launches; returns the event, or None; NULL on failure. sizes, local: as in Entry and Table. */
PyObject *table_launch(const Table *self, PyObject *kernel, PyObject *queue, PyObject *sizes,
                       PyObject *local, Args *args);
/* NULL without an exception: the entry has gone meanwhile. */
PyObject *table_launch_entry(Table *self, uint64_t key, PyObject *queue, Args *args, Py_ssize_t n);
/* The entry with what a launch for n items takes (n_object, sizes); NULL if it has gone, or with an
 * exception. */
Entry *table_counted(const Table *self, uint64_t key, Py_ssize_t n);
/* Memory of so many bytes, new: of the pool (allocator None), or of another pool of ours; what
 * anybody else's allocator gives is looked at by the backend. */
extern int arr_allocating; /* table_allocate() asks a pool, which may ask the driver */
PyObject *table_allocate(const Table *self, PyObject *backend, PyObject *allocator,
                         Py_ssize_t nbytes);

#endif
