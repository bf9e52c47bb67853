"""Binaries of generated kernels that are kept for PoCL, which would read their code anew."""

import os
import subprocess
import sys

import pytest

import pygpu as cl
from pygpu._src.runtime.backends import backend_of
from pygpu._src.runtime.opencl import kernel_binaries as binaries
from pygpu._src.runtime.opencl.build import is_pocl

pytestmark = pytest.mark.sampled(3)

CODE = """
import numpy as np
import pygpu as cl, pygpu.array
queue = cl.CommandQueue(cl.create_some_context(interactive=False))
a = pygpu.array.to_device(queue, np.arange(9, dtype=np.float32))
b = pygpu.array.to_device(queue, np.arange(3))
cl._opencl._call_counts(True)
first = a + a
calls = cl._opencl._call_counts(False)
assert first.get().tolist() == [2.0 * k for k in range(9)]
assert (b[[2, 0]] * 2).get().tolist() == [4, 0] and a.sum().get() == 36
print(*sorted(name for name in calls if name.startswith("clCreateProgram")))
"""


@pytest.fixture
def pocl(opencl_maker):
    if not is_pocl(opencl_maker.backend.device):
        pytest.skip("needs PoCL, the only driver for which these binaries are kept")
    return opencl_maker


def start(folder, before="", **more):
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path)))
    env.update(PYGPU_CACHE_DIR=str(folder), **more)
    command = [sys.executable, "-c", before + CODE]
    return subprocess.Popen(command, env=env, stdout=-1, stderr=-1, text=True)


def end(process):
    out, error = process.communicate(timeout=300)
    assert process.returncode == 0, error
    return out.strip()


def test_a_second_process_builds_from_binaries(pocl, tmp_path):
    assert end(start(tmp_path)) == "clCreateProgramWithSource"
    assert end(start(tmp_path)) == "clCreateProgramWithBinary"
    assert end(start(tmp_path, PYGPU_NO_CACHE="1")) == "clCreateProgramWithSource"
    other = start(tmp_path, PYOPENCL_BUILD_OPTIONS="-DOTHER_OPTION")
    assert end(other) == "clCreateProgramWithSource"
    for path in tmp_path.rglob("*.program"):  # what is damaged is not used
        path.write_bytes(path.read_bytes()[:-1])
    assert end(start(tmp_path)) == "clCreateProgramWithSource"


def test_processes_that_start_at_once(pocl, tmp_path):
    """PoCL ends one that puts a binary together from files that another one is writing."""
    fresh = tmp_path / "pocl"
    fresh.mkdir()
    many = [start(tmp_path / "kept", POCL_CACHE_DIR=str(fresh)) for _ in range(3)]
    assert [end(one) for one in many] == ["clCreateProgramWithSource"] * 3
    assert end(start(tmp_path / "kept")) == "clCreateProgramWithBinary"


def test_a_kernel_that_was_only_marked_is_kept_by_a_later_process(pocl, tmp_path):
    limit = "from pygpu._src.runtime.opencl import kernel_binaries as b; b._FOR_NEW = -1, 0\n"
    assert end(start(tmp_path, before=limit)) == "clCreateProgramWithSource"
    marks = [path.stat().st_size for path in tmp_path.rglob("*.program")]
    assert marks and max(marks) < 2000
    assert end(start(tmp_path)) == "clCreateProgramWithSource"
    assert end(start(tmp_path)) == "clCreateProgramWithBinary"


def test_only_generated_kernels_are_stored(pocl, tmp_path, monkeypatch):
    """Generated text alone; no more of it than its share of the time; not against a program's
    wish."""
    monkeypatch.setenv("PYGPU_CACHE_DIR", str(tmp_path))
    context = cl.Context([pocl.backend.device])
    backend = backend_of(cl.CommandQueue(context))

    def build(name, rest=""):
        text = backend.dialect.prefix(frozenset()) + rest
        text += f"PG_KERNEL void {name}(PG_ARRAY(pg_f32, x), pg_i64 n) {{ PG_START(pg_f32, x); "
        backend.compile(text + "x[n] = 1; }").kernel(name)
        return sorted(path.stat().st_size > 2000 for path in tmp_path.rglob("*.program"))

    for rest in ('#define FILE "x"\n#if 0\n#include FILE\n#endif\n', "/* __DATE__ */"):
        assert build("uncertain", rest) == []
    monkeypatch.setattr(binaries, "_compiling", 100.0)
    monkeypatch.setattr(binaries, "_packing", 0.0)
    assert build("one") == [True]
    monkeypatch.setattr(binaries, "_packing", 1e9)
    assert build("two") == [False, True]  # a mark
    assert build("two") == [False, True]
    monkeypatch.setattr(binaries, "_packing", 0.0)
    assert build("two") == [True, True]
    context.cache_dir = False
    assert build("three") == [True, True]
