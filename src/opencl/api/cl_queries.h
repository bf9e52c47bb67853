/* cl_queries.h - the parameters of clGet...Info in OpenCL 1.0 to 3.0 and in common extensions.
 * Part of cl_api.h. */
#ifndef PYGPU_CL_QUERIES_H
#define PYGPU_CL_QUERIES_H

/* Platform queries */
#define CL_PLATFORM_PROFILE                                     0x0900
#define CL_PLATFORM_VERSION                                     0x0901
#define CL_PLATFORM_NAME                                        0x0902
#define CL_PLATFORM_VENDOR                                      0x0903
#define CL_PLATFORM_EXTENSIONS                                  0x0904
#define CL_PLATFORM_HOST_TIMER_RESOLUTION                       0x0905
#define CL_PLATFORM_NUMERIC_VERSION                             0x0906
#define CL_PLATFORM_EXTENSIONS_WITH_VERSION                     0x0907
#define CL_PLATFORM_ICD_SUFFIX_KHR                              0x0920

/* Device queries */
#define CL_DEVICE_TYPE                                          0x1000
#define CL_DEVICE_VENDOR_ID                                     0x1001
#define CL_DEVICE_MAX_COMPUTE_UNITS                             0x1002
#define CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS                      0x1003
#define CL_DEVICE_MAX_WORK_GROUP_SIZE                           0x1004
#define CL_DEVICE_MAX_WORK_ITEM_SIZES                           0x1005
#define CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR                   0x1006
#define CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT                  0x1007
#define CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT                    0x1008
#define CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG                   0x1009
#define CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT                  0x100A
#define CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE                 0x100B
#define CL_DEVICE_MAX_CLOCK_FREQUENCY                           0x100C
#define CL_DEVICE_ADDRESS_BITS                                  0x100D
#define CL_DEVICE_MAX_READ_IMAGE_ARGS                           0x100E
#define CL_DEVICE_MAX_WRITE_IMAGE_ARGS                          0x100F
#define CL_DEVICE_MAX_MEM_ALLOC_SIZE                            0x1010
#define CL_DEVICE_IMAGE2D_MAX_WIDTH                             0x1011
#define CL_DEVICE_IMAGE2D_MAX_HEIGHT                            0x1012
#define CL_DEVICE_IMAGE3D_MAX_WIDTH                             0x1013
#define CL_DEVICE_IMAGE3D_MAX_HEIGHT                            0x1014
#define CL_DEVICE_IMAGE3D_MAX_DEPTH                             0x1015
#define CL_DEVICE_IMAGE_SUPPORT                                 0x1016
#define CL_DEVICE_MAX_PARAMETER_SIZE                            0x1017
#define CL_DEVICE_MAX_SAMPLERS                                  0x1018
#define CL_DEVICE_MEM_BASE_ADDR_ALIGN                           0x1019
#define CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE                      0x101A
#define CL_DEVICE_SINGLE_FP_CONFIG                              0x101B
#define CL_DEVICE_GLOBAL_MEM_CACHE_TYPE                         0x101C
#define CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE                     0x101D
#define CL_DEVICE_GLOBAL_MEM_CACHE_SIZE                         0x101E
#define CL_DEVICE_GLOBAL_MEM_SIZE                               0x101F
#define CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE                      0x1020
#define CL_DEVICE_MAX_CONSTANT_ARGS                             0x1021
#define CL_DEVICE_LOCAL_MEM_TYPE                                0x1022
#define CL_DEVICE_LOCAL_MEM_SIZE                                0x1023
#define CL_DEVICE_ERROR_CORRECTION_SUPPORT                      0x1024
#define CL_DEVICE_PROFILING_TIMER_RESOLUTION                    0x1025
#define CL_DEVICE_ENDIAN_LITTLE                                 0x1026
#define CL_DEVICE_AVAILABLE                                     0x1027
#define CL_DEVICE_COMPILER_AVAILABLE                            0x1028
#define CL_DEVICE_EXECUTION_CAPABILITIES                        0x1029
#define CL_DEVICE_QUEUE_PROPERTIES                              0x102A
#define CL_DEVICE_QUEUE_ON_HOST_PROPERTIES                      0x102A
#define CL_DEVICE_NAME                                          0x102B
#define CL_DEVICE_VENDOR                                        0x102C
#define CL_DRIVER_VERSION                                       0x102D
#define CL_DEVICE_PROFILE                                       0x102E
#define CL_DEVICE_VERSION                                       0x102F
#define CL_DEVICE_EXTENSIONS                                    0x1030
#define CL_DEVICE_PLATFORM                                      0x1031
#define CL_DEVICE_DOUBLE_FP_CONFIG                              0x1032
#define CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF                   0x1034
#define CL_DEVICE_HOST_UNIFIED_MEMORY                           0x1035
#define CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR                      0x1036
#define CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT                     0x1037
#define CL_DEVICE_NATIVE_VECTOR_WIDTH_INT                       0x1038
#define CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG                      0x1039
#define CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT                     0x103A
#define CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE                    0x103B
#define CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF                      0x103C
#define CL_DEVICE_OPENCL_C_VERSION                              0x103D
#define CL_DEVICE_LINKER_AVAILABLE                              0x103E
#define CL_DEVICE_BUILT_IN_KERNELS                              0x103F
#define CL_DEVICE_IMAGE_MAX_BUFFER_SIZE                         0x1040
#define CL_DEVICE_IMAGE_MAX_ARRAY_SIZE                          0x1041
#define CL_DEVICE_PARENT_DEVICE                                 0x1042
#define CL_DEVICE_PARTITION_MAX_SUB_DEVICES                     0x1043
#define CL_DEVICE_PARTITION_PROPERTIES                          0x1044
#define CL_DEVICE_PARTITION_AFFINITY_DOMAIN                     0x1045
#define CL_DEVICE_PARTITION_TYPE                                0x1046
#define CL_DEVICE_REFERENCE_COUNT                               0x1047
#define CL_DEVICE_PREFERRED_INTEROP_USER_SYNC                   0x1048
#define CL_DEVICE_PRINTF_BUFFER_SIZE                            0x1049
#define CL_DEVICE_IMAGE_PITCH_ALIGNMENT                         0x104A
#define CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT                  0x104B
#define CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS                     0x104C
#define CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE                      0x104D
#define CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES                    0x104E
#define CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE                0x104F
#define CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE                      0x1050
#define CL_DEVICE_MAX_ON_DEVICE_QUEUES                          0x1051
#define CL_DEVICE_MAX_ON_DEVICE_EVENTS                          0x1052
#define CL_DEVICE_SVM_CAPABILITIES                              0x1053
#define CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE          0x1054
#define CL_DEVICE_MAX_PIPE_ARGS                                 0x1055
#define CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS                  0x1056
#define CL_DEVICE_PIPE_MAX_PACKET_SIZE                          0x1057
#define CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT           0x1058
#define CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT             0x1059
#define CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT              0x105A
#define CL_DEVICE_IL_VERSION                                    0x105B
#define CL_DEVICE_MAX_NUM_SUB_GROUPS                            0x105C
#define CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS        0x105D
#define CL_DEVICE_NUMERIC_VERSION                               0x105E
#define CL_DEVICE_EXTENSIONS_WITH_VERSION                       0x1060
#define CL_DEVICE_ILS_WITH_VERSION                              0x1061
#define CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION                 0x1062
#define CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES                    0x1063
#define CL_DEVICE_ATOMIC_FENCE_CAPABILITIES                     0x1064
#define CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT                0x1065
#define CL_DEVICE_OPENCL_C_ALL_VERSIONS                         0x1066
#define CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE            0x1067
#define CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT       0x1068
#define CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT                 0x1069
#define CL_DEVICE_OPENCL_C_FEATURES                             0x106F
#define CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES                   0x1070
#define CL_DEVICE_PIPE_SUPPORT                                  0x1071
#define CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED             0x1072
#define CL_DEVICE_HALF_FP_CONFIG                                0x1033
#define CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR                  0x105F
#define CL_DEVICE_UUID_KHR                                      0x106A
#define CL_DRIVER_UUID_KHR                                      0x106B
#define CL_DEVICE_LUID_VALID_KHR                                0x106C
#define CL_DEVICE_LUID_KHR                                      0x106D
#define CL_DEVICE_NODE_MASK_KHR                                 0x106E
#define CL_DEVICE_PCI_BUS_INFO_KHR                              0x410F
#define CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES_KHR          0x1073
#define CL_DEVICE_TERMINATE_CAPABILITY_KHR                      0x2031
#define CL_DEVICE_MAX_NAMED_BARRIER_COUNT_KHR                   0x2035
#define CL_DEVICE_SPIR_VERSIONS                                 0x40E0
#define CL_DEVICE_CXX_FOR_OPENCL_NUMERIC_VERSION_EXT            0x4230
#define CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV                   0x4000
#define CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV                   0x4001
#define CL_DEVICE_REGISTERS_PER_BLOCK_NV                        0x4002
#define CL_DEVICE_WARP_SIZE_NV                                  0x4003
#define CL_DEVICE_GPU_OVERLAP_NV                                0x4004
#define CL_DEVICE_KERNEL_EXEC_TIMEOUT_NV                        0x4005
#define CL_DEVICE_INTEGRATED_MEMORY_NV                          0x4006
#define CL_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT_NV               0x4007
#define CL_DEVICE_PCI_BUS_ID_NV                                 0x4008
#define CL_DEVICE_PCI_SLOT_ID_NV                                0x4009
#define CL_DEVICE_PCI_DOMAIN_ID_NV                              0x400A
#define CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_AMD                 0x4030
#define CL_DEVICE_MAX_WORK_GROUP_SIZE_AMD                       0x4031
#define CL_DEVICE_PREFERRED_CONSTANT_BUFFER_SIZE_AMD            0x4033
#define CL_DEVICE_PCIE_ID_AMD                                   0x4034
#define CL_DEVICE_PROFILING_TIMER_OFFSET_AMD                    0x4036
#define CL_DEVICE_TOPOLOGY_AMD                                  0x4037
#define CL_DEVICE_BOARD_NAME_AMD                                0x4038
#define CL_DEVICE_GLOBAL_FREE_MEMORY_AMD                        0x4039
#define CL_DEVICE_SIMD_PER_COMPUTE_UNIT_AMD                     0x4040
#define CL_DEVICE_SIMD_WIDTH_AMD                                0x4041
#define CL_DEVICE_SIMD_INSTRUCTION_WIDTH_AMD                    0x4042
#define CL_DEVICE_WAVEFRONT_WIDTH_AMD                           0x4043
#define CL_DEVICE_GLOBAL_MEM_CHANNELS_AMD                       0x4044
#define CL_DEVICE_GLOBAL_MEM_CHANNEL_BANKS_AMD                  0x4045
#define CL_DEVICE_GLOBAL_MEM_CHANNEL_BANK_WIDTH_AMD             0x4046
#define CL_DEVICE_LOCAL_MEM_SIZE_PER_COMPUTE_UNIT_AMD           0x4047
#define CL_DEVICE_LOCAL_MEM_BANKS_AMD                           0x4048
#define CL_DEVICE_THREAD_TRACE_SUPPORTED_AMD                    0x4049
#define CL_DEVICE_GFXIP_MAJOR_AMD                               0x404A
#define CL_DEVICE_GFXIP_MINOR_AMD                               0x404B
#define CL_DEVICE_AVAILABLE_ASYNC_QUEUES_AMD                    0x404C
#define CL_DEVICE_TOPOLOGY_TYPE_PCIE_AMD                        1
#define CL_DEVICE_ME_VERSION_INTEL                              0x407E
#define CL_DEVICE_SIMULTANEOUS_INTEROPS_INTEL                   0x4104
#define CL_DEVICE_NUM_SIMULTANEOUS_INTEROPS_INTEL               0x4105
#define CL_DEVICE_SUB_GROUP_SIZES_INTEL                         0x4108
#define CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL                   0x4190
#define CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL                 0x4191
#define CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL   0x4192
#define CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL    0x4193
#define CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL          0x4194
#define CL_DEVICE_IP_VERSION_INTEL                              0x4250
#define CL_DEVICE_ID_INTEL                                      0x4251
#define CL_DEVICE_NUM_SLICES_INTEL                              0x4252
#define CL_DEVICE_NUM_SUB_SLICES_PER_SLICE_INTEL                0x4253
#define CL_DEVICE_NUM_EUS_PER_SUB_SLICE_INTEL                   0x4254
#define CL_DEVICE_NUM_THREADS_PER_EU_INTEL                      0x4255
#define CL_DEVICE_FEATURE_CAPABILITIES_INTEL                    0x4256
#define CL_DEVICE_COMPUTE_UNITS_BITFIELD_ARM                    0x40BF
#define CL_DEVICE_JOB_SLOTS_ARM                                 0x41E0
#define CL_DEVICE_SCHEDULING_CONTROLS_CAPABILITIES_ARM          0x41E4
#define CL_DEVICE_MAX_WARP_COUNT_ARM                            0x41EA
#define CL_DEVICE_SUPPORTED_REGISTER_ALLOCATIONS_ARM            0x41EB
#define CL_DEVICE_CONTROLLED_TERMINATION_CAPABILITIES_ARM       0x41EE
#define CL_DEVICE_EXT_MEM_PADDING_IN_BYTES_QCOM                 0x40A0
#define CL_DEVICE_PAGE_SIZE_QCOM                                0x40A1

/* Context queries, and context properties */
#define CL_CONTEXT_REFERENCE_COUNT                              0x1080
#define CL_CONTEXT_DEVICES                                      0x1081
#define CL_CONTEXT_PROPERTIES                                   0x1082
#define CL_CONTEXT_NUM_DEVICES                                  0x1083
#define CL_CONTEXT_PLATFORM                                     0x1084
#define CL_CONTEXT_INTEROP_USER_SYNC                            0x1085
#define CL_GL_CONTEXT_KHR                                       0x2008
#define CL_EGL_DISPLAY_KHR                                      0x2009
#define CL_GLX_DISPLAY_KHR                                      0x200A
#define CL_WGL_HDC_KHR                                          0x200B
#define CL_CGL_SHAREGROUP_KHR                                   0x200C
#define CL_CONTEXT_PROPERTY_USE_CGL_SHAREGROUP_APPLE            0x10000000
#define CL_CONTEXT_OFFLINE_DEVICES_AMD                          0x403F
#define CL_CONTEXT_MEMORY_INITIALIZE_KHR                        0x2030
#define CL_CONTEXT_TERMINATE_KHR                                0x2032
#define CL_CONTEXT_SHOW_DIAGNOSTICS_INTEL                       0x4106

/* Queue queries, and queue properties */
#define CL_QUEUE_CONTEXT                                        0x1090
#define CL_QUEUE_DEVICE                                         0x1091
#define CL_QUEUE_REFERENCE_COUNT                                0x1092
#define CL_QUEUE_PROPERTIES                                     0x1093
#define CL_QUEUE_SIZE                                           0x1094
#define CL_QUEUE_DEVICE_DEFAULT                                 0x1095
#define CL_QUEUE_PROPERTIES_ARRAY                               0x1098
#define CL_QUEUE_PRIORITY_KHR                                   0x1096
#define CL_QUEUE_THROTTLE_KHR                                   0x1097

/* Memory object queries */
#define CL_MEM_TYPE                                             0x1100
#define CL_MEM_FLAGS                                            0x1101
#define CL_MEM_SIZE                                             0x1102
#define CL_MEM_HOST_PTR                                         0x1103
#define CL_MEM_MAP_COUNT                                        0x1104
#define CL_MEM_REFERENCE_COUNT                                  0x1105
#define CL_MEM_CONTEXT                                          0x1106
#define CL_MEM_ASSOCIATED_MEMOBJECT                             0x1107
#define CL_MEM_OFFSET                                           0x1108
#define CL_MEM_USES_SVM_POINTER                                 0x1109
#define CL_MEM_PROPERTIES                                       0x110A

/* Image queries */
#define CL_IMAGE_FORMAT                                         0x1110
#define CL_IMAGE_ELEMENT_SIZE                                   0x1111
#define CL_IMAGE_ROW_PITCH                                      0x1112
#define CL_IMAGE_SLICE_PITCH                                    0x1113
#define CL_IMAGE_WIDTH                                          0x1114
#define CL_IMAGE_HEIGHT                                         0x1115
#define CL_IMAGE_DEPTH                                          0x1116
#define CL_IMAGE_ARRAY_SIZE                                     0x1117
#define CL_IMAGE_BUFFER                                         0x1118
#define CL_IMAGE_NUM_MIP_LEVELS                                 0x1119
#define CL_IMAGE_NUM_SAMPLES                                    0x111A

/* Pipe queries */
#define CL_PIPE_PACKET_SIZE                                     0x1120
#define CL_PIPE_MAX_PACKETS                                     0x1121
#define CL_PIPE_PROPERTIES                                      0x1122

/* Sampler queries */
#define CL_SAMPLER_REFERENCE_COUNT                              0x1150
#define CL_SAMPLER_CONTEXT                                      0x1151
#define CL_SAMPLER_NORMALIZED_COORDS                            0x1152
#define CL_SAMPLER_ADDRESSING_MODE                              0x1153
#define CL_SAMPLER_FILTER_MODE                                  0x1154
#define CL_SAMPLER_MIP_FILTER_MODE                              0x1155
#define CL_SAMPLER_LOD_MIN                                      0x1156
#define CL_SAMPLER_LOD_MAX                                      0x1157
#define CL_SAMPLER_PROPERTIES                                   0x1158
#define CL_SAMPLER_MIP_FILTER_MODE_KHR                          0x1155
#define CL_SAMPLER_LOD_MIN_KHR                                  0x1156
#define CL_SAMPLER_LOD_MAX_KHR                                  0x1157

/* Program queries */
#define CL_PROGRAM_REFERENCE_COUNT                              0x1160
#define CL_PROGRAM_CONTEXT                                      0x1161
#define CL_PROGRAM_NUM_DEVICES                                  0x1162
#define CL_PROGRAM_DEVICES                                      0x1163
#define CL_PROGRAM_SOURCE                                       0x1164
#define CL_PROGRAM_BINARY_SIZES                                 0x1165
#define CL_PROGRAM_BINARIES                                     0x1166
#define CL_PROGRAM_NUM_KERNELS                                  0x1167
#define CL_PROGRAM_KERNEL_NAMES                                 0x1168
#define CL_PROGRAM_IL                                           0x1169
#define CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT                   0x116A
#define CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT                   0x116B

/* Build queries */
#define CL_PROGRAM_BUILD_STATUS                                 0x1181
#define CL_PROGRAM_BUILD_OPTIONS                                0x1182
#define CL_PROGRAM_BUILD_LOG                                    0x1183
#define CL_PROGRAM_BINARY_TYPE                                  0x1184
#define CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE             0x1185

/* Kernel queries */
#define CL_KERNEL_FUNCTION_NAME                                 0x1190
#define CL_KERNEL_NUM_ARGS                                      0x1191
#define CL_KERNEL_REFERENCE_COUNT                               0x1192
#define CL_KERNEL_CONTEXT                                       0x1193
#define CL_KERNEL_PROGRAM                                       0x1194
#define CL_KERNEL_ATTRIBUTES                                    0x1195

/* Kernel argument queries */
#define CL_KERNEL_ARG_ADDRESS_QUALIFIER                         0x1196
#define CL_KERNEL_ARG_ACCESS_QUALIFIER                          0x1197
#define CL_KERNEL_ARG_TYPE_NAME                                 0x1198
#define CL_KERNEL_ARG_TYPE_QUALIFIER                            0x1199
#define CL_KERNEL_ARG_NAME                                      0x119A

/* Queries about a kernel on a device */
#define CL_KERNEL_WORK_GROUP_SIZE                               0x11B0
#define CL_KERNEL_COMPILE_WORK_GROUP_SIZE                       0x11B1
#define CL_KERNEL_LOCAL_MEM_SIZE                                0x11B2
#define CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE            0x11B3
#define CL_KERNEL_PRIVATE_MEM_SIZE                              0x11B4
#define CL_KERNEL_GLOBAL_WORK_SIZE                              0x11B5
#define CL_KERNEL_SPILL_MEM_SIZE_INTEL                          0x4109
#define CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL                  0x410A

/* Sub-group queries */
#define CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE                0x2033
#define CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE                   0x2034
#define CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT                0x11B8
#define CL_KERNEL_MAX_NUM_SUB_GROUPS                            0x11B9
#define CL_KERNEL_COMPILE_NUM_SUB_GROUPS                        0x11BA

/* Event queries */
#define CL_EVENT_COMMAND_QUEUE                                  0x11D0
#define CL_EVENT_COMMAND_TYPE                                   0x11D1
#define CL_EVENT_REFERENCE_COUNT                                0x11D2
#define CL_EVENT_COMMAND_EXECUTION_STATUS                       0x11D3
#define CL_EVENT_CONTEXT                                        0x11D4

#endif
