"""NumPy's functions on devices, and the Python array API standard (2025.12).

>>> from pygpu import xp
>>> x = xp.linspace(0, 1, 5, dtype=xp.float32)
>>> float(xp.sum(x * x))
1.875

The names and arguments are NumPy's, which include the standard's. Arrays are those of pygpu.array
(OpenCL) and pygpu.cuda.gpuarray (CUDA), and have this namespace as their
``__array_namespace__()``. ``device=`` accepts whatever :func:`as_device` does; if none is named,
:func:`default_device` chooses: a GPU by NVIDIA's driver, else OpenCL, else the CUDA simulator. The
standard's version before is :mod:`pygpu.xp.v2024_12`.
"""

import math as _math
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from pygpu import special
from pygpu._src.array.device import Device, as_device, default_device, set_default_device
from pygpu._src.codegen.fastpath import traceable as _traceable

from . import (
    _aliases,
    _concatenation,
    _creation,
    _dtypes,
    _elementwise,
    _grids,
    _host,
    _linear,
    _manipulation,
    _numpy,
    _statistics,
    fft,
    lib,
    linalg,
    polynomial,
)
from ._aliases import *  # noqa: F403
from ._concatenation import *  # noqa: F403
from ._creation import *  # noqa: F403
from ._dtypes import *  # noqa: F403
from ._elementwise import *  # noqa: F403
from ._grids import *  # noqa: F403
from ._host import *  # noqa: F403
from ._info import __array_namespace_info__
from ._linear import *  # noqa: F403
from ._manipulation import *  # noqa: F403
from ._numpy import *  # noqa: F403
from ._statistics import *  # noqa: F403

if _TYPE_CHECKING:
    from pygpu import random as random

__array_api_version__: str = "2025.12"

e: float = _math.e
euler_gamma: float = 0.57721566490153286
inf: float = _math.inf
nan: float = _math.nan
newaxis: None = None
pi: float = _math.pi

__all__ = [
    "Device",
    "__array_api_version__",
    "__array_namespace_info__",
    "as_device",
    "default_device",
    "e",
    "euler_gamma",
    "fft",
    "inf",
    "lib",
    "linalg",
    "nan",
    "newaxis",
    "pi",
    "polynomial",
    "set_default_device",
    "special",
]
__all__ += _aliases.__all__
__all__ += _concatenation.__all__
__all__ += _creation.__all__
__all__ += _dtypes.__all__
__all__ += _elementwise.__all__
__all__ += _grids.__all__
__all__ += _host.__all__
__all__ += _linear.__all__
__all__ += _manipulation.__all__
__all__ += _numpy.__all__
__all__ += _statistics.__all__

# While a function is traced by pygpu.fuse, calls of these are part of it.
_traceable(globals(), __all__)
_traceable(vars(linalg), linalg.__all__)
_traceable(vars(fft), fft.__all__)


# Names of CuPy that are elsewhere in pygpu.
_ELSEWHERE = {
    "ElementwiseKernel": "pygpu.elementwise.ElementwiseKernel",
    "RawKernel": "pygpu.cuda.compiler.SourceModule",
    "RawModule": "pygpu.cuda.compiler.SourceModule",
    "ReductionKernel": "pygpu.reduction.ReductionKernel",
    "cuda": "pygpu.cuda",
    "fuse": "pygpu.fuse",
    "vectorize": "pygpu.vectorize",
}


def __getattr__(name: str) -> _Any:
    if name == "random":  # not part of the standard, and slow to import
        from pygpu import random

        globals()[name] = random
        return random
    advice = f"; use {_ELSEWHERE[name]}" if name in _ELSEWHERE else ""
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{advice}")
