"""Sharing with OpenGL where a device has it: each case of gl_device_cases.py in a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import pygpu as cl

CASES = Path(__file__).with_name("gl_device_cases.py")


@pytest.mark.parametrize("case", ["buffers", "textures", "renderbuffers", "mistakes"])
def test_shared(case):
    if not cl.have_gl():
        pytest.skip("no device here shares with OpenGL (cl_khr_gl_sharing)")
    env = {**os.environ, "PYTHONPATH": str(Path(cl.__file__).parents[1])}
    env["PYTHONPATH"] += os.pathsep + os.environ.get("PYTHONPATH", "")
    done = subprocess.run(
        [sys.executable, str(CASES), case], env=env, capture_output=True, text=True, timeout=120
    )
    if "skip: " in done.stderr:
        pytest.skip(done.stderr.strip().split("skip: ")[-1])
    assert done.returncode == 0, done.stderr
