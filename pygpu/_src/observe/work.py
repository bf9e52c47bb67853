"""The queues and streams that a call uses: those of its arguments, results and surroundings."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from types import CodeType
from typing import Any

from pygpu import _cuda, _opencl
from pygpu._array import GPUArray
from pygpu._src.runtime.backend import Backend
from pygpu._src.runtime.backends import backend_of

_DEEP = 5  # depth of nested containers that are searched
_MANY = 1000  # items per container, and values in total

# A queue or stream with its backend; the queue None is CUDA's default stream.
Work = tuple[Backend, Any]


def find_work(*values: Any) -> list[Work]:
    """Return the queues of arrays, events, queues and contexts among the values, without
    duplicates, in order."""
    found: dict[tuple[int, int], Work] = {}
    seen: set[int] = set()

    def add(backend: Backend, queue: Any) -> None:
        found.setdefault((id(backend), 0 if queue is None else hash(queue)), (backend, queue))

    def visit(value: Any, depth: int) -> None:
        if id(value) in seen or len(seen) > _MANY:
            return
        seen.add(id(value))
        if isinstance(value, GPUArray):
            if value.backend is not None:
                add(value.backend, value.queue)
        elif isinstance(value, (_opencl.CommandQueue, _cuda.Stream, _cuda.Context)):
            add(backend_of(value), None if isinstance(value, _cuda.Context) else value)
        elif isinstance(value, _opencl.Event):
            queue = None if isinstance(value, _opencl.UserEvent) else value.command_queue
            if queue is not None:
                add(backend_of(queue), queue)
        elif isinstance(value, _cuda.DeviceAllocation):
            if _cuda.Context.get_current() is not None:
                add(backend_of(None), None)
        elif depth:
            for item in _items(value):
                visit(item, depth - 1)

    for value in values:
        visit(value, _DEEP)
    return list(found.values())


def _items(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return list(value.values())[:_MANY]
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)[:_MANY]
    return ()


def current_work() -> list[Work]:
    """Return the default stream of the current CUDA context, if there is one."""
    if _cuda._library() is None or _cuda.Context.get_current() is None:
        return []
    return [(backend_of(None), None)]


def surroundings(function: Callable[..., Any]) -> list[Any]:
    """Return the objects that a function refers to besides its arguments: its bound object, its
    closure, and the globals that its code names."""
    found: list[Any] = []
    while isinstance(function, functools.partial):
        found += [*function.args, *function.keywords.values()]
        function = function.func
    found.append(getattr(function, "__self__", None))
    code = getattr(function, "__code__", None)
    if isinstance(code, CodeType):
        names = function.__globals__
        found += [names[name] for name in code.co_names if name in names]
        for cell in function.__closure__ or ():
            try:
                found.append(cell.cell_contents)
            except ValueError:  # an empty cell
                pass
    return [one for one in found if one is not None]
