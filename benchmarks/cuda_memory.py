"""What CUDA copies, fills and allocations cost the host: pygpu, PyCUDA, CuPy and others, and C.

python benchmarks/cuda_memory.py [--repeats R] [--quick] [--json FILE]

Each operation is repeated, then everything is waited for. Tables have the time until all are
queued, which for copies that wait is the whole time; "own cost" is the same with a driver that
does nothing (null_cuda.c). Copies are checked to have arrived.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from itertools import repeat
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import cuda_common
import numpy as np

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


def cuda_core_() -> Ready:
    from cuda.core import Device, LegacyPinnedMemoryResource

    device = Device()
    device.set_current()
    stream, pinned = device.create_stream(), LegacyPinnedMemoryResource()
    locked = pinned.allocate(64)
    names = {
        "part": device.allocate(64, stream=stream),
        "other": device.allocate(64, stream=stream),
        "locked": locked,
        "s": stream,
        "allocate": device.memory_resource.allocate,
        "small": np.from_dlpack(locked).view(np.float32),
        "large": np.ones(MIB, np.uint8),
    }
    names["small"][...] = 1
    device.sync()
    texts = {
        "async": "locked.copy_to(part, stream=s)",
        "dtod": "part.copy_to(other, stream=s)",
        "memset": "other.fill(0, stream=s)",
        "pool": "allocate(4096, stream=s)",
    }
    return texts, names, device.sync


def numba_() -> Ready:
    from numba import cuda

    stream = cuda.stream()
    names = {
        "part": cuda.to_device(np.ones(16, np.float32)),
        "other": cuda.to_device(np.ones(16, np.float32)),
        "device": cuda.to_device(np.ones(MIB, np.uint8)),
        "small": np.ones(16, np.float32),
        "large": np.ones(MIB, np.uint8),
        "locked": cuda.pinned_array(16, np.float32),
        "s": stream,
        "device_array": cuda.device_array,
        "uint8": np.uint8,
    }
    texts = {
        "htod64": "part.copy_to_device(small)",
        "dtoh64": "part.copy_to_host(small)",
        "htod1m": "device.copy_to_device(large)",
        "dtoh1m": "device.copy_to_host(large)",
        "async": "part.copy_to_device(locked, stream=s)",
        "dtod": "other.copy_to_device(part, stream=s)",
        "alloc": "device_array(4096, uint8)",
    }
    return texts, names, cuda.synchronize


LIBRARIES: dict[str, Callable[[], Ready]] = {
    "pygpu": pygpu_,
    "PyCUDA": pycuda_,
    "CuPy": cupy_,
    "cuda.core": cuda_core_,
    "numba-cuda": numba_,
}


def worker(name: str) -> None:
    """Answers "CASE TIMES" with what cuda_memory.c answers."""
    ready: list[Ready] = []
    loops: dict[str, Callable[..., int]] = {}

    def reply(case: str, word: str) -> Sequence[float]:
        if not ready:
            ready.append(LIBRARIES[name]())
        texts, names, synchronize = ready[0]
        if case not in texts:
            raise LookupError("the library has none")
        if case not in loops:
            space: dict[str, Any] = {"repeat": repeat, "clock": perf_counter_ns}
            exec(
                f"def loop(times, {', '.join(names)}):\n    begin = clock()\n"
                f"    for _ in repeat(None, times):\n        {texts[case]}\n"
                "    return clock() - begin\n",
                space,
            )
            loops[case] = space["loop"]
        times = int(word)
        names["small"][...] = names["large"][...] = 1
        synchronize()
        begin = perf_counter_ns()
        queued = loops[case](times, **names)
        synchronize()
        done = perf_counter_ns() - begin
        arrived = bool((names["small"] == 1).all() or case == "dtoh64")
        return queued / times, done / times, int(arrived), 1

    cuda_common.answer(sys.stdin, reply)


def measure(driver: cuda_common.Driver, options: argparse.Namespace) -> cuda_common.Best:
    """Least ns by library and case."""

    def ask(process: cuda_common.Process, name: str, case: str) -> float | None:
        answer = process.ask(case, TIMES.get(case, 500))
        if answer is not None and answer[2] != 1:
            raise SystemExit(f"bytes were lost: {name}, {case}")
        return answer[0] if answer else None

    names = ["pygpu"] if driver.is_null else list(LIBRARIES)
    processes = cuda_common.start(__file__, driver, names, "cuda_memory.c")
    best = cuda_common.least(processes, CASES, options.repeats, ask)
    cuda_common.show_times(
        "Own cost: the driver does nothing" if driver.is_null else "Time to queue", best, CASES
    )
    if not driver.is_null:
        cuda_common.show_ratios("Over C", best, CASES)
    cuda_common.show_left_out(processes, CASES)
    return best


def main() -> None:
    options = cuda_common.arguments(str(__doc__).splitlines()[0], repeats=30).parse_args()
    if options.worker:
        worker(options.worker)
        return
    if options.quick:
        options.repeats = 3
    driver = cuda_common.find_driver()
    real = measure(driver, options) if driver else {}
    own = measure(cuda_common.null_driver(), options)
    pool = (real or own)["pygpu"]["pool"]
    cuda_common.show_targets([("allocation and release of a pool, ns", pool, 150)])
    if options.json:
        Path(options.json).write_text(json.dumps({"driver": real, "own": own}, indent=1))


if __name__ == "__main__":
    sys.exit(main())
