"""Mapped buffers as arrays: modes, shapes, strides, dtypes, and what is left after unmapping."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opencl.memory_helpers import becomes

import pygpu as cl
from pygpu import _opencl

mf = cl.mem_flags
flags = cl.map_flags


@pytest.fixture(scope="module")
def queue(ctx):
    return cl.CommandQueue(ctx)


def filled(ctx, n=256):
    host = (np.arange(n) % 251).astype(np.uint8)
    return cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=host), host


def contents(queue, buffer):
    result = np.empty(buffer.size, np.uint8)
    cl.enqueue_copy(queue, result, buffer)
    return result


@pytest.mark.parametrize(
    "dtype",
    [
        "?",
        "i1",
        "u2",
        "i4",
        "f4",
        "f8",
        "c16",
        "g",
        ">i4",
        "V7",
        "S5",
        "M8[s]",
        [("a", "u1"), ("b", "f8")],
    ],
    ids=str,
)
@pytest.mark.parametrize("shape", [(), 5, (5,), (2, 3), (2, 1, 3), [4], np.int64(3)], ids=str)
@pytest.mark.parametrize("order", ["C", "F"])
def test_reading(ctx, queue, dtype, shape, order):
    dtype = np.dtype(dtype)
    buffer, host = filled(ctx, 1024)
    for offset in (0, 8, 64):
        array, event = cl.enqueue_map_buffer(queue, buffer, flags.READ, offset, shape, dtype, order)
        assert isinstance(event, cl.Event) and event.command_execution_status == 0
        assert array.dtype == dtype and array.shape == tuple(np.atleast_1d(shape).tolist())
        expected = np.ndarray(array.shape, dtype, host, offset, order=order)
        assert array.strides == expected.strides
        assert array.tobytes() == expected.tobytes()
        assert not array.flags.writeable
        assert isinstance(array.base, cl.MemoryMap)
        array.base.release(queue).wait()


@pytest.mark.parametrize(
    "mode", [flags.WRITE, flags.WRITE_INVALIDATE_REGION, flags.READ | flags.WRITE]
)
def test_writing(ctx, device, queue, mode):
    if mode == flags.WRITE_INVALIDATE_REGION and "OpenCL 1.1" in device.version:
        pytest.skip("WRITE_INVALIDATE_REGION is of OpenCL 1.2")
    buffer, host = filled(ctx)
    array, _ = cl.enqueue_map_buffer(queue, buffer, mode, 16, (4, 5), np.float32)
    assert array.flags.writeable
    array[...] = np.arange(20).reshape(4, 5)
    del array
    result = contents(queue, buffer)
    assert (result[16:96].view(np.float32) == np.arange(20)).all()
    assert (result[:16] == host[:16]).all() and (result[96:] == host[96:]).all()


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_strides_and_offsets(ctx, queue, data):
    buffer, host = filled(ctx, 2000)
    item = data.draw(st.sampled_from([1, 2, 4, 8]))
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    strides = [data.draw(st.integers(0, 60)) for _ in shape]
    offset = data.draw(st.integers(0, 100))
    dtype = np.dtype(f"u{item}")
    array, _ = cl.enqueue_map_buffer(
        queue, buffer, flags.READ, offset, shape, dtype, strides=strides
    )
    expected = np.ndarray(shape, dtype, host, offset, strides)
    assert array.strides == tuple(strides)
    assert (array == expected).all()


def test_the_end_of_the_buffer(ctx, queue):
    buffer, host = filled(ctx, 100)
    for offset, shape, dtype, strides in [
        (0, 100, "u1", None),
        (99, 1, "u1", None),
        (60, (2, 5), "f4", None),
        (0, (2, 1), "u1", (99, 1)),
        (92, (), "f8", None),
    ]:
        array, _ = cl.enqueue_map_buffer(
            queue, buffer, flags.READ, offset, shape, dtype, strides=strides
        )
        array.base.release()
    for offset, shape, dtype, strides in [
        (0, 101, "u1", None), (100, 1, "u1", None), (101, 1, "u1", None), (61, (2, 5), "f4", None),
        (0, (2, 1), "u1", (100, 1)), (93, (), "f8", None), (2**63 - 1, 1, "u1", None),
        (2**63 - 1, 2, "u1", None), (0, 2**62, "u1", None), (0, (2**31, 2**31), "u1", None),
        (0, (2**40, 2**40), "u1", None), (0, 2, "u1", (2**63 - 1,)),
        (0, (3, 3), "u1", (2**62, 2**62)), (0, (2**62,), "f8", None),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match="enqueue_map_buffer"):
            cl.enqueue_map_buffer(queue, buffer, flags.READ, offset, shape, dtype, strides=strides)
    queue.finish()
    assert buffer.map_count == 0


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"shape": 0}, ValueError), ({"shape": (3, 0)}, ValueError), ({"shape": -1}, ValueError),
        ({"shape": "3"}, TypeError), ({"shape": None}, TypeError), ({"shape": 1.0}, TypeError),
        ({"shape": (1,) * 40}, ValueError), ({"shape": (2**64,)}, OverflowError),
        ({"dtype": "nonsense"}, TypeError), ({"dtype": object}, TypeError),
        ({"dtype": [("a", "O")]}, TypeError), ({"order": "A"}, ValueError),
        ({"order": 3}, ValueError), ({"strides": (1, 2)}, ValueError),
        ({"strides": (-4,)}, ValueError), ({"strides": "a"}, TypeError),
        ({"offset": -1}, ValueError), ({"offset": 1.0}, TypeError),
        ({"offset": 2**64}, OverflowError), ({"flags": -1}, OverflowError),
        ({"flags": "READ"}, TypeError), ({"flags": None}, TypeError), ({"buf": None}, TypeError),
        ({"buf": np.zeros(4)}, TypeError), ({"queue": None}, TypeError),
        ({"wait_for": 3}, TypeError), ({"dtype": "S0"}, ValueError),
    ],
    ids=str,
)  # fmt: skip
def test_wrong_shapes_strides_and_flags_are_refused(ctx, queue, change, error):
    buffer, _ = filled(ctx)
    arguments = {
        "queue": queue,
        "buf": buffer,
        "flags": flags.READ,
        "offset": 0,
        "shape": (4,),
        "dtype": np.float32,
        **change,
    }
    with pytest.raises(error):
        cl.enqueue_map_buffer(**arguments)
    assert buffer.map_count == 0


def test_other_objects(ctx, device, queue):
    buffer, _ = filled(ctx)
    foreign = cl.Buffer(cl.Context([device]), mf.READ_WRITE, 16)
    with pytest.raises(cl.LogicError, match="another context"):
        cl.enqueue_map_buffer(queue, foreign, flags.READ, 0, 4, np.uint8)
    array, _ = cl.enqueue_map_buffer(queue, buffer, flags.READ, 0, 4, np.uint8)
    with pytest.raises(cl.LogicError, match="another context"):
        array.base.release(cl.CommandQueue(foreign.context))
    with pytest.raises(TypeError, match="queue"):
        array.base.release(3)
    with pytest.raises(TypeError):
        array.base.release(queue, 3)
    array.base.release(None, None)
    buffer.release()
    with pytest.raises(cl.LogicError, match="released"):
        cl.enqueue_map_buffer(queue, buffer, flags.READ, 0, 4, np.uint8)
    with pytest.raises(TypeError):
        cl.MemoryMap()


# ---- unmapping


def test_map_count(ctx, queue):
    buffer, _ = filled(ctx)
    arrays = [cl.enqueue_map_buffer(queue, buffer, flags.READ, k, 4, np.uint8)[0] for k in range(3)]
    queue.finish()
    assert buffer.map_count == 3
    arrays.pop()
    queue.finish()
    assert buffer.map_count == 2
    arrays[0].base.release().wait()
    assert becomes(lambda: buffer.map_count == 1)  # some drivers count a little later
    with arrays[1].base:
        pass
    queue.finish()
    assert buffer.map_count == 0


def test_after_release_the_array_is_empty(ctx, queue):
    buffer, host = filled(ctx)
    array, _ = cl.enqueue_map_buffer(queue, buffer, flags.READ | flags.WRITE, 0, (4, 4), np.uint8)
    memory_map = array.base
    assert memory_map.release().command_type == cl.command_type.UNMAP_MEM_OBJECT
    assert array.size == 0 and array.tolist() == []
    array[...] = 9  # writes nothing
    with pytest.raises(cl.LogicError, match="already unmapped"):
        memory_map.release()
    scalar, _ = cl.enqueue_map_buffer(queue, buffer, flags.READ | flags.WRITE, 5, (), np.uint8)
    assert scalar == 5
    scalar.base.release()
    scalar[...] = 77
    assert (contents(queue, buffer) == host).all()


def test_views_keep_the_mapping(ctx, queue):
    buffer, host = filled(ctx)
    array, _ = cl.enqueue_map_buffer(queue, buffer, flags.READ | flags.WRITE, 0, 256, np.uint8)
    view = array[10:20][::2]
    gone = weakref.ref(array.base)
    del array
    gc.collect()
    assert gone() is not None
    view[...] = 200
    del view
    gc.collect()
    assert gone() is None
    host[10:20:2] = 200
    assert (contents(queue, buffer) == host).all()


def test_views_taken_before_a_release_do_not_crash(ctx, queue):
    buffer, _ = filled(ctx)
    array, _ = cl.enqueue_map_buffer(queue, buffer, flags.READ | flags.WRITE, 0, 256, np.uint8)
    view = array[3:]
    array.base.release().wait()
    view.sum()
    del array, view


def test_context_manager(ctx, queue):
    buffer, host = filled(ctx)
    array, _ = cl.enqueue_map_buffer(queue, buffer, flags.WRITE, 0, 4, np.uint8)
    with array.base as memory_map:
        assert memory_map is array.base
        array[:] = 7
    assert contents(queue, buffer)[:4].tolist() == [7] * 4
    array, _ = cl.enqueue_map_buffer(queue, buffer, flags.WRITE, 0, 4, np.uint8)
    with pytest.raises(KeyError):
        with array.base:
            raise KeyError
    with array.base:  # a second time does nothing
        pass
    queue.finish()
    assert buffer.map_count == 0
    with pytest.raises(cl.LogicError):
        array.base.release()


def test_release_on_another_queue_after_events(ctx, queue):
    buffer, _ = filled(ctx)
    array, mapped = cl.enqueue_map_buffer(queue, buffer, flags.WRITE, 0, 4, np.uint8)
    array[:] = 8
    other = cl.CommandQueue(ctx)
    gate = cl.UserEvent(ctx)
    event = array.base.release(other, [gate, mapped])
    other.flush()
    assert event.command_execution_status > 0
    gate.set_status(0)
    event.wait()
    assert contents(other, buffer)[:4].tolist() == [8] * 4


@pytest.mark.parametrize("how", ["release", "drop"])
def test_buffer_released_while_mapped(ctx, queue, how, balance):
    """The mapping has a reference of its own."""
    n = 1 << 24
    buffer = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.full(n, 3, np.uint8))
    array, event = cl.enqueue_map_buffer(queue, buffer, flags.READ | flags.WRITE, 0, n, np.uint8)
    view = array[1:]
    buffer.release()
    queue.finish()
    assert array.sum(dtype=np.int64) == 3 * n
    if how == "release":
        array.base.release().wait()
        view[:] = 0
    del array, event, view
    gc.collect()


def test_out_of_order_mapping_that_is_dropped_at_once(ctx, device, balance):
    """It must not be unmapped before it is mapped."""
    wanted = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    if not device.queue_properties & wanted:
        pytest.skip("the device has no out-of-order queues")
    own = cl.CommandQueue(ctx, properties=wanted)
    buffer, host = filled(ctx)
    gate = cl.UserEvent(ctx)
    cl.enqueue_map_buffer(
        own, buffer, flags.READ, 0, 256, np.uint8, wait_for=[gate], is_blocking=False
    )
    own.flush()
    gate.set_status(0)
    own.finish()
    assert buffer.map_count == 0
    del gate


@pytest.mark.parametrize("blocking", [False, True])
def test_mapping_that_fails(ctx, queue, blocking):
    buffer, host = filled(ctx)
    own = cl.CommandQueue(ctx)
    gate = cl.UserEvent(ctx)
    if blocking:
        threading.Timer(0.1, gate.set_status, [-1]).start()
        with pytest.raises(cl.Error):
            cl.enqueue_map_buffer(own, buffer, flags.READ, 0, 256, np.uint8, wait_for=[gate])
    else:
        array, event = cl.enqueue_map_buffer(
            own, buffer, flags.READ, 0, 256, np.uint8, wait_for=[gate], is_blocking=False
        )
        gate.set_status(-1)
        with pytest.raises(cl.Error):
            event.wait()
        del array, event
    gc.collect()
    own.finish()
    assert (contents(queue, buffer) == host).all()


def test_buffer_dropped_while_mapped(ctx, queue, balance):
    buffer, host = filled(ctx)
    array, event = cl.enqueue_map_buffer(queue, buffer, flags.READ, 0, 256, np.uint8)
    del buffer
    gc.collect()
    assert (array == host).all()
    del array, event


# ---- without waiting


def test_not_blocking(ctx, queue):
    buffer, host = filled(ctx)
    gate = cl.UserEvent(ctx)
    array, event = cl.enqueue_map_buffer(
        queue, buffer, flags.READ, 0, 256, np.uint8, wait_for=[gate], is_blocking=False
    )
    queue.flush()
    assert event.command_execution_status > 0
    gate.set_status(0)
    event.wait()
    assert (array == host).all()


def test_dropped_before_it_was_mapped(ctx, queue):
    buffer, host = filled(ctx)
    gate = cl.UserEvent(ctx)
    cl.enqueue_map_buffer(
        queue, buffer, flags.READ, 0, 256, np.uint8, wait_for=[gate], is_blocking=False
    )
    gc.collect()
    gate.set_status(0)
    queue.finish()
    assert buffer.map_count == 0


def test_blocking_lets_other_threads_run(ctx, queue):
    buffer, host = filled(ctx)
    gate = cl.UserEvent(ctx)
    threading.Timer(0.1, gate.set_status, [0]).start()
    array, _ = cl.enqueue_map_buffer(queue, buffer, flags.READ, 0, 256, np.uint8, wait_for=[gate])
    assert (array == host).all()


def test_kernels_see_what_was_written(ctx, queue):
    program = cl.Program(
        ctx, "__kernel void twice(__global int *a) { a[get_global_id(0)] *= 2; }"
    ).build()
    buffer = cl.Buffer(ctx, mf.READ_WRITE | mf.ALLOC_HOST_PTR, 400)
    for k in range(5):
        array, _ = cl.enqueue_map_buffer(queue, buffer, flags.WRITE, 0, 100, np.int32)
        array[:] = np.arange(100) + k
        array.base.release()
        program.twice(queue, (100,), None, buffer)
        array, _ = cl.enqueue_map_buffer(queue, buffer, flags.READ, 0, 100, np.int32)
        assert (array == 2 * (np.arange(100) + k)).all()
        del array


def test_use_host_ptr_memory_is_mapped_in_place(ctx, queue):
    raw = np.zeros(4096 + 64, np.uint8)
    start = -raw.ctypes.data % 64
    host = raw[start : start + 4096]
    host[:] = 3
    buffer = cl.Buffer(ctx, mf.READ_WRITE | mf.USE_HOST_PTR, hostbuf=host)
    array, _ = cl.enqueue_map_buffer(queue, buffer, flags.READ | flags.WRITE, 0, 4096, np.uint8)
    assert (array == 3).all()
    array[:] = 4
    assert (host == 4).all()
    assert array.ctypes.data == host.ctypes.data


# ---- failures of the driver


def test_driver_failures(ctx, queue):
    buffer, host = filled(ctx)
    gc.collect()
    before = _opencl._handle_counts()
    for code, error, times in [
        (-12, cl.Error, 1),
        (-30, cl.LogicError, 1),
        (-4, cl.MemoryError, 2),
    ]:
        _opencl._fault("clEnqueueMapBuffer", code, 1, times)
        try:
            with pytest.raises(error) as caught:
                cl.enqueue_map_buffer(queue, buffer, flags.READ, 0, 256, np.uint8)
        finally:
            _opencl._fault(None, 0)
        assert caught.value.code == code and caught.value.routine == "clEnqueueMapBuffer"
        del caught
    array, event = cl.enqueue_map_buffer(queue, buffer, flags.READ, 0, 256, np.uint8)
    _opencl._fault("clEnqueueUnmapMemObject", -5)
    try:
        with pytest.raises(cl.Error):
            array.base.release()
    finally:
        _opencl._fault(None, 0)
    assert (array == host).all()  # still mapped
    array.base.release()
    del array, event
    queue.finish()
    after = _opencl._handle_counts()  # out of memory, pools of other tests' arrays give back theirs
    assert not {kind: n for kind, n in after.items() if n > before.get(kind, 0)}
    assert buffer.map_count == 0


class ReleasesInACycle:
    """Garbage that releases a buffer when it is collected."""

    def __init__(self, buffer):
        self.buffer, self.cycle = buffer, self

    def __del__(self):
        self.buffer.release()


@pytest.mark.parametrize("blocking", [True, False])
def test_released_in_the_middle_of_the_call(ctx, queue, blocking):
    """For want of memory the call collects garbage and tries again; meanwhile the buffer goes."""
    buffer, host = filled(ctx)
    other = cl.Buffer.from_int_ptr(buffer.int_ptr)
    gc.collect()
    before = _opencl._handle_counts()
    ReleasesInACycle(buffer)
    _opencl._fault("clEnqueueMapBuffer", -4, 1, 1)
    try:
        with pytest.raises(cl.LogicError, match="released"):
            cl.enqueue_map_buffer(queue, buffer, flags.READ, 0, 256, np.uint8, is_blocking=blocking)
    finally:
        _opencl._fault(None, 0)
    queue.finish()
    assert other.map_count == 0
    assert (contents(queue, other) == host).all()
    after = _opencl._handle_counts()
    assert after == before | {"mem": before["mem"] - 1}
