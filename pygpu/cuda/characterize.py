"""The abilities of the current device. See docs/opencl/characterize.md."""

from typing import Any as _Any

from .._src.user_kernels import cuda_characterize as _implementation
from .._src.user_kernels.cuda_characterize import *  # noqa: F403
from .._src.user_kernels.cuda_characterize import __all__  # noqa: F401


def __getattr__(name: str) -> _Any:
    if hasattr(_implementation, name):  # what programs of the peers use beside the public names
        return getattr(_implementation, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
