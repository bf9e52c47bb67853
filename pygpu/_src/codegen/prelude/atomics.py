"""Atomic functions of the common language, implemented by each backend's own.

For T of i32, u32, i64, u64, f32 and f64 (if the device supports them):

* pg_atomic_add_T(p, x), pg_atomic_min_T, pg_atomic_max_T, and pg_atomic_cas_T(p, expected, x) for
  integers: on global memory; they return the previous value.
* pg_local_atomic_add_T(p, x) and so on: the same on local memory.

Minimum and maximum of floats ignore NaN in x.
"""

from __future__ import annotations

import re


def _float_by_cas(space: str, prefix: str, t: str, bits: str, op: str, value: str, cas: str) -> str:
    """Read, compute, compare and swap, until no other thread interfered."""
    upper = t.upper()
    return f"""\
PG_INLINE pg_{t} {prefix}atomic_{op}_{t}(volatile {space} pg_{t} *p, pg_{t} x)
{{
    volatile {space} pg_{bits} *bits = (volatile {space} pg_{bits} *)p;
    pg_{bits} old = *bits, seen;
    for (;;) {{
        pg_{t} was = PG_FROM_BITS_{upper}(old);
        pg_{t} wanted = {value};
        seen = {cas}(bits, old, PG_BITS_{upper}(wanted));
        if (seen == old)
            return was;
        old = seen;
    }}
}}
"""


_LOOPS = re.compile(r"atomic_(?:add|min|max)_(?:[fiu]64|f32)")
_MIN, _MAX, _ADD = "x < was ? x : was", "x > was ? x : was", "was + x"


def _opencl() -> tuple[str, str]:
    lines = []
    for space in ("", "local_"):
        for t in ("i32", "u32"):
            for op in ("add", "min", "max"):
                lines.append(f"#define pg_{space}atomic_{op}_{t}(p, x) atomic_{op}(p, x)")
            lines.append(f"#define pg_{space}atomic_cas_{t}(p, e, x) atomic_cmpxchg(p, e, x)")
    lines.append("#ifdef PG_INT64_ATOMICS")
    for space in ("", "local_"):
        for t in ("i64", "u64"):
            lines.append(f"#define pg_{space}atomic_add_{t}(p, x) atom_add(p, x)")
            lines.append(f"#define pg_{space}atomic_cas_{t}(p, e, x) atom_cmpxchg(p, e, x)")
    lines.append("#endif")
    loops = ""
    for space, prefix in (("__global", "pg_"), ("__local", "pg_local_")):
        for op, value in (("add", _ADD), ("min", _MIN), ("max", _MAX)):
            loops += _float_by_cas(space, prefix, "f32", "u32", op, value, "atomic_cmpxchg")
        loops += "#ifdef PG_INT64_ATOMICS\n"
        for t in ("i64", "u64"):
            for op, value in (("min", _MIN), ("max", _MAX)):
                loops += f"""\
PG_INLINE pg_{t} {prefix}atomic_{op}_{t}(volatile {space} pg_{t} *p, pg_{t} x)
{{
    pg_{t} was = *p, seen;
    while ((seen = atom_cmpxchg(p, was, {value})) != was)
        was = seen;
    return was;
}}
"""
        loops += "#ifdef PG_FP64\n"
        for op, value in (("add", _ADD), ("min", _MIN), ("max", _MAX)):
            loops += _float_by_cas(space, prefix, "f64", "u64", op, value, "atom_cmpxchg")
        loops += "#endif\n#endif\n"
    return "\n".join(lines) + "\n", loops


def _cuda() -> tuple[str, str]:
    text = ""
    for prefix in ("pg_", "pg_local_"):
        for t in ("i32", "u32", "u64"):
            for op in ("add", "min", "max"):
                text += (
                    f"#define {prefix}atomic_{op}_{t}(p, x) atomic{op.title()}(p, (pg_{t})(x))\n"
                )
            text += (
                f"#define {prefix}atomic_cas_{t}(p, e, x) atomicCAS(p, (pg_{t})(e), (pg_{t})(x))\n"
            )
        text += f"""\
#define {prefix}atomic_add_i64(p, x) ((pg_i64)atomicAdd((pg_u64 *)(p), (pg_u64)(x)))
#define {prefix}atomic_cas_i64(p, e, x) ((pg_i64)atomicCAS((pg_u64 *)(p), (pg_u64)(e), (pg_u64)(x)))
#define {prefix}atomic_min_i64(p, x) atomicMin(p, (pg_i64)(x))
#define {prefix}atomic_max_i64(p, x) atomicMax(p, (pg_i64)(x))
#define {prefix}atomic_add_f32(p, x) atomicAdd(p, (pg_f32)(x))
#define {prefix}atomic_add_f64(p, x) atomicAdd(p, (pg_f64)(x))
"""
    loops = """\
PG_INLINE pg_u32 pg_cas_f32(volatile pg_u32 *p, pg_u32 e, pg_u32 x) { return atomicCAS((pg_u32 *)p, e, x); }
PG_INLINE pg_u64 pg_cas_f64(volatile pg_u64 *p, pg_u64 e, pg_u64 x) { return atomicCAS((pg_u64 *)p, e, x); }
"""
    for prefix in ("pg_", "pg_local_"):
        for t, bits in (("f32", "u32"), ("f64", "u64")):
            for op, value in (("min", _MIN), ("max", _MAX)):
                loops += _float_by_cas("", prefix, t, bits, op, value, f"pg_cas_{t}")
    return text, loops


OPENCL_ATOMICS = _opencl()  # (those that are one operation, those that are a loop)
CUDA_ATOMICS = _cuda()


def needs_loops(text: str) -> bool:
    """Whether a source may use those that are a loop, which take compilers longer than most
    kernels."""
    return _LOOPS.search(text) is not None
