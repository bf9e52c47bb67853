/* class_method.c - C class methods whose lookup does not create an object each time.
 *
 * CPython's descriptor for METH_CLASS makes a new bound method for each lookup, which takes longer
 * than from_int_ptr() itself. This one caches the bound method for the type looked up last, but
 * only if it is one of the module's own types: the cache must not keep a program's class alive. */
#include "opencl/lifetime/instance_registry.h"
#include "opencl/opencl.h"

typedef struct {
    PyObject_HEAD
    PyObject *plain; /* CPython's */
    State *state;
    PyTypeObject *owner;
    PyObject *bound; /* bound to owner, or NULL */
} ClassMethod;

static int is_own(const State *state, const PyTypeObject *type) {
#define X(name, base) type == state->name##Type ||
    return OCL_TYPES(X) 0;
#undef X
}

static PyObject *ClassMethod_descr_get(PyObject *op, PyObject *instance, PyObject *type) {
    ClassMethod *self = (ClassMethod *)op;
    if (type == NULL && instance != NULL) {
        type = (PyObject *)Py_TYPE(instance);
    }
    if (type != NULL && (PyTypeObject *)type == self->owner && self->bound != NULL) {
        return Py_NewRef(self->bound);
    }
    PyObject *bound = Py_TYPE(self->plain)->tp_descr_get(self->plain, instance, type);
    if (bound != NULL && is_own(self->state, (PyTypeObject *)type)) {
        Py_XSETREF(self->owner, (PyTypeObject *)Py_NewRef(type));
        Py_XSETREF(self->bound, Py_NewRef(bound));
    }
    return bound;
}

/* Name, docstring and signature are taken from CPython's descriptor. */
static PyObject *ClassMethod_getattro(PyObject *op, PyObject *name) {
    return PyObject_GetAttr(((ClassMethod *)op)->plain, name);
}

static PyObject *ClassMethod_call(PyObject *op, PyObject *args, PyObject *kwargs) {
    return PyObject_Call(((ClassMethod *)op)->plain, args, kwargs);
}
static PyObject *ClassMethod_repr(PyObject *op) {
    return PyObject_Repr(((ClassMethod *)op)->plain);
}

static int ClassMethod_traverse(PyObject *op, visitproc visit, void *arg) {
    ClassMethod *self = (ClassMethod *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->plain);
    Py_VISIT(self->owner);
    Py_VISIT(self->bound);
    return 0;
}

static int ClassMethod_clear(PyObject *op) { /* plain stays, because the attribute may still be
                                              * looked up */
    Py_CLEAR(((ClassMethod *)op)->owner);
    Py_CLEAR(((ClassMethod *)op)->bound);
    return 0;
}

static void ClassMethod_dealloc(PyObject *op) {
    PyObject_GC_UnTrack(op);
    ClassMethod_clear(op);
    Py_XDECREF(((ClassMethod *)op)->plain);
    pg_object_free(op);
}

static PyType_Slot ClassMethod_slots[] = {
    {Py_tp_descr_get, (void *)ClassMethod_descr_get},
    {Py_tp_getattro, (void *)ClassMethod_getattro},
    {Py_tp_call, (void *)ClassMethod_call},
    {Py_tp_repr, (void *)ClassMethod_repr},
    PG_GC_SLOTS(ClassMethod),
    {0, NULL},
};
static PyType_Spec ClassMethod_spec = {.name = "pygpu._opencl.classmethod_descriptor",
                                       .basicsize = sizeof(ClassMethod),
                                       .slots = ClassMethod_slots,
                                       .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                                                Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                                Py_TPFLAGS_IMMUTABLETYPE};

/* Replaces a type's own class method of that name by this descriptor. Returns 0 also if it has
 * none. */
static int replace(PyTypeObject *kind, State *state, PyTypeObject *type, PyObject *name) {
    PyObject *plain = PyDict_GetItemWithError(type->tp_dict, name);
    if (plain == NULL) {
        return PyErr_Occurred() ? -1 : 0;
    }
    ClassMethod *self = (ClassMethod *)PG_NEW(kind);
    if (self == NULL) {
        return -1;
    }
    self->plain = Py_NewRef(plain);
    self->state = state;
    int result = PyObject_SetAttr((PyObject *)type, name, (PyObject *)self);
    Py_DECREF(self);
    return result;
}

int ocl_keep_class_methods(PyObject *module, State *state) {
    PyObject *name = PyUnicode_InternFromString("from_int_ptr");
    PyTypeObject *kind = (PyTypeObject *)PyType_FromModuleAndSpec(module, &ClassMethod_spec, NULL);
    int result = name != NULL && kind != NULL ? 0 : -1;
#define X(type, base)                                           \
    if (result == 0) {                                          \
        result = replace(kind, state, state->type##Type, name); \
    }
    OCL_TYPES(X)
#undef X
    Py_XDECREF(kind); /* its instances keep it alive */
    Py_XDECREF(name);
    return result;
}
