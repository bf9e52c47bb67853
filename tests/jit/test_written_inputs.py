"""Inputs of guvectorize that the function writes to: layouts without outputs, writable_args."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pygpu as cl
from pygpu._src.jit.decorators.written import written_parameters


def scale(x, by):
    for i in range(x.shape[0]):
        x[i] *= by[0]


def split(x, low, high):
    for i in range(x.shape[0]):
        low[i] = x[i] if x[i] < 0 else 0
        high[i] = x[i] if x[i] > 0 else 0


def test_layouts_without_outputs(make: Any) -> None:
    where = "opencl" if make.name == "opencl" else "parallel"
    scaled = cl.guvectorize("void(f8[:], f8[:])", "(n),()", target=where)(scale)
    assert (scaled.nin, scaled.nout, scaled.types) == (2, 0, ["dd->"])
    x = np.arange(12.0).reshape(2, 6)[:, ::2]  # with gaps
    want = x * [[2], [5]]
    assert scaled(x, [2, 5]) is None
    assert x.tolist() == want.tolist()

    device = make(np.arange(6.0).reshape(2, 3))
    scaled(device[:, ::-1], 3)
    assert device.get().tolist() == [[0, 3, 6], [9, 12, 15]]
    single = np.ones(3, "f4")
    scaled(single, 2)  # written is a copy in float64, as in Numba
    assert single.tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="input 0 is written, so it cannot be broadcast"):
        scaled(np.ones(3), [2, 5])
    with pytest.raises(TypeError, match="must be on the device"):
        scaled(np.ones(3), make(np.ones(1))[0:1].reshape(()))
    frozen = np.ones(3)
    frozen.flags.writeable = False
    scaled(frozen, 2)
    assert frozen.tolist() == [1, 1, 1]

    chosen = cl.guvectorize("void(f8[:], f8[:])", "(n),()", target=where, writable_args=("x",))(
        scale
    )
    chosen(single, 2)
    assert single.tolist() == [2, 2, 2]
    other = make(np.ones(3, "f4"))
    chosen(other, 4)
    assert other.get().tolist() == [4, 4, 4]
    with pytest.raises(TypeError, match="cannot cast the written input 0"):
        chosen(np.ones(3, int), 2)
    with pytest.raises(ValueError, match="read-only"):
        chosen(frozen, 2)


def test_inputs_beside_outputs(make: Any) -> None:
    where = "opencl" if make.name == "opencl" else "parallel"
    options = {"target": where, "writable_args": (1,)}
    made = cl.guvectorize("void(f8[:], f8[:], f8[:])", "(n),(n)->(n)", **options)(split)
    x, low = np.array([-1.0, 2, -3]), np.zeros(3)
    assert made(x, low).tolist() == [0, 2, 0]
    assert low.tolist() == [-1, 0, -3]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ((0, 1, 1), ValueError),
        ((2,), ValueError),
        ((-1,), ValueError),
        (("z",), RuntimeError),
    ],
)
def test_wrong_writable_args_are_refused(given: Any, error: Any) -> None:
    with pytest.raises(error, match="writable_args"):
        cl.guvectorize("void(f8[:], f8[:])", "(n),()", writable_args=given)(scale)
    with pytest.raises(TypeError, match="cuda"):
        cl.guvectorize("(n),()", target="cuda", writable_args=(0,))(scale)


def test_which_parameters_may_be_written() -> None:
    def function(a, b, c, d, e, f):  # type: ignore[no-untyped-def]
        a[0] = b[0] + b.shape[0]
        c += 1
        row = d[0]
        row[0] = 5
        e[0, 1] += f[0, 1]

    assert written_parameters(function, (1, 1, 1, 2, 2, 2)) == {0, 2, 3, 4}
