"""HTML of images for notebooks: their properties, and a picture of two-dimensional ones."""

from __future__ import annotations

import html
from typing import Any

import numpy as np

from pygpu import _opencl
from pygpu._src.util.pictures import SIDE, grey, image_element
from pygpu.constants import channel_order, channel_type, mem_object_type
from pygpu.errors import Error

_MOST = 1 << 26  # the most bytes that are copied for a picture
_DTYPES = {
    channel_type.UNORM_INT8: np.uint8,
    channel_type.UNSIGNED_INT8: np.uint8,
    channel_type.SIGNED_INT8: np.int8,
    channel_type.SNORM_INT8: np.int8,
    channel_type.UNORM_INT16: np.uint16,
    channel_type.UNSIGNED_INT16: np.uint16,
    channel_type.SIGNED_INT16: np.int16,
    channel_type.SNORM_INT16: np.int16,
    channel_type.UNSIGNED_INT32: np.uint32,
    channel_type.SIGNED_INT32: np.int32,
    channel_type.HALF_FLOAT: np.float16,
    channel_type.FLOAT: np.float32,
}
# The positions of red, green and blue. Of other formats, the first channel is shown in grey.
_COLOURS = {
    channel_order.RGBA: [0, 1, 2],
    channel_order.BGRA: [2, 1, 0],
    channel_order.ARGB: [1, 2, 3],
}


def _pixels(image: Any) -> np.ndarray | None:
    """Return the pixels for a picture; None if the image is not two-dimensional, is too large, or
    has packed channels."""
    form = image.format
    dtype = _DTYPES.get(form.channel_data_type)
    if dtype is None or image.type != mem_object_type.IMAGE2D or image.size > _MOST:
        return None
    width, height = image.width, image.height
    count = form.channel_count
    host = np.empty((height, width, count), dtype)
    context = image.context
    queue = _opencl.CommandQueue(context, context.devices[0])
    _opencl.enqueue_copy(queue, host, image, origin=(0, 0), region=(width, height))
    small = host[:: -(-height // SIDE), :: -(-width // SIDE)]
    channels = _COLOURS.get(form.channel_order)
    if channels is None:
        return grey(small[..., 0])
    colours = small[..., channels]
    if dtype is np.uint8:
        return np.ascontiguousarray(colours)
    if np.dtype(dtype).kind == "f":  # from 0 to 1
        with np.errstate(invalid="ignore"):
            shades: np.ndarray = np.nan_to_num(np.clip(colours, 0, 1)) * 255
        return shades.astype(np.uint8)
    return np.stack([grey(colours[..., k]) for k in range(3)], axis=-1)


def image_html(image: Any) -> str:
    """Return a table of the image's properties, and a picture of its current contents: queued
    commands need not be done."""
    picture = ""
    try:
        pixels = _pixels(image)
        if pixels is not None:
            picture = image_element(pixels, "the image")
    except Error:  # released, or in use by OpenGL
        pass
    return f"<div>{picture}<pre>{html.escape(repr(image))}</pre></div>"
