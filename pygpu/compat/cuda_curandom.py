"""Names of pycuda.curandom that make arrays: see arrays.py."""

from pygpu.compat.arrays import curandom_names as _names
from pygpu.cuda import curandom as _curandom

__all__ = list(_curandom.__all__)
globals().update(_names())
