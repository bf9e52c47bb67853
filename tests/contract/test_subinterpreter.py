"""Sub-interpreters are refused, and a process that tried one ends as usual."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pygpu as cl

MODULES = ["_interpreters", "_xxsubinterpreters"]  # from Python 3.13 on, before
PROGRAM = """
import {module} as interpreters
text = '''
try:
    import pygpu
except ImportError as error:
    print("refused:", error)
'''
interpreters.run_string(interpreters.create(), text)
import pygpu  # the main one is not harmed
pygpu.Error
"""


def test_import_is_refused_and_the_process_ends(tmp_path: Path):
    module = next(filter(importlib.util.find_spec, MODULES), None)
    if module is None:
        pytest.skip("this Python has no module for sub-interpreters")
    done = subprocess.run(
        [sys.executable, "-P", "-W", "ignore", "-c", PROGRAM.format(module=module)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(cl.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=60,  # before it was refused, such a process never ended
    )
    assert done.returncode == 0, done.stderr
    assert "refused: " in done.stdout
