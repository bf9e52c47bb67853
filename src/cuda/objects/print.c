/* print.c - writes what kernels print on the simulator to sys.stdout.
 *
 * A real driver writes it to C's stdout when the program waits. The simulator keeps it for us, so
 * that it appears even where sys.stdout is not C's stdout: in notebooks, in tests, in
 * redirect_stdout(). It is fetched after every call that waits, and at exit. */
#include "cuda/cuda.h"
#include "cuda/print.h"
#include "cuda/simulator_hooks.h"

static size_t (*read_output)(char *buffer, size_t size);

#define EXIT_SECONDS 2.0

/* Call without the GIL. */
static void wait_for_output(void) {
    double end = pg_seconds() + EXIT_SECONDS;
    CUresult status = CUDA_SUCCESS;
    for (;;) {
        CU_CALL(status, cuStreamQuery, NULL);
        if (status != CUDA_ERROR_NOT_READY || pg_seconds() > end) {
            break;
        }
        pg_sleep_us(500);
    }
    if (status == CUDA_SUCCESS) {
        CU_CALL(status, cuStreamSynchronize,
                NULL); /* returns at once; NVIDIA's driver writes the text now */
    }
}

/* atexit callback. A program whose last call is a launch should print what the kernel prints, as
 * it does in PyCUDA, which destroys its context at exit. Primary contexts are not destroyed, so
 * this waits instead, for a short time. */
static PyObject *at_exit(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    CUcontext current = NULL;
    CUresult status = CUDA_SUCCESS;
    if ((pg_trap & PG_TRAP_FORKED) || cud_queued == 0 || cu.cuCtxGetCurrent == NULL) {
        cud_print();
        Py_RETURN_NONE;
    }
    CU_CALL(status, cuCtxGetCurrent, &current);
    if (status == CUDA_SUCCESS && current != NULL) {
        Py_BEGIN_ALLOW_THREADS
        wait_for_output();
        Py_END_ALLOW_THREADS
    }
    cud_print();
    Py_RETURN_NONE;
}

static PyMethodDef at_exit_method = {"_print_rest", at_exit, METH_NOARGS, NULL};

int cud_print_from(void *function) {
    static int registered;
    *(void **)(void *)&read_output = function;
    if (registered) {
        if (function != NULL) {
            read_output(NULL, 0);
        }
        return 0;
    }
    PyObject *atexit = PyImport_ImportModule("atexit"),
             *print = atexit != NULL ? PyCFunction_New(&at_exit_method, NULL) : NULL;
    PyObject *result = print != NULL ? PyObject_CallMethod(atexit, "register", "O", print) : NULL;
    Py_XDECREF(atexit);
    Py_XDECREF(print);
    Py_XDECREF(result);
    if (result == NULL) {
        read_output = NULL;
        return -1;
    }
    registered = 1;
    if (function != NULL) {
        read_output(NULL, 0); /* from now on the simulator keeps it for us */
    }
    return 0;
}

/* Fetches all of it as bytes; NULL with an exception. */
static PyObject *collect(const char *begin, size_t n) {
    PyObject *bytes = PyBytes_FromStringAndSize(begin, (Py_ssize_t)n);
    char more[4096];
    while (bytes != NULL && (n = read_output(more, sizeof more)) > 0) {
        PyBytes_ConcatAndDel(&bytes, PyBytes_FromStringAndSize(more, (Py_ssize_t)n));
    }
    return bytes;
}

void cud_print(void) {
    char begin[4096];
    size_t n = read_output != NULL && !(pg_trap & PG_TRAP_FORKED) ? read_output(begin, sizeof begin)
                                                                  : 0;
    if (n == 0) {
        return;
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *bytes = collect(begin, n), *stream = PySys_GetObject("stdout");
    PyObject *text = bytes != NULL ? PyUnicode_DecodeUTF8(PyBytes_AS_STRING(bytes),
                                                          PyBytes_GET_SIZE(bytes), "replace")
                                   : NULL;
    if (text != NULL && stream != NULL && stream != Py_None) {
        Py_INCREF(stream);
        PyObject *written = PyObject_CallMethod(stream, "write", "O", text);
        Py_XDECREF(written);
        Py_DECREF(stream);
    }
    if (PyErr_Occurred()) { /* failing to print must not make a wait fail */
        PyErr_WriteUnraisable(text);
    }
    Py_XDECREF(text);
    Py_XDECREF(bytes);
    PyErr_Restore(type, value, traceback);
}
