"""numpy.linalg for arrays on a device: the same names, signatures and results.

cuSOLVER and cuBLAS compute them on CUDA where they are installed, else kernels of pygpu or NumPy on
the host: docs/arrays/linalg_fft.md.
"""

from __future__ import annotations

from pygpu._src.array.routines.linalg import *  # noqa: F403
from pygpu._src.array.routines.linalg import __all__ as __all__
