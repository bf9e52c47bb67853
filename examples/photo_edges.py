"""Blurs a photograph and finds its edges in OpenCL, checks both against SciPy, saves a picture.

python examples/photo_edges.py [PHOTO [PICTURE]]
The photograph is Matplotlib's sample portrait, the picture photo_edges.png, if not named.
"""

import sys

import numpy as np
from matplotlib import cbook
from matplotlib import pyplot as plt
from PIL import Image
from scipy import ndimage

import pygpu as cl

SOURCE = """
/* Blurs lines of n pixels, `step` apart in memory; line l starts at l * pitch. Each group fetches
   its piece of a line, `radius` pixels wider at both ends, to local memory, to read it often. */
kernel void blur(global const float *in, global float *out, constant float *weight, int radius,
                 int n, int step, int pitch, local float *piece) {
    int i = get_global_id(0), at = get_local_id(0), group = get_local_size(0);
    int line = get_global_id(1) * pitch;
    for (int k = at; k < group + 2 * radius; k += group)
        piece[k] = in[line + step * clamp(i - at - radius + k, 0, n - 1)];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (int k = 0; k <= 2 * radius; k++) sum += weight[k] * piece[at + k];
    if (i < n) out[line + step * i] = sum;
}
#define AT(dx, dy) in[clamp(y + dy, 0, height - 1) * width + clamp(x + dx, 0, width - 1)]
kernel void edges(global const float *in, global float *out, int width, int height) { /* Sobel */
    int x = get_global_id(0), y = get_global_id(1);
    float gx = AT(1, -1) + 2*AT(1, 0) + AT(1, 1) - AT(-1, -1) - 2*AT(-1, 0) - AT(-1, 1);
    float gy = AT(-1, 1) + 2*AT(0, 1) + AT(1, 1) - AT(-1, -1) - 2*AT(0, -1) - AT(1, -1);
    out[y * width + x] = hypot(gx, gy);
}
"""
SIGMA, RADIUS = 2.0, 8  # of the blur, in pixels

photo = sys.argv[1] if sys.argv[1:] else cbook.get_sample_data("grace_hopper.jpg", asfileobj=False)
picture = sys.argv[2] if sys.argv[2:] else "photo_edges.png"
gray = np.float32(Image.open(photo).convert("L")) / 255
height, width = gray.shape
weight = np.exp(-0.5 * (np.arange(-RADIUS, RADIUS + 1) / SIGMA) ** 2)
weight = np.float32(weight / weight.sum())

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
program = cl.Program(context, SOURCE).build()
COPY = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
gray_dev, weight_dev = (cl.Buffer(context, COPY, hostbuf=host) for host in (gray, weight))
rows_dev, blur_dev, edges_dev = (
    cl.Buffer(context, cl.mem_flags.READ_WRITE, gray.nbytes) for _ in range(3)
)
blur, group = program.blur, min(64, queue.device.max_work_group_size)
piece = cl.LocalMemory(4 * (group + 2 * RADIUS))
across, down = (-(-n // group) * group for n in (width, height))  # whole groups that cover a line
along_row, along_column = np.int32([[RADIUS, width, 1, width], [RADIUS, height, width, 1]])
events = {
    "blur rows": blur(
        queue, (across, height), (group, 1), gray_dev, rows_dev, weight_dev, *along_row, piece
    ),
    "blur columns": blur(
        queue, (down, width), (group, 1), rows_dev, blur_dev, weight_dev, *along_column, piece
    ),
    "edges": program.edges(
        queue, (width, height), None, blur_dev, edges_dev, np.int32(width), np.int32(height)
    ),
}
blurred, edges = np.empty_like(gray), np.empty_like(gray)
cl.enqueue_copy(queue, blurred, blur_dev)
cl.enqueue_copy(queue, edges, edges_dev)

print(f"{queue.device.name}, {queue.device.platform.name}: {width} x {height} pixels")
for step, event in events.items():
    print(f"  {step:13}{(event.profile.end - event.profile.start) / 1e6:8.3f} ms")
exact_blur = ndimage.gaussian_filter(gray.astype(float), SIGMA, mode="nearest", radius=RADIUS)
exact_edges = np.hypot(*(ndimage.sobel(exact_blur, axis, mode="nearest") for axis in (0, 1)))
for name, got, exact in ("blur", blurred, exact_blur), ("edges", edges, exact_edges):
    error = np.abs(got - exact).max()
    print(f"  {name:13}{error:8.1e} largest error against SciPy")
    assert error < 1e-5, name

figure = plt.figure(figsize=(12, 5), layout="constrained")
images = {"photograph": gray, "blurred": blurred, "edges": edges}
for axes, (title, image) in zip(figure.subplots(1, 3), images.items()):
    axes.imshow(image, cmap="gray")
    axes.set(title=title, xticks=[], yticks=[])
figure.savefig(picture)
print(f"  saved {picture}")
