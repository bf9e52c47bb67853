/* driver.h - what the files share that make up the driver's calls: objects behind handles,
 * contexts, streams and their work.
 *
 * A call begins with SIM_CALL, takes references to what its handles stand for (HELD variables give
 * them back at the end of the block, whatever the way out) and either answers at once or queues a
 * SimWork on a stream. Streams run behind the caller on threads of queue.c. Lock order: context,
 * then memory; nothing is waited for and no callback is called while a lock is held. */
#ifndef PYGPU_SIM_DRIVER_H
#define PYGPU_SIM_DRIVER_H

#include "simulator/sim.h"
#include "simulator/driver/texture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- the exported functions ------------------------------------------------------------------ */

/* Definitions have the names of the rows, exports their symbols: a definition that differs from its
 * row does not compile, a row without one does not link (symbols.c). */
#define CU_FN(since, name, symbol, parameters) SIM_EXPORT CUresult name parameters __asm__(symbol);
#include "cuda/api/cuda.fn"

enum {
#define CU_FN(since, name, symbol, parameters) ROW_##name,
#include "cuda/api/cuda.fn"
    ROW_COUNT
};

/* Not zero: why calls of a row fail. One byte to read for each call. */
typedef enum { CLOSED_NOT = 0, CLOSED_HIDDEN, CLOSED_FORKED, CLOSED_BEFORE_INIT } SimClosed;
extern _Atomic unsigned char sim_closed[ROW_COUNT];
extern _Thread_local bool
    sim_in_callback; /* a host function or callback runs in this thread: it may not call CUDA */

CUresult sim_refuse(int row); /* the answer of a closed row */
void sim_fail_nothing(void);
CUresult sim_fail_with(const SimError *error);

#define SIM_CALL(name)                                                                           \
    do {                                                                                         \
        if (__builtin_expect(!sim_thread_ready(), 0)) {                                          \
            return CUDA_ERROR_OUT_OF_MEMORY;                                                     \
        }                                                                                        \
        sim_fail_nothing();                                                                      \
        if (atomic_load_explicit(&sim_closed[ROW_##name], memory_order_relaxed) != CLOSED_NOT || \
            sim_in_callback) {                                                                   \
            return sim_refuse(ROW_##name);                                                       \
        }                                                                                        \
    } while (0)

/* Returns what went wrong to the caller's caller. */
#define SIM_TRY(expression)              \
    do {                                 \
        CUresult status_ = (expression); \
        if (status_ != CUDA_SUCCESS) {   \
            return status_;              \
        }                                \
    } while (0)

#define SIM_NOT_NULL(pointer)                                               \
    do {                                                                    \
        if ((pointer) == NULL) {                                            \
            return sim_fail(CUDA_ERROR_INVALID_VALUE, #pointer " is NULL"); \
        }                                                                   \
    } while (0)

/* ---- objects behind handles: handle.c -------------------------------------------------------- */

typedef enum {
    SIM_CONTEXT = 1,
    SIM_STREAM,
    SIM_EVENT,
    SIM_MODULE,
    SIM_FUNCTION,
    SIM_ARRAY_OBJECT,
    SIM_GRAPH,
    SIM_NODE,
    SIM_GRAPH_EXEC,
    SIM_POOL,
    SIM_LINK,
    SIM_TEXTURE
} SimType;

typedef struct SimContext SimContext;

/* First member of each. Counted: the table of handles has one reference until the handle is closed,
 * who works with it has others. */
typedef struct SimObject {
    uintptr_t handle;
    SimType type;
    bool alone;          /* not to be closed with its context (graphs, pools) */
    SimContext *context; /* owner, counted; NULL for contexts and what belongs to none */
    struct SimObject *next, *previous; /* siblings, under the owner's lock */
    void (*free)(void *self);          /* nobody uses it any more; frees the memory */
} SimObject;

/* Gives object its handle, with one reference for the table and one for the caller. OUT_OF_MEMORY:
 * object is as before. */
CUresult sim_object_open(void *object, SimType type, SimContext *context, void (*free)(void *self));
/* The object of a handle with a reference, NULL if it is stale, wild or of another type. */
void *sim_object_take(uintptr_t handle, SimType type);
void *sim_object_keep(void *object);    /* one more reference to what the caller has one of */
bool sim_object_try_keep(void *object); /* the same for an object that may have none left, under a
                                           lock that delays its free */
void sim_object_drop(void *object);     /* NULL does nothing */
bool sim_object_close(void *object); /* the handle is stale from now on; false if it was before */

static inline void sim_drop_held(void *variable) {
    sim_object_drop(*(void **)variable);
}
#define HELD __attribute__((cleanup(sim_drop_held)))

/* ---- devices and contexts -------------------------------------------------------------------- */

#define SIM_MAX_DEVICES            64
#define SIM_SHARED_OPTIN           (227 * 1024) /* the most that a block may have */
#define SIM_SHARED_MULTIPROCESSOR  (228 * 1024)
#define SIM_THREADS_MULTIPROCESSOR 2048
#define SIM_BLOCKS_MULTIPROCESSOR  32
#define SIM_TEXTURE_ALIGNMENT      512
#define SIM_PITCH_ALIGNMENT        512

typedef struct SimStream SimStream;
typedef struct SimPool SimPool;
typedef struct SimCapture SimCapture;

CUresult sim_device_check(CUdevice device);
int sim_device_attribute(CUdevice device, CUdevice_attribute attribute);
/* The default pool of a device (counted for the caller), and the one that cuMemAllocAsync uses. */
CUresult sim_device_pool(CUdevice device, bool current, SimPool **out);

struct SimContext {
    SimObject object;
    CUdevice device;
    unsigned flags, api_version;
    unsigned long long id;
    bool primary;
    bool dead; /* is being destroyed: takes no work. Under lock, as all below */
    pthread_mutex_t lock;
    SimObject *children;
    SimStream *streams; /* all that live, closed or not; linked by SimStream.next */
    int n_captured;     /* streams in step with the default one that are being captured */
    SimStream *legacy;  /* the default stream, counted; NULL once the context is destroyed */
    size_t limits[16];
    CUfunc_cache cache_config;
    CUsharedconfig shared_config;
    unsigned long long peers;    /* one bit for each device that was enabled */
    SimContext *next, *previous; /* all contexts, under a lock of context.c */
    _Atomic int direct;          /* threads that do work themselves: sim_stream_do() */
    _Atomic bool failed;         /* some work failed: error says how, what is queued is skipped */
    _Atomic CUresult sticky;     /* ... and somebody waited and was told: now each call says so */
    SimError error;
};

/* The current context of this thread, with a reference; fails if there is none, if it is destroyed
 * or broken. */
CUresult sim_context_current(SimContext **out);
/* The same where a broken context may still answer. */
CUresult sim_context_current_any(SimContext **out);
CUresult sim_context_take(CUcontext handle, SimContext **out);
CUresult sim_context_new(CUdevice device, unsigned flags, bool primary, SimContext **out);
/* Waits for its work, closes what belongs to it, frees its memory. */
CUresult sim_context_destroy(SimContext *context);
/* What a call that waited returns: the failure of earlier work, if there was one. From then on it
 * sticks. */
CUresult sim_context_settle(SimContext *context);
/* A piece of work failed; the first one counts. */
void sim_context_fail(SimContext *context, const SimError *error);
/* Waits for all streams of the context. */
CUresult sim_context_wait(SimContext *context);
/* Waits for its default stream and those that this waits for. */
void sim_context_wait_default(SimContext *context);
/* Nothing is queued, running or being captured on its default stream and those that this waits
 * for. */
bool sim_context_idle(SimContext *context);
bool sim_context_still(SimContext *context); /* the same, with streams that block nobody */
void sim_contexts_kick(void);                /* deferred mode: what is queued anywhere may run */

static inline CUcontext sim_context_handle(const SimContext *context) {
    return (CUcontext)context->object.handle;
}

/* ---- work ------------------------------------------------------------------------------------ */

typedef struct SimFunction SimFunction;
typedef struct SimMark SimMark;
typedef struct SimProgram SimProgram;

/* A box of bytes on both sides; all memory is the host's, so arrays are boxes with a pitch as
 * well. */
typedef struct {
    uintptr_t to, from;
    size_t width, height, depth; /* [bytes], rows, slices */
    size_t to_pitch, to_slice, from_pitch, from_slice;
} SimBox;

typedef enum {
    WORK_EMPTY,
    WORK_KERNEL,
    WORK_COPY,
    WORK_SET,
    WORK_HOST,
    WORK_CALLBACK,
    WORK_RECORD,
    WORK_FREE,
    WORK_PROGRAM
} SimWorkKind;

#define SIM_INLINE_PARAMS 256

typedef struct SimWork {
    SimWorkKind kind;
    union {
        struct {
            SimFunction *function; /* counted */
            SimDim3 grid, block;
            size_t shared, n_bytes;
            bool cooperative;
            unsigned char
                *more; /* the arguments where they need more than the inline bytes, else NULL */
            _Alignas(16) unsigned char params[SIM_INLINE_PARAMS];
        } kernel;
        struct {
            SimBox box;
            SimObject *objects[2]; /* arrays that must live until then, counted, or NULL */
            void *staging;         /* freed afterwards, or NULL */
        } copy;
        struct {
            uintptr_t to;
            size_t pitch, width, height; /* [bytes], elements, rows */
            unsigned value, element;     /* 1, 2 or 4 bytes */
        } set;
        struct {
            CUhostFn call;
            void *data;
        } host;
        struct {
            CUstreamCallback call;
            void *data;
            CUstream stream;
        } callback;
        SimMark *mark; /* counted */
        struct {
            uintptr_t base;
            unsigned long long id; /* of the block */
        } free;
        SimProgram *program; /* an instantiated graph, counted */
    };
} SimWork;

/* Does it, in this thread. A failure is written into error. */
CUresult sim_work_run(SimWork *work, SimContext *context, SimError *error);
/* Gives back what it holds; done or not. */
void sim_work_clear(SimWork *work);
/* The bytes that there are; what it holds goes over to the new one. */
static inline void sim_work_move(SimWork *to, const SimWork *from) {
    if (from->kind == WORK_KERNEL) {
        memcpy(to, from,
               offsetof(SimWork, kernel.params) +
                   (from->kernel.more == NULL ? from->kernel.n_bytes : 0));
    } else {
        *to = *from;
    }
}
/* A second one with references of its own. */
CUresult sim_work_copy(SimWork *to, const SimWork *from);

/* Copies a box, in this thread. */
void sim_box_copy(const SimBox *box);
/* One end of a copy of bytes: an address, and what is known of it. */
typedef struct {
    uintptr_t address;
    bool device;      /* must be in the table of allocations; else it may be ordinary memory of the
                         program */
    bool ordinary;    /* found to be */
    bool written;     /* the end where bytes go to */
    const char *name; /* in messages */
} SimEnd;
CUresult sim_end_check(SimEnd *end, size_t size);
/* Queues a WORK_COPY between checked ends. now: on the default stream, and the caller waits if the
 * host takes part. */
CUresult sim_copy_submit(SimContext *context, CUstream handle, SimWork *work, const SimEnd *to,
                         const SimEnd *from, bool now);

/* ---- streams: stream.c (the calls), queue.c (running them) ----------------------------------- */

typedef struct {
    SimStream *stream; /* counted */
    uint64_t sequence;
} SimAfter;

typedef struct SimCommand {
    _Atomic(struct SimCommand *) next;
    uint64_t sequence;
    int n_after;
    SimAfter *after; /* runs when these are done */
    SimWork work;
} SimCommand;

typedef struct SimNode SimNode;
typedef struct {
    SimNode **list;
    size_t n;
} SimNodes; /* of one graph, which keeps them */

struct SimStream {
    SimObject object;
    unsigned flags;
    int priority;
    bool blocking;              /* in step with the legacy default stream */
    SimStream *next, *previous; /* in its context */
    uint64_t thread;            /* of which thread it is the per-thread default, 0: of none */
    /* who submits, under the context's lock */
    SimCommand *tail, *spare; /* commands from spare to head are done and get used again */
    int n_after;              /* waits for events, for the next command */
    SimAfter *after;
    _Atomic(SimCapture *) capture; /* counted; NULL: runs as usual */
    SimNodes front;                /* what the next captured node depends on */
    _Atomic uint64_t submitted;
    char apart_[64];
    /* who runs it */
    _Atomic(SimCommand *) head; /* the last one that is done */
    _Atomic uint64_t completed;
    _Atomic uint64_t allowed; /* deferred mode: the last one that may run */
    _Atomic int running;      /* a thread works on it */
    _Atomic int waiters;
    pthread_mutex_t wait_lock;
    pthread_cond_t wait_changed;
};

CUresult sim_stream_new(SimContext *context, unsigned flags, int priority, SimStream **out);
/* The stream of a handle, of the special ones 0, 1 and 2 too, with a reference. */
CUresult sim_stream_take(SimContext *context, CUstream handle, SimStream **out);
/* Queues work (its contents go over to the queue, also on failure) behind what the stream has, and
 * adds it to the graph if the stream is captured. sequence may be NULL. */
CUresult sim_stream_submit(SimStream *stream, SimWork *work, uint64_t *sequence);
/* The next command of stream runs after sequence of other. */
CUresult sim_stream_after(SimStream *stream, SimStream *other, uint64_t sequence);
/* Returns when sequence is done. */
void sim_stream_wait(SimStream *stream, uint64_t sequence);
static inline bool sim_stream_done(SimStream *stream, uint64_t sequence) {
    return atomic_load_explicit(&stream->completed, memory_order_acquire) >= sequence;
}
/* Submits and waits; runs in this thread if nothing is in the way. */
CUresult sim_stream_do(SimStream *stream, SimWork *work);

/* Under the context's lock: adds a command to the queue. */
CUresult sim_queue_push(SimStream *stream, SimWork *work, SimAfter *after, int n_after,
                        uint64_t *sequence);
void sim_queue_start(SimStream *stream);
void sim_queue_brake(SimStream *stream); /* lets a caller who is far ahead wait a little */
void sim_stream_close(SimStream *stream);
CUresult sim_queue_init(SimStream *stream);
void sim_queue_free(SimStream *stream);

/* ---- graphs: graph.c, program.c; capture: capture.c ------------------------------------------ */

typedef struct SimGraph {
    SimObject object;
    pthread_mutex_t lock;
    SimNodes nodes; /* counted; in an order in which they can run */
} SimGraph;

struct SimNode {
    SimObject object;
    size_t index; /* in its graph */
    CUgraphNodeType type;
    SimWork work;
    SimNodes after;
};

CUresult sim_graph_new(SimGraph **out);
CUresult sim_graph_take(CUgraph handle, SimGraph **out);
/* The graph takes work over, also on failure. Under the graph's lock, or before anybody else has
 * it. */
CUresult sim_graph_add(SimGraph *graph, SimWork *work, const SimNodes *after, SimNode **out);
/* Adds what is not there yet. */
CUresult sim_nodes_merge(SimNodes *to, const SimNodes *from);

void sim_program_keep(SimProgram *program);
void sim_program_drop(SimProgram *program);
CUresult sim_program_run(SimProgram *program, SimContext *context, SimError *error);

typedef struct SimCaptured
    SimCaptured; /* a place in a capture: what an event recorded there stands for */

/* A call that a running capture forbids (it would wait or have effects at once): fails and spoils
 * the capture. */
CUresult sim_capture_forbid(SimContext *context, const char *what);
/* A call that waits for, or asks about, this stream. */
CUresult sim_capture_forbid_stream(SimStream *stream, const char *what);
/* Takes the place of queueing while a stream is captured. */
CUresult sim_capture_work(SimStream *stream, SimWork *work);
CUresult sim_capture_record(SimStream *stream,
                            SimCaptured **out); /* NULL: the stream is not captured */
CUresult sim_capture_join(SimStream *stream, SimCaptured *captured);
CUresult sim_capture_spoil(SimStream *stream, CUresult status, const char *text);
void sim_capture_abandon(SimStream *stream);   /* the stream is destroyed */
void sim_captured_keep(SimCaptured *captured); /* NULL does nothing */
void sim_captured_drop(SimCaptured *captured);
uint64_t sim_this_thread(void); /* a number for each thread, from 1 */

/* ---- events ---------------------------------------------------------------------------------- */

/* One recording of an event: a place in a stream, and when it was reached. */
struct SimMark {
    _Atomic int references;
    SimStream *stream;     /* counted */
    uint64_t sequence;     /* 0 until it is queued */
    _Atomic uint64_t time; /* [ns]; 0: not yet, or skipped */
};
void sim_mark_drop(SimMark *mark);

/* ---- memory ---------------------------------------------------------------------------------- */

typedef struct {
    SimBlock block;
    SimPool *pool; /* counted, by the table; NULL: none */
    uintptr_t pool_handle;
    unsigned long long id;
    CUdevice device;
    bool sync_memops;
    bool retired; /* freed by a call, but work that is queued still uses it: no block any more for
                     calls, one for kernels */
} SimBlockInfo;

bool sim_memory_info(uintptr_t address, SimBlockInfo *out);
/* [address, address + size) lies in one allocation. what names the argument in the message. */
CUresult sim_memory_check(uintptr_t address, size_t size, const char *what);
/* Like this for a box; also says where its width or pitch is wrong. */
CUresult sim_memory_check_box(uintptr_t address, size_t width, size_t height, size_t depth,
                              size_t pitch, size_t slice, const char *what);
/* Memory that is not in the table is the program's own: false if there is none, or it may not be
 * read, or written. */
bool sim_memory_reachable(const void *start, size_t size, bool write);
/* For cuMemGetInfo. */
size_t sim_memory_used(CUdevice device);
void sim_memory_free_context(CUcontext context);
/* cuMemFreeAsync: the block is the caller's no more, but its memory is still in use until it is
 * freed by its number. */
CUresult sim_memory_retire(uintptr_t base, unsigned long long *id);
void sim_memory_unretire(uintptr_t base, unsigned long long id);
void sim_memory_free_retired(uintptr_t base, unsigned long long id);
CUresult sim_memory_alloc_pool(SimContext *context, size_t size, SimPool *pool, uintptr_t *out);
/* Memory that goes with an object instead of with its context. */
CUresult sim_memory_alloc_on(CUdevice device, size_t size, SimKind kind, uintptr_t *out);
CUresult sim_memory_set_sync(uintptr_t address, bool sync);

struct SimPool {
    SimObject object;
    CUdevice device;
    bool is_default;
    _Atomic uint64_t threshold, used, used_high;
    _Atomic int reuse[3];
};
void sim_pool_charge(SimPool *pool, size_t size, bool freed);

/* pages.c: memory of the machine. rounded: what an allocation takes of the device. NULL: there is
 * no more. */
void *sim_pages_alloc(size_t size, bool apart); /* apart: a mapping of its own whatever the size, so
                                                   that nothing is there once it is freed */
void sim_pages_free(void *base, size_t size);
size_t sim_pages_rounded(size_t size);
bool sim_pages_own(
    const void *address); /* where small blocks lie, or have lain: never memory of the program */

/* ---- arrays ---------------------------------------------------------------------------------- */

typedef struct {
    SimObject object;
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    uintptr_t data;       /* texels lie without gaps */
    size_t element;       /* a texel, all channels [bytes] */
    size_t pitch, slice;  /* [bytes] */
    size_t height, depth; /* at least 1 */
} SimArray;

CUresult sim_array_take(CUarray handle, SimArray **out);
/* Bytes of a texel; 0: the simulator has no such format, or number of channels. */
size_t sim_texel_size(CUarray_format format, unsigned channels);

/* ---- functions ------------------------------------------------------------------------------- */

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
CUresult sim_driver_module_new(SimContext *context, const void *image, size_t size, CUmodule *out);
void sim_driver_module_close(SimDriverModule *module); /* with its functions, which hold it */
/* Options of modules and linkers: checked before, logs filled after. */
CUresult sim_jit_check(unsigned int n, const CUjit_option *options, void *const *values);
/* given: the values as they were at first, with the sizes of the logs, which values then get
 * replaced. */
void sim_jit_report(unsigned int n, const CUjit_option *options, void *const *given, void **values,
                    CUresult status);
CUresult sim_read_file(const char *path, void **out,
                       size_t *size); /* malloced, with a zero byte behind */

static inline uint64_t sim_now(void); /* [ns] */

#include <time.h>
static inline uint64_t sim_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

#endif
