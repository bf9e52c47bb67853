"""What the tests of programs and of their builds share."""

from __future__ import annotations

import numpy as np

import pygpu as cl

SET = "kernel void set(global int *out) { out[get_global_id(0)] = VALUE; }"
FILL = "kernel void fill(global int *out, int x) { out[get_global_id(0)] = x; }"


def run(queue: cl.CommandQueue, kernel: cl.Kernel, *args: object, n: int = 4) -> list[int]:
    """What the kernel writes into n ints."""
    out = np.zeros(n, np.int32)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffer = cl.Buffer(queue.context, flags, hostbuf=out)
    kernel(queue, (n,), None, buffer, *args)
    cl.enqueue_copy(queue, out, buffer)
    return out.tolist()


def is_pocl(device: cl.Device) -> bool:
    return device.platform.name == "Portable Computing Language"
