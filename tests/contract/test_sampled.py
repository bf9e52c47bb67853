"""Which cases of tests run by default: the marker "sampled" (tests/conftest.py)."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import _sample_function


def quick(ids: list[str], folder: str = "array", turn: int = 0, mark: Any = None) -> list[str]:
    """The cases of a function that are not marked as slow."""
    left_out: list[str] = []
    cases: list[Any] = [
        SimpleNamespace(
            nodeid=f"tests/{folder}/test_a.py::test_b[{id}]",
            path=Path(f"tests/{folder}/test_a.py"),
            own_markers=[] if mark is None else [mark.mark],
            add_marker=lambda _, id=id: left_out.append(id),
        )
        for id in ids
    ]
    _sample_function(cases, turn)
    return [id for id in ids if id not in left_out]


BOTH = [f"{backend}-{k}" for backend in ("opencl", "cuda") for k in range(6)]


def test_both_backends_are_sampled_by_default():
    assert quick(BOTH) == ["opencl-0", "opencl-4", "cuda-0", "cuda-3"]
    assert quick(BOTH[:11]) == ["opencl-0", "opencl-4", "cuda-0", "cuda-2", "cuda-4"]
    assert quick(BOTH[:9]) == ["opencl-0", "opencl-4", *BOTH[6:9]]
    assert quick(BOTH, folder="interop") == BOTH
    assert quick(BOTH[6:]) == BOTH[6:]
    assert quick(["opencl-0", *BOTH[6:9]]) == ["opencl-0", *BOTH[6:9]]


@pytest.mark.parametrize(("turn", "backend"), [(0, "opencl"), (1, "cuda")])
def test_functions_with_one_case_each_take_turns(turn, backend):
    assert quick(["opencl", "cuda"], turn=turn) == [backend]


def test_the_marker_says_how_many():
    sampled = pytest.mark.sampled
    assert quick(BOTH, mark=sampled(5)) == ["opencl-0", "opencl-5", "cuda-4"]
    assert quick(BOTH, mark=sampled(opencl=0)) == ["cuda-0", "cuda-3"]
    assert quick(BOTH, mark=sampled(opencl=5, cuda=1)) == ["opencl-0", "opencl-5", *BOTH[6:]]
    assert quick(["opencl", "cuda"], turn=1, mark=sampled(cuda=0)) == ["opencl"]
    with pytest.raises(pytest.UsageError, match="not_a_backend"):
        quick(BOTH, mark=sampled(not_a_backend=1))
