"""Calls from many threads at once, under the sanitizers: threads.c, with stand-ins for kernels."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from simulator.sim_driver import ROOT

HERE = Path(__file__).parent
FLAGS = "-std=c11 -D_GNU_SOURCE -O1 -g -fno-omit-frame-pointer"


def driver_half():
    """The files of the driver but NVRTC, and those of the device but its modules."""
    folder = ROOT / "src/simulator"
    files = [folder / "symbols.c", *folder.glob("driver/*.c"), *folder.glob("device/*.c")]
    return sorted(f for f in files if f.name not in ("nvrtc.c", "module.c"))


@pytest.mark.slow
@pytest.mark.parametrize("deferred", [0, 1], ids=["", "deferred"])
@pytest.mark.parametrize("sanitizer", ["thread", "address,undefined"])
def test_no_races_leaks_or_accesses_out_of_bounds(tmp_path_factory, sanitizer, deferred):
    compiler = shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no gcc or clang")
    program = tmp_path_factory.getbasetemp() / f"threads-{sanitizer.replace(',', '-')}"
    if not program.exists():
        sources = [*driver_half(), HERE / "threads.c", HERE / "threads_stub.c"]
        made = subprocess.run(
            [
                compiler,
                *FLAGS.split(),
                f"-I{ROOT / 'src'}",
                f"-fsanitize={sanitizer}",
                *map(str, sources),
                "-o",
                program,
            ]
            + ["-lpthread", "-ldl", "-lm"],
            capture_output=True,
            text=True,
            check=False,
        )
        if "cannot find" in made.stderr:
            pytest.skip(f"the compiler has no library for -fsanitize={sanitizer}")
        assert made.returncode == 0, made.stderr
    # TSan of older compilers does not know the address layout of newer kernels.
    fixed = ["setarch", "-R"] if sanitizer == "thread" and shutil.which("setarch") else []
    env = os.environ | {"PYGPU_SIM_DEFERRED": str(deferred)}
    env.pop("LD_PRELOAD", None)  # another sanitizer's runtime, that of the tests
    done = subprocess.run(
        [*fixed, str(program)],
        env=env,
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    report = done.stdout + done.stderr
    if "unexpected memory mapping" in report:
        pytest.skip("ThreadSanitizer cannot run on this kernel")
    assert done.returncode == 0 and "WARNING" not in report and "ERROR" not in report, report[:6000]
