/* kernel.c - Kernel: a function of a program, its arguments and its information. */
#include "common/signature.h"
#include "opencl/api/info.h"
#include "opencl/api/roles.h"
#include "opencl/context.h"
#include "opencl/device.h"
#include "opencl/lifetime/deferred_init.h"
#include "opencl/objects/kernel.h"
#include "opencl/objects/program.h"
#include "opencl/opencl.h"
#include "opencl/platform.h"

enum {
#define KERNEL_INFO(attr, KIND, number, PARAM, unit, text) ROW_##attr,
#include "opencl/api/info.def"
    ROW_COUNT
};
static const Info Kernel_info[] = {
#define KERNEL_INFO(attr, KIND, number, PARAM, unit, text) {#attr, INFO_##KIND, PARAM},
#include "opencl/api/info.def"
};
static const Info work_group_info[] = {
#define WORK_GROUP_INFO(attr, KIND, number, PARAM, unit, text) {#attr, INFO_##KIND, PARAM},
#include "opencl/api/info.def"
};
static const Info sub_group_info[] = {
#define SUB_GROUP_INFO(attr, KIND, number, PARAM, unit, text) {#attr, INFO_##KIND, PARAM},
#include "opencl/api/info.def"
};
static const Info arg_info[] = {
#define KERNEL_ARG_INFO(attr, KIND, number, PARAM, unit, text) {#attr, INFO_##KIND, PARAM},
#include "opencl/api/info.def"
};
#define ROWS(table) (sizeof table / sizeof table[0])

static cl_int Kernel_query(void *self, cl_uint param, size_t size, void *value, size_t *size_ret) {
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clGetKernelInfo, ((Kernel *)self)->kernel, param, size, value, size_ret);
    return status;
}

/* ---- life cycle ------------------------------------------------------------------------------ */

/* Finds the program and context of a new kernel. program may be NULL: the driver is asked for it.
 * Returns 0, or -1 with an exception. */
static int find_program(Kernel *self, Program *program) {
    if (program == NULL) {
        cl_program owner = NULL;
        cl_int status = Kernel_query(self, CL_KERNEL_PROGRAM, sizeof owner, &owner, NULL);
        if (status != CL_SUCCESS) {
            ocl_raise(self->state, "clGetKernelInfo", status);
            return -1;
        }
        /* It may be a binary from the cache, for which the driver has no argument information. */
        program = (Program *)Py_XNewRef(kernel_find_program(owner));
        if (program == NULL) {
            program = (Program *)ocl_program_wrap(self->state, NULL, owner, 1);
        }
        if (program == NULL) {
            return -1;
        }
    } else {
        Py_INCREF(program);
    }
    self->program = program;
    self->context = (Context *)Py_NewRef(program->context);
    return 0;
}

/* Queries the driver about a new kernel. Returns 0, or -1 with an exception. */
static int read_name_and_count(Kernel *self) {
    char name[1024] = "";
    cl_int status =
        Kernel_query(self, CL_KERNEL_NUM_ARGS, sizeof self->n_args, &self->n_args, NULL);
    if (status == CL_SUCCESS) {
        status = Kernel_query(self, CL_KERNEL_FUNCTION_NAME, sizeof name - 1, name, NULL);
    }
    if (status != CL_SUCCESS) {
        ocl_raise(self->state, "clGetKernelInfo", status);
        return -1;
    }
    self->name = PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "replace");
    if (self->name == NULL) {
        return -1;
    }
    if (self->n_args > 4096) { /* no device allows this many, so the answer cannot be right */
        ocl_raise_with(self->state, "clGetKernelInfo", CL_INVALID_VALUE,
                       "the driver says that the kernel has %u arguments", (unsigned)self->n_args);
        return -1;
    }
    return 0;
}

/* Takes over the handle, also on failure. program may be NULL: the driver is asked for it. */
static PyObject *Kernel_make(State *state, PyTypeObject *type, cl_kernel handle, Program *program,
                             int shared_handle) {
    ocl_live[LIVE_KERNEL]++;
    Kernel *self = (Kernel *)PG_NEW(type);
    if (self == NULL) {
        CL_RELEASE(LIVE_KERNEL, clReleaseKernel, handle);
        return NULL;
    }
    self->state = state;
    self->kernel = handle;
    self->vectorcall = kernel_vectorcall;
    kernel_list(self);
    self->shared_handle = shared_handle;
    if (find_program(self, program) < 0 || read_name_and_count(self) < 0) {
        goto fail;
    }
    self->lock = PyThread_allocate_lock();
    if (self->lock == NULL) {
        PyErr_NoMemory();
        goto fail;
    }
    if (kernel_make_plan(self) < 0) {
        goto fail;
    }
    return (PyObject *)self;
fail:
    Py_DECREF(self);
    return NULL;
}

PG_DOC(Kernel__doc__, "Kernel", "program, name", "(program: Program, name: str)",
       "A kernel function of a built program. program.name returns the same object each time.\n\n"
       "kernel(queue, global_size, local_size, *args, global_offset=None, g_times_l=False, "
       "allow_empty_ndrange=False, wait_for=None)\n"
       "launches it and returns an Event. Sizes are numbers of work-items (int or a sequence of up "
       "to 3); local_size may be None.\n"
       "Arguments are converted by the kernel's own types: Buffer, Image, SVM, None for global "
       "pointers, LocalMemory for local ones,\n"
       "numbers of Python and NumPy for numbers, structured scalars for structs. g_times_l: the "
       "global size counts work-groups.\n\n"
       "Raises TypeError, OverflowError or LogicError that names the argument; nothing is launched "
       "then. Threads may share a kernel.");
static ArgSpec Kernel_args = PG_ARGSPEC(Kernel__doc__);

/* Under PYGPU_CHECK=1 a kernel may be of a type whose launches check for out-of-bounds indices.
 * Returns a new reference. */
static PyTypeObject *type_to_make(State *state, PyTypeObject *type, Program *program,
                                  PyObject *name) {
    if (program->checks == NULL || type != state->KernelType) {
        return (PyTypeObject *)Py_NewRef(type);
    }
    PyObject *checks = Py_NewRef(program->checks);
    PyObject *chosen = PyObject_CallMethod(checks, "type_of", "OO", (PyObject *)program, name);
    Py_DECREF(checks);
    if (chosen != NULL &&
        (!PyType_Check(chosen) || !PyType_IsSubtype((PyTypeObject *)chosen, type))) {
        Py_DECREF(chosen);
        PyErr_SetString(PyExc_TypeError, "Program._checks: type_of() must return a Kernel's type");
        return NULL;
    }
    return (PyTypeObject *)chosen;
}

static PyObject *Kernel_construct(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *a[2];
    State *state = ocl_state_of(type);
    if (state == NULL || pg_args_tuple(&Kernel_args, args, kwargs, a) < 0) {
        return NULL;
    }
    if (!PyObject_TypeCheck(a[0], state->ProgramType)) {
        return PyErr_Format(PyExc_TypeError, "Kernel: program must be a Program, not %s",
                            pg_type_name(a[0]));
    }
    if (!PyUnicode_Check(a[1])) {
        return PyErr_Format(PyExc_TypeError, "Kernel: name must be a str, not %s",
                            pg_type_name(a[1]));
    }
    Py_ssize_t length;
    const char *name = PyUnicode_AsUTF8AndSize(a[1], &length);
    cl_program program = name != NULL ? ocl_program_built((Program *)a[0], "Kernel") : NULL;
    if (program == NULL) {
        return NULL;
    }
    if (strlen(name) != (size_t)length) {
        return ocl_reject(state, "Kernel", CL_INVALID_KERNEL_NAME, "name contains a NUL character");
    }
    cl_int status;
    cl_kernel handle;
    int tries = 0, again;
    do {
        status = CL_SUCCESS;
        CL_MAKE(handle, status, clCreateKernel, program, name);
        again = status == CL_SUCCESS ? 0 : ocl_retry(state, status, &tries);
    } while (again == 1);
    if (again < 0) {
        return NULL;
    }
    if (status != CL_SUCCESS || handle == NULL) {
        return ocl_raise_with(state, "clCreateKernel",
                              status != CL_SUCCESS ? status : CL_OUT_OF_RESOURCES,
                              "no kernel '%U' could be made", a[1]);
    }
    PyTypeObject *chosen = type_to_make(state, type, (Program *)a[0], a[1]);
    if (chosen == NULL) {
        cl_int ignored = CL_SUCCESS;
        CL_CALL(ignored, clReleaseKernel, handle);
        return NULL;
    }
    PyObject *made = Kernel_make(state, chosen, handle, (Program *)a[0], 0);
    Py_DECREF(chosen);
    return made;
}

int kernel_is_uninitialized(const Kernel *self, const char *call) {
    return ocl_refuse_uninitialized(self->state, call, "kernel", CL_INVALID_KERNEL);
}
static int is_made(const Kernel *self) {
    return self->kernel != NULL;
}
static void moved(PyObject *op, PyObject *Py_UNUSED(made)) {
    kernel_relist((Kernel *)op);
}
OCL_MADE_BY_INIT_IF(Kernel, Kernel, KernelType, is_made, offsetof(Kernel, dict), moved)

static int Kernel_traverse(PyObject *op, visitproc visit, void *arg) {
    Kernel *self = (Kernel *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->program);
    Py_VISIT(self->context);
    for (cl_uint i = 0; self->slots != NULL && i < self->n_args; i++) {
        Py_VISIT(self->slots[i].held);
    }
    Py_VISIT(self->dict);
    return 0;
}

static int Kernel_clear(PyObject *op) {
    /* Program and kernel refer to each other, and this breaks the cycle. Enqueued commands have
     * their own references in the driver, so those of the arguments may be dropped as well. */
    Kernel *self = (Kernel *)op;
    for (cl_uint i = 0; self->slots != NULL && i < self->n_args; i++) {
        self->slots[i].set = SET_NOTHING;
        Py_CLEAR(self->slots[i].held);
    }
    Py_CLEAR(self->program);
    Py_CLEAR(self->dict);
    return 0;
}

static void Kernel_dealloc(PyObject *op) {
    Kernel *self = (Kernel *)op;
    PyObject_GC_UnTrack(op);
    kernel_unlist(self);
    if (self->weakrefs != NULL) {
        PyObject_ClearWeakRefs(op);
    }
    if (self->renewed != NULL) {
        CL_RELEASE(LIVE_KERNEL, clReleaseKernel, self->renewed);
    }
    if (self->kernel != NULL) {
        CL_RELEASE(LIVE_KERNEL, clReleaseKernel, self->kernel);
    }
    Kernel_clear(op);
    for (cl_uint i = 0; self->slots != NULL && i < self->n_args; i++) {
        Py_XDECREF(self->slots[i].declaration);
    }
    PyMem_Free(self->slots);
    if (self->lock != NULL) {
        PyThread_free_lock(self->lock);
    }
    Py_XDECREF(self->context);
    Py_XDECREF(self->name);
    pg_object_free(op);
}

/* ---- information ----------------------------------------------------------------------------- */

static PyObject *Kernel_get(PyObject *op, void *closure) {
    Kernel *self = (Kernel *)op;
    const Info *row = &Kernel_info[(intptr_t)closure];
    if (kernel_is_made(self, row->name) < 0) {
        return NULL;
    }
    switch (row->param) {
    case CL_KERNEL_CONTEXT:
        return Py_NewRef(self->context);
    case CL_KERNEL_PROGRAM:
        return Py_NewRef(self->program != NULL ? (PyObject *)self->program : Py_None);
    case CL_KERNEL_FUNCTION_NAME:
        return Py_NewRef(self->name);
    case CL_KERNEL_NUM_ARGS:
        return PyLong_FromUnsignedLong(self->n_args);
    default:
        return ocl_info(self->state, op, Kernel_query, "clGetKernelInfo", row);
    }
}

static PyObject *Kernel_get_info(PyObject *op, PyObject *param) {
    if (kernel_is_made((Kernel *)op, "clGetKernelInfo") < 0) {
        return NULL;
    }
    return ocl_info_by_param(((Kernel *)op)->state, op, Kernel_query, "clGetKernelInfo",
                             Kernel_info, ROW_COUNT, Kernel_get, param);
}

typedef struct {
    Kernel *kernel;
    cl_device_id device;
    cl_uint index;
    size_t input[3];
    size_t input_size;
} Question;

static cl_int ask_work_group(void *op, cl_uint param, size_t size, void *value, size_t *size_ret) {
    Question *q = op;
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clGetKernelWorkGroupInfo, q->kernel->kernel, q->device, param, size, value,
            size_ret);
    return status;
}

static cl_int ask_sub_group(void *op, cl_uint param, size_t size, void *value, size_t *size_ret) {
    Question *q = op;
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clGetKernelSubGroupInfo, q->kernel->kernel, q->device, param, q->input_size,
            q->input_size > 0 ? q->input : NULL, size, value, size_ret);
    return status;
}

static cl_int ask_arg(void *op, cl_uint param, size_t size, void *value, size_t *size_ret) {
    Question *q = op;
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clGetKernelArgInfo, q->kernel->kernel, q->index, param, size, value, size_ret);
    return status;
}

PG_DOC(Kernel_get_work_group_info__doc__, "get_work_group_info", "$self, param, device",
       "(param: int, device: Device) -> object",
       "Properties of this kernel on a device (kernel_work_group_info.NAME): largest work-group, "
       "local memory [bytes], ...");
PG_FUNCTION(Kernel_get_work_group_info, 2)
static PyObject *Kernel_get_work_group_info_impl(PyObject *op, PyObject *const *a) {
    Kernel *self = (Kernel *)op;
    Device *device;
    if (kernel_is_made(self, "Kernel.get_work_group_info") < 0 ||
        (device = ocl_as_device(self->state, a[1], "Kernel.get_work_group_info", "device")) ==
            NULL) {
        return NULL;
    }
    Question question = {self, device->id, 0, {0}, 0};
    return ocl_info_by_param(self->state, &question, ask_work_group, "clGetKernelWorkGroupInfo",
                             work_group_info, ROWS(work_group_info), NULL, a[0]);
}

PG_DOC(Kernel_get_sub_group_info__doc__, "get_sub_group_info",
       "$self, device, param, input_value=None",
       "(device: Device, param: int, input_value: int | Sequence[int] | None = None) -> object",
       "Sub-groups of this kernel on a device (kernel_sub_group_info.NAME, OpenCL 2.1).\n\n"
       "input_value: the local size for the queries by work-group size, a number of sub-groups for "
       "LOCAL_SIZE_FOR_SUB_GROUP_COUNT.");
PG_FUNCTION(Kernel_get_sub_group_info, 3)
static PyObject *Kernel_get_sub_group_info_impl(PyObject *op, PyObject *const *a) {
    Kernel *self = (Kernel *)op;
    Device *device;
    const char *call = "Kernel.get_sub_group_info";
    if (kernel_is_made(self, call) < 0 ||
        (device = ocl_as_device(self->state, a[0], call, "device")) == NULL) {
        return NULL;
    }
    Question question = {self, device->id, 0, {0}, 0};
    if (a[2] != NULL && a[2] != Py_None) {
        int n = pg_as_sizes(a[2], call, "input_value", question.input, 3);
        if (n < 0) {
            return NULL;
        }
        question.input_size = (size_t)n * sizeof(size_t);
    }
    if (ocl_need_version(self->state, "clGetKernelSubGroupInfo", device->version, 210) < 0) {
        return NULL;
    }
    return ocl_info_by_param(self->state, &question, ask_sub_group, "clGetKernelSubGroupInfo",
                             sub_group_info, ROWS(sub_group_info), NULL, a[1]);
}

PG_DOC(Kernel_get_arg_info__doc__, "get_arg_info", "$self, arg_index, param",
       "(arg_index: int, param: int) -> int | str",
       "The declaration of an argument, counted from 0 (kernel_arg_info.NAME).");
PG_FUNCTION(Kernel_get_arg_info, 2)
static PyObject *Kernel_get_arg_info_impl(PyObject *op, PyObject *const *a) {
    Kernel *self = (Kernel *)op;
    size_t index;
    if (kernel_is_made(self, "Kernel.get_arg_info") < 0 ||
        pg_as_size(a[0], "Kernel.get_arg_info", "arg_index", &index) < 0 ||
        ocl_need_version(self->state, "clGetKernelArgInfo", self->context->version, 120) < 0) {
        return NULL;
    }
    if (index >= self->n_args) {
        return ocl_reject(self->state, "clGetKernelArgInfo", CL_INVALID_ARG_INDEX,
                          "arg_index = %zu, but kernel '%U' has %u arguments", index, self->name,
                          (unsigned)self->n_args);
    }
    Question question = {self, NULL, (cl_uint)index, {0}, 0};
    cl_uint param;
    if (pg_as_u32(a[1], "Kernel.get_arg_info", "param", &param) < 0) {
        return NULL;
    }
    if (ask_arg(&question, param, 0, NULL, NULL) == CL_KERNEL_ARG_INFO_NOT_AVAILABLE) {
        PyObject *answer = kernel_describe_argument(self, question.index, param);
        if (answer != NULL) {
            return answer;
        }
        size_t known = 0;
        while (known < ROWS(arg_info) && arg_info[known].param != param) {
            known++;
        }
        if (known == ROWS(arg_info)) {
            return ocl_reject(self->state, "clGetKernelArgInfo", CL_INVALID_VALUE,
                              "param = 0x%x is not a member of kernel_arg_info", (unsigned)param);
        }
    }
    return ocl_info_by_param(self->state, &question, ask_arg, "clGetKernelArgInfo", arg_info,
                             ROWS(arg_info), NULL, a[1]);
}

/* ---- arguments ------------------------------------------------------------------------------- */

PG_DOC(Kernel_set_arg__doc__, "set_arg", "$self, arg_index, arg",
       "(arg_index: int, arg: object) -> None",
       "Set one argument, counted from 0, for enqueue_nd_range_kernel. It is kept alive.");
PG_FUNCTION(Kernel_set_arg, 2)
static PyObject *Kernel_set_arg_impl(PyObject *op, PyObject *const *a) {
    Kernel *self = (Kernel *)op;
    int64_t index;
    if (kernel_is_made(self, "Kernel.set_arg") < 0 ||
        pg_as_i64(a[0], "Kernel.set_arg", "arg_index", &index) < 0) {
        return NULL;
    }
    if (index < 0 || index >= (int64_t)self->n_args) {
        return ocl_reject(self->state, "Kernel.set_arg", CL_INVALID_ARG_INDEX,
                          "arg_index = %lld, but kernel '%U' has %u arguments, counted from 0",
                          (long long)index, self->name, (unsigned)self->n_args);
    }
    return kernel_set_arguments(self, (cl_uint)index, a + 1, 1) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *Kernel_set_args(PyObject *op, PyObject *const *args, Py_ssize_t nargs) {
    Kernel *self = (Kernel *)op;
    if (kernel_is_made(self, "Kernel.set_args") < 0) {
        return NULL;
    }
    if (nargs != (Py_ssize_t)self->n_given) {
        return PyErr_Format(PyExc_TypeError,
                            "Kernel.set_args: kernel '%U' takes %u arguments, got %zd", self->name,
                            (unsigned)self->n_given, nargs);
    }
    return kernel_set_arguments(self, 0, args, self->n_given) < 0 ? NULL : Py_NewRef(Py_None);
}

/* The entry points for invokers that other packages generate for PyOpenCL: (index, value, index,
 * value, ...), or (index, type letter, value, ...). */
static PyObject *set_groups(PyObject *op, PyObject *groups, Py_ssize_t each, const char *call) {
    if (kernel_is_made((Kernel *)op, call) < 0) {
        return NULL;
    }
    if (!PyTuple_Check(groups) || PyTuple_GET_SIZE(groups) % each != 0) {
        return PyErr_Format(PyExc_TypeError,
                            "Kernel.%s: takes a tuple of %zd items for each argument", call, each);
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(groups); i += each) {
        PyObject *pair[] = {PyTuple_GET_ITEM(groups, i), PyTuple_GET_ITEM(groups, i + each - 1)};
        PyObject *done = Kernel_set_arg(op, pair, 2, NULL);
        if (done == NULL) {
            return NULL;
        }
        Py_DECREF(done);
    }
    Py_RETURN_NONE;
}

static PyObject *Kernel_set_arg_multi(PyObject *op, PyObject *groups) {
    return set_groups(op, groups, 2, "_set_arg_multi");
}
static PyObject *Kernel_set_arg_buf_pack_multi(PyObject *op, PyObject *groups) {
    return set_groups(op, groups, 3, "_set_arg_buf_pack_multi");
}

PG_DOC(Kernel_set_scalar_arg_dtypes__doc__, "set_scalar_arg_dtypes", "$self, arg_types",
       "(arg_types: Sequence[object]) -> None",
       "Declare the arguments' types: a dtype for a number or struct, None for anything else, a "
       "VectorArg for an array. Seldom needed: the types "
       "are read from the kernel.");
PG_DOC(Kernel_set_arg_types__doc__, "set_arg_types", "$self, arg_types",
       "(arg_types: Sequence[object]) -> None", "The same as set_scalar_arg_dtypes.");
PG_FUNCTION(Kernel_set_scalar_arg_dtypes, 1)
static PyObject *Kernel_set_scalar_arg_dtypes_impl(PyObject *op, PyObject *const *a) {
    Kernel *self = (Kernel *)op;
    int failed = kernel_is_made(self, "Kernel.set_scalar_arg_dtypes") < 0;
    return failed || kernel_declare(self, a[0]) < 0 ? NULL : Py_NewRef(Py_None);
}

/* ---- others ---------------------------------------------------------------------------------- */

static PyObject *Kernel_clone(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Kernel *self = (Kernel *)op;
    cl_int status = CL_SUCCESS;
    cl_kernel handle;
    if (kernel_is_made(self, "Kernel.clone") < 0 ||
        ocl_need_version(self->state, "clCloneKernel", self->context->version, 210) < 0) {
        return NULL;
    }
    /* The driver copies its arguments at the clone, so ours are copied at the same time: making an
     * object may run code that sets others. */
    ArgSlot *slots = PyMem_Malloc((self->n_args + 1) * sizeof *slots);
    cl_uint n_given = self->n_given;
    int svm_seen = self->svm_seen;
    if (slots == NULL) {
        return PyErr_NoMemory();
    }
    CL_MAKE(handle, status, clCloneKernel, kernel_handle(self));
    if (status != CL_SUCCESS || handle == NULL) {
        PyMem_Free(slots);
        return ocl_raise(self->state, "clCloneKernel",
                         status != CL_SUCCESS ? status : CL_OUT_OF_RESOURCES);
    }
    memcpy(slots, self->slots, self->n_args * sizeof *slots);
    for (cl_uint i = 0; i < self->n_args; i++) {
        Py_XINCREF(slots[i].held);
    }
    Kernel *clone =
        (Kernel *)Kernel_make(self->state, Py_TYPE(op), handle, self->program, self->shared_handle);
    for (cl_uint i = 0; i < self->n_args; i++) {
        if (clone != NULL) {
            slots[i].declaration = clone->slots[i].declaration;
            clone->slots[i] = slots[i];
        } else {
            Py_XDECREF(slots[i].held);
        }
    }
    PyMem_Free(slots);
    if (clone != NULL) {
        clone->n_given = n_given;
        clone->svm_seen = svm_seen;
        clone->holds_nothing = self->holds_nothing;
    }
    return (PyObject *)clone;
}

static PyObject *Kernel_capture_call(PyObject *op, PyObject *args, PyObject *kwargs) {
    PyObject *module = ocl_role("capture_call"),
             *function = module != NULL ? PyObject_GetAttrString(module, "_kernel_capture_call")
                                        : NULL;
    PyObject *all = kernel_is_made((Kernel *)op, "Kernel.capture_call") < 0 ? NULL
                                                                            : PyTuple_Pack(1, op),
             *joined = all != NULL ? PySequence_Concat(all, args) : NULL;
    PyObject *result = function != NULL && joined != NULL ? PyObject_Call(function, joined, kwargs)
                                                          : NULL;
    Py_XDECREF(module);
    Py_XDECREF(function);
    Py_XDECREF(all);
    Py_XDECREF(joined);
    return result;
}

static PyObject *Kernel_of_handle(State *state, PyTypeObject *type, void *handle, int retain) {
    cl_int status = CL_SUCCESS;
    if (retain) {
        CL_CALL(status, clRetainKernel, (cl_kernel)handle);
        if (status != CL_SUCCESS) {
            return ocl_raise(state, "clRetainKernel", status);
        }
    }
    return Kernel_make(state, type, (cl_kernel)handle, NULL, 1);
}

OCL_FROM_INT_PTR(Kernel, "Kernel", "Kernel", "Kernel of a cl_kernel")

static PyObject *Kernel_get_int_ptr(PyObject *op, void *closure) {
    ((Kernel *)op)->shared_handle = 1; /* the owner of the other handle may set arguments without
                                        * our knowledge */
    return ocl_handle_int_ptr(op, closure);
}

/* A list of "float *a", or None where nothing is known. The offset of a VectorArg is not a call
 * parameter. */
static PyObject *declarations(const Kernel *self) {
    PyObject *list = PyList_New(0);
    for (cl_uint i = 0; list != NULL && i < self->n_args && self->slots != NULL; i++) {
        const ArgSlot *slot = &self->slots[i];
        PyObject *item = slot->declaration != NULL ? slot->declaration : Py_None;
        if (!slot->is_offset && PyList_Append(list, item) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *Kernel_repr(PyObject *op) {
    Kernel *self = (Kernel *)op;
    if (self->name == NULL) {
        return PyUnicode_FromString("<pygpu.Kernel, not made yet>");
    }
    PyObject *list = declarations(self), *joined = NULL, *repr = NULL;
    if (list != NULL && (joined = pg_join_declarations(list)) != NULL) {
        repr = PyUnicode_FromFormat("<pygpu.Kernel '%U' at %p (%U)>", self->name,
                                    (void *)self->kernel, joined);
    }
    Py_XDECREF(list);
    Py_XDECREF(joined);
    return repr;
}

static PyObject *Kernel_signature(PyObject *op, void *Py_UNUSED(closure)) {
    static const char *const before[] = {"queue", "global_size", "local_size", NULL};
    static const char *const keywords[] = {"global_offset=None", "g_times_l=False",
                                           "allow_empty_ndrange=False", "wait_for=None", NULL};
    static const PgCallForm form = {before, keywords};
    const Kernel *self = (const Kernel *)op;
    PyObject *list = self->name != NULL ? declarations(self) : Py_NewRef(Py_None);
    PyObject *signature = pg_make_signature(&form, list);
    Py_XDECREF(list);
    return signature;
}

int ocl_kernel_add_signature(State *state) {
    return pg_add_signature(state->KernelType, Kernel_signature);
}

static PyMethodDef Kernel_methods[] = {
    PG_NO_PICKLE,
    {"set_arg", FAST(Kernel_set_arg), Kernel_set_arg__doc__},
    {"set_args", (PyCFunction)(void (*)(void))Kernel_set_args, METH_FASTCALL,
     "set_args($self, /, *args)\n--\n\n(*args: object) -> None\n\nSet all arguments for "
     "enqueue_nd_range_kernel. They are kept alive."},
    {"_set_arg_multi", Kernel_set_arg_multi, METH_O,
     "_set_arg_multi($self, pairs, /)\n--\n\n(pairs: tuple[object, ...], /) -> None\n\nset_arg() "
     "for each index and value of a tuple."},
    {"_set_arg_buf_multi", Kernel_set_arg_multi, METH_O,
     "_set_arg_buf_multi($self, pairs, /)\n--\n\n(pairs: tuple[object, ...], /) -> None\n\nThe "
     "same, of values as bytes."},
    {"_set_arg_buf_pack_multi", Kernel_set_arg_buf_pack_multi, METH_O,
     "_set_arg_buf_pack_multi($self, groups, /)\n--\n\n(groups: tuple[object, ...], /) -> "
     "None\n\nset_arg() for each index, letter of a type, and number."},
    {"set_scalar_arg_dtypes", FAST(Kernel_set_scalar_arg_dtypes),
     Kernel_set_scalar_arg_dtypes__doc__},
    {"set_arg_types", FAST(Kernel_set_scalar_arg_dtypes), Kernel_set_arg_types__doc__},
    INFO_METHOD(Kernel_get_info, "kernel_info"),
    {"get_work_group_info", FAST(Kernel_get_work_group_info), Kernel_get_work_group_info__doc__},
    {"get_sub_group_info", FAST(Kernel_get_sub_group_info), Kernel_get_sub_group_info__doc__},
    {"get_arg_info", FAST(Kernel_get_arg_info), Kernel_get_arg_info__doc__},
    {"clone", Kernel_clone, METH_NOARGS,
     "clone($self, /)\n--\n\n() -> Kernel\n\nA copy with the same arguments set (OpenCL 2.1)."},
    {"capture_call", (PyCFunction)(void (*)(void))Kernel_capture_call, METH_VARARGS | METH_KEYWORDS,
     "capture_call($self, output_file, queue, global_size, local_size, *args, "
     "**kwargs)\n--\n\n(output_file: str | IO[str], queue: CommandQueue, "
     "global_size: object, local_size: object, *args: object, **kwargs: object) -> None\n\nWrite a "
     "stand-alone script that makes this call, with its data, to a file or file object."},
    OCL_FROM_INT_PTR_METHOD(Kernel),
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef Kernel_getset[] = {
#define KERNEL_INFO(attr, KIND, number, PARAM, unit, text) \
    INFO_GETSET(ROW_##attr, #attr, Kernel_get, KIND, #PARAM, unit, text)
#include "opencl/api/info.def"
    {"int_ptr", Kernel_get_int_ptr, NULL, "int: the cl_kernel of the driver", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMemberDef Kernel_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Kernel, vectorcall), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Kernel, weakrefs), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(Kernel, dict), READONLY, NULL},
    {"_holds_nothing", T_BOOL, offsetof(Kernel, holds_nothing), 0,
     "bool: no reference to an argument is kept after a call; for kernels that are only called, "
     "such as those of arrays"},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot Kernel_slots[] = {
    PG_NEW_SLOTS(Kernel),
    {Py_tp_call, (void *)kernel_tp_call},
    PG_GC_SLOTS(Kernel),
    {Py_tp_repr, (void *)Kernel_repr},
    OCL_HANDLE_SLOTS,
    PG_TABLE_SLOTS(Kernel),
    {0, NULL},
};
OCL_TYPE(Kernel, Kernel, Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_VECTORCALL);
