"""docs/arrays/numpy_coverage.md says the truth, and what was missing in it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from pygpu import xp

TOOL = Path(__file__).parents[2] / "tools" / "numpy_coverage.py"
RNG = np.random.default_rng(3)


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("numpy_coverage", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def version() -> str:
    return ".".join(np.__version__.split(".")[:2])


def test_the_page_is_what_the_tables_say(tool):
    written = tool.PAGE.read_text("utf-8")
    if f"NumPy {version()}'s" not in written:
        pytest.skip(f"the page was made with another NumPy than {version()}")
    assert written == tool.page()


def test_refused_functions_refuse_and_say_so(make, tool):
    a = make(np.arange(4.0))
    for name, status in tool.statuses(np).items():
        function = getattr(np, name)
        if status != "refused":
            continue
        assert name in tool.REFUSED
        if isinstance(function, np.ufunc):
            assert a.__array_ufunc__(function, "__call__", a) is NotImplemented
        else:
            try:
                assert a.__array_function__(function, (type(a),), (a,), {}) is NotImplemented, name
            except TypeError as error:  # what writes files, which a switch allows; calendars
                advice = "allow_host_copies" if "save" in name else f"numpy.{name}(x.get())"
                assert advice in str(error)
    x = np.polynomial.polynomial.polyval(a, np.array([1.0, 2, 3]))
    np.testing.assert_array_equal(x.get(), 1 + 2 * np.arange(4) + 3 * np.arange(4) ** 2)
    with pytest.raises(TypeError):
        np.polynomial.polynomial.polyfit(a, a, 1)


def same(got, wanted):
    got, wanted = (x if isinstance(x, tuple) else (x,) for x in (got, wanted))
    for one, other in zip(got, wanted, strict=True):
        one = one.get() if hasattr(one, "get") else one
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {"bins": (4, 5)},
        {"weights": RNG.uniform(size=50)},
        {"density": True, "range": [[-1, 1], [-2, 2]]},
        {"bins": [np.array([-1.0, 0, 2]), 3]},
    ],
    ids=lambda options: next(iter(options)),
)
def test_histogram2d(make, options):
    x, y = np.random.default_rng(0).normal(size=(2, 50))
    there = {k: make(v) if k == "weights" else v for k, v in options.items()}
    same(np.histogram2d(make(x), make(y), **there), np.histogram2d(x, y, **options))


def test_histogramdd_of_a_matrix(make):
    points = np.random.default_rng(1).normal(size=(40, 3))
    got, edges = np.histogramdd(make(points), 3)
    wanted, sides = np.histogramdd(points, 3)
    same((got, *edges), (wanted, *sides))
    with pytest.raises(ValueError, match="dimension of bins"):
        np.histogramdd(make(points), (2, 3))


def test_polyfit(make):
    x, y, w = np.random.default_rng(2).uniform(-1, 1, size=(3, 30))
    w = abs(w) + 0.1
    same(np.polyfit(make(x), make(y), 2, w=make(w)), np.polyfit(x, y, 2, w=w))
    same(np.polyfit(make(x), make(y), 2, cov=True), np.polyfit(x, y, 2, cov=True))
    with pytest.raises(TypeError, match="same length"):
        np.polyfit(make(x), make(y[1:]), 2)


def test_sums_products_and_integrals_of_polynomials(make):
    a, b = np.array([1.0, 2, 3]), np.array([4.0, 5])
    for function in (np.polyadd, np.polysub, np.polymul):
        same(function(make(a), make(b)), function(a, b))
        same(function(a, make(b)), function(a, b))
    same(np.polyder(make(a), 2), np.polyder(a, 2))
    same(np.polyint(make(a), 2, [1, 2]), np.polyint(a, 2, [1, 2]))
    same(np.i0(make(a)), np.i0(a))
    same(xp.einsum("i,j->ij", make(a), make(b)), np.outer(a, b))
