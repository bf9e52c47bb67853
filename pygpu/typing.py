"""Types for annotations, under PyOpenCL's names.

::

    def scaled(queue: cl.CommandQueue, x: Array, wait_for: WaitList = None) -> cl.Event: ...
"""

from typing import Any as _Any

from ._src.runtime.opencl import types as _implementation
from ._src.runtime.opencl.types import *  # noqa: F403
from ._src.runtime.opencl.types import __all__  # noqa: F401


def __getattr__(name: str) -> _Any:
    if hasattr(_implementation, name):  # what programs of the peers use beside the public names
        return getattr(_implementation, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
