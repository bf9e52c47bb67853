"""Public modules whose names are implemented elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import FunctionType, ModuleType
from typing import Any, TypeAlias


def publish(namespace: dict[str, Any], names: Iterable[str], module: str) -> None:
    """Set ``__module__`` to *module*, which exports them, for those of the functions and classes
    *names* that *namespace* (a module's globals()) defines: repr(), help() and pickle read it."""
    home = namespace["__name__"]
    for name in names:
        item = namespace[name]
        function = getattr(item, "__wrapped__", item)
        for found in (item, function):
            if isinstance(found, (FunctionType, type)) and found.__module__ == home:
                found.__module__ = module


Forwarding: TypeAlias = Callable[[str], Any]


def forwarding(module: str, implementation: ModuleType) -> Forwarding:
    """Return a ``__getattr__`` for *module*, which finds what programs of the peers use of its
    implementation beside the public names."""

    def __getattr__(name: str) -> Any:
        if hasattr(implementation, name):
            return getattr(implementation, name)
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return __getattr__
