"""Launches on CUDA whose kernels are being compiled, which the program does not wait for.

Until then, C keeps the launch (``src/array/pending.c``) and makes it before any other command.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pygpu import _array

from . import elementwise, launch_cache

if TYPE_CHECKING:
    from pygpu._src.runtime.backend import Backend


def launch(
    backend: Backend,
    queue: Any,
    prepared: elementwise.Launch,
    operation: elementwise.Operation,
    operands: tuple[Sequence[Any], Sequence[Any]],
    shape: tuple[int, ...],
    call: launch_cache.Call | None,
) -> None:
    """Launch an elementwise operation on (outputs, inputs) once its kernel is compiled, or now if
    memory or the queue does not permit that it waits."""
    outs, every = operands[0], (*operands[0], *operands[1])
    args = elementwise.arguments(backend, prepared, operation, every)
    compilers = [*backend.compiling.values()]

    def compiled() -> elementwise.Launch:
        found = prepared
        if found.kernel is None:
            found = elementwise.prepare(backend, operation, every, shape)
        if call is not None:
            launch_cache.elementwise_call(backend, call, found, operation, outs)
        return found

    def ready() -> tuple[Any, tuple[Any, ...], dict[str, Any]] | None:
        for thread in compilers:
            _wait(thread)
        found = compiled()
        grid = found.groups if isinstance(found.groups, tuple) else (found.groups,)
        where = {"grid": grid, "block": found.group_size, "stream": queue}
        return (found.kernel, tuple(args), where) if all(grid) else None

    arrays = [x for x in every if isinstance(x, _array.GPUArray)]
    if not _array._launch_when_compiled(ready, queue, *arrays):
        found = compiled()
        backend.launch(found.kernel, queue, found.groups, found.group_size, args)


def _wait(thread: threading.Thread) -> None:
    """Wait until another thread ends. A signal handler's exception must not lose the launch."""
    while thread.is_alive() and thread is not threading.current_thread():
        try:
            thread.join()
        except BaseException as error:
            _array._raise_after_launches(error)
