"""Arguments of NumPy's functions that a random comparison with NumPy found taken otherwise."""

import numpy as np
import pytest

from pygpu._src.array.device import is_simulator
from tests.array.test_array_function import same


def all_same(got, want):
    assert len(got) == len(want)
    for one, other in zip(got, want):
        same(one, other)


@pytest.mark.parametrize("right", [False, True])
def test_bins_without_signs_that_go_down(make, right):
    x = np.array([[0, 1, 2], [3, 4, 5]], np.int16)
    for bins in (np.array([3, 2, 2, 1], np.uint8), np.array([True, True, False])):
        same(np.digitize(make(x), make(bins), right), np.digitize(x, bins, right))
        same(np.digitize(make(x), bins, right), np.digitize(x, bins, right))
        with pytest.raises(ValueError, match="monotonically"):
            np.histogram(make(x), bins)


@pytest.mark.sampled(cuda=0)
def test_close_items_without_signs(make):
    x, y = np.array([0, 1, 5, 2, 100], np.uint8), np.array([1, 3, 4, 200, 101], np.uint8)
    for atol in (0, 2):
        same(np.isclose(make(x), make(y), atol=atol), np.isclose(x, y, atol=atol))
        same(np.isclose(make(x), y.tolist(), atol=atol), np.isclose(x, y.tolist(), atol=atol))
        for number in (2, np.uint8(2), 2.5, np.float32(2.5), True, 2 + 1j):
            same(np.isclose(make(x), number, atol=atol), np.isclose(x, number, atol=atol))
            same(np.isclose(number, make(x), atol=atol), np.isclose(number, x, atol=atol))
    assert np.allclose(make(x), make(x + 1), atol=1)
    same(np.isclose(make(x > 1), make(y > 1)), np.isclose(x > 1, y > 1))


def test_rollaxis_to_every_position(make):
    a = np.arange(24).reshape(2, 3, 4)
    d = make(a)
    for axis in range(-3, 3):
        for start in range(-3, 4):
            same(np.rollaxis(d, axis, start), np.rollaxis(a, axis, start))
    for axis, start in ((0, 4), (0, -4), (3, 0)):
        with pytest.raises(np.exceptions.AxisError):
            np.rollaxis(d, axis, start)


@pytest.mark.parametrize("indexing", ["xy", "ij"])
def test_sparse_grids(make, indexing):
    x, y = np.arange(3, dtype=np.int8), np.arange(4.0)
    for arrays in ((x,), (x, y), (y, x[::-1], x)):
        for copy in (True, False):
            options = {"indexing": indexing, "sparse": True, "copy": copy}
            all_same(np.meshgrid(*map(make, arrays), **options), np.meshgrid(*arrays, **options))


@pytest.mark.parametrize("dtype", "f2 f4 c8 i4 u1 ?".split())
def test_averages_have_the_dtypes_and_shapes_of_numpys(make, dtype):
    a = np.array([[0, 1, 2], [3, 4, 5]]).astype(dtype)
    weights = np.array([[1, 2, 3], [4, 5, 6]], np.uint16)
    for options in ({}, {"axis": 0}, {"axis": 1, "keepdims": True}):
        same(np.average(make(a), **options), np.average(a, **options))
        all_same(
            np.average(make(a), returned=True, **options), np.average(a, returned=True, **options)
        )
        all_same(
            np.average(make(a), weights=make(weights), returned=True, **options),
            np.average(a, weights=weights, returned=True, **options),
        )


def test_weights_of_some_axes(make):
    a = np.arange(24.0).reshape(2, 3, 4)
    for axis, shape in ((1, (3,)), ((0, 2), (2, 4)), ((2, 0), (4, 2)), ((-1, 1), (4, 3))):
        weights = np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
        same(
            np.average(make(a), axis=axis, weights=make(weights)),
            np.average(a, axis=axis, weights=weights),
        )
    for axis, weights, error in (
        (None, np.ones(4), TypeError),
        (0, np.ones(4), ValueError),
        (2, np.array([1, -1, 0, 0]), ZeroDivisionError),
    ):
        for x, w in ((a, weights), (make(a), make(weights))):
            with pytest.raises(error):
                np.average(x, axis=axis, weights=w)


@pytest.mark.parametrize("name", ["nanvar", "nanstd"])
def test_correction_of_spreads_without_nans(make, name):
    call = getattr(np, name)
    for a in (np.array([[1.0, np.nan, 4.0], [2.0, 3.0, 7.0]]), np.array([[1, 2, 4]])):
        same(call(make(a), axis=1, correction=1), call(a, axis=1, correction=1))
        with pytest.raises(ValueError, match="simultaneously"):
            call(make(a), ddof=1, correction=1)


@pytest.mark.parametrize("name", ["nanvar", "nanstd"])
@pytest.mark.parametrize("dtype", ["f4", "c16"])
def test_spreads_of_infinities_are_none(make, name, dtype):
    call = getattr(np, name)
    a = np.array([[1, np.inf, 3], [np.nan, 2, 5], [-np.inf, np.nan, 1]], dtype)
    with np.errstate(invalid="ignore"):
        same(call(make(a), axis=1), call(a, axis=1))
        same(call(make(a)), call(a))


def test_differences_of_order_none(make):
    a = np.arange(6.0).reshape(2, 3)
    same(np.diff(make(a), 0, append=0, prepend=1), np.diff(a, 0, append=0, prepend=1))


def test_putmask_of_numbers_and_lists(make):
    chosen = np.array([True, False, True, True])
    for values in (7, [1], [2, 3], [2.5]):
        want = np.arange(4, dtype=np.uint16)
        got = make(want)
        np.putmask(want, chosen, values)
        np.putmask(got, make(chosen), values)
        same(got, want)


def test_places_of_complex_items_that_both_have(make):
    x = np.array([1 + 1j, 2, 3j, 2, 1 + 1j])
    y = np.array([[2, 5], [1 + 1j, 2]])
    all_same(
        np.intersect1d(make(x), make(y), return_indices=True),
        np.intersect1d(x, y, return_indices=True),
    )
    none = x[:0]
    all_same(
        np.intersect1d(make(none), make(y), return_indices=True),
        np.intersect1d(none, y, return_indices=True),
    )


def test_arrays_without_axes_are_of_one_item(make):
    number = np.array(3, np.uint8)
    for name in ("bitwise_xor", "fmax", "logical_or"):
        for axis in (0, -1):
            call = getattr(np, name).reduce
            same(call(make(number), axis), call(number, axis))
        with pytest.raises(np.exceptions.AxisError):
            getattr(np, name).reduce(make(number), 1)
    same(np.lexsort((make(number), make(number))), np.lexsort((number, number)))
    for name in ("cumulative_sum", "cumulative_prod"):
        if hasattr(np, name):  # since NumPy 2.1
            call = getattr(np, name)
            same(call(make(number), include_initial=True), call(number, include_initial=True))


def test_splits_by_name_need_their_axes(make):
    for name, fewest in (("hsplit", 1), ("vsplit", 2), ("dsplit", 3)):
        call = getattr(np, name)
        for axes in range(4):
            a = np.arange(2**axes).reshape((2,) * axes)
            if axes < fewest:
                with pytest.raises(ValueError, match=f"{name} only works on arrays of {fewest}"):
                    call(make(a), 2)
            else:
                all_same(call(make(a), 2), call(a, 2))


def test_flat_copies_in_the_order_of_memory(make):
    a = np.arange(24).reshape(2, 3, 4)
    for change in (lambda x: x, lambda x: x.T, lambda x: x.transpose(1, 2, 0), lambda x: x[:, ::2]):
        got = change(make(a)).flatten("K")
        same(got, change(a).flatten("K"))
        got[...] = 0  # a copy
    d = make(a)
    d.flatten("K")[...] = 0
    same(d, a)


def test_methods_that_are_functions_too(make):
    a = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    d = make(a)
    for call in (
        lambda x: x.repeat(2),
        lambda x: x.repeat([1, 0, 2], axis=1),
        lambda x: x.compress([True, False, True], 1),
        lambda x: x.compress([False, True]),
        lambda x: x.diagonal(),
        lambda x: x.diagonal(1, 2, axis2=1),
        lambda x: x.trace(),
        lambda x: x.trace(-1, 1, 2, dtype=np.float64),
    ):
        same(call(d), call(a))
    flat = a.ravel()
    same(make(flat).searchsorted(make(flat[::5])), flat.searchsorted(flat[::5]))
    same(make(flat).searchsorted(7, "right"), flat.searchsorted(7, "right"))


def test_parts_and_choices_as_methods(make):
    a = np.random.default_rng(3).integers(0, 3, (5, 9)).astype(np.int16)
    d = make(a)
    order = d.argpartition(4)
    same(np.sort(np.take_along_axis(d, order, -1)), np.sort(a))
    d.partition(4)
    got = d.get()
    for row, want in zip(got, np.sort(a)):
        assert row[4] == want[4] and (row[:4] <= row[4]).all() and (row[5:] >= row[4]).all()
    choices = [np.full((5, 9), k, np.float32) for k in (7, 8, 9)]
    same(make(a).choose([make(c) for c in choices]), a.choose(choices))
    with pytest.raises(ValueError, match="kth"):
        make(a).partition(9)
    for order in "CF":
        assert make(a)[:, ::2].tobytes(order) == a[:, ::2].tobytes(order)
    assert make(np.empty((0, 3))).tobytes() == b""


def test_indices_of_triangles_and_diagonals(make):
    for shape in ((3, 3), (2, 4), (4, 2), (0, 3), (1, 1)):
        a = np.arange(float(np.prod(shape))).reshape(shape)
        d = make(a)
        for call in (np.tril_indices_from, np.triu_indices_from):
            for k in (-1, 0, 2):
                all_same(call(d, k), call(a, k))
                same(d[call(d, k)], a[call(a, k)])
    for shape in ((3, 3), (2, 2, 2), (0, 0)):
        a = np.arange(np.prod(shape)).reshape(shape)
        all_same(np.diag_indices_from(make(a)), np.diag_indices_from(a))
    for wrong in (np.ones(3), np.ones((2, 3))):
        with pytest.raises(ValueError):
            np.diag_indices_from(make(wrong))
    for wrong in (np.ones(3), np.ones((2, 2, 2))):
        with pytest.raises(ValueError, match="2-d"):
            np.tril_indices_from(make(wrong))


def test_real_if_close(make):
    eps = np.finfo(np.complex64).eps
    for imag in (0, 50 * eps, 200 * eps, np.nan):
        a = np.array([1 + 0j, 2 + 1j * imag], np.complex64)
        for tol in (100, 1000, 1, 1e-9):
            same(np.real_if_close(make(a), tol), np.real_if_close(a, tol))
    same(np.real_if_close(make(np.arange(3))), np.arange(3))
    same(np.real_if_close(make(np.empty(0, complex))), np.real_if_close(np.empty(0, complex)))


def test_slopes_of_dates_and_durations(make):
    f = np.array([1, 4, 9, 17, -3, 5], "m8[s]")
    places = np.array([0, 1, 3, 4, 7, 8])
    for x in (f, f.view("M8[s]")):
        for spacing in ((), (2.5,), (places,), (places * f[:1],)):
            for order in (1, 2):
                got = np.gradient(make(x), *spacing, edge_order=order)
                same_items(got, np.gradient(x, *spacing, edge_order=order))
        step = np.timedelta64(1500, "ms")
        same_items(np.gradient(make(x), step), np.gradient(x, step))
    f[2] = "NaT"
    same_items(np.gradient(make(f)), np.gradient(f))
    same_items(np.gradient(make(f.reshape(2, 3)), axis=1), np.gradient(f.reshape(2, 3), axis=1))


def test_slopes_by_distances_that_are_no_real_numbers(make):
    f, second = np.array([1.0, 4, 9]), np.timedelta64(2, "s")
    even = np.array([0, 3, 6], "m8[s]")  # positions that count as numbers
    same(np.gradient(make(f), even), np.gradient(f, even))
    same(np.gradient(make(f + 0j), 2j), np.gradient(f + 0j, 2j))
    for x, spacing in ((f, second), (f > 1, 1.0), (f, even.view("M8[s]"))):
        with pytest.raises(TypeError):
            np.gradient(x, spacing)
        with pytest.raises(TypeError):
            np.gradient(make(x), spacing)


def same_items(got, want):
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got.get(), want)


def test_infinities_of_dates_and_dtypes_of_halves(make):
    with pytest.raises(TypeError):
        np.isposinf(make(np.array(["2026-01-01"], "M8[D]")))
    same(np.i0(make(np.array([0, 1], np.float16))), np.i0(np.array([0, 1], np.float16)))


def test_medians_and_ends_beside_infinities(make):
    for items in ([-1.5, np.inf], [1, 2, np.inf], [1, np.nan, np.inf, 3], [-np.inf, np.inf]):
        x = np.array(items)
        same(np.nanmedian(make(x)), np.nanmedian(x))
        for q in (0, 1):
            same(np.quantile(make(x), q), np.quantile(x, q))
            same(np.nanquantile(make(x), q), np.nanquantile(x, q))


def test_shares_whose_dtype_counts(make):
    x, q = np.array([1, 0, 7], np.uint8), np.array([0.2, 0.5], np.float32)
    same(np.quantile(make(x), q), np.quantile(x, q))


def test_halves_keep_the_signs_of_nans(make):
    nan = np.array([np.nan, -np.nan, 1, -0.0], np.float16)
    other = np.array([-1, 1, -1, 1], np.float16)
    calls = (
        abs,
        lambda x: np.copysign(x, other if isinstance(x, np.ndarray) else make(other)),
    )
    if make.backend.name == "opencl" or is_simulator():
        # An NVIDIA GPU converts and subtracts with one NaN for all.
        calls += (
            np.negative,
            lambda x: x.astype("f4").astype("f2"),
            lambda x: x.astype("f8").astype("f2"),
        )
    for call in calls:
        got, want = call(make(nan)), call(nan)
        assert got.dtype == want.dtype == np.float16
        np.testing.assert_array_equal(np.signbit(got.get()), np.signbit(want))


def test_nanmedians_of_complex_numbers(make):
    for items in ([1 + 1j, 3, 2j, 5], [1 + 1j, complex(np.nan, 1), 3], [complex(1, np.nan)]):
        x = np.array(items, np.complex64)
        same(np.nanmedian(make(x)), np.nanmedian(x))


def test_nanquantiles_of_integers_by_every_method(make):
    x = np.array([[5, 1, 2], [7, 0, 3]], np.int16)
    for method in ("linear", "lower", "hazen", "inverted_cdf"):
        options = {"axis": 1, "method": method, "keepdims": True}
        same(
            np.nanpercentile(make(x), [30, 60], **options), np.nanpercentile(x, [30, 60], **options)
        )
    q = np.array([0.2], np.float32)
    same(np.nanquantile(make(x), q), np.nanquantile(x, q))
    with pytest.raises(TypeError, match="booleans"):
        np.quantile(make(x > 1), 0.3, method="hazen")


def test_odd_reflections_of_durations(make):
    x = np.array([[13], [4], [9]], "m8[s]")
    for mode in ("reflect", "symmetric"):
        got = np.pad(make(x), 4, mode, reflect_type="odd")
        same_items(got, np.pad(x, 4, mode, reflect_type="odd"))


def test_products_without_leading_zeros(make):
    for a, b in (([0, 0, 3], [0, 1, 0, 2]), ([0, 0], [1, 2]), ([1, 2], [3])):
        a, b = np.array(a), np.array(b)
        same(np.polymul(make(a), make(b)), np.polymul(a, b))


def test_dates_beside_what_they_do_not_compare_with(make):
    days = np.array(["2026-01-01"], "M8[D]")
    assert np.array_equiv(make(days), make(np.array([300]))) is False
    assert np.array_equiv(make(days), make(days.repeat(2))) is True
    spans = np.array([1, 2], "m8[s]")
    same_items(np.full_like(make(spans), 2.7), spans * 0 + np.timedelta64(2, "s"))


def test_complex_numbers_are_rounded_by_parts(make):
    z = np.array([complex(np.inf, 1), complex(-26, np.nan), 123.456 - 7.891j])
    for decimals in (-1, 2):
        same(np.round(make(z), decimals), np.round(z, decimals))
    out = make(np.zeros(3, complex))
    assert np.round(make(z), 1, out=out) is out
    same(out, np.round(z, 1))


def test_einsum_casts_by_its_rule(make):
    a = np.arange(6.0).reshape(2, 3)
    with pytest.raises(TypeError, match="int32"):
        np.einsum("ij,kj->ik", make(a), make(a), dtype=np.int32)
    options = {"dtype": np.float32, "casting": "same_kind"}
    same(
        np.einsum("ij,kj->ik", make(a), make(a), **options), np.einsum("ij,kj->ik", a, a, **options)
    )


def test_covariances_of_one_row_of_variables(make):
    x, y = np.array([[3.0, 0, 2]]), np.arange(6.0).reshape(2, 3)
    same(np.cov(make(x), rowvar=False, bias=True), np.cov(x, rowvar=False, bias=True))
    same(np.cov(make(y), make(y), rowvar=False), np.cov(y, y, rowvar=False))
