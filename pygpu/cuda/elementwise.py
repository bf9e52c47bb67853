"""Kernels from C expressions over arrays, under PyCUDA's names. See docs/kernels/elementwise.md."""

from typing import Any as _Any

from .._src.user_kernels import cuda_elementwise as _implementation
from .._src.user_kernels.cuda_elementwise import *  # noqa: F403
from .._src.user_kernels.cuda_elementwise import __all__  # noqa: F401
from .._src.user_kernels.texture_kernels import (  # noqa: F401
    get_linear_combination_kernel,
    get_put_kernel,
    get_take_kernel,
    get_take_put_kernel,
)


def __getattr__(name: str) -> _Any:
    if hasattr(_implementation, name):  # what programs of the peers use beside the public names
        return getattr(_implementation, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
