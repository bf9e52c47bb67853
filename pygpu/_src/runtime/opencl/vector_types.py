"""NumPy dtypes of OpenCL's scalar and vector types.

Scalars are NumPy's own types: ``char`` is ``numpy.int8``, ``uint`` is ``numpy.uint32``, ``half``
is ``numpy.float16``.

Vectors are the 50 types {char, uchar, short, ushort, int, uint, long, ulong, float, double} x {2,
3, 4, 8, 16}, structured dtypes with the fields s0, s1, ... also called x, y, z, w. As in OpenCL, a
vector of 3 occupies the space of 4. For each vector type T there are

* ``make_T(v0, v1, ...)``: an array of shape () that holds these components,
* ``filled_T(v)``, ``zeros_T()``, ``ones_T()``: one with all components equal.

``vec_types`` maps (scalar dtype, count) to a vector dtype, ``vec_type_to_scalar_and_count`` maps
it back.

>>> v = make_float4(1, 2, 3, 4)
>>> v["y"].item(), float4.itemsize
(2.0, 16)
"""

from __future__ import annotations

import builtins
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from pygpu._src.runtime.c_types import get_or_register_dtype
from pygpu._src.runtime.vector_dtypes import vector_dtypes as _vector_dtypes

char = np.int8
uchar = np.uint8
short = np.int16
ushort = np.uint16
int = np.int32
uint = np.uint32
long = np.int64
ulong = np.uint64
half = np.float16
float = np.float32
double = np.float64

vec_types: dict[tuple[np.dtype[Any], builtins.int], np.dtype[Any]] = {}
vec_type_to_scalar_and_count: dict[np.dtype[Any], tuple[np.dtype[Any], builtins.int]] = {}


class _ComponentsError(TypeError, ValueError):
    """PyOpenCL raises NumPy's ValueError."""


def _maker(
    name: str, dtype: np.dtype[Any], count: builtins.int
) -> Callable[..., np.ndarray[Any, Any]]:
    """Make ``make_<name>``; separate from the loop so that each function closes over its own
    type."""
    names = dtype.names or ()
    slots = len(names)
    zeros = (0,) * slots

    def make(*args: Any, **kwargs: Any) -> np.ndarray[Any, Any]:
        if len(args) > slots:
            raise _ComponentsError(f"make_{name} takes {count} components, {len(args)} were given")
        if len(args) < count and len(args) + len(kwargs) < count:
            warnings.warn(
                f"make_{name} with fewer than {count} components is deprecated: "
                f"give all of them, or start from zeros_{name}()",
                DeprecationWarning,
                stacklevel=2,
            )
        vector = np.array(args + zeros[len(args) :], dtype=dtype)
        for field, value in kwargs.items():
            vector[field] = value
        return vector

    make.__name__ = make.__qualname__ = f"make_{name}"
    make.__doc__ = f"A {name} of the given components, as an array of shape ()."
    return make


def _fillers(
    name: str, dtype: np.dtype[Any], count: builtins.int
) -> tuple[Callable[..., Any], Callable[[], Any], Callable[[], Any]]:
    """Make ``filled_<name>``, ``zeros_<name>`` and ``ones_<name>``."""
    padding = (0,) * (len(dtype.names or ()) - count)

    def filled(val: Any) -> np.ndarray[Any, Any]:
        return np.array((val,) * count + padding, dtype=dtype)

    def zeros() -> np.ndarray[Any, Any]:
        return filled(0)

    def ones() -> np.ndarray[Any, Any]:
        return filled(1)

    for function, verb in ((filled, "filled"), (zeros, "zeros"), (ones, "ones")):
        function.__name__ = function.__qualname__ = f"{verb}_{name}"
        function.__doc__ = f"A {name} with every component the same, as an array of shape ()."
    return filled, zeros, ones


def _define(name: str, scalar: np.dtype[Any], count: builtins.int, dtype: np.dtype[Any]) -> None:
    """Make a vector type and its four functions global names."""
    filled, zeros, ones = _fillers(name, dtype, count)
    globals().update(
        {
            name: dtype,
            f"make_{name}": _maker(name, dtype, count),
            f"filled_{name}": filled,
            f"zeros_{name}": zeros,
            f"ones_{name}": ones,
        }
    )
    vec_types[scalar, count] = dtype
    vec_type_to_scalar_and_count[dtype] = scalar, count


for _name, _scalar, _count, _ in _vector_dtypes():
    _define(_name, _scalar, _count, get_or_register_dtype(_name))
del _name, _scalar, _count, _
