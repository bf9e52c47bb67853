/* profiler.c - starts and stops an external profiler's collection for this process. */
#include "cuda/context.h"
#include "cuda/cuda.h"

PG_DOC(initialize_profiler__doc__, "initialize_profiler", "config_file, output_file, output_mode",
       "(config_file: str, output_file: str, output_mode: int) -> NoReturn",
       "Raises LogicError: CUDA 12 removed the profiler that wrote files. Run the program under "
       "Nsight Systems or Nsight Compute.");
PG_FUNCTION(initialize_profiler, 3)
static PyObject *initialize_profiler_impl(PyObject *module, PyObject *const *Py_UNUSED(a)) {
    return cud_raise_own(PyModule_GetState(module), "cuProfilerInitialize",
                         CUDA_ERROR_NOT_SUPPORTED,
                         "CUDA 12 removed the profiler that wrote files; run the program under "
                         "'nsys profile' or 'ncu', and mark its part with start_profiler() "
                         "and stop_profiler()");
}

static PyObject *control(PyObject *module, int start) {
    State *state = PyModule_GetState(module);
    CUresult status = CUDA_SUCCESS;
    Context *context = cud_context_current(state);
    if (context == NULL) {
        return NULL;
    }
    Py_DECREF(context); /* it stays current whether or not anything refers to the object */
    Py_BEGIN_ALLOW_THREADS
    if (start) {
        CU_CALL(status, cuProfilerStart);
    } else {
        CU_CALL(status, cuProfilerStop);
    }
    Py_END_ALLOW_THREADS
    return status == CUDA_SUCCESS
               ? Py_NewRef(Py_None)
               : cud_raise(state, start ? "cuProfilerStart" : "cuProfilerStop", status);
}

static PyObject *start_profiler(PyObject *module, PyObject *Py_UNUSED(ignored)) {
    return control(module, 1);
}
static PyObject *stop_profiler(PyObject *module, PyObject *Py_UNUSED(ignored)) {
    return control(module, 0);
}

PyMethodDef cud_profiler_functions[] = {
    {"initialize_profiler", FAST(initialize_profiler), initialize_profiler__doc__},
    {"start_profiler", start_profiler, METH_NOARGS,
     "start_profiler()\n--\n\n() -> None\n\nStart the part that a profiler of the process records "
     "(ncu --profile-from-start off)."},
    {"stop_profiler", stop_profiler, METH_NOARGS,
     "stop_profiler()\n--\n\n() -> None\n\nEnd the part that a profiler records."},
    {NULL, NULL, 0, NULL},
};
