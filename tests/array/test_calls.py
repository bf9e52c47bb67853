"""Calls that are launched without Python: what they ask of the driver, when they must not be taken.

Results of operations are tested elsewhere; here each is called again and again, with operands that
the first call was not remembered for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pygpu import _array
from pygpu._src.array import sort
from pygpu._src.array.routines import joining as functions

A = np.arange(24, dtype=np.float32).reshape(4, 6) - 7


def operations(make: Any) -> dict[str, tuple[Callable[[], Any], int]]:
    """(call, launches at most) by name."""
    a, b, double = make(A), make(A[::-1].copy()), make(A.astype("f8"))
    out, mask, column = make(A), make(A > 0), make(A[:, :1].copy())
    big = make(np.ones(100000, np.float32))
    return {
        "add": (lambda: a + b, 1),
        "in place": (lambda: a.__iadd__(1), 1),
        "out": (lambda: np.add(a, b, out=out), 1),
        "dtypes": (lambda: a + double, 1),
        "broadcast": (lambda: a + column, 1),
        "strided": (lambda: a[:, ::2] * b[:, 1::2], 1),
        "transposed": (lambda: a.T + 1, 1),
        "exp": (lambda: np.exp(a), 1),
        "where": (lambda: functions.choose("where", mask, a, b), 1),
        "masked ufunc": (lambda: np.add(a, b, out=out, where=mask), 1),
        "power": (lambda: a**2, 1),
        "fill": (lambda: out.fill(2), 1),
        "set": (lambda: out.__setitem__((slice(None), 1), 3), 1),
        "astype": (lambda: a.astype(np.int32), 1),
        "sum": (lambda: big.sum(), 2),
        "sum of rows": (lambda: a.sum(1), 2),
        "sum of columns": (lambda: a.sum(0, keepdims=True), 2),
        "max of both": (lambda: a.max((0, 1)), 2),
        "argmin": (lambda: a.argmin(), 2),
        "var": (lambda: a.var(axis=0), 2),
        "all": (lambda: mask.all(), 2),
        "dot": (lambda: big.dot(big), 2),
        "cumsum": (lambda: a.cumsum(1), 2),
        "sort": (lambda: sort.sort(a), 1),
        "argsort": (lambda: sort.argsort(a, 1), 1),
        "matmul": (lambda: a @ b.T, 1),
        "set where": (lambda: out.__setitem__(mask, 2), 1),
        "concatenate": (lambda: functions.concatenate([a, b], 1), 2),
    }


@pytest.mark.usefixtures("unfused")
def test_launches_and_no_copies(make):
    for name, (call, most) in operations(make).items():
        call(), call()  # compiled now, and remembered
        launches, copies = make.calls(call)
        assert 1 <= launches <= most, name
        assert not copies, name


def test_a_mask_copies_its_count_only(make):
    a, mask = make(A), make(A > 0)
    assert (a[mask].get() == A[A > 0]).all()
    got = []
    _, copies = make.calls(lambda: got.append(a[mask]))
    assert got[0].size == (A > 0).sum()
    assert len(copies) == 1
    if make.name == "opencl":
        assert copies == ["clEnqueueReadBuffer"]


def test_the_second_call_needs_no_python(make, monkeypatch):
    from pygpu._src.array import ufuncs

    make(np.zeros((4, 6), np.int16)).fill(2)  # the same number, of another type
    runs = operations(make)
    for call, _ in runs.values():
        call()
        call()

    def fail(*args: Any, **options: Any) -> Any:
        raise AssertionError("not remembered")

    monkeypatch.setattr(ufuncs, "resolve", fail)
    monkeypatch.setattr("pygpu._src.array.reduction._result_dtypes", fail)
    monkeypatch.setattr("pygpu._src.array.elementwise.prepare", fail)
    for name, (call, _) in runs.items():
        if name not in ("masked ufunc", "cumsum"):
            call()


def test_a_layout_seen_once_does_not_fix_later_ones(make):
    """The same operation, other shapes, strides, dtypes, offsets."""
    for host in (A, A.T, A[::-1], A[:, ::2], A[1:], A.ravel()[1:], A[:0], A[0, 0], A.astype("f8")):
        other = np.ascontiguousarray(host)[..., :1] if host.ndim else host
        for _ in range(3):
            x, y = make(A), make(other)
            view = {id(A): x}.get(id(host))
            if view is None:
                view = make(host)
            assert ((view + y).get() == host + other).all()
            assert (view * 2).get().tolist() == (host * 2).tolist()
            assert view.sum().get() == pytest.approx(host.sum())
    x = make(A)
    for part in (np.s_[1:], np.s_[:, 1:], np.s_[::-1], np.s_[::2, ::-2], np.s_[1:2, 1:2]):
        for _ in range(2):
            assert ((x[part] + 1).get() == A[part] + 1).all()
            assert (x[part].sum(0).get() == A[part].sum(0)).all()


def test_overlapping_outputs_are_read_first(make):
    for _ in range(3):
        x, host = make(np.arange(10, dtype=np.float32)), np.arange(10, dtype=np.float32)
        np.add(x[:-1], 1, out=x[1:])
        np.add(host[:-1], 1, out=host[1:])
        assert (x.get() == host).all()
        np.multiply(x, x, out=x)
        np.multiply(host, host, out=host)
        assert (x.get() == host).all()
        x[::-1].__iadd__(x)
        host[::-1].__iadd__(host)
        assert (x.get() == host).all()
        y = x[2:]
        y += x[:8]
        host[2:] += host[:8].copy()
        assert (x.get() == host).all()


def test_numbers_that_do_not_fit(make):
    x = make(np.arange(5, dtype=np.int8))
    for _ in range(2):
        assert ((x + 3).get() == np.arange(5) + 3).all()
        with pytest.raises(OverflowError):
            x + 300
        assert (x < 300).get().all() and not (x == 300).get().any()
        assert ((x + np.int64(300)).get() == np.arange(5) + 300).all()
        assert (x + 0.5).dtype == np.float64
        assert (x + True).dtype == np.int8
    half = make(np.float16([1, 2]))
    for _ in range(2):
        assert ((half + 1e-4).get() == np.float16([1, 2]) + 1e-4).all()
        assert (half * np.float64(2)).dtype == np.float64


def test_an_out_of_another_dtype_or_shape(make):
    x, y = make(A), make(A)
    for _ in range(2):
        wide, whole = make(np.zeros((4, 6))), make(np.zeros((4, 6), np.int32))
        np.add(x, y, out=wide)
        assert (wide.get() == 2 * A).all()
        with pytest.raises(TypeError):
            np.add(x, y, out=whole)
        with pytest.raises(ValueError):
            np.add(x, y, out=make(A[:2]))
        three = make(np.zeros((3, 4, 6), np.float32))
        np.add(x, y, out=three)
        assert (three.get() == 2 * A).all()


def test_reductions_that_differ_in_their_options(make):
    x = make(A)
    for _ in range(2):
        assert x.sum(1).shape == (4,) and x.sum(1, keepdims=True).shape == (4, 1)
        assert x.sum(-1).shape == (4,) and x.sum((0, 1)).shape == ()
        assert x.sum(0, keepdims=np.True_).shape == (1, 6)
        assert x.sum(dtype=np.float64).dtype == np.float64
        assert float(x.sum(initial=5).get()) == A.sum() + 5
        assert float(x.var(ddof=1).get()) == pytest.approx(A.var(ddof=1))
        assert float(x.var().get()) == pytest.approx(A.var())
        with pytest.raises(np.exceptions.AxisError):
            x.sum(2)


def test_plans_are_forgotten_when_there_are_many(make):
    """Ever new shapes do not fill the memory."""
    plans = make(A).backend.table.plans
    x = make(np.arange(3000, dtype=np.float32))
    x.sum()
    for n in range(1, 2600):
        plans.add("test", n, (x,), None, None, ())
    assert 0 < len(plans) <= 2048
    assert float(x[:5].sum().get()) == 10


def test_what_add_refuses(make):
    x = make(A)
    plans, step = x.backend.table.plans, (None, (), (), (0,), (), False)
    with pytest.raises(ValueError, match="no operand"):
        plans.add("test", 0, (x,), None, None, ((None, (), (), (1,), (), False),))
    with pytest.raises(ValueError, match="no operand"):
        plans.add("test", 0, (x,), None, None, ((None, (), (), (-2,), (), False),))
    with pytest.raises(TypeError):
        plans.add("test", 0, (x,), None, None, (1,))
    with pytest.raises(TypeError):
        plans.add("test", 0, (x,), 5, None, (step,))
    with pytest.raises(TypeError):
        plans.add("test", 0, (x,), None, None, (step, step, step))
    with pytest.raises(ValueError, match="written"):
        plans.add("test", 0, (x, 2), None, None, (step,), (), (1,))
    assert plans.add("test", 0, (x, "a"), None, None, (step,)) is False
    assert plans.add("test", 0, (2,), None, None, ()) is False
    x._foreign = True
    assert plans.add("test", 0, (x,), None, None, ()) is False
    for wrong in (("add", (64,)), ("add", ()), ("add", (1,) * 9), ("add", 5)):
        with pytest.raises((TypeError, ValueError)):
            x.backend.table.add(*wrong, None, x.dtype, 1, 1, 1)
    with pytest.raises(TypeError):
        _array._call("add", x, x, where=x)
    assert _array._call("add") is None and _array._call("add", 1, 2) is None
    assert _array._call("no such", x, x) is None
