"""Functions of the standard that make arrays. device: what pygpu.xp.as_device() takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, isfinite
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from pygpu._src.array import interchange, layout
from pygpu._src.array.device import Device, as_device
from pygpu._src.array.routines import joining, manipulation
from pygpu._src.codegen import dtypes
from pygpu._src.util.overloads import overloads_of

from ._arguments import need_arrays
from ._dtypes import default_dtype

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from ._types import (
        AnyDevice,
        ArrayT,
        Bool,
        ComplexFloating,
        DType,
        Floating,
        GPUArray,
        Index,
        Number,
        Operand,
        ScalarT,
        Shape,
    )
else:
    from .._array import GPUArray

__all__ = [
    "arange",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "full",
    "full_like",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]


def _dtype(dtype: Any, kind: str, device: Device, call: str) -> np.dtype[Any]:
    """The dtype asked for, or the device's default of a kind."""
    if dtype is None:
        return default_dtype(kind, device)
    return dtypes.native(dtype, call)


def _of_scalar(value: Any, device: Device) -> np.dtype[Any]:
    """The dtype of an array of this number where none is named."""
    if isinstance(value, (np.generic, GPUArray)):
        return value.dtype
    for kind, name in (
        (bool, "bool"),
        (int, "integral"),
        (float, "real floating"),
        (complex, "complex floating"),
    ):
        if isinstance(value, kind):
            return default_dtype(name, device)
    raise TypeError(f"a number is needed, not {type(value).__name__}")


@overload
def asarray(
    a: ArrayT,
    dtype: None = None,
    order: str | None = None,
    *,
    device: AnyDevice = None,
    copy: bool | None = None,
) -> ArrayT: ...
@overload
def asarray(
    a: NDArray[ScalarT] | ScalarT,
    dtype: None = None,
    order: str | None = None,
    *,
    device: AnyDevice = None,
    copy: bool | None = None,
) -> GPUArray[ScalarT]: ...
@overload
def asarray(
    a: Any,
    dtype: DType[ScalarT],
    order: str | None = None,
    *,
    device: AnyDevice = None,
    copy: bool | None = None,
) -> GPUArray[ScalarT]: ...
@overload
def asarray(
    a: Any,
    dtype: DTypeLike | None = None,
    order: str | None = None,
    *,
    device: AnyDevice = None,
    copy: bool | None = None,
) -> GPUArray[Any]: ...
def asarray(
    a: Any,
    dtype: Any = None,
    order: str | None = None,
    *,
    device: Any = None,
    copy: bool | None = None,
) -> Any:
    """An array of *a*: an array on a device, a number, nested sequences of numbers, a NumPy
    array, or anything with the buffer protocol, ``__dlpack__`` or ``__cuda_array_interface__``.

    dtype: by default that of the items; Python's numbers give the device's default dtypes. device:
    by default where *a* is, else the default device. order: "C" or "F" for an array in that
    order; None, "K" or "A" keep the order of an array. copy: True for a copy in any case, False to
    raise ValueError if one is needed, None to copy where needed.
    """
    if order not in (None, "C", "F", "K", "A"):
        order = layout.as_order("asarray", order)
    array = _asarray(a, dtype, device, copy)
    if order not in ("C", "F"):
        return array
    if array.flags.c_contiguous if order == "C" else array.flags.f_contiguous:
        return array
    if copy is False:
        raise ValueError(f"asarray: order {order!r} needs a copy, but copy=False")
    return array._copy(order=order)


def _asarray(obj: Any, dtype: Any, device: Any, copy: bool | None) -> Any:
    if isinstance(obj, GPUArray):
        array: Any = obj
        where = array.device if device is None else as_device(device)
        kind = array.dtype if dtype is None else dtypes.native(dtype)
        if where != array.device:
            if copy is False:
                raise ValueError("asarray: moving to another device needs a copy, but copy=False")
            array = array.to_device(where)
            copy = None
        if kind != array.dtype:
            if copy is False:
                raise ValueError(f"asarray: {array.dtype} to {kind} needs a copy, but copy=False")
            return array.astype(kind)
        return array.copy() if copy else array
    foreign = not isinstance(obj, (np.ndarray, np.generic)) and (
        hasattr(obj, "__cuda_array_interface__") or hasattr(obj, "__dlpack__")
    )
    if foreign:
        take = from_dlpack
        if hasattr(obj, "__cuda_array_interface__"):
            take = _from_cuda_array
        array = take(obj, device=device, copy=copy)
        return array if dtype is None else asarray(array, dtype=dtype, copy=copy)
    if copy is False:
        raise ValueError("asarray: host memory has to be copied, but copy=False")
    if isinstance(obj, (list, tuple)) and device is None and _alike(obj):
        stacked = joining.stack(list(obj), 0)
        return stacked if dtype is None else stacked.astype(dtypes.native(dtype), copy=False)
    where = as_device(device)
    return where.put(_host(obj, dtype, where))


def _alike(items: Sequence[Any]) -> bool:
    """Whether these are arrays of one device and shape, which are stacked there."""
    first = items[0] if items else None
    return isinstance(first, GPUArray) and all(
        isinstance(x, GPUArray) and x.shape == first.shape and x.device == first.device
        for x in items
    )


def _host(obj: Any, dtype: Any, device: Device) -> np.ndarray:
    """A host array of the right dtype."""
    if isinstance(obj, (list, tuple)) and _has_arrays(obj):
        obj = _fetched(obj)
    if isinstance(obj, int) and not isinstance(obj, bool) and dtype is None:
        integral = default_dtype("integral", device)
        dtype = integral if obj <= np.iinfo(integral).max else None  # None: uint64, as in NumPy
    if isinstance(obj, (np.ndarray, np.generic)) or dtype is not None:
        return np.asarray(obj, None if dtype is None else dtypes.native(dtype))
    host = np.asarray(obj)
    if host.dtype.kind not in "biufcmM":
        found = type(obj).__name__
        if isinstance(obj, (list, tuple)):
            found = f"a {found} that NumPy reads as {host.dtype}"
        raise TypeError(f"asarray: numbers, sequences of numbers or arrays are needed, not {found}")
    if host.dtype.kind in "iufc" and not isinstance(obj, (memoryview, bytes, bytearray)):
        if not hasattr(obj, "__array_interface__") and isinstance(
            obj, (int, float, complex, list, tuple)
        ):
            names = {"i": "integral", "f": "real floating", "c": "complex floating"}
            kind = names.get(host.dtype.kind)
            if kind and host.dtype.itemsize > default_dtype(kind, device).itemsize:
                host = host.astype(default_dtype(kind, device))
    return host


def _has_arrays(obj: Any) -> bool:
    seen, left = set(), [obj]  # a list may contain itself
    while left:
        items = left.pop()
        for x in () if id(items) in seen else items:
            if isinstance(x, GPUArray):
                return True
            if isinstance(x, (list, tuple)):
                left.append(x)
        seen.add(id(items))
    return False


def _fetched(obj: Any) -> Any:
    """Nested sequences with device arrays without axes as numbers."""
    made = {id(obj): [*obj]}  # one copy of each, so that a list that contains itself still does
    left = [made[id(obj)]]
    while left:
        items = left.pop()
        for i, x in enumerate(items):
            if isinstance(x, GPUArray):
                array: Any = x
                items[i] = array._get(None, None, True)[0][()]
            elif isinstance(x, (list, tuple)):
                if id(x) not in made:
                    made[id(x)] = [*x]
                    left.append(made[id(x)])
                items[i] = made[id(x)]
    return made[id(obj)]


def from_dlpack(x: Any, /, *, device: AnyDevice = None, copy: bool | None = None) -> GPUArray[Any]:
    """An array that shares another library's memory, or a copy if it cannot be shared."""
    where = None if device is None else as_device(device)
    result: GPUArray[Any] = interchange.from_dlpack(x, device=where, copy=copy)
    return result


def _from_cuda_array(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    where = None if device is None else as_device(device)
    return interchange.from_cuda_array(x, device=where, copy=copy)


# ---- of a shape


def _made(
    call: str, shape: Any, dtype: Any, order: str | None, where: Device, fill: Callable[[Any], Any]
) -> Any:
    """A new array in C or Fortran order, filled by a function of it."""
    sizes = layout.as_shape(shape, call)
    if order == "C" or layout.as_order(call, order, among="CF") == "C":
        return fill(where.empty(sizes, dtype))
    return fill(where.empty(sizes[::-1], dtype)).transpose()


def _itself(array: Any) -> Any:
    return array


def _filled(array: Any, value: Any) -> Any:
    array[...] = value
    return array


@overload
def empty(
    shape: Shape, dtype: None = None, order: str | None = "C", *, device: AnyDevice = None
) -> Floating: ...
@overload
def empty(
    shape: Shape, dtype: DType[ScalarT], order: str | None = "C", *, device: AnyDevice = None
) -> GPUArray[ScalarT]: ...
@overload
def empty(
    shape: Shape,
    dtype: DTypeLike | None = None,
    order: str | None = "C",
    *,
    device: AnyDevice = None,
) -> GPUArray[Any]: ...
def empty(shape: Any, dtype: Any = None, order: str | None = "C", *, device: Any = None) -> Any:
    """A new, uninitialized array."""
    where = as_device(device)
    kind = _dtype(dtype, "real floating", where, "empty")
    return _made("empty", shape, kind, order, where, lambda array: array)


@overload
def full(  # type: ignore[overload-overlap]
    shape: Shape,
    fill_value: bool,
    dtype: None = None,
    order: str | None = "C",
    *,
    device: AnyDevice = None,
) -> Bool: ...
@overload
def full(
    shape: Shape,
    fill_value: int,
    dtype: None = None,
    order: str | None = "C",
    *,
    device: AnyDevice = None,
) -> Index: ...
@overload
def full(
    shape: Shape,
    fill_value: float,
    dtype: None = None,
    order: str | None = "C",
    *,
    device: AnyDevice = None,
) -> Floating: ...
@overload
def full(
    shape: Shape,
    fill_value: complex,
    dtype: None = None,
    order: str | None = "C",
    *,
    device: AnyDevice = None,
) -> ComplexFloating: ...
@overload
def full(
    shape: Shape,
    fill_value: Operand,
    dtype: DType[ScalarT],
    order: str | None = "C",
    *,
    device: AnyDevice = None,
) -> GPUArray[ScalarT]: ...
@overload
def full(
    shape: Shape,
    fill_value: Operand,
    dtype: DTypeLike | None = None,
    order: str | None = "C",
    *,
    device: AnyDevice = None,
) -> GPUArray[Any]: ...
def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: str | None = "C", *, device: Any = None
) -> Any:
    """A new array of one value; its dtype is by default that of the value."""
    where = as_device(device)
    if isinstance(fill_value, (list, tuple, np.ndarray)):
        fill_value = asarray(fill_value, dtype, device=where)
    kind = _of_scalar(fill_value, where) if dtype is None else dtypes.native(dtype)
    return _made("full", shape, kind, order, where, lambda array: _filled(array, fill_value))


@overloads_of(empty)
def zeros(shape: Any, dtype: Any = None, order: str | None = "C", *, device: Any = None) -> Any:
    """A new array of zeros."""
    where = as_device(device)
    kind = _dtype(dtype, "real floating", where, "zeros")
    return _made("zeros", shape, kind, order, where, lambda array: array.fill(0))


@overloads_of(empty)
def ones(shape: Any, dtype: Any = None, order: str | None = "C", *, device: Any = None) -> Any:
    """A new array of ones."""
    where = as_device(device)
    kind = _dtype(dtype, "real floating", where, "ones")
    return _made("ones", shape, kind, order, where, lambda array: array.fill(1))


def _beside(
    call: str,
    x: Any,
    dtype: Any,
    order: str | None,
    shape: Any,
    device: Any,
    fill: Callable[[Any], Any],
) -> Any:
    """A new array like x, filled by a function of it."""
    need_arrays(call, x)
    array: Any = x
    where = array.device if device is None else as_device(device)
    kind = array.dtype if dtype is None else dtypes.native(dtype)
    fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    order = layout.as_order(call, order, fortran, "K")
    if order == "K":
        sizes = array.shape if shape is None else layout.as_shape(shape, call)
        order = "F" if fortran and len(sizes) == array.ndim else "C"
        if not fortran and not array.flags.c_contiguous:  # any other order of the axes
            strides = layout.keep_order_strides(array.shape, array.strides, 1)
            axes = sorted(range(array.ndim), key=lambda axis: (-strides[axis], axis))
            if len(sizes) == array.ndim:
                made = _made(call, [sizes[k] for k in axes], kind, "C", where, _itself)
                return fill(made.transpose([axes.index(k) for k in range(array.ndim)]))
    return _made(call, array.shape if shape is None else shape, kind, order, where, fill)


@overload
def empty_like(
    prototype: ArrayT,
    /,
    dtype: None = None,
    order: str | None = "K",
    subok: bool = True,
    shape: Shape | None = None,
    *,
    device: AnyDevice = None,
) -> ArrayT: ...
@overload
def empty_like(
    prototype: GPUArray[Any],
    /,
    dtype: DType[ScalarT],
    order: str | None = "K",
    subok: bool = True,
    shape: Shape | None = None,
    *,
    device: AnyDevice = None,
) -> GPUArray[ScalarT]: ...
@overload
def empty_like(
    prototype: GPUArray[Any],
    /,
    dtype: DTypeLike | None = None,
    order: str | None = "K",
    subok: bool = True,
    shape: Shape | None = None,
    *,
    device: AnyDevice = None,
) -> GPUArray[Any]: ...
def empty_like(
    prototype: Any,
    /,
    dtype: Any = None,
    order: str | None = "K",
    subok: bool = True,
    shape: Shape | None = None,
    *,
    device: Any = None,
) -> Any:
    """A new, uninitialized array of the shape and dtype of prototype."""
    return _beside("empty_like", prototype, dtype, order, shape, device, lambda array: array)


@overload
def full_like(
    a: ArrayT,
    fill_value: Operand,
    dtype: None = None,
    order: str | None = "K",
    subok: bool = True,
    shape: None = None,
    *,
    device: AnyDevice = None,
) -> ArrayT: ...
@overload
def full_like(
    a: GPUArray[Any],
    fill_value: Operand,
    dtype: DType[ScalarT],
    order: str | None = "K",
    subok: bool = True,
    shape: Shape | None = None,
    *,
    device: AnyDevice = None,
) -> GPUArray[ScalarT]: ...
@overload
def full_like(
    a: GPUArray[Any],
    fill_value: Operand,
    dtype: DTypeLike | None = None,
    order: str | None = "K",
    subok: bool = True,
    shape: Shape | None = None,
    *,
    device: AnyDevice = None,
) -> GPUArray[Any]: ...
def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str | None = "K",
    subok: bool = True,
    shape: Shape | None = None,
    *,
    device: Any = None,
) -> Any:
    """A new array of one value, of the shape and dtype of a."""
    return _beside(
        "full_like", a, dtype, order, shape, device, lambda array: _filled(array, fill_value)
    )


@overload
def zeros_like(
    a: ArrayT,
    dtype: None = None,
    order: str | None = "K",
    subok: bool = True,
    shape: Shape | None = None,
    *,
    device: AnyDevice = None,
) -> ArrayT: ...
@overload
def zeros_like(
    a: GPUArray[Any],
    dtype: DType[ScalarT],
    order: str | None = "K",
    subok: bool = True,
    shape: Shape | None = None,
    *,
    device: AnyDevice = None,
) -> GPUArray[ScalarT]: ...
@overload
def zeros_like(
    a: GPUArray[Any],
    dtype: DTypeLike | None = None,
    order: str | None = "K",
    subok: bool = True,
    shape: Shape | None = None,
    *,
    device: AnyDevice = None,
) -> GPUArray[Any]: ...
def zeros_like(
    a: Any,
    dtype: Any = None,
    order: str | None = "K",
    subok: bool = True,
    shape: Shape | None = None,
    *,
    device: Any = None,
) -> Any:
    """A new array of zeros, of the shape and dtype of a."""
    return _beside("zeros_like", a, dtype, order, shape, device, lambda array: array.fill(0))


@overloads_of(zeros_like)
def ones_like(
    a: Any,
    dtype: Any = None,
    order: str | None = "K",
    subok: bool = True,
    shape: Shape | None = None,
    *,
    device: Any = None,
) -> Any:
    """A new array of ones, of the shape and dtype of a."""
    return _beside("ones_like", a, dtype, order, shape, device, lambda array: array.fill(1))


@overload
def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: None = None,
    order: str | None = "C",
    *,
    device: AnyDevice = None,
) -> Floating: ...
@overload
def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    *,
    dtype: DType[ScalarT],
    order: str | None = "C",
    device: AnyDevice = None,
) -> GPUArray[ScalarT]: ...
@overload
def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: DTypeLike | None = None,
    order: str | None = "C",
    *,
    device: AnyDevice = None,
) -> GPUArray[Any]: ...
def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: Any = None,
    order: str | None = "C",
    *,
    device: Any = None,
) -> Any:
    """Zeros, and ones on diagonal k."""
    where = as_device(device)
    kind = _dtype(dtype, "real floating", where, "eye")
    shape = (N, N if M is None else M)
    order = layout.as_order("eye", order, among="CF")
    side = k if order == "C" else -k  # the array in Fortran order is filled transposed
    return _made("eye", shape, kind, order, where, lambda a: manipulation.eye_into(a, side))


# ---- ranges


@overload
def arange(
    start: int,
    stop: int | None = None,
    step: int = 1,
    dtype: None = None,
    *,
    device: AnyDevice = None,
) -> Index: ...
@overload
def arange(
    start: float,
    stop: float | None = None,
    step: float = 1,
    dtype: None = None,
    *,
    device: AnyDevice = None,
) -> Floating: ...
@overload
def arange(
    start: float,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: DType[ScalarT],
    device: AnyDevice = None,
) -> GPUArray[ScalarT]: ...
@overload
def arange(
    start: float,
    stop: float | None = None,
    step: float = 1,
    dtype: DTypeLike | None = None,
    *,
    device: AnyDevice = None,
) -> GPUArray[Any]: ...
def arange(
    start: Any, stop: Any = None, step: Any = 1, dtype: Any = None, *, device: Any = None
) -> Any:
    """Evenly spaced numbers from start (0 if only one number is given) to before stop."""
    where = as_device(device)
    if joining.has_dates(dtype, (start, stop, step)):
        given = (start,) if stop is None else (start, stop, step)
        first, by, n, kind, _ = joining.arange_plan("arange", given, {"dtype": dtype})
        return joining.arange_into(where.empty((n,), dtypes.native(kind)), first, by)
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    for x in (start, stop, step):
        if not isinstance(x, (int, float, np.integer, np.floating)):
            raise TypeError(f"arange: real numbers are needed, not {type(x).__name__}")
    if step == 0:
        raise ValueError("arange: step must not be 0")
    integral = all(isinstance(x, (int, np.integer)) for x in (start, stop, step))
    if dtype is None:
        kind = default_dtype("integral" if integral else "real floating", where)
    else:
        kind = dtypes.native(dtype)
    if integral:  # exactly: the quotient of large integers would be rounded
        n = len(range(int(start), int(stop), int(step)))
    else:
        steps = (stop - start) / step
        if not isfinite(steps):
            raise ValueError(f"arange: steps of {step} from {start} never reach {stop}")
        n = max(ceil(steps), 0)
    if kind == np.bool_ and n > 2:
        raise TypeError(f"arange: {n} items of bool would not differ; at most 2 are possible")
    return joining.arange_into(where.empty((n,), kind), start, step)


@overload
def linspace(
    start: float,
    stop: float,
    num: int = 50,
    endpoint: bool = True,
    retstep: Literal[False] = False,
    dtype: None = None,
    axis: int = 0,
    *,
    device: AnyDevice = None,
) -> Floating: ...
@overload
def linspace(
    start: complex,
    stop: complex,
    num: int = 50,
    endpoint: bool = True,
    retstep: Literal[False] = False,
    dtype: None = None,
    axis: int = 0,
    *,
    device: AnyDevice = None,
) -> ComplexFloating: ...
@overload
def linspace(
    start: Operand,
    stop: Operand,
    num: int = 50,
    endpoint: bool = True,
    retstep: Literal[False] = False,
    *,
    dtype: DType[ScalarT],
    axis: int = 0,
    device: AnyDevice = None,
) -> GPUArray[ScalarT]: ...
@overload
def linspace(
    start: Operand,
    stop: Operand,
    num: int = 50,
    endpoint: bool = True,
    retstep: Literal[False] = False,
    dtype: DTypeLike | None = None,
    axis: int = 0,
    *,
    device: AnyDevice = None,
) -> GPUArray[Any]: ...
@overload
def linspace(
    start: Operand,
    stop: Operand,
    num: int = 50,
    endpoint: bool = True,
    *,
    retstep: Literal[True],
    dtype: DTypeLike | None = None,
    axis: int = 0,
    device: AnyDevice = None,
) -> tuple[GPUArray[Any], Number | GPUArray[Any]]: ...
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """num evenly spaced numbers from start to stop (before it, if not endpoint).

    start and stop may be arrays: the numbers are then on their device, along a new axis at *axis*.
    retstep: return the distance of neighbours as well."""
    if isinstance(start, (list, tuple, np.ndarray)):
        start = asarray(start, device=stop.device if isinstance(stop, GPUArray) else device)
    if isinstance(start, GPUArray) or isinstance(stop, (GPUArray, list, tuple, np.ndarray)):
        stop = asarray(stop, device=start.device if isinstance(start, GPUArray) else device)
        numpys: Any = np.linspace
        return numpys(start, stop, num, endpoint, retstep, dtype, axis)
    where = as_device(device)
    count = layout.as_shape((num,), "linspace")[0]
    steps = count - 1 if endpoint else count
    step = (stop - start) / steps if steps > 0 else float("nan")
    is_complex = isinstance(start, complex) or isinstance(stop, complex)
    name = "complex floating" if is_complex else "real floating"
    array = where.empty((count,), _dtype(dtype, name, where, "linspace"))
    if array.dtype.kind == "c":
        first, last = complex(start), complex(stop)
        manipulation.linspace_into(array.real, first.real, last.real, endpoint)
        manipulation.linspace_into(array.imag, first.imag, last.imag, endpoint)
    else:
        manipulation.linspace_into(array, start, stop, endpoint)
    return (array, step) if retstep else array


# ---- of arrays


def meshgrid(
    *arrays: ArrayT, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[ArrayT, ...]:
    """Coordinates of a grid, from those along each axis. sparse: with length 1 along the others'
    axes. copy: False for views of the arrays."""
    need_arrays("meshgrid", *arrays)
    found: tuple[ArrayT, ...] = manipulation.meshgrid(arrays, indexing, copy, sparse)
    return found


def tril(m: ArrayT, k: int = 0) -> ArrayT:
    """Zeros above diagonal k of the last two axes."""
    need_arrays("tril", m)
    result: ArrayT = manipulation.triangle(m, k)
    return result


def triu(m: ArrayT, k: int = 0) -> ArrayT:
    """Zeros below diagonal k of the last two axes."""
    need_arrays("triu", m)
    result: ArrayT = manipulation.triangle(m, k, True)
    return result
