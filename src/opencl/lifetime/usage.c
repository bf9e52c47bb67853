/* usage.c - which queues may still use a piece of memory, and how a new owner's commands are
 * ordered after a former owner's.
 *
 * As long as one in-order queue does all the work, the driver is not called: its commands run in
 * order anyway. Only when memory used on one queue is used on another by its next owner, that
 * queue gets a barrier that waits for a marker of the first. Any queue in `now` has been ordered
 * after all of `before`, so `before` can be dropped as soon as `now` has a queue. */
#include "opencl/enqueue.h"
#include "opencl/event.h"
#include "opencl/lifetime/gil_release.h"
#include "opencl/lifetime/keepalive.h"
#include "opencl/lifetime/usage.h"
#include "opencl/opencl.h"
#include "opencl/queue.h"

#define LOCAL_QUEUES 8

static int QueueSet_size(const QueueSet *set) {
    return set->first == NULL ? 0 : 1 + set->n_more;
}
static Queue *QueueSet_get(const QueueSet *set, int i) {
    return i == 0 ? set->first : set->more[i - 1];
}

static Queue *QueueSet_find(const QueueSet *set, const Queue *queue) {
    for (int i = 0; i < QueueSet_size(set); i++) {
        if (QueueSet_get(set, i)->queue == queue->queue) {
            return QueueSet_get(set, i);
        }
    }
    return NULL;
}

static int QueueSet_add(QueueSet *set, Queue *queue) {
    if (set->first == NULL) {
        set->first = queue;
    } else {
        Queue **more = PyMem_Realloc(set->more, (size_t)(set->n_more + 1) * sizeof *more);
        if (more == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        more[set->n_more++] = queue;
        set->more = more;
    }
    set->latest = (Queue *)Py_NewRef(queue);
    return 0;
}

static void QueueSet_clear(QueueSet *set) {
    QueueSet old = *set; /* dropping a queue may run code that re-enters this file */
    *set = (QueueSet){0};
    Py_XDECREF(old.first);
    for (int i = 0; i < old.n_more; i++) {
        Py_DECREF(old.more[i]);
    }
    PyMem_Free(old.more);
}

static int QueueSet_visit(const QueueSet *set, visitproc visit, void *arg) {
    for (int i = 0; i < QueueSet_size(set); i++) {
        Py_VISIT(QueueSet_get(set, i));
    }
    return 0;
}

/* Gets an event that completes when all commands so far on the queue have. */
cl_int ocl_enqueue_marker(Queue *queue, cl_event *event) {
    cl_int status = CL_SUCCESS;
    if (queue->device->version >= 120 && cl.clEnqueueMarkerWithWaitList != NULL) {
        OCL_ENQUEUE(queue, status, clEnqueueMarkerWithWaitList, queue->queue, 0, NULL, event);
    } else {
        OCL_ENQUEUE(queue, status, clEnqueueMarker, queue->queue, event);
    }
    if (status == CL_SUCCESS) {
        ocl_live[LIVE_EVENT]++;
    }
    return status;
}

cl_int ocl_flush(Queue *queue) {
    cl_int status = CL_SUCCESS;
    if (ocl_queue_may_block(queue)) {
        CL_NOGIL(status, clFlush, queue->queue);
    } else {
        CL_CALL(status, clFlush, queue->queue);
    }
    return status;
}

static int is_done(cl_event event) {
    cl_int exec = CL_QUEUED, status = CL_SUCCESS;
    CL_CALL(status, clGetEventInfo, event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof exec, &exec,
            NULL);
    return status == CL_SUCCESS && exec <= CL_COMPLETE;
}

/* Makes later commands wait for the events, or for all earlier commands if there are no events. */
static cl_int enqueue_barrier(Queue *queue, cl_uint n, const cl_event *events,
                              const char **routine) {
    cl_int status = CL_SUCCESS;
    if (queue->device->version >= 120 && cl.clEnqueueBarrierWithWaitList != NULL) {
        cl_event event = NULL;
        *routine = "clEnqueueBarrierWithWaitList";
        OCL_ENQUEUE(queue, status, clEnqueueBarrierWithWaitList, queue->queue, n,
                    n > 0 ? events : NULL, &event);
        if (status == CL_SUCCESS) {
            ocl_live[LIVE_EVENT]++;
            ocl_event_release(event);
        }
    } else if (n > 0) {
        *routine = "clEnqueueWaitForEvents";
        OCL_ENQUEUE(queue, status, clEnqueueWaitForEvents, queue->queue, n, events);
    } else {
        *routine = "clEnqueueBarrier";
        OCL_ENQUEUE(queue, status, clEnqueueBarrier, queue->queue);
    }
    return status;
}

/* Enqueues markers on the queues other than queue and returns the events of those that have not
 * completed. */
static cl_int enqueue_markers(const Queue *queue, Queue *const *former, int n, cl_event *events,
                              cl_uint *n_events, const char **routine) {
    cl_int status = CL_SUCCESS;
    for (int i = 0; i < n && status == CL_SUCCESS; i++) {
        if (former[i]->queue == queue->queue) {
            continue;
        }
        *routine = "clEnqueueMarkerWithWaitList";
        status = ocl_enqueue_marker(former[i], &events[*n_events]);
        if (status != CL_SUCCESS) {
            break;
        }
        if (is_done(events[*n_events])) {
            ocl_event_release(events[*n_events]);
        } else {
            ++*n_events;
            *routine = "clFlush";
            status = ocl_flush(former[i]); /* otherwise the other queue might wait for commands that
                                            * were never submitted */
        }
    }
    return status;
}

/* Orders later commands of queue after everything enqueued so far on the members of set. */
static int order_after(Queue *queue, const QueueSet *set) {
    int in_order = !(queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE), after_itself = 0;
    int n = QueueSet_size(set), result = -1;
    if (n == 0 || (n == 1 && in_order && set->first->queue == queue->queue)) {
        return 0;
    }
    Queue *local_former[LOCAL_QUEUES],
        **former = local_former; /* a copy, because the set may change while the GIL is released */
    cl_event local_events[LOCAL_QUEUES], *events = local_events;
    cl_uint n_events = 0;
    const char *routine = "";
    if (n > LOCAL_QUEUES) {
        former = PyMem_Malloc((size_t)n * sizeof *former);
        events = PyMem_Malloc((size_t)n * sizeof *events);
    }
    if (former == NULL || events == NULL) {
        n = 0;
        PyErr_NoMemory();
        goto done;
    }
    for (int i = 0; i < n; i++) {
        former[i] = (Queue *)Py_NewRef(QueueSet_get(set, i));
        after_itself |= !in_order && former[i]->queue == queue->queue;
    }
    cl_int status = enqueue_markers(queue, former, n, events, &n_events, &routine);
    if (status == CL_SUCCESS && n_events > 0) {
        status = enqueue_barrier(queue, n_events, events, &routine);
    }
    if (status == CL_SUCCESS && after_itself) {
        status = enqueue_barrier(queue, 0, NULL, &routine);
    }
    if (status == CL_SUCCESS) {
        result = 0;
    } else {
        ocl_raise(queue->state, routine, status);
    }
done:
    for (cl_uint i = 0; i < n_events; i++) {
        ocl_event_release(events[i]);
    }
    for (int i = 0; i < n; i++) {
        Py_DECREF(former[i]);
    }
    if (former != local_former) {
        PyMem_Free(former);
    }
    if (events != local_events) {
        PyMem_Free(events);
    }
    return result;
}

int ocl_usage_add(Usage *usage, Queue *queue) {
    Queue *member = QueueSet_find(&usage->now, queue);
    if (member != NULL) {
        usage->now.latest = member;
        return 0;
    }
    if (order_after(queue, &usage->before) < 0) {
        return -1;
    }
    return QueueSet_find(&usage->now, queue) != NULL
               ? 0
               : QueueSet_add(&usage->now, queue); /* another thread may have done it first */
}

void ocl_usage_change_owner(Usage *usage) {
    if (usage->now.first == NULL) {
        return;
    }
    QueueSet old = usage->before;
    usage->before = usage->now;
    usage->now = (QueueSet){0};
    QueueSet_clear(&old);
}

void ocl_usage_clear(Usage *usage) {
    QueueSet_clear(&usage->now);
    QueueSet_clear(&usage->before);
}

int ocl_usage_visit(Usage *usage, visitproc visit, void *arg) {
    int result = QueueSet_visit(&usage->now, visit, arg);
    return result != 0 ? result : QueueSet_visit(&usage->before, visit, arg);
}

void ocl_usage_hold(Usage *usage, PyObject *object) {
    QueueSet set = usage->now.first != NULL ? usage->now : usage->before;
    QueueSet other = usage->now.first != NULL ? usage->before : usage->now;
    *usage = (Usage){0};
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    ocl_keepalive_poll();
    for (int i = 0; i < QueueSet_size(&set); i++) {
        ocl_keepalive_for_queue(QueueSet_get(&set, i), object);
    }
    QueueSet_clear(&set);
    QueueSet_clear(&other);
    PyErr_Restore(type, value, traceback);
}
