"""Events: an image blurred in two passes, and how long each of them takes on the device.

python examples/cuda_convolution.py
"""

import numpy as np

import pygpu.cuda.driver as cuda
from pygpu.cuda.compiler import SourceModule

SOURCE = """
#define RADIUS 4
__constant__ float weights[2 * RADIUS + 1];

// One pass: STEP_X, STEP_Y is the direction. Beyond the edge the image goes on with its last pixel.
template <int STEP_X, int STEP_Y>
__device__ void pass(const float *in, float *out, int width, int height)
{
    int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x >= width || y >= height)
        return;
    float sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++) {
        int u = min(max(x + k * STEP_X, 0), width - 1), v = min(max(y + k * STEP_Y, 0), height - 1);
        sum += weights[k + RADIUS] * in[v * width + u];
    }
    out[y * width + x] = sum;
}
extern "C" __global__ void along(const float *in, float *out, int width, int height)
{ pass<1, 0>(in, out, width, height); }
extern "C" __global__ void across(const float *in, float *out, int width, int height)
{ pass<0, 1>(in, out, width, height); }
"""
WIDTH, HEIGHT, RADIUS = 500, 300, 4


def on_host(image: np.ndarray, weights: np.ndarray) -> np.ndarray:
    for axis in (1, 0):
        padded = np.pad(image, [(RADIUS, RADIUS) if i == axis else (0, 0) for i in (0, 1)], "edge")
        windows = np.lib.stride_tricks.sliding_window_view(padded, len(weights), axis)
        image = windows @ weights
    return image


module = SourceModule(SOURCE, no_extern_c=True)
along, across = module.get_function("along"), module.get_function("across")
weights = np.exp(-(np.arange(-RADIUS, RADIUS + 1, dtype=np.float32) ** 2) / 8)
weights /= weights.sum()
cuda.memcpy_htod(module.get_global("weights")[0], weights)

image = np.random.default_rng(0).random((HEIGHT, WIDTH), np.float32)
first, second = cuda.to_device(image), cuda.mem_alloc(image.nbytes)
block, grid = (32, 8, 1), (-(-WIDTH // 32), -(-HEIGHT // 8))

stream = cuda.Stream()
events = [cuda.Event() for _ in range(3)]
events[0].record(stream)
along(first, second, np.int32(WIDTH), np.int32(HEIGHT), block=block, grid=grid, stream=stream)
events[1].record(stream)
across(second, first, np.int32(WIDTH), np.int32(HEIGHT), block=block, grid=grid, stream=stream)
events[2].record(stream).synchronize()  # a time is known when its event has happened

blurred = cuda.from_device_like(first, image)
assert np.allclose(blurred, on_host(image, weights), atol=1e-5)
print(f"rows    {events[0].time_till(events[1]):8.3f} ms")
print(f"columns {events[2].time_since(events[1]):8.3f} ms")
print(f"contrast {image.std():.3f} became {blurred.std():.3f}")
