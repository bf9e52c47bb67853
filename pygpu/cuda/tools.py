"""Tools around CUDA kernels, under PyCUDA's names. See docs/cuda/pools.md."""

from typing import Any as _Any

from .._src.user_kernels import cuda_tools as _implementation
from .._src.user_kernels.cuda_tools import *  # noqa: F403
from .._src.user_kernels.cuda_tools import __all__  # noqa: F401


def __getattr__(name: str) -> _Any:
    if hasattr(_implementation, name):  # what programs of the peers use beside the public names
        return getattr(_implementation, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
