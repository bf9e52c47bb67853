"""numpy.fft for arrays on a device: the same names, signatures and results.

cuFFT computes them on CUDA where it is installed, else kernels of pygpu: docs/arrays/linalg_fft.md.
"""

from __future__ import annotations

from pygpu._src.array.routines.fft import *  # noqa: F403
from pygpu._src.array.routines.fft import __all__ as __all__
