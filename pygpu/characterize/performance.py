"""Measured rates of a device: launches, transfers, additions.

Times are in seconds, bandwidths in bytes per second. Each figure is the mean over as many runs as
fit into about 0.1 s, after warming up; expect it to vary by some 10 percent, more on a busy
machine.

>>> transfer_bandwidth(queue, HostToDeviceTransfer, 2**20)  # doctest: +SKIP
8.7e9
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pygpu as cl

__all__ = [
    "DeviceToDeviceTransfer",
    "DeviceToHostTransfer",
    "HostDeviceTransferBase",
    "HostToDeviceTransfer",
    "Timer",
    "WallTimer",
    "get_add_rate",
    "get_empty_kernel_time",
    "get_profiling_overhead",
    "transfer_bandwidth",
    "transfer_latency",
]


class Timer:
    """How a measurement takes its time; a subclass may also use the events passed to it."""

    def __init__(self, queue: cl.CommandQueue) -> None:
        self.queue = queue

    def start(self) -> None:
        """Begin."""

    def stop(self) -> None:
        """End; all commands are done when it returns."""

    def add_event(self, evt: Any) -> None:
        """Take note of the event (or None) of one run between start and stop."""

    def get_elapsed(self) -> float:
        """Seconds between start and stop."""
        raise NotImplementedError(f"{type(self).__name__} does not say how time is taken")


class WallTimer(Timer):
    """Takes the time on the host, from an idle queue to an idle queue."""

    def start(self) -> None:
        self.queue.finish()
        self.start_time: float = time.perf_counter()

    def stop(self) -> None:
        self.queue.finish()
        self.end_time: float = time.perf_counter()

    def get_elapsed(self) -> float:
        return self.end_time - self.start_time


TimerFactory = Callable[["cl.CommandQueue"], Timer]


def _time_of(
    queue: cl.CommandQueue,
    run: Callable[[], Any],
    timer_factory: TimerFactory | None = None,
    desired_duration: float = 0.1,
    warmup_rounds: int = 3,
) -> float:
    """Seconds that one *run* takes, averaged over runs that last *desired_duration* seconds
    together.
    """
    for _ in range(warmup_rounds):
        run()
    count = 1
    while True:
        timer = (timer_factory or WallTimer)(queue)
        timer.start()
        for _ in range(count):
            timer.add_event(run())
        timer.stop()
        elapsed = timer.get_elapsed()
        if elapsed >= desired_duration:
            return elapsed / count
        # A short run says little about a long one: grow in steps, at most tenfold.
        wanted = count * desired_duration / elapsed if elapsed > 0 else 10 * count
        count = int(min(max(1.1 * wanted, 2 * count), 10 * count))


class HostDeviceTransferBase:
    """A block of *block_size* bytes on the host and one on the device."""

    def __init__(self, queue: cl.CommandQueue, block_size: int) -> None:
        import pygpu as cl

        self.queue = queue
        self.host_buf: np.ndarray = np.zeros(block_size, np.uint8)
        self.dev_buf: cl.Buffer = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, block_size)

    def do(self) -> cl.Event:
        """Copy the block once."""
        raise NotImplementedError("use HostToDeviceTransfer or DeviceToHostTransfer")


class HostToDeviceTransfer(HostDeviceTransferBase):
    """Copies a block to the device."""

    def do(self) -> cl.Event:
        import pygpu as cl

        return cl.enqueue_copy(self.queue, self.dev_buf, self.host_buf)


class DeviceToHostTransfer(HostDeviceTransferBase):
    """Copies a block from the device."""

    def do(self) -> cl.Event:
        import pygpu as cl

        return cl.enqueue_copy(self.queue, self.host_buf, self.dev_buf)


class DeviceToDeviceTransfer:
    """Copies a block of *block_size* bytes within the device's memory."""

    def __init__(self, queue: cl.CommandQueue, block_size: int) -> None:
        import pygpu as cl

        self.queue = queue
        self.dev_buf_1: cl.Buffer = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, block_size)
        self.dev_buf_2: cl.Buffer = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, block_size)
        cl.enqueue_fill_buffer(queue, self.dev_buf_1, np.uint8(0), 0, block_size)

    def do(self) -> cl.Event:
        """Copy the block once."""
        import pygpu as cl

        return cl.enqueue_copy(self.queue, self.dev_buf_2, self.dev_buf_1)


def transfer_latency(
    queue: cl.CommandQueue,
    transfer_type: Callable[[Any, int], Any],
    timer_factory: TimerFactory | None = None,
) -> float:
    """Seconds to copy one byte with one of the transfer classes above."""
    return _time_of(queue, transfer_type(queue, 1).do, timer_factory)


def transfer_bandwidth(
    queue: cl.CommandQueue,
    transfer_type: Callable[[Any, int], Any],
    block_size: int,
    timer_factory: TimerFactory | None = None,
) -> float:
    """Bytes per second when blocks of *block_size* bytes are copied; each byte counts once."""
    return block_size / _time_of(queue, transfer_type(queue, block_size).do, timer_factory)


def get_profiling_overhead(
    ctx: cl.Context, timer_factory: TimerFactory | None = None
) -> tuple[float, float]:
    """(seconds that profiling adds to a command, seconds that a command takes with profiling)."""
    import pygpu as cl

    times = []
    for properties in (0, cl.command_queue_properties.PROFILING_ENABLE):
        queue = cl.CommandQueue(ctx, properties=properties)
        times.append(_time_of(queue, DeviceToDeviceTransfer(queue, 1).do, timer_factory))
    plain, profiled = times
    return profiled - plain, profiled


def get_empty_kernel_time(
    queue: cl.CommandQueue, timer_factory: TimerFactory | None = None
) -> float:
    """Seconds from one launch of a kernel that does nothing to the next."""
    import pygpu as cl

    empty = cl.Program(queue.context, "__kernel void empty(void) { }").build().empty
    return _time_of(queue, lambda: empty(queue, (1,), None), timer_factory)


_ADDITIONS = 512  # per work-item and launch: two in each of 16 lines, 16 times

_ADD_SOURCE = """
__kernel void add_many(__global TYPE *out, TYPE never)
{
    TYPE a = (TYPE) get_global_id(0), b = a + (TYPE) 1;
    for (int i = 0; i < 16; ++i)
    {
ADDITIONS
    }
    if (a == never && b == never)   /* nobody knows: so the sums have to be computed */
        out[0] = a;
}
"""


def get_add_rate(
    queue: cl.CommandQueue, type: str = "float", timer_factory: TimerFactory | None = None
) -> float:
    """Additions per second when the whole device does nothing else, each depending on the one
    before.

    type: the OpenCL C scalar type that is added. For integers a compiler may combine several
    additions, which shows as a rate above the chip's.
    """
    import pygpu as cl
    from pygpu.dtypes import NAME_TO_DTYPE

    dtype = NAME_TO_DTYPE[type]
    source = _ADD_SOURCE.replace("ADDITIONS", 16 * "        a += b; b += a;\n").replace(
        "TYPE", type
    )
    if dtype == np.float64:
        source = "#pragma OPENCL EXTENSION cl_khr_fp64: enable\n" + source
    kernel = cl.Program(queue.context, source).build().add_many
    out = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, dtype.itemsize)
    never = dtype.type(-1 if dtype.kind != "u" else 1)

    def launch() -> Any:
        return kernel(queue, (items,), None, out, never)

    best, items, disappointments = 0.0, 4 * queue.device.max_compute_units, 0
    while disappointments < 3 and items < 2**30:
        rate = _ADDITIONS * items / _time_of(queue, launch, timer_factory)
        if rate < 1.05 * best:
            disappointments += 1  # the device is full, or something else ran meanwhile
        best = max(best, rate)
        items *= 4
    return best
