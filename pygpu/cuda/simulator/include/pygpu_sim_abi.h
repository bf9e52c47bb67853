/* pygpu_sim_abi.h - what a compiled module and the simulator's library (src/simulator) have to agree upon. C11 and C++17.
 *
 * A worker is an operating system's thread that runs one block at a time. Everything that runs for a block runs on stacks inside the
 * worker's region, SIM_REGION bytes at a multiple of SIM_REGION, which begins with the SimContext. So device code finds its context
 * from the stack pointer, at any depth, without asking for thread-local storage. A change here changes SIM_ABI: cached images are
 * made again. */
#ifndef PYGPU_SIM_ABI_H
#define PYGPU_SIM_ABI_H

#define SIM_ABI 12
#define SIM_REGION 0x10000000ul /* 256 MiB of addresses, of which only what is touched exists */
#define SIM_WARP 32u

typedef struct { unsigned x, y, z; } SimTriple;
typedef unsigned long long SimWord; /* what a lane gives to and gets from a warp operation */
typedef struct SimContext SimContext;

/* Warp operations: value is this lane's contribution, argument as said. All lanes of mask meet; each gets its own result. */
enum {
    SIM_WARP_SYNC,       /* __syncwarp: nothing */
    SIM_WARP_READ,       /* the value of the lane `argument` (0..31); of the asking lane itself where that one is not in mask */
    SIM_WARP_BALLOT,     /* lanes whose value is not 0 */
    SIM_WARP_MATCH_ANY,  /* lanes with the same value */
    SIM_WARP_MATCH_ALL,  /* mask if all values are the same, 0 otherwise */
    SIM_WARP_ACTIVE,     /* __activemask: lanes that came to the same place; mask is ignored, value and argument tell the place */
    SIM_WARP_ADD, SIM_WARP_MIN, SIM_WARP_MAX, SIM_WARP_MIN_SIGNED, SIM_WARP_MAX_SIGNED, /* on 64 bits */
    SIM_WARP_AND, SIM_WARP_OR, SIM_WARP_XOR,
    SIM_WARP_STEP,       /* lanes that come to the same place, `argument`, go on together; of several places, the least first */
    SIM_WARP_OPS
};
enum { SIM_SYNC_COUNT, SIM_SYNC_AND, SIM_SYNC_OR };
/* Kinds of accesses to memory, added up; an update is a write whose result depends on what was there, a fence none at all */
enum { SIM_ACCESS_WRITE = 1, SIM_ACCESS_ATOMIC = 2, SIM_ACCESS_UNALIGNED = 4, SIM_ACCESS_UPDATE = 8, SIM_ACCESS_FENCE = 16 };
enum { SIM_SPACE_GLOBAL, SIM_SPACE_SHARED, SIM_SPACE_LOCAL };
/* Numbers of CUresult with which device code ends a kernel. */
enum { SIM_FAIL_ASSERT = 710, SIM_FAIL_TRAP = 719, SIM_FAIL_ILLEGAL = 700, SIM_FAIL_UNSUPPORTED = 801 };

/* Functions of the library for device code. Any of them may switch to another thread of the block, or never return. */
typedef struct {
    void (*sync)(SimContext *);                                               /* __syncthreads */
    int (*sync_reduce)(SimContext *, int kind, int predicate);                /* __syncthreads_count, _and, _or */
    SimWord (*warp)(SimContext *, int operation, unsigned mask, SimWord value, SimWord argument);
    void (*grid_sync)(SimContext *);                                          /* all threads of a cooperative launch */
    void (*thread_end)(SimContext *);                                         /* somebody waits, and one thread less will come */
    void (*yield)(SimContext *);                                              /* in loops that wait for other threads */
    int (*vprint)(SimContext *, const char *format, __builtin_va_list *values);
    void (*assertion)(SimContext *, const char *text, const char *file, unsigned line, const char *function);
    void (*fail)(SimContext *, int code, const char *text);
    void *(*allocate)(SimContext *, unsigned long long size, unsigned long long alignment);
    void (*release)(SimContext *, void *address);
    unsigned long long (*nanoseconds)(void);
    void (*frame)(SimContext *, unsigned long long size);                     /* at least that much at c->frame; the same for all threads */
    void (*access)(SimContext *, const void *address, unsigned long long size, int kind, const void *site); /* PYGPU_SIM_CHECK */
    int (*space)(SimContext *, const void *address);                          /* a SIM_SPACE_ */
} SimRuntime;

struct SimContext {
    SimTriple thread; /* threadIdx of the thread that runs now; with linear, copied as 16 bytes */
    unsigned linear;  /* its number in the block */
    SimTriple block;  /* blockIdx */
    unsigned threads; /* threads of a block */
    SimTriple block_size, grid_size;
    SimTriple cursor; /* threadIdx of the thread that is started next */
    unsigned next;    /* its number */
    unsigned alive;   /* threads of the block that have not returned */
    unsigned waiting; /* fibers that wait at a barrier or a warp operation */
    unsigned cooperative;
    unsigned alone;   /* `block` of a kernel without `threads` runs the context's thread only */
    char *dynamic;    /* dynamic shared memory */
    unsigned long long dynamic_size;
    void *const *params; /* addresses of the arguments */
    const SimRuntime *runtime;
    char *frame;         /* of kernels in regions: the variables that threads keep across barriers */
    unsigned long long frame_size;
    unsigned ended[32];  /* of each warp, the lanes that have returned */
};

/* How a kernel is run: section "sim_kernels" has the address of one for each. */
typedef struct {
    void *function;                 /* the kernel's symbol, for its name */
    /* Starts threads of the context's block until none is left; several stacks may be inside. NULL: `block` does it, one by one. */
    void (*threads)(SimContext *);
    /* Runs all threads of the context's block in loops if the kernel is in regions; otherwise those with its thread's z.
     * NULL where threads may have to wait or be identified. Without `threads` their indices along x in the grid fit into an int, and it runs one
     * thread if the context says so: then there is one function to compile, not two. */
    void (*block)(SimContext *);
    const unsigned *sizes;          /* sizes and alignments of the parameters, in turn [bytes] */
    unsigned n_params;
    unsigned max_threads;           /* __launch_bounds__, 0: none */
    unsigned regions;               /* 1: it has barriers, and `block` is cut there; only for grids of less than 2^31 threads along x */
} SimEntry;

/* Variables that hold the address of the block's dynamic shared memory, one for each thread of the system: section "sim_dynamic" has the
 * addresses of these. set returns where the variable is. */
typedef struct { void *(*set)(char *dynamic); } SimDynamic;

/* The names given to nvrtcAddNameExpression: section "sim_names" has their addresses. */
typedef struct { unsigned long long number; const void *address; } SimName;

#endif
