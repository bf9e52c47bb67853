"""However often a thing is done, memory, driver handles and references stay as they were."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import leak_worker  # noqa: E402

MEGABYTE = 2**20
ALLOWED = {
    # A compiler in the process keeps something of what it compiles; a leaked program would be 100
    # kB each.
    "programs": 12 * MEGABYTE,
    "failing_programs": 12 * MEGABYTE,
}
"""Bytes that resident memory may grow by, where the driver itself grows; elsewhere 1 MB."""


@pytest.mark.slow  # up to half a minute each
@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")
@pytest.mark.timeout(1300)
@pytest.mark.parametrize("name", leak_worker.REPEATS)
def test_nothing_grows(name: str, tmp_path: Path) -> None:
    env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", PYTHONFAULTHANDLER="1")
    package = str(Path(leak_worker.cl.__file__).parent.parent)
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [package, env.get("PYTHONPATH", "")]))
    if "ASAN_OPTIONS" in env:  # AddressSanitizer keeps what was freed, and memory grows with it
        env["ASAN_OPTIONS"] += ":quarantine_size_mb=1:thread_local_quarantine_size_kb=64"
    worker = Path(__file__).with_name("leak_worker.py")
    done = subprocess.run(
        [sys.executable, str(worker), name],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert done.returncode == 0, f"status {done.returncode}\n{done.stderr[-2000:]}"
    row = json.loads(done.stdout.splitlines()[-1])
    assert row["after"] == row["before"], (
        f"driver handles before {row['before']}, after {row['after']}"
    )
    allowed = ALLOWED.get(name, MEGABYTE)
    grown = row["grown"] / MEGABYTE
    assert row["grown"] <= allowed, f"{grown:.1f} MB more after {row['repeats']} repeats"
    # A reference per ten repeats is none per repeat: caches and interned values of the interpreter
    # come and go.
    assert row["references"] <= row["repeats"] // 10, f"{row['references']} references more"
