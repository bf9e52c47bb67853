"""get_platforms and Platform."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import pygpu as cl
from pygpu import _opencl


@pytest.fixture
def platform(device):
    return device.platform


def test_get_platforms(platform):
    platforms = cl.get_platforms()
    assert platform in platforms and all(type(p) is cl.Platform for p in platforms)
    assert len(set(platforms)) == len(platforms) == _opencl._platform_count()
    with pytest.raises(TypeError):
        cl.get_platforms(1)


def test_information(platform):
    for name in ("name", "vendor", "version", "profile", "extensions"):
        assert isinstance(getattr(platform, name), str)
    assert platform.version.startswith("OpenCL ")
    assert platform.profile in ("FULL_PROFILE", "EMBEDDED_PROFILE")
    assert platform.get_info(cl.platform_info.NAME) == platform.name
    assert repr(platform).startswith(f"<pygpu.Platform '{platform.name}' at 0x")


def test_devices_by_type(platform):
    kinds = cl.device_type
    everything = platform.get_devices()
    assert everything and all(type(d) is cl.Device and d.platform == platform for d in everything)
    assert (
        platform.get_devices(kinds.ALL) == everything == platform.get_devices(device_type=kinds.ALL)
    )
    by_kind = [
        platform.get_devices(k) for k in (kinds.CPU, kinds.GPU, kinds.ACCELERATOR, kinds.CUSTOM)
    ]
    for found, kind in zip(by_kind, (kinds.CPU, kinds.GPU, kinds.ACCELERATOR, kinds.CUSTOM)):
        assert all(d.type & kind for d in found)
    assert {d for found in by_kind for d in found} >= set(everything)
    assert set(platform.get_devices(kinds.DEFAULT)) <= set(everything)


def test_wrong_arguments(platform):
    for wrong, error in [
        ("gpu", TypeError),
        (1.0, TypeError),
        (None, TypeError),
        (-1, OverflowError),
        (2**64, OverflowError),
    ]:
        with pytest.raises(error, match="device_type"):
            platform.get_devices(wrong)
    with pytest.raises(TypeError):
        platform.get_devices(cl.device_type.ALL, 2)
    with pytest.raises(TypeError):
        cl.Platform()


def test_equality_and_handles(platform):
    twin = cl.Platform.from_int_ptr(platform.int_ptr)
    assert twin == platform and hash(twin) == hash(platform) and twin.name == platform.name
    assert platform != 3 and not platform == None and platform != platform.get_devices()[0]  # noqa: E711
    for wrong, error in [(0, ValueError), ("1", TypeError)]:
        with pytest.raises(error):
            cl.Platform.from_int_ptr(wrong)
    with pytest.raises(AttributeError):
        platform.name = "x"


def test_unload_platform_compiler(platform):
    if "OpenCL 1.0" in platform.version or "OpenCL 1.1" in platform.version:
        with pytest.raises(cl.LogicError, match="needs OpenCL 1.2"):
            cl.unload_platform_compiler(platform)
    else:
        assert cl.unload_platform_compiler(platform) is None
    for wrong in (None, 3, platform.get_devices()[0]):
        with pytest.raises(TypeError, match="platform"):
            cl.unload_platform_compiler(wrong)


@pytest.mark.parametrize("code", [-6, -30, -1001])
def test_no_platforms(platform, code):
    _opencl._fault("clGetPlatformIDs", code)
    try:
        with pytest.raises(cl.Error) as caught:
            cl.get_platforms()
    finally:
        _opencl._fault(None, 0)
    assert caught.value.code == code and caught.value.routine == "clGetPlatformIDs"
    if code == -1001:
        assert isinstance(caught.value, cl.LogicError)
        assert "install" in str(caught.value)


def test_device_failures(platform):
    _opencl._fault("clGetDeviceIDs", cl.status_code.DEVICE_NOT_FOUND)
    try:
        assert platform.get_devices() == []
    finally:
        _opencl._fault(None, 0)
    for nth in (1, 2):
        _opencl._fault("clGetDeviceIDs", -6, nth)
        try:
            with pytest.raises(cl.Error):
                platform.get_devices()
        finally:
            _opencl._fault(None, 0)


FIRST_USE = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
from pygpu import xp

sys.setswitchinterval(1e-6)
barrier = threading.Barrier(8)

def work(i):
    barrier.wait()
    return float(xp.sum(xp.arange(4)))

with ThreadPoolExecutor(8) as pool:
    assert list(pool.map(work, range(8))) == [6.0] * 8
"""


def test_the_first_use_in_several_threads_at_once():
    variables = {**os.environ, "PYGPU_DEVICE": "opencl"}
    subprocess.run([sys.executable, "-P", "-c", FIRST_USE], env=variables, check=True, timeout=120)
