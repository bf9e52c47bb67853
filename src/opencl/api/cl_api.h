/* cl_api.h - the part of the OpenCL 1.0 to 3.0 interface that pygpu calls: types, structures and
 * constants. The constants for queries are in cl_queries.h.
 *
 * Written for pygpu so that a build needs no OpenCL headers. Names, widths and numbers are those
 * of the specification; tests/contract/test_opencl_headers.py compares each with the real headers
 * where they are installed. Functions are not declared here, because nothing is linked: they are
 * rows of cl.fn. */
#ifndef PYGPU_CL_API_H
#define PYGPU_CL_API_H

#include <stddef.h>
#include <stdint.h>

#include "opencl/api/cl_queries.h"

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

/* Status codes */
#define CL_SUCCESS                                              0
#define CL_DEVICE_NOT_FOUND                                     (-1)
#define CL_DEVICE_NOT_AVAILABLE                                 (-2)
#define CL_COMPILER_NOT_AVAILABLE                               (-3)
#define CL_MEM_OBJECT_ALLOCATION_FAILURE                        (-4)
#define CL_OUT_OF_RESOURCES                                     (-5)
#define CL_OUT_OF_HOST_MEMORY                                   (-6)
#define CL_PROFILING_INFO_NOT_AVAILABLE                         (-7)
#define CL_MEM_COPY_OVERLAP                                     (-8)
#define CL_IMAGE_FORMAT_MISMATCH                                (-9)
#define CL_IMAGE_FORMAT_NOT_SUPPORTED                           (-10)
#define CL_BUILD_PROGRAM_FAILURE                                (-11)
#define CL_MAP_FAILURE                                          (-12)
#define CL_MISALIGNED_SUB_BUFFER_OFFSET                         (-13)
#define CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST            (-14)
#define CL_COMPILE_PROGRAM_FAILURE                              (-15)
#define CL_LINKER_NOT_AVAILABLE                                 (-16)
#define CL_LINK_PROGRAM_FAILURE                                 (-17)
#define CL_DEVICE_PARTITION_FAILED                              (-18)
#define CL_KERNEL_ARG_INFO_NOT_AVAILABLE                        (-19)
#define CL_INVALID_VALUE                                        (-30)
#define CL_INVALID_DEVICE_TYPE                                  (-31)
#define CL_INVALID_PLATFORM                                     (-32)
#define CL_INVALID_DEVICE                                       (-33)
#define CL_INVALID_CONTEXT                                      (-34)
#define CL_INVALID_QUEUE_PROPERTIES                             (-35)
#define CL_INVALID_COMMAND_QUEUE                                (-36)
#define CL_INVALID_HOST_PTR                                     (-37)
#define CL_INVALID_MEM_OBJECT                                   (-38)
#define CL_INVALID_IMAGE_FORMAT_DESCRIPTOR                      (-39)
#define CL_INVALID_IMAGE_SIZE                                   (-40)
#define CL_INVALID_SAMPLER                                      (-41)
#define CL_INVALID_BINARY                                       (-42)
#define CL_INVALID_BUILD_OPTIONS                                (-43)
#define CL_INVALID_PROGRAM                                      (-44)
#define CL_INVALID_PROGRAM_EXECUTABLE                           (-45)
#define CL_INVALID_KERNEL_NAME                                  (-46)
#define CL_INVALID_KERNEL_DEFINITION                            (-47)
#define CL_INVALID_KERNEL                                       (-48)
#define CL_INVALID_ARG_INDEX                                    (-49)
#define CL_INVALID_ARG_VALUE                                    (-50)
#define CL_INVALID_ARG_SIZE                                     (-51)
#define CL_INVALID_KERNEL_ARGS                                  (-52)
#define CL_INVALID_WORK_DIMENSION                               (-53)
#define CL_INVALID_WORK_GROUP_SIZE                              (-54)
#define CL_INVALID_WORK_ITEM_SIZE                               (-55)
#define CL_INVALID_GLOBAL_OFFSET                                (-56)
#define CL_INVALID_EVENT_WAIT_LIST                              (-57)
#define CL_INVALID_EVENT                                        (-58)
#define CL_INVALID_OPERATION                                    (-59)
#define CL_INVALID_GL_OBJECT                                    (-60)
#define CL_INVALID_BUFFER_SIZE                                  (-61)
#define CL_INVALID_MIP_LEVEL                                    (-62)
#define CL_INVALID_GLOBAL_WORK_SIZE                             (-63)
#define CL_INVALID_PROPERTY                                     (-64)
#define CL_INVALID_IMAGE_DESCRIPTOR                             (-65)
#define CL_INVALID_COMPILER_OPTIONS                             (-66)
#define CL_INVALID_LINKER_OPTIONS                               (-67)
#define CL_INVALID_DEVICE_PARTITION_COUNT                       (-68)
#define CL_INVALID_PIPE_SIZE                                    (-69)
#define CL_INVALID_DEVICE_QUEUE                                 (-70)
#define CL_INVALID_SPEC_ID                                      (-71)
#define CL_MAX_SIZE_RESTRICTION_EXCEEDED                        (-72)
#define CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR                  (-1000)
#define CL_PLATFORM_NOT_FOUND_KHR                               (-1001)
#define CL_DEVICE_PARTITION_FAILED_EXT                          (-1057)
#define CL_INVALID_PARTITION_COUNT_EXT                          (-1058)
#define CL_INVALID_PARTITION_NAME_EXT                           (-1059)
#define CL_INVALID_ACCELERATOR_INTEL                            (-1094)
#define CL_INVALID_ACCELERATOR_TYPE_INTEL                       (-1095)
#define CL_INVALID_ACCELERATOR_DESCRIPTOR_INTEL                 (-1096)
#define CL_ACCELERATOR_TYPE_NOT_SUPPORTED_INTEL                 (-1097)
#define CL_COMMAND_TERMINATED_ITSELF_WITH_FAILURE_ARM           (-1108)
#define CL_CONTEXT_TERMINATED_KHR                               (-1121)

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

/* Caches and local memory */
#define CL_NONE                                                 0
#define CL_READ_ONLY_CACHE                                      1
#define CL_READ_WRITE_CACHE                                     2
#define CL_LOCAL                                                1
#define CL_GLOBAL                                               2

/* Kinds of kernels that a device can execute (bits) */
#define CL_EXEC_KERNEL                                          (1ULL << 0)
#define CL_EXEC_NATIVE_KERNEL                                   (1ULL << 1)

/* Queue modes (bits) */
#define CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE                  (1ULL << 0)
#define CL_QUEUE_PROFILING_ENABLE                               (1ULL << 1)
#define CL_QUEUE_ON_DEVICE                                      (1ULL << 2)
#define CL_QUEUE_ON_DEVICE_DEFAULT                              (1ULL << 3)

/* Ways to partition a device */
#define CL_DEVICE_PARTITION_EQUALLY                             0x1086
#define CL_DEVICE_PARTITION_BY_COUNTS                           0x1087
#define CL_DEVICE_PARTITION_BY_COUNTS_LIST_END                  0
#define CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN                  0x1088

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

/* Channel orders */
#define CL_R                                                    0x10B0
#define CL_A                                                    0x10B1
#define CL_RG                                                   0x10B2
#define CL_RA                                                   0x10B3
#define CL_RGB                                                  0x10B4
#define CL_RGBA                                                 0x10B5
#define CL_BGRA                                                 0x10B6
#define CL_ARGB                                                 0x10B7
#define CL_INTENSITY                                            0x10B8
#define CL_LUMINANCE                                            0x10B9
#define CL_Rx                                                   0x10BA
#define CL_RGx                                                  0x10BB
#define CL_RGBx                                                 0x10BC
#define CL_DEPTH                                                0x10BD
#define CL_DEPTH_STENCIL                                        0x10BE
#define CL_sRGB                                                 0x10BF
#define CL_sRGBx                                                0x10C0
#define CL_sRGBA                                                0x10C1
#define CL_sBGRA                                                0x10C2
#define CL_ABGR                                                 0x10C3

/* Channel types */
#define CL_SNORM_INT8                                           0x10D0
#define CL_SNORM_INT16                                          0x10D1
#define CL_UNORM_INT8                                           0x10D2
#define CL_UNORM_INT16                                          0x10D3
#define CL_UNORM_SHORT_565                                      0x10D4
#define CL_UNORM_SHORT_555                                      0x10D5
#define CL_UNORM_INT_101010                                     0x10D6
#define CL_SIGNED_INT8                                          0x10D7
#define CL_SIGNED_INT16                                         0x10D8
#define CL_SIGNED_INT32                                         0x10D9
#define CL_UNSIGNED_INT8                                        0x10DA
#define CL_UNSIGNED_INT16                                       0x10DB
#define CL_UNSIGNED_INT32                                       0x10DC
#define CL_HALF_FLOAT                                           0x10DD
#define CL_FLOAT                                                0x10DE
#define CL_UNORM_INT24                                          0x10DF
#define CL_UNORM_INT_101010_2                                   0x10E0

/* Kinds of memory object */
#define CL_MEM_OBJECT_BUFFER                                    0x10F0
#define CL_MEM_OBJECT_IMAGE2D                                   0x10F1
#define CL_MEM_OBJECT_IMAGE3D                                   0x10F2
#define CL_MEM_OBJECT_IMAGE2D_ARRAY                             0x10F3
#define CL_MEM_OBJECT_IMAGE1D                                   0x10F4
#define CL_MEM_OBJECT_IMAGE1D_ARRAY                             0x10F5
#define CL_MEM_OBJECT_IMAGE1D_BUFFER                            0x10F6
#define CL_MEM_OBJECT_PIPE                                      0x10F7

/* Sampler addressing and filters */
#define CL_ADDRESS_NONE                                         0x1130
#define CL_ADDRESS_CLAMP_TO_EDGE                                0x1131
#define CL_ADDRESS_CLAMP                                        0x1132
#define CL_ADDRESS_REPEAT                                       0x1133
#define CL_ADDRESS_MIRRORED_REPEAT                              0x1134
#define CL_FILTER_NEAREST                                       0x1140
#define CL_FILTER_LINEAR                                        0x1141

/* Map flags (bits) */
#define CL_MAP_READ                                             (1ULL << 0)
#define CL_MAP_WRITE                                            (1ULL << 1)
#define CL_MAP_WRITE_INVALIDATE_REGION                          (1ULL << 2)

/* Kinds of program binary */
#define CL_PROGRAM_BINARY_TYPE_NONE                             0
#define CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT                  1
#define CL_PROGRAM_BINARY_TYPE_LIBRARY                          2
#define CL_PROGRAM_BINARY_TYPE_EXECUTABLE                       4
#define CL_PROGRAM_BINARY_TYPE_INTERMEDIATE                     0x40E1

/* Build states */
#define CL_BUILD_SUCCESS                                        0
#define CL_BUILD_NONE                                           (-1)
#define CL_BUILD_ERROR                                          (-2)
#define CL_BUILD_IN_PROGRESS                                    (-3)

/* Address spaces of an argument */
#define CL_KERNEL_ARG_ADDRESS_GLOBAL                            0x119B
#define CL_KERNEL_ARG_ADDRESS_LOCAL                             0x119C
#define CL_KERNEL_ARG_ADDRESS_CONSTANT                          0x119D
#define CL_KERNEL_ARG_ADDRESS_PRIVATE                           0x119E

/* Access of an image argument */
#define CL_KERNEL_ARG_ACCESS_READ_ONLY                          0x11A0
#define CL_KERNEL_ARG_ACCESS_WRITE_ONLY                         0x11A1
#define CL_KERNEL_ARG_ACCESS_READ_WRITE                         0x11A2
#define CL_KERNEL_ARG_ACCESS_NONE                               0x11A3

/* Type qualifiers of an argument (bits) */
#define CL_KERNEL_ARG_TYPE_NONE                                 0ULL
#define CL_KERNEL_ARG_TYPE_CONST                                (1ULL << 0)
#define CL_KERNEL_ARG_TYPE_RESTRICT                             (1ULL << 1)
#define CL_KERNEL_ARG_TYPE_VOLATILE                             (1ULL << 2)
#define CL_KERNEL_ARG_TYPE_PIPE                                 (1ULL << 3)

/* Kinds of command */
#define CL_COMMAND_NDRANGE_KERNEL                               0x11F0
#define CL_COMMAND_TASK                                         0x11F1
#define CL_COMMAND_NATIVE_KERNEL                                0x11F2
#define CL_COMMAND_READ_BUFFER                                  0x11F3
#define CL_COMMAND_WRITE_BUFFER                                 0x11F4
#define CL_COMMAND_COPY_BUFFER                                  0x11F5
#define CL_COMMAND_READ_IMAGE                                   0x11F6
#define CL_COMMAND_WRITE_IMAGE                                  0x11F7
#define CL_COMMAND_COPY_IMAGE                                   0x11F8
#define CL_COMMAND_COPY_IMAGE_TO_BUFFER                         0x11F9
#define CL_COMMAND_COPY_BUFFER_TO_IMAGE                         0x11FA
#define CL_COMMAND_MAP_BUFFER                                   0x11FB
#define CL_COMMAND_MAP_IMAGE                                    0x11FC
#define CL_COMMAND_UNMAP_MEM_OBJECT                             0x11FD
#define CL_COMMAND_MARKER                                       0x11FE
#define CL_COMMAND_ACQUIRE_GL_OBJECTS                           0x11FF
#define CL_COMMAND_RELEASE_GL_OBJECTS                           0x1200
#define CL_COMMAND_READ_BUFFER_RECT                             0x1201
#define CL_COMMAND_WRITE_BUFFER_RECT                            0x1202
#define CL_COMMAND_COPY_BUFFER_RECT                             0x1203
#define CL_COMMAND_USER                                         0x1204
#define CL_COMMAND_BARRIER                                      0x1205
#define CL_COMMAND_MIGRATE_MEM_OBJECTS                          0x1206
#define CL_COMMAND_FILL_BUFFER                                  0x1207
#define CL_COMMAND_FILL_IMAGE                                   0x1208
#define CL_COMMAND_SVM_FREE                                     0x1209
#define CL_COMMAND_SVM_MEMCPY                                   0x120A
#define CL_COMMAND_SVM_MEMFILL                                  0x120B
#define CL_COMMAND_SVM_MAP                                      0x120C
#define CL_COMMAND_SVM_UNMAP                                    0x120D
#define CL_COMMAND_SVM_MIGRATE_MEM                              0x120E
#define CL_COMMAND_GL_FENCE_SYNC_OBJECT_KHR                     0x200D

/* Execution states of a command */
#define CL_COMPLETE                                             0
#define CL_RUNNING                                              1
#define CL_SUBMITTED                                            2
#define CL_QUEUED                                               3

/* Sub-buffers */
#define CL_BUFFER_CREATE_TYPE_REGION                            0x1220

/* Time stamps of a command */
#define CL_PROFILING_COMMAND_QUEUED                             0x1280
#define CL_PROFILING_COMMAND_SUBMIT                             0x1281
#define CL_PROFILING_COMMAND_START                              0x1282
#define CL_PROFILING_COMMAND_END                                0x1283
#define CL_PROFILING_COMMAND_COMPLETE                           0x1284

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

/* Vendor IDs assigned by Khronos */
#define CL_KHRONOS_VENDOR_ID_CODEPLAY                           0x10004

/* Packed version numbers */
#define CL_VERSION_MAJOR_BITS                                   10
#define CL_VERSION_MINOR_BITS                                   10
#define CL_VERSION_PATCH_BITS                                   12
#define CL_VERSION_MAJOR_MASK                                   0x3FF
#define CL_VERSION_MINOR_MASK                                   0x3FF
#define CL_VERSION_PATCH_MASK                                   0xFFF

/* Sharing with OpenGL */
#define CL_GL_OBJECT_BUFFER                                     0x2000
#define CL_GL_OBJECT_TEXTURE2D                                  0x2001
#define CL_GL_OBJECT_TEXTURE3D                                  0x2002
#define CL_GL_OBJECT_RENDERBUFFER                               0x2003
#define CL_GL_OBJECT_TEXTURE2D_ARRAY                            0x200E
#define CL_GL_OBJECT_TEXTURE1D                                  0x200F
#define CL_GL_OBJECT_TEXTURE1D_ARRAY                            0x2010
#define CL_GL_OBJECT_TEXTURE_BUFFER                             0x2011
#define CL_GL_TEXTURE_TARGET                                    0x2004
#define CL_GL_MIPMAP_LEVEL                                      0x2005
#define CL_GL_NUM_SAMPLES                                       0x2012
#define CL_CURRENT_DEVICE_FOR_GL_CONTEXT_KHR                    0x2006
#define CL_DEVICES_FOR_GL_CONTEXT_KHR                           0x2007

#endif /* PYGPU_CL_API_H */
