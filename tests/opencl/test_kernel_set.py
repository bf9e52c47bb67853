"""What a kernel keeps of its arguments between launches; set_arg, set_args and declared dtypes."""

from __future__ import annotations

import ctypes
import gc
import re

import numpy as np
import pytest
from opencl.kernel_helpers import MEMORY, ints, read

import pygpu as cl
from pygpu import _opencl, cltypes

mf = cl.mem_flags


@pytest.fixture(scope="module")
def queue(ctx):
    return cl.CommandQueue(ctx)


# ---- what changes between launches


def test_only_one_argument_changes(ctx, queue, memory):
    a = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.arange(8, dtype=np.float32))
    b = [
        cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.full(8, -1, np.float32))
        for _ in range(2)
    ]
    for step in range(24):
        s, n, target = step % 3, [8, 5][step % 2], b[step // 6 % 2]
        cl.enqueue_copy(queue, target, np.full(8, -1, np.float32))
        memory.add(queue, (8,), None, a, target, s, n)
        expected = [i + s if i < n else -1 for i in range(8)]
        assert read(queue, target, 8, np.float32) == expected


def test_equal_bits_of_another_type_are_still_the_argument(ctx, queue, memory):
    """A cache must not mistake 0.0 and -0.0, or numbers whose bits agree, for one another."""
    a = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.full(1, -0.0, np.float32))
    b = cl.Buffer(ctx, mf.READ_WRITE, 4)
    result = np.empty(1, np.float32)
    for s in (0.0, -0.0, 0, -0.0, np.float64(0.0), np.float32(-0.0)):
        memory.add(queue, (1,), None, a, b, s, 1)
        cl.enqueue_copy(queue, result, b)
        assert np.signbit(result[0]) == np.signbit(np.float32(s))


def test_buffers_whose_handles_are_reused(ctx, queue, memory, out):
    c = ints(ctx, 0)
    handles = set()
    for k in range(300):
        a = ints(ctx, k)
        handles.add(a.int_ptr)
        memory.copy(queue, (1,), None, a, out, c)
        assert read(queue, out) == [k]
        if k % 2:
            a.release()
        del a
    # The kernel holds its last argument, so one handle cannot serve for all, but some must recur.
    if len(handles) == 300:
        pytest.skip("the driver, or a sanitizer, gave no handle out twice")


def test_release_and_create_again_at_once(ctx, queue, memory, out):
    c, a = ints(ctx, 0), ints(ctx, 0)
    for k in range(50):
        memory.copy(queue, (1,), None, a, out, c)
        assert read(queue, out) == [k]
        queue.finish()
        a.release()
        a = ints(ctx, k + 1)


def test_null_buffer_and_svm_by_turns(device, ctx, queue, out):
    if not device.svm_capabilities & cl.device_svm_capabilities.COARSE_GRAIN_BUFFER:
        pytest.skip("the device has no SVM")
    kernel = (
        cl.Program(
            ctx,
            "__kernel void first(__global int *out, __global const int *p) { *out = p ? *p : -1; }",
        )
        .build()
        .first
    )
    svms = [cl.SVM(cl.csvm_empty(ctx, 4, np.int32)) for _ in range(2)]
    for svm, value in zip(svms, (10, 20)):
        with svm.map_rw(queue) as host:
            host[...] = value
    buffer = ints(ctx, 30)
    cases = [
        (None, -1),
        (svms[0], 10),
        (svms[1], 20),
        (buffer, 30),
        (svms[0], 10),
        (None, -1),
        (buffer, 30),
        (None, -1),
        (svms[1], 20),
    ]
    for argument, expected in cases * 3:
        kernel(queue, (1,), None, out, argument)
        assert read(queue, out) == [expected]


def test_a_driver_that_wants_svm_where_svm_was(device, ctx, queue):
    """NVIDIA's: once other memory has taken the place of SVM, no launch of the handle succeeds."""
    if not device.svm_capabilities & cl.device_svm_capabilities.COARSE_GRAIN_BUFFER:
        pytest.skip("the device has no SVM")
    gc.collect()
    handles = _opencl._handle_counts()["kernel"]
    kernel = cl.Program(
        ctx,
        "typedef struct { int n[40]; } large_t;"
        "kernel void f(global int *out, global const int *p, large_t s, long8 v, int k,"
        " local int *l) { l[0] = *p; out[0] = s.n[39] + l[0] + (int)v.s7 + k; }",
    ).build(cache_dir=False)
    kernel, out = cl.Kernel(kernel, "f"), ints(ctx, 0)
    large, vector = np.zeros((), [("n", np.int32, 40)]), np.zeros(8, np.int64)
    large["n"][39], vector[7] = 1000, 100
    vector = vector.view(cltypes.long8)[0]
    svm, buffer = cl.SVM(cl.csvm_empty(ctx, 4, np.int32)), ints(ctx, 2)
    with svm.map_rw(queue) as host:
        host[...] = 1
    name, hash_before = "clEnqueueNDRangeKernel", hash(kernel)
    for memory, value in [(svm, 1), (buffer, 2), (svm, 1), (svm, 1), (buffer, 2)]:
        _opencl._fault(name, cl.status_code.INVALID_KERNEL_ARGS, times=1)
        try:
            kernel(queue, (1,), None, out, memory, large, vector, 30, cl.LocalMemory(4))
            assert _opencl._fault_hits() == 1
        finally:
            _opencl._fault(None, 0)
        assert read(queue, out) == [1130 + value]
        kernel(queue, (1,), None, out, memory, large, vector, 40, cl.LocalMemory(4))
        assert read(queue, out) == [1140 + value]
    assert hash(kernel) == hash_before
    kernel.set_arg(1, svm)
    _opencl._fault(name, cl.status_code.INVALID_KERNEL_ARGS, times=2)
    try:
        with pytest.raises(cl.LogicError, match="INVALID_KERNEL_ARGS"):
            kernel(queue, (1,), None, out, buffer, large, vector, 30, cl.LocalMemory(4))
    finally:
        _opencl._fault(None, 0)
    kernel(queue, (1,), None, out, buffer, large, vector, 50, cl.LocalMemory(4))
    assert read(queue, out) == [1152]
    twin = cl.Kernel.from_int_ptr(kernel.int_ptr)
    # What somebody else may have as well cannot be replaced, so on NVIDIA it stays with SVM.
    memory, value = (svm, 1) if "NVIDIA" in device.platform.name else (buffer, 2)
    twin(queue, (1,), None, out, memory, large, vector, np.int32(60), cl.LocalMemory(4))
    assert read(queue, out) == [1160 + value]
    del kernel, twin
    gc.collect()
    assert _opencl._handle_counts()["kernel"] == handles


def test_a_failure_half_way_leaves_no_trace(ctx, queue, memory):
    a, b = (
        cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.full(4, v, np.float32))
        for v in (1, 50)
    )
    o = cl.Buffer(ctx, mf.READ_WRITE, 16)
    memory.add(queue, (4,), None, a, o, 1.0, 4)
    assert read(queue, o, 4, np.float32) == [2] * 4
    for wrong in [
        (b, o, 2.0, "n"),
        (b, o, "s", 4),
        (b, "o", 1, 4),
        (b, o, 1e300, 4),
        (b, o, 2.0, 2**31),
        (b, o, 2.0),
    ]:
        with pytest.raises((TypeError, OverflowError)):
            memory.add(queue, (4,), None, *wrong)
        memory.add(queue, (4,), None, a, o, 1.0, 4)
        assert read(queue, o, 4, np.float32) == [2] * 4
        with pytest.raises((TypeError, OverflowError)):
            memory.add(queue, (4,), None, *wrong)
        memory.add(queue, (4,), None, b, o, 2.0, 4)
        assert read(queue, o, 4, np.float32) == [52] * 4


@pytest.mark.parametrize("nth", [1, 2, 3, 4])
def test_a_driver_that_refuses_an_argument_leaves_the_cache_right(ctx, queue, memory, nth):
    a, b = (
        cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.full(4, v, np.float32))
        for v in (1, 50)
    )
    o, p = cl.Buffer(ctx, mf.READ_WRITE, 16), cl.Buffer(ctx, mf.READ_WRITE, 16)
    memory.add(queue, (4,), None, a, o, 1.0, 4)
    _opencl._fault("clSetKernelArg", cl.status_code.INVALID_ARG_VALUE, nth)
    try:
        with pytest.raises(cl.LogicError, match=rf"arg#{nth} \(1-based\) of kernel 'add'"):
            memory.add(queue, (4,), None, b, p, 2.0, 3)
    finally:
        _opencl._fault(None, 0)
    memory.add(queue, (4,), None, a, o, 1.0, 4)
    assert read(queue, o, 4, np.float32) == [2] * 4
    memory.add(queue, (4,), None, b, p, 2.0, 4)
    assert read(queue, p, 4, np.float32) == [52] * 4


def test_unchanged_arguments_are_not_set_again(ctx, queue, memory):
    a, o = cl.Buffer(ctx, mf.READ_WRITE, 16), cl.Buffer(ctx, mf.READ_WRITE, 16)
    kernel = cl.Kernel(memory, "add")
    _opencl._call_counts(True)
    kernel(queue, (4,), None, a, o, 1.0, 4)
    first = _opencl._call_counts(True)
    kernel(queue, (4,), None, a, o, 1.0, 4)
    same = _opencl._call_counts(True)
    kernel(queue, (4,), None, a, o, 1.0, 3)
    one = _opencl._call_counts(True)
    assert (first["clSetKernelArg"], same.get("clSetKernelArg", 0), one["clSetKernelArg"]) == (
        4,
        0,
        1,
    )


def test_a_handle_given_away_is_never_taken_for_granted(ctx, queue, memory):
    """Who has int_ptr may set arguments behind our back."""
    a, o = cl.Buffer(ctx, mf.READ_WRITE, 16), cl.Buffer(ctx, mf.READ_WRITE, 16)
    kernel = cl.Kernel(memory, "add")
    twin = cl.Kernel.from_int_ptr(kernel.int_ptr)
    assert twin == kernel and twin.function_name == "add"
    for value, user in [
        (1.0, kernel),
        (2.0, twin),
        (1.0, kernel),
        (1.0, kernel),
        (2.0, twin),
        (1.0, kernel),
    ]:
        cl.enqueue_copy(queue, a, np.zeros(4, np.float32))
        user(queue, (4,), None, a, o, value, 4)
        assert read(queue, o, 4, np.float32) == [value] * 4


# ---- set_arg, set_args, set_scalar_arg_dtypes


def test_set_args_and_enqueue(ctx, queue, memory):
    kernel = cl.Kernel(memory, "copy")
    o = ints(ctx, 0)
    with pytest.raises(cl.LogicError, match=r"arg#1 \(1-based\) of kernel 'copy'.*was not set"):
        cl.enqueue_nd_range_kernel(queue, kernel, (1,), None)
    kernel.set_args(ints(ctx, 3), o, ints(ctx, 4))  # nothing else refers to these
    gc.collect()
    cl.enqueue_nd_range_kernel(queue, kernel, (1,), None)
    assert read(queue, o) == [7]
    kernel.set_arg(2, ints(ctx, 40))
    cl.enqueue_nd_range_kernel(queue, kernel, (1,), (1,))
    assert read(queue, o) == [43]
    cl.enqueue_task(queue, kernel)
    assert read(queue, o) == [43]


def test_set_arg_of_what_is_released_later(ctx, queue, memory):
    kernel, a, o = cl.Kernel(memory, "copy"), ints(ctx, 3), ints(ctx, 0)
    kernel.set_args(a, o, a)
    a.release()
    with pytest.raises(cl.LogicError, match="released"):
        cl.enqueue_nd_range_kernel(queue, kernel, (1,), None)
    kernel.set_arg(0, o)
    with pytest.raises(cl.LogicError, match="released"):
        cl.enqueue_nd_range_kernel(queue, kernel, (1,), None)
    kernel.set_arg(arg=o, arg_index=2)
    cl.enqueue_nd_range_kernel(queue, kernel, (1,), None).wait()


def test_set_arg_mistakes(ctx, queue, memory, out):
    kernel = cl.Kernel(memory, "add")
    for index in (-1, 4, 2**31, 2**62):
        with pytest.raises(cl.LogicError, match=r"index = .*'add' has 4 arguments"):
            kernel.set_arg(index, 1)
    for index in (None, "0", 1.0):
        with pytest.raises(TypeError, match="index"):
            kernel.set_arg(index, 1)
    with pytest.raises(OverflowError):
        kernel.set_arg(2**70, 1)
    for args in [(), (0,), (0, 1, 2)]:
        with pytest.raises(TypeError, match=r"set_arg\(\)"):
            kernel.set_arg(*args)
    with pytest.raises(TypeError, match="index"):
        kernel.set_arg(index=0, arg=1)
    with pytest.raises(TypeError, match="takes 4 arguments, got 3"):
        kernel.set_args(out, out, 1)
    with pytest.raises(TypeError, match="arg#3"):
        kernel.set_arg(2, "x")
    with pytest.raises(OverflowError, match="arg#4"):
        kernel.set_args(out, out, 1.0, 2**40)
    with pytest.raises(cl.LogicError, match="LocalMemory"):
        cl.Kernel(memory, "local_size").set_arg(1, cl.LocalMemory(2**50))


def test_set_args_then_a_call_then_the_set_args_again(ctx, queue, memory):
    """Both ways share what the driver has."""
    kernel, o = cl.Kernel(memory, "add"), cl.Buffer(ctx, mf.READ_WRITE, 16)
    a = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.zeros(4, np.float32))
    kernel.set_args(a, o, 1.0, 4)
    kernel(queue, (4,), None, a, o, 2.0, 4)
    cl.enqueue_nd_range_kernel(queue, kernel, (4,), None)
    assert read(queue, o, 4, np.float32) == [2] * 4  # the last one set
    kernel.set_arg(2, np.float32(1))
    cl.enqueue_nd_range_kernel(queue, kernel, (4,), None)
    assert read(queue, o, 4, np.float32) == [1] * 4


def test_declared_dtypes(ctx, queue, memory):
    kernel, o = cl.Kernel(memory, "add"), cl.Buffer(ctx, mf.READ_WRITE, 16)
    a = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.zeros(4, np.float32))
    kernel.set_scalar_arg_dtypes(arg_types=[None, None, np.float32, np.int32])
    for n in (4, np.int64(4), np.uint8(4), 4):
        kernel(queue, (4,), None, a, o, 2, n)
        assert read(queue, o, 4, np.float32) == [2] * 4
    kernel.set_arg_types((None, None, "f4", "i4"))
    kernel(queue, (4,), None, a, o, 3, 4)
    assert read(queue, o, 4, np.float32) == [3] * 4
    for wrong in ([], [None] * 3, [None] * 5):
        with pytest.raises(cl.LogicError, match="length of argument list"):
            cl.Kernel(memory, "add").set_scalar_arg_dtypes(wrong)
    with pytest.raises(TypeError):
        kernel.set_scalar_arg_dtypes(3)
    with pytest.raises(TypeError):
        kernel.set_scalar_arg_dtypes([None, None, "no dtype", None])


@pytest.fixture
def unknown(ctx, device, memory):
    """A kernel of whose arguments neither the driver nor a source says anything."""
    binary = memory.get_info(cl.program_info.BINARIES)[0]
    program = cl.Program(ctx, [device], [binary])
    program.build()
    _opencl._fault("clGetKernelArgInfo", cl.status_code.KERNEL_ARG_INFO_NOT_AVAILABLE, 1, 1000)
    try:
        kernel = cl.Kernel(program, "add")
    finally:
        _opencl._fault(None, 0)
    return kernel


def test_unknown_types(ctx, queue, unknown):
    a = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.zeros(4, np.float32))
    o = cl.Buffer(ctx, mf.READ_WRITE, 16)
    for s, n in [
        (np.float32(2), np.int32(4)),
        (b"\0\0\0\x40", np.uint32(4)),
        (np.array(2, np.float32), ctypes.c_int(4)),
    ]:
        unknown(queue, (4,), None, a, o, s, n)
        assert read(queue, o, 4, np.float32) == [2] * 4
    for s, n in [
        (2.0, np.int32(4)),
        (np.float32(2), 4),
        ("s", np.int32(4)),
        (object(), np.int32(4)),
    ]:
        with pytest.raises(TypeError, match=r"arg#[34] \(1-based\) of kernel 'add'"):
            unknown(queue, (4,), None, a, o, s, n)
    with pytest.raises((cl.LogicError, TypeError), match="arg#3"):
        unknown(queue, (4,), None, a, o, np.float64(2), np.int32(4))  # 8 bytes for 4
    unknown.set_scalar_arg_dtypes([None, None, np.float32, np.int32])
    unknown(queue, (4,), None, a, o, 5, 4)
    assert read(queue, o, 4, np.float32) == [5] * 4
    with pytest.raises(OverflowError, match="arg#4"):
        unknown(queue, (4,), None, a, o, 5, 2**31)


def test_types_from_the_source_when_the_driver_is_silent(ctx, queue):
    program = cl.Program(ctx, MEMORY).build()
    _opencl._fault("clGetKernelArgInfo", cl.status_code.KERNEL_ARG_INFO_NOT_AVAILABLE, 1, 1000)
    try:
        kernel = cl.Kernel(program, "add")
    finally:
        _opencl._fault(None, 0)
    a, o = cl.Buffer(ctx, mf.READ_WRITE, 16), cl.Buffer(ctx, mf.READ_WRITE, 16)
    cl.enqueue_copy(queue, a, np.zeros(4, np.float32))
    kernel(queue, (4,), None, a, o, 2, 4)
    assert read(queue, o, 4, np.float32) == [2] * 4
    with pytest.raises(TypeError, match=re.escape("'int n'")):
        kernel(queue, (4,), None, a, o, 2, 4.0)


# ---- what a kernel keeps


def test_arguments_are_kept_only_until_the_next(ctx, queue, memory, balance):
    import weakref

    kernel = cl.Kernel(memory, "copy")
    a, o, c = ints(ctx, 1), ints(ctx, 1), ints(ctx, 1)
    seen = weakref.ref(a)
    kernel(queue, (1,), None, a, o, c)
    queue.finish()
    del a
    assert seen() is not None
    kernel(queue, (1,), None, c, o, c)
    queue.finish()
    assert seen() is None
    del kernel


def test_conversion_that_calls_the_kernel_again(ctx, queue, memory, out):
    """An argument's own code may use the same kernel."""
    c = ints(ctx, 0)
    two, five = ints(ctx, 2), ints(ctx, 5)
    other = ints(ctx, 0)

    class Sly:
        @property
        def data(self):
            memory.copy(queue, (1,), None, two, other, c)
            return five

    memory.copy(queue, (1,), None, Sly(), out, c)
    assert read(queue, out) == [5]
    assert read(queue, other) == [2]


def test_an_argument_that_releases_the_others(ctx, queue, memory, out):
    a, c = ints(ctx, 2), ints(ctx, 0)

    class Sly:
        @property
        def data(self):
            a.release()
            return c

    with pytest.raises(cl.LogicError, match="released"):
        memory.copy(queue, (1,), None, a, out, Sly())
