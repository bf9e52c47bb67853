"""enqueue_map_image: regions of images as arrays."""

import numpy as np
import pytest
from opencl.image_helpers import (
    KINDS,
    boxes,
    cut,
    host_shape,
    image_of,
    noise,
    read,
    wait_until_unmapped,
)

import pygpu as cl


@pytest.mark.parametrize("kind", KINDS)
def test_map_read(ctx, queue, kind):
    shape, is_array = KINDS[kind]
    data = noise(host_shape(shape, 4))
    image = image_of(ctx, data, is_array=is_array)
    for origin, region in boxes(shape):
        array, event, row_pitch, slice_pitch = cl.enqueue_map_image(
            queue, image, cl.map_flags.READ, origin, region, host_shape(region, 4), np.uint8
        )
        assert isinstance(event, cl.Event) and isinstance(array.base, cl.MemoryMap)
        # a driver may give 0 for an image of one row
        assert row_pitch >= region[0] * 4 or kind == "IMAGE1D"
        assert isinstance(slice_pitch, int)
        assert np.array_equal(array, data[cut(origin, region)])
        assert not array.flags.writeable
        array.base.release(queue)


def test_map_write(ctx, queue):
    data = noise((7, 13, 4))
    image = image_of(ctx, data)
    flags = cl.map_flags.READ | cl.map_flags.WRITE
    array, _, _, _ = cl.enqueue_map_image(queue, image, flags, (2, 1), (6, 4), (4, 6), np.uint32)
    assert np.array_equal(array, data.view(np.uint32)[1:5, 2:8, 0])
    array[:] = np.arange(24).reshape(4, 6)
    with array.base:
        pass
    data.view(np.uint32)[1:5, 2:8, 0] = np.arange(24).reshape(4, 6)
    assert np.array_equal(read(queue, image), data)


def test_map_orders(ctx, queue):
    data = noise((7, 13, 4))
    image = image_of(ctx, data)

    def mapped(region, shape, *more):
        nonlocal pitch
        array, _, pitch, _ = cl.enqueue_map_image(
            queue, image, cl.map_flags.READ, (2, 1), region, shape, np.uint8, *more
        )
        return array

    pitch = None  # of the mapping, which need not be the image's
    inner = data[1:5, 2:8]
    assert np.array_equal(mapped((6, 4), (4, 6, 4), "C"), inner)
    assert np.array_equal(mapped((6, 4), (4, 6, 4), "F"), inner.T)
    assert np.array_equal(mapped((6, 4), (4, 24)), inner.reshape(4, 24))
    assert np.array_equal(mapped((6, 4), (2, 2, 6, 4)), inner.reshape(2, 2, 6, 4))
    assert np.array_equal(mapped((6, 4), (2, 6, 4)), inner[:2])  # not all of it
    assert np.array_equal(mapped((6, 4), (4, 24), "C", (pitch, 1)), inner.reshape(4, 24))
    if pitch == 24:
        assert np.array_equal(mapped((6, 4), (96,)), inner.ravel())
    else:
        with pytest.raises(ValueError, match="rows of 24 bytes"):
            mapped((6, 4), (96,))  # rows that lie apart are not one run of bytes
    with pytest.raises(ValueError, match="reaches past"):
        mapped((6, 4), (4, 24), "C", (pitch + 1, 1))
    assert np.array_equal(mapped((6, 1), (24,)), inner[0].ravel())
    with pytest.raises(ValueError, match="more than the region"):
        mapped((6, 4), (5, 6, 4))
    with pytest.raises(ValueError):
        mapped((6, 4), (2**40, 2**40))
    with pytest.raises(ValueError, match="no items"):
        mapped((6, 4), (0, 6, 4))
    with pytest.raises(ValueError, match="width 13"):
        mapped((12, 4), (4, 12, 4))
    with pytest.raises(ValueError, match="order"):
        mapped((6, 4), (4, 6, 4), "X")
    wait_until_unmapped(queue, image)  # failures unmap


def test_map_non_blocking(ctx, queue):
    data = noise((7, 13, 4))
    image = image_of(ctx, data)
    array, event, _, _ = cl.enqueue_map_image(
        queue, image, cl.map_flags.READ, 0, None, data.shape, np.uint8, is_blocking=False
    )
    event.wait()
    assert np.array_equal(array, data)
    del array
    wait_until_unmapped(queue, image)
