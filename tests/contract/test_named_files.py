"""Files that documentation and comments name exist; a move cannot leave a stale name behind."""

from __future__ import annotations

import ast
import io
import posixpath
import re
import tokenize
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ("src", "pygpu", "tests", "docs", "tools", "benchmarks", "examples", "changes", ".ci")
PAGES = [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md"))]
PAGES += [page for page in ROOT.glob("docs/**/*.md") if "_build" not in page.parts]
# Where a path in a comment or on a page may begin, besides the folder of the file that names it.
BASES = ("", "src", "pygpu", "pygpu/_src", "docs", "tests", "pygpu/cuda/simulator/include")

# A name ends neither in a longer word nor in a call or an attribute: `x.c(...)`, `x.c.real`.
NAME = re.compile(
    r"(?<![\w./*<>{}%-])((?:[\w.-]+/)*[\w-]+\.(?:c|h|py|pyi|def|fn|md))(?![\w(/*{}-]|\.\w)"
)
FOLDER = re.compile(r"`((?:src|pygpu|tests|docs|tools|benchmarks|_src)/(?:[\w-]+/)*)`")
MODULE = re.compile(r"\bpygpu\._src(?:\.[a-z_0-9]+)+")
# A string or a character comes first, so that a comment's sign inside one does not count.
C_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|(/\*.*?\*/|//[^\n]*)', re.DOTALL)

# Files of Python, of compilers, of drivers and other projects, and of a user's program.
FOREIGN = {
    *("Python.h", "sys/types.h", "lib/CL/pocl_binary.c", "cuda/std/sim_names.h"),
    *("PROGRAM.py", "program.py", "script.py", "twice.py", "twice.h", "conftest.py"),
    "array_api_tests/test_file.py",
    *("examples/blackscholes/blackscholes_vec.py", "examples/mandel/mandel_vectorize.py"),
    "hcae_with_cuda/test_device_functions.py",
    "mandelbrot_set_vectorization/parallel_numba_vectorize.py",
}
# Pages whose bare names are mostly those of other projects' programs.
OTHERS_PROGRAMS = ("compat", "compat_programs", "differences")


@cache
def files() -> frozenset[str]:
    """The repository's files; what a build makes beside them does not count."""
    found = chain.from_iterable((ROOT / top).rglob("*") for top in SOURCES)
    kept = {
        path.relative_to(ROOT).as_posix()
        for path in chain(found, ROOT.glob("*"))
        if path.is_file() and path.suffix not in (".so", ".pyc")
    }
    assert len(kept) > 1000
    return frozenset(kept)


@cache
def folders() -> frozenset[str]:
    return frozenset(posixpath.dirname(path) for path in files() if "/" in path) | {"src", "pygpu"}


@cache
def places(bare: str) -> list[str]:
    return [path for path in files() if path.rpartition("/")[2] == bare]


def c_comments(text: str) -> str:
    return "\n".join(match[1] for match in C_TOKEN.finditer(text) if match[1])


def python_comments(text: str) -> str:
    """Comments and docstrings."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    found = [token.string for token in tokens if token.type == tokenize.COMMENT]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.append(ast.get_docstring(node) or "")
    return "\n".join(found)


def prose(path: Path) -> str:
    text = path.read_text("utf-8")
    if path.suffix in (".py", ".pyi"):
        return python_comments(text)
    return text if path.suffix == ".md" else c_comments(text)


def exists(name: str, folder: str) -> bool:
    name = name.rstrip("/")
    tried = (posixpath.normpath(f"{base}/{name}").lstrip("/") for base in (*BASES, folder))
    return any(place in files() or place in folders() for place in tried)


def near(name: str, path: str) -> bool:
    """A bare name is one of the same extension, of src/common or of the Python package."""
    own = "/".join(path.split("/")[:2]) + "/" if path.startswith("src/") else "pygpu/"
    shared = ("src/common/", "pygpu/cl/", "pygpu/cuda/simulator/include/")
    return any(place.startswith((own, *shared)) for place in places(name))


def missing(path: Path) -> list[str]:
    """The names, on a page or in comments, of files, folders and modules that do not exist."""
    text, here = prose(path), path.relative_to(ROOT).as_posix()
    names = set(NAME.findall(text)) - FOREIGN
    wrong = {name for name in names if "/" in name and not exists(name, posixpath.dirname(here))}
    bare = {name for name in names if "/" not in name}
    if path.suffix != ".md":
        wrong |= {name for name in bare if not near(name, here)}
    elif path.stem not in OTHERS_PROGRAMS:
        wrong |= {name for name in bare if not places(name)}
    wrong |= {name for name in FOLDER.findall(text) if not exists(name, "")}
    for name in MODULE.findall(text):
        stem = name.replace(".", "/")
        attribute = stem.rpartition("/")[0]
        if not any(f"{s}.py" in files() or s in folders() for s in (stem, attribute)):
            wrong.add(name)
    return sorted(wrong)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_names_files_that_exist(page):
    assert missing(page) == []


@pytest.mark.parametrize("top", ["src", "pygpu"])
def test_comments_name_files_that_exist(top):
    suffixes = (".c", ".h", ".def", ".fn", ".py", ".pyi")
    paths = [path for path in (ROOT / top).rglob("*") if path.suffix in suffixes]
    assert len(paths) > 200
    stale = {path.relative_to(ROOT).as_posix(): missing(path) for path in paths}
    assert {path: names for path, names in stale.items() if names} == {}


def test_the_names_are_found():
    """What is read of comments, with code, strings and longer words beside it."""
    text = '/* see a.c, x/b.h: c.py */ puts("/* no.c */"); // d.c.real and e.c(1)\n'
    assert set(NAME.findall(c_comments(text))) == {"a.c", "x/b.h", "c.py"}
    text = '"""See a.py."""\nx = "no.py"  # or src/b.c\n'
    assert set(NAME.findall(python_comments(text))) == {"a.py", "src/b.c"}
    assert FOLDER.findall("`src/array/` `//` src/x/") == ["src/array/"]
    assert MODULE.findall("pygpu._src.util.x(1), pygpu.array") == ["pygpu._src.util.x"]
