"""Functions of pygpu.special and scipy.special."""

from __future__ import annotations

import ast
import sys
from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes
from pygpu._src.util.lazy import lazy

from .. import emit
from ..ir import Value, tuple_of
from ..types import WEAK_FLOAT, Scalar
from ..walk.context import FunctionContext
from ..walk.registry import Args, Handler, Kwargs, WrongCall, count, finds

_ROUTINES, _TEXTS = "pygpu._src.array.routines.special", "pygpu._src.codegen.special"


@finds
def _special(obj: Any) -> Handler | None:
    """Return the handler of a function of pygpu.special or a ufunc of scipy.special."""
    if _ROUTINES not in sys.modules and "scipy.special" not in sys.modules:
        return None  # the tables of the functions take as long as compiling a small kernel
    found = lazy(_ROUTINES).name_of(obj)
    return None if found is None else _handler(found)


def _handler(name: str) -> Handler:
    def handler(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
        return _call(fc, node, name, args, kwargs)

    return handler


def _call(fc: FunctionContext, node: ast.AST, name: str, args: Args, kwargs: Kwargs) -> Value:
    routines, texts_of = lazy(_ROUTINES), lazy(_TEXTS)
    if name == "zeta" and len(args) == 1:
        name = "riemann_zeta"
    kinds = texts_of.FUNCTIONS[name].kinds
    count(f"special.{name}", args, kwargs, len(kinds), len(kinds))
    values = [fc.as_number(arg, node) for arg in args]
    for value, kind in zip(values, kinds, strict=True):
        if kind == "n" and value.dtype.kind not in "biu":
            raise WrongCall(f"special.{name}: the first argument must be an integer")
    real = [v for v, kind in zip(values, kinds, strict=True) if kind == "x"]
    try:
        dtype = routines.loop_dtype(name, [_kind(v) for v in real], fc.unit.fp64)
    except TypeError as error:
        raise WrongCall(str(error)) from None
    fc.need_dtype(dtype, node)
    code = dtypes.code(dtype)
    body, texts = texts_of.expression(name, code, fc.unit.fp64)
    for key, text in texts.items():
        fc.unit.definitions.setdefault(key, text)
    results = texts_of.FUNCTIONS[name].results
    codes = (texts_of.argument_code(name, k, code) for k in range(len(kinds)))
    declared = ", ".join(f"pg_{c} x{k}" for k, c in enumerate(codes))
    wanted = routines.argument_dtypes(name, dtype)
    given = ", ".join(emit.convert(v, Scalar(d)) for v, d in zip(values, wanted, strict=True))
    weak = dtype == np.float64 and all(v.is_weak for v in real)
    items = []
    for k in range(results):
        full = f"pgu_special_{name}_{code}_{k}"
        ys = " ".join(f"PG_UNUSED pg_{code} y{i};" for i in range(results))
        fc.unit.definitions.setdefault(
            full, f"PG_FUNCTION pg_{code} {full}({declared}) {{ {ys} {body} return y{k}; }}\n"
        )
        items.append(Value(WEAK_FLOAT if weak else Scalar(dtype), f"{full}({given})"))
    return items[0] if results == 1 else tuple_of(items)


def _kind(value: Value) -> Any:
    """Return what determines the result's dtype: Python's float for a number without a dtype."""
    if not value.is_weak:
        return value.dtype
    return complex if value.dtype.kind == "c" else float
