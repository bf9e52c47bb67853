/* program_info.c - queries about programs: their properties, builds, binaries, and the arguments
 * of their kernels. */
#include "opencl/api/info.h"
#include "opencl/context.h"
#include "opencl/device.h"
#include "opencl/lifetime/gil_release.h"
#include "opencl/objects/program.h"
#include "opencl/opencl.h"

enum {
#define PROGRAM_INFO(attr, KIND, number, PARAM, unit, text) ROW_##attr,
#include "opencl/api/info.def"
    ROW_COUNT
};
static const Info Program_info[] = {
#define PROGRAM_INFO(attr, KIND, number, PARAM, unit, text) {#attr, INFO_##KIND, PARAM},
#include "opencl/api/info.def"
};
enum {
#define PROGRAM_BUILD_INFO(attr, KIND, number, PARAM, unit, text) BUILD_ROW_##attr,
#include "opencl/api/info.def"
    BUILD_ROW_COUNT
};
static const Info Build_info[] = {
#define PROGRAM_BUILD_INFO(attr, KIND, number, PARAM, unit, text) {#attr, INFO_##KIND, PARAM},
#include "opencl/api/info.def"
};

static cl_int Program_query(void *self, cl_uint param, size_t size, void *value, size_t *size_ret) {
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clGetProgramInfo, ((Program *)self)->program, param, size, value, size_ret);
    return status;
}

typedef struct {
    cl_program program;
    cl_device_id device;
} OneBuild;

static cl_int Program_query_build(void *self, cl_uint param, size_t size, void *value,
                                  size_t *size_ret) {
    OneBuild *build = self;
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clGetProgramBuildInfo, build->program, build->device, param, size, value,
            size_ret);
    return status;
}

static cl_int Kernel_query(void *self, cl_uint param, size_t size, void *value, size_t *size_ret) {
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clGetKernelInfo, *(cl_kernel *)self, param, size, value, size_ret);
    return status;
}

/* ---- devices, binaries ----------------------------------------------------------------------- */

static PyObject *context_devices(Context *context) {
    PyObject *list = PyList_New(context->n_devices);
    for (Py_ssize_t i = 0; list != NULL && i < context->n_devices; i++) {
        PyList_SET_ITEM(list, i, Py_NewRef(context->devices[i]));
    }
    return list;
}

/* Uses the context's own objects for the same devices, because they own the handles of
 * sub-devices. */
static PyObject *Program_devices(Program *self) {
    if (self->source != NULL) { /* the cached binary may be for fewer devices */
        return context_devices(self->context);
    }
    PyObject *list =
        ocl_info(self->state, self, Program_query, "clGetProgramInfo", &Program_info[ROW_devices]);
    for (Py_ssize_t i = 0; list != NULL && i < PyList_GET_SIZE(list); i++) {
        cl_device_id id = ((Device *)PyList_GET_ITEM(list, i))->id;
        for (Py_ssize_t k = 0; k < self->context->n_devices; k++) {
            if (self->context->devices[k]->id == id) {
                PyList_SetItem(list, i, Py_NewRef(self->context->devices[k]));
                break;
            }
        }
    }
    return list;
}

/* One bytes object per device, filled by the driver in place; empty if it has no binary. */
static PyObject *Program_binaries(Program *self) {
    size_t bytes = 0;
    cl_int status = Program_query(self, CL_PROGRAM_BINARY_SIZES, 0, NULL, &bytes);
    size_t n = bytes / sizeof(size_t), *sizes = PyMem_Calloc(n + 1, sizeof *sizes);
    unsigned char **pointers = PyMem_Calloc(n + 1, sizeof *pointers);
    PyObject *list = NULL;
    if (sizes == NULL || pointers == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    if (status == CL_SUCCESS) {
        status = Program_query(self, CL_PROGRAM_BINARY_SIZES, n * sizeof *sizes, sizes, NULL);
    }
    if (status != CL_SUCCESS) {
        ocl_raise_with(self->state, "clGetProgramInfo", status,
                       "the program has no binaries before it is built");
        goto done;
    }
    list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list != NULL && i < n; i++) {
        PyObject *one = sizes[i] <= PY_SSIZE_T_MAX
                            ? PyBytes_FromStringAndSize(NULL, (Py_ssize_t)sizes[i])
                            : PyErr_NoMemory();
        if (one == NULL) {
            Py_CLEAR(list);
            goto done;
        }
        memset(PyBytes_AS_STRING(one), 0, sizes[i]);
        PyList_SET_ITEM(list, (Py_ssize_t)i, one);
        pointers[i] = sizes[i] > 0 ? (unsigned char *)PyBytes_AS_STRING(one) : NULL;
    }
    if (list != NULL) {
        cl_program program = self->program;
        Py_BEGIN_ALLOW_THREADS /* slow: PoCL compiles only now */
        CL_CALL(status, clGetProgramInfo, program, CL_PROGRAM_BINARIES, n * sizeof *pointers,
                pointers, NULL);
        Py_END_ALLOW_THREADS
        if (status != CL_SUCCESS) {
            Py_CLEAR(list);
            ocl_raise(self->state, "clGetProgramInfo", status);
        }
    }
done:
    PyMem_Free(sizes);
    PyMem_Free(pointers);
    return list;
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* Makes all kernels of the program; handles in PyMem memory. Returns -1 with an exception. */
static int make_kernels(Program *self, cl_kernel **out, cl_uint *n) {
    cl_int status = CL_SUCCESS;
    *n = 0;
    *out = NULL;
    CL_CALL(status, clCreateKernelsInProgram, self->program, 0, NULL, n);
    if (status == CL_SUCCESS && *n > 0) {
        *out = PyMem_Calloc(*n, sizeof **out);
        if (*out == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        CL_CALL(status, clCreateKernelsInProgram, self->program, *n, *out, NULL);
        if (status == CL_SUCCESS) {
            ocl_live[LIVE_KERNEL] += *n;
        } else {
            PyMem_Free(*out);
            *out = NULL;
        }
    }
    if (status != CL_SUCCESS) {
        ocl_raise(self->state, "clCreateKernelsInProgram", status);
        return -1;
    }
    return 0;
}

static void release_kernels(cl_kernel *kernels, cl_uint n) {
    for (cl_uint i = 0; i < n; i++) {
        CL_RELEASE(LIVE_KERNEL, clReleaseKernel, kernels[i]);
    }
    PyMem_Free(kernels);
}

static const Info function_name = {"function_name", INFO_STRING, CL_KERNEL_FUNCTION_NAME};

PyObject *program_kernel_names(Program *self) {
    if (self->context->version >= 120) {
        PyObject *text = ocl_info(self->state, self, Program_query, "clGetProgramInfo",
                                  &Program_info[ROW_kernel_names]),
                 *names = NULL;
        if (text != NULL) {
            PyObject *semicolon = PyUnicode_FromString(";");
            names = PyUnicode_GetLength(text) == 0 ? PyList_New(0)
                    : semicolon != NULL            ? PyUnicode_Split(text, semicolon, -1)
                                                   : NULL;
            Py_XDECREF(semicolon);
            Py_DECREF(text);
        }
        return names;
    }
    cl_kernel *kernels;
    cl_uint n;
    if (make_kernels(self, &kernels, &n) < 0) {
        return NULL;
    }
    PyObject *names = PyList_New(0);
    for (cl_uint i = 0; names != NULL && i < n; i++) {
        pg_append(&names, ocl_info(self->state, &kernels[i], Kernel_query, "clGetKernelInfo",
                                   &function_name));
    }
    release_kernels(kernels, n);
    return names;
}

static cl_int query_text(cl_kernel kernel, cl_uint arg, cl_uint param, char *text, size_t size) {
    cl_int status = CL_SUCCESS;
    memset(text, 0, size);
    CL_CALL(status, clGetKernelArgInfo, kernel, arg, param, size - 1, text, NULL);
    return status;
}

/* (address, access, type name, type qualifier, name), or None if the driver does not know. */
static PyObject *describe_argument(cl_kernel kernel, cl_uint arg) {
    cl_uint address = 0, access = 0;
    cl_ulong qualifier = 0;
    char type[512], name[512];
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clGetKernelArgInfo, kernel, arg, CL_KERNEL_ARG_ADDRESS_QUALIFIER,
            sizeof address, &address, NULL);
    if (status == CL_SUCCESS) {
        CL_CALL(status, clGetKernelArgInfo, kernel, arg, CL_KERNEL_ARG_ACCESS_QUALIFIER,
                sizeof access, &access, NULL);
    }
    if (status == CL_SUCCESS) {
        CL_CALL(status, clGetKernelArgInfo, kernel, arg, CL_KERNEL_ARG_TYPE_QUALIFIER,
                sizeof qualifier, &qualifier, NULL);
    }
    if (status == CL_SUCCESS) {
        status = query_text(kernel, arg, CL_KERNEL_ARG_TYPE_NAME, type, sizeof type);
    }
    if (status == CL_SUCCESS) {
        status = query_text(kernel, arg, CL_KERNEL_ARG_NAME, name, sizeof name);
    }
    if (status != CL_SUCCESS) {
        Py_RETURN_NONE;
    }
    return Py_BuildValue("(IIsKs)", address, access, type, (unsigned long long)qualifier, name);
}

/* A list with an entry for each argument, or None if the driver does not know. */
static PyObject *describe_kernel(cl_kernel kernel) {
    cl_uint n = 0;
    if (Kernel_query(&kernel, CL_KERNEL_NUM_ARGS, sizeof n, &n, NULL) != CL_SUCCESS) {
        Py_RETURN_NONE;
    }
    PyObject *list = PyList_New(0);
    for (cl_uint arg = 0; list != NULL && arg < n; arg++) {
        PyObject *entry = describe_argument(kernel, arg);
        if (entry == Py_None) {
            Py_DECREF(list);
            return entry;
        }
        pg_append(&list, entry);
    }
    return list;
}

PyObject *program_kernel_arguments(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Program *self = (Program *)op;
    cl_kernel *kernels;
    cl_uint n;
    PyObject *dict = PyDict_New();
    if (dict == NULL || self->program == NULL || self->context->version < 120) {
        return dict;
    }
    if (make_kernels(self, &kernels, &n) < 0) {
        Py_DECREF(dict);
        return NULL;
    }
    for (cl_uint i = 0; dict != NULL && i < n; i++) {
        PyObject *name =
            ocl_info(self->state, &kernels[i], Kernel_query, "clGetKernelInfo", &function_name);
        PyObject *list = name != NULL ? describe_kernel(kernels[i]) : NULL;
        if (list == NULL || (list != Py_None && PyDict_SetItem(dict, name, list) < 0)) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(name);
        Py_XDECREF(list);
    }
    release_kernels(kernels, n);
    return dict;
}

/* ---- Python interface ------------------------------------------------------------------------ */

static PyObject *Program_get(PyObject *op, void *closure) {
    Program *self = (Program *)op;
    const Info *row = &Program_info[(intptr_t)closure];
    if (self->context == NULL && ocl_program_handle(self) == NULL) {
        return NULL;
    }
    switch (row->param) {
    case CL_PROGRAM_CONTEXT:
        return Py_NewRef(self->context);
    case CL_PROGRAM_SOURCE: /* the driver does not have it if the program came from the cache */
        if (self->source != NULL) {
            return PyUnicode_DecodeUTF8(PyBytes_AS_STRING(self->source),
                                        PyBytes_GET_SIZE(self->source), "replace");
        }
        break;
    case CL_PROGRAM_DEVICES:
        return Program_devices(self);
    case CL_PROGRAM_NUM_DEVICES: {
        PyObject *list = Program_devices(self),
                 *n = list != NULL ? PyLong_FromSsize_t(PyList_GET_SIZE(list)) : NULL;
        Py_XDECREF(list);
        return n;
    }
    default:
        break;
    }
    if (ocl_program_handle(self) == NULL) {
        return NULL;
    }
    return row->param == CL_PROGRAM_BINARIES
               ? Program_binaries(self)
               : ocl_info(self->state, op, Program_query, "clGetProgramInfo", row);
}

PyObject *program_get_info(PyObject *op, PyObject *param) {
    if (ocl_program_handle((Program *)op) == NULL) {
        return NULL;
    }
    return ocl_info_by_param(((Program *)op)->state, op, Program_query, "clGetProgramInfo",
                             Program_info, ROW_COUNT, Program_get, param);
}

PyObject *program_get_build_info(PyObject *op, PyObject *const *args, Py_ssize_t nargs) {
    Program *self = (Program *)op;
    Device *device;
    if (nargs != 2) {
        return PyErr_Format(
            PyExc_TypeError,
            "Program.get_build_info: takes a device and a number, got %zd arguments", nargs);
    }
    if ((device = ocl_as_device(self->state, args[0], "Program.get_build_info", "device")) ==
            NULL ||
        ocl_program_handle(self) == NULL) {
        return NULL;
    }
    OneBuild build = {self->program, device->id};
    return ocl_info_by_param(self->state, &build, Program_query_build, "clGetProgramBuildInfo",
                             Build_info, BUILD_ROW_COUNT, NULL, args[1]);
}

static PyObject *Program_get_int_ptr(PyObject *op, void *Py_UNUSED(closure)) {
    cl_program handle = ocl_program_handle((Program *)op);
    return handle != NULL ? PyLong_FromVoidPtr(handle) : NULL;
}

static PyObject *Program_get_stage(PyObject *op, void *Py_UNUSED(closure)) {
    return PyLong_FromUnsignedLong(((Program *)op)->stage);
}

static PyObject *Program_get_arg_info(PyObject *op, void *Py_UNUSED(closure)) {
    PyObject *arg_info = ((Program *)op)->arg_info;
    return Py_NewRef(arg_info != NULL ? arg_info : Py_None);
}

static int Program_set_arg_info(PyObject *op, PyObject *value, void *Py_UNUSED(closure)) {
    if (value != NULL && value != Py_None && !PyDict_Check(value)) {
        PyErr_Format(PyExc_TypeError, "Program._arg_info must be a dict or None, not %s",
                     pg_type_name(value));
        return -1;
    }
    Py_XSETREF(((Program *)op)->arg_info,
               value != NULL && value != Py_None ? Py_NewRef(value) : NULL);
    return 0;
}

static PyObject *Program_get_checks(PyObject *op, void *Py_UNUSED(closure)) {
    PyObject *checks = ((Program *)op)->checks;
    return Py_NewRef(checks != NULL ? checks : Py_None);
}

static int Program_set_checks(PyObject *op, PyObject *value, void *Py_UNUSED(closure)) {
    PyObject *checks = value != NULL && value != Py_None ? Py_NewRef(value) : NULL;
    Py_XSETREF(((Program *)op)->checks, checks);
    return 0;
}

PyGetSetDef Program_getset[] = {
#define PROGRAM_INFO(attr, KIND, number, PARAM, unit, text) \
    INFO_GETSET(ROW_##attr, #attr, Program_get, KIND, #PARAM, unit, text)
#include "opencl/api/info.def"
    {"int_ptr", Program_get_int_ptr, NULL, "int: the cl_program of the driver", NULL},
    {"_stage", Program_get_stage, NULL, "int: 0 fresh, 1 failed, 2 compiled, 3 built", NULL},
    PG_FIELD("_pinned", truth, Program, pinned,
             "bool: whether the handle was given out, so that it must stay"),
    PG_FIELD("_cached", truth, Program, cached,
             "bool: whether the handle holds a binary of the cache instead of the source"),
    PG_FIELD("_options", object, Program, options,
             "bytes | None: options of the last build that succeeded"),
    PG_FIELD("_source_bytes", object, Program, source, "bytes | None: the source as it was given"),
    {"_arg_info", Program_get_arg_info, Program_set_arg_info,
     "dict[str, list[tuple[int, int, str, int, str]]] | None: arguments of the kernels, where the "
     "driver does not keep them",
     NULL},
    {"_checks", Program_get_checks, Program_set_checks,
     "Any: what makes its kernels under PYGPU_CHECK=1, else None", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
