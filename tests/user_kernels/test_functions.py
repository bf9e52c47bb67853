"""clmath and cumath against NumPy and Python's own math."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pygpu.array as cla
import pygpu.clmath as clmath

REFERENCE = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "acospi": lambda x: np.arccos(x) / np.pi,
    "asinpi": lambda x: np.arcsin(x) / np.pi,
    "atanpi": lambda x: np.arctan(x) / np.pi,
    "cospi": lambda x: np.cos(np.pi * x),
    "sinpi": lambda x: np.sin(np.pi * x),
    "tanpi": lambda x: np.tan(np.pi * x),
    "erf": np.vectorize(math.erf),
    "erfc": np.vectorize(math.erfc),
    "lgamma": np.vectorize(math.lgamma),
    "tgamma": np.vectorize(math.gamma),
    "exp10": lambda x: 10.0**x,
    "ilogb": lambda x: np.frexp(x)[1] - 1.0,
    "logb": lambda x: np.frexp(x)[1] - 1.0,
    "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
}
ROUNDING = ("ceil", "floor", "rint", "round", "trunc", "fabs")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_text_of_every_function(side, dtype):
    """All in one kernel, which is compiled once."""
    from pygpu._src.array import elementwise
    from pygpu._src.user_kernels.functions import _SPECIAL, NAMES, _unary

    dtype = np.dtype(dtype)
    names = [name for name in NAMES if name not in _SPECIAL]
    bodies = [_unary(side.name, name, dtype, True).body for name in names]
    body = " ".join(text.replace("y0", f"y{k}") for k, text in enumerate(bodies))
    body = body.replace("acosh(x0)", "acosh(x0 + 1)")
    operation = elementwise.Operation("all", (dtype,), (dtype,) * len(names), body)
    x = np.concatenate([np.linspace(0.01, 0.45, 40), [0.5, 1.5, 2.5, -0.2, -1.5, -2]]).astype(dtype)
    array = side.array(x)
    outs = [side.array(np.zeros_like(x)) for _ in names]
    elementwise.run(operation, outs, [array], array.shape)
    wrong = []
    for name, out in zip(names, outs, strict=True):
        reference = REFERENCE.get(name) or getattr(np, name)
        part = slice(None) if name in ROUNDING else slice(0, 40)
        argument = x[part].astype(np.float64) + (name == "acosh")
        got, expected = out.get()[part], reference(argument)
        tolerance = 40 * np.finfo(dtype).eps
        if not np.allclose(got, expected, rtol=tolerance, atol=tolerance):
            wrong.append((name, np.abs(got - expected).max()))
    assert not wrong


def test_error_and_gamma_functions_are_those_of_special(side):
    from pygpu import special

    x = side.array(np.array([-2.5, -0.3, 0.2, 1.7, 5], np.float32))
    for name, other in (
        ("erf", "erf"),
        ("erfc", "erfc"),
        ("lgamma", "gammaln"),
        ("tgamma", "gamma"),
    ):
        got = getattr(clmath, name)(x)
        assert got.dtype == np.float32
        np.testing.assert_array_equal(got.get(), getattr(special, other)(x).get(), err_msg=name)
    assert clmath.erf(x.astype(np.float16)).dtype == np.float16


def test_clmath_has_pyopencls_functions(side):
    x = np.linspace(0.01, 0.9, 30)
    assert np.allclose(clmath.expm1(side.array(x)).get(), np.expm1(x), rtol=1e-15)
    for name in clmath.__all__:
        assert callable(getattr(clmath, name))


def test_complex(side):
    x = (np.linspace(-1, 1, 20) + 1j * np.linspace(0.3, 0.9, 20)).astype(np.complex64)
    for name, reference in {
        "exp": np.exp,
        "log": np.log,
        "sqrt": np.sqrt,
        "sin": np.sin,
        "tanh": np.tanh,
        "log10": np.log10,
        "acos": np.arccos,
    }.items():
        got = getattr(clmath, name)(side.array(x))
        assert got.dtype == np.complex64
        assert np.allclose(got.get(), reference(x), rtol=1e-5, atol=1e-6), name
    with pytest.raises(TypeError, match="complex"):
        clmath.erf(side.array(x))


def test_integers_halves_and_layouts(side):
    for dtype, result in [(np.int8, np.float16), (np.int16, np.float32), (np.int32, np.float64)]:
        x = np.arange(1, 12, dtype=dtype)
        got = clmath.sqrt(side.array(x))
        assert got.dtype == result and np.allclose(got.get(), np.sqrt(x), rtol=1e-3)
    x = np.arange(30, dtype=np.float16).reshape(5, 6)
    assert np.array_equal(clmath.exp2(side.array(x[:2])).get(), np.exp2(x[:2]))
    x = np.arange(30, dtype=np.float32).reshape(5, 6)
    part = x[::2, ::-1]
    assert np.array_equal(clmath.sqrt(side.view(side.array(x), x, part)).get(), np.sqrt(part))
    fortran = clmath.sqrt(side.array(np.asfortranarray(x)))
    assert fortran.strides == np.asfortranarray(x).strides
    assert np.array_equal(fortran.get(), np.sqrt(x))
    assert clmath.sqrt(side.array(x[:0])).shape == (0, 6)


def test_two_arguments_and_two_results(side):
    x, y = np.linspace(-3, 4, 31), np.linspace(0.3, 2, 31)
    a, b = side.array(x), side.array(y)
    assert np.array_equal(clmath.fmod(a, b).get(), np.fmod(x, y))
    assert np.allclose(clmath.atan2(a, b).get(), np.arctan2(x, y), rtol=1e-15)
    assert np.allclose(clmath.atan2pi(a, b).get(), np.arctan2(x, y) / np.pi, rtol=1e-15)
    assert np.array_equal(
        clmath.ldexp(a, side.array(np.arange(31, dtype=np.int32))).get(), np.ldexp(x, np.arange(31))
    )
    assert np.array_equal(
        clmath.ldexp(a, side.array(np.arange(31) * 0.3)).get(),
        np.ldexp(x, (np.arange(31) * 0.3).astype(int)),
    )
    significand, exponent = clmath.frexp(a)
    assert exponent.dtype == np.int32
    for got, expected in zip((significand, exponent), np.frexp(x), strict=True):
        assert np.array_equal(got.get(), expected)
    for got, expected in zip(clmath.modf(a), np.modf(x), strict=True):
        assert np.array_equal(got.get(), expected)
    with pytest.raises(TypeError, match="numpy.ndarray|ndarray"):
        clmath.fmod(a, y)
    assert np.isnan(clmath.nan(side.array(np.arange(3, dtype=np.uint32))).get()).all()


def test_cumath(cuda):
    from pygpu.cuda import cumath
    from pygpu.cuda.driver import Stream

    x = np.linspace(0.1, 0.9, 40, dtype=np.float32)
    array = cuda.array(x)
    out = cuda.array(np.zeros_like(x))
    assert cumath.exp(array, out=out) is out
    assert np.allclose(out.get(), np.exp(x), rtol=1e-6)
    assert np.allclose(cumath.sin(array, stream=Stream()).get(), np.sin(x), rtol=1e-6)
    with pytest.warns(DeprecationWarning):
        assert cumath.log(array, out) is out
    assert np.allclose(out.get(), np.log(x), rtol=1e-5)
    with pytest.raises(TypeError, match="dtype"):
        cumath.exp(array, out=cuda.array(np.zeros(40)))
    with pytest.raises(ValueError, match="shape"):
        cumath.exp(array, out=cuda.array(np.zeros(41, np.float32)))
    significand, exponent = cumath.frexp(array)
    assert exponent.dtype == np.float32
    assert np.array_equal(significand.get() * 2 ** exponent.get(), x)


def test_bessel_and_hankel(opencl):
    scipy = pytest.importorskip("scipy.special")
    if not opencl.queue.device.double_fp_config:
        pytest.skip("the device has no double precision")
    x = np.linspace(0.5, 20, 40)
    array = opencl.array(x)
    assert np.allclose(clmath.bessel_jn(3, array).get(), scipy.jn(3, x), atol=1e-12)
    assert np.allclose(clmath.bessel_yn(2, array).get(), scipy.yn(2, x), atol=1e-12)
    z = x + 0.5j
    h0, h1 = clmath.hankel_01(opencl.array(z))
    assert np.allclose(h0.get(), scipy.hankel1(0, z), rtol=1e-10)
    assert np.allclose(h1.get(), scipy.hankel1(1, z), rtol=1e-10)
    assert np.allclose(clmath.bessel_jn(1, opencl.array(z)).get(), scipy.jv(1, z), rtol=1e-9)


def test_a_result_that_overlaps_its_argument(side):
    from pygpu._src.user_kernels import functions

    x = np.linspace(1, 2, 3000, dtype=np.float32)
    for name in ("sqrt", "exp"):
        array, expected = side.array(x), x.copy()
        for _ in range(2):  # the second time it may be remembered
            getattr(np, name)(expected[:-1], out=expected[1:])
            functions.apply(name, array[:-1], out=array[1:])
        np.testing.assert_allclose(array.get(), expected, rtol=1e-5)
    array, expected = side.array(x), x.copy()
    functions.binary("fmod", array[1:], array[:-1], out=array[:-1])
    expected[:-1] = np.fmod(expected[1:], expected[:-1])
    np.testing.assert_allclose(array.get(), expected, atol=1e-6)
    whole = side.array(x)
    assert functions.apply("sqrt", whole, out=whole) is whole  # item by item: no copy is needed
    np.testing.assert_allclose(whole.get(), np.sqrt(x), rtol=1e-6)


def test_pairs_of_results_again(queue):
    """The second call of a layout is remembered: with the numbers and memory of its own."""
    x = np.float32([0.5, -1.25, 7.75, -0.0, 3])
    arrays = [cla.to_device(queue, x * n) for n in range(1, 4)]
    kept = [(a, clmath.modf(a[1:]), clmath.frexp(a)) for a in arrays]
    for a, fractions, significands in kept:
        host = a.get()
        for got, expected in zip(fractions, np.modf(host[1:]), strict=True):
            assert np.array_equal(got.get(), expected) and got.dtype == expected.dtype
        for got, expected in zip(significands, np.frexp(host), strict=True):
            assert np.array_equal(got.get(), expected) and got.dtype == expected.dtype
    for wrong in (1, "x", np.arange(3.0)):
        with pytest.raises(TypeError):
            clmath.modf(wrong)
    strided = clmath.modf(arrays[0][::2])[0]
    assert np.array_equal(strided.get(), np.modf(x[::2])[0])
