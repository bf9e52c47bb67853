"""The types of pygpu.array on the way from the host and back."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import pygpu as cl
import pygpu.array as cla
from pygpu import clmath, xp
from pygpu.array import Array

queue = cl.CommandQueue(cl.create_some_context(interactive=False))
f4 = cla.to_device(queue, np.arange(4, dtype=np.float32))
f8 = cla.zeros(queue, 4, np.float64)
i4 = cla.arange(queue, 4, dtype=np.int32)
c8 = cla.empty(queue, (2, 2), np.complex64)
b1 = f4 > 1

# ---- making arrays

assert_type(f4, Array[np.float32])
assert_type(f8, Array[np.float64])
assert_type(i4, Array[np.int32])
assert_type(c8, Array[np.complex64])
assert_type(b1, Array[np.bool_])
assert_type(cla.full(queue, 4, 7, np.uint8), Array[np.uint8])
assert_type(cla.to_device(queue, [1, 2]), Array[Any])
assert_type(cla.ones(queue, 4, np.dtype(np.int8)), Array[np.int8])
assert_type(cla.zeros(queue, 4, "f4"), Array[Any])
assert_type(cla.zeros_like(f4), Array[np.float32])
assert_type(cla.empty_like(f4), Array[np.float32])
assert_type(cla.empty_like(f4, dtype=np.int16), Array[np.int16])
assert_type(Array(queue, 4, np.uint8), Array[np.uint8])
assert_type(cla.as_strided(f4, (2,), (8,)), Array[np.float32])

# ---- operators

assert_type(f4 + f4, Array[np.float32])
assert_type(f4 + 1, Array[np.float32])
assert_type(2.5 * f4 - 1, Array[np.float32])
assert_type(f4 / 2, Array[np.float32])
assert_type(f4**2, Array[np.float32])
assert_type(f4 % f4 // 3, Array[np.float32])
assert_type(f4 @ f4, Array[np.float32])
assert_type(f4 + np.float32(1), Array[np.float32])
assert_type(f4 + np.float64(1), Array[np.float64])
assert_type(f4 + f8, Array[np.float64])
assert_type(f8 - i4, Array[np.float64])
assert_type(f4 + i4, Array[Any])
assert_type(f4 + 1j, Array[np.complex64])
assert_type(f8 * 1j, Array[np.complex128])
assert_type(c8 + 1j, Array[np.complex64])
assert_type(i4 + 1, Array[np.int32])
assert_type(i4 + 1.5, Array[np.float64])
assert_type(i4 / 2, Array[np.float64])
assert_type(i4 / i4, Array[np.float64])
assert_type(i4 << 1 | i4 & 3, Array[np.int32])
assert_type(~b1 ^ b1, Array[np.bool_])
assert_type(b1 + 1, Array[np.int64])
assert_type(-f4, Array[np.float32])
assert_type(abs(f4), Array[np.float32])
assert_type(abs(c8), Array[np.float32])
assert_type(f4 < 1, Array[np.bool_])
assert_type(f4 == f4, Array[np.bool_])
assert_type(divmod(i4, i4), tuple[Array[np.int32], Array[np.int32]])
f4 += 1.0
assert_type(f4, Array[np.float32])

# ---- methods

assert_type(f4.sum(), Array[np.float32])
assert_type(f4.sum(0, dtype=np.float64), Array[np.float64])
assert_type(i4.sum(), Array[np.int64])
assert_type(i4.cumsum(), Array[np.int64])
assert_type(cla.zeros(queue, 4, np.uint8).sum(), Array[np.uint64])
assert_type(i4.mean(), Array[np.float64])
assert_type(c8.var(), Array[np.float32])
assert_type(f4.std(), Array[np.float32])
assert_type(f4.mean(), Array[np.float32])
assert_type(f4.max(), Array[np.float32])
assert_type(f4.any(), Array[np.bool_])
assert_type(f4.argmax(), Array[np.int64])
assert_type(f4.reshape(2, 2).T.ravel().copy(), Array[np.float32])
assert_type(f4.astype(np.int16), Array[np.int16])
assert_type(f4.astype("i2"), Array[Any])
assert_type(f4.view(np.uint32), Array[np.uint32])
assert_type(f4[1:], Array[np.float32])
assert_type(f4[f4 > 1], Array[np.float32])
assert_type(f4["field"], Array[Any])
assert_type(f4.fill(1), Array[np.float32])
assert_type(f4.with_queue(None), Array[np.float32])
assert_type(f4.real, Array[np.float32])
assert_type(c8.real, Array[np.float32])
assert_type(c8.imag, Array[np.float32])
assert_type(c8.conj(), Array[np.complex64])
assert_type(f4.trace(), Array[Any])
assert_type(f4.nonzero(), tuple[Array[np.int64], ...])

# ---- functions of the module, and of pygpu.clmath

assert_type(cla.sum(f4), Array[np.float32])
assert_type(cla.sum(i4, queue=queue), Array[np.int64])
assert_type(cla.sum(f4, dtype=np.float64), Array[np.float64])
assert_type(cla.max(f4), Array[np.float32])
assert_type(cla.dot(f4, f4), Array[np.float32])
assert_type(cla.where(f4 > 1, f4, 0), Array[Any])
assert_type(cla.if_positive(f4, f4, f4), Array[np.float32])
assert_type(cla.maximum(f4, 0), Array[np.float32])
assert_type(cla.concatenate([f4, f4]), Array[np.float32])
assert_type(cla.take(f4, i4), Array[np.float32])
assert_type(cla.multi_take([f4, f4], i4), list[Array[np.float32]])
assert_type(cla.cumsum(f4), Array[np.float32])
assert_type(cla.cumsum(f4, return_event=True), tuple[cl.Event, Array[Any]])
assert_type(cla.logical_not(b1), Array[np.bool_])
assert_type(clmath.sin(f4), Array[np.float32])
assert_type(clmath.sin(i4), cl.GPUArray[np.floating[Any]])
assert_type(clmath.atan2(f4, 1.0), Array[np.float32])
assert_type(clmath.frexp(f4), tuple[Array[np.float32], cl.GPUArray[np.int32]])

# ---- what is known of it, and back to the host

assert_type(f4.dtype, np.dtype[np.float32])
assert_type(f4.shape, tuple[int, ...])
assert_type(f4.queue, cl.CommandQueue | None)
assert_type(f4.context, cl.Context)
assert_type(f4.events, list[cl.Event])
assert_type(f4.data, cl.Buffer | cl.SVMPointer)
assert_type(f4.base_data, cl.Buffer | cl.SVMPointer)
assert_type(f4.offset, int)
assert_type(f4.flags.forc, bool)
assert_type(f4.device, xp.Device)
assert_type((f4 + 1).get(), NDArray[np.float32])
assert_type(f4.get_async(), tuple[NDArray[np.float32], cl.Event])

# ---- NumPy's ufuncs, whose results NumPy's stubs leave open

assert_type(np.sin(f4), Any)
sine: Array[np.float32] = np.sin(f4)
