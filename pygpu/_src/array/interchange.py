"""Memory shared with other libraries: DLPack and ``__cuda_array_interface__``, in both directions.

Exported memory is kept until the other library drops it. For imported memory, this side keeps the
exporter's object as long as an array (or a view of one) uses it. Ordering of commands: the
consumer names the stream on which it will use the memory, and the producer makes that stream wait.
OpenCL has no such rule, so there the host waits before it exports memory.
"""

from __future__ import annotations

import importlib
import operator
from functools import cache
from typing import Any

import numpy as np

from pygpu import _array, errors
from pygpu._array import GPUArray
from pygpu._src.runtime import mpi_library
from pygpu._src.util.lazy import lazy, provided

from . import foreign_memory, layout
from .device import Device, as_device, default_device, is_simulator

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
_WORDS = 1 << 20  # words of an array that a token processes at once


def _cuda() -> Any:
    return importlib.import_module("pygpu._cuda")


# ---- devices


@cache
def _opencl_number(device: Any) -> int:
    """Return the device's number among all of OpenCL: those of the first platform come first."""
    from pygpu import _opencl as cl

    every = [d for p in cl.get_platforms() for d in p.get_devices()]
    return every.index(device) if device in every else 0


@cache
def _cuda_number(device: Any) -> int:
    kind = _cuda().Device
    return next(i for i in range(kind.count()) if kind(i) == device)


def dlpack_device(array: Any) -> tuple[int, int]:
    """Return DLPack's device type and number of an array. The simulator's memory is the host's, and
    libraries for the CPU can use it in place."""
    if array.backend.name == "opencl":
        return OPENCL, _opencl_number(array.backend.device)
    return (CPU, 0) if is_simulator() else _cuda_place(array)


def _cuda_place(array: Any) -> tuple[int, int]:
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
    """Implement ``__dlpack__`` of an array: a capsule over its memory, or a copy, there or on the
    host."""
    own = dlpack_device(array)
    versioned = max_version is not None and int(tuple(max_version)[0]) >= 1
    wanted = own if dl_device is None else (int(dl_device[0]), int(dl_device[1]))
    simulated = own == (CPU, 0)
    if simulated and wanted == _cuda_place(array):  # for consumers that insist
        own = wanted
    elif not simulated and wanted == (CPU, 0):
        if copy is False:
            raise BufferError("__dlpack__: an export to the host is a copy, but copy=False")
        host = array._get(None, None, True)[0]
        return _host_capsule(host, versioned)
    if wanted != own:
        raise BufferError(
            f"__dlpack__: the array is on device {own} of {_NAMES[own[0]]}, and can be exported "
            f"there or, as a copy, to the host, (1, 0), not to {wanted}; use .to_device() or .get()"
        )
    flags = 0
    if stream == -1 and copy is False:  # mpi4py's request, which assumes that MPI reads any memory
        _refuse_mpi(array)
    if copy:
        array, flags = array._copy(), _COPIED
    export = _export_cuda if array.backend.name == "cuda" else _export_opencl
    host_waits = own == (CPU, 0) and stream is None  # the consumer is on the host, on no stream
    address, offset, owner = export(array, -1 if host_waits else stream)
    if host_waits:
        array.backend.synchronize(array.queue)
    return _array._dlpack_export(
        owner, address, own, array.shape, array.strides, array.dtype, offset, versioned, flags
    )


def _refuse_mpi(array: Any) -> None:
    """Refuse device memory to an MPI without support for it, which would end the process. MPI
    never reads OpenCL's memory, and always the simulator's."""
    if not mpi_library.is_loaded():
        return
    if array.backend.name == "opencl" or not (is_simulator() or mpi_library.knows_cuda()):
        raise BufferError(
            f"__dlpack__: this MPI library cannot read {array.backend.label}'s memory; call the "
            "method of pygpu.mpi.COMM_WORLD, which can, or pass array.get()"
        )


def _host_capsule(host: np.ndarray, versioned: bool) -> Any:
    address = host.__array_interface__["data"][0]
    return _array._dlpack_export(
        host, address, (CPU, 0), host.shape, host.strides, host.dtype, 0, versioned, _COPIED
    )


def _export_cuda(array: Any, stream: Any) -> tuple[int, int, Any]:
    """Return (address, offset, owner of the memory), with the consumer's stream ordered after the
    array's."""
    if stream is not None and not isinstance(stream, (int, np.integer)):
        raise TypeError(
            f"__dlpack__: stream must be a stream's handle as an int, not {type(stream).__name__}"
        )
    if stream == 0 or (stream is not None and stream < -1):
        raise ValueError(
            f"__dlpack__: stream = {stream} is not a stream: 1 is the default stream, 2 the "
            "thread's own, -1 asks for no waiting"
        )
    if stream != -1:
        _order_consumer(array, _LEGACY if stream is None else int(stream))
    memory = array.base_data
    owner: Any = array
    if array.size and hasattr(memory, "__dlpack__"):  # this also keeps it from being freed
        owner = (array, memory.__dlpack__(stream=-1))
    return (array.ptr if array.size else 0), 0, owner


def _order_consumer(array: Any, handle: int) -> None:
    """Make a stream of another library wait for the work on an array."""
    queue = array.queue
    if handle == (_LEGACY if queue is None else queue.handle):
        return
    with Device(array.backend, queue).current():
        event = array.backend.event(queue)
        if handle == _LEGACY:
            event.synchronize()
        else:
            _cuda().Stream.from_handle(handle).wait_for_event(event)


def _export_opencl(array: Any, stream: Any) -> tuple[int, int, Any]:
    if stream not in (None, -1):
        raise BufferError(
            "__dlpack__: OpenCL has no streams; leave stream out, and the host waits instead"
        )
    memory = array.base_data
    if isinstance(memory, int):
        raise BufferError(
            "__dlpack__: the array was made with data=0 and has no memory yet: assign a Buffer to "
            "its base_data first"
        )
    if not hasattr(memory, "int_ptr"):
        raise BufferError(
            "__dlpack__: DLPack does not support shared virtual memory; copy the array to a buffer"
        )
    if stream is None:
        array.finish()
    return memory.int_ptr, array.offset, array


# ---- import


class _Imported:
    """The owner of another library's memory: that library's object, or DLPack's."""

    owner: Any
    dlpack_kind: tuple[int, int]

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.dlpack_kind


@cache
def _pointer_class() -> Any:
    holder: Any = _cuda().PointerHolderBase

    class ImportedPointer(_Imported, holder):  # type: ignore[misc]  # known when CUDA is there
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
    from pygpu import _opencl as cl

    class ImportedBuffer(cl.Buffer):
        """A cl_mem of another library's."""

        owner: Any = None

    return ImportedBuffer


def from_dlpack(x: Any, *, device: Device | None = None, copy: bool | None = None) -> Any:
    """Make an array from what *x* exports by ``__dlpack__``: over the same memory if it is on a
    CUDA or OpenCL device, a copy on a device if it is on the host.

    device: for the result, by default x's (for host memory: the default device). copy: True always
    copies, False raises ValueError if a copy is needed. Raises TypeError if x does not export,
    BufferError if it cannot be imported.
    """
    if isinstance(x, GPUArray):
        return _moved(_view(x), device, copy)
    if not (hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__")):
        raise TypeError(f"from_dlpack: {type(x).__name__} has no __dlpack__ and __dlpack_device__")
    kind, number = _device_of(x)
    if kind in _HOSTS:
        tensor = _import(x, (kind, number))
        of_simulator = _import_simulated(tensor, device, copy)
        if of_simulator is not None:
            return of_simulator
        if copy is False:
            raise ValueError("from_dlpack: host memory has to be copied, but copy=False")
        host = np.asarray(tensor)
        return (default_device() if device is None else device).put(host)
    if kind in (CUDA, CUDA_MANAGED):
        return _import_cuda(x, (kind, number), device, copy)
    if kind == OPENCL:
        return _import_opencl(x, (kind, number), device, copy)
    raise BufferError(
        f"from_dlpack: memory of {_NAMES.get(kind, f'a device of kind {kind}')} cannot be shared "
        "with OpenCL or CUDA; copy it to the host first, and use pygpu.xp.asarray()"
    )


def _device_of(x: Any) -> tuple[int, int]:
    found = x.__dlpack_device__()
    try:
        kind, number = (operator.index(part) for part in found)
    except (TypeError, ValueError):
        raise BufferError(
            f"from_dlpack: {type(x).__name__}.__dlpack_device__() is {found!r}, not two ints"
        ) from None
    return kind, number


def _import(x: Any, device: tuple[int, int], **options: Any) -> Any:
    """Return the tensor that x exports. A pointer mistaken for an OpenCL handle, or for one of
    another device, would end the process, so x must name the same device twice."""
    tensor = _array._dlpack_import(_capsule(x, **options))
    if tensor.device != device:
        raise BufferError(
            f"from_dlpack: the capsule of {type(x).__name__} is for device {tensor.device}, and "
            f"its __dlpack_device__() is {device}"
        )
    return tensor


def _capsule(x: Any, **options: Any) -> Any:
    """Export x in the newest form that it supports."""
    try:
        return x.__dlpack__(max_version=_VERSION, **options)
    except TypeError:
        return x.__dlpack__(**options)


def _view(array: Any) -> Any:
    return array._view(array.shape, array.strides, array.offset)


def _moved(array: Any, device: Device | None, copy: bool | None) -> Any:
    if device is not None and device != array.device:
        if copy is False:
            raise ValueError("from_dlpack: moving to another device needs a copy, but copy=False")
        return array.to_device(device)
    return array._copy() if copy else array


def _read_only(copy: bool | None) -> bool | None:
    """Arrays here are writable, so read-only memory is copied."""
    if copy is False:
        raise ValueError("the memory is read-only and has to be copied, but copy=False")
    return True


def _cuda_device(number: int | None) -> Device:
    """Use the current context if it is on that device, else the device's primary context."""
    cuda = _cuda()
    as_device("cuda")
    count = cuda.Device.count()
    if number is not None and not 0 <= number < count:
        raise BufferError(f"from_dlpack: CUDA device {number} does not exist; there are {count}")
    current = cuda.Context.get_current()
    if current is not None and (number is None or cuda.Context.get_device() == cuda.Device(number)):
        return as_device(current)
    return as_device("cuda" if number is None else cuda.Device(number))


def _device_number(call: str, where: Device, address: int, tensor: Any, own: bool) -> int:
    """Return the number of the CUDA device whose memory contains the items. own: it must be that
    of *where*."""
    with where.current():
        found = foreign_memory.check_range(
            call, address, tensor.shape, tensor.strides, tensor.dtype
        )
    here = _cuda_number(where.backend.device)
    if own and found not in (None, here):
        raise BufferError(f"{call}: the memory at {address:#x} is on device {found}, not on {here}")
    return here if found is None else found


def _over_pointer(
    where: Device,
    owner: Any,
    kind: tuple[int, int],
    address: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    dtype: np.dtype[Any],
) -> Any:
    """Make an array over CUDA memory."""
    low, high = layout.byte_bounds(shape, strides, dtype.itemsize)
    memory = _pointer_class()(owner, address + low, high - low, kind)
    cls: Any = provided("cuda array")
    array = cls.__new__(cls)
    array._init(where.backend, where.queue, memory, -low, shape, strides, dtype, None)
    return array


def _import_cuda(x: Any, kind: tuple[int, int], device: Device | None, copy: bool | None) -> Any:
    where = _cuda_device(kind[1])
    if device is not None and device == where:
        where = device
    handle = _LEGACY if where.queue is None else where.queue.handle
    tensor = _import(x, kind, stream=handle)
    address = tensor.address + tensor.offset
    _device_number("from_dlpack", where, address, tensor, own=kind[0] == CUDA)
    array = _over_pointer(where, tensor, kind, address, tensor.shape, tensor.strides, tensor.dtype)
    if tensor.read_only:
        copy = _read_only(copy)
    return _moved(array, device, copy)


def _import_simulated(tensor: Any, device: Device | None, copy: bool | None) -> Any:
    """Make an array over memory of the simulator's device that the host's DLPack device stands for;
    None if the tensor is in other memory of the host."""
    cuda = _cuda()
    if cuda._library() is None or not is_simulator() or not tensor.address:
        return None
    where = _cuda_device(None)
    address = tensor.address + tensor.offset
    with where.current():
        try:
            cuda.mem_get_address_range(address)
        except errors.Error:
            return None
    number = _device_number("from_dlpack", where, address, tensor, own=False)
    if number != _cuda_number(where.backend.device):
        where = _cuda_device(number)
    if device is not None and device == where:
        where = device
    kind, shape = (CUDA, number), tensor.shape
    array = _over_pointer(where, tensor, kind, address, shape, tensor.strides, tensor.dtype)
    return _moved(array, device, _read_only(copy) if tensor.read_only else copy)


def _import_opencl(x: Any, kind: tuple[int, int], device: Device | None, copy: bool | None) -> Any:
    tensor = _import(x, kind)
    if tensor.address == 0:  # there are no items
        empty = np.empty(tensor.shape, tensor.dtype)
        return (as_device("opencl") if device is None else device).put(empty)
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
    try:
        layout.check_memory(
            "from_dlpack",
            memory,
            tensor.offset,
            tensor.shape,
            tensor.strides,
            tensor.dtype.itemsize,
        )
    except ValueError as error:
        raise BufferError(str(error)) from None
    foreign_memory.check_alignment(
        "from_dlpack", tensor.offset, tensor.shape, tensor.strides, tensor.dtype
    )
    cls: Any = provided("opencl array")
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


def interface_of(x: Any) -> Any:
    """Make an array over what an object of another library exports by ``__cuda_array_interface__``
    or ``__dlpack__``; None if it has neither."""
    if hasattr(x, "__cuda_array_interface__"):
        return from_cuda_array(x)
    return from_dlpack(x) if hasattr(x, "__dlpack__") else None


def from_cuda_array(x: Any, *, device: Device | None = None, copy: bool | None = None) -> Any:
    """Make an array over the memory that *x* exports by ``__cuda_array_interface__`` (version 2 or
    3).

    The array's stream waits for the one that x names. Raises BufferError for what cannot be
    shared, ValueError if copy is False and a copy is needed.
    """
    call = f"__cuda_array_interface__ of {type(x).__name__}"
    shown = foreign_memory.read(x.__cuda_array_interface__, call)
    where = _cuda_device(None)
    number = _device_number(call, where, shown.address, shown, own=False)
    if number != _cuda_number(where.backend.device):
        where = _cuda_device(number)
    if device is not None and device == where:
        where = device
    kind = CUDA, number
    array = _over_pointer(where, x, kind, shown.address, shown.shape, shown.strides, shown.dtype)
    with where.current():
        foreign_memory.wait_for(where.backend, where.queue, shown.stream)
    if shown.read_only:
        copy = _read_only(copy)
    return _moved(array, device, copy)


# ---- Dask


def token(array: Any) -> tuple[Any, ...]:
    """Return a token of the contents of an array, equal for equal contents in all processes: two
    sums over its words, each mixed with its index, and the bytes after the last whole word."""
    kind = type(array).__module__, type(array).__qualname__
    facts = (*kind, repr(array.dtype.descr), array.shape)
    if array.size == 0:
        return facts
    dense = array if array._c_contiguous and array.offset % 8 == 0 else array._copy(order="C")
    flat = dense.reshape(-1).view(np.uint8)
    whole = flat.size // 8
    sums = np.zeros(2, np.uint64)
    for start in range(0, whole, _WORDS):
        words = flat[8 * start : 8 * min(start + _WORDS, whole)].view(np.uint64)
        sums += _mixed_sums(words, start)
    return (*facts, *map(int, sums), flat[8 * whole :].get().tobytes().hex())


def _mixed_sums(words: Any, start: int) -> np.ndarray:
    """With the mixing function of G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom
    number generators" (2014)."""
    joining = lazy("pygpu._src.array.routines.joining")
    numbers = joining.arange_into(words._new(words.shape, words.dtype), start + 1, 1)
    mixed = words ^ (numbers * np.uint64(0x9E3779B97F4A7C15))
    sums = []
    for _ in range(2):
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
        mixed = mixed ^ (mixed >> np.uint64(31))
        sums.append(mixed.sum().get())
    return np.array(sums, np.uint64)
