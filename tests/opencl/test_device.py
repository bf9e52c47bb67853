"""Device: information, parts, clocks, handles."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import pygpu as cl
from pygpu import _opencl

mf = cl.mem_flags


def test_version_as_a_pair(device):
    """As PyOpenCL's helpers ask for it, of any object with a version of its own or its device's."""
    major, minor = map(int, re.match(r"OpenCL (\d+)\.(\d+)", device.version).groups())
    context = cl.Context([device])
    assert device._get_cl_version() == (major, minor)
    assert cl.CommandQueue(context)._get_cl_version() <= (major, minor)
    of_platform = re.match(r"OpenCL (\d+)\.(\d+)", device.platform.version)
    assert device.platform._get_cl_version() == tuple(map(int, of_platform.groups()))


def test_information_that_every_device_has(device):
    assert isinstance(device.name, str) and device.name == device.name.strip() != ""
    assert device.version.startswith("OpenCL ") and device.opencl_c_version.startswith("OpenCL C ")
    assert device.available is True and device.compiler_available is True
    assert type(device.max_compute_units) is int and device.max_compute_units >= 1
    assert (
        device.max_work_group_size >= 1 and device.global_mem_size > 0 and device.local_mem_size > 0
    )
    assert len(device.max_work_item_sizes) == device.max_work_item_dimensions >= 3
    assert device.address_bits in (32, 64)
    assert device.type & (
        cl.device_type.CPU | cl.device_type.GPU | cl.device_type.ACCELERATOR | cl.device_type.CUSTOM
    )
    assert isinstance(device.platform, cl.Platform)
    assert device.execution_capabilities & cl.device_exec_capabilities.KERNEL
    assert isinstance(device.half_fp_config if "cl_khr_fp16" in device.extensions else 0, int)


def test_identifier(device):
    identifier = device.hashable_model_and_version_identifier
    assert identifier == ("v1", device.vendor, device.vendor_id, device.name, device.version)
    with pytest.warns(DeprecationWarning, match="hashable_model_and_version_identifier"):
        assert device.persistent_unique_id == identifier
    assert {identifier: 1}[identifier] == 1


def test_repr_equality_handles(device, ctx):
    assert repr(device).startswith(
        f"<pygpu.Device '{device.name}' on '{device.platform.name}' at 0x"
    )
    twin = cl.Device.from_int_ptr(device.int_ptr)
    assert twin == device and hash(twin) == hash(device) and twin.name == device.name
    assert device in ctx.devices and ctx != device
    for wrong, error in [(0, ValueError), (-3, OverflowError), ("1", TypeError)]:
        with pytest.raises(error):
            cl.Device.from_int_ptr(wrong)
    with pytest.raises(TypeError):
        cl.Device()
    with pytest.raises(AttributeError):
        device.name = "mine"
    device.some_note = "x"
    assert device.some_note == "x"
    del device.some_note


def test_cycles():
    """In a process of its own: whatever has the device keeps this very object."""
    code = (
        "import gc, weakref, pygpu as cl\n"
        "device = next(d for p in cl.get_platforms() for d in p.get_devices())\n"
        "device.me = device\n"
        "gone = weakref.ref(device)\n"
        "del device\n"
        "gc.collect()\n"
        "assert gone() is None\n"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def sub_devices(device):
    properties = cl.device_partition_property
    if (
        "OpenCL 1.1" in device.version
        or properties.EQUALLY not in device.partition_properties
        or device.partition_max_sub_devices < 2
    ):
        pytest.skip("the device cannot be partitioned equally")
    return device.create_sub_devices([properties.EQUALLY, 1])


def test_sub_devices(device, balance):
    parts = sub_devices(device)
    assert len(parts) == device.max_compute_units
    for part in parts:
        assert part.max_compute_units == 1 and part.parent_device == device and part != device
        assert part.partition_type[:2] == [cl.device_partition_property.EQUALLY, 1]
    ctx = cl.Context(parts)
    queue = cl.CommandQueue(ctx, parts[-1])
    buffer = cl.Buffer(ctx, mf.READ_WRITE, 4)
    program = cl.Program(ctx, "__kernel void f(__global int *a) { *a = 7; }").build()
    program.f(queue, (1,), None, buffer)
    host = np.zeros(1, np.int32)
    cl.enqueue_copy(queue, host, buffer)
    assert host[0] == 7
    del queue, buffer, program, ctx, parts, part


def test_sub_devices_outlive_their_commands(device):
    """What a driver's thread still reads of a sub-device when the program has dropped it.

    The thread is held in a callback of a command that is complete; freed memory is overwritten.
    """
    sub_devices(device)
    code = (
        "import ctypes, gc, os, time\n"
        "import pygpu as cl\n"
        "library = ctypes.CDLL(os.environ.get('PYGPU_OPENCL_LIBRARY', 'libOpenCL.so.1'))\n"
        "inside = []\n"
        "@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)\n"
        "def hold(event, status, data):\n"
        "    inside.append(status)\n"
        "    time.sleep(0.3)\n"
        "    inside.append('end')\n"
        f"platform = next(p for p in cl.get_platforms() if p.name == {device.platform.name!r})\n"
        f"device = next(d for d in platform.get_devices() if d.name == {device.name!r})\n"
        "parts = device.create_sub_devices([cl.device_partition_property.EQUALLY, 1])\n"
        "ctx = cl.Context(parts)\n"
        "queue = cl.CommandQueue(ctx, parts[-1])\n"
        "buffer = cl.Buffer(ctx, cl.mem_flags.READ_WRITE, 4)\n"
        "gate = cl.UserEvent(ctx)\n"
        "event = cl.enqueue_fill_buffer(queue, buffer, bytes(4), 0, 4, wait_for=[gate])\n"
        "handle = ctypes.c_void_p(event.int_ptr)\n"
        "assert library.clSetEventCallback(handle, 0, hold, None) == 0\n"
        "gate.set_status(0)\n"
        "while not inside:\n"
        "    time.sleep(0.001)\n"
        "del queue, buffer, event, ctx, parts, gate\n"
        "gc.collect()\n"
        "time.sleep(0.6)\n"
        "assert inside == [0, 'end'], inside\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"MALLOC_PERTURB_": "165"},
    )
    assert done.returncode == 0, (done.returncode, done.stderr)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (3, TypeError),
        (None, TypeError),
        ([], ValueError),
        (["EQUALLY", 1], TypeError),
        ([1.0], TypeError),
        ([2**70], OverflowError),
        ([1] * 65, ValueError),
        ([0x1086, 0], cl.Error),
        ([12345, 1], cl.Error),
        ([0x1086, 10**6], cl.Error),
    ],
    ids=str,
)
def test_sub_devices_refused(device, given, error, balance):
    with pytest.raises(error):
        device.create_sub_devices(given)


def test_clocks(device):
    if not any(v in device.version for v in ("OpenCL 2.1", "OpenCL 2.2", "OpenCL 3.")):
        for call in (device.host_timer, device.device_and_host_timer):
            with pytest.raises(cl.LogicError, match="needs OpenCL 2.1"):
                call()
        return
    try:
        first = device.host_timer()
        both = device.device_and_host_timer()
    except cl.LogicError as error:  # optional in OpenCL 3.0
        assert error.code == cl.status_code.INVALID_OPERATION
        return
    assert first <= both[1] <= device.host_timer() and len(both) == 2


def test_failures(device):
    for name in (
        "name",
        "max_compute_units",
        "max_work_item_sizes",
        "extensions",
        "hashable_model_and_version_identifier",
    ):
        for nth in (1, 2):
            _opencl._fault("clGetDeviceInfo", -33, nth)
            try:
                with pytest.raises(cl.LogicError) as caught:
                    getattr(device, name)
            finally:
                _opencl._fault(None, 0)
            assert caught.value.routine == "clGetDeviceInfo"


def test_affinity_domains_are_a_list(device):
    [domains] = device.partition_affinity_domain  # as with PyOpenCL
    assert type(domains) is int and domains >= 0
    assert device.get_info(cl.device_info.PARTITION_AFFINITY_DOMAIN) == [domains]
