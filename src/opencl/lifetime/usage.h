/* usage.h - the queues that may still use a piece of memory. */
#ifndef PYGPU_OPENCL_USAGE_H
#define PYGPU_OPENCL_USAGE_H

#include "opencl/memory.h"
#include "opencl/queue.h"

/* Before a command is enqueued, once for each memory object that it uses, with the GIL held:
 *
 *     if (ocl_memory_prepare(memory, queue) < 0) { fail }      Buffer, Image, Pipe, ...
 *     if (ocl_svm_used(state, object, queue) < 0) { fail }     what ocl_is_svm() accepts
 *
 * Only pooled memory and SVM allocations remember queues; for a plain Buffer it is one test. For
 * the same queue as last time it is two. The first use of pooled memory on a queue other than that
 * of its former owner enqueues a barrier, so these calls must come before the command, and may
 * enqueue (the GIL may be released: pin what may be released meanwhile; arguments of the call are
 * kept by their caller). -1 with an exception. Doing it without a command following is
 * harmless. */
typedef struct {
    Queue *latest; /* the member added or found last, borrowed; NULL: no members */
    Queue *first;  /* members are strong references; queues with equal handles count as one */
    Queue **more;
    int n_more;
} QueueSet;

typedef struct {
    QueueSet now;    /* queues on which the current owner used the memory */
    QueueSet before; /* queues of former owners, which any other queue must wait for first */
} Usage;

int ocl_usage_add(Usage *usage, Queue *queue); /* the slow path of the two functions below */
int ocl_memory_prepare_first(Memory *self, Queue *queue);
static inline int ocl_memory_prepare(Memory *self, Queue *queue) {
    const Usage *usage = self->pool; /* a pool's block begins with its usage */
    return usage == NULL || usage->now.latest == queue ? 0 : ocl_memory_prepare_first(self, queue);
}
extern PyMethodDef ocl_deferral_methods[]; /* deferral.c */
int ocl_usage_visit(Usage *usage, visitproc visit, void *arg);
/* The owner is gone: its queues become a former owner's. */
void ocl_usage_change_owner(Usage *usage);
void ocl_usage_clear(Usage *usage);
/* Keeps object alive until all commands so far on all queues of usage have completed; clears
 * usage. */
void ocl_usage_hold(Usage *usage, PyObject *object);

#endif
