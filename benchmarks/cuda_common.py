"""What the CUDA benchmarks share: which driver, processes that take turns, tables.

Each library runs in a process of its own, which waits on a pipe for its turn; a C program answers
the same questions. A library that is not installed, or has nothing for a case, is left out and
named under the table. With no NVIDIA GPU only what pygpu itself costs is measured, with a driver
that does nothing (null_cuda.c); PYGPU_CUDA=simulator measures the CPU simulator all the same.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import common

Best = dict[str, dict[str, float]]  # library -> case -> least ns

PACKAGES = {
    "pygpu": ("pygpu",),
    "PyCUDA": ("pycuda",),
    "CuPy": ("cupy", "cupy-cuda13x", "cupy-cuda12x", "cupy-cuda11x"),
    "cuda.core": ("cuda-core",),
    "numba-cuda": ("numba-cuda",),
}
NULL = ["--null"]


class Driver(NamedTuple):
    """A CUDA driver and a compiler, as files; the environment in which libraries see them."""

    library: str
    nvrtc: str
    architecture: str  # such as sm_90
    environment: dict[str, str]
    is_null: bool = False
    is_simulator: bool = False


def null_driver() -> Driver:
    """The driver that does nothing, with the NVRTC that is here, if one is."""
    library = str(common.compile_c("null_cuda.c", "-shared", "-fPIC"))
    around = {"PYGPU_CUDA_LIBRARY": library, "PYTHONPATH": os.pathsep.join(sys.path)}
    return Driver(library, _facts(around).get("nvrtc", ""), "sm_90", around, is_null=True)


def find_driver() -> Driver | None:
    """The driver that pygpu loads, told in a line; None, and a line, if there is no GPU."""
    around = {"PYTHONPATH": os.pathsep.join(sys.path)}
    facts = _facts(around)
    if "device" not in facts:
        print(f"{machine()}; no CUDA driver, only own costs are measured: {facts['error']}")
        return None
    if facts["simulated"] and os.environ.get("PYGPU_CUDA") != "simulator":
        print(f"{machine()}; no NVIDIA GPU, only own costs are measured")
        return None
    print(f"{machine()}; {facts['device']}, CUDA {facts['version']}")
    if facts["simulated"]:
        around["PYGPU_CUDA"] = "simulator"
    nvrtc, architecture, simulated = facts["nvrtc"], facts["architecture"], facts["simulated"]
    return Driver(facts["library"], nvrtc, architecture, around, is_simulator=simulated)


def _facts(around: dict[str, str]) -> dict[str, Any]:
    """What pygpu loads, from a process of its own."""
    code = """
import json, warnings
warnings.simplefilter("ignore")
facts = {}
try:
    import pygpu.cuda.driver as cuda
    from pygpu import _cuda
    from pygpu._src.runtime.cuda import nvrtc
    cuda.init()
    facts = {"library": _cuda._library(), "simulated": _cuda._is_simulator()}
    version = cuda.get_driver_version()
    facts["version"] = f"{version // 1000}.{version % 1000 // 10}"
    device = cuda.Device(0)
    facts["device"] = device.name()
    facts["architecture"] = "sm_{}{}".format(*device.compute_capability())
    facts["nvrtc"] = facts["library"] if facts["simulated"] else ""
    nvrtc.load()
    facts["nvrtc"] = _cuda._nvrtc_library() or facts["nvrtc"]
except Exception as error:
    facts["error"] = f"{type(error).__name__}: {error}".splitlines()[0]
print(json.dumps(facts))
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=os.environ | around)
    if done.returncode:
        return {"error": f"exit status {done.returncode}"}
    return json.loads(done.stdout.splitlines()[-1])


def machine() -> str:
    """One line that says what the figures were taken on, in general terms."""
    parts = [f"{os.cpu_count()} cores {platform.machine()}", f"Python {platform.python_version()}"]
    for name, packages in {"NumPy": ("numpy",), **PACKAGES}.items():
        for package in packages:
            try:
                parts.append(f"{name} {importlib.metadata.version(package)}")
                break
            except importlib.metadata.PackageNotFoundError:
                continue
        else:
            parts += ["pygpu from the checkout"] if name == "pygpu" else []
    return ", ".join(parts)


# ---- turns ---------------------------------------------------------------------------------------


class Process:
    """A worker or a C program that answers questions, one line each."""

    def __init__(self, command: Sequence[str], environment: dict[str, str]) -> None:
        pipe, around = subprocess.PIPE, os.environ | environment
        self.reasons: dict[str, str] = {}  # why there is no answer, by case
        self._pipe = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=around)

    def ask(self, case: str, *words: object) -> list[float] | None:
        """The numbers of the answer; None, and a reason, if it has none."""
        if case in self.reasons or "" in self.reasons:
            return None
        assert self._pipe.stdin and self._pipe.stdout
        try:
            self._pipe.stdin.write(" ".join(map(str, (case, *words))) + "\n")
            self._pipe.stdin.flush()
            answer = self._pipe.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            self.reasons[""] = "stopped"
        elif answer.startswith("-"):
            self.reasons[case] = answer[1:].strip()
        else:
            return [float(word) for word in answer.split()]
        return None

    def close(self) -> None:
        assert self._pipe.stdin
        self._pipe.stdin.close()
        self._pipe.wait()


def answer(questions: Iterable[str], reply: Callable[..., Sequence[float]]) -> None:
    """A worker's loop: answers each line with what reply(*words) returns or why it cannot."""
    for line in questions:
        try:
            print(*reply(*line.split()), flush=True)
        except Exception as error:
            text = f"{type(error).__name__}: {error}".splitlines()[0]
            missing = isinstance(error, ImportError) and "No module named" in text
            print("-", common.NOT_INSTALLED if missing else text, flush=True)


def start(
    script: str, driver: Driver, libraries: Iterable[str], program: str, *arguments: str
) -> dict[str, Process]:
    """The C program, told the driver and *arguments*, and a worker of *script* for each library."""
    processes = {
        "C": Process([str(common.compile_c(program)), driver.library, *arguments], {}),
    }
    for name in libraries:
        command = [sys.executable, script, "--worker", name, *(NULL if driver.is_null else [])]
        processes[name] = Process(command, driver.environment)
    return processes


def least(
    processes: dict[str, Process],
    cases: Iterable[str],
    repeats: int,
    measure: Callable[[Process, str, str], float | None],
) -> Best:
    """Asks every process every case in turns; the first round is not counted."""
    best: Best = {}
    for number in range(repeats + 1):
        for case in cases:
            for name, process in processes.items():
                took = measure(process, name, case)
                if took is not None and number:
                    known = best.setdefault(name, {})
                    known[case] = min(took, known.get(case, took))
    for process in processes.values():
        process.close()
    return best


# ---- tables --------------------------------------------------------------------------------------


def show_times(
    title: str, best: Best, cases: dict[str, str], unit: tuple[str, float] = ("ns", 1.0)
) -> None:
    """Least times, a row for each case and a column for each library; then their ratios to C's."""
    name, scale = unit
    rows = [
        [text, *(common.number(times.get(case), scale) for times in best.values())]
        for case, text in cases.items()
    ]
    common.table(f"{title}, {name}: least", ["", *best], rows)


def show_ratios(title: str, best: Best, cases: dict[str, str], base: str = "C") -> None:
    """Each library's times over those of *base*."""
    others = {name: times for name, times in best.items() if name != base}
    rows = [
        [text, *(common.ratio(t.get(case), best[base].get(case)) for t in others.values())]
        for case, text in cases.items()
        if case in best.get(base, {})
    ]
    common.table(title, ["", *others], rows)


def show_left_out(processes: dict[str, Process], cases: dict[str, str]) -> None:
    """What has no figures, and why."""
    lines = []
    for name, process in processes.items():
        reasons = set(process.reasons.values())
        everything = "" in process.reasons or set(process.reasons) >= set(cases)
        if everything and reasons:
            lines.append(f"{name}: {reasons.pop()}")
        else:
            lines += [f"{name}, {cases[case]}: {why}" for case, why in process.reasons.items()]
    if lines:
        print("\nLeft out: " + "; ".join(lines) + ".")


def show_targets(rows: Iterable[tuple[str, float | None, float]]) -> None:
    """What was to be reached: name, measured, at most."""
    lines = [
        [
            what,
            common.number(value),
            common.number(most),
            "-" if value is None else "yes" if value <= most else "no",
        ]
        for what, value, most in rows
    ]
    common.table("Targets", ["what", "measured", "at most", "reached"], lines)


def arguments(description: str, repeats: int) -> argparse.ArgumentParser:
    parser = common.arguments(description, repeats, device=False)
    parser.add_argument("--json", help="write the figures to this file too")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--null", action="store_true", help=argparse.SUPPRESS)
    return parser
