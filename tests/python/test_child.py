"""Child processes end with the wait for them, and so do those that they have started."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pygpu._src.util import child_process as child

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and process groups of POSIX")
WAITS = "sleep 100 & echo $! > {0}.new; mv {0}.new {0}"


def has_ended(number):
    """Whether a process is gone, or soon; it may stay as a zombie where nobody collects orphans."""
    process = Path("/proc") / number.read_text().strip()
    for _ in range(100):
        if not process.exists() or ") Z" in (process / "stat").read_text():
            return True
        time.sleep(0.05)
    return False


def test_what_it_says():
    done = child.run(["sh", "-c", "echo out; echo error >&2; exit 3"], text=True)
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "error\n")


def test_interrupted(tmp_path):
    number = tmp_path / "number"
    with pytest.raises(KeyboardInterrupt):
        child.run(["sh", "-c", f"{WAITS.format(number)}; kill -INT $PPID; wait"])
    assert has_ended(number)


def test_over_time(tmp_path):
    number = tmp_path / "number"
    with pytest.raises(subprocess.TimeoutExpired) as caught:
        child.run(["sh", "-c", f"echo said; {WAITS.format(number)}; wait"], timeout=1)
    assert caught.value.stdout == b"said\n"
    assert has_ended(number)


def test_missing_program():
    with pytest.raises(FileNotFoundError):
        child.run(["/no/such/program"])


SCRIPT = """
import signal, sys, warnings
warnings.simplefilter("ignore")
seen = []
signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
import pygpu.cuda.autoinit
from pygpu.cuda import compiler
try:
    compiler.SourceModule("__global__ void k(int *a) { *a = 1; }", cache_dir=False)
    print("compiled", len(seen))
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.simulator
@pytest.mark.parametrize(
    ("then", "expected"),
    [
        ("{waits}; kill -INT $PPID; wait", "interrupted"),
        ('kill -USR1 $PPID; sleep 0.3; exec g++ "$@"', "compiled"),
    ],
    ids=["Ctrl-C", "a handler that returns"],
)
def test_compilations_on_the_simulator(tmp_path, then, expected):
    number, wrapper = tmp_path / "number", tmp_path / "cxx"
    then = then.replace("{waits}", WAITS.format(number))
    wrapper.write_text(f'#!/bin/sh\nif [ "$1" = --version ]; then echo 1; exit; fi\n{then}\n')
    wrapper.chmod(0o755)
    environment = os.environ | {
        "PYGPU_CUDA": "simulator",
        "PYGPU_SIM_CXX": str(wrapper),
        "PYGPU_CACHE_DIR": str(tmp_path / "cache"),
        "TMPDIR": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-P", "-c", SCRIPT], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0 and done.stdout.startswith(expected), done
    assert not list(tmp_path.glob("pygpu-sim-*"))
    if expected == "interrupted":
        assert has_ended(number)
    else:
        assert int(done.stdout.split()[1]) > 0
