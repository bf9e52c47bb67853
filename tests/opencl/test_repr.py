"""What objects say of themselves, and the signature of kernels."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import pygpu as cl

SOURCE = "kernel void f(global float *x, const int in, local int *queue) { x[0] = in; }"


@pytest.fixture(scope="module")
def kernel(ctx):
    return cl.Program(ctx, SOURCE).build().f


def test_memory_tells_its_size_flags_and_device(ctx, device):
    buffer = cl.Buffer(ctx, cl.mem_flags.READ_ONLY | cl.mem_flags.ALLOC_HOST_PTR, 96)
    text = repr(buffer)
    assert text.startswith("<pygpu.Buffer of 96 bytes, READ_ONLY, ALLOC_HOST_PTR on ")
    assert device.name in text
    assert repr(buffer.get_sub_region(0, 32)).startswith("<pygpu.Buffer of 32 bytes")
    buffer.release()
    assert repr(buffer) == "<pygpu.Buffer, released>"


def test_a_subclass_bears_its_own_name(ctx):
    class Mine(cl.Buffer):
        pass

    assert repr(Mine(ctx, cl.mem_flags.READ_WRITE, 8)).startswith("<Mine of 8 bytes, READ_WRITE")


def test_what_was_not_made_says_so():
    for base in (cl.Buffer, cl.CommandQueue, cl.Program, cl.UserEvent):

        class Mine(base):
            def __init__(self):
                pass

        assert repr(Mine()) == "<Mine, not made yet>"


def test_queues_tell_their_properties(ctx, device):
    queue = cl.CommandQueue(ctx, properties=cl.command_queue_properties.PROFILING_ENABLE)
    assert device.name in repr(queue) and ", profiling at 0x" in repr(queue)


def test_programs_tell_how_far_they_are(ctx):
    program = cl.Program(ctx, SOURCE)
    assert repr(program).startswith("<pygpu.Program not built, on ")
    assert repr(program.build()).startswith("<pygpu.Program built, on ")


def test_events_tell_their_state(ctx, queue):
    event = cl.UserEvent(ctx)
    assert repr(event).startswith("<pygpu.UserEvent submitted at 0x")
    event.set_status(-5)
    assert repr(event).startswith("<pygpu.UserEvent failed with status -5 at 0x")
    done = cl.enqueue_copy(queue, cl.Buffer(ctx, cl.mem_flags.READ_WRITE, 8), np.zeros(1))
    done.wait()
    assert " complete at 0x" in repr(done)


def test_kernels_tell_their_parameters(kernel):
    assert "'f'" in repr(kernel)
    for part in ("float", "x, ", "int in, "):
        assert part in repr(kernel)


def test_a_kernels_signature_is_its_own(kernel):
    signature = inspect.signature(kernel)
    names = list(signature.parameters)
    # A name that Python reserves, or that the call has itself, gets an underscore.
    assert names[:6] == ["queue", "global_size", "local_size", "x", "in_", "queue_"]
    assert signature.parameters["in_"].annotation == "int"
    assert signature.parameters["g_times_l"].default is False
    signature.bind("queue", (1,), None, "buffer", 1, "local", wait_for=[])
    with pytest.raises(TypeError, match="queue_"):
        signature.bind("queue", (1,), None, "buffer", 1)


def test_the_type_keeps_its_own_signature():
    assert list(inspect.signature(cl.Kernel).parameters) == ["program", "name"]


def test_samplers_and_pools_say_what_they_are(ctx, queue):
    import pygpu.tools

    if any(device.image_support for device in ctx.devices):
        modes = cl.addressing_mode.REPEAT, cl.filter_mode.LINEAR
        expected = "Sampler REPEAT, LINEAR, normalized coordinates at 0x"
        assert expected in repr(cl.Sampler(ctx, True, *modes))
        modes = cl.addressing_mode.CLAMP, cl.filter_mode.NEAREST
        assert "Sampler CLAMP, NEAREST at 0x" in repr(cl.Sampler(ctx, False, *modes))
    pool = pygpu.tools.MemoryPool(pygpu.tools.ImmediateAllocator(queue))
    memory = pool.allocate(100)
    assert "MemoryPool: 100 bytes in 1 blocks in use, 0 blocks held, " in repr(pool)
    memory.release()
    assert "0 bytes in 0 blocks in use, 1 blocks held, " in repr(pool)
