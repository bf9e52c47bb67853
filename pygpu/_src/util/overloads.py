"""Functions with the types of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

_FunctionT = TypeVar("_FunctionT", bound=Callable[..., Any])


def overloads_of(other: _FunctionT) -> Callable[[Callable[..., Any]], _FunctionT]:
    """Declares that a function has the overloads of another; the function itself is unchanged."""
    return lambda function: cast("_FunctionT", function)
