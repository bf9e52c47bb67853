"""How distributed sends arrays on a device from worker to worker.

A worker sends and receives while its device runs the next task, on the default stream. A copy on
that stream would hold up the worker's event loop until the task ends, and with it whoever waits for
the array: so messages have a stream or queue of their own. It need not wait for an array that
:func:`mark_complete` was called for.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
from distributed import protocol as _protocol
from distributed.protocol import cuda as _cuda_protocol

from pygpu._array import GPUArray
from pygpu._src.array.device import Device, as_device, default_device
from pygpu._src.array.interchange import from_cuda_array
from pygpu._src.util.lazy import provided

_protocols: Any = _protocol  # have no type stubs
_on_device: Any = _cuda_protocol

# Larger arrays are not copied to page-locked memory first: distributed receives them in another
# thread than its event loop's ("distributed.comm.offload"), which may wait.
STAGED = 16 << 20
_MANY = 1000  # items of a container that are looked at for arrays
_NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING

# by backend
_to_send: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
_to_receive: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
_staging: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def arrays_in(result: Any, depth: int = 3) -> list[Any]:
    """The arrays in a task's result, also in its containers unless these are large; deferred
    operations are queued. Messages wait for arrays that are not found."""
    found = [*_walk(result, depth)]
    for array in found:
        array.base_data  # noqa: B018  (queues what is deferred)
    return found


def _walk(value: Any, depth: int) -> Iterator[Any]:
    if isinstance(value, GPUArray):
        yield value
    elif depth and isinstance(value, (dict, list, tuple)) and len(value) <= _MANY:
        for item in value.values() if isinstance(value, dict) else value:
            yield from _walk(item, depth - 1)


def mark_complete(arrays: list[Any], device: Device) -> None:
    """Note that the device has computed these arrays. Dask's results are not changed any more."""
    for array in arrays:
        if array.backend is device.backend:
            array._complete = True
            _use_now(array)


def _use_now(array: Any) -> None:
    """Copy a byte on the stream to send on: a stream's first use of a pool's block is ordered after
    all work of its former owner's streams, which the next task's would be if it were made later."""
    backend = array.backend
    if backend.name == "cuda" and array.nbytes:
        with Device(backend).current():
            byte = _staging_pool(backend).allocate((1,), np.uint8)
        stream = _queue_for(_to_send, backend)
        backend.to_host(stream, byte, array.base_data, array.offset, blocking=False)


def _queue_for(queues: weakref.WeakKeyDictionary[Any, Any], backend: Any) -> Any:
    """The stream or queue of a direction. Backends are used by one process only."""
    queue = queues.get(backend)
    if queue is None:
        queue = queues.setdefault(backend, _new_queue(backend))
    return queue


def _new_queue(backend: Any) -> Any:
    if backend.name == "opencl":
        from pygpu import _opencl

        return _opencl.CommandQueue(backend.context, backend.device)
    from pygpu import _cuda

    with Device(backend).current():
        return _cuda.Stream(_NON_BLOCKING)


def _described(array: Any, order: str) -> dict[str, Any]:
    """Describe an array for a message's header, besides its bytes."""
    dtype = array.dtype
    kind = dtype.str if dtype.names is None else dtype.descr
    return {"dtype": kind, "shape": array.shape, "order": order}


def _dtype_of(header: dict[str, Any]) -> np.dtype[Any]:
    kind = header["dtype"]
    return np.dtype(kind if isinstance(kind, str) else [tuple(f) for f in kind])


def _on_host(array: Any) -> Any:
    """The items, copied to the host without waiting for the device's current work if possible."""
    contiguous = array._c_contiguous or array._f_contiguous
    if not (array.size and contiguous and getattr(array, "_complete", False)):
        return array.get()
    host = np.empty(array.shape, array.dtype, "C" if array._c_contiguous else "F")
    backend = array.backend
    backend.to_host(_queue_for(_to_send, backend), host, array.base_data, array.offset)
    return host


def _put(host: Any) -> Any:
    """Copy to the default device; for CUDA without waiting for the device's current work."""
    device = default_device()
    if device.kind != "cuda" or not host.size:
        return device.put(host)
    backend = device.backend
    stream = _queue_for(_to_receive, backend)
    order = "C" if host.flags.c_contiguous else "F"
    staged = host.nbytes <= STAGED
    with device.current():
        if staged:
            copy = _staging_pool(backend).allocate(host.shape, host.dtype, order)
            copy[...] = host
            host = copy
        array = device.empty(host.shape, host.dtype, None if order == "C" else host.strides)
        # The pool lets the copy wait for what may still use the block that became this array.
        backend.to_device(stream, array.base_data, 0, host, blocking=not staged)
        if staged:
            backend.order(device.queue, stream)
    return array


def _staging_pool(backend: Any) -> Any:
    """Page-locked memory, which goes back to the pool only when no copy uses it."""
    from pygpu import _cuda

    pool = _staging.get(backend)
    if pool is None:
        pool = _staging.setdefault(backend, _cuda.PageLockedMemoryPool())
    return pool


def _serialize(array: Any) -> tuple[dict[str, Any], list[Any]]:
    """The family "dask": serialize the items as one frame of bytes, on the host."""
    host = _on_host(array)
    order = "C" if host.flags.c_contiguous else "F"
    frames = [memoryview(host.ravel(order="K").view(np.uint8))] if host.size else []
    return _described(host, order), frames


def _deserialize(header: dict[str, Any], frames: list[Any]) -> Any:
    dtype = _dtype_of(header)
    data = np.frombuffer(frames[0], dtype) if frames else np.empty(0, dtype)
    return _put(data.reshape(tuple(header["shape"]), order=header["order"]))


def _serialize_on_device(array: Any) -> tuple[dict[str, Any], list[Any]]:
    """The family "cuda", for transports that read device memory (UCX): pass the items in place,
    after waiting for them, as the transport does not know the stream."""
    if _is_simulated():  # distributed then uses the family "dask"
        raise NotImplementedError("no transport reads the simulator's memory")
    source = array._dense()
    order = "C" if source._c_contiguous else "F"
    frames = [source.ravel(order="K").view(np.uint8)] if source.size else []
    if source is not array or not getattr(array, "_complete", False):
        source.backend.synchronize(source.queue)
    return _described(source, order), frames


def _is_simulated() -> bool:
    """UCX would receive into a GPU's memory and, where there is none, start again for ever."""
    from pygpu import _cuda

    return bool(_cuda._is_simulator())


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


for _cls in (GPUArray, provided("opencl array"), provided("cuda array")):
    _protocols.dask_serialize.register(_cls)(_serialize)
    _protocols.dask_deserialize.register(_cls)(_deserialize)
_on_device.cuda_serialize.register(provided("cuda array"))(_serialize_on_device)
_on_device.cuda_deserialize.register(provided("cuda array"))(_deserialize_on_device)
