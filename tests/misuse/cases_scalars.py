"""Scalar kernel arguments: by value with range checks, never other bits than those meant."""

from __future__ import annotations

import decimal
import fractions

from harness import CALLER, Boom, Env, Liar, case, check, cl, expect, np, tolerate

RANGES = {
    "to_char": (-(2**7), 2**7 - 1),
    "to_uchar": (0, 2**8 - 1),
    "to_int": (-(2**31), 2**31 - 1),
    "to_uint": (0, 2**32 - 1),
    "to_long": (-(2**63), 2**63 - 1),
}


@case
def plain_int(env: Env) -> None:
    for name, (low, high) in RANGES.items():
        for value in (low, high, 0, 7):
            check(env.scalar(name, value) == value, f"{name}({value}) arrived wrong")
    check(env.scalar("to_ulong", 2**64 - 1, np.uint64) == 2**64 - 1, "to_ulong arrived wrong")


@case
def plain_int_out_of_range(env: Env) -> None:
    for name, (low, high) in RANGES.items():
        for value in (low - 1, high + 1, 2**64, 2**65 + 1, -(2**63) - 1, 10**1000):
            with expect((OverflowError, ValueError, TypeError), name, "value"):
                env.scalar(name, value)
    with expect((OverflowError, ValueError, TypeError), "to_ulong"):
        env.scalar("to_ulong", -1)
    with expect((OverflowError, ValueError, TypeError), "to_ulong"):
        env.scalar("to_ulong", 2**64)


@case
def int_scalar_for_a_float(env: Env) -> None:
    for value in (np.int32(2), np.int64(2), np.uint8(2), 2, True):
        with tolerate(TypeError) as caught:
            got = env.scalar("to_float", value, np.float32)
        check(caught or got == float(value), f"{value!r} arrived as {None if caught else got}")


@case
def float_scalar_for_an_int(env: Env) -> None:
    for value in (1.5, np.float32(1.5), np.float64(1.5), -0.5, float("nan"), float("inf"), 1e300):
        with expect((TypeError, ValueError, OverflowError), "to_int", "value"):
            env.scalar("to_int", value)
    for value in (np.float32(2), np.float64(2), 2.0):
        with tolerate(TypeError) as caught:
            got = env.scalar("to_int", value)
        check(caught or got == 2, f"{value!r} arrived as {None if caught else got}")


@case
def double_for_a_float(env: Env) -> None:
    for value in (0.1, np.float64(0.1), np.float32(0.1)):
        got = env.scalar("to_float", value, np.float32)
        check(got == np.float32(0.1), f"{value!r} arrived as {got}")


@case
def special_floats(env: Env) -> None:
    check(np.isnan(env.scalar("to_float", float("nan"), np.float32)), "nan arrived as a number")
    check(env.scalar("to_float", float("-inf"), np.float32) == -np.inf, "-inf arrived wrong")
    with tolerate((OverflowError, ValueError)) as caught:
        got = env.scalar("to_float", 1e300, np.float32)
    check(caught or got == np.inf, "1e300 for a float is neither refused nor inf")
    with expect((OverflowError, ValueError, TypeError), "to_float"):
        env.scalar("to_float", 10**400, np.float32)


@case
def wider_and_narrower_numpy_ints(env: Env) -> None:
    for value in (np.int8(-3), np.int64(-3), np.int16(-3)):
        with tolerate(TypeError) as caught:
            got = env.scalar("to_int", value)
        check(caught or got == -3, f"{value!r} arrived as {None if caught else got}")
    check(env.scalar("to_int", np.uint32(2**32 - 1)) == -1, "the same size is converted as in C")
    for value in (np.int64(2**40), np.uint64(2**64 - 1), np.int64(-(2**40))):
        with expect((OverflowError, ValueError, TypeError, cl.LogicError), "to_int|argument"):
            env.scalar("to_int", value)


@case
def signed_for_unsigned(env: Env) -> None:
    check(env.scalar("to_uint", np.int32(-1)) == 2**32 - 1, "the same size is converted as in C")
    for value in (np.int64(-1), -1, np.int8(-1)):
        with expect((OverflowError, ValueError, TypeError), "to_uint"):
            env.scalar("to_uint", value)


@case
def booleans(env: Env) -> None:
    for value in (True, np.bool_(True)):
        with tolerate(TypeError) as caught:
            got = env.scalar("to_int", value)
        check(caught or got == 1, f"{value!r} arrived as {None if caught else got}")


@case
def complex_for_a_float(env: Env) -> None:
    for value in (1 + 2j, np.complex64(1 + 2j), np.complex128(1 + 2j)):
        with expect((TypeError, ValueError, cl.LogicError), "to_float|argument"):
            env.scalar("to_float", value, np.float32)


@case
def texts_and_containers(env: Env) -> None:
    for value in ("7", "", b"", b"abc", [7], (7,), {7}, {7: 7}, range(7), object(), int, np.int32):
        with expect((TypeError, ValueError, cl.LogicError), "to_int|argument"):
            env.scalar("to_int", value)


@case
def raw_bytes_of_another_size(env: Env) -> None:
    for value in (b"\1", b"\1" * 3, b"\1" * 5, b"\1" * 8, bytearray(2), memoryview(b"\1" * 16)):
        with expect((TypeError, ValueError, cl.LogicError), "to_int|argument"):
            env.scalar("to_int", value)


@case
def arrays_for_a_scalar(env: Env) -> None:
    check(env.scalar("to_int", np.array(7)) == 7, "a 0-d array arrived wrong")
    check(env.scalar("to_int", np.array(7, np.int32)) == 7, "a 0-d int32 array arrived wrong")
    for value in (np.arange(2, dtype=np.int32), np.zeros(0, np.int32), np.arange(4, dtype=np.int8)):
        with expect((TypeError, ValueError, cl.LogicError), "to_int|argument"):
            env.scalar("to_int", value)
    with expect((TypeError, ValueError, cl.LogicError)):
        env.scalar("to_int", np.array(object(), object))


@case
def byte_swapped_scalars(env: Env) -> None:
    for value in (np.array(7, ">i4"), np.array(7, ">i8"), np.array([7], ">i4")):
        with tolerate((TypeError, ValueError, cl.LogicError)) as caught:
            got = env.scalar("to_int", value)
        check(caught or got == 7, f"{value!r} arrived as {None if caught else got}")
    with tolerate((TypeError, ValueError, cl.LogicError)) as caught:
        got = env.scalar("to_float", np.array(7, ">f4"), np.float32)
    check(caught or got == 7, "a big-endian float arrived wrong")


@case
def numbers_of_other_kinds(env: Env) -> None:
    for value in (decimal.Decimal(7), fractions.Fraction(7), np.float16(7), np.longdouble(7)):
        with tolerate((TypeError, ValueError)) as caught:
            got = env.scalar("to_float", value, np.float32)
        check(caught or got == 7, f"{value!r} arrived as {None if caught else got}")
    for value in (np.datetime64(7, "s"), np.timedelta64(7, "s"), np.str_("7")):
        with tolerate((TypeError, ValueError, cl.LogicError)) as caught:
            got = env.scalar("to_int", value)
        check(caught or got == 7, f"{value!r} arrived as {None if caught else got}")


@case
def conversions_that_raise(env: Env) -> None:
    with expect(Boom):
        env.scalar("to_int", Liar(index=Boom("index")))
    with expect((Boom, TypeError)):
        env.scalar("to_float", Liar(float=Boom("float"), index=Boom("index")), np.float32)
    with expect(KeyboardInterrupt, "stop"):
        env.scalar("to_int", Liar(index=KeyboardInterrupt("stop")))


@case
def conversions_that_lie(env: Env) -> None:
    for answer in ("7", 7.5, None, [], 2**200):
        with expect(CALLER, "to_int|__index__"):
            env.scalar("to_int", Liar(index=lambda answer=answer: answer))
    for answer in ("7", None, [], 7j):
        with expect(CALLER, "to_float|__float__"):
            env.scalar("to_float", Liar(float=lambda answer=answer: answer), np.float32)


@case
def int_subclass_with_its_own_ideas(env: Env) -> None:
    class Odd(int):
        def __index__(self) -> int:
            return 99

        def __int__(self) -> int:
            return 98

    check(
        env.scalar("to_int", Odd(7)) in (7, 99), "an int subclass arrived as neither of its values"
    )


@case
def vectors(env: Env) -> None:
    make = cl.cltypes
    out = env.out()
    env.kernel("to_float4")(env.queue, (1,), None, make.make_float4(1, 2, 3, 4), out)
    check(list(env.read(out)[:4]) == [1, 2, 3, 4], "a float4 arrived wrong")
    for value in (make.make_float2(1, 2), make.make_int2(1, 2), np.float32(1).reshape(1), 1.0,
                  (1, 2), None,
                  np.zeros(3, np.float32), np.zeros(8, np.float32)):  # fmt: skip
        with expect((TypeError, ValueError, cl.LogicError), "to_float4|argument"):
            env.kernel("to_float4")(env.queue, (1,), None, value, out)


@case
def structures(env: Env) -> None:
    pair = np.dtype([("number", np.int32), ("weight", np.float32)])
    value = np.zeros((), pair)
    value["number"], value["weight"] = 3, 4.5
    out = env.out()
    env.kernel("to_pair")(env.queue, (1,), None, value[()], out)
    check(list(env.read(out)[:2]) == [3, 4.5], "a struct arrived wrong")
    holder = np.zeros((), [("number", object)])[()]
    # OpenCL tells nobody the size of a struct, so smaller and larger ones cannot be told apart.
    for bad in (holder, 5, 1.5, None, "text", env.buffer(), cl.LocalMemory(8), object()):
        with expect((TypeError, ValueError, cl.LogicError), "to_pair|argument"):
            env.kernel("to_pair")(env.queue, (1,), None, bad, out)
