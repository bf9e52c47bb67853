/* host_call.c - launch_host_func: a Python function as a piece of work of a stream.
 *
 * The driver calls it on a thread of its own and goes on with the stream afterwards. That thread needs the GIL, so as long as such a
 * function may be called (cud_host_calls), calls that may wait for the device release it. */
#include "graph.h"

#define CALL_NAME "pygpu.host_call"

long cud_host_calls;

typedef struct {
    PyObject *function, *args;
} HostCall;

static void CUDA_CB run(void *data) {
    HostCall *self = data;
    if (!Py_IsInitialized() || (pg_trap & PG_TRAP_EXIT)) {
        return; /* the interpreter is going or gone */
    }
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *function = Py_NewRef(self->function), *args = Py_NewRef(self->args);
    PyObject *result = PyObject_CallObject(function, args);
    if (result == NULL) {
        PyErr_WriteUnraisable(function);
    }
    Py_XDECREF(result);
    Py_DECREF(args);
    Py_DECREF(function);
    PyGILState_Release(gil);
}

static void drop(PyObject *capsule) {
    HostCall *self = PyCapsule_GetPointer(capsule, CALL_NAME);
    cud_host_calls--;
    Py_DECREF(self->function);
    Py_DECREF(self->args);
    PyMem_Free(self);
}

static const char launch_host_func__doc__[] =
    "launch_host_func(stream, func, /, *args)\n--\n\n(stream: Stream | None, func: Callable[..., object], /, *args: Any) -> None\n\n"
    "Call func(*args) on the host when the work queued so far on the stream is done; work queued later waits for it.\n\n"
    "It runs on a thread of the driver and must not use CUDA. An exception goes to sys.unraisablehook. A graph that captures it calls it\n"
    "at every launch.";

static PyObject *launch_host_func(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    State *state = PyModule_GetState(module);
    CUstream handle;
    Stream *stream;
    if (nargs < 2) {
        return PyErr_Format(PyExc_TypeError, "launch_host_func takes a stream and a function; %zd argument%s given", nargs, nargs == 1 ? " was" : "s were");
    }
    if (!PyCallable_Check(args[1])) {
        return PyErr_Format(PyExc_TypeError, "launch_host_func: func must be callable, not %s", pg_type_name(args[1]));
    }
    Context *context = cud_context_current(state);
    if (context == NULL) {
        return NULL;
    }
    PyObject *capsule = NULL, *result = NULL;
    HostCall *self = NULL;
    if (cud_as_stream(state, args[0], "cuLaunchHostFunc", &handle, &stream) < 0) {
        goto done;
    }
    if (stream != NULL) {
        Py_SETREF(context, (Context *)Py_NewRef((PyObject *)stream->context));
    }
    self = PyMem_Calloc(1, sizeof *self);
    PyObject *tuple = PyTuple_New(nargs - 2);
    for (Py_ssize_t i = 2; tuple != NULL && i < nargs; i++) {
        PyTuple_SET_ITEM(tuple, i - 2, Py_NewRef(args[i]));
    }
    if (self == NULL || tuple == NULL || (capsule = PyCapsule_New(self, CALL_NAME, drop)) == NULL) {
        PyMem_Free(self);
        Py_XDECREF(tuple);
        if (!PyErr_Occurred()) {
            PyErr_NoMemory();
        }
        goto done;
    }
    self->function = Py_NewRef(args[1]);
    self->args = tuple;
    cud_host_calls++;
    CUresult status = CUDA_SUCCESS;
    ContextGuard guard;
    Py_BEGIN_ALLOW_THREADS
    if (cud_context_enter(context, &guard, &status) == 0) {
        CU_CALL(status, cuLaunchHostFunc, handle, run, self);
        cud_context_leave(&guard);
    }
    Py_END_ALLOW_THREADS
    if (status != CUDA_SUCCESS) {
        cud_raise(state, "cuLaunchHostFunc", status);
        goto done;
    }
    if (cud_context_enter(context, &guard, &status) == 0) {
        if (stream == NULL || stream->capturing == CAPTURE_NONE) {
            cud_capture_keep(state, handle, stream, capsule);
        }
        cud_hold(state, context, handle, stream, capsule);
        cud_context_leave(&guard);
    }
    result = Py_NewRef(Py_None);
done:
    Py_XDECREF(capsule);
    Py_DECREF(context);
    return result;
}

PyMethodDef cud_host_call_functions[] = {
    {"launch_host_func", (PyCFunction)(void (*)(void))launch_host_func, METH_FASTCALL, launch_host_func__doc__},
    {NULL, NULL, 0, NULL},
};
