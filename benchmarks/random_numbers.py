"""Random numbers: pygpu.random on CUDA and OpenCL beside CuPy, PyTorch and NumPy, in one run.

python benchmarks/random_numbers.py [--dtype D] [--size N] [--small N] [--names NAME ...]
    [--systems NAME ...] [--seconds S]

Each case makes --size numbers; rates count the bytes that are moved: what is written, and for
"copy" what is read as well. Times are the least of several calls, each with its wait. The last
column is pygpu's rate on CUDA as a share of the bandwidth that its copy has. A second table has the
time of a call of --small numbers. The devices are named above the table: OpenCL's is NVIDIA's where
there is one, else a GPU.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

# The package of the folder above, built in place or not.
sys.path[0] = str(Path(__file__).resolve().parents[1])

CASES: dict[str, tuple[Any, ...]] = {
    "random": (),
    "standard_normal": (),
    "integers": (0, 1000),
    "standard_exponential": (),
    "laplace": (0.0, 1.0),
    "weibull": (1.5,),
    "standard_gamma": (2.5,),
    "beta": (2.0, 3.0),
    "standard_t": (3.0,),
    "vonmises": (0.0, 2.0),
    "poisson": (50.0,),
    "binomial": (1000, 0.4),
    "geometric": (0.2,),
    "hypergeometric": (70, 50, 100),
}
COUNTS = ("integers", "poisson", "binomial", "geometric", "hypergeometric")
WITH_DTYPE = ("random", "standard_normal", "standard_exponential", "standard_gamma")
SYSTEMS = ("cuda", "opencl", "cupy", "torch", "numpy")
Run = tuple[Callable[[], Any], Callable[[], Any]]


class Systems:
    """A method for each gives (call, wait), or raises LookupError."""

    def __init__(self, dtype: str) -> None:
        self.dtype = np.dtype(dtype)
        self.devices: dict[str, Any] = {}

    def where(self, system: str) -> Any:
        """The device of "cuda" or "opencl"."""
        from pygpu import xp

        if system == "opencl" and system not in self.devices:
            import pygpu as cl

            found = [d for p in cl.get_platforms() for d in p.get_devices()]
            found.sort(key=lambda d: (d.vendor[:6] != "NVIDIA", not d.type & cl.device_type.GPU))
            self.devices[system] = xp.as_device(cl.CommandQueue(cl.Context(found[:1])))
        return self.devices.setdefault(system, xp.as_device(self.devices.get(system, system)))

    def pygpu(self, device: str, name: str, n: int) -> Run:
        from pygpu import random, xp

        where = self.where(device)

        def wait() -> None:
            where.backend.synchronize(where.queue)

        if name == "copy":
            array = xp.ones(n, dtype=self.dtype, device=where)
            return array.copy, wait
        rng = random.default_rng(1, device=where)
        args = CASES[name]
        if name in COUNTS:
            return lambda: getattr(rng, name)(*args, size=n), wait
        return lambda: getattr(rng, name)(*args, size=n, dtype=self.dtype), wait

    def cuda(self, name: str, n: int) -> Run:
        return self.pygpu("cuda", name, n)

    def opencl(self, name: str, n: int) -> Run:
        return self.pygpu("opencl", name, n)

    def cupy(self, name: str, n: int) -> Run:
        import cupy

        wait = cupy.cuda.Device().synchronize
        if name == "copy":
            return cupy.ones(n, self.dtype).copy, wait
        return self._generator(cupy.random.default_rng(1), cupy.random, name, n), wait

    def numpy(self, name: str, n: int) -> Run:
        if name == "copy":
            return np.ones(n, self.dtype).copy, lambda: None
        return self._generator(np.random.default_rng(1), None, name, n), lambda: None

    def _generator(self, rng: Any, older: Any, name: str, n: int) -> Callable[[], Any]:
        """A call of a Generator; of CuPy's older functions where it has none."""
        args = CASES[name]
        draw = getattr(rng, name, None) or getattr(older, name, None)
        if draw is None:
            raise LookupError(name)
        if name in WITH_DTYPE:
            return lambda: draw(*args, size=n, dtype=self.dtype)
        return lambda: draw(*args, size=n)

    def torch(self, name: str, n: int) -> Run:
        import torch

        if not torch.cuda.is_available():
            raise LookupError("no GPU")
        dtype = getattr(torch, self.dtype.name)
        array = torch.ones(n, dtype=dtype, device="cuda")
        args = [torch.full((n,), float(x), dtype=dtype, device="cuda") for x in CASES.get(name, ())]
        calls: dict[str, Callable[[], Any]] = {
            "copy": array.clone,
            "random": lambda: torch.rand(n, dtype=dtype, device="cuda"),
            "standard_normal": lambda: torch.randn(n, dtype=dtype, device="cuda"),
            "integers": lambda: torch.randint(0, 1000, (n,), device="cuda"),
            "standard_exponential": lambda: torch.empty_like(array).exponential_(),
            "standard_gamma": lambda: torch._standard_gamma(args[0]),
            "poisson": lambda: torch.poisson(args[0]),
            "binomial": lambda: torch.binomial(*args),
            "geometric": lambda: torch.empty_like(array).geometric_(0.2),
        }
        return calls[name], torch.cuda.synchronize


def least(run: Run, seconds: float) -> float:
    """The least time of a call with its wait [s]."""
    call, wait = run
    call()
    wait()
    times: list[float] = []
    end = perf_counter() + seconds
    while len(times) < 3 or perf_counter() < end:
        start = perf_counter()
        call()
        wait()
        times.append(perf_counter() - start)
    return min(times)


def measure(systems: Systems, wanted: list[str], name: str, n: int, seconds: float) -> list[float]:
    """The times of a case, NaN where a system does not have it."""
    times = []
    for system in wanted:
        try:
            times.append(least(getattr(systems, system)(name, n), seconds))
        except (ImportError, LookupError, AttributeError, TypeError):
            times.append(float("nan"))
        except Exception as error:
            print(f"{system} {name}: {error}", file=sys.stderr)
            times.append(float("nan"))
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dtype", default="float32", choices=["float32", "float64"])
    parser.add_argument("--size", type=int, default=1 << 26)
    parser.add_argument("--small", type=int, default=100)
    parser.add_argument("--names", nargs="+", default=["copy", *CASES])
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=SYSTEMS)
    parser.add_argument("--seconds", type=float, default=0.3)
    options = parser.parse_args()
    systems = Systems(options.dtype)
    head = "".join(f"{system:>12}" for system in options.systems)
    for system in options.systems:
        if system in ("cuda", "opencl"):
            print(f"{system}: {systems.where(system)!r}")
    print(
        f"{options.size} numbers of {options.dtype} (counts: int64) [GB/s of bytes moved]\n"
        f"{'':22}{head}  of copy"
    )
    copies: float | None = None
    for name in options.names:
        times = measure(systems, options.systems, name, options.size, options.seconds)
        itemsize = 8 if name in COUNTS else systems.dtype.itemsize
        moved = options.size * itemsize * (2 if name == "copy" else 1)
        rates = [moved / t / 1e9 for t in times]
        copies = rates[0] if name == "copy" else copies
        share = f"{rates[0] / copies:9.2f}" if copies else ""
        print(f"{name:22}" + "".join(f"{rate:12.1f}" for rate in rates) + share)
    print(f"\na call of {options.small} numbers [us]\n{'':22}{head}")
    for name in options.names:
        times = measure(systems, options.systems, name, options.small, options.seconds)
        print(f"{name:22}" + "".join(f"{1e6 * t:12.1f}" for t in times))


if __name__ == "__main__":
    main()
