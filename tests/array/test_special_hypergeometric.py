"""hyp0f1, hyp1f1 and hyp2f1 of complex numbers, against values of Arb with 300 bits: on both sides
of the changes of method, near exp(i pi / 3), near 1, far away, with parameters that are integers or
differ by nearly one."""

from __future__ import annotations

import numpy as np
import pytest

import pygpu
from pygpu import special
from pygpu._src.array.routines.special import call
from pygpu._src.codegen.special import expression

scipy_special = pytest.importorskip("scipy.special")

NAN, INF = np.nan, np.inf
VALUES: dict[str, list[tuple[complex, ...]]] = {
    "hyp0f1": [
        (1.5, (2 + 3j), (1.003139233224217 + 3.61383105636256j)),
        (-2.5, (-40 + 1j), (-73.16250663115046 + 20.53225757958143j)),
        (0.25, (-2500 + 10j), (5.496877326410824 - 0.15177361209884205j)),
        (40.0, (10000 - 3000j), (3.120888571592909e52 + 2.501767319301801e52j)),
        (3.0, 10000j, (4.84891232845681e55 + 1.3868050909181346e56j)),
    ],
    "hyp1f1": [
        (0.5, 1.5, (1 + 2j), (0.7820336700689334 + 0.8878700867415467j)),
        (1.25, 2.5, 30j, (-0.028153353524840923 + 0.024099084830708415j)),
        (0.5, 0.75, (-25 + 4j), (0.06797970849665375 + 0.005580440932337545j)),
        (-3.0, 2.5, (12 - 7j), (20.085714285714285 + 18.88888888888889j)),
        (4.5, -2.25, (40 + 60j), (1.360099078863903e29 + 5.857484201039851e28j)),
        (1.5, 3.0, 1000j, (-3.702484722686904e-05 - 1.9595173237922117e-05j)),
        (-30.5, 2.0, (35 - 20j), (-215309617415.8804 - 186072874078.8549j)),
        (-60.0, 0.5, (3 + 8j), (-104927052831.86307 - 271416454972.3769j)),
        (-2.0, -3.0, (1 + 1j), (1.6666666666666667 + 1j)),
        (2.0, 2.0, (1 - 5j), (0.7710737641656675 + 2.60662643068508j)),
    ],
    "hyp2f1": [
        (0.5, 1.5, 2.5, (0.3 - 0.4j), (1.0633111322641267 - 0.15862202254898028j)),
        (
            0.5,
            1.25,
            2.0,
            (0.5000000000000001 + 0.8660254037844386j),
            (0.9779761659069928 + 0.33275414230195804j),
        ),
        (
            -2.75,
            3.5,
            1.25,
            (0.5010000000000001 - 0.8660254037844386j),
            (-3.7818876328280213 - 5.586737003772236j),
        ),
        (
            1.0,
            1.0,
            2.0,
            (0.5000000000000001 + 0.8660254037844386j),
            (0.9068996821171089 + 0.5235987755982989j),
        ),
        (1.0, 2.0, 4.0, (1.1 + 0.05j), (2.816119734011332 + 1.302814065543882j)),
        (1.5, 2.5, 4.0, (0.9 - 0.2j), (2.7166377566877573 - 2.510408227958216j)),
        (2.0, 3.0, 3.5, (-20 + 3j), (0.00359317744119484 + 0.0010069156469918125j)),
        (
            1.25,
            1.25,
            0.5,
            (100000000 - 100000000j),
            (5.213462875801437e-10 + 1.667148443945678e-10j),
        ),
        (0.5, 3.5, 2.0, (7 + 1j), (0.019155581381920295 + 0.2588711063184756j)),
        (5.0, 2.0, 3.0, (1 + 1e-07j), (4.999999999999984e27 - 3.333333333333334e20j)),
        (5.3, 3.3000000003, 2.60000002, (1.57 + 0.23j), (-23.232929398512304 - 29.72989961216557j)),
        (3.3, 2.300000000001, 1.6, (-15 - 10j), (-2.1447374659576224e-05 + 0.0001534808475175701j)),
        (0.5, 0.7, 1.3, (2 - 1e-12j), (0.8347350864908409 - 0.9454694296887638j)),
        (-20.0, 21.0, 1.0, (0.4 + 2j), (1.1255749124633462e17 + 1.6431047507604966e17j)),
        (-3.0, 0.7, -3.0, (2 + 0.5j), (8.112 + 4.686062499999999j)),
        (-5.0, 2.5, -10.5, 3j, (6.897832817337461 - 0.6917293233082706j)),
        (2.5, 3.5, -7.5, (0.4 + 0.5j), (-5023.850936055901 - 45664.947302878136j)),
        (20.0, -18.5, 15.5, (-0.6 + 0.6j), (72049.4727790174 - 113250.11606821505j)),
        (1.5, -0.5, -2.25, (0.5 + 1e-30j), (2.761381392044212 + 2.0922058728534395e-29j)),
    ],
}


def needs_doubles(make):
    if not make.backend.limits.fp64:
        pytest.skip("the device has no double precision")


@pytest.mark.parametrize("name", VALUES)
def test_values_are_those_of_many_digits(make, name):
    needs_doubles(make)
    *parameters, z, wanted = np.array(VALUES[name]).T
    got = call(name, [*(make(p.real.copy()) for p in parameters), make(z.copy())])
    assert got.dtype == np.complex128
    apart = np.abs(got.get() - wanted) / np.abs(wanted)
    assert (apart < 2e-13).all(), apart


def test_edges_of_the_plane(make):
    """NaN, infinities, zero, poles of the parameters and both sides of the cut, as SciPy."""
    needs_doubles(make)
    z = np.array([0, 1, 2, complex(2, -0.0), -3, complex(-3, -0.0), 0.5, 1j])
    parameters = np.array([(0.5, 0.7, 1.3), (-2.0, 0.7, -3.0), (0.5, 0.7, -3.0), (0.0, 2.0, 1.5)])
    for a, b, c in parameters:
        got = special.hyp2f1(a, b, c, make(z)).get()
        with np.errstate(all="ignore"):
            wanted = scipy_special.hyp2f1(a, b, c, z)
        np.testing.assert_allclose(got.real, wanted.real, rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(got.imag, wanted.imag, rtol=1e-13, atol=1e-14)
    wrong = make(np.array([NAN, NAN * 1j, complex(INF, 0), complex(0, -INF)], complex))
    for got in (
        special.hyp0f1(0.5, wrong),
        special.hyp1f1(0.5, 1.5, wrong),
        special.hyp2f1(0.5, 1.5, 2.5, wrong),
        special.hyp2f1(NAN, 1.5, 2.5, make(z)),
        special.hyp0f1(-2.0, make(z)),
    ):
        assert np.isnan(got.get()).all()
    assert np.isinf(special.hyp1f1(0.5, -3.0, make(z[1:])).get().real).all()


@pytest.mark.slow
def test_real_numbers_on_the_complex_line(make):
    needs_doubles(make)
    x = np.array([-7.5, -0.5, 0.0, 0.25, 0.95])
    for name, parameters in (("hyp0f1", (1.5,)), ("hyp1f1", (0.5, 1.5)), ("hyp2f1", (1, 0.5, 2.5))):
        real = call(name, [*parameters, make(x)]).get()
        plane = call(name, [*parameters, make(x.astype(complex))]).get()
        np.testing.assert_allclose(plane.real, real, rtol=1e-15)
        assert (plane.imag == 0).all()


def test_polynomials_whose_parameters_are_equal(make):
    """a = c = -n: the sum up to the n-th power (DLMF 15.2.5), of real and complex numbers."""
    for x in (np.array([0.3, 0.8, 0.0]), np.array([0.3 - 2j, 5.0])):
        got = special.hyp2f1(-3.0, 0.7, -3.0, make(x)).get()
        wanted = 1 + 0.7 * x + 0.7 * 1.7 / 2 * x**2 + 0.7 * 1.7 * 2.7 / 6 * x**3
        np.testing.assert_allclose(got, wanted, rtol=1e-6)
        got = special.hyp1f1(-3.0, -3.0, make(x)).get()
        np.testing.assert_allclose(got, 1 + x + x**2 / 2 + x**3 / 6, rtol=1e-6)


@pytest.mark.slow
def test_narrow_numbers_scipys_functions_and_kernels(make):
    z = np.array([0.3 - 0.4j, 2 + 1j, -8 + 1e-3j], np.complex64)
    got = scipy_special.hyp2f1(np.float32(0.5), np.float32(1.5), np.float32(2.5), make(z))
    assert got.dtype == np.complex64
    wanted = scipy_special.hyp2f1(0.5, 1.5, 2.5, z.astype(complex))
    np.testing.assert_allclose(got.get(), wanted, rtol=2e-6)
    with pytest.raises(TypeError, match="hyp1f1: real numbers are needed for the parameters"):
        special.hyp1f1(make(z), 1.5, make(z))

    @pygpu.kernel
    def k(z, w):
        for i in range(z.shape[0]):
            w[i] = special.hyp1f1(0.5, 1.5, z[i])

    w = make(np.zeros_like(z))
    k[1, 1](make(z), w)
    wanted = scipy_special.hyp1f1(0.5, 1.5, z.astype(complex))
    np.testing.assert_allclose(w.get(), wanted, rtol=2e-6)


def test_long_functions_are_not_copied_into_each_other():
    """NVRTC took 12 to 94 s for these kernels."""
    for name, code in (("hyp0f1", "c128"), ("hyp2f1", "c128"), ("airy", "c128"), ("airy", "f64")):
        _, definitions = expression(name, code, True)
        text = "".join(definitions.values())
        inlined = [one for one in definitions.values() if one.startswith("PG_FUNCTION")]
        assert text.count("PG_NOINLINE") >= 4 and max(map(len, inlined)) <= 250
    _, definitions = expression("expit", "f64", True)
    assert definitions and "PG_NOINLINE" not in "".join(definitions.values())
