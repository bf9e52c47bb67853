/* module.h - loaded images, for the code that runs their kernels. The rest is in sim.h. */
#ifndef PYGPU_SIM_MODULE_H
#define PYGPU_SIM_MODULE_H

#include "../pygpu/cuda/simulator/include/pygpu_sim_abi.h"
#include "simulator/sim.h"

#define SIM_MAX_THREADS 1024u /* per block, as on every GPU */

struct SimKernel {
    const SimEntry *entry;
    SimModule *module;
    const char *name;
    size_t shared;   /* static shared memory, including that of functions which it may call */
    int max_dynamic; /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
    int carveout, cache_config;
};

/* Whether the calling thread has the module's static shared memory; false: out of memory. */
SIM_HIDDEN bool sim_module_ready(const SimModule *module);
SIM_HIDDEN uint64_t sim_module_number(const SimModule *module); /* unique in the process; not 0 */
SIM_HIDDEN void sim_module_enter(const SimModule *module,
                                 char *dynamic); /* call it before the module's blocks run on this
                                                  * thread */
/* The addresses of the calling thread's variables that point to dynamic shared memory; they are in
 * static shared memory. */
SIM_HIDDEN unsigned sim_module_pointers(const SimModule *module, char *dynamic, uintptr_t *out,
                                        unsigned most);
SIM_HIDDEN bool sim_module_contains(const SimModule *module, uintptr_t pc);
SIM_HIDDEN bool sim_module_image(const SimModule *module,
                                 uintptr_t address); /* whether it is in the module's file */
SIM_HIDDEN const void *sim_module_image_copy(const SimModule *module, size_t *size);
SIM_HIDDEN uintptr_t sim_module_shared(
    const SimModule *module, size_t *size); /* the calling thread's static shared memory */
/* The name of the variable at an offset in it; sets the offset inside the variable. */
SIM_HIDDEN void sim_module_shared_name(const SimModule *module, size_t *offset, char *text,
                                       size_t size);
SIM_HIDDEN const struct LineTable *sim_module_lines(const SimModule *module, uintptr_t *base);

#endif
