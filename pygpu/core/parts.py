"""The algorithms that arrays call by name, loaded when first needed."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

__all__ = ["part"]


@cache
def part(name: str) -> Any:
    """The module pygpu.core.NAME: reduce, scan, sort, index or matmul."""
    return import_module(f"pygpu.core.{name}")
