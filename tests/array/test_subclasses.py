"""Arrays of a program's own class: what makes the results, and what they have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pygpu as cl
import pygpu.array as cla


class Tagged(cla.Array):
    """As arraycontext's class: more keywords than the base class has, all with a default."""

    def __init__(
        self,
        cq: Any,
        shape: Any,
        dtype: Any,
        order: str = "C",
        allocator: Any = None,
        data: Any = None,
        offset: int = 0,
        strides: Any = None,
        events: Any = None,
        _context: Any = None,
        _queue: Any = None,
        axes: Any = None,
        tags: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(
            cq, shape, dtype, order, allocator, data, offset, strides, events, _context, _queue
        )
        self.axes = ("axis",) * self.ndim if axes is None else axes
        self.tags = tags


class HandsOn(cla.Array):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.axes = ("axis",) * self.ndim


class Old(cla.Array):
    """Of a time before PyOpenCL had _context and _queue."""

    def __init__(
        self,
        queue: Any,
        shape: Any,
        dtype: Any,
        allocator: Any = None,
        data: Any = None,
        offset: int = 0,
        strides: Any = None,
        events: Any = None,
    ) -> None:
        super().__init__(queue, shape, dtype, "C", allocator, data, offset, strides, events)
        self.axes = ("axis",) * self.ndim


HOST = np.arange(12.0).reshape(3, 4)
RESULTS: dict[str, Callable[[Any], Any]] = {
    "slice": lambda a: a[1:],
    "item": lambda a: a[1, 2],
    "new axis": lambda a: a[None],
    "T": lambda a: a.T,
    "reshape": lambda a: a.reshape(4, 3),
    "ravel": lambda a: a.ravel(),
    "view": lambda a: a.view(np.int64),
    "squeeze": lambda a: a[:1].squeeze(),
    "a + 1": lambda a: a + 1,
    "1 - a": lambda a: 1 - a,
    "-a": lambda a: -a,
    "a > 3": lambda a: a > 3,
    "broadcast": lambda a: a + a[0],
    "np.sin": lambda a: np.sin(a),
    "sum": lambda a: a.sum(axis=0),
    "sum of all": lambda a: a.sum(),
    "cumsum": lambda a: np.cumsum(a, axis=1),
    "sort": lambda a: np.sort(a, axis=0),
    "matmul": lambda a: a @ a.T,
    "mask": lambda a: a[a > 3],
    "indices": lambda a: a[np.array([2, 0])],
    "copy": lambda a: a.copy(),
    "Fortran copy": lambda a: a.copy(order="F"),
    "astype": lambda a: a.astype(np.float32),
    "zeros_like": lambda a: cla.zeros_like(a),
    "empty_like": lambda a: cla.empty_like(a) * 0,
    "concatenate": lambda a: cla.concatenate([a, a]),
    "where": lambda a: cla.where(a > 2, a, -a),
    "_new_like_me": lambda a: a._new_like_me(np.float32) * 0,
    "no items": lambda a: a[:0] + 1,
}


@pytest.fixture(scope="module")
def queue(ctx):
    return cl.CommandQueue(ctx)


def filled(cls: Any, queue: Any) -> Any:
    array = cls(queue, HOST.shape, HOST.dtype)
    array.set(HOST)
    return array


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.parametrize("cls", [Tagged, HandsOn, Old])
def test_results_are_made_by_the_init_of_the_class(queue, cls: Any, name: str):
    array, plain = filled(cls, queue), cla.to_device(queue, HOST)
    for _ in range(2):  # what was launched once is remembered
        made, expected = RESULTS[name](array), RESULTS[name](plain)
        assert type(made) is cls and len(made.axes) == made.ndim
        assert made.strides == expected.strides and made.queue is queue
        assert np.array_equal(made.get(), expected.get())


def test_views_share_memory_and_events(queue):
    array = filled(Tagged, queue)
    view = array[1:]
    assert view.base_data is array.base_data and view.offset == array.strides[0]
    view[...] = 7
    assert (array.get()[1:] == 7).all()
    assert view.events == array.events and view.events


def test_with_queue_makes_one_on_that_queue(ctx, queue):
    array = filled(Tagged, queue)
    assert array.with_queue(None).queue is None and array.with_queue(None).tags == frozenset()
    other = cl.CommandQueue(ctx)
    moved = array.with_queue(other)
    assert moved.queue is other and moved.context == ctx and moved.base_data is array.base_data
    assert ((moved + 1).get() == HOST + 1).all()


def test_in_place_operations_keep_the_object(queue):
    array = before = filled(Tagged, queue)
    array.axes = "mine"
    array += 1
    assert array is before and array.axes == "mine" and (array.get() == HOST + 1).all()


def test_an_init_that_makes_something_else_is_refused(queue):
    class Doubled(cla.Array):
        def __init__(self, cq: Any, shape: Any, dtype: Any, **options: Any) -> None:
            super().__init__(cq, [2 * n for n in shape], dtype, **options)

    array = Doubled(queue, (2, 2), np.float32)
    array.fill(1)
    with pytest.raises(
        TypeError, match="Doubled.__init__ did not make the requested array.* shape \\(4, 4\\)"
    ):
        array + 1


def test_an_init_of_other_arguments_is_not_called(queue):
    class Named(cla.Array):
        def __init__(self, name: str, queue: Any) -> None:
            super().__init__(queue, (4,), np.float32)
            self.name = name

    array = Named("x", queue)
    array.fill(2)
    assert type(array + 1) is Named and ((array + 1).get() == 3).all()


def test_false_is_not_memory_to_come(queue):
    with pytest.raises(TypeError, match="must be a Buffer or shared virtual memory, not bool"):
        cla.Array(queue, (4,), np.float32, data=False)


def test_memory_may_come_later(ctx, queue):
    array = cla.Array(queue, (4,), np.float32, data=0)
    assert array.base_data == 0
    for use in (
        lambda: array + 1,
        lambda: array.get(),
        lambda: array.set(np.zeros(4, np.float32)),
        lambda: array.fill(1),
        lambda: array.copy(),
        lambda: array[1:].get(),
        lambda: array.map_to_host(),
        lambda: repr(array),
        lambda: cl.enqueue_copy(queue, np.zeros(4, np.float32), array.data),
    ):
        with pytest.raises(TypeError, match="data=0.*assign a Buffer to .* base_data first"):
            use()
    with pytest.raises(BufferError, match="assign a Buffer to its base_data first"):
        array.__dlpack__()
    array.base_data = cl.Buffer(ctx, cl.mem_flags.READ_WRITE, 16)
    array.fill(2)
    assert (array + 1).get().tolist() == [3] * 4


def test_later_memory_must_have_the_arrays_bytes(ctx, queue):
    array = cla.Array(queue, (4,), np.float32, data=0)
    with pytest.raises(ValueError):
        array.base_data = cl.Buffer(ctx, cl.mem_flags.READ_WRITE, 12)


def test_a_kernel_refuses_an_array_without_memory(ctx, queue):
    source = "__kernel void f(__global float *x) { x[0] = 1; }"
    with pytest.raises(TypeError, match="assign a Buffer to its base_data"):
        cl.Program(ctx, source).build().f(
            queue, (1,), None, cla.Array(queue, (4,), np.float32, data=0)
        )


def test_object_setattr_stores_attributes(queue):
    """Memoizing decorators store values in this way, because classes may refuse assignment."""
    for array in (cla.zeros(queue, 3, np.float32), Tagged(queue, (3,), np.float32)):
        object.__setattr__(array, "_cached", 1)
        assert array._cached == 1
        object.__setattr__(array, "queue", None)
        assert array.queue is None


def test_memory_and_offset_cannot_be_deleted(queue):
    array = cla.zeros(queue, 3, np.float32)
    for name in ("base_data", "offset"):
        with pytest.raises(TypeError, match=f"{name} cannot be deleted"):
            delattr(array, name)
    assert array.get().tolist() == [0, 0, 0]
