"""Every Python allocation of short uses of CUDA fails once: MemoryError or success, no leak."""

from __future__ import annotations

import collections
import concurrent.futures
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import pygpu.cuda.driver as cuda

sys.path.insert(0, str(Path(__file__).parent))

from supervise import supervise  # noqa: E402

LIMIT = 60.0
"""Seconds for one allocation; what lingers is waited for."""
JOBS = int(os.environ.get("PYGPU_TEST_JOBS", "2"))


class Walk:
    """Every JOBS-th use from *first* on."""

    def __init__(self, first: int) -> None:
        self.problems: list[str] = []
        self.failed: dict[str, int] = {}
        self.all: list[str] = []
        start = 0
        for _ in range(10):  # a crash each, at most
            arguments = [str(first), str(JOBS), str(start)]
            ended = supervise("cuda_memory_worker.py", arguments, self.take, LIMIT)
            if ended is None:
                return
            row, how = ended
            self.problems.append(f"{row.get('name', row['step'])}, {row.get('number')}: {how}")
            if "number" not in row:
                return
            start = row["number"] + 1

    def take(self, row: dict[str, Any]) -> None:
        """Note what a line says."""
        if row["step"] == "wrong":
            self.problems.append(f"{row['name']}, allocation {row['number']}: {row['wrong']}")
        elif row["step"] == "done":
            self.failed, self.all = row["failed"], row["all"]


@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore")
def test_each_allocation_fails_once() -> None:
    pytest.importorskip(
        "_testcapi", reason="_testcapi (a module of CPython's test suite) is not installed"
    )
    try:
        cuda.init()
    except cuda.Error as error:
        if sys.platform.startswith("linux"):
            raise  # the simulator is built there: that it does not load is a defect
        pytest.skip(f"no CUDA driver, and no simulator: {str(error).splitlines()[0]}")
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        walks = list(pool.map(Walk, range(JOBS)))
    problems = collections.Counter(problem for walk in walks for problem in walk.problems)
    assert not problems, "\n".join(f"{n} x {p}" if n > 1 else p for p, n in problems.items())
    failed = collections.ChainMap(*(walk.failed for walk in walks))
    assert set(failed) == set(walks[0].all), "not all uses were walked"
    hooked = [name for name, n in failed.items() if n > 0]
    assert len(hooked) > 25, f"the hook reaches only {hooked}"
