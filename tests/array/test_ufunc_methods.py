"""ufunc.at, reduceat, and reduce and accumulate of ufuncs that are not associative."""

from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.sampled(3)

DTYPES = ["i1", "u2", "i4", "i8", "f2", "f4", "f8", "c8"]
AT = ["add", "subtract", "multiply", "maximum", "hypot", "logaddexp", "bitwise_xor", "equal"]
FOLDED = ["subtract", "divide", "floor_divide", "hypot", "logaddexp", "left_shift", "bitwise_or"]
patient = settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
long = settings(patient, max_examples=150)


def close(found, wanted):
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    rtol = {"f2": 4e-3, "f4": 2e-5, "c8": 2e-5}.get(wanted.dtype.str[1:], 1e-12)
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol)


def result(work, *operands):
    """What it gives, or the class of what it raises."""
    try:
        with np.errstate(all="ignore"):
            return work(*operands)
    except (TypeError, ValueError, IndexError) as error:
        kinds = (TypeError, IndexError, ValueError)
        return next(kind for kind in kinds if isinstance(error, kind))


def check(work, make, *hosts):
    wanted = result(work, *(h.copy() for h in hosts))
    found = result(work, *map(make, hosts))
    if isinstance(wanted, type):
        assert found is wanted
    else:
        close(found.get(), np.asarray(wanted))


def check_at(make, data):
    name = data.draw(st.sampled_from(AT))
    dtype, other = (data.draw(st.sampled_from(DTYPES)) for _ in range(2))
    n = data.draw(st.integers(1, 9))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    places = rng.integers(-n, n, rng.integers(0, 20))
    b = rng.integers(0, 5, data.draw(st.sampled_from([(places.size, 2), (2,), (1, 1), ()])))

    def work(a, places, b):
        getattr(np, name).at(a, places, b)
        return a

    check(work, make, rng.integers(0, 5, (n, 2)).astype(dtype), places, b.astype(other))


@given(data=st.data())
@patient
def test_at(make, data):
    check_at(make, data)


@pytest.mark.slow
@given(data=st.data())
@long
def test_at_at_length(make, data):
    check_at(make, data)


@pytest.mark.parametrize("name", ["add", "maximum", "subtract"])
def test_at_with_repeated_indices(make, name):
    """More than one work-item takes: runs are cut if their order does not count."""
    rng = np.random.default_rng(0)
    for n, dtype in ((3, np.int32), (2000, np.int64), (1, np.float64)):
        a, places = np.zeros(n, dtype), rng.integers(0, n, 80000)
        b = rng.integers(0, 9, places.size).astype(dtype)
        array = make(a)
        getattr(np, name).at(array, make(places), make(b))
        getattr(np, name).at(a, places, b)
        np.testing.assert_array_equal(array.get(), a)


def test_at_in_its_order(make):
    """Each step is rounded to the array's dtype, in the order of the indices."""
    a = np.ones(2, np.float32)
    b = np.array([1e8, 1.0, -1e8, 0.5], np.float32)
    array = make(a)
    np.add.at(array, [1, 1, 1, 1], make(b))
    np.add.at(a, [1, 1, 1, 1], b)
    np.testing.assert_array_equal(array.get(), a)


def test_at_views_and_keys(make):
    host = np.arange(24.0).reshape(4, 6)
    for key in (np.s_[1:3], np.s_[..., 2], np.s_[[0, 0, 3], 1:4], np.s_[[1, 1], [2, 2]], host > 7,
                np.s_[None, [2, 2]], np.s_[:, [0, 0]]):  # fmt: skip
        for view in (np.s_[:], np.s_[::-1], np.s_[:, ::1]):
            a, array = host.copy(), make(host)
            if isinstance(key, np.ndarray):
                np.add.at(array[view], make(key), 2)
            else:
                np.add.at(array[view], key, 2)
            np.add.at(a[view], key, 2)
            np.testing.assert_array_equal(array.get(), a)
    a, array = host.T.copy(order="F"), make(host.copy()).T
    a = host.copy().T
    np.add.at(array, [0, 0, 5], make(np.arange(4.0)))
    np.add.at(a, [0, 0, 5], np.arange(4.0))
    np.testing.assert_array_equal(array.get(), a)


def test_at_of_one_operand(make):
    a = np.arange(5)
    array = make(a)
    np.negative.at(array, [0, 1, 1, 3])
    assert array.get().tolist() == [0, 1, 2, -3, 4]


def test_at_itself(make):
    """What is added is read before anything is written."""
    a = np.arange(5)
    array = make(a)
    np.add.at(array, make(np.array([4, 4, 3, 0, 0])), array)
    np.add.at(a, np.array([4, 4, 3, 0, 0]), a.copy())
    np.testing.assert_array_equal(array.get(), a)


def test_at_errors(make):
    array = make(np.zeros(3))
    with pytest.raises(IndexError, match="out of bounds"):
        np.add.at(array, make(np.array([0, 3])), 1)
    with pytest.raises(ValueError, match="broadcastable"):
        np.add.at(array, [0, 1], make(np.ones(3)))
    with pytest.raises(IndexError, match="integer"):
        np.add.at(array, make(np.zeros(2)), 1)
    with pytest.raises(TypeError, match="on the device"):
        np.add.at(np.zeros(3), [0], array[:1])
    assert array.get().tolist() == [0, 0, 0]


def check_reduceat(make, data):
    name = data.draw(st.sampled_from(["add", "maximum", "subtract", "multiply", "logical_or"]))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    a = rng.integers(0, 4, (3, 5, 2)).astype(data.draw(st.sampled_from(DTYPES)))
    axis = data.draw(st.integers(-3, 2))
    starts = rng.integers(0, a.shape[axis], rng.integers(1, 6))
    a = a[:, :: data.draw(st.sampled_from([1, -1]))]
    check(lambda x, i: getattr(np, name).reduceat(x, i, axis), make, a, starts)


@pytest.mark.sampled(opencl=0)
@given(data=st.data())
@patient
def test_reduceat(make, data):
    check_reduceat(make, data)


@pytest.mark.slow
@given(data=st.data())
@long
def test_reduceat_at_length(make, data):
    check_reduceat(make, data)


def test_long_segments(make):
    a = np.random.default_rng(1).random(100_000).astype(np.float32)
    for starts in ([0], [0, 50_000], [5, 3, 99_999, 2]):
        found = np.add.reduceat(make(a), starts).get()
        np.testing.assert_allclose(found, np.add.reduceat(a.astype(float), starts), rtol=1e-6)
        np.testing.assert_array_equal(
            np.minimum.reduceat(make(a), starts).get(), np.minimum.reduceat(a, starts)
        )


def test_reduceat_options_and_errors(make):
    a = np.arange(8, dtype=np.int8)
    array, out = make(a), make(np.zeros(3))
    assert np.add.reduceat(array, [0, 2, 5], out=out) is out
    assert out.get().tolist() == [1, 9, 18]
    assert np.add.reduceat(array, [0, 4], dtype="f4").dtype == np.float32
    with pytest.raises(IndexError, match="index 8 out-of-bounds"):
        np.add.reduceat(array, [0, 8])
    with pytest.raises(TypeError, match="integers"):
        np.add.reduceat(array, [0.5])
    with pytest.raises(ValueError, match="shape"):
        np.add.reduceat(array, [0], out=out)


def check_from_left_to_right(make, data):
    name = data.draw(st.sampled_from(FOLDED))
    a = np.random.default_rng(data.draw(st.integers(0, 1000))).integers(1, 5, (3, 4))
    a = a.astype(data.draw(st.sampled_from(DTYPES)))
    ufunc, axis = getattr(np, name), data.draw(st.integers(-2, 1))
    check(lambda x: ufunc.accumulate(x, axis), make, a)
    check(lambda x: ufunc.reduce(x, axis), make, a)
    check(lambda x: ufunc.reduce(x, axis, keepdims=True, initial=2), make, a)
    check(lambda x: ufunc.reduce(x, None), make, a)
    check(lambda x: ufunc.reduce(x[:0]), make, a)


@pytest.mark.sampled(opencl=0)
@given(data=st.data())
@patient
def test_from_left_to_right(make, data):
    check_from_left_to_right(make, data)


@pytest.mark.slow
@given(data=st.data())
@long
def test_from_left_to_right_at_length(make, data):
    check_from_left_to_right(make, data)


@pytest.mark.parametrize("initial", [0, 1, 2.5])
def test_initial_of_any_and_all(make, initial):
    a = np.array([[0, 1], [0, 0]])
    for ufunc in (np.logical_or, np.logical_and):
        found = ufunc.reduce(make(a), axis=1, initial=initial)
        np.testing.assert_array_equal(found.get(), ufunc.reduce(a, axis=1, initial=initial))


@pytest.mark.parametrize("name, dtype", [("hypot", "f4"), ("hypot", "f8"), ("gcd", "i4")])
def test_a_single_item_is_joined_with_the_identity(make, name, dtype):
    ufunc = getattr(np, name)
    for a, axis in ((np.array([-12]), 0), (np.array(-12), ()), (np.array([[-12], [5]]), 1)):
        a = a.astype(dtype)
        assert np.array_equal(ufunc.reduce(make(a), axis=axis).get(), ufunc.reduce(a, axis=axis))
    a = np.array([-12, 9, -30], dtype)
    assert np.allclose(ufunc.reduce(make(a)).get(), ufunc.reduce(a))


@pytest.mark.parametrize("name", ["hypot", "subtract", "fmin", "gcd", "logical_xor"])
def test_reduce_of_chosen_items(make, name):
    rng, ufunc = np.random.default_rng(3), getattr(np, name)
    a, mask = rng.integers(-9, 9, (3, 4, 5)), rng.random((3, 4, 5)) < 0.5
    a = a / 4 if name in ("hypot", "subtract") else a
    for axis, chosen in ((0, mask), (-1, mask[0, :, :1]), (1, False), (None, mask[1])):
        for options in ({"initial": 3}, {"keepdims": True}):
            work = partial(ufunc.reduce, axis=axis, **options)
            check(lambda x, w, work=work: work(x, where=w), make, a, np.array(chosen))
    check(lambda x, w: ufunc.reduce(x, where=w, initial=1), make, a[:0], mask[:0])
    check(lambda x, w: ufunc.reduce(x, where=w, initial=1), make, a, a)
    check(lambda x, w: ufunc.accumulate(x, where=w), make, a, mask)
