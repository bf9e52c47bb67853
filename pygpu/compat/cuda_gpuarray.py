"""Names of pycuda.gpuarray that differ from pygpu.cuda.gpuarray's: see arrays.py."""

from pygpu.compat.arrays import cuda_names as _names
from pygpu.cuda import gpuarray as _gpuarray

__all__ = list(_gpuarray.__all__)
globals().update(_names())
