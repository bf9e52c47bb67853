"""Shows which lines of a program hold device memory.

Run: python examples/memory_report.py
"""

import numpy as np

import pygpu as cl
import pygpu.array

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)

with cl.track_memory():
    image = pygpu.array.to_device(queue, np.ones((256, 256), np.float32))
    layers = [image * k for k in range(8)]
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, 1 << 20)

report = cl.memory_report()
print(report)
largest, second, third = report.lines[:3]
assert (largest.pieces, largest.nbytes) == (8, 8 * image.nbytes) and "layers" in largest.code
assert second.nbytes == buffer.size and third.nbytes == image.nbytes

del layers[1:]
assert cl.memory_report().nbytes == report.nbytes - 7 * image.nbytes
