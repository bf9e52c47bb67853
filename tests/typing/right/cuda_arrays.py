"""The types of pygpu.cuda.gpuarray on the way from the host and back."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

from pygpu.cuda import gpuarray
from pygpu.cuda.driver import Stream
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
