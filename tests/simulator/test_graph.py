"""Graphs: capturing streams, launching, updating; what a capture forbids."""

import ctypes
import threading
from ctypes import byref

import numpy as np
import pytest
from simulator.sim_driver import (
    ILLEGAL_STATE,
    INVALID_VALUE,
    LEGACY,
    NOT_SUPPORTED,
    enum,
    fails,
)

(
    UNSUPPORTED,
    INVALIDATED,
    MERGE,
    UNMATCHED,
    UNJOINED,
    ISOLATION,
    IMPLICIT,
    CAPTURED_EVENT,
    WRONG_THREAD,
) = range(900, 909)
UPDATE_FAILURE = 910
GLOBAL, THREAD_LOCAL, RELAXED = range(3)
NODE = enum("graph_node_type")


@pytest.fixture
def stream(cuda):
    return cuda.stream(1)


@pytest.fixture
def value(cuda):
    return cuda.to_device(np.zeros(4, "i4"))


def read(cuda, value):
    return cuda.from_device(value, 4, "i4").tolist()


def capture(cuda, stream, work, mode=GLOBAL):
    cuda.cuStreamBeginCapture(stream, mode)
    work()
    graph = ctypes.c_void_p()
    cuda.cuStreamEndCapture(stream, byref(graph))
    return graph.value


def instantiate(cuda, graph, flags=0):
    return cuda.get("cuGraphInstantiateWithFlags", graph, flags)


def nodes(cuda, graph):
    n = ctypes.c_size_t()
    cuda.cuGraphGetNodes(graph, None, byref(n))
    room = (ctypes.c_void_p * (n.value + 1))()
    cuda.cuGraphGetNodes(graph, room, byref(n))
    return list(room[: n.value])


def types(cuda, graph):
    out = ctypes.c_int()
    found = []
    for node in nodes(cuda, graph):
        cuda.cuGraphNodeGetType(node, byref(out))
        found.append(out.value)
    return found


def status_of(cuda, stream):
    out = ctypes.c_int()
    cuda.cuStreamIsCapturing(stream, byref(out))
    return out.value


def test_what_is_captured_runs_when_launched(cuda, kernels, stream, value):
    host = np.zeros(4, "i4")
    cuda.cuMemHostRegister(host.ctypes.data, 16, 0)
    called = []
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(called.append)

    def work():
        assert status_of(cuda, stream) == 1
        cuda.launch(kernels.plus, 1, 4, value, np.int32(2), np.int32(4), stream=stream)
        cuda.launch(kernels.scale, 1, 4, value, np.int32(3), np.int32(4), stream=stream)
        cuda.cuMemsetD32Async(value, 1, 1, stream)
        cuda.cuMemcpyDtoHAsync(host.ctypes.data, value, 16, stream)
        cuda.cuLaunchHostFunc(stream, ctypes.cast(function, ctypes.c_void_p), 9)

    graph = capture(cuda, stream, work)
    assert status_of(cuda, stream) == 0
    assert types(cuda, graph) == [
        NODE["KERNEL"],
        NODE["KERNEL"],
        NODE["MEMSET"],
        NODE["MEMCPY"],
        NODE["HOST"],
    ]
    cuda.cuStreamSynchronize(stream)
    assert read(cuda, value) == [0, 0, 0, 0] and called == []
    ready = instantiate(cuda, graph)
    cuda.cuGraphDestroy(graph)
    fails(INVALID_VALUE, cuda.cuGraphDestroy, graph)
    cuda.cuGraphUpload(ready, stream)
    for _ in range(2):
        cuda.cuGraphLaunch(ready, stream)
    cuda.cuStreamSynchronize(stream)
    assert read(cuda, value) == [1, 24, 24, 24] and called == [9, 9]
    assert host.tolist() == [1, 24, 24, 24]
    cuda.cuGraphExecDestroy(ready)
    fails(INVALID_VALUE, cuda.cuGraphLaunch, ready, stream)


def test_arguments_are_those_of_the_capture(cuda, kernels, stream, value):
    term = np.int32(5)
    graph = capture(
        cuda,
        stream,
        lambda: cuda.launch(kernels.plus, 1, 4, value, term, np.int32(4), stream=stream),
    )
    ready = instantiate(cuda, graph)
    term = np.int32(100)
    cuda.cuGraphLaunch(ready, None)
    assert read(cuda, value) == [5] * 4


def test_a_graph_may_outlive_module_and_stream(cuda, kernels, value):
    stream = cuda.stream(1)
    graph = capture(
        cuda,
        stream,
        lambda: cuda.launch(kernels.plus, 1, 4, value, np.int32(5), np.int32(4), stream=stream),
    )
    cuda.cuStreamDestroy(stream)
    cuda.cuModuleUnload(kernels.module)
    ready = instantiate(cuda, graph)
    cuda.cuGraphLaunch(ready, None)
    cuda.cuGraphExecDestroy(ready)
    assert read(cuda, value) == [5] * 4


def test_capture_spreads_by_events(cuda, kernels, stream, value):
    other, fork, join = cuda.stream(1), cuda.event(2), cuda.event(2)

    def work():
        cuda.launch(kernels.plus, 1, 4, value, np.int32(1), np.int32(4), stream=stream)
        cuda.cuEventRecord(fork, stream)
        cuda.cuStreamWaitEvent(other, fork, 0)
        assert status_of(cuda, other) == 1
        cuda.launch(kernels.scale, 1, 2, value, np.int32(10), np.int32(2), stream=other)
        cuda.launch(kernels.scale, 1, 2, value + 8, np.int32(20), np.int32(2), stream=stream)
        cuda.cuEventRecord(join, other)
        cuda.cuStreamWaitEvent(stream, join, 0)
        cuda.launch(kernels.plus, 1, 4, value, np.int32(3), np.int32(4), stream=stream)

    graph = capture(cuda, stream, work)
    assert status_of(cuda, other) == 0
    assert len(nodes(cuda, graph)) == 4
    cuda.cuGraphLaunch(instantiate(cuda, graph), stream)
    cuda.cuStreamSynchronize(stream)
    assert read(cuda, value) == [13, 13, 23, 23]


def test_the_shape_is_printed(cuda, kernels, stream, value, tmp_path):
    def work():
        cuda.launch(kernels.plus, 1, 4, value, np.int32(1), np.int32(4), stream=stream)
        cuda.cuMemsetD32Async(value, 1, 1, stream)

    graph = capture(cuda, stream, work)
    path = tmp_path / "graph.dot"
    cuda.cuGraphDebugDotPrint(graph, str(path).encode(), 0)
    text = path.read_text()
    assert text.startswith("digraph") and "plus" in text and "n0 -> n1;" in text
    fails(304, cuda.cuGraphDebugDotPrint, graph, b"/nowhere/graph.dot", 0)


def test_clones_are_independent(cuda, kernels, stream, value):
    graph = capture(
        cuda,
        stream,
        lambda: cuda.launch(kernels.plus, 1, 4, value, np.int32(1), np.int32(4), stream=stream),
    )
    clone = ctypes.c_void_p()
    cuda.cuGraphClone(byref(clone), graph)
    old = nodes(cuda, graph)
    cuda.cuGraphDestroy(graph)
    fails(INVALID_VALUE, cuda.cuGraphNodeGetType, old[0], byref(ctypes.c_int()))
    assert types(cuda, clone) == [NODE["KERNEL"]]
    cuda.cuGraphLaunch(instantiate(cuda, clone), None)
    assert read(cuda, value) == [1] * 4


def test_an_empty_graph(cuda, stream):
    graph = cuda.get("cuGraphCreate", 0)
    assert nodes(cuda, graph) == []
    cuda.cuGraphLaunch(instantiate(cuda, graph), stream)
    cuda.cuStreamSynchronize(stream)
    fails(INVALID_VALUE, cuda.get, "cuGraphCreate", 1)
    fails(NOT_SUPPORTED, instantiate, cuda, graph, 4)
    fails(INVALID_VALUE, instantiate, cuda, graph, 1 << 20)


def test_graphs_in_graphs(cuda, kernels, stream, value):
    inner = instantiate(
        cuda,
        capture(
            cuda,
            stream,
            lambda: cuda.launch(kernels.plus, 1, 4, value, np.int32(1), np.int32(4), stream=stream),
        ),
    )

    def work():
        for _ in range(3):
            cuda.cuGraphLaunch(inner, stream)

    graph = capture(cuda, stream, work)
    assert types(cuda, graph) == [NODE["GRAPH"]] * 3
    cuda.cuGraphLaunch(instantiate(cuda, graph), stream)
    cuda.cuStreamSynchronize(stream)
    assert read(cuda, value) == [3] * 4


class TestUpdate:
    def graph(self, cuda, kernels, stream, value, terms):
        def work():
            for term in terms:
                if term is None:
                    cuda.cuMemsetD32Async(value, 0, 4, stream)
                else:
                    cuda.launch(
                        kernels.plus, 1, 4, value, np.int32(term), np.int32(4), stream=stream
                    )

        return capture(cuda, stream, work)

    def test_new_arguments(self, cuda, kernels, stream, value):
        ready = instantiate(cuda, self.graph(cuda, kernels, stream, value, [1, 2]))
        cuda.cuGraphLaunch(ready, stream)
        info = (ctypes.c_ulonglong * 3)(9, 9, 9)
        cuda.cuGraphExecUpdate(ready, self.graph(cuda, kernels, stream, value, [10, 20]), info)
        cuda.cuGraphLaunch(ready, stream)
        cuda.cuStreamSynchronize(stream)
        assert read(cuda, value) == [33] * 4
        assert info[0] & 0xFFFFFFFF == 0

    @pytest.mark.parametrize("terms, result", [([1], 2), ([1, 2, 3], 2), ([1, None], 3)])
    def test_another_shape(self, cuda, kernels, stream, value, terms, result):
        ready = instantiate(cuda, self.graph(cuda, kernels, stream, value, [1, 2]))
        info = (ctypes.c_ulonglong * 3)()
        other = self.graph(cuda, kernels, stream, value, terms)
        fails(UPDATE_FAILURE, cuda.cuGraphExecUpdate, ready, other, info)
        assert info[0] & 0xFFFFFFFF == result
        cuda.cuGraphLaunch(ready, stream)  # as it was
        cuda.cuStreamSynchronize(stream)
        assert read(cuda, value) == [3] * 4


class TestForbidden:
    """Each spoils the capture: its end says INVALIDATED."""

    def end(self, cuda, stream, code):
        graph = ctypes.c_void_p(5)
        assert cuda.status("cuStreamEndCapture", stream, byref(graph)) == code
        assert graph.value is None
        assert status_of(cuda, stream) == 0

    @pytest.mark.parametrize("mode", [GLOBAL, THREAD_LOCAL])
    def test_calls_that_would_wait_or_act_at_once(self, cuda, stream, value, mode):
        host = np.zeros(4, "i4")
        for call, args in [
            (cuda.cuCtxSynchronize, ()),
            (cuda.alloc, (4,)),
            (cuda.cuMemFree, (value,)),
            (cuda.cuMemcpyDtoH, (host.ctypes.data, value, 16)),
            (cuda.cuStreamSynchronize, (stream,)),
            (cuda.cuStreamQuery, (stream,)),
        ]:
            cuda.cuStreamBeginCapture(stream, mode)
            fails(UNSUPPORTED, call, *args)
            assert status_of(cuda, stream) == 2
            fails(INVALIDATED, cuda.cuMemsetD32Async, value, 0, 1, stream)
            self.end(cuda, stream, INVALIDATED)
        assert read(cuda, value) == [0] * 4

    def test_a_relaxed_capture_lets_them(self, cuda, stream):
        cuda.cuStreamBeginCapture(stream, RELAXED)
        cuda.cuMemFree(cuda.alloc(4))
        graph = ctypes.c_void_p()
        cuda.cuStreamEndCapture(stream, byref(graph))

    def test_other_threads(self, cuda, stream):
        answers = []

        def other():
            cuda.cuCtxSetCurrent(cuda.context)
            answers.append(cuda.status("cuMemAlloc", byref(ctypes.c_ulonglong()), 4))
            mode = ctypes.c_int(RELAXED)
            cuda.cuThreadExchangeStreamCaptureMode(byref(mode))
            assert mode.value == GLOBAL
            answers.append(cuda.status("cuMemAlloc", byref(ctypes.c_ulonglong()), 4))
            answers.append(cuda.status("cuStreamEndCapture", stream, byref(ctypes.c_void_p())))

        for mode, expected in ((GLOBAL, UNSUPPORTED), (THREAD_LOCAL, 0)):
            cuda.cuStreamBeginCapture(stream, mode)
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
            assert answers == [expected, 0, WRONG_THREAD]
            self.end(cuda, stream, INVALIDATED) if expected else cuda.cuStreamEndCapture(
                stream, byref(ctypes.c_void_p())
            )
            answers.clear()

    def test_the_default_stream(self, cuda, value):
        stream = cuda.stream()
        fails(UNSUPPORTED, cuda.cuStreamBeginCapture, None, GLOBAL)
        fails(UNSUPPORTED, cuda.cuStreamBeginCapture, LEGACY, GLOBAL)
        cuda.cuStreamBeginCapture(stream, RELAXED)
        fails(IMPLICIT, cuda.cuMemsetD32Async, value, 0, 1, None)
        self.end(cuda, stream, INVALIDATED)

    def test_joins_that_are_missing(self, cuda, stream, value):
        other, event = cuda.stream(1), cuda.event()
        cuda.cuStreamBeginCapture(stream, GLOBAL)
        cuda.cuEventRecord(event, stream)
        cuda.cuStreamWaitEvent(other, event, 0)
        fails(UNMATCHED, cuda.cuStreamEndCapture, other, byref(ctypes.c_void_p()))
        cuda.cuMemsetD32Async(value, 0, 1, other)
        self.end(cuda, stream, UNJOINED)
        assert status_of(cuda, other) == 0

    def test_two_captures_do_not_mix(self, cuda, stream):
        other, event, outside = cuda.stream(1), cuda.event(), cuda.event()
        cuda.cuEventRecord(outside, other)
        cuda.cuStreamBeginCapture(stream, RELAXED)
        cuda.cuStreamBeginCapture(other, RELAXED)
        fails(ILLEGAL_STATE, cuda.cuStreamBeginCapture, other, RELAXED)
        cuda.cuEventRecord(event, stream)
        fails(MERGE, cuda.cuStreamWaitEvent, other, event, 0)
        self.end(cuda, stream, INVALIDATED)
        self.end(cuda, other, INVALIDATED)
        cuda.cuStreamBeginCapture(stream, GLOBAL)
        fails(ISOLATION, cuda.cuStreamWaitEvent, stream, outside, 0)
        self.end(cuda, stream, INVALIDATED)

    def test_captured_events(self, cuda, stream):
        event = cuda.event()
        cuda.cuStreamBeginCapture(stream, RELAXED)
        cuda.cuEventRecord(event, stream)
        fails(CAPTURED_EVENT, cuda.cuEventQuery, event)
        fails(CAPTURED_EVENT, cuda.cuEventSynchronize, event)
        cuda.cuStreamEndCapture(stream, byref(ctypes.c_void_p()))
        fails(CAPTURED_EVENT, cuda.cuStreamWaitEvent, cuda.stream(), event, 0)
        cuda.cuEventRecord(event, stream)
        cuda.cuEventSynchronize(event)

    def test_memory_of_streams(self, cuda, stream, value):
        cuda.cuStreamBeginCapture(stream, RELAXED)
        fails(NOT_SUPPORTED, cuda.cuMemAllocAsync, byref(ctypes.c_ulonglong()), 4, stream)
        self.end(cuda, stream, INVALIDATED)

    def test_nothing_to_end(self, cuda, stream):
        fails(ILLEGAL_STATE, cuda.cuStreamEndCapture, stream, byref(ctypes.c_void_p()))
        fails(INVALID_VALUE, cuda.cuStreamBeginCapture, stream, 3)

    def test_destroying_a_captured_stream_ends_the_capture(self, cuda):
        stream = cuda.stream()
        cuda.cuStreamBeginCapture(stream, GLOBAL)
        cuda.cuStreamDestroy(stream)
        cuda.cuCtxSynchronize()

    def test_destroying_the_context_ends_it_too(self, driver):
        context = driver.get("cuCtxCreate", 0, 0)
        driver.cuStreamBeginCapture(driver.stream(), GLOBAL)
        driver.cuCtxDestroy(context)
        other = driver.get("cuCtxCreate", 0, 0)
        driver.cuCtxSynchronize()
        driver.cuCtxDestroy(other)
