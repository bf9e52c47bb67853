"""What a CUDA kernel launch costs the host: pygpu, cuda.core, CuPy, PyCUDA, numba-cuda and C.

N launches of one 32-thread block are queued, then waited for; the time until they are queued is
divided by N. "own cost" is the same with a driver that does nothing (null_cuda.c).
Each library runs in a process of its own, which waits on a pipe for its turn. What is not installed
is left out. Every launch is counted by the kernel, and what it saw of its arguments is checked.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import repeat
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import numpy as np

import common

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
    """Answers "CASE LAUNCHES" with what cuda_launch.c answers; "-" if the library is not there."""
    loops: dict[str, tuple] = {}
    for line in sys.stdin:
        case, launches = line.split()
        try:
            if case not in loops:
                text, names, synchronize, read = LIBRARIES[name](case, null)
                space = {"repeat": repeat, "clock": perf_counter_ns}
                code = f"def loop(launches, {', '.join(names)}):\n    begin = clock()\n"
                code += "    for _ in repeat(None, launches // 4):\n" + f"        {text}\n" * 4
                code += "    return clock() - begin\n"
                exec(code, space)
                loops[case] = space["loop"], names, synchronize, read
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {error}".splitlines()[0], file=sys.stderr)
            print("-", flush=True)
            continue
        loop, names, synchronize, read = loops[case]
        before = int(read()[0])
        synchronize()
        begin = perf_counter_ns()
        queued = loop(int(launches), **names)
        synchronize()
        done = perf_counter_ns() - begin
        result = read()
        each = int(launches)
        print(queued / each, done / each, int(result[0]) - before, int(result[1]), flush=True)


# ---- the run -------------------------------------------------------------------------------------


def compile_c(name: str, *flags: str) -> Path:
    made = common.BUILD / (name + (".so" if "-shared" in flags else ""))
    common.BUILD.mkdir(parents=True, exist_ok=True)
    command = [os.environ.get("CC", "cc"), "-std=gnu11", "-O2"]
    command += ["-I", str(common.HERE.parent / "src/cuda"), str(common.HERE / f"{name}.c")]
    subprocess.run([*command, "-o", str(made), *flags, "-ldl"], check=True)
    return made


class Process:
    """A worker or the C program; ask() gives None once it has nothing to say."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        pipe, around = subprocess.PIPE, os.environ | environment
        self._pipe = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=around)

    def ask(self, case: str, launches: int) -> list[float] | None:
        assert self._pipe.stdin and self._pipe.stdout
        try:
            self._pipe.stdin.write(f"{case} {launches}\n")
            self._pipe.stdin.flush()
            words = self._pipe.stdout.readline().split()
        except BrokenPipeError:
            return None
        return [float(word) for word in words] if len(words) == 4 else None


def driver_and_image(folder: str) -> tuple[str, str]:
    """The library that pygpu loads, and the kernels compiled for it."""
    code = (
        "import sys, pygpu.cuda.driver as c; from pygpu import _cuda\n"
        "from pygpu.cuda.compiler import compile; c.init()\n"
        "open(sys.argv[1], 'wb').write(compile(sys.stdin.read(), no_extern_c=True))\n"
        "print(_cuda._library()); print(c.Device(0).name())"
    )
    image = str(Path(folder) / "image")
    command = [sys.executable, "-c", code, image]
    around = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, input=source(), stdout=subprocess.PIPE, text=True, env=around)
    if done.returncode:
        raise SystemExit("no CUDA driver, and no simulator")
    library, device = done.stdout.splitlines()
    print(f"{device}; {library}")
    return library, image


def rounds(null: bool, options: argparse.Namespace, folder: str) -> dict[str, dict[str, float]]:
    """Least ns until queued, by library and case."""
    if null:
        library, image = str(compile_c("null_cuda", "-shared", "-fPIC")), str(Path(folder) / "ptx")
        Path(image).write_bytes(ptx())
        around, names = {"PYGPU_CUDA_LIBRARY": library}, ["pygpu", "pygpu, prepared"]
    else:
        library, image = driver_and_image(folder)
        around, names = {}, list(LIBRARIES)
    around["PYTHONPATH"] = os.pathsep.join(sys.path)
    processes = {"C": Process([str(compile_c("cuda_launch")), library, image], {})}
    for name in names:
        command = [sys.executable, __file__, "--worker", name, *(["--null"] * null)]
        processes[name] = Process(command, around)
    best: dict[str, dict[str, float]] = {}
    for number in range(options.repeats + 1):  # the first is not counted
        for case in CASES:
            for name, process in list(processes.items()):
                answer = process.ask(case, options.launches)
                if answer is None:
                    del processes[name]
                    best.pop(name, None)
                    continue
                queued, _, counted, seen = answer
                if not null and (counted != options.launches or seen != expected(case)):
                    raise SystemExit(f"launches or arguments were lost: {name}, {case}: {answer}")
                if number:
                    known = best.setdefault(name, {})
                    known[case] = min(queued, known.get(case, queued))
    return best


def show(title: str, best: dict[str, dict[str, float]]) -> None:
    rows = [[name, *(f"{times[case]:.0f}" for case in CASES)] for name, times in best.items()]
    common.table(f"{title}, ns a launch: least", ["", *CASES.values()], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--repeats", type=int, default=30, help="rounds (default %(default)s)")
    parser.add_argument("--launches", type=int, default=500, help="a round (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="few rounds")
    parser.add_argument("--json", help="write the figures to this file too")
    parser.add_argument("--worker", help="used by the script itself")
    parser.add_argument("--null", action="store_true", help="used by the script itself")
    options = parser.parse_args()
    if options.worker:
        worker(options.worker, options.null)
        return
    if options.quick:
        options.repeats = 3
    options.launches = max(4, options.launches // 4 * 4)
    with tempfile.TemporaryDirectory() as folder:
        real = rounds(False, options, folder)
        own = rounds(True, options, folder)
    show("The driver: time to queue", real)
    ratios = [
        [name, *(f"{times[case] / real['C'][case]:.2f}" for case in CASES)]
        for name, times in real.items()
    ]
    common.table("Over C", ["", *CASES.values()], ratios)
    show("Own cost: the driver does nothing", own)
    if options.json:
        Path(options.json).write_text(json.dumps({"driver": real, "own": own}, indent=1))


if __name__ == "__main__":
    sys.exit(main())
