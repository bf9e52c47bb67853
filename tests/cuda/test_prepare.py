"""prepare() and the prepared_...call() methods: conversions and errors are the struct module's."""

from __future__ import annotations

import gc
import math
import struct

import numpy as np
import pytest

from pygpu import _cuda
from pygpu.cuda import driver as cuda

CODES = {
    "?": "bool",
    "b": "signed char",
    "B": "unsigned char",
    "h": "short",
    "H": "unsigned short",
    "i": "int",
    "I": "unsigned int",
    "l": "long",
    "L": "unsigned long",
    "q": "long long",
    "Q": "unsigned long long",
    "n": "long long",
    "N": "unsigned long long",
    "f": "float",
    "d": "double",
}


def name_of(code: str) -> str:
    return f"take_{ord(code)}"


SOURCE = "\n".join(
    f"__global__ void {name_of(c)}({t} *out, char before, {t} x, char after)"
    "{ out[0] = before == 3 && after == 5 ? x : 0; }".replace("{t}", t)
    for c, t in CODES.items()
)
SOURCE += """
struct Pair { int a, b; };
__global__ void half_bits(unsigned short *out, unsigned short x) { out[0] = x; }
__global__ void complex64(float *out, int before, float2 z)
{ out[0] = z.x; out[1] = z.y; out[2] = before; }
__global__ void complex128(double *out, int before, double2 z)
{ out[0] = z.x; out[1] = z.y; out[2] = before; }
__global__ void pair(int *out, Pair p) { out[0] = p.a; out[1] = p.b; }
__global__ void add_one(int *data) { data[threadIdx.x + blockIdx.x * blockDim.x] += 1; }
__global__ void sum(float *out, const float *a, const float *b)
{ out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x]; }
__global__ void reverse(int *data)
{
    extern __shared__ int space[];
    space[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = space[blockDim.x - 1 - threadIdx.x];
}
"""


ONE = ((1, 1), (1, 1, 1))


def call(function, dtype, *args, n=1):
    out = np.zeros(n, dtype)
    memory = cuda.to_device(out)
    function.prepared_call(*ONE, memory, *args)
    cuda.memcpy_dtoh(out, memory)
    return out


def edge_values(code: str) -> list:
    if code == "?":
        return [False, True, 2, "yes", ""]
    if code in "fd":
        return [0, -1.5, math.inf, np.float64(0.25), np.float32(0.5), True]
    size = struct.calcsize("@" + code) * 8
    signed = code in "bhilqn"
    low, high = (-(2 ** (size - 1)), 2 ** (size - 1) - 1) if signed else (0, 2**size - 1)
    return [low, high, np.int16(7), True]


@pytest.mark.parametrize("code", CODES)
def test_codes(kernels, code):
    function = kernels.get_function(name_of(code))
    assert function.prepare("Pb" + code + "b") is function
    assert function.arg_format == f"Pb{code}b"
    for value in edge_values(code):
        got = call(function, np.dtype(code), 3, value, 5)[0]
        assert got == (bool(value) if code == "?" else value)


@pytest.mark.parametrize("code", CODES)
def test_out_of_range(kernels, code):
    function = kernels.get_function(name_of(code)).prepare(f"Pb{code}b")
    if code == "?":
        wrong = []
    elif code in "fd":
        wrong = ["1", None, 1j]
    else:
        high = max(int(v) for v in edge_values(code) if not isinstance(v, np.generic))
        low = min(int(v) for v in edge_values(code) if not isinstance(v, np.generic))
        wrong = [high + 1, low - 1, 1.0, "1", None, np.float32(1), 10**50]
    for value in wrong:
        with pytest.raises(struct.error, match=r"^kernel '\w+', argument #2 \(0-based\): "):
            call(function, np.dtype(code), 3, value, 5)
    if code == "f":
        with pytest.raises(OverflowError, match=r"argument #2 \(0-based\): float too large"):
            call(function, np.dtype(code), 3, 1e39, 5)


def test_half(kernels):
    function = kernels.get_function("half_bits").prepare("Pe")
    for value in (0, 1.5, -math.inf, 65504):
        assert call(function, np.float16, value)[0] == value
    with pytest.raises(OverflowError):
        call(function, np.float16, 1e6)


def test_complex(kernels):
    for name, code, dtype in [("complex64", "F", np.float32), ("complex128", "D", np.float64)]:
        function = kernels.get_function(name)
        for types in (
            f"Pi{code}",
            ["P", "i", np.dtype(code)],
            [np.uintp, np.int32, np.dtype(code).type],
        ):
            function.prepare(types)
            for value in (1 - 2j, np.complex64(1 - 2j)):
                assert call(function, dtype, 9, value, n=3).tolist() == [1, -2, 9]
            with pytest.raises(struct.error, match="complex"):
                call(function, dtype, 9, "1", n=3)


def test_structs(kernels):
    function = kernels.get_function("pair")
    value = np.array([(7, -8)], "i4,i4")
    for types in ("P8s", ["P", value.dtype], [np.intp, "8s"], ["P", "i", "i"], "Pii", "P2i"):
        function.prepare(types)
        if "s" not in function.arg_format:
            assert call(function, np.int32, 7, -8, n=2).tolist() == [7, -8]
            continue
        for given in (value[0], value, value.tobytes(), bytearray(value.tobytes())):
            assert call(function, np.int32, given, n=2).tolist() == [7, -8]
        assert call(function, np.int32, b"\1", n=2).tolist() == [1, 0]  # padded, as struct does
        for wrong in (b"123456789", "12345678", 5, None):
            with pytest.raises(struct.error):
                call(function, np.int32, wrong, n=2)


@pytest.mark.parametrize(
    "types",
    [
        "PPP",
        ["P", "P", "P"],
        [np.uintp] * 3,
        [np.intp, np.int64, np.dtype("u8")],
        [object(), None, 3],
        iter("PPP"),
        ("P" for _ in range(3)),
        "3P",
        " P P P",
        "@PPP",
        np.array(["P", "PP"]),
    ],
)
def test_declarations(kernels, types):
    a, b = np.arange(4, dtype=np.float32), np.ones(4, np.float32)
    function = kernels.get_function("sum").prepare(types)
    out = np.empty_like(a)
    memory = cuda.mem_alloc(a.nbytes)
    function.prepared_call((1, 1), (4, 1, 1), memory, cuda.to_device(a), cuda.to_device(b))
    cuda.memcpy_dtoh(out, memory)
    assert out.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "types, error",
    [
        ("PPz", struct.error),
        ("PP!", struct.error),
        ("3", struct.error),
        ("PP99999999999999999999s", struct.error),
        ("40000s", struct.error),
        ("PPé", struct.error),
        ("PP", TypeError),
        ("PPPP", TypeError),
        ("PPi", TypeError),
        ("", TypeError),
        ([np.dtype("O")] * 3, TypeError),
        (3, TypeError),
        (None, TypeError),
    ],
)
def test_wrong_declarations(kernels, types, error):
    function = kernels.get_function("sum").prepare("PPP")
    with pytest.raises(error):
        function.prepare(types)
    assert function.arg_format == "PPP"  # what was declared before holds


def test_not_prepared(kernels):
    function = kernels.get_function("sum")
    with pytest.raises(AttributeError):
        function.arg_format  # noqa: B018
    for method in (function.prepared_call, function.prepared_timed_call):
        with pytest.raises(AttributeError, match="prepare"):
            method(*ONE, 0, 0, 0)
    with pytest.raises(AttributeError, match="prepare"):
        function.prepared_async_call(*ONE, None, 0, 0, 0)


def test_pointers(kernels):
    memory = [cuda.to_device(np.full(4, i, np.float32)) for i in range(3)]
    function = kernels.get_function("sum").prepare("PPP")

    class Array:
        gpudata = memory[1]

    out = np.empty(4, np.float32)
    for b in (memory[1], int(memory[1]), np.uintp(int(memory[1])), Array()):
        cuda.memset_d8(memory[0], 0, 16)
        function.prepared_call((1, 1), (4, 1, 1), memory[0], b, memory[2])
        cuda.memcpy_dtoh(out, memory[0])
        assert out.tolist() == [3] * 4
    for wrong in (None, "p", 1.5, np.float64(1), np.zeros(4), -1, 2**64, b"12345678", True):
        with pytest.raises(struct.error):
            function.prepared_call((1, 1), (4, 1, 1), memory[0], wrong, memory[2])
    memory[1].free()
    with pytest.raises(cuda.LogicError, match="was freed"):
        function.prepared_call((1, 1), (4, 1, 1), memory[0], memory[1], memory[2])


def test_wrong_counts(kernels):
    function = kernels.get_function("sum").prepare("PPP")
    for n in (0, 2, 4):
        with pytest.raises(struct.error, match="requires exactly 3 arguments"):
            function.prepared_call(*ONE, *[0] * n)
        with pytest.raises(struct.error, match="requires exactly 3 arguments"):
            function.prepared_async_call(*ONE, None, *[0] * n)
    for args in ((), ((1, 1),)):
        with pytest.raises(TypeError, match="grid, block"):
            function.prepared_call(*args)
    with pytest.raises(TypeError, match="stream"):
        function.prepared_async_call(*ONE)
    with pytest.raises(TypeError, match="unknown keyword arguments: foo"):
        function.prepared_call(*ONE, 0, 0, 0, foo=1)


def test_wrong_sizes(kernels):
    function = kernels.get_function("add_one").prepare("P")
    memory = cuda.to_device(np.zeros(4, np.int32))
    for grid, block in [
        ((1, 1, 1, 1), (1, 1, 1)),
        ((0, 1), (1, 1, 1)),
        ((1, 1), (0, 1, 1)),
        ((1, 1), (4096, 1, 1)),
        ((1, 2**20), (1, 1, 1)),
    ]:
        with pytest.raises(cuda.LogicError):
            function.prepared_call(grid, block, memory)
    with pytest.raises(TypeError):
        function.prepared_call((1, 1), memory, memory)


def test_async_call(kernels):
    function = kernels.get_function("add_one").prepare("P")
    memory = cuda.to_device(np.zeros(8, np.int32))
    stream = cuda.Stream()
    function.prepared_async_call((2, 1), (4, 1, 1), stream, memory)
    function.prepared_async_call((2, 1), (4, 1, 1), stream.handle, memory)
    stream.synchronize()
    function.prepared_async_call((2, 1), (4, 1, 1), None, memory)
    assert cuda.from_device(memory, 8, np.int32).tolist() == [3] * 8


def test_shared_size(kernels):
    function = kernels.get_function("reverse").prepare("P")
    memory = cuda.to_device(np.arange(8, dtype=np.int32))
    function.prepared_call((1, 1), (8, 1, 1), memory, shared_size=32)
    assert cuda.from_device(memory, 8, np.int32).tolist() == list(range(8))[::-1]
    function.prepared_async_call((1, 1), (8, 1, 1), None, memory, **{"shared" + "_size": 32})
    assert cuda.from_device(memory, 8, np.int32).tolist() == list(range(8))
    with pytest.raises(cuda.LogicError):
        function.prepared_call((1, 1), (8, 1, 1), memory, shared_size=2**30)
    with pytest.raises((OverflowError, ValueError)):
        function.prepared_call((1, 1), (8, 1, 1), memory, shared_size=-1)


def test_timed_call(kernels):
    function = kernels.get_function("add_one").prepare("P")
    memory = cuda.to_device(np.zeros(8, np.int32))
    timing = function.prepared_timed_call((2, 1), (4, 1, 1), memory)
    assert 0 <= timing() < 60
    assert timing() == timing()
    with pytest.raises(TypeError):
        timing(1)
    assert cuda.from_device(memory, 8, np.int32).tolist() == [1] * 8
    with pytest.raises(struct.error):
        function.prepared_timed_call((2, 1), (4, 1, 1))


def test_each_function_has_its_own_declaration(kernels):
    first, second = kernels.get_function("pair"), kernels.get_function("pair")
    first.prepare("P8s")
    second.prepare("Pii")
    assert call(first, np.int32, b"\1\0\0\0\2\0\0\0", n=2).tolist() == [1, 2]
    assert call(second, np.int32, 3, 4, n=2).tolist() == [3, 4]
    with pytest.raises(cuda.LogicError, match="texture references"):
        first.prepare("P8s", texrefs=[object()])
    first.prepare("P8s", texrefs=[])


def test_prepared_anew_meanwhile(kernels):
    """A launch ends with the declaration that it began with."""
    function = kernels.get_function("sum").prepare("PPP")
    memory = [cuda.to_device(np.full(4, i, np.float32)) for i in range(3)]

    class Sly:
        @property
        def gpudata(self):
            function.prepare("24s")
            return memory[1]

    function.prepared_call((1, 1), (4, 1, 1), memory[0], Sly(), memory[2])
    assert cuda.from_device(memory[0], 4, np.float32).tolist() == [3] * 4
    assert function.arg_format == "24s"


def test_nothing_leaks(kernels, balance):
    function = kernels.get_function("add_one").prepare("P")

    class Array:
        def __init__(self):
            self.gpudata = cuda.mem_alloc(64)

    for _ in range(3):
        cuda.memset_d8(Array().gpudata, 0, 64)
        function.prepared_call(*ONE, Array())
        function.prepared_timed_call(*ONE, Array())()
        with pytest.raises(struct.error):
            function.prepared_call(*ONE, Array(), Array())
    gc.collect()


@pytest.mark.parametrize("routine", ["cuLaunchKernel", "cuEventCreate", "cuEventRecord"])
def test_faults(kernels, balance, routine):
    function = kernels.get_function("add_one").prepare("P")
    memory = cuda.to_device(np.zeros(8, np.int32))
    for nth in (1, 2):
        _cuda._fault(routine, 719, nth=nth)
        try:
            if nth == 1 or routine != "cuLaunchKernel":
                with pytest.raises(cuda.LaunchError, match=routine):
                    function.prepared_timed_call(*ONE, memory)
        finally:
            _cuda._fault(None, 0)
    assert function.prepared_timed_call(*ONE, memory)() >= 0
