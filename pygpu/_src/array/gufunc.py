"""NumPy's ufuncs over vectors and matrices (matmul, vecdot, matvec, vecmat), with their options."""

from __future__ import annotations

from typing import Any

import numpy as np

from pygpu._array import GPUArray

from . import layout, matmul, operators, primitives, ufuncs
from .routines import manipulation

# the axes of a vector or a matrix in each operand and in the result
NAMES = {"matmul": (2, 2, 2), "vecdot": (1, 1, 0), "matvec": (2, 1, 1), "vecmat": (1, 2, 1)}
_OPTIONS = ("axes", "axis", "keepdims", "dtype", "signature", "casting", "order", "subok")


def vecdot(a: Any, b: Any, /, *, axis: int = -1) -> Any:
    """Sums of conj(a) * b along an axis, which both have."""
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("vecdot: both operands must have at least one axis")
    if a.shape[axis] != b.shape[axis]:
        raise ValueError(f"vecdot: shapes {a.shape} and {b.shape} differ along axis {axis}")
    a, b = (manipulation.moveaxis(x, axis, -1) for x in (a, b))
    dtype = np.result_type(a.dtype, b.dtype)
    product = ufuncs.call("multiply", (a.conj(), b))
    if dtype.kind == "b":
        return product._reduce("any", -1)
    return product._reduce("sum", -1, dtype=dtype)


def _computed(name: str, a: Any, b: Any) -> Any:
    if name == "matmul":
        return matmul.matmul(a, b)
    if name == "vecdot":
        return vecdot(a, b)
    if name == "matvec":
        return matmul.matmul(a, manipulation.expand_dims(b, -1))[..., 0]
    return matmul.matmul(manipulation.expand_dims(a.conj(), -2), b)[..., 0, :]


def _operand_axes(name: str, axes: Any, count: int, ndim: int) -> tuple[int, ...]:
    """Return the axes of one operand, which must be *count*."""
    items = axes if isinstance(axes, (tuple, list)) else (axes,)
    if len(items) != count:
        raise ValueError(f"{name}: axes: an operand needs {count} axes, not {axes!r}")
    return layout.normalize_axes(tuple(items), ndim, name)


def _axes(
    name: str, options: dict[str, Any], ndims: list[int], counts: tuple[int, ...]
) -> list[Any] | None:
    """Return the axes of each operand and of the result, if they are not the last ones."""
    axes, axis = options.get("axes"), options.get("axis")
    if axis is not None:
        if axes is not None:
            raise TypeError(f"{name}: cannot specify both 'axis' and 'axes'")
        if name != "vecdot":
            raise TypeError(f"{name}: axis can only be used with a single shared core dimension")
        axes = [axis, axis, ()]
    if axes is None:
        return None
    axes = list(axes)
    if len(axes) == 2 and counts[2] == 0:
        axes.append(())
    if len(axes) != 3:
        raise ValueError(f"{name}: axes should be a list with an entry for all 3 operands")
    return [
        *(_operand_axes(name, axes[k], counts[k], ndims[k]) for k in (0, 1)),
        axes[2],
    ]


def call(name: str, inputs: Any, out: Any, options: dict[str, Any]) -> Any:
    """Call ``numpy.matmul(a, b, out=..., axes=..., dtype=...)`` or one of the related ufuncs."""
    for option in options:
        if option not in _OPTIONS:
            raise TypeError(f"{name}: {option}= is not supported for arrays on a device")
    if out is not None and not isinstance(out, GPUArray):
        raise TypeError(f"{name}: out must be an array on the device, not {type(out).__name__}")
    if name == "matmul" and not options and any(isinstance(x, GPUArray) for x in inputs):
        return operators.matmul(inputs[0], inputs[1], out)
    like: Any = next(x for x in (*inputs, out) if isinstance(x, GPUArray))
    a, b = (primitives.as_array(like, x, call=name) for x in inputs)
    kind, signature = options.get("dtype"), options.get("signature")
    casting = options.get("casting", "same_kind")
    kinds = (a.dtype, b.dtype, None if out is None else out.dtype)
    if signature is not None:
        signature = ufuncs.signature_of(getattr(np, name), signature)
    dtype = None if kind is None else np.dtype(kind)
    loop = ufuncs.resolve(name, kinds, casting, dtype, signature)
    needs = NAMES[name]
    if name == "matmul":  # a vector is treated as a matrix here
        needs = (min(a.ndim, 2), min(b.ndim, 2), max(min(a.ndim, 2) + min(b.ndim, 2) - 2, 0))
    for k, x in enumerate((a, b)):
        if x.ndim < max(needs[k], 1):
            raise ValueError(
                f"{name}: Input operand {k} does not have enough dimensions (has {x.ndim}, and "
                f"{max(needs[k], 1)} is needed)"
            )
    axes = _axes(name, options, [a.ndim, b.ndim], needs)
    if axes is not None:
        a, b = (
            manipulation.moveaxis(x, axes[k], tuple(range(-len(axes[k]), 0)))
            for k, x in enumerate((a, b))
        )
    if name == "matvec" and a.shape[-1] != b.shape[-1]:
        raise ValueError(f"matvec: shapes {a.shape} and {b.shape} do not fit")
    if name == "vecmat" and a.shape[-1] != b.shape[-2]:
        raise ValueError(f"vecmat: shapes {a.shape} and {b.shape} do not fit")
    result = _computed(name, primitives.astype(a, loop[0]), primitives.astype(b, loop[1]))
    if options.get("keepdims"):
        if name != "vecdot":
            raise TypeError(f"{name} does not support keepdims")
        result = manipulation.expand_dims(result, -1)
        if axes is not None:
            result = manipulation.moveaxis(result, -1, options.get("axis", -1))
    elif axes is not None and len(axes[2] if isinstance(axes[2], (tuple, list)) else [1]):
        count = max(result.ndim - len(layout.broadcast_shapes(*_stacks(a, b, needs))), 0)
        there = _operand_axes(name, axes[2], count, result.ndim)
        result = manipulation.moveaxis(result, tuple(range(-count, 0)), there)
    if out is not None:
        target: Any = out
        if target.shape != result.shape:
            raise ValueError(f"{name}: out must be an array of shape {result.shape} on the device")
        target._copy_from(result)
        return target
    if options.get("order", "K") in ("C", "F"):
        return result._copy(order=options["order"])
    return result


def _stacks(a: Any, b: Any, needs: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    return a.shape[: a.ndim - needs[0]], b.shape[: b.ndim - needs[1]]
