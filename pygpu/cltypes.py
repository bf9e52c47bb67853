"""NumPy dtypes of OpenCL's scalar and vector types. See docs/opencl/cltypes.md."""

from ._src.runtime.opencl import vector_types as _implementation
from ._src.runtime.opencl.vector_types import *  # noqa: F403
from ._src.util.public import Forwarding as _Forwarding
from ._src.util.public import forwarding as _forwarding

__getattr__: _Forwarding = _forwarding(__name__, _implementation)
