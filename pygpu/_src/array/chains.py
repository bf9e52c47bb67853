"""Fusion of plain array code: whether consecutive operations become one launch.

C decides that on its own (``src/array/chain.h``), and :mod:`.chain_compiler` makes the kernels; it
is imported when there is something to compile.
"""

from __future__ import annotations

import os
from typing import Any

from pygpu import _array
from pygpu._src.util.lazy import lazy

from .chain_operations import number_of_copy

_OFTEN = 6  # how often a chain must occur to get a kernel

_waits = False  # for tests: compile a chain before the next operation
_started = False


def _on_frequent(description: tuple[Any, ...]) -> None:
    lazy("pygpu._src.array.chain_compiler").on_frequent(description, _waits)


def set_mode(mode: int, *, wait: bool = False, often: int = _OFTEN, wait_us: int = 300) -> None:
    """Set the mode. 0: each operation is a launch; 1: chains that occur *often* times are one; 2:
    as 1, and every operation waits until it must be launched, which is only for tests.

    wait: compile at once. wait_us: launch a chain after so many microseconds without another
    operation.
    """
    global _waits
    _waits = wait
    _array._chain_set(mode, _on_frequent, often, wait_us, number_of_copy)


def set_from_environment() -> None:
    """Read PYGPU_FUSE: 0 or 1 (the default), or for tests "wait" (compile at once) and "late"
    (mode 2)."""
    value = os.environ.get("PYGPU_FUSE", "1")
    if value in ("wait", "late"):
        set_mode(2 if value == "late" else 1, wait=True, often=3)
    else:
        set_mode(0 if value == "0" else 1)


def start() -> None:
    """Set the mode when arrays are first imported."""
    global _started
    if not _started:
        _started = True
        set_from_environment()


def is_on() -> bool:
    """Whether chains become a single launch."""
    return _array._chain_counts()["mode"] != 0


def counts() -> dict[str, int]:
    """Return how many operations were watched and deferred, and how many launches these caused."""
    return _array._chain_counts()


def flush() -> None:
    """Launch deferred work."""
    _array._chain_flush()
