"""Arrays of a program's own class: results are made by it, views are plain, as in PyCUDA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pygpu.cuda import gpuarray


class Marked(gpuarray.GPUArray):
    def __init__(
        self, shape: Any, dtype: Any, allocator: Any = None, strides: Any = None, order: str = "C"
    ) -> None:
        super().__init__(shape, dtype, allocator=allocator, strides=strides, order=order)
        self.mark = "made"


HOST = np.arange(12, dtype=np.float32).reshape(3, 4)
RESULTS: dict[str, Callable[[Any], Any]] = {
    "a + 1": lambda a: a + 1,
    "a * a": lambda a: a * a,
    "-a": lambda a: -a,
    "a > 3": lambda a: a > 3,
    "np.sin": lambda a: np.sin(a),
    "astype": lambda a: a.astype(np.float64),
    "copy": lambda a: a.copy(),
    "_new_like_me": lambda a: a._new_like_me() * 0,
    "_new_like_me of another dtype": lambda a: a._new_like_me(np.float64) * 0,
}
SIZES = (3, 100, 5000, 100_000)  # by which the ways of selecting items differ
SELECTIONS: dict[str, Callable[[Any], Any]] = {
    "no item": lambda a: a[a < 0],
    "one item": lambda a: a[a < 1],
    "most items": lambda a: a[a > 0],
    "all items": lambda a: a[a >= 0],
    "by a host mask": lambda a: a[np.arange(a.size) % 2 == 0],
    "np.unique": lambda a: np.unique(a // 2),
    "np.nonzero": lambda a: np.nonzero(a)[0],
    "np.argwhere": lambda a: np.argwhere(a),
}
COMPOSED: dict[str, Callable[[Any], Any]] = {
    "np.stack": lambda a: np.stack([a, a]),
    "np.diff": lambda a: np.diff(a),
    "np.roll": lambda a: np.roll(a, 1),
    "np.repeat": lambda a: np.repeat(a, 2),
    "np.median": lambda a: np.median(a, 0),
    "np.gradient": lambda a: np.gradient(a)[1],
}
FUNCTIONS_OF_VIEWS: dict[str, Callable[[Any], Any]] = {
    "np.ravel": np.ravel,
    "np.transpose": np.transpose,
    "np.split": lambda a: np.split(a, 3)[1],
    "np.broadcast_to": lambda a: np.broadcast_to(a, (2, 3, 4)),
}
VIEWS: dict[str, Callable[[Any], Any]] = {
    "slice": lambda a: a[1:],
    "T": lambda a: a.T,
    "reshape": lambda a: a.reshape(4, 3),
    "view": lambda a: a.view(np.int32),
}


@pytest.fixture
def array(context):
    array = Marked(HOST.shape, HOST.dtype)
    array.set(HOST)
    return array


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_made_by_the_init_of_the_class(array, name: str):
    plain = gpuarray.to_gpu(HOST)
    for _ in range(2):
        made, expected = RESULTS[name](array), RESULTS[name](plain)
        assert type(made) is Marked and made.mark == "made"
        assert made.strides == expected.strides
        assert np.array_equal(made.get(), expected.get())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", SELECTIONS)
def test_selections_of_every_size_are_made_by_the_class(context, name: str, size: int):
    host = np.arange(size, dtype=np.float32)
    array = Marked(host.shape, host.dtype)
    array.set(host)
    for _ in range(2):  # the second time by what is remembered
        made = SELECTIONS[name](array)
        assert type(made) is Marked and made.mark == "made"
        assert np.array_equal(made.get(), SELECTIONS[name](host))


@pytest.mark.parametrize("name", COMPOSED)
def test_results_computed_from_views_are_made_by_the_class(array, name: str):
    made = COMPOSED[name](array)
    assert type(made) is Marked and made.mark == "made"
    assert np.array_equal(made.get(), COMPOSED[name](HOST))


@pytest.mark.parametrize("name", FUNCTIONS_OF_VIEWS)
def test_views_by_functions_are_plain_arrays(array, name: str):
    view = FUNCTIONS_OF_VIEWS[name](array)
    assert type(view) is gpuarray.GPUArray and view.base_data is array.base_data
    assert np.array_equal(view.get(), FUNCTIONS_OF_VIEWS[name](HOST))


@pytest.mark.parametrize("name", VIEWS)
def test_views_are_plain_arrays(array, name: str):
    view = VIEWS[name](array)
    assert type(view) is gpuarray.GPUArray
    assert np.array_equal(view.get(), VIEWS[name](gpuarray.to_gpu(HOST)).get())
    view.fill(1)
    assert (array.view(view.dtype).get() == 1).any()
