"""The kernel of Fourier transforms for OpenCL devices that are CPUs: the same pass as in fft.py.

A work-item transforms as many columns at once as a vector has lanes, one in each lane, so that the
butterflies need no shuffles; stages alternate between two arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pygpu._src.codegen.template import Template

from .fft import UNFOLD_LANES, Pass, parameters, pass_functions, places
from .fft_access import Segment, Side

__all__ = ["source"]

_KERNEL = Template("""\
typedef pg_$real fft_real;
typedef $complex fft_complex;
typedef $lanes_type fft_lanes;
typedef pg_i64 fft_index;
#pragma OPENCL FP_CONTRACT ON
$functions
PG_KERNEL void fft_pass(PG_ARRAY_IN(pg_u8, source), PG_ARRAY_IN($complex, table), PG_ARRAY(pg_u8, target), pg_$real scale, $parameters)
{
    PG_START_IN(pg_u8, source); PG_START_IN($complex, table); PG_START(pg_u8, target);
    fft_lanes ax[$room], ay[$room], bx[$room], by[$room];
    pg_i64 blocks = (lines + $lanes - 1) / $lanes;
    PG_FOR(block, blocks) {
        pg_i64 begin = block * $lanes;
        int count = (int)(lines - begin < $lanes ? lines - begin : $lanes);
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
$store
    }
}
""")

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
                    fft_complex v = fft_load(p, (fft_index)i * $columns + column[lane], in_step, have, table);
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
                    fft_store(p, base + (fft_index)i * $before, out_step, wanted, scale, table, v);
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
                    x[k] = $fromx[g * $width + j + k * $apart];
                    y[k] = $fromy[g * $width + j + k * $apart];
                }
                $turn
                fft_radix_$radix(x, y);
                PG_UNROLL for (int k = 0; k < $radix; k++) {
                    $tox[g * $run + j + k * $width] = x[k];
                    $toy[g * $run + j + k * $width] = y[k];
                }
            }
""")

_STAGE_TURN = Template("""\
PG_UNROLL for (int k = 1; k < $radix; k++) {
                    fft_complex w = table[$table + (k - 1) * $width + j];
                    fft_lanes t = x[k] * w.re - y[k] * w.im;
                    y[k] = x[k] * w.im + y[k] * w.re;
                    x[k] = t;
                }""")


def _real_type(spec: Pass) -> str:
    return "float" if spec.real == "f32" else "double"


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
    if n <= 8:
        wide = f"{_real_type(spec)}{2 * n} v = vload{2 * n}(0, q);"
        return f"{wide} {x} = v.even; {y} = v.odd;"
    half = f"{_real_type(spec)}16"
    return (
        f"{half} v = vload16(0, q), w = vload16(1, q); {x} = (fft_lanes)(v.even, w.even); "
        f"{y} = (fft_lanes)(v.odd, w.odd);"
    )


def _write(spec: Pass, x: str, y: str) -> str:
    n = spec.lines
    if spec.target.swap:
        x, y = y, x
    scale = " * scale" if spec.scaled else ""
    if n == 1:
        return f"q[0] = {x}{scale}; q[1] = {y}{scale};"
    if n <= 8:
        return (
            f"{_real_type(spec)}{2 * n} v; v.even = {x}{scale}; v.odd = {y}{scale}; "
            f"vstore{2 * n}(v, 0, q);"
        )
    half = f"{_real_type(spec)}16"
    return (
        f"{half} v, w; fft_lanes x = {x}{scale}, y = {y}{scale}; v.even = x.lo; v.odd = y.lo; "
        "w.even = x.hi; w.odd = y.hi; vstore16(v, 0, q); vstore16(w, 1, q);"
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
                        fft_complex v = fft_load(line, at + lane, in_step, have, table);
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
                        fft_store(line, at + lane, out_step, wanted, scale, table, v);
                    }
                    continue;
                }
                $times
                { $write }""")


def _factor(spec: Pass, side: Side) -> str:
    """Multiply rx and ry by the factors from number *at* on."""
    part = Segment("chirp", spec.chirp)
    if side.factor == "filter":
        part = Segment("filter", spec.chirp, spec.n)
    place = places(spec)[part]
    read = _read(spec, "fx", "fy", False)
    return (
        f"{{ PG_GLOBAL const fft_real *q = (PG_GLOBAL const fft_real *)(table + {place} + at); "
        f"fft_lanes fx, fy; {read} fft_lanes t = rx * fx - ry * fy; ry = rx * fy + ry * fx; rx = t; }}"
    )


def _factored(spec: Pass, side: Side, x: str, y: str) -> str:
    first = f"(column[0] / {spec.before} * {spec.before * spec.length} + column[0] % {spec.before})"
    times = _factor(spec, side)
    if side.before:
        times = f"{{ fft_lanes t = rx; rx = ry; ry = t; }} {times}"
    return _FACTORED.fill(
        first=first,
        before=spec.before,
        lanes=spec.lines,
        most="wanted" if side.limit else spec.n,
        x=x,
        y=y,
        times=times,
        write=_write(spec, "rx", "ry"),
    )


def _load(spec: Pass) -> str:
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
                read=read,
                times=_factor(spec, side),
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
        quick=quick,
        start=start,
        next=after,
        length=spec.length,
        read=read,
        rows=rows,
        columns=spec.columns,
        lanes=n,
    )


def _store(spec: Pass, x: str, y: str) -> str:
    side, n, before = spec.target, spec.lines, spec.before
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
            write = _factored(spec, side, x, y)
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
    return "\n            ".join(lines)


_FILTER = Template("""\
        for (int i = 0; i < $many; i++) {
            fft_complex w = table[$table + i];
            fft_lanes t = $x[i] * w.re - $y[i] * w.im;
            $y[i] = $x[i] * w.im + $y[i] * w.re;
            $x[i] = t;
        }
""")

Names = tuple[str, str]


def _stages(
    spec: Pass, where: dict[Segment, int], here: Names, there: Names
) -> tuple[str, Names, Names]:
    """The stages, alternating between two pairs of arrays; returns the pair with the results, and
    the other one."""
    text, width = "", 1
    for number, radix in enumerate(spec.radices):
        turn = ""
        if number:
            table = where[Segment("stage", width, radix)]
            turn = _STAGE_TURN.fill(radix=radix, table=table, width=width)
        text += _STAGE.fill(
            groups=spec.length // radix // width,
            width=width,
            radix=radix,
            apart=spec.length // radix,
            run=width * radix,
            turn=turn,
            fromx=here[0],
            fromy=here[1],
            tox=there[0],
            toy=there[1],
        )
        width *= radix
        here, there = there, here
    return text, here, there


def source(spec: Pass) -> str:
    """``fft_pass`` for groups of one work-item; spec.lines is the number of lanes."""
    where = places(spec)
    names, other = ("ax", "ay"), ("bx", "by")
    stages, here, other = _stages(spec, where, names, other)
    if spec.convolve:
        at = where[Segment("filter", spec.chirp, spec.n)]
        stages += _FILTER.fill(x=here[0], y=here[1], many=spec.length, table=at)
        # the second transform is an inverse one: swap real and imaginary parts
        more, here, other = _stages(spec, where, here[::-1], other[::-1])
        stages += more
    fold = ""
    if spec.fold:
        fold = UNFOLD_LANES.fill(h=spec.n, fromx=here[0], fromy=here[1], tox=other[0], toy=other[1])
        here = other
    if spec.columns == 1:
        column = "column[lane] = 0; rest = unit;"
    elif spec.batch_first:
        column = "column[lane] = unit / many; rest = unit - column[lane] * many;"
    else:
        column = f"rest = unit / {spec.columns}; column[lane] = unit - rest * {spec.columns};"
    turn = ""
    if spec.turns:
        turn = _TURN_BY_TABLE.fill(
            before=spec.before,
            lanes=spec.lines,
            length=spec.length,
            table=where[Segment("turns", spec.before, spec.length)],
            read=_read(spec, "c", "s", False),
        )
    elif spec.before > 1:
        low = 1 << (spec.length.bit_length() // 2)
        high = -(-spec.length // low)
        turn = _TURN.fill(
            low=low, high=high, before=spec.before, lanes=spec.lines, length=spec.length
        )
    lanes = _real_type(spec) + (str(spec.lines) if spec.lines > 1 else "")
    return _KERNEL.fill(
        real=spec.real,
        complex="pg_c64" if spec.real == "f32" else "pg_c128",
        lanes_type=lanes,
        lanes=spec.lines,
        functions=pass_functions(spec) + _transpose(spec.lines),
        parameters=", ".join(f"pg_i64 {name}" for name in parameters(spec.batch)),
        room=spec.length + (1 if spec.fold else 0),
        column=column,
        find=_find(spec),
        load=_load(spec),
        turn=turn,
        stages=stages,
        fold=fold,
        store=_store(spec, *here),
    )
