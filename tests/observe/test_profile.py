"""pygpu.profile(): what is recorded on queues and streams, and what is made of it."""

from __future__ import annotations

import asyncio
import ctypes
import inspect
import json
import os
import shutil
import subprocess
import sys
import threading
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import pygpu
from pygpu import _cuda, _opencl
from pygpu.profiling import Profile

PROFILING = pygpu.command_queue_properties.PROFILING_ENABLE


def names(profile) -> list[str]:
    return [command.name for command in profile.commands]


def test_commands_of_arrays(make):
    host = np.arange(1000, dtype=np.float32)
    make(host) + 1  # compiled
    with pygpu.profile() as p:
        x = make(host)
        y = x + 1
        got = y.get()
    assert (got == host + 1).all()
    assert [c.kind for c in p.commands] == ["copy to device", "kernel", "copy to host"]
    up, kernel, down = p.commands
    assert up.nbytes == down.nbytes == 4000 and kernel.nbytes == 0
    assert kernel.name == "pg_run_add" and kernel.groups and kernel.group
    for c in p.commands:
        assert 0 <= c.called <= c.returned <= p.seconds
        assert c.start <= c.end and c.seconds == c.end - c.start
        assert c.thread == threading.get_ident()
    assert up.end <= kernel.start + 1e-6 and kernel.end <= down.start + 1e-6
    assert p.notes == () and p.left_out == 0


def test_the_table(make):
    x = make(np.ones(100, np.float32))
    with pygpu.profile() as p:
        for _ in range(3):
            x.fill(2)
        np.negative(x)
    text = repr(p)
    assert text.startswith("profile of ") and "4 commands" in text
    (row,) = [line.split() for line in text.splitlines() if line.startswith("pg_run_neg")]
    assert row[1] == "1" and row[-1] == "%"
    shares = [float(line.split()[-2]) for line in text.splitlines() if line.endswith("%")]
    assert sum(shares) == pytest.approx(100, abs=0.5)
    assert repr(Profile()) == "profile without commands"


def test_the_trace(make, tmp_path):
    x = make(np.ones(100, np.float32))
    with pygpu.profile() as p, p.range("outer"):
        np.negative(x)
    p.save(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    spans = [e for e in events if e["ph"] == "X"]
    assert all(e["dur"] >= 0 and isinstance(e["pid"], int) for e in spans)
    assert {"range", "call", "kernel"} == {e["cat"] for e in spans}
    named = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    (kernel,) = [e for e in spans if e["cat"] == "kernel"]
    assert named[kernel["pid"]] != "host" and kernel["args"]["groups"]
    starts, ends = ([e for e in events if e["ph"] == ph] for ph in "sf")
    assert [e["id"] for e in starts] == [e["id"] for e in ends] == [0]


def test_the_picture(make, tmp_path):
    x = make(np.ones(100, np.float32))
    with pygpu.profile() as p, p.range("a <range> & more"):
        np.negative(x)
    p.save(tmp_path / "profile.svg")
    root = ElementTree.parse(tmp_path / "profile.svg").getroot()
    texts = [e.text for e in root.iter() if e.text]
    assert any("a <range> & more" in text for text in texts)
    assert any("pg_run_negative: " in text for text in texts)
    assert p._repr_html_().startswith("<svg") and "<table>" in p._repr_html_()
    ElementTree.fromstring(Profile().svg())  # of nothing
    with pytest.raises(ValueError, match=r"must end in .json or .svg, not 'x.txt'"):
        p.save("x.txt")


def test_raw_commands_of_opencl(ctx):
    queue = pygpu.CommandQueue(ctx)
    source = "kernel void twice(global int *x) { x[get_global_id(0)] *= 2; }"
    program = pygpu.Program(ctx, source).build()
    x = np.arange(64, dtype=np.int32)
    with pygpu.profile() as p:
        buffer = pygpu.Buffer(ctx, pygpu.mem_flags.READ_WRITE, x.nbytes)
        other = pygpu.Buffer(ctx, pygpu.mem_flags.READ_WRITE, x.nbytes)
        pygpu.enqueue_copy(queue, buffer, x)
        program.twice(queue, (64,), (16,), buffer)
        pygpu.enqueue_copy(queue, other, buffer)
        pygpu.enqueue_fill_buffer(queue, buffer, np.int32(7), 0, 64)
        mapped, _ = pygpu.enqueue_map_buffer(queue, buffer, 1, 0, (4,), np.int32)
        assert (mapped == 7).all()
        mapped.base.release(queue)
        out = np.empty_like(x)
        pygpu.enqueue_copy(queue, out, other)
    assert (out == 2 * x).all()
    assert names(p) == [
        *("copy to device", "twice", "copy on device", "fill", "map", "unmap", "copy to host"),
    ]
    assert p.commands[1].groups == (4,) and p.commands[1].group == (16,)
    assert [c.nbytes for c in p.commands] == [256, 0, 256, 64, 16, 0, 256]


def test_raw_commands_of_cuda(cuda_context):
    from pygpu.cuda import driver
    from pygpu.cuda.compiler import SourceModule

    cuda_context.push()
    try:
        twice = SourceModule("__global__ void twice(int *x) { x[threadIdx.x] *= 2; }")
        twice = twice.get_function("twice")
        x = np.arange(64, dtype=np.int32)
        memory = driver.mem_alloc(x.nbytes)
        twice(memory, block=(1, 1, 1))
        stream = driver.Stream()
        with pygpu.profile() as p:
            driver.memcpy_htod(memory, x)
            driver.memset_d32(int(memory) + 128, 3, 4)
            twice(memory, block=(32, 1, 1), grid=(1, 1), stream=stream)
            stream.synchronize()
            driver.memcpy_dtod_async(int(memory) + 128, memory, 128, stream)
            stream.synchronize()
            driver.memcpy_dtoh(x, memory)
        assert (x[:4] == [0, 2, 4, 6]).all() and (x[32:] == x[:32]).all()
        assert names(p) == ["copy to device", "fill", "twice", "copy on device", "copy to host"]
        assert [c.nbytes for c in p.commands] == [256, 16, 0, 128, 256]
        assert [c.queue for c in p.commands] == [
            *("default stream", "default stream", "stream 1", "stream 1", "default stream"),
        ]
        assert p.commands[2].group == (32, 1, 1)
        assert all(c.seconds is not None for c in p.commands)
    finally:
        type(cuda_context).pop()


def test_graphs_are_captured_and_launched(cuda_context):
    from pygpu.cuda import driver

    cuda_context.push()
    try:
        stream, memory = driver.Stream(), driver.mem_alloc(64)
        with pygpu.profile() as p:
            stream.begin_capture()
            driver.memset_d8_async(memory, 1, 64, stream)
            graph = stream.end_capture()
            graph.instantiate().launch(stream)
            stream.synchronize()
        assert names(p) == ["graph"] and p.commands[0].seconds is not None
    finally:
        type(cuda_context).pop()


# ---- queues


def test_queues_are_as_before(ctx):
    plain, timed = pygpu.CommandQueue(ctx), pygpu.CommandQueue(ctx, properties=PROFILING)
    before = hash(plain), repr(plain), plain.properties
    with pygpu.profile():
        assert plain.properties & PROFILING
        new = pygpu.CommandQueue(ctx)
        assert new.properties & PROFILING
        event = pygpu.enqueue_marker(plain)
        assert event.command_queue is plain
    assert (hash(plain), repr(plain), plain.properties) == before
    assert not new.properties & PROFILING and timed.properties & PROFILING
    assert pygpu.enqueue_marker(plain).command_queue is plain
    with pygpu.profile():
        assert plain.properties & PROFILING
    new.finish()


def test_order_is_kept_over_begin_and_end(make):
    x = make(np.zeros(10000, np.float32))
    for _ in range(4):
        x += 1
        with pygpu.profile():
            x *= 2
        x -= 1
    assert (x.get() == 15).all()


def test_a_queue_whose_handle_others_have(ctx):
    queue = pygpu.CommandQueue(ctx)
    handle = queue.int_ptr
    with pygpu.profile() as p:
        pygpu.enqueue_fill_buffer(queue, pygpu.Buffer(ctx, 0, 64), np.int32(1), 0, 64)
        assert queue.int_ptr == handle
    assert p.commands[0].start is None
    assert "1 of 1 commands have no times" in p.notes[0] and "PROFILING_ENABLE" in repr(p)
    assert "unknown" in p.table()


def test_commands_behind_a_user_event(ctx):
    queue = pygpu.CommandQueue(ctx)
    buffer = pygpu.Buffer(ctx, 0, 64)
    event = pygpu.UserEvent(ctx)
    with pygpu.profile() as p:
        pygpu.enqueue_fill_buffer(queue, buffer, np.int32(1), 0, 64, wait_for=[event])
    assert len(p.commands) == 1 and p.commands[0].start is None
    event.set_status(0)
    queue.finish()
    with pygpu.profile() as p:
        pygpu.enqueue_fill_buffer(queue, buffer, np.int32(1), 0, 64)
    assert p.commands[0].start is not None


def test_a_queue_that_goes_meanwhile(ctx):
    with pygpu.profile() as p:
        queue = pygpu.CommandQueue(ctx)
        pygpu.enqueue_fill_buffer(queue, pygpu.Buffer(ctx, 0, 64), np.int32(1), 0, 64).wait()
        del queue
    assert names(p) == ["fill"]


def test_no_handles_are_left(make):
    def work():
        x = make(np.ones(10, np.float32))
        with pygpu.profile() as p:
            np.negative(x).get()
        return len(p.commands)

    work()
    before = _opencl._handle_counts(), _cuda._handle_counts()
    assert work() == 2
    assert (_opencl._handle_counts()["event"], _cuda._handle_counts()["event"]) <= (
        before[0]["event"],
        before[1]["event"],
    )


# ---- misuse


def test_nested():
    with pygpu.profile() as p:
        with pytest.raises(RuntimeError, match="a profile is active already"):
            pygpu.profile().start()
        with pytest.raises(RuntimeError), pygpu.profile():
            pass
    p.stop()  # does nothing
    with p:
        pass  # again


def test_exceptions_end_it(make):
    x = make(np.ones(10, np.float32))
    with pytest.raises(ZeroDivisionError), pygpu.profile() as p:
        np.negative(x)
        raise ZeroDivisionError
    assert names(p) == ["pg_run_negative"]
    with pygpu.profile() as p:
        pass
    assert p.commands == ()


def test_the_limit(make):
    x = make(np.ones(10, np.float32))
    with pygpu.profile(limit=2) as p:
        for _ in range(5):
            np.negative(x)
    assert len(p.commands) == 2 and p.left_out == 3
    assert p.notes == ("left out: 3 commands beyond the limit of 2",)


def test_decorators(make):
    x = make(np.ones(10, np.float32))

    @pygpu.profile
    def plain(a, *, k):
        return np.negative(a), k

    @pygpu.profile(limit=1)
    def limited(a):
        np.negative(a)
        np.negative(a)

    assert plain(x, k=3)[1] == 3 and plain.__name__ == "plain"
    assert names(plain.profile) == ["pg_run_negative"]
    limited(x)
    assert limited.profile.left_out == 1

    @pygpu.profile
    async def later(a):
        await asyncio.sleep(0)
        return np.negative(a)

    assert inspect.iscoroutinefunction(later)
    assert (asyncio.run(later(x)).get() == -1).all()
    assert names(later.profile) == ["pg_run_negative"]

    def each(a):
        yield np.negative(a)

    for wrong in (lambda: pygpu.profile(each), lambda: pygpu.benchmark(each, x)):
        with pytest.raises(TypeError, match="each.* called"):
            wrong()


def test_threads(make):
    arrays = [make(np.ones(100, np.float32)) for _ in range(3)]
    context = make.backend.context
    np.negative(arrays[0])

    together = threading.Barrier(len(arrays))

    def work(x):
        together.wait()
        if make.name == "cuda":
            context.push()
        try:
            for _ in range(20):
                np.negative(x)
        finally:
            if make.name == "cuda":
                type(context).pop()

    with pygpu.profile() as p:
        threads = [threading.Thread(target=work, args=(x,)) for x in arrays]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert names(p) == ["pg_run_negative"] * 60
    assert len({c.thread for c in p.commands}) == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork()")
def test_a_child_process(make):
    x = make(np.ones(10, np.float32))
    with pygpu.profile() as p:
        np.negative(x)
        child = os.fork()
        if child == 0:
            try:
                p.stop()
                with pygpu.profile() as q:
                    pass
                os._exit(0 if p.commands == q.commands == () else 1)
            except BaseException:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert names(p) == ["pg_run_negative"]


def test_ranges():
    p = pygpu.profile()
    with p.range("before"):
        pass
    with p, p.range("a"), p.range("b"):
        pass
    assert [r.name for r in p.ranges] == ["b", "a"]
    a = p.ranges[1]
    assert 0 <= a.start <= p.ranges[0].start <= p.ranges[0].end <= a.end <= p.seconds
    with pytest.raises(TypeError, match="name must be a str, not int"), p.range(3):
        pass


@pytest.mark.parametrize("limit", [0, -1, 1.5, "x", True])
def test_wrong_limits(limit):
    with pytest.raises(ValueError, match="limit must be a positive int"):
        pygpu.profile(limit=limit)


def test_wrong_functions():
    with pytest.raises(TypeError, match="pass a function, not str"):
        pygpu.profile("trace.json")


# ---- NVTX

STUB = """
#include <stdio.h>
#include <string.h>
char said[4096];
int nvtxRangePushA(const char *name) { strcat(strcat(said, name), "("); return 0; }
int nvtxRangePop(void) { strcat(said, ")"); return 0; }
"""


@pytest.fixture(scope="module")
def stub(tmp_path_factory):
    compiler = shutil.which("cc") or pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("nvtx")
    (folder / "stub.c").write_text(STUB)
    path = folder / "stub.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", path, folder / "stub.c"], check=True)
    return path


def test_ranges_of_nvtx(make, stub, monkeypatch):
    monkeypatch.setenv("PYGPU_NVTX_LIBRARY", str(stub))
    said = ctypes.c_char.in_dll(ctypes.CDLL(str(stub)), "said")
    text = lambda: ctypes.string_at(ctypes.addressof(said))  # noqa: E731
    x = make(np.ones(10, np.float32))
    before = text()
    with pygpu.profile(nvtx=True) as p:
        np.negative(x).get()
    assert text()[len(before) :] == b"pg_run_negative()copy to host()"
    assert len(p.commands) == 2
    before = text()
    with pygpu.profile():
        np.negative(x)
    np.negative(x)
    assert text() == before


class Package:
    """What pygpu uses of the package nvtx."""

    def __init__(self):
        self.said = []

    def push_range(self, message, *, domain):
        self.said.append((message, domain))

    def pop_range(self, *, domain):
        self.said.append(("pop", domain))


def test_ranges_of_the_package(make, monkeypatch):
    """Ranges and commands, when asked for, and on their own under a tool that collects them."""
    package = Package()
    monkeypatch.delenv("PYGPU_NVTX_LIBRARY", raising=False)
    monkeypatch.setitem(sys.modules, "nvtx", package)
    x = make(np.ones(10, np.float32))
    np.negative(x)
    with pygpu.profile(nvtx=True) as p, p.range("all \u2211"):
        np.negative(x).get()
    names = ["all \u2211", "pg_run_negative", "pop", "copy to host", "pop", "pop"]
    assert package.said == [(name, "pygpu") for name in names]
    with pygpu.profile() as p, p.range("none"):
        np.negative(x)
    assert len(package.said) == 6
    monkeypatch.setenv("NVTX_INJECTION64_PATH", "/a/tool.so")
    with pygpu.profile() as p, p.range("seen"):
        pass
    assert package.said[6:] == [("seen", "pygpu"), ("pop", "pygpu")]
    with pygpu.profile(nvtx=False) as p, p.range("none"):
        np.negative(x)
    assert len(package.said) == 8


def test_the_real_package(make, monkeypatch):
    """Nothing collects the ranges here: that they are pushed and popped without an error."""
    nvtx = pytest.importorskip("nvtx", reason="the package nvtx is not installed")
    assert nvtx.__file__
    monkeypatch.delenv("PYGPU_NVTX_LIBRARY", raising=False)
    x = make(np.ones(10, np.float32))
    with pygpu.profile(nvtx=True) as p, p.range("all"):
        got = np.negative(x).get()
    assert (got == -1).all() and names(p)[-1] == "copy to host"


def test_no_library_of_nvtx(monkeypatch):
    monkeypatch.setenv("PYGPU_NVTX_LIBRARY", "/nowhere/libnvtx.so")
    with pytest.raises(ImportError, match="pip install nvtx"):
        pygpu.profile(nvtx=True).start()
    monkeypatch.setenv("NVTX_INJECTION64_PATH", "/a/tool.so")  # a tool that collects them
    with pygpu.profile():  # nothing is left of it
        pass
