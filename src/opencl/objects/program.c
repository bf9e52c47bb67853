/* program.c - Program: source, binaries or SPIR-V, with its kernels as attributes. */
#include "opencl/api/roles.h"
#include "opencl/context.h"
#include "opencl/device.h"
#include "opencl/lifetime/deferred_init.h"
#include "opencl/objects/program.h"
#include "opencl/objects/repr.h"
#include "opencl/opencl.h"

Program *program_new(State *state, PyTypeObject *type, Context *context, cl_program handle,
                     ProgramKind kind) {
    Program *self = (Program *)PG_NEW(type);
    if (self != NULL) {
        self->state = state;
        self->program = handle;
        self->context = (Context *)Py_XNewRef(context);
        self->kind = kind;
        self->kernels = PyDict_New();
        self->lock = PyThread_allocate_lock();
        if (self->kernels == NULL || self->lock == NULL) {
            if (!PyErr_Occurred()) {
                PyErr_NoMemory();
            }
            Py_CLEAR(self); /* releases the handle, too */
        }
    } else if (handle != NULL) {
        CL_RELEASE(LIVE_PROGRAM, clReleaseProgram, handle);
    }
    return self;
}

Program *ocl_as_program(State *state, PyObject *obj, const char *call, const char *name) {
    if (!PyObject_TypeCheck(obj, state->ProgramType)) {
        PyErr_Format(PyExc_TypeError, "%s: %s must be a Program, not %s", call, name,
                     pg_type_name(obj));
        return NULL;
    }
    if (((Program *)obj)->context == NULL) { /* not initialized: see Program_new */
        return (Program *)ocl_reject(
            state, call, CL_INVALID_PROGRAM,
            "%s was not made yet: its __init__ has to call super().__init__(context, source)",
            name);
    }
    return (Program *)obj;
}

/* ---- creation -------------------------------------------------------------------------------- */

static PyObject *from_source(State *state, PyTypeObject *type, Context *context, PyObject *source) {
    PyObject *bytes = PyUnicode_Check(source) ? PyUnicode_AsUTF8String(source) : Py_NewRef(source);
    if (bytes == NULL) {
        return NULL;
    }
    Program *self = NULL;
    const char *text = PyBytes_AS_STRING(bytes);
    size_t length = (size_t)PyBytes_GET_SIZE(bytes);
    const char *nul = memchr(text, '\0', length);
    if (nul != NULL) {
        ocl_reject(state, "Program", CL_INVALID_VALUE,
                   "the source has a NUL character at byte %zd, where drivers would cut it off; "
                   "pass a binary as Program(context, devices, binaries)",
                   nul - text);
    } else {
        self = program_new(state, type, context, NULL, PROGRAM_SOURCE);
    }
    if (self != NULL) {
        self->source = Py_NewRef(bytes);
    }
    Py_DECREF(bytes);
    return (PyObject *)self;
}

static int is_spirv(PyObject *source) {
    static const unsigned char magic[2][4] = {{0x03, 0x02, 0x23, 0x07}, {0x07, 0x23, 0x02, 0x03}};
    return PyBytes_Check(source) && PyBytes_GET_SIZE(source) >= 4 &&
           (memcmp(PyBytes_AS_STRING(source), magic[0], 4) == 0 ||
            memcmp(PyBytes_AS_STRING(source), magic[1], 4) == 0);
}

/* Whether a device lists SPIR-V among the IL versions it accepts. */
static int takes_spirv(Context *context) {
    for (Py_ssize_t i = 0; i < context->n_devices; i++) {
        char text[1024] = "";
        if (ocl_device_query(context->devices[i], CL_DEVICE_IL_VERSION, sizeof text - 1, text,
                             NULL) == CL_SUCCESS &&
            strstr(text, "SPIR-V") != NULL) {
            return 1;
        }
    }
    return 0;
}

static PyObject *from_il(State *state, PyTypeObject *type, Context *context, PyObject *il) {
    typedef cl_program(CL_API_CALL * CreateFunction)(cl_context context, const void *il,
                                                     size_t length, cl_int *errcode_ret);
    static const char call[] = "clCreateProgramWithIL";
    cl_program program = NULL;
    cl_int status = CL_SUCCESS;
    size_t length = (size_t)PyBytes_GET_SIZE(il);
    if (length % 4 != 0 || length < 20) {
        return ocl_reject(
            state, call, CL_INVALID_VALUE,
            "the SPIR-V module is damaged: %zu bytes are not a header and whole words", length);
    }
    if (!takes_spirv(context)) {
        return ocl_raise_with(state, call, CL_INVALID_OPERATION,
                              "no device of the context takes SPIR-V (Device.il_version does not "
                              "name it); build from OpenCL C source instead");
    }
    CreateFunction extension = NULL;
    if (context->version < 210 && context->n_devices > 0) {
        /* Object and function pointers are interchangeable on every system that has dlsym. */
        *(void **)(void *)&extension =
            ocl_extension_function(context->devices[0]->platform->id, "clCreateProgramWithILKHR");
    }
    if (extension != NULL) {
        program = extension(context->context, PyBytes_AS_STRING(il), length, &status);
    } else {
        CL_MAKE(program, status, clCreateProgramWithIL, context->context, PyBytes_AS_STRING(il),
                length);
    }
    if (status != CL_SUCCESS || program == NULL) {
        return ocl_raise(state, call, status != CL_SUCCESS ? status : CL_OUT_OF_RESOURCES);
    }
    ocl_live[LIVE_PROGRAM]++;
    return (PyObject *)program_new(state, type, context, program, PROGRAM_IL);
}

/* Another object for the same handle. */
static PyObject *from_program(State *state, PyTypeObject *type, Program *other) {
    cl_program program = ocl_program_handle(other);
    cl_int status = CL_SUCCESS;
    if (program == NULL) {
        return NULL;
    }
    CL_CALL(status, clRetainProgram, program);
    if (status != CL_SUCCESS) {
        return ocl_raise(state, "clRetainProgram", status);
    }
    ocl_live[LIVE_PROGRAM]++;
    Program *self = program_new(state, type, other->context, program, other->kind);
    if (self != NULL) {
        self->source = Py_XNewRef(other->source);
        self->arg_info = Py_XNewRef(other->arg_info);
        self->options = Py_XNewRef(other->options);
        self->checks = Py_XNewRef(other->checks);
        self->stage = other->stage;
        self->cached = other->cached;
        self->pinned = 1;
    }
    return (PyObject *)self;
}

PG_DOC(
    Program__doc__, "Program", "context, source_or_devices, binaries=None",
    "(context: Context, source_or_devices: str | bytes | Sequence[Device], binaries: "
    "Sequence[bytes] | None = None)",
    "A program with kernels, made from one of\n\n"
    "- OpenCL C source, as str or bytes: Program(context, source)\n"
    "- a SPIR-V module, as bytes: Program(context, il)\n"
    "- binaries that were built for an equal device before: Program(context, devices, binaries)\n\n"
    "After build(), program.name is its kernel of that name, the same object each time.\n\n"
    "Raises ValueError for an empty source or one with a NUL character, LogicError for binaries "
    "of another device.");
static ArgSpec Program_args = PG_ARGSPEC(Program__doc__);

static PyObject *construct(State *state, PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *a[3];
    Context *context;
    if (PyTuple_GET_SIZE(args) == 1 && kwargs == NULL &&
        PyObject_TypeCheck(PyTuple_GET_ITEM(args, 0), state->ProgramType)) {
        return from_program(state, type, (Program *)PyTuple_GET_ITEM(args, 0));
    }
    /* PyOpenCL's names for the second argument */
    PyObject *renamed = NULL;
    static const char *const names[] = {"src", "devices"};
    for (int i = 0; kwargs != NULL && i < 2; i++) {
        PyObject *value = PyDict_GetItemString(kwargs, names[i]);
        if (value != NULL) {
            renamed = PyDict_Copy(kwargs);
            if (renamed == NULL || PyDict_DelItemString(renamed, names[i]) < 0 ||
                PyDict_SetItemString(renamed, "source_or_devices", value) < 0) {
                Py_XDECREF(renamed);
                return NULL;
            }
            break;
        }
    }
    int parsed = pg_args_tuple(&Program_args, args, renamed != NULL ? renamed : kwargs, a);
    Py_XDECREF(renamed); /* the caller's dict still owns the values */
    if (parsed < 0 || (context = ocl_as_context(state, a[0], "Program")) == NULL) {
        return NULL;
    }
    if (a[2] != NULL && a[2] != Py_None) {
        return program_from_binaries(state, type, context, a[1], a[2]);
    }
    if (is_spirv(a[1])) {
        return from_il(state, type, context, a[1]);
    }
    if (PyUnicode_Check(a[1]) || PyBytes_Check(a[1])) {
        return from_source(state, type, context, a[1]);
    }
    return PyErr_Format(
        PyExc_TypeError,
        "Program: source must be str or bytes, or devices and binaries given, not %s",
        pg_type_name(a[1]));
}

static int makes_itself(State *state, PyTypeObject *type) {
    return type->tp_init != state->ProgramType->tp_init;
}

/* The __init__ of a subclass may take its own arguments and make the program by
 * super().__init__(context, ...). Until then the program is uninitialized: it has no context and
 * cannot get a handle. If the class was called with a Program's own arguments, its __init__ may
 * omit that call. */
static PyObject *Program_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    State *state = ocl_state_of(type);
    if (state == NULL) {
        return NULL;
    }
    if (!makes_itself(state, type)) {
        return construct(state, type, args, kwargs);
    }
    PyObject *made = PyTuple_GET_SIZE(args) > 0 &&
                             PyObject_TypeCheck(PyTuple_GET_ITEM(args, 0), state->ContextType)
                         ? construct(state, type, args, kwargs)
                         : NULL;
    if (made != NULL || (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception))) {
        return made;
    }
    PyErr_Clear();
    return (PyObject *)program_new(state, type, NULL, NULL, PROGRAM_UNKNOWN);
}

static int is_in_use(Program *self) {
    int used = self->pinned || self->stage != PROGRAM_FRESH || self->owner != 0;
    if (used) {
        ocl_reject(self->state, "Program", CL_INVALID_OPERATION,
                   "the program is in use: it cannot be made a second time");
    }
    return used;
}

static int Program_init(PyObject *op, PyObject *args, PyObject *kwargs) {
    Program *self = (Program *)op;
    if (self->context != NULL && !makes_itself(self->state, Py_TYPE(op))) {
        return 0; /* Program_new has already made it */
    }
    Program *made = is_in_use(self)
                        ? NULL
                        : (Program *)construct(self->state, self->state->ProgramType, args, kwargs);
    if (made == NULL || is_in_use(self)) { /* made or used since then: parsing the arguments may
                                            * run code that builds it, also in another thread */
        Py_XDECREF(made);
        return -1;
    }
    cl_program program = self->program;
    self->program = made->program;
    made->program = program;
    PyObject **fields[] = {(PyObject **)&self->context, &self->source, &self->arg_info,
                           &self->options, &self->checks};
    PyObject **other[] = {(PyObject **)&made->context, &made->source, &made->arg_info,
                          &made->options, &made->checks};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        PyObject *old = *fields[i];
        *fields[i] = *other[i];
        *other[i] = old;
    }
    self->kind = made->kind;
    self->stage = made->stage;
    self->cached = made->cached;
    self->pinned = made->pinned;
    Py_DECREF(made); /* destroys the program's former contents */
    return 0;
}

/* Finds out what happened to the program before pygpu received it. */
static void recognize(Program *self) {
    size_t size = 0;
    cl_int status = CL_SUCCESS;
    cl_build_status built = CL_BUILD_NONE;
    cl_program_binary_type type = 0;
    CL_CALL(status, clGetProgramInfo, self->program, CL_PROGRAM_SOURCE, 0, NULL, &size);
    if (status == CL_SUCCESS && size > 1) {
        self->kind = PROGRAM_SOURCE;
    } else if (self->context->version >= 210) {
        size = 0;
        CL_CALL(status, clGetProgramInfo, self->program, CL_PROGRAM_IL, 0, NULL, &size);
        self->kind = status == CL_SUCCESS && size > 0 ? PROGRAM_IL : PROGRAM_UNKNOWN;
    }
    for (Py_ssize_t i = 0; i < self->context->n_devices && self->stage == PROGRAM_FRESH; i++) {
        cl_device_id device = self->context->devices[i]->id;
        CL_CALL(status, clGetProgramBuildInfo, self->program, device, CL_PROGRAM_BUILD_STATUS,
                sizeof built, &built, NULL);
        if (status != CL_SUCCESS || built != CL_BUILD_SUCCESS) {
            continue;
        }
        self->stage = PROGRAM_BUILT;
        CL_CALL(status, clGetProgramBuildInfo, self->program, device, CL_PROGRAM_BINARY_TYPE,
                sizeof type, &type, NULL);
        if (status == CL_SUCCESS && (type == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT ||
                                     type == CL_PROGRAM_BINARY_TYPE_LIBRARY)) {
            self->stage = PROGRAM_COMPILED;
        }
    }
}

PyObject *ocl_program_wrap(State *state, PyTypeObject *type, cl_program handle, int retain) {
    cl_context context_handle = NULL;
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clGetProgramInfo, handle, CL_PROGRAM_CONTEXT, sizeof context_handle,
            &context_handle, NULL);
    if (status != CL_SUCCESS) {
        return ocl_raise(state, "clGetProgramInfo", status);
    }
    if (retain) {
        CL_CALL(status, clRetainProgram, handle);
        if (status != CL_SUCCESS) {
            return ocl_raise(state, "clRetainProgram", status);
        }
    }
    ocl_live[LIVE_PROGRAM]++;
    PyObject *context = ocl_context_wrap(state, context_handle);
    if (context == NULL) {
        CL_RELEASE(LIVE_PROGRAM, clReleaseProgram, handle);
        return NULL;
    }
    Program *self = program_new(state, type != NULL ? type : state->ProgramType, (Context *)context,
                                handle, PROGRAM_UNKNOWN);
    Py_DECREF(context);
    if (self != NULL) {
        self->pinned = 1;
        recognize(self);
    }
    return (PyObject *)self;
}

/* ---- life cycle ------------------------------------------------------------------------------ */

static int Program_traverse(PyObject *op, visitproc visit, void *arg) {
    Program *self = (Program *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->context);
    Py_VISIT(self->kernels);
    Py_VISIT(self->arg_info);
    Py_VISIT(self->checks);
    Py_VISIT(self->dict);
    return 0;
}

static int Program_clear(PyObject *op) { /* kernels refer back to the program */
    Program *self = (Program *)op;
    Py_CLEAR(self->last_name);
    Py_CLEAR(self->kernels);
    Py_CLEAR(self->checks);
    Py_CLEAR(self->dict);
    return 0;
}

static void Program_dealloc(PyObject *op) {
    Program *self = (Program *)op;
    pg_untrack(op, self->weakrefs);
    Py_XDECREF(self->last_name);
    Py_XDECREF(self->kernels); /* before the program, because drivers prefer that order */
    if (self->program != NULL) {
        CL_RELEASE(LIVE_PROGRAM, clReleaseProgram, self->program);
    }
    if (self->lock != NULL) {
        PyThread_free_lock(self->lock);
    }
    Py_XDECREF(self->context);
    Py_XDECREF(self->source);
    Py_XDECREF(self->arg_info);
    Py_XDECREF(self->options);
    Py_XDECREF(self->checks);
    Py_XDECREF(self->dict);
    pg_object_free(op);
}

static Py_hash_t Program_hash(PyObject *op) {
    cl_program handle = ocl_program_handle((Program *)op);
    return handle != NULL ? Py_HashPointer(handle) : -1;
}

static PyObject *Program_compare(PyObject *op, PyObject *other, int how) {
    if ((how != Py_EQ && how != Py_NE) || !ocl_compares_by(other, Program_compare)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    int equal = op == other;
    if (!equal) {
        cl_program a = ocl_program_handle((Program *)op),
                   b = a != NULL ? ocl_program_handle((Program *)other) : NULL;
        if (b == NULL) {
            return NULL;
        }
        equal = a == b;
    }
    return PyBool_FromLong(equal == (how == Py_EQ));
}

/* ---- kernels as attributes ------------------------------------------------------------------- */

/* Replaces the exception "no such kernel" by an AttributeError that lists the existing kernels. */
static void explain_missing(Program *self, PyObject *name) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyObject *code = value != NULL ? PyObject_GetAttrString(value, "code") : NULL;
    long number = code != NULL && PyLong_Check(code) ? PyLong_AsLong(code) : 0;
    Py_XDECREF(code);
    PyErr_Clear();
    if (number != CL_INVALID_KERNEL_NAME) {
        PyErr_Restore(type, value, traceback);
        return;
    }
    PyObject *joined = pg_join(", ", program_kernel_names(self));
    PyErr_Clear();
    if (joined != NULL && PyUnicode_GetLength(joined) > 0) {
        PyErr_Format(PyExc_AttributeError,
                     "the program has no kernel or attribute '%U'; its kernels are: %U", name,
                     joined);
    } else {
        PyErr_Format(PyExc_AttributeError,
                     "the program has no kernel or attribute '%U', and no kernels at all", name);
    }
    Py_XDECREF(joined);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
}

static PyObject *make_kernel(Program *self, PyObject *name) {
    PyObject *kernel = PyObject_CallFunctionObjArgs((PyObject *)self->state->KernelType,
                                                    (PyObject *)self, name, NULL);
    PyObject *key = kernel != NULL ? PyUnicode_FromObject(name)
                                   : NULL; /* a str subclass could run code during the lookup */
    if (key != NULL && self->kernels != NULL) { /* another thread may have been faster */
        PyObject *kept = PyDict_SetDefault(self->kernels, key, kernel);
        Py_XINCREF(kept);
        Py_SETREF(kernel, kept);
    }
    Py_XDECREF(key);
    return kernel;
}

static int is_dunder(PyObject *name) {
    Py_ssize_t n = PyUnicode_GET_LENGTH(name);
    return n > 4 && PyUnicode_READ_CHAR(name, 0) == '_' && PyUnicode_READ_CHAR(name, 1) == '_' &&
           PyUnicode_READ_CHAR(name, n - 1) == '_' && PyUnicode_READ_CHAR(name, n - 2) == '_';
}

/* Whether the program assigned an attribute of this name, which takes precedence over a kernel.
 * Returns -1 with an exception. */
static int is_assigned(Program *self, PyObject *name) {
    if (self->dict == NULL || PyDict_GET_SIZE(self->dict) == 0) {
        return 0;
    }
    PyObject *dict = Py_NewRef(self->dict); /* comparing keys may run code */
    int found = PyDict_Contains(dict, name);
    Py_DECREF(dict);
    return found;
}

static PyObject *Program_getattro(PyObject *op, PyObject *name) {
    Program *self = (Program *)op;
    int assigned = is_assigned(self, name);
    if (assigned < 0) {
        return NULL;
    }
    if (!assigned && name == self->last_name) { /* the same interned name, as in a loop */
        return Py_NewRef(self->last_kernel);
    }
    if (!assigned && self->kernels != NULL && PyUnicode_CheckExact(name)) {
        PyObject *kernel = PyDict_GetItemWithError(self->kernels, name);
        if (kernel != NULL) {
            Py_XSETREF(self->last_name, Py_NewRef(name));
            self->last_kernel = kernel;
            return Py_NewRef(kernel);
        }
        if (PyErr_Occurred()) {
            return NULL;
        }
    }
    PyObject *value = PyObject_GenericGetAttr(op, name);
    if (value != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError) || is_dunder(name)) {
        return value; /* Python's own protocols look up many such names, and kernels are never
                       * called that */
    }
    if (self->context == NULL) {
        return NULL;
    }
    PyErr_Clear();
    if (self->stage != PROGRAM_BUILT && self->kind == PROGRAM_SOURCE && self->owner == 0) {
        return PyErr_Format(
            PyExc_AttributeError, "the program has no attribute '%U', and %s", name,
            self->stage == PROGRAM_FAILED ? "no kernels, because it did not build"
            : self->stage == PROGRAM_COMPILED
                ? "no kernels, because it was compiled only: link it with link_program()"
                : "it has kernels only once it was built: call its build() first");
    }
    if (ocl_program_built(self, "Program") == NULL) { /* waits if another thread is building it */
        return NULL;
    }
    value = make_kernel(self, name);
    if (value == NULL) {
        explain_missing(self, name);
    }
    return value;
}

PyObject *program_all_kernels(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Program *self = (Program *)op;
    if (ocl_program_built(self, "Program.all_kernels") == NULL) {
        return NULL;
    }
    PyObject *names = program_kernel_names(self), *list = names != NULL ? PyList_New(0) : NULL;
    for (Py_ssize_t i = 0; list != NULL && i < PyList_GET_SIZE(names); i++) {
        PyObject *name = PyList_GET_ITEM(names, i),
                 *kernel = self->kernels != NULL ? PyDict_GetItemWithError(self->kernels, name)
                                                 : NULL;
        if (kernel != NULL) {
            Py_INCREF(kernel);
        } else if (PyErr_Occurred()) {
            Py_CLEAR(list);
        } else if (PyObject_HasAttr((PyObject *)Py_TYPE(op),
                                    name)) { /* program.build remains the method */
            kernel =
                PyObject_CallFunctionObjArgs((PyObject *)self->state->KernelType, op, name, NULL);
        } else {
            kernel = make_kernel(self, name);
        }
        pg_append(&list, kernel);
    }
    Py_XDECREF(names);
    return list;
}

PyObject *program_dir(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Program *self = (Program *)op;
    PyObject *list = PyObject_CallMethod((PyObject *)&PyBaseObject_Type, "__dir__", "O", op);
    if (list == NULL || self->stage != PROGRAM_BUILT || self->owner != 0) {
        return list;
    }
    PyObject *names = ocl_program_handle(self) != NULL ? program_kernel_names(self) : NULL,
             *all = NULL;
    if (names == NULL) {
        PyErr_Clear();
        return list;
    }
    all = PySequence_InPlaceConcat(list, names);
    Py_DECREF(names);
    Py_DECREF(list);
    return all;
}

PyObject *program_kind(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    PyObject *module = ocl_role("build"), *kind = NULL;
    if (module != NULL) {
        kind = PyObject_CallMethod(module, "program_kind", "i", (int)((Program *)op)->kind);
        Py_DECREF(module);
    }
    return kind;
}

/* ---- tables ---------------------------------------------------------------------------------- */

PG_DICT_MEMBERS(Program, Program);
static PyType_Slot Program_slots[] = {
    PG_NEW_SLOTS(Program),
    PG_GC_SLOTS(Program),
    {Py_tp_hash, (void *)Program_hash},
    {Py_tp_richcompare, (void *)Program_compare},
    {Py_tp_getattro, (void *)Program_getattro},
    PG_TABLE_SLOTS(Program),
    {Py_tp_repr, (void *)ocl_program_repr},
    {0, NULL},
};
OCL_TYPE(Program, Program, Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE);
