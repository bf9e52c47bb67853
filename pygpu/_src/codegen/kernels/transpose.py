"""The kernel of copies in which adjacent items of one array are far apart in the other."""

from __future__ import annotations

from pygpu._src.codegen.template import Template

GROUP = 256


def tile_side(itemsize: int) -> int:
    """Items per side of a tile: up to 17 KiB of local memory."""
    return 64 if itemsize <= 4 else 32


_CPU = Template("""\
$head    for (pg_i64 g = PG_ID(0); g < total; g += PG_IDS(0)) {
        $where
        int rows = (int)(R - r0 < $side ? R - r0 : $side);
        int columns = (int)(C - c0 < $side ? C - c0 : $side);
        $type_ part[$side][$side];
        for (int c = 0; c < columns; c++)
            for (int r = 0; r < rows; r++)
                part[r][c] = $read;
        for (int r = 0; r < rows; r++)
            for (int c = 0; c < columns; c++)
                $write = part[r][c];
    }
}
""")

_GPU = Template("""\
$head    PG_LOCAL $type_ part[$side][$side + 1];
    int id = (int)PG_LOCAL_ID(0), x = id % $side, y = id / $side;
    for (pg_i64 g = PG_GROUP_ID(0); g < total; g += PG_GROUPS(0)) {
        $where
        if (r0 + $side <= R && c0 + $side <= C) {
            PG_UNROLL for (int k = 0; k < $side; k += $step)
                part[y + k][x] = $read;
            PG_BARRIER;
            PG_UNROLL for (int k = 0; k < $side; k += $step)
                $write = part[x][y + k];
        } else {
            for (int k = 0; k < $side; k += $step)
                if (r0 + x < R && c0 + y + k < C)
                    part[y + k][x] = $read;
            PG_BARRIER;
            for (int k = 0; k < $side; k += $step)
                if (r0 + y + k < R && c0 + x < C)
                    $write = part[x][y + k];
        }
        PG_BARRIER;
    }
}
""")


def source(type_: str, declaration: str, itemsize: int, batch: int, cpu: bool) -> str:
    """``transpose``: to[b, r, c] = from[b, r, c]. Items are adjacent along c in *to*, along r in
    *from*. Parameters: numbers of r and c, tiles along c and along both, all; lengths of the batch
    axes except the first; strides [bytes] of both along the batch axes; of *from* along c, of *to*
    along r.
    """
    side = tile_side(itemsize)
    parameters = [f"PG_ARRAY_IN({type_}, from)", f"PG_ARRAY({type_}, to)"]
    parameters.append("pg_i64 R, pg_i64 C, pg_i64 across, pg_i64 tiles, pg_i64 total")
    parameters += [f"pg_i64 n{k}" for k in range(1, batch)]
    for name in ("from", "to"):
        parameters += [f"pg_i64 {name}_b{k}" for k in range(batch)]
    parameters.append("pg_i64 from_c, pg_i64 to_r")
    find = ["pg_i64 rest = g / tiles, tile = g % tiles, from_at = 0, to_at = 0;"]
    for k in range(batch - 1, 0, -1):
        find.append(f"{{ pg_i64 left = rest / n{k}, i = rest - left * n{k}; rest = left;")
        find.append(f"from_at += i * from_b{k}; to_at += i * to_b{k}; }}")
    find.append("from_at += rest * from_b0; to_at += rest * to_b0;")
    find.append(f"pg_i64 r0 = tile / across * {side}, c0 = tile % across * {side};")
    find.append("PG_GLOBAL const char *source = (PG_GLOBAL const char *)from + from_at;")
    find.append("PG_GLOBAL char *target = (PG_GLOBAL char *)to + to_at;")
    where = "\n        ".join(find)
    read = f"((PG_GLOBAL const {type_} *)(source + (c0 + @c) * from_c))[r0 + @r]"
    write = f"((PG_GLOBAL {type_} *)(target + (r0 + @r) * to_r))[c0 + @c]"

    def at(text: str, r: str, c: str) -> str:
        return text.replace("@r", r).replace("@c", c)

    head = f"""\
{declaration}PG_KERNEL void transpose({", ".join(parameters)})
{{
    PG_START_IN({type_}, from); PG_START({type_}, to);
"""
    if cpu:
        return _CPU.fill(
            head=head,
            where=where,
            side=side,
            type_=type_,
            read=at(read, "r", "c"),
            write=at(write, "r", "c"),
        )
    step = GROUP // side
    return _GPU.fill(
        head=head,
        type_=type_,
        side=side,
        where=where,
        step=step,
        read=at(read, "x", "(y + k)"),
        write=at(write, "(y + k)", "x"),
    )
