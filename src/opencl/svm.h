/* svm.h - shared virtual memory. */
#ifndef PYGPU_OPENCL_SVM_H
#define PYGPU_OPENCL_SVM_H

#include "opencl/lifetime/usage.h"

/* SVMPointer and its subclasses SVM, SVMAllocation and PooledSVM. pointer is NULL after
 * release(). */
typedef struct Svm {
    OCL_HEAD
    void *pointer;
    size_t size;
    Context *context; /* NULL if unknown: ordinary host memory (system SVM) */
    Usage *usage;     /* of memory or of the block; for an SVM with base NULL, as base's is used */
    PyObject *mem;    /* SVM: the wrapped object */
    struct Svm *base; /* SVM: the allocation or pooled memory that contains mem, or NULL */
    PyObject *memory; /* a capsule that frees the memory (SVMAllocation) or keeps the host's buffer
                       * (SVM without base) */
    Usage own_usage;
    Queue *bound;        /* SVMAllocation, PooledSVM: set by bind_to_queue */
    PyObject *interface; /* SVMAllocation: __array_interface__ set by svm_empty, or NULL */
    void *pool;          /* PooledSVM: its block, see pool.c */
    int exposed;         /* an array may view the memory, so it is freed with the object, not by
                          * release() */
    int users;           /* number of calls that use it now with the GIL released: ocl_svm_pin() */
    int retired;         /* released while in use; given back when users drops to 0 */
    PyObject *dict;
} Svm;

static inline int ocl_is_svm(State *state, PyObject *obj) {
    return PyObject_TypeCheck(obj, state->SVMPointerType);
}
/* Gets address and size of an object with SVMPointer's interface that is alive and of the given
 * context (NULL: any). Returns -1 with an exception. An object of unknown context (system SVM) is
 * accepted. */
int ocl_svm_pointer(State *state, PyObject *obj, const char *call, const char *name,
                    cl_context context, void **pointer, size_t *size);
/* Records that queue uses obj (an SVMPointer); usage.h says where to call it. Raises for ordinary
 * host memory if the queue's device cannot use that. */
int ocl_svm_used_first(State *state, PyObject *obj, Queue *queue);
static inline int ocl_svm_used(State *state, PyObject *obj, Queue *queue) {
    const Svm *self = ((Svm *)obj)->base != NULL ? ((Svm *)obj)->base : (Svm *)obj;
    return self->usage != NULL && self->usage->now.latest == queue
               ? 0
               : ocl_svm_used_first(state, obj, queue);
}
/* Around a driver call without the GIL: release() by another thread takes effect only
 * afterwards. */
void ocl_svm_pin(PyObject *obj), ocl_svm_unpin(PyObject *obj);
void ocl_pool_return_svm(Svm *self);
int ocl_block_visit(void *block, visitproc visit, void *arg);
PyObject *ocl_svm_release(PyObject *op, PyObject *ignored);
/* Makes a capsule that owns new SVM (at least one byte) and frees it; NULL with an exception. */
PyObject *ocl_svm_memory_new(State *state, Context *context, cl_svm_mem_flags flags, size_t size,
                             size_t asked, cl_uint alignment, void **pointer);
int ocl_svm_memory_visit(PyObject *capsule, visitproc visit,
                         void *arg); /* visits what it refers to, for the tp_traverse of its only
                                      * owner */
PyObject *ocl_svm_allocation_new(State *state, PyTypeObject *type, Context *context, size_t size,
                                 size_t alignment, cl_svm_mem_flags flags, Queue *queue,
                                 PyObject *interface);
/* Returns -1 with a LogicError unless a device of the context supports SVM of the kinds in
 * flags. */
int ocl_svm_supported(State *state, Context *context, const char *call, cl_svm_mem_flags flags);
PG_VECTORCALL(ocl_svm);
PG_VECTORCALL(ocl_svm_allocation);
void ocl_svm_dealloc(PyObject *op);

#endif
