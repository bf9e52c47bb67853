"""Ufuncs that one program has on CPUs, where the time to build a program hardly depends on how many
kernels it has."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import pygpu as cl
import pygpu.array
from pygpu._src.codegen.ufunc_loops import expression, related


@pytest.fixture
def counted(device, monkeypatch):
    """A queue of a new context, and a list that gets each source that its backend compiles."""
    if not device.type & cl.device_type.CPU:
        pytest.skip("kernels are compiled together only on an OpenCL device that is a CPU")
    queue = cl.CommandQueue(cl.Context([device]))
    backend = pygpu.array.zeros(queue, 1, np.int8).backend
    sources: list[str] = []

    def compiled(text, *more):
        sources.append(text)
        return type(backend).compile(backend, text, *more)

    monkeypatch.setattr(backend, "compile", compiled)
    return queue, sources


def _numbers(dtype, n=7):
    found = np.arange(1, n + 1).astype(dtype)
    return found + 1j * found[::-1] if found.dtype.kind == "c" else found


@pytest.mark.parametrize(("dtype", "programs"), [("complex64", 1), ("float32", 1), ("int32", 2)])
def test_arithmetic_is_one_program(counted, dtype, programs):
    queue, sources = counted
    x, y = _numbers(dtype), _numbers(dtype)[::-1].copy()
    a, b = pygpu.array.to_device(queue, x), pygpu.array.to_device(queue, y)
    for function in (operator.mul, operator.add, operator.truediv, operator.sub):
        result = function(a, b)
        assert result.dtype == function(x, y).dtype
        assert np.allclose(result.get(), function(x, y), rtol=1e-6)
    assert len(sources) == programs  # integers are divided as float64
    assert np.allclose((a[::2] - b[::2]).get(), x[::2] - y[::2])  # strided: a kernel of its own
    assert np.allclose((a[::2] * b[::2]).get(), x[::2] * y[::2])
    assert len(sources) == programs + 1


def test_operands_of_other_kinds(counted):
    queue, sources = counted
    x, r = _numbers("complex64"), np.linspace(1, 2, 7, dtype=np.float32)
    a, b = pygpu.array.to_device(queue, x), pygpu.array.to_device(queue, r)
    for value, expected in (
        (lambda: a * b, x * r),
        (lambda: a / b, x / r),
        (lambda: 3 - a, 3 - x),
        (lambda: 2 / a, 2 / x),
    ):
        assert np.allclose(value().get(), expected, rtol=1e-6)
    assert len(sources) == 2
    for value, expected in (
        (lambda: -a, -x),
        (lambda: abs(a), abs(x)),
        (lambda: a.conj(), x.conj()),
    ):
        result = value()
        assert result.dtype == expected.dtype
        assert np.allclose(result.get(), expected, rtol=1e-6)
    assert len(sources) == 3


def test_result_of_another_dtype_has_its_own_program(counted):
    queue, sources = counted
    a = pygpu.array.to_device(queue, _numbers("float32"))
    out = pygpu.array.zeros(queue, 7, np.float64)
    sources.clear()
    np.add(a, a, out=out)
    assert np.array_equal(out.get(), 2 * _numbers("float32"))
    np.subtract(a, a, out=out)
    assert np.array_equal(out.get(), np.zeros(7))
    assert len(sources) == 2


def test_only_loops_of_ufuncs_are_related():
    body, _ = expression("add", ("f32", "f32"))
    assert [name for name, *_ in related("add", ("f32", "f32"), body)] == [
        "subtract",
        "multiply",
        "true_divide",
    ]
    assert related("add", ("f32", "f32"), "y0 = x0 + x1 + 1;") == []
    assert related("exp", ("f32",), expression("exp", ("f32",))[0]) == []
    assert related("add", ("f16", "f16"), expression("add", ("f16", "f16"))[0]) == []
