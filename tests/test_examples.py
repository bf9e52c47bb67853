"""Every example runs, and checks its own result."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pygpu as cl

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))
NOTEBOOKS = sorted(EXAMPLES.glob("notebooks/*.ipynb"))


def environment(path: Path) -> dict[str, str]:
    """What the example needs around it; skips where its kind of device is missing."""
    if not path.stem.startswith("cuda_"):
        try:
            cl.get_platforms()
        except cl.LogicError:
            pytest.skip("no OpenCL device")
        return {}
    from pygpu import _cuda

    try:
        simulated = _cuda._is_simulator()
    except Exception as error:
        pytest.skip(f"no CUDA driver, and no simulator: {error}".splitlines()[0])
    return {"PYGPU_CUDA": "simulator" if simulated else "driver"}


def imported(path: Path) -> set[str]:
    """Packages and modules that the script imports."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return names


def run(path: Path, folder: Path, around: dict[str, str]) -> None:
    for name in imported(path) - {"pygpu"}:
        pytest.importorskip(name, reason=f"{name} is not installed")
    done = subprocess.run(
        [sys.executable, "-P", path],
        cwd=folder,
        env={**os.environ, "MPLBACKEND": "Agg", "DISPLAY": "", **around},  # plt.show() says nothing
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip(), "an example prints what it found"
    assert not done.stderr.strip(), done.stderr


@pytest.mark.skipif(not SCRIPTS, reason="no examples beside the tests")
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_example(path: Path, tmp_path: Path):
    run(path, tmp_path, environment(path))


# On any device, and cheap enough to be run on a second one.
ANYWHERE = "array_heat arrays_histogram arrays_image arrays_kmeans arrays_nbody fuse_nbody"


@pytest.mark.parametrize("name", ANYWHERE.split())
def test_example_on_cuda(name: str, tmp_path: Path):
    path = EXAMPLES / f"{name}.py"
    run(path, tmp_path, {**environment(Path("cuda_")), "PYGPU_DEVICE": "cuda"})


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_example_is_short_and_checks_itself(path: Path):
    text = path.read_text("utf-8")
    assert text.startswith('"""')
    assert "import pygpu" in text or "from pygpu import" in text
    assert "assert" in text
    assert text.count("\n") < 80 or path.stem == "photo_edges"  # the long one, on purpose


@pytest.mark.skipif(not NOTEBOOKS, reason="no notebooks beside the tests")
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.slow] * ("arrays" in path.stem))
        for path in NOTEBOOKS
    ],
)
def test_notebook(path: Path, tmp_path: Path):
    environment(path)
    if "import matplotlib" in path.read_text("utf-8"):
        pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "kept without outputs"
    nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    assert any(cell.get("outputs") for cell in notebook.cells)
