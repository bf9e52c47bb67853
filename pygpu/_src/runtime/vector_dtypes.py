"""The structured dtypes of OpenCL's vector types. :mod:`.c_types` maps their C names to them, and
:mod:`.opencl.vector_types` makes values of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

SCALARS = {
    "char": np.int8,
    "uchar": np.uint8,
    "short": np.int16,
    "ushort": np.uint16,
    "int": np.int32,
    "uint": np.uint32,
    "long": np.int64,
    "ulong": np.uint64,
    "float": np.float32,
    "double": np.float64,
}
COUNTS = (2, 3, 4, 8, 16)


def _vector_dtype(scalar: np.dtype[Any], count: int) -> np.dtype[Any]:
    """Return the structured dtype of *count* scalars: fields s0.. with titles x, y, z, w, then
    padding."""
    slots = 4 if count == 3 else count
    return np.dtype(
        {
            "names": [f"s{i}" if i < count else f"padding{i - count}" for i in range(slots)],
            "formats": [scalar] * slots,
            "titles": ["xyzw"[i] if i < min(count, 4) else None for i in range(slots)],
        }
    )


def vector_dtypes() -> Iterator[tuple[str, np.dtype[Any], int, np.dtype[Any]]]:
    """Yield (name, scalar dtype, count, dtype) of each vector type."""
    for name, kind in SCALARS.items():
        scalar = np.dtype(kind)
        for count in COUNTS:
            yield f"{name}{count}", scalar, count, _vector_dtype(scalar, count)
