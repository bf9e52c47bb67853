"""The parts of the site alone (``sphinx -t site``): a gallery of examples that were run, the output
of the pages' code, and benchmarks as plots.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
BUILD = DOCS / "_build"
GALLERY = BUILD / "gallery_sources"

# ---- the gallery ---------------------------------------------------------------------------------

# A heading of the gallery: its sentence, and the examples under it with their titles.
EXAMPLES = {
    "arrays": (
        "Arrays, on any device",
        {
            "first_steps": "The first ten lines",
            "array_heat": "Heat in a rod",
            "arrays_mandelbrot": "The Mandelbrot set",
            "arrays_image": "An image blurred and sharpened",
            "arrays_nbody": "Stars that attract each other",
            "arrays_kmeans": "Clusters by k-means",
            "arrays_histogram": "Histograms three ways",
            "array_random": "Random numbers",
        },
    ),
    "python_kernels": (
        "Kernels in Python",
        {
            "vectorize_black_scholes": "Prices of options",
            "kernel_mandelbrot": "A kernel that draws with letters",
            "kernel_stencil": "Shared memory",
            "fuse_nbody": "A step of stars as one kernel",
            "reduce_sum": "Reductions",
        },
    ),
    "raw_kernels": (
        "Kernels in OpenCL C and CUDA C++",
        {
            "photo_edges": "The edges in a photograph",
            "images": "A picture halved by a sampler",
            "vector_sum": "The smallest OpenCL program",
            "cuda_tutorial": "The smallest CUDA program",
        },
    ),
}


def write_gallery() -> None:
    """The examples as sphinx-gallery wants them: with a title over their first sentence."""
    for folder, (heading, titles) in EXAMPLES.items():
        place = GALLERY / folder
        place.mkdir(parents=True, exist_ok=True)
        write(place / "README.rst", f"{heading}\n{'-' * len(heading)}\n")
        for name, title in titles.items():
            text = (ROOT / "examples" / f"{name}.py").read_text("utf-8")
            text = in_two_blocks(text)
            write(place / f"{name}.py", f'"""\n{title}\n{"=" * len(title)}\n\n{text[3:]}')
    intro = (
        "Each example is a program of the folder ``examples``. Pictures and output are of a CPU."
    )
    write(GALLERY / "README.rst", f"Gallery\n=======\n\n{intro}\n")


def in_two_blocks(text: str) -> str:
    """With a cut after the imports: what a program of one block prints would stand above it."""
    imports = [n for n in ast.parse(text).body if isinstance(n, (ast.Import, ast.ImportFrom))]
    lines = text.split("\n")
    lines.insert(imports[-1].end_lineno or 0, "\n# %%\n")
    return "\n".join(lines)


def write(file: Path, text: str) -> None:
    """Only what changed, so that sphinx-gallery runs no example again that it knows."""
    if not file.exists() or file.read_text("utf-8") != text:
        file.write_text(text, "utf-8")


def gallery() -> dict[str, Any]:
    """The configuration of sphinx-gallery."""
    from sphinx_gallery.sorting import ExplicitOrder

    order = [name + ".py" for _, titles in EXAMPLES.values() for name in titles]
    return {
        "examples_dirs": [str(GALLERY)],
        "gallery_dirs": ["gallery"],
        "filename_pattern": ".",
        "subsection_order": ExplicitOrder([f"_build/gallery_sources/{key}" for key in EXAMPLES]),
        "within_subsection_order": ExplicitOrder(order),
        "download_all_examples": False,
        "show_memory": False,
        "show_signature": False,
        "min_reported_time": 1e6,
        "remove_config_comments": True,
        "plot_gallery": True,
        "abort_on_example_error": True,
    }


# ---- what pages print ----------------------------------------------------------------------------

BLOCK = re.compile(r"^```python\n(.*?)^```\n(\n```\n)?", re.DOTALL | re.MULTILINE)
RUN = """
import contextlib, io, json, linecache, sys, warnings

warnings.simplefilter("ignore")
blocks, printed, names = json.load(sys.stdin), [], {"__name__": "__docs__"}
lines = []  # for kernels, which read the source of their functions
for line, text in blocks:
    lines += ["\\n"] * (line - len(lines)) + text.splitlines(True)
linecache.cache[sys.argv[1]] = sum(map(len, lines)), None, lines, sys.argv[1]
for line, text in blocks:
    stream = io.StringIO()
    try:
        with contextlib.redirect_stdout(stream):
            exec(compile("\\n" * line + text, sys.argv[1], "exec"), names)
    except ImportError:  # of a package that is not installed: the rest shows nothing
        break
    printed.append(stream.getvalue())
printed += [""] * (len(blocks) - len(printed))
json.dump(printed, open(sys.argv[2], "w"))
"""
MOST = 30  # lines of one block


def with_output(page: str, text: str) -> str:
    """The page with what each block prints below it, unless the page shows that already."""
    found = list(BLOCK.finditer(text))
    if not any("print(" in match[1] for match in found):
        return text
    printed = outputs(page, [(text.count("\n", 0, m.start(1)), m[1]) for m in found])
    for match, output in reversed(list(zip(found, printed))):
        lines = output.rstrip("\n").split("\n")
        if output.strip() and not match[2]:
            shown = "\n".join(lines[:MOST] + ["..."] * (len(lines) > MOST))
            block = f"\n:::{{container}} output\n```text\n{shown}\n```\n:::\n"
            text = text[: match.end()] + block + text[match.end() :]
    return text


def outputs(page: str, blocks: list[tuple[int, str]]) -> list[str]:
    """Of a page's blocks, run as one program; kept until a block changes. PYGPU_DOCS_RUN=0: only
    what is kept, for a quick look at the pages."""
    key = hashlib.sha256(json.dumps(blocks).encode()).hexdigest()[:32]
    kept = BUILD / "outputs" / f"{key}.json"
    if not kept.exists() and os.environ.get("PYGPU_DOCS_RUN") == "0":
        return [""] * len(blocks)
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            result = Path(folder, "printed.json")
            done = subprocess.run(
                [sys.executable, "-P", "-c", RUN, page, str(result)],
                input=json.dumps(blocks),
                capture_output=True,
                text=True,
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
            if done.returncode:
                raise RuntimeError(f"the code of {page} failed:\n{done.stderr}")
            kept.write_text(result.read_text("utf-8"), "utf-8")
    return list(json.loads(kept.read_text("utf-8")))


# ---- benchmarks ----------------------------------------------------------------------------------

PLOT = re.compile(r"^<!-- plot (\w+): (.*) -->$", re.MULTILINE)


def rows_under(heading: str) -> list[list[str]]:
    """The first table under a heading of benchmarks/README.md, its head first."""
    text = (ROOT / "benchmarks" / "README.md").read_text("utf-8")
    section = text.split(f"\n{heading}\n", 1)[1]
    lines = section[section.index("\n|") + 1 :].split("\n\n")[0].split("\n")
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines]
    return [row for k, row in enumerate(rows) if k != 1]


def numbers(row: list[str]) -> list[float]:
    return [float(re.sub(r"[^\d.].*", "", cell) or "nan") for cell in row]


def draw(name: str, heading: str) -> str:
    """A bar chart of a table, as a file; where it is."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    head, *rows = rows_under(heading)
    if name == "launches":  # its first column has no name
        head = [""] * (len(rows[0]) - len(head)) + head
    labels = [row[0] for row in rows]
    columns = [k for k, title in enumerate(head) if k and title != "ratio" and title != "C"]
    values = [numbers(row[1:]) for row in rows]
    figure = plt.figure(figsize=(8, 3.6), layout="constrained")
    axes = figure.add_subplot()
    width = 0.8 / len(columns)
    for place, k in enumerate(columns):
        at = [row + (place - (len(columns) - 1) / 2) * width for row in range(len(rows))]
        axes.bar(at, [row[k - 1] for row in values], width, label=head[k])
    if name == "programs":  # from 0.3 to 200
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
    axes.set(xticks=range(len(rows)), ylabel="ms" if name == "programs" else "ns")
    turned = {"rotation": 30, "ha": "right"} if len(labels) > 9 else {}  # side by side they overlap
    axes.set_xticklabels(labels, **turned)
    axes.legend(fontsize="small")
    file = BUILD / "plots" / f"{name}.png"
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=160)
    plt.close(figure)
    return f"![{heading.strip('# ')}](../_build/plots/{name}.png)"


# ---- Sphinx --------------------------------------------------------------------------------------


def complete(app: Any, page: str, source: list[str]) -> None:
    """Add to a page's text what only the site has."""
    text = source[0]
    if page == "index" or page.startswith(("guide/", "arrays/", "kernels/")):
        text = with_output(page, text)
    source[0] = PLOT.sub(lambda match: draw(match[1], match[2]), text)
