"""tools/numba_suite.py: which outcomes of Numba's tests it reports."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if not (ROOT / "tools").is_dir():
    pytest.skip("tools/ is not installed", allow_module_level=True)
sys.path.insert(0, str(ROOT / "tools"))
import numba_suite  # noqa: E402

sys.path.pop(0)

PAGE = """
| why | fails | tests |
| --- | --- | --- |
| other words | everywhere | `cudapy/sm Test.test_a`, `cudadrv/x Test.test_b` |
| it is a CPU | simulator | `cudapy/ipc Test.test_c` |
| chance | sometimes | `cudapy/ipc Test.test_d` |
| left out | PTX | `cudapy/ipc Test.test_e` |
"""


def test_outcomes_are_compared_with_the_page(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    monkeypatch.setattr(numba_suite, "NAMED", page)
    outcomes = {"test_c": "failed", "test_d": "passed", "test_e": "skipped"}
    found = {"cudapy/test_ipc": {"tests": {f"Test.{k}": [v, ""] for k, v in outcomes.items()}}}
    found["cudapy/test_sm"] = {"tests": {"Test.test_a": ["failed", ""]}}
    monkeypatch.setenv("PYGPU_CUDA", "simulator")
    assert numba_suite.compare(found) == 0
    assert not capsys.readouterr().out

    monkeypatch.setenv("PYGPU_CUDA", "driver")
    assert numba_suite.compare(found) == 1  # on a GPU, test_c should pass
    assert capsys.readouterr().out == "unexpected failure: cudapy/test_ipc Test.test_c: \n"

    monkeypatch.setenv("PYGPU_CUDA", "simulator")
    found["cudapy/test_sm"]["tests"]["Test.test_a"][0] = "passed"
    found["cudapy/test_sm"]["tests"]["Test.test_f"] = ["crashed", "no memory"]
    assert numba_suite.compare(found) == 1
    assert capsys.readouterr().out.splitlines() == [
        "unexpected success: cudapy/test_sm Test.test_a",
        "unexpected failure: cudapy/test_sm Test.test_f: no memory",
    ]


def test_the_page_names_tests_that_can_be_read() -> None:
    text = numba_suite.NAMED.read_text()
    named = numba_suite.named_failures(text)
    written = re.findall(r"`((?:cudapy|cudadrv|doc_examples|npyufunc)/[^`*]+ [^`]+)`", text)
    assert len(written) > 50
    assert sorted(written) == sorted(named)  # each once, in a row that says where it fails
