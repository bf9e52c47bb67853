"""The types of the names that pygpu.cuda has from numba.cuda."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Literal, overload

from typing_extensions import ParamSpec, TypeVar

from .jit.cuda_arrays import (
    DeviceNDArray,
    In,
    InOut,
    Out,
    as_cuda_array,
    close,
    current_context,
    default_stream,
    defer_cleanup,
    detect,
    device_array,
    device_array_like,
    event,
    event_elapsed_time,
    external_stream,
    from_cuda_array_interface,
    get_current_device,
    gpus,
    is_available,
    is_cuda_array,
    is_float16_supported,
    legacy_default_stream,
    list_devices,
    managed_array,
    mapped,
    mapped_array,
    mapped_array_like,
    per_thread_default_stream,
    pinned,
    pinned_array,
    pinned_array_like,
    profile_start,
    profile_stop,
    profiling,
    require_context,
    select_device,
    stream,
    synchronize,
)
from .kernel_types import (
    DeviceFunction,
    FunctionDecorator,
    Kernel,
    KernelDecorator,
    Queue,
    Signatures,
    activemask,
    all_sync,
    any_sync,
    atomic,
    ballot_sync,
    blockDim,
    blockIdx,
    brev,
    cbrt,
    clz,
    const,
    eq_sync,
    ffs,
    fma,
    grid,
    gridDim,
    gridsize,
    laneid,
    lanemask_lt,
    local,
    match_all_sync,
    match_any_sync,
    nanosleep,
    popc,
    selp,
    shared,
    shfl_down_sync,
    shfl_sync,
    shfl_up_sync,
    shfl_xor_sync,
    syncthreads,
    syncthreads_and,
    syncthreads_count,
    syncthreads_or,
    syncwarp,
    threadfence,
    threadfence_block,
    threadfence_system,
    threadIdx,
    warpsize,
)

__all__ = [
    "CUSource",
    "DeviceNDArray",
    "In",
    "InOut",
    "Out",
    "Reduce",
    "activemask",
    "all_sync",
    "any_sync",
    "as_cuda_array",
    "atomic",
    "ballot_sync",
    "blockDim",
    "blockIdx",
    "brev",
    "cbrt",
    "close",
    "clz",
    "const",
    "current_context",
    "declare_device",
    "default_stream",
    "defer_cleanup",
    "detect",
    "device_array",
    "device_array_like",
    "eq_sync",
    "event",
    "event_elapsed_time",
    "external_stream",
    "ffs",
    "fma",
    "from_cuda_array_interface",
    "get_current_device",
    "gpus",
    "grid",
    "gridDim",
    "gridsize",
    "is_available",
    "is_cuda_array",
    "is_float16_supported",
    "jit",
    "laneid",
    "lanemask_lt",
    "legacy_default_stream",
    "ldca",
    "ldcg",
    "ldcs",
    "ldcv",
    "ldlu",
    "list_devices",
    "local",
    "managed_array",
    "mapped",
    "mapped_array",
    "mapped_array_like",
    "match_all_sync",
    "match_any_sync",
    "nanosleep",
    "open_ipc_array",
    "per_thread_default_stream",
    "pinned",
    "pinned_array",
    "pinned_array_like",
    "popc",
    "profile_start",
    "profile_stop",
    "profiling",
    "reduce",
    "require_context",
    "select_device",
    "selp",
    "shared",
    "shfl_down_sync",
    "shfl_sync",
    "shfl_up_sync",
    "shfl_xor_sync",
    "stream",
    "synchronize",
    "stcg",
    "stcs",
    "stwb",
    "stwt",
    "syncthreads",
    "syncthreads_and",
    "syncthreads_count",
    "syncthreads_or",
    "syncwarp",
    "threadIdx",
    "threadfence",
    "threadfence_block",
    "threadfence_system",
    "to_device",
    "warpsize",
]

_P = ParamSpec("_P")
_R = TypeVar("_R")

@overload
def jit(
    func_or_sig: Callable[_P, Any], device: Literal[False] = False, inline: Any = None,
    link: Any = (), debug: bool | None = None, opt: Any = None, lineinfo: bool = False,
    cache: bool = False, *, fastmath: bool = False, max_registers: int | None = None,
    exact: bool = False, src: str | None = None, check: bool | None = None,
    launch_bounds: int | tuple[int, ...] | None = None, extensions: Any = (),
    forceinline: bool = False, lto: bool | None = None,
    shared_memory_carveout: int | str | None = None,
) -> Kernel[_P, None]: ...
@overload
def jit(
    func_or_sig: Callable[_P, _R], device: Literal[True], inline: Any = None,
    link: Any = (), debug: bool | None = None, opt: Any = None, lineinfo: bool = False,
    cache: bool = False, *, fastmath: bool = False, max_registers: int | None = None,
    exact: bool = False, src: str | None = None, check: bool | None = None,
    launch_bounds: int | tuple[int, ...] | None = None, extensions: Any = (),
    forceinline: bool = False, lto: bool | None = None,
    shared_memory_carveout: int | str | None = None,
) -> DeviceFunction[_P, _R]: ...
@overload
def jit(
    func_or_sig: Signatures | None = None, device: Literal[False] = False, inline: Any = None,
    link: Any = (), debug: bool | None = None, opt: Any = None, lineinfo: bool = False,
    cache: bool = False, *, fastmath: bool = False, max_registers: int | None = None,
    exact: bool = False, src: str | None = None, check: bool | None = None,
    launch_bounds: int | tuple[int, ...] | None = None, extensions: Any = (),
    forceinline: bool = False, lto: bool | None = None,
    shared_memory_carveout: int | str | None = None,
) -> KernelDecorator[None]: ...
@overload
def jit(
    func_or_sig: Signatures | None = None, *, device: Literal[True], inline: Any = None,
    link: Any = (), debug: bool | None = None, opt: Any = None, lineinfo: bool = False,
    cache: bool = False, fastmath: bool = False, max_registers: int | None = None,
    exact: bool = False, src: str | None = None, check: bool | None = None,
    launch_bounds: int | tuple[int, ...] | None = None, extensions: Any = (),
    forceinline: bool = False, lto: bool | None = None,
    shared_memory_carveout: int | str | None = None,
) -> FunctionDecorator: ...

class CUSource:
    """Functions in CUDA C, and the name of their file for messages of the compiler."""
    data: bytes | str
    name: str
    def __init__(
        self, data: bytes | str, name: str = "<unnamed-cu>", setup_callback: None = None,
        teardown_callback: None = None, nrt: bool = False,
    ) -> None: ...

def declare_device(
    name: str, sig: Any, link: Any = (), use_cooperative: bool = False, abi: str = "numba",
) -> Any: ...
def open_ipc_array(
    handle: Any, shape: Any, dtype: Any, strides: Any = None, offset: int = 0
) -> AbstractContextManager[DeviceNDArray]: ...

class Reduce:
    """Numba's form of it: the result is a NumPy number of the dtype of the items."""
    __name__: str
    __wrapped__: Callable[[Any, Any], Any]
    py_func: Callable[[Any, Any], Any]
    identity: Any
    target: str | None
    def __init__(self, functor: Callable[[Any, Any], Any]) -> None: ...
    def __call__(
        self, arr: Any, size: int | None = None, res: Any = None, init: Any = 0,
        stream: Queue = None, **options: Any,
    ) -> Any: ...

reduce = Reduce

def to_device(
    obj: Any, stream: Queue = 0, copy: bool = True, to: DeviceNDArray | None = None
) -> DeviceNDArray: ...

def ldca(array: Any, index: int | tuple[int, ...], /) -> Any: ...
def ldcg(array: Any, index: int | tuple[int, ...], /) -> Any: ...
def ldcs(array: Any, index: int | tuple[int, ...], /) -> Any: ...
def ldcv(array: Any, index: int | tuple[int, ...], /) -> Any: ...
def ldlu(array: Any, index: int | tuple[int, ...], /) -> Any: ...
def stcg(array: Any, index: int | tuple[int, ...], value: Any, /) -> None: ...
def stcs(array: Any, index: int | tuple[int, ...], value: Any, /) -> None: ...
def stwb(array: Any, index: int | tuple[int, ...], value: Any, /) -> None: ...
def stwt(array: Any, index: int | tuple[int, ...], value: Any, /) -> None: ...
