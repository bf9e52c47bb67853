"""The pytest plugin, each case in a pytest of its own."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import pygpu as cl

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


@pytest.fixture
def pytest_run(tmp_path):
    """A function that runs pytest on a test file's text and returns its outcomes and its output."""

    def run(text, *options, conftest="", **environment):
        (tmp_path / "test_inner.py").write_text(text)
        (tmp_path / "conftest.py").write_text(conftest)
        inherited = {
            k: v for k, v in os.environ.items() if k not in ("PYGPU_TEST", "PYOPENCL_TEST")
        }
        where = str(Path(cl.__file__).parents[1])  # a checkout need not be installed
        environment["PYTHONPATH"] = os.pathsep.join(
            filter(None, [where, inherited.get("PYTHONPATH")])
        )
        # Only this plugin, whether or not pygpu is installed with its entry point.
        environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        command = [sys.executable, "-P", "-m", "pytest", "-p", "pygpu_pytest", "-p"]
        command += ["no:cacheprovider", "-rA", "-v", "-c", os.devnull, "--rootdir", str(tmp_path)]
        done = subprocess.run(
            [*command, *options, str(tmp_path)],
            env={**inherited, **environment},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )
        outcomes = {
            word: int(n) for n, word in re.findall(r"(\d+) (\w+)", done.stdout.splitlines()[-1])
        }
        return outcomes, done.stdout + done.stderr

    return run


def first_platform() -> cl.Platform:
    return next(platform for platform in cl.get_platforms() if platform.get_devices())


def device_count():
    return sum(len(platform.get_devices()) for platform in cl.get_platforms())


USES_FACTORY = """
import pygpu as cl

def test_it(ctx_factory):
    ctx = ctx_factory()
    assert isinstance(ctx, cl.Context) and len(ctx.devices) == 1
"""


def test_once_for_each_device(pytest_run):
    outcomes, output = pytest_run(USES_FACTORY)
    assert outcomes["passed"] == device_count(), output
    assert "failed" not in outcomes and "error" not in outcomes
    name = first_platform().get_devices()[0].name.strip()
    assert f"<context factory for <pygpu.Device '{name}'" in output


@pytest.mark.parametrize("variable", ["PYGPU_TEST", "PYOPENCL_TEST"])
def test_devices_are_chosen_by_the_environment(pytest_run, variable):
    first = f"{cl.get_platforms().index(first_platform())}:0"
    outcomes, output = pytest_run(USES_FACTORY, **{variable: first})
    assert outcomes["passed"] == 1, output
    outcomes, output = pytest_run(USES_FACTORY, **{variable: f"{first};{first},0"})
    assert outcomes["passed"] == 3, output


def test_a_wrong_choice_is_an_error_and_no_skip(pytest_run):
    outcomes, output = pytest_run(USES_FACTORY, PYGPU_TEST="no such platform")
    assert "passed" not in outcomes and "skipped" not in outcomes
    assert "'no such platform' of 'no such platform' not found" in output


def test_queue(pytest_run):
    outcomes, output = pytest_run(
        """
import pygpu as cl

def test_queue(pygpu_queue, ctx_factory):
    assert pygpu_queue.context.devices == [ctx_factory.device]
    prg = cl.Program(pygpu_queue.context, "__kernel void k() {}").build()
    prg.k(pygpu_queue, (1,), None)

def test_queue_alone(pygpu_queue):
    assert isinstance(pygpu_queue, cl.CommandQueue)
"""
    )
    assert outcomes["passed"] == 2 * device_count(), output


def test_pyopencls_own_hook_in_the_test_file(pytest_run):
    outcomes, output = pytest_run(
        """
from pygpu.tools import pytest_generate_tests_for_pyopencl as pytest_generate_tests
import pytest

def test_factory(ctx_factory):
    assert ctx_factory().devices == [ctx_factory.device]

def test_more(platform, device, ctx_factory):
    assert device.platform == platform and ctx_factory.device == device

@pytest.mark.parametrize("n", [1, 2])
def test_with_more_parameters(ctx_getter, n):
    assert ctx_getter() is not None

def test_queue(pygpu_queue):
    pygpu_queue.finish()
"""
    )
    assert outcomes["passed"] == 5 * device_count(), output


def test_same_hook_in_conftest(pytest_run):
    hook = "from pygpu.tools import pytest_generate_tests_for_pyopencl as pytest_generate_tests"
    outcomes, output = pytest_run(USES_FACTORY, conftest=hook)
    assert outcomes["passed"] == device_count(), output


def test_own_fixture_wins(pytest_run):
    outcomes, output = pytest_run(
        """
import pytest

@pytest.fixture(params=[1, 2])
def ctx_factory(request):
    return lambda: request.param

def test_it(ctx_factory):
    assert ctx_factory() in (1, 2)
"""
    )
    assert outcomes["passed"] == 2, output


def test_own_fixture_may_build_on_ours(pytest_run):
    outcomes, output = pytest_run(
        """
import pytest

@pytest.fixture
def ctx_factory(ctx_factory):
    return lambda: (ctx_factory(), "more")

def test_it(ctx_factory):
    assert ctx_factory()[1] == "more"
"""
    )
    assert outcomes["passed"] == 1, output


def test_marked_values_win(pytest_run):
    outcomes, output = pytest_run(
        """
import pytest

@pytest.mark.parametrize("ctx_factory", [str, int, float])
def test_it(ctx_factory):
    assert not ctx_factory()
"""
    )
    assert outcomes["passed"] == 3, output


NOTHING = """
import sys

def test_it(tmp_path):
    new = {name.split(".")[0] for name in sys.modules} & {"pygpu", "numpy", "mako", "IPython"}
    assert not new, new
    assert "pygpu_pytest" in sys.modules
    if sys.platform == "linux":
        maps = open("/proc/self/maps").read()
        assert "libOpenCL" not in maps and "libpocl" not in maps, "a driver was loaded"
"""


def test_others_are_left_alone(pytest_run):
    """pytest loads the plugin in every project of an environment where pygpu is installed."""
    outcomes, output = pytest_run(NOTHING)
    assert outcomes["passed"] == 1, output


def test_the_package_is_imported_by_a_test_that_asks(pytest_run):
    outcomes, output = pytest_run(NOTHING.replace("tmp_path", "ctx_factory"))
    assert outcomes["failed"] == device_count(), output
    assert "AssertionError: {" in output


@pytest.mark.parametrize("first", ["no:pygpu_pytest", "pygpu_pytest"])
def test_under_the_name_in_the_package(pytest_run, first):
    """Alone, and beside the plugin that pytest found by itself."""
    outcomes, output = pytest_run(USES_FACTORY, "-p", first, "-p", "pygpu.pytest_plugin")
    assert outcomes["passed"] == device_count(), output
    assert "error" not in outcomes, output


def test_entry_point_loads_the_plugin():
    if not PROJECT.exists():
        pytest.skip("no pyproject.toml beside the tests")
    project = tomllib.loads(PROJECT.read_text("utf-8"))
    [module] = project["project"]["entry-points"]["pytest11"].values()
    assert module == "pygpu_pytest"
    assert module in project["tool"]["setuptools"]["py-modules"]


def test_without_a_device_it_is_skipped(pytest_run, tmp_path):
    empty = tmp_path / "no vendors"
    empty.mkdir()
    no_driver = {
        "PYGPU_OPENCL_LIBRARY": str(tmp_path / "libmissing.so"),
        "OCL_ICD_VENDORS": str(empty),
        "OCL_ICD_FILENAMES": "",
    }
    outcomes, output = pytest_run(USES_FACTORY, **no_driver)
    assert outcomes.get("skipped") == 1 and "failed" not in outcomes, output
    assert "no OpenCL device" in output


def test_pytest_does_not_warn_that_pygpu_was_imported_before_it(tmp_path):
    """As where a wheel is installed: pytest marks all packages of a plugin for rewriting."""
    found = tmp_path / "plugin-1.dist-info"
    found.mkdir()
    (found / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1\n")
    (found / "RECORD").write_text("pygpu/__init__.py,,\npygpu_pytest.py,,\n")
    (found / "entry_points.txt").write_text("[pytest11]\npygpu = pygpu_pytest\n")
    (tmp_path / "test_inner.py").write_text("def test_it(): import pyopencl\n")
    paths = [str(tmp_path), str(Path(cl.__file__).parents[1]), os.environ.get("PYTHONPATH")]
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-c", os.devnull]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pygpu.compat", "-m", "pytest", *options, "test_inner.py"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr
    assert "PytestAssertRewriteWarning" not in done.stdout + done.stderr
