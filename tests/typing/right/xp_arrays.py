"""The types of pygpu.xp, whose arrays are of either system."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import pygpu as cl
from pygpu import GPUArray, xp
from pygpu.array import Array
from pygpu.cuda import gpuarray

x = xp.linspace(0, 1, 5, dtype=xp.float32)
i8 = xp.arange(5)

# ---- making arrays

assert_type(x, GPUArray[np.float32])
assert_type(i8, GPUArray[np.int64])
assert_type(xp.zeros((2, 2)), GPUArray[np.floating[Any]])
assert_type(xp.ones(3, dtype=np.int8), GPUArray[np.int8])
assert_type(xp.full(3, True), GPUArray[np.bool_])
assert_type(xp.full(3, 1.5, dtype=xp.float16), GPUArray[np.float16])
assert_type(xp.empty(3, dtype="f4", device="opencl:0"), GPUArray[Any])
assert_type(xp.asarray([1, 2]), GPUArray[Any])
assert_type(xp.asarray(np.ones(3)), GPUArray[np.float64])
assert_type(xp.asarray([1, 2], dtype=xp.uint8), GPUArray[np.uint8])
assert_type(xp.zeros_like(x), GPUArray[np.float32])
assert_type(xp.zeros_like(x, dtype=xp.int16), GPUArray[np.int16])
assert_type(xp.astype(x, xp.complex64), GPUArray[np.complex64])
assert_type(cl.from_dlpack(np.ones(3)), GPUArray[Any])

# ---- functions

assert_type(xp.sin(x), GPUArray[np.float32])
assert_type(xp.sin(i8), GPUArray[np.floating[Any]])
assert_type(xp.abs(xp.fft.fft(x)), GPUArray[np.float32])
assert_type(xp.isnan(x), GPUArray[np.bool_])
assert_type(xp.zeros((2, 3), xp.int32), GPUArray[np.int32])
assert_type(xp.sum(x, 0), GPUArray[np.float32])
assert_type(xp.cbrt(x), GPUArray[np.float32])
assert_type(xp.flipud(x), GPUArray[np.float32])
assert_type(xp.unique(x), GPUArray[np.float32])
assert_type(xp.unique(x, return_counts=True), tuple[GPUArray[Any], ...])
assert_type(xp.histogram(x, 5), tuple[GPUArray[Any], GPUArray[Any]])
assert_type(xp.isclose(x, 1.0), GPUArray[np.bool_])
assert_type(xp.add.reduce(x), GPUArray[Any])
assert_type(xp.add(x, 1, out=x, where=xp.isnan(x)), GPUArray[np.float32])
assert_type(xp.asnumpy(x), NDArray[Any])
assert_type(xp.linalg.svd(x, compute_uv=False), GPUArray[np.floating[Any]])
assert_type(xp.add(x, 1), GPUArray[np.float32])
assert_type(xp.multiply(2.5, x), GPUArray[np.float32])
assert_type(xp.divide(i8, 2), GPUArray[np.floating[Any]])
assert_type(xp.less(x, 1), GPUArray[np.bool_])
assert_type(xp.where(x > 1, x, 0), GPUArray[np.float32])
assert_type(xp.sum(x * x), GPUArray[np.float32])
assert_type(xp.sum(i8, axis=0), GPUArray[np.int64])
assert_type(xp.mean(i8), GPUArray[np.floating[Any]])
assert_type(xp.argmax(x), GPUArray[np.int64])
assert_type(xp.reshape(x, (5, 1)), GPUArray[np.float32])
assert_type(xp.concat([x, x]), GPUArray[np.float32])
assert_type(xp.unique_counts(x).values, GPUArray[np.float32])
assert_type(xp.unique_counts(x).counts, GPUArray[np.int64])
assert_type(xp.matmul(x, x), GPUArray[np.float32])
assert_type(xp.linalg.solve(x, x), GPUArray[np.float32])
assert_type(xp.linalg.svd(x).U, GPUArray[np.float32])
assert_type(xp.fft.rfft(x), GPUArray[np.complex64])
assert_type(xp.finfo(xp.float32).eps, float)
assert_type(xp.float32, type[np.float32])

# ---- what is known of an array of either system, and back to the host

assert_type(x + 1, GPUArray[np.float32])
assert_type(x[1:].T, GPUArray[np.float32])
assert_type(x.real, GPUArray[np.float32])
assert_type(x.device, xp.Device)
assert_type(x.to_device("opencl:0"), GPUArray[np.float32])
assert_type(x.flags.c_contiguous, bool)
assert_type(xp.sqrt(x).get(), NDArray[np.float32])


def twice(a: GPUArray[np.float32]) -> GPUArray[np.float32]:
    return xp.sort(a) + a


def same_class(a: Array[np.float64], b: gpuarray.GPUArray[np.float64]) -> None:
    assert_type(xp.exp(a), Array[np.float64])
    assert_type(xp.cumulative_sum(b), gpuarray.GPUArray[np.float64])
    assert_type(xp.max(a).get(), NDArray[np.float64])
