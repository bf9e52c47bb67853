/* opencl.h - what the files of pygpu._opencl share: the driver's function table, module state,
 * objects, helpers.
 *
 * Lifetimes: an object embeds (strongly) what its handle needs, so the order of release is the
 * order of dealloc. Errors: helpers return -1 or NULL with a Python exception set; driver calls
 * leave their status in an
 * int. */
#ifndef PYGPU_OPENCL_H
#define PYGPU_OPENCL_H

#include "opencl/api/cl_api.h"
#include "opencl/lifetime/gil_release.h"
#include "opencl/quirks.h"

/* ---- the driver ------------------------------------------------------------------------------ */

typedef struct {
#define CL_FN(since, ret, name, params) ret(CL_API_CALL *name) params;
#include "opencl/api/cl.fn"
} ClTable;

enum {
#define CL_FN(since, ret, name, params) FN_##name,
#include "opencl/api/cl.fn"
    FN_COUNT
};

extern ClTable cl; /* NULL where the library lacks a function, all NULL before the first use */
extern long ocl_call_counts[FN_COUNT];

/* Makes a call that returns its status. Nothing but this one call stands between BEGIN and END of a
 * released GIL. */
#define CL_CALL(status, fn, ...)                                                               \
    ((void)((PG_UNLIKELY(pg_trap) && pg_trapped(#fn, &ocl_call_counts[FN_##fn], &(status))) || \
            (PG_UNLIKELY(cl.fn == NULL) ? ((status) = PG_STATUS_MISSING, 0)                    \
                                        : ((status) = cl.fn(__VA_ARGS__), 0))))
/* Makes a call that returns a handle and takes the address of its status last. */
#define CL_MAKE(out, status, fn, ...)                                                        \
    ((out) = (PG_UNLIKELY(pg_trap) && pg_trapped(#fn, &ocl_call_counts[FN_##fn], &(status))) \
                 ? NULL                                                                      \
             : PG_UNLIKELY(cl.fn == NULL) ? ((status) = PG_STATUS_MISSING, NULL)             \
                                          : cl.fn(__VA_ARGS__, &(status)))

/* Live handles by kind, for the leak tests; changed only with the GIL held. */
enum {
    LIVE_DEVICE,
    LIVE_CONTEXT,
    LIVE_QUEUE,
    LIVE_MEM,
    LIVE_SAMPLER,
    LIVE_PROGRAM,
    LIVE_KERNEL,
    LIVE_EVENT,
    LIVE_SVM,
    LIVE_KINDS
};
extern long ocl_live[LIVE_KINDS];

/* Releases a handle in a dealloc; its status has nobody to go to. Does nothing in a forked
 * child. */
#define CL_RELEASE(kind, fn, handle)          \
    do {                                      \
        cl_int release_status_ = CL_SUCCESS;  \
        CL_CALL(release_status_, fn, handle); \
        (void)release_status_;                \
        ocl_live[kind]--;                     \
    } while (0)

/* ---- module state ---------------------------------------------------------------------------- */

/* clang-format off */
#define OCL_TYPES(X) \
    X(Platform) X(Device) X(Context) X(CommandQueue) X(Event) X(NannyEvent) X(UserEvent) \
    X(Profile) X(MemoryObjectHolder) X(MemoryObject) X(Buffer) X(MemoryMap) X(ImageFormat) \
    X(ImageDescriptor) X(Image) X(Sampler) X(Pipe) X(SVMPointer) X(SVM) X(SVMAllocation) \
    X(Program) X(Kernel) X(LocalMemory) X(AllocatorBase) X(ImmediateAllocator) \
    X(DeferredAllocator) X(SVMAllocator) X(MemoryPool) X(SVMPool) X(PooledBuffer) X(PooledSVM) \
    X(GLBuffer) X(GLRenderBuffer) X(GLTexture)
/* clang-format on */
/* clang-format off */
#define OCL_OBJECTS(X) \
    X(Error) X(LogicError) X(MemoryError) X(RuntimeError) X(make_error) X(NameVersion) \
    X(array_type) X(reporter)
/* clang-format on */

typedef struct {
#define X(name) PyTypeObject *name##Type;
    OCL_TYPES(X)
#undef X
#define X(name) PyObject *name;
    OCL_OBJECTS(X)
#undef X
    PyObject *module;               /* borrowed: the module owns its state */
    const volatile int32_t *report; /* see pg_report() */
} State;

extern PyModuleDef ocl_module;
State *ocl_state_of(
    PyTypeObject *type); /* also for subclasses made in Python; NULL with an exception */

/* Loads the driver if that has not been done; -1 with an exception that lists what was tried. */
int ocl_driver_ready(State *state), ocl_driver_loaded(void);
const char *ocl_driver_path(void);
/* An extension function of one platform, or NULL. */
void *ocl_extension_function(cl_platform_id platform, const char *name);
/* Whether the table has an extension's function (FN_clX) for a platform; where the library lacks
 * it, the platform is asked. As each platform answers with a function of its own, one that was
 * found that way serves that platform alone, until it is forgotten. */
int ocl_extension_ready(cl_platform_id platform, int fn);
void ocl_extension_forget(int fn);
extern PyMethodDef ocl_driver_methods[];

/* ---- errors ---------------------------------------------------------------------------------- */

/* "ROUTINE failed: STATUS[ - extra]"; return NULL (or -1) so that callers can return it. */
PyObject *ocl_raise(State *state, const char *routine, cl_int status);
PyObject *ocl_raise_with(State *state, const char *routine, cl_int status, const char *format, ...);
/* For what our own checks find before the driver is asked. Raises a LogicError with the given
 * status code that is also a ValueError (code INVALID_VALUE, INVALID_CONTEXT, ...), or for
 * ocl_reject_type also a TypeError. */
PyObject *ocl_reject(State *state, const char *routine, cl_int status, const char *format, ...);
PyObject *ocl_reject_type(State *state, const char *routine, cl_int status, const char *format,
                          ...);
/* For a command whose event has ended with exec, a status below 0. */
PyObject *ocl_raise_ended(State *state, const char *routine, cl_int exec);
const char *ocl_status_name(cl_int status);
int ocl_is_out_of_memory(cl_int status);
/* After an allocating call failed: 1 if memory was freed (garbage collected, arguments of kernels
 * dropped, pools trimmed) and the call should be repeated. *tries starts at 0. -1 with an
 * exception. */
int ocl_retry(State *state, cl_int status, int *tries);

/* ---- information ----------------------------------------------------------------------------- */

typedef enum {
    INFO_STRING,
    INFO_BOOL,
    INFO_INT,
    INFO_UINT,
    INFO_ULONG,
    INFO_SIZE,
    INFO_BITS,
    INFO_HANDLE,
    INFO_SIZES,
    INFO_UINTS,
    INFO_ULONGS,
    INFO_INTPTRS,
    INFO_VERSION,
    INFO_NAME_VERSIONS,
    INFO_BYTES,
    INFO_PLATFORM,
    INFO_DEVICE,
    INFO_DEVICES,
    INFO_CONTEXT,
    INFO_QUEUE,
    INFO_PROGRAM,
    INFO_MEM,
    INFO_IMAGE_FORMAT,
    INFO_TOPOLOGY_AMD,
    INFO_PCI_BUS,
    INFO_SPECIAL
} InfoKind;

typedef struct {
    const char *name;
    InfoKind kind;
    cl_uint param;
} Info;

/* Asks the driver for param; like every clGet*Info with its first arguments bound in self. */
typedef cl_int (*InfoQuery)(void *self, cl_uint param, size_t size, void *value, size_t *size_ret);

/* The answer as a Python object; memory is zeroed first and the returned size honoured. */
PyObject *ocl_info(State *state, void *self, InfoQuery query, const char *routine, const Info *row);
/* get_info(param): looks for the row; an unknown param is passed to the driver and answered as int
 * or bytes by size. */
PyObject *ocl_info_by_param(State *state, void *self, InfoQuery query, const char *routine,
                            const Info *rows, size_t n, PyObject *param);
/* Fixed-size query without Python: 0 where the driver does not answer. */
cl_ulong ocl_info_number(void *self, InfoQuery query, cl_uint param);

/* One row of info.def as a getset entry whose closure is the row's index. PARAM comes as text. */
#define INFO_GETSET(index, attr, getter, KIND, param, unit, text)           \
    {attr, getter, NULL, INFO_TYPE_##KIND ": " text " " unit "(" param ")", \
     (void *)(intptr_t)(index)},
#define INFO_TYPE_STRING        "str"
#define INFO_TYPE_BOOL          "bool"
#define INFO_TYPE_INT           "int"
#define INFO_TYPE_UINT          "int"
#define INFO_TYPE_ULONG         "int"
#define INFO_TYPE_SIZE          "int"
#define INFO_TYPE_BITS          "int"
#define INFO_TYPE_HANDLE        "int"
#define INFO_TYPE_SIZES         "list[int]"
#define INFO_TYPE_UINTS         "list[int]"
#define INFO_TYPE_ULONGS        "list[int]"
#define INFO_TYPE_INTPTRS       "list[int]"
#define INFO_TYPE_VERSION       "int"
#define INFO_TYPE_NAME_VERSIONS "list[NameVersion]"
#define INFO_TYPE_BYTES         "bytes"
#define INFO_TYPE_PLATFORM      "Platform"
#define INFO_TYPE_DEVICE        "Device"
#define INFO_TYPE_DEVICES       "list[Device]"
#define INFO_TYPE_CONTEXT       "Context"
#define INFO_TYPE_QUEUE         "CommandQueue"
#define INFO_TYPE_PROGRAM       "Program"
#define INFO_TYPE_MEM           "MemoryObject"
#define INFO_TYPE_IMAGE_FORMAT  "ImageFormat"
#define INFO_TYPE_TOPOLOGY_AMD  "object"
#define INFO_TYPE_PCI_BUS       "object"
#define INFO_TYPE_SPECIAL       "object"

/* ---- objects --------------------------------------------------------------------------------- */

#define OCL_HEAD  \
    PyObject_HEAD \
    State *state; \
    PyObject *weakrefs;

#define OCL_KNOWN_HEAD(type, name) \
    OCL_HEAD type name;            \
    PyObject *next_instance; /* of a kind that is found by its handle: instance_registry.h */

typedef struct {
    OCL_HEAD
} OclObject;

/* Every object that owns a handle has it right after the head, so that handle.c serves them all.
 * NULL: released. */
typedef struct {
    OCL_HEAD
    void *handle;
} OclHandle;

int ocl_as_handle(State *state, PyObject *obj, const char *call, size_t *out);
Py_hash_t ocl_handle_hash(PyObject *op);
PyObject *ocl_handle_int_ptr(PyObject *op, void *closure);
PyObject *ocl_handle_compare(PyObject *op, PyObject *other, int how);
int ocl_compares_by(PyObject *op,
                    richcmpfunc compare); /* of one of our types, or of a class made of one */
PyObject *ocl_refuse_pickle(PyObject *op, PyObject *protocol);
#define OCL_NO_PICKLE                                                                   \
    {                                                                                   \
        "__reduce_ex__", ocl_refuse_pickle, METH_O,                                     \
            "__reduce_ex__($self, protocol, /)\n--\n\n(protocol: SupportsIndex, /) -> " \
            "NoReturn\n\nRaises TypeError: a handle means nothing elsewhere."           \
    }
#define OCL_HANDLE_SLOTS                              \
    {Py_tp_hash, (void *)ocl_handle_hash}, {          \
        Py_tp_richcompare, (void *)ocl_handle_compare \
    }
#define OCL_HANDLE_GETSET(kind) \
    { "int_ptr", ocl_handle_int_ptr, NULL, "int: the " kind " of the driver", NULL }

typedef struct {
    OCL_KNOWN_HEAD(cl_platform_id, id)
    int version;     /* 100, 110, 120, 200, 210, 220, 300 */
    unsigned quirks; /* OCL_QUIRK_...: quirks.h */
    PyObject *dict;
} Platform;

/* What the checks before a command need; asked once for a device. 0: unknown, so not checked. */
typedef struct {
    int known;
    cl_uint max_work_item_dimensions;
    size_t max_work_item_sizes[10];
    size_t max_work_group_size;
    cl_ulong local_mem_size;
    cl_ulong max_mem_alloc_size;
    cl_uint mem_base_addr_align; /* bits */
    cl_bitfield svm_capabilities;
} DeviceLimits;

typedef struct {
    OCL_KNOWN_HEAD(cl_device_id, id)
    Platform *platform;
    int version;
    int owned;     /* a sub-device: its handle is released */
    int shares_gl; /* 1, or -1 if it does not; 0: not asked yet */
    DeviceLimits limits;
    PyObject *dict;
} Device;

typedef struct {
    OCL_KNOWN_HEAD(cl_context, context)
    int version;   /* the lowest of its devices' */
    int shares_gl; /* 1 if it was made with an OpenGL context, 0 without; -1: elsewhere, so not
                      known */
    Py_ssize_t n_devices;
    Device **devices;
    PyObject *given; /* tuple of Devices, or NULL: PoCL lists the root for a sub-device, and needs
                        the sub-device to the end */
    PyObject *dict;
} Context;

typedef struct {
    OCL_KNOWN_HEAD(cl_command_queue, queue)
    Context *context;
    Device *device;
    cl_bitfield properties;
    int finalized; /* left as a context manager */
    int shared;    /* its handle may have got commands that this object does not know of */
    unsigned enqueued, finished; /* commands, and those known to be done: the driver's queue may be
                                    full of the others */
    unsigned failures; /* of ocl_event_failures(): those that its order has been kept over; see
                          pocl_order.c */
    size_t n_marks, room_for_marks;
    cl_event *marks;
    struct Gates *gates; /* that its last command is behind, and so the next one, if it is in order;
                            see gates.h */
    PyObject *dict;
} Queue;

typedef struct {
    OCL_HEAD
    cl_event event;
    cl_context context; /* for checks; the event keeps it alive in the driver, or if keeps_context
                           this object does */
    PyObject *ward_or_dict; /* NannyEvent: host object of the command, until wait(); UserEvent: its
                               attributes */
    struct UserEventRecord *user; /* UserEvent: where its outcome is kept */
    cl_int keeps_context;
    struct Gates *gates; /* what it is behind, itself for a UserEvent; NULL: nothing that the driver
                            does not tell of. See gates.h */
} Event;

typedef struct {
    PyObject_HEAD
    Event *event;
} Profile;

/* A memory object: Buffer, Image, Pipe, PooledBuffer. mem is NULL once released. */
typedef struct {
    OCL_HEAD
    cl_mem mem;
    Context *context;
    PyObject *hostbuf; /* the object given as hostbuf with USE_HOST_PTR, else NULL */
    size_t size;       /* bytes; 0 for an image */
    cl_bitfield flags,
        added_flags; /* added: what the driver was told besides; see ocl_flags_to_commit() */
    cl_mem_object_type type;
    int users, exposed; /* calls with the GIL released that use mem now; an array may look at
                           hostbuf: it stays as long as the object */
    cl_mem retired;     /* released meanwhile: given back when users is 0 */
    void *pool;         /* PooledBuffer and its regions: the block, see pool.c */
    PyObject *parent;   /* a region: the object that it is a part of; drivers differ in keeping that
                           alive themselves */
    struct Region *region; /* a region: its place in the list ... */
    struct Region
        *regions; /* ... of a buffer that is no region, see region.c; NULL where there is none */
    PyObject *dict;
} Memory;

typedef struct {
    OCL_HEAD
    cl_sampler sampler;
    Context *context;
    PyObject *dict;
} Sampler;

typedef enum { PROGRAM_FRESH, PROGRAM_FAILED, PROGRAM_COMPILED, PROGRAM_BUILT } ProgramStage;
typedef enum { PROGRAM_UNKNOWN, PROGRAM_SOURCE, PROGRAM_BINARY, PROGRAM_IL } ProgramKind;

typedef struct {
    OCL_HEAD
    cl_program program; /* NULL until the driver is asked, so that a cached binary can stand for the
                           source */
    Context *context;
    PyObject *kernels;                 /* dict name -> Kernel: what prg.name gives */
    PyObject *last_name, *last_kernel; /* the attribute that was asked for last: a reference, and
                                          one borrowed from kernels */
    PyObject *source;   /* bytes, or NULL: made from binaries, IL or built-in kernels */
    PyObject *arg_info; /* dict name -> list of (address, access, type name, type qualifier, name),
                           or NULL */
    PyObject *options;  /* bytes of the last build that succeeded, or NULL */
    PyObject *checks;   /* what makes its kernels under PYGPU_CHECK=1, or NULL */
    ProgramKind kind;
    ProgramStage stage;
    int cached;              /* the handle holds a binary of the cache instead of the source */
    int pinned;              /* somebody has seen the handle: it must stay */
    PyThread_type_lock lock; /* held by the thread that builds */
    unsigned long owner;     /* its identity, 0: nobody builds */
    PyObject *dict;
} Program;

/* ---- device.c, platform.c, context.c, queue.c ------------------------------------------------ */

PyObject *ocl_platform_wrap(State *state, cl_platform_id id);
PyObject *ocl_device_wrap(State *state, cl_device_id id, Platform *platform,
                          int owned); /* platform may be NULL */
cl_int ocl_device_query(void *self, cl_uint param, size_t size, void *value, size_t *size_ret);
const DeviceLimits *ocl_device_limits(Device *self);
int ocl_version_number(const char *text); /* "OpenCL 1.2 ..." -> 120 */
PyObject *ocl_context_wrap(
    State *state,
    cl_context handle); /* the one that there is, else a new one with a reference of its own */
/* 1 if the device's extensions have this one, 0 if not; -1 with an exception. */
int ocl_device_has_extension(Device *self, const char *name);

#define OCL_MAX_CONTEXT_PROPERTIES 16
typedef struct {
    cl_context_properties list[2 * OCL_MAX_CONTEXT_PROPERTIES +
                               3]; /* keys and values by turns, then 0; room for one more pair */
    int n;                         /* pairs */
    cl_platform_id platform;       /* NULL: none is named */
    int shares_gl;                 /* an OpenGL context or share group is named */
    int may_lack_devices;          /* Apple's share group stands for its devices */
} ContextProperties;

/* [(context_properties.X, value), ...], or NULL or None for none. */
int ocl_context_properties(State *state, PyObject *obj, const char *call, ContextProperties *out);
void ocl_context_properties_add(ContextProperties *self, cl_platform_id platform);
PyObject *ocl_queue_wrap(State *state, cl_command_queue handle); /* likewise */
/* Borrowed reference to the argument as the given kind, or NULL with a TypeError that names call
 * and argument. */
Context *ocl_as_context(State *state, PyObject *obj, const char *call);
Queue *ocl_as_queue(State *state, PyObject *obj, const char *call);
Device *ocl_as_device(State *state, PyObject *obj, const char *call, const char *name);
/* Device handles from None (all of the context), a Device, or an iterable of Devices. *out is PyMem
 * memory; *n entries. keep receives a list that owns the Device objects. */
int ocl_as_devices(State *state, PyObject *obj, const char *call, cl_device_id **out, cl_uint *n,
                   PyObject **keep);
/* -1 with a LogicError (INVALID_OPERATION) unless version >= needed (e.g. 200). */
int ocl_need_version(State *state, const char *routine, int version, int needed);
int ocl_queue_check(Queue *self,
                    const char *call); /* warns if the queue was left as a context manager */
/* To be called before each command. 1 if it might block in the driver, so that the GIL should be
 * released. Never so on PoCL, where the GIL keeps enqueuing and failing apart (pocl_quiesce.c), and
 * where the order of the queue is seen to here. */
int ocl_queue_may_block(Queue *self);
void ocl_queue_keep_order(Queue *self),
    ocl_queue_forget_order(Queue *self); /* before a command is enqueued on PoCL; at the end */
void ocl_queue_let_go(Queue *self),
    ocl_queue_release_retired(
        void); /* releases the handle, at once or later, those that are due: queue_release.c */

/* ---- event.c, wait.c, completion.c --------------------------------------------------------------
 */

#define OCL_WAIT_LOCAL 8
typedef struct {
    cl_uint n;
    cl_event *events; /* NULL if n is 0 */
    cl_event local[OCL_WAIT_LOCAL];
    PyObject *keep;      /* owns the Event objects */
    struct Gates *gates; /* what the Event of the command is behind; see gates.h */
    cl_event own;        /* one of the events, that keep does not own; NULL: none */
} WaitList;

/* wait_for: NULL, None or an iterable of Events; for a command of queue those of its context (NULL:
 * any). */
int ocl_wait_list(State *state, PyObject *wait_for, const char *call, Queue *queue, WaitList *list);
void ocl_wait_list_clear(WaitList *list);
/* Take over the handle (released if the object cannot be made). */
Event *ocl_event_make(State *state, PyTypeObject *type, cl_event event, cl_context context);
PyObject *ocl_event_new(State *state, cl_event event, cl_context context);
PyObject *ocl_nanny_event_new(State *state, cl_event event, cl_context context, PyObject *ward);
/* In place of CL_RELEASE(LIVE_EVENT, clReleaseEvent, event) for the event of a command that may not
 * be done; see event_release.c. */
void ocl_event_let_go(cl_event event);
void ocl_event_failures_seen(void), ocl_event_dealloc(PyObject *op),
    ocl_user_event_dropped(Event *self), ocl_svm_dealloc(PyObject *op);
unsigned ocl_event_failures(void); /* how many times user events failed */
size_t ocl_events_kept(void);      /* let go, and not released yet */
/* Waits for the event with the GIL released, interruptible in the main thread. 0, or -1 with an
 * exception. *interrupted, if not NULL, is set to 1 when a signal handler raised: the command is
 * still running then. */
int ocl_wait(State *state, cl_event event, const char *routine, int *interrupted);
/* Whether the command has ended, well or not; 0 if the driver would not say. After a wait that
 * failed: if 0, keep its memory. */
int ocl_is_over(cl_event event);
/* Waits in the main thread for an event whose queue was flushed and whose failure is no error. */
int ocl_wait_done(State *state, cl_event event, int *failed);
void ocl_suspect_failures(
    void); /* some event was made to fail: others that wait for it may, unannounced */
void ocl_abandon_user_events(void);      /* at exit: those without a status fail */
void ocl_fail_dropped_user_events(void); /* may release the GIL */
extern int ocl_user_events_dropped,
    ocl_user_events_unset;  /* how many wait for that; how many UserEvents have no status yet */
int ocl_owe_failures(void); /* has the dispatcher call that; -1 if there is none */
void ocl_owe_look_at_holds(
    void); /* has the dispatcher call ocl_keepalive_look_after() until it returns 0 */
static inline int ocl_user_events_pending(void) {
    return ocl_user_events_unset;
}
/* Host memory of a command: *view is taken over and released when the event is complete, whatever
 * becomes of the Event. */
void ocl_keepalive_buffer(State *state, cl_event event, Py_buffer *view);
/* The same for a Python object (a strong reference is taken). */
void ocl_keepalive_object(State *state, cl_event event, PyObject *object);
int ocl_is_exiting(void);            /* the exit hook has begun */
int ocl_pending_ready(State *state); /* module exec: registers the exit hook */
/* override: the status to call with, or 0 for the driver's; after a failure of gates, theirs. */
int ocl_add_callback(State *state, cl_event event, cl_int at, PyObject *function, cl_int override,
                     struct Gates *gates);
void ocl_override_callbacks(cl_event event, cl_int override); /* of those that wait for it now */
/* Host memory lent to a memory object: *view is taken over (also on failure) and released when the
 * driver has let go of it. */
int ocl_keepalive_until_destroyed(State *state, cl_mem mem, Py_buffer *view);
/* PyMem memory that a command was given: freed when the event is complete. For NVIDIA's driver
 * (580.159): after a migration that had to wait, the process crashed later on, and the suspicion is
 * that it reads the array of what to migrate only when it does so. */
void ocl_keepalive_array(State *state, cl_event event, void *array);

/* ---- memory.c, buffer.c ---------------------------------------------------------------------- */

PyObject *ocl_memory_wrap(State *state, PyTypeObject *type, cl_mem mem, int retain,
                          Context *context); /* context may be NULL */
void ocl_memory_dealloc(PyObject *op);
int ocl_memory_traverse(PyObject *op, visitproc visit, void *arg);
/* A live memory object (or buffer) of the given context (NULL: any) or NULL with an exception that
 * says what came. */
Memory *ocl_as_memory(State *state, PyObject *obj, const char *call, const char *name,
                      cl_context context),
    *ocl_as_buffer(State *state, PyObject *obj, const char *call, const char *name,
                   cl_context context);
int ocl_memory_alive(Memory *self, const char *call); /* 0, or -1 with "was released" */
/* Around a driver call that is made with the GIL released: another thread's release() takes effect
 * only afterwards. */
static inline void ocl_memory_pin(Memory *self) {
    self->users++;
}
void ocl_memory_unpin(Memory *self);
/* region.c: all regions but those that commands never used go through this, where they are
 * listed. */
typedef struct Region Region;
int ocl_regions_are_listed(const Memory *self);
/* The handle of such a region, if it is listed (*out), with one more reference; *status tells what
 * kept it from that. */
cl_mem ocl_region_again(Memory *buffer, size_t origin, size_t size, cl_mem_flags flags,
                        cl_int *status, Region **out);
/* Lists a new handle, and takes over its reference: the object gets another one. NULL with
 * *status. */
Region *ocl_region_list(Memory *buffer, cl_mem mem, size_t origin, size_t size, cl_mem_flags flags,
                        cl_int *status);
void ocl_region_let_go(Memory *self),
    ocl_region_drop_unused(Memory *whole); /* an object's, when it has no reference any more */
int ocl_check_mem_flags(State *state, const char *call,
                        cl_mem_flags flags); /* -1 with a LogicError */
/* Fills a fresh object with a handle that it takes over; reads size, flags and type from the
 * driver. */
int ocl_memory_fill(Memory *self, cl_mem mem, Context *context);
PG_VECTORCALL(ocl_buffer);
PG_VECTORCALL(ocl_image_format);
PG_VECTORCALL(ocl_svm);
PG_VECTORCALL(ocl_svm_allocation);
PG_VECTORCALL(ocl_user_event);
cl_mem_flags ocl_flags_to_commit(const Context *context, cl_mem_flags flags, size_t size);
PyObject *ocl_buffer_create(State *state, PyTypeObject *type, Context *context, cl_mem_flags flags,
                            size_t size, void *host);
/* ---- host_array.c: ndarrays over memory of the driver ---------------------------------------- */

#define OCL_MAX_DIMS 32
typedef struct {
    int n;
    npy_intp dims[OCL_MAX_DIMS], strides[OCL_MAX_DIMS];
    PyArray_Descr *dtype; /* owned */
    size_t size;          /* bytes from the first to the end of the last item */
} ArrayLayout;

/* Reads shape, dtype, order ('C' or 'F') and strides (bytes, or None); checks for overflow. */
int ocl_array_layout(const char *call, PyObject *shape, PyObject *dtype, PyObject *order,
                     PyObject *strides, ArrayLayout *layout);
/* An ndarray at pointer whose base is owner; takes the layout's dtype. */
PyArrayObject *ocl_array_from_layout(PyObject *owner, ArrayLayout *layout, void *pointer,
                                     int writable);
/* Both in one, for size bytes at pointer. NULL with an exception if the array would reach past the
 * end. */
PyArrayObject *ocl_array_over(PyObject *owner, const char *call, PyObject *shape, PyObject *dtype,
                              PyObject *order, PyObject *strides, void *pointer, size_t size,
                              int writable);

/* Makes an enqueue call; with the GIL released if the driver may have to wait for room. */
#define OCL_ENQUEUE(queue, status, fn, ...)   \
    do {                                      \
        if (ocl_queue_may_block(queue)) {     \
            Py_BEGIN_ALLOW_THREADS            \
            CL_CALL(status, fn, __VA_ARGS__); \
            Py_END_ALLOW_THREADS              \
        } else {                              \
            CL_CALL(status, fn, __VA_ARGS__); \
        }                                     \
    } while (0)

/* A command on the device: finishes what every enqueue_* function ends with. Turns status into an
 * exception or event into an Event; clears the wait list. */
PyObject *ocl_finish_enqueue(Queue *queue, const char *routine, cl_int status, cl_event event,
                             WaitList *list);
/* The same for a command that reads or writes host memory: takes over *view. host becomes the
 * NannyEvent's ward. A blocking command was enqueued without blocking and is waited for here, so
 * that Ctrl-C works and other threads run. */
PyObject *ocl_finish_host_copy(Queue *queue, const char *routine, cl_int status, cl_event event,
                               WaitList *list, Py_buffer *view, PyObject *host, int blocking);
/* An Event for a command that has nothing to do: a marker after the wait list. */
PyObject *ocl_enqueue_nothing(Queue *queue, WaitList *list);

/* ---- program.c, program_build.c -------------------------------------------------------------- */

PyObject *ocl_program_wrap(State *state, PyTypeObject *type, cl_program handle,
                           int retain); /* type may be NULL */
Program *ocl_as_program(State *state, PyObject *obj, const char *call, const char *name);
/* The handle, made from the source if nobody has needed it yet; it stays the same from then on.
 * Waits for a build in another thread. NULL with an exception. */
cl_program ocl_program_handle(Program *self);
/* Before a kernel is made: the same, or NULL with an exception that says that the program must be
 * built first. */
cl_program ocl_program_built(Program *self, const char *call);

/* ---- usage.c: memory and the queues that may still use it ------------------------------------ */

/* Before a command is enqueued, once for each memory object that it uses, with the GIL held:
 *
 *     if (ocl_memory_prepare(memory, queue) < 0) { fail }      Buffer, Image, Pipe, ...
 *     if (ocl_svm_used(state, object, queue) < 0) { fail }     what ocl_is_svm() accepts
 *
 * Only pooled memory and SVM allocations remember queues; for a plain Buffer it is one test. For
 * the same queue as last time it is two. The first use of pooled memory on a queue other than that
 * of its former owner enqueues a barrier, so these calls must come before the command, and may
 * enqueue (the GIL may be released: pin what may be released meanwhile; arguments of the call are
 * kept by their caller). -1 with an exception. Doing it without a command following is
 * harmless. */
typedef struct {
    Queue *latest; /* the member that was added or met last, borrowed; NULL: no members */
    Queue *first;  /* members are strong references; equal handles are one member */
    Queue **more;
    int n_more;
} QueueSet;

typedef struct {
    QueueSet now;    /* queues on which the present owner used the memory */
    QueueSet before; /* those of former owners, which any other queue must wait for first */
} Usage;

int ocl_usage_add(Usage *usage, Queue *queue); /* the slow path of the two functions below */
int ocl_memory_prepare_first(Memory *self, Queue *queue);
static inline int ocl_memory_prepare(Memory *self, Queue *queue) {
    const Usage *usage = self->pool; /* a block of a pool begins with its usage */
    return usage == NULL || usage->now.latest == queue ? 0 : ocl_memory_prepare_first(self, queue);
}
int ocl_usage_visit(Usage *usage, visitproc visit, void *arg);
/* Owner gone: its queues become those of a former owner. */
void ocl_usage_pass_on(Usage *usage);
void ocl_usage_clear(Usage *usage);
/* Keeps object until all commands so far on all queues of usage are done; clears usage. */
void ocl_usage_hold(Usage *usage, PyObject *object);

/* An event that is complete when all commands so far on the queue are; it counts as live. */
cl_int ocl_enqueue_marker(Queue *queue, cl_event *event);
cl_int ocl_flush(Queue *queue);

/* ---- keepalive.c: what must outlive the commands of a queue
 * --------------------------------------- */

/* Keeps object until all commands so far on the queue are done. Never waits, unless the driver
 * cannot enqueue a marker. If it cannot wait either, object is kept for ever. No exception may be
 * set. */
void ocl_keepalive_for_queue(Queue *queue, PyObject *object);
/* Ends what should have ended. 1 if there is something that the driver will not call back for,
 * which must be looked at again. */
int ocl_keepalive_look_after(void);

/* ---- svm.c, svm_allocation.c, svm_command.c -------------------------------------------------- */

/* SVMPointer and what derives from it: SVM, SVMAllocation, PooledSVM. pointer is NULL once
 * released. */
typedef struct Svm {
    OCL_HEAD
    void *pointer;
    size_t size;
    Context *context; /* NULL: not known, memory of the host's own (system SVM) */
    Usage *usage;     /* of memory or of the block; SVM with base: NULL, base's counts */
    PyObject *mem;    /* SVM: the wrapped object */
    struct Svm *base; /* SVM: the allocation or pooled memory that mem lies in, or NULL */
    PyObject *memory; /* capsule that frees the memory (SVMAllocation) or holds the host's buffer
                         (SVM without base) */
    Usage own_usage;
    Queue *bound;        /* SVMAllocation, PooledSVM: bind_to_queue */
    PyObject *interface; /* SVMAllocation: __array_interface__ given by svm_empty, or NULL */
    void *pool;          /* PooledSVM: its block, see pool.c */
    int exposed;         /* an array may look at the memory: it is freed with the object, not by
                          * release() */
    int users;           /* calls with the GIL released that use it now: ocl_svm_pin() */
    int retired;         /* released meanwhile: given back when users is 0 */
    PyObject *dict;
} Svm;

static inline int ocl_is_svm(State *state, PyObject *obj) {
    return PyObject_TypeCheck(obj, state->SVMPointerType);
}
/* The address and size of an object with SVMPointer's interface that is alive and of the given
 * context (NULL: any); -1 with an exception. An object of unknown context (system SVM) passes. */
int ocl_svm_pointer(State *state, PyObject *obj, const char *call, const char *name,
                    cl_context context, void **pointer, size_t *size);
/* Records that queue uses obj (an SVMPointer) from now on; see "usage.c" above for where to call
 * it. Raises for memory of the host's own if the queue's device cannot use that. */
int ocl_svm_used_first(State *state, PyObject *obj, Queue *queue);
static inline int ocl_svm_used(State *state, PyObject *obj, Queue *queue) {
    const Svm *self = ((Svm *)obj)->base != NULL ? ((Svm *)obj)->base : (Svm *)obj;
    return self->usage != NULL && self->usage->now.latest == queue
               ? 0
               : ocl_svm_used_first(state, obj, queue);
}
/* Around a driver call made with the GIL released: another thread's release() takes effect only
 * afterwards. */
void ocl_svm_pin(PyObject *obj), ocl_svm_unpin(PyObject *obj);
void ocl_svm_give_back(
    Svm *self); /* the memory, once nothing uses it: to the driver or to its pool. Never waits */
void ocl_pool_return_svm(Svm *self);
int ocl_block_visit(void *block, visitproc visit, void *arg);
PyObject *ocl_svm_release(PyObject *op, PyObject *ignored);
/* A capsule that owns new SVM (at least one byte) and frees it when it goes; NULL with an
 * exception. */
PyObject *ocl_svm_memory_new(State *state, Context *context, cl_svm_mem_flags flags, size_t size,
                             cl_uint alignment, void **pointer);
int ocl_svm_memory_visit(PyObject *capsule, visitproc visit,
                         void *arg); /* what it refers to, for its only owner's tp_traverse */
PyObject *ocl_svm_allocation_new(State *state, PyTypeObject *type, Context *context, size_t size,
                                 size_t alignment, cl_svm_mem_flags flags, Queue *queue,
                                 PyObject *interface);
/* -1 with a LogicError unless a device of the context has SVM, of the kinds that flags ask for. */
int ocl_svm_supported(State *state, Context *context, const char *call, cl_svm_mem_flags flags);

/* ---- gl.c ------------------------------------------------------------------------------------ */

/* 0 if objects can be shared with OpenGL there, else -1 with an exception that says what lacks
 * which extension. */
int ocl_need_gl_device(State *state, const char *call, Device *device);
int ocl_need_gl_platform(State *state, const char *call, cl_platform_id platform);
/* The first platform that has such a device; NULL without an exception if there is none. */
cl_platform_id ocl_first_gl_platform(State *state);

/* ---- pool.c, pool_svm.c, allocator.c --------------------------------------------------------- */
int ocl_trim_pools(State *state); /* 1 if something was freed, -1 with an exception */
void ocl_kernels_let_go(
    void); /* kernel_set.c: of memory that was given to calls and that nobody else has by now */

/* ---- methods of the module, by file ---------------------------------------------------------- */

extern PyMethodDef ocl_platform_functions[], ocl_event_functions[], ocl_transfer_functions[],
    ocl_buffer_functions[], ocl_image_functions[], ocl_svm_functions[], ocl_program_functions[],
    ocl_kernel_functions[], ocl_fill_functions[], ocl_map_functions[], ocl_rect_functions[],
    ocl_enum_functions[], ocl_gl_functions[], ocl_region_functions[];

#define X(name) extern PyType_Spec ocl_##name##_spec;
OCL_TYPES(X)
#undef X
#define OCL_FLAGS Py_TPFLAGS_DEFAULT /* classes can be given attributes, as PyOpenCL's */

#endif
