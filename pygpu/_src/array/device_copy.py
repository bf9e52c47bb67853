"""Copies of arrays to another device: directly between GPUs, else through host memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from pygpu._src.util.lazy import lazy

from .device import Device

_CHUNK = (
    8 << 20
)  # bytes that go through the host at once: reading one piece overlaps with writing another


def copy_to(array: Any, device: Device) -> Any:
    """Copy *array* to *device*, which is a different device or context.

    Between two CUDA contexts the driver copies, directly if the GPUs can access each other, and
    the host does not wait; the same holds for two devices of one OpenCL context. Other copies go
    through host memory in pieces, and are complete when this returns.
    """
    source = array._dense()
    queue = source._queue(None)
    strides = None if source._c_contiguous else source.strides
    made = device.empty(source.shape, source.dtype, strides)
    nbytes = source.size * source.dtype.itemsize
    here, there = array.backend, made.backend
    waits = array.backend.wait_list(queue, [source])
    copied = made.base_data, source.base_data, source.offset, nbytes
    if nbytes == 0:
        pass
    elif here.name == there.name == "cuda":
        here.copy_to_peer(queue, there, made.queue, *copied)
    elif here.name == there.name and here.context == there.context:
        marker = here.event(queue, waits)
        queue.flush()  # commands that wait for another queue do not start it
        memory, start = source.base_data, source.offset
        queue = made.queue
        event = there.copy(queue, made.base_data, 0, memory, start, nbytes, wait_for=[marker])
        made._set_event(event)
        source._add_event(event)
    else:
        _through_the_host(here, queue, there, made.queue, *copied, waits)
    return made


def _through_the_host(
    here: Any,
    queue: Any,
    there: Any,
    other_queue: Any,
    made: Any,
    memory: Any,
    offset: int,
    nbytes: int,
    waits: Any,
) -> None:
    buffers = [_host_memory(here, there, min(nbytes, _CHUNK)) for _ in range(1 + (nbytes > _CHUNK))]
    pending: list[Any] = [None] * len(buffers)
    other = Device(there, other_queue)
    for count, start in enumerate(range(0, nbytes, _CHUNK)):
        which = count % len(buffers)
        part = buffers[which][: min(_CHUNK, nbytes - start)]
        if pending[which] is not None:
            pending[which]()
        here.to_host(queue, part, memory, offset + start, wait_for=waits)
        with other.current():
            there.to_device(other_queue, made, start, part, blocking=False)
            event = there.event(other_queue)
        pending[which] = event.wait if there.name == "opencl" else event.synchronize
    there.synchronize(other_queue)


def _host_memory(*args: Any) -> Any:
    """Allocate host bytes, page-locked if one of the backends is CUDA."""
    *backends, nbytes = args
    for backend in backends:
        if backend.name == "cuda":
            with Device(backend).current():
                return lazy("pygpu._cuda").pagelocked_empty(nbytes, np.uint8)
    return np.empty(nbytes, np.uint8)
