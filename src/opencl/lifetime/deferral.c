/* deferral.c - OpenCL's side of launches that arrays defer: which memory nobody else can see, and
 * the capsule by which arrays reach the traps of this module. */
#include "common/deferral.h"
#include "opencl/event.h"
#include "opencl/lifetime/usage.h"
#include "opencl/opencl.h"

static PyTypeObject *pooled, *queues; /* borrowed from the module's state */

/* A buffer of a pool whose handle was not given away, and of which no region was made. */
static int is_private(PyObject *memory) {
    if (Py_TYPE(memory) != pooled) {
        return 0;
    }
    const Memory *self = (const Memory *)memory;
    return self->mem != NULL && self->pool != NULL && !self->exposed && self->users == 0 &&
           self->region == NULL && self->regions == NULL;
}

/* Commands behind a user event may fail with it, and what is told of them then depends on when they
 * were enqueued. */
static int may_wait(PyObject *op) {
    const Queue *queue = (const Queue *)op;
    return Py_TYPE(op) == queues && queue->queue != NULL && !queue->finalized &&
           !(queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) &&
           ocl_user_events_pending() == 0 && ocl_user_events_dropped == 0;
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
