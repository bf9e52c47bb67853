/* repr.c - the reprs of memory, queues, events and programs.
 *
 * A repr must not affect what it shows: it waits for nothing, launches nothing and creates no
 * driver handle. It never raises: what the driver does not answer is omitted. */
#include "opencl/context.h"
#include "opencl/event.h"
#include "opencl/lifetime/pool.h"
#include "opencl/memory.h"
#include "opencl/objects/program.h"
#include "opencl/objects/repr.h"
#include "opencl/opencl.h"
#include "opencl/queue.h"
#include "opencl/svm.h"

typedef struct {
    cl_bitfield bit;
    const char *name;
} FlagRow;

static const FlagRow memory_flags[] = {
    {CL_MEM_READ_WRITE, "READ_WRITE"},         {CL_MEM_WRITE_ONLY, "WRITE_ONLY"},
    {CL_MEM_READ_ONLY, "READ_ONLY"},           {CL_MEM_USE_HOST_PTR, "USE_HOST_PTR"},
    {CL_MEM_ALLOC_HOST_PTR, "ALLOC_HOST_PTR"}, {0, NULL},
};
static const FlagRow queue_flags[] = {
    {CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, "out of order"},
    {CL_QUEUE_PROFILING_ENABLE, "profiling"},
    {0, NULL},
};

#define TEXT_OF_FLAGS 128 /* longer than all names of a table together */

/* Appends ", NAME" for each flag that is set. */
static void put_flags(char *text, const FlagRow *row, cl_bitfield flags) {
    size_t used = 0;
    text[0] = 0;
    for (; row->name != NULL && used < TEXT_OF_FLAGS; row++) {
        if (flags & row->bit) {
            used += (size_t)PyOS_snprintf(text + used, TEXT_OF_FLAGS - used, ", %s", row->name);
        }
    }
}

/* " on NAME", or "" if the driver does not report it. NULL only if out of memory. */
static PyObject *on_device(const Device *device) {
    PyObject *name = device != NULL ? PyObject_GetAttrString((PyObject *)device, "name") : NULL;
    if (name == NULL) {
        PyErr_Clear();
        return PyUnicode_FromString("");
    }
    PyObject *text = PyUnicode_FromFormat(" on %R", name);
    Py_DECREF(name);
    return text;
}

static PyObject *on_context(const Context *context) {
    if (context != NULL && context->n_devices > 1) {
        return PyUnicode_FromFormat(" on %zd devices", context->n_devices);
    }
    return on_device(context != NULL && context->n_devices == 1 ? context->devices[0] : NULL);
}

/* An attribute queried from the driver, or NULL without an exception. */
static PyObject *asked(PyObject *op, const char *name) {
    PyObject *value = PyObject_GetAttrString(op, name);
    if (value == NULL) {
        PyErr_Clear();
    }
    return value;
}

static PyObject *image_repr(Memory *self, PyObject *on, const char *flags) {
    PyObject *shape = asked((PyObject *)self, "shape"), *format = asked((PyObject *)self, "format");
    PyObject *repr =
        shape != NULL && format != NULL
            ? PyUnicode_FromFormat("<%s %R, %R%s%U at %p>", Py_TYPE(self)->tp_name, shape, format,
                                   flags, on, (void *)self->mem)
            : PyUnicode_FromFormat("<%s%U at %p>", Py_TYPE(self)->tp_name, on, (void *)self->mem);
    Py_XDECREF(shape);
    Py_XDECREF(format);
    return repr;
}

PyObject *ocl_memory_repr(PyObject *op) {
    Memory *self = (Memory *)op;
    const char *name = Py_TYPE(op)->tp_name;
    if (self->mem == NULL) {
        return PyUnicode_FromFormat(self->context != NULL ? "<%s, released>" : "<%s, not made yet>",
                                    name);
    }
    PyObject *on = on_context(self->context), *repr = NULL;
    char flags[TEXT_OF_FLAGS];
    put_flags(flags, memory_flags, self->flags);
    if (on == NULL) {
        return NULL;
    }
    if (PyObject_TypeCheck(op, self->state->ImageType)) {
        repr = image_repr(self, on, flags);
    } else {
        repr = PyUnicode_FromFormat("<%s of %zu bytes%s%U at %p>", name, self->size, flags, on,
                                    (void *)self->mem);
    }
    Py_DECREF(on);
    return repr;
}

PyObject *ocl_svm_repr(PyObject *op) {
    Svm *self = (Svm *)op;
    const char *name = Py_TYPE(op)->tp_name;
    if (self->pointer == NULL && self->size > 0) {
        return PyUnicode_FromFormat("<%s, released>", name);
    }
    if (self->context == NULL) {
        return PyUnicode_FromFormat("<%s of %zu bytes at %p>", name, self->size, self->pointer);
    }
    PyObject *on = on_context(self->context), *repr = NULL;
    if (on != NULL) {
        repr =
            PyUnicode_FromFormat("<%s of %zu bytes%U at %p>", name, self->size, on, self->pointer);
        Py_DECREF(on);
    }
    return repr;
}

PyObject *ocl_queue_repr(PyObject *op) {
    Queue *self = (Queue *)op;
    const char *name = Py_TYPE(op)->tp_name;
    if (self->queue == NULL) {
        return PyUnicode_FromFormat("<%s, not made yet>", name);
    }
    char flags[TEXT_OF_FLAGS];
    put_flags(flags, queue_flags, self->properties);
    PyObject *on = on_device(self->device), *repr = NULL;
    if (on != NULL) {
        repr = PyUnicode_FromFormat("<%s%U%s at %p>", name, on, flags, (void *)self->queue);
        Py_DECREF(on);
    }
    return repr;
}

PyObject *ocl_event_repr(PyObject *op) {
    Event *self = (Event *)op;
    const char *name = Py_TYPE(op)->tp_name, *state = "";
    if (self->event == NULL) {
        return PyUnicode_FromFormat("<%s, not made yet>", name);
    }
    PyObject *status = asked(op, "command_execution_status");
    if (status != NULL) {
        static const char *const states[] = {" complete", " running", " submitted", " queued"};
        long number = PyLong_AsLong(status);
        Py_DECREF(status);
        if (number < 0) {
            PyErr_Clear();
            return PyUnicode_FromFormat("<%s failed with status %ld at %p>", name, number,
                                        (void *)self->event);
        }
        state = number <= CL_QUEUED ? states[number] : "";
    }
    return PyUnicode_FromFormat("<%s%s at %p>", name, state, (void *)self->event);
}

/* Does not create the handle, and does not look up kernels that were not used yet. */
PyObject *ocl_program_repr(PyObject *op) {
    static const char *const stages[] = {"not built", "not built: the last build failed",
                                         "compiled, not linked", "built"};
    Program *self = (Program *)op;
    const char *name = Py_TYPE(op)->tp_name;
    if (self->context == NULL) {
        return PyUnicode_FromFormat("<%s, not made yet>", name);
    }
    PyObject *on = on_context(self->context), *repr = NULL;
    if (on != NULL) {
        repr = PyUnicode_FromFormat("<%s %s,%U at %p>", name, stages[self->stage], on, (void *)op);
        Py_DECREF(on);
    }
    return repr;
}

static const FlagRow sampler_modes[] = {
    /* addressing, then filters */
    {0x1130, "NONE"},
    {0x1131, "CLAMP_TO_EDGE"},
    {0x1132, "CLAMP"},
    {0x1133, "REPEAT"},
    {0x1134, "MIRRORED_REPEAT"},
    {0x1140, "NEAREST"},
    {0x1141, "LINEAR"},
    {0, NULL},
};

/* The name of a sampler's mode, "?" if it is unknown. */
static const char *mode_name(PyObject *op, const char *attribute) {
    PyObject *value = asked(op, attribute);
    long number = value != NULL ? PyLong_AsLong(value) : -1;
    const FlagRow *row = sampler_modes;
    Py_XDECREF(value);
    PyErr_Clear();
    while (row->name != NULL && (long)row->bit != number) {
        row++;
    }
    return row->name != NULL ? row->name : "?";
}

PyObject *ocl_sampler_repr(PyObject *op) {
    PyObject *normalized = asked(op, "normalized_coords");
    const char *addressing = mode_name(op, "addressing_mode");
    PyObject *repr = PyUnicode_FromFormat(
        "<%s %s, %s%s at %p>", Py_TYPE(op)->tp_name, addressing, mode_name(op, "filter_mode"),
        normalized == Py_True ? ", normalized coordinates" : "", (void *)op);
    Py_XDECREF(normalized);
    return repr;
}

PyObject *ocl_allocator_repr(PyObject *op) {
    Allocator *self = (Allocator *)op;
    const char *name = Py_TYPE(op)->tp_name;
    if (self->context == NULL) {
        return PyUnicode_FromFormat("<%s, not made yet>", name);
    }
    char flags[TEXT_OF_FLAGS];
    put_flags(flags, memory_flags, self->flags);
    PyObject *on = on_context(self->context), *repr = NULL;
    if (on != NULL) {
        repr = PyUnicode_FromFormat("<%s%s%U>", name, flags[0] ? flags + 1 : "", on);
        Py_DECREF(on);
    }
    return repr;
}
