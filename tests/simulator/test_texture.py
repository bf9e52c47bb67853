"""Texture and surface objects: what they may describe, and that kernels read what they describe."""

import ctypes
from ctypes import byref

import numpy as np
import pytest
from simulator.sim_driver import INVALID_HANDLE, INVALID_VALUE, LIBRARY, NOT_SUPPORTED, ROOT, fails
from simulator.test_array import LAYERED, SURFACE, fill, make, read

ARRAY, MIPMAPPED, LINEAR, PITCH2D = range(4)
WRAP, CLAMP, MIRROR, BORDER = range(4)
AS_INTEGER, NORMALIZED = 1, 2

KERNELS = r"""
extern "C" __global__ void fetch(cudaTextureObject_t t, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1Dfetch<float>(t, i);
}
extern "C" __global__ void sample(cudaTextureObject_t t, const float2 *at, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex2D<float>(t, at[i].x, at[i].y);
}
extern "C" __global__ void layer(cudaTextureObject_t t, float *out, int w, int h) {
    int x = threadIdx.x, y = threadIdx.y;
    out[(blockIdx.x * h + y) * w + x] = tex2DLayered<float>(t, x + 0.5f, y + 0.5f, blockIdx.x);
}
extern "C" __global__ void twice(cudaSurfaceObject_t s) {
    int x = threadIdx.x, y = threadIdx.y;
    surf2Dwrite(2 * surf2Dread<int>(s, x * 4, y), s, x * 4, y);
}
"""


class Resource(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("pad", ctypes.c_int),
        ("words", ctypes.c_ulonglong * 16),
        ("flags", ctypes.c_uint),
    ]


class Texture(ctypes.Structure):
    _fields_ = [
        ("address", ctypes.c_int * 3),
        ("filter", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("rest", ctypes.c_uint),
        ("mip", ctypes.c_int),
        ("levels", ctypes.c_float * 3),
        ("border", ctypes.c_float * 4),
        ("reserved", ctypes.c_int * 12),
    ]


def words(*values):
    return (ctypes.c_ulonglong * 16)(*values)


def array_resource(array):
    return Resource(ARRAY, 0, words(array))


def linear(pointer, size, format=32, channels=1):
    return Resource(LINEAR, 0, words(pointer, format | channels << 32, size))


def pitched(pointer, width, height, pitch, format=32, channels=1):
    return Resource(PITCH2D, 0, words(pointer, format | channels << 32, width, height, pitch))


def texture(cuda, resource, address=CLAMP, filter=0, flags=0, border=(0, 0, 0, 0)):
    description = Texture((address,) * 3, filter, flags)
    description.border[:] = border
    out = ctypes.c_ulonglong()
    cuda.cuTexObjectCreate(byref(out), byref(resource), byref(description), None)
    return out.value


def surface(cuda, resource):
    return cuda.get("cuSurfObjectCreate", byref(resource), kind=ctypes.c_ulonglong)


@pytest.fixture
def run(cuda, simulator):
    module = cuda.load(simulator.compile(KERNELS)[0])

    def run(name, grid, block, *args):
        cuda.launch(cuda.function(module, name), grid, block, *args)

    return run


def test_linear_memory(cuda, run):
    values = np.random.default_rng(0).random(1000, "f4")
    address, out = cuda.to_device(values), cuda.alloc(4000)
    t = texture(cuda, linear(address, 4000))
    run("fetch", 4, 256, t, out, np.int32(1000))
    assert (cuda.from_device(out, 1000, "f4") == values).all()


def test_integers_become_fractions(cuda, run):
    values = np.arange(256, dtype="u1")
    out = cuda.alloc(1024)
    t = texture(cuda, linear(cuda.to_device(values), 256, format=1))
    run("fetch", 1, 256, t, out, np.int32(256))
    np.testing.assert_allclose(
        cuda.from_device(out, 256, "f4"), values / np.float32(255), rtol=1e-6
    )


@pytest.mark.parametrize("kind", ["array", "pitched"])
@pytest.mark.parametrize("address", [CLAMP, BORDER])
def test_two_dimensions(cuda, run, kind, address):
    w, h = 24, 9
    values = np.random.default_rng(1).random((h, w), "f4")
    if kind == "array":
        array = make(cuda, w, h)
        fill(cuda, array, values)
        resource = array_resource(array)
    else:
        padded = np.zeros((h, 32), "f4")
        padded[:, :w] = values
        resource = pitched(cuda.to_device(padded), w, h, 128)
    t = texture(cuda, resource, address, border=(7, 0, 0, 0))
    if kind == "array":
        cuda.cuArrayDestroy(array)  # the object keeps it
    x, y = np.meshgrid(np.arange(-3, w + 3), np.arange(-3, h + 3))
    at = np.stack([x + 0.5, y + 0.5], -1).astype("f4")
    out = cuda.alloc(x.size * 4)
    run("sample", -(-x.size // 256), 256, t, cuda.to_device(at), out, np.int32(x.size))
    inside = values[y.clip(0, h - 1), x.clip(0, w - 1)]
    if address == BORDER:
        inside = np.where((x >= 0) & (x < w) & (y >= 0) & (y < h), inside, np.float32(7))
    assert (cuda.from_device(out, x.shape, "f4") == inside).all()


def test_layers(cuda, run):
    values = np.random.default_rng(2).random((3, 5, 8), "f4")
    array = make(cuda, 8, 5, 3, flags=LAYERED)
    fill(cuda, array, values)
    out = cuda.alloc(values.nbytes)
    run("layer", 3, (8, 5), texture(cuda, array_resource(array)), out, np.int32(8), np.int32(5))
    assert (cuda.from_device(out, values.shape, "f4") == values).all()


def test_surfaces_are_written(cuda, run):
    values = np.arange(40, dtype="i4").reshape(5, 8)
    array = make(cuda, 8, 5, format=10, flags=SURFACE)
    fill(cuda, array, values)
    s = surface(cuda, array_resource(array))
    run("twice", 1, (8, 5), s)
    assert (read(cuda, array, values.shape, "i4") == 2 * values).all()
    cuda.cuSurfObjectDestroy(s)
    fails(INVALID_HANDLE, cuda.cuSurfObjectDestroy, s)


def test_a_destroyed_object_is_found_out(cuda, run):
    t = texture(cuda, linear(cuda.alloc(400), 400))
    cuda.cuTexObjectDestroy(t)
    run("fetch", 1, 1, t, cuda.alloc(4), np.int32(1))
    assert "texture" in fails(700, cuda.cuCtxSynchronize)


def test_questions(cuda):
    resource = linear(cuda.alloc(400), 400)
    t = texture(cuda, resource, BORDER, border=(1, 2, 3, 4))
    back, description = Resource(), Texture()
    cuda.cuTexObjectGetResourceDesc(byref(back), t)
    assert bytes(back) == bytes(resource)
    cuda.cuTexObjectGetTextureDesc(byref(description), t)
    assert description.address[0] == BORDER and list(description.border) == [1, 2, 3, 4]
    array = make(cuda, 8, 5, flags=SURFACE)
    s = surface(cuda, array_resource(array))
    cuda.cuSurfObjectGetResourceDesc(byref(back), s)
    assert back.words[0] == array
    fails(INVALID_HANDLE, cuda.cuTexObjectGetResourceDesc, byref(back), s)
    fails(INVALID_HANDLE, cuda.cuSurfObjectDestroy, t)
    for junk in (0, 1, 0x10, t + 8):
        fails(INVALID_HANDLE, cuda.cuTexObjectDestroy, junk)


def test_objects_that_are_none(cuda):
    p = cuda.alloc(4096)
    for resource in (
        linear(p, 0),
        linear(p, 4097),
        linear(p + 4, 400),
        linear(p, 400, 5),
        linear(p, 400, 32, 3),
        linear(0, 400),
        linear(1 << 20, 400),
        pitched(p, 10, 10, 36),
        pitched(p, 0, 10, 32),
        pitched(p, 10, 10, 32),
        pitched(p, 1024, 2, 4096),
        Resource(7),
        Resource(LINEAR, 0, words(p, 32 | 1 << 32, 4), 1),
    ):
        fails(INVALID_VALUE, texture, cuda, resource)
    fails(INVALID_HANDLE, texture, cuda, array_resource(12345))
    fails(NOT_SUPPORTED, texture, cuda, Resource(MIPMAPPED))
    good = linear(p, 400)
    fails(INVALID_VALUE, texture, cuda, good, 4)
    fails(INVALID_VALUE, texture, cuda, good, 0, 2)
    fails(INVALID_VALUE, texture, cuda, good, 0, 0, 0x100)
    integers = array_resource(make(cuda, 8, 5, format=10))
    assert "LINEAR" in fails(INVALID_VALUE, texture, cuda, integers, 0, 1)
    assert "SURFACE_LDST" in fails(INVALID_VALUE, surface, cuda, integers)
    fails(INVALID_VALUE, surface, cuda, good)


def test_both_sides_have_the_same_structure(tmp_path):
    """texture.h, which the driver fills, against sim_texture.h, which kernels read."""
    import re

    def fields(path, name):
        text = path.read_text("utf-8")
        body = re.sub(r"/\*.*?\*/", "", re.search(name, text, re.S).group(1), flags=re.S)
        found = []
        for line in body.split(";"):
            words = line.replace("int ", "int ").split()
            if not words:
                continue
            kind = " ".join(w for w in words if w in ("unsigned", "long", "int", "float"))
            kind = {"unsigned": "unsigned int"}.get(kind, kind)
            rest = "".join(w for w in words if w not in ("unsigned", "long", "int", "float"))
            found += [(kind, declared) for declared in rest.split(",")]
        return found

    ours = fields(ROOT / "src/simulator/driver/texture.h", r"typedef struct \{(.*?)\} SimTexture;")
    include = LIBRARY.parent / "include/sim_texture.h"
    theirs = fields(include, r"struct Texture \{(.*?)\n\};")
    assert ours == theirs and len(ours) == 14
