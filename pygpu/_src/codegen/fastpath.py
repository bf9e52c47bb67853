"""Functions that need no Python where their arguments are of the common kinds.

``@fastpath("zeros")`` puts the C function of that name (src/array/fastpaths.def) before a Python
one, which documents the call, refuses what is wrong, and does whatever the C function leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, TypeVar, cast

from pygpu._array import FastPath

__all__ = ["fastpath", "traceable"]

_F = TypeVar("_F", bound=Callable[..., Any])


def fastpath(name: str) -> Callable[[_F], _F]:
    """A decorator. Raises ValueError for a name that src/array/fastpaths.def does not have."""

    def decorate(function: _F) -> _F:
        return cast(_F, FastPath(name, function))

    return decorate


def traceable(namespace: dict[str, Any], names: Sequence[str]) -> None:
    """Let calls of a module's functions of these names be traced by pygpu.fuse."""
    for name in names:
        if type(namespace[name]) is FunctionType:
            namespace[name] = FastPath("traced", namespace[name])
