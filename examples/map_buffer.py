"""Maps a buffer: the host sees the device's memory as an array, with no copy where both are one.

Run: python examples/map_buffer.py
"""

import numpy as np

import pygpu as cl

SOURCE = "kernel void square(global int *x) { int i = get_global_id(0); x[i] *= x[i]; }"
N = 1000

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
square = cl.Program(context, SOURCE).build().square
flags = cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR  # memory that the host reaches fast
buffer = cl.Buffer(context, flags, N * np.dtype(np.int32).itemsize)

# Write: what was there before does not matter, so nothing needs to be fetched from the device.
array, event = cl.enqueue_map_buffer(
    queue, buffer, cl.map_flags.WRITE_INVALIDATE_REGION, 0, (N,), np.int32
)
with array.base:  # a MemoryMap; at the end of the block the device has its memory again
    array[:] = np.arange(N)

square(queue, (N,), None, buffer)

# Read, here as 10 rows; the mapping waits for the kernel.
table, event = cl.enqueue_map_buffer(queue, buffer, cl.map_flags.READ, 0, (10, N // 10), np.int32)
with table.base:
    assert not table.flags.writeable
    sums = table.sum(axis=1)
assert table.size == 0  # a map that was released shows nothing, rather than stale numbers

exact = (np.arange(N) ** 2).reshape(10, -1).sum(axis=1)
assert (sums == exact).all()
print(f"{queue.device.name}: sums of the rows {sums[0]} ... {sums[-1]}")
