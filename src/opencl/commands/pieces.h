/* pieces.h - splits commands on large memory into several; see pieces.c. */
#ifndef PYGPU_PIECES_H
#define PYGPU_PIECES_H

#include "opencl/event.h"
#include "opencl/opencl.h"

/* Enqueues the part [start, start + size) of a command. */
typedef cl_int (*OclPiece)(Queue *queue, const void *command, size_t start, size_t size, cl_uint n,
                           const cl_event *events, cl_event *event);

/* Enqueues all size bytes of a command in as many pieces as the driver needs. *event completes
 * when all of them have. After a failure it is the event of the last piece that was enqueued, or
 * NULL, and the caller must release it. May release the GIL. */
cl_int ocl_in_pieces(Queue *queue, OclPiece piece, const void *command, size_t size,
                     const WaitList *list, cl_event *event);

/* A fill of a buffer, or of shared virtual memory if mem is NULL. All numbers are multiples of the
 * pattern's length, a power of two. */
typedef struct {
    cl_mem mem;
    unsigned char *svm;
    size_t offset, size; /* offset is 0 for shared virtual memory */
    const void *pattern;
    size_t length;
} OclFill;

/* Returns -1 with an exception unless a pattern may have this many bytes. */
int ocl_check_pattern(State *state, const char *call, size_t length);
/* As ocl_in_pieces(). */
cl_int ocl_enqueue_fill(Queue *queue, const OclFill *fill, const WaitList *list, cl_event *event);

void ocl_piece_release(cl_event event); /* releases such an event, unless NULL */

#endif
