"""What a CUDA kernel launch costs the host: pygpu, cuda.core, CuPy, PyCUDA, numba-cuda and C.

python benchmarks/cuda_launch.py [--repeats R] [--launches N] [--quick] [--json FILE]

N launches of one 32-thread block are queued, then waited for; the time until they are queued is
divided by N. "own cost" is the same with a driver that does nothing (null_cuda.c). Every launch is
counted by the kernel, and what it saw of its arguments is checked.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import repeat
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import cuda_common
import numpy as np

CASES = {"p1": "1 pointer", "p4": "4 pointers", "p16": "16 pointers", "mixed": "3 pointers, 1 int"}
POINTERS = {"p1": 1, "p4": 4, "p16": 16, "mixed": 3}
NUMBER = 7


def expected(case: str) -> int:
    """What the kernel sums up: pointer number i leads to i."""
    return sum(range(POINTERS[case])) + (NUMBER if case == "mixed" else 0)


def source() -> str:
    parts = []
    for case, n in POINTERS.items():
        names = [f"const unsigned *a{i}" for i in range(1, n)]
        names += ["int number"] if case == "mixed" else []
        terms = [f"*a{i}" for i in range(1, n)] + (["number"] if case == "mixed" else [])
        total = " + ".join(terms) or "0"
        parts.append(
            f'extern "C" __global__ void {case}({", ".join(["unsigned *count", *names])})\n'
            f"{{ if (threadIdx.x == 0) {{ count[0] += 1; count[1] = {total}; }} }}\n"
        )
    return "".join(parts)


def ptx() -> bytes:
    """Kernels without code for the driver that does nothing, which reads their parameters."""
    text = "//\n.version 8.0\n.target sm_90\n.address_size 64\n"
    for case, n in POINTERS.items():
        kinds = ["u64"] * n + (["u32"] if case == "mixed" else [])
        params = ", ".join(f".param .{kind} {case}_param_{i}" for i, kind in enumerate(kinds))
        text += f".visible .entry {case}({params}) {{ ret; }}\n"
    return text.encode()


# ---- the libraries -------------------------------------------------------------------------------

# name -> (launch, synchronize, arguments, read): launch is Python text that launches f(arguments).
Ready = tuple[str, dict[str, Any], Callable[[], object], Callable[[], np.ndarray]]


def pygpu_(case: str, null: bool, prepared: bool = False) -> Ready:
    import pygpu.cuda.driver as cuda

    if null:
        module = cuda.module_from_buffer(ptx())
        module._set_source(source())
    else:
        from pygpu.cuda.compiler import SourceModule

        module = SourceModule(source(), no_extern_c=True)
    memory = [cuda.to_device(np.array([i, 0], np.uint32)) for i in range(POINTERS[case])]
    cuda.memcpy_htod(memory[0], np.zeros(2, np.uint32))
    f = module.get_function(case)
    names = {"f": f} | {f"a{i}": one for i, one in enumerate(memory)}
    args = ", ".join([f"a{i}" for i in range(POINTERS[case])])
    if case == "mixed":
        names["n"] = NUMBER if prepared else np.int32(NUMBER)
        args += ", n"
    if prepared:
        f.prepare("P" * POINTERS[case] + ("i" if case == "mixed" else ""))
        names["f"] = f.prepared_call
        text = f"f((1, 1), (32, 1, 1), {args})"
    else:
        text = f"f({args}, block=(32, 1, 1), grid=(1, 1))"
    return text, names, cuda.Context.synchronize, lambda: cuda.from_device(memory[0], 2, np.uint32)


def pycuda_(case: str, null: bool, prepared: bool = False) -> Ready:
    import pycuda.driver as cuda
    from pycuda.compiler import SourceModule

    cuda.init()
    cuda.Device(0).retain_primary_context().push()
    memory = [cuda.to_device(np.array([i, 0], np.uint32)) for i in range(POINTERS[case])]
    f = SourceModule(source(), no_extern_c=True).get_function(case)
    names = {"f": f} | {f"a{i}": one for i, one in enumerate(memory)}
    args = ", ".join([f"a{i}" for i in range(POINTERS[case])])
    if case == "mixed":
        names["n"] = NUMBER if prepared else np.int32(NUMBER)
        args += ", n"
    if prepared:
        f.prepare("P" * POINTERS[case] + ("i" if case == "mixed" else ""))
        names["f"] = f.prepared_call
        text = f"f((1, 1), (32, 1, 1), {args})"
    else:
        text = f"f({args}, block=(32, 1, 1), grid=(1, 1))"
    read = lambda: cuda.from_device(memory[0], (2,), np.uint32)  # noqa: E731
    return text, names, cuda.Context.synchronize, read


def cupy_(case: str, null: bool) -> Ready:
    import cupy

    f = cupy.RawKernel(source(), case)
    arrays = [cupy.array([i, 0], np.uint32) for i in range(POINTERS[case])]
    names: dict[str, Any] = {"f": f, "args": (*arrays, *([np.int32(NUMBER)] * (case == "mixed")))}
    text = "f((1,), (32,), args)"
    return text, names, cupy.cuda.Device().synchronize, lambda: cupy.asnumpy(arrays[0])


def cuda_core_(case: str, null: bool) -> Ready:
    import cupy
    from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

    device = Device()
    device.set_current()
    arch = "".join(map(str, device.compute_capability))
    program = Program(source(), "c++", ProgramOptions(arch=f"sm_{arch}"))
    f = program.compile("cubin", name_expressions=(case,)).get_kernel(case)
    arrays = [cupy.array([i, 0], np.uint32) for i in range(POINTERS[case])]
    names = {f"a{i}": one.data.ptr for i, one in enumerate(arrays)}
    names |= {"launch": launch, "s": device.default_stream, "f": f, "n": np.int32(NUMBER)}
    names["config"] = LaunchConfig(grid=1, block=32)
    args = [f"a{i}" for i in range(POINTERS[case])] + ["n"] * (case == "mixed")
    text = f"launch(s, config, f, {', '.join(args)})"
    return text, names, device.sync, lambda: cupy.asnumpy(arrays[0])


def numba_(case: str, null: bool) -> Ready:
    from numba import cuda

    n = POINTERS[case]
    names = [f"a{i}" for i in range(n)] + ["n"] * (case == "mixed")
    total = " + ".join([f"a{i}[0]" for i in range(1, n)] + ["n"] * (case == "mixed")) or "0"
    space: dict[str, Any] = {"cuda": cuda}
    exec(
        f"def kernel({', '.join(names)}):\n    if cuda.threadIdx.x == 0:\n"
        f"        a0[0] += 1\n        a0[1] = {total}\n",
        space,
    )
    arrays = [cuda.to_device(np.array([i, 0], np.uint32)) for i in range(n)]
    known: dict[str, Any] = {f"a{i}": one for i, one in enumerate(arrays)}
    known |= {"f": cuda.jit(space["kernel"]), "n": np.int32(NUMBER)}
    return f"f[1, 32]({', '.join(names)})", known, cuda.synchronize, arrays[0].copy_to_host


LIBRARIES: dict[str, Callable[[str, bool], Ready]] = {
    "pygpu": pygpu_,
    "pygpu, prepared": lambda case, null: pygpu_(case, null, True),
    "cuda.core": cuda_core_,
    "CuPy RawKernel": cupy_,
    "PyCUDA": pycuda_,
    "PyCUDA, prepared": lambda case, null: pycuda_(case, null, True),
    "numba-cuda": numba_,
}


def worker(name: str, null: bool) -> None:
    """Answers "CASE LAUNCHES" with what cuda_launch.c answers."""
    loops: dict[str, tuple] = {}

    def reply(case: str, launches: str) -> Sequence[float]:
        if case not in loops:
            text, names, synchronize, read = LIBRARIES[name](case, null)
            space = {"repeat": repeat, "clock": perf_counter_ns}
            code = f"def loop(launches, {', '.join(names)}):\n    begin = clock()\n"
            code += "    for _ in repeat(None, launches // 4):\n" + f"        {text}\n" * 4
            code += "    return clock() - begin\n"
            exec(code, space)
            loops[case] = space["loop"], names, synchronize, read
        loop, names, synchronize, read = loops[case]
        each, before = int(launches), int(read()[0])
        synchronize()
        begin = perf_counter_ns()
        queued = loop(each, **names)
        synchronize()
        done = perf_counter_ns() - begin
        result = read()
        return queued / each, done / each, int(result[0]) - before, int(result[1])

    cuda_common.answer(sys.stdin, reply)


# ---- the run -------------------------------------------------------------------------------------


def image_file(driver: cuda_common.Driver, folder: str) -> str:
    """The kernels as the C program loads them."""
    image = Path(folder) / "image"
    if driver.is_null:
        image.write_bytes(ptx())
        return str(image)
    code = "import sys; from pygpu.cuda.compiler import compile; "
    code += "open(sys.argv[1], 'wb').write(compile(sys.stdin.read(), no_extern_c=True))"
    command = [sys.executable, "-c", code, str(image)]
    around = os.environ | driver.environment
    subprocess.run(command, input=source(), text=True, env=around, check=True)
    return str(image)


def measure(driver: cuda_common.Driver, options: argparse.Namespace) -> cuda_common.Best:
    """Least ns until queued, by library and case."""

    def ask(process: cuda_common.Process, name: str, case: str) -> float | None:
        answer = process.ask(case, options.launches)
        if answer is None:
            return None
        queued, _, counted, seen = answer
        if not driver.is_null and (counted != options.launches or seen != expected(case)):
            raise SystemExit(f"launches or arguments were lost: {name}, {case}: {answer}")
        return queued

    names = list(LIBRARIES)[:2] if driver.is_null else list(LIBRARIES)
    with tempfile.TemporaryDirectory() as folder:
        image = image_file(driver, folder)
        processes = cuda_common.start(__file__, driver, names, "cuda_launch.c", image)
        best = cuda_common.least(processes, CASES, options.repeats, ask)
    cuda_common.show_times(
        "Own cost: the driver does nothing" if driver.is_null else "Time to queue a launch",
        best,
        CASES,
    )
    if not driver.is_null:
        cuda_common.show_ratios("Over C", best, CASES)
    cuda_common.show_left_out(processes, CASES)
    return best


def main() -> None:
    parser = cuda_common.arguments(str(__doc__).splitlines()[0], repeats=30)
    parser.add_argument("--launches", type=int, default=500, help="a round (default %(default)s)")
    options = parser.parse_args()
    if options.worker:
        worker(options.worker, options.null)
        return
    if options.quick:
        options.repeats = 3
    options.launches = max(4, options.launches // 4 * 4)
    driver = cuda_common.find_driver()
    real = measure(driver, options) if driver else {}
    own = measure(cuda_common.null_driver(), options)
    # The targets are for a GPU.
    shown = {} if driver is None or driver.is_simulator else real
    ours, floor = shown.get("pygpu", {}), shown.get("C", {})
    rows: list[tuple[str, float | None, float]] = [
        (f"pygpu / C, {text}", ours[case] / floor[case] if ours else None, 1.1)
        for case, text in CASES.items()
        if case != "mixed"
    ]
    rows.append(("own cost, 3 pointers and an int, ns", own["pygpu"]["mixed"], 250))
    cuda_common.show_targets(rows)
    if options.json:
        Path(options.json).write_text(json.dumps({"driver": real, "own": own}, indent=1))


if __name__ == "__main__":
    sys.exit(main())
