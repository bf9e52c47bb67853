"""bfloat16 in kernels: operations and conversions by name, the type in signatures, what kernels
print."""

from __future__ import annotations

import importlib
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import cuda

ml_dtypes: Any = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
bf16: Any = importlib.import_module("pygpu.cuda.bf16")  # after ml_dtypes, which it needs
BF = ml_dtypes.bfloat16
A = np.array([1, -2, 3.5, 0.25, 3e38, np.nan, -0.0, 1e-7, np.inf, -0.5], BF)
B = np.array([2, 3, -1.5, 0.25, 3e38, 1, 0.0, 0.5, 1, np.nan], BF)


@pygpu.kernel
def arithmetic(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        x, y = a[i], b[i]
        out[0, i] = bf16.hadd(x, y)
        out[1, i] = bf16.hsub_rn(x, y)
        out[2, i] = bf16.hmul(x, y)
        out[3, i] = bf16.hdiv(x, y)
        out[4, i] = bf16.hadd_sat(x, y)
        out[5, i] = bf16.hmul_sat(x, y)
        out[6, i] = bf16.hmax(x, y)
        out[7, i] = bf16.hmin_nan(x, y)
        out[8, i] = bf16.hne(x, y)
        out[9, i] = bf16.hneu(x, y)
        out[10, i] = bf16.hequ(x, y)
        out[11, i] = bf16.hgtu(x, y)
        out[12, i] = bf16.hle(x, y)
        out[13, i] = bf16.hisinf(-x)
        out[14, i] = bf16.hrint(x)
        out[15, i] = bf16.htanh(y)
        out[16, i] = bf16.hexp10(y)
        out[17, i] = bf16.hfma_relu(x, y, 0)
        out[18, i] = bf16.bfloat16_as_int16(x)
        out[19, i] = bf16.hadd(x, 0.1)  # a Python number is one of bfloat16


def test_arithmetic(make: Any) -> None:
    out = make(np.zeros((20, A.size), np.float32))
    arithmetic[1, 32](make(A), make(B), out)
    a, b = A.astype("f4"), B.astype("f4")
    with np.errstate(all="ignore"):
        unordered = np.isnan(a) | np.isnan(b)
        right = [
            *(a + b, a - b, a * b, a / b),
            *(np.nan_to_num(np.clip(x, 0, 1)) for x in (a + b, a * b)),
            *(np.fmax(a, b), np.minimum(a, b)),
            *((a < b) | (a > b), a != b, (a == b) | unordered, (a > b) | unordered, a <= b),
            *(np.where(np.isinf(a), -np.sign(a), 0), np.rint(a), np.tanh(b), 10**b),
            *(np.where(a * b < 0, 0, a * b), A.view("i2"), A + BF(0.1)),
        ]
    for n, (mine, row) in enumerate(zip(out.get(), right)):
        row = row.astype("f4") if n == 18 else row.astype(BF).astype("f4")
        near = {"rtol": 8e-3 if n in (15, 16) else 0, "atol": 0, "equal_nan": True}
        assert np.allclose(mine, row, **near), (n, mine, row)


@pygpu.kernel
def fused(a, b, c, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = bf16.hfma(a[i], b[i], c[i])


@pygpu.kernel
def fused_halves(a, b, c, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = cuda.fp16.hfma(a[i], b[i], c[i])


@pytest.mark.parametrize(("kernel", "dtype", "bits"), [(fused, BF, 8), (fused_halves, "f2", 11)])
def test_fused_products_are_rounded_once(make: Any, kernel: Any, dtype: Any, bits: int) -> None:
    # 1 + 2**-bits is a tie, which the least addend decides.
    half = 2.0 ** -(bits // 2)
    a, b = np.array([1 + half] * 4, dtype), np.array([half, half, -half, 1], dtype)
    c = np.array([1, 2.0**-14, 1, -(2.0**-14)], dtype)
    exact = [
        Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)) for x, y, z in zip(a, b, c)
    ]
    out = make(np.zeros(4, "f4"))
    kernel[1, 32](make(a), make(b), make(c), out)
    assert out.get().tolist() == [rounded(x, "rn", bits) for x in exact]


def rounded(x: Fraction, way: str, bits: int = 8) -> float:
    """A number rounded to so many bits, by exact arithmetic."""
    if x == 0:
        return 0.0
    exponent = x.numerator.bit_length() - x.denominator.bit_length()
    exponent += abs(x) >= Fraction(2) ** exponent
    unit = Fraction(2) ** (exponent - bits)
    whole = x / unit
    found = {"rn": round, "rz": math.trunc, "rd": math.floor, "ru": math.ceil}[way](whole)
    return float(found * unit)


@pygpu.kernel
def from_numbers(f, n, u, out):
    i = cuda.grid(1)
    if i < f.size:
        out[0, i] = bf16.float32_to_bfloat16_rn(f[i])
        out[1, i] = bf16.float32_to_bfloat16_rz(f[i])
        out[2, i] = bf16.float32_to_bfloat16_rd(f[i])
        out[3, i] = bf16.float32_to_bfloat16_ru(f[i])
        out[4, i] = bf16.int64_to_bfloat16_rn(n[i])
        out[5, i] = bf16.int64_to_bfloat16_rz(n[i])
        out[6, i] = bf16.int64_to_bfloat16_rd(n[i])
        out[7, i] = bf16.int64_to_bfloat16_ru(n[i])
        out[8, i] = bf16.uint64_to_bfloat16_rn(u[i])
        out[9, i] = bf16.uint64_to_bfloat16_ru(u[i])


def test_conversions_to_bfloat16(make: Any) -> None:
    f = np.array([1.00390625, 1.0039063, -1.00390625, -3.3, 0, 1e-30, 7e20], "f4")
    # Ties of 8 bits, one of which float32 does not see; the ends of the range.
    n = np.array([257, 259, (257 << 50) + 1, -(257 << 50) - 1, -(2**63), 2**63 - 1, 0])
    u = np.array([257, 259, (257 << 50) + 1, 2**64 - 1, 1, 2**63 + 2**55, 0], "u8")
    out = make(np.zeros((10, 7), "f4"))
    from_numbers[1, 32](make(f), make(n), make(u), out)
    ways = ("rn", "rz", "rd", "ru")
    right = [[rounded(Fraction(float(x)), way) for x in f] for way in ways]
    right += [[rounded(Fraction(int(x)), way) for x in n] for way in ways]
    right += [[rounded(Fraction(int(x)), way) for x in u] for way in ("rn", "ru")]
    assert out.get().tolist() == right


@pygpu.kernel
def to_numbers(a, out, unsigned):
    i = cuda.grid(1)
    if i < a.size:
        out[0, i] = bf16.bfloat16_to_int32_rn(a[i])
        out[1, i] = bf16.bfloat16_to_int16_rd(a[i])
        out[2, i] = bf16.bfloat16_to_int8_rz(a[i])
        out[3, i] = bf16.bfloat16_to_int64_ru(a[i])
        unsigned[0, i] = bf16.bfloat16_to_uint32_rn(a[i])
        unsigned[1, i] = bf16.bfloat16_to_uint64_ru(a[i])
        unsigned[2, i] = bf16.bfloat16_to_uint8_rz(a[i])


def test_conversions_to_integers(make: Any) -> None:
    a = np.array([2.5, -1.5, 200, 1e30, -1e30, np.inf, np.nan], BF)
    out, unsigned = make(np.zeros((4, 7), "i8")), make(np.zeros((3, 7), "u8"))
    to_numbers[1, 32](make(a), out, unsigned)
    large, least, most = 2**31 - 1, -(2**63), 2**63 - 1
    assert out.get().tolist() == [
        [2, -2, 200, large, -large - 1, large, 0],
        [2, -2, 200, 32767, -32768, 32767, 0],
        [2, -1, 127, 127, -128, 127, 0],
        [3, -1, 200, most, least, most, least],
    ]
    assert unsigned.get().tolist() == [
        [2, 0, 200, 2**32 - 1, 0, 2**32 - 1, 0],
        [3, 0, 200, 2**64 - 1, 0, 2**64 - 1, 2**63],
        [2, 0, 200, 255, 0, 255, 0],
    ]


def test_numbers_of_float64_are_rounded_once() -> None:
    def convert(x):
        return bf16.float64_to_bfloat16(x)

    @pygpu.kernel
    def run(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = convert(x[i])

    x = np.array([1.00390625 + 2**-40, 1.00390625, -1e300, 1e-300, np.nan])
    out = np.zeros(5, "f4")
    run[1, 32](x, out)
    assert np.array_equal(out, np.array([1.0078125, 1, -np.inf, 0, np.nan], "f4"), equal_nan=True)


def test_signatures_and_shared_memory() -> None:
    @cuda.jit("void(bfloat16[:], bfloat16)")
    def scaled(a, factor):
        tile = cuda.shared.array(4, bf16.bfloat16)
        i = cuda.threadIdx.x
        tile[i] = a[i] * factor
        cuda.syncthreads()
        a[i] = tile[3 - i] + bf16.bfloat16(1)

    a = np.arange(4).astype(BF)
    scaled[1, 4](a, BF(0.5))
    assert a.astype("f4").tolist() == [2.5, 2, 1.5, 1]


class Exported:
    """An array of a library that exports bfloat16 as bytes."""

    def __init__(self, array: Any) -> None:
        self.array, self.dtype = array, array.dtype

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        found: dict[str, Any] = self.array.__cuda_array_interface__
        return {**found, "typestr": "|V2", "descr": [("", "|V2")]}


def test_arrays_of_other_libraries(cuda_context: Any) -> None:
    @cuda.jit
    def halved(a, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = a[i] / 2

    a, out = cuda.to_device(np.arange(4).astype(BF)), np.zeros(4, "f4")
    halved[1, 4](Exported(a), out)
    assert out.tolist() == [0, 0.5, 1, 1.5]


def test_print(capfd: Any) -> None:
    @cuda.jit
    def show(a):
        print(a[0], a[0].item())

    show[1, 1](np.array([0.9375], BF))
    cuda.synchronize()
    assert capfd.readouterr().out.split() == ["0.9375", "0.9375"]


def test_wrong_arguments_of_bf16_are_refused() -> None:
    def wrong(x):
        return bf16.hadd(x)

    with pytest.raises(pygpu.KernelError, match=r"bf16\.hadd\(\) takes 2 arguments, 1 given"):
        pygpu.pykernel.compile_function(wrong, [np.float32])

    def turned(x):
        return bf16.int64_to_bfloat16_rn(x)

    assert pygpu.pykernel.compile_function(turned, [np.int8]).return_types == (np.dtype(BF),)
    with pytest.raises(pygpu.KernelError, match="real numbers"):
        pygpu.pykernel.compile_function(turned, [np.complex64])
