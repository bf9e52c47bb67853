"""What importing costs: fresh interpreters, pygpu beside NumPy and pyopencl.

python benchmarks/import.py [--repeats R] [--quick]

Each figure is the wall time of a whole interpreter, least of R, taken in turns. "first device":
from the start of the interpreter until a context and a queue exist, which loads the driver.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from time import perf_counter_ns

import common

OPEN = (
    "import {0} as cl; context = cl.Context([cl.get_platforms()[0].get_devices()[0]]); "
    "cl.CommandQueue(context)"
)
CASES = {
    "nothing": "pass",
    "import numpy": "import numpy",
    "import pygpu": "import pygpu",
    "import pygpu.cuda.driver": "import pygpu.cuda.driver",
    "import pygpu.array": "import pygpu.array",
    "import pyopencl": "import pyopencl",
    "pygpu, first device": OPEN.format("pygpu"),
    "pyopencl, first device": OPEN.format("pyopencl"),
}
MOST = 10.0  # ms more than NumPy
MOST_CUDA = 5.0  # ms of pygpu.cuda.driver more than pygpu


def environment() -> dict[str, str]:
    """This process's, with the checkout on the path if pygpu is not installed."""
    outside = dict(os.environ, OPENBLAS_NUM_THREADS="1")
    if not imports("import pygpu.errors", outside):
        outside["PYTHONPATH"] = os.pathsep.join(
            filter(None, [outside.get("PYTHONPATH"), str(common.HERE.parent)])
        )
    return outside


def imports(code: str, outside: dict[str, str]) -> bool:
    command = [sys.executable, "-c", code]
    return not subprocess.run(
        command, env=outside, cwd=tempfile.gettempdir(), capture_output=True
    ).returncode


def installed(code: str, outside: dict[str, str]) -> bool:
    """Whether the library of this code is there and not just a folder of its name."""
    library = next((name for name in common.LIBRARIES if name in code), "json")
    return imports(f"import {library}; assert {library}.__file__; {code}", outside)


def interpreter(code: str, outside: dict[str, str]) -> Callable[[], float]:
    command = [sys.executable, "-c", code]

    def measure() -> float:
        begin = perf_counter_ns()
        subprocess.run(command, env=outside, cwd=tempfile.gettempdir(), check=True)
        return perf_counter_ns() - begin

    return measure


def modules(code: str, outside: dict[str, str]) -> int:
    """How many modules are loaded after it."""
    command = [sys.executable, "-c", f"{code}; import sys; print(len(sys.modules))"]
    done = subprocess.run(
        command, env=outside, cwd=tempfile.gettempdir(), capture_output=True, text=True
    )
    return int(done.stdout.split()[-1])


def main() -> None:
    options = common.arguments(str(__doc__).splitlines()[0], repeats=20, device=False).parse_args()
    outside = environment()
    there = {name: code for name, code in CASES.items() if installed(code, outside)}
    cases = {name: interpreter(code, outside) for name, code in there.items()}
    series = common.rounds(cases, 3 if options.quick else options.repeats)
    bare, with_numpy = common.best(series, "nothing"), common.best(series, "import numpy")
    rows = []
    for name in CASES:
        least = common.best(series, name)
        if least is None:
            rows.append([name, common.NOT_INSTALLED, "-", "-", "-", "-"])
            continue
        rows.append(
            [
                name,
                common.number(least, 1e6),
                common.number(common.median(series, name), 1e6),
                common.number(least - (bare or 0), 1e6),
                common.number(least - with_numpy, 1e6) if with_numpy and name != "nothing" else "-",
                str(modules(CASES[name], outside)),
            ]
        )
    print(f"{common.machine()}; fresh interpreters, {len(series['nothing'])} rounds")
    header = ["", "least, ms", "median, ms", "over nothing, ms", "over NumPy, ms", "modules"]
    common.table("Import", header, rows)
    goals = [("import pygpu", "NumPy", with_numpy, MOST)]
    ours = common.best(series, "import pygpu")
    goals.append(("import pygpu.cuda.driver", "pygpu", ours, MOST_CUDA))
    print()
    for name, base, floor, most in goals:
        took = common.best(series, name)
        if took is not None and floor is not None:
            more = (took - floor) / 1e6
            reached = "reached" if more <= most else "NOT reached"
            what = f"{name}: at most {most:.0f} ms over {base}"
            print(f"Target, {what}. Measured: {more:.1f} ms, {reached}.")


if __name__ == "__main__":
    sys.exit(main())
