"""The simulator reads programs in linear time, whatever is in them.

Counted, not timed: the scanners are compiled so that each basic block counts (count_steps.c).
"""

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest
from simulator.sim_driver import ROOT

HERE = Path(__file__).parent
SOURCES = ("lexer", "text", "prune", "asm", "independent", "rewrite*")
FLAGS = [*"-std=gnu11 -D_GNU_SOURCE -O1 -fPIC -w".split(), f"-I{ROOT / 'src'}"]
HEAD = '# 1 "k.cu"\ninline void __syncthreads() { sim_here(); }\n'
KERNEL = "__global__ void k(int *a) { %s }\n"

UNITS = (
    *("a", "a ", "1 ", "\n", "\\\n", "/*", "//", '"', "'", 'R"(', "(", "[", "{", "}", "<", ">"),
    *("a<", "a<b>(c) ", "a,", "#", '# 1 "a"\n', "#pragma a\n", "*", "& ", "= ", "; ", ":: ", "1'"),
    *("__global__ ", "__global__ void k(", "__global__ void k(int a);\n", "<<< ", "operator "),
    *("__device__ ", "__device__ int a;\n", "__device__ int f(int a) { return a; }\n"),
    *("__shared__ ", "__shared__ int a;\n", "extern __shared__ int a[];\n", "extern ", "static "),
    *("template<int n> __global__ void k(int a) {}\n", "template<", "struct ", "namespace { "),
    *("volatile ", "volatile a ", "volatile int *a;\n", "__device__ volatile int *v;\n"),
    *("for (", "for (;;) ", "do ", "while (1) ", "if (a) ", "else ", 'asm("a");', "asm("),
    *('static_assert(true, "pygpu_if " "a");', "struct a { int b; };\n", "a >> b ", "(int)"),
    *("int(", "threadIdx ", "::threadIdx ", "__forceinline__ ", "__align__(", "alignas(8) "),
    *("printf(", "__launch_bounds__(", "f = [&] (int a) { "),
)
STATEMENTS = (
    *("a = 1; ", "a += b<c; ", "__syncthreads(); ", "int a = 1; ", "a<", "{", "(", "[", "a.b"),
    *("a >> b; ", "a << b; ", "(int)a; ", "[&] { ", "[](int a) { return a; }; ", "a->", "&a"),
    *("struct s { int a; }; ", "for (int i = 0; i < 3; i++) ", "volatile int *v = a; v[0] = 1; "),
    *("__shared__ int s; ", "return; ", "if (a) { ", "f(a, ", "++a; ", "while (a) ", "do "),
    *('asm("mov.u32 %0, 1;" : "=r"(a)); ', "extern __shared__ int s[]; "),
)
NESTED = (("(", ")"), ("{", "}"), ("[", "]"), ("a<", ">"), ("(int)(", ")"), ("int(", ")"))


@pytest.fixture(scope="module")
def steps(tmp_path_factory):
    compiler = shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no gcc or clang")
    folder = tmp_path_factory.mktemp("steps")
    sources = [path for name in SOURCES for path in (ROOT / "src/simulator").rglob(f"{name}.c")]
    counted = [compiler, *FLAGS, "-fsanitize-coverage=trace-pc", "-c", *map(str, sources)]
    subprocess.run(counted, check=True, cwd=folder)
    objects = [*map(str, folder.glob("*.o")), str(HERE / "count_steps.c")]
    subprocess.run(
        [compiler, *FLAGS, "-shared", *objects, "-o", "steps.so"], check=True, cwd=folder
    )
    library = ctypes.CDLL(str(folder / "steps.so"))
    library.count_steps.restype = ctypes.c_ulonglong
    library.count_steps.argtypes = (ctypes.c_char_p, ctypes.c_size_t)

    def count(text: str) -> int:
        encoded = (HEAD + text + "\n").encode()
        return library.count_steps(encoded, len(encoded))

    return count


def growth(steps, text_of):
    """How much more of the steps the second half of a text takes than the first one."""
    few, more, most = (steps(text_of(n)) for n in (100, 200, 400))
    return (most - more) / max(more - few, 1) / 2


def test_the_count_grows_with_the_text(steps):
    assert 0.9 < growth(steps, lambda n: "a " * n) < 1.1
    assert steps("a " * 1000) > 1000


@pytest.mark.parametrize("unit", UNITS)
def test_programs(steps, unit):
    assert growth(steps, lambda n: unit * n) < 1.3


@pytest.mark.parametrize("statement", STATEMENTS)
def test_kernels(steps, statement):
    assert growth(steps, lambda n: KERNEL % (statement * n)) < 1.3
    assert growth(steps, lambda n: KERNEL % ("volatile int *v = a; " + statement * n)) < 1.3


@pytest.mark.parametrize(
    "line",
    [
        "__global__ void k{0}(int *a) {{ __syncthreads(); }}\n",
        "__device__ int f{1}(int *a) {{ return f{0}(a); }}\n",
        "__device__ int f{0}(int *a) {{ return f{1}(a); }}\n",
        "__device__ volatile int *v{0};\n",
    ],
)
def test_many_names_take_linear_time(steps, line):
    assert growth(steps, lambda n: "".join(line.format(i, i + 1) for i in range(n))) < 1.3


def test_variables(steps):
    line = "volatile int *v{0} = a; v{0}[0] = 1; "
    assert growth(steps, lambda n: KERNEL % "".join(map(line.format, range(n)))) < 1.3


@pytest.mark.parametrize(("left", "right"), NESTED)
def test_nesting(steps, left, right):
    assert growth(steps, lambda n: KERNEL % ("a = " + left * n + "a" + right * n + ";")) < 1.3
    assert steps(KERNEL % (left * 100_000 + "a" + right * 100_000)) > 0  # no stack overflow
