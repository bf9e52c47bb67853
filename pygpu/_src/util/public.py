"""The module where users find a name: repr(), help() and pickle read it from ``__module__``."""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType
from typing import Any

__all__ = ["publish"]


def publish(namespace: dict[str, Any], names: Iterable[str], module: str) -> None:
    """Set ``__module__`` to *module*, which exports them, for those of the functions and classes
    *names* that *namespace* (a module's globals()) defines."""
    home = namespace["__name__"]
    for name in names:
        item = namespace[name]
        function = getattr(item, "__wrapped__", item)
        for found in (item, function):
            if isinstance(found, (FunctionType, type)) and found.__module__ == home:
                found.__module__ = module
