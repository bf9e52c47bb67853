/* deferral.c - CUDA's side of the launches that arrays defer: which memory is private to pygpu,
 * and the capsule through which arrays reach this module's traps. */
#include "common/deferral.h"
#include "cuda/capture.h"
#include "cuda/context.h"
#include "cuda/lifetime/usage.h"
#include "cuda/memory.h"

static PyTypeObject *pooled; /* borrowed from the module's state */

/* Pool memory whose address was never given away. Nothing is deferred while any stream is being
 * captured, because a deferred launch could end up in the graph. */
static int is_private(PyObject *memory) {
    if (Py_TYPE(memory) != pooled || cud_capturing > 0) {
        return 0;
    }
    const Allocation *self = (const Allocation *)memory;
    return !self->freed && self->kind == MEMORY_POOLED && self->usage != NULL &&
           !self->usage->exposed && self->users == 0 && self->context->alive;
}

/* Only the default stream. A forked child can launch nothing later either. */
static int may_wait(PyObject *queue) {
    return queue == Py_None && !(pg_trap & PG_TRAP_FORKED);
}

static PgDeferral deferral = {is_private, may_wait, 999, /* CUDA_ERROR_UNKNOWN */
                              &pg_trap, &pg_flush};

static PyObject *get_deferral(PyObject *module, PyObject *Py_UNUSED(ignored)) {
    pooled = ((State *)PyModule_GetState(module))->PooledDeviceAllocationType;
    return PyCapsule_New(&deferral, PG_DEFERRAL_CAPSULE, NULL);
}

PyMethodDef cud_deferral_methods[] = {
    {"_deferral", get_deferral, METH_NOARGS,
     "_deferral()\n--\n\n() -> Any\n\nWhat arrays need to defer launches, for _array."},
    {NULL, NULL, 0, NULL},
};
