/* keepalive.h - what must outlive the commands of a queue. */
#ifndef PYGPU_OPENCL_KEEPALIVE_H
#define PYGPU_OPENCL_KEEPALIVE_H

#include "opencl/queue.h"

/* Keeps object until all commands so far on the queue are done. Never waits, unless the driver
 * cannot enqueue a marker. If it cannot wait either, object is kept for ever. No exception may be
 * set. */
void ocl_keepalive_for_queue(Queue *queue, PyObject *object);
/* Ends what should have ended. 1 if there is something that the driver will not call back for,
 * which must be looked at again. */
int ocl_keepalive_look_after(void);

#endif
