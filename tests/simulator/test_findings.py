"""Every finding, where programs make mistakes: in functions, templates, lambdas, behind barriers,
by the last thread of a later block, in a graph, and beside another kernel."""

import re

import numpy as np
import pytest
from simulator.sim_driver import run_script


def _read(text):
    """{name: (statement, words of the message, ...)}"""
    lines = text.strip().splitlines()
    heads = (head.partition(": ") for head in lines[::2])
    return {
        name: (statement, *words.strip().split(" | "))
        for (name, _, statement), words in zip(heads, lines[1::2], strict=True)
    }


# Statements of thread 1023 of block 7. a: 25000 int, n: 0, t: the thread, sh: its shared array of
# 1024 int, more: another of 64.
ALWAYS = _read("""
null: int *p = a + n; if (n == 0) p = nullptr; *p = 5;
    invalid write to address 0x0: a null
null_read: volatile int *p = nullptr; a[n] = p[2];
    address 0x8: a null pointer, with an
null_atomic: atomicAdd((int *)0, 1);
    invalid write to address 0x0: a null pointer
null_vector: ((float4 *)0)[n + 3] = make_float4(1, 2, 3, 4);
    to address 0x30: a null pointer
null_call: void (*volatile f)() = nullptr; f(); a[n] = 1;
    invalid call of address 0x0: a null
far: a[-(1ll << 42) + n] = 1;
    invalid write
divide: a[0] = 100 / n;
    integer division by zero
remainder: a[0] = (int)(100ll % (long long)n);
    integer division by zero
least: a[0] = (-2147483647 - 1 + n) / (n - 1);
    or of the least integer by -1
assertion: assert(n != 0 && "words");
    assertion `n != 0
trap: __trap();
    __trap()
mask: __syncwarp(1);
    mask 0x00000001 does not name the calling lane 31
shuffle: a[0] = __shfl_sync(0xff, n, 0);
    mask 0x000000ff does not name the calling
free_twice: void *p = malloc(8); free(p); free(p);
    malloc() in a kernel did not return, or twice
""")
CHECKED = _read("""
past: a[25000 + n] = 1;
    invalid write of 4 bytes | 0 bytes past the end of the 100000-byte
before: a[-1 - n] = 1;
    invalid write of 4 bytes | 4 bytes before the 100000-byte
read: a[0] = a[25001 + n];
    invalid read of 4 bytes | 4 bytes past the end of the 100000-byte
atomic: atomicAdd(a + 25000, 1);
    invalid write of 4 bytes | 0 bytes past the end of the 1
vector: ((int4 *)a)[6250] = make_int4(1, 2, 3, 4);
    invalid write of 16 bytes | 100000-byte
ldg: a[0] = __ldg(a + 25000 + n);
    invalid read of 4 bytes | 0 bytes past the end of the 1
copy: memcpy(a + 24999, a, 8 + n);
    invalid write | 100000-byte
misaligned: *(int *)((char *)a + 2 + n) = 1;
    misaligned write of 4 bytes
misaligned_vector: *(float4 *)(a + 1 + n) = make_float4(1, 2, 3, 4);
    misaligned
race: sh[t - 1] = 3;
    race on shared memory
unwritten: a[0] = more[n + 5];
    shared memory that no thread of the block has written
dynamic: extern __shared__ int d[]; d[16 + n] = 1;
    offset 64 of dynamic shared memory; the l
unset: int q; if (n) q = 3; a[0] = q;
    a local variable that was never set is written
local: int l[4]; for (int i = 0; i <= 4 + n; i++) l[i] = i; a[0] = l[n];
    an index outside of
constant: a[0] = numbers[4 + n];
    an index outside of an array
""")
TEMPLATE = (
    "template <class T, int M> struct T_{name} {{ static __device__ void f({parameters}) {{ {text}"
)
BARRIERS = "__syncthreads(); int other = sh[1023 - t]; __syncthreads(); sh[t] = other;"
SPOTS = {
    "kernel": ("", "{text}"),
    "function": (
        "__device__ __noinline__ void f_{name}({parameters}) {{ {text}",
        "f_{name}(a, n, t, sh, more);",
    ),
    "template": (TEMPLATE, "T_{name}<int, 3>::f(a, n, t, sh, more);"),
    "lambda": ("", "auto f = [&] {{ {text} }}; f();"),
    "barrier": ("", BARRIERS + " if (last) {{ {text} }}"),
}
PARAMETERS = "int *a, int n, int t, int (&sh)[1024], int (&more)[64]"


def write_program(findings):
    """The kernels, and the line on which each makes its mistake."""
    lines, where = ["__constant__ int numbers[4] = {1, 2, 3, 4};"], {}
    for name, (text, *_) in findings.items():
        for spot, (outside, inside) in SPOTS.items():
            made = {"name": f"{name}_{spot}", "text": text, "parameters": PARAMETERS}
            if outside:
                lines.append(outside.format(**made))
                where[f"{name}_{spot}"] = len(lines)
                lines.append("} };" if spot == "template" else "}")
            lines += [
                f'extern "C" __global__ void {name}_{spot}(int *a, int n) {{',
                "__shared__ int sh[1024], more[64];",
                "const int t = threadIdx.x;",
                "const bool last = blockIdx.x == 7 && t == 1023;",
                "sh[t] = t;",
                "if (t == 9999) a[1] = more[0];",
                ("" if spot == "barrier" else "if (last) { ") + inside.format(**made),
            ]
            where.setdefault(f"{name}_{spot}", len(lines))
            lines.append("}" if spot == "barrier" else "} }")
    return "\n".join(lines) + "\n", where


PROGRAMS = {"0": write_program(ALWAYS), "1": write_program(CHECKED)}
CASES = [("0", name, spot) for name in ALWAYS for spot in SPOTS]
CASES += [("1", name, spot) for name in CHECKED for spot in SPOTS]


@pytest.fixture(scope="module")
def modules(make_simulator):
    return {
        check: make_simulator(PYGPU_SIM_CHECK=check).module(source, name="kernel.cu")
        for check, (source, _) in PROGRAMS.items()
    }


@pytest.mark.parametrize("check, name, spot", CASES)
def test_finding(modules, check, name, spot):
    a = np.zeros(25000, "i4")
    kernel = f"{name}_{spot}"
    with pytest.raises(Exception, match="kernel") as e:
        modules[check].launch(kernel, 9, 1024, a, np.int32(0), shared=64)
    for words in (CHECKED if check == "1" else ALWAYS)[name][1:]:
        assert words in e.value.text
    assert e.value.text.startswith(f"kernel {kernel}, block (7,0,0), thread (")
    if name != "race":  # either of two threads may be the one that sees it
        assert "thread (1023,0,0): " in e.value.text
    line = PROGRAMS[check][1][kernel]
    assert re.search(rf" at kernel\.cu:{line}\b", e.value.text), e.value.text


def test_an_endless_loop_in_a_function_is_named_by_its_line(make_simulator):
    source = """
__device__ __noinline__ int other(volatile int *a) { return a[3]; }
__device__ __noinline__ void wait_for(volatile int *a)
{
    while (a[1] != 77) { }
}
extern "C" __global__ void k(int *a) { a[0] = other(a); if (blockIdx.x == 3) wait_for(a); }
"""
    for check in "01":
        module = make_simulator(PYGPU_SIM_CHECK=check, PYGPU_SIM_TIMEOUT="0.3").module(
            source, name="kernel.cu"
        )
        with pytest.raises(Exception, match=r"block \(3,0,0\).* was stopped at kernel\.cu:5"):
            module.launch("k", 4, 1, np.zeros(8, "i4"))


@pytest.mark.parametrize("how", ["graph", "streams"])
def test_in_a_graph_and_beside_another_kernel(how):
    out = run_script(
        f"""
        import pygpu.cuda.driver as cuda
        from pygpu.cuda.compiler import SourceModule

        cuda.init()
        context = cuda.Device(0).make_context()
        program = SourceModule('''
        __global__ void busy(int *a) {{ for (int i = 0; i < 20000; i++) atomicAdd(a, 1); }}
        __global__ void wrong(int *a, int n) {{
            if (blockIdx.x == 7 && threadIdx.x == 1023)
                a[25000 + n] = 1;
        }}''')
        busy, wrong = map(program.get_function, ("busy", "wrong"))
        a, b = cuda.mem_alloc(100000), cuda.mem_alloc(4)
        one, two = cuda.Stream(), cuda.Stream()
        try:
            if {how == "graph"}:
                one.begin_capture()
                busy(b, grid=(2, 1), block=(1, 1, 1), stream=one)
                wrong(a, np.int32(0), grid=(9, 1), block=(1024, 1, 1), stream=one)
                one.end_capture().instantiate().launch(one)
            else:
                busy(b, grid=(2, 1), block=(1, 1, 1), stream=two)
                wrong(a, np.int32(0), grid=(9, 1), block=(1024, 1, 1), stream=one)
            one.synchronize()
        except cuda.Error as error:
            print(error)
        """,
        PYGPU_CUDA="simulator",
        PYGPU_SIM_CHECK="1",
    )
    assert "kernel wrong, block (7,0,0), thread (1023,0,0): invalid write of 4 bytes" in out
    assert "at kernel.cu:5: 0 bytes past the end of the 100000-byte allocation" in out


def test_memory_that_is_used_again_is_not_called_freed():
    """An address behind a new allocation may have belonged to one that was freed before it."""
    out = run_script(
        """
        import pygpu.cuda.driver as cuda
        from pygpu.cuda.compiler import SourceModule

        cuda.init()
        for size in [200000, 100000] * 80:
            context = cuda.Device(0).make_context()
            wrong = SourceModule("__global__ void k(int *a, int i) { a[i] = 1; }").get_function("k")
            a = cuda.mem_alloc(size)
            try:
                wrong(a, np.int32(size // 4), block=(1, 1, 1))
                context.synchronize()
            except cuda.Error as error:
                assert f" 0 bytes past the end of the {size}-byte allocation" in str(error), error
                context.pop()
                context.detach()
        print("done")
        """,
        PYGPU_CUDA="simulator",
        PYGPU_SIM_CHECK="1",
    )
    assert out.strip() == "done"
