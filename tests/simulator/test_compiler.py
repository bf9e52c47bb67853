"""NVRTC on the CPU: options, logs, names, headers, the cache."""

import os
import re
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from simulator.conftest import LIBRARY

PLAIN = 'extern "C" __global__ void k(int *a) { *a = VALUE; }'


def value_of(simulator, source, **kwargs):
    out = np.zeros(1, "i4")
    simulator.run(source, 1, 1, out, **kwargs)
    return int(out[0])


@pytest.mark.parametrize(
    "options",
    [
        ["-DVALUE=7"],
        ["-D", "VALUE=7"],
        ["-D VALUE=7"],
        ["--define-macro=VALUE=7"],
        ["--define-macro", "VALUE=7"],
        ["-DVALUE=8", "-UVALUE", "-DVALUE=7"],
        ["-DVALUE=7", "--gpu-architecture=sm_80", "-std=c++14", "--std=c++20"],
        ["-arch=compute_90a", "-DVALUE=7", "-lineinfo", "-G", "--device-debug"],
        ["-DVALUE=7", "-use_fast_math", "--ftz=true", "-prec-div=false", "--fmad=false"],
        ["-default-device", "-rdc=true", "--maxrregcount=32", "-DVALUE=7", "-w", "-restrict"],
        ["--ptxas-options=-v", " -DVALUE=7 ", "-Xptxas", "-O3", "-U OTHER"],
        ["-ftz", "true", "-maxrregcount", "32", "-jtd=101", "-diag-suppress", "1,2", "-DVALUE=7"],
        ["-Ofc", "mid", "-dopt=on", "--device-int128", "-no-cache=1", "-time=x", "-DVALUE=7"],
    ],
    ids=" ".join,
)
def test_options(simulator, options):
    assert value_of(simulator, PLAIN, options=options) == 7


@pytest.mark.parametrize(
    "options, message",
    [
        (["-no-such-option"], "unrecognized option -no-such-option"),
        (["-w", "--foo=bar"], "unrecognized option --foo=bar"),
        (["-arch=pentium"], "invalid value for --gpu-architecture"),
        (["-arch=90"], "invalid value for --gpu-architecture (-arch)"),
        (["-arch"], "invalid value for --gpu-architecture (-arch)"),
        (["-std=c++98"], "invalid value for --std(-std)"),
        (["-std", "c++17"], "unrecognized option -std found"),
        (["-Xfoo"], "unrecognized option -Xfoo found"),
        (["-O3"], "unrecognized option -O3 found"),
        (["-g"], "unrecognized option -g found"),
        (["foo"], "unrecognized option foo found"),
        ([""], "unrecognized option  found"),
        (["-ftz=maybe"], "--ftz (-ftz) expects true or false"),
        (["--relocatable-device-code"], "(-rdc) expects true or false"),
        (["-use_fast_math=true"], "(-use_fast_math) does not accept any argument"),
        (["-maxrregcount", "-w"], "--maxrregcount (-maxrregcount) expects an integer value"),
        (["-split-compile=-3"], "Argument for -split-compile must be non-negative"),
        (["-jtd=102"], "Argument for --jump-table-density must be between [0-101]"),
        (["-diag-warn=1,x"], "--diag-warn expects a non-zero positive integer value"),
        (["-Ofc=fast"], "invalid argument for option --Ofast-compile (-Ofc): fast"),
        (["-opt-info=x"], "optimization tag for option --optimization-info (-opt-info): x"),
    ],
)
def test_wrong_options(simulator, options, message):
    """In NVRTC's words."""
    with pytest.raises(Exception, match=re.escape(message)) as e:
        simulator.compile(PLAIN, options=["-DVALUE=1", *options])
    assert e.value.args[1] == 5  # NVRTC_ERROR_INVALID_OPTION


def test_what_the_architecture_decides(simulator):
    source = PLAIN.replace("VALUE", "__CUDA_ARCH__")
    assert value_of(simulator, source) == 900
    assert value_of(simulator, source, options=["-arch=sm_75"]) == 750
    assert value_of(simulator, source, options=["--gpu-architecture", "compute_120"]) == 1200


def test_headers(simulator, tmp_path):
    (tmp_path / "disk.h").write_text("#define DISK 20\n")
    headers = {"memory.h": '#include "inner/deep.h"\n', "inner/deep.h": "#define DEEP 1\n"}
    source = '#include "memory.h"\n#include <disk.h>\n' + PLAIN.replace("VALUE", "DEEP + DISK")
    options = [f"--include-path={tmp_path}"]
    assert value_of(simulator, source, headers=headers, options=options) == 21
    (tmp_path / "disk.h").write_text("#define DISK 30\n")
    assert value_of(simulator, source, headers=headers, options=options) == 31
    headers["inner/deep.h"] = "#define DEEP 2\n"
    assert value_of(simulator, source, headers=headers, options=options) == 32
    with pytest.raises(Exception, match="cannot serve a header named ../x.h"):
        simulator.compile(PLAIN, headers={"../x.h": ""})


def test_errors_show_the_line_and_a_caret(simulator):
    source = "// one\n__global__ void k(int *a) {\n    a[0]  =   undefined_thing + 1;\n}\n"
    with pytest.raises(Exception) as e:
        simulator.compile(source, name="folder/kernel.cu")
    log, status = e.value.args
    assert status == 6  # NVRTC_ERROR_COMPILATION
    lines = log.split("\n")
    assert lines[0].startswith("folder/kernel.cu(3): error: ") and "undefined_thing" in lines[0]
    assert lines[1] == "      a[0]  =   undefined_thing + 1;"
    assert lines[2].index("^") == lines[1].index("undefined_thing")
    assert '1 error detected in the compilation of "folder/kernel.cu".' in log
    assert "sim_v_" not in log and "/tmp" not in log


def test_errors_in_headers_and_templates(simulator):
    headers = {"h.h": "\n\ntemplate <class T> __device__ T f(T x) { return x.nothing; }\n"}
    with pytest.raises(Exception, match=r"h.h\(3\): error: .*nothing"):
        simulator.compile(
            '#include "h.h"\n__global__ void k(int *a) { *a = f(1); }', headers=headers
        )


@pytest.mark.parametrize(
    "source, message",
    [
        ("__global__ void k() { k<<<1, 1>>>(); }", r"default_program\(1\): error: .*dynamic paral"),
        ("__global__ int k() {}", r"default_program\(1\): error: .*void return type"),
        ("__global__ void k() {", "error: "),
        ("__global__ void k(", "error: "),
        ("__global__ int x;;;}}}", "error: "),
        ("extern __shared__", "error: "),
        (
            "#include <no_such_header.h>\n",
            r"default_program\(1\): catastrophic error: .*no_such_he",
        ),
        ('#error "chosen"\n', "chosen"),
        ("__global__ void k() { int a[; }", "error: "),
        ("template <class T> __global__ void k(T *a { }", "error: "),
        ('R"(never ends', "error: "),
        ("\x01\x02\x03", "error: "),
    ],
)
def test_broken_programs_are_errors(simulator, source, message):
    with pytest.raises(Exception, match=message) as e:
        simulator.compile(source)
    assert e.value.args[1] == 6


@pytest.mark.parametrize("source", ["", " ", "\n\n", "// only a comment", "__device__ int f();"])
def test_programs_without_kernels(simulator, source):
    module = simulator.module(source)
    with pytest.raises(Exception, match="the module has: none"):
        module.kernel("k")


def test_name_expressions(simulator):
    source = """
    template <class T> __global__ void k(T *a) {}
    namespace n { template <int N> __global__ void k() {} __constant__ int c; }
    __global__ void plain(float, int *) {}"""
    names = ["k<int>", "n::k<2 + 1>", "&n::c", "plain", "k<unsigned char>", " k< float > "]
    _, lowered = simulator.compile(source, names=names)
    expected = ["_Z1kIiEvPT_", "_ZN1n1kILi3EEEvv", "_ZN1n1cE", "_Z5plainfPi", "_Z1kIhEvPT_"]
    assert lowered == [*expected, "_Z1kIfEvPT_"]
    with pytest.raises(Exception, match="name expression nothing<int>"):
        simulator.compile(source, names=["nothing<int>"])


def test_the_cache(make_simulator, tmp_path):
    """A second compilation in another process runs no compiler; damaged files do not count, nor do
    those of another build of the library."""
    folder = tmp_path / "cache"
    script = f"""
import sys
from simulator.conftest import Simulator
Simulator(sys.argv[1]).compile({PLAIN!r}, options=sys.argv[2:])
"""
    count = tmp_path / "count"
    wrapper = tmp_path / "cxx"
    wrapper.write_text(f'#!/bin/sh\necho "$@" >> {count}\nexec g++ "$@"\n')
    wrapper.chmod(0o755)

    def runs(*options, library=LIBRARY):
        count.write_text("")
        environment = os.environ | {
            "PYGPU_CACHE_DIR": str(folder),
            "PYGPU_SIM_CXX": str(wrapper),
            "PYGPU_SIM_INCLUDE": str(LIBRARY.parent / "include"),
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        command = [sys.executable, "-c", script, str(library), *options]
        subprocess.run(command, check=True, env=environment)
        return sum("--version" not in line for line in count.read_text().splitlines())

    assert runs("-DVALUE=1") == 3  # the device headers, the program, and what became of it
    assert runs("-DVALUE=1") == 0
    assert runs("-DVALUE=2") == 2
    (tmp_path / "own.h").write_text("inline int other() { return 3; }")
    assert runs("-DVALUE=1", f"-include={tmp_path}/own.h") == 2
    assert runs("-DVALUE=1", f"-include={tmp_path}/own.h") == 1  # to see what it includes
    (tmp_path / "own.h").write_text("inline int other() { return 4; }")
    assert runs("-DVALUE=1", f"-include={tmp_path}/own.h") == 2
    for file in (folder / "simulator").iterdir():
        file.write_bytes(file.read_bytes()[:-10])
    assert runs("-DVALUE=1") == 3
    same = shutil.copy2(LIBRARY, tmp_path / "same.so")
    assert runs("-DVALUE=1", library=same) == 0
    other = bytearray(LIBRARY.read_bytes())
    note = other.find(struct.pack("3I", 4, 20, 3) + b"GNU\0")  # what the linker says of the build
    if note >= 0:
        other[note + 16] ^= 255
    (tmp_path / "other.so").write_bytes(other)  # without a note, its time is another one
    assert runs("-DVALUE=1", library=tmp_path / "other.so") == 3
    folder.chmod(0o500)
    assert runs("-DVALUE=1") == 0


def test_without_a_compiler(tmp_path):
    script = f"""
from simulator.conftest import LIBRARY, Simulator
try:
    Simulator(LIBRARY).compile({PLAIN!r}, options=["-DVALUE=1"])
except Exception as e:
    print(e.args[0])
"""
    environment = os.environ | {"PATH": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    environment |= {"PYGPU_CACHE_DIR": str(tmp_path)}
    environment.pop("PYGPU_SIM_CXX", None)
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, env=environment)
    assert b"pip install ziglang" in out.stdout, out
    environment["PYGPU_SIM_CXX"] = "/no/such/compiler"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, env=environment)
    assert b"PYGPU_SIM_CXX names a C++ compiler that does not run: /no/such/comp" in out.stdout


SOURCE_MODULE = """
import sys, warnings
warnings.simplefilter("ignore")
import pygpu.cuda.autoinit
from pygpu.cuda import compiler
try:
    compiler.SourceModule("__global__ void k(volatile int *a) { a[0] += 1; a[0]++; }")
except Exception as error:
    print(error)
"""


def said_of_source_module(tmp_path, **environment):
    environment = os.environ | {"PYGPU_CACHE_DIR": str(tmp_path), **environment}
    command = [sys.executable, "-P", "-c", SOURCE_MODULE]
    done = subprocess.run(
        command, env=environment | {"PYGPU_CUDA": "simulator"}, capture_output=True, text=True
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout


def test_headline_without_a_compiler(tmp_path):
    said = said_of_source_module(tmp_path, PYGPU_SIM_CXX="/no/such/compiler")
    assert said.startswith("kernel.cu cannot be compiled for the simulator without a C++ compiler")


def test_volatile_variables_and_fences_make_no_warnings_in_checked_programs(tmp_path):
    script = """
from simulator.conftest import LIBRARY, Simulator
simulator = Simulator(LIBRARY)
source = "__global__ void k(volatile int *a) { a[0] += 1; __threadfence(); a[0]++; }"
simulator.compile(source, ["-std=c++20"])
print(repr(simulator.log))
"""
    environment = os.environ | {"PYGPU_CACHE_DIR": str(tmp_path), "PYGPU_SIM_CHECK": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    command = [sys.executable, "-c", script]
    assert subprocess.check_output(command, env=environment, text=True) == "''\n"


@pytest.mark.parametrize(
    "then, message",
    [
        ("kill -ABRT $$", r"was ended by signal 6"),
        ("exec sleep 100", r"did not end within 0.5 s \(PYGPU_SIM_COMPILE_TIMEOUT\)"),
        ("exit 0", "wrote nothing when it was to preprocess"),
        ("head -c 90000 /dev/urandom", "nvrtc: error: "),
        ("echo no good >&2; exit 3", "no good"),
        ("exec yes no good >&2", r"(and more).*did not end within"),
    ],
    ids=["dies", "hangs", "writes nothing", "writes noise", "fails", "never stops to write"],
)
def test_a_compiler_that_is_none(tmp_path, then, message):
    wrapper = tmp_path / "cxx"
    wrapper.write_text(f'#!/bin/sh\nif [ "$1" = --version ]; then echo 1; exit; fi\n{then}\n')
    wrapper.chmod(0o755)
    script = f"""
from simulator.conftest import LIBRARY, Simulator
try:
    Simulator(LIBRARY).compile({PLAIN!r}, options=["-DVALUE=1"])
except Exception as e:
    print(e.args)
"""
    environment = os.environ | {
        "PYGPU_CACHE_DIR": str(tmp_path / "cache"),
        "PYGPU_SIM_CXX": str(wrapper),
        "PYGPU_SIM_COMPILE_TIMEOUT": "0.5",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    command = [sys.executable, "-c", script]
    out = subprocess.run(command, capture_output=True, env=environment, text=True, timeout=60)
    assert re.search(message, out.stdout) and out.returncode == 0, out.stdout[-1000:]
    assert len(out.stdout) < 4 << 20


def test_a_compiler_that_hangs_is_stopped_with_its_own_processes(tmp_path):
    wrapper, number = tmp_path / "cxx", tmp_path / "number"
    wrapper.write_text(
        '#!/bin/sh\nif [ "$1" = --version ]; then echo 1; exit; fi\n'
        f"sleep 100 & echo $! > {number}.new; mv {number}.new {number}; wait\n"
    )
    wrapper.chmod(0o755)
    script = f"""
from simulator.conftest import LIBRARY, Simulator
try:
    Simulator(LIBRARY).compile({PLAIN!r})
except Exception as e:
    print(e.args)
"""
    environment = os.environ | {
        "PYGPU_CACHE_DIR": str(tmp_path / "cache"),
        "PYGPU_SIM_CXX": str(wrapper),
        "PYGPU_SIM_COMPILE_TIMEOUT": "2",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    command = [sys.executable, "-c", script]
    out = subprocess.run(command, capture_output=True, env=environment, text=True, timeout=60)
    assert "did not end within 2 s" in out.stdout and out.returncode == 0, out
    child = Path("/proc") / number.read_text().strip()
    for _ in range(100):  # it may stay as a zombie where nobody collects orphans
        if not child.exists() or ") Z" in (child / "stat").read_text():
            break
        time.sleep(0.05)
    else:
        raise AssertionError("the compiler's child is still there")


PAIRS = """
struct alignas(16) Doubles { double item[2]; };
struct alignas(8) Floats { float item[2]; };
extern "C" __global__ void k(const double *a, const float *b, float *out, double c, long long n)
{
    for (long long part = threadIdx.x; part < n / 2; part += blockDim.x) {
        const Doubles x = *(const Doubles *)(a + 2 * part);
        const Floats y = *(const Floats *)(b + 2 * part);
        Floats z;
        #pragma unroll
        for (int i = 0; i < 2; i++) {
            const float rounded = (float)x.item[i];
            z.item[i] = (float)((double)rounded * c + (double)y.item[i]);
        }
        *(Floats *)(out + 2 * part) = z;
    }
}
"""


def test_a_rounding_to_float_is_kept(simulator):
    """g++ 12 leaves it out of pairs that it makes vectors of."""
    a, b = np.random.default_rng(3).random((2, 64))
    out = np.zeros(64, "f4")
    simulator.run(PAIRS, 1, 4, a, b.astype("f4"), out, np.float64(0.5), np.int64(64))
    rounded = a.astype("f4").astype("f8")
    assert (rounded != a).all()
    assert (out == (rounded * 0.5 + b.astype("f4")).astype("f4")).all()


def test_versions_and_architectures(simulator):
    import ctypes

    major, minor, n = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    nvrtc = simulator.library
    assert nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)) == 0
    assert (major.value, minor.value) >= (12, 0)
    assert nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(n)) == 0
    archs = (ctypes.c_int * n.value)()
    assert nvrtc.nvrtcGetSupportedArchs(archs) == 0
    assert sorted(archs) == list(archs) and 90 in list(archs)
    nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
    assert nvrtc.nvrtcGetErrorString(6) == b"NVRTC_ERROR_COMPILATION"


def test_compilations_in_many_threads(simulator):
    from concurrent.futures import ThreadPoolExecutor

    stamp = time.time_ns()
    sources = [PLAIN.replace("VALUE", str(i)) + f"// {stamp}" for i in range(6)]
    with ThreadPoolExecutor(3) as pool:
        modules = list(pool.map(simulator.module, sources))
    for i, module in enumerate(modules):
        out = np.full(1, -1, "i4")
        module.launch("k", 1, 1, out)
        assert out[0] == i
