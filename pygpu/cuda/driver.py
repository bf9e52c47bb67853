"""The CUDA driver's interface, under PyCUDA's names.

Types and functions are those of the C module pygpu._cuda. Enumerations, and what is written in
Python, are loaded when a name of theirs is first asked for: importing this module takes a
millisecond or two.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from .._cuda import *  # noqa: F403
from ..errors import (  # noqa: F401
    CompileError,
    Error,
    LaunchError,
    LogicError,
    MemoryError,
    RuntimeError,
)

if _TYPE_CHECKING:
    from pygpu._src.runtime.cuda.driver_arrays import *  # noqa: F403
    from pygpu._src.runtime.cuda.enums import *  # noqa: F403
    from pygpu._src.runtime.cuda.pools import DebugMemoryPool  # noqa: F401

_LATER = ("enums", "driver_arrays", "pools")


def _later() -> dict[str, _Any]:
    """The names of the modules that are loaded later."""
    found: dict[str, _Any] = {}
    for name in _LATER:
        module = _import_module(f"pygpu._src.runtime.cuda.{name}")
        found |= {public: getattr(module, public) for public in module.__all__}
    del found["Enumeration"]
    return found


def __getattr__(name: str) -> _Any:
    if name == "__all__":  # of `import *`
        return [public for public in __dir__() if not public.startswith("_")]
    if not name.startswith("_") and "device_attribute" not in globals():
        globals().update(_later())
        if name in globals():
            return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_later()})


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
    from .._src.runtime.cuda import debugging

    debugging.set_debugging(flag)


def get_version() -> tuple[int, int, int]:
    """The CUDA version whose interface pygpu was written for."""
    return (13, 0, 0)


def have_gl_ext() -> bool:
    """False: sharing objects between CUDA and OpenGL is not supported."""
    return False
