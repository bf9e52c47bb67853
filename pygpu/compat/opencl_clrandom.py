"""Names of pyopencl.clrandom that make arrays: see arrays.py."""

from pygpu import clrandom as _clrandom
from pygpu.compat.arrays import clrandom_names as _names

__all__ = list(_clrandom.__all__)
globals().update(_names())
