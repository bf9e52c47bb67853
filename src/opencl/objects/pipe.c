/* pipe.c - Pipe: a first-in, first-out queue of packets between kernels (OpenCL 2.0). */
#include "opencl/api/info.h"
#include "opencl/context.h"
#include "opencl/device.h"
#include "opencl/lifetime/deferred_init.h"
#include "opencl/lifetime/gil_release.h"
#include "opencl/memory.h"
#include "opencl/objects/program.h"
#include "opencl/opencl.h"
#include "opencl/platform.h"

enum {
#define PIPE_INFO(attr, KIND, number, PARAM, unit, text) ROW_##attr,
#include "opencl/api/info.def"
    ROW_COUNT
};
static const Info Pipe_info[] = {
#define PIPE_INFO(attr, KIND, number, PARAM, unit, text) {#attr, INFO_##KIND, PARAM},
#include "opencl/api/info.def"
};

#define MAX_PROPERTIES 32

static cl_int Pipe_query(void *self, cl_uint param, size_t size, void *value, size_t *size_ret) {
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clGetPipeInfo, ((Memory *)self)->mem, param, size, value, size_ret);
    return status;
}

/* The largest packet size of any device with pipes, 0 if there is none: OpenCL 2.x requires pipes,
 * 1.x and 3.0 do not. */
static cl_ulong max_packet_size(Context *context) {
    cl_ulong most = 0;
    for (Py_ssize_t i = 0; i < context->n_devices; i++) {
        Device *device = context->devices[i];
        int has = device->version >= 300
                      ? ocl_info_number(device, ocl_device_query, CL_DEVICE_PIPE_SUPPORT) != 0
                      : device->version >= 200;
        cl_ulong size =
            has ? ocl_info_number(device, ocl_device_query, CL_DEVICE_PIPE_MAX_PACKET_SIZE) : 0;
        most = size > most ? size : most;
    }
    return most;
}

/* Reads alternating keys and values. Returns the number of entries without the terminator; -1 with
 * an exception. */
static int as_properties(State *state, PyObject *arg, cl_pipe_properties *list) {
    PyObject *items = pg_tuple(arg, "Pipe", "properties", "ints", 1000);
    if (items == NULL) {
        return -1;
    }
    int result = -1;
    Py_ssize_t n = PyTuple_GET_SIZE(items);
    if (n > MAX_PROPERTIES) {
        ocl_reject(state, "Pipe", CL_INVALID_VALUE,
                   "properties has %zd entries, at most %d are allowed", n, MAX_PROPERTIES);
        goto done;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        int64_t value;
        if (pg_as_i64(PyTuple_GET_ITEM(items, i), "Pipe", "each of properties", &value) < 0) {
            goto done;
        }
        list[i] = (cl_pipe_properties)value;
    }
    if (n % 2 == 1 && list[n - 1] == 0) {
        n--; /* drop the terminator, which Pipe.properties includes */
    }
    if (n % 2 == 1) {
        ocl_reject(state, "Pipe", CL_INVALID_VALUE,
                   "properties must be pairs of a key and a value");
        goto done;
    }
    list[n] = 0;
    result = (int)n;
done:
    Py_DECREF(items);
    return result;
}

PG_DOC(Pipe__doc__, "Pipe", "context, flags, packet_size, max_packets, properties=()",
       "(context: Context, flags: int, packet_size: int, max_packets: int, properties: "
       "Sequence[int] = ())",
       "A queue of at most *max_packets* packets of *packet_size* bytes, which one kernel writes "
       "and another reads.\n\n"
       "flags: mem_flags.READ_WRITE, HOST_NO_ACCESS or 0. properties: none are defined so far. The "
       "host cannot access a pipe.\n\n"
       "Raises LogicError if no device of the context has pipes, or for sizes beyond its limits.");
static ArgSpec Pipe_args = PG_ARGSPEC(Pipe__doc__);

static int check_sizes(State *state, Context *context, cl_uint packet_size, cl_uint max_packets) {
    if (packet_size == 0 || max_packets == 0) {
        ocl_reject(state, "Pipe", CL_INVALID_PIPE_SIZE,
                   "packet_size and max_packets must be positive, got %u and %u",
                   (unsigned)packet_size, (unsigned)max_packets);
        return -1;
    }
    cl_ulong largest = max_packet_size(context);
    if (largest == 0) {
        ocl_reject(state, "Pipe", CL_INVALID_OPERATION,
                   "no device of the context has pipes (Device.pipe_support)");
        return -1;
    }
    if (packet_size > largest) {
        ocl_reject(state, "Pipe", CL_INVALID_PIPE_SIZE,
                   "packet_size = %u bytes is more than the %llu that the device allows "
                   "(Device.pipe_max_packet_size)",
                   (unsigned)packet_size, (unsigned long long)largest);
        return -1;
    }
    return 0;
}

static PyObject *Pipe_construct(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *a[5];
    Context *context;
    uint64_t flags;
    cl_uint packet_size, max_packets;
    cl_pipe_properties list[MAX_PROPERTIES + 1];
    int n = 0;
    State *state = ocl_state_of(type);
    if (state == NULL || pg_args_tuple(&Pipe_args, args, kwargs, a) < 0 ||
        (context = ocl_as_context(state, a[0], "Pipe")) == NULL ||
        pg_as_u64(a[1], "Pipe", "flags", &flags) < 0 ||
        pg_as_u32(a[2], "Pipe", "packet_size", &packet_size) < 0 ||
        pg_as_u32(a[3], "Pipe", "max_packets", &max_packets) < 0 ||
        (a[4] != NULL && a[4] != Py_None && (n = as_properties(state, a[4], list)) < 0) ||
        ocl_need_version(state, "clCreatePipe", context->version, 200) < 0 ||
        check_sizes(state, context, packet_size, max_packets) < 0) {
        return NULL;
    }
    Memory *self = (Memory *)PG_NEW(type);
    if (self == NULL) {
        return NULL;
    }
    self->state = state;
    cl_int status;
    int tries = 0, again;
    cl_mem mem;
    do {
        status = CL_SUCCESS;
        Py_BEGIN_ALLOW_THREADS
        CL_MAKE(mem, status, clCreatePipe, context->context, flags, packet_size, max_packets,
                n > 0 ? list : NULL);
        Py_END_ALLOW_THREADS
        again = status == CL_SUCCESS ? 0 : ocl_retry(state, status, &tries);
    } while (again == 1);
    if (status != CL_SUCCESS || mem == NULL) {
        if (again >= 0) {
            ocl_raise(state, "clCreatePipe", status != CL_SUCCESS ? status : CL_OUT_OF_RESOURCES);
        }
        Py_DECREF(self);
        return NULL;
    }
    ocl_live[LIVE_MEM]++;
    self->mem = mem;
    self->context = (Context *)Py_NewRef(context);
    self->flags = flags;
    self->type = CL_MEM_OBJECT_PIPE;
    return (PyObject *)self;
}

OCL_MADE_BY_INIT(Pipe, Memory, PipeType, OCL_HAS_CONTEXT_OR_MEM)

static PyObject *Pipe_get(PyObject *op, void *closure) {
    Memory *self = (Memory *)op;
    const Info *row = &Pipe_info[(intptr_t)closure];
    if (ocl_memory_alive(self, row->name) < 0) {
        return NULL;
    }
    return ocl_info(self->state, op, Pipe_query, "clGetPipeInfo", row);
}

static PyObject *Pipe_get_pipe_info(PyObject *op, PyObject *param) {
    Memory *self = (Memory *)op;
    if (ocl_memory_alive(self, "get_pipe_info") < 0) {
        return NULL;
    }
    return ocl_info_by_param(self->state, op, Pipe_query, "clGetPipeInfo", Pipe_info, ROW_COUNT,
                             Pipe_get, param);
}

static PyMethodDef Pipe_methods[] = {
    {"get_pipe_info", Pipe_get_pipe_info, METH_O,
     "get_pipe_info($self, param, /)\n--\n\n(param: int, /) -> object\n\nAnswer to a query by "
     "number (pipe_info.NAME)."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef Pipe_getset[] = {
#define PIPE_INFO(attr, KIND, number, PARAM, unit, text) \
    INFO_GETSET(ROW_##attr, #attr, Pipe_get, KIND, #PARAM, unit, text)
#include "opencl/api/info.def"
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot Pipe_slots[] = {
    PG_NEW_SLOTS(Pipe),
    {Py_tp_dealloc, (void *)ocl_memory_dealloc},
    {Py_tp_methods, Pipe_methods},
    {Py_tp_getset, Pipe_getset},
    {0, NULL},
};
OCL_TYPE(Pipe, Memory, Py_TPFLAGS_BASETYPE);
