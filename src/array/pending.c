/* pending.c - launches that wait for their kernel.
 *
 * The first launch of an elementwise operation needs a kernel that must be compiled. On CUDA, where
 * several are compiled at once, the program does not wait for it: it goes on, so that the next
 * kernels are compiled meanwhile. The launches stay in order. Any other command runs them first, as
 * it does a chain's (chain.c); there is no chain while some wait.
 */
#include "array/backend_ops.h"
#include "array/chain.h"

volatile int arr_pending = 0;

static PyObject *launches; /* list of callables, in order; NULL: none so far */

int pending_append(PyObject *launch) {
    if (launches == NULL && (launches = PyList_New(0)) == NULL) {
        return -1;
    }
    if (PyList_Append(launches, launch) < 0) {
        return -1;
    }
    arr_pending++;
    return 0;
}

/* Removes and returns the first one; NULL if there is none. */
static PyObject *take_first(void) {
    if (launches == NULL || PyList_GET_SIZE(launches) == 0) {
        return NULL;
    }
    PyObject *first = Py_NewRef(PyList_GET_ITEM(launches, 0));
    if (PyList_SetSlice(launches, 0, 1, NULL) < 0) {
        PyErr_Clear(); /* out of memory */
        Py_DECREF(first);
        return NULL;
    }
    return first;
}

/* ---- exceptions of signal handlers, which must not lose a launch ------------------------------
 */

static PyObject *interrupt; /* the first one; raised when all launches were made */

/* Takes over the current exception. */
static void keep_interrupt(void) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (value != NULL && traceback != NULL) {
        PyException_SetTraceback(value, traceback);
    }
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    if (interrupt == NULL) {
        interrupt = value;
    } else {
        Py_XDECREF(value);
    }
}

static int raise_now(void *error) {
    PyErr_SetObject((PyObject *)Py_TYPE((PyObject *)error), error);
    Py_DECREF((PyObject *)error);
    return -1;
}

/* The main thread raises it as soon as it runs Python code again. */
static void raise_interrupt(void) {
    PyObject *error = interrupt;
    interrupt = NULL;
    if (error != NULL && Py_AddPendingCall(raise_now, error) < 0) { /* too many of them */
        Py_DECREF(error);
    }
}

static const char keep_doc[] =
    "_raise_after_launches(error, /)\n--\n\n(error: BaseException, /) -> None\n\n"
    "Raise an exception in the main thread once the launches that wait for kernels were made.";

static PyObject *keep(PyObject *Py_UNUSED(module), PyObject *error) {
    if (!PyExceptionInstance_Check(error)) {
        PyErr_SetString(PyExc_TypeError, "_raise_after_launches takes an exception");
        return NULL;
    }
    if (interrupt == NULL) {
        interrupt = Py_NewRef(error);
    }
    Py_RETURN_NONE;
}

/* ---- launching ------------------------------------------------------------------------------- */

#define TRIES 3 /* an exception may be that of a signal handler */

/* Returns what launch() returns: (kernel, arguments, keywords) or None. NULL with an exception. */
static PyObject *prepare(PyObject *launch) {
    PyObject *ready = PyObject_CallNoArgs(launch);
    for (int i = 1; i < TRIES && ready == NULL; i++) {
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        ready = PyObject_CallNoArgs(launch);
        if (ready == NULL) {
            Py_XDECREF(type);
            Py_XDECREF(value);
            Py_XDECREF(traceback);
        } else {
            PyErr_Restore(type, value, traceback);
            keep_interrupt();
        }
    }
    return ready;
}

/* Makes a launch. Here, no handler of a signal can run between it and the next one. */
static int make_launch(PyObject *launch) {
    PyObject *ready = prepare(launch), *kernel, *args, *keywords, *result = NULL;
    if (ready == Py_None) {
        result = Py_NewRef(ready);
    } else if (ready != NULL && PyArg_ParseTuple(ready, "OO!O!:launch", &kernel, &PyTuple_Type,
                                                 &args, &PyDict_Type, &keywords)) {
        result = PyObject_Call(kernel, args, keywords);
    }
    Py_XDECREF(ready);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

/* Other threads may append while one runs; all of them run. */
int pending_run(PendingFailed failed) {
    int status = 0;
    PyObject *launch;
    while ((launch = take_first()) != NULL) {
        if (make_launch(launch) < 0) {
            int found = failed(launch);
            status = status == 0 ? found : status;
        }
        Py_DECREF(launch);
        arr_pending--;
    }
    raise_interrupt();
    return status;
}

void pending_clear(void) {
    arr_pending = 0;
    Py_CLEAR(launches);
    Py_CLEAR(interrupt);
}

/* ---- for Python ------------------------------------------------------------------------------ */

static PyObject *pending(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    return PyBool_FromLong(arr_pending);
}

PyMethodDef arr_pending_functions[] = {
    {"_pending", pending, METH_NOARGS,
     "_pending()\n--\n\n() -> bool\n\nWhether launches wait for their kernels."},
    {"_raise_after_launches", keep, METH_O, keep_doc},
    {NULL, NULL, 0, NULL},
};
