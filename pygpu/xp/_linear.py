"""The standard's products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pygpu._src.array import gufunc
from pygpu._src.array import matmul as _matmul

from ._arguments import need_arrays
from ._manipulation import matrix_transpose

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]


def matmul(x1: Any, x2: Any, /) -> Any:
    """Products of vectors, matrices, and stacks of them."""
    need_arrays("matmul", x1, x2)
    return _matmul.matmul(x1, x2)


def tensordot(x1: Any, x2: Any, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Any:
    """Sums of products over axes."""
    need_arrays("tensordot", x1, x2)
    return _matmul.tensordot(x1, x2, axes)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Sums of conj(x1) * x2 along an axis."""
    need_arrays("vecdot", x1, x2)
    return gufunc.vecdot(x1, x2, axis=axis)
