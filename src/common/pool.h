/* pool.h - what the memory pools of both systems share: blocks that are held by size class, and the
 * counts of them. */
#ifndef PG_POOL_H
#define PG_POOL_H

#include "common/pg.h"
#include "common/size_classes.h"

/* A part of each block. */
typedef struct PgBlock {
    struct PgBlock *next; /* held: the next one of the bin */
    uint32_t bin;
    size_t size, asked; /* bytes: there are, and were asked for */
} PgBlock;

typedef struct {
    unsigned leading_bits;
    int stopped; /* freed blocks are not held */
    char trace;
    Py_ssize_t held_blocks, active_blocks, managed_bytes, active_bytes;
    PgBlock **bins[PG_BIN_EXPONENTS]; /* by exponent and mantissa: lists of held blocks; made when
                                         first needed */
} PgPool;

/* The list of a bin; NULL: it was not made yet. */
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
/* Gives a new block its bin and size, and makes the bin's list now, so that holding the block
 * cannot fail. -1 with an exception. */
int pg_pool_size_block(PgPool *self, PgBlock *block, uint32_t bin);
/* The line of a request, if pools are traced. */
void pg_pool_print(const PgPool *self, size_t size, uint32_t bin, int held);
/* Frees all held blocks, the largest first; how many there were. */
Py_ssize_t pg_pool_free_all(PgPool *self, void (*free_block)(PgBlock *block));
/* Visits all held blocks. */
int pg_pool_visit(const PgPool *self,
                  int (*visit_block)(PgBlock *block, visitproc visit, void *arg), visitproc visit,
                  void *arg);
void pg_pool_clear(PgPool *self); /* the lists, which are empty */

/* The methods. */
PyObject *pg_pool_bin_number(const PgPool *self, PyObject *size);
PyObject *pg_pool_alloc_size(const PgPool *self, PyObject *bin);
PyObject *pg_pool_set_trace(PgPool *self, PyObject *flag);
/* The members, of a struct that has the pool as *field*. */
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
