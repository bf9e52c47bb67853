"""The text and the signature of CUDA kernels."""

from __future__ import annotations

import inspect

import pytest

from pygpu.cuda import driver as cuda
from pygpu.cuda.compiler import SourceModule


@pytest.mark.usefixtures("context")
def test_functions_tell_their_parameters():
    source = "__global__ void f(const float *x, int block) {}"
    function = SourceModule(source).get_function("f")
    assert repr(function).startswith("<pygpu.cuda.Function 'f' (")
    assert "float *x, int block)" in repr(function)
    signature = inspect.signature(function)
    # Keywords keep their names; a parameter of such a name gets an underscore.
    assert list(signature.parameters)[:3] == ["x", "block_", "block"]
    assert signature.parameters["grid"].default == (1, 1)
    assert not hasattr(cuda.Function, "__signature__")


@pytest.mark.usefixtures("context")
def test_modules_name_their_kernels():
    source = (
        "__global__ void f(int *x) {}\n__global__ void __launch_bounds__(32, 2) g() {}\n"
        "template <class T> __global__ void\nh(T *x) {}\n__device__ void not_one() {}"
    )
    module = SourceModule(f'extern "C++" {{ {source} }}')
    assert repr(module) == "<pygpu.cuda.compiler.SourceModule with 'f', 'g', 'h'>"
    empty = SourceModule.__new__(SourceModule)
    assert repr(empty) == "<pygpu.cuda.compiler.SourceModule>"


@pytest.mark.usefixtures("context")
def test_pools_and_kernels_from_snippets_say_what_they_are():
    from pygpu.cuda.elementwise import ElementwiseKernel
    from pygpu.cuda.reduction import ReductionKernel
    from pygpu.cuda.scan import InclusiveScanKernel
    from pygpu.cuda.tools import DeviceMemoryPool

    pool = DeviceMemoryPool()
    memory = [pool.allocate(100) for _ in range(2)]
    assert "DeviceMemoryPool: 200 bytes in 2 blocks in use, 0 blocks held, " in repr(pool)
    del memory[0]
    assert "100 bytes in 1 blocks in use, 1 blocks held" in repr(pool)
    kernel = ElementwiseKernel("float *x, float a", "x[i] *= a", "scale")
    assert repr(kernel) == "<pygpu.cuda.elementwise.ElementwiseKernel 'scale' (float *x, float a)>"
    total = ReductionKernel("f4", "0", "a + b", "x[i] * y[i]", "float *x, float *y", "dot")
    assert repr(total) == "<pygpu.cuda.reduction.ReductionKernel 'dot' (float *x, float *y)>"
    assert "InclusiveScanKernel 'scan' (int *" in repr(InclusiveScanKernel("i4", "a + b"))
