/* gl.c - GLBuffer, GLRenderBuffer, GLTexture: OpenGL objects as memory for kernels, and the
 * commands that acquire and release them. */
#include "opencl/api/info.h"
#include "opencl/api/roles.h"
#include "opencl/context.h"
#include "opencl/device.h"
#include "opencl/enqueue.h"
#include "opencl/event.h"
#include "opencl/lifetime/deferred_init.h"
#include "opencl/lifetime/gil_release.h"
#include "opencl/memory.h"
#include "opencl/objects/gl.h"
#include "opencl/opencl.h"
#include "opencl/platform.h"
#include "opencl/queue.h"

#define EXTENSION       "cl_khr_gl_sharing"
#define EXTENSION_APPLE "cl_APPLE_gl_sharing"
#define LACKING                      \
    "lacks the extension " EXTENSION \
    ", so nothing can be shared with OpenGL there; have_gl() tells whether any device has it"

static const Info Texture_info[] = {
    {"TEXTURE_TARGET", INFO_UINT, CL_GL_TEXTURE_TARGET},
    {"MIPMAP_LEVEL", INFO_INT, CL_GL_MIPMAP_LEVEL},
    {"NUM_SAMPLES", INFO_INT, CL_GL_NUM_SAMPLES},
};

/* What OpenGL textures can be bound to (GL_TEXTURE_...), and the number of coordinates of their
 * pixels. */
static const struct {
    cl_uint target, last;
    int dims;
    int flat; /* has no mip levels */
} targets[] = {
    {0x0DE0, 0x0DE0, 1, 0}, /* 1D */
    {0x0DE1, 0x0DE1, 2, 0}, /* 2D */
    {0x806F, 0x806F, 3, 0}, /* 3D */
    {0x84F5, 0x84F5, 2, 1}, /* RECTANGLE */
    {0x8515, 0x851A, 2, 0}, /* CUBE_MAP_POSITIVE_X to CUBE_MAP_NEGATIVE_Z */
    {0x8C18, 0x8C18, 2, 0}, /* 1D_ARRAY: the last coordinate counts images */
    {0x8C1A, 0x8C1A, 3, 0}, /* 2D_ARRAY */
    {0x8C2A, 0x8C2A, 1, 1}, /* BUFFER */
    {0x9100, 0x9100, 2, 1}, /* 2D_MULTISAMPLE */
    {0x9102, 0x9102, 3, 1}, /* 2D_MULTISAMPLE_ARRAY */
};

/* ---- which devices can share ----------------------------------------------------------------- */

int ocl_need_gl_device(State *state, const char *call, Device *device) {
    if (device->shares_gl == 0) {
        int found = ocl_device_has_extension(device, EXTENSION);
        if (found == 0) {
            found = ocl_device_has_extension(device, EXTENSION_APPLE);
        }
        if (found < 0) {
            return -1;
        }
        device->shares_gl = found ? 1 : -1;
    }
    if (device->shares_gl < 0) {
        ocl_raise_with(state, call, CL_INVALID_OPERATION, "%R " LACKING, (PyObject *)device);
        return -1;
    }
    return 0;
}

int ocl_need_gl_platform(State *state, const char *call, cl_platform_id id) {
    PyObject *platform = ocl_platform_wrap(state, id),
             *module = platform != NULL ? ocl_role("gl") : NULL;
    PyObject *answer = module != NULL ? PyObject_CallMethod(module, "_shares", "O", platform)
                                      : NULL;
    int shares = answer != NULL ? PyObject_IsTrue(answer) : -1;
    if (shares == 0) {
        ocl_raise_with(state, call, CL_INVALID_OPERATION, "each device of %R " LACKING, platform);
    }
    Py_XDECREF(answer);
    Py_XDECREF(module);
    Py_XDECREF(platform);
    return shares == 1 ? 0 : -1;
}

cl_platform_id ocl_first_gl_platform(State *state) {
    PyObject *module = ocl_role("gl");
    PyObject *platform = module != NULL ? PyObject_CallMethod(module, "_first_platform", NULL)
                                        : NULL;
    cl_platform_id id = platform != NULL && PyObject_TypeCheck(platform, state->PlatformType)
                            ? ((Platform *)platform)->id
                            : NULL;
    Py_XDECREF(platform);
    Py_XDECREF(module);
    return id; /* platforms are never freed */
}

/* Call before a function of the extension: an ICD loader would call it even if the driver lacks
 * it. */
static int need_function(State *state, const char *routine, int fn, Device *device) {
    if (ocl_need_gl_device(state, routine, device) < 0) {
        return -1;
    }
    if (!ocl_extension_ready(device->platform->id, fn)) {
        ocl_raise(state, routine, PG_STATUS_MISSING);
        return -1;
    }
    return 0;
}

/* ---- creation -------------------------------------------------------------------------------- */

/* An OpenGL object to be shared, after checks. */
typedef struct {
    int fn; /* FN_clCreateFromGL... */
    cl_mem_flags flags;
    cl_uint target, name;
    int level;
    cl_mem_object_type type; /* used if the driver does not report it */
} Plan;

static int as_plan(State *state, const char *call, PyObject *flags, const char *what,
                   PyObject *name, Plan *plan) {
    const cl_mem_flags access = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
    if (pg_as_u64(flags, call, "flags", &plan->flags) < 0 ||
        pg_as_u32(name, call, what, &plan->name) < 0) {
        return -1;
    }
    if ((plan->flags & ~access) != 0 || (plan->flags & (plan->flags - 1)) != 0) {
        ocl_reject(state, call, CL_INVALID_VALUE,
                   "flags = %s must be one of mem_flags.READ_WRITE, READ_ONLY and WRITE_ONLY: the "
                   "memory is OpenGL's",
                   pg_hex(plan->flags).text);
        return -1;
    }
    if (plan->name == 0) {
        ocl_reject(state, call, CL_INVALID_GL_OBJECT, "%s = 0 is not an object of OpenGL", what);
        return -1;
    }
    return 0;
}

static int need_gl_context(State *state, const char *call, Context *context) {
    if (context->n_devices == 0) {
        ocl_reject(state, call, CL_INVALID_CONTEXT, "the context has no device");
        return -1;
    }
    for (Py_ssize_t i = 0; i < context->n_devices; i++) {
        if (ocl_need_gl_device(state, call, context->devices[i]) < 0) {
            return -1;
        }
    }
    if (context->shares_gl == 0) {
        ocl_reject(state, call, CL_INVALID_CONTEXT,
                   "the context was made without an OpenGL context; give it the properties that "
                   "tools.get_gl_sharing_context_properties() returns");
        return -1;
    }
    return 0;
}

static cl_mem create(Context *context, const Plan *plan, cl_int *out) {
    cl_int status = CL_SUCCESS;
    cl_mem mem;
    Py_BEGIN_ALLOW_THREADS
    if (plan->fn == FN_clCreateFromGLBuffer) {
        CL_MAKE(mem, status, clCreateFromGLBuffer, context->context, plan->flags, plan->name);
    } else if (plan->fn == FN_clCreateFromGLRenderbuffer) {
        CL_MAKE(mem, status, clCreateFromGLRenderbuffer, context->context, plan->flags, plan->name);
    } else if (plan->fn == FN_clCreateFromGLTexture) {
        CL_MAKE(mem, status, clCreateFromGLTexture, context->context, plan->flags, plan->target,
                plan->level, plan->name);
    } else if (plan->fn == FN_clCreateFromGLTexture2D) {
        CL_MAKE(mem, status, clCreateFromGLTexture2D, context->context, plan->flags, plan->target,
                plan->level, plan->name);
    } else {
        CL_MAKE(mem, status, clCreateFromGLTexture3D, context->context, plan->flags, plan->target,
                plan->level, plan->name);
    }
    Py_END_ALLOW_THREADS
    *out = status == CL_SUCCESS && mem == NULL ? CL_INVALID_GL_OBJECT : status;
    return status == CL_SUCCESS ? mem : NULL;
}

static PyObject *make(State *state, PyTypeObject *type, Context *context, const char *routine,
                      const Plan *plan) {
    if (need_function(state, routine, plan->fn, context->devices[0]) < 0) {
        return NULL;
    }
    Memory *self = (Memory *)PG_NEW(type);
    if (self == NULL) {
        return NULL;
    }
    self->state = state;
    cl_int status;
    cl_mem mem;
    int tries = 0, again;
    do {
        mem = create(context, plan, &status);
        again = status == CL_SUCCESS ? 0 : ocl_retry(state, status, &tries);
    } while (again == 1);
    if (status != CL_SUCCESS) {
        if (again >= 0) {
            ocl_raise(state, routine, status);
        }
        Py_DECREF(self);
        return NULL;
    }
    if (ocl_memory_fill(self, mem, context) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    self->flags = plan->flags;
    if (self->type == 0) {
        self->type = plan->type;
    }
    return (PyObject *)self;
}

/* Makes a GLBuffer or a GLRenderBuffer. */
static PyObject *make_from(PyTypeObject *type, PyObject *args, PyObject *kwargs, ArgSpec *spec,
                           const char *name, const char *routine, Plan *plan) {
    PyObject *a[3];
    Context *context;
    State *state = ocl_state_of(type);
    if (state == NULL || pg_args_tuple(spec, args, kwargs, a) < 0 ||
        (context = ocl_as_context(state, a[0], name)) == NULL ||
        as_plan(state, name, a[1], "bufobj", a[2], plan) < 0 ||
        need_gl_context(state, name, context) < 0) {
        return NULL;
    }
    return make(state, type, context, routine, plan);
}

PG_DOC(
    GLBuffer__doc__, "GLBuffer", "context, flags, bufobj",
    "(context: Context, flags: int, bufobj: int)",
    "The memory of an OpenGL buffer object, which kernels use as a buffer.\n\n"
    "flags: mem_flags.READ_WRITE, READ_ONLY or WRITE_ONLY. bufobj: its name, from glGenBuffers(); "
    "its storage must exist.\n"
    "Commands may use it between enqueue_acquire_gl_objects() and enqueue_release_gl_objects().\n\n"
    "Raises LogicError if the device lacks cl_khr_gl_sharing, if the context was created without "
    "an OpenGL context, and if OpenGL has no such object.");
static ArgSpec GLBuffer_args = PG_ARGSPEC(GLBuffer__doc__);

static PyObject *GLBuffer_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    Plan plan = {.fn = FN_clCreateFromGLBuffer, .type = CL_MEM_OBJECT_BUFFER};
    return make_from(type, args, kwargs, &GLBuffer_args, "GLBuffer", "clCreateFromGLBuffer", &plan);
}

PG_DOC(
    GLRenderBuffer__doc__, "GLRenderBuffer", "context, flags, bufobj",
    "(context: Context, flags: int, bufobj: int)",
    "The pixels of an OpenGL renderbuffer, which kernels use as a 2-d image.\n\n"
    "flags: mem_flags.READ_WRITE, READ_ONLY or WRITE_ONLY. bufobj: its name, from "
    "glGenRenderbuffers(); its storage must exist. Commands may use it between "
    "enqueue_acquire_gl_objects() and "
    "enqueue_release_gl_objects().\n\n"
    "Raises LogicError if the device lacks cl_khr_gl_sharing, if the context was created without "
    "an OpenGL context, if OpenGL has no such object, and for formats that no image has.");
static ArgSpec GLRenderBuffer_args = PG_ARGSPEC(GLRenderBuffer__doc__);

static PyObject *GLRenderBuffer_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    Plan plan = {.fn = FN_clCreateFromGLRenderbuffer, .type = CL_MEM_OBJECT_IMAGE2D};
    return make_from(type, args, kwargs, &GLRenderBuffer_args, "GLRenderBuffer",
                     "clCreateFromGLRenderbuffer", &plan);
}

/* Checks target, level and dims against each other, and chooses the function that makes the
 * image. */
static int plan_texture(State *state, Context *context, int64_t level, int64_t dims, Plan *plan) {
    size_t i = 0, n = sizeof targets / sizeof targets[0];
    while (i < n && (plan->target < targets[i].target || plan->target > targets[i].last)) {
        i++;
    }
    if (i == n) {
        ocl_reject(state, "GLTexture", CL_INVALID_VALUE,
                   "texture_target = 0x%x is not one that OpenCL can share; pass a number such as "
                   "GL_TEXTURE_2D, 0xde1",
                   (unsigned)plan->target);
        return -1;
    }
    if (dims != targets[i].dims) {
        ocl_reject(state, "GLTexture", CL_INVALID_VALUE,
                   "dims = %lld, and a texture of the target 0x%x has %d", (long long)dims,
                   (unsigned)plan->target, targets[i].dims);
        return -1;
    }
    if (level < 0 || level > INT32_MAX || (targets[i].flat && level != 0)) {
        ocl_reject(state, "GLTexture", CL_INVALID_MIP_LEVEL, "miplevel = %lld: %s",
                   (long long)level,
                   level < 0 || level > INT32_MAX ? "levels count from 0 on"
                                                  : "a texture of this target has level 0 only");
        return -1;
    }
    plan->level = (int)level;
    plan->type = dims == 3 ? CL_MEM_OBJECT_IMAGE3D : CL_MEM_OBJECT_IMAGE2D;
    plan->fn = FN_clCreateFromGLTexture;
    if (context->version < 120) { /* OpenCL 1.1 had only these */
        if (dims == 1 || plan->target == 0x8C18 || plan->target == 0x8C1A ||
            plan->target >= 0x9100) {
            ocl_need_version(state, "clCreateFromGLTexture", context->version, 120);
            return -1;
        }
        plan->fn = dims == 3 ? FN_clCreateFromGLTexture3D : FN_clCreateFromGLTexture2D;
    }
    return 0;
}

PG_DOC(
    GLTexture__doc__, "GLTexture", "context, flags, texture_target, miplevel, texture, dims",
    "(context: Context, flags: int, texture_target: int, miplevel: int, texture: int, dims: int)",
    "One level of an OpenGL texture, which kernels use as an image.\n\n"
    "flags: mem_flags.READ_WRITE, READ_ONLY or WRITE_ONLY. texture_target: GL_TEXTURE_2D, 3D, 1D, "
    "RECTANGLE, one side of a cube map,\n"
    "an array, ... miplevel: from 0 on. texture: its name, from glGenTextures(); it must be "
    "complete. dims: the number of its\n"
    "coordinates, 1 to 3, as Image.shape has them. Commands may use it between "
    "enqueue_acquire_gl_objects() and\n"
    "enqueue_release_gl_objects().\n\n"
    "Raises LogicError if the device lacks cl_khr_gl_sharing, if the context was created without "
    "an OpenGL context, if OpenGL has no such texture or level, and for formats that no image "
    "has.");
static ArgSpec GLTexture_args = PG_ARGSPEC(GLTexture__doc__);

static PyObject *GLTexture_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *a[6];
    Context *context;
    Plan plan = {.fn = FN_clCreateFromGLTexture};
    int64_t level, dims;
    const char *call = "GLTexture";
    State *state = ocl_state_of(type);
    if (state == NULL || pg_args_tuple(&GLTexture_args, args, kwargs, a) < 0 ||
        (context = ocl_as_context(state, a[0], call)) == NULL ||
        pg_as_u32(a[2], call, "texture_target", &plan.target) < 0 ||
        pg_as_i64(a[3], call, "miplevel", &level) < 0 ||
        as_plan(state, call, a[1], "texture", a[4], &plan) < 0 ||
        pg_as_i64(a[5], call, "dims", &dims) < 0 || need_gl_context(state, call, context) < 0 ||
        plan_texture(state, context, level, dims, &plan) < 0) {
        return NULL;
    }
    const char *routine = plan.fn == FN_clCreateFromGLTexture     ? "clCreateFromGLTexture"
                          : plan.fn == FN_clCreateFromGLTexture2D ? "clCreateFromGLTexture2D"
                                                                  : "clCreateFromGLTexture3D";
    return make(state, type, context, routine, &plan);
}

/* ---- information ----------------------------------------------------------------------------- */

/* An object made from a foreign handle may belong to any context. */
static int need_gl_memory(Memory *self, const char *routine, int fn) {
    if (self->context->n_devices == 0) {
        ocl_reject(self->state, routine, CL_INVALID_GL_OBJECT, "the context has no device");
        return -1;
    }
    return need_function(self->state, routine, fn, self->context->devices[0]);
}

static int object_info(Memory *self, const char *call, cl_gl_object_type *type, cl_GLuint *name) {
    cl_int status = CL_SUCCESS;
    if (ocl_memory_alive(self, call) < 0 ||
        need_gl_memory(self, "clGetGLObjectInfo", FN_clGetGLObjectInfo) < 0) {
        return -1;
    }
    CL_CALL(status, clGetGLObjectInfo, self->mem, type, name);
    if (status != CL_SUCCESS) {
        ocl_raise(self->state, "clGetGLObjectInfo", status);
        return -1;
    }
    return 0;
}

static PyObject *GL_get_gl_object_info(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    cl_gl_object_type type = 0;
    cl_GLuint name = 0;
    return object_info((Memory *)op, "get_gl_object_info", &type, &name) < 0
               ? NULL
               : Py_BuildValue("(II)", type, name);
}

static PyObject *GL_get_gl_object(PyObject *op, void *Py_UNUSED(closure)) {
    cl_gl_object_type type = 0;
    cl_GLuint name = 0;
    return object_info((Memory *)op, "gl_object", &type, &name) < 0 ? NULL
                                                                    : PyLong_FromUnsignedLong(name);
}

static cl_int Texture_query(void *self, cl_uint param, size_t size, void *value, size_t *size_ret) {
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clGetGLTextureInfo, ((Memory *)self)->mem, param, size, value, size_ret);
    return status;
}

static PyObject *GLTexture_get_gl_texture_info(PyObject *op, PyObject *param) {
    Memory *self = (Memory *)op;
    const char *routine = "clGetGLTextureInfo";
    if (ocl_memory_alive(self, "get_gl_texture_info") < 0 ||
        need_gl_memory(self, routine, FN_clGetGLTextureInfo) < 0) {
        return NULL;
    }
    return ocl_info_by_param(self->state, op, Texture_query, routine, Texture_info,
                             sizeof Texture_info / sizeof Texture_info[0], NULL, param);
}

PG_DOC(get_gl_context_info_khr__doc__, "get_gl_context_info_khr",
       "properties, param_name, platform=None",
       "(properties: Sequence[tuple[int, object]], param_name: int, platform: Platform | None = "
       "None) -> Device | list[Device] | None",
       "The devices that can share with an OpenGL context.\n\n"
       "properties: as for Context; they name the OpenGL context. param_name: "
       "gl_context_info.CURRENT_DEVICE_FOR_GL_CONTEXT_KHR, the device that draws now, or None if "
       "it belongs to another platform; or DEVICES_FOR_GL_CONTEXT_KHR, a list of all that could.\n"
       "platform: used if properties name none; by default the first that shares with OpenGL.\n\n"
       "Raises LogicError if no device of the platform has cl_khr_gl_sharing.");
/* Reads the properties, and finds a platform to query. Returns 0, or -1 with an exception. */
static int read_gl_properties(State *state, const char *call, PyObject *list, PyObject *platform,
                              ContextProperties *properties) {
    if (ocl_context_properties(state, list, call, properties) < 0) {
        return -1;
    }
    if (platform != NULL && platform != Py_None) {
        if (!PyObject_TypeCheck(platform, state->PlatformType)) {
            PyErr_Format(PyExc_TypeError, "%s: platform must be a Platform, not %s", call,
                         pg_type_name(platform));
            return -1;
        }
        cl_platform_id id = ((Platform *)platform)->id;
        if (properties->platform != NULL && properties->platform != id) {
            ocl_reject(state, call, CL_INVALID_PLATFORM,
                       "platform differs from the property PLATFORM");
            return -1;
        }
        ocl_context_properties_add(properties, id);
    }
    if (!properties->shares_gl) {
        ocl_reject(state, call, CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR,
                   "the properties do not name an OpenGL context; "
                   "tools.get_gl_sharing_context_properties() returns those of the current one");
        return -1;
    }
    if (properties->platform == NULL) {
        ocl_context_properties_add(properties, ocl_first_gl_platform(state));
    }
    if (properties->platform == NULL) {
        if (!PyErr_Occurred()) {
            ocl_raise_with(state, call, CL_INVALID_OPERATION, "each device here " LACKING);
        }
        return -1;
    }
    return ocl_need_gl_platform(state, call, properties->platform);
}

/* Returns a list of Device. */
static PyObject *list_devices(State *state, const cl_device_id *ids, size_t n) {
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < n; i++) {
        pg_append(&list, ocl_device_wrap(state, ids[i], NULL, 0));
    }
    return list;
}

PG_FUNCTION(get_gl_context_info_khr, 3)
static PyObject *get_gl_context_info_khr_impl(PyObject *module, PyObject *const *a) {
    State *state = PyModule_GetState(module);
    cl_uint param;
    ContextProperties properties;
    const char *call = "get_gl_context_info_khr", *routine = "clGetGLContextInfoKHR";
    if (pg_as_u32(a[1], call, "param_name", &param) < 0 || ocl_driver_ready(state) < 0) {
        return NULL;
    }
    if (param != CL_CURRENT_DEVICE_FOR_GL_CONTEXT_KHR && param != CL_DEVICES_FOR_GL_CONTEXT_KHR) {
        return ocl_reject(state, call, CL_INVALID_VALUE,
                          "param_name = %u is not one of gl_context_info", (unsigned)param);
    }
    if (read_gl_properties(state, call, a[0], a[2], &properties) < 0) {
        return NULL;
    }
    if (!ocl_extension_ready(properties.platform, FN_clGetGLContextInfoKHR)) {
        return ocl_raise(state, routine, PG_STATUS_MISSING);
    }
    /* The GIL is held throughout, because the function pointer may be specific to this platform. */
    cl_device_id ids[64] = {NULL};
    size_t size = 0;
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clGetGLContextInfoKHR, properties.list, param, sizeof ids, ids, &size);
    ocl_extension_forget(FN_clGetGLContextInfoKHR);
    if (status != CL_SUCCESS) {
        return ocl_raise(state, routine, status);
    }
    size_t n = (size < sizeof ids ? size : sizeof ids) / sizeof ids[0];
    if (param == CL_CURRENT_DEVICE_FOR_GL_CONTEXT_KHR) {
        return n > 0 && ids[0] != NULL ? ocl_device_wrap(state, ids[0], NULL, 0)
                                       : Py_NewRef(Py_None);
    }
    return list_devices(state, ids, n);
}

/* ---- acquire and release --------------------------------------------------------------------- */

static int is_gl(State *state, PyObject *object) {
    return PyObject_TypeCheck(object, state->GLBufferType) ||
           PyObject_TypeCheck(object, state->GLTextureType) ||
           PyObject_TypeCheck(object, state->GLRenderBufferType);
}

/* Returns a tuple of live shared objects of the queue's context. */
static PyObject *as_objects(State *state, PyObject *obj, const char *call, Queue *queue) {
    PyObject *objects = PyObject_TypeCheck(obj, state->MemoryObjectHolderType)
                            ? PyTuple_Pack(1, obj)
                            : pg_tuple(obj, call, "mem_objects",
                                       "GLBuffer, GLTexture and GLRenderBuffer objects", 1 << 20);
    if (objects == NULL) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(objects); i++) {
        if (ocl_as_memory(state, PyTuple_GET_ITEM(objects, i), call, "each of mem_objects",
                          queue->context->context) == NULL) {
            goto fail;
        }
    }
    if (ocl_need_gl_device(state, call, queue->device) < 0) {
        goto fail;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(objects); i++) {
        PyObject *object = PyTuple_GET_ITEM(objects, i);
        if (!is_gl(state, object)) {
            ocl_reject_type(
                state, call, CL_INVALID_GL_OBJECT,
                "mem_objects[%zd] is not an object of OpenGL: it must be a GLBuffer, GLTexture or "
                "GLRenderBuffer, not %s",
                i, pg_type_name(object));
            goto fail;
        }
    }
    return objects;
fail:
    Py_DECREF(objects);
    return NULL;
}

static PyObject *hand_over(State *state, PyObject *const *a, const char *call, int acquire) {
    const char *routine = acquire ? "clEnqueueAcquireGLObjects" : "clEnqueueReleaseGLObjects";
    PyObject *result = NULL;
    WaitList list;
    Queue *queue = ocl_as_queue(state, a[0], call);
    PyObject *objects = queue != NULL ? as_objects(state, a[1], call, queue) : NULL;
    if (objects == NULL) {
        return NULL;
    }
    Py_ssize_t n = PyTuple_GET_SIZE(objects);
    cl_mem *mems = PyMem_Calloc((size_t)n + 1, sizeof *mems);
    if (mems == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    if (need_function(state, routine,
                      acquire ? FN_clEnqueueAcquireGLObjects : FN_clEnqueueReleaseGLObjects,
                      queue->device) < 0 ||
        ocl_wait_list(state, a[2], call, queue, &list) < 0) {
        goto done;
    }
    if (n == 0) {
        result = ocl_enqueue_empty(queue, &list);
        goto done;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        Memory *memory = (Memory *)PyTuple_GET_ITEM(objects, i);
        if (ocl_memory_alive(memory, call) < 0) { /* iterating over wait_for may have run code that
                                                   * released it */
            ocl_wait_list_clear(&list);
            goto done;
        }
        mems[i] = memory->mem;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        ocl_memory_pin((Memory *)PyTuple_GET_ITEM(objects, i));
    }
    cl_event event = NULL;
    cl_int status = CL_SUCCESS;
    if (acquire) {
        OCL_ENQUEUE(queue, status, clEnqueueAcquireGLObjects, queue->queue, (cl_uint)n, mems,
                    list.n, list.events, &event);
    } else {
        OCL_ENQUEUE(queue, status, clEnqueueReleaseGLObjects, queue->queue, (cl_uint)n, mems,
                    list.n, list.events, &event);
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        ocl_memory_unpin((Memory *)PyTuple_GET_ITEM(objects, i));
    }
    result = ocl_finish_enqueue(queue, routine, status, event, &list);
done:
    PyMem_Free(mems);
    Py_DECREF(objects);
    return result;
}

#define HAND_OVER_TYPES                                                                      \
    "(queue: CommandQueue, mem_objects: MemoryObjectHolder | Sequence[MemoryObjectHolder], " \
    "wait_for: Sequence[Event] | None = None) -> Event"
PG_DOC(enqueue_acquire_gl_objects__doc__, "enqueue_acquire_gl_objects",
       "queue, mem_objects, wait_for=None", HAND_OVER_TYPES,
       "Take shared objects over from OpenGL: commands behind this one may use them, and OpenGL "
       "must not until they are released.\n\n"
       "mem_objects: GLBuffer, GLTexture and GLRenderBuffer objects. What OpenGL still does with "
       "them must be done before: call\n"
       "glFinish(), unless the device has cl_khr_gl_event and the same thread has the OpenGL "
       "context current.\n\n"
       "Raises LogicError if the queue's device lacks cl_khr_gl_sharing.");
PG_DOC(enqueue_release_gl_objects__doc__, "enqueue_release_gl_objects",
       "queue, mem_objects, wait_for=None", HAND_OVER_TYPES,
       "Return shared objects to OpenGL when the earlier commands are done.\n\n"
       "mem_objects: GLBuffer, GLTexture and GLRenderBuffer objects that were acquired. OpenGL may "
       "use them when the event is complete:\n"
       "call queue.finish(), unless the device has cl_khr_gl_event and the same thread has the "
       "OpenGL context current.\n\n"
       "Raises LogicError if the queue's device lacks cl_khr_gl_sharing.");
PG_FUNCTION(enqueue_acquire_gl_objects, 3)
static PyObject *enqueue_acquire_gl_objects_impl(PyObject *module, PyObject *const *a) {
    return hand_over(PyModule_GetState(module), a, "enqueue_acquire_gl_objects", 1);
}

PG_FUNCTION(enqueue_release_gl_objects, 3)
static PyObject *enqueue_release_gl_objects_impl(PyObject *module, PyObject *const *a) {
    return hand_over(PyModule_GetState(module), a, "enqueue_release_gl_objects", 0);
}

/* ---- tables ---------------------------------------------------------------------------------- */

#define GET_GL_OBJECT_INFO                                                                     \
    {                                                                                          \
        "get_gl_object_info", GL_get_gl_object_info, METH_NOARGS,                              \
            "get_gl_object_info($self, /)\n--\n\n() -> tuple[int, int]\n\nThe kind of OpenGL " \
            "object "                                                                          \
            "(gl_object_type.NAME), and its name in OpenGL."                                   \
    }

static PyMethodDef GL_methods[] = {
    GET_GL_OBJECT_INFO,
    {NULL, NULL, 0, NULL},
};
static PyMethodDef GLTexture_methods[] = {
    GET_GL_OBJECT_INFO,
    {"get_gl_texture_info", GLTexture_get_gl_texture_info, METH_O,
     "get_gl_texture_info($self, param, /)\n--\n\n(param: int, /) -> int\n\nAnswer to a query by "
     "number (gl_texture_info.NAME)."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef GL_getset[] = {
    {"gl_object", GL_get_gl_object, NULL, "int: its name in OpenGL", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

#define SLOTS(TYPE, methods)                                                          \
    static PyType_Slot TYPE##_slots[] = {{Py_tp_doc, (void *)TYPE##__doc__},          \
                                         {Py_tp_new, (void *)TYPE##_new},             \
                                         {Py_tp_methods, methods},                    \
                                         {Py_tp_getset, GL_getset},                   \
                                         {Py_tp_dealloc, (void *)ocl_memory_dealloc}, \
                                         {0, NULL}};                                  \
    PyType_Spec ocl_##TYPE##_spec = {.name = "pygpu." #TYPE,                          \
                                     .basicsize = sizeof(Memory),                     \
                                     .slots = TYPE##_slots,                           \
                                     .flags = OCL_FLAGS | Py_TPFLAGS_BASETYPE}
SLOTS(GLBuffer, GL_methods);
SLOTS(GLRenderBuffer, GL_methods);
SLOTS(GLTexture, GLTexture_methods);

PyMethodDef ocl_gl_functions[] = {
    {"enqueue_acquire_gl_objects", FAST(enqueue_acquire_gl_objects),
     enqueue_acquire_gl_objects__doc__},
    {"enqueue_release_gl_objects", FAST(enqueue_release_gl_objects),
     enqueue_release_gl_objects__doc__},
    {"get_gl_context_info_khr", FAST(get_gl_context_info_khr), get_gl_context_info_khr__doc__},
    {NULL, NULL, 0, NULL},
};
