/* queue_idle.h - which commands of a queue are known to be done, and waiting until all are. */
#ifndef PYGPU_QUEUE_IDLE_H
#define PYGPU_QUEUE_IDLE_H

#include "opencl/opencl.h"

/* Commands not known to be done, after which the driver's own queue may be full, so that enqueueing
 * may block (drivers hold 1000 and more). */
#define OCL_MANY_COMMANDS 1000

/* queue.c: waits for the commands so far, interruptibly. 0 with *status, and *failed if the last
 * one failed; -1 with an exception. */
int ocl_queue_wait(Queue *self, cl_int *status, int *failed);
/* The queue's command of that number (Queue.enqueued) and those before it are done. */
void ocl_queue_done(Queue *self, unsigned number);
extern int ocl_queues_busy; /* queues that have commands of which that is not known */
/* event_release.c: all commands that there were are done. */
void ocl_event_queues_idle(void);
extern int ocl_queues_shared; /* a handle may have got commands that its Queue does not know of */

#endif
