/* pool.h - what the memory pools of both backends share: held blocks by size class, and their
 * statistics. */
#ifndef PG_POOL_H
#define PG_POOL_H

#include "common/pg.h"
#include "common/size_classes.h"

/* The common first part of a block. */
typedef struct PgBlock {
    struct PgBlock *next; /* the next held block in the bin */
    uint32_t bin;
    size_t size, asked; /* in bytes: of the block, and as requested */
} PgBlock;

typedef struct PgPool {
    unsigned leading_bits;
    int stopped; /* freed blocks are no longer held */
    char trace;
    Py_ssize_t held_blocks, active_blocks, managed_bytes, active_bytes;
    PgBlock **bins[PG_BIN_EXPONENTS]; /* lists of held blocks by exponent and mantissa, allocated
                                       * on first use */
    void (*free_block)(PgBlock *block);
    PyObject *owner;             /* the Python object that contains this struct */
    struct PgPool *next, **link; /* all pools of a module; protected by the GIL */
} PgPool;

/* The repr of op, which holds the pool: how much is in use and held. */
PyObject *pg_pool_repr(PyObject *op, const PgPool *pool);

/* The list of a bin, or NULL if it has not been allocated. */
static inline PgBlock **pg_pool_bin(const PgPool *self, uint32_t bin, unsigned leading_bits) {
    PgBlock **exponent = self->bins[bin >> leading_bits];
    return exponent == NULL ? NULL : &exponent[bin & ((1u << leading_bits) - 1u)];
}
static inline void pg_pool_hold(PgPool *self, PgBlock *block, unsigned leading_bits) {
    PgBlock **bin = pg_pool_bin(self, block->bin, leading_bits);
    block->next = *bin;
    *bin = block;
    self->held_blocks++;
}
/* A block is handed out, or its owner was destroyed. */
static inline void pg_pool_count_out(PgPool *self, const PgBlock *block) {
    self->active_blocks++;
    self->active_bytes += (Py_ssize_t)block->asked;
}
static inline void pg_pool_count_back(PgPool *self, const PgBlock *block) {
    self->active_blocks--;
    self->active_bytes -= (Py_ssize_t)block->asked;
}

/* ---- life cycle ------------------------------------------------------------------------------ */

/* Adds a new pool to the list of its module's pools. */
void pg_pool_join(PgPool *self, PyObject *owner, PgPool **pools,
                  void (*free_block)(PgBlock *block));
/* Call after the struct was copied into another object. */
void pg_pool_moved(PgPool *self, PyObject *owner);
/* For tp_dealloc: unlinks the pool, clears weak references, and frees all held blocks. */
void pg_pool_end(PgPool *self, PyObject *owner, PyObject *weakrefs);
/* Iterate over a module's pools while any of them may be destroyed. The first returns a new
 * reference to the first pool, starting at *from*, that is not being deallocated; the second does
 * so after self and drops the reference to self. */
PgPool *pg_pool_from(PgPool *from);
PgPool *pg_pool_after(PgPool *self);

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Sets a new block's bin and size. It allocates the bin's list already, so that holding the block
 * later cannot fail. Returns -1 with an exception. */
int pg_pool_size_block(PgPool *self, PgBlock *block, uint32_t bin);
/* Prints a line about a request, if tracing is on. */
void pg_pool_print(const PgPool *self, size_t size, uint32_t bin, int held);
/* Frees all held blocks, largest first. Returns how many there were. */
Py_ssize_t pg_pool_free_all(PgPool *self);
/* For tp_traverse: visits all held blocks. */
int pg_pool_visit(const PgPool *self,
                  int (*visit_block)(PgBlock *block, visitproc visit, void *arg), visitproc visit,
                  void *arg);

/* ---- Python interface ------------------------------------------------------------------------ */

PyObject *pg_pool_free_held(PgPool *self, PyObject *unused);
PyObject *pg_pool_stop_holding(PgPool *self, PyObject *unused);
PyObject *pg_pool_bin_number(PgPool *self, PyObject *size);
PyObject *pg_pool_alloc_size(PgPool *self, PyObject *bin);
PyObject *pg_pool_set_trace(PgPool *self, PyObject *flag);

/* Defines the methods of *type*, a struct whose member *field* is the pool. */
#define PG_POOL_METHOD(type, field, name)                       \
    static PyObject *Pool_##name(PyObject *op, PyObject *obj) { \
        return pg_pool_##name(&((type *)op)->field, obj);       \
    }
#define PG_DEFINE_POOL_METHODS(type, field)   \
    PG_POOL_METHOD(type, field, free_held)    \
    PG_POOL_METHOD(type, field, stop_holding) \
    PG_POOL_METHOD(type, field, bin_number)   \
    PG_POOL_METHOD(type, field, alloc_size)   \
    PG_POOL_METHOD(type, field, set_trace)
/* Their rows in the method table. */
#define PG_POOL_METHODS                                                                            \
    {"free_held", Pool_free_held, METH_NOARGS,                                                     \
     "free_held($self, /)\n--\n\n() -> None\n\nFree all held blocks, the largest first."},         \
        {"stop_holding", Pool_stop_holding, METH_NOARGS,                                           \
         "stop_holding($self, /)\n--\n\n() -> None\n\nFree all held blocks, and from now on each " \
         "block as soon as its owner drops it."},                                                  \
        {"bin_number", Pool_bin_number, METH_O,                                                    \
         "bin_number($self, size, /)\n--\n\n(size: int, /) -> int\n\nThe bin that serves a "       \
         "request of *size* bytes."},                                                              \
        {"alloc_size", Pool_alloc_size, METH_O,                                                    \
         "alloc_size($self, bin, /)\n--\n\n(bin: int, /) -> int\n\nThe size of the blocks of a "   \
         "bin [bytes]."},                                                                          \
    {                                                                                              \
        "set_trace", Pool_set_trace, METH_O,                                                       \
            "set_trace($self, flag, /)\n--\n\n(flag: bool, /) -> None\n\nPrint a line for each "   \
            "request."                                                                             \
    }
/* Their rows in the member table. */
#define PG_POOL_MEMBERS(type, field)                                                 \
    {"held_blocks", T_PYSSIZET, offsetof(type, field.held_blocks), READONLY,         \
     "int: free blocks that wait for a request"},                                    \
        {"active_blocks", T_PYSSIZET, offsetof(type, field.active_blocks), READONLY, \
         "int: blocks in use"},                                                      \
        {"managed_bytes", T_PYSSIZET, offsetof(type, field.managed_bytes), READONLY, \
         "int: size of all blocks, free and in use [bytes]"},                        \
    {                                                                                \
        "active_bytes", T_PYSSIZET, offsetof(type, field.active_bytes), READONLY,    \
            "int: bytes requested for the blocks in use"                             \
    }

#endif
