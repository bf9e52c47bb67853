"""First calls of array operations on complex numbers by OpenCL, beside PyOpenCL: fresh processes
with empty caches.

python benchmarks/cold_pocl.py [--each] [--rounds N] [--pyopencl PYTHON]

The program is one that PyOpenCL's users write: arithmetic of arrays, of arrays and numbers, and of
complex and real arrays, functions, sums and products, copies, comparisons, for complex64 and
complex128. An operation that one library does not have does not count. The table has the sums over
the operations of the processor time of the process and its children, and of wall time, with the
ratio of pygpu's to PyOpenCL's, and the number of programs that were built. --each has a line for
each operation. Systems take turns, N times, and the least sum counts. --pyopencl: the interpreter
that has PyOpenCL, if another one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

ROOT = str(Path(__file__).resolve().parents[1])


def operations(np: Any, arrays: Any, math: Any, queue: Any, dtype: Any) -> dict[str, Any]:
    """Functions without parameters, by name. All inputs are on the device."""
    random = np.random.default_rng(1)
    real = np.empty(0, dtype).real.dtype
    host = (random.normal(size=200) + 1j * random.normal(size=200)).astype(dtype)
    a, b = arrays.to_device(queue, host), arrays.to_device(queue, host[::-1].copy())
    x = arrays.to_device(queue, random.normal(size=200).astype(real))
    index = arrays.to_device(queue, np.arange(10, dtype=np.int32))
    found: dict[str, Callable[[], Any]] = {
        "a + b": lambda: a + b,
        "a - b": lambda: a - b,
        "a * b": lambda: a * b,
        "a / b": lambda: a / b,
        "a + 3": lambda: a + 3,
        "3 - a": lambda: 3 - a,
        "a * (2+1j)": lambda: a * (2 + 1j),
        "2 / a": lambda: 2 / a,
        "a * x": lambda: a * x,
        "x + a": lambda: x + a,
        "a / x": lambda: a / x,
        "x / a": lambda: x / a,
        "-a": lambda: -a,
        "abs": lambda: abs(a),
        "conj": lambda: a.conj(),
        "real": lambda: a.real,
        "imag": lambda: a.imag,
        "a ** 2": lambda: a**2,
        "a ** b": lambda: a**b,
        "sum": lambda: arrays.sum(a).get(),
        "dot": lambda: arrays.dot(a, b).get(),
        "vdot": lambda: arrays.vdot(a, b).get(),
        "astype": lambda: x.astype(dtype),
        "fill": lambda: a.copy().fill(1),
        "zeros": lambda: arrays.zeros(queue, 100, dtype),
        "==": lambda: a == b,
        "!=": lambda: a != b,
        "take": lambda: arrays.take(a, index),
        "if_positive": lambda: arrays.if_positive(x, a, b),
        "cumsum": lambda: arrays.cumsum(a),
        "mul_add": lambda: a.mul_add(2, b, 3),
        "concatenate": lambda: arrays.concatenate((a, b)),
    }
    for name in ("exp", "log", "sqrt", "sin", "cos", "sinh", "cosh", "tanh"):
        found[name] = lambda name=name: getattr(math, name)(a)
    return {f"{np.dtype(dtype).name} {name}": function for name, function in found.items()}


def worker(system: str) -> None:
    """The times of all operations, printed as JSON."""
    import numpy as np

    if system == "pygpu":
        sys.path.insert(0, ROOT)
    cl: Any = __import__(system)
    arrays: Any = __import__(f"{system}.array", fromlist=["x"])
    math: Any = __import__(f"{system}.clmath", fromlist=["x"])
    queue = cl.CommandQueue(cl.create_some_context(interactive=False))
    times: dict[str, tuple[float, float]] = {}
    built = [0]
    original = cl.Program.build
    if system == "pyopencl":  # pygpu's builds are counted by its driver calls

        def build(self: Any, *args: Any, **options: Any) -> Any:
            built[0] += 1
            return original(self, *args, **options)

        cl.Program.build = build
    else:
        cl._opencl._call_counts(True)
    for dtype in (np.complex64, np.complex128):
        for name, operation in operations(np, arrays, math, queue, dtype).items():
            spent, start = sum(os.times()[:4]), perf_counter()
            try:
                operation()
                queue.finish()
            except Exception:
                continue
            times[name] = sum(os.times()[:4]) - spent, perf_counter() - start
    if system == "pygpu":
        calls = cl._opencl._call_counts(False)
        built[0] = calls.get("clCreateProgramWithSource", 0)
    print(json.dumps({"times": times, "programs": built[0]}))


def run_once(system: str, python: str) -> dict[str, Any]:
    with TemporaryDirectory() as caches:
        folders = {name: caches for name in ("XDG_CACHE_HOME", "POCL_CACHE_DIR")}
        environ = {**os.environ, **folders, "PYGPU_CACHE_DIR": os.path.join(caches, "pygpu")}
        command = [python, __file__, "--worker", system]
        done = subprocess.run(command, env=environ, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{system}: {done.stderr.strip()[-500:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--each", action="store_true", help="a line for each operation")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--pyopencl", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--worker", choices=("pygpu", "pyopencl"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker(options.worker)
        return
    pythons = {"pygpu": sys.executable, "pyopencl": options.pyopencl}
    runs: dict[str, list[dict[str, Any]]] = {system: [] for system in pythons}
    for _ in range(options.rounds):
        for system, python in pythons.items():
            runs[system].append(run_once(system, python))
    every = [run["times"] for one in runs.values() for run in one]
    common = [name for name in every[0] if all(name in times for times in every)]
    print(f"{len(common)} operations\n\n| seconds | pygpu | PyOpenCL | ratio |\n|---|---|---|---|")
    for place, title in enumerate(("processor time", "wall time")):
        ours, theirs = (
            min(sum(run["times"][name][place] for name in common) for run in runs[system])
            for system in pythons
        )
        print(f"| {title} | {ours:.2f} | {theirs:.2f} | {ours / theirs:.2f} |")
    counts = [runs[system][0]["programs"] for system in pythons]
    print(f"| programs | {counts[0]} | {counts[1]} | {counts[0] / counts[1]:.2f} |")
    if options.each:
        for name in common:
            ours, theirs = (
                min(run["times"][name][0] for run in runs[system]) for system in pythons
            )
            print(f"    {name:24} {ours * 1e3:6.0f} {theirs * 1e3:6.0f} ms")


if __name__ == "__main__":
    main()
