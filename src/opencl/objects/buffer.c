/* buffer.c - Buffer: plain device memory, and regions of it. */
#include "common/track.h"
#include "opencl/api/info.h"
#include "opencl/context.h"
#include "opencl/device.h"
#include "opencl/lifetime/completion.h"
#include "opencl/lifetime/deferred_init.h"
#include "opencl/lifetime/gil_release.h"
#include "opencl/memory.h"
#include "opencl/objects/region.h"
#include "opencl/opencl.h"
#ifndef _WIN32
#include <sys/resource.h>
#include <time.h>
#endif

PG_DOC(Buffer__doc__, "Buffer", "context, flags, size=0, hostbuf=None",
       "(context: Context, flags: int, size: int = 0, hostbuf: HostBuffer | None = None)",
       "Device memory of *size* bytes.\n\n"
       "flags: mem_flags added with |. hostbuf: host memory to copy from (COPY_HOST_PTR) or to use "
       "in place (USE_HOST_PTR); its\n"
       "size counts if size is 0. buffer[a:b] is a region [bytes] of it.\n\n"
       "Raises MemoryError if the device is out of memory, LogicError for a size or flags that it "
       "rejects.");
static ArgSpec Buffer_args = PG_ARGSPEC(Buffer__doc__);

/* Whether no device of the context has that much memory. Called only for large sizes. */
static int is_beyond_memory(Context *context, size_t size) {
    cl_ulong most = 0;
    for (Py_ssize_t i = 0; i < context->n_devices; i++) {
        cl_ulong has =
            ocl_info_number(context->devices[i], ocl_device_query, CL_DEVICE_GLOBAL_MEM_SIZE);
        most = has > most ? has : most;
    }
    return most > 0 && size > most;
}

/* Checks which flags exclude each other (OpenCL 1.2, 5.3, table of cl_mem_flags), because not
 * every driver does. */
int ocl_check_mem_flags(State *state, const char *call, cl_mem_flags flags) {
    static const cl_mem_flags exclusive[] = {
        CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
        CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR,
        CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR,
        CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS,
    };
    for (size_t i = 0; i < sizeof exclusive / sizeof exclusive[0]; i++) {
        cl_mem_flags some = flags & exclusive[i];
        if ((some & (some - 1)) != 0) {
            ocl_reject(state, call, CL_INVALID_VALUE,
                       "flags = %s has two of mem_flags that exclude each other (%s)",
                       pg_hex(flags).text, pg_hex(some).text);
            return -1;
        }
    }
    if (flags >> 32 != 0) { /* vendors do not use these bits either */
        ocl_reject(state, call, CL_INVALID_VALUE,
                   "flags = %s has bits that no member of mem_flags has", pg_hex(flags).text);
        return -1;
    }
    return 0;
}

/* PoCL allocates memory when it is first used, and ends the process if there is none. With
 * ALLOC_HOST_PTR, which means the same memory on a CPU, it allocates at once and reports failures.
 * This is done only if the process's memory is limited: otherwise the system overcommits anyway. */
cl_mem_flags ocl_flags_to_commit(const Context *context, cl_mem_flags flags, size_t size) {
#ifndef _WIN32
    static _Atomic int limited; /* as of the last large allocation: small ones do not check, large
                                 * ones do once per clock tick */
    static _Atomic long long seen;
    if (!(context->devices[0]->platform->quirks & OCL_QUIRK_TAKES_MEMORY_LATE) ||
        flags & (CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR)) {
        return 0;
    }
    if (size >= 1 << 16) {
        struct timespec now = {0};
#ifdef CLOCK_MONOTONIC_COARSE /* needs no system call, and advances every few milliseconds */
        clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
#endif
        const long long tick = now.tv_sec * 1000000000LL + now.tv_nsec;
        if (tick == 0 || tick != seen) {
            struct rlimit limit;
            limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
            seen = tick;
        }
    }
    if (limited && ocl_info_number(context->devices[0], ocl_device_query, CL_DEVICE_TYPE) &
                       CL_DEVICE_TYPE_CPU) {
        return CL_MEM_ALLOC_HOST_PTR;
    }
#else
    (void)context, (void)flags, (void)size;
#endif
    return 0;
}

PyObject *ocl_buffer_create(State *state, PyTypeObject *type, Context *context, cl_mem_flags flags,
                            size_t size, size_t asked, void *host) {
    Memory *self = (Memory *)PG_NEW(type);
    if (self == NULL) {
        return NULL;
    }
    self->state = state;
    cl_int status;
    int tries = 0, again;
    cl_mem mem;
    cl_mem_flags added = host == NULL ? ocl_flags_to_commit(context, flags, size) : 0;
    do {
        status = CL_SUCCESS;
        if (size >= (host != NULL ? 1 << 14 : 1 << 24)) { /* copying, or mapping new pages, takes
                                                           * time, unless the size is small */
            Py_BEGIN_ALLOW_THREADS
            CL_MAKE(mem, status, clCreateBuffer, context->context, flags | added, size, host);
            Py_END_ALLOW_THREADS
        } else {
            CL_MAKE(mem, status, clCreateBuffer, context->context, flags | added, size, host);
        }
        if (PG_UNLIKELY(size >= 1 << 30) && status == CL_SUCCESS && mem != NULL &&
            is_beyond_memory(context, size)) {
            CL_CALL(status, clReleaseMemObject,
                    mem); /* some drivers allocate only when the memory is used */
            status = CL_MEM_OBJECT_ALLOCATION_FAILURE;
        }
        again = status == CL_SUCCESS ? 0 : ocl_retry(state, status, &tries);
    } while (again == 1);
    if (status != CL_SUCCESS || mem == NULL) {
        if (again >= 0) {
            /* A limit that pygpu does not check, as some drivers allow more. */
            ocl_raise_with(state, "clCreateBuffer",
                           status != CL_SUCCESS ? status : CL_OUT_OF_RESOURCES,
                           "asked for %zu bytes, Device.max_mem_alloc_size is %zu", asked,
                           (size_t)ocl_info_number(context->devices[0], ocl_device_query,
                                                   CL_DEVICE_MAX_MEM_ALLOC_SIZE));
        }
        Py_DECREF(self);
        return NULL;
    }
    ocl_live[LIVE_MEM]++;
    self->mem = mem;
    self->context = (Context *)Py_NewRef(context);
    self->size = size;
    self->flags = flags;
    self->added_flags = added;
    self->type = CL_MEM_OBJECT_BUFFER;
    pg_memory_made((PyObject *)self, size);
    return (PyObject *)self;
}

/* A buffer that copies host memory or uses it in place. size 0: all of it. */
static PyObject *make_from_host(State *state, PyTypeObject *type, Context *context,
                                cl_mem_flags flags, size_t size, PyObject *hostbuf) {
    Py_buffer view;
    int in_place = (flags & CL_MEM_USE_HOST_PTR) != 0,
        writes = in_place && !(flags & CL_MEM_READ_ONLY);
    if (pg_get_buffer(hostbuf, "Buffer", "hostbuf", writes, &view) < 0) {
        return NULL;
    }
    PyObject *self = NULL;
    if ((flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) == 0) {
        if (PyErr_WarnEx(
                PyExc_UserWarning,
                "Buffer: hostbuf is not used without mem_flags.COPY_HOST_PTR or USE_HOST_PTR",
                1) == 0) {
            ocl_reject(state, "Buffer", CL_INVALID_HOST_PTR,
                       "hostbuf needs a flag that says how to use it: add "
                       "mem_flags.COPY_HOST_PTR or USE_HOST_PTR");
        }
        goto done;
    }
    if (size > (size_t)view.len) {
        ocl_reject(state, "Buffer", CL_INVALID_VALUE,
                   "size = %zu is more than the %zd bytes of hostbuf", size, view.len);
        goto done;
    }
    if (size == 0) {
        size = (size_t)view.len;
    }
    if (size == 0) {
        ocl_reject(state, "Buffer", CL_INVALID_BUFFER_SIZE,
                   "hostbuf is empty, and a buffer must have at least one byte");
        goto done;
    }
    self = ocl_buffer_create(state, type, context, flags, size, size, view.buf);
    if (self != NULL && in_place) {
        ((Memory *)self)->hostbuf = Py_NewRef(hostbuf);
        if (ocl_keepalive_until_destroyed(state, ((Memory *)self)->mem, &view) < 0) {
            Py_DECREF(self);
            return NULL;
        }
        return self;
    }
done:
    PyBuffer_Release(&view);
    return self;
}

static PyObject *Buffer_make(PyTypeObject *type, PyObject *const *a) {
    Context *context;
    uint64_t flags;
    size_t size = 0;
    State *state = ocl_state_of(type);
    if (state == NULL || (context = ocl_as_context(state, a[0], "Buffer")) == NULL ||
        pg_as_u64(a[1], "Buffer", "flags", &flags) < 0 ||
        ocl_check_mem_flags(state, "Buffer", flags) < 0 ||
        (a[2] != NULL && a[2] != Py_None && pg_as_size(a[2], "Buffer", "size", &size) < 0)) {
        return NULL;
    }
    if (a[3] != NULL && a[3] != Py_None) {
        return make_from_host(state, type, context, flags, size, a[3]);
    }
    if ((flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0) {
        return ocl_reject(state, "Buffer", CL_INVALID_HOST_PTR,
                          "flags ask for host memory (USE_HOST_PTR or COPY_HOST_PTR), but "
                          "hostbuf is missing");
    }
    if (size == 0) {
        return ocl_reject(
            state, "Buffer", CL_INVALID_BUFFER_SIZE,
            "size must be positive, or hostbuf given with COPY_HOST_PTR or USE_HOST_PTR");
    }
    return ocl_buffer_create(state, type, context, flags, size, size, NULL);
}
PG_NEW_BY(Buffer, ocl_buffer, 4)
OCL_MADE_BY_INIT(Buffer, Memory, BufferType, OCL_HAS_CONTEXT_OR_MEM)

/* The whole buffer for a sub-buffer of this one, and its origin there: a sub-buffer of a
 * sub-buffer is one of the whole. NULL with an exception. */
static cl_mem whole_buffer(Memory *self, size_t *origin) {
    cl_mem whole = NULL;
    cl_int status = CL_SUCCESS;
    size_t offset = 0;
    CL_CALL(status, clGetMemObjectInfo, self->mem, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof whole,
            &whole, NULL);
    if (status == CL_SUCCESS && whole != NULL) {
        CL_CALL(status, clGetMemObjectInfo, self->mem, CL_MEM_OFFSET, sizeof offset, &offset, NULL);
    }
    if (status != CL_SUCCESS) {
        ocl_raise(self->state, "clGetMemObjectInfo", status);
        return NULL;
    }
    *origin += offset;
    return whole != NULL ? whole : self->mem;
}

static int check_alignment(Memory *self, size_t origin) {
    cl_uint align = UINT32_MAX; /* the weakest requirement of any device, in bits */
    for (Py_ssize_t i = 0; i < self->context->n_devices; i++) {
        cl_uint bits = ocl_device_limits(self->context->devices[i])->mem_base_addr_align;
        align = bits < align ? bits : align;
    }
    if (align / 8 > 1 && origin % (align / 8) != 0) {
        ocl_reject(self->state, "clCreateSubBuffer", CL_MISALIGNED_SUB_BUFFER_OFFSET,
                   "origin %zu is not a multiple of %u bytes, as the device demands", origin,
                   (unsigned)(align / 8));
        return -1;
    }
    return 0;
}

/* Makes a sub-buffer's handle and its entry in the list of regions (NULL: not listed). Returns 0,
 * or -1 with an exception. */
static int make_region(Memory *self, cl_mem parent, size_t origin, size_t size, cl_mem_flags flags,
                       cl_mem *mem, Region **region) {
    const cl_buffer_region bounds = {origin, size};
    cl_int status = CL_SUCCESS;
    int tries = 0, again = 0, listed = ocl_regions_are_listed(self);
    *region = NULL;
    *mem = listed ? ocl_region_again(self, origin, size, flags, &status, region) : NULL;
    while (*region == NULL) {
        status = CL_SUCCESS;
        CL_MAKE(*mem, status, clCreateSubBuffer, parent, flags, CL_BUFFER_CREATE_TYPE_REGION,
                &bounds);
        again = status == CL_SUCCESS ? 0 : ocl_retry(self->state, status, &tries);
        if (again != 1) {
            break;
        }
    }
    if (listed && *region == NULL && status == CL_SUCCESS && *mem != NULL &&
        (*region = ocl_region_list(self, *mem, origin, size, flags, &status)) == NULL) {
        cl_int ignored = CL_SUCCESS; /* no command has used it, so the order of release does not
                                      * matter */
        CL_CALL(ignored, clReleaseMemObject, *mem);
        (void)ignored;
    }
    if (status == CL_SUCCESS && *mem != NULL) {
        ocl_live[LIVE_MEM]++;
        return 0;
    }
    if (again >= 0) {
        ocl_raise(self->state, "clCreateSubBuffer",
                  status != CL_SUCCESS ? status : CL_OUT_OF_RESOURCES);
    }
    return -1;
}

/* Makes a sub-buffer of a pinned buffer. Checks the range. */
static PyObject *region_of(Memory *self, const char *call, size_t origin, size_t size,
                           cl_mem_flags flags) {
    State *state = self->state;
    size_t end;
    if (size == 0) {
        return ocl_reject(state, call, CL_INVALID_BUFFER_SIZE,
                          "a region must have at least one byte");
    }
    if (pg_add(origin, size, &end) < 0 || end > self->size) {
        return ocl_reject(state, call, CL_INVALID_VALUE,
                          "the region of %zu bytes at %zu ends past the %zu bytes of the buffer",
                          size, origin, self->size);
    }
    cl_mem parent = whole_buffer(self, &origin);
    if (parent == NULL || check_alignment(self, origin) < 0) {
        return NULL;
    }
    Memory *child = (Memory *)PG_NEW(state->BufferType);
    if (child == NULL) {
        return NULL;
    }
    child->state = state;
    cl_mem mem;
    Region *region;
    if (make_region(self, parent, origin, size, flags, &mem, &region) < 0) {
        Py_DECREF(child);
        return NULL;
    }
    child->mem = mem;
    child->region = region;
    child->context = (Context *)Py_NewRef(self->context);
    child->hostbuf = Py_XNewRef(self->hostbuf);
    child->parent = Py_NewRef(self);
    if (self->pool != NULL) { /* the block's next owner must wait for the sub-buffer's commands,
                               * too, so it shares the block's queues */
        child->pool = self->pool;
        ocl_memory_pin(self);
    }
    child->size = size;
    child->flags = flags != 0 ? flags : self->flags;
    child->added_flags = self->added_flags;
    child->type = CL_MEM_OBJECT_BUFFER;
    return (PyObject *)child;
}

static PyObject *Buffer_region(Memory *self, const char *call, size_t origin, size_t size,
                               cl_mem_flags flags) {
    if (ocl_memory_alive(self, call) < 0) {
        return NULL;
    }
    ocl_memory_pin(self); /* making an object may collect garbage, which may run code that releases
                           * the buffer */
    PyObject *region = region_of(self, call, origin, size, flags);
    ocl_memory_unpin(self);
    return region;
}

PG_DOC(Buffer_get_sub_region__doc__, "get_sub_region", "$self, origin, size, flags=0",
       "(origin: int, size: int, flags: int = 0) -> Buffer",
       "The region of *size* bytes at *origin*, sharing memory. origin must be a multiple of the "
       "device's mem_base_addr_align bits.");
PG_FUNCTION(Buffer_get_sub_region, 3)
static PyObject *Buffer_get_sub_region_impl(PyObject *op, PyObject *const *a) {
    size_t origin, size;
    uint64_t flags = 0;
    const char *call = "Buffer.get_sub_region";
    if (pg_as_size(a[0], call, "origin", &origin) < 0 ||
        pg_as_size(a[1], call, "size", &size) < 0 ||
        (a[2] != NULL && pg_as_u64(a[2], call, "flags", &flags) < 0)) {
        return NULL;
    }
    return Buffer_region((Memory *)op, call, origin, size, flags);
}

static PyObject *Buffer_subscript(PyObject *op, PyObject *key) {
    Memory *self = (Memory *)op;
    Py_ssize_t start, stop, step;
    if (!PySlice_Check(key)) {
        return ocl_reject_type(self->state, "Buffer.__getitem__", CL_INVALID_VALUE,
                               "the index must be a slice of bytes, not %s", pg_type_name(key));
    }
    if (PySlice_Unpack(key, &start, &stop, &step) < 0) {
        return NULL;
    }
    Py_ssize_t length = PySlice_AdjustIndices((Py_ssize_t)self->size, &start, &stop, step);
    if (step != 1) {
        return ocl_reject(self->state, "Buffer.__getitem__", CL_INVALID_VALUE,
                          "a slice of a buffer must have step 1, got %zd", step);
    }
    return Buffer_region(self, "Buffer.__getitem__", (size_t)start, (size_t)length, 0);
}

static PyMethodDef Buffer_methods[] = {
    {"get_sub_region", FAST(Buffer_get_sub_region), Buffer_get_sub_region__doc__},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot Buffer_slots[] = {
    PG_NEW_SLOTS(Buffer),
    {Py_tp_dealloc, (void *)ocl_memory_dealloc},
    {Py_mp_subscript, (void *)Buffer_subscript},
    {Py_tp_methods, Buffer_methods},
    {0, NULL},
};
OCL_TYPE(Buffer, Memory, Py_TPFLAGS_BASETYPE);

PyMethodDef ocl_buffer_functions[] = {{NULL, NULL, 0, NULL}};
