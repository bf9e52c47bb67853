"""The Bessel, Airy and Hankel device headers against SciPy.

Errors are measured against the size that the function has in the neighbourhood, not against a
value near a zero.
"""

import numpy as np
import pytest

import pygpu as cl

special = pytest.importorskip("scipy.special", reason="needs the package scipy to compare with")

SOURCE = """
#define PYOPENCL_DEFINE_CDOUBLE
#include <pyopencl-complex.h>
#include <pyopencl-bessel-j.cl>
#include <pyopencl-bessel-y.cl>
#include <pyopencl-airy.cl>
#include <pyopencl-bessel-j-complex.cl>
#include <pyopencl-hankel-complex.cl>

#define X size_t i = get_global_id(0); double x = xs[i];
#define REAL(NAME, EXPR) __kernel void NAME(__global const double *xs, double order, \\
                                            __global double *out) { X out[i] = EXPR; }
REAL(jv, bessel_jv(order, x))
REAL(jn, bessel_jn((int) order, x))
REAL(j0, bessel_j0(x))
REAL(j1, bessel_j1(x))
REAL(yn, bessel_yn((int) order, x))
REAL(y0, bessel_y0(x))
REAL(y1, bessel_y1(x))

__kernel void airys(__global const double *xs, double order, __global double *out)
{
    X
    double ai, aip, bi, bip;
    out[5 * i + 4] = airy(x, &ai, &aip, &bi, &bip);
    vstore4((double4) (ai, aip, bi, bip), 0, out + 5 * i);
}

__kernel void j_complex(__global const cdouble_t *zs, double order, __global cdouble_t *out)
{
    size_t i = get_global_id(0);
    cdouble_t a, b;
    bessel_j_complex((int) order, zs[i], &a, &b);
    out[2 * i] = a;
    out[2 * i + 1] = b;
}

__kernel void hankel(__global const cdouble_t *zs, double order, __global cdouble_t *out)
{
    size_t i = get_global_id(0);
    cdouble_t a, b;
    hankel_01_complex(zs[i], &a, &b, (int) order);
    out[2 * i] = a;
    out[2 * i + 1] = b;
}

__constant const double table[] = {1, -2, 3}, under[] = {5, 0, 7};
REAL(polevl, cephes_polevl(x, table, 2))
REAL(p1evl, cephes_p1evl(x, table, 3))
REAL(rational, boost_evaluate_rational(table, under, x))
"""
@pytest.fixture(scope="module")
def run(ctx, queue, device):
    if "cl_khr_fp64" not in device.extensions.split():
        pytest.skip(f"{device.name} has no double (cl_khr_fp64)")
    program = cl.Program(ctx, SOURCE).build()

    def run(name, x, order=0.0, results=1):
        x = np.ascontiguousarray(np.atleast_1d(x))
        x = x.astype(np.complex128 if name in ("j_complex", "hankel") else np.float64)
        out = np.zeros((x.size, results), x.dtype)
        flags = cl.mem_flags
        inputs = cl.Buffer(ctx, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=x)
        outputs = cl.Buffer(ctx, flags.WRITE_ONLY, out.nbytes)
        getattr(program, name)(queue, x.shape, None, inputs, np.float64(order), outputs)
        cl.enqueue_copy(queue, out, outputs)
        return out.T if results > 1 else out[:, 0]

    return run


def neighbourhood(x):
    """Arguments from tiny to large, dense around the borders between two ways of computing."""
    return np.concatenate([x, np.linspace(1.9, 2.1, 50), np.linspace(24.5, 25.5, 50)])


ARGUMENTS = neighbourhood(
    np.concatenate([np.geomspace(1e-10, 1e4, 700), np.linspace(0.1, 60, 700)])
)


def modulus(order, x):
    """The size around x of the Bessel functions, which have zeros: sqrt(J^2 + Y^2), or J alone
    before them.
    """
    j, y = special.jv(order, x), special.yv(order, x)
    return np.where(x > order, np.hypot(j, y), np.abs(j))


@pytest.mark.parametrize("order", [0, 1, 2, 3, 7, 20, 33, 100, 0.5, 1 / 3, 2.75, 11.125, 40.5])
def test_bessel_j(run, order):
    x = ARGUMENTS
    exact, size = special.jv(order, x), modulus(order, x)
    fits = size > 1e-290
    error = np.abs(run("jv", x, order) - exact)[fits] / size[fits]
    assert error.max() < 2e-13 if order > 10 else error.max() < 2e-14


def test_names_are_the_same_functions(run):
    x = np.linspace(-30, 30, 301)
    np.testing.assert_array_equal(run("j0", x), run("jv", x, 0))
    np.testing.assert_array_equal(run("j1", x), run("jv", x, 1))
    np.testing.assert_array_equal(run("jn", x, 5), run("jv", x, 5))
    np.testing.assert_array_equal(run("y0", x), run("yn", x, 0))
    np.testing.assert_array_equal(run("y1", x), run("yn", x, 1))


def test_bessel_j_of_negative_order_and_argument(run):
    x = np.concatenate([-ARGUMENTS[::7], ARGUMENTS[::7]])
    for order in (-1, -2, -5, 4, 5):
        error = np.abs(run("jv", x, order) - special.jv(order, x))
        assert error.max() < 1e-14, order
    x = ARGUMENTS[ARGUMENTS > 0.05]
    for order in (-0.5, -1 / 3, -2.25, -7.5):
        exact = special.jv(order, x)
        size = np.hypot(exact, special.yv(order, x))
        assert (np.abs(run("jv", x, order) - exact) < 4e-14 * size).all(), order
    assert np.isnan(run("jv", -1.0, 0.5)) and np.isnan(run("jv", np.nan, 1))


def test_bessel_j_at_the_ends(run):
    assert run("jv", 0, 0) == 1 and run("jv", 0, 3) == 0 and run("jv", 0, 0.5) == 0
    assert run("jv", np.inf, 2) == 0
    assert run("jv", 1e-3, 200) == 0  # underflows
    np.testing.assert_allclose(run("jv", 1000.0, 1000), special.jv(1000, 1000.0), rtol=1e-12)
    np.testing.assert_allclose(run("jv", 3.0, 50), special.jv(50, 3.0), rtol=1e-13)


@pytest.mark.parametrize("order", [0, 1, 2, 5, 30, -1, -4])
def test_bessel_y(run, order):
    x = ARGUMENTS
    exact = special.yn(order, x)
    size = np.where(x > abs(order), np.hypot(exact, special.jv(order, x)), np.abs(exact))
    fits = np.isfinite(exact) & (size < 1e300)
    error = np.abs(run("yn", x, order) - exact)[fits] / size[fits]
    assert error.max() < 1e-13


def test_bessel_y_at_the_ends(run):
    assert run("yn", 0, 3) == -np.inf and run("yn", 0, -3) == np.inf
    assert np.isnan(run("y0", -1.0)) and run("y1", np.inf) == 0
    assert run("yn", 1e-5, 100) == -np.inf


def test_airy(run):
    x = np.concatenate(
        [np.linspace(-40, 40, 4001), np.linspace(-1.1, 1.1, 200), [0.0, 99.0, 103.0]]
    )
    got = run("airys", x, results=5)
    exact = special.airy(x)
    ai, aip, bi, bip = exact
    # To the left functions and derivatives oscillate against each other; to the right they have no zeros.
    sizes = [
        np.where(x < 0, np.hypot(ai, bi), np.abs(ai)),
        np.where(x < 0, np.hypot(aip, bip), np.abs(aip)),
    ]
    sizes += [np.where(x < 0, sizes[0], np.abs(bi)), np.where(x < 0, sizes[1], np.abs(bip))]
    for mine, theirs, size, name in zip(
        got, exact, sizes, ("Ai", "Ai'", "Bi", "Bi'"), strict=False
    ):
        error = np.abs(mine - theirs) / size
        assert error[x < 10].max() < 2e-13, name
        assert error.max() < 2e-12, name  # SciPy's own error for a large exponent is of this size
    assert not got[4].any()


def test_airy_beyond_overflow(run):
    got = run("airys", [120.0, np.inf, np.nan], results=5)
    assert got[4].tolist() == [-1, -1, 0]
    assert not got[0, :2].any() and np.isinf(got[2, :2]).all() and np.isnan(got[:4, 2]).all()


def plane(radii, angles=48):
    """Points all over the complex plane, both axes included."""
    angle = np.linspace(-np.pi, np.pi, angles + 1)[1:]
    z = np.multiply.outer(radii, np.exp(1j * angle))
    z.real[np.abs(z.real) < 1e-14 * np.abs(z)] = 0
    z.imag[np.abs(z.imag) < 1e-14 * np.abs(z)] = 0
    return z.ravel()


RADII = np.concatenate([np.geomspace(1e-8, 600, 60), [1.99, 2.01, 24.9, 25.1]])


@pytest.mark.parametrize("order", [0, 1, 2, 5, 12, 40, -1, -2, -7])
def test_bessel_j_complex(run, order):
    z = plane(RADII)
    got = run("j_complex", z, order, results=2)
    for shift in (0, 1):
        exact = special.jv(order + shift, z)
        # Near the real axis beyond the order J has zeros: the size is that of J and Y together.
        y = special.yv(order + shift, z)
        oscillates = (np.abs(z.imag) < 1) & (np.abs(z) > abs(order) + 2)
        size = np.where(oscillates, np.hypot(np.abs(exact), np.abs(y)), np.abs(exact))
        fits = np.isfinite(exact) & (np.abs(exact) > 1e-290)
        assert fits.sum() > 1000
        error = np.abs(got[shift] - exact)[fits] / size[fits]
        assert error.max() < 5e-13, z[fits][error.argmax()]


@pytest.mark.parametrize("exponential", [1, 0], ids=["plain", "scaled"])
def test_hankel(run, exponential):
    z = plane(RADII)
    got = run("hankel", z, exponential, results=2)
    for order in (0, 1):
        exact = (special.hankel1 if exponential else special.hankel1e)(order, z)
        fits = np.isfinite(exact) & (np.abs(exact) > 1e-290)
        assert fits.sum() > 1500
        # In the lower half-plane H has zeros near the negative real axis; nowhere else.
        size = np.abs(exact) + np.where(z.real < 0, np.abs(special.jv(order, z)) * 1e-3, 0)
        size = np.where(np.isfinite(size), size, np.abs(exact))
        error = np.abs(got[order] - exact)[fits] / size[fits]
        assert error.max() < 1e-12, z[fits][error.argmax()]


def test_hankel_scaled_far_out(run):
    """Where H itself under- or overflows the scaled one is an ordinary number."""
    z = np.array([1 + 2000j, -300 + 1000j, 1e6 + 5j, 30 - 1000j])
    got = run("hankel", z, 0, results=2)
    for order in (0, 1):
        np.testing.assert_allclose(got[order], special.hankel1e(order, z), rtol=1e-13)


def test_tables(run):
    x = np.array([-3, -1, 0, 0.5, 1, 2, 1e200])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(run("polevl", x), x**2 - 2 * x + 3, rtol=1e-15)
        np.testing.assert_allclose(run("p1evl", x), x**3 + x**2 - 2 * x + 3, rtol=1e-15)
    exact = (1 - 2 * x[:-1] + 3 * x[:-1] ** 2) / (5 + 7 * x[:-1] ** 2)
    got = run("rational", x)
    np.testing.assert_allclose(got[:-1], exact, rtol=1e-15)
    assert got[-1] == pytest.approx(3 / 7, rel=1e-15)


@pytest.mark.parametrize(
    "header",
    [
        "pyopencl-eval-tbl.cl",
        "pyopencl-airy.cl",
        "pyopencl-bessel-j.cl",
        "pyopencl-bessel-y.cl",
        "pyopencl-bessel-j-complex.cl",
        "pyopencl-hankel-complex.cl",
    ],
)
def test_each_header_stands_alone(ctx, device, header):
    if "cl_khr_fp64" not in device.extensions.split():
        pytest.skip(f"{device.name} has no double (cl_khr_fp64)")
    source = f"#include <{header}>\n#include <{header}>\n__kernel void k(__global int *x) {{ }}"
    assert cl.Program(ctx, source).build().k.num_args == 1
