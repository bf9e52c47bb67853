/* plans_of_backends.c - PlansOfBackends: the Plans of an object that outlives contexts, such as
 * CUDA's ElementwiseKernel.
 *
 * Plans refer to kernels, and these to their context. So the backend owns the Plans, and the
 * object refers to both weakly: it must not keep a context alive that the program has dropped. */
#include "array/dispatch.h"
#include "array/launch_plan.h"

#define BACKENDS 4 /* the latest ones; for others Python is called, which links them again */

typedef struct {
    PyObject_HEAD
    int next; /* the slot to be replaced next */
    struct {
        PyObject *backend, *plans; /* weak */
    } entries[BACKENDS];
} PlansOfBackends;

static PyObject *OfBackends_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    if (PyTuple_GET_SIZE(args) != 0 || (kwargs != NULL && PyDict_GET_SIZE(kwargs) != 0)) {
        PyErr_SetString(PyExc_TypeError, "PlansOfBackends() takes no arguments");
        return NULL;
    }
    return PG_NEW(type);
}

static void OfBackends_dealloc(PyObject *op) {
    PlansOfBackends *self = (PlansOfBackends *)op;
    for (int i = 0; i < BACKENDS; i++) {
        Py_XDECREF(self->entries[i].backend);
        Py_XDECREF(self->entries[i].plans);
    }
    pg_object_free(op);
}

static const char link_doc[] = "link($self, backend, plans, /)\n--\n\n"
                               "(backend: Any, plans: Plans, /) -> None\n\n"
                               "The Plans for arrays of a backend, which somebody else keeps.";

static PyObject *OfBackends_link(PyObject *op, PyObject *const *args, Py_ssize_t nargs) {
    PlansOfBackends *self = (PlansOfBackends *)op;
    if (nargs != 2 || Py_TYPE(args[1]) != arr_state->PlansType) {
        PyErr_SetString(PyExc_TypeError, "PlansOfBackends.link: a backend and Plans are needed");
        return NULL;
    }
    int i = 0;
    while (i < BACKENDS && !arr_weakref_is(self->entries[i].backend, args[0])) {
        i++;
    }
    if (i < BACKENDS && arr_weakref_is(self->entries[i].plans, args[1])) {
        Py_RETURN_NONE;
    }
    PyObject *backend = PyWeakref_NewRef(args[0], NULL);
    PyObject *plans = backend != NULL ? PyWeakref_NewRef(args[1], NULL) : NULL;
    if (plans == NULL) {
        Py_XDECREF(backend);
        return NULL;
    }
    if (i == BACKENDS) {
        i = self->next;
        self->next = (self->next + 1) % BACKENDS;
    }
    Py_XSETREF(self->entries[i].backend, backend);
    Py_XSETREF(self->entries[i].plans, plans);
    Py_RETURN_NONE;
}

static const char run_doc[] =
    "run($self, name, /, *operands)\n--\n\n(name: Any, /, *operands: Any) -> Any\n\n"
    "Plans.run() of the operands' backend; None if no plan is cached.";

static PyObject *OfBackends_run(PyObject *op, PyObject *const *args, Py_ssize_t nargs) {
    PlansOfBackends *self = (PlansOfBackends *)op;
    Key key;
    if (nargs < 1 || !plans_key_of(&key, arr_id(args[0], 0), args + 1, nargs - 1)) {
        Py_RETURN_NONE;
    }
    for (int i = 0; i < BACKENDS; i++) {
        if (arr_weakref_is(self->entries[i].backend, key.first->backend)) {
            PyObject *plans = arr_weakref_get(self->entries[i].plans);
            PyObject *result = plans != NULL ? plans_run((Plans *)plans, &key, args + 1)
                                             : Py_NewRef(Py_None);
            Py_XDECREF(plans);
            return result;
        }
    }
    Py_RETURN_NONE;
}

static PyMethodDef OfBackends_methods[] = {
    {"link", (PyCFunction)(void (*)(void))OfBackends_link, METH_FASTCALL, link_doc},
    {"run", (PyCFunction)(void (*)(void))OfBackends_run, METH_FASTCALL, run_doc},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot PlansOfBackends_slots[] = {
    {Py_tp_doc, (void *)"PlansOfBackends()\n--\n\n()\n\n"
                        "The Plans of an object that outlives contexts."},
    {Py_tp_new, (void *)OfBackends_new},
    {Py_tp_dealloc, (void *)OfBackends_dealloc},
    {Py_tp_methods, OfBackends_methods},
    {0, NULL},
};
ARR_TYPE(PlansOfBackends, PlansOfBackends, Py_TPFLAGS_IMMUTABLETYPE);
