"""Events: places in streams, times, waiting."""

import ctypes
from ctypes import byref

import numpy as np
import pytest
from simulator.sim_driver import INVALID_HANDLE, INVALID_VALUE, NOT_READY, fails
from simulator.test_stream import Gate


def elapsed(cuda, start, end):
    out = ctypes.c_float()
    cuda.cuEventElapsedTime(byref(out), start, end)
    return out.value


def test_an_event_is_done_when_its_stream_gets_there(cuda, kernels):
    stream, event = cuda.stream(), cuda.event()
    cuda.cuEventQuery(event)  # never recorded: done
    cuda.cuEventSynchronize(event)
    gate = Gate(cuda, kernels, stream)
    cuda.cuEventRecord(event, stream)
    assert cuda.status("cuEventQuery", event) == NOT_READY
    gate.open()
    cuda.cuEventSynchronize(event)
    cuda.cuEventQuery(event)


def test_recording_again_replaces_the_first_recording(cuda, kernels):
    a, b, event = cuda.stream(1), cuda.stream(1), cuda.event()
    gate = Gate(cuda, kernels, a)
    cuda.cuEventRecord(event, a)
    cuda.cuEventRecord(event, b)
    cuda.cuEventSynchronize(event)
    assert cuda.status("cuStreamQuery", a) == NOT_READY
    gate.open()


def test_a_wait_means_the_recording_before_it(cuda, kernels):
    a, b, event = cuda.stream(1), cuda.stream(1), cuda.event()
    cuda.cuEventRecord(event, a)
    cuda.cuStreamSynchronize(a)
    cuda.cuStreamWaitEvent(b, event, 0)
    gate = Gate(cuda, kernels, a)
    cuda.cuEventRecord(event, a)  # too late for b
    cuda.cuStreamSynchronize(b)
    gate.open()


def test_streams_wait_for_events(cuda, kernels):
    a, b, event = cuda.stream(1), cuda.stream(1), cuda.event(2)
    value = cuda.to_device(np.zeros(1, "i4"))
    gate = Gate(cuda, kernels, a)
    cuda.launch(kernels.plus, 1, 1, value, np.int32(3), np.int32(1), stream=a)
    cuda.cuEventRecord(event, a)
    cuda.cuStreamWaitEvent(b, event, 0)
    assert cuda.status("cuStreamQuery", b) == NOT_READY
    cuda.launch(kernels.scale, 1, 1, value, np.int32(10), np.int32(1), stream=b)
    gate.open()
    cuda.cuStreamSynchronize(b)
    assert cuda.from_device(value, 1, "i4")[0] == 30


def test_a_chain_through_many_streams(cuda, kernels):
    streams = [cuda.stream(1) for _ in range(50)]
    events = [cuda.event(2) for _ in streams]
    value = cuda.to_device(np.zeros(1, "i4"))
    gate = Gate(cuda, kernels, streams[0])
    expected = 0
    for i, stream in enumerate(streams):
        if i:
            cuda.cuStreamWaitEvent(stream, events[i - 1], 0)
        cuda.launch(kernels.scale, 1, 1, value, np.int32(3), np.int32(1), stream=stream)
        cuda.launch(kernels.plus, 1, 1, value, np.int32(i), np.int32(1), stream=stream)
        cuda.cuEventRecord(events[i], stream)
        expected = expected * 3 + i
    gate.open()
    cuda.cuEventSynchronize(events[-1])
    out = np.array(expected % 2**32, "u4").astype("i4")
    assert cuda.from_device(value, 1, "i4")[0] == out


def test_across_contexts(cuda, kernels):
    stream, event = cuda.stream(), cuda.event()
    gate = Gate(cuda, kernels, stream)
    cuda.cuEventRecord(event, stream)
    other = cuda.get("cuCtxCreate", 0, 0)
    theirs = cuda.stream()
    cuda.cuStreamWaitEvent(theirs, event, 0)
    assert cuda.status("cuStreamQuery", theirs) == NOT_READY
    fails(INVALID_HANDLE, cuda.cuEventRecord, event, theirs)
    gate.open()
    cuda.cuStreamSynchronize(theirs)
    cuda.cuCtxDestroy(other)


def test_times(cuda, kernels):
    stream, events = cuda.stream(), [cuda.event() for _ in range(3)]
    cuda.cuEventRecord(events[0], stream)
    gate = Gate(cuda, kernels, stream)
    cuda.cuEventRecord(events[1], stream)
    assert fails(NOT_READY, elapsed, cuda, events[0], events[1])
    gate.open()
    cuda.cuEventRecord(events[2], stream)
    cuda.cuEventSynchronize(events[2])
    first, second = elapsed(cuda, *events[:2]), elapsed(cuda, *events[1:])
    assert first > 0 and second >= 0
    assert elapsed(cuda, events[0], events[2]) == pytest.approx(first + second, rel=1e-3)
    assert elapsed(cuda, events[2], events[0]) == -elapsed(cuda, events[0], events[2])
    assert elapsed(cuda, events[0], events[0]) == 0


def test_times_that_are_none(cuda):
    recorded, untimed, never = cuda.event(), cuda.event(2), cuda.event()
    cuda.cuEventRecord(recorded, None)
    cuda.cuEventRecord(untimed, None)
    cuda.cuCtxSynchronize()
    assert "never recorded" in fails(INVALID_HANDLE, elapsed, cuda, recorded, never)
    assert "DISABLE_TIMING" in fails(INVALID_HANDLE, elapsed, cuda, untimed, recorded)
    fails(INVALID_VALUE, cuda.cuEventElapsedTime, None, recorded, recorded)


def test_flags(cuda):
    for flags in (0, 1, 2, 3, 6, 7):
        cuda.cuEventDestroy(cuda.event(flags))
    for flags in (4, 5, 8):
        fails(INVALID_VALUE, cuda.event, flags)


def test_a_destroyed_event_still_holds_those_that_wait(cuda, kernels):
    a, b, event = cuda.stream(1), cuda.stream(1), cuda.event()
    gate = Gate(cuda, kernels, a)
    cuda.cuEventRecord(event, a)
    cuda.cuStreamWaitEvent(b, event, 0)
    cuda.cuEventDestroy(event)
    cuda.cuStreamDestroy(a)
    assert cuda.status("cuStreamQuery", b) == NOT_READY
    gate.open()
    cuda.cuStreamSynchronize(b)
