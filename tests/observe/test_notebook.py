"""What a notebook shows: pictures and tables, errors, a progress line that goes away."""

from __future__ import annotations

import pytest

from pygpu._src.util import progress

CELLS = """
from pygpu import xp
x = xp.linspace(0, 1, 12).reshape(3, 4)
x
---
import pygpu
with pygpu.profile() as p:
    y = (x * 2).sum()
p
---
x + xp.ones(5)
---
import time
from pygpu._src.util import progress
progress._AFTER, progress._EVERY = 0.05, 0.05
with progress.line(lambda: "compiling k"):
    time.sleep(0.4)
"""


class Display:
    """IPython's display(): what stands in the cell."""

    def __init__(self):
        self.shown: list[dict[str, str]] = []

    def __call__(self, data, raw, display_id):
        assert raw and display_id
        self.shown.append(data)
        return self

    def update(self, data, raw):
        self.shown.append(data)


def test_a_progress_line_leaves_no_empty_output():
    display = Display()
    write = progress._Widget(display)
    for text in ("pygpu: compiling k, 1 s", "pygpu: compiling k, 2 s", ""):
        write(text)
    assert display.shown[1] == {"text/plain": "pygpu: compiling k, 2 s"}
    assert display.shown[2] == {}


@pytest.mark.slow
def test_a_notebook():
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    v4 = nbformat.v4
    notebook = v4.new_notebook(cells=[v4.new_code_cell(c.strip()) for c in CELLS.split("---")])
    nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", allow_errors=True
    ).execute()
    array, profile, error, line = ([*cell.outputs] for cell in notebook.cells)
    assert "<table" in array[-1].data["text/html"] and "<img" in array[-1].data["text/html"]
    assert profile[-1].data["text/html"].startswith("<svg")
    assert error[-1].output_type == "error" and error[-1].ename == "ValueError"
    assert [output.data for output in line] == [{}]
    for cell in notebook.cells:
        assert not any(output.output_type == "stream" for output in cell.outputs), cell.outputs
