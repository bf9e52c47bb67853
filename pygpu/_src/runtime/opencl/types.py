"""Types for annotations, under PyOpenCL's names.

::

    def scaled(queue: cl.CommandQueue, x: Array, wait_for: WaitList = None) -> cl.Event: ...
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from pygpu._opencl import Context, Event

__all__ = [
    "Allocator",
    "CtxFactory",
    "DTypeT",
    "HasBufferInterface",
    "KernelArg",
    "SVMInnerT",
    "WaitList",
]

CtxFactory = Callable[[], Context]
"""Makes a context: the tests' ``ctx_factory``, ``create_some_context``."""
Allocator = Callable[[int], Any]
"""Returns memory of a number of bytes: a MemoryPool, an ImmediateAllocator, a function."""
WaitList = Sequence[Event] | None
"""Events that a command waits for."""
HasBufferInterface = Any
KernelArg = Any
DTypeT = TypeVar("DTypeT", bound=np.dtype[Any])
SVMInnerT = TypeVar("SVMInnerT")
