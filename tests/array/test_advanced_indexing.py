"""Indexing with masks and integer arrays, take, put, nonzero against NumPy."""

import numpy as np
import pytest

from pygpu._src.array import advanced_indexing as index
from pygpu._src.array.routines import joining as functions
from tests.array.test_reduction import host

MANY = np.array([[0, -1, 3], [2, 2, -7]])
FEW = np.array([1, 2, 4])

KEYS = [
    (MANY,),
    (MANY, FEW),
    (slice(None), MANY),
    (slice(None), MANY % 5, 1),
    (0, slice(None), FEW),
    (FEW, slice(None), FEW),
    (FEW, 1, FEW),
    (slice(1, 6, 2), FEW, slice(None, None, -1)),
    ([],),
    (np.array([True] * 4 + [False] * 3),),
    (slice(None), slice(None), np.array([True, False, True, False, True])),
    (Ellipsis, [0, 1]),
    (None, MANY),
    (np.uint8([1, 2]), np.int16([3, -1])),
    (True,),
    (False,),
    (slice(None), slice(None), False),
    (slice(None), True, slice(1)),
    (True, slice(None), FEW),
    (slice(None), True, FEW),
    (slice(None), None, FEW, None, True),
]


def key_on_device(make, key):
    return tuple(make(item) if isinstance(item, np.ndarray) else item for item in key)


@pytest.mark.sampled(opencl=3)
@pytest.mark.parametrize("key", KEYS, ids=range(len(KEYS)))
def test_integers(make, key):
    a = host("f4", (7, 9, 5))
    device = make(a)
    for k in (key, key_on_device(make, key)):
        got = index.getitem(device, k)
        assert got.dtype == a.dtype
        np.testing.assert_array_equal(got.get(), a[key])
        value = np.arange(5, dtype=np.float32)[: a[key].shape[-1]]
        for v in (2.5, value, make(value)):
            if np.size(v) not in (1, a[key].shape[-1]):
                continue
            b, target = a.copy(), make(a)
            b[key] = 2.5 if np.ndim(v) == 0 and not hasattr(v, "get") else value
            if len(np.unique(np.arange(a.size).reshape(a.shape)[key])) < a[key].size:
                continue  # one item several times: any of the values
            index.setitem(target, k, v)
            np.testing.assert_array_equal(target.get(), b)


@pytest.mark.parametrize("n", [1, 15, 4096, 5000, 100003])
def test_masks(make, n):
    a = host("f4", n)
    for mask in (a > 0.5, np.zeros(n, bool), np.ones(n, bool)):
        np.testing.assert_array_equal(index.getitem(make(a), make(mask)).get(), a[mask])
        np.testing.assert_array_equal(index.getitem(make(a), mask).get(), a[mask])
        for got, want in zip(index.nonzero(make(mask)), np.nonzero(mask), strict=True):
            np.testing.assert_array_equal(got.get(), want)


def test_masks_of_more_axes(make):
    a = host("i2", (40, 50, 3))
    mask = a > 0
    np.testing.assert_array_equal(index.getitem(make(a), make(mask)).get(), a[mask])
    np.testing.assert_array_equal(
        index.getitem(make(a), make(mask[:, :, 0])).get(), a[mask[:, :, 0]]
    )
    for got, want in zip(index.nonzero(make(a)), np.nonzero(a), strict=True):
        np.testing.assert_array_equal(got.get(), want)
    fortran = make(np.asfortranarray(a))
    np.testing.assert_array_equal(
        index.getitem(fortran, make(np.asfortranarray(mask))).get(), a[mask]
    )
    b, device = a.copy(), make(a)
    b[mask] = 7
    index.setitem(device, make(mask), 7)
    np.testing.assert_array_equal(device.get(), b)
    values = np.arange((b < 0).sum())
    index.setitem(device, make(b < 0), values)
    b[b < 0] = values
    np.testing.assert_array_equal(device.get(), b)


def test_structs_move(make):
    dtype = np.dtype([("a", "i4"), ("b", "f8"), ("c", "i1")], align=True)
    a = np.zeros(50, dtype)
    a["a"] = np.arange(50)
    a["b"] = 0.5
    got = index.getitem(make(a), [3, -1, 7]).get()
    np.testing.assert_array_equal(got, a[[3, -1, 7]])


def test_bounds(make):
    device = make(np.zeros((7, 9), np.float32))
    for bad in ((np.array([0, 9]),), (slice(None), np.array([-10])), ([3, 7],)):
        for key in (bad, key_on_device(make, bad)):
            with pytest.raises(IndexError, match="out of bounds for axis"):
                index.getitem(device, key)
            with pytest.raises(IndexError, match="out of bounds for axis"):
                index.setitem(device, key, 1)
    with pytest.raises(IndexError, match="boolean index did not match"):
        index.getitem(device, make(np.ones(8, bool)))
    with pytest.raises(IndexError, match="integer"):
        index.getitem(device, np.array([0.5]))
    with pytest.raises(IndexError, match="could not be broadcast"):
        index.getitem(device, ([1, 2, 3], [1, 2]))
    with pytest.raises(ValueError, match="broadcast to indexing result"):
        index.setitem(device, [1, 2], np.zeros(5, np.float32))


def test_take_and_put(make):
    a = host("f4", (7, 9, 5))
    device = make(a)
    for axis in (None, 0, 1, -1):
        np.testing.assert_array_equal(
            index.take(device, MANY % 5, axis).get(), np.take(a, MANY % 5, axis)
        )
        for mode in ("wrap", "clip"):
            far = np.array([99, -99, 3])
            got = index.take(device, make(far), axis, mode=mode).get()
            np.testing.assert_array_equal(got, np.take(a, far, axis, mode=mode))
    order = np.argsort(a, 1)
    got = index.take_along_axis(device, make(order), 1).get()
    np.testing.assert_array_equal(got, np.take_along_axis(a, order, 1))
    b = a.copy()
    np.put(b, [1, -5, 7], [4, 5])
    index.put(device, make(np.array([1, -5, 7])), [4, 5])
    np.testing.assert_array_equal(device.get(), b)
    index.put_along_axis(device, order[:, :1], 9, 1)
    np.put_along_axis(b, order[:, :1], 9, 1)
    np.testing.assert_array_equal(device.get(), b)


def test_bounds_are_checked_in_every_call(make):
    """The memory that tells is used again: what one call found is not told by the next."""
    a = host("f4", (5, 6))
    x = make(a)
    good, bad = np.array([0, 4, -5]), np.array([1, -6, 2])
    on_device, wrong = make(good), make(bad)
    for _ in range(3):
        np.testing.assert_array_equal(x[on_device].get(), a[good])
        np.testing.assert_array_equal(x.take(on_device, 1).get(), a.take(good, 1))
        np.testing.assert_array_equal(x.take(on_device).get(), a.take(good))
        np.testing.assert_array_equal(x[[0, 4, -5]].get(), a[good])
        with pytest.raises(IndexError, match="index -6 is out of bounds for axis 0 with size 5"):
            x[wrong]
        with pytest.raises(IndexError, match="index -6 is out of bounds for axis 0 with size 5"):
            x[[1, -6, 2]]
        with pytest.raises(IndexError, match="index 30 is out of bounds for axis 0 with size 30"):
            x.take(make(np.array([30])))
    for call in (lambda: x[on_device], lambda: x.take(on_device, 1)):
        launches, copies = make.calls(call)
        assert launches == 1
        assert len(copies) == 1  # what it found
    values, apart = make(-a[:3]), make(np.array([0, 4, -2]))  # each row once
    y, b = make(a), a.copy()
    b[[0, 4, -2]] = -a[:3]
    for _ in range(3):
        y[apart] = values
        np.testing.assert_array_equal(y.get(), b)
        with pytest.raises(IndexError, match="index -6 is out of bounds for axis 0 with size 5"):
            make(a)[wrong] = values
    strided = x[::2, ::-1]
    np.testing.assert_array_equal(strided[make(np.array([2, 0]))].get(), a[::2, ::-1][[2, 0]])


def test_indices_from_the_host_may_change_afterwards(make):
    x = make(np.arange(8))
    where = np.array([3, 1])
    assert make(np.ones((4, 3)))[[[]]].shape == (1, 0, 3)
    got = x[where]
    where[:] = 100
    np.testing.assert_array_equal(got.get(), [3, 1])


@pytest.mark.parametrize("dtype", ["f4", "u1", "c16", "i2,f8"])
def test_masks_of_few_items(make, dtype):
    for n in (1, 2, 255, 257, 1024, 1025):
        a = np.arange(n).astype(dtype)
        x = make(a)
        for mask in (np.arange(n) % 3 == 1, np.zeros(n, bool), np.ones(n, bool)):
            for _ in range(2):
                np.testing.assert_array_equal(x[make(mask)].get(), a[mask])


def test_records_are_set_and_fields_are_named(make):
    a = np.zeros(5, [("x", "f4"), ("n", "i4"), ("v", "f8", (2,))])
    x = make(a)
    for b in (a, x):
        b[1] = (9, 8, (7, 6))
        b[2:4] = (1, 2, (3, 4))
    np.testing.assert_array_equal(x.get(), a)
    with pytest.raises(ValueError, match="no field of name 'y'"):
        x["y"]
    with pytest.raises(IndexError):
        make(np.zeros(3))["x"]


def test_an_ellipsis_for_no_axis_keeps_apart(make):
    a, i = np.arange(12.0).reshape(3, 4), np.array([-1, 1])
    device = make(a)
    for key in (
        (None, i, ..., 0),
        (None, i, 0, ...),
        (i, ..., 0),
        (..., None, i, 0),
        (slice(None), i, ...),
    ):
        np.testing.assert_array_equal(device[key].get(), a[key])


def test_bounds_where_nothing_is_chosen(make):
    """Indices on the device were not looked at if the result has no items."""
    a = make(np.zeros((0, 3)))
    for wrong in (np.array([0, 3]), np.array([-4])):
        with pytest.raises(IndexError, match=f"index {wrong[-1]} is out of bounds"):
            a[:, make(wrong)]
        with pytest.raises(IndexError, match="out of bounds"):
            a[:, make(wrong)] = 1
    assert a[:, make(np.array([2, 0, -3]))].shape == (0, 3)


def test_several_arrays_by_the_same_indices(make):
    """The indices are checked once for all arrays, and an index that is wrong for one is found."""
    hosts = [host("f4", (9,)), host("i4", (9,)), host("f8", (9,)), host("f4", (5,))]
    where, few = np.array([3, 0, -1, 2], np.int32), np.array([1, 3, 0], np.int32)
    arrays, index = [make(a) for a in hosts], make(where)
    for _ in range(3):  # as found out, then as remembered
        for got, a in zip(functions.multi_take(arrays, index), hosts):
            np.testing.assert_array_equal(got.get(), a[where])
        values = [a[:4] for a in hosts]
        values[1] = values[1][:1]
        got = functions.multi_put([make(v) for v in values], index, out=[*map(make, hosts)])
        for one, a, v in zip(got, hosts, values):
            expected = a.copy()
            expected[where] = v
            np.testing.assert_array_equal(one.get(), expected)
        got = functions.multi_take_put(arrays, make(few), make(few[::-1].copy()), (5,))
        for one, a in zip(got, hosts):
            np.testing.assert_array_equal(one.get()[few], a[few[::-1]])
        for name, expected in (("sum", hosts[0][where].sum()), ("max", hosts[0][where].max())):
            got = functions.subset(name, index, arrays[0])
            np.testing.assert_allclose(got.get(), expected, rtol=1e-6)
        got = functions.subset("dot", index, arrays[0], arrays[3])
        np.testing.assert_allclose(got.get(), hosts[0][where] @ hosts[3][where], rtol=1e-6)
    for _ in range(2):
        far = make(np.array([1, 8, 0, 2], np.int32))
        [_, got, _] = functions.multi_take(arrays[:3], far)
        assert got.get()[1] == hosts[1][8]
        message = "index 8 is out of bounds for axis 0 with size 5"
        with pytest.raises(IndexError, match=message):
            functions.multi_take(arrays, far)
        with pytest.raises(IndexError, match=message):
            functions.multi_put([make(h[:4]) for h in hosts], far, out=[*map(make, hosts)])
        with pytest.raises(IndexError, match=message):
            functions.subset("dot", far, arrays[0], arrays[3])
        with pytest.raises(IndexError, match=message):
            functions.multi_take_put(arrays, index, far, (9,))
        with pytest.raises(IndexError, match="out of bounds"):
            functions.multi_take_put(arrays, far, index, (5,))
    assert all((a.get() == h).all() for a, h in zip(arrays, hosts))
