"""Fail every Python allocation of a short use in turn: memory_worker.py RESULTS SCENARIO [FROM]

_testcapi.set_nomemory(n, n + 1) fails the n-th allocation from now on, once. Wanted is
MemoryError or success; anything else, a crash (seen by the supervisor), a hang or a handle left
behind is wrong.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

import numpy as np
from scenarios import SOURCE, Base

import pygpu as cl
from pygpu import _array

hooks: Any = cl._opencl
MF = cl.mem_flags
QUIET = 40
"""So many successes in a row mean that the scenario makes no more allocations than that."""
SECONDS = 7.0
"""Then the points get sparse: one scenario must not cost the suite more."""


def prepare(base: Base, name: str = "") -> dict[str, Callable[[], Any]]:
    """The scenarios, with all they need made before: only pygpu's own work is left to fail."""
    buffer, other, host, got = base.buffer(), base.buffer(), base.host, np.zeros_like(base.host)
    kernel, axpy, scalar = base.prg.add1, base.prg.axpy, np.float32(1)
    gs, flags, complete = (64,), cl.map_flags.READ, cl.command_execution_status.COMPLETE
    source, shape, f32 = SOURCE + "/* memory */", (64,), np.dtype(np.float32)
    form = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT)
    pool = cl.tools.MemoryPool(cl.tools.ImmediateAllocator(base.queue))
    seen: list[int] = []

    def callback() -> None:
        event = cl.enqueue_marker(base.queue)
        event.set_callback(complete, seen.append)
        event.wait()

    def user_event() -> None:
        gate = cl.UserEvent(base.ctx)
        event = kernel(base.queue, gs, None, buffer, wait_for=[gate])
        gate.set_status(complete)
        event.wait()

    def user_event_dropped() -> None:
        event = cl.enqueue_marker(cl.CommandQueue(base.ctx), wait_for=[cl.UserEvent(base.ctx)])
        try:
            event.wait()
        except cl.Error as error:
            if isinstance(error, MemoryError):
                raise

    def map_() -> None:
        view, _event = cl.enqueue_map_buffer(base.queue, buffer, flags, 0, shape, f32)
        view.base.release(base.queue)

    # Made before: CPython 3.12 and 3.13 drop the code of a lambda that they have no memory for.
    refused = (
        lambda: kernel(base.queue, gs, (0,), buffer),
        lambda: kernel(base.queue, gs, None, 5),
        lambda: cl.enqueue_copy(base.queue, got, buffer, src_offset=2**40),
    )

    def refusals() -> None:
        for action in refused:
            try:
                action()
            except (TypeError, ValueError, cl.LogicError):
                pass

    def pending() -> None:
        cl.enqueue_copy(base.queue, got, buffer, is_blocking=False)
        cl.enqueue_copy(base.queue, buffer, host, is_blocking=False).wait()
        base.queue.finish()

    def pooled() -> None:
        block = pool.allocate(1000)
        cl.enqueue_fill_buffer(base.queue, block, scalar, 0, 256)
        block.release()

    def shared() -> None:
        if base.dev.svm_capabilities:
            svm = cl.SVMAllocation(base.ctx, 256, 0, cl.svm_mem_flags.READ_WRITE)
            cl.enqueue_copy(base.queue, svm, host)
            kernel(base.queue, gs, None, svm).wait()

    def image() -> None:
        if base.dev.image_support:
            made = cl.create_image(base.ctx, MF.READ_WRITE, form, shape=(4, 4))
            cl.enqueue_copy(
                base.queue, np.zeros(64, np.float32), made, origin=(0, 0), region=(4, 4)
            )

    def arrays() -> None:
        """Operations that were seen before: nothing but C runs."""
        vector + other_vector
        np.exp(vector, out=other_vector)
        matrix + column
        matrix.sum(0)
        doubled(vector, other_vector)

    def plans() -> None:
        """What is launched is remembered anew."""
        vector.backend.table.plans.clear()
        step = (None, (1,), (1,), (0, -1), (5,), False)
        vector.backend.table.plans.add("some", 0, (vector,), None, vector, (step,))

    if name in ("arrays", "plans"):
        from pygpu.array import to_device
        from pygpu.elementwise import ElementwiseKernel

        vector, other_vector = (to_device(base.queue, np.ones(64, np.float32)) for _ in range(2))
        matrix = to_device(base.queue, np.ones((8, 8), np.float32))
        column = matrix[:, :1]
        doubled = ElementwiseKernel(base.ctx, "float *x, float *y", "y[i] = 2 * x[i]")

    def information() -> None:
        _ = (
            base.dev.name,
            base.dev.max_work_item_sizes,
            base.ctx.devices,
            repr(base.dev),
            base.queue.context,
        )
        _ = kernel.function_name, base.prg.kernel_names, buffer.context, base.dev.platform.name

    return {
        "buffer": lambda: cl.Buffer(base.ctx, MF.READ_WRITE | MF.COPY_HOST_PTR, hostbuf=host)[
            0:128
        ],
        "blocking_copy": lambda: (
            cl.enqueue_copy(base.queue, buffer, host),
            cl.enqueue_copy(base.queue, got, buffer),
        ),
        "pending_copy": pending,
        "device_copy": lambda: cl.enqueue_copy(
            base.queue, other, buffer, wait_for=[cl.enqueue_marker(base.queue)]
        ),
        # More Events at once than are kept to be used again.
        "launch": lambda: [
            axpy(base.queue, gs, None, scalar, buffer, other) for _ in range(EVENTS)
        ][-1].wait(),
        "kernel": lambda: cl.Kernel(base.prg, "axpy").set_args(scalar, buffer, other),
        "map": map_,
        "callback": callback,
        "user_event": user_event,
        "user_event_dropped": user_event_dropped,
        "refusals": refusals,
        "pool": pooled,
        "shared_memory": shared,
        "image": image,
        "information": information,
        "arrays": arrays,
        "plans": plans,
        "context": lambda: cl.CommandQueue(cl.Context([base.dev])).finish(),
        "program": lambda: cl.Kernel(cl.Program(base.ctx, source).build(cache_dir=False), "add1"),
    }


EVENTS = 70
NAMES = ("buffer", "blocking_copy", "pending_copy", "device_copy", "launch", "kernel", "map",
         "callback", "user_event",
         "user_event_dropped", "refusals", "pool", "shared_memory", "image", "information",
         "arrays", "plans", "context", "program")  # fmt: skip


def tell(stream: TextIO, **row: Any) -> None:
    stream.write(json.dumps(row) + "\n")
    stream.flush()


def handles() -> dict[str, int]:
    _array._chain_flush()  # operations that are deferred hold their results
    return {k: v for k, v in hooks._handle_counts().items() if v}


def settle(wanted: dict[str, int], seconds: float = 20) -> dict[str, int]:
    """Collect until the handles are back at *wanted*, or seconds have passed; other processes may
    want the processor too."""
    deadline = time.monotonic() + seconds
    while True:
        gc.collect()
        now = handles()
        if now == wanted or time.monotonic() > deadline:
            return now
        time.sleep(0.005)


def steady() -> dict[str, int]:
    """The handles, once there are as many ten times in a row: events of copies that are done go
    soon after, in another thread, but arrays keep theirs."""
    seen: list[dict[str, int]] = []
    while len(seen) < 10 or any(now != seen[-1] for now in seen[-10:]):
        time.sleep(0.005)
        gc.collect()
        seen.append(handles())
    return seen[-1]


def attempt(testcapi: Any, action: Callable[[], Any], n: int) -> BaseException | None:
    """Run *action* with its n-th allocation failing; return what it raised."""
    try:
        testcapi.set_nomemory(n, n + 1)
        action()
    except BaseException as error:
        testcapi.remove_mem_hooks()
        return error.with_traceback(None)
    finally:
        testcapi.remove_mem_hooks()
    return None


def run(stream: TextIO, name: str, start: int) -> None:
    import _testcapi

    tell(stream, step="start")
    base = Base()
    action = prepare(base, name)[name]
    for _ in range(3):
        action()
    base.queue.finish()
    gc.collect()
    gc.freeze()  # a collection after each trial need not look at all modules again
    before = steady()
    n, quiet, begun, tried, failed = start, 0, time.monotonic(), 0, 0
    while quiet < QUIET:
        tell(stream, step="try", number=n)
        error = attempt(_testcapi, action, n)
        tried += 1
        if error is None:
            quiet += 1
        else:
            quiet = 0
            failed += 1
            # The interpreter's own frames fail like this, where no memory is left for them.
            frame = name != "information" and str(error) == "error return without exception set"
            if not isinstance(error, MemoryError) and not (
                isinstance(error, SystemError) and frame
            ):
                tell(
                    stream,
                    step="wrong",
                    number=n,
                    wrong=f"{type(error).__name__}: {str(error)[:300]}",
                )
        error = None
        # CPython 3.11 loses a Python function's arguments when it has no memory for its frame.
        lost = name == "program"
        after = settle(before, 0.5 if lost else 20)
        if after != before:
            if not lost:
                wrong = f"handles before {before}, after {after}"
                tell(stream, step="wrong", number=n, wrong=wrong)
            before = after
        n += 1 + (n // 8 if time.monotonic() - begun > SECONDS else 0)
    action()
    tell(stream, step="done", tried=tried, failed=failed)


if __name__ == "__main__":
    with open(sys.argv[1], "a") as results:
        run(results, sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 0)
