"""Rare arguments and empty or flat arrays, where results are NumPy's too."""

import numpy as np
import pytest

from pygpu import xp
from tests.array.test_array_function import same
from tests.array.test_reduction import host


def test_orders_of_copies(make):
    """copy(order=), ravel(order=) for every layout; invalid orders are refused as by NumPy."""
    a = np.arange(2 * 3 * 4, dtype=np.int16).reshape(2, 3, 4)
    d = make(a)
    for change in (
        lambda x: x,
        lambda x: x.T,
        lambda x: x.transpose(1, 0, 2),
        lambda x: x.transpose(2, 0, 1)[:, ::-1],
        lambda x: x[:, ::2].swapaxes(0, 1),
        lambda x: x[:0],
    ):
        h, x = change(a), change(d)
        for order in "CFAK":
            for made in (x.copy(order=order), x.copy(order), np.copy(x, order=order)):
                same(made, h)
                assert made.strides == h.copy(order).strides or h.size == 0
            same(x.ravel(order), h.ravel(order))
    for bad, error in (("X", ValueError), (3, TypeError)):
        for x in (a, d):
            with pytest.raises(error, match="order"):
                x.copy(order=bad)


def test_squeeze_triangles_and_norms_of_little(make):
    same(np.tril(make([1.0, 2.0, 3.0]), 1), np.tril(np.array([1.0, 2.0, 3.0]), 1))
    same(np.triu(make([1, 2, 3])), np.triu(np.array([1, 2, 3])))
    for axis in (0, -1):
        same(make(np.float32(3)).squeeze(axis), np.float32(3))
    for bad in (1, (0, 0)):
        with pytest.raises(ValueError):
            make(np.float32(3)).squeeze(bad)
    none = np.zeros((0, 3))
    for what in (np.inf, 1):
        same(np.linalg.norm(make(none), what), np.linalg.norm(none, what))
        same(np.linalg.norm(make(none[:, 0]), what), np.linalg.norm(none[:, 0], what))
    with pytest.raises(ValueError, match="zero-size"):
        np.linalg.norm(make(none[:, 0]), -np.inf)


def test_median_of_complex_numbers(make):
    a = (host("f8", (5, 6)) + 1j * host("f8", (5, 6))).astype(np.complex64)
    for axis in (None, 0, 1):
        same(np.median(make(a), axis), np.median(a, axis))


@pytest.mark.parametrize("name", ["nanmean", "nanvar", "nanstd"])
def test_means_of_chosen_items(make, name):
    call = getattr(np, name)
    a, chosen = host("f8", (5, 6)), host("f4", (5, 6)) > -1
    chosen[:2] = True
    a[1, 1] = np.nan
    for h in (a, a.astype(np.complex64), np.arange(30).reshape(5, 6)):
        for where in (chosen, chosen[:, :1]):
            want = call(h, 0, where=where, keepdims=True)
            same(call(make(h), 0, where=make(where), keepdims=True), want)
    with pytest.raises(TypeError, match="mean"):
        np.nanstd(make(a), mean=make(a))


def test_astype_casting(make):
    """By every rule, between all kinds: what is refused, and by what."""
    chars = "?bHdF"
    arrays = {c: (np.ones(2, c), make(np.ones(2, c))) for c in chars}
    for casting in ("no", "equiv", "safe", "same_kind", "unsafe"):
        for a, d in arrays.values():
            for to in chars:
                if np.can_cast(a.dtype, to, casting):
                    assert d.astype(to, casting=casting).dtype == np.dtype(to)
                else:
                    with pytest.raises(TypeError, match="according to the rule"):
                        d.astype(to, casting=casting)
    with pytest.raises(ValueError, match="casting"):
        arrays["d"][1].astype("f", casting="perhaps")
    with pytest.raises(ValueError, match="order"):
        arrays["d"][1].astype("f", order="X")


def test_reductions_of_no_axes_begin_somewhere(make):
    a = host("i4", (3, 4))
    for ufunc in (np.bitwise_or, np.bitwise_xor, np.add, np.maximum):
        for axis in ((), 1, (0, 1)):
            got = ufunc.reduce(make(a), axis=axis, initial=5)
            same(got, ufunc.reduce(a, axis=axis, initial=5))
        out = make(np.zeros((1, 4), np.int32))
        assert ufunc.reduce(make(a), axis=0, keepdims=True, out=out, dtype=np.int32) is out
        same(out, ufunc.reduce(a, axis=0, keepdims=True, dtype=np.int32))
    same(np.bitwise_or.reduce(make(np.int8(4)), axis=(), initial=1), np.int8(5))
    for bad in ((0, 0), (0, 0, 0), (1,) * 7):
        with pytest.raises(ValueError, match="number of indices|size 1"):
            make(np.ones(3)).item(*bad)


def test_strict_casting_beside_a_number(make):
    a = np.array([[7.0]])
    for casting in ("safe", "no"):
        same(np.equal(make(a), 7, casting=casting), np.equal(a, 7, casting=casting))
    for x in (a, make(a)):
        with pytest.raises(TypeError, match="cannot cast Python int"):
            np.equal(x, 7, casting="equiv")


def test_no_axes_and_an_axis_that_passes(make):
    """NumPy takes axis 0 and -1 of an array without axes in repeat(), and in means with a mask."""
    x, w = make(np.float32(3)), make(np.bool_(True))
    for axis in (0, -1):
        np.testing.assert_array_equal(np.repeat(x, 3, axis).get(), [3, 3, 3])
        assert np.mean(x, axis=axis, where=w).get() == 3
        assert np.var(x, axis=axis, where=w).get() == 0
        with pytest.raises(np.exceptions.AxisError):
            np.mean(x, axis=axis)
    with pytest.raises(np.exceptions.AxisError):
        np.repeat(x, 3, 1)
    with pytest.raises(TypeError, match="accumulate on a scalar"):
        np.maximum.accumulate(x)
    with pytest.raises(TypeError, match="safe"):
        np.place(make(np.zeros(3, np.int32)), make(np.ones(3, bool)), make(np.ones(1)))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_spacing_of_zeros_and_edges(make, dtype):
    info = np.finfo(dtype)
    a = np.array([0.0, -0.0, -1, 3, info.max, -info.max, np.inf, np.nan, info.tiny], dtype)
    with np.errstate(all="ignore"):
        same(np.spacing(make(a)), np.spacing(a))


def test_results_in_another_unit_of_time(make):
    a = np.array([[5, 2], [-3, 8]], "m8[s]")
    for call in (np.sum, np.min, np.mean, np.ptp):
        out, want = make(np.zeros(2, "m8[ms]")), np.zeros(2, "m8[ms]")
        assert call(make(a), 0, out=out) is out
        np.testing.assert_array_equal(out.get(), call(a, 0, out=want), strict=True)
    with pytest.raises(TypeError, match="cannot cast"):
        np.max(make(a), 0, out=make(np.zeros(2)))


def test_masks_and_results_are_checked(make):
    """Also where there are no items; and the sum of no chosen ones is 0.0, not -0.0."""
    empty = np.zeros((2, 0, 3))
    with pytest.raises(ValueError, match="broadcast"):
        np.sum(make(empty), 0, where=make(np.array([True, False])))
    with pytest.raises(TypeError, match="bools"):
        np.any(make(empty), 0, where=make(np.array([1, 0, 1])))
    total = np.sum(make(np.ones(2)), where=make(np.zeros(2, bool))).get()
    assert total == 0 and not np.signbit(total)
    a = np.array([[1.0, 7], [2, 3]])
    for dtype in ("u1", "i4", "?"):
        out = make(np.zeros(2, dtype))
        same(np.argmax(make(a), 0, out=out), np.argmax(a, 0, out=np.zeros(2, dtype)))
    for dtype in ("f8", "u8"):
        with pytest.raises(TypeError, match="argmax: out"):
            np.argmax(make(a), 0, out=make(np.zeros(2, dtype)))
    same(np.sum(make(np.array(2.0)), axis=np.int8(0)), np.float64(2))


def test_lost_imaginary_parts_warn(make):
    a = np.array([[1 + 2j, 3], [4j, 5]])
    d = make(a)
    for _ in range(3):  # also by a kernel that is known
        with pytest.warns(np.exceptions.ComplexWarning) as warned:
            same(d.astype("f4"), a.real.astype("f4"))
        assert warned[0].filename == __file__
        with pytest.warns(np.exceptions.ComplexWarning):
            real = make(np.zeros((2, 2), "f4"))
            real[:] = d
        same(real, a.real.astype("f4"))
        with pytest.warns(np.exceptions.ComplexWarning):
            real[[1, 0]] = d
        same(real, a.real[::-1].astype("f4"))
    with pytest.warns(np.exceptions.ComplexWarning):
        np.sum(make(a), 0, out=make(np.zeros(2)))
    assert np.sum(make(a), dtype=bool).get() and make(a).astype(bool).get().all()  # no warning


@pytest.mark.parametrize(
    "call",
    [
        lambda np, x: np.median(x[:0]),
        lambda np, x: np.var(x[:, :1], axis=1, ddof=1),
        lambda np, x: np.std(x, ddof=7),
    ],
    ids=("median", "var", "std"),
)
def test_too_few_items_warn(make, call):
    a = np.arange(6.0).reshape(2, 3)
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning) as wanted:
        want = call(np, a)
    for _ in range(2):
        with pytest.warns(RuntimeWarning) as warned:
            same(call(np, make(a)), want)
        assert [str(w.message).rstrip(".") for w in warned] == [
            str(w.message).rstrip(".") for w in wanted
        ]


def test_ravel_copies_what_is_not_contiguous(make):
    for part in (np.s_[0], np.s_[0, ::2], np.s_[:, 1], np.s_[::-1], np.s_[:, :0], np.s_[:, ::-2]):
        for order in "CFAK":
            a = np.arange(12).reshape(3, 4)
            d = make(a)
            want, got = a[part].ravel(order), d[part].ravel(order)
            same(got, want)
            want[...] = 99
            got[...] = 99
            same(d, a)
    d = make(np.zeros((3, 4)))[:, 1]
    d.flat[1] = 5
    items = d.flat
    assert [next(items).item() for _ in range(3)] == [0, 5, 0] and list(items) == []
    assert d.flat[1].get() == d.item(1) == 5


def test_choices_by_bools_and_other_arguments(make):
    a = make(np.array([True, False]))
    same(np.choose(a, [make(np.array([1, 2])), make(np.array([3, 4]))]), np.array([3, 2]))
    with pytest.raises(TypeError, match="choose: the indices"):
        np.choose(make(np.array([0.0, 1])), [1, 2])
    with pytest.raises(TypeError, match="complex"):
        np.digitize(make(np.array([1j])), np.array([1.0]))
    x = np.array([0.5, 2, np.nan, 7])
    for bins in ([1, 3, np.nan], [np.nan, 3, 1], [np.nan] * 2, [1, np.nan], [1, 1, 3, 3], [], [3]):
        bins = np.array(bins, float)
        same(np.digitize(make(x), bins), np.digitize(x, bins))
        same(np.digitize(make(x), bins, right=True), np.digitize(x, bins, right=True))
    with pytest.raises(ValueError, match="monotonically"):
        np.digitize(make(x), np.array([1.0, 3, 2]))
    nans = np.array([np.nan, 1, np.nan])
    same(np.unique(make(nans), axis=0), np.unique(nans, axis=0))
    with pytest.raises(np.exceptions.AxisError):
        np.unique(make(nans), axis=1)
    assert np.array_equal(make(nans), None) is False


def test_cumulative_sums_in_another_unit_or_kind(make):
    a = np.array([5, 2, -3], "m8[s]")
    out = make(np.zeros(3, "m8[ms]"))
    want = np.cumsum(a).astype("m8[ms]")
    np.testing.assert_array_equal(np.cumsum(make(a), out=out).get(), want, strict=True)
    with pytest.warns(np.exceptions.ComplexWarning):
        same(np.cumsum(make(np.array([1 + 1j, 2])), dtype="f4"), np.array([1, 3], "f4"))


def test_ufuncs_of_the_namespace_have_methods(make):
    a = np.array([[4, 6], [8, 12]])
    for name in ("fmax", "gcd", "add"):
        function, numpys = getattr(xp, name), getattr(np, name)
        same(function.reduce(make(a), axis=0), numpys.reduce(a, axis=0))
        same(function.outer(make(a), make(a[0])), numpys.outer(a, a[0]))


def test_full_like_of_none_does_not_leave_memory_as_it_was(make):
    with pytest.raises(TypeError, match="NoneType"):
        np.full_like(make([1.0, 2.0]), None)


def test_resize_copies(make):
    a = np.arange(6.0)
    d = make(a)
    for shape in (3, (2, 3), 8):
        made = np.resize(d, shape)
        same(made, np.resize(a, shape))
        made[...] = 9
    same(d, a)
