"""Every Python allocation of a short use of pygpu fails once: MemoryError or success, no leak."""

from __future__ import annotations

import collections
import concurrent.futures
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from memory_worker import NAMES  # noqa: E402
from supervise import supervise  # noqa: E402

LIMIT = 60.0
"""Seconds for one allocation; what lingers is waited for."""
JOBS = 2


def walk(name: str) -> tuple[list[str], int]:
    """All that went wrong with scenario *name*, and how many points failed as they should."""
    problems: list[str] = []
    failed = [0]

    def take(row: dict[str, Any]) -> None:
        if row["step"] == "wrong":
            problems.append(f"allocation {row['number']}: {row['wrong']}")
        elif row["step"] == "done":
            failed[0] += row["failed"]

    start = 0
    for _ in range(10):  # a crash each, at most
        ended = supervise("memory_worker.py", [name, str(start)], take, LIMIT)
        if ended is None:
            break
        row, how = ended
        problems.append(f"allocation {row.get('number', row['step'])}: {how}")
        if "number" not in row:
            break
        start = row["number"] + 1
    return problems, failed[0]


@pytest.fixture(scope="module")
def walks(request: pytest.FixtureRequest) -> dict[str, tuple[list[str], int]]:
    """The walks of all selected scenarios, two at a time."""
    pytest.importorskip(
        "_testcapi", reason="_testcapi (a module of CPython's test suite) is not installed"
    )
    items = [i for i in request.session.items if i.path.name == Path(__file__).name]
    chosen = [i.callspec.params["name"] for i in items if hasattr(i, "callspec")]
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        return dict(zip(chosen, pool.map(walk, chosen)))


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", NAMES)
def test_each_allocation_fails_once(name: str, walks: dict[str, tuple[list[str], int]]) -> None:
    problems, failed = walks[name]
    counted = collections.Counter(problems)
    assert not problems, "\n".join(f"{n} x {p}" if n > 1 else p for p, n in counted.items())
    assert failed > 0, "no allocation failed: the hook does not reach this scenario"
