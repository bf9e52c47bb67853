"""Which devices share with OpenGL, and which OpenGL context is current. See docs/opengl.md."""

from typing import Any as _Any

from ._src.runtime.opencl import gl as _implementation
from ._src.runtime.opencl.gl import *  # noqa: F403
from ._src.runtime.opencl.gl import __all__  # noqa: F401


def __getattr__(name: str) -> _Any:
    if hasattr(_implementation, name):  # what programs of the peers use beside the public names
        return getattr(_implementation, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
