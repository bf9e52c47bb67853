"""One kernel call as a script of its own. See docs/guide/diagnose.md."""

from typing import Any as _Any

from ._src.runtime.opencl import capture_call as _implementation
from ._src.runtime.opencl.capture_call import *  # noqa: F403
from ._src.runtime.opencl.capture_call import __all__  # noqa: F401


def __getattr__(name: str) -> _Any:
    if hasattr(_implementation, name):  # what programs of the peers use beside the public names
        return getattr(_implementation, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
