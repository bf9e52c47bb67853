"""Arrays of several devices: copies between them, errors that name them, `with device:`."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import pygpu as cl
from pygpu import xp
from pygpu._src.array import device_copy

RNG = np.random.default_rng(5)
HOSTS = {
    "empty": np.zeros((0, 3), np.float32),
    "number": np.array(7, np.int16),
    "odd": RNG.integers(0, 250, 77).astype(np.uint8),
    "complex": RNG.random((5, 3)) + 1j * RNG.random((5, 3)),
    "fortran": np.asfortranarray(RNG.random((4, 6)).astype(np.float32)),
    "half": RNG.random((9, 2)).astype(np.float16),
    "bools": RNG.random(33) > 0.5,
}


def views(array):
    yield array
    if array.ndim == 2 and array.size:
        yield array[1:, ::-1]
        yield array.T[::2]
    if array.ndim == 1 and array.size:
        yield array[3:]
        yield array[::-2]


def check(one, other):
    for name, host in HOSTS.items():
        for x, expected in zip(views(xp.asarray(host, device=one)), views(host)):
            y = x.to(other)
            assert y.device == other and y.dtype == x.dtype, name
            x[...] = x[...]  # neither waits for the other
            got = y.get()
            assert got.shape == expected.shape and (got == expected).all(), name
            assert (y.to(one).get() == expected).all(), name
            assert y.to(other) is y


@pytest.fixture(params=[64, 8 << 20], ids=["pieces", "whole"])
def pieces(request, monkeypatch):
    monkeypatch.setattr(device_copy, "_CHUNK", request.param)


@pytest.mark.parametrize("make", ["opencl"], indirect=True)
def test_between_opencl_and_cuda(make, pieces):
    here, there = xp.as_device(make.queue), xp.as_device("cuda")
    check(here, there)
    check(there, here)


@pytest.mark.parametrize("make", ["opencl"], indirect=True)
def test_between_two_contexts(make, pieces):
    device = make.queue.device
    check(xp.as_device(cl.Context([device])), xp.as_device(cl.Context([device])))


@pytest.mark.parametrize("make", ["opencl"], indirect=True)
def test_two_devices_of_one_context(make):
    device = make.queue.device
    if device.max_compute_units < 2 or not device.partition_properties:
        pytest.skip("the device cannot be partitioned in two")
    kind = cl.device_partition_property.BY_COUNTS
    try:
        halves = device.create_sub_devices([kind, 1, 1, 0])
    except cl.Error as error:
        if error.code != cl.status_code.DEVICE_PARTITION_FAILED:
            raise
        pytest.skip(f"the device cannot be divided: {error}")
    context = cl.Context(halves)
    one, other = (xp.as_device(cl.CommandQueue(context, half)) for half in halves)
    assert one != other
    check(one, other)
    with pytest.raises(ValueError, match=r"a sub-device of opencl:\d+"):
        xp.ones(3, device=one) + xp.ones(3, device=other)


@pytest.mark.parametrize("make", ["opencl"], indirect=True)
def test_errors_name_the_devices(make):
    here, there = xp.ones(3, device=make.queue), xp.ones(3, device="cuda")
    for call in (
        lambda: here + there,
        lambda: xp.where(here > 0, here, there),
        lambda: here @ there,
        lambda: xp.concat([here, there]),
    ):
        with pytest.raises(ValueError, match=r"opencl:\d+:\d+ and cuda:0\); copy one with .to\("):
            call()
    other = xp.ones(3, device=cl.Context([make.queue.device]))
    with pytest.raises(ValueError, match=r"two contexts of opencl:\d+:\d+\); .*other\.device"):
        here + other
    with pytest.raises(ValueError, match="device 'cuda:99' does not exist; there "):
        here.to("cuda:99")
    with pytest.raises(TypeError, match="device: .* not float"):
        here.to(1.5)
    assert "cuda:0" in repr(there.device) and "opencl:" in repr(here.device)


def test_with_device(make):
    inner = xp.Device(make.queue if make.name == "opencl" else make.backend.context)
    outer = xp.Device("cuda" if make.name == "opencl" else "opencl")
    before = xp.default_device()
    seen = []
    with outer, inner:
        assert xp.ones(2).device == inner
        with outer:
            assert xp.asarray([1]).device == outer
        assert xp.zeros(2).device == inner
        thread = threading.Thread(target=lambda: seen.append(xp.ones(2).device))
        thread.start()
        thread.join()
    assert xp.default_device() == before and seen == [before]
    with pytest.raises(KeyError), inner:
        raise KeyError
    assert xp.default_device() == before
    with pytest.raises(RuntimeError, match="in reverse order"):
        outer.__exit__(None, None, None)


PROGRAM = """
import numpy as np
import pygpu.cuda.driver as cuda
from pygpu import xp
from tests.array import test_device_copy as test
from pygpu.cuda import gpuarray

one, other = xp.Device("cuda:0"), xp.Device("cuda:1")
test.check(one, other)
# In the order of both streams: the source's memory is written again at once, the copy is used.
x = xp.arange(100_000, device=one)
with other:
    stream = cuda.Stream()
for i in range(20):
    y = x.to(other, stream=stream)
    x += 1
    assert y.queue is stream and int(xp.sum(y - y[0])) == 99_999 * 50_000
    assert int(y[0]) == i
try:
    x + y
except ValueError as error:
    assert "cuda:0 and cuda:1); copy one with .to('cuda:1')" in str(error), error
else:
    raise SystemExit("arrays of two devices were added")
with other:
    assert gpuarray.zeros(3, np.float32).device == other
# Copies have enabled peer access, which programs need not notice.
with one:
    cuda.Context.enable_peer_access(other.context)
    try:
        cuda.Context.enable_peer_access(other.context)
    except cuda.LogicError as error:
        assert "already enabled" in str(error)
    else:
        raise SystemExit("twice without an error")
    cuda.Context.disable_peer_access(other.context)
assert (x.to(other).get() == x.get()).all()
print("done")
"""


def test_two_gpus():
    path = os.pathsep.join([*sys.path, str(Path(__file__).parents[2])])
    environment = {**os.environ, "PYGPU_SIM_DEVICES": "2", "PYTHONPATH": path}
    if environment.get("PYGPU_CUDA") == "driver" and xp.as_device("cuda").count() < 2:
        pytest.skip("needs two GPUs")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "done"
