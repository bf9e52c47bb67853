"""Other libraries' arrays, without copies: __cuda_array_interface__ and DLPack.

python examples/cuda_exchange.py
"""

import numpy as np

import pygpu.cuda.driver as cuda
from pygpu.cuda.compiler import SourceModule

SOURCE = """
__global__ void halve(float *x, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n)
        x[i] /= 2;
}
"""


class Vector:
    """The least that an array on the device needs so that others can use it in place."""

    def __init__(self, array: np.ndarray) -> None:
        self.memory = cuda.to_device(array)
        self.__cuda_array_interface__ = {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "data": (int(self.memory), False),  # address, read-only
            "strides": None,  # C order
            "version": 3,
        }


halve = SourceModule(SOURCE).get_function("halve")
numbers = np.arange(1000, dtype=np.float32)

# A foreign array as an argument of a kernel and of a copy.
vector = Vector(numbers)
halve(vector, np.int32(numbers.size), block=256, grid=4)
back = np.empty_like(numbers)
cuda.memcpy_dtoh(back, vector)
assert (back == numbers / 2).all()

# pygpu's own memory describes itself the same way, as bytes.
interface = vector.memory.__cuda_array_interface__
assert interface["data"] == (int(vector.memory), False) and interface["shape"] == (numbers.nbytes,)

# Managed memory is NumPy's and the device's at once: NumPy works in place, between two kernels.
shared = cuda.managed_empty(numbers.shape, np.float32)
shared[:] = numbers
halve(shared, np.int32(shared.size), block=256, grid=4)
cuda.Context.synchronize()
np.sqrt(shared, out=shared)
halve(shared, np.int32(shared.size), block=256, grid=4)
cuda.Context.synchronize()
assert np.allclose(shared, np.sqrt(numbers / 2) / 2)
print("NumPy and the device worked on the same", shared.nbytes, "bytes")

try:
    import cupy

    cupy.cuda.runtime.getDeviceCount()
except ImportError:
    print("CuPy is not installed")
except cupy.cuda.runtime.CUDARuntimeError as error:  # pygpu has its simulator then
    print("CuPy has no device:", error)
else:
    if cuda.Context.get_device().name().startswith("CPU simulator"):
        print("CuPy has a GPU, but pygpu was told to use its simulator")
        raise SystemExit
    theirs = cupy.arange(1000, dtype=cupy.float32)
    halve(theirs, np.int32(theirs.size), block=256, grid=4)  # waits for CuPy's stream
    ours = cupy.from_dlpack(vector.memory).view(cupy.float32)  # no copy either
    assert cupy.array_equal(theirs, ours)
    ours += 1
    assert (cuda.from_device_like(vector.memory, numbers) == numbers / 2 + 1).all()
    print("CuPy's arrays went into a kernel, and pygpu's memory into CuPy")
