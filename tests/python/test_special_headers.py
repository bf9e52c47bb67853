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
# (order, x, value, size of the function nearby), (z, H0, H1), (order, z, J, next J),
# (x, Ai, Ai', Bi, Bi').
# ruff: disable[E501]
# fmt: off
REFERENCE_J = [
    (0, 2.0, 0.22389077914123567, 0.5573243294681737),
    (0, 24.5, 0.0236974337340679, 0.1611802854225979),
    (0, 25.5, 0.14406215754684787, 0.1579895389499254),
    (0, 10000.0, -0.0070961603533888015, 0.007978845603041875),
    (1, 1e-08, 5e-09, 5e-09),
    (5, 13.25, 0.16953707595990164, 0.22758257490766234),
    (7, 6.25e-08, 5.774569535066209e-57, 5.774569535066209e-57),
    (33, 40.0, -0.0659599687360783, 0.16717032651367342),
    (100, 99.0, 0.0776871617004594, 0.0776871617004594),
    (100, 4565.75, -0.0028667153876282864, 0.011809624589944655),
    (0.5, 14.3125, 0.20766932665577495, 0.21090278351778938),
    (0.3333333333333333, 20.5, 0.16623505888309595, 0.17620871363126225),
    (2.75, 16.625, 0.13346149965913282, 0.19699444088487927),
    (40.5, 600.25, -0.03260383853219076, 0.03260388138248243),
    (-0.5, 3.5, -0.39938682536304904, 0.42648723724584614),
    (-7.5, 5.25, -1.44932913469224, 1.44932913469224),
]
REFERENCE_Y = [
    (0, 1e-09, -13.266645074938387, 13.30428019640247),
    (0, 0.75, -0.1371727693857724, 0.8750606143840479),
    (0, 24.5, -0.15942871774975043, 0.1611802854225979),
    (0, 25.5, -0.06485976549878349, 0.1579895389499254),
    (0, 10000.0, 0.0036478055589866058, 0.007978845603041875),
    (1, 1e-09, -636619772.3675814, 636619772.3675814),
    (1, 2.25, 0.02719205773801714, 0.5490521196050957),
    (1, 5490.75, -0.00033921340044508046, 0.010767731783840722),
    (5, 13.25, -0.15182558505261318, 0.22758257490766234),
    (30, 12.5, -14896529.132819064, 14896529.132819064),
    (30, 5000.0, 0.00967753259823547, 0.011283893199148354),
]
REFERENCE_HANKEL = [
    ((0.01+0j), 0.9999750001562495-3.005455637083646j, 0.004999937500260416-63.67859628206065j),
    ((-0.5+1.75j), -0.05702147369895406-0.07884760602446511j, -0.09423546618752171+0.07577336124138644j),
    ((0.5+1.9375j), 0.04458228572810701-0.06308185023237481j, -0.07471868672601138-0.05782717976545912j),
    (2.0625j, -0.06716384020667165j, -0.08204766246382157+0j),
    ((-12+0.5j), -0.026059337419331516-0.13706659636949192j, -0.13633983778581535+0.03180847225920953j),
    ((20+3j), 0.008469201088603745+0.002477039870290517j, 0.002693032008035917-0.00844236422531016j),
    ((-24.5+1j), -0.007516090519307471-0.05877939330255573j, -0.05868741765288768+0.008719988076130607j),
    ((26+40j), 4.477736448633878e-19-1.9822226215327376e-19j, -1.9742405419012628e-19-4.528208042850855e-19j),
    ((-30-0.25j), -0.245551906034709-0.03105465877157555j, 0.33734417343569806-0.02452834623074235j),
    ((5-20j), 13967804.730484331-84627142.18129066j, -82528758.71354976-14145784.289762521j),
    ((-1-1.5j), 2.485285937503979-1.7593548559265697j, -1.7026628369839925-1.1073396401006645j),
]
REFERENCE_J_COMPLEX = [
    (0, 20.625j, 80119119.30866325+0j, 78152056.8666453j),
    (1, (-3-4j), -3.6541102814142645+8.403104256583088j, 7.000136899130741+1.4123775881105296j),
    (5, (-6.5+24.25j), -360100809.56835854+1630308611.370653j, -1297076974.5028722-366000222.0430458j),
    (12, (8.5-2.25j), -0.01893070408091293-0.02163839325931809j, -0.009302579277875204-0.005371347548842135j),
    (20, 258.5j, 2.106294928194922e+110-2.9143734793805527e-114j, -3.154164989580881e-114+1.9455732054795004e+110j),
    (40, (-24+6.5j), -1.6056693187286728e-06-2.0993612359941366e-06j, 7.209082699929929e-07+4.88135947641358e-07j),
    (-7, (20.5+1j), 0.23373448123400756-0.09932811360410716j, 0.05051641931907061+0.19563700741829881j),
    (3, (400+1j), 0.014885305155349788+0.045483595294697005j, -0.059599815118156194+0.011765096063958749j),
]
REFERENCE_AIRY = [
    (-40.0, -0.04593392343795725, -1.3890908752607183, 0.2195886242840424, -0.28913994028209195),
    (-12.5, -0.27627456138116024, -0.41933133041950515, 0.11703336725739277, -0.974516536167174),
    (-2.25, 0.06159865877700528, 0.6950162067015286, -0.4539206867501173, 0.0459044464849105),
    (-1.0625, 0.5351280407451554, 0.024355503825234097, 0.06679148279500732, 0.5978692986317667),
    (-0.9375, 0.5339023465763499, -0.04254764978322204, 0.14079869458803357, 0.5849744520496529),
    (0.5, 0.23169360648083348, -0.2249105326646839, 0.8542770431031554, 0.5445725641405923),
    (1.5, 0.07174949700810541, -0.09738201284230132, 1.878941503747895, 1.8862122548481655),
    (1.75, 0.05056988080579487, -0.07285371376202839, 2.4522706944960597, 2.76158173036392),
    (3.0, 0.006591139357460719, -0.011912976705951319, 14.037328963730232, 22.92221496638217),
    (11.0, 4.2262758649603595e-12, -1.4111441246628517e-11, 11355782530.430477, 37400168196.92698),
    (11.5, 7.814290183962854e-13, -2.6666799675045312e-12, 60065680158.896034, 202365072766.38385),
    (30.0, 3.2082175915504954e-49, -1.759876581432726e-48, 9.057288512151307e+46, 4.953304512891299e+47),
]
# fmt: on
# ruff: enable[E501]


@pytest.fixture(scope="module")
def run(ctx, device):
    if "cl_khr_fp64" not in device.extensions.split():
        pytest.skip(f"{device.name} has no double (cl_khr_fp64)")
    program, queue = cl.Program(ctx, SOURCE).build(), cl.CommandQueue(ctx)

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
    assert error.max() < (5e-12 if order > 10 else 1e-13)


@pytest.mark.parametrize(("order", "x", "value", "size"), REFERENCE_J)
def test_bessel_j_to_the_last_digits(run, order, x, value, size):
    assert abs(run("jv", x, order)[0] - value) < 4e-15 * size


@pytest.mark.parametrize(("order", "x", "value", "size"), REFERENCE_Y)
def test_bessel_y_to_the_last_digits(run, order, x, value, size):
    assert abs(run("yn", x, order)[0] - value) < 4e-15 * size


@pytest.mark.parametrize(("order", "z", "value", "following"), REFERENCE_J_COMPLEX)
def test_bessel_j_complex_to_the_last_digits(run, order, z, value, following):
    got = run("j_complex", z, order, results=2)[:, 0]
    assert abs(got[0] - value) < 1e-14 * abs(value)
    assert abs(got[1] - following) < 1e-14 * abs(following)


@pytest.mark.parametrize(("z", "h0", "h1"), REFERENCE_HANKEL)
def test_hankel_to_the_last_digits(run, z, h0, h1):
    for exponential in (1, 0):
        factor = 1 if exponential else np.exp(-1j * z)
        got = run("hankel", z, exponential, results=2)[:, 0]
        assert abs(got[0] - h0 * factor) < 2e-14 * abs(h0 * factor)
        assert abs(got[1] - h1 * factor) < 2e-14 * abs(h1 * factor)


@pytest.mark.parametrize("values", REFERENCE_AIRY)
def test_airy_to_the_last_digits(run, values):
    x, *exact = values
    got = run("airys", x, results=5)[:4, 0]
    zeta = 2 / 3 * abs(x) ** 1.5  # the exponent, whose rounding no method escapes
    sizes = np.abs(exact) if x > 0 else [np.hypot(*exact[::2]), np.hypot(*exact[1::2])] * 2
    assert (np.abs(got - exact) < (1e-14 + 1e-15 * zeta) * np.array(sizes)).all()


@pytest.mark.parametrize("order", [0, 1, 6, 30])
def test_wronskian(run, order):
    """J(n+1) Y(n) - J(n) Y(n+1) = 2 / (pi x), whatever J and Y are compared with."""
    x = np.concatenate([np.geomspace(max(0.05, order / 4), 1e4, 2000), np.linspace(24, 26, 100)])
    j, j1 = run("jv", x, order), run("jv", x, order + 1)
    y, y1 = run("yn", x, order), run("yn", x, order + 1)
    np.testing.assert_allclose((j1 * y - j * y1) * np.pi * x / 2, 1, atol=2e-14)


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
    error = np.abs(run("yn", x, order)[fits] - exact[fits]) / size[fits]
    assert error.max() < 1e-12


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
    # On the left Ai and Bi oscillate against each other; on the right they have no zeros.
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


def test_enormous_orders_do_not_hang(run):
    assert run("jv", 5.0, 1e12) == 0 and np.isnan(run("jv", 1e12, 1e12))
    assert np.isfinite(run("j_complex", 3e9 + 1j, 3, results=2)).all()
