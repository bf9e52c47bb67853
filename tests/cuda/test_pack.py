"""A pack made for an architecture without a device of it has the images that such a device uses."""

import os
import subprocess
import sys

import pytest

from pygpu.cuda import driver as cuda

PROGRAM = """
import numpy as np
import pygpu.cuda.autoprimaryctx, pygpu.cuda.gpuarray as gpuarray
from pygpu.cuda.compiler import SourceModule

a = gpuarray.to_gpu(np.arange(5, dtype=np.complex64))
assert (a * a + 1).get().tolist() == [1, 2, 5, 10, 17] and a.get().sum() == 10
SourceModule("__global__ void k(int *x) { *x = 1; }").get_function("k")
"""
FAIL = """
import pygpu._src.runtime.cuda.nvrtc as nvrtc
def fail(*args): raise SystemExit("compiled")
nvrtc.compile_source = fail
"""


def run(code, folder):
    env = dict(os.environ, PYGPU_CACHE_DIR=str(folder))
    env["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.gpu
def test_sources_compiled_without_the_device_are_what_it_asks_for(tmp_path):
    run(PROGRAM, tmp_path / "first")
    for path in (tmp_path / "first").rglob("*.program"):
        path.unlink()
    name = "sm_{}{}".format(*cuda.Context.get_device().compute_capability())
    pack = f"import pygpu.cache as c; c.pack({str(tmp_path / 'p')!r}, {name!r}); "
    run(pack + f"c.unpack({str(tmp_path / 'p')!r}, {str(tmp_path / 'to')!r})", tmp_path / "first")
    run(FAIL + PROGRAM, tmp_path / "to")
