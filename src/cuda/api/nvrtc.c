/* nvrtc.c - NVRTC, the run-time compiler for CUDA C++; loaded at first use, not linked.
 *
 * pygpu/_src/runtime/cuda/nvrtc.py decides on the library, options and headers. The simulator
 * provides functions of the same names. */
#include "cuda/api/waiting.h"
#include "cuda/cuda.h"

static struct {
#define NVRTC_FN(required, name, params) nvrtcResult(*name) params;
#define NVRTC_OTHER(required, name, params)
#include "cuda/api/nvrtc.fn"
} nvrtc;

static PgDriver library = {
    .what = "an NVRTC library",
    .functions = cud_functions + FN_COUNT_DRIVER,
    .n_table = FN_COUNT - FN_COUNT_DRIVER,
    .table = &nvrtc,
};

static const char *(*error_string)(nvrtcResult result); /* nvrtcGetErrorString */

/* Traps for tests, as around the driver's calls. A forked child may still compile. */
#define NVRTC_CALL(result, fn, ...)                                    \
    ((void)((PG_UNLIKELY(pg_trap) && !(pg_trap & PG_TRAP_FORKED) &&    \
             pg_trapped(#fn, &cud_call_counts[FN_##fn], &(result))) || \
            ((result) = nvrtc.fn(__VA_ARGS__), 0)))

#define NVRTC_SUCCESS 0

static PyObject *nvrtc_load(PyObject *Py_UNUSED(module), PyObject *path) {
    void *opened = pg_driver_open(&library, path);
    void *symbol = opened != NULL ? pg_library_symbol(opened, "nvrtcGetErrorString") : NULL;
    if (opened == NULL) {
        return NULL;
    }
    if (symbol == NULL) {
        pg_library_close(opened);
        return PyErr_Format(PyExc_OSError, "not %s: it has no function nvrtcGetErrorString",
                            library.what);
    }
    if (library.library == NULL) {
        *(void **)(void *)&error_string = symbol;
    }
    pg_driver_take(&library, opened, path, 0);
    Py_RETURN_NONE;
}

static PyObject *nvrtc_library(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    return library.library != NULL ? PyUnicode_FromString(library.path) : Py_NewRef(Py_None);
}

static int loaded(void) {
    if (library.library == NULL) {
        PyErr_SetString(PyExc_SystemError, "NVRTC is not loaded");
        return 0;
    }
    return 1;
}

static PyObject *nvrtc_version(PyObject *module, PyObject *Py_UNUSED(ignored)) {
    int major = 0, minor = 0;
    if (!loaded()) {
        return NULL;
    }
    nvrtcResult result = NVRTC_SUCCESS;
    NVRTC_CALL(result, nvrtcVersion, &major, &minor);
    if (result != NVRTC_SUCCESS) {
        return PyErr_Format(((PgState *)PyModule_GetState(module))->RuntimeError,
                            "nvrtcVersion failed: %s", error_string(result));
    }
    return Py_BuildValue("(ii)", major, minor);
}

static PyObject *nvrtc_architectures(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    int n = 0;
    nvrtcResult result = NVRTC_SUCCESS;
    if (!loaded()) {
        return NULL;
    }
    if (nvrtc.nvrtcGetNumSupportedArchs == NULL || nvrtc.nvrtcGetSupportedArchs == NULL) {
        return PyTuple_New(0);
    }
    NVRTC_CALL(result, nvrtcGetNumSupportedArchs, &n);
    if (result != NVRTC_SUCCESS || n <= 0) {
        return PyTuple_New(0);
    }
    int *numbers = PyMem_Calloc((size_t)n, sizeof *numbers);
    if (numbers == NULL) {
        return PyErr_NoMemory();
    }
    NVRTC_CALL(result, nvrtcGetSupportedArchs, numbers);
    PyObject *tuple = PyTuple_New(result == NVRTC_SUCCESS ? n : 0);
    for (Py_ssize_t i = 0; tuple != NULL && i < PyTuple_GET_SIZE(tuple); i++) {
        PyObject *number = PyLong_FromLong(numbers[i]);
        if (number == NULL) {
            Py_CLEAR(tuple);
            break;
        }
        PyTuple_SET_ITEM(tuple, i, number);
    }
    PyMem_Free(numbers);
    return tuple;
}

/* A C array of the UTF-8 texts of a tuple of str, which must outlive it; NULL with an exception. */
static const char **utf8_array_of(PyObject *tuple) {
    Py_ssize_t n = PyTuple_GET_SIZE(tuple);
    const char **texts = PyMem_Calloc((size_t)n + 1, sizeof *texts);
    if (texts == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        Py_ssize_t length;
        texts[i] = PyUnicode_AsUTF8AndSize(PyTuple_GET_ITEM(tuple, i), &length);
        if (texts[i] != NULL && strlen(texts[i]) != (size_t)length) {
            PyErr_SetString(PyExc_ValueError, "nvrtc: embedded null character");
            texts[i] = NULL;
        }
        if (texts[i] == NULL) {
            PyMem_Free((void *)texts);
            return NULL;
        }
    }
    return texts;
}

/* A kind of output of the program as bytes; None if there is none. */
#define OUTPUT(what)                                                               \
    static PyObject *get_##what(nvrtcProgram program) {                            \
        size_t size = 0;                                                           \
        nvrtcResult result = NVRTC_SUCCESS;                                        \
        if (nvrtc.nvrtcGet##what##Size == NULL || nvrtc.nvrtcGet##what == NULL) {  \
            return Py_NewRef(Py_None);                                             \
        }                                                                          \
        NVRTC_CALL(result, nvrtcGet##what##Size, program, &size);                  \
        if (result != NVRTC_SUCCESS || size == 0) {                                \
            return Py_NewRef(Py_None);                                             \
        }                                                                          \
        PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);       \
        if (bytes != NULL) {                                                       \
            NVRTC_CALL(result, nvrtcGet##what, program, PyBytes_AS_STRING(bytes)); \
            if (result != NVRTC_SUCCESS) {                                         \
                Py_SETREF(bytes, Py_NewRef(Py_None));                              \
            }                                                                      \
        }                                                                          \
        return bytes;                                                              \
    }
OUTPUT(ProgramLog)
OUTPUT(CUBIN)
OUTPUT(PTX)

static PyObject *log_of(nvrtcProgram program) {
    PyObject *bytes = get_ProgramLog(program);
    if (bytes == NULL || bytes == Py_None) {
        Py_XDECREF(bytes);
        return bytes != NULL ? PyUnicode_FromString("") : NULL;
    }
    const char *text = PyBytes_AS_STRING(bytes);
    PyObject *log = PyUnicode_DecodeUTF8(
        text, (Py_ssize_t)strnlen(text, (size_t)PyBytes_GET_SIZE(bytes)), "replace");
    Py_DECREF(bytes);
    return log;
}

static PyObject *lowered_names(nvrtcProgram program, PyObject *names, const char **texts,
                               nvrtcResult *result) {
    PyObject *lowered = PyDict_New();
    for (Py_ssize_t i = 0; lowered != NULL && i < PyTuple_GET_SIZE(names); i++) {
        const char *text = NULL;
        NVRTC_CALL(*result, nvrtcGetLoweredName, program, texts[i], &text);
        if (*result != NVRTC_SUCCESS || text == NULL) {
            break;
        }
        PyObject *value = PyUnicode_FromString(text);
        if (value == NULL || PyDict_SetItem(lowered, PyTuple_GET_ITEM(names, i), value) < 0) {
            Py_CLEAR(lowered);
        }
        Py_XDECREF(value);
    }
    return lowered;
}

PG_DOC(nvrtc_compile__doc__, "_nvrtc_compile",
       "source, name, options, header_names, header_texts, expressions",
       "(source: str, name: str, options: tuple[str, ...], header_names: tuple[str, ...], "
       "header_texts: tuple[str, ...], "
       "expressions: tuple[str, ...]) -> tuple[int, str, str, bytes | None, bytes | None, "
       "dict[str, str]]",
       "Compile; gives the status (0: well, 6: the source is wrong), which function gave it, the "
       "log, the cubin, the PTX, and the expressions' lowered names.");
/* The tuples of str that a compilation takes, as C arrays. */
enum { OPTIONS, HEADER_NAMES, HEADER_TEXTS, EXPRESSIONS, LISTS };
typedef struct {
    PyObject *tuples[LISTS];
    const char **texts[LISTS];
    int counts[LISTS];
} Lists;

static void Lists_clear(Lists *self) {
    for (int i = 0; i < LISTS; i++) {
        PyMem_Free((void *)self->texts[i]);
        Py_XDECREF(self->tuples[i]);
    }
}

/* Returns 0, or -1 with an exception. Must be cleared in either case. */
static int Lists_read(Lists *self, PyObject *const args[LISTS]) {
    for (int i = 0; i < LISTS; i++) {
        self->tuples[i] = pg_tuple(args[i], "_nvrtc_compile", "argument", "str", 100000);
        self->texts[i] = self->tuples[i] != NULL ? utf8_array_of(self->tuples[i]) : NULL;
        if (self->texts[i] == NULL) {
            return -1;
        }
        self->counts[i] = (int)PyTuple_GET_SIZE(self->tuples[i]);
    }
    if (self->counts[HEADER_TEXTS] != self->counts[HEADER_NAMES]) {
        PyErr_SetString(PyExc_ValueError, "_nvrtc_compile: as many header_names as header_texts");
        return -1;
    }
    return 0;
}

/* Compiles, and sets the name of the function that returned the result. Touches no Python objects.
 * Unless *program is NULL, it must be destroyed. */
static nvrtcResult compile(const char *source, const char *name, const Lists *lists,
                           nvrtcProgram *program, const char **routine) {
    nvrtcResult result = NVRTC_SUCCESS;
    *routine = "nvrtcCreateProgram";
    NVRTC_CALL(result, nvrtcCreateProgram, program, source, name, lists->counts[HEADER_NAMES],
               lists->texts[HEADER_TEXTS], lists->texts[HEADER_NAMES]);
    for (int i = 0; i < lists->counts[EXPRESSIONS] && result == NVRTC_SUCCESS; i++) {
        *routine = "nvrtcAddNameExpression";
        NVRTC_CALL(result, nvrtcAddNameExpression, *program, lists->texts[EXPRESSIONS][i]);
    }
    if (result == NVRTC_SUCCESS) {
        *routine = "nvrtcCompileProgram";
        NVRTC_CALL(result, nvrtcCompileProgram, *program, lists->counts[OPTIONS],
                   lists->texts[OPTIONS]);
    }
    return result;
}

/* Makes the result of _nvrtc_compile(); NULL with an exception. */
static PyObject *make_result(nvrtcProgram program, const Lists *lists, nvrtcResult result,
                             const char *routine) {
    int well = result == NVRTC_SUCCESS;
    PyObject *answer = NULL;
    PyObject *log = program != NULL ? log_of(program) : PyUnicode_FromString("");
    PyObject *cubin = well ? get_CUBIN(program) : Py_NewRef(Py_None);
    PyObject *ptx = well ? get_PTX(program) : Py_NewRef(Py_None);
    PyObject *names = well ? lowered_names(program, lists->tuples[EXPRESSIONS],
                                           lists->texts[EXPRESSIONS], &result)
                           : PyDict_New();
    if (well && result != NVRTC_SUCCESS) {
        routine = "nvrtcGetLoweredName";
    }
    if (log != NULL && cubin != NULL && ptx != NULL && names != NULL) {
        answer = Py_BuildValue("(iNOOOO)", (int)result,
                               PyUnicode_FromFormat("%s failed: %s", routine, error_string(result)),
                               log, cubin, ptx, names);
    }
    Py_XDECREF(log);
    Py_XDECREF(cubin);
    Py_XDECREF(ptx);
    Py_XDECREF(names);
    return answer;
}

PG_FUNCTION(nvrtc_compile, 6)
static PyObject *nvrtc_compile_impl(PyObject *Py_UNUSED(module), PyObject *const *a) {
    PyObject *answer = NULL;
    if (!loaded()) {
        return NULL;
    }
    const char *source = PyUnicode_AsUTF8(a[0]), *name = PyUnicode_AsUTF8(a[1]), *routine;
    if (source == NULL || name == NULL) {
        return NULL;
    }
    Lists lists = {0};
    if (Lists_read(&lists, a + 2) == 0) {
        nvrtcProgram program = NULL;
        CudWaiting waiting;
        cud_waiting_begin(&waiting);
        nvrtcResult result = compile(source, name, &lists, &program, &routine),
                    ignored = NVRTC_SUCCESS;
        if (cud_waiting_end(&waiting) == 0) {
            answer = make_result(program, &lists, result, routine);
        }
        if (program != NULL) {
            NVRTC_CALL(ignored, nvrtcDestroyProgram, &program);
            (void)ignored;
        }
    }
    Lists_clear(&lists);
    return answer;
}

PyMethodDef cud_nvrtc_functions[] = {
    {"_nvrtc_load", nvrtc_load, METH_O,
     "_nvrtc_load(path, /)\n--\n\n(path: str, /) -> None\n\nOpen NVRTC. Raises OSError with the "
     "linker's own words."},
    {"_nvrtc_library", nvrtc_library, METH_NOARGS,
     "_nvrtc_library()\n--\n\n() -> str | None\n\nPath of the loaded NVRTC."},
    {"_nvrtc_version", nvrtc_version, METH_NOARGS,
     "_nvrtc_version()\n--\n\n() -> tuple[int, int]\n\nMajor and minor version of the loaded "
     "NVRTC."},
    {"_nvrtc_architectures", nvrtc_architectures, METH_NOARGS,
     "_nvrtc_architectures()\n--\n\n() -> tuple[int, ...]\n\nThe architectures that NVRTC compiles "
     "for: 90 is sm_90; empty if it does not say."},
    {"_nvrtc_compile", FAST(nvrtc_compile), nvrtc_compile__doc__},
    {NULL, NULL, 0, NULL},
};
