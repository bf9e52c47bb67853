"""Numba's arithmetic of integers for the functions that its decorators are given."""

from __future__ import annotations

import functools
from typing import Any

from pygpu._src.jit.source import python_function

__all__ = ["widening"]


def _mark_widening(function: Any) -> Any:
    inner = python_function(function)
    if inner is not None:
        inner._pygpu_widens = True  # type: ignore[attr-defined]
    return function


def widening(decorator: Any, then: Any = lambda made: made) -> Any:
    """The decorator, for functions whose integers of less than 64 bits are computed in 64, as Numba
    does: the sum of two uint8 is a uint64, of an int32 and 1 an int64. then: called with what the
    decorator makes."""

    @functools.wraps(decorator)
    def decorate(*args: Any, **kwargs: Any) -> Any:
        if args and python_function(args[0]) is not None:
            return then(decorator(_mark_widening(args[0]), *args[1:], **kwargs))
        made = decorator(*args, **kwargs)
        return lambda function: then(made(_mark_widening(function)))

    return decorate
