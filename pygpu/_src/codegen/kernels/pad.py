"""The kernel of numpy.pad for modes that repeat the array's items."""

from __future__ import annotations

from typing import Any

from pygpu._src.codegen import dtypes

_SOURCE_INDEX = {  # the index of the item of x for positions before the first or after the last of n
    "edge": "x < 0 ? 0 : n - 1",
    "wrap": "pad_mod(x, n)",
    "reflect": "n == 1 ? 0 : (n - 1) - pad_far(pad_mod(x, 2 * (n - 1)) - (n - 1))",
    "symmetric": "pad_mod(x, 2 * n) < n ? pad_mod(x, 2 * n) : 2 * n - 1 - pad_mod(x, 2 * n)",
}


def source(dtype: Any, ndim: int, mode: str) -> str:
    """The kernel ``pad`` for arrays of ndim axes: each item of out is the item of x given by the
    mode."""
    t = dtypes.storage_type(dtype)
    walk, at = ["pg_i64 rest = i;"], []
    for k in reversed(range(ndim)):
        walk.append(f"pg_i64 x{k} = rest % m{k} - before{k}; rest /= m{k};")
        at.append(f"pad_index(x{k}, n{k}) * s{k}")
    numbers = "".join(
        f", pg_i64 m{k}, pg_i64 n{k}, pg_i64 before{k}, pg_i64 s{k}" for k in range(ndim)
    )
    return f"""\
{dtypes.declare(dtype)}PG_INLINE pg_i64 pad_mod(pg_i64 x, pg_i64 n) {{ pg_i64 m = x % n; return m < 0 ? m + n : m; }}
PG_INLINE pg_i64 pad_far(pg_i64 x) {{ return x < 0 ? -x : x; }}
PG_INLINE pg_i64 pad_index(pg_i64 x, pg_i64 n) {{ return x >= 0 && x < n ? x : ({_SOURCE_INDEX[mode]}); }}
PG_KERNEL void pad(PG_ARRAY_IN({t}, x), PG_ARRAY({t}, out), pg_i64 many{numbers})
{{
    PG_START_IN({t}, x); PG_START({t}, out);
    PG_FOR(i, many) {{
        {" ".join(walk)}
        out[i] = *(PG_GLOBAL const {t} *)((PG_GLOBAL const char *)x + ({" + ".join(at)}));
    }}
}}
"""
