"""``pygpu.track_memory()`` and ``pygpu.memory_report()``: the lines of a program that hold device
memory.

While tracking is on, the extensions report each new allocation (``src/common/track.c``). It is
attributed to the nearest line outside pygpu and NumPy until its object is freed.
"""

from __future__ import annotations

import linecache
import os
import threading
import weakref
from types import TracebackType
from typing import Any, NamedTuple, Self

from pygpu import _array, _cuda, _opencl
from pygpu._src.runtime.backend import Backend
from pygpu._src.runtime.backends import backend_of
from pygpu._src.runtime.memory import memory_info
from pygpu._src.util.frozen import Frozen
from pygpu._src.util.public import publish
from pygpu._src.util.user_frame import user_frame
from pygpu._src.util.wording import counted
from pygpu.errors import Error

from . import text

_UNKNOWN = ("", 0)


class _Allocation(NamedTuple):
    memory: weakref.ref[Any]
    size: int
    where: tuple[str, int]  # file and line
    device: str


_allocations: dict[int, _Allocation] = {}
_lock = threading.RLock()  # garbage collection in this thread may free tracked objects
_on = False


def _record_allocation(memory: Any, size: int) -> None:
    """Record an allocation; called by the extensions."""
    frame = user_frame(2)
    where = _UNKNOWN if frame is None else (frame.f_code.co_filename, frame.f_lineno)
    key = id(memory)

    def on_release(ref: weakref.ref[Any]) -> None:
        with _lock:
            piece = _allocations.get(key)
            if piece is not None and piece.memory is ref:
                del _allocations[key]

    piece = _Allocation(weakref.ref(memory, on_release), size, where, _device_of(memory))
    with _lock:
        _allocations[key] = piece


def _device_of(memory: Any) -> str:
    try:
        if isinstance(memory, _cuda.DeviceAllocation):
            return str(_cuda.Context.get_device().name())
        return str(memory.context.devices[0].name).strip()
    except (Error, AttributeError):
        return "a device"


def _is_released(memory: Any) -> bool:
    """Whether the program has released the memory but kept the object."""
    try:
        if isinstance(memory, _cuda.DeviceAllocation):
            return int(memory) == 0
        if isinstance(memory, _opencl.MemoryObjectHolder):
            return memory.get_info(_MEM_SIZE) is None
        return False
    except Error:
        return True


_MEM_SIZE = 0x1102  # mem_info.SIZE


class track_memory:
    """Track device memory by the lines that allocate it, for :func:`pygpu.memory_report`.

    ``pygpu.track_memory()`` starts tracking, ``pygpu.track_memory(False)`` stops it; ``with
    pygpu.track_memory():`` tracks a block. Tracked memory is reported as long as it is allocated.
    While tracking is on, allocations take some microseconds longer.
    """

    def __init__(self, on: bool = True) -> None:
        if not isinstance(on, bool):
            raise TypeError(f"track_memory: on must be True or False, not {type(on).__name__}")
        self._before = _on
        self._now = on
        _switch(on)

    def __enter__(self) -> Self:
        _switch(self._now)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _switch(self._before)

    def __repr__(self) -> str:
        pieces = counted(len(_allocations), "piece")
        return f"<pygpu.track_memory: {'on' if _on else 'off'}, {pieces} of memory>"


def _switch(on: bool) -> None:
    global _on
    for module in (_opencl, _cuda):
        module._track_memory(_record_allocation if on else None)
    _on = on


class MemoryLine(Frozen):
    """Live memory that one line of the program allocated. pieces: the number of allocations."""

    file: str
    line: int
    device: str
    pieces: int
    nbytes: int

    @property
    def code(self) -> str:
        """Return the text of the line, "" if it is unknown."""
        return linecache.getline(self.file, self.line).strip()


class DeviceMemory(Frozen):
    """Memory of a device in bytes. total: of the device. in_use: by live arrays from the default
    pool. held: kept by that pool for new arrays. free: what the driver can still allocate, None
    for OpenCL."""

    device: str
    total: int
    in_use: int
    held: int
    free: int | None


class MemoryReport:
    """The result of :func:`pygpu.memory_report`. lines: those with the most memory first. devices:
    those with arrays. tracking: whether tracking was on."""

    def __init__(
        self, lines: tuple[MemoryLine, ...], devices: tuple[DeviceMemory, ...], tracking: bool
    ) -> None:
        self.lines = lines
        self.devices = devices
        self.tracking = tracking

    @property
    def nbytes(self) -> int:
        """Return the bytes of all lines."""
        return sum(line.nbytes for line in self.lines)

    def _line_rows(self) -> list[list[str]]:
        return [
            [
                f"{_short(line.file)}:{line.line}" if line.line else "(no line of the program)",
                text.size(line.nbytes),
                str(line.pieces),
                line.device,
                line.code[:60],
            ]
            for line in self.lines
        ]

    def _device_rows(self) -> list[list[str]]:
        return [
            [
                device.device,
                text.size(device.in_use),
                text.size(device.held),
                "unknown" if device.free is None else text.size(device.free),
                text.size(device.total),
            ]
            for device in self.devices
        ]

    def _note(self) -> str:
        if self.lines or self.tracking:
            return ""
        return "no lines: pygpu.track_memory() must be called before memory is allocated"

    def __repr__(self) -> str:
        parts = []
        if self.lines:
            parts.append(text.table(_LINE_HEAD, self._line_rows()))
        if self.devices:
            parts.append(text.table(_DEVICE_HEAD, self._device_rows()))
        parts += [self._note()] if self._note() else []
        return "\n\n".join(parts) or _NOTHING

    def _repr_html_(self) -> str:
        parts = []
        if self.lines:
            parts.append(text.html_table("Memory by line", _LINE_HEAD, self._line_rows()))
        if self.devices:
            parts.append(text.html_table("Memory by device", _DEVICE_HEAD, self._device_rows()))
        note = self._note() or ("" if parts else _NOTHING)
        return "".join(parts) + (f"<p>{note}</p>" if note else "")


_NOTHING = "no device memory is in use"
_LINE_HEAD = ["line", "memory", "pieces", "device", "code"]
_DEVICE_HEAD = ["device", "arrays", "held by the pool", "free", "total"]


def _short(path: str) -> str:
    """Return the path relative to the current folder if it is inside it."""
    try:
        short = os.path.relpath(path)
    except (ValueError, OSError):  # on another drive, or there is no current folder
        return path
    return path if short.startswith("..") else short


def _backends() -> list[Backend]:
    """Return the known backends with arrays: those of queues, and of the current context."""
    found: dict[int, Backend] = {}
    for queue, _ in _opencl._queues_alive():
        backends: dict[Any, Backend] = queue.context.__dict__.get("_pygpu_backends") or {}
        for backend in backends.values():
            found.setdefault(id(backend), backend)
    if _cuda._library() is not None and _cuda.Context.get_current() is not None:
        backend = backend_of(None)
        found.setdefault(id(backend), backend)
    return list(found.values())


def memory_report() -> MemoryReport:
    """Report which lines of the program hold device memory, and what the devices' pools hold.

    Only memory that was allocated while :func:`pygpu.track_memory` was on has a line.
    """
    # Deferred operations keep their inputs alive and will allocate their results.
    _array._chain_flush()
    with _lock:
        pieces = list(_allocations.values())
    sums: dict[tuple[Any, ...], list[int]] = {}
    for piece in pieces:
        memory = piece.memory()
        if memory is not None and not _is_released(memory):
            entry = sums.setdefault((*piece.where, piece.device), [0, 0])
            entry[0] += 1
            entry[1] += piece.size
        del memory
    lines = [MemoryLine(*key, *entry) for key, entry in sums.items()]
    lines.sort(key=lambda line: (-line.nbytes, line.file, line.line))
    devices: dict[str, DeviceMemory] = {}
    for backend in _backends():
        info = memory_info(backend.context) if backend.name == "cuda" else _of_opencl(backend)
        name = backend.label
        before = devices.get(name)  # from another context of the same device
        in_use, held = (0, 0) if before is None else (before.in_use, before.held)
        devices[name] = DeviceMemory(
            name, info.total, in_use + info.in_use, held + info.held, info.free
        )
    return MemoryReport(tuple(lines), tuple(devices.values()), _on)


def _of_opencl(backend: Backend) -> Any:
    return memory_info(backend.default_queue)  # type: ignore[attr-defined]


publish(globals(), ["memory_report", "track_memory"], "pygpu")
publish(globals(), ["DeviceMemory", "MemoryLine", "MemoryReport"], "pygpu.profiling")
