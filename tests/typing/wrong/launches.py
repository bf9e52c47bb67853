"""Launches that a type checker refuses: `# E: code` is what mypy says of the line."""

import numpy as np

import pygpu as cl
from pygpu.array import Array

queue = cl.CommandQueue(cl.create_some_context(interactive=False))
f4 = cl.array.zeros(queue, 4, np.float32)


@cl.kernel
def scale(a: float, x: Array[np.float32]) -> None:
    cl.shfl_sync(-1, a)  # E: call-arg
    cl.grid(4)  # E: call-overload


scale[4, 64](2.0)  # E: call-arg
scale[4, 64](f4, 2.0)  # E: arg-type
scale[4](2.0, f4)  # E: index
scale["4", 64](2.0, f4)  # E: index
scale(2.0, f4)  # E: call-arg
