"""ImageFormat, and each supported format there and back, bit for bit."""

import pickle

import numpy as np
import pytest
from opencl.image_helpers import (
    KIND,
    KINDS,
    MF,
    ORDER,
    RGBA_FLOAT,
    TYPE,
    host_shape,
    image_of,
    noise,
    read,
)

import pygpu as cl


def test_format_value():
    fmt = cl.ImageFormat(ORDER.RGBA, TYPE.FLOAT)
    assert repr(fmt) == "ImageFormat(RGBA, FLOAT)"
    assert (fmt.channel_order, fmt.channel_data_type) == (ORDER.RGBA, TYPE.FLOAT)
    assert (fmt.channel_count, fmt.dtype_size, fmt.itemsize) == (4, 4, 16)
    same, other = (
        cl.ImageFormat(order=ORDER.RGBA, type=TYPE.FLOAT),
        cl.ImageFormat(ORDER.R, TYPE.FLOAT),
    )
    assert fmt == same and not fmt != same and hash(fmt) == hash(same)
    assert fmt != other and not fmt == other and fmt != "x" and fmt != None  # noqa: E711
    assert len({fmt, same, other}) == 2
    assert pickle.loads(pickle.dumps(fmt)) == fmt
    fmt.channel_order = ORDER.R
    assert fmt == other
    with pytest.raises(AttributeError, match="channel_order"):
        del fmt.channel_order


@pytest.mark.parametrize(
    ("order", "kind", "count", "itemsize"),
    [
        ("R", "UNORM_INT8", 1, 1),
        ("DEPTH", "FLOAT", 1, 4),
        ("RG", "HALF_FLOAT", 2, 4),
        ("Rx", "SIGNED_INT16", 2, 4),
        ("RGB", "UNORM_SHORT_565", 3, 2),
        ("RGB", "UNORM_SHORT_555", 3, 2),
        ("RGBx", "UNORM_INT_101010", 4, 4),
        ("RGBA", "UNORM_INT_101010_2", 4, 4),
        ("sRGB", "UNORM_INT8", 3, 3),
        ("sBGRA", "UNORM_INT8", 4, 4),
        ("ABGR", "UNSIGNED_INT32", 4, 16),
        ("DEPTH_STENCIL", "UNORM_INT24", 2, 4),
    ],
)
def test_format_sizes(order, kind, count, itemsize):
    fmt = cl.ImageFormat(getattr(ORDER, order), getattr(TYPE, kind))
    assert (fmt.channel_count, fmt.itemsize) == (count, itemsize)
    assert repr(fmt) == f"ImageFormat({order}, {kind})"


def test_format_names_are_those_of_the_constants():
    for name, value in ORDER._members().items():
        assert repr(cl.ImageFormat(value, TYPE.FLOAT)) == f"ImageFormat({name}, FLOAT)"
    for name, value in TYPE._members().items():
        assert repr(cl.ImageFormat(ORDER.R, value)) == f"ImageFormat(R, {name})"


def test_format_unknown():
    fmt = cl.ImageFormat(0x1234, 0x5678)
    assert "0x1234" in repr(fmt) and "0x5678" in repr(fmt)
    for name in ("channel_count", "dtype_size", "itemsize"):
        with pytest.raises(cl.LogicError, match="the size of .* is not known"):
            getattr(fmt, name)
    for args in ((), (1,), (1, 2, 3), ("R", TYPE.FLOAT), (ORDER.R, None), (1.5, 2)):
        with pytest.raises(TypeError):
            cl.ImageFormat(*args)
    for args in ((-1, 1), (1, 2**32)):
        with pytest.raises((OverflowError, ValueError)):
            cl.ImageFormat(*args)


def test_supported_formats(ctx):
    formats = cl.get_supported_image_formats(ctx, MF.READ_WRITE, KIND.IMAGE2D)
    assert RGBA_FLOAT in formats and len(set(formats)) == len(formats)  # demanded of every device
    with pytest.raises(cl.LogicError, match="image_type"):
        cl.get_supported_image_formats(ctx, MF.READ_WRITE, KIND.BUFFER)
    with pytest.raises(TypeError, match="context"):
        cl.get_supported_image_formats(None, MF.READ_WRITE, KIND.IMAGE2D)


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_round_trips(ctx, queue, kind):
    shape, is_array = KINDS[kind]
    formats = cl.get_supported_image_formats(ctx, MF.READ_WRITE, getattr(KIND, kind))
    assert formats
    for fmt in formats:
        assert "unknown" not in repr(fmt)
        data = noise(host_shape(shape, fmt.itemsize))
        image = cl.create_image(ctx, MF.READ_WRITE, fmt, shape, is_array=is_array)
        assert image.format == fmt and image.element_size == fmt.itemsize
        cl.enqueue_copy(queue, image, data, origin=(0, 0, 0), region=shape)
        assert np.array_equal(read(queue, image), data), fmt
        # and as what it is made from
        made = image_of(ctx, data, fmt, is_array)
        assert np.array_equal(read(queue, made), data), fmt
