"""Memory of two devices: copies between them, objects that are freed in their own contexts."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import gc
import numpy as np
import pygpu.cuda.driver as cuda

cuda.init()
if cuda.Device.count() < 2:
    print("one device")
    raise SystemExit
contexts = [cuda.Device(n).retain_primary_context() for n in range(2)]
memories, pools, streams = [], [], []
for n, context in enumerate(contexts):
    context.push()
    memories.append(cuda.to_device(np.arange(1000, dtype=np.int32) + n))
    pools.append(cuda.DeviceMemoryPool())
    pools[n].allocate(4000)
    streams.append(cuda.Stream(cuda.stream_flags.NON_BLOCKING))
    assert memories[n].__dlpack_device__() == (2, n)
    context.pop()
first, second = contexts
first.push()

# Whole ranges: the contexts are those of the allocations, or given for plain addresses.
def at(n, memory):
    contexts[n].push()
    try:
        return cuda.from_device(memory, 1000, np.int32)
    finally:
        cuda.Context.pop()

cuda.memcpy_peer(memories[1], memories[0], 2000)
cuda.Context.synchronize()
expected = np.arange(1000)
expected[500:] += 1
assert (at(1, memories[1]) == expected).all()
cuda.memset_d32(memories[0], 9, 1000)
cuda.Context.synchronize()  # the stream below is not ordered with the default one
cuda.memcpy_peer_async(int(memories[1]) + 400, int(memories[0]), 40, second, first, streams[0])
streams[0].synchronize()
expected[100:110] = 9
assert (at(1, memories[1]) == expected).all()

# Boxes.
copy = cuda.Memcpy3DPeer()
copy.set_src_device(memories[0])
copy.set_dst_device(memories[1])
copy.src_pitch = copy.dst_pitch = 40
copy.src_height = copy.dst_height = 10
copy.width_in_bytes, copy.height, copy.depth = 8, 3, 2
copy()
cuda.Context.synchronize()
for z in range(2):
    for y in range(3):
        expected[100 * z + 10 * y : 100 * z + 10 * y + 2] = 9
assert (at(1, memories[1]) == expected).all()
try:
    cuda.memcpy_peer(memories[1], memories[0], 4001)
except ValueError:
    pass
else:
    raise SystemExit("nothing stops a copy at the end")

# A pool makes its memory in its own context, whatever is current, and takes it back from there.
free = []
for context in contexts:
    context.push()
    free.append(cuda.mem_get_info()[0])
    context.pop()
big = pools[1].allocate(50 << 20)
second.push()
assert cuda.mem_get_info()[0] < free[1] - (40 << 20)
cuda.Context.pop()
assert abs(cuda.mem_get_info()[0] - free[0]) < 16 << 20
assert big.__dlpack_device__() == (2, 1)
cuda.memset_d8_async(memories[0], 1, 4000, streams[0])
del big
pools[1].stop_holding()
second.push()
assert cuda.mem_get_info()[0] > free[1] - (16 << 20)
cuda.Context.pop()

# Dropped while the other device is current.
del memories, pools, streams, copy
gc.collect()
assert cuda.Context.get_current() == first
print("done")
"""


CONTEXTS = """
import ctypes, os, threading
import pygpu.cuda.driver as cuda
from pygpu import _cuda, xp

cuda.init()
if cuda.Device.count() < 2:
    print("one device")
    raise SystemExit
state = ctypes.CDLL(_cuda._library()).cuDevicePrimaryCtxGetState

def current():
    context = cuda.Context.get_current()
    return context and contexts.index(context)

def work(device=None):
    x = xp.arange(5, dtype=xp.float32, device=device) + 1
    assert x.get().tolist() == [1, 2, 3, 4, 5]
    return current()

def in_a_thread(*args):
    found = []
    thread = threading.Thread(target=lambda: found.append(work(*args)))
    thread.start()
    thread.join()
    return found[0]

# The second device is chosen before any thread has a context: the first is not touched.
xp.set_default_device("cuda:1")
contexts = [None, cuda.Device(1).retain_primary_context()]
assert (work(), in_a_thread()) == (1, 1)
flags, active = ctypes.c_uint(), ctypes.c_int(9)
assert state(0, ctypes.byref(flags), ctypes.byref(active)) == 0 and active.value == 0
contexts[0] = cuda.Device(0).retain_primary_context()

# A thread whose context was made current by default follows the default device.
xp.set_default_device("cuda:0")
assert current() == 1 and work() == 0 and in_a_thread() == 0
assert work("cuda:1") == 0  # another device than the default one
xp.set_default_device("cuda:1")
contexts[0].push()
assert work() == 0  # the program's own choice
cuda.Context.pop()
assert current() == 0 and work() == 1
xp.set_default_device(None)
assert work("cuda:0") == 0 and in_a_thread("cuda:1") == 0  # the first device's by default
os.environ["PYGPU_DEVICE"] = "cuda:1"
xp.set_default_device(None)
assert in_a_thread() == 1
del os.environ["PYGPU_DEVICE"]

# A context that the program destroys does not become the default one.
made = cuda.Device(1).make_context()
xp.set_default_device(made)
assert cuda.Context.get_current() == made
made.detach()
assert in_a_thread("cuda:1") == 0
for wrong in (5, "cuda:1"):
    try:
        cuda.Context._set_default(wrong)
    except TypeError as error:
        assert "must be a Context or None, not " in str(error)
    else:
        raise SystemExit("accepted")
print("done")
"""


@pytest.mark.parametrize("program", [PROGRAM, CONTEXTS], ids=["memory", "contexts"])
def test_two_devices(program):
    result = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"PYGPU_SIM_DEVICES": "2"},  # a real driver has as many as it has
    )
    if result.stdout == "one device\n":
        pytest.skip("needs two NVIDIA GPUs, and this machine has one")
    assert (result.returncode, result.stdout) == (0, "done\n"), result.stderr
