# Written by tools/stubs.py from the built module: `make stubs`.

from typing import Final

__all__ = [
    "Constants",
    "status_code",
    "platform_info",
    "device_type",
    "device_info",
    "device_fp_config",
    "device_mem_cache_type",
    "device_local_mem_type",
    "device_exec_capabilities",
    "device_svm_capabilities",
    "device_partition_property",
    "device_affinity_domain",
    "device_atomic_capabilities",
    "device_device_enqueue_capabilities",
    "device_topology_type_amd",
    "khronos_vendor_id",
    "version_bits",
    "context_info",
    "context_properties",
    "command_queue_info",
    "command_queue_properties",
    "queue_properties",
    "mem_flags",
    "svm_mem_flags",
    "mem_migration_flags",
    "mem_object_type",
    "mem_info",
    "map_flags",
    "channel_order",
    "channel_type",
    "image_info",
    "pipe_info",
    "pipe_properties",
    "addressing_mode",
    "filter_mode",
    "sampler_info",
    "sampler_properties",
    "program_info",
    "program_build_info",
    "program_binary_type",
    "build_status",
    "kernel_info",
    "kernel_arg_info",
    "kernel_arg_address_qualifier",
    "kernel_arg_access_qualifier",
    "kernel_arg_type_qualifier",
    "kernel_work_group_info",
    "kernel_sub_group_info",
    "event_info",
    "command_type",
    "command_execution_status",
    "profiling_info",
    "gl_object_type",
    "gl_texture_info",
    "gl_context_info",
]

class Constants:
    @classmethod
    def to_string(cls, value: int, default_format: str | None = None) -> str: ...

class status_code(Constants):
    SUCCESS: Final = 0
    DEVICE_NOT_FOUND: Final = -1
    DEVICE_NOT_AVAILABLE: Final = -2
    COMPILER_NOT_AVAILABLE: Final = -3
    MEM_OBJECT_ALLOCATION_FAILURE: Final = -4
    OUT_OF_RESOURCES: Final = -5
    OUT_OF_HOST_MEMORY: Final = -6
    PROFILING_INFO_NOT_AVAILABLE: Final = -7
    MEM_COPY_OVERLAP: Final = -8
    IMAGE_FORMAT_MISMATCH: Final = -9
    IMAGE_FORMAT_NOT_SUPPORTED: Final = -10
    BUILD_PROGRAM_FAILURE: Final = -11
    MAP_FAILURE: Final = -12
    MISALIGNED_SUB_BUFFER_OFFSET: Final = -13
    EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST: Final = -14
    COMPILE_PROGRAM_FAILURE: Final = -15
    LINKER_NOT_AVAILABLE: Final = -16
    LINK_PROGRAM_FAILURE: Final = -17
    DEVICE_PARTITION_FAILED: Final = -18
    KERNEL_ARG_INFO_NOT_AVAILABLE: Final = -19
    INVALID_VALUE: Final = -30
    INVALID_DEVICE_TYPE: Final = -31
    INVALID_PLATFORM: Final = -32
    INVALID_DEVICE: Final = -33
    INVALID_CONTEXT: Final = -34
    INVALID_QUEUE_PROPERTIES: Final = -35
    INVALID_COMMAND_QUEUE: Final = -36
    INVALID_HOST_PTR: Final = -37
    INVALID_MEM_OBJECT: Final = -38
    INVALID_IMAGE_FORMAT_DESCRIPTOR: Final = -39
    INVALID_IMAGE_SIZE: Final = -40
    INVALID_SAMPLER: Final = -41
    INVALID_BINARY: Final = -42
    INVALID_BUILD_OPTIONS: Final = -43
    INVALID_PROGRAM: Final = -44
    INVALID_PROGRAM_EXECUTABLE: Final = -45
    INVALID_KERNEL_NAME: Final = -46
    INVALID_KERNEL_DEFINITION: Final = -47
    INVALID_KERNEL: Final = -48
    INVALID_ARG_INDEX: Final = -49
    INVALID_ARG_VALUE: Final = -50
    INVALID_ARG_SIZE: Final = -51
    INVALID_KERNEL_ARGS: Final = -52
    INVALID_WORK_DIMENSION: Final = -53
    INVALID_WORK_GROUP_SIZE: Final = -54
    INVALID_WORK_ITEM_SIZE: Final = -55
    INVALID_GLOBAL_OFFSET: Final = -56
    INVALID_EVENT_WAIT_LIST: Final = -57
    INVALID_EVENT: Final = -58
    INVALID_OPERATION: Final = -59
    INVALID_GL_OBJECT: Final = -60
    INVALID_BUFFER_SIZE: Final = -61
    INVALID_MIP_LEVEL: Final = -62
    INVALID_GLOBAL_WORK_SIZE: Final = -63
    INVALID_PROPERTY: Final = -64
    INVALID_IMAGE_DESCRIPTOR: Final = -65
    INVALID_COMPILER_OPTIONS: Final = -66
    INVALID_LINKER_OPTIONS: Final = -67
    INVALID_DEVICE_PARTITION_COUNT: Final = -68
    INVALID_PIPE_SIZE: Final = -69
    INVALID_DEVICE_QUEUE: Final = -70
    INVALID_SPEC_ID: Final = -71
    MAX_SIZE_RESTRICTION_EXCEEDED: Final = -72
    INVALID_GL_SHAREGROUP_REFERENCE_KHR: Final = -1000
    PLATFORM_NOT_FOUND_KHR: Final = -1001
    DEVICE_PARTITION_FAILED_EXT: Final = -1057
    INVALID_PARTITION_COUNT_EXT: Final = -1058
    INVALID_PARTITION_NAME_EXT: Final = -1059
    INVALID_ACCELERATOR_INTEL: Final = -1094
    INVALID_ACCELERATOR_TYPE_INTEL: Final = -1095
    INVALID_ACCELERATOR_DESCRIPTOR_INTEL: Final = -1096
    ACCELERATOR_TYPE_NOT_SUPPORTED_INTEL: Final = -1097
    COMMAND_TERMINATED_ITSELF_WITH_FAILURE_ARM: Final = -1108
    CONTEXT_TERMINATED_KHR: Final = -1121

class platform_info(Constants):
    PROFILE: Final = 2304
    VERSION: Final = 2305
    NAME: Final = 2306
    VENDOR: Final = 2307
    EXTENSIONS: Final = 2308
    HOST_TIMER_RESOLUTION: Final = 2309
    NUMERIC_VERSION: Final = 2310
    EXTENSIONS_WITH_VERSION: Final = 2311
    ICD_SUFFIX_KHR: Final = 2336

class device_type(Constants):
    DEFAULT: Final = 1
    CPU: Final = 2
    GPU: Final = 4
    ACCELERATOR: Final = 8
    CUSTOM: Final = 16
    ALL: Final = 4294967295

class device_info(Constants):
    TYPE: Final = 4096
    VENDOR_ID: Final = 4097
    MAX_COMPUTE_UNITS: Final = 4098
    MAX_WORK_ITEM_DIMENSIONS: Final = 4099
    MAX_WORK_GROUP_SIZE: Final = 4100
    MAX_WORK_ITEM_SIZES: Final = 4101
    PREFERRED_VECTOR_WIDTH_CHAR: Final = 4102
    PREFERRED_VECTOR_WIDTH_SHORT: Final = 4103
    PREFERRED_VECTOR_WIDTH_INT: Final = 4104
    PREFERRED_VECTOR_WIDTH_LONG: Final = 4105
    PREFERRED_VECTOR_WIDTH_FLOAT: Final = 4106
    PREFERRED_VECTOR_WIDTH_DOUBLE: Final = 4107
    MAX_CLOCK_FREQUENCY: Final = 4108
    ADDRESS_BITS: Final = 4109
    MAX_READ_IMAGE_ARGS: Final = 4110
    MAX_WRITE_IMAGE_ARGS: Final = 4111
    MAX_MEM_ALLOC_SIZE: Final = 4112
    IMAGE2D_MAX_WIDTH: Final = 4113
    IMAGE2D_MAX_HEIGHT: Final = 4114
    IMAGE3D_MAX_WIDTH: Final = 4115
    IMAGE3D_MAX_HEIGHT: Final = 4116
    IMAGE3D_MAX_DEPTH: Final = 4117
    IMAGE_SUPPORT: Final = 4118
    MAX_PARAMETER_SIZE: Final = 4119
    MAX_SAMPLERS: Final = 4120
    MEM_BASE_ADDR_ALIGN: Final = 4121
    MIN_DATA_TYPE_ALIGN_SIZE: Final = 4122
    SINGLE_FP_CONFIG: Final = 4123
    DOUBLE_FP_CONFIG: Final = 4146
    HALF_FP_CONFIG: Final = 4147
    GLOBAL_MEM_CACHE_TYPE: Final = 4124
    GLOBAL_MEM_CACHELINE_SIZE: Final = 4125
    GLOBAL_MEM_CACHE_SIZE: Final = 4126
    GLOBAL_MEM_SIZE: Final = 4127
    MAX_CONSTANT_BUFFER_SIZE: Final = 4128
    MAX_CONSTANT_ARGS: Final = 4129
    LOCAL_MEM_TYPE: Final = 4130
    LOCAL_MEM_SIZE: Final = 4131
    ERROR_CORRECTION_SUPPORT: Final = 4132
    PROFILING_TIMER_RESOLUTION: Final = 4133
    ENDIAN_LITTLE: Final = 4134
    AVAILABLE: Final = 4135
    COMPILER_AVAILABLE: Final = 4136
    EXECUTION_CAPABILITIES: Final = 4137
    QUEUE_PROPERTIES: Final = 4138
    QUEUE_ON_HOST_PROPERTIES: Final = 4138
    NAME: Final = 4139
    VENDOR: Final = 4140
    DRIVER_VERSION: Final = 4141
    VERSION: Final = 4143
    PROFILE: Final = 4142
    EXTENSIONS: Final = 4144
    PLATFORM: Final = 4145
    PREFERRED_VECTOR_WIDTH_HALF: Final = 4148
    HOST_UNIFIED_MEMORY: Final = 4149
    NATIVE_VECTOR_WIDTH_CHAR: Final = 4150
    NATIVE_VECTOR_WIDTH_SHORT: Final = 4151
    NATIVE_VECTOR_WIDTH_INT: Final = 4152
    NATIVE_VECTOR_WIDTH_LONG: Final = 4153
    NATIVE_VECTOR_WIDTH_FLOAT: Final = 4154
    NATIVE_VECTOR_WIDTH_DOUBLE: Final = 4155
    NATIVE_VECTOR_WIDTH_HALF: Final = 4156
    OPENCL_C_VERSION: Final = 4157
    COMPUTE_CAPABILITY_MAJOR_NV: Final = 16384
    COMPUTE_CAPABILITY_MINOR_NV: Final = 16385
    REGISTERS_PER_BLOCK_NV: Final = 16386
    WARP_SIZE_NV: Final = 16387
    GPU_OVERLAP_NV: Final = 16388
    KERNEL_EXEC_TIMEOUT_NV: Final = 16389
    INTEGRATED_MEMORY_NV: Final = 16390
    ATTRIBUTE_ASYNC_ENGINE_COUNT_NV: Final = 16391
    PCI_BUS_ID_NV: Final = 16392
    PCI_SLOT_ID_NV: Final = 16393
    PCI_DOMAIN_ID_NV: Final = 16394
    PROFILING_TIMER_OFFSET_AMD: Final = 16438
    TOPOLOGY_AMD: Final = 16439
    BOARD_NAME_AMD: Final = 16440
    GLOBAL_FREE_MEMORY_AMD: Final = 16441
    SIMD_PER_COMPUTE_UNIT_AMD: Final = 16448
    SIMD_WIDTH_AMD: Final = 16449
    SIMD_INSTRUCTION_WIDTH_AMD: Final = 16450
    WAVEFRONT_WIDTH_AMD: Final = 16451
    GLOBAL_MEM_CHANNELS_AMD: Final = 16452
    GLOBAL_MEM_CHANNEL_BANKS_AMD: Final = 16453
    GLOBAL_MEM_CHANNEL_BANK_WIDTH_AMD: Final = 16454
    LOCAL_MEM_SIZE_PER_COMPUTE_UNIT_AMD: Final = 16455
    LOCAL_MEM_BANKS_AMD: Final = 16456
    THREAD_TRACE_SUPPORTED_AMD: Final = 16457
    GFXIP_MAJOR_AMD: Final = 16458
    GFXIP_MINOR_AMD: Final = 16459
    AVAILABLE_ASYNC_QUEUES_AMD: Final = 16460
    PREFERRED_WORK_GROUP_SIZE_AMD: Final = 16432
    MAX_WORK_GROUP_SIZE_AMD: Final = 16433
    PREFERRED_CONSTANT_BUFFER_SIZE_AMD: Final = 16435
    PCIE_ID_AMD: Final = 16436
    LINKER_AVAILABLE: Final = 4158
    BUILT_IN_KERNELS: Final = 4159
    IMAGE_MAX_BUFFER_SIZE: Final = 4160
    IMAGE_MAX_ARRAY_SIZE: Final = 4161
    PARENT_DEVICE: Final = 4162
    PARTITION_MAX_SUB_DEVICES: Final = 4163
    PARTITION_PROPERTIES: Final = 4164
    PARTITION_AFFINITY_DOMAIN: Final = 4165
    PARTITION_TYPE: Final = 4166
    REFERENCE_COUNT: Final = 4167
    PREFERRED_INTEROP_USER_SYNC: Final = 4168
    PRINTF_BUFFER_SIZE: Final = 4169
    MAX_READ_WRITE_IMAGE_ARGS: Final = 4172
    MAX_GLOBAL_VARIABLE_SIZE: Final = 4173
    QUEUE_ON_DEVICE_PROPERTIES: Final = 4174
    QUEUE_ON_DEVICE_PREFERRED_SIZE: Final = 4175
    QUEUE_ON_DEVICE_MAX_SIZE: Final = 4176
    MAX_ON_DEVICE_QUEUES: Final = 4177
    MAX_ON_DEVICE_EVENTS: Final = 4178
    SVM_CAPABILITIES: Final = 4179
    GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE: Final = 4180
    MAX_PIPE_ARGS: Final = 4181
    PIPE_MAX_ACTIVE_RESERVATIONS: Final = 4182
    PIPE_MAX_PACKET_SIZE: Final = 4183
    PREFERRED_PLATFORM_ATOMIC_ALIGNMENT: Final = 4184
    PREFERRED_GLOBAL_ATOMIC_ALIGNMENT: Final = 4185
    PREFERRED_LOCAL_ATOMIC_ALIGNMENT: Final = 4186
    IL_VERSION: Final = 4187
    MAX_NUM_SUB_GROUPS: Final = 4188
    SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS: Final = 4189
    NUMERIC_VERSION: Final = 4190
    EXTENSIONS_WITH_VERSION: Final = 4192
    ILS_WITH_VERSION: Final = 4193
    BUILT_IN_KERNELS_WITH_VERSION: Final = 4194
    ATOMIC_MEMORY_CAPABILITIES: Final = 4195
    ATOMIC_FENCE_CAPABILITIES: Final = 4196
    NON_UNIFORM_WORK_GROUP_SUPPORT: Final = 4197
    OPENCL_C_ALL_VERSIONS: Final = 4198
    PREFERRED_WORK_GROUP_SIZE_MULTIPLE: Final = 4199
    WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT: Final = 4200
    GENERIC_ADDRESS_SPACE_SUPPORT: Final = 4201
    OPENCL_C_FEATURES: Final = 4207
    DEVICE_ENQUEUE_CAPABILITIES: Final = 4208
    PIPE_SUPPORT: Final = 4209
    ME_VERSION_INTEL: Final = 16510
    EXT_MEM_PADDING_IN_BYTES_QCOM: Final = 16544
    PAGE_SIZE_QCOM: Final = 16545
    SPIR_VERSIONS: Final = 16608
    SIMULTANEOUS_INTEROPS_INTEL: Final = 16644
    NUM_SIMULTANEOUS_INTEROPS_INTEL: Final = 16645
    IMAGE_PITCH_ALIGNMENT: Final = 4170
    IMAGE_BASE_ADDRESS_ALIGNMENT: Final = 4171
    LATEST_CONFORMANCE_VERSION_PASSED: Final = 4210
    OPENCL_C_NUMERIC_VERSION_KHR: Final = 4191
    UUID_KHR: Final = 4202
    DRIVER_UUID_KHR: Final = 4203
    LUID_VALID_KHR: Final = 4204
    LUID_KHR: Final = 4205
    NODE_MASK_KHR: Final = 4206
    PCI_BUS_INFO_KHR: Final = 16655
    INTEGER_DOT_PRODUCT_CAPABILITIES_KHR: Final = 4211
    TERMINATE_CAPABILITY_KHR: Final = 8241
    MAX_NAMED_BARRIER_COUNT_KHR: Final = 8245
    CXX_FOR_OPENCL_NUMERIC_VERSION_EXT: Final = 16944
    SUB_GROUP_SIZES_INTEL: Final = 16648
    HOST_MEM_CAPABILITIES_INTEL: Final = 16784
    DEVICE_MEM_CAPABILITIES_INTEL: Final = 16785
    SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL: Final = 16786
    CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL: Final = 16787
    SHARED_SYSTEM_MEM_CAPABILITIES_INTEL: Final = 16788
    IP_VERSION_INTEL: Final = 16976
    ID_INTEL: Final = 16977
    NUM_SLICES_INTEL: Final = 16978
    NUM_SUB_SLICES_PER_SLICE_INTEL: Final = 16979
    NUM_EUS_PER_SUB_SLICE_INTEL: Final = 16980
    NUM_THREADS_PER_EU_INTEL: Final = 16981
    FEATURE_CAPABILITIES_INTEL: Final = 16982
    COMPUTE_UNITS_BITFIELD_ARM: Final = 16575
    JOB_SLOTS_ARM: Final = 16864
    SCHEDULING_CONTROLS_CAPABILITIES_ARM: Final = 16868
    MAX_WARP_COUNT_ARM: Final = 16874
    SUPPORTED_REGISTER_ALLOCATIONS_ARM: Final = 16875
    CONTROLLED_TERMINATION_CAPABILITIES_ARM: Final = 16878

class device_fp_config(Constants):
    DENORM: Final = 1
    INF_NAN: Final = 2
    ROUND_TO_NEAREST: Final = 4
    ROUND_TO_ZERO: Final = 8
    ROUND_TO_INF: Final = 16
    FMA: Final = 32
    SOFT_FLOAT: Final = 64
    CORRECTLY_ROUNDED_DIVIDE_SQRT: Final = 128

class device_mem_cache_type(Constants):
    NONE: Final = 0
    READ_ONLY_CACHE: Final = 1
    READ_WRITE_CACHE: Final = 2

class device_local_mem_type(Constants):
    LOCAL: Final = 1
    GLOBAL: Final = 2

class device_exec_capabilities(Constants):
    KERNEL: Final = 1
    NATIVE_KERNEL: Final = 2

class device_svm_capabilities(Constants):
    COARSE_GRAIN_BUFFER: Final = 1
    FINE_GRAIN_BUFFER: Final = 2
    FINE_GRAIN_SYSTEM: Final = 4
    ATOMICS: Final = 8

class device_partition_property(Constants):
    EQUALLY: Final = 4230
    BY_COUNTS: Final = 4231
    BY_COUNTS_LIST_END: Final = 0
    BY_AFFINITY_DOMAIN: Final = 4232

class device_affinity_domain(Constants):
    NUMA: Final = 1
    L4_CACHE: Final = 2
    L3_CACHE: Final = 4
    L2_CACHE: Final = 8
    L1_CACHE: Final = 16
    NEXT_PARTITIONABLE: Final = 32

class device_atomic_capabilities(Constants):
    ORDER_RELAXED: Final = 1
    ORDER_ACQ_REL: Final = 2
    ORDER_SEQ_CST: Final = 4
    SCOPE_WORK_ITEM: Final = 8
    SCOPE_WORK_GROUP: Final = 16
    SCOPE_DEVICE: Final = 32
    SCOPE_ALL_DEVICES: Final = 64

class device_device_enqueue_capabilities(Constants):
    SUPPORTED: Final = 1
    REPLACEABLE_DEFAULT: Final = 2

class device_topology_type_amd(Constants):
    PCIE: Final = 1

class khronos_vendor_id(Constants):
    CODEPLAY: Final = 65540

class version_bits(Constants):
    MAJOR_BITS: Final = 10
    MINOR_BITS: Final = 10
    PATCH_BITS: Final = 12
    MAJOR_MASK: Final = 1023
    MINOR_MASK: Final = 1023
    PATCH_MASK: Final = 4095

class context_info(Constants):
    REFERENCE_COUNT: Final = 4224
    DEVICES: Final = 4225
    PROPERTIES: Final = 4226
    NUM_DEVICES: Final = 4227
    INTEROP_USER_SYNC: Final = 4229

class context_properties(Constants):
    PLATFORM: Final = 4228
    INTEROP_USER_SYNC: Final = 4229
    GL_CONTEXT_KHR: Final = 8200
    EGL_DISPLAY_KHR: Final = 8201
    GLX_DISPLAY_KHR: Final = 8202
    WGL_HDC_KHR: Final = 8203
    CGL_SHAREGROUP_KHR: Final = 8204
    CONTEXT_PROPERTY_USE_CGL_SHAREGROUP_APPLE: Final = 268435456
    OFFLINE_DEVICES_AMD: Final = 16447
    MEMORY_INITIALIZE_KHR: Final = 8240
    TERMINATE_KHR: Final = 8242
    SHOW_DIAGNOSTICS_INTEL: Final = 16646

class command_queue_info(Constants):
    CONTEXT: Final = 4240
    DEVICE: Final = 4241
    REFERENCE_COUNT: Final = 4242
    PROPERTIES: Final = 4243
    PROPERTIES_ARRAY: Final = 4248
    SIZE: Final = 4244
    DEVICE_DEFAULT: Final = 4245

class command_queue_properties(Constants):
    OUT_OF_ORDER_EXEC_MODE_ENABLE: Final = 1
    PROFILING_ENABLE: Final = 2
    ON_DEVICE: Final = 4
    ON_DEVICE_DEFAULT: Final = 8

class queue_properties(Constants):
    PROPERTIES: Final = 4243
    SIZE: Final = 4244
    DEVICE_DEFAULT: Final = 4245
    PRIORITY_KHR: Final = 4246
    THROTTLE_KHR: Final = 4247

class mem_flags(Constants):
    READ_WRITE: Final = 1
    WRITE_ONLY: Final = 2
    READ_ONLY: Final = 4
    USE_HOST_PTR: Final = 8
    ALLOC_HOST_PTR: Final = 16
    COPY_HOST_PTR: Final = 32
    HOST_WRITE_ONLY: Final = 128
    HOST_READ_ONLY: Final = 256
    HOST_NO_ACCESS: Final = 512
    KERNEL_READ_AND_WRITE: Final = 4096
    USE_PERSISTENT_MEM_AMD: Final = 64

class svm_mem_flags(Constants):
    READ_WRITE: Final = 1
    WRITE_ONLY: Final = 2
    READ_ONLY: Final = 4
    SVM_FINE_GRAIN_BUFFER: Final = 1024
    SVM_ATOMICS: Final = 2048

class mem_migration_flags(Constants):
    HOST: Final = 1
    CONTENT_UNDEFINED: Final = 2

class mem_object_type(Constants):
    BUFFER: Final = 4336
    IMAGE2D: Final = 4337
    IMAGE3D: Final = 4338
    IMAGE2D_ARRAY: Final = 4339
    IMAGE1D: Final = 4340
    IMAGE1D_ARRAY: Final = 4341
    IMAGE1D_BUFFER: Final = 4342
    PIPE: Final = 4343

class mem_info(Constants):
    TYPE: Final = 4352
    FLAGS: Final = 4353
    SIZE: Final = 4354
    HOST_PTR: Final = 4355
    MAP_COUNT: Final = 4356
    REFERENCE_COUNT: Final = 4357
    CONTEXT: Final = 4358
    ASSOCIATED_MEMOBJECT: Final = 4359
    OFFSET: Final = 4360
    USES_SVM_POINTER: Final = 4361
    PROPERTIES: Final = 4362

class map_flags(Constants):
    READ: Final = 1
    WRITE: Final = 2
    WRITE_INVALIDATE_REGION: Final = 4

class channel_order(Constants):
    R: Final = 4272
    A: Final = 4273
    RG: Final = 4274
    RA: Final = 4275
    RGB: Final = 4276
    RGBA: Final = 4277
    BGRA: Final = 4278
    INTENSITY: Final = 4280
    LUMINANCE: Final = 4281
    Rx: Final = 4282
    RGx: Final = 4283
    RGBx: Final = 4284
    sRGB: Final = 4287
    sRGBx: Final = 4288
    sRGBA: Final = 4289
    sBGRA: Final = 4290
    ABGR: Final = 4291
    ARGB: Final = 4279
    DEPTH: Final = 4285
    DEPTH_STENCIL: Final = 4286

class channel_type(Constants):
    SNORM_INT8: Final = 4304
    SNORM_INT16: Final = 4305
    UNORM_INT8: Final = 4306
    UNORM_INT16: Final = 4307
    UNORM_SHORT_565: Final = 4308
    UNORM_SHORT_555: Final = 4309
    UNORM_INT_101010: Final = 4310
    SIGNED_INT8: Final = 4311
    SIGNED_INT16: Final = 4312
    SIGNED_INT32: Final = 4313
    UNSIGNED_INT8: Final = 4314
    UNSIGNED_INT16: Final = 4315
    UNSIGNED_INT32: Final = 4316
    HALF_FLOAT: Final = 4317
    FLOAT: Final = 4318
    UNORM_INT_101010_2: Final = 4320
    UNORM_INT24: Final = 4319

class image_info(Constants):
    FORMAT: Final = 4368
    ELEMENT_SIZE: Final = 4369
    ROW_PITCH: Final = 4370
    SLICE_PITCH: Final = 4371
    WIDTH: Final = 4372
    HEIGHT: Final = 4373
    DEPTH: Final = 4374
    ARRAY_SIZE: Final = 4375
    BUFFER: Final = 4376
    NUM_MIP_LEVELS: Final = 4377
    NUM_SAMPLES: Final = 4378

class pipe_info(Constants):
    PACKET_SIZE: Final = 4384
    MAX_PACKETS: Final = 4385
    PROPERTIES: Final = 4386

class pipe_properties(Constants):
    PACKET_SIZE: Final = 4384
    MAX_PACKETS: Final = 4385

class addressing_mode(Constants):
    NONE: Final = 4400
    CLAMP_TO_EDGE: Final = 4401
    CLAMP: Final = 4402
    REPEAT: Final = 4403
    MIRRORED_REPEAT: Final = 4404

class filter_mode(Constants):
    NEAREST: Final = 4416
    LINEAR: Final = 4417

class sampler_info(Constants):
    REFERENCE_COUNT: Final = 4432
    CONTEXT: Final = 4433
    NORMALIZED_COORDS: Final = 4434
    ADDRESSING_MODE: Final = 4435
    FILTER_MODE: Final = 4436
    MIP_FILTER_MODE: Final = 4437
    LOD_MIN: Final = 4438
    LOD_MAX: Final = 4439
    PROPERTIES: Final = 4440
    MIP_FILTER_MODE_KHR: Final = 4437
    LOD_MIN_KHR: Final = 4438
    LOD_MAX_KHR: Final = 4439

class sampler_properties(Constants):
    NORMALIZED_COORDS: Final = 4434
    ADDRESSING_MODE: Final = 4435
    FILTER_MODE: Final = 4436
    MIP_FILTER_MODE_KHR: Final = 4437
    LOD_MIN_KHR: Final = 4438
    LOD_MAX_KHR: Final = 4439

class program_info(Constants):
    REFERENCE_COUNT: Final = 4448
    CONTEXT: Final = 4449
    NUM_DEVICES: Final = 4450
    DEVICES: Final = 4451
    SOURCE: Final = 4452
    BINARY_SIZES: Final = 4453
    BINARIES: Final = 4454
    NUM_KERNELS: Final = 4455
    KERNEL_NAMES: Final = 4456
    IL: Final = 4457
    SCOPE_GLOBAL_CTORS_PRESENT: Final = 4458
    SCOPE_GLOBAL_DTORS_PRESENT: Final = 4459

class program_build_info(Constants):
    STATUS: Final = 4481
    OPTIONS: Final = 4482
    LOG: Final = 4483
    BINARY_TYPE: Final = 4484
    GLOBAL_VARIABLE_TOTAL_SIZE: Final = 4485

class program_binary_type(Constants):
    NONE: Final = 0
    COMPILED_OBJECT: Final = 1
    LIBRARY: Final = 2
    EXECUTABLE: Final = 4
    INTERMEDIATE: Final = 16609

class build_status(Constants):
    SUCCESS: Final = 0
    NONE: Final = -1
    ERROR: Final = -2
    IN_PROGRESS: Final = -3

class kernel_info(Constants):
    FUNCTION_NAME: Final = 4496
    NUM_ARGS: Final = 4497
    REFERENCE_COUNT: Final = 4498
    CONTEXT: Final = 4499
    PROGRAM: Final = 4500
    ATTRIBUTES: Final = 4501

class kernel_arg_info(Constants):
    ADDRESS_QUALIFIER: Final = 4502
    ACCESS_QUALIFIER: Final = 4503
    TYPE_NAME: Final = 4504
    TYPE_QUALIFIER: Final = 4505
    NAME: Final = 4506

class kernel_arg_address_qualifier(Constants):
    GLOBAL: Final = 4507
    LOCAL: Final = 4508
    CONSTANT: Final = 4509
    PRIVATE: Final = 4510

class kernel_arg_access_qualifier(Constants):
    READ_ONLY: Final = 4512
    WRITE_ONLY: Final = 4513
    READ_WRITE: Final = 4514
    NONE: Final = 4515

class kernel_arg_type_qualifier(Constants):
    NONE: Final = 0
    CONST: Final = 1
    RESTRICT: Final = 2
    VOLATILE: Final = 4
    PIPE: Final = 8

class kernel_work_group_info(Constants):
    WORK_GROUP_SIZE: Final = 4528
    COMPILE_WORK_GROUP_SIZE: Final = 4529
    LOCAL_MEM_SIZE: Final = 4530
    PREFERRED_WORK_GROUP_SIZE_MULTIPLE: Final = 4531
    PRIVATE_MEM_SIZE: Final = 4532
    GLOBAL_WORK_SIZE: Final = 4533
    SPILL_MEM_SIZE_INTEL: Final = 16649

class kernel_sub_group_info(Constants):
    MAX_SUB_GROUP_SIZE_FOR_NDRANGE: Final = 8243
    SUB_GROUP_COUNT_FOR_NDRANGE: Final = 8244
    LOCAL_SIZE_FOR_SUB_GROUP_COUNT: Final = 4536
    MAX_NUM_SUB_GROUPS: Final = 4537
    COMPILE_NUM_SUB_GROUPS: Final = 4538
    COMPILE_SUB_GROUP_SIZE_INTEL: Final = 16650

class event_info(Constants):
    COMMAND_QUEUE: Final = 4560
    COMMAND_TYPE: Final = 4561
    REFERENCE_COUNT: Final = 4562
    COMMAND_EXECUTION_STATUS: Final = 4563
    CONTEXT: Final = 4564

class command_type(Constants):
    NDRANGE_KERNEL: Final = 4592
    TASK: Final = 4593
    NATIVE_KERNEL: Final = 4594
    READ_BUFFER: Final = 4595
    WRITE_BUFFER: Final = 4596
    COPY_BUFFER: Final = 4597
    READ_IMAGE: Final = 4598
    WRITE_IMAGE: Final = 4599
    COPY_IMAGE: Final = 4600
    COPY_IMAGE_TO_BUFFER: Final = 4601
    COPY_BUFFER_TO_IMAGE: Final = 4602
    MAP_BUFFER: Final = 4603
    MAP_IMAGE: Final = 4604
    UNMAP_MEM_OBJECT: Final = 4605
    MARKER: Final = 4606
    ACQUIRE_GL_OBJECTS: Final = 4607
    RELEASE_GL_OBJECTS: Final = 4608
    READ_BUFFER_RECT: Final = 4609
    WRITE_BUFFER_RECT: Final = 4610
    COPY_BUFFER_RECT: Final = 4611
    USER: Final = 4612
    BARRIER: Final = 4613
    MIGRATE_MEM_OBJECTS: Final = 4614
    FILL_BUFFER: Final = 4615
    FILL_IMAGE: Final = 4616
    SVM_FREE: Final = 4617
    SVM_MEMCPY: Final = 4618
    SVM_MEMFILL: Final = 4619
    SVM_MAP: Final = 4620
    SVM_UNMAP: Final = 4621
    SVM_MIGRATE_MEM: Final = 4622
    GL_FENCE_SYNC_OBJECT_KHR: Final = 8205

class command_execution_status(Constants):
    COMPLETE: Final = 0
    RUNNING: Final = 1
    SUBMITTED: Final = 2
    QUEUED: Final = 3

class profiling_info(Constants):
    QUEUED: Final = 4736
    SUBMIT: Final = 4737
    START: Final = 4738
    END: Final = 4739
    COMPLETE: Final = 4740

class gl_object_type(Constants):
    BUFFER: Final = 8192
    TEXTURE2D: Final = 8193
    TEXTURE3D: Final = 8194
    RENDERBUFFER: Final = 8195
    TEXTURE2D_ARRAY: Final = 8206
    TEXTURE1D: Final = 8207
    TEXTURE1D_ARRAY: Final = 8208
    TEXTURE_BUFFER: Final = 8209

class gl_texture_info(Constants):
    TEXTURE_TARGET: Final = 8196
    MIPMAP_LEVEL: Final = 8197
    NUM_SAMPLES: Final = 8210

class gl_context_info(Constants):
    CURRENT_DEVICE_FOR_GL_CONTEXT_KHR: Final = 8198
    DEVICES_FOR_GL_CONTEXT_KHR: Final = 8199
