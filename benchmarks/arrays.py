"""Operations on arrays: pygpu on CUDA and OpenCL beside CuPy, PyTorch, PyCUDA, PyOpenCL and NumPy.

python benchmarks/arrays.py [--size N] [--seconds S] [--only SYSTEM ...] [--json FILE] [--quick]
    [--platform P] [--device D]

For large arrays the useful bytes of an operation (what a user sees read and written) are divided
by its time, and by the rate of a copy on the device in the same run, which counts a byte read and a
byte written. For arrays of 16 items the time of a call is printed, while calls are queued one after
the other; making, viewing and transferring arrays is timed for these alone. Systems that are not
installed, and operations that they do not have, are left out with a line.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import programs

import common

SMALL = 16
# operation: useful bytes for each item of float32
BYTES = {
    "copy": 8,
    "a + b": 12,
    "2*a + b": 12,
    "2*a + b fused": 12,
    "exp(a)": 8,
    "where(c, a, b)": 13,
    "rows + column": 8,
    "sum": 4,
    "max": 4,
    "argmax": 4,
    "var": 4,
    "dot": 8,
    "sum, axis 0": 4,
    "sum, axis 1": 4,
    "cumsum": 8,
    "transposed copy": 8,
    "a[a > .5]": 6,
    "sort": 8,
    "argsort": 12,
    "uniform random": 4,
}

# timed for small arrays alone
MAKING = [
    "to device",
    "to host",
    "set",
    "empty",
    "empty like",
    "zeros",
    "fill",
    "a[1:-1]",
    "a[3]",
    "reshape",
    "transposed",
]

Operations = dict[str, Callable[[], Any]]
Maker = Callable[[np.ndarray], tuple[Operations, Callable[[], None]]]


def square(n: int) -> tuple[int, int]:
    """A shape of n items, as near to a square as powers of two are."""
    rows = 1 << (n.bit_length() - 1) // 2
    return rows, n // rows


def views(a: Any) -> Operations:
    """Of an array with one axis; they cost the same for any number of items."""
    m = a.reshape(square(a.shape[0]))
    shape = square(a.shape[0])
    return {
        "a[1:-1]": lambda: a[1:-1],
        "a[3]": lambda: a[3],
        "reshape": lambda: a.reshape(shape),
        "transposed": lambda: m.T,
    }


def pygpu_operations(
    to_device: Callable[..., Any],
    module: Any,
    functions: Any,
    host: np.ndarray,
    command: Callable[[], Any],
) -> Operations:
    """command: one that costs nearly nothing, and makes pygpu launch what it has deferred."""
    from pygpu._src.array.reduction import reduce
    from pygpu._src.array.sort import argsort, sort

    a, b = to_device(host), to_device(host[::-1].copy())
    m = a.reshape(square(host.size))
    column = to_device(np.arange(m.shape[0], dtype=np.float32)[:, None])
    c = a > b
    import pygpu

    fused = pygpu.fuse(lambda a, b: 2 * a + b)

    def plain() -> Any:
        # Without a command before the result is dropped, it would not be computed; without one
        # between calls, several of them would be one kernel, which reads a and b once.
        result = 2 * a + b
        command()
        return result

    operations: Operations = {
        "a + b": lambda: a + b,
        "2*a + b": plain,
        "2*a + b fused": lambda: fused(a, b),
        "where(c, a, b)": lambda: module.where(c, a, b),
        "rows + column": lambda: m + column,
        "sum": lambda: a.sum(),
        "max": lambda: a.max(),
        "argmax": lambda: a.argmax(),
        "var": lambda: reduce("var", a),
        "dot": lambda: a.dot(b),
        "sum, axis 0": lambda: m.sum(0),
        "sum, axis 1": lambda: m.sum(1),
        "cumsum": lambda: a.cumsum(),
        "transposed copy": lambda: m.T._copy(order="C"),
        "a[a > .5]": lambda: a[a > 0.5],
        "sort": lambda: sort(a),
        "argsort": lambda: argsort(a),
    }
    if functions is not None:
        operations["exp(a)"] = lambda: functions.exp(a)
    x = to_device(host)
    return (
        operations
        | transfers(to_device, x, host)
        | {
            "empty like": lambda: module.empty_like(x),
            "fill": lambda: x.fill(3),
        }
    )


def transfers(to_device: Callable[..., Any], x: Any, host: np.ndarray) -> Operations:
    """Those of arrays that have get() and set()."""
    return views(x) | {
        "to device": lambda: to_device(host),
        "to host": lambda: x.get(),
        "set": lambda: x.set(host),
    }


def optional(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def pygpu_cuda(host: np.ndarray) -> tuple[Operations, Callable[[], None]]:
    import pygpu.cuda.autoprimaryctx  # noqa: F401
    from pygpu.cuda import driver, gpuarray

    functions, record = optional("pygpu.cuda.cumath"), driver.Event().record
    operations = pygpu_operations(gpuarray.to_gpu, gpuarray, functions, host, record)
    source, dest = gpuarray.to_gpu(host), gpuarray.to_gpu(host)
    nbytes = host.nbytes
    curandom = optional("pygpu.cuda.curandom")
    if curandom is not None:
        generator = curandom.XORWOWRandomNumberGenerator()
        operations["uniform random"] = lambda: generator.fill_uniform(dest)
    operations["copy"] = lambda: driver.memcpy_dtod_async(dest.gpudata, source.gpudata, nbytes)
    operations["empty"] = lambda: gpuarray.empty(host.size, np.float32)
    operations["zeros"] = lambda: gpuarray.zeros(host.size, np.float32)
    return operations, driver.Context.synchronize


WANTED = {"platform": "", "device": ""}  # parts of names
DEVICES: dict[str, str] = {}  # of OpenCL, by library


def opencl_device(cl: Any) -> Any:
    """The device that is asked for: a GPU if there are several; the one that the other library,
    pygpu or PyOpenCL, has taken, if this one sees it."""
    if not any(WANTED.values()) and "PYOPENCL_CTX" in os.environ:
        found = cl.create_some_context(interactive=False).devices[0]
        DEVICES[cl.__name__] = f"{found.platform.name}, {found.name}"
        return found
    devices = [
        d
        for p in cl.get_platforms()
        if WANTED["platform"].lower() in p.name.lower()
        for d in p.get_devices()
        if WANTED["device"].lower() in d.name.lower()
    ]
    if not devices:
        raise ImportError(f"no OpenCL device with {WANTED} in its name")
    taken = set(DEVICES.values())
    same = (d for d in devices if f"{d.platform.name}, {d.name}" in taken)
    found = next(same, next((d for d in devices if d.type & cl.device_type.GPU), devices[0]))
    DEVICES[cl.__name__] = f"{found.platform.name}, {found.name}"
    return found


def pygpu_opencl(host: np.ndarray) -> tuple[Operations, Callable[[], None]]:
    import pygpu as cl
    from pygpu import array

    queue = cl.CommandQueue(cl.Context([opencl_device(cl)]))
    operations = pygpu_operations(
        lambda x: array.to_device(queue, x), array, optional("pygpu.clmath"), host, queue.flush
    )
    source, dest = array.to_device(queue, host), array.to_device(queue, host)
    operations["copy"] = lambda: cl.enqueue_copy(queue, dest.data, source.data)
    operations["empty"] = lambda: array.empty(queue, host.size, np.float32)
    operations["zeros"] = lambda: array.zeros(queue, host.size, np.float32)
    clrandom = optional("pygpu.clrandom")
    if clrandom is not None:
        generator = clrandom.PhiloxGenerator(queue.context)
        operations["uniform random"] = lambda: generator.fill_uniform(dest)
    return operations, queue.finish


def numpy_like(xp: Any, a: Any, b: Any, m: Any, column: Any) -> Operations:
    c = a > b
    return {
        "a + b": lambda: a + b,
        "2*a + b": lambda: 2 * a + b,
        "exp(a)": lambda: xp.exp(a),
        "where(c, a, b)": lambda: xp.where(c, a, b),
        "rows + column": lambda: m + column,
        "sum": lambda: a.sum(),
        "max": lambda: a.max(),
        "argmax": lambda: a.argmax(),
        "var": lambda: a.var(),
        "dot": lambda: xp.dot(a, b),
        "sum, axis 0": lambda: m.sum(0),
        "sum, axis 1": lambda: m.sum(1),
        "cumsum": lambda: xp.cumsum(a, 0),
        "transposed copy": lambda: m.T.copy(),
        "a[a > .5]": lambda: a[a > 0.5],
        "sort": lambda: xp.sort(a),
        "argsort": lambda: xp.argsort(a),
        "empty like": lambda: xp.empty_like(a),
        **views(a),
    }


def cupy(host: np.ndarray) -> tuple[Operations, Callable[[], None]]:
    import cupy as cp

    a, b = cp.asarray(host), cp.asarray(host[::-1].copy())
    m = a.reshape(square(host.size))
    operations = numpy_like(cp, a, b, m, cp.arange(m.shape[0], dtype=np.float32)[:, None])
    out = a.copy()
    operations["uniform random"] = lambda: cp.random.random(host.size, dtype=np.float32)
    operations["copy"] = lambda: out.data.copy_from_device_async(
        a.data, host.nbytes, cp.cuda.get_current_stream()
    )
    operations |= transfers(cp.asarray, out, host)
    operations["empty"] = lambda: cp.empty(host.size, np.float32)
    operations["zeros"] = lambda: cp.zeros(host.size, np.float32)
    operations["fill"] = lambda: out.fill(3)
    return operations, cp.cuda.Device().synchronize


def torch(host: np.ndarray) -> tuple[Operations, Callable[[], None]]:
    import torch as t

    if not t.cuda.is_available():
        raise ImportError("no GPU for PyTorch")
    a, b = t.from_numpy(host).cuda(), t.from_numpy(host[::-1].copy()).cuda()
    m = a.reshape(square(host.size))
    column = t.arange(m.shape[0], dtype=t.float32, device="cuda")[:, None]
    operations = numpy_like(t, a, b, m, column)
    out = t.empty_like(a)
    operations["uniform random"] = lambda: t.rand(host.size, device="cuda")
    operations["copy"] = lambda: out.copy_(a)
    operations["transposed copy"] = lambda: m.T.contiguous()
    there = t.from_numpy(host)
    operations["to device"] = lambda: there.cuda()
    operations["to host"] = lambda: out.cpu()
    operations["set"] = lambda: out.copy_(there)
    operations["empty"] = lambda: t.empty(host.size, device="cuda")
    operations["zeros"] = lambda: t.zeros(host.size, device="cuda")
    operations["fill"] = lambda: out.fill_(3)
    return operations, t.cuda.synchronize


def pycuda(host: np.ndarray) -> tuple[Operations, Callable[[], None]]:
    import pycuda.autoprimaryctx  # noqa: F401
    from pycuda import cumath, gpuarray, tools
    from pycuda import driver as drv

    pool = tools.DeviceMemoryPool()
    a = gpuarray.to_gpu(host, pool.allocate)
    b = gpuarray.to_gpu(host[::-1].copy(), pool.allocate)
    operations: Operations = {
        "copy": lambda: drv.memcpy_dtod(b.gpudata, a.gpudata, host.nbytes),
        "a + b": lambda: a + b,
        "2*a + b": lambda: 2 * a + b,
        "exp(a)": lambda: cumath.exp(a),
        "sum": lambda: gpuarray.sum(a),
        "max": lambda: gpuarray.max(a),
        "dot": lambda: gpuarray.dot(a, b),
        "empty": lambda: gpuarray.empty(host.size, np.float32, pool.allocate),
        "zeros": lambda: gpuarray.zeros(host.size, np.float32, pool.allocate),
        "empty like": lambda: gpuarray.empty_like(a),
        "fill": lambda: b.fill(3),
    }
    operations |= transfers(lambda x: gpuarray.to_gpu(x, pool.allocate), b, host)
    return operations, drv.Context.synchronize


def pyopencl(host: np.ndarray) -> tuple[Operations, Callable[[], None]]:
    import pyopencl as cl
    from pyopencl import array, clmath, tools

    with common.drivers_in_a_folder():
        cl.get_platforms()  # its loader looks for drivers once
    queue = cl.CommandQueue(cl.Context([opencl_device(cl)]))
    pool = tools.MemoryPool(tools.ImmediateAllocator(queue))
    a = array.to_device(queue, host, pool)
    b = array.to_device(queue, host[::-1].copy(), pool)
    operations: Operations = {
        "copy": lambda: cl.enqueue_copy(queue, b.data, a.data),
        "a + b": lambda: a + b,
        "2*a + b": lambda: 2 * a + b,
        "exp(a)": lambda: clmath.exp(a),
        "sum": lambda: array.sum(a),
        "max": lambda: array.max(a),
        "dot": lambda: array.dot(a, b),
        "cumsum": lambda: array.cumsum(a),
        "empty": lambda: array.empty(queue, host.size, np.float32, allocator=pool),
        "zeros": lambda: array.zeros(queue, host.size, np.float32, allocator=pool),
        "empty like": lambda: array.empty_like(a),
        "fill": lambda: b.fill(3),
    }
    operations |= transfers(lambda x: array.to_device(queue, x, pool), b, host)
    return operations, queue.finish


def numpy(host: np.ndarray) -> tuple[Operations, Callable[[], None]]:
    a, b = host.copy(), host[::-1].copy()
    m = a.reshape(square(host.size))
    operations = numpy_like(np, a, b, m, np.arange(m.shape[0], dtype=np.float32)[:, None])
    out = a.copy()
    generator = np.random.default_rng(1)
    operations["uniform random"] = lambda: generator.random(host.size, dtype=np.float32)
    operations["copy"] = lambda: np.copyto(out, a)
    operations["empty"] = lambda: np.empty(host.size, np.float32)
    operations["zeros"] = lambda: np.zeros(host.size, np.float32)
    operations["fill"] = lambda: out.fill(3)
    return operations, lambda: None


SYSTEMS: dict[str, Maker] = {
    "pygpu CUDA": pygpu_cuda,
    "pygpu OpenCL": pygpu_opencl,
    "CuPy": cupy,
    "PyTorch": torch,
    "PyCUDA": pycuda,
    "PyOpenCL": pyopencl,
    "NumPy": numpy,
}


def time_of(call: Callable[[], Any], wait: Callable[[], None], seconds: float) -> float:
    """The least time of a call [s], of rounds of some calls in a row and one wait."""
    call()
    wait()
    begin = perf_counter()
    call()
    wait()
    one = max(perf_counter() - begin, 1e-7)
    calls = int(min(max(2e-3 / one, 1), 200))
    best, end = one, perf_counter() + seconds
    for _ in range(200):
        begin = perf_counter()
        for _ in range(calls):
            call()
        wait()
        now = perf_counter()
        best = min(best, (now - begin) / calls)
        if now > end:
            break
    return best


def measure(name: str, n: int, seconds: float) -> dict[str, float]:
    """Seconds by operation."""
    host = np.random.default_rng(1).random(n, dtype=np.float32)
    operations, wait = SYSTEMS[name](host)
    result = {}
    for operation in BYTES if n > SMALL else [*BYTES, *MAKING]:
        if operation not in operations:
            continue
        if operation == "2*a + b":  # which pygpu makes one kernel of, compiled in the background
            call = operations[operation]
            programs.settle(name, lambda call=call: time_of(call, wait, seconds / 10))
        try:
            result[operation] = time_of(operations[operation], wait, seconds)
        except Exception as error:
            print(
                f"{name}, {operation}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr
            )
    return result


def table(
    title: str, results: dict[str, dict[str, float]], text: Callable[[str, str], str]
) -> None:
    print(f"\n{title}\n")
    print("| | " + " | ".join(results) + " |")
    print("|---" * (len(results) + 1) + "|")
    for operation in [*BYTES, *MAKING]:
        cells = [
            text(system, operation) if operation in times else ""
            for system, times in results.items()
        ]
        if any(cells):
            print(f"| {operation} | " + " | ".join(cells) + " |")


def main() -> None:
    sys.path.append(str(Path(__file__).resolve().parent.parent))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=0, help="items; default 64 Mi, on CPUs 16 Mi")
    parser.add_argument("--seconds", type=float, default=0.1, help="for each operation")
    parser.add_argument("--only", nargs="*", default=list(SYSTEMS), choices=list(SYSTEMS))
    parser.add_argument("--platform", default="", help="of OpenCL: a part of its name")
    parser.add_argument("--device", default="", help="of OpenCL: a part of its name")
    parser.add_argument("--quick", action="store_true", help="small arrays, little time")
    parser.add_argument("--repeats", type=int, default=0, help="tenths of a second for each")
    parser.add_argument("--json", help="write the times there, in seconds")
    options = parser.parse_args()
    WANTED.update(platform=options.platform, device=options.device)
    if options.repeats:
        options.seconds = options.repeats / 10
    if options.quick:
        options.size, options.seconds = options.size or 1 << 20, 0.02
    size = options.size or (1 << 24 if os.environ.get("PYGPU_CUDA") == "simulator" else 1 << 26)
    large: dict[str, dict[str, float]] = {}
    small: dict[str, dict[str, float]] = {}
    for name in options.only:
        try:
            large[name] = measure(
                name, min(size, 1 << 24) if name == "NumPy" else size, options.seconds
            )
            small[name] = measure(name, SMALL, min(options.seconds, 0.02))
        except Exception as error:
            large.pop(name, None)
            print(
                f"{name} is left out: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr
            )

    def count(system: str) -> int:
        return min(size, 1 << 24) if system == "NumPy" else size

    def rate(system: str, operation: str) -> str:
        useful = BYTES[operation] * count(system) / large[system][operation]
        copy = large[system].get("copy")
        share = f" ({useful / (8 * count(system) / copy):.2f})" if copy else ""
        return f"{useful / 1e9:.0f}{share}"

    for library, device in DEVICES.items():
        print(f"OpenCL of {library}: {device}")
    table(f"Rate at {size} items of float32, GB/s (share of the copy's)", large, rate)
    table(
        f"Time of a call with {SMALL} items, us",
        small,
        lambda system, operation: f"{small[system][operation] * 1e6:.1f}",
    )
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"size": size, "large": large, "small": small}, file, indent=1)


if __name__ == "__main__":
    main()
