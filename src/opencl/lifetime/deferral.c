/* deferral.c - OpenCL's side of the launches that arrays defer: which memory is private to pygpu,
 * and the capsule through which arrays reach this module's traps. */
#include "common/deferral.h"
#include "opencl/event.h"
#include "opencl/lifetime/usage.h"
#include "opencl/opencl.h"

static PyTypeObject *pooled, *queues; /* borrowed from the module's state */

/* A pool's buffer whose handle was never given away and that has no sub-buffers. */
static int is_private(PyObject *memory) {
    if (Py_TYPE(memory) != pooled) {
        return 0;
    }
    const Memory *self = (const Memory *)memory;
    return self->mem != NULL && self->pool != NULL && !self->exposed && self->users == 0 &&
           self->region == NULL && self->regions == NULL;
}

/* Commands that depend on a user event may fail with it, and how they do depends on when they were
 * enqueued. A forked child can launch nothing later either. */
static int may_wait(PyObject *op) {
    const Queue *queue = (const Queue *)op;
    return Py_TYPE(op) == queues && queue->queue != NULL && !queue->finalized &&
           !(queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) &&
           ocl_user_events_pending() == 0 && ocl_user_events_dropped == 0 &&
           !(pg_trap & PG_TRAP_FORKED);
}

static PgDeferral deferral = {is_private, may_wait, CL_OUT_OF_RESOURCES, &pg_trap, &pg_flush};

static PyObject *get_deferral(PyObject *module, PyObject *Py_UNUSED(ignored)) {
    const State *state = PyModule_GetState(module);
    pooled = state->PooledBufferType;
    queues = state->CommandQueueType;
    return PyCapsule_New(&deferral, PG_DEFERRAL_CAPSULE, NULL);
}

PyMethodDef ocl_deferral_methods[] = {
    {"_deferral", get_deferral, METH_NOARGS,
     "_deferral()\n--\n\n() -> Any\n\nWhat arrays need to defer launches, for _array."},
    {NULL, NULL, 0, NULL},
};
