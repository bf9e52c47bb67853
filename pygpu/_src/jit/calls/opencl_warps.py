"""Functions of warps in OpenCL C, for NVIDIA's OpenCL, which accepts inline PTX (Limits.warps).

They have the meaning of CUDA's functions of the same name. Values of other types than pg_u32 are
converted, those of 64 bits are passed in two halves.
"""

from __future__ import annotations

_HEAD = "PG_INLINE {result} {full}(pg_u32 mask, {kind} x{more})\n{{\n"
_SHUFFLE = """\
    pg_u32 r;
    __asm__ volatile("shfl.sync.{mode}.b32 %0, %1, %2, {bounds}, %3;"
                     : "=r"(r) : "r"(x), "r"(n), "r"(mask));
    return r;
}}
"""
_VOTE = """\
    pg_u32 r;
    __asm__ volatile("{{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }}"
                     : "=r"(r) : "r"(x), "r"(mask));
    return r;
}}
"""
_VOTE_OF_ALL = """\
    pg_i32 r;
    __asm__ volatile("{{ .reg .pred p, q; setp.ne.s32 p, %1, 0; vote.sync.{mode}.pred q, p, %2; "
                     "selp.s32 %0, 1, 0, q; }}" : "=r"(r) : "r"(x), "r"(mask));
    return r;
}}
"""
_MATCH_ANY = """\
    pg_u32 r;
    __asm__ volatile("match.any.sync.b{bits} %0, %1, %2;"
                     : "=r"(r) : "{constraint}"(x), "r"(mask));
    return r;
}}
"""
_MATCH_ALL = """\
    pg_u32 r;
    pg_i32 s;
    __asm__ volatile("{{ .reg .pred p; match.all.sync.b{bits} %0|p, %2, %3; "
                     "selp.s32 %1, 1, 0, p; }}"
                     : "=r"(r), "=r"(s) : "{constraint}"(x), "r"(mask));
    *same = s;
    return r;
}}
"""
_ACTIVE = """\
PG_INLINE pg_u32 pgw_activemask(void)
{
    pg_u32 r;
    __asm__ volatile("activemask.b32 %0;" : "=r"(r));
    return r;
}
"""
SYNCWARP = '__asm__ volatile("bar.warp.sync %0;" : : "r"({}) : "memory");'
NANOSLEEP = '__asm__ volatile("nanosleep.u32 %0;" : : "r"({}));'

_SHUFFLES = {  # PTX's mode, and the bounds of a segment: the whole warp
    "shfl_sync": ("idx", 31),
    "shfl_up_sync": ("up", 0),
    "shfl_down_sync": ("down", 31),
    "shfl_xor_sync": ("bfly", 31),
}
_TO_BITS = {"f32": "PG_BITS_F32(x)", "f64": "PG_BITS_F64(x)"}
_FROM_BITS = {"f32": "PG_FROM_BITS_F32", "f64": "PG_FROM_BITS_F64"}


def function(definitions: dict[str, str], name: str, code: str) -> str:
    """Return the name of a function for values of the compute type *code*. Its definition is added
    to *definitions*, with those that it calls."""
    if name == "activemask":
        definitions.setdefault("pgw_activemask", _ACTIVE)
        return "pgw_activemask"
    full = f"pgw_{name}_{code}"
    if full in definitions:
        return full
    bits = "u64" if code[-2:] == "64" else "u32"
    if name.startswith("match"):
        parts = {"bits": bits[1:], "constraint": "l" if bits == "u64" else "r"}
        same = name == "match_all_sync"
        body = (_MATCH_ALL if same else _MATCH_ANY).format(**parts)
        more = ", pg_i32 *same" if same else ""
        text = _wrapped(
            definitions, full, name, code, bits, "pg_u32", more, "same" if same else "", body
        )
    elif name in _SHUFFLES:
        text = _shuffle(definitions, full, name, code, bits)
    else:
        mode = name.partition("_")[0]
        body = (_VOTE if mode == "ballot" else _VOTE_OF_ALL).format(mode=mode)
        result = "pg_u32" if mode == "ballot" else "pg_i32"
        text = _HEAD.format(result=result, full=full, kind="pg_i32", more="") + body
    definitions[full] = text
    return full


def _shuffle(definitions: dict[str, str], full: str, name: str, code: str, bits: str) -> str:
    mode, bounds = _SHUFFLES[name]
    more = ", pg_i32 n"
    if code != "u64":
        body = _SHUFFLE.format(mode=mode, bounds=bounds)
        return _wrapped(definitions, full, name, code, bits, f"pg_{code}", more, "n", body)
    half = function(definitions, name, "u32")
    body = (
        f"    return (pg_u64){half}(mask, (pg_u32)(x >> 32), n) << 32\n"
        f"         | {half}(mask, (pg_u32)x, n);\n}}\n"
    )
    return _HEAD.format(result="pg_u64", full=full, kind="pg_u64", more=more) + body


def _wrapped(
    definitions: dict[str, str],
    full: str,
    name: str,
    code: str,
    bits: str,
    result: str,
    more: str,
    rest: str,
    body: str,
) -> str:
    """The definition with this body for bits; for another type, a call of the one for its bits."""
    head = _HEAD.format(result=result, full=full, kind=f"pg_{code}", more=more)
    if code == bits:
        return head + body
    inner = function(definitions, name, bits)
    given = ", ".join(filter(None, ("mask", _TO_BITS.get(code, f"(pg_{bits})x"), rest)))
    call = f"{inner}({given})"
    if result == f"pg_{code}":
        call = f"{_FROM_BITS.get(code, f'({result})')}({call})"
    return f"{head}    return {call};\n}}\n"
