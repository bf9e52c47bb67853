"""Arrays on a CUDA device: NumPy's results, PyCUDA's names.

>>> import numpy as np, pygpu.cuda.autoinit
>>> from pygpu.cuda import gpuarray
>>> a = gpuarray.to_gpu(np.arange(4, dtype=np.float32))
>>> (2 * a + 1).get().tolist()
[1.0, 3.0, 5.0, 7.0]

Arrays belong to the context that is current when they are made, and their operations run on the
default stream, unless a function is given another one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np

from pygpu import _array, _cuda
from pygpu._src.codegen.dtypes import is_of_ml_dtypes, native
from pygpu._src.codegen.fastpath import fastpath, public_functions, public_methods
from pygpu._src.runtime.backends import backend_of
from pygpu._src.runtime.cuda.vectors import vec
from pygpu._src.util.lazy import lazy
from pygpu._src.util.overloads import overloads_of
from pygpu._src.util.public import publish

from . import chains, layout
from .base import _ScalarT_co
from .cuda_functions import placed, stream_of
from .cuda_operations import Operations
from .cuda_operations import broadcast_result as _get_broadcasted_binary_op_result  # noqa: F401
from .cuda_operations import common_dtype as _get_common_dtype  # noqa: F401
from .cuda_splay import splay
from .methods import ArrayBase
from .primitives import contiguous_host
from .routines import joining

if TYPE_CHECKING:
    from typing import SupportsIndex, TypeAlias, TypeVar

    from numpy.typing import DTypeLike, NDArray

    from .array_types import GPUArrayTypes, _Axes, _DType, _Where

    _Allocator: TypeAlias = Callable[[int], Any] | None
    _Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex] | np.ndarray
    _Memory: TypeAlias = _cuda.DeviceAllocation | _cuda.PointerHolderBase | int
    _Stream: TypeAlias = _cuda.Stream | None
    _ScalarT = TypeVar("_ScalarT", bound=np.generic)
else:
    GPUArrayTypes = ArrayBase

__all__ = [
    "GPUArray",
    "arange",
    "empty",
    "empty_like",
    "full",
    "ones",
    "ones_like",
    "splay",
    "to_gpu",
    "to_gpu_async",
    "vec",
    "zeros",
    "zeros_like",
]


@public_methods
class GPUArray(Operations, GPUArrayTypes[_ScalarT_co]):
    """An array in the memory of a CUDA device.

    allocator: called with a number of bytes, for memory; by default the context's own pool.
    gpudata: memory or an address to use instead, which *base* keeps alive. strides in bytes; order:
    "C" or "F". stream: of the array's operations, None for the default stream.
    """

    base: Any = None

    @overload
    def __init__(
        self: GPUArray[_ScalarT],
        shape: _Shape,
        dtype: _DType[_ScalarT],
        allocator: _Allocator = ...,
        base: Any = ...,
        gpudata: Any = ...,
        strides: Sequence[int] | None = ...,
        order: str = ...,
        *,
        stream: Any = ...,
    ) -> None: ...
    @overload
    def __init__(
        self: GPUArray[Any],
        shape: _Shape,
        dtype: DTypeLike,
        allocator: _Allocator = ...,
        base: Any = ...,
        gpudata: Any = ...,
        strides: Sequence[int] | None = ...,
        order: str = ...,
        *,
        stream: Any = ...,
    ) -> None: ...
    @fastpath("cuda_init")
    def __init__(
        self,
        shape: Any,
        dtype: DTypeLike,
        allocator: Callable[[int], Any] | None = None,
        base: Any = None,
        gpudata: Any = None,
        strides: Sequence[int] | None = None,
        order: str = "C",
        *,
        stream: Any = None,
    ) -> None:
        stream = stream_of(stream, "GPUArray")
        backend = backend_of(stream)
        dtype = native(dtype, "GPUArray")
        if isinstance(shape, np.ndarray) and shape.ndim == 0:
            shape = shape.item()
        shape = layout.as_shape(shape, "GPUArray")
        if strides is not None:
            strides = layout.as_strides(strides, shape, "GPUArray")
        elif order == "F":
            strides = layout.f_strides(shape, dtype.itemsize)
        elif order != "C":
            raise ValueError(f"invalid order: {order}")
        offset = 0
        if gpudata is None:
            nbytes = prod(shape) * dtype.itemsize
            if strides is not None:
                low, high = layout.byte_bounds(shape, strides, dtype.itemsize)
                nbytes, offset = high - low, -low
            gpudata = backend.allocate(nbytes, _allocator(allocator), stream)
        elif 0 not in shape:
            own = layout.c_strides(shape, dtype.itemsize) if strides is None else strides
            low, high = layout.byte_bounds(shape, own, dtype.itemsize)
            backend.check_room("GPUArray: gpudata", gpudata, low, high)
        self._init(backend, stream, gpudata, offset, shape, strides, dtype, _allocator(allocator))
        if base is not None:
            self.base = base

    _views_by_class = False
    _init_forms = ((2, "allocator strides"),)

    def _call_class(
        self,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        strides: tuple[int, ...] | None,
        queue: Any,
        of: Any,
    ) -> Any:
        cls: Any = type(self)
        made = cls(shape, dtype, allocator=self.allocator, strides=strides)
        if of is not None:
            made._init(
                of.backend, queue, of.base_data, of.offset, shape, strides, dtype, self.allocator
            )
        elif made.queue is not queue:
            made.queue = queue
        return made

    # ---- PyCUDA's attributes

    if TYPE_CHECKING:

        @property
        def gpudata(self) -> _Memory:
            """The memory from the first item on, as kernels take it."""

        @property
        def base_data(self) -> _Memory:
            """The memory, which begins `offset` bytes before the first item."""

        @base_data.setter
        def base_data(self, value: _Memory) -> None: ...
        @property
        def queue(self) -> _Stream:
            """The stream of the array's operations; None is the default stream."""

        @queue.setter
        def queue(self, value: _Stream) -> None: ...
        @property
        def mem_size(self) -> int:
            """The number of items."""
    else:
        gpudata = ArrayBase._gpudata
        mem_size = ArrayBase.size

    def _address_inside(self) -> Any:
        return _Part(self)

    @property
    def ptr(self) -> int:
        """The address of the first item."""
        return int(self.base_data) + self.offset

    @property
    def _grid(self) -> tuple[int, int]:
        return splay(self.size)[0]

    @property
    def _block(self) -> tuple[int, int, int]:
        return splay(self.size)[1]

    @property
    def stream(self) -> _cuda.Stream | None:
        """The stream of the array's operations; None is the default stream."""
        return self.queue

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        queue, dtype = self.queue, self.dtype
        if self.base_data is None:
            self.backend.name  # noqa: B018 - says that there is no memory
        typestr = f"|V{dtype.itemsize}" if is_of_ml_dtypes(dtype) else dtype.str
        return {
            "shape": self.shape,
            "strides": self.strides,
            "data": (int(self.base_data) + self.offset if self.size else 0, False),
            "typestr": typestr,
            "descr": dtype.descr if dtype.str == typestr else [("", typestr)],
            "stream": 1 if queue is None else queue.handle or 1,
            "version": 3,
        }

    def with_stream(self, stream: _Stream) -> Self:
        """A view whose operations run on another stream; None for the default stream."""
        stream = stream_of(stream, "with_stream")
        view = self._view(self.shape, self.strides, self.offset)
        self.backend.order(stream, self.queue)
        view.queue = stream
        return view

    # ---- transfers

    @fastpath("cuda_get")
    def get(
        self,
        ary: NDArray[Any] | None = None,
        pagelocked: bool = False,
        async_: bool = False,
        stream: _Stream = None,
    ) -> NDArray[_ScalarT_co]:
        """The contents as a host array: *ary* (same dtype and size) or a new one, in page-locked
        memory if *pagelocked*. async_: without waiting; *ary* should be page-locked then."""
        if ary is None and pagelocked:
            from pygpu._cuda import pagelocked_empty

            order = "F" if self._f_contiguous and not self._c_contiguous else "C"
            ary = pagelocked_empty(self.shape, self.dtype, order)
        elif ary is not None and not isinstance(ary, np.ndarray):
            raise TypeError(f"get: ary must be a NumPy array, not {type(ary).__name__}")
        elif ary is not None and ary.size == self.size and ary.shape != self.shape:
            warnings.warn(
                "get() between arrays of different shape is deprecated; reshape one of them",
                DeprecationWarning,
                stacklevel=2,
            )
        return self._get(ary, stream_of(stream, "get"), not async_)[0]

    def get_async(
        self, stream: _Stream = None, ary: NDArray[Any] | None = None
    ) -> NDArray[_ScalarT_co]:
        """get() without waiting."""
        return self.get(ary, async_=True, stream=stream)

    @fastpath("cuda_set")
    def set(self, ary: Any, async_: bool = False, stream: _Stream = None) -> None:
        """Copy from an array of the same dtype and size, on the host or on the device; async_:
        without waiting."""
        on_device = isinstance(ary, GPUArray)
        ary = ary if on_device else np.asarray(ary)
        if ary.size == self.size and ary.shape != self.shape:
            warnings.warn("Setting array from one with different shape.", stacklevel=2)
        if on_device:
            self._check_like(ary, "set")
            ary = ary if ary.shape == self.shape else ary.reshape(self.shape)
            self.setitem(..., ary, stream_of(stream, "set"))
            return
        self._set(ary, stream_of(stream, "set"), not async_)

    def set_async(self, ary: Any, stream: _Stream = None) -> None:
        """set() without waiting."""
        self.set(ary, True, stream)

    @fastpath("copy")
    def copy(self, stream: _Stream | str = None, *, order: str = "K") -> Self:
        """A copy. order: as NumPy's, which may also be passed in place of the stream."""
        if isinstance(stream, str) and stream.upper() in ("C", "F", "A", "K"):
            order, stream = stream, None
        return self._copy(stream_of(stream, "copy"), order)

    @overload
    def astype(
        self,
        dtype: _DType[_ScalarT],
        stream: _Stream | str = ...,
        *,
        copy: bool = ...,
        order: str = ...,
        casting: Any = ...,
        subok: bool = ...,
    ) -> GPUArray[_ScalarT]: ...
    @overload
    def astype(
        self,
        dtype: DTypeLike,
        stream: _Stream | str = ...,
        *,
        copy: bool = ...,
        order: str = ...,
        casting: Any = ...,
        subok: bool = ...,
    ) -> GPUArray[Any]: ...
    @fastpath("astype")
    def astype(
        self, dtype: Any, stream: Any = None, *, copy: bool = True, order: str = "K",
        casting: Any = "unsafe", subok: bool = True,
    ) -> Any:  # fmt: skip
        """A copy converted to another dtype. Raises TypeError for a conversion that the rule
        *casting* does not allow."""
        if isinstance(stream, str):
            stream, order = None, stream  # NumPy's second argument
        queue = stream_of(stream, "astype")
        return super().astype(dtype, queue, copy=copy, order=order, casting=casting)

    @fastpath("fill")
    def fill(self, value: Any, stream: _Stream = None, wait_for: Any = None) -> Self:
        """Set all items to a number. Returns the array."""
        return super().fill(value, stream_of(stream, "fill"))

    def reverse(self, stream: _Stream = None) -> Self:
        """Return a copy of an array with one axis, in reverse order."""
        return super().reverse(stream_of(stream, "reverse"))

    def mul_add(
        self,
        selffac: complex,
        other: GPUArray[Any],
        otherfac: complex,
        add_timer: Any = None,
        stream: _Stream = None,
        out: GPUArray[Any] | None = None,
    ) -> GPUArray[Any]:
        """``selffac * self + otherfac * other``, in one launch."""
        stream = stream_of(stream, "mul_add")
        found: GPUArray[Any] = self._mul_add(selffac, other, otherfac, stream, out)
        return found

    def any(
        self,
        axis: _Axes = None,
        out: GPUArray[Any] | None = None,
        keepdims: bool = False,
        *,
        where: _Where = None,
        stream: _Stream = None,
        allocator: _Allocator = None,
    ) -> GPUArray[np.bool_]:
        """Whether any item is not zero, over axes."""
        array = self._on_queue(stream_of(stream, "any"))
        result: GPUArray[np.bool_] = array._reduce(
            "any", axis, out=out, keepdims=keepdims, where=where
        )
        return placed(result, allocator)

    def all(
        self,
        axis: _Axes = None,
        out: GPUArray[Any] | None = None,
        keepdims: bool = False,
        *,
        where: _Where = None,
        stream: _Stream = None,
        allocator: _Allocator = None,
    ) -> GPUArray[np.bool_]:
        """Whether all items are not zero, over axes."""
        array = self._on_queue(stream_of(stream, "all"))
        result: GPUArray[np.bool_] = array._reduce(
            "all", axis, out=out, keepdims=keepdims, where=where
        )
        return placed(result, allocator)

    def bind_to_texref(self, texref: Any, allow_offset: bool = False) -> Any:
        """Raises LogicError: CUDA 12 removed texture references."""
        if not hasattr(texref, "set_address"):
            raise TypeError(
                f"bind_to_texref: texref must be a TextureReference, not {type(texref).__name__}"
            )
        return texref.set_address(self.gpudata, self.nbytes, allow_offset) / self.itemsize

    def bind_to_texref_ext(self, texref: Any, *args: Any, **kwargs: Any) -> Any:
        """Raises LogicError: CUDA 12 removed texture references."""
        return self.bind_to_texref(texref)

    def _new_like_me(self, dtype: Any = None, order: str = "C") -> Any:
        """A new, uninitialized array of the same shape."""
        if self._own_init:
            like = np.dtype(self.dtype if dtype is None else dtype)
            strides = layout.f_strides(self.shape, like.itemsize) if order == "F" else None
            if like == self.dtype:
                strides = layout.keep_order_strides(self.shape, self.strides, like.itemsize)
            return self._new(self.shape, like, strides)
        if dtype is None or np.dtype(dtype) == self.dtype:
            return empty_like(self)
        return empty_like(self, dtype, order)

    # ---- text

    def __str__(self) -> str:
        text: str = lazy("pygpu._src.array.display").array_str(self)
        return text

    def __repr__(self) -> str:
        text: str = lazy("pygpu._src.array.display").array_repr(self, f"cuda.{type(self).__name__}")
        return text

    def _repr_html_(self) -> str:
        text: str = lazy("pygpu._src.array.display").array_html(self, f"cuda.{type(self).__name__}")
        return text

    def __reduce__(self) -> Any:
        return _unpickle, (type(self), self.get())


_array._register("cuda", array_class=GPUArray, default_allocator=_cuda.mem_alloc)
_array._chain_connect(True, _cuda._deferral())


class _Part(_cuda.PointerHolderBase):
    """The address of an array that begins inside an allocation, which it keeps."""

    def __init__(self, array: GPUArray) -> None:
        super().__init__()
        self.owner = array.base_data
        self.address = array.ptr

    def get_pointer(self) -> int:
        return self.address


def _unpickle(cls: Any, host: np.ndarray) -> Any:
    array = to_gpu(host)
    return array if type(array) is cls else array._view(array.shape, array.strides, 0, None, cls)


def _allocator(allocator: Any) -> Any:
    """PyCUDA's default allocator stands for the pool here."""
    return None if allocator is _cuda.mem_alloc else allocator


# ---- making arrays


@overload
def to_gpu(
    ary: NDArray[_ScalarT] | GPUArray[_ScalarT], allocator: _Allocator = ...
) -> GPUArray[_ScalarT]: ...
@overload
def to_gpu(ary: Any, allocator: _Allocator = ...) -> GPUArray[Any]: ...
@fastpath("to_gpu")
def to_gpu(ary: Any, allocator: _Allocator = None) -> GPUArray[Any]:
    """Copy a host or device array to the device. Arrays of other libraries are accepted by
    ``__cuda_array_interface__`` or ``__dlpack__``."""
    return _to_gpu(ary, allocator, None, True, "to_gpu")


@overload
def to_gpu_async(
    ary: NDArray[_ScalarT] | GPUArray[_ScalarT],
    allocator: _Allocator = ...,
    stream: _Stream = ...,
) -> GPUArray[_ScalarT]: ...
@overload
def to_gpu_async(ary: Any, allocator: _Allocator = ..., stream: _Stream = ...) -> GPUArray[Any]: ...
def to_gpu_async(ary: Any, allocator: _Allocator = None, stream: _Stream = None) -> GPUArray[Any]:
    """to_gpu() on a stream, without waiting."""
    return _to_gpu(ary, allocator, stream, False, "to_gpu_async")


def _to_gpu(ary: Any, allocator: Any, stream: Any, blocking: bool, call: str) -> GPUArray[Any]:
    if isinstance(ary, GPUArray):
        order = "F" if ary._f_contiguous and not ary._c_contiguous else "C"
        result = GPUArray(ary.shape, ary.dtype, allocator, order=order)
        result.setitem(..., ary, stream_of(stream, call))
        return result
    host = np.asarray(ary)
    if host is not ary and host.dtype.hasobject:
        shown = lazy("pygpu._src.array.interchange").interface_of(ary)
        if shown is not None:
            return _to_gpu(shown, allocator, stream, blocking, call)
    host = contiguous_host(host, call)
    order = "C" if host.flags.c_contiguous else "F"
    result = GPUArray(host.shape, host.dtype, allocator, order=order)
    result._set(host, stream_of(stream, call), blocking, call)
    return result


empty = GPUArray


@overload
def full(
    shape: _Shape,
    fill_value: Any,
    dtype: _DType[_ScalarT],
    allocator: _Allocator = ...,
    order: str = ...,
) -> GPUArray[_ScalarT]: ...
@overload
def full(
    shape: _Shape,
    fill_value: Any,
    dtype: DTypeLike | None = ...,
    allocator: _Allocator = ...,
    order: str = ...,
) -> GPUArray[Any]: ...
@fastpath("cuda_full")
def full(
    shape: _Shape,
    fill_value: Any,
    dtype: DTypeLike | None = None,
    allocator: _Allocator = None,
    order: str = "C",
) -> GPUArray[Any]:
    """A new array of one value."""
    dtype = np.asarray(fill_value).dtype if dtype is None else dtype
    return GPUArray(shape, dtype, allocator, order=order).fill(fill_value)


@overload
def zeros(
    shape: _Shape, dtype: type[np.float64] = ..., allocator: _Allocator = ..., order: str = ...
) -> GPUArray[np.float64]: ...
@overload
def zeros(
    shape: _Shape, dtype: _DType[_ScalarT], allocator: _Allocator = ..., order: str = ...
) -> GPUArray[_ScalarT]: ...
@overload
def zeros(
    shape: _Shape, dtype: DTypeLike, allocator: _Allocator = ..., order: str = ...
) -> GPUArray[Any]: ...
@fastpath("cuda_zeros")
def zeros(
    shape: _Shape, dtype: DTypeLike = np.float64, allocator: _Allocator = None, order: str = "C"
) -> GPUArray[Any]:
    """A new array of zeros."""
    return GPUArray(shape, dtype, allocator, order=order).fill(0)


@overloads_of(zeros)
@fastpath("cuda_ones")
def ones(
    shape: _Shape, dtype: DTypeLike = np.float64, allocator: _Allocator = None, order: str = "C"
) -> GPUArray[Any]:
    """A new array of ones."""
    return GPUArray(shape, dtype, allocator, order=order).fill(1)


@overload
def empty_like(
    other_ary: GPUArray[_ScalarT] | NDArray[_ScalarT], dtype: None = ..., order: str = ...
) -> GPUArray[_ScalarT]: ...
@overload
def empty_like(other_ary: Any, dtype: _DType[_ScalarT], order: str = ...) -> GPUArray[_ScalarT]: ...
@overload
def empty_like(
    other_ary: Any, dtype: DTypeLike | None = ..., order: str = ...
) -> GPUArray[Any]: ...
@fastpath("cuda_empty_like")
def empty_like(other_ary: Any, dtype: DTypeLike | None = None, order: str = "K") -> GPUArray[Any]:
    """Make an uninitialized array of the same shape; order "K": with the same order of axes."""
    if not isinstance(other_ary, (ArrayBase, np.ndarray)) and not hasattr(other_ary, "strides"):
        raise TypeError(f"empty_like: an array is needed, not {type(other_ary).__name__}")
    dtype = native(other_ary.dtype if dtype is None else dtype, "empty_like")
    shape = other_ary.shape
    if isinstance(other_ary, ArrayBase):
        c, f = other_ary._c_contiguous, other_ary._f_contiguous
    else:
        c, f = other_ary.flags.c_contiguous, other_ary.flags.f_contiguous
    strides = None
    if order == "A":
        order = "F" if f and not c else "C"
    elif order == "K":
        order = "C" if c or len(shape) <= 1 else "F" if f else "K"
        if order == "K":
            strides = layout.keep_order_strides(shape, other_ary.strides, dtype.itemsize)
            order = "C"
    elif order not in ("C", "F"):
        raise ValueError(f"Unsupported order: {order!r}")
    allocator = getattr(other_ary, "allocator", None)
    return GPUArray(shape, dtype, allocator, order=order, strides=strides)


@overloads_of(empty_like)
@fastpath("cuda_zeros_like")
def zeros_like(other_ary: Any, dtype: DTypeLike | None = None, order: str = "K") -> GPUArray[Any]:
    """A new array of zeros, like another one."""
    return empty_like(other_ary, dtype, order).fill(0)


@overloads_of(empty_like)
@fastpath("cuda_ones_like")
def ones_like(other_ary: Any, dtype: DTypeLike | None = None, order: str = "K") -> GPUArray[Any]:
    """A new array of ones, like another one."""
    return empty_like(other_ary, dtype, order).fill(1)


@overload
def arange(
    *args: complex | np.generic | None, dtype: _DType[_ScalarT], stream: _Stream = ...
) -> GPUArray[_ScalarT]: ...
@overload
def arange(
    *args: Any, dtype: DTypeLike | None = ..., stream: _Stream = ..., **kwargs: Any
) -> GPUArray[Any]: ...
def arange(*args: Any, **kwargs: Any) -> GPUArray[Any]:
    """``arange([start,] stop[, step], dtype=None, stream=None)``: evenly spaced numbers, as
    numpy.arange."""
    stream = kwargs.pop("stream", None)
    start, step, n, dtype, explicit = joining.arange_plan("arange", args, kwargs)
    if not explicit and dtype != np.float32:
        warnings.warn(
            "behavior change: arange guessed dtype other than float32. "
            "suggest specifying explicit dtype.",
            stacklevel=2,
        )
    made: GPUArray[Any] = GPUArray((n,), dtype)
    joining.arange_into(made, start, step, stream_of(stream, "arange"))
    return made


def _memcpy_discontig(dst: Any, src: Any, async_: bool = False, stream: Any = None) -> None:
    """Implement PyCUDA's function: copy between host or device arrays, also with gaps."""
    if dst.shape != src.shape or dst.dtype != src.dtype:
        raise ValueError("_memcpy_discontig: dst and src differ in shape or dtype")
    stream = stream_of(stream, "_memcpy_discontig")
    if isinstance(dst, np.ndarray):
        dst[...] = src.get(stream=stream)
    else:
        dst._copy_from(src if isinstance(src, GPUArray) else to_gpu(src), stream)


publish(globals(), ["_unpickle", *__all__], "pygpu.cuda.gpuarray")
public_functions(globals(), __all__)

chains.start()
