/* function_pointer.c - what a kernel's pointer parameter accepts: allocations, addresses, objects
 * of other libraries. */
#include "common/gpuarray.h"
#include "cuda/cuda.h"
#include "cuda/memory.h"
#include "cuda/objects/function.h"
#include "cuda/stream.h"

/* Raises for objects that cannot be used now: freed, or of another context. */
static int reject(Function *self, Py_ssize_t i, CUresult status, const char *what, PyObject *arg) {
    PyObject *name = function_argument_name(self, i);
    if (name != NULL) {
        cud_reject(self->state, "cuLaunchKernel", status, "%U: the %s %s", name, pg_type_name(arg),
                   what);
        Py_DECREF(name);
    }
    return -1;
}

/* ---- temporaries ----------------------------------------------------------------------------- */

int keep_add(Keep *keep, PyObject *object) {
    if (keep->n < KEEP_MANY) {
        keep->items[keep->n++] = object;
        return 0;
    }
    if (keep->more == NULL) {
        keep->more = PyList_New(0);
    }
    int failed = keep->more == NULL || PyList_Append(keep->more, object) < 0;
    Py_DECREF(object);
    return failed ? -1 : 0;
}

void keep_clear(Keep *keep) {
    for (int k = 0; k < keep->n; k++) {
        Py_DECREF(keep->items[k]);
    }
    Py_CLEAR(keep->more);
    keep->n = 0;
}

/* ---- pointers -------------------------------------------------------------------------------- */

static int takes_pointer(const Param *param) {
    return param->size == sizeof(CUdeviceptr) &&
           (param->kind == PARAM_POINTER || param->kind == PARAM_INTEGER ||
            param->kind == PARAM_UNKNOWN);
}

static int refuse_pointer(Function *self, Py_ssize_t i, const Param *param, PyObject *arg) {
    if (param->size != sizeof(CUdeviceptr)) {
        return function_refuse(self, i, "expected %u bytes, but %s is a pointer of %u",
                               (unsigned)param->size, Py_TYPE(arg)->tp_name,
                               (unsigned)sizeof(CUdeviceptr));
    }
    return function_refuse(self, i, "the parameter is not a pointer, but %s is; pass a %s",
                           Py_TYPE(arg)->tp_name, function_numpy_type(param));
}

/* Whether kernels of the function's context can access memory of another context: managed memory,
 * and that of another device for which access has been or can be enabled with
 * enable_peer_access. */
static int reaches(Function *self, Context *other, PyObject *arg) {
    if (PyObject_TypeCheck(arg, self->state->ManagedAllocationType)) {
        return 1;
    }
    int can = 0;
    CUresult status = CUDA_SUCCESS;
    if (other->device != self->context->device) {
        CU_CALL(status, cuDeviceCanAccessPeer, &can, self->context->device, other->device);
    }
    return status == CUDA_SUCCESS && can;
}

int function_use_allocation(Function *self, Py_ssize_t i, Param *param, PyObject *arg,
                            unsigned char *at, const Launch *launch) {
    Allocation *allocation = (Allocation *)arg;
    if (!takes_pointer(param)) {
        return refuse_pointer(self, i, param, arg);
    }
    if (allocation->freed) {
        return reject(self, i, CUDA_ERROR_INVALID_VALUE, "was freed", arg);
    }
    Context *context = allocation->context;
    if (context != NULL && context != self->context) {
        if (!context->alive) {
            return reject(self, i, CUDA_ERROR_INVALID_CONTEXT,
                          "belongs to a context that was destroyed", arg);
        }
        if (!reaches(self, context, arg)) {
            return reject(self, i, CUDA_ERROR_INVALID_CONTEXT,
                          "belongs to another context than the kernel", arg);
        }
    }
    if (cud_allocation_use(allocation, launch->stream, launch->stream_object) < 0) {
        return -1;
    }
    memcpy(at, &allocation->ptr, sizeof allocation->ptr);
    if (Py_TYPE(arg) == self->state->DeviceAllocationType ||
        Py_TYPE(arg) == self->state->PooledDeviceAllocationType) {
        param->exact = Py_TYPE(arg);
        param->copy = COPY_ALLOCATION;
    }
    return 0;
}

int function_store_address(Function *self, Py_ssize_t i, const Param *param, PyObject *arg,
                           PyObject *number, unsigned char *at) {
    CUdeviceptr pointer;
    if (!takes_pointer(param)) {
        return refuse_pointer(self, i, param, arg);
    }
    pointer = PyLong_AsUnsignedLongLong(number);
    if (pointer == (CUdeviceptr)-1 && PyErr_Occurred()) {
        return function_refuse_range(self, i, number, "a pointer");
    }
    memcpy(at, &pointer, sizeof pointer);
    return 0;
}

/* Handles the result of an attribute or a method: an allocation, a number, or an object that is
 * either. Takes over the reference. */
int function_use_pointer(Function *self, Py_ssize_t i, Param *param, PyObject *arg,
                         PyObject *pointer, unsigned char *at, const Launch *launch, Keep *keep) {
    State *state = self->state;
    int result;
    if (PyObject_TypeCheck(pointer, state->DeviceAllocationType) ||
        PyObject_TypeCheck(pointer, state->PooledDeviceAllocationType)) {
        PyTypeObject *exact = param->exact;
        uint8_t copy = param->copy;
        result = function_use_allocation(self, i, param, pointer, at, launch);
        param->exact = exact; /* it refers to the pointer's type, not to the argument's */
        param->copy = copy;
    } else if (PyLong_CheckExact(pointer)) {
        result = function_store_address(self, i, param, arg, pointer, at);
    } else if (PyObject_TypeCheck(pointer, state->PointerHolderBaseType)) {
        PyObject *number = PyObject_CallMethod(pointer, "get_pointer", NULL);
        PyObject *index = number != NULL ? PyNumber_Index(number) : NULL;
        result = index != NULL ? function_store_address(self, i, param, arg, index, at) : -1;
        Py_XDECREF(index);
        if (number != NULL && keep_add(keep, number) < 0) {
            result = -1;
        }
    } else {
        PyObject *index = PyNumber_Index(pointer);
        result = index != NULL ? function_store_address(self, i, param, arg, index, at)
                 : PyErr_ExceptionMatches(PyExc_TypeError)
                     ? (PyErr_Clear(),
                        function_refuse(self, i, "expected a pointer, but %s returned a %s",
                                        Py_TYPE(arg)->tp_name, Py_TYPE(pointer)->tp_name))
                     : -1;
        Py_XDECREF(index);
    }
    if (result == 0 && !PyLong_CheckExact(pointer)) {
        return keep_add(keep, pointer); /* freeing it would free its memory; converting another
                                         * argument may make the object that returned it drop it */
    }
    Py_DECREF(pointer);
    return result;
}

/* Waits for work that another library has queued on its stream for this array (version 3 of the
 * interface). */
static int wait_for_producer(Function *self, Py_ssize_t i, PyObject *stream, const Launch *launch) {
    if (stream == NULL || stream == Py_None) {
        return 0;
    }
    uint64_t handle;
    if (pg_as_u64(stream, "__cuda_array_interface__", "stream", &handle) < 0) {
        return -1;
    }
    if (handle == 0) {
        return function_refuse(
            self, i, "__cuda_array_interface__ gives the stream 0, which the protocol forbids");
    }
    CUstream producer = (CUstream)(uintptr_t)handle;
    if (producer == launch->stream || (producer == CU_STREAM_LEGACY && launch->stream == NULL)) {
        return 0;
    }
    const char *routine;
    CUresult status = cud_order_after(launch->stream, producer, &routine);
    if (status != CUDA_SUCCESS) {
        cud_raise_with(self->state, routine, status, "the stream of a __cuda_array_interface__");
        return -1;
    }
    return 0;
}

/* Gets the attribute; 0 and NULL without an exception if there is none. */
static int optional(PyObject *obj, PyObject *name, PyObject **out) {
#if PY_VERSION_HEX >= 0x030D0000
    return PyObject_GetOptionalAttr(obj, name, out);
#else
    return _PyObject_LookupAttr(obj, name, out); /* available since Python 3.7 */
#endif
}

/* Interned, and kept until the process ends. */
static PyObject *gpudata_name, *interface_name, *data_name, *stream_name, *mask_name, *dtype_name,
    *typestr_name;

static int make_name(PyObject **name, const char *text) {
    if (PG_UNLIKELY(*name == NULL)) {
        *name = PyUnicode_InternFromString(text);
    }
    return *name != NULL ? 0 : -1;
}

/* Checks arrays of other classes that have a dtype and gpudata. */
static int check_dtype_of(Function *self, Py_ssize_t i, Param *param, PyObject *arg) {
    PyObject *dtype;
    if (pg_items_unchecked(&param->items)) {
        return 0;
    }
    int found = make_name(&dtype_name, "dtype") < 0 ? -1 : optional(arg, dtype_name, &dtype);
    if (found <= 0) {
        return found;
    }
    int result = PyArray_DescrCheck(dtype)
                     ? function_check_dtype(self, i, param, arg, (PyArray_Descr *)dtype)
                     : 0;
    Py_DECREF(dtype);
    return result;
}

int function_use_gpudata(Function *self, Py_ssize_t i, Param *param, PyObject *arg,
                         unsigned char *at, const Launch *launch, Keep *keep) {
    PyObject *gpudata;
    int found = make_name(&gpudata_name, "gpudata") < 0 ? -1
                                                        : optional(arg, gpudata_name, &gpudata);
    if (found <= 0) {
        return found;
    }
    if (check_dtype_of(self, i, param, arg) < 0) {
        Py_DECREF(gpudata);
        return -1;
    }
    if (gpudata == Py_None) { /* an array without items */
        Py_SETREF(gpudata, PyLong_FromLong(0));
        if (gpudata == NULL) {
            return -1;
        }
    }
    if (function_use_pointer(self, i, param, arg, gpudata, at, launch, keep) < 0) {
        return -1;
    }
    param->exact = Py_TYPE(arg); /* only compared: if the type is freed and another takes its
                                  * address, the worst case is a missing gpudata */
    param->copy = COPY_GPUDATA;
    return 1;
}

/* Checks the interface's item type; the fields of a record are not checked. */
static int check_typestr(Function *self, Py_ssize_t i, Param *param, PyObject *arg,
                         PyObject *interface) {
    if (pg_items_unchecked(&param->items)) {
        return 0;
    }
    if (make_name(&typestr_name, "typestr") < 0) {
        return -1;
    }
    PyObject *typestr = Py_XNewRef(PyDict_GetItem(interface, typestr_name));
    if (typestr != NULL && !PyUnicode_Check(typestr)) {
        function_refuse(self, i,
                        "the 'typestr' in the __cuda_array_interface__ of %s is a %s, not a string",
                        Py_TYPE(arg)->tp_name, Py_TYPE(typestr)->tp_name);
        Py_DECREF(typestr);
        return -1;
    }
    int failed = typestr != NULL && !pg_items_take_typestr(&param->items, typestr);
    int result = failed ? function_refuse_items(self, i, param, arg, typestr) : 0;
    Py_XDECREF(typestr);
    return result;
}

int function_use_interface(Function *self, Py_ssize_t i, Param *param, PyObject *arg,
                           unsigned char *at, const Launch *launch, Keep *keep) {
    PyObject *interface;
    if (make_name(&interface_name, "__cuda_array_interface__") < 0 ||
        make_name(&data_name, "data") < 0 || make_name(&stream_name, "stream") < 0 ||
        make_name(&mask_name, "mask") < 0) {
        return -1;
    }
    int found = optional(arg, interface_name, &interface);
    if (found <= 0) {
        return found;
    }
    /* Owned, because a stream's __index__ or the keys' __eq__ may change the dict. */
    PyObject *data = PyDict_Check(interface) ? Py_XNewRef(PyDict_GetItem(interface, data_name))
                                             : NULL;
    PyObject *stream = data != NULL ? Py_XNewRef(PyDict_GetItem(interface, stream_name)) : NULL;
    PyObject *mask = data != NULL ? PyDict_GetItem(interface, mask_name) : NULL;
    int result = -1;
    if (mask != NULL && mask != Py_None) {
        function_refuse(self, i,
                        "the __cuda_array_interface__ of %s has a mask, which kernels do "
                        "not see; pass the data without it",
                        Py_TYPE(arg)->tp_name);
    } else if (data == NULL || !PyTuple_Check(data) || PyTuple_GET_SIZE(data) != 2) {
        function_refuse(
            self, i,
            "__cuda_array_interface__ of %s must be a dict whose 'data' is (pointer, read-only)",
            Py_TYPE(arg)->tp_name);
    } else if (check_typestr(self, i, param, arg, interface) == 0 &&
               wait_for_producer(self, i, stream, launch) == 0) {
        result = function_use_pointer(self, i, param, arg, Py_NewRef(PyTuple_GET_ITEM(data, 0)), at,
                                      launch, keep) < 0
                     ? -1
                     : 1;
    }
    Py_XDECREF(data);
    Py_XDECREF(stream);
    if (keep_add(keep, interface) < 0) {
        return -1;
    }
    return result;
}

static int was_freed(const State *state, PyObject *object) {
    return (PyObject_TypeCheck(object, state->DeviceAllocationType) ||
            PyObject_TypeCheck(object, state->PooledDeviceAllocationType)) &&
           ((const Allocation *)object)->freed;
}

int function_check_allocations(Function *self, PyObject *const *args, Py_ssize_t nargs,
                               const Keep *keep) {
    const State *state = self->state;
    for (Py_ssize_t i = 0; i < nargs; i++) {
        PyObject *memory = args[i];
        if (PyLong_CheckExact(memory) || PyFloat_CheckExact(memory)) {
            continue;
        }
        if (state->common.array_type != NULL &&
            PyObject_TypeCheck(memory, (PyTypeObject *)state->common.array_type)) {
            memory = ((GPUArray *)memory)->base_data;
        }
        if (was_freed(state, memory)) {
            return reject(self, i, CUDA_ERROR_INVALID_VALUE, "was freed", memory);
        }
    }
    Py_ssize_t n_more = keep->more != NULL ? PyList_GET_SIZE(keep->more) : 0;
    for (Py_ssize_t k = 0; k < keep->n + n_more;
         k++) { /* results of the arguments' attributes and methods */
        PyObject *memory = k < keep->n ? keep->items[k] : PyList_GET_ITEM(keep->more, k - keep->n);
        if (was_freed(state, memory)) {
            cud_reject(
                self->state, "cuLaunchKernel", CUDA_ERROR_INVALID_VALUE,
                "kernel '%U': the %s of an argument was freed while another argument was converted",
                self->name, pg_type_name(memory));
            return -1;
        }
    }
    return 0;
}
