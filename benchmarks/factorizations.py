"""Factorizations: pygpu's kernels on CUDA and OpenCL beside cuSOLVER (through pygpu and CuPy),
PyTorch and NumPy.

python benchmarks/factorizations.py [--dtype D] [--count N] [--stacks N ...] [--large N ...]
    [--functions NAME ...] [--systems NAME ...] [--seconds S]

Each case is a stack of --count matrices of n x n (--stacks), or one of n x n (--large). Times are
the least of several calls, each with its wait, in microseconds; the last column is the time of the
fastest other system on the device divided by pygpu's on CUDA.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))

FUNCTIONS = ("solve", "inv", "det", "cholesky", "qr", "eigh", "eigvalsh", "svd", "svdvals")
SYSTEMS = ("cuda", "opencl", "cusolver", "cupy", "torch", "numpy")
Run = tuple[Callable[[], Any], Callable[[], Any]]


def matrices(function: str, count: int, n: int, dtype: str) -> list[np.ndarray]:
    """The arguments: symmetric and positive definite where that is asked for."""
    rng = np.random.default_rng(1)
    shape = (count, n, n) if count else (n, n)
    a = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        a = a + 1j * rng.standard_normal(shape)
    if function in ("cholesky", "eigh", "eigvalsh"):
        a = (a + a.swapaxes(-1, -2).conj()) / 2
    if function == "cholesky":
        a = a + 2 * n * np.eye(n)
    found = [a.astype(dtype)]
    if function == "solve":
        found.append(rng.standard_normal((*shape[:-1], 1)).astype(dtype))
    return found


class Systems:
    """A method for each gives (call, wait), or raises LookupError."""

    def _cuda(self) -> Any:
        from pygpu.cuda import driver

        if not hasattr(self, "context"):
            driver.init()
            self.context = driver.Device(0).retain_primary_context()
            self.context.push()
        from pygpu.cuda import gpuarray

        return gpuarray

    def _ours(self, function: str, args: list[Any], choice: str, wait: Any) -> Run:
        import pygpu.linalg

        os.environ["PYGPU_LINALG"] = choice  # read by each call
        return lambda: getattr(pygpu.linalg, function)(*args), wait

    def cuda(self, function: str, host: list[Any]) -> Run:
        module = self._cuda()
        args = [module.to_gpu(x) for x in host]
        return self._ours(function, args, "own", self.context.synchronize)

    def cusolver(self, function: str, host: list[Any]) -> Run:
        from pygpu._src.array.routines import cusolver

        module = self._cuda()
        if not cusolver.LIBRARY.available() or (host[0].ndim > 2 and len(host[0]) > 2000):
            raise LookupError("no cuSOLVER, or too many matrices for its loop")
        args = [module.to_gpu(x) for x in host]
        return self._ours(function, args, "cusolver", self.context.synchronize)

    def opencl(self, function: str, host: list[Any]) -> Run:
        import pygpu as cl
        import pygpu.array

        if not hasattr(self, "queue"):
            self.queue = cl.CommandQueue(cl.create_some_context(interactive=False))
        args = [pygpu.array.to_device(self.queue, x) for x in host]
        return self._ours(function, args, "own", self.queue.finish)

    def cupy(self, function: str, host: list[Any]) -> Run:
        import cupy

        name = {"svdvals": "svd"}.get(function, function)
        options = {"compute_uv": False} if function == "svdvals" else {}
        args = [cupy.asarray(x) for x in host]
        wait = cupy.cuda.Device().synchronize
        return lambda: getattr(cupy.linalg, name)(*args, **options), wait

    def torch(self, function: str, host: list[Any]) -> Run:
        import torch

        if not torch.cuda.is_available():
            raise LookupError("no GPU for PyTorch")
        args = [torch.as_tensor(x, device="cuda") for x in host]
        return lambda: getattr(torch.linalg, function)(*args), torch.cuda.synchronize

    def numpy(self, function: str, host: list[Any]) -> Run:
        return lambda: getattr(np.linalg, function)(*host), lambda: None


def least(call: Callable[[], Any], wait: Callable[[], Any], seconds: float) -> float:
    """The least time of a call [us]."""
    call()
    wait()
    best, end = float("inf"), perf_counter() + seconds
    while best == float("inf") or perf_counter() < end:
        start = perf_counter()
        call()
        wait()
        best = min(best, perf_counter() - start)
    return best * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--stacks", type=int, nargs="*", default=[4, 8, 16, 32, 64])
    parser.add_argument("--large", type=int, nargs="*", default=[512, 2048])
    parser.add_argument("--functions", nargs="+", default=FUNCTIONS)
    parser.add_argument("--systems", nargs="+", default=SYSTEMS)
    parser.add_argument("--seconds", type=float, default=0.2)
    options = parser.parse_args()
    systems = Systems()
    cases = [(options.count, n) for n in options.stacks] + [(0, n) for n in options.large]
    print(f"{'[us]':22}" + "".join(f"{name:>12}" for name in options.systems) + "       ratio")
    for count, n in cases:
        for function in options.functions:
            host = matrices(function, count, n, options.dtype)
            times: dict[str, float] = {}
            for name in options.systems:
                try:
                    times[name] = least(*getattr(systems, name)(function, host), options.seconds)
                except (LookupError, ImportError, RuntimeError, ValueError, AttributeError):
                    continue
            texts = [f"{times[k]:12.0f}" if k in times else f"{'-':>12}" for k in options.systems]
            others = [times[k] for k in ("cusolver", "cupy", "torch") if k in times]
            ratio = f"{min(others) / times['cuda']:12.2f}" if others and "cuda" in times else ""
            case = f"{function} {count or ''}{'x' if count else ''}{n}x{n}"
            print(f"{case:22}{''.join(texts)}{ratio}", flush=True)


if __name__ == "__main__":
    main()
