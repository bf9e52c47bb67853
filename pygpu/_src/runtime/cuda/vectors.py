"""CUDA's vector types (float4, int2, ...) as structured dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .c_types import get_or_register_dtype


class vec:
    """CUDA's vector types as structured dtypes (``vec.float3``), and functions that make a value
    of each (``vec.make_float3(x, y, z)``)."""


def _make_vector_types() -> None:
    def maker(dtype: np.dtype[Any]) -> Callable[..., Any]:
        def make(*components: Any) -> Any:
            return np.array(components, dtype=dtype)

        return make

    for base, code, counts in (
        ("char", "i1", (1, 2, 3, 4)),
        ("uchar", "u1", (1, 2, 3, 4)),
        ("short", "i2", (1, 2, 3, 4)),
        ("ushort", "u2", (1, 2, 3, 4)),
        ("int", "i4", (1, 2, 3, 4)),
        ("uint", "u4", (1, 2, 3, 4)),
        ("long", "i8", (1, 2, 3, 4)),
        ("ulong", "u8", (1, 2, 3, 4)),
        ("longlong", "i8", (1, 2)),
        ("ulonglong", "u8", (1, 2)),
        ("float", "f4", (1, 2, 3, 4)),
        ("double", "f8", (1, 2)),
    ):
        for count in counts:
            name = f"{base}{count}"
            dtype = np.dtype([("xyzw"[k], code) for k in range(count)])
            get_or_register_dtype(name, dtype)
            setattr(vec, name, dtype)
            setattr(vec, f"make_{name}", staticmethod(maker(dtype)))


_make_vector_types()
