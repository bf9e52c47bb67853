"""A progress line on the terminal, or below a notebook's cell, for work that takes long.

PYGPU_PROGRESS=0 switches it off; 1 writes it to stderr even if that is not a terminal.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

# [bytes] No shorter copy takes a second. src/array/fastpath.h has the same number.
LONG_COPY = 64 << 20

_AFTER = 1.0  # seconds before a line appears
_EVERY = 0.5  # seconds between updates
_busy = threading.Lock()  # only one line at a time


def _notebook() -> Any:
    """Return IPython's display function if this is a notebook's kernel, else None."""
    if "ipykernel" not in sys.modules:
        return None
    display = sys.modules.get("IPython.display")
    return getattr(display, "display", None)


def _writer() -> Callable[[str], None] | None:
    """Return a function that replaces the last text ("" at the end), or None if nobody would see
    it."""
    setting = os.environ.get("PYGPU_PROGRESS", "").lower()
    if setting in ("0", "false", "no"):
        return None
    display = _notebook()
    if display is not None:
        return _Widget(display)
    stream = sys.stderr
    try:
        if stream is None or not (setting or stream.isatty()):
            return None
    except (OSError, ValueError, AttributeError):  # closed, or not a file
        return None

    def write(text: str) -> None:
        width = os.get_terminal_size(stream.fileno()).columns if stream.isatty() else 80
        stream.write(f"\r{text[: width - 1]}\x1b[K")
        stream.flush()

    return write


class _Widget:
    """An output in a notebook's cell that can be updated."""

    def __init__(self, display: Any) -> None:
        self.display = display
        self.handle: Any = None

    def __call__(self, text: str) -> None:
        data = {"text/plain": text} if text else {}  # without data, no empty output stays
        if self.handle is None:
            self.handle = self.display(data, raw=True, display_id=True)
        else:
            self.handle.update(data, raw=True)


@contextmanager
def line(text: Callable[[], str]) -> Iterator[None]:
    """Show ``pygpu: <text>, <seconds> s`` after a second, until the block ends."""
    write = _writer() if threading.current_thread() is threading.main_thread() else None
    if write is None or not _busy.acquire(blocking=False):
        yield
        return
    done = threading.Event()
    thread = threading.Thread(
        target=_show, args=(write, text, done), name="pygpu progress", daemon=True
    )
    try:
        try:
            thread.start()
        except RuntimeError:  # no more threads, or the interpreter is shutting down
            thread = threading.current_thread()
        yield
    finally:
        done.set()
        if thread is not threading.current_thread():
            thread.join()
        _busy.release()


_nothing = nullcontext()


def copying(nbytes: int, where: str, blocking: bool) -> AbstractContextManager[None]:
    """Around a copy: a line if it takes long and the host waits for it."""
    if nbytes < LONG_COPY or not blocking:
        return _nothing
    unit, scale = ("GiB", 1 << 30) if nbytes >= 1 << 30 else ("MiB", 1 << 20)
    return line(lambda: f"copying {nbytes / scale:.1f} {unit} {where}")


def _show(write: Callable[[str], None], text: Callable[[], str], done: threading.Event) -> None:
    start = time.monotonic()
    if done.wait(_AFTER):
        return
    try:
        what = text()
        while True:
            write(f"pygpu: {what}, {time.monotonic() - start:.0f} s")
            if done.wait(_EVERY):
                break
        write("")
    except Exception:  # the stream is closed or its device is gone: show no line
        return
