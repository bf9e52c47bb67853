"""The documentation: each page's Python blocks run as one program; links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from programs import Programs

DOCS = Path(__file__).parent.parent / "docs"
PAGES = [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([^)]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)


def blocks_in_place(text: str) -> str:
    """The page with everything but its Python blocks blank, so that line numbers are the page's."""
    lines = [""] * (text.count("\n") + 1)
    for match in BLOCK.finditer(text):
        first = text.count("\n", 0, match.start(1))
        block = match[1].split("\n")
        lines[first : first + len(block)] = block
    return "\n".join(lines)


# Pages that compile so many kernels that they take 10 s or more where nothing is cached yet.
SLOW = {"arrays/algorithms", "arrays/linalg_fft", "arrays/types"}
SLOW |= {f"kernels/{name}" for name in "algorithms functions random reduction scan".split()}


def name_of(page: Path) -> str:
    """README, arrays/index, design/arrays."""
    folder = DOCS if DOCS in page.parents else DOCS.parent
    return page.relative_to(folder).with_suffix("").as_posix()


# Pages that change what others would find in the same process, or say what happens in a new one.
ALONE = {f"guide/{name}" for name in "choose compat errors reliability seeing".split()}

WITH_CODE = [page for page in PAGES if BLOCK.search(page.read_text())]


def alone(page: Path) -> bool:
    return name_of(page) in ALONE or page.parent.name in ("cuda", "simulator")


def marked(pages: list[Path], all_slow: bool = False) -> list:
    marks = [[pytest.mark.slow] if all_slow or name_of(page) in SLOW else [] for page in pages]
    return [pytest.param(page, marks=m, id=name_of(page)) for page, m in zip(pages, marks)]


def run(page: Path, programs: Programs, folder: Path) -> None:
    result = programs.run(blocks_in_place(page.read_text()), page.name, folder, raises=True)
    assert result.returncode == 0, result.stderr


@pytest.fixture(scope="module")
def programs():
    programs = Programs({})
    yield programs
    assert programs.close() == 0


@pytest.mark.parametrize("page", marked([page for page in WITH_CODE if not alone(page)]))
def test_code_runs(page, device, programs, tmp_path):
    run(page, programs, tmp_path)


@pytest.mark.parametrize(
    "page",
    marked([page for page in WITH_CODE if alone(page)])
    + marked([page for page in WITH_CODE if not alone(page)], all_slow=True),
)
def test_code_runs_in_a_new_process(page, device, tmp_path):
    programs = Programs({})
    run(page, programs, tmp_path)
    assert programs.close() == 0


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and MyST make them."""
    headings = HEADING.findall(FENCED.sub("", page.read_text()))
    return {re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-") for text in headings}


def leads_somewhere(page: Path, link: re.Match[str]) -> bool:
    target = page.parent / link[1] if link[1] else page
    return target.exists() and (not link[2] or link[2] in anchors(target))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links(page):
    text = FENCED.sub("", page.read_text())
    broken = [match[0] for match in LINK.finditer(text) if not leads_somewhere(page, match)]
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_form(page):
    text = page.read_text()
    assert text.startswith("# ") and text.endswith("\n") and "\t" not in text
    assert text.count("```") % 2 == 0
    for name in (f"/{folder}/" for folder in ("work", "opt", "root")):
        assert name not in text


def test_the_index_lists_every_page():
    """Pages of the design and the reference are listed in their own folder's index."""
    index = DOCS / "index.md"
    listed = {(DOCS / link[1]).resolve() for link in LINK.finditer(index.read_text()) if link[1]}
    pages = {page for page in PAGES if DOCS in page.parents}
    pages = {page for page in pages if page.parent.name not in ("design", "reference")}
    assert pages - listed == {index}
    assert len(pages) > 50


def test_every_noun_has_a_page():
    nouns = "platforms devices contexts queues events buffers copies maps kernels constants"
    names = {name_of(page) for page in PAGES}
    index = (DOCS / "index.md").read_text()
    for noun in nouns.split():
        assert f"opencl/{noun}" in names
        assert f"(opencl/{noun}.md)" in index


def test_every_variable_is_on_the_page_of_variables():
    text = (DOCS / "guide" / "variables.md").read_text()
    names = set()
    for folder in ("pygpu", "src"):
        for file in (DOCS.parent / folder).rglob("*.[pch]*"):
            if file.suffix in (".py", ".c", ".h"):
                names |= set(re.findall(r"""["'](PYGPU_[A-Z_]*[A-Z])["']""", file.read_text()))
    assert len(names) > 20 and not {n for n in names if n not in text}
