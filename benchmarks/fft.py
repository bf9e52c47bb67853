"""Fourier transforms: pygpu's kernels on CUDA and OpenCL beside cuFFT, CuPy, PyTorch and SciPy.

python benchmarks/fft.py [--quick] [--items N] [--cases WORD ...] [--systems NAME ...] [--seconds S]
    [--set NAME=VALUE ...] [--sweep NAME=VALUE,VALUE ...] [--json FILE]

Each case transforms some N items (--items), in lines or images of one size. Times are the least of
several rounds of calls that are queued one after the other, in microseconds, into memory that is
there already where a library lets one choose. The second table has the ratios: a system's rate
divided by that of the fastest other one on the same device (cuFFT), or by SciPy's with all cores.

--cases picks those whose name contains all words ("2d", "float64", "^20", "smooth"). --set changes
what plans are made by (pygpu._src.array.fft.plan.Tuning). --sweep times each case with all
combinations of such values, and prints the best of them.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
from collections.abc import Callable, Iterator
from math import prod
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))


class Case(NamedTuple):
    """shape: of the array, or of the real one; axes: the transformed ones; kind: the function,
    without the number of axes."""

    name: str
    shape: tuple[int, ...]
    axes: tuple[int, ...]
    dtype: str
    kind: str

    @property
    def lengths(self) -> tuple[int, ...]:
        return tuple(self.shape[k] for k in self.axes)


SMOOTH = (1000, 1536, 2187, 2310, 3125, 5040, 10000, 16807, 20736, 100000, 1000000, 5764801)
PRIMES = (17, 1009, 10007, 1000003)


def cases(items: int, quick: bool) -> Iterator[Case]:
    single = [("float32", "F"), ("float64", "D")]
    for name, dtype in single:
        for k in range(8, 27, 6 if quick else 1):
            n = 1 << k
            if n <= items:
                yield Case(f"1d 2^{k} {name}", (items // n, n), (1,), dtype, "fft")
        for k in range(5, 14, 4 if quick else 1):
            n = 1 << k
            if n * n <= items:
                shape = (items // n // n, n, n)
                yield Case(f"2d 2^{k} {name}", shape, (1, 2), dtype, "fft")
        for k in range(8, 14, 4 if quick else 2):
            n = 1 << k
            if n * n <= items:
                yield Case(f"columns 2^{k} {name}", (n, items // n), (0,), dtype, "fft")
        for n in SMOOTH[:: 6 if quick else 1]:
            if n <= items:
                yield Case(f"1d {n} smooth {name}", (items // n, n), (1,), dtype, "fft")
        for n in (360, 1000, 3000):
            if n * n <= items and not quick:
                shape = (items // n // n, n, n)
                yield Case(f"2d {n} smooth {name}", shape, (1, 2), dtype, "fft")
        for n in PRIMES[1 :: 2 if quick else 1]:
            if n <= items:
                yield Case(f"1d {n} prime {name}", (items // n, n), (1,), dtype, "fft")
        for k in range(10, 25, 10 if quick else 3):
            n = 1 << k
            if n <= items:
                real = "f" if dtype == "F" else "d"
                yield Case(f"1d 2^{k} real {name}", (items // n, n), (1,), real, "rfft")
                yield Case(f"1d 2^{k} to real {name}", (items // n, n), (1,), real, "irfft")
    yield Case("1d 8 float32", (items // 8, 8), (1,), "F", "fft")
    yield Case("1d 64 float32", (items // 64, 64), (1,), "F", "fft")


def host_array(case: Case) -> np.ndarray:
    """Pseudorandom numbers, and quickly made ones."""
    rng = np.random.default_rng(1)
    shape, dtype = case.shape, np.dtype(case.dtype)
    if case.kind == "irfft":
        shape = (*shape[:-1], shape[-1] // 2 + 1)
        dtype = np.dtype(dtype.char.upper())
    real = np.dtype(dtype.char.lower())
    parts = 2 if dtype.kind == "c" else 1
    block = rng.standard_normal(min(prod(shape) * parts, 1 << 20)).astype(real)
    flat = np.resize(block, prod(shape) * parts)
    return flat.view(dtype).reshape(shape)


Run = tuple[Callable[[], Any], Callable[[], Any]]


def numpy_call(case: Case, module: Any, x: Any, **options: Any) -> Callable[[], Any]:
    """The call of a module with NumPy's names."""
    if case.kind == "irfft":
        n = case.shape[-1]
        return lambda: module.irfft(x, n=n, axis=case.axes[0], **options)
    if len(case.axes) == 1:
        function = getattr(module, case.kind)
        return lambda: function(x, axis=case.axes[0], **options)
    function = getattr(module, case.kind + "n")
    return lambda: function(x, axes=case.axes, **options)


class Systems:
    """What there is to time: a method for each gives (call, wait), or raises LookupError."""

    def __init__(self) -> None:
        self.context = self.queue = None

    def _cuda(self) -> Any:
        from pygpu.cuda import driver

        if self.context is None:
            driver.init()
            self.context = driver.Device(0).retain_primary_context()
            self.context.push()
        from pygpu.cuda import gpuarray

        return gpuarray

    def _ours(self, case: Case, x: Any, choice: str) -> Callable[[], Any]:
        os.environ["PYGPU_FFT"] = choice
        import pygpu.fft

        out = numpy_call(case, pygpu.fft, x)()
        call = numpy_call(case, pygpu.fft, x, out=out)

        def chosen() -> Any:
            os.environ["PYGPU_FFT"] = choice
            return call()

        return chosen

    def cuda(self, case: Case) -> Run:
        module = self._cuda()
        x = module.to_gpu(host_array(case))
        return self._ours(case, x, "own"), self.context.synchronize

    def pygpu_cufft(self, case: Case) -> Run:
        """numpy.fft's functions by cuFFT: with copies to contiguous lines, and the factors."""
        module = self._cuda()
        from pygpu._src.runtime.libraries import cufft

        if not cufft.LIBRARY.available():
            raise LookupError("cuFFT is not installed")
        x = module.to_gpu(host_array(case))
        return self._ours(case, x, "cufft"), self.context.synchronize

    def opencl(self, case: Case) -> Run:
        import pygpu
        import pygpu.array

        if self.queue is None:
            self.queue = pygpu.CommandQueue(pygpu.create_some_context(interactive=False))
        x = pygpu.array.to_device(self.queue, host_array(case))
        return self._ours(case, x, "own"), self.queue.finish

    def cufft(self, case: Case) -> Run:
        """The library alone, where lines are contiguous."""
        module = self._cuda()
        from pygpu._src.runtime.libraries import cufft

        if not cufft.LIBRARY.available():
            raise LookupError("cuFFT is not installed")
        count = len(case.axes)
        if case.axes != tuple(range(len(case.shape) - count, len(case.shape))):
            raise LookupError("columns: pygpu calls it for contiguous lines")
        x = module.to_gpu(host_array(case))
        shape, dtype = case.shape, np.dtype(case.dtype)
        if case.kind == "rfft":
            shape, dtype = (*shape[:-1], shape[-1] // 2 + 1), np.dtype(dtype.char.upper())
        out = module.empty(shape, dtype)
        return lambda: cufft.transform(x, out, count), self.context.synchronize

    def cupy(self, case: Case) -> Run:
        try:
            import cupy
        except ImportError as error:
            raise LookupError(str(error)) from None
        x = cupy.asarray(host_array(case))
        return numpy_call(case, cupy.fft, x), cupy.cuda.Device().synchronize

    def torch(self, case: Case) -> Run:
        try:
            import torch
        except ImportError as error:
            raise LookupError(str(error)) from None
        if not torch.cuda.is_available():
            raise LookupError("PyTorch finds no GPU")
        x = torch.from_numpy(host_array(case)).cuda()
        if case.kind == "irfft":
            return (
                lambda: torch.fft.irfft(x, n=case.shape[-1], dim=case.axes[0])
            ), torch.cuda.synchronize
        if len(case.axes) == 1:
            function = getattr(torch.fft, case.kind)
            return (lambda: function(x, dim=case.axes[0])), torch.cuda.synchronize
        function = getattr(torch.fft, case.kind + "n")
        return (lambda: function(x, dim=case.axes)), torch.cuda.synchronize

    def scipy(self, case: Case) -> Run:
        try:
            import scipy.fft
        except ImportError as error:
            raise LookupError(str(error)) from None
        return numpy_call(case, scipy.fft, host_array(case), workers=-1), lambda: None


def least(run: Run, seconds: float) -> float:
    """The time of a call [us]: the least of several rounds."""
    call, wait = run
    for _ in range(2):
        call()
    wait()
    start = perf_counter()
    call()
    wait()
    one = max(perf_counter() - start, 1e-7)
    count = max(1, min(int(seconds / 5 / one), 1000))
    best = float("inf")
    end = perf_counter() + seconds
    while True:
        start = perf_counter()
        for _ in range(count):
            call()
        wait()
        now = perf_counter()
        best = min(best, (now - start) / count)
        if now > end:
            return best * 1e6


def table(names: list[str], rows: dict[str, dict[str, float]], digits: int) -> str:
    lines = ["| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for case, values in rows.items():
        cells = [f"{values[n]:.{digits}f}" if n in values else "" for n in names]
        lines.append(f"| {case} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def ratios(times: dict[str, float]) -> dict[str, float]:
    found = {}
    for name in ("cuda", "opencl"):
        for other in ("cufft", "pygpu_cufft", "scipy"):
            if name in times and other in times:
                found[f"{name} / {other}"] = times[other] / times[name]
    return found


def tuned(words: list[str]) -> list[dict[str, int]]:
    """All combinations of NAME=VALUE,VALUE."""
    names = [word.partition("=")[0] for word in words]
    values = [[int(v) for v in word.partition("=")[2].split(",")] for word in words]
    return [dict(zip(names, each, strict=True)) for each in itertools.product(*values)]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few sizes, little data")
    parser.add_argument("--items", type=int, default=None, help="items of an array, some 2^26")
    parser.add_argument("--cases", nargs="*", default=[])
    parser.add_argument("--systems", nargs="*", default=[])
    parser.add_argument("--seconds", type=float, default=0.25)
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE")
    parser.add_argument("--sweep", nargs="*", default=[], metavar="NAME=VALUE,VALUE")
    parser.add_argument("--json", default=None)
    options = parser.parse_args()

    from pygpu._src.array.fft import plan, transform

    systems = Systems()
    known = ["cuda", "cufft", "pygpu_cufft", "opencl", "cupy", "torch", "scipy"]
    names = options.systems or known
    items = options.items or (1 << 22 if options.quick else 1 << 26)
    base = tuned(options.set)[0] if options.set else {}
    choices = [{**base, **more} for more in tuned(options.sweep)] if options.sweep else [base]
    results: dict[str, dict[str, float]] = {}
    best: dict[str, dict[str, Any]] = {}
    for case in cases(items, options.quick):
        if options.cases and not all(word in case.name for word in options.cases):
            continue
        times: dict[str, float] = {}
        for name in names:
            mine = name in ("cuda", "opencl")
            for choice in choices if mine else [{}]:
                transform.set_tuning(plan.tuning_of(choice))
                try:
                    spent = least(getattr(systems, name)(case), options.seconds)
                except LookupError as error:
                    print(f"{name}, {case.name}: {error}", file=sys.stderr)
                    continue
                except Exception as error:
                    text = f"{type(error).__name__}: {error}"
                    print(f"{name}, {case.name} {choice}: {text[:300]}", file=sys.stderr)
                    continue
                if mine and len(choices) > 1:
                    print(f"  {case.name} {name} {choice}: {spent:.1f} us", flush=True)
                if spent < times.get(name, float("inf")):
                    times[name] = spent
                    best.setdefault(case.name, {})[name] = choice
        results[case.name] = times
        size = prod(case.shape) * np.dtype(case.dtype).itemsize
        shares = {n: f"{2 * size / t / 1e3:.0f}" for n, t in times.items()}
        print(
            f"{case.name}: "
            + ", ".join(f"{n} {t:.1f} us ({shares[n]} GB/s)" for n, t in times.items())
            + "; "
            + ", ".join(f"{k} {v:.2f}" for k, v in ratios(times).items())
            + (f"; best {best.get(case.name)}" if len(choices) > 1 else ""),
            flush=True,
        )
    print("\nTime of a call [us]\n\n" + table(names, results, 1))
    shares_of = {case: ratios(times) for case, times in results.items()}
    columns = sorted({k for values in shares_of.values() for k in values})
    print("\nRates, as shares\n\n" + table(columns, shares_of, 2))
    if options.json:
        Path(options.json).write_text(json.dumps({"times": results, "best": best}, indent=1))


if __name__ == "__main__":
    main()
