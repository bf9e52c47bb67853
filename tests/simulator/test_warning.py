"""The warning that kernels run on the CPU, at the line of the program that began to use CUDA."""

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "line",
    ["import pygpu.cuda.autoinit", "pygpu.cuda.autoinit", "xp.ones(3, device='cuda')"],
)
def test_warns_once_at_the_users_line(line, tmp_path):
    from pygpu import _cuda

    if not _cuda._is_simulator():
        pytest.skip("needs the simulator; a GPU is used")
    program = tmp_path / "program.py"
    program.write_text(f"import pygpu\nfrom pygpu import xp\n{line}\n{line}\n")
    around = {k: v for k, v in os.environ.items() if k != "PYGPU_CUDA" and k != "PYTHONWARNINGS"}
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, timeout=60, env=around
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("SimulatorWarning") == 1
    assert done.stderr.startswith(f"{program}:3: SimulatorWarning: no NVIDIA GPU")
