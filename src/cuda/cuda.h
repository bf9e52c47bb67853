/* cuda.h - what the files of pygpu._cuda share: the driver's function tables, module state,
 * objects, helpers.
 *
 * Lifetimes: an object embeds (strongly) its Context, so a handle never outlives it; the order of
 * release is the order of dealloc. A context that was destroyed (Context.detach) stays as an object
 * with alive = 0, and nothing is called for handles inside it. Errors: helpers return -1 or NULL
 * with a Python exception set; driver calls leave their status in an int. Current context: the
 * driver's own, per thread. Where none is current, the first use makes the device's primary context
 * current. */
#ifndef PYGPU_CUDA_H
#define PYGPU_CUDA_H

#include "cuda/api/cu_api.h"
#include "common/pg.h"

/* ---- the driver ------------------------------------------------------------------------------ */

typedef struct {
#define CU_FN(since, name, symbol, params) CUresult(CUDA_CALL_CONVENTION *name) params;
#define CU_OTHER(since, name, symbol, params)
#include "cuda/api/cuda.fn"
} CuTable;

enum {
#define CU_FN(since, name, symbol, params) FN_##name,
#define CU_OTHER(since, name, symbol, params)
#include "cuda/api/cuda.fn"
    FN_COUNT_DRIVER,
    FN_BEFORE_NVRTC = FN_COUNT_DRIVER - 1, /* NVRTC's, for the traps: nvrtc.c has the table */
#define NVRTC_FN(required, name, params) FN_##name,
#define NVRTC_OTHER(required, name, params)
#include "cuda/api/nvrtc.fn"
    FN_COUNT
};

extern CuTable cu; /* NULL where the driver lacks a function, all NULL before the first use */
extern long cud_call_counts[FN_COUNT];

/* Makes a call. Nothing but this one call stands between BEGIN and END of a released GIL. */
#define CU_CALL(status, fn, ...)                                                               \
    ((void)((PG_UNLIKELY(pg_trap) && pg_trapped(#fn, &cud_call_counts[FN_##fn], &(status))) || \
            (PG_UNLIKELY(cu.fn == NULL) ? ((status) = PG_STATUS_MISSING, 0)                    \
                                        : ((status) = cu.fn(__VA_ARGS__), 0))))

/* ---- calls that may stand behind others ------------------------------------------------------ */

/* A call keeps the GIL if it takes a microsecond. It takes as long as the device likes when it
 * finds the driver's queue full, or another thread that waits for room in it; and for ever, if what
 * the queue waits for needs the GIL: a Python function that a stream is to call. So the GIL is
 * given up when such a function is pending, and when so much was queued since somebody waited that
 * the queue, which holds 1024 launches, may be full (what other libraries queue is not seen). */
extern long cud_host_calls; /* Python functions that a stream may be about to call: host_call.c */
extern unsigned cud_queued; /* commands since somebody waited */
extern CUcontext cud_idle;  /* nothing was queued in this context since its default stream was seen
                               idle; NULL: in none */
#define CUD_QUEUE_MANY 900
void cud_queue_waited(double seconds); /* that long such a call took: a short one says that the
                                          queue is not full yet */

/* CU_CALL with the GIL held for what may so be held up: _QUEUED if it puts something into a stream,
 * _BESIDE otherwise. Other threads may run meanwhile: what the call uses must be kept, and looked
 * at again after it. */
#define CU_QUEUED(status, fn, ...)          \
    do {                                    \
        CU_COUNT_QUEUED();                  \
        CU_BESIDE(status, fn, __VA_ARGS__); \
    } while (0)
#define CU_COUNT_QUEUED() ((void)(cud_idle = NULL, cud_queued++))
#define CU_BESIDE(status, fn, ...)                                            \
    do {                                                                      \
        if (PG_UNLIKELY(cud_host_calls > 0 || cud_queued > CUD_QUEUE_MANY)) { \
            double begin_##fn = pg_seconds(), end_##fn;                       \
            Py_BEGIN_ALLOW_THREADS                                            \
            CU_CALL(status, fn, __VA_ARGS__);                                 \
            end_##fn = pg_seconds();                                          \
            Py_END_ALLOW_THREADS                                              \
            cud_queue_waited(end_##fn - begin_##fn);                          \
        } else {                                                              \
            CU_CALL(status, fn, __VA_ARGS__);                                 \
        }                                                                     \
    } while (0)

/* Live handles by kind, for the leak tests; changed only with the GIL held. */
enum {
    LIVE_CONTEXT,
    LIVE_MODULE,
    LIVE_STREAM,
    LIVE_EVENT,
    LIVE_MEM,
    LIVE_HOST,
    LIVE_ARRAY,
    LIVE_TEXTURE,
    LIVE_GRAPH,
    LIVE_LINK,
    LIVE_POOL,
    LIVE_KINDS
};
extern long cud_live[LIVE_KINDS];

/* What kernels have printed on the simulator goes to sys.stdout: after waiting. Keeps an exception
 * that is set. */
void cud_print(void);

/* waiting.c: a call that may wait for child processes of the simulator, without the GIL. */
typedef struct {
    CuWaiting hook;
    PyThreadState *state;
} CudWaiting;
void cud_waiting_from(void *function); /* pygpuSimWaiting, NULL on a real driver */
void cud_waiting_begin(CudWaiting *waiting);
int cud_waiting_end(CudWaiting *waiting); /* -1 if the handler of a signal has raised */

void cud_pools_tell(void *function); /* pygpuSimUse, likewise */
int cud_print_from(
    void *function); /* pygpuSimReadOutput, NULL on a real driver; -1 with an exception */

/* ---- module state ---------------------------------------------------------------------------- */

/* Types by name and base, bases first; X(name, base), the base may be object. */
#include "cuda/types.h"
/* clang-format off */
/* default_context: the primary context that a first use made current, kept for the process
 * foreign_contexts: dict: by device, the last context of another library
 * array_type: pygpu.GPUArray, once arrays are used
 * reporter: see pg_report()
 * device_names: attributes that were asked for by name, see cud_attribute()
 * last_function: name of the kernel of the last launch, for the message of a kernel that failed */
#define CUD_OBJECTS(X) \
    X(Error) X(LogicError) X(MemoryError) X(RuntimeError) X(LaunchError) X(make_error) \
    X(default_context) X(foreign_contexts) X(array_type) X(reporter) X(device_names) \
    X(function_names) X(last_function)
/* clang-format on */

typedef struct Context Context;
typedef struct Stream Stream;

typedef struct {
#define X(name, base) PyTypeObject *name##Type;
    CUD_TYPES(X)
#undef X
#define X(name) PyObject *name;
    CUD_OBJECTS(X)
#undef X
    PyObject *module; /* borrowed: the module owns its state */
    unsigned int last_grid[3], last_block[3];
    const volatile int32_t *report; /* what reporter is called for; NULL: nothing */
} State;

extern PyModuleDef cud_module;
/* All live objects, borrowed, of whatever copy of the module. Not in its state: at the
 * interpreter's end that may be freed before them. */
extern Context *cud_contexts;
extern Stream *cud_streams;
State *cud_state_of(
    PyTypeObject *type); /* also for subclasses made in Python; NULL with an exception */

/* Loads the driver and initializes it if that has not been done; -1 with an exception that lists
 * what was tried. */
int cud_driver_ready(State *state);
int cud_driver_loaded(void);
int cud_driver_version(
    void); /* as cuDriverGetVersion: 12040 is 12.4; 0 before the driver is loaded */
const char *cud_driver_path(void);
/* The simulator's last words on what went wrong in this thread; "" on a real driver. */
const char *cud_detail(void);

/* device.c: the __init__ of types whose __new__ does it all, for subclasses that call it with their
 * arguments. */
int cud_init_nothing(PyObject *self, PyObject *args, PyObject *kwargs);
/* tp_setattro of types whose attributes are fields of a structure: a new name is a misspelt one,
 * unless a subclass has it. */
int cud_set_field(PyObject *op, PyObject *name, PyObject *value);
/* Whether a subclass has an __init__ of its own, whose arguments are none of our tp_new's. */
static inline int cud_has_init(PyTypeObject *type, initproc ours) {
    return type->tp_init != ours;
}

/* ---- enumerations ---------------------------------------------------------------------------- */

/* A class of pygpu._src.runtime.cuda.enums; its member of this value, or an object of the class if
 * it has none. */
PyObject *cud_enumeration(const char *name);
/* op.name for types whose objects have the members of an enumeration as attributes too, in small or
 * capital letters. names: a dict of those that were asked for before, NULL at first. A new
 * reference to the attribute, or with *is_member to the member. NULL with an exception. */
PyObject *cud_attribute(PyObject *op, PyObject *name, PyTypeObject *type, PyObject **names,
                        const char *cls, int *is_member);
PyObject *cud_member(const char *name, long value);

/* ---- errors ---------------------------------------------------------------------------------- */

/* "ROUTINE failed: what cuGetErrorString says[ - extra]"; return NULL so that callers can return
 * it. */
PyObject *cud_raise(State *state, const char *routine, CUresult status);
PyObject *cud_raise_with(State *state, const char *routine, CUresult status, const char *format,
                         ...);
PyObject *cud_raise_own(State *state, const char *routine, CUresult status, const char *format,
                        ...); /* found here, not by the driver */
/* For what our own checks find before the driver is asked: a LogicError that is also a ValueError,
 * or for _type a TypeError. */
PyObject *cud_reject(State *state, const char *routine, CUresult status, const char *format, ...);
PyObject *cud_reject_type(State *state, const char *routine, const char *format, ...);
/* After an allocating call failed: 1 if memory was freed (garbage collected, pools trimmed) and the
 * call should be repeated. *tries starts at 0. -1 with an exception. */
int cud_retry(State *state, CUresult status, int *tries);
/* Frees what all pools hold, or those of one context. */
void cud_pools_trim(Context *of);

/* ---- objects --------------------------------------------------------------------------------- */

#define CUD_HEAD        \
    PyObject_HEAD       \
    State *state;       \
    PyObject *weakrefs; \
    PyObject *dict; /* attributes that a program gave the object, or NULL */

typedef struct {
    CUD_HEAD
} CudObject;

/* The end of every tp_dealloc. Attributes go last: code that runs then finds the object in no list
 * any more. */
static inline void cud_object_free(PyObject *op) {
    PyTypeObject *type = Py_TYPE(op);
    Py_CLEAR(((CudObject *)op)->dict);
    type->tp_free(op);
    Py_DECREF(type);
}

/* The beginning of every tp_traverse. A cycle through attributes is cut where their dict is
 * cleared. */
#define CUD_VISIT(op)                        \
    do {                                     \
        Py_VISIT(Py_TYPE(op));               \
        Py_VISIT(((CudObject *)(op))->dict); \
    } while (0)
int cud_object_traverse(PyObject *op, visitproc visit,
                        void *arg); /* of what refers to nothing else */

typedef struct {
    CUD_HEAD
    CUdevice device;
} Device;

enum { CONTEXT_MADE, CONTEXT_PRIMARY, CONTEXT_FOREIGN };

struct Context {
    CUD_HEAD
    CUcontext handle;
    CUdevice device;
    int kind;
    int alive;          /* 0 after detach() */
    int leaving;        /* detached, and kept by the driver for its host memory */
    int retained;       /* PRIMARY: owns one retain of the device's primary context */
    long host_memories; /* pieces of memory that the host uses, and that the driver would unmap with
                           the context */
    long pushed;        /* references that the threads' stacks hold to this object */
    Context *next;      /* cud_contexts */
};

/* The calling thread's context, a new reference; made and set current if there is none. NULL with
 * an exception. */
Context *cud_context_current(State *state);
/* The same without making one: a new reference, or NULL without an exception if none is current,
 * with one on errors. */
Context *cud_context_peek(State *state);
PyObject *cud_device_wrap(State *state, CUdevice device);
/* The device whose primary context a first use takes: pygpu.cuda.tools.get_default_device() says
 * which. -1 with an exception. */
int cud_device_default(State *state, CUdevice *device);
PyObject *cud_context_wrap_primary(State *state, CUdevice device);
/* Looks which primary contexts another library has reset, and forgets them: their objects are not
 * alive any more. */
void cud_primary_lost(State *state);
/* Takes the current context, of that handle, off the stack if it is one of those. 1 if it was. */
int cud_primary_unstack(CUcontext handle);
Context *cud_context_new(State *state, CUcontext handle, CUdevice device, int kind),
    *cud_context_find(State *state, CUcontext handle);
PyObject *cud_context_make(State *state, CUdevice device,
                           unsigned int flags); /* new, and current */
/* Around driver calls that need an object's own context: enter makes it current and returns 0, or
 * -1 if it is dead or the driver refuses (without an exception: for deallocs; *status says why);
 * leave restores. Touch no Python object. */
typedef struct {
    int pushed;
    CUcontext before;
} ContextGuard; /* before: what was current, if pushed */
int cud_context_enter(Context *context, ContextGuard *guard, CUresult *status);
int cud_context_enter_free(
    Context *context, ContextGuard *guard,
    CUresult *status); /* to give something back: also if it is leaving, but not when the
                          interpreter ends, as the driver might wait for a kernel that does not */
void cud_context_leave(ContextGuard *guard);
/* Host memory is about to be made in the context, and is gone again (outside of enter and leave):
 * the last one takes along a context that was detached meanwhile. */
static inline void cud_context_lend(Context *context) {
    context->host_memories++;
}
void cud_context_returned(Context *context);
/* -1 with a LogicError if the context was destroyed. */
int cud_context_check(Context *context, const char *routine);

struct Stream {
    CUD_HEAD
    CUstream handle;
    CUstream
        spare; /* what it had before a subclass's __init__ said what it shall be; goes with it */
    Context *context;
    int owned;
    int capturing;      /* between begin_capture and end_capture */
    PyObject *captured; /* list: what the commands captured so far use; moves into the graph */
    Stream *next;       /* State.streams */
};

/* The next of cud_streams from *from* on, kept for the walk, which lets go of *last*: while code
 * runs, streams come and go. */
Stream *cud_stream_walk(Stream *from, Stream *last);
/* None or left out (NULL): the default stream, *object NULL. A Stream, an int, or anything with
 * __cuda_stream__ or handle. *object is borrowed from obj. -1 with an exception. */
int cud_as_stream(State *state, PyObject *obj, const char *call, CUstream *handle, Stream **object);
/* Work queued on *later* from now on comes after what is queued on *first*; both are of the current
 * context. *routine: what failed. */
CUresult cud_order_after(CUstream later, CUstream first, const char **routine);
/* Waits, with the GIL released and interruptibly in Python's main thread, for all work queued so
 * far on the stream (NULL: the default stream). Raises the driver's error. */
int cud_wait_stream(State *state, const char *routine, CUstream stream);
int cud_wait_event(State *state, const char *routine, CUevent event);
int cud_wait_context(State *state, const char *routine);

/* Keeps owner alive until the work queued so far on the stream is done (or with the graph, if the
 * stream is being captured). Never waits, never fails for the caller: without memory the work is
 * waited for. GIL held, after the asynchronous call. */
void cud_keepalive(State *state, Context *context, CUstream handle, Stream *stream,
                   PyObject *owner);
/* The same for the host memory of a copy of so many bytes; that of small copies may be kept until a
 * few more have come. */
void cud_keepalive_copy(State *state, Context *context, CUstream handle, Stream *stream,
                        PyObject *owner, size_t size);
/* Lets go of what is over; called now and then by calls that are not hot, and by every
 * synchronization. */
void cud_keepalive_drain(State *state);
/* The same after a wait for the stream, or all streams of the context, that began when
 * cud_keepalive_mark() gave that number. */
unsigned long cud_keepalive_mark(void);
void cud_keepalive_done(State *state, Context *context, CUstream handle, int all,
                        unsigned long mark);
/* Before a capture begins, and before a stream goes: no more copies join those that are kept
 * together. */
void cud_keepalive_close(void);
void cud_keepalive_stream_gone(CUstream handle);
/* Before a context is destroyed: waits for what is held in it and lets it go. */
void cud_keepalive_forget(State *state, Context *context);
/* Nobody refers to the context any more: what was kept for it to be used again goes too. */
void cud_keepalive_context_gone(Context *context);

typedef struct {
    CUD_HEAD
    CUevent handle;
    CUevent spare; /* as a Stream's */
    Context *context;
    int owned;
    unsigned int flags;
} Event;

/* Which streams use memory that somebody else may get afterwards (usage.c): of a pool, or allocated
 * in a stream's order. */
typedef struct {
    CUstream handle;
    Stream *
        stream; /* keeps the handle valid; NULL: the default stream, or a handle that is not ours */
    Context *context;
} StreamUse;

typedef struct {
    StreamUse first, *more; /* first.context is NULL in an empty set */
    int n_more;
} UseSet;

typedef struct {
    CUstream
        latest; /* that the owner used last and need not be looked at again; CUD_NO_STREAM: none */
    UseSet now, before; /* of this owner; of the one before, whose work must be over when this one's
                           begins */
    char exposed, was_exposed; /* the address was given away, so that streams which nobody told us
                                  of may use it */
} Usage;
#define CUD_NO_STREAM ((CUstream)(uintptr_t)-1)

/* Device memory. All kinds that a kernel takes have this head: DeviceAllocation and what derives
 * from it (ManagedAllocation, PooledDeviceAllocation, IPCMemoryHandle). */
typedef struct {
    CUD_HEAD
    CUdeviceptr ptr; /* 0 after free() or for an allocation of no bytes */
    size_t size;     /* bytes, as asked for */
    Context *context;
    int freed;    /* 1 after free(): use is an error */
    int kind;     /* how it is given back: memory.h */
    int users;    /* calls and views that need it: free() takes effect after the last of them */
    Usage *usage; /* NULL: nobody else gets the memory as long as work may be using it */
} Allocation;

/* Before work that uses it is queued on a stream (handle and stream as cud_as_stream gave them):
 * that work comes after what a former owner of the memory has queued. Costs one comparison unless
 * the memory is a pool's and new to the stream. -1 with an exception. GIL held; may release it. */
int cud_allocation_use_first(Allocation *self, CUstream handle, Stream *stream);
static inline int cud_allocation_use(Allocation *self, CUstream handle, Stream *stream) {
    return self->usage == NULL || self->usage->latest == handle
               ? 0
               : cud_allocation_use_first(self, handle, stream);
}
static inline int cud_is_allocation(State *state, PyObject *obj); /* of any kind */
/* -1 with a LogicError after free(), or if its context was destroyed. */
int cud_allocation_alive(Allocation *self, const char *call);

typedef struct {
    CUD_HEAD
    CUmodule handle;
    Context *context;
    PyObject *image;     /* what was loaded, or NULL */
    PyObject *source;    /* SourceModule's text, for argument types; or NULL */
    PyObject *functions; /* dict: name -> Function */
} Module;

static inline int cud_is_allocation(State *state, PyObject *obj) {
    return Py_IS_TYPE(obj, state->DeviceAllocationType) ||
           Py_IS_TYPE(obj, state->PooledDeviceAllocationType) ||
           PyObject_TypeCheck(obj, state->DeviceAllocationType);
}

#define X(name, base) extern PyType_Spec cud_##name##_spec;
CUD_TYPES(X)
#undef X

#define X(table) extern PyMethodDef table[];
CUD_FUNCTIONS(X)
#undef X

/* Attributes that every object with a handle has. */
PyObject *cud_refuse_pickle(PyObject *op, PyObject *protocol);
#define CUD_NO_PICKLE                                                                   \
    {                                                                                   \
        "__reduce_ex__", cud_refuse_pickle, METH_O,                                     \
            "__reduce_ex__($self, protocol, /)\n--\n\n(protocol: SupportsIndex, /) -> " \
            "NoReturn\n\nRaises TypeError: a handle means nothing elsewhere."           \
    }
#define CUD_FLAGS         \
    (Py_TPFLAGS_DEFAULT | \
     Py_TPFLAGS_HAVE_GC) /* classes can be given attributes, as PyCUDA's, and so can objects */

#endif
