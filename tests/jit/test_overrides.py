"""Arguments of ufuncs with an __array_ufunc__ of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pygpu


class Metres:
    """A number with a unit."""

    def __init__(self, items: Any) -> None:
        self.items = items

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **options: Any) -> Any:
        if any(isinstance(a, str) for a in args):
            return NotImplemented
        out = options.pop("out", None)
        found = ufunc(*(a.items if isinstance(a, Metres) else a for a in args), **options)
        return Metres(found), method, out


class Left(Metres):
    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **options: Any) -> Any:
        return "left"


class Closed:
    __array_ufunc__ = None


@pygpu.vectorize(target="cuda")
def add(a, b):
    return a + b


@pygpu.guvectorize("void(f8[:], f8, f8[:])", "(n),()->(n)", target="cuda")
def shift(x, by, out):
    for i in range(x.shape[0]):
        out[i] = x[i] + by


@pytest.mark.usefixtures("cuda_context")
def test_operands_decide_what_a_call_does() -> None:
    items = np.arange(3.0)
    for function in (add, shift):
        found, method, out = function(Metres(items), 2.0)
        assert (method, out, found.items.tolist()) == ("__call__", None, [2, 3, 4])
        into = np.zeros(3)
        assert function(items, Metres(2.0), out=into)[2] == (into,)
        assert function(items, 2.0, Metres(into))[2][0].items is into
        # Subclasses first; otherwise from left to right.
        assert function(Metres(items), Left(items)) == "left"
        with pytest.raises(TypeError, match="not implemented for operands of type Metres"):
            function(Metres(items), "x")
        with pytest.raises(TypeError, match="Closed does not support ufuncs"):
            function(items, Closed())


class Plain(np.ndarray):
    """An array with NumPy's own __array_ufunc__."""


@pytest.mark.usefixtures("cuda_context")
def test_subclasses_of_arrays_are_arrays() -> None:
    assert add(np.arange(2.0).view(Plain), 1).tolist() == [1, 2]
