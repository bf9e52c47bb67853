"""What CUDA C++ costs until its kernel can be launched: pygpu, PyCUDA, CuPy, cuda.core, and C.

python benchmarks/cuda_compile.py [--repeats R] [--quick] [--json FILE]

"cold": a source that was never compiled before, another one each time, until get_function() or
what is like it has returned. "warm": a source that the library's cache on the disk has; in C, and
where a library has no cache, the cubin is there and is loaded. PyCUDA runs nvcc, and so does
"pygpu, nvcc"; the others call NVRTC. numba-cuda compiles a Python function that does the same.
The kernels are then launched, and what they write is checked.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import cuda_common
import numpy as np

CASES = {
    "cold_one": "cold, 1 kernel",
    "cold_many": "cold, 20 kernels",
    "warm_one": "warm, 1 kernel",
    "warm_many": "warm, 20 kernels",
}
KERNELS = {"one": 1, "many": 20}


def source(kernels: int, number: int) -> str:
    """A program of so many kernels that no other number gives; "first" writes the number."""
    text = f'extern "C" __global__ void first(unsigned *out) {{ out[0] = {number}u; }}\n'
    for i in range(1, kernels):
        text += f"""
extern "C" __global__ void kernel{i}(float *a, int n)
{{
    int at = threadIdx.x + blockIdx.x * blockDim.x;
    if (at >= n)
        return;
    float x = a[at] + {i}.0f;
    #pragma unroll 1
    for (int step = 0; step < {i + 3}; step++)
        x = fmaf(x, 0.5f, {number}.0f) + (at % {i + 2} ? sqrtf(fabsf(x)) : expf(-x * x));
    a[at] = x;
}}
"""
    return text


# ---- the libraries -------------------------------------------------------------------------------

# (text, whether it may be cached) -> ns until the function was there, and what launches it and
# gives what it wrote.
Compile = Callable[[str, bool], tuple[int, Callable[[], int]]]


def like_pycuda(cuda: Any, compiler: Any, folder: str, **keywords: Any) -> Compile:
    """PyCUDA's names, which are pygpu's too."""
    cuda.init()
    cuda.Device(0).retain_primary_context().push()
    memory, out = cuda.mem_alloc(4), np.zeros(1, np.uint32)

    def compile_(text: str, cached: bool) -> tuple[int, Callable[[], int]]:
        begin = perf_counter_ns()
        module = compiler.SourceModule(
            text, no_extern_c=True, cache_dir=folder if cached else False, **keywords
        )
        function = module.get_function("first")
        took = perf_counter_ns() - begin

        def launch() -> int:
            function(memory, block=(1, 1, 1))
            cuda.memcpy_dtoh(out, memory)
            return int(out[0])

        return took, launch

    return compile_


def pygpu_(folder: str) -> Compile:
    import pygpu.cuda.driver as cuda
    from pygpu.cuda import compiler

    return like_pycuda(cuda, compiler, folder)


def pygpu_nvcc(folder: str) -> Compile:
    import shutil

    import pygpu.cuda.driver as cuda
    from pygpu.cuda import compiler

    path = shutil.which("nvcc")
    if path is None:
        raise FileNotFoundError("no nvcc")
    return like_pycuda(cuda, compiler, folder, nvcc=path)


def pycuda_(folder: str) -> Compile:
    import pycuda.driver as cuda
    from pycuda import compiler

    return like_pycuda(cuda, compiler, folder)


def cupy_(folder: str) -> Compile:
    os.environ["CUPY_CACHE_DIR"] = folder
    import cupy

    out = cupy.zeros(1, np.uint32)

    def compile_(text: str, cached: bool) -> tuple[int, Callable[[], int]]:
        cupy.clear_memo()  # what the process remembers: the disk's cache is asked for
        begin = perf_counter_ns()
        function = cupy.RawModule(code=text).get_function("first")
        took = perf_counter_ns() - begin

        def launch() -> int:
            function((1,), (1,), (out,))
            return int(out[0])

        return took, launch

    return compile_


def cuda_core_(folder: str) -> Compile:
    from cuda.core import (
        Device,
        LaunchConfig,
        LegacyPinnedMemoryResource,
        ObjectCode,
        Program,
        ProgramOptions,
        launch,
    )

    device = Device()
    device.set_current()
    stream = device.default_stream
    arch = "sm_" + "".join(map(str, device.compute_capability))
    memory = LegacyPinnedMemoryResource().allocate(4)
    out, config = np.from_dlpack(memory).view(np.uint32), LaunchConfig(grid=1, block=1)
    cubins: dict[str, bytes] = {}  # it has no cache of its own

    def compile_(text: str, cached: bool) -> tuple[int, Callable[[], int]]:
        known = cubins.get(text) if cached else None
        begin = perf_counter_ns()
        if known is None:
            code = Program(text, "c++", ProgramOptions(arch=arch)).compile("cubin")
        else:
            code = ObjectCode.from_cubin(known)
        kernel = code.get_kernel("first")
        took = perf_counter_ns() - begin
        if cached:
            cubins[text] = bytes(code.code)

        def run() -> int:
            launch(stream, config, kernel, memory)
            device.sync()
            return int(out[0])

        return took, run

    return compile_


def numba_(folder: str) -> Compile:
    from numba import cuda

    out = cuda.to_device(np.zeros(1, np.uint32))

    def compile_(text: str, cached: bool) -> tuple[int, Callable[[], int]]:
        if cached or "kernel1" in text:
            raise LookupError("compared for one kernel, cold")
        number = int(text.partition("out[0] = ")[2].partition("u;")[0])
        space: dict[str, Any] = {}
        exec(f"def first(out):\n    out[0] = {number}\n", space)
        begin = perf_counter_ns()
        kernel = cuda.jit("void(uint32[::1])")(space["first"])
        took = perf_counter_ns() - begin

        def launch() -> int:
            kernel[1, 1](out)
            return int(out.copy_to_host()[0])

        return took, launch

    return compile_


LIBRARIES: dict[str, Callable[[str], Compile]] = {
    "pygpu": pygpu_,
    "pygpu, nvcc": pygpu_nvcc,
    "PyCUDA, nvcc": pycuda_,
    "CuPy RawModule": cupy_,
    "cuda.core": cuda_core_,
    "numba-cuda": numba_,
}


def worker(name: str) -> None:
    """Answers "CASE NUMBER" with what cuda_compile.c answers."""
    import warnings

    warnings.simplefilter("ignore")  # PyCUDA warns of each file that its cache does not have
    ready: list[Compile] = []
    with tempfile.TemporaryDirectory() as folder:

        def reply(case: str, number: str) -> Sequence[float]:
            if not ready:
                ready.append(LIBRARIES[name](folder))
            how, _, size = case.partition("_")
            if how == "cold":
                took, launch = ready[0](source(KERNELS[size], int(number)), False)
            else:
                text = source(KERNELS[size], int(number))
                ready[0](text, True)
                took, launch = ready[0](text, True)
            return took, launch()

        cuda_common.answer(sys.stdin, reply)


# ---- the run -------------------------------------------------------------------------------------


def measure(driver: cuda_common.Driver, options: argparse.Namespace) -> cuda_common.Best:
    """Least ns by library and case."""
    asked: dict[tuple[str, str], int] = {}

    def ask(process: cuda_common.Process, name: str, case: str) -> float | None:
        how, _, size = case.partition("_")
        # Warm sources stay the same; cold ones were never seen, not by another case either.
        number = 1 if how == "warm" else asked.get((name, case), 1) + 1
        asked[name, case] = number
        (folder / f"{size}_{number}.cu").write_text(source(KERNELS[size], number))
        answer = process.ask(case, number)
        if answer is not None and not driver.is_null and answer[1] != number:
            raise SystemExit(f"another kernel than asked for: {name}, {case}: {answer}")
        return answer[0] if answer else None

    names = list(LIBRARIES)[:2] if driver.is_null else list(LIBRARIES)
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        more = (driver.nvrtc, driver.architecture, path)
        processes = cuda_common.start(__file__, driver, names, "cuda_compile.c", *more)
        best = cuda_common.least(processes, CASES, options.repeats, ask)
    title = "The driver does nothing" if driver.is_null else "Until the kernel can be launched"
    cuda_common.show_times(title, best, CASES, ("ms", 1e6))
    if best.get("C"):
        cuda_common.show_ratios("Over C", best, CASES)
    cuda_common.show_left_out(processes, CASES)
    return best


def main() -> None:
    options = cuda_common.arguments(str(__doc__).splitlines()[0], repeats=5).parse_args()
    if options.worker:
        worker(options.worker)
        return
    if options.quick:
        options.repeats = 1
    driver = cuda_common.find_driver()
    real = measure(driver, options) if driver else {}
    own = measure(cuda_common.null_driver(), options)
    warm = (real or own).get("pygpu", {}).get("warm_one")
    cuda_common.show_targets([("warm SourceModule, ms", warm / 1e6 if warm else None, 1.0)])
    if options.json:
        Path(options.json).write_text(json.dumps({"driver": real, "own": own}, indent=1))


if __name__ == "__main__":
    sys.exit(main())
