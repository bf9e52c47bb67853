"""Cumulative sums and products against NumPy."""

import numpy as np
import pytest

from pygpu._src.array.scan import scan
from tests.array.test_reduction import host


def check(make, kind, a, axis=0, **options):
    got = scan(f"cum{kind}", make(a), axis, **options)
    want = getattr(np, f"cum{kind}")(a, axis, **options)
    assert got.dtype == want.dtype and got.shape == want.shape
    if want.dtype.kind not in "fc":
        np.testing.assert_array_equal(got.get(), want)
        return
    exact = np.cumsum(a.astype(complex if a.dtype.kind == "c" else float), axis)
    scale = np.cumsum(np.abs(a).astype(float), axis)
    assert np.all(np.abs(got.get() - exact) <= 40 * np.finfo(want.dtype).eps * (scale + 1))


@pytest.mark.parametrize(
    "shape, axis",
    [
        ((1,), 0),
        ((3,), 0),
        ((4096,), 0),
        ((4097,), 0),
        ((150001,), 0),
        ((3, 20000), 1),
        ((2000, 33), 0),
        ((4, 5, 6), 1),
        ((700, 90), -1),
        ((5, 70), None),
        ((0, 3), 0),
        ((0, 3), 1),
    ],
)
def test_shapes(make, shape, axis):
    check(make, "sum", host("f4", shape), axis)


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i8", "f2", "F"])
def test_dtypes(make, dtype):
    check(make, "sum", host(dtype, 9001))


def test_products(make):
    check(make, "prod", host("i4", (3, 5000)), 1)
    check(make, "prod", host("i4", (3, 5000)), 0)


def test_out_dtype_and_in_place(make):
    a = host("i2", 5000)
    check(make, "sum", a, dtype=np.int32)
    device = make(a.astype(np.int64))
    assert scan("cumsum", device, 0, out=device) is device
    np.testing.assert_array_equal(device.get(), np.cumsum(a, dtype=np.int64))
    with pytest.raises(ValueError, match="out must have shape"):
        scan("cumsum", device, 0, out=make(np.zeros(3, np.int64)))
    with pytest.raises(np.exceptions.AxisError):
        scan("cumsum", device, 1)


def test_long_rows_again_and_again(make):
    """Where groups wait for each other, a mistake in that shows only now and then."""
    a = host("i4", 200003)
    device, want = make(a), np.cumsum(a, dtype=np.int64)
    for _ in range(10):
        np.testing.assert_array_equal(scan("cumsum", device, 0).get(), want)
