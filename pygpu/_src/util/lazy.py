"""Modules and their objects that are loaded when they are first needed."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

__all__ = ["lazy", "provide", "provided"]

_places: dict[str, tuple[str, str]] = {}


@cache
def lazy(module: str) -> Any:
    """The module of that full name. If it is loaded, this costs a tenth of an import statement."""
    return import_module(module)


def provide(role: str, module: str, attribute: str) -> None:
    """Say which object plays a role, for modules that the object's own module is built upon."""
    _places[role] = module, attribute


@cache
def provided(role: str) -> Any:
    """The object that plays the role. Raises KeyError if there is none."""
    module, attribute = _places[role]
    return getattr(import_module(module), attribute)
