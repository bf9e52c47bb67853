"""Common parts of the CUDA libraries: a handle for each stream, arrays as their calls take them."""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from pygpu import _cuda

from .loading import Library

_MOST = 8  # handles of one library in one context


class Handle:
    """A handle or plan of a library, the stream that it is used on, and the function that ends it.

    The stream is kept: another one made at its address would use the same scratch memory while
    work of the first is still running.
    """

    __slots__ = ("_destroy", "queue", "value")

    def __init__(self, library: Library, destroy: str, value: Any, queue: Any = None) -> None:
        self.value, self.queue = value, queue
        self._destroy: Callable[[Any], int] | None = library.function(destroy)

    def close(self) -> None:
        """Give its memory back; its context is current. Failures have nobody to go to."""
        destroy, self._destroy, self.queue = self._destroy, None, None
        if destroy is not None:
            destroy(self.value)


class OpenHandles:
    """The open handles of libraries in one context, the least recently used first. The context
    calls this object before it ends.
    """

    def __init__(self) -> None:
        self._handles: dict[Library, tuple[str | None, OrderedDict[Any, Handle]]] = {}

    def of(self, library: Library) -> OrderedDict[Any, Handle]:
        """Those of a library, by what they are for."""
        path, handles = self._handles.get(library, (None, None))
        if handles is None or path != library.path:  # another file: tests change it
            self._close(handles or OrderedDict())
            handles = OrderedDict()
            self._handles[library] = library.path, handles
        return handles

    @staticmethod
    def _close(handles: OrderedDict[Any, Handle]) -> None:
        while handles:
            handles.popitem()[1].close()

    def __call__(self, in_use: bool) -> None:
        """Close all. in_use: other threads may be in the libraries; if not, waiting for their locks
        inside the garbage collector could be a deadlock."""
        for library, (_, handles) in list(self._handles.items()):
            with library.lock if in_use else nullcontext():
                self._close(handles)


def open_handles(backend: Any) -> OpenHandles:
    """Those in a backend's context, which must be current."""
    found: OpenHandles | None = backend.libraries
    if found is None:  # an earlier backend of the context may have made it
        found = backend.libraries = backend.context._before_end(OpenHandles())
    return found


class Handles:
    """Handles of a library by context and stream.

    A handle has scratch memory of its own, which two streams must not use at once; so each stream
    has its own handle, and if there are many streams, one that takes over a handle waits for the
    other, on the device.
    """

    def __init__(
        self, library: Library, create: Callable[[], Any], destroy: str, set_stream: str
    ) -> None:
        self.library, self.create = library, create
        self.destroy, self.set_stream = destroy, set_stream

    def get(self, backend: Any, queue: Any) -> Any:
        """The handle for a stream; the library's lock is held and the context is current."""
        handles = open_handles(backend).of(self.library)
        stream = 0 if queue is None else int(queue.handle)
        handle = handles.pop(stream, None)
        if handle is None:
            handle = self._for_stream(backend, handles, queue, stream)
        handles[stream] = handle
        return handle.value

    def _for_stream(
        self, backend: Any, handles: OrderedDict[Any, Handle], queue: Any, stream: int
    ) -> Handle:
        if len(handles) >= _MOST:
            _, handle = handles.popitem(last=False)
        else:
            handle = Handle(self.library, self.destroy, self.create(), queue)
        try:
            backend.order(queue, handle.queue)
            self.library.call(self.set_stream, handle.value, stream)
        except BaseException:
            handle.close()
            raise
        handle.queue = queue
        return handle


def pointer(array: Any, queue: Any) -> int:
    """The address of an array's first item, for a call that uses it on a stream."""
    memory = array.base_data
    if isinstance(memory, _cuda.PooledDeviceAllocation):
        return memory._address(queue) + int(array.offset)
    return int(memory) + int(array.offset)


@contextmanager
def running(library: Library, like: Any, arrays: Sequence[Any]) -> Iterator[Any]:
    """Inside, calls of the library may use the arrays on the stream of *like*: its context is
    current, the stream waits for what the arrays wait for, and no other thread is here. Gives the
    stream."""
    queue = like._queue()
    like.backend.wait_list(queue, list(arrays))
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
    """The handle that a function stores at the address it is given."""
    handle = ctypes.c_void_p()
    call(ctypes.byref(handle))
    return handle.value
