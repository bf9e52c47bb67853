"""Every CUDA driver call of every scenario fails once: an error that names it or none, no leak."""

from __future__ import annotations

import collections
import concurrent.futures
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import pygpu.cuda.driver as cuda
from pygpu import _cuda

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from cuda_scenarios import SCENARIOS  # noqa: E402
from supervise import supervise  # noqa: E402

LIMIT = 60.0

JOBS = int(os.environ.get("PYGPU_TEST_JOBS", "2"))

UNREACHED = {
    "cuDriverGetVersion": "called past the traps, to decide which functions there are",
    "cuInit": "called once, before any scenario: test_the_first_call_fails",
    "cuGetErrorString": "called past the traps, for the message of a call that failed",
}
"""Functions of cuda.fn and nvrtc.fn that no scenario can reach anywhere, and why."""


def unreachable_here() -> dict[str, str]:
    """Those that no scenario can reach on this device."""
    device, found = cuda.Device(0), {}
    if device.name().startswith("CPU simulator"):
        found["cuIpcCloseMemHandle"] = "the simulator's memory cannot be opened by other processes"
    if cuda.Device.count() < 2 and not _cuda._is_simulator():  # which shows two
        names = ("cuCtxEnablePeerAccess", "cuCtxDisablePeerAccess", "cuDeviceGetP2PAttribute")
        found |= dict.fromkeys(names, "one device")
    if cuda.get_driver_version() < 12040:
        found["cuFuncGetParamInfo"] = "the driver is older than it"
    return found


class Walk:
    """One scenario's walk: how often each function was called, and what was wrong."""

    def __init__(self, name: str, *options: str) -> None:
        self.counts: dict[str, int] = {}
        self.problems: list[str] = []
        self.tried = 0
        start = 0
        for _ in range(20):  # a crash each, at most
            arguments = [name, str(start), *options]
            ended = supervise("cuda_fault_worker.py", arguments, self.take, LIMIT)
            if ended is None:
                return
            row, how = ended
            self.problems.append(f"{row.get('trial', row['step'])}: {how}")
            if row.get("number") is None:
                return
            start = row["number"] + 1
        self.problems.append("too many crashes: the walk was given up")

    def take(self, row: dict[str, Any]) -> None:
        """Note what a line says."""
        if row["step"] == "counts":
            self.counts = row["counts"]
            self.problems += row["problems"]
        elif row["step"] == "try":
            self.tried += 1
        elif row["step"] == "wrong":
            function, code, nth, _ = row["trial"]
            self.problems += [f"{function} call {nth} fails with {code}: {w}" for w in row["wrong"]]


class Walks:
    """The walks of scenarios, each made once, JOBS at a time. Of a run by several processes (xdist)
    each walks only what it tests."""

    def __init__(self, selected: list[str]) -> None:
        self.made: dict[str, Walk] = {}
        self.selected = [] if "PYTEST_XDIST_WORKER" in os.environ else selected

    def make(self, names: list[str], *options: str) -> dict[str, Walk]:
        def walk(name: str) -> Walk:
            start = time.monotonic()
            made = Walk(name, *options)
            spent = time.monotonic() - start
            print(f"{spent:6.1f} s  {name}, {made.tried} trials", file=sys.stderr, flush=True)
            return made

        missing = [name for name in names if name not in self.made]
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            return dict(zip(missing, pool.map(walk, missing)))

    def __getitem__(self, name: str) -> Walk:
        self.made |= self.make(self.selected or [name])
        return self.made[name]

    def counted(self) -> set[str]:
        """The functions that any scenario calls."""
        self.made |= self.make(self.selected)
        found = self.make(list(SCENARIOS), "count") | self.made
        return {function for walk in found.values() for function in walk.counts}


@pytest.fixture(scope="module")
def walks(request: pytest.FixtureRequest) -> Walks:
    try:
        _cuda.init()
    except Exception as error:
        if sys.platform.startswith("linux"):
            raise  # the simulator is built there: that it does not load is a defect
        pytest.skip(f"no CUDA driver, and no simulator: {str(error).splitlines()[0]}")
    patch = pytest.MonkeyPatch()
    patch.setenv("PYGPU_SIM_DEVICES", "2")  # a real driver has as many as it has
    request.addfinalizer(patch.undo)
    items = [i for i in request.session.items if i.path.name == Path(__file__).name]
    names = {i.callspec.params["name"] for i in items if hasattr(i, "callspec")}
    return Walks([name for name in SCENARIOS if name in names])


@pytest.mark.timeout(1200)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SCENARIOS)
def test_each_call_fails_once(name: str, walks: Walks) -> None:
    walk = walks[name]
    counted = collections.Counter(walk.problems)
    text = "\n".join(f"{n} x {p}" if n > 1 else p for p, n in counted.items())
    assert not walk.problems, f"{len(walk.problems)} of {walk.tried} trials:\n{text}"
    assert walk.tried > 0


FIRST_CALL = """
import pygpu.cuda.driver as cuda
from pygpu import _cuda

_cuda._fault("cuInit", 2, times=5)
try:
    cuda.init()
except cuda.Error as error:
    assert "cuInit failed" in str(error) or "cuInit: " in str(error), error
else:
    raise SystemExit("no error")
_cuda._fault(None, 0)
cuda.init()
print(cuda.Device.count())
"""


def test_the_first_call_fails() -> None:
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FIRST_CALL],
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout) > 0


@pytest.mark.timeout(1200)
@pytest.mark.filterwarnings("ignore")
def test_every_function_is_reached(walks: Walks) -> None:
    reached = walks.counted()
    known = set(_cuda._functions())
    missing = known - reached - set(UNREACHED) - set(unreachable_here())
    assert not missing, f"no scenario calls {sorted(missing)}"
    stale = set(UNREACHED) - known
    assert not stale, f"not in cuda.fn or nvrtc.fn: {sorted(stale)}"
    needless = (set(UNREACHED) | set(unreachable_here())) & reached
    assert not needless, f"reached after all: {sorted(needless)}"
