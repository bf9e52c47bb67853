"""The kernel of Fourier transforms: one pass over many lines, in which each group processes some
of them completely.

A line of n numbers consists of n / R columns of R numbers that are n / R apart. A pass transforms
each column and writes it in the place of Stockham's autosort algorithm. So passes with lengths R,
R', ... whose product is n transform the line, with the result in order; if R = n, one pass
suffices. Within a group a column goes through radices by the same algorithm: work-items hold the
numbers of some butterflies in registers, and exchange them through local memory.

A column may also be an image of several axes: then its first radices are those of the innermost
axis, and there are no factors between the axes.

Govindaraju, Lloyd, Dotsenko, Smith and Manferdelli, High performance discrete Fourier transforms
on graphics processors (2008); Van Loan, Computational frameworks for the fast Fourier transform
(1992); for lines in passes also Bailey, FFTs in external or hierarchical memory (1990).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from pygpu._src.codegen.template import Template

from .fft_access import Segment, Side, load_function, root_segments, roots, store_function
from .fft_radix import butterfly

NAME = "fft_pass"


class Pass(NamedTuple):
    """The parameters of a kernel's source.

    real: "f32" or "f64". n: the length of the complex lines. radices: of this pass. before: the
    product of those of the earlier passes. threads: work-items per column. lines: columns per
    group. exchanges: in how many parts numbers go through local memory: 1, 2 (real, then imaginary
    parts) or 4 (halves of these). image: the lengths of its axes, the innermost first, if a column
    is an image. batch: number of axes of the lines. batch_first: neighbouring columns belong to
    neighbouring lines, rather than to one. whole: the length of real lines, or 0. fold: make the
    transform of real numbers from one of half the length. wide: indices need 64 bits. bounds:
    PG_BOUNDS is available. turns: the table has all factors between this pass and the one before.
    middle: the last pass of a transform, the filter, and the first pass of the inverse transform,
    which read and write the same columns. part: its number, from 1, in a kernel that does all
    passes of a line (CPUs), otherwise 0. end: it is the last of those.
    """

    real: str
    n: int
    radices: tuple[int, ...]
    before: int
    threads: int
    lines: int
    exchanges: int
    batch: int
    batch_first: bool
    source: Side
    target: Side
    whole: int
    fold: bool
    scaled: bool
    wide: bool
    bounds: bool
    chirp: int = 0
    convolve: bool = False
    image: tuple[int, ...] = ()
    turns: bool = False
    middle: bool = False
    part: int = 0
    end: bool = False

    @property
    def length(self) -> int:
        return prod(self.radices)

    @property
    def placed(self) -> int:
        """How far apart a column's results are."""
        return 1 if self.middle else self.before

    @property
    def suffix(self) -> str:
        """The end of the names of its functions."""
        return f"_{self.part}" if self.part else ""

    @property
    def columns(self) -> int:
        return self.n // self.length


class _Stage(NamedTuple):
    """A stage of a column: butterflies of *radix* numbers.

    width: the product of the earlier radices. base: the product of the lengths of the axes inside
    the one that it transforms. span: the same, including this axis. whole: span is the column's
    length.
    """

    radix: int
    width: int
    base: int
    span: int
    whole: bool

    @property
    def turns(self) -> int:
        """The number of different factors that it needs; 1 for the first stage of an axis."""
        return self.width // self.base

    def input(self) -> str:
        """The place of number k of butterfly q in the input."""
        apart = self.span // self.radix
        if self.whole:
            return f"q + k * {apart}"
        return f"q / {apart} * {self.span} + q % {apart} + k * {apart}"


def _stages_of(spec: Pass) -> list[_Stage]:
    found = []
    width, base = 1, 1
    axes = list(spec.image or (spec.length,))
    for radix in spec.radices:
        found.append(_Stage(radix, width, base, base * axes[0], len(axes) == 1))
        width *= radix
        if width == base * axes[0] and len(axes) > 1:
            base *= axes.pop(0)
    return found


def segments(spec: Pass) -> list[Segment]:
    """The parts of the kernel's table, in their order."""
    found = []
    for stage in _stages_of(spec):
        part = Segment("stage", stage.turns, stage.radix)
        if stage.turns > 1 and part not in found:
            found.append(part)
    if spec.turns:
        found.append(Segment("turns", spec.before, spec.length))
    elif spec.before > 1:
        found += root_segments(spec.before * spec.length)
    if spec.whole and (spec.fold or spec.source.kind == "half"):
        found += [s for s in root_segments(spec.whole) if s not in found]
    for side in (spec.source, spec.target):
        if side.factor:
            part = Segment("chirp", spec.chirp)
            if side.factor == "filter":
                part = Segment("filter", spec.chirp, spec.n)
            if part not in found:
                found.append(part)
    if spec.convolve:
        found.append(Segment("filter", spec.chirp, spec.n))
    return found


def table_offsets(spec: Pass) -> dict[Segment, int]:
    """The offsets of the parts of the table."""
    return joined_offsets((spec,))


def joined_segments(passes: Sequence[Pass]) -> list[Segment]:
    """The parts of a table for several passes."""
    return list(dict.fromkeys(part for spec in passes for part in segments(spec)))


def joined_offsets(passes: Sequence[Pass]) -> dict[Segment, int]:
    """The offsets of these parts."""
    at, found = 0, {}
    for part in joined_segments(passes):
        found[part] = at
        at += part.size
    return found


def parameters(batch: int) -> list[str]:
    """The numbers after the arrays: lines [columns of all], have (read, written), steps [bytes],
    the number of lines, lengths of the batch axes except the first, strides [bytes] of both."""
    names = ["lines", "have", "wanted", "in_step", "out_step", "many"]
    names += [f"n{k}" for k in range(1, batch)]
    names += [f"in_{k}" for k in range(batch)] + [f"out_{k}" for k in range(batch)]
    return names


_KERNEL = Template("""\
typedef pg_$real fft_real;
typedef $complex fft_complex;
typedef fft_real fft_lanes;
typedef $index fft_index;
#ifndef PG_BOUNDS
#define PG_BOUNDS(size, groups)
#endif
#ifdef __OPENCL_VERSION__
#pragma OPENCL FP_CONTRACT ON
#endif
#define FFT_PAD(i) ((i) + ((i) >> 4))
$functions
PG_KERNEL void PG_BOUNDS($group, $resident) fft_pass(PG_ARRAY_IN(pg_u8, source), PG_ARRAY_IN($complex, table), PG_ARRAY(pg_u8, target), pg_$real scale, $parameters)
{
    PG_START_IN(pg_u8, source); PG_START_IN($complex, table); PG_START(pg_u8, target);
$local
    fft_real x[$most], y[$most]$spare;
    PG_UNUSED pg_u32 id = PG_LOCAL_ID(0);
$body
}
""")

_WHERE = Template("""\
    PG_UNUSED pg_u32 $line = $line_of;
    PG_UNUSED pg_u32 $t = $t_of;
    fft_index $unit = (fft_index)PG_GROUP_ID(0) * $lines + $line;
    $find
""")


def _where(spec: Pass, side: Side, name: str) -> str:
    """The column of a work-item, and the beginning of its line."""
    if spec.lines == 1:
        line, t = "0", "id"
    elif side.lines_first:
        line, t = f"id % {spec.lines}", f"id / {spec.lines}"
    else:
        line, t = f"id / {spec.threads}", f"id % {spec.threads}"
    unit, rest, column = f"{name}_unit", f"{name}_rest", f"{name}_column"
    lines = [f"int {name}_active = {unit} < (fft_index)lines;"]
    if spec.columns == 1:
        lines.append(f"PG_UNUSED fft_index {rest} = {unit}, {column} = 0;")
    elif spec.batch_first:
        lines.append(f"fft_index {column} = {unit} / (fft_index)many;")
        lines.append(f"fft_index {rest} = {unit} - {column} * (fft_index)many;")
    else:
        lines.append(f"fft_index {rest} = {unit} / {spec.columns};")
        lines.append(f"fft_index {column} = {unit} - {rest} * {spec.columns};")
    lines.append(f"pg_i64 {name}_at = 0;")
    for k in range(spec.batch - 1, 0, -1):
        lines.append(f"{{ fft_index left = {rest} / (fft_index)n{k};")
        lines.append(
            f"{name}_at += ({rest} - left * (fft_index)n{k}) * {name}_{k}; {rest} = left; }}"
        )
    lines.append(f"{name}_at += {rest} * {name}_0;")
    return _WHERE.fill(
        line=f"{name}_line",
        line_of=line,
        t=f"{name}_t",
        t_of=t,
        unit=unit,
        lines=spec.lines,
        find="\n    ".join(lines),
    )


def _loop(spec: Pass, radix: int, t: str, body: str) -> str:
    """*body* for each butterfly q of a work-item, its own number c."""
    count = spec.length // radix
    rounds = -(-count // spec.threads)
    guard = f"if (q < {count}) " if count % spec.threads else ""
    if rounds == 1:
        return (
            f"    {{ const pg_u32 c = 0; PG_UNUSED const pg_u32 q = {t}; {guard}{{ {body} }} }}\n"
        )
    return (
        f"    PG_UNROLL for (pg_u32 c = 0; c < {rounds}; c++) "
        f"{{ PG_UNUSED const pg_u32 q = {t} + c * {spec.threads}; {guard}{{ {body} }} }}\n"
    )


def _window(spec: Pass) -> int:
    """How many numbers of a column are in local memory at a time."""
    return -(-spec.length // 2) if spec.exchanges == 4 else spec.length


def _pitch(spec: Pass) -> int:
    """Items of local memory between lines, so that neighbouring lines use different banks."""
    held = _window(spec)
    need = held + held // 16 + 1
    if spec.lines == 1:
        return need
    words = (1 if spec.real == "f32" else 2) * (2 if spec.exchanges == 1 else 1)
    banks = 32 // words
    if spec.lines >= banks:
        return need | 1
    want = max(banks // spec.lines, 1)
    while need % banks != want:
        need += 1
    return need


def local_bytes(spec: Pass) -> int:
    """Local memory per group."""
    item = (4 if spec.real == "f32" else 8) * (2 if spec.exchanges == 1 else 1)
    alone = len(spec.radices) == 1 and not (spec.fold or spec.convolve)
    turns = 2 * (4 if spec.real == "f32" else 8) * spec.radices[0] if spec.before > 1 else 0
    return spec.lines * ((0 if alone else _pitch(spec) * item) + turns)


def _exchange(spec: Pass, stage: _Stage, following: _Stage, first: bool) -> str:
    """Move the results of a stage to the inputs of the next."""
    before, after = ("in_t", "out_t") if first else ("out_t", "out_t")
    line, other = ("in_line", "out_line") if first else ("out_line", "out_line")
    radix, width = stage.radix, stage.width
    put_at = f"q / {width} * {width * radix} + q % {width} + k * {width}"
    pitch = _pitch(spec)

    def put(text: str) -> str:
        loop = f"PG_UNROLL for (pg_u32 k = 0; k < {radix}; k++) {{ pg_u32 i = {put_at}; {text} }}"
        return _loop(spec, radix, before, loop)

    def get(text: str, start: int = 0, end: int = following.radix) -> str:
        loop = (
            f"PG_UNROLL for (pg_u32 k = {start}; k < {end}; k++) "
            f"{{ PG_UNUSED pg_u32 i = {following.input()}; {text} }}"
        )
        return _loop(spec, following.radix, after, loop)

    target, source = (f"[{name} * {pitch} + FFT_PAD(i)]" for name in (line, other))
    mine, its = f"[c * {radix} + k]", f"[c * {following.radix} + k]"
    barrier = "    PG_BARRIER;\n"
    if spec.exchanges == 1:
        text = put(f"buffer{target}.re = x{mine}; buffer{target}.im = y{mine};")
        text += barrier + get(f"x{its} = buffer{source}.re; y{its} = buffer{source}.im;")
        return text + barrier
    text = ""
    for part in "xy":
        if spec.exchanges == 2:
            text += put(f"buffer{target} = {part}{mine};") + barrier
            text += get(f"{part}{its} = buffer{source};") + barrier
            continue
        window = _window(spec)
        # the inputs of a stage over the whole column are halved by k, which needs fewer registers
        middle = following.radix // 2
        halves = following.whole and following.radix % 2 == 0
        for start in (0, window):
            inside = f"i -= {start}; if (i < {window})"
            text += put(f"{inside} buffer{target} = {part}{mine};") + barrier
            if not halves:
                text += get(f"{inside} z{its} = buffer{source};") + barrier
            elif start == 0:
                text += get(f"z{its} = buffer{source};", 0, middle) + barrier
            else:
                text += get(f"i -= {start}; {part}{its} = buffer{source};", middle) + barrier
        text += get(f"{part}{its} = z{its};", 0, middle if halves else following.radix)
    return text


# The factors between passes: w^(turn (q + k count)) = w^(turn q) w^(turn count k); a work-item
# looks up the former, and the group the latter, for each of its columns.
_TURNS = Template("""\
    for (pg_u32 e = id; e < $radix * $lines; e += $group) {
        fft_index unit = (fft_index)PG_GROUP_ID(0) * $lines + e % $lines;
        turns[e] = fft_root_pass(table, (pg_u32)($column) % $before * ($count * (e / $lines)));
    }
    PG_BARRIER;
""")


def _turns(spec: Pass) -> str:
    column = "unit / (fft_index)many" if spec.batch_first else f"unit % {spec.columns}"
    return _TURNS.fill(
        radix=spec.radices[0],
        lines=spec.lines,
        group=spec.threads * spec.lines,
        column=column,
        before=spec.before,
        count=spec.length // spec.radices[0],
    )


def _first(spec: Pass) -> str:
    """Read the inputs of the first stage, with the factors between passes."""
    stage = _stages_of(spec)[0]
    radix = stage.radix
    turn = ""
    if spec.before > 1:
        turn = (
            f"{{ fft_complex a = turns[k * {spec.lines} + in_line], w; "
            "w.re = a.re * base.re - a.im * base.im; w.im = a.re * base.im + a.im * base.re; "
            "fft_real s = v.re * w.re - v.im * w.im; v.im = v.re * w.im + v.im * w.re; v.re = s; } "
        )
    load = (
        f"PG_UNROLL for (pg_u32 k = 0; k < {radix}; k++) {{ pg_u32 i = {stage.input()}; "
        f"fft_complex v = fft_load(from, (fft_index)i * {spec.columns} + in_column, "
        f"(fft_index)in_step, (fft_index)have, table); {turn}"
        f"x[c * {radix} + k] = v.re; y[c * {radix} + k] = v.im; }}"
    )
    if spec.before > 1:
        load = f"fft_complex base = fft_root_pass(table, turn * q); {load}"
    text = _where(spec, spec.source, "in")
    text += "    PG_GLOBAL const char *from = (PG_GLOBAL const char *)source + in_at;\n"
    if spec.before > 1:
        text += f"    pg_u32 turn = (pg_u32)in_column % {spec.before};\n" + _turns(spec)
    return text + "    if (in_active) {\n" + _loop(spec, radix, "in_t", load) + "    }\n"


def _last(spec: Pass) -> str:
    """Store the results of the last stage."""
    radix = spec.radices[-1]
    width = spec.length // radix
    before = spec.placed
    t = "in_t" if len(spec.radices) == 1 and not spec.convolve else "out_t"
    line = t.replace("_t", "_line")
    to = "    PG_GLOBAL char *to = (PG_GLOBAL char *)target + out_at;\n"
    arguments = "(fft_index)out_step, (fft_index)wanted, scale, table, v"
    if spec.fold:
        keep = (
            f"PG_UNROLL for (pg_u32 k = 0; k < {radix}; k++) {{ pg_u32 i = q + k * {width}; pg_u32 at = "
            f"{line} * {_pitch(spec)} + FFT_PAD(i); buffer[at].re = x[c * {radix} + k]; "
            f"buffer[at].im = y[c * {radix} + k]; }}"
        )
        text = _loop(spec, radix, t, keep) + "    PG_BARRIER;\n"
        return text + to + _fold(spec, arguments)
    base = (
        "out_column"
        if before == 1
        else f"out_column / {before} * {before * spec.length} + out_column % {before}"
    )
    if before == 1 and spec.columns > 1:
        base = f"out_column * {spec.length}"
    save = (
        f"PG_UNROLL for (pg_u32 k = 0; k < {radix}; k++) {{ pg_u32 i = q + k * {width}; fft_complex v; "
        f"v.re = x[c * {radix} + k]; v.im = y[c * {radix} + k]; "
        f"fft_store(to, base + (fft_index)i * {before}, {arguments}); }}"
    )
    text = to + f"    PG_UNUSED fft_index base = {base};\n"
    return text + f"    if (out_active) {{\n{_loop(spec, radix, t, save)}    }}\n"


_UNFOLD = Template("""\
            fft_complex w = fft_root_whole(table, (pg_u32)i), p, m, v;
            p.re = (fft_real)0.5 * (a.re + b.re); p.im = (fft_real)0.5 * (a.im - b.im);
            m.re = (fft_real)0.5 * (a.im + b.im); m.im = (fft_real)0.5 * (b.re - a.re);
            fft_real re = w.re * m.re - w.im * m.im, im = w.re * m.im + w.im * m.re;
            v.re = p.re + re; v.im = p.im + im;
            if (i == 0) v.im = 0;
            fft_store(to, i, $arguments);
            v.re = p.re - re; v.im = im - p.im;
            if (i == 0) v.im = 0;
            if (2 * i != $h) fft_store(to, $h - i, $arguments);""")


# The same for a vector of lines, from one array to another.
UNFOLD_LANES = Template("""\
        for (int i = 0; i <= $h / 2; i++) {
            int other = i == 0 ? 0 : $h - i;
            fft_complex w = fft_root_whole(table, (pg_u32)i);
            fft_lanes ex = $fromx[i], ey = $fromy[i], fx = $fromx[other], fy = $fromy[other];
            fft_lanes px = (fft_real)0.5 * (ex + fx), py = (fft_real)0.5 * (ey - fy);
            fft_lanes mx = (fft_real)0.5 * (ey + fy), my = (fft_real)0.5 * (fx - ex);
            fft_lanes x = w.re * mx - w.im * my, y = w.re * my + w.im * mx;
            $tox[i] = px + x; $toy[i] = i == 0 ? (fft_lanes)0 : py + y;
            $tox[$h - i] = px - x; $toy[$h - i] = i == 0 ? (fft_lanes)0 : y - py;
        }
""")


def _fold(spec: Pass, arguments: str) -> str:
    """The first half of the transform of real numbers, from that of their pairs."""
    h = spec.n
    at = f"out_line * {_pitch(spec)}"
    return f"""\
    if (out_active)
        for (int i = (int)out_t; i <= {h // 2}; i += {spec.threads}) {{
            int other = i == 0 ? 0 : {h} - i;
            fft_complex a = buffer[{at} + FFT_PAD(i)], b = buffer[{at} + FFT_PAD(other)];
{_UNFOLD.fill(h=h, arguments=arguments)}
        }}
"""


def pass_functions(spec: Pass) -> str:
    """The functions that the kernel's source calls."""
    return joined_functions((spec,), table_offsets(spec))


def joined_functions(passes: Sequence[Pass], where: dict[Segment, int]) -> str:
    """The functions that the source of several passes calls."""
    radices = sorted({radix for spec in passes for radix in spec.radices})
    butterflies = "".join(butterfly(radix, passes[0].real) for radix in radices)
    return butterflies + "".join(_access_functions(spec, where) for spec in passes)


def _access_functions(spec: Pass, where: dict[Segment, int]) -> str:
    """Those that read and write numbers."""
    text = ""
    if spec.before > 1 and not spec.turns:
        text += roots("pass", spec.before * spec.length, where)
    if spec.whole and (spec.fold or spec.source.kind == "half"):
        text += roots("whole", spec.whole, where)
    tables = {part.kind: at for part, at in where.items() if part.kind in ("chirp", "filter")}
    text += load_function(spec.source, spec.whole, tables, spec.chirp, spec.suffix)
    return text + store_function(spec.target, tables, spec.scaled, spec.suffix)


def _stages(spec: Pass, where: dict[Segment, int], first: bool) -> list[str]:
    """The stages of a column. first: their inputs come from memory."""
    body = []
    stages = _stages_of(spec)
    for number, stage in enumerate(stages):
        radix = stage.radix
        begin = first and number == 0
        turn = ""
        if stage.turns > 1:
            start = where[Segment("stage", stage.turns, radix)]
            of = f"q % {stage.width}" + (f" / {stage.base}" if stage.base > 1 else "")
            turn = _times_table(radix, 1, f"{start} + (k - 1) * {stage.turns} + {of}")
        transform = f"{turn}fft_radix_{radix}(x + c * {radix}, y + c * {radix});"
        body.append(_loop(spec, radix, "in_t" if begin else "out_t", transform))
        if number + 1 < len(stages):
            body.append(_exchange(spec, stage, stages[number + 1], begin))
    return body


def _times_table(radix: int, start: int, at: str) -> str:
    """Multiply the numbers from *start* of a butterfly by those in the table."""
    mine = f"[c * {radix} + k]"
    return (
        f"PG_UNROLL for (pg_u32 k = {start}; k < {radix}; k++) {{ fft_complex w = table[{at}]; "
        f"fft_real s = x{mine} * w.re - y{mine} * w.im; "
        f"y{mine} = x{mine} * w.im + y{mine} * w.re; x{mine} = s; }} "
    )


def _filter(spec: Pass, where: dict[Segment, int]) -> str:
    """Between the two transforms of a convolution: multiply by the filter, and swap real and
    imaginary parts, because the second transform is an inverse one."""
    stages = _stages_of(spec)
    width = stages[-1].width
    alone = len(stages) == 1
    at = f"{where[Segment('filter', spec.chirp, spec.n)]} + "
    at += f"(q + k * {width}) * {spec.columns} + {'in' if alone else 'out'}_column"
    radix = stages[-1].radix
    text = _loop(spec, radix, "in_t" if alone else "out_t", _times_table(radix, 0, at))
    most = _held(spec)
    text += f"    PG_UNROLL for (int k = 0; k < {most}; k++) "
    text += "{ fft_real s = x[k]; x[k] = y[k]; y[k] = s; }\n"
    return text + _exchange(spec, stages[-1], stages[0], alone)


def _held(spec: Pass) -> int:
    """The most numbers that a work-item holds."""
    return max(-(-spec.length // r // spec.threads) * r for r in spec.radices)


def source(spec: Pass) -> str:
    """``fft_pass``, a kernel for groups of threads * lines work-items. Parameters: the input, the
    table, the output, the factor, and those of parameters()."""
    where = table_offsets(spec)
    body = [_first(spec)]
    # the first exchange changes which work-item has which numbers
    exchanged = len(spec.radices) > 1 or spec.fold or spec.convolve
    body.append(_where(spec, spec.target if exchanged else spec.source, "out"))
    body += _stages(spec, where, True)
    if spec.convolve:
        body += [_filter(spec, where), *_stages(spec, where, False)]
    body.append(_last(spec))
    local, group = "", spec.threads * spec.lines
    if len(spec.radices) > 1 or spec.fold or spec.convolve:
        kind = "fft_complex" if spec.exchanges == 1 else "fft_real"
        local = f"    PG_LOCAL {kind} buffer[{spec.lines * _pitch(spec)}];"
    if spec.before > 1:
        local += f"\n    PG_LOCAL fft_complex turns[{spec.radices[0] * spec.lines}];"
    return _KERNEL.fill(
        real=spec.real,
        complex="pg_c64" if spec.real == "f32" else "pg_c128",
        index="pg_i64" if spec.wide else "int",
        functions=pass_functions(spec),
        group=group,
        resident=2 if spec.real == "f32" and group <= 256 and _held(spec) == 32 else 1,
        parameters=", ".join(f"pg_i64 {name}" for name in parameters(spec.batch)),
        local=local,
        most=_held(spec),
        spare=f", z[{_held(spec)}]" if spec.exchanges == 4 else "",
        body="".join(body),
    )


_FOLD = Template("""\
typedef pg_$real fft_real;
typedef $complex fft_complex;
typedef pg_i64 fft_index;
$functions
PG_KERNEL void fft_fold(PG_ARRAY_IN(pg_u8, source), PG_ARRAY_IN($complex, table), PG_ARRAY(pg_u8, target), pg_$real scale, $parameters)
{
    PG_START_IN(pg_u8, source); PG_START_IN($complex, table); PG_START(pg_u8, target);
    PG_FOR(item, lines) {
        $which
        int other = i == 0 ? 0 : $h - i;
        pg_i64 in_at = 0, out_at = 0;
        $find
        PG_GLOBAL const char *from = (PG_GLOBAL const char *)source + in_at;
        PG_GLOBAL char *to = (PG_GLOBAL char *)target + out_at;
        fft_complex a = *(PG_GLOBAL const fft_complex *)(from + i * in_step);
        fft_complex b = *(PG_GLOBAL const fft_complex *)(from + other * in_step);
$body
    }
}
""")


def fold_source(
    real: str, h: int, batch: int, target: Side, scaled: bool, lines_first: bool
) -> str:
    """``fft_fold``: the first half of the transforms of 2h real numbers from those of their h
    pairs. lines_first: neighbouring work-items process neighbouring lines. Its parameters are
    those of ``fft_pass``; *lines* is the number of pairs of results, h // 2 + 1 per line."""
    where = {}
    at = 0
    for part in root_segments(2 * h):
        where[part] = at
        at += part.size
    functions = roots("whole", 2 * h, where) + store_function(target, {}, scaled)
    find = []
    for k in range(batch - 1, 0, -1):
        find.append(f"{{ pg_i64 left = rest / n{k};")
        find.append(f"pg_i64 mine = rest - left * n{k}; rest = left;")
        find.append(f"in_at += mine * in_{k}; out_at += mine * out_{k}; }}")
    find.append("in_at += rest * in_0; out_at += rest * out_0;")
    each = h // 2 + 1
    which = f"pg_i64 rest = item / {each}; int i = (int)(item - rest * {each});"
    if lines_first:
        which = "int i = (int)(item / many); pg_i64 rest = item - i * many;"
    arguments = "out_step, wanted, scale, table, v"
    return _FOLD.fill(
        real=real,
        complex="pg_c64" if real == "f32" else "pg_c128",
        functions=functions,
        parameters=", ".join(f"pg_i64 {name}" for name in parameters(batch)),
        which=which,
        h=h,
        find=" ".join(find),
        body=_UNFOLD.fill(h=h, arguments=arguments),
    )
