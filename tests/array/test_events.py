"""Arrays that are used from two queues: a command waits for whatever changed the memory before."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pygpu as cl
import pygpu.array as cla

N = 1000
A = np.arange(1, N + 1, dtype=np.float32)


class Late:
    """A queue whose commands begin when release() is called."""

    def __init__(self, context: cl.Context) -> None:
        self.queue = cl.CommandQueue(context)
        self._gate = cl.UserEvent(context)
        cl.enqueue_barrier(self.queue, wait_for=[self._gate])
        self._timer = threading.Timer(0.05, self.release)

    def release(self) -> None:
        if self._gate.command_execution_status > 0:
            self._gate.set_status(cl.command_execution_status.COMPLETE)

    def read(self, array: Any, queue: Any) -> np.ndarray:
        """The array as another queue finds it, while this one cannot go on yet."""
        self.queue.flush()
        self._timer.start()
        return array.get(queue)


@pytest.fixture
def queue(opencl_maker: Any) -> Any:
    return opencl_maker.queue


@pytest.fixture
def late(queue: Any) -> Iterator[Late]:
    late = Late(queue.context)
    yield late
    late.release()
    late.queue.finish()


def _view_of_new(queue: Any, late: Late) -> Any:
    """An array without events, written through a view."""
    base = cla.empty(late.queue, N, np.float32)
    base[:] = cla.to_device(queue, A)
    return base


def _second_view(queue: Any, late: Late) -> Any:
    """A view from before the array was moved to another queue."""
    base = cla.to_device(queue, np.zeros(N, np.float32))
    view = base[:]
    moved = base.with_queue(late.queue)
    moved += A[0]
    moved *= cla.to_device(queue, A)
    return view


def _base_of_lent(queue: Any, late: Late) -> Any:
    base = cla.to_device(queue, A - 1)
    moved = base.with_queue(late.queue)
    moved += 1
    return base


def _base_of_view_of_lent(queue: Any, late: Late) -> Any:
    base = cla.to_device(queue, A - 1)
    base.with_queue(late.queue)[:] += 1
    return base


def _explicit_queue(queue: Any, late: Late) -> Any:
    base = cla.empty(queue, N, np.float32)
    view = base[:]
    base.set(A, queue=late.queue, async_=True)
    return view


def _appended(queue: Any, late: Late) -> Any:
    """A program's own command, told of by way of the list."""
    base = cla.to_device(queue, A * 0)
    view = base[:]
    view.events.append(cl.enqueue_copy(late.queue, base.data, A, is_blocking=False))
    return base


def _extended(queue: Any, late: Late) -> Any:
    base = cla.empty(queue, N, np.float32)
    base.events.extend([cl.enqueue_copy(late.queue, base.data, A, is_blocking=False)])
    return base[:]


def _joined(queue: Any, late: Late) -> Any:
    base = cla.to_device(queue, A * 0) * 1
    after = base.events  # it writes there as well
    base.events += [cl.enqueue_copy(late.queue, base.data, A, is_blocking=False, wait_for=after)]
    return base


def _filled(queue: Any, late: Late) -> Any:
    base = cla.to_device(queue, A)
    base[::2].with_queue(late.queue).fill(7)
    base[::2].with_queue(queue)[:] = cla.to_device(queue, A[::2])
    return base


WAYS: list[Callable[[Any, Late], Any]] = [
    _view_of_new,
    _second_view,
    _base_of_lent,
    _base_of_view_of_lent,
    _explicit_queue,
    _appended,
    _extended,
    _joined,
    _filled,
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("use", ["get", "compute"])
def test_order(queue: Any, late: Late, way: Any, use: str) -> None:
    array = way(queue, late)
    if use == "compute":
        on_queue = array if array.queue is queue else array.with_queue(queue)
        array = on_queue * 1
    np.testing.assert_array_equal(late.read(array, queue), A)


def test_events_are_a_list_of_all_views(queue: Any) -> None:
    array = cla.empty(queue, N, np.float32)
    view = array[10:]
    assert isinstance(array.events, list) and array.events == [] and view.events is array.events
    view.fill(3)
    assert array.events and array.events is view.events
    other = cla.to_device(queue, A)
    events = [cl.enqueue_marker(queue), cl.enqueue_marker(queue)]
    other.events = events
    assert other.events == events and other.events is not events
    other.events = array.events
    assert other.events is array.events
    other.events = None
    assert other.events == [] and array.events
    with pytest.raises(TypeError):
        other.events = 5
    assert other.events == []
    array.finish()
    assert array.events == []


def test_events_that_contain_themselves_are_collected(queue: Any) -> None:
    events = cla.empty(queue, N, np.float32).events
    last = cl.enqueue_marker(queue)
    collected = weakref.ref(last)
    events.extend([events, last])
    del events, last
    gc.collect()
    assert collected() is None


B = np.arange(N, dtype=np.float32)
WHERE = np.array([3, 1, N - 1])

FUNCTIONS: dict[str, tuple[Callable[..., Any], Any]] = {
    "sum": (lambda a, b, i, q: cla.sum(a, queue=q), A.sum()),
    "sum of a slice": (lambda a, b, i, q: cla.sum(a, queue=q, slice=slice(5)), A[:5].sum()),
    "any": (lambda a, b, i, q: cla.any(a, queue=q), True),
    "all": (lambda a, b, i, q: cla.all(b, queue=q), False),
    "any method": (lambda a, b, i, q: a.any(queue=q), True),
    "all method": (lambda a, b, i, q: b.all(q), False),
    "min": (lambda a, b, i, q: cla.min(a, queue=q), 1),
    "max": (lambda a, b, i, q: cla.max(a, q), N),
    "dot": (lambda a, b, i, q: cla.dot(a, b, queue=q), None),
    "vdot": (lambda a, b, i, q: cla.vdot(a, b, queue=q), None),
    "subset_dot": (lambda a, b, i, q: cla.subset_dot(i, a, b, queue=q), A[WHERE] @ B[WHERE]),
    "subset_min": (lambda a, b, i, q: cla.subset_min(i, a, queue=q), A[WHERE].min()),
    "subset_max": (lambda a, b, i, q: cla.subset_max(i, a, queue=q), A[WHERE].max()),
    "cumsum": (lambda a, b, i, q: cla.cumsum(a, queue=q), A.cumsum()),
    "take": (lambda a, b, i, q: cla.take(a, i, queue=q), A[WHERE]),
    "multi_take": (lambda a, b, i, q: cla.multi_take([a, b], i, queue=q)[1], B[WHERE]),
    "concatenate": (lambda a, b, i, q: cla.concatenate([a, b], queue=q), np.r_[A, B]),
    "stack": (lambda a, b, i, q: cla.stack([a, b], queue=q), np.stack([A, B])),
    "hstack": (lambda a, b, i, q: cla.hstack([a, b], queue=q), np.r_[A, B]),
    "diff": (lambda a, b, i, q: cla.diff(a, queue=q), np.diff(A)),
    "where": (lambda a, b, i, q: cla.where(b, a, b, queue=q), np.where(B, A, B)),
    "maximum": (lambda a, b, i, q: cla.maximum(a, b, queue=q), A),
    "logical_not": (lambda a, b, i, q: cla.logical_not(b, queue=q), B == 0),
    "copy": (lambda a, b, i, q: a.copy(queue=q), A),
    "astype": (lambda a, b, i, q: a.astype(np.int16, queue=q), A.astype(np.int16)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arrays_without_a_queue(queue: Any, name: str) -> None:
    """They are used on the queue that a function is given, which is the result's."""
    other = cl.CommandQueue(queue.context)
    function, expected = FUNCTIONS[name]
    a, b, i = (cla.to_device(queue, x).with_queue(None) for x in (A, B, WHERE))
    result = function(a, b, i, other)
    assert result.queue is other
    if expected is None:
        np.testing.assert_allclose(result.get(), A.astype(float) @ B, rtol=1e-5)
    else:
        np.testing.assert_array_equal(result.get(), expected)
    with pytest.raises(ValueError, match="the array has no queue"):
        function(a, b, i, None)


def test_private_methods_that_packages_call(queue: Any) -> None:
    """Those of PyOpenCL's Array by which packages make arrays like another one."""
    array = cla.to_device(queue, np.arange(12, dtype=np.float32).reshape(3, 4))
    empty = array._new_with_changes(data=None, offset=0, shape=(0,), strides=(4,))
    assert empty.shape == (0,) and empty.dtype == np.float32 and empty.queue is queue
    count = array._new_with_changes(data=None, offset=0, shape=(), strides=(), dtype=np.uint64)
    assert count.shape == () and count.dtype == np.uint64
    part = array._new_with_changes(array.base_data, 16, shape=(2,))
    assert part.get().tolist() == [4, 5] and part.events is array.events
    bare = array.T._new_with_changes(array.base_data, None, queue=None)
    assert bare.queue is None and (bare.with_queue(queue).get() == array.get().T).all()
    array._zero_fill()
    assert part.get().tolist() == [0, 0]


def test_put_without_a_queue(queue: Any) -> None:
    a, i = (cla.to_device(queue, x).with_queue(None) for x in (A[:3], WHERE))
    for result in (
        cla.multi_put([a], i, (N,), queue=queue)[0],
        cla.multi_take_put([a], i, cla.arange(queue, 3, dtype=WHERE.dtype), (N,), queue=queue)[0],
    ):
        np.testing.assert_array_equal(result.get()[WHERE], A[:3])
    b = cla.to_device(queue, A).with_queue(None)
    b.setitem(cla.to_device(queue, WHERE), 5, queue=queue)
    assert (b.get(queue)[WHERE] == 5).all()
    with pytest.raises(ValueError, match="the array has no queue"):
        b[a.astype(np.int64, queue=queue).with_queue(None)]


def test_wait_for(queue: Any, late: Late) -> None:
    """What a function is told to wait for, it waits for."""
    a = cla.to_device(queue, A)
    cl.enqueue_copy(late.queue, a.data, A + 1, is_blocking=False)
    done = cl.enqueue_marker(late.queue)
    late.queue.flush()
    late._timer.start()
    result = cla.cumsum(a, wait_for=[done])
    np.testing.assert_array_equal(result.get(), (A + 1).cumsum())


def test_wait_for_in_any(queue: Any, late: Late) -> None:
    a = cla.to_device(queue, A)
    cl.enqueue_copy(late.queue, a.data, A * 0, is_blocking=False)
    done = cl.enqueue_marker(late.queue)
    late.queue.flush()
    late._timer.start()
    assert not a.any(queue, [done]).get()


@pytest.mark.parametrize("given", [False, True], ids=["in order", "out of order"])
@pytest.mark.parametrize("what", ["elementwise", "scan", "reduction", "random", "sorted lists"])
def test_generated_kernels(queue: Any, late: Late, what: str, given: bool) -> None:
    """What a kernel wrote on the queue that it was given is waited for on the array's own."""
    context, there = queue.context, late.queue
    if given:
        mode = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
        if not queue.device.queue_properties & mode:
            pytest.skip("the device has no queues out of order")
        there = cl.CommandQueue(context, properties=mode)
    a = cla.to_device(queue, A)
    a.with_queue(late.queue)[:] += 1  # any queue has to wait for the late one now
    out = cla.zeros(queue, N, np.float32)
    if what == "elementwise":
        from pygpu.elementwise import ElementwiseKernel

        ElementwiseKernel(context, "float *z, float *x", "z[i] = 2 * x[i]")(out, a, queue=there)
        expected = 2 * (A + 1)
    elif what == "scan":
        from pygpu.scan import InclusiveScanKernel

        InclusiveScanKernel(context, np.float32, "a + b")(a, out, queue=there)
        expected = (A + 1).cumsum()
    elif what == "reduction":
        from pygpu.reduction import ReductionKernel

        add = ReductionKernel(context, np.float32, "0", "a + b", "x[i]", "float *x")
        out, expected = add(a, queue=there), (A + 1).sum()
    elif what == "random":
        from pygpu.clrandom import PhiloxGenerator

        PhiloxGenerator(context).fill_uniform(a, 5, 6, queue=there)
        out, expected = a.astype(np.int32), np.full(N, 5)
    else:
        from pygpu.algorithm import KeyValueSorter

        keys = cla.to_device(queue, np.arange(N, dtype=np.int32)[::-1].copy())
        late._timer.start()  # it looks at indices meanwhile
        out, expected = KeyValueSorter(context)(there, keys, a, N, np.int32)[1], A[::-1] + 1
    if what != "sorted lists":
        late._timer.start()
    np.testing.assert_array_equal((out.with_queue(queue) * 1).get(), expected)
