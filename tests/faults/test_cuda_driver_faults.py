"""Every CUDA driver call of every scenario fails once: an error that names it or none, no leak."""

from __future__ import annotations

import collections
import sys
from pathlib import Path
from typing import Any

import pytest

from pygpu import _cuda

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from cuda_scenarios import SCENARIOS  # noqa: E402
from supervise import supervise  # noqa: E402

LIMIT = 60.0

UNREACHED: dict[str, str] = {}
"""Driver functions that no scenario can reach anywhere, and why."""


class Walk:
    """One scenario's walk: how often each function was called, and what was wrong."""

    def __init__(self, name: str) -> None:
        self.counts: dict[str, int] = {}
        self.problems: list[str] = []
        self.tried = 0
        start = 0
        for _ in range(20):  # a crash each, at most
            ended = supervise("cuda_fault_worker.py", [name, str(start)], self.take, LIMIT)
            if ended is None:
                return
            row, how = ended
            self.problems.append(f"{row.get('trial', row['step'])}: {how}")
            if row.get("number") is None:
                return
            start = row["number"] + 1
        self.problems.append("too many crashes: the walk was given up")

    def take(self, row: dict[str, Any]) -> None:
        """Note what a line says."""
        if row["step"] == "counts":
            self.counts = row["counts"]
            self.problems += row["problems"]
        elif row["step"] == "try":
            self.tried += 1
        elif row["step"] == "wrong":
            function, code, nth, _ = row["trial"]
            self.problems += [f"{function} call {nth} fails with {code}: {w}" for w in row["wrong"]]


@pytest.fixture(scope="module")
def have_cuda() -> None:
    try:
        _cuda.init()
    except Exception as error:
        if sys.platform.startswith("linux"):
            raise  # the simulator is built there: that it does not load is a defect
        pytest.skip(f"no CUDA driver, and no simulator: {str(error).splitlines()[0]}")


@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SCENARIOS)
def test_each_call_fails_once(name: str, have_cuda: None) -> None:
    walk = Walk(name)
    counted = collections.Counter(walk.problems)
    text = "\n".join(f"{n} x {p}" if n > 1 else p for p, n in counted.items())
    assert not walk.problems, f"{len(walk.problems)} of {walk.tried} trials:\n{text}"
    assert walk.tried > 0
