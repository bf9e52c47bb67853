/* kernel_set.c - passes converted arguments to the driver under the kernel's lock, but only those
 * that changed. */
#include "opencl/commands/box.h"
#include "opencl/device.h"
#include "opencl/lifetime/gil_release.h"
#include "opencl/objects/kernel.h"
#include "opencl/objects/program.h"
#include "opencl/opencl.h"

void kernel_values_clear(ArgValue *values, cl_uint n) {
    for (cl_uint i = 0; i < n; i++) {
        if (PG_UNLIKELY(values[i].owns_hold)) {
            Py_DECREF(values[i].hold);
        }
        if (PG_UNLIKELY(values[i].large != NULL)) {
            PyMem_Free(values[i].large);
        }
    }
}

void kernel_wait_for_lock(Kernel *self) {
    while (self->locked) { /* another thread is in the driver without the GIL, and holds the lock */
        Py_BEGIN_ALLOW_THREADS
        PyThread_acquire_lock(self->lock, WAIT_LOCK);
        PyThread_release_lock(self->lock);
        Py_END_ALLOW_THREADS
    }
}

/* Whether the driver already has this value. Objects are compared by identity, because a new
 * object may have a former one's address as its handle. */
static int is_set(const Kernel *self, const ArgSlot *slot, const ArgValue *value) {
    if (slot->set != value->set || slot->held != value->hold || self->shared_handle) {
        return 0;
    }
    switch (value->set) {
    case SET_VALUE:
        if (slot->set_size != value->size || value->size > CACHED_BYTES) {
            return 0;
        }
        return value->size <= sizeof slot->now.word
                   ? slot->now.word == value->value.integer
                   : memcmp(slot->now.bytes, value->value.bytes, value->size) == 0;
    case SET_SVM:
        return memcmp(slot->now.bytes, &value->svm, sizeof value->svm) == 0;
    case SET_LOCAL:
        return slot->set_size == value->size;
    default:
        return value->set == SET_NULL;
    }
}

/* Sets an argument that is not a value: SVM at the address svm, local memory of size bytes, or
 * NULL for a pointer. */
static cl_int set_other(cl_kernel handle, cl_uint i, ArgSet set, size_t size, void *svm,
                        const char **routine) {
    cl_int status = CL_SUCCESS;
    cl_mem nothing = NULL;
    switch (set) {
    case SET_SVM:
        CL_CALL(status, clSetKernelArgSVMPointer, handle, i, svm);
        if (status != CL_SUCCESS) {
            *routine = "clSetKernelArgSVMPointer";
        }
        break;
    case SET_LOCAL:
        CL_CALL(status, clSetKernelArg, handle, i, size, NULL);
        break;
    default:
        CL_CALL(status, clSetKernelArg, handle, i, sizeof nothing, &nothing);
    }
    return status;
}

cl_int kernel_set(Kernel *self, ArgValue *values, cl_uint first, cl_uint n, int by_call,
                  cl_uint *failed, PyObject **old, const char **routine) {
    cl_kernel handle = kernel_handle(self);
    *routine = "clSetKernelArg";
    for (cl_uint k = 0; k < n; k++) {
        ArgSlot *slot = &self->slots[first + k];
        ArgValue *value = &values[k];
        old[k] = NULL;
        if (is_set(self, slot, value)) {
            slot->by_call &= by_call;
            continue;
        }
        cl_int status = CL_SUCCESS;
        if (PG_UNLIKELY(value->set != SET_VALUE)) {
            status = set_other(handle, first + k, value->set, value->size, value->svm, routine);
            self->svm_seen |= value->set == SET_SVM;
        } else {
            CL_CALL(status, clSetKernelArg, handle, first + k, value->size,
                    value->large != NULL ? value->large : value->value.bytes);
        }
        if (PG_UNLIKELY(status != CL_SUCCESS)) { /* the driver's current value is unknown */
            slot->set = SET_NOTHING;
            *failed = first + k;
            for (cl_uint rest = k + 1; rest < n; rest++) {
                old[rest] = NULL;
            }
            return status;
        }
        old[k] = slot->held;
        if (PG_UNLIKELY(self->holds_nothing) &&
            value->hold != NULL) { /* nothing keeps this object, and a later one could have its
                                    * address: set again by each call */
            slot->held = NULL;
            slot->set = SET_NOTHING;
            continue;
        }
        slot->held = Py_XNewRef(value->hold);
        slot->by_call = by_call;
        slot->set = value->set;
        slot->set_size = value->size;
        if (PG_UNLIKELY(value->set == SET_SVM)) {
            memcpy(slot->now.bytes, &value->svm, sizeof value->svm);
        } else if (value->size <= sizeof slot->now.word) { /* for an argument without a value this
                                                            * is never read */
            slot->now.word = value->value.integer;
        } else if (value->size <= CACHED_BYTES) {
            memcpy(slot->now.bytes, value->value.bytes, value->size);
        }
    }
    return CL_SUCCESS;
}

/* Gives a new handle the known arguments. Values too large to be remembered count as not set. */
static cl_int set_as_known(Kernel *self, cl_kernel handle) {
    cl_int status = CL_SUCCESS;
    const char *routine; /* a failure here is ignored: the caller raises the old handle's */
    for (cl_uint i = 0; i < self->n_args && status == CL_SUCCESS; i++) {
        ArgSlot *slot = &self->slots[i];
        void *svm;
        memcpy(&svm, slot->now.bytes, sizeof svm);
        if (slot->set == SET_VALUE && slot->set_size > CACHED_BYTES) {
            slot->set = SET_NOTHING;
        } else if (slot->set == SET_VALUE) {
            CL_CALL(status, clSetKernelArg, handle, i, slot->set_size, slot->now.bytes);
        } else if (slot->set != SET_NOTHING) {
            status = set_other(handle, i, slot->set, slot->set_size, svm, &routine);
        }
    }
    return status;
}

int kernel_renew(Kernel *self) {
    const char *name = PyUnicode_AsUTF8(self->name);
    if (!self->svm_seen || self->shared_handle || self->program == NULL ||
        self->program->program == NULL || name == NULL) {
        PyErr_Clear();
        return 0;
    }
    cl_int status = CL_SUCCESS;
    cl_kernel fresh;
    CL_MAKE(fresh, status, clCreateKernel, self->program->program, name);
    if (status != CL_SUCCESS || fresh == NULL) {
        return 0;
    }
    ocl_live[LIVE_KERNEL]++;
    if (set_as_known(self, fresh) != CL_SUCCESS) {
        CL_RELEASE(LIVE_KERNEL, clReleaseKernel, fresh);
        return 0;
    }
    if (self->renewed != NULL) {
        CL_RELEASE(LIVE_KERNEL, clReleaseKernel, self->renewed);
    }
    self->renewed = fresh;
    self->svm_seen = 0;
    for (cl_uint i = 0; i < self->n_args; i++) {
        self->svm_seen |= self->slots[i].set == SET_SVM;
    }
    return 1;
}

/* ---- kernels whose arguments are the last references to memory ------------------------------- */

static Kernel *kernels; /* all kernels; protected by the GIL */

void kernel_list(Kernel *self) {
    self->next = kernels;
    self->link = &kernels;
    if (kernels != NULL) {
        kernels->link = &self->next;
    }
    kernels = self;
}

void kernel_unlist(Kernel *self) {
    if (self->link == NULL) { /* not initialized */
        return;
    }
    if (self->next != NULL) {
        self->next->link = self->link;
    }
    *self->link = self->next;
}

void kernel_relist(Kernel *self) {
    *self->link = self;
    if (self->next != NULL) {
        self->next->link = &self->next;
    }
}

Program *kernel_find_program(cl_program handle) {
    Kernel *self = kernels;
    while (self != NULL && (self->program == NULL || self->program->program != handle)) {
        self = self->next;
    }
    return self != NULL ? self->program : NULL;
}

/* Drops references that calls left behind. The next call sets these arguments anyway; arguments
 * set by set_arg() are kept. */
void ocl_kernels_drop_arguments(void) {
    for (Kernel *self = kernels, *next; self != NULL; self = next) {
        next = self->next;
        for (cl_uint i = 0; self->slots != NULL && i < self->n_args && !self->locked; i++) {
            ArgSlot *slot = &self->slots[i];
            if (slot->by_call && slot->held != NULL && Py_REFCNT(slot->held) == 1) {
                slot->set = SET_NOTHING;
                Py_CLEAR(slot->held);
                next = kernels; /* dropping references may have run any code that changed the
                                 * list */
                break;
            }
        }
    }
}

/* Checks local memory against the devices' largest limit, because some drivers abort instead of
 * refusing. */
static int check_local_memory(Kernel *self, cl_uint first, const ArgValue *values, cl_uint n) {
    size_t most = 0;
    int local = 0;
    for (cl_uint i = 0; i < n; i++) {
        local |= values[i].set == SET_LOCAL;
    }
    for (Py_ssize_t d = 0; local && d < self->context->n_devices; d++) {
        size_t has = (size_t)ocl_device_limits(self->context->devices[d])->local_mem_size;
        most = has > most ? has : most;
    }
    for (cl_uint i = 0; local && i < n; i++) {
        if (values[i].set == SET_LOCAL && values[i].size > most && most > 0) {
            ocl_reject(self->state, "Kernel.set_arg", CL_INVALID_ARG_SIZE,
                       "arg#%u (1-based) of kernel '%U': %zu bytes of LocalMemory, and no device "
                       "has more than %zu",
                       (unsigned)(first + i + 1), self->name, values[i].size, most);
            return -1;
        }
    }
    return 0;
}

int kernel_set_arguments(Kernel *self, cl_uint first, PyObject *const *args, cl_uint n) {
    enum { FEW = 2 };
    int result = -1;
    size_t room = (size_t)n * 2 + 1;
    ArgValue few_values[FEW * 2 + 1], *values = n <= FEW
                                                    ? memset(few_values, 0, room * sizeof *values)
                                                    : PyMem_Calloc(room, sizeof *values);
    PyObject *few_old[FEW * 2 + 1],
        **old = n <= FEW ? memset(few_old, 0, room * sizeof *old) : PyMem_Calloc(room, sizeof *old);
    if (values == NULL || old == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    cl_uint at = 0;
    int converted = 0;
    self->converting++;
    for (cl_uint k = 0; k < n && converted == 0; k++) {
        converted = kernel_convert(self, first + at, args[k], &values[at]);
        at += self->slots[first + at].with_offset ? 2 : 1;
    }
    self->converting--;
    if (converted < 0 || check_local_memory(self, first, values, at) < 0) {
        kernel_values_clear(values, at);
        goto done;
    }
    cl_uint failed = 0;
    const char *routine;
    kernel_lock(self);
    int released = 0; /* released since the conversion, by another thread or by code that a
                       * conversion ran */
    for (cl_uint i = 0; i < at && !released; i++) {
        released = kernel_held_alive(self, first + i, values[i].hold) < 0;
    }
    if (released) {
        kernel_unlock(self);
        kernel_values_clear(values, at);
        goto done;
    }
    cl_int status = kernel_set(self, values, first, at, 0, &failed, old, &routine);
    kernel_unlock(self);
    for (cl_uint i = 0; i < at; i++) {
        Py_XDECREF(old[i]);
    }
    kernel_values_clear(values, at);
    if (status != CL_SUCCESS) {
        kernel_raise_set(self, failed, routine, status);
    } else {
        result = 0;
    }
done:
    if (n > FEW) {
        PyMem_Free(values);
        PyMem_Free(old);
    }
    return result;
}
