"""The standard's products, and NumPy's einsum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from pygpu._src.array import gufunc
from pygpu._src.array import matmul as _matmul
from pygpu._src.array.routines import einsum as _einsum

from ._arguments import need_arrays
from ._manipulation import matrix_transpose

if TYPE_CHECKING:
    from ._types import GPUArray, NumberT

__all__ = ["einsum", "matmul", "matrix_transpose", "tensordot", "vecdot"]


@overload
def matmul(x1: NumberT, x2: NumberT, /, out: None = None) -> NumberT: ...
@overload
def matmul(
    x1: GPUArray[Any], x2: GPUArray[Any], /, out: GPUArray[Any] | None = None, **options: Any
) -> GPUArray[Any]: ...
def matmul(x1: Any, x2: Any, /, out: Any = None, **options: Any) -> Any:
    """Products of vectors, matrices, and stacks of them."""
    need_arrays("matmul", x1, x2)
    if out is not None or options:
        numpys: Any = np.matmul
        return numpys(x1, x2, out=out, **options)
    return _matmul.matmul(x1, x2)


@overload
def tensordot(
    a: NumberT, b: NumberT, axes: int | tuple[Sequence[int], Sequence[int]] = 2
) -> NumberT: ...
@overload
def tensordot(
    a: GPUArray[Any], b: GPUArray[Any], axes: int | tuple[Sequence[int], Sequence[int]] = 2
) -> GPUArray[Any]: ...
def tensordot(a: Any, b: Any, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Any:
    """Sums of products over axes."""
    need_arrays("tensordot", a, b)
    return _matmul.tensordot(a, b, axes)


@overload
def vecdot(x1: NumberT, x2: NumberT, /, out: None = None, *, axis: int = -1) -> NumberT: ...
@overload
def vecdot(
    x1: GPUArray[Any],
    x2: GPUArray[Any],
    /,
    out: GPUArray[Any] | None = None,
    *,
    axis: int = -1,
    **options: Any,
) -> GPUArray[Any]: ...
def vecdot(x1: Any, x2: Any, /, out: Any = None, *, axis: int = -1, **options: Any) -> Any:
    """Sums of conj(x1) * x2 along an axis."""
    need_arrays("vecdot", x1, x2)
    if out is not None or options:
        numpys: Any = np.vecdot
        return numpys(x1, x2, out=out, axis=axis, **options)
    return gufunc.vecdot(x1, x2, axis=axis)


def einsum(
    subscripts: Any,
    *operands: Any,
    out: Any = None,
    optimize: bool | str = True,
    **options: Any,
) -> GPUArray[Any]:
    """Einstein's sums, as numpy.einsum: ``einsum("ij,jk->ik", a, b)``. Not part of the standard."""
    result: GPUArray[Any]
    if options:  # dtype, order, casting
        numpys: Any = np.einsum
        result = numpys(subscripts, *operands, out=out, optimize=optimize, **options)
    else:
        result = _einsum.einsum(subscripts, *operands, out=out, optimize=optimize)
    return result
