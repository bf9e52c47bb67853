"""Capturing work as a graph, launching it again and again, what it keeps alive; host functions."""

from __future__ import annotations

import gc
import pickle
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

from pygpu import _cuda
from pygpu.cuda import driver as cuda
from pygpu.cuda.compiler import SourceModule

SOURCE = """
__global__ void add(int *x, int n, int value)
{ int i = threadIdx.x + blockIdx.x * blockDim.x; if (i < n) x[i] += value; }
__global__ void twice(int *x, int n)
{ int i = threadIdx.x + blockIdx.x * blockDim.x; if (i < n) x[i] *= 2; }
"""
N = 100
SIZES = {"block": (128, 1, 1), "grid": (1, 1)}


@pytest.fixture
def memory(kernels):
    made = cuda.mem_alloc(4 * N)
    cuda.memset_d8(made, 0, 4 * N)
    return made


def value(memory) -> int:
    """The one value that all items have."""
    host = np.empty(N, np.int32)
    cuda.memcpy_dtoh(host, memory)
    assert (host == host[0]).all()
    return int(host[0])


def test_replay(kernels, memory):
    stream = cuda.Stream()
    stream.begin_capture()
    assert stream.is_capturing
    kernels.get_function("add")(memory, N, 1, stream=stream, **SIZES)
    kernels.get_function("twice")(memory, N, stream=stream, **SIZES)
    graph = stream.end_capture()
    assert not stream.is_capturing
    assert value(memory) == 0  # captured, not run
    kinds = [kind for _, kind in graph.nodes()]
    assert kinds == [cuda.graph_node_type.KERNEL] * 2
    assert graph.handle
    run = graph.instantiate()
    assert run.handle
    run.upload(stream)
    for want in (2, 6, 14):
        run.launch(stream)
        stream.synchronize()
        assert value(memory) == want
    run.launch()
    assert value(memory) == 30
    run.launch(stream=stream.handle)
    stream.synchronize()
    assert value(memory) == 62


def test_prepared_calls(kernels, memory):
    add, stream = kernels.get_function("add").prepare("Pii"), cuda.Stream()
    stream.begin_capture(cuda.stream_capture_mode.THREAD_LOCAL)
    add.prepared_async_call((1, 1), (128, 1, 1), stream, memory, N, 5)
    run = stream.end_capture().instantiate()
    run.launch(stream)
    stream.synchronize()
    assert value(memory) == 5


def test_an_empty_graph(context):
    stream = cuda.Stream()
    stream.begin_capture()
    graph = stream.end_capture()
    assert graph.nodes() == []
    graph.instantiate().launch(stream)
    graph = cuda.Graph()
    assert graph.nodes() == []
    graph.instantiate().launch()
    stream.synchronize()


def test_what_a_graph_uses_stays(kernels):
    """Memory, host arrays, functions and modules, though nobody else refers to them any more."""
    stream = cuda.Stream()
    module = SourceModule(SOURCE.replace("value)", "value )"))
    memory = cuda.mem_alloc(4 * N)
    source, target = np.arange(N, dtype=np.int32), np.zeros(N, np.int32)
    refs = [weakref.ref(x) for x in (memory, source, module.module)]
    stream.begin_capture()
    cuda.memcpy_htod_async(memory, source, stream)
    module.get_function("add")(memory, N, 10, stream=stream, **SIZES)
    cuda.memcpy_dtoh_async(target, memory, stream)
    graph = stream.end_capture()
    del memory, source, module
    gc.collect()
    run = graph.instantiate()
    del graph
    gc.collect()
    assert all(ref() is not None for ref in refs)
    for _ in range(2):
        target[:] = 0
        run.launch(stream)
        stream.synchronize()
        np.testing.assert_array_equal(target, np.arange(10, 10 + N))
    run.launch(stream)
    del run  # while it may be running
    gc.collect()
    stream.synchronize()
    cuda.Context.synchronize()
    gc.collect()
    np.testing.assert_array_equal(target, np.arange(10, 10 + N))
    assert all(ref() is None for ref in refs)


def test_a_second_stream_joins(kernels, memory):
    """Work on a stream that waits for a captured one belongs to the graph, as does what it uses."""
    first, second = cuda.Stream(), cuda.Stream()
    other = cuda.mem_alloc(4 * N)
    cuda.memset_d8(other, 0, 4 * N)
    cuda.Context.synchronize()
    fork, join = cuda.Event(), cuda.Event()
    add = kernels.get_function("add")
    first.begin_capture()
    add(memory, N, 1, stream=first, **SIZES)
    fork.record(first)
    second.wait_for_event(fork)
    assert second.is_capturing
    add(other, N, 2, stream=second, **SIZES)
    with pytest.raises(cuda.LogicError, match="must end it"):
        second.end_capture()
    join.record(second)
    first.wait_for_event(join)
    add(memory, N, 1, stream=first, **SIZES)
    graph = first.end_capture()
    assert not second.is_capturing
    assert [kind for _, kind in graph.nodes()] == [cuda.graph_node_type.KERNEL] * 3
    address, ref = int(other), weakref.ref(other)
    del other, fork, join
    gc.collect()
    assert ref() is not None
    run = graph.instantiate()
    run.launch(first)
    first.synchronize()
    assert value(memory) == 2 and value(address) == 2
    add(memory, N, 1, stream=second, **SIZES)  # the second stream runs work again
    second.synchronize()
    assert value(memory) == 3


def test_a_stream_by_its_handle(kernels, memory):
    stream = cuda.Stream()
    other = cuda.to_device(np.zeros(N, np.int32))
    ref = weakref.ref(other)
    stream.begin_capture()
    kernels.get_function("add")(other, N, 4, stream=stream.handle, **SIZES)
    graph = stream.end_capture()
    del other
    gc.collect()
    assert ref() is not None
    run = graph.instantiate()
    run.launch(stream)
    stream.synchronize()
    assert value(ref()) == 4


def test_update(kernels, memory):
    stream, add = cuda.Stream(), kernels.get_function("add")

    def capture(number, target):
        stream.begin_capture()
        add(target, N, number, stream=stream, **SIZES)
        return stream.end_capture()

    run = capture(1, memory).instantiate()
    run.launch(stream)
    other = cuda.mem_alloc(4 * N)
    cuda.memset_d8(other, 0, 4 * N)
    ref = weakref.ref(other)
    run.update(capture(10, other))
    del other
    gc.collect()
    run.launch(stream)
    stream.synchronize()
    assert value(memory) == 1 and value(ref()) == 10
    stream.begin_capture()
    add(memory, N, 1, stream=stream, **SIZES)
    add(memory, N, 1, stream=stream, **SIZES)
    with pytest.raises(cuda.LogicError, match="cuGraphExecUpdate failed.*instantiate it anew"):
        run.update(stream.end_capture())
    run.launch(stream)
    stream.synchronize()
    assert value(ref()) == 20
    with pytest.raises(TypeError, match="graph must be a Graph, not int"):
        run.update(3)


def test_clone(kernels, memory):
    stream = cuda.Stream()
    stream.begin_capture()
    kernels.get_function("add")(memory, N, 1, stream=stream, **SIZES)
    graph = stream.end_capture()
    copy = graph.clone()
    assert len(copy.nodes()) == 1 and copy.handle != graph.handle
    del graph
    gc.collect()
    copy.instantiate().launch(stream)
    stream.synchronize()
    assert value(memory) == 1


def test_debug_dot(kernels, memory, tmp_path):
    stream = cuda.Stream()
    stream.begin_capture()
    kernels.get_function("add")(memory, N, 1, stream=stream, **SIZES)
    graph = stream.end_capture()
    path = tmp_path / "graph.dot"
    try:
        graph.debug_dot(path)
    except cuda.LogicError as error:
        assert error.code == 801
        pytest.skip(f"needs a driver whose cuGraphDebugDotPrint writes files: {error}")
    assert path.read_text().lstrip().startswith("digraph")
    with pytest.raises(cuda.Error):
        graph.debug_dot(tmp_path / "none" / "graph.dot")
    with pytest.raises(TypeError):
        graph.debug_dot(3)


def test_order_of_calls(kernels, memory):
    stream = cuda.Stream()
    with pytest.raises(cuda.LogicError, match="begin_capture\\(\\) comes first"):
        stream.end_capture()
    with pytest.raises(cuda.LogicError, match="mode = 7"):
        stream.begin_capture(7)
    with pytest.raises(TypeError):
        stream.begin_capture("global")
    stream.begin_capture()
    with pytest.raises(cuda.LogicError, match="being captured already"):
        stream.begin_capture()
    stream.end_capture()
    with pytest.raises(TypeError):
        cuda.Graph(3)
    with pytest.raises(TypeError):
        cuda.GraphExec()
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(cuda.Graph())
    run = cuda.Graph().instantiate()
    with pytest.raises(TypeError, match="stream"):
        run.launch("stream")


def test_handlers_cannot_be_captured(kernels):
    stream = cuda.Stream()
    stream.begin_capture()
    with pytest.raises(cuda.LogicError, match="In, Out and InOut copy and wait"):
        kernels.get_function("add")(cuda.InOut(np.zeros(N, np.int32)), N, 1, stream=stream, **SIZES)
    graph = stream.end_capture()
    assert graph.nodes() == []


def test_an_invalidated_capture_cannot_continue(kernels, memory):
    """A call that waits for a captured stream spoils the capture; later ones are not harmed."""
    stream = cuda.Stream()
    stream.begin_capture()
    kernels.get_function("add")(memory, N, 1, stream=stream, **SIZES)
    with pytest.raises(cuda.LogicError):
        stream.synchronize()
    with pytest.raises(cuda.LogicError, match="cuStreamEndCapture failed"):
        stream.end_capture()
    assert not stream.is_capturing
    kernels.get_function("add")(memory, N, 1, stream=stream, **SIZES)
    stream.synchronize()
    assert value(memory) == 1


def test_a_stream_that_goes_while_it_is_captured(kernels, memory, balance):
    stream = cuda.Stream()
    stream.begin_capture()
    kernels.get_function("add")(memory, N, 1, stream=stream, **SIZES)
    del stream
    gc.collect()
    stream = cuda.Stream()
    kernels.get_function("add")(memory, N, 1, stream=stream, **SIZES)
    stream.synchronize()
    assert value(memory) == 1


def test_contexts(kernels, memory):
    stream = cuda.Stream()
    stream.begin_capture()
    kernels.get_function("add")(memory, N, 1, stream=stream, **SIZES)
    run = stream.end_capture().instantiate()
    other = cuda.Device(0).make_context()
    try:
        foreign = cuda.Stream()
        with pytest.raises(cuda.LogicError, match="different contexts"):
            run.launch(foreign)
        with pytest.raises(cuda.LogicError, match="different contexts"):
            run.update(cuda.Graph())
        run.launch(stream)  # in its own context
        stream.synchronize()
        graph = cuda.Graph()
        dead = graph.instantiate()
    finally:
        other.detach()
    assert value(memory) == 1
    for call in (dead.launch, graph.nodes, graph.instantiate, graph.clone):
        with pytest.raises(cuda.LogicError):
            call()
    del dead, graph
    gc.collect()


def test_nothing_leaks(kernels, memory, balance):
    add = kernels.get_function("add")
    for _ in range(3):
        stream = cuda.Stream()
        stream.begin_capture()
        add(cuda.mem_alloc(4 * N), N, 1, stream=stream, **SIZES)
        graph = stream.end_capture()
        run = graph.instantiate()
        run.launch(stream)
        run.launch()
        del graph, run, stream
    cuda.Context.synchronize()


@pytest.mark.parametrize(
    "routine",
    "cuStreamBeginCapture cuStreamEndCapture cuGraphInstantiateWithFlags cuGraphLaunch "
    "cuGraphUpload cuGraphClone cuGraphGetNodes cuGraphNodeGetType cuGraphExecUpdate "
    "cuGraphCreate".split(),
)
def test_faults(kernels, memory, routine):
    stream = cuda.Stream()

    def use():
        stream.begin_capture()
        try:
            kernels.get_function("add")(memory, N, 1, stream=stream, **SIZES)
        finally:
            graph = stream.end_capture()
        run = graph.instantiate()
        run.upload(stream)
        run.launch(stream)
        run.update(graph.clone())
        graph.nodes()
        cuda.Graph()

    use()
    _cuda._fault(routine, 719)
    try:
        with pytest.raises(cuda.LaunchError, match=routine):
            use()
    finally:
        _cuda._fault(None, 0)
    if stream.is_capturing:  # the end was the call that failed
        stream = cuda.Stream()
    use()
    stream.synchronize()


# ---- functions on the host ----------------------------------------------------------------------


def test_host_func(kernels, memory):
    calls, stream = [], cuda.Stream()
    add = kernels.get_function("add")
    host = np.full(N, -1, np.int32)

    def note(*args):
        calls.append((*args, int(host[0]), threading.get_ident()))

    add(memory, N, 3, stream=stream, **SIZES)
    cuda.memcpy_dtoh_async(host, memory, stream)
    cuda.launch_host_func(stream, note, 1, "two")
    add(memory, N, 3, stream=stream, **SIZES)
    cuda.launch_host_func(stream, note)
    stream.synchronize()
    assert [call[:-1] for call in calls] == [(1, "two", 3), (3,)]
    assert value(memory) == 6


def test_host_func_and_a_busy_interpreter(kernels, memory):
    """Neither launches nor waits keep the function from the GIL."""
    calls, stream, add = [], cuda.Stream(), kernels.get_function("add")
    for number in range(50):
        cuda.launch_host_func(stream, calls.append, number)
        for _ in range(50):
            add(memory, N, 1, stream=stream, **SIZES)
    stream.synchronize()
    assert calls == list(range(50))
    assert value(memory) == 2500


def test_host_func_in_a_graph(kernels, memory):
    calls, stream = [], cuda.Stream()
    stream.begin_capture()
    cuda.launch_host_func(stream, calls.append, "x")
    graph = stream.end_capture()
    assert [kind for _, kind in graph.nodes()] == [cuda.graph_node_type.HOST]
    run = graph.instantiate()
    del graph
    gc.collect()
    assert calls == []
    for _ in range(3):
        run.launch(stream)
    stream.synchronize()
    assert calls == ["x"] * 3


def test_host_func_that_fails(context, monkeypatch):
    seen, stream, calls = [], cuda.Stream(), []
    monkeypatch.setattr(sys, "unraisablehook", lambda hook: seen.append(hook.exc_value))

    def fail():
        raise KeyError("host")

    cuda.launch_host_func(stream, fail)
    cuda.launch_host_func(stream, calls.append, 1)
    stream.synchronize()
    assert calls == [1]
    assert [repr(error) for error in seen] == ["KeyError('host')"]


def test_host_func_keeps_its_function(context):
    class Callable:
        def __call__(self, other):
            done.append(other)

    done, stream = [], cuda.Stream()
    function = Callable()
    ref = weakref.ref(function)
    cuda.launch_host_func(stream, function, 5)
    del function
    stream.synchronize()
    cuda.Context.synchronize()
    gc.collect()
    assert done == [5] and ref() is None


def test_host_func_arguments(context):
    with pytest.raises(TypeError, match="func must be callable, not int"):
        cuda.launch_host_func(None, 3)
    for args in ((), (None,)):
        with pytest.raises(TypeError, match="takes a stream and a function"):
            cuda.launch_host_func(*args)
    with pytest.raises(TypeError, match="stream"):
        cuda.launch_host_func("stream", print)
    calls = []
    cuda.launch_host_func(None, calls.append, 1)
    cuda.Context.synchronize()
    assert calls == [1]
    _cuda._fault("cuLaunchHostFunc", 719)
    try:
        with pytest.raises(cuda.LaunchError, match="cuLaunchHostFunc"):
            cuda.launch_host_func(None, calls.append, 2)
    finally:
        _cuda._fault(None, 0)
    cuda.Context.synchronize()
    assert calls == [1]


EXIT = """
import time
import pygpu.cuda.driver as cuda
stream = cuda.Stream()
cuda.launch_host_func(stream, time.sleep, 2)
cuda.launch_host_func(stream, print, "called")
print("exit")
"""


def test_host_func_at_exit():
    """A program may end while a function is being called, or waits to be."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", EXIT], capture_output=True, text=True, timeout=100
    )
    assert (done.returncode, done.stdout.split()[0]) == (0, "exit"), done.stderr
