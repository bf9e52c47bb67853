"""image_from_array, and kernels that read and write images."""

import numpy as np
import pytest
from opencl.image_helpers import (
    KIND,
    MF,
    ORDER,
    RGBA_FLOAT,
    TYPE,
    noise,
)

import pygpu as cl


@pytest.mark.parametrize("dtype", sorted(cl.DTYPE_TO_CHANNEL_TYPE, key=str), ids=str)
def test_image_from_array(ctx, queue, dtype):
    data = noise((7, 13, 4 * dtype.itemsize)).view(dtype)
    fmt = cl.ImageFormat(ORDER.RGBA, cl.DTYPE_TO_CHANNEL_TYPE[dtype])
    if fmt not in cl.get_supported_image_formats(ctx, MF.READ_ONLY, KIND.IMAGE2D):
        pytest.skip(f"the device has no {fmt}")
    image = cl.image_from_array(ctx, data, 4)
    assert image.format == fmt and image.shape == (13, 7) and image.flags & MF.READ_ONLY
    out = np.empty_like(data)
    cl.enqueue_copy(queue, out, image)
    assert out.tobytes() == data.tobytes()


def test_image_from_array_kinds(ctx, queue):
    one = cl.ImageFormat(ORDER.R, TYPE.FLOAT)
    if one not in cl.get_supported_image_formats(ctx, MF.READ_ONLY, cl.mem_object_type.IMAGE2D):
        pytest.skip("the device has no images of one float a pixel")
    assert cl.image_from_array(ctx, np.zeros((7, 13), np.float32)).format == cl.ImageFormat(
        ORDER.R, TYPE.FLOAT
    )
    assert cl.image_from_array(ctx, np.zeros((3, 7, 13), np.float32)).shape == (13, 7, 3)
    assert cl.image_from_array(ctx, np.zeros((3, 7, 13, 4), np.uint8), 4).shape == (13, 7, 3)
    assert cl.image_from_array(ctx, np.zeros(13, np.float32)).shape == (13,)
    assert cl.image_from_array(ctx, np.zeros((7, 13), np.float32), 1).shape == (13, 7)
    image = cl.image_from_array(ctx, np.zeros((7, 13), cl.cltypes.float4), mode="w")
    assert image.format == RGBA_FLOAT and image.shape == (13, 7) and image.flags & MF.WRITE_ONLY
    normed = cl.image_from_array(ctx, np.zeros((7, 13, 4), np.uint8), 4, norm_int=True)
    assert normed.format == cl.ImageFormat(ORDER.RGBA, TYPE.UNORM_INT8)


@pytest.mark.parametrize(
    ("make", "kwargs", "error", "text"),
    [
        (lambda: np.zeros((7, 13)), {}, TypeError, "float64"),
        (lambda: np.zeros((7, 13), np.float32), {"norm_int": True}, TypeError, "norm_int"),
        (lambda: np.zeros((7, 13), ">f4"), {}, TypeError, "f4"),
        (lambda: np.zeros((7, 13), object), {}, TypeError, "object|O"),
        (lambda: np.zeros((7, 13), [("a", "f4"), ("b", "f4")]), {}, TypeError, "vector type"),
        (lambda: np.zeros((7, 13), cl.cltypes.float3), {}, TypeError, "vector of 3"),
        (lambda: np.zeros((7, 13), cl.cltypes.float8), {}, ValueError, "num_channels"),
        (lambda: [[1.0]], {}, TypeError, "NumPy array"),
        (lambda: np.zeros((7, 13), np.float32).T, {}, ValueError, "contiguous"),
        (
            lambda: np.zeros((7, 13, 4), np.float32),
            {"num_channels": 2},
            ValueError,
            "last dimension",
        ),
        (lambda: np.zeros((7, 13, 5), np.float32), {"num_channels": 5}, ValueError, "num_channels"),
        (lambda: np.zeros((1, 1, 1, 1), np.float32), {}, ValueError, "dimensions"),
        (lambda: np.zeros((), np.float32), {}, ValueError, "dimensions"),
        (lambda: np.zeros((7, 13), np.float32), {"mode": "x"}, ValueError, "mode"),
        (lambda: np.zeros((0, 13), np.float32), {}, ValueError, "0"),
    ],
)
def test_image_from_array_misuse(ctx, make, kwargs, error, text):
    with pytest.raises(error, match=text):
        cl.image_from_array(ctx, make(), **kwargs)


SOURCE = """
constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

kernel void read2(read_only image2d_t image, global float4 *out)
{
    int x = get_global_id(0), y = get_global_id(1);
    out[y * get_global_size(0) + x] = read_imagef(image, nearest, (int2)(x, y));
}
kernel void read2ui(read_only image2d_t image, global uint4 *out)
{
    int x = get_global_id(0), y = get_global_id(1);
    out[y * get_global_size(0) + x] = read_imageui(image, nearest, (int2)(x, y));
}
kernel void read2i(read_only image2d_t image, global int4 *out)
{
    int x = get_global_id(0), y = get_global_id(1);
    out[y * get_global_size(0) + x] = read_imagei(image, nearest, (int2)(x, y));
}
kernel void read3(read_only image3d_t image, global float4 *out)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    float4 pixel = read_imagef(image, nearest, (int4)(x, y, z, 0));
    out[(z * get_global_size(1) + y) * get_global_size(0) + x] = pixel;
}
kernel void write2(write_only image2d_t image)
{
    int x = get_global_id(0), y = get_global_id(1);
    write_imagef(image, (int2)(x, y), (float4)(x, y, x * y, 1));
}
"""


@pytest.fixture(scope="module")
def program(ctx):
    return cl.Program(ctx, SOURCE).build()


def run(queue, program, kernel, image, dtype, shape):
    out = np.empty((*shape[::-1], 4), dtype)
    buffer = cl.Buffer(queue.context, MF.WRITE_ONLY, out.nbytes)
    cl.Kernel(program, kernel)(queue, shape, None, image, buffer)
    cl.enqueue_copy(queue, out, buffer)
    return out


def test_kernel_reads_floats(ctx, queue, program):
    data = np.random.default_rng(5).standard_normal((7, 13, 4)).astype(np.float32)
    image = cl.image_from_array(ctx, data, 4)
    assert np.array_equal(run(queue, program, "read2", image, np.float32, (13, 7)), data)


def test_kernel_reads_integers(ctx, queue, program):
    data = noise((7, 13, 4))
    assert np.array_equal(
        run(queue, program, "read2ui", cl.image_from_array(ctx, data, 4), np.uint32, (13, 7)), data
    )
    data = data.view(np.int8)
    assert np.array_equal(
        run(queue, program, "read2i", cl.image_from_array(ctx, data, 4), np.int32, (13, 7)), data
    )


def test_kernel_reads_normalized(ctx, queue, program):
    data = noise((7, 13, 4))
    out = run(
        queue,
        program,
        "read2",
        cl.image_from_array(ctx, data, 4, norm_int=True),
        np.float32,
        (13, 7),
    )
    # OpenCL 8.3.1.1: c / 255 to 1.5 ulp
    assert np.allclose(out, data / np.float32(255), rtol=2e-7, atol=0)


def test_kernel_reads_volume(ctx, queue, program):
    data = np.random.default_rng(6).random((3, 7, 13, 4), np.float32)
    image = cl.image_from_array(ctx, data, 4)
    assert np.array_equal(run(queue, program, "read3", image, np.float32, (13, 7, 3)), data)


def test_kernel_writes(ctx, queue, program):
    image = cl.create_image(ctx, MF.WRITE_ONLY, RGBA_FLOAT, (13, 7))
    cl.Kernel(program, "write2")(queue, (13, 7), None, image)
    out = np.zeros((7, 13, 4), np.float32)
    cl.enqueue_copy(queue, out, image)
    y, x = np.mgrid[:7, :13]
    assert np.array_equal(out, np.stack([x, y, x * y, np.ones_like(x)], -1))
