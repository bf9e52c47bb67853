"""A worker that dies ends the run, with the name of the test that it ran; a run that hangs ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("xdist", reason="pytest-xdist is not installed")

TESTS = Path(__file__).parents[1]
OPTIONS = "-n 2 --dist loadfile --no-loadscope-reorder --max-worker-restart=0".split()
CONFTEST = "import lost_workers\ndef pytest_configure(config): lost_workers.register(config)\n"


def run(folder, files, **variables):
    """A small suite's exit status and output."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "conftest.py").write_text(CONFTEST)
    for name, text in files.items():
        (folder / name).write_text(text)
    env = dict(os.environ, PYTHONPATH=str(TESTS), PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", **variables)
    env.pop("PYTEST_XDIST_WORKER", None)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "xdist", "-p", "no:cacheprovider", *OPTIONS],
        cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=120,
    )  # fmt: skip
    return done.returncode, done.stdout


OTHERS = "def test_one(): pass\ndef test_two(): pass\ndef test_three(): pass\n"


def test_a_worker_that_dies_in_a_test_ends_the_run_with_its_name(tmp_path):
    last = "import os\ndef test_first(): pass\ndef test_last(): os.abort()\n"
    files = {"test_a.py": OTHERS, "test_b.py": OTHERS, "test_c.py": OTHERS, "test_d.py": last}
    status, text = run(tmp_path, files)
    assert status == 1, text
    assert "It was running: test_d.py::test_last\nFatal Python error: Aborted" in text
    assert "FAILED test_d.py::test_last" in text and "in test_last" in text


def test_a_worker_that_dies_after_its_tests_fails_the_run(tmp_path):
    dying = "import os, pytest\n@pytest.fixture(scope='session', autouse=True)\ndef end():\n"
    dying += "    yield\n    os._exit(3)\ndef test_last(): pass\n"
    status, text = run(tmp_path, {"test_a.py": OTHERS, "test_b.py": dying})
    assert status == 1, text
    assert "was lost" in text and "It was running: test_b.py::test_last" in text


def test_a_run_that_hangs_is_ended(tmp_path):
    files = {"test_a.py": OTHERS, "test_b.py": "import time\ndef test_b(): time.sleep(1000)\n"}
    status, text = run(tmp_path, files, PYGPU_TEST_SILENCE="1")
    assert status == 3, text
    assert "Nothing heard from any worker for 5 s" in text and ": test_b.py::test_b\n" in text


def test_a_run_without_losses_is_as_before(tmp_path):
    status, text = run(tmp_path, {"test_a.py": OTHERS, "test_b.py": OTHERS})
    assert status == 0 and "6 passed" in text and "lost" not in text, text
