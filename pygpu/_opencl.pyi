# Written by tools/stubs.py from the docstrings of the built module: `make stubs`.

import os
from collections.abc import Callable, Sequence
from typing import IO, Any, Final, Self, TypeAlias, final

import numpy as np
from _typeshed import structseq
from numpy.typing import DTypeLike, NDArray
from typing_extensions import Buffer as _HasBuffer
from typing_extensions import disjoint_base

from ._src.runtime.opencl.build import program_kind
from ._src.runtime.opencl.svm import SVMMap
from ._src.util.attributes import ReadOnly as _ReadOnly

# Until Python 3.12 NumPy's types do not say that they are buffers.
_HostBuffer: TypeAlias = _HasBuffer | NDArray[Any] | np.generic

@disjoint_base
class AllocatorBase:
    def __call__(self, size: int, /) -> Buffer | None: ...

@disjoint_base
class CommandQueue:
    def __enter__(self) -> CommandQueue: ...
    def __exit__(self, *exc_info: object) -> None: ...
    def __init__(
        self,
        context: Context,
        device: Device | None = None,
        properties: int | Sequence[int] | None = None,
    ) -> None: ...
    def _finalize(self) -> None: ...
    def _get_cl_version(self) -> tuple[int, int]: ...
    context: _ReadOnly[Context]
    device: _ReadOnly[Device]
    device_default: _ReadOnly[CommandQueue]
    def finish(self) -> None: ...
    def flush(self) -> None: ...
    @classmethod
    def from_int_ptr(cls, int_ptr_value: int, retain: bool = True) -> CommandQueue: ...
    def get_info(self, param: int, /) -> Any: ...
    int_ptr: _ReadOnly[int]
    properties: _ReadOnly[int]
    properties_array: _ReadOnly[list[int]]
    reference_count: _ReadOnly[int]
    size: _ReadOnly[int]

@disjoint_base
class Context:
    def __init__(
        self,
        devices: Sequence[Device] | None = None,
        properties: Sequence[tuple[int, object]] | None = None,
        dev_type: int | None = None,
        cache_dir: str | None = None,
    ) -> None: ...
    def _get_cl_version(self) -> tuple[int, int]: ...
    devices: _ReadOnly[list[Device]]
    @classmethod
    def from_int_ptr(cls, int_ptr_value: int, retain: bool = True) -> Context: ...
    def get_info(self, param: int, /) -> Any: ...
    int_ptr: _ReadOnly[int]
    interop_user_sync: _ReadOnly[bool]
    num_devices: _ReadOnly[int]
    properties: _ReadOnly[list[int]]
    reference_count: _ReadOnly[int]
    def set_default_device_command_queue(self, device: Device, queue: CommandQueue) -> None: ...

@disjoint_base
class Device:
    def _get_cl_version(self) -> tuple[int, int]: ...
    address_bits: _ReadOnly[int]
    atomic_fence_capabilities: _ReadOnly[int]
    atomic_memory_capabilities: _ReadOnly[int]
    attribute_async_engine_count_nv: _ReadOnly[int]
    available: _ReadOnly[bool]
    available_async_queues_amd: _ReadOnly[int]
    board_name_amd: _ReadOnly[str]
    built_in_kernels: _ReadOnly[str]
    built_in_kernels_with_version: _ReadOnly[list[NameVersion]]
    compiler_available: _ReadOnly[bool]
    compute_capability_major_nv: _ReadOnly[int]
    compute_capability_minor_nv: _ReadOnly[int]
    compute_units_bitfield_arm: _ReadOnly[int]
    controlled_termination_capabilities_arm: _ReadOnly[int]
    def create_sub_devices(self, props: Sequence[int], /) -> list[Device]: ...
    cross_device_shared_mem_capabilities_intel: _ReadOnly[int]
    cxx_for_opencl_numeric_version_ext: _ReadOnly[int]
    def device_and_host_timer(self) -> tuple[int, int]: ...
    device_enqueue_capabilities: _ReadOnly[int]
    device_mem_capabilities_intel: _ReadOnly[int]
    double_fp_config: _ReadOnly[int]
    driver_uuid_khr: _ReadOnly[bytes]
    driver_version: _ReadOnly[str]
    endian_little: _ReadOnly[bool]
    error_correction_support: _ReadOnly[bool]
    execution_capabilities: _ReadOnly[int]
    ext_mem_padding_in_bytes_qcom: _ReadOnly[int]
    extensions: _ReadOnly[str]
    extensions_with_version: _ReadOnly[list[NameVersion]]
    feature_capabilities_intel: _ReadOnly[int]
    @classmethod
    def from_int_ptr(cls, int_ptr_value: int, retain: bool = True) -> Device: ...
    generic_address_space_support: _ReadOnly[bool]
    def get_info(self, param: int, /) -> Any: ...
    gfxip_major_amd: _ReadOnly[int]
    gfxip_minor_amd: _ReadOnly[int]
    global_free_memory_amd: _ReadOnly[list[int]]
    global_mem_cache_size: _ReadOnly[int]
    global_mem_cache_type: _ReadOnly[int]
    global_mem_cacheline_size: _ReadOnly[int]
    global_mem_channel_bank_width_amd: _ReadOnly[int]
    global_mem_channel_banks_amd: _ReadOnly[int]
    global_mem_channels_amd: _ReadOnly[int]
    global_mem_size: _ReadOnly[int]
    global_variable_preferred_total_size: _ReadOnly[int]
    gpu_overlap_nv: _ReadOnly[bool]
    half_fp_config: _ReadOnly[int]
    hashable_model_and_version_identifier: _ReadOnly[tuple[str, str, int, str, str]]
    host_mem_capabilities_intel: _ReadOnly[int]
    def host_timer(self) -> int: ...
    host_unified_memory: _ReadOnly[bool]
    id_intel: _ReadOnly[int]
    il_version: _ReadOnly[str]
    ils_with_version: _ReadOnly[list[NameVersion]]
    image2d_max_height: _ReadOnly[int]
    image2d_max_width: _ReadOnly[int]
    image3d_max_depth: _ReadOnly[int]
    image3d_max_height: _ReadOnly[int]
    image3d_max_width: _ReadOnly[int]
    image_base_address_alignment: _ReadOnly[int]
    image_max_array_size: _ReadOnly[int]
    image_max_buffer_size: _ReadOnly[int]
    image_pitch_alignment: _ReadOnly[int]
    image_support: _ReadOnly[bool]
    int_ptr: _ReadOnly[int]
    integer_dot_product_capabilities_khr: _ReadOnly[int]
    integrated_memory_nv: _ReadOnly[bool]
    ip_version_intel: _ReadOnly[int]
    job_slots_arm: _ReadOnly[int]
    kernel_exec_timeout_nv: _ReadOnly[bool]
    latest_conformance_version_passed: _ReadOnly[str]
    linker_available: _ReadOnly[bool]
    local_mem_banks_amd: _ReadOnly[int]
    local_mem_size: _ReadOnly[int]
    local_mem_size_per_compute_unit_amd: _ReadOnly[int]
    local_mem_type: _ReadOnly[int]
    luid_khr: _ReadOnly[bytes]
    luid_valid_khr: _ReadOnly[bool]
    max_clock_frequency: _ReadOnly[int]
    max_compute_units: _ReadOnly[int]
    max_constant_args: _ReadOnly[int]
    max_constant_buffer_size: _ReadOnly[int]
    max_global_variable_size: _ReadOnly[int]
    max_mem_alloc_size: _ReadOnly[int]
    max_named_barrier_count_khr: _ReadOnly[int]
    max_num_sub_groups: _ReadOnly[int]
    max_on_device_events: _ReadOnly[int]
    max_on_device_queues: _ReadOnly[int]
    max_parameter_size: _ReadOnly[int]
    max_pipe_args: _ReadOnly[int]
    max_read_image_args: _ReadOnly[int]
    max_read_write_image_args: _ReadOnly[int]
    max_samplers: _ReadOnly[int]
    max_warp_count_arm: _ReadOnly[int]
    max_work_group_size: _ReadOnly[int]
    max_work_group_size_amd: _ReadOnly[int]
    max_work_item_dimensions: _ReadOnly[int]
    max_work_item_sizes: _ReadOnly[list[int]]
    max_write_image_args: _ReadOnly[int]
    me_version_intel: _ReadOnly[int]
    mem_base_addr_align: _ReadOnly[int]
    min_data_type_align_size: _ReadOnly[int]
    name: _ReadOnly[str]
    native_vector_width_char: _ReadOnly[int]
    native_vector_width_double: _ReadOnly[int]
    native_vector_width_float: _ReadOnly[int]
    native_vector_width_half: _ReadOnly[int]
    native_vector_width_int: _ReadOnly[int]
    native_vector_width_long: _ReadOnly[int]
    native_vector_width_short: _ReadOnly[int]
    node_mask_khr: _ReadOnly[int]
    non_uniform_work_group_support: _ReadOnly[bool]
    num_eus_per_sub_slice_intel: _ReadOnly[int]
    num_simultaneous_interops_intel: _ReadOnly[int]
    num_slices_intel: _ReadOnly[int]
    num_sub_slices_per_slice_intel: _ReadOnly[int]
    num_threads_per_eu_intel: _ReadOnly[int]
    numeric_version: _ReadOnly[int]
    opencl_c_all_versions: _ReadOnly[list[NameVersion]]
    opencl_c_features: _ReadOnly[list[NameVersion]]
    opencl_c_numeric_version_khr: _ReadOnly[int]
    opencl_c_version: _ReadOnly[str]
    page_size_qcom: _ReadOnly[int]
    parent_device: _ReadOnly[Device]
    partition_affinity_domain: _ReadOnly[list[int]]
    partition_max_sub_devices: _ReadOnly[int]
    partition_properties: _ReadOnly[list[int]]
    partition_type: _ReadOnly[list[int]]
    pci_bus_id_nv: _ReadOnly[int]
    pci_bus_info_khr: _ReadOnly[tuple[int, int, int, int]]
    pci_domain_id_nv: _ReadOnly[int]
    pci_slot_id_nv: _ReadOnly[int]
    pcie_id_amd: _ReadOnly[int]
    persistent_unique_id: _ReadOnly[tuple[str, str, int, str, str]]
    pipe_max_active_reservations: _ReadOnly[int]
    pipe_max_packet_size: _ReadOnly[int]
    pipe_support: _ReadOnly[bool]
    platform: _ReadOnly[Platform]
    preferred_constant_buffer_size_amd: _ReadOnly[int]
    preferred_global_atomic_alignment: _ReadOnly[int]
    preferred_interop_user_sync: _ReadOnly[bool]
    preferred_local_atomic_alignment: _ReadOnly[int]
    preferred_platform_atomic_alignment: _ReadOnly[int]
    preferred_vector_width_char: _ReadOnly[int]
    preferred_vector_width_double: _ReadOnly[int]
    preferred_vector_width_float: _ReadOnly[int]
    preferred_vector_width_half: _ReadOnly[int]
    preferred_vector_width_int: _ReadOnly[int]
    preferred_vector_width_long: _ReadOnly[int]
    preferred_vector_width_short: _ReadOnly[int]
    preferred_work_group_size_amd: _ReadOnly[int]
    preferred_work_group_size_multiple: _ReadOnly[int]
    printf_buffer_size: _ReadOnly[int]
    profile: _ReadOnly[str]
    profiling_timer_offset_amd: _ReadOnly[int]
    profiling_timer_resolution: _ReadOnly[int]
    queue_on_device_max_size: _ReadOnly[int]
    queue_on_device_preferred_size: _ReadOnly[int]
    queue_on_device_properties: _ReadOnly[int]
    queue_on_host_properties: _ReadOnly[int]
    queue_properties: _ReadOnly[int]
    reference_count: _ReadOnly[int]
    registers_per_block_nv: _ReadOnly[int]
    scheduling_controls_capabilities_arm: _ReadOnly[int]
    shared_system_mem_capabilities_intel: _ReadOnly[int]
    simd_instruction_width_amd: _ReadOnly[int]
    simd_per_compute_unit_amd: _ReadOnly[int]
    simd_width_amd: _ReadOnly[int]
    simultaneous_interops_intel: _ReadOnly[list[int]]
    single_device_shared_mem_capabilities_intel: _ReadOnly[int]
    single_fp_config: _ReadOnly[int]
    spir_versions: _ReadOnly[str]
    sub_group_independent_forward_progress: _ReadOnly[bool]
    sub_group_sizes_intel: _ReadOnly[list[int]]
    supported_register_allocations_arm: _ReadOnly[list[int]]
    svm_capabilities: _ReadOnly[int]
    terminate_capability_khr: _ReadOnly[int]
    thread_trace_supported_amd: _ReadOnly[bool]
    topology_amd: _ReadOnly[tuple[int, int, int]]
    type: _ReadOnly[int]
    uuid_khr: _ReadOnly[bytes]
    vendor: _ReadOnly[str]
    vendor_id: _ReadOnly[int]
    version: _ReadOnly[str]
    warp_size_nv: _ReadOnly[int]
    wavefront_width_amd: _ReadOnly[int]
    work_group_collective_functions_support: _ReadOnly[bool]

@disjoint_base
class Event:
    command_execution_status: _ReadOnly[int]
    command_queue: _ReadOnly[CommandQueue]
    command_type: _ReadOnly[int]
    context: _ReadOnly[Context]
    @classmethod
    def from_int_ptr(cls, int_ptr_value: int, retain: bool = True) -> Event: ...
    def get_info(self, param: int, /) -> Any: ...
    def get_profiling_info(self, param: int, /) -> int: ...
    int_ptr: _ReadOnly[int]
    profile: _ReadOnly[_Profile]
    reference_count: _ReadOnly[int]
    def set_callback(self, type: int, callback: Callable[[int], object], /) -> None: ...
    def wait(self) -> None: ...

@disjoint_base
class ImageDescriptor:
    def __init__(self) -> None: ...
    array_size: int
    @property
    def buffer(self) -> MemoryObject | None: ...
    @buffer.setter
    def buffer(self, value: MemoryObjectHolder | None, /) -> None: ...
    image_type: int
    num_mip_levels: int
    num_samples: int
    @property
    def pitches(self) -> tuple[int, int]: ...
    @pitches.setter
    def pitches(self, value: int | Sequence[int] | None, /) -> None: ...
    @property
    def shape(self) -> tuple[int, ...] | None: ...
    @shape.setter
    def shape(self, value: int | Sequence[int], /) -> None: ...

@disjoint_base
class ImageFormat:
    def __init__(self, order: int, type: int) -> None: ...
    def __reduce__(self) -> tuple[type, tuple[int, int]]: ...
    channel_count: _ReadOnly[int]
    channel_data_type: int
    channel_order: int
    dtype_size: _ReadOnly[int]
    itemsize: _ReadOnly[int]

@disjoint_base
class Kernel:
    def __call__(
        self,
        queue: CommandQueue,
        global_size: int | Sequence[int],
        local_size: int | Sequence[int] | None,
        *args: Any,
        global_offset: int | Sequence[int] | None = ...,
        g_times_l: bool = ...,
        allow_empty_ndrange: bool = ...,
        wait_for: Sequence[Event] | None = ...,
    ) -> Event: ...
    def __init__(self, program: Program, name: str) -> None: ...
    _holds_nothing: bool
    def _set_arg_buf_multi(self, pairs: tuple[object, ...], /) -> None: ...
    def _set_arg_buf_pack_multi(self, groups: tuple[object, ...], /) -> None: ...
    def _set_arg_multi(self, pairs: tuple[object, ...], /) -> None: ...
    attributes: _ReadOnly[str]
    def capture_call(
        self,
        output_file: str | IO[str],
        queue: CommandQueue,
        global_size: object,
        local_size: object,
        *args: object,
        **kwargs: object,
    ) -> None: ...
    def clone(self) -> Kernel: ...
    context: _ReadOnly[Context]
    @classmethod
    def from_int_ptr(cls, int_ptr_value: int, retain: bool = True) -> Kernel: ...
    function_name: _ReadOnly[str]
    def get_arg_info(self, arg_index: int, param: int) -> int | str: ...
    def get_info(self, param: int, /) -> Any: ...
    def get_sub_group_info(
        self,
        device: Device,
        param: int,
        input_value: int | Sequence[int] | None = None,
    ) -> Any: ...
    def get_work_group_info(self, param: int, device: Device) -> Any: ...
    int_ptr: _ReadOnly[int]
    num_args: _ReadOnly[int]
    program: _ReadOnly[Program]
    reference_count: _ReadOnly[int]
    def set_arg(self, arg_index: int, arg: object) -> None: ...
    def set_arg_types(self, arg_types: Sequence[object]) -> None: ...
    def set_args(self, *args: object) -> None: ...
    def set_scalar_arg_dtypes(self, arg_types: Sequence[object]) -> None: ...

@disjoint_base
class LocalMemory:
    def __init__(self, size: int) -> None: ...
    size: _ReadOnly[int]

@disjoint_base
class MemoryMap:
    def __enter__(self) -> MemoryMap: ...
    def __exit__(self, *exc_info: object) -> None: ...
    def release(
        self,
        queue: CommandQueue | None = None,
        wait_for: Sequence[Event] | None = None,
    ) -> Event: ...

@disjoint_base
class MemoryObjectHolder:
    associated_memobject: _ReadOnly[MemoryObject]
    context: _ReadOnly[Context]
    flags: _ReadOnly[int]
    @classmethod
    def from_int_ptr(cls, int_ptr_value: int, retain: bool = True) -> Self: ...
    def get_host_array(
        self,
        shape: int | Sequence[int],
        dtype: DTypeLike,
        order: str = 'C',
    ) -> NDArray[Any]: ...
    def get_info(self, param: int, /) -> Any: ...
    host_ptr: _ReadOnly[int]
    int_ptr: _ReadOnly[int]
    map_count: _ReadOnly[int]
    offset: _ReadOnly[int]
    properties: _ReadOnly[list[int]]
    reference_count: _ReadOnly[int]
    size: _ReadOnly[int]
    type: _ReadOnly[int]
    uses_svm_pointer: _ReadOnly[bool]

@disjoint_base
class MemoryPool:
    def __call__(self, size: int) -> PooledBuffer: ...
    def __init__(self, allocator: AllocatorBase, leading_bits_in_bin_id: int = 4) -> None: ...
    def _set_trace(self, flag: bool, /) -> None: ...
    active_blocks: _ReadOnly[int]
    active_bytes: _ReadOnly[int]
    def alloc_size(self, bin: int, /) -> int: ...
    def allocate(self, size: int) -> PooledBuffer: ...
    def bin_number(self, size: int, /) -> int: ...
    def free_held(self) -> None: ...
    held_blocks: _ReadOnly[int]
    managed_bytes: _ReadOnly[int]
    def set_trace(self, flag: bool, /) -> None: ...
    def stop_holding(self) -> None: ...

@final
class NameVersion(structseq[int | str], tuple[int, str]):
    __match_args__: Final = ("version", "name")
    @property
    def version(self) -> int: ...
    @property
    def name(self) -> str: ...

@disjoint_base
class Platform:
    def _get_cl_version(self) -> tuple[int, int]: ...
    extensions: _ReadOnly[str]
    extensions_with_version: _ReadOnly[list[NameVersion]]
    @classmethod
    def from_int_ptr(cls, int_ptr_value: int, retain: bool = True) -> Platform: ...
    def get_devices(self, device_type: int = ...) -> list[Device]: ...
    def get_info(self, param: int, /) -> Any: ...
    host_timer_resolution: _ReadOnly[int]
    icd_suffix_khr: _ReadOnly[str]
    int_ptr: _ReadOnly[int]
    name: _ReadOnly[str]
    numeric_version: _ReadOnly[int]
    profile: _ReadOnly[str]
    vendor: _ReadOnly[str]
    version: _ReadOnly[str]

@disjoint_base
class Program:
    def __dir__(self) -> list[str]: ...
    def __getattribute__(self, name: str, /) -> Kernel: ...
    def __init__(
        self,
        context: Context,
        source_or_devices: str | bytes | Sequence[Device],
        binaries: Sequence[bytes] | None = None,
    ) -> None: ...
    _arg_info: dict[str, list[tuple[int, int, str, int, str]]] | None
    def _build(self, options: bytes, devices: Sequence[Device] | None = None) -> None: ...
    _cached: _ReadOnly[bool]
    _checks: Any
    def _compile(
        self,
        options: bytes,
        devices: Sequence[Device] | None,
        headers: Sequence[tuple[str, Program]],
    ) -> None: ...
    def _kernel_arguments(self) -> dict[str, list[tuple[int, int, str, int, str]]]: ...
    def _load(
        self,
        devices: Sequence[Device],
        binaries: Sequence[bytes],
        options: bytes,
    ) -> bool: ...
    _options: _ReadOnly[bytes | None]
    _pinned: _ReadOnly[bool]
    def _reset(self) -> bool: ...
    _source_bytes: _ReadOnly[bytes | None]
    _stage: _ReadOnly[int]
    def all_kernels(self) -> list[Kernel]: ...
    binaries: _ReadOnly[list[bytes]]
    binary_sizes: _ReadOnly[list[int]]
    def build(
        self,
        options: str | Sequence[str] | None = None,
        devices: Sequence[Device] | None = None,
        cache_dir: str | os.PathLike[str] | bool | None = None,
    ) -> Self: ...
    def compile(
        self,
        options: str | Sequence[str] | None = None,
        devices: Sequence[Device] | None = None,
        headers: Sequence[tuple[str, Program]] | None = None,
    ) -> Self: ...
    context: _ReadOnly[Context]
    devices: _ReadOnly[list[Device]]
    @classmethod
    def from_int_ptr(cls, int_ptr_value: int, retain: bool = True) -> Program: ...
    def get_build_info(self, device: Device, param: int, /) -> Any: ...
    def get_info(self, param: int, /) -> Any: ...
    il: _ReadOnly[bytes]
    int_ptr: _ReadOnly[int]
    kernel_names: _ReadOnly[str]
    def kind(self) -> program_kind: ...
    @staticmethod
    def link(
        context: Context,
        programs: Sequence[Program],
        options: str | Sequence[str] | None = None,
        devices: Sequence[Device] | None = None,
    ) -> Program: ...
    num_devices: _ReadOnly[int]
    num_kernels: _ReadOnly[int]
    reference_count: _ReadOnly[int]
    scope_global_ctors_present: _ReadOnly[bool]
    scope_global_dtors_present: _ReadOnly[bool]
    def set_specialization_constant(self, spec_id: int, buffer: _HostBuffer) -> None: ...
    source: _ReadOnly[str]

@disjoint_base
class SVMAllocator:
    def __call__(self, size: int, /) -> SVMAllocation: ...
    def __init__(
        self,
        context: Context,
        alignment: int = 0,
        flags: int = ...,
        queue: CommandQueue | None = None,
    ) -> None: ...

@disjoint_base
class SVMPointer:
    def as_buffer(
        self,
        ctx: Context,
        *,
        flags: int | None = None,
        size: int | None = None,
    ) -> Buffer: ...
    buf: _ReadOnly[NDArray[Any]]
    def map(
        self,
        queue: CommandQueue,
        flags: int,
        is_blocking: bool = True,
        wait_for: Sequence[Event] | None = None,
        size: int | None = None,
    ) -> SVMMap[Any]: ...
    def map_ro(
        self,
        queue: CommandQueue,
        is_blocking: bool = True,
        wait_for: Sequence[Event] | None = None,
        size: int | None = None,
    ) -> SVMMap[Any]: ...
    def map_rw(
        self,
        queue: CommandQueue,
        is_blocking: bool = True,
        wait_for: Sequence[Event] | None = None,
        size: int | None = None,
    ) -> SVMMap[Any]: ...
    size: _ReadOnly[int]
    svm_ptr: _ReadOnly[int]

@disjoint_base
class SVMPool:
    def __call__(self, size: int) -> PooledSVM: ...
    def __init__(self, allocator: SVMAllocator, leading_bits_in_bin_id: int = 4) -> None: ...
    def _set_trace(self, flag: bool, /) -> None: ...
    active_blocks: _ReadOnly[int]
    active_bytes: _ReadOnly[int]
    def alloc_size(self, bin: int, /) -> int: ...
    def allocate(self, size: int) -> PooledBuffer: ...
    def bin_number(self, size: int, /) -> int: ...
    def free_held(self) -> None: ...
    held_blocks: _ReadOnly[int]
    managed_bytes: _ReadOnly[int]
    def set_trace(self, flag: bool, /) -> None: ...
    def stop_holding(self) -> None: ...

@disjoint_base
class Sampler:
    def __init__(
        self,
        context: Context,
        normalized: bool | Sequence[int],
        addressing: int | None = None,
        filter: int | None = None,
    ) -> None: ...
    addressing_mode: _ReadOnly[int]
    context: _ReadOnly[Context]
    filter_mode: _ReadOnly[int]
    @classmethod
    def from_int_ptr(cls, int_ptr_value: int, retain: bool = True) -> Sampler: ...
    def get_info(self, param: int, /) -> Any: ...
    int_ptr: _ReadOnly[int]
    lod_max: _ReadOnly[float]
    lod_max_khr: _ReadOnly[float]
    lod_min: _ReadOnly[float]
    lod_min_khr: _ReadOnly[float]
    mip_filter_mode: _ReadOnly[int]
    mip_filter_mode_khr: _ReadOnly[int]
    normalized_coords: _ReadOnly[bool]
    properties: _ReadOnly[list[int]]
    reference_count: _ReadOnly[int]

@final
class _Profile:
    def __getattribute__(self, name: str, /) -> Any: ...
    complete: _ReadOnly[int]
    end: _ReadOnly[int]
    queued: _ReadOnly[int]
    start: _ReadOnly[int]
    submit: _ReadOnly[int]

class DeferredAllocator(AllocatorBase):
    def __init__(self, context: Context, mem_flags: int = ...) -> None: ...

class ImmediateAllocator(AllocatorBase):
    def __init__(self, queue: CommandQueue, mem_flags: int = ...) -> None: ...

class MemoryObject(MemoryObjectHolder):
    hostbuf: _ReadOnly[Any]
    def release(self) -> None: ...

class NannyEvent(Event):
    def get_ward(self) -> Any: ...

class PooledSVM(SVMPointer):
    _queue: _ReadOnly[CommandQueue | None]
    def bind_to_queue(self, queue: CommandQueue, /) -> None: ...
    def enqueue_release(self) -> None: ...
    def release(self) -> None: ...
    def unbind_from_queue(self) -> None: ...

class SVM(SVMPointer):
    def __init__(self, mem: _HostBuffer) -> None: ...
    mem: _ReadOnly[Any]

class SVMAllocation(SVMPointer):
    __array_interface__: _ReadOnly[dict[str, Any]]
    def __init__(
        self,
        context: Context,
        size: int,
        alignment: int,
        flags: int,
        *,
        _interface: dict[str, Any] | None = None,
        queue: CommandQueue | None = None,
    ) -> None: ...
    _queue: _ReadOnly[CommandQueue | None]
    def bind_to_queue(self, queue: CommandQueue, /) -> None: ...
    def enqueue_release(
        self,
        queue: CommandQueue | None = None,
        wait_for: Sequence[Event] | None = None,
    ) -> Event: ...
    def release(self) -> None: ...
    def unbind_from_queue(self) -> None: ...

class UserEvent(Event):
    def __init__(self, context: Context) -> None: ...
    def set_status(self, status: int, /) -> None: ...

class Buffer(MemoryObject):
    def __getitem__(self, key: slice, /) -> Buffer: ...
    def __init__(
        self,
        context: Context,
        flags: int,
        size: int = 0,
        hostbuf: _HostBuffer | None = None,
    ) -> None: ...
    def get_sub_region(self, origin: int, size: int, flags: int = 0) -> Buffer: ...

class GLBuffer(MemoryObject):
    def __new__(cls, context: Context, flags: int, bufobj: int) -> Self: ...
    def get_gl_object_info(self) -> tuple[int, int]: ...
    gl_object: _ReadOnly[int]

class GLRenderBuffer(MemoryObject):
    def __new__(cls, context: Context, flags: int, bufobj: int) -> Self: ...
    def get_gl_object_info(self) -> tuple[int, int]: ...
    gl_object: _ReadOnly[int]

class Image(MemoryObject):
    def __init__(
        self,
        context: Context,
        flags: int,
        format: ImageFormat,
        shape: int | Sequence[int] | None = None,
        pitches: int | Sequence[int] | None = None,
        hostbuf: _HostBuffer | None = None,
        is_array: bool = False,
        buffer: MemoryObjectHolder | None = None,
        *,
        desc: ImageDescriptor | None = None,
    ) -> None: ...
    def _repr_html_(self) -> str: ...
    array_size: _ReadOnly[int]
    buffer: _ReadOnly[MemoryObject]
    depth: _ReadOnly[int]
    element_size: _ReadOnly[int]
    format: _ReadOnly[ImageFormat]
    def get_image_info(self, param: int, /) -> Any: ...
    height: _ReadOnly[int]
    image: _ReadOnly[Image]
    num_mip_levels: _ReadOnly[int]
    num_samples: _ReadOnly[int]
    row_pitch: _ReadOnly[int]
    shape: _ReadOnly[tuple[int, ...]]
    slice_pitch: _ReadOnly[int]
    width: _ReadOnly[int]

class Pipe(MemoryObject):
    def __init__(
        self,
        context: Context,
        flags: int,
        packet_size: int,
        max_packets: int,
        properties: Sequence[int] = (),
    ) -> None: ...
    def get_pipe_info(self, param: int, /) -> Any: ...
    max_packets: _ReadOnly[int]
    packet_size: _ReadOnly[int]
    properties: _ReadOnly[list[int]]

class GLTexture(Image):
    def __new__(
        cls,
        context: Context,
        flags: int,
        texture_target: int,
        miplevel: int,
        texture: int,
        dims: int,
    ) -> Self: ...
    def get_gl_object_info(self) -> tuple[int, int]: ...
    def get_gl_texture_info(self, param: int, /) -> int: ...
    gl_object: _ReadOnly[int]

class PooledBuffer(Buffer):
    def bind_to_queue(self, queue: CommandQueue, /) -> None: ...
    def release(self) -> None: ...
    def unbind_from_queue(self) -> None: ...

def _as_nvidia(flag: bool, /) -> None: ...
def _call_counts(reset: bool = False, held: bool = False, stop: bool = False) -> dict[str, int]: ...
def _constants() -> list[tuple[str, str, bool, dict[str, int]]]: ...
def _count_regions(buffer: MemoryObjectHolder, /) -> int: ...
def _deferral() -> Any: ...
def _enqueue_copy_buffer(
    queue: CommandQueue,
    src: MemoryObjectHolder,
    dst: MemoryObjectHolder,
    byte_count: int | None = None,
    src_offset: int = 0,
    dst_offset: int = 0,
    wait_for: Sequence[Event] | None = None,
) -> Event: ...
def _enqueue_copy_buffer_rect(
    queue: CommandQueue,
    src: MemoryObjectHolder,
    dst: MemoryObjectHolder,
    src_origin: Sequence[int],
    dst_origin: Sequence[int],
    region: Sequence[int],
    src_pitches: Sequence[int] | None = None,
    dst_pitches: Sequence[int] | None = None,
    wait_for: Sequence[Event] | None = None,
) -> Event: ...
def _enqueue_copy_buffer_to_image(
    queue: CommandQueue,
    src: MemoryObjectHolder,
    dest: Image | GLRenderBuffer,
    offset: int,
    origin: Sequence[int],
    region: Sequence[int] | None,
    wait_for: Sequence[Event] | None = None,
) -> Event: ...
def _enqueue_copy_image(
    queue: CommandQueue,
    src: Image | GLRenderBuffer,
    dest: Image | GLRenderBuffer,
    src_origin: Sequence[int],
    dest_origin: Sequence[int],
    region: Sequence[int] | None,
    wait_for: Sequence[Event] | None = None,
) -> Event: ...
def _enqueue_copy_image_to_buffer(
    queue: CommandQueue,
    src: Image | GLRenderBuffer,
    dest: MemoryObjectHolder,
    origin: Sequence[int],
    region: Sequence[int] | None,
    offset: int = 0,
    wait_for: Sequence[Event] | None = None,
) -> Event: ...
def _enqueue_read_buffer(
    queue: CommandQueue,
    mem: MemoryObjectHolder,
    hostbuf: _HostBuffer,
    src_offset: int = 0,
    wait_for: Sequence[Event] | None = None,
    is_blocking: bool = True,
) -> NannyEvent: ...
def _enqueue_read_buffer_rect(
    queue: CommandQueue,
    mem: MemoryObjectHolder,
    hostbuf: _HostBuffer,
    buffer_origin: Sequence[int],
    host_origin: Sequence[int],
    region: Sequence[int],
    buffer_pitches: Sequence[int] | None = None,
    host_pitches: Sequence[int] | None = None,
    wait_for: Sequence[Event] | None = None,
    is_blocking: bool = True,
) -> NannyEvent: ...
def _enqueue_read_image(
    queue: CommandQueue,
    mem: Image | GLRenderBuffer,
    origin: Sequence[int],
    region: Sequence[int] | None,
    hostbuf: _HostBuffer,
    row_pitch: int = 0,
    slice_pitch: int = 0,
    wait_for: Sequence[Event] | None = None,
    is_blocking: bool = True,
) -> NannyEvent: ...
def _enqueue_svm_map(
    queue: CommandQueue,
    is_blocking: bool,
    flags: int,
    svm: SVMPointer,
    wait_for: Sequence[Event] | None = None,
    size: int | None = None,
) -> Event: ...
def _enqueue_svm_memcpy(
    queue: CommandQueue,
    is_blocking: bool,
    dst: SVMPointer | _HostBuffer,
    src: SVMPointer | _HostBuffer,
    wait_for: Sequence[Event] | None = None,
    byte_count: int | None = None,
) -> Event: ...
def _enqueue_svm_unmap(
    queue: CommandQueue,
    svm: SVMPointer,
    wait_for: Sequence[Event] | None = None,
) -> Event: ...
def _enqueue_write_buffer(
    queue: CommandQueue,
    mem: MemoryObjectHolder,
    hostbuf: _HostBuffer,
    dst_offset: int = 0,
    wait_for: Sequence[Event] | None = None,
    is_blocking: bool = True,
) -> NannyEvent: ...
_enqueue_write_buffer_rect = _enqueue_read_buffer_rect
_enqueue_write_image = _enqueue_read_image
def _ensure_library() -> None: ...
def _fault(name: str | None, code: int, nth: int = 1, times: int = 1) -> None: ...
def _fault_hits() -> int: ...
def _functions() -> dict[str, int]: ...
def _gate_user_events(flag: bool, /) -> None: ...
def _handle_counts() -> dict[str, int]: ...
def _kept_events() -> int: ...
def _library() -> str | None: ...
def _link(
    context: Context,
    programs: Sequence[Program],
    options: bytes,
    devices: Sequence[Device] | None,
    failed: list[Program],
) -> Program: ...
def _list_regions(flag: bool, /) -> None: ...
def _load_library(path: str, preload: Sequence[str] = ()) -> None: ...
def _platform_count() -> int: ...
def _profile_begin(limit: int) -> bool: ...
def _profile_end() -> tuple[list[tuple[Any, ...]], int]: ...
def _profile_nvtx(push: int, pop: int) -> None: ...
def _profile_queue(queue: CommandQueue, on: bool) -> bool: ...
def _provide(role: str, module: str) -> None: ...
def _queues_alive() -> list[tuple[CommandQueue, int]]: ...
def _set_array_type(type: type, /) -> None: ...
def _set_piece(size: int, reach: int = 0) -> None: ...
def _svm_empty(
    ctx: Context,
    flags: int,
    shape: int | Sequence[int],
    dtype: DTypeLike,
    order: str = 'C',
    alignment: int | None = None,
    queue: CommandQueue | None = None,
) -> NDArray[Any]: ...
def _track_memory(function: Callable[[Any, int], object] | None, /) -> None: ...
def _unload_library() -> None: ...
def _user_events_pending() -> int: ...
def _value_names() -> dict[int, dict[int, Any]]: ...
def _watch(memory: Any, reporter: Callable[[], None], /) -> None: ...
def create_image(
    context: Context,
    flags: int,
    format: ImageFormat,
    shape: int | Sequence[int] | None = None,
    pitches: int | Sequence[int] | None = None,
    hostbuf: _HostBuffer | None = None,
    is_array: bool = False,
    buffer: MemoryObjectHolder | None = None,
) -> Image: ...
def create_program_with_built_in_kernels(
    context: Context,
    devices: Sequence[Device],
    kernel_names: str,
) -> Program: ...
def enqueue_acquire_gl_objects(
    queue: CommandQueue,
    mem_objects: MemoryObjectHolder | Sequence[MemoryObjectHolder],
    wait_for: Sequence[Event] | None = None,
) -> Event: ...
def enqueue_barrier(queue: CommandQueue, wait_for: Sequence[Event] | None = None) -> Event: ...
def enqueue_copy(queue: CommandQueue, dest: object, src: object, **kwargs: object) -> Event: ...
def enqueue_copy_buffer_p2p_amd(
    platform: Platform,
    queue: CommandQueue,
    src: MemoryObjectHolder,
    dst: MemoryObjectHolder,
    byte_count: int | None = None,
    wait_for: Sequence[Event] | None = None,
) -> Event: ...
def enqueue_fill_buffer(
    queue: CommandQueue,
    mem: MemoryObjectHolder,
    pattern: _HostBuffer,
    offset: int,
    size: int,
    wait_for: Sequence[Event] | None = None,
) -> Event: ...
def enqueue_fill_image(
    queue: CommandQueue,
    mem: Image | GLRenderBuffer,
    color: Sequence[float],
    origin: Sequence[int],
    region: Sequence[int] | None,
    wait_for: Sequence[Event] | None = None,
) -> Event: ...
def enqueue_map_buffer(
    queue: CommandQueue,
    buf: MemoryObjectHolder,
    flags: int,
    offset: int,
    shape: int | Sequence[int],
    dtype: DTypeLike,
    order: str = 'C',
    strides: Sequence[int] | None = None,
    wait_for: Sequence[Event] | None = None,
    is_blocking: bool = True,
) -> tuple[NDArray[Any], Event]: ...
def enqueue_map_image(
    queue: CommandQueue,
    img: Image | GLRenderBuffer,
    flags: int,
    origin: Sequence[int],
    region: Sequence[int] | None,
    shape: int | Sequence[int],
    dtype: DTypeLike,
    order: str = 'C',
    strides: Sequence[int] | None = None,
    wait_for: Sequence[Event] | None = None,
    is_blocking: bool = True,
) -> tuple[NDArray[Any], Event, int, int]: ...
def enqueue_marker(queue: CommandQueue, wait_for: Sequence[Event] | None = None) -> Event: ...
def enqueue_migrate_mem_objects(
    queue: CommandQueue,
    mem_objects: Sequence[MemoryObjectHolder],
    flags: int = 0,
    wait_for: Sequence[Event] | None = None,
) -> Event: ...
def enqueue_nd_range_kernel(
    queue: CommandQueue,
    kernel: Kernel,
    global_work_size: int | Sequence[int],
    local_work_size: int | Sequence[int] | None,
    global_work_offset: Sequence[int] | None = None,
    wait_for: Sequence[Event] | None = None,
    g_times_l: bool = False,
    allow_empty_ndrange: bool = False,
) -> Event: ...
enqueue_release_gl_objects = enqueue_acquire_gl_objects
def enqueue_svm_memfill(
    queue: CommandQueue,
    dest: SVMPointer | _HostBuffer,
    pattern: _HostBuffer,
    byte_count: int | None = None,
    wait_for: Sequence[Event] | None = None,
) -> Event: ...
def enqueue_svm_migrate_mem(
    queue: CommandQueue,
    svms: Sequence[SVMPointer | _HostBuffer],
    flags: int = 0,
    wait_for: Sequence[Event] | None = None,
) -> Event: ...
def enqueue_task(
    queue: CommandQueue,
    kernel: Kernel,
    wait_for: Sequence[Event] | None = None,
) -> Event: ...
def get_gl_context_info_khr(
    properties: Sequence[tuple[int, object]],
    param_name: int,
    platform: Platform | None = None,
) -> Device | list[Device] | None: ...
def get_platforms() -> list[Platform]: ...
def get_supported_image_formats(
    context: Context,
    flags: int,
    image_type: int,
) -> list[ImageFormat]: ...
def link_program(
    context: Context,
    programs: Sequence[Program],
    options: str | Sequence[str] | None = None,
    devices: Sequence[Device] | None = None,
) -> Program: ...
def unload_platform_compiler(platform: Platform, /) -> None: ...
def wait_for_events(events: Sequence[Event], /) -> None: ...
