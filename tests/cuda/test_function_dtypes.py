"""The dtype of an array against what the kernel's pointer points to."""

from __future__ import annotations

import array
import subprocess
import sys

import numpy as np
import pytest

from pygpu.cuda import driver as cuda
from pygpu.cuda import gpuarray
from pygpu.cuda.compiler import SourceModule

SOURCE = """
typedef float real;
struct Pair { float x; int n; };
__global__ void take_float(float *x) { }
__global__ void take_float4(const float4 *__restrict__ x) { }
__global__ void take_int(int x[]) { }
__global__ void take_double(double *x) { }
__global__ void take_real(real *x) { }
__global__ void take_option(option *x) { }
__global__ void take_pair(Pair *x) { }
__global__ void take_void(void *x) { }
__global__ void take_char(unsigned char *x) { }
__global__ void take_long(long *x) { }
__global__ void take_bool(bool *x) { }
__global__ void take_pointers(float **x) { }
"""
FOUR_FLOATS = np.dtype([(name, np.float32) for name in "xyzw"])
FITS = [
    ("float", "f4"),
    ("float", "c8"),
    ("float", FOUR_FLOATS),
    ("float4", "f4"),
    ("float4", "c8"),
    ("float4", FOUR_FLOATS),
    ("int", "u4"),
    ("double", "c16"),
    ("real", "f8"),
    ("option", "f8"),
    ("pair", "f8"),
    ("void", "i2"),
    ("char", "f8"),
    ("long", "i4"),
    ("long", "i8"),
    ("bool", "?"),
    ("bool", "u1"),
    ("pointers", "u8"),
]
REFUSED = [
    ("float", "f8", "float32"),
    ("float", "i4", "float32"),
    ("float", "c16", "complex64"),
    ("float4", "f8", "float32"),
    ("int", "f4", "int32"),
    ("int", "i8", "int32"),
    ("double", "f4", "float64"),
    ("double", FOUR_FLOATS, "float64"),
    ("bool", "i4", "uint8"),
]
BLOCK = (1, 1, 1)


@pytest.fixture(scope="module")
def kept():
    primary = cuda.Device(0).retain_primary_context()
    primary.push()
    yield SourceModule(SOURCE, options=["-Doption=double"])
    primary.pop()


@pytest.fixture
def module(kept, context):
    return kept


def name_of(value) -> str:
    return str(value).replace(" ", "")


@pytest.mark.parametrize("declared, dtype", FITS, ids=name_of)
def test_memory_that_fits_is_taken(module, declared: str, dtype):
    kernel = module.get_function(f"take_{declared}")
    kernel(gpuarray.empty(8, dtype), block=BLOCK)


@pytest.mark.parametrize("declared, dtype, remedy", REFUSED, ids=name_of)
def test_memory_of_another_dtype_is_refused(module, declared: str, dtype, remedy: str):
    kernel = module.get_function(f"take_{declared}")
    memory = gpuarray.empty(8, dtype)
    with pytest.raises(TypeError, match=rf"astype\(numpy\.{remedy}\)"):
        kernel(memory, block=BLOCK)
    kernel(memory.gpudata, block=BLOCK)


def test_the_message_names_kernel_parameter_and_both_types(module):
    with pytest.raises(TypeError) as caught:
        module.get_function("take_float")(gpuarray.zeros(4, np.float64), block=BLOCK)
    assert str(caught.value) == (
        "kernel 'take_float', parameter #0 (0-based) 'float *x': the GPUArray has items of "
        "float64, and the kernel reads float32 here: convert them (.astype(numpy.float32)), or "
        "have their bytes read as they are (.gpudata or .view(numpy.float32))"
    )


class Interface:
    def __init__(self, memory, **changes):
        self.__cuda_array_interface__ = memory.__cuda_array_interface__ | changes


class Foreign:
    """An array with PyCUDA's attributes."""

    def __init__(self, memory, dtype):
        self.gpudata, self.dtype = memory.gpudata, dtype


def managed(dtype):
    return cuda.managed_zeros(8, dtype, mem_flags=cuda.mem_attach_flags.GLOBAL)


GIVEN = {
    "GPUArray": lambda dtype: gpuarray.zeros(8, dtype),
    "In": lambda dtype: cuda.In(np.zeros(8, dtype)),
    "Out": lambda dtype: cuda.Out(np.zeros(8, dtype)),
    "InOut": lambda dtype: cuda.InOut(np.zeros(8, dtype)),
    "In of array.array": lambda dtype: cuda.In(array.array(np.dtype(dtype).char, [1, 2])),
    "Interface": lambda dtype: Interface(gpuarray.zeros(8, dtype)),
    "Foreign": lambda dtype: Foreign(gpuarray.zeros(8, dtype), np.dtype(dtype)),
    "managed": managed,
}


@pytest.mark.parametrize("given", GIVEN)
def test_everything_that_has_a_dtype_is_looked_at(module, given: str):
    kernel = module.get_function("take_float")
    if given == "managed" and not cuda.Device(0).managed_memory:
        pytest.skip("the device has no managed memory")
    for _ in range(2):  # what a parameter was given before is remembered
        kernel(GIVEN[given](np.float32), block=BLOCK)
        with pytest.raises(TypeError, match="the kernel reads float32"):
            kernel(GIVEN[given](np.float64), block=BLOCK)


def test_what_has_no_dtype_is_taken(module):
    kernel = module.get_function("take_float")
    memory = gpuarray.zeros(8, np.float64)
    for given in (
        memory.gpudata,
        int(memory.gpudata),
        cuda.In(bytes(64)),
        cuda.InOut(bytearray(64)),
        Foreign(memory, "f8"),
        Interface(memory, typestr="|V8"),
        memory.view(np.float32),
    ):
        kernel(given, block=BLOCK)


def test_a_handler_of_the_programs_own_may_give_other_memory(module):
    class Converted(cuda.In):
        def get_device_alloc(self):
            return memory.gpudata

        def pre_call(self, stream):
            """The memory has the numbers already."""

    memory = gpuarray.zeros(8, np.float32)
    module.get_function("take_float")(Converted(np.zeros(8)), block=BLOCK)


def prepared_call(kernel, given):
    kernel.prepared_call((1, 1), BLOCK, given)


def prepared_async_call(kernel, given):
    kernel.prepared_async_call((1, 1), BLOCK, None, given)


def prepared_timed_call(kernel, given):
    kernel.prepared_timed_call((1, 1), BLOCK, given)()


@pytest.mark.parametrize(
    "call", [prepared_call, prepared_async_call, prepared_timed_call], ids=lambda f: f.__name__
)
def test_prepared_calls_look_at_the_dtype(module, call):
    kernel = module.get_function("take_float").prepare("P")
    with pytest.raises(TypeError, match="parameter #0 .* 'float \\*x': .* items of float64"):
        call(kernel, gpuarray.zeros(4, np.float64))
    call(kernel, gpuarray.zeros(4, np.float32))
    call(kernel, gpuarray.zeros(4, np.float64).gpudata)


PROGRAM = """
import warnings
import numpy as np
import pycuda.autoinit
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("__global__ void f(float *x, int *y) {}  __global__ void g(int *x) {}")
f, g = module.get_function("f"), module.get_function("g")
array = gpuarray.zeros(4, np.float64)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    f.prepare("PP")
    for _ in range(3):
        f(array, array, block=(1, 1, 1))
        f.prepared_call((1, 1), (1, 1, 1), array, array)
print(*(f"{w.category.__name__} {str(w.message)[:47]}" for w in caught), sep="\\n")
warnings.simplefilter("error")
try:
    g(array, block=(1, 1, 1))
except UserWarning as error:
    print("raised")
"""


@pytest.mark.simulator
def test_programs_of_pycuda_get_one_warning_a_parameter():
    run = [sys.executable, "-P", "-m", "pygpu.compat", "-c", PROGRAM]
    done = subprocess.run(run, capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines() == [
        "UserWarning kernel 'f', parameter #0 (0-based) 'float *x': ",
        "UserWarning kernel 'f', parameter #1 (0-based) 'int *y': th",
        "raised",
    ], done.stderr
