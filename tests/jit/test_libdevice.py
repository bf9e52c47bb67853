"""Every function of libdevice in one kernel, against Python's mathematics."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import cuda
from pygpu._src.runtime.backends import backend_of
from pygpu.cuda import libdevice

X, Y, Z = 0.625, 1.75, -0.5
P, Q, R = 13, -7, 3
L, M = 123456789012, -5
EULER = 0.5772156649015329


def bessel_j(n: int, x: float) -> float:
    terms = ((-1) ** m / (math.factorial(m) * math.factorial(m + n)) for m in range(20))
    return sum(t * (x / 2) ** (2 * m + n) for m, t in enumerate(terms))


def bessel_y(n: int, x: float) -> float:
    if n == 0:
        total, harmonic = (math.log(x / 2) + EULER) * bessel_j(0, x), 0.0
        for m in range(1, 20):
            harmonic += 1 / m
            total -= (-1) ** m * harmonic * (x * x / 4) ** m / math.factorial(m) ** 2
        return 2 / math.pi * total
    if n == 1:  # from the Wronskian
        return (bessel_j(1, x) * bessel_y(0, x) - 2 / (math.pi * x)) / bessel_j(0, x)
    return 2 * (n - 1) / x * bessel_y(n - 1, x) - bessel_y(n - 2, x)


def erfinv(x: float) -> float:
    return NormalDist().inv_cdf((x + 1) / 2) / math.sqrt(2)


def signed(bits: int, size: int = 32) -> int:
    bits &= (1 << size) - 1
    return bits - (1 << size) if bits >> (size - 1) else bits


def low(value: int, size: int = 32) -> int:
    return value & ((1 << size) - 1)


def bits_of(x: float, single: bool = False) -> int:
    return int(np.array(x, "f4" if single else "f8").view("i4" if single else "i8"))


REALS: dict[str, Callable[..., Any]] = {  # of float64; with an f at the end, of float32
    **{
        name: getattr(math, name)
        for name in "acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh erf erfc exp "
        "expm1 fabs floor fmod hypot log log10 log1p log2 pow sin sinh sqrt tan tanh trunc lgamma "
        "ldexp remainder nextafter modf frexp".split()
    },
    "cbrt": np.cbrt,
    "cospi": lambda x: math.cos(math.pi * x),
    "sinpi": lambda x: math.sin(math.pi * x),
    "erfcinv": lambda x: erfinv(1 - x),
    "erfcx": lambda x: math.exp(x * x) * math.erfc(x),
    "erfinv": erfinv,
    "exp10": lambda x: 10**x,
    "exp2": lambda x: 2**x,
    "j0": lambda x: bessel_j(0, x),
    "j1": lambda x: bessel_j(1, x),
    "jn": bessel_j,
    "y0": lambda x: bessel_y(0, x),
    "y1": lambda x: bessel_y(1, x),
    "yn": bessel_y,
    "logb": lambda x: math.floor(math.log2(x)),
    "nearbyint": np.rint,
    "normcdf": NormalDist().cdf,
    "normcdfinv": NormalDist().inv_cdf,
    "rcbrt": lambda x: 1 / np.cbrt(x),
    "rint": np.rint,
    "round": lambda x: math.floor(x + 0.5),
    "rsqrt": lambda x: x**-0.5,
    "tgamma": math.gamma,
    "fdim": lambda x, y: max(x - y, 0),
    "fmax": max,
    "fmin": min,
    "fma": lambda x, y, z: x * y + z,
    "powi": lambda x, i: x**i,
    "scalbn": math.ldexp,
    "sincos": lambda x: (math.sin(x), math.cos(x)),
    "sincospi": lambda x: (math.sin(math.pi * x), math.cos(math.pi * x)),
    "remquo": lambda x, y: (math.remainder(x, y), None),
    "saturate": lambda x: min(max(x, 0), 1),
    "fdivide": lambda x, y: x / y,
    "ilogb": lambda x: math.floor(math.log2(x)),
    "llrint": np.rint,
    "llround": lambda x: math.floor(x + 0.5),
}
ROUNDED: dict[str, Callable[..., Any]] = {  # with _rn, _rz, _ru, _rd
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "rcp": lambda x: 1 / x,
    "rsqrt": lambda x: x**-0.5,
    "sqrt": math.sqrt,
    "fma": lambda x, y, z: x * y + z,
}
OTHERS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "llabs": abs,
    "max": max,
    "min": min,
    "llmax": max,
    "llmin": min,
    "umax": lambda i, j: signed(max(low(i), low(j))),
    "umin": lambda i, j: signed(min(low(i), low(j))),
    "ullmax": lambda i, j: signed(max(low(i, 64), low(j, 64)), 64),
    "ullmin": lambda i, j: signed(min(low(i, 64), low(j, 64)), 64),
    "brev": lambda i: signed(int(f"{low(i):032b}"[::-1], 2)),
    "brevll": lambda i: signed(int(f"{low(i, 64):064b}"[::-1], 2), 64),
    "clz": lambda i: 32 - low(i).bit_length(),
    "clzll": lambda i: 64 - low(i, 64).bit_length(),
    "ffs": lambda i: (i & -i).bit_length(),
    "ffsll": lambda i: (i & -i).bit_length(),
    "popc": lambda i: low(i).bit_count(),
    "popcll": lambda i: low(i, 64).bit_count(),
    "hadd": lambda i, j: (i + j) >> 1,
    "rhadd": lambda i, j: (i + j + 1) >> 1,
    "uhadd": lambda i, j: signed((low(i) + low(j)) >> 1),
    "urhadd": lambda i, j: signed((low(i) + low(j) + 1) >> 1),
    "mul24": lambda i, j: i * j,
    "umul24": lambda i, j: signed(low(i, 24) * low(j, 24)),
    "mulhi": lambda i, j: (i * j) >> 32,
    "umulhi": lambda i, j: signed((low(i) * low(j)) >> 32),
    "mul64hi": lambda i, j: (i * j) >> 64,
    "umul64hi": lambda i, j: signed((low(i, 64) * low(j, 64)) >> 64, 64),
    "sad": lambda i, j, k: abs(i - j) + k,
    "usad": lambda i, j, k: signed(abs(low(i) - low(j)) + k),
    "byte_perm": lambda i, j, k: signed(
        sum(((low(i) | low(j) << 32) >> 8 * (k >> 4 * n & 7) & 255) << 8 * n for n in range(4))
    ),
    "isfinited": math.isfinite,
    "finitef": math.isfinite,
    "isinfd": math.isinf,
    "isinff": math.isinf,
    "isnand": math.isnan,
    "isnanf": math.isnan,
    "signbitd": lambda x: x < 0,
    "signbitf": lambda x: x < 0,
    "double2hiint": lambda x: bits_of(x) >> 32,
    "double2loint": lambda x: signed(bits_of(x)),
    "hiloint2double": lambda i, j: np.int64(i << 32 | low(j)).view("f8"),
    "double_as_longlong": bits_of,
    "longlong_as_double": lambda i: np.int64(i).view("f8"),
    "float_as_int": lambda x: bits_of(x, True),
    "int_as_float": lambda i: np.int32(i).view("f4"),
    "half2float": lambda i: np.int16(i).view("f2"),
    "float2half_rn": lambda x: np.float16(x).view("i2"),
}
VALUES = {"d": (X, Y, Z), "f": (X, Y, Z), "i": (P, Q, R), "l": (L, M), "h": (P,)}


def expected(name: str, args: list[float]) -> Any:
    if name in OTHERS:
        return OTHERS[name](*args)
    base = name.removeprefix("fast_")
    if base[-3:-1] == "_r":
        base, how = base[:-3], base[-1]
        if "2" in base:  # conversions
            to = base.partition("2")[2]
            value = args[0] if base[0] != "u" else low(args[0], 64 if "ull" in base else 32)
            if to in ("double", "float"):
                return value
            rounding = {"n": np.rint, "z": math.trunc, "u": math.ceil, "d": math.floor}
            return rounding[how](value)
        return ROUNDED[base if base in ROUNDED else base[1:] if base != "fmaf" else "fma"](*args)
    return REALS[base if base in REALS else base.removesuffix("f")](*args)


def _every(backend: str | None = None) -> tuple[Any, list[tuple[str, float]]]:
    """A kernel that calls all functions, and what it should give."""
    lines, wanted = [], []
    for kind, names in libdevice._FUNCTIONS.items():
        results, _, parameters = kind.partition(":")
        for name in names.split():
            places: dict[str, int] = dict.fromkeys("dfilh", 0)
            texts, args = [], []
            for code in parameters:
                place = places[code]
                places[code] += 1
                if name in ("acosh", "acoshf"):
                    place = 1
                texts.append(f"{code}[{place}]")
                args.append(VALUES[code][place])
            if name in ("jn", "jnf", "yn", "ynf"):  # of the second order
                texts[0], args[0] = "2", 2
            right = expected(name, args)
            call = f"libdevice.{name}({', '.join(texts)})"
            if len(results) == 2:
                lines.append(f"    r, s = {call}")
                values = [("r", right[0]), ("s", right[1])]
            else:
                values = [(call, right)]
            for text, value in values:
                if value is None:
                    continue
                lines.append(f"    if cuda.threadIdx.x == 0: o[{len(wanted)}] = {text}")
                wanted.append((name, float(value)))
    body = "def every(d, f, i, l, h, o):\n" + "\n".join(lines) + "\n"
    space: dict[str, Any] = {"libdevice": libdevice, "cuda": cuda}
    exec(body, space)
    return pygpu.kernel(space["every"], src=body, backend=backend), wanted


def test_every_function_against_its_reference(make: Any) -> None:
    kernel, wanted = _every()
    dtypes = {"d": "f8", "f": "f4", "i": "i4", "l": "i8", "h": "i2"}
    given = [make(np.array(VALUES[c], dtypes[c])) for c in "dfilh"]
    out = make(np.zeros(len(wanted)))
    if out.backend.name == "opencl":
        with pytest.raises(pygpu.KernelError, match="libdevice functions exist on CUDA only"):
            kernel[1, 1](*given, out)
        return
    kernel[1, 1](*given, out)
    assert len(libdevice._MADE) == len(libdevice.__all__) > 300
    for (name, right), mine in zip(wanted, out.get().tolist()):
        near = 2e-3 if name.startswith("fast") else 2e-6
        assert np.isclose(mine, right, near, 1e-6, equal_nan=True), (name, mine, right)


@pytest.mark.slow
def test_all_for_nvidia(cuda_context: Any, nvrtc: Any) -> None:
    kernel, _ = _every("cuda")
    types = [f"{t}[:]" for t in ("float64", "float32", "int32", "int64", "int16", "float64")]
    with cuda.gpus[0]:
        nvrtc(backend_of(None), kernel.inspect_source(*types))


def test_arguments_are_converted_or_refused() -> None:
    """Converted to the function's types; what does not fit is refused."""

    def narrow(x):
        return libdevice.sinf(x)

    def several(x):
        s, c = libdevice.sincos(x)
        return s * 2 + c

    def wrong(x):
        return libdevice.sinf(x, x)

    made = pygpu.pykernel.compile_function(narrow, [np.int64])
    assert made.return_types == (np.dtype("f4"),)
    assert pygpu.pykernel.compile_function(several, [np.float32]).return_types == (np.dtype("f8"),)
    with pytest.raises(pygpu.KernelError, match=r"libdevice\.sinf\(\) takes 1 argument, 2 given"):
        pygpu.pykernel.compile_function(wrong, [np.float32])
    with pytest.raises(pygpu.KernelError, match="real numbers"):
        pygpu.pykernel.compile_function(narrow, [np.complex64])
    with pytest.raises(TypeError, match="only be called in a kernel"):
        libdevice.sinf(1.0)
