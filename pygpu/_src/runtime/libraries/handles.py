"""Common parts of the CUDA libraries: a handle for each stream, arrays as their calls take them."""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pygpu import _cuda

from .loading import Library

__all__ = ["Handles", "pointer", "running"]

_MOST = 8  # handles of one library in one context


class Handles:
    """Handles of a library by context and stream.

    A handle has scratch memory of its own, which two streams must not use at once; so each stream
    has its own handle, and if there are many streams, one that takes over a handle waits for the
    other, on the device.
    """

    def __init__(self, library: Library, create: Callable[[], Any], set_stream: str) -> None:
        self.library, self.create, self.set_stream = library, create, set_stream

    def get(self, backend: Any, queue: Any) -> Any:
        """The handle for a stream; the library's lock is held and the context is current."""
        store = backend.__dict__.setdefault("_library_handles", {})
        handles: OrderedDict[int, list[Any]] = store.setdefault(
            (self.library.name, self.library.path), OrderedDict()
        )
        stream = 0 if queue is None else int(queue.handle)
        entry = handles.pop(stream, None)
        if entry is None:
            if len(handles) >= _MOST:
                _, entry = handles.popitem(last=False)
                backend.order(queue, entry[1])
            else:
                entry = [self.create(), None]
            self.library.call(self.set_stream, entry[0], stream)
        entry[1] = queue
        handles[stream] = entry
        return entry[0]


def pointer(array: Any, queue: Any) -> int:
    """The address of an array's first item, for a call that uses it on a stream."""
    memory = array.base_data
    if queue is not None and isinstance(memory, _cuda.PooledDeviceAllocation):
        memory.bind_to_stream(queue)
    return int(memory) + int(array.offset)


@contextmanager
def running(library: Library, like: Any, arrays: Sequence[Any]) -> Iterator[Any]:
    """Inside, calls of the library may use the arrays on the stream of *like*: its context is
    current, the stream waits for what the arrays wait for, and no other thread is here. Gives the
    stream."""
    queue = like._queue()
    like._wait_list(queue, list(arrays))
    context = like.backend.context
    with library.lock:
        pushed = _cuda.Context.get_current() is not context
        if pushed:
            context.push()
        try:
            yield queue
        finally:
            if pushed:
                _cuda.Context.pop()


def made(call: Callable[[Any], None]) -> Any:
    """The handle that a function stores where it is told to."""
    handle = ctypes.c_void_p()
    call(ctypes.byref(handle))
    return handle.value
