"""Run a worker that writes JSON lines, under a time limit for each line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pygpu

HERE = Path(__file__).parent
START_LIMIT = 180.0
"""Seconds until the first trial: imports, a driver and its compiler, beside other processes."""


def environment() -> dict[str, str]:
    """The worker's environment: ours, the pygpu that we import, and the modules beside this one."""
    env = dict(os.environ, PYTHONFAULTHANDLER="1")
    paths = [str(Path(pygpu.__file__).parent.parent), str(HERE), env.get("PYTHONPATH", "")]
    env["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    return env


def supervise(
    script: str, arguments: list[str], take: Callable[[dict[str, Any]], None], limit: float
) -> tuple[dict[str, Any], str] | None:
    """Run *script* until its line with step "done"; each line goes to *take*.

    Returns None when that came and the process ended well, else the last line and what happened.
    *limit* is in seconds from one line to the next.
    """
    with tempfile.TemporaryDirectory(prefix="pygpu-faults-") as folder:
        results, errors = Path(folder, "results"), Path(folder, "stderr")
        results.touch()
        with errors.open("wb") as stream:
            process = subprocess.Popen(
                [sys.executable, str(HERE / script), str(results), *arguments],
                env=environment(), cwd=folder, stdin=subprocess.DEVNULL, stdout=stream,
                stderr=stream,
            )  # fmt: skip
        row: dict[str, Any] = {"step": "start"}
        clock, pending, hung = time.monotonic(), "", False
        with results.open() as reader:
            while True:
                ended = process.poll() is not None
                for line in reader:
                    pending += line
                    if pending.endswith("\n"):
                        row, pending, clock = json.loads(pending), "", time.monotonic()
                        take(row)
                if ended:
                    break
                if time.monotonic() - clock > (START_LIMIT if row["step"] == "start" else limit):
                    hung = True
                    process.send_signal(signal.SIGABRT)  # faulthandler writes where it hangs
                    try:
                        process.wait(3)
                    except subprocess.TimeoutExpired:
                        process.kill()
                    break
                time.sleep(0.01)
        status = process.wait()
        if row["step"] == "done" and status == 0 and not hung:
            return None
        noise = errors.read_text(errors="replace")[-1500:]
        how = "hangs" if hung else f"ends with status {status}"
        return row, f"{how}\n{noise}"
