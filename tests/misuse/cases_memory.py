"""Buffers: creation, sub-regions, filling, mapping and use after release."""

from __future__ import annotations

import gc
import sys
from typing import Any

from harness import ANY, CALLER, MF, Boom, Env, Liar, case, check, cl, expect, np, skip, tolerate

HOST = (*CALLER, BufferError, cl.Error)
GONE = (ValueError, cl.LogicError)


@case
def sizes_that_make_no_sense(env: Env) -> None:
    for size in (
        -1,
        -(2**63),
        2**64,
        2**64 + 64,
        1.5,
        "64",
        None,
        b"64",
        [64],
        object(),
        Liar(index="x"),
    ):
        with expect(CALLER, "size"):
            cl.Buffer(env.ctx, MF.READ_WRITE, size)
    with expect(Boom):
        cl.Buffer(env.ctx, MF.READ_WRITE, Liar(index=Boom("index")))


@case
def size_of_zero(env: Env) -> None:
    with expect(ANY, "size|0"):
        cl.Buffer(env.ctx, MF.READ_WRITE, 0)
    with expect(ANY):
        cl.Buffer(env.ctx, MF.READ_WRITE)


@case
def sizes_beyond_the_device(env: Env) -> None:
    for size in (2**63, 2**64 - 1, 2**62, 2**50, 2 * env.dev.global_mem_size):
        with expect((*CALLER, cl.Error, MemoryError)):
            cl.Buffer(env.ctx, MF.READ_WRITE, size)


@case
def out_of_memory_is_a_memory_error(env: Env) -> None:
    held = []
    with expect((cl.MemoryError, cl.LogicError, MemoryError, ValueError)):
        for _ in range(10000):
            held.append(cl.Buffer(env.ctx, MF.READ_WRITE, env.dev.max_mem_alloc_size + 4096))


@case
def flags_that_make_no_sense(env: Env) -> None:
    for flags in (-1, 2**64, 2**63, 2**40, "READ_WRITE", None, 1.5, MF.READ_ONLY | MF.WRITE_ONLY,
                  object(),
                  MF.USE_HOST_PTR, MF.COPY_HOST_PTR,
                  MF.USE_HOST_PTR | MF.ALLOC_HOST_PTR):  # fmt: skip
        with expect(ANY):
            cl.Buffer(env.ctx, flags, 64)
    with expect(ANY):
        cl.Buffer(env.ctx, MF.USE_HOST_PTR | MF.COPY_HOST_PTR, hostbuf=env.host)


@case
def hostbuf_without_a_flag(env: Env) -> None:
    with tolerate() as caught:
        buffer = cl.Buffer(env.ctx, MF.READ_WRITE, hostbuf=env.host)
    check(
        caught or buffer.size == env.host.nbytes,
        "hostbuf without a flag gave a buffer of another size",
    )


@case
def size_larger_than_hostbuf(env: Env) -> None:
    for flag in (MF.COPY_HOST_PTR, MF.USE_HOST_PTR):
        for size in (257, 2**20, 2**40, 2**63):
            with expect((*CALLER, cl.Error, MemoryError)):
                cl.Buffer(env.ctx, MF.READ_WRITE | flag, size, env.host)


@case
def size_smaller_than_hostbuf(env: Env) -> None:
    with tolerate() as caught:
        buffer = cl.Buffer(env.ctx, MF.READ_WRITE | MF.COPY_HOST_PTR, 16, env.host)
    check(
        caught or np.array_equal(env.read(buffer), env.host[: buffer.size // 4]),
        "wrong bytes were copied",
    )


@case
def hostbuf_of_odd_kinds(env: Env) -> None:
    for host in (5, "text", [1, 2], object(), np.zeros(4, object), env.queue, env.buffer(), Liar(),
                 np.zeros(0, np.float32), b"", np.array("text"),
                 np.zeros((4, 4))[:, ::2]):  # fmt: skip
        with tolerate(HOST) as caught:
            cl.Buffer(env.ctx, MF.READ_WRITE | MF.COPY_HOST_PTR, hostbuf=host)
        if not isinstance(host, np.ndarray) or host.dtype == object:
            check(caught, f"hostbuf={host!r} was accepted")


@case
def hostbuf_strided(env: Env) -> None:
    view = np.arange(64, dtype=np.float32)[::2]
    with tolerate(HOST) as caught:
        buffer = cl.Buffer(env.ctx, MF.READ_WRITE | MF.COPY_HOST_PTR, hostbuf=view)
    check(
        caught or np.array_equal(env.read(buffer), view),
        "a strided hostbuf was copied as if it were not",
    )
    with expect(HOST):
        cl.Buffer(env.ctx, MF.READ_WRITE | MF.USE_HOST_PTR, hostbuf=view)


@case
def hostbuf_read_only_but_used(env: Env) -> None:
    frozen = np.zeros(64, np.float32)
    frozen.setflags(write=False)
    with tolerate(HOST) as caught:
        buffer = cl.Buffer(env.ctx, MF.READ_WRITE | MF.USE_HOST_PTR, hostbuf=frozen)
        env.kernel("add1")(env.queue, (64,), None, buffer)
        cl.enqueue_map_buffer(env.queue, buffer, cl.map_flags.READ, 0, (64,), np.float32)
    check(caught or not frozen.any(), "a read-only array was written through USE_HOST_PTR")


@case
def hostbuf_released_view(env: Env) -> None:
    view = memoryview(bytearray(64))
    view.release()
    with expect(HOST, "released"):
        cl.Buffer(env.ctx, MF.READ_WRITE | MF.COPY_HOST_PTR, hostbuf=view)


@case
def context_of_odd_kinds(env: Env) -> None:
    for context in (None, 5, env.queue, env.dev, "ctx", cl.Context):
        with expect(TypeError):
            cl.Buffer(context, MF.READ_WRITE, 64)
    with expect(TypeError):
        cl.Buffer()
    with expect(TypeError):
        cl.Buffer(env.ctx)
    with expect(TypeError, "bytes"):
        cl.Buffer(env.ctx, MF.READ_WRITE, bytes=64)


@case
def release_twice(env: Env) -> None:
    buffer = env.buffer()
    buffer.release()
    with expect(GONE, "released|release"):
        buffer.release()


def uses(env: Env) -> dict[str, Any]:
    """Each way to use a buffer *b*, as a function of it."""
    q, host, good = env.queue, env.host.copy(), env.buffer()
    kernel = cl.Kernel(env.prg, "add1")
    rect = {"buffer_origin": (0, 0, 0), "host_origin": (0, 0, 0), "region": (4, 1, 1)}
    return {
        "read": lambda b: cl.enqueue_copy(q, host, b),
        "write": lambda b: cl.enqueue_copy(q, b, host),
        "copy": lambda b: cl.enqueue_copy(q, good, b),
        "rect": lambda b: cl.enqueue_copy(q, host, b, **rect),
        "fill": lambda b: cl.enqueue_fill_buffer(q, b, np.int32(1), 0, 64),
        "fill2": lambda b: cl.enqueue_fill(q, b, np.int32(1), 64),
        "map": lambda b: cl.enqueue_map_buffer(q, b, cl.map_flags.READ, 0, (4,), np.float32),
        "migrate": lambda b: cl.enqueue_migrate_mem_objects(q, [b]),
        "region": lambda b: b.get_sub_region(0, 64),
        "slice": lambda b: b[0:64],
        "argument": lambda b: kernel.set_arg(0, b),
        "launch": lambda b: kernel(q, (4,), None, b),
        "host": lambda b: b.get_host_array((4,), np.float32),
        "info": lambda b: b.get_info(cl.mem_info.SIZE),
        "size": lambda b: b.size,
        "flags": lambda b: b.flags,
        "context": lambda b: b.context,
        "refcount": lambda b: b.reference_count,
    }


@case
def every_use_after_release(env: Env) -> None:
    for name, use in uses(env).items():
        buffer = env.buffer()
        buffer.release()
        with expect((*GONE, cl.Error), "released" if name not in ("host",) else ""):
            use(buffer)
        with tolerate():
            hash(buffer), repr(buffer), buffer == env, buffer.int_ptr


@case
def every_use_of_a_sub_region_after_release(env: Env) -> None:
    for use in uses(env).values():
        region = env.buffer().get_sub_region(0, 128)
        region.release()
        with expect((*GONE, cl.Error)):
            use(region)


@case
def release_by_another_name(env: Env) -> None:
    buffer = env.buffer()
    for method in (cl.MemoryObject.release, type(buffer).release):
        with expect((TypeError, AttributeError)):
            method(env.queue)
        with expect((TypeError, AttributeError)):
            method(None)
    cl.MemoryObject.release(buffer)
    with expect(GONE):
        buffer.release()


@case
def sub_regions_out_of_range(env: Env) -> None:
    parent = env.buffer(1024)
    align = max(env.dev.mem_base_addr_align // 8, 1)
    bad = [(0, 4097), (4096, 1), (align, 4096), (2**64 - align, align), (2**64 - align, 2 * align),
           (0, 2**63),
           (0, 0), (-align, align), (0, -1), (2**64, 1), (0, 2**64), ("0", 1), (0, "1"), (None, 1),
           (0, None),
           (1.5, 4), (0, 1.5)]  # fmt: skip
    for origin, size in bad:
        with expect(ANY):
            parent.get_sub_region(origin, size)
    with tolerate():
        parent.get_sub_region(1, 8)


@case
def sub_region_of_a_sub_region(env: Env) -> None:
    region = env.buffer(1024).get_sub_region(0, 2048)
    with tolerate():
        region.get_sub_region(0, 64)
    with expect(ANY):
        region.get_sub_region(0, 4096)
    with expect(ANY):
        env.buffer(1024).get_sub_region(0, 64, -1)
    with expect(ANY):
        env.buffer(1024).get_sub_region(0, 64, MF.COPY_HOST_PTR)


@case
def slices_that_make_no_sense(env: Env) -> None:
    buffer = env.buffer(1024)
    for key in (5, "x", None, 1.5, (0, 1), slice(0, 64, 2), slice(64, 0, -1), slice("a", "b"),
                slice(0, 0),
                slice(64, 0), slice(5000, 6000), slice(1.5, 3), slice(0, 64, 0), ...,
                np.int64(5)):  # fmt: skip
        with expect(ANY):
            buffer[key]
    with expect(TypeError):
        buffer[0:64] = b"x" * 64
    with expect(TypeError):
        del buffer[0:64]
    with tolerate():
        check(buffer[0 : 2**70].size <= 4096, "a slice is larger than its buffer")


@case
def fill_nonsense(env: Env) -> None:
    buffer = env.buffer()
    for pattern in (np.zeros(3, np.uint8), b"", b"x" * 256, b"abc", "text", None, object(), [1],
                    np.array([object()]), np.zeros(0)):  # fmt: skip
        with expect(HOST):
            cl.enqueue_fill_buffer(env.queue, buffer, pattern, 0, 96)
    for offset, size in ((0, 257), (256, 4), (2**64 - 4, 4), (2**64 - 4, 8), (0, 2**63), (-4, 4),
                         (0, -4), (2, 4),
                         (0, 6), (2**64, 4), ("0", 4), (0, None), (1.5, 4)):  # fmt: skip
        with expect(ANY):
            cl.enqueue_fill_buffer(env.queue, buffer, np.int32(1), offset, size)
    with expect(ANY):
        cl.enqueue_fill_buffer(env.other_queue, buffer, np.int32(1), 0, 4)
    with expect((TypeError, cl.LogicError)):
        cl.enqueue_fill_buffer(env.queue, env.image(), np.int32(1), 0, 4)
    with expect((TypeError, cl.LogicError)):
        cl.enqueue_fill_buffer(env.queue, env.host, np.int32(1), 0, 4)
    check(np.array_equal(env.read(buffer), env.host), "a refused fill wrote something")
    with tolerate():
        cl.enqueue_fill_buffer(env.queue, buffer, np.int32(1), 0, 0)


def mapped(env: Env, buffer: Any, **kwargs: Any) -> Any:
    """Map 64 float32 of *buffer*."""
    full = {
        "flags": cl.map_flags.READ | cl.map_flags.WRITE,
        "offset": 0,
        "shape": (64,),
        "dtype": np.float32,
    }
    return cl.enqueue_map_buffer(env.queue, buffer, **{**full, **kwargs})[0]


@case
def map_out_of_range(env: Env) -> None:
    buffer = env.buffer()
    for kwargs in ({"offset": 4}, {"offset": 256}, {"offset": -4}, {"offset": 2**64 - 4},
                   {"offset": 2**64},
                   {"shape": (65,)}, {"shape": (-1,)}, {"shape": (-8, -8)},
                   {"shape": (2**32, 2**32)},
                   {"shape": (2**63,)}, {"shape": (2**62,)}, {"shape": (2**61, 8)},
                   {"shape": (1,) * 100},
                   {"shape": "abc"}, {"shape": None}, {"shape": (None,)}, {"shape": (1.5,)},
                   {"offset": "0"},
                   {"shape": (2**64 + 4,)}):  # fmt: skip
        with expect((*HOST, MemoryError)):
            mapped(env, buffer, **kwargs)
    check(buffer.map_count == 0, "a refused map left the buffer mapped")


@case
def map_of_nothing(env: Env) -> None:
    buffer = env.buffer()
    for shape in ((0,), (), (4, 0)):
        with tolerate(HOST) as caught:
            view = mapped(env, buffer, shape=shape)
            check(caught or view.nbytes <= 4, "a map of nothing is not empty")
            del view


@case
def map_with_odd_types(env: Env) -> None:
    buffer = env.buffer()
    for kwargs in ({"dtype": object}, {"dtype": "nonsense"}, {"dtype": [("a", object)]},
                   {"dtype": 5},
                   {"dtype": "V0"}, {"dtype": "U0"}, {"dtype": "S0"}, {"flags": -1},
                   {"flags": 2**64},
                   {"flags": "READ"}, {"order": "X"}, {"order": 5},
                   {"order": None},
                   {"strides": (2**62,)}, {"strides": (-4,)}, {"strides": 5}, {"strides": ("4",)},
                   {"strides": (4, 4)}, {"strides": (8,)}, {"wait_for": 5},
                   {"is_blocking": Liar(bool=Boom("b"))}):  # fmt: skip
        with tolerate((*HOST, MemoryError, Boom)) as caught:
            view = mapped(env, buffer, **kwargs)
        if not caught:
            check(
                set(kwargs) & {"dtype", "order"} and not view.dtype.hasobject,
                f"{kwargs} was accepted",
            )
            view.base.release(env.queue)
            del view


@case
def map_of_the_wrong_things(env: Env) -> None:
    for thing in (None, 5, env.host, env.queue, env.image(), b"x"):
        with expect((TypeError, cl.LogicError)):
            mapped(env, thing)
    with expect((ValueError, cl.LogicError), "context"):
        mapped(env, env.buffer(ctx=env.other))


@case
def unmap_twice(env: Env) -> None:
    view = mapped(env, env.buffer())
    view.base.release(env.queue)
    # The second release has nothing left to do: a no-op or an error, never an unmap of something
    # else.
    with tolerate():
        view.base.release(env.queue)
    with tolerate():
        view.base.release()


@case
def unmap_on_odd_queues(env: Env) -> None:
    view = mapped(env, env.buffer())
    for queue in (5, "queue", env.ctx, view):
        with expect(TypeError):
            view.base.release(queue)
    with expect((ValueError, cl.LogicError), "context"):
        view.base.release(env.other_queue)
    with expect((TypeError, ValueError)):
        view.base.release(env.queue, wait_for=5)
    view[0] = 5
    view.base.release(env.queue)


@case
def view_read_after_unmap_and_release(env: Env) -> None:
    buffer = env.buffer(4096)
    view = mapped(env, buffer, shape=(4096,))
    view.base.release(env.queue)
    buffer.release()
    others = [cl.Buffer(env.ctx, MF.READ_WRITE | MF.COPY_HOST_PTR,
                        hostbuf=np.full(4096, 7, np.float32))
              for _ in range(20)]  # fmt: skip
    # The view keeps the memory; it neither shows another buffer's content nor writes there.
    check(not (view == 7).any(), "the view shows memory of another buffer")
    view[:] = 9
    for other in others:
        check((env.read(other) == 7).all(), "a write through the old view changed another buffer")


@case
def view_outlives_everything(env: Env) -> None:
    view = mapped(env, env.buffer(4096), shape=(4096,))
    gc.collect()
    others = [env.buffer(4096) for _ in range(20)]
    check(np.array_equal(view, np.arange(4096)), "the view lost its memory")
    part = view[10:20].reshape(2, 5)
    del view, others
    gc.collect()
    check(part[0, 0] == 10, "a part of the view lost its memory")


@case
def buffer_released_while_mapped(env: Env) -> None:
    buffer = env.buffer(4096)
    view = mapped(env, buffer, shape=(4096,))
    with tolerate(GONE):
        buffer.release()
    others = [env.buffer(4096) for _ in range(20)]
    check(view[17] == 17, "the view lost its memory when the buffer was released")
    view.base.release(env.queue)
    del others


@case
def map_used_as_a_context_manager_twice(env: Env) -> None:
    view = mapped(env, env.buffer())
    with view.base:
        view[0] = 1
    with tolerate():
        with view.base:
            pass
    with tolerate():
        view.base.__exit__(None, None, None)


@case
def host_array_of_a_plain_buffer(env: Env) -> None:
    buffer = env.buffer()
    for shape, dtype in (
        ((64,), np.float32),
        ((2**40,), np.float32),
        ((64,), object),
        (None, None),
    ):
        with expect(ANY):
            buffer.get_host_array(shape, dtype)


@case
def host_array_larger_than_the_buffer(env: Env) -> None:
    host = np.zeros(64, np.float32)
    buffer = cl.Buffer(env.ctx, MF.READ_WRITE | MF.USE_HOST_PTR, hostbuf=host)
    check(buffer.get_host_array((64,), np.float32).shape == (64,), "get_host_array lost the shape")
    for shape, dtype in (((65,), np.float32), ((2**32, 2**32), np.float32), ((-1,), np.float32),
                         ((64,), np.float64),
                         ((8,), object), ("x", np.float32), ((64,), "nonsense"),
                         ((2**61,), np.float64)):  # fmt: skip
        with expect((*HOST, MemoryError)):
            buffer.get_host_array(shape, dtype)


@case
def lent_host_memory_dropped(env: Env) -> None:
    host = np.arange(4096, dtype=np.float32)
    buffer = cl.Buffer(env.ctx, MF.READ_WRITE | MF.USE_HOST_PTR, hostbuf=host)
    del host
    gc.collect()
    rubbish = [np.full(4096, 9, np.float32) for _ in range(20)]
    check(np.array_equal(env.read(buffer), np.arange(4096)), "the lent array was freed")
    del rubbish


@case
def handles_from_nowhere(env: Env) -> None:
    unmapped, ours = (1234, 1 << 13, 0x7000DEAD0000), (env.buffer().int_ptr + 8, id(env))
    linux = sys.platform == "linux"
    through_loader = "cl_khr_icd" in env.dev.platform.extensions.split()
    values = (*(unmapped if linux else ()), *(ours if linux and through_loader else ()))
    for value in (0, -1, 2**64, "x", None, 1.5, *values):
        for kind in (
            cl.Buffer,
            cl.MemoryObject,
            cl.Context,
            cl.CommandQueue,
            cl.Event,
            cl.Kernel,
            cl.Device,
        ):
            with expect(ANY):
                kind.from_int_ptr(value)


@case
def handle_of_a_released_buffer(env: Env) -> None:
    buffer = env.buffer()
    twin = cl.Buffer.from_int_ptr(buffer.int_ptr)
    buffer.release()
    check(np.array_equal(env.read(twin), env.host), "from_int_ptr did not retain the handle")


@case
def migrate_nonsense(env: Env) -> None:
    for objects in (
        None,
        5,
        env.buffer(),
        [None],
        [5],
        "ab",
        [env.queue],
        [env.buffer(ctx=env.other)],
    ):
        with expect(ANY):
            cl.enqueue_migrate_mem_objects(env.queue, objects)
    with tolerate():
        cl.enqueue_migrate_mem_objects(env.queue, [])
    for flags in (-1, 2**64, 2**40, "x", None, 1.5):
        with expect(ANY):
            cl.enqueue_migrate_mem_objects(env.queue, [env.buffer()], flags)


@case
def info_of_odd_parameters(env: Env) -> None:
    buffer = env.buffer()
    for param in (0, -1, 0xFFFF, 2**32, 2**64, "SIZE", None, 1.5, cl.device_info.NAME):
        with expect(ANY):
            buffer.get_info(param)
    if not hasattr(buffer, "get_info"):
        skip("get_info")
