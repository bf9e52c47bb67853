"""NVRTC: nvcc's options, where the library is looked for, headers. Needs no device."""

import os
import subprocess
import sys

import pytest

from pygpu._src.runtime.cuda import nvrtc

needs_no_device = True


@pytest.mark.parametrize(
    ("given", "translated"),
    [
        ([], []),
        (["-O3", "-g", "-m64"], []),
        (["-DN=3", "-D", "M", "--define-macro=K=2"], ["-DN=3", "-DM", "--define-macro=K=2"]),
        (["-I/a b", "-I", "/c"], ["-I/a b", "-I/c"]),
        (["-use_fast_math", "--use_fast_math"], ["-use_fast_math", "--use_fast_math"]),
        (["-std=c++17"], ["-std=c++17"]),
        (["-arch", "sm_90"], ["--gpu-architecture=sm_90"]),
        (["-arch=sm_90"], ["--gpu-architecture=sm_90"]),
        (["--maxrregcount=32", "-maxrregcount", "16"], ["--maxrregcount=32", "-maxrregcount=16"]),
        (["-Xptxas", "-v,-O1"], ["--ptxas-options=-v", "--ptxas-options=-O1"]),
        (["--ptxas-options=-v"], ["--ptxas-options=-v"]),
        (["-rdc=true"], ["--relocatable-device-code=true"]),
        (["-lineinfo", "-G"], ["-lineinfo", "-G"]),
        (["-minimal", "-DN=3"], ["-minimal", "-DN=3"]),
        (["-include", "x.h"], ["--pre-include=x.h"]),
        (["-ccbin", "g++"], []),
        (["-Xcompiler", "-O3"], []),
        (["--compiler-options=-fPIC,-Wall"], []),
        (["-Xcompiler", "-Wall,-DN=3"], None),
        (["-Xcompiler=-DN=3"], None),
        (["-Xcompiler"], None),
        (["-e", "kernel", "--entries=kernel"], []),
        (["-Wno-deprecated-gpu-targets", "--Wreorder", "-Wno-deprecated-declarations"], []),
        (["other.cu"], None),
        (["--no-such-option"], None),
    ],
)
def test_options_of_nvcc(given, translated):
    assert nvrtc.translate(given) == translated


def test_options_without_nvcc():
    """What nvcc alone has is left out; NVRTC refuses the rest."""
    given = ["-Xcompiler", "-DN=3,-Wall", "--keep", "-gencode", "arch=compute_90,code=sm_90", "-lm"]
    given += ["-o", "x", "--threads=2", "--expt-relaxed-constexpr", "--dryrun", "-DM", "-code=x"]
    assert nvrtc.translate(given, must=True) == ["-DN=3", "-DM"]
    given = ["other.cu", "--no-such-option=1", "-new", "value", "--dryrun=1", "-rdc", "true"]
    assert nvrtc.translate(given, must=True) == given
    with pytest.raises(TypeError):
        nvrtc.translate([1], must=True)


def test_generated_kernels_are_compiled_without_what_they_seldom_need(monkeypatch):
    """With -minimal if NVRTC has it; a text that fails so is compiled as the whole language."""
    from pygpu._src.runtime.cuda import source_module as compiler

    calls = []

    def compile_(call, source, nvcc, options, *rest):
        calls.append(list(options))
        if "-minimal" in options and "tex1Dfetch" in source:
            raise compiler.CompileError("no such function", [])
        return source

    monkeypatch.setattr(compiler, "_compile", compile_)
    monkeypatch.setattr(nvrtc, "is_simulated", lambda: False)
    monkeypatch.setattr(nvrtc, "version", lambda: (12, 4))
    assert compiler.compile_generated("plain", ["-DN"]) == "plain"
    assert compiler.compile_generated("tex1Dfetch", ()) == "tex1Dfetch"
    monkeypatch.setattr(nvrtc, "version", lambda: (12, 3))
    assert compiler.compile_generated("old", ()) == "old"
    assert calls == [["-DN", "-minimal"], ["-minimal"], [], []]


@pytest.mark.parametrize("wrong", [[1], [b"-DN"], [None]])
def test_options_are_str(wrong):
    with pytest.raises(TypeError, match="options must be a sequence of str"):
        nvrtc.translate(wrong)


def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    import os

    env = {**os.environ, **environment}
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=env, timeout=120
    )


def test_a_library_that_is_not_there_is_named():
    program = """
from pygpu._src.runtime.cuda import nvrtc
try:
    nvrtc.load()
except nvrtc.NvrtcMissing as error:
    print(error)
"""
    out = run(program, PYGPU_NVRTC_LIBRARY="/nowhere/libnvrtc.so").stdout
    assert "/nowhere/libnvrtc.so: " in out and "pip install nvidia-cuda-nvrtc" in out


def test_a_library_that_is_not_nvrtc():
    program = """
import ctypes.util
from pygpu._src.runtime.cuda import nvrtc
try:
    nvrtc.load()
except nvrtc.NvrtcMissing as error:
    print(error)
"""
    out = run(program, PYGPU_NVRTC_LIBRARY="libm.so.6").stdout
    assert "not an NVRTC library: it has no function nvrtc" in out
    assert out.startswith("PYGPU_NVRTC_LIBRARY does not name NVRTC")


def test_nvcc_does_not_stand_in_for_a_library_that_is_not_nvrtc(tmp_path):
    nvcc = tmp_path / "nvcc"
    nvcc.write_text("#!/bin/sh\necho called >&2; exit 1\n")
    nvcc.chmod(0o755)
    program = """
from pygpu._src.runtime.cuda import nvrtc
from pygpu.cuda.compiler import compile
try:
    compile("__global__ void k() {}", arch="sm_90", cache_dir=False)
except nvrtc.NvrtcMissing as error:
    print(error)
"""
    path = os.pathsep.join((str(tmp_path), os.environ["PATH"]))
    out = run(program, PYGPU_NVRTC_LIBRARY="libm.so.6", PATH=path).stdout
    assert out.startswith("PYGPU_NVRTC_LIBRARY does not name NVRTC")


REAL = """
import sys
from pygpu._src.runtime.cuda import nvrtc
try:
    nvrtc.load()
except nvrtc.NvrtcMissing:
    sys.exit(77)
from pygpu.cuda.compiler import compile
from pygpu.cuda.errors import CompileError
"""


def with_nvrtc(program: str) -> str:
    """Output of a program that uses NVIDIA's compiler, which needs no GPU."""
    done = run(REAL + program, PYGPU_CUDA="driver", PYGPU_NO_CACHE="1")
    if done.returncode == 77:
        pytest.skip("NVRTC is not installed")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_headers_and_types_that_programs_use():
    source = """
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <math.h>
#include <cmath>
#include <cstdint>
#include <limits.h>
#include <float.h>
#include <assert.h>
#include <cuda_runtime.h>
__global__ void f(float *a, uint n, uint32_t m, int64_t k, std::uint8_t b, ulong l, ushort s)
{
    int i = threadIdx.x;
    assert(n <= UINT32_MAX && m < INT_MAX && k != INT64_MIN && b + l + s != CHAR_BIT);
    if (i < n) a[i] = std::sqrt(a[i]) * M_PI + FLT_EPSILON + std::fabs(a[i]) + INFINITY;
    printf("%d", i);
}
"""
    out = with_nvrtc(f"print(len(compile({source!r}, arch='sm_90')) > 1000)")
    assert out == "True\n"


def test_headers_of_pygpu():
    source = """
#include <pycuda-complex.hpp>
#include <pycuda-helpers.hpp>
typedef pycuda::complex<float> cf;
typedef pycuda::complex<double> cd;
__global__ void f(cf *a, cd *b, cudaTextureObject_t t)
{
    int i = threadIdx.x;
    volatile __shared__ cf s[32];
    s[i] = a[i];
    a[i] = 2 * cf(s[i]) + 1.f / a[i] * pow(a[i], 3) + sin(a[i]) + exp(a[i]) + a[i] * 2;
    a[i] += 2.0 * a[i];
    b[i] = b[i] * 2.0 + 1 + cd(a[i]) + tanh(b[i]) / asin(b[i]) + fp_tex1Dfetch<fp_tex_double>(t, i);
    a[i] += cf(real(a[i]), a[i].imag()) + pow(a[i], 2.5f) + pow(a[i], a[i]);
    a[i] += conj(a[i]) * norm(a[i]);
}
"""
    assert with_nvrtc(f"print(len(compile({source!r}, arch='sm_90')) > 1000)") == "True\n"


def test_errors_name_the_users_line():
    source = "__global__ void f(float *a)\n{\n    a[0] = nonsense;\n}\n"
    program = f"""
try:
    compile({source!r}, arch="sm_90")
except CompileError as error:
    print(error.msg, error.stdout == "", error.command_line[0], error.command_line[-1])
    print(error.stderr)
    assert error.stderr in str(error) and "[command: nvrtc" in str(error)
"""
    out = with_nvrtc(program)
    assert out.startswith("nvrtc compilation of kernel.cu failed True nvrtc kernel.cu\n")
    assert 'kernel.cu(3): error: identifier "nonsense" is undefined' in out


def test_ptx_and_architectures():
    program = """
kernel = "__global__ void f(float *a) { a[0] = 1; }"
ptx = compile(kernel, arch="compute_80", target="ptx")
print(b".target sm_80" in ptx, b".visible .entry f" in ptx)
print(nvrtc.architecture(9, 0), nvrtc.architecture(8, 9), nvrtc.architecture(99, 0)[:8])
"""
    assert with_nvrtc(program) == "True True\nsm_90 sm_89 compute_\n"


def test_templates_by_expression():
    program = """
status, made = nvrtc.compile_source(
    "template <class T> __global__ void scale(T *a) { a[0] *= 2; }", "kernel.cu",
    ["--gpu-architecture=sm_90"], ["scale<float>", "scale<double>"])
print(status, sorted(made.lowered.items()))
"""
    assert with_nvrtc(program).startswith("0 [('scale<double>', '_Z5scaleId")
