"""Which lines hold device memory: pygpu.track_memory() and pygpu.memory_report()."""

from __future__ import annotations

import gc
import os
import sys
import threading

import numpy as np
import pytest

import pygpu
from pygpu import _opencl
from pygpu._src.observe import memory_report


@pytest.fixture(autouse=True)
def off():
    yield
    pygpu.track_memory(False)


def here() -> int:
    return sys._getframe(1).f_lineno


def mine(report=None) -> dict[int, tuple[int, int]]:
    """Line: (pieces, bytes), of this file."""
    lines = (report or pygpu.memory_report()).lines
    return {x.line: (x.pieces, x.nbytes) for x in lines if x.file == __file__}


def test_lines_of_arrays(make):
    x = make(np.zeros(1000, np.float32))
    pygpu.track_memory()
    a = x + 0; line = here()  # fmt: skip  # noqa: E702
    kept = [a + k for k in range(3)]; second = here()  # fmt: skip  # noqa: E702
    report = pygpu.memory_report()
    found = mine(report)
    assert found[line] == (1, 4000) and found[second] == (3, 12000)
    assert report.nbytes >= 16000 and report.tracking
    (entry,) = [x for x in report.lines if (x.file, x.line) == (__file__, line)]
    assert entry.code.startswith("a = x + 0")
    assert f"test_memory_report.py:{line}" in repr(report) and "11.7 KiB" in repr(report)
    assert "Memory by line" in report._repr_html_()
    del a, kept[:2]
    gc.collect()
    assert line not in mine() and mine()[second] == (1, 4000)


def test_html_has_no_empty_table():
    html = memory_report.MemoryReport((), (), False)._repr_html_()
    assert "<table" not in html and "track_memory() must be called" in html


def test_the_pools_of_devices(make):
    x = make(np.zeros(1 << 18, np.float32))
    label = x.backend.label

    def device():
        return {d.device: d for d in pygpu.memory_report().devices}[label]

    before = device()
    assert before.in_use >= 1 << 20 and before.total > before.in_use
    assert (before.free is None) == (make.name == "opencl")
    del x
    gc.collect()
    assert device().held >= before.held + (1 << 20)
    assert label in repr(pygpu.memory_report())


def test_raw_memory_of_opencl(ctx):
    with pygpu.track_memory():
        buffer = pygpu.Buffer(ctx, 0, 500); line = here()  # fmt: skip  # noqa: E702
        host = np.zeros(30, np.uint8)
        flags = pygpu.mem_flags.COPY_HOST_PTR
        other = pygpu.Buffer(ctx, flags, hostbuf=host); second = here()  # fmt: skip  # noqa: E702
        pixels = np.zeros((8, 2, 4), np.float32)
        image = pygpu.image_from_array(ctx, pixels, 4); third = here()  # fmt: skip  # noqa: E702
    found = mine()
    assert (found[line], found[second], found[third]) == ((1, 500), (1, 30), (1, 256))
    buffer.release()
    assert line not in mine() and second in mine()
    region = other[:10]
    del other
    assert region.size == 10
    del image
    gc.collect()
    assert third not in mine()


def test_raw_memory_of_cuda(cuda_context):
    from pygpu.cuda import driver

    cuda_context.push()
    try:
        with pygpu.track_memory():
            memory = driver.mem_alloc(700); line = here()  # fmt: skip  # noqa: E702
            more = driver.mem_alloc(800); second = here()  # fmt: skip  # noqa: E702
        assert (mine()[line], mine()[second]) == ((1, 700), (1, 800))
        memory.free()
        assert line not in mine() and second in mine()
        del more
        assert second not in mine()
    finally:
        type(cuda_context).pop()


def test_on_and_off(make):
    assert "off" in repr(pygpu.track_memory(False))
    x = make(np.zeros(10))
    with pygpu.track_memory() as tracking:
        assert "on" in repr(tracking)
        with pygpu.track_memory(False):
            y = x + 1
        z = x + 1; line = here()  # fmt: skip  # noqa: E702
    w = x + 1
    assert list(mine()) == [line]
    assert not pygpu.memory_report().tracking
    del y, z, w
    gc.collect()
    assert mine() == {}


def test_a_report_without_tracking(monkeypatch):
    report = pygpu.profiling.MemoryReport((), (), False)
    assert "track_memory() must be called before" in repr(report)
    assert repr(pygpu.profiling.MemoryReport((), (), True)) == "no device memory is in use"


def test_exceptions_end_it():
    with pytest.raises(ZeroDivisionError), pygpu.track_memory():
        1 / 0  # noqa: B018
    assert not pygpu.memory_report().tracking


def test_threads(make):
    arrays = [make(np.zeros(100)) for _ in range(4)]
    context = make.backend.context
    kept = []

    def work(x):
        if make.name == "cuda":
            context.push()
        for _ in range(50):
            kept.append(x + 1)
            x + 2  # noqa: B018 - gone at once
        if make.name == "cuda":
            type(context).pop()

    with pygpu.track_memory():
        threads = [threading.Thread(target=work, args=(x,)) for x in arrays]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    gc.collect()
    assert sum(pieces for pieces, _ in mine().values()) == 200


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork()")
def test_a_child_process(make):
    with pygpu.track_memory():
        x = make(np.zeros(10))
        child = os.fork()
        if child == 0:
            try:
                pygpu.memory_report()
                os._exit(0)
            except pygpu.Error:
                os._exit(0)  # it says so
            except BaseException:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert x.size == 10


def test_a_function_that_fails_does_not_reach_the_program(make, capsys, monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", lambda info: print(info.exc_type.__name__))
    x = make(np.zeros(10))
    module = sys.modules[f"pygpu._{'cuda' if make.name == 'cuda' else 'opencl'}"]
    module._track_memory(lambda memory, size: 1 / 0)
    try:
        y = x + 1
    finally:
        module._track_memory(None)
    assert (y.get() == 1).all() and capsys.readouterr().out == "ZeroDivisionError\n"


def test_wrong_arguments():
    with pytest.raises(TypeError, match="on must be True or False, not int"):
        pygpu.track_memory(1)
    with pytest.raises(TypeError, match="a function is needed, not int"):
        _opencl._track_memory(3)
