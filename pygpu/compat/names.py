"""Names of PyOpenCL that only its own programs use: types for annotations, and old internals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import pygpu as cl
from pygpu.errors import _ErrorRecord  # noqa: F401 - PyOpenCL has it in _cl

__all__ = [
    "Allocator",
    "CtxFactory",
    "DTypeT",
    "HasBufferInterface",
    "KernelArg",
    "SVMInnerT",
    "WaitList",
]

_enqueue_barrier = _enqueue_barrier_with_wait_list = cl.enqueue_barrier
_enqueue_marker = _enqueue_marker_with_wait_list = cl.enqueue_marker
_PYPY = False
_enqueue_fill_buffer = cl.enqueue_fill_buffer
_enqueue_svm_memfill = cl.enqueue_svm_memfill
_enqueue_svm_migrate_mem = cl.enqueue_svm_migrate_mem

CtxFactory = Callable[[], cl.Context]
Allocator = Callable[[int], Any]
WaitList = Sequence[cl.Event] | None
HasBufferInterface = Any
KernelArg = Any
DTypeT = TypeVar("DTypeT", bound=np.dtype[Any])
SVMInnerT = TypeVar("SVMInnerT")


def _find_pyopencl_include_path() -> str:
    """The folder of the device headers; every build looks there already."""
    return str(Path(cl.__file__).parent / "cl")
