"""Copies between host and device, fills, maps and allocations: pygpu, pyopencl and C in one run.

python benchmarks/transfer.py [--platform P] [--device D] [--repeats R] [--largest BYTES] [--quick]

Each operation is repeated so that a round moves about 64 MiB, 1 to 200 times, and the round ends
with queue.finish(), whose time is counted. "write", "read": blocking enqueue_copy() of a NumPy
array. "..., async": is_blocking=False, all enqueued, then finish. "copy": buffer to buffer.
"map": enqueue_map_buffer() for reading and writing, then its release. "create": a Buffer made
and released, memory untouched. "pool": the same from a MemoryPool (C: the driver's create).
The last table is the caller's own cost: 64 bytes, with commands that cost nothing
(null_opencl.c).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

import numpy as np

import common

SIZES = [64, 4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20, 256 << 20]
OPERATIONS = {
    "write": "host to device",
    "write_async": "host to device, async",
    "read": "device to host",
    "read_async": "device to host, async",
    "copy": "buffer to buffer",
    "fill": "fill",
    "map": "map and unmap",
    "create": "buffer, create and release",
    "pool": "pool, allocate and release",
}
ALLOCATIONS = ("map", "create", "pool")  # these move no bytes that could be counted


class Library:
    """The operations of one Python library on buffers of one size."""

    def __init__(self, cl: Any, device: common.Device) -> None:
        tools = __import__(f"{cl.__name__}.tools", fromlist=["MemoryPool"])
        self.cl = cl
        self.context, self.queue = common.open_queue(cl, device)
        self.pool = tools.MemoryPool(tools.ImmediateAllocator(self.queue))
        self.size = 0

    def prepare(self, size: int) -> None:
        if size != self.size:
            flags = self.cl.mem_flags.READ_WRITE
            self.pool.free_held()
            self.size = size
            self.host = np.ones(size, np.uint8)
            self.a = self.cl.Buffer(self.context, flags, size)
            self.b = self.cl.Buffer(self.context, flags, size)
            for buffer in (self.a, self.b):
                self.cl.enqueue_copy(self.queue, buffer, self.host)

    def measure(self, operation: str, size: int, times: int) -> float:
        self.prepare(size)
        run: Callable[[int], object] = getattr(self, operation)
        self.queue.finish()
        begin = perf_counter_ns()
        kept = run(times)
        self.queue.finish()
        took = (perf_counter_ns() - begin) / times
        del kept  # the events of asynchronous copies
        return took

    def write(self, times: int) -> None:
        copy, queue, to, source = self.cl.enqueue_copy, self.queue, self.a, self.host
        for _ in range(times):
            copy(queue, to, source)

    def read(self, times: int) -> None:
        copy, queue, to, source = self.cl.enqueue_copy, self.queue, self.host, self.a
        for _ in range(times):
            copy(queue, to, source)

    def write_async(self, times: int) -> list:
        copy, queue, to, source = self.cl.enqueue_copy, self.queue, self.a, self.host
        return [copy(queue, to, source, is_blocking=False) for _ in range(times)]

    def read_async(self, times: int) -> list:
        copy, queue, to, source = self.cl.enqueue_copy, self.queue, self.host, self.a
        return [copy(queue, to, source, is_blocking=False) for _ in range(times)]

    def copy(self, times: int) -> None:
        copy, queue, to, source = self.cl.enqueue_copy, self.queue, self.b, self.a
        for _ in range(times):
            copy(queue, to, source)

    def fill(self, times: int) -> None:
        fill, pattern = self.cl.enqueue_fill_buffer, np.uint32(0x01020304)
        for _ in range(times):
            fill(self.queue, self.a, pattern, 0, self.size)

    def map(self, times: int) -> None:
        flags = self.cl.map_flags.READ | self.cl.map_flags.WRITE
        map_buffer, shape = self.cl.enqueue_map_buffer, (self.size,)
        for _ in range(times):
            array, _ = map_buffer(self.queue, self.a, flags, 0, shape, np.uint8)
            array.base.release(self.queue)

    def create(self, times: int) -> None:
        buffer, context = self.cl.Buffer, self.context
        flags, size = self.cl.mem_flags.READ_WRITE, self.size
        for _ in range(times):
            buffer(context, flags, size).release()

    def pool_(self, times: int) -> None:
        allocate, size = self.pool.allocate, self.size
        for _ in range(times):
            allocate(size).release()


def worker(device: common.Device, repeats: int, sizes: list[int]) -> dict[str, list[float]]:
    opened = common.open_libraries(lambda module: Library(module, device))
    program = common.CProgram("transfer.c", device)
    series: common.Series = {}
    for size in sizes:  # one after another: the buffers of all sizes at once may not fit
        cases: dict[str, Callable[[], float]] = {}
        for operation in OPERATIONS:
            unmoved = operation in ("create", "pool")  # a map moves its bytes on some devices
            times = 200 if unmoved else max(1, min(200, (64 << 20) // size))
            end = f"|{operation}|{size}"
            if operation != "pool":
                cases["C" + end] = ask(program, operation, size, times)
            for name, library in opened.items():
                cases[name + end] = call(library, operation, size, times)
        series |= common.rounds(cases, repeats)
    program.close()
    return series


def ask(program: common.CProgram, *question: object) -> Callable[[], float]:
    return lambda: program.ask(*question)[0]


def call(library: Library, operation: str, size: int, times: int) -> Callable[[], float]:
    return lambda: library.measure("pool_" if operation == "pool" else operation, size, times)


def show(title: str, series: common.Series, sizes: list[int], rates: bool = True) -> None:
    rows = []
    for operation, text in OPERATIONS.items():
        for size in sizes:
            end = f"|{operation}|{size}"
            floor = common.median(series, "C" + end) or common.median(series, f"C|create|{size}")
            row = [text, binary(size), common.number(common.median(series, "C" + end), 1e3)]
            ours = common.median(series, "pygpu" + end)
            for name in common.LIBRARIES:
                value = common.median(series, name + end)
                row.append(common.number(value, 1e3, missing=common.NOT_INSTALLED))
            rate = None if operation in ALLOCATIONS or ours is None else size / ours
            row += [common.number(rate)] if rates else []
            row.append(common.ratio(ours, floor))
            row.append(common.ratio(common.median(series, "pyopencl" + end), ours))
            rows.append(row)
    header = ["operation", "bytes", "C, us", "pygpu, us", "pyopencl, us"]
    header += ["pygpu, GB/s"] if rates else []
    common.table(title, [*header, "pygpu / C", "pyopencl / pygpu"], rows)


def binary(size: int) -> str:
    for unit in ("", " Ki", " Mi"):
        if size < 1024:
            return f"{size}{unit}"
        size //= 1024
    return f"{size} Gi"


def main() -> None:
    parser = common.arguments(str(__doc__).splitlines()[0], repeats=7)
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="bytes (default 256 MiB)")
    parser.add_argument("--worker", action="store_true", help="used by the script itself")
    options = parser.parse_args()
    if options.quick:
        options.repeats, options.largest = 2, 1 << 20
    device = common.choose_device(options)
    sizes = [size for size in SIZES if size <= options.largest]
    if options.worker:
        print(json.dumps(worker(device, options.repeats, sizes)))
        return
    words = [f"--chosen={device.word()}", f"--repeats={options.repeats}", "--worker"]
    real = common.in_worker([*words, f"--largest={options.largest}"], {})
    null = common.in_worker([*words, "--largest=64"], common.null_environment())
    print(f"{common.machine(device)}; medians of {options.repeats} rounds")
    show("The driver", real, sizes)
    title = "Own cost: commands cost nothing; maps, buffers and pools are the driver's"
    show(title, null, SIZES[:1], rates=False)


if __name__ == "__main__":
    sys.exit(main())
