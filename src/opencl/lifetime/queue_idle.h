/* queue_idle.h - which commands of a queue are known to have completed, and waiting for all of
 * them. */
#ifndef PYGPU_QUEUE_IDLE_H
#define PYGPU_QUEUE_IDLE_H

#include "opencl/opencl.h"

/* With this many commands not known to have completed, the driver's own queue may be full, so that
 * enqueueing may block (drivers have room for 1000 or more). */
#define OCL_MANY_COMMANDS 1000

/* queue.c: waits for the commands so far; signals can interrupt it. Returns 0 and sets *status,
 * and *failed if the last command failed; -1 with an exception. */
int ocl_queue_wait(Queue *self, cl_int *status, int *failed);
/* Records that the queue's command of that number (Queue.enqueued) and all earlier ones have
 * completed. */
void ocl_queue_done(Queue *self, unsigned number);
extern int ocl_queues_busy; /* number of queues with commands that are not known to have
                             * completed */
/* event_release.c: all existing commands have completed. */
void ocl_event_queues_idle(void);
extern int ocl_queues_shared; /* some handle may have received commands that its Queue does not
                               * know of */

#endif
