/* ipc.c - IPCMemoryHandle: device memory of another process. */
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/memory.h"
#include "cuda/objects/pointer.h"

PG_DOC(IPCMemoryHandle__doc__, "IPCMemoryHandle", "handle, flags=1",
       "(handle: bytearray, flags: int = 1)",
       "Device memory of another process, from the 64 bytes of mem_get_ipc_handle() there. Closed "
       "when dropped.\n\n"
       "flags: ipc_mem_flags. The other process owns the memory and must keep it meanwhile. Usable "
       "wherever an allocation is.\n"
       "Raises LogicError for bytes that are not a handle, and in the process that created it.");
static ArgSpec IPCMemoryHandle_args = PG_ARGSPEC(IPCMemoryHandle__doc__);

static PyObject *IPCMemoryHandle_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *a[2];
    State *state = cud_state_of(type);
    const char *call = "IPCMemoryHandle";
    uint32_t flags = 1;
    CUipcMemHandle handle;
    Py_buffer view;
    if (state == NULL || pg_args_tuple(&IPCMemoryHandle_args, args, kwargs, a) < 0 ||
        (a[1] != NULL && pg_as_u32(a[1], call, "flags", &flags) < 0) ||
        pg_get_buffer(a[0], call, "handle", 0, &view) < 0) {
        return NULL;
    }
    Py_ssize_t length = view.len;
    if (length == (Py_ssize_t)sizeof handle) {
        memcpy(&handle, view.buf, sizeof handle);
    }
    PyBuffer_Release(&view);
    if (length != (Py_ssize_t)sizeof handle) {
        return cud_reject(state, call, CUDA_ERROR_INVALID_VALUE, "a handle has %zu bytes, got %zd",
                          sizeof handle, length);
    }
    Context *context = cud_context_current(state);
    if (context == NULL) {
        return NULL;
    }
    Allocation *self = cud_allocation_new(state, type, context, 0, 0, MEMORY_IPC);
    if (self != NULL) {
        CUresult status = CUDA_SUCCESS;
        CU_NOGIL(status, cuIpcOpenMemHandle, &self->ptr, handle, flags);
        if (status != CUDA_SUCCESS) {
            self->ptr = 0;
            Py_CLEAR(self);
            cud_raise(state, "cuIpcOpenMemHandle", status);
        } else {
            cud_live[LIVE_MEM]++;
            size_t room = cud_bytes_at(self->ptr, 0);
            self->size = room != SIZE_MAX ? room : (size_t)PY_SSIZE_T_MAX; /* unknown */
        }
    }
    Py_DECREF((PyObject *)context);
    return (PyObject *)self;
}

void cud_ipc_close(Allocation *self) {
    CUresult status;
    cud_live[LIVE_MEM]--;
    FREE_IN_CONTEXT(self->context, status, CU_NOGIL(status, cuIpcCloseMemHandle, self->ptr));
}

static PyObject *IPCMemoryHandle_close(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    return cud_allocation_free_method(op, "IPCMemoryHandle.close");
}

static PyMethodDef IPCMemoryHandle_methods[] = {
    {"close", IPCMemoryHandle_close, METH_NOARGS,
     "close($self, /)\n--\n\n() -> None\n\nEnd the use of the memory. Any later use raises."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot IPCMemoryHandle_slots[] = {
    {Py_tp_doc, (void *)IPCMemoryHandle__doc__},
    {Py_tp_new, (void *)IPCMemoryHandle_new},
    {Py_tp_init, (void *)cud_init_nothing},
    {Py_tp_dealloc, (void *)cud_allocation_dealloc},
    {Py_tp_traverse, (void *)cud_allocation_traverse},
    {Py_tp_methods, IPCMemoryHandle_methods},
    {0, NULL},
};
CUD_TYPE(IPCMemoryHandle, Allocation, Py_TPFLAGS_BASETYPE);

static PyObject *mem_get_ipc_handle(PyObject *module, PyObject *obj) {
    State *state = PyModule_GetState(module);
    DevicePointer at;
    CUipcMemHandle handle;
    CUresult status = CUDA_SUCCESS;
    memset(&handle, 0, sizeof handle);
    if (cud_context_ensure(state) < 0 ||
        cud_device_pointer(state, obj, "mem_get_ipc_handle", "devptr", &at) < 0) {
        return NULL;
    }
    if (at.allocation != NULL && cud_allocation_expose(at.allocation, "mem_get_ipc_handle") < 0) {
        cud_device_release(&at);
        return NULL;
    }
    CU_BESIDE(status, cuIpcGetMemHandle, &handle, at.ptr);
    cud_device_release(&at);
    return status != CUDA_SUCCESS
               ? cud_raise(state, "cuIpcGetMemHandle", status)
               : PyByteArray_FromStringAndSize((const char *)&handle, sizeof handle);
}

PyMethodDef cud_ipc_functions[] = {
    {"mem_get_ipc_handle", mem_get_ipc_handle, METH_O,
     "mem_get_ipc_handle(devptr, /)\n--\n\n(devptr: object, /) -> bytearray\n\n"
     "64 bytes with which another process can open this memory as an IPCMemoryHandle, as long as "
     "it is not freed here."},
    {NULL, NULL, 0, NULL},
};
