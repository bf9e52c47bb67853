"""What tests of pools and of shared virtual memory share."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

import numpy as np
import pytest

import pygpu as cl
from pygpu import _opencl, tools

COARSE = cl.svm_mem_flags.READ_WRITE
FINE = cl.svm_mem_flags.READ_WRITE | cl.svm_mem_flags.SVM_FINE_GRAIN_BUFFER


def becomes(condition: Callable[[], bool], seconds: float = 30) -> bool:
    """Whether *condition* gets true in time: memory comes back in a thread of its own."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True


def quiet() -> None:
    """Wait until the driver is not called in the background."""

    def uncalled() -> bool:
        _opencl._call_counts(True)
        time.sleep(0.02)
        return _opencl._call_counts() == {}

    assert becomes(uncalled)


def make_pool(
    kind: str, ctx: cl.Context, queue: cl.CommandQueue, *bits: int
) -> tools.MemoryPool | tools.SVMPool:
    if kind == "buffer":
        return tools.MemoryPool(tools.ImmediateAllocator(queue), *bits)
    if not ctx.devices[0].svm_capabilities:
        pytest.skip(f"{ctx.devices[0].name} has no shared virtual memory")
    return tools.SVMPool(tools.SVMAllocator(ctx), *bits)


def allocations() -> int:
    gc.collect()
    return _opencl._handle_counts()["svm"]


def allocations_at_rest() -> int:
    """How many there are once the memory of earlier commands has come back."""
    while True:
        before = allocations()
        time.sleep(0.05)
        if (now := allocations()) == before:
            return now


def read(queue: cl.CommandQueue, svm: cl.SVMPointer, dtype: type = np.int32) -> np.ndarray:
    host = np.empty(svm.size // np.dtype(dtype).itemsize, dtype)
    cl.enqueue_copy(queue, host, svm)
    return host


def filled(
    ctx: cl.Context, queue: cl.CommandQueue, values: np.ndarray, flags: int = COARSE
) -> cl.SVM:
    svm = cl.SVM(cl.svm_empty(ctx, flags, values.shape, values.dtype))
    cl.enqueue_copy(queue, svm, values)
    return svm


def address(memory: cl.MemoryObjectHolder | cl.SVMPointer) -> int:
    """What tells blocks apart."""
    return memory.svm_ptr if isinstance(memory, cl.SVMPointer) else memory.int_ptr
