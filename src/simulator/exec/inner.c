/* inner.c - the internal interface as a table, for tests of the library without its driver
 * layer. */
#include "simulator/sim.h"

SIM_EXPORT const void *const *pygpuSimInner(void);

static CUresult module_load(CUcontext context, const void *image, size_t size, SimModule **out) {
    return sim_module_load((SimOwner){context, 0}, image, size, out);
}

static CUresult memory_adopt(CUcontext context, uintptr_t base, size_t size, SimKind kind,
                             unsigned flags) {
    return sim_memory_adopt((SimOwner){context, 0}, base, size, kind, flags);
}

const void *const *pygpuSimInner(void) {
    static const void *const table[] = {
        (const void *)module_load,           (const void *)sim_module_unload,
        (const void *)sim_module_kernel,     (const void *)sim_module_variable,
        (const void *)sim_kernel_n_params,   (const void *)sim_kernel_param,
        (const void *)sim_kernel_attribute,  (const void *)sim_kernel_set_attribute,
        (const void *)sim_exec_check,        (const void *)sim_exec,
        (const void *)memory_adopt,          (const void *)sim_memory_free,
        (const void *)sim_kernel_in_regions,
    };
    return table;
}
