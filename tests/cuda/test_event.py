"""Event: recording, waiting, times, other processes."""

import pickle
import threading
import time

import pytest

import pygpu.cuda.driver as cuda
from pygpu import _cuda

pytestmark = pytest.mark.usefixtures("context")


def test_methods_return_the_event(balance):
    event = cuda.Event()
    assert event.query() is True  # never recorded
    assert event.record() is event
    assert event.synchronize() is event
    assert event.query() is True
    assert repr(event).startswith("<pygpu.cuda.Event on device 0 at 0x")
    assert event.handle != 0


def test_times():
    stream = cuda.Stream()
    start, end = cuda.Event(), cuda.Event()
    start.record(stream)
    stream.synchronize()
    time.sleep(0.02)
    end.record(stream)
    end.synchronize()
    elapsed = start.time_till(end)
    assert 15 < elapsed < 10_000
    assert end.time_since(start) == pytest.approx(elapsed, abs=1e-3)
    assert end.time_since(end) == 0


def test_times_whatever_is_current():
    start, end = cuda.Event().record(), cuda.Event().record()
    end.synchronize()
    elapsed = start.time_till(end)
    other = cuda.Device(0).make_context()
    try:
        assert start.time_till(end) == end.time_since(start) == elapsed
        with pytest.raises(cuda.LogicError, match="must have been recorded"):
            cuda.Event().time_till(cuda.Event())
    finally:
        other.detach()
    found = []
    thread = threading.Thread(target=lambda: found.append(start.time_till(end)))
    thread.start()
    thread.join()
    assert found == [elapsed]


def test_events_without_times():
    plain, quiet = cuda.Event(), cuda.Event(cuda.event_flags.DISABLE_TIMING)
    plain.record().synchronize()
    quiet.record().synchronize()
    with pytest.raises(cuda.LogicError, match="DISABLE_TIMING"):
        plain.time_till(quiet)
    with pytest.raises(cuda.LogicError, match="recorded"):
        plain.time_till(cuda.Event())


@pytest.mark.parametrize("wrong", [None, 1, "x"])
def test_wrong_arguments(wrong):
    event = cuda.Event()
    for call in (event.time_since, event.time_till):
        with pytest.raises(TypeError, match="event"):
            call(wrong)
    if wrong is not None and wrong != 1:
        with pytest.raises(TypeError):
            cuda.Event(wrong)


def test_flags_that_the_driver_refuses(balance):
    with pytest.raises(cuda.LogicError, match="cuEventCreate"):
        cuda.Event(1 << 20)


def test_not_pickled():
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(cuda.Event())


def test_handles_of_other_processes_are_checked(balance):
    for wrong in (b"", bytes(63), bytes(65)):
        with pytest.raises(cuda.LogicError, match="64"):
            cuda.Event.from_ipc_handle(wrong)
    with pytest.raises(TypeError):
        cuda.Event.from_ipc_handle(5)
    with pytest.raises(cuda.Error):
        cuda.Event.from_ipc_handle(bytes(64))


def test_ipc_needs_an_event_made_for_it():
    with pytest.raises(cuda.Error):
        cuda.Event().ipc_handle()


@pytest.mark.parametrize(
    "call", ["cuEventCreate", "cuEventRecord", "cuEventQuery", "cuEventElapsedTime"]
)
def test_failures_of_the_driver(call, balance):
    event = cuda.Event().record().synchronize()
    _cuda._fault(call, 2)
    try:
        with pytest.raises(cuda.MemoryError, match=call):
            if call == "cuEventCreate":
                cuda.Event()
            elif call == "cuEventRecord":
                event.record()
            elif call == "cuEventQuery":
                event.query()
            else:
                event.time_since(event)
    finally:
        _cuda._fault(None, 0)
    event.record().synchronize()
