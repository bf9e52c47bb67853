"""Devices that share objects with OpenGL, and the current OpenGL context.

See docs/opencl/opengl.md.
"""

from ._src.runtime.opencl import gl as _implementation
from ._src.runtime.opencl.gl import *  # noqa: F403
from ._src.runtime.opencl.gl import __all__  # noqa: F401
from ._src.util.public import Forwarding as _Forwarding
from ._src.util.public import forwarding as _forwarding

__getattr__: _Forwarding = _forwarding(__name__, _implementation)
