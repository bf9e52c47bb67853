"""Plain array code as few launches: whether operations in a row become one.

C decides by itself (``src/array/chain.h``), and :mod:`.chain_compiler` makes the kernels. That is
imported when there is something to compile.
"""

from __future__ import annotations

import os
from typing import Any

from pygpu import _array
from pygpu._src.util.lazy import lazy

from .chain_operations import number_of_copy

__all__ = ["counts", "flush", "is_on", "set_from_environment", "set_mode", "start"]

_OFTEN = 6  # a chain that came so many times gets a kernel

_waits = False  # for tests: a chain is compiled before the next operation
_started = False


def _on_frequent(description: tuple[Any, ...]) -> None:
    lazy("pygpu._src.array.chain_compiler").on_frequent(description, _waits)


def set_mode(mode: int, *, wait: bool = False, often: int = _OFTEN, wait_us: int = 300) -> None:
    """0: each operation is a launch; 1: chains that come *often* times are one; 2: as 1, and every
    operation waits until it must be launched, which only tests want.

    wait: compile at once. wait_us: after so many microseconds a chain goes if nothing else happens.
    """
    global _waits
    _waits = wait
    _array._chain_set(mode, _on_frequent, often, wait_us, number_of_copy)


def set_from_environment() -> None:
    """PYGPU_FUSE: 0 or 1 (the default), or for tests "wait" (compile at once) and "late" (mode
    2)."""
    value = os.environ.get("PYGPU_FUSE", "1")
    if value in ("wait", "late"):
        set_mode(2 if value == "late" else 1, wait=True, often=3)
    else:
        set_mode(0 if value == "0" else 1)


def start() -> None:
    """Set the mode when the first arrays are imported."""
    global _started
    if not _started:
        _started = True
        set_from_environment()


def is_on() -> bool:
    """Whether chains become one launch."""
    return _array._chain_counts()["mode"] != 0


def counts() -> dict[str, int]:
    """How many operations were watched and deferred, and the launches that came of them."""
    return _array._chain_counts()


def flush() -> None:
    """Launch deferred work."""
    _array._chain_flush()
