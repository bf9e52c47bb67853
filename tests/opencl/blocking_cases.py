"""Run by test_blocking.py in a process of its own: who waits for a blocking copy, seen from the
driver's calls. The device is treated like NVIDIA's."""

from __future__ import annotations

import signal
import sys
import threading
import time

import numpy as np

import pygpu as cl
from pygpu import _opencl

READS = ("clEnqueueReadBuffer", "clEnqueueReadBufferRect", "clEnqueueReadImage")
MARKER = "clEnqueueMarkerWithWaitList"
LOOK = "clGetEventInfo"


def calls(action) -> dict[str, int]:
    _opencl._call_counts(reset=True)
    action()
    return _opencl._call_counts(reset=True)


def settled(action, looks: int = 0) -> dict[str, int]:
    """The calls of an action that asks for so many events' states. It is tried again, as those of
    commands that ended just now may be asked for beside it, to let them go."""
    for _ in range(100):
        made = calls(action)
        if made.get(LOOK, 0) == looks:
            break
        time.sleep(0.01)
    return made


_opencl._as_nvidia(True)
ctx = cl.create_some_context(interactive=False)
queue, other = cl.CommandQueue(ctx), cl.CommandQueue(ctx)
host, back = np.arange(4096, dtype=np.uint8), np.zeros(4096, np.uint8)
buffer = cl.Buffer(ctx, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=host)
spare = cl.Buffer(ctx, cl.mem_flags.READ_WRITE, 4096)


def copy(**keywords) -> None:
    back[:] = 0
    cl.enqueue_copy(queue, back, buffer, **keywords)
    assert (back == host).all()


def read(**keywords) -> dict[str, int]:
    return calls(lambda: copy(**keywords))


def fill(which: cl.CommandQueue) -> cl.Event:
    return cl.enqueue_fill_buffer(which, spare, b"a", 0, 64)


def test_nothing_before_it() -> None:
    made = settled(copy)
    assert made["clEnqueueReadBuffer"] == 1 and MARKER not in made and LOOK not in made, made
    write = settled(lambda: cl.enqueue_copy(queue, buffer, host))
    assert write["clEnqueueWriteBuffer"] == 1 and MARKER not in write and LOOK not in write, write
    assert MARKER not in read()


def test_commands_before_it_are_waited_for() -> None:
    fill(queue)
    made = read()
    assert made[MARKER] == 1 and made["clEnqueueReadBuffer"] == 1
    assert MARKER not in read()  # known to be done
    fill(queue)
    queue.finish()
    assert MARKER not in read()
    fill(queue)
    thread = threading.Thread(target=queue.finish)
    thread.start()
    thread.join()
    assert MARKER not in read()


def test_memory_for_pools_leaves_no_queue_busy() -> None:
    """It is asked for on a queue that nobody may ever wait for: that of the arrays."""
    pool = cl.tools.MemoryPool(cl.tools.ImmediateAllocator(other))
    memory = pool.allocate(4096)
    made = settled(copy)
    assert made["clEnqueueReadBuffer"] == 1 and MARKER not in made and LOOK not in made, made
    del memory


def test_events_to_wait_for() -> None:
    """Each is asked when the commands before the copy are done, and the copy's own is not."""
    events = [fill(queue) for _ in range(3)]
    made = read(wait_for=events)
    assert made[MARKER] == 1 and made[LOOK] >= 3
    # Once by what makes the list of them, and once here.
    made = settled(lambda: copy(wait_for=events), looks=6)
    assert MARKER not in made and made[LOOK] == 6, made
    made = settled(lambda: cl.enqueue_copy(queue, buffer, host, wait_for=events), looks=6)
    assert MARKER not in made and made[LOOK] == 6, made
    _opencl._fault(LOOK, -5)
    assert read(wait_for=events)[LOOK] >= 2
    _opencl._fault(None, 0)
    assert read(wait_for=events * 10)[LOOK] >= 1  # too many to ask
    there = fill(other)
    assert LOOK in read(wait_for=[there])
    other.finish()


def test_a_box() -> None:
    fill(queue)
    box = dict(buffer_origin=(0, 0), host_origin=(0, 0), region=(64, 64))
    made = read(**box, buffer_pitches=(64,), host_pitches=(64,))
    assert made["clEnqueueReadBufferRect"] == 1 and made[MARKER] == 1
    made = settled(lambda: copy(**box, buffer_pitches=(64,), host_pitches=(64,)))
    assert MARKER not in made and LOOK not in made, made


def test_an_image() -> None:
    form = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.UNSIGNED_INT8)
    image = cl.Image(ctx, cl.mem_flags.READ_WRITE, form, shape=(32, 32))
    where = dict(origin=(0, 0), region=(32, 32))
    made = settled(lambda: cl.enqueue_copy(queue, image, host, **where))
    assert made["clEnqueueWriteImage"] == 1 and LOOK not in made, made
    back[:] = 0
    made = settled(lambda: cl.enqueue_copy(queue, back, image, **where))
    assert made["clEnqueueReadImage"] == 1 and LOOK not in made and (back == host).all(), made


def test_what_may_take_long_is_not_left_to_the_driver() -> None:
    gate = cl.UserEvent(ctx)
    assert read()[LOOK] >= 1
    gate.set_status(0)
    _event = fill(other)
    assert LOOK in read()
    other.finish()
    assert LOOK not in settled(copy)
    assert calls(lambda: cl.enqueue_copy(queue, back, buffer, is_blocking=False).wait())[LOOK] >= 1


def test_a_failed_command_before_it() -> None:
    gate = cl.UserEvent(ctx)
    failing = cl.enqueue_fill_buffer(queue, spare, b"a", 0, 64, [gate])
    gate.set_status(-5)
    try:
        failing.wait()
    except cl.Error:
        pass
    read()
    queue.finish()
    read()


def test_ctrl_c_while_earlier_commands_run() -> None:
    source = "kernel void slow(global int *a) { volatile int x = 0;"
    source += " for (int i = 0; i < 20000000; i++) x += i; a[0] = x; }"
    slow = cl.Program(ctx, source).build().slow
    slow(queue, (1,), None, spare).wait()

    def interrupt(*_) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, interrupt)
    for _ in range(20):
        slow(queue, (1,), None, spare)
    back[:] = 7
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    _opencl._call_counts(reset=True)
    try:
        cl.enqueue_copy(queue, back, buffer)
    except KeyboardInterrupt:
        assert not any(name in READS for name in _opencl._call_counts())
        assert (back == 7).all()
    else:
        raise AssertionError("the copy was not interrupted")
    assert (back == 7).all()
    queue.finish()
    read()


def test_a_handle_that_others_may_use() -> None:
    assert MARKER not in read()
    assert cl.CommandQueue.from_int_ptr(queue.int_ptr) == queue
    assert read()[MARKER] == 1
    _opencl._as_nvidia(True)  # forgets it
    assert MARKER not in read()


def test_errors() -> None:
    for code in (-5, -30):
        _opencl._fault("clEnqueueReadBuffer", code, 1, 2)
        try:
            cl.enqueue_copy(queue, back, buffer)
        except cl.Error as error:
            assert error.code == code and "clEnqueueReadBuffer" in str(error)
        else:
            raise AssertionError("no error")
        finally:
            _opencl._fault(None, 0)
    fill(queue)
    _opencl._fault(MARKER, -5)  # the copy itself may still work
    read()
    _opencl._fault(None, 0)
    read()


before = _opencl._handle_counts()
for _name, test in [item for item in globals().items() if item[0].startswith("test_")]:
    test()
    queue.finish()
after = _opencl._handle_counts()
assert after["mem"] == before["mem"] and after["event"] == before["event"], (before, after)
print("done", file=sys.stdout)
