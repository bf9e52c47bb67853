"""The CUDA simulator beside plain C, NumPy, PoCL through pygpu's OpenCL, and numba's simulator.

python benchmarks/simulator.py [--repeats R] [--quick] [--json FILE]

Each in a process of its own, asked in turns; results are compared with NumPy's. "time" is the wall
clock's, with all the threads that one uses; "processor time" is what all of them used together,
which other work on the machine changes less. Of both the least of all rounds. numba's simulator
adds vectors of 65,536 floats, where the others have 16 Mi: it is a Python thread for each.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter_ns, process_time_ns
from typing import Any

import cuda_common
import numpy as np

import common

N, SIZE, SMALL = 512, 1 << 24, 1 << 16
BARRIERS = 2000
CASES = {
    "product": f"tiled product, {N} x {N}, ms",
    "saxpy": "saxpy, 16 Mi floats, ms",
    "small": "saxpy, 65,536 floats, ms",
    "barrier_64": "barrier, 64 threads, ns a thread",
    "barrier_256": "barrier, 256 threads, ns a thread",
    "barrier_1024": "barrier, 1024 threads, ns a thread",
    "alone_64": "barriers alone, 64 threads, ns a thread",
    "alone_256": "barriers alone, 256 threads, ns a thread",
    "alone_1024": "barriers alone, 1024 threads, ns a thread",
    "compile": "a small kernel, cold, ms",
    "submit": "launch from C, ns",
    "wait": "launch and synchronize from C, ns",
}
UNITS = {case: 1e6 if text.endswith("ms") else 1.0 for case, text in CASES.items()}

KERNELS = """
#define TILE 16
KERNEL void product(GLOBAL float *c, GLOBAL const float *a, GLOBAL const float *b, int n)
{
    SHARED float as[TILE][TILE];
    SHARED float bs[TILE][TILE];
    int x = LOCAL(0), y = LOCAL(1);
    int row = GROUP(1) * TILE + y, column = GROUP(0) * TILE + x;
    float sum = 0.0f;
    for (int t = 0; t < n / TILE; t++) {
        as[y][x] = a[row * n + t * TILE + x];
        bs[y][x] = b[(t * TILE + y) * n + column];
        BARRIER;
        for (int k = 0; k < TILE; k++)
            sum += as[y][k] * bs[k][x];
        BARRIER;
    }
    c[row * n + column] = sum;
}
KERNEL void saxpy(float a, GLOBAL const float *x, GLOBAL float *y, int n)
{
    int i = GROUP(0) * SIZE(0) + LOCAL(0);
    if (i < n)
        y[i] = a * x[i] + y[i];
}
KERNEL void alone(GLOBAL int *out, int steps)
{
    for (int k = 0; k < steps; k++)
        BARRIER;
    out[LOCAL(0)] = steps;
}
KERNEL void barrier_(GLOBAL int *out, int steps)
{
    SHARED int s[1025];
    int i = LOCAL(0), n = SIZE(0), x = i;
    for (int k = 0; k < steps; k++) {
        s[i] = x;
        BARRIER;
        x += s[i + 1 < n ? i + 1 : 0] ^ k;
        BARRIER;
    }
    out[i] = x;
}
"""
OPENCL = """
#define KERNEL __kernel
#define GLOBAL __global
#define SHARED __local
#define LOCAL(d) ((int)get_local_id(d))
#define GROUP(d) ((int)get_group_id(d))
#define SIZE(d) ((int)get_local_size(d))
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
"""
CUDA = """
#define KERNEL extern "C" __global__
#define GLOBAL
#define SHARED __shared__
#define XYZ(v, d) ((d) == 0 ? v.x : v.y)
#define LOCAL(d) XYZ(threadIdx, d)
#define GROUP(d) XYZ(blockIdx, d)
#define SIZE(d) XYZ(blockDim, d)
#define BARRIER __syncthreads()
"""
SMALLEST = """__global__ void saxpy_{number}(float a, const float *x, float *y, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i] * {number};
}}"""
PYTHON = """
def saxpy(a, x, y):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < x.size:
        y[i] = a * x[i] + y[i]
"""

Times = tuple[float, float]  # wall, processor [ns]
RANDOM = np.random.default_rng(5)
A, B = (RANDOM.integers(-4, 5, (N, N)).astype(np.float32) for _ in range(2))


def used() -> int:
    """Processor time of this process and of those that it has waited for [ns]."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time_ns() + int((children.ru_utime + children.ru_stime) * 1e9)


def timed(work: Callable[[], object]) -> Times:
    processor, wall = used(), perf_counter_ns()
    work()
    return perf_counter_ns() - wall, used() - processor


def expected_barrier(threads: int) -> Any:
    x = np.arange(threads, dtype=np.int32)
    for k in range(BARRIERS):
        x = x + (np.roll(x, -1) ^ k)
    return x


def check(name: str, good: object) -> None:
    if not good:
        raise SystemExit(f"{name}: a wrong result")


# ---- who is asked --------------------------------------------------------------------------------


class Plain:
    """C, compiled for this processor with -O3, on one thread."""

    def __init__(self) -> None:
        flags = ("-shared", "-fPIC", "-O3", "-march=native")
        self.library = ctypes.CDLL(str(common.compile_c("simulator.c", *flags)))

    def product(self) -> Times:
        c = np.zeros_like(A)
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (c, A, B)]
        times = timed(lambda: self.library.product(*pointers, N))
        check("C", (c == A @ B).all())
        return times

    def saxpy(self, size: int = SIZE) -> Times:
        x, y = np.ones(size, np.float32), np.full(size, 3, np.float32)
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (x, y)]
        times = timed(lambda: self.library.saxpy(ctypes.c_float(2), *pointers, size))
        check("C", (y == 5).all())
        return times

    def small(self) -> Times:
        return self.saxpy(SMALL)


class NumPy:
    def product(self) -> Times:
        return timed(lambda: A @ B)

    def saxpy(self, size: int = SIZE) -> Times:
        """The better of a * x + y and the same into arrays that are there already."""
        a, x, y = np.float32(2), np.ones(size, np.float32), np.full(size, 3, np.float32)
        product = np.zeros_like(x)

        def in_place() -> None:
            np.multiply(a, x, out=product)
            np.add(product, y, out=product)

        in_place()
        there, new = timed(in_place), timed(lambda: a * x + y)
        return min(there[0], new[0]), min(there[1], new[1])

    def small(self) -> Times:
        return self.saxpy(SMALL)


class Device:
    """A library that launches KERNELS: launch(name, groups, threads, *arguments), and waits."""

    launch: Callable[..., None]
    upload: Callable[[Any], Any]
    download: Callable[[Any, Any], None]

    def product(self) -> Times:
        c = np.zeros_like(A)
        on_device = [self.upload(array) for array in (c, A, B)]
        shape = (N // 16, N // 16), (16, 16)
        times = timed(lambda: self.launch("product", *shape, *on_device, np.int32(N)))
        self.download(c, on_device[0])
        check(type(self).__name__, (c == A @ B).all())
        return times

    def saxpy(self, size: int = SIZE) -> Times:
        x, y = (np.full(size, value, np.float32) for value in (1, 3))
        x_, y_ = self.upload(x), self.upload(y)
        arguments = (np.float32(2), x_, y_, np.int32(size))
        times = timed(lambda: self.launch("saxpy", (size // 256, 1), (256, 1), *arguments))
        self.download(y, y_)
        check(type(self).__name__, (y == 5).all())
        return times

    def small(self) -> Times:
        return self.saxpy(SMALL)

    def barrier(self, threads: int) -> Times:
        out = np.zeros(threads, np.int32)
        out_, steps = self.upload(out), np.int32(BARRIERS)
        wall, processor = timed(lambda: self.launch("barrier_", (1, 1), (threads, 1), out_, steps))
        self.download(out, out_)
        check(type(self).__name__, (out == expected_barrier(threads)).all())
        number = 2 * BARRIERS * threads
        return wall / number, processor / number

    def alone(self, threads: int) -> Times:
        out, number = np.zeros(threads, np.int32), 2 * BARRIERS * threads
        out_, steps = self.upload(out), np.int32(2 * BARRIERS)
        wall, processor = timed(lambda: self.launch("alone", (1, 1), (threads, 1), out_, steps))
        self.download(out, out_)
        check(type(self).__name__, (out == steps).all())
        return wall / number, processor / number


class Simulator(Device):
    def __init__(self) -> None:
        import pygpu.cuda.driver as cuda
        from pygpu.cuda import compiler

        cuda.init()
        self.cuda, self.compiler = cuda, compiler
        self.context = cuda.Device(0).make_context()
        self.program = compiler.SourceModule(CUDA + KERNELS, no_extern_c=True, cache_dir=False)
        self.upload = cuda.to_device
        self.download = cuda.memcpy_dtoh
        self.number = perf_counter_ns() % 1_000_000_000

    def launch(self, name: str, grid: Any, block: Any, *arguments: Any) -> None:
        function = self.program.get_function(name)
        function(*arguments, grid=grid, block=(*block, 1))
        self.context.synchronize()

    def compile(self) -> Times:
        self.number += 1
        text = SMALLEST.format(number=self.number)
        return timed(lambda: self.compiler.SourceModule(text, cache_dir=False))

    def _from_c(self, each: bool) -> Times:
        folder = Path(self.compiler.__file__).parent / "simulator"
        library = ctypes.CDLL(str(folder / "libpygpu_cudasim.so"))
        helper = common.compile_c("simulator.c", "-shared", "-fPIC", "-O3", "-march=native")
        submit = ctypes.CDLL(str(helper)).submit
        submit.restype = ctypes.c_double
        image = self.compiler.compile("__global__ void nothing() {}", cache_dir=False)
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        check("submit", library.cuModuleLoadData(ctypes.byref(module), image) == 0)
        name = b"nothing"
        check("submit", library.cuModuleGetFunction(ctypes.byref(function), module, name) == 0)
        arguments = (library.cuLaunchKernel, library.cuCtxSynchronize, function, None, 2000)
        before = used()
        took = submit(*arguments, int(each))
        processor = (used() - before) / 2000
        check("submit", took > 0 and library.cuModuleUnload(module) == 0)
        return took, processor

    def submit(self) -> Times:
        return self._from_c(False)

    def wait(self) -> Times:
        return self._from_c(True)


class PoCL(Device):
    """OpenCL through pygpu: PoCL, or whatever CPU is the first."""

    def __init__(self) -> None:
        import pygpu as cl

        devices = [d for p in cl.get_platforms() for d in p.get_devices()]
        self.cl, device = cl, next(d for d in devices if d.type & cl.device_type.CPU)
        self.context = cl.Context([device])
        self.queue = cl.CommandQueue(self.context)
        self.program = cl.Program(self.context, OPENCL + KERNELS).build()

    def launch(self, name: str, groups: Any, threads: Any, *arguments: Any) -> None:
        work = tuple(g * t for g, t in zip(groups, threads, strict=True))
        getattr(self.program, name)(self.queue, work, threads, *arguments)
        self.queue.finish()

    def upload(self, array: Any) -> Any:
        flags = self.cl.mem_flags.READ_WRITE | self.cl.mem_flags.COPY_HOST_PTR
        return self.cl.Buffer(self.context, flags, hostbuf=array)

    def download(self, array: Any, buffer: Any) -> None:
        self.cl.enqueue_copy(self.queue, array, buffer)


class Numba:
    """numba.cuda on its simulator: Python, a system thread for each CUDA thread."""

    def __init__(self) -> None:
        from numba import cuda

        space = {"cuda": cuda}  # the simulator puts its own in its place, among a kernel's globals
        exec(PYTHON, space)
        self.saxpy_ = cuda.jit(space["saxpy"])

    def small(self) -> Times:
        x, y = np.ones(SMALL, np.float32), np.full(SMALL, 3, np.float32)
        times = timed(lambda: self.saxpy_[SMALL // 256, 256](np.float32(2), x, y))
        check("numba", (y == 5).all())
        return times


LIBRARIES: dict[str, Callable[[], Any]] = {
    "C": Plain,
    "NumPy": NumPy,
    "pygpu's simulator": Simulator,
    "the same, on fibers": Simulator,
    "pygpu, PoCL": PoCL,
    "numba's simulator": Numba,
}


def worker(name: str) -> None:
    """Answers "CASE" with the wall and the processor time."""
    made: list[Any] = []

    def reply(case: str) -> Sequence[float]:
        made[:] = made or [LIBRARIES[name]()]
        what, _, number = case.partition("_")
        method = getattr(made[0], what, None)
        if method is None:
            raise LookupError("not supported")
        if name == "the same, on fibers" and what not in ("product", "barrier", "alone"):
            raise LookupError("as pygpu's simulator")
        times: Times = method(int(number)) if number else method()
        return times

    cuda_common.answer(sys.stdin, reply)


# ---- the run -------------------------------------------------------------------------------------


def show(title: str, figures: dict[str, dict[str, Times]], which: int) -> None:
    rows = [
        [
            text,
            *(
                common.number(times[case][which] if case in times else None, UNITS[case])
                for times in figures.values()
            ),
        ]
        for case, text in CASES.items()
    ]
    common.table(title, ["", *figures], rows)


def main() -> None:
    parser = cuda_common.arguments(str(__doc__).splitlines()[0], repeats=7)
    options = parser.parse_args()
    if options.worker:
        worker(options.worker)
        return
    repeats = 1 if options.quick else options.repeats
    path = os.pathsep.join([str(common.HERE.parent), *sys.path])
    around = {"PYTHONPATH": path, "PYGPU_CUDA": "simulator", "NUMBA_ENABLE_CUDASIM": "1"}
    print(cuda_common.machine())
    figures: dict[str, dict[str, Times]] = {name: {} for name in LIBRARIES}
    with tempfile.TemporaryDirectory() as folder:
        processes = {}
        for name in LIBRARIES:
            more = {"PYGPU_SIM_FIBERS": "1"} if "fibers" in name else {}
            command = [sys.executable, __file__, "--worker", name]
            environment = around | more | {"PYGPU_CACHE_DIR": folder}
            processes[name] = cuda_common.Process(command, environment)
        for turn in range(repeats + 1):  # the first is not counted
            for case in CASES:
                for name, process in processes.items():
                    if name == "numba's simulator" and turn != 1:
                        continue  # seconds each, or a minute
                    times = process.ask(case)
                    if times and turn:
                        before = figures[name].get(case, (times[0], times[1]))
                        figures[name][case] = (min(before[0], times[0]), min(before[1], times[1]))
        for process in processes.values():
            process.close()
    figures = {name: times for name, times in figures.items() if times}
    show("Time: least", figures, 0)
    show("Processor time of all threads: least", figures, 1)
    for name in LIBRARIES:
        if name not in figures:
            print(f"\nLeft out: {name}: {processes[name].reasons.get('small', 'no answer')}.")
    targets(figures)
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=1))


def targets(figures: dict[str, dict[str, Times]]) -> None:
    def get(name: str, case: str, which: int = 1) -> float | None:
        return figures.get(name, {}).get(case, (None, None))[which]

    def over(case: str, base: str, which: int = 1) -> float | None:
        one, other = get(ours, case, which), get(base, case, which)
        return one / other if one and other else None

    ours = "pygpu's simulator"
    compiling, cold = get(ours, "compile"), get(ours, "compile", 0)
    rows: list[tuple[str, float | None, float]] = [
        ("tiled product over C's", over("product", "C"), 1.2),
        ("saxpy over NumPy's, time", over("saxpy", "NumPy", 0), 1.0),
        ("saxpy over NumPy's, processor time", over("saxpy", "NumPy"), 1.0),
        ("saxpy over PoCL's, time", over("saxpy", "pygpu, PoCL", 0), 1.0),
        ("saxpy over PoCL's, processor time", over("saxpy", "pygpu, PoCL"), 1.0),
    ]
    for threads in (64, 256, 1024):
        name = f"__syncthreads, {threads} threads, ns a thread"
        rows.append((name, get(ours, f"barrier_{threads}"), 15.0))
        fibers = get("the same, on fibers", f"alone_{threads}")
        rows.append((f"{name}, alone, on fibers", fibers, 15.0))
        fibers = get("the same, on fibers", f"barrier_{threads}")
        rows.append((f"{name} with the kernel's work, on fibers", fibers, 15.0))
    rows += [
        ("a small kernel, cold, ms", compiling / 1e6 if compiling else None, 100.0),
        ("a small kernel, cold, time, ms", cold / 1e6 if cold else None, 100.0),
        ("launch from C, ns", get(ours, "submit", 0), 1000.0),
    ]
    print("\nOf processor time, but where it says time, and the launch's.")
    cuda_common.show_targets(rows)


if __name__ == "__main__":
    main()
