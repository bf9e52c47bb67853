"""Which C type a NumPy dtype is inside an OpenCL kernel, and back. See docs/opencl/tools.md."""

from ._src.runtime import c_types as _implementation
from ._src.runtime.c_types import *  # noqa: F403
from ._src.runtime.c_types import __all__  # noqa: F401
from ._src.util.public import Forwarding as _Forwarding
from ._src.util.public import forwarding as _forwarding

__getattr__: _Forwarding = _forwarding(__name__, _implementation)
