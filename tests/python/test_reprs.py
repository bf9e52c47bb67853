"""What objects say about themselves: none shows the default, <... object at 0x...>."""

from __future__ import annotations

import copy
import json
import pickle
import sys

import numpy as np
import pytest

import pygpu as cl
import pygpu.algorithm
import pygpu.bitonic_sort
import pygpu.clrandom
import pygpu.random
from pygpu import tools, xp


def opencl_objects(ctx, queue):
    from pygpu.scan import InclusiveScanKernel

    buffer = cl.Buffer(ctx, cl.mem_flags.READ_ONLY, 64)
    mapped, _ = cl.enqueue_map_buffer(queue, buffer, cl.map_flags.READ, 0, (4,), np.float32)
    marker = cl.enqueue_marker(queue)
    marker.wait()
    return {
        "MemoryMap of <pygpu.Buffer of 64 bytes, READ_ONLY": mapped.base,
        "_Profile": marker.profile,
        "tools.DeferredAllocator READ_WRITE on": tools.DeferredAllocator(ctx),
        "tools.ImmediateAllocator READ_WRITE on": tools.ImmediateAllocator(queue),
        "ImageDescriptor image_type=0": cl.ImageDescriptor(),
        "RadixSort of x by 'x[i]', uint32": pygpu.algorithm.RadixSort(ctx, "int *x", "x[i]", ["x"]),
        "KeyValueSorter in <pygpu.Context": pygpu.algorithm.KeyValueSorter(ctx),
        "BitonicSort in <pygpu.Context": pygpu.bitonic_sort.BitonicSort(ctx),
        "PhiloxGenerator key=[1], counter=[2,": pygpu.clrandom.PhiloxGenerator(
            ctx, key=[1], counter=[2]
        ),
        "Philox4x32 key=": pygpu.random.default_rng(1).bit_generator,
        "InclusiveScanKernel": InclusiveScanKernel(ctx, np.int32, "a+b"),
        "__array_namespace_info__()": xp.__array_namespace_info__(),
        "pygpu.algorithm.ListOfListsBuilder of a": pygpu.algorithm.ListOfListsBuilder(
            ctx, [("a", np.int32)], "void generate(){}", []
        ),
    }


def cuda_objects():
    import pygpu.cuda.driver as cuda
    from pygpu.cuda import curandom
    from pygpu.cuda import tools as cuda_tools
    from pygpu.cuda.compiler import SourceModule

    xp.Device("cuda").context.push()
    try:
        array = cuda.matrix_to_array(np.zeros((3, 5), "f"), "C")
        data = cuda_tools.DeviceData()
        return {
            "Module on device 0": SourceModule("__global__ void k(float *x) {}").module,
            "In of an array of float64, (3,)": cuda.In(np.zeros(3)),
            "InOut of an array of int16, ()": cuda.InOut(np.zeros((), "i2")),
            "Array width=5, height=3, depth=0, 1 channels of 32 bits": array,
            "TextureObject handle=": cuda.TextureObject(array),
            "Memcpy2D width_in_bytes=0, height=0>": cuda.Memcpy2D(),
            "Memcpy3D width_in_bytes=0, height=0, depth=0>": cuda.Memcpy3D(),
            "Graph of 0 nodes": cuda.Graph(),
            "GraphExec on device 0": cuda.Graph().instantiate(),
            "Linker of 0 inputs": cuda.Linker(),
            "PageLockedAllocator flags=0": cuda_tools.PageLockedAllocator(),
            "DeviceData max_threads=": data,
            "OccupancyRecord tb_per_mp=": cuda_tools.OccupancyRecord(data, 64),
            "XORWOWRandomNumberGenerator of": curandom.XORWOWRandomNumberGenerator(),
        }
    finally:
        cuda.Context.pop()


def check(objects):
    for expected, obj in objects.items():
        text = repr(obj)
        assert expected in text and " object at 0x" not in text, text
        assert text.startswith("<pygpu."), text


def test_opencl_objects(ctx, queue):
    check(opencl_objects(ctx, queue))


def test_cuda_objects():
    check(cuda_objects())


def test_a_map_that_was_released(ctx, queue):
    buffer = cl.Buffer(ctx, cl.mem_flags.READ_WRITE, 64)
    mapped, _ = cl.enqueue_map_buffer(queue, buffer, cl.map_flags.READ, 0, (4,), np.float32)
    base = mapped.base
    base.release()
    assert repr(base) == "<pygpu.MemoryMap, not mapped>"


def test_profile_has_times_where_the_queue_takes_them(ctx):
    queue = cl.CommandQueue(ctx, properties=cl.command_queue_properties.PROFILING_ENABLE)
    event = cl.enqueue_marker(queue)
    event.wait()
    assert f"end={event.profile.end}>" in repr(event.profile)


def test_public_classes_are_found_where_users_import_them():
    from pygpu.cuda.tools import DebugMemoryPool

    for cls, home in (
        (cl.KernelError, "pygpu"),
        (cl.SVMMap, "pygpu"),
        (cl.allow_host_copies, "pygpu"),
        (xp.Device, "pygpu.xp"),
        (DebugMemoryPool, "pygpu.cuda.tools"),
    ):
        assert cls.__module__ == home
        assert getattr(sys.modules[home], cls.__name__) is cls
    error = pickle.loads(pickle.dumps(cl.KernelError("x")))
    assert type(error) is cl.KernelError


class TestNamedAnswers:
    """What the driver answers is an int in every respect except its repr."""

    @pytest.fixture
    def flags(self, ctx):
        wish = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
        return cl.Buffer(ctx, wish, hostbuf=np.zeros(4)).flags

    def test_repr(self, ctx, queue, flags):
        assert repr(flags) == "mem_flags.READ_ONLY | mem_flags.COPY_HOST_PTR"
        assert eval(repr(flags), vars(cl)) == flags
        device = ctx.devices[0]
        assert repr(device.type).startswith("device_type.")
        assert repr(device.get_info(cl.device_info.TYPE)) == repr(device.type)
        assert repr(cl.enqueue_marker(queue).command_type) == "command_type.MARKER"
        assert repr([queue.properties]) in ("[0]", "[command_queue_properties.PROFILING_ENABLE]")

    def test_the_rest_is_as_of_ints(self, flags):
        number = int(flags)
        assert type(number) is int and number == 36 == flags and hash(flags) == hash(36)
        assert f"{flags} {flags:x} {flags!s}" == "36 24 36" and f"{flags:4d}" == "  36"
        assert str(flags) == "36" and json.dumps([flags]) == "[36]"
        assert type(flags | 1) is type(flags & 4) is type(flags + 1) is int and flags & 4 == 4
        assert np.array([flags]).dtype == np.int64 and np.uint64(flags) == 36
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            assert type(pickle.loads(pickle.dumps(flags, protocol))) is int
        assert copy.deepcopy(flags) == 36 and range(50)[flags] == 36

    def test_it_is_accepted_where_ints_are(self, ctx, flags):
        again = cl.Buffer(ctx, flags, hostbuf=np.ones(4))
        assert again.flags is flags and cl.mem_flags.to_string(flags) == "READ_ONLY | COPY_HOST_PTR"
        assert cl.device_type.to_string(ctx.devices[0].type) in repr(ctx.devices[0].type)

    def test_a_value_without_a_name_is_a_number(self):
        from pygpu import constants

        values = constants._Values(cl.mem_flags)
        assert repr(values[1 << 40]) == str(1 << 40) and repr(values[0]) == "0"
        assert repr(values[1 << 40 | 1]) == str(1 << 40 | 1)
