/* launch_table.c - KernelTable: kernels that operators and functions launch without Python, by
 * name and kinds of operands. */
#include "array/fastpath.h"

static PyObject *grid_names; /* ("block", "grid", "stream"), kept until the process ends */

/* ---- life cycle ------------------------------------------------------------------------------ */

PG_DOC(Table_new__doc__, "KernelTable", "cuda, allocate, local",
       "(cuda: bool, allocate: Callable[[int], Any], local: tuple[int, ...])",
       "The kernels of a backend that operators launch without asking Python. allocate gives "
       "memory; local: the size of a work-group.");
static ArgSpec Table_new_args = PG_ARGSPEC(Table_new__doc__);

/* Interned: a kernel compares the names of its keywords by address first. */
static PyObject *interned_names(void) {
    static const char *const names[] = {"block", "grid", "stream"};
    PyObject *made = PyTuple_New(3);
    for (Py_ssize_t i = 0; made != NULL && i < 3; i++) {
        PyObject *name = PyUnicode_InternFromString(names[i]);
        if (name == NULL) {
            Py_CLEAR(made);
        } else {
            PyTuple_SET_ITEM(made, i, name);
        }
    }
    return made;
}

static PyObject *Table_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *a[3];
    if (pg_args_tuple(&Table_new_args, args, kwargs, a) < 0) {
        return NULL;
    }
    if (grid_names == NULL && (grid_names = interned_names()) == NULL) {
        return NULL;
    }
    int cuda = pg_as_bool(a[0], 0);
    Table *self = cuda >= 0 ? (Table *)PG_NEW(type) : NULL;
    if (self != NULL) {
        self->cuda = cuda;
        self->allocate = Py_NewRef(a[1]);
        self->local = Py_NewRef(a[2]);
        self->ordered = cuda ? Py_NewRef(Py_None) : NULL;
        self->plans = PyObject_CallNoArgs((PyObject *)arr_state->PlansType);
        self->chains = PyDict_New();
        static uint64_t serial = 0;
        self->serial = ++serial;
        if (self->plans == NULL || self->chains == NULL) {
            Py_CLEAR(self);
        }
    }
    return (PyObject *)self;
}

static int Table_traverse(PyObject *op, visitproc visit, void *arg) {
    Table *self = (Table *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->allocate);
    Py_VISIT(self->ordered);
    Py_VISIT(self->local);
    Py_VISIT(self->plans);
    Py_VISIT(self->chains);
    Py_VISIT(self->context);
    for (size_t i = 0; i < self->room; i++) {
        Py_VISIT(self->entries[i].kernel);
    }
    return 0;
}

static void entries_free(Entry *entries, size_t room) {
    for (size_t i = 0; i < room; i++) {
        Py_XDECREF(entries[i].kernel);
        Py_XDECREF(entries[i].dtype);
        Py_XDECREF(entries[i].n_object);
        Py_XDECREF(entries[i].sizes);
    }
    PyMem_Free(entries);
}

static int Table_clear(PyObject *op) {
    Table *self = (Table *)op;
    Entry *entries = self->entries;
    size_t room = self->room;
    self->entries = NULL;
    self->room = self->used = 0;
    entries_free(entries, room);
    Py_CLEAR(self->ordered);
    if (self->chains != NULL) {
        PyDict_Clear(self->chains);
    }
    return 0; /* plans stay, because a launch may be using one */
}

static void Table_dealloc(PyObject *op) {
    Table *self = (Table *)op;
    PyObject_GC_UnTrack(op);
    Table_clear(op);
    Py_XDECREF(self->allocate);
    Py_XDECREF(self->local);
    Py_XDECREF(self->plans);
    Py_XDECREF(self->chains);
    Py_XDECREF(self->context);
    pg_object_free(op);
}

/* ---- adding ---------------------------------------------------------------------------------- */

static Entry *find_slot(Entry *entries, size_t room, uint64_t key) {
    size_t at = table_slot(key);
    while (entries[at & (room - 1)].key != 0 && entries[at & (room - 1)].key != key) {
        at++;
    }
    return &entries[at & (room - 1)];
}

static int grow(Table *self) {
    size_t room = self->room != 0 ? 2 * self->room : 64;
    Entry *entries = PyMem_Calloc(room, sizeof *entries);
    if (entries == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < self->room; i++) {
        if (self->entries[i].key != 0) {
            *find_slot(entries, room, self->entries[i].key) = self->entries[i];
        }
    }
    PyMem_Free(self->entries);
    self->entries = entries;
    self->room = room;
    return 0;
}

PG_DOC(Table_add__doc__, "add",
       "$self, /, name, kinds, kernel, dtype, per_group, max_groups, group_size, op=0",
       "(name: Any, kinds: tuple[int, ...], kernel: Any, dtype: np.dtype[Any], per_group: int, "
       "max_groups: int, group_size: int, op: int = 0) -> None",
       "Launch *kernel* for the operation *name* on contiguous operands of these kinds: NumPy's "
       "type number of an array, 32 for an int, 33 for "
       "a float, 34 + type number for a NumPy number. Its parameters: the result, the operands, "
       "the number of items. Groups do per_group items "
       "each, at most max_groups. op: the number of the operation for chains, 0 of none.");
static int read_kinds(PyObject *obj, int *kinds) {
    Py_ssize_t n = PyTuple_Check(obj) ? PyTuple_GET_SIZE(obj) : -1;
    if (n < 1 || n > CALL_MAX) {
        PyErr_Format(PyExc_TypeError, "KernelTable.add: kinds must be a tuple of 1 to %d ints",
                     CALL_MAX);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        uint32_t kind;
        if (pg_as_u32(PyTuple_GET_ITEM(obj, i), "KernelTable.add", "kinds", &kind) < 0) {
            return -1;
        }
        if (kind >= KIND_NONE) {
            PyErr_SetString(PyExc_ValueError, "KernelTable.add: kinds are below 63");
            return -1;
        }
        kinds[i] = (int)kind;
    }
    return (int)n;
}

PG_FUNCTION(Table_add, 8)
static PyObject *Table_add_impl(PyObject *op, PyObject *const *a) {
    Table *self = (Table *)op;
    int kinds[CALL_MAX], n;
    uint32_t op_number = 0;
    size_t sizes[3];
    const char *call = "KernelTable.add";
    if ((n = read_kinds(a[1], kinds)) < 0 || pg_as_size(a[4], call, "per_group", &sizes[0]) < 0 ||
        pg_as_size(a[5], call, "max_groups", &sizes[1]) < 0 ||
        pg_as_size(a[6], call, "group_size", &sizes[2]) < 0 ||
        (a[7] != NULL && pg_as_u32(a[7], call, "op", &op_number) < 0)) {
        return NULL;
    }
    if (!PyArray_DescrCheck(a[3]) || sizes[0] == 0 || sizes[1] == 0 || sizes[2] == 0) {
        PyErr_SetString(PyExc_TypeError,
                        "KernelTable.add: dtype must be a numpy.dtype, sizes positive");
        return NULL;
    }
    Py_ssize_t id = arr_id(a[0], 1);
    if (id < 0 || (2 * self->used >= self->room && grow(self) < 0)) {
        return NULL;
    }
    if (id > ID_MOST) {
        Py_RETURN_NONE;
    }
    uint64_t key = table_key((int)id, kinds, n);
    Entry *entry = find_slot(self->entries, self->room, key), old = *entry;
    self->used += entry->key == 0;
    *entry = (Entry){.key = key,
                     .kernel = Py_NewRef(a[2]),
                     .dtype = (PyArray_Descr *)Py_NewRef(a[3]),
                     .op = (int)(op_number & INT32_MAX),
                     .per_group = (Py_ssize_t)sizes[0],
                     .max_groups = (Py_ssize_t)sizes[1],
                     .group_size = (Py_ssize_t)sizes[2],
                     .n = -1};
    Py_XDECREF(old.kernel);
    Py_XDECREF(old.dtype);
    Py_XDECREF(old.n_object);
    Py_XDECREF(old.sizes);
    Py_RETURN_NONE;
}

/* ---- launching ------------------------------------------------------------------------------- */

int args_array(Args *args, PyObject *memory, Py_ssize_t offset) {
    PyObject *number = PyLong_FromSsize_t(offset);
    if (number == NULL) {
        return -1;
    }
    args->owned[args->n_owned++] = number;
    args->owned[args->n_owned++] = Py_NewRef(memory);
    args_put(args, memory);
    args_put(args, number);
    return 0;
}

void args_clear(Args *args) {
    for (int i = 0; i < args->n_owned; i++) {
        Py_DECREF(args->owned[i]);
    }
    args->n = args->n_owned = 0;
}

/* Whether it is one of our pools or allocators, or a method of one, whose memory has the requested
 * size. */
static int is_ours(PyObject *allocator) {
    if (PyMethod_Check(allocator)) {
        allocator = PyMethod_GET_SELF(allocator);
    } else if (PyCFunction_Check(allocator) && PyCFunction_GET_SELF(allocator) != NULL) {
        allocator = PyCFunction_GET_SELF(allocator);
    }
    PyObject *const types[] = {arr_cuda.pools, arr_opencl.pools};
    for (int k = 0; k < 2; k++) {
        for (Py_ssize_t i = 0;
             types[k] != NULL && PyTuple_CheckExact(types[k]) && i < PyTuple_GET_SIZE(types[k]);
             i++) {
            if (PyTuple_GET_ITEM(types[k], i) == (PyObject *)Py_TYPE(allocator)) {
                return 1;
            }
        }
    }
    return 0;
}

int arr_allocating = 0;

PyObject *table_allocate(const Table *self, PyObject *backend, PyObject *allocator,
                         Py_ssize_t nbytes) {
    if (allocator != Py_None && nbytes > 0 && !is_ours(allocator)) {
        return PyObject_CallMethod(backend, "allocate", "nO", nbytes, allocator);
    }
    PyObject *size = PyLong_FromSsize_t(nbytes);
    if (size == NULL) {
        return NULL;
    }
    /* Others' allocators may refuse 0 bytes, as OpenCL does. It is the array's, which another
     * thread may give another one meanwhile. */
    PyObject *allocate =
        Py_NewRef(allocator == Py_None || nbytes == 0 ? self->allocate : allocator);
    arr_allocating++;
    PyObject *memory = PyObject_CallOneArg(allocate, size);
    arr_allocating--;
    Py_DECREF(allocate);
    Py_DECREF(size);
    return memory;
}

/* Makes the objects that give a launch the number of items, and caches them for the next launch.
 * Returns the entry; NULL if it is gone, or with an exception: making a tuple may collect garbage,
 * which may run any code. */
static Entry *set_count(const Table *self, Entry *entry, Py_ssize_t n) {
    uint64_t key = entry->key;
    Py_ssize_t groups = n / entry->per_group + (n % entry->per_group != 0);
    groups = groups > entry->max_groups ? entry->max_groups : groups;
    PyObject *count = PyLong_FromSsize_t(n),
             *sizes = Py_BuildValue("(n)", self->cuda ? groups : groups * entry->group_size);
    entry = count != NULL && sizes != NULL ? table_find(self, key) : NULL;
    if (entry == NULL) {
        Py_XDECREF(count);
        Py_XDECREF(sizes);
        return NULL;
    }
    Py_XSETREF(entry->n_object, count);
    Py_XSETREF(entry->sizes, sizes);
    entry->n = n;
    return entry;
}

PyObject *table_launch(const Table *self, PyObject *kernel, PyObject *queue, PyObject *sizes,
                       PyObject *local, Args *args) {
    PyObject **slots = args->slots;
    size_t n = (size_t)args->n;
    PyObject *result;
    Py_INCREF(queue); /* the array's, which may be replaced in the meantime */
    if (self->cuda) {
        slots[3 + n] = local;
        slots[4 + n] = sizes;
        slots[5 + n] = queue;
        result = PyObject_Vectorcall(kernel, slots + 3, n, grid_names);
    } else {
        slots[0] = queue;
        slots[1] = sizes;
        slots[2] = local;
        result = PyObject_Vectorcall(kernel, slots, n + 3, NULL);
    }
    Py_DECREF(queue);
    return result;
}

Entry *table_counted(const Table *self, uint64_t key, Py_ssize_t n) {
    Entry *entry = table_find(self, key);
    return entry == NULL || entry->n == n ? entry : set_count(self, entry, n);
}

PyObject *table_launch_entry(Table *self, uint64_t key, PyObject *queue, Args *args, Py_ssize_t n) {
    Entry *entry = table_counted(self, key, n);
    if (entry == NULL) {
        return NULL;
    }
    /* Another thread may change the entry while a launch releases the GIL. */
    PyObject *kernel = Py_NewRef(entry->kernel), *count = Py_NewRef(entry->n_object),
             *sizes = Py_NewRef(entry->sizes);
    args_put(args, count);
    PyObject *result = table_launch(self, kernel, queue, sizes, self->local, args);
    Py_DECREF(kernel);
    Py_DECREF(count);
    Py_DECREF(sizes);
    return result;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static PyObject *Table_get_ordered(PyObject *op, void *Py_UNUSED(closure)) {
    Table *self = (Table *)op;
    return Py_NewRef(self->ordered != NULL ? self->ordered : Py_None);
}

static int Table_set_ordered(PyObject *op, PyObject *value, void *Py_UNUSED(closure)) {
    Table *self = (Table *)op;
    Py_XSETREF(self->ordered, Py_XNewRef(value));
    return 0;
}

static PyMemberDef Table_members[] = {
    {"context", T_OBJECT, offsetof(Table, context), 0,
     "Any: The context of the arrays, on OpenCL."},
    {"plans", T_OBJECT_EX, offsetof(Table, plans), READONLY,
     "Plans: launches cached by shapes and strides."},
    {NULL, 0, 0, 0, NULL},
};
static PyMethodDef Table_methods[] = {{"add", FAST(Table_add), Table_add__doc__},
                                      {NULL, NULL, 0, NULL}};
static PyGetSetDef Table_getset[] = {
    {"ordered", Table_get_ordered, Table_set_ordered,
     "Any: The queue, known to run in order, whose arrays may use the table.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot KernelTable_slots[] = {
    {Py_tp_doc, (void *)Table_new__doc__},
    {Py_tp_new, (void *)Table_new},
    PG_GC_SLOTS(Table),
    PG_TABLE_SLOTS(Table),
    {0, NULL},
};
ARR_TYPE(KernelTable, Table, Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE);
