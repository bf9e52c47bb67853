"""The abilities of the current device. See docs/opencl/characterize.md."""

from .._src.user_kernels import cuda_characterize as _implementation
from .._src.user_kernels.cuda_characterize import *  # noqa: F403
from .._src.user_kernels.cuda_characterize import __all__  # noqa: F401
from .._src.util.public import Forwarding as _Forwarding
from .._src.util.public import forwarding as _forwarding

__getattr__: _Forwarding = _forwarding(__name__, _implementation)
