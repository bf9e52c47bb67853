"""What all memory objects share: release, handles, equality, lifetime."""

from __future__ import annotations

import gc
import inspect
import threading
import weakref

import numpy as np
import pytest

import pygpu as cl
from pygpu import _opencl

mf = cl.mem_flags


@pytest.fixture
def queue(ctx):
    return cl.CommandQueue(ctx)


@pytest.fixture
def buffer(ctx):
    return cl.Buffer(ctx, mf.READ_WRITE, 64)


def test_classes(buffer):
    assert isinstance(buffer, cl.MemoryObject) and isinstance(buffer, cl.MemoryObjectHolder)
    for kind in (cl.MemoryObjectHolder, cl.MemoryObject):
        with pytest.raises(TypeError):
            kind()


def test_release(ctx, buffer):
    before = _opencl._handle_counts()["mem"]
    buffer.release()
    assert _opencl._handle_counts()["mem"] == before - 1
    with pytest.raises(cl.LogicError, match="already released"):
        buffer.release()
    for name in [
        *(
            n
            for n, v in vars(cl.MemoryObjectHolder).items()
            if hasattr(v, "__get__") and not n.startswith("_")
        ),
        "int_ptr",
    ]:
        if name in ("get_info", "get_host_array", "from_int_ptr"):
            continue
        with pytest.raises(cl.LogicError, match="released"):
            getattr(buffer, name)
    with pytest.raises(cl.LogicError, match="released"):
        buffer.get_info(cl.mem_info.SIZE)
    with pytest.raises(cl.LogicError, match="released"):
        buffer.get_host_array(4, np.uint8)
    assert buffer.hostbuf is None
    assert repr(buffer) and hash(buffer) is not None and buffer == buffer


def test_released_objects_are_not_equal(ctx):
    a, b = cl.Buffer(ctx, mf.READ_WRITE, 4), cl.Buffer(ctx, mf.READ_WRITE, 4)
    a.release()
    b.release()
    assert a != b and a == a


def test_release_with_commands_in_flight(ctx, queue, balance):
    host = np.zeros(64, np.uint8)
    buffer = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.full(64, 5, np.uint8))
    gate = cl.UserEvent(ctx)
    event = cl.enqueue_copy(queue, host, buffer, is_blocking=False, wait_for=[gate])
    buffer.release()
    del buffer
    gate.set_status(0)
    event.wait()
    assert (host == 5).all()
    del event, gate


def test_equality_hash_and_handles(ctx, queue, buffer, balance):
    twin = cl.Buffer.from_int_ptr(buffer.int_ptr)
    assert twin == buffer and hash(twin) == hash(buffer) and twin is not buffer
    assert (
        type(twin) is cl.Buffer
        and twin.size == 64
        and twin.flags == mf.READ_WRITE
        and twin.context == ctx
    )
    for kind in (cl.MemoryObject, cl.MemoryObjectHolder):
        assert type(kind.from_int_ptr(buffer.int_ptr)) is cl.Buffer
    other = cl.Buffer(ctx, mf.READ_WRITE, 64)
    assert other != buffer and buffer != 3 and buffer != queue
    assert {buffer: 1}[twin] == 1
    buffer_count = buffer.reference_count
    del twin
    assert buffer.reference_count == buffer_count - 1
    for wrong, error in [
        (0, ValueError),
        (-1, OverflowError),
        (2**64, OverflowError),
        ("1", TypeError),
        (None, TypeError),
    ]:
        with pytest.raises(error):
            cl.Buffer.from_int_ptr(wrong)
    del other


def test_twins_know_what_their_object_knows(ctx):
    """Also once the object whose handle it was is gone, and another one has its place."""
    buffers = [cl.Buffer(ctx, mf.READ_ONLY, 64 * (i + 1)) for i in range(300)]
    handles = [b.int_ptr for b in buffers]
    twins = [cl.MemoryObject.from_int_ptr(handle) for handle in handles]
    for i in range(0, 300, 2):
        buffers[i].release()
    del buffers[1::4]
    for i, (handle, twin) in enumerate(zip(handles, twins, strict=True)):
        assert type(twin) is cl.Buffer and twin.context == ctx and twin.int_ptr == handle
        again = cl.Buffer.from_int_ptr(handle)
        assert again.size == twin.size == 64 * (i + 1)
        assert again.flags == twin.flags == mf.READ_ONLY
        assert again.get_info(cl.mem_info.SIZE) == twin.size
    del buffers, twins, twin, again
    smaller = [cl.Buffer(ctx, mf.READ_WRITE, 4) for _ in range(300)]  # handles come back
    assert {cl.Buffer.from_int_ptr(b.int_ptr).size for b in smaller} == {4}
    assert {cl.Buffer.from_int_ptr(b.int_ptr).flags for b in smaller} == {mf.READ_WRITE}
    region = cl.Buffer(ctx, mf.READ_WRITE, 1 << 16)[4096:8192]
    twin = cl.Buffer.from_int_ptr(region.int_ptr)
    assert twin.size == 4096 and twin.get_info(cl.mem_info.OFFSET) == 4096


def test_class_method_of_a_subclass(ctx, buffer):
    class Mine(cl.Buffer):
        pass

    look = [Mine.from_int_ptr, cl.Buffer.from_int_ptr, Mine.from_int_ptr, cl.Buffer.from_int_ptr]
    assert [type(f(buffer.int_ptr)) for f in look] == [Mine, cl.Buffer] * 2
    assert type(buffer.from_int_ptr(buffer.int_ptr)) is cl.Buffer
    assert "int_ptr_value" in str(inspect.signature(cl.Buffer.from_int_ptr))
    assert cl.Buffer.from_int_ptr.__name__ == "from_int_ptr" and cl.Buffer.from_int_ptr.__doc__
    gone = weakref.ref(Mine)
    del Mine, look
    gc.collect()
    assert gone() is None


def test_taking_over_a_reference(ctx):
    gc.collect()
    before = _opencl._handle_counts()["mem"]
    buffer = cl.Buffer(ctx, mf.READ_WRITE, 4)
    cl.Buffer.from_int_ptr(buffer.int_ptr)  # one for the call below to take over
    twin = cl.Buffer.from_int_ptr(buffer.int_ptr, True)
    assert buffer.reference_count == 2
    del twin
    assert buffer.reference_count == 1
    del buffer
    assert _opencl._handle_counts()["mem"] == before


def test_keeps_its_context(device):
    ctx = cl.Context([device])
    gone = weakref.ref(ctx)
    buffer = cl.Buffer(ctx, mf.READ_WRITE, 4)
    del ctx
    gc.collect()
    assert gone() is buffer.context
    del buffer
    gc.collect()
    assert gone() is None


def test_attributes_and_cycles(ctx):
    buffer = cl.Buffer(ctx, mf.READ_WRITE, 4)
    buffer.me = buffer
    gone = weakref.ref(buffer)
    del buffer
    gc.collect()
    assert gone() is None
    with pytest.raises(AttributeError):
        cl.Buffer(ctx, mf.READ_WRITE, 4).size = 8


def test_release_by_another_thread_while_it_is_used(ctx):
    """Whatever comes first, nothing crashes: the copy is made, or it raises."""
    host = np.zeros(1 << 20, np.uint8)
    for _ in range(100):
        queue, buffer = cl.CommandQueue(ctx), cl.Buffer(ctx, mf.READ_WRITE, 1 << 20)
        barrier = threading.Barrier(2)

        def release(buffer=buffer, barrier=barrier):
            barrier.wait()
            buffer.release()

        thread = threading.Thread(target=release)
        thread.start()
        barrier.wait()
        try:
            cl.enqueue_copy(queue, host, buffer)
        except cl.LogicError as error:
            assert "released" in str(error)
        thread.join()


def test_many_small_buffers(ctx):
    gc.collect()
    before = _opencl._handle_counts()["mem"]
    buffers = [cl.Buffer(ctx, mf.READ_WRITE, 16) for _ in range(5000)]
    assert len({b.int_ptr for b in buffers}) == 5000
    del buffers
    assert _opencl._handle_counts()["mem"] == before
