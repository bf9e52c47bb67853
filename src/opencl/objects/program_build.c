/* program_build.c - builds, compiles and links programs.
 *
 * pygpu/_src/runtime/opencl/build.py decides how to build (options, cache, messages). This file
 * has the driver calls, and the lock that prevents two threads from building a program at the same
 * time. */
#include "opencl/api/info.h"
#include "opencl/api/roles.h"
#include "opencl/context.h"
#include "opencl/device.h"
#include "opencl/lifetime/gil_release.h"
#include "opencl/objects/program.h"
#include "opencl/opencl.h"
#include "opencl/platform.h"

/* ---- one builder at a time ------------------------------------------------------------------- */

static int lock_program(Program *self, const char *call) {
    if (ocl_driver_ready(self->state) < 0) { /* in a forked child the thread that would unlock may
                                              * not exist */
        return -1;
    }
    if (self->owner == PyThread_get_thread_ident()) {
        ocl_reject(self->state, call, CL_INVALID_OPERATION,
                   "this thread is building the program already");
        return -1;
    }
    if (!PyThread_acquire_lock(self->lock, NOWAIT_LOCK)) {
        PyLockStatus got;
        do {
            Py_BEGIN_ALLOW_THREADS
            got = PyThread_acquire_lock_timed(self->lock, -1, 1);
            Py_END_ALLOW_THREADS
            if (got == PY_LOCK_INTR && PyErr_CheckSignals() < 0) {
                return -1;
            }
        } while (got != PY_LOCK_ACQUIRED);
    }
    self->owner = PyThread_get_thread_ident();
    return 0;
}

static void unlock_program(Program *self) {
    self->owner = 0;
    PyThread_release_lock(self->lock);
}

/* Waits while another thread is building. Returns 0, or -1 with an exception. */
static int wait_for_builder(Program *self, const char *call) {
    if (self->owner == 0 || self->owner == PyThread_get_thread_ident()) {
        return 0;
    }
    if (lock_program(self, call) < 0) {
        return -1;
    }
    unlock_program(self);
    return 0;
}

static int need_handle(Program *self) {
    if (self->program != NULL) {
        return 0;
    }
    if (self->source == NULL) {
        ocl_reject(self->state, "Program", CL_INVALID_PROGRAM,
                   "the program was not made yet: call super().__init__(context, source) first");
        return -1;
    }
    const char *text = PyBytes_AS_STRING(self->source);
    size_t length = (size_t)PyBytes_GET_SIZE(self->source);
    if (length == 0) { /* a header or a program without kernels; Intel's runtime refuses an empty
                        * source */
        text = "\n";
        length = 1;
    }
    cl_int status = CL_SUCCESS;
    cl_program program;
    CL_MAKE(program, status, clCreateProgramWithSource, self->context->context, 1, &text, &length);
    if (status != CL_SUCCESS || program == NULL) {
        ocl_raise(self->state, "clCreateProgramWithSource",
                  status != CL_SUCCESS ? status : CL_OUT_OF_RESOURCES);
        return -1;
    }
    ocl_live[LIVE_PROGRAM]++;
    self->program = program;
    return 0;
}

cl_program ocl_program_handle(Program *self) {
    if (wait_for_builder(self, "Program") < 0 || need_handle(self) < 0) {
        return NULL;
    }
    if (self->owner == 0) { /* during a build, only the building thread checks it */
        self->pinned = 1;
    }
    return self->program;
}

cl_program ocl_program_built(Program *self, const char *call) {
    if (wait_for_builder(self, call) < 0) {
        return NULL;
    }
    if (self->stage != PROGRAM_BUILT && self->kind == PROGRAM_SOURCE) {
        return (cl_program)ocl_reject(
            self->state, call, CL_INVALID_PROGRAM_EXECUTABLE, "%s",
            self->stage == PROGRAM_FAILED ? "the program did not build"
            : self->stage == PROGRAM_COMPILED
                ? "the program was compiled only: link it with link_program()"
                : "the program was not built yet: call its build() first");
    }
    return ocl_program_handle(self);
}

/* ---- driver calls for pygpu._src.runtime.opencl.build
 * ------------------------------------------------------------- */

/* The text of an argument that must be bytes without NUL. */
const char *program_text(PyObject *obj) {
    char *text;
    return PyBytes_AsStringAndSize(obj, &text, NULL) < 0 ? NULL : text;
}

static PyObject *finish_build(Program *self, const char *routine, cl_int status, ProgramStage stage,
                              PyObject *options) {
    if (status != CL_SUCCESS) {
        if (self->stage != PROGRAM_BUILT ||
            status != CL_INVALID_OPERATION) { /* refused because kernels exist: the old build
                                               * remains valid */
            self->stage = PROGRAM_FAILED;
        }
        return ocl_raise(self->state, routine, status);
    }
    self->stage = stage;
    self->cached = 0;
    Py_XSETREF(self->options, Py_NewRef(options));
    Py_CLEAR(self->arg_info);
    Py_RETURN_NONE;
}

PG_DOC(Program_primitive_build__doc__, "_build", "$self, options, devices=None",
       "(options: bytes, devices: Sequence[Device] | None = None) -> None",
       "clBuildProgram as it is. For pygpu._src.runtime.opencl.build.");
PG_FUNCTION(Program_primitive_build, 2)
static PyObject *Program_primitive_build_impl(PyObject *op, PyObject *const *a) {
    Program *self = (Program *)op;
    PyObject *keep;
    const char *options;
    cl_device_id *ids;
    cl_uint n;
    if ((options = program_text(a[0])) == NULL || need_handle(self) < 0 ||
        ocl_as_devices(self->state, a[1], "Program.build", &ids, &n, &keep) < 0) {
        return NULL;
    }
    cl_program program = self->program;
    cl_int status = CL_SUCCESS;
    CL_NOGIL(status, clBuildProgram, program, n, n > 0 ? ids : NULL, options, NULL, NULL);
    PyMem_Free(ids);
    Py_XDECREF(keep);
    return finish_build(self, "clBuildProgram", status, PROGRAM_BUILT, a[0]);
}

/* Converts [(name, Program), ...] to C arrays; *keep keeps the names alive. Returns how many, or
 * -1 with an exception. */
static Py_ssize_t parse_headers(Program *self, PyObject *obj, cl_program **programs,
                                const char ***names, PyObject **keep) {
    *programs = NULL;
    *names = NULL;
    *keep = pg_tuple(obj, "Program.compile", "headers", "(name, Program) tuples", 1 << 16);
    Py_ssize_t n = *keep != NULL ? PyTuple_GET_SIZE(*keep) : -1;
    if (n < 0) {
        return -1;
    }
    *programs = PyMem_Calloc((size_t)n + 1, sizeof **programs);
    *names = PyMem_Calloc((size_t)n + 1, sizeof **names);
    if (*programs == NULL || *names == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *pair = PyTuple_GET_ITEM(*keep, i);
        if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2 ||
            !PyUnicode_Check(PyTuple_GET_ITEM(pair, 0))) {
            PyErr_SetString(PyExc_TypeError,
                            "Program.compile: headers must be a list of (name, Program) tuples");
            return -1;
        }
        Program *program = ocl_as_program(self->state, PyTuple_GET_ITEM(pair, 1), "Program.compile",
                                          "each of headers");
        Py_ssize_t length;
        if (program == NULL ||
            ((*names)[i] = PyUnicode_AsUTF8AndSize(PyTuple_GET_ITEM(pair, 0), &length)) == NULL) {
            return -1;
        }
        if (length == 0 || strlen((*names)[i]) != (size_t)length) {
            ocl_reject(self->state, "Program.compile", CL_INVALID_VALUE,
                       "the name of header %zd is empty or has a NUL character", i);
            return -1;
        }
        if (program->context->context != self->context->context) {
            ocl_reject(self->state, "Program.compile", CL_INVALID_CONTEXT,
                       "header %zd belongs to another context", i);
            return -1;
        }
        if (((*programs)[i] = ocl_program_handle(program)) == NULL) {
            return -1;
        }
    }
    return n;
}

PG_DOC(Program_primitive_compile__doc__, "_compile", "$self, options, devices, headers",
       "(options: bytes, devices: Sequence[Device] | None, headers: Sequence[tuple[str, Program]]) "
       "-> None",
       "clCompileProgram as it is. For pygpu._src.runtime.opencl.build.");
PG_FUNCTION(Program_primitive_compile, 3)
static PyObject *Program_primitive_compile_impl(PyObject *op, PyObject *const *a) {
    Program *self = (Program *)op;
    PyObject *keep = NULL, *keep_headers = NULL, *result = NULL;
    const char *options, **names = NULL;
    cl_program *headers = NULL;
    cl_device_id *ids = NULL;
    cl_uint n = 0;
    Py_ssize_t n_headers;
    if ((options = program_text(a[0])) == NULL || need_handle(self) < 0 ||
        ocl_need_version(self->state, "clCompileProgram", self->context->version, 120) < 0 ||
        ocl_as_devices(self->state, a[1], "Program.compile", &ids, &n, &keep) < 0) {
        return NULL;
    }
    n_headers = parse_headers(self, a[2], &headers, &names, &keep_headers);
    if (n_headers >= 0) {
        cl_program program = self->program;
        cl_uint count = (cl_uint)n_headers;
        cl_int status = CL_SUCCESS;
        CL_NOGIL(status, clCompileProgram, program, n, n > 0 ? ids : NULL, options, count,
                 count > 0 ? headers : NULL, count > 0 ? names : NULL, NULL, NULL);
        result = finish_build(self, "clCompileProgram", status, PROGRAM_COMPILED, a[0]);
    }
    PyMem_Free(headers);
    PyMem_Free((void *)names);
    PyMem_Free(ids);
    Py_XDECREF(keep_headers);
    Py_XDECREF(keep);
    return result;
}

/* The arrays of binaries for the driver, and its status for each. */
typedef struct {
    size_t *lengths;
    const unsigned char **pointers;
    cl_int *each;
} Binaries;

static void Binaries_clear(Binaries *self) {
    PyMem_Free(self->lengths);
    PyMem_Free((void *)self->pointers);
    PyMem_Free(self->each);
}

/* items: tuple of n bytes. Returns 0, or -1 with an exception. Must be cleared in either case. */
static int Binaries_read(Binaries *self, State *state, PyObject *items, cl_uint n) {
    self->lengths = PyMem_Calloc(n, sizeof *self->lengths);
    self->pointers = PyMem_Calloc(n, sizeof *self->pointers);
    self->each = PyMem_Calloc(n, sizeof *self->each);
    if (self->lengths == NULL || self->pointers == NULL || self->each == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (cl_uint i = 0; i < n; i++) {
        PyObject *one = PyTuple_GET_ITEM(items, (Py_ssize_t)i);
        if (!PyBytes_Check(one)) {
            PyErr_Format(PyExc_TypeError, "Program: each of binaries must be bytes, not %s",
                         pg_type_name(one));
            return -1;
        }
        if (PyBytes_GET_SIZE(one) == 0) {
            ocl_reject(state, "Program", CL_INVALID_BINARY, "binary %u is empty", (unsigned)i);
            return -1;
        }
        self->pointers[i] = (const unsigned char *)PyBytes_AS_STRING(one);
        self->lengths[i] = (size_t)PyBytes_GET_SIZE(one);
    }
    return 0;
}

static void raise_binaries(State *state, const Binaries *binaries, cl_uint n, cl_int status) {
    const char *routine = "clCreateProgramWithBinary";
    cl_uint bad = 0;
    while (bad < n && binaries->each[bad] == CL_SUCCESS) {
        bad++;
    }
    if (bad < n && status == CL_INVALID_BINARY) {
        ocl_raise_with(state, routine, status,
                       "the binary for device %u (%zu bytes) was not made for this device and "
                       "driver version, or is damaged",
                       (unsigned)bad, binaries->lengths[bad]);
    } else {
        ocl_raise(state, routine, status != CL_SUCCESS ? status : CL_OUT_OF_RESOURCES);
    }
}

/* Makes a program from a sequence of bytes, one for each device. NULL with an exception. */
static cl_program create_from_binaries(State *state, Context *context, PyObject *devices,
                                       PyObject *binaries) {
    cl_device_id *ids = NULL;
    cl_uint n = 0;
    PyObject *keep = NULL, *items = NULL;
    cl_program program = NULL;
    Binaries given = {0};
    cl_int status = CL_SUCCESS;
    if (ocl_as_devices(state, devices, "Program", &ids, &n, &keep) < 0 ||
        (items = pg_tuple(binaries, "Program", "binaries", "bytes", 1 << 16)) == NULL) {
        goto done;
    }
    if (n == 0 || PyTuple_GET_SIZE(items) != (Py_ssize_t)n) {
        ocl_reject(state, "Program", CL_INVALID_VALUE,
                   "there must be a binary for each device, got %zd for %u devices",
                   PyTuple_GET_SIZE(items), (unsigned)n);
        goto done;
    }
    if (Binaries_read(&given, state, items, n) < 0) {
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    CL_MAKE(program, status, clCreateProgramWithBinary, context->context, n, ids, given.lengths,
            given.pointers, given.each);
    Py_END_ALLOW_THREADS
    if (status != CL_SUCCESS || program == NULL) {
        raise_binaries(state, &given, n, status);
        program = NULL;
    } else {
        ocl_live[LIVE_PROGRAM]++;
    }
done:
    Binaries_clear(&given);
    PyMem_Free(ids);
    Py_XDECREF(items);
    Py_XDECREF(keep);
    return program;
}

PyObject *program_from_binaries(State *state, PyTypeObject *type, Context *context,
                                PyObject *devices, PyObject *binaries) {
    PyObject *module = ocl_role("build"), *checked = NULL;
    if (module != NULL) {
        checked = PyObject_CallMethod(module, "check_binaries", "OOO", (PyObject *)context, devices,
                                      binaries);
        Py_DECREF(module);
    }
    cl_program program = checked != NULL ? create_from_binaries(state, context, devices, checked)
                                         : NULL;
    Py_XDECREF(checked);
    return program != NULL ? (PyObject *)program_new(state, type, context, program, PROGRAM_BINARY)
                           : NULL;
}

PG_DOC(Program_load__doc__, "_load", "$self, devices, binaries, options",
       "(devices: Sequence[Device], binaries: Sequence[bytes], options: bytes) -> bool",
       "Build from *binaries* instead of the source; False if the handle of the source is in use "
       "already. For pygpu._src.runtime.opencl.build.\n\n"
       "If the driver refuses them, this raises and the program is what it was.");
PG_FUNCTION(Program_load, 3)
static PyObject *Program_load_impl(PyObject *op, PyObject *const *a) {
    Program *self = (Program *)op;
    const char *options;
    if ((options = program_text(a[2])) == NULL) {
        return NULL;
    }
    if (self->pinned || self->source == NULL) {
        Py_RETURN_FALSE;
    }
    cl_program program = create_from_binaries(self->state, self->context, a[0], a[1]);
    if (program == NULL) {
        return NULL;
    }
    cl_int status = CL_SUCCESS;
    CL_NOGIL(status, clBuildProgram, program, 0, NULL, options, NULL, NULL);
    if (status != CL_SUCCESS) {
        CL_RELEASE(LIVE_PROGRAM, clReleaseProgram, program);
        return ocl_raise(self->state, "clBuildProgram", status);
    }
    cl_program old = self->program;
    self->program = program;
    if (old != NULL) {
        CL_RELEASE(LIVE_PROGRAM, clReleaseProgram, old);
    }
    Py_XDECREF(finish_build(self, "clBuildProgram", status, PROGRAM_BUILT, a[2]));
    self->cached = 1;
    Py_RETURN_TRUE;
}

static PyObject *Program_reset(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Program *self = (Program *)op;
    if (self->pinned || self->source == NULL) {
        Py_RETURN_FALSE;
    }
    cl_program old = self->program;
    self->program = NULL;
    self->cached = 0;
    self->stage = PROGRAM_FRESH;
    if (old != NULL) {
        CL_RELEASE(LIVE_PROGRAM, clReleaseProgram, old);
    }
    Py_RETURN_TRUE;
}

/* ---- build, compile -------------------------------------------------------------------------- */

/* Calls a function of pygpu._src.runtime.opencl.build while it holds the build lock of self. */
static PyObject *orchestrate(Program *self, const char *call, const char *function, PyObject *a,
                             PyObject *b, PyObject *c) {
    PyObject *module = ocl_role("build"), *done = NULL;
    if (module == NULL || lock_program(self, call) < 0) {
        Py_XDECREF(module);
        return NULL;
    }
    done = PyObject_CallMethod(module, function, "OOOO", (PyObject *)self, a != NULL ? a : Py_None,
                               b != NULL ? b : Py_None, c != NULL ? c : Py_None);
    unlock_program(self);
    Py_DECREF(module);
    return done;
}

PG_DOC(Program_build__doc__, "build", "$self, options=None, devices=None, cache_dir=None",
       "(options: str | Sequence[str] | None = None, devices: Sequence[Device] | None = None, "
       "cache_dir: str | os.PathLike[str] | bool | None = None) -> Self",
       "Build the program for *devices*, or for all of its context; returns the program.\n\n"
       "options: for the compiler, as one string (split like a shell command line) or as a list. "
       "pygpu's own headers are always\n"
       "on the search path. cache_dir: where binaries are cached; False: nowhere; None: the "
       "context's cache_dir, or the default.\n\n"
       "Raises RuntimeError with the compiler's log and the lines of source it points to "
       "(attributes log, options). Compiler warnings are issued as CompilerWarning. Other threads "
       "run meanwhile. "
       "Building again with the same options\n"
       "does nothing; with other options only as long as the program has no kernels.");
PG_FUNCTION(Program_build, 3)
static PyObject *Program_build_impl(PyObject *op, PyObject *const *a) {
    PyObject *done;
    if ((done = orchestrate((Program *)op, "Program.build", "build_program", a[0], a[1], a[2])) ==
        NULL) {
        return NULL;
    }
    Py_DECREF(done);
    return Py_NewRef(op);
}

PG_DOC(
    Program_compile__doc__, "compile", "$self, options=None, devices=None, headers=None",
    "(options: str | Sequence[str] | None = None, devices: Sequence[Device] | None = None, "
    "headers: Sequence[tuple[str, Program]] | None = None) -> Self",
    "Compile without linking; link_program() makes a program with kernels from the result (OpenCL "
    "1.2).\n\n"
    "headers: (name, program) for each `#include \"name\"`, where the program holds the header's "
    "text.\n"
    "Raises and warns as build() does.");
PG_FUNCTION(Program_compile, 3)
static PyObject *Program_compile_impl(PyObject *op, PyObject *const *a) {
    PyObject *done;
    if ((done = orchestrate((Program *)op, "Program.compile", "compile_program", a[0], a[1],
                            a[2])) == NULL) {
        return NULL;
    }
    Py_DECREF(done);
    return Py_NewRef(op);
}

/* Specialization constant *id* as declared in the program's SPIR-V, looked up before the driver
 * is called (SPIR-V 1.6, sections 2.3, 3.20, 3.52.3 and 3.52.5): Intel's CPU runtime ends the
 * process for a constant that the program lacks, and for any constant if the program has no
 * kernel. UNKNOWN if the SPIR-V cannot be parsed; -1 with an exception. */
enum { CONSTANT_MISSING, CONSTANT_WITHOUT_KERNEL, CONSTANT_THERE, CONSTANT_UNKNOWN };

static int find_constant(const Program *self, uint32_t id) {
    enum { MAGIC = 0x07230203, HEADER = 5, OP_ENTRY_POINT = 15, OP_DECORATE = 71, SPEC_ID = 1 };
    size_t size = 0;
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clGetProgramInfo, self->program, CL_PROGRAM_IL, 0, NULL, &size);
    if (status != CL_SUCCESS || size < HEADER * sizeof(uint32_t)) {
        return CONSTANT_UNKNOWN;
    }
    uint32_t *words = PyMem_Calloc(1, size);
    if (words == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    CL_CALL(status, clGetProgramInfo, self->program, CL_PROGRAM_IL, size, words, NULL);
    size_t n = size / sizeof *words, at = HEADER, length;
    int exists = status == CL_SUCCESS &&
                 words[0] == MAGIC; /* otherwise it has the other byte order or is not SPIR-V */
    int kernel = 0, found = 0;
    for (; exists && !found && at < n && (length = words[at] >> 16) > 0 && length <= n - at;
         at += length) {
        kernel |= (words[at] & 0xFFFF) ==
                  OP_ENTRY_POINT; /* all decorations come after these (section 2.4) */
        found = (words[at] & 0xFFFF) == OP_DECORATE && length >= 4 && words[at + 2] == SPEC_ID &&
                words[at + 3] == id;
    }
    PyMem_Free(words);
    return !exists  ? CONSTANT_UNKNOWN
           : !found ? CONSTANT_MISSING
           : kernel ? CONSTANT_THERE
                    : CONSTANT_WITHOUT_KERNEL;
}

PG_DOC(Program_set_constant__doc__, "set_specialization_constant", "$self, spec_id, buffer",
       "(spec_id: int, buffer: HostBuffer) -> None",
       "Set the specialization constant *spec_id* of a SPIR-V program to the bytes of *buffer*, "
       "before it is built (OpenCL 2.2).");
PG_FUNCTION(Program_set_constant, 2)
static PyObject *Program_set_constant_impl(PyObject *op, PyObject *const *a) {
    Program *self = (Program *)op;
    uint32_t id;
    Py_buffer view;
    const char *call = "clSetProgramSpecializationConstant";
    if (pg_as_u32(a[0], call, "spec_id", &id) < 0) {
        return NULL;
    }
    if (self->kind == PROGRAM_SOURCE || self->kind == PROGRAM_BINARY) {
        return ocl_reject(self->state, call, CL_INVALID_PROGRAM,
                          "only programs made from SPIR-V have specialization constants");
    }
    if (ocl_program_handle(self) == NULL ||
        ocl_need_version(self->state, call, self->context->version, 220) < 0) {
        return NULL;
    }
    int found = find_constant(self, id);
    if (found == CONSTANT_MISSING) {
        return ocl_reject(self->state, call, CL_INVALID_SPEC_ID,
                          "the program has no specialization constant %u", id);
    }
    if (found == CONSTANT_WITHOUT_KERNEL &&
        (self->context->devices[0]->platform->quirks & OCL_QUIRK_CONSTANTS_NEED_KERNEL)) {
        return ocl_reject(self->state, call, CL_INVALID_PROGRAM,
                          "Intel's CPU runtime takes constants only for programs with a kernel: "
                          "set it in one that has kernels");
    }
    if (found < 0 || pg_get_buffer(a[1], call, "buffer", 0, &view) < 0) {
        return NULL;
    }
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clSetProgramSpecializationConstant, self->program, id, (size_t)view.len,
            view.buf);
    PyBuffer_Release(&view);
    return status == CL_SUCCESS ? Py_NewRef(Py_None) : ocl_raise(self->state, call, status);
}

static PyObject *Program_of_handle(State *state, PyTypeObject *type, void *handle, int retain) {
    return ocl_program_wrap(state, type, (cl_program)handle, retain);
}

OCL_FROM_INT_PTR(Program, "Program", "Program", "Program of a cl_program")

PyMethodDef Program_methods[] = {
    PG_NO_PICKLE,
    {"build", FAST(Program_build), Program_build__doc__},
    {"compile", FAST(Program_compile), Program_compile__doc__},
    {"set_specialization_constant", FAST(Program_set_constant), Program_set_constant__doc__},
    {"all_kernels", program_all_kernels, METH_NOARGS,
     "all_kernels($self, /)\n--\n\n() -> list[Kernel]\n\nAll kernels, the same objects as "
     "program.name."},
    {"kind", program_kind, METH_NOARGS,
     "kind($self, /)\n--\n\n() -> program_kind\n\nWhat the program was made from."},
    INFO_METHOD(program_get_info, "program_info"),
    {"get_build_info", (PyCFunction)(void (*)(void))program_get_build_info, METH_FASTCALL,
     "get_build_info($self, device, param, /)\n--\n\n(device: Device, param: int, /) -> "
     "object\n\nAnswer to a query about the build for a device "
     "(program_build_info.NAME)."},
    {"link", (PyCFunction)(void (*)(void))program_link, METH_FASTCALL | METH_KEYWORDS | METH_STATIC,
     "link(context, programs, options=None, devices=None)\n--\n\n(context: Context, programs: "
     "Sequence[Program], options: str | Sequence[str] | None = "
     "None, devices: Sequence[Device] | None = None) -> Program\n\nThe same as "
     "pygpu.link_program()."},
    OCL_FROM_INT_PTR_METHOD(Program),
    {"__dir__", program_dir, METH_NOARGS,
     "__dir__($self, /)\n--\n\n() -> list[str]\n\nNames of the attributes and of the kernels."},
    {"_build", FAST(Program_primitive_build), Program_primitive_build__doc__},
    {"_compile", FAST(Program_primitive_compile), Program_primitive_compile__doc__},
    {"_load", FAST(Program_load), Program_load__doc__},
    {"_reset", Program_reset, METH_NOARGS,
     "_reset($self, /)\n--\n\n() -> bool\n\nForget the build, to start again from the source; "
     "False if the handle was given out."},
    {"_kernel_arguments", program_kernel_arguments, METH_NOARGS,
     "_kernel_arguments($self, /)\n--\n\n() -> dict[str, list[tuple[int, int, str, int, "
     "str]]]\n\nArguments of the kernels that the driver can describe."},
    {NULL, NULL, 0, NULL},
};
