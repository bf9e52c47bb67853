"""A program's binaries, kept by the program itself and kept by pygpu's cache.

Builds a program three times: from its source, from the binaries that the first build left in a
file, and from the cache on disk. All three must compute the same.
"""

import tempfile
import time
from pathlib import Path

import numpy as np

import pygpu as cl

SOURCE = """
kernel void logistic(global float *x, float r, int steps)
{
    float y = x[get_global_id(0)];
    for (int i = 0; i < steps; i++)
        y = r * y * (1 - y);
    x[get_global_id(0)] = y;
}
"""


def logistic(queue: cl.CommandQueue, program: cl.Program, x: np.ndarray) -> np.ndarray:
    """Ten steps of the logistic map with r = 2.5 for each number in x (float32, any shape)."""
    y = x.copy()
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffer = cl.Buffer(queue.context, flags, hostbuf=y)
    program.logistic(queue, (y.size,), None, buffer, np.float32(2.5), np.int32(10))
    cl.enqueue_copy(queue, y, buffer)
    return y


def timed_build(text: str, program: cl.Program, **options) -> cl.Program:
    start = time.perf_counter()
    program.build(**options)
    print(f"{text:30} {1e3 * (time.perf_counter() - start):7.1f} ms")
    return program


context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
x = np.linspace(0.1, 0.9, 1000, dtype=np.float32)

expected = x.copy()
for _ in range(10):
    expected = np.float32(2.5) * expected * (1 - expected)

with tempfile.TemporaryDirectory() as folder:
    # From the source, which fills the cache as well.
    program = cl.Program(context, SOURCE)
    timed_build("from source", program, cache_dir=folder)
    assert np.allclose(logistic(queue, program, x), expected, rtol=1e-4)

    # Binaries are plain bytes, one for each device, for the same driver and kind of device only.
    file = Path(folder, "logistic.bin")
    file.write_bytes(program.binaries[0])
    program = cl.Program(context, context.devices[:1], [file.read_bytes()])
    timed_build("from a binary in a file", program)
    assert np.allclose(logistic(queue, program, x), expected, rtol=1e-4)

    # The cache does the same unasked, and notices a change of source, header, option or driver.
    program = cl.Program(context, SOURCE)
    timed_build("from the cache", program, cache_dir=folder)
    assert np.allclose(logistic(queue, program, x), expected, rtol=1e-4)

    # Other options are another program.
    program = cl.Program(context, SOURCE)
    timed_build("from source, other options", program, options="-w", cache_dir=folder)
    assert np.allclose(logistic(queue, program, x), expected, rtol=1e-4)
