"""Structs with device pointers in them, as arguments of a kernel and in device memory.

python examples/cuda_structs.py
"""

import numpy as np

import pygpu.cuda.driver as cuda
from pygpu.cuda.compiler import SourceModule

SOURCE = """
struct Row { int n; float *data; };

__global__ void sum_one(Row row, float *sum)        // by value
{
    *sum = 0;
    for (int i = 0; i < row.n; i++)
        *sum += row.data[i];
}

__global__ void scale_all(Row *rows, float factor)  // an array of structs in device memory
{
    Row row = rows[blockIdx.x];
    for (int i = threadIdx.x; i < row.n; i += blockDim.x)
        row.data[i] *= factor;
}
"""
ROW = np.dtype([("n", np.int32), ("data", np.uintp)], align=True)  # as C lays it out
assert ROW.itemsize == 16 and ROW.fields["data"][1] == 8

module = SourceModule(SOURCE)
lengths = [3, 1, 7, 5]
arrays = [np.arange(1, n + 1, dtype=np.float32) for n in lengths]
on_device = [cuda.to_device(array) for array in arrays]
rows = np.array([(n, int(memory)) for n, memory in zip(lengths, on_device)], ROW)

module.get_function("scale_all")(cuda.to_device(rows), 10.0, block=32, grid=len(rows))
for array, memory in zip(arrays, on_device):
    assert np.array_equal(cuda.from_device_like(memory, array), 10 * array)

total = np.zeros(1, np.float32)
sums = []
for row in rows:
    module.get_function("sum_one")(row, cuda.Out(total), block=1)
    sums.append(float(total[0]))
assert sums == [float(10 * array.sum()) for array in arrays]
print("sums of the rows:", sums)
