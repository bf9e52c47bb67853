"""One kernel call as a script of its own. See docs/guide/diagnose.md."""

from ._src.runtime.opencl import capture_call as _implementation
from ._src.runtime.opencl.capture_call import *  # noqa: F403
from ._src.runtime.opencl.capture_call import __all__  # noqa: F401
from ._src.util.public import Forwarding as _Forwarding
from ._src.util.public import forwarding as _forwarding

__getattr__: _Forwarding = _forwarding(__name__, _implementation)
