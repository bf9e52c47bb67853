"""Names of PyOpenCL that only its own programs use, and old internals."""

from __future__ import annotations

import os
import shlex
import warnings
from collections.abc import Sequence
from pathlib import Path

import pygpu as cl
from pygpu.compat.pool_counts import _TestMemoryPool  # noqa: F401 - PyOpenCL has both in _cl
from pygpu.errors import _ErrorRecord  # noqa: F401
from pygpu.typing import (
    Allocator,
    CtxFactory,
    DTypeT,
    HasBufferInterface,
    KernelArg,
    SVMInnerT,
    WaitList,
)

__all__ = [
    "Allocator",
    "CtxFactory",
    "DTypeT",
    "HasBufferInterface",
    "KernelArg",
    "SVMInnerT",
    "WaitList",
    "compiler_output",
]

_enqueue_barrier = _enqueue_barrier_with_wait_list = cl.enqueue_barrier
_enqueue_marker = _enqueue_marker_with_wait_list = cl.enqueue_marker
_PYPY = False
_enqueue_fill_buffer = cl.enqueue_fill_buffer
_enqueue_svm_memfill = cl.enqueue_svm_memfill
_enqueue_svm_migrate_mem = cl.enqueue_svm_migrate_mem


def _find_pyopencl_include_path() -> str:
    """The folder of the device headers; every build looks there already."""
    return str(Path(cl.__file__).parent / "cl")


def _find_include_path(options: Sequence[str]) -> list[str]:
    """The folders that -I of compiler options names."""
    words = [part for option in options for part in shlex.split(option)]
    found = [word[2:] for word in words if word.startswith("-I") and len(word) > 2]
    return [after for word, after in zip(words, words[1:], strict=False) if word == "-I"] + found


def compiler_output(text: str) -> None:
    """Warn that a compiler said something; what, if PYOPENCL_COMPILER_OUTPUT is set."""
    if os.environ.get("PYOPENCL_COMPILER_OUTPUT", "0").lower() not in _TRUE:
        text = "Non-empty compiler output: set PYOPENCL_COMPILER_OUTPUT=1 to see it."
    warnings.warn(text, cl.CompilerWarning, stacklevel=3)


_TRUE = frozenset({"1", "y", "yes", "t", "true", "on"})
