"""memory_info(), blocks of temporaries, and what happens when memory runs out."""

from __future__ import annotations

import gc
import importlib

import numpy as np
import pytest

import pygpu


def test_memory_info(make):
    a = make(np.zeros(1000, np.float32))
    gc.collect()
    before = pygpu.memory_info(a)
    b = make(np.zeros(1 << 18, np.float32))
    during = pygpu.memory_info(b.queue if make.name == "opencl" else None)
    assert during.in_use - before.in_use >= 1 << 20
    assert during.total == before.total > during.in_use
    assert (before.free is None) == (make.name == "opencl")
    del b
    after = pygpu.memory_info(a)
    assert after.in_use == before.in_use and after.held >= 1 << 20
    with pytest.raises(TypeError):
        pygpu.memory_info(5)


def test_an_allocator_that_replaces_itself(make):
    """It is called, and the new array has it, although the old array has another by then."""
    a = make(np.ones(100))
    allocate, calls = make.backend.allocate, []

    def set_allocator() -> None:
        def once(size):
            calls.append(size)
            a.allocator = None
            return allocate(size, None)

        a.allocator = once

    module = importlib.import_module(type(a).__module__)
    for make_another in (module.empty_like, lambda a: a + a, lambda a: a.copy()):
        set_allocator()
        another = make_another(a)
        assert a.allocator is None and another.shape == a.shape
        assert repr(another.allocator)
    assert calls == [800] * 3


@pytest.mark.usefixtures("unfused")
def test_temporaries_share_blocks(make):
    a = make(np.ones(1 << 16, np.float32))

    def once() -> None:
        ((((2 * a + a * 3 - 1) * a + 4) / 2 - a) * 3 + a - 1) * 2

    once()
    gc.collect()
    before = pygpu.memory_info(a)
    for _ in range(20):
        once()
    after = pygpu.memory_info(a)
    assert after.held + after.in_use <= before.held + before.in_use + (1 << 19)


def test_arrays_that_are_gone_leave_their_memory(make):
    """Kernels do not keep what they were called with last."""
    a = make(np.arange(1 << 16, dtype=np.float32))
    gc.collect()
    before = pygpu.memory_info(a).in_use
    for _ in range(2):  # the second time calls are remembered
        b = np.sin(a * 2 + 1) + a
        c = b[::2] + b.reshape(2, -1).sum(0)
        assert float(c.sum().get()) > 0
        del b, c
        gc.collect()
        assert pygpu.memory_info(a).in_use == before


def test_out_of_memory_trims_the_pool_and_tries_again(make):
    a = make(np.ones(1 << 16, np.float32))
    b = a + 1
    block = make(np.ones(1 << 20, np.uint8))
    del block  # held by the pool now
    if make.name == "opencl":
        from pygpu import _opencl

        fault, failure = _opencl._fault, ("clCreateBuffer", -4)
    else:
        from pygpu import _cuda

        fault, failure = _cuda._fault, ("cuMemAlloc", 2)
    assert pygpu.memory_info(a).held >= 1 << 20
    fault(*failure)
    try:
        big = make(np.ones(3 << 20, np.uint8))
    finally:
        fault(None, 0)
    assert pygpu.memory_info(a).held < 1 << 20
    assert (big.get() == 1).all() and (b.get() == 2).all()
    fault(*failure, 1, 5)
    try:
        with pytest.raises(pygpu.MemoryError):
            make(np.ones(5 << 20, np.uint8))
    finally:
        fault(None, 0)
    assert ((a + b).get() == 3).all()
