"""What CUDA copies, fills and allocations cost the host: pygpu, PyCUDA, CuPy and C.

Each operation is repeated, then everything is waited for. Tables have the time until all are
queued, which for copies that wait is the whole time; "own cost" is the same with a driver that
does nothing (null_cuda.c). Each library runs in a process of its own, which waits for its turn on
a pipe. What is not installed is left out. Copies are checked to have arrived.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import repeat
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import numpy as np
from cuda_launch import compile_c

import common

CASES = {
    "htod64": "to device, 64 B",
    "dtoh64": "to host, 64 B",
    "htod1m": "to device, 1 MiB",
    "dtoh1m": "to host, 1 MiB",
    "async": "to device, 64 B, async",
    "dtod": "within, 64 B, async",
    "memset": "fill, 64 B, async",
    "alloc": "allocate and free 4 KiB",
    "pool": "the same from a pool",
}
TIMES = {"htod1m": 20, "dtoh1m": 20, "alloc": 100}
MIB = 1 << 20

# Text of an operation by case, the names in it, what waits for everything.
Ready = tuple[dict[str, str], dict[str, Any], Callable[[], object]]

DRIVER = {
    "htod64": "htod(p, small)",
    "dtoh64": "dtoh(small, p)",
    "htod1m": "htod(p, large)",
    "dtoh1m": "dtoh(large, p)",
    "async": "htod_async(p, locked, s)",
    "dtod": "dtod(q, p, 64, s)",
    "memset": "memset(q, 0, 16, s)",
    "alloc": "mem_alloc(4096)",
    "pool": "allocate(4096)",
}


def like_pycuda(cuda: Any, pool: Any) -> Ready:
    """PyCUDA's names, which are pygpu's too."""
    cuda.init()
    cuda.Device(0).retain_primary_context().push()
    names = {
        "p": cuda.mem_alloc(MIB),
        "q": cuda.mem_alloc(MIB),
        "s": cuda.Stream(),
        "small": np.ones(16, np.float32),
        "large": np.ones(MIB, np.uint8),
        "locked": cuda.pagelocked_zeros(16, np.float32),
        "htod": cuda.memcpy_htod,
        "dtoh": cuda.memcpy_dtoh,
        "htod_async": cuda.memcpy_htod_async,
        "dtod": cuda.memcpy_dtod_async,
        "memset": cuda.memset_d32_async,
        "mem_alloc": cuda.mem_alloc,
        "allocate": pool().allocate,
    }
    cuda.memcpy_htod(names["p"], names["large"])
    return DRIVER, names, cuda.Context.synchronize


def pygpu_() -> Ready:
    import pygpu.cuda.driver as cuda

    return like_pycuda(cuda, cuda.DeviceMemoryPool)


def pycuda_() -> Ready:
    import pycuda.driver as cuda
    from pycuda.tools import DeviceMemoryPool

    return like_pycuda(cuda, DeviceMemoryPool)


def cupy_() -> Ready:
    import cupy

    stream = cupy.cuda.Stream(non_blocking=False)
    device, locked = cupy.ones(MIB, np.uint8), cupy.cuda.alloc_pinned_memory(64)
    part = device[:64].view(np.float32)
    names = {
        "part": part,
        "other": cupy.ones(16, np.float32),
        "device": device,
        "small": np.ones(16, np.float32),
        "large": np.ones(MIB, np.uint8),
        "locked": np.frombuffer(locked, np.float32, 16),
        "s": stream,
        "Memory": cupy.cuda.Memory,
        "alloc": cupy.cuda.alloc,
        "held": [part.data, cupy.ones(16, np.float32)],
    }
    texts = {
        "htod64": "part.set(small)",
        "dtoh64": "part.get(out=small)",
        "htod1m": "device.set(large)",
        "dtoh1m": "device.get(out=large)",
        "async": "part.set(locked, s)",
        "dtod": "other.data.copy_from_device_async(part.data, 64, s)",
        "memset": "other.data.memset_async(0, 64, s)",
        "alloc": "Memory(4096)",
        "pool": "alloc(4096)",
    }
    return texts, names, cupy.cuda.Device().synchronize


LIBRARIES: dict[str, Callable[[], Ready]] = {"pygpu": pygpu_, "PyCUDA": pycuda_, "CuPy": cupy_}


def worker(name: str) -> None:
    """Answers "CASE TIMES" with what cuda_memory.c answers; "-" if the library is not there."""
    try:
        texts, names, synchronize = LIBRARIES[name]()
    except Exception as error:
        print(f"{name}: {type(error).__name__}: {error}".splitlines()[0], file=sys.stderr)
        return
    loops: dict[str, Callable[..., int]] = {}
    for case, text in texts.items():
        space: dict[str, Any] = {"repeat": repeat, "clock": perf_counter_ns}
        exec(
            f"def loop(times, {', '.join(names)}):\n    begin = clock()\n"
            f"    for _ in repeat(None, times):\n        {text}\n    return clock() - begin\n",
            space,
        )
        loops[case] = space["loop"]
    for line in sys.stdin:
        case, times = line.split()[0], int(line.split()[1])
        names["small"][...] = names["large"][...] = 1
        synchronize()
        begin = perf_counter_ns()
        queued = loops[case](times, **names)
        synchronize()
        done = perf_counter_ns() - begin
        arrived = bool((names["small"] == 1).all() or case == "dtoh64")
        print(queued / times, done / times, int(arrived), 1, flush=True)


class Process:
    """A worker or the C program; ask() gives None for what it does not have."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        pipe, around = subprocess.PIPE, os.environ | environment
        self._pipe = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=around)

    def ask(self, case: str, times: int) -> float | None:
        assert self._pipe.stdin and self._pipe.stdout
        try:
            self._pipe.stdin.write(f"{case} {times}\n")
            self._pipe.stdin.flush()
            words = self._pipe.stdout.readline().split()
        except BrokenPipeError:
            return None
        if len(words) != 4:
            return None
        if words[2] != "1":
            raise SystemExit(f"bytes were lost: {case}")
        return float(words[0])


def driver() -> str:
    """The library that pygpu loads."""
    code = "import pygpu.cuda.driver as c; from pygpu import _cuda; c.init(); "
    code += "print(_cuda._library()); print(c.Device(0).name())"
    around = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=around)
    if done.returncode:
        raise SystemExit("no CUDA driver, and no simulator")
    library, device = done.stdout.splitlines()
    print(f"{device}; {library}")
    return library


def rounds(null: bool, options: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Least ns by library and case."""
    around = {"PYTHONPATH": os.pathsep.join(sys.path)}
    if null:
        library = str(compile_c("null_cuda", "-shared", "-fPIC"))
        around["PYGPU_CUDA_LIBRARY"] = library
        names = ["pygpu"]
    else:
        library, names = driver(), list(LIBRARIES)
    processes = {"C": Process([str(compile_c("cuda_memory")), library], {})}
    for name in names:
        processes[name] = Process([sys.executable, __file__, "--worker", name], around)
    best: dict[str, dict[str, float]] = {}
    for number in range(options.repeats + 1):  # the first is not counted
        for case in CASES:
            for name, process in processes.items():
                took = process.ask(case, TIMES.get(case, 500))
                if took is not None and number:
                    known = best.setdefault(name, {})
                    known[case] = min(took, known.get(case, took))
    return best


def show(title: str, best: dict[str, dict[str, float]]) -> None:
    rows = [
        [text, *(f"{times[case]:.0f}" if case in times else "" for times in best.values())]
        for case, text in CASES.items()
    ]
    common.table(f"{title}, ns each: least", ["", *best], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--repeats", type=int, default=30, help="rounds (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="few rounds")
    parser.add_argument("--json", help="write the figures to this file too")
    parser.add_argument("--worker", help="used by the script itself")
    options = parser.parse_args()
    if options.worker:
        worker(options.worker)
        return
    if options.quick:
        options.repeats = 3
    real, own = rounds(False, options), rounds(True, options)
    show("The driver: time to queue", real)
    show("Own cost: the driver does nothing", own)
    if options.json:
        Path(options.json).write_text(json.dumps({"driver": real, "own": own}, indent=1))


if __name__ == "__main__":
    sys.exit(main())
