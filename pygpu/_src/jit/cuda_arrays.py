"""Devices and device arrays under the names of ``numba.cuda``."""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from pygpu import _cuda
from pygpu import _cuda as driver
from pygpu._src.array import foreign_memory, layout
from pygpu._src.array.cuda_array import GPUArray
from pygpu._src.codegen import dtypes
from pygpu._src.runtime.backends import backend_of
from pygpu._src.runtime.cuda import enums
from pygpu._src.runtime.cuda.streams import (
    Handle,
    default_stream,
    event,
    event_elapsed_time,
    external_stream,
    legacy_default_stream,
    per_thread_default_stream,
    stream,
    stream_of,
)
from pygpu._src.util.public import publish

from .decorators.arguments import In, InOut, Out
from .ipc_arrays import IpcArrayHandle, IpcHandle, ipc_handle, open_ipc_array

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = [
    "DeviceNDArray",
    "In",
    "InOut",
    "Out",
    "as_cuda_array",
    "close",
    "current_context",
    "default_stream",
    "defer_cleanup",
    "detect",
    "device_array",
    "device_array_like",
    "event",
    "event_elapsed_time",
    "external_stream",
    "from_cuda_array_interface",
    "get_current_device",
    "gpus",
    "is_available",
    "is_cuda_array",
    "is_float16_supported",
    "legacy_default_stream",
    "list_devices",
    "managed_array",
    "mapped",
    "mapped_array",
    "mapped_array_like",
    "open_ipc_array",
    "per_thread_default_stream",
    "pinned",
    "pinned_array",
    "pinned_array_like",
    "profile_start",
    "profile_stop",
    "profiling",
    "require_context",
    "select_device",
    "stream",
    "synchronize",
    "to_device",
]


def _dtype(given: Any, call: str) -> np.dtype[Any]:
    """Return the dtype for a dtype, NumPy's scalar type, its name, or a type of a signature such
    as float32."""
    return dtypes.native(given if isinstance(given, type) else getattr(given, "dtype", given), call)


class MemoryPointer(NamedTuple):
    """The device address of an array, and its size [bytes]."""

    device_pointer_value: Handle
    size: int

    @property
    def device_ctypes_pointer(self) -> ctypes.c_void_p:
        """The address for functions of other libraries that are called with ctypes."""
        return ctypes.c_void_p(self.device_pointer_value)

    @property
    def device_pointer(self) -> Handle:
        """The address as an int."""
        return self.device_pointer_value


class DeviceNDArray(GPUArray):
    """A device array as in ``numba.cuda``: a GPUArray with copy_to_host() and copy_to_device(),
    whose single items are host numbers."""

    _gives_records = False  # whether single records are views, as Numba's are

    def copy_to_host(self, ary: np.ndarray | np.void | None = None, stream: Any = 0) -> np.ndarray:
        """Return the contents as a host array, *ary* or a new one; for a record, *ary* may be one.
        With a stream, it does not wait."""
        stream = stream_of(stream, "copy_to_host")
        if isinstance(ary, np.void):
            found = self._get(None, stream, True, "copy_to_host")[0]
            for name in self.dtype.names or ():
                ary[name] = found[()][name]
            return ary  # type: ignore[return-value]
        if ary is not None and not isinstance(ary, np.ndarray):
            raise TypeError(f"copy_to_host: ary must be an ndarray, not {type(ary).__name__}")
        if ary is not None and ary.shape != self.shape:
            raise ValueError(f"copy_to_host: incompatible shape: {ary.shape} for {self.shape}")
        if ary is not None and not ary.flags.writeable:
            raise ValueError("copy_to_host: the array is not writable")
        return self._get(ary, stream, stream is None, "copy_to_host")[0]

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        """Copy from a host or device array of the same shape."""
        stream = stream_of(stream, "copy_to_device")
        if isinstance(ary, GPUArray):
            if ary.shape != self.shape:
                raise ValueError(f"copy_to_device: incompatible shape: {ary.shape}")
            self._copy_from(ary, stream)
            return
        host = np.asarray(ary)
        if host.shape != self.shape:
            raise ValueError(f"copy_to_device: incompatible shape: {host.shape} for {self.shape}")
        host = np.asarray(host, self.dtype)
        self._set(host, stream, stream is None, "copy_to_device")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """Return a copy on the host, as Numba's arrays do for NumPy."""
        if copy is False:
            raise ValueError(
                "`copy=False` is not possible: NumPy cannot see an array on a device without a copy"
            )
        host = self._get(None, None, True)[0]
        return host if dtype is None else host.astype(dtype, copy=False)

    @property
    def gpu_data(self) -> MemoryPointer:
        """Address and size of the contents."""
        return MemoryPointer(Handle(self.ptr if self.size else 0), self.nbytes)

    @property
    def device_ctypes_pointer(self) -> ctypes.c_void_p:
        """The address of the first item, for other libraries' functions called with ctypes."""
        return self.gpu_data.device_ctypes_pointer

    def is_c_contiguous(self) -> bool:
        """Whether the items are stored in C order without gaps."""
        return bool(self._c_contiguous)

    def is_f_contiguous(self) -> bool:
        """Whether the items are stored in Fortran order without gaps."""
        return bool(self._f_contiguous)

    @property
    def alloc_size(self) -> int:
        """The size of the array in bytes."""
        return int(self.nbytes)

    def setitem(
        self, subscript: Any, value: Any, queue: Any = None, wait_for: Any = None, stream: Any = 0
    ) -> Any:
        """``array[subscript] = value``, on a stream if one is given."""
        stream = stream_of(stream, "setitem")
        return super().setitem(subscript, value, queue if stream is None else stream, wait_for)

    def get_ipc_handle(self) -> Any:
        """Return a handle with which another process can open the array. Raises a driver error for
        memory that cannot be shared."""
        desc = {"shape": self.shape, "dtype": self.dtype, "strides": self.strides}
        return IpcArrayHandle(ipc_handle(self.gpu_data, self), desc)

    def getitem(self, item: Any, stream: Any = 0) -> Any:
        """``array[item]``"""
        return self[item]

    def __getitem__(self, item: Any) -> Any:
        found = super().__getitem__(item)
        if getattr(found, "shape", None) == ():
            if self._gives_records and found.dtype.names:
                return found
            return found.get()[()]
        return found

    def bind(self, stream: Any = 0) -> Self:
        """Return a view of the array whose operations are queued on a stream."""
        bound: Self = self._on_queue(stream_of(stream, "bind"), None)
        return bound

    def split(self, section: int, stream: Any = 0) -> Iterator[Any]:
        """Yield views of *section* items each along the only axis."""
        if self.ndim != 1:
            raise ValueError("split: arrays of one dimension only")
        if section < 1:
            raise ValueError(f"split: sections of {section} items; at least 1 is needed")
        for begin in range(0, self.size, section):
            yield self[begin : begin + section]


IpcHandle.array_class = DeviceNDArray


def to_device(obj: Any, stream: Any = 0, copy: bool = True, to: Any = None) -> Any:
    """Copy a host array to the device; an array that is already there (with
    ``__cuda_array_interface__``) is not copied, as in Numba. stream: do not wait. copy=False:
    uninitialized memory. to: a device array to copy to."""
    stream = stream_of(stream, "to_device")
    if to is not None and not isinstance(to, DeviceNDArray):
        raise TypeError(f"to_device: to must be a device array, not {type(to).__name__}")
    if isinstance(obj, GPUArray) and to is None:
        return obj
    if to is None and hasattr(obj, "__cuda_array_interface__"):
        return as_cuda_array(obj)
    host = np.asarray(obj)
    if to is None:
        order = "F" if host.flags.f_contiguous and not host.flags.c_contiguous else "C"
        to = DeviceNDArray(host.shape, host.dtype, order=order)
        if not copy:
            return to
    if host.size:
        to._set(host, stream, stream is None, "to_device")
    return to


def device_array(
    shape: Any,
    dtype: DTypeLike = np.float64,
    strides: Sequence[int] | None = None,
    order: str = "C",
    stream: Any = 0,
) -> DeviceNDArray:
    """A new, uninitialized device array. stream: of its operations."""
    stream = stream_of(stream, "device_array")
    made = DeviceNDArray(shape, _dtype(dtype, "device_array"), strides=strides, order=order)
    return made if stream is None else made.bind(stream)


def device_array_like(ary: Any, stream: Any = 0) -> DeviceNDArray:
    """Make a device array with the shape, dtype and order of *ary*: without gaps, its axes in the
    order of their strides."""
    if not hasattr(ary, "strides"):
        raise TypeError(f"device_array_like: an array is needed, not {type(ary).__name__}")
    return device_array(ary.shape, ary.dtype, _strides_like(ary), stream=stream)


def _strides_like(ary: Any) -> tuple[int, ...] | None:
    """Return the strides of an array without gaps whose axes are ordered like those of *ary*; None
    for C order."""
    shape, strides, itemsize = ary.shape, ary.strides, ary.dtype.itemsize
    if prod(shape) == 0 or 0 in strides or layout.flags(shape, strides, itemsize)[0]:
        return None
    found = [0] * len(shape)
    step = itemsize
    for axis in sorted(range(len(shape)), key=lambda i: (abs(strides[i]), -i)):
        found[axis] = step
        step *= shape[axis]
    return tuple(found)


def pinned_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C"
) -> np.ndarray:
    """A host array in page-locked memory."""
    backend_of(None)
    if strides is not None:
        raise NotImplementedError(
            "pinned_array: strides= is not supported; make a view of the array"
        )
    found: np.ndarray = driver.pagelocked_empty(shape, _dtype(dtype, "pinned_array"), order)
    return found


class _KernelMemory(np.ndarray):
    """A host array whose memory kernels use themselves, as long as a view has it."""

    _stream: Any = None
    _moved = 0  # what to add to an address for that on the device: 0 but for write-combined memory
    _allocation: Any = None  # the type of the memory, and its name for messages
    _kind = ""

    def __array_finalize__(self, obj: Any) -> None:
        self._stream = getattr(obj, "_stream", None)
        self._moved = getattr(obj, "_moved", 0)

    @property
    def is_managed(self) -> bool:
        """Whether kernels can use the items where they are."""
        base: Any = self
        while isinstance(base, np.ndarray):
            base = base.base
        return isinstance(base, self._allocation)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if not self.is_managed:
            raise AttributeError(f"this array is not in {self._kind} memory")
        return _shown(self, self._moved)


class MappedArray(_KernelMemory):
    """A host array of mapped_array(): page-locked memory that kernels use themselves, over the bus.
    The host must wait (cuda.synchronize()) before it reads what a kernel writes. Copies and
    results of arithmetic are plain memory, which launches copy."""

    _allocation = driver.PagelockedHostAllocation
    _kind = "mapped"


class ManagedArray(_KernelMemory):
    """A host array in managed memory: kernels use the memory itself, without copies. The host must
    wait (cuda.synchronize()) before it reads what a kernel writes. Views are managed arrays;
    copies and results of arithmetic are plain memory, which launches copy."""

    _allocation = _cuda.ManagedAllocation
    _kind = "managed"


def _shown(array: Any, moved: int) -> dict[str, Any]:
    """The __cuda_array_interface__ of host memory whose address on the device is *moved* on."""
    shown = array.__array_interface__
    stream = None if array._stream is None else int(array._stream.handle) or 1
    found = {name: shown[name] for name in ("shape", "typestr", "descr", "strides")}
    address, readonly = shown["data"]
    return {**found, "data": (address + moved, readonly), "stream": stream, "version": 3}


def mapped_array(
    shape: Any,
    dtype: Any = np.float64,
    strides: Any = None,
    order: str = "C",
    stream: Any = 0,
    portable: bool = False,
    wc: bool = False,
) -> np.ndarray:
    """A host array that kernels use without a copy. stream: on which it is used. portable: for all
    contexts. wc: write-combined, which the host reads slowly."""
    backend_of(None)
    if strides is not None:
        raise NotImplementedError(
            "mapped_array: strides= is not supported; make a view of the array"
        )
    kinds = enums.host_alloc_flags
    flags = int(kinds.DEVICEMAP) | portable * int(kinds.PORTABLE) | wc * int(kinds.WRITECOMBINED)
    made = _cuda.pagelocked_empty(shape, _dtype(dtype, "mapped_array"), order, flags).view(
        MappedArray
    )
    made._stream = stream_of(stream, "mapped_array")
    if made.size:
        base: Any = made.base
        allocation: Any = base.base if isinstance(base, np.ndarray) else base
        made._moved = allocation.get_device_pointer() - made.__array_interface__["data"][0]
    return made


def managed_array(
    shape: Any,
    dtype: Any = np.float64,
    strides: Any = None,
    order: str = "C",
    stream: Any = 0,
    attach_global: bool = True,
) -> ManagedArray:
    """Make an array in managed memory, which the host and kernels both use. stream: on which it is
    used. attach_global: any stream may use it."""
    backend_of(None)
    if strides is not None:
        raise NotImplementedError(
            "managed_array: strides= is not supported; make a view of the array"
        )
    flags = enums.mem_attach_flags.GLOBAL if attach_global else enums.mem_attach_flags.HOST
    made = _cuda.managed_empty(shape, _dtype(dtype, "managed_array"), order, int(flags)).view(
        ManagedArray
    )
    made._stream = stream_of(stream, "managed_array")
    return made


def pinned_array_like(ary: Any) -> np.ndarray:
    """A host array in page-locked memory, of the shape, dtype and order of *ary*."""
    if not hasattr(ary, "strides"):
        raise TypeError(f"pinned_array_like: an array is needed, not {type(ary).__name__}")
    axes = sorted(range(ary.ndim), key=lambda i: -(_strides_like(ary) or ary.strides)[i])
    if _strides_like(ary) is None:
        return pinned_array(ary.shape, ary.dtype)
    flat = pinned_array(tuple(ary.shape[i] for i in axes), ary.dtype)
    return flat.transpose(np.argsort(axes))


mapped_array_like = pinned_array_like


@contextmanager
def pinned(*arys: np.ndarray) -> Iterator[None]:
    """Page-lock the arrays' memory inside the with block."""
    backend_of(None)
    held = [driver.register_host_memory(a) for a in arys]
    try:
        yield
    finally:
        for one in held:
            one.base.unregister()  # type: ignore[union-attr]


@contextmanager
def mapped(*arys: np.ndarray, stream: Any = 0) -> Iterator[Any]:
    """Yield device arrays with the host arrays' contents, copied back at the end of the with
    block: one, or a list if several are passed."""
    made = [to_device(a, stream=stream) for a in arys]
    yield made[0] if len(made) == 1 else made
    for host, array in zip(arys, made):
        array.copy_to_host(host, stream=stream)


def is_cuda_array(obj: Any) -> bool:
    """Whether it has __cuda_array_interface__."""
    return hasattr(obj, "__cuda_array_interface__")


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceNDArray:
    """Make an array on the memory of another library's array. See
    :func:`from_cuda_array_interface`."""
    if not is_cuda_array(obj):
        raise TypeError("as_cuda_array: the object has no __cuda_array_interface__")
    return from_cuda_array_interface(obj.__cuda_array_interface__, owner=obj, sync=sync)


def from_cuda_array_interface(desc: Any, owner: Any = None, sync: bool = True) -> DeviceNDArray:
    """Make an array on the memory that a dictionary describes.

    desc: the value of __cuda_array_interface__. owner: kept alive as long as the array. sync: wait
    for the device if *desc* names a stream. Raises TypeError for anything else, BufferError if the
    items are not in one allocation of the current context's device, and NotImplementedError for
    arrays with a mask.
    """
    call = "from_cuda_array_interface"
    if isinstance(desc, dict) and desc.get("mask") is not None:
        raise NotImplementedError(f"{call}: Masked arrays are not supported")
    shown = foreign_memory.read(desc, f"{call}: desc")
    backend_of(None)
    foreign_memory.check_current(call, shown)
    if sync and shown.stream is not None:
        synchronize()
    return DeviceNDArray(
        shown.shape, shown.dtype, gpudata=shown.address, strides=shown.strides, base=owner
    )


# ---- profiling and the rest of Numba's names


@contextmanager
def defer_cleanup() -> Iterator[None]:
    """Has no effect: memory returns to a pool, which does not wait."""
    yield


def profile_start() -> None:
    """Make a profiler start collecting."""
    backend_of(None)
    driver.start_profiler()


def profile_stop() -> None:
    """Make a profiler stop collecting."""
    backend_of(None)
    driver.stop_profiler()


@contextmanager
def profiling() -> Iterator[None]:
    """A profiler collects data inside the with block."""
    profile_start()
    try:
        yield
    finally:
        profile_stop()


def require_context(function: Any) -> Any:
    """Returns the function unchanged: contexts are created when needed."""
    return function


def is_float16_supported() -> bool:
    """True: float16 is computed in float32 if the device has no float16 arithmetic."""
    return True


def synchronize() -> None:
    """Wait for all work of the context."""
    backend_of(None)
    _cuda.Context.synchronize()


# ---- devices


class DeviceInfo:
    """A device with Numba's names: id, name, compute_capability, uuid and the attributes of the
    driver in capitals. As a context manager it is the current device."""

    def __init__(self, number: int) -> None:
        self.id = number
        self._device = driver.Device(number)

    @property
    def name(self) -> str:
        return str(self._device.name())

    @property
    def compute_capability(self) -> tuple[int, int]:
        return tuple(self._device.compute_capability())  # type: ignore[return-value]

    @property
    def uuid(self) -> str:
        h = self._device.uuid().hex()
        return f"GPU-{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"

    def __getattr__(self, name: str) -> Any:
        if name.isupper():
            attribute = getattr(enums.device_attribute, name, None)
            if attribute is not None:
                return self._device.get_attribute(attribute)
        raise AttributeError(f"a device has no attribute {name!r}")

    @property
    def supports_float16(self) -> bool:
        """True: see is_float16_supported."""
        return True

    @property
    def supports_bfloat16(self) -> bool:
        """Whether there is ml_dtypes, by which NumPy has such numbers."""
        return importlib.util.find_spec("ml_dtypes") is not None

    def reset(self) -> None:
        """Wait for the device; its context is kept, because all libraries of the process share
        it."""
        synchronize()

    @property
    def primary_context(self) -> Any:
        return self._device.retain_primary_context()

    def get_primary_context(self) -> ContextInfo:
        """Make the context that all libraries of the process share current, and return it."""
        return current_context(self.id)

    def __enter__(self) -> DeviceInfo:
        self._device.retain_primary_context().push()
        return self

    def __exit__(self, *exc: object) -> None:
        _cuda.Context.pop()

    def __repr__(self) -> str:
        return f"<CUDA device {self.id} {self.name!r}>"


class _Devices(Sequence[DeviceInfo]):
    """All devices."""

    @property
    def lst(self) -> list[DeviceInfo]:
        driver.init()
        return [DeviceInfo(i) for i in range(driver.Device.count())]

    def __len__(self) -> int:
        driver.init()
        return int(driver.Device.count())

    def __getitem__(self, index: Any) -> Any:
        return self.lst[index]

    @property
    def current(self) -> DeviceInfo | None:
        """The device of the current context."""
        return None if _cuda.Context.get_current() is None else get_current_device()

    def __repr__(self) -> str:
        return f"<{len(self)} CUDA devices>"


gpus: _Devices = _Devices()


def list_devices() -> list[DeviceInfo]:
    """All devices."""
    return gpus.lst


def select_device(device_id: int) -> DeviceInfo:
    """Make a device's primary context the current one of this thread."""
    driver.init()
    made = DeviceInfo(device_id)
    context = made.primary_context
    current = _cuda.Context.get_current()
    if current != context:
        if current is not None:
            _cuda.Context.pop()
        context.push()
    return made


def get_current_device() -> DeviceInfo:
    """The device of the current context."""
    backend_of(None)
    return DeviceInfo(int(_cuda.Context.get_device()))


def close() -> None:
    """Remove the current context from this thread's stack."""
    if _cuda.Context.get_current() is not None:
        _cuda.Context.pop()


class _MemoryInfo(NamedTuple):
    free: int
    total: int


class _Deallocations:
    """Memory that waits to be freed: always none, since memory returns to a pool."""

    def clear(self) -> None:
        """Has no effect."""

    def __len__(self) -> int:
        return 0


class ContextInfo:
    """The current context with Numba's names."""

    deallocations: _Deallocations = _Deallocations()

    @property
    def device(self) -> DeviceInfo:
        return get_current_device()

    def get_memory_info(self) -> Any:
        """Return the free and total memory of the device [bytes], .free and .total."""
        return _MemoryInfo(*driver.mem_get_info())

    def synchronize(self) -> None:
        synchronize()

    def reset(self) -> None:
        synchronize()

    def get_ipc_handle(self, memory: Any) -> Any:
        """Return a handle with which another process can open memory, ``array.gpu_data``."""
        return ipc_handle(memory)

    def get_active_blocks_per_multiprocessor(
        self, func: Any, blocksize: int, memsize: int = 0, flags: Any = None
    ) -> int:
        """Return how many blocks of a compiled kernel (``k.overloads[types]``) a multiprocessor
        can hold."""
        kernel = getattr(func, "kernel", func)
        found: int = kernel.max_active_blocks(blocksize, memsize)
        return found


def current_context(devnum: int | None = None) -> ContextInfo:
    """The current context; if there is none, that of device *devnum* becomes current."""
    if devnum is None:
        backend_of(None)
    else:
        select_device(devnum)
    return ContextInfo()


def is_available() -> bool:
    """Whether there is a CUDA device (or the simulator)."""
    try:
        driver.init()
        return int(driver.Device.count()) > 0
    except Exception:
        return False


def detect() -> bool:
    """Print all devices. Returns whether there is one."""
    found = list_devices()
    print(f"Found {len(found)} CUDA devices")
    for device in found:
        print(f"id {device.id:<4d} {device.name!r:>20s} {'[SUPPORTED]':>40s}")
        major, minor = device.compute_capability
        rows = [
            ("Compute Capability", f"{major}.{minor}"),
            ("PCI Device ID", device.PCI_DEVICE_ID),
            ("PCI Bus ID", device.PCI_BUS_ID),
            ("UUID", device.uuid),
            ("Watchdog", "Enabled" if device.KERNEL_EXEC_TIMEOUT else "Disabled"),
            ("FP32/FP64 Performance Ratio", device.SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO),
        ]
        for name, value in rows:
            print(f"{name:>40s}: {value}")
    print("Summary:")
    print(f"\t{len(found)}/{len(found)} devices are supported")
    return len(found) > 0


publish(globals(), __all__, "pygpu.cuda")
