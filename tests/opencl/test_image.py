"""Images of every kind: what they are made from and say of themselves, and what cannot be made."""

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
    host_shape,
    image_of,
    noise,
    read,
)

import pygpu as cl
from pygpu import _opencl

COPY = MF.READ_WRITE | MF.COPY_HOST_PTR
HUGE = 2**62


@pytest.mark.parametrize("kind", KINDS)
def test_attributes(ctx, kind):
    shape, is_array = KINDS[kind]
    image = cl.create_image(ctx, MF.READ_WRITE, RGBA8, shape, is_array=is_array)
    assert isinstance(image, cl.Image) and isinstance(image, cl.MemoryObject)
    assert image.type == getattr(KIND, kind)
    dims = {"IMAGE1D": 1, "IMAGE1D_ARRAY": 1, "IMAGE2D": 2, "IMAGE2D_ARRAY": 2, "IMAGE3D": 3}[kind]
    assert (image.width, image.height, image.depth) == (*shape[:dims], 0, 0)[:3]
    assert image.array_size == (shape[-1] if is_array else 0)
    assert image.shape == shape
    assert image.row_pitch >= 13 * 4 and image.element_size == 4
    if kind in ("IMAGE2D_ARRAY", "IMAGE3D"):
        assert image.slice_pitch >= 7 * 13 * 4
    assert image.size >= np.prod(shape) * 4
    assert image.buffer is None and image.hostbuf is None
    assert image.num_mip_levels == 0 and image.num_samples == 0
    assert image.context == ctx and image.reference_count == 1
    assert image.get_image_info(cl.image_info.WIDTH) == 13
    assert image.get_image_info(cl.image_info.FORMAT) == RGBA8
    assert image.get_info(cl.mem_info.TYPE) == image.type
    with pytest.raises(cl.LogicError):
        image.get_image_info(0x9999)
    with pytest.raises(TypeError):
        image.get_image_info("WIDTH")
    again = cl.Image.from_int_ptr(image.int_ptr)
    assert again == image and type(again) is cl.Image and again.shape == shape
    assert type(cl.MemoryObject.from_int_ptr(image.int_ptr)) is cl.Image


def test_int_shape_is_one_dimension(ctx):
    assert cl.create_image(ctx, MF.READ_ONLY, RGBA8, 13).shape == (13,)
    assert cl.create_image(ctx, MF.READ_ONLY, RGBA8, np.array([13, 7])).shape == (13, 7)


def test_shape_of_hostbuf(ctx):
    fmt = cl.ImageFormat(ORDER.R, TYPE.FLOAT)
    if fmt not in cl.get_supported_image_formats(ctx, MF.READ_ONLY, cl.mem_object_type.IMAGE2D):
        pytest.skip("the device has no images of one float a pixel")
    host = np.zeros((5, 6), np.float32)
    image = cl.create_image(ctx, MF.READ_ONLY | MF.COPY_HOST_PTR, fmt, hostbuf=host)
    assert image.shape == (5, 6)


def test_released(ctx, queue):
    image = cl.create_image(ctx, MF.READ_WRITE, RGBA8, (4, 4))
    image.release()
    uses = [
        lambda: image.width,
        lambda: image.format,
        lambda: image.shape,
        lambda: image.get_image_info(cl.image_info.WIDTH),
        lambda: cl.enqueue_copy(queue, np.zeros(64, np.uint8), image),
        lambda: cl.enqueue_fill_image(queue, image, (1, 2, 3, 4), 0, (4, 4)),
        lambda: cl.enqueue_map_image(
            queue, image, cl.map_flags.READ, 0, (4, 4), (4, 4, 4), np.uint8
        ),
        image.release,
    ]
    for use in uses:
        with pytest.raises(ValueError, match="released"):
            use()


def test_row_pitch_of_hostbuf(ctx, queue):
    host = noise((7, 16, 4))
    image = cl.create_image(ctx, MF.READ_ONLY | MF.COPY_HOST_PTR, RGBA8, (13, 7), (64,), host)
    assert np.array_equal(read(queue, image), host[:, :13])
    assert (
        cl.create_image(ctx, MF.READ_ONLY | MF.COPY_HOST_PTR, RGBA8, (13, 7), 64, host).width == 13
    )


@pytest.mark.parametrize("is_array", [False, True])
def test_slice_pitch_of_hostbuf(ctx, queue, is_array):
    host = noise((3, 10, 16, 4))
    image = cl.create_image(
        ctx, MF.READ_ONLY | MF.COPY_HOST_PTR, RGBA8, (13, 7, 3), (64, 640), host, is_array=is_array
    )
    assert np.array_equal(read(queue, image), host[:, :7, :13])


def test_slice_pitch_of_1d_images(ctx, queue):
    host = noise((5, 16, 4))
    flags = MF.READ_ONLY | MF.COPY_HOST_PTR
    image = cl.create_image(ctx, flags, RGBA8, (13, 5), (64, 64), host, is_array=True)
    assert np.array_equal(read(queue, image), host[:, :13])


def test_use_host_ptr(ctx, queue):
    host = noise((7, 13, 4))
    image = cl.create_image(ctx, MF.READ_WRITE | MF.USE_HOST_PTR, RGBA8, (13, 7), hostbuf=host)
    assert image.hostbuf is host
    assert np.array_equal(read(queue, image), host)
    new = noise((7, 13, 4), 2)
    cl.enqueue_copy(queue, image, new)
    mapped, event, _, _ = cl.enqueue_map_image(
        queue, image, cl.map_flags.READ, 0, None, host.shape, np.uint8
    )
    assert np.array_equal(mapped, new) and np.array_equal(host, new)
    assert np.array_equal(image.get_host_array(host.shape, np.uint8), new)
    with pytest.raises(ValueError):
        image.get_host_array((8, 13, 4), np.uint8)
    del mapped


def test_use_host_ptr_locks_memory(ctx):
    host = bytearray(13 * 7 * 4)
    image = cl.create_image(ctx, MF.READ_WRITE | MF.USE_HOST_PTR, RGBA8, (13, 7), hostbuf=host)
    with pytest.raises(BufferError):
        host.append(0)
    image.release()
    append_when_free(host)
    assert len(host) == 13 * 7 * 4 + 1


def test_read_only_hostbuf(ctx, queue):
    data = bytes(range(16)) * 4
    image = cl.create_image(ctx, MF.READ_ONLY | MF.USE_HOST_PTR, RGBA8, (4, 4), hostbuf=data)
    assert read(queue, image).tobytes() == data
    with pytest.raises((BufferError, ValueError)):
        cl.create_image(ctx, MF.READ_WRITE | MF.USE_HOST_PTR, RGBA8, (4, 4), hostbuf=data)


def test_hostbuf_without_a_flag_is_refused(ctx):
    with (
        pytest.warns(UserWarning, match="hostbuf"),
        pytest.raises(cl.LogicError, match="INVALID_HOST_PTR.*add mem_flags.COPY_HOST_PTR"),
    ):
        cl.create_image(ctx, MF.READ_WRITE, RGBA8, (4, 4), hostbuf=bytes(64))


@pytest.mark.parametrize(
    ("args", "kwargs", "text"),
    [
        ((MF.READ_WRITE, RGBA8), {}, "shape is missing"),
        ((COPY, RGBA8), {"hostbuf": b"1234" * 4}, "hostbuf has 16"),
        ((MF.READ_WRITE, RGBA8, ()), {}, "0 entries"),
        ((MF.READ_WRITE, RGBA8, (1, 1, 1, 1)), {}, "4 entries"),
        ((MF.READ_WRITE, RGBA8, (0,)), {}, "width is 0"),
        ((MF.READ_WRITE, RGBA8, (4, 0)), {}, "height is 0"),
        ((MF.READ_WRITE, RGBA8, (4, 4, 0)), {}, "depth is 0"),
        ((MF.READ_WRITE, RGBA8, (4, 4, 0)), {"is_array": True}, "number of images is 0"),
        ((MF.READ_WRITE, RGBA8, (-1, 4)), {}, "negative"),
        ((MF.READ_WRITE, RGBA8, (HUGE, 4)), {}, "image2d_max_width"),
        ((MF.READ_WRITE, RGBA8, (4, HUGE)), {}, "image2d_max_height"),
        ((MF.READ_WRITE, RGBA8, (4, 4, HUGE)), {}, "image3d_max_depth"),
        ((MF.READ_WRITE, RGBA8, (4, HUGE)), {"is_array": True}, "image_max_array_size"),
        ((MF.READ_WRITE, RGBA8, (4,)), {"is_array": True}, "is_array"),
        ((MF.READ_WRITE, RGBA8, (4, 4), (16,)), {}, "pitches"),
        ((COPY, RGBA8, (4, 4)), {}, "hostbuf is missing"),
        ((COPY, RGBA8, (4, 4), None, np.zeros(63, np.uint8)), {}, "needs 64 bytes"),
        ((COPY, RGBA8, (4, 4, 2), None, np.zeros(127, np.uint8)), {}, "needs 128 bytes"),
        ((COPY, RGBA8, (4, 4), (15,), np.zeros(256, np.uint8)), {}, "row pitch of 15"),
        ((COPY, RGBA8, (4, 4), (18,), np.zeros(256, np.uint8)), {}, "row pitch of 18"),
        ((COPY, RGBA8, (4, 4), (20,), np.zeros(79, np.uint8)), {}, "needs 80 bytes"),
        ((COPY, RGBA8, (4, 4), (HUGE,), np.zeros(64, np.uint8)), {}, "larger than any"),
        ((COPY, RGBA8, (4, 4, 2), (16, 60), np.zeros(256, np.uint8)), {}, "slice pitch of 60"),
        ((COPY, RGBA8, (4, 4, 2), (16, 72), np.zeros(256, np.uint8)), {}, "slice pitch of 72"),
        ((COPY, RGBA8, (4, 4, 2), (16, HUGE), np.zeros(256, np.uint8)), {}, "larger than any"),
        ((COPY, RGBA8, (4, 4), (16, 64, 64), np.zeros(64, np.uint8)), {}, "pitches has 3 entries"),
        ((COPY, RGBA8, (4, 4), None, np.zeros((8, 16), np.uint8)[:, ::2]), {}, "contiguous"),
        ((COPY, cl.ImageFormat(ORDER.R, 0x1234), (4, 4)), {"hostbuf": bytes(64)}, "does not know"),
        ((MF.READ_WRITE, cl.ImageFormat(ORDER.R, 0x1234), (4, 4)), {}, "no device of the context"),
    ],
)
def test_wrong_values(ctx, args, kwargs, text):
    with pytest.raises((ValueError, cl.LogicError), match=text):
        cl.create_image(ctx, *args, **kwargs)


@pytest.mark.parametrize(
    ("args", "kwargs", "text"),
    [
        (("x", RGBA8, (4, 4)), {}, "flags"),
        ((MF.READ_WRITE, (ORDER.R, TYPE.FLOAT), (4, 4)), {}, "ImageFormat"),
        ((MF.READ_WRITE, RGBA8, "44"), {}, "shape"),
        ((MF.READ_WRITE, RGBA8, (4.0, 4.0)), {}, "shape"),
        ((COPY, RGBA8, (4, 4), "16", bytes(64)), {}, "pitches"),
        ((COPY, RGBA8, (4, 4), None, [0] * 64), {}, "hostbuf"),
        ((COPY, RGBA8, (4, 4), None, np.zeros(64, object)), {}, "objects"),
        ((MF.READ_WRITE, RGBA8, (4,)), {"buffer": 5}, "buffer"),
        ((MF.READ_WRITE, RGBA8, (4, 4)), {"nonsense": 5}, "nonsense"),
    ],
)
def test_wrong_types(ctx, args, kwargs, text):
    with pytest.raises(TypeError, match=text):
        cl.create_image(ctx, *args, **kwargs)


def test_first_unsupported_format(ctx):
    have = set(cl.get_supported_image_formats(ctx, MF.READ_WRITE, KIND.IMAGE2D))
    missing = next(
        fmt
        for fmt in (
            cl.ImageFormat(ORDER.RGB, TYPE.SIGNED_INT32),
            cl.ImageFormat(ORDER.sRGB, TYPE.FLOAT),
        )
        if fmt not in have
    )
    with pytest.raises(cl.RuntimeError, match="get_supported_image_formats") as caught:
        cl.create_image(ctx, MF.READ_WRITE, missing, (4, 4))
    assert caught.value.code == cl.status_code.IMAGE_FORMAT_NOT_SUPPORTED


def test_limits_are_the_device_s(ctx, device):
    with pytest.raises(cl.LogicError, match=f"{device.image2d_max_width}"):
        cl.create_image(ctx, MF.READ_ONLY, RGBA8, (device.image2d_max_width + 1, 1))
    assert cl.create_image(ctx, MF.READ_ONLY, RGBA8, (device.image2d_max_width, 1)).height == 1


def test_too_large_for_the_device(ctx, device):
    shape = (device.image3d_max_width, device.image3d_max_height, device.image3d_max_depth)
    if np.prod([*shape, 16], dtype=object) <= device.global_mem_size:
        pytest.skip("the largest image of the device fits into its memory")
    with pytest.raises(cl.Error) as caught:
        cl.create_image(ctx, MF.READ_WRITE, RGBA_FLOAT, shape)
    assert caught.value.code != 0


def describe(kind, shape, **attributes):
    desc = cl.ImageDescriptor()
    desc.image_type = getattr(KIND, kind)
    desc.shape = shape
    for name, value in attributes.items():
        setattr(desc, name, value)
    return desc


@pytest.mark.parametrize("kind", KINDS)
def test_descriptor_kinds(ctx, queue, kind):
    shape, is_array = KINDS[kind]
    image = cl.Image(ctx, MF.READ_WRITE, RGBA8, desc=describe(kind, shape))
    assert image.type == getattr(KIND, kind) and image.shape == shape
    data = noise(host_shape(shape, 4))
    made = cl.Image(ctx, COPY, RGBA8, hostbuf=data, desc=describe(kind, shape))
    assert np.array_equal(read(queue, made), data)
    if is_array:  # the number may also be given by itself
        image = cl.Image(
            ctx, MF.READ_WRITE, RGBA8, desc=describe(kind, shape[:-1], array_size=shape[-1])
        )
        assert image.shape == shape
    if kind == "IMAGE1D_ARRAY":  # PyOpenCL's way
        assert cl.Image(ctx, MF.READ_WRITE, RGBA8, desc=describe(kind, (13, 1, 5))).shape == shape


def test_descriptor_attributes():
    desc = cl.ImageDescriptor()
    assert (desc.image_type, desc.shape, desc.array_size, desc.pitches, desc.buffer) == (
        0,
        None,
        0,
        (0, 0),
        None,
    )
    assert (desc.num_mip_levels, desc.num_samples) == (0, 0)
    desc.shape = (4, 5, 6)
    assert desc.shape == (4, 5, 6) and desc.array_size == 6
    desc.array_size = 9
    assert desc.array_size == 9
    desc.shape = (4,)
    assert desc.array_size == 1
    desc.pitches = (16,)
    assert desc.pitches == (16, 0)
    desc.pitches = None
    assert desc.pitches == (0, 0)
    desc.num_mip_levels, desc.num_samples, desc.image_type = 1, 2, KIND.IMAGE2D
    assert (desc.num_mip_levels, desc.num_samples, desc.image_type) == (1, 2, KIND.IMAGE2D)
    for name, value in {
        "image_type": "2d",
        "shape": "x",
        "array_size": None,
        "pitches": 1.5,
        "num_mip_levels": -1,
        "num_samples": 2**32,
        "buffer": 5,
    }.items():
        with pytest.raises((TypeError, ValueError, OverflowError)):
            setattr(desc, name, value)
        with pytest.raises((AttributeError, TypeError)):
            delattr(desc, name)
    with pytest.raises(ValueError):
        desc.shape = ()
    with pytest.raises(TypeError):
        cl.ImageDescriptor(5)


def test_descriptor_misuse(ctx):
    def make(desc, *args, **kwargs):
        return cl.Image(ctx, MF.READ_WRITE, RGBA8, *args, desc=desc, **kwargs)

    good = describe("IMAGE2D", (4, 4))
    for kwargs in (
        {"shape": (4, 4)},
        {"pitches": (16,)},
        {"is_array": True},
        {"buffer": cl.Buffer(ctx, 1, 64)},
    ):
        with pytest.raises(TypeError, match="desc"):
            make(good, **kwargs)
    with pytest.raises(TypeError, match="ImageDescriptor"):
        make(5)
    for desc, text in [
        (cl.ImageDescriptor(), "image_type"),
        (describe("BUFFER", (4,)), "image_type"),
        (describe("IMAGE2D", (4,)), "too few"),
        (describe("IMAGE2D", (4, 4, 2)), "too many"),
        (describe("IMAGE1D_ARRAY", (4,)), "too few"),
        (describe("IMAGE2D_ARRAY", (4, 4)), "too few"),
        (describe("IMAGE1D_BUFFER", (4,)), "buffer is missing"),
        (
            describe("IMAGE3D", (4, 4, 4), buffer=cl.Buffer(ctx, MF.READ_WRITE, 256)),
            "cannot be made from a buffer",
        ),
        (describe("IMAGE2D", (4, 4), pitches=(32, 0)), "pitches"),
    ]:
        with pytest.raises(ValueError, match=text):
            make(desc)


def test_1d_image_shares_a_buffer(ctx, queue):
    data = noise((20, 4))
    buffer = cl.Buffer(ctx, COPY, hostbuf=data)
    image = cl.create_image(ctx, MF.READ_WRITE, RGBA8, (13,), buffer=buffer)
    assert image.type == KIND.IMAGE1D_BUFFER and image.shape == (13,)
    assert image.buffer == buffer and type(image.buffer) is cl.Buffer
    assert np.array_equal(read(queue, image), data[:13])
    new = noise((13, 4), 2)
    cl.enqueue_copy(queue, image, new)
    back = np.empty_like(data)
    cl.enqueue_copy(queue, back, buffer)
    assert np.array_equal(back[:13], new) and np.array_equal(back[13:], data[13:])
    del buffer
    gc.collect()
    assert np.array_equal(read(queue, image), new)


def test_image_from_buffer_misuse(ctx, queue):
    buffer = cl.Buffer(ctx, MF.READ_WRITE, 64)
    other = cl.Buffer(cl.Context(ctx.devices), MF.READ_WRITE, 64)
    image = cl.create_image(ctx, MF.READ_WRITE, RGBA8, (4, 4))
    make = cl.create_image
    with pytest.raises(ValueError, match="needs 68 bytes"):
        make(ctx, MF.READ_WRITE, RGBA8, (17,), buffer=buffer)
    with pytest.raises(cl.LogicError, match="3-d"):
        make(ctx, MF.READ_WRITE, RGBA8, (2, 2, 2), buffer=buffer)
    with pytest.raises(cl.LogicError, match="is_array"):
        make(ctx, MF.READ_WRITE, RGBA8, (2, 2), buffer=buffer, is_array=True)
    with pytest.raises(cl.LogicError, match="context"):
        make(ctx, MF.READ_WRITE, RGBA8, (4,), buffer=other)
    with pytest.raises(TypeError, match="Buffer"):
        make(ctx, MF.READ_WRITE, RGBA8, (4,), buffer=image)
    with pytest.raises(ValueError, match="hostbuf"):
        make(ctx, COPY, RGBA8, (4,), hostbuf=bytes(16), buffer=buffer)
    buffer.release()
    with pytest.raises(ValueError, match="released"):
        make(ctx, MF.READ_WRITE, RGBA8, (4,), buffer=buffer)


def test_2d_image_shares_a_buffer(ctx, queue, device):
    pitch = 64 * 4
    buffer = cl.Buffer(ctx, COPY, hostbuf=noise((8, 64, 4)))
    has = (
        200 <= int(float(device.version.split()[1]) * 100) < 300
        or "image2d_from_buffer" in device.extensions
    )
    if not has:
        with pytest.raises(TypeError, match="cl_khr_image2d_from_buffer"):
            cl.create_image(ctx, MF.READ_WRITE, RGBA8, (13, 7), (pitch,), buffer=buffer)
        pytest.skip("the device does not make 2-d images from buffers")
    if 64 % max(device.image_pitch_alignment, 1):
        pytest.skip(f"the device wants rows of a multiple of {device.image_pitch_alignment} pixels")
    image = cl.create_image(ctx, MF.READ_WRITE, RGBA8, (13, 7), (pitch,), buffer=buffer)
    assert image.type == KIND.IMAGE2D and image.row_pitch == pitch and image.buffer == buffer
    assert np.array_equal(read(queue, image), noise((8, 64, 4))[:7, :13])
    with pytest.raises(ValueError, match="buffer has"):
        cl.create_image(ctx, MF.READ_WRITE, RGBA8, (13, 9), (pitch,), buffer=buffer)


@pytest.mark.parametrize("name", ["clCreateImage", "clGetSupportedImageFormats", "clGetDeviceInfo"])
@pytest.mark.parametrize("code", [-30, -6])
def test_making_fails(ctx, name, code):
    _opencl._fault(name, code, times=9)
    try:
        with pytest.raises(cl.Error, match=name) as caught:
            cl.create_image(ctx, COPY, RGBA8, (4, 4), hostbuf=bytes(64))
        assert caught.value.code == code
    finally:
        _opencl._fault(None, 0)


def test_out_of_memory_is_tried_again(ctx, queue):
    data = noise((7, 13, 4))
    calls = [
        ("clCreateImage", lambda: image_of(ctx, data)),
        ("clEnqueueReadImage", lambda: read(queue, image)),
    ]
    image = image_of(ctx, data)
    for name, call in calls:
        _opencl._fault(name, -4)
        try:
            call()
            assert _opencl._fault_hits() == 1
        finally:
            _opencl._fault(None, 0)


def test_subclass(ctx, queue):
    class Picture(cl.Image):
        pass

    picture = Picture(ctx, MF.READ_WRITE, RGBA8, (13, 7))
    picture.name = "rings"
    assert type(picture) is Picture and picture.shape == (13, 7) and picture.name == "rings"
    assert type(Picture.from_int_ptr(picture.int_ptr)) is Picture
    cl.enqueue_copy(queue, picture, noise((7, 13, 4)))
    assert np.array_equal(read(queue, picture), noise((7, 13, 4)))
    picture.itself = picture  # a cycle


def test_pyopencls_older_way_to_information(ctx):
    image = cl.Image(ctx, MF.READ_ONLY, RGBA8, (12, 7))
    with pytest.warns(DeprecationWarning, match=r"use Image\.NAME"):
        assert (image.image.width, image.image.height) == (12, 7)
    with pytest.warns(DeprecationWarning):
        assert image.image.depth == image.depth
