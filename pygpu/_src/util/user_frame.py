"""Finding the line of the user's program that called pygpu."""

from __future__ import annotations

import sys
from types import FrameType

_OURS = frozenset(("pygpu", "importlib", "numpy", "contextlib", "functools", "threading"))


def _is_ours(frame: FrameType) -> bool:
    name = frame.f_globals.get("__name__")
    return isinstance(name, str) and name.partition(".")[0] in _OURS


def user_frame(depth: int = 1) -> FrameType | None:
    """Return the nearest frame outside pygpu and the modules through which it is called, starting
    at the caller's *depth*-th caller; None if there is none."""
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None and _is_ours(frame):
        frame = frame.f_back
    return frame


def _is_uncounted(frame: FrameType) -> bool:
    """Whether warnings and logging leave a frame out when they count: the import system's."""
    file = frame.f_code.co_filename
    return "importlib" in file and "_bootstrap" in file


def user_stacklevel() -> int:
    """Return the stack level of that frame, for warnings and log records that the caller writes."""
    level = 1
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_ours(frame):
        level, frame = level + (not _is_uncounted(frame)), frame.f_back
    return level
