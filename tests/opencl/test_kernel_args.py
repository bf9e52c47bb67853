"""Kernel arguments other than plain numbers: vectors, structs, memory; how many, and by name.

What arrived is compared bit for bit with what NumPy makes of the value. Numbers are in
test_kernel_numbers.py, what is kept between launches in test_kernel_set.py.
"""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from opencl.kernel_helpers import ints, read

import pygpu as cl
from pygpu import cltypes

mf = cl.mem_flags


@pytest.fixture(scope="module")
def queue(ctx):
    return cl.CommandQueue(ctx)


# ---- vectors


VECTOR_SCALARS = [
    "char",
    "uchar",
    "short",
    "ushort",
    "int",
    "uint",
    "long",
    "ulong",
    "float",
    "double",
]


@pytest.mark.parametrize("count", [2, 3, 4, 8, 16])
def test_vectors(ctx, queue, out, count):
    source = "\n".join(
        f"__kernel void take_{s}(__global {s}{count} *out, {s}{count} value) {{ *out = value; }}"
        for s in VECTOR_SCALARS
    )
    program = cl.Program(ctx, source).build()
    for s in VECTOR_SCALARS:
        dtype = getattr(cltypes, f"{s}{count}")
        scalar = (
            cltypes.vec_type_to_scalar_and_count[dtype][0]
            if dtype in cltypes.vec_type_to_scalar_and_count
            else getattr(np, s)
        )
        numbers = np.arange(1, count + 1).astype(scalar)
        value = getattr(cltypes, f"make_{s}{count}")(*numbers.tolist())
        kernel = getattr(program, f"take_{s}")
        for form in [value, value[()], numbers, numbers.tobytes(), value.reshape(1)]:
            cl.enqueue_copy(queue, out, np.zeros(128, np.uint8))
            kernel(queue, (1,), None, out, form)
            result = np.empty(count, scalar)
            cl.enqueue_copy(queue, result, out)
            assert (result == numbers).all()
        for wrong in [
            numbers[:-1],
            np.concatenate([numbers, numbers, numbers]),
            3,
            None,
            out,
            numbers.tolist(),
        ]:
            if count == 4 and wrong is not None and getattr(wrong, "size", 0) == 3:
                continue  # a vector of 3 given as 3 numbers has these bytes
            with pytest.raises(
                TypeError, match=rf"arg#2 \(1-based\) of kernel 'take_{s}', '{s}{count} value'"
            ):
                kernel(queue, (1,), None, out, wrong)


def test_vectors_of_other_numbers_are_refused(ctx, queue, out):
    program = cl.Program(
        ctx, "__kernel void take(__global float4 *out, float4 value) { *out = value; }"
    ).build()
    for wrong in [
        np.arange(4, dtype=np.int32),
        np.arange(2, dtype=np.float64),
        np.arange(2),
        cltypes.make_int4(1, 2, 3, 4),
    ]:
        with pytest.raises(TypeError, match="float4 value"):
            program.take(queue, (1,), None, out, wrong)


# ---- by name


def test_arguments_by_name(ctx, queue):
    text = "__kernel void set(__global int *out, int a, char b) { out[get_global_id(0)] = a * b; }"
    kernel, out = cl.Program(ctx, text).build().set, cl.Buffer(ctx, mf.READ_WRITE, 16)
    sizes = {"global_size": (4,), "local_size": None}
    calls = [
        lambda n: kernel(queue=queue, **sizes, arg0=out, arg1=n, arg2=2),
        lambda n: kernel(queue, **sizes, arg2=2, arg1=n, arg0=out),
        lambda n: kernel(queue, (4,), local_size=(2,), arg0=out, arg1=n, arg2=2, wait_for=[]),
        lambda n: kernel(queue, (4,), None, out, n, arg2=2, global_offset=(0,), wait_for=None),
        lambda n: kernel(queue, (2,), (2,), out, arg2=2, g_times_l=True, arg1=n),
        lambda n: kernel.__call__(queue, **sizes, **{"arg0": out, "arg1": n, "arg2": 2}),
    ]
    for n, call in enumerate(calls):
        call(n).wait()
        assert read(queue, out, 4) == [2 * n] * 4
    buffer = cl.Program(ctx, text).build().set
    buffer.set_scalar_arg_dtypes([None, np.int32, np.int8])
    buffer(queue, **sizes, arg0=out, arg1=-7, arg2=3)
    assert read(queue, out, 4) == [-21] * 4


def test_arguments_by_name_are_checked(ctx, queue):
    text = "__kernel void two(__global int *out, int n) { *out = n; }"
    kernel = cl.Program(ctx, text).build().two
    out = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.full(1, 5, np.int32))
    start, named = (queue, (1,), None), {"arg0": out, "arg1": 3}
    for args, kwargs, message in [
        ((), named, "'two': the argument 'queue' is missing"),
        ((queue,), {**named, "local_size": None}, "the argument 'global_size' is missing"),
        ((queue, (1,)), named, "the argument 'local_size' is missing"),
        (start, {"arg1": 3}, "the argument 'arg0' is missing"),
        ((*start, out), {"arg0": out, "arg1": 3}, "two values for the argument 'arg0'"),
        ((*start, out, 3), {"queue": queue}, "two values for the argument 'queue'"),
        ((*start, out, 3), {"arg2": 4}, "unexpected keyword argument 'arg2'; it takes 2"),
        ((*start, out, 3, 4), {"arg1": 4}, "takes 2 arguments .* 3 were given"),
        (start, {**named, "arg01": 4}, "unexpected keyword argument 'arg01'; allowed: "),
        (start, {**named, "arg": 4}, "unexpected keyword argument 'arg'; allowed: "),
        (start, {**named, "arg1\udc80": 4}, "unexpected keyword argument 'arg1.*'; allowed: "),
        (start, {"arg0": 1, "arg1": 3}, r"arg#1 \(1-based\) of kernel 'two'"),
        ((3, (1,), None), named, "queue must be a CommandQueue"),
    ]:
        with pytest.raises(TypeError, match=message):
            kernel(*args, **kwargs)
    queue.finish()
    assert read(queue, out) == [5]


# ---- structs


STRUCTS = """
typedef struct { char a; int b; double c; short d[3]; } mixed_t;
typedef struct { float x[64]; } large_t;
__kernel void take_mixed(__global double *out, mixed_t s)
{ out[0] = s.a; out[1] = s.b; out[2] = s.c; out[3] = s.d[0]; out[4] = s.d[1]; out[5] = s.d[2]; }
__kernel void take_large(__global float *out, large_t s)
{ int i = get_global_id(0); out[i] = s.x[i]; }
"""
MIXED = np.dtype(
    [("a", np.int8), ("b", np.int32), ("c", np.float64), ("d", np.int16, 3)], align=True
)


@pytest.fixture(scope="module")
def structs(ctx):
    return cl.Program(ctx, STRUCTS).build()


def test_structs(structs, queue, out):
    result = np.empty(6)
    for k in range(3):
        value = np.zeros((), MIXED)
        value["a"], value["b"], value["c"], value["d"] = -k, 2**31 - 1 - k, k + 0.5, [k, k + 1, -k]
        for form in [
            value,
            value[()],
            value.reshape(1),
            value.tobytes(),
            np.array([value, value])[1],
            memoryview(value.tobytes()),
        ]:
            structs.take_mixed(queue, (1,), None, out, form)
            cl.enqueue_copy(queue, result, out)
            assert result.tolist() == [-k, 2**31 - 1 - k, k + 0.5, k, k + 1, -k]


def test_structs_are_compared_as_a_whole_before_they_count_as_set(structs, queue, out):
    value = np.zeros((), MIXED)
    result = np.empty(6)
    for last in (1, 2, 1):  # the same object, changed in its last bytes only
        value["d"][2] = last
        structs.take_mixed(queue, (1,), None, out, value)
        cl.enqueue_copy(queue, result, out)
        assert result[5] == last


def test_large_structs(structs, queue, out):
    result = np.empty(64, np.float32)
    for k in range(3):
        value = np.arange(64, dtype=np.float32) * (k + 1)
        structs.take_large(queue, (64,), None, out, value)
        cl.enqueue_copy(queue, result, out)
        assert (result == value).all()


def test_structs_of_another_size(structs, queue, out):
    short = np.zeros((), [("a", np.int8), ("b", np.int32)])  # PoCL would read past it
    odd = [short, np.zeros((), MIXED).tobytes() + b"x", np.zeros(4), np.float64(1), np.int32(1)]
    odd += [b"", 3, 1.0, None, "struct", [1], np.zeros(0), np.array(None), cl.LocalMemory(4)]
    for wrong in odd:
        with pytest.raises(
            TypeError, match=r"arg#2 \(1-based\) of kernel 'take_mixed', 'mixed_t s'"
        ):
            structs.take_mixed(queue, (1,), None, out, wrong)
    good = np.zeros((), MIXED)
    structs.take_mixed(queue, (1,), None, out, good).wait()


def test_other_names_of_numbers(ctx, queue, out):
    """They are converted as what they stand for; PoCL would read a float32 as half of a double."""
    text = """typedef double real; typedef real number; typedef uint index; typedef float4 quad;
    kernel void f(global double *out, number a, index i, const real b, quad v)
    { out[0] = a; out[1] = i; out[2] = b; out[3] = v.w; }"""
    kernel = cl.Program(ctx, text).build().f
    result = np.empty(6)
    quad = np.arange(4, dtype=np.float32)
    for a, i, b in [(1.5, 3, 2), (np.float32(1.5), np.int64(3), np.float64(2)), (1.5, True * 3, 2)]:
        kernel(queue, (1,), None, out, a, i, b, quad)
        cl.enqueue_copy(queue, result, out)
        assert result[:4].tolist() == [1.5, 3, 2, 3]
    with pytest.raises(OverflowError, match="'index i'"):
        kernel(queue, (1,), None, out, 1.5, -1, 2.0, quad)
    with pytest.raises(TypeError, match="'index i'"):
        kernel(queue, (1,), None, out, 1.5, 1.5, 2.0, quad)


# ---- memory


def test_null_pointers(ctx, queue, memory, out):
    a = ints(ctx, 1)
    for p, q, expected in [(None, None, 3), (a, None, 2), (None, a, 1), (a, a, 0), (None, None, 3)]:
        memory.is_null(queue, (1,), None, out, p, q)
        assert read(queue, out) == [expected]


def test_sub_buffers(device, ctx, queue, memory):
    align = max(device.mem_base_addr_align // 8, 4)
    whole = ints(ctx, *range(align))
    part = whole[align:]
    b, c = ints(ctx, *[0] * 4), ints(ctx, 100)
    memory.copy(queue, (4,), None, part, b, c)
    assert read(queue, b, 4) == [align // 4 + 100 + k for k in range(4)]


@pytest.mark.parametrize(
    "wrong",
    [
        1,
        1.0,
        "a",
        b"abcd",
        np.zeros(4, np.int32),
        np.int64(0),
        [1],
        cl.LocalMemory(4),
        object(),
        True,
        np.zeros(0),
        ctypes.c_void_p(0),
    ],
    ids=lambda v: type(v).__name__,
)
def test_pointers_want_memory(ctx, queue, memory, out, wrong):
    c = ints(ctx, 1)
    for k, name in enumerate(["a", "b", "c"]):
        args = [out, out, c]
        args[k] = wrong
        with pytest.raises(
            TypeError, match=rf"arg#{k + 1} \(1-based\) of kernel 'copy', 'int\* {name}'"
        ):
            memory.copy(queue, (1,), None, *args)


def test_arrays_of_other_libraries_by_their_data(ctx, queue, memory):
    class Array:
        def __init__(self, data):
            self.data = data

    a, b, c = ints(ctx, 5), ints(ctx, 0), ints(ctx, 1)
    memory.copy(queue, (1,), None, Array(a), Array(b), c)
    assert read(queue, b) == [6]
    with pytest.raises(TypeError, match="arg#1"):
        memory.copy(queue, (1,), None, Array(3), b, c)

    class Offset:
        @property
        def data(self):
            raise ValueError("it has an offset")

    with pytest.raises(ValueError, match="it has an offset"):
        memory.copy(queue, (1,), None, Offset(), b, c)


def test_local_memory(ctx, queue, memory, out):
    for n in (1, 3, 8):
        memory.local_size(queue, (2 * n,), (n,), out, cl.LocalMemory(4 * n), cl.LocalMemory(4 * n))
        expected = [n - 1 - i + 2 * i for i in range(n)] * 2
        assert read(queue, out, 2 * n) == expected
    for wrong in (None, 4, out, np.zeros(4, np.int32), np.int32(4), b"1234"):
        with pytest.raises(
            TypeError,
            match=r"arg#2 \(1-based\) of kernel 'local_size', 'int\* scratch': .*LocalMemory",
        ):
            memory.local_size(queue, (1,), (1,), out, wrong, cl.LocalMemory(4))


def test_local_memory_that_the_device_lacks(device, queue, memory, out):
    most = device.local_mem_size
    for sizes in [(most + 4, 4), (most, 4), (2**62, 2**62), (4, 2**63 - 1)]:
        with pytest.raises(cl.LogicError, match="LocalMemory"):
            memory.local_size(queue, (1,), (1,), out, *map(cl.LocalMemory, sizes))


def test_memory_of_another_context(device, queue, memory, out):
    other = cl.Context([device])
    foreign = ints(other, 1)
    with pytest.raises(cl.LogicError, match=r"arg#1.*'copy'.*another context") as caught:
        memory.copy(queue, (1,), None, foreign, out, out)
    assert caught.value.code == cl.status_code.INVALID_CONTEXT


def test_released_memory(ctx, queue, memory, out):
    gone = ints(ctx, 1)
    gone.release()
    with pytest.raises(cl.LogicError, match=r"arg#1 .*'copy'.*released"):
        memory.copy(queue, (1,), None, gone, out, out)


# ---- counts


def test_number_of_arguments(queue, memory, out):
    with pytest.raises(
        TypeError, match=r"'copy' takes 3 arguments \(int\* a, int\* b, int\* c\).*; 2 were given"
    ):
        memory.copy(queue, (1,), None, out, out)
    with pytest.raises(TypeError, match="4 were given"):
        memory.copy(queue, (1,), None, out, out, out, out)
    with pytest.raises(TypeError, match=r"'nothing' takes 0 arguments.*1 was given"):
        memory.nothing(queue, (1,), None, 3)
    memory.nothing(queue, (1,), None).wait()
    for args in [(), (queue,), (queue, (1,))]:
        with pytest.raises(TypeError, match="queue, global size and local size"):
            memory.nothing(*args)


@pytest.mark.parametrize("n", [24, 25, 60, 130])
def test_many_arguments(ctx, queue, out, n):
    """More than fit on the C stack's table."""
    parameters = ", ".join(f"int a{i}" for i in range(n))
    body = " ".join(f"out[{i}] = a{i};" for i in range(n))
    kernel = (
        cl.Program(ctx, f"__kernel void many(__global int *out, {parameters}) {{ {body} }}")
        .build()
        .many
    )
    for shift in (0, 1, 1):
        kernel(queue, (1,), None, out, *[i * i + shift for i in range(n)])
        assert read(queue, out, n) == [i * i + shift for i in range(n)]
    with pytest.raises(TypeError, match=rf"arg#{n + 1} "):
        kernel(queue, (1,), None, out, *range(n - 1), "x")
    with pytest.raises(OverflowError, match=r"arg#2 "):
        kernel(queue, (1,), None, out, 2**31, *range(n - 1))
