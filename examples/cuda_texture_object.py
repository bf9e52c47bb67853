"""A texture object: an image turned by an angle, interpolated by the texture units.

python examples/cuda_texture_object.py
"""

import math

import numpy as np

import pygpu.cuda.driver as cuda
from pygpu.cuda.compiler import SourceModule

SOURCE = """
__global__ void turn(cudaTextureObject_t image, float cosine, float sine, int size, float *out)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x, j = threadIdx.y + blockIdx.y * blockDim.y;
    float x = i - (size - 1) / 2.0f, y = j - (size - 1) / 2.0f;     // from the middle
    float u = cosine * x - sine * y + size / 2.0f;                  // pixel centres are at .5
    float v = sine * x + cosine * y + size / 2.0f;
    out[j * size + i] = tex2D<float>(image, u, v);
}
"""
SIZE = 128

turn = SourceModule(SOURCE).get_function("turn")
y, x = np.mgrid[:SIZE, :SIZE].astype(np.float32) - (SIZE - 1) / 2
image = (np.hypot(x - 20, y) < 25) + np.float32(0.5) * (abs(y) < 3)

texture = cuda.TextureObject(
    cuda.matrix_to_array(image, "C"),
    address_mode=cuda.address_mode.BORDER,
    filter_mode=cuda.filter_mode.LINEAR,
)


def turned(degrees: float) -> np.ndarray:
    angle = math.radians(degrees)
    out = np.empty_like(image)
    turn(
        texture,
        np.float32(math.cos(angle)),
        np.float32(math.sin(angle)),
        np.int32(SIZE),
        cuda.Out(out),
        block=(16, 16, 1),
        grid=(SIZE // 16, SIZE // 16),
    )
    return out


assert np.allclose(turned(0), image, atol=1e-3)
assert np.allclose(turned(90), np.rot90(image, 1), atol=2e-2)
middle = turned(30)
assert abs(middle.sum() / image.sum() - 1) < 0.1  # what turns out of the picture is lost
print("brightness by rows of the image turned by 30 degrees:")
for row in middle[::16, ::4]:
    print("".join(" .:-=+*#%@"[min(int(9 * value / 1.5), 9)] for value in row))
