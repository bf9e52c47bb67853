"""Numbers of bins that histograms choose, against NumPy."""

import numpy as np
import pytest

from tests.array.test_array_function import same

RULES = "auto doane fd rice scott sqrt stone sturges".split()
SAMPLE = (np.random.default_rng(0).normal(size=60) * 20 + 30).astype(np.float32)


@pytest.mark.parametrize("rule", RULES)
def test_estimated_edges(make, rule):
    for x in (SAMPLE, SAMPLE[:2], SAMPLE[:1], SAMPLE[:0], np.full(4, 3, np.float32)):
        same(np.histogram_bin_edges(make(x), rule), np.histogram_bin_edges(x, rule))
    for ends in ((5, 40.5), (900, 901)):
        got = np.histogram_bin_edges(make(SAMPLE), rule, range=ends)
        same(got, np.histogram_bin_edges(SAMPLE, rule, range=ends))


@pytest.mark.parametrize("dtype", "i1 u8 f2".split())
def test_estimates_for_every_kind_of_number(make, dtype):
    x = np.array([[0, 100], [3, 101], [7, 5]]).astype(dtype)
    if dtype == "i1":
        x[0] = -128, 127  # whose difference does not fit int8
    for rule in ("auto", "doane"):
        for got, want in zip(np.histogram(make(x), rule), np.histogram(x, rule), strict=True):
            same(got, want)


def test_estimates_of_many_bins_in_parts(make, monkeypatch):
    from pygpu._src.array.routines import histogram_bins

    monkeypatch.setattr(histogram_bins, "_MOST_EDGES", 500)
    x = SAMPLE.astype(float)
    same(np.histogram_bin_edges(make(x), "stone"), np.histogram_bin_edges(x, "stone"))


def test_what_has_no_estimate(make):
    x = make(SAMPLE)
    for options, error, message in (
        ({"bins": "best"}, ValueError, "best.*sturges"),
        ({"bins": "fd", "weights": x}, TypeError, "weight"),
        ({"bins": "fd", "range": (3, 1)}, ValueError, "larger"),
        ({"bins": "fd", "range": (3, np.inf)}, ValueError, "finite"),
        ({"bins": 2.5}, TypeError, "2.5"),
    ):
        with pytest.raises(error):
            np.histogram(SAMPLE, **{k: SAMPLE if v is x else v for k, v in options.items()})
        with pytest.raises(error, match=message):
            np.histogram(x, **options)
    with pytest.raises(ValueError, match="nan"):
        np.histogram(make(np.array([1, np.nan])), "auto")
    with pytest.raises(TypeError, match="complex"):
        np.histogram(make(np.array([1j])), "auto")
