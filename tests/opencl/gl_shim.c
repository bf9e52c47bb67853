/* gl_shim.c - puts sharing with an imagined OpenGL in front of the installed OpenCL library.
 *
 * Its devices have cl_khr_gl_sharing (GL_SHIM_EXTENSION may name another), and OpenGL has five objects: 1 and 2 are buffers of 64 floats,
 * 3 is a renderbuffer and 4 a texture of 8 x 4 pixels, 5 a texture of 4 x 3 x 2. Shared, they are memory of the real driver, so that
 * kernels run on them. What is done to them is noted in a text. With HIDDEN, the functions are not exported: the platform hands them out.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HIDDEN
#define clCreateFromGLBuffer hidden_clCreateFromGLBuffer
#define clCreateFromGLRenderbuffer hidden_clCreateFromGLRenderbuffer
#define clCreateFromGLTexture hidden_clCreateFromGLTexture
#define clCreateFromGLTexture2D hidden_clCreateFromGLTexture2D
#define clCreateFromGLTexture3D hidden_clCreateFromGLTexture3D
#define clGetGLObjectInfo hidden_clGetGLObjectInfo
#define clGetGLTextureInfo hidden_clGetGLTextureInfo
#define clEnqueueAcquireGLObjects hidden_clEnqueueAcquireGLObjects
#define clEnqueueReleaseGLObjects hidden_clEnqueueReleaseGLObjects
#define clGetGLContextInfoKHR hidden_clGetGLContextInfoKHR
#endif

#include "cl_api.h"

#define CL_FN(since, result, name, params) result CL_API_CALL name params;
#include "cl.fn"

#define TEXTURE_2D 0x0DE1
#define TEXTURE_3D 0x806F

static struct {
    cl_mem mem;
    cl_uint name, target;
    int level;
} shared[1000];
static int n_shared;
static char notes[1 << 16];

static void note(const char *format, ...)
{
    size_t length = strlen(notes);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(notes + length, sizeof notes - length, format, arguments);
    va_end(arguments);
}

const char *shim_notes(void);
const char *shim_notes(void) { return notes; }
void shim_forget(void);
void shim_forget(void) { notes[0] = '\0'; }

static void *real(const char *name)
{
    void *function = dlsym(dlopen(REAL_LIBRARY, RTLD_LAZY), name);
    if (function == NULL) {
        abort();
    }
    return function;
}

static int find(cl_mem mem)
{
    for (int i = n_shared - 1; i >= 0; i--) {
        if (shared[i].mem == mem) {
            return i;
        }
    }
    return -1;
}

/* ---- devices and contexts --------------------------------------------------------------------------------------------- */

cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info param, size_t size, void *value, size_t *size_ret)
{
    cl_int(CL_API_CALL * next)(cl_device_id, cl_device_info, size_t, void *, size_t *) = real("clGetDeviceInfo");
    const char *extension = getenv("GL_SHIM_EXTENSION"), *version = getenv("GL_SHIM_VERSION");
    char text[8192] = "";
    if (param == CL_DEVICE_EXTENSIONS) {
        cl_int status = next(device, param, sizeof text - 100, text, NULL);
        if (status != CL_SUCCESS) {
            return status;
        }
        strcat(strcat(text, " "), extension != NULL ? extension : "cl_khr_gl_sharing");
    } else if (param == CL_DEVICE_VERSION && version != NULL) {
        strcpy(text, version);
    } else {
        return next(device, param, size, value, size_ret);
    }
    if (size_ret != NULL) {
        *size_ret = strlen(text) + 1;
    }
    if (value != NULL && size <= strlen(text)) {
        return CL_INVALID_VALUE;
    }
    if (value != NULL) {
        strcpy(value, text);
    }
    return CL_SUCCESS;
}

/* Notes the properties, and takes those of OpenGL out. */
static cl_int look_at(const cl_context_properties *properties, cl_context_properties *rest)
{
    int n = 0;
    for (; properties != NULL && *properties != 0; properties += 2) {
        if (properties[0] == CL_CONTEXT_PLATFORM) {
            rest[n++] = properties[0];
            rest[n++] = properties[1];
        } else {
            note("property %#lx=%#lx\n", (long)properties[0], (long)properties[1]);
            if (properties[1] == 0xbad) {
                return CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR;
            }
        }
    }
    rest[n] = 0;
    return CL_SUCCESS;
}

typedef void(CL_CALLBACK *Notify)(const char *, const void *, size_t, void *);

cl_context CL_API_CALL clCreateContext(const cl_context_properties *properties, cl_uint n, const cl_device_id *devices, Notify notify, void *data,
                                       cl_int *status)
{
    cl_context(CL_API_CALL * next)(const cl_context_properties *, cl_uint, const cl_device_id *, Notify, void *, cl_int *) = real("clCreateContext");
    cl_context_properties rest[40];
    cl_platform_id platforms[10];
    cl_uint n_platforms = 0;
    cl_device_id first;
    *status = look_at(properties, rest);
    if (n == 0 && *status == CL_SUCCESS) { /* as Apple's, which takes the devices of the share group */
        note("no devices\n");
        clGetPlatformIDs(10, platforms, &n_platforms);
        for (cl_uint i = 0; i < n_platforms && i < 10; i++) { /* one may have no device */
            if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &first, NULL) == CL_SUCCESS) {
                return next(rest[0] != 0 ? rest : NULL, 1, &first, notify, data, status);
            }
        }
    }
    return *status == CL_SUCCESS ? next(rest[0] != 0 ? rest : NULL, n, devices, notify, data, status) : NULL;
}

cl_context CL_API_CALL clCreateContextFromType(const cl_context_properties *properties, cl_device_type type, Notify notify, void *data, cl_int *status)
{
    cl_context(CL_API_CALL * next)(const cl_context_properties *, cl_device_type, Notify, void *, cl_int *) = real("clCreateContextFromType");
    cl_context_properties rest[40];
    *status = look_at(properties, rest);
    return *status == CL_SUCCESS ? next(rest[0] != 0 ? rest : NULL, type, notify, data, status) : NULL;
}

cl_int CL_API_CALL clGetGLContextInfoKHR(const cl_context_properties *properties, cl_gl_context_info param, size_t size, void *value, size_t *size_ret)
{
    cl_context_properties rest[40];
    cl_uint n = 0;
    cl_int status = look_at(properties, rest);
    const char *none = getenv("GL_SHIM_NO_DEVICE");
    if (status != CL_SUCCESS || rest[0] != CL_CONTEXT_PLATFORM) {
        return status != CL_SUCCESS ? status : CL_INVALID_PLATFORM;
    }
    if (none == NULL) {
        status = clGetDeviceIDs((cl_platform_id)rest[1], CL_DEVICE_TYPE_ALL, (cl_uint)(size / sizeof(cl_device_id)), value, &n);
    }
    *size_ret = (param == CL_CURRENT_DEVICE_FOR_GL_CONTEXT_KHR && n > 1 ? 1 : n) * sizeof(cl_device_id);
    note("context info %#x\n", param);
    return status;
}

/* ---- objects ---------------------------------------------------------------------------------------------------------------- */

static cl_mem share(cl_context context, cl_mem_flags flags, cl_uint name, cl_uint target, int level, const size_t *shape, const char *routine, cl_int *status)
{
    cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D};
    cl_mem mem = NULL;
    float zeros[64] = {0};
    note("%s %u flags=%u target=%#x level=%d\n", routine, name, (unsigned)flags, target, level);
    if (name > 5 || (target == TEXTURE_2D) != (name == 4) || (target == TEXTURE_3D) != (name == 5)) {
        *status = CL_INVALID_GL_OBJECT;
    } else if (level > 0) {
        *status = CL_INVALID_MIP_LEVEL;
    } else if (shape == NULL) {
        mem = clCreateBuffer(context, flags | CL_MEM_COPY_HOST_PTR, sizeof zeros, zeros, status);
    } else {
        desc.image_type = shape[2] > 1 ? CL_MEM_OBJECT_IMAGE3D : CL_MEM_OBJECT_IMAGE2D;
        desc.image_width = shape[0];
        desc.image_height = shape[1];
        desc.image_depth = shape[2];
        mem = clCreateImage(context, flags, &format, &desc, NULL, status);
    }
    if (mem != NULL) {
        shared[n_shared].mem = mem;
        shared[n_shared].name = name;
        shared[n_shared].target = target;
        shared[n_shared++].level = level;
    }
    return mem;
}

static const size_t flat[3] = {8, 4, 1}, solid[3] = {4, 3, 2};

cl_mem CL_API_CALL clCreateFromGLBuffer(cl_context context, cl_mem_flags flags, cl_GLuint name, cl_int *status)
{
    return share(context, flags, name <= 2 ? name : 99, 0, 0, NULL, "buffer", status);
}

cl_mem CL_API_CALL clCreateFromGLRenderbuffer(cl_context context, cl_mem_flags flags, cl_GLuint name, cl_int *status)
{
    return share(context, flags, name == 3 ? name : 99, 0, 0, flat, "renderbuffer", status);
}

cl_mem CL_API_CALL clCreateFromGLTexture(cl_context context, cl_mem_flags flags, cl_GLenum target, cl_GLint level, cl_GLuint name, cl_int *status)
{
    return share(context, flags, name, target, level, target == TEXTURE_3D ? solid : flat, "texture", status);
}

cl_mem CL_API_CALL clCreateFromGLTexture2D(cl_context context, cl_mem_flags flags, cl_GLenum target, cl_GLint level, cl_GLuint name, cl_int *status)
{
    return share(context, flags, name, target, level, flat, "texture2d", status);
}

cl_mem CL_API_CALL clCreateFromGLTexture3D(cl_context context, cl_mem_flags flags, cl_GLenum target, cl_GLint level, cl_GLuint name, cl_int *status)
{
    return share(context, flags, name, target, level, solid, "texture3d", status);
}

cl_int CL_API_CALL clReleaseMemObject(cl_mem mem)
{
    cl_int(CL_API_CALL * next)(cl_mem) = real("clReleaseMemObject");
    int i = find(mem);
    cl_uint count = 0;
    if (i >= 0) {
        note("release %u\n", shared[i].name);
        clGetMemObjectInfo(mem, CL_MEM_REFERENCE_COUNT, sizeof count, &count, NULL);
        if (count <= 1) {
            shared[i] = shared[--n_shared];
        }
    }
    return next(mem);
}

cl_int CL_API_CALL clGetGLObjectInfo(cl_mem mem, cl_gl_object_type *type, cl_GLuint *name)
{
    static const cl_gl_object_type types[] = {0, CL_GL_OBJECT_BUFFER, CL_GL_OBJECT_BUFFER, CL_GL_OBJECT_RENDERBUFFER, CL_GL_OBJECT_TEXTURE2D,
                                              CL_GL_OBJECT_TEXTURE3D};
    int i = find(mem);
    if (i < 0) {
        return CL_INVALID_GL_OBJECT;
    }
    *type = types[shared[i].name];
    *name = shared[i].name;
    return CL_SUCCESS;
}

cl_int CL_API_CALL clGetGLTextureInfo(cl_mem mem, cl_gl_texture_info param, size_t size, void *value, size_t *size_ret)
{
    int i = find(mem);
    if (i < 0 || shared[i].target == 0) {
        return CL_INVALID_GL_OBJECT;
    }
    cl_uint answer = param == CL_GL_TEXTURE_TARGET ? shared[i].target : (cl_uint)shared[i].level;
    if (param != CL_GL_TEXTURE_TARGET && param != CL_GL_MIPMAP_LEVEL) {
        return CL_INVALID_VALUE;
    }
    if (size_ret != NULL) {
        *size_ret = sizeof answer;
    }
    if (value != NULL) {
        if (size < sizeof answer) {
            return CL_INVALID_VALUE;
        }
        memcpy(value, &answer, sizeof answer);
    }
    return CL_SUCCESS;
}

/* ---- commands ----------------------------------------------------------------------------------------------------------------- */

static cl_int hand_over(const char *routine, cl_command_queue queue, cl_uint n, const cl_mem *mems, cl_uint n_wait, const cl_event *wait, cl_event *event)
{
    note("%s", routine);
    for (cl_uint i = 0; i < n; i++) {
        int found = find(mems[i]);
        if (found < 0) {
            note(" ?\n");
            return CL_INVALID_GL_OBJECT;
        }
        note(" %u", shared[found].name);
    }
    note(" wait=%u\n", n_wait);
    return clEnqueueMarkerWithWaitList(queue, n_wait, wait, event);
}

cl_int CL_API_CALL clEnqueueAcquireGLObjects(cl_command_queue queue, cl_uint n, const cl_mem *mems, cl_uint n_wait, const cl_event *wait, cl_event *event)
{
    return hand_over("acquire", queue, n, mems, n_wait, wait, event);
}

cl_int CL_API_CALL clEnqueueReleaseGLObjects(cl_command_queue queue, cl_uint n, const cl_mem *mems, cl_uint n_wait, const cl_event *wait, cl_event *event)
{
    return hand_over("give back", queue, n, mems, n_wait, wait, event);
}

#ifdef HIDDEN
void *CL_API_CALL clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name)
{
    void *(CL_API_CALL * next)(cl_platform_id, const char *) = real("clGetExtensionFunctionAddressForPlatform");
    char own[100];
    snprintf(own, sizeof own, "hidden_%s", name);
    void *found = NULL;
    Dl_info info;
    if (dladdr((void *)shared, &info) != 0) {
        void *self = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        found = self != NULL ? dlsym(self, own) : NULL;
    }
    note("asked for %s\n", name);
    return found != NULL ? found : next(platform, name);
}
#endif
