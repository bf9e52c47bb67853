/* device.c - Device: its information and its sub-devices. */
#include "opencl/api/info.h"
#include "opencl/device.h"
#include "opencl/lifetime/deferred_init.h"
#include "opencl/lifetime/instance_registry.h"
#include "opencl/objects/program.h"
#include "opencl/opencl.h"
#include "opencl/platform.h"

enum {
#define DEVICE_INFO(attr, KIND, number, PARAM, unit, text) ROW_##attr,
#include "opencl/api/info.def"
    ROW_COUNT
};
static const Info Device_info[] = {
#define DEVICE_INFO(attr, KIND, number, PARAM, unit, text) {#attr, INFO_##KIND, PARAM},
#include "opencl/api/info.def"
};

cl_int ocl_device_query(void *self, cl_uint param, size_t size, void *value, size_t *size_ret) {
    cl_int status = CL_SUCCESS;
    cl_device_id id = ((Device *)self)->id;
    CL_CALL(status, clGetDeviceInfo, id, param, size, value, size_ret);
    if (param == CL_DEVICE_LUID_KHR && status == CL_SUCCESS &&
        value != NULL) { /* if there is none, NVIDIA's driver returns uninitialized bytes of its
                          * stack */
        cl_bool valid = CL_FALSE;
        CL_CALL(status, clGetDeviceInfo, id, CL_DEVICE_LUID_VALID_KHR, sizeof valid, &valid, NULL);
        if (!valid) {
            memset(value, 0, size);
        }
    }
    return status;
}

/* Root devices live as long as their driver, so they can be found by handle. */
static void remember_root(Device *self) {
    if (self->version < 120 ||
        ocl_info_number(self, ocl_device_query, CL_DEVICE_PARENT_DEVICE) == 0) {
        ocl_register_instance((PyObject *)self);
    }
}

PyObject *ocl_device_wrap(State *state, cl_device_id id, Platform *platform, int owned) {
    Device *self = owned ? NULL : (Device *)ocl_find_instance(state, state->DeviceType, id);
    if (self != NULL) {
        return (PyObject *)self;
    }
    self = (Device *)PG_NEW(state->DeviceType);
    if (self == NULL) {
        if (owned) {
            cl_int status = CL_SUCCESS;
            CL_CALL(status, clReleaseDevice, id);
        }
        return NULL;
    }
    self->state = state;
    self->id = id;
    self->owned = owned;
    ocl_live[LIVE_DEVICE] += owned;
    if (platform != NULL) {
        self->platform = (Platform *)Py_NewRef(platform);
    } else {
        cl_platform_id handle = NULL;
        cl_int status = ocl_device_query(self, CL_DEVICE_PLATFORM, sizeof handle, &handle, NULL);
        if (status != CL_SUCCESS) {
            ocl_raise(state, "clGetDeviceInfo", status);
            goto fail;
        }
        self->platform = (Platform *)ocl_platform_wrap(state, handle);
        if (self->platform == NULL) {
            goto fail;
        }
    }
    char version[256] = "";
    if (ocl_device_query(self, CL_DEVICE_VERSION, sizeof version - 1, version, NULL) ==
        CL_SUCCESS) {
        self->version = ocl_version_number(version);
    }
    if (!owned) {
        remember_root(self);
    }
    return (PyObject *)self;
fail:
    Py_DECREF(self);
    return NULL;
}

const DeviceLimits *ocl_device_limits(Device *self) {
    DeviceLimits *limits = &self->limits;
    if (!limits->queried) {
        limits->max_work_group_size =
            (size_t)ocl_info_number(self, ocl_device_query, CL_DEVICE_MAX_WORK_GROUP_SIZE);
        limits->max_work_item_dimensions =
            (cl_uint)ocl_info_number(self, ocl_device_query, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS);
        if (ocl_device_query(self, CL_DEVICE_MAX_WORK_ITEM_SIZES,
                             sizeof limits->max_work_item_sizes, limits->max_work_item_sizes,
                             NULL) != CL_SUCCESS) {
            memset(limits->max_work_item_sizes, 0, sizeof limits->max_work_item_sizes);
        }
        limits->local_mem_size = ocl_info_number(self, ocl_device_query, CL_DEVICE_LOCAL_MEM_SIZE);
        limits->max_mem_alloc_size =
            ocl_info_number(self, ocl_device_query, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
        limits->mem_base_addr_align =
            (cl_uint)ocl_info_number(self, ocl_device_query, CL_DEVICE_MEM_BASE_ADDR_ALIGN);
        limits->svm_capabilities =
            self->version >= 200
                ? ocl_info_number(self, ocl_device_query, CL_DEVICE_SVM_CAPABILITIES)
                : 0;
        limits->queried = 1;
    }
    return limits;
}

int ocl_device_has_extension(Device *self, const char *name) {
    Info row = {"extensions", INFO_STRING, CL_DEVICE_EXTENSIONS};
    PyObject *extensions = ocl_info(self->state, self, ocl_device_query, "clGetDeviceInfo", &row);
    const char *text = extensions != NULL ? PyUnicode_AsUTF8(extensions) : NULL;
    size_t length = strlen(name);
    int found = text != NULL ? 0 : -1;
    for (const char *p = text; p != NULL && !found && (p = strstr(p, name)) != NULL; p += length) {
        found = (p == text || p[-1] == ' ') &&
                (p[length] == ' ' || p[length] == '\0'); /* only whole words match */
    }
    Py_XDECREF(extensions);
    return found;
}

Device *ocl_as_device(State *state, PyObject *obj, const char *call, const char *name) {
    if (!PyObject_TypeCheck(obj, state->DeviceType)) {
        PyErr_Format(PyExc_TypeError, "%s: %s must be a Device, not %s", call, name,
                     pg_type_name(obj));
        return NULL;
    }
    return (Device *)obj;
}

int ocl_as_devices(State *state, PyObject *obj, const char *call, cl_device_id **out, cl_uint *n,
                   PyObject **keep) {
    *out = NULL;
    *n = 0;
    *keep = NULL;
    if (obj == NULL || obj == Py_None) {
        return 0;
    }
    PyObject *items = PyObject_TypeCheck(obj, state->DeviceType)
                          ? PyTuple_Pack(1, obj)
                          : pg_tuple(obj, call, "devices", "Devices", 1 << 16);
    if (items == NULL) {
        return -1;
    }
    Py_ssize_t size = PyTuple_GET_SIZE(items);
    cl_device_id *ids = PyMem_Calloc((size_t)size + 1, sizeof *ids);
    if (ids == NULL) {
        PyErr_NoMemory();
        goto fail;
    }
    for (Py_ssize_t i = 0; i < size; i++) {
        Device *device = ocl_as_device(state, PyTuple_GET_ITEM(items, i), call, "each of devices");
        if (device == NULL) {
            goto fail;
        }
        ids[i] = device->id;
    }
    *out = ids;
    *n = (cl_uint)size;
    *keep = items;
    return 0;
fail:
    PyMem_Free(ids);
    Py_DECREF(items);
    return -1;
}

static int Device_traverse(PyObject *op, visitproc visit, void *arg) {
    Device *self = (Device *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->platform);
    Py_VISIT(self->dict);
    return 0;
}

static int Device_clear(PyObject *op) { /* only the dict can be part of a cycle */
    Py_CLEAR(((Device *)op)->dict);
    return 0;
}

/* On PoCL the handle, 1 KiB, is left to the driver: neither contexts nor queues retain sub-devices
 * there, and one of its threads may read this one for some time after its last command is complete.
 */
static void release_sub_device(Device *self) {
    if (self->platform != NULL && (self->platform->quirks & OCL_QUIRK_DOES_NOT_COUNT_SUB_DEVICES)) {
        ocl_live[LIVE_DEVICE]--;
    } else {
        CL_RELEASE(LIVE_DEVICE, clReleaseDevice, self->id);
    }
}

static void Device_dealloc(PyObject *op) {
    Device *self = (Device *)op;
    pg_untrack(op, self->weakrefs);
    ocl_unregister_instance(op);
    if (self->owned) {
        release_sub_device(self);
    }
    Py_XDECREF(self->platform);
    Py_XDECREF(self->dict);
    pg_object_free(op);
}

static PyObject *Device_get(PyObject *op, void *closure) {
    Device *self = (Device *)op;
    const Info *row = &Device_info[(intptr_t)closure];
    if (row->kind == INFO_PLATFORM) {
        return Py_NewRef(self->platform);
    }
    return ocl_info(self->state, op, ocl_device_query, "clGetDeviceInfo", row);
}

static PyObject *Device_get_info(PyObject *op, PyObject *param) {
    return ocl_info_by_param(((Device *)op)->state, op, ocl_device_query, "clGetDeviceInfo",
                             Device_info, ROW_COUNT, Device_get, param);
}

PG_DOC(Device_create_sub_devices__doc__, "create_sub_devices", "$self, props, /",
       "(props: Sequence[int], /) -> list[Device]",
       "Partition the device (OpenCL 1.2, section 4.3).\n\n"
       "props: [device_partition_property.EQUALLY, n], [BY_COUNTS, n1, n2, ..., 0] or "
       "[BY_AFFINITY_DOMAIN, domain]; the 0 at the\n"
       "end is added if it is missing. Raises LogicError if the device cannot be partitioned like "
       "this.");

static PyObject *Device_create_sub_devices(PyObject *op, PyObject *props) {
    Device *self = (Device *)op;
    cl_device_partition_property values[66] = {0};
    PyObject *list = NULL;
    if (ocl_need_version(self->state, "clCreateSubDevices", self->version, 120) < 0) {
        return NULL;
    }
    PyObject *items = pg_tuple(props, "Device.create_sub_devices", "props", "ints", 1000);
    if (items == NULL) {
        return NULL;
    }
    Py_ssize_t size = PyTuple_GET_SIZE(items);
    if (size == 0 || size > 64) {
        ocl_reject(self->state, "Device.create_sub_devices", CL_INVALID_VALUE,
                   "props must have 1 to 64 entries, got %zd", size);
        goto done;
    }
    for (Py_ssize_t i = 0; i < size; i++) {
        int64_t value;
        if (pg_as_i64(PyTuple_GET_ITEM(items, i), "Device.create_sub_devices", "each of props",
                      &value) < 0) {
            goto done;
        }
        values[i] = (cl_device_partition_property)value;
    }
    cl_uint n = 0;
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clCreateSubDevices, self->id, values, 0, NULL, &n);
    if (status != CL_SUCCESS || n == 0) {
        ocl_raise(self->state, "clCreateSubDevices",
                  status != CL_SUCCESS ? status : CL_DEVICE_PARTITION_FAILED);
        goto done;
    }
    cl_device_id *ids = PyMem_Calloc(n, sizeof *ids);
    if (ids == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    CL_CALL(status, clCreateSubDevices, self->id, values, n, ids, NULL);
    list = status == CL_SUCCESS ? PyList_New(0)
                                : ocl_raise(self->state, "clCreateSubDevices", status);
    for (cl_uint i = 0; i < n && status == CL_SUCCESS;
         i++) { /* each handle gets an owner or is released */
        pg_append(&list, ocl_device_wrap(self->state, ids[i], self->platform, 1));
    }
    PyMem_Free(ids);
done:
    Py_DECREF(items);
    return list;
}

static PyObject *Device_device_and_host_timer(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Device *self = (Device *)op;
    cl_ulong device = 0, host = 0;
    cl_int status = CL_SUCCESS;
    if (ocl_need_version(self->state, "clGetDeviceAndHostTimer", self->version, 210) < 0) {
        return NULL;
    }
    CL_CALL(status, clGetDeviceAndHostTimer, self->id, &device, &host);
    return status == CL_SUCCESS ? Py_BuildValue("(KK)", device, host)
                                : ocl_raise(self->state, "clGetDeviceAndHostTimer", status);
}

static PyObject *Device_host_timer(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Device *self = (Device *)op;
    cl_ulong host = 0;
    cl_int status = CL_SUCCESS;
    if (ocl_need_version(self->state, "clGetHostTimer", self->version, 210) < 0) {
        return NULL;
    }
    CL_CALL(status, clGetHostTimer, self->id, &host);
    return status == CL_SUCCESS ? PyLong_FromUnsignedLongLong(host)
                                : ocl_raise(self->state, "clGetHostTimer", status);
}

static PyObject *Device_get_identifier(PyObject *op, void *Py_UNUSED(closure)) {
    static const int rows[] = {ROW_vendor, ROW_vendor_id, ROW_name, ROW_version};
    PyObject *tuple = PyTuple_New(5);
    if (tuple == NULL) {
        return NULL;
    }
    PyTuple_SET_ITEM(tuple, 0, PyUnicode_FromString("v1"));
    for (int i = 0; i < 4; i++) {
        PyTuple_SET_ITEM(tuple, i + 1, Device_get(op, (void *)(intptr_t)rows[i]));
    }
    if (PyErr_Occurred()) {
        Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *Device_get_persistent_unique_id(PyObject *op, void *closure) {
    if (PyErr_WarnEx(PyExc_DeprecationWarning,
                     "Device.persistent_unique_id is deprecated; use "
                     "Device.hashable_model_and_version_identifier",
                     1) < 0) {
        return NULL;
    }
    return Device_get_identifier(op, closure);
}

static PyObject *Device_repr(PyObject *op) {
    Device *self = (Device *)op;
    PyObject *name = PyObject_GetAttrString(op, "name");
    PyObject *platform = name != NULL ? PyObject_GetAttrString((PyObject *)self->platform, "name")
                                      : NULL;
    PyObject *repr;
    if (platform != NULL) {
        repr = PyUnicode_FromFormat("<pygpu.Device '%U' on '%U' at %p>", name, platform,
                                    (void *)self->id);
    } else {
        PyErr_Clear();
        repr = PyUnicode_FromFormat("<pygpu.Device at %p>", (void *)self->id);
    }
    Py_XDECREF(name);
    Py_XDECREF(platform);
    return repr;
}

static PyObject *Device_of_handle(State *state, PyTypeObject *Py_UNUSED(type), void *handle,
                                  int retain) {
    PyObject *root = ocl_find_instance(state, state->DeviceType, (void *)handle);
    if (root != NULL) {
        return root;
    }
    /* Retaining a root device has no effect (OpenCL 1.2, section 4.3), so the object can always
     * own a reference. */
    cl_int status = CL_SUCCESS;
    int counted = cl.clRetainDevice != NULL && cl.clReleaseDevice != NULL;
    if (retain && counted) {
        CL_CALL(status, clRetainDevice, (cl_device_id)handle);
        if (status != CL_SUCCESS) {
            return ocl_raise(state, "clRetainDevice", status);
        }
    }
    return ocl_device_wrap(state, (cl_device_id)handle, NULL, counted);
}

PG_DOC(
    Device_from_int_ptr__doc__, "from_int_ptr", "int_ptr_value, retain=True",
    "(int_ptr_value: int, retain: bool = True) -> Device",
    "Device of a cl_device_id that another library passed as an integer; retain=False takes over "
    "a sub-device's reference.\n\n"
    "LogicError for most wrong numbers (on Linux).");
PG_FUNCTION(Device_from_int_ptr, 2)
static PyObject *Device_from_int_ptr_impl(PyObject *type, PyObject *const *a) {
    return ocl_from_int_ptr(type, a, "Device.from_int_ptr", Device_of_handle);
}

static PyObject *Device_get_cl_version(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    int version = ((Device *)op)->version;
    return Py_BuildValue("(ii)", version / 100, version % 100 / 10);
}

static PyMethodDef Device_methods[] = {
    OCL_VERSION_METHOD(Device),
    PG_NO_PICKLE,
    INFO_METHOD(Device_get_info, "device_info"),
    {"create_sub_devices", Device_create_sub_devices, METH_O, Device_create_sub_devices__doc__},
    {"device_and_host_timer", Device_device_and_host_timer, METH_NOARGS,
     "device_and_host_timer($self, /)\n--\n\n() -> tuple[int, int]\n\nThe device's and the host's "
     "clock, read at the same time [ns] (OpenCL 2.1)."},
    {"host_timer", Device_host_timer, METH_NOARGS,
     "host_timer($self, /)\n--\n\n() -> int\n\nThe host's clock as the device sees it [ns] (OpenCL "
     "2.1)."},
    OCL_FROM_INT_PTR_METHOD(Device),
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef Device_getset[] = {
#define DEVICE_INFO(attr, KIND, number, PARAM, unit, text) \
    INFO_GETSET(ROW_##attr, #attr, Device_get, KIND, #PARAM, unit, text)
#include "opencl/api/info.def"
    OCL_HANDLE_GETSET("cl_device_id"),
    {"hashable_model_and_version_identifier", Device_get_identifier, NULL,
     "tuple[str, str, int, str, str]: equal for devices of the same model and driver version",
     NULL},
    {"persistent_unique_id", Device_get_persistent_unique_id, NULL,
     "tuple[str, str, int, str, str]: older name of hashable_model_and_version_identifier", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
PG_DICT_MEMBERS(Device, Device);
static PyType_Slot Device_slots[] = {
    {Py_tp_doc,
     (void *)"A device that runs kernels, from Platform.get_devices() or Context.devices."},
    PG_GC_SLOTS(Device),
    {Py_tp_repr, (void *)Device_repr},
    OCL_HANDLE_SLOTS,
    PG_TABLE_SLOTS(Device),
    {0, NULL},
};
OCL_TYPE(Device, Device,
         Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION);
