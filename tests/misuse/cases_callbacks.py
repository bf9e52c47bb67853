"""Event callbacks that raise, misfit, re-enter or linger."""

from __future__ import annotations

import gc
import sys
import threading
import time
import weakref
from typing import Any

from harness import ANY, Env, case, check, cl, expect, np, soon, tolerate, within

COMPLETE = cl.command_execution_status.COMPLETE


def until(condition: Any, seconds: float = 30.0) -> bool:
    """Wait for *condition*, running whatever pygpu runs meanwhile."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.005)
    return bool(condition())


def unraisable(action: Any) -> list[Any]:
    """What reaches sys.unraisablehook by *action*, when something has."""
    seen: list[Any] = []
    old, sys.unraisablehook = (
        sys.unraisablehook,
        lambda args: seen.append((args.exc_type, str(args.exc_value))),
    )
    try:
        action()
        until(lambda: seen)
    finally:
        sys.unraisablehook = old
    return seen


@case
def callback_that_raises(env: Env) -> None:
    def fail(status: int) -> None:
        raise ZeroDivisionError("from the callback")

    def action() -> None:
        event = cl.enqueue_marker(env.queue)
        event.set_callback(COMPLETE, fail)
        event.wait()

    seen = unraisable(action)
    check(seen == [(ZeroDivisionError, "from the callback")], f"sys.unraisablehook got {seen}")


@case
def callback_of_a_wrong_signature(env: Env) -> None:
    def action() -> None:
        event = cl.enqueue_marker(env.queue)
        event.set_callback(COMPLETE, lambda: None)
        event.wait()

    seen = unraisable(action)
    check(len(seen) == 1 and seen[0][0] is TypeError, f"sys.unraisablehook got {seen}")


@case
def callback_that_exits(env: Env) -> None:
    for error in (SystemExit, KeyboardInterrupt, GeneratorExit):

        def fail(status: int, error: type = error) -> None:
            raise error("from the callback")

        def action(fail: Any = fail) -> None:
            event = cl.enqueue_marker(env.queue)
            event.set_callback(COMPLETE, fail)
            event.wait()
            time.sleep(0.1)

        try:
            seen = unraisable(action)
        except KeyboardInterrupt:
            seen = [(KeyboardInterrupt, "")]
        check(seen and seen[0][0] is error, f"{error.__name__}: sys.unraisablehook got {seen}")


@case(alone=True, stderr=r".*(hook|callback).*")
def hook_that_raises(env: Env) -> None:
    def hook(args: Any) -> None:
        raise ValueError("from the hook")

    def fail(status: int) -> None:
        raise ZeroDivisionError("from the callback")

    sys.unraisablehook = hook
    event = cl.enqueue_marker(env.queue)
    event.set_callback(COMPLETE, fail)
    event.wait()
    time.sleep(0.2)
    env.healthy()


@case
def callback_that_is_not_callable(env: Env) -> None:
    event = cl.enqueue_marker(env.queue)
    for thing in (42, None, "x", [], object()):
        with expect(TypeError, "call"):
            event.set_callback(COMPLETE, thing)
    with expect(TypeError):
        event.set_callback(COMPLETE)
    with expect(TypeError):
        event.set_callback()


@case
def callback_of_odd_statuses(env: Env) -> None:
    event = cl.UserEvent(env.ctx)
    for status in (-1, 4, 5, 2**31, 2**32, 2**64, "0", None, 0.0):
        with expect(ANY):
            event.set_callback(status, lambda status: None)
    event.set_status(COMPLETE)


@case
def callback_is_called_with_the_status(env: Env) -> None:
    seen: list[int] = []
    gate = cl.UserEvent(env.ctx)
    gate.set_callback(COMPLETE, seen.append)
    gate.set_status(COMPLETE)
    check(until(lambda: seen) and seen == [0], f"the callback got {seen}")


@case
def callback_of_a_failed_event(env: Env) -> None:
    seen: list[int] = []
    gate = cl.UserEvent(env.ctx)
    gate.set_callback(COMPLETE, seen.append)
    gate.set_status(-7)
    check(until(lambda: seen) and seen == [-7], f"the callback got {seen}")


@case
def callback_after_completion(env: Env) -> None:
    seen: list[int] = []
    event = cl.enqueue_marker(env.queue)
    event.wait()
    event.set_callback(COMPLETE, seen.append)
    check(until(lambda: seen), "a callback on a finished event is never called")


@case
def callback_whose_event_is_dropped(env: Env) -> None:
    seen: list[int] = []
    gate = cl.UserEvent(env.ctx)
    cl.enqueue_marker(env.queue, wait_for=[gate]).set_callback(COMPLETE, seen.append)
    gc.collect()
    gate.set_status(COMPLETE)
    env.queue.finish()
    check(until(lambda: seen), "a callback is lost with its event")


@case
def callback_that_uses_everything(env: Env) -> None:
    done: list[Any] = []
    buffer = env.buffer()

    def use(status: int) -> None:
        queue = cl.CommandQueue(env.ctx)
        env.kernel("add1")(queue, (64,), None, buffer).wait()
        done.append(env.read(buffer))
        cl.Program(env.ctx, "kernel void k() {}").build()
        gc.collect()
        queue.finish()
        done.append(True)

    event = cl.enqueue_marker(env.queue)
    event.set_callback(COMPLETE, use)
    event.wait()
    check(until(lambda: len(done) == 2, 60), "a callback cannot use pygpu")
    check(np.array_equal(done[0], env.host + 1), "the callback's launch went wrong")


@case
def callback_that_waits_for_its_own_event(env: Env) -> None:
    done: list[int] = []
    event = cl.enqueue_marker(env.queue)

    def wait(status: int) -> None:
        event.wait()
        done.append(1)

    event.set_callback(COMPLETE, wait)
    event.wait()
    check(until(lambda: done), "waiting for its own event blocks a callback")


@case
def callback_that_sets_another_event(env: Env) -> None:
    first, second = cl.UserEvent(env.ctx), cl.UserEvent(env.ctx)
    first.set_callback(COMPLETE, lambda status: second.set_status(COMPLETE))
    soon(0.1, lambda: first.set_status(COMPLETE))
    with within(5, "a wait ended by a callback"):
        second.wait()


@case
def callback_that_adds_callbacks(env: Env) -> None:
    seen: list[int] = []

    def again(status: int) -> None:
        seen.append(status)
        if len(seen) < 200:
            event.set_callback(COMPLETE, again)

    event = cl.enqueue_marker(env.queue)
    event.set_callback(COMPLETE, again)
    check(until(lambda: len(seen) == 200, 60), f"only {len(seen)} of 200 nested callbacks came")
    event = None


@case
def callback_that_drops_the_last_reference(env: Env) -> None:
    box: list[Any] = [cl.enqueue_marker(env.queue)]
    seen: list[int] = []

    def drop(status: int) -> None:
        box.clear()
        gc.collect()
        seen.append(status)

    box[0].set_callback(COMPLETE, drop)
    check(until(lambda: seen), "the callback did not come")


@case
def thousand_callbacks(env: Env) -> None:
    seen: list[int] = []
    gate = cl.UserEvent(env.ctx)
    for _ in range(1000):
        gate.set_callback(COMPLETE, seen.append)
    gate.set_status(COMPLETE)
    check(until(lambda: len(seen) == 1000, 60), f"only {len(seen)} of 1000 callbacks came")


@case
def callbacks_come_during_finish(env: Env) -> None:
    seen: list[int] = []
    cl.enqueue_marker(env.queue).set_callback(COMPLETE, seen.append)
    env.kernel("spin")(env.queue, (1,), None, np.int32(300_000), env.out())
    env.queue.finish()
    check(until(lambda: seen), "the callback did not come")


@case
def callback_released_after_the_call(env: Env) -> None:
    class Callback:
        def __call__(self, status: int) -> None:
            pass

    callback = Callback()
    gone = weakref.ref(callback)
    event = cl.enqueue_marker(env.queue)
    event.set_callback(COMPLETE, callback)
    del callback
    event.wait()
    check(until(lambda: gone() is None), "a callback that has run is kept")


@case
def callbacks_from_many_threads(env: Env) -> None:
    seen: list[int] = []

    def work() -> None:
        queue = cl.CommandQueue(env.ctx)
        for _ in range(100):
            cl.enqueue_marker(queue).set_callback(COMPLETE, seen.append)
        queue.finish()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(until(lambda: len(seen) == 400, 60), f"only {len(seen)} of 400 callbacks came")


@case
def callback_for_submission(env: Env) -> None:
    seen: list[int] = []
    gate = cl.UserEvent(env.ctx)
    event = cl.enqueue_marker(env.queue, wait_for=[gate])
    with tolerate():
        event.set_callback(cl.command_execution_status.SUBMITTED, seen.append)
        event.set_callback(cl.command_execution_status.RUNNING, seen.append)
    gate.set_status(COMPLETE)
    event.wait()
    until(lambda: len(seen) == 2, 1)


@case
def callback_of_a_dropped_user_event(env: Env) -> None:
    seen: list[int] = []
    cl.UserEvent(env.ctx).set_callback(COMPLETE, seen.append)
    gc.collect()
    until(lambda: seen, 1)
    check(all(s < 0 for s in seen), "a dropped user event completed")
