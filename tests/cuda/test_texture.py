"""Texture and surface objects, read and written by kernels; the references that CUDA 12 removed."""

import gc
import weakref

import numpy as np
import pytest

import pygpu.cuda.driver as cuda
from pygpu import _cuda
from pygpu.cuda.compiler import SourceModule

SOURCE = """
extern "C" __global__ void read_2d(cudaTextureObject_t t, const float *x, const float *y,
    float *out)
{
    int i = threadIdx.x;
    out[i] = tex2D<float>(t, x[i], y[i]);
}
extern "C" __global__ void read_bytes(cudaTextureObject_t t, const float *x, const float *y,
    float *out)
{
    int i = threadIdx.x;
    out[i] = (float)tex2D<unsigned char>(t, x[i], y[i]);
}
extern "C" __global__ void read_3d(cudaTextureObject_t t, const float *x, const float *y,
    float *out)
{
    int i = threadIdx.x;
    out[i] = tex3D<float>(t, x[i], y[i], 1.5f);
}
extern "C" __global__ void fetch(cudaTextureObject_t t, const int *index, float *out)
{
    out[threadIdx.x] = tex1Dfetch<float>(t, index[threadIdx.x]);
}
extern "C" __global__ void fetch4(cudaTextureObject_t t, float4 *out)
{
    out[threadIdx.x] = tex1Dfetch<float4>(t, threadIdx.x);
}
extern "C" __global__ void write_2d(cudaSurfaceObject_t s, int w)
{
    int x = threadIdx.x, y = threadIdx.y;
    float v;
    surf2Dread(&v, s, x * 4, y);
    surf2Dwrite(v * 10.0f + x + w * y, s, x * 4, y);
}
"""

CLAMP, BORDER = cuda.address_mode.CLAMP, cuda.address_mode.BORDER
WRAP, MIRROR = cuda.address_mode.WRAP, cuda.address_mode.MIRROR
POINT, LINEAR = cuda.filter_mode.POINT, cuda.filter_mode.LINEAR
FLOAT = cuda.array_format.FLOAT

IMAGE = np.arange(12, dtype=np.float32).reshape(3, 4) ** 2


@pytest.fixture(scope="module")
def module():
    context = cuda.Device(0).retain_primary_context()
    context.push()
    try:
        yield SourceModule(SOURCE, no_extern_c=True)
    finally:
        cuda.Context.pop()


pytestmark = pytest.mark.usefixtures("context")


def look(module, kernel, texture, x, y):
    x, y = np.asarray(x, np.float32), np.asarray(y, np.float32)
    out = np.zeros_like(x)
    f = module.get_function(kernel)
    f(texture, cuda.In(x), cuda.In(y), cuda.Out(out), block=(x.size, 1, 1))
    return out


def new_array(shape, flags=0):
    descr = cuda.ArrayDescriptor3D()
    descr.width, descr.height = shape[1], shape[0]
    descr.format, descr.num_channels, descr.flags = FLOAT, 1, flags
    return cuda.Array(descr)


def test_elements_of_an_array(balance, module):
    texture = cuda.TextureObject(cuda.matrix_to_array(IMAGE, "C"))
    y, x = (i.ravel() for i in np.mgrid[:3, :4])
    assert (look(module, "read_2d", texture, x, y) == IMAGE.ravel()).all()
    assert (look(module, "read_2d", np.uint64(texture.handle), x, y) == IMAGE.ravel()).all()
    assert int(texture) == texture.handle


def linear(image, x, y):
    """What the texture units compute, with clamping: weights of 8 bits."""
    h, w = image.shape
    x, y = x - 0.5, y - 0.5
    i, j = np.floor(x).astype(int), np.floor(y).astype(int)
    a, b = x - i, y - j
    at = lambda u, v: image[np.clip(v, 0, h - 1), np.clip(u, 0, w - 1)]  # noqa: E731
    top = (1 - a) * at(i, j) + a * at(i + 1, j)
    return (1 - b) * top + b * ((1 - a) * at(i, j + 1) + a * at(i + 1, j + 1))


def test_linear_filter(balance, module):
    array = cuda.matrix_to_array(IMAGE, "C")
    x = np.linspace(-1, 5, 33).astype(np.float32)
    y = np.linspace(-1, 4, 33).astype(np.float32)
    got = look(module, "read_2d", cuda.TextureObject(array, filter_mode=LINEAR), x, y)
    assert np.allclose(got, linear(IMAGE, x, y), atol=IMAGE.max() / 128)


def test_address_modes(balance, module):
    array = cuda.matrix_to_array(IMAGE, "C")
    x = np.array([-0.6, -0.2, 0.1, 0.6, 1.1, 1.6, 1.9], np.float32)
    y = np.full(x.size, 0.5, np.float32)
    indices = {
        CLAMP: np.clip(np.floor(x * 4), 0, 3),
        WRAP: np.floor(x * 4) % 4,
        MIRROR: np.array([2, 0, 0, 2, 3, 1, 0]),
    }
    for mode, index in indices.items():
        for given in (mode, (mode, mode), [mode, CLAMP, CLAMP]):
            texture = cuda.TextureObject(array, given, normalized_coordinates=True)
            expected = IMAGE[1, index.astype(int)]
            assert (look(module, "read_2d", texture, x, y) == expected).all(), mode
    texture = cuda.TextureObject(array, BORDER, normalized_coordinates=True, border_color=(7,))
    inside = (x >= 0) & (x < 1)
    expected = np.where(inside, IMAGE[1, np.clip(np.floor(x * 4), 0, 3).astype(int)], 7)
    assert (look(module, "read_2d", texture, x, y) == expected).all()


def test_integers_and_fractions(balance, module):
    a = np.array([[0, 51, 255]], np.uint8)
    array = cuda.matrix_to_array(a, "C")
    fractions = cuda.TextureObject(array)
    assert np.allclose(look(module, "read_2d", fractions, [0, 1, 2], [0] * 3), [0, 0.2, 1])
    integers = cuda.TextureObject(array, read_as_integer=True)
    assert look(module, "read_bytes", integers, [0, 1, 2], [0] * 3).tolist() == [0, 51, 255]


def test_volumes(balance, module):
    a = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    texture = cuda.TextureObject(cuda.np_to_array(a, "C"))
    y, x = (i.ravel() + 0.5 for i in np.mgrid[:3, :4])
    assert (look(module, "read_3d", texture, x, y) == a[1].ravel()).all()


def test_linear_memory(balance, module):
    a = np.arange(64, dtype=np.float32) * 3
    memory = cuda.to_device(a)
    index = np.array([0, 5, 63, 17], np.int32)
    fetch = module.get_function("fetch")
    for texture in (
        cuda.TextureObject(memory, format=FLOAT),
        cuda.TextureObject(int(memory), format=FLOAT, size=256),
    ):
        out = np.zeros(4, np.float32)
        fetch(texture, cuda.In(index), cuda.Out(out), block=(4, 1, 1))
        assert (out == a[index]).all()
    texture = cuda.TextureObject(memory, format=FLOAT, num_channels=4, size=64)
    out = np.zeros(16, np.float32)
    module.get_function("fetch4")(texture, cuda.Out(out), block=(4, 1, 1))
    assert (out == a[:16]).all()


def test_rows_of_memory(balance, module):
    memory, pitch = cuda.mem_alloc_pitch(16, 3, 4)
    copy = cuda.Memcpy2D()
    copy.set_src_host(IMAGE)
    copy.set_dst_device(memory)
    copy.src_pitch, copy.dst_pitch, copy.width_in_bytes, copy.height = 16, pitch, 16, 3
    copy()
    texture = cuda.TextureObject(memory, format=FLOAT, width=4, height=3, pitch=pitch)
    y, x = (i.ravel() for i in np.mgrid[:3, :4])
    assert (look(module, "read_2d", texture, x, y) == IMAGE.ravel()).all()


def test_surfaces(balance, module):
    array = new_array((3, 4), cuda.array3d_flags.SURFACE_LDST)
    copy = cuda.Memcpy2D()
    copy.set_src_host(IMAGE)
    copy.set_dst_array(array)
    copy.src_pitch = copy.width_in_bytes = 16
    copy.height = 3
    copy()
    surface = cuda.SurfaceObject(array)
    assert surface.resource is array
    module.get_function("write_2d")(surface, np.int32(4), block=(4, 3, 1))
    out = np.zeros_like(IMAGE)
    copy = cuda.Memcpy2D()
    copy.set_src_array(array)
    copy.set_dst_host(out)
    copy.dst_pitch = copy.width_in_bytes = 16
    copy.height = 3
    copy()
    assert (out == IMAGE * 10 + np.arange(12).reshape(3, 4)).all()


# ---- lifetimes, what is refused ------------------------------------------------------------------


def test_a_texture_keeps_what_it_is_over(balance, module):
    array = cuda.matrix_to_array(IMAGE, "C")
    gone = weakref.ref(array)
    texture = cuda.TextureObject(array)
    array.free()  # takes effect when the texture is gone
    del array
    gc.collect()
    assert gone() is not None and texture.resource is gone()
    assert look(module, "read_2d", texture, [3], [2])[0] == 121
    del texture
    assert gone() is None
    memory = cuda.to_device(np.full(16, 5, np.float32))
    texture = cuda.TextureObject(memory, format=FLOAT)
    memory.free()
    del memory
    out = np.zeros(1, np.float32)
    index = np.zeros(1, np.int32)
    module.get_function("fetch")(texture, cuda.In(index), cuda.Out(out), block=(1, 1, 1))
    assert out[0] == 5


def test_what_is_refused():
    array, memory = cuda.matrix_to_array(IMAGE, "C"), cuda.mem_alloc(64)
    for wrong, error, text in (
        ({"resource": memory}, TypeError, "format must be given"),
        ({"resource": None, "format": FLOAT}, TypeError, "resource"),
        ({"resource": np.zeros(3), "format": FLOAT}, TypeError, "resource"),
        ({"resource": memory, "format": FLOAT, "size": 65}, ValueError, "end past"),
        ({"resource": memory, "format": FLOAT, "size": 3}, ValueError, "less than one element"),
        ({"resource": memory, "format": 99}, ValueError, "format = 99"),
        ({"resource": memory, "format": FLOAT, "num_channels": 3}, ValueError, "num_channels = 3"),
        ({"resource": memory, "format": FLOAT, "width": 4}, TypeError, "together"),
        ({"resource": memory, "format": FLOAT, "width": 0, "height": 1}, ValueError, "positive"),
        ({"resource": memory, "format": FLOAT, "width": 4, "height": 5}, ValueError, "end past"),
        (
            {"resource": memory, "format": FLOAT, "width": 4, "height": 2, "pitch": 8},
            ValueError,
            "pitch = 8",
        ),
        ({"resource": array, "address_mode": 9}, ValueError, "address_mode = 9"),
        ({"resource": array, "address_mode": (1, 1, 1, 1)}, ValueError, "address_mode"),
        ({"resource": array, "address_mode": "x"}, TypeError, "address_mode"),
        ({"resource": array, "filter_mode": -1}, OverflowError, "filter_mode"),
        ({"resource": array, "border_color": (1, 2, 3, 4, 5)}, ValueError, "border_color"),
        ({"resource": array, "border_color": ("x",)}, TypeError, "must be real number"),
        ({"resource": array, "max_anisotropy": "x"}, TypeError, "max_anisotropy"),
        ({"resource": array, "nonsense": 1}, TypeError, "nonsense"),
    ):
        with pytest.raises(error, match=text):
            cuda.TextureObject(**wrong)
    with pytest.raises(TypeError, match="array must be an Array"):
        cuda.SurfaceObject(memory)
    with pytest.raises(TypeError, match="array must be an Array"):
        cuda.SurfaceObject(5)
    with pytest.raises(cuda.LogicError, match="cuSurfObjectCreate"):
        cuda.SurfaceObject(array)  # made without SURFACE_LDST


@pytest.mark.parametrize(
    "function, make",
    [
        ("cuTexObjectCreate", lambda: cuda.TextureObject(new_array((3, 4)))),
        (
            "cuSurfObjectCreate",
            lambda: cuda.SurfaceObject(new_array((3, 4), cuda.array3d_flags.SURFACE_LDST)),
        ),
    ],
)
def test_failures_of_the_driver(balance, function, make):
    make()
    _cuda._fault(function, 1)
    try:
        with pytest.raises(cuda.LogicError, match=f"{function} failed"):
            make()
    finally:
        _cuda._fault(None, 0)


def test_references_say_what_to_use_instead():
    with pytest.raises(cuda.LogicError, match="make a TextureObject"):
        cuda.TextureReference()
    with pytest.raises(cuda.LogicError, match="make a SurfaceObject"):
        cuda.SurfaceReference()
    assert (cuda.TRSA_OVERRIDE_FORMAT, cuda.TRSF_READ_AS_INTEGER) == (1, 1)
    assert (cuda.TRSF_NORMALIZED_COORDINATES, cuda.TR_DEFAULT) == (2, -1)


def test_helpers_for_references():
    class Reference:  # of a driver that still has them
        def __getattr__(self, name):
            return lambda *args: self.calls.append((name, args))

    reference = Reference()
    reference.calls = []
    cuda.matrix_to_texref(IMAGE, reference, "C")
    assert [name for name, _ in reference.calls] == [
        "set_array",
        "set_address_mode",
        "set_address_mode",
        "set_filter_mode",
    ]
