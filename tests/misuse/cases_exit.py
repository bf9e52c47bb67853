"""The process ends while something is still going on: status 0, no word on stderr, in time."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from typing import Any

from harness import MF, Env, case, cl, np, tolerate

KEPT: list[Any] = []


@case(alone=True, limit=8)
def gated_read_outstanding(env: Env) -> None:
    gate, target = cl.UserEvent(env.ctx), np.zeros(64, np.float32)
    KEPT.extend([gate, target])
    KEPT.append(
        cl.enqueue_copy(env.queue, target, env.buffer(), is_blocking=False, wait_for=[gate])
    )


@case(alone=True, limit=8)
def gated_read_outstanding_in_locals(env: Env) -> None:
    gate, target = cl.UserEvent(env.ctx), np.zeros(64, np.float32)
    event = cl.enqueue_copy(env.queue, target, env.buffer(), is_blocking=False, wait_for=[gate])
    del event, target


@case(alone=True, limit=8)
def gated_write_outstanding(env: Env) -> None:
    KEPT.append(cl.UserEvent(env.ctx))
    cl.enqueue_copy(env.queue, env.buffer(), env.host, is_blocking=False, wait_for=[KEPT[0]])


@case(alone=True, limit=8)
def gated_kernel_outstanding(env: Env) -> None:
    KEPT.append(cl.UserEvent(env.ctx))
    KEPT.append(env.kernel("add1")(env.queue, (64,), None, env.buffer(), wait_for=[KEPT[0]]))


@case(alone=True, limit=8)
def long_chain_outstanding(env: Env) -> None:
    KEPT.append(cl.UserEvent(env.ctx))
    for _ in range(500):
        KEPT.append(env.kernel("add1")(env.queue, (64,), None, env.buffer(), wait_for=[KEPT[-1]]))


def first_launch(env: Env) -> None:
    """Of a kernel that no cache has: PoCL compiles it in a thread of its own."""
    source = f"kernel void f(global float *a) {{ a[get_global_id(0)] *= {time.time_ns()}.0f; }}"
    KEPT.append(cl.Program(env.ctx, source).build(cache_dir=False))
    KEPT[-1].f(env.queue, (64,), None, env.buffer())


@case(alone=True, limit=10)
def kernel_being_compiled(env: Env) -> None:
    first_launch(env)  # the moment has to be hit: each try alone ended one process in ten


@case(alone=True, limit=10)
def kernel_being_compiled_soon(env: Env) -> None:
    first_launch(env)
    time.sleep(0.01)


@case(alone=True, limit=10)
def kernels_being_compiled_for_a_queue_that_went(env: Env) -> None:
    env.queue = cl.CommandQueue(env.ctx)
    first_launch(env)
    first_launch(env)
    del env.queue


@case(alone=True, limit=10)
def kernel_running(env: Env) -> None:
    KEPT.append(env.kernel("spin")(env.queue, (1,), None, np.int32(500_000), env.out()))


@case(alone=True, limit=10)
def kernel_running_and_read_behind_it(env: Env) -> None:
    out, target = env.out(), np.zeros(64, np.int32)
    env.kernel("spin")(env.queue, (1,), None, np.int32(500_000), out)
    cl.enqueue_copy(env.queue, target, out, is_blocking=False)


@case(alone=True, limit=6)
def event_without_an_outcome_beside_a_long_kernel(env: Env) -> None:
    """PoCL's threads do not stand still for its failure, which is waited for once."""
    KEPT.append(cl.UserEvent(env.ctx))
    KEPT.append(cl.enqueue_marker(env.queue, wait_for=KEPT[:1]))
    KEPT.append(cl.CommandQueue(env.ctx))
    env.kernel("spin")(KEPT[-1], (1,), None, np.int32(20_000_000), env.out())
    KEPT[-1].flush()
    time.sleep(0.3)


@case(alone=True, limit=8)
def daemon_thread_waiting(env: Env) -> None:
    gate = cl.UserEvent(env.ctx)
    KEPT.append(gate)
    threading.Thread(target=gate.wait, daemon=True).start()
    time.sleep(0.2)


@case(alone=True, limit=8)
def daemon_thread_waiting_for_a_marker(env: Env) -> None:
    gate = cl.UserEvent(env.ctx)
    event = cl.enqueue_marker(env.queue, wait_for=[gate])
    KEPT.extend([gate, event])
    threading.Thread(target=event.wait, daemon=True).start()
    threading.Thread(target=env.queue.finish, daemon=True).start()
    time.sleep(0.2)


@case(alone=True, limit=10)
def daemon_thread_in_finish(env: Env) -> None:
    env.kernel("spin")(env.queue, (1,), None, np.int32(500_000), env.out())
    threading.Thread(target=env.queue.finish, daemon=True).start()
    time.sleep(0.1)


@case(alone=True, limit=8)
def daemon_thread_launching(env: Env) -> None:
    buffer, kernel = env.buffer(), env.kernel("add1")

    def work() -> None:
        while True:
            kernel(env.queue, (64,), None, buffer)
            env.queue.finish()

    for _ in range(3):
        threading.Thread(target=work, daemon=True).start()
    time.sleep(0.3)


@case(alone=True, limit=8)
def daemon_thread_copying(env: Env) -> None:
    buffer = env.buffer(100_000)

    def work() -> None:
        target = np.zeros(100_000, np.float32)
        while True:
            cl.enqueue_copy(env.queue, target, buffer)

    for _ in range(3):
        threading.Thread(target=work, daemon=True).start()
    time.sleep(0.3)


@case(alone=True, limit=10)
def daemon_thread_building(env: Env) -> None:
    def work() -> None:
        for i in range(1000):
            cl.Program(
                env.ctx, f"kernel void k(global int *a) {{ a[0] = {i} + {os.getpid()}; }}"
            ).build()

    threading.Thread(target=work, daemon=True).start()
    time.sleep(0.3)


@case(alone=True, limit=20)
def daemon_thread_in_a_long_build(env: Env) -> None:
    """One that goes on for longer than exit waits."""
    steps = "".join(
        f"if (x > {i}.f) x = sin(x) * a[{i}]; else x += cos(x * a[{i + 1}]);\n" for i in range(600)
    )
    head, end = "kernel void k(global float *a) { float x = a[0];", f"a[1] = x + {os.getpid()}; }}"
    threading.Thread(target=cl.Program(env.ctx, head + steps + end).build, daemon=True).start()
    time.sleep(0.3)


@case(alone=True, limit=8)
def callback_pending(env: Env) -> None:
    gate = cl.UserEvent(env.ctx)
    KEPT.append(gate)
    gate.set_callback(cl.command_execution_status.COMPLETE, lambda status: None)
    event = cl.enqueue_marker(env.queue, wait_for=[gate])
    event.set_callback(cl.command_execution_status.COMPLETE, lambda status: KEPT.append(status))


@case(alone=True, limit=8)
def callbacks_arriving(env: Env) -> None:
    for _ in range(500):
        event = env.kernel("add1")(env.queue, (64,), None, env.buffer())
        event.set_callback(cl.command_execution_status.COMPLETE, lambda status: KEPT.append(status))


@case(alone=True, limit=10)
def callback_running(env: Env) -> None:
    event = cl.enqueue_marker(env.queue)
    event.set_callback(cl.command_execution_status.COMPLETE, lambda status: time.sleep(1))
    event.wait()


@case(alone=True, limit=8)
def use_in_an_atexit_handler(env: Env) -> None:
    buffer = env.buffer()

    def last() -> None:
        with tolerate((cl.Error,)):
            env.kernel("add1")(env.queue, (64,), None, buffer).wait()
            env.read(buffer)
            cl.Buffer(env.ctx, MF.READ_WRITE, 64)

    atexit.register(last)


@case(alone=True, limit=8)
def use_in_a_destructor_of_a_global(env: Env) -> None:
    class Late:
        def __init__(self) -> None:
            self.env, self.buffer = env, env.buffer()

        def __del__(self) -> None:
            try:
                self.env.read(self.buffer)
                self.buffer.release()
            except Exception:
                pass

    sys.modules["late"] = Late()  # type: ignore[assignment]
    KEPT.append(Late())


@case(alone=True, limit=8)
def cycles_at_exit(env: Env) -> None:
    class Node(cl.Buffer):
        pass

    for _ in range(10):
        node = Node(env.ctx, MF.READ_WRITE, 64)
        node.me, node.env = node, env
        KEPT.append(node)


@case(alone=True, limit=8)
def everything_alive_at_exit(env: Env) -> None:
    sys.modules["kept"] = KEPT  # type: ignore[assignment]
    event = env.kernel("add1")(env.queue, (64,), None, env.buffer())
    KEPT.extend(
        [
            env,
            env.buffer(),
            event,
            cl.UserEvent(env.ctx),
            env.kernel("spin"),
            env.prg,
            cl.LocalMemory(8),
        ]
    )
    KEPT.append(cl.Sampler(env.ctx, False, cl.addressing_mode.CLAMP, cl.filter_mode.NEAREST))


@case(alone=True, limit=8)
def mapped_at_exit(env: Env) -> None:
    flags = cl.map_flags.WRITE
    KEPT.append(cl.enqueue_map_buffer(env.queue, env.buffer(), flags, 0, (64,), np.float32))
    KEPT[0][0][:] = 3


@case(alone=True, limit=8)
def gated_map_at_exit(env: Env) -> None:
    gate = cl.UserEvent(env.ctx)
    flags = cl.map_flags.WRITE
    KEPT.append(gate)
    KEPT.append(cl.enqueue_map_buffer(env.queue, env.buffer(), flags, 0, (64,), np.float32,
                                      wait_for=[gate],
                                      is_blocking=False))  # fmt: skip


@case(alone=True, limit=8, rc=3)
def sys_exit_with_a_status(env: Env) -> None:
    KEPT.append(cl.UserEvent(env.ctx))
    cl.enqueue_copy(env.queue, env.host.copy(), env.buffer(), is_blocking=False, wait_for=KEPT)
    atexit.register(os._exit, 3)


@case(alone=True, limit=8)
def pool_with_blocks_at_exit(env: Env) -> None:
    pool = cl.tools.MemoryPool(cl.tools.ImmediateAllocator(env.queue))
    KEPT.extend([pool, pool.allocate(1000), pool.allocate(10**6)])
    del KEPT[1]


@case(alone=True, limit=8)
def module_globals_cleared_by_hand(env: Env) -> None:
    KEPT.append(env.buffer())
    for name in [n for n in sys.modules if n.split(".")[0] in ("pygpu", cl.__name__)]:
        del sys.modules[name]
    cl.__dict__.clear()


@case(alone=True, limit=8)
def non_daemon_thread_outlives_main(env: Env) -> None:
    def work() -> None:
        time.sleep(0.5)
        env.healthy()

    threading.Thread(target=work).start()
