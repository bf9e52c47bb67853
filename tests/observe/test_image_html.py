"""OpenCL images in notebooks: a picture with the pixels' colours."""

from __future__ import annotations

import re
import struct
import zlib
from base64 import b64decode

import numpy as np
import pytest

import pygpu as cl

order, kind = cl.channel_order, cl.channel_type


def decode(html: str) -> np.ndarray | None:
    """The pixels of the picture, as bytes by row."""
    found = re.search(r"base64,([^']*)", html)
    if found is None:
        return None
    data = b64decode(found[1])
    width, height, _, colours = struct.unpack(">IIBB", data[16:26])
    start = data.index(b"IDAT") + 4
    rows = np.frombuffer(zlib.decompressobj().decompress(data[start:]), np.uint8)
    count = {0: 1, 2: 3}[colours]
    return rows.reshape(height, width * count + 1)[:, 1:].reshape(height, width, count)


def made(ctx: cl.Context, host: np.ndarray, channels: int, dtype: int) -> cl.Image:
    flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
    shape, form = host.shape[1::-1], cl.ImageFormat(channels, dtype)
    if form not in cl.get_supported_image_formats(ctx, flags, cl.mem_object_type.IMAGE2D):
        pytest.skip(f"the device has no images of {form}")
    return cl.Image(ctx, flags, form, shape, hostbuf=host)


@pytest.mark.parametrize("channels, places", [(order.RGBA, [0, 1, 2]), (order.BGRA, [2, 1, 0])])
def test_colours(ctx, channels, places):
    host = np.random.default_rng(1).integers(0, 256, (5, 7, 4), np.uint8)
    html = made(ctx, host, channels, kind.UNORM_INT8)._repr_html_()
    assert (decode(html) == host[..., places]).all()
    assert "&lt;pygpu.Image" in html


def test_floats(ctx):
    host = np.zeros((2, 3, 4), np.float32)
    host[0, :, 0] = [0, 0.5, 2]
    host[1, 0, 1] = np.nan
    wanted = np.zeros((2, 3, 3), int)
    wanted[0, :, 0] = [0, 127, 255]
    assert (decode(made(ctx, host, order.RGBA, kind.FLOAT)._repr_html_()) == wanted).all()


def test_one_channel_is_grey(ctx):
    host = np.array([[1, 2], [3, 5]], np.float32)
    found = decode(made(ctx, host, order.R, kind.FLOAT)._repr_html_())
    assert found[..., 0].tolist() == [[0, 63], [127, 255]]


def test_large_ones_are_thinned_out(ctx):
    host = np.zeros((300, 500), np.float32)
    assert decode(made(ctx, host, order.R, kind.FLOAT)._repr_html_()).shape == (100, 125, 1)


def test_without_a_picture(ctx):
    image = cl.Image(
        ctx, cl.mem_flags.READ_ONLY, cl.ImageFormat(order.RGBA, kind.FLOAT), shape=(4, 4, 4)
    )
    assert decode(image._repr_html_()) is None
    flat = made(ctx, np.zeros((2, 2), np.float32), order.R, kind.FLOAT)
    flat.release()
    assert decode(flat._repr_html_()) is None
