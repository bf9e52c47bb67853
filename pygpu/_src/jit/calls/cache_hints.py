"""Loads and stores with cache hints, under Numba's names: ``cuda.ldcg(a, i)``, ``cuda.stwt(a, i,
value)``. The hint is dropped on OpenCL, for items that are not plain numbers, and if indices are
checked."""

from __future__ import annotations

import ast
from typing import Any

from ..ir import Value
from ..types import VOID, ArrayType, Scalar
from ..walk.context import FunctionContext
from ..walk.index_checks import Checked
from ..walk.items import item_address, load
from ..walk.registry import Args, Kwargs, WrongCall, count
from ..walk.stores import store
from .intrinsics import Intrinsic

_LOADS = {
    "ldca": "in all caches",
    "ldcg": "in the L2 cache only",
    "ldcs": "once: it may be evicted first",
    "ldlu": "for the last time",
    "ldcv": "from memory, not from a cache",
}
_STORES = {
    "stcg": "to the L2 cache",
    "stcs": "for one use: it may be evicted first",
    "stwb": "to all caches",
    "stwt": "through the caches to memory",
}

__all__ = ["ldca", "ldcg", "ldcs", "ldcv", "ldlu", "stcg", "stcs", "stwb", "stwt"]


def _address(
    fc: FunctionContext, node: ast.Call, args: list[Value], name: str
) -> tuple[Value, ArrayType, tuple[str, str]]:
    array = args[0]
    t = array.type
    if not isinstance(t, ArrayType):
        raise WrongCall(f"{name}() takes an array and an index")
    index = list(args[1].items) if args[1].is_tuple else [args[1]]
    if len(index) != t.ndim:
        raise WrongCall(f"{name}(): {len(index)} indices for an array of {t.ndim} dimensions")
    fc.need_dtype(t.dtype, node)
    return array, t, item_address(fc, array, index, node)


def _load(name: str) -> Any:
    def emitter(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
        count(name, args, kwargs, 2, 2)
        array, t, (pointer, index) = _address(fc, node, args, name)
        plain = t.dtype.kind in "iuf" and t.dtype.itemsize > 2 and t.space == "global"
        if fc.unit.dialect != "cuda" or not plain or isinstance(index, Checked):
            return fc.in_order(load(fc, array, pointer, index))
        where = pointer if index == "0" else f"({pointer} + {index})"
        return fc.in_order(Value(Scalar(t.dtype), f"__{name}({where})"))

    return Intrinsic(name, emitter, f"{name}(array, index): the item, read {_LOADS[name]}.")


def _store(name: str) -> Any:
    def emitter(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
        count(name, args, kwargs, 3, 3)
        fc.statement_only(node, f"{name}()")
        array, _, (pointer, index) = _address(fc, node, args, name)
        fc.may_write = True
        store(fc, array, pointer, index, args[2], node)
        return Value(VOID)

    doc = f"{name}(array, index, value): store {_STORES[name]}; the hint has no effect yet."
    return Intrinsic(name, emitter, doc)


ldca, ldcg, ldcs, ldlu, ldcv = map(_load, _LOADS)
stcg, stcs, stwb, stwt = map(_store, _STORES)
