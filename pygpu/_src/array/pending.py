"""Launches on CUDA whose kernels are being compiled, which the program does not wait for.

Until then, C keeps the launch (``src/array/pending.c``) and makes it before any other command.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pygpu import _array
from pygpu._src.runtime import kernel_cache

if TYPE_CHECKING:
    from pygpu._src.runtime.backend import Backend


def launch(
    backend: Backend,
    kernel: Any,
    queue: Any,
    groups: int | tuple[int, ...],
    group_size: int | tuple[int, ...],
    args: Sequence[Any],
    memory: Iterable[Any],
    wait_for: Sequence[Any] | None = None,
) -> Any:
    """Launch a kernel that may be Compiling: once it is compiled, or at once if *memory* (all that
    the launch uses) or the queue does not permit that it waits. Returns the event, if any."""
    if backend.name != "cuda":
        return backend.launch(kernel, queue, groups, group_size, args, wait_for=wait_for)
    is_compiling = kernel_cache.is_compiling(kernel)
    if is_compiling or _array._pending():
        grid = groups if isinstance(groups, tuple) else (groups,)
        if not all(grid):
            return None
        where = {"grid": grid, "block": group_size, "stream": queue}
        compilers = [*backend.compiling.values()]

        def ready() -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
            for thread in compilers:
                _wait(thread)
            return kernel_cache.compiled(kernel), tuple(args), where

        if wait_for is None and _array._launch_when_compiled(ready, queue, *memory):
            return None
    kernel = kernel_cache.compiled(kernel)
    return backend.launch(kernel, queue, groups, group_size, args, wait_for=wait_for)


def _wait(thread: threading.Thread) -> None:
    """Wait until another thread ends. A signal handler's exception must not lose the launch."""
    while thread.is_alive() and thread is not threading.current_thread():
        try:
            thread.join()
        except BaseException as error:
            _array._raise_after_launches(error)
