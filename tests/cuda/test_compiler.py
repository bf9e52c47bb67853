"""SourceModule and DynamicSourceModule: what is taken for a source, nvcc's options, messages."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from pygpu import _cuda
from pygpu._src.runtime import disk_cache as disk
from pygpu._src.runtime.cuda import kernel_sources as images
from pygpu._src.runtime.cuda import nvrtc
from pygpu._src.runtime.cuda.advice import advised
from pygpu.cuda import compiler
from pygpu.cuda import driver as cuda
from pygpu.cuda.compiler import DynamicModule, DynamicSourceModule, SourceModule, compile

SOURCE = "__global__ void set(int *out) { out[0] = 7; }"


def run(module) -> int:
    out = np.zeros(1, np.int32)
    module.get_function("set")(cuda.Out(out), block=1)
    return int(out[0])


class Generated:
    """What code generators give: text by str()."""

    def __str__(self) -> str:
        return SOURCE


def test_generated_source(context):
    module = SourceModule(Generated())
    assert run(module) == 7
    assert module.get_function("set").parameters == [(0, 8, "int *out")]


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        (SOURCE.encode(), "bytes; decode"),
        (bytearray(SOURCE.encode()), "bytearray; decode"),
        (Path("kernel.cu"), "Path; give the file's text"),
        (None, "NoneType"),
        (3, "int"),
        ([SOURCE], "list"),
        (object(), "object"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_no_source(context, source, hint):
    with pytest.raises(TypeError, match=f"SourceModule: source must be a str, not .*{hint}"):
        SourceModule(source)
    with pytest.raises(TypeError, match="compile: source must be a str"):
        compiler.compile(source, arch="sm_90")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("texture<float, 1> t;", "hint: .*cudaTextureObject_t"),
        ("surface<void, 2> s;", "hint: .*cudaSurfaceObject_t"),
        ("template <class T> __global__ void f(T *a) { *a = 0; }", "hint: .*no_extern_c=True"),
        ("__global__ int f(int *a) { return 1; }", "must have a void return type"),
        ("__global__ float *f() { return 0; }", "must have a void return type"),
    ],
)
def test_advice(context, source, expected):
    with pytest.raises(cuda.CompileError, match=expected):
        SourceModule(source)


def test_a_header_in_extern_c_is_a_short_error(context):
    source = "#include <tuple>\ntemplate <class T> __device__ T same(T x) { return x; }\n"
    with pytest.raises(cuda.CompileError) as caught:
        SourceModule(source + "__global__ void f(int *a) { *a = nonsense; }")
    lines = caught.value.stderr.splitlines()
    assert lines[0].startswith("(hint: ") and "no_extern_c=True" in lines[0]
    assert len(lines) < 30
    if _cuda._is_simulator():  # NVRTC gives up after a hundred errors
        assert any("nonsense" in line for line in lines), "another error got lost"
    assert sum("more errors of templates and functions in C linkage" in x for x in lines) == 1


NVRTC = (
    'x.h(4): error: this declaration may not have extern "C" linkage\n  template<class T>\n  ^\n\n'
)
GCC = (
    "In file included from y.h:1,\n                 from kernel.cu:2:\n"
    "x.h:4:3: error: template with C linkage\n    4 |   template<class T>\n      |   ^~~~~~~~\n"
    "kernel.cu:1:1: note: 'extern \"C\"' linkage started here\n"
)


@pytest.mark.parametrize("one", [NVRTC, GCC], ids=["nvrtc", "g++"])
def test_repeated_errors_are_cut_in_logs_of(one):
    other = 'kernel.cu(9): error: identifier "a" is undefined\n'
    own = one.replace("In file included from y.h:1,\n                 from kernel.cu:2:\n", "")
    own = own.replace("x.h", "kernel.cu").replace("class T", "class Own")
    end = '102 errors detected in the compilation of "kernel.cu".\n'
    hint, *rest = advised(one * 50 + other + one * 50 + own + end, "kernel.cu").split("\n", 1)
    assert "no_extern_c=True" in hint
    left_out = "(98 more errors of templates and functions in C linkage)\n"
    assert "".join(rest) == one * 2 + other + own + end + left_out


def test_a_log_of_few_errors_stays_as_it_is():
    assert advised(NVRTC * 3, "kernel.cu").split("\n", 1)[1] == NVRTC * 3
    assert advised("kernel.cu(1): error: nonsense\n" * 9, "kernel.cu").count("nonsense") == 9


def test_lists_of_options(context):
    for name, wrong in (("options", "-DN=3 -O2"), ("options", 3), ("include_dirs", 3)):
        with pytest.raises(TypeError, match=f"SourceModule: {name} must be a (list|sequence)"):
            SourceModule(SOURCE, **{name: wrong})
    for name in ("options", "include_dirs"):
        with pytest.raises(TypeError, match=f"SourceModule: {name} must contain str, not int .3."):
            SourceModule(SOURCE, **{name: ["-DN=3", 3]})


def test_paths_and_iterators(context, tmp_path):
    (tmp_path / "seven.h").write_text("#define SEVEN 7\n")
    source = '#include "seven.h"\n' + SOURCE.replace("7", "SEVEN + N")
    options, folders = iter(["-DN=3"]), iter([tmp_path])
    assert run(SourceModule(source, options=options, include_dirs=folders)) == 10


def test_nul_in_the_source(context):
    with pytest.raises(ValueError, match="SourceModule: the source has a NUL character at index 3"):
        SourceModule("// \0" + SOURCE)


def test_the_line_that_is_shown(context):
    with pytest.raises(cuda.CompileError) as caught:
        SourceModule("// first\n__global__ void set(int n) {\n    a[n] = 1;\n}\n")
    lines = caught.value.stderr.splitlines()
    assert lines[0].startswith("kernel.cu(3): error: ")
    assert lines[1].strip() == "a[n] = 1;" and lines[2].index("^") == lines[1].index("a")


@pytest.mark.simulator
@pytest.mark.parametrize("module", [SourceModule, DynamicSourceModule])
def test_options_of_nvcc_on_the_simulator(context, module):
    """Programs that tune for nvcc still run: there its output could not be loaded."""
    options = ["-Xcompiler=-Wall,-DN=3", "-e", "set", "--keep", "-lineinfo", "-Xptxas=-v", "-O3"]
    for nvcc in ("nvcc", "/no/such/nvcc"):
        made = module(SOURCE, nvcc=nvcc, options=options, arch="compute_90", code="sm_90")
        assert run(made) == 7
    for word in ("--nonsense", "-Xfoo", "foo"):
        with pytest.raises(cuda.CompileError, match=f"unrecognized option {word} found"):
            module(SOURCE, options=[*options, word])


@pytest.mark.simulator
@pytest.mark.parametrize("target", ["cubin", "ptx"])
def test_what_is_compiled_with_options_of_nvcc_loads_on_the_simulator(context, target):
    options = ["-Xcompiler=-Wall,-DN=3", "--keep", "-Wno-deprecated-gpu-targets", "-lineinfo"]
    assert run(cuda.module_from_buffer(compile(SOURCE, options=options, target=target))) == 7


def test_device_runtime(context):
    """cudadevrt is linked if there is one; the simulator has nothing to link."""
    module = DynamicModule()
    module.add_source(SOURCE)
    try:
        module.add_stdlib("cudadevrt")
    except FileNotFoundError:
        assert not _cuda._is_simulator()
    assert run(module.link()) == 7
    with pytest.raises(FileNotFoundError, match="nosuchlib"):
        DynamicModule().add_stdlib("nosuchlib")


@pytest.mark.parametrize("how", ["working directory", "option", "folder"])
def test_changed_header_is_noticed(context, tmp_path, monkeypatch, how):
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("PYCUDA_DISABLE_CACHE", raising=False)
    monkeypatch.chdir(tmp_path)
    header = tmp_path / "near.h"
    source = "__global__ void set(int *out) { out[0] = NEAR; }"
    options = [f"--pre-include={header}"] if how == "option" else [f"-I{tmp_path}"]
    if how != "option":
        source = '#include "near.h"\n' + source
    if how == "working directory":
        options = []
    for value in (1, 2, 1):
        header.write_text(f"#define NEAR {value}\n")
        module = SourceModule(source, options=options)
        assert run(module) == value


@pytest.fixture
def compilations(context, tmp_path, monkeypatch):
    """How many compilations there were, with a cache of the test's own."""
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("PYCUDA_DISABLE_CACHE", raising=False)
    calls, compile_source = [], nvrtc.compile_source

    def counted(*args):
        calls.append(args)
        return compile_source(*args)

    monkeypatch.setattr(nvrtc, "compile_source", counted)
    monkeypatch.setattr(images, "_images", {})
    return calls


def no_reading(*_):
    raise AssertionError("the cache on disk was read")


def test_a_source_that_memory_does_not_have_comes_from_disk(compilations, tmp_path):
    source = SOURCE.replace("7", "8")
    assert run(SourceModule(source)) == 8
    images._images.clear()
    assert run(SourceModule(source)) == 8
    assert len(compilations) == 1
    [entry] = [*tmp_path.rglob("*.program")]
    entry.write_bytes(entry.read_bytes()[:-1] + b"?")  # damaged: compiled again
    images._images.clear()
    assert run(SourceModule(source)) == 8
    assert len(compilations) == 2


def test_same_source_again_comes_from_memory(compilations, monkeypatch):
    source = SOURCE.replace("7", "9")
    assert run(SourceModule(source)) == 9
    with monkeypatch.context() as patch:
        patch.setattr(disk.Entries, "read", no_reading)
        assert run(SourceModule(source)) == run(SourceModule(source, options=None)) == 9
        with pytest.raises(AssertionError, match="was read"):
            SourceModule(source, options=["-DX=1"])
    assert len(compilations) == 1


@pytest.mark.parametrize(
    "kwargs",
    [{"options": ["-DX=1"]}, {"no_extern_c": True}, {"include_dirs": ["/nowhere"]}, {"keep": True}]
    + [{"cache_dir": False}],
    ids=lambda kwargs: next(iter(kwargs)),
)
def test_memory_tells_arguments_apart(compilations, kwargs, capsys):
    source = "#ifndef X\n#define X 10\n#endif\n" + SOURCE.replace("7", "X")
    if "no_extern_c" in kwargs:
        source = source.replace("__global__", 'extern "C" __global__')
    assert run(SourceModule(source)) == 10
    assert run(SourceModule(source, **kwargs)) == (1 if "options" in kwargs else 10)
    assert len(compilations) == 2
    assert run(SourceModule(source)) == 10
    assert len(compilations) == 2


def test_changed_environment_is_noticed(compilations, tmp_path, monkeypatch):
    """Variables say where the cache is, and whether there is one."""
    source = SOURCE.replace("7", "11")
    SourceModule(source)
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path / "other"))
    SourceModule(source)
    assert len(compilations) == 2
    assert len([*tmp_path.rglob("*.program")]) == 2
    for _ in range(2):
        monkeypatch.setenv("PYCUDA_DISABLE_CACHE", "1")
        SourceModule(source)
    assert len(compilations) == 4


def test_lost_entry_is_written_from_memory(compilations, tmp_path, monkeypatch):
    monkeypatch.setattr(images, "_TOUCHED_EVERY", 0.0)
    source = SOURCE.replace("7", "12")
    SourceModule(source)
    [entry] = [*tmp_path.rglob("*.program")]
    data = entry.read_bytes()
    os.utime(entry, (1, 1))
    SourceModule(source)
    assert entry.stat().st_mtime > 1  # in use: pruned last
    entry.unlink()
    SourceModule(source)
    assert entry.read_bytes() == data
    assert len(compilations) == 1


def test_default_flags_and_wrong_arguments_with_memory(compilations, monkeypatch):
    source = "#ifndef X\n#define X 10\n#endif\n" + SOURCE.replace("7", "X")
    assert run(SourceModule(source)) == 10
    monkeypatch.setattr(compiler, "DEFAULT_NVCC_FLAGS", ["-DX=4"])
    assert run(SourceModule(source)) == 4
    for kwargs in ({"options": [["-O3"]]}, {"cache_dir": [1]}, {"include_dirs": [{}]}):
        with pytest.raises(TypeError):
            SourceModule(source, **kwargs)
    monkeypatch.setattr(images, "_MOST", 2)
    for value in range(20, 25):
        assert run(SourceModule(SOURCE.replace("7", str(value)))) == value
    assert len(images._images) <= 2
