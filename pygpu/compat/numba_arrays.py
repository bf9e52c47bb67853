"""Device arrays as programs for Numba expect them, where pygpu's own answer is another one."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from pygpu._src.array.cuda_array import GPUArray
from pygpu._src.jit import cuda_arrays
from pygpu._src.jit.cuda_arrays import DeviceNDArray as _DeviceNDArray
from pygpu._src.jit.signature import ArrayType, as_type
from pygpu.compat import numba_config

__all__ = [
    "DeviceNDArray",
    "as_cuda_array",
    "device_array",
    "device_array_like",
    "from_cuda_array_interface",
    "mapped",
    "to_device",
]

_F = TypeVar("_F", bound=Callable[..., Any])


class _NumbaConstructor(type(_DeviceNDArray)):  # type: ignore[misc]
    """DeviceNDArray(shape, strides, dtype) also makes an array."""

    def __call__(cls, shape: Any, *args: Any, **options: Any) -> Any:
        if len(args) < 2 or not (args[0] is None or isinstance(args[0], (tuple, list))):
            return super().__call__(shape, *args, **options)
        strides, dtype, *more = args
        if any(m not in (0, None) for m in (*more, *options.values())):
            raise NotImplementedError("DeviceNDArray: stream and gpu_data are not supported")
        return super().__call__(shape, dtype, strides=strides)


class DeviceNDArray(_DeviceNDArray, metaclass=_NumbaConstructor):
    """A device array that a program for Numba makes: it is true if it has items, as lists are, its
    stream is 0 if it is the default one, and its ``__cuda_array_interface__`` has no strides if it
    is contiguous, and no stream if that is the default one. Single records are views of it, so that
    their fields can be set. Arrays of pygpu.cuda in the same process are as they were."""

    _gives_records = True

    def __bool__(self) -> bool:
        return len(self) > 0

    @property
    def _numba_type_(self) -> Any:
        """The type of the array in signatures; of a record its own."""
        if not self.ndim:
            return as_type(self.dtype)
        layout = "C" if self._c_contiguous else "F" if self._f_contiguous else "A"
        return ArrayType(self.dtype, self.ndim, layout)

    @property
    def stream(self) -> Any:
        """The stream of the array's operations, 0 for the default one."""
        return 0 if self.queue is None else self.queue

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        found: dict[str, Any] = GPUArray.__cuda_array_interface__.fget(self)  # type: ignore[attr-defined]
        if self._c_contiguous:
            found["strides"] = None
        if self.queue is None:
            found["stream"] = None
        return found


def _as_numba(made: Any) -> Any:
    """A new array as Numba's programs expect it."""
    if type(made) is _DeviceNDArray:
        made.__class__ = DeviceNDArray
    return made


def _returns_numba_arrays(function: _F) -> _F:
    @functools.wraps(function)
    def make(*args: Any, **options: Any) -> Any:
        made = function(*args, **options)
        is_new = all(made is not given for given in (*args, *options.values()))
        return _as_numba(made) if is_new else made

    make.__module__ = __name__  # where pickle finds it
    return make  # type: ignore[return-value]


to_device = _returns_numba_arrays(cuda_arrays.to_device)
device_array = _returns_numba_arrays(cuda_arrays.device_array)
device_array_like = _returns_numba_arrays(cuda_arrays.device_array_like)


def from_cuda_array_interface(desc: Any, owner: Any = None, sync: bool = True) -> Any:
    """The array that a dictionary describes, on the same memory. Its operations are queued on the
    stream that *desc* names. sync: wait for that stream."""
    made = _as_numba(cuda_arrays.from_cuda_array_interface(desc, owner, sync=False))
    handle = desc.get("stream")
    if handle is None:
        return made
    stream = cuda_arrays.external_stream(handle)
    if sync and numba_config.CUDA_ARRAY_INTERFACE_SYNC:
        stream.synchronize()
    return made.bind(stream)


def as_cuda_array(obj: Any, sync: bool = True) -> Any:
    """An array of another library, on the same memory; see from_cuda_array_interface."""
    if not cuda_arrays.is_cuda_array(obj):
        raise TypeError("as_cuda_array: the object has no __cuda_array_interface__")
    return from_cuda_array_interface(obj.__cuda_array_interface__, owner=obj, sync=sync)


@contextmanager
def mapped(*arys: Any, stream: Any = 0) -> Iterator[Any]:
    """As numba.cuda.mapped."""
    with cuda_arrays.mapped(*arys, stream=stream) as made:
        yield list(map(_as_numba, made)) if isinstance(made, list) else _as_numba(made)
