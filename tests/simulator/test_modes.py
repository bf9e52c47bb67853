"""A few kernels in each mode of the simulator; `make test-simulator` runs all of them in all."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).parent / "test_kernels.py"
SOME = (
    "launch-dynamic_shared_memory",
    "launch-shared_structure_in_device_function",
    "textures-fetch_from_linear_memory",
    "atomics-vectors",
    "groups-grid",
    "arithmetic-conversions",
    "warp-shfl",
    "cxx-malloc_and_free",
    "cxx-local_bytes",
)


@pytest.mark.parametrize(
    "settings",
    [
        {"PYGPU_SIM_CHECK": "1"},
        {"PYGPU_SIM_CXX": "clang++"},
        {"PYGPU_SIM_ORDER": "reverse", "PYGPU_SIM_DEFERRED": "1"},
    ],
    ids=lambda settings: ",".join(f"{name}={value}" for name, value in settings.items()),
)
def test_kernels_in_a_mode(settings, tmp_path):
    compiler = settings.get("PYGPU_SIM_CXX")
    if compiler and shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
        + [f"{FILE}::test_kernel[{name}]" for name in SOME],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=FILE.parent.parent.parent,
        env=os.environ | settings | {"PYGPU_CUDA": "simulator", "TMPDIR": str(tmp_path)},
    )
    assert done.returncode == 0 and f"{len(SOME)} passed" in done.stdout, done.stdout + done.stderr
