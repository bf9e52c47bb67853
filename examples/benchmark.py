"""Times a sum of squares: what Python takes, and what the device takes.

Run: python examples/benchmark.py
"""

import numpy as np

import pygpu as cl
import pygpu.array

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
host = np.random.default_rng(1).random(1 << 20, np.float32)
x = pygpu.array.to_device(queue, host)


def squares() -> pygpu.array.Array:
    return (x * x).sum()


assert np.isclose(squares().get(), (host * host).sum(), rtol=1e-4)
result = cl.benchmark(squares, repeat=20)
print(result)
print(f"{host.nbytes / result.median / 1e9:.2f} GB/s")
assert result.calls == 20 and result.host.least <= result.total.median
