"""Modules that arrays load when they are first needed."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

__all__ = ["lazy"]

_MODULES = {
    "advanced_indexing": "pygpu._src.array.advanced_indexing",
    "associative": "pygpu._src.array.associative",
    "dtypes": "pygpu._src.codegen.dtypes",
    "elementwise_text": "pygpu._src.codegen.kernels.elementwise",
    "gufunc": "pygpu._src.array.gufunc",
    "interchange": "pygpu._src.array.interchange",
    "layout": "pygpu._src.array.layout",
    "matmul": "pygpu._src.array.matmul",
    "primitives": "pygpu._src.array.primitives",
    "reduction": "pygpu._src.array.reduction",
    "row_tiles": "pygpu._src.codegen.kernels.row_tiles",
    "scan": "pygpu._src.array.scan",
    "sort": "pygpu._src.array.sort",
    "transpose": "pygpu._src.array.transpose",
    "ufunc_methods": "pygpu._src.array.ufunc_methods",
}


@cache
def lazy(name: str) -> Any:
    """The module of that name. Imported here, in a call, because arrays are what it works on."""
    return import_module(_MODULES[name])
