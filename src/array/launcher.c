/* launcher.c - KernelBase and Launcher: launch kernels written in Python without running Python,
 * once they are compiled for arguments of these types. */
#include "array/arraymod.h"
#include "array/launch_codes.h"

#define CACHED_LAUNCHES 8
#define MAX_ARGS        24
#define MAX_STEPS       96
#define MAX_CONFIGS     64

/* One argument of the compiled kernel: which property of which call argument to pass. */
typedef struct {
    unsigned char what, arg, axis;
} Step;

/* A compiled kernel, and what the arguments must be for it. References to a context's objects are
 * weak: a program's function outlives contexts, and must not keep them alive. */
typedef struct {
    PyObject *kernel;  /* weak; NULL: unused */
    PyObject *backend; /* weak; the arrays' backend */
    PyObject *queue;   /* weak; OpenCL: an in-order queue; CUDA: NULL */
    PyObject *guards;  /* tuple of (namespace, name, value): what must still have these values, see
                        * guards_hold() in pygpu/_src/jit/compiler.py */
    PyObject *record, *id; /* the objects for GIVE_RECORD (a weak reference if it is a buffer) and
                            * GIVE_ID; None: it writes no record */
    int64_t *tests;        /* tests that a launch must pass; NULL: none */
    Py_ssize_t n_tests;
    int cuda, n, n_steps;
    uintptr_t codes[MAX_ARGS];
    Step steps[MAX_STEPS];
} CachedLaunch;

typedef struct {
    PyObject_HEAD
    PyObject *configs; /* dict: Launchers by (blocks, threads) */
    int next;          /* the slot for the next new kernel */
    CachedLaunch cached[CACHED_LAUNCHES];
} KernelBase;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *kernel, *grid, *block, *queue, *shared, *global_size;
    PyObject *names; /* CUDA: keyword names of a launch */
    int empty;
} Launcher;

/* ---- KernelBase ------------------------------------------------------------------------------ */

static PyObject *KernelBase_new(PyTypeObject *type, PyObject *Py_UNUSED(args),
                                PyObject *Py_UNUSED(kwargs)) {
    KernelBase *self = (KernelBase *)PG_NEW(type);
    if (self != NULL && (self->configs = PyDict_New()) == NULL) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static int KernelBase_traverse(PyObject *op, visitproc visit, void *arg) {
    KernelBase *self = (KernelBase *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->configs);
    for (int i = 0; i < CACHED_LAUNCHES; i++) {
        Py_VISIT(self->cached[i].kernel);
        Py_VISIT(self->cached[i].backend);
        Py_VISIT(self->cached[i].queue);
        Py_VISIT(self->cached[i].guards);
        Py_VISIT(self->cached[i].record);
        Py_VISIT(self->cached[i].id);
    }
    return 0;
}

static void clear_cached(CachedLaunch *cached) {
    PyObject *held[] = {cached->kernel, cached->backend, cached->queue,
                        cached->guards, cached->record,  cached->id};
    PyMem_Free(cached->tests);
    memset(cached, 0, sizeof *cached);
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++) {
        Py_XDECREF(held[i]);
    }
}

static int KernelBase_clear(PyObject *op) {
    KernelBase *self = (KernelBase *)op;
    Py_CLEAR(self->configs);
    for (int i = 0; i < CACHED_LAUNCHES; i++) {
        clear_cached(&self->cached[i]);
    }
    return 0;
}

static void KernelBase_dealloc(PyObject *op) {
    PyObject_GC_UnTrack(op);
    KernelBase_clear(op);
    pg_object_free(op);
}

/* ---- kinds of arguments ---------------------------------------------------------------------- */

/* A number for the kind of an argument, 0 to leave it to Python. Arrays have odd ones; the others
 * are addresses of types. */
static uintptr_t code_of(PyObject *arg) {
    if (PyLong_CheckExact(arg) || PyFloat_CheckExact(arg)) {
        return (uintptr_t)Py_TYPE(arg);
    }
    if (arr_is_array(arg)) {
        const GPUArray *a = (GPUArray *)arg;
        int type = a->dtype->type_num;
        if ((type > NPY_CDOUBLE && type != NPY_HALF) || type == NPY_LONGDOUBLE ||
            !PyArray_ISNBO(a->dtype->byteorder)) {
            return 0;
        }
        Py_ssize_t bits = a->offset;
        for (int i = 0; i < a->ndim; i++) {
            if (ARRAY_SHAPE(a)[i] > 1) {
                bits |= ARRAY_STRIDES(a)[i];
            }
        }
        if (bits & (ARRAY_ITEMSIZE(a) - 1)) {
            return 0; /* unaligned */
        }
        unsigned flags = (a->flags & ARRAY_C ? 1u : 0u) | (a->offset == 0 ? 2u : 0u);
        return ((uintptr_t)type << 16 | (uintptr_t)a->ndim << 8 | flags << 1) | 1;
    }
    return PyArray_IsScalar(arg, Number) && !(Py_TYPE(arg)->tp_flags & Py_TPFLAGS_HEAPTYPE)
               ? (uintptr_t)Py_TYPE(arg)
               : 0; /* a type may be freed */
}

/* Reads the codes of all arguments and the backend of their arrays (borrowed); 0 to leave them to
 * Python. */
static int codes_of(PyObject *const *args, Py_ssize_t n, uintptr_t *codes, PyObject **backend) {
    *backend = NULL;
    if (n > MAX_ARGS) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        codes[i] = code_of(args[i]);
        if (codes[i] == 0) {
            return 0;
        }
        if (codes[i] & 1) {
            PyObject *its = ((GPUArray *)args[i])->backend;
            if (*backend != NULL && its != *backend) {
                return 0;
            }
            *backend = its;
        }
    }
    return *backend != NULL;
}

/* Whether a guard's name still has its value. Lookups of items and attributes give a new reference,
 * which is dropped before the comparison: the guard keeps the value with which it is compared. */
static int holds(PyObject *guard) {
    PyObject *namespace = PyTuple_GET_ITEM(guard, 0), *name = PyTuple_GET_ITEM(guard, 1), *now;
    if (PyDict_CheckExact(namespace)) {
        now = PyDict_GetItemWithError(namespace, name);
    } else if (PyCell_Check(namespace)) {
        now = PyCell_GET(namespace);
    } else {
        now = PyList_CheckExact(namespace) ? PyObject_GetItem(namespace, name)
                                           : PyObject_GetAttr(namespace, name);
        Py_XDECREF(now);
    }
    return now == PyTuple_GET_ITEM(guard, 2);
}

static int all_hold(PyObject *guards) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(guards); i++) {
        if (!holds(PyTuple_GET_ITEM(guards, i))) {
            PyErr_Clear();
            return 0;
        }
    }
    return 1;
}

/* The same; looking up an attribute may run code that drops the kernel, in which case they do not
 * hold. */
static int guards_hold(const CachedLaunch *cached) {
    PyObject *guards = Py_NewRef(cached->guards), *kernel = Py_NewRef(cached->kernel);
    int hold = all_hold(guards) && cached->guards == guards && cached->kernel == kernel;
    Py_DECREF(guards);
    Py_DECREF(kernel);
    return hold;
}

PG_DOC(KernelBase_remember__doc__, "_remember",
       "$self, /, args, kernel, steps, guards, queue, cuda, tests, given",
       "(args: tuple[Any, ...], kernel: Any, steps: tuple[int, ...], guards: tuple[Any, ...], "
       "queue: Any, cuda: bool, "
       "tests: tuple[int, ...], given: tuple[Any, Any]) -> None",
       "Launch *kernel* for arguments like *args*. steps: for each of its own arguments three "
       "numbers: what is given (0 the number, 1 memory, "
       "2 offset, 3 shape, 4 strides, 5 and 6 what is in *given*), of which argument, of which "
       "axis. queue: an OpenCL queue that runs in "
       "order. tests: what must hold of a launch, from ranges.program(). The kernel and the queue "
       "are kept by somebody else.");
static ArgSpec KernelBase_remember_args = PG_ARGSPEC(KernelBase_remember__doc__);

static int read_steps(PyObject *steps, Py_ssize_t n_args, PyObject *args, CachedLaunch *cached) {
    Py_ssize_t n = PyTuple_GET_SIZE(steps);
    for (Py_ssize_t i = 0; i < n; i++) {
        uint32_t value;
        if (pg_as_u32(PyTuple_GET_ITEM(steps, i), "KernelBase._remember", "steps", &value) < 0) {
            return -1;
        }
        Step *step = &cached->steps[i / 3];
        int right = 1;
        switch (i % 3) {
        case 0:
            right = value < GIVE_COUNT;
            step->what = (unsigned char)value;
            break;
        case 1:
            right = value < (uint32_t)n_args &&
                    (step->what == GIVE_NUMBER || step->what >= GIVE_RECORD ||
                     arr_is_array(PyTuple_GET_ITEM(args, value)));
            step->arg = (unsigned char)value;
            break;
        default:
            right = value < ARRAY_MAX_DIMS &&
                    ((step->what != GIVE_SHAPE && step->what != GIVE_STRIDES) ||
                     (int)value < ((GPUArray *)PyTuple_GET_ITEM(args, step->arg))->ndim);
            step->axis = (unsigned char)value;
        }
        if (!right) {
            PyErr_SetString(PyExc_ValueError,
                            "KernelBase._remember: steps do not fit the arguments");
            return -1;
        }
    }
    cached->n_steps = (int)(n / 3);
    return 0;
}

/* The arguments of KernelBase._remember(), in order. */
enum {
    REMEMBER_ARGS,
    REMEMBER_KERNEL,
    REMEMBER_STEPS,
    REMEMBER_GUARDS,
    REMEMBER_QUEUE,
    REMEMBER_CUDA,
    REMEMBER_TESTS,
    REMEMBER_GIVEN
};

static int check_types(PyObject *const *a) {
    if (!PyTuple_Check(a[REMEMBER_ARGS]) || !PyTuple_Check(a[REMEMBER_STEPS]) ||
        !PyTuple_Check(a[REMEMBER_GUARDS]) || PyTuple_GET_SIZE(a[REMEMBER_STEPS]) % 3 ||
        !PyTuple_Check(a[REMEMBER_TESTS]) || !PyTuple_Check(a[REMEMBER_GIVEN]) ||
        PyTuple_GET_SIZE(a[REMEMBER_GIVEN]) != 2) {
        PyErr_SetString(PyExc_TypeError,
                        "KernelBase._remember: args, steps, guards, tests and given are tuples");
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(a[REMEMBER_GUARDS]); i++) {
        PyObject *guard = PyTuple_GET_ITEM(a[REMEMBER_GUARDS], i);
        if (!PyTuple_Check(guard) || PyTuple_GET_SIZE(guard) != 3) {
            PyErr_SetString(PyExc_TypeError,
                            "KernelBase._remember: a guard is (namespace, name, value)");
            return -1;
        }
    }
    return 0;
}

/* Sets the objects of a compiled kernel, weak where CachedLaunch says so. Returns 0, or -1 with an
 * exception. */
static int keep_objects(CachedLaunch *cached, PyObject *const *a, PyObject *backend, int cuda) {
    PyObject *record = PyTuple_GET_ITEM(a[REMEMBER_GIVEN], 0);
    cached->kernel = PyWeakref_NewRef(a[REMEMBER_KERNEL], NULL);
    cached->backend = PyWeakref_NewRef(backend, NULL);
    cached->queue = cuda ? NULL : PyWeakref_NewRef(a[REMEMBER_QUEUE], NULL);
    if (PyErr_Occurred()) {
        return -1;
    }
    cached->guards = Py_NewRef(a[REMEMBER_GUARDS]);
    /* OpenCL: a buffer, which keeps its context alive */
    cached->record = record == Py_None || PyLong_Check(record) ? Py_NewRef(record)
                                                               : PyWeakref_NewRef(record, NULL);
    cached->id = Py_NewRef(PyTuple_GET_ITEM(a[REMEMBER_GIVEN], 1));
    cached->cuda = cuda;
    return cached->record != NULL ? 0 : -1;
}

/* The slot for a kernel: that of one for the same arguments (when a global name has changed),
 * otherwise the oldest. */
static CachedLaunch *slot_for(KernelBase *self, const CachedLaunch *made, const PyObject *backend) {
    CachedLaunch *slot = NULL;
    for (int i = 0; i < CACHED_LAUNCHES; i++) {
        CachedLaunch *one = &self->cached[i];
        if (one->kernel != NULL && one->n == made->n && arr_weakref_is(one->backend, backend) &&
            memcmp(one->codes, made->codes, (size_t)made->n * sizeof made->codes[0]) == 0) {
            slot = one;
        }
    }
    if (slot == NULL || slot == &self->cached[self->next]) {
        slot = &self->cached[self->next];
        self->next = (self->next + 1) % CACHED_LAUNCHES;
    }
    return slot;
}

static PyObject *KernelBase_remember(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                                     PyObject *kwnames) {
    KernelBase *self = (KernelBase *)op;
    PyObject *a[8], *backend;
    if (pg_args(&KernelBase_remember_args, args, nargs, kwnames, a) < 0) {
        return NULL;
    }
    int cuda = pg_as_bool(a[REMEMBER_CUDA], 0);
    if (cuda < 0 || check_types(a) < 0) {
        return NULL;
    }
    CachedLaunch made = {0};
    Py_ssize_t n = PyTuple_GET_SIZE(a[REMEMBER_ARGS]);
    if (PyTuple_GET_SIZE(a[REMEMBER_STEPS]) > 3 * MAX_STEPS ||
        !codes_of(((PyTupleObject *)a[REMEMBER_ARGS])->ob_item, n, made.codes, &backend)) {
        Py_RETURN_NONE; /* left to Python */
    }
    made.n = (int)n;
    if (read_steps(a[REMEMBER_STEPS], n, a[REMEMBER_ARGS], &made) < 0 ||
        arr_tests_read(a[REMEMBER_TESTS], a[REMEMBER_ARGS], &made.tests, &made.n_tests) < 0 ||
        keep_objects(&made, a, backend, cuda) < 0) {
        clear_cached(&made);
        return NULL;
    }
    CachedLaunch *slot = slot_for(self, &made, backend), old = *slot;
    *slot = made;
    clear_cached(&old);
    Py_RETURN_NONE;
}

/* kernel[blocks, threads] */
static PyObject *KernelBase_subscript(PyObject *op, PyObject *config) {
    KernelBase *self = (KernelBase *)op;
    int plain = PyTuple_CheckExact(config) && PyTuple_GET_SIZE(config) == 2;
    if (plain) {
        PyObject *found = PyDict_GetItemWithError(self->configs, config);
        if (found != NULL) {
            return Py_NewRef(found);
        }
        PyErr_Clear(); /* not hashable, such as a list */
    }
    PyObject *made = PyObject_CallMethod(op, "_configure", "(O)", config);
    if (made == NULL) {
        arr_hide_frames();
    } else if (plain) {
        if (PyDict_GET_SIZE(self->configs) >= MAX_CONFIGS) {
            PyDict_Clear(self->configs);
        }
        if (PyDict_SetItem(self->configs, config, made) < 0) {
            PyErr_Clear();
        }
    }
    return made;
}

static PyMethodDef KernelBase_methods[] = {
    {"_remember", FAST(KernelBase_remember), KernelBase_remember__doc__}, {NULL, NULL, 0, NULL}};

PyDoc_STRVAR(KernelBase__doc__, "KernelBase()\n--\n\nWhat a kernel written in Python keeps in C: "
                                "see pygpu._src.jit.decorators.kernel.Kernel.");

static PyType_Slot KernelBase_slots[] = {
    {Py_tp_doc, (void *)KernelBase__doc__},
    {Py_tp_new, (void *)KernelBase_new},
    PG_GC_SLOTS(KernelBase),
    {Py_mp_subscript, (void *)KernelBase_subscript},
    {Py_tp_methods, KernelBase_methods},
    {0, NULL},
};

ARR_TYPE(KernelBase, KernelBase,
         Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE);

/* ---- Launcher -------------------------------------------------------------------------------- */

/* The arguments of a launch while they are assembled. */
typedef struct {
    Py_ssize_t n;
    int n_owned;
    PyObject *owned[MAX_STEPS + 1]; /* a conversion may run code that replaces arrays' memory */
    PyObject *slots[1 + 3 + MAX_STEPS + 4]; /* the first slot is for
                                             * PY_VECTORCALL_ARGUMENTS_OFFSET */
} LaunchArgs;

static inline void put(LaunchArgs *to, PyObject *arg) {
    to->slots[1 + to->n++] = arg;
}

static inline void put_owned(LaunchArgs *to, PyObject *arg) {
    to->owned[to->n_owned++] = arg;
    put(to, arg);
}

/* Adds queue and sizes, which come first on OpenCL. Returns 0 if the arrays' queue is not the
 * kernel's. */
static inline int put_queue(LaunchArgs *to, const Launcher *self, const CachedLaunch *cached,
                            PyObject *const *args) {
    PyObject *queue = arr_weakref_get(cached->queue);
    int same = queue != NULL && (self->queue == Py_None || self->queue == queue);
    for (int i = 0; i < cached->n && same; i++) {
        const GPUArray *a = (GPUArray *)args[i];
        same = !(cached->codes[i] & 1) || (a->queue == queue && !arr_has_foreign_events(a));
    }
    if (!same) {
        Py_XDECREF(queue);
        return 0;
    }
    put_owned(to, queue);
    put(to, self->global_size);
    put(to, self->block);
    return 1;
}

/* Whether an array has its own stream, which Python uses for the launch. */
static inline int has_stream(const CachedLaunch *cached, PyObject *const *args) {
    for (int i = 0; i < cached->n; i++) {
        if (cached->codes[i] & 1 && ((GPUArray *)args[i])->queue != Py_None) {
            return 1;
        }
    }
    return 0;
}

/* Returns 1; 0 if the context is gone; -1 with an exception. */
static inline int put_step(LaunchArgs *to, const CachedLaunch *cached, const Step *step,
                           PyObject *arg) {
    const GPUArray *a = (GPUArray *)arg;
    Py_ssize_t value;
    switch (step->what) {
    case GIVE_NUMBER:
        put(to, arg);
        return 1;
    case GIVE_MEMORY:
        put_owned(to, Py_NewRef(a->base_data));
        return 1;
    case GIVE_RECORD:
    case GIVE_ID:
        arg = step->what == GIVE_ID ? cached->id : cached->record;
        arg = PyWeakref_CheckRef(arg) ? arr_weakref_get(arg) : Py_NewRef(arg);
        if (arg == NULL) {
            return 0;
        }
        put_owned(to, arg);
        return 1;
    case GIVE_OFFSET:
        value = a->offset;
        break;
    case GIVE_SHAPE:
        value = ARRAY_SHAPE(a)[step->axis];
        break;
    default:
        value = ARRAY_STRIDES(a)[step->axis];
    }
    PyObject *number = PyLong_FromSsize_t(value);
    if (number == NULL) {
        return -1;
    }
    put_owned(to, number);
    return 1;
}

/* Returns 1 if launched (*result is new); 0 if the kernel is gone; -1 with an exception. */
static inline int call_kernel(LaunchArgs *to, const Launcher *self, const CachedLaunch *cached,
                              PyObject **result) {
    PyObject *names = NULL;
    size_t nargs = (size_t)to->n;
    if (cached->cuda) {
        names = self->names;
        put(to, self->grid);
        put(to, self->block);
        if (PyTuple_GET_SIZE(names) > 2) {
            put(to, self->queue);
            put(to, self->shared);
        }
    }
    PyObject *kernel = arr_weakref_get(
        cached->kernel); /* keep it: a conversion may run Python code that drops it */
    if (kernel == NULL) {
        return 0;
    }
    *result =
        PyObject_Vectorcall(kernel, to->slots + 1, nargs | PY_VECTORCALL_ARGUMENTS_OFFSET, names);
    Py_DECREF(kernel);
    return *result != NULL ? 1 : -1;
}

/* Returns 1 if launched (*result is new); 0 to leave it to Python; -1 with an exception. */
static int launch(const Launcher *self, const CachedLaunch *cached, PyObject *const *args,
                  PyObject **result) {
    LaunchArgs to;
    to.n = to.n_owned = 0;
    if (arr_record_words[0] != 0 ||
        !arr_tests_hold(cached->tests, cached->n_tests, self->grid, self->block, args)) {
        return 0;
    }
    if (!cached->cuda) {
        if (!put_queue(&to, self, cached, args)) {
            return 0;
        }
    } else if (self->queue == Py_None && has_stream(cached, args)) {
        return 0;
    }
    int status = 1;
    for (int i = 0; i < cached->n_steps && status > 0; i++) {
        status = put_step(&to, cached, &cached->steps[i], args[cached->steps[i].arg]);
    }
    if (status > 0) {
        status = call_kernel(&to, self, cached, result);
    }
    for (int i = 0; i < to.n_owned; i++) {
        Py_DECREF(to.owned[i]);
    }
    return status;
}

static PyObject *Launcher_vectorcall(PyObject *op, PyObject *const *args, size_t nargsf,
                                     PyObject *kwnames) {
    Launcher *self = (Launcher *)op;
    KernelBase *kernel = (KernelBase *)self->kernel;
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    uintptr_t codes[MAX_ARGS];
    PyObject *backend, *result = NULL;
    if (kwnames == NULL && !self->empty && codes_of(args, nargs, codes, &backend)) {
        for (int i = 0; i < CACHED_LAUNCHES; i++) {
            const CachedLaunch *cached = &kernel->cached[i];
            if (cached->kernel == NULL || cached->n != nargs ||
                !arr_weakref_is(cached->backend, backend) ||
                memcmp(cached->codes, codes, (size_t)nargs * sizeof codes[0]) != 0) {
                continue;
            }
            if (!guards_hold(cached)) {
                break;
            }
            int cuda = cached->cuda, done = launch(self, cached, args, &result);
            if (done == 0) {
                break;
            }
            if (done < 0) {
                if (!PyErr_ExceptionMatches(PyExc_OverflowError)) {
                    return NULL;
                }
                PyErr_Clear(); /* nothing was launched; Python names the argument */
                break;
            }
            for (Py_ssize_t k = 0; k < nargs && !cuda; k++) {
                if (codes[k] & 1 && arr_set_event((GPUArray *)args[k], result) < 0) {
                    Py_DECREF(result);
                    return NULL;
                }
            }
            return result;
        }
    }
    /* kernel._launch(launcher, *args, **kwargs) */
    Py_ssize_t all = nargs + (kwnames != NULL ? PyTuple_GET_SIZE(kwnames) : 0);
    PyObject **full = PyMem_Malloc(((size_t)all + 2) * sizeof *full);
    PyObject *name = PyUnicode_InternFromString("_launch");
    if (full == NULL || name == NULL) {
        PyMem_Free(full);
        Py_XDECREF(name);
        return PyErr_NoMemory();
    }
    full[0] = self->kernel;
    full[1] = op;
    memcpy(full + 2, args, (size_t)all * sizeof *full);
    result = PyObject_VectorcallMethod(name, full, (size_t)(nargs + 2), kwnames);
    Py_DECREF(name);
    PyMem_Free(full);
    if (result == NULL) {
        arr_hide_frames();
    }
    return result;
}

PG_DOC(Launcher_new__doc__, "Launcher", "kernel, grid, block, queue, shared, global_size",
       "(kernel: KernelBase, grid: tuple[int, ...], block: tuple[int, ...], queue: Any, shared: "
       "int, global_size: tuple[int, ...])",
       "A kernel with the size of its launch. global_size: grid * block, for OpenCL.");
static ArgSpec Launcher_new_args = PG_ARGSPEC(Launcher_new__doc__);

static PyObject *Launcher_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *a[6];
    if (pg_args_tuple(&Launcher_new_args, args, kwargs, a) < 0) {
        return NULL;
    }
    if (!PyObject_TypeCheck(a[0], arr_state->KernelBaseType) || !PyTuple_Check(a[1]) ||
        !PyTuple_Check(a[2])) {
        PyErr_SetString(PyExc_TypeError, "Launcher: a kernel and tuples of sizes are needed");
        return NULL;
    }
    Launcher *self = (Launcher *)PG_NEW(type);
    if (self == NULL) {
        return NULL;
    }
    self->vectorcall = Launcher_vectorcall;
    self->kernel = Py_NewRef(a[0]);
    self->grid = Py_NewRef(a[1]);
    self->block = Py_NewRef(a[2]);
    self->queue = Py_NewRef(a[3]);
    self->shared = Py_NewRef(a[4]);
    self->global_size = Py_NewRef(a[5]);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(a[1]); i++) {
        int some = PyObject_IsTrue(PyTuple_GET_ITEM(a[1], i));
        self->empty |= some <= 0;
    }
    int shared = PyObject_IsTrue(a[4]);
    if (shared >= 0 && !PyErr_Occurred()) {
        self->names = shared || a[3] != Py_None
                          ? Py_BuildValue("(ssss)", "grid", "block", "stream", "shared")
                          : Py_BuildValue("(ss)", "grid", "block");
    }
    if (self->names == NULL) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static int Launcher_traverse(PyObject *op, visitproc visit, void *arg) {
    Launcher *self = (Launcher *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->kernel);
    Py_VISIT(self->grid);
    Py_VISIT(self->block);
    Py_VISIT(self->queue);
    Py_VISIT(self->shared);
    Py_VISIT(self->global_size);
    return 0;
}

static void Launcher_dealloc(PyObject *op) {
    Launcher *self = (Launcher *)op;
    PyObject_GC_UnTrack(op);
    Py_XDECREF(self->kernel);
    Py_XDECREF(self->grid);
    Py_XDECREF(self->block);
    Py_XDECREF(self->queue);
    Py_XDECREF(self->shared);
    Py_XDECREF(self->global_size);
    Py_XDECREF(self->names);
    pg_object_free(op);
}

static PyMemberDef Launcher_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Launcher, vectorcall), READONLY, NULL},
    {"kernel", T_OBJECT, offsetof(Launcher, kernel), READONLY, "Any: The kernel."},
    {"grid", T_OBJECT, offsetof(Launcher, grid), READONLY, "Any: Blocks in each dimension."},
    {"block", T_OBJECT, offsetof(Launcher, block), READONLY,
     "Any: Threads of a block in each dimension."},
    {"queue", T_OBJECT, offsetof(Launcher, queue), READONLY,
     "Any: CommandQueue or Stream; None: that of the arrays."},
    {"shared", T_OBJECT, offsetof(Launcher, shared), READONLY,
     "Any: Dynamic shared memory [bytes]."},
    {NULL, 0, 0, 0, NULL},
};

static PyObject *Launcher_repr(PyObject *op) {
    Launcher *self = (Launcher *)op;
    return PyUnicode_FromFormat("<%R with grid %R, block %R>", self->kernel, self->grid,
                                self->block);
}

static PyType_Slot Launcher_slots[] = {
    {Py_tp_doc, (void *)Launcher_new__doc__},  {Py_tp_repr, (void *)Launcher_repr},
    {Py_tp_new, (void *)Launcher_new},         {Py_tp_traverse, (void *)Launcher_traverse},
    {Py_tp_dealloc, (void *)Launcher_dealloc}, {Py_tp_call, (void *)PyVectorcall_Call},
    {Py_tp_members, Launcher_members},         {0, NULL},
};

ARR_TYPE(Launcher, Launcher,
         Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE);
