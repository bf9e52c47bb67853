/* info.c - returns the answers of the driver's clGet*Info functions as Python objects.
 *
 * The driver is not trusted: memory is zeroed first, and only as many bytes are read as the driver
 * says it wrote. */
#include "opencl/api/info.h"
#include "opencl/context.h"
#include "opencl/device.h"
#include "opencl/memory.h"
#include "opencl/opencl.h"
#include "opencl/platform.h"
#include "opencl/queue.h"

#define LOCAL_BYTES 256

/* Reads an unsigned little- or big-endian integer of 1, 2, 4 or 8 bytes, whichever width the
 * driver returned. */
static cl_ulong read_unsigned(const unsigned char *bytes, size_t size) {
    if (size >= 8) {
        cl_ulong value;
        memcpy(&value, bytes, 8);
        return value;
    }
    if (size >= 4) {
        cl_uint value;
        memcpy(&value, bytes, 4);
        return value;
    }
    return size > 0 ? bytes[0] : 0;
}

static PyObject *integers(const unsigned char *bytes, size_t size, size_t width) {
    size_t n = size / width;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < n; i++) {
        pg_append(&list, PyLong_FromUnsignedLongLong(read_unsigned(bytes + i * width, width)));
    }
    return list;
}

static PyObject *signed_integers(const unsigned char *bytes, size_t size) {
    size_t n = size / sizeof(intptr_t);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < n; i++) {
        intptr_t value;
        memcpy(&value, bytes + i * sizeof value, sizeof value);
        pg_append(&list, PyLong_FromSsize_t((Py_ssize_t)value));
    }
    return list;
}

static PyObject *name_versions(State *state, const unsigned char *bytes, size_t size) {
    size_t n = size / sizeof(cl_name_version);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < n; i++) {
        cl_name_version row;
        memcpy(&row, bytes + i * sizeof row, sizeof row);
        row.name[sizeof row.name - 1] = '\0';
        PyObject *item = PyStructSequence_New((PyTypeObject *)state->NameVersion);
        if (item != NULL) {
            PyStructSequence_SetItem(item, 0, PyLong_FromUnsignedLong(row.version));
            PyStructSequence_SetItem(
                item, 1, PyUnicode_DecodeUTF8(row.name, (Py_ssize_t)strlen(row.name), "replace"));
        }
        if (PyErr_Occurred()) {
            Py_CLEAR(item);
        }
        pg_append(&list, item);
    }
    return list;
}

static PyObject *devices(State *state, const unsigned char *bytes, size_t size) {
    size_t n = size / sizeof(cl_device_id);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < n; i++) {
        cl_device_id id;
        memcpy(&id, bytes + i * sizeof id, sizeof id);
        pg_append(&list, ocl_device_wrap(state, id, NULL, 0));
    }
    return list;
}

static PyObject *string(const unsigned char *bytes, size_t size) {
    size_t length = 0;
    while (length < size && bytes[length] != '\0') {
        length++;
    }
    while (length > 0 && bytes[length - 1] == ' ') { /* some drivers pad */
        length--;
    }
    return PyUnicode_DecodeUTF8((const char *)bytes, (Py_ssize_t)length, "replace");
}

static PyObject *topology_amd(const unsigned char *bytes, size_t size) {
    cl_device_topology_amd topology;
    memset(&topology, 0, sizeof topology);
    memcpy(&topology, bytes, size < sizeof topology ? size : sizeof topology);
    return Py_BuildValue("(iii)", topology.pcie.bus & 0xff, topology.pcie.device & 0xff,
                         topology.pcie.function & 0xff);
}

static PyObject *pci_bus(const unsigned char *bytes, size_t size) {
    cl_device_pci_bus_info_khr bus;
    memset(&bus, 0, sizeof bus);
    memcpy(&bus, bytes, size < sizeof bus ? size : sizeof bus);
    return Py_BuildValue("(IIII)", bus.pci_domain, bus.pci_bus, bus.pci_device, bus.pci_function);
}

static PyObject *convert(State *state, InfoKind kind, const unsigned char *bytes, size_t size) {
    void *handle = NULL;
    if (size >= sizeof handle) {
        memcpy(&handle, bytes, sizeof handle);
    }
    switch (kind) {
    case INFO_STRING:
        return string(bytes, size);
    case INFO_BOOL:
        return PyBool_FromLong(read_unsigned(bytes, size) != 0);
    case INFO_INT:
        if (size == 4) {
            cl_int value;
            memcpy(&value, bytes, 4);
            return PyLong_FromLong(value);
        }
        return PyLong_FromLongLong((long long)read_unsigned(bytes, size));
    case INFO_UINT:
    case INFO_ULONG:
    case INFO_SIZE:
    case INFO_BITS:
    case INFO_VERSION:
        return PyLong_FromUnsignedLongLong(read_unsigned(bytes, size));
    case INFO_HANDLE:
        return PyLong_FromVoidPtr(handle);
    case INFO_SIZES:
        return integers(bytes, size, sizeof(size_t));
    case INFO_UINTS:
        return integers(bytes, size, sizeof(cl_uint));
    case INFO_ULONGS:
        return integers(bytes, size, sizeof(cl_ulong));
    case INFO_INTPTRS:
        return signed_integers(bytes, size);
    case INFO_NAME_VERSIONS:
        return name_versions(state, bytes, size);
    case INFO_DEVICES:
        return devices(state, bytes, size);
    case INFO_PLATFORM:
        return handle != NULL ? ocl_platform_wrap(state, handle) : Py_NewRef(Py_None);
    case INFO_DEVICE:
        return handle != NULL ? ocl_device_wrap(state, handle, NULL, 0) : Py_NewRef(Py_None);
    case INFO_CONTEXT:
        return handle != NULL ? ocl_context_wrap(state, handle) : Py_NewRef(Py_None);
    case INFO_QUEUE:
        return handle != NULL ? ocl_queue_wrap(state, handle) : Py_NewRef(Py_None);
    case INFO_MEM:
        return handle != NULL ? ocl_memory_wrap(state, NULL, handle, 1, NULL) : Py_NewRef(Py_None);
    case INFO_TOPOLOGY_AMD:
        return topology_amd(bytes, size);
    case INFO_PCI_BUS:
        return pci_bus(bytes, size);
    case INFO_PROGRAM:
    case INFO_IMAGE_FORMAT:
    case INFO_BYTES:
    case INFO_SPECIAL:
        break; /* objects that own such a handle answer from their own fields */
    }
    return PyBytes_FromStringAndSize((const char *)bytes, (Py_ssize_t)size);
}

/* Whether an answer has at most 8 bytes, so that its size need not be queried first. */
static int is_short(InfoKind kind) {
    switch (kind) {
    case INFO_BOOL:
    case INFO_INT:
    case INFO_UINT:
    case INFO_ULONG:
    case INFO_SIZE:
    case INFO_BITS:
    case INFO_VERSION:
    case INFO_HANDLE:
    case INFO_PLATFORM:
    case INFO_DEVICE:
    case INFO_CONTEXT:
    case INFO_QUEUE:
    case INFO_MEM:
        return 1;
    default:
        return 0;
    }
}

/* The int that names the value, where param has names; otherwise the value itself. Steals it. */
static PyObject *named(State *state, const Info *row, PyObject *value) {
    if (value == NULL || (row->kind != INFO_BITS && row->kind != INFO_UINT) ||
        state->value_names == NULL) { /* the interpreter is shutting down */
        return value;
    }
    PyObject *param = PyLong_FromUnsignedLong(row->param), *result = NULL;
    PyObject *members = param != NULL ? PyDict_GetItemWithError(state->value_names, param)
                                      : NULL; /* borrowed */
    if (members != NULL) {
        result = PyObject_GetItem(members, value);
    } else if (!PyErr_Occurred()) {
        result = Py_NewRef(value);
    }
    Py_XDECREF(param);
    Py_DECREF(value);
    return result;
}

static PyObject *not_offered(State *state, const char *routine, cl_int status, const char *name) {
    return ocl_raise_with(state, routine, status, "%s is not offered here%s", name,
                          status == CL_PROFILING_INFO_NOT_AVAILABLE
                              ? ": the queue must be created with "
                                "command_queue_properties.PROFILING_ENABLE, and the command done"
                              : "");
}

PyObject *ocl_info(State *state, void *self, InfoQuery query, const char *routine,
                   const Info *row) {
    size_t size = 0;
    cl_int status;
    if (is_short(row->kind) && !PG_UNLIKELY(pg_trap)) {
        unsigned char word[16] = {0};
        status = query(self, row->param, 8, word, &size);
        if (status == CL_SUCCESS) {
            return named(state, row, convert(state, row->kind, word, size < 8 ? size : 8));
        }
        size = 0; /* repeat it in full: the driver may insist on the exact size, and a failure must
                   * raise */
    }
    status = query(self, row->param, 0, NULL, &size);
    if (status != CL_SUCCESS) {
        return not_offered(state, routine, status, row->name);
    }
    unsigned char local[LOCAL_BYTES + 8],
        *bytes = local; /* 8 spare bytes: some drivers under-report the size by a few */
    if (size > LOCAL_BYTES) {
        bytes = size < (size_t)PY_SSIZE_T_MAX - 8 ? PyMem_Malloc(size + 8) : NULL;
        if (bytes == NULL) {
            return PyErr_NoMemory();
        }
    }
    memset(bytes, 0, size > LOCAL_BYTES ? size + 8 : sizeof local);
    PyObject *result = NULL;
    size_t returned = size;
    status = size > 0 ? query(self, row->param, size, bytes, &returned) : CL_SUCCESS;
    if (status != CL_SUCCESS) {
        (void)not_offered(state, routine, status, row->name);
    } else {
        result =
            named(state, row, convert(state, row->kind, bytes, returned < size ? returned : size));
    }
    if (bytes != local) {
        PyMem_Free(bytes);
    }
    return result;
}

/* Returns the row of a table for this param, or NULL. */
static const Info *find_row(const Info *rows, size_t n, cl_uint param) {
    static const Info *recent[64]; /* a cache: some tables have more than a hundred rows */
    const Info **last = &recent[(param ^ (uintptr_t)rows >> 5) % 64];
    if (*last >= rows && *last < rows + n && (*last)->param == param) {
        return *last;
    }
    for (size_t i = 0; i < n; i++) {
        if (rows[i].param == param) {
            return *last = &rows[i];
        }
    }
    return NULL;
}

PyObject *ocl_info_by_param(State *state, void *self, InfoQuery query, const char *routine,
                            const Info *rows, size_t n, getter known, PyObject *param) {
    cl_uint number;
    if (pg_as_u32(param, routine, "param", &number) < 0) {
        return NULL;
    }
    const Info *row = find_row(rows, n, number);
    if (row != NULL) {
        return known != NULL ? known(self, (void *)(intptr_t)(row - rows))
                             : ocl_info(state, self, query, routine, row);
    }
    char name[32];
    PyOS_snprintf(name, sizeof name, "param 0x%x", (unsigned)number);
    Info unknown = {name, INFO_BYTES, number};
    PyObject *answer = ocl_info(state, self, query, routine, &unknown);
    if (answer != NULL && (PyBytes_GET_SIZE(answer) == 4 || PyBytes_GET_SIZE(answer) == 8)) {
        cl_ulong value = read_unsigned((const unsigned char *)PyBytes_AS_STRING(answer),
                                       (size_t)PyBytes_GET_SIZE(answer));
        Py_SETREF(answer, PyLong_FromUnsignedLongLong(value));
    }
    return answer;
}

cl_ulong ocl_info_number(void *self, InfoQuery query, cl_uint param) {
    unsigned char bytes[16] = {0};
    size_t size = 0;
    if (query(self, param, 8, bytes, &size) != CL_SUCCESS) {
        return 0;
    }
    return read_unsigned(bytes, size < 8 ? size : 8);
}
