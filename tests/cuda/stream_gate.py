"""Work on a stream that waits until the test lets it go on, by the driver's own host functions."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
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


def run_in_threads(work: Callable[[int], None], n: int) -> None:
    """work(0) to work(n - 1), each in a thread that has the primary context; the first error."""
    failed: list[BaseException] = []

    def run(i: int) -> None:
        try:
            _cuda.Device(0).retain_primary_context().push()
            work(i)
            _cuda.Context.pop()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def opened_by(gate: Gate, seconds: float) -> threading.Timer:
    """Opens a gate after a while, from another thread."""
    timer = threading.Timer(seconds, gate.open)
    timer.start()
    return timer
