"""Copies the next block on one queue while a kernel works on this one on another.

Events carry the order from queue to queue. Whether copy and kernel then run side by side is the
device's choice: one with a single engine runs them one after the other.

Run: python examples/two_queues.py
"""

import numpy as np

import pygpu as cl

SOURCE = """
kernel void iterate(global float *x)
{
    float v = x[get_global_id(0)];
    for (int k = 0; k < 200; k++) v = 3.5f * v * (1 - v) + 0.01f * k / 200;
    x[get_global_id(0)] = v;
}
"""
BLOCKS, N = 6, 1 << 18

context = cl.create_some_context(interactive=False)
timed = cl.command_queue_properties.PROFILING_ENABLE
copies, kernels = (cl.CommandQueue(context, properties=timed) for _ in range(2))
iterate = cl.Program(context, SOURCE).build().iterate
data = np.random.default_rng(1).random((BLOCKS, N), dtype=np.float32)
two = [cl.Buffer(context, cl.mem_flags.READ_WRITE, data[0].nbytes) for _ in range(2)]
results = np.empty_like(data)

free: list[list[cl.Event]] = [[], []]  # what must be done before a buffer is written again
uploads, works = [], []
for i in range(BLOCKS):
    buffer = two[i % 2]
    up = cl.enqueue_copy(copies, buffer, data[i], is_blocking=False, wait_for=free[i % 2])
    copies.flush()  # a queue may hold back what nobody waits for, and the other queue waits for it
    work = iterate(kernels, (N,), None, buffer, wait_for=[up])
    down = cl.enqueue_copy(kernels, results[i], buffer, is_blocking=False)
    kernels.flush()
    free[i % 2] = [down]
    uploads.append(up)
    works.append(work)
copies.finish()
kernels.finish()

one = cl.CommandQueue(context)  # the same once more, a step at a time, to compare with
expected = np.empty_like(data)
for i in range(BLOCKS):
    cl.enqueue_copy(one, two[0], data[i])
    iterate(one, (N,), None, two[0])
    cl.enqueue_copy(one, expected[i], two[0])
assert (results == expected).all()
assert all(a.profile.end <= b.profile.start for a, b in zip(uploads, works))

overlap = sum(
    max(0, min(up.profile.end, work.profile.end) - max(up.profile.start, work.profile.start))
    for up, work in zip(uploads[1:], works)
)
total = sum(up.profile.end - up.profile.start for up in uploads[1:])
percent = 100 * overlap / max(total, 1)
print(f"{context.devices[0].name}: {percent:.0f} % of the copying went on beside a kernel")
if overlap == 0:
    print("the device ran one command at a time")
