"""NumPy's functions and methods of arrays in kernels: reductions, new arrays, views."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import cuda
from pygpu._src.jit.types import ArrayType
from pygpu.pykernel import KernelError, compile_function

NAMES = (
    "sum prod mean var std min max ptp argmin argmax all any count_nonzero nansum nanprod nanmean "
    "nanvar nanstd nanmin nanmax"
).split()
ARRAYS = {
    "float32": np.array([[1.5, 2, -3], [4, 0, 9]], np.float32),
    "strided int16": np.arange(-7, 17, dtype=np.int16).reshape(4, 6)[::2, 1::2],
    "nan": np.array([4, np.nan, 3, np.nan, -2], np.float64),
}


@pygpu.kernel
def reduce_all(a, o):
    o[0] = np.sum(a)
    o[1] = np.prod(a)
    o[2] = a.mean()
    o[3] = np.var(a)
    o[4] = a.std()
    o[5] = a.min()
    o[6] = np.max(a)
    o[7] = np.ptp(a)
    o[8] = a.argmin()
    o[9] = np.argmax(a)
    o[10] = np.all(a)
    o[11] = a.any()
    o[12] = np.count_nonzero(a)
    o[13] = np.nansum(a)
    o[14] = np.nanprod(a)
    o[15] = np.nanmean(a)
    o[16] = np.nanvar(a)
    o[17] = np.nanstd(a)
    o[18] = np.nanmin(a)
    o[19] = np.nanmax(a)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ARRAYS)
def test_reductions_are_numpys(make: Any, name: str) -> None:
    a, out = ARRAYS[name], make(np.zeros(len(NAMES)))
    base = make(np.ascontiguousarray(a))
    if name.startswith("strided"):
        base = make(np.arange(-7, 17, dtype=np.int16).reshape(4, 6))[::2, 1::2]
    reduce_all[1, 1](base, out)
    np.testing.assert_allclose(out.get(), [getattr(np, n)(a) for n in NAMES], rtol=1e-5)


@pytest.mark.parametrize(
    "dtype, name", [("f4", "sum"), ("i2", "sum"), ("u1", "prod"), ("i4", "mean")]
)
def test_results_have_numpys_dtype(dtype: str, name: str) -> None:
    reduction = getattr(np, name)
    made = compile_function(lambda a: reduction(a), [ArrayType(np.dtype(dtype), 1)])
    assert made.return_types == (reduction(np.ones(2, dtype)).dtype,)


SPECIAL = np.array([-np.inf, 3, np.nan], np.float32)


def test_new_arrays_and_views(make: Any) -> None:
    @pygpu.kernel
    def build(o, z, n):
        a = np.zeros(3)
        a[1] = 2
        b = np.full((2, 3), np.float32(1.5))
        flat = b.reshape(-1)
        flat[0] = 7  # seen by b
        other = b.copy()
        other[0, 1] = -1  # not seen by b
        o[0] = np.dot(a, a)
        o[1] = b[0, 0] + b[0, 1]
        o[2] = other.sum()
        o[3] = np.ones_like(b).sum()
        for i, x in enumerate(b.T.flat):
            o[4] += i * x
        shared = cuda.shared.array(4, np.int32)
        shared.fill(3)
        o[5] = sum(shared) + max(shared)
        o[6] = z.real.sum()
        o[7] = z.imag[1]
        o[8] = any((0, o[0])) and not all((1, n - n))
        o[9] = z.reshape(n, 2)[1, 0].real
        o[10] = z.reshape(n, 3).size  # not as many items: a view of nothing
        o[11] = z.reshape(n, n - 3).shape[1]
        o[12] = np.nanmax(SPECIAL)

    out = make(np.zeros(13))
    build[1, 1](out, make(np.array([1 + 2j, 3 + 4j, 5, 6])), 2)
    assert out.get().tolist() == [4, 8.5, 12, 6, 22.5, 15, 15, 4, 1, 5, 0, 2, 3]


def over_an_axis(a):
    return a.sum(axis=0)


def of_another_size(a):
    return np.zeros(4).reshape(3, 2)[0, 0]


def of_unknown_shape(a):
    return a.copy()[0]


@pytest.mark.parametrize(
    "function, message",
    [
        (over_an_axis, "reduces all of it"),
        (of_another_size, "cannot reshape 4 items"),
        (of_unknown_shape, "must be constant"),
    ],
)
def test_axes_and_shapes_that_do_not_fit_are_refused(function: Any, message: str) -> None:
    with pytest.raises(KernelError) as caught:
        compile_function(function, [ArrayType(np.dtype("f4"), 1)])
    assert message in str(caught.value)
