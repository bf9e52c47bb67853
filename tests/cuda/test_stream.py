"""Stream: order, events between streams, streams of other libraries."""

import gc
import pickle

import numpy as np
import pytest

import pygpu.cuda.driver as cuda
from pygpu import _cuda

pytestmark = pytest.mark.usefixtures("context")


def test_a_new_stream(balance):
    stream = cuda.Stream()
    assert stream.is_done() is True
    assert stream.synchronize() is None
    assert isinstance(stream.handle, int) and stream.handle != 0
    assert stream.__cuda_stream__() == (0, stream.handle)
    assert repr(stream).startswith("<pygpu.cuda.Stream on device 0 at 0x")
    assert stream.flags == 0
    assert cuda.Stream(cuda.stream_flags.NON_BLOCKING).flags == 1
    assert cuda.Stream(flags=np.uint8(1)).flags == 1


def test_priorities():
    least, greatest = cuda.Context.get_stream_priority_range()
    assert cuda.Stream(priority=greatest).priority == greatest
    assert cuda.Stream(priority=None).priority == 0
    with pytest.raises(TypeError):
        cuda.Stream(priority="high")
    with pytest.raises((ValueError, OverflowError)):
        cuda.Stream(priority=2**40)


@pytest.mark.parametrize("flags", [-1, 2**32, "x", 1.5, None])
def test_wrong_flags(flags):
    with pytest.raises((TypeError, ValueError, OverflowError)):
        cuda.Stream(flags)


def test_flags_that_the_driver_refuses(balance):
    with pytest.raises(cuda.LogicError, match="cuStreamCreate"):
        cuda.Stream(1 << 20)


def test_an_event_of_another_stream():
    first, second = cuda.Stream(), cuda.Stream()
    event = cuda.Event().record(first)
    second.wait_for_event(event)
    second.synchronize()
    for wrong in (None, 1, first):
        with pytest.raises(TypeError, match="event"):
            second.wait_for_event(wrong)


class ByProtocol:
    def __init__(self, handle):
        self._handle = handle

    def __cuda_stream__(self):
        return 0, self._handle


class ByAttribute:
    def __init__(self, handle):
        self.handle = handle


def test_streams_of_other_libraries():
    stream = cuda.Stream()
    for given in (
        None,
        stream,
        stream.handle,
        0,
        ByProtocol(stream.handle),
        ByAttribute(stream.handle),
        cuda.Stream.from_handle(stream.handle),
    ):
        assert cuda.Event().record(given).synchronize().query()
    for wrong in ("x", 1.5, object(), [stream], ByProtocol("x"), b"123"):
        with pytest.raises((TypeError, cuda.Error)):
            cuda.Event().record(wrong)
    with pytest.raises((ValueError, OverflowError)):
        cuda.Event().record(-5)
    for wild in (3, 7, 4096, 2**63 - 1):
        with pytest.raises(cuda.LogicError, match="not a CUstream"):
            cuda.Event().record(wild)
    for other in (cuda.Event(), cuda.Context.get_current(), cuda.Device(0)):  # which have handles
        with pytest.raises(TypeError, match="stream must be a Stream"):
            cuda.Event().record(other)


def test_the_object_of_a_stream_that_is_gone():
    """Synchronizing the context does not touch streams that others may have destroyed."""
    stream = cuda.Stream()
    other = cuda.Stream.from_handle(stream.handle)
    del stream
    cuda.Context.synchronize()
    del other


def test_from_handle_does_not_own():
    stream = cuda.Stream()
    other = cuda.Stream.from_handle(stream.handle)
    assert other == stream and hash(other) == hash(stream)
    del other
    gc.collect()
    stream.synchronize()


def test_equality():
    first, second = cuda.Stream(), cuda.Stream()
    assert first == first and first != second and first != first.handle


def test_many_streams(balance):
    streams = [cuda.Stream() for _ in range(200)]
    for stream in streams[::2]:
        cuda.Event().record(stream)
    cuda.Context.synchronize()
    del streams


def test_not_pickled():
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(cuda.Stream())


def test_subclass():
    class Named(cuda.Stream):
        pass

    named = Named()
    named.name = "copies"
    named.synchronize()


@pytest.mark.parametrize("call", ["cuStreamCreate", "cuStreamQuery", "cuStreamWaitEvent"])
def test_failures_of_the_driver(call, balance):
    stream, event = cuda.Stream(), cuda.Event()
    _cuda._fault(call, 2)
    try:
        with pytest.raises(cuda.MemoryError, match=call):
            if call == "cuStreamCreate":
                cuda.Stream()
            elif call == "cuStreamQuery":
                stream.is_done()
            else:
                stream.wait_for_event(event)
    finally:
        _cuda._fault(None, 0)
    stream.synchronize()
