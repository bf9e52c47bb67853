"""Objects dropped or released while something else still needs them."""

from __future__ import annotations

import gc
import time
import weakref
from typing import Any

from harness import MF, Env, case, check, cl, expect, np, tolerate, within


def gated_chain(env: Env) -> tuple[Any, Any]:
    """A user event, and a marker on the queue that waits for it."""
    gate = cl.UserEvent(env.ctx)
    return gate, cl.enqueue_marker(env.queue, wait_for=[gate])


@case
def sub_region_outlives_its_parent(env: Env) -> None:
    region = env.buffer(1024).get_sub_region(0, 256)
    gc.collect()
    others = [env.buffer(1024) for _ in range(20)]
    env.kernel("add1")(env.queue, (64,), None, region)
    check(np.array_equal(env.read(region), env.host + 1), "the sub-region lost its memory")
    check(
        all(np.array_equal(env.read(o, n=64), env.host) for o in others),
        "another buffer was written",
    )


@case
def parent_released_before_its_sub_region(env: Env) -> None:
    parent = env.buffer(1024)
    region = parent.get_sub_region(0, 256)
    parent.release()
    check(np.array_equal(env.read(region), env.host), "the sub-region lost its memory")
    region.release()


@case
def context_dropped_before_everything(env: Env) -> None:
    ctx = cl.Context([env.dev])
    queue = cl.CommandQueue(ctx)
    prg = cl.Program(ctx, "kernel void k(global int *a) { a[0] = 42; }").build()
    kernel = cl.Kernel(prg, "k")
    buffer = cl.Buffer(ctx, MF.READ_WRITE, 4)
    del ctx, prg
    gc.collect()
    kernel(queue, (1,), None, buffer)
    result = np.zeros(1, np.int32)
    cl.enqueue_copy(queue, result, buffer)
    check(result[0] == 42, "the launch went wrong")
    check(buffer.context is not None and kernel.context == queue.context, "the contexts differ")


@case
def program_dropped_before_its_kernel(env: Env) -> None:
    kernel = cl.Program(env.ctx, "kernel void k(global int *a) { a[0] = 42; }").build().k
    gc.collect()
    out = env.out()
    kernel(env.queue, (1,), None, out)
    check(env.read(out, np.int32)[0] == 42, "the launch went wrong")
    check(kernel.program.kernel_names == "k", "the kernel's program is gone")


@case
def queue_dropped_with_work_pending(env: Env) -> None:
    out = env.out()
    event = env.kernel("spin")(cl.CommandQueue(env.ctx), (1,), None, np.int32(20000), out)
    gc.collect()
    event.wait()
    check(event.command_execution_status == 0, "the command did not complete")


@case
def queue_dropped_while_gated(env: Env) -> None:
    queue, gate, buffer = cl.CommandQueue(env.ctx), cl.UserEvent(env.ctx), env.buffer()
    event = env.kernel("add1")(queue, (64,), None, buffer, wait_for=[gate])
    with within(3, "dropping a queue with a gated command"):
        del queue
        gc.collect()
    gate.set_status(0)
    event.wait()
    check(np.array_equal(env.read(buffer), env.host + 1), "the gated launch went wrong")


@case
def arguments_dropped_while_gated(env: Env) -> None:
    gate, out = cl.UserEvent(env.ctx), env.buffer()
    event = env.kernel("axpy")(
        env.queue, (64,), None, np.float32(2), env.buffer(), out, wait_for=[gate]
    )
    gc.collect()
    others = [
        cl.Buffer(env.ctx, MF.COPY_HOST_PTR, hostbuf=np.full(64, 1000, np.float32))
        for _ in range(50)
    ]
    gate.set_status(0)
    event.wait()
    check(
        np.array_equal(env.read(out), 3 * env.host),
        "the dropped argument was reused before the launch",
    )
    del others


@case
def kernel_dropped_while_gated(env: Env) -> None:
    gate, buffer = cl.UserEvent(env.ctx), env.buffer()
    event = cl.Kernel(env.prg, "add1")(env.queue, (64,), None, buffer, wait_for=[gate])
    gc.collect()
    gate.set_status(0)
    event.wait()
    check(
        np.array_equal(env.read(buffer), env.host + 1), "the launch of a dropped kernel went wrong"
    )


@case
def buffer_released_while_gated(env: Env) -> None:
    gate, buffer, target = cl.UserEvent(env.ctx), env.buffer(), np.zeros(64, np.float32)
    event = cl.enqueue_copy(env.queue, target, buffer, is_blocking=False, wait_for=[gate])
    buffer.release()
    others = [
        cl.Buffer(env.ctx, MF.COPY_HOST_PTR, hostbuf=np.full(64, 1000, np.float32))
        for _ in range(50)
    ]
    gate.set_status(0)
    event.wait()
    check(np.array_equal(target, env.host), "the copy read another buffer")
    del others


@case
def read_event_and_array_dropped_while_gated(env: Env) -> None:
    gate, buffer = cl.UserEvent(env.ctx), env.buffer(4096)
    target = np.zeros(4096, np.float32)
    gone = weakref.ref(target)
    with within(3, "dropping the event of a gated read"):
        event = cl.enqueue_copy(env.queue, target, buffer, is_blocking=False, wait_for=[gate])
        del event, target
        gc.collect()
    check(gone() is not None, "the array of a pending read was freed")
    rubbish = [np.zeros(4096, np.float32) for _ in range(50)]
    gate.set_status(0)
    env.queue.finish()
    check(not any(r.any() for r in rubbish), "the read wrote into another array")
    deadline = time.monotonic() + 30
    while gone() is not None and time.monotonic() < deadline:
        cl.enqueue_marker(env.queue).wait()
        gc.collect()
    check(gone() is None, "the array of a finished read is never freed")


@case
def write_array_dropped_while_gated(env: Env) -> None:
    gate, buffer = cl.UserEvent(env.ctx), env.out(4 * 4096)
    with within(3, "dropping the event of a gated write"):
        source = np.full(4096, 5, np.float32)
        event = cl.enqueue_copy(env.queue, buffer, source, is_blocking=False, wait_for=[gate])
        del event, source
        gc.collect()
    rubbish = [np.full(4096, 9, np.float32) for _ in range(50)]
    gate.set_status(0)
    env.queue.finish()
    check((env.read(buffer) == 5).all(), "the write read another array")
    del rubbish


@case
def rectangle_arrays_dropped_while_gated(env: Env) -> None:
    gate, buffer = cl.UserEvent(env.ctx), env.out(4 * 4096)
    args = {"buffer_origin": (0, 0, 0), "host_origin": (0, 0, 0), "region": (4 * 4096, 1, 1)}
    with within(3, "dropping the event of a gated rectangle"):
        source = np.full(4096, 5, np.float32)
        cl.enqueue_copy(env.queue, buffer, source, is_blocking=False, wait_for=[gate], **args)
        del source
        gc.collect()
    rubbish = [np.full(4096, 9, np.float32) for _ in range(50)]
    gate.set_status(0)
    env.queue.finish()
    check((env.read(buffer) == 5).all(), "the write read another array")
    del rubbish


@case
def image_write_dropped_while_gated(env: Env) -> None:
    gate, image = cl.UserEvent(env.ctx), env.image((64, 64))
    args = {"origin": (0, 0), "region": (64, 64)}
    with within(3, "dropping the event of a gated image write"):
        source = np.full((64, 64, 4), 5, np.float32)
        cl.enqueue_copy(env.queue, image, source, is_blocking=False, wait_for=[gate], **args)
        del source
        gc.collect()
    rubbish = [np.full((64, 64, 4), 9, np.float32) for _ in range(20)]
    gate.set_status(0)
    env.queue.finish()
    back = np.zeros((64, 64, 4), np.float32)
    cl.enqueue_copy(env.queue, back, image, **args)
    check((back == 5).all(), "the write read another array")
    del rubbish


@case
def pattern_dropped_while_gated(env: Env) -> None:
    gate, buffer = cl.UserEvent(env.ctx), env.out()
    cl.enqueue_fill_buffer(env.queue, buffer, np.full(4, 5, np.float32), 0, 256, wait_for=[gate])
    gc.collect()
    rubbish = [np.full(4, 9, np.float32) for _ in range(1000)]
    gate.set_status(0)
    check((env.read(buffer) == 5).all(), "the fill used another pattern")
    del rubbish


@case
def wait_list_dropped_while_gated(env: Env) -> None:
    gate = cl.UserEvent(env.ctx)
    events = [cl.enqueue_marker(env.queue, wait_for=[gate])]
    for _ in range(100):
        events = [cl.enqueue_marker(env.queue, wait_for=events)]
    gate.set_status(0)
    events[0].wait()


@case
def user_event_dropped_without_a_status(env: Env) -> None:
    gate, event = gated_chain(env)
    with within(3, "dropping a user event"):
        del gate
        gc.collect()
    with within(5, "waiting for what hung on a dropped user event"), tolerate((cl.Error,)):
        event.wait()


@case(alone=True)
def dropped_commands_behind_a_failing_user_event(env: Env) -> None:
    buffer, target, read = env.buffer(), np.zeros(64, np.float32), cl.map_flags.READ
    commands = [
        lambda q, w: cl.enqueue_marker(q, wait_for=w),
        lambda q, w: cl.enqueue_barrier(q, wait_for=w),
        lambda q, w: env.kernel("add1")(q, (64,), None, buffer, wait_for=w),
        lambda q, w: cl.enqueue_copy(q, target, buffer, is_blocking=False, wait_for=w),
        lambda q, w: cl.enqueue_copy(q, buffer, target, is_blocking=False, wait_for=w),
        lambda q, w: cl.enqueue_fill_buffer(q, buffer, np.int32(1), 0, 64, wait_for=w),
        lambda q, w: cl.enqueue_migrate_mem_objects(q, [buffer], wait_for=w),
        lambda q, w: cl.enqueue_map_buffer(
            q, buffer, read, 0, (4,), np.float32, wait_for=w, is_blocking=False
        ),
    ]
    for command in commands:
        for end in (lambda gate: gate.set_status(-1), lambda gate: None):
            gate = cl.UserEvent(env.ctx)
            queue = cl.CommandQueue(env.ctx)
            with tolerate((cl.Error,)):
                command(queue, [gate])
                cl.enqueue_marker(queue)
                gc.collect()
                end(gate)
            del gate, queue
            gc.collect()
    env.healthy()


@case(alone=True)
def user_event_dropped_then_finish(env: Env) -> None:
    queue = cl.CommandQueue(env.ctx)
    buffer = env.buffer()
    env.kernel("add1")(queue, (64,), None, buffer, wait_for=[cl.UserEvent(env.ctx)])
    gc.collect()
    with within(5, "finish after a dropped user event"), tolerate((cl.Error,)):
        queue.finish()


@case
def user_event_kept_by_its_followers_only(env: Env) -> None:
    # The wait list of a command does not keep the event unset: dropping ends it with an
    # error.
    target = np.zeros(64, np.float32)
    with within(5, "a blocking copy behind a dropped user event"), tolerate((cl.Error,)):
        cl.enqueue_copy(cl.CommandQueue(env.ctx), target, env.buffer(),
                        wait_for=[cl.UserEvent(env.ctx)],
                        is_blocking=False).wait()  # fmt: skip


@case
def events_outlive_queue_and_context(env: Env) -> None:
    ctx = cl.Context([env.dev])
    event = cl.enqueue_marker(cl.CommandQueue(ctx))
    del ctx
    gc.collect()
    event.wait()
    check(event.context is not None, "the event's context is gone")
    with tolerate():
        check(event.command_queue is not None, "the event's queue is gone")


@case
def buffer_in_a_cycle(env: Env) -> None:
    class Node(cl.Buffer):
        pass

    node = Node(env.ctx, MF.READ_WRITE, 64)
    node.me = node
    node.list = [node]
    gone = weakref.ref(node)
    del node
    gc.collect()
    check(gone() is None, "a cycle through a Buffer subclass is never collected")


@case
def callback_in_a_cycle_with_its_event(env: Env) -> None:
    gate = cl.UserEvent(env.ctx)

    class Holder:
        pass

    holder = Holder()
    holder.gate = gate
    gate.set_callback(cl.command_execution_status.COMPLETE, lambda status, h=holder: None)
    gone = weakref.ref(holder)
    gate.set_status(0)
    del holder, gate
    for _ in range(2000):
        gc.collect()
        cl.enqueue_marker(env.queue).wait()
        if gone() is None:
            return
        time.sleep(0.01)
    check(gone() is None, "a callback that has run is never released")


@case
def program_and_kernel_cycle(env: Env) -> None:
    prg = cl.Program(env.ctx, "kernel void k(global int *a) { a[0] = 42; }").build()
    kernel = prg.k
    check(kernel.program == prg, "the kernel's program is another one")
    gone = weakref.ref(kernel)
    del prg, kernel
    gc.collect()
    check(gone() is None, "a program and its kept kernel are never collected")


@case
def kernel_arguments_in_a_cycle(env: Env) -> None:
    class Node(cl.Buffer):
        pass

    node = Node(env.ctx, MF.READ_WRITE, 64)
    node.kernel = cl.Kernel(env.prg, "add1")
    node.kernel.set_args(node)
    gone = weakref.ref(node)
    del node
    gc.collect()
    check(
        gone() is None, "a kernel that holds an argument that holds the kernel is never collected"
    )


@case
def released_by_a_finalizer(env: Env) -> None:
    class Reviver(cl.Buffer):
        saved: list[Any] = []

        def __del__(self) -> None:
            self.saved.append(self)

    Reviver(env.ctx, MF.READ_WRITE, 64)
    gc.collect()
    revived = Reviver.saved.pop()
    cl.enqueue_fill_buffer(env.queue, revived, np.int32(7), 0, 64)
    check((env.read(revived, np.int32) == 7).all(), "a revived buffer does not work")
    Reviver.saved = []
    del revived


@case
def objects_made_without_init(env: Env) -> None:
    class Unmade(cl.Buffer):
        def __init__(self) -> None:
            pass

    with tolerate() as caught:
        unmade = Unmade()
    if not caught:
        for use in (lambda: unmade.size, lambda: cl.enqueue_copy(env.queue, env.host.copy(),
                                                                 unmade),
                    lambda: unmade.release(), lambda: env.kernel("add1")(env.queue, (1,), None,
                                                                         unmade)):  # fmt: skip
            with expect((TypeError, ValueError, AttributeError, RuntimeError, cl.Error)):
                use()
        with tolerate((*cl.Error.__mro__[:1], TypeError, ValueError, AttributeError, RuntimeError)):
            repr(unmade), hash(unmade)


@case
def init_called_again(env: Env) -> None:
    buffer = env.buffer()
    with tolerate():
        buffer.__init__(env.ctx, MF.READ_WRITE, 64)
    with tolerate():
        cl.Context.__init__(env.ctx, [env.dev])
    with tolerate():
        cl.CommandQueue.__init__(env.queue, env.ctx)
    with tolerate():
        env.prg.__init__(env.ctx, "kernel void z() {}")
    gc.collect()
    with tolerate():
        env.read(buffer)


@case
def deep_chain_of_events(env: Env) -> None:
    event = cl.enqueue_marker(env.queue)
    for _ in range(3000):
        event = cl.enqueue_marker(env.queue, wait_for=[event])
    event.wait()
    del event
    gc.collect()


@case
def deep_chain_of_sub_objects(env: Env) -> None:
    class Link(cl.Buffer):
        pass

    link = None
    for _ in range(50000):
        new = Link.__new__(Link, env.ctx, MF.READ_WRITE, 4)
        with tolerate():
            new.__init__(env.ctx, MF.READ_WRITE, 4)
        new.next = link
        link = new
    # Freed one inside the other: a dealloc without the trashcan would overflow the C stack here.
    del link, new
    gc.collect()
