"""The types of pygpu.cuda.gpuarray on the way from the host and back."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

from pygpu.cuda import cumath, gpuarray
from pygpu.cuda.driver import DeviceAllocation, PointerHolderBase, Stream
from pygpu.cuda.gpuarray import GPUArray

f4 = gpuarray.to_gpu(np.arange(4, dtype=np.float32))
i4 = gpuarray.arange(4, dtype=np.int32)

assert_type(f4, GPUArray[np.float32])
assert_type(i4, GPUArray[np.int32])
assert_type(gpuarray.to_gpu([1, 2]), GPUArray[Any])
assert_type(gpuarray.zeros(4), GPUArray[np.float64])
assert_type(gpuarray.ones(4, np.int8), GPUArray[np.int8])
assert_type(gpuarray.empty((2, 2), np.float16), GPUArray[np.float16])
assert_type(gpuarray.full(4, 7, np.uint8), GPUArray[np.uint8])
assert_type(gpuarray.zeros_like(f4), GPUArray[np.float32])
assert_type(gpuarray.empty_like(f4, np.int16), GPUArray[np.int16])

assert_type(2 * f4 + 1, GPUArray[np.float32])
assert_type(f4 / f4, GPUArray[np.float32])
assert_type(f4 + i4, GPUArray[Any])
assert_type(f4 >= 0, GPUArray[np.bool_])
assert_type(i4 & 3, GPUArray[np.int32])
assert_type(f4.sum(), GPUArray[np.float32])
assert_type(f4.all(), GPUArray[np.bool_])
assert_type(f4.astype(np.float64), GPUArray[np.float64])
assert_type(f4.reshape((2, 2))[0].copy(), GPUArray[np.float32])
assert_type(f4.stream, Stream | None)
assert_type(f4.ptr, int)
assert_type((f4 + 1).get(), NDArray[np.float32])

# ---- functions of the module, and of pygpu.cuda.cumath

assert_type(gpuarray.sum(f4), GPUArray[np.float32])
assert_type(gpuarray.sum(i4), GPUArray[np.int64])
assert_type(gpuarray.min(f4), GPUArray[np.float32])
assert_type(gpuarray.dot(f4, f4), GPUArray[np.float32])
assert_type(gpuarray.take(f4, i4), GPUArray[np.float32])
assert_type(gpuarray.concatenate([f4, f4]), GPUArray[np.float32])
assert_type(gpuarray.if_positive(f4, f4, f4), GPUArray[np.float32])
assert_type(gpuarray.subset_dot(i4, f4, f4), GPUArray[Any])
assert_type(cumath.sin(f4), GPUArray[np.float32])
assert_type(cumath.exp(f4, out=f4), GPUArray[np.float32])
assert_type(cumath.modf(f4), tuple[GPUArray[np.float32], GPUArray[np.float32]])

# ---- what is known of it

assert_type(f4.gpudata, DeviceAllocation | PointerHolderBase | int)
assert_type(f4.mem_size, int)
assert_type(f4.real, GPUArray[np.float32])
assert_type(f4.flags.c_contiguous, bool)
assert_type(f4.any(), GPUArray[np.bool_])
