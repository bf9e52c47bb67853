"""``pygpu.profile()``: which commands were submitted to devices, and when they ran.

The extensions record commands (``src/opencl/commands/profile.c``,
``src/cuda/commands/profile.c``). This module converts the devices' clocks to the host's, and makes
a table, a trace and a picture.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar, overload

from pygpu import _array, _cuda, _opencl
from pygpu._src.util.frozen import Frozen
from pygpu._src.util.public import publish
from pygpu._src.util.wording import counted

from . import picture, text

_P = ParamSpec("_P")
_R = TypeVar("_R")

_LIMIT = 100_000


class Command(Frozen):
    """A command of a profile. Times are seconds since the profile's start.

    kind: "kernel", "copy to device", ... name: the kernel's, else the kind. device, queue: where
    it ran. nbytes: how many were moved, 0 if unknown. called, returned: times of the call on the
    host, by *thread*. start, end: times on the device; None if unknown. groups, group: the sizes
    of a kernel's launch.
    """

    kind: str
    name: str
    device: str
    queue: str
    nbytes: int
    called: float
    returned: float
    thread: int
    start: float | None
    end: float | None
    groups: tuple[int, ...] = ()
    group: tuple[int, ...] = ()

    @property
    def seconds(self) -> float | None:
        """Return how long it ran on the device."""
        return None if self.start is None or self.end is None else self.end - self.start


class Range(Frozen):
    """A part of the program named by ``profile.range()``."""

    name: str
    start: float
    end: float
    thread: int


_active: Profile | None = None
_lock = threading.Lock()


class Profile:
    """The result of :func:`pygpu.profile`, which is also a context manager that records it.

    commands, ranges: in the order of the calls. left_out: the number of commands beyond the limit.
    notes: what is missing, and why.
    """

    def __init__(self, nvtx: bool | None = None, limit: int = _LIMIT) -> None:
        self.limit = limit
        self.commands: tuple[Command, ...] = ()
        self.ranges: tuple[Range, ...] = ()
        self.left_out: int = 0
        self.notes: tuple[str, ...] = ()
        self.seconds: float = 0.0
        self._nvtx = nvtx
        self._nvtx_ranges: Any = None
        self._begin: float | None = None
        self._process = 0
        self._ranges: list[Range] = []

    def __call__(self, function: Callable[_P, _R]) -> Callable[_P, _R]:
        """As a decorator: profile each call of the function; the last profile is its attribute
        ``profile``."""
        return _decorated(function, self._nvtx, self.limit)

    # ---- start and stop

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start recording. Raises RuntimeError while a profile is active in this process."""
        global _active
        from . import nvtx

        pushed = nvtx.find(self._nvtx)
        addresses = (0, 0) if pushed is None else pushed.addresses
        with _lock:
            if _active is not None and _active._process == os.getpid():
                raise RuntimeError(
                    "pygpu.profile: a profile is active already; end it, or use its range(name) "
                    "for the part inside"
                )
            _active = self
        self._nvtx_ranges = pushed
        self._process = os.getpid()
        self._ranges = []
        self._recorded: dict[Any, bool] = {}  # not in a forked child, which has no devices
        try:
            _array._chain_flush()
            for module in (_opencl, _cuda):
                module._profile_nvtx(*addresses)
                self._recorded[module] = module._profile_begin(self.limit)
            for queue, _ in _opencl._queues_alive():
                _opencl._profile_queue(queue, True)
            self._begin = time.perf_counter()
        except BaseException:
            self._begin = 0.0
            self.stop()
            raise

    def stop(self) -> None:
        """Wait for the recorded commands and end the profile. Does nothing if it is not active."""
        global _active
        if _active is not self or self._begin is None:
            return
        try:
            if self._process == os.getpid():  # a forked child has no devices
                self._collect(self._begin)
        finally:
            for module in (_opencl, _cuda):
                module._profile_nvtx(0, 0)
            self._begin = self._nvtx_ranges = None
            _active = None

    def _collect(self, begin: float) -> None:
        _array._chain_flush()
        queues = {}
        numbers: dict[str, int] = {}
        for queue, handle in _opencl._queues_alive():
            device = _device_name(queue)
            numbers[device] = numbers.get(device, -1) + 1
            queues[handle] = (device, f"queue {numbers[device]}")
        if not _opencl._user_events_pending():
            # Commands that wait for a user event may never finish.
            for queue, _ in _opencl._queues_alive():
                with contextlib.suppress(_opencl_error()):
                    _opencl._profile_queue(queue, False)
                    queue.finish()
        nothing: tuple[list[Any], int] = ([], 0)
        found, lost = _opencl._profile_end() if self._recorded.get(_opencl) else nothing
        more, also_lost = _cuda._profile_end() if self._recorded.get(_cuda) else nothing
        made = _commands(_of_opencl(found, queues), begin, True)
        made += _commands(_of_cuda(more), begin, False)
        self.seconds = time.perf_counter() - begin
        self.commands = tuple(sorted(made, key=lambda command: command.called))
        self.ranges = tuple(self._ranges)
        self.left_out = lost + also_lost
        self.seconds = max(self.seconds, _last(self.commands))
        self.notes = tuple(self._find_notes())

    def _find_notes(self) -> Iterator[str]:
        unknown = [c for c in self.commands if c.start is None]
        if unknown:
            queues = ", ".join(dict.fromkeys(f"{c.queue} of {c.device}" for c in unknown))
            yield (
                f"{len(unknown)} of {len(self.commands)} commands have no times on the device "
                f"({queues}): they failed, wait for a user event, are part of a graph, or their "
                "queue was made without command_queue_properties.PROFILING_ENABLE and its handle "
                "is shared"
            )
        if self.left_out:
            yield f"left out: {counted(self.left_out, 'command')} beyond the limit of {self.limit}"

    @contextlib.contextmanager
    def range(self, name: str) -> Iterator[None]:
        """Name a part of the program, for the trace, the picture and NVTX."""
        if not isinstance(name, str):
            raise TypeError(f"profile.range: name must be a str, not {type(name).__name__}")
        begin, pushed = self._begin, self._nvtx_ranges
        if pushed is not None:
            pushed.push(name)
        start = time.perf_counter()
        try:
            yield
        finally:
            if pushed is not None:
                pushed.pop()
            if begin is not None:
                end = time.perf_counter()
                thread = threading.get_ident()
                self._ranges.append(Range(name, start - begin, end - begin, thread))

    # ---- results

    def _rows(self) -> list[list[str]]:
        groups: dict[str, list[Command]] = {}
        for command in self.commands:
            groups.setdefault(command.name, []).append(command)
        whole = sum(c.seconds or 0.0 for c in self.commands)
        rows = []
        for name, items in sorted(
            groups.items(), key=lambda item: -sum(c.seconds or 0.0 for c in item[1])
        ):
            timed = [c for c in items if c.seconds is not None]
            total = sum(c.seconds or 0.0 for c in timed)
            nbytes = sum(c.nbytes for c in timed)
            rate = f"{nbytes / total / 1e9:.2f} GB/s" if nbytes and total else ""
            numbers = ["unknown"] * 3
            if timed:
                share = f"{100 * total / whole:.1f} %" if whole else "0.0 %"
                numbers = [text.seconds(total), text.seconds(total / len(timed)), share]
            rows.append([name, str(len(items)), *numbers, rate])
        return rows

    def _title(self) -> str:
        if not self.commands:
            return "profile without commands"
        busy = sum(c.seconds or 0.0 for c in self.commands)
        return (
            f"profile of {text.seconds(self.seconds)}: {counted(len(self.commands), 'command')}, "
            f"{text.seconds(busy)} on devices"
        )

    def table(self) -> str:
        """Return a table of commands by name: count, time on the device, its share, bytes per
        second."""
        return text.table(_HEAD, self._rows())

    def __repr__(self) -> str:
        lines = [self._title(), *([self.table()] if self.commands else []), *self.notes]
        return "\n".join(lines)

    def svg(self) -> str:
        """Return a picture: a lane for each queue, for the calls of each thread, and for ranges."""
        return picture.svg(_lanes(self), self.seconds)

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{picture.escape(note)}</p>" for note in self.notes)
        return self.svg() + text.html_table(self._title(), _HEAD, self._rows()) + notes

    def trace(self) -> dict[str, Any]:
        """Return the commands in Chrome's trace format, for chrome://tracing and Perfetto."""
        return {"traceEvents": _trace_events(self), "displayTimeUnit": "ms"}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trace to a file named .json, or the picture to one named .svg."""
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"profile.save: path must be a path, not {type(path).__name__}")
        file = Path(path)
        if file.suffix == ".json":
            file.write_text(json.dumps(self.trace()), "utf-8")
        elif file.suffix == ".svg":
            file.write_text(self.svg(), "utf-8")
        else:
            raise ValueError(f"profile.save: the file must end in .json or .svg, not {file.name!r}")


_HEAD = ["name", "calls", "total", "mean", "share", "rate"]


def _opencl_error() -> type[Exception]:
    from pygpu.errors import Error

    return Error


def _device_name(queue: Any) -> str:
    try:
        return str(queue.device.name).strip()
    except _opencl_error():  # in a forked child
        return "OpenCL"


def _last(commands: Sequence[Command]) -> float:
    return max((max(c.returned, c.end or 0.0) for c in commands), default=0.0)


# ---- records of the extensions -------------------------------------------------------------------

# The extensions' record (kind, kernel, queue, bytes, begin, end, thread, times, groups, group),
# then the names of the device and the queue.
_Raw = tuple[tuple[Any, ...], str, str]


def _of_opencl(records: list[tuple[Any, ...]], queues: dict[int, tuple[str, str]]) -> list[_Raw]:
    return [(r, *queues.get(r[2], ("OpenCL", "a queue that is gone"))) for r in records]


def _of_cuda(records: list[tuple[Any, ...]]) -> list[_Raw]:
    if not records:
        return []
    devices: dict[int, str] = {}
    context = _cuda.Context.get_current()
    if context is not None:
        devices[context.handle] = _cuda.Context.get_device().name()
    streams: dict[int, str] = {0: "default stream", 1: "default stream"}
    made: list[_Raw] = []
    for record in records:
        handle, owner = record[2], record[10]
        name = streams.setdefault(handle, f"stream {len(streams) - 1}")
        device = devices.get(owner) or (f"CUDA context {owner:#x}" if owner else "CUDA")
        made.append((record, device, name))
    return made


def _offset(records: list[tuple[Any, ...]], has_queued: bool) -> float:
    """Return how far the device's clock is ahead of the host's."""
    if has_queued:  # when the driver received the command, by that clock
        ahead = sorted(r[7][0] - r[4] for r in records)
        return float(ahead[len(ahead) // 2])
    # No command began before its call: assume that the closest one began with its call.
    return max(min(float(r[7][2] - r[4]) for r in records), 0.0)


def _commands(raw: list[_Raw], begin: float, has_queued: bool) -> list[Command]:
    by_device: dict[str, list[tuple[Any, ...]]] = {}
    for record, device, _ in raw:
        if record[7] is not None:
            by_device.setdefault(device, []).append(record)
    offsets = {device: _offset(items, has_queued) for device, items in by_device.items()}
    made = []
    for record, device, queue in raw:
        kind, name, _, nbytes, called, returned, thread, times, groups, group = record[:10]
        start = end = None
        if times is not None:
            shift = offsets[device] + begin
            start, end = times[2] - shift, times[3] - shift
        made.append(
            Command(
                kind,
                name or kind,
                device,
                queue,
                nbytes,
                called - begin,
                returned - begin,
                thread,
                start,
                end,
                tuple(n for n in groups if n),
                tuple(n for n in group if n),
            )
        )
    return made


# ---- trace and picture ---------------------------------------------------------------------------


def _lanes(made: Profile) -> list[picture.Lane]:
    lanes: dict[tuple[int, str], picture.Lane] = {}

    def bar(order: int, lane: str, kind: str, name: str, start: float, end: float) -> None:
        lanes.setdefault((order, lane), picture.Lane(lane, [])).bars.append(
            picture.Bar(kind, name, start, end)
        )

    for r in made.ranges:
        bar(0, "ranges", "range", r.name, r.start, r.end)
    for c in made.commands:
        bar(1, f"calls of {_thread(c.thread)}", "call", c.name, c.called, c.returned)
        if c.start is not None and c.end is not None:
            bar(2, f"{c.queue} · {c.device}", c.kind, c.name, c.start, c.end)
    return [lanes[key] for key in sorted(lanes)]


def _thread(ident: int) -> str:
    names = {t.ident: t.name for t in threading.enumerate()}
    return names.get(ident, f"thread {ident}")


def _trace_events(made: Profile) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    tracks: dict[tuple[str, str], tuple[int, int]] = {}
    processes: dict[str, int] = {}

    def track(process: str, thread: str) -> dict[str, int]:
        if process not in processes:
            processes[process] = pid = len(processes)
            name = {"name": process}
            events.append({"ph": "M", "pid": pid, "tid": 0, "name": "process_name", "args": name})
        pid = processes[process]
        if (process, thread) not in tracks:
            tid = sum(p == pid for p, _ in tracks.values())
            tracks[process, thread] = pid, tid
            name = {"name": thread}
            events.append({"ph": "M", "pid": pid, "tid": tid, "name": "thread_name", "args": name})
        return dict(zip(("pid", "tid"), tracks[process, thread]))

    def span(name: str, kind: str, start: float, end: float, **more: Any) -> dict[str, Any]:
        duration = max(end - start, 0.0)
        return {
            "ph": "X",
            "name": name,
            "cat": kind,
            "ts": 1e6 * start,
            "dur": 1e6 * duration,
            **more,
        }

    for r in made.ranges:
        where = track("host", _thread(r.thread))
        events.append(span(r.name, "range", r.start, r.end, **where))
    for number, c in enumerate(made.commands):
        host = track("host", _thread(c.thread))
        details = {"bytes": c.nbytes, "groups": c.groups, "group": c.group}
        details = {key: value for key, value in details.items() if value}
        events.append(span(c.name, "call", c.called, c.returned, args=details, **host))
        if c.start is None or c.end is None:
            continue
        where = track(c.device, c.queue)
        events.append(span(c.name, c.kind, c.start, c.end, args=details, **where))
        arrow = {"name": "command", "cat": "command", "id": number}
        events.append({"ph": "s", "ts": 1e6 * c.called, **arrow, **host})
        events.append({"ph": "f", "bp": "e", "ts": 1e6 * c.start, **arrow, **where})
    return events


@overload
def profile(
    function: None = None, /, *, nvtx: bool | None = None, limit: int = _LIMIT
) -> Profile: ...
@overload
def profile(
    function: Callable[_P, _R], /, *, nvtx: bool | None = None, limit: int = _LIMIT
) -> Callable[_P, _R]: ...
def profile(function: Any = None, /, *, nvtx: bool | None = None, limit: int = _LIMIT) -> Any:
    """Record the commands on all queues and streams: ``with pygpu.profile() as p: ...``.

    Then ``print(p)`` shows a table, ``p.save("trace.json")`` writes a trace for chrome://tracing
    or Perfetto, and ``p.save("profile.svg")`` a picture. nvtx: also make commands and ranges NVTX
    ranges, for Nsight Systems; None: if such a tool runs the program. limit: the most commands that
    are kept. As a decorator, it profiles each call and keeps the last profile in the function's
    attribute ``profile``. Raises RuntimeError while another profile is active.
    """
    if type(limit) is not int or limit < 1:
        raise ValueError(f"profile: limit must be a positive int, not {limit!r}")
    if function is None:
        return Profile(nvtx if nvtx is None else bool(nvtx), limit)
    if not callable(function):
        raise TypeError(
            f"profile: pass a function, not {type(function).__name__}; options are given by name"
        )
    return _decorated(function, nvtx if nvtx is None else bool(nvtx), limit)


def _decorated(function: Callable[..., Any], nvtx: bool | None, limit: int) -> Callable[..., Any]:
    profiled: Any

    def new() -> Profile:
        profiled.profile = Profile(nvtx, limit)
        found: Profile = profiled.profile
        return found

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def profiled(*args: Any, **kwargs: Any) -> Any:
            with new():
                return await function(*args, **kwargs)
    elif inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(
            f"profile: {function.__name__} is a generator, whose body does not run when it is "
            "called; profile the loop over it: with pygpu.profile() as p: ..."
        )
    else:

        @functools.wraps(function)
        def profiled(*args: Any, **kwargs: Any) -> Any:
            with new():
                return function(*args, **kwargs)

    found: Callable[..., Any] = profiled
    return found


publish(globals(), ["profile"], "pygpu")
publish(globals(), ["Command", "Profile", "Range"], "pygpu.profiling")
