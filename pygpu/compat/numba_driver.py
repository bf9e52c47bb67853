"""Names of ``numba.cuda.cudadrv`` and what is in it, as far as programs look into it: versions,
errors to catch, the class of device arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from pygpu._src.jit.cuda_arrays import DeviceNDArray as _AnyDeviceNDArray
from pygpu._src.jit.cuda_arrays import current_context, gpus, require_context
from pygpu._src.runtime.cuda.streams import Event as Event
from pygpu._src.runtime.cuda.streams import Stream as Stream
from pygpu.compat.numba_arrays import DeviceNDArray, to_device
from pygpu.cuda import driver as _driver
from pygpu.errors import Error, RuntimeError

__all__ = [
    "CudaAPIError",
    "CudaDriverError",
    "CudaRuntimeError",
    "CudaSupportError",
    "DeviceNDArray",
    "LinkerError",
    "NvvmError",
    "NvvmSupportError",
    "auto_device",
    "driver",
    "get_context",
    "get_version",
    "gpus",
    "is_contiguous",
    "is_cuda_ndarray",
    "is_supported_version",
    "require_context",
    "require_cuda_ndarray",
    "runtime",
    "verify_cuda_ndarray_interface",
]

CudaAPIError = CudaDriverError = CudaRuntimeError = LinkerError = Error
CudaSupportError = RuntimeError
get_context = current_context


class NvvmError(Exception):
    """For programs that catch it; never raised: there is no NVVM here."""


class NvvmSupportError(ImportError):
    """For programs that catch it; never raised: there is no NVVM here."""


def _have_nvjitlink() -> bool:
    """False: nothing is linked, C text is compiled with the kernel."""
    return False


def device_memory_size(array: Any) -> int:
    """The bytes of a device array, or of a host array that the device sees."""
    return int(array.nbytes)


def device_memset(dst: Any, val: int, size: int, stream: Any = 0) -> None:
    """Set *size* bytes of a device array, or of a host array that the device sees."""
    if isinstance(dst, np.ndarray):
        dst.reshape(-1).view(np.uint8)[:size] = val
        return
    _driver.memset_d8(dst.gpu_data.device_pointer_value, val, size)


def _address(memory: Any) -> int:
    """The address of a device array, of a MemoryPointer, or as a number."""
    found = getattr(memory, "gpu_data", memory)
    found = getattr(found, "device_pointer_value", found)
    return int(found)


def _on(stream: Any) -> Any:
    return None if isinstance(stream, int) and stream == 0 else stream


def _bytes_of(host: Any, size: int, call: str) -> Any:
    """The first bytes of a host array. Raises ValueError if it has fewer or gaps."""
    array = np.asanyarray(host)
    if not array.flags.forc:
        raise ValueError(f"{call}: the host array must be contiguous")
    if not 0 <= size <= array.nbytes:
        raise ValueError(
            f"{call}: size must be from 0 to {array.nbytes}, the bytes of the host array, "
            f"not {size}"
        )
    return array.reshape(-1, order="A").view(np.uint8)[:size]


def host_to_device(dst: Any, src: Any, size: int, stream: Any = 0) -> None:
    """Copy the first *size* bytes of a host array to device memory: an array, a MemoryPointer or
    an address."""
    given = _bytes_of(src, size, "host_to_device")
    if _on(stream) is None:
        _driver.memcpy_htod(_address(dst), given)
    else:
        _driver.memcpy_htod_async(_address(dst), given, stream)


def device_to_host(dst: Any, src: Any, size: int, stream: Any = 0) -> None:
    """Copy *size* bytes of device memory to a host array, see host_to_device."""
    given = _bytes_of(dst, size, "device_to_host")
    if _on(stream) is None:
        _driver.memcpy_dtoh(given, _address(src))
    else:
        _driver.memcpy_dtoh_async(given, _address(src), stream)


def device_to_device(dst: Any, src: Any, size: int, stream: Any = 0) -> None:
    """Copy *size* bytes of device memory to other device memory, see host_to_device."""
    if _on(stream) is None:
        _driver.memcpy_dtod(_address(dst), _address(src), size)
    else:
        _driver.memcpy_dtod_async(_address(dst), _address(src), size, stream)


def get_version() -> tuple[int, int]:
    """(major, minor) of CUDA, as the driver has it."""
    found = _driver.get_driver_version()
    return found // 1000, found % 1000 // 10


def is_supported_version() -> bool:
    """True."""
    return True


class _Driver:
    """``numba.cuda.cudadrv.driver.driver``, without the driver's own functions."""

    def get_version(self) -> tuple[int, int]:
        return get_version()

    def get_device_count(self) -> int:
        """How many devices there are."""
        return len(gpus)

    @property
    def is_available(self) -> bool:
        from pygpu.cuda import is_available

        return is_available()

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"the driver's function {name} cannot be called here; see pygpu.cuda.driver"
        )


class _Runtime:
    """``numba.cuda.runtime``"""

    def get_version(self) -> tuple[int, int]:
        return get_version()

    def is_supported_version(self) -> bool:
        return True


driver: _Driver = _Driver()
runtime: _Runtime = _Runtime()


def is_cuda_ndarray(obj: Any) -> bool:
    """Whether it is a device array."""
    return isinstance(obj, _AnyDeviceNDArray)


def require_cuda_ndarray(obj: Any) -> None:
    """Raises ValueError unless it is a device array."""
    if not is_cuda_ndarray(obj):
        raise ValueError(f"a device array is needed, not {type(obj).__name__}")


verify_cuda_ndarray_interface = require_cuda_ndarray


errmsg_contiguous_buffer = "the items do not lie in one piece of memory"


def array_core(ary: Any) -> Any:
    """The part of an array that broadcasting repeats: its first item along axes of stride 0."""
    if not ary.strides or not ary.size:
        return ary
    return ary[tuple([0 if s == 0 else slice(None) for s in ary.strides])]


class DeviceRecord(DeviceNDArray):
    """A device array of no dimension: one record."""

    def __init__(self, dtype: Any, stream: Any = 0, gpu_data: Any = None) -> None:
        super().__init__((), np.dtype(dtype))


def from_record_like(rec: Any, stream: Any = 0, gpu_data: Any = None) -> DeviceRecord:
    """A new record of the dtype of *rec*."""
    return DeviceRecord(rec.dtype)


def from_array_like(ary: Any, stream: Any = 0, gpu_data: Any = None) -> DeviceNDArray:
    """A new device array of the shape, dtype and strides of *ary*."""
    if gpu_data is not None:
        raise NotImplementedError("from_array_like: gpu_data is not supported")
    return DeviceNDArray(ary.shape, ary.dtype, strides=ary.strides)


def is_contiguous(ary: Any) -> bool:
    """Whether the items lie in C order without gaps, broadcast axes left aside."""
    pairs = [(n, s) for n, s in zip(ary.shape, ary.strides) if n > 1 and s]
    step = int(ary.dtype.itemsize)
    for n, s in reversed(pairs):
        if s != step:
            return False
        step *= n
    return True


def auto_device(obj: Any, stream: Any = 0, copy: bool = True) -> tuple[Any, bool]:
    """A device array of it, and whether that is a new one."""
    if is_cuda_ndarray(obj):
        return obj, False
    return to_device(obj, stream=stream, copy=copy), True
