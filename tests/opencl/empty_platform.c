/* empty_platform.c - puts a platform without devices in front of those of the OpenCL library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "cl_api.h"

#define CL_FN(since, result, name, params) result CL_API_CALL name params;
#include "cl.fn"

static char empty; /* its address is the platform */
#define EMPTY ((cl_platform_id)(void *)&empty)

static void *real(const char *name)
{
    void *function = dlsym(dlopen(REAL_LIBRARY, RTLD_LAZY), name);
    if (function == NULL) {
        abort();
    }
    return function;
}

cl_int CL_API_CALL clGetPlatformIDs(cl_uint n, cl_platform_id *platforms, cl_uint *found)
{
    cl_int(CL_API_CALL * next)(cl_uint, cl_platform_id *, cl_uint *) = real("clGetPlatformIDs");
    cl_uint more = 0;
    cl_int status = next(n > 1 ? n - 1 : 0, n > 1 ? platforms + 1 : NULL, &more);
    if (n > 0 && platforms != NULL) {
        platforms[0] = EMPTY;
    }
    if (found != NULL) {
        *found = more + 1;
    }
    return n == 1 ? CL_SUCCESS : status;
}

cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info param, size_t size,
                                     void *value, size_t *size_ret)
{
    cl_int(CL_API_CALL * next)(cl_platform_id, cl_platform_info, size_t, void *, size_t *) =
        real("clGetPlatformInfo");
    const char *text = param == CL_PLATFORM_VERSION ? "OpenCL 3.0 empty" : "Empty";
    if (platform != EMPTY) {
        return next(platform, param, size, value, size_ret);
    }
    if (param == CL_PLATFORM_EXTENSIONS) {
        text = "cl_khr_icd";
    } else if (param == CL_PLATFORM_PROFILE) {
        text = "FULL_PROFILE";
    } else if (param != CL_PLATFORM_VERSION && param != CL_PLATFORM_NAME &&
               param != CL_PLATFORM_VENDOR) {
        return CL_INVALID_VALUE;
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

cl_int CL_API_CALL clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint n,
                                  cl_device_id *devices, cl_uint *found)
{
    cl_int(CL_API_CALL * next)(cl_platform_id, cl_device_type, cl_uint, cl_device_id *, cl_uint *) =
        real("clGetDeviceIDs");
    if (platform == EMPTY) {
        return CL_DEVICE_NOT_FOUND;
    }
    return next(platform, type, n, devices, found);
}

typedef void(CL_CALLBACK *Notify)(const char *, const void *, size_t, void *);

cl_context CL_API_CALL clCreateContextFromType(const cl_context_properties *properties,
                                               cl_device_type type, Notify notify, void *data,
                                               cl_int *status)
{
    cl_context(CL_API_CALL * next)(const cl_context_properties *, cl_device_type, Notify, void *,
                                   cl_int *) = real("clCreateContextFromType");
    for (int i = 0; properties != NULL && properties[i] != 0; i += 2) {
        if (properties[i] == CL_CONTEXT_PLATFORM && (void *)properties[i + 1] == EMPTY) {
            *status = CL_DEVICE_NOT_FOUND;
            return NULL;
        }
    }
    return next(properties, type, notify, data, status);
}

void *CL_API_CALL clGetExtensionFunctionAddressForPlatform(cl_platform_id platform,
                                                           const char *name)
{
    void *(CL_API_CALL * next)(cl_platform_id, const char *) =
        real("clGetExtensionFunctionAddressForPlatform");
    return platform == EMPTY ? NULL : next(platform, name);
}

cl_int CL_API_CALL clUnloadPlatformCompiler(cl_platform_id platform)
{
    cl_int(CL_API_CALL * next)(cl_platform_id) = real("clUnloadPlatformCompiler");
    return platform == EMPTY ? CL_SUCCESS : next(platform);
}
