"""Names of numba.cuda that pygpu.cuda has: launches, arguments, streams, devices."""

from __future__ import annotations

import asyncio
import functools
import re
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import cuda
from pygpu._src.jit import signature

pytestmark = pytest.mark.usefixtures("cuda_context")


@cuda.jit
def increment(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] + 1
        a[i] = -1


def test_directions() -> None:
    """In, Out and InOut tell which way host arrays are copied."""
    a, out = np.arange(5.0), np.full(5, 9.0)
    increment[1, 32](cuda.In(a), cuda.Out(out))
    assert (a == np.arange(5.0)).all() and (out == a + 1).all()
    increment.forall(5)(cuda.InOut(a), cuda.Out(out))
    assert (a == -1).all() and (out == np.arange(5.0) + 1).all()
    a[:] = 3
    a.flags.writeable = False
    increment[1, 32](cuda.In(a), out)
    assert (a == 3).all() and (out == 4).all()
    for given in (a, np.broadcast_to(3.0, 5)):
        with pytest.raises(ValueError, match="increment: argument a: the array is read-only"):
            increment[1, 32](given, out)
    device = cuda.to_device(np.arange(5.0))
    increment[1, 32](cuda.In(device), cuda.Out(out))
    assert (device.copy_to_host() == -1).all()
    with pytest.raises(ValueError, match=r"increment: the array of cuda\.Out\(\) is not writable"):
        increment[1, 32](out, cuda.Out(a))
    with pytest.raises(TypeError, match=r"cuda\.In\(\): an array is needed, not list"):
        cuda.In([1, 2])


def test_pointers() -> None:
    """Parameters that are declared as pointers take addresses."""
    pointer = signature.PointerType

    @cuda.jit(signature.void(pointer(signature.int32), signature.int64))
    def add(p, n):
        i = cuda.grid(1)
        if i < n:
            p[i] += 1

    x = cuda.to_device(np.arange(10, dtype=np.int32))
    address = x.__cuda_array_interface__["data"][0]
    add[1, 32](address, 10)
    add[1, 32](address + 8, 3)
    add[1, 32](np.uint64(address), 1)
    add[1, 32](x, 1)  # arrays fit as well
    assert x.copy_to_host().tolist() == [3, 2, 4, 5, 6, 6, 7, 8, 9, 10]
    with pytest.raises(ValueError, match=r"argument p: no device memory is allocated at 0x5"):
        add[1, 32](5, 1)
    with pytest.raises(ValueError, match=r"no device memory is allocated at -0x5"):
        add[1, 32](-5, 1)
    with pytest.raises(ValueError, match=r"argument p: .* is not a multiple of 4"):
        add[1, 32](address + 1, 1)
    with pytest.raises(TypeError, match="signature says"):
        add[1, 32](2.5, 1)


def test_signature_of_more_parameters() -> None:
    with pytest.raises(TypeError, match="few: the signature has 2 types, but the function has 1"):

        @cuda.jit("void(float32[:], int32)")
        def few(x):
            x[0] = 1


def test_signature_of_fewer_parameters() -> None:
    with pytest.raises(TypeError, match="more: the signature has 1 types, but the function has 2"):

        @cuda.jit("void(float32[:])")
        def more(x, y):
            x[0] = y


def test_specializations() -> None:
    @cuda.jit
    def fill(x, v):
        x[cuda.grid(1)] = v

    assert fill.specializations == {} and not fill.specialized
    f4 = signature.TYPES["float32"]
    one = fill.specialize(f4[::1], f4)
    assert fill.specialize(np.zeros(3, np.float32), np.float32(1)) is one and one.specialized
    other = fill.specialize(signature.TYPES["int32"][::1], f4)
    assert other is not one and len(fill.specializations) == 2
    one[1, 4](a := np.zeros(4, np.float32), 2.5)
    assert a.tolist() == [2.5] * 4
    with pytest.raises(TypeError, match="signature says"):
        one[1, 4](np.zeros(4), 2.5)
    with pytest.raises(TypeError, match="1 types given, but the function has 2"):
        fill.specialize(f4[:])
    with pytest.raises(RuntimeError, match="already specialized"):
        one.specialize(f4[::1], f4)
    assert one.get_regs_per_thread() >= 0


def test_device_functions_with_signatures(make: Any) -> None:
    """Numbers are converted to the types of the signature, and the result."""

    def add(x, y):
        return x + y

    whole = cuda.jit("int64(int64, int64)", device=True)(add)
    single = pygpu.jit("float32(float32, float32)")(add)
    either = pygpu.jit(["int32(int32, int32)", "float64(float64, float64)"])(add)
    short = pygpu.jit(["(int8, int8)"])(add)

    @pygpu.kernel
    def call(x, out):
        out[0] = whole(x[0], x[1])
        out[1] = single(x[2], y=1.0)
        out[2] = either(x[0], x[1])
        out[3] = either(3, 4) / 2
        out[4] = short(100, 100)

    out = make(np.zeros(5))
    call[1, 1](make(np.array([1.75, 2.75, 0.1])), out)
    expected = [3, float(np.float32(0.1) + np.float32(1)), 4.5, 3.5, -56]
    assert out.get().tolist() == expected
    with pytest.raises(TypeError, match="add: the signature has 1 types, but the function has 2"):
        pygpu.jit("float32(float32)")(add)


def test_record_signatures() -> None:
    point = np.dtype([("x", "f4"), ("n", "i4")], align=True)
    kind = signature.as_type(point)

    @cuda.jit(signature.void(kind[:], signature.float32))
    def move(points, step):
        i = cuda.grid(1)
        if i < points.size:
            p = points[i]
            p.x += step
            p.n += 1

    points = np.zeros(3, point)
    move[1, 32](points, 0.5)
    assert points.tolist() == [(0.5, 1)] * 3
    assert list(move.overloads[(kind[:], signature.float32)].arg_types)
    with pytest.raises(TypeError, match="signature says"):
        move[1, 32](np.zeros(3, [("y", "f4")]), 1)


def test_inspection(capsys: pytest.CaptureFixture[str]) -> None:
    a = np.zeros(3, np.float32)
    kernel = cuda.jit(increment.py_func)
    kernel[1, 1](a[:0], a[:0])
    ((kinds, text),) = kernel.inspect_asm().items()
    assert "PG_KERNEL" in text and kernel.inspect_llvm(kinds) == text == kernel.inspect_sass(kinds)
    kernel.inspect_types()
    assert "PG_KERNEL" in capsys.readouterr().out
    assert list(kernel.extensions) == []
    assert kernel.overloads[kinds].kernel.max_threads_per_block > 0
    blocks = cuda.current_context().get_active_blocks_per_multiprocessor
    assert blocks(kernel.overloads[kinds], 64) >= 1
    kernel.forall(3, tpb=8, sharedmem=16)(a, a)
    assert (a == -1).all() or (a == 1).all()


def test_callback() -> None:
    stream, done, seen = cuda.stream(), threading.Event(), []

    def callback(*args: Any) -> None:
        seen.append(args)
        done.set()

    stream.add_callback(callback, "word")
    assert done.wait(30)
    ((where, status, word),) = seen
    assert where is stream and status == 0 and word == "word"


def test_awaiting_a_stream() -> None:
    async def wait() -> Any:
        stream = cuda.stream()
        a = cuda.to_device(np.arange(8.0), stream=stream)
        cancelled = stream.async_done()
        cancelled.cancel()
        done = await asyncio.wait_for(stream.async_done(), 30)
        return stream is done, a.copy_to_host(stream=stream)

    same, host = asyncio.run(wait())
    assert same and host.shape == (8,)
    with pytest.raises(RuntimeError, match="no running event loop"):
        cuda.stream().async_done()


def test_addresses_for_ctypes() -> None:
    stream, a = cuda.stream(), cuda.to_device(np.arange(8.0))
    assert stream.handle.value == int(stream.handle) == stream.__cuda_stream__()[1] != 0
    assert cuda.external_stream(stream.handle).handle == stream.handle
    assert a.device_ctypes_pointer.value == a.gpu_data.device_pointer_value.value == a.ptr
    assert a.gpu_data.device_ctypes_pointer.value == a.ptr
    assert a.gpu_data.size == a.alloc_size == 64
    assert cuda.to_device(np.zeros(0)).device_ctypes_pointer.value is None


def test_fences() -> None:
    def fences(x: Any) -> None:
        cuda.threadfence_block()
        x[0] += 1
        cuda.threadfence()
        x[0] += 1
        cuda.threadfence_system()

    kernel, x = cuda.jit(fences), cuda.to_device(np.zeros(1))
    kernel[1, 1](x)
    (text,) = kernel.inspect_asm().values()
    found = re.findall("PG_FENCE[_A-Z]*", text)
    assert found == ["PG_FENCE_GROUP", "PG_FENCE", "PG_FENCE_SYSTEM"]
    assert x.copy_to_host() == 2


def test_host_arrays() -> None:
    a = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    for make in (cuda.pinned_array_like, cuda.mapped_array_like):
        made = make(a)
        assert made.shape == (2, 3) and made.dtype == a.dtype and made.flags.f_contiguous
    b = np.arange(4.0)
    with cuda.mapped(b) as device:
        increment[1, 32](device, cuda.device_array_like(b))
    assert (b == -1).all()
    with cuda.mapped(b, a.ravel(order="K")) as devices:
        assert [d.shape for d in devices] == [(4,), (6,)]


def test_contexts() -> None:
    cuda.profile_start()
    cuda.profile_stop()
    with cuda.profiling():
        pass
    assert cuda.require_context(len) is len
    assert cuda.is_float16_supported()
    with cuda.gpus[0] as device:
        free, total = device.get_primary_context().get_memory_info()
        assert 0 < free <= total
        assert device.get_primary_context().device.id == 0


def test_atomics_of_nan(make: Any) -> None:
    """nanmax and nanmin replace a NaN, and ignore one that is given."""

    @pygpu.kernel
    def extremes(x, out, ints):
        i = cuda.grid(1)
        if i < x.size:
            cuda.atomic.nanmax(out, 0, x[i])
            cuda.atomic.nanmin(out, 1, x[i])
            cuda.atomic.nanmax(ints, 0, i)

    x = np.array([np.nan, 3, -7, np.nan, 5, 0.5], np.float32)
    out, ints = make(np.full(2, np.nan, np.float32)), make(np.zeros(1, np.int32))
    extremes[2, 3](make(x), out, ints)
    assert out.get().tolist() == [5, -7] and ints.get()[0] == 5


def test_constants_of_other_types(make: Any) -> None:
    """-1 beside an unsigned number makes a variable or a conditional expression signed; Numba's
    types wrap constants, NumPy's refuse them."""
    uint8, uint32 = signature.TYPES["uint8"], signature.TYPES["uint32"]

    @pygpu.kernel
    def choose(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[0, i] = x[i] if x[i] > 2 else -1
            found = x[i]
            if found > 3:
                found = -2
            out[1, i] = found
            out[2, i] = uint8(260) + uint32(-1)

    x, out = np.arange(5, dtype=np.uint32), make(np.zeros((3, 5), np.int64))
    choose[1, 32](make(x), out)
    assert out.get().tolist() == [[-1, -1, -1, 3, 4], [0, 1, 2, 3, -2], [3] * 5]

    @pygpu.kernel
    def large(x):
        x[0] = 300

    with pytest.raises(pygpu.KernelError, match=r"300 out of bounds for uint8(.|\n)*x\[0\] = 300"):
        large[1, 1](make(np.zeros(1, np.uint8)))


def test_dtypes_named_in_kernels(make: Any) -> None:
    @pygpu.kernel
    def halves(out):
        kind = np.dtype("float32")
        part = cuda.local.array(2, kind)
        part[0] = 0.5
        out[0] = part[0]

    out = make(np.zeros(1))
    halves[1, 1](out)
    assert out.get()[0] == 0.5

    def wrong(out):
        out[0] = cuda.local.array(2, dtype="int33")[0]

    with pytest.raises(pygpu.KernelError, match="Invalid NumPy dtype specified: 'int33'"):
        pygpu.kernel(wrong)[1, 1](out)


class Exported:
    """An array of a library that only has DLPack."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def test_arrays_with_dlpack_only() -> None:
    a, out = cuda.to_device(np.arange(4.0)), np.zeros(4)
    increment[1, 4](Exported(a), out)
    assert out.tolist() == [1, 2, 3, 4] and (a.copy_to_host() == -1).all()
    with pytest.raises(TypeError, match="argument a: a Exported cannot be an argument"):
        increment[1, 4](Exported(np.arange(4.0)), out)


def test_streams_with_the_protocol_only() -> None:
    class Foreign:
        def __init__(self, stream: Any) -> None:
            self.stream = stream

        def __cuda_stream__(self) -> tuple[int, int]:
            return 0, int(self.stream.handle)

    own = cuda.stream()
    passed = Foreign(own)
    a, known = cuda.to_device(np.arange(4.0), stream=passed), weakref.ref(passed)
    del passed
    assert known() is not None  # the array's memory still names the stream
    del a
    begin, end = cuda.event(), cuda.event()
    begin.record(Foreign(own))
    a = cuda.to_device(np.arange(4.0), stream=Foreign(own))
    end.record(Foreign(own))
    end.wait(Foreign(own))
    end.synchronize()
    assert begin.elapsed_time(end) >= 0 and a.copy_to_host().tolist() == [0, 1, 2, 3]
    out = np.zeros(4)
    increment[1, 4, Foreign(own)](a, out)
    assert out.tolist() == [1, 2, 3, 4] and (a.copy_to_host(stream=Foreign(own)) == -1).all()


def nothing(x):
    pass


def part(x):
    x[0] = cuda.threadIdx.w


def unknown_atomic(x):
    cuda.atomic.nand(x, 0, 1)


def negative(x):
    cuda.local.array((2, -1), np.float32)


def set_shape(x):
    x.shape = (2, 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cuda.jit("float64(float64[:])")(nothing), "must have void return type"),
        (lambda: cuda.jit(launch_bounds="x")(nothing), "launch_bounds must be positive ints"),
        (lambda: cuda.jit(max_registers=0)(nothing), "max_registers must be a positive int"),
        (lambda: cuda.jit(nothing).forall(2.5), r"forall: an int is needed, not 2\.5"),
        (lambda: cuda.jit(nothing).forall(-1), "negative task count: -1"),
        (lambda: cuda.device_array_like([1]), "device_array_like: an array is needed"),
        (lambda: list(cuda.device_array(4).split(0)), "split: sections of 0 items"),
        (lambda: cuda.random.create_xoroshiro128p_states(4, "x"), "seed must be an integer"),
        (lambda: cuda.random.init_xoroshiro128p_states(np.zeros(4), 1), "must be an array of"),
        (
            lambda: cuda.random.init_xoroshiro128p_states(
                cuda.random.create_xoroshiro128p_states(2, 1), 1, -1
            ),
            "subsequence_start cannot be negative",
        ),
        (lambda: cuda.jit(part)[1, 1](np.zeros(4)), "threadIdx has x, y and z, not 'w'"),
        (lambda: cuda.jit(unknown_atomic)[1, 1](np.zeros(4)), "no atomic.nand; there are add, and"),
        (lambda: cuda.jit(negative)[1, 1](np.zeros(4)), "cannot be negative: -1"),
        (lambda: cuda.jit(set_shape)[1, 1](np.zeros(4)), "attributes cannot be assigned"),
    ],
)
def test_misuse_names_the_argument(call: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_options_that_are_misspelt() -> None:
    def f(a):  # type: ignore[no-untyped-def]
        a[0] = 1

    decorators: list[tuple[Any, str, str]] = [
        (cuda.jit, "fastmaht", "cuda.jit: unknown option 'fastmaht'; did you mean 'fastmath'?"),
        (cuda.jit, "argtypes", "cuda.jit: .*; pass the signature as the first argument"),
        (cuda.jit, "sets", "cuda.jit: unknown option 'sets'; its options are cache, check, "),
        (pygpu.jit, "inlne", "pygpu.jit: .*; did you mean 'inline'?"),
        (pygpu.kernel, "sgnatures", "pygpu.kernel: .*; did you mean 'signatures'?"),
        (pygpu.vectorize, "identityy", "vectorize: .*; did you mean 'identity'?"),
        (
            functools.partial(pygpu.guvectorize, ["i4[:]"], "(n)"),
            "targett",
            "guvectorize: .*'target'",
        ),
    ]
    for decorator, name, message in decorators:
        with pytest.raises(TypeError, match=message.replace("?", r"\?")):
            decorator(**{name: True})
        if decorator in (cuda.jit, pygpu.jit):
            with pytest.raises(TypeError, match=message.replace("?", r"\?")):
                decorator(f, **{name: True})


def test_options_of_numba_without_effect() -> None:
    def f(x):  # type: ignore[no-untyped-def]
        return x

    ignored = {"opt": True, "cache": True, "lto": None, "forceinline": True, "inline": "always"}
    cuda.jit(f, lineinfo=True, shared_memory_carveout="MaxL1", **ignored)
    cuda.jit(device=True, **ignored)(f)
    pygpu.jit(nopython=True, nogil=True, parallel=True, error_model="numpy", boundscheck=False)(f)
    pygpu.vectorize(f, nopython=True, cache=True, boundscheck=True)


def test_host_functions_in_kernels_are_refused_at_the_call() -> None:
    """The message shows the user's line, not one of pygpu."""

    @cuda.jit
    def waits(a):
        cuda.synchronize()

    @cuda.jit
    def copies(a):
        a[0] = cuda.to_device(a)[0]

    @cuda.jit
    def launches(a):
        increment[1, 1](a, a)

    for kernel, text, line in (
        (waits, "pygpu.cuda.synchronize cannot be called in a kernel", "cuda.synchronize()"),
        (copies, "to_device cannot be called in a kernel", "a[0] = cuda.to_device(a)[0]"),
        (launches, "cannot launch kernels: launch it from the host", "increment[1, 1](a, a)"),
    ):
        with pytest.raises(pygpu.KernelError) as caught:
            kernel[1, 1](np.zeros(1))
        assert text in str(caught.value) and line in str(caught.value)
        assert __file__ in str(caught.value)
