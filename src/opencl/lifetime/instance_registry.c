/* instance_registry.c - finds the existing object of a handle, so that queries that return a
 * platform, device, context or queue need not create another one. */
#include "opencl/lifetime/instance_registry.h"
#include "opencl/opencl.h"

#define N_BUCKETS 256
static PyObject *buckets[N_BUCKETS]; /* linked by next_instance; references are borrowed */

static PyObject **known_by(const void *handle) {
    return &buckets[((uintptr_t)handle >> 4 ^ (uintptr_t)handle >> 12) % N_BUCKETS];
}

PyObject *ocl_find_instance(const State *state, PyTypeObject *type, const void *handle) {
    if (PG_UNLIKELY(pg_trap & ~PG_TRAP_DEFERRED)) { /* deferred launches change no handle */
        return NULL;
    }
    for (PyObject *op = *known_by(handle); op != NULL; op = ((OclInstance *)op)->next_instance) {
        /* An object whose last reference is gone may still be listed while callbacks of its weak
         * references run. */
        if (((OclInstance *)op)->handle == handle && ((OclInstance *)op)->state == state &&
            Py_REFCNT(op) > 0 && PyObject_TypeCheck(op, type)) {
            return Py_NewRef(op);
        }
    }
    return NULL;
}

PyObject *ocl_instances(const State *state, PyTypeObject *type) {
    PyObject *list = PyList_New(0);
    for (int i = 0; i < N_BUCKETS && list != NULL; i++) {
        for (PyObject *op = buckets[i]; op != NULL; op = ((OclInstance *)op)->next_instance) {
            if (((OclInstance *)op)->state == state && Py_REFCNT(op) > 0 &&
                PyObject_TypeCheck(op, type) && PyList_Append(list, op) < 0) {
                Py_CLEAR(list);
                break;
            }
        }
    }
    return list;
}

void ocl_register_instance(PyObject *op) {
    PyObject **first = known_by(((OclInstance *)op)->handle);
    ((OclInstance *)op)->next_instance = *first;
    *first = op;
}

int ocl_unregister_instance(PyObject *op) {
    PyObject **at = known_by(((OclInstance *)op)->handle);
    while (*at != NULL && *at != op) {
        at = &((OclInstance *)*at)->next_instance;
    }
    if (*at == NULL) {
        return 0;
    }
    *at = ((OclInstance *)op)->next_instance;
    return 1;
}

void ocl_unregister_all_instances(void) {
    memset(buckets, 0, sizeof buckets);
}
