/* chain.h - consecutive elementwise operations, which become one launch.
 *
 * At first a chain is only watched: its operations are launched one by one, and the chain is
 * counted. Python compiles a kernel for a frequent chain (pygpu/_src/array/chain_compiler.py). From
 * then on, operations that begin such a chain are deferred until it is complete, or until any other
 * command is about to reach the driver (common/deferral.h). Results that the program has dropped by
 * then are never written to memory. */
#ifndef PYGPU_ARRAY_CHAIN_H
#define PYGPU_ARRAY_CHAIN_H

#include "array/launch_plan.h"

#define CHAIN_STEPS    28
#define CHAIN_LEAVES   12
#define CHAIN_NUMBERS  CHAIN_OPERANDS
#define CHAIN_OPERANDS 22 /* leaves and numbers */
#define CHAIN_DIMS     ARRAY_INLINE_DIMS
#define CHAIN_WORDS    512
#define CHAINS_MOST    4096 /* chains of a backend with a kernel */

/* Where an operand of a step comes from: a leaf, the result of a step, or a number. */
enum { FROM_LEAF = 0, FROM_STEP = 100, FROM_NUMBER = 200 };

/* An array's memory, dtype and layout. */
typedef struct {
    PyObject *memory;
    Py_ssize_t offset;
    int type, ndim;
    Py_ssize_t dims[2 * CHAIN_DIMS]; /* shape, then strides [bytes] */
} ArrayDesc;

/* The launch of one operation by itself. kernel, sizes, local, numbers: as in Step of a plan, but
 * numbers may be a single int. All are NULL for a copy by the driver, of arrays without gaps in the
 * same order. */
typedef struct {
    int op; /* the operation's number; 0 if it cannot be part of a chain */
    PyObject *kernel, *sizes, *local, *numbers;
} ChainLaunch;

typedef struct {
    ChainLaunch launch;
    int n; /* operands, without the result */
    short sources[CALL_MAX];
    PyObject *objects[CALL_MAX + 1];  /* owned: the result's memory, then the operands: memory, or
                                         numbers */
    Py_ssize_t offsets[CALL_MAX + 1]; /* -1: a number */
    ArrayDesc out;                    /* memory: borrowed from objects; NULL: dropped unread */
    int uses;                         /* the chain's references to the result's memory */
} ChainStep;

/* Operation numbers from here on are reductions. */
#define CHAIN_REDUCTIONS (1 << 20)

/* A reduction of a step's result, at the end of a chain. */
typedef struct {
    Plan *plan;     /* owned, as are memory and scratch; NULL: no reduction */
    int op, source; /* the reduction's number; the step that it reduces */
    PyObject *memory, *scratch;
    ArrayDesc out;
} ChainEnd;

/* The counts of a chain that grow with each step. */
typedef struct {
    int leaves, numbers;
    int rewrites; /* a step writes memory that an earlier one uses */
    size_t words;
    uint64_t hash;
} ChainMark;

typedef struct {
    Table *table; /* owned, as are the next two; NULL: the chain is empty */
    PyObject *backend, *queue;
    PyObject *event; /* OpenCL: the results' list of events, empty until the launch; or NULL */
    int deferred;    /* otherwise the steps were launched, and are only counted */
    int resumed;     /* it began with carried steps (chain_carry.c) */
    int n_steps, ndim;
    Py_ssize_t shape[CHAIN_DIMS];
    ChainMark now, before;              /* before: without the last step */
    uint64_t prefixes[CHAIN_STEPS + 1]; /* hashes after each step, and after the reduction */
    Py_ssize_t key[CHAIN_WORDS];
    ChainStep steps[CHAIN_STEPS];
    ArrayDesc leaves[CHAIN_LEAVES];
    PyObject *numbers[CHAIN_NUMBERS]; /* borrowed from the steps */
    ChainEnd end;
    uint32_t live; /* the results written by the launch, one bit each */
} Chain;

extern int arr_chain_mode; /* 0: off; 1: on; 2: every chain waits until it must go, for tests */
extern volatile int arr_chain_report_pending; /* chain_report() has something to do */
extern int arr_chain_own_launch;              /* a step of a watched chain is being launched */
void chain_end_own_launch(void);
/* After the launch of a step that was not deferred. */
static inline void chain_launched(void) {
    if (arr_chain_own_launch) {
        chain_end_own_launch();
    }
}

/* Adds an operation. Returns 1 if it was deferred; otherwise the caller launches it and then calls
 * chain_launched(). */
int chain_add(const ChainLaunch *launch, GPUArray *first, GPUArray *out, PyObject *const *operands,
              int n);
/* Returns the number of the operation that copies items of a dtype; 0 if there is none. */
int chain_copy_operation(int type);
/* Like chain_add(), for a reduction of one array, which may end the chain that computes it. */
int chain_add_end(Plan *plan, GPUArray *first, GPUArray *out, const GPUArray *operand);
/* Reports frequent chains to Python; may run any code. Returns -1 with an exception such as
 * KeyboardInterrupt. */
int chain_report(void);
void chain_reset_backoff(void); /* there is a new kernel */
/* Launches deferred work. A failure is reported by the backend's next command. */
void chain_flush(void);
void chain_flush_by_timer(void); /* the same, where the program did nothing */

/* pending.c */
extern volatile int arr_pending; /* launches that wait for their kernel */
/* Appends a callable that waits for the kernel and returns what to launch: (kernel, arguments,
 * keywords) or None. Returns 0, or -1 with an exception. */
int pending_append(PyObject *launch);
/* Given what raised the current exception; clears it and returns a driver's status. */
typedef int (*PendingFailed)(PyObject *launch);
/* Runs the launches, which may run any code. Returns 0, or the first failure's status. */
int pending_run(PendingFailed failed);
void pending_clear(void);

/* chain_key.c */
/* Appends a step. Returns 0 if the chain cannot have it. */
int chain_append(Chain *chain, const ChainLaunch *launch, GPUArray *first, GPUArray *out,
                 PyObject *const *operands, int n);
/* Appends step i of another chain. Returns 0 if there is no room; an empty chain must then be
 * cleared. */
int chain_append_copy(Chain *chain, const Chain *from, int i);
void chain_remove_last(Chain *chain);
/* Appends a reduction. *scratch: memory for its launches, needed if it is deferred; set to NULL if
 * it was taken over. */
int chain_append_end(Chain *chain, Plan *plan, GPUArray *first, GPUArray *out,
                     const GPUArray *operand, PyObject **scratch);
void chain_remove_end(Chain *chain);
void chain_clear(Chain *chain);
/* Whether a step, or the reduction at the end, reads or writes this memory. */
int chain_touches(const Chain *chain, const PyObject *memory);
/* Releases results that the program has dropped. */
void chain_sweep(Chain *chain);
/* Returns the results that the program still references, one bit each. */
uint32_t chain_live(const Chain *chain);

/* chain_end.c */
/* Whether the program still references the result of the reduction. */
static inline int chain_end_live(const Chain *chain) {
    return chain->end.plan != NULL && Py_REFCNT(chain->end.memory) > 1;
}
/* The number of steps, with the reduction. */
static inline int chain_length(const Chain *chain) {
    return chain->n_steps + (chain->end.plan != NULL);
}
/* Launches the reduction by itself. Returns the event or None; NULL with an exception. */
PyObject *chain_launch_end(const Chain *chain);
/* Adds the arguments for the reduction's (partial) results of a fused kernel. Returns 0, or -1 with
 * an exception. */
int chain_put_end(Args *args, const ChainEnd *end);
/* Launches (kernel, sizes, local, numbers), which joins the partial results. */
PyObject *chain_launch_join(const Chain *chain, PyObject *join);

/* chain_carry.c */
extern Chain arr_chain_carried; /* the steps carried over to a later chain */
/* Returns the results of a chain with a reduction that may be carried over. */
uint32_t chain_carry_candidates(const Chain *chain, uint32_t live);
void chain_carry(const Chain *chain, uint32_t results);
/* Whether the carried steps must be launched before this chain (NULL: before any command). Drops
 * them if the program has dropped their results. */
int chain_must_flush_carried(const Chain *before);
/* Whether the array's memory is written by a step, or by the reduction at the end. */
int chain_is_result(const Chain *chain, const GPUArray *array);
/* Whether an operand is a carried result. */
int chain_is_carried(PyObject *const *operands, int n);
/* Moves the carried steps to an empty chain. */
void chain_resume(Chain *chain);
void chain_carry_failed(void); /* the operation could not be appended to the resumed steps */

/* chain_timer.c */
extern uint32_t arr_chain_wait_us; /* a chain waits this long to twice as long, and for the GIL */
void chain_timer_start(unsigned long serial);   /* for the chain with this serial number */
extern volatile unsigned long arr_chain_serial; /* changes whenever a chain begins or ends */

/* chain_store.c */
int chain_prefix_known(uint64_t hash);
/* Counts an unknown extension of a chain with a kernel. If it is frequent, the longer chain is
 * deferred, too, so that it gets counted and compiled. */
void chain_count_extension(uint64_t hash);
void chain_forget_counts(void);
/* Launches the kernel for the whole chain. Returns the event or None; NULL if there is no kernel,
 * or with an exception. */
PyObject *chain_launch(const Chain *chain, uint32_t live);
enum { CHAIN_NEW, CHAIN_SEEN, CHAIN_FREQUENT /* to be reported now */, CHAIN_REPORTED };
int chain_count(const Chain *chain, uint32_t live);
PyObject *chain_describe(const Chain *chain, uint32_t live); /* for Python; NULL on failure */
typedef struct {
    long watched, deferred, fused, unfused, compiled;
} ChainCounts;
extern ChainCounts arr_chain_counts;
extern uint32_t arr_chain_threshold; /* occurrences that make a chain frequent */
void arr_clear_chains(void);         /* at the end of the process */

#endif
