"""The CUDA driver's interface, under PyCUDA's names.

Types and functions are those of the C module pygpu._cuda; enumerations come from pygpu.cuda.enums.
"""

from .._cuda import *  # noqa: F403
from ..errors import Error, LaunchError, LogicError, MemoryError, RuntimeError  # noqa: F401
from .enums import *  # noqa: F403

del globals()["Enumeration"]
