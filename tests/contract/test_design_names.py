"""The pages in docs/design/ name functions, types and variables that exist; a renamed one cannot
leave its old name behind."""

from __future__ import annotations

import re
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "design").glob("*.md"))
SOURCES = (
    *("src/**/*.[ch]", "src/**/*.def", "src/**/*.fn", "pygpu/**/*.py", "pygpu/**/*.pyi"),
    *("pygpu/**/*.h", "tests/**/*.py", "tools/*.py", "benchmarks/*.py", "docs/*.py"),
    *("docs/_ext/*.py", "Makefile"),
)
BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)  # their code runs: tests/test_docs.py
SPAN = re.compile(r"`([^`\n]+)`")
WORD = re.compile(r"[A-Za-z_]\w*")
CALL = re.compile(r"([A-Za-z_]\w*)\(\)")
# Each form on its own: what looks like a C function in a file of Python reaches over many lines.
DEFINITIONS = (
    re.compile(r"^\s*(?:async )?(?:def|class) (\w+)", re.MULTILINE),  # of Python
    re.compile(r"^(?:[A-Za-z_][\w \t*]*[ \t*])?(\w+)\([^;{}]*\)\s*\{", re.MULTILINE),  # of C
    re.compile(r"\b(\w+) = "),
)
FOREIGN = {
    *("Py_AddPendingCall", "exit", "fork", "help", "repr"),  # of Python and C
    *("copy", "asarray", "where"),  # of NumPy
}


@cache
def texts() -> tuple[str, ...]:
    found = {path for pattern in SOURCES for path in ROOT.glob(pattern)} - {Path(__file__)}
    assert len(found) > 1000
    return tuple(path.read_text("utf-8") for path in sorted(found))


@cache
def words() -> frozenset[str]:
    return frozenset(chain.from_iterable(map(WORD.findall, texts())))


@cache
def defined() -> frozenset[str]:
    return frozenset(
        chain.from_iterable(form.findall(text) for form in DEFINITIONS for text in texts())
    )


def spans(page: Path) -> list[str]:
    found = SPAN.findall(BLOCK.sub("", page.read_text("utf-8")))
    return [span for span in found if "/" not in span or " " in span]  # paths: test_named_files.py


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_names_exist(page: Path) -> None:
    named = set(chain.from_iterable(map(WORD.findall, spans(page)))) - FOREIGN
    assert sorted(named - words()) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_functions_are_defined(page: Path) -> None:
    called = set(chain.from_iterable(map(CALL.findall, spans(page)))) - FOREIGN
    assert sorted(called - defined()) == []


def test_a_missing_name_is_found() -> None:
    assert "arr_fast" in words() and "prepare" in defined() and "arr_fast_plan" in defined()
    assert "quiet_for" in defined()  # stands behind a call that ends no statement
    assert "no_such_function_anywhere" not in words() | defined()
    assert "cl_api" in words() and "cuMemAlloc" in words()
