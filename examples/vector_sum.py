"""Adds two vectors on the device: the smallest whole program.

Run: python examples/vector_sum.py
"""

import numpy as np

import pygpu as cl

SOURCE = """
kernel void sum(global const float *a, global const float *b, global float *c)
{
    int i = get_global_id(0);
    c[i] = a[i] + b[i];
}
"""

rng = np.random.default_rng(2026)
a, b = rng.random((2, 50_000), dtype=np.float32)

context = cl.create_some_context(interactive=False)  # PYGPU_CTX chooses another device
queue = cl.CommandQueue(context)
flags = cl.mem_flags
a_dev = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=a)
b_dev = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=b)
c_dev = cl.Buffer(context, flags.WRITE_ONLY, a.nbytes)

program = cl.Program(context, SOURCE).build()
program.sum(queue, a.shape, None, a_dev, b_dev, c_dev)  # one work-item for each number

c = np.empty_like(a)
cl.enqueue_copy(queue, c, c_dev)  # waits for the kernel, as the queue is in order
assert (c == a + b).all()
print(f"{queue.device.name}: {len(c)} sums, equal to NumPy's")
