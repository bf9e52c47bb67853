"""A forked child holds objects of its parent: they are inert, and neither process is harmed."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from harness import MF, Env, Missed, case, check, cl, in_child, np


def refused(action: Callable[[], Any]) -> None:
    """*action* raises a RuntimeError that speaks of the fork."""
    try:
        action()
    except RuntimeError as error:
        assert "fork" in str(error), error
    else:
        raise AssertionError("an object of the parent worked in the child")


@case(alone=True, limit=20)
def child_launches(env: Env) -> None:
    buffer = env.buffer()
    in_child(lambda: refused(lambda: env.kernel("add1")(env.queue, (64,), None, buffer)))
    env.healthy()


@case(alone=True, limit=20)
def child_copies(env: Env) -> None:
    buffer, target = env.buffer(), env.host.copy()
    in_child(lambda: refused(lambda: cl.enqueue_copy(env.queue, target, buffer)))
    in_child(lambda: refused(lambda: cl.enqueue_copy(env.queue, buffer, target)))
    env.healthy()


@case(alone=True, limit=20)
def child_finishes(env: Env) -> None:
    in_child(lambda: refused(env.queue.finish))
    in_child(lambda: refused(env.queue.flush))
    env.healthy()


@case(alone=True, limit=20)
def child_waits(env: Env) -> None:
    event, gate = cl.enqueue_marker(env.queue), cl.UserEvent(env.ctx)
    in_child(lambda: refused(event.wait))
    in_child(lambda: refused(gate.wait))
    in_child(lambda: refused(lambda: gate.set_status(0)))
    in_child(lambda: refused(lambda: cl.wait_for_events([event])))
    env.healthy()


@case(alone=True, limit=20)
def child_creates(env: Env) -> None:
    in_child(lambda: refused(lambda: cl.Buffer(env.ctx, MF.READ_WRITE, 64)))
    in_child(lambda: refused(lambda: cl.CommandQueue(env.ctx)))
    in_child(lambda: refused(lambda: cl.Program(env.ctx, "kernel void k() {}").build()))
    in_child(lambda: refused(lambda: cl.Kernel(env.prg, "add1")))
    env.healthy()


@case(alone=True, limit=20)
def child_asks(env: Env) -> None:
    def ask() -> None:
        for question in (lambda: env.dev.name, lambda: env.ctx.devices,
                         lambda: env.queue.properties,
                         lambda: env.prg.kernel_names, lambda: repr(env.dev),
                         lambda: hash(env.ctx)):  # fmt: skip
            try:
                question()
            except RuntimeError as error:
                assert "fork" in str(error), error

    in_child(ask)
    env.healthy()


@case(alone=True, limit=20)
def child_drops_everything(env: Env) -> None:
    gate, target = cl.UserEvent(env.ctx), np.zeros(64, np.float32)
    things = [
        env.buffer(),
        env.buffer().get_sub_region(0, 64),
        cl.enqueue_marker(env.queue),
        cl.LocalMemory(8),
    ]
    things.append(cl.enqueue_copy(env.queue, target, things[0], is_blocking=False, wait_for=[gate]))
    things.append(cl.enqueue_map_buffer(env.queue, env.buffer(), cl.map_flags.READ, 0, (4,),
                                        np.float32,
                                        is_blocking=False, wait_for=[gate]))  # fmt: skip

    def drop() -> None:
        things.clear()
        env.__dict__.clear()
        gc.collect()

    in_child(drop)
    check(len(things) == 6, "the parent lost its objects")
    gate.set_status(0)
    things[4].wait()
    check(np.array_equal(target, env.host), "the parent's copy went wrong")


@case(alone=True, limit=20)
def child_ends_in_the_usual_way(env: Env) -> None:
    gate = cl.UserEvent(env.ctx)
    event = cl.enqueue_copy(
        env.queue, np.zeros(64, np.float32), env.buffer(), is_blocking=False, wait_for=[gate]
    )
    child = os.fork()
    if child == 0:
        sys.exit(0)  # atexit handlers, module teardown and all
    deadline = time.monotonic() + 30
    while not (done := os.waitpid(child, os.WNOHANG))[0] and time.monotonic() < deadline:
        time.sleep(0.01)
    if not done[0]:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise Missed("HANG", "the child did not end")
    check(done[1] == 0, f"the child ended with wait status {done[1]}")
    gate.set_status(0)
    event.wait()


@case(alone=True, limit=20)
def child_starts_afresh(env: Env) -> None:
    def fresh() -> None:
        try:
            ctx = cl.create_some_context(interactive=False)
            cl.enqueue_marker(cl.CommandQueue(ctx)).wait()
        except RuntimeError as error:
            assert "fork" in str(error), error

    in_child(fresh)
    env.healthy()


@case(alone=True, limit=20)
def child_forks_again(env: Env) -> None:
    def grandchild() -> None:
        pid = os.fork()
        if pid == 0:
            try:
                refused(env.queue.finish)
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(pid, 0)[1] == 0

    in_child(grandchild)
    env.healthy()


@case(alone=True, limit=30)
def fork_while_others_launch(env: Env) -> None:
    stop, kernel, buffer = threading.Event(), env.kernel("add1"), env.buffer()

    def work() -> None:
        queue = cl.CommandQueue(env.ctx)
        while not stop.is_set():
            kernel(queue, (64,), None, buffer)
            queue.finish()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            in_child(lambda: refused(lambda: kernel(env.queue, (64,), None, buffer)))
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    env.healthy()


@case(alone=True, limit=20)
def fork_inside_a_callback(env: Env) -> None:
    done: list[Any] = []

    def fork(status: int) -> None:
        try:
            in_child(lambda: refused(env.queue.finish))
            done.append(None)
        except BaseException as error:
            done.append(error)

    event = cl.enqueue_marker(env.queue)
    event.set_callback(cl.command_execution_status.COMPLETE, fork)
    event.wait()
    deadline = time.monotonic() + 30
    while not done and time.monotonic() < deadline:
        time.sleep(0.01)
    check(done == [None], f"forking in a callback: {done}")


def pool_task(n: int) -> str:
    """What a worker of a forked pool meets."""
    try:
        INHERITED[0].queue.finish()
    except RuntimeError as error:
        return str(error)
    return f"worked {n}"


INHERITED: list[Any] = []


@case(alone=True, limit=30)
def forked_pool(env: Env) -> None:
    INHERITED.append(env)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        answers = pool.map_async(pool_task, range(4)).get(15)
    check(all("fork" in a for a in answers), f"forked workers answered {answers}")
    env.healthy()


@case(alone=True, limit=60)
def fork_before_the_first_use(env: Env) -> None:
    text = f"""
import os
import {cl.__name__} as cl
pid = os.fork()
ctx = cl.create_some_context(interactive=False)
cl.enqueue_marker(cl.CommandQueue(ctx)).wait()
if pid:
    assert os.waitpid(pid, 0)[1] == 0
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", text], capture_output=True, text=True, timeout=40
    )
    check(done.returncode == 0 and not done.stderr, f"{done.returncode} {done.stderr[-500:]}")


@case(alone=True, limit=30)
def subprocess_with_work_pending(env: Env) -> None:
    gate, target = cl.UserEvent(env.ctx), np.zeros(64, np.float32)
    event = cl.enqueue_copy(env.queue, target, env.buffer(), is_blocking=False, wait_for=[gate])
    done = subprocess.run(
        [sys.executable, "-P", "-c", "print(7)"],
        capture_output=True,
        text=True,
        preexec_fn=gc.collect,
    )
    check(done.stdout == "7\n", "the subprocess went wrong")
    gate.set_status(0)
    event.wait()
    check(np.array_equal(target, env.host), "the copy went wrong")
