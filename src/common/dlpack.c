/* dlpack.c - DLPack capsules that export pygpu's memory.
 *
 * A consumer may call the deleter in any thread, with or without the GIL, even after the
 * interpreter has been finalized. */
#include "common/dlpack.h"
#include <stdatomic.h>

typedef struct {
    union {
        DLManagedTensor plain;
        DLManagedTensorVersioned versioned;
    } as;
    PyObject *owner; /* keeps the memory alive */
    void (*on_release)(PyObject *owner);
    atomic_int holders; /* references: one for the capsule, one for whoever may call the deleter */
    atomic_int ended;
    int64_t dims[];
} Export;

static void export_drop(Export *self) {
    if (atomic_fetch_sub(&self->holders, 1) == 1) {
        PyMem_RawFree(self);
    }
}

/* A consumer that fails half-way may call the deleter without renaming the capsule, so the deleter
 * may run twice. PyTorch does this for device types that it does not know. */
static void export_end(Export *self) {
    if (atomic_exchange(&self->ended, 1)) {
        return;
    }
    if (Py_IsInitialized()) {
        PyGILState_STATE gil = PyGILState_Ensure();
        PyObject *type, *value, *traceback; /* preserve the caller's exception */
        PyErr_Fetch(&type, &value, &traceback);
        if (self->on_release != NULL) {
            self->on_release(self->owner);
        }
        Py_DECREF(self->owner);
        PyErr_Restore(type, value, traceback);
        PyGILState_Release(gil);
    }
    export_drop(self);
}

static void delete_plain(DLManagedTensor *tensor) {
    export_end(tensor->manager);
}
static void delete_versioned(DLManagedTensorVersioned *tensor) {
    export_end(tensor->manager);
}

static void drop_capsule(PyObject *capsule) { /* a consumer renames a capsule that it has taken
                                               * over */
    Export *self = PyCapsule_GetContext(capsule);
    if (PyCapsule_IsValid(capsule, DL_PLAIN) || PyCapsule_IsValid(capsule, DL_VERSIONED)) {
        export_end(self);
    }
    export_drop(self);
}

PyObject *pg_dlpack_capsule(const DLTensor *tensor, PyObject *owner, void (*on_release)(PyObject *),
                            int versioned, uint64_t flags) {
    size_t n = (size_t)tensor->ndim;
    Export *self = PyMem_RawCalloc(1, sizeof *self + 2 * n * sizeof self->dims[0]);
    if (self == NULL) {
        return PyErr_NoMemory();
    }
    DLTensor copy = *tensor;
    copy.shape = self->dims;
    copy.strides = self->dims + n;
    for (size_t axis = 0; axis < n; axis++) {
        copy.shape[axis] = tensor->shape[axis];
        copy.strides[axis] = tensor->strides[axis];
    }
    PyObject *capsule;
    if (versioned) {
        DLManagedTensorVersioned *made = &self->as.versioned;
        made->version.major = DL_MAJOR;
        made->version.minor = DL_MINOR;
        made->manager = self;
        made->deleter = delete_versioned;
        made->flags = flags;
        made->tensor = copy;
        capsule = PyCapsule_New(made, DL_VERSIONED, drop_capsule);
    } else {
        DLManagedTensor *made = &self->as.plain;
        made->tensor = copy;
        made->manager = self;
        made->deleter = delete_plain;
        capsule = PyCapsule_New(made, DL_PLAIN, drop_capsule);
    }
    if (capsule == NULL || PyCapsule_SetContext(capsule, self) < 0) {
        PyMem_RawFree(self);
        return NULL;
    }
    atomic_init(&self->holders, 2);
    atomic_init(&self->ended, 0);
    self->owner = Py_NewRef(owner);
    self->on_release = on_release;
    return capsule;
}
