"""Functions of one narrow float type by name: of float16 in pygpu.cuda.fp16, of bfloat16 in
pygpu.cuda.bf16.

Values are computed in float32 and rounded at the end. Sums, products, quotients and square roots
are then rounded correctly, because float32 has more than twice their bits. Fused products, numbers
of float64 and integers are first rounded *to odd*: an inexact number becomes the neighbour with an
odd last bit, so that the second rounding cannot see a tie where there is none.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes

from .. import emit
from ..ir import Value
from ..types import Scalar
from ..walk.context import FunctionContext
from ..walk.conversions import cast
from ..walk.operators import call_ufunc
from ..walk.registry import Args, Kwargs, WrongCall, count
from .intrinsics import Intrinsic

# By NumPy's ufunc of the same meaning.
UFUNCS = {
    "habs": "absolute",
    "hadd": "add",
    "hceil": "ceil",
    "hcos": "cos",
    "hdiv": "divide",
    "heq": "equal",
    "hexp": "exp",
    "hexp2": "exp2",
    "hfloor": "floor",
    "hge": "greater_equal",
    "hgt": "greater",
    "hle": "less_equal",
    "hlog": "log",
    "hlog10": "log10",
    "hlog2": "log2",
    "hlt": "less",
    "hmax": "fmax",
    "hmin": "fmin",
    "hmul": "multiply",
    "hneg": "negative",
    "hrint": "rint",
    "hsin": "sin",
    "hsqrt": "sqrt",
    "hsub": "subtract",
    "htrunc": "trunc",
}

_WORD = re.compile(r"\w+")
# In an order in which each is defined before it is used.
_HELPERS = {
    "pgu_to_odd": """\
PG_INLINE pg_f32 pgu_to_odd(pg_f32 nearest, pg_f32 rest)
{ /* nearest + rest, rounded to odd; nearest is the sum rounded to nearest */
    pg_u32 u = PG_BITS_F32(nearest);
    if ((rest > 0 || rest < 0) && (u & 1) == 0)
        u += (rest > 0) != (pg_i32)(u >> 31) ? 1u : 0xffffffffu;
    return PG_FROM_BITS_F32(u);
}
""",
    "pgu_odd_fma": """\
PG_INLINE pg_f32 pgu_odd_fma(pg_f32 a, pg_f32 b, pg_f32 c)
{ /* the product has at most 22 bits, so it is exact */
    const pg_f32 product = a * b, sum = fma(a, b, c), part = sum - product;
    return pgu_to_odd(sum, (product - (sum - part)) + (c - part));
}
""",
    "pgu_odd_f64": """\
PG_INLINE pg_f32 pgu_odd_f64(pg_f64 x)
{
    const pg_f32 y = (pg_f32)x;
    return pgu_to_odd(y, (pg_f32)((x > (pg_f64)y) - (x < (pg_f64)y)));
}
""",
    "pgu_odd_u64": """\
PG_INLINE pg_f32 pgu_odd_u64(pg_u64 n)
{
    pg_f32 unit = 1;
    for (; n >> 24; unit *= 256) n = n >> 8 | (pg_u64)((n & 255) != 0);
    return (pg_f32)(pg_i32)n * unit;
}
""",
    "pgu_odd_i64": """\
PG_INLINE pg_f32 pgu_odd_i64(pg_i64 n)
{
    return n < 0 ? -pgu_odd_u64((pg_u64)0 - (pg_u64)n) : pgu_odd_u64((pg_u64)n);
}
""",
    "pgu_bf16_rz": """\
PG_INLINE pg_f32 pgu_bf16_rz(pg_f32 x)
{
    return x == x ? PG_FROM_BITS_F32(PG_BITS_F32(x) & 0xffff0000u) : x;
}
""",
    "pgu_bf16_rd": """\
PG_INLINE pg_f32 pgu_bf16_rd(pg_f32 x)
{ /* where a negative number loses bits, its magnitude grows */
    const pg_u32 u = PG_BITS_F32(x);
    return u >> 31 && u & 0xffffu && x == x
        ? PG_FROM_BITS_F32((u & 0xffff0000u) + 0x10000u) : pgu_bf16_rz(x);
}
""",
    "pgu_bf16_ru": """\
PG_INLINE pg_f32 pgu_bf16_ru(pg_f32 x) { return -pgu_bf16_rd(-x); }
""",
    "pgu_saturate": """\
PG_INLINE pg_f32 pgu_saturate(pg_f32 x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
""",
    "pgu_relu": """\
PG_INLINE pg_f32 pgu_relu(pg_f32 x) { return x < 0 ? 0.0f : x; }
""",
    "pgu_isinf": """\
PG_INLINE pg_i32 pgu_isinf(pg_f32 x) { return (x == PG_INF_F32) - (x == -PG_INF_F32); }
""",
    "pgu_ordered_ne": """\
PG_INLINE pg_b8 pgu_ordered_ne(pg_f32 x, pg_f32 y) { return x < y || x > y; }
""",
}


def _saturated(code: str) -> str:
    """The definition of a function that converts an integral float32 to an integer. NaN is 0, but
    of 64 bits the most negative integer, as in CUDA."""
    bits, signed = int(code[1:]), code[0] == "i"
    limit = f"{2.0 ** (bits - signed):.1f}f"
    low, least = (f"x < -{limit}", f"(pg_{code})((pg_u64)1 << {bits - 1})") if signed else (
        "x < 0", "0")  # fmt: skip
    most = f"(pg_{code})~({least})" if signed else f"(pg_{code})~(pg_{code})0"
    nan = f"(pg_{code})((pg_u64)1 << 63)" if bits == 64 else "0"
    return (
        f"PG_INLINE pg_{code} pgu_saturated_{code}(pg_f32 x)\n"
        f"{{ return x != x ? {nan} : x >= {limit} ? {most} : {low} ? {least} : (pg_{code})x; }}\n"
    )


_HELPERS |= {f"pgu_saturated_{c}{n}": _saturated(f"{c}{n}") for c in "iu" for n in (8, 16, 32, 64)}


class NarrowFunctions:
    """Makes the functions of a type. module: that has them, "fp16". dtype: of their numbers."""

    def __init__(self, module: str, dtype: Any) -> None:
        self._module = module
        self._type = Scalar(np.dtype(dtype))

    def by_ufunc(self, name: str, ufunc: str) -> Intrinsic:
        """Return the function that computes what NumPy's ufunc does."""
        full, nin = f"{self._module}.{name}", getattr(np, ufunc).nin

        def emitter(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
            count(full, args, kwargs, nin, nin)
            given = [self._taken(fc, node, full, value, self._type) for value in args]
            result: Value = call_ufunc(fc, node, ufunc, given, strong=True)[0]
            return result

        return Intrinsic(full, emitter, f"numpy.{ufunc} of {self._type.dtype.name}.")

    def by_text(
        self, name: str, text: str, takes: int | Sequence[str] = 1, gives: str = ""
    ) -> Intrinsic:
        """Return the function that a C expression of its arguments computes. takes: how many
        numbers of the type, or dtypes. gives: the dtype of the result, by default the type, to
        which the float32 is rounded."""
        full, own = f"{self._module}.{name}", self._type
        kinds = [own] * takes if isinstance(takes, int) else [Scalar(np.dtype(k)) for k in takes]
        result = Scalar(np.dtype(gives)) if gives else own
        names = [k for k in _HELPERS if k in _needed(text)]

        def emitter(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
            count(full, args, kwargs, len(kinds), len(kinds))
            fc.unit.need(own.dtype)
            given = [
                emit.convert(
                    self._taken(fc, node, full, value, kind),
                    Scalar(np.dtype("f4")) if kind is own else kind,
                )
                for value, kind in zip(args, kinds)
            ]
            for helper in names:
                fc.unit.definitions.setdefault(helper, _HELPERS[helper])
            found = text.format(*given)
            if not gives:
                return Value(own, dtypes.rounded(own.dtype, found))
            return Value(result, f"((pg_{result.code})({found}))", nonneg=result.dtype.kind in "bu")

        takes_text = ", ".join(str(k) for k in kinds)
        return Intrinsic(full, emitter, f"{name}({takes_text}) -> {result}")

    def _taken(
        self, fc: FunctionContext, node: ast.AST, full: str, value: Value, kind: Scalar
    ) -> Value:
        """An argument, converted to the type of a parameter."""
        value = fc.as_number(value, node)
        if value.dtype.kind == "c":
            raise WrongCall(f"{full}() takes real numbers, not {value.type}")
        fc.need_dtype(kind.dtype, node)
        return cast(fc, node, value, kind.dtype, node)


def _needed(text: str) -> set[str]:
    """The names of helpers that a text uses, and those that these use."""
    found = {name for name in _WORD.findall(text) if name in _HELPERS}
    for name in reversed(_HELPERS):
        if name in found:
            found.update(w for w in _WORD.findall(_HELPERS[name]) if w in _HELPERS)
    return found
