"""What the tests of images share: names, kinds of images, random pixels."""

import time

import numpy as np
import pytest

import pygpu as cl

MF = cl.mem_flags
ORDER, TYPE, KIND = cl.channel_order, cl.channel_type, cl.mem_object_type
RGBA8 = cl.ImageFormat(ORDER.RGBA, TYPE.UNSIGNED_INT8)
RGBA_FLOAT = cl.ImageFormat(ORDER.RGBA, TYPE.FLOAT)

# kind: (shape, whether it is an array of images); odd extents: nothing is aligned by chance
KINDS = {
    "IMAGE1D": ((13,), False),
    "IMAGE1D_ARRAY": ((13, 5), True),
    "IMAGE2D": ((13, 7), False),
    "IMAGE2D_ARRAY": ((13, 7, 3), True),
    "IMAGE3D": ((13, 7, 3), False),
}


@pytest.fixture(autouse=True)
def needs_images(device, queue, balance):  # the queue is counted before and after
    """Every test of a file that imports this needs images and leaves no handle behind."""
    if not device.image_support:
        pytest.skip("the device has no images")


def noise(shape, seed=1):
    """Random bytes of a C-ordered shape."""
    return np.random.default_rng(seed).integers(0, 256, shape, np.uint8)


def host_shape(shape, *more):
    """Shape of the array for an image of this shape."""
    return (*shape[::-1], *more)


def image_of(ctx, array, fmt=RGBA8, is_array=False, flags=MF.READ_WRITE):
    """Image that copies an array whose last axis is the bytes of a pixel."""
    return cl.create_image(
        ctx, flags | MF.COPY_HOST_PTR, fmt, array.shape[-2::-1], hostbuf=array, is_array=is_array
    )


def read(queue, image):
    """All pixels of an image as bytes; last axis: the bytes of a pixel."""
    out = np.zeros(host_shape(image.shape, image.element_size), np.uint8)
    cl.enqueue_copy(queue, out, image, origin=(0,) * len(image.shape), region=image.shape)
    return out


def boxes(shape):
    """Origins and regions within a shape: a corner, the middle, one pixel at the end, all."""
    yield (0,) * len(shape), tuple(max(n // 2, 1) for n in shape)
    yield tuple(n // 3 for n in shape), tuple(max(n // 3, 1) for n in shape)
    yield tuple(n - 1 for n in shape), (1,) * len(shape)
    yield (0,) * len(shape), shape


def cut(origin, region):
    """Index of a box in a C-ordered array."""
    return tuple(slice(o, o + r) for o, r in zip(origin[::-1], region[::-1]))


def append_when_free(host):
    """Grow a bytearray, which works once the driver has given it back, from a thread of its own."""
    end = time.monotonic() + 30
    while True:
        try:
            return host.append(0)
        except BufferError:
            if time.monotonic() > end:
                raise
            time.sleep(0.001)


def wait_until_unmapped(queue, image):
    """Drivers count mappings when the unmapping is done, some a little later than the queue."""
    queue.finish()
    end = time.monotonic() + 30
    while image.map_count > 0:
        assert time.monotonic() < end, f"still mapped {image.map_count} times"
        time.sleep(0.001)
