"""The CUDA driver's interface, under PyCUDA's names.

Types and functions are those of the C module pygpu._cuda; enumerations come from pygpu.cuda.enums.
"""

from .._cuda import *  # noqa: F403
from ..errors import Error, LaunchError, LogicError, MemoryError, RuntimeError  # noqa: F401
from .driver_arrays import *  # noqa: F403
from .enums import *  # noqa: F403
from .errors import CompileError  # noqa: F401
from .pools import DebugMemoryPool  # noqa: F401

del globals()["Enumeration"]

# PyCUDA's other names.
HostAllocation = PagelockedHostAllocation  # noqa: F405
ManagedAllocationOrStub = ManagedAllocation  # noqa: F405
py_memcpy_htoa = memcpy_htoa  # noqa: F405
py_memcpy_atoh = memcpy_atoh  # noqa: F405

# Flags of texture references.
TRSA_OVERRIDE_FORMAT = 1
TRSF_READ_AS_INTEGER = 1
TRSF_NORMALIZED_COORDINATES = 2
TR_DEFAULT = -1

CUDA_DEBUGGING = False


def set_debugging(flag: bool = True) -> None:
    """Compile sources with debug information (-G) and without the cache from now on."""
    global CUDA_DEBUGGING
    CUDA_DEBUGGING = flag


def get_version() -> tuple[int, int, int]:
    """The CUDA whose interface pygpu was written for."""
    return (13, 0, 0)


def have_gl_ext() -> bool:
    """False: CUDA and OpenGL objects are not shared."""
    return False
