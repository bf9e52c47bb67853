"""Kernel arguments: every kind of Python and NumPy value against every C type, and their cache.

Each scalar kernel stores its argument in memory, so what arrived is compared bit for bit with what
NumPy makes of the value.
"""

from __future__ import annotations

import array as std_array
import ctypes
import decimal
import enum
import gc
import re

import numpy as np
import pytest

import pygpu as cl
from pygpu import _opencl, cltypes

mf = cl.mem_flags

INTEGERS = {
    "char": np.int8,
    "uchar": np.uint8,
    "short": np.int16,
    "ushort": np.uint16,
    "int": np.int32,
    "uint": np.uint32,
    "long": np.int64,
    "ulong": np.uint64,
}
SPELLINGS = {
    "unsigned char": np.uint8,
    "unsigned short": np.uint16,
    "unsigned int": np.uint32,
    "unsigned": np.uint32,
    "unsigned long": np.uint64,
    "signed char": np.int8,
    "const int": np.int32,
}
FLOATS = {"float": np.float32, "double": np.float64}
NUMPY_INTEGERS = [
    np.byte, np.ubyte, np.short, np.ushort, np.intc, np.uintc, np.int_, np.uint, np.longlong,
    np.ulonglong, np.intp, np.uintp, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32,
    np.int64, np.uint64,
]  # fmt: skip

SCALAR_KERNELS = "\n".join(
    f"__kernel void take_{name.replace(' ', '_')}"
    f"(__global {name.replace('const ', '')} *out, {name} value) {{ *out = value; }}"
    for name in [*INTEGERS, *SPELLINGS, *FLOATS]
)


@pytest.fixture(scope="module")
def scalars(ctx):
    return cl.Program(ctx, SCALAR_KERNELS).build()


@pytest.fixture(scope="module")
def queue(ctx):
    return cl.CommandQueue(ctx)


@pytest.fixture(scope="module")
def out(ctx):
    return cl.Buffer(ctx, mf.READ_WRITE, 4096)


def taken(scalars, queue, out, name, dtype, value):
    """What the kernel for a C type stored when it was called with value."""
    kernel = getattr(scalars, f"take_{name.replace(' ', '_')}")
    cl.enqueue_copy(queue, out, np.full(16, 0xA5, np.uint8))
    kernel(queue, (1,), None, out, value)
    result = np.empty((), dtype)
    cl.enqueue_copy(queue, result, out)
    return result[()]


def same_bits(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.tobytes() == b.tobytes()


# ---- integers


@pytest.mark.parametrize("name", [*INTEGERS, *SPELLINGS])
def test_python_ints_arrive_and_do_not_wrap(scalars, queue, out, name):
    dtype = {**INTEGERS, **SPELLINGS}[name]
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    for value in [low, low + 1, 0, 1, high - 1, high, high // 2, True, False, -1 if low else 1]:
        assert same_bits(taken(scalars, queue, out, name, dtype, value), dtype(value))
    for value in [low - 1, high + 1, low - 2**40, high + 2**40, 2**63 * 4, -(2**80), 10**400]:
        with pytest.raises(OverflowError, match=rf"take_{name.replace(' ', '_')}.*arg#2.*value"):
            taken(scalars, queue, out, name, dtype, value)
    assert same_bits(taken(scalars, queue, out, name, dtype, 7), dtype(7))


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("given", NUMPY_INTEGERS, ids=lambda t: np.dtype(t).char)
def test_numpy_integers(scalars, queue, out, name, given):
    dtype = INTEGERS[name]
    to, source = np.iinfo(dtype), np.iinfo(given)
    same_size = np.dtype(given).itemsize == np.dtype(dtype).itemsize
    for value in {0, 1, int(source.max), int(source.min), int(source.max) // 2, 100}:
        number = given(value)
        forms = [number, np.array(number), np.array([number]), np.array([[number]], order="F")]
        if same_size:  # signed and unsigned of one size: the bits count, as in C
            expected = number.astype(dtype)
        elif to.min <= value <= to.max:
            expected = dtype(value)
        else:
            for form in forms:
                with pytest.raises(OverflowError, match="does not fit"):
                    taken(scalars, queue, out, name, dtype, form)
            continue
        for form in forms:
            assert same_bits(taken(scalars, queue, out, name, dtype, form), expected)


class Colour(enum.IntEnum):
    BLUE = 77


class Flag(enum.IntFlag):
    A = 1
    B = 4


class Indexed:
    def __index__(self):
        return 41


class Broken:
    def __index__(self):
        raise ZeroDivisionError("no index today")


@pytest.mark.parametrize("name", INTEGERS)
def test_other_things_that_are_integers(scalars, queue, out, name):
    dtype = INTEGERS[name]
    given = [
        (np.True_, 1), (np.False_, 0), (np.array(True), 1), (Colour.BLUE, 77), (Flag.A | Flag.B, 5),
        (Indexed(), 41),
    ]  # fmt: skip
    for value, expected in given:
        assert taken(scalars, queue, out, name, dtype, value) == expected
    with pytest.raises(ZeroDivisionError, match="no index today"):
        taken(scalars, queue, out, name, dtype, Broken())
    swapped = np.array(5, np.dtype(dtype).newbyteorder(">"))
    assert taken(scalars, queue, out, name, dtype, swapped) == 5
    assert taken(scalars, queue, out, name, dtype, swapped[()]) == 5


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize(
    "value",
    [
        1.0,
        0.0,
        float("nan"),
        np.float32(1),
        np.float64(2),
        np.float16(3),
        np.array(1.0),
        1j,
        np.complex64(1),
        np.longdouble(1),
    ],
    ids=repr,
)
def test_integers_refuse_other_numbers(scalars, queue, out, name, value):
    with pytest.raises(
        TypeError, match=rf"arg#2 \(1-based\) of kernel 'take_{name}', '{name} value'"
    ) as caught:
        taken(scalars, queue, out, name, INTEGERS[name], value)
    assert isinstance(caught.value, cl.LogicError)


# ---- floats


FLOAT_VALUES = [
    0.0, -0.0, 1.0, -1.5, 1 / 3, float("inf"), float("-inf"), float("nan"), 5e-324, 1e-45, 1e-40,
    2.0**-149, 3.4028234e38, -3.4028234e38, 16777217.0, 1e38,
]  # fmt: skip


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("value", FLOAT_VALUES, ids=repr)
def test_floats(scalars, queue, out, name, value):
    dtype = FLOATS[name]
    with np.errstate(under="ignore"):
        expected = dtype(value)
    forms = [value, np.float64(value), np.array(value), np.array([value])]
    if np.isnan(value) or np.float64(np.float32(value)) == value:
        forms += [np.float32(value), np.array(value, np.float32)]
    for form in forms:
        result = taken(scalars, queue, out, name, dtype, form)
        assert result == expected or (np.isnan(result) and np.isnan(expected))
        assert np.signbit(result) == np.signbit(expected)


@pytest.mark.parametrize("name", FLOATS)
def test_floats_from_whole_numbers_and_halves(scalars, queue, out, name):
    dtype = FLOATS[name]
    values = [
        0,
        1,
        -1,
        True,
        2**24 + 1,
        -(2**53) + 1,
        2**63,
        2**64 - 1,
        2**100,
        10**30,
        Colour.BLUE,
    ]
    for value in values:
        assert same_bits(taken(scalars, queue, out, name, dtype, value), dtype(int(value)))
    for kind in NUMPY_INTEGERS:
        for value in (np.iinfo(kind).min, np.iinfo(kind).max, 3):
            assert same_bits(
                taken(scalars, queue, out, name, dtype, kind(value)), dtype(kind(value))
            )
    for value in (
        np.float16(1.5),
        np.float16(65504),
        np.float16(6e-8),
        np.True_,
        np.float16("inf"),
    ):
        assert same_bits(taken(scalars, queue, out, name, dtype, value), dtype(value))
    assert np.isnan(taken(scalars, queue, out, name, dtype, np.float16("nan")))


def test_nan_keeps_its_payload(scalars, queue, out):
    nan = np.array(0x7FF8DEADBEEF0001, np.uint64).view(np.float64)[()]
    assert same_bits(taken(scalars, queue, out, "double", np.float64, nan), nan)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("float", 3.5e38), ("float", -3.5e38), ("float", 1e300), ("float", np.float64(1e300)),
        ("float", 2**128), ("float", 10**400), ("float", -(10**400)), ("double", 10**400),
        ("double", -(10**400)), ("float", np.array(1e39)),
    ],
)  # fmt: skip
def test_floats_that_do_not_fit(scalars, queue, out, name, value):
    with pytest.raises(OverflowError, match=rf"take_{name}.*arg#2.*{name} value.*does not fit"):
        taken(scalars, queue, out, name, FLOATS[name], value)


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("value", [1j, np.complex64(1), np.complex128(0), np.array(1j)], ids=repr)
def test_floats_refuse_complex(scalars, queue, out, name, value):
    with pytest.raises(TypeError, match="complex"):
        taken(scalars, queue, out, name, FLOATS[name], value)


def test_half(device, ctx, queue):
    if "cl_khr_fp16" not in device.extensions:
        pytest.skip("the device has no cl_khr_fp16")
    program = cl.Program(
        ctx,
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
        "__kernel void take(__global half *out, half value) { *out = value; }",
    ).build()
    buffer = cl.Buffer(ctx, mf.READ_WRITE, 2)
    result = np.empty((), np.float16)
    for value in [
        0.0,
        -0.0,
        1.5,
        65504,
        -65504,
        6e-8,
        float("inf"),
        1,
        np.float16(2.5),
        np.float64(0.1),
        np.int32(3),
    ]:
        program.take(queue, (1,), None, buffer, value)
        cl.enqueue_copy(queue, result, buffer)
        assert same_bits(result, np.asarray(np.float16(value)))
    for value in [65520, 1e6, -1e6, np.float32(1e5)]:
        with pytest.raises(OverflowError):
            program.take(queue, (1,), None, buffer, value)


# ---- things that are not numbers


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS])
@pytest.mark.parametrize(
    "value",
    [
        "1", "", None, [1], (1,), {}, object(), int, b"", b"123", decimal.Decimal(1), np.zeros(2),
        np.zeros(0), np.zeros(3, np.int8), np.array("a"), np.str_("a"), np.str_("ab"),
        np.array(None), np.array([object()]), cl.LocalMemory(4), Ellipsis,
        np.zeros((), [("a", "O")]), memoryview(b"abc"), np.clongdouble(1),
    ],
    ids=lambda v: f"{type(v).__name__}-{str(v)[:12]}",
)  # fmt: skip
def test_what_is_no_number_is_refused_by_name(scalars, queue, out, name, value):
    dtype = {**INTEGERS, **FLOATS}[name]
    with pytest.raises(TypeError, match=rf"take_{name}.*value") as caught:
        taken(scalars, queue, out, name, dtype, value)
    assert "arg#2" in str(caught.value)


@pytest.mark.parametrize(
    "value", [np.datetime64(77, "s"), np.timedelta64(77, "s"), np.array(77, "M8[ns]")], ids=repr
)
def test_times_are_64_bit_integers_and_nothing_else(scalars, queue, out, value):
    for name, dtype in {**INTEGERS, **FLOATS}.items():
        if name in ("long", "ulong"):
            assert taken(scalars, queue, out, name, dtype, value) == 77
        else:
            with pytest.raises(TypeError, match=rf"arg#2 \(1-based\) of kernel 'take_{name}'"):
                taken(scalars, queue, out, name, dtype, value)


def test_subclasses_of_numpy_scalars_and_long_double(scalars, queue, out):
    class Own(np.int32):
        pass

    class OwnFloat(np.float32):
        pass

    assert taken(scalars, queue, out, "float", np.float32, Own(3)) == 3
    assert taken(scalars, queue, out, "short", np.int16, Own(-3)) == -3
    assert taken(scalars, queue, out, "double", np.float64, OwnFloat(0.1)) == np.float32(0.1)
    with pytest.raises(OverflowError):
        taken(scalars, queue, out, "short", np.int16, Own(2**15))
    with pytest.raises(TypeError):
        taken(scalars, queue, out, "int", np.int32, OwnFloat(1))
    for name, dtype in FLOATS.items():
        for value in (np.longdouble(0.1), np.longdouble("inf"), np.array(0.1, np.longdouble)):
            assert taken(scalars, queue, out, name, dtype, value) == dtype(value)
    with pytest.raises(OverflowError):
        taken(scalars, queue, out, "float", np.float32, np.longdouble(1e300))


def test_buffers_and_queues_are_no_numbers(scalars, queue, out):
    for value in (out, queue, scalars, scalars.take_int):
        with pytest.raises(TypeError, match=r"arg#2 .*'int value'"):
            scalars.take_int(queue, (1,), None, out, value)


def test_raw_bytes_of_the_right_size_are_taken_as_they_are(scalars, queue, out):
    forms = [
        b"\x01\x02\x03\x04", bytearray(b"\x01\x02\x03\x04"), memoryview(b"\x01\x02\x03\x04"),
        ctypes.c_int(0x04030201), std_array.array("i", [0x04030201]),
        (ctypes.c_ubyte * 4)(1, 2, 3, 4),
    ]  # fmt: skip
    for form in forms:
        assert taken(scalars, queue, out, "int", np.int32, form) == 0x04030201
    assert taken(scalars, queue, out, "double", np.float64, ctypes.c_double(2.5)) == 2.5
    with pytest.raises(TypeError, match="8 bytes, not 4"):
        taken(scalars, queue, out, "int", np.int32, ctypes.c_int64(1))


# ---- complex numbers


COMPLEX = """
#define PYOPENCL_DEFINE_CDOUBLE
#include <pyopencl-complex.h>
__kernel void take_c(__global cfloat_t *out, cfloat_t value) { *out = value; }
__kernel void take_z(__global cdouble_t *out, cdouble_t value) { *out = value; }
__kernel void take_f2(__global float2 *out, float2 value) { *out = value; }
__kernel void take_d2(__global double2 *out, double2 value) { *out = value; }
"""


@pytest.fixture(scope="module")
def complexes(ctx):
    return cl.Program(ctx, COMPLEX).build()


@pytest.mark.parametrize(
    ("kernel", "dtype"),
    [("c", np.complex64), ("z", np.complex128), ("f2", np.complex64), ("d2", np.complex128)],
)
def test_complex(complexes, queue, out, kernel, dtype):
    kernel = getattr(complexes, f"take_{kernel}")
    result = np.empty((), dtype)
    for value in [
        1 + 2j,
        0j,
        -0.0 - 1j,
        complex("inf"),
        np.complex64(1 - 1j),
        np.complex128(3.25j),
    ]:
        kernel(queue, (1,), None, out, value)
        cl.enqueue_copy(queue, result, out)
        assert same_bits(result[()], dtype(value))
    kernel(queue, (1,), None, out, np.array(5j, dtype))
    cl.enqueue_copy(queue, result, out)
    assert result == 5j


@pytest.mark.parametrize(("kernel", "dtype"), [("c", np.complex64), ("z", np.complex128)])
def test_complex_from_real(complexes, queue, out, kernel, dtype):
    kernel = getattr(complexes, f"take_{kernel}")
    result = np.empty((), dtype)
    for value in [1, -2.5, True, np.float32(0.5), np.int8(-3), np.uint64(2**63), np.float16(2)]:
        kernel(queue, (1,), None, out, value)
        cl.enqueue_copy(queue, result, out)
        assert result == dtype(value)


def test_complex_overflow_is_an_error_as_for_real_numbers(complexes, queue, out):
    for value in [1e300 + 0j, 1e300j, np.complex128(-1e300), 1e300, 10**400]:
        with pytest.raises(OverflowError, match="take_c"):
            complexes.take_c(queue, (1,), None, out, value)
    with pytest.raises(OverflowError):
        complexes.take_f2(queue, (1,), None, out, 1e300j)


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
    # Sizes are the driver's to check: nothing tells them to us, and PoCL does not compare.
    for wrong in [b"", 3, 1.0, None, "struct", [1], np.zeros(0), np.array(None), cl.LocalMemory(4)]:
        with pytest.raises(
            TypeError, match=r"arg#2 \(1-based\) of kernel 'take_mixed', 'mixed_t s'"
        ):
            structs.take_mixed(queue, (1,), None, out, wrong)
    good = np.zeros((), MIXED)
    structs.take_mixed(queue, (1,), None, out, good).wait()


# ---- memory


MEMORY = """
__kernel void copy(__global const int *a, __global int *b, __constant int *c)
{ int i = get_global_id(0); b[i] = a[i] + c[0]; }
__kernel void is_null(__global int *out, __global const int *p, __constant int *q)
{ *out = (p == 0) + 2 * (q == 0); }
__kernel void local_size(__global int *out, __local int *scratch, __local float *other)
{ int i = get_local_id(0); scratch[i] = i; other[i] = 2 * i; barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = scratch[get_local_size(0) - 1 - i] + other[i]; }
__kernel void add(__global const float *a, __global float *b, float s, int n)
{ int i = get_global_id(0); if (i < n) b[i] = a[i] + s; }
__kernel void nothing(void) {}
"""


@pytest.fixture(scope="module")
def memory(ctx):
    return cl.Program(ctx, MEMORY).build()


def ints(ctx, *values):
    return cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.array(values, np.int32))


def read(queue, buffer, n=1, dtype=np.int32):
    result = np.empty(n, dtype)
    cl.enqueue_copy(queue, result, buffer)
    return result.tolist()


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


# ---- what changes between launches


def test_only_one_argument_changes(ctx, queue, memory):
    a = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.arange(8, dtype=np.float32))
    b = [
        cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.full(8, -1, np.float32))
        for _ in range(2)
    ]
    for step in range(24):
        s, n, target = step % 3, [8, 5][step % 2], b[step // 6 % 2]
        cl.enqueue_copy(queue, target, np.full(8, -1, np.float32))
        memory.add(queue, (8,), None, a, target, s, n)
        expected = [i + s if i < n else -1 for i in range(8)]
        assert read(queue, target, 8, np.float32) == expected


def test_equal_bits_of_another_type_are_still_the_argument(ctx, queue, memory):
    """A cache must not mistake 0.0 and -0.0, or numbers whose bits agree, for one another."""
    a = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.full(1, -0.0, np.float32))
    b = cl.Buffer(ctx, mf.READ_WRITE, 4)
    result = np.empty(1, np.float32)
    for s in (0.0, -0.0, 0, -0.0, np.float64(0.0), np.float32(-0.0)):
        memory.add(queue, (1,), None, a, b, s, 1)
        cl.enqueue_copy(queue, result, b)
        assert np.signbit(result[0]) == np.signbit(np.float32(s))


def test_buffers_whose_handles_are_reused(ctx, queue, memory, out):
    c = ints(ctx, 0)
    handles = set()
    for k in range(300):
        a = ints(ctx, k)
        handles.add(a.int_ptr)
        memory.copy(queue, (1,), None, a, out, c)
        assert read(queue, out) == [k]
        if k % 2:
            a.release()
        del a
    # The kernel holds its last argument, so one handle cannot serve for all, but some must recur.
    if len(handles) == 300:
        pytest.skip("the driver, or a sanitizer, gave no handle out twice")


def test_release_and_create_again_at_once(ctx, queue, memory, out):
    c, a = ints(ctx, 0), ints(ctx, 0)
    for k in range(50):
        memory.copy(queue, (1,), None, a, out, c)
        assert read(queue, out) == [k]
        queue.finish()
        a.release()
        a = ints(ctx, k + 1)


def test_null_buffer_and_svm_by_turns(device, ctx, queue, out):
    if not device.svm_capabilities & cl.device_svm_capabilities.COARSE_GRAIN_BUFFER:
        pytest.skip("the device has no SVM")
    kernel = (
        cl.Program(
            ctx,
            "__kernel void first(__global int *out, __global const int *p) { *out = p ? *p : -1; }",
        )
        .build()
        .first
    )
    svms = [cl.SVM(cl.csvm_empty(ctx, 4, np.int32)) for _ in range(2)]
    for svm, value in zip(svms, (10, 20)):
        with svm.map_rw(queue) as host:
            host[...] = value
    buffer = ints(ctx, 30)
    cases = [
        (None, -1),
        (svms[0], 10),
        (svms[1], 20),
        (buffer, 30),
        (svms[0], 10),
        (None, -1),
        (buffer, 30),
        (None, -1),
        (svms[1], 20),
    ]
    for argument, expected in cases * 3:
        kernel(queue, (1,), None, out, argument)
        assert read(queue, out) == [expected]


def test_a_driver_that_wants_svm_where_svm_was(device, ctx, queue):
    """NVIDIA's: once other memory has taken the place of SVM, no launch of the handle succeeds."""
    if not device.svm_capabilities & cl.device_svm_capabilities.COARSE_GRAIN_BUFFER:
        pytest.skip("the device has no SVM")
    gc.collect()
    handles = _opencl._handle_counts()["kernel"]
    kernel = cl.Program(
        ctx,
        "typedef struct { int n[40]; } large_t;"
        "kernel void f(global int *out, global const int *p, large_t s, long8 v, int k,"
        " local int *l) { l[0] = *p; out[0] = s.n[39] + l[0] + (int)v.s7 + k; }",
    ).build(cache_dir=False)
    kernel, out = cl.Kernel(kernel, "f"), ints(ctx, 0)
    large, vector = np.zeros((), [("n", np.int32, 40)]), np.zeros(8, np.int64)
    large["n"][39], vector[7] = 1000, 100
    vector = vector.view(cltypes.long8)[0]
    svm, buffer = cl.SVM(cl.csvm_empty(ctx, 4, np.int32)), ints(ctx, 2)
    with svm.map_rw(queue) as host:
        host[...] = 1
    name, hash_before = "clEnqueueNDRangeKernel", hash(kernel)
    for memory, value in [(svm, 1), (buffer, 2), (svm, 1), (svm, 1), (buffer, 2)]:
        _opencl._fault(name, cl.status_code.INVALID_KERNEL_ARGS, times=1)
        try:
            kernel(queue, (1,), None, out, memory, large, vector, 30, cl.LocalMemory(4))
            assert _opencl._fault_hits() == 1
        finally:
            _opencl._fault(None, 0)
        assert read(queue, out) == [1130 + value]
        kernel(queue, (1,), None, out, memory, large, vector, 40, cl.LocalMemory(4))
        assert read(queue, out) == [1140 + value]
    assert hash(kernel) == hash_before
    kernel.set_arg(1, svm)
    _opencl._fault(name, cl.status_code.INVALID_KERNEL_ARGS, times=2)
    try:
        with pytest.raises(cl.LogicError, match="INVALID_KERNEL_ARGS"):
            kernel(queue, (1,), None, out, buffer, large, vector, 30, cl.LocalMemory(4))
    finally:
        _opencl._fault(None, 0)
    kernel(queue, (1,), None, out, buffer, large, vector, 50, cl.LocalMemory(4))
    assert read(queue, out) == [1152]
    twin = cl.Kernel.from_int_ptr(kernel.int_ptr)
    # What somebody else may have as well cannot be replaced, so on NVIDIA it stays with SVM.
    memory, value = (svm, 1) if "NVIDIA" in device.platform.name else (buffer, 2)
    twin(queue, (1,), None, out, memory, large, vector, np.int32(60), cl.LocalMemory(4))
    assert read(queue, out) == [1160 + value]
    del kernel, twin
    gc.collect()
    assert _opencl._handle_counts()["kernel"] == handles


def test_a_failure_half_way_leaves_no_trace(ctx, queue, memory):
    a, b = (
        cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.full(4, v, np.float32))
        for v in (1, 50)
    )
    o = cl.Buffer(ctx, mf.READ_WRITE, 16)
    memory.add(queue, (4,), None, a, o, 1.0, 4)
    assert read(queue, o, 4, np.float32) == [2] * 4
    for wrong in [
        (b, o, 2.0, "n"),
        (b, o, "s", 4),
        (b, "o", 1, 4),
        (b, o, 1e300, 4),
        (b, o, 2.0, 2**31),
        (b, o, 2.0),
    ]:
        with pytest.raises((TypeError, OverflowError)):
            memory.add(queue, (4,), None, *wrong)
        memory.add(queue, (4,), None, a, o, 1.0, 4)
        assert read(queue, o, 4, np.float32) == [2] * 4
        with pytest.raises((TypeError, OverflowError)):
            memory.add(queue, (4,), None, *wrong)
        memory.add(queue, (4,), None, b, o, 2.0, 4)
        assert read(queue, o, 4, np.float32) == [52] * 4


@pytest.mark.parametrize("nth", [1, 2, 3, 4])
def test_a_driver_that_refuses_an_argument_leaves_the_cache_right(ctx, queue, memory, nth):
    a, b = (
        cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.full(4, v, np.float32))
        for v in (1, 50)
    )
    o, p = cl.Buffer(ctx, mf.READ_WRITE, 16), cl.Buffer(ctx, mf.READ_WRITE, 16)
    memory.add(queue, (4,), None, a, o, 1.0, 4)
    _opencl._fault("clSetKernelArg", cl.status_code.INVALID_ARG_VALUE, nth)
    try:
        with pytest.raises(cl.LogicError, match=rf"arg#{nth} \(1-based\) of kernel 'add'"):
            memory.add(queue, (4,), None, b, p, 2.0, 3)
    finally:
        _opencl._fault(None, 0)
    memory.add(queue, (4,), None, a, o, 1.0, 4)
    assert read(queue, o, 4, np.float32) == [2] * 4
    memory.add(queue, (4,), None, b, p, 2.0, 4)
    assert read(queue, p, 4, np.float32) == [52] * 4


def test_unchanged_arguments_are_not_set_again(ctx, queue, memory):
    a, o = cl.Buffer(ctx, mf.READ_WRITE, 16), cl.Buffer(ctx, mf.READ_WRITE, 16)
    kernel = cl.Kernel(memory, "add")
    _opencl._call_counts(True)
    kernel(queue, (4,), None, a, o, 1.0, 4)
    first = _opencl._call_counts(True)
    kernel(queue, (4,), None, a, o, 1.0, 4)
    same = _opencl._call_counts(True)
    kernel(queue, (4,), None, a, o, 1.0, 3)
    one = _opencl._call_counts(True)
    assert (first["clSetKernelArg"], same.get("clSetKernelArg", 0), one["clSetKernelArg"]) == (
        4,
        0,
        1,
    )


def test_a_handle_given_away_is_never_taken_for_granted(ctx, queue, memory):
    """Who has int_ptr may set arguments behind our back."""
    a, o = cl.Buffer(ctx, mf.READ_WRITE, 16), cl.Buffer(ctx, mf.READ_WRITE, 16)
    kernel = cl.Kernel(memory, "add")
    twin = cl.Kernel.from_int_ptr(kernel.int_ptr)
    assert twin == kernel and twin.function_name == "add"
    for value, user in [
        (1.0, kernel),
        (2.0, twin),
        (1.0, kernel),
        (1.0, kernel),
        (2.0, twin),
        (1.0, kernel),
    ]:
        cl.enqueue_copy(queue, a, np.zeros(4, np.float32))
        user(queue, (4,), None, a, o, value, 4)
        assert read(queue, o, 4, np.float32) == [value] * 4


# ---- set_arg, set_args, set_scalar_arg_dtypes


def test_set_args_and_enqueue(ctx, queue, memory):
    kernel = cl.Kernel(memory, "copy")
    o = ints(ctx, 0)
    with pytest.raises(cl.LogicError, match=r"arg#1 \(1-based\) of kernel 'copy'.*was not set"):
        cl.enqueue_nd_range_kernel(queue, kernel, (1,), None)
    kernel.set_args(ints(ctx, 3), o, ints(ctx, 4))  # nothing else refers to these
    gc.collect()
    cl.enqueue_nd_range_kernel(queue, kernel, (1,), None)
    assert read(queue, o) == [7]
    kernel.set_arg(2, ints(ctx, 40))
    cl.enqueue_nd_range_kernel(queue, kernel, (1,), (1,))
    assert read(queue, o) == [43]
    cl.enqueue_task(queue, kernel)
    assert read(queue, o) == [43]


def test_set_arg_of_what_is_released_later(ctx, queue, memory):
    kernel, a, o = cl.Kernel(memory, "copy"), ints(ctx, 3), ints(ctx, 0)
    kernel.set_args(a, o, a)
    a.release()
    with pytest.raises(cl.LogicError, match="released"):
        cl.enqueue_nd_range_kernel(queue, kernel, (1,), None)
    kernel.set_arg(0, o)
    with pytest.raises(cl.LogicError, match="released"):
        cl.enqueue_nd_range_kernel(queue, kernel, (1,), None)
    kernel.set_arg(arg=o, arg_index=2)
    cl.enqueue_nd_range_kernel(queue, kernel, (1,), None).wait()


def test_set_arg_mistakes(ctx, queue, memory, out):
    kernel = cl.Kernel(memory, "add")
    for index in (-1, 4, 2**31, 2**62):
        with pytest.raises(cl.LogicError, match=r"index = .*'add' has 4 arguments"):
            kernel.set_arg(index, 1)
    for index in (None, "0", 1.0):
        with pytest.raises(TypeError, match="index"):
            kernel.set_arg(index, 1)
    with pytest.raises(OverflowError):
        kernel.set_arg(2**70, 1)
    for args in [(), (0,), (0, 1, 2)]:
        with pytest.raises(TypeError, match=r"set_arg\(\)"):
            kernel.set_arg(*args)
    with pytest.raises(TypeError, match="index"):
        kernel.set_arg(index=0, arg=1)
    with pytest.raises(TypeError, match="takes 4 arguments, got 3"):
        kernel.set_args(out, out, 1)
    with pytest.raises(TypeError, match="arg#3"):
        kernel.set_arg(2, "x")
    with pytest.raises(OverflowError, match="arg#4"):
        kernel.set_args(out, out, 1.0, 2**40)
    with pytest.raises(cl.LogicError, match="LocalMemory"):
        cl.Kernel(memory, "local_size").set_arg(1, cl.LocalMemory(2**50))


def test_set_args_then_a_call_then_the_set_args_again(ctx, queue, memory):
    """Both ways share what the driver has."""
    kernel, o = cl.Kernel(memory, "add"), cl.Buffer(ctx, mf.READ_WRITE, 16)
    a = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.zeros(4, np.float32))
    kernel.set_args(a, o, 1.0, 4)
    kernel(queue, (4,), None, a, o, 2.0, 4)
    cl.enqueue_nd_range_kernel(queue, kernel, (4,), None)
    assert read(queue, o, 4, np.float32) == [2] * 4  # the last one set
    kernel.set_arg(2, np.float32(1))
    cl.enqueue_nd_range_kernel(queue, kernel, (4,), None)
    assert read(queue, o, 4, np.float32) == [1] * 4


def test_declared_dtypes(ctx, queue, memory):
    kernel, o = cl.Kernel(memory, "add"), cl.Buffer(ctx, mf.READ_WRITE, 16)
    a = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.zeros(4, np.float32))
    kernel.set_scalar_arg_dtypes([None, None, np.float32, np.int32])
    for n in (4, np.int64(4), np.uint8(4), 4):
        kernel(queue, (4,), None, a, o, 2, n)
        assert read(queue, o, 4, np.float32) == [2] * 4
    kernel.set_arg_types((None, None, "f4", "i4"))
    kernel(queue, (4,), None, a, o, 3, 4)
    assert read(queue, o, 4, np.float32) == [3] * 4
    for wrong in ([], [None] * 3, [None] * 5):
        with pytest.raises(cl.LogicError, match="length of argument list"):
            cl.Kernel(memory, "add").set_scalar_arg_dtypes(wrong)
    with pytest.raises(TypeError):
        kernel.set_scalar_arg_dtypes(3)
    with pytest.raises(TypeError):
        kernel.set_scalar_arg_dtypes([None, None, "no dtype", None])


@pytest.fixture
def unknown(ctx, device, memory):
    """A kernel of whose arguments neither the driver nor a source says anything."""
    binary = memory.get_info(cl.program_info.BINARIES)[0]
    program = cl.Program(ctx, [device], [binary])
    program.build()
    _opencl._fault("clGetKernelArgInfo", cl.status_code.KERNEL_ARG_INFO_NOT_AVAILABLE, 1, 1000)
    try:
        kernel = cl.Kernel(program, "add")
    finally:
        _opencl._fault(None, 0)
    return kernel


def test_unknown_types(ctx, queue, unknown):
    a = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.zeros(4, np.float32))
    o = cl.Buffer(ctx, mf.READ_WRITE, 16)
    for s, n in [
        (np.float32(2), np.int32(4)),
        (b"\0\0\0\x40", np.uint32(4)),
        (np.array(2, np.float32), ctypes.c_int(4)),
    ]:
        unknown(queue, (4,), None, a, o, s, n)
        assert read(queue, o, 4, np.float32) == [2] * 4
    for s, n in [
        (2.0, np.int32(4)),
        (np.float32(2), 4),
        ("s", np.int32(4)),
        (object(), np.int32(4)),
    ]:
        with pytest.raises(TypeError, match=r"arg#[34] \(1-based\) of kernel 'add'"):
            unknown(queue, (4,), None, a, o, s, n)
    with pytest.raises((cl.LogicError, TypeError), match="arg#3"):
        unknown(queue, (4,), None, a, o, np.float64(2), np.int32(4))  # 8 bytes for 4
    unknown.set_scalar_arg_dtypes([None, None, np.float32, np.int32])
    unknown(queue, (4,), None, a, o, 5, 4)
    assert read(queue, o, 4, np.float32) == [5] * 4
    with pytest.raises(OverflowError, match="arg#4"):
        unknown(queue, (4,), None, a, o, 5, 2**31)


def test_types_from_the_source_when_the_driver_is_silent(ctx, queue):
    program = cl.Program(ctx, MEMORY).build()
    _opencl._fault("clGetKernelArgInfo", cl.status_code.KERNEL_ARG_INFO_NOT_AVAILABLE, 1, 1000)
    try:
        kernel = cl.Kernel(program, "add")
    finally:
        _opencl._fault(None, 0)
    a, o = cl.Buffer(ctx, mf.READ_WRITE, 16), cl.Buffer(ctx, mf.READ_WRITE, 16)
    cl.enqueue_copy(queue, a, np.zeros(4, np.float32))
    kernel(queue, (4,), None, a, o, 2, 4)
    assert read(queue, o, 4, np.float32) == [2] * 4
    with pytest.raises(TypeError, match=re.escape("'int n'")):
        kernel(queue, (4,), None, a, o, 2, 4.0)


# ---- what a kernel keeps


def test_arguments_are_kept_only_until_the_next(ctx, queue, memory, balance):
    import weakref

    kernel = cl.Kernel(memory, "copy")
    a, o, c = ints(ctx, 1), ints(ctx, 1), ints(ctx, 1)
    seen = weakref.ref(a)
    kernel(queue, (1,), None, a, o, c)
    queue.finish()
    del a
    assert seen() is not None
    kernel(queue, (1,), None, c, o, c)
    queue.finish()
    assert seen() is None
    del kernel


def test_conversion_that_calls_the_kernel_again(ctx, queue, memory, out):
    """An argument's own code may use the same kernel."""
    c = ints(ctx, 0)
    two, five = ints(ctx, 2), ints(ctx, 5)
    other = ints(ctx, 0)

    class Sly:
        @property
        def data(self):
            memory.copy(queue, (1,), None, two, other, c)
            return five

    memory.copy(queue, (1,), None, Sly(), out, c)
    assert read(queue, out) == [5]
    assert read(queue, other) == [2]


def test_an_argument_that_releases_the_others(ctx, queue, memory, out):
    a, c = ints(ctx, 2), ints(ctx, 0)

    class Sly:
        @property
        def data(self):
            a.release()
            return c

    with pytest.raises(cl.LogicError, match="released"):
        memory.copy(queue, (1,), None, a, out, Sly())
