"""Vectors of two to four numbers in kernels: ``float32x4`` and others, under Numba's names.

A vector is a tuple whose items are also x, y, z and w. It is made from numbers and shorter
vectors, ``float32x4(float32x2(1, 2), 3, 4)``, and like a tuple it is immutable.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from ..ir import Value, flat_values
from ..types import Scalar, TupleType
from ..walk.context import FunctionContext
from ..walk.conversions import cast
from ..walk.registry import Args, Kwargs, WrongCall, count

_LETTERS = ("x", "y", "z", "w")
_C_NAMES = {
    "char": "int8",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "longlong": "int64",
    "float": "float32",
    "double": "float64",
}


class VectorType:
    """The type of a vector, called in kernels to make one. dtype: of its components."""

    def __init__(self, dtype: str, size: int) -> None:
        self.__name__ = f"{dtype}x{size}"
        self.dtype = np.dtype(dtype)
        self.size = self.num_elements = size
        self.name = self.__name__
        self.base_type = self.dtype.type

    @property
    def user_facing_object(self) -> VectorType:
        """Return itself; under Numba's name."""
        return self

    @property
    def aliases(self) -> list[str]:
        """Return its other names, which are those of CUDA C: float4 is float32x4."""
        return [k for k, v in VECTORS.items() if v is self and k != self.__name__]

    def __call__(self, *args: Any) -> Any:
        raise TypeError(f"{self.__name__}() can only be called in a kernel")

    def __repr__(self) -> str:
        return self.__name__

    def emit_call(self, fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
        count(self.__name__, args, kwargs, 1, self.size)
        items = [number for value in args for number in flat_values(value)]
        if len(items) != self.size:
            raise WrongCall(f"{self.__name__}() takes {self.size} numbers, {len(items)} given")
        made = [cast(fc, node, item, self.dtype, node, wraps=True) for item in items]
        kept = made if fc.conditional else [fc.keep(item) for item in made]
        kind = TupleType((Scalar(self.dtype),) * self.size, _LETTERS[: self.size])
        return Value(kind, items=kept)


def _make() -> dict[str, VectorType]:
    found = {}
    for bits in ("int8", "int16", "int32", "int64"):
        for dtype in (bits, f"u{bits}"):
            for size in range(1, 5):
                found[f"{dtype}x{size}"] = VectorType(dtype, size)
    for dtype in ("float32", "float64"):
        for size in range(1, 5):
            found[f"{dtype}x{size}"] = VectorType(dtype, size)
    for name, dtype in _C_NAMES.items():  # float4 is float32x4
        for size in range(1, 5):
            found[f"{name}{size}"] = found[f"{dtype}x{size}"]
            if dtype[0] == "i":
                found[f"u{name}{size}"] = found[f"u{dtype}x{size}"]
    return found


VECTORS = vector_types = _make()
