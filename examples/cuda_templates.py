"""Templates: kernels without extern "C", made for the types and constants that are asked for.

python examples/cuda_templates.py
"""

import numpy as np

import pygpu.cuda.driver as cuda
from pygpu.cuda.compiler import SourceModule

SOURCE = """
struct Sum { template <class T> __device__ static T apply(T a, T b) { return a + b; } };
struct Most { template <class T> __device__ static T apply(T a, T b) { return a > b ? a : b; } };

// Each thread combines WIDTH numbers that lie side by side.
template <class T, class Operation, int WIDTH>
__global__ void combine(const T *in, T *out, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) {
        T result = in[i * WIDTH];
        #pragma unroll
        for (int k = 1; k < WIDTH; k++)
            result = Operation::apply(result, in[i * WIDTH + k]);
        out[i] = result;
    }
}
"""
N, WIDTH = 1000, 8
TYPES = {"float": np.float32, "double": np.float64, "long long": np.int64}
OPERATIONS = {"Sum": np.add, "Most": np.maximum}

names = [f"combine<{kind}, {name}, {WIDTH}>" for kind in TYPES for name in OPERATIONS]
module = SourceModule(SOURCE, no_extern_c=True, name_expressions=names)

numbers = np.random.default_rng(0).integers(-1000, 1000, N * WIDTH)
for kind, dtype in TYPES.items():
    for name, ufunc in OPERATIONS.items():
        f = module.get_function(f"combine<{kind}, {name}, {WIDTH}>")
        out = np.empty(N, dtype)
        f(cuda.In(numbers.astype(dtype)), cuda.Out(out), np.int32(N), block=128, grid=-(-N // 128))
        assert (out == ufunc.reduce(numbers.reshape(N, WIDTH), axis=1)).all()
        print(f"combine<{kind}, {name}, {WIDTH}> is {f.num_regs} registers; first: {out[0]}")
