/* cl_api.h - the part of the OpenCL 1.0 to 3.0 interface that pygpu calls: types, structures and
 * constants. Plain numbers are in the rows of status.def, info.def and enums.def.
 *
 * Written for pygpu so that a build needs no OpenCL headers. Names, widths and numbers are those
 * of the specification; tests/contract/test_opencl_headers.py compares each with the real headers
 * where they are installed. Functions are not declared here, because nothing is linked: they are
 * rows of cl.fn. */
#ifndef PYGPU_CL_API_H
#define PYGPU_CL_API_H

#include <stddef.h>
#include <stdint.h>

/* The driver's calling convention. It differs from C's only on 32-bit Windows. */
#if defined(_WIN32)
#define CL_API_CALL __stdcall
#define CL_CALLBACK __stdcall
#else
#define CL_API_CALL
#define CL_CALLBACK
#endif

/* Scalars: the same width on every host */
typedef uint8_t cl_uchar;
typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef int64_t cl_long;
typedef uint64_t cl_ulong;
typedef float cl_float;

/* Handles: pointers to structures that are opaque outside the driver */
typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_program *cl_program;
typedef struct _cl_kernel *cl_kernel;
typedef struct _cl_event *cl_event;
typedef struct _cl_sampler *cl_sampler;

/* The specification's names for scalars with a special use */
typedef cl_uint cl_bool;
typedef cl_ulong cl_bitfield;
typedef cl_ulong cl_properties;
typedef cl_bitfield cl_device_type;
typedef cl_uint cl_platform_info;
typedef cl_uint cl_device_info;
typedef cl_bitfield cl_command_queue_properties;
typedef intptr_t cl_device_partition_property;
typedef intptr_t cl_context_properties;
typedef cl_uint cl_context_info;
typedef cl_properties cl_queue_properties;
typedef cl_uint cl_command_queue_info;
typedef cl_uint cl_channel_order;
typedef cl_uint cl_channel_type;
typedef cl_bitfield cl_mem_flags;
typedef cl_bitfield cl_svm_mem_flags;
typedef cl_uint cl_mem_object_type;
typedef cl_uint cl_mem_info;
typedef cl_bitfield cl_mem_migration_flags;
typedef cl_uint cl_image_info;
typedef cl_uint cl_buffer_create_type;
typedef cl_uint cl_addressing_mode;
typedef cl_uint cl_filter_mode;
typedef cl_uint cl_sampler_info;
typedef cl_bitfield cl_map_flags;
typedef intptr_t cl_pipe_properties;
typedef cl_uint cl_pipe_info;
typedef cl_uint cl_program_info;
typedef cl_uint cl_program_build_info;
typedef cl_uint cl_program_binary_type;
typedef cl_int cl_build_status;
typedef cl_uint cl_kernel_info;
typedef cl_uint cl_kernel_arg_info;
typedef cl_uint cl_kernel_work_group_info;
typedef cl_uint cl_kernel_sub_group_info;
typedef cl_uint cl_event_info;
typedef cl_uint cl_profiling_info;
typedef cl_properties cl_sampler_properties;
typedef cl_uint cl_kernel_exec_info;
typedef cl_properties cl_mem_properties;
typedef cl_uint cl_version;

typedef cl_uint cl_gl_object_type;
typedef cl_uint cl_gl_texture_info;
typedef cl_uint cl_gl_context_info;
typedef int cl_GLint;
typedef unsigned int cl_GLenum;
typedef unsigned int cl_GLuint;

/* Structures passed to and from the driver */
typedef struct _cl_image_format {
    cl_channel_order image_channel_order;
    cl_channel_type image_channel_data_type;
} cl_image_format;

typedef struct _cl_image_desc {
    cl_mem_object_type image_type;
    size_t image_width;
    size_t image_height;
    size_t image_depth;
    size_t image_array_size;
    size_t image_row_pitch;
    size_t image_slice_pitch;
    cl_uint num_mip_levels;
    cl_uint num_samples;
    union {
        cl_mem buffer; /* this member's name before OpenCL 2.0 */
        cl_mem mem_object;
    };
} cl_image_desc;

typedef struct _cl_buffer_region {
    size_t origin;
    size_t size;
} cl_buffer_region;

#define CL_NAME_VERSION_MAX_NAME_SIZE 64

typedef struct _cl_name_version {
    cl_version version;
    char name[CL_NAME_VERSION_MAX_NAME_SIZE];
} cl_name_version;

typedef union {
    struct {
        cl_uint type;
        cl_uint data[5];
    } raw;
    struct {
        cl_uint type;
        cl_uchar unused[17]; /* unsigned, unlike in the vendor's header: a bus number may exceed
                              * 127 */
        cl_uchar bus;
        cl_uchar device;
        cl_uchar function;
    } pcie;
} cl_device_topology_amd;

typedef struct _cl_device_pci_bus_info_khr {
    cl_uint pci_domain;
    cl_uint pci_bus;
    cl_uint pci_device;
    cl_uint pci_function;
} cl_device_pci_bus_info_khr;

/* Plain numbers; flags follow */
enum {
#define STATUS(NAME, number, kind, hint) CL_##NAME = number,
#include "opencl/api/status.def"
#define INFO(attr, KIND, number, PARAM, unit, text) PARAM = number,
#include "opencl/api/info.def"
#define NUMBER(name, member, number, constant) constant = number,
#include "opencl/api/enums.def"
};

/* cl_bool */
#define CL_FALSE                                                0
#define CL_TRUE                                                 1

/* Kinds of device (bits) */
#define CL_DEVICE_TYPE_DEFAULT                                  (1ULL << 0)
#define CL_DEVICE_TYPE_CPU                                      (1ULL << 1)
#define CL_DEVICE_TYPE_GPU                                      (1ULL << 2)
#define CL_DEVICE_TYPE_ACCELERATOR                              (1ULL << 3)
#define CL_DEVICE_TYPE_CUSTOM                                   (1ULL << 4)
#define CL_DEVICE_TYPE_ALL                                      0xFFFFFFFFULL

/* Floating-point capabilities (bits) */
#define CL_FP_DENORM                                            (1ULL << 0)
#define CL_FP_INF_NAN                                           (1ULL << 1)
#define CL_FP_ROUND_TO_NEAREST                                  (1ULL << 2)
#define CL_FP_ROUND_TO_ZERO                                     (1ULL << 3)
#define CL_FP_ROUND_TO_INF                                      (1ULL << 4)
#define CL_FP_FMA                                               (1ULL << 5)
#define CL_FP_SOFT_FLOAT                                        (1ULL << 6)
#define CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT                     (1ULL << 7)

/* Kinds of kernels that a device can execute (bits) */
#define CL_EXEC_KERNEL                                          (1ULL << 0)
#define CL_EXEC_NATIVE_KERNEL                                   (1ULL << 1)

/* Queue modes (bits) */
#define CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE                  (1ULL << 0)
#define CL_QUEUE_PROFILING_ENABLE                               (1ULL << 1)
#define CL_QUEUE_ON_DEVICE                                      (1ULL << 2)
#define CL_QUEUE_ON_DEVICE_DEFAULT                              (1ULL << 3)

/* Affinity domains (bits) */
#define CL_DEVICE_AFFINITY_DOMAIN_NUMA                          (1ULL << 0)
#define CL_DEVICE_AFFINITY_DOMAIN_L4_CACHE                      (1ULL << 1)
#define CL_DEVICE_AFFINITY_DOMAIN_L3_CACHE                      (1ULL << 2)
#define CL_DEVICE_AFFINITY_DOMAIN_L2_CACHE                      (1ULL << 3)
#define CL_DEVICE_AFFINITY_DOMAIN_L1_CACHE                      (1ULL << 4)
#define CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE            (1ULL << 5)

/* Shared virtual memory capabilities (bits) */
#define CL_DEVICE_SVM_COARSE_GRAIN_BUFFER                       (1ULL << 0)
#define CL_DEVICE_SVM_FINE_GRAIN_BUFFER                         (1ULL << 1)
#define CL_DEVICE_SVM_FINE_GRAIN_SYSTEM                         (1ULL << 2)
#define CL_DEVICE_SVM_ATOMICS                                   (1ULL << 3)

/* Memory flags (bits) */
#define CL_MEM_READ_WRITE                                       (1ULL << 0)
#define CL_MEM_WRITE_ONLY                                       (1ULL << 1)
#define CL_MEM_READ_ONLY                                        (1ULL << 2)
#define CL_MEM_USE_HOST_PTR                                     (1ULL << 3)
#define CL_MEM_ALLOC_HOST_PTR                                   (1ULL << 4)
#define CL_MEM_COPY_HOST_PTR                                    (1ULL << 5)
#define CL_MEM_HOST_WRITE_ONLY                                  (1ULL << 7)
#define CL_MEM_HOST_READ_ONLY                                   (1ULL << 8)
#define CL_MEM_HOST_NO_ACCESS                                   (1ULL << 9)
#define CL_MEM_SVM_FINE_GRAIN_BUFFER                            (1ULL << 10)
#define CL_MEM_SVM_ATOMICS                                      (1ULL << 11)
#define CL_MEM_KERNEL_READ_AND_WRITE                            (1ULL << 12)
#define CL_MEM_USE_PERSISTENT_MEM_AMD                           (1ULL << 6)

/* Migration flags (bits) */
#define CL_MIGRATE_MEM_OBJECT_HOST                              (1ULL << 0)
#define CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED                 (1ULL << 1)

/* Map flags (bits) */
#define CL_MAP_READ                                             (1ULL << 0)
#define CL_MAP_WRITE                                            (1ULL << 1)
#define CL_MAP_WRITE_INVALIDATE_REGION                          (1ULL << 2)

/* Type qualifiers of an argument (bits) */
#define CL_KERNEL_ARG_TYPE_NONE                                 0ULL
#define CL_KERNEL_ARG_TYPE_CONST                                (1ULL << 0)
#define CL_KERNEL_ARG_TYPE_RESTRICT                             (1ULL << 1)
#define CL_KERNEL_ARG_TYPE_VOLATILE                             (1ULL << 2)
#define CL_KERNEL_ARG_TYPE_PIPE                                 (1ULL << 3)

/* Sub-buffers */
#define CL_BUFFER_CREATE_TYPE_REGION                            0x1220

/* Atomic capabilities (bits) */
#define CL_DEVICE_ATOMIC_ORDER_RELAXED                          (1ULL << 0)
#define CL_DEVICE_ATOMIC_ORDER_ACQ_REL                          (1ULL << 1)
#define CL_DEVICE_ATOMIC_ORDER_SEQ_CST                          (1ULL << 2)
#define CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM                        (1ULL << 3)
#define CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP                       (1ULL << 4)
#define CL_DEVICE_ATOMIC_SCOPE_DEVICE                           (1ULL << 5)
#define CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES                      (1ULL << 6)

/* Device-side enqueue capabilities (bits) */
#define CL_DEVICE_QUEUE_SUPPORTED                               (1ULL << 0)
#define CL_DEVICE_QUEUE_REPLACEABLE_DEFAULT                     (1ULL << 1)

#endif /* PYGPU_CL_API_H */
