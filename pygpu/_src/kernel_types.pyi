"""The results of decorators, and the names that kernels use, for type checkers alone.

The names of kernels are typed as what they are inside a kernel: `threadIdx.x` is an int.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeAlias, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray
from typing_extensions import ParamSpec, TypeVar

from pygpu import _cuda, _opencl
from pygpu._src.array.array_types import GPUArray
from pygpu._src.array.cuda_array import GPUArray as CUDAArray
from pygpu._src.array.opencl_array import Array

_P = ParamSpec("_P")
_R = TypeVar("_R", default=Any)
_R_co = TypeVar("_R_co", default=Any, covariant=True)
_T = TypeVar("_T")
_ScalarT = TypeVar("_ScalarT", bound=np.generic)

class _TypeObject(Protocol):
    """A type of a signature, such as pygpu.compat's float32[:]."""
    @property
    def args(self) -> Any: ...

_Signature: TypeAlias = str | tuple[Any, ...] | _TypeObject
Signatures: TypeAlias = _Signature | list[_Signature] | list[str]
_Target: TypeAlias = Literal["opencl", "cuda", "cpu", "parallel"] | None
_Size: TypeAlias = int | np.integer[Any] | Sequence[int]
Queue: TypeAlias = _opencl.CommandQueue | _cuda.Stream | int | None
_Config: TypeAlias = (
    tuple[_Size, _Size] | tuple[_Size, _Size, Queue] | tuple[_Size, _Size, Queue, int]
)
_Launched: TypeAlias = _opencl.Event | None

# ---- kernels

class Launcher(Generic[_P, _R_co]):
    """A kernel and the sizes of its launch; a call launches it. OpenCL gives an Event."""
    block: tuple[int, ...]
    grid: tuple[int, ...]
    kernel: Kernel[_P, _R_co]
    queue: Queue
    shared: int
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R_co: ...

class CompileStats(NamedTuple):
    cache_path: str | None
    cache_hits: Counter[Any]
    cache_misses: Counter[Any]

class Kernel(Generic[_P, _R_co]):
    """A kernel: ``k[blocks, threads, stream, shared](*args)`` launches it, or
    ``k(*args, grid=blocks, block=threads)``."""
    __name__: str
    __wrapped__: Callable[_P, Any]
    py_func: Callable[_P, Any]
    check: bool | None
    exact: bool
    fastmath: bool
    options: list[str]
    src: str | None
    def __getitem__(self, config: _Config, /) -> Launcher[_P, _R_co]: ...
    def __call__(
        self, *args: Any, grid: _Size, block: _Size, stream: Queue = None, queue: Queue = None,
        shared: int = 0, **kwargs: Any,
    ) -> _R_co: ...
    @property
    def configure(self) -> Callable[..., Launcher[_P, _R_co]]: ...
    def forall(
        self, n: int, tpb: int = 0, stream: Queue = None, shared: int = 0, sharedmem: int = 0
    ) -> Callable[_P, _R_co]: ...
    @property
    def signatures(self) -> list[tuple[Any, ...]]: ...
    @property
    def overloads(self) -> dict[Any, Any]: ...
    def get_regs_per_thread(self, signature: Any = None) -> Any: ...
    def get_shared_mem_per_block(self, signature: Any = None) -> Any: ...
    def get_local_mem_per_thread(self, signature: Any = None) -> Any: ...
    def get_const_mem_size(self, signature: Any = None) -> Any: ...
    def get_max_threads_per_block(self, signature: Any = None) -> Any: ...
    @overload
    def inspect_source(self, *, backend: Any = None) -> dict[Any, str]: ...
    @overload
    def inspect_source(self, type: Any, /, *types: Any, backend: Any = None) -> str: ...
    def inspect_asm(self, signature: Any = None) -> Any: ...
    def inspect_types(self, file: Any = None) -> None: ...
    def compile(self, signature: _Signature) -> Any: ...
    def recompile(self) -> None: ...
    @property
    def stats(self) -> CompileStats: ...
    def specialize(self, *args: Any) -> Kernel[_P, _R_co]: ...
    @property
    def specializations(self) -> dict[Any, Kernel[_P, _R_co]]: ...
    @property
    def specialized(self) -> bool: ...

class KernelDecorator(Protocol[_R_co]):
    def __call__(self, function: Callable[_P, Any], /) -> Kernel[_P, _R_co]: ...

@overload
def kernel(function: Callable[_P, Any], /) -> Kernel[_P, _Launched]: ...
@overload
def kernel(
    function: None = None, /, *, backend: Literal["opencl"], src: str | None = None,
    signatures: Sequence[Any] = (), exact: bool = False, options: Sequence[str] = (),
    fastmath: bool = False, check: bool | None = None,
) -> KernelDecorator[_opencl.Event]: ...
@overload
def kernel(
    function: None = None, /, *, backend: Literal["cuda"], src: str | None = None,
    signatures: Sequence[Any] = (), exact: bool = False, options: Sequence[str] = (),
    fastmath: bool = False, check: bool | None = None,
) -> KernelDecorator[None]: ...
@overload
def kernel(
    function: None = None, /, *, backend: str | None = None, src: str | None = None,
    signatures: Sequence[Any] = (), exact: bool = False, options: Sequence[str] = (),
    fastmath: bool = False, check: bool | None = None,
) -> KernelDecorator[_Launched]: ...

class DeviceFunction(Generic[_P, _R_co]):
    """A function that kernels call; from the host it is the plain function."""
    py_func: Callable[_P, _R_co]
    src: str | None
    declared: tuple[Any, ...]
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R_co: ...
    def __get__(self, instance: Any, owner: Any = None) -> Any: ...
    def inspect_source(self, *arg_types: Any, dialect: Any = "cuda") -> str: ...

class FunctionDecorator(Protocol):
    def __call__(self, function: Callable[_P, _R], /) -> DeviceFunction[_P, _R]: ...

@overload
def jit(
    function: Callable[_P, _R], /, *, src: str | None = None, declared: Sequence[Any] = (),
    **options: Any,
) -> DeviceFunction[_P, _R]: ...
@overload
def jit(
    function: Signatures | None = None, /, *, src: str | None = None,
    declared: Sequence[Any] = (), **options: Any,
) -> FunctionDecorator: ...

# ---- ufuncs and reductions

class UFunc(Generic[_R_co]):
    """A Python function that is applied to each item of arrays. Its results are arrays of the kind
    of its arguments; a tuple of them if the function returns a tuple."""
    __name__: str
    __wrapped__: Callable[..., _R_co]
    py_func: Callable[..., _R_co]
    declared: tuple[Any, ...]
    identity: Any
    target: str | None
    nin: int
    signature: None
    @property
    def nout(self) -> int: ...
    @property
    def nargs(self) -> int: ...
    @property
    def types(self) -> list[str]: ...
    @property
    def ntypes(self) -> int: ...
    @property
    def signatures(self) -> list[tuple[np.dtype[Any], ...]]: ...
    def inspect_source(self, *types: Any) -> str: ...
    @overload
    def __call__(
        self: UFunc[complex | np.generic], x: Array[Any], /, *args: Any, out: Any = None,
        where: Any = True,
        dtype: DTypeLike | None = None, signature: Any = None, sig: Any = None,
        casting: str = "same_kind", order: str = "K", subok: bool = True, queue: Queue = None,
        stream: Queue = None,
    ) -> Array[Any]: ...
    @overload
    def __call__(
        self: UFunc[complex | np.generic], x: CUDAArray[Any], /, *args: Any, out: Any = None,
        where: Any = True,
        dtype: DTypeLike | None = None, signature: Any = None, sig: Any = None,
        casting: str = "same_kind", order: str = "K", subok: bool = True, queue: Queue = None,
        stream: Queue = None,
    ) -> CUDAArray[Any]: ...
    @overload
    def __call__(
        self: UFunc[complex | np.generic], x: NDArray[Any], /,
        *args: complex | np.generic | NDArray[Any], out: Any = None,
        where: Any = True, dtype: DTypeLike | None = None, signature: Any = None, sig: Any = None,
        casting: str = "same_kind", order: str = "K", subok: bool = True, queue: Queue = None,
        stream: Queue = None,
    ) -> NDArray[Any]: ...
    @overload
    def __call__(
        self: UFunc[tuple[Any, ...]], *args: Any, out: Any = None, where: Any = True,
        dtype: DTypeLike | None = None, signature: Any = None, sig: Any = None,
        casting: str = "same_kind", order: str = "K", subok: bool = True, queue: Queue = None,
        stream: Queue = None,
    ) -> tuple[Any, ...]: ...
    @overload
    def __call__(
        self, *args: Any, out: Any = None, where: Any = True, dtype: DTypeLike | None = None,
        signature: Any = None, sig: Any = None, casting: str = "same_kind", order: str = "K",
        subok: bool = True, queue: Queue = None, stream: Queue = None,
    ) -> Any: ...
    def reduce(
        self, array: Any, axis: int | tuple[int, ...] | None = 0, dtype: DTypeLike | None = None,
        out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True, *,
        queue: Queue = None, stream: Queue = None,
    ) -> Any: ...
    def accumulate(
        self, array: Any, axis: int = 0, dtype: DTypeLike | None = None, out: Any = None, *,
        queue: Queue = None, stream: Queue = None,
    ) -> Any: ...
    def outer(self, a: Any, b: Any, **options: Any) -> Any: ...

class _UFuncDecorator(Protocol):
    def __call__(self, function: Callable[..., _R], /) -> UFunc[_R]: ...

@overload
def vectorize(
    ftylist_or_function: Callable[..., _R], *, target: _Target = None, identity: Any = None,
    **options: Any,
) -> UFunc[_R]: ...
@overload
def vectorize(
    ftylist_or_function: Signatures | tuple[()] = (), *, target: _Target = None,
    identity: Any = None, **options: Any,
) -> _UFuncDecorator: ...

class GUFunc:
    """A Python function that is applied to the last axes of arrays."""
    __name__: str
    __wrapped__: Callable[..., None]
    py_func: Callable[..., None]
    identity: Any
    max_blocksize: int
    nin: int
    nout: int
    signature: str
    target: str | None
    @property
    def nargs(self) -> int: ...
    @property
    def types(self) -> list[str]: ...
    @property
    def ntypes(self) -> int: ...
    def inspect_source(self) -> str: ...
    def __call__(
        self, *args: Any, out: Any = None, dtype: DTypeLike | None = None,
        casting: str = "same_kind", axes: Any = None, axis: int | None = None,
        keepdims: bool = False, queue: Queue = None, stream: Queue = None,
    ) -> Any: ...

class _GUFuncDecorator(Protocol):
    def __call__(self, function: Callable[..., None], /) -> GUFunc: ...

@overload
def guvectorize(
    ftylist_or_layout: str, layout: None = None, *, target: _Target = None, identity: Any = None,
    writable_args: Sequence[int | str] = (), **options: Any,
) -> _GUFuncDecorator: ...
@overload
def guvectorize(
    ftylist_or_layout: Signatures, layout: str, *, target: _Target = None, identity: Any = None,
    writable_args: Sequence[int | str] = (), **options: Any,
) -> _GUFuncDecorator: ...

class Reduce:
    """A reduction by a Python function. The result of an array of a device is an array there, that
    of host items a NumPy number or array."""
    __name__: str
    __wrapped__: Callable[[Any, Any], Any]
    py_func: Callable[[Any, Any], Any]
    identity: Any
    target: str | None
    @overload
    def __call__(
        self, arr: Array[Any], size: int | None = None, res: None = None, init: Any = ...,
        stream: Queue = None, *, axis: int | tuple[int, ...] | None = None,
        keepdims: bool = False, dtype: DTypeLike | None = None, out: Any = None,
        queue: Queue = None,
    ) -> Array[Any]: ...
    @overload
    def __call__(
        self, arr: CUDAArray[Any], size: int | None = None, res: None = None, init: Any = ...,
        stream: Queue = None, *, axis: int | tuple[int, ...] | None = None,
        keepdims: bool = False, dtype: DTypeLike | None = None, out: Any = None,
        queue: Queue = None,
    ) -> CUDAArray[Any]: ...
    @overload
    def __call__(
        self, arr: Any, size: int | None = None, res: None = None, init: Any = ...,
        stream: Queue = None, *, axis: int | tuple[int, ...] | None = None,
        keepdims: bool = False, dtype: DTypeLike | None = None, out: Any = None,
        queue: Queue = None,
    ) -> Any: ...
    @overload
    def __call__(
        self, arr: Any, size: int | None = None, *, res: GPUArray[Any] | NDArray[Any],
        init: Any = ..., stream: Queue = None, axis: int | tuple[int, ...] | None = None,
        keepdims: bool = False, dtype: DTypeLike | None = None, out: Any = None,
        queue: Queue = None,
    ) -> None: ...

class _ReduceDecorator(Protocol):
    def __call__(self, functor: Callable[[Any, Any], Any], /) -> Reduce: ...

@overload
def reduce(
    functor: Callable[[Any, Any], Any], *, identity: Any = None, target: _Target = None
) -> Reduce: ...
@overload
def reduce(
    functor: None = None, *, identity: Any = None, target: _Target = None
) -> _ReduceDecorator: ...

# ---- names of kernels

class Index3:
    """The type of threadIdx, blockIdx, blockDim and gridDim."""
    x: int
    y: int
    z: int

blockDim: Index3
blockIdx: Index3
gridDim: Index3
threadIdx: Index3
laneid: int
warpsize: int

@overload
def grid(ndim: Literal[1], /) -> int: ...
@overload
def grid(ndim: Literal[2], /) -> tuple[int, int]: ...
@overload
def grid(ndim: Literal[3], /) -> tuple[int, int, int]: ...
@overload
def gridsize(ndim: Literal[1], /) -> int: ...
@overload
def gridsize(ndim: Literal[2], /) -> tuple[int, int]: ...
@overload
def gridsize(ndim: Literal[3], /) -> tuple[int, int, int]: ...
def syncthreads() -> None: ...
def syncthreads_and(predicate: object, /) -> int: ...
def syncthreads_count(predicate: object, /) -> int: ...
def syncthreads_or(predicate: object, /) -> int: ...
def threadfence() -> None: ...
def threadfence_block() -> None: ...
def threadfence_system() -> None: ...
def activemask() -> int: ...
def all_sync(mask: int, predicate: object, /) -> bool: ...
def any_sync(mask: int, predicate: object, /) -> bool: ...
def ballot_sync(mask: int, predicate: object, /) -> int: ...
def eq_sync(mask: int, predicate: object, /) -> bool: ...
def lanemask_lt() -> int: ...
def match_all_sync(mask: int, value: Any, /) -> tuple[int, bool]: ...
def match_any_sync(mask: int, value: Any, /) -> int: ...
def nanosleep(ns: int, /) -> None: ...
def shfl_down_sync(mask: int, value: _T, delta: int, /) -> _T: ...
def shfl_sync(mask: int, value: _T, lane: int, /) -> _T: ...
def shfl_up_sync(mask: int, value: _T, delta: int, /) -> _T: ...
def shfl_xor_sync(mask: int, value: _T, bits: int, /) -> _T: ...
def syncwarp(mask: int = ..., /) -> None: ...
def brev(value: Any, /) -> int: ...
def cbrt(x: Any, /) -> float: ...
def clz(value: Any, /) -> int: ...
def ffs(value: Any, /) -> int: ...
def fma(a: Any, b: Any, c: Any, /) -> float: ...
def popc(value: Any, /) -> int: ...
def selp(test: object, a: _T, b: _T, /) -> _T: ...

class Memory:
    """Memory that a kernel declares."""
    @overload
    def array(
        self, shape: int | tuple[int, ...], dtype: type[_ScalarT] | np.dtype[_ScalarT],
        alignment: int | None = None,
    ) -> NDArray[_ScalarT]: ...
    @overload
    def array(
        self, shape: int | tuple[int, ...], dtype: Any, alignment: int | None = None
    ) -> NDArray[Any]: ...

class Constants:
    """Arrays that are constants of a kernel."""
    def array_like(self, array: NDArray[_ScalarT], /) -> NDArray[_ScalarT]: ...

class Atomic:
    """Operations on items of arrays that other threads see whole; each returns what was there."""
    def add(self, array: Any, index: int | tuple[int, ...], value: Any, /) -> Any: ...
    def sub(self, array: Any, index: int | tuple[int, ...], value: Any, /) -> Any: ...
    def max(self, array: Any, index: int | tuple[int, ...], value: Any, /) -> Any: ...
    def min(self, array: Any, index: int | tuple[int, ...], value: Any, /) -> Any: ...
    def nanmax(self, array: Any, index: int | tuple[int, ...], value: Any, /) -> Any: ...
    def nanmin(self, array: Any, index: int | tuple[int, ...], value: Any, /) -> Any: ...
    def exch(self, array: Any, index: int | tuple[int, ...], value: Any, /) -> Any: ...
    def and_(self, array: Any, index: int | tuple[int, ...], value: Any, /) -> Any: ...
    def or_(self, array: Any, index: int | tuple[int, ...], value: Any, /) -> Any: ...
    def xor(self, array: Any, index: int | tuple[int, ...], value: Any, /) -> Any: ...
    def inc(self, array: Any, index: int | tuple[int, ...], value: Any, /) -> Any: ...
    def dec(self, array: Any, index: int | tuple[int, ...], value: Any, /) -> Any: ...
    def cas(self, array: Any, index: int | tuple[int, ...], old: Any, value: Any, /) -> Any: ...
    def compare_and_swap(self, array: Any, old: Any, value: Any, /) -> Any: ...

shared: Memory
local: Memory
const: Constants
atomic: Atomic
