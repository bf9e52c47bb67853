"""PYGPU_CHECK=1: indices out of bounds in OpenCL C are found; what is not checked is told."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest

import pygpu as cl
import pygpu.array
from pygpu import tools
from pygpu._src.runtime.opencl import checked_source

mf = cl.mem_flags
ONE = "__kernel void k(__global int *p) "
TWICE = """__kernel void twice(__global const float *x, __global float *y)
{
  int i = get_global_id(0);
  y[i] = 2 * x[i];
}
"""


@pytest.fixture(autouse=True)
def check(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PYGPU_CHECK", "1")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "PYGPU_CHECK")
        yield


def buffer(ctx: cl.Context, *values: float, dtype: object = np.int32) -> cl.Buffer:
    return cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.array(values, dtype))


def read(queue: cl.CommandQueue, memory: cl.Buffer, dtype: object = np.int32) -> list[float]:
    out = np.zeros(memory.size // np.dtype(dtype).itemsize, dtype)
    cl.enqueue_copy(queue, out, memory)
    return out.tolist()


def run(queue: cl.CommandQueue, body: str, n: int = 4, head: str = "", options: str = "") -> list:
    """What a kernel makes of 4 ints, 0 to 3, in n work-items; t is [3, 0, 1, 2]."""
    text = f"{head}\n__kernel void k(__global int *p, __constant int *t) {{\n"
    text += f"int i = get_global_id(0);\n{body}\n}}"
    kernel = cl.Program(queue.context, text).build(options).k
    p = buffer(queue.context, 0, 1, 2, 3)
    kernel(queue, (n,), (1,), p, buffer(queue.context, 3, 0, 1, 2))
    return read(queue, p)


# ---- what is found -----------------------------------------------------------------------------


def test_a_write_out_of_bounds_names_kernel_line_pointer_index_and_work_item(ctx, queue):
    x, y = buffer(ctx, *range(8), dtype="f"), buffer(ctx, *range(6), dtype="f")
    kernel = cl.Program(ctx, TWICE).build().twice
    with pytest.raises(IndexError) as error:
        kernel(queue, (7,), (1,), x, y)
    assert str(error.value) == (
        "twice: index 6 is out of bounds for y with 6 items "
        "(line 4: y[i] = 2 * x[i]; global id (6, 0, 0))"
    )


def test_a_read_out_of_bounds_is_found(ctx, queue):
    x, y = buffer(ctx, *range(4), dtype="f"), buffer(ctx, *range(8), dtype="f")
    kernel = cl.Program(ctx, TWICE).build().twice
    with pytest.raises(IndexError, match=r"index 4 is out of bounds for x with 4 items \(line 4"):
        kernel(queue, (5,), (1,), x, y)


def test_after_an_error_the_kernel_works_again(ctx, queue):
    x, y = buffer(ctx, *range(4), dtype="f"), buffer(ctx, *range(4), dtype="f")
    kernel = cl.Program(ctx, TWICE).build().twice
    with pytest.raises(IndexError):
        kernel(queue, (5,), (1,), x, y)
    kernel(queue, (4,), None, x, y)
    assert read(queue, y, "f") == [0, 2, 4, 6]


ACCESSES = [
    ("p[i - 1] = 5;", -1),
    ("p[i + 4]++;", 4),
    ("p[i + 4] += 2;", 4),
    ("p[t[0] + 1 + i] = 0;", 4),
    ("int x = t[i + 5]; p[0] = x;", 5),
    ("atomic_add(&p[6], 1);", 6),
    ("p[i ? 0 : (i++, 7)] = 2;", 7),
    ("p[0xFFFFFFFFFFFFFFFFUL] = 2;", -1),
    ("p[(2 > 1) ? 1L << 40 : 0] = 2;", 1 << 40),
    ("\n#if 1\np[9] = 0;\n#else\np[8] = 0;\n#endif\n", 9),
    ("if (i) return; else p[10] = 1;", 10),
    ("do p[sizeof p[99] + 7]--; while (0);", 11),
    ("f(p[12]);", 12),
]


def test_every_kind_of_access_is_looked_at(ctx, queue):
    cases = "".join([f"case {n}: {{ {body} break; }}" for n, (body, _) in enumerate(ACCESSES)])
    source = f"""int f(int x) {{ return x; }}
    __kernel void k(__global int *restrict p, __constant int *t, int n)
    {{ int i = get_global_id(0); switch (n) {{ {cases} }} }}"""
    kernel = cl.Program(ctx, source).build().k
    p, t = buffer(ctx, 0, 1, 2, 3), buffer(ctx, 3, 0, 1, 2)
    for n, (_, index) in enumerate(ACCESSES):
        with pytest.raises(IndexError, match=f"k: index {index} is out of bounds"):
            kernel(queue, (1,), None, p, t, n)
    kernel(queue, (1,), None, p, t, -1)


def test_the_line_is_that_of_the_source(queue):
    head = '/* p[9] \n */ #define A(s) "]" // p[\n\n'
    with pytest.raises(IndexError, match=r"line 9: p\[i"):
        run(queue, "\n p[i\n + 4 /* ] */ ] = 3;", 1, head.replace("*/ #", "*/\n#"))


def test_the_other_kernel_of_a_program_is_checked_too(ctx, queue):
    two = TWICE + TWICE.replace("twice", "again")
    program = cl.Program(ctx, two).build()
    x, y = buffer(ctx, *range(4), dtype="f"), buffer(ctx, *range(4), dtype="f")
    program.twice(queue, (4,), None, x, y)
    with pytest.raises(IndexError, match=r"again: .*line 9"):
        program.again(queue, (5,), (1,), x, y)


def test_items_are_those_of_the_pointers_type(ctx, queue):
    source = """typedef struct { int a; float b[3]; } item;
    #define real double8
    __kernel void k(__global item *s, __global float3 *v, __global uchar *c, int a, int b, int d)
    { s[a].b[1] = 1; v[b].xy = (float2)(1, 2); c[d] = 3; }"""
    kernel = cl.Program(ctx, source).build().k
    memory = [cl.Buffer(ctx, mf.READ_WRITE, 48) for _ in range(3)]
    kernel(queue, (1,), None, *memory, 2, 2, 47)
    for indices, text in (
        ((3, 0, 0), "index 3 is out of bounds for s with 3 items"),
        ((0, 3, 0), "index 3 is out of bounds for v with 3 items"),
        ((0, 0, 48), "index 48 is out of bounds for c with 48 items"),
    ):
        with pytest.raises(IndexError, match=text):
            kernel(queue, (1,), None, *memory, *indices)


def test_memory_smaller_than_an_item_and_none_at_all_have_no_items(ctx, queue):
    source = "__kernel void k(__global float16 *v) { v[0] = v[1]; }"
    kernel = cl.Program(ctx, source).build().k
    for memory in (None, cl.Buffer(ctx, mf.READ_WRITE, 32)):
        with pytest.raises(IndexError, match="with 0 items"):
            kernel(queue, (1,), None, memory)


def test_an_array_has_its_own_items_not_those_of_its_memory(ctx, queue):
    pool = tools.MemoryPool(tools.ImmediateAllocator(queue))
    a = pygpu.array.zeros(queue, 5, np.float32, allocator=pool)
    kernel = cl.Program(ctx, TWICE).build().twice
    kernel(queue, (5,), None, a, a)
    with pytest.raises(IndexError, match="for . with 5 items"):
        kernel(queue, (6,), (1,), a, a)
    with pytest.raises(IndexError, match="for . with 3 items"):
        kernel(queue, (4,), (1,), a[:3], a)


def test_a_program_in_bounds_computes_the_same(queue):
    head = "typedef struct { int p[2]; } item;\n#define AT(x) (x)\n#define SQUARE(x) ((x) * (x))"
    body = """int a = 2, q[4]; item s; s.p[0] = 1; __private int *r = q; r[1] = 4;
    int x = a & t[i], y = (a) * t[i]; p[AT(t[t[i]])] *= SQUARE(a) + x * y; // p[77]"""
    checked = run(queue, body, 4, head)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYGPU_CHECK")
        assert checked == run(queue, body, 4, head)


# ---- roads of a launch -------------------------------------------------------------------------


def test_set_args_and_enqueue_nd_range_kernel(ctx, queue):
    x, y = buffer(ctx, *range(4), dtype="f"), buffer(ctx, *range(4), dtype="f")
    kernel = cl.Kernel(cl.Program(ctx, TWICE).build(), "twice")
    with pytest.raises(cl.LogicError, match="was not set"):
        cl.enqueue_nd_range_kernel(queue, kernel, (4,), None)
    kernel.set_args(x, x)
    kernel.set_arg(1, y)
    cl.enqueue_nd_range_kernel(queue, kernel, (4,), None)
    assert read(queue, y, "f") == [0, 2, 4, 6]
    with pytest.raises(IndexError, match="with 4 items"):
        cl.enqueue_nd_range_kernel(queue, kernel, (1,), None, (4,))


def test_enqueue_task(ctx, queue):
    kernel = cl.Program(ctx, "__kernel void k(__global int *p) { p[2] = 3; }").build().k
    kernel.set_args(buffer(ctx, 1, 2))
    with pytest.raises(IndexError, match="index 2"):
        cl.enqueue_task(queue, kernel)


def test_arguments_by_name_and_types_declared(ctx, queue):
    source = "__kernel void k(__global int *p, int n) { p[n] = 3; }"
    program = cl.Program(ctx, source).build()
    p = buffer(ctx, 1, 2)
    with pytest.raises(IndexError, match="index 5"):
        program.k(queue, (1,), None, arg1=5, arg0=p)
    kernel = program.all_kernels()[0]
    assert kernel is program.k
    kernel.set_scalar_arg_dtypes([None, np.int32])
    kernel(queue, (1,), None, p, 1)
    assert read(queue, p)[1] == 3


def test_the_kernel_answers_for_the_users_own_parameters(ctx, queue):
    kernel = cl.Program(ctx, TWICE).build().twice
    assert kernel.num_args == 2
    assert kernel.get_info(cl.kernel_info.NUM_ARGS) == 2
    assert kernel.get_arg_info(1, cl.kernel_arg_info.NAME) == "y"
    with pytest.raises(TypeError, match=r"'twice' takes 2 arguments \(float\* x, float\* y\)"):
        kernel(queue, (4,), None, buffer(ctx, 1))
    with pytest.raises(TypeError, match=r"arg#2 \(1-based\)"):
        kernel(queue, (4,), None, buffer(ctx, 1), 3.5)
    with pytest.raises(TypeError, match="queue, global size and local size"):
        kernel(queue)


def test_a_launch_behind_a_user_event_is_looked_at_later(ctx, queue):
    kernel = cl.Program(ctx, "__kernel void k(__global int *p, int n) { p[n] = 3; }").build().k
    p = buffer(ctx, 1, 2)
    gate = cl.UserEvent(ctx)
    kernel(queue, (1,), None, p, np.int32(7), wait_for=[gate])
    gate.set_status(cl.command_execution_status.COMPLETE)
    queue.finish()
    other = cl.UserEvent(ctx)
    cl.enqueue_marker(queue, wait_for=[other])  # now the queue stands still again
    with pytest.raises(IndexError, match="index 7"):
        kernel(cl.CommandQueue(ctx), (1,), None, p, np.int32(0))
    other.set_status(cl.command_execution_status.COMPLETE)


def test_a_user_event_that_nothing_waits_for_hides_no_error(ctx, queue):
    gate = cl.UserEvent(ctx)
    kernel = cl.Program(ctx, "__kernel void k(__global int *p) { p[2] = 3; }").build().k
    with pytest.raises(IndexError, match="index 2"):
        kernel(queue, (1,), None, buffer(ctx, 1, 2))
    gate.set_status(cl.command_execution_status.COMPLETE)


# ---- what is not checked is told ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("*p = 3;", "it is used with *"),
        ("f(p);", "it is passed to a function or macro"),
        ("p += 1; p[0] = 2;", "it is moved"),
        ("__global int *q = p + 1; q[0] = 3;", "it is moved"),
        ("__global int *q = &p[1]; q[0] = 3;", "the address of an item is taken"),
        ("*(__global float *)&p[1] = 3;", "the address of an item is taken"),
        ("*(&(p[1])) = 3;", "the address of an item is taken"),
        ("{ float p[3]; p[2] = 1; }", "its name is declared again"),
        ("{ float a = 1, p[3]; p[2] = a; }", "its name is declared again"),
        ("{ float *p[3]; p[2] = 0; }", "its name is declared again"),
        ("{ float x = 1 ? 2 : 3, *p[3]; p[2] = 0; }", "its name is declared again"),
        ("{ struct s q[] = {{1}, {2}}, p[3]; p[2] = q[0]; }", "its name is declared again"),
        ("for (const uint *p[3]; ;) p[2] = 0;", "its name is declared again"),
        ("switch (1) { case 1: unsigned int x, p[3]; p[2] = 0; }", "its name is declared again"),
        ("i[p] = 2;", "it is used without an index"),
        ("ADD(p, 1);", "it is passed to a function or macro"),
        ("SECOND = 1;", "a macro names it"),
        ("p[\n#if 1\n1\n#endif\n] = 0;", "there is an #if in an index"),
    ],
)
def test_reason_is_given_for_a_pointer_that_cannot_be_checked(body, reason):
    head = "#define ADD(p, n) p[n]++" + "\n#define SECOND p[1]" * ("SECOND" in body)
    source = f"{head}\n__kernel void k(__global int *p) {{ {body} }}".encode()
    forms, text = checked_source.read(source, [])
    [pointer] = forms["k"].pointers
    assert (pointer.reason, forms["k"].checked, forms["k"].reason) == (reason, [], "")
    assert text.endswith(source)


def test_unchecked_programs_are_reported_once_with_the_oclgrind_command(queue):
    with pytest.warns(UserWarning, match="PYGPU_CHECK=1") as warned:
        assert run(queue, "f(p);", 1, "void f(__global int *q) { q[0] = 1; }") == [1, 1, 2, 3]
    [one] = warned
    assert one.filename == __file__
    assert str(one.message) == (
        "PYGPU_CHECK=1: kernel 'k': accesses through 'p' (it is passed to a function or macro) "
        "are not checked; run the program under oclgrind: "
        "PYGPU_OPENCL_LIBRARY=/usr/lib/oclgrind/liboclgrind-rt.so python program.py"
    )


def test_the_other_pointers_of_such_a_kernel_are_checked(queue):
    with pytest.warns(UserWarning, match="'p'"), pytest.raises(IndexError, match="for t with 4"):
        run(queue, "*p = t[4];", 1)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("#define K __kernel void k\nK(__global int *p) { p[0] = 1; }", "was not found"),
        ("typedef __global int *ints;\n__kernel void k(ints p) { p[0] = 1; }", "'p' cannot be"),
        (f"{ONE};\n{ONE} {{ p[0] = 1; }}", "twice"),
        ("#define G __global int *p\n__kernel void k(G) { p[0] = 1; }", "the macro G"),
        ("#define N(x) p##x\n__kernel void k(__global int *p0) { N(0)[0] = 1; }", "of parts"),
        (ONE + "{\n#if 1\np[0] = 1; }\n#else\n}\n#endif\n", "brackets"),
    ],
)
def test_reason_is_reported_for_a_kernel_that_cannot_be_parsed(ctx, queue, source, reason):
    with pytest.warns(UserWarning, match=f"kernel 'k' is not checked .*{reason}"):
        kernel = cl.Program(ctx, source).build().k
    p = buffer(ctx, 0)
    kernel(queue, (1,), None, p)
    assert read(queue, p) == [1]


def test_macros_of_headers_and_options_are_read(ctx, queue, tmp_path):
    (tmp_path / "one.h").write_text('#include "two.h"\n')
    (tmp_path / "two.h").write_text("#define FIRST p[0]\n")
    source = '#include "one.h"\n__kernel void k(__global int *p) { FIRST = 1; }'
    with pytest.warns(UserWarning, match="a macro names it"):
        cl.Program(ctx, source).build(["-I", str(tmp_path)]).all_kernels()
    with pytest.warns(UserWarning, match="a macro names it"):
        cl.Program(ctx, source.split("\n")[1]).build(["-DFIRST=p[0]"]).all_kernels()


def test_binaries_and_linked_programs_are_reported_as_unchecked(ctx, queue):
    program = cl.Program(ctx, TWICE).build(cache_dir=False)
    binaries = program.binaries
    with pytest.warns(UserWarning, match="not made from source.*oclgrind"):
        cl.Program(ctx, ctx.devices, binaries).build()
    with pytest.warns(UserWarning, match="compiled and linked apart.*oclgrind"):
        cl.Program(ctx, TWICE).compile()


# ---- what is left as it is ---------------------------------------------------------------------


def test_the_program_itself_is_built_of_the_source_as_it_is(ctx):
    program = cl.Program(ctx, TWICE).build()
    program.twice  # noqa: B018
    assert program.source == TWICE
    assert [kernel.function_name for kernel in program.all_kernels()] == ["twice"]


@pytest.mark.parametrize("value", [None, "0"])
def test_without_the_variable_nothing_is_checked(ctx, monkeypatch, value):
    if value is None:
        monkeypatch.delenv("PYGPU_CHECK")
    else:
        monkeypatch.setenv("PYGPU_CHECK", value)
    monkeypatch.setattr(checked_source, "read", None)
    program = cl.Program(ctx, TWICE + "//" + str(value)).build()
    assert type(program.twice) is cl.Kernel
    assert program._checks is None


def test_pygpus_own_programs_are_left_alone(ctx, queue):
    a = pygpu.array.arange(queue, 100, dtype=np.float32)
    assert (a * 3 + 1).sum().get() == 3 * 4950 + 100


def counted(monkeypatch: pytest.MonkeyPatch, source: str) -> int:
    """How many tokens are looked at when the source is read."""

    class Counting(list):
        looks = 0

        def __getitem__(self, at):
            Counting.looks += 1 if isinstance(at, int) else len(range(*at.indices(len(self))))
            return list.__getitem__(self, at)

    tokens = checked_source._tokens
    with monkeypatch.context() as patch:
        patch.setattr(checked_source, "_tokens", lambda text: Counting(tokens(text)))
        checked_source.read(source.encode(), [])
    return Counting.looks


HEAD = "__kernel void k(__global int *p) {"


@pytest.mark.parametrize(
    ("before", "repeated", "after"),
    [
        (HEAD, "p[p[0]] + ", "1;}"),
        (HEAD, "p[0], ", "p[0];}"),
        (HEAD, "f(p[0]), *p[0], ", "p[0];}"),
        (HEAD + "int x", ", y = {1}", ", p[0];}"),
        (HEAD, "p[0] * ", "p[0];}"),
        (HEAD, "((p[0])) & ", "1;}"),
        (HEAD, "#if 1\np[0];\n#endif\n", "}"),
        ("", HEAD, ""),
        ("", HEAD + "}", ""),
        ("", "__kernel void k(", ""),
        ("", "__kernel __attribute__((a)) ", ""),
    ],
)
def test_reading_takes_linear_time(monkeypatch, before, repeated, after):
    once = counted(monkeypatch, before + 200 * repeated + after)
    twice = counted(monkeypatch, before + 400 * repeated + after)
    assert 0 < twice < 2.2 * once + 100
