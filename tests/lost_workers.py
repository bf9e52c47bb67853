"""A pytest plugin: a worker of pytest-xdist that dies, and a run that hangs, are reported by name.

Each worker writes the test that it runs to a file, and faulthandler a crash. When a worker is lost,
the summary shows its file, and the run fails whatever it was doing. A run in which no worker has
reported anything for PYGPU_TEST_SILENCE seconds (900) after a loss, or five times as long without
one, is ended: the longest test may take an hour.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import shutil
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import pytest

__all__ = ["register"]


def register(config: pytest.Config) -> None:
    """Called by a conftest.py's pytest_configure()."""
    folder = getattr(config, "workerinput", {}).get("lost_workers")
    if folder is not None:
        config.pluginmanager.register(Worker(Path(folder, config.workerinput["workerid"])))
    elif not hasattr(config, "workerinput"):
        config.pluginmanager.register(Controller(config))


class Worker:
    """In a worker: says in a file what it does."""

    def __init__(self, path: Path) -> None:
        self.file = open(path, "w")  # noqa: SIM115 - until the process ends
        self.write("before its first test")

    def write(self, text: str) -> None:
        self.file.seek(0)
        self.file.truncate()
        self.file.write(f"{text}\n")
        self.file.flush()

    def pytest_sessionstart(self) -> None:
        faulthandler.enable(self.file)  # after pytest's own plugin has chosen stderr

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.write(nodeid)

    def pytest_sessionfinish(self) -> None:
        self.write("after its last test")


class Controller:
    """In the process that starts the workers."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.folder: Path | None = None
        self.lost: dict[str, str] = {}
        self.silence = float(os.environ.get("PYGPU_TEST_SILENCE", "900"))
        self.ended = threading.Event()
        self.note_activity()

    def note_activity(self) -> None:
        self.last = time.monotonic()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        if self.folder is None:
            self.folder = Path(tempfile.mkdtemp(prefix="pygpu-workers-"))
            threading.Thread(target=self.watch, daemon=True).start()
        node.workerinput["lost_workers"] = str(self.folder)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self) -> None:
        self.note_activity()

    def pytest_runtest_logstart(self) -> None:
        self.note_activity()

    def pytest_runtest_logreport(self) -> None:
        self.note_activity()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: Any) -> None:
        self.note_activity()
        if error and self.folder is not None:
            self.lost[node.gateway.id] = self.doing(node.gateway.id)

    def doing(self, worker: str) -> str:
        path = Path(self.folder or "", worker)
        return path.read_text("utf-8", "replace").rstrip() if path.exists() else "before it began"

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.lost and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for worker, text in self.lost.items():
            terminalreporter.section(f"worker {worker} was lost")
            terminalreporter.write_line(f"It was running: {text}")

    def watch(self) -> None:
        while not self.ended.wait(min(self.silence / 4, 10)):
            limit = self.silence if self.lost else 5 * self.silence
            if time.monotonic() - self.last > limit:
                self.give_up(limit)

    def give_up(self, limit: float) -> None:
        writer = self.config.get_terminal_writer()
        writer.line(f"\nNothing heard from any worker for {limit:g} s. They were running:")
        for path in sorted(self.folder.iterdir() if self.folder else ()):
            lost = " (lost)" if path.name in self.lost else ""
            writer.line(f"{path.name}{lost}: {self.doing(path.name)}")
        writer.flush()
        os._exit(3)

    def pytest_unconfigure(self) -> None:
        self.ended.set()
        if self.folder is not None:
            with contextlib.suppress(OSError):
                shutil.rmtree(self.folder)
