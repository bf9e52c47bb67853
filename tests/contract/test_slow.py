"""The tests that conftest.py marks as slow by name are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import HALVED, SLOW, SLOW_GROUPS, THINNED

TESTS = Path(__file__).parents[1]


NAMES = [*sorted(SLOW), *(f"{name}]" for name in SLOW_GROUPS)]
NAMES += [f"{name}[opencl]" for name in (*THINNED, *HALVED)]


@pytest.mark.parametrize("name", NAMES)
def test_is_there(name):
    file, _, function = name.partition("::")
    function, _, case = function.partition("[")
    assert any(f"def {function}(" in path.read_text() for path in TESTS.rglob(file))
    assert case.endswith("]")
