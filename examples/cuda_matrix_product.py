"""Shared memory: a matrix product whose blocks read each number of their tiles only once.

python examples/cuda_matrix_product.py
"""

import numpy as np

import pygpu.cuda.driver as cuda
from pygpu.cuda.compiler import SourceModule

SOURCE = """
__global__ void product(const float *a, const float *b, float *c, int rows, int inner, int columns)
{
    __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0;
    for (int k = 0; k < inner; k += TILE) {         // along a row and down a column
        a_tile[y][x] = row < rows && k + x < inner ? a[row * inner + k + x] : 0;
        b_tile[y][x] = k + y < inner && column < columns ? b[(k + y) * columns + column] : 0;
        __syncthreads();                            // the tiles are there
        for (int i = 0; i < TILE; i++)
            sum += a_tile[y][i] * b_tile[i][x];
        __syncthreads();                            // all are done with them
    }
    if (row < rows && column < columns)
        c[row * columns + column] = sum;
}
"""
TILE = 16

product = SourceModule(SOURCE, options=[f"-DTILE={TILE}"]).get_function("product")
assert product.shared_size_bytes == 2 * TILE * TILE * 4


def multiply(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, float]:
    """a @ b, and the seconds that the kernel took."""
    (rows, inner), columns = a.shape, b.shape[1]
    c = np.empty((rows, columns), np.float32)
    seconds = product(
        cuda.In(a),
        cuda.In(b),
        cuda.Out(c),
        *np.int32([rows, inner, columns]),
        block=(TILE, TILE, 1),
        grid=(-(-columns // TILE), -(-rows // TILE)),
        time_kernel=True,
    )
    return c, seconds


random = np.random.default_rng(0)
for rows, inner, columns in [(1, 1, 1), (16, 16, 16), (33, 70, 5), (128, 128, 128)]:
    a = random.standard_normal((rows, inner), np.float32)
    b = random.standard_normal((inner, columns), np.float32)
    c, seconds = multiply(a, b)
    assert np.allclose(c, a @ b, rtol=1e-4, atol=1e-4)
    print(f"{rows:4} x {inner:3} times {inner:3} x {columns:3}: {1e3 * seconds:.3f} ms")
