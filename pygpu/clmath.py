"""Functions of OpenCL C on arrays: ``sin(array)`` is a new array.

Each takes an array and a queue (the array's own if left out), and returns an array of the same
shape; of dtype float16, float32 or float64 for integers, as NumPy's functions do. Complex arrays
have the exponential, logarithms, the square root and the circular and hyperbolic functions.
Arrays of CUDA are taken as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from pygpu._array import GPUArray as _GPUArray
from pygpu._src.array import elementwise
from pygpu._src.codegen.fastpath import public_functions as _public_functions
from pygpu._src.user_kernels import functions
from pygpu._src.util.overloads import overloads_of

if TYPE_CHECKING:
    from pygpu._src.user_kernels.function_types import (
        Floating,
        GPUArray,
        InexactT,
        Number,
        OpenCLFunction,
        Queue,
    )

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


def _function(name: str) -> Any:
    def function(array: Any, queue: Any = None) -> Any:
        return functions.apply(name, array, queue)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name} of each item, as OpenCL C defines it."
    return function


acos: OpenCLFunction = _function("acos")
acosh: OpenCLFunction = _function("acosh")
acospi: OpenCLFunction = _function("acospi")
asin: OpenCLFunction = _function("asin")
asinh: OpenCLFunction = _function("asinh")
asinpi: OpenCLFunction = _function("asinpi")
atan: OpenCLFunction = _function("atan")
atanh: OpenCLFunction = _function("atanh")
atanpi: OpenCLFunction = _function("atanpi")
cbrt: OpenCLFunction = _function("cbrt")
ceil: OpenCLFunction = _function("ceil")
cos: OpenCLFunction = _function("cos")
cosh: OpenCLFunction = _function("cosh")
cospi: OpenCLFunction = _function("cospi")
erf: OpenCLFunction = _function("erf")
erfc: OpenCLFunction = _function("erfc")
exp: OpenCLFunction = _function("exp")
exp10: OpenCLFunction = _function("exp10")
exp2: OpenCLFunction = _function("exp2")
expm1: OpenCLFunction = _function("expm1")
fabs: OpenCLFunction = _function("fabs")
floor: OpenCLFunction = _function("floor")
ilogb: OpenCLFunction = _function("ilogb")
lgamma: OpenCLFunction = _function("lgamma")
log: OpenCLFunction = _function("log")
log10: OpenCLFunction = _function("log10")
log1p: OpenCLFunction = _function("log1p")
log2: OpenCLFunction = _function("log2")
logb: OpenCLFunction = _function("logb")
rint: OpenCLFunction = _function("rint")
round: OpenCLFunction = _function("round")
sin: OpenCLFunction = _function("sin")
sinh: OpenCLFunction = _function("sinh")
sinpi: OpenCLFunction = _function("sinpi")
sqrt: OpenCLFunction = _function("sqrt")
tan: OpenCLFunction = _function("tan")
tanh: OpenCLFunction = _function("tanh")
tanpi: OpenCLFunction = _function("tanpi")
tgamma: OpenCLFunction = _function("tgamma")
trunc: OpenCLFunction = _function("trunc")


def nan(array: GPUArray[Any], queue: Queue = None) -> Floating:
    """NaNs: float64 for arrays of 64-bit items, float32 otherwise."""
    if not isinstance(array, _GPUArray):
        raise TypeError(f"nan: an array on the device is needed, not {type(array).__name__}")
    dtype = np.dtype(np.float64 if array.dtype.itemsize == 8 else np.float32)
    result: Floating = array._new(array.shape, dtype, None, queue)
    suffix = "F64" if dtype.itemsize == 8 else "F32"
    operation = elementwise.Operation("function_nan", (), (dtype,), f"y0 = PG_NAN_{suffix};")
    queue = array.queue if queue is None else queue
    elementwise.run(operation, [result], [], array.shape, queue)
    return result


@overload
def atan2(y: InexactT, x: InexactT | float, queue: Queue = None) -> InexactT: ...
@overload
def atan2(y: float, x: InexactT, queue: Queue = None) -> InexactT: ...
@overload
def atan2(
    y: GPUArray[Any] | Number, x: GPUArray[Any] | Number, queue: Queue = None
) -> Floating: ...
def atan2(y: Any, x: Any, queue: Any = None) -> Any:
    """The angle of the point (x, y) [radians]."""
    return functions.binary("atan2", y, x, queue)


@overloads_of(atan2)
def atan2pi(y: Any, x: Any, queue: Any = None) -> Any:
    """The angle of the point (x, y) divided by pi."""
    return functions.binary("atan2pi", y, x, queue)


@overload
def fmod(arg: InexactT, mod: InexactT | float, queue: Queue = None) -> InexactT: ...
@overload
def fmod(arg: float, mod: InexactT, queue: Queue = None) -> InexactT: ...
@overload
def fmod(
    arg: GPUArray[Any] | Number, mod: GPUArray[Any] | Number, queue: Queue = None
) -> Floating: ...
def fmod(arg: Any, mod: Any, queue: Any = None) -> Any:
    """The remainder of arg / mod, with the sign of arg."""
    return functions.binary("fmod", arg, mod, queue)


@overload
def ldexp(
    significand: InexactT, exponent: GPUArray[Any] | Number, queue: Queue = None
) -> InexactT: ...
@overload
def ldexp(
    significand: GPUArray[Any] | Number, exponent: GPUArray[Any] | Number, queue: Queue = None
) -> Floating: ...
def ldexp(significand: Any, exponent: Any, queue: Any = None) -> Any:
    """significand * 2**exponent; fractions of exponents are dropped."""
    return functions.binary("ldexp", significand, exponent, queue)


@overload
def frexp(arg: InexactT, queue: Queue = None) -> tuple[InexactT, GPUArray[np.int32]]: ...
@overload
def frexp(arg: GPUArray[Any], queue: Queue = None) -> tuple[Floating, GPUArray[np.int32]]: ...
def frexp(arg: Any, queue: Any = None) -> tuple[Any, Any]:
    """(significands, exponents as int32) with ``arg == significand * 2**exponent``, significands
    from 0.5 to 1."""
    return functions.split("frexp", arg, queue, np.int32)


@overload
def modf(arg: InexactT, queue: Queue = None) -> tuple[InexactT, InexactT]: ...
@overload
def modf(arg: GPUArray[Any], queue: Queue = None) -> tuple[Floating, Floating]: ...
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
        raise TypeError(f"{call}: an OpenCL array is needed")
    dtype = functions.float_dtype(x.dtype, call=call, backend=backend)
    if not backend.limits.fp64:
        raise TypeError(f"{call}: {backend!r} has no double precision")
    if dtype.kind == "c" and (which == "y" or dtype != np.complex128):
        raise NotImplementedError(f"{call}: complex arguments need J and complex128")
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


@overload
def bessel_jn(n: int, x: InexactT, queue: Queue = None) -> InexactT: ...
@overload
def bessel_jn(n: int, x: GPUArray[Any], queue: Queue = None) -> Floating: ...
def bessel_jn(n: int, x: Any, queue: Any = None) -> Any:
    """The Bessel function of the first kind J of order n; x real or complex128."""
    return _bessel("j", n, x, queue)


@overloads_of(bessel_jn)
def bessel_yn(n: int, x: Any, queue: Any = None) -> Any:
    """The Bessel function of the second kind Y of order n; x real."""
    return _bessel("y", n, x, queue)


def hankel_01(
    x: GPUArray[np.complex128], queue: Queue = None
) -> tuple[GPUArray[np.complex128], GPUArray[np.complex128]]:
    """The Hankel functions of the first kind of orders 0 and 1; x complex128."""
    from pygpu._src.user_kernels.elementwise import Elementwise
    from pygpu._src.user_kernels.language import OPENCL

    functions._check("hankel_01", x)
    if x.backend.name != "opencl" or x.dtype != np.complex128:
        raise NotImplementedError("hankel_01: an OpenCL array of dtype complex128 is needed")
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


_public_functions(globals(), __all__)
