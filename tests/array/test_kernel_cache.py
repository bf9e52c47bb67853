"""Kernels that are compiled once, in threads where several are needed at once."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import numpy as np
import pytest

from pygpu._src.array import elementwise
from pygpu._src.runtime import kernel_cache


class Slow:
    """A backend whose compiler waits until it is told to go on."""

    def __init__(self, name: str = "cuda") -> None:
        self.name = name
        self.kernels: dict = {}
        self.compiling: dict = {}
        self.dialect = SimpleNamespace(
            exact=(), quick=(), quiet=(), source=lambda text, features: text
        )
        self.go, self.compiled, self.error = threading.Event(), [], None

    def compile(self, source, options=(), searched=False):
        assert self.go.wait(30)
        self.compiled.append((source, threading.current_thread()))
        if self.error is not None:
            raise self.error
        return SimpleNamespace(kernel=lambda name: f"{source} {name}")


def test_get_waits_for_what_was_started():
    backend = Slow()
    for key in "ab":
        kernel_cache.start(backend, key, lambda key=key: (key, "k"))
        kernel_cache.start(backend, key, lambda: pytest.fail("started twice"))
    threads = list(backend.compiling.values())
    assert len(threads) == 2 and not backend.compiled
    backend.go.set()
    assert kernel_cache.get(backend, "b", lambda: pytest.fail("compiled twice")) == "b k"
    for thread in threads:
        thread.join(30)
    assert sorted(source for source, _ in backend.compiled) == ["a", "b"]
    assert not backend.compiling and set(backend.kernels) == {"a", "b"}


def test_what_failed_in_a_thread_is_raised_by_get():
    backend = Slow()
    backend.error = ValueError("does not compile")
    backend.go.set()
    kernel_cache.start(backend, "a", lambda: ("a", "k"))
    with pytest.raises(ValueError, match="does not compile"):
        kernel_cache.get(backend, "a", lambda: ("a", "k"))
    assert backend.compiled[-1][1] is threading.current_thread()
    assert not backend.kernels and not backend.compiling


def test_opencl_compiles_when_it_is_asked():
    backend = Slow("opencl")
    backend.go.set()
    kernel_cache.start(backend, "a", lambda: ("a", "k"))
    assert not backend.compiling and not backend.compiled


@pytest.mark.parametrize("name", ["cuda", "opencl"])
def test_results_come_in_their_order(name):
    together = threading.Barrier(3 if name == "cuda" else 1, timeout=30)

    def make(k):
        together.wait()
        return k

    makers = [lambda k=k: make(k) for k in range(3)]
    assert kernel_cache.begin(Slow(name), makers)() == [0, 1, 2]
    assert kernel_cache.begin(Slow(name), [])() == []


def test_an_error_is_raised_after_all_have_ended():
    ended = []

    def wrong():
        raise KeyError("one")

    def right():
        ended.append(threading.Event().wait(0.05))

    with pytest.raises(KeyError, match="one"):
        kernel_cache.begin(Slow(), [wrong, right, right])()
    assert len(ended) == 2


def test_the_kernels_of_a_transform_are_compiled_at_once(make, monkeypatch):
    from pygpu._src.array.fft import plan, transform

    asked = []

    def begin(backend, makers, real=kernel_cache.begin):
        asked.append(len(makers))
        return real(backend, makers)

    monkeypatch.setattr(kernel_cache, "begin", begin)
    monkeypatch.setenv("PYGPU_FFT", "own")
    transform.set_tuning(plan.Tuning(single=1024, column=256, cpu_single=1024, cpu_column=256))
    try:
        a = np.random.default_rng(0).standard_normal((2, 480)).view("D")
        np.testing.assert_allclose(np.fft.fft(make(a)).get(), np.fft.fft(a), atol=1e-12)
    finally:
        transform.set_tuning(plan.Tuning())
    assert asked and asked[0] > 1


def test_the_kernels_of_all_axes_are_compiled_at_once(make, monkeypatch):
    events = []

    def begin(backend, makers, real=kernel_cache.begin):
        finish = real(backend, makers)
        events.append("begin")

        def finished():
            events.append("finish")
            return finish()

        return finished

    monkeypatch.setattr(kernel_cache, "begin", begin)
    monkeypatch.setenv("PYGPU_FFT", "own")
    a = np.random.default_rng(0).standard_normal((22, 3, 26))
    x = make(a)
    for _ in range(2):  # compiled, then known
        np.testing.assert_allclose(
            np.fft.rfftn(x, axes=(0, 2)).get(), np.fft.rfftn(a, axes=(0, 2)), atol=1e-12
        )
    if x.backend.name == "cuda":
        assert events == ["begin", "begin", "finish", "finish"]
    else:
        assert events == ["begin", "finish"] * 2


@pytest.mark.parametrize("helper", ["", "PG_INLINE pg_i16 pg_test_three(void) { return 3; }\n"])
def test_only_short_elementwise_kernels_are_compiled_quickly(make, monkeypatch, helper):
    backend = make(np.zeros(1)).backend
    asked = []

    def compile_noted(source, options=(), searched=False, real=backend.compile):
        asked.append(options)
        return real(source, options, searched)

    monkeypatch.setattr(backend, "compile", compile_noted)
    i16 = np.dtype(np.int16)
    three = "pg_test_three()" if helper else "3"
    operation = elementwise.Operation(
        f"test short {bool(helper)}", (i16,), (i16,), f"y0 = (pg_i16)({three} * x0);", helper
    )
    elementwise.get_kernel(backend, operation, (i16, i16), 0, False)
    quick = set(backend.dialect.quick)
    assert backend.name != "cuda" or quick
    assert len(asked) == 1 and quick & set(asked[0]) == (set() if helper else quick)
