"""pygpu.xp.polynomial against numpy.polynomial."""

import numpy as np
import pytest

from pygpu.xp import polynomial

RNG = np.random.default_rng(1)
X, Y, Z = RNG.uniform(-1, 1, (3, 7))
C, C2, C3 = RNG.normal(size=5), RNG.normal(size=(3, 4)), RNG.normal(size=(2, 3, 2))
FAMILIES = {
    "polynomial": "poly",
    "chebyshev": "cheb",
    "legendre": "leg",
    "hermite": "herm",
    "hermite_e": "herme",
    "laguerre": "lag",
}


def there(make, x):
    return make(x) if isinstance(x, np.ndarray) else x


def same(got, want):
    if isinstance(want, (tuple, list)):
        for one, other in zip(got, want, strict=True):
            same(one, other)
        return
    got, want = got.get() if hasattr(got, "get") else np.asarray(got), np.asarray(want)
    assert (got.dtype.kind, got.shape) == (want.dtype.kind, want.shape)
    near = 1e-5 if want.dtype.char in "fF" else 1e-10
    np.testing.assert_allclose(got, want, rtol=near, atol=near)


def compare(make, module, name, *args, **options):
    want = getattr(getattr(np.polynomial, module), name)(*args, **options)
    got = getattr(getattr(polynomial, module), name)(
        *(there(make, x) for x in args), **{k: there(make, x) for k, x in options.items()}
    )
    same(got, want)
    assert getattr(got, "dtype", None) == getattr(want, "dtype", None)


@pytest.mark.parametrize("module", FAMILIES)
def test_series_are_evaluated_as_by_numpy(make, module):
    name = FAMILIES[module]
    for x, c in (
        *((X, C[:n]) for n in (1, 2, 3)),
        (X.astype("f4"), C.astype("f4")),
        (X.reshape(7, 1)[::-2], C2),
        (X, C + 1j),
        (2, C),
        (X[:0], C),
    ):
        compare(make, module, f"{name}val", x, c)
    compare(make, module, f"{name}val", np.arange(3), np.arange(4))
    compare(make, module, f"{name}val", X[:4], C2, tensor=False)
    compare(make, module, f"{name}val2d", X, Y, C2)
    compare(make, module, f"{name}val3d", X, Y, Z, C3)
    compare(make, module, f"{name}grid2d", X, Y[:2], C2)
    compare(make, module, f"{name}grid3d", X, Y[:2], Z[:3], C3)


@pytest.mark.parametrize("module", FAMILIES)
def test_matrices_and_fits(make, module):
    name = FAMILIES[module]
    for x, degree in ((X, 3), (X.reshape(1, 7), 0), (X + 1j, 2), (X[0], 1)):
        compare(make, module, f"{name}vander", np.asarray(x), degree)
    compare(make, module, f"{name}vander2d", X, Y, [2, 1])
    compare(make, module, f"{name}vander3d", X, Y, Z, [1, 0, 2])
    for options in ({"deg": 2}, {"deg": [0, 2]}, {"deg": 1, "w": abs(Z)}, {"deg": 2, "full": True}):
        compare(make, module, f"{name}fit", X, Y, **options)
    compare(make, module, f"{name}fit", X, np.stack([Y, Z], 1), 2)


def test_derivatives_and_integrals(make):
    for c in (C, np.arange(4), C + 1j, C2, np.zeros(1), np.ones(1)):
        for m in (0, 1, 2, 6):
            compare(make, "polynomial", "polyder", c, m)
        compare(make, "polynomial", "polyder", c, 1, 3)
        compare(make, "polynomial", "polyint", c)
        compare(make, "polynomial", "polyint", c, 2, [1, 2])
        compare(make, "polynomial", "polyint", c, 1, 3, 2, -1)
    compare(make, "polynomial", "polyder", C2, axis=1)
    compare(make, "polynomial", "polyint", C2, axis=-1)
    x = make(C)
    polynomial.polynomial.polyder(x), polynomial.polynomial.polyint(x)
    np.testing.assert_array_equal(x.get(), C)


@pytest.mark.parametrize("name", ["polyadd", "polysub", "polymul"])
def test_arithmetic(make, name):
    a, b = np.array([1.0, 2, 0, 3]), np.array([4.0, 0, 0, -3, 0])
    for one, other in ((a, b), (a, a), (a, np.zeros(3)), (np.arange(3), [1, 2])):
        compare(make, "polynomial", name, one, other)


@pytest.mark.filterwarnings("ignore:.*by NumPy on the host")
def test_roots(make):
    compare(make, "polynomial", "polyroots", np.array([6.0, -5, 1]))


REFUSED = {
    "polyval2d": ((X, Y[:3], C2), ValueError, "incompatible"),
    "polyvander": ((X, -1), ValueError, "-1"),
    "chebvander": ((X, 1.5), TypeError, "1.5"),
    "legvander2d": ((X, Y, [2]), ValueError, "2 degrees"),
    "polyfit": ((X, Y[:3], 2), TypeError, "same length"),
    "polyint": ((C, 1, [1, 2]), ValueError, "constants"),
    "polyder": ((C, -1), ValueError, "-1"),
    "polyadd": ((C[:0], C), ValueError, "empty"),
    "polymul": ((C2, C), ValueError, "1-d"),
    "hermval": ((X, C[:0]), IndexError, "no coefficients"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_wrong_series_are_refused(make, name):
    args, error, message = REFUSED[name]
    module = next(m for m, start in FAMILIES.items() if name.startswith(start))
    if name != "polymul":  # whose message there is of another class
        with pytest.raises(error):
            getattr(getattr(np.polynomial, module), name)(*args)
    with pytest.raises(error, match=message):
        getattr(getattr(polynomial, module), name)(*(there(make, x) for x in args))
    with pytest.raises(TypeError, match="array on a device"):
        polynomial.polynomial.polyval(X, C)
