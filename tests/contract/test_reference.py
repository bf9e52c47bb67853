"""The reference that Sphinx makes (`make docs`) has every public name and every docstring."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pygpu

DOCS = Path(__file__).parents[2] / "docs"
DOCUMENTED = re.compile(r"^\.\. automodule:: ([\w.]+)$", re.MULTILINE)
# Importing one makes a context current, or runs a program; the others keep old pickles readable.
WITHOUT = {"pygpu.cuda.autoinit", "pygpu.cuda.autoprimaryctx"}
WITHOUT |= {"pygpu.compat.__main__", "pygpu.__main__", "pygpu.cuda.debug"}


def public_modules() -> set[str]:
    """All that name what they offer; the peers' own layout below compat has no names of its own."""
    found = {info.name for info in pkgutil.walk_packages(pygpu.__path__, "pygpu.")} - WITHOUT
    found = {name for name in found if "._" not in name and not name.startswith("pygpu.compat.")}
    return {name for name in found if hasattr(importlib.import_module(name), "__all__")}


def test_every_public_module_is_in_the_reference():
    pages = "\n".join(page.read_text() for page in DOCS.glob("reference/*.md"))
    documented = DOCUMENTED.findall(pages)
    assert len(documented) == len(set(documented))
    assert public_modules() - set(documented) == set()
    assert len(documented) > 40


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> str:
    """The pages of the reference as text, with nothing but letters and digits; a warning fails."""
    for needed in ("sphinx", "myst_parser"):
        pytest.importorskip(needed)
    folder = tmp_path_factory.mktemp("reference")
    command = [sys.executable, "-P", "-m", "sphinx", "-q", "-E", "-W", "--keep-going"]
    command += ["-b", "text", "-d", str(folder / "doctrees"), str(DOCS), str(folder / "text")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    return letters("\n".join(p.read_text("utf-8") for p in folder.glob("text/reference/*.txt")))


def letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", re.sub(r":\w+:`", "", text))


def described(namespace, name):
    """A class with its methods and properties, or a function."""
    item = getattr(namespace, name)
    if inspect.isclass(item):
        members = [getattr(item, key) for key in vars(item) if not key.startswith("_")]
        return [item, *filter(is_method_or_property, members)]
    return [item] if inspect.isroutine(item) else []


def is_method_or_property(member):
    return inspect.isroutine(member) or inspect.isdatadescriptor(member)


@pytest.mark.slow
@pytest.mark.parametrize("module", ["pygpu", "pygpu.tools", "pygpu.cuda.driver", "pygpu.array"])
def test_signatures_and_docstrings_are_in_the_reference(built, module):
    """Also of methods and properties, which in C have their types in the docstring."""
    namespace = importlib.import_module(module)
    sentences = []
    for name in namespace.__all__:
        for item in described(namespace, name):
            sentences += inspect.cleandoc(item.__doc__ or "").split("\n\n")
    assert len(sentences) > 50
    assert [text for text in sentences if letters(text) not in built] == []
