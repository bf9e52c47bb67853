"""The standard's extension fft: NumPy's functions on device arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from pygpu._src.array.device import Device, as_device
from pygpu._src.codegen import dtypes
from pygpu._src.util.lazy import lazy
from pygpu._src.util.overloads import overloads_of

from ._arguments import need_arrays
from ._creation import arange, empty
from ._dtypes import default_dtype

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from ._types import (
        AnyDevice,
        ArrayT,
        DType,
        Floating,
        GPUArray,
        RealTransform,
        RealTransformN,
        ScalarT,
        Transform,
        TransformN,
    )

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]


def _one(name: str, text: str, real: bool = False) -> Any:
    def function(
        a: Any,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = "backward",
        out: Any = None,
    ) -> Any:
        need_arrays(name, a)
        return _single(a, getattr(np.fft, name)(a, n=n, axis=axis, norm=norm, out=out), real)

    return _named(function, name, text)


def _many(name: str, text: str, real: bool = False) -> Any:
    def function(
        a: Any,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: str | None = "backward",
        out: Any = None,
    ) -> Any:
        need_arrays(name, a)
        if s is not None and axes is None:
            axes = tuple(range(-len(s), 0))
        return _single(a, getattr(np.fft, name)(a, s=s, axes=axes, norm=norm, out=out), real)

    return _named(function, name, text)


def _two(name: str, text: str, real: bool = False) -> Any:
    def function(
        a: Any,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = (-2, -1),
        norm: str | None = "backward",
        out: Any = None,
    ) -> Any:
        need_arrays(name, a)
        return _single(a, getattr(np.fft, name)(a, s=s, axes=axes, norm=norm, out=out), real)

    return _named(function, name, text)


def _named(function: Callable[..., Any], name: str, text: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__module__ = "pygpu.xp.fft"
    function.__doc__ = text
    return function


def _single(x: Any, result: Any, real: bool) -> Any:
    """In the precision of x, if it has floating numbers."""
    if x.dtype.kind not in "fc":
        return result
    size = x.dtype.itemsize * (2 if x.dtype.kind == "f" else 1) // (2 if real else 1)
    size = size if real else max(size, 8)  # there are no complex numbers of halves
    return result.astype(np.dtype(f"{'f' if real else 'c'}{size}"), copy=False)


fft: Transform = _one("fft", "Discrete Fourier transforms along an axis.")
ifft: Transform = _one("ifft", "Inverse transforms along an axis.")
rfft: Transform = _one("rfft", "The first half of the transforms of real numbers.")
irfft: RealTransform = _one("irfft", "Real numbers from the first half of their transforms.", True)
hfft: RealTransform = _one(
    "hfft", "Transforms, which are real, of the first half of Hermitian data.", True
)
ihfft: Transform = _one("ihfft", "The inverse of hfft().")
fft2: TransformN = _two("fft2", "Transforms over two axes, the last ones by default.")
ifft2: TransformN = _two("ifft2", "Inverse transforms over two axes.")
rfft2: TransformN = _two("rfft2", "The first half of the transforms of real numbers.")
irfft2: RealTransformN = _two(
    "irfft2", "Real numbers from the first half of their transforms over two axes.", True
)
fftn: TransformN = _many("fftn", "Transforms over axes.")
ifftn: TransformN = _many("ifftn", "Inverse transforms over axes.")
rfftn: TransformN = _many("rfftn", "The first half of the transforms of real numbers over axes.")
irfftn: RealTransformN = _many(
    "irfftn", "Real numbers from the first half of their transforms.", True
)


def _frequency_dtype(dtype: Any, device: Device) -> np.dtype[Any]:
    if dtype is None:
        return default_dtype("real floating", device)
    kind = dtypes.native(dtype)
    if kind.kind != "f":
        raise TypeError(f"frequencies need a real floating dtype, not {kind}")
    return kind


@overload
def fftfreq(
    n: int, d: float = 1.0, *, dtype: None = None, device: AnyDevice = None
) -> Floating: ...
@overload
def fftfreq(
    n: int, d: float = 1.0, *, dtype: DType[ScalarT], device: AnyDevice = None
) -> GPUArray[ScalarT]: ...
@overload
def fftfreq(
    n: int, d: float = 1.0, *, dtype: DTypeLike | None = None, device: AnyDevice = None
) -> GPUArray[Any]: ...
def fftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None) -> Any:
    """The frequencies of the n items of a transform; d: the distance of samples."""
    where = as_device(device)
    kind = _frequency_dtype(dtype, where)
    found = empty((n,), dtype=kind, device=where)
    half = (n - 1) // 2 + 1
    found[:half] = arange(0, half, dtype=kind, device=where)
    if n > half:
        found[half:] = arange(-(n // 2), 0, dtype=kind, device=where)
    return found / (n * d)


@overloads_of(fftfreq)
def rfftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None) -> Any:
    """The frequencies of the items of rfft(); d: the distance of samples."""
    where = as_device(device)
    kind = _frequency_dtype(dtype, where)
    return arange(0, n // 2 + 1, dtype=kind, device=where) / (n * d)


def fftshift(x: ArrayT, axes: int | Sequence[int] | None = None) -> ArrayT:
    """The frequency zero in the middle."""
    need_arrays("fftshift", x)
    result: ArrayT = lazy("pygpu._src.array.routines.fft").fftshift(x, axes)
    return result


def ifftshift(x: ArrayT, axes: int | Sequence[int] | None = None) -> ArrayT:
    """The inverse of fftshift()."""
    need_arrays("ifftshift", x)
    result: ArrayT = lazy("pygpu._src.array.routines.fft").ifftshift(x, axes)
    return result
