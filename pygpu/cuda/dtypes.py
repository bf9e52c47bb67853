"""Which C type a NumPy dtype is inside a CUDA kernel. See docs/cuda/arrays.md."""

from typing import Any as _Any

from .._src.runtime.cuda import c_types as _implementation
from .._src.runtime.cuda.c_types import *  # noqa: F403
from .._src.runtime.cuda.c_types import __all__  # noqa: F401


def __getattr__(name: str) -> _Any:
    if hasattr(_implementation, name):  # what programs of the peers use beside the public names
        return getattr(_implementation, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
