"""Which C type a NumPy dtype is inside a CUDA kernel. See docs/cuda/arrays.md."""

from .._src.runtime.cuda import c_types as _implementation
from .._src.runtime.cuda.c_types import *  # noqa: F403
from .._src.runtime.cuda.c_types import __all__  # noqa: F401
from .._src.util.public import Forwarding as _Forwarding
from .._src.util.public import forwarding as _forwarding

__getattr__: _Forwarding = _forwarding(__name__, _implementation)
