"""Shapes and strides: pure functions without devices. Strides are in bytes, shapes in items; all
are tuples.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

from pygpu.errors import ShapeError

Shape = tuple[int, ...]

MAX_DIMS = 32  # NumPy 1 has 32, NumPy 2 has 64


def as_shape(shape: Any, call: str = "array") -> Shape:
    """Convert a shape given as an int or a sequence of ints. Raises TypeError, ValueError."""
    try:
        result: Shape = (operator.index(shape),)
    except TypeError:
        try:
            result = tuple(operator.index(n) for n in shape)
        except TypeError:
            raise ShapeError(
                f"{call}: a shape is an int or a sequence of ints, not {shape!r}"
            ) from None
    if any(n < 0 for n in result):
        raise ValueError(f"{call}: negative dimensions are not allowed: {result}")
    if len(result) > MAX_DIMS:
        raise ValueError(f"{call}: {len(result)} dimensions, and at most {MAX_DIMS} are supported")
    if prod(result) >= 1 << 62:
        raise ValueError(f"{call}: shape {result} is too large")
    return result


def as_strides(strides: Any, shape: Shape, call: str) -> Shape:
    """Convert the strides of an array of this shape. Raises TypeError, ValueError."""
    try:
        result = tuple(operator.index(n) for n in strides)
    except TypeError:
        raise TypeError(f"{call}: strides must be a sequence of ints, not {strides!r}") from None
    if len(result) != len(shape):
        raise ValueError(f"{call}: {len(result)} strides for the shape {shape}")
    return result


def plain(shape: Shape) -> str:
    """Return a shape as NumPy writes it in messages: "(2,3)"."""
    return str(tuple(shape)).replace(" ", "")


def c_strides(shape: Shape, itemsize: int) -> Shape:
    """Strides of a C-contiguous array; as if axes of length 0 had length 1."""
    strides, step = [], itemsize
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def f_strides(shape: Shape, itemsize: int) -> Shape:
    """Strides of a Fortran-contiguous array."""
    return c_strides(shape[::-1], itemsize)[::-1]


def flags(shape: Shape, strides: Shape, itemsize: int) -> tuple[bool, bool]:
    """Return (C-contiguous, Fortran-contiguous) by NumPy's rules: axes of length 1 do not count,
    and an array without items is both."""
    if 0 in shape:
        return True, True

    def contiguous(axes: Iterable[int]) -> bool:
        step = itemsize
        for axis in axes:
            if shape[axis] != 1:
                if strides[axis] != step:
                    return False
                step *= shape[axis]
        return True

    n = len(shape)
    return contiguous(reversed(range(n))), contiguous(range(n))


def as_order(
    call: str, order: Any, fortran: bool = False, default: str = "C", among: str = "CFAK"
) -> str:
    """Convert NumPy's name of an order of axes, in upper or lower case, to "K", "C" or "F";
    fortran: what "A" stands for. None is the default. Raises TypeError and ValueError."""
    if order is None:
        return default
    if not isinstance(order, str):
        raise TypeError(f"{call}: order must be str, not {type(order).__name__}")
    name = order.upper()
    if len(name) != 1 or name not in among:
        names = [repr(known) for known in among]
        raise ValueError(
            f"{call}: order must be {', '.join(names[:-1])} or {names[-1]}, not {order!r}"
        )
    return name if name != "A" else "F" if fortran else "C"


def keep_order_strides(shape: Shape, strides: Shape, itemsize: int) -> Shape:
    """Return strides of a new array without gaps whose axes have the memory order of *strides*
    (NumPy's order="K")."""
    order = sorted(range(len(shape)), key=lambda axis: (-abs(strides[axis]), axis))
    result, step = [0] * len(shape), itemsize
    for axis in reversed(order):
        result[axis] = step
        step *= max(shape[axis], 1)
    return tuple(result)


def iteration_order(shape: Shape, strides: Shape) -> list[int]:
    """Return the axes from the outermost to the innermost as NumPy visits them for order="K": by
    strides, except that axes of length 1 or stride 0 stay between their neighbours."""
    inner_first: list[tuple[int, int]] = []
    for axis in reversed(range(len(shape))):
        stride = abs(strides[axis]) if shape[axis] != 1 else 0
        at = len(inner_first)
        for position in reversed(range(len(inner_first))):
            other = inner_first[position][1]
            if stride and other:
                if other <= stride:
                    break
                at = position
        inner_first.insert(at, (axis, stride))
    return [axis for axis, _ in reversed(inner_first)]


def broadcast_shapes(*shapes: Shape) -> Shape:
    """Return NumPy's broadcast shape. Raises ValueError with NumPy's message."""
    first = shapes[0] if shapes else ()
    if all(shape == first for shape in shapes):
        return first
    result: list[int] = []
    for axis in range(1, max(map(len, shapes)) + 1):
        n = 1
        for shape in shapes:
            if axis <= len(shape) and shape[-axis] != 1:
                if n not in (1, shape[-axis]):
                    raise ValueError(
                        "operands could not be broadcast together with shapes "
                        + " ".join(str(s).replace(" ", "") for s in shapes)
                    )
                n = shape[-axis]
        result.append(n)
    return tuple(reversed(result))


def broadcast_strides(shape: Shape, strides: Shape, to: Shape) -> Shape:
    """Return strides with which an array of *shape* is read as one of shape *to*: 0 along repeated
    axes."""
    if shape == to:
        return strides
    missing = len(to) - len(shape)
    if missing < 0:
        raise ValueError(f"cannot broadcast shape {shape} to shape {to}")
    result = [0] * missing
    for n, stride, wanted in zip(shape, strides, to[missing:], strict=True):
        if n != wanted and n != 1:
            raise ValueError(f"cannot broadcast shape {shape} to shape {to}")
        result.append(0 if n == 1 else stride)
    return tuple(result)


def collapse(shape: Shape, *strides: Shape) -> tuple[Shape, list[Shape]]:
    """Merge axes, for the same iteration over several operands of one shape.

    Axes of length 1 are removed; axes are sorted by the first operand's strides, the largest first
    (the others' break ties); axes that are contiguous in all operands are merged. Only for work on
    independent items, since their order changes. At least one axis remains.
    """
    axes = [axis for axis, n in enumerate(shape) if n != 1]
    if 0 in shape or not axes:
        n = 0 if 0 in shape else 1
        return (n,), [(0,) for _ in strides]
    axes.sort(key=lambda axis: tuple(-abs(s[axis]) for s in strides))
    return _joined(shape, strides, axes)


def collapse_in_order(shape: Shape, *strides: Shape) -> tuple[Shape, list[Shape]]:
    """As collapse(), but items keep their order."""
    axes = [axis for axis, n in enumerate(shape) if n != 1]
    return collapse(shape, *strides) if 0 in shape or not axes else _joined(shape, strides, axes)


def _joined(
    shape: Shape, strides: Sequence[Shape], axes: Sequence[int]
) -> tuple[Shape, list[Shape]]:
    """Return shape and strides of these axes, merging neighbours that are contiguous in all
    operands."""
    new_shape = [shape[axes[0]]]
    new_strides = [[s[axes[0]]] for s in strides]
    for axis in axes[1:]:
        n = shape[axis]
        if all(new[-1] == s[axis] * n for new, s in zip(new_strides, strides)):
            new_shape[-1] *= n
            for new, s in zip(new_strides, strides):
                new[-1] = s[axis]
        else:
            new_shape.append(n)
            for new, s in zip(new_strides, strides):
                new.append(s[axis])
    return tuple(new_shape), [tuple(new) for new in new_strides]


def byte_bounds(shape: Shape, strides: Shape, itemsize: int) -> tuple[int, int]:
    """Return the first byte and the one after the last, relative to the first item's address."""
    if 0 in shape:
        return 0, 0
    low = sum((n - 1) * s for n, s in zip(shape, strides) if s < 0)
    high = sum((n - 1) * s for n, s in zip(shape, strides) if s > 0)
    return low, high + itemsize


def check_memory(
    call: str, data: Any, offset: int, shape: Shape, strides: Shape, itemsize: int
) -> None:
    """Raise ValueError if items at *offset* [bytes] of a memory are outside it, if its size is
    known."""
    low, high = byte_bounds(shape, strides, itemsize)
    size = getattr(data, "size", None)
    if offset < 0 or (low != high and offset + low < 0):
        raise ValueError(f"{call}: items lie before the start of the memory")
    if isinstance(size, int) and low != high and offset + high > size:
        raise ValueError(
            f"{call}: items lie up to byte {offset + high} of the memory, which has {size}"
        )


def may_overlap(a: tuple[int, Shape, Shape, int], b: tuple[int, Shape, Shape, int]) -> bool:
    """Whether two arrays (offset, shape, strides, itemsize) in the same memory may share bytes: by
    their bounds, and by the remainders of their addresses."""
    (a_offset, a_shape, a_strides, a_size), (b_offset, b_shape, b_strides, b_size) = a, b
    a_low, a_high = byte_bounds(a_shape, a_strides, a_size)
    b_low, b_high = byte_bounds(b_shape, b_strides, b_size)
    if a_low == a_high or b_low == b_high:
        return False
    if a_offset + a_high <= b_offset + b_low or b_offset + b_high <= a_offset + a_low:
        return False
    steps = [abs(s) for n, s in zip(a_shape, a_strides) if n > 1]
    steps += [abs(s) for n, s in zip(b_shape, b_strides) if n > 1]
    common = int(np.gcd.reduce(steps)) if steps else 0
    if common == 0:
        return True
    apart = (b_offset - a_offset) % common
    return apart < a_size or apart + b_size > common


def same_elements(a: tuple[int, Shape, Shape], b: tuple[int, Shape, Shape]) -> bool:
    """Whether two arrays (offset, shape, strides) in the same memory have the same item at each
    index, so that one may be written while the other is read item by item."""
    return (
        a[0] == b[0] and a[1] == b[1] and all(n <= 1 or s == t for n, s, t in zip(a[1], a[2], b[2]))
    )


def reshape_strides(
    shape: Shape, strides: Shape, itemsize: int, new_shape: Shape, order: str = "C"
) -> Shape | None:
    """Return strides of the same items with another shape (read in C or Fortran order), or None if
    that needs a copy. Both shapes have the same number of items."""
    if order == "F":
        turned = reshape_strides(shape[::-1], strides[::-1], itemsize, new_shape[::-1])
        return None if turned is None else turned[::-1]
    if 0 in shape:
        return c_strides(new_shape, itemsize)
    old = [(n, s) for n, s in zip(shape, strides) if n != 1]
    result: list[int] = []
    i = j = 0
    while i < len(old) and j < len(new_shape):
        have, want = old[i][0], new_shape[j]
        i_end, j_end = i + 1, j + 1
        while have != want:
            if have < want:
                have *= old[i_end][0]
                i_end += 1
            else:
                want *= new_shape[j_end]
                j_end += 1
        for k in range(i, i_end - 1):
            if old[k][1] != old[k + 1][0] * old[k + 1][1]:
                return None
        step = old[i_end - 1][1]
        part: list[int] = []
        for n in reversed(new_shape[j:j_end]):
            part.append(step)
            step *= n
        result += reversed(part)
        i, j = i_end, j_end
    result += [itemsize] * (len(new_shape) - len(result))
    return tuple(result)


def normalize_axis(axis: Any, ndim: int, call: str = "axis") -> int:
    """Return a nonnegative axis. Raises np.exceptions.AxisError."""
    try:
        number = operator.index(axis)
    except TypeError as error:  # NumPy's text alone does not say of which argument
        prefix = "" if call == "axis" else f"{call}: "
        raise TypeError(f"{prefix}axis must be an int: {error}") from None
    if not -ndim <= number < ndim:
        raise np.exceptions.AxisError(number, ndim, call if call != "axis" else None)
    return number % ndim


def axis_argument(axis: Any) -> Any:
    """Return an axis argument as it is. Raises TypeError for a bool or a list, which NumPy refuses
    where its functions in C read the argument."""
    for item in axis if isinstance(axis, tuple) else (axis,):
        if isinstance(item, (bool, np.bool_)):
            raise TypeError("an integer is required for the axis")
    if isinstance(axis, list):
        raise TypeError(
            "axis must be None, an int or a tuple of ints: 'list' object cannot be interpreted as "
            "an integer"
        )
    return axis


def check_writable(array: Any, call: str) -> None:
    """Raise ValueError for an array in which one item in memory occurs at several indices along an
    axis: threads would write it at the same time."""
    if not array._c_contiguous and any(
        s == 0 and n > 1 for n, s in zip(array.shape, array.strides)
    ):
        raise ValueError(
            f"{call}: the array is read-only, because some of its items share their memory, as "
            "those of broadcast_to() do; write to its copy()"
        )


def normalize_axes(axes: Any, ndim: int, call: str = "axis") -> Shape:
    """Return nonnegative axes from None (all), an int or a tuple. Raises ValueError if repeated."""
    if axes is None:
        return tuple(range(ndim))
    try:
        result: Shape = (normalize_axis(axes, ndim, call),)
    except TypeError:
        if not isinstance(axes, Iterable) or isinstance(axes, (str, bytes)):
            raise TypeError(
                f"{'' if call == 'axis' else f'{call}: '}axis must be None, an int or a tuple of "
                f"ints, not {type(axes).__name__}"
            ) from None
        result = tuple(normalize_axis(axis, ndim, call) for axis in axes)
    if len(set(result)) != len(result):
        raise ValueError("duplicate value in 'axis'")
    return result


class Index:
    """The view selected by an index expression of ints, slices, Ellipsis and None.

    offset is relative to the array's first item [bytes]. If the expression has other items
    (arrays, lists, bools), *advanced* is a list of (axis of the view, item), in order: the view
    then has the whole axis there, with the array's length, to be indexed by the item. An item that
    is a boolean array takes as many axes as it has. between: an ellipsis stands between two of
    them.
    """

    __slots__ = ("advanced", "between", "offset", "shape", "strides")

    def __init__(
        self,
        offset: int,
        shape: Shape,
        strides: Shape,
        advanced: list[tuple[int, Any]],
        between: bool,
    ) -> None:
        self.offset = offset
        self.shape = shape
        self.strides = strides
        self.advanced = advanced
        self.between = between


def _is_int(item: Any) -> bool:
    return isinstance(item, (int, np.integer)) and not isinstance(item, (bool, np.bool_))


def _as_int(item: Any) -> int | None:
    """Convert an int, or an object with __index__, to an int; None for a possible index array.
    Raises IndexError for anything else."""
    if _is_int(item):
        return int(item)
    if hasattr(item, "dtype") or isinstance(item, (bool, list, tuple)):
        return None
    try:
        return operator.index(item)
    except TypeError:
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and "
            "integer or boolean arrays are valid indices"
        ) from None


def axes_of(item: Any) -> int:
    """Return how many axes an item takes."""
    if item is None:
        return 0
    if isinstance(item, slice) or _is_int(item):
        return 1
    if isinstance(item, (bool, np.bool_)):
        return 0
    dtype = getattr(item, "dtype", None)
    if dtype is not None and dtype.kind == "b":
        return len(item.shape)
    if isinstance(item, (list, tuple)):
        array = np.asarray(item)
        if array.dtype.kind == "b":
            return array.ndim
    return 1


def parse_index(shape: Shape, strides: Shape, key: Any) -> Index:
    """Read an index expression. Raises IndexError with NumPy's message."""
    items: Sequence[Any] = key if isinstance(key, tuple) else (key,)
    ndim = len(shape)
    used, ellipsis = 0, False
    for item in items:
        if item is Ellipsis:
            if ellipsis:
                raise IndexError("an index can only have a single ellipsis ('...')")
            ellipsis = True
        else:
            used += axes_of(item)
    if used > ndim:
        raise IndexError(
            f"too many indices for array: array is {ndim}-dimensional, but {used} were indexed"
        )
    if not ellipsis:
        items = (*items, Ellipsis)
    offset, axis = 0, 0
    new_shape: list[int] = []
    new_strides: list[int] = []
    advanced: list[tuple[int, Any]] = []
    apart: list[int] = []
    for item in items:
        if item is Ellipsis:
            n = ndim - used
            apart.append(len(advanced))
            new_shape += shape[axis : axis + n]
            new_strides += strides[axis : axis + n]
            axis += n
        elif item is None:
            new_shape.append(1)
            new_strides.append(0)
        elif isinstance(item, slice):
            start, stop, step = item.indices(shape[axis])
            n = len(range(start, stop, step))
            if n:
                offset += start * strides[axis]
            new_shape.append(n)
            stride = step * strides[axis]  # if it is too large, there is at most one item
            new_strides.append(stride if abs(stride) < 1 << 63 else strides[axis])
            axis += 1
        elif (i := _as_int(item)) is not None:
            n = shape[axis]
            if not -n <= i < n:
                raise IndexError(f"index {i} is out of bounds for axis {axis} with size {n}")
            offset += i % n * strides[axis]
            axis += 1
        else:
            n = axes_of(item)
            advanced.append((len(new_shape), item))
            new_shape += shape[axis : axis + n]
            new_strides += strides[axis : axis + n]
            axis += n
    between = ellipsis and 0 < apart[0] < len(advanced)
    return Index(offset, tuple(new_shape), tuple(new_strides), advanced, between)
