/* context.c - Context: devices of one platform that share memory and programs. */
#include "opencl/api/info.h"
#include "opencl/api/roles.h"
#include "opencl/context.h"
#include "opencl/device.h"
#include "opencl/lifetime/deferred_init.h"
#include "opencl/lifetime/gil_release.h"
#include "opencl/lifetime/instance_registry.h"
#include "opencl/lifetime/pocl_quiesce.h"
#include "opencl/objects/gl.h"
#include "opencl/objects/program.h"
#include "opencl/opencl.h"
#include "opencl/platform.h"
#include "opencl/queue.h"

enum {
#define CONTEXT_INFO(attr, KIND, number, PARAM, unit, text) ROW_##attr,
#include "opencl/api/info.def"
    ROW_COUNT
};
static const Info Context_info[] = {
#define CONTEXT_INFO(attr, KIND, number, PARAM, unit, text) {#attr, INFO_##KIND, PARAM},
#include "opencl/api/info.def"
};

static cl_int Context_query(void *self, cl_uint param, size_t size, void *value, size_t *size_ret) {
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clGetContextInfo, ((Context *)self)->context, param, size, value, size_ret);
    return status;
}

/* Uses the devices that the context was made of, if the driver will list the same ones: for
 * sub-devices PoCL lists the root. */
static int Context_fill_with(Context *self, PyObject *devices, cl_uint n) {
    self->devices = PyMem_Calloc((size_t)n + 1, sizeof *self->devices);
    if (self->devices == NULL) {
        return PyErr_NoMemory(), -1;
    }
    self->version = 300;
    for (cl_uint i = 0; i < n; i++) {
        Device *device = self->devices[self->n_devices++] =
            (Device *)Py_NewRef(PyTuple_GET_ITEM(devices, i));
        ocl_quirks_in_use |= device->platform->quirks;
        self->version = device->version < self->version ? device->version : self->version;
    }
    ocl_quiesce_register(self);
    return 0;
}

static int lists_as_given(PyObject *devices, cl_uint n) {
    int same = devices != NULL && n > 0 && n == (cl_uint)PyTuple_GET_SIZE(devices) &&
               !pg_trap; /* tests that count calls must see all of them */
    for (cl_uint i = 0; same && i < n; i++) {
        same = !((Device *)PyTuple_GET_ITEM(devices, i))->owned;
    }
    return same;
}

/* Queries the list of devices from the handle, which self already owns. */
static int Context_fill(Context *self) {
    size_t size = 0;
    cl_int status = Context_query(self, CL_CONTEXT_DEVICES, 0, NULL, &size);
    size_t n = size / sizeof(cl_device_id);
    cl_device_id *ids = PyMem_Calloc(n + 1, sizeof *ids);
    self->devices = PyMem_Calloc(n + 1, sizeof *self->devices);
    if (ids == NULL || self->devices == NULL) {
        PyMem_Free(ids);
        PyErr_NoMemory();
        return -1;
    }
    if (status == CL_SUCCESS) {
        status = Context_query(self, CL_CONTEXT_DEVICES, size, ids, NULL);
    }
    self->version = 300;
    for (size_t i = 0; i < n && status == CL_SUCCESS; i++) {
        Device *device = (Device *)ocl_device_wrap(self->state, ids[i],
                                                   i > 0 ? self->devices[0]->platform : NULL, 0);
        if (device == NULL) {
            PyMem_Free(ids);
            return -1;
        }
        self->devices[self->n_devices++] = device;
        ocl_quirks_in_use |= device->platform->quirks;
        self->version = device->version < self->version ? device->version : self->version;
    }
    PyMem_Free(ids);
    if (status != CL_SUCCESS) {
        ocl_raise(self->state, "clGetContextInfo", status);
        return -1;
    }
    if (self->n_devices > 0) {
        ocl_quiesce_register(self);
    }
    return 0;
}

/* Copies what another object of the same handle knows. */
static int Context_fill_from(Context *self, const Context *twin) {
    self->devices = PyMem_Calloc((size_t)twin->n_devices + 1, sizeof *self->devices);
    if (self->devices == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (; self->n_devices < twin->n_devices; self->n_devices++) {
        self->devices[self->n_devices] = (Device *)Py_NewRef(twin->devices[self->n_devices]);
    }
    self->version = twin->version;
    self->shares_gl = twin->shares_gl;
    self->given = Py_XNewRef(twin->given);
    return 0;
}

/* An object with its own reference to the handle. */
static PyObject *Context_twin(State *state, cl_context handle, int retain) {
    cl_int status = CL_SUCCESS;
    if (retain) {
        CL_CALL(status, clRetainContext, handle);
        if (status != CL_SUCCESS) {
            return ocl_raise(state, "clRetainContext", status);
        }
    }
    ocl_live[LIVE_CONTEXT]++;
    Context *self = (Context *)PG_NEW(state->ContextType);
    if (self == NULL) {
        CL_RELEASE(LIVE_CONTEXT, clReleaseContext, handle);
        return NULL;
    }
    self->state = state;
    self->context = handle;
    self->shares_gl = -1;
    PyObject *twin = ocl_find_instance(state, state->ContextType, handle);
    if ((twin != NULL ? Context_fill_from(self, (Context *)twin) : Context_fill(self)) < 0) {
        Py_CLEAR(self);
    } else if (twin == NULL) {
        ocl_register_instance((PyObject *)self);
    }
    Py_XDECREF(twin);
    return (PyObject *)self;
}

PyObject *ocl_context_wrap(State *state, cl_context handle) {
    PyObject *self = ocl_find_instance(state, state->ContextType, handle);
    return self != NULL ? self : Context_twin(state, handle, 1);
}

Context *ocl_as_context(State *state, PyObject *obj, const char *call) {
    if (!PyObject_TypeCheck(obj, state->ContextType)) {
        PyErr_Format(PyExc_TypeError, "%s: context must be a Context, not %s", call,
                     pg_type_name(obj));
        return NULL;
    }
    if (PG_UNLIKELY(((Context *)obj)->context == NULL)) {
        ocl_refuse_uninitialized(state, call, "context", CL_INVALID_CONTEXT);
        return NULL;
    }
    return (Context *)obj;
}

/* The kind of a property's value; VALUE_NUMBER is passed on unchanged. */
typedef enum { VALUE_NUMBER, VALUE_PLATFORM, VALUE_ADDRESS, VALUE_GL } ValueKind;
static const struct {
    int64_t key;
    ValueKind kind;
    const char *name;
} known_properties[] = {
    {CL_CONTEXT_PLATFORM, VALUE_PLATFORM, "PLATFORM"},
    {CL_GL_CONTEXT_KHR, VALUE_GL, "GL_CONTEXT_KHR"},
    {CL_EGL_DISPLAY_KHR, VALUE_ADDRESS, "EGL_DISPLAY_KHR"},
    {CL_GLX_DISPLAY_KHR, VALUE_ADDRESS, "GLX_DISPLAY_KHR"},
    {CL_WGL_HDC_KHR, VALUE_ADDRESS, "WGL_HDC_KHR"},
    {CL_CGL_SHAREGROUP_KHR, VALUE_GL, "CGL_SHAREGROUP_KHR"},
    {CL_CONTEXT_PROPERTY_USE_CGL_SHAREGROUP_APPLE, VALUE_GL,
     "CONTEXT_PROPERTY_USE_CGL_SHAREGROUP_APPLE"},
};

/* A handle of another library: an int, or a ctypes pointer, as PyOpenGL returns. */
static int as_address(PyObject *value, const char *call, const char *name, uint64_t *out) {
    if (value == Py_None) { /* ctypes returns null pointers as None */
        *out = 0;
        return 0;
    }
    if (PyIndex_Check(value)) {
        return pg_as_u64(value, call, name, out);
    }
    PyObject *module = ocl_role("gl");
    PyObject *number = module != NULL ? PyObject_CallMethod(module, "_address", "O", value) : NULL;
    Py_XDECREF(module);
    if (number == Py_None) {
        PyErr_Format(PyExc_TypeError,
                     "%s: the property %s must be an int or a pointer of ctypes, not %s", call,
                     name, pg_type_name(value));
    }
    int result = number == NULL || number == Py_None ? -1 : pg_as_u64(number, call, name, out);
    Py_XDECREF(number);
    return result;
}

static int add_property(State *state, PyObject *pair, const char *call, ContextProperties *out) {
    int64_t key, number;
    uint64_t address;
    if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2) {
        PyErr_Format(PyExc_TypeError,
                     "%s: properties must be a list of (context_properties.NAME, value) tuples",
                     call);
        return -1;
    }
    PyObject *value = PyTuple_GET_ITEM(pair, 1);
    if (pg_as_i64(PyTuple_GET_ITEM(pair, 0), call, "property", &key) < 0) {
        return -1;
    }
    size_t i = 0, count = sizeof known_properties / sizeof known_properties[0];
    while (i < count && known_properties[i].key != key) {
        i++;
    }
    const char *name = i < count ? known_properties[i].name : "property value";
    switch (i < count ? known_properties[i].kind : VALUE_NUMBER) {
    case VALUE_PLATFORM:
        if (!PyObject_TypeCheck(value, state->PlatformType)) {
            PyErr_Format(PyExc_TypeError, "%s: the property PLATFORM must be a Platform, not %s",
                         call, pg_type_name(value));
            return -1;
        }
        out->platform = ((Platform *)value)->id;
        number = (int64_t)(intptr_t)out->platform;
        break;
    case VALUE_ADDRESS:
    case VALUE_GL:
        if (as_address(value, call, name, &address) < 0) {
            return -1;
        }
        if (address == 0) {
            ocl_reject(state, call, CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR,
                       "the property %s is 0: no OpenGL context is current in this thread", name);
            return -1;
        }
        if (known_properties[i].kind == VALUE_GL) {
            out->shares_gl = 1;
            out->may_lack_devices |= key != CL_GL_CONTEXT_KHR;
        }
        number = (int64_t)address;
        break;
    default:
        if (pg_as_i64(value, call, name, &number) < 0) {
            return -1;
        }
    }
    out->list[2 * out->n] = (cl_context_properties)key;
    out->list[2 * out->n + 1] = (cl_context_properties)number;
    out->list[2 * ++out->n] = 0;
    return 0;
}

int ocl_context_properties(State *state, PyObject *obj, const char *call, ContextProperties *out) {
    *out = (ContextProperties){.n = 0};
    if (obj == NULL || obj == Py_None) {
        return 0;
    }
    PyObject *items = pg_tuple(obj, call, "properties", "(context_properties.NAME, value) tuples",
                               OCL_MAX_CONTEXT_PROPERTIES);
    int result = items != NULL ? 0 : -1;
    for (Py_ssize_t i = 0; result == 0 && i < PyTuple_GET_SIZE(items); i++) {
        result = add_property(state, PyTuple_GET_ITEM(items, i), call, out);
    }
    Py_XDECREF(items);
    return result;
}

/* A loader with several platforms must be told which one is meant. */
void ocl_context_properties_add(ContextProperties *self, cl_platform_id platform) {
    if (self->platform == NULL && platform != NULL) {
        self->platform = platform;
        self->list[2 * self->n] = CL_CONTEXT_PLATFORM;
        self->list[2 * self->n + 1] = (cl_context_properties)(intptr_t)platform;
        self->list[2 * ++self->n] = 0;
    }
}

/* The first of the platforms that has a device of this type, else the first: a driver may be
 * installed without its hardware. */
static cl_platform_id first_with(const cl_platform_id *platforms, cl_uint n, cl_device_type type) {
    cl_platform_id found = n > 0 ? platforms[0] : NULL;
    Py_BEGIN_ALLOW_THREADS
    for (cl_uint i = 0; n > 1 && i < n; i++) {
        cl_uint devices = 0;
        cl_int status = ocl_device_ids(platforms[i], type, 0, NULL, &devices);
        if (status == CL_SUCCESS && devices > 0) {
            found = platforms[i];
            break;
        }
    }
    Py_END_ALLOW_THREADS
    return found;
}

static int add_first_platform(State *state, ContextProperties *properties, cl_device_type type) {
    cl_platform_id first = NULL, *platforms = NULL;
    cl_uint n = 0, found = 0;
    cl_int status = CL_SUCCESS;
    if (properties->platform != NULL) {
        return 0;
    }
    if (properties->shares_gl &&
        ((first = ocl_first_gl_platform(state)) != NULL || PyErr_Occurred())) {
        ocl_context_properties_add(properties, first);
        return first != NULL ? 0 : -1;
    }
    CL_CALL(status, clGetPlatformIDs, 0, NULL, &n);
    if (status != CL_SUCCESS || n == 0) {
        return 0; /* creating the context says what is wrong */
    }
    platforms = PyMem_Calloc(n, sizeof *platforms);
    if (platforms == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    CL_CALL(status, clGetPlatformIDs, n, platforms, &found);
    found = status != CL_SUCCESS ? 0 : found < n ? found : n;
    ocl_context_properties_add(properties, first_with(platforms, found, type));
    PyMem_Free(platforms);
    return 0;
}

/* Checks that the devices (a tuple, or NULL for those of the platform) can share with OpenGL. */
static int need_gl(State *state, const ContextProperties *properties, PyObject *devices) {
    if (devices == NULL && properties->platform != NULL) {
        return ocl_need_gl_platform(state, "Context", properties->platform);
    }
    for (Py_ssize_t i = 0; devices != NULL && i < PyTuple_GET_SIZE(devices); i++) {
        if (ocl_need_gl_device(state, "Context", (Device *)PyTuple_GET_ITEM(devices, i)) < 0) {
            return -1;
        }
    }
    return 0;
}

/* The callback for asynchronous error reports, from any thread. They are ignored: errors reach the
 * caller as a status. */
PG_DOC(Context__doc__, "Context", "devices=None, properties=None, dev_type=None, cache_dir=None",
       "(devices: Sequence[Device] | None = None, properties: Sequence[tuple[int, object]] | None "
       "= None, dev_type: int | None = None, "
       "cache_dir: str | None = None)",
       "Devices of one platform that share memory objects and programs.\n\n"
       "devices: the Devices; or dev_type (device_type.GPU, ...) takes all of that type, of the "
       "first platform that has any; with neither, the first such platform's default. properties: "
       "[(context_properties.PLATFORM, platform), ...], and to share with OpenGL those of "
       "tools.get_gl_sharing_context_properties().\n"
       "cache_dir: the folder in which Program.build caches binaries for this context.\n\n"
       "Raises the driver's LogicError or RuntimeError; ValueError for an empty list.");
static ArgSpec Context_args = PG_ARGSPEC(Context__doc__);

/* Checks that the devices (a tuple, or NULL) belong to one platform. */
static int check_devices(State *state, PyObject *devices, int by_type, int may_lack_devices) {
    if (devices == NULL) {
        return 0;
    }
    if (by_type) {
        ocl_reject(state, "Context", CL_INVALID_VALUE, "give devices or dev_type, not both");
        return -1;
    }
    if (PyTuple_GET_SIZE(devices) == 0 && !may_lack_devices) {
        ocl_reject(state, "Context", CL_INVALID_VALUE,
                   "devices is empty; leave it out to take all devices of a platform");
        return -1;
    }
    for (Py_ssize_t i = 1; i < PyTuple_GET_SIZE(devices); i++) { /* some drivers dereference a
                                                                  * foreign handle */
        if (((Device *)PyTuple_GET_ITEM(devices, i))->platform->id !=
            ((Device *)PyTuple_GET_ITEM(devices, 0))->platform->id) {
            ocl_reject(state, "Context", CL_INVALID_DEVICE,
                       "the devices belong to different platforms; a context has one");
            return -1;
        }
    }
    return 0;
}

/* Removes duplicates and returns how many devices are left: the specification ignores duplicates,
 * but NVIDIA's driver refuses them. */
static cl_uint drop_repeated(cl_device_id *ids, cl_uint n) {
    cl_uint different = 0;
    for (cl_uint i = 0; i < n; i++) {
        cl_uint k = 0;
        while (k < different && ids[k] != ids[i]) {
            k++;
        }
        if (k == different) {
            ids[different++] = ids[i];
        }
    }
    return different;
}

/* Makes a context of the given devices, or if by_type is set, of all devices of dev_type. */
static int create(Context *self, const ContextProperties *properties, int by_type,
                  cl_device_type dev_type, const cl_device_id *ids, cl_uint n) {
    const char *routine = by_type ? "clCreateContextFromType" : "clCreateContext";
    cl_int status;
    int tries = 0, again;
    const cl_context_properties *list = properties->n > 0 ? properties->list : NULL;
    do {
        status = CL_SUCCESS;
        Py_BEGIN_ALLOW_THREADS
        if (by_type) {
            int locked = ocl_lock_devices();
            CL_MAKE(self->context, status, clCreateContextFromType, list, dev_type, NULL, NULL);
            ocl_unlock_devices(locked);
        } else {
            CL_MAKE(self->context, status, clCreateContext, list, n, n > 0 ? ids : NULL, NULL,
                    NULL);
        }
        Py_END_ALLOW_THREADS
        again = status == CL_SUCCESS ? 0 : ocl_retry(self->state, status, &tries);
    } while (again == 1);
    if (again < 0 || status != CL_SUCCESS || self->context == NULL) {
        self->context = NULL;
        if (again >= 0) {
            ocl_raise(self->state, routine, status != CL_SUCCESS ? status : CL_OUT_OF_RESOURCES);
        }
        return -1;
    }
    ocl_live[LIVE_CONTEXT]++;
    return 0;
}

static PyObject *Context_construct(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *a[4], *keep = NULL;
    ContextProperties properties;
    uint64_t dev_type = CL_DEVICE_TYPE_DEFAULT;
    cl_device_id *ids = NULL;
    cl_uint n = 0;
    Context *self = NULL;
    State *state = ocl_state_of(type);
    if (state == NULL || pg_args_tuple(&Context_args, args, kwargs, a) < 0 ||
        ocl_driver_ready(state) < 0 ||
        ocl_context_properties(state, a[1], "Context", &properties) < 0 ||
        ocl_as_devices(state, a[0], "Context", &ids, &n, &keep) < 0) {
        return NULL;
    }
    int by_type = a[2] != NULL && a[2] != Py_None;
    if (check_devices(state, keep, by_type, properties.may_lack_devices) < 0 ||
        (by_type && pg_as_u64(a[2], "Context", "dev_type", &dev_type) < 0)) {
        goto fail;
    }
    n = drop_repeated(ids, n);
    if (n > 0) {
        ocl_context_properties_add(&properties,
                                   ((Device *)PyTuple_GET_ITEM(keep, 0))->platform->id);
    } else if (keep == NULL && add_first_platform(state, &properties, dev_type) < 0) {
        goto fail;
    }
    if (properties.shares_gl && need_gl(state, &properties, keep) < 0) {
        goto fail;
    }
    self = (Context *)PG_NEW(type);
    if (self == NULL) {
        goto fail;
    }
    self->state = state;
    self->shares_gl = properties.shares_gl;
    if (create(self, &properties, keep == NULL, dev_type, ids, n) < 0) {
        goto fail;
    }
    if ((lists_as_given(keep, n) ? Context_fill_with(self, keep, n) : Context_fill(self)) < 0) {
        goto fail;
    }
    if (a[3] != NULL && PyObject_SetAttrString((PyObject *)self, "cache_dir", a[3]) < 0) {
        goto fail;
    }
    PyMem_Free(ids);
    self->given = keep;
    ocl_register_instance((PyObject *)self);
    return (PyObject *)self;
fail:
    PyMem_Free(ids);
    Py_XDECREF(keep);
    Py_XDECREF(self);
    return NULL;
}

OCL_MADE_BY_INIT(Context, Context, ContextType, OCL_HAS_CONTEXT)

static int Context_traverse(PyObject *op, visitproc visit, void *arg) {
    Context *self = (Context *)op;
    Py_VISIT(Py_TYPE(op));
    for (Py_ssize_t i = 0; i < self->n_devices; i++) {
        Py_VISIT(self->devices[i]);
    }
    Py_VISIT(self->given);
    Py_VISIT(self->dict);
    return 0;
}

static int Context_clear(
    PyObject *op) { /* devices cannot be part of a cycle; user attributes can */
    Py_CLEAR(((Context *)op)->dict);
    return 0;
}

static void Context_dealloc(PyObject *op) {
    Context *self = (Context *)op;
    pg_untrack(op, self->weakrefs);
    ocl_unregister_instance(op);
    if (self->context != NULL) {
        CL_RELEASE(LIVE_CONTEXT, clReleaseContext, self->context);
    }
    for (Py_ssize_t i = 0; i < self->n_devices; i++) {
        Py_DECREF(self->devices[i]);
    }
    PyMem_Free(self->devices);
    Py_XDECREF(self->given);
    Py_XDECREF(self->dict);
    pg_object_free(op);
}

static PyObject *device_list(Context *self) {
    PyObject *list = PyList_New(self->n_devices);
    for (Py_ssize_t i = 0; list != NULL && i < self->n_devices; i++) {
        PyList_SET_ITEM(list, i, Py_NewRef(self->devices[i]));
    }
    return list;
}

/* [(key, value)] with Platform objects, in the form that the constructor accepts. */
static PyObject *property_list(Context *self, const Info *row) {
    PyObject *flat = ocl_info(self->state, self, Context_query, "clGetContextInfo", row),
             *list = flat != NULL ? PyList_New(0) : NULL;
    for (Py_ssize_t i = 0; list != NULL && i + 1 < PyList_GET_SIZE(flat); i += 2) {
        PyObject *key = PyList_GET_ITEM(flat, i), *value = PyList_GET_ITEM(flat, i + 1);
        long long number = PyLong_AsLongLong(key);
        if (number == 0) {
            break;
        }
        PyObject *object =
            number == CL_CONTEXT_PLATFORM
                ? ocl_platform_wrap(self->state, (cl_platform_id)PyLong_AsVoidPtr(value))
                : Py_NewRef(value);
        PyObject *pair = object != NULL ? PyTuple_Pack(2, key, object) : NULL;
        Py_XDECREF(object);
        pg_append(&list, pair);
    }
    Py_XDECREF(flat);
    return list;
}

static PyObject *Context_get(PyObject *op, void *closure) {
    Context *self = (Context *)op;
    const Info *row = &Context_info[(intptr_t)closure];
    if (self->context == NULL &&
        ocl_refuse_uninitialized(self->state, row->name, "context", CL_INVALID_CONTEXT) < 0) {
        return NULL;
    }
    switch (row->param) {
    case CL_CONTEXT_DEVICES:
        return device_list(self);
    case CL_CONTEXT_NUM_DEVICES: /* not in OpenCL 1.0, but known here */
        return PyLong_FromSsize_t(self->n_devices);
    case CL_CONTEXT_PROPERTIES:
        return property_list(self, row);
    default:
        return ocl_info(self->state, op, Context_query, "clGetContextInfo", row);
    }
}

static PyObject *Context_get_info(PyObject *op, PyObject *param) {
    if (ocl_as_context(((Context *)op)->state, op, "clGetContextInfo") == NULL) {
        return NULL;
    }
    return ocl_info_by_param(((Context *)op)->state, op, Context_query, "clGetContextInfo",
                             Context_info, ROW_COUNT, Context_get, param);
}

PG_DOC(Context_set_default__doc__, "set_default_device_command_queue", "$self, device, queue",
       "(device: Device, queue: CommandQueue) -> None",
       "Make *queue*, an on-device queue, the default of *device* (OpenCL 2.1).");
PG_FUNCTION(Context_set_default, 2)
static PyObject *Context_set_default_impl(PyObject *op, PyObject *const *a) {
    Context *self = (Context *)op;
    Device *device;
    Queue *queue;
    const char *call = "clSetDefaultDeviceCommandQueue";
    if ((device = ocl_as_device(self->state, a[0], call, "device")) == NULL ||
        (queue = ocl_as_queue(self->state, a[1], call)) == NULL ||
        ocl_need_version(self->state, call, self->version, 210) < 0) {
        return NULL;
    }
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clSetDefaultDeviceCommandQueue, self->context, device->id, queue->queue);
    return status == CL_SUCCESS ? Py_NewRef(Py_None) : ocl_raise(self->state, call, status);
}

static PyObject *Context_repr(PyObject *op) {
    Context *self = (Context *)op;
    PyObject *reprs = PyList_New(0), *repr = NULL;
    for (Py_ssize_t i = 0; reprs != NULL && i < self->n_devices; i++) {
        pg_append(&reprs, PyObject_Repr((PyObject *)self->devices[i]));
    }
    PyObject *joined = pg_join(", ", reprs);
    if (joined != NULL) {
        repr = PyUnicode_FromFormat("<pygpu.Context at %p on %U>", (void *)self->context, joined);
    }
    Py_XDECREF(joined);
    return repr;
}

static PyObject *Context_of_handle(State *state, PyTypeObject *Py_UNUSED(type), void *handle,
                                   int retain) {
    return Context_twin(state, (cl_context)handle, retain);
}

OCL_FROM_INT_PTR(Context, "Context", "Context", "Context of a cl_context")

static PyObject *Context_get_cl_version(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    int version = ((Context *)op)->version;
    return Py_BuildValue("(ii)", version / 100, version % 100 / 10);
}

static PyMethodDef Context_methods[] = {
    OCL_VERSION_METHOD(Context),
    PG_NO_PICKLE,
    INFO_METHOD(Context_get_info, "context_info"),
    {"set_default_device_command_queue", FAST(Context_set_default), Context_set_default__doc__},
    OCL_FROM_INT_PTR_METHOD(Context),
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef Context_getset[] = {
#define CONTEXT_INFO(attr, KIND, number, PARAM, unit, text) \
    INFO_GETSET(ROW_##attr, #attr, Context_get, KIND, #PARAM, unit, text)
#include "opencl/api/info.def"
    OCL_HANDLE_GETSET("cl_context"),
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
PG_DICT_MEMBERS(Context, Context);
static PyType_Slot Context_slots[] = {
    PG_NEW_SLOTS(Context), PG_GC_SLOTS(Context),    {Py_tp_repr, (void *)Context_repr},
    OCL_HANDLE_SLOTS,      PG_TABLE_SLOTS(Context), {0, NULL},
};
OCL_TYPE(Context, Context, Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE);
