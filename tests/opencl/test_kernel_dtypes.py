"""The dtype of an array against what the kernel's pointer points to."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import pygpu as cl
import pygpu.array as cla

TYPES = (
    "float double int uint short ushort long ulong half float2 float3 float4 double2 int4 uchar "
    "char4 real pair"
).split()
SOURCE = "typedef float real; typedef struct { float x; int n; } pair;\n" + "\n".join(
    f"__kernel void take_{name}(__global {name} *x, __constant {name} *y) {{ }}" for name in TYPES
)
FOUR_FLOATS = np.dtype([(name, np.float32) for name in "xyzw"])
MIXED = np.dtype([("x", np.float32), ("n", np.int32)])
FITS = [
    ("float", "f4"),
    ("float", "c8"),
    ("float", FOUR_FLOATS),
    ("float", MIXED),
    ("float", "V4"),
    ("double", "c16"),
    ("int", "u4"),
    ("uint", "i4"),
    ("long", "M8[s]"),
    ("half", "f2"),
    ("half", "u2"),
    ("ushort", "f2"),
    ("float2", "c8"),
    ("float3", "f4"),
    ("float4", "f4"),
    ("float4", FOUR_FLOATS),
    ("double2", "f8"),
    ("uchar", "f8"),
    ("uchar", "?"),
    ("char4", "i4"),
    ("real", "f8"),
    ("pair", MIXED),
    ("pair", "f8"),
]
REFUSED = [
    ("float", "f8", "float32"),
    ("float", "i4", "float32"),
    ("float", "u1", "float32"),
    ("float", "?", "float32"),
    ("float", "c16", "complex64"),
    ("float", [("a", "f8"), ("b", "i4")], "float32"),
    ("double", "f4", "float64"),
    ("double", "i8", "float64"),
    ("double", FOUR_FLOATS, "float64"),
    ("int", "i8", "int32"),
    ("int", "f4", "int32"),
    ("uint", "f4", "uint32"),
    ("long", "i4", "int64"),
    ("ulong", "f8", "uint64"),
    ("short", "i4", "int16"),
    ("half", "f4", "float16"),
    ("float2", "f8", "float32"),
    ("float4", "i4", "float32"),
    ("int4", FOUR_FLOATS, "int32"),
]


@pytest.fixture(scope="module")
def queue(ctx):
    return cl.CommandQueue(ctx)


@pytest.fixture(scope="module")
def program(ctx):
    return cl.Program(ctx, SOURCE).build()


def name_of(value) -> str:
    return str(value).replace(" ", "")


@pytest.mark.parametrize("declared, dtype", FITS, ids=name_of)
def test_memory_that_fits_is_taken(program, queue, declared: str, dtype):
    array = cla.Array(queue, 8, dtype)
    kernel = getattr(program, f"take_{declared}")
    kernel(queue, (1,), None, array, array)


@pytest.mark.parametrize("declared, dtype, remedy", REFUSED, ids=name_of)
def test_memory_of_another_dtype_is_refused(program, queue, declared: str, dtype, remedy: str):
    array = cla.Array(queue, 8, dtype)
    kernel = getattr(program, f"take_{declared}")
    with pytest.raises(TypeError, match=rf"astype\(numpy\.{remedy}\)"):
        kernel(queue, (1,), None, array, array)
    kernel(queue, (1,), None, array.data, array.data)


def test_the_message_names_kernel_argument_and_both_types(program, queue):
    array, wrong = cla.zeros(queue, 4, np.float32), cla.zeros(queue, 4, np.float64)
    with pytest.raises(TypeError) as caught:
        program.take_float(queue, (1,), None, array, wrong)
    text = str(caught.value)
    assert "arg#2 (1-based) of kernel 'take_float', 'float* y': the Array has items of" in text
    assert "float64" in text
    assert "the kernel reads float32 here" in text
    assert ".data or .view(numpy.float32)" in text


def by_call(kernel, queue, x):
    kernel(queue, (1,), None, x, x)


def by_keyword(kernel, queue, x):
    kernel(queue, (1,), None, arg0=x, arg1=x)


def by_set_args(kernel, queue, x):
    kernel.set_args(x, x)


def by_set_arg(kernel, queue, x):
    kernel.set_arg(1, x)


def as_vector_argument(kernel, queue, x):
    kernel.set_scalar_arg_dtypes([cl.tools.VectorArg(np.float32, name) for name in "xy"])
    kernel(queue, (1,), None, x, x)


WAYS = [by_call, by_keyword, by_set_args, by_set_arg, as_vector_argument]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_every_way_to_an_argument_looks_at_the_dtype(program, queue, way):
    kernel = cl.Kernel(program, "take_float")
    wrong = cla.zeros(queue, 4, np.float64)
    with pytest.raises(TypeError, match="items of float64"):
        way(kernel, queue, wrong)
    way(kernel, queue, wrong.view(np.float32))
    way(kernel, queue, wrong.astype(np.float32))


def test_an_offset_argument_looks_at_the_dtype(ctx, queue):
    source = "__kernel void f(__global float *x, long offset) { }"
    kernel = cl.Program(ctx, source).build().f
    kernel.set_scalar_arg_dtypes([cl.tools.VectorArg(np.float32, "x", with_offset=True)])
    with pytest.raises(TypeError, match="items of float64"):
        kernel(queue, (1,), None, cla.zeros(queue, 4, np.float64)[1:])
    kernel(queue, (1,), None, cla.zeros(queue, 4, np.float32)[1:])


class Wrapped:
    """An array of another library."""

    def __init__(self, data, dtype):
        self.data, self.dtype = data, dtype


def test_arrays_of_other_libraries_say_their_dtype(ctx, program, queue):
    buffer = cl.Buffer(ctx, cl.mem_flags.READ_WRITE, 64)
    with pytest.raises(TypeError, match="Wrapped has items of float64"):
        by_call(program.take_float, queue, Wrapped(buffer, np.dtype("f8")))
    for dtype in (np.dtype("f4"), "f8", None):  # what is not a dtype says nothing
        by_call(program.take_float, queue, Wrapped(buffer, dtype))


def test_shared_memory_has_the_dtype_of_the_array_it_wraps(ctx, program, queue):
    if not cl.characterize.has_coarse_grain_buffer_svm(queue.device):
        pytest.skip("the device has no shared virtual memory")
    array = cl.csvm_empty(ctx, 8, np.float64, queue=queue)
    with pytest.raises(TypeError, match="SVM has items of float64"):
        by_set_args(program.take_float, queue, cl.SVM(array))
    by_set_args(program.take_float, queue, cl.SVM(array.view(np.float32)))


def test_nothing_is_set_when_an_array_is_refused(ctx, queue):
    source = "__kernel void f(__global float *x, __global float *y) { x[0] = y[0]; }"
    kernel = cl.Program(ctx, source).build().f
    x, y = cla.zeros(queue, 1, np.float32), cla.zeros(queue, 1, np.float32) + 3
    kernel.set_args(x, y)
    with pytest.raises(TypeError):
        kernel(queue, (1,), None, y, cla.zeros(queue, 1, np.float64))
    cl.enqueue_nd_range_kernel(queue, kernel, (1,), None)
    assert x.get()[0] == 3


PROGRAM = """
import warnings
import numpy as np
import pyopencl as cl, pyopencl.array as cla

queue = cl.CommandQueue(cl.create_some_context(interactive=False))
source = "__kernel void f(__global float *x, __global int *y) {}"
kernel = cl.Program(queue.context, source).build().f
array = cla.to_device(queue, np.zeros(4))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(3):
        kernel(queue, (1,), None, array, array)
print(*(f"{w.category.__name__} {str(w.message)[:35]}" for w in caught), sep="\\n")
warnings.simplefilter("error")
try:
    cl.Program(queue.context, source).build().f(queue, (1,), None, array, array)
except UserWarning as error:
    print("raised")
"""


def test_programs_of_pyopencl_get_one_warning_an_argument():
    run = [sys.executable, "-P", "-m", "pygpu.compat", "-c", PROGRAM]
    done = subprocess.run(run, capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines() == [
        "UserWarning kernel 'f', arg#1 (1-based) 'float*",
        "UserWarning kernel 'f', arg#2 (1-based) 'int* y",
        "raised",
    ], done.stderr
