"""Sphinx: the pages, and the reference from the docstrings (`make docs`).

With the tag ``site``, the pages also show what their code prints, and there are a gallery
of examples and plots (``_ext/site_pages.py``); without it, nothing is run.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))  # the checkout, unless pygpu is installed from it
os.environ.setdefault("PYGPU_CUDA", "simulator")  # without a warning that there is no GPU

import pygpu  # noqa: E402

project = "pygpu"
author = "pygpu developers"
release = pygpu.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build", "_ext"]
html_theme = "furo"
html_title = "pygpu"
html_show_copyright = False
default_role = "code"  # what docstrings have between single backquotes
html_static_path = ["_static"]
html_css_files = ["site.css"]
myst_heading_anchors = 3
autodoc_default_options = dict.fromkeys(
    ("members", "imported-members", "undoc-members", "show-inheritance"), True
)
# OpenCL C is not C to Pygments; a name such as Context is both OpenCL's and CUDA's.
suppress_warnings = ["misc.highlighting_failure", "ref.python"]

site: Any = None
if tags.has("site"):  # type: ignore[name-defined]  # noqa: F821
    sys.path.insert(0, str(DOCS / "_ext"))
    import site_pages as site

    logging.getLogger("pygpu").setLevel(logging.WARNING)  # sphinx-gallery would show all records
    site.write_gallery()
    extensions.append("sphinx_gallery.gen_gallery")
    myst_enable_extensions = ["colon_fence"]
    sphinx_gallery_conf = site.gallery()


# ---- docstrings ----------------------------------------------------------------------------------

# Code and *arguments* are marked; any other star, bar or last underscore is C's or Python's.
MARK = re.compile(r"(`+[^`]+`+|(?<![\w*])\*\w+\*|^ *[*] )|[*|]|(?<=\w)_(?!\w)")
CODE = ("    ", ">>>", "...")
SIGNATURE = re.compile(r"(\(.*?\))(?: -> (.*))?", re.DOTALL)


def signature_and_text(item: Any) -> tuple[re.Match[str] | None, str]:
    """Docstrings of C functions begin with a signature, which Python cannot read there."""
    doc = getattr(item, "__doc__", None) or ""
    first, _, rest = doc.partition("\n\n")
    found = SIGNATURE.fullmatch(first) if first.startswith("(") else None
    return (found, rest) if found else (None, doc)


def read_signature(
    app: Any, what: str, name: str, item: Any, options: Any, arguments: str, result: str
) -> tuple[str, str] | None:
    found, _ = signature_and_text(item)
    return (" ".join(found[1].split()), found[2]) if found else None


def drop_object(app: Any, name: str, item: Any, options: Any, bases: list[type]) -> None:
    bases[:] = [base for base in bases if base.__name__ not in ("object", "_Object")] or bases


def escaped(mark: re.Match[str]) -> str:
    return mark[1] or "\\" + mark[0]


def is_numpys(item: Any) -> bool:
    owner = item if getattr(item, "__module__", None) else getattr(item, "__objclass__", None)
    return str(getattr(owner, "__module__", "")).partition(".")[0] == "numpy"


def read_docstring(
    app: Any, what: str, name: str, item: Any, options: Any, lines: list[str]
) -> None:
    if is_numpys(item):  # whose links and tables are for NumPy's own site
        end = next((k for k, line in enumerate(lines) if k and not line.strip()), len(lines))
        lines[end:] = ["", "See NumPy's documentation."]
    found, text = signature_and_text(item)
    if found:
        lines[:] = text.split("\n")
    hidden = next((k for k, s in enumerate(lines) if "PYTEST_DONT_REWRITE" in s), len(lines))
    del lines[hidden:]  # what only pytest reads, at a docstring's end
    lines[:] = [s if s.startswith(CODE) else MARK.sub(escaped, s) for s in lines]


# ---- the tree of pages ---------------------------------------------------------------------------

LINK = re.compile(r"\]\(([\w/]+)\.md\)")


def add_tree(app: Any, page: str, source: list[str]) -> None:
    """The tables of an index are its table of contents: a tree for each heading."""
    if page not in ("index", "design/index", "reference/index"):
        return
    trees = []
    for section in source[0].split("\n## ")[1:] or source:
        heading, _, text = section.partition("\n")
        pages = [name for name in dict.fromkeys(LINK.findall(text)) if not name.startswith(".")]
        caption = f":caption: {heading}\n" if page == "index" else ""
        trees.append("```{toctree}\n:hidden:\n" + caption + "\n".join(["", *pages]) + "\n```\n")
    if site is not None and page == "index":
        trees.insert(0, "```{toctree}\n:hidden:\n:caption: Examples\n\ngallery/index\n```\n")
    source[0] += "\n" + "\n".join(trees)


def setup(app: Any) -> None:
    app.connect("autodoc-process-signature", read_signature)
    app.connect("autodoc-process-docstring", read_docstring)
    app.connect("autodoc-process-bases", drop_object)
    app.connect("source-read", add_tree)
    if site is not None:
        app.connect("source-read", site.complete)
