/* kernel_plan.c - determines once per kernel how each argument is converted: from
 * clGetKernelArgInfo, otherwise from the cache or the source's signature, otherwise from dtypes
 * that the user declares. */
#include "common/host_array.h"
#include "opencl/api/info.h"
#include "opencl/objects/kernel.h"
#include "opencl/objects/program.h"
#include "opencl/opencl.h"

static const struct {
    const char *name;
    ArgKind kind;
    unsigned char size, is_signed;
} scalar_types[] = {
    {"char", ARG_INTEGER, 1, 1},
    {"signed char", ARG_INTEGER, 1, 1},
    {"uchar", ARG_INTEGER, 1, 0},
    {"unsigned char", ARG_INTEGER, 1, 0},
    {"short", ARG_INTEGER, 2, 1},
    {"ushort", ARG_INTEGER, 2, 0},
    {"signed short", ARG_INTEGER, 2, 1},
    {"short int", ARG_INTEGER, 2, 1},
    {"unsigned short", ARG_INTEGER, 2, 0},
    {"int", ARG_INTEGER, 4, 1},
    {"signed int", ARG_INTEGER, 4, 1},
    {"signed", ARG_INTEGER, 4, 1},
    {"uint", ARG_INTEGER, 4, 0},
    {"unsigned int", ARG_INTEGER, 4, 0},
    {"unsigned", ARG_INTEGER, 4, 0},
    {"long", ARG_INTEGER, 8, 1},
    {"signed long", ARG_INTEGER, 8, 1},
    {"long int", ARG_INTEGER, 8, 1},
    {"ulong", ARG_INTEGER, 8, 0},
    {"unsigned long", ARG_INTEGER, 8, 0},
    {"unsigned long int", ARG_INTEGER, 8, 0},
    {"half", ARG_FLOAT, 2, 1},
    {"float", ARG_FLOAT, 4, 1},
    {"double", ARG_FLOAT, 8, 1},
    {"cfloat_t", ARG_COMPLEX, 8, 1},
    {"cdouble_t", ARG_COMPLEX, 16, 1},
    {"int8_t", ARG_INTEGER, 1, 1},
    {"uint8_t", ARG_INTEGER, 1, 0},
    {"int16_t", ARG_INTEGER, 2, 1},
    {"uint16_t", ARG_INTEGER, 2, 0},
    {"int32_t", ARG_INTEGER, 4, 1},
    {"uint32_t", ARG_INTEGER, 4, 0},
    {"int64_t", ARG_INTEGER, 8, 1},
    {"uint64_t", ARG_INTEGER, 8, 0},
};

static int starts_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

/* The number at the end of a vector type's name, with the length of the rest in *head; 0 if there
 * is none. */
static int vector_length(const char *type, size_t length, size_t *head) {
    size_t digits = 0;
    while (digits < length && type[length - 1 - digits] >= '0' &&
           type[length - 1 - digits] <= '9') {
        digits++;
    }
    int n = digits > 0 && digits < 3 ? atoi(type + length - digits) : 0;
    *head = length - digits;
    return n == 2 || n == 3 || n == 4 || n == 8 || n == 16 ? n : 0;
}

/* "float4" and similar types; 3 elements occupy the space of 4 (OpenCL C, 6.1.5). */
static int plan_vector(ArgSlot *slot, const char *type) {
    size_t head, length = strlen(type);
    int n = vector_length(type, length, &head);
    if (n == 0) {
        return 0;
    }
    for (size_t i = 0; i < sizeof scalar_types / sizeof scalar_types[0]; i++) {
        if (strlen(scalar_types[i].name) == head &&
            strncmp(scalar_types[i].name, type, head) == 0 && scalar_types[i].kind != ARG_COMPLEX) {
            slot->kind = ARG_VECTOR;
            slot->size = (size_t)(n == 3 ? 4 : n) * scalar_types[i].size;
            slot->of_three = n == 3;
            slot->of_floats = scalar_types[i].kind == ARG_FLOAT;
            slot->item_size = scalar_types[i].size;
            slot->scalar_size = n == 2 && scalar_types[i].kind == ARG_FLOAT &&
                                        scalar_types[i].size >= 4
                                    ? scalar_types[i].size
                                    : 0;
            return 1;
        }
    }
    return 0;
}

/* A pointer's target type, if that is a number, a vector or a complex number. Byte pointers
 * accept any items. */
static PgItems plan_items(const char *type, size_t length) {
    PgItems items = {NULL, 0, 0, 0, 0};
    size_t head;
    while (length > 0 && (type[length - 1] == ' ' || type[length - 1] == '*')) {
        if (type[--length] == '*' && memchr(type, '*', length) != NULL) {
            return items;
        }
    }
    if (vector_length(type, length, &head) == 0) {
        head = length;
    }
    for (size_t i = 0; i < sizeof scalar_types / sizeof scalar_types[0]; i++) {
        const char *name = scalar_types[i].name;
        size_t n = strlen(name);
        if (scalar_types[i].size > 1 && (n == length || n == head) && strncmp(name, type, n) == 0) {
            ArgKind kind = scalar_types[i].kind;
            items.kind = kind != ARG_INTEGER ? 'f' : scalar_types[i].is_signed ? 'i' : 'u';
            items.size = (unsigned char)(scalar_types[i].size / (kind == ARG_COMPLEX ? 2 : 1));
        }
    }
    return items;
}

static int plan_slot(ArgSlot *slot, cl_uint address, cl_uint type_qualifier, const char *given_type,
                     const char *name) {
    char type[128];
    size_t length = strlen(given_type);
    while (starts_with(given_type, "const ") || starts_with(given_type, "volatile ") ||
           starts_with(given_type, "restrict ")) {
        given_type = strchr(given_type, ' ') + 1;
    }
    length = strlen(given_type);
    if (length >= sizeof type) {
        length = sizeof type - 1;
    }
    memcpy(type, given_type, length);
    while (length > 0 && (type[length - 1] == ' ' || type[length - 1] == ';')) {
        length--;
    }
    type[length] = '\0';
    int pointer = length > 0 && type[length - 1] == '*';
    slot->kind = ARG_UNKNOWN;
    slot->items = (PgItems){NULL, 0, 0, 0, 0};
    if (pointer || address == CL_KERNEL_ARG_ADDRESS_LOCAL) {
        slot->kind = address == CL_KERNEL_ARG_ADDRESS_LOCAL ? ARG_LOCAL : ARG_GLOBAL;
        slot->size = sizeof(cl_mem);
        slot->items = plan_items(type, length);
    } else if (type_qualifier & CL_KERNEL_ARG_TYPE_PIPE) {
        slot->kind = ARG_PIPE;
    } else if (starts_with(type, "image") && length > 2 && strcmp(type + length - 2, "_t") == 0) {
        slot->kind = ARG_IMAGE;
    } else if (strcmp(type, "sampler_t") == 0) {
        slot->kind = ARG_SAMPLER;
    } else if (strcmp(type, "queue_t") == 0) {
        slot->kind = ARG_QUEUE;
    } else if (address == CL_KERNEL_ARG_ADDRESS_GLOBAL ||
               address == CL_KERNEL_ARG_ADDRESS_CONSTANT) {
        slot->kind = ARG_GLOBAL; /* a typedef of a pointer */
        slot->size = sizeof(cl_mem);
    } else {
        slot->kind = ARG_BYTES;
        slot->size = 0;
        for (size_t i = 0; i < sizeof scalar_types / sizeof scalar_types[0]; i++) {
            if (strcmp(type, scalar_types[i].name) == 0) {
                slot->kind = scalar_types[i].kind;
                slot->size = scalar_types[i].size;
                slot->is_signed = scalar_types[i].is_signed;
            }
        }
        if (slot->kind == ARG_BYTES) {
            plan_vector(slot, type);
        }
    }
    Py_XSETREF(slot->declaration, PyUnicode_FromFormat("%s %s", type, name));
    return slot->declaration != NULL ? 0 : -1;
}

static int ask_driver(Kernel *self, cl_uint i) {
    cl_uint address = 0;
    cl_bitfield qualifier = 0;
    char type[256] = "", name[256] = "";
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clGetKernelArgInfo, self->kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER,
            sizeof address, &address, NULL);
    if (status == CL_SUCCESS) {
        CL_CALL(status, clGetKernelArgInfo, self->kernel, i, CL_KERNEL_ARG_TYPE_NAME,
                sizeof type - 1, type, NULL);
    }
    if (status != CL_SUCCESS || type[0] == '\0') {
        return 0;
    }
    CL_CALL(status, clGetKernelArgInfo, self->kernel, i, CL_KERNEL_ARG_TYPE_QUALIFIER,
            sizeof qualifier, &qualifier, NULL);
    CL_CALL(status, clGetKernelArgInfo, self->kernel, i, CL_KERNEL_ARG_NAME, sizeof name - 1, name,
            NULL);
    return plan_slot(&self->slots[i], address, (cl_uint)qualifier, type, name) < 0 ? -1 : 1;
}

/* rows: list of (address, access, type name, type qualifier, name). Returns 1 if they match the
 * kernel. */
static int use_rows(Kernel *self, PyObject *rows) {
    if (!PyList_Check(rows) || PyList_GET_SIZE(rows) != (Py_ssize_t)self->n_args) {
        return 0;
    }
    for (cl_uint i = 0; i < self->n_args; i++) {
        int address, access, qualifier;
        const char *type, *name;
        PyObject *row = PySequence_Tuple(PyList_GET_ITEM(rows, i));
        int failed = row == NULL ||
                     !PyArg_ParseTuple(row, "iisis", &address, &access, &type, &qualifier, &name) ||
                     plan_slot(&self->slots[i], (cl_uint)address, (cl_uint)qualifier, type, name) <
                         0;
        Py_XDECREF(row);
        if (failed) {
            return -1;
        }
    }
    return 1;
}

static cl_int Program_query(void *self, cl_uint param, size_t size, void *value, size_t *size_ret) {
    cl_int status = CL_SUCCESS;
    CL_CALL(status, clGetProgramInfo, ((Program *)self)->program, param, size, value, size_ret);
    return status;
}

/* A str, None without a source, or NULL with an exception. */
static PyObject *program_source(Kernel *self) {
    Program *program = self->program;
    if (program != NULL && program->source != NULL) {
        return PyUnicode_DecodeUTF8(PyBytes_AS_STRING(program->source),
                                    PyBytes_GET_SIZE(program->source), "replace");
    }
    if (program != NULL && program->program != NULL &&
        program->kind == PROGRAM_SOURCE) { /* the handle came from elsewhere */
        Info row = {"source", INFO_STRING, CL_PROGRAM_SOURCE};
        return ocl_info(self->state, program, Program_query, "clGetProgramInfo", &row);
    }
    return Py_NewRef(Py_None);
}

static PyObject *rows_from_source(Kernel *self) {
    PyObject *source = program_source(self);
    if (source == Py_None) {
        return source;
    }
    PyObject *module = source != NULL ? PyImport_ImportModule("pygpu._src.drivers.declarations")
                                      : NULL;
    PyObject *rows = module != NULL
                         ? PyObject_CallMethod(module, "kernel_arguments", "OO", source, self->name)
                         : NULL;
    Py_XDECREF(source);
    Py_XDECREF(module);
    return rows;
}

/* The information recorded when the program was built, otherwise what the source says; NULL or
 * None if there is none. */
static PyObject *rows_without_driver(Kernel *self) {
    PyObject *rows = self->program != NULL && self->program->arg_info != NULL &&
                             PyDict_Check(self->program->arg_info)
                         ? Py_XNewRef(PyDict_GetItemWithError(self->program->arg_info, self->name))
                         : NULL;
    return rows == NULL && !PyErr_Occurred() ? rows_from_source(self) : rows;
}

PyObject *kernel_describe_argument(Kernel *self, cl_uint i, cl_uint param) {
    static const cl_uint columns[] = {CL_KERNEL_ARG_ADDRESS_QUALIFIER,
                                      CL_KERNEL_ARG_ACCESS_QUALIFIER, CL_KERNEL_ARG_TYPE_NAME,
                                      CL_KERNEL_ARG_TYPE_QUALIFIER, CL_KERNEL_ARG_NAME};
    PyObject *rows = rows_without_driver(self), *answer = NULL;
    for (Py_ssize_t k = 0; rows != NULL && PyList_Check(rows) &&
                           PyList_GET_SIZE(rows) == (Py_ssize_t)self->n_args && k < 5;
         k++) {
        if (columns[k] == param) {
            answer = PySequence_GetItem(PyList_GET_ITEM(rows, i), k);
        }
    }
    Py_XDECREF(rows);
    PyErr_Clear();
    return answer;
}

/* Chooses the type whose value each argument accepts without checks; see kernel_as_word(). */
static void choose_exact(Kernel *self) {
    for (cl_uint i = 0; i < self->n_args; i++) {
        ArgSlot *slot = &self->slots[i];
        slot->exact = NULL;
        if (slot->with_offset || slot->is_offset) {
            continue;
        }
        if (slot->kind == ARG_GLOBAL) {
            slot->exact = self->state->BufferType;
            slot->size = sizeof(cl_mem);
        } else if (slot->kind == ARG_FLOAT) {
            slot->exact = slot->size == 4   ? &PyFloatArrType_Type
                          : slot->size == 8 ? &PyDoubleArrType_Type
                                            : NULL;
        } else if (slot->kind == ARG_INTEGER && slot->size == 4) {
            slot->exact = slot->is_signed ? &PyIntArrType_Type : &PyUIntArrType_Type;
        } else if (slot->kind == ARG_INTEGER && slot->size == 8 && sizeof(long) == 8) {
            slot->exact = slot->is_signed ? &PyLongArrType_Type : &PyULongArrType_Type;
        } else if (slot->kind == ARG_INTEGER && slot->size == 8) {
            slot->exact = slot->is_signed ? &PyLongLongArrType_Type : &PyULongLongArrType_Type;
        }
    }
}

/* For types defined in the source, drivers report only the name, and PoCL accepts a struct of any
 * size and reads as many bytes as it wants. So the definition is looked up in the source. */
static void look_up_types(Kernel *self) {
    PyObject *source = NULL, *module = NULL, *types = NULL;
    for (cl_uint i = 0; i < self->n_args; i++) {
        ArgSlot *slot = &self->slots[i];
        if (slot->kind != ARG_BYTES || slot->size != 0 || slot->declaration == NULL) {
            continue;
        }
        if (source == NULL) {
            source = program_source(self);
            module = source != NULL && source != Py_None
                         ? PyImport_ImportModule("pygpu._src.drivers.declarations")
                         : NULL;
            types = module != NULL ? PyObject_CallMethod(module, "type_definitions", "O", source)
                                   : NULL;
            if (types == NULL || !PyDict_Check(types)) {
                break;
            }
        }
        PyObject *declaration = Py_NewRef(slot->declaration);
        Py_ssize_t length = PyUnicode_GET_LENGTH(declaration),
                   end = PyUnicode_FindChar(declaration, ' ', 0, length, -1);
        PyObject *type = end > 0 ? PyUnicode_Substring(declaration, 0, end) : NULL;
        PyObject *found = type != NULL ? PyDict_GetItemWithError(types, type) : NULL;
        if (found != NULL && PyLong_Check(found)) {
            slot->size = PyLong_AsSize_t(found);
        } else if (found != NULL && plan_slot(slot, CL_KERNEL_ARG_ADDRESS_PRIVATE, 0,
                                              PyUnicode_AsUTF8(found), "") == 0) {
            Py_SETREF(slot->declaration, Py_NewRef(declaration)); /* as the user wrote it */
        }
        Py_XDECREF(type);
        Py_DECREF(declaration);
    }
    Py_XDECREF(types);
    Py_XDECREF(module);
    Py_XDECREF(source);
    PyErr_Clear(); /* optional information: failure is ignored */
}

int kernel_make_plan(Kernel *self) {
    self->n_given = self->n_args;
    self->slots = PyMem_Calloc(self->n_args + 1, sizeof *self->slots);
    if (self->slots == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    cl_uint known = 0;
    while (known < self->n_args && self->context->version >= 120) {
        int answer = ask_driver(self, known);
        if (answer < 0) {
            return -1;
        }
        if (answer == 0) {
            break;
        }
        known++;
    }
    if (known == self->n_args) {
        look_up_types(self);
        choose_exact(self);
        return 0;
    }
    PyObject *rows = rows_without_driver(self);
    int used = rows != NULL ? use_rows(self, rows) : -1;
    Py_XDECREF(rows);
    if (used < 0) { /* optional information: the kernel works without it */
        PyErr_Clear();
    }
    for (cl_uint i = 0; used != 1 && i < self->n_args; i++) {
        self->slots[i].kind = ARG_UNKNOWN;
        self->slots[i].items.kind = 0;
        Py_CLEAR(self->slots[i].declaration);
    }
    look_up_types(self);
    choose_exact(self);
    return 0;
}

/* Handles one entry of set_scalar_arg_dtypes(). */
static int declare_dtype(ArgSlot *slot, PyObject *entry) {
    PyArray_Descr *dtype = NULL;
    if (pg_as_dtype(entry, "Kernel.set_scalar_arg_dtypes", "arg_types", &dtype) < 0) {
        return -1;
    }
    size_t size = (size_t)PyDataType_ELSIZE(dtype);
    slot->scalar_size = 0;
    switch (dtype->kind) {
    case 'b':
    case 'i':
    case 'u':
        slot->kind = ARG_INTEGER;
        slot->is_signed = dtype->kind == 'i';
        break;
    case 'f':
        slot->kind = size <= 8 ? ARG_FLOAT : ARG_BYTES;
        break;
    case 'c':
        slot->kind = size <= 16 ? ARG_COMPLEX : ARG_BYTES;
        break;
    default:
        slot->kind = ARG_BYTES;
    }
    slot->size = size;
    PyObject *name = slot->declaration == NULL ? PyObject_Str((PyObject *)dtype) : NULL;
    if (name != NULL) {
        slot->declaration = name;
    }
    Py_DECREF(dtype);
    return PyErr_Occurred() ? -1 : 0;
}

/* Ends a draft of the slots, by adopting or discarding what it says about the arguments. */
static void use_draft(Kernel *self, const ArgSlot *draft, int take) {
    self->n_given = take ? 0 : self->n_given;
    for (cl_uint i = 0; i < self->n_args; i++) {
        ArgSlot *slot = &self->slots[i];
        PyObject *declaration = draft[i].declaration; /* new, unless it is the slot's own */
        if (take) {
            slot->kind = draft[i].kind;
            slot->size = draft[i].size;
            slot->is_signed = draft[i].is_signed;
            slot->scalar_size = draft[i].scalar_size;
            slot->with_offset = draft[i].with_offset;
            slot->is_offset = draft[i].is_offset;
            self->n_given += !slot->is_offset;
        }
        if (take && slot->declaration == NULL) {
            slot->declaration = declaration;
        } else if (declaration != slot->declaration) {
            Py_XDECREF(declaration);
        }
    }
}

/* Drafts the slot at *at, and a second one if an array comes with its offset. Returns 1 if there
 * are too few slots, -1 with an exception. */
static int declare_entry(ArgSlot *draft, cl_uint n_slots, cl_uint *at, PyObject *entry) {
    if (*at >= n_slots) {
        return 1;
    }
    ArgSlot *slot = &draft[*at];
    slot->with_offset = slot->is_offset = 0;
    if (entry == Py_None) {
        return 0;
    }
    PyObject *with_offset = PyType_Check(entry) ? NULL
                                                : PyObject_GetAttrString(entry, "with_offset");
    PyErr_Clear();
    if (with_offset == NULL) {
        return declare_dtype(slot, entry);
    }
    int two = PyObject_IsTrue(with_offset); /* a VectorArg: an array */
    Py_DECREF(with_offset);
    slot->kind = ARG_GLOBAL;
    if (two == 1) {
        if (++*at >= n_slots) {
            return 1;
        }
        slot->with_offset = 1;
        draft[*at].is_offset = 1;
        draft[*at].kind = ARG_INTEGER;
        draft[*at].size = 8;
        draft[*at].is_signed = 1;
    }
    return 0;
}

int kernel_declare(Kernel *self, PyObject *dtypes) {
    PyObject *entries =
        pg_tuple(dtypes, "Kernel.set_scalar_arg_dtypes", "arg_types", "dtypes or None", 1 << 16);
    if (entries == NULL) {
        return -1;
    }
    ArgSlot *draft =
        PyMem_Calloc(self->n_args + 1, sizeof *draft); /* a draft, so that an error, or code that
                                                        * calls the kernel meanwhile, finds the
                                                        * kernel unchanged */
    if (draft == NULL) {
        Py_DECREF(entries);
        PyErr_NoMemory();
        return -1;
    }
    memcpy(draft, self->slots, self->n_args * sizeof *draft);
    int result = -1, wrong = 0;
    cl_uint at = 0;
    Py_ssize_t n = PyTuple_GET_SIZE(entries);
    for (Py_ssize_t k = 0; k < n && wrong == 0; k++, at++) {
        wrong = declare_entry(draft, self->n_args, &at, PyTuple_GET_ITEM(entries, k));
    }
    if (wrong < 0) {
        goto done;
    }
    if (wrong > 0 || at != self->n_args) {
        ocl_reject(self->state, "Kernel.set_scalar_arg_dtypes", CL_INVALID_VALUE,
                   "length of argument list (%zd) and kernel %R (%u arguments) do not match", n,
                   self->name, (unsigned)self->n_args);
        goto done;
    }
    if (self->converting > 0) {
        ocl_reject(self->state, "Kernel.set_scalar_arg_dtypes", CL_INVALID_OPERATION,
                   "kernel '%U' is being called: the types of its arguments cannot change now",
                   self->name);
        goto done;
    }
    result = 0;
done:
    use_draft(self, draft, result == 0);
    choose_exact(self);
    PyMem_Free(draft);
    Py_DECREF(entries);
    return result;
}
