"""Modules and objects that are imported when first needed."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

_objects: dict[str, tuple[str, str]] = {}


@cache
def lazy(module: str) -> Any:
    """Return the module with that full name. Once it is loaded, this costs a tenth of an import
    statement."""
    return import_module(module)


def provide(role: str, module: str, attribute: str) -> None:
    """Register the object for a role, for use by modules that the object's own module imports."""
    _objects[role] = module, attribute


@cache
def provided(role: str) -> Any:
    """Return the object registered for the role. Raises KeyError if there is none."""
    module, attribute = _objects[role]
    return getattr(import_module(module), attribute)
