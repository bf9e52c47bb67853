"""Fixtures of the OpenCL tests: injected failures, pools, kernels, shared virtual memory."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator

import pytest
from opencl.kernel_helpers import MEMORY
from opencl.memory_helpers import becomes, make_pool

import pygpu as cl
from pygpu import _opencl, tools

CAPABILITY = cl.device_svm_capabilities


@pytest.fixture
def fault() -> Iterator[Callable[..., None]]:
    """Makes driver calls fail: ``fault(name, code)``."""
    yield _opencl._fault
    _opencl._fault(None, 0)


@pytest.fixture(params=("buffer", "svm"))
def pool(
    request: pytest.FixtureRequest, ctx: cl.Context, queue: cl.CommandQueue
) -> Iterator[tools.MemoryPool | tools.SVMPool]:
    pool = make_pool(request.param, ctx, queue)
    yield pool
    pool.stop_holding()  # pytest keeps it longer than the test


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """Fails a test that leaves buffers, shared memory or events behind."""

    def counts() -> dict[str, int]:
        gc.collect()
        return {
            kind: n
            for kind, n in _opencl._handle_counts().items()
            if kind in ("mem", "svm", "event")
        }

    def more() -> dict[str, int]:
        # There may be fewer: pools and kernels of other tests let go of some when memory is short.
        return {kind: n for kind, n in counts().items() if n > before[kind]}

    before = counts()
    yield
    assert becomes(lambda: not more()), f"{more()} after {before}"


@pytest.fixture(scope="module")
def out(ctx: cl.Context) -> cl.Buffer:
    """Where kernels of tests write."""
    return cl.Buffer(ctx, cl.mem_flags.READ_WRITE, 4096)


@pytest.fixture(scope="module")
def memory(ctx: cl.Context) -> cl.Program:
    """Kernels with arguments of each kind of memory."""
    return cl.Program(ctx, MEMORY).build()


@pytest.fixture(scope="module")
def needs_svm(device: cl.Device) -> None:
    if not device.svm_capabilities & CAPABILITY.COARSE_GRAIN_BUFFER:
        pytest.skip(f"{device.name} has no shared virtual memory")


@pytest.fixture
def fine(device: cl.Device) -> None:
    if not device.svm_capabilities & CAPABILITY.FINE_GRAIN_BUFFER:
        pytest.skip(f"{device.name} has no fine-grained shared virtual memory")


@pytest.fixture
def svm_freed() -> Iterator[None]:
    gc.collect()
    before = _opencl._handle_counts()
    yield
    gc.collect()
    assert becomes(lambda: _opencl._handle_counts()["svm"] <= before["svm"]), (
        "shared memory was left behind"
    )
    assert becomes(lambda: _opencl._handle_counts()["event"] <= before["event"]), (
        "events were left behind"
    )


@pytest.fixture
def no_options_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """No build takes options, or a program of the cache, from outside of its test."""
    for name in ("BUILD_OPTIONS", "COMPILER_OUTPUT"):
        monkeypatch.delenv(f"PYGPU_{name}", raising=False)
        monkeypatch.delenv(f"PYOPENCL_{name}", raising=False)
    # Each test shall meet the compiler, not what an earlier run has left.
    monkeypatch.setenv("PYGPU_NO_CACHE", "1")
