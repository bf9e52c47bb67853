/* sim.h - shared by the files of libpygpu_cudasim.
 *
 * The library exports the symbols of the CUDA driver and of NVRTC (the rows of
 * src/cuda/api/cuda.fn and src/cuda/api/nvrtc.fn) and, besides these, only
 * pygpuSimLastErrorDetail, pygpuSimReadOutput, pygpuSimWaiting, pygpuSimStop and pygpuSimUse.
 *
 * Its folders, each of which includes only those above it in this list:
 *
 *   image     reading shared objects: sections, symbols, line tables
 *   compiler  NVRTC: CUDA C++ to a shared object with the machine's C++ compiler
 *   device    allocations (device addresses are host addresses); loaded images, their kernels
 *             and variables
 *   exec      blocks and threads: fibers, barriers, warp operations, the pool of workers, faults
 *             inside kernels
 *   driver    the driver's calls, which queue work that exec and device do
 *
 * The library does not use Python. Every function may be called from any thread; messages go into
 * the thread's detail text, never to stderr. */
#ifndef PYGPU_SIM_H
#define PYGPU_SIM_H

#include "cuda/api/cu_api.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define SIM_EXPORT      __attribute__((visibility("default")))
#define SIM_HIDDEN      __attribute__((visibility("hidden")))
#define SIM_LIKELY(x)   __builtin_expect(!!(x), 1)
#define SIM_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define COUNT(array)    (sizeof(array) / sizeof((array)[0]))

/* Returns early if the call failed, with its status. */
#define SIM_TRY(expression)              \
    do {                                 \
        CUresult status_ = (expression); \
        if (status_ != CUDA_SUCCESS) {   \
            return status_;              \
        }                                \
    } while (0)

typedef struct {
    unsigned x, y, z;
} SimDim3;

/* ---- error details beyond the status, appended to exceptions by pygpu --------------- */

/* Stores a text for this thread and returns the code, so that callers can return it. */
CUresult sim_fail(CUresult code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Details of this thread's last failure, or ""; valid until the thread's next failure. */
SIM_EXPORT const char *pygpuSimLastErrorDetail(void);
/* Sets whom this thread asks, while it waits for a compiler, whether to stop. NULL ends that. */
SIM_EXPORT void pygpuSimWaiting(const CuWaiting *waiting);
/* Stops this thread's launches; see sim_exec_stop. */
SIM_EXPORT int pygpuSimStop(char *text, size_t size);
/* A failure on a worker thread, reported by the next call that synchronizes. */
typedef struct {
    CUresult code;
    char text[1000];
} SimError;

/* ---- threads
 * ----------------------------------------------------------------------------------- */

/* Whether the calling thread has its thread-local storage; false: out of memory. */
bool sim_thread_ready(void);
/* Whether there is memory for storage of that size, which must be touched at once. */
bool sim_thread_room(size_t size);
void sim_thread_module(void); /* call it when another library with such storage is loaded */

/* ---- memory ---------------------------------------------------------------------------------- */

typedef enum { SIM_DEVICE, SIM_MANAGED, SIM_HOST, SIM_REGISTERED, SIM_ARRAY, SIM_VARIABLE } SimKind;

typedef struct {
    uintptr_t base;
    size_t size; /* as requested */
    size_t used; /* the bytes that its owner uses now: see pygpuSimUse */
    SimKind kind;
    bool freed; /* freed recently: for messages only, must not be accessed */
    CUcontext context;
    unsigned flags;
} SimBlock;

/* The owner of an allocation: a context (NULL: none, the allocation belongs to an object) and its
 * device. */
typedef struct {
    CUcontext context;
    CUdevice device;
} SimOwner;
#define SIM_NO_OWNER ((SimOwner){NULL, 0})

/* Finds the allocation that contains address; false: there is none. near: the closest one below
 * it, or one freed recently. */
bool sim_memory_find(uintptr_t address, SimBlock *out);
bool sim_memory_near(uintptr_t address, SimBlock *out);
CUresult sim_memory_alloc(SimOwner owner, size_t size, SimKind kind, unsigned flags,
                          uintptr_t *out);
CUresult sim_memory_free(uintptr_t base, SimKind kind);
/* Adds memory that somebody else owns: SIM_REGISTERED host memory, SIM_VARIABLEs of modules.
 * sim_memory_free removes it. */
CUresult sim_memory_adopt(SimOwner owner, uintptr_t base, size_t size, SimKind kind,
                          unsigned flags);
/* Changes whenever an allocation is added or removed: cached results of sim_memory_find are valid
 * as long as it stays the same. */
uint64_t sim_memory_epoch(void);

/* ---- exec ------------------------------------------------------------------------------------ */

/* A kernel with its launcher, which the compiler makes for each kernel, and which runs one block
 * on the calling thread. */
typedef struct SimKernel SimKernel;

/* A thread of the program, and which of its requests for work this was. */
typedef struct {
    uint64_t thread, number;
} SimOrigin;

typedef struct {
    SimDim3 grid, block, cluster;
    size_t shared; /* dynamic [bytes] */
    bool cooperative;
    void **params; /* addresses of the arguments, which must stay valid during the call */
    SimOrigin origin;
} SimLaunch;

/* Runs a whole launch and returns when it is done. On a failure, fills error with a message that
 * names the kernel, block and thread, and returns the code. The calling thread takes part; several
 * threads may run launches at once. The launch must have passed sim_exec_check. Output of kernels
 * is kept until sim_output_flush. */
CUresult sim_exec(const SimKernel *kernel, const SimLaunch *launch, SimError *error);
/* Stops the launches that a thread has requested up to *last*: those that run, at the next
 * instruction of their own code, and those whose turn is yet to come. Writes the message of the
 * first one stopped, or "", and returns how many system threads still run such launches: they may
 * be in other code, so the caller repeats the call. */
int sim_exec_stop(SimOrigin last, char *text, size_t size);
/* Checks block, grid and shared memory before a launch is queued. */
CUresult sim_exec_check(const SimKernel *kernel, const SimLaunch *launch);

/* Runs act, which may access memory that was freed in the meantime. Returns false in that case,
 * and sets *address. */
bool sim_guarded(void (*act)(const void *what), const void *what, uintptr_t *address);

/* The most shared memory that a kernel may request in total [bytes]. */
#define SIM_SHARED_DEFAULT 49152
#define SIM_SHARED_MOST    232448
/* Stacks of a block's threads: as large as CU_LIMIT_STACK_SIZE, at least 68 KiB. */
#define SIM_STACKS_TOTAL (250ul << 20)
size_t sim_stack_size(void);
CUresult sim_set_stack_size(size_t size);

/* Writes the output of kernels to C's stdout, unless pygpuSimReadOutput has been called.
 * Synchronizing calls call it. */
void sim_output_flush(void);
/* Moves up to size bytes of the output of kernels to buffer and returns their number. From the
 * first call on (size may be 0), the output is kept for the caller, who writes it to sys.stdout. */
SIM_EXPORT size_t pygpuSimReadOutput(char *buffer, size_t size);
size_t sim_heap_size(void); /* CU_LIMIT_MALLOC_HEAP_SIZE, for malloc and new in kernels */
void sim_set_heap_size(size_t size);

/* ---- module ---------------------------------------------------------------------------------- */

typedef struct SimModule SimModule;

CUresult sim_module_load(SimOwner owner, const void *image, size_t size /* 0: unknown */,
                         SimModule **out);
void sim_module_unload(SimModule *module);
CUresult sim_module_kernel(SimModule *module, const char *name, SimKernel **out);
CUresult sim_module_variable(SimModule *module, const char *name, uintptr_t *address, size_t *size);
/* The byte with which the C++ compiler fills uninitialized locals; least: how many such bytes
 * count as uninitialized. */
unsigned char sim_module_unset(const SimModule *module, unsigned *least);
const char *sim_kernel_name(const SimKernel *kernel);
int sim_kernel_n_params(const SimKernel *kernel);
void sim_kernel_param(const SimKernel *kernel, int index, size_t *offset, size_t *size);
int sim_kernel_in_regions(const SimKernel *kernel);
CUresult sim_kernel_attribute(const SimKernel *kernel, CUfunction_attribute attribute, int *value);
CUresult sim_kernel_set_attribute(SimKernel *kernel, CUfunction_attribute attribute, int value);

/* ---- settings, read from the environment once ------------------------------------------------ */

/* of a cooperative launch: one system thread each; max_active_blocks() leads to no more. */
#define SIM_COOPERATIVE_BLOCKS 1024u
int sim_threads(void);            /* PYGPU_SIM_THREADS: workers, at least 1 */
double sim_compile_timeout(void); /* PYGPU_SIM_COMPILE_TIMEOUT, 600: seconds that a run of the C++
                                     compiler may take, 0: no limit */
double sim_timeout(void); /* PYGPU_SIM_TIMEOUT, 120: seconds that a launch may run, 0: no limit */
bool sim_checked(void);   /* PYGPU_SIM_CHECK=1 */
bool sim_fibers(void);    /* PYGPU_SIM_FIBERS=1: kernels are not split at their barriers */
bool sim_deferred(void);  /* PYGPU_SIM_DEFERRED=1: commands run only at synchronization */
int sim_driver_version(
    void); /* PYGPU_SIM_VERSION, 13000: newer symbols are hidden from cuGetProcAddress and fail */
int sim_architecture(void); /* PYGPU_SIM_ARCH, 90: compute capability 9.0 */
int sim_device_count(void); /* PYGPU_SIM_DEVICES, 1 */
size_t sim_device_memory(
    void); /* PYGPU_SIM_MEMORY [bytes], default 4 GiB or half of the machine's */
bool sim_debug(
    void); /* PYGPU_SIM_DEBUG=1: kernels are compiled for a debugger, and files are kept for it */
const char *sim_settings_wrong(void); /* invalid values, and what is valid; NULL if all are valid */
/* PYGPU_SIM_ORDER=forward, reverse or shuffle[:seed]: the order in which blocks run */
typedef enum { SIM_FORWARD, SIM_REVERSE, SIM_SHUFFLE } SimOrder;
SimOrder sim_order(unsigned long long *seed);

/* ---- time ------------------------------------------------------------------------------------ */

/* [ns] */
static inline uint64_t sim_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

#endif
