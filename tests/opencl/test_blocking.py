"""Blocking copies for which the driver waits: NVIDIA's way, on whatever device there is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pygpu as cl

CASES = Path(__file__).with_name("blocking_cases.py")


def test_who_waits(device):
    index = cl.get_platforms().index(device.platform)
    result = subprocess.run(
        [sys.executable, "-P", CASES],
        capture_output=True,
        text=True,
        timeout=100,
        env=os.environ | {"PYGPU_CTX": str(index), "PYGPU_TEST": "", "PYOPENCL_TEST": ""},
    )
    assert (result.returncode, result.stdout) == (0, "done\n"), result.stderr
