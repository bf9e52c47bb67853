"""Functions of OpenCL C on arrays: ``sin(array)`` is a new array.

Each takes an array and a queue (the array's own if left out), and returns an array of the same
shape; of dtype float16, float32 or float64 for integers, as NumPy's functions do. Complex arrays
have the exponential, logarithms, the square root and the circular and hyperbolic functions.
Arrays of CUDA are taken as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pygpu._src.array import elementwise
from pygpu._src.user_kernels import functions

__all__ = [
    "acos",
    "acosh",
    "acospi",
    "asin",
    "asinh",
    "asinpi",
    "atan",
    "atan2",
    "atan2pi",
    "atanh",
    "atanpi",
    "bessel_jn",
    "bessel_yn",
    "cbrt",
    "ceil",
    "cos",
    "cosh",
    "cospi",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "exp10",
    "expm1",
    "fabs",
    "floor",
    "fmod",
    "frexp",
    "hankel_01",
    "ilogb",
    "ldexp",
    "lgamma",
    "log",
    "log1p",
    "log2",
    "log10",
    "logb",
    "modf",
    "nan",
    "rint",
    "round",
    "sin",
    "sinh",
    "sinpi",
    "sqrt",
    "tan",
    "tanh",
    "tanpi",
    "tgamma",
    "trunc",
]


def _function(name: str) -> Callable[..., Any]:
    def function(array: Any, queue: Any = None) -> Any:
        return functions.apply(name, array, queue)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name} of each item, as OpenCL C defines it."
    return function


acos, acosh, acospi = _function("acos"), _function("acosh"), _function("acospi")
asin, asinh, asinpi = _function("asin"), _function("asinh"), _function("asinpi")
atan, atanh, atanpi = _function("atan"), _function("atanh"), _function("atanpi")
cbrt, ceil = _function("cbrt"), _function("ceil")
cos, cosh, cospi = _function("cos"), _function("cosh"), _function("cospi")
erf, erfc = _function("erf"), _function("erfc")
exp, exp2, exp10, expm1 = (_function(name) for name in ("exp", "exp2", "exp10", "expm1"))
fabs, floor, ilogb, lgamma = (_function(name) for name in ("fabs", "floor", "ilogb", "lgamma"))
log, log2, log10, log1p, logb = (
    _function(name) for name in ("log", "log2", "log10", "log1p", "logb")
)
rint, round = _function("rint"), _function("round")
sin, sinh, sinpi, sqrt = (_function(name) for name in ("sin", "sinh", "sinpi", "sqrt"))
tan, tanh, tanpi = _function("tan"), _function("tanh"), _function("tanpi")
tgamma, trunc = _function("tgamma"), _function("trunc")


def nan(array: Any, queue: Any = None) -> Any:
    """NaNs: float64 for arrays of 64-bit items, float32 otherwise."""
    dtype = np.dtype(np.float64 if array.dtype.itemsize == 8 else np.float32)
    result = array._new(array.shape, dtype, None, queue)
    suffix = "F64" if dtype.itemsize == 8 else "F32"
    operation = elementwise.Operation("function_nan", (), (dtype,), f"y0 = PG_NAN_{suffix};")
    array._run(operation, [result], [], array.shape, array.queue if queue is None else queue)
    return result


def atan2(y: Any, x: Any, queue: Any = None) -> Any:
    """The angle of the point (x, y) [radians]."""
    return functions.binary("atan2", y, x, queue)


def atan2pi(y: Any, x: Any, queue: Any = None) -> Any:
    """The angle of the point (x, y) divided by pi."""
    return functions.binary("atan2pi", y, x, queue)


def fmod(arg: Any, mod: Any, queue: Any = None) -> Any:
    """The remainder of arg / mod, with the sign of arg."""
    return functions.binary("fmod", arg, mod, queue)


def ldexp(significand: Any, exponent: Any, queue: Any = None) -> Any:
    """significand * 2**exponent; fractions of exponents are dropped."""
    return functions.binary("ldexp", significand, exponent, queue)


def frexp(arg: Any, queue: Any = None) -> tuple[Any, Any]:
    """(significands, exponents as int32) with ``arg == significand * 2**exponent``, significands
    from 0.5 to 1."""
    return functions.split("frexp", arg, queue, np.int32)


def modf(arg: Any, queue: Any = None) -> tuple[Any, Any]:
    """(fractions, whole numbers), with the sign of arg."""
    return functions.split("modf", arg, queue)


def _bessel(which: str, n: int, x: Any, queue: Any) -> Any:
    from pygpu._src.user_kernels.elementwise import Elementwise
    from pygpu._src.user_kernels.language import OPENCL

    call = f"bessel_{which}n"
    functions._check(call, x)
    backend = x.backend
    if backend.name != "opencl":
        raise TypeError(f"{call}: an array of OpenCL is needed")
    dtype = functions.float_dtype(x.dtype, call=call, backend=backend)
    if not backend.limits.fp64:
        raise TypeError(f"{call}: {backend!r} has no double precision")
    if dtype.kind == "c" and (which == "y" or dtype != np.complex128):
        raise NotImplementedError(f"{call}: of complex arguments there is only J, of complex128")
    if dtype != x.dtype:
        x = x.astype(dtype)
    ctype = OPENCL.ctype(dtype)
    key = "clmath", which, dtype
    kernel = backend.kernels.get(key)
    if kernel is None:
        if dtype.kind == "c":
            operation = (
                "cdouble_t value, next; bessel_j_complex(ord_n, x[i], &value, &next); z[i] = value"
            )
            include = "#include <pyopencl-bessel-j-complex.cl>\n"
        else:
            operation = f"z[i] = bessel_{which}n(ord_n, x[i])"
            include = f"#include <pyopencl-bessel-{which}.cl>\n"
        kernel = Elementwise(
            OPENCL,
            f"{ctype} *z, int ord_n, {ctype} *x",
            operation,
            f"clmath_{call}",
            preamble=f"#define PYOPENCL_DEFINE_CDOUBLE\n#include <pyopencl-complex.h>\n{include}",
        )
        kernel = backend.kernels.setdefault(key, kernel)
    result = x._new(x.shape, dtype, None, queue)
    kernel((result, n, x), None, None, queue)
    return result


def bessel_jn(n: int, x: Any, queue: Any = None) -> Any:
    """The Bessel function of the first kind J of order n; x real or complex128."""
    return _bessel("j", n, x, queue)


def bessel_yn(n: int, x: Any, queue: Any = None) -> Any:
    """The Bessel function of the second kind Y of order n; x real."""
    return _bessel("y", n, x, queue)


def hankel_01(x: Any, queue: Any = None) -> tuple[Any, Any]:
    """The Hankel functions of the first kind of orders 0 and 1; x complex128."""
    from pygpu._src.user_kernels.elementwise import Elementwise
    from pygpu._src.user_kernels.language import OPENCL

    functions._check("hankel_01", x)
    if x.backend.name != "opencl" or x.dtype != np.complex128:
        raise NotImplementedError("hankel_01: an array of OpenCL of dtype complex128 is needed")
    backend = x.backend
    kernel = backend.kernels.get("clmath_hankel")
    if kernel is None:
        kernel = Elementwise(
            OPENCL,
            "cdouble_t *h0, cdouble_t *h1, cdouble_t *x",
            "cdouble_t zero, one; hankel_01_complex(x[i], &zero, &one, 1); h0[i] = zero; h1[i] = "
            "one",
            "clmath_hankel_01",
            preamble=(
                "#define PYOPENCL_DEFINE_CDOUBLE\n#include <pyopencl-complex.h>\n"
                "#include <pyopencl-hankel-complex.cl>\n"
            ),
        )
        kernel = backend.kernels.setdefault("clmath_hankel", kernel)
    h0, h1 = x._new(x.shape, x.dtype, None, queue), x._new(x.shape, x.dtype, None, queue)
    kernel((h0, h1, x), None, None, queue)
    return h0, h1
