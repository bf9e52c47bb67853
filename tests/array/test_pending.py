"""Launches on CUDA whose kernels are being compiled: the program goes on and cannot tell."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

os.environ.setdefault("PYGPU_CUDA", "auto")

import pygpu
import pygpu.xp as xp
from pygpu import _array
from pygpu._src.array import chains
from pygpu._src.runtime import kernel_cache
from pygpu._src.runtime.cuda.backend import CUDABackend
from pygpu.cuda import driver, gpuarray
from pygpu.cuda.compiler import SourceModule

pytestmark = pytest.mark.usefixtures("current_context")

X = np.linspace(0.25, 2, 1001).astype(np.float32)


class Compiler:
    """Compiles nothing in threads while it is closed."""

    def __init__(self) -> None:
        self.is_open = threading.Event()
        self.calls = 0
        self.error: Exception | None = None

    def open_in(self, seconds: float) -> None:
        threading.Timer(seconds, self.is_open.set).start()


@pytest.fixture
def compiler(monkeypatch):
    """The compiler of a new context without kernels, which is closed."""
    state = Compiler()

    def compile_later(self, source, options=(), searched=False):
        state.calls += 1
        if searched:
            assert state.is_open.wait(60)
            if state.error is not None:
                raise state.error
        return real(self, source, options, searched)

    real = CUDABackend.compile
    context = driver.Device(0).make_context()
    chains.set_mode(1)
    (gpuarray.to_gpu(X) + np.float32(1)).get()  # something has been compiled
    monkeypatch.setattr(kernel_cache, "_MOST_AT_ONCE", 8)
    monkeypatch.setattr(CUDABackend, "compile", compile_later)
    monkeypatch.setattr(CUDABackend, "find", lambda self, source, options: None)
    try:
        yield state
    finally:
        state.is_open.set()
        with contextlib.suppress(pygpu.Error):
            chains.flush()
        monkeypatch.undo()
        context.pop()
        chains.set_from_environment()


def program(a, b, space):
    """Kernels of many kinds; operands that change, views, numbers, results that are dropped."""
    c = space.sin(a) * b
    c[::2] = c[1::2][::-1][: c[::2].shape[0]] - 1 if c.shape[0] % 2 == 0 else c[::2] * 3
    c += 1
    space.exp(c)  # dropped
    d = space.where(c > b, c, -b)
    a *= 2
    return d - a, space.sqrt(space.abs(d)) / np.float32(3)


@pytest.mark.parametrize("n", [1, 2, 1000, 1001])
def test_the_program_does_not_wait(compiler, n):
    a, b = X[:n].copy(), X[::-1][:n].copy()
    x, y = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    got = program(x, y, xp)
    assert _array._pending() and compiler.calls >= 5
    compiler.open_in(0.05)
    expected = program(a, b, np)
    for ours, theirs in zip((*got, x, y), (*expected, a, b)):
        np.testing.assert_allclose(ours.get(), theirs, rtol=1e-5, atol=1e-6)
    assert not _array._pending()
    got = program(x, y, xp)  # by the cached launches
    assert not _array._pending()
    for ours, theirs in zip(got, program(a, b, np)):
        np.testing.assert_allclose(ours.get(), theirs, rtol=1e-5, atol=1e-6)


def test_other_commands_come_after(compiler):
    x = gpuarray.to_gpu(X)
    y = x - 1
    kernel = SourceModule("__global__ void twice(float *y) { y[threadIdx.x] *= 2; }")
    twice = kernel.get_function("twice")
    y += 3
    assert _array._pending()
    compiler.open_in(0.05)
    twice(y, block=(100, 1, 1))
    x.fill(7)  # what was read before must not change
    expected = X + 2
    expected[:100] *= 2
    np.testing.assert_allclose(y.get(), expected, rtol=1e-6)


@pytest.mark.parametrize("way", ["stream", "event", "copy", "scan", "other context"])
def test_each_kind_of_command_makes_them_go(compiler, way):
    x = gpuarray.to_gpu(X)
    y = xp.cos(x)
    assert _array._pending()
    compiler.open_in(0.05)
    if way == "stream":
        driver.Stream().synchronize()
    elif way == "event":
        driver.Event().record().synchronize()
    elif way == "copy":
        driver.memcpy_dtod(x.gpudata, y.gpudata, x.nbytes)
    elif way == "scan":
        ends = xp.cumulative_sum(y)
        assert abs(float(ends[-1]) - np.cos(X).sum()) < 1e-3
    else:
        other = driver.Device(0).make_context()
        other.pop()
    assert not _array._pending()
    np.testing.assert_allclose(y.get(), np.cos(X), rtol=1e-5, atol=1e-6)


def test_reductions_and_products_wait_too(compiler):
    a, b = X[:900].reshape(30, 30).copy(), X[::-1][:900].reshape(30, 30).copy()
    x, y = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    for _ in range(2):
        e = xp.exp(x - xp.max(x, axis=1, keepdims=True))
        e /= xp.sum(e, axis=1, keepdims=True)
        got = xp.mean(e, axis=0) @ y + xp.sum(x.T @ y)
        assert _array._pending() == (not compiler.is_open.is_set())
        t = np.exp(a - np.max(a, axis=1, keepdims=True))
        t /= np.sum(t, axis=1, keepdims=True)
        compiler.is_open.set()
        np.testing.assert_allclose(got.get(), np.mean(t, axis=0) @ b + np.sum(a.T @ b), rtol=1e-4)


def test_they_go_when_the_last_kernel_is_compiled(compiler):
    y = xp.cos(xp.sin(gpuarray.to_gpu(X)))
    assert _array._pending()
    backend = y.backend
    compiler.is_open.set()
    for thread in [*backend.compiling.values()]:
        thread.join()
    assert not _array._pending()
    np.testing.assert_allclose(y.get(), np.cos(np.sin(X)), rtol=1e-5)


def test_wrong_numbers_are_refused_at_once(compiler):
    x = gpuarray.to_gpu(np.arange(5, dtype=np.int8))
    with pytest.raises(OverflowError):
        x + 1000
    with pytest.raises(ValueError, match="broadcast"):
        x + gpuarray.to_gpu(np.arange(4, dtype=np.int8))
    assert not _array._pending()


def test_memory_that_others_can_reach_waits_for_the_compiler(compiler):
    x = gpuarray.to_gpu(X)
    y = gpuarray.empty_like(x)
    int(y.gpudata)
    compiler.is_open.set()
    xp.add(x, x, out=y)
    assert not _array._pending()
    np.testing.assert_array_equal(y.get(), X + X)


def test_an_address_is_handed_out_after_the_launches(compiler):
    """Others use it without a call that pygpu would notice."""
    y = xp.cos(gpuarray.to_gpu(X))
    assert _array._pending()
    compiler.open_in(0.05)
    int(y.gpudata)
    assert not _array._pending()


def test_off(compiler):
    pygpu.fusion.off()
    compiler.is_open.set()
    y = xp.tanh(gpuarray.to_gpu(X))
    assert not _array._pending()
    np.testing.assert_allclose(y.get(), np.tanh(X), rtol=1e-5)


def test_threads(compiler):
    """Each thread's launches stay in order, and no thread waits for ever."""
    failures = []
    context = driver.Context.get_current()

    def work(number):
        context.push()
        try:
            host = X + number
            x = gpuarray.to_gpu(host)
            for _ in range(5):
                y, theirs = xp.sqrt(x) * number, np.sqrt(host) * number
                y[1:] -= x[:-1]
                theirs[1:] -= host[:-1]
                np.testing.assert_allclose(y.get(), theirs, rtol=1e-5, atol=1e-6)
        except BaseException as error:
            failures.append(error)
        finally:
            driver.Context.pop()

    threads = [threading.Thread(target=work, args=(np.float32(i),)) for i in range(1, 5)]
    for thread in threads:
        thread.start()
    compiler.open_in(0.1)
    for thread in threads:
        thread.join(60)
    assert not failures and not any(thread.is_alive() for thread in threads)


def test_a_compiler_that_fails(compiler, monkeypatch):
    said = []
    monkeypatch.setattr(sys, "unraisablehook", lambda info: said.append(info.exc_value))
    compiler.error = RuntimeError("no memory for the compiler")
    x = gpuarray.to_gpu(X)
    xp.log(x)
    monkeypatch.setattr(CUDABackend, "compile", lambda *args: (_ for _ in ()).throw(compiler.error))
    compiler.is_open.set()
    with pytest.raises(pygpu.Error):
        x.get()
    assert said == [compiler.error] and not _array._pending()
    np.testing.assert_array_equal(x.get(), X)  # it is reported once


class Late(Exception):
    pass


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no signal.setitimer()")
@pytest.mark.parametrize("command", [driver.Context.synchronize, chains.flush])
def test_a_signal_handler_that_raises_loses_no_launch(compiler, command):
    def handle(number, frame):
        raise Late

    y = xp.exp(gpuarray.to_gpu(X))
    assert _array._pending()
    before = signal.signal(signal.SIGALRM, handle)
    try:
        compiler.open_in(0.5)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(Late):
            command()
            for _ in range(1000):  # the exception is raised by one of the next instructions
                pass
    finally:
        signal.signal(signal.SIGALRM, before)
    np.testing.assert_allclose(y.get(), np.exp(X), rtol=1e-5)


def test_a_process_may_end_or_fork_meanwhile():
    code = """
import os, sys, threading
import numpy as np
import pygpu.cuda.autoinit
import pygpu.xp as xp
from pygpu import _array
from pygpu.cuda import gpuarray
from pygpu._src.runtime import kernel_cache
from pygpu._src.runtime.cuda.backend import CUDABackend
x = gpuarray.to_gpu(np.ones(10, np.float32))
(x + 1).get()
kernel_cache._MOST_AT_ONCE, real, gate = 8, CUDABackend.compile, threading.Event()
CUDABackend.find = lambda *args: None
CUDABackend.compile = lambda *args: gate.wait(60) and real(*args)
y = xp.sinh(x)
assert _array._pending()
if sys.argv[1] == "fork":
    child = os.fork()
    if child == 0:
        try:
            y.get()
        except BaseException as error:
            os._exit(7 if "fork" in str(error) else 8)
        os._exit(9)
    gate.set()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert abs(y.get()[0] - np.sinh(1)) < 1e-6
threading.Timer(0.1, gate.set).start()
"""
    for how in ["end", *(["fork"] if hasattr(os, "fork") else [])]:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code, how], capture_output=True, timeout=120
        )
        assert (done.returncode, done.stderr) == (0, b""), how
