"""Operations on float16 under the names of ``numba.cuda.fp16``. Kernels also take the operators.

>>> import numpy as np
>>> from pygpu import cuda
>>> @cuda.jit
... def join(a, b, out):
...     i = cuda.grid(1)
...     if i < out.size:
...         out[i] = cuda.fp16.hfma(a[i], b[i], a[i])
>>> a, out = np.array([1, 2, 3], np.float16), np.zeros(3, np.float16)
>>> join[1, 3](a, a, out)
>>> out.tolist()
[2.0, 6.0, 12.0]
"""

from __future__ import annotations

import ast

import numpy as np

from pygpu._src.jit import emit
from pygpu._src.jit.calls.intrinsics import Intrinsic
from pygpu._src.jit.ir import Value
from pygpu._src.jit.types import Scalar
from pygpu._src.jit.walk.context import FunctionContext
from pygpu._src.jit.walk.conversions import cast
from pygpu._src.jit.walk.operators import call_ufunc
from pygpu._src.jit.walk.registry import WrongCall, count

_F16, _F32 = Scalar(np.dtype("f2")), Scalar(np.dtype("f4"))
# By NumPy's ufunc of the same meaning.
_UFUNCS = {
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
    "hne": "not_equal",
    "hneg": "negative",
    "hrint": "rint",
    "hsin": "sin",
    "hsqrt": "sqrt",
    "hsub": "subtract",
    "htrunc": "trunc",
}
# C of float32, rounded at the end.
_TEXTS = {
    "hexp10": "exp2({0} * 3.32192809f)",
    "hfma": "fma({0}, {1}, {2})",
    "hrcp": "1.0f / {0}",
    "hrsqrt": "1.0f / sqrt({0})",
}


def _halves(fc: FunctionContext, node: ast.AST, name: str, args: list[Value]) -> list[Value]:
    found = []
    for value in args:
        value = fc.as_number(value, node)
        if value.dtype.kind == "c":
            raise WrongCall(f"fp16.{name}() takes real numbers, not {value.type}")
        found.append(cast(fc, node, value, _F16.dtype, node))
    return found


def _by_ufunc(name: str, ufunc: str) -> Intrinsic:
    nin: int = getattr(np, ufunc).nin

    def emitter(
        fc: FunctionContext, node: ast.Call, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        count(f"fp16.{name}", args, kwargs, nin, nin)
        result: Value = call_ufunc(fc, node, ufunc, _halves(fc, node, name, args), strong=True)[0]
        return result

    return Intrinsic(f"fp16.{name}", emitter, f"numpy.{ufunc} of float16.")


def _by_text(name: str, text: str) -> Intrinsic:
    nin = 3 if name == "hfma" else 1

    def emitter(
        fc: FunctionContext, node: ast.Call, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        count(f"fp16.{name}", args, kwargs, nin, nin)
        given = [emit.convert(v, _F32) for v in _halves(fc, node, name, args)]
        return Value(_F16, f"pg_from_f16(pg_to_f16({text.format(*given)}))")

    return Intrinsic(f"fp16.{name}", emitter, f"{name} of float16, computed in float32.")


_MADE = {name: _by_ufunc(name, ufunc) for name, ufunc in _UFUNCS.items()}
_MADE |= {name: _by_text(name, text) for name, text in _TEXTS.items()}
__all__ = sorted(_MADE)
globals().update(_MADE)
