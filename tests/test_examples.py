"""Every example runs, and checks its own result."""

import ast
from pathlib import Path

import pytest
from programs import Programs

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


def run(path: Path, folder: Path, programs: Programs) -> None:
    for name in imported(path) - {"pygpu"}:
        pytest.importorskip(name, reason=f"{name} is not installed")
    done = programs.run(path.read_text("utf-8"), str(path), folder, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip(), "an example prints what it found"
    assert not done.stderr.strip(), done.stderr


def run_alone(path: Path, folder: Path, around: dict[str, str]) -> None:
    programs = Programs({**NO_WINDOWS, **around})
    run(path, folder, programs)
    assert programs.close() == 0


NO_WINDOWS = {"MPLBACKEND": "Agg", "DISPLAY": ""}  # plt.show() says nothing

# Those of CUDA make a context current, and those with processes of their own run in them again.
ALONE = [
    path
    for path in SCRIPTS
    if path.stem.startswith(("cuda_", "gl_")) or "__main__" in path.read_text("utf-8")
]
TOGETHER = [path for path in SCRIPTS if path not in ALONE]
SLOW = {"array_api", "arrays_histogram", "arrays_table"}
SLOW |= {"dask_monte_carlo", "dask_subspace", "dask_svd"}


def case(path: Path):
    return pytest.param(path, id=path.stem, marks=[pytest.mark.slow] * (path.stem in SLOW))


@pytest.fixture(scope="module")
def programs():
    programs = Programs(NO_WINDOWS)
    yield programs
    assert programs.close() == 0


@pytest.mark.skipif(not SCRIPTS, reason="no examples beside the tests")
@pytest.mark.parametrize("path", map(case, TOGETHER))
def test_example(path: Path, programs: Programs, tmp_path: Path):
    environment(path)
    run(path, tmp_path, programs)


@pytest.mark.skipif(not SCRIPTS, reason="no examples beside the tests")
@pytest.mark.parametrize(
    "path",
    [case(path) for path in ALONE]
    + [pytest.param(path, id=path.stem, marks=pytest.mark.slow) for path in TOGETHER],
)
def test_example_in_a_new_process(path: Path, tmp_path: Path):
    run_alone(path, tmp_path, environment(path))


# On any device, and cheap enough to be run on a second one.
ANYWHERE = "array_heat arrays_histogram arrays_image arrays_kmeans arrays_nbody fuse_nbody"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name not in ("array_heat", "fuse_nbody")))
        for name in ANYWHERE.split()
    ],
)
def test_example_on_cuda(name: str, tmp_path: Path):
    path = EXAMPLES / f"{name}.py"
    run_alone(path, tmp_path, {**environment(Path("cuda_")), "PYGPU_DEVICE": "cuda"})


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
