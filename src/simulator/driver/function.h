/* function.h - modules of the driver and their functions; options of the JIT compiler. */
#ifndef PYGPU_SIM_FUNCTION_H
#define PYGPU_SIM_FUNCTION_H

#include "simulator/driver/context.h"

typedef struct SimFunction SimFunction;

typedef struct SimDriverModule {
    SimObject object;
    SimModule *module;
    struct SimFunction *functions; /* made so far, under the context's lock */
} SimDriverModule;

struct SimFunction {
    SimObject object;
    SimKernel *kernel;
    SimDriverModule *module; /* counted */
    SimFunction *next;
    int n_params;
    size_t n_bytes; /* of all arguments, as the kernel's parameter space lays them out */
    struct {
        size_t offset, size;
    } * params;
};

/* context: which one it must belong to, or NULL. */
CUresult sim_function_take(SimContext *context, CUfunction handle, SimFunction **out);
CUresult sim_function_of(SimDriverModule *module, SimKernel *kernel, SimFunction **out);
void sim_driver_module_close(SimDriverModule *module); /* with its functions, which hold it */
/* Options of modules and linkers: checked before, logs filled after. */
CUresult sim_jit_check(unsigned int n, const CUjit_option *options, void *const *values);
/* given: the values as they were at first, with the sizes of the logs, which values then get
 * replaced. */
void sim_jit_report(unsigned int n, const CUjit_option *options, void *const *given, void **values,
                    CUresult status);
CUresult sim_read_file(const char *path, void **out,
                       size_t *size); /* malloced, with a zero byte behind */

#endif
