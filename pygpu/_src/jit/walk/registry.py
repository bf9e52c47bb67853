"""What kernels may call: handlers, registered by the object that a name means."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, TypeVar

from ..ir import Value

__all__ = ["HANDLERS", "Handler", "WrongCall", "count", "find", "finds", "handles"]

Handler = Callable[[Any, ast.Call, list[Value], dict[str, Value]], Value]
_H = TypeVar("_H", bound=Handler)
_F = TypeVar("_F", bound=Callable[[Any], Handler | None])
HANDLERS: dict[Any, Handler] = {}
_FINDERS: list[Callable[[Any], Handler | None]] = []


class WrongCall(Exception):
    """What a builtin was given does not fit; the message tells."""


def find(obj: Any) -> Handler | None:
    """The handler of a callable; None if there is none."""
    try:
        found = HANDLERS.get(obj)
    except TypeError:
        return None
    if found is not None:
        return found
    return next(filter(None, (finder(obj) for finder in _FINDERS)), None)


def handles(*objects: Any) -> Callable[[_H], _H]:
    """Register a handler for these objects."""

    def keep(handler: _H) -> _H:
        for obj in objects:
            HANDLERS[obj] = handler
        return handler

    return keep


def finds(finder: _F) -> _F:
    """Register a function that may know the handler of an object which has none of its own."""
    _FINDERS.append(finder)
    return finder


def count(what: str, args: list[Value], kwargs: dict[str, Value], low: int, high: int) -> None:
    """Check how many arguments a builtin got."""
    if kwargs:
        raise WrongCall(f"{what}() takes no keyword arguments in kernels")
    if not low <= len(args) <= high:
        expected = str(low) if low == high else f"{low} to {high}"
        raise WrongCall(f"{what}() takes {expected} arguments, {len(args)} given")
