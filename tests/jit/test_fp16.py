"""Operations on float16 by name, against NumPy's float16."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import cuda

A = np.array([1, -2, 3.5, 0.25, 6e4, np.nan, -0.0, 1e-7], np.float16)
B = np.array([2, 3, -1.5, 4, 2, 1, 0.0, 0.5], np.float16)


@pygpu.kernel
def every(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        x, y = a[i], b[i]
        fp16 = cuda.fp16
        out[0, i] = fp16.hadd(x, y)
        out[1, i] = fp16.hsub(x, y)
        out[2, i] = fp16.hmul(x, y)
        out[3, i] = fp16.hdiv(x, y)
        out[4, i] = fp16.hfma(x, y, x)
        out[5, i] = fp16.hneg(x)
        out[6, i] = fp16.habs(x)
        out[7, i] = fp16.hmax(x, y)
        out[8, i] = fp16.hmin(x, y)
        out[9, i] = fp16.hsqrt(y)
        out[10, i] = fp16.hexp(y)
        out[11, i] = fp16.hfloor(x)
        out[12, i] = fp16.hceil(x)
        out[13, i] = fp16.hrint(x)
        out[14, i] = fp16.htrunc(x)
        out[15, i] = fp16.hgt(x, y)
        out[16, i] = fp16.hge(x, y)
        out[17, i] = fp16.hlt(x, y)
        out[18, i] = fp16.hle(x, y)
        out[19, i] = fp16.heq(x, y)
        out[20, i] = fp16.hne(x, y)
        out[21, i] = fp16.hrcp(x)
        out[22, i] = fp16.hexp10(y)
        out[23, i] = fp16.hadd(x, 0.1)  # a Python number is one of float16


def test_every_function_of_fp16_against_numpy(make: Any) -> None:
    out = make(np.zeros((24, A.size), np.float16))
    every[1, 32](make(A), make(B), out)
    a, b = A, B
    with np.errstate(all="ignore"):
        fma = np.float16(a.astype("f8") * b.astype("f8") + a)
        right = [
            *(a + b, a - b, a * b, a / b, fma, -a, abs(a), np.fmax(a, b), np.fmin(a, b)),
            *(np.sqrt(b), np.exp(b), np.floor(a), np.ceil(a), np.rint(a), np.trunc(a)),
            *(a > b, a >= b, a < b, a <= b, a == b, (a < b) | (a > b), 1 / a, np.float16(10) ** b),
            a + np.float16(0.1),
        ]
    for n, (mine, row) in enumerate(zip(out.get(), np.array(right, np.float16))):
        exact = n not in (3, 10, 21, 22)
        near = {"rtol": 0 if exact else 2e-3, "atol": 0, "equal_nan": True}
        assert np.allclose(mine, row, **near), (n, mine, row)


def test_wrong_arguments_of_fp16_are_refused() -> None:
    def wrong(x):
        return cuda.fp16.hadd(x)

    with pytest.raises(pygpu.KernelError, match=r"fp16\.hadd\(\) takes 2 arguments, 1 given"):
        pygpu.pykernel.compile_function(wrong, [np.float16])

    def turned(x):
        return cuda.fp16.hneg(x)

    assert pygpu.pykernel.compile_function(turned, [np.int64]).return_types == (np.dtype("f2"),)
    with pytest.raises(pygpu.KernelError, match="real numbers"):
        pygpu.pykernel.compile_function(turned, [np.complex64])
