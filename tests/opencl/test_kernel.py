"""Kernel: how it is got, information, clones, handles, lifetime.

Arguments and launches have files of their own.
"""

from __future__ import annotations

import gc
import inspect
import weakref

import numpy as np
import pytest

import pygpu as cl
from pygpu import _opencl

mf = cl.mem_flags
SOURCE = """
__kernel __attribute__((reqd_work_group_size(8, 2, 1))) void fixed(__global int *a) { *a = 1; }
__kernel void all_kinds(__global const float *restrict g, __constant int *c, __local double *l,
                        volatile __global uchar4 *v,
                        int i, float2 f,
                        const unsigned long u) { l[0] = g[0] + c[0] + i + f.x + u; v[0] = 1; }
__kernel void set(__global int *a, int v) { *a = v; }
__kernel void nothing(void) { }
"""


@pytest.fixture(scope="module")
def program(ctx):
    return cl.Program(ctx, SOURCE).build()


@pytest.fixture
def queue(ctx):
    return cl.CommandQueue(ctx)


def test_by_name_and_by_attribute(program):
    kernel = cl.Kernel(program, "set")
    assert kernel.function_name == "set" and program.set.function_name == "set"
    assert program.set is program.set and kernel is not program.set
    assert type(kernel) is cl.Kernel and callable(kernel)
    assert cl.Kernel(program=program, name="set").function_name == "set"


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("no_such", cl.LogicError),
        ("", cl.LogicError),
        ("set\0x", cl.LogicError),
        ("sét", cl.LogicError),
        (3, TypeError),
        (None, TypeError),
        (b"set", TypeError),
        ("x" * 5000, cl.LogicError),
        ("\ud800", UnicodeEncodeError),
    ],
    ids=repr,
)
def test_wrong_names(program, name, error, balance):
    with pytest.raises(error):
        cl.Kernel(program, name)
    if isinstance(name, str) and "\ud800" not in name:
        with pytest.raises(AttributeError):
            getattr(program, name)


def test_wrong_programs(ctx, program):
    for wrong in (None, 3, ctx, "set"):
        with pytest.raises(TypeError, match="program"):
            cl.Kernel(wrong, "set")
    with pytest.raises(TypeError):
        cl.Kernel(program)
    with pytest.raises(cl.LogicError):
        cl.Kernel(cl.Program(ctx, SOURCE), "set")  # not built


def test_information(ctx, program):
    kernel = program.all_kinds
    assert kernel.num_args == 7 and program.nothing.num_args == 0
    assert kernel.context is ctx and kernel.program == program
    assert kernel.reference_count >= 1
    assert isinstance(kernel.attributes, str)
    assert (
        kernel.get_info(cl.kernel_info.FUNCTION_NAME) == "all_kinds"
        and kernel.get_info(cl.kernel_info.NUM_ARGS) == 7
    )
    assert (
        kernel.get_info(cl.kernel_info.PROGRAM) == program
        and kernel.get_info(cl.kernel_info.CONTEXT) == ctx
    )
    assert repr(kernel).startswith("<pygpu.Kernel 'all_kinds' at 0x")
    for wrong, error in [
        ("a", TypeError),
        (-1, OverflowError),
        (2**40, OverflowError),
        (12345, cl.LogicError),
        (1.0, TypeError),
    ]:
        with pytest.raises(error):
            kernel.get_info(wrong)


def test_arg_info(device, program):
    if "OpenCL 1.1" in device.version:
        pytest.skip("argument information is of OpenCL 1.2")
    info, address, qualifier = (
        cl.kernel_arg_info,
        cl.kernel_arg_address_qualifier,
        cl.kernel_arg_type_qualifier,
    )
    kernel = program.all_kinds
    asked = [
        [kernel.get_arg_info(i, p) for p in (info.NAME, info.TYPE_NAME, info.ADDRESS_QUALIFIER)]
        for i in range(7)
    ]
    assert asked == [
        ["g", "float*", address.GLOBAL], ["c", "int*", address.CONSTANT],
        ["l", "double*", address.LOCAL], ["v", "uchar4*", address.GLOBAL],
        ["i", "int", address.PRIVATE], ["f", "float2", address.PRIVATE],
        ["u", "ulong", address.PRIVATE],
    ]  # fmt: skip
    assert kernel.get_arg_info(0, info.TYPE_QUALIFIER) == qualifier.CONST | qualifier.RESTRICT
    assert kernel.get_arg_info(3, info.TYPE_QUALIFIER) == qualifier.VOLATILE
    assert kernel.get_arg_info(0, info.ACCESS_QUALIFIER) == cl.kernel_arg_access_qualifier.NONE
    for args, error in [
        ((7, info.NAME), cl.LogicError),
        ((-1, info.NAME), ValueError),
        ((2**40, info.NAME), cl.LogicError),
        (("0", info.NAME), TypeError),
        ((0, 12345), cl.LogicError),
        ((0,), TypeError),
        ((0, "x"), TypeError),
    ]:
        with pytest.raises(error):
            kernel.get_arg_info(*args)


def test_arg_info_of_a_silent_driver(ctx, device):
    """NVIDIA's has none for binaries, and for what its assembler takes only without."""
    if "OpenCL 1.1" in device.version:
        pytest.skip("argument information is of OpenCL 1.2")
    info, address = cl.kernel_arg_info, cl.kernel_arg_address_qualifier
    source = "kernel void f(global const float *restrict a, write_only image2d_t i, uint n) {}"
    _opencl._fault("clGetKernelArgInfo", -19, times=10**6)
    try:
        kernel = cl.Program(ctx, source).build(cache_dir=False).f
        twin = cl.Kernel.from_int_ptr(kernel.int_ptr)
        for one in (kernel, twin):
            assert [one.get_arg_info(i, info.NAME) for i in range(3)] == ["a", "i", "n"]
            assert one.get_arg_info(2, info.TYPE_NAME) == "uint"
            assert one.get_arg_info(0, info.TYPE_QUALIFIER) == 3
            assert one.get_arg_info(0, info.ADDRESS_QUALIFIER) == address.GLOBAL
            access = cl.kernel_arg_access_qualifier.WRITE_ONLY
            assert one.get_arg_info(1, info.ACCESS_QUALIFIER) == access
            with pytest.raises(cl.LogicError, match="12345|0x3039"):
                one.get_arg_info(0, 12345)
        macros = "#define ARGS int a\nkernel void f(ARGS) {}"
        kernel = cl.Program(ctx, macros).build(cache_dir=False).f
        with pytest.raises(cl.Error) as caught:
            kernel.get_arg_info(0, info.NAME)
        assert caught.value.code == -19
    finally:
        _opencl._fault(None, 0)


def test_work_group_info(device, program):
    info = cl.kernel_work_group_info
    kernel = program.fixed
    assert kernel.get_work_group_info(info.COMPILE_WORK_GROUP_SIZE, device) == [8, 2, 1]
    assert program.set.get_work_group_info(info.COMPILE_WORK_GROUP_SIZE, device) == [0, 0, 0]
    assert (
        1
        <= program.set.get_work_group_info(info.WORK_GROUP_SIZE, device)
        <= device.max_work_group_size
    )
    for param in (
        info.LOCAL_MEM_SIZE,
        info.PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
        info.PRIVATE_MEM_SIZE,
    ):
        assert kernel.get_work_group_info(param, device) >= 0
    assert kernel.get_work_group_info(param=info.LOCAL_MEM_SIZE, device=device) >= 0
    for args, error in [
        ((info.WORK_GROUP_SIZE,), TypeError),
        ((info.WORK_GROUP_SIZE, None), TypeError),
        ((device, info.WORK_GROUP_SIZE), TypeError),
        ((12345, device), cl.LogicError),
    ]:
        with pytest.raises(error):
            kernel.get_work_group_info(*args)


def test_sub_group_info(device, program):
    info = cl.kernel_sub_group_info
    if not any(v in device.version for v in ("OpenCL 2.1", "OpenCL 2.2", "OpenCL 3.")):
        with pytest.raises(cl.LogicError, match="needs OpenCL 2.1"):
            program.set.get_sub_group_info(device, info.MAX_NUM_SUB_GROUPS)
        return
    try:
        assert program.set.get_sub_group_info(device, info.MAX_NUM_SUB_GROUPS) >= 0
        assert (
            program.set.get_sub_group_info(device, info.MAX_SUB_GROUP_SIZE_FOR_NDRANGE, (8, 1, 1))
            >= 1
        )
        assert program.set.get_sub_group_info(device, info.SUB_GROUP_COUNT_FOR_NDRANGE, [8]) >= 1
    except cl.LogicError as error:  # sub-groups are optional in OpenCL 3.0
        assert error.code == cl.status_code.INVALID_OPERATION
    for args in [(None, 1), (device, "a"), (device, info.MAX_NUM_SUB_GROUPS, "abc")]:
        with pytest.raises(TypeError):
            program.set.get_sub_group_info(*args)


def test_clone(ctx, device, queue, program):
    kernel = cl.Kernel(program, "set")
    a = cl.Buffer(ctx, mf.READ_WRITE, 4)
    kernel.set_args(a, 5)
    if not any(v in device.version for v in ("OpenCL 2.1", "OpenCL 2.2", "OpenCL 3.")):
        with pytest.raises(cl.LogicError, match="needs OpenCL 2.1"):
            kernel.clone()
        return
    clone = kernel.clone()
    assert clone != kernel and clone.function_name == "set" and type(clone) is cl.Kernel
    host = np.zeros(1, np.int32)
    kernel.set_arg(arg_index=1, arg=6)
    try:
        cl.enqueue_nd_range_kernel(queue, clone, (1,), None)
    except cl.Error as error:  # a driver that copies no arguments
        pytest.skip(f"clCloneKernel of this driver copies no arguments: {error}")
    cl.enqueue_copy(queue, host, a)
    assert host[0] == 5
    clone(queue, (1,), None, a, 7)
    cl.enqueue_copy(queue, host, a)
    assert host[0] == 7
    cl.enqueue_nd_range_kernel(queue, kernel, (1,), None)
    cl.enqueue_copy(queue, host, a)
    assert host[0] == 6


def test_equality_and_handles(program, balance):
    kernel = cl.Kernel(program, "set")
    twin = cl.Kernel.from_int_ptr(kernel.int_ptr)
    assert twin == kernel and hash(twin) == hash(kernel) and twin.num_args == 2
    assert twin.program == program and twin.context == program.context
    assert cl.Kernel(program, "set") != kernel
    for wrong, error in [(0, ValueError), (-1, OverflowError), ("1", TypeError)]:
        with pytest.raises(error):
            cl.Kernel.from_int_ptr(wrong)
    del kernel, twin


def test_kernels_and_programs_go_together(ctx, queue):
    program = cl.Program(ctx, SOURCE).build()
    kernel, gone = program.set, weakref.ref(program)
    kernel_gone = weakref.ref(kernel)
    del program
    gc.collect()
    buffer = cl.Buffer(ctx, mf.READ_WRITE, 4)
    kernel(queue, (1,), None, buffer, 3).wait()
    assert kernel.program.set is kernel
    del kernel
    gc.collect()
    assert gone() is None and kernel_gone() is None


def test_programs_are_collected_with_their_kernels(ctx, queue, balance):
    for _ in range(3):
        program = cl.Program(ctx, SOURCE).build()
        program.nothing(queue, (1,), None).wait()
        program.set(queue, (1,), None, cl.Buffer(ctx, mf.READ_WRITE, 4), 1)
        queue.finish()
        del program
        gc.collect()


def test_attributes_and_subclass(ctx, queue, program):
    class Named(cl.Kernel):
        note = "mine"

    kernel = Named(program, "nothing")
    kernel.extra = kernel
    assert kernel.note == "mine"
    kernel(queue, (1,), None).wait()
    gone = weakref.ref(kernel)
    del kernel
    gc.collect()
    assert gone() is None


def test_signatures_can_be_inspected():
    for name in (
        "get_work_group_info",
        "get_sub_group_info",
        "get_arg_info",
        "set_arg",
        "set_args",
        "capture_call",
    ):
        assert inspect.signature(getattr(cl.Kernel, name))
        assert getattr(cl.Kernel, name).__doc__


@pytest.mark.parametrize(
    ("routine", "nth"), [("clCreateKernel", 1), ("clGetKernelInfo", 1), ("clGetKernelInfo", 2)]
)
def test_failures(program, routine, nth, balance):
    _opencl._fault(routine, -6, nth, 2)
    try:
        with pytest.raises(cl.Error) as caught:
            cl.Kernel(program, "set")
    finally:
        _opencl._fault(None, 0)
    assert (caught.value.code, caught.value.routine) == (-6, routine)
    del caught
