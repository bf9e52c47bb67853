/* platform.c - Platform: one OpenCL implementation, and the list of them. */
#include "common/pthread_compat.h"
#include "opencl/api/info.h"
#include "opencl/device.h"
#include "opencl/lifetime/deferred_init.h"
#include "opencl/lifetime/gil_release.h"
#include "opencl/lifetime/instance_registry.h"
#include "opencl/lifetime/queue_idle.h"
#include "opencl/objects/program.h"
#include "opencl/opencl.h"
#include "opencl/platform.h"

enum {
#define PLATFORM_INFO(attr, KIND, number, PARAM, unit, text) ROW_##attr,
#include "opencl/api/info.def"
    ROW_COUNT
};
static const Info Platform_info[] = {
#define PLATFORM_INFO(attr, KIND, number, PARAM, unit, text) {#attr, INFO_##KIND, PARAM},
#include "opencl/api/info.def"
};

static cl_int Platform_query(void *self, cl_uint param, size_t size, void *value,
                             size_t *size_ret) {
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clGetPlatformInfo, ((Platform *)self)->id, param, size, value, size_ret);
    return status;
}

int ocl_version_number(const char *text) {
    int major = 0, minor = 0;
    const char *p = text;
    while (*p != '\0' && (*p < '0' || *p > '9')) {
        p++;
    }
    while (*p >= '0' && *p <= '9' && major < 100) {
        major = major * 10 + (*p++ - '0');
    }
    if (*p == '.') {
        p++;
        while (*p >= '0' && *p <= '9' && minor < 10) {
            minor = minor * 10 + (*p++ - '0');
        }
    }
    return major * 100 + minor * 10;
}

unsigned ocl_quirks_in_use;
static int all_as_nvidia; /* for tests */

/* The drivers whose quirks a platform has, determined by its version and name. */
static unsigned drivers_of(const char *version, const char *name) {
    unsigned drivers = all_as_nvidia || strstr(name, "NVIDIA") != NULL ? OCL_DRIVER_NVIDIA : 0;
    if (strstr(version, "PoCL") != NULL || strstr(version, "pocl") != NULL) {
        drivers |= OCL_DRIVER_POCL;
    }
    if (strstr(name, "Intel") != NULL && strstr(name, "Graphics") == NULL) {
        drivers |= OCL_DRIVER_INTEL_CPU;
    }
    return drivers != 0 ? drivers : OCL_DRIVER_OTHER;
}

PyObject *ocl_platform_wrap(State *state, cl_platform_id id) {
    Platform *self = (Platform *)ocl_find_instance(state, state->PlatformType, id);
    if (self != NULL) {
        return (PyObject *)self;
    }
    self = (Platform *)PG_NEW(state->PlatformType);
    if (self == NULL) {
        return NULL;
    }
    self->state = state;
    self->id = id;
    char version[256] = "", name[256] = "";
    if (Platform_query(self, CL_PLATFORM_VERSION, sizeof version - 1, version, NULL) ==
        CL_SUCCESS) {
        self->version = ocl_version_number(version);
    } else {
        version[0] = '\0';
    }
    if (Platform_query(self, CL_PLATFORM_NAME, sizeof name - 1, name, NULL) != CL_SUCCESS) {
        name[0] = '\0';
    }
    self->quirks = ocl_quirks_of(drivers_of(version, name));
    ocl_register_instance((PyObject *)self);
    return (PyObject *)self;
}

static int Platform_traverse(PyObject *op, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(((Platform *)op)->dict);
    return 0;
}

static int Platform_clear(PyObject *op) {
    Py_CLEAR(((Platform *)op)->dict);
    return 0;
}

static void Platform_dealloc(PyObject *op) {
    pg_untrack(op, ((Platform *)op)->weakrefs);
    Platform_clear(op);
    ocl_unregister_instance(op);
    pg_object_free(op);
}

static PyObject *Platform_get(PyObject *op, void *closure) {
    return ocl_info(((Platform *)op)->state, op, Platform_query, "clGetPlatformInfo",
                    &Platform_info[(intptr_t)closure]);
}

static PyObject *Platform_get_info(PyObject *op, PyObject *param) {
    return ocl_info_by_param(((Platform *)op)->state, op, Platform_query, "clGetPlatformInfo",
                             Platform_info, ROW_COUNT, Platform_get, param);
}

/* PoCL 3.1 starts its devices in the first call that needs them; other threads are told meanwhile
 * that there are none, or get devices that are not ready. So one thread at a time makes such calls.
 * In a forked child, where no call reaches a driver, the lock may never be released. */
static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;

int ocl_lock_devices(void) {
    return (pg_trap & PG_TRAP_FORKED) ? 0 : (pthread_mutex_lock(&devices_lock), 1);
}

void ocl_unlock_devices(int locked) {
    if (locked) {
        pthread_mutex_unlock(&devices_lock);
    }
}

cl_int ocl_device_ids(cl_platform_id platform, cl_device_type type, cl_uint n, cl_device_id *ids,
                      cl_uint *found) {
    cl_int status = CL_SUCCESS;
    int locked = ocl_lock_devices();
    CL_CALL(status, clGetDeviceIDs, platform, type, n, ids, found);
    ocl_unlock_devices(locked);
    return status;
}

#define KINDS                                                           \
    (CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU | \
     CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM)

PG_DOC(Platform_get_devices__doc__, "get_devices", "$self, /, device_type=0xFFFFFFFF",
       "(device_type: int = ...) -> list[Device]",
       "Devices of the given type (device_type.CPU, GPU, ...; all by default). An empty list if "
       "there is none.");
PG_FUNCTION(Platform_get_devices, 1)
static PyObject *Platform_get_devices_impl(PyObject *op, PyObject *const *a) {
    Platform *self = (Platform *)op;
    PyObject *list = NULL;
    uint64_t type = CL_DEVICE_TYPE_ALL;
    if ((a[0] != NULL && pg_as_u64(a[0], "Platform.get_devices", "device_type", &type) < 0)) {
        return NULL;
    }
    cl_uint n = 0;
    cl_int status = CL_SUCCESS;
    Py_BEGIN_ALLOW_THREADS
    status = ocl_device_ids(self->id, type, 0, NULL, &n);
    Py_END_ALLOW_THREADS
    /* NVIDIA's driver reports device types that NVIDIA does not make as invalid. */
    int unknown_kind = status == CL_INVALID_DEVICE_TYPE && type != 0 &&
                       (type == CL_DEVICE_TYPE_ALL || (type & ~(uint64_t)KINDS) == 0);
    if (status == CL_DEVICE_NOT_FOUND || unknown_kind || (status == CL_SUCCESS && n == 0)) {
        return PyList_New(0);
    }
    if (status != CL_SUCCESS) {
        return ocl_raise(self->state, "clGetDeviceIDs", status);
    }
    cl_device_id *ids = PyMem_Calloc(n, sizeof *ids);
    if (ids == NULL) {
        return PyErr_NoMemory();
    }
    cl_uint found = n;
    Py_BEGIN_ALLOW_THREADS
    status = ocl_device_ids(self->id, type, n, ids, &found);
    Py_END_ALLOW_THREADS
    if (status != CL_SUCCESS) {
        ocl_raise(self->state, "clGetDeviceIDs", status);
        goto done;
    }
    list = PyList_New(0);
    for (cl_uint i = 0; list != NULL && i < n && i < found; i++) {
        ocl_note_device(ids[i]);
        pg_append(&list, ocl_device_wrap(self->state, ids[i], self, 0));
    }
done:
    PyMem_Free(ids);
    return list;
}

static PyObject *Platform_repr(PyObject *op) {
    PyObject *name = PyObject_GetAttrString(op, "name");
    if (name == NULL) {
        PyErr_Clear();
        return PyUnicode_FromFormat("<pygpu.Platform at %p>", (void *)((Platform *)op)->id);
    }
    PyObject *repr =
        PyUnicode_FromFormat("<pygpu.Platform '%U' at %p>", name, (void *)((Platform *)op)->id);
    Py_DECREF(name);
    return repr;
}

static PyObject *Platform_of_handle(State *state, PyTypeObject *Py_UNUSED(type), void *handle,
                                    int Py_UNUSED(retain)) {
    return ocl_platform_wrap(state, (cl_platform_id)handle);
}

PG_DOC(Platform_from_int_ptr__doc__, "from_int_ptr", "int_ptr_value, retain=True",
       "(int_ptr_value: int, retain: bool = True) -> Platform",
       "Platform of a cl_platform_id that another library passed as an integer. LogicError for "
       "most wrong numbers (on Linux).");
PG_FUNCTION(Platform_from_int_ptr, 2)
static PyObject *Platform_from_int_ptr_impl(PyObject *type, PyObject *const *a) {
    return ocl_from_int_ptr(type, a, "Platform.from_int_ptr", Platform_of_handle);
}

static PyObject *Platform_get_cl_version(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    int version = ((Platform *)op)->version;
    return Py_BuildValue("(ii)", version / 100, version % 100 / 10);
}

static PyMethodDef Platform_methods[] = {
    OCL_VERSION_METHOD(Platform),
    PG_NO_PICKLE,
    {"get_devices", FAST(Platform_get_devices), Platform_get_devices__doc__},
    INFO_METHOD(Platform_get_info, "platform_info"),
    OCL_FROM_INT_PTR_METHOD(Platform),
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef Platform_getset[] = {
#define PLATFORM_INFO(attr, KIND, number, PARAM, unit, text) \
    INFO_GETSET(ROW_##attr, #attr, Platform_get, KIND, #PARAM, unit, text)
#include "opencl/api/info.def"
    OCL_HANDLE_GETSET("cl_platform_id"),
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
PG_DICT_MEMBERS(Platform, Platform);
static PyType_Slot Platform_slots[] = {
    {Py_tp_doc,
     (void *)"An OpenCL implementation: a driver with its devices, from get_platforms()."},
    PG_GC_SLOTS(Platform),
    {Py_tp_repr, (void *)Platform_repr},
    OCL_HANDLE_SLOTS,
    PG_TABLE_SLOTS(Platform),
    {0, NULL},
};
OCL_TYPE(Platform, Platform,
         Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION);

/* ---- functions ------------------------------------------------------------------------------- */

static PyObject *get_platforms(PyObject *module, PyObject *Py_UNUSED(ignored)) {
    State *state = PyModule_GetState(module);
    if (ocl_driver_ready(state) < 0) {
        return NULL;
    }
    cl_uint n = 0, found;
    cl_int status = CL_SUCCESS;
    CL_NOGIL(status, clGetPlatformIDs, 0, NULL, &n);
    if (status == -1001 /* PLATFORM_NOT_FOUND_KHR */ || (status == CL_SUCCESS && n == 0)) {
        PyObject *loader = PyImport_ImportModule("pygpu._src.drivers.opencl_loader");
        PyObject *advice =
            loader != NULL ? PyObject_CallMethod(loader, "no_platform_advice", "O", module) : NULL;
        Py_XDECREF(loader);
        if (advice != NULL) {
            ocl_raise_with(state, "clGetPlatformIDs", -1001, "%U", advice);
            Py_DECREF(advice);
        }
        return NULL;
    }
    if (status != CL_SUCCESS) {
        return ocl_raise(state, "clGetPlatformIDs", status);
    }
    cl_platform_id *ids = PyMem_Calloc(n, sizeof *ids);
    if (ids == NULL) {
        return PyErr_NoMemory();
    }
    found = n;
    CL_CALL(status, clGetPlatformIDs, n, ids, &found);
    if (status == CL_SUCCESS) {
        ocl_note_platforms(ids, found < n ? found : n);
    }
    PyObject *list = status == CL_SUCCESS ? PyList_New(0)
                                          : ocl_raise(state, "clGetPlatformIDs", status);
    for (cl_uint i = 0; list != NULL && i < n && i < found; i++) {
        pg_append(&list, ocl_platform_wrap(state, ids[i]));
    }
    PyMem_Free(ids);
    return list;
}

static PyObject *unload_platform_compiler(PyObject *module, PyObject *platform) {
    State *state = PyModule_GetState(module);
    if (!PyObject_TypeCheck(platform, state->PlatformType)) {
        return PyErr_Format(PyExc_TypeError,
                            "unload_platform_compiler: platform must be a Platform, not %s",
                            pg_type_name(platform));
    }
    cl_int status = CL_SUCCESS;
    if (ocl_need_version(state, "clUnloadPlatformCompiler", ((Platform *)platform)->version, 120) <
        0) {
        return NULL;
    }
    CL_CALL(status, clUnloadPlatformCompiler, ((Platform *)platform)->id);
    return status == CL_SUCCESS ? Py_NewRef(Py_None)
                                : ocl_raise(state, "clUnloadPlatformCompiler", status);
}

static PyObject *as_nvidia(PyObject *Py_UNUSED(module), PyObject *flag) {
    int wanted = PyObject_IsTrue(flag);
    if (wanted < 0) {
        return NULL;
    }
    all_as_nvidia = wanted;
    ocl_unregister_all_instances();
    ocl_queues_shared = 0;
    if (!wanted) {
        ocl_quirks_in_use &= ~ocl_quirks_of(OCL_DRIVER_NVIDIA); /* until its next context is made */
    }
    Py_RETURN_NONE;
}

PyMethodDef ocl_platform_functions[] = {
    {"get_platforms", get_platforms, METH_NOARGS,
     "get_platforms()\n--\n\n() -> list[Platform]\n\nAll OpenCL platforms. Raises LogicError, with "
     "what was tried and what to install, if there is none."},
    {"_as_nvidia", as_nvidia, METH_O,
     "_as_nvidia(flag, /)\n--\n\n(flag: bool, /) -> None\n\nTreat the platforms asked for from now "
     "on like NVIDIA's. For tests only."},
    {"unload_platform_compiler", unload_platform_compiler, METH_O,
     "unload_platform_compiler(platform, /)\n--\n\n(platform: Platform, /) -> None\n\nLet a "
     "platform free its compiler's memory."},
    {NULL, NULL, 0, NULL},
};
