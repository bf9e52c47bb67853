# Written by tools/stubs.py from the built module: `make stubs`.

from typing import ClassVar

from typing_extensions import disjoint_base

__all__ = [
    "Enumeration",
    "ipc_mem_flags",
    "ctx_flags",
    "event_flags",
    "array_format",
    "address_mode",
    "filter_mode",
    "device_attribute",
    "pointer_attribute",
    "profiler_output_mode",
    "func_cache",
    "shared_config",
    "function_attribute",
    "memory_type",
    "compute_mode",
    "jit_option",
    "jit_target",
    "jit_fallback",
    "limit",
    "mem_attach_flags",
    "graphics_register_flags",
    "array_cubemap_face",
    "jit_input_type",
    "stream_flags",
    "stream_capture_mode",
    "stream_capture_status",
    "graph_node_type",
    "graph_exec_update_result",
    "mem_advise",
    "mem_pool_attribute",
    "p2p_attribute",
    "resource_type",
    "host_alloc_flags",
    "mem_host_register_flags",
    "array3d_flags",
]

@disjoint_base
class Enumeration(int):
    names: ClassVar[dict[str, Enumeration]]
    values: ClassVar[dict[int, Enumeration]]
    @property
    def name(self) -> str: ...
    def __reduce__(self) -> tuple[type, tuple[int]]: ...

class ipc_mem_flags(Enumeration):
    LAZY_ENABLE_PEER_ACCESS: ClassVar[ipc_mem_flags]

class ctx_flags(Enumeration):
    SCHED_AUTO: ClassVar[ctx_flags]
    SCHED_SPIN: ClassVar[ctx_flags]
    SCHED_YIELD: ClassVar[ctx_flags]
    SCHED_MASK: ClassVar[ctx_flags]
    BLOCKING_SYNC: ClassVar[ctx_flags]
    SCHED_BLOCKING_SYNC: ClassVar[ctx_flags]
    MAP_HOST: ClassVar[ctx_flags]
    LMEM_RESIZE_TO_MAX: ClassVar[ctx_flags]
    FLAGS_MASK: ClassVar[ctx_flags]

class event_flags(Enumeration):
    DEFAULT: ClassVar[event_flags]
    BLOCKING_SYNC: ClassVar[event_flags]
    DISABLE_TIMING: ClassVar[event_flags]
    INTERPROCESS: ClassVar[event_flags]

class array_format(Enumeration):
    UNSIGNED_INT8: ClassVar[array_format]
    UNSIGNED_INT16: ClassVar[array_format]
    UNSIGNED_INT32: ClassVar[array_format]
    SIGNED_INT8: ClassVar[array_format]
    SIGNED_INT16: ClassVar[array_format]
    SIGNED_INT32: ClassVar[array_format]
    HALF: ClassVar[array_format]
    FLOAT: ClassVar[array_format]
    NV12: ClassVar[array_format]
    UNORM_INT8X1: ClassVar[array_format]
    UNORM_INT8X2: ClassVar[array_format]
    UNORM_INT8X4: ClassVar[array_format]
    UNORM_INT16X1: ClassVar[array_format]
    UNORM_INT16X2: ClassVar[array_format]
    UNORM_INT16X4: ClassVar[array_format]
    SNORM_INT8X1: ClassVar[array_format]
    SNORM_INT8X2: ClassVar[array_format]
    SNORM_INT8X4: ClassVar[array_format]
    SNORM_INT16X1: ClassVar[array_format]
    SNORM_INT16X2: ClassVar[array_format]
    SNORM_INT16X4: ClassVar[array_format]
    BC1_UNORM: ClassVar[array_format]
    BC1_UNORM_SRGB: ClassVar[array_format]
    BC2_UNORM: ClassVar[array_format]
    BC2_UNORM_SRGB: ClassVar[array_format]
    BC3_UNORM: ClassVar[array_format]
    BC3_UNORM_SRGB: ClassVar[array_format]
    BC4_UNORM: ClassVar[array_format]
    BC4_SNORM: ClassVar[array_format]
    BC5_UNORM: ClassVar[array_format]
    BC5_SNORM: ClassVar[array_format]
    BC6H_UF16: ClassVar[array_format]
    BC6H_SF16: ClassVar[array_format]
    BC7_UNORM: ClassVar[array_format]
    BC7_UNORM_SRGB: ClassVar[array_format]
    P010: ClassVar[array_format]
    P016: ClassVar[array_format]
    NV16: ClassVar[array_format]
    P210: ClassVar[array_format]
    P216: ClassVar[array_format]
    YUY2: ClassVar[array_format]
    Y210: ClassVar[array_format]
    Y216: ClassVar[array_format]
    AYUV: ClassVar[array_format]
    Y410: ClassVar[array_format]
    Y416: ClassVar[array_format]
    Y444_PLANAR8: ClassVar[array_format]
    Y444_PLANAR10: ClassVar[array_format]
    YUV444_8bit_SemiPlanar: ClassVar[array_format]
    YUV444_16bit_SemiPlanar: ClassVar[array_format]
    UNORM_INT_101010_2: ClassVar[array_format]

class address_mode(Enumeration):
    WRAP: ClassVar[address_mode]
    CLAMP: ClassVar[address_mode]
    MIRROR: ClassVar[address_mode]
    BORDER: ClassVar[address_mode]

class filter_mode(Enumeration):
    POINT: ClassVar[filter_mode]
    LINEAR: ClassVar[filter_mode]

class device_attribute(Enumeration):
    MAX_THREADS_PER_BLOCK: ClassVar[device_attribute]
    MAX_BLOCK_DIM_X: ClassVar[device_attribute]
    MAX_BLOCK_DIM_Y: ClassVar[device_attribute]
    MAX_BLOCK_DIM_Z: ClassVar[device_attribute]
    MAX_GRID_DIM_X: ClassVar[device_attribute]
    MAX_GRID_DIM_Y: ClassVar[device_attribute]
    MAX_GRID_DIM_Z: ClassVar[device_attribute]
    MAX_SHARED_MEMORY_PER_BLOCK: ClassVar[device_attribute]
    SHARED_MEMORY_PER_BLOCK: ClassVar[device_attribute]
    TOTAL_CONSTANT_MEMORY: ClassVar[device_attribute]
    WARP_SIZE: ClassVar[device_attribute]
    MAX_PITCH: ClassVar[device_attribute]
    MAX_REGISTERS_PER_BLOCK: ClassVar[device_attribute]
    REGISTERS_PER_BLOCK: ClassVar[device_attribute]
    CLOCK_RATE: ClassVar[device_attribute]
    TEXTURE_ALIGNMENT: ClassVar[device_attribute]
    GPU_OVERLAP: ClassVar[device_attribute]
    MULTIPROCESSOR_COUNT: ClassVar[device_attribute]
    KERNEL_EXEC_TIMEOUT: ClassVar[device_attribute]
    INTEGRATED: ClassVar[device_attribute]
    CAN_MAP_HOST_MEMORY: ClassVar[device_attribute]
    COMPUTE_MODE: ClassVar[device_attribute]
    MAXIMUM_TEXTURE1D_WIDTH: ClassVar[device_attribute]
    MAXIMUM_TEXTURE2D_WIDTH: ClassVar[device_attribute]
    MAXIMUM_TEXTURE2D_HEIGHT: ClassVar[device_attribute]
    MAXIMUM_TEXTURE3D_WIDTH: ClassVar[device_attribute]
    MAXIMUM_TEXTURE3D_HEIGHT: ClassVar[device_attribute]
    MAXIMUM_TEXTURE3D_DEPTH: ClassVar[device_attribute]
    MAXIMUM_TEXTURE2D_ARRAY_WIDTH: ClassVar[device_attribute]
    MAXIMUM_TEXTURE2D_ARRAY_HEIGHT: ClassVar[device_attribute]
    MAXIMUM_TEXTURE2D_ARRAY_NUMSLICES: ClassVar[device_attribute]
    SURFACE_ALIGNMENT: ClassVar[device_attribute]
    CONCURRENT_KERNELS: ClassVar[device_attribute]
    ECC_ENABLED: ClassVar[device_attribute]
    MAXIMUM_TEXTURE2D_LAYERED_WIDTH: ClassVar[device_attribute]
    MAXIMUM_TEXTURE2D_LAYERED_HEIGHT: ClassVar[device_attribute]
    MAXIMUM_TEXTURE2D_LAYERED_LAYERS: ClassVar[device_attribute]
    MAXIMUM_TEXTURE1D_LAYERED_WIDTH: ClassVar[device_attribute]
    MAXIMUM_TEXTURE1D_LAYERED_LAYERS: ClassVar[device_attribute]
    PCI_BUS_ID: ClassVar[device_attribute]
    PCI_DEVICE_ID: ClassVar[device_attribute]
    TCC_DRIVER: ClassVar[device_attribute]
    MEMORY_CLOCK_RATE: ClassVar[device_attribute]
    GLOBAL_MEMORY_BUS_WIDTH: ClassVar[device_attribute]
    L2_CACHE_SIZE: ClassVar[device_attribute]
    MAX_THREADS_PER_MULTIPROCESSOR: ClassVar[device_attribute]
    ASYNC_ENGINE_COUNT: ClassVar[device_attribute]
    UNIFIED_ADDRESSING: ClassVar[device_attribute]
    MAXIMUM_TEXTURE2D_GATHER_WIDTH: ClassVar[device_attribute]
    MAXIMUM_TEXTURE2D_GATHER_HEIGHT: ClassVar[device_attribute]
    MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE: ClassVar[device_attribute]
    MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE: ClassVar[device_attribute]
    MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE: ClassVar[device_attribute]
    PCI_DOMAIN_ID: ClassVar[device_attribute]
    TEXTURE_PITCH_ALIGNMENT: ClassVar[device_attribute]
    MAXIMUM_TEXTURECUBEMAP_WIDTH: ClassVar[device_attribute]
    MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH: ClassVar[device_attribute]
    MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS: ClassVar[device_attribute]
    MAXIMUM_SURFACE1D_WIDTH: ClassVar[device_attribute]
    MAXIMUM_SURFACE2D_WIDTH: ClassVar[device_attribute]
    MAXIMUM_SURFACE2D_HEIGHT: ClassVar[device_attribute]
    MAXIMUM_SURFACE3D_WIDTH: ClassVar[device_attribute]
    MAXIMUM_SURFACE3D_HEIGHT: ClassVar[device_attribute]
    MAXIMUM_SURFACE3D_DEPTH: ClassVar[device_attribute]
    MAXIMUM_SURFACE1D_LAYERED_WIDTH: ClassVar[device_attribute]
    MAXIMUM_SURFACE1D_LAYERED_LAYERS: ClassVar[device_attribute]
    MAXIMUM_SURFACE2D_LAYERED_WIDTH: ClassVar[device_attribute]
    MAXIMUM_SURFACE2D_LAYERED_HEIGHT: ClassVar[device_attribute]
    MAXIMUM_SURFACE2D_LAYERED_LAYERS: ClassVar[device_attribute]
    MAXIMUM_SURFACECUBEMAP_WIDTH: ClassVar[device_attribute]
    MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH: ClassVar[device_attribute]
    MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS: ClassVar[device_attribute]
    MAXIMUM_TEXTURE1D_LINEAR_WIDTH: ClassVar[device_attribute]
    MAXIMUM_TEXTURE2D_LINEAR_WIDTH: ClassVar[device_attribute]
    MAXIMUM_TEXTURE2D_LINEAR_HEIGHT: ClassVar[device_attribute]
    MAXIMUM_TEXTURE2D_LINEAR_PITCH: ClassVar[device_attribute]
    MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH: ClassVar[device_attribute]
    MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT: ClassVar[device_attribute]
    COMPUTE_CAPABILITY_MAJOR: ClassVar[device_attribute]
    COMPUTE_CAPABILITY_MINOR: ClassVar[device_attribute]
    MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH: ClassVar[device_attribute]
    STREAM_PRIORITIES_SUPPORTED: ClassVar[device_attribute]
    GLOBAL_L1_CACHE_SUPPORTED: ClassVar[device_attribute]
    LOCAL_L1_CACHE_SUPPORTED: ClassVar[device_attribute]
    MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: ClassVar[device_attribute]
    MAX_REGISTERS_PER_MULTIPROCESSOR: ClassVar[device_attribute]
    MANAGED_MEMORY: ClassVar[device_attribute]
    MULTI_GPU_BOARD: ClassVar[device_attribute]
    MULTI_GPU_BOARD_GROUP_ID: ClassVar[device_attribute]
    HOST_NATIVE_ATOMIC_SUPPORTED: ClassVar[device_attribute]
    SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO: ClassVar[device_attribute]
    PAGEABLE_MEMORY_ACCESS: ClassVar[device_attribute]
    CONCURRENT_MANAGED_ACCESS: ClassVar[device_attribute]
    COMPUTE_PREEMPTION_SUPPORTED: ClassVar[device_attribute]
    CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM: ClassVar[device_attribute]
    MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: ClassVar[device_attribute]
    PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES: ClassVar[device_attribute]
    DIRECT_MANAGED_MEM_ACCESS_FROM_HOST: ClassVar[device_attribute]
    HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED: ClassVar[device_attribute]
    HANDLE_TYPE_WIN32_HANDLE_SUPPORTED: ClassVar[device_attribute]
    HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED: ClassVar[device_attribute]
    MAX_PERSISTING_L2_CACHE_SIZE: ClassVar[device_attribute]
    MAX_BLOCKS_PER_MULTIPROCESSOR: ClassVar[device_attribute]
    GENERIC_COMPRESSION_SUPPORTED: ClassVar[device_attribute]
    RESERVED_SHARED_MEMORY_PER_BLOCK: ClassVar[device_attribute]
    READ_ONLY_HOST_REGISTER_SUPPORTED: ClassVar[device_attribute]
    MEMORY_POOLS_SUPPORTED: ClassVar[device_attribute]
    CAN_TEX2D_GATHER: ClassVar[device_attribute]
    CAN_USE_STREAM_MEM_OPS_V1: ClassVar[device_attribute]
    CAN_USE_64_BIT_STREAM_MEM_OPS_V1: ClassVar[device_attribute]
    CAN_USE_STREAM_WAIT_VALUE_NOR_V1: ClassVar[device_attribute]
    COOPERATIVE_LAUNCH: ClassVar[device_attribute]
    COOPERATIVE_MULTI_DEVICE_LAUNCH: ClassVar[device_attribute]
    CAN_FLUSH_REMOTE_WRITES: ClassVar[device_attribute]
    HOST_REGISTER_SUPPORTED: ClassVar[device_attribute]
    VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED: ClassVar[device_attribute]
    VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED: ClassVar[device_attribute]
    MAX_ACCESS_POLICY_WINDOW_SIZE: ClassVar[device_attribute]
    GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED: ClassVar[device_attribute]
    SPARSE_CUDA_ARRAY_SUPPORTED: ClassVar[device_attribute]
    TIMELINE_SEMAPHORE_INTEROP_SUPPORTED: ClassVar[device_attribute]
    GPU_DIRECT_RDMA_SUPPORTED: ClassVar[device_attribute]
    GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS: ClassVar[device_attribute]
    GPU_DIRECT_RDMA_WRITES_ORDERING: ClassVar[device_attribute]
    MEMPOOL_SUPPORTED_HANDLE_TYPES: ClassVar[device_attribute]
    CLUSTER_LAUNCH: ClassVar[device_attribute]
    DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED: ClassVar[device_attribute]
    CAN_USE_64_BIT_STREAM_MEM_OPS: ClassVar[device_attribute]
    CAN_USE_STREAM_WAIT_VALUE_NOR: ClassVar[device_attribute]
    DMA_BUF_SUPPORTED: ClassVar[device_attribute]
    IPC_EVENT_SUPPORTED: ClassVar[device_attribute]
    MEM_SYNC_DOMAIN_COUNT: ClassVar[device_attribute]
    TENSOR_MAP_ACCESS_SUPPORTED: ClassVar[device_attribute]
    HANDLE_TYPE_FABRIC_SUPPORTED: ClassVar[device_attribute]
    UNIFIED_FUNCTION_POINTERS: ClassVar[device_attribute]
    NUMA_CONFIG: ClassVar[device_attribute]
    NUMA_ID: ClassVar[device_attribute]
    MULTICAST_SUPPORTED: ClassVar[device_attribute]
    MPS_ENABLED: ClassVar[device_attribute]
    HOST_NUMA_ID: ClassVar[device_attribute]
    D3D12_CIG_SUPPORTED: ClassVar[device_attribute]
    MEM_DECOMPRESS_ALGORITHM_MASK: ClassVar[device_attribute]
    MEM_DECOMPRESS_MAXIMUM_LENGTH: ClassVar[device_attribute]
    VULKAN_CIG_SUPPORTED: ClassVar[device_attribute]
    GPU_PCI_DEVICE_ID: ClassVar[device_attribute]
    GPU_PCI_SUBSYSTEM_ID: ClassVar[device_attribute]
    HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED: ClassVar[device_attribute]
    HOST_NUMA_MEMORY_POOLS_SUPPORTED: ClassVar[device_attribute]
    HOST_NUMA_MULTINODE_IPC_SUPPORTED: ClassVar[device_attribute]
    HOST_MEMORY_POOLS_SUPPORTED: ClassVar[device_attribute]
    HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED: ClassVar[device_attribute]
    HOST_ALLOC_DMA_BUF_SUPPORTED: ClassVar[device_attribute]
    ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED: ClassVar[device_attribute]

class pointer_attribute(Enumeration):
    CONTEXT: ClassVar[pointer_attribute]
    MEMORY_TYPE: ClassVar[pointer_attribute]
    DEVICE_POINTER: ClassVar[pointer_attribute]
    HOST_POINTER: ClassVar[pointer_attribute]
    P2P_TOKENS: ClassVar[pointer_attribute]
    SYNC_MEMOPS: ClassVar[pointer_attribute]
    BUFFER_ID: ClassVar[pointer_attribute]
    IS_MANAGED: ClassVar[pointer_attribute]
    DEVICE_ORDINAL: ClassVar[pointer_attribute]
    IS_LEGACY_CUDA_IPC_CAPABLE: ClassVar[pointer_attribute]
    RANGE_START_ADDR: ClassVar[pointer_attribute]
    RANGE_SIZE: ClassVar[pointer_attribute]
    MAPPED: ClassVar[pointer_attribute]
    ALLOWED_HANDLE_TYPES: ClassVar[pointer_attribute]
    IS_GPU_DIRECT_RDMA_CAPABLE: ClassVar[pointer_attribute]
    ACCESS_FLAGS: ClassVar[pointer_attribute]
    MEMPOOL_HANDLE: ClassVar[pointer_attribute]
    MAPPING_SIZE: ClassVar[pointer_attribute]
    MAPPING_BASE_ADDR: ClassVar[pointer_attribute]
    MEMORY_BLOCK_ID: ClassVar[pointer_attribute]
    IS_HW_DECOMPRESS_CAPABLE: ClassVar[pointer_attribute]
    ACCESS_FLAG_NONE: ClassVar[pointer_attribute]
    ACCESS_FLAG_READ: ClassVar[pointer_attribute]
    ACCESS_FLAG_READWRITE: ClassVar[pointer_attribute]

class profiler_output_mode(Enumeration):
    KEY_VALUE_PAIR: ClassVar[profiler_output_mode]
    CSV: ClassVar[profiler_output_mode]

class func_cache(Enumeration):
    PREFER_NONE: ClassVar[func_cache]
    PREFER_SHARED: ClassVar[func_cache]
    PREFER_L1: ClassVar[func_cache]
    PREFER_EQUAL: ClassVar[func_cache]

class shared_config(Enumeration):
    DEFAULT_BANK_SIZE: ClassVar[shared_config]
    FOUR_BYTE_BANK_SIZE: ClassVar[shared_config]
    EIGHT_BYTE_BANK_SIZE: ClassVar[shared_config]

class function_attribute(Enumeration):
    MAX_THREADS_PER_BLOCK: ClassVar[function_attribute]
    SHARED_SIZE_BYTES: ClassVar[function_attribute]
    CONST_SIZE_BYTES: ClassVar[function_attribute]
    LOCAL_SIZE_BYTES: ClassVar[function_attribute]
    NUM_REGS: ClassVar[function_attribute]
    PTX_VERSION: ClassVar[function_attribute]
    BINARY_VERSION: ClassVar[function_attribute]
    CACHE_MODE_CA: ClassVar[function_attribute]
    MAX: ClassVar[function_attribute]
    MAX_DYNAMIC_SHARED_SIZE_BYTES: ClassVar[function_attribute]
    PREFERRED_SHARED_MEMORY_CARVEOUT: ClassVar[function_attribute]
    CLUSTER_SIZE_MUST_BE_SET: ClassVar[function_attribute]
    REQUIRED_CLUSTER_WIDTH: ClassVar[function_attribute]
    REQUIRED_CLUSTER_HEIGHT: ClassVar[function_attribute]
    REQUIRED_CLUSTER_DEPTH: ClassVar[function_attribute]
    NON_PORTABLE_CLUSTER_SIZE_ALLOWED: ClassVar[function_attribute]
    CLUSTER_SCHEDULING_POLICY_PREFERENCE: ClassVar[function_attribute]

class memory_type(Enumeration):
    HOST: ClassVar[memory_type]
    DEVICE: ClassVar[memory_type]
    ARRAY: ClassVar[memory_type]
    UNIFIED: ClassVar[memory_type]

class compute_mode(Enumeration):
    DEFAULT: ClassVar[compute_mode]
    EXCLUSIVE: ClassVar[compute_mode]
    PROHIBITED: ClassVar[compute_mode]
    EXCLUSIVE_PROCESS: ClassVar[compute_mode]

class jit_option(Enumeration):
    MAX_REGISTERS: ClassVar[jit_option]
    THREADS_PER_BLOCK: ClassVar[jit_option]
    WALL_TIME: ClassVar[jit_option]
    INFO_LOG_BUFFER: ClassVar[jit_option]
    INFO_LOG_BUFFER_SIZE_BYTES: ClassVar[jit_option]
    ERROR_LOG_BUFFER: ClassVar[jit_option]
    ERROR_LOG_BUFFER_SIZE_BYTES: ClassVar[jit_option]
    OPTIMIZATION_LEVEL: ClassVar[jit_option]
    TARGET_FROM_CUCONTEXT: ClassVar[jit_option]
    TARGET: ClassVar[jit_option]
    FALLBACK_STRATEGY: ClassVar[jit_option]
    GENERATE_DEBUG_INFO: ClassVar[jit_option]
    LOG_VERBOSE: ClassVar[jit_option]
    GENERATE_LINE_INFO: ClassVar[jit_option]
    CACHE_MODE: ClassVar[jit_option]
    NEW_SM3X_OPT: ClassVar[jit_option]
    FAST_COMPILE: ClassVar[jit_option]
    GLOBAL_SYMBOL_NAMES: ClassVar[jit_option]
    GLOBAL_SYMBOL_ADDRESSES: ClassVar[jit_option]
    GLOBAL_SYMBOL_COUNT: ClassVar[jit_option]
    LTO: ClassVar[jit_option]
    FTZ: ClassVar[jit_option]
    PREC_DIV: ClassVar[jit_option]
    PREC_SQRT: ClassVar[jit_option]
    FMA: ClassVar[jit_option]
    REFERENCED_KERNEL_NAMES: ClassVar[jit_option]
    REFERENCED_KERNEL_COUNT: ClassVar[jit_option]
    REFERENCED_VARIABLE_NAMES: ClassVar[jit_option]
    REFERENCED_VARIABLE_COUNT: ClassVar[jit_option]
    OPTIMIZE_UNUSED_DEVICE_VARIABLES: ClassVar[jit_option]
    POSITION_INDEPENDENT_CODE: ClassVar[jit_option]
    MIN_CTA_PER_SM: ClassVar[jit_option]
    MAX_THREADS_PER_BLOCK: ClassVar[jit_option]
    OVERRIDE_DIRECTIVE_VALUES: ClassVar[jit_option]
    SPLIT_COMPILE: ClassVar[jit_option]

class jit_target(Enumeration):
    COMPUTE_10: ClassVar[jit_target]
    COMPUTE_11: ClassVar[jit_target]
    COMPUTE_12: ClassVar[jit_target]
    COMPUTE_13: ClassVar[jit_target]
    COMPUTE_20: ClassVar[jit_target]
    COMPUTE_21: ClassVar[jit_target]
    COMPUTE_30: ClassVar[jit_target]
    COMPUTE_32: ClassVar[jit_target]
    COMPUTE_35: ClassVar[jit_target]
    COMPUTE_37: ClassVar[jit_target]
    COMPUTE_50: ClassVar[jit_target]
    COMPUTE_52: ClassVar[jit_target]
    COMPUTE_53: ClassVar[jit_target]
    COMPUTE_60: ClassVar[jit_target]
    COMPUTE_61: ClassVar[jit_target]
    COMPUTE_62: ClassVar[jit_target]
    COMPUTE_70: ClassVar[jit_target]
    COMPUTE_72: ClassVar[jit_target]
    COMPUTE_75: ClassVar[jit_target]
    COMPUTE_80: ClassVar[jit_target]
    COMPUTE_86: ClassVar[jit_target]
    COMPUTE_90: ClassVar[jit_target]
    COMPUTE_90A: ClassVar[jit_target]
    COMPUTE_87: ClassVar[jit_target]
    COMPUTE_89: ClassVar[jit_target]
    COMPUTE_100: ClassVar[jit_target]
    COMPUTE_110: ClassVar[jit_target]
    COMPUTE_103: ClassVar[jit_target]
    COMPUTE_120: ClassVar[jit_target]
    COMPUTE_121: ClassVar[jit_target]
    COMPUTE_100A: ClassVar[jit_target]
    COMPUTE_110A: ClassVar[jit_target]
    COMPUTE_103A: ClassVar[jit_target]
    COMPUTE_120A: ClassVar[jit_target]
    COMPUTE_121A: ClassVar[jit_target]
    COMPUTE_100F: ClassVar[jit_target]
    COMPUTE_110F: ClassVar[jit_target]
    COMPUTE_103F: ClassVar[jit_target]
    COMPUTE_120F: ClassVar[jit_target]
    COMPUTE_121F: ClassVar[jit_target]

class jit_fallback(Enumeration):
    PREFER_PTX: ClassVar[jit_fallback]
    PREFER_BINARY: ClassVar[jit_fallback]

class limit(Enumeration):
    STACK_SIZE: ClassVar[limit]
    PRINTF_FIFO_SIZE: ClassVar[limit]
    MALLOC_HEAP_SIZE: ClassVar[limit]
    DEV_RUNTIME_SYNC_DEPTH: ClassVar[limit]
    DEV_RUNTIME_PENDING_LAUNCH_COUNT: ClassVar[limit]
    PERSISTING_L2_CACHE_SIZE: ClassVar[limit]
    SHMEM_SIZE: ClassVar[limit]
    CIG_ENABLED: ClassVar[limit]
    CIG_SHMEM_FALLBACK_ENABLED: ClassVar[limit]

class mem_attach_flags(Enumeration):
    GLOBAL: ClassVar[mem_attach_flags]
    HOST: ClassVar[mem_attach_flags]
    SINGLE: ClassVar[mem_attach_flags]

class graphics_register_flags(Enumeration):
    NONE: ClassVar[graphics_register_flags]
    READ_ONLY: ClassVar[graphics_register_flags]
    WRITE_DISCARD: ClassVar[graphics_register_flags]
    SURFACE_LDST: ClassVar[graphics_register_flags]
    TEXTURE_GATHER: ClassVar[graphics_register_flags]

class array_cubemap_face(Enumeration):
    POSITIVE_X: ClassVar[array_cubemap_face]
    NEGATIVE_X: ClassVar[array_cubemap_face]
    POSITIVE_Y: ClassVar[array_cubemap_face]
    NEGATIVE_Y: ClassVar[array_cubemap_face]
    POSITIVE_Z: ClassVar[array_cubemap_face]
    NEGATIVE_Z: ClassVar[array_cubemap_face]

class jit_input_type(Enumeration):
    CUBIN: ClassVar[jit_input_type]
    PTX: ClassVar[jit_input_type]
    FATBINARY: ClassVar[jit_input_type]
    OBJECT: ClassVar[jit_input_type]
    LIBRARY: ClassVar[jit_input_type]
    NVVM: ClassVar[jit_input_type]

class stream_flags(Enumeration):
    DEFAULT: ClassVar[stream_flags]
    NON_BLOCKING: ClassVar[stream_flags]

class stream_capture_mode(Enumeration):
    GLOBAL: ClassVar[stream_capture_mode]
    THREAD_LOCAL: ClassVar[stream_capture_mode]
    RELAXED: ClassVar[stream_capture_mode]

class stream_capture_status(Enumeration):
    NONE: ClassVar[stream_capture_status]
    ACTIVE: ClassVar[stream_capture_status]
    INVALIDATED: ClassVar[stream_capture_status]

class graph_node_type(Enumeration):
    KERNEL: ClassVar[graph_node_type]
    MEMCPY: ClassVar[graph_node_type]
    MEMSET: ClassVar[graph_node_type]
    HOST: ClassVar[graph_node_type]
    GRAPH: ClassVar[graph_node_type]
    EMPTY: ClassVar[graph_node_type]
    WAIT_EVENT: ClassVar[graph_node_type]
    EVENT_RECORD: ClassVar[graph_node_type]
    EXT_SEMAS_SIGNAL: ClassVar[graph_node_type]
    EXT_SEMAS_WAIT: ClassVar[graph_node_type]
    MEM_ALLOC: ClassVar[graph_node_type]
    MEM_FREE: ClassVar[graph_node_type]
    BATCH_MEM_OP: ClassVar[graph_node_type]
    CONDITIONAL: ClassVar[graph_node_type]

class graph_exec_update_result(Enumeration):
    SUCCESS: ClassVar[graph_exec_update_result]
    ERROR: ClassVar[graph_exec_update_result]
    ERROR_TOPOLOGY_CHANGED: ClassVar[graph_exec_update_result]
    ERROR_NODE_TYPE_CHANGED: ClassVar[graph_exec_update_result]
    ERROR_FUNCTION_CHANGED: ClassVar[graph_exec_update_result]
    ERROR_PARAMETERS_CHANGED: ClassVar[graph_exec_update_result]
    ERROR_NOT_SUPPORTED: ClassVar[graph_exec_update_result]
    ERROR_UNSUPPORTED_FUNCTION_CHANGE: ClassVar[graph_exec_update_result]
    ERROR_ATTRIBUTES_CHANGED: ClassVar[graph_exec_update_result]

class mem_advise(Enumeration):
    SET_READ_MOSTLY: ClassVar[mem_advise]
    UNSET_READ_MOSTLY: ClassVar[mem_advise]
    SET_PREFERRED_LOCATION: ClassVar[mem_advise]
    UNSET_PREFERRED_LOCATION: ClassVar[mem_advise]
    SET_ACCESSED_BY: ClassVar[mem_advise]
    UNSET_ACCESSED_BY: ClassVar[mem_advise]

class mem_pool_attribute(Enumeration):
    REUSE_FOLLOW_EVENT_DEPENDENCIES: ClassVar[mem_pool_attribute]
    REUSE_ALLOW_OPPORTUNISTIC: ClassVar[mem_pool_attribute]
    REUSE_ALLOW_INTERNAL_DEPENDENCIES: ClassVar[mem_pool_attribute]
    RELEASE_THRESHOLD: ClassVar[mem_pool_attribute]
    RESERVED_MEM_CURRENT: ClassVar[mem_pool_attribute]
    RESERVED_MEM_HIGH: ClassVar[mem_pool_attribute]
    USED_MEM_CURRENT: ClassVar[mem_pool_attribute]
    USED_MEM_HIGH: ClassVar[mem_pool_attribute]

class p2p_attribute(Enumeration):
    PERFORMANCE_RANK: ClassVar[p2p_attribute]
    ACCESS_SUPPORTED: ClassVar[p2p_attribute]
    NATIVE_ATOMIC_SUPPORTED: ClassVar[p2p_attribute]
    ACCESS_ACCESS_SUPPORTED: ClassVar[p2p_attribute]
    CUDA_ARRAY_ACCESS_SUPPORTED: ClassVar[p2p_attribute]
    ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED: ClassVar[p2p_attribute]

class resource_type(Enumeration):
    ARRAY: ClassVar[resource_type]
    MIPMAPPED_ARRAY: ClassVar[resource_type]
    LINEAR: ClassVar[resource_type]
    PITCH2D: ClassVar[resource_type]

class host_alloc_flags(Enumeration):
    PORTABLE: ClassVar[host_alloc_flags]
    DEVICEMAP: ClassVar[host_alloc_flags]
    WRITECOMBINED: ClassVar[host_alloc_flags]

class mem_host_register_flags(Enumeration):
    PORTABLE: ClassVar[mem_host_register_flags]
    DEVICEMAP: ClassVar[mem_host_register_flags]
    IOMEMORY: ClassVar[mem_host_register_flags]
    READ_ONLY: ClassVar[mem_host_register_flags]

class array3d_flags(Enumeration):
    ARRAY3D_LAYERED: ClassVar[array3d_flags]
    ARRAY3D_2DARRAY: ClassVar[array3d_flags]
    ARRAY3D_SURFACE_LDST: ClassVar[array3d_flags]
    ARRAY3D_CUBEMAP: ClassVar[array3d_flags]
    ARRAY3D_TEXTURE_GATHER: ClassVar[array3d_flags]
    ARRAY3D_DEPTH_TEXTURE: ClassVar[array3d_flags]
    SURFACE_LDST: ClassVar[array3d_flags]
    CUBEMAP: ClassVar[array3d_flags]
    TEXTURE_GATHER: ClassVar[array3d_flags]
