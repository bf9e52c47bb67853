"""Images from arrays, and enqueue_copy where one side is an image.

An image's shape is the reverse of a C-ordered array's: (width, height) for an array of shape
(height, width) or (height, width, channels). Images are made in src/opencl/objects/image.c.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pygpu import _opencl
from pygpu._opencl import (
    CommandQueue,
    Context,
    Event,
    GLRenderBuffer,
    Image,
    ImageFormat,
    MemoryObjectHolder,
)
from pygpu._src.util.public import publish
from pygpu.constants import channel_order, channel_type, mem_flags

_IMAGES = (Image, GLRenderBuffer)

DTYPE_TO_CHANNEL_TYPE: dict[np.dtype[Any], int] = {
    np.dtype(np.float32): channel_type.FLOAT,
    np.dtype(np.float16): channel_type.HALF_FLOAT,
    np.dtype(np.int8): channel_type.SIGNED_INT8,
    np.dtype(np.int16): channel_type.SIGNED_INT16,
    np.dtype(np.int32): channel_type.SIGNED_INT32,
    np.dtype(np.uint8): channel_type.UNSIGNED_INT8,
    np.dtype(np.uint16): channel_type.UNSIGNED_INT16,
    np.dtype(np.uint32): channel_type.UNSIGNED_INT32,
}
DTYPE_TO_CHANNEL_TYPE_NORM: dict[np.dtype[Any], int] = {
    np.dtype(np.int8): channel_type.SNORM_INT8,
    np.dtype(np.int16): channel_type.SNORM_INT16,
    np.dtype(np.uint8): channel_type.UNORM_INT8,
    np.dtype(np.uint16): channel_type.UNORM_INT16,
}
_ORDERS = {1: channel_order.R, 2: channel_order.RG, 3: channel_order.RGB, 4: channel_order.RGBA}
_MODES = {"r": mem_flags.READ_ONLY, "w": mem_flags.WRITE_ONLY}


def _scalar_and_count(ary: np.ndarray, num_channels: int | None) -> tuple[np.dtype[Any], int]:
    """Return the dtype of a channel, and the number of array items per pixel."""
    if num_channels is not None or ary.dtype.names is None:
        return ary.dtype, 1 if num_channels is None else num_channels
    from .vector_types import vec_type_to_scalar_and_count

    if ary.dtype not in vec_type_to_scalar_and_count:
        raise TypeError(f"image_from_array: {ary.dtype} is not a vector type of pygpu.cltypes")
    scalar, count = vec_type_to_scalar_and_count[ary.dtype]
    if ary.dtype.itemsize != scalar.itemsize * count:
        raise TypeError(
            f"image_from_array: a vector of {count} is stored as "
            f"{ary.dtype.itemsize // scalar.itemsize} numbers, unlike any pixel; pass an array of "
            f"{scalar} of shape (..., {count}) and num_channels={count}"
        )
    return scalar, count


def image_from_array(
    ctx: Context,
    ary: np.ndarray,
    num_channels: int | None = None,
    mode: str = "r",
    norm_int: bool = False,
) -> Image:
    """Make an image that holds a copy of an array.

    ary: C-contiguous, with 1 to 3 dimensions besides the channels, and a dtype of
    DTYPE_TO_CHANNEL_TYPE or a vector type of 2 or 4 of them (cltypes.float4). num_channels: 1 to
    4; above 1 it is the length of the array's last dimension. mode: "r" for an image that kernels
    read, "w" for one that they write. norm_int: kernels read integers as floating-point numbers
    from 0 (signed: -1) to 1.

    The image has the array's shape reversed and the format R, RG, RGB or RGBA. Raises TypeError
    for a dtype that channels do not support, LogicError for a format that the device does not
    support (many do not support RGB).
    """
    if not isinstance(ary, np.ndarray):
        raise TypeError(f"image_from_array: ary must be a NumPy array, not {type(ary).__name__}")
    if not ary.flags.c_contiguous:
        raise ValueError("image_from_array: ary must be C-contiguous; see numpy.ascontiguousarray")
    if mode not in _MODES:
        raise ValueError(f"image_from_array: mode must be 'r' or 'w', got {mode!r}")
    scalar, count = _scalar_and_count(ary, num_channels)
    if count not in _ORDERS:
        raise ValueError(f"image_from_array: num_channels must be 1, 2, 3 or 4, got {count}")
    shape = ary.shape
    if num_channels is not None and count > 1:
        if not shape or shape[-1] != count:
            raise ValueError(
                f"image_from_array: the last dimension of an array of shape {shape} "
                f"is not num_channels={count}"
            )
        shape = shape[:-1]
    if not 1 <= len(shape) <= 3:
        raise ValueError(
            f"image_from_array: an image has 1, 2 or 3 dimensions besides the channels, "
            f"and ary has the shape {ary.shape}"
        )
    types = DTYPE_TO_CHANNEL_TYPE_NORM if norm_int else DTYPE_TO_CHANNEL_TYPE
    if scalar not in types or not scalar.isnative:
        raise TypeError(
            f"image_from_array: there is no channel type for {scalar!r}; "
            f"with norm_int={norm_int} there are {', '.join(map(str, types))}"
        )
    return Image(
        ctx,
        _MODES[mode] | mem_flags.COPY_HOST_PTR,
        ImageFormat(_ORDERS[count], types[scalar]),
        shape=shape[::-1],
        hostbuf=ary,
    )


_HOST = {"origin", "region", "pitches", "row_pitch", "slice_pitch", "is_blocking", "wait_for"}
_BUFFER = {"offset", "origin", "region", "wait_for"}
_IMAGE = {"src_origin", "dest_origin", "dst_origin", "region", "wait_for"}


def _check(pair: str, kwargs: dict[str, Any], allowed: set[str]) -> None:
    for name in kwargs:
        if name not in allowed:
            raise TypeError(
                f"enqueue_copy: {pair} has no keyword argument '{name}'; allowed: "
                + ", ".join(sorted(allowed))
            )


def _copy_host(
    queue: CommandQueue, image: Any, host: Any, write: bool, kwargs: dict[str, Any]
) -> Event:
    pair = "a copy from the host to an image" if write else "a copy from an image to the host"
    _check(pair, kwargs, _HOST)
    kwargs = dict(kwargs)
    origin = kwargs.pop("origin", 0)
    region = kwargs.pop("region", None)
    pitches = kwargs.pop("pitches", None)
    if pitches is not None:
        pitches = (pitches,) if np.ndim(pitches) == 0 else tuple(pitches)
        if not 1 <= len(pitches) <= 2:
            raise ValueError(
                "enqueue_copy: pitches must be (row pitch,) or (row pitch, slice pitch) "
                f"in bytes, got {pitches}"
            )
        kwargs.update(zip(("row_pitch", "slice_pitch"), pitches))
    copy = _opencl._enqueue_write_image if write else _opencl._enqueue_read_image
    return copy(queue, image, origin, region, host, **kwargs)


def copy_image(queue: CommandQueue, dest: Any, src: Any, **kwargs: Any) -> Event:
    """Implement enqueue_copy if dest, src or both are images.

    Image and host: origin, region [pixels], pitches (row, slice) [bytes of the host array],
    is_blocking=True. Image and buffer: origin, region [pixels], offset [bytes] into the buffer.
    Two images: src_origin, dest_origin, region [pixels]. Each also takes wait_for.

    Origins and regions have one to three entries: width, height, depth; for an array of images,
    the last entry counts images. By default a copy begins with the first pixel and extends to the
    end (of the smaller of two images).
    """
    wait_for = {"wait_for": kwargs["wait_for"]} if "wait_for" in kwargs else {}
    if isinstance(dest, _IMAGES) and isinstance(src, _IMAGES):
        _check("a copy between images", kwargs, _IMAGE)
        if "dst_origin" in kwargs and "dest_origin" in kwargs:
            raise TypeError("enqueue_copy: dest_origin and dst_origin are the same; give one")
        src_origin = kwargs.get("src_origin", 0)
        dest_origin = kwargs.get("dest_origin", kwargs.get("dst_origin", 0))
        return _opencl._enqueue_copy_image(
            queue, src, dest, src_origin, dest_origin, kwargs.get("region"), **wait_for
        )
    image, other = (dest, src) if isinstance(dest, _IMAGES) else (src, dest)
    if not isinstance(image, _IMAGES):
        raise TypeError("copy_image: neither dest nor src is an Image")
    if not isinstance(other, MemoryObjectHolder):
        return _copy_host(queue, image, other, image is dest, kwargs)
    _check("a copy between an image and a buffer", kwargs, _BUFFER)
    origin, region = kwargs.get("origin", 0), kwargs.get("region")
    offset = kwargs.get("offset", 0)
    if image is dest:
        return _opencl._enqueue_copy_buffer_to_image(
            queue, other, image, offset, origin, region, **wait_for
        )
    return _opencl._enqueue_copy_image_to_buffer(
        queue, image, other, origin, region, offset, **wait_for
    )


publish(globals(), ["image_from_array"], "pygpu")
