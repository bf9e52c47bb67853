"""The modules that follow the array API standard, by its version; None is the latest. pygpu fills
it, so that arrays need not know the modules that are built on them."""

from __future__ import annotations

__all__ = ["ARRAY_NAMESPACES"]

ARRAY_NAMESPACES: dict[str | None, str] = {}
