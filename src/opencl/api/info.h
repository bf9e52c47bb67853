/* info.h - queries about objects, as rows of info.def. */
#ifndef PYGPU_OPENCL_INFO_H
#define PYGPU_OPENCL_INFO_H

#include "opencl/opencl.h"

#undef PLATFORM /* of Python's headers for Windows; it is a kind of information here */

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

/* Queries the driver for param: any clGet*Info function with its leading arguments bound in
 * self. */
typedef cl_int (*InfoQuery)(void *self, cl_uint param, size_t size, void *value, size_t *size_ret);

/* Returns the answer as a Python object. Memory is zeroed first, and the returned size is
 * honoured. */
PyObject *ocl_info(State *state, void *self, InfoQuery query, const char *routine, const Info *row);
/* For get_info(param): looks up the row, whose answer *known* gives (the getter of the rows, or
 * NULL for ocl_info()). An unknown param is passed to the driver, and the answer is an int or bytes
 * depending on its size. */
PyObject *ocl_info_by_param(State *state, void *self, InfoQuery query, const char *routine,
                            const Info *rows, size_t n, getter known, PyObject *param);
/* The row of get_info() in a table of methods. */
#define INFO_METHOD(function, constants)                                                          \
    {                                                                                             \
        "get_info", function, METH_O,                                                             \
            "get_info($self, param, /)\n--\n\n(param: int, /) -> object\n\nAnswer to a query by " \
            "number (" constants ".NAME)."                                                        \
    }
/* A query of fixed size that needs no Python. Returns 0 if the driver does not answer. */
cl_ulong ocl_info_number(void *self, InfoQuery query, cl_uint param);

/* A row of info.def as a getset entry whose closure is the row's index. PARAM is a string. */
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

#endif
