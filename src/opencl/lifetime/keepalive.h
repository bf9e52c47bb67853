/* keepalive.h - objects that must outlive the commands of a queue. */
#ifndef PYGPU_OPENCL_KEEPALIVE_H
#define PYGPU_OPENCL_KEEPALIVE_H

#include "opencl/queue.h"

/* Keeps object alive until all commands so far on the queue have completed. Never waits, unless
 * the driver cannot enqueue a marker. If it cannot wait either, object is kept forever. No
 * exception may be set. */
void ocl_keepalive_for_queue(Queue *queue, PyObject *object);
/* Releases what is no longer needed. Returns 1 if something remains for which there will be no
 * callback, so that it must be polled again. */
int ocl_keepalive_poll(void);

#endif
