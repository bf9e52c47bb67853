"""Every case of cases_cuda_*.py ends as wanted: no crash, hang, wrong result or leak."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import harness  # noqa: E402
import supervisor  # noqa: E402

import pygpu.cuda.driver as cuda  # noqa: E402

CASES = harness.load_cases(harness.CUDA_FILES)


@pytest.fixture(scope="module")
def outcomes(request: pytest.FixtureRequest) -> supervisor.Outcomes:
    """All selected cases, run in subprocesses on the first demand."""
    try:
        cuda.init()
    except cuda.Error as error:
        if sys.platform.startswith("linux"):
            raise  # the simulator is built there: that it does not load is a defect
        pytest.skip(f"no CUDA driver, and no simulator: {str(error).splitlines()[0]}")
    here = Path(__file__)
    names = [
        item.callspec.params["name"]
        for item in request.session.items
        if item.path == here and "name" in getattr(getattr(item, "callspec", None), "params", {})
    ]
    return supervisor.Outcomes(names)


@pytest.mark.sampled(3)
@pytest.mark.timeout(3600)  # the first test runs all cases; each has a limit of its own
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_misuse(name: str, outcomes: supervisor.Outcomes) -> None:
    outcome = outcomes[name]
    if outcome.kind == "SKIP":
        pytest.skip(outcome.text)
    assert outcome.kind == "ok", f"{outcome.kind}: {outcome.text}"
