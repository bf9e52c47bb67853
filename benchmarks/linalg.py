"""Linear algebra: pygpu on CUDA and OpenCL beside cuBLAS, CLBlast, CuPy, PyTorch, JAX and NumPy.

python benchmarks/linalg.py [--cases WORD ...] [--systems NAME ...] [--seconds S] [--quick]
    [--tiles ROWS,COLUMNS,DEEP,EACH_ROW,EACH_COLUMN[,RESIDENT][/PARTS] ...] [--json FILE]

Products of matrices. Times are the least of several rounds of calls that are queued one after the
other, in microseconds. The second table has ratios: a system's rate divided by that of cuBLAS (the
library itself, called by pygpu), of CLBlast, or of NumPy with all cores.

--cases picks those whose name contains all words ("square", "float64", "4096"). --tiles times each
case with each of these tiles and prints the best, to choose pygpu._src.array.products' constants.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))

from fft import Run, least, table


class Case(NamedTuple):
    """left, right: shapes; turned: which operands are transposed views ("", "a", "b", "ab");
    precision: see pygpu.linalg.precision."""

    name: str
    left: tuple[int, ...]
    right: tuple[int, ...]
    dtype: str
    turned: str = ""
    precision: str = "highest"

    @property
    def multiplications(self) -> int:
        stack = prod(self.left[:-2]) if len(self.left) > 2 else 1
        return stack * prod(self.left[-2:]) * (self.right[-1] if len(self.right) > 1 else 1)


NAMES = {"f": "float32", "d": "float64", "F": "complex64", "D": "complex128", "e": "float16"}


def cases(quick: bool) -> Iterator[Case]:
    """Large squares, stacks, skinny ones, vectors."""
    for char, name in NAMES.items():
        for n in (512, 1024) if quick else (512, 1024, 2048, 4096):
            if n < 4096 or char in "fe":
                yield Case(f"square {n} {name}", (n, n), (n, n), char)
    for precision in ("tf32", "bf16x3"):
        for n in (1024,) if quick else (1024, 4096):
            yield Case(f"square {n} float32 {precision}", (n, n), (n, n), "f", "", precision)
    for char in "fd":
        name = NAMES[char]
        for turned in ("a", "b", "ab"):
            yield Case(f"square 2048 {turned} transposed {name}", *[(2048, 2048)] * 2, char, turned)
        yield Case(f"odd 2047 {name}", (2047, 2047), (2047, 2047), char)
        yield Case(f"stack 64 of 128 {name}", (64, 128, 128), (64, 128, 128), char)
        yield Case(f"stack 64 of 64x128x128 {name}", (64, 64, 128), (64, 128, 128), char)
        yield Case(f"stack 10000 of 16 {name}", (10000, 16, 16), (10000, 16, 16), char)
        yield Case(f"stack 100000 of 4 {name}", (100000, 4, 4), (100000, 4, 4), char)
        yield Case(f"skinny 200000x16x64 {name}", (200000, 16), (16, 64), char)
        yield Case(f"skinny 64x200000x16 {name}", (64, 200000), (200000, 16), char)
        yield Case(f"skinny 4096x4096x16 {name}", (4096, 4096), (4096, 16), char)
        yield Case(f"skinny 16x4096x4096 {name}", (16, 4096), (4096, 4096), char)
        yield Case(f"rank 4096x64x4096 {name}", (4096, 64), (64, 4096), char)
        yield Case(f"vector 8192x8192 {name}", (8192, 8192), (8192,), char)
        yield Case(f"vector 8192x8192 a transposed {name}", (8192, 8192), (8192,), char, "a")
        yield Case(f"vector 100x1000000 {name}", (100, 1000000), (1000000,), char)
        yield Case(f"vector 1000000x100 {name}", (1000000, 100), (100,), char)


def host_arrays(case: Case) -> list[np.ndarray]:
    """Both operands, C-contiguous ones of the memory of transposed views."""
    rng = np.random.default_rng(1)
    found = []
    for which, shape in zip("ab", (case.left, case.right), strict=True):
        if which in case.turned:
            shape = (*shape[:-2], shape[-1], shape[-2])
        block = rng.standard_normal(min(prod(shape), 1_000_003))
        if case.dtype in "FD":
            block = block + 1j * rng.standard_normal(block.shape)
        found.append(np.resize(block.astype(case.dtype), shape))
    return found


def operands(case: Case, make: Callable[[np.ndarray], Any]) -> list[Any]:
    found = []
    for which, x in zip("ab", host_arrays(case), strict=True):
        y = make(x)
        found.append(y.swapaxes(-1, -2) if which in case.turned else y)
    return found


class Systems:
    """What there is to time: a method for each gives (call, wait), or raises LookupError."""

    def __init__(self, check: bool) -> None:
        self.context = self.queue = self.library = None
        self.check = check

    def _cuda(self) -> Any:
        from pygpu.cuda import driver

        if self.context is None:
            driver.init()
            self.context = driver.Device(0).retain_primary_context()
            self.context.push()
        from pygpu.cuda import gpuarray

        return gpuarray

    def _with(
        self, case: Case, make: Callable[[np.ndarray], Any], library: bool
    ) -> Callable[[], Any]:
        """a @ b, by a library or by pygpu's kernels."""
        from pygpu import linalg
        from pygpu._src.array import matmul

        if case.precision != "highest" and not library:
            raise LookupError("pygpu's kernels compute at the highest precision")
        if self.library is None:
            self.library = matmul._library
        a, b = operands(case, make)
        matmul._library = self.library if library else lambda *_: None
        a.backend.table.plans.clear()
        if library and matmul._library(a, np.dtype(case.dtype), matmul.matmul(a, b)) is None:
            raise LookupError("the library is not installed")
        if self.check and case.multiplications < 1 << 31:
            compare(case, linalg.matmul(a, b, precision=case.precision).get())
        if case.precision != "highest":
            return lambda: linalg.matmul(a, b, precision=case.precision)
        return lambda: a @ b

    def cuda(self, case: Case) -> Run:
        make = self._cuda().to_gpu
        return self._with(case, make, False), self.context.synchronize

    def cublas(self, case: Case) -> Run:
        make = self._cuda().to_gpu
        return self._with(case, make, True), self.context.synchronize

    def _opencl(self) -> Callable[[np.ndarray], Any]:
        import pygpu
        import pygpu.array

        if self.queue is None:
            self.queue = pygpu.CommandQueue(pygpu.create_some_context(interactive=False))
        return lambda x: pygpu.array.to_device(self.queue, x)

    def opencl(self, case: Case) -> Run:
        make = self._opencl()
        return self._with(case, make, False), self.queue.finish

    def clblast(self, case: Case) -> Run:
        make = self._opencl()
        return self._with(case, make, True), self.queue.finish

    def cupy(self, case: Case) -> Run:
        try:
            import cupy
        except ImportError as error:
            raise LookupError(str(error)) from None
        if case.precision != "highest":
            raise LookupError("CuPy's precision is a setting of the process")
        a, b = operands(case, cupy.asarray)
        return lambda: a @ b, cupy.cuda.Device().synchronize

    def torch(self, case: Case) -> Run:
        try:
            import torch
        except ImportError as error:
            raise LookupError(str(error)) from None
        if not torch.cuda.is_available():
            raise LookupError("PyTorch finds no GPU")
        if case.precision == "bf16x3":
            raise LookupError("PyTorch has no such precision")
        torch.backends.cuda.matmul.allow_tf32 = case.precision == "tf32"
        a, b = operands(case, lambda x: torch.from_numpy(x).cuda())
        return lambda: a @ b, torch.cuda.synchronize

    def jax(self, case: Case) -> Run:
        try:
            import jax
        except ImportError as error:
            raise LookupError(str(error)) from None
        if case.dtype not in "feF" or jax.default_backend() != "gpu":
            raise LookupError("JAX has no such numbers, or no GPU")
        names = {"highest": "highest", "tf32": "tensorfloat32", "bf16x3": "BF16_BF16_F32_X3"}
        a, b = operands(case, jax.numpy.asarray)
        with jax.default_matmul_precision(names[case.precision]):
            product = jax.jit(lambda x, y: x @ y).lower(a, b).compile()
        last = [product(a, b)]

        def call() -> Any:
            last[0] = product(a, b)
            return last[0]

        return call, lambda: last[0].block_until_ready()

    def numpy(self, case: Case) -> Run:
        if case.dtype == "e":
            raise LookupError("NumPy has no BLAS for float16")
        if case.precision != "highest":
            raise LookupError("NumPy computes at the highest precision")
        a, b = operands(case, np.asarray)
        return lambda: a @ b, lambda: None


def compare(case: Case, got: np.ndarray) -> None:
    """Raises ArithmeticError for a result that is not the product."""
    a, b = operands(case, np.asarray)
    wide = np.complex128 if case.dtype in "FD" else np.float64
    a, b = a.astype(wide), b.astype(wide)
    bound = np.abs(a) @ np.abs(b)
    coarse = {"tf32": 2.0**-10, "bf16x3": 2.0**-16}
    eps = coarse.get(case.precision, float(np.finfo(got.dtype).eps))
    worst = float((np.abs(got - a @ b) / (bound * eps)).max())
    if not worst < 30 + 2 * a.shape[-1] ** 0.5:
        raise ArithmeticError(f"error of {worst} units")


def ratios(times: dict[str, float]) -> dict[str, float]:
    found = {}
    for name in ("cuda", "opencl"):
        for other in ("cublas", "clblast", "numpy"):
            if name in times and other in times:
                found[f"{name} / {other}"] = times[other] / times[name]
    return found


def choice_of(word: str) -> Any:
    """ROWS,COLUMNS,DEEP,EACH_ROW,EACH_COLUMN[,RESIDENT][/PARTS]"""
    from pygpu._src.array.products import Choice
    from pygpu._src.codegen.kernels.matmul_tiles import Tile

    tile, _, parts = word.partition("/")
    return Choice(Tile(*map(int, tile.split(","))), int(parts or 1))


def measure(systems: Systems, name: str, case: Case, choices: list[str], seconds: float) -> Any:
    """(the least time [us], the choice)"""
    from pygpu._src.array import products

    best: tuple[float, str] | None = None
    for word in choices if name in ("cuda", "opencl") else [""]:
        products.set_choice(choice_of(word) if word else None)
        try:
            spent = least(getattr(systems, name)(case), seconds)
        except LookupError as error:
            print(f"{name}, {case.name}: {error}", file=sys.stderr)
            continue
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            print(f"{name}, {case.name} {word}: {text[:300]}", file=sys.stderr)
            continue
        finally:
            products.set_choice(None)
        if len(choices) > 1:
            print(f"  {case.name} {name} {word}: {spent:.1f} us", flush=True)
        if best is None or spent < best[0]:
            best = spent, word
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small squares")
    parser.add_argument("--check", action="store_true", help="compare small results with NumPy's")
    parser.add_argument("--cases", nargs="*", default=[])
    parser.add_argument("--systems", nargs="*", default=[])
    parser.add_argument("--seconds", type=float, default=0.25)
    parser.add_argument("--tiles", nargs="*", default=[])
    parser.add_argument("--json", default=None)
    options = parser.parse_args()

    systems = Systems(options.check)
    known = ["cuda", "cublas", "opencl", "clblast", "cupy", "torch", "jax", "numpy"]
    names = options.systems or known
    choices = ["", *options.tiles]
    results: dict[str, dict[str, float]] = {}
    for case in cases(options.quick):
        if options.cases and not all(word in case.name for word in options.cases):
            continue
        times, chosen = {}, {}
        for name in names:
            best = measure(systems, name, case, choices, options.seconds)
            if best is not None:
                times[name], chosen[name] = best
        results[case.name] = times
        rate = {n: f"{2 * case.multiplications / t / 1e3:.0f}" for n, t in times.items()}
        line = ", ".join(f"{n} {t:.1f} us ({rate[n]} GFLOP/s)" for n, t in times.items())
        line += "; " + ", ".join(f"{k} {v:.2f}" for k, v in ratios(times).items())
        if options.tiles:
            line += f"; best {chosen}"
        print(f"{case.name}: {line}", flush=True)
    print("\nTime of a call [us]\n\n" + table(names, results, 1))
    shares = {case: ratios(times) for case, times in results.items()}
    columns = sorted({k for values in shares.values() for k in values})
    print("\nRates, as shares\n\n" + table(columns, shares, 2))
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
