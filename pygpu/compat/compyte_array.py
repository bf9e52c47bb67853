"""Strides and dtypes as in PyOpenCL's and PyCUDA's module compyte.array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from pygpu._src.array.layout import c_strides, f_strides, flags
from pygpu._src.array.shaping import Flags

__all__ = [
    "ArrayFlags",
    "as_strided",
    "c_contiguous_strides",
    "equal_strides",
    "f_contiguous_strides",
    "get_common_dtype",
    "is_c_contiguous_strides",
    "is_f_contiguous_strides",
]


def c_contiguous_strides(itemsize: int, shape: Sequence[int]) -> tuple[int, ...]:
    """Strides [bytes] of an array in C order; axes of length 0 count as those of length 1."""
    return c_strides(tuple(shape), itemsize)


def f_contiguous_strides(itemsize: int, shape: Sequence[int]) -> tuple[int, ...]:
    """Strides [bytes] of an array in Fortran order; axes of length 0 count as those of length 1."""
    return f_strides(tuple(shape), itemsize)


def equal_strides(a: Sequence[int], b: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether both strides lead to the same items of an array of that shape."""
    if len(a) != len(b) or len(a) != len(shape):
        return False
    return all(m == n or length <= 1 for m, n, length in zip(a, b, shape, strict=True))


def is_c_contiguous_strides(strides: Sequence[int], itemsize: int, shape: Sequence[int]) -> bool:
    """Whether the items lie in C order, without gaps."""
    return equal_strides(strides, c_contiguous_strides(itemsize, shape), shape)


def is_f_contiguous_strides(strides: Sequence[int], itemsize: int, shape: Sequence[int]) -> bool:
    """Whether the items lie in Fortran order, without gaps."""
    return equal_strides(strides, f_contiguous_strides(itemsize, shape), shape)


class ArrayFlags(Flags):
    """c_contiguous, f_contiguous and forc of anything that has shape, strides and dtype."""

    def __init__(self, ary: Any) -> None:
        super().__init__(*flags(tuple(ary.shape), tuple(ary.strides), ary.dtype.itemsize))


def get_common_dtype(obj1: Any, obj2: Any, allow_double: bool) -> np.dtype[Any]:
    """The common dtype of both arrays; in single precision unless *allow_double*."""
    common = np.result_type(obj1.dtype, obj2.dtype)
    single = {np.dtype(np.float64): np.float32, np.dtype(np.complex128): np.complex64}
    return common if allow_double else np.dtype(single.get(common, common))
