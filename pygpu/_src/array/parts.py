"""Modules that are loaded when they are first needed, by the names that arrays use for them."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

__all__ = ["PARTS", "part"]

PARTS = {
    "dtypes": "pygpu._src.codegen.dtypes",
    "folds": "pygpu._src.array.ufunc_methods",
    "gufuncs": "pygpu._src.array.gufunc",
    "index": "pygpu._src.array.advanced_indexing",
    "interchange": "pygpu._src.array.interchange",
    "layout": "pygpu._src.array.layout",
    "matmul": "pygpu._src.array.matmul",
    "ordered": "pygpu._src.array.associative",
    "reduce": "pygpu._src.array.reduction",
    "scan": "pygpu._src.array.scan",
    "sort": "pygpu._src.array.sort",
    "work": "pygpu._src.array.primitives",
}


@cache
def part(name: str) -> Any:
    """The module of that name in PARTS."""
    return import_module(PARTS[name])
