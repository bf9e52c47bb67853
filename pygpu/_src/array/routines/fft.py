"""numpy.fft for device arrays: by our own kernels, or by cuFFT if available."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu._src.array import layout, primitives
from pygpu._src.array.fft import replay, transform
from pygpu._src.codegen import dtypes
from pygpu._src.codegen.fastpath import public_functions
from pygpu._src.util.public import publish

from . import fft_library, host_fallback, manipulation

if TYPE_CHECKING:
    from numpy.typing import NDArray

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

# of numbers: host arrays
fftfreq: Callable[..., NDArray[Any]] = np.fft.fftfreq
rfftfreq: Callable[..., NDArray[Any]] = np.fft.rfftfreq

_CHOICES = ("auto", "own", "cufft")


def _choice() -> str:
    choice = os.environ.get("PYGPU_FFT", "auto")
    if choice not in _CHOICES:
        raise ValueError(f"PYGPU_FFT={choice}: it must be one of {', '.join(_CHOICES)}")
    return choice


def _library(choice: str, name: str, a: Any, n: Any, axes: Any, norm: Any, out: Any) -> Any:
    """Return the module that computes this call, or None for our own kernels."""
    if choice == "own" or a.backend.name != "cuda" or a.size == 0:
        return None
    if choice == "auto" and not _suits_library(name, a, n, axes, norm, out):
        return None
    from pygpu._src.runtime.libraries import cufft

    if cufft.LIBRARY.available():
        return cufft
    if choice == "cufft":
        raise RuntimeError("PYGPU_FFT=cufft: cuFFT was not found; docs/arrays/linalg_fft.md")
    return None


def _suits_library(name: str, a: Any, n: Any, axes: Any, norm: Any, out: Any) -> bool:
    """Whether a plan of cuFFT does the whole call, without a copy or a factor, and our kernels
    would need several passes: for such calls it was measured to be faster (benchmarks/fft.py)."""
    if name not in ("fft", "fft2", "fftn", "rfft") or norm not in (None, "backward"):
        return False
    if name[-1] in "2n":
        if not (n is None or _is_plain(n)) or not (axes is None or type(axes) in (tuple, list)):
            return False
        given = range(a.ndim) if axes is None else axes
    else:
        given = (axes,)
        n = None if n is None else (n,)
    positive_axes = [k + a.ndim if type(k) is int and k < 0 else k for k in given]
    count = len(positive_axes)
    if not 0 < count <= 3 or positive_axes != list(range(a.ndim - count, a.ndim)):
        return False
    lengths = a.shape[a.ndim - count :]
    if n is not None and tuple(n) != lengths:
        return False
    if a.dtype.char not in ("fd" if name == "rfft" else "FD"):
        return False
    made = _complex(a.dtype)
    if not fft_library.is_ready(a, positive_axes, a.dtype):
        return False
    if out is not None:
        if not primitives.is_array(out) or not fft_library.is_ready(out, positive_axes, made):
            return False
        if out.base_data is a.base_data:
            return False
    if count > 1 and transform.image_axes(a, positive_axes, made) is not None:
        return False
    return count > 1 or transform.passes_of(a, lengths[0] // (2 if name == "rfft" else 1), made) > 1


def _complex(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype("c8" if dtype.char in "efF" else "c16")


def _real(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the result dtype: NumPy gives float16 for float16 if results are real."""
    return np.dtype({"e": "f2", "f": "f4", "F": "f4"}.get(dtype.char, "f8"))


def _factor(norm: Any, n: int, inverse: bool) -> float:
    """Return the factor of the results."""
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    if norm == "ortho":
        return 1 / float(np.sqrt(n))
    return 1 / n if inverse == (norm != "forward") else 1.0


def _length(n: Any, default: int) -> int:
    length = default if n is None else operator.index(n)
    if length < 1:
        raise ValueError(f"Invalid number of FFT data points ({length}) specified.")
    return length


def _scaled(a: Any, factor: float) -> Any:
    if factor != 1:
        a *= factor
    return a


def _check_out(call: str, out: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if not primitives.is_array(out) or out.shape != shape:
        raise ValueError(f"{call}: out must be an array of shape {shape} on the device")
    if not np.can_cast(dtype, out.dtype, "same_kind"):
        raise TypeError(f"{call}: cannot cast from {dtype} to {out.dtype}")


def _copy_to_out(a: Any, out: Any, call: str) -> Any:
    if out is None or a is out:
        return a
    _check_out(call, out, a.shape, a.dtype)
    _disable_replay()
    out[...] = a
    return out


def _disable_replay() -> None:
    """Do not cache the call, because it launches more than transforms."""
    recorder = replay.current_recorder()
    if recorder is not None:
        recorder.complete = False


# ---- by our own kernels


def _empty_like(a: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Make an array whose axes have the memory order of those of *a*."""
    order = sorted(range(a.ndim), key=lambda k: -abs(a.strides[k]))
    if order == list(range(a.ndim)):
        return primitives.empty(a, shape, dtype)
    strides, step = [0] * a.ndim, dtype.itemsize
    for k in reversed(order):
        strides[k] = step
        step *= max(shape[k], 1)
    return primitives.empty(a, shape, dtype, tuple(strides))


def _is_same_view(a: Any, b: Any) -> bool:
    return a is b or (
        a.offset == b.offset
        and a.shape == b.shape
        and a.strides == b.strides
        and a.dtype == b.dtype
    )


def _result_array(a: Any, shape: tuple[int, ...], dtype: np.dtype[Any], out: Any, call: str) -> Any:
    """Return the array for a transform of *a*: *out*, if kernels can write to it while reading
    *a*."""
    if out is not None:
        _check_out(call, out, shape, dtype)
        fits = out.dtype == dtype and out.backend is a.backend and out._is_aligned
        if fits and (out.base_data is not a.base_data or _is_same_view(a, out)):
            return out
    return _empty_like(a, shape, dtype)


_REQUESTS: dict[str, dict[str, Any]] = {
    "fft": {},
    "ifft": {"inverse": True},
    "rfft": {"kind": "half"},
    "ihfft": {"kind": "half", "conj_out": True},
    "irfft": {"kind": "real", "inverse": True},
    "hfft": {"kind": "real", "inverse": True, "conj_in": True},
}


def _transform_axis(
    name: str,
    a: Any,
    n: int,
    axis: int,
    factor: float,
    out: Any,
    call: str,
    waiting: transform.Waiting | None = None,
) -> Any:
    """Transform one axis; the result is *out* if that is suitable. waiting: see transform()."""
    half, real = name in ("rfft", "ihfft"), name in ("irfft", "hfft")
    dtype = _real(a.dtype) if real else _complex(a.dtype)
    shape = (*a.shape[:axis], n // 2 + 1 if half else n, *a.shape[axis + 1 :])
    dtypes.require(a.backend, call, a.dtype, _complex(a.dtype))
    target = _result_array(a, shape, dtype, out, call)
    if target.size == 0:
        return target
    if a.size == 0:
        _disable_replay()
        primitives.fill(target, 0)
        return target
    if not a._is_aligned:
        _disable_replay()
    options = dict(_REQUESTS[name])
    if a.dtype.kind != "c":
        options["conj_in"] = False
    transform.transform(
        transform.Request(n, **options), a._aligned(), target, axis, factor, waiting
    )
    return target


def _image_axes(steps: list[tuple[str, int, int]], a: Any) -> tuple[int, ...] | None:
    """Return the axes of as many of these steps as one pass can do, if more than one."""
    count = 0
    while count < len(steps) and steps[count][0] in ("fft", "ifft"):
        _, n, axis = steps[count]
        if a.shape[axis] != n:
            break
        count += 1
    for many in range(count, 1, -1):
        found = transform.image_axes(a, [axis for *_, axis in steps[:many]], _complex(a.dtype))
        if found is not None:
            return found
    return None


def _transform_image(
    name: str,
    a: Any,
    axes: tuple[int, ...],
    factor: float,
    out: Any,
    call: str,
    waiting: transform.Waiting | None = None,
) -> Any:
    """Transform several axes in one pass; the result is *out* if that is suitable."""
    dtype = _complex(a.dtype)
    dtypes.require(a.backend, call, a.dtype, dtype)
    target = _result_array(a, a.shape, dtype, out, call)
    if transform.image_axes(target, axes, dtype) != axes:
        target = _empty_like(a, a.shape, dtype)
    n = prod(a.shape[k] for k in axes)
    request = transform.Request(n, **_REQUESTS[name])
    transform.transform_image(request, a, target, axes, factor, waiting)
    return target


def _kernels_1d(name: str, a: Any, n: int, axis: int, factor: float, out: Any) -> Any:
    return _copy_to_out(_transform_axis(name, a, n, axis, factor, out, name), out, name)


def _kernels_nd(name: str, a: Any, lengths: list[int], axes: list[int], norm: Any, out: Any) -> Any:
    kind = name.rstrip("2n")
    pairs = list(zip(lengths, axes, strict=True))
    if kind == "irfft":
        steps = [("ifft", *pair) for pair in pairs[:-1]] + [(kind, *pairs[-1])]
    elif kind == "rfft":
        steps = [(kind, *pairs[-1])] + [("fft", *pair) for pair in reversed(pairs[:-1])]
    else:
        steps = [(kind, *pair) for pair in reversed(pairs)]
    made = None
    # The kernels of all steps are compiled at once.
    waiting = transform.Waiting() if a.backend.name == "cuda" else None
    while steps:
        what, n, axis = steps[0]
        image = _image_axes(steps, a) if a.size else None
        done = 1 if image is None else len(image)
        rest = steps[done:]
        target = made
        if not rest and kind == "irfft":
            target = out
        elif made is None or made.shape[axis] != n:
            shape = (*a.shape[:axis], n // 2 + 1 if what == "rfft" else n, *a.shape[axis + 1 :])
            last = all(shape[k] == m for w, m, k in rest if w != "irfft") and kind != "irfft"
            target = out if last and out is not None and out.shape == shape else None
        factor = prod(_factor(norm, m, what[0] == "i") for _, m, _ in steps[:done])
        if image is None:
            a = made = _transform_axis(what, a, n, axis, factor, target, name, waiting)
        else:
            a = made = _transform_image(what, a, image, factor, target, name, waiting)
        steps = rest
    if waiting is not None:
        waiting.finish()
    return _copy_to_out(made, out, name)


# ---- the functions


def _transform_1d(name: str, lib: Any, a: Any, n: Any, axis: Any, norm: Any, out: Any) -> Any:
    axis = layout.normalize_axis(operator.index(axis), a.ndim)
    real = name in ("irfft", "hfft")
    n = _length(n, 2 * (a.shape[axis] - 1) if real else a.shape[axis])
    factor = _factor(norm, n, name in ("ifft", "irfft", "ihfft"))
    if name in ("rfft", "ihfft") and a.dtype.kind == "c":
        raise TypeError(f"{name}: the input must be real")
    if lib is None:
        return _kernels_1d(name, a, n, axis, factor, out)
    if real:
        if name == "hfft" and a.dtype.kind == "c":
            a = a.conj()
        result = fft_library.to_real(lib, a, n, axis)
        if a.dtype.char == "e":
            result = result.astype(a.dtype)
    else:
        a = fft_library.resized(a, n, axis)
        if name in ("rfft", "ihfft"):
            result = fft_library.from_real(lib, a, axis)
            if name == "ihfft":
                result = result.conj()
        else:
            target = out if factor == 1 else None
            result = fft_library.to_complex(lib, a, [axis], name == "ifft", target)
    return _copy_to_out(_scaled(result, factor), out, name)


def _lengths_and_axes(
    name: str, a: Any, s: Any, axes: Any, real_out: bool
) -> tuple[list[int], list[int]]:
    """Return (lengths, axes) of a transform over several axes."""
    if s is None:
        given = list(range(a.ndim)) if axes is None else [operator.index(k) for k in axes]
        axes = [layout.normalize_axis(k, a.ndim) for k in given]
        lengths = [a.shape[k] for k in axes]
        if real_out and axes:
            lengths[-1] = 2 * (lengths[-1] - 1)
    else:
        lengths = [operator.index(n) for n in s]
        if axes is None:
            axes = range(-len(lengths), 0)
        axes = [layout.normalize_axis(operator.index(k), a.ndim) for k in axes]
        if len(lengths) != len(axes):
            raise ValueError("Shape and axes have different lengths.")
        lengths = [a.shape[k] if n == -1 else n for n, k in zip(lengths, axes, strict=True)]
    for n in lengths:
        _length(n, n)
    return lengths, axes


def _transform_nd(name: str, lib: Any, a: Any, s: Any, axes: Any, norm: Any, out: Any) -> Any:
    kind = name.rstrip("2n")
    lengths, positive_axes = _lengths_and_axes(name, a, s, axes, kind == "irfft")
    whole = kind in ("fft", "ifft")
    if not positive_axes:
        if whole:  # as in NumPy: nothing is transformed
            return a
        raise IndexError(f"{name}: at least one axis is needed")
    factor = _factor(norm, prod(lengths), kind[0] == "i")
    if kind == "rfft" and a.dtype.kind == "c":
        raise TypeError(f"{name}: the input must be real")
    if lib is None:
        return _kernels_nd(name, a, lengths, positive_axes, norm, out)
    pairs = list(zip(lengths, positive_axes, strict=True))
    half = a.dtype.char == "e"
    if kind == "rfft":
        a = fft_library.from_real(lib, fft_library.resized(a, *pairs[-1]), positive_axes[-1])
    rest = pairs if whole else pairs[:-1]
    axes = [axis for _, axis in rest]
    if len(set(positive_axes)) < len(positive_axes):
        # One after another, because each changes the next one's length.
        for n, axis in rest if kind == "irfft" else reversed(rest):
            a = fft_library.resized(a, n, axis)
            a = fft_library.to_complex(lib, a, [axis], kind[0] == "i")
    elif rest:
        for n, axis in rest:
            a = fft_library.resized(a, n, axis)
        target = out if factor == 1 and kind == "fft" else None
        a = fft_library.to_complex(lib, a, axes, kind[0] == "i", target)
    if kind == "irfft":
        a = fft_library.to_real(lib, a, lengths[-1], positive_axes[-1])
        if half and not rest:
            a = a.astype("f2")
    return _copy_to_out(_scaled(a, factor), out, name)


def _is_plain(number: Any) -> bool:
    """Whether it is None, an int, or a sequence of ints, so that equal values are the same
    argument."""
    kind = type(number)
    if kind is tuple or kind is list:
        return all(type(n) is int for n in number)
    return number is None or kind is int


def _replay_or_run(
    compute: Callable[..., Any], name: str, a: Any, n: Any, axes: Any, norm: Any, out: Any
) -> Any:
    """Call the function with this name; repeats cached launches if there are any."""
    choice = _choice()
    if dtypes.is_of_ml_dtypes(a.dtype) and dtypes.is_narrow(a.dtype):
        a = primitives.astype(a, np.dtype(np.float32))
    if not a.backend.transforms:
        return host_fallback.compute(a, getattr(np.fft, name), a, n, axes, norm, out=out)
    key = found = None
    if _is_plain(n) and _is_plain(axes) and (norm is None or type(norm) is str):
        if type(n) is list:
            n = tuple(n)
        if type(axes) is list:
            axes = tuple(axes)
        if choice != "cufft" and (out is None or primitives.is_array(out)):
            key = replay.key_of((name, n, axes, norm, choice, transform.generation()), a, out)
        found = None if key is None else replay.replay(key, a, out)
    if found is not None:
        return found
    library = _library(choice, name, a, n, axes, norm, out)
    if library is not None:
        return compute(name, library, a, n, axes, norm, out)
    if key is None:
        return compute(name, None, a, n, axes, norm, out)
    with replay.Recorder(key, a) as recorder:
        result = compute(name, None, a, n, axes, norm, out)
        recorder.keep(result, out is None)
    return result


def _make_function(name: str) -> Any:
    function = getattr(np.fft, name)
    text = (function.__doc__ or "").strip().partition("\n")[0]
    several = name[-1] in "2n"

    def one(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
        return _replay_or_run(_transform_1d, name, a, n, axis, norm, out)

    def many(
        a: Any,
        s: Any = None,
        axes: Any = (-2, -1) if name[-1] == "2" else None,
        norm: Any = None,
        out: Any = None,
    ) -> Any:
        return _replay_or_run(_transform_nd, name, a, s, axes, norm, out)

    made: Callable[..., Any] = many if several else one
    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"numpy.fft.{name}: {text}"
    return made


fft: Transform = _make_function("fft")
ifft: Transform = _make_function("ifft")
rfft: Transform = _make_function("rfft")
irfft: RealTransform = _make_function("irfft")
hfft: RealTransform = _make_function("hfft")
ihfft: Transform = _make_function("ihfft")
fft2: TransformN = _make_function("fft2")
ifft2: TransformN = _make_function("ifft2")
rfft2: TransformN = _make_function("rfft2")
irfft2: RealTransformN = _make_function("irfft2")
fftn: TransformN = _make_function("fftn")
ifftn: TransformN = _make_function("ifftn")
rfftn: TransformN = _make_function("rfftn")
irfftn: RealTransformN = _make_function("irfftn")


def _axes(a: Any, axes: Any) -> tuple[int, ...]:
    if axes is None:
        return tuple(range(a.ndim))
    return (int(axes),) if isinstance(axes, (int, np.integer)) else tuple(axes)


def fftshift(x: Any, axes: Any = None) -> Any:
    """Implement numpy.fft.fftshift: move frequency zero to the middle."""
    along = _axes(x, axes)
    return manipulation.roll(x, tuple(x.shape[k] // 2 for k in along), along)


def ifftshift(x: Any, axes: Any = None) -> Any:
    """Implement numpy.fft.ifftshift: the inverse of fftshift()."""
    along = _axes(x, axes)
    return manipulation.roll(x, tuple(-(x.shape[k] // 2) for k in along), along)


def table() -> dict[Any, Callable[..., Any]]:
    """Return NumPy's functions and their implementations here."""
    return {getattr(np.fft, name): globals()[name] for name in __all__ if not name.endswith("freq")}


publish(globals(), __all__, "pygpu.fft")
public_functions(globals(), __all__)
