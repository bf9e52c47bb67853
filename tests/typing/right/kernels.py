"""The types of kernels in Python, of ufuncs, reductions and fused functions."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import pygpu as cl
from pygpu import cuda
from pygpu.array import Array
from pygpu.cuda import gpuarray

queue = cl.CommandQueue(cl.create_some_context(interactive=False))
f4 = cl.array.zeros(queue, 4, np.float32)
g4 = gpuarray.zeros(4, np.float32)

# ---- kernels


@cl.kernel
def axpy(a: float, x: Array[np.float32], y: Array[np.float32]) -> None:
    i = cl.grid(1)
    assert_type(i, int)
    assert_type(cl.grid(2), tuple[int, int])
    assert_type(cl.threadIdx.x + cl.blockIdx.y * cl.blockDim.z, int)
    tile = cl.shared.array((16, 16), np.float32)
    assert_type(tile, NDArray[np.float32])
    cl.syncthreads()
    cl.atomic.add(y, 0, 1)
    if i < x.size:
        y[i] += a * x[i]


@cl.kernel(backend="opencl", exact=True)
def on_opencl(x: Array[np.float32], n: int = 3) -> None: ...


@cuda.jit
def on_cuda(x: cuda.DeviceNDArray) -> None:
    assert_type(cuda.shfl_down_sync(-1, 1.5, 2), float)
    assert_type(cuda.ballot_sync(-1, cuda.laneid > 3), int)


@cuda.jit("void(float32[:])", fastmath=True)
def with_signature(x: cuda.DeviceNDArray) -> None: ...


assert_type(axpy[4, 64](2.0, f4, f4), cl.Event | None)
assert_type(axpy[(4, 1), (64, 1), queue, 0](2.0, f4, y=f4), cl.Event | None)
assert_type(axpy(2.0, f4, f4, grid=4, block=64), cl.Event | None)
assert_type(axpy.forall(100)(2.0, f4, f4), cl.Event | None)
assert_type(axpy.inspect_source(float, "float32[:]", "float32[:]"), str)
assert_type(on_opencl[4, 64](f4), cl.Event)
d8 = cuda.to_device(np.arange(4.0))
on_cuda[4, 64](d8)
with_signature[1, 4](d8)
assert_type(on_cuda[4, 64].block, tuple[int, ...])
assert_type(d8.copy_to_host(), NDArray[Any])

# ---- functions that kernels call


@cl.jit
def square(x: float) -> float:
    return x * x


@cuda.jit(device=True)
def cube(x: float) -> float:
    return x * x * x


assert_type(square(2.0), float)
assert_type(cube(2.0), float)

# ---- ufuncs, reductions, fused functions


@cl.vectorize
def clamp(x: float, low: float, high: float) -> float:
    return min(max(x, low), high)


@cl.vectorize(["float32(float32)"], target="cuda")
def twice(x: float) -> float:
    return 2 * x


@cl.vectorize
def parts(x: float) -> tuple[float, float]:
    return x // 1, x % 1


@cl.guvectorize(["void(float32[:], float32[:])"], "(n)->()")
def total(a: NDArray[np.float32], out: NDArray[np.float32]) -> None: ...


@cl.reduce
def largest(a: float, b: float) -> float:
    return max(a, b)


@cl.fuse
def step(x: Array[np.float32], dt: float) -> Array[np.float32]:
    return x + dt


assert_type(clamp(f4, 0, 1), Array[Any])
assert_type(clamp(g4, 0, 1), gpuarray.GPUArray[Any])
assert_type(clamp(np.ones(3), 0, 1), NDArray[Any])
assert_type(twice(g4).get(), NDArray[Any])
assert_type(parts(f4), tuple[Any, ...])
assert_type(total.signature, str)
assert_type(largest(f4), Array[Any])
assert_type(step(f4, 0.1), Array[np.float32])
assert_type(step.plain(f4, 0.1), Array[np.float32])
