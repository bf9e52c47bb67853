"""Arrays on a CUDA device: NumPy's results, PyCUDA's names. See docs/arrays/index.md."""

from .._src.array import cuda_array as _implementation
from .._src.array import cuda_functions as _functions
from .._src.array.cuda_array import *  # noqa: F403
from .._src.array.cuda_functions import *  # noqa: F403
from .._src.util.public import Forwarding as _Forwarding
from .._src.util.public import forwarding as _forwarding

__all__: list[str] = []
__all__ += _implementation.__all__
__all__ += _functions.__all__

__getattr__: _Forwarding = _forwarding(__name__, _implementation)
