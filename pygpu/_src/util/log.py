"""Records for `logging`, about work that is not on a hot path: compilations, caches, fallbacks,
fusion.

The loggers are "pygpu.compile", "pygpu.cache", "pygpu.fallback" and "pygpu.fusion". In a program
that has not imported `logging`, nobody can have added a handler, so nothing is imported or
written.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache as once
from functools import partial
from typing import TYPE_CHECKING, Any

from . import progress
from .user_frame import user_stacklevel

if TYPE_CHECKING:
    import re

DEBUG, INFO = 10, 20  # as in logging

_MOST_NAMES = 3
_MOST_TEXT = 1 << 20  # the most of a source that is searched


def is_on(name: str, level: int) -> bool:
    """Whether a record at that level of the logger ``pygpu.<name>`` would be handled."""
    logging = sys.modules.get("logging")
    return logging is not None and logging.getLogger(f"pygpu.{name}").isEnabledFor(level)


def log(name: str, level: int, message: str, *args: Any) -> None:
    """Log for ``pygpu.<name>``, with the user's file and line. Functions among the arguments are
    called only if the record is handled."""
    if not is_on(name, level):
        return
    values = [arg() if callable(arg) else arg for arg in args]
    logger = sys.modules["logging"].getLogger(f"pygpu.{name}")
    logger.log(level, message, *values, stacklevel=user_stacklevel())


@once
def _pattern() -> re.Pattern[str]:
    import re

    # Bounded repetition, so that any source takes linear time.
    mark = r"(?:(?:__attribute__|__launch_bounds__)\s?\([\w(), ]{0,60}\)\s+)?"
    kinds = r"(?:\bPG_KERNEL|\bkernel|\b__kernel|\b__global__)"
    return re.compile(rf"{kinds}\s+(?:static\s+)?{mark}void\s+{mark}(\w+)\s?[(<]")


def kernel_names(source: str | bytes | None) -> str:
    """Name the kernels that a source defines, for messages: "a, b and 3 more"."""
    if isinstance(source, bytes):
        source = source[:_MOST_TEXT].decode("utf-8", "replace")
    found = list(dict.fromkeys(_pattern().findall((source or "")[:_MOST_TEXT])))
    if not found:
        return "a program without kernels" if source else "a program"
    more = len(found) - _MOST_NAMES
    text = ", ".join(found[:_MOST_NAMES])
    return f"{text} and {more} more" if more > 0 else text


def cache_lookup(hit: bool, source: bytes | str | None) -> None:
    """Log whether a cache had what was compiled from a source."""
    log("cache", DEBUG, "%s: %s", "hit" if hit else "miss", lambda: kernel_names(source))


def _compiling(source: str | bytes | None, device: Callable[[], str]) -> str:
    return f"compiling {kernel_names(source)} for {device()}"


# No lambdas here and in its callers: CPython 3.12.1 crashes if there is no memory for one.
@contextmanager
def compiling(source: str | bytes | None, device: Callable[[], str]) -> Iterator[None]:
    """Context manager for a compilation: logs its time, and shows a line on a terminal if it takes
    long."""
    start = time.perf_counter()
    with progress.line(partial(_compiling, source, device)):
        try:
            yield
        except BaseException:
            _log_end("failed to compile", source, device, start)
            raise
    _log_end("compiled", source, device, start)


def _log_end(
    what: str, source: str | bytes | None, device: Callable[[], str], start: float
) -> None:
    if is_on("compile", INFO):
        ms = (time.perf_counter() - start) * 1e3
        log("compile", INFO, "%s %s for %s in %.0f ms", what, kernel_names(source), device(), ms)
