"""Halves a picture: a sampler that filters linearly reads between four pixels and so averages them.

Run: python examples/images.py
"""

import matplotlib.pyplot as plt
import numpy as np

import pygpu as cl

SOURCE = """
kernel void halve(read_only image2d_t picture, sampler_t between, write_only image2d_t small)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float2 corner = convert_float2(2 * at + 1);  /* where four pixels meet */
    write_imagef(small, at, read_imagef(picture, between, corner));
}
"""


def halve(queue: cl.CommandQueue, picture: np.ndarray) -> np.ndarray:
    """A picture of half the size.

    picture: float32 of shape (height, width, 4), red, green, blue and alpha, both extents even.
    Returns float32 of shape (height / 2, width / 2, 4).
    """
    context = queue.context
    height, width, _ = picture.shape
    source = cl.image_from_array(context, picture, num_channels=4)
    pixels = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT)
    shape = (width // 2, height // 2)  # an image's shape is the reverse of an array's
    small = cl.create_image(context, cl.mem_flags.WRITE_ONLY, pixels, shape)
    between = cl.Sampler(context, False, cl.addressing_mode.CLAMP_TO_EDGE, cl.filter_mode.LINEAR)
    program = cl.Program(context, SOURCE).build()
    program.halve(queue, shape, None, source, between, small)
    result = np.empty((height // 2, width // 2, 4), np.float32)
    cl.enqueue_copy(queue, result, small, origin=(0, 0), region=shape)
    return result


def main() -> None:
    context = cl.create_some_context(interactive=False)
    queue = cl.CommandQueue(context)
    if not context.devices[0].image_support:
        raise SystemExit(f"{context.devices[0].name} has no images")
    y, x = np.mgrid[:240, :320].astype(np.float32)
    rings = np.cos(np.hypot(x - 160, y - 120) / 5) / 2 + 0.5
    picture = np.stack([rings, x / 320, y / 240, np.ones_like(x)], axis=-1)
    small = halve(queue, np.ascontiguousarray(picture))
    means = picture.reshape(120, 2, 160, 2, 4).mean(axis=(1, 3))
    difference = np.abs(small - means).max()
    print(f"{picture.shape} -> {small.shape}, greatest difference to NumPy {difference:.1e}")
    assert difference < 1e-2  # devices filter with 8 bits of fraction or more
    for place, image in zip(plt.subplots(1, 2, figsize=(8, 3))[1], (picture, small)):
        place.imshow(image)
    plt.show()


if __name__ == "__main__":
    main()
