"""Arrays on a CUDA device: NumPy's results, PyCUDA's names.

>>> import numpy as np, pygpu.cuda.autoinit
>>> from pygpu.cuda import gpuarray
>>> a = gpuarray.to_gpu(np.arange(4, dtype=np.float32))
>>> (2 * a + 1).get().tolist()
[1.0, 3.0, 5.0, 7.0]

Arrays lie in the context that is current when they are made, and their operations run on the
default stream, unless a function is given another one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu import _cuda
from pygpu.core import functions, layout, ufuncs
from pygpu.core.backend import backend_of
from pygpu.core.base import contiguous_host
from pygpu.core.dtypes import native
from pygpu.core.methods import ArrayBase
from pygpu.cuda.operations import Operations
from pygpu.cuda.operations import broadcast_result as _get_broadcasted_binary_op_result  # noqa: F401
from pygpu.cuda.operations import common_dtype as _get_common_dtype  # noqa: F401
from pygpu.cuda.splay import splay
from pygpu.cuda.vectors import vec

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = [
    "GPUArray",
    "all",
    "any",
    "arange",
    "concatenate",
    "dot",
    "empty",
    "empty_like",
    "full",
    "if_positive",
    "logical_and",
    "logical_not",
    "logical_or",
    "max",
    "maximum",
    "min",
    "minimum",
    "multi_put",
    "multi_take",
    "multi_take_put",
    "ones",
    "ones_like",
    "reshape",
    "splay",
    "stack",
    "subset_dot",
    "subset_max",
    "subset_min",
    "subset_sum",
    "sum",
    "take",
    "to_gpu",
    "to_gpu_async",
    "transpose",
    "vec",
    "where",
    "zeros",
    "zeros_like",
]


class GPUArray(Operations, ArrayBase):
    """An array in the memory of a CUDA device.

    allocator: called with a number of bytes, for memory; by default the context's own pool.
    gpudata: memory or an address to use instead, which *base* keeps alive. strides in bytes; order:
    "C" or "F". stream: of the array's operations, None for the default stream.
    """

    base: Any = None

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
        backend = backend_of(stream)
        dtype = native(dtype, "GPUArray")
        if isinstance(shape, np.ndarray) and shape.ndim == 0:
            shape = shape.item()
        shape = layout.as_shape(shape, "GPUArray")
        if strides is not None:
            strides = tuple(int(s) for s in strides)
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
        self._init(backend, stream, gpudata, offset, shape, strides, dtype, _allocator(allocator))
        if base is not None:
            self.base = base

    # ---- as PyCUDA's programs see it

    @property
    def gpudata(self) -> Any:
        """What kernels take: the allocation, or the address of a view that begins later; None of an
        array without items."""
        if self.size == 0:
            return None
        if self.offset == 0:
            return self.base_data
        return _Part(self)

    @property
    def ptr(self) -> int:
        """The address of the first item."""
        return int(self.base_data) + self.offset

    @property
    def mem_size(self) -> int:
        """The number of items."""
        return int(self.size)

    @property
    def _grid(self) -> tuple[int, int]:
        return splay(self.size)[0]

    @property
    def _block(self) -> tuple[int, int, int]:
        return splay(self.size)[1]

    @property
    def stream(self) -> Any:
        """The stream of the array's operations; None is the default stream."""
        return self.queue

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        handle = None if self.queue is None else self.queue.handle
        return {
            "shape": self.shape,
            "strides": self.strides,
            "data": (self.ptr if self.size else 0, False),
            "typestr": self.dtype.str,
            "descr": self.dtype.descr,
            "stream": handle or 1,
            "version": 3,
        }

    def with_stream(self, stream: Any) -> Any:
        """A view whose operations run on another stream; None for the default stream."""
        view = self._view(self.shape, self.strides, self.offset)
        self.backend.order(stream, self.queue)
        view.queue = stream
        return view

    # ---- transfers

    def get(
        self,
        ary: np.ndarray | None = None,
        pagelocked: bool = False,
        async_: bool = False,
        stream: Any = None,
    ) -> np.ndarray:
        """The contents as a host array: *ary* (same dtype and size) or a new one, in page-locked
        memory if *pagelocked*. async_: without waiting; *ary* should be page-locked then."""
        if ary is None and pagelocked:
            from pygpu.cuda.driver import pagelocked_empty

            order = "F" if self._f_contiguous and not self._c_contiguous else "C"
            ary = pagelocked_empty(self.shape, self.dtype, order)
        elif ary is not None and ary.size == self.size and ary.shape != self.shape:
            warnings.warn(
                "get() between arrays of different shape is deprecated; reshape one of them",
                DeprecationWarning,
                stacklevel=2,
            )
        return self._get(ary, stream, not async_)[0]

    def get_async(self, stream: Any = None, ary: np.ndarray | None = None) -> np.ndarray:
        """get() without waiting."""
        return self.get(ary, async_=True, stream=stream)

    def set(self, ary: np.ndarray, async_: bool = False, stream: Any = None) -> None:
        """Copy from a host array of the same dtype and size; async_: without waiting."""
        ary = np.asarray(ary)
        if ary.size == self.size and ary.shape != self.shape:
            warnings.warn("Setting array from one with different shape.", stacklevel=2)
        self._set(ary, stream, not async_)

    def set_async(self, ary: np.ndarray, stream: Any = None) -> None:
        """set() without waiting."""
        self.set(ary, True, stream)

    def copy(self, stream: Any = None) -> Any:
        """A copy, in the same order of axes."""
        return self._copy(stream)

    def astype(self, dtype: Any, stream: Any = None, *, copy: bool = True, order: str = "K") -> Any:
        """A copy converted to another dtype."""
        return super().astype(dtype, stream, copy=copy, order=order)

    def fill(self, value: Any, stream: Any = None, wait_for: Any = None) -> Any:
        """Set all items to a number. Returns the array."""
        return super().fill(value, stream)

    def reverse(self, stream: Any = None) -> Any:
        """A copy of an array with one axis, last item first."""
        return super().reverse(stream)

    def mul_add(
        self,
        selffac: Any,
        other: Any,
        otherfac: Any,
        add_timer: Any = None,
        stream: Any = None,
        out: Any = None,
    ) -> Any:
        """``selffac * self + otherfac * other``, in one launch."""
        return self._mul_add(selffac, other, otherfac, stream, out)

    def any(
        self,
        axis: Any = None,
        out: Any = None,
        keepdims: bool = False,
        *,
        where: Any = None,
        stream: Any = None,
        allocator: Any = None,
    ) -> Any:
        """Whether any item is not zero, over axes."""
        return self._reduce("any", axis, out=out, keepdims=keepdims, where=where)

    def all(
        self,
        axis: Any = None,
        out: Any = None,
        keepdims: bool = False,
        *,
        where: Any = None,
        stream: Any = None,
        allocator: Any = None,
    ) -> Any:
        """Whether all items are not zero, over axes."""
        return self._reduce("all", axis, out=out, keepdims=keepdims, where=where)

    def bind_to_texref(self, texref: Any, allow_offset: bool = False) -> Any:
        """Raises LogicError: CUDA 12 removed texture references."""
        return texref.set_address(self.gpudata, self.nbytes, allow_offset) / self.itemsize

    def bind_to_texref_ext(self, texref: Any, *args: Any, **kwargs: Any) -> Any:
        """Raises LogicError: CUDA 12 removed texture references."""
        return self.bind_to_texref(texref)

    def _new_like_me(self, dtype: Any = None, order: str = "C") -> Any:
        """A new array without contents, of the same shape."""
        if dtype is None or np.dtype(dtype) == self.dtype:
            return empty_like(self)
        return empty_like(self, dtype, order)

    # ---- text

    def __str__(self) -> str:
        return str(self.get())

    def __repr__(self) -> str:
        return repr(self.get())

    def __reduce__(self) -> Any:
        return _unpickle, (type(self), self.get())


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
    """PyCUDA's default allocator means the pool here."""
    return None if allocator is _cuda.mem_alloc else allocator


# ---- making arrays


def to_gpu(ary: np.ndarray, allocator: Any = None) -> GPUArray:
    """A copy of a host array on the device."""
    return _to_gpu(ary, allocator, None, True, "to_gpu")


def to_gpu_async(ary: np.ndarray, allocator: Any = None, stream: Any = None) -> GPUArray:
    """A copy of a host array on the device, made on a stream without waiting."""
    return _to_gpu(ary, allocator, stream, False, "to_gpu_async")


def _to_gpu(ary: Any, allocator: Any, stream: Any, blocking: bool, call: str) -> GPUArray:
    host = contiguous_host(np.asarray(ary), call)
    order = "C" if host.flags.c_contiguous else "F"
    result = GPUArray(host.shape, host.dtype, allocator, order=order)
    result._set(host, stream, blocking, call)
    return result


empty = GPUArray


def full(
    shape: Any,
    fill_value: Any,
    dtype: DTypeLike | None = None,
    allocator: Any = None,
    order: str = "C",
) -> GPUArray:
    """A new array of one value."""
    dtype = np.asarray(fill_value).dtype if dtype is None else dtype
    return GPUArray(shape, dtype, allocator, order=order).fill(fill_value)


def zeros(
    shape: Any, dtype: DTypeLike = np.float64, allocator: Any = None, order: str = "C"
) -> GPUArray:
    """A new array of zeros."""
    return GPUArray(shape, dtype, allocator, order=order).fill(0)


def ones(
    shape: Any, dtype: DTypeLike = np.float64, allocator: Any = None, order: str = "C"
) -> GPUArray:
    """A new array of ones."""
    return GPUArray(shape, dtype, allocator, order=order).fill(1)


def empty_like(other_ary: Any, dtype: DTypeLike | None = None, order: str = "K") -> GPUArray:
    """A new array without contents, of the same shape; order "K": of its order of axes."""
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


def zeros_like(other_ary: Any, dtype: DTypeLike | None = None, order: str = "K") -> GPUArray:
    """A new array of zeros, like another one."""
    return empty_like(other_ary, dtype, order).fill(0)


def ones_like(other_ary: Any, dtype: DTypeLike | None = None, order: str = "K") -> GPUArray:
    """A new array of ones, like another one."""
    return empty_like(other_ary, dtype, order).fill(1)


def arange(*args: Any, **kwargs: Any) -> GPUArray:
    """``arange([start,] stop[, step], dtype=None, stream=None)``: evenly spaced numbers, as
    numpy.arange."""
    stream = kwargs.pop("stream", None)
    start, step, n, dtype, explicit = functions.arange_plan("arange", args, kwargs)
    if not explicit and dtype != np.float32:
        warnings.warn(
            "behavior change: arange guessed dtype other than float32. "
            "suggest specifying explicit dtype.",
            stacklevel=2,
        )
    return functions.arange_into(GPUArray((n,), dtype), start, step, stream)


# ---- choosing and joining


def _array(a: Any, call: str) -> Any:
    if isinstance(a, ArrayBase):
        return a
    raise TypeError(
        f"{call}: a GPUArray is needed, not {type(a).__name__}; use to_gpu() for host arrays"
    )


def concatenate(arrays: Any, axis: int = 0, allocator: Any = None) -> Any:
    """One array after the other along an axis."""
    if allocator is None:
        return functions.concatenate(arrays, axis)
    return functions.concatenate(
        arrays, axis, lambda shape, dtype: GPUArray(shape, dtype, allocator)
    )


def stack(arrays: Any, axis: int = 0, allocator: Any = None) -> Any:
    """Arrays of one shape along a new axis."""
    return functions.stack(arrays, axis)


def take(a: Any, indices: Any, out: Any = None, stream: Any = None) -> Any:
    """The items of the flat array *a* that *indices* name."""
    return _array(a, "take").take(indices, out=out)


def multi_take(arrays: Any, indices: Any, out: Any = None, stream: Any = None) -> Any:
    """The same items of several arrays."""
    return functions.multi_take(arrays, indices, out)


def multi_take_put(
    arrays: Any,
    dest_indices: Any,
    src_indices: Any,
    dest_shape: Any = None,
    out: Any = None,
    stream: Any = None,
    src_offsets: Any = None,
) -> Any:
    """Take items of several arrays and set items of others."""
    return functions.multi_take_put(arrays, dest_indices, src_indices, dest_shape, out, src_offsets)


def multi_put(
    arrays: Any, dest_indices: Any, dest_shape: Any = None, out: Any = None, stream: Any = None
) -> Any:
    """Set the items *dest_indices* of several arrays."""
    return functions.multi_put(arrays, dest_indices, dest_shape, out)


def transpose(a: Any, axes: Any = None) -> Any:
    """See GPUArray.transpose()."""
    a = _array(a, "transpose")
    return a.transpose() if axes is None else a.transpose(axes)


def reshape(a: Any, *shape: Any, **kwargs: Any) -> Any:
    """See GPUArray.reshape()."""
    return _array(a, "reshape").reshape(*shape, **kwargs)


def if_positive(criterion: Any, then_: Any, else_: Any, out: Any = None, stream: Any = None) -> Any:
    """Items of *then_* where the criterion is positive, else of *else_*."""
    return functions.choose("if_positive", criterion, then_, else_, out, stream, positive=True)


def where(criterion: Any, then_: Any, else_: Any, out: Any = None, stream: Any = None) -> Any:
    """Items of *then_* where the criterion is true, else of *else_*."""
    return functions.choose("where", criterion, then_, else_, out, stream)


def maximum(a: Any, b: Any, out: Any = None, stream: Any = None) -> Any:
    """The greater of two items, NaN if one is."""
    return functions.binary("maximum", a, b, out, stream)


def minimum(a: Any, b: Any, out: Any = None, stream: Any = None) -> Any:
    """The smaller of two items, NaN if one is."""
    return functions.binary("minimum", a, b, out, stream)


def logical_and(x1: Any, x2: Any, /, out: Any = None, *, allocator: Any = None) -> Any:
    """Whether both items are not zero."""
    return functions.binary("logical_and", x1, x2, out)


def logical_or(x1: Any, x2: Any, /, out: Any = None, *, allocator: Any = None) -> Any:
    """Whether one of the items is not zero."""
    return functions.binary("logical_or", x1, x2, out)


def logical_not(x: Any, /, out: Any = None, *, allocator: Any = None) -> Any:
    """Whether the item is zero."""
    if not isinstance(x, ArrayBase):
        return np.logical_not(x)
    return ufuncs.call("logical_not", (x,), None if out is None else (out,))


# ---- reductions


def _placed(result: Any, allocator: Any) -> Any:
    """The result, in memory of an allocator if one was given."""
    if allocator is None:
        return result
    placed = GPUArray(result.shape, result.dtype, allocator)
    placed._copy_from(result)
    return placed


def sum(a: Any, dtype: DTypeLike | None = None, stream: Any = None, allocator: Any = None) -> Any:
    """The sum, as numpy.sum."""
    return _placed(_array(a, "sum")._reduce("sum", None, dtype=dtype), allocator)


def any(a: Any, stream: Any = None, allocator: Any = None) -> Any:
    """Whether any item is not zero."""
    return _placed(_array(a, "any")._reduce("any", None), allocator)


def all(a: Any, stream: Any = None, allocator: Any = None) -> Any:
    """Whether all items are not zero."""
    return _placed(_array(a, "all")._reduce("all", None), allocator)


def min(a: Any, stream: Any = None) -> Any:
    """The least item."""
    return _array(a, "min")._reduce("min", None)


def max(a: Any, stream: Any = None) -> Any:
    """The greatest item."""
    return _array(a, "max")._reduce("max", None)


def dot(
    a: Any, b: Any, dtype: DTypeLike | None = None, stream: Any = None, allocator: Any = None
) -> Any:
    """numpy.dot."""
    return _placed(functions.dot(a, b, dtype), allocator)


def subset_sum(
    subset: Any, a: Any, dtype: DTypeLike | None = None, stream: Any = None, allocator: Any = None
) -> Any:
    """The sum of the items that *subset*, an array of indices, names."""
    return _placed(functions.subset("sum", subset, a, dtype=dtype), allocator)


def subset_dot(
    subset: Any,
    a: Any,
    b: Any,
    dtype: DTypeLike | None = None,
    stream: Any = None,
    allocator: Any = None,
) -> Any:
    """dot() of the items that *subset* names."""
    return _placed(functions.subset("dot", subset, a, b, dtype=dtype), allocator)


def subset_min(subset: Any, a: Any, stream: Any = None) -> Any:
    """The least of the items that *subset* names."""
    return functions.subset("min", subset, a)


def subset_max(subset: Any, a: Any, stream: Any = None) -> Any:
    """The greatest of the items that *subset* names."""
    return functions.subset("max", subset, a)
