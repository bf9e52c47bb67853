"""Reductions of arrays in kernels: one thread reads all items sequentially.

They are written in the kernel language itself. A kernel may use any array: global, shared,
thread-private, or constant. Where NumPy raises for an empty array (its minimum), the result is 0.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes

from ..ir import Value
from ..walk.calls import call_function
from ..walk.constants import constant
from ..walk.context import FunctionContext
from ..walk.conversions import dtype_of
from ..walk.registry import HANDLERS, Args, Handler, Kwargs, WrongCall, handles


def total(a: Any, dtype: Any) -> Any:
    found = dtype(0)
    for x in a.flat:
        found += x
    return found


def product(a: Any, dtype: Any) -> Any:
    found = dtype(1)
    for x in a.flat:
        found *= x
    return found


def nan_total(a: Any, dtype: Any) -> Any:
    found = dtype(0)
    for x in a.flat:
        if x == x:
            found += x
    return found


def nan_product(a: Any, dtype: Any) -> Any:
    found = dtype(1)
    for x in a.flat:
        if x == x:
            found *= x
    return found


def mean(a: Any, dtype: Any) -> Any:
    return total(a, dtype) / a.size


def nan_count(a: Any) -> Any:
    found = 0
    for x in a.flat:
        if x == x:
            found += 1
    return found


def nan_mean(a: Any, dtype: Any) -> Any:
    return nan_total(a, dtype) / dtype(nan_count(a))


def variance(a: Any, dtype: Any, ddof: Any = 0) -> Any:
    middle = mean(a, dtype)
    found = middle.real * 0
    for x in a.flat:
        far = x - middle
        found += (far * np.conjugate(far)).real
    return found / max(a.size - ddof, 0)


def deviation(a: Any, dtype: Any, ddof: Any = 0) -> Any:
    return np.sqrt(variance(a, dtype, ddof))


def nan_variance(a: Any, dtype: Any, ddof: Any = 0) -> Any:
    middle = nan_mean(a, dtype)
    found = middle.real * 0
    for x in a.flat:
        if x == x:
            far = x - middle
            found += (far * np.conjugate(far)).real
    return found / (middle.real * 0 + 1) / max(nan_count(a) - ddof, 0)


def nan_deviation(a: Any, dtype: Any, ddof: Any = 0) -> Any:
    return np.sqrt(nan_variance(a, dtype, ddof))


def least(a: Any) -> Any:
    found = a.dtype(0)
    first = True
    for x in a.flat:
        found = x if first else np.minimum(found, x)
        first = False
    return found


def greatest(a: Any) -> Any:
    found = a.dtype(0)
    first = True
    for x in a.flat:
        found = x if first else np.maximum(found, x)
        first = False
    return found


def nan_least(a: Any) -> Any:
    found = a.dtype(0)
    first = True
    for x in a.flat:
        found = x if first else np.fmin(found, x)
        first = False
    return found


def nan_greatest(a: Any) -> Any:
    found = a.dtype(0)
    first = True
    for x in a.flat:
        found = x if first else np.fmax(found, x)
        first = False
    return found


def peak_to_peak(a: Any) -> Any:
    return greatest(a) - least(a)


def index_of_least(a: Any) -> Any:
    found = a.dtype(0)
    index = 0
    for i, x in enumerate(a.flat):
        if i == 0 or (found == found and not x >= found):
            found = x
            index = i
    return index


def index_of_greatest(a: Any) -> Any:
    found = a.dtype(0)
    index = 0
    for i, x in enumerate(a.flat):
        if i == 0 or (found == found and not x <= found):
            found = x
            index = i
    return index


def all_true(a: Any) -> Any:
    found = True
    for x in a.flat:
        found = found and x != 0
    return found


def any_true(a: Any) -> Any:
    found = False
    for x in a.flat:
        found = found or x != 0
    return found


def count_true(a: Any) -> Any:
    found = 0
    for x in a.flat:
        if x != 0:
            found += 1
    return found


def scalar_product(a: Any, b: Any, dtype: Any) -> Any:
    found = dtype(0)
    for x, y in zip(a, b):
        found += x * y
    return found


def _summed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of a sum, as NumPy does."""
    if dtype.kind in "bi":
        return np.dtype("i8")
    return np.dtype("u8") if dtype.kind == "u" else dtype


def _averaged(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype("f8") if dtype.kind in "biu" else dtype


def _same(dtype: np.dtype[Any]) -> None:
    return None


# By the name of NumPy's function: the function, the dtype in which it computes, whether arrays
# have a method with this name.
_REDUCTIONS: dict[str, tuple[Any, Any, bool]] = {
    "sum": (total, _summed, True),
    "prod": (product, _summed, True),
    "mean": (mean, _averaged, True),
    "var": (variance, _averaged, True),
    "std": (deviation, _averaged, True),
    "min": (least, _same, True),
    "max": (greatest, _same, True),
    "ptp": (peak_to_peak, _same, False),
    "argmin": (index_of_least, _same, True),
    "argmax": (index_of_greatest, _same, True),
    "all": (all_true, _same, True),
    "any": (any_true, _same, True),
    "count_nonzero": (count_true, _same, False),
    "nansum": (nan_total, _summed, False),
    "nanprod": (nan_product, _summed, False),
    "nanmean": (nan_mean, _averaged, False),
    "nanvar": (nan_variance, _averaged, False),
    "nanstd": (nan_deviation, _averaged, False),
    "nanmin": (nan_least, _same, False),
    "nanmax": (nan_greatest, _same, False),
}
METHODS: dict[str, Handler] = {}  # methods of arrays; the array is the first argument


def _handler(name: str, function: Any, computed_in: Any) -> Handler:
    takes_dtype = computed_in is not _same

    def handler(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
        kwargs = dict(kwargs)
        named = kwargs.pop("dtype", None) if takes_dtype else None
        given = {}
        if "ddof" in kwargs and name[-3:] in ("var", "std"):
            given["ddof"] = kwargs.pop("ddof")
        if len(args) != 1 or kwargs:
            raise WrongCall(
                f"numpy.{name}() takes an array in kernels, and reduces all of it; for an axis, "
                "write a loop over its rows"
            )
        array = _array_of(name, args[0])
        values = [array]
        if takes_dtype:
            dtype = computed_in(array.dtype) if named is None else dtype_of(fc, named, node)
            fc.need_dtype(dtype, node)
            values.append(constant(fc, dtype, node))
        return call_function(fc, node, function, values, given)

    return handler


def _array_of(name: str, value: Value) -> Value:
    if not value.is_array or dtypes.kind(value.dtype) not in "biufc":
        raise WrongCall(f"numpy.{name}() takes an array of numbers in kernels, not {value.type}")
    if value.dtype.kind == "c" and any(word in name for word in ("min", "max", "ptp")):
        raise WrongCall(f"numpy.{name}() is not supported for complex numbers")
    return value


for _name, (_function, _dtype, _is_method) in _REDUCTIONS.items():
    _made = _handler(_name, _function, _dtype)
    HANDLERS[getattr(np, _name)] = _made
    if _is_method:
        METHODS[_name] = _made


_FUNCTION: Any = scalar_product


@handles(np.dot, np.vdot, np.inner)
def _dot(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    if len(args) != 2 or kwargs or not all(v.is_array and len(v.shape) == 1 for v in args):
        raise WrongCall("numpy.dot() takes two arrays of one dimension in kernels")
    a, b = args
    if fc.expr(node.func).const is np.vdot and a.dtype.kind == "c":
        raise WrongCall("numpy.vdot() is not supported for complex numbers; write a loop")
    if all(n.isdigit() for n in (*a.shape, *b.shape)) and a.shape != b.shape:
        raise WrongCall(f"numpy.dot() of arrays with {a.shape[0]} and {b.shape[0]} items")
    dtype = np.result_type(a.dtype, b.dtype)
    fc.need_dtype(dtype, node)
    return call_function(fc, node, _FUNCTION, [a, b, constant(fc, dtype, node)], {})


def _method_dot(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    return _dot(fc, ast.copy_location(ast.Call(ast.Constant(None), [], []), node), args, kwargs)


METHODS["dot"] = _method_dot
