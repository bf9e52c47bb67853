"""Transforms along one axis, by our own kernels.

Lengths without large prime factors use the passes of codegen/kernels/fft.py. Others are
convolutions with a chirp, of a length that is a product of small primes: Bluestein, A linear
filtering approach to the computation of discrete Fourier transform (1970).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from pygpu._src.array import layout, primitives
from pygpu._src.codegen.kernels import fft as text
from pygpu._src.codegen.kernels import fft_cpu
from pygpu._src.codegen.kernels.fft_access import Segment, Side, root_segments
from pygpu._src.runtime import kernel_cache
from pygpu._src.util.frozen import Frozen

from . import plan as planning
from . import replay, tables

_LOCAL = 49152  # bytes of local memory that a group can have everywhere
_MOST = 256  # plans, kernels and tables that a backend caches
_MOST_BYTES = 1 << 28  # for tables
_SHARES = 4  # groups per core of a CPU
_ITEM = {"f32": 8, "f64": 16}

_tuning = planning.Tuning()
_generation = 0
_lock = threading.RLock()


class Request(Frozen):
    """A transform along an axis.

    n: its length, of the real line if one side is real. kind: "complex", "half" (the first half of
    the transform of real numbers), "real" (its inverse). inverse: the sign of the exponent.
    conj_in, conj_out: conjugate the input, the output.
    """

    n: int
    kind: str = "complex"
    inverse: bool = False
    conj_in: bool = False
    conj_out: bool = False


class _Step(Frozen):
    """A launch. source, target: 0 and 1 for two pieces of scratch memory, -1 for the arrays.
    joined: for how many lines of its own a group needs scratch memory, if the kernel does several
    passes."""

    kernel: Any
    table: Any
    spec: Any
    source: int
    target: int
    wanted: int
    joined: int = 0


class _Plan(Frozen):
    """Launches, and how many numbers a line has in scratch memory."""

    steps: tuple[_Step, ...]
    scratch: int


class _Lines(Frozen):
    """Lines of two arrays: how many along each of some axes, the strides of both along these, and
    along the line [bytes]."""

    shape: tuple[int, ...]
    source: tuple[int, ...]
    target: tuple[int, ...]
    steps: tuple[int, int]
    have: tuple[int, int]

    @property
    def many(self) -> int:
        return prod(self.shape)


def _precision(dtype: np.dtype[Any]) -> str:
    """Return the precision in which results of a dtype are computed."""
    return "f32" if dtype.char in "efF" else "f64"


def set_tuning(tuning: planning.Tuning) -> None:
    """Use other numbers for later plans, for measurements. Existing plans are kept."""
    global _tuning, _generation
    _tuning, _generation = tuning, _generation + 1


def generation() -> int:
    """Return how often the numbers for plans were changed."""
    return _generation


def _store(backend: Any) -> OrderedDict[Any, Any]:
    store: OrderedDict[Any, Any] = backend.__dict__.setdefault("_fft_plans", OrderedDict())
    return store


def clear_plans(backend: Any) -> None:
    """Drop the plans of a backend."""
    with _lock:
        _store(backend).clear()
        backend.__dict__.pop("_fft_calls", None)


def _cached(backend: Any, key: Any, make: Any) -> Any:
    """Return the object that *make* makes for a key; the last _MOST used are cached."""
    with _lock:
        store = _store(backend)
        found = store.get(key)
        if found is not None:
            store.move_to_end(key)
            return found
    made = make()
    with _lock:
        store[key] = made
        while len(store) > _MOST or (len(store) > 1 and _table_bytes(store) > _MOST_BYTES):
            store.popitem(last=False)
            backend.__dict__.pop("_fft_calls", None)  # which would keep it alive
    return made


def _is_cached(backend: Any, key: Any) -> bool:
    with _lock:
        return key in _store(backend)


def _table_bytes(store: OrderedDict[Any, Any]) -> int:
    """Return the memory of all tables, including those that only plans still hold."""
    found = {}
    for made in store.values():
        tables_of = [made] if isinstance(made, _Table) else []
        if isinstance(made, _Plan):
            tables_of = [step.table for step in made.steps]
        found.update({id(table): table.nbytes for table in tables_of})
    return sum(found.values())


def _kernel(backend: Any, key: Any, make: Any, name: str) -> Any:
    def compiled() -> Any:
        features = ["half", "warps"] if backend.limits.warps else ["half"]
        source = kernel_cache.source(backend, make(), features)
        program = backend.compile(source, backend.dialect.quiet)
        return program.kernel(name)

    return _cached(backend, ("kernel", key), compiled)


def _table(like: Any, parts: list[Segment], real: str) -> Any:
    backend = like.backend

    def table() -> Any:
        host = tables.build(parts, "c8" if real == "f32" else "c16")
        memory = backend.allocate(host.nbytes, None, like.queue)
        backend.to_device(like._queue(), memory, 0, host)
        return _Table(memory, host.nbytes)

    return _cached(backend, ("table", real, tuple(parts)), table)


class _Table:
    """A table in device memory."""

    __slots__ = ("memory", "nbytes")

    def __init__(self, memory: Any, nbytes: int) -> None:
        self.memory, self.nbytes = memory, nbytes


class _Scratch(primitives.Memory):
    """Scratch memory of known size."""

    __slots__ = ("nbytes",)

    def __init__(self, backend: Any, like: Any, nbytes: int) -> None:
        super().__init__(backend, like, max(nbytes, 1))
        self.nbytes = max(nbytes, 1)


class _Operand:
    """A table as an operand of launch()."""

    __slots__ = ("_foreign", "base_data", "events", "offset", "queue")

    def __init__(self, memory: Any, queue: Any) -> None:
        self.base_data, self.offset, self.queue = memory, 0, queue
        self.events: list[Any] = []
        self._foreign = False

    def _set_event(self, event: Any) -> None: ...

    def _add_event(self, event: Any) -> None: ...


# ---- plans


def _lines_of(a: Any, out: Any, axis: int, have: int, wanted: int) -> _Lines:
    rest = [k for k in range(a.ndim) if k != axis]
    shape, (source, target) = layout.collapse(
        tuple(a.shape[k] for k in rest),
        tuple(a.strides[k] for k in rest),
        tuple(out.strides[k] for k in rest),
    )
    return _Lines(shape, source, target, (a.strides[axis], out.strides[axis]), (have, wanted))


def _sides(request: Request, a: Any, out: Any, lines: _Lines) -> tuple[int, Side, Side, bool]:
    """Return (length of the complex lines, input side, output side, whether the half-length method
    is used)."""
    n, inverse = request.n, request.inverse
    by_halves = request.kind != "complex" and n % 2 == 0
    length = n // 2 if by_halves else n
    read = write = "plain"
    if request.kind == "half" and by_halves:
        read = "pairs"
    elif request.kind == "real":
        read, write = ("half", "pairs") if by_halves else ("hermitian", "plain")
    need = {"plain": n, "pairs": n, "half": n // 2 + 1, "hermitian": n // 2 + 1}[read]
    steps = lines.steps
    source = Side(
        a.dtype,
        read,
        unit=steps[0] == a.itemsize,
        limit=lines.have[0] < need,
        conj=request.conj_in,
        swap=inverse,
    )
    target = Side(
        out.dtype,
        write,
        unit=steps[1] == out.itemsize,
        limit=request.kind == "half" and not by_halves,
        conj=request.conj_out,
        swap=inverse,
    )
    return length, source, target, by_halves


def _group(
    axes: tuple[int, ...],
    item: int,
    wide: int,
    together: bool,
    many: int,
    most: int,
    tuning: planning.Tuning,
) -> tuple[planning.Stages, int]:
    """Return the stages of a pass, and the columns of a group. item: a lower bound of bytes in
    local memory."""
    found, length = planning.stages(axes, tuning), prod(axes)
    per_line = (length + length // 8 + 16) * item
    lines = max(tuning.least // found.threads, 1)
    if together:
        lines = max(lines, tuning.together // wide)
    lines = min(lines, max(tuning.threads // found.threads, 1), max(most // per_line, 1))
    lines = 1 << (lines.bit_length() - 1)
    while lines > 1 and lines >= 2 * many:
        lines //= 2
    return found, lines


def _strided(lines: _Lines, side: int) -> bool:
    """Whether neighbouring lines are closer together than neighbouring items of a line."""
    between = lines.target if side else lines.source
    return lines.many > 1 and abs(between[-1]) < abs(lines.steps[side])


def _cut(
    like: Any, length: int, many: int, strided: bool, real: str, folds: bool = False
) -> tuple[int, ...]:
    """Return the lengths of the passes. folds: a single one may do the whole transform of real
    numbers."""
    item = _ITEM[real]
    if like.backend.limits.is_cpu:
        lanes = _vector(like.backend) // (item // 2)
        column = _tuning.cpu_column // item
        single = _tuning.cpu_single // item
        if many < lanes and length >= lanes * lanes:
            single = lanes
        elif not folds and _may_join(like, length, many, strided, item):
            single = _tuning.cpu_short // item
        return planning.passes(length, single, column)
    limits = like.backend.limits
    most = min(limits.local_bytes, _LOCAL) * 7 // 2 // item  # in four exchanges
    most = min(most, _tuning.long_elements * min(_tuning.threads, limits.group_size))
    column = min(_tuning.column // item, most)
    return planning.passes(length, column if strided else min(_tuning.single // item, most), column)


def _may_join(like: Any, length: int, many: int, strided: bool, item: int) -> bool:
    """Whether a kernel does all passes of a line: on CPUs, if each core has some lines."""
    limits = like.backend.limits
    # plans are shared by numbers of lines of as many bits
    enough = _bits_of(many) >= _bits_of(limits.units * _SHARES)
    return limits.is_cpu and enough and not strided and length * item <= _tuning.cpu_joined


def _bits_of(many: int) -> int:
    return min(many, 512).bit_length()


class _Cuts(Frozen):
    """The parameters that all passes of a transform share."""

    like: Any
    lines: _Lines
    real: str
    wide: bool
    whole: int = 0
    chirp: int = 0
    image: tuple[int, ...] = ()

    @property
    def item(self) -> int:
        """The bytes of a complex number."""
        return _ITEM[self.real]

    @property
    def strided(self) -> bool:
        return _strided(self.lines, 0)

    @property
    def scratch(self) -> Side:
        """Return scratch memory as a side of a pass."""
        return Side(np.dtype(f"c{self.item}"), unit=not self.strided)

    def lengths(self, n: int) -> tuple[int, ...]:
        """Return the passes of a transform of n numbers."""
        return _cut(self.like, n, self.lines.many, self.strided, self.real, self.whole > 0)


def _passes_of(
    cuts: _Cuts,
    length: int,
    source: Side,
    target: Side,
    *,
    scaled: bool = False,
    fold: bool = False,
    convolve: bool = False,
    turned: bool = False,
) -> list[text.Pass]:
    """Return the passes of a complex transform; between them numbers are in scratch memory.
    turned: in the opposite order of lengths."""
    lines, strided, is_cpu = cuts.lines, cuts.strided, cuts.like.backend.limits.is_cpu
    spread = _strided(lines, 1)
    parts = cuts.lengths(length)[:: -1 if turned else 1]
    several = len(parts) > 1
    found: list[text.Pass] = []
    before = 1
    for number, part in enumerate(parts):
        last = number + 1 == len(parts)
        mine = cuts.scratch if number else source
        its = target if last else cuts.scratch
        radices, threads, many = _shape_of(
            cuts, part, several or strided or spread, length // part, fold and last
        )
        spec = text.Pass(
            real=cuts.real,
            n=length,
            radices=radices,
            before=before,
            threads=threads,
            lines=many,
            exchanges=1,
            batch=len(lines.shape),
            batch_first=strided,
            source=mine._replace(lines_first=several or strided),
            target=its._replace(lines_first=before > 1 or strided or (last and spread)),
            whole=cuts.whole,
            fold=fold and last,
            scaled=scaled and last,
            wide=cuts.wide,
            bounds=cuts.like.backend.limits.warps,
            chirp=cuts.chirp,
            convolve=convolve,
            image=cuts.image,
            turns=is_cpu and not strided and 1 < before <= _tuning.cpu_turns // part,
        )
        found.append(_fitted(spec, cuts.like.backend.limits))
        before *= part
    return found


def _vector(backend: Any) -> int:
    """Return the bytes of a vector of a CPU: 64 where those of the hardware are as long."""
    native = 4 * getattr(backend.device, "native_vector_width_float", 8)
    return min(_tuning.vector, max(native, 32))


def _shape_of(
    cuts: _Cuts, part: int, together: bool, columns: int, fold: bool
) -> tuple[tuple[int, ...], int, int]:
    """Return (radices, work-items per column, columns per group) of a pass."""
    limits, item = cuts.like.backend.limits, cuts.item
    if limits.is_cpu:
        tuning = _tuning.but(threads=part, radix=_tuning.cpu_radix)
        stages, many = planning.stages((part,), tuning), _vector(cuts.like.backend) // (item // 2)
    else:
        tuning = _tuning.but(threads=min(_tuning.threads, limits.group_size))
        if part * item > _tuning.long and item == _ITEM["f32"] and not cuts.image:
            tuning = tuning.but(radix=_tuning.long_radix, elements=_tuning.long_elements)
        stages, many = _group(
            cuts.image or (part,),
            item if fold else item // 2,
            item,
            together,
            cuts.lines.many * columns,
            min(limits.local_bytes, _LOCAL),
            tuning,
        )
    return stages.radices, stages.threads, many


def _fitted(spec: text.Pass, limits: Any) -> text.Pass:
    """Limit a pass to the available local memory: numbers are exchanged in pieces, or a group has
    fewer columns."""
    if limits.is_cpu:
        return spec
    room = min(limits.local_bytes, _LOCAL)
    if text.local_bytes(spec) > min(_tuning.full, room) and not spec.fold:
        spec = spec._replace(exchanges=2)
    while text.local_bytes(spec) > room and spec.lines > 1:
        spec = spec._replace(lines=spec.lines // 2)
    if text.local_bytes(spec) > room and not spec.fold:
        spec = spec._replace(exchanges=4)
    return spec


def _make(
    request: Request,
    a: Any,
    out: Any,
    lines: _Lines,
    scaled: bool,
    wide: bool,
    image: tuple[int, ...],
) -> Callable[[], _Plan]:
    """Start compiling the kernels of a plan. Returns the function that waits for them."""
    real = _precision(out.dtype)
    length, source, target, by_halves = _sides(request, a, out, lines)
    whole = request.n if request.kind != "complex" else 0
    smooth = planning.is_smooth(length)
    inner = length if smooth else planning.convolution_length(length)
    if inner >= 1 << 31:
        raise ValueError(f"a transform of {request.n} numbers is too long for pygpu's kernels")
    cuts = _Cuts(a, lines, real, wide, whole, 0 if smooth else length, image)
    limits = a.backend.limits
    folded = by_halves and request.kind == "half"
    in_local = (length + length // 8 + 16) * cuts.item <= min(limits.local_bytes, _LOCAL)
    at_once = smooth and (in_local or limits.is_cpu) and len(cuts.lengths(length)) == 1
    apart = folded and not at_once
    end = cuts.scratch if apart else target
    scaled_end = scaled and not apart
    if smooth:
        passes = _passes_of(cuts, length, source, end, scaled=scaled_end, fold=folded and at_once)
    else:
        passes = _convolution(cuts, inner, source, end, scaled_end)
    wanted = request.n // 2 + 1 if request.kind == "half" and not by_halves else length
    fold = _Fold(cuts, request.n, target, scaled) if apart else None
    steps = _steps(cuts, passes, fold, wanted)
    return lambda: _Plan(steps(), inner)


def _convolution(cuts: _Cuts, inner: int, source: Side, end: Side, scaled: bool) -> list[text.Pass]:
    """Return the passes of a transform as a convolution over *inner* numbers: a transform, the
    filter, and an inverse transform."""
    source = source._replace(factor="chirp")
    end = end._replace(before=True, factor="chirp", limit=True)
    if len(cuts.lengths(inner)) == 1:
        return _passes_of(cuts, inner, source, end, scaled=scaled, convolve=True)
    if len(cuts.lengths(inner)) == 2:
        return _convolution_in_three(cuts, inner, source, end, scaled)
    between = cuts.scratch._replace(factor="filter", swap=True)
    there = _passes_of(cuts, inner, source, between)
    return there + _passes_of(cuts, inner, cuts.scratch, end, scaled=scaled)


def _convolution_in_three(
    cuts: _Cuts, inner: int, source: Side, end: Side, scaled: bool
) -> list[text.Pass]:
    """Return the passes of a convolution whose transforms have two each. The second of one and the
    first of the other transform the same columns, if their lengths are the same: one pass."""
    first, second = _passes_of(cuts, inner, source, cuts.scratch)
    target = second.target._replace(lines_first=cuts.strided)
    middle = second._replace(target=target, convolve=True, middle=True)
    last = _passes_of(cuts, inner, cuts.scratch, end, scaled=scaled, turned=True)[1]
    return [first, _fitted(middle, cuts.like.backend.limits), last]


def _steps(
    cuts: _Cuts, passes: list[text.Pass], fold: _Fold | None, wanted: int
) -> Callable[[], tuple[_Step, ...]]:
    """Start compiling a launch for each pass, and the one for *fold*, for which the last pass
    writes to scratch memory too. Returns the function that waits for them."""
    backend = cuts.like.backend
    launches = _joined(cuts, passes)
    makers: list[Callable[[], Any]]
    makers = [partial(_kernel, backend, of, _source(backend, of), text.NAME) for of in launches]
    if fold is not None:
        makers.append(fold.kernel)
    compiled = kernel_cache.begin(backend, makers)

    def finish() -> tuple[_Step, ...]:
        steps: list[_Step] = []
        at, kernels = -1, compiled()
        for number, (of, kernel) in enumerate(zip(launches, kernels)):
            to = -1 if number + 1 == len(launches) and fold is None else (at + 1) % 2
            table = _table(cuts.like, text.joined_segments(of), cuts.real)
            steps.append(_Step(kernel, table, of[0], at, to, wanted, len(of) - 1))
            at = to
        if fold is not None:
            table = _table(cuts.like, root_segments(fold.n), cuts.real)
            steps.append(_Step(kernels[-1], table, None, at, -1, 0))
        return tuple(steps)

    return finish


def _joined(cuts: _Cuts, passes: list[text.Pass]) -> list[tuple[text.Pass, ...]]:
    """Return the passes of each launch: several where a kernel does all of them."""
    many, strided = cuts.lines.many, cuts.strided
    if len(passes) > 1 and _may_join(cuts.like, passes[0].n, many, strided, cuts.item):
        return [fft_cpu.joined(passes)]
    return [(spec,) for spec in passes]


def _source(backend: Any, of: tuple[text.Pass, ...]) -> Any:
    """Return the function that makes a kernel's source."""
    if len(of) > 1:
        return partial(fft_cpu.joined_source, of)
    return partial((fft_cpu if backend.limits.is_cpu else text).source, *of)


class _Fold(NamedTuple):
    """The launch that makes the transform of n real numbers from that of their pairs."""

    cuts: _Cuts
    n: int
    target: Side
    scaled: bool

    def kernel(self) -> Any:
        cuts = self.cuts
        batch, target = len(cuts.lines.shape), self.target._replace(limit=False)
        options = (cuts.real, self.n // 2, batch, target, self.scaled, cuts.strided)
        make = partial(text.fold_source, *options)
        return _kernel(cuts.like.backend, ("fold", *options), make, "fft_fold")


# ---- execution


class Waiting:
    """Transforms that wait until the kernels of all of them are compiled, in their order."""

    def __init__(self) -> None:
        self.runs: list[Callable[[], None]] = []
        self.begun: dict[Any, Callable[[], _Plan]] = {}  # plans that are being made

    def finish(self) -> None:
        """Launch them."""
        for run in self.runs:
            run()


def transform(
    request: Request, a: Any, out: Any, axis: int, factor: float, waiting: Waiting | None = None
) -> None:
    """Transform the lines of *a* along an axis to those of *out*, times a factor.

    waiting: if kernels must be compiled, or if others wait, the transform is added to these instead
    of being launched.

    *out* is float32 or complex64 to compute in single precision, else float64 or complex128; it
    may be float16 if it is real. Both have aligned items; they share no memory, or are the same.
    Lines of *a* that are too short are padded with zeros.
    """
    need = request.n // 2 + 1 if request.kind == "real" else request.n
    have = min(a.shape[axis], need)
    lines = _lines_of(a, out, axis, have, out.shape[axis])
    _transform(request, a, out, lines, have < need, factor, waiting)


def passes_of(a: Any, n: int, like: np.dtype[Any]) -> int:
    """Return the number of launches of a transform along the last axis of an array in C order, for
    results of complex type *like*; 0 if its length is not a product of radices."""
    if not planning.is_smooth(n):
        return 0
    return len(_cut(a, n, a.size // n, False, _precision(like)))


def image_axes(a: Any, axes: Sequence[int], like: np.dtype[Any]) -> tuple[int, ...] | None:
    """Return these axes from the innermost to the outermost, if one pass can transform them all at
    once; for results of complex type *like*."""
    if a.backend.limits.is_cpu or not a._is_aligned or len(set(axes)) < len(axes):
        return None
    order = sorted(axes, key=lambda k: abs(a.strides[k]))
    if any(
        a.strides[outer] != a.strides[inner] * a.shape[inner]
        for inner, outer in zip(order, order[1:])
    ):
        return None
    lengths = [a.shape[k] for k in order]
    n = prod(lengths)
    if not all(1 < k and planning.is_smooth(k) for k in lengths):
        return None
    between = [abs(a.strides[k]) for k in range(a.ndim) if k not in order and a.shape[k] > 1]
    strided = bool(between) and min(between) < abs(a.strides[order[0]])
    many = a.size // n
    real = _precision(like)
    if n * _ITEM[real] > _tuning.long or len(_cut(a, n, many, strided, real)) > 1:
        return None
    return tuple(order)


def transform_image(
    request: Request,
    a: Any,
    out: Any,
    axes: tuple[int, ...],
    factor: float,
    waiting: Waiting | None = None,
) -> None:
    """The same along several axes, given as image_axes() gives them for both arrays."""
    rest = [k for k in range(a.ndim) if k not in axes]
    shape, (source, target) = layout.collapse(
        tuple(a.shape[k] for k in rest),
        tuple(a.strides[k] for k in rest),
        tuple(out.strides[k] for k in rest),
    )
    inner = axes[0]
    steps = a.strides[inner], out.strides[inner]
    lines = _Lines(shape, source, target, steps, (request.n, request.n))
    image = tuple(a.shape[k] for k in axes)
    _transform(request, a, out, lines, False, factor, waiting, image)


def _transform(
    request: Request,
    a: Any,
    out: Any,
    lines: _Lines,
    filled: bool,
    factor: float,
    waiting: Waiting | None,
    image: tuple[int, ...] = (),
) -> None:
    """filled: pad the existing items with zeros."""
    room = max(
        lines.many * request.n * 32,
        *(abs(s) * n for s, n in zip(a.strides, a.shape)),
        *(abs(s) * n for s, n in zip(out.strides, out.shape)),
    )
    key = (
        request,
        a.dtype,
        out.dtype,
        len(lines.shape),
        room >= 1 << 31,
        factor != 1,
        lines.steps[0] == a.itemsize,
        lines.steps[1] == out.itemsize,
        _strided(lines, 0),
        _strided(lines, 1),
        _bits_of(lines.many),
        filled,
        image,
        _tuning,
    )

    def make() -> Callable[[], _Plan]:
        return _make(request, a, out, lines, factor != 1, room >= 1 << 31, image)

    finish = waiting.begun.get(key) if waiting is not None else None
    if finish is None and not _is_cached(a.backend, key):
        finish = make()
        if waiting is not None:
            waiting.begun[key] = finish

    def run() -> None:
        plan = _cached(a.backend, key, finish or (lambda: make()()))
        _run(plan, a, out, lines, factor)

    if waiting is not None and (waiting.runs or finish is not None):
        waiting.runs.append(run)
    else:
        run()


def _run(plan: _Plan, a: Any, out: Any, lines: _Lines, factor: float) -> None:
    size = 8 if out.dtype.char in "efF" else 16
    strided, cpu = _strided(lines, 0), a.backend.limits.is_cpu
    shape, n = lines.shape, plan.scratch
    total = lines.many * n * size
    scratch: list[Any] = [None, None]
    for step in plan.steps:
        for side in (step.source, step.target):
            if side >= 0 and scratch[side] is None:
                scratch[side] = _Scratch(a.backend, a, total)
    between, by = _scratch_strides(shape, n, size, strided)
    queue, recorder = a.queue, replay.current_recorder()
    for step in plan.steps:
        source = a if step.source < 0 else scratch[step.source]
        target = out if step.target < 0 else scratch[step.target]
        outside = step.source < 0, step.target < 0
        if step.spec is None:
            groups, group, count = _fold_grid(a.backend, lines)
        else:
            spec = step.spec
            count = lines.many * (1 if step.joined else spec.columns)
            groups, group = -(-count // spec.lines), spec.threads * spec.lines
            if cpu:
                most = a.backend.limits.units * _SHARES
                groups, group = min(count if step.joined else groups, most), 1
        numbers = [
            factor,
            count,
            lines.have[0] if outside[0] else n,
            step.wanted,
            lines.steps[0] if outside[0] else by,
            lines.steps[1] if outside[1] else by,
            lines.many,
            *shape[1:],
            *(lines.source if outside[0] else between),
            *(lines.target if outside[1] else between),
        ]
        table = _Operand(step.table.memory, queue)
        writes = [target]
        if step.joined:
            writes.append(_Scratch(a.backend, a, groups * step.joined * step.spec.n * size))
        if recorder is not None:
            recorder.note(step.kernel, groups, group, source, step.table.memory, writes, numbers)
        primitives.launch(a, step.kernel, groups, group, [source, table], writes, numbers)


def _fold_grid(backend: Any, lines: _Lines) -> tuple[int, int, int]:
    h = lines.have[1] - 1
    count = lines.many * (h // 2 + 1)
    groups, group = kernel_cache.grid(backend, count)
    return groups, group, count


def _scratch_strides(
    shape: tuple[int, ...], n: int, size: int, strided: bool
) -> tuple[tuple[int, ...], int]:
    """Return the strides of lines in scratch memory, and along a line: lines that are adjacent in
    the array are adjacent there."""
    if not strided:
        return tuple(s * n for s in layout.c_strides(shape, size)), size
    *outer, last = shape
    strides = [s * n * last for s in layout.c_strides(tuple(outer), size)]
    return (*strides, size), size * last
