"""The OpenCL backend: one device of one context."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from pygpu import _array, _opencl
from pygpu import _opencl as cl
from pygpu._array import GPUArray, KernelTable
from pygpu._opencl import DeferredAllocator, ImmediateAllocator, MemoryPool, SVMAllocator, SVMPool
from pygpu._src.codegen.dialect import OpenCLDialect
from pygpu._src.runtime import kernel_cache
from pygpu._src.runtime.backend import Backend, Compiled, Limits, call_allocator
from pygpu.constants import command_queue_properties, device_type
from pygpu.errors import RuntimeError as DriverRuntimeError

from . import kernel_binaries, quirks

_SLOT = "_pygpu_backends"
_OUT_OF_ORDER = command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
_OWN_ALLOCATORS = {DeferredAllocator, ImmediateAllocator, MemoryPool, SVMAllocator, SVMPool}
_CORRECTLY_ROUNDED = 1 << 7  # CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT

_CUT_LOOPS = (
    "this driver ends loops after 65535 rounds without an error, so results over many millions of "
    "items, and those of a program's own kernels, may be wrong; use another device"
)


def backend_of(obj: Any) -> OpenCLBackend:
    """Return the backend of a CommandQueue, or of the first device of a Context."""
    if isinstance(obj, cl.CommandQueue):
        context, device = obj.context, obj.device
    else:
        context, device = obj, obj.devices[0]
    backends = context.__dict__.get(_SLOT)
    if backends is None:
        backends = context.__dict__.setdefault(_SLOT, {})
    backend: OpenCLBackend | None = backends.get(device)
    if backend is None:
        backend = backends.setdefault(device, OpenCLBackend(context, device))
    if obj is not context:
        _array._cache_backend(obj, backend)
    return backend


class _Program(Compiled):
    def __init__(self, program: cl.Program) -> None:
        self.program = program

    def kernel(self, name: str) -> cl.Kernel:
        kernel: cl.Kernel = getattr(self.program, name)
        kernel._holds_nothing = True  # or dead arrays would keep their memory in use
        return kernel


def _limits(device: cl.Device) -> Limits:
    extensions = device.extensions.split()
    is_cpu = bool(device.type & device_type.CPU)
    short_loops = quirks.has(device, quirks.LOSES_LONG_LOOPS)
    nvidia = "cl_nv_device_attribute_query" in extensions
    warp = getattr(device, "warp_size_nv", 32) if nvidia else 32
    return Limits(
        group_size=device.max_work_group_size,
        local_bytes=device.local_mem_size,
        units=1024
        if short_loops
        else device.max_compute_units,  # so, more work-items share the work
        warp=1 if is_cpu else warp,
        fp64=bool(device.double_fp_config) or "cl_khr_fp64" in extensions,
        fp16="cl_khr_fp16" in extensions,
        int64_atomics="cl_khr_int64_base_atomics" in extensions,
        is_cpu=is_cpu,
        align=max(device.mem_base_addr_align // 8, 1),
        warps=nvidia and warp == 32 and device.compute_capability_major_nv >= 7,
        share=1 << (11 if short_loops else 15),
    )


class OpenCLBackend(Backend):
    """One device of an OpenCL context. Events are pygpu.Event objects."""

    name = "opencl"

    def __init__(self, context: cl.Context, device: cl.Device) -> None:
        if quirks.has(device, quirks.LOSES_LONG_LOOPS):
            warnings.warn(f"{device.name}: {_CUT_LOOPS}", RuntimeWarning, stacklevel=2)
        self.transforms = not quirks.has(device, quirks.MISCOMPILES_TRANSFORMS)
        self.rejection = not quirks.has(device, quirks.MISCOMPILES_REJECTION)
        self.context = context
        self.device = device
        self.limits = _limits(device)
        self.dialect = OpenCLDialect(self.limits)
        self.kernels: dict[Any, Any] = {}
        self.compiling: dict[Any, Any] = {}
        self.caches = weakref.WeakKeyDictionary()
        self._default_queue: cl.CommandQueue | None = None
        self._options: list[str] = []
        self._casts_bytes = not quirks.has(device, quirks.NO_CASTS_OF_BYTES)
        if device.single_fp_config & _CORRECTLY_ROUNDED:
            self._options = ["-cl-fp32-correctly-rounded-divide-sqrt"]
        self.pool = MemoryPool(ImmediateAllocator(self.default_queue))
        self.table = KernelTable(False, self.pool, kernel_cache.group_shape(self))
        self.table.context = context

    @property
    def default_queue(self) -> cl.CommandQueue:
        """Return a queue of the backend's own, for callers without one."""
        if self._default_queue is None:
            self._default_queue = cl.CommandQueue(self.context, self.device)
        return self._default_queue

    def __repr__(self) -> str:
        context = self.context.int_ptr
        return f"<OpenCL backend of {self.device.name!r}: {self.label}, context {context:#x}>"

    @property
    def label(self) -> str:
        platform = self.device.platform
        number, peers = cl.get_platforms().index(platform), platform.get_devices()
        if self.device not in peers:
            return f"a sub-device of opencl:{number}"
        return f"opencl:{number}:{peers.index(self.device)}"

    def allocate(
        self, nbytes: int, allocator: Callable[[int], Any] | None = None, queue: Any = None
    ) -> Any:
        if allocator is None or nbytes == 0:  # other allocators may refuse 0 bytes, as OpenCL does
            return self.pool(nbytes)
        data = call_allocator(allocator, nbytes)
        if type(getattr(allocator, "__self__", allocator)) in _OWN_ALLOCATORS:
            return data
        if type(data) is not int or data != 0:  # 0 is not memory: the program sets it later
            self.check_room("memory of the allocator", data, 0, nbytes)
        return data

    def check_room(self, name: str, data: Any, low: int, high: int) -> None:
        if not isinstance(data, (_opencl.MemoryObjectHolder, _opencl.SVMPointer)):
            raise TypeError(
                f"{name} must be a Buffer or shared virtual memory, not {type(data).__name__}"
            )
        if low < 0:
            raise ValueError(f"{name}: items lie before the start of the memory")
        if high > data.size:
            raise ValueError(
                f"{name}: items lie up to byte {high} of the memory, which has {data.size}"
            )

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
        if array.nbytes == 0:
            return None
        if isinstance(dest, cl.SVMPointer):
            return cl.enqueue_copy(
                queue,
                _svm(dest, offset, array.nbytes),
                array,
                is_blocking=blocking,
                wait_for=wait_for,
            )
        return cl.enqueue_copy(
            queue, dest, array, dst_offset=offset, is_blocking=blocking, wait_for=wait_for
        )

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
        if array.nbytes == 0:
            return None
        if isinstance(src, cl.SVMPointer):
            return cl.enqueue_copy(
                queue,
                array,
                _svm(src, offset, array.nbytes),
                is_blocking=blocking,
                wait_for=wait_for,
            )
        return cl.enqueue_copy(
            queue, array, src, src_offset=offset, is_blocking=blocking, wait_for=wait_for
        )

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
        if nbytes == 0:
            return None
        if isinstance(dest, cl.SVMPointer) and isinstance(src, cl.SVMPointer):
            return cl.enqueue_copy(
                queue,
                _svm(dest, dest_offset, nbytes),
                _svm(src, src_offset, nbytes),
                is_blocking=False,
                wait_for=wait_for,
            )
        if isinstance(dest, cl.SVMPointer) or isinstance(src, cl.SVMPointer):
            return kernel_cache.copy_bytes(
                self, queue, dest, dest_offset, src, src_offset, nbytes, wait_for=wait_for
            )
        return cl.enqueue_copy(
            queue,
            dest,
            src,
            byte_count=nbytes,
            dst_offset=dest_offset,
            src_offset=src_offset,
            wait_for=wait_for,
        )

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
        if nbytes == 0:
            return None
        if isinstance(dest, cl.SVMPointer):
            return cl.enqueue_svm_memfill(
                queue, _svm(dest, offset, nbytes), np.uint8(byte), nbytes, wait_for=wait_for
            )
        return cl.enqueue_fill_buffer(
            queue, dest, np.uint8(byte), offset, nbytes, wait_for=wait_for
        )

    def compile(self, source: str, options: Sequence[str] = (), searched: bool = False) -> Compiled:
        words = [*self._options, *options]
        prefix = self.dialect.prefix_of(source)
        text = source if self._casts_bytes else quirks.without_bytes(source)
        program = cl.Program(self.context, text)
        try:
            return _Program(kernel_binaries.build(program, source, prefix, words, self.device))
        except DriverRuntimeError as error:
            text = source[len(prefix or "") :]
            if self.limits.fp64 or not ("pg_f64" in text or "pg_c128" in text):
                raise
            raise TypeError(
                f"{self!r} has no double precision, which this operation on float64 or complex128 "
                "needs; convert operands with .astype(numpy.float32) first"
            ) from error

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
        groups = (groups,) if isinstance(groups, int) else tuple(groups)
        local = (group_size,) if isinstance(group_size, int) else tuple(group_size)
        return kernel(
            queue,
            tuple(n * size for n, size in zip(groups, local, strict=True)),
            local,
            *args,
            wait_for=wait_for,
            allow_empty_ndrange=True,
        )

    def synchronize(self, queue: Any) -> None:
        queue.finish()

    def event(self, queue: Any, wait_for: Sequence[Any] | None = None) -> Any:
        return cl.enqueue_marker(queue, wait_for=wait_for)

    def order(self, queue: Any, other: Any) -> Any:
        if queue == other and self.is_ordered(queue):
            return None
        marker = cl.enqueue_marker(other)
        other.flush()
        cl.enqueue_barrier(queue, wait_for=[marker])
        return marker

    def is_ordered(self, queue: Any) -> bool:
        if queue is not None and queue is self.table.ordered:
            return True
        try:
            return not queue.properties & _OUT_OF_ORDER
        except (AttributeError, TypeError):
            advice = "; make one: CommandQueue(context)" if isinstance(queue, cl.Context) else ""
            raise TypeError(
                f"queue must be a CommandQueue, not {type(queue).__name__}{advice}"
            ) from None

    def wait_list(self, queue: Any, operands: Iterable[Any]) -> list[Any] | None:
        events: list[Any] = []
        if ordered := self.is_ordered(queue):
            self.table.ordered = queue  # C handles the next such command
        for operand in operands:
            if operand._foreign or not ordered or operand.queue is not queue:
                events += operand.events
        return events or None

    def note_event(
        self, queue: Any, event: Any, written: Iterable[Any], read: Iterable[Any]
    ) -> None:
        if event is None:
            return
        ordered = self.is_ordered(queue)
        for operand in written:
            if ordered and operand.queue is queue:
                operand._set_event(event)
            else:
                operand._add_event(event)
        if not ordered:
            for operand in read:
                operand._add_event(event)


def _svm(pointer: Any, offset: int, nbytes: int) -> Any:
    """Return the part [offset, offset + nbytes) of shared memory."""
    if offset == 0 and pointer.size == nbytes:
        return pointer
    return cl.SVM(pointer.buf[offset : offset + nbytes])  # which counts as the memory it is in


_opencl._set_array_type(GPUArray)
_array._register(
    "opencl",
    copy=cl.enqueue_copy,
    fill=cl.enqueue_fill_buffer,
    zero_byte=np.uint8(0),
    shared_memory=_opencl.SVMPointer,
    pools=tuple(_OWN_ALLOCATORS),
)
