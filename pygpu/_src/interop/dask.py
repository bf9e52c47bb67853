"""Dask's protocols for array libraries, for arrays on a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping, Sequence
from functools import partial
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.array.backends import ArrayBackendEntrypoint, array_creation_dispatch
from dask.array.dispatch import to_numpy_dispatch
from dask.sizeof import sizeof

from pygpu._array import GPUArray
from pygpu._src.array.device import (
    Device,
    as_device,
    default_device,
    devices,
    set_default_device,
)
from pygpu._src.array.interchange import from_cuda_array
from pygpu._src.user_kernels.bit_generator import Philox4x32
from pygpu._src.util.lazy import provided

from . import dask_functions

_messages: Any = None  # has no type stubs
_WorkerPlugin: Any = object
try:
    from distributed import WorkerPlugin as _WorkerPlugin
    from distributed import protocol as _messages
except ImportError:  # Dask without distributed
    pass

__all__ = ["ArrayBackend", "DeviceOfWorker", "LimitedDevice"]


def _sizeof(array: Any) -> int:
    return int(array.nbytes)


def _to_numpy(array: Any, **kwargs: Any) -> Any:
    return array.get()


def _with_meta(name: str, /, *args: Any, meta: Any = None, **kwargs: Any) -> Any:
    """Call dask.array's function with chunks like *meta*: an array on the default device."""
    meta = default_device().empty((), np.dtype(np.float64)) if meta is None else meta
    with dask.config.set({"array.backend": "numpy"}):
        return getattr(da, name)(*args, meta=meta, **kwargs)


class ArrayBackend(ArrayBackendEntrypoint):
    """``dask.config.set({"array.backend": "pygpu"})``: dask.array creates chunks on the default
    device of the worker that computes them."""

    @classmethod
    def to_backend(cls, data: Any, **kwargs: Any) -> Any:
        """Return a collection with its chunks on the device."""
        if isinstance(data._meta, GPUArray):
            return data
        meta = default_device().empty((0,) * data.ndim, data.dtype)
        return data.map_blocks(_put, meta=meta, **kwargs)

    @property
    def RandomState(self) -> Any:
        """Raise: pygpu does not have a legacy generator."""
        raise NotImplementedError(
            "the backend pygpu has no RandomState; use da.random.default_rng(seed)"
        )

    @property
    def default_bit_generator(self) -> Any:
        """Return the class Philox4x32 of pygpu.random."""
        return Philox4x32

    @staticmethod
    def ones(*args: Any, **kwargs: Any) -> Any:
        """As dask.array.ones."""
        return _with_meta("ones", *args, **kwargs)

    @staticmethod
    def zeros(*args: Any, **kwargs: Any) -> Any:
        """As dask.array.zeros."""
        return _with_meta("zeros", *args, **kwargs)

    @staticmethod
    def empty(*args: Any, **kwargs: Any) -> Any:
        """As dask.array.empty."""
        return _with_meta("empty", *args, **kwargs)

    @staticmethod
    def full(*args: Any, **kwargs: Any) -> Any:
        """As dask.array.full."""
        return _with_meta("full", *args, **kwargs)

    @staticmethod
    def arange(*args: Any, like: Any = None, **kwargs: Any) -> Any:
        """As dask.array.arange."""
        with dask.config.set({"array.backend": "numpy"}):
            return ArrayBackend.to_backend(da.arange(*args, **kwargs))


def _put(chunk: Any) -> Any:
    return default_device().put(np.asarray(chunk))


for _dispatch, _answer in ((sizeof, _sizeof), (to_numpy_dispatch, _to_numpy)):
    _register: Any = _dispatch.register
    _register(GPUArray, _answer)
array_creation_dispatch.register_backend("pygpu", ArrayBackend())
dask_functions.install()


class DeviceOfWorker(_WorkerPlugin):  # type: ignore[misc]
    """A plugin for Dask's workers that gives each a device: ``client.register_plugin(...)``.

    names: of devices, as pygpu.xp.as_device() accepts them; by default all devices where the
    worker runs. Workers are numbered by their names (0, 1, ...). If there are more workers than
    devices, they share them in turn.

    A task ends when the device has finished its work, so that the scheduler gives the next task to
    a worker whose device is free, and an error of a kernel becomes the error of its task. With
    wait=False, it ends when its work is queued, which suits many tasks that are shorter than a
    launch.
    """

    name = "pygpu device"

    def __init__(self, names: Sequence[str] | None = None, *, wait: bool = True) -> None:
        self.names: list[str] | None = None if names is None else [*names]
        self.wait = wait

    def setup(self, worker: Any) -> None:
        """Called by Dask on each worker."""
        number = int(str(worker.name)) if str(worker.name).isdecimal() else 0
        found: Sequence[Any] = self.names or devices()
        device = as_device(found[number % len(found)])
        set_default_device(device)
        if self.wait:
            executor = worker.executors["default"]
            executor.submit = partial(executor.submit, _run_and_wait, device)

    def teardown(self, worker: Any) -> None:
        """Called by Dask when the worker ends."""
        vars(worker.executors["default"]).pop("submit", None)


def _run_and_wait(device: Device, task: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    result = task(*args, **kwargs)
    device.backend.synchronize(device.queue)
    return result


class LimitedDevice(MutableMapping[str, Any]):
    """A worker's results: ``Worker(..., data=LimitedDevice(limit))``. When the arrays on the
    device exceed *limit* bytes, the least recently used ones move to host memory; they move back
    when used."""

    def __init__(self, limit: int) -> None:
        if limit < 0:
            raise ValueError(f"LimitedDevice: limit must not be negative, and is {limit}")
        self.limit = limit
        self._items: dict[str, Any] = {}  # least recently used first
        self._on_device = 0

    def __getitem__(self, key: str) -> Any:
        value = self._items[key]
        if isinstance(value, _OnHost):
            value = value.device.put(value.host)
        self[key] = value
        return value

    def __setitem__(self, key: str, value: Any) -> None:
        if key in self._items:
            del self[key]
        self._items[key] = value
        self._on_device += _device_bytes(value)
        if self._on_device > self.limit:
            for other, old in [*self._items.items()]:
                nbytes = _device_bytes(old)
                if nbytes and other != key:
                    self._items[other] = _OnHost(old)
                    self._on_device -= nbytes
                if self._on_device <= self.limit:
                    break

    def __delitem__(self, key: str) -> None:
        self._on_device -= _device_bytes(self._items.pop(key))

    def __iter__(self) -> Iterator[str]:
        return iter([*self._items])

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, key: object) -> bool:
        return key in self._items


class _OnHost:
    __slots__ = ("device", "host")

    def __init__(self, array: Any) -> None:
        self.device, self.host = array.device, array.get()


def _device_bytes(value: Any) -> int:
    return int(value.nbytes) if isinstance(value, GPUArray) else 0


def _described(array: Any, order: str) -> dict[str, Any]:
    """Describe an array for a message's header, besides its bytes."""
    dtype = array.dtype
    kind = dtype.str if dtype.names is None else dtype.descr
    return {"dtype": kind, "shape": array.shape, "order": order}


def _dtype_of(header: dict[str, Any]) -> np.dtype[Any]:
    kind = header["dtype"]
    return np.dtype(kind if isinstance(kind, str) else [tuple(f) for f in kind])


def _serialize(array: Any) -> tuple[dict[str, Any], list[Any]]:
    """The family "dask": serialize the items as one frame of bytes, on the host."""
    host = array.get()
    order = "C" if host.flags.c_contiguous else "F"
    frames = [memoryview(host.ravel(order="K").view(np.uint8))] if host.size else []
    return _described(host, order), frames


def _deserialize(header: dict[str, Any], frames: list[Any]) -> Any:
    dtype = _dtype_of(header)
    data = np.frombuffer(frames[0], dtype) if frames else np.empty(0, dtype)
    return default_device().put(data.reshape(tuple(header["shape"]), order=header["order"]))


def _serialize_on_device(array: Any) -> tuple[dict[str, Any], list[Any]]:
    """The family "cuda", for transports that read device memory (UCX): pass the items in place,
    after waiting for them, as the transport does not know the stream."""
    source = array._dense()
    order = "C" if source._c_contiguous else "F"
    frames = [source.ravel(order="K").view(np.uint8)] if source.size else []
    source.backend.synchronize(source.queue)
    return _described(source, order), frames


def _deserialize_on_device(header: dict[str, Any], frames: list[Any]) -> Any:
    """Make an array over the memory into which the transport received."""
    dtype, shape = _dtype_of(header), tuple(header["shape"])
    if not frames:
        here = default_device()
        return (here if here.kind == "cuda" else as_device("cuda")).empty(shape, dtype)
    data: Any = frames[0]
    if not isinstance(data, GPUArray):
        data = from_cuda_array(data)
    return data.view(dtype).reshape(shape, order=header["order"])


if _messages is not None:
    from distributed.protocol import cuda

    _on_device: Any = cuda  # has no type stubs

    for _cls in (GPUArray, provided("opencl array"), provided("cuda array")):
        _messages.dask_serialize.register(_cls)(_serialize)
        _messages.dask_deserialize.register(_cls)(_deserialize)
    _on_device.cuda_serialize.register(provided("cuda array"))(_serialize_on_device)
    _on_device.cuda_deserialize.register(provided("cuda array"))(_deserialize_on_device)
