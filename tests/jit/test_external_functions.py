"""Functions in CUDA C that kernels in Python call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pygpu import cuda, kernel
from pygpu._src.jit.signature import PointerType, float32, int32, void
from pygpu.pykernel import KernelError, compile_function

pytestmark = pytest.mark.usefixtures("cuda_context")

SCALE = """
#include "factor.h"
extern "C" __device__ int scale(float *out, float x) { *out = x * FACTOR; return 0; }
extern "C" __device__ int is_large(bool *out, float x) { *out = x > 4; return 0; }
"""
SUM = cuda.CUSource(
    'extern "C" __device__ float sum_of(const float *x, int n)\n'
    "{ float s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }\n"
    'extern "C" __device__ void set_to(int *x, int value) { *x = value; }\n',
    "sum.cu",
)
sum_of = cuda.declare_device("sum_of", float32(PointerType(float32), int32), link=SUM, abi="c")
set_to = cuda.declare_device("set_to", void(PointerType(int32), int32), link=SUM, abi="c")


class FFI:
    """Stands for cffi.FFI where cffi is not installed."""

    def from_buffer(self, array: Any) -> None: ...


FFI.__module__ = "cffi.api"
ffi = FFI()


def test_files_and_texts_are_linked(tmp_path: Path) -> None:
    (tmp_path / "factor.h").write_text("#define FACTOR 3\n")
    (tmp_path / "scale.cu").write_text(SCALE)
    scale = cuda.declare_device("scale", "float32(float32)")
    is_large = cuda.declare_device("is_large", "boolean(float32)")
    assert scale.name == "scale" and scale.sig.return_type == float32

    @cuda.jit(device=True)
    def twice(x):
        return scale(x) + scale(x)

    @cuda.jit(link=[tmp_path / "scale.cu"])
    def run(out, marks, x):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = twice(x[i]) if is_large(x[i]) else sum_of(ffi.from_buffer(x), i + 1)
            set_to(ffi.from_buffer(marks[i:]), i * i)

    x = np.array([1, 2, 5, 7], np.float32)
    out, marks = np.zeros(4, np.float32), np.zeros(4, np.int32)
    run[1, 32](out, marks, x)
    assert out.tolist() == [1, 3, 30, 42]
    assert marks.tolist() == [0, 1, 4, 9]


def test_what_cannot_be_linked_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KernelError, match="functions.ptx is not CUDA C"):
        cuda.jit(link=tmp_path / "functions.ptx")
    with pytest.raises(KernelError, match="a cuda.CUSource is needed, not 3"):
        cuda.declare_device("f", "int32(int32)", link=3)
    with pytest.raises(TypeError, match="Return type must be provided"):
        cuda.declare_device("f", "(int32,)")
    with pytest.raises(ValueError, match="not the name of a C function"):
        cuda.declare_device("f(); g", "int32(int32)")
    with pytest.raises(TypeError, match="can only be called in a kernel"):
        sum_of(1, 2)


def test_arguments_of_another_type_are_refused() -> None:
    @cuda.jit
    def run(x):
        x[0] = sum_of(ffi.from_buffer(x), 1)

    with pytest.raises(KernelError, match="a pointer to float32 is needed"):
        run[1, 1](np.zeros(2))


def test_ufuncs_cannot_call_them() -> None:
    half = cuda.declare_device("half", "float32(float32)", abi="c")

    def quarter(x):
        return half(x) / 2

    with pytest.raises(KernelError, match="which only kernels can"):
        compile_function(quarter, [np.dtype("f4")])


def test_opencl_has_no_functions_in_cuda_c(opencl_maker: Any) -> None:
    @kernel
    def run(x):
        x[0] = sum_of(ffi.from_buffer(x), 1)

    with pytest.raises(KernelError, match="sum_of is a function in CUDA C, and this is OpenCL"):
        run[1, 1](opencl_maker(np.zeros(2, np.float32)))


@pytest.mark.parametrize("cooperative", [False, True])
def test_functions_that_synchronize_the_grid_are_launched_cooperatively(cooperative: bool) -> None:
    source = cuda.CUSource('extern "C" __device__ void nothing() {}', "nothing.cu")
    options = {"abi": "c", "use_cooperative": cooperative}
    nothing = cuda.declare_device("nothing", "void()", link=source, **options)

    @cuda.jit("void()")
    def run():
        nothing()

    run[2, 1]()
    assert [one.cooperative for one in run.overloads.values()] == [cooperative]
