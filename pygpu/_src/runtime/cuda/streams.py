"""Streams and events under the names of ``numba.cuda``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pygpu import _cuda
from pygpu._src.runtime.backends import backend_of
from pygpu._src.runtime.cuda import enums
from pygpu._src.util.public import publish

if TYPE_CHECKING:
    import asyncio


def stream_of(given: Any, call: str) -> Any:
    """Return a Stream, also for a stream of another library with the protocol of cuda.core, or None
    for Numba's 0. Raises TypeError for anything else."""
    if given is None or (isinstance(given, int) and given == 0):
        return None
    if isinstance(given, _cuda.Stream):
        return given
    backend_of(None)
    return Stream._of(given, call)


class Handle(int):
    """A handle or address whose number is also its ``value``, as for a ctypes pointer."""

    __slots__ = ()

    @property
    def value(self) -> int:
        """Return the plain number."""
        return int(self)


class Stream(_cuda.Stream):
    """A stream with Numba's auto_synchronize(), callbacks and a handle that has a value. external:
    whether external_stream() made it."""

    external: bool = False

    @property
    def handle(self) -> Handle:
        """The CUstream."""
        return Handle(super().handle)

    @contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        """Wait for the stream at the end of the with block."""
        yield self
        self.synchronize()

    def add_callback(self, callback: Any, arg: Any = None) -> None:
        """Call ``callback(stream, status, arg)`` when the work so far is done; status is 0."""
        _cuda.launch_host_func(self, callback, self, 0, arg)

    def async_done(self) -> asyncio.Future[Stream]:
        """Return an awaitable whose result is the stream, done when the work so far is. For
        coroutines."""
        import asyncio

        loop = asyncio.get_running_loop()
        future: asyncio.Future[Stream] = loop.create_future()

        def done() -> None:
            if not future.done():  # it may have been cancelled
                future.set_result(self)

        _cuda.launch_host_func(self, loop.call_soon_threadsafe, done)
        return future


def stream() -> Stream:
    """A new stream."""
    backend_of(None)
    return Stream()


def external_stream(ptr: int) -> Stream:
    """A stream of another library, from its handle; it must live as long as it is used."""
    found = _from_handle(ptr)
    found.external = True
    return found


def _from_handle(ptr: int) -> Stream:
    backend_of(None)
    return Stream.from_handle(ptr)  # type: ignore[return-value]


def default_stream() -> Stream:
    """Return the default stream."""
    return _from_handle(1)


legacy_default_stream = default_stream


def per_thread_default_stream() -> Stream:
    """Return this thread's default stream, which does not wait for those of other threads."""
    return _from_handle(2)


class Event(_cuda.Event):
    """An event with Numba's names."""

    def wait(self, stream: Any = 0) -> None:
        """Make later work of the stream wait for the event."""
        stream = stream_of(stream, "Event.wait")
        if stream is None:
            self.synchronize()
        else:
            stream.wait_for_event(self)

    def record(self, stream: Any = 0) -> Any:
        """Record the event on a stream."""
        return super().record(stream_of(stream, "Event.record"))

    def elapsed_time(self, evtend: Any) -> float:
        """Return the milliseconds from this event to another one."""
        return float(self.time_till(evtend))


def event(timing: bool = True) -> Event:
    """A new event."""
    backend_of(None)
    return Event(0 if timing else enums.event_flags.DISABLE_TIMING)


def event_elapsed_time(evtstart: Any, evtend: Any) -> float:
    """Return the milliseconds from one event to another."""
    if not isinstance(evtstart, _cuda.Event):
        raise TypeError(
            f"event_elapsed_time: evtstart must be an Event, not {type(evtstart).__name__}"
        )
    return float(evtstart.time_till(evtend))


publish(
    globals(),
    [
        "default_stream",
        "event",
        "event_elapsed_time",
        "external_stream",
        "legacy_default_stream",
        "per_thread_default_stream",
        "stream",
    ],
    "pygpu.cuda",
)
