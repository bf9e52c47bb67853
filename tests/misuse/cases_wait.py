"""Waiting: odd wait lists, failed events, interrupts, and information that an event lacks."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

from harness import (
    ANY,
    CALLER,
    Boom,
    Env,
    Liar,
    case,
    check,
    cl,
    expect,
    np,
    skip,
    soon,
    tolerate,
    within,
)

COMPLETE = cl.command_execution_status.COMPLETE


def commands(env: Env) -> dict[str, Any]:
    """Each kind of command, as a function of its wait list."""
    buffer, host, other = env.buffer(), env.host.copy(), env.buffer()
    read = cl.map_flags.READ
    found = {
        "launch": lambda w: env.kernel("add1")(env.queue, (64,), None, buffer, wait_for=w),
        "range": lambda w: cl.enqueue_nd_range_kernel(
            env.queue, env.kernel("nothing"), (1,), None, wait_for=w
        ),
        "read": lambda w: cl.enqueue_copy(env.queue, host, buffer, wait_for=w),
        "write": lambda w: cl.enqueue_copy(env.queue, buffer, host, wait_for=w),
        "copy": lambda w: cl.enqueue_copy(env.queue, other, buffer, wait_for=w),
        "fill": lambda w: cl.enqueue_fill_buffer(env.queue, buffer, np.int32(0), 0, 64, wait_for=w),
        "map": lambda w: cl.enqueue_map_buffer(
            env.queue, buffer, read, 0, (4,), np.float32, wait_for=w
        ),
        "migrate": lambda w: cl.enqueue_migrate_mem_objects(env.queue, [buffer], wait_for=w),
        "marker": lambda w: cl.enqueue_marker(env.queue, wait_for=w),
        "barrier": lambda w: cl.enqueue_barrier(env.queue, wait_for=w),
    }
    return found


@case
def bare_event(env: Env) -> None:
    # What is meant is clear: it may be taken for a list of one, or be refused, but not be ignored.
    gate = cl.UserEvent(env.ctx)
    for use in commands(env).values():
        with tolerate(TypeError):
            use(cl.enqueue_marker(env.queue))
    with tolerate(TypeError) as caught:
        event = cl.enqueue_marker(env.queue, wait_for=gate)
    env.queue.flush()
    check(caught or event.command_execution_status > 0, "a bare event was not waited for")
    gate.set_status(COMPLETE)
    with tolerate(TypeError):
        cl.wait_for_events(cl.enqueue_marker(env.queue))


@case
def things_that_are_no_events(env: Env) -> None:
    for use in commands(env).values():
        for events in (
            [None],
            [5],
            [env.queue],
            ["x"],
            [[cl.enqueue_marker(env.queue)]],
            [cl.Event],
            [object()],
        ):
            with expect(TypeError, "wait_for"):
                use(events)


@case
def things_that_are_no_lists(env: Env) -> None:
    for use in commands(env).values():
        for events in (5, 1.5, "x", object(), env.queue, cl.Event, Liar(), True):
            with expect(TypeError, "wait_for"):
                use(events)


@case
def other_iterables(env: Env) -> None:
    for use in commands(env).values():
        event = cl.enqueue_marker(env.queue)
        for events in ((event,), [event, event], [], (), None, [event] * 300):
            use(events)
        for events in (iter([event]), {event}, {event: 1}, (e for e in [event])):
            with tolerate(TypeError):
                use(events)


@case
def lists_that_misbehave(env: Env) -> None:
    event = cl.enqueue_marker(env.queue)

    def explode() -> Any:
        yield event
        raise Boom("generator")

    class Shrinking(list):
        def __len__(self) -> int:
            return 100

        def __iter__(self) -> Any:
            self.clear()
            return iter([event])

    recursive: list[Any] = []
    recursive.append(recursive)
    for use in commands(env).values():
        with expect((Boom, TypeError)):
            use(explode())
        with expect((Boom, TypeError)):
            use(Liar(iter=Boom("iter"), len=lambda: 3))
        with expect(TypeError):
            use(recursive)
        with tolerate():
            use(Shrinking([event, event]))
        with tolerate((*ANY, MemoryError)):
            use(Liar(len=lambda: 2**62, getitem=lambda: event, iter=lambda: iter([event])))


@case
def events_of_another_context(env: Env) -> None:
    foreign = cl.enqueue_marker(env.other_queue)
    for use in commands(env).values():
        with expect((ValueError, cl.LogicError), "context|wait_for"):
            use([foreign])


@case
def wait_for_events_of_nothing(env: Env) -> None:
    cl.wait_for_events([])
    cl.wait_for_events(())


@case
def wait_for_events_of_odd_things(env: Env) -> None:
    for events in (5, "x", [None], [5], [env.queue], object(), Liar(), [cl.Event]):
        with expect(TypeError):
            cl.wait_for_events(events)
    with tolerate((ValueError, cl.LogicError)):
        cl.wait_for_events([cl.enqueue_marker(env.queue), cl.enqueue_marker(env.other_queue)])
    with expect(TypeError):
        cl.wait_for_events()


@case
def wait_many_times(env: Env) -> None:
    event = cl.enqueue_marker(env.queue)
    for _ in range(100):
        event.wait()
    cl.wait_for_events([event] * 1000)


@case
def failed_user_event(env: Env) -> None:
    gate = cl.UserEvent(env.ctx)
    gate.set_status(-5)
    with (
        within(5, "waiting for a failed event"),
        expect(cl.Error, "EXEC_STATUS_ERROR|-5|-14|OUT_OF_RESOURCES"),
    ):
        gate.wait()
    with within(5, "waiting for a failed event"), expect(cl.Error):
        cl.wait_for_events([gate])
    check(gate.command_execution_status == -5, "the status of a failed event is lost")


@case
def command_behind_a_failed_event(env: Env) -> None:
    queue, gate, target = cl.CommandQueue(env.ctx), cl.UserEvent(env.ctx), np.zeros(64, np.float32)
    with tolerate((cl.Error,)):
        event = cl.enqueue_copy(queue, target, env.buffer(), is_blocking=False, wait_for=[gate])
        gate.set_status(-1)
        with within(5, "waiting behind a failed event"):
            event.wait()
    with within(5, "finish behind a failed event"), tolerate((cl.Error,)):
        queue.finish()


@case
def user_event_set_twice(env: Env) -> None:
    gate = cl.UserEvent(env.ctx)
    gate.set_status(COMPLETE)
    for status in (COMPLETE, -1):
        with expect(ANY, "status|INVALID_OPERATION"):
            gate.set_status(status)


@case
def user_event_set_to_nonsense(env: Env) -> None:
    for status in (1, 2, 3, 5, 2**31, -(2**31) - 1, 2**32, 2**64, "0", None, 0.0, object()):
        gate = cl.UserEvent(env.ctx)
        with expect(ANY):
            gate.set_status(status)
        gate.set_status(COMPLETE)
        gate.wait()
    with expect(TypeError):
        cl.UserEvent(env.ctx).set_status()


@case
def user_event_of_odd_things(env: Env) -> None:
    for context in (None, 5, env.queue, env.dev, "x"):
        with expect(TypeError):
            cl.UserEvent(context)
    with expect(TypeError):
        cl.UserEvent()
    with expect((TypeError, AttributeError)):
        cl.UserEvent.set_status(cl.enqueue_marker(env.queue), 0)


@case
def user_event_set_by_another_thread(env: Env) -> None:
    gate = cl.UserEvent(env.ctx)
    soon(0.2, lambda: gate.set_status(COMPLETE))
    with within(5, "a wait that another thread ends"):
        gate.wait()


@case
def profiling_without_profiling(env: Env) -> None:
    event = cl.enqueue_marker(env.queue)
    event.wait()
    with expect(cl.Error, "PROFILING"):
        _ = event.profile.start
    with expect(cl.Error, "PROFILING"):
        event.get_profiling_info(cl.profiling_info.END)
    for param in (0, -1, 2**32, 2**64, "END", None, 1.5):
        with expect(ANY):
            event.get_profiling_info(param)
    with expect(ANY):
        _ = cl.UserEvent(env.ctx).profile.end


@case
def event_info_of_odd_parameters(env: Env) -> None:
    event = cl.enqueue_marker(env.queue)
    for param in (0, -1, 2**32, 2**64, "STATUS", None, 1.5, cl.device_info.NAME):
        with expect(ANY):
            event.get_info(param)
    with expect((TypeError, cl.Error)):
        cl.Event()


def interrupted(what: str, wait: Any) -> None:
    """SIGINT 0.3 s into *wait*, which would last for ever, ends it with KeyboardInterrupt."""
    soon(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    with within(2.5, f"{what}: the interrupt"), expect(KeyboardInterrupt_):
        try:
            wait()
        except KeyboardInterrupt:
            raise KeyboardInterrupt_("as wanted") from None


class KeyboardInterrupt_(Exception):
    """A KeyboardInterrupt with a text."""


@case(alone=True, limit=15)
def interrupt_user_event(env: Env) -> None:
    gate = cl.UserEvent(env.ctx)
    interrupted("UserEvent.wait", gate.wait)
    gate.set_status(COMPLETE)
    gate.wait()


@case(alone=True, limit=15)
def interrupt_marker(env: Env) -> None:
    gate = cl.UserEvent(env.ctx)
    event = cl.enqueue_marker(env.queue, wait_for=[gate])
    interrupted("Event.wait", event.wait)
    gate.set_status(COMPLETE)
    event.wait()


@case(alone=True, limit=15)
def interrupt_wait_for_events(env: Env) -> None:
    gate = cl.UserEvent(env.ctx)
    events = [cl.enqueue_marker(env.queue), cl.enqueue_marker(env.queue, wait_for=[gate])]
    interrupted("wait_for_events", lambda: cl.wait_for_events(events))
    gate.set_status(COMPLETE)
    cl.wait_for_events(events)


@case(alone=True, limit=15)
def interrupt_finish(env: Env) -> None:
    gate = cl.UserEvent(env.ctx)
    event = cl.enqueue_marker(env.queue, wait_for=[gate])
    interrupted("finish", env.queue.finish)
    gate.set_status(COMPLETE)
    event.wait()
    env.queue.finish()


@case(alone=True, limit=20)
def interrupt_finish_of_a_long_kernel(env: Env) -> None:
    env.kernel("spin")(env.queue, (1,), None, np.int32(5_000_000), env.out())
    interrupted("finish", env.queue.finish)


@case(alone=True, limit=15)
def interrupt_blocking_read(env: Env) -> None:
    gate, target, buffer = cl.UserEvent(env.ctx), np.zeros(64, np.float32), env.buffer()
    interrupted(
        "a blocking read", lambda: cl.enqueue_copy(env.queue, target, buffer, wait_for=[gate])
    )
    gate.set_status(COMPLETE)
    env.queue.finish()


@case(alone=True, limit=15)
def interrupt_blocking_write(env: Env) -> None:
    gate, buffer = cl.UserEvent(env.ctx), env.buffer()
    interrupted(
        "a blocking write", lambda: cl.enqueue_copy(env.queue, buffer, env.host, wait_for=[gate])
    )
    gate.set_status(COMPLETE)
    env.queue.finish()


@case(alone=True, limit=15)
def interrupt_blocking_rectangle(env: Env) -> None:
    gate, target, buffer = cl.UserEvent(env.ctx), np.zeros(64, np.float32), env.buffer()
    args = {
        "buffer_origin": (0, 0, 0),
        "host_origin": (0, 0, 0),
        "region": (64, 1, 1),
        "wait_for": [gate],
    }
    interrupted("a blocking rectangle", lambda: cl.enqueue_copy(env.queue, target, buffer, **args))
    gate.set_status(COMPLETE)
    env.queue.finish()


@case(alone=True, limit=15)
def interrupt_blocking_map(env: Env) -> None:
    gate, buffer, read = cl.UserEvent(env.ctx), env.buffer(), cl.map_flags.READ
    interrupted(
        "a blocking map",
        lambda: cl.enqueue_map_buffer(
            env.queue, buffer, read, 0, (64,), np.float32, wait_for=[gate]
        ),
    )
    gate.set_status(COMPLETE)
    env.queue.finish()


@case(alone=True, limit=15)
def interrupt_blocking_image_read(env: Env) -> None:
    gate, target, image = cl.UserEvent(env.ctx), np.zeros((8, 8, 4), np.float32), env.image()
    args = {"origin": (0, 0), "region": (8, 8), "wait_for": [gate]}
    interrupted("a blocking image read", lambda: cl.enqueue_copy(env.queue, target, image, **args))
    gate.set_status(COMPLETE)
    env.queue.finish()


@case(alone=True, limit=15)
def interrupt_queue_as_context_manager(env: Env) -> None:
    gate = cl.UserEvent(env.ctx)

    def use() -> None:
        with cl.CommandQueue(env.ctx) as queue:
            cl.enqueue_marker(queue, wait_for=[gate])

    interrupted("leaving a queue", use)
    gate.set_status(COMPLETE)


@case(alone=True, limit=15)
def interrupt_blocking_svm_copy(env: Env) -> None:
    if not env.dev.svm_capabilities:
        skip("the device has no SVM")
    gate = cl.UserEvent(env.ctx)
    shared = cl.csvm_empty(env.ctx, (64,), np.float32)
    interrupted(
        "a blocking SVM copy",
        lambda: cl.enqueue_copy(env.queue, cl.SVM(shared), env.host, wait_for=[gate]),
    )
    gate.set_status(COMPLETE)
    env.queue.finish()


@case(alone=True, limit=15)
def interrupt_then_exit_at_once(env: Env) -> None:
    gate, target = cl.UserEvent(env.ctx), np.zeros(64, np.float32)
    buffer = env.buffer()
    interrupted(
        "a blocking read", lambda: cl.enqueue_copy(env.queue, target, buffer, wait_for=[gate])
    )


@case(alone=True, limit=15)
def interrupt_drops_the_target(env: Env) -> None:
    gate, buffer = cl.UserEvent(env.ctx), env.buffer(4096)

    def read() -> None:
        cl.enqueue_copy(env.queue, np.zeros(4096, np.float32), buffer, wait_for=[gate])

    interrupted("a blocking read", read)
    rubbish = [np.zeros(4096, np.float32) for _ in range(100)]
    gate.set_status(COMPLETE)
    env.queue.finish()
    check(not any(r.any() for r in rubbish), "the interrupted read wrote into another array")


@case(alone=True, limit=15)
def signal_handler_that_raises(env: Env) -> None:
    def handler(*_: Any) -> None:
        raise Boom("from the handler")

    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    gate = cl.UserEvent(env.ctx)
    with within(3, "a wait ended by a handler"), expect(Boom):
        gate.wait()


@case(alone=True, limit=15)
def signal_handler_that_returns(env: Env) -> None:
    seen: list[int] = []
    signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
    gate = cl.UserEvent(env.ctx)
    soon(1.0, lambda: gate.set_status(COMPLETE))
    gate.wait()
    signal.setitimer(signal.ITIMER_REAL, 0)
    check(len(seen) >= 3, f"only {len(seen)} of 9 signals were handled while waiting")


@case(alone=True, limit=15)
def signal_handler_that_uses_the_queue(env: Env) -> None:
    gate, buffer = cl.UserEvent(env.ctx), env.buffer()

    def handler(*_: Any) -> None:
        env.kernel("add1")(cl.CommandQueue(env.ctx), (64,), None, buffer).wait()
        gate.set_status(COMPLETE)

    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    gate.wait()
    check(np.array_equal(env.read(buffer), env.host + 1), "the handler's launch went wrong")


@case
def other_threads_run_while_waiting(env: Env) -> None:
    gate, count = cl.UserEvent(env.ctx), [0]
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            count[0] += 1

    thread = threading.Thread(target=work)
    thread.start()
    soon(0.4, lambda: gate.set_status(COMPLETE))
    before = count[0]
    gate.wait()
    after = count[0]
    stop.set()
    thread.join()
    check(after - before > 1000, "no other thread ran during a wait")


@case
def marker_and_barrier_of_odd_things(env: Env) -> None:
    for use in (cl.enqueue_marker, cl.enqueue_barrier):
        for queue in (None, 5, env.ctx, "x"):
            with expect(TypeError):
                use(queue)
        with expect(TypeError):
            use()
        with expect(TypeError):
            use(env.queue, waits=[])
        with expect(CALLER):
            use(env.queue, 5)
