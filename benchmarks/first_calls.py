"""First runs of whole programs: fresh processes, empty caches; pygpu beside CuPy and PyTorch.

python benchmarks/first_calls.py [--only SYSTEM ...] [--programs WORD ...] [--warm] [--kernels]

The programs are those of programs.py. A time is that of the first run, in milliseconds, once the
context exists and the inputs are on the device; what a first use loads (NVRTC, cuBLAS) counts. For
pygpu the table also has the number of kernels that were compiled, and the sum of the time that this
took, which is longer than the run where several were compiled at once. --warm: a second process
with the caches of the first. --kernels: lists the kernels.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

sys.path += [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]

from programs import PROGRAMS, SYSTEMS, inputs

CHOSEN = ("pygpu CUDA", "pygpu OpenCL", "CuPy", "PyTorch")


def watch() -> list[tuple[str, float]]:
    """The kernels that pygpu compiles from now on, with the seconds that each takes."""
    import re
    from functools import wraps

    from pygpu._src.runtime import backends

    found: list[tuple[str, float]] = []

    def watched(compile_one: Any) -> Any:
        @wraps(compile_one)
        def timed(self: Any, source: str, *args: Any, **options: Any) -> Any:
            start = perf_counter()
            made = compile_one(self, source, *args, **options)
            names = re.findall(r"\nPG_KERNEL void (?:PG_BOUNDS\(.*?\) )?(\w+)", source)
            found.append(("+".join(names) or "?", perf_counter() - start))
            return made

        return timed

    for name in ("cuda", "opencl"):
        try:
            module = __import__(f"{backends.__package__}.{name}.backend", fromlist=["x"])
        except Exception:
            continue
        for value in vars(module).values():
            if isinstance(value, type) and "compile" in vars(value):
                value.compile = watched(value.compile)  # type: ignore[attr-defined]
    return found


def worker(name: str, title: str, quick: bool) -> None:
    """One first run, printed as JSON."""
    xp, put, _, wait = SYSTEMS[name][0]()
    kernels = watch() if name.startswith("pygpu") else []
    program, size, small = PROGRAMS[title]
    n = small if quick else size
    arrays = {key: put(value) for key, value in inputs(title, n).items()}
    wait()
    before = len(kernels)
    start = perf_counter()
    result = program(xp, arrays, n)
    wait()
    first = perf_counter() - start
    del result
    print(json.dumps({"first": first, "kernels": kernels[before:]}))


def run_once(name: str, title: str, quick: bool, caches: str) -> dict[str, Any]:
    folders = ("PYGPU_CACHE_DIR", "CUDA_CACHE_PATH", "CUPY_CACHE_DIR", "POCL_CACHE_DIR")
    environ = {**os.environ, **{key: os.path.join(caches, key) for key in folders}}
    command = [sys.executable, __file__, "--worker", name, "--programs", title]
    command += ["--quick"] if quick else []
    done = subprocess.run(command, capture_output=True, text=True, env=environ)
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        print(f"{name}, {title}: {done.stderr.strip()[-300:]}", file=sys.stderr)
        return {}
    found: dict[str, Any] = json.loads(lines[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="*", default=list(CHOSEN), choices=list(SYSTEMS))
    parser.add_argument("--programs", nargs="*", default=[], help="those whose name has a word")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--warm", action="store_true", help="also with the caches of the first")
    parser.add_argument("--kernels", action="store_true", help="list what was compiled")
    parser.add_argument("--worker", choices=list(SYSTEMS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    words = options.programs
    chosen = [p for p in PROGRAMS if not words or any(w in p for w in words)]
    if options.worker:
        worker(options.worker, chosen[0], options.quick)
        return
    print(f"| ms | {' | '.join(options.only)} |\n|---{'|---' * len(options.only)}|")
    for title in chosen:
        cells, lists = [], []
        for name in options.only:
            with TemporaryDirectory() as caches:
                cold = run_once(name, title, options.quick, caches)
                warm = run_once(name, title, options.quick, caches) if options.warm else {}
            text = f"{cold['first'] * 1e3:.0f}" if cold else ""
            text += f", warm {warm['first'] * 1e3:.0f}" if warm else ""
            if cold.get("kernels"):
                spent = sum(seconds for _, seconds in cold["kernels"])
                text += f" ({len(cold['kernels'])} kernels, {spent * 1e3:.0f})"
                lists += [f"    {name}: {k} {seconds * 1e3:.0f}" for k, seconds in cold["kernels"]]
            cells.append(text)
        print(f"| {title} | {' | '.join(cells)} |", flush=True)
        if options.kernels:
            print("\n".join(lists))


if __name__ == "__main__":
    main()
