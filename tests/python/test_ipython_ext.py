"""The notebook magics, in a stand-in for IPython's shell and, where it is installed, in IPython
itself.
"""

import numpy as np
import pytest

import pygpu as cl
from pygpu import ipython_ext

SOURCE = """
#ifndef STEP
#define STEP 1
#endif
__kernel void add_step(__global int *x) { x[get_global_id(0)] += STEP; }
__kernel void double_it(__global int *x) { x[get_global_id(0)] *= 2; }
"""


class Shell:
    """What the extension uses of IPython's InteractiveShell."""

    def __init__(self, **variables):
        self.user_ns = variables
        self.magics = {}
        self.next_input = None

    def register_magic_function(self, func, magic_kind, magic_name):
        self.magics[magic_kind, magic_name] = func

    def find_user_code(self, target):
        with open(target) as file:
            return file.read()

    def set_next_input(self, text):
        self.next_input = text

    def run(self, name, line, cell=None):
        if cell is None:
            return self.magics["line", name](line)
        return self.magics["cell", name](line, cell)


@pytest.fixture
def shell(ctx):
    shell = Shell(ctx=ctx)
    ipython_ext.load_ipython_extension(shell)
    return shell


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "two words.cl"
    path.write_text(SOURCE)
    return path


def run_kernel(kernel, queue, values):
    data = np.array(values, np.int32)
    flags = cl.mem_flags
    buffer = cl.Buffer(queue.context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=data)
    kernel(queue, data.shape, None, buffer)
    cl.enqueue_copy(queue, data, buffer)
    return data.tolist()


def test_cell_makes_each_kernel_a_variable(shell, queue):
    assert shell.run("cl_kernel", "", SOURCE) is None
    assert run_kernel(shell.user_ns["add_step"], queue, [1, 5]) == [2, 6]
    assert run_kernel(shell.user_ns["double_it"], queue, [1, 5]) == [2, 10]


@pytest.mark.parametrize(
    "line",
    ["-o -DSTEP=7", "-o '-DSTEP=7 -cl-mad-enable'", '--options "-DSTEP=7"', "--options=-DSTEP=7"],
)
def test_options(shell, queue, line):
    shell.run("cl_kernel", line, SOURCE)
    assert run_kernel(shell.user_ns["add_step"], queue, [1]) == [8]


@pytest.mark.parametrize("form", ["'{}'", "-f '{}'", "-o -DSTEP=3 '{}'", "'{}' -o -DSTEP=3"])
def test_from_file(shell, queue, file, form):
    shell.run("cl_kernel_from_file", form.format(file))
    assert run_kernel(shell.user_ns["add_step"], queue, [1]) == [4 if "STEP" in form else 2]


def test_load_and_edit(shell, file):
    shell.run("cl_load_edit_kernel", f"'{file}'")
    assert shell.next_input == f"%%cl_kernel\n\n{SOURCE}"
    shell.run("cl_load_edit_kernel", f"-o '-DSTEP=2 -w' '{file}'")
    assert shell.next_input == f'%%cl_kernel -o "-DSTEP=2 -w"\n\n{SOURCE}'


@pytest.mark.parametrize(
    ("magic", "line", "message"),
    [
        ("cl_kernel", "-q", "-q not recognized.*use %%cl_kernel"),
        ("cl_kernel", "stray", "unexpected argument 'stray'"),
        ("cl_kernel", "-o 'open", "quotation"),
        ("cl_kernel_from_file", "-o -w", "the name of a file is missing"),
        ("cl_load_edit_kernel", "", "the name of a file is missing"),
    ],
)
def test_wrong_lines(shell, magic, line, message):
    with pytest.raises(ValueError, match=message):
        shell.run(magic, line, "" if magic == "cl_kernel" else None)


def test_build_error_reaches_the_user(shell):
    with pytest.raises(cl.RuntimeError, match="BUILD_PROGRAM_FAILURE"):
        shell.run("cl_kernel", "", "__kernel void broken( {")
    assert "broken" not in shell.user_ns


def test_cl_ctx_comes_before_ctx(device, ctx):
    other = cl.Context([device])
    shell = Shell(ctx=ctx, cl_ctx=other)
    ipython_ext.load_ipython_extension(shell)
    shell.run("cl_kernel", "", SOURCE)
    assert shell.user_ns["add_step"].context == other


def test_variables_other_than_contexts_are_ignored(ctx):
    shell = Shell(ctx=ctx, cl_ctx="not a context")
    ipython_ext.load_ipython_extension(shell)
    shell.run("cl_kernel", "", SOURCE)
    assert shell.user_ns["add_step"].context == ctx


def test_without_a_context_one_is_made(capsys, monkeypatch):
    monkeypatch.delenv("PYOPENCL_CTX", raising=False)
    monkeypatch.delenv("PYGPU_CTX", raising=False)
    shell = Shell(ctx=42)
    ipython_ext.load_ipython_extension(shell)
    shell.run("cl_kernel", "", SOURCE)
    made = shell.user_ns["cl_ctx"]
    assert isinstance(made, cl.Context) and shell.user_ns["ctx"] == 42
    assert "cl_ctx = " in capsys.readouterr().out
    shell.run("cl_kernel", "", SOURCE)
    assert shell.user_ns["cl_ctx"] is made
    assert capsys.readouterr().out == ""


def test_in_ipython(ctx, queue, file):
    shell_module = pytest.importorskip(
        "IPython.core.interactiveshell", reason="needs the package ipython"
    )
    shell = shell_module.InteractiveShell()
    shell.run_line_magic("load_ext", "pygpu.ipython_ext")
    shell.user_ns["cl_ctx"] = ctx
    shell.run_cell(f"%%cl_kernel -o '-DSTEP=5 -w'\n{SOURCE}").raise_error()
    assert run_kernel(shell.user_ns["add_step"], queue, [1]) == [6]
    shell.run_cell(f"%cl_kernel_from_file -o -DSTEP=6 '{file}'").raise_error()
    assert run_kernel(shell.user_ns["add_step"], queue, [1]) == [7]
    with pytest.raises(cl.RuntimeError):
        shell.run_cell("%%cl_kernel\n__kernel void broken( {").raise_error()
