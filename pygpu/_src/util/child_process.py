"""Child processes that do not outlive the wait for them."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from typing import Any


def run(
    command: Sequence[str], timeout: float | None = None, **options: Any
) -> subprocess.CompletedProcess[Any]:
    """Run a program, as subprocess.run with capture_output=True does. If an exception ends the
    wait (Ctrl-C, or a timeout), kill the program and all processes that it has started.

    subprocess kills only the program itself, but compilers run several processes.
    """
    options |= {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if os.name == "posix":
        options["process_group"] = 0
    with subprocess.Popen(command, **options) as process:
        try:
            output, error = process.communicate(timeout=timeout)
        except BaseException as exception:
            _kill(process)
            if isinstance(exception, subprocess.TimeoutExpired):
                exception.stdout, exception.stderr = process.communicate()
            raise
    return subprocess.CompletedProcess(command, process.returncode, output, error)


def _kill(process: subprocess.Popen[Any]) -> None:
    try:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except OSError:
        pass  # it has just ended
