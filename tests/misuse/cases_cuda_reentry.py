"""CUDA: code of a program that runs in the middle of a call and takes away what the call uses.

The processes of these cases fill freed memory with a pattern (PYTHONMALLOC=debug).
"""

from __future__ import annotations

import ctypes
import functools
import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from cuda_env import ANY, Env, cuda
from harness import case, check, expect

import pygpu
from pygpu import _cuda
from pygpu.cuda.compiler import SourceModule

ONE = (1, 1, 1)


class Index:
    """An int that does something when it is read."""

    def __init__(self, value: int, act: Callable[[], object]) -> None:
        self.value, self.act = value, act

    def __index__(self) -> int:
        self.act()
        return self.value


class Truth:
    """False, after it did something."""

    def __init__(self, act: Callable[[], object]) -> None:
        self.act = act

    def __bool__(self) -> bool:
        self.act()
        return False


class Holder:
    """What other libraries' arrays look like."""

    gpudata: Any
    __cuda_array_interface__: dict[str, Any]


class Queue:
    """A stream of another library that does something when it is asked for its handle."""

    def __init__(self, act: Callable[[], object]) -> None:
        self.act = act

    def __cuda_stream__(self) -> tuple[int, int]:
        self.act()
        return 0, 0


class Last:
    """Does something when it goes."""

    def __init__(self, act: Callable[[], object]) -> None:
        self.act = act

    def __del__(self) -> None:
        self.act()


def holder(memory: Any) -> Holder:
    """An object whose attribute alone keeps the memory."""
    made = Holder()
    made.gpudata = memory
    return made


@case
def an_interface_is_emptied_while_its_stream_is_read(env: Env) -> None:
    memory = env.memory()
    interface: dict[str, Any] = {"shape": (64,), "typestr": "<f4", "version": 3}
    interface["data"] = (int(memory), bool(0))
    interface["stream"] = Index(1, interface.clear)
    array = Holder()
    array.__cuda_array_interface__ = interface
    env.add1(array, block=(64, 1, 1))
    check(np.array_equal(env.read(memory), env.host + 1), "another place was written")
    interface["data"] = (Index(int(memory), interface.clear), bool(0))
    cuda.memset_d8(array, 0, 4)
    check(not interface and env.read(memory, 1)[0] == 0, "another place was filled")


@case
def a_kernel_is_prepared_anew_while_its_sizes_are_read(env: Env) -> None:
    memory = env.memory()
    axpy = env.kernel("axpy")
    axpy.prepare("fPPi")
    again = functools.partial(axpy.prepare, "fPPi")
    for grid, block in (((Index(1, again), 1), ONE), (ONE, (Index(1, again), 1, 1))):
        axpy.prepared_call(grid, block, 1.0, memory, memory, 1)
    check(env.read(memory, 2).tolist() == [0, 1], "other arguments were used")


@case
def a_handlers_array_is_replaced_while_it_is_asked(env: Env) -> None:
    class Gone:
        @property
        def nbytes(self) -> int:
            handler.array = None
            raise AttributeError

    handler = cuda.In(Gone())
    with expect(TypeError, "array length of .*Gone"):
        handler.get_device_alloc()


@case
def memory_dropped_while_the_stream_is_asked(env: Env) -> None:
    host = np.ones(16, np.float32)
    source = env.memory(16)
    calls: list[Callable[[Any, Any], object]] = [
        lambda to, queue: cuda.memset_d8_async(to, 1, 64, queue),
        lambda to, queue: cuda.memcpy_htod_async(to, host, queue),
        lambda to, queue: cuda.memcpy_dtoh_async(host, to, queue),
        lambda to, queue: cuda.memcpy_dtod_async(to, source, 64, queue),
        lambda to, queue: cuda.memcpy_dtod_async(source, to, 64, queue),
    ]
    for call in calls:
        array = holder(env.memory(16))
        call(array, Queue(functools.partial(delattr, array, "gpudata")))
        array = holder(env.memory(16))
        with expect(cuda.LogicError, "already freed"):
            call(array, Queue(array.gpudata.free))
    texture = holder(env.memory(16))
    drop = Index(16, functools.partial(delattr, texture, "gpudata"))
    kind = cuda.dtype_to_array_format(np.float32)
    made = cuda.TextureObject(texture, format=kind, size=drop)
    check(made.resource.size == 64, "the texture has lost its memory")


@case
def memory_that_only_an_attribute_makes(env: Env) -> None:
    class Fresh:
        @property
        def gpudata(self) -> Any:
            return cuda.mem_alloc(64)

    host = np.zeros(16, np.float32)
    cuda.memset_d8(Fresh(), 1, 64)
    cuda.memcpy_htod(Fresh(), host)
    cuda.memcpy_dtoh(host, Fresh())
    cuda.memcpy_dtod(env.memory(16), Fresh(), 64)


@case
def memory_freed_while_it_is_exported(env: Env) -> None:
    for use in (
        lambda m: m.__dlpack__(copy=Truth(m.free)),
        lambda m: m.__dlpack__(stream=Index(1, m.free)),
        lambda m: m.as_buffer(Index(4, m.free)),
    ):
        for memory in (env.memory(), cuda.managed_zeros(64, np.float32).base):
            with expect(cuda.LogicError, "already freed"):
                use(memory)


@case
def an_array_freed_while_its_index_is_read(env: Env) -> None:
    kind = cuda.ArrayDescriptor()
    kind.width, kind.num_channels, kind.format = 16, 1, cuda.dtype_to_array_format(np.float32)
    for call in (
        lambda a, at: cuda.memcpy_htoa(a, at, env.host[:4]),
        lambda a, at: cuda.memcpy_atoh(env.host[:4].copy(), a, at),
        lambda a, at: cuda.memcpy_dtoa(a, at, env.memory(), 16),
        lambda a, at: cuda.memcpy_atod(env.memory(), a, at, 16),
    ):
        array = cuda.Array(kind)
        with expect(cuda.LogicError, "already freed"):
            call(array, Index(0, array.free))


@case
def weak_references_to_everything(env: Env) -> None:
    add1 = env.kernel("add1")
    add1.prepare("P")
    memory = env.memory()
    kind = cuda.ArrayDescriptor()
    kind.width, kind.num_channels, kind.format = 16, 1, cuda.dtype_to_array_format(np.float32)
    makers: list[Callable[[], Any]] = [
        lambda: add1.prepared_timed_call(ONE, ONE, memory),
        lambda: memory.as_buffer(4).obj,
        lambda: cuda.Array(kind),
        lambda: cuda.DeviceMemoryPool().allocate(4),
        lambda: cuda.PageLockedMemoryPool().allocate(4, np.uint8).base,
        lambda: cuda.pagelocked_zeros(4, np.uint8).base,
        lambda: cuda.managed_zeros(4, np.uint8).base,
        lambda: cuda.mem_alloc_async(4, env.stream),
        cuda.ArrayDescriptor, cuda.Memcpy2D, cuda.Event, cuda.Stream, cuda.Graph, cuda.Linker,
    ]  # fmt: skip
    for make in makers:
        collected: list[Any] = []
        thing = make()
        weak = weakref.ref(thing, collected.append)
        del thing
        gc.collect()
        check(weak() is None and len(collected) == 1, f"{make}: the reference does not know")


@case
def waits_while_a_stream_goes(env: Env) -> None:
    class Slotted(cuda.Stream):
        __slots__ = ("last",)

    wait = cuda.Context.synchronize
    stream = cuda.Stream()
    weak = weakref.ref(stream, lambda _: wait())
    del stream
    check(weak() is None, "the stream is still there")
    slotted = Slotted()
    slotted.last = Last(wait)
    del slotted
    pool = type("Pool", (cuda.DeviceMemoryPool,), {"__slots__": ("last",)})()
    pool.allocate(10)
    pool.last = Last(env.context.synchronize)

    def fill() -> None:
        with expect(pygpu.MemoryError):
            cuda.mem_alloc(1 << 60)

    pool.last = Last(fill)
    del pool
    wait()


@case
def a_context_is_asked_for_while_its_object_goes(env: Env) -> None:
    found: list[Any] = []
    library = ctypes.CDLL(_cuda._library())
    handle = ctypes.c_void_p()
    check(library.cuCtxCreate_v2(ctypes.byref(handle), 0, 0) == 0, "no context")
    context = cuda.Context.get_current()  # of another library, as far as this package can tell
    weak = weakref.ref(context, lambda _: found.append(cuda.Context.get_current()))
    del context
    gc.collect()
    check(weak() is not None, "it went, though it is current")
    second = ctypes.c_void_p()
    check(library.cuCtxCreate_v2(ctypes.byref(second), 0, 0) == 0, "no second context")
    cuda.Context.get_current()  # which takes the place of the first
    check(weak() is None and found[0].handle == second.value, "the object is another one's")
    found.clear()
    library.cuCtxDestroy_v2(second)
    library.cuCtxDestroy_v2(handle)


@case
def a_stream_of_no_bytes_is_let_go(env: Env) -> None:
    stream = cuda.Stream()
    weak = weakref.ref(stream)
    for _ in range(3):
        cuda.mem_alloc_async(0, stream)
    del stream
    check(weak() is None, "allocations of no bytes keep their stream")


@case
def a_box_forgets_the_memory_of_before(env: Env) -> None:
    box = cuda.Memcpy2D()
    old, new, source = np.zeros(1 << 20, np.uint8), np.zeros(64, np.uint8), np.ones(64, np.uint8)
    box.set_src_host(source)
    box.set_dst_host(old)
    box.set_dst_unified(new)
    box.dst_memory_type = cuda.memory_type.HOST
    box.width_in_bytes, box.height = 64, 1
    box()
    check(new.all() and not old.any(), "the memory of before was written")


@case
def python_objects_are_no_memory(env: Env) -> None:
    memory = env.memory()
    objects = memoryview(np.array([object() for _ in range(4)]))
    raw = (ctypes.py_object * 4)(*[object() for _ in range(4)])
    fields = np.zeros(4, [("first", "f4"), ("Other", "i4")])
    for items in (objects, raw):
        box = cuda.Memcpy2D()
        for call in (
            lambda items=items: cuda.memcpy_dtoh(items, memory),
            lambda items=items: cuda.memcpy_htod(memory, items),
            lambda items=items, box=box: box.set_dst_host(items),
        ):
            with expect(TypeError, "Python objects"):
                call()
    cuda.memcpy_dtoh(memoryview(fields), memory)
    check(fields["first"][1] == 2, "names of fields are not items")


@case
def keywords_that_are_no_strings(env: Env) -> None:
    call = functools.partial(cuda.TextureObject)
    call.__setstate__((cuda.TextureObject, (), {1: 2}, {}))
    with expect(TypeError, "strings"):
        call()


@case
def names_and_handles_that_are_none(env: Env) -> None:
    check(not hasattr(env.device, "\ud800"), "a name that no encoding has")
    with expect(cuda.LogicError, "not a CUstream"):
        cuda.Stream.from_handle(12345)


def together(*work: Callable[[], object]) -> list[BaseException | None]:
    """Runs all at once; what each raised."""
    ends: list[BaseException | None] = [None] * len(work)
    start = threading.Barrier(len(work))

    def run(k: int) -> None:
        start.wait()
        try:
            work[k]()
        except ANY as error:
            ends[k] = error

    threads = [threading.Thread(target=run, args=(k,)) for k in range(len(work))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return ends


def slow(pause: threading.Event) -> Callable[[], object]:
    """For a stream: while it waits, calls that may be held up give up the GIL."""
    return functools.partial(pause.wait, 10)


@case
def threads_end_one_capture(env: Env) -> None:
    for _ in range(20):
        pause, busy, captured = threading.Event(), cuda.Stream(), cuda.Stream()
        memory = env.memory()
        cuda.launch_host_func(busy, slow(pause))
        captured.begin_capture()
        env.add1(memory, block=ONE, stream=captured)
        ends = together(*[captured.end_capture] * 4)
        pause.set()
        busy.synchronize()
        check(sum(end is None for end in ends) == 1, f"it ended {ends}")
        check(not captured.is_capturing, "it goes on")


@case
def threads_detach_one_context(env: Env) -> None:
    for _ in range(20):
        context = env.device.make_context()
        stream, host = cuda.Stream(), np.zeros(1 << 16, np.uint8)
        memory = cuda.mem_alloc(1 << 16)
        cuda.memcpy_htod_async(memory, host, stream)
        cuda.Context.pop()
        ends = together(*[context.detach] * 4)
        check(sum(end is None for end in ends) == 1, f"it ended {ends}")


@case
def threads_ask_for_blocks(env: Env) -> None:
    add1 = env.kernel("add1")

    def ask(bytes_: int) -> None:
        for _ in range(50):
            seen: set[int] = set()

            def shared(threads: int, seen: set[int] = seen) -> int:
                seen.add(sum(range(200)))  # let others run
                return bytes_

            add1.suggest_block(shared)
            check(len(seen) == 1, "its function was not asked")

    ends = together(*[functools.partial(ask, n) for n in (0, 64, 128, 256)])
    check(not any(ends), f"{ends}")


@case
def memory_goes_while_later_arguments_are_read(env: Env) -> None:
    module = SourceModule("__global__ void put(int *a, int n) { *a = n; }")
    for prepared in (False, True):
        put = module.get_function("put")
        if prepared:
            put.prepare("Pi")
        memory = cuda.mem_alloc(1 << 22)
        with expect(pygpu.LogicError, "was freed"):
            if prepared:
                put.prepared_call((1, 1), ONE, memory, Index(3, memory.free))
            else:
                put(memory, Index(3, memory.free), block=ONE)
        holder, kept = Holder(), cuda.mem_alloc(1 << 22)
        holder.gpudata = kept
        weak = weakref.ref(kept)
        del kept
        put = module.get_function("put")
        put(holder, Index(3, functools.partial(setattr, holder, "gpudata", None)), block=ONE)
        env.context.synchronize()
        gc.collect()
        check(weak() is None, "the memory was kept for good")
