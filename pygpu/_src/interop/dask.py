"""Dask's protocols for array libraries, for arrays on a device."""

from __future__ import annotations

import time
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
from pygpu._src.user_kernels.bit_generator import Philox4x32

from . import dask_functions

dask_messages: Any = None
_WorkerPlugin: Any = object
try:
    from distributed import WorkerPlugin as _WorkerPlugin

    from . import dask_messages
except ImportError:  # Dask without distributed
    pass


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
        return data.map_blocks(_to_device, meta=meta, **kwargs)

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


def _to_device(chunk: Any) -> Any:
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
    arrays = dask_messages.arrays_in(result)
    begin = time.time()
    device.backend.synchronize(device.queue)
    # Dask has measured how long the task took. It plans with that, so the wait has to count.
    if isinstance(result, dict) and isinstance(result.get("stop"), float):
        result["stop"] += time.time() - begin
    dask_messages.mark_complete(arrays, device)
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
        if isinstance(value, _HostCopy):
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
                    self._items[other] = _HostCopy(old)
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


class _HostCopy:
    __slots__ = ("device", "host")

    def __init__(self, array: Any) -> None:
        self.device, self.host = array.device, array.get()


def _device_bytes(value: Any) -> int:
    return int(value.nbytes) if isinstance(value, GPUArray) else 0
