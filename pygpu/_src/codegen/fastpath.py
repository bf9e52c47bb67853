"""Functions that need no Python where their arguments are of the common kinds.

``@fastpath("zeros")`` puts the C function of that name (src/array/fastpaths.def) before a Python
one, which documents the call, refuses what is wrong, and does whatever the C function leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from pygpu._array import FastPath

__all__ = ["fastpath"]

_F = TypeVar("_F", bound=Callable[..., Any])


def fastpath(name: str) -> Callable[[_F], _F]:
    """A decorator. Raises ValueError for a name that src/array/fastpaths.def does not have."""

    def decorate(function: _F) -> _F:
        return cast(_F, FastPath(name, function))

    return decorate
