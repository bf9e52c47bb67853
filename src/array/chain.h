/* chain.h - elementwise operations in a row, which become one launch.
 *
 * A chain is watched first: its operations are launched one by one, and what it consisted of is
 * counted. Python makes a kernel for a chain that comes again and again
 * (pygpu/_src/array/chain_compiler.py). From then on, operations that begin such a chain are
 * deferred until it is complete, or until any other command is about to reach the driver
 * (common/deferral.h). Results that the program has dropped by then are never written to memory. */
#ifndef PYGPU_ARRAY_CHAIN_H
#define PYGPU_ARRAY_CHAIN_H

#include "array/launch_plan.h"

#define CHAIN_STEPS    28
#define CHAIN_LEAVES   12
#define CHAIN_NUMBERS  CHAIN_OPERANDS
#define CHAIN_OPERANDS 22 /* leaves and numbers */
#define CHAIN_DIMS     ARRAY_INLINE_DIMS
#define CHAIN_WORDS    512
#define CHAINS_MOST    4096 /* that have a kernel, of a backend */

/* Where an operand of a step comes from: a leaf, the result of a step, or a number. */
enum { FROM_LEAF = 0, FROM_STEP = 100, FROM_NUMBER = 200 };

/* How an array lies in memory. */
typedef struct {
    PyObject *memory;
    Py_ssize_t offset;
    int type, ndim;
    Py_ssize_t dims[2 * CHAIN_DIMS]; /* shape, then strides [bytes] */
} Place;

/* The launch of one operation by itself. kernel, sizes, local, numbers: as in Step of a plan, but
 * numbers may be a single int. kernel NULL, as the others: a copy by the driver, of arrays without
 * gaps in the same order. */
typedef struct {
    int op; /* which operation: 0 for what takes no part in chains */
    PyObject *kernel, *sizes, *local, *numbers;
} ChainLaunch;

typedef struct {
    ChainLaunch launch;
    int n; /* operands, without the result */
    short sources[CALL_MAX];
    PyObject *objects[CALL_MAX + 1];  /* owned: the result's memory, then the operands: memory, or
                                         numbers */
    Py_ssize_t offsets[CALL_MAX + 1]; /* -1: a number */
    Place out;                        /* memory: borrowed from objects; NULL: dropped unread */
    int uses;                         /* references of the chain to it, as a result of this step */
} ChainStep;

/* A reduction of a step's result, with which a chain ends. Numbers of operations from here on are
 * of reductions. */
#define CHAIN_REDUCTIONS (1 << 20)

typedef struct {
    Plan *plan;     /* owned, as are memory and scratch; NULL: there is none */
    int op, source; /* which reduction; of which step */
    PyObject *memory, *scratch;
    Place out;
} ChainEnd;

/* How much of a chain is filled. */
typedef struct {
    int leaves, numbers;
    int rewrites; /* some memory is written that was in the chain before */
    size_t words;
    uint64_t hash;
} ChainMark;

typedef struct {
    Table *table; /* owned, as are the next two; NULL: the chain is empty */
    PyObject *backend, *queue;
    PyObject *event; /* OpenCL: a list, empty until the event of the launch is there, which arrays
                        have for their own until then; or NULL */
    int deferred;    /* else the steps are launched, and only counted */
    int resumed;     /* it began with steps that were parked (chain_park.c) */
    int n_steps, ndim;
    Py_ssize_t shape[CHAIN_DIMS];
    ChainMark now, before;              /* hash: of the words; before: without the last step */
    uint64_t prefixes[CHAIN_STEPS + 1]; /* the last: with the reduction at the end */
    Py_ssize_t key[CHAIN_WORDS];
    ChainStep steps[CHAIN_STEPS];
    Place leaves[CHAIN_LEAVES];
    PyObject *numbers[CHAIN_NUMBERS]; /* borrowed from the steps */
    ChainEnd end;
    uint32_t live; /* once it was launched: the results that were to be written */
} Chain;

extern int arr_chain_mode; /* 0: off; 1: on; 2: every chain waits until it must go, for tests */
extern volatile int arr_chain_wanted; /* chain_report() has something to do */
extern int arr_chain_own;             /* a step of a watched chain is being launched */
void chain_go_on(void);
/* After the launch of a step that was not deferred. */
static inline void chain_launched(void) {
    if (arr_chain_own) {
        chain_go_on();
    }
}

/* A step that is to be launched: 1 if it was deferred, else 0; then chain_launched() is to be
 * called after the launch. */
int chain_add(const ChainLaunch *launch, GPUArray *first, GPUArray *out, PyObject *const *operands,
              int n);
/* The number of the operation that copies items of a dtype; 0: it takes no part. */
int chain_copying(int type);
/* The same for a plan that reduces one array: it may be the end of the chain that computes it. */
int chain_add_end(Plan *plan, GPUArray *first, GPUArray *out, const GPUArray *operand);
/* Reports frequent chains to Python; to be called where any code may run. */
int chain_report(void); /* -1 with an exception that is the program's, such as Ctrl-C */
void chain_wake(void);  /* there is a new kernel: watching is worth its time again */
/* Launches deferred work. If that fails, the next command of the backend does, with the status. */
void chain_flush(void);
void chain_flush_late(void); /* the same, where the program did nothing */

/* chain_key.c */
/* 1: the step is the chain's last now; 0: it does not belong to it, or there is no room. */
int chain_append(Chain *chain, const ChainLaunch *launch, GPUArray *first, GPUArray *out,
                 PyObject *const *operands, int n);
/* Appends step i of another chain, which computes it no longer. The same answers; after a 0 an
 * empty chain is to be cleared. */
int chain_append_again(Chain *chain, const Chain *from, int i);
void chain_remove_last(Chain *chain);
/* The same for a reduction at the end. *scratch: memory between its launches, which a deferred one
 * needs; NULL afterwards if it was taken over. */
int chain_append_end(Chain *chain, Plan *plan, GPUArray *first, GPUArray *out,
                     const GPUArray *operand, PyObject **scratch);
void chain_remove_end(Chain *chain);
void chain_clear(Chain *chain);
/* Whether a step, or the reduction at the end, reads or writes this memory. */
int chain_touches(const Chain *chain, const PyObject *memory);
/* Lets go of results that the program has dropped. */
void chain_sweep(Chain *chain);
/* Which results are still of interest, one bit each. */
uint32_t chain_live(const Chain *chain);

/* chain_end.c */
/* Whether the program has the result of the reduction. */
static inline int chain_end_live(const Chain *chain) {
    return chain->end.plan != NULL && Py_REFCNT(chain->end.memory) > 1;
}
/* Steps, and the reduction at the end. */
static inline int chain_length(const Chain *chain) {
    return chain->n_steps + (chain->end.plan != NULL);
}
/* Launches the reduction by itself: the event, or None; NULL with an exception. */
PyObject *chain_launch_end(const Chain *chain);
/* Where a fused kernel leaves the parts of the results, or the results. 0, or -1 with an
 * exception. */
int chain_put_end(Args *args, const ChainEnd *end);
/* Joins the parts, by (kernel, sizes, local, numbers). */
PyObject *chain_launch_join(const Chain *chain, PyObject *join);

/* chain_park.c */
extern Chain arr_chain_parked; /* empty, or steps whose results are still to be computed */
/* Which results of a chain that ends with a reduction may wait although the program has them. */
uint32_t chain_parkable(const Chain *chain, uint32_t live);
void chain_park(const Chain *chain, uint32_t results);
/* Forgets the steps if the program has dropped their results, or if it is time. 1: they are to be
 * launched, before this chain (NULL: before anything). */
int chain_parked_must_go(const Chain *before);
/* Whether the array's memory is written by a step, or by the reduction at the end. */
int chain_is_result(const Chain *chain, const GPUArray *array);
/* Whether an operand is a result that is parked. */
int chain_is_parked(PyObject *const *operands, int n);
/* Moves the parked steps to an empty chain, as its first ones. */
void chain_resume(Chain *chain);
void chain_park_failed(void); /* steps that were moved were of no use there */

/* chain_timer.c */
extern long arr_chain_wait_us; /* how long a chain waits, or twice that, but for getting the GIL */
void chain_timer_start(unsigned long serial);   /* the chain of this number began to wait */
extern volatile unsigned long arr_chain_serial; /* changes whenever a chain begins or ends */

/* chain_store.c: chains that are known */
int chain_prefix_known(uint64_t hash);
/* A chain that has a kernel would go on like this, to a prefix that is not known. If that comes
 * often, the longer chain is deferred too, so that it is counted and gets a kernel. */
void chain_goes_on(uint64_t hash);
void chain_forget_counts(void);
/* Launches the kernel for the whole chain: its event, or None. NULL: there is no kernel, or an
 * exception. */
PyObject *chain_launch(const Chain *chain, uint32_t live);
/* Counts it. */
enum { CHAIN_NEW, CHAIN_SEEN, CHAIN_FREQUENT /* now: to be reported */, CHAIN_REPORTED };
int chain_count(const Chain *chain, uint32_t live);
PyObject *chain_describe(const Chain *chain, uint32_t live); /* for Python; NULL on failure */
typedef struct {
    long watched, deferred, fused, unfused, compiled;
} ChainCounts;
extern ChainCounts arr_chain_counts;
extern long arr_chain_often;  /* a chain is frequent after so many times */
void arr_forget_chains(void); /* at the end of the process */

#endif
