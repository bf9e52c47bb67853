"""Masks: the selected items, stored next to each other, and their indices."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes
from pygpu._src.codegen.kernels import gather as index_text
from pygpu._src.codegen.kernels import mask as mask_text
from pygpu._src.runtime import kernel_cache

from . import primitives, single_group
from .index_errors import Report
from .scan import scan

Shape = tuple[int, ...]


def moved(to: np.dtype[Any], source: np.dtype[Any]) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """Return the dtypes for which a kernel is made: the same for all of a size if nothing is
    converted."""
    if to == source:
        size = to.itemsize
        same = np.dtype(f"u{size}") if size in (1, 2, 4, 8) else np.dtype(f"V{size}")
        return same, same
    return to, source


def _marks_kernel(backend: Any, mask: np.dtype[Any], find: Callable[..., Any]) -> Any:
    text = partial(mask_text.marks_source, mask)
    return find(backend, ("marks", mask), lambda: (text(), "marks"), {"atomics", "warps"})


def _gather_kernel(backend: Any, item: np.dtype[Any], find: Callable[..., Any]) -> Any:
    text = partial(mask_text.gather_source, item)
    return find(backend, ("gather", item), lambda: (text(), "gather"), {"warps"})


class _Marks:
    """The result of the kernel ``marks`` for a mask of bytes, on a device with warps: bits, and
    how many are set up to the end of each tile (``ends``, which like ``bits`` is an operand of
    launches)."""

    def __init__(self, mask: Any) -> None:
        backend = mask.backend
        self.tiles = -(-mask.size // mask_text.TILE)
        self.room, first, self.last, nbytes = mask_text.layout(self.tiles)
        self.bits, self.report = primitives.scratch(mask, nbytes), Report(mask)
        kernel = _marks_kernel(backend, mask.dtype, kernel_cache.get)
        groups, writes = -(-self.tiles // (mask_text.GROUP // 32)), [self.bits, self.report.array]
        numbers = [mask.size, self.tiles, self.room]
        primitives.launch(mask, kernel, groups, mask_text.GROUP, [mask], writes, numbers)
        self.ends = self.bits.after(first)

    def count(self) -> int:
        """Return how many are set: the only number that the host reads."""
        found, bits = np.empty(1, np.int64), self.bits
        read = self.report.array.backend.to_host
        read(bits.queue, found, bits.base_data, self.last, wait_for=bits.events or None)
        self.report.keep()
        return int(found[0])


def _counted(mask: Any) -> tuple[Any, int, Callable[[], int]]:
    """For a mask in C order, return (ends of tiles, how many tiles, a function that returns how
    many items are true)."""
    backend = mask.backend
    if backend.limits.warps and mask.itemsize == 1:
        marks = _Marks(mask)
        return marks.ends, marks.tiles, marks.count
    cpu = backend.limits.is_cpu
    tiles = -(-mask.size // (index_text.CPU_TILE if cpu else index_text.TILE))
    kernel = kernel_cache.get(
        backend,
        ("count", mask.dtype),
        lambda: (index_text.count_source(mask.dtype, cpu), "count"),
        dtypes.features(mask.dtype),
    )
    counts = primitives.empty(mask, (tiles,), np.int64)
    groups, size = (
        (min(tiles, backend.limits.units * 4), 1)
        if cpu
        else (min(tiles, 1 << 20), index_text.GROUP)
    )
    primitives.launch(mask, kernel, groups, size, [mask], [counts], [mask.size, tiles])
    ends = scan("cumsum", counts, 0) if tiles > 1 else counts
    return ends, tiles, lambda: _last(ends)


def _last(ends: Any) -> int:
    """Return the last item: the only one that the host reads."""
    found = np.empty(1, np.int64)
    offset = ends.offset + 8 * (ends.size - 1)
    ends.backend.to_host(ends.queue, found, ends.base_data, offset, wait_for=ends.events or None)
    return int(found[0])


def _compact(mask: Any, x: Any, shape: Shape) -> tuple[Any, int]:
    """Return x's items where the mask is true, or their indices (one row per axis) for x None."""
    backend = mask.backend
    cpu = backend.limits.is_cpu
    ends, tiles, count = _counted(mask)
    ndim = 1 if x is not None else max(len(shape), 1)
    items = None if x is None else moved(x.dtype, x.dtype)[0]
    local = index_text.TILE * (items.itemsize if items is not None else 0) + 2048
    staged = not cpu and items is not None and items.itemsize <= 8
    staged = staged and local <= backend.limits.local_bytes
    kernel = kernel_cache.get(
        backend,
        ("compact", mask.dtype, items, ndim, staged),
        lambda: (index_text.compact_source(mask.dtype, items, ndim, cpu, staged), "compact"),
        dtypes.features(mask.dtype),
    )
    groups, size = (
        (min(tiles, backend.limits.units * 4), 1)
        if cpu
        else (min(tiles, 1 << 20), index_text.GROUP)
    )
    reads = [mask, ends] if x is None else [mask, ends, x]
    # everything is ready: the device is idle from here to the launch
    found = count()
    if x is None:
        out = primitives.empty(mask, (ndim, found), np.int64)
    else:
        out = primitives.empty(x, (found,), x.dtype)
    if found == 0:
        return out, found
    primitives.launch(
        mask,
        kernel,
        groups,
        size,
        reads,
        [out],
        [mask.size, tiles, found, *(shape[1:] if x is None else ())],
    )
    return out, found


def _gather(mask: Any, x: Any) -> Any:
    """_compact() by warps, for more than a few items. The device is idle between the count's
    arrival on the host and the second launch, so everything but the result's size is prepared
    before, and the array is made only after it."""
    backend = mask.backend
    item = moved(x.dtype, x.dtype)[0]
    marks = _Marks(mask)
    gather = _gather_kernel(backend, item, kernel_cache.get)
    queue = mask._queue()
    waits = backend.wait_list(queue, [marks.bits, x])
    groups, numbers = min(marks.tiles, 1 << 20), (mask.size, marks.tiles, marks.room)
    found = marks.count()
    if found == 0:
        return primitives.empty(x, (0,), x.dtype)
    memory = backend.allocate(found * x.itemsize, x.allocator, x.queue)
    args = (marks.bits.base_data, 0, x.base_data, x.offset, memory, 0, *numbers)
    event = backend.launch(gather, queue, groups, mask_text.GROUP, args, wait_for=waits)
    cls: Any = type(x)
    out = cls.__new__(cls)
    out._init(backend, x.queue, memory, 0, (found,), None, x.dtype, x.allocator)
    if cls._own_init:
        out = x._by_class((found,), x.dtype, None, x.queue, out)
    backend.note_event(queue, event, [out], [x])
    return out


def start_compress(backend: Any, dtype: np.dtype[Any]) -> None:
    """Start compiling what compress() will need for so many items that they take several groups."""
    if backend.limits.warps and dtype.itemsize in (1, 2, 4, 8):
        _marks_kernel(backend, np.dtype(np.bool_), kernel_cache.start)
        _gather_kernel(backend, moved(dtype, dtype)[0], kernel_cache.start)


def compress(a: Any, mask: Any) -> Any:
    """Return a[mask], for a mask of the array's shape."""
    if a.size == 0:
        return primitives.empty(a, (0,), a.dtype)
    if a.size <= single_group.FEW:
        return single_group.gather(mask, a)
    mask, a = primitives.c_order(mask), primitives.c_order(a)
    if a.queue is mask.queue and a.backend.limits.warps and a.itemsize in (1, 2, 4, 8):
        return _gather(mask, a)
    return _compact(mask, a, (a.size,))[0]


def nonzero(a: Any) -> tuple[Any, ...]:
    """Return the indices of nonzero items, one int64 array per axis, as numpy.nonzero."""
    if a.ndim == 0:
        raise ValueError(
            "Calling nonzero on 0d arrays is not allowed. "
            "Use np.atleast_1d(scalar).nonzero() instead."
        )
    if a.size == 0:
        return tuple(primitives.empty(a, (0,), np.int64) for _ in range(a.ndim))
    n = a.size
    if n <= single_group.FEW and dtypes.computes(a.dtype):
        out, found = single_group.nonzero(a, True)
        return tuple(_row(out, found, n * k) for k in range(a.ndim))
    dtypes.code(a.dtype)
    out, found = _compact(primitives.c_order(a), None, a.shape)
    return tuple(_row(out, found, found * k) for k in range(a.ndim))


def _row(out: Any, n: int, first: int) -> Any:
    return primitives.result(out, out._view((n,), None, 8 * first))
