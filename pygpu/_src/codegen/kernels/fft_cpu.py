"""The kernel of Fourier transforms for OpenCL devices that are CPUs: the same pass as in fft.py.

A work-item transforms as many columns at once as a vector has lanes, one in each lane, so that the
butterflies need no shuffles; stages alternate between two arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pygpu._src.codegen.template import Template

from .fft import UNFOLD_LANES, Pass, joined_functions, joined_offsets, parameters, table_offsets
from .fft_access import Segment, Side

_TYPES = Template("""\
typedef pg_$real fft_real;
typedef $complex fft_complex;
typedef $lanes_type fft_lanes;
typedef pg_i64 fft_index;
#pragma OPENCL FP_CONTRACT ON
$functions
""")

_KERNEL = Template("""\
${types}PG_KERNEL void fft_pass(PG_ARRAY_IN(pg_u8, source), PG_ARRAY_IN($complex, table), PG_ARRAY(pg_u8, target), pg_$real scale, $parameters)
{
    PG_START_IN(pg_u8, source); PG_START_IN($complex, table); PG_START(pg_u8, target);
    fft_lanes ax[$room], ay[$room], bx[$room], by[$room];
    pg_i64 blocks = (lines + $lanes - 1) / $lanes;
    PG_FOR(block, blocks) {
        pg_i64 begin = block * $lanes;
        int count = (int)(lines - begin < $lanes ? lines - begin : $lanes);
$body
    }
}
""")

_JOINED = Template("""\
${types}PG_KERNEL void fft_pass(PG_ARRAY_IN(pg_u8, source), PG_ARRAY_IN($complex, table), PG_ARRAY(pg_u8, target), PG_ARRAY(pg_u8, scratch), pg_$real scale, $parameters)
{
    PG_START_IN(pg_u8, source); PG_START_IN($complex, table); PG_START(pg_u8, target); PG_START(pg_u8, scratch);
    fft_lanes ax[$room], ay[$room], bx[$room], by[$room];
    PG_GLOBAL pg_u8 *between = scratch + PG_ID(0) * $bytes;
    PG_FOR(row, lines) {
$passes
    }
}
""")

_PASS = Template("""\
    {
        $source
        $target
        for (pg_i64 begin = 0; begin < $columns; begin += $lanes) {
        int count = $columns - begin < $lanes ? (int)($columns - begin) : $lanes;
$body
        }
    }
""")

_BODY = Template("""\
        pg_i64 column[$lanes], in_at[$lanes], out_at[$lanes];
        for (int lane = 0; lane < count; lane++) {
            pg_i64 unit = begin + lane, rest;
            $column
            $find
        }
$load
$turn
$stages
$fold
$store""")

_LOAD = Template("""\
        if ($quick) {
            PG_GLOBAL const fft_real *p = (PG_GLOBAL const fft_real *)((PG_GLOBAL const char *)source + in_at[0])$start;
            for (int i = 0; i < $length; i++) {
                PG_GLOBAL const fft_real *q = $next;
                $read
            }
        } else {
            int done = 0;
$rows
            for (int lane = 0; lane < count; lane++) {
                PG_GLOBAL const char *p = (PG_GLOBAL const char *)source + in_at[lane];
                for (int i = done; i < $length; i++) {
                    fft_complex v = fft_load$suffix(p, (fft_index)i * $columns + column[lane], in_step, have, table);
                    ((fft_real *)ax)[i * $lanes + lane] = v.re;
                    ((fft_real *)ay)[i * $lanes + lane] = v.im;
                }
            }
        }
""")

_READ_ROWS = Template("""\
            if (count == $lanes)
                for (; done + $lanes <= $length; done += $lanes) {
                    fft_lanes rx[$lanes], ry[$lanes];
                    PG_UNROLL for (int lane = 0; lane < $lanes; lane++) {
                        PG_GLOBAL const fft_real *q = (PG_GLOBAL const fft_real *)((PG_GLOBAL const char *)source + in_at[lane]) + 2 * done;
                        $read
                    }
                    fft_transpose(rx);
                    fft_transpose(ry);
                    PG_UNROLL for (int k = 0; k < $lanes; k++) { $x[done + k] = rx[k]; $y[done + k] = ry[k]; }
                }
""")

_WRITE_ROWS = Template("""\
            if (count == $lanes)
                for (; done + $lanes <= $many; done += $lanes) {
                    fft_lanes rx[$lanes], ry[$lanes];
                    PG_UNROLL for (int k = 0; k < $lanes; k++) { rx[k] = $x[done + k]; ry[k] = $y[done + k]; }
                    fft_transpose(rx);
                    fft_transpose(ry);
                    PG_UNROLL for (int lane = 0; lane < $lanes; lane++) {
                        PG_GLOBAL fft_real *q = (PG_GLOBAL fft_real *)((PG_GLOBAL char *)target + out_at[lane]) + 2 * ($base + done);
                        $write
                    }
                }
""")

_STORE = Template("""\
        if ($quick) {
            PG_GLOBAL fft_real *p = (PG_GLOBAL fft_real *)((PG_GLOBAL char *)target + out_at[0])$start;
            for (int i = 0; i < $many; i++) {
                PG_GLOBAL fft_real *q = $next;
                $write
            }
        } else {
            int done = 0;
$rows
            for (int lane = 0; lane < count; lane++) {
                PG_GLOBAL char *p = (PG_GLOBAL char *)target + out_at[lane];
                fft_index base = $base;
                for (int i = done; i < $many; i++) {
                    fft_complex v;
                    v.re = ((const fft_real *)$x)[i * $lanes + lane];
                    v.im = ((const fft_real *)$y)[i * $lanes + lane];
                    fft_store$suffix(p, base + (fft_index)i * $before, out_step, wanted, scale, table, v);
                }
            }
        }
""")

# The factors between passes: w^(turn i) = w^(turn 32 h) w^(turn l) for i = 32 h + l; both are
# looked up for all lanes.
_TURN = Template("""\
        {
            fft_lanes cx[$low], cy[$low], dx[$high], dy[$high];
            for (int lane = 0; lane < count; lane++) {
                pg_u32 turn = (pg_u32)(column[lane] % $before);
                for (int i = 0; i < $low; i++) {
                    fft_complex w = fft_root_pass(table, turn * (pg_u32)i);
                    ((fft_real *)cx)[i * $lanes + lane] = w.re;
                    ((fft_real *)cy)[i * $lanes + lane] = w.im;
                }
                for (int i = 0; i < $high; i++) {
                    fft_complex w = fft_root_pass(table, turn * (pg_u32)(i * $low));
                    ((fft_real *)dx)[i * $lanes + lane] = w.re;
                    ((fft_real *)dy)[i * $lanes + lane] = w.im;
                }
            }
            for (int h = 0, i = 0; h < $high; h++)
                for (int l = 0; l < $low && i < $length; l++, i++) {
                    fft_lanes c = cx[l] * dx[h] - cy[l] * dy[h], s = cx[l] * dy[h] + cy[l] * dx[h];
                    fft_lanes x = ax[i] * c - ay[i] * s;
                    ay[i] = ax[i] * s + ay[i] * c;
                    ax[i] = x;
                }
        }
""")

# The same, where the table has all of them. Adjacent columns have adjacent factors.
_TURN_BY_TABLE = Template("""\
        {
            pg_i64 first = column[0] % $before;
            if (count == $lanes && first + $lanes <= $before)
                for (int i = 1; i < $length; i++) {
                    PG_GLOBAL const fft_real *q = (PG_GLOBAL const fft_real *)(table + $table + first + (pg_i64)i * $before);
                    fft_lanes c, s;
                    { $read }
                    fft_lanes x = ax[i] * c - ay[i] * s;
                    ay[i] = ax[i] * s + ay[i] * c;
                    ax[i] = x;
                }
            else
                for (int lane = 0; lane < count; lane++)
                    for (int i = 1; i < $length; i++) {
                        fft_complex w = table[$table + column[lane] % $before + (pg_i64)i * $before];
                        fft_real *x = (fft_real *)ax + i * $lanes + lane;
                        fft_real *y = (fft_real *)ay + i * $lanes + lane, t = *x;
                        *x = t * w.re - *y * w.im;
                        *y = t * w.im + *y * w.re;
                    }
        }
""")

_STAGE = Template("""\
        for (int g = 0; g < $groups; g++)
            for (int j = 0; j < $width; j++) {
                fft_lanes x[$radix], y[$radix];
                PG_UNROLL for (int k = 0; k < $radix; k++) {
                    int i = g * $width + j + k * $apart;
                    $get
                }
                $turn
                fft_radix_$radix(x, y);
                PG_UNROLL for (int k = 0; k < $radix; k++) {
                    int i = g * $run + j + k * $width;
                    $put
                }
            }
""")

# The first stage of adjacent columns, whose numbers need not be kept before it.
_GET = Template("""\
PG_GLOBAL const fft_real *q = (PG_GLOBAL const fft_real *)((PG_GLOBAL const char *)source + in_at[0]) + 2 * (column[0] + (pg_i64)i * $columns);
                    { $read }
                    $turn""")

_GET_TURN = Template("""\
q = (PG_GLOBAL const fft_real *)(table + $table + column[0] % $before + (pg_i64)i * $before);
                    fft_lanes c, s;
                    { $read }
                    fft_lanes t = x[k] * c - y[k] * s;
                    y[k] = x[k] * s + y[k] * c;
                    x[k] = t;""")

# The last stage, whose results are adjacent in memory.
_PUT = Template("""\
PG_GLOBAL fft_real *q = (PG_GLOBAL fft_real *)((PG_GLOBAL char *)target + out_at[0]) + 2 * ($first + (pg_i64)i * $before);
                    $write""")

_STAGE_TURN = Template("""\
PG_UNROLL for (int k = 1; k < $radix; k++) {
                    fft_complex w = table[$table + (k - 1) * $width + j];
                    fft_lanes t = x[k] * w.re - y[k] * w.im;
                    y[k] = x[k] * w.im + y[k] * w.re;
                    x[k] = t;
                }""")


def _is_complex(side: Side, spec: Pass) -> bool:
    """Whether its items are complex numbers of the compute type, adjacent in memory."""
    return (
        side.kind == "plain"
        and side.unit
        and side.dtype.char == ("F" if spec.real == "f32" else "D")
        and not (side.limit or side.conj or side.before or side.factor)
    )


def _is_rows(side: Side, spec: Pass) -> bool:
    """Whether a line has numbers of the compute type, adjacent in memory."""
    pairs = side.kind == "pairs" and side.dtype.char == ("f" if spec.real == "f32" else "d")
    return _is_complex(side, spec) or (
        pairs and _is_complex(side._replace(kind="plain", dtype=_complex(spec)), spec)
    )


def _complex(spec: Pass) -> np.dtype[Any]:
    return np.dtype("c8" if spec.real == "f32" else "c16")


def _read(spec: Pass, x: str, y: str, swap: bool) -> str:
    """Read as many complex numbers as there are lanes at q."""
    n = spec.lines
    if swap:
        x, y = y, x
    if n == 1:
        return f"{x} = q[0]; {y} = q[1];"
    return (
        f"fft_lanes v = vload{n}(0, q), w = vload{n}(1, q); {x} = (fft_lanes)(v.even, w.even); "
        f"{y} = (fft_lanes)(v.odd, w.odd);"
    )


def _write(spec: Pass, x: str, y: str) -> str:
    n = spec.lines
    if spec.target.swap:
        x, y = y, x
    scale = " * scale" if spec.scaled else ""
    if n == 1:
        return f"q[0] = {x}{scale}; q[1] = {y}{scale};"
    return (
        f"fft_lanes v, w, vx = {x}{scale}, vy = {y}{scale}; v.even = vx.lo; v.odd = vy.lo; "
        f"w.even = vx.hi; w.odd = vy.hi; vstore{n}(v, 0, q); vstore{n}(w, 1, q);"
    )


def _transpose(lanes: int) -> str:
    """``fft_transpose(v)``: as many vectors as there are lanes, transposed by perfect shuffles: each
    round interleaves the first half of the vectors with the second."""
    names, text = [f"v[{k}]" for k in range(lanes)], ""
    digits, count = "0123456789abcdef", 0
    for _ in range(lanes.bit_length() - 1):
        following = []
        for k in range(lanes // 2):
            a, b = names[k], names[k + lanes // 2]
            for half in (range(lanes // 2), range(lanes // 2, lanes)):
                parts = ", ".join(f"{a}.s{digits[i]}, {b}.s{digits[i]}" for i in half)
                text += f"    const fft_lanes t{count} = (fft_lanes)({parts});\n"
                following.append(f"t{count}")
                count += 1
        names = following
    text += "".join(f"    v[{k}] = {name};\n" for k, name in enumerate(names))
    return f"PG_INLINE void fft_transpose(fft_lanes *v)\n{{\n{text}}}\n"


# Adjacent columns times a chirp, followed by zeros.
_CHIRPED = Template("""\
pg_i64 at = column[0] + (pg_i64)i * $columns;
                if (at >= $chirp) { ax[i] = 0; ay[i] = 0; continue; }
                if (at + $lanes > $chirp) {
                    PG_GLOBAL const char *line = (PG_GLOBAL const char *)source + in_at[0];
                    for (int lane = 0; lane < $lanes; lane++) {
                        fft_complex v = fft_load$suffix(line, at + lane, in_step, have, table);
                        ((fft_real *)ax)[i * $lanes + lane] = v.re;
                        ((fft_real *)ay)[i * $lanes + lane] = v.im;
                    }
                    continue;
                }
                { $read }
                fft_lanes rx = ax[i], ry = ay[i];
                $times
                ax[i] = rx; ay[i] = ry;""")

# The same for writing results: those after the end are skipped.
_FACTORED = Template("""\
pg_i64 at = $first + (pg_i64)i * $before;
                fft_lanes rx = $x[i], ry = $y[i];
                if (at + $lanes > $most) {
                    PG_GLOBAL char *line = (PG_GLOBAL char *)target + out_at[0];
                    for (int lane = 0; lane < $lanes && at + lane < $most; lane++) {
                        fft_complex v;
                        v.re = ((const fft_real *)&rx)[lane];
                        v.im = ((const fft_real *)&ry)[lane];
                        fft_store$suffix(line, at + lane, out_step, wanted, scale, table, v);
                    }
                    continue;
                }
                $times
                { $write }""")


def _factor(spec: Pass, side: Side, where: dict[Segment, int]) -> str:
    """Multiply rx and ry by the factors from number *at* on."""
    part = Segment("chirp", spec.chirp)
    if side.factor == "filter":
        part = Segment("filter", spec.chirp, spec.n)
    offset = where[part]
    read = _read(spec, "fx", "fy", False)
    return (
        f"{{ PG_GLOBAL const fft_real *q = (PG_GLOBAL const fft_real *)(table + {offset} + at); "
        f"fft_lanes fx, fy; {read} fft_lanes t = rx * fx - ry * fy; ry = rx * fy + ry * fx; rx = t; }}"
    )


def _factored(spec: Pass, side: Side, where: dict[Segment, int], x: str, y: str) -> str:
    first = f"(column[0] / {spec.before} * {spec.before * spec.length} + column[0] % {spec.before})"
    times = _factor(spec, side, where)
    if side.before:
        times = f"{{ fft_lanes t = rx; rx = ry; ry = t; }} {times}"
    return _FACTORED.fill(
        first=first,
        before=spec.before,
        lanes=spec.lines,
        suffix=spec.suffix,
        most="wanted" if side.limit else spec.n,
        x=x,
        y=y,
        times=times,
        write=_write(spec, "rx", "ry"),
    )


def _load(spec: Pass, where: dict[Segment, int]) -> str:
    side, n = spec.source, spec.lines
    quick, start, after = "0", "", "p"
    last = f"in_{spec.batch - 1}"
    length = f"n{spec.batch - 1}" if spec.batch > 1 else "many"
    read = _read(spec, "ax[i]", "ay[i]", side.swap)
    if spec.columns > 1 and not spec.batch_first and _is_complex(side._replace(factor=""), spec):
        if side.factor:
            read = _CHIRPED.fill(
                columns=spec.columns,
                chirp=spec.chirp,
                lanes=n,
                suffix=spec.suffix,
                read=read,
                times=_factor(spec, side, where),
            )
        quick = f"count == {n} && column[0] + {n} <= {spec.columns}"
        start = " + 2 * column[0]"
        after = f"p + (pg_i64)i * {2 * spec.columns}"
    elif (spec.columns == 1 or spec.batch_first) and _is_complex(side._replace(unit=True), spec):
        quick = (
            f"count == {n} && {last} == sizeof(fft_complex) && begin % {length} + {n} <= {length}"
        )
        step = "(pg_i64)sizeof(fft_real)"
        start = f" + column[0] * (in_step / {step})"
        after = f"p + (pg_i64)i * {spec.columns} * (in_step / {step})"
    rows = ""
    if n > 1 and spec.columns == 1 and _is_rows(side, spec):
        rows = _READ_ROWS.fill(
            lanes=n,
            length=spec.length,
            read=_read(spec, "rx[lane]", "ry[lane]", side.swap),
            x="ax",
            y="ay",
        )
    return _LOAD.fill(
        suffix=spec.suffix,
        quick=quick,
        start=start,
        next=after,
        length=spec.length,
        read=read,
        rows=rows,
        columns=spec.columns,
        lanes=n,
    )


def _store(spec: Pass, where: dict[Segment, int], x: str, y: str) -> str:
    side, n, before = spec.target, spec.lines, spec.placed
    quick, start, after = "0", "", "p"
    last = f"out_{spec.batch - 1}"
    length = f"n{spec.batch - 1}" if spec.batch > 1 else "many"
    base = "0" if spec.columns == 1 else f"column[lane] * {spec.length}"
    if before > 1:
        base = f"column[lane] / {before} * {before * spec.length} + column[lane] % {before}"
    first = base.replace("lane", "0")
    plain = side._replace(factor="", before=False, limit=side.limit and side.factor != "chirp")
    write = _write(spec, f"{x}[i]", f"{y}[i]")
    if before > 1 and not spec.batch_first and _is_complex(plain, spec):
        if side.factor:
            write = _factored(spec, side, where, x, y)
        quick = (
            f"count == {n} && column[0] + {n} <= {spec.columns} && column[0] % {before} + {n} "
            f"<= {before}"
        )
        start = f" + 2 * ({first})"
        after = f"p + (pg_i64)i * {2 * before}"
    elif (spec.columns == 1 or spec.batch_first) and _is_complex(side._replace(unit=True), spec):
        quick = (
            f"count == {n} && {last} == sizeof(fft_complex) && begin % {length} + {n} <= {length}"
        )
        step = "(out_step / (pg_i64)sizeof(fft_real))"
        start = f" + ({first}) * {step}"
        after = f"p + (pg_i64)i * {before} * {step}"
    many, rows = spec.n + 1 if spec.fold else spec.length, ""
    if n > 1 and before == 1 and _is_rows(side, spec):
        rows = _WRITE_ROWS.fill(
            lanes=n,
            many=many,
            write=_write(spec, "rx[lane]", "ry[lane]"),
            x=x,
            y=y,
            base=base,
        )
    return _STORE.fill(
        suffix=spec.suffix,
        quick=quick,
        start=start,
        next=after,
        many=many,
        write=write,
        rows=rows,
        x=x,
        y=y,
        base=base,
        before=before,
        lanes=n,
    )


def _find(spec: Pass) -> str:
    lines = ["in_at[lane] = 0; out_at[lane] = 0;"]
    for k in range(spec.batch - 1, 0, -1):
        lines.append(f"{{ pg_i64 left = rest / n{k}, mine = rest - left * n{k}; rest = left;")
        lines.append(f"in_at[lane] += mine * in_{k}; out_at[lane] += mine * out_{k}; }}")
    lines.append("in_at[lane] += rest * in_0; out_at[lane] += rest * out_0;")
    if spec.part > 1:
        lines.append("in_at[lane] = 0;")
    if spec.part and not spec.end:
        lines.append("out_at[lane] = 0;")
    return "\n            ".join(lines)


_FILTER = Template("""\
        for (int i = 0; i < $many; i++) {
            $factor
            fft_lanes t = $x[i] * fx - $y[i] * fy;
            $y[i] = $x[i] * fy + $y[i] * fx;
            $x[i] = t;
        }
""")

_FILTER_LANES = Template("""\
fft_lanes fx, fy;
            if (count == $lanes && column[0] + $lanes <= $columns && column[0] + $lanes - 1 == column[$lanes - 1]) {
                PG_GLOBAL const fft_real *q = (PG_GLOBAL const fft_real *)(table + $at + column[0]);
                $read
            } else
                for (int lane = 0; lane < count; lane++) {
                    ((fft_real *)&fx)[lane] = table[$at + column[lane]].re;
                    ((fft_real *)&fy)[lane] = table[$at + column[lane]].im;
                }""")

Names = tuple[str, str]


def _reads_columns(spec: Pass) -> bool:
    """Whether the lanes are always adjacent columns, which the first stage can read itself."""
    return (
        len(spec.radices) > 1
        and spec.columns > 1
        and not spec.batch_first
        and spec.columns % spec.lines == 0
        and _is_complex(spec.source, spec)
        and (spec.before == 1 or (spec.turns and spec.before % spec.lines == 0))
    )


def _writes_columns(spec: Pass) -> bool:
    """Whether the results of the lanes are always adjacent, so that the last stage can write
    them."""
    return (
        len(spec.radices) > 1
        and spec.placed > 1
        and not (spec.batch_first or spec.fold)
        and spec.columns % spec.lines == 0
        and spec.placed % spec.lines == 0
        and _is_complex(spec.target, spec)
    )


def _get(spec: Pass, where: dict[Segment, int]) -> str:
    turn = ""
    if spec.before > 1:
        turn = _GET_TURN.fill(
            table=where[Segment("turns", spec.before, spec.length)],
            before=spec.before,
            read=_read(spec, "c", "s", False),
        )
    read = _read(spec, "x[k]", "y[k]", spec.source.swap)
    return _GET.fill(columns=spec.columns, read=read, turn=turn)


def _put(spec: Pass) -> str:
    first = f"column[0] / {spec.placed} * {spec.placed * spec.length} + column[0] % {spec.placed}"
    return _PUT.fill(first=first, before=spec.placed, write=_write(spec, "x[k]", "y[k]"))


def _stages(
    spec: Pass, where: dict[Segment, int], here: Names, there: Names, direct: bool = True
) -> tuple[str, Names, Names]:
    """The stages, alternating between two pairs of arrays; returns the pair with the results, and
    the other one. direct: the first and the last stage may use global memory."""
    text, width = "", 1
    for number, radix in enumerate(spec.radices):
        turn = ""
        if number:
            table = where[Segment("stage", width, radix)]
            turn = _STAGE_TURN.fill(radix=radix, table=table, width=width)
        get = f"x[k] = {here[0]}[i]; y[k] = {here[1]}[i];"
        if direct and number == 0 and _reads_columns(spec):
            get = _get(spec, where)
        put = f"{there[0]}[i] = x[k]; {there[1]}[i] = y[k];"
        if number + 1 == len(spec.radices) and _writes_columns(spec):
            put = _put(spec)
        text += _STAGE.fill(
            groups=spec.length // radix // width,
            width=width,
            radix=radix,
            apart=spec.length // radix,
            run=width * radix,
            turn=turn,
            get=get,
            put=put,
        )
        width *= radix
        here, there = there, here
    return text, here, there


def _body(spec: Pass, where: dict[Segment, int]) -> str:
    """The statements that transform a vector of columns."""
    names, other = ("ax", "ay"), ("bx", "by")
    stages, here, other = _stages(spec, where, names, other)
    if spec.convolve:
        stages += _filter(spec, where, here)
        # the second transform is an inverse one: swap real and imaginary parts
        more, here, other = _stages(spec, where, here[::-1], other[::-1], False)
        stages += more
    fold = ""
    if spec.fold:
        fold = UNFOLD_LANES.fill(h=spec.n, fromx=here[0], fromy=here[1], tox=other[0], toy=other[1])
        here = other
    if spec.part:
        column = "column[lane] = unit; rest = row;"
    elif spec.columns == 1:
        column = "column[lane] = 0; rest = unit;"
    elif spec.batch_first:
        column = "column[lane] = unit / many; rest = unit - column[lane] * many;"
    else:
        column = f"rest = unit / {spec.columns}; column[lane] = unit - rest * {spec.columns};"
    return _BODY.fill(
        lanes=spec.lines,
        column=column,
        find=_find(spec),
        load="" if _reads_columns(spec) else _load(spec, where),
        turn="" if _reads_columns(spec) else _turn(spec, where),
        stages=stages,
        fold=fold,
        store="" if _writes_columns(spec) else _store(spec, where, *here),
    )


def _filter(spec: Pass, where: dict[Segment, int], here: Names) -> str:
    at = where[Segment("filter", spec.chirp, spec.n)]
    factor = f"fft_real fx = table[{at} + i].re, fy = table[{at} + i].im;"
    if spec.middle:
        factor = _FILTER_LANES.fill(
            at=f"{at} + (pg_i64)i * {spec.columns}",
            lanes=spec.lines,
            columns=spec.columns,
            read=_read(spec, "fx", "fy", False),
        )
    return _FILTER.fill(x=here[0], y=here[1], many=spec.length, factor=factor)


def _turn(spec: Pass, where: dict[Segment, int]) -> str:
    """Multiply by the factors between passes."""
    if spec.before == 1:
        return ""
    if spec.turns:
        return _TURN_BY_TABLE.fill(
            before=spec.before,
            lanes=spec.lines,
            length=spec.length,
            table=where[Segment("turns", spec.before, spec.length)],
            read=_read(spec, "c", "s", False),
        )
    low = 1 << (spec.length.bit_length() // 2)
    high = -(-spec.length // low)
    return _TURN.fill(low=low, high=high, before=spec.before, lanes=spec.lines, length=spec.length)


def _values(passes: Sequence[Pass], where: dict[Segment, int]) -> dict[str, str]:
    """The common part of kernels with one pass and with several."""
    spec = passes[0]
    real_type, complex_type = ("float", "pg_c64") if spec.real == "f32" else ("double", "pg_c128")
    types = _TYPES.fill(
        real=spec.real,
        complex=complex_type,
        lanes_type=real_type + (str(spec.lines) if spec.lines > 1 else ""),
        functions=joined_functions(passes, where) + _transpose(spec.lines),
    )
    return {
        "types": types,
        "real": spec.real,
        "complex": complex_type,
        "lanes": str(spec.lines),
        "parameters": ", ".join(f"pg_i64 {name}" for name in parameters(spec.batch)),
        "room": str(max(each.length + (1 if each.fold else 0) for each in passes)),
    }


def source(spec: Pass) -> str:
    """``fft_pass`` for groups of one work-item; spec.lines is the number of lanes."""
    where = table_offsets(spec)
    return _KERNEL.fill(_values((spec,), where), body=_body(spec, where))


def joined(passes: Sequence[Pass]) -> tuple[Pass, ...]:
    """All passes of a transform, as joined_source() needs them."""
    last = len(passes)
    return tuple(spec._replace(part=k, end=k == last) for k, spec in enumerate(passes, start=1))


def joined_source(passes: Sequence[Pass]) -> str:
    """``fft_pass`` with all passes of long lines: a work-item transforms whole lines. Between the
    passes a line is in its part of the parameter *scratch*, so near in the caches."""
    where = joined_offsets(passes)
    size = 8 if passes[0].real == "f32" else 16
    each = passes[0].n * size
    found = []
    for number, spec in enumerate(passes):
        here, there = (f"between + {(k % 2) * each}" for k in (number - 1, number))
        found.append(
            _PASS.fill(
                source=f"PG_GLOBAL const pg_u8 *source = {here};" if number else "",
                target="" if spec.end else f"PG_GLOBAL pg_u8 *target = {there};",
                columns=spec.columns,
                lanes=spec.lines,
                body=_body(spec, where),
            )
        )
    values = _values(passes, where)
    return _JOINED.fill(values, bytes=each * (len(passes) - 1), passes="".join(found))
