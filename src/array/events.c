/* events.c - EventList: the OpenCL events on which the contents of some memory depend, shared by
 * all arrays that are views of one another. */
#include "array/chain.h"
#include "array/dispatch.h"

typedef struct {
    PyListObject list;
    Py_ssize_t arrays; /* number of arrays that have it: any other reference is a program's, which
                        * may read it */
    PyObject *pending; /* a list for the single event that will replace all of these; empty until
                        * the deferred launch is made; or NULL */
    char crossed; /* it may contain events of several queues: users of the memory have to wait for
                   * them */
} EventList;

/* ---- type ------------------------------------------------------------------------------------ */

static int EventList_traverse(PyObject *op, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(((EventList *)op)->pending);
    return PyList_Type.tp_traverse(op, visit, arg);
}

/* A program may put the list into itself. */
static int EventList_clear(PyObject *op) {
    Py_CLEAR(((EventList *)op)->pending);
    return PyList_Type.tp_clear(op);
}

static void EventList_dealloc(PyObject *op) {
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op); /* dropping an event may run code, and that a collection of garbage */
    Py_CLEAR(((EventList *)op)->pending);
    PyList_Type.tp_dealloc(op); /* list's dealloc untracks the object and frees it by the type's
                                 * tp_free */
    Py_DECREF(type);
}

/* An event that a program adds may be of any queue. */
static PyObject *EventList_append(PyObject *op, PyObject *event) {
    ((EventList *)op)->crossed = 1;
    return PyList_Append(op, event) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *EventList_extend(PyObject *op, PyObject *events) {
    Py_ssize_t end = PyList_GET_SIZE(op);
    PyObject *items = PySequence_List(events);
    int failed = items == NULL || PyList_SetSlice(op, end, end, items) < 0;
    Py_XDECREF(items);
    ((EventList *)op)->crossed = 1;
    return failed ? NULL : Py_NewRef(Py_None);
}

static PyMethodDef EventList_methods[] = {
    {"append", EventList_append, METH_O,
     "append($self, event, /)\n--\n\nLet later commands wait for one more event."},
    {"extend", EventList_extend, METH_O,
     "extend($self, events, /)\n--\n\nLet later commands wait for more events."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot EventList_slots[] = {
    {Py_tp_methods, EventList_methods},
    {Py_tp_doc, (void *)"The events that commands on an array wait for: a list, shared by the "
                        "views of one memory."},
    PG_GC_SLOTS(EventList),
    {0, NULL},
};

ARR_TYPE(EventList, EventList, Py_TPFLAGS_HAVE_GC);

static PyObject *make(void) {
    return arr_state->EventListType->tp_alloc(arr_state->EventListType,
                                              0); /* zeroed, that is, an empty list */
}

static int is_shared(PyObject *obj) {
    return Py_IS_TYPE(obj, arr_state->EventListType);
}

/* ---- an array's events ----------------------------------------------------------------------- */

/* CUDA orders work by streams, which keys and launches check, so another array's events are never
 * foreign there. */
static int on_cuda(const GPUArray *self) {
    return self->table != NULL && self->table->cuda;
}

int arr_has_foreign_events(const GPUArray *self) {
    return self->foreign || (self->events != NULL && ((EventList *)self->events)->crossed);
}

/* Takes over a reference to the list, or NULL. */
static void replace_list(GPUArray *self, PyObject *events) {
    PyObject *old = self->events;
    if (events != NULL) {
        ((EventList *)events)->arrays++;
    }
    self->events = events;
    if (old != NULL) {
        ((EventList *)old)->arrays--;
        Py_DECREF(old);
    }
}

void arr_drop_events(GPUArray *self) {
    replace_list(self, NULL);
    Py_CLEAR(self->event);
}

/* Makes an event, or a list for one (see EventList), the only item of a list. */
static int put_alone(PyObject *events, PyObject *event) {
    int failed = 0;
    Py_INCREF(events); /* dropping items may run code that gives the array another list */
    if (event != NULL && PyList_CheckExact(event)) {
        Py_XSETREF(((EventList *)events)->pending, Py_NewRef(event));
    } else {
        Py_CLEAR(((EventList *)events)->pending);
        failed = PyList_GET_SIZE(events) == 1 && event != NULL
                     ? PyList_SetItem(events, 0, Py_NewRef(event)) < 0
                     : PyList_SetSlice(events, 0, PyList_GET_SIZE(events), NULL) < 0 ||
                           (event != NULL && PyList_Append(events, event) < 0);
    }
    Py_DECREF(events);
    return failed ? -1 : 0;
}

/* Returns the list after adding the last event to it. Deferred work stays deferred. */
static PyObject *list_of(GPUArray *self) {
    if (self->events == NULL) {
        PyObject *made = make();
        if (made == NULL) {
            return NULL;
        }
        replace_list(self, made);
    }
    if (self->event != NULL) {
        PyObject *event = self->event;
        self->event = NULL;
        int failed = PyList_CheckExact(event) ? put_alone(self->events, event)
                                              : PyList_Append(self->events, event);
        Py_DECREF(event);
        if (failed < 0) {
            return NULL;
        }
    }
    return self->events;
}

/* The list, borrowed; NULL with an exception. */
static PyObject *events_of(GPUArray *self) {
    PyObject *events = list_of(self);
    PyObject *pending = events != NULL ? ((EventList *)events)->pending : NULL;
    if (pending == NULL) {
        return events;
    }
    Py_INCREF(events);
    Py_INCREF(pending);
    if (PyList_GET_SIZE(pending) == 0) {
        chain_flush();
    }
    int failed = 0;
    if (((EventList *)events)->pending == pending) {
        failed =
            put_alone(events, PyList_GET_SIZE(pending) > 0 ? PyList_GET_ITEM(pending, 0) : NULL);
    }
    Py_DECREF(pending);
    Py_DECREF(events); /* the array's reference */
    return failed < 0 ? NULL : self->events;
}

int arr_share_events(GPUArray *view, GPUArray *self) {
    view->foreign = self->foreign;
    if (on_cuda(self)) {
        return 0;
    }
    PyObject *events = list_of(self);
    if (events == NULL) {
        return -1;
    }
    replace_list(view, Py_NewRef(events));
    return 0;
}

void arr_mark_foreign(GPUArray *self) {
    self->foreign = 1;
    if (self->events != NULL) {
        ((EventList *)self->events)->crossed = 1;
    }
}

/* For an in-order queue only the last event matters: whoever used the memory on another queue has
 * waited for the earlier ones. */
int arr_set_event(GPUArray *self, PyObject *event) {
    PyObject *events = self->events;
    event = event != Py_None ? event : NULL;
    self->foreign = 0;
    if (events == NULL) {
        Py_XSETREF(self->event, Py_XNewRef(event));
        return 0;
    }
    if (Py_REFCNT(events) == 1) {
        ((EventList *)events)->crossed = 0;
    }
    return put_alone(events, event);
}

int arr_owns_events(const GPUArray *self) {
    return self->events == NULL || Py_REFCNT(self->events) == ((EventList *)self->events)->arrays;
}

/* ---- attributes ------------------------------------------------------------------------------ */

PyObject *arr_get_events(PyObject *op, void *Py_UNUSED(closure)) {
    return Py_XNewRef(events_of((GPUArray *)op));
}

/* Events assigned from another array are shared with it; other lists are copied. */
int arr_set_events(PyObject *op, PyObject *value, void *Py_UNUSED(closure)) {
    GPUArray *self = (GPUArray *)op;
    if (value != NULL && value == self->events) { /* of a view, or after array.events += [...] */
        ((EventList *)value)->crossed |= PyList_GET_SIZE(value) > 1;
        return 0;
    }
    PyObject *events = value != NULL && is_shared(value) ? Py_NewRef(value) : make();
    if (events == NULL) {
        return -1;
    }
    if (value != NULL && value != Py_None && !is_shared(value)) {
        PyObject *items = PySequence_List(value);
        if (items == NULL || PyList_SetSlice(events, 0, 0, items) < 0) {
            Py_XDECREF(items);
            Py_DECREF(events);
            return -1;
        }
        Py_DECREF(items);
    }
    replace_list(self, events);
    Py_CLEAR(self->event);
    if (!on_cuda(self)) {
        arr_mark_foreign(self);
    }
    return 0;
}

PyObject *arr_get_foreign(PyObject *op, void *Py_UNUSED(closure)) {
    return PyBool_FromLong(arr_has_foreign_events((GPUArray *)op));
}

int arr_set_foreign(PyObject *op, PyObject *value, void *Py_UNUSED(closure)) {
    int foreign = value != NULL ? PyObject_IsTrue(value) : 0;
    if (foreign > 0) {
        arr_mark_foreign((GPUArray *)op);
    } else {
        ((GPUArray *)op)->foreign = 0;
    }
    return foreign < 0 ? -1 : 0;
}
