"""Names of pyopencl.array that differ from pygpu.array's: see arrays.py."""

from pygpu import array as _array
from pygpu.compat.arrays import opencl_names as _names

__all__ = list(_array.__all__)
globals().update(_names())
