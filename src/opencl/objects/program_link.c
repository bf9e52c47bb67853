/* program_link.c - programs linked from compiled programs, and programs of built-in kernels. */
#include "opencl/api/roles.h"
#include "opencl/context.h"
#include "opencl/device.h"
#include "opencl/lifetime/gil_release.h"
#include "opencl/objects/program.h"
#include "opencl/opencl.h"
#include "opencl/platform.h"

PG_DOC(link_program__doc__, "link_program", "context, programs, options=None, devices=None",
       "(context: Context, programs: Sequence[Program], options: str | Sequence[str] | None = "
       "None, devices: Sequence[Device] | None = None) -> Program",
       "A program with the kernels of *programs*, which were compiled before (OpenCL 1.2).\n\n"
       "options: \"-create-library\" makes a library for further linking. Raises RuntimeError with "
       "the linker's log.");
static ArgSpec link_program_args = PG_ARGSPEC(link_program__doc__);

PyObject *program_link(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t nargs,
                       PyObject *kwnames) {
    PyObject *a[4], *module;
    if (pg_args(&link_program_args, args, nargs, kwnames, a) < 0 ||
        (module = ocl_role("build")) == NULL) {
        return NULL;
    }
    PyObject *linked = PyObject_CallMethod(module, "link_programs", "OOOO", a[0], a[1],
                                           a[2] != NULL ? a[2] : Py_None,
                                           a[3] != NULL ? a[3] : Py_None);
    Py_DECREF(module);
    return linked;
}

PG_DOC(primitive_link__doc__, "_link", "context, programs, options, devices, failed",
       "(context: Context, programs: Sequence[Program], options: bytes, devices: Sequence[Device] "
       "| None, failed: list[Program]) -> Program",
       "clLinkProgram as it is. If it fails and leaves a program with the log, that is added to "
       "*failed*. For pygpu._src.runtime.opencl.build.");
/* Returns the handles of Programs of the context as PyMem memory; NULL with an exception. */
static cl_program *read_programs(State *state, const Context *context, PyObject *items) {
    Py_ssize_t n = PyTuple_GET_SIZE(items);
    cl_program *programs = PyMem_Calloc((size_t)n + 1, sizeof *programs);
    if (programs == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        Program *program =
            ocl_as_program(state, PyTuple_GET_ITEM(items, i), "link_program", "each of programs");
        if (program == NULL) {
            goto fail;
        }
        if (program->context->context != context->context) {
            ocl_reject(state, "link_program", CL_INVALID_CONTEXT,
                       "program %zd belongs to another context", i);
            goto fail;
        }
        if ((programs[i] = ocl_program_handle(program)) == NULL) {
            goto fail;
        }
    }
    return programs;
fail:
    PyMem_Free(programs);
    return NULL;
}

/* Returns the linked Program, or NULL with an exception; a program that failed to link is appended
 * to the list *failed*. linked may be NULL. */
static PyObject *finish_link(State *state, Context *context, cl_program linked, cl_int status,
                             PyObject *options, PyObject *failed) {
    if (linked != NULL) {
        ocl_live[LIVE_PROGRAM]++;
        Program *program = program_new(state, state->ProgramType, context, linked, PROGRAM_UNKNOWN);
        if (program == NULL) {
            return NULL;
        }
        if (status == CL_SUCCESS) {
            program->stage = PROGRAM_BUILT;
            program->options = Py_NewRef(options);
            return (PyObject *)program;
        }
        program->stage = PROGRAM_FAILED;
        int added = PyList_Check(failed) ? PyList_Append(failed, (PyObject *)program) : 0;
        Py_DECREF(program);
        if (added < 0) {
            return NULL;
        }
    }
    return ocl_raise(state, "clLinkProgram",
                     status != CL_SUCCESS ? status : CL_LINK_PROGRAM_FAILURE);
}

PG_FUNCTION(primitive_link, 5)
static PyObject *primitive_link_impl(PyObject *module, PyObject *const *a) {
    PyObject *keep = NULL, *items = NULL, *result = NULL;
    State *state = PyModule_GetState(module);
    Context *context;
    const char *options;
    cl_device_id *ids = NULL;
    cl_program *programs = NULL, linked = NULL;
    cl_uint n = 0;
    if ((context = ocl_as_context(state, a[0], "link_program")) == NULL ||
        (options = program_text(a[2])) == NULL ||
        ocl_need_version(state, "clLinkProgram", context->version, 120) < 0 ||
        ocl_as_devices(state, a[3], "link_program", &ids, &n, &keep) < 0 ||
        (items = pg_tuple(a[1], "link_program", "programs", "Programs", 1 << 16)) == NULL ||
        (programs = read_programs(state, context, items)) == NULL) {
        goto done;
    }
    cl_uint n_programs = (cl_uint)PyTuple_GET_SIZE(items);
    cl_int status = CL_SUCCESS;
    Py_BEGIN_ALLOW_THREADS
    CL_MAKE(linked, status, clLinkProgram, context->context, n, n > 0 ? ids : NULL, options,
            n_programs, programs, NULL, NULL);
    Py_END_ALLOW_THREADS
    result = finish_link(state, context, linked, status, a[2], a[4]);
done:
    PyMem_Free(programs);
    PyMem_Free(ids);
    Py_XDECREF(items);
    Py_XDECREF(keep);
    return result;
}

/* Whether each name in names is also in known; both are separated by semicolons. */
static int all_known(const char *names, const char *known) {
    while (*names != '\0') {
        size_t length = strcspn(names, ";");
        const char *at = known;
        while (*at != '\0' && (strcspn(at, ";") != length || strncmp(at, names, length) != 0)) {
            at += strcspn(at, ";");
            at += *at == ';';
        }
        if (*at == '\0') {
            return 0;
        }
        names += length;
        names += *names == ';';
    }
    return 1;
}

/* Drivers have crashed when asked for a built-in kernel that they lack. Returns -1 with an
 * exception. */
static int check_built_in(State *state, const char *call, PyObject *devices, const char *names) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(devices); i++) {
        PyObject *known = PyObject_GetAttrString(PyTuple_GET_ITEM(devices, i), "built_in_kernels");
        const char *text = known != NULL ? PyUnicode_AsUTF8(known) : NULL;
        int found = text != NULL ? all_known(names, text) : 0;
        if (text != NULL && !found) {
            ocl_reject(state, call, CL_INVALID_VALUE,
                       "device %zd has no built-in kernels '%s'; those it has: %s", i, names,
                       *text != '\0' ? text : "none");
        }
        Py_XDECREF(known);
        if (!found) {
            return -1;
        }
    }
    return 0;
}

PG_DOC(create_built_in__doc__, "create_program_with_built_in_kernels",
       "context, devices, kernel_names",
       "(context: Context, devices: Sequence[Device], kernel_names: str) -> Program",
       "A program of kernels that the devices bring along (OpenCL 1.2).\n\n"
       "kernel_names: as in Device.built_in_kernels, separated by semicolons.");
PG_FUNCTION(create_built_in, 3)
static PyObject *create_built_in_impl(PyObject *module, PyObject *const *a) {
    static const char call[] = "clCreateProgramWithBuiltInKernels";
    PyObject *keep = NULL, *encoded = NULL, *result = NULL;
    State *state = PyModule_GetState(module);
    Context *context;
    cl_device_id *ids = NULL;
    cl_uint n = 0;
    if ((context = ocl_as_context(state, a[0], call)) == NULL ||
        ocl_need_version(state, call, context->version, 120) < 0) {
        return NULL;
    }
    if (PyUnicode_Check(a[2])) {
        encoded = PyUnicode_AsUTF8String(a[2]);
    } else if (PyBytes_Check(a[2])) {
        encoded = Py_NewRef(a[2]);
    } else {
        PyErr_Format(PyExc_TypeError, "%s: kernel_names must be a str, not %s", call,
                     pg_type_name(a[2]));
    }
    const char *names = encoded != NULL ? program_text(encoded) : NULL;
    if (names == NULL || ocl_as_devices(state, a[1], call, &ids, &n, &keep) < 0) {
        goto done;
    }
    if (n == 0 || names[0] == '\0') {
        ocl_reject(state, call, CL_INVALID_VALUE,
                   n == 0 ? "devices is empty"
                          : "kernel_names is empty; Device.built_in_kernels has their names");
        goto done;
    }
    if (check_built_in(state, call, keep, names) < 0) {
        goto done;
    }
    cl_int status = CL_SUCCESS;
    cl_program program;
    CL_MAKE(program, status, clCreateProgramWithBuiltInKernels, context->context, n, ids, names);
    if (status != CL_SUCCESS || program == NULL) {
        ocl_raise(state, call, status != CL_SUCCESS ? status : CL_OUT_OF_RESOURCES);
        goto done;
    }
    ocl_live[LIVE_PROGRAM]++;
    result = (PyObject *)program_new(state, state->ProgramType, context, program, PROGRAM_UNKNOWN);
    if (result != NULL) {
        ((Program *)result)->stage = PROGRAM_BUILT;
    }
done:
    PyMem_Free(ids);
    Py_XDECREF(keep);
    Py_XDECREF(encoded);
    return result;
}

PyMethodDef ocl_program_functions[] = {
    {"link_program", FAST(program_link), link_program__doc__},
    {"create_program_with_built_in_kernels", FAST(create_built_in), create_built_in__doc__},
    {"_link", FAST(primitive_link), primitive_link__doc__},
    {NULL, NULL, 0, NULL},
};
