"""Arrays on an OpenCL device: NumPy's results, PyOpenCL's names. See docs/arrays/index.md."""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from ._src.array import opencl_array as _implementation
from ._src.array.opencl_array import *  # noqa: F403
from ._src.array.routines import pyopencl_names as _functions
from ._src.array.routines.pyopencl_names import *  # noqa: F403
from ._src.util.public import forwarding as _forwarding

if _TYPE_CHECKING:
    from ._src.runtime.opencl.types import Allocator as Allocator

__all__ = ["Allocator"]
__all__ += _implementation.__all__
__all__ += _functions.__all__


def __getattr__(name: str) -> _Any:
    if name == "Allocator":
        from ._src.runtime.opencl.types import Allocator

        return Allocator
    if name == "vec":
        import warnings

        from . import cltypes

        warnings.warn("pygpu.array.vec is old; use pygpu.cltypes", DeprecationWarning, stacklevel=2)
        return cltypes
    if name in ("elwise_kernel_runner", "splay", "_splay"):
        from . import array_kernels

        return getattr(array_kernels, name.removeprefix("_"))
    return _forwarding(__name__, _implementation)(name)
