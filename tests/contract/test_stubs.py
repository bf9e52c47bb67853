"""The type stubs: those of the built module, complete, and of use to a type checker."""

import ast
import importlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pygpu as cl
from pygpu import _opencl

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "stubs.py"
PACKAGE = Path(cl.__file__).parent

needs_tool = pytest.mark.skipif(not TOOL.exists(), reason="no tools/stubs.py beside the tests")
needs_mypy = pytest.mark.skipif(
    importlib.util.find_spec("mypy") is None, reason="mypy is not installed"
)

GOOD = """
import numpy as np
import pygpu as cl

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
a = np.arange(16, dtype=np.float32)
buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=a)
program = cl.Program(context, "kernel void f(global float *x) {}").build(["-cl-fast-relaxed-math"])
kernel: cl.Kernel = program.f
event: cl.Event = program.f(queue, a.shape, None, buffer, wait_for=[])
cl.enqueue_copy(queue, a, buffer, wait_for=[event]).wait()
ns: int = event.profile.end - event.profile.start
array, mapped = cl.enqueue_map_buffer(queue, buffer, cl.map_flags.READ, 0, (16,), np.float32)
names: list[str] = [d.name for p in cl.get_platforms() for d in p.get_devices()]
try:
    cl.Buffer(context, 0, 4)
except cl.LogicError as error:
    code: int = error.code
block = cl.tools.MemoryPool(cl.tools.ImmediateAllocator(queue)).allocate(100)
cl.enqueue_fill_buffer(queue, block, np.uint8(1), 0, 100)
region: cl.Buffer = buffer[0:16]
text: str = cl.mem_flags.to_string(1)
with cl.CommandQueue(context) as other:
    other.finish()
"""
BAD = {
    "wrong1: int = program.f": "assignment",
    "wrong2: str = event.profile.end": "assignment",
    "buffer[3]": "index",
    "cl.Buffer(queue, 0, 4)": "arg-type",
    "queue.finsh()": "attr-defined",
    "cl.mem_flags.READWRITE": "attr-defined",
    "cl.enqueue_fill_buffer(queue, block)": "call-arg",
}


def tool():
    spec = importlib.util.spec_from_file_location("pygpu_stubs_tool", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@needs_tool
def test_the_stubs_are_those_of_the_built_module():
    done = subprocess.run(
        [sys.executable, TOOL, "--check"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@needs_tool
def test_a_stale_stub_is_noticed_and_shown(tmp_path, capsys, monkeypatch):
    stubs = tool()
    monkeypatch.setattr(stubs, "PACKAGE", tmp_path)
    for folder in ("array", "runtime/opencl", "runtime/cuda"):
        (tmp_path / "_src" / folder).mkdir(parents=True)
    monkeypatch.setattr(sys, "argv", ["stubs.py"])
    assert stubs.main() == 0
    monkeypatch.setattr(sys, "argv", ["stubs.py", "--check"])
    assert stubs.main() == 0
    path = tmp_path / "_opencl.pyi"
    path.write_text(path.read_text("utf-8").replace("def finish(self)", "def finish(self, n)"))
    capsys.readouterr()
    assert stubs.main() == 1
    assert "-    def finish(self, n) -> None: ..." in capsys.readouterr().out


@needs_tool
def test_a_docstring_without_types_is_refused():
    stubs = tool()

    def without():
        """Does something."""

    def broken():
        """(a: int -> None

        Text.
        """

    for function in without, broken:
        with pytest.raises(SystemExit, match="does not begin with types"):
            stubs.signature(function, "f")
    with pytest.raises(SystemExit, match="does not begin with a type"):
        stubs.property_type("f", without)


@needs_tool
def test_signatures_keep_literals_and_drop_other_defaults():
    stubs = tool()

    def function():
        """(a: dict, b: str = 'C', c: int = x.Y, *, d: HostBuffer = None) -> object

        Text.
        """

    assert stubs.signature(function, "f", "self") == (
        "(self, a: dict[str, Any], b: str = 'C', c: int = ..., *, d: _HostBuffer = None) -> Any"
    )


def test_the_package_is_marked_as_typed():
    assert (PACKAGE / "py.typed").exists()


def stub_names(path: Path) -> set[str]:
    names = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            names |= {*importlib.import_module(f"pygpu.{node.module}").__all__}
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname for alias in node.names if alias.asname}
        elif isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def test_every_public_name_has_a_type():
    known = stub_names(PACKAGE / "__init__.pyi")
    assert set(cl.__all__) <= known
    # Where pytest looks into assertions of pygpu too, it adds names that are not identifiers.
    public = {name for name in dir(cl) if name.isidentifier() and not name.startswith("_")}
    assert {name for name in public - known if hasattr(cl, name)} <= {"choose", "constants"} | {
        path.stem for path in PACKAGE.iterdir()
    }
    here = {name for name, item in vars(_opencl).items() if isinstance(item, type)}
    assert here <= stub_names(PACKAGE / "_opencl.pyi")


@needs_mypy
@pytest.mark.slow
def test_a_program_is_checked_strictly(tmp_path):
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "bad.py").write_text(GOOD + "\n".join(BAD) + "\n")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "mypy", "--strict", "--follow-imports=silent"]
        + ["--cache-dir", tmp_path / "cache", "good.py", "bad.py"],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(PACKAGE.parent)},
        capture_output=True,
        text=True,
        timeout=280,
    )
    first = 1 + GOOD.count("\n")
    found = [line for line in done.stdout.splitlines() if ": error: " in line]
    for i, (line, kind) in enumerate(BAD.items()):
        mine = [text for text in found if text.startswith(f"bad.py:{first + i}: ")]
        assert any(f"[{kind}]" in text for text in mine), (line, done.stdout)
    assert all(int(text.split(":")[1]) >= first for text in found), done.stdout
    assert not any(text.startswith("good.py") for text in found), done.stdout
