"""Sums an array: each work-group adds its piece up in local memory, which its work-items share.

Run: python examples/local_memory.py
"""

import numpy as np

import pygpu as cl

SOURCE = """
kernel void sums(global const int *x, int n, global int *out, local int *piece)
{
    int i = get_global_id(0), at = get_local_id(0);
    piece[at] = i < n ? x[i] : 0;
    for (int step = get_local_size(0) / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);  /* what the others wrote is there */
        if (at < step) piece[at] += piece[at + step];
    }
    if (at == 0) out[get_group_id(0)] = piece[0];
}
"""
x = np.random.default_rng(7).integers(-1000, 1000, 100_003, dtype=np.int32)

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
sums = cl.Program(context, SOURCE).build().sums

# A power of two, as the kernel's loop halves it, and no more than the device can run.
limit = sums.get_work_group_info(cl.kernel_work_group_info.WORK_GROUP_SIZE, queue.device)
size = min(256, 1 << (limit.bit_length() - 1))
groups = -(-len(x) // size)  # rounded up, so the last group has work-items with nothing to add

x_dev = cl.Buffer(context, cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR, hostbuf=x)
out_dev = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, groups * x.itemsize)
piece = cl.LocalMemory(size * x.itemsize)  # its size in bytes; each group gets its own
sums(queue, (groups * size,), (size,), x_dev, len(x), out_dev, piece)  # len(x) becomes an int

out = np.empty(groups, np.int32)
cl.enqueue_copy(queue, out, out_dev)
assert out.sum() == x.sum()
print(f"{queue.device.name}: {groups} groups of {size} work-items, sum {out.sum()}")
