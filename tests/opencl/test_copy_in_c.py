"""enqueue_copy of boxes, images and shared memory: the usual calls are made without Python."""

from __future__ import annotations

import subprocess
import sys

WITHOUT_PYTHON = """
import sys
import numpy as np
import pygpu as cl

ctx = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(ctx)
host = np.arange(256, dtype=np.uint8)
a, b = (cl.Buffer(ctx, cl.mem_flags.READ_WRITE, 256) for _ in range(2))
back = np.zeros_like(host)
box = dict(buffer_origin=(4, 1), host_origin=(0, 2), region=(8, 3), buffer_pitches=(16,))
cl.enqueue_copy(queue, a, host, host_pitches=(16,), **box)
cl.enqueue_copy(queue, back, a, host_pitches=(16,), is_blocking=True, **box)
rows, want = host.reshape(16, 16)[2:5, :8], back.reshape(16, 16)[2:5, :8]
assert (rows == want).all() and back.sum() == rows.sum()
ends = dict(src_origin=(4, 1), dst_origin=(0, 0), src_pitches=(16,), dst_pitches=(8,))
cl.enqueue_copy(queue, b, a, region=(8, 3), wait_for=[], **ends).wait()
cl.enqueue_copy(queue, back[:24], b)
assert (back[:24].reshape(3, 8) == rows).all()

device = ctx.devices[0]
if device.image_support:
    form = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.UNSIGNED_INT8)
    one, two = (cl.Image(ctx, cl.mem_flags.READ_WRITE, form, shape=(4, 4)) for _ in range(2))
    pixels = np.arange(64, dtype=np.uint8).reshape(4, 4, 4)
    out = np.zeros_like(pixels)
    cl.enqueue_copy(queue, one, pixels, origin=(0, 0), region=(4, 4))
    cl.enqueue_copy(queue, two, one, src_origin=(0, 0), dest_origin=(0, 0), region=(4, 4))
    cl.enqueue_copy(queue, a, two, origin=(1, 1), region=(2, 2), offset=16)
    cl.enqueue_copy(queue, one, a, offset=16, origin=(0, 0), region=(2, 2), wait_for=None)
    cl.enqueue_copy(queue, out, one, origin=(0, 0), region=(4, 4), is_blocking=True)
    assert (out[:2, :2] == pixels[1:3, 1:3]).all() and (out[2:] == pixels[2:]).all()
if device.svm_capabilities & cl.device_svm_capabilities.COARSE_GRAIN_BUFFER:
    shared = cl.SVMAllocation(ctx, 256, 0, cl.svm_mem_flags.READ_WRITE)
    cl.enqueue_copy(queue, shared, host)
    cl.enqueue_copy(queue, back, shared, is_blocking=False).wait()
    assert (back == host).all()
    cl.enqueue_copy(queue, back[:3], shared, byte_count=3)
late = {"transfer", "images"}
loaded = {name.rpartition(".")[2] for name in sys.modules if name.startswith("pygpu._src.")}
assert not late & loaded

for dest, src, options in [
    (a, host, {"buffer_origin": (0,)}), (b, a, {"src_origin": (0,), "region": (1,)}),
    (a, host, {"origin": (0,)}), (b, a, {"src_origin": (0,), "dst_origin": 0, "region": 1, "x": 1}),
]:
    try:
        cl.enqueue_copy(queue, dest, src, **options)
    except TypeError as error:
        assert "enqueue_copy" in str(error) and "keyword argument" in str(error), error
    else:
        raise AssertionError(options)
assert "pygpu._src.runtime.opencl.transfer" in sys.modules
"""


def test_copies_that_need_no_python():
    done = subprocess.run([sys.executable, "-c", WITHOUT_PYTHON], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
