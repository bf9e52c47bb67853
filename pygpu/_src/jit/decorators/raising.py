"""Ufuncs whose function raises exceptions or asserts.

The loops of arrays have no place where a function could report an exception, and those of
:class:`GUFunc` do. So such a function becomes a generalized ufunc of numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiler import source_of
from .guvectorize import GUFunc
from .loops import Loop


class _Type:
    """A type of a signature: of a number, or of an array of one item."""

    def __init__(self, dtype: np.dtype[Any], ndim: int) -> None:
        self.dtype = dtype
        if ndim:
            self.ndim = ndim


class _Signature:
    results = returns = None

    def __init__(self, args: list[_Type]) -> None:
        self.args = args


def raising(function: Any, loop: Loop, target: str | None) -> GUFunc:
    """Return the generalized ufunc for one loop of a ufunc."""
    ins = [f"x{k}" for k in range(len(loop.inputs))]
    outs = [f"y{k}" for k in range(len(loop.outputs))]
    assigned = ", ".join(f"{y}[0]" for y in outs)
    text = f"def item({', '.join(ins + outs)}):\n    {assigned} = function({', '.join(ins)})\n"
    names: dict[str, Any] = {"function": function, "__name__": __name__}
    exec(text, names)
    item = names["item"]
    item.__name__ = item.__qualname__ = getattr(function, "__name__", "function")
    item._pygpu_widens = getattr(function, "_pygpu_widens", False)
    source_of(item, text)
    types = [_Type(d, 0) for d in loop.inputs] + [_Type(d, 1) for d in loop.outputs]
    layout = ",".join(["()"] * len(ins)) + "->" + ",".join(["()"] * len(outs))
    return GUFunc(item, [_Signature(types)], layout, target)
