"""Mistakes under pressure: many in a row, between good commands, with resources running out."""

from __future__ import annotations

import gc
import resource
import sys
from typing import Any

from harness import ANY, MF, Env, case, check, cl, expect, np, tolerate


@case(limit=30)
def failures_between_good_commands(env: Env) -> None:
    buffer, kernel = env.buffer(), env.kernel("add1")
    for i in range(200):
        kernel(env.queue, (64,), None, buffer)
        with expect(ANY):
            kernel(env.queue, (64,), (0,), buffer)
        with expect(ANY):
            cl.enqueue_copy(env.queue, env.host.copy(), buffer, src_offset=2**64 - 4)
        with expect(TypeError):
            kernel(env.queue, (64,), None, i)
    check(
        np.array_equal(env.read(buffer), env.host + 200),
        "good commands between bad ones went wrong",
    )


@case(limit=30)
def error_objects(env: Env) -> None:
    for action in (lambda: cl.Program(env.ctx, "kernel void k( {").build(),
                   lambda: env.queue.get_info(0),
                   lambda: cl.Kernel(env.prg, "no_such")):  # fmt: skip
        try:
            action()
        except cl.Error as error:
            check(isinstance(error.code, int) and error.code < 0, f"code is {error.code!r}")
            check(isinstance(error.routine, str) and error.routine, f"routine is {error.routine!r}")
            check(repr(error) and str(error), "an error has no text")
            again = type(error)(*error.args)
            check(isinstance(again, cl.Error), "an error cannot be made again from its arguments")
        except (TypeError, ValueError):
            pass


@case(limit=30)
def errors_hold_no_objects(env: Env) -> None:
    kept: list[BaseException] = []
    before = sys.getrefcount(env.queue)
    for _ in range(100):
        try:
            env.queue.get_info(0)
        except Exception as error:
            kept.append(error.with_traceback(None))
    check(sys.getrefcount(env.queue) - before < 10, "errors keep the queue alive")


@case(limit=30)
def error_classes_are_the_builtin_ones_too(env: Env) -> None:
    check(issubclass(cl.LogicError, cl.Error), "LogicError is not an Error")
    check(
        issubclass(cl.MemoryError, (cl.Error,)) and issubclass(cl.MemoryError, MemoryError),
        "MemoryError",
    )
    check(
        issubclass(cl.RuntimeError, (cl.Error,)) and issubclass(cl.RuntimeError, RuntimeError),
        "RuntimeError",
    )


@case(alone=True, limit=40)
def address_space_runs_out(env: Env) -> None:
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**28, hard))
    held: list[Any] = []
    try:
        with expect((MemoryError, cl.Error)):
            for _ in range(10000):
                host = np.ones(2**22, np.uint8)
                held.append(cl.Buffer(env.ctx, MF.READ_WRITE | MF.COPY_HOST_PTR, hostbuf=host))
    finally:
        held.clear()
        gc.collect()
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    env.healthy()


@case(alone=True, limit=60)
def memory_that_runs_out_when_it_is_used(env: Env) -> None:
    """Drivers may take memory only when a command uses it, and PoCL ends the process then."""
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    shape = (2048, 2048)
    pixel = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.UNSIGNED_INT8)
    held: list[Any] = []
    pool = cl.tools.MemoryPool(cl.tools.ImmediateAllocator(env.queue))

    def buffer() -> None:
        held.append(cl.Buffer(env.ctx, MF.READ_WRITE, 2**24))
        cl.enqueue_fill_buffer(env.queue, held[-1], b"\1", 0, 2**24).wait()

    def image() -> None:
        held.append(cl.Image(env.ctx, MF.READ_WRITE, pixel, shape=shape))
        pattern = np.ones(4, np.uint32)
        cl.enqueue_fill_image(env.queue, held[-1], pattern, (0, 0), shape).wait()

    def pooled() -> None:
        held.append(pool.allocate(2**24))

    for make in (buffer, image, pooled) if env.dev.image_support else (buffer, pooled):
        resource.setrlimit(resource.RLIMIT_AS, (used + 2**29, hard))
        try:
            with expect((MemoryError, cl.Error)):
                for _ in range(100):
                    make()
                    flags = held[-1].flags, held[-1].get_info(cl.mem_info.FLAGS)
                    check(flags == (MF.READ_WRITE,) * 2, f"the flags became {flags}")
        finally:
            held.clear()
            gc.collect()
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        env.healthy()


@case(alone=True, limit=40)
def memory_in_cycles_is_collected_and_retried(env: Env) -> None:
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**29, hard))
    gc.disable()
    try:
        # 64 MiB each in a cycle: without a collection and a retry the eighth or so fails.
        for _ in range(40):
            box: list[Any] = [cl.Buffer(env.ctx, MF.READ_WRITE | MF.ALLOC_HOST_PTR, 2**26)]
            box.append(box)
            del box
    finally:
        gc.enable()
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@case(alone=True, limit=40)
def recursion_runs_out(env: Env) -> None:
    buffer = env.buffer()

    def deep(n: int) -> None:
        try:
            env.kernel("add1")(
                env.queue, (64,), None, buffer, wait_for=[cl.enqueue_marker(env.queue)]
            )
            cl.enqueue_copy(env.queue, env.host.copy(), buffer)
            repr(env.ctx)
        except RecursionError:
            return
        deep(n + 1)

    with tolerate(RecursionError):
        deep(0)
    env.queue.finish()
    env.healthy()


@case(alone=True, limit=40)
def files_run_out(env: Env) -> None:
    files: list[Any] = []
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
    try:
        with tolerate(OSError):
            while True:
                files.append(open("/dev/null"))
        with tolerate((*ANY, OSError)):
            cl.Program(env.ctx, "kernel void brandnew(global int *a) { a[0] = 43; }").build()
        buffer = env.buffer()
        env.kernel("add1")(env.queue, (64,), None, buffer)
        check(
            np.array_equal(env.read(buffer), env.host + 1), "a launch without free files went wrong"
        )
    finally:
        for file in files:
            file.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@case(limit=30)
def out_of_order_queue(env: Env) -> None:
    out_of_order = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    with tolerate() as caught:
        queue = cl.CommandQueue(env.ctx, properties=out_of_order)
    if caught:
        return
    buffer, event = env.buffer(), None
    for _ in range(50):
        event = env.kernel("add1")(queue, (64,), None, buffer, wait_for=[event] if event else None)
    target = np.zeros(64, np.float32)
    cl.enqueue_copy(queue, target, buffer, wait_for=[event])
    check(np.array_equal(target, env.host + 50), "a chain on an out-of-order queue went wrong")


@case(limit=30)
def many_pending_reads_dropped(env: Env) -> None:
    gate, buffer = cl.UserEvent(env.ctx), env.buffer(4096)
    for _ in range(200):
        cl.enqueue_copy(
            env.queue, np.zeros(4096, np.float32), buffer, is_blocking=False, wait_for=[gate]
        )
    gc.collect()
    rubbish = [np.zeros(4096, np.float32) for _ in range(200)]
    gate.set_status(0)
    env.queue.finish()
    check(not any(r.any() for r in rubbish), "a dropped read wrote into another array")
