"""Memory shared with other libraries: DLPack and ``__cuda_array_interface__``, both ways.

Exported memory is kept until the other library drops it; of imported memory this side keeps the
exporter's object as long as an array (or a view of one) lies in it. Order of commands: who takes
memory names the stream on which it will use it, and who gives it makes that stream wait. Memory of
OpenCL has no such rule, so there the host waits before it is given.
"""

from __future__ import annotations

import hashlib
import importlib
from functools import cache
from typing import Any

import numpy as np

from .. import _array
from .._array import GPUArray
from . import dtypes, layout
from .device import Device, as_device, default_device

__all__ = ["dlpack", "dlpack_device", "from_cuda_array", "from_dlpack", "token"]

CPU, CUDA, CUDA_HOST, OPENCL, ROCM_HOST, CUDA_MANAGED = 1, 2, 3, 4, 11, 13
_HOSTS = (CPU, CUDA_HOST, ROCM_HOST)
_NAMES = {
    CPU: "the CPU",
    CUDA: "CUDA",
    CUDA_HOST: "page-locked memory",
    OPENCL: "OpenCL",
    ROCM_HOST: "ROCm's page-locked memory",
    CUDA_MANAGED: "CUDA's managed memory",
    7: "Vulkan",
    8: "Metal",
    10: "ROCm",
    14: "oneAPI",
    15: "WebGPU",
}
_COPIED = 2
_VERSION = (1, 0)
_LEGACY = 1  # the handle of CUDA's default stream in both protocols


def _cuda() -> Any:
    return importlib.import_module("pygpu._cuda")


# ---- which device


@cache
def _opencl_number(device: Any) -> int:
    """The device's number among all of OpenCL: those of the first platform come first."""
    import pygpu as cl

    every = [d for p in cl.get_platforms() for d in p.get_devices()]
    return every.index(device) if device in every else 0


@cache
def _cuda_number(device: Any) -> int:
    kind = _cuda().Device
    return next(i for i in range(kind.count()) if kind(i) == device)


def dlpack_device(array: Any) -> tuple[int, int]:
    """DLPack's kind of device and number of an array."""
    if array.backend.name == "opencl":
        return OPENCL, _opencl_number(array.backend.device)
    of_memory = getattr(array.base_data, "__dlpack_device__", None)
    if of_memory is not None:
        kind, number = of_memory()
        return kind, number
    return CUDA, _cuda_number(array.backend.device)


# ---- export


def dlpack(
    array: Any,
    stream: Any = None,
    max_version: Any = None,
    dl_device: Any = None,
    copy: bool | None = None,
) -> Any:
    """``__dlpack__`` of an array: a capsule over its memory, or a copy, there or on the host."""
    own = dlpack_device(array)
    versioned = max_version is not None and int(tuple(max_version)[0]) >= 1
    wanted = own if dl_device is None else (int(dl_device[0]), int(dl_device[1]))
    if wanted == (CPU, 0):
        if copy is False:
            raise BufferError("__dlpack__: to the host the array has to be copied, and copy=False")
        host = array._get(None, None, True)[0]
        return _host_capsule(host, versioned)
    if wanted != own:
        raise BufferError(
            f"__dlpack__: the array is on device {own} of {_NAMES[own[0]]}, and can be given there "
            f"or, as a copy, on the host, (1, 0), but not on {wanted}; use .to_device() or .get()"
        )
    flags = 0
    if copy:
        array, flags = array._copy(), _COPIED
    give = _give_cuda if array.backend.name == "cuda" else _give_opencl
    address, offset, owner = give(array, stream)
    return _array._dlpack_export(
        owner, address, own, array.shape, array.strides, array.dtype, offset, versioned, flags
    )


def _host_capsule(host: np.ndarray, versioned: bool) -> Any:
    address = host.__array_interface__["data"][0]
    return _array._dlpack_export(
        host, address, (CPU, 0), host.shape, host.strides, host.dtype, 0, versioned, _COPIED
    )


def _give_cuda(array: Any, stream: Any) -> tuple[int, int, Any]:
    """(address, offset, what keeps the memory), with the consumer's stream behind the array's."""
    if stream is not None and not isinstance(stream, (int, np.integer)):
        raise TypeError(
            f"__dlpack__: stream must be a stream's handle as an int, not {type(stream).__name__}"
        )
    if stream == 0 or (stream is not None and stream < -1):
        raise ValueError(
            f"__dlpack__: stream = {stream} is no stream: 1 is the default stream, 2 the thread's "
            "own, -1 asks for no waiting"
        )
    if stream != -1:
        _let_wait(array, _LEGACY if stream is None else int(stream))
    memory = array.base_data
    owner: Any = array
    if array.size and hasattr(memory, "__dlpack__"):  # which also keeps it from being freed
        owner = (array, memory.__dlpack__(stream=-1))
    return (array.ptr if array.size else 0), 0, owner


def _let_wait(array: Any, handle: int) -> None:
    """Let a stream of another library wait for the work on an array."""
    queue = array.queue
    if handle == (_LEGACY if queue is None else queue.handle):
        return
    with Device(array.backend, queue).current():
        event = array.backend.event(queue)
        if handle == _LEGACY:
            event.synchronize()
        else:
            _cuda().Stream.from_handle(handle).wait_for_event(event)


def _give_opencl(array: Any, stream: Any) -> tuple[int, int, Any]:
    if stream not in (None, -1):
        raise BufferError(
            "__dlpack__: OpenCL has no streams; leave stream out, and the host waits instead"
        )
    memory = array.base_data
    if not hasattr(memory, "int_ptr"):
        raise BufferError(
            "__dlpack__: DLPack has no place for shared virtual memory; copy the array to a buffer"
        )
    if stream is None:
        array.finish()
    return memory.int_ptr, array.offset, array


# ---- import


class _Imported:
    """What keeps another library's memory: that library's object, or what DLPack gave."""

    owner: Any
    dlpack_kind: tuple[int, int]

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.dlpack_kind


@cache
def _pointer_class() -> Any:
    holder: Any = _cuda().PointerHolderBase

    class ImportedPointer(_Imported, holder):
        """An address of another library's."""

        def __init__(self, owner: Any, address: int, size: int, kind: tuple[int, int]) -> None:
            super().__init__()
            self.owner = owner
            self.address = address
            self.size = size
            self.dlpack_kind = kind

        def get_pointer(self) -> int:
            return self.address

        def __int__(self) -> int:
            return self.address

    return ImportedPointer


@cache
def _buffer_class() -> Any:
    import pygpu as cl

    class ImportedBuffer(cl.Buffer):
        """A cl_mem of another library's."""

        owner: Any = None

    return ImportedBuffer


def from_dlpack(x: Any, *, device: Device | None = None, copy: bool | None = None) -> Any:
    """An array over what *x* exports by ``__dlpack__``: over the same memory if it lies on a device
    of CUDA or OpenCL, a copy on a device if it lies on the host.

    device: where the result is to be, by default where x is (of the host: the default device).
    copy: True for a copy in any case, False to raise ValueError if one is needed. Raises TypeError
    if x does not export, BufferError if it cannot be imported.
    """
    if isinstance(x, GPUArray):
        return _moved(_view(x), device, copy)
    if not (hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__")):
        raise TypeError(f"from_dlpack: {type(x).__name__} has no __dlpack__ and __dlpack_device__")
    kind, number = (int(v) for v in x.__dlpack_device__())
    if kind in _HOSTS:
        if copy is False:
            raise ValueError("from_dlpack: what is on the host is copied to the device; copy=False")
        host = np.asarray(_array._dlpack_import(_capsule(x)))
        return (default_device() if device is None else device).put(host)
    if kind in (CUDA, CUDA_MANAGED):
        return _take_cuda(x, (kind, number), device, copy)
    if kind == OPENCL:
        return _take_opencl(x, device, copy)
    raise BufferError(
        f"from_dlpack: memory of {_NAMES.get(kind, f'a device of kind {kind}')} cannot be shared "
        "with OpenCL or CUDA; copy it to the host first, and use pygpu.xp.asarray()"
    )


def _capsule(x: Any, **options: Any) -> Any:
    """What x exports, in the newest form that it knows."""
    try:
        return x.__dlpack__(max_version=_VERSION, **options)
    except TypeError:
        return x.__dlpack__(**options)


def _view(array: Any) -> Any:
    return array._view(array.shape, array.strides, array.offset)


def _moved(array: Any, device: Device | None, copy: bool | None) -> Any:
    if device is not None and device != array.device:
        if copy is False:
            raise ValueError("from_dlpack: moving to another device needs a copy, and copy=False")
        return array.to_device(device)
    return array._copy() if copy else array


def _read_only(copy: bool | None) -> bool | None:
    """Arrays here can be written to, so what must not be is copied."""
    if copy is False:
        raise ValueError("the memory is read-only and has to be copied, and copy=False")
    return True


def _cuda_device(number: int | None) -> Device:
    """By the current context if it is of that device, else by the device's primary context."""
    cuda = _cuda()
    as_device("cuda")
    current = cuda.Context.get_current()
    if current is not None and (number is None or cuda.Context.get_device() == cuda.Device(number)):
        return as_device(current)
    if number is None:
        return as_device("cuda")
    return as_device(cuda.Device(number))


def _check_address(call: str, address: int, where: Device) -> None:
    """An address that the driver does not know would end the process."""
    with where.current():
        try:
            _cuda().mem_get_address_range(address)
        except Exception:
            raise BufferError(
                f"{call}: address {address:#x} is no memory of the CUDA driver that pygpu uses "
                f"({where!r})"
            ) from None


def _over_pointer(
    where: Device,
    owner: Any,
    kind: tuple[int, int],
    address: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...] | None,
    dtype: np.dtype[Any],
) -> Any:
    """An array over CUDA's memory."""
    if strides is None:
        strides = layout.c_strides(shape, dtype.itemsize)
    low, high = layout.byte_bounds(shape, strides, dtype.itemsize)
    memory = _pointer_class()(owner, address + low, high - low, kind)
    cls: Any = importlib.import_module("pygpu.cuda.gpuarray").GPUArray
    array = cls.__new__(cls)
    array._init(where.backend, where.queue, memory, -low, shape, strides, dtype, None)
    return array


def _take_cuda(x: Any, kind: tuple[int, int], device: Device | None, copy: bool | None) -> Any:
    where = _cuda_device(kind[1])
    if device is not None and device == where:
        where = device
    handle = _LEGACY if where.queue is None else where.queue.handle
    tensor = _array._dlpack_import(_capsule(x, stream=handle))
    address = tensor.address + tensor.offset
    if address:
        _check_address("from_dlpack", address, where)
    array = _over_pointer(where, tensor, kind, address, tensor.shape, tensor.strides, tensor.dtype)
    if tensor.read_only:
        copy = _read_only(copy)
    return _moved(array, device, copy)


def _take_opencl(x: Any, device: Device | None, copy: bool | None) -> Any:
    arrays: Any = importlib.import_module("pygpu.array")

    tensor = _array._dlpack_import(_capsule(x))
    memory = _buffer_class().from_int_ptr(tensor.address, True)
    memory.owner = tensor
    where = None
    for candidate in (device, default_device()):
        if candidate is not None and candidate.kind == "opencl":
            if candidate.context == memory.context:
                where = candidate
                break
    if where is None:
        where = as_device(memory.context)
    layout.check_memory(
        "from_dlpack", memory, tensor.offset, tensor.shape, tensor.strides, tensor.dtype.itemsize
    )
    cls: Any = arrays.Array
    array = cls.__new__(cls)
    array._init(
        where.backend,
        where.queue,
        memory,
        tensor.offset,
        tensor.shape,
        tensor.strides,
        tensor.dtype,
        None,
    )
    if tensor.read_only:
        copy = _read_only(copy)
    return _moved(array, device, copy)


# ---- __cuda_array_interface__


def from_cuda_array(x: Any, *, device: Device | None = None, copy: bool | None = None) -> Any:
    """An array over the memory that *x* shows by ``__cuda_array_interface__`` (version 2 or 3).

    The array's stream waits for the one that x names. Raises BufferError for what cannot be shared,
    ValueError if copy is False and a copy is needed.
    """
    call = "__cuda_array_interface__"
    try:
        shown = x.__cuda_array_interface__
        version = int(shown["version"])
        shape = layout.as_shape(tuple(shown["shape"]), call)
        dtype = np.dtype(shown["typestr"])
        address, read_only = shown["data"]
        address = int(address)
        strides = shown.get("strides")
        strides = None if strides is None else tuple(int(s) for s in strides)
        stream = shown.get("stream")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BufferError(
            f"{call} of {type(x).__name__} is not as it should be: {error}"
        ) from error
    if version < 2 or shown.get("mask") is not None or stream == 0:
        raise BufferError(
            f"{call}: version {version}, mask {shown.get('mask')!r}, stream {stream!r}: versions 2 "
            "and 3 without a mask are known here, and 0 is no stream"
        )
    if dtype.kind == "V" and shown.get("descr"):
        dtype = np.dtype([tuple(field) for field in shown["descr"]])
    dtype = dtypes.native(dtype, call)
    if strides is not None and len(strides) != len(shape):
        raise BufferError(f"{call}: {len(strides)} strides for {len(shape)} axes")
    where = _cuda_device(None)
    if device is not None and device == where:
        where = device
    if address:
        _check_address(call, address, where)
    elif 0 not in shape:
        raise BufferError(f"{call}: there are items, and no memory")
    kind = CUDA, _cuda_number(where.backend.device)
    array = _over_pointer(where, x, kind, address, shape, strides, dtype)
    if stream is not None:
        _wait_for(where, int(stream))
    if read_only:
        copy = _read_only(copy)
    return _moved(array, device, copy)


def _wait_for(where: Device, handle: int) -> None:
    """Let a device's stream wait for another library's."""
    mine = _LEGACY if where.queue is None else where.queue.handle
    if handle == mine:
        return
    with where.current():
        theirs = None if handle == _LEGACY else _cuda().Stream.from_handle(handle)
        event = where.backend.event(theirs)
        if where.queue is None:
            event.synchronize()
        else:
            where.queue.wait_for_event(event)


# ---- Dask


def token(array: Any) -> tuple[Any, ...]:
    """What stands for the contents of an array; equal for equal ones in all processes."""
    host = np.ascontiguousarray(array._get(None, None, True)[0])
    digest = hashlib.blake2b(host.tobytes(), digest_size=16)
    kind = type(array).__module__, type(array).__qualname__
    return (*kind, array.dtype.str, array.shape, digest.hexdigest())
