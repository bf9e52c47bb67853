"""Whole programs of plain array code: pygpu beside CuPy, PyTorch and NumPy, in one run.

python benchmarks/programs.py [--quick] [--only SYSTEM ...] [--programs WORD ...] [--repeats R]
    [--json FILE]

Each program is written once, against the Python array API standard. Its inputs are on the device;
the time is that from the call until all results are there, the least of some runs. The last column
is how many times faster pygpu is than the fastest other system on a GPU, with the geometric mean
below it. Results are compared with those of the first system, which is NumPy unless left out.
Needs array-api-compat for CuPy and PyTorch.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))

Arrays = dict[str, Any]


# ---- programs: (xp, inputs, size) -> results


def heat(xp: Any, a: Arrays, n: int) -> Any:
    """An explicit step of the heat equation in two dimensions, in place."""
    u = xp.asarray(a["u"], copy=True)
    for _ in range(100):
        u[1:-1, 1:-1] += 0.2 * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        )
    return u


def bodies(xp: Any, a: Arrays, n: int) -> Any:
    """Gravity between all pairs."""
    x, v, m = a["x"], a["v"], a["m"]
    for _ in range(5):
        d = x[None, :, :] - x[:, None, :]
        r2 = xp.sum(d * d, axis=-1) + 1e-2
        w = m[None, :] / (r2 * xp.sqrt(r2))
        v = v + 1e-3 * xp.sum(d * w[:, :, None], axis=1)
        x = x + 1e-3 * v
    return x


def means(xp: Any, a: Arrays, n: int) -> Any:
    """k-means: distances by a product, new centres by another one."""
    points, centres = a["points"], a["centres"]
    for _ in range(3):
        squares = xp.sum(centres * centres, axis=1)
        distances = squares[None, :] - 2 * (points @ xp.matrix_transpose(centres))
        nearest = xp.argmin(distances, axis=1)
        chosen = xp.astype(nearest[:, None] == a["labels"][None, :], centres.dtype)
        count = xp.sum(chosen, axis=0)
        centres = (xp.matrix_transpose(chosen) @ points) / (count + 1e-9)[:, None]
    return centres


def options(xp: Any, a: Arrays, n: int) -> Any:
    """The formula of Black and Scholes."""
    s, k, t = a["s"], a["k"], a["t"]
    r, sigma = 0.02, 0.3

    def normal(z: Any) -> Any:
        """The normal distribution, by Abramowitz and Stegun 26.2.17."""
        w = 1 / (1 + 0.2316419 * xp.abs(z))
        poly = w * (
            0.31938153
            + w * (-0.356563782 + w * (1.781477937 + w * (-1.821255978 + w * 1.330274429)))
        )
        tail = 0.3989422804 * xp.exp(-0.5 * z * z) * poly
        return xp.where(z > 0, 1 - tail, tail)

    for _ in range(5):
        root = sigma * xp.sqrt(t)
        d1 = (xp.log(s / k) + (r + 0.5 * sigma * sigma) * t) / root
        discounted = k * xp.exp(-r * t)
        call = s * normal(d1) - discounted * normal(d1 - root)
        put = call - s + discounted
    return put


def fractal(xp: Any, a: Arrays, n: int) -> Any:
    """Mandelbrot's set by real numbers."""
    cr, ci = a["cr"], a["ci"]
    zr, zi, count = cr * 0, ci * 0, cr * 0
    for _ in range(60):
        r2, i2 = zr * zr, zi * zi
        inside = r2 + i2 < 4
        count = count + xp.astype(inside, cr.dtype)
        zi = xp.where(inside, 2 * zr * zi + ci, zi)
        zr = xp.where(inside, r2 - i2 + cr, zr)
    return count


def gradients(xp: Any, a: Arrays, n: int) -> Any:
    """Conjugate gradients for a full matrix."""
    m, b = a["m"], a["b"]
    x = b * 0
    r = b - m @ x
    p = r
    rs = xp.sum(r * r)
    for _ in range(50):
        q = m @ p
        alpha = rs / (xp.sum(p * q) + 1e-30)
        x = x + alpha * p
        r = r - alpha * q
        new = xp.sum(r * r)
        p = r + (new / (rs + 1e-30)) * p
        rs = new
    return x


def oscillator(xp: Any, a: Arrays, n: int) -> Any:
    """Many tiny steps: a damped oscillator."""
    x, v = a["x"], a["v"]
    for _ in range(2000):
        f = -x - 0.1 * v
        v = v + 0.01 * f
        x = x + 0.01 * v
    return x


def standard(xp: Any, a: Arrays, n: int) -> Any:
    """Columns to mean 0 and deviation 1, negative items replaced, sums along rows."""
    x = a["x"]
    z = (x - xp.mean(x, axis=0)) / xp.std(x, axis=0)
    return xp.cumulative_sum(xp.where(z < 0, 0.1 * z, z), axis=1)


def softmax(xp: Any, a: Arrays, n: int) -> Any:
    """Rows to probabilities, and their entropy."""
    x = a["x"]
    e = xp.exp(x - xp.max(x, axis=1, keepdims=True))
    p = e / xp.sum(e, axis=1, keepdims=True)
    return -xp.sum(p * xp.log(p + 1e-20), axis=1)


def waves(xp: Any, a: Arrays, n: int) -> Any:
    """The wave equation in one dimension with three arrays."""
    old, now = a["old"], a["now"]
    for _ in range(50):
        new = 2 * now - old
        new[1:-1] += 0.25 * (now[2:] - 2 * now[1:-1] + now[:-2])
        old, now = now, new
    return now


def transform(xp: Any, a: Arrays, n: int) -> Any:
    """There and back by Fourier, scaled between."""
    x = a["x"]
    for _ in range(3):
        x = xp.fft.irfftn(xp.fft.rfftn(x) * 0.999, s=x.shape, axes=(0, 1))
    return x


def order(xp: Any, a: Arrays, n: int) -> Any:
    """Sorted, and the distinct ones."""
    return xp.sort(a["i"]), xp.unique_values(a["i"])


def product(xp: Any, a: Arrays, n: int) -> Any:
    """Products of square matrices."""
    x = a["x"]
    for _ in range(5):
        x = x @ a["y"]
    return x


def inputs(name: str, n: int) -> dict[str, np.ndarray[Any, Any]]:
    """Made by NumPy, the same for all systems."""
    rng = np.random.default_rng(7)

    def floats(*shape: int, low: float = 0, high: float = 1) -> np.ndarray[Any, Any]:
        return rng.uniform(low, high, shape).astype(np.float32)

    if name == "heat":
        return {"u": floats(n, n)}
    if name == "bodies":
        return {"x": floats(n, 3), "v": floats(n, 3), "m": floats(n)}
    if name == "means":
        points = floats(n, 16)
        return {"points": points, "centres": points[:64], "labels": np.arange(64)}
    if name == "options":
        return {
            "s": floats(n, low=10, high=50),
            "k": floats(n, low=10, high=50),
            "t": floats(n, low=0.2, high=2),
        }
    if name == "fractal":
        i, r = np.meshgrid(np.linspace(-1.5, 1.5, n), np.linspace(-2, 1, n))
        return {"cr": r.astype(np.float32), "ci": i.astype(np.float32)}
    if name == "gradients":
        m = floats(n, n) / np.float32(n)
        return {"m": (m + m.T) / 2 + 2 * np.eye(n, dtype=np.float32), "b": floats(n)}
    if name == "oscillator":
        return {"x": floats(n), "v": floats(n)}
    if name == "waves":
        return {"old": floats(n), "now": floats(n)}
    if name == "order":
        return {"i": rng.integers(0, 1 << 30, n, dtype=np.int32)}
    if name == "product":
        return {"x": floats(n, n), "y": floats(n, n) / np.float32(n)}
    return {"x": floats(n, n, low=-2, high=2)}


# name: (program, size, size of --quick)
PROGRAMS: dict[str, tuple[Callable[[Any, Arrays, int], Any], int, int]] = {
    "heat": (heat, 2048, 64),
    "bodies": (bodies, 4096, 64),
    "means": (means, 200_000, 500),
    "options": (options, 1 << 24, 1000),
    "fractal": (fractal, 1024, 64),
    "gradients": (gradients, 4096, 64),
    "product": (product, 4096, 64),
    "transform": (transform, 4096, 64),
    "order": (order, 1 << 24, 1000),
    "oscillator": (oscillator, 64, 64),
    "standard": (standard, 4096, 64),
    "softmax": (softmax, 4096, 64),
    "waves": (waves, 1 << 23, 1000),
}


# ---- systems: (namespace, to the device, to the host, wait)


def _pygpu_cuda() -> Any:
    import pygpu.cuda.autoinit  # noqa: F401
    import pygpu.xp as xp
    from pygpu.cuda import driver, gpuarray

    return xp, gpuarray.to_gpu, lambda x: x.get(), driver.Context.synchronize


def _pygpu_opencl() -> Any:
    import pygpu as cl
    import pygpu.array
    import pygpu.xp as xp

    gpus = [d for p in cl.get_platforms() for d in p.get_devices()]
    gpus.sort(key=lambda d: not d.type & cl.device_type.GPU)
    queue = cl.CommandQueue(cl.Context(gpus[:1]))
    return xp, lambda x: pygpu.array.to_device(queue, x), lambda x: x.get(), queue.finish


def _cupy() -> Any:
    import cupy
    from array_api_compat import cupy as xp

    return xp, cupy.asarray, cupy.asnumpy, cupy.cuda.Device().synchronize


def _torch() -> Any:
    import torch
    from array_api_compat import torch as xp

    torch.backends.cuda.matmul.allow_tf32 = False
    return (
        xp,
        lambda x: torch.asarray(x, device="cuda"),
        lambda x: x.cpu().numpy(),
        torch.cuda.synchronize,
    )


def _numpy() -> Any:
    from array_api_compat import numpy as xp

    return xp, np.asarray, np.asarray, lambda: None


SYSTEMS: dict[str, tuple[Callable[[], Any], dict[str, str]]] = {
    "pygpu CUDA": (_pygpu_cuda, {"PYGPU_FUSE": "1"}),
    "pygpu CUDA, PYGPU_FUSE=0": (_pygpu_cuda, {"PYGPU_FUSE": "0"}),
    "pygpu OpenCL": (_pygpu_opencl, {"PYGPU_FUSE": "1"}),
    "CuPy": (_cupy, {}),
    "PyTorch": (_torch, {}),
    "NumPy": (_numpy, {}),
}
OURS = "pygpu CUDA"
REST = 0.1  # seconds before each run: a GPU that is hot from the runs before lowers its clock rate
PEERS = ("CuPy", "PyTorch")


def flat(result: Any, get: Callable[[Any], Any]) -> list[Any]:
    return [get(x) for x in (result if isinstance(result, tuple) else (result,))]


def settle(name: str, run: Callable[[], Any]) -> None:
    """Runs the program until pygpu has compiled in the background what it will use."""
    if not name.startswith("pygpu") or name.endswith("FUSE=0"):
        return
    from pygpu import fusion

    quiet, made = 0, -1
    for _ in range(20):
        for _ in range(3):  # what comes once in a run counts, too
            run()
        sleep(0.3)
        now = fusion.statistics()["compiled"]
        quiet, made = quiet + 1 if now == made else 0, now
        if quiet == 4:
            return


def worker(name: str, chosen: list[str], quick: bool, repeats: int, folder: str) -> None:
    """Times one system's programs in this process; prints them as JSON."""
    xp, put, get, wait = SYSTEMS[name][0]()
    found: dict[str, Any] = {}
    for title in chosen:
        program, size, small = PROGRAMS[title]
        n = small if quick else size
        host = inputs(title, n)
        try:
            arrays = {key: put(value) for key, value in host.items()}
            wait()
            begin = perf_counter()
            result = program(xp, arrays, n)
            wait()
            first = perf_counter() - begin
            settle(name, lambda p=program, a=arrays, n=n: p(xp, a, n))
            times = []
            for _ in range(repeats):
                sleep(REST)
                begin = perf_counter()
                result = program(xp, arrays, n)
                wait()
                times.append(perf_counter() - begin)
            found[title] = {"least": min(times), "first": first}
            values = flat(result, get)
            path = Path(folder) / f"{title}.npz"
            if path.exists():
                for mine, expected in zip(values, np.load(path).values(), strict=True):
                    if not np.allclose(mine, expected, 1e-2, 1e-3):
                        print(
                            f"{name}, {title}: other results than the first system's",
                            file=sys.stderr,
                        )
            else:
                np.savez(path, *values)
        except Exception as error:
            text = str(error).splitlines()[0][:150] if str(error) else ""
            print(f"{name}, {title}: {type(error).__name__}: {text}", file=sys.stderr)
    if name == OURS:
        from pygpu import fusion

        print(f"{name}: {fusion.statistics()}", file=sys.stderr)
    print(json.dumps(found))


def measured(name: str, options: argparse.Namespace, folder: str) -> dict[str, Any]:
    command = [sys.executable, __file__, "--worker", name, "--folder", folder]
    command += ["--repeats", str(options.repeats), "--programs", *options.programs]
    command += ["--quick"] if options.quick else []
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, **SYSTEMS[name][1]}
    )
    lines = done.stdout.strip().splitlines()
    found: dict[str, Any] = json.loads(lines[-1]) if done.returncode == 0 and lines else {}
    return found


def table(found: dict[str, dict[str, Any]], chosen: list[str]) -> None:
    names = [name for name in SYSTEMS if found.get(name)]
    print(f"\n| ms | {' | '.join(names)} | ratio |")
    print("|---" * (len(names) + 2) + "|")
    ratios = []
    for title in chosen:
        cells = []
        for name in names:
            time = found[name].get(title)
            cells.append(f"{time['least'] * 1e3:.3f} ({time['first'] * 1e3:.0f})" if time else "")
        mine = found.get(OURS, {}).get(title)
        others = [found[p][title]["least"] for p in PEERS if found.get(p, {}).get(title)]
        ratio = min(others) / mine["least"] if mine and others else None
        if ratio is not None:
            ratios.append(ratio)
        cells.append(f"{ratio:.2f}" if ratio is not None else "")
        print(f"| {title} | {' | '.join(cells)} |")
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"\nGeometric mean of the ratios: {mean:.2f}; the least: {min(ratios):.2f}")
    print(
        "In brackets: the first run, which compiles what is in no cache. Before pygpu is timed, "
        "its fused kernels are compiled, in the background of further runs."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, to see whether it runs")
    parser.add_argument("--only", nargs="*", default=list(SYSTEMS), choices=list(SYSTEMS))
    parser.add_argument("--programs", nargs="*", default=[], help="those whose name has a word")
    parser.add_argument("--repeats", type=int, default=7, help="runs of each (default %(default)s)")
    parser.add_argument("--json", help="write the times there, in seconds")
    parser.add_argument("--worker", choices=list(SYSTEMS), help=argparse.SUPPRESS)
    parser.add_argument("--folder", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    words = options.programs
    options.programs = [p for p in PROGRAMS if not words or any(w in p for w in words)]
    if options.worker:
        worker(options.worker, options.programs, options.quick, options.repeats, options.folder)
        return
    from tempfile import TemporaryDirectory

    found: dict[str, dict[str, Any]] = {}
    with TemporaryDirectory() as folder:
        for name in sorted(options.only, key=lambda name: name != "NumPy"):
            found[name] = measured(name, options, folder)
    table(found, options.programs)
    if options.json:
        Path(options.json).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
