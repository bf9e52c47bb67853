"""How our own kernels compute a product of matrices: which kernel, with which tiles and parts.

The choice minimizes a model of the time: groups run in rounds of as many as the device holds, each
as long as a tile's multiplications. Its constants were fitted to measurements by
benchmarks/linalg.py.
"""

from __future__ import annotations

from functools import lru_cache, partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from pygpu._src.codegen import dtypes
from pygpu._src.codegen.kernels import matmul as text
from pygpu._src.codegen.kernels import (
    matmul_lines,
    matmul_panels,
    matmul_small,
    matmul_tiles,
    matmul_vectors,
)
from pygpu._src.codegen.kernels.matmul import Kinds
from pygpu._src.codegen.kernels.matmul_small import Block
from pygpu._src.codegen.kernels.matmul_tiles import Side, Tile
from pygpu._src.codegen.kernels.matmul_vectors import Reading
from pygpu._src.runtime import kernel_cache

from . import launch_cache, layout, primitives

DType = np.dtype[Any]


class Choice(NamedTuple):
    """A tile, and the number of parts of the summed axis."""

    tile: Tile
    parts: int


class Tuned(NamedTuple):
    """A tile and its rate: multiplications of a work-item per unit of time, relative to the
    best."""

    tile: Tile
    rate: float


# By the bytes of a sum's item.
_TILES: dict[int, tuple[Tuned, ...]] = {
    4: (
        Tuned(Tile(256, 128, 8, 16, 8, 1, 1), 1.0),
        Tuned(Tile(128, 128, 16, 8, 8, 1, 1), 0.95),
        Tuned(Tile(128, 64, 16, 8, 8, 1, 1), 0.88),
        Tuned(Tile(64, 128, 16, 8, 8, 2, 1), 0.92),
        Tuned(Tile(64, 64, 16, 8, 4), 0.8),
        Tuned(Tile(128, 32, 16, 8, 4), 0.6),
        Tuned(Tile(32, 128, 16, 4, 8), 0.6),
        Tuned(Tile(32, 32, 16, 4, 4), 0.4),
        Tuned(Tile(64, 16, 32, 4, 4), 0.4),
        Tuned(Tile(16, 64, 32, 4, 4), 0.4),
        Tuned(Tile(128, 16, 16, 8, 4), 0.4),
        Tuned(Tile(16, 128, 16, 4, 8), 0.4),
        Tuned(Tile(16, 16, 16, 4, 4), 0.1),
    ),
    8: (
        Tuned(Tile(128, 64, 8, 8, 8), 1.0),
        Tuned(Tile(64, 64, 8, 8, 4, 2), 0.95),
        Tuned(Tile(64, 64, 16, 4, 4), 0.8),
        Tuned(Tile(64, 32, 16, 4, 4), 0.7),
        Tuned(Tile(32, 64, 16, 4, 4), 0.7),
        Tuned(Tile(32, 32, 16, 4, 2), 0.5),
        Tuned(Tile(64, 16, 16, 4, 2), 0.4),
        Tuned(Tile(16, 64, 16, 2, 4), 0.4),
        Tuned(Tile(16, 16, 16, 2, 2), 0.2),
    ),
    16: (
        Tuned(Tile(64, 64, 8, 4, 4), 1.0),
        Tuned(Tile(32, 32, 8, 4, 2), 0.7),
        Tuned(Tile(64, 16, 8, 4, 2), 0.5),
        Tuned(Tile(16, 64, 8, 2, 4), 0.5),
        Tuned(Tile(16, 16, 8, 2, 2), 0.3),
    ),
}
_STARTING = 48  # the cost of a tile's beginning and end, in multiplications along the summed axis
_MOST_PARTS = 512
_SUMS = 32768  # 4-byte sums for which a unit's registers suffice
_RESIDENT = 512  # concurrent work-items per unit
_JOINING = 4  # the cost of adding a part's item to another's, in multiplications

_forced: list[Choice] = []


def set_choice(choice: Choice | None) -> None:
    """Use this choice for all products, None for the best; for measurements."""
    _forced[:] = [] if choice is None else [choice]


@lru_cache(maxsize=4096)
def choose(
    m: int, n: int, k: int, stack: int, itemsize: int, units: int, group: int, local: int
) -> Choice:
    """Return the tile and the parts for *stack* products of m x k and n x k items, with sums of
    *itemsize* bytes each, on a device with so many units, work-items per group and bytes of local
    memory."""
    best, least = None, 0.0
    acc = np.dtype(f"u{itemsize}") if itemsize < 16 else np.dtype("D")
    for tile, rate in _TILES[itemsize]:
        if tile.group > group or matmul_tiles.local_bytes(tile, acc) > local:
            continue
        tiles = -(-m // tile.rows) * -(-n // tile.columns) * stack
        block = tile.each_row * tile.each_column
        at_once = max(min(_RESIDENT, _SUMS * 4 // (itemsize * block)) // tile.group, 1)
        room = units * at_once
        full = block * at_once * tile.group / _RESIDENT / rate
        for parts in _cuts(tiles, room, -(-k // tile.deep)):
            deep = _cut(k, parts, tile.deep)[0]
            rounds = max(tiles * parts / room, 1.0)
            if rounds < 8:
                rounds = float(-(-tiles * parts // room))
            spent = rounds * full * (deep + _STARTING)
            if parts > 1:
                spent += 1000 + parts * _JOINING * (1 + m * n * stack / (units * 2048))
            if best is None or spent < least:
                best, least = Choice(tile, parts), spent
    if best is None:
        raise RuntimeError("no tile of a matrix product fits the device")
    return best


def _cut(k: int, parts: int, step: int) -> tuple[int, int]:
    """Return the length of a part, a multiple of *step*, and the number of parts, near the
    requested one."""
    each = -(-k // max(parts, 1))
    part = -(-each // step) * step
    return part, -(-k // part)


def _cuts(tiles: int, room: int, steps: int) -> list[int]:
    """Return numbers of parts to try: all at once on the device, in one or two rounds."""
    cuts = [1]
    for rounds in (1, 2):
        parts = min(room * rounds // tiles, steps // 4, _MOST_PARTS)
        if parts > 1:
            cuts.append(parts)
    return cuts


Again = tuple[tuple[Any, ...], tuple[int, ...]]  # steps of Plans.add(), and their scratch [bytes]


class _Matrices(NamedTuple):
    """Operands in the kernels' form: strides are those of the result's axis, then of the summed
    one; for the result those of rows, then of columns."""

    a: Any
    b: Any
    out: Any
    m: int
    n: int
    k: int
    a_strides: tuple[int, int]
    b_strides: tuple[int, int]
    out_strides: tuple[int, int]
    batch: tuple[int, ...]
    steps: list[tuple[int, ...]]
    order: tuple[int, int] = (0, 1)  # positions of a and b in the call

    def turned(self) -> _Matrices:
        """Return the transposed product."""
        return self._replace(
            a=self.b,
            b=self.a,
            m=self.n,
            n=self.m,
            a_strides=self.b_strides,
            b_strides=self.a_strides,
            out_strides=(self.out_strides[1], self.out_strides[0]),
            steps=[self.steps[1], self.steps[0], self.steps[2]],
            order=(self.order[1], self.order[0]),
        )


def _matrices(a: Any, b: Any, out: Any) -> _Matrices:
    stack = out.shape[:-2]
    batch, steps = layout.collapse(
        stack,
        layout.broadcast_strides(a.shape[:-2], a.strides[:-2], stack),
        layout.broadcast_strides(b.shape[:-2], b.strides[:-2], stack),
        out.strides[:-2],
    )
    if batch == (1,):
        batch, steps = (), [(), (), ()]
    (m, n), k = out.shape[-2:], a.shape[-1]
    a_strides, out_strides = a.strides[-2:], out.strides[-2:]
    b_strides = (b.strides[-1], b.strides[-2])
    of = _Matrices(a, b, out, m, n, k, a_strides, b_strides, out_strides, batch, steps)
    down, right = (abs(s) if size > 1 else 0 for s, size in zip(out_strides, (m, n), strict=True))
    return of.turned() if down and (down < right or not right) else of


def _by_k(strides: tuple[int, int], length: int, k: int) -> bool:
    """Whether an operand's items are adjacent along the summed axis rather than the result's."""
    across, along = (
        abs(s) if n > 1 else 1 << 62 for s, n in zip(strides, (length, k), strict=True)
    )
    return along < across if along and across else not across


def _side(x: Any, length: int, strides: tuple[int, int], k: int, wide: int, tile: Tile) -> Side:
    """Return how to read an operand whose tiles are *wide* items along the result's axis."""
    size = x.itemsize
    by_k = _by_k(strides, length, k)
    together, stride, most = (k, strides[1], tile.deep) if by_k else (length, strides[0], wide)
    vector = max(16 // size, 1) if stride == size else 1
    most = min(most, max(wide * tile.deep // tile.group, 1))
    while vector > most or together % vector:
        vector //= 2
    return Side(by_k, vector)


def _exceeds_int32(strides: tuple[int, int], wide: int, deep: int) -> bool:
    return abs(strides[0]) * wide + abs(strides[1]) * deep >= 1 << 31


def product(a: Any, b: Any, number: DType, out: Any) -> Again:
    """Compute ``out = a @ b`` for arrays with two or more axes, none of which is empty.

    Returns the steps that repeat it.
    """
    of = _matrices(a, b, out)
    cpu = a.backend.limits.is_cpu
    small = _SMALL_CPU if cpu else _SMALL
    if max(of.m, of.n) <= small and of.k <= 4 * _SMALL and not _forced:
        return _by_blocks(of, number)
    by_k = _by_k(of.b_strides, of.n, of.k)
    if cpu and of.m == 1 and _floats(of, number, by_k):
        return _by_lines(of, number, by_k)
    if of.m == 1 and not _forced and not (cpu and by_k and of.k < _SHORT):
        return _by_row(of, number, by_k)
    if cpu:
        return _by_panels(of, number)
    return _by_tiles(of, number)


def _kernel(
    backend: Any, key: Any, kinds: Kinds, make: Any, name: str, find: Any = kernel_cache.later
) -> Any:
    features = dtypes.features(kinds.x, kinds.y, kinds.number, kinds.out)
    if backend.limits.warps:
        features.add("warps")
    key = ("product", name, kinds, key)
    return find(backend, key, lambda: (make(), name), features, exact=False)


def _by_tiles(of: _Matrices, number: DType) -> Again:
    backend, out, batch = of.a.backend, of.out, of.batch
    limits, acc = backend.limits, text.acc_dtype(number)
    m, n, k = of.m, of.n, of.k
    stack = prod(batch)
    tile, parts = (
        _forced[0]
        if _forced
        else choose(
            m,
            n,
            k,
            stack,
            acc.itemsize,
            limits.units,
            limits.group_size,
            limits.local_bytes,
        )
    )
    part, parts = _cut(k, parts, tile.deep)
    kinds = Kinds(of.a.dtype, of.b.dtype, number, out.dtype, len(batch) + 1, parts > 1)
    sides = (
        _side(of.a, m, of.a_strides, k, tile.rows, tile),
        _side(of.b, n, of.b_strides, k, tile.columns, tile),
    )
    width = matmul_tiles.vector_width(acc)
    dense = (parts > 1 or of.out_strides[1] == out.itemsize) and n % width == 0
    far = _exceeds_int32(of.a_strides, tile.rows, tile.deep) or _exceeds_int32(
        of.b_strides, tile.columns, tile.deep
    )
    across = -(-n // tile.columns)
    tiles = -(-m // tile.rows) * across
    total = tiles * stack * parts
    more = (tile, *sides, width if dense else 1, far)
    by = _Part(kinds, part, parts, (across, tiles, total))
    _begin_join(of, by)
    kernel = _kernel(backend, more, kinds, lambda: matmul_tiles.source(kinds, *more), "product")
    return _run(of, by, kernel, min(total, 1 << 20), tile.group, ())


class _Part(NamedTuple):
    """The summed axis in *parts* of length *part*; tiles: along n, per matrix, in total."""

    kinds: Kinds
    part: int
    parts: int
    tiles: tuple[int, int, int]


def _run(
    of: _Matrices, by: _Part, kernel: Any, groups: int, size: int, more: tuple[Any, ...]
) -> Again:
    """Launch a kernel for all parts, then the one that adds them up if there are several.

    more: memory [bytes] for the kernel's own use, and the numbers that follow it, if any.
    """
    backend, batch, (m, n, k) = of.a.backend, of.batch, (of.m, of.n, of.k)
    numbers = [m, n, k, by.part, *by.tiles, *batch]
    numbers += [by.part * of.a_strides[1], *of.steps[0], *of.a_strides]
    numbers += [by.part * of.b_strides[1], *of.steps[1], *of.b_strides]
    items = m * n * prod(batch)
    if by.parts == 1:
        numbers += [0, *of.steps[2], *of.out_strides]
        target, slot, scratch = of.out, launch_cache.RESULT, 0
    else:
        item = text.acc_dtype(by.kinds.number).itemsize
        rows = [item * m * n * prod(batch[i + 1 :]) for i in range(len(batch))]
        numbers += [item * items, *rows, item * n, item]
        scratch = item * items * by.parts
        target, slot = primitives.scratch(of.a, scratch), launch_cache.SCRATCH
    slots: tuple[int, ...] = (*of.order, slot)
    writes, needed = [target], [scratch] if scratch else []
    if more:
        slots = (*slots, launch_cache.SCRATCH - len(needed))
        needed.append(more[0])
        writes.append(primitives.scratch(of.a, more[0]))
        numbers = [*more[1:], *numbers]
    primitives.launch(of.a, kernel, groups, size, [of.a, of.b], writes, numbers)
    steps = [launch_cache.step(backend, kernel, groups, size, slots, numbers)]
    if by.parts > 1:
        steps.append(_join(of, by, target))
    return tuple(steps), tuple(needed)


def _join_kernel(of: _Matrices, by: _Part, find: Any = kernel_cache.later) -> tuple[Any, int]:
    """Return the kernel that adds up the sums of all parts, and how many work-items an item has."""
    items, limits = of.m * of.n * prod(of.batch), of.a.backend.limits
    lanes = 1
    if not limits.is_cpu and limits.group_size >= text.GROUP:
        while lanes < 32 and by.parts >= 4 * lanes and items * lanes < 1024 * limits.units:
            lanes *= 2
    make = partial(text.join_source, by.kinds, lanes)
    return _kernel(of.a.backend, lanes, by.kinds, make, "join", find), lanes


def _begin_join(of: _Matrices, by: _Part) -> None:
    """Compile that kernel beside the one of the product, if it will be needed."""
    if by.parts > 1:
        _join_kernel(of, by, kernel_cache.start)


def _join(of: _Matrices, by: _Part, sums: Any) -> tuple[Any, ...]:
    """Add up the sums of all parts. Returns the step for Plans.add()."""
    backend = of.a.backend
    lengths, strides = (*of.batch, of.m, of.n), (*of.steps[2], *of.out_strides)
    items = prod(lengths)
    kernel, lanes = _join_kernel(of, by)
    numbers = [by.parts, items, *lengths[1:], *strides]
    groups, size = kernel_cache.grid(backend, items)
    if lanes > 1:
        size = text.GROUP
        groups = min(-(-items * lanes // size), 1 << 20)
    primitives.launch(of.a, kernel, groups, size, [sums], [of.out], numbers)
    slots = (launch_cache.SCRATCH, launch_cache.RESULT)
    return launch_cache.step(backend, kernel, groups, size, slots, numbers)


_DEEP, _ROWS = 256, 240  # of the data that a CPU packs
_TILE = 1024  # rows and columns of a CPU's tile at most
_SHARED = 1 << 16  # multiplications from which on a product is shared out among a CPU's cores


# Rows and vectors of a block of 64 bytes a vector, and the time of an item.
_BLOCKS = ((12, 2, 1.0), (8, 3, 1.1), (16, 1, 1.25))


def _filled(length: int, size: int) -> int:
    """The length of an axis in whole blocks."""
    return -(-length // size) * size


def _blocking(backend: Any, acc: DType, m: int, n: int) -> matmul_panels.Blocking:
    """The block in registers: 24 vectors of sums where there are 32 of 64 bytes, 12 elsewhere, in
    the form that is filled best."""
    size = acc.itemsize // (2 if acc.kind == "c" else 1)
    width = getattr(backend.device, "native_vector_width_float", 4) * 4
    lanes = max(width // size, 2)
    high, wide = min(
        _BLOCKS, key=lambda block: _filled(m, block[0]) * _filled(n, block[1] * lanes) * block[2]
    )[:2]
    if width < 64:
        high //= 2
    if acc.kind == "c":
        high //= 2
    direct = acc.kind != "c" and n <= 2 * wide * lanes
    return matmul_panels.Blocking(lanes, high, wide, _DEEP, _ROWS, direct)


def _by_panels(of: _Matrices, number: DType) -> Again:
    backend, acc = of.a.backend, text.acc_dtype(number)
    units = backend.limits.units
    blocking = _blocking(backend, acc, of.m, of.n)
    m, n, k, stack = of.m, of.n, of.k, prod(of.batch)
    work = m * n * k * stack
    workers = units if work > _SHARED else 1
    rows, columns = _cpu_tile(m, n, stack, workers, blocking)
    across = -(-n // columns)
    tiles = -(-m // rows) * across
    parts = 1
    if tiles * stack < workers:
        parts = max(min(workers // (tiles * stack), k // (2 * _DEEP)), 1)
    part, parts = _cut(k, parts, _DEEP)
    kinds = Kinds(of.a.dtype, of.b.dtype, number, of.out.dtype, len(of.batch) + 1, parts > 1)
    kernel = _kernel(
        backend, (blocking,), kinds, lambda: matmul_panels.source(kinds, blocking), "product"
    )
    total = tiles * stack * parts
    planes = 2 if acc.kind == "c" else 1
    each = (_ROWS + blocking.high + columns) * _DEEP * planes
    each += -(-rows // blocking.high) * blocking.high * columns * planes
    each = -(-each // 64) * 64
    groups = min(total, workers)
    memory = groups * each * acc.itemsize // planes
    by = _Part(kinds, part, parts, (across, tiles, total))
    return _run(of, by, kernel, groups, 1, (memory, each, rows, columns))


def _cpu_tile(
    m: int, n: int, stack: int, workers: int, blocking: matmul_panels.Blocking
) -> tuple[int, int]:
    """Rows and columns of a tile, so that there is one for each worker."""
    high, wide = blocking.high, blocking.columns
    rows, columns = -(-m // high), -(-n // wide)
    most_rows, most_columns = max(_TILE // high, 1), max(_TILE // wide, 1)
    down, across = -(-rows // most_rows), -(-columns // most_columns)
    while down * across * stack % workers and down * across * stack < 4 * workers:
        if -(-rows // down) * high >= -(-columns // across) * wide and down < rows:
            down += 1
        elif across < columns:
            across += 1
        elif down < rows:
            down += 1
        else:
            break
    return -(-rows // down) * high, -(-columns // across) * wide


_READS_IN_FLIGHT = 4  # reads of a work-item on their way at once
_GROUPS = 16  # of a unit, for which a summed axis is cut
_LEAST = 2048  # items of a part of it
_SHORT = 128  # items of a line that CPUs rather pack


def _by_row(of: _Matrices, number: DType, by_k: bool) -> Again:
    """A row times a matrix."""
    backend, n, k, stack = of.a.backend, of.n, of.k, prod(of.batch)
    x, y = of.a.dtype, of.b.dtype
    reading = _reading(backend, of, x, y, by_k)
    tiles = -(-n // reading.results)
    limits = backend.limits
    groups, least = limits.units * _GROUPS, _LEAST
    if limits.is_cpu:
        groups, least = (limits.units * 2 if n * k * stack > _SHARED else 1), _SHARED
    parts = min(groups // (tiles * stack), k // least, _MOST_PARTS)
    part, parts = _cut(k, parts, reading.vector * reading.lanes if by_k else reading.lanes)
    kinds = Kinds(x, y, number, of.out.dtype, len(of.batch) + 1, parts > 1)
    total = tiles * stack * parts
    by = _Part(kinds, part, parts, (tiles, tiles, total))
    _begin_join(of, by)
    kernel = _kernel(
        backend, reading, kinds, lambda: matmul_vectors.source(kinds, reading), "product"
    )
    most = groups if limits.is_cpu else 1 << 20
    return _run(of, by, kernel, min(total, most), reading.group, ())


_LINES = 32  # of the matrix that a CPU's tile has, if there are enough of them
_MAX_CPU_SUMS = 2048  # sums that a CPU keeps in its first cache


def _floats(of: _Matrices, number: DType, by_k: bool) -> bool:
    """Whether a row and a matrix are floats of one precision that lie together as they are read."""
    if number.char not in "fd" or any(x.dtype != number for x in (of.a, of.b, of.out)):
        return False
    if by_k:
        return of.a_strides[1] == of.b_strides[1] == number.itemsize
    return of.b_strides[0] == number.itemsize


def _by_lines(of: _Matrices, number: DType, by_k: bool) -> Again:
    """A row times a matrix of floats, on a CPU."""
    backend, n, k, stack = of.a.backend, of.n, of.k, prod(of.batch)
    workers = backend.limits.units if n * k * stack > _SHARED else 1
    lanes = max(getattr(backend.device, "native_vector_width_float", 4) * 4 // number.itemsize, 2)
    results = _LINES if by_k else _MAX_CPU_SUMS
    while results > 4 and -(-n // results) * stack < 4 * workers:
        if not by_k and n * number.itemsize // (2 * workers) < 4096:
            break  # pieces of lines shorter than a page are slow to read
        results //= 2
    tiles = -(-n // results)
    parts = min(2 * workers // (tiles * stack), k * n // _SHARED, _MOST_PARTS)
    part, parts = _cut(k, parts, lanes)
    kinds = Kinds(number, number, number, number, len(of.batch) + 1, parts > 1)
    lines = matmul_lines.Lines(by_k, min(lanes, 16), results)
    kernel = _kernel(backend, lines, kinds, lambda: matmul_lines.source(kinds, lines), "product")
    total = tiles * stack * parts
    by = _Part(kinds, part, parts, (tiles, tiles, total))
    return _run(of, by, kernel, min(total, 2 * workers), 1, ())


def _reading(backend: Any, of: _Matrices, x: DType, y: DType, by_k: bool) -> Reading:
    """How a row's kernel reads the matrix."""
    n, k, cpu = of.n, of.k, backend.limits.is_cpu
    dense = (of.b_strides[1] if by_k else of.b_strides[0]) == y.itemsize
    vector = (max(16 // y.itemsize, 1) if not cpu else 16 if by_k else 128) if dense else 1
    while not by_k and n % vector:
        vector //= 2
    if cpu:
        row = vector if by_k and of.a_strides[1] == x.itemsize else 1
        return Reading(by_k, 1, 1, vector, _READS_IN_FLIGHT if by_k else 1, row, True)
    group = min(text.GROUP, backend.limits.group_size)
    if by_k:
        lanes = 32
        while lanes > 1 and k < _READS_IN_FLIGHT * lanes * vector:
            lanes //= 2
        while (
            lanes < group
            and k >= lanes * vector * _READS_IN_FLIGHT * 4
            and n * prod(of.batch) < 4096
        ):
            lanes *= 2
    else:
        lanes = group // min(32, 1 << (-(-n // vector) - 1).bit_length())
    row = vector if by_k and of.a_strides[1] == x.itemsize and vector * x.itemsize <= 16 else 1
    return Reading(by_k, group, lanes, vector, _READS_IN_FLIGHT, row)


_SMALL, _SMALL_CPU = 16, 24  # rows and columns at most of a small matrix


def _by_blocks(of: _Matrices, number: DType) -> Again:
    """Small matrices."""
    backend, acc, out, (m, n, k) = of.a.backend, text.acc_dtype(number), of.out, (of.m, of.n, of.k)
    b_dense, out_dense = of.b_strides[0] == of.b.itemsize, of.out_strides[1] == out.itemsize
    loose = backend.limits.is_cpu and b_dense and out_dense and acc.kind != "c"
    if loose:
        columns = min(64 // acc.itemsize, 1 << (n.bit_length() - 1))
        rows = min(m, 4)
    else:
        columns = min(max(16 // acc.itemsize, 1), 1 << (n - 1).bit_length())
        rows = 1 if m == 1 else 2 if m == 2 or acc.itemsize > 4 else 4
    vector = columns if b_dense and (loose or n % columns == 0) else 1
    dense = out_dense and (loose or n % columns == 0)
    across = -(-n // columns)
    tiles = -(-m // rows) * across
    total = tiles * prod(of.batch)
    block = Block(rows, columns, vector, dense, total >= 1 << 31, loose)
    kinds = Kinds(of.a.dtype, of.b.dtype, number, out.dtype, len(of.batch) + 1)
    kernel = _kernel(backend, block, kinds, lambda: matmul_small.source(kinds, block), "product")
    groups, size = kernel_cache.grid(backend, total)
    by = _Part(kinds, k, 1, (across, tiles, total))
    return _run(of, by, kernel, groups, size, ())
