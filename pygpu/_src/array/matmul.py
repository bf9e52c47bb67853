"""Products of matrices and tensors: matmul, tensordot, outer, trace, diagonal.

All use our own kernel, tiled through local memory, for all dtypes with which a device computes;
integers wrap around as in NumPy, and for bools, products are "and" and sums are "or".
"""

from __future__ import annotations

import operator
from math import prod
from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes
from pygpu._src.runtime import kernel_cache
from pygpu._src.runtime.libraries.layouts import layout_of

from . import elementwise, launch_cache, layout, precision, primitives, products, ufuncs
from .reduction import reduce

Shape = tuple[int, ...]


def _cache_launches(given: tuple[Any, Any], target: Any, steps: Any, scratch: Any) -> None:
    """Cache the launches of a product for C."""
    memory = tuple((np.dtype(np.uint8), nbytes) for nbytes in scratch)

    def add() -> None:
        made = tuple((kernel_cache.compiled(kernel), *more) for kernel, *more in steps)
        target.backend.table.plans.add("matmul", 0, given, None, target, made, memory)

    waits = [kernel for kernel, *_ in steps if kernel_cache.is_compiling(kernel)]
    if waits:
        waits[-1].call_when_launched(add)
    else:
        add()


def _check_operands(a: Any, b: Any) -> None:
    if not (primitives.is_array(a) and primitives.is_array(b)):
        raise ValueError("matmul: both operands must be arrays on the device")
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError(
            "matmul: Input operand does not have enough dimensions (has 0, and 1 is needed)"
        )
    ufuncs.same_device("matmul", [a, b])


def _check_out(out: Any, shape: Shape, number: np.dtype[Any]) -> None:
    if not primitives.is_array(out) or out.shape != shape:
        raise ValueError(f"matmul: out must be an array of shape {shape} on the device")
    layout.check_writable(out, "matmul")
    if not np.can_cast(number, out.dtype, "same_kind"):
        raise TypeError(f"matmul: cannot cast from {number} to {out.dtype} with rule 'same_kind'")


def matmul(a: Any, b: Any, out: Any = None) -> Any:
    """Compute ``a @ b`` as numpy.matmul: of vectors, matrices, and stacks of them that broadcast.

    Raises ValueError for numbers and for shapes that do not fit.
    """
    if out is None:
        cached = launch_cache.run_cached("matmul", a, b)
        if cached is not None:
            return cached
    _check_operands(a, b)
    given = (a, b)
    a, b = a._aligned(), b._aligned()
    number = np.result_type(a.dtype, b.dtype)
    left = a if a.ndim > 1 else primitives.reshape(a, (1, a.size))
    right = b if b.ndim > 1 else primitives.reshape(b, (b.size, 1))
    if left.shape[-1] != right.shape[-2]:
        raise ValueError(
            f"matmul: shapes {a.shape} and {b.shape}: the axes that are summed over have different "
            f"lengths, {left.shape[-1]} and {right.shape[-2]}"
        )
    stack = layout.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    full = (*stack, left.shape[-2], right.shape[-1])
    shape = full
    if b.ndim == 1:
        shape = shape[:-1]
    if a.ndim == 1:
        shape = (*shape[: len(stack)], *shape[len(stack) + 1 :])
    if out is not None:
        _check_out(out, shape, number)
    target = primitives.empty(a, shape, number) if out is None else out
    shared = out is not None and (
        any(out.base_data is x.base_data for x in (a, b)) or not out._is_aligned
    )
    if shared:
        target = primitives.empty(a, shape, out.dtype)
    view = target
    if shape != full:
        strides = list(target.strides)
        if a.ndim == 1:
            strides.insert(len(stack), 0)
        if b.ndim == 1:
            strides.append(0)
        view = target._view(full, tuple(strides), target.offset)
    again = _product(left, right, number, view)
    if again is not None and out is None and a is given[0] and b is given[1]:
        _cache_launches(given, target, *again)
    if view is not target:
        target.events = view.events
    if shared:
        out._copy_from(target)
        return out
    return target


def _product(a: Any, b: Any, number: np.dtype[Any], out: Any) -> products.Again | None:
    """Returns the steps that repeat it, if no library could be used."""
    dtypes.require(a.backend, "matmul", a.dtype, b.dtype, number)
    if out.size == 0:
        return None
    if a.shape[-1] == 0:
        primitives.fill(out, 0)
        return None
    wanted = precision.asked()
    library = _library(a, number, out)
    if library is not None and _by_library(library, a, b, number, out, wanted):
        return None
    again = products.product(a, b, number, out)
    return again if library is None else None


_MIN_LIBRARY_PRODUCTS = 1 << 15  # of fewer multiplications, calling a library costs more


def _library(a: Any, number: np.dtype[Any], out: Any) -> Any:
    """Return cuBLAS or CLBlast, if available and able to compute such a product; else None."""
    backend = out.backend
    if dtypes.kind(number) not in "fc" or out.size * a.shape[-1] < _MIN_LIBRARY_PRODUCTS:
        return None
    if out.dtype != number and not (dtypes.is_narrow(number) and out.dtype == np.float32):
        return None
    lib: Any
    if backend.name == "cuda":
        if _is_faster_than_cublas(number, out.shape, a.shape[-1]):
            return None
        from pygpu._src.runtime.libraries import cublas as lib
    else:
        from pygpu._src.runtime.libraries import clblast as lib

        if out.dtype != number or number.char not in "fd" or not lib.usable(backend):
            return None
    return lib if lib.LIBRARY.available() else None


def _is_faster_than_cublas(number: np.dtype[Any], shape: Shape, k: int) -> bool:
    """Whether pygpu's kernels were measured to be faster (benchmarks/linalg.py on an H100): for
    float32, few rows or columns, or stacks of small matrices. With a vector, the host's time for
    the library call alone exceeds most products."""
    m, n = shape[-2:]
    if number.char != "f":
        return False
    return min(m, n) <= 64 or (len(shape) > 2 and max(m, n, k) <= 128)


def _by_library(lib: Any, a: Any, b: Any, number: np.dtype[Any], out: Any, wanted: str) -> bool:
    """Compute the product by a library, if it can."""
    if dtypes.is_narrow(number) and number.itemsize == 1:  # float16 represents these exactly
        number, result = np.dtype(np.float16), out
        if out.dtype != np.float32:
            out = primitives.empty(out, out.shape, np.float32)
        done = _by_library(lib, a, b, number, out, wanted)
        if done and result is not out:
            result._copy_from(out)
        return done
    operands = []
    for x in (a, b):
        x = primitives.astype(x, number)
        if layout_of(x.shape[-2:], x.strides[-2:], x.itemsize) is None:
            x = primitives.c_order(x)
        operands.append(x)
    a, b = operands
    if out.backend.name != "cuda" or number.char not in "fF" or wanted == "highest":
        return _call_library(lib, a, b, out)
    if wanted != "bf16x3":
        return _call_library(lib, a, b, out, precision=wanted)
    if number.char == "F":
        return _call_library(lib, a, b, out)
    (a, a_low), (b, b_low) = _split(a), _split(b)
    return (  # small ones first; that of the second parts would be below the last bit
        _call_library(lib, a_low, b, out)
        and _call_library(lib, a, b_low, out, add=True)
        and _call_library(lib, a, b, out, add=True)
    )


def _call_library(lib: Any, a: Any, b: Any, out: Any, **options: Any) -> bool:
    """Compute a library's product of stacks of matrices that broadcast, if it can."""
    stack = out.shape[:-2]
    batch, steps = layout.collapse(
        stack,
        layout.broadcast_strides(a.shape[:-2], a.strides[:-2], stack),
        layout.broadcast_strides(b.shape[:-2], b.strides[:-2], stack),
        out.strides[:-2],
    )
    return bool(lib.product(a, b, out, batch, steps, **options))


# The bits of two bfloat16 numbers: the nearest to a float32 (or the largest), and the remainder.
_SPLIT = """\
pg_u16 high = pg_to_f16b(x0);
if ((high & 0x7fff) == 0x7f80 && isfinite(x0)) high = (pg_u16)(PG_BITS_F32(x0) >> 16);
y0 = high;
y1 = (pg_u16)(isfinite(x0) ? pg_to_f16b(x0 - pg_from_f16b(high)) : 0);"""


def _split(x: Any) -> list[Any]:
    """Return two arrays of bits of bfloat16, without the ml_dtypes package; their sums have 16
    bits of x."""
    bits = np.dtype(np.uint16)
    operation = elementwise.Operation(
        "split_bf16", (x.dtype,), (bits, bits), _SPLIT, features=frozenset({"f16b"})
    )
    return ufuncs.apply(operation, [x], [None, None])


def outer(a: Any, b: Any, out: Any = None) -> Any:
    """Implement numpy.outer: a[i] * b[j] of the flat arrays."""
    left, right = primitives.flat(a), primitives.flat(b)
    column = primitives.reshape(left, (left.size, 1))
    return ufuncs.call("multiply", (column, right), None if out is None else (out,))


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Implement numpy.diagonal, as a writable view."""
    if a.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    axis1, axis2 = layout.normalize_axis(axis1, a.ndim), layout.normalize_axis(axis2, a.ndim)
    if axis1 == axis2:
        raise ValueError("axis1 and axis2 cannot be the same")
    rows, columns = a.shape[axis1], a.shape[axis2]
    by_row, by_column = a.strides[axis1], a.strides[axis2]
    start = offset * by_column if offset >= 0 else -offset * by_row
    length = max(min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns), 0)
    rest = [k for k in range(a.ndim) if k not in (axis1, axis2)]
    shape = (*(a.shape[k] for k in rest), length)
    strides = (*(a.strides[k] for k in rest), by_row + by_column)
    return a._view(shape, strides, a.offset + (start if length else 0))


def trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
) -> Any:
    """Implement numpy.trace: the sum of a diagonal."""
    return reduce("sum", diagonal(a, offset, axis1, axis2), -1, dtype=dtype, out=out)


def _transposed(a: Any, order: list[int]) -> Any:
    return a._view(tuple(a.shape[k] for k in order), tuple(a.strides[k] for k in order), a.offset)


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """Implement numpy.tensordot: products summed over pairs of axes.

    axes: a number (the last of a with the first of b), or two sequences of axes.
    """
    try:
        count = operator.index(axes)
        left, right = list(range(a.ndim - count, a.ndim)), list(range(count))
    except TypeError:
        first, second = axes
        left = [int(first)] if isinstance(first, (int, np.integer)) else list(first)
        right = [int(second)] if isinstance(second, (int, np.integer)) else list(second)
    left = [layout.normalize_axis(k, a.ndim) for k in left]
    right = [layout.normalize_axis(k, b.ndim) for k in right]
    if len(left) != len(right) or any(
        a.shape[i] != b.shape[j] for i, j in zip(left, right, strict=True)
    ):
        raise ValueError("shape-mismatch for sum")
    a_rest = [k for k in range(a.ndim) if k not in left]
    b_rest = [k for k in range(b.ndim) if k not in right]
    shape = (*(a.shape[k] for k in a_rest), *(b.shape[k] for k in b_rest))
    n = prod(a.shape[k] for k in left)
    rows, columns = prod(a.shape[k] for k in a_rest), prod(b.shape[k] for k in b_rest)
    matrix_a = primitives.reshape(_transposed(a, a_rest + left), (rows, n))
    matrix_b = primitives.reshape(_transposed(b, right + b_rest), (n, columns))
    return primitives.reshape(matmul(matrix_a, matrix_b), shape)
