"""A platform without devices before those that have some, as where a driver's hardware is missing.

empty_platform.c, compiled here, puts one in front of the real library.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pygpu as cl
from pygpu import _opencl

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "src/opencl/api"

CODE = """
import pygpu as cl
import pygpu.xp as xp
from pygpu.__main__ import collect

empty, *others = cl.get_platforms()
assert empty.name == "Empty" and empty.get_devices() == []
assert empty.get_devices(cl.device_type.GPU) == []
first = next(d for platform in others for d in platform.get_devices())
assert cl.create_some_context(interactive=False).devices == [first]
assert cl.Context().devices[0].platform == first.platform
for kind in (first.type, cl.device_type.ALL, cl.device_type.DEFAULT):
    assert first in cl.Context(dev_type=kind).devices, kind
assert xp.asarray([1, 2], device="opencl").device.driver_device == first
for call, words in (
    (lambda: cl.Context(properties=[(cl.context_properties.PLATFORM, empty)]), "NOT_FOUND"),
    (lambda: cl.Context(dev_type=cl.device_type.CUSTOM), "NOT_FOUND"),
    (lambda: cl.choose_devices(answers=["empty"]), "no devices found on the platform 'Empty'"),
):
    try:
        call()
    except cl.Error as error:
        assert words in str(error), error
    else:
        raise AssertionError(words)
share = [(cl.context_properties.GL_CONTEXT_KHR, 0x1234)]
if not cl.have_gl():
    try:
        cl.Context(properties=share)
    except cl.LogicError as error:
        assert first.platform.name in str(error), error
[found, *_] = collect(test=False)["platforms"]
assert found["name"] == "Empty" and found["devices"] == []
"""


def test_the_next_platform_is_the_default(device, tmp_path):
    compiler = os.environ.get("CC", "cc")
    if not sys.platform.startswith("linux"):
        pytest.skip("the library for this test is made for Linux")
    if shutil.which(compiler) is None:
        pytest.skip(f"no C compiler: {compiler} is not installed")
    if not (SOURCES / "cl.fn").exists():
        pytest.skip("no C sources beside the tests")
    real, library = _opencl._library(), tmp_path / "empty.so"
    command = [compiler, "-std=gnu11", "-shared", "-fPIC", "-Wall", "-Werror"]
    command += ["-I", SOURCES, "-I", SOURCES.parents[1], f'-DREAL_LIBRARY="{real}"']
    command += [HERE / "empty_platform.c", "-Wl,--no-as-needed"]
    command += [real if os.sep in real else f"-l:{real}", "-o", library, "-ldl"]
    subprocess.run(command, check=True)
    path = os.pathsep.join((str(Path(cl.__file__).parents[1]), os.environ.get("PYTHONPATH", "")))
    done = subprocess.run(
        [sys.executable, "-P", "-c", CODE],
        env={**os.environ, "PYGPU_OPENCL_LIBRARY": str(library), "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
