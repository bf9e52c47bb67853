/* table.c - KernelTable: the kernels that operators launch without asking Python, by operator and kinds of operands. */
#include "table.h"

static PyObject *grid_names; /* ("block", "grid", "stream"), for the life of the process */

/* ---- lifecycle ----------------------------------------------------------------------------------------------------------- */

PG_DOC(Table_new__doc__, "KernelTable", "cuda, allocate, local", "(cuda: bool, allocate: Callable[[int], Any], local: tuple[int, ...])",
       "The kernels of a backend that operators launch without asking Python. allocate gives memory; local: the size of a work-group.");
static ArgSpec Table_new_args = PG_ARGSPEC(Table_new__doc__);

static PyObject *Table_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *a[3];
    if (pg_args_tuple(&Table_new_args, args, kwargs, a) < 0) {
        return NULL;
    }
    if (grid_names == NULL && (grid_names = Py_BuildValue("(sss)", "block", "grid", "stream")) == NULL) {
        return NULL;
    }
    int cuda = pg_as_bool(a[0], 0);
    Table *self = cuda >= 0 ? (Table *)PG_NEW(type) : NULL;
    if (self != NULL) {
        self->cuda = cuda;
        self->allocate = Py_NewRef(a[1]);
        self->local = Py_NewRef(a[2]);
        self->ordered = cuda ? Py_NewRef(Py_None) : NULL;
    }
    return (PyObject *)self;
}

static int Table_traverse(PyObject *op, visitproc visit, void *arg) {
    Table *self = (Table *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->allocate);
    Py_VISIT(self->ordered);
    Py_VISIT(self->local);
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
    return 0;
}

static void Table_dealloc(PyObject *op) {
    Table *self = (Table *)op;
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    Table_clear(op);
    Py_XDECREF(self->allocate);
    Py_XDECREF(self->local);
    type->tp_free(op);
    Py_DECREF(type);
}

/* ---- adding -------------------------------------------------------------------------------------------------------------- */

static Entry *place(Entry *entries, size_t room, uint32_t key) {
    size_t at = key * 2654435761u;
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
            *place(entries, room, self->entries[i].key) = self->entries[i];
        }
    }
    PyMem_Free(self->entries);
    self->entries = entries;
    self->room = room;
    return 0;
}

static int operator_named(PyObject *name) {
    for (int op = 0; op < OP_COUNT; op++) {
        if (PyUnicode_Compare(arr_state->names[op], name) == 0) {
            return op;
        }
    }
    PyErr_Format(PyExc_ValueError, "KernelTable.add: there is no operator %R", name);
    return -1;
}

PG_DOC(Table_add__doc__, "add", "$self, /, name, a, b, kernel, dtype, per_group, max_groups, group_size",
       "(name: str, a: int, b: int, kernel: Any, dtype: np.dtype[Any], per_group: int, max_groups: int, group_size: int) -> None",
       "Launch *kernel* for operator *name* on contiguous operands of kinds a and b: NumPy's type number of an array, 32 for an int, 33 for a "
       "float, 63 for none. Its parameters: the result, the operands, the number of items. Groups do per_group items each, at most max_groups.");
static ArgSpec Table_add_args = PG_ARGSPEC(Table_add__doc__);

static PyObject *Table_add(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
    Table *self = (Table *)op;
    PyObject *a[8];
    uint32_t kinds[2];
    size_t sizes[3];
    const char *call = "KernelTable.add";
    if (pg_args(&Table_add_args, args, nargs, kwnames, a) < 0 || pg_as_u32(a[1], call, "a", &kinds[0]) < 0 || pg_as_u32(a[2], call, "b", &kinds[1]) < 0 ||
        pg_as_size(a[5], call, "per_group", &sizes[0]) < 0 || pg_as_size(a[6], call, "max_groups", &sizes[1]) < 0 ||
        pg_as_size(a[7], call, "group_size", &sizes[2]) < 0) {
        return NULL;
    }
    if (!PyUnicode_Check(a[0]) || !PyArray_DescrCheck(a[4]) || kinds[0] > 63 || kinds[1] > 63 || sizes[0] == 0 || sizes[1] == 0 || sizes[2] == 0) {
        PyErr_SetString(PyExc_TypeError, "KernelTable.add: name must be a str, dtype a numpy.dtype, kinds below 64, sizes positive");
        return NULL;
    }
    int operator= operator_named(a[0]);
    if (operator< 0 || (2 * self->used >= self->room && grow(self) < 0)) {
        return NULL;
    }
    uint32_t key = TABLE_KEY(operator, kinds[0], kinds[1]);
    Entry *entry = place(self->entries, self->room, key), old = *entry;
    self->used += entry->key == 0;
    *entry = (Entry){.key = key,
                     .kernel = Py_NewRef(a[3]),
                     .dtype = (PyArray_Descr *)Py_NewRef(a[4]),
                     .numbers = (kinds[0] >= KIND_INT && kinds[0] != KIND_NONE) + (kinds[1] >= KIND_INT && kinds[1] != KIND_NONE),
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

/* ---- launching ------------------------------------------------------------------------------------------------------------- */

PyObject *table_allocate(const Table *self, PyObject *allocator, Py_ssize_t nbytes) {
    PyObject *size = PyLong_FromSsize_t(nbytes);
    if (size == NULL) {
        return NULL;
    }
    PyObject *memory = PyObject_CallOneArg(allocator == Py_None ? self->allocate : allocator, size);
    Py_DECREF(size);
    return memory;
}

/* The objects that tell a launch how many items there are; kept for the next one. */
static int set_count(const Table *self, Entry *entry, Py_ssize_t n) {
    Py_ssize_t groups = n / entry->per_group + (n % entry->per_group != 0);
    groups = groups > entry->max_groups ? entry->max_groups : groups;
    PyObject *count = PyLong_FromSsize_t(n), *sizes = Py_BuildValue("(n)", self->cuda ? groups : groups * entry->group_size);
    if (count == NULL || sizes == NULL) {
        Py_XDECREF(count);
        Py_XDECREF(sizes);
        return -1;
    }
    Py_XSETREF(entry->n_object, count);
    Py_XSETREF(entry->sizes, sizes);
    entry->n = n;
    return 0;
}

PyObject *table_launch(Table *self, Entry *entry, PyObject *queue, Args *args, Py_ssize_t n) {
    PyObject *values[20];
    int k = 0;
    if (entry->n != n && set_count(self, entry, n) < 0) {
        return NULL;
    }
    /* Another thread may change the entry while a launch gives up the GIL. */
    PyObject *kernel = Py_NewRef(entry->kernel), *count = Py_NewRef(entry->n_object), *sizes = Py_NewRef(entry->sizes), *result;
    if (!self->cuda) {
        values[k++] = queue;
        values[k++] = sizes;
        values[k++] = self->local;
    }
    memcpy(values + k, args->values, (size_t)args->n * sizeof *values);
    k += args->n;
    values[k++] = count;
    if (self->cuda) {
        values[k] = self->local;
        values[k + 1] = sizes;
        values[k + 2] = queue;
        result = PyObject_Vectorcall(kernel, values, (size_t)k, grid_names);
    } else {
        result = PyObject_Vectorcall(kernel, values, (size_t)k, NULL);
    }
    Py_DECREF(kernel);
    Py_DECREF(count);
    Py_DECREF(sizes);
    return result;
}

/* ---- tables ------------------------------------------------------------------------------------------------------------------ */

static PyObject *Table_get_ordered(PyObject *op, void *Py_UNUSED(closure)) {
    Table *self = (Table *)op;
    return Py_NewRef(self->ordered != NULL ? self->ordered : Py_None);
}

static int Table_set_ordered(PyObject *op, PyObject *value, void *Py_UNUSED(closure)) {
    Table *self = (Table *)op;
    Py_XSETREF(self->ordered, Py_XNewRef(value));
    return 0;
}

static PyMethodDef Table_methods[] = {{"add", FAST(Table_add), Table_add__doc__}, {NULL, NULL, 0, NULL}};
static PyGetSetDef Table_getset[] = {
    {"ordered", Table_get_ordered, Table_set_ordered, "Any: The queue, known to run in order, whose arrays may use the table.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot Table_slots[] = {
    {Py_tp_doc, (void *)Table_new__doc__},
    {Py_tp_new, (void *)Table_new},
    {Py_tp_traverse, (void *)Table_traverse},
    {Py_tp_clear, (void *)Table_clear},
    {Py_tp_dealloc, (void *)Table_dealloc},
    {Py_tp_methods, Table_methods},
    {Py_tp_getset, Table_getset},
    {0, NULL},
};
PyType_Spec arr_KernelTable_spec = {
    .name = "pygpu._array.KernelTable",
    .basicsize = sizeof(Table),
    .slots = Table_slots,
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
};
