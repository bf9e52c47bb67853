"""Event, NannyEvent: information, waiting, callbacks, times, handles."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import threading
import time
import warnings
import weakref

import numpy as np
import pytest

import pygpu as cl
from pygpu import _opencl

mf = cl.mem_flags
status = cl.command_execution_status


@pytest.fixture(scope="module")
def program(ctx):
    return cl.Program(
        ctx,
        "__kernel void add(__global int *n, int k) { n[0] += k; }\n"
        "__kernel void spin(__global int *n, int k)\n"
        "{ int s = n[0]; for (int i = 0; i < k; i++) s = s * 1664525 + 1013904223; n[1] = s; }",
    ).build()


@pytest.fixture
def buffer(ctx):
    return cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.zeros(2, np.int32))


def eventually(condition, seconds=30.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        gc.collect()
        time.sleep(0.002)
    return condition()


def test_information(ctx, queue, program, buffer):
    event = program.add(queue, (1,), None, buffer, 1)
    event.wait()
    assert event.command_queue == queue and isinstance(event.command_queue, cl.CommandQueue)
    assert event.context == ctx
    assert event.command_type == cl.command_type.NDRANGE_KERNEL
    assert event.command_execution_status == status.COMPLETE
    assert event.reference_count >= 1
    host = np.empty(2, np.int32)
    kinds = [
        (cl.enqueue_copy(queue, host, buffer), cl.command_type.READ_BUFFER),
        (cl.enqueue_copy(queue, buffer, host), cl.command_type.WRITE_BUFFER),
        (cl.enqueue_marker(queue), cl.command_type.MARKER),
        (cl.enqueue_fill_buffer(queue, buffer, b"\0", 0, 8), cl.command_type.FILL_BUFFER),
        (cl.enqueue_migrate_mem_objects(queue, [buffer]), cl.command_type.MIGRATE_MEM_OBJECTS),
        (cl.enqueue_barrier(queue), cl.command_type.BARRIER),
        (cl.UserEvent(ctx), cl.command_type.USER),
    ]  # fmt: skip
    for event, kind in kinds:
        assert event.command_type == kind
    assert kinds[-1][0].command_queue is None


def test_not_made_directly():
    for kind in (cl.Event, cl.NannyEvent):
        with pytest.raises(TypeError):
            kind()


def test_attributes_cannot_be_set(queue):
    event = cl.enqueue_marker(queue)
    for name in ("context", "command_type", "profile", "int_ptr", "new_attribute"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(event, name, 3)


def test_weak_references_and_no_leaks(queue, program, buffer):
    gc.collect()
    before = _opencl._handle_counts()["event"]
    events = [program.add(queue, (1,), None, buffer, 1) for _ in range(100)]
    gone = weakref.ref(events[0])
    assert _opencl._handle_counts()["event"] == before + 100
    del events
    assert gone() is None
    assert _opencl._handle_counts()["event"] == before


def test_equality_hash_and_handles(queue):
    a, b = cl.enqueue_marker(queue), cl.enqueue_marker(queue)
    twin = cl.Event.from_int_ptr(a.int_ptr)
    assert twin == a and hash(twin) == hash(a) and twin is not a
    assert a != b and not a == 3 and a != queue
    assert len({a, b, twin}) == 2
    twin.wait()
    del a
    assert twin.command_type == cl.command_type.MARKER
    for wrong, error in [
        (0, ValueError),
        (-1, OverflowError),
        (2**64, OverflowError),
        ("1", TypeError),
        (None, TypeError),
        (1.0, TypeError),
    ]:
        with pytest.raises(error):
            cl.Event.from_int_ptr(wrong)
    with pytest.raises(TypeError):
        _ = b < twin


# ---- waiting


def test_wait_twice_and_from_many_threads(queue, program, buffer):
    event = program.spin(queue, (1,), None, buffer, 1000000)
    threads = [threading.Thread(target=event.wait) for _ in range(5)]
    for thread in threads:
        thread.start()
    event.wait()
    event.wait()
    for thread in threads:
        thread.join()
    assert event.command_execution_status == status.COMPLETE


def test_waiting_lets_other_threads_run(ctx, queue, buffer):
    gate = cl.UserEvent(ctx)
    event = cl.enqueue_marker(queue, [gate])
    ticks = []

    def tick():
        for _ in range(20):
            ticks.append(1)
            time.sleep(0.001)
        gate.set_status(status.COMPLETE)

    threading.Thread(target=tick).start()
    event.wait()
    assert len(ticks) == 20


# ---- callbacks


def test_callback(ctx, queue, program, buffer):
    gate = cl.UserEvent(ctx)
    event = program.add(queue, (1,), None, buffer, 1, wait_for=[gate])
    calls = []
    event.set_callback(status.COMPLETE, calls.append)
    queue.flush()
    time.sleep(0.01)
    assert calls == []
    gate.set_status(status.COMPLETE)
    event.wait()
    assert eventually(lambda: calls == [status.COMPLETE])


def test_callback_of_a_command_that_is_done(queue):
    event = cl.enqueue_marker(queue)
    event.wait()
    calls = []
    for at in (status.COMPLETE, status.RUNNING, status.SUBMITTED):
        event.set_callback(at, lambda s, at=at: calls.append(at))
    assert eventually(lambda: len(calls) == 3)
    assert sorted(calls) == [0, 1, 2]


def test_many_callbacks_run_in_order_in_one_other_thread(ctx, queue):
    """One dispatcher: callbacks never run at the same time, nor in the thread that enqueues."""
    gate = cl.UserEvent(ctx)
    events = [cl.enqueue_marker(queue, [gate])] + [cl.enqueue_marker(queue) for _ in range(299)]
    calls, threads = [], set()

    def note(k):
        calls.append(k)
        threads.add(threading.get_ident())

    for k, event in enumerate(events):
        event.set_callback(status.COMPLETE, lambda s, k=k: note(k))
    del event, events
    gate.set_status(0)
    assert eventually(lambda: len(calls) == 300)
    assert sorted(calls) == list(range(300))
    assert len(threads) == 1 and threading.get_ident() not in threads


def test_callbacks_keep_the_event_and_the_function_no_longer_than_needed(ctx, queue):
    class Callback:
        def __call__(self, s):
            called.append(s)

    called = []
    gate = cl.UserEvent(ctx)
    event = cl.enqueue_marker(queue, [gate])
    callback = Callback()
    gone = weakref.ref(callback)
    event.set_callback(status.COMPLETE, callback)
    del callback, event
    gc.collect()
    assert gone() is not None
    gate.set_status(0)
    assert eventually(lambda: gone() is None)
    assert called == [0]


def test_exceptions_in_callbacks_are_reported_and_do_no_harm(queue):
    reports, calls = [], []
    old, sys.unraisablehook = (
        sys.unraisablehook,
        lambda args: reports.append((args.exc_type, args.object)),
    )

    def failing(s):
        raise KeyError("in a callback")

    def stopping(s):
        raise SystemExit(3)

    try:
        event = cl.enqueue_marker(queue)
        for function in (
            failing,
            stopping,
            calls.append,
            lambda: None,
        ):  # the last takes no argument
            event.set_callback(status.COMPLETE, function)
        event.wait()
        assert eventually(lambda: len(reports) == 3 and calls == [0])
    finally:
        sys.unraisablehook = old
    assert {kind for kind, _ in reports} == {KeyError, SystemExit, TypeError}
    assert failing in [function for _, function in reports]


def test_callbacks_that_use_pygpu(ctx, queue, program, buffer):
    """Also what waits, and what adds a callback."""
    done = []

    def first(s):
        event = program.add(queue, (1,), None, buffer, 41)
        event.wait()
        host = np.empty(2, np.int32)
        cl.enqueue_copy(queue, host, buffer)
        event.set_callback(status.COMPLETE, lambda s: done.append(int(host[0])))

    program.add(queue, (1,), None, buffer, 1).set_callback(status.COMPLETE, first)
    queue.flush()
    assert eventually(lambda: done == [42])


def test_callback_mistakes(queue):
    event = cl.enqueue_marker(queue)
    for args, error in [
        ((), TypeError), ((0,), TypeError), ((0, print, 3), TypeError), ((0, None), TypeError),
        ((0, 3), TypeError), (("0", print), TypeError), ((3, print), ValueError),
        ((-1, print), ValueError), ((2**40, print), ValueError), ((2**70, print), OverflowError),
        ((1.0, print), TypeError),
    ]:  # fmt: skip
        with pytest.raises(error, match="Event.set_callback"):
            event.set_callback(*args)


def test_a_driver_that_refuses_a_callback(queue):
    event = cl.enqueue_marker(queue)
    _opencl._call_counts(True)
    event.set_callback(status.COMPLETE, lambda s: None)
    if "clSetEventCallback" not in _opencl._call_counts():
        pytest.skip("a driver is in use that is never asked to call back (NVIDIA's)")
    callback = lambda s: None  # noqa: E731
    before = sys.getrefcount(callback)
    _opencl._fault("clSetEventCallback", cl.status_code.OUT_OF_HOST_MEMORY)
    try:
        with pytest.raises(cl.Error) as caught:
            event.set_callback(status.COMPLETE, callback)
    finally:
        _opencl._fault(None, 0)
    assert caught.value.routine == "clSetEventCallback"
    assert sys.getrefcount(callback) == before


# ---- times


def test_profile(queue, program, buffer):
    event = program.spin(queue, (1,), None, buffer, 3000000)
    event.wait()
    profile = event.profile
    times = [profile.queued, profile.submit, profile.start, profile.end]
    assert times == sorted(times) and times[0] > 0
    assert all(type(t) is int for t in times)
    assert (
        profile.end - profile.start > 100_000
    )  # 3 million dependent steps take longer than 0.1 ms
    info = cl.profiling_info
    assert [
        event.get_profiling_info(p) for p in (info.QUEUED, info.SUBMIT, info.START, info.END)
    ] == times


def test_profile_takes_names_in_upper_case_with_a_warning(queue, program, buffer):
    event = program.add(queue, (1,), None, buffer, 1)
    event.wait()
    profile = event.profile
    for name in ("queued", "submit", "start", "end"):
        with pytest.warns(DeprecationWarning, match=rf"use Event.profile.{name}"):
            assert getattr(profile, name.upper()) == getattr(profile, name)
    for name in ("ENDS", "__CLASS__", "\udc80"):
        with pytest.raises(AttributeError) as caught:
            getattr(profile, name)
        assert caught.value.name == name
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DeprecationWarning, match="Event.profile.End is deprecated"):
            _ = profile.End


def test_profile_of_commands_one_after_the_other(queue, program, buffer):
    events = [program.spin(queue, (1,), None, buffer, 10000) for _ in range(5)]
    queue.finish()
    for a, b in zip(events, events[1:]):
        assert a.profile.end <= b.profile.start


def test_profile_is_refused_where_there_is_none(ctx, queue, program, buffer):
    plain = cl.CommandQueue(ctx)
    event = program.add(plain, (1,), None, buffer, 1)
    event.wait()
    with pytest.raises(cl.Error) as caught:
        _ = event.profile.start
    assert caught.value.code == cl.status_code.PROFILING_INFO_NOT_AVAILABLE
    gate = cl.UserEvent(ctx)
    with pytest.raises(cl.Error):
        _ = gate.profile.end
    pending = program.add(queue, (1,), None, buffer, 1, wait_for=[gate])
    with pytest.raises(cl.Error):
        _ = pending.profile.end
    gate.set_status(0)
    pending.wait()
    assert pending.profile.end > 0


def test_profile_keeps_its_event(queue):
    event = cl.enqueue_marker(queue)
    event.wait()
    profile = event.profile
    del event
    gc.collect()
    assert profile.end >= profile.start
    with pytest.raises(TypeError):
        type(profile)()


# ---- NannyEvent


def test_nanny_event(ctx, queue, buffer):
    host = np.zeros(2, np.int32)
    event = cl.enqueue_copy(queue, host, buffer, is_blocking=False)
    assert isinstance(event, cl.NannyEvent) and isinstance(event, cl.Event)
    assert event.get_ward() is host
    event.wait()
    assert event.get_ward() is None


def test_dropping_a_nanny_event_does_not_wait(ctx, queue, buffer):
    """It would wait for ever here."""
    gate = cl.UserEvent(ctx)
    cl.enqueue_copy(queue, np.zeros(2, np.int32), buffer, is_blocking=False, wait_for=[gate])
    gc.collect()
    gate.set_status(0)


def test_memory_of_events_that_are_gone_serves_new_ones(queue):
    def make():
        return [cl.enqueue_marker(queue) for _ in range(100)]

    for _ in range(2):
        events = make()
        gone = [weakref.ref(event) for event in events]
        assert len({event.int_ptr for event in events}) == len(set(events)) == 100
        cl.wait_for_events(events)
        del events
        assert not any(ref() for ref in gone)
    assert all(weakref.getweakrefcount(event) == 0 for event in make())


def reads_memory():
    """Whether the system has process_vm_readv(), which needs a kernel with cross-memory attach."""
    if sys.platform != "linux":
        return False
    found, item = ctypes.c_long(), ctypes.c_long(7)
    to, where = ((ctypes.c_size_t * 2)(ctypes.addressof(x), 8) for x in (found, item))
    read = ctypes.CDLL(None, use_errno=True).process_vm_readv
    return bool(read(os.getpid(), to, 1, where, 1, 0) == 8 and found.value == 7)


@pytest.mark.skipif(not reads_memory(), reason="this system has no process_vm_readv()")
def test_a_driver_may_have_several_tables_of_functions(ctx):
    """A handle begins with the address of its driver's table; another table that begins alike is
    one of the same driver, any other memory is not."""
    if "libOpenCL" not in str(_opencl._library()):
        pytest.skip("no ICD loader is installed here: OpenCL is a driver's own library")
    refuse = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_size_t] * 5)(lambda *_: -58)
    table = (ctypes.c_void_p * 256)(*[ctypes.cast(refuse, ctypes.c_void_p).value] * 256)
    handle = (ctypes.c_void_p * 64)(ctypes.addressof(table))
    with pytest.raises(cl.LogicError, match="is not a handle of an OpenCL driver"):
        cl.Event.from_int_ptr(ctypes.addressof(handle))
    known = ctypes.c_void_p.from_address(ctx.devices[0].int_ptr).value
    ctypes.memmove(table, known, 4 * ctypes.sizeof(ctypes.c_void_p))
    if table[0] == 0x4F50454E434C3331:  # the loader's own data follows, and decides (ICD 2.0)
        with pytest.raises(cl.LogicError, match="is not a handle of an OpenCL driver"):
            cl.Event.from_int_ptr(ctypes.addressof(handle))
        return
    with pytest.raises(cl.LogicError, match="INVALID_EVENT"):  # from the table's function
        cl.Event.from_int_ptr(ctypes.addressof(handle))
