"""CUDA: wrong counts, types, sizes, places and geometries of calls and launches."""

from __future__ import annotations

from typing import Any

import numpy as np
from cuda_env import ANY, CALLER, Env, cuda
from harness import Boom, Liar, case, check, expect, tolerate

ONE = (1, 1, 1)
WRONG_ADDRESSES: tuple[Any, ...] = (
    *(None, "x", b"", 1.5, 1j, object(), [], {}, int, np.zeros(4), np.float32(1)),
    *(-1, 2**64, 10**100),
)


@case
def counts_of_arguments(env: Env) -> None:
    memory = env.memory()
    axpy = env.kernel("axpy")
    for wrong in ((), (1,), (1, memory), (1, memory, memory), (1, memory, memory, 4, 5)):
        with expect(TypeError, "takes 4 arguments", "given"):
            axpy(*wrong, block=ONE)
    with expect(TypeError, "takes 0 arguments"):
        env.kernel("nothing")(memory, block=ONE)
    with expect(ValueError, "must specify block size"):
        env.add1(memory)
    with expect(ValueError, "extra keyword", "blok"):
        env.add1(memory, blok=ONE, block=ONE)


@case
def types_of_arguments(env: Env) -> None:
    out = env.memory()
    to_int, to_uchar, to_float = map(env.kernel, ("to_int", "to_uchar", "to_float"))
    for wrong in (1.5, "1", None, 1j, [1], object(), np.float32(1), np.int64(1), b"12345", out):
        with expect(TypeError, "to_int", "parameter #0"):
            to_int(wrong, out, block=ONE)
    for wrong in (2**31, -(2**31) - 1, 10**100):
        with expect(OverflowError, "to_int"):
            to_int(wrong, out, block=ONE)
    for wrong in (-1, 256):
        with expect(OverflowError, "to_uchar"):
            to_uchar(wrong, out, block=ONE)
    for wrong in ("1", None, 1j, np.float64(1), np.int64(1)):
        with expect(TypeError, "to_float"):
            to_float(wrong, out, block=ONE)
    for wrong in (5, 1.5, np.zeros(3, np.uint8), b"1234567", np.zeros(2, "i8"), object()):
        with expect(TypeError, "to_pair"):
            env.kernel("to_pair")(wrong, out, block=ONE)
    for wrong in (None, "x", 1.5, 1j, object(), [], np.zeros(4, np.float32), np.float32(1)):
        with expect(CALLER, "add1", "parameter #0"):
            env.add1(wrong, block=ONE)


@case
def geometries(env: Env) -> None:
    nothing = env.kernel("nothing")
    for wrong in (0, -1, (), (1, 1, 1, 1), (0, 1, 1), (1, -1, 1), 1.5, "x", None, (1.5,), [None],
                  (1025, 1, 1), (2**31, 1, 1), (2**64, 1, 1), (1024, 2, 1), (1, 1, 65), object(),
                  Liar(len=lambda: 2**40), np.zeros((2, 2)), range(2**40)):  # fmt: skip
        with expect(ANY):
            nothing(block=wrong)
    for wrong in (0, -1, (1, 1, 1, 1), (0, 1, 1), (1, -1, 1), 1.5, "x", (2**31, 1, 1), (1, 65536),
                  (2**64, 1), (1, 1, 65536), object(), [None], (None,), (True, "x")):  # fmt: skip
        with expect(ANY):
            nothing(block=ONE, grid=wrong)
    for wrong in (-1, 2**32, 10**9, 1.5, "x", (1,), object(), Liar(index=Boom("index"))):
        with expect((*ANY, Boom)):
            env.kernel("scratch")(env.memory(), block=(4, 1, 1), shared=wrong)
    for wrong in (1.5, "x", object(), [env.stream], 5, -1, 2**64, cuda.Event(), env.context):
        with expect(ANY):
            nothing(block=ONE, stream=wrong)


@case
def shared_memory_after_a_refusal(env: Env) -> None:
    out, scratch = env.memory(), env.kernel("scratch")
    with expect(cuda.LogicError, "shared memory"):
        scratch(out, block=(64, 1, 1), shared=2**24)
    scratch(out, block=(64, 1, 1), shared=256)
    check(np.array_equal(env.read(out), env.host[::-1]), "the launch went wrong")


@case
def addresses_of_copies_and_fills(env: Env) -> None:
    host, out = env.host, np.empty_like(env.host)
    for wrong in WRONG_ADDRESSES:
        for call in (
            lambda a: cuda.memcpy_htod(a, host),
            lambda a: cuda.memcpy_dtoh(out, a),
            lambda a: cuda.memcpy_dtod(a, env.memory(), 16),
            lambda a: cuda.memcpy_dtod(env.memory(), a, 16),
            lambda a: cuda.memset_d8(a, 0, 16),
            lambda a: cuda.memset_d2d32_async(a, 64, 0, 4, 4, env.stream),
            lambda a: cuda.from_device(a, 4, np.float32),
            lambda a: cuda.memcpy_htod_async(a, host, env.stream),
            lambda a: cuda.memcpy_peer(a, env.memory(), 16),
            lambda a: cuda.mem_get_address_range(a),
        ):
            with expect(ANY):
                call(wrong)
    for wrong in (3, 16, 4096, 2**40, 2**63, 2**64 - 1):  # numbers that no driver gives out
        with expect(cuda.Error):
            cuda.memcpy_htod(wrong, host)
        with expect(cuda.Error):
            cuda.memset_d32(wrong, 0, 16) if wrong % 4 == 0 else cuda.memset_d8(wrong, 0, 16)


@case
def sizes_of_copies_and_fills(env: Env) -> None:
    small, host = cuda.mem_alloc(255), env.host
    for call in (
        lambda: cuda.memcpy_htod(small, host),
        lambda: cuda.memcpy_htod(int(small), host),
        lambda: cuda.memcpy_htod(int(small) + 200, host[:16]),
        lambda: cuda.memcpy_dtoh(np.empty_like(host), small),
        lambda: cuda.memcpy_htod_async(small, host, env.stream),
        lambda: cuda.memcpy_dtod(small, env.memory(), 256),
        lambda: cuda.memcpy_dtod(env.memory(), small, 256),
        lambda: cuda.memset_d8(small, 0, 256),
        lambda: cuda.memset_d8(int(small) + 250, 0, 6),
        lambda: cuda.memset_d32(small, 0, 64),
        lambda: cuda.memset_d32_async(small, 0, 2**62, env.stream),
        lambda: cuda.memset_d2d8(small, 64, 0, 64, 5),
        lambda: cuda.memset_d2d8(small, 2**62, 0, 64, 2**62),
        lambda: cuda.from_device(small, 64, np.float32),
        lambda: cuda.from_device(small, 2**61, np.float64),
        lambda: cuda.from_device_like(small, host),
    ):
        with expect(ANY):
            call()
    for wrong in (-1, 2**63, 2**64, 1.5, "x", None, object()):
        for call in (
            lambda n: cuda.mem_alloc(n),
            lambda n: cuda.memcpy_dtod(small, env.memory(), n),
            lambda n: cuda.memset_d8(small, 0, n),
            lambda n: cuda.mem_alloc_pitch(n, 4, 4),
            lambda n: cuda.mem_alloc_async(n),
            lambda n: cuda.DeviceMemoryPool().allocate(n),
            lambda n: cuda.pagelocked_empty(n, np.uint8),
            lambda n: cuda.aligned_empty(n, np.uint8),
            lambda n: cuda.managed_empty(n, np.uint8, mem_flags=1),
        ):
            with expect(ANY):
                call(wrong)
    with expect(ANY):
        cuda.mem_alloc(2**62)


@case
def host_arrays_that_cannot_be_used(env: Env) -> None:
    memory, frozen = env.memory(), env.host.copy()
    frozen.flags.writeable = False
    objects = np.array([object(), None])
    for wrong in (frozen, env.host[::2], objects, b"x" * 64, "text", None, 5, [1.0], memory):
        with expect(ANY):
            cuda.memcpy_dtoh(wrong, memory)
    for wrong in (np.zeros((8, 8))[::2, ::2], objects, "text", None, 5, [1.0], memory, object()):
        with expect(ANY):
            cuda.memcpy_htod(memory, wrong)
        with expect(ANY):
            cuda.memcpy_htod_async(memory, wrong, env.stream)
    for wrong in (frozen, objects, None, 5, "x", object()):
        with expect(ANY):
            env.add1(cuda.InOut(wrong), block=ONE)


@case
def boxes(env: Env) -> None:
    memory = env.memory()
    for name, value in (
        ("src_pitch", 3), ("src_pitch", 2**62), ("src_x_in_bytes", 2**62), ("src_y", 2**62),
        ("width_in_bytes", 2**62), ("height", 2**62), ("dst_pitch", 1), ("dst_y", 60),
        ("width_in_bytes", 17), ("height", 17),
    ):  # fmt: skip
        copy = cuda.Memcpy2D()
        copy.set_src_host(env.host)
        copy.set_dst_device(memory)
        copy.src_pitch = copy.dst_pitch = copy.width_in_bytes = 16
        copy.height = 16
        copy()
        setattr(copy, name, value)
        for call in (copy, lambda copy=copy: copy(env.stream)):
            with expect(ANY):
                call()
    with expect(ANY):
        cuda.Memcpy2D().set_src_device("x")
    copy = cuda.Memcpy3D()
    copy.width_in_bytes = copy.height = copy.depth = 1
    with expect(ANY):
        copy()  # neither source nor destination
    for name in ("src_pitch", "height", "width_in_bytes"):
        for wrong in (-1, 2**64, 1.5, "x", None):
            with expect(CALLER):
                setattr(copy, name, wrong)


@case
def prepared_calls(env: Env) -> None:
    add1, memory = env.kernel("add1"), env.memory()
    with expect(AttributeError, "prepare"):
        add1.prepared_call((1, 1), ONE, memory)
    for wrong in ("PP", "i", "Pi", "", "x", "P" * 5000, "9" * 30 + "s", 5, None, b"P"):
        with tolerate(Exception):
            add1.prepare(wrong)
            add1.prepared_call((1, 1), ONE)
    add1.prepare("P")
    for values in ((), (memory, memory), (None,), ("x",), (1.5,), (object(),)):
        with expect(Exception):
            add1.prepared_call((1, 1), ONE, *values)
    add1.prepared_call((1, 1), (64, 1, 1), memory)
    check(np.array_equal(env.read(memory), env.host + 1), "the launch went wrong")


@case
def modules_and_names(env: Env) -> None:
    for wrong in (b"", b"x", b"\x7fELF" + b"\0" * 60, b"\x7fELF" * 100, b"//" * 999, "text", None):
        with expect(ANY):
            cuda.module_from_buffer(wrong)
    with expect(ANY):
        cuda.module_from_file("/nowhere/none.cubin")
    for wrong in ("none", "", "add1\0x", "ä", None, 5, b"add1"):
        with expect(ANY):
            env.module.get_function(wrong)
        with expect(ANY):
            env.module.get_global(wrong)
    with expect(cuda.LogicError):
        env.module.get_texref("none")


@case
def arrays_and_textures(env: Env) -> None:
    for width, height, channels in ((0, 0, 1), (2**40, 1, 1), (4, 4, 3), (4, 4, 0), (4, 4, 2**31)):
        line = cuda.ArrayDescriptor()
        with expect(ANY):
            line.width, line.height = width, height
            line.format, line.num_channels = cuda.array_format.FLOAT, channels
            cuda.Array(line)
    array = cuda.matrix_to_array(env.host.reshape(8, 8), "C")
    for wrong in (None, "x", 5, env.host, env.memory(), object()):
        with expect(ANY):
            cuda.SurfaceObject(wrong)
        with expect(ANY):
            cuda.memcpy_htoa(wrong, 0, env.host)
    for index, n in ((0, 2**40), (2**40, 4), (-1, 4), (254, 4)):
        with expect(ANY):
            cuda.memcpy_atod(env.memory(), array, index, n)
    array.free()
    for use in (array.get_descriptor, lambda: array.handle, lambda: cuda.TextureObject(array)):
        with expect(cuda.LogicError):
            use()
