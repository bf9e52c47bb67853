"""Types for annotations, under PyOpenCL's names.

::

    def scaled(queue: cl.CommandQueue, x: Array, wait_for: WaitList = None) -> cl.Event: ...
"""

from ._src.runtime.opencl import types as _implementation
from ._src.runtime.opencl.types import *  # noqa: F403
from ._src.runtime.opencl.types import __all__  # noqa: F401
from ._src.util.public import Forwarding as _Forwarding
from ._src.util.public import forwarding as _forwarding

__getattr__: _Forwarding = _forwarding(__name__, _implementation)
