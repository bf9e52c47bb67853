"""Without memory for thread-local storage a launch fails, or runs on fewer threads: the system's
loader would end the process."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SCRIPT = """
import ctypes, sys
import numpy as np
from simulator.conftest import LIBRARY, KernelError, Simulator

memory = ctypes.CDLL(None)
simulator = Simulator(LIBRARY)
SOURCE = '''extern "C" __global__ void k(int *a) {
    __shared__ int s[9000 + N];
    s[threadIdx.x] = blockIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) a[blockIdx.x] = s[1];
}'''
modules = [simulator.module(SOURCE.replace("N", str(n))) for n in range(3)]
out = np.zeros(20000, np.int32)

def run(module):
    out[:] = -1
    module.launch("k", len(out), 32, out)
    return (out == np.arange(len(out))).all()

def show(text):
    sys.stdout.write(text)
"""


@pytest.fixture(scope="module")
def run_script(tmp_path_factory, simulator):
    compiler = shutil.which("gcc") or shutil.which("clang")
    if compiler is None or platform.libc_ver()[0] != "glibc":
        pytest.skip("needs a C compiler and glibc")
    preload = tmp_path_factory.mktemp("preload") / "no_memory.so"
    source = str(HERE / "no_memory.c")
    flags = ["-shared", "-fPIC", "-O1", "-D_GNU_SOURCE"]
    subprocess.run([compiler, *flags, source, "-o", str(preload)], check=True)

    def run(script):
        environment = os.environ | {
            "LD_PRELOAD": str(preload),
            "PYGPU_SIM_THREADS": "3",
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT + script],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0 and done.stderr == "", done.stderr[-2000:]
        return done.stdout

    return run


def test_threads_that_have_no_storage_do_not_help(run_script):
    """Neither a first helper, without the library's storage, nor one without the module's."""
    assert (
        run_script("""
memory.fail_in_threads(1000)
show(f"{run(modules[0])} ")
memory.fail_in_threads(0)
show(f"{run(modules[0])} ")
memory.fail_in_threads(30000)
show(f"{run(modules[1])} ")
""")
        == "True True True "
    )


def test_launch_without_storage_fails_and_the_next_one_runs(run_script):
    said = run_script("""
run(modules[0])
memory.fail_everywhere(30000)
try:
    modules[1].launch("k", 1, 32, out)
except KernelError as error:
    show(f"{error} ")
memory.fail_everywhere(0)
show(f"{run(modules[1])}")
""")
    assert said == "2: no memory for stacks and shared memory True"


LIMITED = """
import resource
from pygpu import MemoryError
from pygpu.cuda import driver

driver.init()
context = driver.Device(0).make_context()
with open("/proc/self/statm") as file:
    now = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + (300 << 20), resource.RLIM_INFINITY))

def fill():
    blocks = []
    try:
        while True:
            blocks.append(driver.mem_alloc(8 << 20))
    except MemoryError:
        return blocks

first = len(fill())  # all freed again, but their addresses are kept for a while
small = driver.mem_alloc(256)
print(first > 20, len(fill()) >= first - 1)
"""


def test_freed_memory_can_be_had_again_under_a_limit_of_addresses():
    done = subprocess.run(
        [sys.executable, "-c", LIMITED],
        env=os.environ | {"PYGPU_CUDA": "simulator"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout == "True True\n", done.stderr[-2000:]
