"""Work on a stream that waits until the test lets it go on, by the driver's own host functions."""

from __future__ import annotations

import ctypes
import threading
from types import TracebackType

from pygpu import _cuda

HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Gate:
    """What is queued on a stream behind a gate does not begin before open().

    A context manager, which opens it at the end. Nobody waits longer than ten seconds.
    """

    def __init__(self, stream: object = None) -> None:
        self._opened = threading.Event()
        self.passed = threading.Event()
        self._function = HOST_FUNCTION(self._wait)
        driver = ctypes.CDLL(_cuda._library())
        handle = 0 if stream is None else stream.handle  # type: ignore[attr-defined]
        status = driver.cuLaunchHostFunc(ctypes.c_void_p(handle), self._function, None)
        assert status == 0, f"cuLaunchHostFunc gave {status}"

    def _wait(self, _: object) -> None:
        self._opened.wait(10)
        self.passed.set()

    def open(self) -> None:
        self._opened.set()

    def __enter__(self) -> Gate:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.open()
        assert self.passed.wait(10)


def opened_by(gate: Gate, seconds: float) -> threading.Timer:
    """Opens a gate after a while, from another thread."""
    timer = threading.Timer(seconds, gate.open)
    timer.start()
    return timer
