"""Copies of regions between images, the host and buffers, and fills, against NumPy."""

import gc

import numpy as np
import pytest
from opencl.image_helpers import (
    KIND,
    KINDS,
    MF,
    ORDER,
    RGBA8,
    RGBA_FLOAT,
    TYPE,
    append_when_free,
    boxes,
    cut,
    host_shape,
    image_of,
    noise,
    read,
)

import pygpu as cl
from pygpu import _opencl


@pytest.mark.parametrize("kind", KINDS)
def test_read_regions(ctx, queue, kind):
    shape, is_array = KINDS[kind]
    data = noise(host_shape(shape, 4))
    image = image_of(ctx, data, is_array=is_array)
    for origin, region in boxes(shape):
        out = np.zeros(host_shape(region, 4), np.uint8)
        event = cl.enqueue_copy(queue, out, image, origin=origin, region=region)
        assert isinstance(event, cl.NannyEvent) and event.get_ward() is None
        assert np.array_equal(out, data[cut(origin, region)])


@pytest.mark.parametrize("kind", KINDS)
def test_write_regions(ctx, queue, kind):
    shape, is_array = KINDS[kind]
    for seed, (origin, region) in enumerate(boxes(shape)):
        data = noise(host_shape(shape, 4))
        image = image_of(ctx, data, is_array=is_array)
        new = noise(host_shape(region, 4), seed + 10)
        cl.enqueue_copy(queue, image, new, origin=origin, region=region)
        data[cut(origin, region)] = new
        assert np.array_equal(read(queue, image), data)


def test_default_region_is_the_rest(ctx, queue):
    data = noise((7, 13, 4))
    image = image_of(ctx, data)
    out = np.zeros((7, 13, 4), np.uint8)
    cl.enqueue_copy(queue, out, image)
    assert np.array_equal(out, data)
    out = np.zeros((5, 10, 4), np.uint8)
    cl.enqueue_copy(queue, out, image, origin=(3, 2))
    assert np.array_equal(out, data[2:, 3:])
    with pytest.raises(ValueError, match="width 13"):
        cl.enqueue_copy(queue, out, image, origin=(13, 0))


def test_pitches_of_copies(ctx, queue):
    data = noise((3, 7, 13, 4))
    image = image_of(ctx, data)
    out = np.full((3, 8, 16, 4), 77, np.uint8)
    cl.enqueue_copy(queue, out, image, origin=(0, 0, 0), region=(13, 7, 3), pitches=(64, 512))
    assert np.array_equal(out[:, :7, :13], data)
    assert (out[:, 7:] == 77).all() and (out[:, :, 13:] == 77).all()
    new = noise((3, 8, 16, 4), 3)
    cl.enqueue_copy(queue, image, new, origin=(0, 0, 0), region=(13, 7, 3), pitches=(64, 512))
    assert np.array_equal(read(queue, image), new[:, :7, :13])
    # The last row need not be followed by its gap.
    short = np.full(6 * 64 + 52, 77, np.uint8)
    cl.enqueue_copy(queue, short, image, origin=(0, 0, 1), region=(13, 7, 1), pitches=(64,))
    assert np.array_equal(short[:52], new[1, 0, :13].ravel())
    assert np.array_equal(short[-52:], new[1, 6, :13].ravel())
    with pytest.raises(ValueError, match="reaches past"):
        cl.enqueue_copy(queue, short[:-1], image, origin=(0, 0, 1), region=(13, 7, 1), pitches=64)


def test_pitches_of_1d_images(ctx, queue):
    data = noise((5, 13, 4))
    image = image_of(ctx, data, is_array=True)
    for pitches in ((64,), (0, 64), (64, 64)):
        out = np.full((5, 16, 4), 77, np.uint8)
        cl.enqueue_copy(queue, out, image, origin=(0, 0), region=(13, 5), pitches=pitches)
        assert np.array_equal(out[:, :13], data) and (out[:, 13:] == 77).all()
    with pytest.raises(ValueError, match="pitch"):
        cl.enqueue_copy(queue, out, image, origin=(0, 0), region=(13, 5), pitches=(52, 64))


@pytest.mark.parametrize(
    ("kwargs", "text"),
    [
        ({"region": (14, 7)}, "width 13"),
        ({"origin": (1, 0), "region": (13, 7)}, "width 13"),
        ({"region": (13, 8)}, "height 7"),
        ({"region": (13, 7, 2)}, "extent 1"),
        ({"origin": (0, 0, 1)}, "extent 1"),
        ({"origin": (2**63 - 1, 0), "region": (2**63 - 1, 1)}, "width 13"),
        ({"region": (0, 7)}, r"region\[0\] is 0"),
        ({"region": (13, 0)}, r"region\[1\] is 0"),
        ({"region": (1, 1, 0)}, r"region\[2\] is 0"),
        ({"origin": (-1, 0)}, "origin"),
        ({"origin": (0, 0, 0, 0)}, "origin has 4 entries"),
        ({"pitches": (51,)}, "row pitch of 51"),
        ({"pitches": (2**62,)}, "reaches past"),
        ({"pitches": (1, 2, 3)}, "pitches"),
        ({"pitches": ()}, "pitches"),
    ],
)
def test_wrong_regions(ctx, queue, kwargs, text):
    image = cl.create_image(ctx, MF.READ_WRITE, RGBA8, (13, 7))
    host = np.zeros((7, 13, 4), np.uint8)
    for pair in ((host, image), (image, host)):
        with pytest.raises(ValueError, match=text):
            cl.enqueue_copy(queue, *pair, **kwargs)


def test_slice_pitch_too_small(ctx, queue):
    image = cl.create_image(ctx, MF.READ_WRITE, RGBA8, (4, 4, 2))
    with pytest.raises(ValueError, match="slice pitch of 63"):
        cl.enqueue_copy(queue, np.zeros(128, np.uint8), image, pitches=(16, 63))


def test_host_too_small(ctx, queue):
    image = cl.create_image(ctx, MF.READ_WRITE, RGBA8, (13, 7))
    small = np.zeros(13 * 7 * 4 - 1, np.uint8)
    for pair in ((small, image), (image, small)):
        with pytest.raises(ValueError, match="reaches past the 363 bytes"):
            cl.enqueue_copy(queue, *pair, origin=(0, 0), region=(13, 7))


def test_invalid_arguments(ctx, queue):
    image = cl.create_image(ctx, MF.READ_WRITE, RGBA8, (4, 4))
    other = cl.create_image(cl.Context(ctx.devices), MF.READ_WRITE, RGBA8, (4, 4))
    host = np.zeros((4, 4, 4), np.uint8)
    frozen = host.copy()
    frozen.flags.writeable = False
    buffer = cl.Buffer(ctx, MF.READ_WRITE, 64)
    with pytest.raises(ValueError, match="read-only"):
        cl.enqueue_copy(queue, frozen, image)
    cl.enqueue_copy(queue, image, frozen)
    with pytest.raises((TypeError, BufferError)):
        cl.enqueue_copy(queue, bytes(64), image)
    for host_like in (None, 5, [0] * 64, "x" * 64):
        with pytest.raises(TypeError):
            cl.enqueue_copy(queue, host_like, image)
        with pytest.raises(TypeError):
            cl.enqueue_copy(queue, image, host_like)
    with pytest.raises(TypeError, match="objects"):
        cl.enqueue_copy(queue, np.zeros((4, 4, 4), object), image)
    with pytest.raises(cl.LogicError, match="context"):
        cl.enqueue_copy(queue, host, other)
    with pytest.raises(cl.LogicError, match="context"):
        cl.enqueue_copy(queue, image, other)
    with pytest.raises(TypeError, match="foo"):
        cl.enqueue_copy(queue, host, image, foo=1)
    with pytest.raises(TypeError, match="offset"):
        cl.enqueue_copy(queue, host, image, offset=1)
    with pytest.raises(TypeError, match="is_blocking"):
        cl.enqueue_copy(queue, buffer, image, is_blocking=True)
    with pytest.raises(TypeError, match="pitches"):
        cl.enqueue_copy(queue, buffer, image, pitches=(64,))
    with pytest.raises(TypeError, match="origin"):
        cl.enqueue_copy(queue, image, image, origin=(0, 0))
    with pytest.raises(TypeError, match="queue"):
        cl.enqueue_copy(ctx, host, image)
    with pytest.raises(TypeError, match="Image"):
        cl._enqueue_read_image(queue, buffer, 0, 1, host)
    with pytest.raises(TypeError, match="Buffer"):
        _opencl._enqueue_copy_image_to_buffer(queue, image, image, 0, 1)
    with pytest.raises(TypeError, match="^enqueue_copy: wait_for"):
        cl.enqueue_copy(queue, host, image, wait_for=5)
    with pytest.raises(ValueError, match="^enqueue_copy: region has 4 entries"):
        cl.enqueue_copy(queue, host, image, origin=(0, 0), region=(1, 1, 1, 1))


def test_copy_between_images(ctx, queue):
    data = noise((7, 13, 4))
    src = image_of(ctx, data)
    dest = image_of(ctx, np.zeros_like(data))
    event = cl.enqueue_copy(queue, dest, src, src_origin=(2, 1), dest_origin=(5, 3), region=(6, 4))
    assert type(event) is cl.Event
    expected = np.zeros_like(data)
    expected[3:7, 5:11] = data[1:5, 2:8]
    assert np.array_equal(read(queue, dest), expected)
    cl.enqueue_copy(queue, dest, src)
    assert np.array_equal(read(queue, dest), data)
    small = cl.create_image(ctx, MF.READ_WRITE, RGBA8, (5, 9))
    cl.enqueue_copy(queue, small, src, src_origin=(10, 0))
    assert np.array_equal(read(queue, small)[:7, :3], data[:, 10:])
    # within one image
    cl.enqueue_copy(queue, src, src, src_origin=(0, 0), dest_origin=(7, 0), region=(6, 7))
    data[:, 7:] = data[:, :6]
    assert np.array_equal(read(queue, src), data)


def test_copy_between_kinds(ctx, queue):
    data = noise((3, 7, 13, 4))
    stack, flat = image_of(ctx, data, is_array=True), image_of(ctx, np.zeros((7, 13, 4), np.uint8))
    cl.enqueue_copy(queue, flat, stack, src_origin=(0, 0, 2), dest_origin=(0, 0), region=(13, 7))
    assert np.array_equal(read(queue, flat), data[2])
    volume = image_of(ctx, np.zeros_like(data))
    cl.enqueue_copy(queue, volume, flat, src_origin=(0, 0), dest_origin=(0, 0, 1), region=(13, 7))
    assert np.array_equal(read(queue, volume)[1], data[2])


def test_copy_between_images_misuse(ctx, queue):
    image = cl.create_image(ctx, MF.READ_WRITE, RGBA8, (13, 7))
    floats = cl.create_image(ctx, MF.READ_WRITE, RGBA_FLOAT, (13, 7))
    with pytest.raises(cl.RuntimeError, match="RGBA, FLOAT") as caught:
        cl.enqueue_copy(queue, floats, image, src_origin=0, dest_origin=0, region=(2, 2))
    assert caught.value.code == cl.status_code.IMAGE_FORMAT_MISMATCH
    cl.enqueue_copy(queue, image, image, src_origin=(0, 0), dest_origin=(6, 6), region=(7, 1))
    with pytest.raises(cl.RuntimeError, match="overlap") as caught:
        cl.enqueue_copy(queue, image, image, src_origin=(0, 0), dest_origin=(2, 0), region=(3, 1))
    assert caught.value.code == cl.status_code.MEM_COPY_OVERLAP
    for kwargs, text in [
        ({"src_origin": (13, 0)}, "src.*width 13"),
        ({"dest_origin": (0, 7)}, "dest.*height 7"),
        ({"region": (14, 1)}, "width 13"),
        ({"region": (0, 1)}, "is 0"),
        ({"src_origin": (2**63 - 1, 2**63 - 1)}, "width 13"),
    ]:
        with pytest.raises(ValueError, match=text):
            cl.enqueue_copy(
                queue, image, cl.create_image(ctx, MF.READ_WRITE, RGBA8, (13, 7)), **kwargs
            )
    with pytest.raises(TypeError, match="dst_origin"):
        cl.enqueue_copy(queue, image, floats, dest_origin=0, dst_origin=0)


def test_copy_image_and_buffer(ctx, queue):
    data = noise((7, 13, 4))
    image = image_of(ctx, data)
    buffer = cl.Buffer(ctx, MF.READ_WRITE, 500)
    cl.enqueue_fill(queue, buffer, np.uint8(77), 500)
    event = cl.enqueue_copy(queue, buffer, image, offset=16, origin=(2, 1), region=(6, 4))
    assert type(event) is cl.Event
    out = np.zeros(500, np.uint8)
    cl.enqueue_copy(queue, out, buffer)
    assert np.array_equal(out[16 : 16 + 96], data[1:5, 2:8].ravel())
    assert (out[:16] == 77).all() and (out[112:] == 77).all()
    cl.enqueue_copy(queue, image, buffer, offset=16, origin=(7, 3), region=(6, 4))
    data[3:7, 7:13] = data[1:5, 2:8].copy()
    assert np.array_equal(read(queue, image), data)
    cl.enqueue_copy(queue, buffer, image)
    cl.enqueue_copy(queue, out, buffer)
    assert np.array_equal(out[: 7 * 13 * 4], data.ravel())
    for offset in (500 - 363, 2**63 - 1):
        for pair in ((buffer, image), (image, buffer)):
            with pytest.raises(ValueError, match="buffer has 500"):
                cl.enqueue_copy(queue, *pair, offset=offset, origin=(0, 0), region=(13, 7))
    with pytest.raises(ValueError, match="width 13"):
        cl.enqueue_copy(queue, buffer, image, offset=0, origin=(0, 0), region=(14, 7))
    buffer.release()
    with pytest.raises(ValueError, match="released"):
        cl.enqueue_copy(queue, buffer, image, offset=0, origin=(0, 0), region=(1, 1))


def test_non_blocking_copies(ctx, queue):
    data = noise((64, 64, 4))
    image = image_of(ctx, np.zeros_like(data))
    gate = cl.UserEvent(ctx)
    source = bytearray(data.tobytes())
    event = cl.enqueue_copy(queue, image, source, is_blocking=False, wait_for=[gate])
    assert isinstance(event, cl.NannyEvent) and event.get_ward() is source
    with pytest.raises(BufferError):  # locked until the copy is done
        source.append(0)
    out = np.zeros_like(data)
    done = cl.enqueue_copy(queue, out, image, is_blocking=False, wait_for=[event])
    del event
    gc.collect()
    assert not out.any()
    gate.set_status(cl.command_execution_status.COMPLETE)
    done.wait()
    assert done.get_ward() is None
    assert np.array_equal(out, data)


def test_host_outlives_non_blocking_write(ctx, queue):
    data = noise((64, 64, 4))
    image = image_of(ctx, np.zeros_like(data))
    gate = cl.UserEvent(ctx)
    source = data.copy()
    cl.enqueue_copy(queue, image, source, is_blocking=False, wait_for=[gate])
    del source
    gc.collect()
    rubbish = [np.full((64, 64, 4), 9, np.uint8) for _ in range(8)]
    gate.set_status(cl.command_execution_status.COMPLETE)
    assert np.array_equal(read(queue, image), data) and rubbish


def test_failure_of_what_it_waits_for(ctx, queue):
    image = cl.create_image(ctx, MF.READ_WRITE, RGBA8, (4, 4))
    gate = cl.UserEvent(ctx)
    event = cl.enqueue_copy(
        queue, np.zeros(64, np.uint8), image, is_blocking=False, wait_for=[gate]
    )
    queue.flush()
    gate.set_status(-5)
    if event.command_execution_status >= 0:
        queue.finish()
        pytest.skip("the driver runs commands although what they wait for has failed")
    with pytest.raises(cl.Error):
        event.wait()


@pytest.mark.parametrize(
    ("kind", "color", "pixel"),
    [
        ("UNSIGNED_INT8", [1, 2, 3, 250], np.array([1, 2, 3, 250], np.uint8)),
        ("SIGNED_INT8", [1, -2, 3, -128], np.array([1, -2, 3, -128], np.int8)),
        ("SIGNED_INT16", (1, -2, 300, -32768), np.array([1, -2, 300, -32768], np.int16)),
        ("UNSIGNED_INT32", [1, 2, 3, 2**32 - 1], np.array([1, 2, 3, 2**32 - 1], np.uint32)),
        ("SIGNED_INT32", [1, 2, 3, -(2**31)], np.array([1, 2, 3, -(2**31)], np.int32)),
        ("FLOAT", [1.5, -2, 0.1, 1e30], np.array([1.5, -2, 0.1, 1e30], np.float32)),
        ("HALF_FLOAT", [1.5, -2, 0.25, 0], np.array([1.5, -2, 0.25, 0], np.float16)),
        ("UNORM_INT8", [0, 1, 0.2, 1], np.array([0, 255, 51, 255], np.uint8)),
        ("UNORM_INT16", [0, 1, 0.2, 1], np.array([0, 65535, 13107, 65535], np.uint16)),
    ],
)
def test_fill(ctx, queue, kind, color, pixel):
    fmt = cl.ImageFormat(ORDER.RGBA, getattr(TYPE, kind))
    if fmt not in cl.get_supported_image_formats(ctx, MF.READ_WRITE, KIND.IMAGE2D):
        pytest.skip(f"the device has no {fmt}")
    data = noise((7, 13, fmt.itemsize))
    image = image_of(ctx, data, fmt)
    event = cl.enqueue_fill_image(queue, image, color, (2, 1), (6, 4))
    assert type(event) is cl.Event
    data[1:5, 2:8] = pixel.view(np.uint8)
    assert np.array_equal(read(queue, image), data)


def test_fill_colors(ctx, queue):
    image = cl.create_image(ctx, MF.READ_WRITE, RGBA8, (3, 2))
    expected = np.tile(np.array([1, 2, 3, 4], np.uint8), (2, 3, 1))
    plain = np.array([1, 2, 3, 4], np.uint32)
    for color in (
        plain,
        plain.astype(np.uint8),  # not 16 bytes: PyOpenCL would read beyond
        plain.astype(np.int64),
        plain.tobytes(),
        bytearray(plain.tobytes()),
        (1, 2, 3, 4),
        iter([1, 2, 3, 4]),
        cl.cltypes.make_uint4(1, 2, 3, 4),
        np.array([(1, 2, 3, 4)], cl.cltypes.uint4),
    ):
        cl.enqueue_fill_image(queue, image, (9, 9, 9, 9), (0, 0), None)
        cl.enqueue_fill_image(queue, image, color, (0, 0), None)
        assert np.array_equal(read(queue, image), expected), color
    floats = cl.create_image(ctx, MF.READ_WRITE, RGBA_FLOAT, (3, 2))
    cl.enqueue_fill_image(queue, floats, np.arange(4, dtype=np.int32), 0, (3, 2))  # by value
    assert np.array_equal(read(queue, floats).view(np.float32)[1, 2], [0, 1, 2, 3])


def test_fill_misuse(ctx, queue):
    image = cl.create_image(ctx, MF.READ_WRITE, RGBA8, (3, 2))
    for color, error in [
        ((1, 2, 3), ValueError),
        (np.zeros(5, np.uint32), ValueError),
        (bytes(15), ValueError),
        ((1, 2, 3, -1), OverflowError),
        ((1, 2, 3, 2**32), OverflowError),
        ((1, 2, 3, 2**70), OverflowError),
        ((1, 2, 3, 0.5), TypeError),
        ((1, 2, 3, None), TypeError),
        (None, TypeError),
        (5, TypeError),
        ("abcd", TypeError),
        ({1: 2, 3: 4, 5: 6, 7: 8}, TypeError),
        (np.zeros((4, 1), np.uint32), TypeError),
    ]:
        with pytest.raises(error, match="color"):
            cl.enqueue_fill_image(queue, image, color, (0, 0), (3, 2))
    for origin, region in (
        ((1, 0), (3, 2)),
        ((0, 0), (3, 3)),
        ((0, 0), (0, 1)),
        ((0, 0), (2**63 - 1, 1)),
    ):
        with pytest.raises(ValueError):
            cl.enqueue_fill_image(queue, image, (1, 2, 3, 4), origin, region)
    with pytest.raises(TypeError, match="Image"):
        cl.enqueue_fill_image(queue, cl.Buffer(ctx, 1, 64), (1, 2, 3, 4), 0, 1)


@pytest.mark.parametrize("code", [-30, -6])
def test_commands_fail(ctx, queue, code):
    image, other = (cl.create_image(ctx, MF.READ_WRITE, RGBA8, (4, 4)) for _ in range(2))
    buffer, host = cl.Buffer(ctx, MF.READ_WRITE, 64), bytearray(64)
    calls = {
        "clEnqueueReadImage": lambda: cl.enqueue_copy(queue, host, image),
        "clEnqueueWriteImage": lambda: cl.enqueue_copy(queue, image, host, is_blocking=False),
        "clEnqueueCopyImage": lambda: cl.enqueue_copy(queue, other, image),
        "clEnqueueCopyImageToBuffer": lambda: cl.enqueue_copy(queue, buffer, image),
        "clEnqueueCopyBufferToImage": lambda: cl.enqueue_copy(queue, image, buffer),
        "clEnqueueFillImage": lambda: cl.enqueue_fill_image(queue, image, (1, 2, 3, 4), 0, None),
        "clEnqueueMapImage": lambda: cl.enqueue_map_image(
            queue, image, 1, 0, None, (64,), np.uint8
        ),
        "clGetImageInfo": lambda: cl.enqueue_copy(queue, host, image),
    }
    for name, call in calls.items():
        _opencl._fault(name, code, times=9)
        try:
            with pytest.raises(cl.Error, match=name) as caught:
                call()
            assert caught.value.code == code
        finally:
            _opencl._fault(None, 0)
        call()
    queue.finish()
    append_when_free(host)
    assert len(host) == 65
