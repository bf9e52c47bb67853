"""Shapes and strides against NumPy's, on arrays of any layout, and as attributes of arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pygpu.array as cla
from pygpu._src.array import layout


@st.composite
def views(draw) -> np.ndarray:
    """A view of a C array: sliced with any steps, transposed, perhaps broadcast."""
    shape = draw(st.lists(st.integers(0, 4), max_size=4))
    array = np.arange(int(np.prod(shape))).reshape(shape)
    for axis, n in enumerate(shape):
        start, step = draw(st.integers(-2, n)), draw(st.sampled_from([1, 2, -1, -3]))
        array = array[(slice(None),) * axis + (slice(start if step > 0 else None, None, step),)]
    array = array.transpose(draw(st.permutations(range(len(shape)))))
    if draw(st.booleans()):
        array = np.broadcast_to(array, (draw(st.integers(1, 3)), *array.shape))
    return array


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


@given(views())
def test_flags(a):
    flags = layout.flags(a.shape, a.strides, a.itemsize)
    assert flags == (a.flags.c_contiguous, a.flags.f_contiguous)


@given(views())
def test_bounds(a):
    low, high = layout.byte_bounds(a.shape, a.strides, a.itemsize)
    if a.size == 0:
        assert low == high
    else:
        first, last = np.lib.array_utils.byte_bounds(a)
        assert (address(a) + low, address(a) + high) == (first, last)


@given(views())
def test_collapse_visits_each_item_once(a):
    shape, [strides] = layout.collapse(a.shape, a.strides)
    walk = [sum(i * s for i, s in zip(index, strides)) for index in np.ndindex(*shape)]
    there = [sum(i * s for i, s in zip(index, a.strides)) for index in np.ndindex(*a.shape)]
    low = min(there, default=0) - min(walk, default=0)
    assert sorted(walk) == sorted(x - low for x in there) or sorted(walk) == sorted(there)
    assert len(shape) <= max(a.ndim, 1)


def test_collapse_joins_what_runs_on():
    a = np.zeros((3, 4, 5, 6), np.float32)
    assert layout.collapse(a.shape, a.strides) == ((360,), [(4,)])
    assert layout.collapse(a.T.shape, a.T.strides, a.T.strides)[0] == (360,)
    assert len(layout.collapse(a.shape, a.strides, a[:, :, ::2].strides)[0]) > 1
    assert layout.collapse((1, 7, 1), (0, 4, 9)) == ((7,), [(4,)])
    assert layout.collapse((), ()) == ((1,), [(0,)])
    assert layout.collapse((0, 3), (12, 4)) == ((0,), [(0,)])


@given(views(), st.data())
def test_reshape_strides(a, data):
    factors = [n for n in a.shape if n != 1]
    order = data.draw(st.sampled_from("CF"))
    size = a.size
    new: list[int] = []
    while size > 1 and len(new) < 4:
        n = data.draw(st.sampled_from([d for d in range(1, size + 1) if size % d == 0]))
        new.append(n)
        size //= n
    new.append(size)
    assert int(np.prod(new)) == a.size or not factors
    strides = layout.reshape_strides(a.shape, a.strides, a.itemsize, tuple(new), order)
    if strides is None:
        view = a.view()
        with pytest.raises((AttributeError, ValueError)):
            view.shape = tuple(new)  # NumPy cannot either (in C order)
            if order == "F":
                raise ValueError
    elif a.size:
        seen = np.lib.stride_tricks.as_strided(a, new, strides)
        np.testing.assert_array_equal(seen, a.reshape(new, order=order))


index_items = st.one_of(
    st.integers(-4, 4),
    st.slices(4),
    st.just(Ellipsis),
    st.just(None),
    st.builds(slice, st.integers(-6, 6), st.integers(-6, 6), st.sampled_from([1, 2, -1, -2])),
)


@given(views(), st.lists(index_items, max_size=5).map(tuple))
def test_index(a, key):
    try:
        want = a[key]
    except IndexError:
        with pytest.raises(IndexError):
            layout.parse_index(a.shape, a.strides, key)
        return
    index = layout.parse_index(a.shape, a.strides, key)
    want = np.asarray(want)
    assert index.shape == want.shape
    assert not index.advanced
    if want.size:
        seen = np.lib.stride_tricks.as_strided(a, (1,) * a.ndim) if a.ndim else a
        flat = np.ndarray(index.shape, a.dtype, _memory(a), index.offset - _low(a), index.strides)
        np.testing.assert_array_equal(flat, want)
        assert seen.size


def _low(a: np.ndarray) -> int:
    return layout.byte_bounds(a.shape, a.strides, a.itemsize)[0]


def _memory(a: np.ndarray) -> bytes:
    """The bytes that the array spans."""
    import ctypes

    low, high = layout.byte_bounds(a.shape, a.strides, a.itemsize)
    return ctypes.string_at(address(a) + low, high - low)


def test_index_words():
    for key, words in ((5, "out of bounds"), ((0, 0, 0), "too many"), ("x", "only integers")):
        with pytest.raises(IndexError, match=words):
            layout.parse_index((3, 4), (16, 4), key)
    with pytest.raises(IndexError, match="single ellipsis"):
        layout.parse_index((3, 4), (16, 4), (..., ...))
    mask = np.ones((3, 4), bool)
    assert layout.parse_index((3, 4, 5), (80, 20, 4), (mask, 1)).shape == (3, 4)


@given(views(), views())
def test_broadcast(a, b):
    try:
        want = np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        with pytest.raises(ValueError, match="broadcast"):
            layout.broadcast_shapes(a.shape, b.shape)
        return
    assert layout.broadcast_shapes(a.shape, b.shape) == want
    strides = layout.broadcast_strides(a.shape, a.strides, want)
    for n, s, t in zip(want, strides, np.broadcast_to(a, want).strides):
        assert n <= 1 or s == t


@given(
    st.integers(0, 3), st.integers(0, 3), st.integers(1, 4), st.integers(1, 4), st.integers(0, 9)
)
def test_overlap_is_never_missed(n, m, step, other, shift):
    whole = np.zeros(64, np.int16)
    a, b = whole[: n * step : step], whole[shift : shift + m * other : other]
    places = [((x.__array_interface__["data"][0]), x.shape, x.strides, 2) for x in (a, b)]
    if np.shares_memory(a, b):
        assert layout.may_overlap(*places)
    interleaved = (0, (5,), (4,), 2), (2, (5,), (4,), 2)
    assert not layout.may_overlap(*interleaved)


def test_axes():
    assert layout.normalize_axes(None, 3) == (0, 1, 2)
    assert layout.normalize_axes((-1, 0), 3) == (2, 0)
    with pytest.raises(np.exceptions.AxisError):
        layout.normalize_axis(3, 3)
    with pytest.raises(ValueError, match="duplicate"):
        layout.normalize_axes((0, -3), 3)
    with pytest.raises(ValueError, match="negative"):
        layout.as_shape((2, -1))
    with pytest.raises(TypeError):
        layout.as_shape((2, 1.5))
    with pytest.raises(ValueError, match="too large"):
        layout.as_shape((1 << 40, 1 << 40))


# ---- as attributes of arrays


@pytest.mark.parametrize(
    "shape", [(), (3,), (0,), (1,), (4, 5), (2, 0, 3), (2, 3, 4), (1, 2, 3, 1)]
)
@pytest.mark.parametrize("dtype", ["u1", "f4", "c16"])
def test_attributes_are_those_of_numpy(queue, dtype, shape):
    host = np.zeros(shape, dtype)
    array = cla.to_device(queue, host)
    views = [(array, host), (array.T, host.T), (array[None], host[None])]
    if shape:
        views += [(array[::2], host[::2]), (array[:1], host[:1])]
    for ours, theirs in views:
        assert (ours.shape, ours.size, ours.nbytes) == (theirs.shape, theirs.size, theirs.nbytes)
        assert ours.ndim == theirs.ndim and ours.itemsize == theirs.itemsize
        assert ours.strides == theirs.strides or theirs.size == 0 or 1 in theirs.shape
        assert ours.flags.c_contiguous == theirs.flags.c_contiguous
        assert ours.flags.f_contiguous == theirs.flags.f_contiguous
        assert ours.flags.forc == theirs.flags.forc and ours.flags["C"] == theirs.flags["C"]
        if theirs.ndim:
            assert len(ours) == len(theirs)
        else:
            with pytest.raises(TypeError, match="unsized"):
                len(ours)


def test_many_dimensions(queue):
    shape = (1, 2, 1, 2, 1, 2, 3)
    array = cla.zeros(queue, shape, np.int16)
    assert array.shape == shape and array.strides == np.zeros(shape, np.int16).strides
    assert (array[0].size, array[0, 1].nbytes, array[0, 1].offset) == (24, 24, 24)


def test_attributes_that_can_be_set(queue):
    array = cla.arange(queue, 16, dtype=np.float32)
    part = array[4:]
    part.offset = 8
    assert part.offset == 8 and part.get()[0] == 2 and array.offset == 0
    memory = cla.zeros(queue, 20, np.float32).base_data
    part.base_data = memory
    assert part.base_data is memory and not part.get().any() and part.offset == 8
    part.queue = None
    assert part.queue is None
    part.queue = queue
    del part.queue
    assert part.queue is None
    for name, value in [("offset", 400), ("base_data", 1.5)]:
        with pytest.raises((ValueError, TypeError)):
            setattr(part, name, value)
        with pytest.raises(TypeError, match="cannot be deleted"):
            delattr(part, name)
    assert part.offset == 8 and part.base_data is memory
    names = "shape strides size nbytes dtype ndim itemsize flags backend context".split()
    for name in names:
        with pytest.raises(AttributeError):
            setattr(array, name, getattr(array, name))
    with pytest.raises(AttributeError, match="c_contiguous"):
        array.flags.c_contiguous = False
    assert array.flags.c_contiguous and array.context == queue.context


def test_a_class_of_a_program_may_have_other_attributes(queue):
    class Mine(cla.Array):
        seen = None

        @property
        def queue(self):
            return super().queue

        @queue.setter
        def queue(self, value):
            self.seen = value

    array = Mine(queue, (4,), np.int8)
    array.queue = "anything"
    assert array.seen == "anything" and array.queue is queue
    array.own = 3
    assert array.own == 3
