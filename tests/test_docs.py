"""The documentation: each page's Python blocks run as one program; links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
PAGES = [DOCS.parent / "README.md", *sorted(DOCS.glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)#:\s]+)(#[^)]*)?\)")

RUN = """
import sys
page, text = sys.argv[1], sys.stdin.read()
exec(compile(text, page, "exec"), {"__name__": "__docs__"})
"""


def blocks_in_place(text: str) -> str:
    """The page with everything but its Python blocks blank, so that line numbers are the page's."""
    lines = [""] * (text.count("\n") + 1)
    for match in BLOCK.finditer(text):
        first = text.count("\n", 0, match.start(1))
        block = match[1].split("\n")
        lines[first : first + len(block)] = block
    return "\n".join(lines)


# Pages that compile so many kernels that they take 10 s or more where nothing is cached yet.
SLOW = ("algorithms", "array_algorithms", "functions", "random", "reduction", "scan")
WITH_CODE = [
    pytest.param(page, marks=[pytest.mark.slow] if page.stem in SLOW else [])
    for page in PAGES
    if BLOCK.search(page.read_text())
]


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.stem)
def test_code_runs(page, device, tmp_path):
    result = subprocess.run(
        [sys.executable, "-P", "-c", RUN, page.name],
        input=blocks_in_place(page.read_text()),
        capture_output=True,
        text=True,
        timeout=240,
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links(page):
    broken = [
        match[1]
        for match in LINK.finditer(page.read_text())
        if not (page.parent / match[1]).exists()
    ]
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_form(page):
    text = page.read_text()
    assert text.startswith("# ") and text.endswith("\n") and "\t" not in text
    assert text.count("```") % 2 == 0
    for name in (f"/{folder}/" for folder in ("work", "opt", "root")):
        assert name not in text


def test_every_noun_has_a_page():
    nouns = "platforms devices contexts queues events buffers copies maps kernels errors constants"
    stems = {page.stem for page in PAGES}
    index = (DOCS / "index.md").read_text()
    for noun in nouns.split():
        assert noun in stems
        assert f"({noun}.md)" in index
