/* memory.c - MemoryObjectHolder and MemoryObject: what buffers, images, pipes and pooled buffers
 * share. */
#include "opencl/api/info.h"
#include "opencl/context.h"
#include "opencl/lifetime/deferred_init.h"
#include "opencl/memory.h"
#include "common/host_array.h"
#include "opencl/objects/program.h"
#include "opencl/objects/region.h"
#include "opencl/objects/repr.h"
#include "opencl/opencl.h"

enum {
#define MEM_INFO(attr, KIND, number, PARAM, unit, text) ROW_##attr,
#include "opencl/api/info.def"
    ROW_COUNT
};
static const Info Memory_info[] = {
#define MEM_INFO(attr, KIND, number, PARAM, unit, text) {#attr, INFO_##KIND, PARAM},
#include "opencl/api/info.def"
};

static cl_int Memory_query(void *self, cl_uint param, size_t size, void *value, size_t *size_ret) {
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clGetMemObjectInfo, ((Memory *)self)->mem, param, size, value, size_ret);
    if (PG_UNLIKELY(((Memory *)self)->added_flags != 0) && param == CL_MEM_FLAGS &&
        status == CL_SUCCESS && value != NULL && size >= sizeof(cl_bitfield)) {
        *(cl_bitfield *)value &= ~((Memory *)self)->added_flags;
    }
    return status;
}

/* Objects whose handle others may know, so that from_int_ptr() can copy from them instead of
 * querying the driver. Borrowed, two per slot. Pooled buffers are excluded, because their handles
 * move between objects. */
#define N_SHARED 128
static Memory *shared[N_SHARED][2];

static Memory **given_by(cl_mem mem) {
    return shared[((uintptr_t)mem >> 4 ^ (uintptr_t)mem >> 11) % N_SHARED];
}

static void note_given(Memory *self, int instead_of_another) {
    if (self->pool == NULL && self->mem != NULL) {
        Memory **slot = given_by(self->mem);
        if (slot[0] == NULL || slot[0] == self) {
            slot[0] = self;
        } else if (slot[1] == NULL || instead_of_another) {
            slot[1] = self;
        }
    }
}

static void forget_shared(Memory *self, cl_mem mem) {
    Memory **slot = given_by(mem);
    for (int i = 0; i < 2; i++) {
        if (slot[i] == self) {
            slot[i] = NULL;
        }
    }
}

static const Memory *find_given(State *state, cl_mem mem) {
    Memory *const *slot = given_by(mem);
    for (int i = 0; i < 2 && !PG_UNLIKELY(pg_trap);
         i++) { /* tests that count or fail calls must see all of them */
        if (slot[i] != NULL && slot[i]->mem == mem && slot[i]->state == state) {
            return slot[i];
        }
    }
    return NULL;
}

int ocl_memory_alive(Memory *self, const char *call) {
    if (PG_UNLIKELY(self->mem == NULL)) {
        if (self->context == NULL) {
            return ocl_refuse_uninitialized(self->state, call, pg_type_name((PyObject *)self),
                                            CL_INVALID_MEM_OBJECT);
        }
        ocl_reject(self->state, call, CL_INVALID_MEM_OBJECT, "the %s was released",
                   pg_type_name((PyObject *)self));
        return -1;
    }
    return 0;
}

/* Releases the object's own reference. */
static void release_own(Memory *self, cl_mem mem) {
    CL_RELEASE(LIVE_MEM, clReleaseMemObject, mem);
    if (self->region != NULL) {
        ocl_region_release(self);
    } else if (PG_UNLIKELY(self->regions != NULL)) {
        ocl_region_drop_unused(self);
    }
}

void ocl_memory_unpin(Memory *self) {
    if (--self->users == 0 && self->retired != NULL) {
        cl_mem mem = self->retired;
        self->retired = NULL;
        release_own(self, mem);
    }
}

int ocl_memory_fill(Memory *self, cl_mem mem, Context *context) {
    State *state = self->state;
    const Memory *twin = context == NULL ? find_given(state, mem) : NULL;
    self->mem = mem;
    ocl_live[LIVE_MEM]++;
    if (twin != NULL) {
        self->context = (Context *)Py_NewRef(twin->context);
        self->type = twin->type;
        self->flags = twin->flags | twin->added_flags;
        self->size = twin->size;
        return 0;
    }
    self->context = (Context *)Py_XNewRef(context);
    if (context == NULL) {
        cl_context handle = NULL;
        cl_int status = Memory_query(self, CL_MEM_CONTEXT, sizeof handle, &handle, NULL);
        if (status != CL_SUCCESS) {
            ocl_raise(state, "clGetMemObjectInfo", status);
            return -1;
        }
        self->context = (Context *)ocl_context_wrap(state, handle);
        if (self->context == NULL) {
            return -1;
        }
    }
    self->type = (cl_mem_object_type)ocl_info_number(self, Memory_query, CL_MEM_TYPE);
    self->flags = ocl_info_number(self, Memory_query, CL_MEM_FLAGS);
    self->size = (size_t)ocl_info_number(self, Memory_query, CL_MEM_SIZE);
    if (context == NULL) {
        note_given(self, 0);
    }
    return 0;
}

PyObject *ocl_memory_wrap(State *state, PyTypeObject *type, cl_mem mem, int retain,
                          Context *context) {
    cl_int status = CL_SUCCESS;
    if (retain) {
        CL_CALL(status, clRetainMemObject, mem);
        if (status != CL_SUCCESS) {
            return ocl_raise(state, "clRetainMemObject", status);
        }
    }
    if (type == NULL) {
        const Memory *twin = find_given(state, mem);
        cl_mem_object_type kind = twin != NULL ? twin->type : CL_MEM_OBJECT_BUFFER;
        if (twin == NULL) {
            CL_CALL(status, clGetMemObjectInfo, mem, CL_MEM_TYPE, sizeof kind, &kind, NULL);
        }
        type = kind == CL_MEM_OBJECT_BUFFER ? state->BufferType
               : kind == CL_MEM_OBJECT_PIPE ? state->PipeType
                                            : state->ImageType;
    }
    Memory *self = (Memory *)PG_NEW(type);
    if (self == NULL) {
        CL_CALL(status, clReleaseMemObject, mem);
        return NULL;
    }
    self->state = state;
    if (ocl_memory_fill(self, mem, context) < 0) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

Memory *ocl_as_memory(State *state, PyObject *obj, const char *call, const char *name,
                      cl_context context) {
    if (!PyObject_TypeCheck(obj, state->MemoryObjectHolderType)) {
        PyErr_Format(PyExc_TypeError, "%s: %s must be a memory object (Buffer, Image, ...), not %s",
                     call, name, pg_type_name(obj));
        return NULL;
    }
    Memory *self = (Memory *)obj;
    if (ocl_memory_alive(self, call) < 0) {
        return NULL;
    }
    if (context != NULL && self->context->context != context) {
        ocl_reject(state, call, CL_INVALID_CONTEXT, "%s belongs to another context", name);
        return NULL;
    }
    return self;
}

Memory *ocl_as_buffer(State *state, PyObject *obj, const char *call, const char *name,
                      cl_context context) {
    Memory *self = ocl_as_memory(state, obj, call, name, context);
    if (self != NULL &&
        self->type !=
            CL_MEM_OBJECT_BUFFER) { /* Intel's CPU runtime copies, PoCL copies to the host */
        ocl_reject_type(state, call, CL_INVALID_MEM_OBJECT, "%s must be a buffer, not %s", name,
                        pg_type_name(obj));
        return NULL;
    }
    return self;
}

int ocl_memory_traverse(PyObject *op, visitproc visit, void *arg) {
    Memory *self = (Memory *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->context);
    Py_VISIT(self->hostbuf);
    Py_VISIT(self->parent);
    Py_VISIT(self->dict);
    return 0;
}

static int Memory_clear(PyObject *op) { /* the device uses hostbuf until the driver destroys the
                                         * memory object */
    Py_CLEAR(((Memory *)op)->dict);
    return 0;
}

void ocl_memory_dealloc(PyObject *op) {
    Memory *self = (Memory *)op;
    pg_untrack(op, self->weakrefs);
    if (self->mem != NULL) {
        cl_mem mem = self->mem;
        self->mem = NULL;
        forget_shared(self, mem);
        release_own(self, mem);
    }
    if (self->parent != NULL && self->pool != NULL) { /* see Buffer_region */
        ocl_memory_unpin((Memory *)self->parent);
    }
    Py_XDECREF(self->parent);
    Py_XDECREF(self->hostbuf);
    Py_XDECREF(self->context);
    Py_XDECREF(self->dict);
    pg_object_free(op);
}

static PyObject *Memory_get(PyObject *op, void *closure) {
    Memory *self = (Memory *)op;
    const Info *row = &Memory_info[(intptr_t)closure];
    if (ocl_memory_alive(self, row->name) < 0) {
        return NULL;
    }
    if (row->param == CL_MEM_CONTEXT) {
        return Py_NewRef(self->context);
    }
    return ocl_info(self->state, op, Memory_query, "clGetMemObjectInfo", row);
}

static PyObject *Memory_get_info(PyObject *op, PyObject *param) {
    Memory *self = (Memory *)op;
    if (ocl_memory_alive(self, "get_info") < 0) {
        return NULL;
    }
    return ocl_info_by_param(self->state, op, Memory_query, "clGetMemObjectInfo", Memory_info,
                             ROW_COUNT, Memory_get, param);
}

static PyObject *Memory_release(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Memory *self = (Memory *)op;
    if (self->mem == NULL) {
        return ocl_reject(self->state, "MemoryObject.release", CL_INVALID_VALUE,
                          "the %s was already released", pg_type_name(op));
    }
    cl_mem mem = self->mem;
    self->mem = NULL;
    forget_shared(self, mem);
    if (self->users > 0) {
        self->retired = mem;
    } else {
        release_own(self, mem);
    }
    if (!self->exposed) {
        Py_CLEAR(self->hostbuf); /* the driver's own record keeps it locked until then */
    }
    Py_RETURN_NONE;
}

PG_DOC(Memory_get_host_array__doc__, "get_host_array", "$self, shape, dtype, order='C'",
       "(shape: int | Sequence[int], dtype: DTypeLike, order: str = 'C') -> numpy.ndarray",
       "The host memory of an object made with mem_flags.USE_HOST_PTR, as an array that keeps the "
       "object alive.\n\n"
       "It shows the device's writes only while mapped. Raises ValueError past the end, LogicError "
       "without USE_HOST_PTR.");
PG_FUNCTION(Memory_get_host_array, 3)
static PyObject *Memory_get_host_array_impl(PyObject *op, PyObject *const *a) {
    Memory *self = (Memory *)op;
    PyObject *result = NULL;
    const char *call = "MemoryObject.get_host_array";
    void *pointer = NULL;
    if (ocl_memory_alive(self, call) < 0) {
        return NULL;
    }
    if (!(self->flags & CL_MEM_USE_HOST_PTR)) {
        return ocl_reject(self->state, call, CL_INVALID_VALUE,
                          "the object was not made with mem_flags.USE_HOST_PTR");
    }
    cl_int status = Memory_query(self, CL_MEM_HOST_PTR, sizeof pointer, &pointer, NULL);
    self->exposed = 1; /* from here on, because parsing the arguments below may run code that
                        * releases it */
    if (status != CL_SUCCESS || pointer == NULL) {
        return ocl_raise(self->state, "clGetMemObjectInfo",
                         status != CL_SUCCESS ? status : CL_INVALID_VALUE);
    }
    PyArrayObject *array = pg_array_over(op, call, a[0], a[1], a[2], NULL, pointer, self->size, 1);
    result = (PyObject *)array;
    return result;
}

static PyObject *Memory_get_int_ptr(PyObject *op, void *closure) {
    Memory *self = (Memory *)op;
    note_given(self, 1);
    self->exposed = 1;
    cl_int status = pg_launch_deferred(); /* whoever gets the handle may read the memory */
    return status == CL_SUCCESS ? ocl_handle_int_ptr(op, closure)
                                : ocl_raise(self->state, "clEnqueueNDRangeKernel", status);
}

static PyObject *Memory_of_handle(State *state, PyTypeObject *type, void *handle, int retain) {
    int general = type == state->MemoryObjectHolderType || type == state->MemoryObjectType;
    return ocl_memory_wrap(state, general ? NULL : type, (cl_mem)handle, retain, NULL);
}

OCL_FROM_INT_PTR(Memory, "MemoryObject", "Self", "Memory object of a cl_mem")

static PyMethodDef Memory_methods[] = {
    PG_NO_PICKLE,
    INFO_METHOD(Memory_get_info, "mem_info"),
    {"get_host_array", FAST(Memory_get_host_array), Memory_get_host_array__doc__},
    OCL_FROM_INT_PTR_METHOD(Memory),
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef Memory_getset[] = {
#define MEM_INFO(attr, KIND, number, PARAM, unit, text) \
    INFO_GETSET(ROW_##attr, #attr, Memory_get, KIND, #PARAM, unit, text)
#include "opencl/api/info.def"
    {"int_ptr", Memory_get_int_ptr, NULL, "int: the cl_mem of the driver", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
PG_DICT_MEMBERS(Memory, Memory);
static PyType_Slot MemoryObjectHolder_slots[] = {
    {Py_tp_doc, (void *)"Memory that kernels can use: the base of Buffer, Image, Pipe and "
                        "PooledBuffer. It cannot be instantiated."},
    {Py_tp_traverse, (void *)ocl_memory_traverse},
    {Py_tp_clear, (void *)Memory_clear},
    {Py_tp_dealloc, (void *)ocl_memory_dealloc},
    {Py_tp_repr, (void *)ocl_memory_repr},
    OCL_HANDLE_SLOTS,
    PG_TABLE_SLOTS(Memory),
    {0, NULL},
};
OCL_TYPE(MemoryObjectHolder, Memory,
         Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION);

static PyMethodDef MemoryObject_methods[] = {
    {"release", Memory_release, METH_NOARGS,
     "release($self, /)\n--\n\n() -> None\n\nFree the memory now instead of when the object is "
     "dropped. Any later use raises an error."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef MemoryObject_getset[] = {
    PG_FIELD("hostbuf", object, Memory, hostbuf, "object: the hostbuf of USE_HOST_PTR, else None"),
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot MemoryObject_slots[] = {
    {Py_tp_doc, (void *)"A memory object that is not part of a pool."},
    {Py_tp_dealloc, (void *)ocl_memory_dealloc},
    {Py_tp_methods, MemoryObject_methods},
    {Py_tp_getset, MemoryObject_getset},
    {0, NULL},
};
OCL_TYPE(MemoryObject, Memory, Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION);
