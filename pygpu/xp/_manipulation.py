"""The standard's functions that rearrange, join and index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

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


def broadcast_arrays(*arrays: ArrayT) -> tuple[ArrayT, ...]:
    """Views of one shape."""
    together = _together("broadcast_arrays", arrays)
    return manipulation.broadcast_arrays(*together) if together else ()


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that arrays of these shapes have together. Raises ValueError."""
    from pygpu._src.array import layout

    return layout.broadcast_shapes(*(layout.as_shape(s, "broadcast_shapes") for s in shapes))


def broadcast_to(x: ArrayT, /, shape: Shape) -> ArrayT:
    """A view of another shape, in which items stand at several places."""
    need_arrays("broadcast_to", x)
    result: ArrayT = manipulation.broadcast_to(x, shape)
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


def expand_dims(x: ArrayT, /, axis: int | tuple[int, ...] = 0) -> ArrayT:
    """A view with new axes of length 1."""
    need_arrays("expand_dims", x)
    result: ArrayT = manipulation.expand_dims(x, axis)
    return result


def flip(x: ArrayT, /, axis: Axis = None) -> ArrayT:
    """A view in reverse order along axes, all by default."""
    need_arrays("flip", x)
    result: ArrayT = manipulation.flip(x, axis)
    return result


def matrix_transpose(x: ArrayT, /) -> ArrayT:
    """A view with the last two axes swapped."""
    need_arrays("matrix_transpose", x)
    return x.mT


def moveaxis(
    x: ArrayT, source: int | tuple[int, ...], destination: int | tuple[int, ...], /
) -> ArrayT:
    """A view with axes at other places."""
    need_arrays("moveaxis", x)
    result: ArrayT = manipulation.moveaxis(x, source, destination)
    return result


def permute_dims(x: ArrayT, /, axes: Sequence[int] | None = None) -> ArrayT:
    """A view with the axes in another order."""
    need_arrays("permute_dims", x)
    return x.transpose() if axes is None else x.transpose(tuple(axes))


def repeat(
    x: ArrayT, repeats: int | Sequence[int] | GPUArray[Any], /, axis: int | None = None
) -> ArrayT:
    """Each item (or row along an axis) so many times."""
    need_arrays("repeat", x)
    result: ArrayT = manipulation.repeat(x, repeats, axis)
    return result


def reshape(x: ArrayT, /, shape: Shape, order: str = "C", *, copy: bool | None = None) -> ArrayT:
    """The items in another shape: a view where that is possible. copy: True for a copy in any case,
    False to raise ValueError if one is needed."""
    need_arrays("reshape", x)
    return x.reshape(shape, order=order, copy=copy)


def roll(x: ArrayT, /, shift: int | tuple[int, ...], axis: Axis = None) -> ArrayT:
    """Items moved on along axes; those that leave at one end come in at the other."""
    need_arrays("roll", x)
    result: ArrayT = manipulation.roll(x, shift, axis)
    return result


def squeeze(x: ArrayT, /, axis: int | tuple[int, ...] | None = None) -> ArrayT:
    """A view without axes of length 1."""
    need_arrays("squeeze", x)
    return x.squeeze(axis)


def stack(arrays: Sequence[ArrayT], /, axis: int = 0) -> ArrayT:
    """Arrays of one shape along a new axis."""
    result: ArrayT = joining.stack(_together("stack", arrays), axis)
    return result


def take(
    x: ArrayT,
    indices: int | Sequence[int] | GPUArray[Any],
    /,
    axis: int | None = None,
    out: ArrayT | None = None,
    mode: str = "raise",
) -> ArrayT:
    """Items by index along an axis, of the flat array for None. mode: indices out of bounds raise
    IndexError ("raise"), wrap around ("wrap"), or are limited to the first and last ("clip")."""
    need_arrays("take", x)
    result: ArrayT = advanced_indexing.take(x, indices, axis, out, mode)
    return result


def take_along_axis(x: ArrayT, indices: GPUArray[Any], /, axis: int | None = -1) -> ArrayT:
    """For each position of *indices*, the item of that index on the axis."""
    need_arrays("take_along_axis", x)
    result: ArrayT = advanced_indexing.take_along_axis(x, indices, axis)
    return result


def tile(x: ArrayT, repetitions: int | Sequence[int], /) -> ArrayT:
    """The array as often as said along each axis."""
    need_arrays("tile", x)
    result: ArrayT = manipulation.tile(x, repetitions)
    return result


def unstack(x: ArrayT, /, *, axis: int = 0) -> tuple[ArrayT, ...]:
    """Views without an axis, one for each index along it."""
    need_arrays("unstack", x)
    return manipulation.unstack(x, axis)
