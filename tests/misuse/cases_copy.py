"""enqueue_copy: offsets, counts, host arrays and rectangles that do not fit."""

from __future__ import annotations

import array
import gc
import mmap
import time
from typing import Any

from harness import ANY, CALLER, MF, Boom, Env, Liar, case, check, cl, expect, np, tolerate

HOST = (*CALLER, BufferError, cl.Error)


@case
def offsets_that_wrap(env: Env) -> None:
    buffer, host = env.buffer(), np.zeros(4, np.float32)
    for offset in (2**64 - 4, 2**64 - 1, 2**63, 2**63 - 1, 2**62):
        with expect(ANY, "offset"):
            cl.enqueue_copy(env.queue, host, buffer, src_offset=offset)
        with expect(ANY, "offset"):
            cl.enqueue_copy(env.queue, buffer, host, dst_offset=offset)
    check(np.array_equal(env.read(buffer), env.host), "a refused copy wrote something")
    check(not host.any(), "a refused copy wrote the host array")


@case
def offsets_out_of_range(env: Env) -> None:
    buffer, host = env.buffer(), np.zeros(4, np.float32)
    for offset in (-1, -(2**63), 2**64, 2**64 + 4, 241, 256, 257, "0", None, 1.5, Liar(index="x")):
        with expect(ANY, "offset"):
            cl.enqueue_copy(env.queue, host, buffer, src_offset=offset)
        with expect(ANY, "offset"):
            cl.enqueue_copy(env.queue, buffer, host, dst_offset=offset)
    with expect(Boom):
        cl.enqueue_copy(env.queue, host, buffer, src_offset=Liar(index=Boom("index")))


@case
def buffer_to_buffer_ranges(env: Env) -> None:
    a, b = env.buffer(), env.buffer()
    bad = [
        {"byte_count": 257}, {"byte_count": -2}, {"byte_count": 2**63}, {"byte_count": 2**64},
        {"byte_count": "4"},
        {"byte_count": 256, "src_offset": 4}, {"byte_count": 256, "dst_offset": 4},
        {"byte_count": 2**64 - 8, "src_offset": 16}, {"byte_count": 16, "src_offset": 2**64 - 8},
        {"byte_count": 16, "dst_offset": 2**64 - 8}, {"byte_count": 1.5}, {"src_offset": 300},
        {"dst_offset": -4},
    ]  # fmt: skip
    for kwargs in bad:
        with expect(ANY, "byte_count|offset|size|range|clEnqueueCopyBuffer"):
            cl.enqueue_copy(env.queue, b, a, **kwargs)
    check(np.array_equal(env.read(b), env.host), "a refused copy wrote something")


@case
def buffer_onto_itself(env: Env) -> None:
    a = env.buffer()
    with expect(ANY, "overlap|MEM_COPY_OVERLAP"):
        cl.enqueue_copy(env.queue, a, a, byte_count=64, src_offset=0, dst_offset=32)
    cl.enqueue_copy(env.queue, a, a, byte_count=32, src_offset=0, dst_offset=128)
    check(np.array_equal(env.read(a)[32:40], env.host[:8]), "a copy within a buffer went wrong")


@case
def overlap_through_sub_buffers(env: Env) -> None:
    align = max(env.dev.mem_base_addr_align // 8, 1)
    parent = env.buffer(align)
    one = parent.get_sub_region(0, 2 * align)
    two = parent.get_sub_region(align, 2 * align)
    with tolerate():
        cl.enqueue_copy(env.queue, one, two, byte_count=2 * align)


@case
def host_array_larger_than_the_buffer(env: Env) -> None:
    buffer, host = env.buffer(8), np.zeros(9, np.float32)
    with expect(ANY, "32|36|size|INVALID_VALUE"):
        cl.enqueue_copy(env.queue, host, buffer)
    with expect(ANY, "32|36|size|INVALID_VALUE"):
        cl.enqueue_copy(env.queue, buffer, host)


@case
def object_arrays(env: Env) -> None:
    buffer = env.buffer()
    things = np.array([object() for _ in range(8)], dtype=object)
    record = np.zeros(4, [("a", np.float32), ("b", object)])
    for host in (things, record, things.reshape(2, 4), things[:1]):
        with expect(HOST, "object"):
            cl.enqueue_copy(env.queue, host, buffer)
        with expect(HOST, "object"):
            cl.enqueue_copy(env.queue, buffer, host)
    gc.collect()
    check("object" in repr(things[0]), "the object array was overwritten")


@case
def read_only_targets(env: Env) -> None:
    buffer, frozen = env.buffer(8), np.zeros(8, np.float32)
    frozen.setflags(write=False)
    for host in (
        frozen,
        b"\0" * 32,
        memoryview(b"\0" * 32),
        memoryview(bytearray(32)).toreadonly(),
        "x" * 32,
    ):
        with expect(HOST):
            cl.enqueue_copy(env.queue, host, buffer)
    check(not frozen.any(), "a read-only array was written")
    cl.enqueue_copy(env.queue, buffer, frozen)


@case
def strided_host_arrays(env: Env) -> None:
    buffer = env.buffer(8)
    base = np.zeros((8, 8), np.float32)
    for view in (
        base[:, 0],
        base[::2, ::2][:2, :4],
        base[0, ::-1],
        np.broadcast_to(np.float32(1), 8),
    ):
        with tolerate(HOST) as caught:
            cl.enqueue_copy(env.queue, view, buffer)
        check(caught or np.array_equal(view.ravel(), np.arange(8)), "a strided read landed wrong")
    source = np.arange(16, dtype=np.float32)[::2]
    with tolerate(HOST) as caught:
        cl.enqueue_copy(env.queue, buffer, source)
    check(caught or np.array_equal(env.read(buffer), source), "a strided write landed wrong")


@case
def byte_swapped_arrays_round_trip(env: Env) -> None:
    buffer, swapped = env.out(32), np.arange(8, dtype=">f4")
    back = np.zeros(8, ">f4")
    with tolerate(HOST) as caught:
        cl.enqueue_copy(env.queue, buffer, swapped)
        cl.enqueue_copy(env.queue, back, buffer)
    check(caught or np.array_equal(back, swapped), "a big-endian array came back changed")


@case
def empty_host_arrays(env: Env) -> None:
    buffer = env.buffer(8)
    for host in (
        np.zeros(0, np.float32),
        np.zeros((0, 5)),
        bytearray(),
        b"",
        memoryview(bytearray()),
    ):
        with tolerate(HOST):
            cl.enqueue_copy(env.queue, buffer, host)
    with tolerate(HOST):
        cl.enqueue_copy(env.queue, np.zeros((5, 0)), buffer)
    with tolerate():
        cl.enqueue_copy(env.queue, env.buffer(), buffer, byte_count=0)
    check(np.array_equal(env.read(buffer), np.arange(8)), "an empty copy wrote something")


@case
def neither_side_is_on_the_device(env: Env) -> None:
    with expect(TypeError):
        cl.enqueue_copy(env.queue, np.zeros(4), np.zeros(4))
    with expect(TypeError):
        cl.enqueue_copy(env.queue, b"", b"")


@case
def odd_objects_for_a_side(env: Env) -> None:
    buffer = env.buffer()
    odd = [None, 5, 1.5, "text", [1, 2], (1,), {}, object(), Liar(), env.queue, env.ctx, env.prg,
           cl.Buffer,
           env.kernel("add1"), cl.LocalMemory(8), np.float32]  # fmt: skip
    for value in odd:
        with expect(HOST):
            cl.enqueue_copy(env.queue, value, buffer)
        with expect(HOST):
            cl.enqueue_copy(env.queue, buffer, value)
    for value in (None, 5, "queue", env.ctx, env.dev, buffer):
        with expect(TypeError, "queue|enqueue_copy"):
            cl.enqueue_copy(value, buffer, env.host)


@case
def unknown_and_missing_keywords(env: Env) -> None:
    buffer = env.buffer()
    with expect(TypeError, "offset_src"):
        cl.enqueue_copy(env.queue, env.host.copy(), buffer, offset_src=4)
    with expect(TypeError):
        cl.enqueue_copy(env.queue, env.host.copy(), buffer, byte_count=4, nonsense=1)
    with expect(TypeError):
        cl.enqueue_copy(env.queue, buffer)
    with expect(TypeError):
        cl.enqueue_copy()


@case
def blocking_flag_that_raises(env: Env) -> None:
    with expect((Boom, TypeError)):
        cl.enqueue_copy(
            env.queue, env.host.copy(), env.buffer(), is_blocking=Liar(bool=Boom("bool"))
        )
    with tolerate():
        cl.enqueue_copy(env.queue, env.host.copy(), env.buffer(), is_blocking=None)


@case
def released_buffers(env: Env) -> None:
    good, bad = env.buffer(), env.buffer()
    bad.release()
    host = env.host.copy()
    for dest, src in ((host, bad), (bad, host), (good, bad), (bad, good), (bad, bad)):
        with expect((ValueError, cl.LogicError), "released"):
            cl.enqueue_copy(env.queue, dest, src)


@case
def other_contexts(env: Env) -> None:
    here, there = env.buffer(), env.buffer(ctx=env.other)
    host = env.host.copy()
    for dest, src in ((host, there), (there, host), (here, there), (there, here)):
        with expect((ValueError, cl.LogicError), "context"):
            cl.enqueue_copy(env.queue, dest, src)


@case
def host_buffer_that_can_shrink(env: Env) -> None:
    gate, buffer = cl.UserEvent(env.ctx), env.buffer(16)
    target = bytearray(64)
    event = cl.enqueue_copy(env.queue, target, buffer, is_blocking=False, wait_for=[gate])
    with expect(BufferError):
        target.clear()
    items = array.array("f", [0] * 16)
    other = cl.enqueue_copy(env.queue, items, buffer, is_blocking=False, wait_for=[gate])
    with expect(BufferError):
        items.append(1.0)
    gate.set_status(0)
    event.wait()
    other.wait()
    check(
        np.array_equal(np.frombuffer(target, np.float32), np.arange(16)),
        "the gated copy went wrong",
    )
    check(items[15] == 15, "the gated copy into array.array went wrong")
    del event, other
    env.queue.finish()
    deadline = time.monotonic() + 10
    while target and time.monotonic() < deadline:  # another thread lets go of it
        try:
            target.clear()
        except BufferError:
            gc.collect()
            cl.enqueue_marker(env.queue).wait()
            time.sleep(0.005)
    check(not target, "the bytearray is still locked long after its copy")


@case
def numpy_resize_while_pending(env: Env) -> None:
    gate, buffer = cl.UserEvent(env.ctx), env.buffer(16)
    target = np.zeros(16, np.float32)
    event = cl.enqueue_copy(env.queue, target, buffer, is_blocking=False, wait_for=[gate])
    with expect(ValueError):
        target.resize(10**6)
    gate.set_status(0)
    event.wait()
    check(target[15] == 15, "the gated copy went wrong")


@case
def closed_memory_map_file(env: Env) -> None:
    area = mmap.mmap(-1, 4096)
    gate, buffer = cl.UserEvent(env.ctx), env.buffer(16)
    event = cl.enqueue_copy(
        env.queue, memoryview(area)[:64], buffer, is_blocking=False, wait_for=[gate]
    )
    with expect(BufferError):
        area.close()
    gate.set_status(0)
    event.wait()
    check(np.frombuffer(area, np.float32, 16)[15] == 15, "the gated copy went wrong")


@case
def released_memoryview(env: Env) -> None:
    view = memoryview(bytearray(64))
    view.release()
    for dest, src in ((view, env.buffer(16)), (env.buffer(16), view)):
        with expect(HOST, "released"):
            cl.enqueue_copy(env.queue, dest, src)


def rect(env: Env, host: Any, buffer: Any, **kwargs: Any) -> None:
    """A rectangle from a buffer (8 rows of 8 float32) to a host array."""
    full = {"buffer_origin": (0, 0, 0), "host_origin": (0, 0, 0), "region": (16, 4, 1),
            "buffer_pitches": (32, 256),
            "host_pitches": (32, 256)}  # fmt: skip
    cl.enqueue_copy(env.queue, host, buffer, **{**full, **kwargs})


@case
def rectangle_outside_the_host_array(env: Env) -> None:
    buffer, host = env.buffer(64), np.zeros((4, 4), np.float32)
    rect(env, host, buffer, host_pitches=(16, 64))
    for kwargs in (
        {"host_pitches": (32, 256)}, {"host_pitches": (16, 64), "host_origin": (4, 0, 0)},
        {"host_pitches": (16, 64), "host_origin": (0, 1, 0)},
        {"host_pitches": (16, 64), "host_origin": (0, 0, 1)},
        {"host_pitches": (16, 64), "region": (16, 5, 1)},
        {"host_pitches": (16, 64), "region": (16, 4, 2)},
        {"host_pitches": (2**40, 2**41)}, {"host_pitches": (2**63, 0)},
        {"host_pitches": (2**62, 2**62)},
        {"host_origin": (2**64 - 16, 0, 0)}, {"host_origin": (0, 2**60, 0),
                                              "host_pitches": (16, 64)},
    ):  # fmt: skip
        with expect(ANY):
            rect(env, host, buffer, **kwargs)
        with expect(ANY):
            args = {"buffer_origin": (0, 0, 0), "host_origin": (0, 0, 0), "region": (16, 4, 1),
                    "buffer_pitches": (32, 256), **kwargs}  # fmt: skip
            cl.enqueue_copy(env.queue, buffer, host, **args)


@case
def rectangle_outside_the_buffer(env: Env) -> None:
    buffer, host = env.buffer(16), np.zeros((16, 16), np.float32)
    for kwargs in (
        {}, {"buffer_pitches": (16, 64), "buffer_origin": (4, 0, 0)},
        {"buffer_origin": (2**64 - 16, 0, 0)},
        {"buffer_pitches": (2**63, 2**63)}, {"buffer_pitches": (16, 64), "region": (16, 4, 2**61)},
        {"region": (2**63, 2, 1)}, {"region": (16, 2**62, 4)},
    ):  # fmt: skip
        with expect(ANY):
            rect(env, host, buffer, **kwargs)


@case
def rectangle_of_odd_shapes(env: Env) -> None:
    buffer, host = env.buffer(64), np.zeros((8, 8), np.float32)
    for key in ("buffer_origin", "host_origin", "region"):
        for value in ("abc", (1, 1, 1, 1), (-1, 0, 0), (1.5, 0, 0), (2**64, 0, 0), (None,) * 3,
                      Liar(len=lambda: 3, getitem=Boom("item")), object()):  # fmt: skip
            with expect((*ANY, Boom)):
                rect(env, host, buffer, **{key: value})
    for key in ("buffer_pitches", "host_pitches"):
        for value in (
            5,
            "ab",
            (1, 1, 1),
            (-32, -256),
            (2**64, 1),
            (None, None),
            object(),
            (8, 256),
            (32, 16),
        ):
            with expect(ANY):
                rect(env, host, buffer, **{key: value})


@case
def rectangle_of_nothing(env: Env) -> None:
    buffer, host = env.buffer(64), np.zeros((8, 8), np.float32)
    for region in ((0, 4, 1), (16, 0, 1), (16, 4, 0), (0, 0, 0)):
        with tolerate():
            rect(env, host, buffer, region=region)
    check(not host.any(), "an empty rectangle wrote something")


@case
def rectangle_between_buffers(env: Env) -> None:
    a, b = env.buffer(64), env.out(64)
    good = {
        "src_origin": (0, 0, 0),
        "dst_origin": (0, 0, 0),
        "region": (8, 4, 1),
        "src_pitches": (32, 256),
    }
    cl.enqueue_copy(env.queue, b, a, dst_pitches=(8, 32), **good)
    for kwargs in ({"dst_pitches": (32, 256)}, {"dst_pitches": (8, 32), "dst_origin": (64, 0, 0)},
                   {"dst_pitches": (8, 32), "src_origin": (0, 5, 0), "region": (8, 4, 1)},
                   {"dst_pitches": (8, 32), "src_origin": (2**64 - 8, 0, 0)},
                   {"dst_pitches": (4, 32)}):  # fmt: skip
        with expect(ANY):
            cl.enqueue_copy(env.queue, b, a, **{**good, **kwargs})
    with expect(ANY, "overlap|MEM_COPY_OVERLAP"):
        same = {**good, "dst_origin": (4, 0, 0), "dst_pitches": (32, 256)}
        cl.enqueue_copy(env.queue, a, a, **same)


@case
def rectangle_of_a_strided_host_array(env: Env) -> None:
    buffer, base = env.buffer(64), np.zeros((16, 16), np.float32)
    for host in (base[::2, ::2], base[::-1], base.T[::2], np.zeros((8, 8), object)):
        with expect(HOST):
            rect(env, host, buffer)


@case
def buffer_write_from_a_temporary(env: Env) -> None:
    buffer = env.out(4 * 10**6)
    event = cl.enqueue_copy(env.queue, buffer, np.full(10**6, 3, np.float32), is_blocking=False)
    gc.collect()
    rubbish = [np.full(10**6, 9, np.float32) for _ in range(4)]
    event.wait()
    check((env.read(buffer) == 3).all(), "the temporary was reused before the copy read it")
    del rubbish


@case
def device_memory_that_cannot_be_written(env: Env) -> None:
    # READ_ONLY speaks of kernels; the host may write it. HOST_NO_ACCESS and HOST_READ_ONLY forbid.
    flags = MF.READ_ONLY | MF.HOST_READ_ONLY | MF.COPY_HOST_PTR
    frozen = cl.Buffer(env.ctx, flags, hostbuf=env.host)
    with expect(ANY):
        cl.enqueue_copy(env.queue, frozen, env.host)
    hidden = cl.Buffer(env.ctx, MF.READ_WRITE | MF.HOST_NO_ACCESS, 256)
    with expect(ANY):
        cl.enqueue_copy(env.queue, env.host.copy(), hidden)
