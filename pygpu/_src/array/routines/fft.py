"""numpy.fft for arrays on a device: by cuFFT where it is there, else by NumPy on the host."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu._src.array import layout, primitives

from . import host_fallback, manipulation

if TYPE_CHECKING:
    from .fft_types import RealTransform, RealTransformN, Transform, TransformN

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

fftfreq, rfftfreq = np.fft.fftfreq, np.fft.rfftfreq  # of numbers: host arrays


def _library(a: Any) -> Any:
    """The module that transforms arrays like this one, or None."""
    if a.backend.name != "cuda" or a.size == 0:
        return None
    from pygpu._src.runtime.libraries import cufft

    return cufft if cufft.LIBRARY.available() else None


def _complex(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype("c8" if dtype.char in "efF" else "c16")


def _factor(norm: Any, n: int, inverse: bool) -> float:
    """What results are multiplied by."""
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    if norm == "ortho":
        factor: float = 1 / np.sqrt(n)
        return factor
    return 1 / n if inverse == (norm != "forward") else 1.0


def _length(n: Any, default: int) -> int:
    length = default if n is None else operator.index(n)
    if length < 1:
        raise ValueError(f"Invalid number of FFT data points ({length}) specified.")
    return length


def _resized(a: Any, n: int, axis: int) -> Any:
    """Cut, or filled up with zeros, to n items along an axis."""
    have = a.shape[axis]
    if have == n:
        return a
    key = (slice(None),) * axis
    if have > n:
        return a[(*key, slice(n))]
    new = primitives.empty(a, (*a.shape[:axis], n, *a.shape[axis + 1 :]), a.dtype)
    primitives.fill(new, 0)
    new[(*key, slice(have))] = a
    return new


def _halved(a: Any, result: Any) -> Any:
    """Of float16 NumPy makes float16 where results are real."""
    return result.astype(a.dtype) if a.dtype.char == "e" else result


def _scaled(a: Any, factor: float) -> Any:
    if factor != 1:
        a *= factor
    return a


def _placed(a: Any, out: Any, call: str) -> Any:
    if out is None:
        return a
    if not primitives.is_array(out) or out.shape != a.shape:
        raise ValueError(f"{call}: out must be an array of shape {a.shape} on the device")
    if not np.can_cast(a.dtype, out.dtype, "same_kind"):
        raise TypeError(f"{call}: cannot cast from {a.dtype} to {out.dtype}")
    out[...] = a
    return out


def _last(a: Any, axes: Sequence[int], dtype: np.dtype[Any]) -> Any:
    """A copy in C order, of a dtype, with these axes behind the others; it may be overwritten."""
    rest = [k for k in range(a.ndim) if k not in axes]
    order = [*rest, *axes]
    view = a._view(tuple(a.shape[k] for k in order), tuple(a.strides[k] for k in order), a.offset)
    copy = primitives.empty(a, view.shape, dtype)
    copy._copy_from(view)
    return copy


def _back(a: Any, axes: Sequence[int]) -> Any:
    """A view with the last axes where they were."""
    rest = [k for k in range(a.ndim) if k not in axes]
    order = np.argsort([*rest, *axes]).tolist()
    return a._view(tuple(a.shape[k] for k in order), tuple(a.strides[k] for k in order), a.offset)


def _to_complex(lib: Any, a: Any, axes: Sequence[int], inverse: bool) -> Any:
    """Complex transforms along different axes, three at a time."""
    dtype = _complex(a.dtype)
    for start in range(0, len(axes), 3):
        part = axes[start : start + 3]
        source = _last(a, part, dtype)
        lib.transform(source, source, len(part), inverse)
        a = _back(source, part)
    return a


def _from_real(lib: Any, a: Any, axis: int) -> Any:
    dtype = _complex(a.dtype)
    source = _last(a, [axis], np.dtype(dtype.char.lower()))
    n = source.shape[-1]
    result = primitives.empty(a, (*source.shape[:-1], n // 2 + 1), dtype)
    lib.transform(source, result, 1)
    return _back(result, [axis])


def _to_real(lib: Any, a: Any, n: int, axis: int) -> Any:
    dtype = _complex(a.dtype)
    source = _last(_resized(a, n // 2 + 1, axis), [axis], dtype)
    source.imag[..., 0] = 0  # as NumPy takes it
    if n % 2 == 0:
        source.imag[..., -1] = 0
    result = primitives.empty(a, (*source.shape[:-1], n), np.dtype(dtype.char.lower()))
    lib.transform(source, result, 1)
    return _back(result, [axis])


def _one(name: str, lib: Any, a: Any, n: Any, axis: Any, norm: Any, out: Any) -> Any:
    axis = layout.normalize_axis(operator.index(axis), a.ndim)
    if name in ("irfft", "hfft"):
        n = _length(n, 2 * (a.shape[axis] - 1))
        factor = _factor(norm, n, name == "irfft")
        if name == "hfft" and a.dtype.kind == "c":
            a = a.conj()
        result = _halved(a, _to_real(lib, a, n, axis))
    else:
        n = _length(n, a.shape[axis])
        inverse = name in ("ifft", "ihfft")
        factor = _factor(norm, n, inverse)
        a = _resized(a, n, axis)
        if name in ("rfft", "ihfft"):
            if a.dtype.kind == "c":
                raise TypeError(f"{name}: the input must be real")
            result = _from_real(lib, a, axis)
            if name == "ihfft":
                result = result.conj()
        else:
            result = _to_complex(lib, a, [axis], inverse)
    return _placed(_scaled(result, factor), out, name)


def _sizes(name: str, a: Any, s: Any, axes: Any, real_out: bool) -> tuple[list[int], list[int]]:
    """(lengths, axes) of a transform over several axes."""
    if s is None:
        given = list(range(a.ndim)) if axes is None else [operator.index(k) for k in axes]
        axes = [layout.normalize_axis(k, a.ndim) for k in given]
        lengths = [a.shape[k] for k in axes]
        if real_out and axes:
            lengths[-1] = 2 * (lengths[-1] - 1)
    else:
        lengths = [operator.index(n) for n in s]
        if axes is None:
            axes = list(range(a.ndim - len(lengths), a.ndim))
        axes = [layout.normalize_axis(operator.index(k), a.ndim) for k in axes]
        if len(lengths) != len(axes):
            raise ValueError("Shape and axes have different lengths.")
        lengths = [a.shape[k] if n == -1 else n for n, k in zip(lengths, axes, strict=True)]
    for n in lengths:
        _length(n, n)
    return lengths, axes


def _many(name: str, lib: Any, a: Any, s: Any, axes: Any, norm: Any, out: Any) -> Any:
    kind = name.rstrip("2n")
    lengths, places = _sizes(name, a, s, axes, kind == "irfft")
    if not places:
        raise IndexError(f"{name}: at least one axis is needed")
    factor = _factor(norm, prod(lengths), kind[0] == "i")
    if kind == "rfft" and a.dtype.kind == "c":
        raise TypeError(f"{name}: the input must be real")
    whole = kind in ("fft", "ifft")
    pairs = list(zip(lengths, places, strict=True))
    if kind == "rfft":
        a = _from_real(lib, _resized(a, *pairs[-1]), places[-1])
    rest = pairs if whole else pairs[:-1]
    axes = [axis for _, axis in rest]
    if len(set(places)) < len(places):  # one after the other, as each changes the next one's length
        for n, axis in rest if kind == "irfft" else reversed(rest):
            a = _to_complex(lib, _resized(a, n, axis), [axis], kind[0] == "i")
    elif rest:
        for n, axis in rest:
            a = _resized(a, n, axis)
        a = _to_complex(lib, a, axes, kind[0] == "i")
    if kind == "irfft":
        a = _halved(a, _to_real(lib, a, lengths[-1], places[-1]))
    return _placed(_scaled(a, factor), out, name)


def _function(name: str) -> Any:
    function = getattr(np.fft, name)
    text = (function.__doc__ or "").strip().partition("\n")[0]
    several = name[-1] in "2n"

    def one(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
        lib = _library(a)
        if lib is None:
            return host_fallback.compute(a, function, a, n=n, axis=axis, norm=norm, out=out)
        return _one(name, lib, a, n, axis, norm, out)

    def many(
        a: Any,
        s: Any = None,
        axes: Any = (-2, -1) if name[-1] == "2" else None,
        norm: Any = None,
        out: Any = None,
    ) -> Any:
        lib = _library(a)
        if lib is None:
            return host_fallback.compute(a, function, a, s=s, axes=axes, norm=norm, out=out)
        return _many(name, lib, a, s, axes, norm, out)

    made: Callable[..., Any] = many if several else one
    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"numpy.fft.{name}: {text}"
    return made


fft: Transform = _function("fft")
ifft: Transform = _function("ifft")
rfft: Transform = _function("rfft")
irfft: RealTransform = _function("irfft")
hfft: RealTransform = _function("hfft")
ihfft: Transform = _function("ihfft")
fft2: TransformN = _function("fft2")
ifft2: TransformN = _function("ifft2")
rfft2: TransformN = _function("rfft2")
irfft2: RealTransformN = _function("irfft2")
fftn: TransformN = _function("fftn")
ifftn: TransformN = _function("ifftn")
rfftn: TransformN = _function("rfftn")
irfftn: RealTransformN = _function("irfftn")


def _axes(a: Any, axes: Any) -> tuple[int, ...]:
    if axes is None:
        return tuple(range(a.ndim))
    return (int(axes),) if isinstance(axes, (int, np.integer)) else tuple(axes)


def fftshift(x: Any, axes: Any = None) -> Any:
    """numpy.fft.fftshift: the frequency zero in the middle."""
    along = _axes(x, axes)
    return manipulation.roll(x, tuple(x.shape[k] // 2 for k in along), along)


def ifftshift(x: Any, axes: Any = None) -> Any:
    """numpy.fft.ifftshift: the inverse of fftshift()."""
    along = _axes(x, axes)
    return manipulation.roll(x, tuple(-(x.shape[k] // 2) for k in along), along)


def table() -> dict[Any, Callable[..., Any]]:
    """NumPy's functions, and what computes them here."""
    return {getattr(np.fft, name): globals()[name] for name in __all__ if not name.endswith("freq")}
