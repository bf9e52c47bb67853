"""Kernels from C expressions over arrays, under PyCUDA's names. See docs/kernels/elementwise.md."""

from .._src.user_kernels import cuda_elementwise as _implementation
from .._src.user_kernels.cuda_elementwise import *  # noqa: F403
from .._src.user_kernels.cuda_elementwise import __all__  # noqa: F401
from .._src.user_kernels.texture_kernels import (  # noqa: F401
    get_linear_combination_kernel,
    get_put_kernel,
    get_take_kernel,
    get_take_put_kernel,
)
from .._src.util.public import Forwarding as _Forwarding
from .._src.util.public import forwarding as _forwarding

__getattr__: _Forwarding = _forwarding(__name__, _implementation)
