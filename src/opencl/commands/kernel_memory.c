/* kernel_memory.c - memory as kernel arguments: buffers, arrays and shared virtual memory. Checks
 * that their items match what the kernel's pointer points to. */
#include "common/gpuarray.h"
#include "opencl/commands/box.h"
#include "opencl/memory.h"
#include "opencl/objects/kernel.h"
#include "opencl/opencl.h"
#include "opencl/svm.h"

int kernel_use_memory(Kernel *self, cl_uint i, Memory *memory, ArgValue *out) {
    if (memory->mem == NULL) {
        kernel_refuse(self, i, "the %s was released", pg_type_name((PyObject *)memory));
        return -1;
    }
    if (memory->context->context != self->context->context) {
        ocl_reject(
            self->state, "Kernel.set_arg", CL_INVALID_CONTEXT,
            "when processing arg#%u (1-based) of kernel '%U': the %s belongs to another context",
            (unsigned)(i + 1), self->name, pg_type_name((PyObject *)memory));
        return -1;
    }
    out->set = SET_VALUE;
    out->size = sizeof(cl_mem);
    out->value.mem = memory->mem;
    out->hold = (PyObject *)memory;
    return 0;
}

/* Handles memory whose items are not what the kernel reads, so that it would compute garbage.
 * Programs written for PyOpenCL, which does not check this, get a warning instead of an error.
 * given: the items' dtype. */
static int refuse_items(Kernel *self, cl_uint i, PyObject *arg, PyObject *given, const char *raw) {
    ArgSlot *slot = &self->slots[i];
    PyObject *message = pg_items_message(&slot->items, arg, given, raw), *text = NULL;
    if (message != NULL) {
        text = PyUnicode_FromFormat("kernel '%U', arg#%u (1-based) '%V': %U", self->name,
                                    (unsigned)(i + 1), slot->declaration, "", message);
    }
    int warned = text != NULL ? pg_items_warn("pyopencl", text) : -1;
    if (warned > 0) {
        slot->items.warned = 1;
    } else if (warned == 0) {
        kernel_refuse(self, i, "%U", message);
    }
    Py_XDECREF(message);
    Py_XDECREF(text);
    return warned > 0 ? 0 : -1;
}

int kernel_compare_dtype(Kernel *self, cl_uint i, PyObject *arg, PyArray_Descr *dtype,
                         const char *raw) {
    if (pg_items_take(&self->slots[i].items, dtype)) {
        return 0;
    }
    Py_INCREF(dtype); /* the warning may run any code */
    int result = refuse_items(self, i, arg, (PyObject *)dtype, raw);
    Py_DECREF(dtype);
    return result;
}

/* Checks arrays of other libraries that have a dtype and lie in memory of ours. */
static int check_dtype_of(Kernel *self, cl_uint i, PyObject *arg) {
    if (pg_items_unchecked(&self->slots[i].items)) {
        return 0;
    }
    PyObject *dtype = PyObject_GetAttrString(arg, "dtype");
    if (dtype == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
            return -1;
        }
        PyErr_Clear(); /* memory without a dtype */
        return 0;
    }
    int result = 0;
    if (PyArray_DescrCheck(dtype)) {
        result = kernel_check_dtype(self, i, arg, (PyArray_Descr *)dtype, ".data or ");
    }
    Py_DECREF(dtype);
    return result;
}

const char *kernel_memory_kind(const Memory *memory) {
    return memory->type == CL_MEM_OBJECT_BUFFER ? "a buffer"
           : memory->type == CL_MEM_OBJECT_PIPE ? "a pipe"
                                                : "an image";
}

/* An array of pygpu or one like PyOpenCL's: passes its memory if it starts at the array's first
 * item. */
int kernel_use_array(Kernel *self, cl_uint i, PyObject *arg, ArgValue *out) {
    PyTypeObject *ours = (PyTypeObject *)self->state->common.array_type;
    int is_ours = ours != NULL && PyObject_TypeCheck(arg, ours);
    int plain = is_ours && ((GPUArray *)arg)->offset == 0;
    if (is_ours && kernel_check_dtype(self, i, arg, ((GPUArray *)arg)->dtype, ".data or ") < 0) {
        return -1;
    }
    PyObject *data = plain ? Py_NewRef(((GPUArray *)arg)->base_data)
                           : PyObject_GetAttrString(arg, "data");
    if (data == NULL && !PyErr_ExceptionMatches(PyExc_AttributeError)) {
        return -1; /* an array with an offset raises its own error with the remedy */
    }
    PyErr_Clear();
    int result = -1;
    int is_memory = data != NULL && PyObject_TypeCheck(data, self->state->MemoryObjectHolderType);
    int is_svm = data != NULL && !is_memory && ocl_is_svm(self->state, data);
    if ((is_memory || is_svm) && !is_ours && check_dtype_of(self, i, arg) < 0) {
        Py_DECREF(data);
        return -1;
    }
    if (is_memory) {
        result = kernel_use_memory(self, i, (Memory *)data, out);
        if (result == 0) {
            out->hold = Py_NewRef(data);
            out->owns_hold = 1;
        }
    } else if (is_svm) {
        result = ocl_svm_pointer(self->state, data, "Kernel.set_arg", "the array's data",
                                 self->context->context, &out->svm, &out->size);
        if (result == 0) {
            out->set = SET_SVM;
            out->hold = Py_NewRef(data);
            out->owns_hold = 1;
        }
    } else if (PyArray_Check(arg)) {
        kernel_refuse(self, i,
                      "an ndarray is host memory; pass a Buffer made with hostbuf=..., or shared "
                      "virtual memory");
    } else if (is_ours && data != NULL && PyLong_Check(data)) {
        kernel_refuse(self, i,
                      "the array was made with data=0 and has no memory yet: assign a Buffer "
                      "to its base_data first");
    } else if (PyLong_CheckExact(arg) && PyObject_Not(arg) == 1) { /* possibly its base_data */
        kernel_refuse(self, i,
                      "0 is not memory: pass None for a null pointer; an array made with data=0 "
                      "has no memory yet: assign a Buffer to its base_data first");
    } else {
        kernel_refuse(
            self, i,
            "a pointer to device memory takes a Buffer, shared virtual memory or None, not %s",
            pg_type_name(arg));
    }
    Py_XDECREF(data);
    return result;
}

int kernel_convert_global(Kernel *self, cl_uint i, PyObject *arg, ArgValue *out) {
    State *state = self->state;
    if (PyObject_TypeCheck(arg, state->MemoryObjectHolderType)) {
        Memory *memory = (Memory *)arg;
        if (memory->type != CL_MEM_OBJECT_BUFFER) {
            return kernel_refuse(self, i, "the kernel expects a buffer here, not %s",
                                 kernel_memory_kind(memory));
        }
        return kernel_use_memory(self, i, memory, out);
    }
    if (arg == Py_None) {
        out->set = SET_NULL;
        out->size = sizeof(cl_mem);
        return 0;
    }
    if (ocl_is_svm(state, arg)) {
        size_t size;
        PyObject *wrapped = ((Svm *)arg)->mem; /* for an SVM, the array that it wraps */
        if (wrapped != NULL && PyArray_Check(wrapped) &&
            kernel_check_dtype(self, i, arg, PyArray_DESCR((PyArrayObject *)wrapped), "") < 0) {
            return -1;
        }
        if (ocl_svm_pointer(state, arg, "Kernel.set_arg", "the argument", self->context->context,
                            &out->svm, &size) < 0) {
            return -1;
        }
        out->set = SET_SVM;
        out->size = sizeof(void *);
        out->hold = arg;
        return 0;
    }
    if (PyObject_TypeCheck(arg, state->LocalMemoryType)) {
        return kernel_refuse(
            self, i, "LocalMemory is for __local pointers, and this one is __global or __constant");
    }
    return kernel_use_array(self, i, arg, out);
}
