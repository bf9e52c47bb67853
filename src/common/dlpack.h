/* dlpack.h - the structures of DLPack 1.0 and their unversioned predecessors, and capsules that
 * hold them. */
#ifndef PG_DLPACK_H
#define PG_DLPACK_H

#include "common/pg.h"

enum {
    DL_CPU = 1,
    DL_CUDA = 2,
    DL_CUDA_HOST = 3,
    DL_OPENCL = 4,
    DL_ROCM_HOST = 11,
    DL_CUDA_MANAGED = 13
};
enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_COMPLEX = 5, DL_BOOL = 6 };
/* 8-bit types, added in DLPack 1.1. */
enum {
    DL_FLOAT8_E3M4 = 7,
    DL_FLOAT8_E4M3 = 8,
    DL_FLOAT8_E4M3B11FNUZ = 9,
    DL_FLOAT8_E4M3FN = 10,
    DL_FLOAT8_E4M3FNUZ = 11,
    DL_FLOAT8_E5M2 = 12,
    DL_FLOAT8_E5M2FNUZ = 13,
    DL_FLOAT8_E8M0FNU = 14
};
enum { DL_READ_ONLY = 1, DL_IS_COPIED = 2 };
#define DL_MAJOR 1
#define DL_MINOR 0

typedef struct {
    int32_t type, id;
} DLDevice;
typedef struct {
    uint8_t code, bits;
    uint16_t lanes;
} DLDataType;
typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape, *strides; /* strides in items; NULL means C order */
    uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
    DLTensor tensor;
    void *manager;
    void (*deleter)(struct DLManagedTensor *);
} DLManagedTensor;

typedef struct DLManagedTensorVersioned {
    struct {
        uint32_t major, minor;
    } version;
    void *manager;
    void (*deleter)(struct DLManagedTensorVersioned *);
    uint64_t flags;
    DLTensor tensor;
} DLManagedTensorVersioned;

/* Capsule names: before and after a consumer has taken the capsule over. */
#define DL_PLAIN          "dltensor"
#define DL_VERSIONED      "dltensor_versioned"
#define DL_USED_PLAIN     "used_dltensor"
#define DL_USED_VERSIONED "used_dltensor_versioned"

/* Makes a capsule that keeps *owner* alive; shape and strides are copied. on_release, unless NULL,
 * is called with the GIL just before the owner is dropped. */
PyObject *pg_dlpack_capsule(const DLTensor *tensor, PyObject *owner,
                            void (*on_release)(PyObject *owner), int versioned, uint64_t flags);

#endif
