"""The CUDA backend: one context."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu import _array, _cuda, errors
from pygpu import _cuda as driver
from pygpu._array import GPUArray, KernelTable
from pygpu._cuda import DeviceMemoryPool
from pygpu._src.codegen.dialect import CUDADialect
from pygpu._src.runtime import kernel_cache
from pygpu._src.runtime.backend import Backend, Compiled, Limits, call_allocator
from pygpu._src.runtime.cuda.errors import is_unknown_address
from pygpu._src.util import log
from pygpu._src.util.memoize import FirstArgCache

from . import kernel_images, recipes, source_module

if TYPE_CHECKING:
    from pygpu._src.runtime.libraries.handles import OpenHandles

_backends = FirstArgCache()
# The last lookup. Weak, because a context owns its backend and both are freed together.
_recent: tuple[weakref.ref[Any], weakref.ref[CUDABackend]] | None = None
_HERE = nullcontext()
_DISABLE_TIMING = 2  # event_flags.DISABLE_TIMING; the enumerations are loaded on demand
_STACK_SIZE = 0  # limit.STACK_SIZE
_FIRST_PAGES = 65536  # [bytes]: never allocated


def backend_of(obj: Any) -> CUDABackend:
    """Return the backend of a Context; of the current context for a Stream or None."""
    global _recent
    context = obj if isinstance(obj, _cuda.Context) else _cuda.Context.get_current()
    if context is None:
        context = _default_context()
    recent = _recent
    if recent is not None and recent[0]() is context:
        last = recent[1]()
        if last is not None:
            return last
    results = _backends.results(context)
    backend: CUDABackend | None = results.get("backend")
    if backend is None:
        backend = results.setdefault("backend", CUDABackend(context))
    _recent = weakref.ref(context), weakref.ref(backend)
    _array._cache_context(context, backend)
    return backend


def _default_context() -> Any:
    """If no context is current, use the one that an allocation would: the first device's primary
    context."""
    driver.mem_alloc(1)
    context = _cuda.Context.get_current()
    if context is None:
        raise errors.LogicError(
            "no CUDA context is current; `import pygpu.cuda.autoinit` makes one"
        )
    return context


class _Module(Compiled):
    def __init__(self, module: Any, from_cache: bool = False) -> None:
        self.module = module
        self.from_cache = from_cache

    def kernel(self, name: str) -> Any:
        return self.module.get_function(name)


def _limits(device: Any) -> Limits:
    from pygpu._src.runtime.cuda.enums import device_attribute as attribute

    return Limits(
        group_size=device.get_attribute(attribute.MAX_THREADS_PER_BLOCK),
        local_bytes=device.get_attribute(attribute.MAX_SHARED_MEMORY_PER_BLOCK),
        units=device.get_attribute(attribute.MULTIPROCESSOR_COUNT),
        warp=device.get_attribute(attribute.WARP_SIZE),
        fp64=True,
        fp16=True,
        int64_atomics=True,
        is_cpu=False,
        align=256,
        warps=True,
    )


_DEFAULT_STREAM = 1  # CU_STREAM_LEGACY
_NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING
_MAPS_HOST_MEMORY = 19  # CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY
_MAPPED = 2  # CU_MEMHOSTALLOC_DEVICEMAP


class CUDABackend(Backend):
    """One CUDA context. The queue None is the default stream; commands have no events."""

    name = "cuda"

    def __init__(self, context: Any) -> None:
        self.context = context
        with _current(context):
            self.device = _cuda.Context.get_device()
        self.limits = _limits(self.device)
        self.dialect: CUDADialect = CUDADialect(self.limits)
        self.kernels: dict[Any, Any] = {}
        self.compiling: dict[Any, Any] = {}
        self.caches = weakref.WeakKeyDictionary()
        self.libraries: OpenHandles | None = None  # made by libraries.handles at the first call
        self.pool = DeviceMemoryPool()
        self.peer_stream: Any = None  # for copies to other devices
        self._flags: list[Any] = []  # the memory of all host_flags()
        self._default_stream: Any = None  # as an object, for wait()
        self.table = KernelTable(True, self.pool.allocate, kernel_cache.group_shape(self))

    def __repr__(self) -> str:
        context = self.context.handle
        return f"<CUDA backend of {self.device.name()!r}: {self.label}, context {context:#x}>"

    @property
    def label(self) -> str:
        kind = _cuda.Device
        number = next(i for i in range(kind.count()) if kind(i) == self.device)
        return f"cuda:{number}"

    def allocate(
        self, nbytes: int, allocator: Callable[[int], Any] | None = None, queue: Any = None
    ) -> Any:
        if allocator is None or nbytes == 0:  # other allocators may refuse 0 bytes
            return self.pool.allocate(nbytes)
        data = call_allocator(allocator, nbytes)
        if type(getattr(allocator, "__self__", allocator)) is not DeviceMemoryPool:
            self.check_room("memory of the allocator", data, 0, nbytes)
        return data

    def check_room(self, name: str, data: Any, low: int, high: int) -> None:
        # All of it must be in one allocation; the driver does not know some addresses.
        try:
            start, size = _cuda.mem_get_address_range(data)
        except TypeError:
            if hasattr(data, "__int__") and not hasattr(data, "__float__"):
                return self.check_room(name, int(data), low, high)  # a program's own memory class
            raise TypeError(
                f"{name} must be device memory or an address of it, not {type(data).__name__}"
            ) from None
        except errors.LogicError as error:
            if isinstance(data, _cuda.DeviceAllocation) or not is_unknown_address(error):
                raise
            if 0 < int(data) < _FIRST_PAGES:
                raise ValueError(f"{name}: {int(data):#x} is not an address of memory") from None
            return  # perhaps memory mapped by someone else; 0: set later
        address = int(data)
        offset = address - start
        if offset + low < 0 or offset + high > size:
            # If several allocations were mapped next to each other, the driver reports only one.
            allocation = None
            if 0 < address + low < address + high < 1 << 64:
                allocation = _cuda._memory_range(address + low, high - low)
            if allocation is not None:
                start, size, _ = allocation
                offset = address - start
        if offset + low < 0 or offset + high > size:
            raise ValueError(
                f"{name}: items lie from byte {offset + low} to byte {offset + high} of the "
                f"allocation, which has {size}"
            )

    def _home(self, queue: Any) -> AbstractContextManager[None]:
        """In the block, None means the default stream that this backend's kernels use: each
        context has its own, and another context may be current."""
        if queue is not None or _cuda.Context.get_current() is self.context:
            return _HERE
        return _current(self.context)

    def to_device(
        self,
        queue: Any,
        dest: Any,
        offset: int,
        array: np.ndarray,
        *,
        blocking: bool = True,
        wait_for: Sequence[Any] | None = None,
    ) -> Any:
        if array.nbytes:
            where = _at(dest, offset, queue)
            with self._home(queue):
                if blocking and queue is None:
                    driver.memcpy_htod(where, array)
                else:
                    driver.memcpy_htod_async(where, array, queue)
                    if blocking:
                        self.synchronize(queue)
        return None

    def to_host(
        self,
        queue: Any,
        array: np.ndarray,
        src: Any,
        offset: int,
        *,
        blocking: bool = True,
        wait_for: Sequence[Any] | None = None,
    ) -> Any:
        if array.nbytes:
            where = _at(src, offset, queue)
            with self._home(queue):
                if blocking and queue is None:
                    driver.memcpy_dtoh(array, where)
                else:
                    driver.memcpy_dtoh_async(array, where, queue)
                    if blocking:
                        self.synchronize(queue)
        return None

    def copy(
        self,
        queue: Any,
        dest: Any,
        dest_offset: int,
        src: Any,
        src_offset: int,
        nbytes: int,
        *,
        wait_for: Sequence[Any] | None = None,
    ) -> Any:
        if nbytes:
            to, start = _at(dest, dest_offset, queue), _at(src, src_offset, queue)
            with self._home(queue):
                driver.memcpy_dtod_async(to, start, nbytes, queue)
        return None

    def copy_to_peer(
        self,
        queue: Any,
        other: CUDABackend,
        other_queue: Any,
        dest: Any,
        src: Any,
        offset: int,
        nbytes: int,
    ) -> None:
        """Copy from memory *src* + offset of this context to *dest* of another one.

        Both streams wait for the copy, and the copy waits for their current work: the source's
        memory is reused in the order of its stream, and *dest* may be a block that the other
        stream still uses. The copy has its own stream, because the driver makes copies on the
        default streams of two devices wait for all work of both."""
        with _current(other.context):
            before = other.event(other_queue)
        with _current(self.context):
            if self.peer_stream is None:
                self.peer_stream = driver.Stream(_NON_BLOCKING)
            stream, own = self.peer_stream, self._stream(queue)
            stream.wait_for_event(self.event(queue))
            stream.wait_for_event(before)
            where = _at(src, offset, queue)
            contexts = other.context, self.context
            driver.memcpy_peer_async(dest, where, nbytes, *contexts, stream)
            done = self.event(stream)
            own.wait_for_event(done)
        with _current(other.context):
            other._stream(other_queue).wait_for_event(done)

    def _stream(self, queue: Any) -> Any:
        """Return the Stream object, also for the default stream of the current context."""
        return driver.Stream.from_handle(_DEFAULT_STREAM) if queue is None else queue

    def fill(
        self,
        queue: Any,
        dest: Any,
        offset: int,
        nbytes: int,
        byte: int = 0,
        *,
        wait_for: Sequence[Any] | None = None,
    ) -> Any:
        if nbytes:
            with self._home(queue):
                driver.memset_d8_async(_at(dest, offset, queue), byte, nbytes, queue)
        return None

    def host_flags(self) -> tuple[Any, np.ndarray] | None:
        if not self.device.get_attribute(_MAPS_HOST_MEMORY):
            return None
        with _current(self.context):
            flags = driver.pagelocked_zeros(2, np.int64, mem_flags=_MAPPED)
            memory: Any = flags.base
            self._flags.append(memory)  # kernels may write to one after its owner is gone
            # Not *flags*: the collector does not look into NumPy's arrays, and would not find that
            # only this backend holds the context.
            shared: Any = (ctypes.c_int64 * 2).from_address(flags.ctypes.data)
            return memory.get_device_pointer(), np.frombuffer(shared, np.int64)

    def need_stack(self, size: int) -> None:
        """Set the stack size of threads to at least *size* bytes."""
        with _current(self.context):
            if driver.Context.get_limit(_STACK_SIZE) < size:
                driver.Context.set_limit(_STACK_SIZE, size)

    def _entry(self, source: str, options: Sequence[str]) -> tuple[Any, str] | None:
        """Return the cache on disk and the key in it, None for a source that is not cached so."""
        prefix, store = self.dialect.prefix_of(source), source_module._store(None)
        if prefix is None or store is None:
            return None
        text, capability = source[len(prefix) :], self.device.compute_capability()
        key = kernel_images.key_of(prefix, text, options, capability)
        return None if key is None else (store, key)

    def find(self, source: str, options: Sequence[str]) -> Compiled | None:
        with _current(self.context):
            entry = self._entry(source, options)
            if entry is None:
                return None
            module = kernel_images.find(*entry)
            log.cache_lookup(module is not None, source)
        return None if module is None else _Module(module, True)

    def compile(self, source: str, options: Sequence[str] = (), searched: bool = False) -> Compiled:
        found = None if searched else self.find(source, options)
        if found is not None:
            return found
        words = source_module.known_options(options)
        with _current(self.context):
            entry = self._entry(source, options)
            heads = self.dialect.declarations(source)
            if entry is None:
                made = source_module.SourceModule(source, options=words, no_extern_c=True)
                module, declared = made.module, heads
            else:
                store, key = entry
                result = source_module.compile_generated(source, words)
                module = source_module._load(result, source)
                image = result.cubin or result.ptx or b""
                prefix = self.dialect.prefix_of(source) or ""
                declared = kernel_images.keep(store, key, image, prefix, heads)
                recipes.record_generated(store, prefix, source[len(prefix) :], options, heads)
        if declared is not None:
            module._set_source(declared)
        return _Module(module)

    def launch(
        self,
        kernel: Any,
        queue: Any,
        groups: int | tuple[int, ...],
        group_size: int | tuple[int, ...],
        args: Sequence[Any],
        *,
        wait_for: Sequence[Any] | None = None,
    ) -> Any:
        grid = (groups,) if isinstance(groups, int) else tuple(groups)
        if all(grid):
            kernel(*args, block=group_size, grid=grid, stream=queue)
        return None

    def synchronize(self, queue: Any) -> None:
        if queue is None:
            with _current(self.context):
                _cuda.Context.synchronize()
        else:
            queue.synchronize()

    def wait(self, queue: Any) -> None:
        if queue is not None:
            queue.synchronize()
            return
        if self._default_stream is None:
            self._default_stream = driver.Stream.from_handle(_DEFAULT_STREAM)
        with self._home(queue):
            self._default_stream.synchronize()

    def event(self, queue: Any, wait_for: Sequence[Any] | None = None) -> Any:
        with self._home(queue):
            return driver.Event(_DISABLE_TIMING).record(queue)

    def order(self, queue: Any, other: Any) -> Any:
        if queue is other:
            return None
        event = self.event(other)
        if queue is None:
            with _current(self.context):
                queue = self._stream(None)
        queue.wait_for_event(event)
        return event

    def is_ordered(self, queue: Any) -> bool:
        return True

    def wait_list(self, queue: Any, operands: Iterable[Any]) -> None:
        for operand in operands:
            if operand.queue is not queue:
                self.order(queue, operand.queue)

    def note_event(
        self, queue: Any, event: Any, written: Iterable[Any], read: Iterable[Any]
    ) -> None:
        """Do nothing: the operands' streams order the work on them."""


def _at(memory: Any, offset: int, queue: Any) -> Any:
    """Return a pointer into a memory: the object itself if the offset is 0, so that its size stays
    known and its uses are tracked."""
    if offset == 0:
        return memory
    if isinstance(memory, _cuda.PooledDeviceAllocation):
        return memory._address(queue) + offset
    return int(memory) + offset


@contextmanager
def _current(context: Any) -> Iterator[None]:
    """Make the context current in the block."""
    if _cuda.Context.get_current() is context:
        yield
        return
    context.push()
    try:
        yield
    finally:
        _cuda.Context.pop()


_cuda._set_array_type(GPUArray)
_array._register(
    "cuda",
    current_context=_cuda.Context.get_current,
    to_device=driver.memcpy_htod,
    to_host=driver.memcpy_dtoh,
    fill=driver.memset_d8_async,
    copy=driver.memcpy_dtod_async,
    address_range=_cuda.mem_get_address_range,
    pools=(DeviceMemoryPool,),
)
