/* link.c - Linker: links pieces of PTX, cubins and libraries into a module. */
#include "cuda/api/waiting.h"
#include "cuda/context.h"
#include "cuda/cuda.h"
#include "cuda/objects/module.h"

typedef struct {
    CUD_HEAD
    CUlinkState handle;
    Context *context;
    PyObject *handler;
    PyObject *inputs; /* list of what was added: kept, because the driver may keep addresses */
    JitOptions jit;
    int busy; /* a call is inside the driver without the GIL */
    int done;
} Linker;

enum { JIT_LOG_VERBOSE = 12 };

PG_DOC(Linker__doc__, "Linker", "message_handler=None, options=None, log_verbose=False",
       "(message_handler: Callable[[bool, str, str], object] | None = None, options: "
       "Sequence[tuple[int, int]] | None = None, log_verbose: bool = False)",
       "Links separately compiled code (with relocatable device code) to one Module.\n\n"
       "message_handler(ok, info, error) is called with the linker's logs; options: pairs "
       "(jit_option, int).");
static ArgSpec Linker_args = PG_ARGSPEC(Linker__doc__);

/* Raises with the linker's log, after calling the handler. */
static PyObject *raise_link(Linker *self, const char *routine, CUresult status) {
    if (jit_options_report(&self->jit, self->handler, 0) < 0) {
        return NULL;
    }
    const char *errors = jit_options_errors(&self->jit);
    return *errors != '\0' ? cud_raise_with(self->state, routine, status, "%s", errors)
                           : cud_raise(self->state, routine, status);
}

/* Creates the linker; before that, and after link_module(), using it is an error. */
static int Linker_init(PyObject *op, PyObject *args, PyObject *kwargs) {
    PyObject *a[3];
    Linker *self = (Linker *)op;
    State *state = self->state;
    int verbose;
    if (pg_args_tuple(&Linker_args, args, kwargs, a) < 0 || (verbose = pg_as_bool(a[2], 0)) < 0) {
        return -1;
    }
    if (a[0] != NULL && a[0] != Py_None && !PyCallable_Check(a[0])) {
        PyErr_Format(PyExc_TypeError, "Linker: message_handler must be callable, not %s",
                     pg_type_name(a[0]));
        return -1;
    }
    if (self->context != NULL) {
        cud_reject(state, "Linker", CUDA_ERROR_INVALID_HANDLE,
                   "this Linker is initialized already: create another one");
        return -1;
    }
    self->context = cud_context_current(state);
    if (self->context == NULL) {
        return -1;
    }
    self->handler = a[0] != NULL && a[0] != Py_None ? Py_NewRef(a[0]) : NULL;
    self->inputs = PyList_New(0);
    if (self->inputs == NULL || jit_options_init(&self->jit, state, a[1], "Linker") < 0) {
        return -1;
    }
    self->jit.keys[self->jit.n] = JIT_LOG_VERBOSE;
    self->jit.values[self->jit.n++] = (void *)(intptr_t)verbose;
    CUlinkState handle = NULL;
    CUresult status = CUDA_SUCCESS;
    CU_NOGIL(status, cuLinkCreate, self->jit.n, self->jit.keys, self->jit.values, &handle);
    if (status != CUDA_SUCCESS) {
        raise_link(self, "cuLinkCreate", status);
        return -1;
    }
    self->handle = handle;
    cud_live[LIVE_LINK]++;
    return 0;
}

static void close_link(Linker *self) {
    if (self->handle != NULL) {
        CUresult status;
        CUlinkState handle = self->handle;
        self->handle = NULL;
        FREE_IN_CONTEXT(self->context, status, CU_BESIDE(status, cuLinkDestroy, handle));
        cud_live[LIVE_LINK]--;
    }
}

static int Linker_traverse(PyObject *op, visitproc visit, void *arg) {
    Linker *self = (Linker *)op;
    CUD_VISIT(op);
    Py_VISIT(self->context);
    Py_VISIT(self->handler);
    Py_VISIT(self->inputs);
    return 0;
}

static int Linker_clear(PyObject *op) {
    Py_CLEAR(((Linker *)op)->handler);
    return 0;
}

static void Linker_dealloc(PyObject *op) {
    Linker *self = (Linker *)op;
    pg_untrack(op, self->weakrefs);
    close_link(self);
    jit_options_clear(&self->jit);
    Py_XDECREF(self->handler);
    Py_XDECREF(self->inputs);
    Py_XDECREF(self->context);
    cud_object_free(op);
}

/* Returns -1 with an exception if the linker cannot be used now. */
static int begin(Linker *self, const char *routine) {
    if (self->context == NULL) {
        cud_reject(self->state, routine, CUDA_ERROR_INVALID_HANDLE,
                   "the %s was not made yet: its __init__ has to call super().__init__() first",
                   pg_type_name((PyObject *)self));
        return -1;
    }
    if (self->done || self->handle == NULL) {
        cud_reject(self->state, routine, CUDA_ERROR_INVALID_HANDLE,
                   "this Linker has linked its module; make another one");
        return -1;
    }
    if (self->busy) {
        cud_reject(self->state, routine, CUDA_ERROR_INVALID_HANDLE,
                   "another thread is using this Linker");
        return -1;
    }
    return cud_context_check(self->context, routine);
}

PG_DOC(Linker_add_data__doc__, "add_data", "$self, /, data, input_type, name='unknown'",
       "(data: HostBuffer | str, input_type: int, name: str | None = 'unknown') -> None",
       "Add PTX, a cubin, fatbin, object or library in memory.\n\ninput_type: of jit_input_type; "
       "name: for messages.");
PG_FUNCTION(Linker_add_data, 3)
static PyObject *Linker_add_data_impl(PyObject *op, PyObject *const *a) {
    PyObject *data = NULL;
    Linker *self = (Linker *)op;
    uint32_t type;
    const char *name = "unknown";
    if (pg_as_u32(a[1], "Linker.add_data", "input_type", &type) < 0 ||
        (a[2] != NULL && a[2] != Py_None && (name = PyUnicode_AsUTF8(a[2])) == NULL)) {
        return NULL;
    }
    if (PyUnicode_Check(a[0])) {
        data = PyUnicode_AsUTF8String(a[0]);
    } else if (PyBytes_CheckExact(a[0])) {
        data = Py_NewRef(a[0]);
    } else {
        Py_buffer view;
        if (pg_get_buffer(a[0], "Linker.add_data", "data", 0, &view) == 0) {
            data = PyBytes_FromStringAndSize(view.buf, view.len);
            PyBuffer_Release(&view);
        }
    }
    if (data == NULL ||
        begin(self, "cuLinkAddData") < 0) { /* not earlier, because the object that provides the
                                             * data may use the Linker */
        Py_XDECREF(data);
        return NULL;
    }
    size_t size = (size_t)PyBytes_GET_SIZE(data);
    enum { CUBIN_ = 0, PTX_ = 1, FATBINARY_ = 2 };
    if (PyList_Append(self->inputs, data) < 0 ||
        (a[2] != NULL && a[2] != Py_None && PyList_Append(self->inputs, a[2]) < 0) ||
        (size == 0 || type <= FATBINARY_
             ? image_check(self->state, "cuLinkAddData", (unsigned char *)PyBytes_AS_STRING(data),
                           size)
             : 0) < 0) {
        Py_DECREF(data);
        return NULL;
    }
    Py_DECREF(data);      /* the list keeps it */
    size += type == PTX_; /* the driver counts the NUL */
    CUresult status = CUDA_SUCCESS;
    char *bytes = PyBytes_AS_STRING(data);
    self->busy = 1;
    CU_NOGIL(status, cuLinkAddData, self->handle, (CUjitInputType)type, bytes, size, name, 0, NULL,
             NULL);
    self->busy = 0;
    return status == CUDA_SUCCESS ? Py_NewRef(Py_None) : raise_link(self, "cuLinkAddData", status);
}

PG_DOC(Linker_add_file__doc__, "add_file", "$self, /, filename, input_type",
       "(filename: str | os.PathLike[str], input_type: int) -> None",
       "Add a file that holds PTX, a cubin, fatbin, object or library.\n\ninput_type: of "
       "jit_input_type. Raises RuntimeError if there is no such file.");
PG_FUNCTION(Linker_add_file, 2)
static PyObject *Linker_add_file_impl(PyObject *op, PyObject *const *a) {
    PyObject *path = NULL;
    Linker *self = (Linker *)op;
    uint32_t type;
    if (pg_as_u32(a[1], "Linker.add_file", "input_type", &type) < 0 ||
        !PyUnicode_FSConverter(a[0], &path) ||
        begin(self, "cuLinkAddFile") < 0) { /* in this order, because __fspath__ may use the
                                             * Linker */
        Py_XDECREF(path);
        return NULL;
    }
    CUresult status = CUDA_SUCCESS;
    const char *name = PyBytes_AS_STRING(path);
    self->busy = 1;
    CU_NOGIL(status, cuLinkAddFile, self->handle, (CUjitInputType)type, name, 0, NULL, NULL);
    self->busy = 0;
    Py_DECREF(path);
    return status == CUDA_SUCCESS ? Py_NewRef(Py_None) : raise_link(self, "cuLinkAddFile", status);
}

/* Touches no Python objects. */
static CUresult complete(Linker *self, CUmodule *module, const char **routine) {
    void *cubin = NULL;
    size_t size = 0;
    CUresult status = CUDA_SUCCESS;
    ContextGuard guard;
    *routine = "cuLinkComplete";
    if (cud_context_enter(self->context, &guard, &status) == 0) {
        CU_CALL(status, cuLinkComplete, self->handle, &cubin, &size);
        if (status == CUDA_SUCCESS) {
            *routine = "cuModuleLoadData";
            CU_CALL(status, cuModuleLoadData, module, cubin);
        }
        cud_context_leave(&guard);
    }
    return status;
}

static PyObject *Linker_link_module(PyObject *op, PyObject *Py_UNUSED(ignored)) {
    Linker *self = (Linker *)op;
    if (begin(self, "cuLinkComplete") < 0) {
        return NULL;
    }
    CUmodule module = NULL;
    CUresult status;
    const char *routine;
    CudWaiting waiting;
    self->busy = 1;
    cud_waiting_begin(&waiting);
    status = complete(self, &module, &routine);
    const int interrupted = cud_waiting_end(&waiting) < 0;
    self->busy = 0;
    if (interrupted) {
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        PyObject *unwanted = status == CUDA_SUCCESS
                                 ? cud_module_wrap(self->state, module, self->context, NULL)
                                 : NULL;
        Py_XDECREF(unwanted);
        PyErr_Restore(type, value, traceback);
        return NULL;
    }
    if (status != CUDA_SUCCESS) {
        return raise_link(self, routine, status);
    }
    self->done = 1;
    PyObject *made = cud_module_wrap(self->state, module, self->context, NULL);
    if (made != NULL && jit_options_report(&self->jit, self->handler, 1) < 0) {
        Py_CLEAR(made);
    }
    close_link(self); /* the module has its own copy */
    return made;
}

static PyMethodDef Linker_methods[] = {
    {"add_data", FAST(Linker_add_data), Linker_add_data__doc__},
    {"add_file", FAST(Linker_add_file), Linker_add_file__doc__},
    {"link_module", Linker_link_module, METH_NOARGS,
     "link_module($self, /)\n--\n\n() -> Module\n\nLink everything that was added, and load it "
     "into the context of the Linker, which cannot be used again."},
    PG_NO_PICKLE,
    {NULL, NULL, 0, NULL},
};
static PyObject *Linker_repr(PyObject *op) {
    Linker *self = (Linker *)op;
    Py_ssize_t n = self->inputs != NULL ? PyList_GET_SIZE(self->inputs) : 0;
    return PyUnicode_FromFormat("<%s of %zd inputs%s>", Py_TYPE(op)->tp_name, n,
                                self->done ? ", linked" : "");
}

static PyType_Slot Linker_slots[] = {
    {Py_tp_doc, (void *)Linker__doc__},
    {Py_tp_new, (void *)cud_object_new},
    {Py_tp_init, (void *)Linker_init},
    PG_GC_SLOTS(Linker),
    {Py_tp_methods, Linker_methods},
    {Py_tp_repr, (void *)Linker_repr},
    {0, NULL},
};
CUD_TYPE(Linker, Linker, Py_TPFLAGS_BASETYPE);
