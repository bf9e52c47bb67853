"""Wrong kinds of arguments of pygpu.array and its neighbours: the message names what was wrong."""

from __future__ import annotations

import numpy as np
import pytest

import pygpu as cl
from pygpu import array as cl_array
from pygpu import array_kernels, clmath, clrandom, tools
from pygpu.algorithm import KeyValueSorter, ListOfListsBuilder, copy_if
from pygpu.elementwise import ElementwiseKernel
from pygpu.reduction import ReductionKernel
from pygpu.scan import GenericScanKernel, InclusiveScanKernel


def hex_of(value):
    return str(value)[:6]


@pytest.fixture
def x(opencl):
    return opencl.array(np.arange(6, dtype=np.float32))


@pytest.mark.parametrize("queue", [True, 5, "a", [1], np.zeros(2)], ids=repr)
def test_queues(x, queue):
    with pytest.raises(TypeError, match="queue must be a CommandQueue, not"):
        clmath.sin(x, queue=queue)


def test_a_context_is_not_a_queue(opencl, x):
    with pytest.raises(TypeError, match="queue must be a CommandQueue, not Context"):
        clmath.sin(x, queue=opencl.context)


@pytest.mark.parametrize("event", [None, 5, np.zeros(3), object()], ids=lambda e: type(e).__name__)
def test_events(x, event):
    with pytest.raises(TypeError, match="add_event: evt must be an Event, not"):
        x.add_event(event)
    assert (x + 1).get()[0] == 1


@pytest.mark.parametrize("name", ["sum", "max", "any", "mean", "std", "squeeze"])
@pytest.mark.parametrize("axis", [object(), 1.5], ids=["object", "float"])
def test_axes(x, name, axis):
    with pytest.raises(TypeError, match=r"axis must be None, an int or a tuple of ints, not \w+"):
        getattr(x, name)(axis)


@pytest.mark.parametrize("axis", [1 << 63, -(1 << 63) - 1, 1 << 200, 5, (0, 1 << 64)], ids=hex_of)
def test_axes_that_are_not_there(x, axis):
    """Also after the same reduction over the last axis, which is remembered."""
    for name in ("max", "sum"):
        assert getattr(x, name)(axis=-1).get() == getattr(np.arange(6), name)()
        with pytest.raises(ValueError, match="axis"):
            getattr(x, name)(axis=axis)


def test_arrays(x):
    for call in ("sum", "any", "all"):
        with pytest.raises(TypeError, match=f"^{call}: needs an array on the device, not str"):
            getattr(cl_array, call)("a")
    for call in ("dot", "vdot"):
        with pytest.raises(TypeError, match=f"^{call}: needs an array on the device, not ndarray"):
            getattr(cl_array, call)(x, np.zeros(6), slice=slice(2))
    with pytest.raises(TypeError, match="^take: needs an array on the device, not list"):
        cl_array.take([1, 2], x)
    for call in ("concatenate", "stack", "hstack"):
        with pytest.raises(TypeError, match=f"^{call}: needs a sequence of arrays, not float"):
            getattr(cl_array, call)(1.5)
        with pytest.raises(TypeError, match=f"^{call}: needs an array on the device, not int"):
            getattr(cl_array, call)([x, 3])
        with pytest.raises(ValueError, match="at least one array"):
            getattr(cl_array, call)([])
    with pytest.raises(ValueError, match="at least one array"):
        cl_array.concatenate([], allocator=tools.ImmediateAllocator(x.queue))
    with pytest.raises(TypeError, match="fill_rand: result must be an array"):
        clrandom.fill_rand(np.zeros(3, np.float32))
    for call in ("empty_like", "zeros_like"):
        with pytest.raises(TypeError, match="empty_like: ary must be an array on the device, not"):
            getattr(cl_array, call)(np.zeros(3))
    with pytest.raises(TypeError, match="^cumsum: needs an array on the device, not type"):
        cl_array.cumsum(np.float32)
    with pytest.raises(ValueError, match="view: the items of the new dtype have no bytes"):
        x.view(np.dtype("V0"))


def test_new_arrays(x):
    """What is asked for a new array: the message names the argument, not what NumPy met."""
    for wrong in ("nosuch", True, (0,), x.queue):
        with pytest.raises(TypeError, match="^Array: dtype: "):
            cl_array.zeros(x.queue, 3, wrong)
    with pytest.raises(TypeError, match="Array: cq may be a queue or a context, not 'list'"):
        cl_array.empty([x.queue], 3, np.float32)
    for wrong in (3, np.zeros(2), "pool"):
        with pytest.raises(TypeError, match="allocator must be callable with a number of bytes"):
            cl_array.to_device(x.queue, np.zeros(3), wrong)
    for wrong in (x.queue, "5", 1j):
        message = "arange: start, stop and step must be numbers, not int, [a-zA-Z]+, int"
        with pytest.raises(TypeError, match=message):
            cl_array.arange(x.queue, wrong, dtype=np.int32)


def test_kernels_of_snippets(opencl, x):
    context = opencl.context
    fill = ElementwiseKernel(context, "float *x", "x[i] = 1", "filler")
    for wrong in (3, (0, 2), range(2)):
        with pytest.raises(TypeError, match="'filler': range must be a slice, not"):
            fill(x, range=wrong)
        with pytest.raises(TypeError, match="'filler': slice must be a slice, not"):
            fill(x, slice=wrong)
    with pytest.raises(TypeError, match="'filler': the preamble must be a str, not list"):
        ElementwiseKernel(context, "float *x", "x[i] = 1", "filler", preamble=["int a;"])
    with pytest.raises(TypeError, match="'filler': the code must be a str, not int"):
        ElementwiseKernel(context, "float *x", 1, "filler")
    with pytest.raises(TypeError, match="arguments of a kernel must be a str .*, not int"):
        ElementwiseKernel(context, 3, "x[i] = 1")
    with pytest.raises(TypeError, match="ScanKernel 'scan': scan_expr must be a str, not int"):
        InclusiveScanKernel(context, np.int32, 3)


def test_helpers_refuse_arguments_of_wrong_types(opencl):
    with pytest.raises(TypeError, match="splay: device must be a Device, not Context"):
        array_kernels.splay(opencl.context, 5)
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        tools.bitlog2({})


def test_what_is_not_an_array(opencl, x):
    for call in (clmath.nan, cl_array.as_strided):
        with pytest.raises(TypeError, match="an array on the device is needed, not int"):
            call(3)
    with pytest.raises(TypeError, match="as_strided: strides must be a sequence of ints, not"):
        cl_array.as_strided(x, (2,), "ab")
    with pytest.raises(ValueError, match=r"as_strided: 1 strides for the shape \(2, 2\)"):
        cl_array.as_strided(x, (2, 2), (4,))
    for wrong in (3, [3], [x, np.zeros(6)]):
        with pytest.raises(TypeError, match="stack: .*, not "):
            cl_array.stack(wrong)
    with pytest.raises(TypeError, match="take: out must be an array on the device, not ndarray"):
        x.take(np.arange(2), out=np.zeros(2, np.float32))
    with pytest.raises(ValueError, match="condition must be a 1-d array, not one of 2"):
        x.compress(opencl.array(np.ones((2, 3), bool)))
    for name in ("swapaxes", "sum", "sort", "cumsum"):
        with pytest.raises(TypeError, match="axis must be an int: 'str' object|axis must be None"):
            getattr(x, name)(*["a", 0][: 1 + (name == "swapaxes")])
    with pytest.raises(TypeError, match="arange: dtype: data type 'what' not understood"):
        cl_array.arange(opencl.queue, 5, dtype="what")
    for name in ("sum", "cumsum", "mean"):
        with pytest.raises(TypeError, match=f"{name}: .*data type 'what' not understood"):
            getattr(x, name)(dtype="what")


def test_layouts(opencl, x):
    """Strides were cut to ints, and names that are not arguments passed over."""
    for strides in ((4.5,), "a", 4):
        with pytest.raises(TypeError, match="Array: strides must be a sequence of ints, not"):
            cl_array.Array(opencl.queue, (2,), np.float32, strides=strides)
    with pytest.raises(ValueError, match=r"Array: 1 strides for the shape \(2, 2\)"):
        cl_array.Array(opencl.queue, (2, 2), np.float32, strides=(4,))
    for offset in ("a", 1.5):
        with pytest.raises(TypeError, match="Array: offset must be an int, not"):
            cl_array.Array(opencl.queue, 2, np.float32, data=x.data, offset=offset)
    with pytest.raises(TypeError, match="Array: unexpected keyword argument 'start'"):
        cl_array.Array(opencl.queue, 2, np.float32, data=x.data, start=8)
    made = cl_array.Array(opencl.queue, 2, np.float32, data=x.data, offset=8, _fast=True)
    assert made.get().tolist() == [2, 3]


def test_allocators(opencl):
    """Memory that is none, or too small, is found before a kernel writes to it."""
    queue, flags = cl.CommandQueue(opencl.context), cl.mem_flags.READ_WRITE
    byte = cl.Buffer(opencl.context, flags, 1)
    for wrong in (None, 3, b"x" * 40, np.zeros(40, np.uint8), queue):
        with pytest.raises(TypeError, match="memory of the allocator must be a Buffer"):
            cl_array.empty(queue, 10, np.float32, allocator=lambda n, wrong=wrong: wrong)
    with pytest.raises(ValueError, match="allocator: items lie up to byte 40 .* which has 1"):
        cl_array.empty(queue, 10, np.float32, allocator=lambda n: byte)
    for wrong in (3, "x", np.zeros(10)):
        with pytest.raises(TypeError, match="Array: data must be a Buffer or shared virtual"):
            cl_array.Array(queue, 10, np.float32, data=wrong)
    moved = cl_array.zeros(queue, 4, np.float32)
    with pytest.raises(TypeError, match="Array: memory must be a Buffer or shared virtual"):
        moved.base_data = None
    with pytest.raises(ValueError, match="items lie up to byte 16 of the memory, which has 1"):
        moved.base_data = byte
    assert moved.get().tolist() == [0] * 4
    asked = []

    def allocate(size):
        asked.append(size)
        return cl.Buffer(queue.context, flags, size)  # which OpenCL refuses for 0 bytes

    empty = cl_array.empty(queue, 0, np.float32, allocator=allocate)
    full = cl_array.zeros(queue, 4, np.float32, allocator=allocate)
    assert (empty + empty + 1).get().shape == (0,) and empty.copy().allocator is allocate
    assert (full + full + 1).get().tolist() == [1] * 4
    assert asked and 0 not in asked
    given = iter([cl.Buffer(queue.context, flags, 16), None])
    odd = cl_array.zeros(queue, 4, np.float32, allocator=lambda n: next(given))
    with pytest.raises(TypeError, match="memory of the allocator must be"):
        odd + odd


def test_allocators_of_cuda(cuda):
    from pygpu.cuda import driver, gpuarray

    small = driver.mem_alloc(4)
    with pytest.raises(ValueError, match="from byte 0 to byte 40 of the allocation, which has 4"):
        gpuarray.GPUArray(10, np.float32, gpudata=small)
    with pytest.raises(ValueError, match="which has 4"):
        gpuarray.GPUArray(1, np.float32, gpudata=int(small) + 1)
    with pytest.raises(ValueError, match="from byte -4 to"):
        gpuarray.GPUArray(2, np.int32, gpudata=small, strides=(-4,))
    with pytest.raises(ValueError, match="memory of the allocator: items lie"):
        gpuarray.empty(10, np.float32, allocator=lambda n: small)
    for call in (gpuarray.empty_like, gpuarray.zeros_like, gpuarray.concatenate):
        with pytest.raises(TypeError, match="is needed, not int|sequence of arrays, not int"):
            call(3)
    for wrong in (3, [3], [np.zeros(6)]):
        with pytest.raises(TypeError, match="stack: a.* is needed, not "):
            gpuarray.stack(wrong)
    for wrong in (None, "x", np.zeros(2)):
        with pytest.raises(TypeError, match="memory of the allocator must be device memory"):
            gpuarray.empty(10, np.float32, allocator=lambda n, wrong=wrong: wrong)
        if wrong is not None:
            with pytest.raises(TypeError, match="GPUArray: gpudata must be device memory"):
                gpuarray.GPUArray(10, np.float32, gpudata=wrong)
    assert gpuarray.empty(0, np.float32, allocator=lambda n: 1 / 0).shape == (0,)
    with pytest.raises(ValueError, match="GPUArray: gpudata: 0x3 is not an address of memory"):
        gpuarray.GPUArray(10, np.float32, gpudata=3)
    assert gpuarray.GPUArray(0, np.float32, gpudata=small).get().shape == (0,)
    assert gpuarray.GPUArray(1, np.int32, gpudata=small).fill(7).get() == [7]


def test_texts_that_are_not_numbers(opencl, x):
    """float() and complex() would read the number in a str."""
    for kind in ("float", "cfloat_t"):
        scaled = ElementwiseKernel(opencl.context, f"{kind} a, float *x", "x[i] = 0")
        for wrong in ("2", b"2", None):
            with pytest.raises(TypeError, match="argument 'a' needs a number of type"):
                scaled(wrong, x)
    random = clrandom.ThreefryGenerator(opencl.context)
    for name, call in (("mu", random.fill_normal), ("b", random.fill_uniform)):
        for wrong in ("2", None, 1j):
            with pytest.raises(TypeError, match=f"{call.__name__}: {name} must be a real number"):
                call(x, **{name: wrong})


@pytest.mark.parametrize("options", [3, [3], {"-DX": None, 5: 6}], ids=repr)
def test_options(opencl, options):
    for make in (
        lambda: ElementwiseKernel(opencl.context, "float *x", "x[i] = 0", options=options),
        lambda: ReductionKernel(opencl.context, "f4", "0", "a+b", options=options),
        lambda: InclusiveScanKernel(opencl.context, "f4", "a+b", options=options),
    ):
        with pytest.raises(TypeError, match=r"(Elementwise|Reduction|Scan)Kernel '\w+': options"):
            make()


def test_parts_of_kernels(opencl):
    context = opencl.context
    for dtype, message in (("what", "data type 'what' not"), (object, "holds Python objects")):
        with pytest.raises(TypeError, match=f"ReductionKernel 'reduce_kernel': .*{message}"):
            ReductionKernel(context, dtype, "0", "a+b")
        with pytest.raises(TypeError, match=f"InclusiveScanKernel: .*{message}"):
            InclusiveScanKernel(context, dtype, "a+b")
        with pytest.raises(TypeError, match=f"ListOfListsBuilder: .*{message}"):
            ListOfListsBuilder(context, [("a", dtype)], "", "")
    with pytest.raises(TypeError, match="ReductionKernel 'reduce_kernel': neutral .* not None"):
        ReductionKernel(context, np.float32, None, "a+b")
    with pytest.raises(TypeError, match="reduce_expr must be a str, not NoneType"):
        ReductionKernel(context, np.float32, "0", None)
    texts = {"input_expr": "x[i]", "scan_expr": "a+b", "output_statement": ""}
    for name in texts:
        with pytest.raises(TypeError, match=f"ScanKernel 'scan': {name} must be a str, not int"):
            GenericScanKernel(context, np.int32, "int *x", neutral="0", **(texts | {name: 5}))
    for pairs in (5, "ab", ["ab"], [("a",)], [(1, 2)]):
        with pytest.raises(TypeError, match="copy_if: extra_args must be a sequence of pairs"):
            copy_if(opencl.array(np.arange(3)), "1", extra_args=pairs)
        with pytest.raises(TypeError, match="list_names_and_dtypes must be a sequence of pairs"):
            ListOfListsBuilder(context, pairs, "", "")


def test_scans_of_short_arrays(opencl):
    """They would be read or written past their end."""
    long, short = opencl.array(np.arange(9)), opencl.array(np.arange(8))
    scan = GenericScanKernel(
        opencl.context, np.int64, "long *x, long *y", "x[i]", "a+b", "0", "y[i] = item"
    )
    with pytest.raises(ValueError, match="'y' has 8 items, and the scan uses 9"):
        scan(long, short)
    scan(long, opencl.array(np.zeros(9, np.int64)))  # from now on launched from C
    with pytest.raises(ValueError, match="'y' has 8 items, and the scan uses 9"):
        scan(long, short)
    scan(long, short, size=8)
    assert short.get().tolist() == np.cumsum(range(8)).tolist()
    with pytest.raises(TypeError, match="ScanKernel 'scan': size must be an int, not str"):
        scan(long, long, size="8")
    guarded = GenericScanKernel(
        opencl.context, np.int64, "long *x, long *y", "x[i]", "a+b", "0", "if (i < 3) y[i] = item"
    )
    guarded(long, short)
    assert short.get().tolist()[:4] == [0, 1, 3, 6]


def test_key_value_sorter(opencl):
    sort, keys = KeyValueSorter(opencl.context), opencl.array(np.arange(256, dtype=np.uint8))
    starts, _, _ = sort(opencl.queue, keys, keys, 256, np.int16)  # 256 is not a number of uint8
    assert starts.get().tolist() == [*range(257)]
    for dtype in (np.uint8, np.int8, np.float32):
        with pytest.raises(ValueError, match="starts_dtype must be of integers up to 256"):
            sort(opencl.queue, keys, keys, 256, dtype)
    with pytest.raises(TypeError, match="KeyValueSorter: nkeys must be an int, not str"):
        sort(opencl.queue, keys, keys, "5", np.int32)


def test_what_newcomers_try_first(x):
    assert ("x" in x, None in x, 3 in x, 9 in x) == (False, False, True, False)
    with pytest.raises(TypeError, match="^sum: out must be an array on the device, not int$"):
        x.sum(out=3)
    with pytest.raises(TypeError, match="^get: the first argument is a queue; .* ary="):
        x.get(np.zeros(6, np.float32))
    with pytest.raises(TypeError, match=r"not Context; make one: CommandQueue\(context\)"):
        cl_array.to_device(x.context, np.zeros(3))
    with pytest.raises(ValueError, match=r"^stack: .* array 0 has \(6,\), and array 1 has \(3,\)"):
        np.stack([x, x[:3]])


def test_names_and_expressions_that_kernels_cannot_have(opencl):
    for name in ("n", "i", "gsize"):
        kernel = ElementwiseKernel(opencl.context, f"float *x, int {name}", f"x[0] = {name}")
        with pytest.raises(ValueError, match=f"argument '{name}' has the name of a variable"):
            kernel(opencl.array(np.zeros(3, np.float32)), 1)
    with pytest.raises(ValueError, match=r"map_expr is needed, such as 'x\[i\]'"):
        ReductionKernel(opencl.context, np.float32, "0", "a+b", arguments="float *x")
    with pytest.raises(TypeError, match="neutral must be an expression such as '0', not ''"):
        ReductionKernel(opencl.context, np.float32, "", "a+b")


def test_contexts(opencl):
    makers = {
        "ElementwiseKernel": lambda c: ElementwiseKernel(c, "float *x", "x[i] = 1"),
        "ReductionKernel": lambda c: ReductionKernel(c, np.float32, "0", "a + b"),
        "InclusiveScanKernel": lambda c: InclusiveScanKernel(c, np.float32, "a + b"),
    }
    for name, make in makers.items():
        message = f"{name}: context must be a Context .* not CommandQueue; pass its attribute"
        with pytest.raises(TypeError, match=message):
            make(opencl.queue)
        with pytest.raises(TypeError, match=f"{name}: context must be a Context .* not int"):
            make(5)


def test_arrays_of_the_other_system(side, x):
    other = "CUDA" if side.name == "opencl" else "OpenCL"
    context = None if side.name == "opencl" else x.context
    array = side.array(np.zeros(3, np.float32))
    with pytest.raises(TypeError, match=f"was made for {other}, and .*make the kernel with"):
        ElementwiseKernel(context, "float *x", "x[i] = 1")(array)


def test_names_in_generated_kernels(opencl, x):
    for name in ("a b", "", "1st", "é", "x;y"):
        with pytest.raises(ValueError, match=f"must be an identifier of C, not {name!r}"):
            ElementwiseKernel(opencl.context, "float *x", "x[i] = 1", name=name)(x)
    with pytest.raises(ValueError, match="'reduce_kernel': two arguments have the name 'x'"):
        ReductionKernel(opencl.context, np.float32, "0", "a + b", "x[i]", "float *x, int x")


def test_events_to_wait_for(opencl, x):
    marker = cl.enqueue_marker(opencl.queue)
    kernel = ElementwiseKernel(opencl.context, "float *x", "x[i] = 1")
    for wrong in (5, marker):
        message = f"wait_for must be a sequence, not {type(wrong).__name__}"
        for call in (kernel, lambda x, wait_for: x.fill(1, wait_for=wait_for)):
            with pytest.raises(TypeError, match=message):
                call(x, wait_for=wrong)
