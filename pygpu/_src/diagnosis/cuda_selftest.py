"""The CUDA checks of ``python -m pygpu``, which run in a child process: see selftest.py."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

KERNEL = """
__global__ void scale(const unsigned int *x, unsigned int *y, unsigned int factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = factor * x[i] + i;
}
__global__ void reverse(const float *x, float *y)
{
    __shared__ float block[64];
    int first = blockIdx.x * 64;
    block[threadIdx.x] = 0.5f * x[first + threadIdx.x];
    __syncthreads();
    y[first + threadIdx.x] = block[63 - threadIdx.x];
}
"""
FACTOR = 2654435761  # odd and large, so that products wrap


def describe() -> dict[str, Any]:
    """Describe the driver and its devices.

    Keys: library, tried, simulator (bool), version (such as 12040), devices (a list of dicts),
    error.
    """
    from pygpu import _cuda
    from pygpu._src.drivers import cuda_loader as loader
    from pygpu.cuda import driver
    from pygpu.errors import Error

    found: dict[str, Any] = {"library": None, "simulator": False, "version": 0, "devices": []}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            driver.init()
        found["library"] = _cuda._library()
        found["simulator"] = _cuda._is_simulator()
        found["version"] = driver.get_driver_version()
        for number in range(driver.Device.count()):
            device = driver.Device(number)
            found["devices"].append(
                {
                    "name": device.name(),
                    "compute_capability": list(device.compute_capability()),
                    "memory": device.total_memory(),
                    "multiprocessors": device.multiprocessor_count,
                    "shared_memory": device.max_shared_memory_per_block,
                    "threads": device.max_threads_per_block,
                    "pci": device.pci_bus_id(),
                }
            )
        found["error"] = None
    except Error as error:
        found["error"] = None if error.code == loader.NO_DEVICE else str(error)
    found["tried"] = [{"path": path, "result": result} for path, result in loader.tried(_cuda)]
    return found


def run(number: int, write: Callable[[dict[str, Any]], None]) -> None:
    """Compile, launch, copy and compare on one device; raises AssertionError on a wrong result."""
    import numpy as np

    from pygpu._src.runtime.cuda.source_module import SourceModule
    from pygpu.cuda import driver

    def timed(name: str, work: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        result = work()
        write({"step": name, "ms": 1e3 * (time.perf_counter() - start)})
        return result

    def make_context() -> driver.Context:
        context = driver.Device(number).retain_primary_context()
        context.push()
        return context

    timed("context", make_context)
    n = 1 << 20
    x = np.arange(n, dtype=np.uint32)[::-1].copy()
    source = f"{KERNEL}\n/* {time.time_ns()} */\n"  # unique, so that no cache has it
    module = timed("build", lambda: SourceModule(source, cache_dir=False))
    a, b = driver.mem_alloc(x.nbytes), driver.mem_alloc(x.nbytes)
    timed("copy to", lambda: driver.memcpy_htod(a, x))

    def launch() -> None:
        scale = module.get_function("scale")
        sizes = {"block": (256, 1, 1), "grid": (n // 256, 1)}
        scale(a, b, np.uint32(FACTOR), np.int32(n), **sizes)
        driver.Context.synchronize()

    timed("launch", launch)
    y = np.empty_like(x)
    timed("copy from", lambda: driver.memcpy_dtoh(y, b))
    assert (y == x * np.uint32(FACTOR) + np.arange(n, dtype=np.uint32)).all(), "integers differ"
    f = np.random.default_rng(5).random(n, dtype=np.float32)
    driver.memcpy_htod(a, f)
    module.get_function("reverse")(a, b, block=(64, 1, 1), grid=(n // 64, 1))
    g = np.empty_like(f)
    driver.memcpy_dtoh(g, b)
    expected = (f / 2).reshape(-1, 64)[:, ::-1].ravel()
    assert (g == expected).all(), "floats through shared memory differ"
