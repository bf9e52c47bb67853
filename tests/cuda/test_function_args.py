"""Arguments of kernels: each type arrives unchanged, and what cannot be meant is refused."""

from __future__ import annotations

import ctypes
import gc
import math

import numpy as np
import pytest

from pygpu.cuda import driver as cuda
from pygpu.cuda import gpuarray
from pygpu.cuda.compiler import SourceModule

# A kernel for each type stores its parameter's bytes; the int before makes alignment matter.
TYPES = {
    "bool": (np.bool_, [0, 1]),
    "signed char": (np.int8, [-128, 127]),
    "unsigned char": (np.uint8, [0, 255]),
    "short": (np.int16, [-(2**15), 2**15 - 1]),
    "unsigned short": (np.uint16, [0, 2**16 - 1]),
    "int": (np.int32, [-(2**31), 2**31 - 1]),
    "unsigned int": (np.uint32, [0, 2**32 - 1]),
    "long long": (np.int64, [-(2**63), 2**63 - 1]),
    "unsigned long long": (np.uint64, [0, 2**64 - 1]),
    "float": (np.float32, [-1.5, math.inf, 1e-40, 3.4e38]),
    "double": (np.float64, [-1.5, math.inf, 5e-324]),
}


def name_of(c_type: str) -> str:
    return "take_" + c_type.replace(" ", "_")


SOURCE = "\n".join(
    f"__global__ void {name_of(t)}({t} *out, int before, {t} x, int after)"
    "{ out[0] = x; if (before != 17 || after != 29) out[0] = ({t})0; }".replace("{t}", t)
    for t in TYPES
)
SOURCE += """
struct Pair { char c; double d; };
struct Four { float x, y, z, w; };
struct Odd { char c[3]; };
struct Array { int *data; int n; };
__global__ void take_pair(double *out, int before, Pair p, int after)
{ out[0] = p.c; out[1] = p.d; out[2] = before; out[3] = after; }
__global__ void take_four(double *out, int before, float4 p, int after)
{ out[0] = p.x; out[1] = p.w; out[2] = before; out[3] = after; }
__global__ void take_odd(double *out, Odd o, int after)
{ out[0] = o.c[0]; out[1] = o.c[2]; out[2] = after; }
__global__ void take_array(int *out, Array a)
{ out[0] = 0; for (int i = 0; i < a.n; i++) out[0] += a.data[i]; }
__global__ void take_float2(float *out, float2 z) { out[0] = z.x; out[1] = z.y; }
__global__ void take_double2(double *out, int before, double2 z)
{ out[0] = z.x; out[1] = z.y; out[2] = before; }
__global__ void add(float *out, const float *a, const float *b, int n)
{ for (int i = 0; i < n; i++) out[i] = a[i] + b[i]; }
__global__ void nothing() {}
struct Big { int values[300]; };
__global__ void take_big(int *out, Big b)
{ int s = 0; for (int i = 0; i < 300; i++) s += b.values[i]; out[0] = s; }
__global__ void address(unsigned long long *out, const void *p) { out[0] = (unsigned long long)p; }
"""


def launch(function, *args, **more) -> None:
    function(*args, block=(1, 1, 1), **more)


def result_of(function, dtype, *args, n=1):
    """Launches with device memory for n items first; those items."""
    out = np.zeros(n, dtype)
    out_gpu = cuda.mem_alloc(out.nbytes)
    cuda.memcpy_htod(out_gpu, out)
    launch(function, out_gpu, *args)
    cuda.memcpy_dtoh(out, out_gpu)
    return out


@pytest.mark.parametrize("c_type", TYPES)
def test_numpy_scalars(kernels, c_type):
    dtype, values = TYPES[c_type]
    function = kernels.get_function(name_of(c_type))
    for value in values:
        x = dtype(value)
        for _ in range(2):  # the second launch takes the remembered way
            assert result_of(function, dtype, np.int32(17), x, np.int32(29))[0] == x


@pytest.mark.parametrize("c_type", TYPES)
def test_python_numbers(kernels, c_type):
    dtype, values = TYPES[c_type]
    function = kernels.get_function(name_of(c_type))
    python_type = float if np.issubdtype(dtype, np.floating) else bool if dtype is np.bool_ else int
    for value in values:
        x = python_type(value)
        assert result_of(function, dtype, 17, x, 29)[0] == dtype(x)


def test_python_numbers_are_converted_between_kinds(kernels):
    assert result_of(kernels.get_function("take_float"), np.float32, 17, 3, 29)[0] == 3.0
    assert result_of(kernels.get_function("take_double"), np.float64, 17, True, 29)[0] == 1.0
    assert result_of(kernels.get_function("take_int"), np.int32, 17, True, 29)[0] == 1
    assert result_of(kernels.get_function("take_int"), np.int32, 17, np.True_, 29)[0] == 1
    assert result_of(kernels.get_function("take_bool"), np.bool_, 17, 2, 29)[0]
    nan = result_of(kernels.get_function("take_float"), np.float32, 17, math.nan, 29)
    assert np.isnan(nan[0])


@pytest.mark.parametrize(
    "c_type, value",
    [
        ("int", 2**31),
        ("int", -(2**31) - 1),
        ("unsigned int", -1),
        ("unsigned int", 2**32),
        ("short", 40000),
        ("unsigned char", 256),
        ("signed char", -129),
        ("long long", 2**63),
        ("long long", -(2**63) - 1),
        ("unsigned long long", -1),
        ("unsigned long long", 2**64),
        ("int", 10**400),
        ("float", 1e39),
        ("float", -1e39),
        ("double", 10**400),
    ],
)
def test_out_of_range(kernels, c_type, value):
    function = kernels.get_function(name_of(c_type))
    with pytest.raises(OverflowError, match=rf"{name_of(c_type)}.*parameter #2.*'{c_type} x'"):
        result_of(function, TYPES[c_type][0], 17, value, 29)


@pytest.mark.parametrize(
    "c_type, value, words",
    [
        ("int", np.int64(1), "expected 4 bytes, but numpy.int64 has 8; pass a numpy.int32"),
        ("float", np.float64(1), "expected 4 bytes, but numpy.float64 has 8; pass a numpy.flo"),
        ("double", np.float32(1), "expected 8 bytes"),
        (
            "int",
            np.float32(1),
            "numpy.float32 is not what the kernel reads here; pass a numpy.int32",
        ),
        ("float", np.int32(1), "numpy.int32 is not what the kernel reads here"),
        ("double", np.int64(1), "numpy.int64 is not what the kernel reads here"),
        ("int", 1.5, "float is not what the kernel reads here"),
        ("int", 1j, "complex is not what the kernel reads here"),
        ("float", 1j, "complex is not what the kernel reads here"),
        ("int", "1", "invalid type: str"),
        ("int", np.str_("1"), "invalid type: numpy.str_"),
        ("int", None, "invalid type: NoneType"),
        ("int", [1], "invalid type: list"),
        ("int", np.array([1, 2], np.int32), "passed by value has 8"),
        ("int", np.zeros(0, np.int32), "passed by value has 0"),
        ("int", np.array([1.0], np.float32), "not what the kernel reads here"),
        ("int", np.array([None]), "Python objects"),
        ("int", b"12345", "expected 4 bytes, but bytes has 5"),
        ("float", np.complex64(1), "expected 4 bytes, but numpy.complex64 has 8"),
    ],
)
def test_wrong_type(kernels, c_type, value, words):
    function = kernels.get_function(name_of(c_type))
    with pytest.raises(
        TypeError, match=rf"kernel '{name_of(c_type)}', parameter #2 \(0-based\)"
    ) as e:
        result_of(function, TYPES[c_type][0], 17, value, 29)
    assert words in str(e.value)


def test_wrong_count(kernels):
    add = kernels.get_function("add")
    memory = cuda.mem_alloc(64)
    for args in [(), (memory,), (memory,) * 3, (memory, memory, memory, np.int32(1), memory)]:
        with pytest.raises(
            TypeError, match=rf"'add' takes 4 arguments \(float \*out, .*; {len(args)} w"
        ):
            launch(add, *args)
    with pytest.raises(TypeError, match=r"'nothing' takes 0 arguments \(\); 1 was given"):
        launch(kernels.get_function("nothing"), memory)
    launch(kernels.get_function("nothing"))


def test_pointers(kernels):
    a, b = np.arange(5, dtype=np.float32), np.full(5, 0.5, np.float32)
    memory = [cuda.mem_alloc(a.nbytes) for _ in range(3)]
    cuda.memcpy_htod(memory[1], a)
    cuda.memcpy_htod(memory[2], b)
    add, out, n = kernels.get_function("add"), np.empty_like(a), np.int32(5)

    class Array:
        def __init__(self, gpudata):
            self.gpudata = gpudata

    class Interface:
        def __init__(self, pointer, **more):
            self.__cuda_array_interface__ = {
                "shape": (5,),
                "typestr": "<f4",
                "data": (int(pointer), False),
                "version": 3,
                **more,
            }

    class Holder(cuda.PointerHolderBase):
        def __init__(self, pointer):
            super().__init__()
            self.pointer = pointer

        def get_pointer(self):
            return int(self.pointer)

    class Index:
        def __init__(self, pointer):
            self.pointer = pointer

        def __index__(self):
            return int(self.pointer)

    stream = cuda.Stream(cuda.stream_flags.NON_BLOCKING)
    for wrap in [
        lambda p: p,
        int,
        lambda p: np.uintp(int(p)),
        lambda p: np.int64(int(p)),
        lambda p: np.array(int(p), np.uint64),
        Array,
        lambda p: Array(int(p)),
        lambda p: Array(Array(p).gpudata),
        Interface,
        lambda p: Interface(p, stream=None),
        lambda p: Interface(p, stream=1),
        lambda p: Interface(p, stream=stream.handle),
        Holder,
        lambda p: Array(Holder(p)),
        Index,
    ]:
        cuda.memset_d8(memory[0], 0, out.nbytes)
        for _ in range(2):
            launch(add, wrap(memory[0]), wrap(memory[1]), wrap(memory[2]), n)
        cuda.memcpy_dtoh(out, memory[0])
        np.testing.assert_array_equal(out, a + b)


def test_a_pointer_that_only_the_argument_keeps_lives_until_the_launch(kernels):
    """What a property makes anew is not freed between its address and the launch."""
    made = []

    class Fresh:
        @property
        def gpudata(self):
            memory = cuda.mem_alloc(16)
            cuda.memset_d32(memory, 0x3F800000, 4)  # 1.0f
            made.append(int(memory))
            return memory

    out = np.empty(4, np.float32)
    out_gpu = cuda.mem_alloc(out.nbytes)
    args = [Fresh() for _ in range(2)]
    launch(kernels.get_function("add"), out_gpu, *args, 4)
    cuda.memcpy_dtoh(out, out_gpu)
    assert made[0] != made[1]
    np.testing.assert_array_equal(out, [2.0] * 4)


class Wordless(int):
    def __repr__(self):
        raise KeyError("no words")


@pytest.mark.parametrize(
    "value, error, words",
    [
        pytest.param(Wordless(2**64), OverflowError, "the number does not fit", id="wordless"),
        (np.float64(1), TypeError, "expected device memory, got numpy.float64"),
        (np.zeros(1), TypeError, "In, Out or InOut"),
        (np.zeros(1, np.int64), TypeError, "In, Out or InOut"),
        (np.zeros(9), TypeError, "In, Out or InOut"),
        (np.int32(1), TypeError, "expected 8 bytes, but numpy.int32 has 4"),
        (1.0, TypeError, "expected device memory, got float"),
        (True, TypeError, "expected device memory, got bool"),
        (None, TypeError, "None is not a pointer"),
        ("p", TypeError, "invalid type: str"),
        (b"12345678", TypeError, "invalid type: bytes"),
        (-1, OverflowError, "-1 does not fit into a pointer"),
        (2**64, OverflowError, "does not fit into a pointer"),
        (object(), TypeError, "invalid type: object"),
    ],
)
def test_no_pointer(kernels, value, error, words):
    memory = cuda.mem_alloc(64)
    with pytest.raises(
        error, match=r"kernel 'add', parameter #1 \(0-based\) 'const float \*a'"
    ) as e:
        launch(kernels.get_function("add"), memory, value, memory, 1)
    assert words in str(e.value)


def test_a_pointer_where_a_number_is_read(kernels):
    memory = cuda.mem_alloc(64)
    with pytest.raises(TypeError, match="expected 4 bytes, but .*DeviceAllocation is a pointer"):
        launch(kernels.get_function("take_int"), memory, 17, memory, 29)
    with pytest.raises(TypeError, match="the parameter is not a pointer"):
        launch(kernels.get_function("take_double"), memory, 17, memory, 29)
    launch(kernels.get_function("take_unsigned_long_long"), memory, 17, memory, 29)
    out = np.zeros(1, np.uint64)
    cuda.memcpy_dtoh(out, memory)
    assert out[0] == int(memory)


def test_properties_that_fail(kernels):
    class Broken:
        @property
        def gpudata(self):
            raise ZeroDivisionError("broken")

    class BrokenInterface:
        @property
        def __cuda_array_interface__(self):
            raise ZeroDivisionError("broken")

    class Odd:
        def __init__(self, interface):
            self.__cuda_array_interface__ = interface

    memory, add = cuda.mem_alloc(64), kernels.get_function("add")
    for arg in (Broken(), BrokenInterface()):
        with pytest.raises(ZeroDivisionError, match="broken"):
            launch(add, memory, arg, memory, 1)
    for interface in ({}, {"data": 3}, {"data": (1,)}, [], 3):
        with pytest.raises(TypeError, match="__cuda_array_interface__ of .* must be a dict"):
            launch(add, memory, Odd(interface), memory, 1)
    with pytest.raises(TypeError, match="expected a pointer, but .* returned a str"):
        launch(add, memory, Odd({"data": ("p", False)}), memory, 1)
    with pytest.raises(TypeError, match="the stream 0, which the protocol forbids"):
        launch(add, memory, Odd({"data": (int(memory), False), "stream": 0}), memory, 1)


def test_freed_memory(kernels):
    memory, freed = cuda.mem_alloc(64), cuda.mem_alloc(64)
    add = kernels.get_function("add")
    launch(add, memory, memory, freed, 1)
    freed.free()
    with pytest.raises(cuda.LogicError, match="parameter #2 .*DeviceAllocation was freed"):
        launch(add, memory, memory, freed, 1)


class Frees:
    """A number whose reading frees memory."""

    def __init__(self, memory, value):
        self.memory, self.value = memory, value

    def __index__(self):
        if self.memory is not None:
            self.memory.free()
            self.memory = None
        return self.value


class Lends:
    def __init__(self, gpudata):
        self.gpudata = gpudata


def own(n):
    return gpuarray.zeros(n, np.float32, allocator=lambda size: cuda.mem_alloc(size))


def managed(n):
    return cuda.managed_zeros(n, np.float32, mem_flags=cuda.mem_attach_flags.GLOBAL)


FREED = {
    "allocation": (lambda: cuda.mem_alloc(64), lambda a: a),
    "array of the pool": (lambda: gpuarray.zeros(16, np.float32), lambda a: a.gpudata),
    "array": (lambda: own(16), lambda a: a.gpudata),
    "view": (lambda: own(16)[4:], lambda a: a.base_data),
    "gpudata": (lambda: Lends(cuda.mem_alloc(64)), lambda a: a.gpudata),
    "managed": (lambda: managed(16), lambda a: a.base),
}


@pytest.mark.parametrize(
    "what, prepared",
    [(what, False) for what in FREED]
    + [(what, True) for what in ("allocation", "array of the pool", "array", "view")],
)
def test_memory_freed_while_another_argument_is_read(kernels, what, prepared):
    make, memory_of = FREED[what]
    a, b, add = make(), cuda.mem_alloc(64), kernels.get_function("add")
    for _ in range(2):  # the first call finds out how each type is converted, later ones know it
        args = (a, b, b, Frees(memory_of(a), 4))
        with pytest.raises(cuda.LogicError, match="was freed"):
            if prepared:
                add.prepare("PPPi").prepared_call((1, 1), (4, 1, 1), *args)
            else:
                launch(add, *args)
        a = make()
        launch(add, a, b, b, 4)


def test_memory_of_another_context(kernels):
    memory, add = cuda.mem_alloc(64), kernels.get_function("add")
    other = cuda.Device(0).make_context()
    try:
        foreign = cuda.mem_alloc(64)
        other.pop()
        with pytest.raises(cuda.LogicError, match="parameter #0 .*belongs to another context"):
            launch(add, foreign, memory, memory, 1)
        other.push()
    finally:
        other.detach()
    with pytest.raises(cuda.LogicError, match="parameter #0 .*context that was destroyed"):
        launch(add, foreign, memory, memory, 1)


PAIR = np.dtype([("c", "i1"), ("d", "f8")], align=True)


class CPair(ctypes.Structure):
    _fields_ = [("c", ctypes.c_int8), ("d", ctypes.c_double)]


def test_structs(kernels):
    take_pair = kernels.get_function("take_pair")
    array = np.array([(7, 2.5), (9, -1.0)], PAIR)
    for value in (array[0], array[:1], array[0].tobytes(), CPair(7, 2.5), bytearray(CPair(7, 2.5))):
        np.testing.assert_array_equal(
            result_of(take_pair, np.float64, 11, value, 13, n=4), [7, 2.5, 11, 13]
        )
    with pytest.raises(TypeError, match="expected 16 bytes, but numpy.void has 9"):
        result_of(take_pair, np.float64, 11, np.zeros(1, [("c", "i1"), ("d", "f8")])[0], 13, n=4)
    with pytest.raises(TypeError, match="only the size of the parameter is known"):
        result_of(take_pair, np.float64, 11, 5, 13, n=4)
    with pytest.raises(TypeError, match="Python objects"):
        holder = np.zeros(1, [("a", "O"), ("b", "f8")])
        result_of(take_pair, np.float64, 11, holder[0], 13, n=4)


def test_vectors_are_aligned(kernels):
    """A float4 after an int begins at 16 bytes, which packing one after the other would miss."""
    values = np.array([1, 2, 3, 4], np.float32)
    take_four = kernels.get_function("take_four")
    for value in (values, values.view([(c, "f4") for c in "xyzw"])[0]):
        np.testing.assert_array_equal(
            result_of(take_four, np.float64, 11, value, 13, n=4), [1, 4, 11, 13]
        )
    np.testing.assert_array_equal(
        result_of(kernels.get_function("take_double2"), np.float64, 3, np.array([1.0, 2.0]), n=3),
        [1, 2, 3],
    )


def test_complex_numbers(kernels):
    take = kernels.get_function("take_float2")
    for value in (1 - 2j, np.complex64(1 - 2j), np.array([1, -2], np.float32)):
        np.testing.assert_array_equal(result_of(take, np.float32, value, n=2), [1, -2])
    np.testing.assert_array_equal(result_of(take, np.float32, 3, n=2), [3, 0])
    take = kernels.get_function("take_double2")
    np.testing.assert_array_equal(result_of(take, np.float64, 3, 1 - 2j, n=3), [1, -2, 3])
    with pytest.raises(OverflowError):
        result_of(kernels.get_function("take_float2"), np.float32, complex(0, 1e39), n=2)


def test_small_and_large_structs(kernels):
    odd = np.frombuffer(b"\x05\x06\x07", np.dtype("V3"))[0]
    np.testing.assert_array_equal(
        result_of(kernels.get_function("take_odd"), np.float64, odd, 9, n=3), [5, 7, 9]
    )
    big = np.arange(300, dtype=np.int32)
    assert result_of(kernels.get_function("take_big"), np.int32, big)[0] == big.sum()
    with pytest.raises(TypeError, match="must be contiguous"):
        result_of(kernels.get_function("take_big"), np.int32, np.zeros(600, np.int32)[::2])


def test_a_struct_with_a_pointer(kernels):
    values = np.arange(10, dtype=np.int32)
    memory = cuda.mem_alloc(values.nbytes)
    cuda.memcpy_htod(memory, values)
    struct = np.zeros((), np.dtype([("data", np.uintp), ("n", np.int32)], align=True))
    struct["data"], struct["n"] = int(memory), 10
    assert result_of(kernels.get_function("take_array"), np.int32, struct[()])[0] == 45
    assert result_of(kernels.get_function("take_array"), np.int32, struct)[0] == 45


def test_managed_arrays_are_pointers(kernels):
    try:
        values = cuda.managed_zeros(8, np.uint64, mem_flags=cuda.mem_attach_flags.GLOBAL)
    except cuda.LogicError as error:
        pytest.skip(f"needs a GPU and a system with managed memory: {error}")
    address = kernels.get_function("address")
    out = np.zeros(1, np.uint64)
    for array in (values, values[3:], values[::2], values.reshape(2, 4)[1]):
        launch(address, cuda.Out(out), array)
        assert out[0] == array.ctypes.data
    launch(address, values, values[5:])
    cuda.Context.synchronize()
    assert values[0] == values[5:].ctypes.data


def test_page_locked_arrays_stay_by_value(kernels):
    locked = cuda.pagelocked_zeros(1, np.int32)
    locked[0] = 21
    assert result_of(kernels.get_function("take_int"), np.int32, 17, locked, 29)[0] == 21


def test_the_cached_type_does_not_fix_later_ones(kernels):
    """An argument of another type than the last one's is converted by its own."""
    take = kernels.get_function("take_unsigned_long_long")
    memory = cuda.mem_alloc(8)
    for value in (np.uint64(5), 6, memory, np.int64(7), np.uint64(8), memory, np.uintp(9), 10):
        assert result_of(take, np.uint64, 17, value, 29)[0] == int(value)
    with pytest.raises(TypeError):
        result_of(take, np.uint64, 17, np.float64(1), 29)


def test_nothing_leaks(kernels, balance):
    take_pair, add = kernels.get_function("take_pair"), kernels.get_function("add")

    class Array:
        def __init__(self):
            self.gpudata = cuda.mem_alloc(64)

    for _ in range(3):
        result_of(take_pair, np.float64, 11, CPair(7, 2.5), 13, n=4)
        launch(add, Array(), Array(), Array(), 1)
        with pytest.raises(TypeError):
            launch(add, Array(), Array(), Array(), "x")
    gc.collect()


BFLOAT_SOURCE = """
#include <cuda_bf16.h>
extern "C" __global__ void take(unsigned short *out, int before, __nv_bfloat16 x)
{ out[0] = before == 17 ? __bfloat16_as_ushort(x) : 0xDEAD; }
"""


@pytest.fixture(scope="module")
def take_bfloat() -> cuda.Function:
    return SourceModule(BFLOAT_SOURCE, no_extern_c=True).get_function("take")


@pytest.mark.parametrize(
    ("number", "bits"),
    [
        (1.0, 0x3F80),
        (-0.0, 0x8000),
        (1 + 2**-8, 0x3F80),  # halfway: to even, down
        (1 + 3 * 2**-8, 0x3F82),  # halfway: to even, up
        (1 + 2**-8 + 2**-20, 0x3F81),
        (math.inf, 0x7F80),
        (-math.inf, 0xFF80),
        (2, 0x4000),
    ],
)
def test_a_number_is_rounded_to_bfloat16_with_ties_to_even(take_bfloat, number: float, bits: int):
    assert result_of(take_bfloat, np.uint16, 17, number)[0] == bits


def test_bfloat16_keeps_nan_and_refuses_numbers_that_overflow(take_bfloat):
    (bits,) = result_of(take_bfloat, np.uint16, 17, math.nan)
    assert bits & 0x7F80 == 0x7F80 and bits & 0x7F
    with pytest.raises((ValueError, OverflowError), match="bfloat16"):
        result_of(take_bfloat, np.uint16, 17, 3.4e38)
