"""Pipes: packets from one kernel to another, where the device has them; clear errors where not."""

import numpy as np
import pytest

import pygpu as cl
from pygpu import _opencl

MF = cl.mem_flags


@pytest.fixture(autouse=True)
def counted(queue, balance):
    """Every test leaves as many handles as it found."""


@pytest.fixture
def has_pipes(device):
    version = float(device.version.split()[1])
    if version < 2 or (version >= 3 and not device.pipe_support):
        pytest.skip("the device has no pipes")


def test_without_pipes(ctx, device):
    version = float(device.version.split()[1])
    if 2 <= version < 3 or (version >= 3 and device.pipe_support):
        pytest.skip("the device has pipes")
    with pytest.raises(cl.LogicError, match="pipes|OpenCL 2") as caught:
        cl.Pipe(ctx, MF.READ_WRITE, 4, 16)
    assert caught.value.code == cl.status_code.INVALID_OPERATION


def test_attributes(ctx, has_pipes):
    pipe = cl.Pipe(ctx, MF.READ_WRITE, 4, 16)
    assert isinstance(pipe, cl.MemoryObject)
    assert pipe.packet_size == 4 and pipe.max_packets == 16
    assert pipe.type == cl.mem_object_type.PIPE and pipe.context == ctx
    assert pipe.get_pipe_info(cl.pipe_info.MAX_PACKETS) == 16
    with pytest.raises(cl.LogicError):
        pipe.get_pipe_info(0x9999)
    again = cl.MemoryObject.from_int_ptr(pipe.int_ptr)
    assert again == pipe and type(again) is cl.Pipe and again.packet_size == 4
    assert cl.Pipe(ctx, 0, packet_size=8, max_packets=2, properties=[0]).packet_size == 8
    pipe.release()
    for use in (lambda: pipe.packet_size, lambda: pipe.get_pipe_info(cl.pipe_info.PACKET_SIZE)):
        with pytest.raises(ValueError, match="released"):
            use()


def test_sizes_out_of_range_are_refused(ctx, device, has_pipes):
    for sizes, text in [
        ((0, 16), "positive"),
        ((4, 0), "positive"),
        ((device.pipe_max_packet_size + 1, 1), "pipe_max_packet_size"),
    ]:
        with pytest.raises(ValueError, match=text) as caught:
            cl.Pipe(ctx, MF.READ_WRITE, *sizes)
        assert caught.value.code == cl.status_code.INVALID_PIPE_SIZE


@pytest.mark.parametrize(
    ("args", "error", "text"),
    [
        (("x", 4, 16), TypeError, "flags"),
        ((MF.READ_WRITE, 4.0, 16), TypeError, "packet_size"),
        ((MF.READ_WRITE, 4, None), TypeError, "max_packets"),
        ((MF.READ_WRITE, -4, 16), (OverflowError, ValueError), "packet_size"),
        ((MF.READ_WRITE, 2**32, 16), OverflowError, "packet_size"),
        ((MF.READ_WRITE, 4), TypeError, "max_packets"),
        ((MF.READ_WRITE, 4, 16, 5), TypeError, "properties"),
        ((MF.READ_WRITE, 4, 16, "ab"), TypeError, "properties"),
        ((MF.READ_WRITE, 4, 16, [1]), ValueError, "pairs"),
        ((MF.READ_WRITE, 4, 16, [1.5, 2]), TypeError, "properties"),
        ((MF.READ_WRITE, 4, 16, [1] * 50), ValueError, "50 entries"),
    ],
)
def test_misuse(ctx, args, error, text):
    with pytest.raises(error, match=text):
        cl.Pipe(ctx, *args)
    with pytest.raises(TypeError, match="context"):
        cl.Pipe(None, MF.READ_WRITE, 4, 16)


@pytest.mark.parametrize("code", [-30, -6])
def test_making_fails(ctx, has_pipes, code):
    _opencl._fault("clCreatePipe", code, times=9)
    try:
        with pytest.raises(cl.Error, match="clCreatePipe") as caught:
            cl.Pipe(ctx, MF.READ_WRITE, 4, 16)
        assert caught.value.code == code
    finally:
        _opencl._fault(None, 0)


def test_packets_arrive(ctx, queue, has_pipes):
    program = cl.Program(
        ctx,
        """
        kernel void send(global const int *in, write_only pipe int p)
        { int x = in[get_global_id(0)]; write_pipe(p, &x); }
        kernel void receive(read_only pipe int p, global int *out)
        { int x = -1; read_pipe(p, &x); out[get_global_id(0)] = x; }
        """,
    ).build(options=["-cl-std=CL2.0"])
    sent = np.random.default_rng(2).integers(0, 1 << 30, 64, np.int32)
    pipe = cl.Pipe(ctx, MF.READ_WRITE, 4, 64)
    source = cl.Buffer(ctx, MF.READ_ONLY | MF.COPY_HOST_PTR, hostbuf=sent)
    target = cl.Buffer(ctx, MF.WRITE_ONLY, sent.nbytes)
    cl.Kernel(program, "send")(queue, (64,), None, source, pipe)
    cl.Kernel(program, "receive")(queue, (64,), None, pipe, target)
    received = np.empty_like(sent)
    cl.enqueue_copy(queue, received, target)
    assert np.array_equal(np.sort(received), np.sort(sent))  # work-items send in any order
