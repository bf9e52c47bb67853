"""The types of Numba as names that ``numba.cuda`` has: float32, int64, void, ..."""

from __future__ import annotations

from typing import Any

from pygpu._src.jit.signature import TYPES, narrow

__all__ = [*TYPES]

globals().update(TYPES)


def __getattr__(name: str) -> Any:
    if name == "types":
        from pygpu.compat import numba

        return numba
    if name == "bfloat16":
        return narrow(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
