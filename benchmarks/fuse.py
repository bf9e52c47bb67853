"""Whole functions: pygpu.fuse beside plain code, torch.compile and jax.jit, on CUDA, in one run.

python benchmarks/fuse.py [--quick] [--only FUNCTION ...] [--no-peers]

For each function: the seconds of the first call (tracing and compiling; what the caches on disk
have is not compiled again) and the microseconds of a later one, the least of several rounds. Peers
that are not installed are left out.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np


def softmax(xp: Any, x: Any) -> Any:
    e = xp.exp(x - xp.max(x, 1, keepdims=True))
    return e / xp.sum(e, 1, keepdims=True)


def layer_norm(xp: Any, x: Any, scale: Any) -> Any:
    centered = x - xp.mean(x, 1, keepdims=True)
    return centered / xp.sqrt(xp.mean(centered * centered, 1, keepdims=True) + 1e-5) * scale


def k_means_step(xp: Any, x: Any, centers: Any) -> Any:
    d = xp.sum(x * x, 1)[:, None] - 2 * (x @ centers.T) + xp.sum(centers * centers, 1)[None, :]
    return xp.argmin(d, 1), xp.min(d, 1) * 0.5


def n_body_step(xp: Any, p: Any, v: Any, masses: Any) -> Any:
    d = p[None, :, :] - p[:, None, :]
    r = xp.sum(d * d, 2) + 0.01
    moved = v + xp.sum(d * (masses[None, :] / (r * xp.sqrt(r)))[:, :, None], 1) * 0.001
    return p + moved * 0.001, moved


def black_scholes(xp: Any, s: Any, k: Any, t: Any) -> Any:
    rate, sigma = 0.02, 0.3
    root = sigma * xp.sqrt(t)
    d1 = (xp.log(s / k) + (rate + sigma * sigma / 2) * t) / root
    d2 = d1 - root

    def normal(x: Any) -> Any:
        z = 1 / (1 + 0.2316419 * xp.abs(x))
        tail = z * (0.31938153 + z * (-0.356563782 + z * (1.781477937 + z * -1.821255978)))
        tail = tail * xp.exp(-x * x / 2) * (1 / math.sqrt(2 * math.pi))
        return xp.where(x > 0, 1 - tail, tail)

    return s * normal(d1) - k * xp.exp(-rate * t) * normal(d2)


def small(xp: Any, x: Any, v: Any) -> Any:
    moved = x + 0.01 * v
    return xp.where(moved > 1, moved - 2, moved), v * 0.5


def inputs(quick: bool) -> list[tuple[Callable[..., Any], list[np.ndarray]]]:
    random = np.random.default_rng(1)

    def normal(*shape: int) -> np.ndarray:
        return random.normal(size=shape).astype(np.float32)

    few = 16 if quick else 1
    n = (1 << 24) // (few * few)
    return [
        (softmax, [normal(16384 // few, 1024)]),
        (layer_norm, [normal(16384 // few, 1024), normal(1024)]),
        (k_means_step, [normal(200_000 // few, 16), normal(64, 16)]),
        (n_body_step, [normal(4096 // few, 3), normal(4096 // few, 3), normal(4096 // few)]),
        (black_scholes, [np.abs(normal(n)) + 0.5, np.abs(normal(n)) + 0.5, np.abs(normal(n)) + 1]),
        (small, [normal(64), normal(64)]),
    ]


def timed(call: Callable[[], Any], wait: Callable[[], Any]) -> tuple[float, float]:
    """(seconds of the first call, microseconds of a later one)."""
    wait()
    start = perf_counter()
    call()
    wait()
    first = perf_counter() - start
    for _ in range(3):
        call()
    wait()
    best = math.inf
    for _ in range(7):
        start = perf_counter()
        for _ in range(20):
            call()
        wait()
        best = min(best, (perf_counter() - start) / 20)
    return first, best * 1e6


def systems(peers: bool) -> dict[str, Any]:
    """name: (arrays of the host to the device, a function ready to be called, wait)."""
    import pygpu.cuda.autoinit  # noqa: F401
    from pygpu import fuse
    from pygpu.cuda import driver
    from pygpu.cuda.gpuarray import to_gpu

    def of(xp: Any, function: Any, n: int) -> Any:
        """The function of n arguments, with the namespace bound."""
        forms = {
            1: lambda a: function(xp, a),
            2: lambda a, b: function(xp, a, b),
            3: lambda a, b, c: function(xp, a, b, c),
        }
        return forms[n]

    wait = driver.Context.synchronize
    found: dict[str, Any] = {
        "plain": (to_gpu, lambda f, n: of(np, f, n), wait),
        "fuse": (to_gpu, lambda f, n: fuse(of(np, f, n)), wait),
    }
    if not peers:
        return found
    try:
        import torch

        if torch.cuda.is_available():
            found["torch.compile"] = (
                lambda a: torch.tensor(a, device="cuda"),
                lambda f, n: torch.compile(of(_Torch(torch), f, n)),
                torch.cuda.synchronize,
            )
    except ImportError:
        print("torch is not installed")
    try:
        import jax

        found["jax.jit"] = (
            jax.device_put,
            lambda f, n: jax.jit(of(jax.numpy, f, n)),
            lambda: jax.device_put(0.0).block_until_ready(),
        )
    except ImportError:
        print("jax is not installed")
    return found


class _Torch:
    """PyTorch's functions by NumPy's names."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch

    def __getattr__(self, name: str) -> Any:
        return getattr(self.torch, name)

    def max(self, x: Any, axis: int, keepdims: bool = False) -> Any:
        return self.torch.amax(x, axis, keepdims)

    def min(self, x: Any, axis: int, keepdims: bool = False) -> Any:
        return self.torch.amin(x, axis, keepdims)

    def sum(self, x: Any, axis: int, keepdims: bool = False) -> Any:
        return self.torch.sum(x, axis, keepdim=keepdims)

    def mean(self, x: Any, axis: int, keepdims: bool = False) -> Any:
        return self.torch.mean(x, axis, keepdim=keepdims)

    def argmin(self, x: Any, axis: int) -> Any:
        return self.torch.argmin(x, axis)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--no-peers", action="store_true")
    options = parser.parse_args()
    found = systems(not options.no_peers)
    for function, hosts in inputs(options.quick):
        if options.only and function.__name__ not in options.only:
            continue
        for name, (put, make, wait) in found.items():
            arrays = [put(h) for h in hosts]
            call = make(function, len(hosts))
            try:
                first, later = timed(lambda call=call, arrays=arrays: call(*arrays), wait)
            except Exception as error:
                print(f"{function.__name__:14} {name:14} {type(error).__name__}: {error}"[:100])
                continue
            print(
                f"{function.__name__:14} {name:14} first {first:7.3f} s, later {later:9.1f} us",
                flush=True,
            )


if __name__ == "__main__":
    main()
