"""NVIDIA's mathematical functions under the names of ``numba.cuda.libdevice``, for kernels on CUDA.

>>> import numpy as np
>>> from pygpu import cuda
>>> from pygpu.cuda import libdevice
>>> @cuda.jit
... def waves(a):
...     i = cuda.grid(1)
...     if i < a.size:
...         a[i] = libdevice.rsqrtf(a[i])
>>> a = np.array([1, 4, 16], np.float32)
>>> waves[1, 3](a)
>>> a.tolist()
[1.0, 0.5, 0.25]

Arguments are converted to the types of the function, and its result has its type, whatever NumPy
would make of them. A function that CUDA C gives pointers for results returns a tuple:
``s, c = libdevice.sincosf(x)``.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import numpy as np

from pygpu._src.jit import emit
from pygpu._src.jit.calls.intrinsics import Intrinsic
from pygpu._src.jit.ir import Value
from pygpu._src.jit.types import Scalar, TupleType
from pygpu._src.jit.walk.context import FunctionContext
from pygpu._src.jit.walk.registry import Args, Kwargs, WrongCall, count

# By results and parameters: d float64, f float32, i int32, l int64, h the bits of a float16.
_FUNCTIONS = {
    "d:d": "acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi erf erfc erfcinv erfcx "
    "erfinv exp exp10 exp2 expm1 fabs floor j0 j1 lgamma log log10 log1p log2 logb nearbyint "
    "normcdf normcdfinv rcbrt rint round rsqrt sin sinh sinpi sqrt tan tanh tgamma trunc y0 y1 "
    "drcp_rd drcp_rn drcp_ru drcp_rz dsqrt_rd dsqrt_rn dsqrt_ru dsqrt_rz",
    "d:dd": "atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder dadd_rd dadd_rn "
    "dadd_ru dadd_rz ddiv_rd ddiv_rn ddiv_ru ddiv_rz dmul_rd dmul_rn dmul_ru dmul_rz",
    "d:ddd": "fma fma_rd fma_rn fma_ru fma_rz",
    "d:di": "ldexp powi scalbn",
    "d:id": "jn yn",
    "d:i": "int2double_rn uint2double_rn",
    "d:ii": "hiloint2double",
    "d:l": "ll2double_rd ll2double_rn ll2double_ru ll2double_rz longlong_as_double ull2double_rd "
    "ull2double_rn ull2double_ru ull2double_rz",
    "dd:d": "modf sincos sincospi",
    "di:d": "frexp",
    "di:dd": "remquo",
    "f:f": "acosf acoshf asinf asinhf atanf atanhf cbrtf ceilf cosf coshf cospif erff erfcf "
    "erfcinvf erfcxf erfinvf expf exp10f exp2f expm1f fabsf floorf j0f j1f lgammaf logf log10f "
    "log1pf log2f logbf nearbyintf normcdff normcdfinvf rcbrtf rintf roundf rsqrtf saturatef sinf "
    "sinhf sinpif sqrtf tanf tanhf tgammaf truncf y0f y1f fast_cosf fast_exp10f fast_expf "
    "fast_log10f fast_log2f fast_logf fast_sinf fast_tanf frcp_rd frcp_rn frcp_ru frcp_rz "
    "frsqrt_rn fsqrt_rd fsqrt_rn fsqrt_ru fsqrt_rz",
    "f:ff": "atan2f copysignf fdimf fmaxf fminf fmodf hypotf nextafterf powf remainderf "
    "fast_fdividef fast_powf fadd_rd fadd_rn fadd_ru fadd_rz fdiv_rd fdiv_rn fdiv_ru fdiv_rz "
    "fmul_rd fmul_rn fmul_ru fmul_rz fsub_rd fsub_rn fsub_ru fsub_rz",
    "f:fff": "fmaf fmaf_rd fmaf_rn fmaf_ru fmaf_rz",
    "f:fi": "ldexpf powif scalbnf",
    "f:if": "jnf ynf",
    "f:d": "double2float_rd double2float_rn double2float_ru double2float_rz",
    "f:i": "int2float_rd int2float_rn int2float_ru int2float_rz int_as_float uint2float_rd "
    "uint2float_rn uint2float_ru uint2float_rz",
    "f:l": "ll2float_rd ll2float_rn ll2float_ru ll2float_rz ull2float_rd ull2float_rn "
    "ull2float_ru ull2float_rz",
    "f:h": "half2float",
    "h:f": "float2half_rn",
    "ff:f": "modff sincosf sincospif fast_sincosf",
    "fi:f": "frexpf",
    "fi:ff": "remquof",
    "i:d": "double2hiint double2loint double2int_rd double2int_rn double2int_ru double2int_rz "
    "double2uint_rd double2uint_rn double2uint_ru double2uint_rz ilogb isfinited isinfd isnand "
    "signbitd",
    "i:f": "finitef float2int_rd float2int_rn float2int_ru float2int_rz float2uint_rd "
    "float2uint_rn float2uint_ru float2uint_rz float_as_int ilogbf isinff isnanf signbitf",
    "i:i": "abs brev clz ffs popc",
    "i:ii": "hadd max min mul24 mulhi rhadd uhadd umax umin umul24 umulhi urhadd",
    "i:iii": "byte_perm sad usad",
    "i:l": "clzll ffsll popcll",
    "l:d": "double2ll_rd double2ll_rn double2ll_ru double2ll_rz double2ull_rd double2ull_rn "
    "double2ull_ru double2ull_rz double_as_longlong llrint llround",
    "l:f": "float2ll_rd float2ll_rn float2ll_ru float2ll_rz float2ull_rd float2ull_rn "
    "float2ull_ru float2ull_rz llrintf llroundf",
    "l:l": "brevll llabs",
    "l:ll": "llmax llmin mul64hi ullmax ullmin umul64hi",
}
_TYPES = {"d": "f8", "f": "f4", "i": "i4", "l": "i8", "h": "i2"}
# What CUDA C calls otherwise than by the name, or by two underscores and the name.
_TEXTS = {
    "finitef": "isfinite({0})",
    "half2float": "pg_from_f16((pg_u16){0})",
    "float2half_rn": "(short)pg_to_f16({0})",
    "isfinited": "isfinite({0})",
    "isinfd": "isinf({0})",
    "isinff": "isinf({0})",
    "isnand": "isnan({0})",
    "isnanf": "isnan({0})",
    "powi": "pow({0}, (double){1})",
    "powif": "powf({0}, (float){1})",
    "signbitd": "signbit({0})",
    "signbitf": "signbit({0})",
    "abs": "abs({0})",
    "llmax": "max({0}, {1})",
    "llmin": "min({0}, {1})",
    "max": "max({0}, {1})",
    "min": "min({0}, {1})",
    "umax": "max((unsigned){0}, (unsigned){1})",
    "umin": "min((unsigned){0}, (unsigned){1})",
    "ullmax": "max((unsigned long long){0}, (unsigned long long){1})",
    "ullmin": "min((unsigned long long){0}, (unsigned long long){1})",
}
_INTERNAL = frozenset(  # with two underscores
    "saturatef hiloint2double double2hiint double2loint longlong_as_double double_as_longlong "
    "int_as_float float_as_int brev brevll clz clzll ffs ffsll popc popcll hadd rhadd uhadd urhadd "
    "mul24 umul24 mulhi umulhi mul64hi umul64hi byte_perm sad usad".split()
)


def _c_name(name: str) -> str:
    if name.startswith("fast_"):
        return f"__{name[5:]}"
    return f"__{name}" if name in _INTERNAL or name[-3:-1] == "_r" else name


def _function(name: str, results: str, parameters: str) -> Intrinsic:
    kinds = [Scalar(np.dtype(_TYPES[c])) for c in parameters]
    outs = [Scalar(np.dtype(_TYPES[c])) for c in results]
    template = _TEXTS.get(name)

    def emitter(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
        count(f"libdevice.{name}", args, kwargs, len(kinds), len(kinds))
        if fc.unit.dialect != "cuda":
            raise WrongCall("libdevice functions exist on CUDA only; use math or NumPy")
        given = []
        for value, kind in zip(args, kinds):
            fc.need_dtype(kind.dtype, node)
            value = fc.as_number(value, node)
            if value.dtype.kind == "c":
                raise WrongCall(f"libdevice.{name}() takes real numbers, not {value.type}")
            given.append(f"({emit.c_type(kind)}){emit.convert(value, kind)}")
        for out in outs:
            fc.unit.need(np.dtype("f2") if "h" in (results, parameters) else out.dtype)
        if len(outs) == 1:
            call = template.format(*given) if template else f"{_c_name(name)}({', '.join(given)})"
            return Value(outs[0], f"(({emit.c_type(outs[0])}){call})")
        fc.statement_only(node, f"libdevice.{name}()")
        temps = [fc.temp(f"{'int' if o.dtype.kind == 'i' else emit.c_type(o)} ") for o in outs]
        pointers = [f"&{t}" for t in temps]
        call = f"{_c_name(name)}({', '.join(given + pointers)})"
        if "sincos" in name:
            fc.emit(f"{call};")
        else:  # the first result is the function's own
            call = f"{_c_name(name)}({', '.join(given + pointers[1:])})"
            fc.emit(f"{temps[0]} = {call};")
        return Value(TupleType(tuple(outs)), items=[Value(o, t) for o, t in zip(outs, temps)])

    names = {"d": "float64", "f": "float32", "i": "int32", "l": "int64", "h": "int16"}
    takes, gives = (", ".join(names[c] for c in codes) for codes in (parameters, results))
    return Intrinsic(f"libdevice.{name}", emitter, f"{name}({takes}) -> {gives}")


def _make() -> dict[str, Intrinsic]:
    found = {}
    for kind, listed in _FUNCTIONS.items():
        results, _, parameters = kind.partition(":")
        for name in listed.split():
            found[name] = _function(name, results, parameters)
    return found


_MADE = _make()
__all__ = sorted(_MADE)
globals().update(_MADE)


if TYPE_CHECKING:

    def __getattr__(name: str) -> Intrinsic: ...
