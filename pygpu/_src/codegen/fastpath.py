"""Functions that run without Python code if their arguments have common types.

``@fastpath("zeros")`` tries the C function of that name (src/array/fastpaths.def) before the
Python function, which documents the call, rejects invalid arguments, and handles all other cases.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, TypeVar, cast

from pygpu._array import FastPath

__all__ = ["fastpath", "traceable"]

_F = TypeVar("_F", bound=Callable[..., Any])


def fastpath(name: str) -> Callable[[_F], _F]:
    """Make a decorator. Raises ValueError for a name that is not in src/array/fastpaths.def."""

    def decorate(function: _F) -> _F:
        return cast(_F, FastPath(name, function))

    return decorate


def traceable(namespace: dict[str, Any], names: Sequence[str]) -> None:
    """Make a module's functions with these names traceable by pygpu.fuse."""
    for name in names:
        if type(namespace[name]) is FunctionType:
            namespace[name] = FastPath("traced", namespace[name])
