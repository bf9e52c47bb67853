"""Few items: one launch does what takes several for many, and then one number is read."""

from __future__ import annotations

from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes
from pygpu._src.codegen.kernels import single_group
from pygpu._src.codegen.kernels.single_group import FEW, ROOM
from pygpu._src.runtime import kernel_cache

from . import primitives
from .launch_cache import RESULT, step

__all__ = ["FEW", "bincount", "distinct", "gather", "histogram", "nonzero"]

_INT64 = np.dtype(np.int64)
_MAX_FREE = 8  # for threads that count concurrently


def _counter(like: Any) -> Any:
    """Allocate two int64 on the device, for a kernel's counts. _counted() keeps the memory."""
    backend = like.backend
    try:
        memory = backend.kernels.setdefault("counters", []).pop()
    except IndexError:
        memory = backend.allocate(16, None, like.queue)
    cls: Any = type(like)
    array = cls.__new__(cls)
    array._init(backend, like.queue, memory, 0, (2,), None, _INT64, like.allocator)
    return array


def _counted(counter: Any) -> Any:
    """Return the two numbers, for which the host waits."""
    found = counter.get()
    free = counter.backend.kernels["counters"]
    if len(free) < _MAX_FREE:
        free.append(counter.base_data)
    return found


def _launch(
    name: str, key: Any, make: Any, given: Any, reads: Any, writes: Any, out: Any, numbers: Any
) -> None:
    """Launch a single-group kernel and cache the launch under *name*, unless an input had to be
    copied first. make: the source for a number of work-items."""
    like = reads[0]
    backend = like.backend
    size = 1 if backend.limits.is_cpu else single_group.GROUP
    features = dtypes.features(*(x.dtype for x in reads))
    kernel = kernel_cache.get(backend, key, lambda: (make(size), key[0]), features)
    primitives.launch(like, kernel, 1, size, reads, (out, *writes), numbers)
    if any(x is not y for x, y in zip(given, reads)):
        return
    n, operands = len(reads), (*reads, *writes)
    slots = (*range(n), RESULT, *range(n, len(operands)))
    again = step(backend, kernel, 1, size, slots, numbers)
    written = tuple(range(n, len(operands)))
    backend.table.plans.add(name, 0, operands, None, out, (again,), (), written)


def _part(array: Any, n: int) -> Any:
    """Return the first n items."""
    return array if array.size == n else array._view((n,), None, array.offset)


def _result(array: Any, shape: tuple[int, ...]) -> Any:
    """Return the first items of a larger array, as a result."""
    if array.shape == shape:
        return array
    return primitives.result(array, array._view(shape, None, array.offset))


def gather(mask: Any, x: Any) -> Any:
    """Return the items of x for which the mask, of the same shape, is true."""
    count = _counter(mask)
    out = mask.backend.table.plans.run("select_items", mask, x, count)
    if out is None:
        reads = primitives.c_order(mask), primitives.c_order(x)
        out = primitives.empty(x, (x.size,), x.dtype)
        m, size = mask.dtype, x.itemsize
        items = np.dtype(f"u{size}") if size in (1, 2, 4, 8) else np.dtype(f"V{size}")
        _launch(
            "select_items",
            ("select_items", m, items),
            lambda lanes: single_group.gather_source(m, items, lanes),
            (mask, x),
            reads,
            (count,),
            out,
            [x.size],
        )
    return _result(out, (int(_counted(count)[0]),))


def nonzero(mask: Any, rows: bool) -> tuple[Any, int]:
    """Return the indices of true items, and how many: a row of mask.size for each axis, of which
    only the first are valid, or (not rows) an array with a row for each item."""
    count, name = _counter(mask), "nonzero" if rows else "argwhere"
    out = mask.backend.table.plans.run(name, mask, count)
    shape, ndim = mask.shape, mask.ndim
    if out is None:
        out = primitives.empty(mask, (ndim * mask.size,), _INT64)
        m = mask.dtype
        _launch(
            name,
            ("nonzero", m, ndim, rows),
            lambda lanes: single_group.nonzero_source(m, ndim, rows, lanes),
            (mask,),
            (primitives.c_order(mask),),
            (count,),
            out,
            [mask.size, *shape[1:]],
        )
    found = int(_counted(count)[0])
    return (out if rows else _result(out, (found, ndim))), found


def distinct(
    x: Any, order: Any, index: bool, inverse: bool, counts: bool, equal_nan: bool
) -> list[Any]:
    """Return numpy.unique's results for items in C order along one axis. order: the indices that
    sort them; None: they are sorted."""
    n, wanted = x.size, (index, inverse, counts)
    count = _counter(x)
    writes = [primitives.empty(x, (n,), _INT64) for on in wanted if on] + [count]
    reads = (x,) if order is None else (x, order)
    name = _DISTINCT[wanted, bool(equal_nan)]
    out = x.backend.table.plans.run(name, *reads, *writes)
    if out is None:
        out, dtype = primitives.empty(x, (n,), x.dtype), x.dtype
        _launch(
            name,
            ("distinct", dtype, wanted, equal_nan),
            lambda lanes: single_group.distinct_source(dtype, *wanted, equal_nan, lanes),
            reads,
            reads,
            writes,
            out,
            [n],
        )
    found = int(_counted(count)[0])
    whole = 1 + index if inverse else -1
    outs = (out, *writes[:-1])
    return [part if k == whole else _result(part, (found,)) for k, part in enumerate(outs)]


_DISTINCT_OPTIONS = [(i, j, k) for i in (False, True) for j in (False, True) for k in (False, True)]
_DISTINCT = {(x, nan): f"distinct {x} {nan}" for x in _DISTINCT_OPTIONS for nan in (False, True)}


def bincount(x: Any, weights: Any, minlength: int) -> Any:
    """Compute numpy.bincount for integers along one axis, at least one; None if there are too many
    bins."""
    ends, w = _counter(x), weights is not None
    given, name = ((x, weights), "weighed bins") if w else ((x,), "bins")
    out = x.backend.table.plans.run(name, *given, ends)
    if out is None:
        out, dtype = primitives.empty(x, (ROOM,), np.float64 if w else _INT64), x.dtype
        _launch(
            name,
            ("bins", dtype, w),
            lambda lanes: single_group.bincount_source(dtype, w, lanes),
            given,
            [primitives.c_order(a) for a in given],
            (ends,),
            out,
            [x.size],
        )
    low, high = _counted(ends).tolist()
    if low < 0:
        raise ValueError("'list' argument must have no negative elements")
    if high >= ROOM:
        return None
    part = _part(out, high + 1)
    if high + 1 >= minlength:
        return part._copy(order="C")  # a copy does not keep the larger memory
    counts = primitives.empty(x, (minlength,), out.dtype).fill(0)
    head = _part(counts, high + 1)
    head._copy_from(part)
    primitives.changed(counts, head)
    return counts


def histogram(x: Any, edges: Any) -> Any:
    """Count the items of x in each bin; edges: of its dtype, at least two."""
    bins = edges.size - 1
    backend = x.backend
    cached = backend.table.plans.run("histogram", x, edges)
    if cached is not None:
        return cached
    kernel = kernel_cache.get(
        backend,
        ("histogram", x.dtype),
        lambda: (single_group.histogram_source(x.dtype), "histogram"),
        dtypes.features(x.dtype),
    )
    out = primitives.empty(x, (bins,), _INT64)
    groups, size = kernel_cache.grid(backend, bins)
    numbers = [x.size, bins]
    primitives.launch(x, kernel, groups, size, [x, edges], [out], numbers)
    again = step(backend, kernel, groups, size, (0, 1, RESULT), numbers)
    backend.table.plans.add("histogram", 0, (x, edges), None, out, (again,))
    return out
