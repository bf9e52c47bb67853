/* module.c - Module: code loaded into a context (a cubin, fatbin or PTX), its kernels and
 * variables. */
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/objects/function.h"

#define PLAN_NAME "pygpu.plan"

/* ---- checks before loading ------------------------------------------------------------------- */

static uint64_t read_le(const unsigned char *at, int bytes) {
    uint64_t value = 0;
    for (int i = bytes - 1; i >= 0; i--) {
        value = value << 8 | at[i];
    }
    return value;
}

static int inside(uint64_t offset, uint64_t length, size_t size) {
    return offset <= size && length <= size - offset;
}

/* Whether the headers of a 64-bit ELF file, and all sections and segments that they describe, lie
 * inside the file. */
static int elf_is_whole(const unsigned char *bytes, size_t size) {
    if (size < 64 || bytes[4] != 2) {
        return 0;
    }
    uint64_t segments = read_le(bytes + 32, 8), sections = read_le(bytes + 40, 8);
    uint64_t segment_size = read_le(bytes + 54, 2), n_segments = read_le(bytes + 56, 2);
    uint64_t section_size = read_le(bytes + 58, 2), n_sections = read_le(bytes + 60, 2);
    if ((n_segments > 0 &&
         (segment_size < 56 || !inside(segments, segment_size * n_segments, size))) ||
        (n_sections > 0 &&
         (section_size < 64 || !inside(sections, section_size * n_sections, size)))) {
        return 0;
    }
    for (uint64_t i = 0; i < n_segments; i++) {
        const unsigned char *segment = bytes + segments + i * segment_size;
        if (!inside(read_le(segment + 8, 8), read_le(segment + 32, 8), size)) {
            return 0;
        }
    }
    for (uint64_t i = 0; i < n_sections; i++) {
        const unsigned char *section = bytes + sections + i * section_size;
        enum { SHT_NULL_ = 0, SHT_NOBITS_ = 8 };
        uint64_t type = read_le(section + 4, 4);
        if (type != SHT_NULL_ && type != SHT_NOBITS_ &&
            !inside(read_le(section + 24, 8), read_le(section + 32, 8), size)) {
            return 0;
        }
    }
    return 1;
}

static int is_fatbin(const unsigned char *bytes, size_t size) {
    return size >= 4 && read_le(bytes, 4) == 0xBA55ED50u;
}
static int is_fatbin_wrapper(const unsigned char *bytes, size_t size) {
    return size >= 4 && read_le(bytes, 4) == 0x466243B1u;
}
static int is_elf(const unsigned char *bytes, size_t size) {
    return size >= 4 && memcmp(bytes, "\177ELF", 4) == 0;
}
/* Whether it is text, as PTX is, which contains no offsets. */
static int is_text(const unsigned char *bytes, size_t size) {
    for (size_t i = 0; i < size && i < 256; i++) {
        if ((bytes[i] < 32 && bytes[i] != '\n' && bytes[i] != '\r' && bytes[i] != '\t' &&
             !(bytes[i] == 0 && i == size - 1)) ||
            bytes[i] == 127) {
            return 0;
        }
    }
    return size > 0;
}

int image_check(State *state, const char *call, const unsigned char *bytes, size_t size) {
    const char *wrong = NULL;
    if (size == 0) {
        wrong = "it is empty";
    } else if (is_elf(bytes, size)) {
        wrong = elf_is_whole(bytes, size) ? NULL : "it is a cubin that was cut short or damaged";
    } else if (is_fatbin(bytes, size)) {
        wrong = size >= 16 && inside(read_le(bytes + 6, 2), read_le(bytes + 8, 8), size)
                    ? NULL
                    : "it is a fatbin that was cut short or damaged";
    } else if (is_fatbin_wrapper(bytes, size)) {
        wrong = "it is the wrapper of a fatbin, which holds addresses of the process that made it; "
                "pass the fatbin itself";
    } else if (!is_text(bytes, size)) {
        wrong = "it is not a cubin, fatbin or PTX";
    }
    if (wrong != NULL) {
        cud_reject(state, call, CUDA_ERROR_INVALID_IMAGE,
                   "the image of %zu bytes cannot be loaded: %s", size, wrong);
        return -1;
    }
    return 0;
}

/* ---- options of the driver's JIT compiler ---------------------------------------------------- */

enum { JIT_INFO_LOG = 3, JIT_INFO_LOG_BYTES = 4, JIT_ERROR_LOG = 5, JIT_ERROR_LOG_BYTES = 6 };

static void jit_add(JitOptions *self, CUjit_option key, void *value) {
    self->keys[self->n] = key;
    self->values[self->n++] = value;
}

int jit_options_init(JitOptions *self, State *state, PyObject *options, const char *call) {
    memset(self, 0, sizeof *self);
    self->info = PyMem_RawCalloc(2, JIT_LOG_BYTES);
    if (self->info == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    self->error = self->info + JIT_LOG_BYTES;
    jit_add(self, JIT_INFO_LOG, self->info);
    jit_add(self, JIT_INFO_LOG_BYTES, (void *)(uintptr_t)JIT_LOG_BYTES);
    jit_add(self, JIT_ERROR_LOG, self->error);
    jit_add(self, JIT_ERROR_LOG_BYTES, (void *)(uintptr_t)JIT_LOG_BYTES);
    if (options == NULL || options == Py_None) {
        return 0;
    }
    PyObject *items = PyDict_Check(options) ? PyDict_Items(options) : Py_NewRef(options);
    PyObject *pairs =
        items != NULL ? pg_tuple(items, call, "options", "pairs (jit_option, int)", JIT_MANY - 8)
                      : NULL;
    Py_XDECREF(items);
    if (pairs == NULL) {
        return -1;
    }
    int result = 0;
    for (Py_ssize_t i = 0; result == 0 && i < PyTuple_GET_SIZE(pairs); i++) {
        uint32_t key = 0;
        int64_t value = 0;
        PyObject *pair = PySequence_Check(PyTuple_GET_ITEM(pairs, i))
                             ? PySequence_Tuple(PyTuple_GET_ITEM(pairs, i))
                             : NULL;
        if (pair == NULL && PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_MemoryError)) {
            result = -1;
        } else if (pair == NULL || PyTuple_GET_SIZE(pair) != 2) {
            PyErr_Clear();
            PyErr_Format(PyExc_TypeError, "%s: options[%zd] must be a pair (jit_option, int)", call,
                         i);
            result = -1;
        } else if (pg_as_u32(PyTuple_GET_ITEM(pair, 0), call, "an option", &key) < 0 ||
                   pg_as_i64(PyTuple_GET_ITEM(pair, 1), call, "the value of an option", &value) <
                       0) {
            result = -1;
        } else if ((key >= JIT_INFO_LOG && key <= JIT_ERROR_LOG_BYTES) || key == 17 || key == 18 ||
                   key == 19) {
            cud_reject(state, call, CUDA_ERROR_INVALID_VALUE,
                       "option %u takes an address, which cannot be given from Python; "
                       "message_handler receives the logs",
                       (unsigned)key);
            result = -1;
        } else {
            jit_add(self, (CUjit_option)key, (void *)(intptr_t)value);
        }
        Py_XDECREF(pair);
    }
    Py_DECREF(pairs);
    return result;
}

void jit_options_clear(JitOptions *self) {
    PyMem_RawFree(self->info);
    self->info = self->error = NULL;
}

static PyObject *log_text(const char *log) {
    const char *end = memchr(log, 0, JIT_LOG_BYTES);
    return PyUnicode_DecodeUTF8(log, end != NULL ? end - log : JIT_LOG_BYTES, "replace");
}

const char *jit_options_errors(const JitOptions *self) {
    self->error[JIT_LOG_BYTES - 1] = '\0';
    return self->error;
}

int jit_options_report(const JitOptions *self, PyObject *handler, int ok) {
    if (handler == NULL || handler == Py_None) {
        return 0;
    }
    PyObject *info = log_text(self->info), *error = info != NULL ? log_text(self->error) : NULL;
    PyObject *done = error != NULL ? PyObject_CallFunctionObjArgs(handler, ok ? Py_True : Py_False,
                                                                  info, error, NULL)
                                   : NULL;
    Py_XDECREF(info);
    Py_XDECREF(error);
    Py_XDECREF(done);
    return done != NULL ? 0 : -1;
}

/* ---- loading --------------------------------------------------------------------------------- */

static void unload(CUmodule handle, Context *context) {
    CUresult status = CUDA_SUCCESS;
    Py_BEGIN_ALLOW_THREADS /* the driver may wait for kernels of the module */
    FREE_IN_CONTEXT(context, status, CU_CALL(status, cuModuleUnload, handle));
    Py_END_ALLOW_THREADS
    cud_live[LIVE_MODULE]--;
}

PyObject *cud_module_wrap(State *state, CUmodule handle, Context *context, PyObject *image) {
    cud_live[LIVE_MODULE]++;
    Module *self = (Module *)PG_NEW(state->ModuleType);
    if (self == NULL) {
        unload(handle, context);
        return NULL;
    }
    self->state = state;
    self->handle = handle;
    self->context = (Context *)Py_NewRef(context);
    self->image = Py_XNewRef(image);
    self->functions = PyDict_New();
    if (self->functions == NULL) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

/* image: bytes with a NUL after its end, because the driver does not get the size. */
static PyObject *module_load(State *state, PyObject *image, PyObject *options, PyObject *handler,
                             const char *call) {
    const char *bytes = PyBytes_AS_STRING(image);
    size_t size = (size_t)PyBytes_GET_SIZE(image);
    JitOptions jit = {0};
    Context *context = NULL;
    PyObject *result = NULL;
    int given = (options != NULL && options != Py_None &&
                 !(PyTuple_CheckExact(options) && PyTuple_GET_SIZE(options) == 0)) ||
                (handler != NULL && handler != Py_None);
    int logs = given || !is_elf((const unsigned char *)bytes,
                                size); /* a cubin is not compiled, so there is no log */
    if (image_check(state, call, (const unsigned char *)bytes, size) < 0 ||
        (logs && jit_options_init(&jit, state, options, call) < 0) ||
        (context = cud_context_current(state)) == NULL) {
        goto done;
    }
    CUmodule handle = NULL;
    CUresult status;
    int tries = 0, again;
    do {
        status = CUDA_SUCCESS;
        CU_NOGIL(status, cuModuleLoadDataEx, &handle, bytes, jit.n, jit.keys, jit.values);
        again = status == CUDA_SUCCESS ? 0 : cud_retry(state, status, &tries);
    } while (again == 1);
    if (again == 0 && status == CUDA_SUCCESS) {
        result = cud_module_wrap(state, handle, context,
                                 is_text((const unsigned char *)bytes, size) ? image : NULL);
    } else if (again == 0) {
        const char *errors = logs ? jit_options_errors(&jit) : "";
        if (*errors != '\0') {
            cud_raise_with(state, "cuModuleLoadDataEx", status, "%s", errors);
        } else {
            cud_raise(state, "cuModuleLoadDataEx", status);
        }
    }
    if (again == 0) {
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback); /* the handler is also called for a failure */
        if (jit_options_report(&jit, handler, status == CUDA_SUCCESS) < 0) {
            Py_CLEAR(result);
            Py_XDECREF(type);
            Py_XDECREF(value);
            Py_XDECREF(traceback);
        } else {
            PyErr_Restore(type, value, traceback);
        }
    }
done:
    jit_options_clear(&jit);
    Py_XDECREF(context);
    return result;
}

PG_DOC(module_from_buffer__doc__, "module_from_buffer", "buffer, options=(), message_handler=None",
       "(buffer: HostBuffer | str, options: Sequence[tuple[int, int]] = (), message_handler: "
       "Callable[[bool, str, str], object] | None = None) -> Module",
       "Load a cubin, a fatbin or PTX into the current context.\n\n"
       "options: pairs (jit_option, int) for the driver's PTX compiler. message_handler(ok, "
       "info, error) is called with its logs.\n"
       "Raises LogicError if the image is damaged or PTX does not compile (with the log), "
       "RuntimeError if it is for another device.");
PG_FUNCTION(module_from_buffer, 3)
static PyObject *module_from_buffer_impl(PyObject *module, PyObject *const *a) {
    PyObject *image = NULL;
    State *state = PyModule_GetState(module);
    if (cud_driver_ready(state) < 0) {
        return NULL;
    }
    if (a[2] != NULL && a[2] != Py_None && !PyCallable_Check(a[2])) {
        return PyErr_Format(PyExc_TypeError,
                            "module_from_buffer: message_handler must be callable, not %s",
                            pg_type_name(a[2]));
    }
    if (PyUnicode_Check(a[0])) {
        image = PyUnicode_AsUTF8String(a[0]);
    } else if (PyBytes_CheckExact(a[0])) {
        image = Py_NewRef(a[0]);
    } else {
        Py_buffer view;
        if (pg_get_buffer(a[0], "module_from_buffer", "buffer", 0, &view) == 0) {
            image = PyBytes_FromStringAndSize(view.buf, view.len);
            PyBuffer_Release(&view);
        }
    }
    PyObject *made = image != NULL ? module_load(state, image, a[1], a[2], "module_from_buffer")
                                   : NULL;
    Py_XDECREF(image);
    return made;
}

PG_DOC(module_from_file__doc__, "module_from_file", "filename",
       "(filename: str | os.PathLike[str]) -> Module",
       "Load a file that holds a cubin, a fatbin or PTX into the current context.\n\n"
       "Raises RuntimeError if there is no such file, otherwise as module_from_buffer.");
PG_FUNCTION(module_from_file, 1)
static PyObject *module_from_file_impl(PyObject *module, PyObject *const *a) {
    PyObject *path = NULL;
    State *state = PyModule_GetState(module);
    if (cud_driver_ready(state) < 0) {
        return NULL;
    }
    if (!PyUnicode_FSDecoder(a[0], &path)) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Format(PyExc_TypeError, "module_from_file: filename must be a path, not %s",
                         Py_TYPE(a[0])->tp_name);
        }
        return NULL;
    }
    /* The file is read here and not by the driver, which trusts the sizes in the file. */
    PyObject *io = PyImport_ImportModule("io"), *made = NULL;
    PyObject *file = io != NULL ? PyObject_CallMethod(io, "open", "Os", path, "rb") : NULL;
    PyObject *image = file != NULL ? PyObject_CallMethod(file, "read", NULL) : NULL;
    if (file == NULL && (PyErr_ExceptionMatches(PyExc_FileNotFoundError) ||
                         PyErr_ExceptionMatches(PyExc_IsADirectoryError))) {
        PyErr_Clear();
        cud_raise_own(state, "cuModuleLoad", CUDA_ERROR_FILE_NOT_FOUND, "'%U'", path);
    }
    if (image != NULL && PyBytes_CheckExact(image)) {
        made = module_load(state, image, NULL, NULL, "module_from_file");
    }
    if (file != NULL) {
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        PyObject *closed = PyObject_CallMethod(file, "close", NULL);
        Py_XDECREF(closed);
        PyErr_Clear();
        PyErr_Restore(type, value, traceback);
    }
    Py_XDECREF(image);
    Py_XDECREF(file);
    Py_XDECREF(io);
    Py_DECREF(path);
    return made;
}

static int Module_traverse(PyObject *op, visitproc visit, void *arg) {
    CUD_VISIT(op);
    Py_VISIT(((Module *)op)->context);
    return 0;
}

static void Module_dealloc(PyObject *op) {
    Module *self = (Module *)op;
    pg_untrack(op, self->weakrefs);
    if (self->handle != NULL) {
        unload(self->handle, self->context);
    }
    Py_XDECREF(self->functions);
    Py_XDECREF(self->image);
    Py_XDECREF(self->source);
    Py_XDECREF(self->context);
    cud_object_free(op);
}

/* ---- methods --------------------------------------------------------------------------------- */

static const char *name_of(PyObject *name, const char *call) {
    if (!PyUnicode_Check(name)) {
        return (const char *)PyErr_Format(PyExc_TypeError, "%s: name must be a str, not %s", call,
                                          pg_type_name(name));
    }
    Py_ssize_t length;
    const char *text = PyUnicode_AsUTF8AndSize(name, &length);
    if (text != NULL && strlen(text) != (size_t)length) {
        PyErr_Format(PyExc_ValueError, "%s: name contains a NUL character", call);
        return NULL;
    }
    return text;
}

static void drop_plan(PyObject *capsule) {
    plan_free(PyCapsule_GetPointer(capsule, PLAN_NAME));
}

PG_DOC(Module_get_function__doc__, "get_function", "$self, /, name", "(name: str) -> Function",
       "The kernel *name*. Raises LogicError if there is none: outside extern \"C\" names are "
       "mangled.");
PG_FUNCTION(Module_get_function, 1)
static PyObject *Module_get_function_impl(PyObject *op, PyObject *const *a) {
    Module *self = (Module *)op;
    const char *name = name_of(a[0], "Module.get_function");
    if (name == NULL || cud_context_check(self->context, "cuModuleGetFunction") < 0) {
        return NULL;
    }
    PyObject *capsule = PyDict_GetItemWithError(self->functions, a[0]);
    if (capsule == NULL && PyErr_Occurred()) {
        return NULL;
    }
    if (capsule == NULL) {
        CUfunction handle = NULL;
        CUresult status = CUDA_SUCCESS;
        IN_CONTEXT(self->context, status,
                   CU_NOGIL(status, cuModuleGetFunction, &handle, self->handle, name));
        if (status == CUDA_ERROR_NOT_FOUND) {
            return cud_raise_with(self->state, "cuModuleGetFunction", status,
                                  "no kernel is called '%U' (is it inside extern \"C\", or spelled "
                                  "by its mangled name?)",
                                  a[0]);
        }
        if (status != CUDA_SUCCESS) {
            return cud_raise_with(self->state, "cuModuleGetFunction", status, "kernel '%U'", a[0]);
        }
        Plan *plan = plan_new(handle);
        capsule = plan != NULL ? PyCapsule_New(plan, PLAN_NAME, drop_plan) : NULL;
        if (capsule == NULL) {
            plan_free(plan);
            return NULL;
        }
        PyObject *stored =
            PyDict_SetDefault(self->functions, a[0], capsule); /* another thread's plan, if it was
                                                                * faster: that is in use */
        Py_DECREF(capsule);
        if (stored == NULL) {
            return NULL;
        }
        capsule = stored; /* the dict keeps it alive */
    }
    Function *function = (Function *)PG_NEW(self->state->FunctionType);
    if (function != NULL) {
        function->state = self->state;
        function->vectorcall = function_vectorcall;
        function->plan = PyCapsule_GetPointer(capsule, PLAN_NAME);
        function->module = (Module *)Py_NewRef(self);
        function->context = self->context;
        function->name = Py_NewRef(a[0]);
    }
    return (PyObject *)function;
}

PG_DOC(Module_get_global__doc__, "get_global", "$self, /, name", "(name: str) -> tuple[int, int]",
       "Address and size [bytes] of a __device__ or __constant__ variable, which lives as long as "
       "the module.");
PG_FUNCTION(Module_get_global, 1)
static PyObject *Module_get_global_impl(PyObject *op, PyObject *const *a) {
    Module *self = (Module *)op;
    const char *name = name_of(a[0], "Module.get_global");
    if (name == NULL || cud_context_check(self->context, "cuModuleGetGlobal") < 0) {
        return NULL;
    }
    CUdeviceptr pointer = 0;
    size_t size = 0;
    CUresult status = CUDA_SUCCESS;
    IN_CONTEXT(self->context, status,
               CU_NOGIL(status, cuModuleGetGlobal, &pointer, &size, self->handle, name));
    if (status == CUDA_ERROR_NOT_FOUND) {
        return cud_raise_with(self->state, "cuModuleGetGlobal", status,
                              "no variable is called '%U' (is it inside extern \"C\", or spelled "
                              "by its mangled name?)",
                              a[0]);
    }
    return status == CUDA_SUCCESS
               ? Py_BuildValue("(Kn)", pointer, (Py_ssize_t)size)
               : cud_raise_with(self->state, "cuModuleGetGlobal", status, "variable '%U'", a[0]);
}

static PyObject *no_references(PyObject *op, const char *routine, const char *what,
                               PyObject *name) {
    if (name_of(name, routine) == NULL) {
        return NULL;
    }
    return cud_raise_own(
        ((Module *)op)->state, routine, CUDA_ERROR_NOT_SUPPORTED,
        "'%U': CUDA 12 removed %s references; pass a %s to the kernel as a parameter", name, what,
        *what == 't' ? "TextureObject" : "SurfaceObject");
}

PG_DOC(Module_get_texref__doc__, "get_texref", "$self, /, name", "(name: str) -> NoReturn",
       "Raises LogicError: CUDA 12 removed texture references; use a TextureObject.");
PG_FUNCTION(Module_get_texref, 1)
static PyObject *Module_get_texref_impl(PyObject *op, PyObject *const *a) {
    return no_references(op, "cuModuleGetTexRef", "texture", a[0]);
}

PG_DOC(Module_get_surfref__doc__, "get_surfref", "$self, /, name", "(name: str) -> NoReturn",
       "Raises LogicError: CUDA 12 removed surface references; use a SurfaceObject.");
PG_FUNCTION(Module_get_surfref, 1)
static PyObject *Module_get_surfref_impl(PyObject *op, PyObject *const *a) {
    return no_references(op, "cuModuleGetSurfRef", "surface", a[0]);
}

PG_DOC(Module_set_source__doc__, "_set_source", "$self, /, source, ptx=None",
       "(source: str | None, ptx: bytes | None = None) -> None",
       "What the module was made from: kernels read the types of their parameters there. For "
       "compilers.");
PG_FUNCTION(Module_set_source, 2)
static PyObject *Module_set_source_impl(PyObject *op, PyObject *const *a) {
    Module *self = (Module *)op;
    if ((a[0] != Py_None && !PyUnicode_Check(a[0])) ||
        (a[1] != NULL && a[1] != Py_None && !PyBytes_Check(a[1]))) {
        PyErr_SetString(PyExc_TypeError, "Module._set_source takes a str and bytes");
        return NULL;
    }
    Py_XSETREF(self->source, a[0] != Py_None ? Py_NewRef(a[0]) : NULL);
    if (a[1] != NULL && a[1] != Py_None) {
        Py_XSETREF(self->image, Py_NewRef(a[1]));
    }
    Py_RETURN_NONE;
}

static PyMethodDef Module_methods[] = {
    {"get_function", FAST(Module_get_function), Module_get_function__doc__},
    {"get_global", FAST(Module_get_global), Module_get_global__doc__},
    {"get_texref", FAST(Module_get_texref), Module_get_texref__doc__},
    {"get_surfref", FAST(Module_get_surfref), Module_get_surfref__doc__},
    {"_set_source", FAST(Module_set_source), Module_set_source__doc__},
    PG_NO_PICKLE,
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef Module_getset[] = {
    PG_FIELD("handle", pointer, Module, handle, "int: the CUmodule"),
    PG_FIELD("context", object, Module, context, "Context: the context it is loaded in"),
    PG_FIELD("_source", object, Module, source,
             "str | None: the CUDA C++ that it was compiled from, if known"),
    {NULL, NULL, NULL, NULL, NULL},
};
static PyObject *Module_repr(PyObject *op) {
    Module *self = (Module *)op;
    return PyUnicode_FromFormat("<%s on device %d at %p>", Py_TYPE(op)->tp_name,
                                self->context->device, (void *)self->handle);
}

static PyType_Slot Module_slots[] = {
    {Py_tp_doc, (void *)"Code loaded into a context, from module_from_buffer(), "
                        "module_from_file(), Linker or SourceModule. Unloaded when dropped."},
    {Py_tp_dealloc, (void *)Module_dealloc},
    {Py_tp_repr, (void *)Module_repr},
    {Py_tp_traverse, (void *)Module_traverse},
    {Py_tp_methods, Module_methods},
    {Py_tp_getset, Module_getset},
    {0, NULL},
};
CUD_TYPE(Module, Module, Py_TPFLAGS_DISALLOW_INSTANTIATION);

PyMethodDef cud_image_functions[] = {
    {"module_from_file", FAST(module_from_file), module_from_file__doc__},
    {"module_from_buffer", FAST(module_from_buffer), module_from_buffer__doc__},
    {NULL, NULL, 0, NULL},
};
