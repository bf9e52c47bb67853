"""Every driver call of every scenario fails once: an error that names it or none, and no leak.

Everything is usable afterwards. The walk runs in subprocesses, so that a crash or a hang is one
trial's failure and the walk goes on behind it.
"""

from __future__ import annotations

import collections
import concurrent.futures
import sys
from pathlib import Path
from typing import Any

import pytest
from contract.unused_functions import UNUSED

import pygpu

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from scenarios import SCENARIOS  # noqa: E402
from supervise import supervise  # noqa: E402

LIMIT = 60.0
"""Seconds for one trial; what lingers is waited for."""
JOBS = 2

OLDER = "an older twin of a newer function, called only where a driver lacks the newer"
UNREACHED = UNUSED | {
    "clCreateCommandQueue": OLDER,
    "clCreateImage2D": OLDER,
    "clCreateImage3D": OLDER,
    "clCreateSampler": OLDER,
    "clEnqueueBarrier": OLDER,
    "clEnqueueMarker": OLDER,
    "clEnqueueWaitForEvents": OLDER,
    "clGetExtensionFunctionAddress": OLDER,
    "clEnqueueNativeKernel": "called past the traps, where failing would only cost a protection",
}
"""Driver functions that no scenario can reach anywhere, and why."""


def unreachable_here() -> dict[str, str]:
    """Driver functions that pygpu does not call for this device, because it asks what the device
    can do first."""
    device = pygpu.create_some_context(interactive=False).devices[0]
    found = {}
    if not getattr(device, "pipe_support", False):
        found |= dict.fromkeys(("clCreatePipe", "clGetPipeInfo"), "the device has no pipes")
    if not getattr(device, "il_version", ""):
        names = ("clCreateProgramWithIL", "clSetProgramSpecializationConstant")
        found |= dict.fromkeys(names, "the device takes no intermediate language")
    if "cl_amd_copy_buffer_p2p" not in device.extensions:
        found["clEnqueueCopyBufferP2PAMD"] = "the device lacks cl_amd_copy_buffer_p2p"
    if not device.built_in_kernels:
        found["clCreateProgramWithBuiltInKernels"] = "the device has no built-in kernels"
    if "cl_khr_gl_sharing" not in device.extensions:
        found |= {n: "no sharing with OpenGL" for n in pygpu._opencl._functions() if "GL" in n}
    if "Portable Computing Language" in device.platform.name:
        found["clReleaseDevice"] = "PoCL's sub-devices are never freed"
    if not device.svm_capabilities:
        found |= {n: "the device has no SVM" for n in pygpu._opencl._functions() if "SVM" in n}
    if not device.image_support:
        found |= {
            n: "no images" for n in pygpu._opencl._functions() if "Image" in n or "Sampler" in n
        }
    return found


class Walk:
    """One scenario's walk: how often each function was called, what was wrong, how many trials
    were made."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.counts: dict[str, int] = {}
        self.problems: list[str] = []
        self.tried = 0
        start = 0
        for _ in range(20):  # a crash each, at most: more of them say no more
            last = self.stretch(start)
            if last is None:
                return
            start = last + 1
        self.problems.append("too many crashes: the walk was given up")

    def stretch(self, start: int) -> int | None:
        """Walk from trial *start* on; None when all is done, else the trial that crashed or
        hung."""
        ended = supervise("fault_worker.py", [self.name, str(start)], self.take, LIMIT)
        if ended is None:
            return None
        row, how = ended
        self.problems.append(f"{row.get('trial', row['step'])}: {how}")
        return row.get("number")

    def take(self, row: dict[str, Any]) -> None:
        """Note what a line says."""
        if row["step"] == "counts":
            self.counts = row["counts"]
            self.problems += row["problems"]
        elif row["step"] == "try":
            self.tried += 1
        elif row["step"] == "wrong":
            function, code, nth, times = row["trial"]
            repeat = " for ever" if times > 1 else ""
            self.problems += [
                f"{function} call {nth} fails with {code}{repeat}: {w}" for w in row["wrong"]
            ]


@pytest.fixture(scope="module")
def walks(request: pytest.FixtureRequest) -> dict[str, Walk]:
    """The walks of all selected scenarios (all of them where the coverage test is selected), two
    at a time."""
    items = [i for i in request.session.items if i.path.name == Path(__file__).name]
    names = {i.callspec.params["name"] for i in items if hasattr(i, "callspec")}
    if any(i.name == "test_every_driver_function_is_reached" for i in items):
        names = set(SCENARIOS)
    chosen = [n for n in SCENARIOS if n in names]
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        return dict(zip(chosen, pool.map(Walk, chosen)))


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", SCENARIOS)
def test_each_call_fails_once(name: str, walks: dict[str, Walk]) -> None:
    walk = walks[name]
    counted = collections.Counter(walk.problems)
    text = "\n".join(f"{n} x {p}" if n > 1 else p for p, n in counted.items())
    assert not walk.problems, f"{len(walk.problems)} of {walk.tried} trials:\n{text}"
    assert walk.tried > 0 or not walk.counts, "nothing was tried"


@pytest.mark.timeout(1200)
def test_every_driver_function_is_reached(walks: dict[str, Walk]) -> None:
    reached = {function for walk in walks.values() for function in walk.counts}
    known = set(pygpu._opencl._functions())
    missing = known - reached - set(UNREACHED) - set(unreachable_here())
    assert not missing, f"no scenario calls {sorted(missing)}"
    stale = set(UNREACHED) - known
    assert not stale, f"not in cl.fn: {sorted(stale)}"
    needless = set(UNREACHED) & reached
    assert not needless, f"reached after all: {sorted(needless)}"
