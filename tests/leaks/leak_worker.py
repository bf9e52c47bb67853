"""Repeat one use of pygpu and report what grew: leak_worker.py NAME

Prints one JSON line: by how many bytes resident memory grew after the first fifth of the repeats,
driver handles before and after, and by how much the total reference count grew where this Python
has one.
PYGPU_TEST_PEER=pyopencl runs the same on PyOpenCL.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import resource
import sys
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

PEER = os.environ.get("PYGPU_TEST_PEER", "")
cl: Any = importlib.import_module(PEER or "pygpu")
MF = cl.mem_flags
TRIM = getattr(ctypes.CDLL(None), "malloc_trim", None)  # the GNU C library's
SOURCE = """
kernel void add1(global float *a) { a[get_global_id(0)] += 1; }
kernel void axpy(float s, global const float *x, global float *y)
{ size_t i = get_global_id(0); y[i] += s * x[i]; }
"""
REPEATS = {
    "buffers": 100_000,
    "sub_buffers": 50_000,
    "failing_calls": 50_000,
    "failing_kernel_calls": 20_000,
    "launches": 20_000,
    "copies": 20_000,
    "pending_copies": 20_000,
    "dropped_copies": 20_000,
    "fills": 20_000,
    "maps": 10_000,
    "markers": 20_000,
    "wait_lists": 10_000,
    "callbacks": 20_000,
    "user_events": 10_000,
    "kernels": 20_000,
    "set_args": 50_000,
    "programs": 200,
    "failing_programs": 100,
    "queues": 5_000,
    "contexts": 1_000,
    "images": 5_000,
    "samplers": 10_000,
    "shared_memory": 10_000,
    "pool_blocks": 100_000,
    "information": 20_000,
    "cycles": 20_000,
    "host_pointers": 20_000,
    "platforms": 2_000,
    "profiling": 10_000,
    "from_int_ptr": 50_000,
    "exceptions_kept": 10_000,
    **({} if PEER else {"arrays": 10_000, "fused": 2_000}),
}


def resident() -> int:
    """Resident memory of this process in bytes, without what the heap keeps for later."""
    if TRIM is not None:
        TRIM(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def handles() -> dict[str, int]:
    counts = getattr(getattr(cl, "_opencl", None), "_handle_counts", None)
    return {k: v for k, v in counts().items() if v} if counts else {}


def refused(action: Callable[[], Any]) -> None:
    try:
        action()
    except Exception:
        return
    raise AssertionError("a mistake was accepted")


def uses() -> dict[str, Callable[[int], Any]]:
    """Each use, as a function of the number of its repeat."""
    ctx = cl.create_some_context(interactive=False)
    dev = ctx.devices[0]
    queue = cl.CommandQueue(ctx)
    timed = cl.CommandQueue(ctx, properties=cl.command_queue_properties.PROFILING_ENABLE)
    prg = cl.Program(ctx, SOURCE).build()
    add1, axpy = cl.Kernel(prg, "add1"), cl.Kernel(prg, "axpy")
    host, got = np.zeros(64, np.float32), np.zeros(64, np.float32)
    one, two = cl.Buffer(ctx, MF.READ_WRITE, 4096), cl.Buffer(ctx, MF.READ_WRITE, 4096)
    complete, read = cl.command_execution_status.COMPLETE, cl.map_flags.READ
    form = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT)
    pool = cl.tools.MemoryPool(cl.tools.ImmediateAllocator(queue))
    make_image = getattr(cl, "create_image", cl.Image)

    def finish_at(i: int, every: int = 100) -> None:
        if i % every == 0:
            queue.finish()

    def launch(i: int) -> None:
        axpy(queue, (64,), None, np.float32(1), one, two)
        finish_at(i)

    def pending(i: int) -> None:
        cl.enqueue_copy(queue, got, one, is_blocking=False).wait()

    def dropped(i: int) -> None:
        cl.enqueue_copy(queue, np.empty(64, np.float32), one, is_blocking=False)
        finish_at(i)

    def fill(i: int) -> None:
        cl.enqueue_fill_buffer(queue, one, np.int32(i), 0, 4096)
        finish_at(i)

    def map_(i: int) -> None:
        cl.enqueue_map_buffer(queue, one, read, 0, (64,), np.float32)[0].base.release(queue)
        finish_at(i)

    def marker(i: int) -> None:
        cl.enqueue_marker(queue)
        finish_at(i)

    def wait_list(i: int) -> None:
        events = [cl.enqueue_marker(queue) for _ in range(4)]
        cl.wait_for_events([cl.enqueue_marker(queue, wait_for=events)])

    def callback(i: int) -> None:
        event = cl.enqueue_marker(queue)
        if i % 100:
            event.set_callback(complete, lambda status: None)
        else:  # on a busy machine the thread that calls back falls behind
            called = threading.Event()
            event.set_callback(complete, lambda status: called.set())
            called.wait(60)

    def user_event(i: int) -> None:
        gate = cl.UserEvent(ctx)
        event = cl.enqueue_marker(queue, wait_for=[gate])
        gate.set_status(complete)
        event.wait()

    def failing(i: int) -> None:
        refused(lambda: cl.enqueue_copy(queue, got, one, src_offset=2**40))

    def failing_kernel(i: int) -> None:
        refused(lambda: add1(queue, (64,), None, object()))
        refused(lambda: axpy(queue, (64,), None, np.float32(1), one))

    def kernel(i: int) -> None:
        cl.Kernel(prg, "axpy").set_arg(1, one)

    def program(i: int) -> None:
        cl.Kernel(cl.Program(ctx, SOURCE + f"/* {i % 4} */").build(), "add1")

    def failing_program(i: int) -> None:
        refused(lambda: cl.Program(ctx, "kernel void k() { nonsense; }").build())

    def context(i: int) -> None:
        other = cl.Context([dev])
        cl.Buffer(other, MF.READ_WRITE, 64)
        cl.CommandQueue(other)

    def image(i: int) -> None:
        if dev.image_support:
            made = make_image(ctx, MF.READ_WRITE, form, shape=(4, 4))
            cl.enqueue_copy(queue, np.zeros(64, np.float32), made, origin=(0, 0), region=(4, 4))

    def sampler(i: int) -> None:
        if dev.image_support:
            cl.Sampler(ctx, False, cl.addressing_mode.CLAMP, cl.filter_mode.NEAREST)

    def shared(i: int) -> None:
        if dev.svm_capabilities:
            cl.enqueue_copy(queue, cl.SVM(cl.csvm_empty(ctx, (64,), np.float32)), host)

    def information(i: int) -> None:
        _ = (
            dev.name,
            dev.max_work_item_sizes,
            dev.extensions,
            ctx.devices,
            queue.context,
            one.context,
            repr(dev),
        )
        _ = add1.function_name, prg.kernel_names, dev.platform.name, ctx == queue.context, hash(one)

    def cycle(i: int) -> None:
        box: list[Any] = [cl.Buffer(ctx, MF.READ_WRITE, 64), cl.enqueue_marker(queue)]
        box.append(box)
        finish_at(i)

    def host_pointer(i: int) -> None:
        cl.Buffer(ctx, MF.READ_WRITE | MF.USE_HOST_PTR, hostbuf=np.zeros(64, np.float32))

    def profile(i: int) -> None:
        event = add1(timed, (64,), None, one)
        event.wait()
        assert event.profile.end >= event.profile.start

    kept: list[Any] = []

    def keep_exception(i: int) -> None:
        try:
            add1(queue, (64,), None, object())
        except Exception as error:
            kept.append(error)
        if i % 50 == 0:
            kept.clear()

    def arrays(i: int) -> None:
        """Known and ever new layouts, kernels of users, failures; plans are forgotten meanwhile."""
        part = vector[: 2 + i % 3000]
        (part + part).sum()
        np.exp(part, out=other[: part.size])
        matrix + matrix[:, :1]
        doubled(part, other[: part.size])
        refused(lambda: part + "no number")
        refused(lambda: np.add(part, part, out=other[:1]))
        if i % 20 == 19:  # so does the warm-up, after which the handles are counted
            queue.finish()
            vector.backend.pool.free_held()

    def fused_(i: int) -> None:
        pygpu.fuse(lambda a, s: a * s + 1)(vector[:64], i)
        refused(lambda: pygpu.fuse(lambda a: a if a > 0 else -a)(vector))
        if i % 20 == 19:  # so does the warm-up, after which the handles are counted
            queue.finish()
            vector.backend.pool.free_held()

    if not PEER:
        import pygpu
        from pygpu.array import to_device
        from pygpu.elementwise import ElementwiseKernel

        vector, other = (to_device(queue, np.ones(4000, np.float32)) for _ in range(2))
        matrix = to_device(queue, np.ones((16, 16), np.float32))
        doubled = ElementwiseKernel(ctx, "float *x, float *y", "y[i] = 2 * x[i]")

    return {
        "arrays": arrays,
        "fused": fused_,
        "buffers": lambda i: cl.Buffer(ctx, MF.READ_WRITE, 4096),
        "sub_buffers": lambda i: one.get_sub_region(0, 64),
        "failing_calls": failing,
        "failing_kernel_calls": failing_kernel,
        "launches": launch,
        "copies": lambda i: cl.enqueue_copy(queue, got, one),
        "pending_copies": pending,
        "dropped_copies": dropped,
        "fills": fill,
        "maps": map_,
        "markers": marker,
        "wait_lists": wait_list,
        "callbacks": callback,
        "user_events": user_event,
        "kernels": kernel,
        "set_args": lambda i: axpy.set_args(np.float32(i), one, two),
        "programs": program,
        "failing_programs": failing_program,
        "queues": lambda i: cl.CommandQueue(ctx),
        "contexts": context,
        "images": image,
        "samplers": sampler,
        "shared_memory": shared,
        "pool_blocks": lambda i: pool.allocate(1000 + i * 997 % 5000),
        "information": information,
        "cycles": cycle,
        "host_pointers": host_pointer,
        "platforms": lambda i: [p.get_devices() for p in cl.get_platforms()],
        "profiling": profile,
        "from_int_ptr": lambda i: cl.Buffer.from_int_ptr(one.int_ptr),
        "exceptions_kept": keep_exception,
    }


def settle(wanted: dict[str, int] | None = None) -> dict[str, int]:
    """Collect until the handles are *wanted*, or, without it, stay the same for two seconds; at
    most 30 seconds."""
    now = handles()
    changed = begun = time.monotonic()
    while True:
        gc.collect()
        last, now = now, handles()
        moment = time.monotonic()
        if now != last:
            changed = moment
        done = now == wanted if wanted is not None else moment - changed > 2
        if done or moment - begun > 30:
            return now
        time.sleep(0.01)


def main() -> None:
    warnings.simplefilter("ignore")
    name = sys.argv[1]
    use, repeats = uses()[name], REPEATS[name]
    references = getattr(sys, "gettotalrefcount", lambda: 0)
    for i in range(max(repeats // 50, 20)):
        use(i)
    before = settle()
    marks = []
    first = repeats // 5  # for arrays a multiple of 20, after which their pool gives back memory
    for part in (range(first), range(first, repeats)):
        for i in part:
            use(i)
        after = settle(before)
        marks.append((resident(), references()))
    print(json.dumps({
        "grown": marks[1][0] - marks[0][0], "references": marks[1][1] - marks[0][1],
        "before": before, "after": after,
        "repeats": repeats - first,
    }))  # fmt: skip


if __name__ == "__main__":
    main()
