"""Numbers as kernel arguments: every kind of Python and NumPy value against every C type.

Each scalar kernel stores its argument in memory, so what arrived is compared bit for bit with what
NumPy makes of the value.
"""

from __future__ import annotations

import array as std_array
import ctypes
import decimal
import enum

import numpy as np
import pytest
from opencl.kernel_helpers import same_bits

import pygpu as cl

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
def test_other_types_with_an_integer_value(scalars, queue, out, name):
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


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS])
def test_every_kind_of_call_converts_alike(scalars, queue, out, name):
    def outcome(value, launch):
        cl.enqueue_copy(queue, out, np.full(8, 0xA5, np.uint8))
        try:
            launch(getattr(scalars, f"take_{name}"), value)
        except (OverflowError, TypeError) as error:
            return type(error), str(error)
        result = np.empty(8, np.uint8)
        cl.enqueue_copy(queue, result, out)
        return result.tobytes()

    def set_before(kernel, value):
        kernel.set_args(out, value)
        cl.enqueue_nd_range_kernel(queue, kernel, (1,), None)

    own = {**INTEGERS, **FLOATS}[name]
    values = [0, 7, 200, -1, 2**31, 2**32, 2**63, 2**64, 10**400, True, 1.5, 1e39, float("-inf")]
    for value in [*values, own(100), np.int16(-3), np.float64(2.5), np.array([5], own), 1j]:
        plain = outcome(value, lambda kernel, x: kernel(queue, (1,), None, out, x))
        by_word = outcome(value, lambda kernel, x: kernel(queue, (1,), None, out, x, wait_for=[]))
        assert plain == by_word == outcome(value, set_before), value


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


# ---- values other than numbers


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
def test_values_other_than_numbers_are_refused_by_name(scalars, queue, out, name, value):
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


def test_buffers_and_queues_are_not_numbers(scalars, queue, out):
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
