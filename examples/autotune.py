"""Finds the size of blocks for a kernel, and the tile of another one, by trying.

Run: python examples/autotune.py
"""

from functools import cache

import numpy as np

import pygpu as cl
import pygpu.array

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
x = pygpu.array.to_device(queue, np.arange(1 << 16, dtype=np.float32))


@cl.autotune({"block": [16, 64, 256]}, key="n")
@cl.kernel
def halve(x, n):
    i = cl.grid(1)
    if i < n:
        x[i] = x[i] / 2


halve.forall(x.size)(x, x.size)  # tries three sizes, and halves once
assert (x.get() == np.arange(1 << 16) / 2).all()
found = next(iter(halve.results.values()))
print("blocks of", found.config["block"], "from disk" if found.from_disk else "by trials")


@cache
def program(per_item: int) -> cl.Program:
    source = f"""
    kernel void twice(global float *x) {{
        for (int k = 0; k < {per_item}; k++) x[get_global_id(0) * {per_item} + k] *= 2;
    }}"""
    return cl.Program(context, source).build()


@cl.autotune([{"per_item": 1}, {"per_item": 8}])
def twice(x: pygpu.array.Array, *, per_item: int) -> None:
    program(per_item).twice(queue, (x.size // per_item,), None, x.data)


twice(x)
assert (x.get() == np.arange(1 << 16)).all()
print("items of a work-item:", next(iter(twice.results.values())).config["per_item"])
