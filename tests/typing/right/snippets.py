"""The types of kernels from C: modules, elementwise, reduction and scan kernels, random numbers."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import pygpu as cl
import pygpu.cuda.elementwise
import pygpu.cuda.reduction
import pygpu.cuda.scan
from pygpu import GPUArray, array_kernels, clrandom
from pygpu.algorithm import BuiltList, ListOfListsBuilder
from pygpu.array import Array
from pygpu.cuda import curandom, gpuarray
from pygpu.cuda.compiler import SourceModule
from pygpu.cuda.driver import Function
from pygpu.elementwise import ElementwiseKernel, get_elwise_kernel, get_elwise_program
from pygpu.reduction import ReductionKernel, ReductionTemplate, get_sum_kernel
from pygpu.scan import GenericScanKernel, InclusiveScanKernel, get_cumsum_kernel

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
f4 = cl.array.zeros(queue, 4, np.float32)
g4 = gpuarray.zeros(4, np.float32)

# ---- OpenCL

program = cl.Program(context, "kernel void k(global float *x) {}").build()
assert_type(program.k(queue, (4,), None, f4.data), cl.Event)
triple = ElementwiseKernel(context, "float *x", "x[i] *= 3")
assert_type(triple(f4, queue=queue), cl.Event)
total = ReductionKernel(context, np.float32, "0", "a+b", arguments="float *x")
assert_type(total(f4), Array[Any])
assert_type(total(f4, return_event=True), tuple[GPUArray[Any], cl.Event])
scan = InclusiveScanKernel(context, np.float32, "a+b")
assert_type(scan(f4), Array[np.float32])
assert_type(scan(f4, "new"), Array[np.float32])
generic = GenericScanKernel(
    context, np.int32, "int *x", "x[i]", "a+b", neutral="0", output_statement="x[i] = item"
)
assert_type(generic(f4, queue=queue), cl.Event)
builder = ListOfListsBuilder(context, [("l", np.int32)], "", "")
lists, event = builder(queue, 4, f4)
assert_type(lists["l"], BuiltList)
assert_type(lists["l"].count, int | None)
assert_type(lists["l"].starts, Array[np.int32])
assert_type(lists["l"].lists, Array[Any])
assert_type(event, cl.Event)
assert_type(get_elwise_kernel(context, "float *x", "x[i] *= 3"), cl.Kernel)
assert_type(get_elwise_program(context, "float *x", "x[i] *= 3"), cl.Program)
assert_type(get_sum_kernel(context, None, np.float32), ReductionKernel)
assert_type(get_cumsum_kernel(context, np.int32, np.int64), GenericScanKernel)
assert_type(array_kernels.get_take_kernel(context, np.float32, np.int32), cl.Kernel)
assert_type(array_kernels.get_multiply_kernel(context, "f4", "f4", "f4"), cl.Kernel)
template = ReductionTemplate("T *x", "0", "a+b", "x[i]")
assert_type(template.build_inner(context, [("T", np.float32)]), ReductionKernel)
assert_type(clrandom.rand(queue, 4, np.float64), Array[np.float64])
assert_type(clrandom.PhiloxGenerator(context).fill_uniform(f4), cl.Event)

# ---- CUDA

module = SourceModule("__global__ void k(float *x) {}")
assert_type(module.get_function("k"), Function)
assert_type(module.get_function("k")(g4, block=(4, 1, 1)), float | None)
assert_type(module.get_global("c"), tuple[int, int])
on_cuda = pygpu.cuda.reduction.ReductionKernel(np.float32, "0", "a+b", arguments="float *x")
assert_type(on_cuda(g4), gpuarray.GPUArray[Any])
stage = pygpu.cuda.reduction.get_reduction_module("float", 256, "0", "a+b", "x[i]", "float *x")
assert_type(stage, SourceModule)
sums = pygpu.cuda.scan.InclusiveScanKernel(np.float32, "a+b")
assert_type(sums(g4), gpuarray.GPUArray[np.float32])
pygpu.cuda.elementwise.ElementwiseKernel("float *x", "x[i] *= 3")(g4)
assert_type(curandom.rand((4,)), gpuarray.GPUArray[np.float32])
assert_type(curandom.rand(4, np.float64).get(), NDArray[np.float64])
generator = curandom.XORWOWRandomNumberGenerator()
assert_type(generator.gen_uniform(4, np.float32), gpuarray.GPUArray[np.float32])
