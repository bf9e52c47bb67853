"""The compiler of Python kernels, for code that generates kernels: see docs/kernels/pykernel.md."""

from .._src.jit import *  # noqa: F403
from .._src.jit import __all__  # noqa: F401
