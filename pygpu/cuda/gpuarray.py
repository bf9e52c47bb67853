"""Arrays on a CUDA device: NumPy's results, PyCUDA's names. See docs/arrays/index.md."""

from typing import Any as _Any

from .._src.array import cuda_array as _implementation
from .._src.array import cuda_functions as _functions
from .._src.array.cuda_array import *  # noqa: F403
from .._src.array.cuda_functions import *  # noqa: F403

__all__: list[str] = []
__all__ += _implementation.__all__
__all__ += _functions.__all__


def __getattr__(name: str) -> _Any:
    if hasattr(_implementation, name):  # what programs of the peers use beside the public names
        return getattr(_implementation, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
