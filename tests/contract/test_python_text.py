"""Rules for the Python code, read from its text: no function and no file is too long to be read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "pygpu").rglob("*.py"))
MOST_LINES = 60  # of a function


def functions(text: str) -> Iterator[tuple[str, int]]:
    """(name, lines) of each function of a source, inner ones too."""
    left: list[ast.AST] = [ast.parse(text)]
    while left:  # statements alone: ast.walk() looks at each name, too
        node = left.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, (node.end_lineno or 0) - node.lineno + 1
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, block, ())
            left += inner if isinstance(inner, list) else ()


def name_of(path: Path) -> str:
    return path.relative_to(ROOT / "pygpu").as_posix().removeprefix("_src/")


@cache
def all_functions() -> list[tuple[str, int]]:
    """("file: name", lines) of each function of the package."""
    found = ((name_of(path), functions(path.read_text("utf-8"))) for path in FILES)
    return [(f"{file}: {name}", lines) for file, names in found for name, lines in names]


def test_lines_of_functions_are_counted():
    text = "def one(): pass\n\n@f\ndef two():\n    def three():\n        pass\n    return three\n"
    assert sorted(functions(text)) == [("one", 1), ("three", 2), ("two", 4)]


def test_all_files_are_read():
    assert len(FILES) >= 250
    assert len(all_functions()) > 3000


def test_functions_are_short():
    long = {name for name, lines in all_functions() if lines > MOST_LINES}
    assert long == set(), f"split these: over {MOST_LINES} lines"


def test_files_are_short():
    lines = {name_of(path): len(path.read_text("utf-8").splitlines()) for path in FILES}
    assert {name: n for name, n in lines.items() if n >= 1000} == {}
