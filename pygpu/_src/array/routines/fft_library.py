"""Fourier transforms by cuFFT: copies whose last axes are transformed, and views of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pygpu._src.array import layout, primitives


def _complex(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype("c8" if dtype.char in "efF" else "c16")


def resized(a: Any, n: int, axis: int) -> Any:
    """Truncate, or pad with zeros, to n items along an axis."""
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


def _last(a: Any, axes: Sequence[int], dtype: np.dtype[Any]) -> Any:
    """Make a copy in C order, of a dtype, with these axes last; it may be overwritten."""
    rest = [k for k in range(a.ndim) if k not in axes]
    order = [*rest, *axes]
    view = a._view(tuple(a.shape[k] for k in order), tuple(a.strides[k] for k in order), a.offset)
    copy = primitives.empty(a, view.shape, dtype)
    copy._copy_from(view)
    return copy


def _back(a: Any, axes: Sequence[int]) -> Any:
    """Return a view with the last axes moved back."""
    rest = [k for k in range(a.ndim) if k not in axes]
    order = np.argsort([*rest, *axes]).tolist()
    return a._view(tuple(a.shape[k] for k in order), tuple(a.strides[k] for k in order), a.offset)


def is_ready(a: Any, axes: Sequence[int], dtype: np.dtype[Any]) -> bool:
    """Whether the library can read the array in place, because all functions except to_real() do
    not modify it."""
    last_axes = list(range(a.ndim - len(axes), a.ndim))
    contiguous = layout.flags(a.shape, a.strides, a.itemsize)[0]
    return bool(a.dtype == dtype and list(axes) == last_axes and contiguous and a._is_aligned)


def to_complex(lib: Any, a: Any, axes: Sequence[int], inverse: bool, out: Any = None) -> Any:
    """Compute complex transforms along different axes, three at a time; into *out* if that is
    suitable."""
    dtype = _complex(a.dtype)
    for start in range(0, len(axes), 3):
        part = axes[start : start + 3]
        if is_ready(a, part, dtype):
            source, target = a, None
            ready = out is not None and out.shape == a.shape and is_ready(out, part, dtype)
            if ready and out.base_data is not a.base_data and start + 3 >= len(axes):
                target = out
            if target is None:
                target = primitives.empty(a, a.shape, dtype)
        else:
            source = target = _last(a, part, dtype)
        lib.transform(source, target, len(part), inverse)
        a = target if target is out else _back(target, part)
    return a


def from_real(lib: Any, a: Any, axis: int) -> Any:
    dtype = _complex(a.dtype)
    real = np.dtype(dtype.char.lower())
    source = a if is_ready(a, [axis], real) else _last(a, [axis], real)
    n = source.shape[-1]
    result = primitives.empty(a, (*source.shape[:-1], n // 2 + 1), dtype)
    lib.transform(source, result, 1)
    return _back(result, [axis])


def to_real(lib: Any, a: Any, n: int, axis: int) -> Any:
    dtype = _complex(a.dtype)
    source = _last(resized(a, n // 2 + 1, axis), [axis], dtype)
    source.imag[..., 0] = 0  # as in NumPy
    if n % 2 == 0:
        source.imag[..., -1] = 0
    result = primitives.empty(a, (*source.shape[:-1], n), np.dtype(dtype.char.lower()))
    lib.transform(source, result, 1)
    return _back(result, [axis])
