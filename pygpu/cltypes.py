"""NumPy dtypes of OpenCL's scalar and vector types. See docs/opencl/cltypes.md."""

from typing import Any as _Any

from ._src.runtime.opencl import vector_types as _implementation
from ._src.runtime.opencl.vector_types import *  # noqa: F403


def __getattr__(name: str) -> _Any:
    if hasattr(_implementation, name):  # what programs of the peers use beside the public names
        return getattr(_implementation, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
