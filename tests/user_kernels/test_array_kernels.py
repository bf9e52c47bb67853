"""The kernels that pygpu.elementwise has by PyOpenCL's names, launched by elwise_kernel_runner."""

from __future__ import annotations

import ctypes
import math

import numpy as np
import pytest

from pygpu import array as cl_array
from pygpu import elementwise as el
from pygpu.elementwise import ArgumentKind

F, D, J, C = map(np.dtype, (np.float32, np.float64, np.int32, np.complex64))


def run(kernel, out, *args):
    """Launch a kernel that exists already; what the array is then."""
    cl_array.elwise_kernel_runner(lambda *_: kernel)(out, *args).wait()
    return out.get()


def near(got, want):
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


N = 1500  # more than the work-items of a small grid take in one step


@pytest.fixture
def on(opencl):
    opencl.x = np.linspace(0.5, 9, N).astype(F)
    opencl.y = (np.arange(N) % 17 - 8).astype(F)
    opencl.i = (np.arange(N) * 7 % N).astype(J)
    opencl.c = (opencl.x - 1j * opencl.y).astype(C)
    opencl.out = lambda dtype=F, n=N: opencl.array(np.zeros(n, dtype))
    return opencl


def test_moving_items(on):
    ctx, index = on.context, on.array(on.i)
    assert np.array_equal(
        run(el.get_take_kernel(ctx, F, J), on.out(), on.array(on.x), index), on.x[on.i]
    )
    both = [on.out(n=4), on.out(n=4)]
    some = on.array(np.array([3, 0, 3, 1], J))
    kernel = el.get_take_kernel(ctx, F, J, vec_count=2)
    assert np.array_equal(
        run(kernel, *both, on.array(on.x), on.array(on.y), some), on.x[[3, 0, 3, 1]]
    )
    assert np.array_equal(both[1].get(), on.y[[3, 0, 3, 1]])

    reverse = on.array(np.arange(N, dtype=J)[::-1])
    kernel = el.get_take_put_kernel(ctx, F, J, True)
    shifted = np.arange(N, dtype=J) - 2
    got = run(kernel, on.out(), reverse, on.array(shifted), on.array(on.x), np.int32(2))
    assert np.array_equal(got, on.x[::-1])
    lengths, three = on.array(np.array([3], np.int64)), on.array(np.array([5, 6, 7], F))
    kernel = el.get_put_kernel(ctx, F, J)
    for fill, want in ((0, np.resize([5, 6, 7], N)), (1, np.full(N, 5))):
        flag = on.array(np.array([fill], np.uint8))
        assert np.array_equal(run(kernel, on.out(), index, three, flag, lengths)[on.i], want)

    assert np.array_equal(run(el.get_copy_kernel(ctx, C, F), on.out(C), on.array(on.x)), on.x + 0j)
    assert np.array_equal(
        run(el.get_copy_kernel(ctx, J, F), on.out(J), on.array(on.x)), on.x.astype(J)
    )
    assert np.array_equal(
        run(el.get_arange_kernel(ctx, J), on.out(J), np.int32(5), np.int32(-3)),
        5 - 3 * np.arange(N),
    )
    near(run(el.get_arange_kernel(ctx, C), on.out(C), 1 + 0j, 2j), 1 + 2j * np.arange(N))
    assert np.array_equal(
        run(el.get_diff_kernel(ctx, F), on.out(n=N - 1), on.array(on.x)), np.diff(on.x)
    )


def test_if_positive(on):
    crit, args = on.array(on.y), [on.array(on.x), on.array(np.array([7], F))]
    kernel = el.get_if_positive_kernel(on.context, F, F, True, True, False, True)
    assert np.array_equal(run(kernel, on.out(), crit, *args), np.where(on.y > 0, on.x, 7))
    kernel = el.get_if_positive_kernel(on.context, F, F, False, True, True, False)
    got = run(kernel, on.out(), crit, np.float32(1), args[0])
    assert np.array_equal(got, np.where(on.y > 0, 1, on.x).astype(F))


@pytest.mark.parametrize("dtype", [pytest.param(F, marks=pytest.mark.slow), C])
def test_arithmetic(on, dtype):
    ctx, x, y = on.context, on.x if dtype == F else on.c, on.y
    dx, dy, one = on.array(x), on.array(y), on.array(x[:1])
    a, b = dtype.type(2), dtype.type(-0.5 if dtype == F else 3j)
    near(
        run(el.get_axpbyz_kernel(ctx, dtype, F, dtype), on.out(dtype), a, dx, b, dy), a * x + b * y
    )
    kernel = el.get_axpbyz_kernel(ctx, dtype, F, dtype, x_is_scalar=True)
    near(run(kernel, on.out(dtype), a, one, b, dy), a * x[0] + b * y)
    near(
        run(el.get_axpbz_kernel(ctx, F, dtype, dtype, dtype), on.out(dtype), 2.0, dx, b), 2 * x + b
    )
    near(run(el.get_multiply_kernel(ctx, dtype, F, dtype), on.out(dtype), dx, dy), x * y)
    kernel = el.get_divide_kernel(ctx, F, dtype, dtype, False, True)
    near(run(kernel, on.out(dtype), dy, one), y / x[0])
    kernel = el.get_rdivide_elwise_kernel(ctx, dtype, F, dtype)
    near(run(kernel, on.out(dtype), dx, np.float32(3)), 3 / x)
    kernel = el.get_pow_kernel(ctx, dtype, F, dtype, True, False)
    near(run(kernel, on.out(dtype), dx, np.float32(2)), x**2)


def test_powers_of_integers(on):
    kernel = el.get_pow_kernel(on.context, J, J, J, False, True)
    exponents = on.array(np.arange(6, dtype=J))
    assert run(kernel, on.out(J, 6), np.int32(3), exponents).tolist() == [1, 3, 9, 27, 81, 243]
    kernel = el.get_pow_kernel(on.context, np.int64, np.int8, np.int64, False, True)
    few = on.array(np.array([39, 63, 0, -1, -2], np.int8))
    for base, expected in (
        (3, [3**39, 3**63 % 2**64 - 2**64, 1, 0, 0]),
        (-1, [-1, -1, 1, -1, 1]),
        (1, [1] * 5),
    ):
        assert run(kernel, on.out(np.int64, 5), np.int64(base), few).tolist() == expected


def test_operators(on):
    ctx, dx, dy, di = on.context, on.array(on.x), on.array(on.y), on.array(on.i)
    assert np.array_equal(run(el.get_unop_kernel(ctx, "~", J, J), on.out(J), di), ~on.i)
    kernel = el.get_array_scalar_binop_kernel(ctx, "&", J, J, J)
    assert np.array_equal(run(kernel, on.out(J), di, np.int32(12)), on.i & 12)
    kernel = el.get_array_binop_kernel(ctx, "%", J, J, J, b_is_scalar=True)
    assert np.array_equal(run(kernel, on.out(J), di, on.array(np.array([7], J))), on.i % 7)
    kernel = el.get_array_scalar_comparison_kernel(ctx, ">=", F)
    assert np.array_equal(run(kernel, on.out(np.int8), dx, np.float32(4)), on.x >= 4)
    kernel = el.get_array_comparison_kernel(ctx, "<", F, F)
    assert np.array_equal(run(kernel, on.out(np.int8), dx, dy), on.x < on.y)
    assert np.array_equal(run(el.get_logical_not_kernel(ctx, F), on.out(np.int8), dy), on.y == 0)


def test_functions(on):
    ctx, dx, dy, di = on.context, on.array(on.x), on.array(on.y), on.array(on.i)
    near(
        run(el.get_binary_func_kernel(ctx, "hypot", F, F, F), on.out(), dx, dy),
        np.hypot(on.x, on.y),
    )
    near(run(el.get_fmod_kernel(ctx, F, J, F), on.out(), di, dx), np.fmod(on.i.astype(F), on.x))
    whole, part, power = on.out(), on.out(), on.out(J)
    near(run(el.get_modf_kernel(ctx, F, F, F), whole, part, dx), np.modf(on.x)[1])
    near(part.get(), np.modf(on.x)[0])
    near(run(el.get_frexp_kernel(ctx, F, J, F), part, power, dx), np.frexp(on.x)[0])
    assert np.array_equal(power.get(), np.frexp(on.x)[1])
    near(run(el.get_ldexp_kernel(ctx, F, F, F), on.out(), dx, dy), np.ldexp(on.x, on.y.astype(J)))


def test_minimum_and_maximum(on):
    y = on.y.copy()
    y[::5] = np.nan
    kinds = ArgumentKind.ARRAY, ArgumentKind.ARRAY
    kernel = el.get_minmaximum_kernel(on.context, "max", F, F, F, *kinds)
    got = run(kernel, on.out(), on.array(on.x), on.array(y))
    np.testing.assert_array_equal(got, np.maximum(on.x, y))
    kinds = ArgumentKind.SCALAR, ArgumentKind.ARRAY
    got = run(
        el.get_minmaximum_kernel(on.context, "min", F, J, F, *kinds),
        on.out(), np.int32(2), on.array(y),
    )  # fmt: skip
    np.testing.assert_array_equal(got, np.minimum(2, y))


@pytest.mark.slow
def test_special_functions(on):
    if not on.queue.device.double_fp_config:
        pytest.skip("no float64 on this device")
    x, z = np.linspace(0.1, 30, 50), np.linspace(0.1, 9, 50) + 0.5j
    libm = ctypes.CDLL(None)
    libm.jn.restype, libm.jn.argtypes = ctypes.c_double, [ctypes.c_int, ctypes.c_double]
    got = run(
        el.get_bessel_kernel(on.context, "j", D, J, D), on.out(D, 50), np.int32(3), on.array(x)
    )
    near(got, [libm.jn(3, value) for value in x])
    complex_ = np.dtype(np.complex128)
    # A sum over k of (-1)**k (z/2)**(2k+n) / (k! (k+n)!), for order 1
    want = sum(
        (-1) ** k * (z / 2) ** (2 * k + 1) / (math.factorial(k) * math.factorial(k + 1))
        for k in range(40)
    )
    kernel = el.get_bessel_kernel(on.context, "j", complex_, J, complex_)
    near(run(kernel, on.out(complex_, 50), np.int32(1), on.array(z)), want)
    h0, h1 = on.out(complex_, 50), on.out(complex_, 50)
    run(el.get_hankel_01_kernel(on.context, complex_, complex_), h0, h1, on.array(x + 0j))
    near(h1.get().real, [libm.jn(1, value) for value in x])


def test_kinds_and_refusals(on):
    assert el.get_argument_kind(3.5) is ArgumentKind.SCALAR
    assert el.get_argument_kind(on.out()) is ArgumentKind.ARRAY
    assert el.get_argument_kind(on.array(np.float32(1))) is ArgumentKind.DEV_SCALAR
    assert el.get_decl_and_access_for_kind("x", ArgumentKind.DEV_SCALAR) == ("*x", "x[0]")
    assert el.complex_dtype_to_name(np.complex64) == "cfloat" and el.real_dtype(C) == F
    with pytest.raises(RuntimeError, match="not a complex type"):
        el.complex_dtype_to_name(F)
    with pytest.raises(TypeError, match="get_copy_kernel: complex64 cannot become float32"):
        el.get_copy_kernel(on.context, F, C)
    with pytest.raises(TypeError, match="complex numbers and structs have no order"):
        el.get_minmaximum_kernel(on.context, "min", C, C, C, ArgumentKind.ARRAY, ArgumentKind.ARRAY)
    with pytest.raises(NotImplementedError):
        el.get_bessel_kernel(on.context, "y", C, J, C)
    with pytest.raises(AttributeError, match="get_nothing_kernel"):
        el.get_nothing_kernel  # noqa: B018

    @cl_array.elwise_kernel_runner
    def negated(out, x):
        """Its own."""
        return el.get_unop_kernel(out.context, "-", out.dtype, x.dtype)

    assert negated.__name__ == "negated" and negated.__doc__ == "Its own."
    with pytest.raises(TypeError, match="negated: out must be an Array, not ndarray"):
        negated(on.x, on.x)
    with pytest.raises(ValueError, match="negated: no queue"):
        negated(on.out().with_queue(None), on.out())
    out = on.out()
    negated(out, on.array(on.x), queue=on.queue, wait_for=[])
    assert np.array_equal(out.get(), -on.x)
    sizes = out._get_sizes(on.queue, 64)
    assert sizes[1][0] <= 64 and sizes[0][0] % sizes[1][0] == 0
