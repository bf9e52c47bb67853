"""The standard's functions that rearrange, join and index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu._src.array import advanced_indexing, ufuncs
from pygpu._src.array.routines import joining, manipulation

from ._arguments import need_arrays

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from ._types import ArrayT, Axis, GPUArray, Shape

__all__ = [
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "matrix_transpose",
    "moveaxis",
    "permute_dims",
    "repeat",
    "reshape",
    "roll",
    "squeeze",
    "stack",
    "take",
    "take_along_axis",
    "tile",
    "unstack",
]


def _together(call: str, arrays: Sequence[Any]) -> list[Any]:
    if not isinstance(arrays, (list, tuple)):
        raise TypeError(f"{call}: a sequence of arrays is needed, not {type(arrays).__name__}")
    arrays = list(arrays)
    need_arrays(call, *arrays)
    if arrays:
        ufuncs.same_device(call, arrays)
    return arrays


def broadcast_arrays(*arrays: ArrayT, subok: bool = False) -> tuple[ArrayT, ...]:
    """Views of one shape."""
    together = _together("broadcast_arrays", arrays)
    return manipulation.broadcast_arrays(*together) if together else ()


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that arrays of these shapes have together. Raises ValueError."""
    from pygpu._src.array import layout

    return layout.broadcast_shapes(*(layout.as_shape(s, "broadcast_shapes") for s in shapes))


def broadcast_to(array: ArrayT, shape: Shape, subok: bool = False) -> ArrayT:
    """A view of another shape, in which items stand at several places."""
    need_arrays("broadcast_to", array)
    result: ArrayT = manipulation.broadcast_to(array, shape)
    return result


def concat(
    arrays: Sequence[ArrayT],
    /,
    axis: int | None = 0,
    out: ArrayT | None = None,
    *,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> ArrayT:
    """One array after the other along an axis; None: of the flat arrays."""
    together = _together("concat", arrays)
    result: ArrayT = manipulation.concat(together, axis, out, dtype, casting)
    return result


def expand_dims(a: ArrayT, axis: int | tuple[int, ...] = 0) -> ArrayT:
    """A view with new axes of length 1."""
    need_arrays("expand_dims", a)
    result: ArrayT = manipulation.expand_dims(a, axis)
    return result


def flip(m: ArrayT, axis: Axis = None) -> ArrayT:
    """A view in reverse order along axes, all by default."""
    need_arrays("flip", m)
    result: ArrayT = manipulation.flip(m, axis)
    return result


def matrix_transpose(x: ArrayT, /) -> ArrayT:
    """A view with the last two axes swapped."""
    need_arrays("matrix_transpose", x)
    return x.mT


def moveaxis(
    a: ArrayT, source: int | tuple[int, ...], destination: int | tuple[int, ...]
) -> ArrayT:
    """A view with axes at other places."""
    need_arrays("moveaxis", a)
    result: ArrayT = manipulation.moveaxis(a, source, destination)
    return result


def permute_dims(a: ArrayT, axes: Sequence[int] | None = None) -> ArrayT:
    """A view with the axes in another order."""
    need_arrays("permute_dims", a)
    return a.transpose() if axes is None else a.transpose(tuple(axes))


def repeat(
    a: ArrayT, repeats: int | Sequence[int] | GPUArray[Any], axis: int | None = None
) -> ArrayT:
    """Each item (or row along an axis) so many times."""
    need_arrays("repeat", a)
    result: ArrayT = manipulation.repeat(a, repeats, axis)
    return result


def reshape(a: ArrayT, /, shape: Shape, order: str = "C", *, copy: bool | None = None) -> ArrayT:
    """The items in another shape: a view where that is possible. copy: True for a copy in any case,
    False to raise ValueError if one is needed."""
    need_arrays("reshape", a)
    return a.reshape(shape, order=order, copy=copy)


def roll(a: ArrayT, shift: int | tuple[int, ...], axis: Axis = None) -> ArrayT:
    """Items moved on along axes; those that leave at one end come in at the other."""
    need_arrays("roll", a)
    result: ArrayT = manipulation.roll(a, shift, axis)
    return result


def squeeze(a: ArrayT, axis: int | tuple[int, ...] | None = None) -> ArrayT:
    """A view without axes of length 1."""
    need_arrays("squeeze", a)
    return a.squeeze(axis)


def stack(
    arrays: Sequence[ArrayT],
    axis: int = 0,
    out: ArrayT | None = None,
    *,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> ArrayT:
    """Arrays of one shape along a new axis."""
    together = _together("stack", arrays)
    result: ArrayT
    if out is None and dtype is None:
        result = joining.stack(together, axis)
    else:
        numpys: Any = np.stack
        result = numpys(together, axis, out, dtype=dtype, casting=casting)
    return result


def take(
    a: ArrayT,
    indices: int | Sequence[int] | GPUArray[Any],
    axis: int | None = None,
    out: ArrayT | None = None,
    mode: str = "raise",
) -> ArrayT:
    """Items by index along an axis, of the flat array for None. mode: indices out of bounds raise
    IndexError ("raise"), wrap around ("wrap"), or are limited to the first and last ("clip")."""
    need_arrays("take", a)
    result: ArrayT = advanced_indexing.take(a, indices, axis, out, mode)
    return result


def take_along_axis(arr: ArrayT, indices: GPUArray[Any], axis: int | None = -1) -> ArrayT:
    """For each position of *indices*, the item of that index on the axis."""
    need_arrays("take_along_axis", arr)
    result: ArrayT = advanced_indexing.take_along_axis(arr, indices, axis)
    return result


def tile(A: ArrayT, reps: int | Sequence[int]) -> ArrayT:
    """The array as often as said along each axis."""
    need_arrays("tile", A)
    result: ArrayT = manipulation.tile(A, reps)
    return result


def unstack(x: ArrayT, /, *, axis: int = 0) -> tuple[ArrayT, ...]:
    """Views without an axis, one for each index along it."""
    need_arrays("unstack", x)
    return manipulation.unstack(x, axis)
