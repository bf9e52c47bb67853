/* pool.c - the blocks that a memory pool holds, in lists by size class (size_classes.c). */
#include "common/pool.h"

/* ---- life cycle ------------------------------------------------------------------------------ */

void pg_pool_join(PgPool *self, PyObject *owner, PgPool **pools,
                  void (*free_block)(PgBlock *block)) {
    self->free_block = free_block;
    self->owner = owner;
    self->next = *pools;
    self->link = pools;
    if (*pools != NULL) {
        (*pools)->link = &self->next;
    }
    *pools = self;
}

void pg_pool_moved(PgPool *self, PyObject *owner) {
    self->owner = owner;
    *self->link = self;
    if (self->next != NULL) {
        self->next->link = &self->next;
    }
}

void pg_pool_end(PgPool *self, PyObject *owner, PyObject *weakrefs) {
    if (self->link != NULL) {
        *self->link = self->next;
        if (self->next != NULL) {
            self->next->link = self->link;
        }
    }
    if (weakrefs != NULL) {
        PyObject_ClearWeakRefs(owner);
    }
    pg_pool_free_all(self);
    for (int e = 0; e < PG_BIN_EXPONENTS; e++) {
        PyMem_Free(self->bins[e]);
        self->bins[e] = NULL;
    }
}

PgPool *pg_pool_from(PgPool *from) {
    while (from != NULL && Py_REFCNT(from->owner) == 0) {
        from = from->next;
    }
    if (from != NULL) {
        Py_INCREF(from->owner);
    }
    return from;
}

PgPool *pg_pool_after(PgPool *self) {
    PgPool *next = pg_pool_from(self->next);
    Py_DECREF(self->owner);
    return next;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

int pg_pool_size_block(PgPool *self, PgBlock *block, uint32_t bin) {
    PgBlock ***exponent = &self->bins[bin >> self->leading_bits];
    if (*exponent == NULL &&
        (*exponent = PyMem_Calloc((size_t)1 << self->leading_bits, sizeof **exponent)) == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    block->bin = bin;
    block->size = pg_bin_size(bin, self->leading_bits);
    return 0;
}

void pg_pool_print(const PgPool *self, size_t size, uint32_t bin, int held) {
    PySys_FormatStdout("[pool] %zu bytes (bin %u): %s, %zd bytes managed\n", size, (unsigned)bin,
                       held ? "held block" : "new block", self->managed_bytes);
}

/* The number of bins for which an exponent has lists. */
static size_t bins_of(const PgPool *self, int exponent) {
    return self->bins[exponent] != NULL ? (size_t)1 << self->leading_bits : 0;
}

Py_ssize_t pg_pool_free_all(PgPool *self) {
    Py_ssize_t n = 0;
    for (int e = PG_BIN_EXPONENTS - 1; e >= 0; e--) {
        for (size_t m = bins_of(self, e); m-- > 0;) {
            PgBlock *block;
            while ((block = self->bins[e][m]) != NULL) {
                self->bins[e][m] = block->next;
                self->held_blocks--;
                self->free_block(block);
                n++;
            }
        }
    }
    return n;
}

int pg_pool_visit(const PgPool *self,
                  int (*visit_block)(PgBlock *block, visitproc visit, void *arg), visitproc visit,
                  void *arg) {
    for (int e = 0; self->held_blocks > 0 && e < PG_BIN_EXPONENTS; e++) {
        for (size_t m = bins_of(self, e); m-- > 0;) {
            for (PgBlock *block = self->bins[e][m]; block != NULL; block = block->next) {
                int result = visit_block(block, visit, arg);
                if (result != 0) {
                    return result;
                }
            }
        }
    }
    return 0;
}

/* ---- methods --------------------------------------------------------------------------------- */

PyObject *pg_pool_free_held(PgPool *self, PyObject *Py_UNUSED(unused)) {
    pg_pool_free_all(self);
    Py_RETURN_NONE;
}

PyObject *pg_pool_stop_holding(PgPool *self, PyObject *unused) {
    self->stopped = 1;
    return pg_pool_free_held(self, unused);
}

PyObject *pg_pool_bin_number(PgPool *self, PyObject *size) {
    size_t bytes;
    return pg_as_size(size, "bin_number", "size", &bytes) < 0
               ? NULL
               : PyLong_FromUnsignedLong(pg_bin_number(bytes, self->leading_bits));
}

PyObject *pg_pool_alloc_size(PgPool *self, PyObject *bin) {
    uint32_t number;
    if (pg_as_u32(bin, "alloc_size", "bin", &number) < 0) {
        return NULL;
    }
    if (number >> self->leading_bits >= PG_BIN_EXPONENTS) {
        return PyErr_Format(PyExc_ValueError, "alloc_size: there is no bin %u", (unsigned)number);
    }
    return PyLong_FromSize_t(pg_bin_size(number, self->leading_bits));
}

PyObject *pg_pool_set_trace(PgPool *self, PyObject *flag) {
    int trace = PyObject_IsTrue(flag);
    if (trace < 0) {
        return NULL;
    }
    self->trace = (char)trace;
    Py_RETURN_NONE;
}

PyObject *pg_pool_repr(PyObject *op, const PgPool *pool) {
    return PyUnicode_FromFormat("<%s: %zd bytes in %zd blocks in use, %zd blocks held, %zd bytes "
                                "in all, at %p>",
                                Py_TYPE(op)->tp_name, pool->active_bytes, pool->active_blocks,
                                pool->held_blocks, pool->managed_bytes, (void *)op);
}
