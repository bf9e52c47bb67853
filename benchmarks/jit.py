"""python benchmarks/jit.py [--quick] [--items=N]: functions of Python on devices, and their peers.

Rates of vectorize and reduce against a copy of the same memory, what calls of small arrays cost the
host, and how long the first call of a new function takes. Peers that are not installed, or cannot
do a case, are left out and named. With no NVIDIA GPU, CUDA is the simulator, which shows costs of
calls and nothing about rates.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import arrays
import numpy as np

import common

Case = tuple[Callable[[], Any], float]  # what is timed, and the bytes it moves


class Side:
    """One library. wait: until its device is idle; cases: by name."""

    def __init__(self, name: str, wait: Callable[[], Any]) -> None:
        self.name, self.wait = name, wait
        self.cases: dict[str, Case] = {}
        self.compile: Callable[[int], Callable[[], Any]] | None = None


def fresh(number: int, name: str = "f") -> Any:
    """A small function that was not compiled before: its constant is new."""
    scope: dict[str, Any] = {}
    text = f"def {name}(a, b):\n    return {number} * a + b\n"
    filename = f"<benchmark {name} {number}>"
    import linecache

    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    exec(compile(text, filename, "exec"), scope)
    return scope[name]


RAW = """
extern "C" __global__ void add(const float *x, const float *y, float *z, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) z[i] = x[i] + y[i];
}
"""


def linear(a, b):  # with a name: CuPy and Numba write it into their kernels
    return 2 * a + b


def pygpu_side(n: int, language: str) -> Side:
    import pygpu as cl

    to_device: Callable[[Any], Any]
    if language == "cuda":
        import pygpu.cuda.autoprimaryctx
        from pygpu.cuda import driver, gpuarray
        from pygpu.cuda.compiler import SourceModule

        to_device, wait = gpuarray.to_gpu, driver.Context.synchronize
    else:
        import pygpu.array as cla

        device = arrays.opencl_device(cl)
        queue = cl.CommandQueue(cl.Context([device]))
        print(f"pygpu, opencl: {device.platform.name}, {device.name}")
        wait = queue.finish

        def to_device(host: Any) -> Any:
            return cla.to_device(queue, host)

    side = Side(f"pygpu, {language}", wait)
    compiled = cl.vectorize(["f4(f4, f4)"])(linear)
    total, largest = cl.reduce(lambda a, b: a + b), cl.reduce(lambda a, b: max(a, b))
    a, b = to_device(np.ones(n, "f4")), to_device(np.zeros(n, "f4"))
    out = to_device(np.zeros(n, "f4"))
    small = [to_device(np.ones(8, "f4")) for _ in range(3)]
    side.cases = {
        "copy": (lambda: out._copy_from(a), 8 * n),
        "2*a + b": (lambda: compiled(a, b, out=out), 12 * n),
        "sum": (lambda: total(a), 4 * n),
        "max": (lambda: largest(a), 4 * n),
        "call": (lambda: compiled(small[0], small[1], out=small[2]), 0),
    }
    if language == "cuda":
        from pygpu import cuda

        @cuda.jit
        def add(x, y, z, count):
            i = cuda.grid(1)
            if i < count:
                z[i] = x[i] + y[i]

        launch = add[1, 32]
        side.cases["kernel"] = (lambda: launch(*small, 8), 0)
        # The same in CUDA C++, prepared: cuda_launch.py has what that is over a launch from C.
        raw = SourceModule(RAW, no_extern_c=True).get_function("add").prepare("PPPi")
        given = [x.gpudata for x in small]
        side.cases["raw"] = (lambda: raw.prepared_call((1, 1), (32, 1, 1), *given, 8), 0)
    side.compile = lambda number: lambda: cl.vectorize(fresh(number))(small[0], small[1])
    return side


def cupy_side(n: int) -> Side:
    cupy = importlib.import_module("cupy")
    side = Side("CuPy", cupy.cuda.Device().synchronize)
    compiled = cupy.fuse()(linear)
    a, b, out = cupy.ones(n, "f4"), cupy.zeros(n, "f4"), cupy.zeros(n, "f4")
    small = [cupy.ones(8, "f4") for _ in range(3)]
    side.cases = {
        "copy": (lambda: cupy.copyto(out, a), 8 * n),
        "2*a + b": (lambda: compiled(a, b), 12 * n),
        "sum": (lambda: a.sum(), 4 * n),
        "max": (lambda: a.max(), 4 * n),
        "call": (lambda: compiled(small[0], small[1]), 0),
    }
    try:
        jit = importlib.import_module("cupyx.jit")

        @jit.rawkernel()
        def add(x, y, z, count):
            i = jit.grid(1)
            if i < count:
                z[i] = x[i] + y[i]

        count = np.int32(8)
        side.cases["kernel"] = (lambda: add((1,), (32,), (*small, count)), 0)
    except Exception as error:
        print(f"cupyx.jit: {error}")
    side.compile = lambda number: lambda: cupy.fuse()(fresh(number))(small[0], small[1])
    return side


def numba_side(n: int) -> Side:
    numba = importlib.import_module("numba")
    cuda = importlib.import_module("numba.cuda")
    side = Side("numba-cuda", cuda.synchronize)
    compiled = numba.vectorize(["f4(f4, f4)"], target="cuda")(linear)
    total, largest = cuda.reduce(lambda a, b: a + b), cuda.reduce(lambda a, b: max(a, b))
    a, b = cuda.to_device(np.ones(n, "f4")), cuda.to_device(np.zeros(n, "f4"))
    out, small = cuda.device_array(n, "f4"), [cuda.to_device(np.ones(8, "f4")) for _ in range(3)]
    res = cuda.device_array(1, "f4")

    @cuda.jit
    def add(x, y, z, count):
        i = cuda.grid(1)
        if i < count:
            z[i] = x[i] + y[i]

    launch = add[1, 32]
    side.cases = {
        "copy": (lambda: out.copy_to_device(a), 8 * n),
        "2*a + b": (lambda: compiled(a, b, out=out), 12 * n),
        "sum": (lambda: total(a, res=res), 4 * n),
        "max": (lambda: largest(a, res=res), 4 * n),
        "call": (lambda: compiled(small[0], small[1], out=small[2]), 0),
        "kernel": (lambda: launch(*small, 8), 0),
    }
    side.compile = lambda number: (
        lambda: numba.vectorize(["f4(f4, f4)"], target="cuda")(fresh(number))(small[0], small[1])
    )
    return side


def numba_cpu_side(n: int) -> Side:
    numba = importlib.import_module("numba")
    side = Side("numba, CPU", lambda: None)
    compiled = numba.vectorize(["f4(f4, f4)"], target="parallel")(linear)
    a, b, out = np.ones(n, "f4"), np.zeros(n, "f4"), np.zeros(n, "f4")
    side.cases = {
        "copy": (lambda: np.copyto(out, a), 8 * n),
        "2*a + b": (lambda: compiled(a, b, out), 12 * n),
        "call": (lambda: compiled(a[:8], b[:8], out[:8]), 0),
    }
    return side


def seconds(side: Side, case: Case, rounds: int) -> float:
    """The least time of a call over rounds; of big cases the device's time, else the host's."""
    call, nbytes = case
    call()
    side.wait()
    times = 200
    if nbytes:  # as many in a row as take 2 ms, as in arrays.py: the wait for them is shared out
        start = time.perf_counter()
        call()
        side.wait()
        times = int(min(max(2e-3 / (time.perf_counter() - start), 5), 200))
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(times):
            call()
        if nbytes:
            side.wait()
        best = min(best, (time.perf_counter() - start) / times)
        side.wait()
    return best


def report(side: Side, rounds: int) -> None:
    copy_rate = 0.0
    for name, case in side.cases.items():
        try:
            taken = seconds(side, case, rounds)
        except Exception as error:
            print(f"{side.name:14} {name:8} {type(error).__name__}: {str(error)[:80]}")
            continue
        if not case[1]:
            print(f"{side.name:14} {name:8} {taken * 1e6:9.2f} us a call, host")
            continue
        rate = case[1] / taken / 1e9
        copy_rate = rate if name == "copy" else copy_rate
        share = f"{rate / copy_rate:6.2f} of the copy rate" if copy_rate else ""
        print(f"{side.name:14} {name:8} {rate:9.1f} GB/s {share}")
    if side.compile is not None:
        taken_ms = []
        for k in range(3):
            call = side.compile(1000 + int(time.time() * 1000) % 10**6 * 3 + k)
            start = time.perf_counter()
            call()
            side.wait()
            taken_ms.append((time.perf_counter() - start) * 1e3)
        print(f"{side.name:14} compile  {statistics.median(taken_ms):9.1f} ms, first call")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few rounds")
    parser.add_argument("--items", type=int, default=0, help="items of the big arrays")
    options, _ = parser.parse_known_args()
    if common.find_library("pygpu") is None:
        return
    warnings.simplefilter("ignore")
    from pygpu._src.jit.decorators.target import _has_gpu

    gpu = _has_gpu()
    n = options.items or (1 << 26 if gpu else 1 << 18)
    rounds = 3 if options.quick else 9
    makers: list[tuple[str, Callable[[], Side]]] = [
        ("pygpu, cuda", lambda: pygpu_side(n, "cuda")),
        ("pygpu, opencl", lambda: pygpu_side(n, "opencl")),
        ("numba, CPU", lambda: numba_cpu_side(n)),
    ]
    if gpu:
        makers[2:2] = [("CuPy", lambda: cupy_side(n)), ("numba-cuda", lambda: numba_side(n))]
    print(f"{n} items of float32" + ("" if gpu else "; no GPU: CUDA is the simulator"))
    for name, make in makers:
        try:
            report(make(), rounds)
        except Exception as error:
            print(f"{name:14} left out: {type(error).__name__}: {str(error)[:80]}")


if __name__ == "__main__":
    main()
