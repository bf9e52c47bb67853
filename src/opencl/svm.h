/* svm.h - shared virtual memory. */
#ifndef PYGPU_OPENCL_SVM_H
#define PYGPU_OPENCL_SVM_H

#include "opencl/lifetime/usage.h"

/* SVMPointer and what derives from it: SVM, SVMAllocation, PooledSVM. pointer is NULL once
 * released. */
typedef struct Svm {
    OCL_HEAD
    void *pointer;
    size_t size;
    Context *context; /* NULL: not known, memory of the host's own (system SVM) */
    Usage *usage;     /* of memory or of the block; SVM with base: NULL, base's counts */
    PyObject *mem;    /* SVM: the wrapped object */
    struct Svm *base; /* SVM: the allocation or pooled memory that mem lies in, or NULL */
    PyObject *memory; /* capsule that frees the memory (SVMAllocation) or holds the host's buffer
                         (SVM without base) */
    Usage own_usage;
    Queue *bound;        /* SVMAllocation, PooledSVM: bind_to_queue */
    PyObject *interface; /* SVMAllocation: __array_interface__ given by svm_empty, or NULL */
    void *pool;          /* PooledSVM: its block, see pool.c */
    int exposed;         /* an array may look at the memory: it is freed with the object, not by
                          * release() */
    int users;           /* calls with the GIL released that use it now: ocl_svm_pin() */
    int retired;         /* released meanwhile: given back when users is 0 */
    PyObject *dict;
} Svm;

static inline int ocl_is_svm(State *state, PyObject *obj) {
    return PyObject_TypeCheck(obj, state->SVMPointerType);
}
/* The address and size of an object with SVMPointer's interface that is alive and of the given
 * context (NULL: any); -1 with an exception. An object of unknown context (system SVM) passes. */
int ocl_svm_pointer(State *state, PyObject *obj, const char *call, const char *name,
                    cl_context context, void **pointer, size_t *size);
/* Records that queue uses obj (an SVMPointer) from now on; see "usage.c" above for where to call
 * it. Raises for memory of the host's own if the queue's device cannot use that. */
int ocl_svm_used_first(State *state, PyObject *obj, Queue *queue);
static inline int ocl_svm_used(State *state, PyObject *obj, Queue *queue) {
    const Svm *self = ((Svm *)obj)->base != NULL ? ((Svm *)obj)->base : (Svm *)obj;
    return self->usage != NULL && self->usage->now.latest == queue
               ? 0
               : ocl_svm_used_first(state, obj, queue);
}
/* Around a driver call made with the GIL released: another thread's release() takes effect only
 * afterwards. */
void ocl_svm_pin(PyObject *obj), ocl_svm_unpin(PyObject *obj);
void ocl_svm_give_back(
    Svm *self); /* the memory, once nothing uses it: to the driver or to its pool. Never waits */
void ocl_pool_return_svm(Svm *self);
int ocl_block_visit(void *block, visitproc visit, void *arg);
PyObject *ocl_svm_release(PyObject *op, PyObject *ignored);
/* A capsule that owns new SVM (at least one byte) and frees it when it goes; NULL with an
 * exception. */
PyObject *ocl_svm_memory_new(State *state, Context *context, cl_svm_mem_flags flags, size_t size,
                             size_t asked, cl_uint alignment, void **pointer);
int ocl_svm_memory_visit(PyObject *capsule, visitproc visit,
                         void *arg); /* what it refers to, for its only owner's tp_traverse */
PyObject *ocl_svm_allocation_new(State *state, PyTypeObject *type, Context *context, size_t size,
                                 size_t alignment, cl_svm_mem_flags flags, Queue *queue,
                                 PyObject *interface);
/* -1 with a LogicError unless a device of the context has SVM, of the kinds that flags ask for. */
int ocl_svm_supported(State *state, Context *context, const char *call, cl_svm_mem_flags flags);
PG_VECTORCALL(ocl_svm);
PG_VECTORCALL(ocl_svm_allocation);
void ocl_svm_dealloc(PyObject *op);

#endif
