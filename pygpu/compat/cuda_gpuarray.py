"""Names of pycuda.gpuarray that differ from pygpu.cuda.gpuarray's: see arrays.py."""

from typing import Any

from pygpu.compat.arrays import cuda_names as _names
from pygpu.cuda import gpuarray as _gpuarray

__all__ = list(_gpuarray.__all__)
globals().update(_names())


def _compact_strides(array: Any) -> list[int]:
    """The strides of an array without gaps whose axes lie in memory in the order of this one's."""
    shape, strides = array.shape, array.strides
    packed, step = [0] * len(shape), array.dtype.itemsize
    for axis in sorted(range(len(shape)), key=lambda axis: (strides[axis], shape[axis], axis)):
        packed[axis] = step
        step *= shape[axis]
    return packed
