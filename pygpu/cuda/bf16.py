"""Operations on bfloat16 under the names of ``numba.cuda.bf16``. Kernels also take the operators,
and the functions of ``math``. NumPy has the type by the package ml_dtypes.

>>> import numpy as np
>>> from pygpu import cuda
>>> from pygpu.cuda import bf16
>>> @cuda.jit
... def join(a, b, out):
...     i = cuda.grid(1)
...     if i < out.size:
...         out[i] = bf16.hfma(bf16.bfloat16(a[i]), bf16.bfloat16(b[i]), 0.5)
>>> a, out = np.array([1, 2, 3], np.float32), np.zeros(3, np.float32)
>>> join[1, 3](a, a, out)
>>> out.tolist()
[1.5, 4.5, 9.5]

Conversions are named after the types and the rounding: ``rn`` to nearest, ``rz`` towards 0, ``rd``
down, ``ru`` up. Numbers outside the range of an integer type become its nearest, NaN becomes 0, in
64 bits -2**63. Comparisons with NaN are False, also ``hne``, except those whose name ends in ``u``
and the operator ``!=``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu._src.jit.calls.narrow_functions import UFUNCS, NarrowFunctions
from pygpu._src.jit.signature import narrow

if TYPE_CHECKING:
    from pygpu._src.jit.calls.intrinsics import Intrinsic

bfloat16 = narrow("bfloat16")
_make = NarrowFunctions("bf16", bfloat16.dtype)
_ROUNDING_MODES = ("rn", "rz", "rd", "ru")
_INTEGERS = {"rn": "rint", "rz": "trunc", "rd": "floor", "ru": "ceil"}
_SIZES = (16, 32, 64)


def _arithmetic() -> dict[str, Intrinsic]:
    found = {name: _make.by_ufunc(name, ufunc) for name, ufunc in UFUNCS.items()}
    for name in ("hadd", "hsub", "hmul"):
        found[f"{name}_rn"] = _make.by_ufunc(f"{name}_rn", UFUNCS[name])
    more = {"hmax_nan": "maximum", "hmin_nan": "minimum", "hisnan": "isnan", "htanh": "tanh"}
    more |= {"htanh_approx": "tanh", "hneu": "not_equal"}
    found |= {name: _make.by_ufunc(name, ufunc) for name, ufunc in more.items()}
    texts: dict[str, tuple[Any, ...]] = {
        "hadd_sat": ("pgu_saturate({0} + {1})", 2),
        "hsub_sat": ("pgu_saturate({0} - {1})", 2),
        "hmul_sat": ("pgu_saturate({0} * {1})", 2),
        "hfma": ("pgu_odd_fma({0}, {1}, {2})", 3),
        "hfma_sat": ("pgu_saturate(pgu_odd_fma({0}, {1}, {2}))", 3),
        "hfma_relu": ("pgu_relu(pgu_odd_fma({0}, {1}, {2}))", 3),
        "hexp10": ("exp2({0} * 3.32192809f)",),
        "hrcp": ("1.0f / {0}",),
        "hrsqrt": ("1.0f / sqrt({0})",),
        "hisinf": ("pgu_isinf({0})", 1, "i4"),
        "hne": ("pgu_ordered_ne({0}, {1})", 2, "bool"),
        "hequ": ("!pgu_ordered_ne({0}, {1})", 2, "bool"),
        "hgeu": ("!({0} < {1})", 2, "bool"),
        "hgtu": ("!({0} <= {1})", 2, "bool"),
        "hleu": ("!({0} > {1})", 2, "bool"),
        "hltu": ("!({0} >= {1})", 2, "bool"),
    }
    return found | {name: _make.by_text(name, *rest) for name, rest in texts.items()}


def _rounded(mode: str, text: str) -> str:
    return text if mode == "rn" else f"pgu_bf16_{mode}({text})"


def _conversions() -> dict[str, Intrinsic]:
    texts: dict[str, tuple[Any, ...]] = {
        "bfloat16_to_float32": ("{0}", 1, "f4"),
        "float32_to_bfloat16": ("{0}", ["f4"]),
        "float64_to_bfloat16": ("pgu_odd_f64({0})", ["f8"]),
        "bfloat16_to_int8_rz": ("pgu_saturated_i8(trunc({0}))", 1, "i1"),
        "bfloat16_to_uint8_rz": ("pgu_saturated_u8(trunc({0}))", 1, "u1"),
        "bfloat16_as_int16": ("pg_to_f16b({0})", 1, "i2"),
        "bfloat16_as_uint16": ("pg_to_f16b({0})", 1, "u2"),
        "int16_as_bfloat16": ("pg_from_f16b((pg_u16){0})", ["i2"]),
        "uint16_as_bfloat16": ("pg_from_f16b({0})", ["u2"]),
    }
    for mode in _ROUNDING_MODES:
        texts[f"float32_to_bfloat16_{mode}"] = (_rounded(mode, "{0}"), ["f4"])
        for kind, bits in ((k, b) for k in "iu" for b in _SIZES):
            name = np.dtype(f"{kind}{bits // 8}").name
            odd = _rounded(mode, f"pgu_odd_{kind}64({{0}})")
            texts[f"{name}_to_bfloat16_{mode}"] = (odd, [f"{kind}8" if bits == 64 else name])
            whole = f"pgu_saturated_{kind}{bits}({_INTEGERS[mode]}({{0}}))"
            texts[f"bfloat16_to_{name}_{mode}"] = (whole, 1, name)
    return {name: _make.by_text(name, *rest) for name, rest in texts.items()}


_MADE = _arithmetic() | _conversions()
__all__ = sorted([*_MADE, "bfloat16"])
globals().update(_MADE)


if TYPE_CHECKING:

    def __getattr__(name: str) -> Intrinsic: ...
