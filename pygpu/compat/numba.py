"""Names of Numba: its decorators for functions of arrays, and its types.

``jit`` and ``njit`` leave a function the plain Python function that it is, which kernels can call:
pygpu compiles for devices, not for the host.
"""

from __future__ import annotations

from typing import Any

from pygpu.compat import numba_config as config
from pygpu.pykernel.guvectorize import guvectorize
from pygpu.pykernel.jit import jit
from pygpu.pykernel.signature import TYPES, Tuple, UniTuple
from pygpu.pykernel.source import KernelError as TypingError
from pygpu.pykernel.vectorize import vectorize

__all__ = [
    "NumbaDeprecationWarning",
    "NumbaPerformanceWarning",
    "NumbaWarning",
    "Tuple",
    "TypingError",
    "UniTuple",
    "config",
    "from_dtype",
    "guvectorize",
    "jit",
    "njit",
    "prange",
    "typeof",
    "vectorize",
    *TYPES,
]

globals().update(TYPES)
njit = jit
prange = range


class NumbaWarning(Warning):
    """The base of Numba's warnings; never given."""


class NumbaPerformanceWarning(NumbaWarning):
    """For programs that filter it; never given."""


class NumbaDeprecationWarning(NumbaWarning, DeprecationWarning):
    """For programs that filter it; never given."""


def from_dtype(dtype: Any) -> Any:
    """The type of a NumPy dtype: of numbers as signatures write it, of records the dtype itself."""
    import numpy as np

    from pygpu.pykernel.signature import as_type

    found = np.dtype(dtype)
    return found if found.names else as_type(found)


def typeof(value: Any) -> Any:
    """The type of a number or an array, as signatures write it."""
    import numpy as np

    from pygpu.pykernel.signature import ArrayType, as_type

    found = value if hasattr(value, "dtype") else np.asarray(value)
    if getattr(found, "ndim", 0):
        flags = found.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return ArrayType(found.dtype, found.ndim, layout)
    return as_type(found.dtype)


def set_num_threads(count: int) -> None:
    """Has no effect: a device decides how much of it is used."""
    if count < 1:
        raise ValueError("set_num_threads: at least one thread")


def get_num_threads() -> int:
    """1; see set_num_threads."""
    return 1
