/* device.c - Device: a GPU, or the CPU that simulates one. */
#include "cuda/api/enums.h"
#include "cuda/context.h"
#include "cuda/cuda.h"

PyObject *cud_device_wrap(State *state, CUdevice device) {
    Device *self = (Device *)PG_NEW(state->DeviceType);
    if (self != NULL) {
        self->state = state;
        self->device = device;
    }
    return (PyObject *)self;
}

int cud_device_default(State *state, CUdevice *device) {
    PyObject *loader = PyImport_ImportModule("pygpu._src.drivers.cuda_loader");
    PyObject *number = loader != NULL ? PyObject_CallMethod(loader, "default_device", NULL) : NULL;
    Py_XDECREF(loader);
    int64_t ordinal;
    if (number == NULL || pg_as_i64(number, "default_device", "CUDA_DEVICE", &ordinal) < 0) {
        Py_XDECREF(number);
        return -1;
    }
    Py_DECREF(number);
    int count = 0;
    CUresult status = CUDA_SUCCESS;
    CU_CALL(status, cuDeviceGetCount, &count);
    if (status == CUDA_SUCCESS && (ordinal < 0 || ordinal >= count)) {
        cud_reject(state, "cuDeviceGet",
                   count == 0 ? CUDA_ERROR_NO_DEVICE : CUDA_ERROR_INVALID_DEVICE,
                   "device %lld does not exist: there are %d", (long long)ordinal, count);
        return -1;
    }
    if (status == CUDA_SUCCESS) {
        CU_CALL(status, cuDeviceGet, device, (int)ordinal);
    }
    if (status != CUDA_SUCCESS) {
        cud_raise(state, "cuDeviceGet", status);
        return -1;
    }
    return 0;
}

PG_DOC(Device__doc__, "Device", "ordinal", "(ordinal: int | str)",
       "A device, by its number (0 <= ordinal < Device.count()) or PCI address, such as "
       "'0000:3b:00.0'.");
static ArgSpec Device_args = PG_ARGSPEC(Device__doc__);

static PyObject *Device_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *a[1];
    State *state = cud_state_of(type);
    if (state == NULL || pg_args_tuple(&Device_args, args, kwargs, a) < 0 ||
        cud_driver_ready(state) < 0) {
        return NULL;
    }
    CUdevice device = 0;
    CUresult status = CUDA_SUCCESS;
    if (PyUnicode_Check(a[0])) {
        const char *address = PyUnicode_AsUTF8(a[0]);
        if (address == NULL) {
            return NULL;
        }
        CU_CALL(status, cuDeviceGetByPCIBusId, &device, address);
        if (status != CUDA_SUCCESS) {
            return cud_raise_with(state, "cuDeviceGetByPCIBusId", status,
                                  "no device has the PCI address %R", a[0]);
        }
    } else {
        int64_t ordinal;
        int count = 0;
        if (pg_as_i64(a[0], "Device", "ordinal", &ordinal) < 0) {
            return NULL;
        }
        CU_CALL(status, cuDeviceGetCount, &count);
        if (status != CUDA_SUCCESS) {
            return cud_raise(state, "cuDeviceGetCount", status);
        }
        if (ordinal < 0 || ordinal >= count) {
            return cud_reject(state, "cuDeviceGet", CUDA_ERROR_INVALID_DEVICE,
                              "ordinal = %lld, and the number of devices is %d", (long long)ordinal,
                              count);
        }
        CU_CALL(status, cuDeviceGet, &device, (int)ordinal);
        if (status != CUDA_SUCCESS) {
            return cud_raise(state, "cuDeviceGet", status);
        }
    }
    Device *self = (Device *)PG_NEW(type);
    if (self != NULL) {
        self->state = state;
        self->device = device;
    }
    return (PyObject *)self;
}

static PyObject *Device_count(PyObject *type, PyObject *Py_UNUSED(ignored)) {
    State *state = cud_state_of((PyTypeObject *)type);
    int count = 0;
    if (state == NULL || cud_driver_ready(state) < 0) {
        return NULL;
    }
    CUresult status = CUDA_SUCCESS;
    CU_CALL(status, cuDeviceGetCount, &count);
    return status == CUDA_SUCCESS ? PyLong_FromLong(count)
                                  : cud_raise(state, "cuDeviceGetCount", status);
}

static PyObject *Device_name(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Device *self = (Device *)op;
    char name[256] = "";
    CUresult status = CUDA_SUCCESS;
    CU_CALL(status, cuDeviceGetName, name, (int)sizeof name - 1, self->device);
    return status == CUDA_SUCCESS ? PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "replace")
                                  : cud_raise(self->state, "cuDeviceGetName", status);
}

static PyObject *Device_pci_bus_id(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Device *self = (Device *)op;
    char text[64] = "";
    CUresult status = CUDA_SUCCESS;
    CU_CALL(status, cuDeviceGetPCIBusId, text, (int)sizeof text - 1, self->device);
    return status == CUDA_SUCCESS ? PyUnicode_FromString(text)
                                  : cud_raise(self->state, "cuDeviceGetPCIBusId", status);
}

static PyObject *Device_uuid(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Device *self = (Device *)op;
    CUuuid uuid = {{0}};
    CUresult status = CUDA_SUCCESS;
    CU_CALL(status, cuDeviceGetUuid, &uuid, self->device);
    return status == CUDA_SUCCESS ? PyBytes_FromStringAndSize(uuid.bytes, sizeof uuid.bytes)
                                  : cud_raise(self->state, "cuDeviceGetUuid", status);
}

static PyObject *Device_total_memory(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Device *self = (Device *)op;
    size_t bytes = 0;
    CUresult status = CUDA_SUCCESS;
    CU_CALL(status, cuDeviceTotalMem, &bytes, self->device);
    return status == CUDA_SUCCESS ? PyLong_FromSize_t(bytes)
                                  : cud_raise(self->state, "cuDeviceTotalMem", status);
}

static int attribute(Device *self, CUdevice_attribute which, int *value) {
    CUresult status = CUDA_SUCCESS;
    CU_CALL(status, cuDeviceGetAttribute, value, which, self->device);
    if (status != CUDA_SUCCESS) {
        cud_raise(self->state, "cuDeviceGetAttribute", status);
        return -1;
    }
    return 0;
}

int cud_object_traverse(PyObject *op, visitproc visit, void *arg) {
    CUD_VISIT(op);
    return 0;
}

PyObject *cud_object_new(PyTypeObject *type, PyObject *Py_UNUSED(args),
                         PyObject *Py_UNUSED(kwargs)) {
    State *state = cud_state_of(type);
    CudObject *self = state != NULL ? (CudObject *)PG_NEW(type) : NULL;
    if (self != NULL) {
        self->state = state;
    }
    return (PyObject *)self;
}

void cud_object_dealloc(PyObject *op) {
    pg_untrack(op, ((CudObject *)op)->weakrefs);
    cud_object_free(op);
}

int cud_set_field(PyObject *op, PyObject *name, PyObject *value) {
    PyTypeObject *type = Py_TYPE(op);
    State *state = cud_state_of(type);
    if (state == NULL) {
        return -1;
    }
    if (type == state->Memcpy2DType || type == state->Memcpy3DType ||
        type == state->Memcpy3DPeerType || type == state->ArrayDescriptorType ||
        type == state->ArrayDescriptor3DType) {
        PyObject *field = PyObject_GetAttr((PyObject *)type, name);
        if (field == NULL) {
            if (PyErr_ExceptionMatches(PyExc_AttributeError)) {
                PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute '%U'",
                             type->tp_name, name);
            }
            return -1;
        }
        Py_DECREF(field);
    }
    return PyObject_GenericSetAttr(op, name, value);
}

int cud_init_nothing(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(args),
                     PyObject *Py_UNUSED(kwargs)) {
    return 0;
}

static PyObject *Device_compute_capability(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    int major = 0, minor = 0; /* device_attribute.COMPUTE_CAPABILITY_MAJOR and _MINOR */
    if (attribute((Device *)op, 75, &major) < 0 || attribute((Device *)op, 76, &minor) < 0) {
        return NULL;
    }
    return Py_BuildValue("(ii)", major, minor);
}

static PyObject *Device_get_attribute(PyObject *op, PyObject *which_object) {
    int64_t which;
    int value = 0;
    if (pg_as_i64(which_object, "Device.get_attribute", "attribute", &which) < 0) {
        return NULL;
    }
    if (which < 0 || which > INT32_MAX) {
        return cud_reject(((Device *)op)->state, "cuDeviceGetAttribute", CUDA_ERROR_INVALID_VALUE,
                          "there is no device attribute %lld", (long long)which);
    }
    if (attribute((Device *)op, (CUdevice_attribute)which, &value) < 0) {
        return NULL;
    }
    return which == 20 ? cud_member("compute_mode", value)
                       : PyLong_FromLong(value); /* 20: COMPUTE_MODE */
}

/* Omits attributes that the driver does not know, because it is older or newer. */
static PyObject *Device_get_attributes(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    PyObject *attributes = cud_enumeration("device_attribute");
    PyObject *names = attributes != NULL ? PyObject_GetAttrString(attributes, "names") : NULL;
    PyObject *members = names != NULL ? PyMapping_Values(names) : NULL;
    PyObject *table = members != NULL ? PyDict_New() : NULL;
    for (Py_ssize_t i = 0; table != NULL && i < PyList_GET_SIZE(members); i++) {
        PyObject *member = PyList_GET_ITEM(members, i);
        int value = 0;
        CUresult status = CUDA_SUCCESS;
        CU_CALL(status, cuDeviceGetAttribute, &value, (CUdevice_attribute)PyLong_AsLong(member),
                ((Device *)op)->device);
        PyObject *number = status == CUDA_SUCCESS ? PyLong_FromLong(value) : NULL;
        if (number != NULL && PyDict_SetItem(table, member, number) < 0) {
            Py_CLEAR(table);
        }
        Py_XDECREF(number);
        if (PyErr_Occurred()) {
            Py_CLEAR(table);
        }
    }
    Py_XDECREF(members);
    Py_XDECREF(names);
    Py_XDECREF(attributes);
    return table;
}

/* Implements dev.multiprocessor_count etc.: the attribute of that name in lower case. */
static PyObject *Device_getattro(PyObject *op, PyObject *name) {
    State *state = ((Device *)op)->state;
    int is_member;
    PyObject *found = cud_attribute(op, name, state->DeviceType, &state->device_names,
                                    "device_attribute", &is_member);
    if (is_member) {
        Py_SETREF(found, Device_get_attribute(op, found));
    }
    return found;
}

static int as_device(State *state, PyObject *obj, const char *call, const char *name,
                     Device **out) {
    if (!PyObject_TypeCheck(obj, state->DeviceType)) {
        cud_reject_type(state, call, "%s must be a Device, not %s", name, pg_type_name(obj));
        return -1;
    }
    *out = (Device *)obj;
    return 0;
}

static PyObject *Device_can_access_peer(PyObject *op, PyObject *peer_object) {
    Device *self = (Device *)op, *peer;
    int can = 0;
    if (as_device(self->state, peer_object, "Device.can_access_peer", "peer", &peer) < 0) {
        return NULL;
    }
    CUresult status = CUDA_SUCCESS;
    CU_CALL(status, cuDeviceCanAccessPeer, &can, self->device, peer->device);
    return status == CUDA_SUCCESS ? PyBool_FromLong(can)
                                  : cud_raise(self->state, "cuDeviceCanAccessPeer", status);
}

PG_DOC(Device_get_p2p_attribute__doc__, "get_p2p_attribute", "$self, /, attribute, peer",
       "(attribute: int, peer: Device) -> int",
       "A p2p_attribute of the link from this device to *peer*.");
PG_FUNCTION(Device_get_p2p_attribute, 2)
static PyObject *Device_get_p2p_attribute_impl(PyObject *op, PyObject *const *a) {
    Device *self = (Device *)op, *peer;
    uint32_t which;
    int value = 0;
    if (pg_as_u32(a[0], "Device.get_p2p_attribute", "attribute", &which) < 0 ||
        as_device(self->state, a[1], "Device.get_p2p_attribute", "peer", &peer) < 0) {
        return NULL;
    }
    CUresult status = CUDA_SUCCESS;
    CU_CALL(status, cuDeviceGetP2PAttribute, &value, (CUdevice_P2PAttribute)which, self->device,
            peer->device);
    return status == CUDA_SUCCESS ? PyLong_FromLong(value)
                                  : cud_raise(self->state, "cuDeviceGetP2PAttribute", status);
}

PG_DOC(Device_make_context__doc__, "make_context", "$self, /, flags=0",
       "(flags: int = 0) -> Context",
       "A new context on the device, which becomes current in this thread.\n\nflags: of ctx_flags. "
       "Context.pop() makes the one before it current again.");
PG_FUNCTION(Device_make_context, 1)
static PyObject *Device_make_context_impl(PyObject *op, PyObject *const *a) {
    Device *self = (Device *)op;
    uint32_t flags = 0;
    if ((a[0] != NULL && pg_as_u32(a[0], "Device.make_context", "flags", &flags) < 0)) {
        return NULL;
    }
    return cud_context_make(self->state, self->device, flags);
}

static PyObject *Device_retain_primary_context(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Device *self = (Device *)op;
    return cud_context_wrap_primary(self->state, self->device);
}

static PyObject *Device_repr(PyObject *op) {
    Device *self = (Device *)op;
    PyObject *name = Device_name(op, NULL);
    if (name == NULL) {
        PyErr_Clear();
        return PyUnicode_FromFormat("<pygpu.cuda.Device %d>", self->device);
    }
    PyObject *repr = PyUnicode_FromFormat("<pygpu.cuda.Device %d '%U'>", self->device, name);
    Py_DECREF(name);
    return repr;
}

static Py_hash_t Device_hash(PyObject *op) {
    return ((Device *)op)->device + 1;
}

static PyObject *Device_compare(PyObject *op, PyObject *other, int how) {
    Device *self = (Device *)op;
    if ((how != Py_EQ && how != Py_NE) || !PyObject_TypeCheck(other, self->state->DeviceType)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    return PyBool_FromLong((self->device == ((Device *)other)->device) == (how == Py_EQ));
}

static PyObject *Device_int(PyObject *op) {
    return PyLong_FromLong(((Device *)op)->device);
}

static PyMethodDef Device_methods[] = {
    {"count", Device_count, METH_NOARGS | METH_CLASS,
     "count($type, /)\n--\n\n() -> int\n\nNumber of devices."},
    {"name", Device_name, METH_NOARGS, "name($self, /)\n--\n\n() -> str\n\nThe product's name."},
    {"pci_bus_id", Device_pci_bus_id, METH_NOARGS,
     "pci_bus_id($self, /)\n--\n\n() -> str\n\nPCI address: domain:bus:device.function."},
    {"uuid", Device_uuid, METH_NOARGS,
     "uuid($self, /)\n--\n\n() -> bytes\n\nThe device's 16-byte identifier, the same in every "
     "process."},
    {"compute_capability", Device_compute_capability, METH_NOARGS,
     "compute_capability($self, /)\n--\n\n() -> tuple[int, int]\n\nMajor and minor version of the "
     "architecture: (9, 0) is sm_90."},
    {"total_memory", Device_total_memory, METH_NOARGS,
     "total_memory($self, /)\n--\n\n() -> int\n\nMemory of the device [bytes]."},
    {"get_attribute", Device_get_attribute, METH_O,
     "get_attribute($self, attribute, /)\n--\n\n(attribute: int, /) -> int\n\nValue of a "
     "device_attribute."},
    {"get_attributes", Device_get_attributes, METH_NOARGS,
     "get_attributes($self, /)\n--\n\n() -> dict[int, int]\n\nValues of all attributes that the "
     "driver knows, by device_attribute."},
    {"can_access_peer", Device_can_access_peer, METH_O,
     "can_access_peer($self, peer, /)\n--\n\n(peer: Device, /) -> bool\n\nWhether kernels on this "
     "device can use the peer's memory."},
    {"get_p2p_attribute", FAST(Device_get_p2p_attribute), Device_get_p2p_attribute__doc__},
    {"make_context", FAST(Device_make_context), Device_make_context__doc__},
    {"retain_primary_context", Device_retain_primary_context, METH_NOARGS,
     "retain_primary_context($self, /)\n--\n\n() -> Context\n\nThe device's primary context, which "
     "CuPy, PyTorch and the CUDA runtime use too. It does not become current."},
    PG_NO_PICKLE,
    {NULL, NULL, 0, NULL},
};
static PyType_Slot Device_slots[] = {
    {Py_tp_doc, (void *)Device__doc__},
    {Py_tp_new, (void *)Device_new},
    {Py_tp_init, (void *)cud_init_nothing},
    {Py_tp_dealloc, (void *)cud_object_dealloc},
    {Py_tp_traverse, (void *)cud_object_traverse},
    {Py_tp_repr, (void *)Device_repr},
    {Py_tp_hash, (void *)Device_hash},
    {Py_tp_richcompare, (void *)Device_compare},
    {Py_tp_getattro, (void *)Device_getattro},
    {Py_nb_int, (void *)Device_int},
    {Py_tp_methods, Device_methods},
    {0, NULL},
};
CUD_TYPE(Device, Device, Py_TPFLAGS_BASETYPE);
