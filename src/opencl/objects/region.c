/* region.c - the driver's sub-buffer handles, released in the reverse order of their creation.
 *
 * NVIDIA's driver (580.159) crashes when a sub-buffer is released while a later one that overlaps
 * it still exists, if commands have used both. On that driver, each handle therefore has an owner
 * besides the Python objects: a list at the whole buffer, latest sub-buffer first, from whose head
 * unused entries are released. A request for a sub-buffer that is already listed returns the same
 * handle again, so the list is no longer than the number of different sub-buffers. Other drivers'
 * sub-buffers are not listed.
 *
 * The same driver allocates the memory of a buffer made with COPY_HOST_PTR on first use. What
 * sub-buffers wrote before that is lost when they are released. So the sub-buffers of such a
 * buffer stay as long as the buffer. */
#include "opencl/memory.h"
#include "opencl/objects/region.h"
#include "opencl/opencl.h"

struct Region {
    struct Region *older;
    cl_mem mem; /* a reference */
    size_t origin, size;
    cl_mem_flags flags;
    size_t users; /* number of Python objects with this handle, each with its own reference */
};

static int listed_always; /* for tests: list them on every driver */

/* The whole buffer, as far as Python knows it. */
static Memory *whole_of(Memory *self) {
    while (self->parent != NULL) {
        self = (Memory *)self->parent;
    }
    return self;
}

int ocl_regions_are_listed(const Memory *self) {
    return (self->context->devices[0]->platform->quirks & OCL_QUIRK_REGIONS_NEED_ORDER) ||
           listed_always;
}

cl_mem ocl_region_again(Memory *buffer, size_t origin, size_t size, cl_mem_flags flags,
                        cl_int *status, Region **out) {
    Region *region = whole_of(buffer)->regions;
    while (region != NULL &&
           (region->origin != origin || region->size != size || region->flags != flags)) {
        region = region->older;
    }
    *out = region;
    if (region == NULL) {
        return NULL;
    }
    CL_CALL(*status, clRetainMemObject, region->mem);
    region->users += *status == CL_SUCCESS;
    return *status == CL_SUCCESS ? region->mem : NULL;
}

Region *ocl_region_list(Memory *buffer, cl_mem mem, size_t origin, size_t size, cl_mem_flags flags,
                        cl_int *status) {
    Region *region = PyMem_Malloc(sizeof *region);
    if (region == NULL) {
        *status = CL_OUT_OF_HOST_MEMORY;
        return NULL;
    }
    CL_CALL(*status, clRetainMemObject, mem);
    if (*status != CL_SUCCESS) {
        PyMem_Free(region);
        return NULL;
    }
    Memory *whole = whole_of(buffer);
    *region = (Region){whole->regions, mem, origin, size, flags, 1};
    whole->regions = region;
    return region;
}

static int regions_hold_contents(const Memory *whole) {
    return whole->mem != NULL && (whole->flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR)) != 0;
}

void ocl_region_drop_unused(Memory *whole) {
    while (whole->regions != NULL && whole->regions->users == 0 && !regions_hold_contents(whole)) {
        Region *latest = whole->regions;
        cl_int status = CL_SUCCESS;
        whole->regions = latest->older;
        CL_CALL(status, clReleaseMemObject, latest->mem);
        (void)status;
        PyMem_Free(latest);
    }
}

void ocl_region_release(Memory *self) {
    self->region->users--;
    self->region = NULL;
    ocl_region_drop_unused(whole_of(self));
}

static PyObject *list_regions(PyObject *Py_UNUSED(module), PyObject *flag) {
    int wanted = PyObject_IsTrue(flag);
    if (wanted < 0) {
        return NULL;
    }
    listed_always = wanted;
    Py_RETURN_NONE;
}

static PyObject *count_regions(PyObject *module, PyObject *obj) {
    State *state = PyModule_GetState(module);
    Memory *memory = ocl_as_memory(state, obj, "_count_regions", "buffer", NULL);
    size_t n = 0;
    for (Region *region = memory != NULL ? whole_of(memory)->regions : NULL; region != NULL;
         region = region->older) {
        n++;
    }
    return memory != NULL ? PyLong_FromSize_t(n) : NULL;
}

PyMethodDef ocl_region_functions[] = {
    {"_list_regions", list_regions, METH_O,
     "_list_regions(flag, /)\n--\n\n(flag: bool, /) -> None\n\nGive regions back in the reverse "
     "order of their making on every driver. For tests only."},
    {"_count_regions", count_regions, METH_O,
     "_count_regions(buffer, /)\n--\n\n(buffer: MemoryObjectHolder, /) -> int\n\nRegions of a "
     "buffer whose order of release is kept. For tests only."},
    {NULL, NULL, 0, NULL},
};
