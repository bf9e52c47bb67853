"""What a type checker knows of programs: one run of mypy reads all files beside this one."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pygpu
from pygpu import GPUArray as Base
from pygpu.array import Array
from pygpu.cuda.gpuarray import GPUArray

HERE = Path(__file__).parent
RIGHT = sorted(HERE.glob("right/*.py"))
WRONG = sorted(HERE.glob("wrong/*.py"))
ENV = {**os.environ, "MYPYPATH": str(Path(pygpu.__file__).parents[1])}

needs_mypy = pytest.mark.skipif(
    importlib.util.find_spec("mypy") is None, reason="mypy is not installed"
)


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """{(file's name, line): code of mypy's error}"""
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--config-file=",
        "--strict",
        "--follow-imports=silent",
    ]
    command += ["--hide-error-context", "--no-error-summary", "--no-pretty"]
    command += ["--cache-dir", str(tmp_path_factory.mktemp("mypy")), *map(str, [*RIGHT, *WRONG])]
    done = subprocess.run(command, capture_output=True, text=True, cwd=HERE, env=ENV, timeout=280)
    found = re.findall(r"(\w+)[/\\](\w+\.py):(\d+): error: .*\[([\w-]+)\]", done.stdout)
    assert done.returncode in (0, 1) and (found or not done.stdout), done.stdout + done.stderr
    return {(f"{folder}/{name}", int(line)): code for folder, name, line, code in found}


@needs_mypy
@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_types_are_those_asserted(said, path):
    name = f"right/{path.name}"
    assert {line: code for (file, line), code in said.items() if file == name} == {}


@needs_mypy
@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_each_wrong_line_is_refused_for_its_reason(said, path):
    name = f"wrong/{path.name}"
    lines = enumerate(path.read_text("utf-8").splitlines(), 1)
    expected = {n: line.split("# E: ")[1] for n, line in lines if "  # E: " in line}
    assert {line: code for (file, line), code in said.items() if file == name} == expected


@pytest.mark.parametrize("cls", [Base, Array, GPUArray])
def test_a_class_of_arrays_takes_a_dtype_in_an_annotation(cls):
    alias = cls[np.float32]
    assert alias.__origin__ is cls
    assert alias.__args__ == (np.float32,)


def test_an_annotated_class_makes_arrays_of_the_class(queue):
    class Positions(Array[np.float32]):
        pass

    made = Positions(queue, (3,), np.float32).fill(2)
    assert type(made) is type(made + 1) is type(made[1:]) is Positions
    assert (made + 1).get().tolist() == [3, 3, 3]
