"""Functions that need no Python where their arguments are of the common kinds.

``@shortcut("zeros")`` puts the way in C of that name (src/array/ways.def) before a function: the
function is what says what the call does and refuses, and does whatever the way leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from pygpu._array import Shortcut

__all__ = ["shortcut"]

_F = TypeVar("_F", bound=Callable[..., Any])


def shortcut(name: str) -> Callable[[_F], _F]:
    """A decorator. Raises ValueError for a name that src/array/ways.def does not have."""

    def decorate(function: _F) -> _F:
        return cast(_F, Shortcut(name, function))

    return decorate
