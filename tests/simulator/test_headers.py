"""The device headers: complete, without foreign names, and pruned to what a program uses."""

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import pygpu

INCLUDE = Path(pygpu.__file__).parent / "cuda" / "simulator" / "include"
SOURCES = Path(__file__).parents[2] / "src" / "simulator"
FLAGS = ["-std=gnu++17", "-fno-exceptions", "-fno-rtti", "-fno-math-errno", f"-I{INCLUDE}"]
SHIM = ["-include", str(INCLUDE / "pygpu_simcuda.h"), "-x", "c++"]
COMPILERS = [name for name in ("g++", "clang++-14", "clang++-15") if shutil.which(name)]

needs_compiler = pytest.mark.skipif(not COMPILERS, reason="no C++ compiler is installed")
# A part of another header, and headers whose only purpose is an error.
PARTS = {"sim_half_functions.h"}
REFUSED = {"cuda_fp8.h", "cuda_fp6.h", "cuda_fp4.h", "mma.h"}
NAMES = sorted(
    str(path.relative_to(INCLUDE))
    for path in INCLUDE.rglob("*")
    if path.is_file() and path.name not in PARTS | REFUSED and "library" not in path.parts
)


def compile_text(compiler, text, *flags):
    return subprocess.run(
        [compiler, *FLAGS, *SHIM, *flags, "-"], input=text, capture_output=True, text=True
    )


@needs_compiler
@pytest.mark.parametrize("hosted", [[], ["-DSIM_HOSTED=1"]], ids=["plain", "hosted"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_all_headers_together(compiler, hosted):
    text = "".join(f"#include <{name}>\n" for name in NAMES)
    flags = ["-fsyntax-only", "-Wall", "-Wextra", "-Wsystem-headers", "-Wno-unused-function"]
    if hosted:
        flags.remove("-Wsystem-headers")  # the C++ library's own
    result = compile_text(compiler, text, *hosted, *flags)
    assert result.returncode == 0, result.stderr[:3000]
    warnings = [line for line in result.stderr.splitlines() if "warning:" in line]
    allowed = ("-Winline-new-delete",)  # operator new is the kernel's own, not the process's
    assert not [line for line in warnings if not any(word in line for word in allowed)]


@needs_compiler
@pytest.mark.parametrize(
    "name", [name for name in NAMES if (INCLUDE / name).read_text("utf-8").count("\n") > 8]
)
def test_header_alone(name):
    result = compile_text(COMPILERS[0], f"#include <{name}>\n", "-fsyntax-only")
    assert result.returncode == 0, result.stderr[:3000]


@needs_compiler
@pytest.mark.parametrize("name", sorted(REFUSED))
def test_unsupported_headers_say_so(name):
    result = compile_text(COMPILERS[0], f"#include <{name}>\n", "-fsyntax-only")
    assert result.returncode != 0
    assert "not supported by the simulator" in result.stderr


@needs_compiler
def test_plain_mode_reads_no_file_of_the_system():
    result = compile_text(COMPILERS[0], "#include <cmath>\n#include <stdio.h>\n", "-E")
    files = set(re.findall(r'^# \d+ "(/[^"]+)"', result.stdout, re.MULTILINE))
    assert {path for path in files if not path.startswith(str(INCLUDE))} <= {
        "/usr/include/stdc-predef.h"
    }


@needs_compiler
def test_macros_cannot_meet_a_users_names():
    """Functions are functions; macros have a prefix, or are CUDA's own."""
    own = subprocess.run(
        [COMPILERS[0], *FLAGS, "-dM", "-E", "-x", "c++", "-"],
        input="",
        capture_output=True,
        text=True,
    )
    ours = compile_text(COMPILERS[0], "", "-dM", "-E")
    names = {
        re.split(r"[ (]", line, maxsplit=2)[1]
        for line in set(ours.stdout.splitlines()) - set(own.stdout.splitlines())
    }
    foreign = {
        name
        for name in names
        if not re.match(
            r"(PGS_|SIM_|PYGPU_|CCCL_DISABLE_|__NV_|__CUDA|__NVCC__|CUDA_VERSION|CUDART_)", name
        )
    }
    assert foreign <= {"assert", "NULL", "__activemask"}


@needs_compiler
def test_textures_are_laid_out_as_in_the_driver(tmp_path):
    """sim_texture.h repeats the structure of src/simulator/driver/texture.h."""
    fields = re.search(
        r"typedef struct \{(.*?)\} SimTexture;", (SOURCES / "driver/texture.h").read_text(), re.S
    )
    names = re.findall(r"(\w+)(?:\[\d\])?[,;]", re.sub(r"/\*.*?\*/", "", fields[1], flags=re.S))
    assert len(names) >= 14
    text = f'#include "{SOURCES}/driver/texture.h"\n'
    text += "static_assert(sizeof(SimTexture) == sizeof(pygpu_sim::Texture));\n"
    for name in names:
        text += (
            f"static_assert(__builtin_offsetof(SimTexture, {name}) == "
            f"__builtin_offsetof(pygpu_sim::Texture, {name}));\n"
        )
    for name in ("INTEGER", "NORMALIZED", "SRGB", "SURFACE"):
        flag = {"INTEGER": "READ_INTEGER", "NORMALIZED": "NORMALIZED"}.get(name, name)
        text += f"static_assert(SIM_TEXTURE_{flag} == pygpu_sim::texture_{name.lower()});\n"
    result = compile_text(COMPILERS[0], text, "-fsyntax-only")
    assert result.returncode == 0, result.stderr


@pytest.fixture(scope="module")
def prune(tmp_path_factory):
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler is installed")
    path = tmp_path_factory.mktemp("prune") / "prune.so"
    subprocess.run(
        [
            compiler,
            "-shared",
            "-fPIC",
            "-o",
            str(path),
            f"-I{SOURCES.parent}",
            str(SOURCES / "compiler/prune.c"),
        ],
        check=True,
    )
    function = ctypes.CDLL(str(path)).sim_prune
    function.restype = ctypes.c_size_t

    def call(text, rewritten=False):
        data = ctypes.create_string_buffer(text.encode())
        length = function(data, ctypes.c_size_t(len(data) - 1), ctypes.c_bool(rewritten))
        return data.raw[:length].decode()

    return call


def unit(names, text, kind="pygpu_if "):
    return f'static_assert(true, "{kind}" "{names}"); {text} static_assert(true, "pygpu_end");'


def test_unused_units_are_dropped(prune):
    text = unit("a", "int a();") + unit("b c", "int b(), c();") + "\nint x = c();\n"
    assert "int a" not in prune(text)
    assert "int b" in prune(text)


def test_late_units_are_dropped_from_the_rewritten_text_alone(prune):
    late = unit("a", "int a();", "pygpu_late") + unit("b", "int b();", "pygpu_late")
    text = unit("c", "int c();") + late + "int x = b();"
    assert prune(text) == late + "int x = b();"
    assert "int a" not in prune(text, True)
    assert "int b" in prune(text, True) and "int c" in prune(text, True)


def test_units_that_used_units_use_stay(prune):
    text = unit("a", "int a();") + unit("b", "int b() { return a(); }") + "int x = b();"
    assert prune(text) == text


def test_use_before_the_unit_does_not_count(prune):
    assert prune("int a;" + unit("a", "int a();")) == "int a;"


def test_whole_words_are_compared(prune):
    text = unit("sin", "double sin(double);") + "int sinus, asin, x1sin; double y = 1.0sin;"
    assert "double sin" not in prune(text)


def test_lines_and_their_markers_stay(prune):
    dropped = unit("a", 'int\na();\n# 7 "file.h"\nint b();\n')
    assert prune(f"{dropped}\nint x;\n").splitlines() == ["", "", '# 7 "file.h"', "", "", "int x;"]
    dropped = unit("a", "void a() {\n#pragma GCC ivdep\n}\n")
    assert prune(f"{dropped}\nint x;\n").splitlines() == ["", "", "", "", "int x;"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "int x;",
        'const char *s = "pygpu_if ";',
        'static_assert(true, "pygpu_if " "a"); int a();',
        'static_assert(true, "pygpu_if " "a',
        '"pygpu_if " "a" "pygpu_end");',
    ],
)
def test_text_outside_units_stays(prune, text):
    assert prune(text) == text


@needs_compiler
def test_a_pruned_program_still_compiles(prune):
    source = "float f(float x) { return erfcinvf(x) + __fadd_rd(x, 1) + max(x, 2.0f); }\n"
    text = compile_text(COMPILERS[0], source, "-E").stdout
    short = prune(text)
    assert len(short) < len(text) / 5
    for program in (text, short, prune(short, True)):
        result = subprocess.run(
            [COMPILERS[0], *FLAGS, "-fsyntax-only", "-x", "c++-cpp-output", "-"],
            input=program,
            capture_output=True,
            text=True,
        )
        assert result.returncode == 0, result.stderr[:2000]


@needs_compiler
@pytest.mark.parametrize(
    "name", ["cuda_bf16.h", "cooperative_groups.h", "curand_kernel.h", "cuComplex.h"]
)
def test_a_programs_macros_do_not_reach_into_headers(name):
    """Short words, as programs define them; x of threadIdx.x cannot be one."""
    words = [chr(code) for code in (*range(65, 91), *range(97, 123)) if chr(code) not in "xyzw"]
    words += ["bits", "value", "lane", "size", "count", "state", "seed", "mask", "result", "scale"]
    defines = "".join(f"#define {word} 3 + (\n" for word in words)
    text = f"{defines}#include <{name}>\nint four = a 4);\n"
    result = compile_text(COMPILERS[0], text, "-fsyntax-only")
    assert result.returncode == 0, result.stderr[:3000]


def test_headers_inside_of_extern_c(simulator):
    """Those that nvcc takes there: PyCUDA puts a whole program into extern "C"."""
    names = ("cuComplex.h", "cufft.h", "curand.h", "math_constants.h", "stdio.h", "cuda_runtime.h")
    source = 'extern "C" {\n' + "".join(f"#include <{name}>\n" for name in names)
    source += "__global__ void k(cuComplex *x) { x[0] = cuCmulf(x[0], x[1]); }\n}"
    x = np.array([1 + 2j, 3 - 1j], np.complex64)
    simulator.run(source, 1, 1, x)
    assert x[0] == 5 + 5j


def test_ptx_of_a_library(simulator):
    """Headers of the toolkit's C++ library: what is PTX and used is translated, the rest left."""
    header = """
    #pragma GCC system_header
    static inline __device__ void fence() { asm volatile("fence.sc.gpu;" ::: "memory"); }
    template <class T> static inline __device__ void put(T *p, T v)
    { asm volatile("st.relaxed.gpu.b32 [%0],%1;" :: "l"(p), "r"(v) : "memory"); }
    template <class T> static inline __device__ void unused(T *p)
    { asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "l"(p)); }
    """
    source = """
    #include <cuda/fence.h>
    extern "C" __global__ void k(int *a) { put(a + threadIdx.x, (int)threadIdx.x + 1); fence(); }
    """
    a = np.zeros(32, "i4")
    simulator.run(source, 1, 32, a, headers={"cuda/fence.h": header})
    assert (a == np.arange(1, 33)).all()
