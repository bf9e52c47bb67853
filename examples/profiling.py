"""Times a copy and a kernel with the device's own clock.

Run: python examples/profiling.py
"""

import numpy as np

import pygpu as cl

SOURCE = """
kernel void poly(global const float *x, global float *y)
{
    int i = get_global_id(0);
    float v = x[i];
    y[i] = ((v * 2 + 3) * v - 1) * v + 4;
}
"""
x = np.linspace(-1, 1, 1 << 20, dtype=np.float32)

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
poly = cl.Program(context, SOURCE).build().poly
x_dev = cl.Buffer(context, cl.mem_flags.READ_ONLY, x.nbytes)
y_dev = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, x.nbytes)
y = np.empty_like(x)


def run() -> dict[str, cl.Event]:
    return {
        "copy to the device": cl.enqueue_copy(queue, x_dev, x, is_blocking=False),
        "kernel": poly(queue, x.shape, None, x_dev, y_dev),
        "copy from the device": cl.enqueue_copy(queue, y, y_dev),
    }


run()  # the first time drivers find room for the memory and finish compiling
events = run()
print(f"{queue.device.name}, {x.nbytes / 2**20:g} MiB")
for name, event in events.items():
    event.wait()  # its times are known only then
    times = event.profile  # in ns
    assert times.queued <= times.submit <= times.start <= times.end
    seconds = (times.end - times.start) * 1e-9
    waited = (times.start - times.queued) * 1e-6
    rate = x.nbytes / seconds / 1e9 if seconds else float("inf")
    print(f"{name:21} {seconds * 1e3:8.3f} ms, {rate:6.2f} GB/s, {waited:.3f} ms after its call")
assert np.allclose(y, ((x * 2 + 3) * x - 1) * x + 4, rtol=1e-5, atol=1e-5)
