"""What transforms are made from, without a device: butterflies, tables, passes and stages."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

from pygpu._src.array.fft import plan, tables
from pygpu._src.codegen.kernels import fft_radix
from pygpu._src.codegen.kernels.fft_access import Segment


@pytest.mark.parametrize("n", range(1, 33))
def test_butterflies_are_transforms(n):
    text = fft_radix.butterfly(n, "f64")
    body = text[text.index("{") + 1 : text.rindex("}")].replace("const fft_lanes ", "")
    z = np.random.default_rng(n).standard_normal(2 * n).view(complex)
    x, y = list(z.real), list(z.imag)
    exec(body.replace("\n", " ").strip(), {"x": x, "y": y})
    np.testing.assert_allclose(np.array(x) + 1j * np.array(y), np.fft.fft(z), atol=1e-13)


@pytest.mark.parametrize("n", [1, 2, 8, 12, 97, 1000, 4096])
def test_roots_are_exact_to_the_last_bit_of_double(n):
    m = np.arange(n)
    found = tables.roots(m, n)
    for k in (0, n // 8, n // 3, n - 1):
        c, s = fft_radix.root(k, n)
        assert found[k] == c + 1j * s
    if n % 4 == 0:
        np.testing.assert_array_equal(found[[0, n // 4, n // 2]], [1, -1j, -1])
    np.testing.assert_array_equal(found[1:], found[:0:-1].conj())
    angles = np.longdouble(2) * np.arctan2(np.longdouble(0), np.longdouble(-1)) * m / n
    want = np.cos(angles) - 1j * np.sin(angles)
    assert abs(found - want).max() < 1e-18 * (1 if np.finfo(np.longdouble).eps < 1e-18 else 1e3)


def test_a_large_table_is_a_product():
    n = 1 << 20
    coarse, fine = Segment("coarse", n, 11), Segment("fine", n, 11)
    a, b = tables.build([coarse], "D"), tables.build([fine], "D")
    assert (a.size, b.size) == (coarse.size, fine.size) == (512, 2048)
    m = np.random.default_rng(0).integers(0, n, 1000)
    product = a[m >> 11] + a[m >> 11] * b[m & 2047]
    assert abs(product - tables.roots(m, n)).max() < 2e-16


def test_the_factors_between_passes_by_table():
    part = Segment("turns", 48, 20)
    factors = tables.build([part], "D").reshape(20, 48)
    assert factors.size == part.size
    want = np.exp(-2j * np.pi * np.outer(np.arange(20), np.arange(48)) / 960)
    assert abs(factors - want).max() < 1e-14


@pytest.mark.parametrize("n", [17, 100])
def test_a_chirp_convolves_to_the_transform(n):
    m = plan.convolution_length(n)
    assert m >= 2 * n - 1
    chirp = tables.build([Segment("chirp", n)], "D")
    kernel = tables.build([Segment("filter", n, m)], "D")
    z = np.random.default_rng(0).standard_normal(2 * n).view(complex)
    line = np.zeros(m, complex)
    line[:n] = z * chirp
    got = np.fft.ifft(np.fft.fft(line) * kernel)[:n] * m * chirp
    np.testing.assert_allclose(got, np.fft.fft(z), atol=1e-12)


@pytest.mark.parametrize(
    "tuning",
    [
        plan.Tuning(),
        plan.Tuning(elements=8, radix=8, threads=256),
        plan.Tuning(elements=32, radix=32),
    ],
)
def test_every_smooth_length_has_stages(tuning):
    for n in filter(plan.is_smooth, range(1, 2500)):
        found = plan.stages((n,), tuning)
        assert prod(found.radices) == n and 1 <= found.threads <= tuning.threads
        assert all(r <= tuning.radix or r in plan.DIRECT_PRIMES for r in found.radices)


@pytest.mark.parametrize("column", [16, 1024])
def test_passes_multiply_to_the_length(column):
    for n in [2**k for k in range(20)] + [3**9, 5**6, 31**3, 10**5, 2**4 * 3**3 * 5 * 7 * 11]:
        if column < 31 and n % 31 == 0:
            continue
        found = plan.passes(n, column, column)
        assert prod(found) == n and all(k <= column for k in found), n


def test_numbers_of_a_plan_that_there_are_not():
    with pytest.raises(ValueError, match="Tuning has no lanes"):
        plan.tuning_of({"lanes": 4})
    assert plan.tuning_of({"radix": 8}).radix == 8
