"""Memory pools: a thousand temporary buffers, three of them ever made.

python examples/pool.py
"""

import time

import numpy as np

import pygpu as cl
from pygpu.tools import ImmediateAllocator, MemoryPool

SOURCE = """
kernel void add(global const int *a, int n, global int *b) {
    b[get_global_id(0)] = a[get_global_id(0)] + n;
}
"""
N, STEPS = 10_000, 1000


def chain(queue: cl.CommandQueue, add: cl.Kernel, first: cl.Buffer, allocate) -> np.ndarray:
    """Adds 0, 1, ..., STEPS - 1, each into a new buffer; the one before is dropped meanwhile."""
    here = first
    for step in range(STEPS):
        there = allocate(4 * N)
        add(queue, (N,), None, here, np.int32(step), there)
        here = there
    result = np.empty(N, np.int32)
    cl.enqueue_copy(queue, result, here)
    return result


context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
add = cl.Program(context, SOURCE).build().add
numbers = np.arange(N, dtype=np.int32)
first = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=numbers)
pool = MemoryPool(ImmediateAllocator(queue))

for name, allocate in (
    ("Buffer", lambda size: cl.Buffer(context, cl.mem_flags.READ_WRITE, size)),
    ("MemoryPool", pool.allocate),
):
    start = time.perf_counter()
    result = chain(queue, add, first, allocate)
    assert np.array_equal(result, numbers + STEPS * (STEPS - 1) // 2)
    print(f"{name:10} {1e6 * (time.perf_counter() - start) / STEPS:7.1f} us a step")
print(f"the pool made {pool.held_blocks + pool.active_blocks} buffers, {pool.managed_bytes} bytes")
assert pool.held_blocks + pool.active_blocks <= 3
